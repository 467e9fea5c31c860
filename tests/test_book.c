// SPDX-License-Identifier: GPL-3.0-or-later
// engine/book: the published keys of Polyglot's format description, encodings of special moves, what is
// refused, and probes against a linear scan.
#include "engine/book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/movegen.h"
#include "engine/notation.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static Position position(const char *fen) {
    Position pos;
    Error error;
    if (!position_from_fen(&pos, fen, &error)) TEST_FAIL_MESSAGE(error.text);
    return pos;
}

static Move uci(const Position *pos, const char *text) {
    Move move = notation_from_uci(pos, text);
    TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, text);
    return move;
}

// From book_format.html of the Polyglot package: moves played, FEN, key.
static const struct {
    const char *moves, *fen;
    Key key;
} Published[] = {
    {"", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x463b96181691fc9c},
    {"e2e4", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", 0x823c9b50fd114196},
    {"e2e4 d7d5", "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2", 0x0756b94461c50fb0},
    {"e2e4 d7d5 e4e5", "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2", 0x662fafb965db29d4},
    {"e2e4 d7d5 e4e5 f7f5", "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
     0x22a48b5a8e47ff78},
    {"e2e4 d7d5 e4e5 f7f5 e1e2", "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3",
     0x652a607ca3f242c1},
    {"e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", "rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4",
     0x00fdd303c946bdd9},
    {"a2a4 b7b5 h2h4 b5b4 c2c4", "rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3",
     0x3c8123ea7b067637},
    {"a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", "rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4",
     0x5c3f9b829b279560},
};

static void published_keys_by_fen_and_by_moves(void) {
    for (size_t i = 0; i < sizeof Published / sizeof *Published; i++) {
        Position pos = position(Published[i].fen);
        TEST_ASSERT_EQUAL_HEX64(Published[i].key, pos.key);
        Position now = position(START_FEN), next;
        const char *cursor = Published[i].moves;
        char word[8];
        while (text_word(&cursor, word, sizeof word)) {
            position_make(&next, &now, uci(&now, word));
            now = next;
        }
        TEST_ASSERT_EQUAL_HEX64(Published[i].key, now.key);
    }
}

// Bits as the format description has them: to file, to row, from file, from row, promotion.
static uint16_t polyglot_bits(const char *from, const char *to, int promotion) {
    return (uint16_t)((to[0] - 'a') | (to[1] - '1') << 3 | (from[0] - 'a') << 6 | (from[1] - '1') << 9 |
                      promotion << 12);
}

static void special_moves_are_encoded_as_published(void) {
    Position pos = position("r3k2r/1P6/8/2pP4/8/8/8/R3K2R w KQkq c6 0 1");
    static const struct {
        const char *uci, *from, *to;
        int promotion;
    } Cases[] = {
        {"e1g1", "e1", "h1", 0},  {"e1c1", "e1", "a1", 0},  {"b7b8n", "b7", "b8", 1},
        {"b7b8b", "b7", "b8", 2}, {"b7b8r", "b7", "b8", 3}, {"b7a8q", "b7", "a8", 4},
        {"d5c6", "d5", "c6", 0},  {"a1a8", "a1", "a8", 0},
    };
    for (size_t i = 0; i < sizeof Cases / sizeof *Cases; i++) {
        Move move = uci(&pos, Cases[i].uci);
        uint16_t bits = polyglot_bits(Cases[i].from, Cases[i].to, Cases[i].promotion);
        TEST_ASSERT_EQUAL_HEX16_MESSAGE(bits, book_encode(move), Cases[i].uci);
        TEST_ASSERT_EQUAL_HEX16_MESSAGE(move, book_decode(&pos, bits), Cases[i].uci);
    }
    // Castling as two steps is understood, a rook's move to g1 by that encoding is not castling.
    TEST_ASSERT_EQUAL_HEX16(uci(&pos, "e1g1"), book_decode(&pos, polyglot_bits("e1", "g1", 0)));
    TEST_ASSERT_EQUAL_HEX16(uci(&pos, "e1c1"), book_decode(&pos, polyglot_bits("e1", "c1", 0)));
    TEST_ASSERT_EQUAL_HEX16(MOVE_NONE, book_decode(&pos, polyglot_bits("e1", "g3", 0)));
    // A rook on e1 that goes to h1 is no castling.
    pos = position("4k3/8/8/8/8/8/4K3/4R3 w - - 0 1");
    TEST_ASSERT_EQUAL_HEX16(uci(&pos, "e1h1"), book_decode(&pos, polyglot_bits("e1", "h1", 0)));
}

static void every_legal_move_survives_the_encoding(void) {
    static const char *const Fens[] = {
        START_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1",
        "rk4r1/8/8/8/8/8/8/RK4R1 b GAga - 0 1",
    };
    for (size_t i = 0; i < sizeof Fens / sizeof *Fens; i++) {
        Position pos = position(Fens[i]);
        MoveList list;
        movegen_list(&pos, &list);
        TEST_ASSERT_GREATER_THAN_INT(0, list.count);
        for (int k = 0; k < list.count; k++)
            TEST_ASSERT_EQUAL_HEX16(list.moves[k], book_decode(&pos, book_encode(list.moves[k])));
    }
}

static void refused(const BookEntry *entries, size_t count, size_t cut, const char *reason) {
    uint8_t *bytes = malloc(count * BOOK_ENTRY_SIZE + 1);
    for (size_t i = 0; i < count; i++) book_entry_write(&entries[i], bytes + i * BOOK_ENTRY_SIZE);
    Book book;
    Error error = {{0}};
    bool ok = book_from_memory(&book, "x.bin", bytes, count * BOOK_ENTRY_SIZE - cut, &error);
    free(bytes);
    if (!reason) {
        TEST_ASSERT_TRUE_MESSAGE(ok, error.text);
        return;
    }
    TEST_ASSERT_FALSE_MESSAGE(ok, reason);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "x.bin"), error.text);
}

static void what_is_no_book_is_refused_with_a_reason(void) {
    BookEntry good[3] = {{5, 0x0c1c, 1, 0}, {5, 0x0c1d, 2, 0}, {9, 0, 1, 7}};
    refused(good, 3, 0, NULL);
    refused(good, 3, 1, "whole number");
    refused(good, 0, 0, "empty");
    BookEntry unsorted[3] = {{5, 0x0c1c, 1, 0}, {4, 0x0c1d, 2, 0}, {9, 0x0c1c, 1, 0}};
    refused(unsorted, 3, 0, "entry 2: keys out of order");
    BookEntry promotion[1] = {{5, 5 << 12 | 0x0c1c, 1, 0}};
    refused(promotion, 1, 0, "no move");
    BookEntry high_bit[1] = {{5, 0x8c1c, 1, 0}};
    refused(high_bit, 1, 0, "no move");
    BookEntry nowhere[1] = {{5, 9 << 6 | 9, 1, 0}};
    refused(nowhere, 1, 0, "no move");
    static BookEntry many[MAX_MOVES + 1];
    for (int i = 0; i <= MAX_MOVES; i++) many[i] = (BookEntry){5, (uint16_t)(0x0c00 | (i & 31)), 1, 0};
    refused(many, MAX_MOVES, 0, NULL);
    refused(many, MAX_MOVES + 1, 0, "more moves than a position can have");
    Book book;
    Error error;
    TEST_ASSERT_FALSE(book_open(&book, "/nonexistent/book.bin", &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "/nonexistent/book.bin"));
    TEST_ASSERT_FALSE(book_open(&book, "/", &error));
    book_close(&book);
}

static int by_key(const void *a, const void *b) {
    const BookEntry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

enum { WALKS = 400, WALK_PLIES = 16 };

// A book of random games, by the test's own means; returns its bytes and notes the positions met.
static uint8_t *random_book(size_t *count, Position *met, int *met_count) {
    BookEntry *entries = malloc(WALKS * WALK_PLIES * sizeof *entries);
    *count = 0;
    *met_count = 0;
    for (uint64_t walk = 0; walk < WALKS; walk++) {
        Position pos = position(START_FEN), next;
        for (uint64_t ply = 0; ply < WALK_PLIES; ply++) {
            MoveList list;
            movegen_list(&pos, &list);
            if (list.count == 0) break;
            uint64_t random = random_at(7, walk, ply);
            // Few replies early on, so that lines meet.
            Move move =
                list.moves[random_below(random, (uint64_t)(ply < 4 ? int_min(list.count, 3) : list.count))];
            int times = 0; // a move may be there twice, of which the first counts
            for (size_t k = 0; k < *count; k++)
                times += entries[k].key == pos.key && entries[k].move == book_encode(move);
            if (times < 2)
                entries[(*count)++] =
                    (BookEntry){pos.key, book_encode(move), (uint16_t)(random & 1023), (uint32_t)walk};
            met[(*met_count)++] = pos;
            position_make(&next, &pos, move);
            pos = next;
        }
    }
    qsort(entries, *count, sizeof *entries, by_key);
    uint8_t *bytes = malloc(*count * BOOK_ENTRY_SIZE);
    for (size_t i = 0; i < *count; i++) book_entry_write(&entries[i], bytes + i * BOOK_ENTRY_SIZE);
    free(entries);
    return bytes;
}

// The weight of a move by reading the bytes one after the other; -1 if it is not there (the first of several
// counts).
static int scan_weight(const uint8_t *bytes, size_t count, Key key, uint16_t move) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t *e = bytes + 16 * i;
        Key found = 0;
        for (int k = 0; k < 8; k++) found = found << 8 | e[k];
        if (found == key && (e[8] << 8 | e[9]) == move) return e[10] << 8 | e[11];
    }
    return -1;
}

static void probes_agree_with_a_linear_scan(void) {
    static Position met[WALKS * WALK_PLIES];
    size_t count;
    int met_count, hits = 0, misses = 0;
    uint8_t *bytes = random_book(&count, met, &met_count);
    char path[] = "/tmp/hone-book-XXXXXX";
    int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    TEST_ASSERT_EQUAL_INT((int)(count * 16), (int)write(fd, bytes, count * 16));
    close(fd);
    Book book;
    Error error;
    TEST_ASSERT_TRUE_MESSAGE(book_open(&book, path, &error), error.text);
    unlink(path);
    for (int i = 0; i < 1000; i++) {
        Position pos = met[random_below(random_at(8, 0, (uint64_t)i), (uint64_t)met_count)];
        if (i % 4 == 3) { // and positions that are hardly in it: one move on
            MoveList list;
            movegen_list(&pos, &list);
            Position next;
            position_make(&next, &pos, list.moves[0]);
            pos = next;
        }
        BookMoves found = book_moves(&book, &pos);
        MoveList list;
        movegen_list(&pos, &list);
        int expected = 0;
        uint32_t total = 0;
        for (int k = 0; k < list.count; k++) {
            int weight = scan_weight(bytes, count, pos.key, book_encode(list.moves[k]));
            if (weight < 0) continue;
            expected++;
            total += (uint32_t)weight;
            int at = 0;
            while (at < found.count && found.moves[at].move != list.moves[k]) at++;
            TEST_ASSERT_LESS_THAN_INT(found.count, at);
            TEST_ASSERT_EQUAL_INT(weight, found.moves[at].weight);
        }
        TEST_ASSERT_EQUAL_INT(expected, found.count);
        TEST_ASSERT_EQUAL_UINT32(total, found.total);
        for (int k = 1; k < found.count; k++)
            TEST_ASSERT_GREATER_OR_EQUAL_INT(found.moves[k].weight, found.moves[k - 1].weight);
        hits += expected > 0;
        misses += expected == 0;
    }
    TEST_ASSERT_GREATER_THAN_INT(700, hits);
    TEST_ASSERT_GREATER_THAN_INT(50, misses);
    book_close(&book);
    free(bytes);
}

static void the_draw_follows_the_weights_and_the_seed(void) {
    Position pos = position(START_FEN);
    Move e4 = uci(&pos, "e2e4"), d4 = uci(&pos, "d2d4"), a3 = uci(&pos, "a2a3");
    BookEntry entries[] = {
        {pos.key, book_encode(d4), 300, 0},
        {pos.key, book_encode(e4), 700, 0},
        {pos.key, book_encode(a3), 0, 0},
        {pos.key, polyglot_bits("e1", "e5", 0), 60000, 0}, // illegal here: a collision of keys, say
        {pos.key, 0, 60000, 0},
    };
    uint8_t bytes[sizeof entries / sizeof *entries * BOOK_ENTRY_SIZE];
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        book_entry_write(&entries[i], bytes + i * BOOK_ENTRY_SIZE);
    Book book;
    TEST_ASSERT_TRUE(book_from_memory(&book, "x", bytes, sizeof bytes, NULL));
    int e4_count = 0, d4_count = 0;
    for (uint64_t seed = 0; seed < 10000; seed++) {
        Move move = book_pick(&book, &pos, false, seed);
        e4_count += move == e4;
        d4_count += move == d4;
        TEST_ASSERT_EQUAL_HEX16(move, book_pick(&book, &pos, false, seed));
        TEST_ASSERT_EQUAL_HEX16(e4, book_pick(&book, &pos, true, seed));
    }
    TEST_ASSERT_EQUAL_INT(10000, e4_count + d4_count); // the weight 0 and what is illegal are never played
    TEST_ASSERT_INT_WITHIN(230, 7000, e4_count);       // five standard deviations
    Position after;
    position_make(&after, &pos, e4);
    TEST_ASSERT_EQUAL_HEX16(MOVE_NONE, book_pick(&book, &after, false, 1));
}

// Sets an option that must be accepted without a remark.
static void option(Engine *engine, const char *name, const char *value) {
    Error error;
    TEST_ASSERT_TRUE_MESSAGE(engine_set_option(engine, name, value, &error), error.text);
    TEST_ASSERT_EQUAL_STRING("", error.text);
}

static SearchResult think(Engine *engine, SearchLimits limits) {
    limits.nodes = 300;
    return engine_search(engine, &limits, NULL);
}

static void the_engine_plays_from_its_book_when_it_may(void) {
    Position pos = position(START_FEN);
    Move a4 = uci(&pos, "a2a4"), h4 = uci(&pos, "h2h4");
    BookEntry entries[] = {{pos.key, book_encode(a4), 3, 0}, {pos.key, book_encode(h4), 1, 0}};
    uint8_t bytes[2 * BOOK_ENTRY_SIZE];
    for (int i = 0; i < 2; i++) book_entry_write(&entries[i], bytes + i * BOOK_ENTRY_SIZE);
    char path[] = "/tmp/hone-book-XXXXXX", broken[] = "/tmp/hone-book-XXXXXX";
    int fd = mkstemp(path), fd_broken = mkstemp(broken);
    TEST_ASSERT_EQUAL_INT(32, (int)write(fd, bytes, 32));
    TEST_ASSERT_EQUAL_INT(30, (int)write(fd_broken, bytes, 30));
    close(fd);
    close(fd_broken);
    Engine *engine = engine_create(1);
    TEST_ASSERT_NOT_NULL(engine);
    option(engine, "BookFile", path);
    TEST_ASSERT_GREATER_THAN_INT(0, think(engine, (SearchLimits){0}).depth); // OwnBook is off
    option(engine, "OwnBook", "true");
    option(engine, "BookBestMove", "true");
    SearchResult result = think(engine, (SearchLimits){0});
    TEST_ASSERT_EQUAL_HEX16(a4, result.best);
    TEST_ASSERT_EQUAL_INT(0, result.depth);
    TEST_ASSERT_EQUAL_UINT64(0, result.nodes);
    TEST_ASSERT_EQUAL_HEX16(a4, result.pv.moves[0]);
    engine_start(engine, &(SearchLimits){.nodes = 300}, NULL);
    TEST_ASSERT_EQUAL_HEX16(a4, engine_wait(engine).best);
    // By weight, the seed decides.
    option(engine, "BookBestMove", "false");
    int drawn[2] = {0};
    for (int seed = 0; seed < 200; seed++) {
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        option(engine, "BookSeed", text);
        Move move = think(engine, (SearchLimits){0}).best;
        drawn[0] += move == a4;
        drawn[1] += move == h4;
        TEST_ASSERT_EQUAL_HEX16(move, think(engine, (SearchLimits){0}).best);
    }
    TEST_ASSERT_EQUAL_INT(200, drawn[0] + drawn[1]);
    TEST_ASSERT_INT_WITHIN(31, 150, drawn[0]); // five standard deviations
    // Questions are searched, not answered from the book.
    SearchLimits chosen = {.searchmoves = {.moves = {uci(&pos, "e2e4")}, .count = 1}};
    TEST_ASSERT_EQUAL_HEX16(uci(&pos, "e2e4"), think(engine, chosen).best);
    TEST_ASSERT_GREATER_THAN_INT(0, think(engine, (SearchLimits){.mate = 1}).depth);
    Position late = pos;
    late.fullmove = 6;
    engine_set_position(engine, &late, NULL);
    TEST_ASSERT_EQUAL_INT(0, think(engine, (SearchLimits){0}).depth);
    option(engine, "BookDepth", "5");
    TEST_ASSERT_GREATER_THAN_INT(0, think(engine, (SearchLimits){0}).depth);
    engine_set_position(engine, &pos, NULL);
    // A broken book is refused by name and the old one stays; no book is no fault.
    Error error;
    TEST_ASSERT_FALSE(engine_set_option(engine, "BookFile", broken, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, broken), error.text);
    TEST_ASSERT_EQUAL_INT(0, think(engine, (SearchLimits){0}).depth);
    option(engine, "BookFile", "<empty>");
    TEST_ASSERT_GREATER_THAN_INT(0, think(engine, (SearchLimits){0}).depth);
    engine_destroy(engine);
    unlink(path);
    unlink(broken);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(published_keys_by_fen_and_by_moves);
    RUN_TEST(special_moves_are_encoded_as_published);
    RUN_TEST(every_legal_move_survives_the_encoding);
    RUN_TEST(what_is_no_book_is_refused_with_a_reason);
    RUN_TEST(probes_agree_with_a_linear_scan);
    RUN_TEST(the_draw_follows_the_weights_and_the_seed);
    RUN_TEST(the_engine_plays_from_its_book_when_it_may);
    return UNITY_END();
}
