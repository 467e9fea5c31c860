// SPDX-License-Identifier: GPL-3.0-or-later
#include "openings/bookmaker.h"

#include <stdlib.h>

enum { WEIGHT_MAX = 65535, SHARE_ONE = 10000 };

static BookStat *find_slot(BookStat *slots, size_t capacity, Key key, uint16_t move) {
    size_t mask = capacity - 1, at = (size_t)mix64(key + move) & mask;
    while (slots[at].move != 0 && (slots[at].key != key || slots[at].move != move)) at = (at + 1) & mask;
    return &slots[at];
}

static bool grow(BookMaker *maker) {
    size_t capacity = maker->capacity ? 2 * maker->capacity : 4096;
    BookStat *slots = calloc(capacity, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < maker->capacity; i++)
        if (maker->slots[i].move != 0)
            *find_slot(slots, capacity, maker->slots[i].key, maker->slots[i].move) = maker->slots[i];
    free(maker->slots);
    maker->slots = slots;
    maker->capacity = capacity;
    return true;
}

static bool add(BookMaker *maker, Key key, uint16_t move, uint32_t games, uint64_t points) {
    if (2 * (maker->count + 1) > maker->capacity && !grow(maker)) return false;
    BookStat *stat = find_slot(maker->slots, maker->capacity, key, move);
    if (stat->move == 0) {
        *stat = (BookStat){.key = key, .move = move};
        maker->count++;
    }
    stat->games += games;
    stat->points += points;
    return true;
}

bool bookmaker_add_game(BookMaker *maker, const PgnGame *game, int max_plies) {
    Position pos = game->start, next;
    for (int i = 0; i < game->move_count && (max_plies == 0 || i < max_plies); i++) {
        bool white = pos.stm == WHITE;
        bool won = game->result == (white ? PGN_WHITE_WINS : PGN_BLACK_WINS);
        uint64_t points = won ? 2 : game->result == PGN_DRAW ? 1 : 0;
        if (!add(maker, pos.key, book_encode(game->moves[i].move), 1, points)) return false;
        position_make(&next, &pos, game->moves[i].move);
        pos = next;
    }
    return true;
}

bool bookmaker_add_book(BookMaker *maker, const Book *book) {
    for (size_t i = 0; i < book->count; i++) {
        BookEntry entry = book_entry(book, i);
        if (entry.move != 0 && !add(maker, entry.key, entry.move, 1, entry.weight)) return false;
    }
    return true;
}

// Keys upwards; the best move of a position first.
static int by_key_and_weight(const void *a, const void *b) {
    const BookStat *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->points != y->points) return x->points > y->points ? -1 : 1;
    return x->move < y->move ? -1 : x->move > y->move;
}

// Packs the moves that the rules keep to the front, with points turned into raw weights; returns their
// number.
static size_t select_moves(BookMaker *maker, const BookRules *rules, BookMade *made) {
    size_t kept = 0;
    for (size_t i = 0; i < maker->capacity; i++) {
        BookStat stat = maker->slots[i];
        if (stat.move == 0) continue;
        if (stat.games < rules->min_games) {
            made->rare++;
            continue;
        }
        if (stat.points == 0) {
            made->losing++; // a weight of 0 would never be played
            continue;
        }
        if (rules->scoring == BOOK_SHARE)
            stat.points = (SHARE_ONE * stat.points + stat.games) / (2 * (uint64_t)stat.games);
        if (rules->scoring == BOOK_UNIFORM) stat.points = 1;
        if (stat.points == 0) stat.points = 1;
        maker->slots[kept++] = stat;
    }
    return kept;
}

static bool write_entries(FILE *file, const BookStat *stats, size_t count, uint64_t largest, BookMade *made) {
    for (size_t i = 0; i < count; i++) {
        uint64_t weight = stats[i].points;
        if (largest > WEIGHT_MAX) weight = (uint64_t)((unsigned __int128)weight * WEIGHT_MAX / largest);
        BookEntry entry = {stats[i].key, stats[i].move, (uint16_t)(weight > 0 ? weight : 1), 0};
        uint8_t bytes[BOOK_ENTRY_SIZE];
        book_entry_write(&entry, bytes);
        if (fwrite(bytes, sizeof bytes, 1, file) != 1) return false;
        made->entries++;
        made->positions += i == 0 || stats[i].key != stats[i - 1].key;
    }
    return true;
}

bool bookmaker_write(BookMaker *maker, const BookRules *rules, const char *path, BookMade *made,
                     Error *error) {
    *made = (BookMade){0};
    size_t count = select_moves(maker, rules, made);
    if (count == 0) return error_set(error, "%s: no move passes the rules, nothing to write", path);
    qsort(maker->slots, count, sizeof *maker->slots, by_key_and_weight);
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++)
        if (maker->slots[i].points > largest) largest = maker->slots[i].points;
    if (largest > WEIGHT_MAX) made->scaled = largest;
    FileOut out;
    if (!file_out_open(&out, path, error)) return false;
    bool ok = write_entries(out.file, maker->slots, count, largest, made);
    if (!file_out_close(&out, ok, error)) return false;
    bookmaker_free(maker);
    return true;
}

void bookmaker_free(BookMaker *maker) {
    free(maker->slots);
    *maker = (BookMaker){0};
}
