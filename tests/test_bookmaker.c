// SPDX-License-Identifier: GPL-3.0-or-later
// openings/bookmaker: counts by hand, the rules, merging; and Debian's polyglot, which makes the same book
// from the same games and reads ours with the same moves and shares.
#include "openings/bookmaker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "unity.h"

#define POLYGLOT "/usr/games/polyglot"

static BookMaker maker;
static char folder[] = "/tmp/hone-bookmaker-XXXXXX";
static Error error;

void setUp(void) { maker = (BookMaker){0}; }
void tearDown(void) { bookmaker_free(&maker); }

static char *in_folder(char *buffer, const char *name) {
    snprintf(buffer, 128, "%s/%s", folder, name);
    return buffer;
}

static void add(const char *text) {
    PgnReader reader;
    PgnGame game;
    pgn_reader_init(&reader, "x", text, strlen(text));
    pgn_game_init(&game);
    while (pgn_read(&reader, &game, &error) == PGN_GAME)
        TEST_ASSERT_TRUE(bookmaker_add_game(&maker, &game, 0));
    pgn_game_free(&game);
}

static Book written(const BookRules *rules, BookMade *made) {
    char path[128];
    Book book;
    in_folder(path, "made.bin");
    TEST_ASSERT_TRUE_MESSAGE(bookmaker_write(&maker, rules, path, made, &error), error.text);
    TEST_ASSERT_TRUE_MESSAGE(book_open(&book, path, &error), error.text);
    return book;
}

static int weight(const Book *book, const char *moves) {
    Position pos, next;
    position_from_fen(&pos, START_FEN, NULL);
    char word[8];
    Move move = MOVE_NONE;
    for (bool more = text_word(&moves, word, sizeof word); more;) {
        move = notation_from_uci(&pos, word);
        more = text_word(&moves, word, sizeof word);
        if (!more) break;
        position_make(&next, &pos, move);
        pos = next;
    }
    BookMoves found = book_moves(book, &pos);
    for (int i = 0; i < found.count; i++)
        if (found.moves[i].move == move) return found.moves[i].weight;
    return -1;
}

#define FIVE_GAMES "1. e4 e5 1-0 1. e4 e5 1/2-1/2 1. e4 c5 0-1 1. d4 d5 0-1 1. d4 d5 0-1"

static void points_and_rules_by_hand(void) {
    BookMade made;
    add(FIVE_GAMES);
    Book book = written(&(BookRules){BOOK_POINTS, 1}, &made);
    TEST_ASSERT_EQUAL_INT(3, weight(&book, "e2e4"));
    TEST_ASSERT_EQUAL_INT(1, weight(&book, "e2e4 e7e5"));
    TEST_ASSERT_EQUAL_INT(2, weight(&book, "e2e4 c7c5"));
    TEST_ASSERT_EQUAL_INT(-1, weight(&book, "d2d4")); // two games, no point
    TEST_ASSERT_EQUAL_INT(4, weight(&book, "d2d4 d7d5"));
    TEST_ASSERT_EQUAL_UINT(4, made.entries);
    TEST_ASSERT_EQUAL_UINT(3, made.positions);
    TEST_ASSERT_EQUAL_UINT(1, made.losing);
    book_close(&book);
    add(FIVE_GAMES);
    book = written(&(BookRules){BOOK_SHARE, 2}, &made);
    TEST_ASSERT_EQUAL_INT(5000, weight(&book, "e2e4"));
    TEST_ASSERT_EQUAL_INT(2500, weight(&book, "e2e4 e7e5"));
    TEST_ASSERT_EQUAL_INT(-1, weight(&book, "e2e4 c7c5")); // one game
    TEST_ASSERT_EQUAL_INT(10000, weight(&book, "d2d4 d7d5"));
    TEST_ASSERT_EQUAL_UINT(1, made.rare);
    book_close(&book);
    add(FIVE_GAMES);
    book = written(&(BookRules){BOOK_UNIFORM, 1}, &made);
    TEST_ASSERT_EQUAL_INT(1, weight(&book, "e2e4"));
    TEST_ASSERT_EQUAL_INT(1, weight(&book, "d2d4 d7d5"));
    book_close(&book);
    add("1. e4 0-1");
    TEST_ASSERT_FALSE(bookmaker_write(&maker, &(BookRules){BOOK_POINTS, 1}, "/tmp/never.bin", &made, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "no move"));
}

static void merged_weights_are_added_and_scaled_together(void) {
    Position pos;
    position_from_fen(&pos, START_FEN, NULL);
    uint16_t e4 = book_encode(notation_from_uci(&pos, "e2e4")),
             d4 = book_encode(notation_from_uci(&pos, "d2d4"));
    BookEntry entries[2] = {{pos.key, e4, 50000, 0}, {pos.key, d4, 10000, 0}};
    uint8_t bytes[2 * BOOK_ENTRY_SIZE];
    for (int i = 0; i < 2; i++) book_entry_write(&entries[i], bytes + i * BOOK_ENTRY_SIZE);
    Book one, two;
    TEST_ASSERT_TRUE(book_from_memory(&one, "a", bytes, sizeof bytes, NULL));
    TEST_ASSERT_TRUE(book_from_memory(&two, "b", bytes, BOOK_ENTRY_SIZE, NULL));
    TEST_ASSERT_TRUE(bookmaker_add_book(&maker, &one));
    TEST_ASSERT_TRUE(bookmaker_add_book(&maker, &two));
    BookMade made;
    Book book = written(&(BookRules){BOOK_POINTS, 1}, &made);
    TEST_ASSERT_EQUAL_UINT64(100000, made.scaled);
    TEST_ASSERT_EQUAL_INT(65535, weight(&book, "e2e4"));
    TEST_ASSERT_EQUAL_INT(6553, weight(&book, "d2d4"));
    book_close(&book);
}

// Games that meet again and again, with castling and promotions among them.
static void write_games(const char *path) {
    FILE *file = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(file);
    PgnGame game;
    pgn_game_init(&game);
    static const char *const Lines[] = {"e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1 f8e7",
                                        "d2d4 d7d5 c1f4 c8f5 b1c3 b8c6 d1d2 d8d7 e1c1 e8c8",
                                        "g2g4 a7a5 g4g5 h7h6 g5h6 a5a4 h6g7 a4a3 g7h8n a3b2 h2h3 b2a1q"};
    for (uint64_t number = 0; number < 600; number++) {
        pgn_game_clear(&game);
        pgn_game_set_tag(&game, "Event", "test");
        Position pos = game.start, next;
        const char *line = Lines[number % 3];
        char word[8];
        for (uint64_t ply = 0; ply < 20; ply++) {
            MoveList list;
            movegen_list(&pos, &list);
            if (list.count == 0) break;
            uint64_t random = random_at(11, number, ply);
            Move move = list.moves[random_below(random, (uint64_t)int_min(list.count, 3))];
            if (text_word(&line, word, sizeof word) && random % 16 != 0) move = notation_from_uci(&pos, word);
            else line = "";
            pgn_game_add_move(&game, move, NULL);
            position_make(&next, &pos, move);
            pos = next;
        }
        game.result = (PgnResult)(1 + random_below(random_at(12, 0, number), 3));
        TEST_ASSERT_TRUE(pgn_write(file, &game, (PgnStyle){PGN_SAN, false}, &error));
    }
    fclose(file);
    pgn_game_free(&game);
}

static void add_file(const char *path, int plies) {
    FileMap map;
    PgnReader reader;
    PgnGame game;
    TEST_ASSERT_TRUE_MESSAGE(file_map(&map, path, &error), error.text);
    pgn_reader_init(&reader, path, map.data, map.size);
    pgn_game_init(&game);
    PgnStatus status;
    while ((status = pgn_read(&reader, &game, &error)) == PGN_GAME)
        TEST_ASSERT_TRUE(bookmaker_add_game(&maker, &game, plies));
    TEST_ASSERT_EQUAL_INT_MESSAGE(PGN_END, status, error.text);
    pgn_game_free(&game);
    file_unmap(&map);
}

static int by_all(const void *a, const void *b) { return memcmp(a, b, BOOK_ENTRY_SIZE); }

// The entries of a file in an order that does not depend on how ties are broken.
static char *sorted_entries(const char *path, size_t *size) {
    char *bytes = file_read(path, size, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(bytes, error.text);
    qsort(bytes, *size / BOOK_ENTRY_SIZE, BOOK_ENTRY_SIZE, by_all);
    return bytes;
}

static void run(const char *format, const char *a, const char *b) {
    char command[512];
    snprintf(command, sizeof command, format, a, b);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), command);
}

// Walks a line of `polyglot dump-book`, like "12: 1. e4{34%} c5 2. Nf3{100%}", and compares its shares with
// ours.
static int compare_line(const Book *book, const char *line) {
    Position pos, next;
    position_from_fen(&pos, START_FEN, NULL);
    char word[64];
    int compared = 0;
    text_word(&line, word, sizeof word);
    while (text_word(&line, word, sizeof word)) {
        char *brace = strchr(word, '{');
        if (brace == word) break; // {trans: line=12, ply=6}
        int share = brace ? atoi(brace + 1) : -1;
        if (brace) *brace = '\0';
        if (word[strspn(word, "0123456789.")] == '\0') continue;
        Move move = notation_from_san(&pos, word);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, word);
        if (share >= 0) {
            BookMoves found = book_moves(book, &pos);
            int at = 0;
            while (at < found.count && found.moves[at].move != move) at++;
            TEST_ASSERT_LESS_THAN_INT_MESSAGE(found.count, at, word);
            double ours = 100.0 * found.moves[at].weight / found.total;
            TEST_ASSERT_TRUE_MESSAGE(ours > share - 1.0 && ours < share + 1.0, word);
            compared++;
        }
        position_make(&next, &pos, move);
        pos = next;
    }
    return compared;
}

static void debians_polyglot_makes_and_reads_the_same(void) {
    if (access(POLYGLOT, X_OK) != 0) TEST_IGNORE_MESSAGE("skipped: no " POLYGLOT);
    char games[128], theirs[128], ours[128], dump[128], line[4096];
    write_games(in_folder(games, "games.pgn"));
    add_file(games, 16);
    BookMade made;
    Book book = written(&(BookRules){BOOK_POINTS, 3}, &made);
    TEST_ASSERT_GREATER_THAN_INT(100, (int)made.entries);
    run(POLYGLOT " make-book -pgn %s -bin %s -max-ply 16 -min-game 3 >/dev/null", games,
        in_folder(theirs, "theirs.bin"));
    size_t our_size, their_size;
    char *our_entries = sorted_entries(in_folder(ours, "made.bin"), &our_size);
    char *their_entries = sorted_entries(theirs, &their_size);
    TEST_ASSERT_EQUAL_UINT(their_size, our_size);
    TEST_ASSERT_EQUAL_MEMORY(their_entries, our_entries, our_size);
    free(our_entries);
    free(their_entries);
    int compared = 0;
    static const char *const Colours[] = {"white", "black"};
    for (int i = 0; i < 2; i++) {
        char format[256];
        snprintf(format, sizeof format, POLYGLOT " dump-book -bin %%s -color %s -out %%s >/dev/null",
                 Colours[i]);
        run(format, ours, in_folder(dump, "dump.txt"));
        FILE *file = fopen(dump, "r");
        TEST_ASSERT_NOT_NULL(file);
        TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, file)); // the title
        while (fgets(line, sizeof line, file))
            if (line[strspn(line, "0123456789")] == ':') compared += compare_line(&book, line);
        fclose(file);
    }
    TEST_ASSERT_GREATER_THAN_INT(500, compared);
    book_close(&book);
}

int main(void) {
    UNITY_BEGIN();
    if (!mkdtemp(folder)) return 1;
    RUN_TEST(points_and_rules_by_hand);
    RUN_TEST(merged_weights_are_added_and_scaled_together);
    RUN_TEST(debians_polyglot_makes_and_reads_the_same);
    int failures = UNITY_END();
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? failures : 1;
}
