// SPDX-License-Identifier: GPL-3.0-or-later
// The search against things that are known: a plain negamax written here, published positions, its own
// symmetry, exact node limits, and engines side by side in one process.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/notation.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static bool long_run(void) { return getenv("HONE_LONG") != NULL; }

// --- the oracle: negamax with quiescence, nothing else

static int oracle_quiescence(const Position *pos, int alpha, int beta, int ply) {
    MoveList list;
    int best = -SCORE_INFINITE;
    if (!pos->checkers) {
        best = net_builtin() ? nnue_value(net_builtin(), pos) : eval_position(pos, NULL);
        if (best > alpha) alpha = best;
        if (best >= beta) return best;
    }
    movegen_list(pos, &list);
    if (list.count == 0 && pos->checkers) return -SCORE_MATE + ply;
    for (int i = 0; i < list.count; i++) {
        if (!pos->checkers && !position_is_noisy(pos, list.moves[i])) continue;
        Position after;
        position_make(&after, pos, list.moves[i]);
        int score = -oracle_quiescence(&after, -beta, -alpha, ply + 1);
        if (score > best) best = score;
        if (best > alpha) alpha = best;
        if (alpha >= beta) break;
    }
    return best;
}

static int oracle(const Position *pos, int depth, int alpha, int beta, int ply) {
    if (depth == 0) return oracle_quiescence(pos, alpha, beta, ply);
    MoveList list;
    movegen_list(pos, &list);
    if (list.count == 0) return pos->checkers ? -SCORE_MATE + ply : 0;
    int best = -SCORE_INFINITE;
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_make(&after, pos, list.moves[i]);
        int score = -oracle(&after, depth - 1, -beta, -alpha, ply + 1);
        if (score > best) best = score;
        if (best > alpha) alpha = best;
        if (alpha >= beta) break;
    }
    return best;
}

// --- positions and engines

// A position of at most `men` men after a random game that likes captures, with the half-move clock at zero
// and at least one legal move. Few men keep a search without any ordering or pruning affordable.
static Position random_position(uint64_t index, int men) {
    for (uint64_t try = 0;; try++) {
        Position pos, after;
        Move moves[MAX_MOVES];
        position_from_fen(&pos, START_FEN, NULL);
        for (uint64_t ply = 0; ply < 300; ply++) {
            uint64_t random = random_at(11 + try, index, ply);
            int count = random & 1 ? movegen(&pos, moves, GEN_NOISY) : 0;
            if (count == 0) count = movegen(&pos, moves, GEN_ALL);
            if (count == 0) break;
            if (bb_count(position_occupied(&pos)) <= men && random % 5 == 0) {
                pos.rule50 = 0;
                return pos;
            }
            position_make(&after, &pos, moves[random_below(random, (uint64_t)count)]);
            pos = after;
        }
    }
}

static Params everything_off(void) {
    Params params = params_default();
    for (int id = 0; id < PARAM_COUNT; id++)
        if (ParamTable[id].kind == KIND_SWITCH) params_put(&params, id, 0);
    params.Quiescence = 1;
    params.KillerSlots = 0;
    return params;
}

static SearchResult search_depth(Engine *engine, const Params *params, const Position *pos, int depth) {
    engine_set_params(engine, params);
    engine_new_game(engine);
    engine_set_position(engine, pos, NULL);
    SearchLimits limits = {.depth = depth};
    return engine_search(engine, &limits, NULL);
}

// Everything off equals the oracle; then what must not change the score is switched on one by one.
static void test_equals_plain_negamax(void) {
    Engine *engine = engine_create(4);
    TEST_ASSERT_TRUE(engine_set_option(engine, "BuiltinTables", "0", NULL)); // the oracle has none
    int positions = long_run() ? 1000 : 60, deepest = long_run() ? 4 : 3;
    for (int i = 0; i < positions; i++) {
        Position pos = random_position((uint64_t)i, 9 + i % 8);
        char fen[FEN_SIZE];
        position_to_fen(&pos, fen);
        if (i % 50 == 49) fprintf(stderr, "%d of %d positions\n", i + 1, positions);
        for (int depth = 1; depth <= deepest; depth++) {
            Params params = everything_off();
            int expected = oracle(&pos, depth, -SCORE_INFINITE, SCORE_INFINITE, 0);
            TEST_ASSERT_EQUAL_INT_MESSAGE(expected, search_depth(engine, &params, &pos, depth).score, fen);
            params.UsePVS = 1;
            TEST_ASSERT_EQUAL_INT_MESSAGE(expected, search_depth(engine, &params, &pos, depth).score, fen);
            params.MoveOrdering = params.IterativeDeepening = params.MainHistory = 1;
            TEST_ASSERT_EQUAL_INT_MESSAGE(expected, search_depth(engine, &params, &pos, depth).score, fen);
            params.Aspiration = 1;
            params.AspirationMinDepth = 1;
            TEST_ASSERT_EQUAL_INT_MESSAGE(expected, search_depth(engine, &params, &pos, depth).score, fen);
            params.UseTT = params.TtEqualDepth = 1;
            TEST_ASSERT_EQUAL_INT_MESSAGE(expected, search_depth(engine, &params, &pos, depth).score, fen);
            params.MateDistance = 1;
            TEST_ASSERT_EQUAL_INT_MESSAGE(expected, search_depth(engine, &params, &pos, depth).score, fen);
        }
    }
    engine_destroy(engine);
}

// Without pruning and reductions a position and its colour flip have the same score at depth 5.
static void test_colour_flip(void) {
    Engine *engine = engine_create(4);
    Params params = everything_off();
    params.UsePVS = params.MoveOrdering = params.IterativeDeepening = params.MainHistory = params.UseTT =
        params.TtEqualDepth = 1;
    for (int i = 0; i < (long_run() ? 100 : 6); i++) {
        Position pos = random_position((uint64_t)i + 5000, 12), flipped = position_flip(&pos);
        SearchResult a = search_depth(engine, &params, &pos, long_run() ? 5 : 4);
        SearchResult b = search_depth(engine, &params, &flipped, long_run() ? 5 : 4);
        TEST_ASSERT_EQUAL_INT(a.score, b.score);
    }
    engine_destroy(engine);
}

// --- known positions

static SearchResult solve(Engine *engine, const char *fen, SearchLimits limits) {
    Position pos;
    Error error;
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, fen, &error), fen);
    engine_new_game(engine);
    engine_set_position(engine, &pos, NULL);
    return engine_search(engine, &limits, NULL);
}

static void expect_move(Engine *engine, const char *fen, const char *expected, uint64_t nodes) {
    SearchResult result = solve(engine, fen, (SearchLimits){.nodes = nodes});
    Position pos;
    char text[UCI_SIZE], message[160];
    position_from_fen(&pos, fen, NULL);
    notation_to_uci(&pos, result.best, text);
    snprintf(message, sizeof message, "%s: got %s, expected %s", fen, text, expected);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(expected, text), message);
}

static void test_zugzwang_five(void) {
    Engine *engine = engine_create(64);
    uint64_t nodes = long_run() ? 40000000 : 3000000;
    expect_move(engine, "8/8/p1p5/1p5p/1P5p/8/PPP2K1p/4R1rk w - - 0 1", "e1f1", nodes);
    expect_move(engine, "1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1", "g5h6", nodes);
    expect_move(engine, "7k/5K2/5P1p/3p4/6P1/3p4/8/8 w - - 0 1", "g4g5 f7e7", nodes);
    if (long_run())
        expect_move(engine, "8/6B1/p5p1/Pp4kp/1P5r/5P1Q/4q1PK/8 w - - 0 1", "h3h4", nodes); // wants depth 34
    expect_move(engine, "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1", "f4d5", nodes);
    engine_destroy(engine);
}

static void test_fine_70(void) {
    Engine *engine = engine_create(16);
    expect_move(engine, "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1", "a1b1", 3000000);
    engine_destroy(engine);
}

static void test_mates_and_stalemates(void) {
    Engine *engine = engine_create(16);
    TEST_ASSERT_EQUAL_INT(
        SCORE_MATE - 1,
        solve(engine, "5K2/8/2qk4/2nPp3/3r4/6B1/B7/3R4 w - e6 0 1", (SearchLimits){.depth = 4}).score);
    TEST_ASSERT_EQUAL_INT(
        -SCORE_MATE + 2,
        solve(engine, "2brrb2/8/p7/Q7/1p1kpPp1/1P1pN1K1/3P4/8 b - - 0 1", (SearchLimits){.depth = 5}).score);
    Position pos;
    position_from_fen(&pos, "8/5R2/2K1P3/4k3/8/b1PPpp1B/5p2/8 w - - 0 1", NULL);
    SearchLimits only = {.depth = 8};
    only.searchmoves.moves[only.searchmoves.count++] = notation_from_uci(&pos, "c6d7");
    TEST_ASSERT_EQUAL_INT(SCORE_MATE - 3,
                          solve(engine, "8/5R2/2K1P3/4k3/8/b1PPpp1B/5p2/8 w - - 0 1", only).score);
    // Mated and stalemated: no move, and the score says which.
    SearchResult mated = solve(engine, "R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", (SearchLimits){.depth = 3});
    TEST_ASSERT_EQUAL_INT(MOVE_NONE, mated.best);
    TEST_ASSERT_EQUAL_INT(-SCORE_MATE, mated.score);
    SearchResult stale = solve(engine, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", (SearchLimits){.depth = 3});
    TEST_ASSERT_EQUAL_INT(MOVE_NONE, stale.best);
    TEST_ASSERT_EQUAL_INT(SCORE_DRAW, stale.score);
    // The mate on the hundredth ply wins; one ply later it would be a draw.
    TEST_ASSERT_EQUAL_INT(SCORE_MATE - 1,
                          solve(engine, "7k/8/6K1/8/8/8/8/R7 w - - 99 80", (SearchLimits){.depth = 4}).score);
    TEST_ASSERT_INT_WITHIN(
        2, 0, solve(engine, "8/7k/8/5K2/8/8/8/R7 w - - 98 80", (SearchLimits){.depth = 6}).score);
    // go mate 2 stops at the proof.
    SearchResult mate =
        solve(engine, "8/5R2/2K1P3/4k3/8/b1PPpp1B/5p2/8 w - - 0 1", (SearchLimits){.mate = 2});
    TEST_ASSERT_GREATER_OR_EQUAL_INT(SCORE_MATE - 3, mate.score);
    engine_destroy(engine);
}

// --- limits, determinism, engines side by side

static void test_node_limit_is_exact(void) {
    Engine *engine = engine_create(1);
    for (uint64_t nodes = 1; nodes < 12000; nodes = nodes * 3 / 2 + 1) {
        SearchResult result = solve(engine, START_FEN, (SearchLimits){.nodes = nodes});
        TEST_ASSERT_EQUAL_UINT64(nodes, result.nodes);
        TEST_ASSERT_TRUE(result.best != MOVE_NONE);
    }
    for (int i = 0; i < (long_run() ? 2000 : 200); i++) {
        Position pos = random_position((uint64_t)i + 7000, 28);
        engine_set_position(engine, &pos, NULL);
        SearchLimits limits = {.nodes = 10000 + (uint64_t)i};
        SearchResult result = engine_search(engine, &limits, NULL);
        if (result.depth < MAX_PLY - 2)
            TEST_ASSERT_EQUAL_UINT64(limits.nodes, result.nodes); // a tiny tree may end before
    }
    engine_destroy(engine);
}

typedef struct Job {
    int lmr_base;
    uint64_t nodes;
} Job;

static void *run_job(void *argument) {
    Job *job = argument;
    Engine *engine = engine_create(2);
    Params params = params_default();
    params.LmrBase = job->lmr_base;
    job->nodes = 0;
    for (int i = 0; i < 6; i++) {
        Position pos = random_position((uint64_t)i + 900, 24);
        job->nodes += search_depth(engine, &params, &pos, 8).nodes;
    }
    engine_destroy(engine);
    return NULL;
}

// Two engines with different parameters at the same time: each the same node count as alone.
static void test_engines_do_not_disturb_each_other(void) {
    Job alone[2] = {{.lmr_base = 500}, {.lmr_base = 1200}},
        together[2] = {{.lmr_base = 500}, {.lmr_base = 1200}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) run_job(&alone[i]);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run_job, &together[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    TEST_ASSERT_EQUAL_UINT64(alone[0].nodes, together[0].nodes);
    TEST_ASSERT_EQUAL_UINT64(alone[1].nodes, together[1].nodes);
    TEST_ASSERT_TRUE(alone[0].nodes != alone[1].nodes);
}

// A stopped search still gives a legal move, and its line is legal throughout.
static void check_line(void *context, const SearchInfo *info) {
    int *lines = context;
    Position pos = *info->root, after;
    for (int i = 0; i < info->pv->count; i++) {
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, info->pv->moves[i]));
        position_make(&after, &pos, info->pv->moves[i]);
        pos = after;
    }
    ++*lines;
}

static void test_lines_are_legal(void) {
    Engine *engine = engine_create(2);
    int lines = 0;
    Observer observer = {.info = check_line, .context = &lines};
    for (int i = 0; i < 10; i++) {
        Position pos = random_position((uint64_t)i + 300, 24);
        engine_new_game(engine);
        engine_set_position(engine, &pos, NULL);
        SearchLimits limits = {.nodes = 40000};
        engine_search(engine, &limits, &observer);
    }
    TEST_ASSERT_GREATER_THAN_INT(50, lines);
    engine_destroy(engine);
}

// With pruning on, the counters show that each technique which is on has acted on a handful of positions.
static void test_counters(void) {
    Engine *engine = engine_create(8);
    uint64_t count[PARAM_COUNT] = {0};
    const char *fens[] = {START_FEN, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
                          "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
                          "r1bqk2r/pppp1Bpp/2n2n2/2b1p3/4P3/3P1N2/PPP2PPP/RNBQ1RK1 b kq - 0 1",
                          "8/5R2/2K1P3/4k3/8/b1PPpp1B/5p2/8 w - - 0 1"};
    for (size_t i = 0; i < sizeof fens / sizeof *fens; i++) {
        solve(engine, fens[i], (SearchLimits){.nodes = 400000});
        SearchRun run = engine_counters(engine);
        for (int id = 0; id < PARAM_COUNT; id++) count[id] += run.count[id];
    }
    const int acting[] = {ID_UseTT,
                          ID_UsePVS,
                          ID_Aspiration,
                          ID_Quiescence,
                          ID_ReverseFutility,
                          ID_Razoring,
                          ID_NullMove,
                          ID_ProbCut,
                          ID_LateMovePruning,
                          ID_FutilityPruning,
                          ID_HistoryPruning,
                          ID_SeePruning,
                          ID_SingularExtension,
                          ID_MultiCut,
                          ID_LateMoveReductions,
                          ID_DeltaPruning,
                          ID_CorrectionHistory,
                          ID_InternalIterativeReduction,
                          ID_UpcomingRepetition,
                          ID_MateDistance};
    for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
        TEST_ASSERT_GREATER_THAN_UINT64_MESSAGE(0, count[acting[i]], ParamTable[acting[i]].name);
    engine_destroy(engine);
}

int main(void) {
    bitboard_init();
    UNITY_BEGIN();
    RUN_TEST(test_equals_plain_negamax);
    RUN_TEST(test_colour_flip);
    RUN_TEST(test_zugzwang_five);
    RUN_TEST(test_fine_70);
    RUN_TEST(test_mates_and_stalemates);
    RUN_TEST(test_node_limit_is_exact);
    RUN_TEST(test_engines_do_not_disturb_each_other);
    RUN_TEST(test_lines_are_legal);
    RUN_TEST(test_counters);
    return UNITY_END();
}
