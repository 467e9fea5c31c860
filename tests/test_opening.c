// SPDX-License-Identifier: GPL-3.0-or-later
// openings/opening: formats told by content, lines validated and faults named, orders that are permutations,
// slices that are disjoint, and a large file that loads fast into little memory.
#include "openings/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/book.h"
#include "engine/movegen.h"
#include "engine/notation.h"
#include "unity.h"

static OpeningSet set;
static Error error;
static char path[64];

void setUp(void) {
    set = (OpeningSet){.fd = -1};
    error.text[0] = '\0';
    path[0] = '\0';
}

void tearDown(void) {
    opening_set_free(&set);
    if (*path) unlink(path);
}

static void write_file(const void *data, size_t size) {
    if (*path) unlink(path);
    strcpy(path, "/tmp/hone-opening-XXXXXX");
    int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    TEST_ASSERT_EQUAL_INT((int)size, (int)write(fd, data, size));
    close(fd);
}

static bool load_text(const char *text, int plies) {
    opening_set_free(&set);
    write_file(text, strlen(text));
    return opening_set_load(&set, path, plies, &error);
}

static Opening at(uint64_t seed, OpeningOrder order, uint64_t start, uint64_t pair) {
    Opening opening;
    if (!opening_at(&set, seed, order, start, pair, &opening, &error)) TEST_FAIL_MESSAGE(error.text);
    return opening;
}

static void expect_line(const char *line, const char *fen) {
    Position pos;
    char text[FEN_SIZE];
    TEST_ASSERT_TRUE_MESSAGE(opening_from_line(&pos, line, strlen(line), &error), error.text);
    position_to_fen(&pos, text);
    TEST_ASSERT_EQUAL_STRING(fen, text);
}

static void expect_bad_line(const char *line, const char *reason) {
    Position pos;
    TEST_ASSERT_FALSE_MESSAGE(opening_from_line(&pos, line, strlen(line), &error), line);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
}

#define KINGS "4k3/8/8/8/8/8/4P3/4K3 w - -"

static void lines_of_every_kind(void) {
    expect_line(KINGS, KINGS " 0 1");
    expect_line(KINGS " 3 17", KINGS " 3 17");
    expect_line("  " KINGS "\t3 17 \r", KINGS " 3 17");
    expect_line(KINGS " 3", KINGS " 3 1");
    expect_line(KINGS " hmvc 7; fmvn 42;", KINGS " 7 42");
    expect_line(KINGS " fmvn 42; id \"a; hmvc 9; b\"; bm e4; hmvc 7", KINGS " 7 42");
    expect_line(KINGS " bm e4; c0 \"0-1\";", KINGS " 0 1");
    expect_line(KINGS " 3 17; 0.5", KINGS " 3 17");
    expect_line("1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - hmvc 1;", "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 1 1");
    expect_bad_line("4k3/8/8/8 w - -", "ranks");
    expect_bad_line("4k3/8/8/8/8/8/8/4K3 w -", "en passant field is missing");
    expect_bad_line(KINGS " hmvc x;", "hmvc");
    expect_bad_line(KINGS " fmvn 0;", "fmvn");
    expect_bad_line(KINGS " 999 1", "half-move clock");
    expect_bad_line(KINGS " 999 1 bm e4;", "halfmove clock");
    char longest[3000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect_bad_line(longest, "longer");
}

static void bad_lines_are_counted_named_and_never_played(void) {
    TEST_ASSERT_TRUE_MESSAGE(load_text("# a comment\n" KINGS "\n\nnonsense\n" KINGS " hmvc 5;\r\n"
                                       "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n"      // neither side can mate
                                       "R3k3/8/4K3/8/8/8/8/8 b - - 0 1\n"     // mate
                                       "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n"     // stalemate
                                       "4k3/8/8/8/8/8/4P3/4K3 w - - 100 90\n" // fifty moves
                                       "4k3/8/8/8/8/8/4P3/4K3 b - - 1 2",
                                       0),
                             error.text);
    TEST_ASSERT_EQUAL_INT(OPENING_EPD, set.format);
    TEST_ASSERT_EQUAL_UINT64(3, set.count);
    TEST_ASSERT_EQUAL_UINT64(5, set.bad_count);
    static const struct {
        uint64_t line;
        const char *reason;
    } Expected[] = {
        {4, "side to move field is missing"}, {6, "mate"}, {7, "mated"}, {8, "stalemated"}, {9, "fifty"}};
    for (int i = 0; i < 5; i++) {
        TEST_ASSERT_EQUAL_UINT64(Expected[i].line, set.problems[i].line);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(set.problems[i].reason, Expected[i].reason),
                                     set.problems[i].reason);
    }
    TEST_ASSERT_EQUAL_INT(0, at(0, OPENING_SEQUENTIAL, 1, 0).start.rule50);
    TEST_ASSERT_EQUAL_INT(5, at(0, OPENING_SEQUENTIAL, 1, 1).start.rule50);
    TEST_ASSERT_EQUAL_INT(BLACK, at(0, OPENING_SEQUENTIAL, 1, 2).start.stm);
    Opening again = at(0, OPENING_SEQUENTIAL, 2, 2 + 3);
    TEST_ASSERT_EQUAL_UINT64(1, again.number);
    TEST_ASSERT_EQUAL_UINT64(2, again.wrap);
}

static void what_is_no_opening_file_is_refused(void) {
    TEST_ASSERT_FALSE(opening_set_load(&set, "/nonexistent.epd", 0, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "/nonexistent.epd"));
    TEST_ASSERT_FALSE(load_text("", 0));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "empty"), error.text);
    TEST_ASSERT_FALSE(load_text("hello\nworld\n", 0));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "neither"), error.text);
    TEST_ASSERT_FALSE(load_text("\x1f\x8b\x08 zipped", 0));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "compressed"), error.text);
    TEST_ASSERT_FALSE(load_text("8/8/8/8/8/8/8/8 w - -\n", 0));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "line 1: "), error.text);
    TEST_ASSERT_FALSE(load_text("[Event \"x\"]\n\n1. e4 Ke7 *\n", 0));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "'Ke7'"), error.text);
    write_file("\x01\x02\x03 seventeen bytes", 17);
    TEST_ASSERT_FALSE(opening_set_load(&set, path, 0, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "Polyglot"), error.text);
}

static void games_give_their_first_plies(void) {
    TEST_ASSERT_TRUE_MESSAGE(
        load_text("; two games, a broken one and a mate\n[Event \"1\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n"
                  "[Event \"2\"]\n\n1. d4 Ke6 *\n\n[Event \"3\"]\n\n1. c4 *\n\n[Event \"4\"]\n\n"
                  "1. f3 e5 2. g4 Qh4# 0-1\n",
                  3),
        error.text);
    TEST_ASSERT_EQUAL_INT(OPENING_PGN, set.format);
    TEST_ASSERT_EQUAL_UINT64(3, set.count); // the fool's mate is not over after three plies
    TEST_ASSERT_EQUAL_UINT64(1, set.bad_count);
    Opening first = at(0, OPENING_SEQUENTIAL, 1, 0), second = at(0, OPENING_SEQUENTIAL, 1, 1);
    TEST_ASSERT_EQUAL_INT(3, first.move_count);
    char fen[FEN_SIZE];
    position_to_fen(&first.position, fen);
    TEST_ASSERT_EQUAL_STRING("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2", fen);
    TEST_ASSERT_EQUAL_INT(1, second.move_count);
    position_to_fen(&second.start, fen);
    TEST_ASSERT_EQUAL_STRING(START_FEN, fen);
    TEST_ASSERT_TRUE(load_text("1. f3 e5 2. g4 Qh4# 0-1\n1. e4 *", 0));
    TEST_ASSERT_EQUAL_UINT64(1, set.count);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(set.problems[0].reason, "mated"), set.problems[0].reason);
}

static int by_key(const void *a, const void *b) {
    const BookEntry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

// Lines of a book that transpose: Nf3 Nf6 Nc3 and Nc3 Nf6 Nf3 are one position.
static void a_book_gives_its_lines_without_transpositions(void) {
    static const char *const Lines[] = {"g1f3 g8f6 b1c3", "b1c3 g8f6 g1f3", "e2e4 e7e5", "e2e4 c7c5 g1f3"};
    BookEntry entries[16];
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        Position pos, next;
        position_from_fen(&pos, START_FEN, NULL);
        const char *cursor = Lines[i];
        char word[8];
        while (text_word(&cursor, word, sizeof word)) {
            Move move = notation_from_uci(&pos, word);
            entries[count++] = (BookEntry){pos.key, book_encode(move), (uint16_t)(i + 1), 0};
            position_make(&next, &pos, move);
            pos = next;
        }
    }
    qsort(entries, count, sizeof *entries, by_key);
    uint8_t bytes[16 * BOOK_ENTRY_SIZE];
    for (size_t i = 0; i < count; i++) book_entry_write(&entries[i], bytes + i * BOOK_ENTRY_SIZE);
    write_file(bytes, count * BOOK_ENTRY_SIZE);
    TEST_ASSERT_TRUE_MESSAGE(opening_set_load(&set, path, 0, &error), error.text);
    TEST_ASSERT_EQUAL_INT(OPENING_POLYGLOT, set.format);
    TEST_ASSERT_EQUAL_UINT64(3, set.count);
    for (uint64_t i = 0; i < 3; i++)
        for (uint64_t k = 0; k < i; k++)
            TEST_ASSERT_TRUE(at(0, OPENING_SEQUENTIAL, 1, i).position.key !=
                             at(0, OPENING_SEQUENTIAL, 1, k).position.key);
    opening_set_free(&set);
    TEST_ASSERT_TRUE(opening_set_load(&set, path, 1, &error));
    TEST_ASSERT_EQUAL_UINT64(3, set.count);
    TEST_ASSERT_EQUAL_INT(1, at(0, OPENING_SEQUENTIAL, 1, 2).move_count);
}

static void random_order_is_a_permutation_for_any_count(void) {
    static uint8_t seen[70000];
    static const uint64_t Counts[] = {1, 2, 3, 7, 16, 255, 256, 257, 1000, 65536, 65537};
    for (size_t c = 0; c < sizeof Counts / sizeof *Counts; c++) {
        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < Counts[c]; i++) {
            uint64_t element = opening_permute(5, i, Counts[c]);
            TEST_ASSERT_LESS_THAN_UINT64(Counts[c], element);
            TEST_ASSERT_EQUAL_INT(0, seen[element]);
            seen[element] = 1;
        }
    }
}

// Every element comes first, and every ordered pair comes at the front, as often as chance would have it.
static void random_order_is_fair(void) {
    enum { COUNT = 6, SEEDS = 36000 };
    int first[COUNT] = {0}, pairs[COUNT][COUNT] = {{0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t a = opening_permute(seed, 0, COUNT), b = opening_permute(seed, 1, COUNT);
        first[a]++;
        pairs[a][b]++;
    }
    double chi_first = 0, chi_pairs = 0, expected = SEEDS / (double)COUNT, expected_pair = SEEDS / 30.0;
    for (int a = 0; a < COUNT; a++) {
        chi_first += (first[a] - expected) * (first[a] - expected) / expected;
        for (int b = 0; b < COUNT; b++)
            if (a != b)
                chi_pairs += (pairs[a][b] - expected_pair) * (pairs[a][b] - expected_pair) / expected_pair;
    }
    TEST_ASSERT_TRUE(chi_first < 25.7); // 5 degrees of freedom, p = 1e-4
    TEST_ASSERT_TRUE(chi_pairs < 66.2); // 29 degrees of freedom, p = 1e-4
}

static void slices_of_one_seed_are_disjoint_and_seeds_differ(void) {
    char *text = malloc(1000 * 64);
    size_t used = 0;
    for (int i = 0; i < 1000; i++) used += (size_t)sprintf(text + used, KINGS " %d %d\n", i % 50, i + 1);
    TEST_ASSERT_TRUE_MESSAGE(load_text(text, 0), error.text);
    free(text);
    int times[1001] = {0}, same = 0;
    for (uint64_t worker = 0; worker < 10; worker++)
        for (uint64_t pair = 0; pair < 100; pair++) {
            Opening opening = at(99, OPENING_RANDOM, 1 + 100 * worker, pair);
            TEST_ASSERT_EQUAL_UINT64(0, opening.wrap);
            TEST_ASSERT_EQUAL_UINT64(opening.number, opening.start.fullmove); // the line that the number says
            times[opening.number]++;
            same += opening.number == at(100, OPENING_RANDOM, 1 + 100 * worker, pair).number;
        }
    for (int i = 1; i <= 1000; i++) TEST_ASSERT_EQUAL_INT(1, times[i]);
    TEST_ASSERT_LESS_THAN_INT(15, same);
}

static void a_file_that_changes_is_noticed(void) {
    TEST_ASSERT_TRUE(load_text(KINGS "\n" KINGS " 1 1\n", 0));
    FILE *file = fopen(path, "a");
    fputs("x", file);
    fclose(file);
    Opening opening;
    TEST_ASSERT_FALSE(opening_at(&set, 1, OPENING_SEQUENTIAL, 1, 1, &opening, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "changed"), error.text);
}

static long resident_kilobytes(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %ld", &value) == 1) break;
    if (file) fclose(file);
    return value;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SECONDS_MAX 60.0
#else
#define SECONDS_MAX 3.0 // of a build with assertions on a busy machine; a release build needs about half a second
#endif

// 250,000 lines of random walks. The processor's time is checked loosely and printed: others may use the machine.
static void a_quarter_of_a_million_lines(void) {
    enum { LINES = 250000 };
    strcpy(path, "/tmp/hone-opening-XXXXXX");
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    Position pos, next;
    position_from_fen(&pos, START_FEN, NULL);
    int written = 0;
    for (uint64_t i = 0; written < LINES; i++) {
        MoveList list;
        movegen_list(&pos, &list);
        if (list.count == 0 || i % 20 == 19 || pos.rule50 > 40) {
            position_from_fen(&pos, START_FEN, NULL);
            continue;
        }
        position_make(&next, &pos, list.moves[random_below(random_at(3, 0, i), (uint64_t)list.count)]);
        pos = next;
        char fen[FEN_SIZE];
        position_to_fen(&pos, fen);
        if (!movegen_any(&pos)) continue;
        fprintf(file, "%s\n", fen);
        written++;
    }
    long size = ftell(file);
    fclose(file);
    FILE *reset = fopen("/proc/self/clear_refs", "w"); // 5 sets the high-water mark back
    if (reset) {
        fputs("5", reset);
        fclose(reset);
    }
    long before = resident_kilobytes();
    clock_t start = clock();
    TEST_ASSERT_TRUE_MESSAGE(opening_set_load(&set, path, 0, &error), error.text);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    long grown = resident_kilobytes() - before;
    printf("250,000 lines of %.1f MB: loaded in %.3f s, peak memory grew by %.1f MB\n", (double)size / 1e6,
           seconds, (double)grown / 1e3);
    TEST_ASSERT_EQUAL_UINT64(LINES, set.count);
    TEST_ASSERT_EQUAL_UINT64(0, set.bad_count);
    TEST_ASSERT_LESS_THAN_INT(size / 1000, grown);
    TEST_ASSERT_TRUE(seconds < SECONDS_MAX);
    Opening opening = at(1, OPENING_RANDOM, 1, 249999);
    TEST_ASSERT_TRUE(movegen_any(&opening.position));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(lines_of_every_kind);
    RUN_TEST(bad_lines_are_counted_named_and_never_played);
    RUN_TEST(what_is_no_opening_file_is_refused);
    RUN_TEST(games_give_their_first_plies);
    RUN_TEST(a_book_gives_its_lines_without_transpositions);
    RUN_TEST(random_order_is_a_permutation_for_any_count);
    RUN_TEST(random_order_is_fair);
    RUN_TEST(slices_of_one_seed_are_disjoint_and_seeds_differ);
    RUN_TEST(a_file_that_changes_is_noticed);
    RUN_TEST(a_quarter_of_a_million_lines);
    return UNITY_END();
}
