// SPDX-License-Identifier: GPL-3.0-or-later
// engine/bench: the signature is the same however often and beside whatever it runs; its positions are sound.
#include "engine/bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"
#include "unity.h"

enum { DEPTH = 5 };

static const _Atomic bool Never = false;

void setUp(void) {}
void tearDown(void) {}

static BenchTotal run(const BenchOptions *options, char **text) {
    size_t size;
    FILE *out = open_memstream(text, &size);
    Error error = {""};
    Engine *engine = bench_engine(options, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(engine, error.text);
    BenchTotal total = bench_run(out, engine, options, &Never);
    engine_destroy(engine);
    fclose(out);
    return total;
}

static void positions_are_legal_different_and_not_over(void) {
    TEST_ASSERT_TRUE(bench_count() >= 50);
    int chess960 = 0, endgames = 0;
    for (int i = 0; i < bench_count(); i++) {
        Position pos;
        Error error = {""};
        TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, bench_fen(i), &error), error.text);
        TEST_ASSERT_TRUE_MESSAGE(movegen_any(&pos), bench_fen(i));
        chess960 += pos.chess960;
        endgames += __builtin_popcountll(position_occupied(&pos)) <= 12;
        for (int j = 0; j < i; j++)
            TEST_ASSERT_TRUE_MESSAGE(strcmp(bench_fen(i), bench_fen(j)) != 0, bench_fen(i));
    }
    TEST_ASSERT_TRUE(chess960 >= 4 && endgames >= 8);
}

static void the_words_behind_bench_are_read(void) {
    BenchOptions options;
    Error error;
    TEST_ASSERT_TRUE(bench_read("", &options, &error));
    TEST_ASSERT_TRUE(options.depth == BENCH_DEPTH && options.threads == 1 && options.hash == BENCH_HASH &&
                     !options.stats);
    TEST_ASSERT_TRUE(bench_read(" 7 --hash 3 --stats --threads 2 ", &options, &error));
    TEST_ASSERT_TRUE(options.depth == 7 && options.threads == 2 && options.hash == 3 && options.stats);
    static const char *const bad[] = {"0",         "x",  "--hash", "--hash x", "--threads 0",
                                      "--depth 5", "5x", "-1",     "1000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.text[0] = '\0';
        TEST_ASSERT_FALSE_MESSAGE(bench_read(bad[i], &options, &error), bad[i]);
        TEST_ASSERT_TRUE(error.text[0] != '\0');
    }
}

// An engine that thinks about something else all the while.
static void *disturb(void *context) {
    Engine *engine = context;
    engine_search(engine, &(SearchLimits){.infinite = true}, NULL);
    return NULL;
}

static void twice_and_beside_a_busy_engine_it_is_the_same_to_the_letter(void) {
    BenchOptions options = {.depth = DEPTH, .threads = 1, .hash = BENCH_HASH};
    char *first, *second, *beside;
    BenchTotal total = run(&options, &first);
    TEST_ASSERT_TRUE(total.nodes > 10000);
    TEST_ASSERT_EQUAL_UINT64(total.nodes, run(&options, &second).nodes);
    TEST_ASSERT_EQUAL_STRING(first, second);

    Engine *busy = engine_create(1);
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(engine_set_option(busy, "LmrBase", "120", &error), error.text);
    pthread_t thread;
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, disturb, busy));
    TEST_ASSERT_EQUAL_UINT64(total.nodes, run(&options, &beside).nodes);
    TEST_ASSERT_EQUAL_STRING(first, beside);
    engine_stop(busy);
    pthread_join(thread, NULL);
    engine_destroy(busy);
    free(first), free(second), free(beside);
}

static void each_position_is_searched_as_by_a_fresh_engine(void) {
    BenchOptions options = {.depth = DEPTH, .threads = 1, .hash = BENCH_HASH};
    char *text;
    run(&options, &text);
    const char *line = text;
    for (int i = 0; i < bench_count(); i++, line = strchr(line, '\n') + 1) {
        unsigned long long nodes;
        TEST_ASSERT_EQUAL_INT(1, sscanf(line, "%*d/%*d %llu nodes", &nodes));
        if (i % 9 != 8) continue;
        Engine *engine = engine_create(BENCH_HASH);
        Position pos;
        TEST_ASSERT_TRUE(engine && position_from_fen(&pos, bench_fen(i), NULL));
        engine_set_position(engine, &pos, NULL);
        SearchResult result = engine_search(engine, &(SearchLimits){.depth = DEPTH}, NULL);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(result.nodes, nodes, bench_fen(i));
        engine_destroy(engine);
    }
    free(text);
}

static void statistics_add_up(void) {
    BenchOptions options = {.depth = DEPTH, .threads = 1, .hash = 4, .stats = true};
    char *text;
    run(&options, &text);
    unsigned long long cuts;
    double rate, branching, share;
    const char *at = strstr(text, "first-move cutoffs");
    TEST_ASSERT_NOT_NULL(at);
    TEST_ASSERT_EQUAL_INT(2, sscanf(at, "first-move cutoffs %lf %% of %llu", &rate, &cuts));
    at = strstr(text, "branching factor");
    TEST_ASSERT_NOT_NULL(at);
    TEST_ASSERT_EQUAL_INT(2, sscanf(at, "branching factor %lf quiescence share %lf", &branching, &share));
    TEST_ASSERT_TRUE(cuts > 0 && rate > 50 && rate <= 100);
    TEST_ASSERT_TRUE(branching > 1 && branching < 10);
    TEST_ASSERT_TRUE(share > 0 && share < 100);
    for (int id = 0; id < PARAM_COUNT; id++)
        TEST_ASSERT_EQUAL_INT_MESSAGE(ParamTable[id].kind == KIND_SWITCH,
                                      strstr(text, ParamTable[id].name) != NULL, ParamTable[id].name);
    free(text);
}

static void a_stopped_bench_has_no_nodes(void) {
    BenchOptions options = {.depth = BENCH_MAX_DEPTH, .threads = 1, .hash = 1};
    Error error;
    Engine *engine = bench_engine(&options, &error);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    _Atomic bool stop = true;
    TEST_ASSERT_EQUAL_UINT64(0, bench_run(out, engine, &options, &stop).nodes);
    engine_destroy(engine);
    fclose(out);
    free(text);
}

// Settings reach the engine that the bench runs on; wrong ones are refused by name.
static void settings_change_the_search(void) {
    BenchOptions options;
    Error error = {""};
    char *text;
    TEST_ASSERT_TRUE(bench_read("4", &options, &error));
    uint64_t plain = run(&options, &text).nodes;
    free(text);
    TEST_ASSERT_TRUE(bench_read("4 InternalIterativeReduction=true LmrBase=780", &options, &error));
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(plain, run(&options, &text).nodes, "the defaults themselves");
    free(text);
    TEST_ASSERT_TRUE(bench_read("LateMoveReductions=false 4", &options, &error));
    TEST_ASSERT_TRUE(plain != run(&options, &text).nodes);
    free(text);
    TEST_ASSERT_TRUE(bench_read("4 NoSuch=1", &options, &error));
    TEST_ASSERT_NULL(bench_engine(&options, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "NoSuch"), error.text);
    TEST_ASSERT_TRUE(bench_read("4 SyzygyPath=/nowhere", &options, &error));
    TEST_ASSERT_NULL_MESSAGE(bench_engine(&options, &error),
                             "what a GUI may live with is not what was asked for here");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "SyzygyPath: /nowhere"), error.text);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(positions_are_legal_different_and_not_over);
    RUN_TEST(the_words_behind_bench_are_read);
    RUN_TEST(twice_and_beside_a_busy_engine_it_is_the_same_to_the_letter);
    RUN_TEST(each_position_is_searched_as_by_a_fresh_engine);
    RUN_TEST(statistics_add_up);
    RUN_TEST(a_stopped_bench_has_no_nodes);
    RUN_TEST(settings_change_the_search);
    return UNITY_END();
}
