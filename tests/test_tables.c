// SPDX-License-Identifier: GPL-3.0-or-later
// engine/tables, and an engine that plays with them: it mates in the distance that the solver says, converts
// what the Syzygy tables call won within the fifty-move rule, and throws no result away. HONE_LONG=1 plays
// more games.
#include "engine/tables.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/notation.h"
#include "tests/placing.h"
#include "unity.h"

static char SyzygyPath[512];

void setUp(void) {}
void tearDown(void) {}

static bool long_run(void) { return getenv("HONE_LONG") != NULL; }

static void need_syzygy(void) {
    if (!tablebase_supported() || access(SyzygyPath, R_OK)) TEST_IGNORE_MESSAGE("skipped: no shared data");
}

static Position position_of(const char *fen) {
    Position pos;
    Error error = {0};
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, fen, &error), error.text);
    return pos;
}

static void set(Engine *engine, const char *name, const char *value) {
    Error error = {0};
    TEST_ASSERT_TRUE_MESSAGE(engine_set_option(engine, name, value, &error), error.text);
    TEST_ASSERT_EQUAL_STRING("", error.text);
}

static Engine *make_engine(const char *builtin, const char *path) {
    Engine *engine = engine_create(1);
    TEST_ASSERT_NOT_NULL(engine);
    set(engine, "BuiltinTables", builtin);
    set(engine, "SyzygyPath", path);
    return engine;
}

// ---- scores -----------------------------------------------------------------------------------------------

static TableScore probe_at(const Tables *known, const char *fen, int ply, int depth) {
    Position pos = position_of(fen);
    return tables_probe(known, &pos, ply, depth);
}

static void exact(TableScore found, int score) {
    TEST_ASSERT_EQUAL_INT(BOUND_EXACT, found.bound);
    TEST_ASSERT_EQUAL_INT(score, found.score);
}

// Processor time of this process in nanoseconds: what others do meanwhile does not count.
static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Must run first. An engine starts, and searches a full board, without the tables of three men; the first position
// that needs them has them built and gets its answer.
static void three_men_are_built_when_they_are_needed(void) {
    int64_t begin = cpu_ns();
    Engine *engine = engine_create(1);
    SearchLimits limits = {.nodes = 500};
    engine_search(engine, &limits, NULL);
    int64_t start = cpu_ns() - begin;
    Position root = *engine_position(engine);
    KeyStack history = {.count = 0};
    Tables known;
    TableOptions options = tables_default();
    tables_prepare(&known, &options, &root, &history);
    begin = cpu_ns();
    exact(probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 0, 1), SCORE_MATE - 31);
    int64_t first = cpu_ns() - begin;
    begin = cpu_ns();
    exact(probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 7, 1), SCORE_MATE - 38);
    int64_t second = cpu_ns() - begin;
    printf("engine %.1f ms, first answer %.1f ms, second %.4f ms\n", (double)start / 1e6, (double)first / 1e6,
           (double)second / 1e6);
    TEST_ASSERT_TRUE(first > 2 * start && first > 20 * second);
    engine_destroy(engine);
}

static void distances_become_mate_scores(void) {
    Position root = position_of("8/8/8/8/8/2k5/1R6/K7 w - - 0 1"); // the longest KRK: mate in 16
    KeyStack history = {.count = 0};
    Tables known;
    TableOptions options = tables_default();
    tables_prepare(&known, &options, &root, &history);
    TEST_ASSERT_FALSE(known.ranked);
    exact(probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 0, 1), SCORE_MATE - 31);
    exact(probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 7, 0), SCORE_MATE - 38);
    exact(probe_at(&known, "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", 3, 1), SCORE_MATE - 4);
    exact(probe_at(&known, "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", 4, 1), -SCORE_MATE + 4);
    exact(probe_at(&known, "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", 4, 1), SCORE_DRAW);
    exact(probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 69 1", 0, 1),
          SCORE_MATE - 31); // mate on the hundredth ply
    TEST_ASSERT_EQUAL_INT(BOUND_NONE, probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 70 1", 0, 1).bound);
    TEST_ASSERT_EQUAL_INT(BOUND_NONE, probe_at(&known, "4k3/8/8/8/8/8/8/4K2R w K - 0 1", 0, 1).bound);
    TEST_ASSERT_EQUAL_INT(BOUND_NONE, probe_at(&known, "7k/8/8/8/8/2r5/1Q6/K7 w - - 0 1", 0, 1).bound);
    TableScore far = probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", MAX_PLY - 20, 1);
    TEST_ASSERT_TRUE(score_is_win(far.score) && !score_is_mate(far.score)); // too far away for a mate score
    options.builtin = 0;
    tables_prepare(&known, &options, &root, &history);
    TEST_ASSERT_EQUAL_INT(BOUND_NONE, probe_at(&known, "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 0, 1).bound);
}

static void syzygy_results_become_bounds(void) {
    need_syzygy();
    Error error = {0};
    TEST_ASSERT_TRUE_MESSAGE(tablebase_open(SyzygyPath, &error), error.text);
    Position root = position_of("7k/8/8/8/8/8/PPP5/K7 w - - 0 1");
    KeyStack history = {.count = 0};
    Tables known;
    TableOptions options = {.builtin = 0, .syzygy = true, .probe = {.men = 7, .depth = 5, .rule50 = true}};
    tables_prepare(&known, &options, &root, &history);
    TEST_ASSERT_FALSE(known.ranked); // five men
    TableScore win = probe_at(&known, "7k/8/8/8/8/8/PP6/K7 w - - 0 1", 6, 5);
    TEST_ASSERT_EQUAL_INT(BOUND_LOWER, win.bound);
    TEST_ASSERT_EQUAL_INT(SCORE_TB_WIN - 6, win.score);
    TableScore loss = probe_at(&known, "7k/8/8/8/8/8/PP6/K7 b - - 0 1", 6, 5);
    TEST_ASSERT_EQUAL_INT(BOUND_UPPER, loss.bound);
    TEST_ASSERT_EQUAL_INT(-SCORE_TB_WIN + 6, loss.score);
    exact(probe_at(&known, "7k/8/8/8/8/8/NN6/K7 w - - 0 1", 6, 5), SCORE_DRAW);
    TEST_ASSERT_EQUAL_INT(BOUND_NONE,
                          probe_at(&known, "7k/8/8/8/8/8/PP6/K7 w - - 0 1", 6, 4).bound); // depth
    TEST_ASSERT_EQUAL_INT(BOUND_LOWER,
                          probe_at(&known, "7k/8/8/8/8/8/R7/K7 w - - 0 1", 6, 1).bound); // fewer men
    TEST_ASSERT_EQUAL_INT(BOUND_NONE,
                          probe_at(&known, "7k/8/8/8/8/8/PP6/K7 w - - 1 1", 6, 5).bound); // clock
    options.probe.men = 3;
    tables_prepare(&known, &options, &root, &history);
    TEST_ASSERT_EQUAL_INT(BOUND_NONE, probe_at(&known, "7k/8/8/8/8/8/PP6/K7 w - - 0 1", 6, 5).bound);
    TEST_ASSERT_EQUAL_INT(BOUND_LOWER, probe_at(&known, "7k/8/8/8/8/8/R7/K7 w - - 0 1", 6, 5).bound);
}

static int best_rank(const Tables *known) {
    int best = -1000;
    for (int i = 0; i < known->ranks.count; i++) best = int_max(best, known->ranks.rank[i]);
    return best;
}

// After a repetition any win will not do: only moves that make progress share the best rank.
static void repetition_asks_for_progress(void) {
    need_syzygy();
    TableOptions options = {.builtin = 0, .syzygy = true, .probe = {.men = 7, .depth = 1, .rule50 = true}};
    KeyStack history = {.count = 0};
    Tables known;
    Position pos = position_of("8/8/8/3k4/8/3r4/8/KQ6 w - - 0 1"), after;
    static const char *const Shuffle[] = {"a1a2", "d5d4", "a2a1", "d4d5"};
    for (int i = 0; i < 4; i++, pos = after) {
        Move move = notation_from_uci(&pos, Shuffle[i]);
        TEST_ASSERT_NOT_EQUAL(MOVE_NONE, move);
        keystack_push(&history, &pos);
        position_make(&after, &pos, move);
        if (i != 1) continue;
        tables_prepare(&known, &options, &after, &history);
        TEST_ASSERT_TRUE(known.ranked && best_rank(&known) == 1000); // nothing has come twice
    }
    tables_prepare(&known, &options, &pos, &history);
    TEST_ASSERT_TRUE(known.ranked && best_rank(&known) < 1000 && best_rank(&known) > 900);
    keystack_clear(&history);
    tables_prepare(&known, &options, &pos, &history);
    TEST_ASSERT_TRUE(known.ranked && best_rank(&known) == 1000);
}

static void options_are_checked(void) {
    Engine *engine = engine_create(1);
    Error error;
    TEST_ASSERT_FALSE(engine_set_option(engine, "BuiltinTables", "2", &error));
    TEST_ASSERT_FALSE(engine_set_option(engine, "BuiltinTables", "", &error));
    TEST_ASSERT_FALSE(engine_set_option(engine, "SyzygyProbeLimit", "8", &error));
    TEST_ASSERT_TRUE(
        engine_set_option(engine, "SyzygyPath", "/no/such/place", &error)); // a remark, not a refusal
    TEST_ASSERT_NOT_NULL(strstr(error.text, "/no/such/place"));
    set(engine, "SyzygyPath", "<empty>");
    set(engine, "SyzygyProbeLimit", "5");
    set(engine, "SyzygyProbeDepth", "3");
    set(engine, "Syzygy50MoveRule", "false");
    engine_destroy(engine);
}

// ---- playing ----------------------------------------------------------------------------------------------

static void advance(Position *pos, KeyStack *history, Move move) {
    Position after;
    TEST_ASSERT_TRUE(movegen_is_legal(pos, move));
    keystack_push(history, pos);
    position_make(&after, pos, move);
    *pos = after;
}

static SearchResult think(Engine *engine, const Position *pos, const KeyStack *history, uint64_t nodes) {
    SearchLimits limits = {.nodes = nodes};
    engine_set_position(engine, pos, history);
    return engine_search(engine, &limits, NULL);
}

// A random position of a material that is won for the side to move.
static Position won_position(const EndgameSet *set, const char *material, uint64_t number) {
    for (uint64_t i = 0;; i++) {
        Position pos;
        placing_random(&pos, material, 20 + number, i);
        if (endgame_probe(set, &pos).wdl == 1) return pos;
    }
}

// The engine mates against the longest defence in no more moves than the distance says, and announces it.
static void mates_in_the_distance(const char *material, const char *builtin, int games) {
    const EndgameSet *set = endgame_open();
    Engine *engine = make_engine(builtin, "");
    EndgameMaterial men;
    TEST_ASSERT_TRUE(endgame_parse(material, &men, NULL) && endgame_extend(&men, NULL));
    int longest = 0;
    for (int game = 0; game < games; game++) {
        Position pos = won_position(set, material, (uint64_t)game);
        KeyStack history = {.count = 0};
        int distance = endgame_probe(set, &pos).dtm, plies = 0;
        engine_new_game(engine);
        for (; movegen_any(&pos); plies++) {
            char fen[FEN_SIZE];
            position_to_fen(&pos, fen);
            TEST_ASSERT_LESS_THAN_INT_MESSAGE(distance, plies, fen);
            if (plies % 2) {
                advance(&pos, &history, endgame_best(set, &pos));
                continue;
            }
            SearchResult result = think(engine, &pos, &history, 2000);
            TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_MATE - (distance - plies), result.score, fen);
            TEST_ASSERT_EQUAL_INT_MESSAGE(distance - plies, result.pv.count, fen);
            TEST_ASSERT_GREATER_THAN_UINT64(0, result.tbhits);
            advance(&pos, &history, result.best);
        }
        TEST_ASSERT_TRUE(pos.checkers != 0);
        TEST_ASSERT_EQUAL_INT(distance, plies);
        longest = int_max(longest, distance);
    }
    printf("%s: %d games, each mated in the distance; the longest in %d moves\n", material, games,
           (longest + 1) / 2);
    engine_destroy(engine);
}

static void three_men_are_mated_in_the_distance(void) {
    mates_in_the_distance("KPK", "3", long_run() ? 100 : 10);
    mates_in_the_distance("KRK", "3", long_run() ? 100 : 10);
}

static void four_men_are_mated_in_the_distance(void) {
    if (!long_run()) TEST_IGNORE_MESSAGE("skipped: HONE_LONG=1 builds the tables of four men");
    mates_in_the_distance("KBNK", "4", 100);
    mates_in_the_distance("KQKR", "4", 100);
}

// The search alone, without any table, finds the mates that the solver knows: `go mate` as it should be.
static void go_mate_finds_what_the_solver_knows(void) {
    const EndgameSet *set = endgame_open();
    Engine *engine = make_engine("0", "");
    int wanted = long_run() ? 500 : 60, found = 0;
    for (uint64_t i = 0; found < wanted; i++) {
        Position pos;
        placing_random(&pos, ThreeMen[i % 2], 40, i);
        EndgameResult solved = endgame_probe(set, &pos);
        if (solved.wdl != 1 || solved.dtm > 7) continue;
        char fen[FEN_SIZE];
        position_to_fen(&pos, fen);
        SearchLimits limits = {.mate = (solved.dtm + 1) / 2, .nodes = 5000000};
        engine_new_game(engine);
        engine_set_position(engine, &pos, NULL);
        SearchResult result = engine_search(engine, &limits, NULL);
        TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_MATE - solved.dtm, result.score, fen);
        TEST_ASSERT_EQUAL_UINT64(0, result.tbhits);
        found++;
    }
    engine_destroy(engine);
}

// The reply that puts the next zeroing move or mate off for longest; any if all are lost at once.
static Move longest_defence(const Position *pos) {
    MoveList list;
    movegen_list(pos, &list);
    Move best = list.moves[0];
    int longest = -1000;
    for (int i = 0; i < list.count; i++) {
        Position after;
        int dtz;
        position_make(&after, pos, list.moves[i]);
        bool zeroes = after.rule50 == 0;
        after.rule50 = 0;
        if (!tablebase_dtz(&after, &dtz)) continue;
        int value = dtz <= 0 ? 1000 - dtz : zeroes ? 1 : dtz; // not lost: better than any defence
        if (value > longest) longest = value, best = list.moves[i];
    }
    return best;
}

// What a position is worth to the side to move, its half-move clock left out.
static int result_of(const Position *pos) {
    Position fresh = *pos;
    fresh.rule50 = 0;
    return tablebase_wdl(&fresh);
}

static Position position_with(const char *material, int wdl, uint64_t number) {
    for (uint64_t i = 0;; i++) {
        Position pos;
        placing_random(&pos, material, 1000 + number, i);
        if (tablebase_wdl(&pos) == wdl && movegen_any(&pos)) return pos;
        if (i > 3000) return position_with("KRKP", wdl, number + 1); // KNNK and the like are hardly ever won
    }
}

static void won_positions_are_converted(void) {
    need_syzygy();
    Engine *engine = make_engine("0", SyzygyPath);
    int games = long_run() ? 200 : 20, longest = 0;
    for (int game = 0; game < games; game++) {
        Position pos = position_with(FourMen[game % FOUR_MEN], TABLEBASE_WIN, (uint64_t)game);
        KeyStack history = {.count = 0};
        int us = pos.stm, plies = 0;
        engine_new_game(engine);
        for (Ending end; (end = position_ending(&pos, &history)) != ENDING_CHECKMATE; plies++) {
            char fen[FEN_SIZE];
            position_to_fen(&pos, fen);
            TEST_ASSERT_EQUAL_INT_MESSAGE(ENDING_NONE, end, fen);
            TEST_ASSERT_EQUAL_INT_MESSAGE(pos.stm == us ? TABLEBASE_WIN : TABLEBASE_LOSS, result_of(&pos),
                                          fen);
            bool ours = pos.stm == us;
            advance(&pos, &history, ours ? think(engine, &pos, &history, 1500).best : longest_defence(&pos));
        }
        TEST_ASSERT_NOT_EQUAL(us, pos.stm);
        longest = int_max(longest, plies);
    }
    printf("Syzygy: %d won positions of four men converted, the longest in %d plies\n", games, longest);
    engine_destroy(engine);
}

static void drawn_positions_are_held(void) {
    need_syzygy();
    Engine *engine = make_engine("0", SyzygyPath);
    int games = long_run() ? 100 : 10;
    for (int game = 0; game < games; game++) {
        Position pos = position_with(FourMen[(game * 7 + 16) % FOUR_MEN], TABLEBASE_DRAW, (uint64_t)game);
        KeyStack history = {.count = 0};
        int us = pos.stm;
        engine_new_game(engine);
        for (int ply = 0; ply < 60 && position_ending(&pos, &history) == ENDING_NONE; ply++) {
            char fen[FEN_SIZE];
            position_to_fen(&pos, fen);
            int result = result_of(&pos);
            TEST_ASSERT_TRUE_MESSAGE(pos.stm == us ? result >= TABLEBASE_DRAW : result <= TABLEBASE_DRAW,
                                     fen);
            advance(&pos, &history,
                    pos.stm == us ? think(engine, &pos, &history, 500).best : longest_defence(&pos));
        }
    }
    engine_destroy(engine);
}

// ---- many engines -----------------------------------------------------------------------------------------

typedef struct Job {
    Engine *engine;
    uint64_t digest;
} Job;

static void *search_many(void *argument) {
    Job *job = argument;
    job->digest = DIGEST_START;
    for (uint64_t i = 0; i < 40; i++) {
        Position pos;
        placing_random(&pos, i % 2 ? "KRPKR" : "KQKRP", 30,
                       i); // five men: the tables are asked below the root
        engine_new_game(job->engine);
        SearchResult result = think(job->engine, &pos, NULL, 3000);
        uint64_t seen[] = {result.best, (uint64_t)result.score, result.nodes, result.tbhits};
        job->digest = digest_of(job->digest, seen, sizeof seen);
    }
    return NULL;
}

static void engines_on_four_threads_see_the_same(void) {
    need_syzygy();
    Job jobs[5];
    pthread_t threads[4];
    for (int i = 0; i < 5; i++) jobs[i].engine = make_engine("3", SyzygyPath);
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, search_many, &jobs[i]));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    search_many(&jobs[4]);
    for (int i = 0; i < 4; i++) TEST_ASSERT_EQUAL_HEX64(jobs[4].digest, jobs[i].digest);
    TEST_ASSERT_GREATER_THAN_UINT64(
        0, think(jobs[4].engine, engine_position(jobs[4].engine), NULL, 3000).tbhits);
    for (int i = 0; i < 5; i++) engine_destroy(jobs[i].engine);
}

int main(void) {
    const char *shared = getenv("HONE_SHARED");
    snprintf(SyzygyPath, sizeof SyzygyPath, "%s/data/syzygy", shared ? shared : "../shared");
    bitboard_init();
    UNITY_BEGIN();
    RUN_TEST(three_men_are_built_when_they_are_needed);
    RUN_TEST(distances_become_mate_scores);
    RUN_TEST(syzygy_results_become_bounds);
    RUN_TEST(repetition_asks_for_progress);
    RUN_TEST(options_are_checked);
    RUN_TEST(three_men_are_mated_in_the_distance);
    RUN_TEST(four_men_are_mated_in_the_distance);
    RUN_TEST(go_mate_finds_what_the_solver_knows);
    RUN_TEST(won_positions_are_converted);
    RUN_TEST(drawn_positions_are_held);
    RUN_TEST(engines_on_four_threads_see_the_same);
    return UNITY_END();
}
