// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/book.h"

#include <stdlib.h>

#include "engine/movegen.h"

enum { STREAM_BOOK = 0x626f6f6b };

static uint64_t read_big(const uint8_t *bytes, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++) value = value << 8 | bytes[i];
    return value;
}

static void write_big(uint8_t *bytes, int size, uint64_t value) {
    for (int i = size - 1; i >= 0; i--, value >>= 8) bytes[i] = (uint8_t)value;
}

BookEntry book_entry(const Book *book, size_t index) {
    assert(index < book->count);
    const uint8_t *bytes = (const uint8_t *)book->map.data + index * BOOK_ENTRY_SIZE;
    return (BookEntry){.key = read_big(bytes, 8),
                       .move = (uint16_t)read_big(bytes + 8, 2),
                       .weight = (uint16_t)read_big(bytes + 10, 2),
                       .learn = (uint32_t)read_big(bytes + 12, 4)};
}

void book_entry_write(const BookEntry *entry, uint8_t *bytes) {
    write_big(bytes, 8, entry->key);
    write_big(bytes + 8, 2, entry->move);
    write_big(bytes + 10, 2, entry->weight);
    write_big(bytes + 12, 4, entry->learn);
}

// Every entry is looked at once: a book that was cut or patched, or is none, shows in its keys and moves.
bool book_from_memory(Book *book, const char *name, const void *data, size_t size, Error *error) {
    *book = (Book){.map = {data, size}, .count = size / BOOK_ENTRY_SIZE};
    if (size == 0) return error_set(error, "%s: empty, not a Polyglot book", name);
    if (size % BOOK_ENTRY_SIZE != 0)
        return error_set(error, "%s: %zu bytes are not a whole number of Polyglot entries of %d", name, size,
                         BOOK_ENTRY_SIZE);
    Key previous = 0;
    int same = 0; // entries of this key so far
    for (size_t i = 0; i < book->count; i++) {
        BookEntry entry = book_entry(book, i);
        same = i > 0 && entry.key == previous ? same + 1 : 1;
        if (same > MAX_MOVES)
            return error_set(error, "%s: entry %zu: more moves than a position can have", name, i + 1);
        if (entry.key < previous)
            return error_set(error, "%s: entry %zu: keys out of order (%016llx after %016llx)", name, i + 1,
                             (unsigned long long)entry.key, (unsigned long long)previous);
        int to = entry.move & 63, from = entry.move >> 6 & 63, promotion = entry.move >> 12;
        if (promotion > 4 || (from == to && entry.move != 0))
            return error_set(error, "%s: entry %zu: %04x is no move in Polyglot's encoding", name, i + 1,
                             entry.move);
        previous = entry.key;
    }
    return true;
}

bool book_open(Book *book, const char *path, Error *error) {
    *book = (Book){0};
    FileMap map;
    if (!file_map(&map, path, error)) return false;
    if (book_from_memory(book, path, map.data, map.size, error)) return true;
    file_unmap(&map);
    *book = (Book){0};
    return false;
}

void book_close(Book *book) {
    file_unmap(&book->map);
    *book = (Book){0};
}

size_t book_find(const Book *book, Key key) {
    size_t low = 0, high = book->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (book_entry(book, middle).key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint16_t book_encode(Move move) {
    int promotion = move_kind(move) == MOVE_PROMOTION ? move_promotion(move) - KNIGHT + 1 : 0;
    return (uint16_t)(move_to(move) | move_from(move) << 6 | promotion << 12);
}

Move book_decode(const Position *pos, uint16_t encoded) {
    int to = encoded & 63, from = encoded >> 6 & 63;
    bool king = pos->board[from] == piece_make(pos->stm, KING);
    MoveList list;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++)
        if (book_encode(list.moves[i]) == encoded) return list.moves[i];
    // Some makers write castling as the king's two steps.
    if (king && abs(from - to) == 2)
        for (int i = 0; i < list.count; i++)
            if (move_kind(list.moves[i]) == MOVE_CASTLING && (move_to(list.moves[i]) > from) == (to > from))
                return list.moves[i];
    return MOVE_NONE;
}

BookMoves book_moves(const Book *book, const Position *pos) {
    BookMoves found;
    found.count = 0;
    found.total = 0;
    for (size_t i = book_find(book, pos->key); i < book->count; i++) {
        BookEntry entry = book_entry(book, i);
        if (entry.key != pos->key) break;
        Move move = book_decode(pos, entry.move);
        if (move == MOVE_NONE) continue;
        int at = 0;
        while (at < found.count && found.moves[at].move != move) at++;
        if (at < found.count) continue;
        // Insertion keeps equal weights in the order of the file.
        while (at > 0 && found.moves[at - 1].weight < entry.weight) {
            found.moves[at] = found.moves[at - 1];
            at--;
        }
        found.moves[at] = (BookMove){move, entry.weight};
        found.count++;
        found.total += entry.weight;
    }
    return found;
}

Move book_pick(const Book *book, const Position *pos, bool best, uint64_t seed) {
    BookMoves found = book_moves(book, pos);
    if (found.total == 0) return MOVE_NONE; // a weight of 0 says: never play this
    if (best) return found.moves[0].move;
    uint64_t ticket = random_below(random_at(seed, STREAM_BOOK, pos->key), found.total);
    for (int i = 0; i < found.count; i++) {
        if (ticket < found.moves[i].weight) return found.moves[i].move;
        ticket -= found.moves[i].weight;
    }
    return MOVE_NONE;
}
