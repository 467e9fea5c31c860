// SPDX-License-Identifier: GPL-3.0-or-later
// openings/suite: the same suite from any number of threads, and every promise about its positions checked
// anew; the suites in openings/ as well, and the program that makes them.
#include "openings/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/movegen.h"
#include "openings/opening.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { MOST = 64 };

typedef struct Kept {
    Position positions[MOST];
    int scores[MOST];
    int count;
} Kept;

static bool keep(void *context, const Position *pos, int white_score) {
    Kept *kept = context;
    kept->positions[kept->count] = *pos;
    kept->scores[kept->count++] = white_score;
    return true;
}

static SuiteReport make(const SuitePlan *plan, Kept *kept) {
    SuiteReport report;
    Error error;
    kept->count = 0;
    if (!suite_make(plan, keep, kept, &report, &error)) TEST_FAIL_MESSAGE(error.text);
    TEST_ASSERT_EQUAL_INT(plan->count, kept->count);
    TEST_ASSERT_EQUAL_UINT64(report.kept, kept->count);
    TEST_ASSERT_EQUAL_UINT64(report.walks, report.over + report.in_check + report.mate_in_one +
                                               report.outside + report.transposed + report.kept);
    return report;
}

static const SuitePlan Plan = {
    .seed = 5, .count = 24, .low = 20, .high = 90, .either = true, .plies = 6, .nodes = 400, .threads = 1};

// Mate in one by trying: a reply to every move, none of them legal, and the king attacked.
static bool mates_at_once(const Position *pos) {
    MoveList list, replies;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_make(&after, pos, list.moves[i]);
        movegen_list(&after, &replies);
        if (replies.count == 0 &&
            position_attacked(&after, pos->stm, position_king(&after, after.stm), position_occupied(&after)))
            return true;
    }
    return false;
}

static void threads_do_not_change_the_suite(void) {
    static Kept one, four, other;
    SuitePlan plan = Plan;
    make(&plan, &one);
    plan.threads = 4;
    make(&plan, &four);
    TEST_ASSERT_EQUAL_INT_ARRAY(one.scores, four.scores, Plan.count);
    for (int i = 0; i < Plan.count; i++) TEST_ASSERT_EQUAL_HEX64(one.positions[i].key, four.positions[i].key);
    plan.seed = 6;
    make(&plan, &other);
    TEST_ASSERT_TRUE(other.positions[0].key != one.positions[0].key);
    // A longer suite begins with the shorter one.
    plan = Plan;
    plan.count = 40;
    make(&plan, &other);
    for (int i = 0; i < Plan.count; i++)
        TEST_ASSERT_EQUAL_HEX64(one.positions[i].key, other.positions[i].key);
}

static void positions_are_as_promised(void) {
    static Kept kept;
    SuitePlan plan = Plan;
    SuiteReport report = make(&plan, &kept);
    int white = 0;
    Engine *engine = engine_create(1);
    TEST_ASSERT_NOT_NULL(engine);
    for (int i = 0; i < kept.count; i++) {
        const Position *pos = &kept.positions[i];
        TEST_ASSERT_TRUE(position_ok(pos));
        TEST_ASSERT_EQUAL_HEX64(0, pos->checkers);
        TEST_ASSERT_FALSE(mates_at_once(pos));
        TEST_ASSERT_TRUE(abs(kept.scores[i]) >= 20 && abs(kept.scores[i]) <= 90);
        for (int k = 0; k < i; k++) TEST_ASSERT_TRUE(kept.positions[k].key != pos->key);
        white += pos->stm == WHITE;
    }
    TEST_ASSERT_EQUAL_UINT64(report.white_to_move, white);
    TEST_ASSERT_TRUE(white > 0 && white < kept.count);
    engine_destroy(engine);
}

static void windows_are_from_white_unless_either_side_may_have_it(void) {
    static Kept kept;
    SuitePlan plan = Plan;
    plan.either = false;
    make(&plan, &kept);
    for (int i = 0; i < kept.count; i++) TEST_ASSERT_TRUE(kept.scores[i] >= 20 && kept.scores[i] <= 90);
    plan.low = -90;
    plan.high = -20;
    make(&plan, &kept);
    for (int i = 0; i < kept.count; i++) TEST_ASSERT_TRUE(kept.scores[i] <= -20 && kept.scores[i] >= -90);
}

static void double_chess960_walks_begin_from_many_positions(void) {
    SuitePlan plan = Plan;
    plan.dfrc = true;
    plan.plies = 0;
    char first[FEN_SIZE], fen[FEN_SIZE];
    int different = 0, uneven = 0;
    for (uint64_t i = 0; i < 50; i += 2) {
        Position pos;
        TEST_ASSERT_TRUE(suite_walk(&plan, i, &pos));
        TEST_ASSERT_TRUE(pos.chess960 && position_ok(&pos));
        position_to_fen(&pos, fen);
        if (i == 0) strcpy(first, fen);
        different += strcmp(first, fen) != 0;
        for (int file = 0; file < 8; file++)
            if (piece_type(pos.board[file]) != piece_type(pos.board[file + 56])) {
                uneven++;
                break;
            }
    }
    TEST_ASSERT_GREATER_THAN_INT(20, different);
    TEST_ASSERT_GREATER_THAN_INT(20, uneven);
}

static void mates_in_one_are_seen(void) {
    Position pos;
    position_from_fen(&pos, "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", NULL);
    TEST_ASSERT_TRUE(suite_mate_in_one(&pos));
    position_from_fen(&pos, "6k1/5pp1/7p/8/8/8/8/R5K1 w - - 0 1", NULL);
    TEST_ASSERT_FALSE(suite_mate_in_one(&pos));
    position_from_fen(&pos, "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", NULL); // mates, and stalemates that are none
    TEST_ASSERT_TRUE(suite_mate_in_one(&pos));
}

static void scores_are_counted_symmetrically(void) {
    SuiteScores scores = {.width = 10};
    for (int score = -500; score <= 500; score++) suite_scores_add(&scores, score);
    for (int i = 0; i < SUITE_BINS; i++)
        TEST_ASSERT_EQUAL_UINT64(scores.bins[i], scores.bins[SUITE_BINS - 1 - i]);
    TEST_ASSERT_EQUAL_UINT64(9, scores.bins[SUITE_BINS / 2]);
    TEST_ASSERT_EQUAL_UINT64(10, scores.bins[SUITE_BINS / 2 + 1]);
    TEST_ASSERT_EQUAL_UINT64(1001, scores.count);
    TEST_ASSERT_TRUE(scores.sum == 0);
}

static void hopeless_plans_are_refused(void) {
    SuiteReport report;
    Error error;
    static Kept kept;
    SuitePlan plan = Plan;
    plan.threads = 0;
    TEST_ASSERT_FALSE(suite_make(&plan, keep, &kept, &report, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "threads"));
}

static int by_key(const void *a, const void *b) {
    Key x = *(const Key *)a, y = *(const Key *)b;
    return x < y ? -1 : x > y;
}

static void check_shipped(const char *path) {
    OpeningSet set;
    Error error;
    if (!opening_set_load(&set, path, 0, &error)) TEST_FAIL_MESSAGE(error.text);
    TEST_ASSERT_EQUAL_UINT64(20000, set.count);
    TEST_ASSERT_EQUAL_UINT64(0, set.bad_count);
    static Key keys[20000];
    int white = 0;
    for (uint64_t i = 0; i < set.count; i++) {
        Opening opening;
        TEST_ASSERT_TRUE_MESSAGE(opening_at(&set, 0, OPENING_SEQUENTIAL, 1, i, &opening, &error), error.text);
        TEST_ASSERT_EQUAL_HEX64(0, opening.position.checkers);
        TEST_ASSERT_FALSE(mates_at_once(&opening.position));
        keys[i] = position_repetition_key(&opening.position);
        white += opening.position.stm == WHITE;
    }
    qsort(keys, set.count, sizeof *keys, by_key);
    for (uint64_t i = 1; i < set.count; i++) TEST_ASSERT_TRUE(keys[i] != keys[i - 1]);
    TEST_ASSERT_INT_WITHIN(3000, 10000, white);
    opening_set_free(&set);
}

static void the_balanced_suite_is_sound(void) { check_shipped("openings/balanced.epd"); }
static void the_unbalanced_suite_is_sound(void) { check_shipped("openings/unbalanced.epd"); }

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(threads_do_not_change_the_suite);
    RUN_TEST(positions_are_as_promised);
    RUN_TEST(windows_are_from_white_unless_either_side_may_have_it);
    RUN_TEST(double_chess960_walks_begin_from_many_positions);
    RUN_TEST(mates_in_one_are_seen);
    RUN_TEST(scores_are_counted_symmetrically);
    RUN_TEST(hopeless_plans_are_refused);
    RUN_TEST(the_balanced_suite_is_sound);
    RUN_TEST(the_unbalanced_suite_is_sound);
    return UNITY_END();
}
