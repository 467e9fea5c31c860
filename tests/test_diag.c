// SPDX-License-Identifier: GPL-3.0-or-later
// engine/diag: the table of one position adds up, the suite counts what a plain search says.
#include "engine/diag.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bench.h"
#include "engine/movegen.h"
#include "engine/notation.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static void a_diagnosis_adds_up_and_marks_changes(void) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Engine *engine = engine_create(BENCH_HASH);
    Position pos;
    TEST_ASSERT_TRUE(position_from_fen(&pos, bench_fen(12), NULL));
    diag_position(out, engine, &pos, 8);
    fclose(out);
    unsigned long long sum = 0;
    char previous[16] = "";
    int depth = 0, expected = 1;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char move[16], score[32];
        unsigned long long nodes, more;
        int seldepth;
        char mark = ' ';
        if (sscanf(line, "%d %d %15s %31[a-z] %*d %llu %llu", &depth, &seldepth, move, score, &nodes,
                   &more) != 6)
            continue;
        char *end = strchr(move, '*');
        if (end) {
            mark = '*';
            *end = '\0';
        }
        TEST_ASSERT_EQUAL_INT(expected++, depth);
        sum += more;
        TEST_ASSERT_EQUAL_UINT64(sum, nodes);
        TEST_ASSERT_EQUAL_INT_MESSAGE(depth > 1 && strcmp(move, previous) != 0, mark == '*', line);
        memcpy(previous, move, sizeof previous);
    }
    TEST_ASSERT_EQUAL_INT(8, depth);
    engine_new_game(engine);
    engine_set_position(engine, &pos, NULL);
    SearchResult result = engine_search(engine, &(SearchLimits){.depth = 8}, NULL);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(result.nodes, sum, "the last depth is an ordinary search");
    engine_destroy(engine);
    free(text);
}

static void the_suite_is_the_four_positions_and_their_moves_are_legal(void) {
    static const char *const expected[] = {"f6e4", "b7b8q", "e8f7", "e1f1"};
    TEST_ASSERT_EQUAL_INT(4, diag_count());
    for (int i = 0; i < diag_count(); i++) {
        Position pos;
        Error error = {""};
        DiagCase one = diag_case(i);
        TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, one.fen, &error), error.text);
        TEST_ASSERT_EQUAL_STRING(expected[i], one.best);
        TEST_ASSERT_TRUE_MESSAGE(notation_from_uci(&pos, one.best) != MOVE_NONE, one.name);
    }
}

// What a summary must say of the moves that searches to depth 1, 2, 3 ... give.
static DiagSummary summary_of(Engine *engine, const char *fen, const char *best, int depth) {
    DiagSummary summary = {0};
    Position pos;
    Move right, before = MOVE_NONE;
    position_from_fen(&pos, fen, NULL);
    right = notation_from_uci(&pos, best);
    for (int d = 1; d <= depth; d++) {
        engine_new_game(engine);
        engine_set_position(engine, &pos, NULL);
        SearchResult result = engine_search(engine, &(SearchLimits){.depth = d}, NULL);
        if (before != MOVE_NONE && before != result.best) {
            summary.changes++;
            if (before == right) summary.unexpected++;
        }
        if (result.best == right && (before != right || d == 1)) summary.settled = d;
        if (result.best != right) summary.settled = 0;
        summary.nodes = result.nodes;
        summary.futile = engine_counters(engine).count[ID_FutilityPruning];
        before = result.best;
    }
    return summary;
}

// Against summary_of on the suite, and on moves that are right only now and then, so that each count is seen
// to count.
static void a_summary_counts_changes_and_those_away_from_the_right_move(void) {
    enum { DEPTH = 7 };
    Engine *engine = engine_create(4);
    FILE *out = fopen("/dev/null", "w");
    int changes = 0, unexpected = 0, settled = 0;
    uint64_t futile = 0;
    for (int i = 0; i < diag_count(); i++) {
        DiagCase one = diag_case(i);
        Position pos;
        MoveList list;
        position_from_fen(&pos, one.fen, NULL);
        movegen_list(&pos, &list);
        for (int j = -1; j < list.count; j++) {
            char move[UCI_SIZE];
            if (j >= 0) notation_to_uci(&pos, list.moves[j], move);
            one.best = j >= 0 ? move : diag_case(i).best;
            DiagSummary got = diag_run(out, engine, &one, DEPTH);
            DiagSummary want = summary_of(engine, one.fen, one.best, DEPTH);
            TEST_ASSERT_EQUAL_INT_MESSAGE(want.settled, got.settled, one.best);
            TEST_ASSERT_EQUAL_INT_MESSAGE(want.changes, got.changes, one.best);
            TEST_ASSERT_EQUAL_INT_MESSAGE(want.unexpected, got.unexpected, one.best);
            TEST_ASSERT_EQUAL_UINT64(want.nodes, got.nodes);
            TEST_ASSERT_EQUAL_UINT64(want.futile, got.futile);
            changes += got.changes, unexpected += got.unexpected, settled += got.settled > 0;
            futile += got.futile;
        }
    }
    TEST_ASSERT_TRUE(changes > 0 && unexpected > 0 && settled >= 4 && futile > 0);
    fclose(out);
    engine_destroy(engine);
}

static void the_suite_is_summed_up_and_obeys_the_switches(void) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Engine *engine = engine_create(4);
    TEST_ASSERT_TRUE(engine_set_option(engine, "FutilityPruning", "false", NULL));
    diag_suite(out, engine, 6);
    fclose(out);
    char *table = strstr(text, "\nposition ");
    TEST_ASSERT_NOT_NULL_MESSAGE(table, text);
    unsigned long long sum = 0, nodes, futile;
    for (int i = 0; i < diag_count(); i++) {
        char *row = strstr(table, diag_case(i).best);
        TEST_ASSERT_NOT_NULL_MESSAGE(row, table);
        TEST_ASSERT_EQUAL_INT_MESSAGE(2, sscanf(row, "%*s %*s %*d %*d %llu %llu", &nodes, &futile), row);
        TEST_ASSERT_EQUAL_UINT64(0, futile);
        sum += nodes;
    }
    char *all = strstr(table, "\nall ");
    TEST_ASSERT_NOT_NULL_MESSAGE(all, table);
    TEST_ASSERT_EQUAL_INT(2, sscanf(all, " all %*s %*d %*d %llu %llu", &nodes, &futile));
    TEST_ASSERT_TRUE(nodes == sum && futile == 0);
    engine_destroy(engine);
    free(text);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_diagnosis_adds_up_and_marks_changes);
    RUN_TEST(the_suite_is_the_four_positions_and_their_moves_are_legal);
    RUN_TEST(a_summary_counts_changes_and_those_away_from_the_right_move);
    RUN_TEST(the_suite_is_summed_up_and_obeys_the_switches);
    return UNITY_END();
}
