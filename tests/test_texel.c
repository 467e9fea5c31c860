// SPDX-License-Identifier: GPL-3.0-or-later
// tuner/texel: finds weights again from positions scored with them, and names the line it cannot read.
#include "tuner/texel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/movegen.h"
#include "engine/weights.h"
#include "unity.h"

void setUp(void) { bitboard_init(); }
void tearDown(void) {}

static char path[] = "/tmp/test_texel_XXXXXX";

static FILE *temporary(void) {
    strcpy(path, "/tmp/test_texel_XXXXXX");
    int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    return fdopen(fd, "w");
}

// Writes positions of random games, scored by given weights.
static void write_positions(FILE *file, int count, const Weights *weights) {
    Position pos, next;
    position_from_fen(&pos, START_FEN, NULL);
    for (uint64_t i = 0; count; i++) {
        MoveList list;
        movegen_list(&pos, &list);
        if (!list.count || i % 100 == 99) {
            position_from_fen(&pos, START_FEN, NULL);
            continue;
        }
        position_make(&next, &pos, list.moves[random_below(random_at(3, 0, i), (uint64_t)list.count)]);
        pos = next;
        if (i % 5) continue;
        char fen[FEN_SIZE];
        position_to_fen(&pos, fen);
        fprintf(file, "%s;%d;0.5\n", fen, eval_parts(&pos, weights).total);
        count--;
    }
}

static void weights_are_found_again(void) {
    Weights changed = DefaultWeights;
    changed.tempo += PACK(-50, 30);
    changed.isolated[0] += PACK(-50, -40);
    FILE *file = temporary();
    write_positions(file, 4000, &changed);
    fclose(file);

    const char *const paths[] = {path};
    TexelPlan plan = {.paths = paths, .path_count = 1, .epochs = 250, .k = 0.0065, .decay = 1e-8};
    char out[20000] = "", log[20000] = "";
    FILE *out_file = fmemopen(out, sizeof out, "w"), *log_file = fmemopen(log, sizeof log, "w");
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(texel_run(&plan, out_file, log_file, &error), error.text);
    fclose(out_file), fclose(log_file), unlink(path);

    double before, after;
    const char *last = strstr(log, "epoch 250: ");
    TEST_ASSERT_NOT_NULL(last);
    TEST_ASSERT_EQUAL_INT(1, sscanf(strstr(log, "held out"), "held out %lf", &before));
    TEST_ASSERT_EQUAL_INT(1, sscanf(strstr(last, "held out"), "held out %lf", &after));
    TEST_ASSERT_TRUE(before > 1e-4 && after < before / 20);
    int mg, eg;
    TEST_ASSERT_EQUAL_INT(2, sscanf(strstr(out, ".isolated"), ".isolated = {S(%d, %d)", &mg, &eg));
    TEST_ASSERT_INT_WITHIN(15, packed_mg(changed.isolated[0]), mg);
    TEST_ASSERT_EQUAL_INT(2, sscanf(strstr(out, ".tempo"), ".tempo = S(%d, %d)", &mg, &eg));
    TEST_ASSERT_INT_WITHIN(10, packed_mg(changed.tempo), mg);
}

static void a_bad_line_is_named(void) {
    static const struct {
        const char *line, *expected;
    } Cases[] = {{"hello", "fen;score;result"},
                 {START_FEN ";12;1.5", "1.5"},
                 {START_FEN ";x;1", "x"},
                 {"8/8/8/8/8/8/8/8 w - - 0 1;0;1", ":2"}};
    for (size_t i = 0; i < sizeof Cases / sizeof *Cases; i++) {
        FILE *file = temporary();
        fprintf(file, "%s;0;0.5\n%s\n", START_FEN, Cases[i].line);
        fclose(file);
        const char *const paths[] = {path};
        TexelPlan plan = {.paths = paths, .path_count = 1, .epochs = 1, .k = 0.0065};
        Error error = {""};
        TEST_ASSERT_FALSE(texel_run(&plan, stdout, stdout, &error));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, Cases[i].expected), error.text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, ":2"), error.text);
        unlink(path);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(weights_are_found_again);
    RUN_TEST(a_bad_line_is_named);
    return UNITY_END();
}
