// SPDX-License-Identifier: GPL-3.0-or-later
// engine/util: known checksums, the edges of number parsing, randomness that is the same every time and looks random.
#include "engine/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static void errors_are_formatted_prefixed_and_optional(void) {
    Error error;
    TEST_ASSERT_FALSE(error_set(&error, "line %d", 7));
    TEST_ASSERT_EQUAL_STRING("line 7", error.text);
    TEST_ASSERT_FALSE(error_prefix(&error, "%s", "book.bin"));
    TEST_ASSERT_EQUAL_STRING("book.bin: line 7", error.text);
    TEST_ASSERT_FALSE(error_set(NULL, "nobody reads this"));
    TEST_ASSERT_FALSE(error_prefix(NULL, "nor this"));
}

static void errors_are_cut_not_overrun(void) {
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct {
        Error error;
        char guard[8];
    } box;
    memset(&box, 'g', sizeof box);
    error_set(&box.error, "%s", text);
    TEST_ASSERT_EQUAL_UINT(sizeof box.error.text - 1, strlen(box.error.text));
    error_prefix(&box.error, "%s", text);
    TEST_ASSERT_EQUAL_UINT(sizeof box.error.text - 1, strlen(box.error.text));
    for (size_t i = 0; i < sizeof box.guard; i++) TEST_ASSERT_EQUAL_INT('g', box.guard[i]);
}

static void crc32_gives_the_published_check_value(void) {
    TEST_ASSERT_EQUAL_HEX32(0xcbf43926, crc32_of(0, "123456789", 9));
    TEST_ASSERT_EQUAL_HEX32(0xe8b7be43, crc32_of(0, "a", 1));
    TEST_ASSERT_EQUAL_HEX32(0x00000000, crc32_of(0, "", 0));
    TEST_ASSERT_EQUAL_HEX32(0x414fa339, crc32_of(0, "The quick brown fox jumps over the lazy dog", 43));
}

static void crc32_may_be_computed_in_parts(void) {
    for (size_t cut = 0; cut <= 9; cut++) {
        uint32_t first = crc32_of(0, "123456789", cut);
        TEST_ASSERT_EQUAL_HEX32(0xcbf43926, crc32_of(first, &"123456789"[cut], 9 - cut));
    }
}

// The vectors are those published with FNV-1a.
static void digest_gives_the_published_values(void) {
    TEST_ASSERT_EQUAL_HEX64(0xcbf29ce484222325ull, digest_of(DIGEST_START, "", 0));
    TEST_ASSERT_EQUAL_HEX64(0xaf63dc4c8601ec8cull, digest_of(DIGEST_START, "a", 1));
    TEST_ASSERT_EQUAL_HEX64(0x85944171f73967e8ull, digest_of(DIGEST_START, "foobar", 6));
    TEST_ASSERT_EQUAL_HEX64(0x85944171f73967e8ull, digest_of(digest_of(DIGEST_START, "foo", 3), "bar", 3));
}

static void parse_int_keeps_to_its_limits(void) {
    Error error;
    int64_t value = 99;
    TEST_ASSERT_TRUE(parse_int("-5", -5, 5, &value, &error));
    TEST_ASSERT_EQUAL_INT64(-5, value);
    TEST_ASSERT_TRUE(parse_int("5", -5, 5, &value, &error));
    TEST_ASSERT_EQUAL_INT64(5, value);
    TEST_ASSERT_TRUE(parse_int("9223372036854775807", INT64_MIN, INT64_MAX, &value, &error));
    TEST_ASSERT_EQUAL_INT64(INT64_MAX, value);
    TEST_ASSERT_TRUE(parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, &value, &error));
    TEST_ASSERT_EQUAL_INT64(INT64_MIN, value);

    value = 99;
    TEST_ASSERT_FALSE(parse_int("6", -5, 5, &value, &error));
    TEST_ASSERT_EQUAL_STRING("6 is not in -5 to 5", error.text);
    TEST_ASSERT_FALSE(parse_int("-6", -5, 5, &value, &error));
    TEST_ASSERT_FALSE(parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &value, &error));
    TEST_ASSERT_FALSE(parse_int("99999999999999999999", -5, 5, &value, &error));
    TEST_ASSERT_EQUAL_STRING("99999999999999999999 is not in -5 to 5", error.text);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(99, value, "a refused number must not be stored");
}

static void parse_int_refuses_what_is_not_a_whole_number(void) {
    const char *const bad[] = {"", " ", " 5", "5 ", "5x", "x", "0x10", "1e3", "1.0", "-", "+", "--5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Error error = {""};
        int64_t value = 99;
        TEST_ASSERT_FALSE_MESSAGE(parse_int(bad[i], -1000, 1000, &value, &error), bad[i]);
        TEST_ASSERT_NOT_NULL(strstr(error.text, bad[i]));
        TEST_ASSERT_EQUAL_INT64(99, value);
    }
}

static void parse_real_takes_finite_numbers_in_range(void) {
    Error error;
    double value = 99;
    TEST_ASSERT_TRUE(parse_real("-0.25", -1, 1, &value, &error));
    TEST_ASSERT_EQUAL_DOUBLE(-0.25, value);
    TEST_ASSERT_TRUE(parse_real("1e-3", -1, 1, &value, &error));
    TEST_ASSERT_EQUAL_DOUBLE(0.001, value);

    value = 99;
    const char *const bad[] = {"", " 1", "1 ", "1,5", "abc", "nan", "inf", "-inf", "1e999", "1.5", "-1.01"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_FALSE_MESSAGE(parse_real(bad[i], -1, 1, &value, &error), bad[i]);
    TEST_ASSERT_EQUAL_DOUBLE(99, value);
}

static void random_at_never_changes(void) {
    // Journals and plans written today must mean the same tomorrow: these three are part of the file format.
    TEST_ASSERT_EQUAL_HEX64(0x1cd364143cce4aaeull, random_at(0, 0, 0));
    TEST_ASSERT_EQUAL_HEX64(0x222eddecabf31861ull, random_at(1, 2, 3));
    TEST_ASSERT_EQUAL_HEX64(0x29c8db3254a8c739ull, random_at(UINT64_MAX, 1, UINT64_MAX));
}

// Pearson's chi-square of counts against a flat distribution.
static double chi_square(const int *counts, int cells, int total) {
    double expected = (double)total / cells, sum = 0;
    for (int i = 0; i < cells; i++) sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return sum;
}

// For k degrees of freedom chi-square has mean k and variance 2k: six deviations leave no room for chance.
static void assert_flat(const int *counts, int cells, int total, const char *what) {
    double freedom = cells - 1;
    TEST_ASSERT_TRUE_MESSAGE(fabs(chi_square(counts, cells, total) - freedom) < 6 * sqrt(2 * freedom), what);
}

enum { DRAWS = 200000, CELLS = 256 };

static void random_at_is_flat_along_each_argument(void) {
    int by_index[CELLS] = {0}, by_stream[CELLS] = {0}, by_seed[CELLS] = {0}, low[CELLS] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        by_index[random_at(7, 3, i) >> 56]++;
        by_stream[random_at(7, i, 3) >> 56]++;
        by_seed[random_at(i, 7, 3) >> 56]++;
        low[random_at(7, 3, i) & 255]++;
    }
    assert_flat(by_index, CELLS, DRAWS, "index, high byte");
    assert_flat(by_stream, CELLS, DRAWS, "stream, high byte");
    assert_flat(by_seed, CELLS, DRAWS, "seed, high byte");
    assert_flat(low, CELLS, DRAWS, "index, low byte");
}

static void random_at_is_independent_between_neighbours(void) {
    // The pair of top nibbles of two neighbouring numbers must fill all 256 cells evenly.
    int index[CELLS] = {0}, stream[CELLS] = {0}, seed[CELLS] = {0}, swapped[CELLS] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t here = random_at(1, 2, i) >> 60 << 4;
        index[here | random_at(1, 2, i + 1) >> 60]++;
        stream[here | random_at(1, 3, i) >> 60]++;
        seed[here | random_at(2, 2, i) >> 60]++;
        swapped[here | random_at(2, 1, i) >> 60]++;
    }
    assert_flat(index, CELLS, DRAWS, "next index");
    assert_flat(stream, CELLS, DRAWS, "next stream");
    assert_flat(seed, CELLS, DRAWS, "next seed");
    assert_flat(swapped, CELLS, DRAWS, "seed and stream swapped");
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void random_at_does_not_repeat_over_a_grid(void) {
    enum { SIDE = 40, COUNT = SIDE * SIDE * SIDE };
    uint64_t *drawn = malloc(COUNT * sizeof *drawn);
    TEST_ASSERT_NOT_NULL(drawn);
    for (uint64_t i = 0; i < COUNT; i++) drawn[i] = random_at(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
    qsort(drawn, COUNT, sizeof *drawn, compare_u64);
    int repeats = 0;
    for (int i = 1; i < COUNT; i++) repeats += drawn[i] == drawn[i - 1];
    free(drawn);
    TEST_ASSERT_EQUAL_INT(0, repeats);
}

static void every_input_bit_moves_half_the_output_bits(void) {
    for (int bit = 0; bit < 64; bit++) {
        int flipped = 0;
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t x = random_at(5, 5, i);
            flipped += __builtin_popcountll(mix64(x) ^ mix64(x ^ 1ull << bit));
        }
        TEST_ASSERT_INT_WITHIN(1000, 32000, flipped); // the deviation of the sum is about 126
    }
}

static void random_below_covers_its_range(void) {
    int counts[10] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t x = random_below(random_at(9, 9, i), 10);
        TEST_ASSERT_TRUE(x < 10);
        counts[x]++;
    }
    assert_flat(counts, 10, DRAWS, "below 10");
    TEST_ASSERT_EQUAL_UINT64(0, random_below(UINT64_MAX, 1));
    TEST_ASSERT_EQUAL_UINT64(9, random_below(UINT64_MAX, 10));
    TEST_ASSERT_EQUAL_UINT64(0, random_below(0, 10));
}

static void random_unit_stays_below_one(void) {
    TEST_ASSERT_EQUAL_DOUBLE(0.0, random_unit(0));
    TEST_ASSERT_TRUE(random_unit(UINT64_MAX) < 1.0);
    TEST_ASSERT_TRUE(random_unit(UINT64_MAX) > 0.999999999999);
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = random_unit(random_at(4, 4, i));
        sum += x, squares += x * x;
    }
    TEST_ASSERT_DOUBLE_WITHIN(0.004, 0.5, sum / DRAWS); // six deviations of the mean
    TEST_ASSERT_DOUBLE_WITHIN(0.004, 1.0 / 3, squares / DRAWS);
}

static void text_copy_cuts_and_terminates(void) {
    char buffer[5] = "....";
    TEST_ASSERT_TRUE(text_copy(buffer, sizeof buffer, "e2e4"));
    TEST_ASSERT_EQUAL_STRING("e2e4", buffer);
    TEST_ASSERT_FALSE(text_copy(buffer, sizeof buffer, "e7e8q"));
    TEST_ASSERT_EQUAL_STRING("e7e8", buffer);
    TEST_ASSERT_TRUE(text_copy(buffer, 1, ""));
    TEST_ASSERT_EQUAL_STRING("", buffer);
}

static void text_equal_ignores_case_only(void) {
    TEST_ASSERT_TRUE(text_equal("Hash", "hASH"));
    TEST_ASSERT_TRUE(text_equal("", ""));
    TEST_ASSERT_FALSE(text_equal("Hash", "Hash "));
    TEST_ASSERT_FALSE(text_equal("Has", "Hash"));
    TEST_ASSERT_FALSE(text_equal("[", "{"));
}

static void text_word_walks_a_line(void) {
    const char *cursor = "  go\tnodes   1000000\n";
    char word[6];
    TEST_ASSERT_TRUE(text_word(&cursor, word, sizeof word));
    TEST_ASSERT_EQUAL_STRING("go", word);
    TEST_ASSERT_TRUE(text_word(&cursor, word, sizeof word));
    TEST_ASSERT_EQUAL_STRING("nodes", word);
    TEST_ASSERT_TRUE(text_word(&cursor, word, sizeof word));
    TEST_ASSERT_EQUAL_STRING_MESSAGE("10000", word, "cut to the buffer, the rest of the word skipped");
    TEST_ASSERT_FALSE(text_word(&cursor, word, sizeof word));
    TEST_ASSERT_EQUAL_STRING("", word);
    TEST_ASSERT_FALSE(text_word(&cursor, word, sizeof word));
}

static void file_read_returns_every_byte(void) {
    char path[] = "/tmp/hone_test_util_XXXXXX";
    int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    enum { SIZE = 200001 }; // more than two of its internal blocks
    unsigned char *bytes = malloc(SIZE);
    TEST_ASSERT_NOT_NULL(bytes);
    for (uint64_t i = 0; i < SIZE; i++) bytes[i] = (unsigned char)random_at(1, 1, i);
    TEST_ASSERT_EQUAL_INT64(SIZE, write(fd, bytes, SIZE));
    size_t size = 0;
    Error error;
    char *data = file_read(path, &size, &error);
    TEST_ASSERT_NOT_NULL(data);
    TEST_ASSERT_EQUAL_UINT64(SIZE, size);
    TEST_ASSERT_EQUAL_MEMORY(bytes, data, SIZE);
    TEST_ASSERT_EQUAL_INT('\0', data[size]);
    free(data);
    free(bytes);

    TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 0));
    data = file_read(path, &size, &error);
    TEST_ASSERT_NOT_NULL(data);
    TEST_ASSERT_EQUAL_UINT64(0, size);
    TEST_ASSERT_EQUAL_STRING("", data);
    free(data);
    close(fd);
    unlink(path);
}

static void file_read_names_the_file_it_cannot_read(void) {
    Error error;
    size_t size;
    TEST_ASSERT_NULL(file_read("/nonexistent/file", &size, &error));
    TEST_ASSERT_EQUAL_STRING("/nonexistent/file: No such file or directory", error.text);
    TEST_ASSERT_NULL(file_read("/tmp", &size, &error));
    TEST_ASSERT_EQUAL_STRING("/tmp: Is a directory", error.text);
    TEST_ASSERT_NULL(file_read("/tmp", NULL, NULL));
}

static void the_clock_goes_forward_in_both_units(void) {
    int64_t ns = now_ns();
    for (int i = 0; i < 20; i++) {
        int64_t before = now_ns(), ms = now_ms(), after = now_ns(); // however long it was kept waiting between
        TEST_ASSERT_TRUE(before / 1000000 <= ms && ms <= after / 1000000);
        usleep(1000);
    }
    TEST_ASSERT_TRUE(now_ns() - ns >= 20000000);
}

static void small_integer_helpers(void) {
    TEST_ASSERT_EQUAL_INT(-2, int_min(-2, 3));
    TEST_ASSERT_EQUAL_INT(3, int_max(-2, 3));
    TEST_ASSERT_EQUAL_INT(0, int_clamp(-1, 0, 9));
    TEST_ASSERT_EQUAL_INT(9, int_clamp(10, 0, 9));
    TEST_ASSERT_EQUAL_INT(5, int_clamp(5, 0, 9));
}

static void text_join_puts_one_blank_between_words(void) {
    char *none = text_join(0, NULL), *three = text_join(3, (char *[]){"a", "", "bc"});
    TEST_ASSERT_EQUAL_STRING("", none);
    TEST_ASSERT_EQUAL_STRING("a  bc", three);
    free(none);
    free(three);
}

// Writes text to a file as FileOut does it, whole or given up.
static bool write_out(const char *path, const char *text, bool whole) {
    FileOut out;
    Error error;
    TEST_ASSERT_TRUE(file_out_open(&out, path, &error));
    fputs(text, out.file);
    return file_out_close(&out, whole, &error);
}

static void a_file_appears_whole_or_not_at_all(void) {
    char path[] = "/tmp/hone-test-util-XXXXXX", part[64];
    close(mkstemp(path));
    snprintf(part, sizeof part, "%s.tmp", path);
    TEST_ASSERT_TRUE(write_out(path, "old", true));
    TEST_ASSERT_FALSE(write_out(path, "half of the new", false));
    Error error;
    char *text = file_read(path, NULL, &error);
    TEST_ASSERT_EQUAL_STRING("old", text);
    TEST_ASSERT_TRUE_MESSAGE(access(part, F_OK) != 0, "nothing is left beside it");
    free(text);
    unlink(path);
    TEST_ASSERT_FALSE(write_out("/dev/full", "lost", true));
    FileOut out;
    TEST_ASSERT_FALSE(file_out_open(&out, "/tmp", &error));
    TEST_ASSERT_FALSE(file_out_open(&out, "/nowhere/x", &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "/nowhere/x"), error.text);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(errors_are_formatted_prefixed_and_optional);
    RUN_TEST(errors_are_cut_not_overrun);
    RUN_TEST(crc32_gives_the_published_check_value);
    RUN_TEST(crc32_may_be_computed_in_parts);
    RUN_TEST(digest_gives_the_published_values);
    RUN_TEST(a_file_appears_whole_or_not_at_all);
    RUN_TEST(text_join_puts_one_blank_between_words);
    RUN_TEST(parse_int_keeps_to_its_limits);
    RUN_TEST(parse_int_refuses_what_is_not_a_whole_number);
    RUN_TEST(parse_real_takes_finite_numbers_in_range);
    RUN_TEST(random_at_never_changes);
    RUN_TEST(random_at_is_flat_along_each_argument);
    RUN_TEST(random_at_is_independent_between_neighbours);
    RUN_TEST(random_at_does_not_repeat_over_a_grid);
    RUN_TEST(every_input_bit_moves_half_the_output_bits);
    RUN_TEST(random_below_covers_its_range);
    RUN_TEST(random_unit_stays_below_one);
    RUN_TEST(text_copy_cuts_and_terminates);
    RUN_TEST(text_equal_ignores_case_only);
    RUN_TEST(text_word_walks_a_line);
    RUN_TEST(file_read_returns_every_byte);
    RUN_TEST(file_read_names_the_file_it_cannot_read);
    RUN_TEST(the_clock_goes_forward_in_both_units);
    RUN_TEST(small_integer_helpers);
    return UNITY_END();
}
