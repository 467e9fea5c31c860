// SPDX-License-Identifier: GPL-3.0-or-later
// The Monte-Carlo search against things that are known: the rules in whole games, mates that a plain search
// written here confirms, exact node limits, its own book-keeping, and each of its four ingredients switched
// off.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bench.h"
#include "engine/engine.h"
#include "engine/mcts.h"
#include "engine/mctstree.h"
#include "engine/notation.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static const int Ingredients[] = {ID_MctsPrior, ID_MctsShared, ID_MctsAmaf, ID_MctsQuiescence};
enum { INGREDIENTS = sizeof Ingredients / sizeof *Ingredients };

static void set(Engine *engine, const char *name, const char *value) {
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(engine_set_option(engine, name, value, &error), error.text);
}

static Engine *mcts_engine(int hash) {
    Engine *engine = engine_create(hash);
    TEST_ASSERT_NOT_NULL(engine);
    set(engine, "SearchMode", "mcts");
    return engine;
}

static Position position_of(const char *fen) {
    Position pos;
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, fen, &error), error.text);
    return pos;
}

static SearchResult solve(Engine *engine, const char *fen, SearchLimits limits) {
    Position pos = position_of(fen);
    engine_new_game(engine);
    engine_set_position(engine, &pos, NULL);
    return engine_search(engine, &limits, NULL);
}

static void expect_legal_line(const Position *root, const PV *pv) {
    Position pos = *root, after;
    TEST_ASSERT_GREATER_THAN_INT(0, pv->count);
    for (int i = 0; i < pv->count; i++, pos = after) {
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, pv->moves[i]));
        position_make(&after, &pos, pv->moves[i]);
    }
}

// --- games

// Plays a game against itself, checks every move and line, and returns its length.
static int play_game(Engine *engine, uint64_t number, uint64_t nodes) {
    Position pos = position_of(START_FEN), after;
    KeyStack history;
    keystack_clear(&history);
    engine_new_game(engine);
    int ply = 0;
    for (; ply < 160 && position_ending(&pos, &history) == ENDING_NONE; ply++) {
        MoveList list;
        movegen_list(&pos, &list);
        Move move = list.moves[random_below(random_at(21, number, (uint64_t)ply), (uint64_t)list.count)];
        if (ply >= 6) {
            engine_set_position(engine, &pos, &history);
            SearchResult result = engine_search(engine, &(SearchLimits){.nodes = nodes}, NULL);
            bool legal = false;
            for (int i = 0; i < list.count; i++) legal |= list.moves[i] == result.best;
            TEST_ASSERT_TRUE(legal);
            expect_legal_line(&pos, &result.pv);
            move = result.best;
        }
        keystack_push(&history, &pos);
        position_make(&after, &pos, move);
        pos = after;
    }
    return ply;
}

static void games_are_legal(void) {
    Engine *engine = mcts_engine(1);
    int plies = 0;
    for (uint64_t game = 0; game < 10; game++) plies += play_game(engine, game, 200);
    TEST_ASSERT_GREATER_THAN_INT(200, plies);
    engine_destroy(engine);
}

// --- mates

// By random play, and a problem; all confirmed by the solver below.
static const char *const MatesInOne[] = {
    "1n1Q2nr/5k1p/5p2/3p1P2/N2P2p1/B7/8/R2K1BNR w - - 0 26",
    "1Q1QQ2r/7k/8/8/8/8/8/3nK1R1 w - - 0 54",
    "rnbqkbnr/6pp/2P5/3PP1pP/3P4/8/4K3/RNqQ1BqR b kq - 0 22",
    "rQ1q2nr/5k1p/5P1P/2b1p3/b2p4/3B4/4K1p1/RNq3NR b - - 0 30",
    "Q2q1QQ1/3k3r/7P/8/8/8/5K2/1NB4R w - - 0 40",
    "3Q1QBR/5P2/8/8/2k5/8/4N3/QN2K3 w - - 0 45",
    "2bqkbQr/8/3P2PP/3P4/Rn6/1p6/1B6/1N1Q1KR1 w k - 0 31",
    "Q2qkbnr/8/2b5/8/8/3B2p1/8/Rq3nK1 b k - 0 34",
    "5b1r/1b6/4k3/8/8/8/K2n4/2q3q1 b - - 0 59",
    "2bqQbQQ/5Q2/3k4/8/R7/8/n7/1N2KBNq w - - 0 37",
    "r1bqkbQr/8/B6p/7P/1p6/1P2p3/1n6/RqB1K1NR b KQkq - 0 32",
    "6QB/8/8/8/8/k7/3N4/2K2B2 w - - 0 62",
    "4k1nr/2PqP2P/8/8/8/5Qp1/4K3/r1q2BR1 b k - 0 35",
    "2bqkbBR/8/2PP1PP1/8/4p3/4P3/n7/rN2K1N1 w - - 0 30",
    "8/4k3/7Q/8/R7/1Q6/8/1BKR4 w - - 0 54",
    "rnbqkbnr/6Pp/8/P2P2PP/3P1p2/8/1p3K2/RNqq1BNR b kq - 0 24",
    "1n1qkbnr/7p/1PP5/3PPp2/3P1P2/B6N/6p1/R2QKB1R w KQk - 0 25",
    "3qk3/8/8/8/8/8/4K3/2Nr1B1q b - - 0 49",
    "2q1k3/7r/8/8/8/8/3K4/b4q1q b - - 0 54",
    "4Q3/8/8/5k2/8/K7/2r5/bq6 b - - 0 71",
};

static const char *const MatesInTwo[] = {
    "rnbq1bnr/5BB1/P1kPPP2/7P/8/8/8/RNqQK1Nq b Q - 0 27",
    "8/5R2/2K1P3/4k3/8/b1PPpp1B/5p2/8 w - - 0 1",
    "1nQqkbnr/4pppp/8/3p4/1P1P4/N3PPPP/8/R1B1KBNR w KQk - 0 15",
    "3qkb2/8/2n5/2P5/8/4p3/Q2p4/2qbqBK1 b - - 0 41",
    "r1bqkbnR/1PP5/3P1PP1/3P2P1/8/8/3K4/1RnQ1B2 w q - 0 36",
    "3qkb1r/6R1/R4n2/1bP1PPP1/8/8/2N5/2BQK1N1 w k - 0 24",
    "8/8/8/8/4k3/3R3R/8/1N1QK3 w - - 0 49",
    "8/7p/7P/8/8/k7/3K4/1Q6 w - - 0 53",
    "4k2B/7P/8/5Q2/5P2/8/8/Rb2KB1R w KQ - 0 39",
    "3k4/8/7p/7P/8/1K6/Nb1q4/1r5q b - - 0 54",
    "1nQqkbnr/2P1P2p/7P/6p1/5pb1/8/3N1K2/1qrQ1BNR w k - 0 32",
    "8/5k2/8/8/8/8/5K2/q1q5 b - - 0 72",
    "6nQ/4k3/8/8/8/3Q4/4K3/1R6 w - - 0 51",
    "2bqkbnr/6P1/n4PPp/3p3P/N2P4/P7/6K1/R1BqqBNR b k - 0 26",
    "3Q4/8/8/8/8/8/8/Q1K1k3 w - - 0 65",
    "r2q1Q2/3k4/8/1R6/3B2p1/8/8/3QK1Nr w - - 0 37",
    "8/8/8/8/8/k7/3K4/1Q6 w - - 0 58",
    "3qk1r1/8/8/8/8/7B/5K1p/Bq1b3R b - - 0 48",
    "1Q6/3k4/8/8/8/8/8/Qb2K3 w - - 0 47",
    "3qkbnr/3n4/4PPp1/4P2p/6p1/N1B5/8/R2QKbNR w KQk - 0 27",
    "8/7p/7R/8/8/8/k7/1N1QK3 w - - 0 51",
    "1n1qkbnr/5ppp/8/1PP2P1P/2P1p1b1/r7/4p3/RNBQKBNR b KQk - 0 19",
    "2Qq1bQr/4kP2/8/8/R7/8/n1NpK3/1qqQ1BRq b - - 0 42",
    "r3kb1R/2PqP3/8/6p1/6b1/8/3N1K2/2q5 b q - 0 34",
    "8/8/8/8/8/8/1k2K3/R5Q1 w - - 0 58",
    "3R4/2k5/8/8/1Q6/8/1N6/R3K3 w - - 0 56",
    "1RQqkb1r/1P4P1/4b3/8/3pnB2/3P1P2/8/1N1QKR1q w k - 0 34",
    "6Q1/4k3/7Q/7P/8/8/3qp3/4K3 w - - 0 52",
    "8/8/8/3Q4/k2P4/8/8/K1Q5 w - - 0 52",
    "1nQqkbnr/7p/5P1P/5B2/2N5/6p1/8/2qbK1NR w Kk - 0 28",
};

// Whether a move forces mate within so many own moves, itself counted; by trying everything.
static bool forces_mate(const Position *pos, Move move, int moves) {
    Position after;
    MoveList replies, list;
    position_make(&after, pos, move);
    movegen_list(&after, &replies);
    if (replies.count == 0) return after.checkers != 0;
    for (int i = 0; i < replies.count; i++) {
        Position next;
        bool mated = false;
        position_make(&next, &after, replies.moves[i]);
        movegen_list(&next, &list);
        for (int j = 0; j < list.count && moves > 1 && !mated; j++)
            mated = forces_mate(&next, list.moves[j], moves - 1);
        if (!mated) return false;
    }
    return true;
}

static void expect_mate(Engine *engine, const char *fen, int moves) {
    Position pos = position_of(fen);
    SearchResult result = solve(engine, fen, (SearchLimits){.nodes = 400000});
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_MATE - 2 * moves + 1, result.score, fen);
    TEST_ASSERT_TRUE_MESSAGE(forces_mate(&pos, result.best, moves), fen);
    expect_legal_line(&pos, &result.pv);
}

static void mates_in_one_and_two(void) {
    Engine *engine = mcts_engine(16);
    const int ones = sizeof MatesInOne / sizeof *MatesInOne, twos = sizeof MatesInTwo / sizeof *MatesInTwo;
    TEST_ASSERT_EQUAL_INT(50, ones + twos);
    set(engine, "BuiltinTables", "0"); // it must find them by itself
    for (int i = 0; i < ones; i++) expect_mate(engine, MatesInOne[i], 1);
    for (int i = 0; i < twos; i++) expect_mate(engine, MatesInTwo[i], 2);
    engine_destroy(engine);
}

// The same positions by alpha-beta: they are what the lists say.
static void alpha_beta_agrees_on_the_mates(void) {
    Engine *engine = engine_create(4);
    for (size_t i = 0; i < sizeof MatesInTwo / sizeof *MatesInTwo; i++)
        TEST_ASSERT_EQUAL_INT_MESSAGE(
            SCORE_MATE - 3, solve(engine, MatesInTwo[i], (SearchLimits){.mate = 2}).score, MatesInTwo[i]);
    engine_destroy(engine);
}

static void ends_of_games(void) {
    Engine *engine = mcts_engine(1);
    SearchResult mated = solve(engine, "R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", (SearchLimits){.nodes = 1000});
    TEST_ASSERT_EQUAL_INT(MOVE_NONE, mated.best);
    TEST_ASSERT_EQUAL_INT(-SCORE_MATE, mated.score);
    SearchResult stale = solve(engine, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", (SearchLimits){.nodes = 1000});
    TEST_ASSERT_EQUAL_INT(MOVE_NONE, stale.best);
    TEST_ASSERT_EQUAL_INT(SCORE_DRAW, stale.score);
    set(engine, "BuiltinTables", "0");
    // Mated next move whatever is played: proven, and by the longest defence.
    SearchResult lost = solve(engine, "7k/8/5K2/6R1/8/8/8/5R2 b - - 0 1", (SearchLimits){.nodes = 20000});
    TEST_ASSERT_EQUAL_INT(-SCORE_MATE + 2, lost.score);
    // A mate on the hundredth ply wins; without one the game is drawn.
    TEST_ASSERT_EQUAL_INT(
        SCORE_MATE - 1,
        solve(engine, "7k/8/6K1/8/8/8/8/R7 w - - 99 80", (SearchLimits){.nodes = 2000}).score);
    TEST_ASSERT_INT_WITHIN(
        8, 0, solve(engine, "8/7k/8/5K2/8/8/8/R7 w - - 98 80", (SearchLimits){.nodes = 20000}).score);
    engine_destroy(engine);
}

// A queen down, the third repetition is the best there is; a queen up it is the worst.
static void repetitions_are_draws(void) {
    static const char *const Moves[] = {"g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"};
    Engine *engine = mcts_engine(4);
    for (int up = 0; up < 2; up++) {
        Position pos = position_of(up ? "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
                                      : "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        Position after;
        KeyStack history;
        keystack_clear(&history);
        for (size_t i = 0; i < sizeof Moves / sizeof *Moves; i++, pos = after) {
            Move move = notation_from_uci(&pos, Moves[i]);
            TEST_ASSERT_TRUE(movegen_is_legal(&pos, move));
            keystack_push(&history, &pos);
            position_make(&after, &pos, move);
        }
        Move home = notation_from_uci(&pos, "f6g8");
        engine_new_game(engine);
        engine_set_position(engine, &pos, &history);
        SearchResult result = engine_search(engine, &(SearchLimits){.nodes = 20000}, NULL);
        TEST_ASSERT_EQUAL_INT(!up, result.best == home);
        if (up) TEST_ASSERT_GREATER_THAN_INT(300, result.score);
        else TEST_ASSERT_INT_WITHIN(2, 0, result.score);
    }
    engine_destroy(engine);
}

// --- limits and order

static void node_limits_are_exact(void) {
    Engine *engine = mcts_engine(1);
    for (uint64_t nodes = 1; nodes < 20000; nodes = nodes * 3 / 2 + 1) {
        SearchResult result = solve(engine, START_FEN, (SearchLimits){.nodes = nodes});
        TEST_ASSERT_EQUAL_UINT64(nodes, result.nodes);
        TEST_ASSERT_NOT_EQUAL(MOVE_NONE, result.best);
    }
    engine_destroy(engine);
}

// What a search found, in one number.
static uint64_t digest_of_search(Engine *engine, int number, uint64_t nodes) {
    SearchResult result = solve(engine, bench_fen(number), (SearchLimits){.nodes = nodes});
    uint64_t digest = digest_of(DIGEST_START, result.pv.moves, (size_t)result.pv.count * sizeof(Move));
    digest = digest_of(digest, &result.score, sizeof result.score);
    return digest_of(digest, &result.seldepth, sizeof result.seldepth);
}

static void one_thread_is_deterministic(void) {
    Engine *engine = mcts_engine(4), *other = mcts_engine(4);
    digest_of_search(other, 7, 5000); // what was searched before must not matter after a new game
    for (int i = 0; i < 12; i++)
        TEST_ASSERT_EQUAL_UINT64(digest_of_search(engine, i, 8000), digest_of_search(other, i, 8000));
    engine_destroy(engine);
    engine_destroy(other);
}

// Going to mcts and back leaves alpha-beta as it was.
static void alpha_beta_is_untouched(void) {
    Engine *engine = mcts_engine(4), *plain = engine_create(4);
    solve(engine, START_FEN, (SearchLimits){.nodes = 3000});
    set(engine, "SearchMode", "alphabeta");
    for (int i = 0; i < 4; i++) {
        SearchResult a = solve(engine, bench_fen(i), (SearchLimits){.depth = 7});
        SearchResult b = solve(plain, bench_fen(i), (SearchLimits){.depth = 7});
        TEST_ASSERT_EQUAL_UINT64(b.nodes, a.nodes);
        TEST_ASSERT_EQUAL_INT(b.best, a.best);
    }
    Error error;
    TEST_ASSERT_FALSE(engine_set_option(engine, "SearchMode", "minimax", &error));
    engine_destroy(engine);
    engine_destroy(plain);
}

// What an observer heard.
typedef struct Heard {
    int lines, multipv;
    uint64_t nodes;
    Move first[8]; // of each line of the last report
} Heard;

static void hear(void *context, const SearchInfo *info) {
    Heard *heard = context;
    heard->lines++;
    heard->multipv = int_max(heard->multipv, info->multipv);
    TEST_ASSERT_TRUE(info->nodes >= heard->nodes);
    TEST_ASSERT_TRUE(info->depth >= 1 && info->depth <= info->seldepth);
    heard->nodes = info->nodes;
    heard->first[info->multipv - 1] = info->pv->moves[0];
    expect_legal_line(info->root, info->pv);
}

static void lines_are_reported(void) {
    Engine *engine = mcts_engine(4);
    set(engine, "MultiPV", "3");
    Heard heard = {0};
    Position pos = position_of(START_FEN);
    engine_set_position(engine, &pos, NULL);
    SearchResult result =
        engine_search(engine, &(SearchLimits){.nodes = 20000}, &(Observer){.info = hear, .context = &heard});
    TEST_ASSERT_EQUAL_INT(3, heard.multipv);
    TEST_ASSERT_GREATER_THAN_INT(30, heard.lines);
    TEST_ASSERT_EQUAL_INT(result.best, heard.first[0]);
    TEST_ASSERT_NOT_EQUAL(heard.first[0], heard.first[1]);
    TEST_ASSERT_NOT_EQUAL(heard.first[1], heard.first[2]);
    TEST_ASSERT_NOT_EQUAL(MOVE_NONE, result.ponder);
    engine_destroy(engine);
}

static void other_limits(void) {
    Engine *engine = mcts_engine(4);
    Position pos = position_of(START_FEN);
    SearchLimits only = {.nodes = 5000};
    only.searchmoves.moves[only.searchmoves.count++] = notation_from_uci(&pos, "h2h4");
    only.searchmoves.moves[only.searchmoves.count++] = notation_from_uci(&pos, "a2a3");
    Move best = solve(engine, START_FEN, only).best;
    TEST_ASSERT_TRUE(best == only.searchmoves.moves[0] || best == only.searchmoves.moves[1]);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(3, solve(engine, START_FEN, (SearchLimits){.depth = 3}).depth);
    SearchResult timed = solve(engine, START_FEN, (SearchLimits){.movetime = 60});
    TEST_ASSERT_TRUE(timed.ms >= 50 && timed.ms < 1000);
    SearchResult clock = solve(engine, START_FEN, (SearchLimits){.has_clock = true, .time = {2000, 2000}});
    TEST_ASSERT_TRUE(clock.ms < 1500 && clock.best != MOVE_NONE);
    TEST_ASSERT_TRUE(solve(engine, MatesInTwo[2], (SearchLimits){.mate = 2}).score >= SCORE_MATE - 3);
    // The only legal move under a clock is played at once.
    SearchResult forced = solve(engine, "7k/8/8/8/8/8/r7/1r5K w - - 0 1",
                                (SearchLimits){.has_clock = true, .time = {9000, 9000}});
    TEST_ASSERT_TRUE(forced.best == MOVE_NONE || forced.ms < 1000);
    engine_destroy(engine);
}

static void stop_and_ponderhit(void) {
    Engine *engine = mcts_engine(8);
    set(engine, "Threads", "2");
    Position pos = position_of(START_FEN);
    engine_set_position(engine, &pos, NULL);
    for (int i = 0; i < 4; i++) {
        engine_start(engine, &(SearchLimits){.infinite = true}, NULL);
        usleep(20000);
        int64_t before = now_ms();
        engine_stop(engine);
        SearchResult result = engine_wait(engine);
        TEST_ASSERT_LESS_THAN_INT64(400, now_ms() - before);
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, result.best));
    }
    engine_start(engine, &(SearchLimits){.ponder = true, .has_clock = true, .time = {200, 200}}, NULL);
    usleep(20000);
    engine_ponderhit(engine);
    TEST_ASSERT_TRUE(movegen_is_legal(&pos, engine_wait(engine).best));
    // Everything proven: it still waits for stop.
    pos = position_of(MatesInOne[0]);
    engine_set_position(engine, &pos, NULL);
    engine_start(engine, &(SearchLimits){.infinite = true}, NULL);
    usleep(20000);
    engine_stop(engine);
    TEST_ASSERT_EQUAL_INT(SCORE_MATE - 1, engine_wait(engine).score);
    engine_destroy(engine);
}

// --- threads

static void four_threads(void) {
    Engine *engine = mcts_engine(2);
    set(engine, "Threads", "4");
    for (int i = 0; i < 24; i++) {
        Position pos = position_of(bench_fen(i));
        if (i % 5 == 4) {
            int id = Ingredients[i / 5 % INGREDIENTS];
            set(engine, ParamTable[id].name, params_get(engine_params(engine), id) ? "false" : "true");
        }
        engine_set_position(engine, &pos, NULL);
        engine_start(engine, &(SearchLimits){.nodes = 20000}, NULL);
        if (i % 3 == 0) {
            usleep((useconds_t)i * 100);
            engine_stop(engine);
        }
        SearchResult result = engine_wait(engine);
        if (result.best == MOVE_NONE) continue;
        expect_legal_line(&pos, &result.pv);
    }
    engine_destroy(engine);
}

// --- the ingredients

static void each_ingredient_matters(void) {
    enum { POSITIONS = 6 };
    uint64_t on[POSITIONS];
    Engine *engine = mcts_engine(4);
    for (int i = 0; i < POSITIONS; i++) on[i] = digest_of_search(engine, i, 6000);
    SearchRun run = engine_counters(engine);
    for (int k = 0; k < INGREDIENTS; k++) {
        const char *name = ParamTable[Ingredients[k]].name;
        TEST_ASSERT_GREATER_THAN_UINT64_MESSAGE(0, run.count[Ingredients[k]], name);
        set(engine, name, "false");
        int differ = 0;
        for (int i = 0; i < POSITIONS; i++) differ += digest_of_search(engine, i, 6000) != on[i];
        TEST_ASSERT_GREATER_THAN_INT_MESSAGE(POSITIONS / 2, differ, name);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, engine_counters(engine).count[Ingredients[k]], name);
        play_game(engine, 100 + (uint64_t)k, 200);
        set(engine, name, "true");
    }
    engine_destroy(engine);
}

// --- the tree from inside

// A search by hand, to look into its tree.
typedef struct Bare {
    Search search;
    SearchThread *thread;
    SearchThread *threads[1];
} Bare;

static void bare_search(Bare *bare, const char *fen, int megabytes, uint64_t nodes, bool shared) {
    Search *s = &bare->search;
    memset(bare, 0, sizeof *bare);
    bare->thread = aligned_alloc(64, (sizeof *bare->thread + 63) & ~(size_t)63);
    TEST_ASSERT_NOT_NULL(bare->thread);
    memset(bare->thread, 0, sizeof *bare->thread);
    bare->threads[0] = bare->thread;
    bare->thread->shared = s;
    s->params = params_default();
    s->params.MctsShared = shared;
    TEST_ASSERT_TRUE(tt_resize(&s->tt, 1));
    s->limits = (SearchLimits){.nodes = nodes};
    s->root = position_of(fen);
    s->time = timeman_make(&s->limits, &s->params, &s->root);
    s->multipv = s->thread_count = 1;
    s->threads = bare->threads;
    s->tree = mctstree_create(megabytes);
    TEST_ASSERT_NOT_NULL(s->tree);
    search_prepare(bare->thread);
    mcts_prepare(s);
    mcts_run(bare->thread);
}

static void bare_free(Bare *bare) {
    mctstree_destroy(bare->search.tree);
    tt_free(&bare->search.tt);
    free(bare->thread);
}

static bool has_proven_edge(const MctsTree *tree, const MctsNode *node) {
    if (atomic_load(&node->state) != MCTS_GROWN) return false;
    for (int i = 0; i < node->count; i++)
        if (mctstree_proof(&tree->edges[node->first + (uint32_t)i].proof)) return true;
    return false;
}

// Every node has one visit of its own and those of its edges, and its sum is what they add up to; without
// sharing an edge and its child were visited together.
static void the_books_balance(void) {
    static Bare bare;
    for (int shared = 0; shared < 2; shared++) {
        bare_search(&bare, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 32, 60000,
                    shared);
        const MctsTree *tree = bare.search.tree;
        MctsTreeUse use = mctstree_use(tree);
        TEST_ASSERT_GREATER_THAN_UINT64(1000, use.nodes);
        for (uint64_t i = 0; i < use.nodes; i++) {
            const MctsNode *node = &tree->nodes[i];
            if (atomic_load(&node->state) != MCTS_GROWN || node->count == 0) continue;
            int64_t visits = 1, sum = 0, prior = 0;
            for (int j = 0; j < node->count; j++) {
                const MctsEdge *edge = &tree->edges[node->first + (uint32_t)j];
                uint64_t stat = mctstree_load(edge);
                visits += mctstree_visits(stat);
                sum += (int64_t)mctstree_visits(stat) * mctstree_value(stat);
                prior += edge->prior;
                TEST_ASSERT_EQUAL_INT(0, mctstree_under_way(stat));
                TEST_ASSERT_TRUE(abs(mctstree_value(stat)) <= MCTS_ONE);
                uint32_t child = atomic_load(&edge->child);
                if (shared || child == 0 || mctstree_proof(&edge->proof)) continue;
                uint32_t below = atomic_load(&tree->nodes[child].visits);
                if (has_proven_edge(tree, &tree->nodes[child]))
                    TEST_ASSERT_LESS_OR_EQUAL_UINT32(mctstree_visits(stat),
                                                     below); // lost moves count no more
                else TEST_ASSERT_EQUAL_UINT32(mctstree_visits(stat), below);
                TEST_ASSERT_EQUAL_INT(-mctstree_node_value(&tree->nodes[child]), mctstree_value(stat));
            }
            TEST_ASSERT_EQUAL_INT64(visits, atomic_load(&node->visits));
            TEST_ASSERT_TRUE(llabs(atomic_load(&node->sum) - sum) <= MCTS_ONE);
            TEST_ASSERT_INT64_WITHIN(300, 65536, prior);
        }
        bare_free(&bare);
    }
}

// A tree that is full stays within its memory, and the search goes on to its limit.
static void memory_is_bounded(void) {
    static Bare bare;
    bare_search(&bare, START_FEN, 1, 150000, true);
    MctsTreeUse use = mctstree_use(bare.search.tree);
    TEST_ASSERT_TRUE(use.bytes <= 1 << 20);
    TEST_ASSERT_TRUE(use.nodes <= use.node_room && use.edges <= use.edge_room);
    TEST_ASSERT_TRUE(use.nodes == use.node_room || use.edges + MAX_MOVES > use.edge_room);
    TEST_ASSERT_EQUAL_UINT64(150000, search_nodes(&bare.search));
    TEST_ASSERT_TRUE(movegen_is_legal(&bare.search.root, bare.thread->root_moves[0].move));
    bare_free(&bare);
    for (int megabytes = 1; megabytes <= 64; megabytes *= 4) {
        MctsTree *tree = mctstree_create(megabytes);
        TEST_ASSERT_NOT_NULL(tree);
        TEST_ASSERT_TRUE(mctstree_use(tree).bytes <= (uint64_t)megabytes << 20);
        TEST_ASSERT_TRUE(mctstree_use(tree).bytes > (uint64_t)megabytes * 1000000);
        TEST_ASSERT_EQUAL_INT(megabytes, mctstree_megabytes(tree));
        mctstree_destroy(tree);
    }
}

static void the_logistic(void) {
    for (int scale = 50; scale <= 800; scale *= 2)
        for (int score = -2000; score <= 2000; score += 37) {
            double expected = tanh(score / 2.0 / scale) * MCTS_ONE;
            int value = mctstree_squash(score, scale);
            TEST_ASSERT_DOUBLE_WITHIN(2, expected, value);
            if (abs(score) < 8 * scale) TEST_ASSERT_INT_WITHIN(2, score, mctstree_unsquash(value, scale));
        }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(games_are_legal);
    RUN_TEST(mates_in_one_and_two);
    RUN_TEST(alpha_beta_agrees_on_the_mates);
    RUN_TEST(ends_of_games);
    RUN_TEST(repetitions_are_draws);
    RUN_TEST(node_limits_are_exact);
    RUN_TEST(one_thread_is_deterministic);
    RUN_TEST(alpha_beta_is_untouched);
    RUN_TEST(lines_are_reported);
    RUN_TEST(other_limits);
    RUN_TEST(stop_and_ponderhit);
    RUN_TEST(four_threads);
    RUN_TEST(each_ingredient_matters);
    RUN_TEST(the_books_balance);
    RUN_TEST(memory_is_bounded);
    RUN_TEST(the_logistic);
    return UNITY_END();
}
