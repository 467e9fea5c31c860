// SPDX-License-Identifier: GPL-3.0-or-later
// What pruning must never touch. The steps of engine/search.c are called one by one, on the thread of a real
// engine, with static scores and windows chosen here: so each protection is seen to hold, and the same call
// without it is seen to prune. tests/long_mutation.sh takes each protection out of the source once and wants
// a test here to fail.
#include <stdlib.h>
#include <string.h>

#define search_root search_root_real
#include "engine/search.c"
#undef search_root

#include "engine/engine.h"
#include "engine/notation.h"
#include "tests/positions.h"
#include "unity.h"

// --- a thread of a real engine, stopped at the root

static Engine *TheEngine;
static void (*Probe)(SearchThread *thread); // what to do instead of a search, or NULL

int search_root(SearchThread *thread, int alpha, int beta, int depth);

int search_root(SearchThread *thread, int alpha, int beta, int depth) {
    if (!Probe) return search_root_real(thread, alpha, beta, depth);
    Probe(thread);
    atomic_store(&thread->shared->stop, true);
    return 0;
}

// The positions were found with the hand-written evaluation: how far a score lies from a margin depends on
// it.
void setUp(void) {
    TheEngine = engine_create(1);
    engine_set_option(TheEngine, "Evaluation", "hand", NULL);
}

void tearDown(void) {
    engine_destroy(TheEngine);
    Probe = NULL;
}

// Runs a probe on an engine that has just been told to search.
static void probe_with(void (*probe)(SearchThread *)) {
    Probe = probe;
    engine_search(TheEngine, &(SearchLimits){.depth = 1}, NULL);
    Probe = NULL;
}

// A test whose body has such a thread, t.
#define ON_THREAD(name)                                                                                      \
    static void name##_on(SearchThread *t);                                                                  \
    static void name(void) { probe_with(name##_on); }                                                        \
    static void name##_on(SearchThread *t)

// Sets up a position one ply below the root, with an empty table, histories and counters as after a fresh
// start.
static StackEntry *stand(SearchThread *t, const char *fen) {
    Error error = {""};
    Search *s = t->shared;
    tt_clear(&s->tt, 1);
    memset(&t->hist, 0, sizeof t->hist);
    search_prepare(t);
    s->params = params_default();
    StackEntry *ss = t->stack + STACK_BELOW + 1;
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&ss->pos, fen, &error), error.text);
    ss[-1].pos = ss->pos;
    t->run.depth = 10;
    return ss;
}

static Params *params_of_thread(SearchThread *t) { return &t->shared->params; }

// Leaves only techniques that prune nothing on, so that one alone can be looked at.
static Params *bare(SearchThread *t) {
    static const int Kept[] = {ID_IterativeDeepening, ID_UsePVS, ID_UseTT, ID_Quiescence, ID_MoveOrdering};
    Params *p = params_of_thread(t);
    for (int id = 0; id < PARAM_COUNT; id++)
        if (ParamTable[id].kind == KIND_SWITCH) params_put(p, id, 0);
    for (size_t i = 0; i < sizeof Kept / sizeof *Kept; i++) params_put(p, Kept[i], 1);
    return p;
}

static Move read_move(const StackEntry *ss, const char *text) {
    Move move = notation_from_uci(&ss->pos, text);
    TEST_ASSERT_TRUE_MESSAGE(move != MOVE_NONE, text);
    return move;
}

static Node node_at(StackEntry *ss, int alpha, int beta, int depth, int eval) {
    ss->static_eval = eval;
    return (Node){.alpha = alpha, .beta = beta, .depth = depth, .ply = 1, .raw_eval = eval, .eval = eval};
}

// --- futility: what is kept

// A move and whether it is futile with every exception off, and with one on.
static void expect_kept(SearchThread *t, const char *fen, const char *text, bool check, bool refutation,
                        int exception) {
    static const int All[] = {ID_FutilityKeepCaptures, ID_FutilityKeepPromotions, ID_FutilityKeepChecks,
                              ID_FutilityKeepKiller,   ID_FutilityKeepSee,        ID_FutilityKeepHanging};
    StackEntry *ss = stand(t, fen);
    Params *p = params_of_thread(t);
    Node n = node_at(ss, 1000, 1001, 2, 0);
    Candidate c = {.move = read_move(ss, text),
                   .number = 3,
                   .gives_check = check,
                   .refutation = refutation,
                   .reduced_depth = 1};
    for (size_t i = 0; i < sizeof All / sizeof *All; i++) params_put(p, All[i], 0);
    TEST_ASSERT_TRUE_MESSAGE(futile(t, ss, &n, &c), ParamTable[exception].name);
    for (size_t i = 0; i < sizeof All / sizeof *All; i++) params_put(p, All[i], All[i] == exception);
    TEST_ASSERT_FALSE_MESSAGE(futile(t, ss, &n, &c), ParamTable[exception].name);
}

ON_THREAD(futility_keeps_captures_promotions_checks_killers_gains_and_hanging_pieces) {
    const char *capture = "k7/8/8/3p4/4P3/8/8/K7 w - - 0 1";
    expect_kept(t, capture, "e4d5", false, false, ID_FutilityKeepCaptures);
    expect_kept(t, capture, "e4d5", false, false, ID_FutilityKeepSee);
    expect_kept(t, capture, "e4e5", true, false, ID_FutilityKeepChecks);
    expect_kept(t, capture, "e4e5", false, true, ID_FutilityKeepKiller);
    expect_kept(t, "8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8q", false, false, ID_FutilityKeepPromotions);
    expect_kept(t, "8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8n", false, false, ID_FutilityKeepPromotions);
    expect_kept(t, "k7/8/8/8/3r4/8/8/K2N4 w - - 0 1", "d1b2", false, false, ID_FutilityKeepHanging);
    // Not hanging: not attacked, or defended.
    StackEntry *ss = stand(t, "k7/8/8/8/3r4/8/8/2KN4 w - - 0 1");
    params_of_thread(t)->FutilityKeepHanging = params_of_thread(t)->FutilityKeepSee = 1;
    Node n = node_at(ss, 1000, 1001, 2, 0);
    Candidate c = {.move = read_move(ss, "d1b2"), .number = 3, .reduced_depth = 1};
    TEST_ASSERT_TRUE(futile(t, ss, &n, &c));
}

ON_THREAD(futility_stops_at_its_margin_its_depth_and_checks) {
    StackEntry *ss = stand(t, START_FEN);
    Params *p = params_of_thread(t);
    Candidate c = {.move = read_move(ss, "g1f3"), .number = 3, .reduced_depth = 2};
    int margin = futility_margin(p, 2, false);
    Node n = node_at(ss, margin, margin + 1, 4, 0);
    TEST_ASSERT_TRUE(futile(t, ss, &n, &c));
    n.alpha--;
    TEST_ASSERT_FALSE_MESSAGE(futile(t, ss, &n, &c), "the margin reaches alpha");
    n.alpha = 20000;
    n.in_check = true;
    TEST_ASSERT_FALSE_MESSAGE(futile(t, ss, &n, &c), "in check");
    n.in_check = false;
    p->FutilityMaxDepth = 1;
    TEST_ASSERT_FALSE_MESSAGE(futile(t, ss, &n, &c), "too deep");
    p->FutilityMaxDepth = 2;
    TEST_ASSERT_TRUE(futile(t, ss, &n, &c));
    p->FutilityLmrDepth = 0; // now it is the node's depth that counts
    TEST_ASSERT_FALSE(futile(t, ss, &n, &c));
    p->FutilityMaxDepth = 4;
    TEST_ASSERT_TRUE(futile(t, ss, &n, &c));
    p->FutilityPruning = 0;
    TEST_ASSERT_FALSE(futile(t, ss, &n, &c));
}

// A queen's promotion is noisy, so it is kept with the captures even where promotions as such are not.
ON_THREAD(a_queen_promotion_is_kept_with_the_captures) {
    StackEntry *ss = stand(t, "8/P6k/8/8/8/8/8/KN6 w - - 0 1");
    MovePicker picker = {.skip_quiets = false};
    Params *p = bare(t);
    p->FutilityPruning = 1;
    Node n = node_at(ss, 1000, 1001, 2, 0);
    Candidate c = {.move = read_move(ss, "a7a8q"), .number = 3, .noisy = true, .reduced_depth = 1};
    TEST_ASSERT_TRUE(prune_move(t, ss, &n, &c, &picker));
    p->FutilityKeepCaptures = 1;
    TEST_ASSERT_FALSE(prune_move(t, ss, &n, &c, &picker));
}

// --- extended futility

ON_THREAD(extended_futility_keeps_checks_promotions_and_counts_the_victim) {
    StackEntry *ss = stand(t, "7k/P2r4/8/4N3/8/8/8/K7 w - - 0 1");
    Params *p = params_of_thread(t);
    p->ExtendedFutility = 1;
    int far = futility_margin(p, 3, false) + p->ExtFutilityExtra;
    Node n = node_at(ss, far, far + 1, 3, 0);
    Candidate quiet = {.move = read_move(ss, "e5c4"), .number = 3}, capture = quiet, promotion = quiet;
    capture.move = read_move(ss, "e5d7");
    capture.noisy = true;
    promotion.move = read_move(ss, "a7a8n");
    TEST_ASSERT_TRUE(extended_futile(t, ss, &n, &quiet));
    TEST_ASSERT_FALSE_MESSAGE(extended_futile(t, ss, &n, &capture), "the rook that it takes counts");
    n.alpha = far + SeeValues[ROOK];
    TEST_ASSERT_TRUE(extended_futile(t, ss, &n, &capture));
    TEST_ASSERT_FALSE_MESSAGE(extended_futile(t, ss, &n, &promotion), "promotion");
    quiet.gives_check = true;
    TEST_ASSERT_FALSE_MESSAGE(extended_futile(t, ss, &n, &quiet), "check");
    quiet.gives_check = false;
    n.in_check = true;
    TEST_ASSERT_FALSE_MESSAGE(extended_futile(t, ss, &n, &quiet), "in check");
    n.in_check = false;
    p->ExtFutilityMaxDepth = 2;
    TEST_ASSERT_FALSE_MESSAGE(extended_futile(t, ss, &n, &quiet), "too deep");
}

// --- margins

ON_THREAD(margins_grow_with_depth) {
    stand(t, START_FEN);
    Params *p = params_of_thread(t);
    for (int formula = 0; formula < 2; formula++) {
        p->FutilityFormula = formula;
        for (int depth = 1; depth < 8; depth++)
            TEST_ASSERT_TRUE(futility_margin(p, depth, false) < futility_margin(p, depth + 1, false));
        p->FutilityEndgameScale = 150;
        TEST_ASSERT_EQUAL_INT(futility_margin(p, 4, false) * 3 / 2, futility_margin(p, 4, true));
    }
    // Late-move reductions grow with depth and with the number of the move.
    for (int i = 3; i < 60; i++) {
        TEST_ASSERT_TRUE(base_reduction(p, i, 10, false) <= base_reduction(p, i + 1, 10, false));
        TEST_ASSERT_TRUE(base_reduction(p, 10, i, false) <= base_reduction(p, 10, i + 1, false));
    }
    TEST_ASSERT_TRUE(base_reduction(p, 4, 4, false) < base_reduction(p, 20, 4, false));
    TEST_ASSERT_TRUE(base_reduction(p, 4, 4, false) < base_reduction(p, 4, 20, false));
}

// --- other pruning of single moves

ON_THREAD(late_move_pruning_keeps_checks_captures_and_evasions) {
    StackEntry *ss = stand(t, START_FEN);
    Params *p = bare(t);
    p->LateMovePruning = 1;
    p->LmpBase = 300, p->LmpScale = 100; // depth 2, improving: seven moves are kept
    Node n = node_at(ss, 0, 1, 2, 0);
    n.improving = true;
    Candidate c = {.move = read_move(ss, "g1f3"), .number = 7};
    MovePicker picker = {.skip_quiets = false};
    TEST_ASSERT_TRUE(prune_move(t, ss, &n, &c, &picker));
    TEST_ASSERT_TRUE(picker.skip_quiets);
    n.depth = 3;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "more moves are kept at more depth");
    n.depth = 2;
    c.number = 6;
    TEST_ASSERT_FALSE(prune_move(t, ss, &n, &c, &picker));
    n.improving = false;
    TEST_ASSERT_TRUE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "half as many if not improving");
    c.gives_check = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "a check is searched");
    c.gives_check = false;
    c.noisy = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "captures are not late moves");
    c.noisy = false;
    n.in_check = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "in check");
    n.in_check = false;
    p->LmpMaxDepth = 1;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "too deep");
}

ON_THREAD(pruning_by_record_keeps_captures_checks_evasions_and_first_moves) {
    StackEntry *ss = stand(t, START_FEN);
    Params *p = bare(t);
    MovePicker picker = {.skip_quiets = false};
    Node n = node_at(ss, 0, 1, 2, 0);
    Candidate c = {.move = read_move(ss, "g1f3"), .number = 7, .history = -2 * p->HistPruneScale - 1};
    p->HistoryPruning = 1;
    TEST_ASSERT_TRUE(prune_move(t, ss, &n, &c, &picker));
    n.depth = 3;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "a worse record is needed at more depth");
    n.depth = 2;
    c.noisy = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "a capture has no such record");
    c.noisy = false;
    c.reduced_depth = p->HistPruneMaxDepth + 1;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "too deep");

    c.reduced_depth = 1;
    p->HistoryPruning = 0;
    p->ProbabilisticPruning = 1;
    p->ProbPruneMax = 500;
    TEST_ASSERT_TRUE(prune_move(t, ss, &n, &c, &picker));
    c.noisy = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "capture");
    c.noisy = false;
    c.gives_check = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "check");
    c.gives_check = false;
    n.in_check = true;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "in check");
    n.in_check = false;
    c.number = p->ProbPruneMinMoves;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "among the first moves");
    c.number++;
    n.depth = 7;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "too deep");
}

ON_THREAD(exchanges_may_lose_more_at_more_depth) {
    StackEntry *ss = stand(t, "6k1/8/4p3/3p4/8/8/3R4/6K1 w - - 0 1");
    Params *p = bare(t);
    MovePicker picker = {.skip_quiets = false};
    p->SeePruning = 1;
    p->SeeCaptureMargin = 110, p->SeeQuietMargin = 25; // Rxd5 loses 400, Rd4 nothing, Rd2-e2 nothing
    Node n = node_at(ss, 0, 1, 3, 0);
    Candidate c = {.move = read_move(ss, "d2d5"), .number = 2, .noisy = true};
    TEST_ASSERT_TRUE(prune_move(t, ss, &n, &c, &picker));
    n.depth = 4;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "more loss is allowed at more depth");
    ss = stand(t, "6k1/8/4p3/8/8/8/3R4/6K1 w - - 0 1");
    bare(t)->SeePruning = 1;
    p->SeeQuietMargin = 25;
    c = (Candidate){.move = read_move(ss, "d2d5"), .number = 2, .reduced_depth = 4}; // loses 500
    TEST_ASSERT_TRUE(prune_move(t, ss, &n, &c, &picker));
    c.reduced_depth = 5;
    TEST_ASSERT_FALSE_MESSAGE(prune_move(t, ss, &n, &c, &picker), "and to a quiet move, too");
}

// --- where moves are pruned at all

// Hopelessly below alpha, every quiet move but the first is futile; yet at the root each is searched.
ON_THREAD(root_moves_are_never_pruned) {
    stand(t, START_FEN);
    search_prepare(t);
    search_root_real(t, 5000, 5100, 1);
    TEST_ASSERT_EQUAL_INT(20, t->root_count);
    for (int i = 0; i < t->root_count; i++) TEST_ASSERT_TRUE(t->root_moves[i].nodes > 0);
}

static int search_quietly(SearchThread *t, StackEntry *ss, int alpha, int beta, int depth) {
    return search(t, ss, alpha, beta, depth, false);
}

// With pawns alone nothing is skipped; with a knight beside them it is.
ON_THREAD(pawn_endings_are_searched_move_by_move) {
    StackEntry *ss = stand(t, "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1");
    bare(t)->FutilityPruning = 1;
    search_quietly(t, ss, 3000, 3001, 1);
    TEST_ASSERT_EQUAL_UINT64(0, t->run.count[ID_FutilityPruning]);
    ss = stand(t, "4k3/pppp4/8/8/8/8/4PPPP/4KN2 w - - 0 1");
    bare(t)->FutilityPruning = 1;
    search_quietly(t, ss, 3000, 3001, 1);
    TEST_ASSERT_TRUE(t->run.count[ID_FutilityPruning] > 5);
}

// Re1 threatens mate and only two quiet knight moves help; the captures, tried first, are mated. Late-move
// pruning would skip all that is quiet by then: while the best score so far is a mate nothing may be skipped.
ON_THREAD(nothing_is_pruned_while_being_mated) {
    StackEntry *ss = stand(t, "4r1k1/8/b7/8/1N6/5p1p/5PPP/6K1 w - - 0 1");
    bare(t)->LateMovePruning = 1;
    TEST_ASSERT_FALSE_MESSAGE(score_is_loss(search_quietly(t, ss, -20001, -20000, 2)), "there is a defence");
    ss = stand(t, "4r1kN/8/b7/8/8/5p1p/5PPP/6K1 w - - 0 1"); // now there is none, and each move is tried
    bare(t)->LateMovePruning = 1;
    TEST_ASSERT_EQUAL_INT(-SCORE_MATE + 3, search_quietly(t, ss, -20001, -20000, 2));
    // And at least one move is searched, however futile all of them are.
    ss = stand(t, START_FEN);
    bare(t)->FutilityPruning = 1;
    TEST_ASSERT_TRUE(search_quietly(t, ss, 900, 901, 1) < 900);
    TEST_ASSERT_EQUAL_UINT64(1, node_count(t));
}

// --- pruning of whole nodes

// A queen up, a window far below: every technique would cut. Never in check, on the principal variation, or
// in the search without a move.
ON_THREAD(whole_nodes_are_pruned_neither_in_check_nor_on_the_line_nor_without_a_move) {
    const char *quiet = "4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1";
    const char *check = "4k3/pppp4/8/4r3/8/8/PPPP4/3QK3 w - - 0 1";
    StackEntry *ss = stand(t, quiet);
    bare(t)->ReverseFutility = 1;
    search_quietly(t, ss, -901, -900, 1);
    TEST_ASSERT_EQUAL_UINT64(1, t->run.count[ID_ReverseFutility]);
    ss = stand(t, quiet);
    bare(t)->ReverseFutility = 1;
    search_quietly(t, ss, -1000, -900, 1);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, t->run.count[ID_ReverseFutility], "principal variation");
    ss = stand(t, quiet);
    bare(t)->ReverseFutility = 1;
    ss->excluded = read_move(ss, "d1e2");
    ss->static_eval = 900;
    search_quietly(t, ss, -901, -900, 1);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, t->run.count[ID_ReverseFutility], "without a move");

    ss = stand(t, quiet);
    bare(t)->NullMove = 1;
    search_quietly(t, ss, -901, -900, 2);
    TEST_ASSERT_EQUAL_UINT64(1, t->run.count[ID_NullMove]);
    ss = stand(t, check);
    bare(t)->NullMove = 1;
    search_quietly(t, ss, -901, -900, 2);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, t->run.count[ID_NullMove], "in check");
}

ON_THREAD(the_safest_technique_is_asked_first) {
    StackEntry *ss = stand(t, "4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1");
    search_quietly(t, ss, -901, -900, 5);
    TEST_ASSERT_EQUAL_UINT64(1, t->run.count[ID_ReverseFutility]);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, node_count(t), "the cheapest technique is asked first");
}

ON_THREAD(reverse_futility_grows_with_depth_and_leaves_mates_alone) {
    StackEntry *ss = stand(t, START_FEN);
    Params *p = params_of_thread(t);
    for (int depth = 1; depth <= p->RfpMaxDepth; depth++) {
        Node n = node_at(ss, 99, 100, depth, 100 + p->RfpMargin * depth);
        int score = reverse_futility(t, &n);
        TEST_ASSERT_TRUE(score >= n.beta && score <= n.eval);
        n.eval--;
        TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, reverse_futility(t, &n), "the margin grows with depth");
        n.improving = true;
        TEST_ASSERT_TRUE_MESSAGE(reverse_futility(t, &n) != SCORE_NONE, "less of it when improving");
    }
    Node n = node_at(ss, 99, 100, p->RfpMaxDepth + 1, 20000);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, reverse_futility(t, &n), "too deep");
    n.depth = 1;
    TEST_ASSERT_TRUE(reverse_futility(t, &n) != SCORE_NONE);
    n.eval = SCORE_MATE - 9;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, reverse_futility(t, &n),
                                  "a mate from the table is not blended");
    n.eval = 500;
    n.beta = -SCORE_MATE + 9;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, reverse_futility(t, &n), "no guess against a mate");
}

ON_THREAD(razoring_asks_quiescence_and_leaves_mates_alone) {
    const char *quiet = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1";        // nothing to take
    const char *sharp = "4k3/pppp4/8/4q3/8/8/PPPPR1PP/4K1NR w - - 0 1"; // a queen to take
    StackEntry *ss = stand(t, quiet);
    Params *p = params_of_thread(t);
    for (int depth = 1; depth <= p->RazorMaxDepth; depth++)
        for (int endgame = 0; endgame < 2; endgame++) {
            int margin = (endgame ? p->RazorMarginEndgame : p->RazorMargin) * depth;
            Node n = node_at(ss, 3000, 3001, depth, 3000 - margin);
            n.endgame = endgame;
            int score = razoring(t, ss, &n);
            TEST_ASSERT_TRUE_MESSAGE(score != SCORE_NONE && score <= n.alpha, "hopeless and quiet");
            n.eval++;
            TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, razoring(t, ss, &n), "the margin grows with depth");
        }
    Node n = node_at(ss, 3000, 3001, p->RazorMaxDepth + 1, -5000);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, razoring(t, ss, &n), "too deep");
    n.depth = 1;
    TEST_ASSERT_TRUE(razoring(t, ss, &n) != SCORE_NONE);
    n.alpha = SCORE_MATE - 20;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, razoring(t, ss, &n), "a mate is not hoped for in captures");
    // Quiescence knows of a mate from the table: that is no razor's business.
    n.alpha = 3000;
    tt_store(&t->shared->tt, ss->pos.key, n.ply, MOVE_NONE, -SCORE_MATE + 20, 0, 0, BOUND_UPPER, false);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, razoring(t, ss, &n), "mated by the table");

    ss = stand(t, sharp);
    n = node_at(ss, 0, 1, 1, -500);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, razoring(t, ss, &n), "a capture refutes the razor");
    TEST_ASSERT_EQUAL_UINT64(0, t->run.count[ID_Razoring]);
}

// --- null move

static const char QueenUp[] = "4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1";

ON_THREAD(null_moves_are_not_tried_twice_in_a_row_with_pawns_alone_or_against_the_evidence) {
    StackEntry *ss = stand(t, QueenUp);
    Params *p = params_of_thread(t);
    Node n = node_at(ss, 99, 100, 4, 800);
    int score = null_move(t, ss, &n);
    TEST_ASSERT_TRUE_MESSAGE(score != SCORE_NONE && score >= n.beta, "passing is good enough");
    TEST_ASSERT_EQUAL_UINT64(1, t->run.count[ID_NullMove]);

    uint64_t before = node_count(t);
    ss[-1].move = MOVE_NULL;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "twice in a row");
    ss[-1].move = MOVE_NONE;
    t->run.null_min_ply = 2;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "while one is verified");
    t->run.null_min_ply = 0;
    n.depth = p->NullMinDepth - 1;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "too shallow");
    n.depth = 4;
    n.eval = n.beta - 1;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "below beta already");
    n.eval = 800;
    ss->static_eval = n.beta + p->NullMarginBase - 4 * p->NullMarginDepth - 1;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "the static score is too low");
    ss->static_eval = 800;
    p->NullMinPieces = 2;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "one piece is not two");
    p->NullMinPieces = 1;
    n.tt = (TTEntry){.hit = true, .score = 50, .bound = BOUND_UPPER, .depth = 1};
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "the table knows better");
    n.tt = (TTEntry){.hit = false};
    n.beta = -SCORE_MATE + 9;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "no guess against a mate");
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(before, node_count(t), "none of them searched anything");

    ss = stand(t, "4k3/p7/8/8/8/8/PPPPPPPP/4K3 w - - 0 1");
    n = node_at(ss, 99, 100, 4, 800);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "pawns alone: zugzwang is near");
    ss = stand(t, QueenUp);
    n = node_at(ss, 4999, 5000, 4, 6000);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, null_move(t, ss, &n), "passing does not keep what is claimed");
}

// After passing, every black move allows mate: the score is a mate that was never proven.
ON_THREAD(a_mate_after_passing_proves_nothing) {
    StackEntry *ss = stand(t, "7k/8/6K1/8/8/p7/8/1R6 w - - 0 1");
    Params *p = bare(t);
    p->NullMove = 1;
    p->NullBase = 1024, p->NullDepthScale = p->NullEvalMax = 0;
    p->NullMinDepth = 5;                       // only here
    Node n = node_at(ss, 4999, 5000, 5, 6000); // more than material: only the mate is enough
    node_make_null(t, ss);
    TEST_ASSERT_TRUE_MESSAGE(score_is_win(-search(t, ss + 1, -5000, -4999, 4, true)), "it is a mate indeed");
    TEST_ASSERT_EQUAL_INT(5000, null_move(t, ss, &n));
}

// Black, to move, is in zugzwang: passing holds, every move loses. Only the verification finds out.
ON_THREAD(a_deep_null_move_is_verified) {
    const char *fen = "8/8/p1p5/1p5p/1P5p/8/PPP2K1p/5Rrk b - - 0 1";
    int scores[2];
    for (int verify = 0; verify < 2; verify++) {
        StackEntry *ss = stand(t, fen);
        Params *p = bare(t);
        p->NullMove = 1;
        p->NullVerification = verify;
        p->NullVerifyDepth = 11; // only here
        p->NullBase = 2048, p->NullDepthScale = p->NullEvalMax = 0;
        Node n = node_at(ss, 99, 100, 11, 300);
        scores[verify] = null_move(t, ss, &n);
        TEST_ASSERT_EQUAL_UINT64(verify, t->run.count[ID_NullVerification]);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, t->run.null_min_ply, "null moves are on again");
    }
    TEST_ASSERT_TRUE_MESSAGE(scores[0] != SCORE_NONE && scores[0] >= 100, "passing holds");
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, scores[1], "the verification sees the zugzwang");
}

// --- ProbCut and multi-cut

ON_THREAD(probcut_returns_no_mate_and_guesses_at_none) {
    const char *queen = "3qk3/8/8/8/8/8/8/3RK2R w - - 0 1", *mate = "3r2k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    StackEntry *ss = stand(t, queen);
    Params *p = params_of_thread(t);
    Node n = node_at(ss, -1, 0, 5, 0);
    int score = probcut(t, ss, &n);
    TEST_ASSERT_TRUE_MESSAGE(score != SCORE_NONE && score >= 0 && !score_is_decisive(score), "a won queen");
    TEST_ASSERT_EQUAL_UINT64(1, t->run.count[ID_ProbCut]);
    ss = stand(t, queen);
    n.tt = (TTEntry){.hit = true, .score = 10, .bound = BOUND_UPPER, .depth = 5 - p->ProbCutReduction};
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "the table knows better");
    n.tt = (TTEntry){.hit = false};
    n.depth = p->ProbCutMinDepth - 1;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "too shallow");
    n.depth = 5;
    ss->excluded = read_move(ss, "d1d8");
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "the excluded move is no capture to try");
    ss->excluded = MOVE_NONE;
    n = node_at(ss, 3999, 4000, 5, 5000);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "a queen is not enough for that");

    ss = stand(t, mate);
    n = node_at(ss, -1, 0, 5, 0);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, probcut(t, ss, &n), "a mate in a reduced search is worth beta");
    ss = stand(t, mate);
    n = node_at(ss, SCORE_MATE - 31, SCORE_MATE - 30, 5, SCORE_MATE - 30);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "mates are not guessed at");
    n = node_at(ss, -SCORE_MATE + 29, -SCORE_MATE + 30, 5, 0);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "nor being mated");
    n = node_at(ss, -SCORE_TB_WIN_IN_MAX - 1, -SCORE_TB_WIN_IN_MAX, 5, 0);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "nor a lost table");
    n = node_at(ss, SCORE_EVAL_MAX - 51, SCORE_EVAL_MAX - 50, 5, SCORE_EVAL_MAX - 50);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, probcut(t, ss, &n), "the margin must not reach into the mates");
    TEST_ASSERT_EQUAL_UINT64(0, node_count(t));
}

ON_THREAD(multicut_returns_no_mate_and_guesses_at_none) {
    StackEntry *ss = stand(t, QueenUp);
    Params *p = params_of_thread(t);
    p->ClassicMultiCut = 1;
    Node n = node_at(ss, -101, -100, p->MultiCutMinDepth, 800);
    n.cut = true;
    TEST_ASSERT_EQUAL_INT(-100, classic_multicut(t, ss, &n));
    n.cut = false;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, classic_multicut(t, ss, &n), "not expected to fail high");
    n.cut = true;
    n.depth--;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, classic_multicut(t, ss, &n), "too shallow");
    n.depth++;
    n.beta = -SCORE_MATE + 9;
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, classic_multicut(t, ss, &n), "mates are not guessed at");

    // The singular search, half as deep: a second good move cuts the node, a second mate does not.
    ss = stand(t, QueenUp);
    n = node_at(ss, -101, -100, 6, 800);
    n.tt =
        (TTEntry){.hit = true, .move = read_move(ss, "d1e2"), .score = -50, .bound = BOUND_LOWER, .depth = 6};
    int cut = SCORE_NONE;
    extension(t, ss, &n, n.tt.move, &cut);
    TEST_ASSERT_TRUE_MESSAGE(cut != SCORE_NONE && cut >= -100 && !score_is_decisive(cut), "multi-cut");
    ss = stand(t, "6k1/5ppp/8/8/8/8/5PPP/R2R2K1 w - - 0 1"); // either rook mates
    n = node_at(ss, -101, -100, 6, 800);
    n.tt =
        (TTEntry){.hit = true, .move = read_move(ss, "a1a8"), .score = -50, .bound = BOUND_LOWER, .depth = 6};
    cut = SCORE_NONE;
    extension(t, ss, &n, n.tt.move, &cut);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, cut, "a mate in half the depth is not returned");
    TEST_ASSERT_EQUAL_INT_MESSAGE(MOVE_NONE, ss->excluded, "nothing stays excluded");
}

// --- mate scores on their way up

ON_THREAD(mates_are_passed_up_unchanged) {
    StackEntry *ss = stand(t, "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    bare(t);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_MATE - 2, search_quietly(t, ss, -101, -100, 3),
                                  "a fail-high by mate is not blended with beta");
    // Standing pat on a mate from the table, likewise.
    ss = stand(t, QueenUp);
    bare(t);
    tt_store(&t->shared->tt, ss->pos.key, 1, MOVE_NONE, SCORE_MATE - 20, 0, 3, BOUND_LOWER, false);
    TEST_ASSERT_EQUAL_INT(SCORE_MATE - 20, quiesce(t, ss, -101, 100, 0));
}

// --- quiescence

static uint64_t deltas(SearchThread *t, const char *fen, int alpha, int qply, int min_pieces) {
    StackEntry *ss = stand(t, fen);
    Params *p = bare(t);
    p->DeltaPruning = 1;
    if (min_pieces) p->DeltaMinPieces = min_pieces;
    quiesce(t, ss, alpha, alpha + 1, qply);
    return t->run.count[ID_DeltaPruning];
}

ON_THREAD(delta_pruning_is_off_in_late_endgames_in_check_and_for_promotions) {
    const char *five = "4k3/8/8/3p4/4P2R/8/8/4K3 w - - 0 1", *four = "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1";
    TEST_ASSERT_EQUAL_UINT64(1, deltas(t, five, 5000, 0, 0));
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, deltas(t, four, 5000, 0, 0), "few men");
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, deltas(t, five, 5000, 0, 6), "few men");
    TEST_ASSERT_EQUAL_UINT64(1, deltas(t, four, 5000, 0, 4));
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, deltas(t, five, 5000, 32, 0), "deep in quiescence");
    const char *promotion = "1n2k3/P7/8/8/8/7p/7P/4K3 w - - 0 1";
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, deltas(t, promotion, 9000, 0, 0), "promotions");
    // In check, two captures of the knight: neither may be skipped, whatever alpha is.
    const char *check = "4k3/pp6/8/8/8/5n2/PP2B1P1/4K3 w - - 0 1";
    StackEntry *ss = stand(t, check);
    TEST_ASSERT_TRUE(ss->pos.checkers != 0);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, deltas(t, check, 9000, 0, 0), "in check");
    // The victim counts: alpha just within reach of a pawn and the margin.
    ss = stand(t, five);
    Params *p = bare(t);
    int eval = learn_corrected(t, ss, node_evaluate(t, ss));
    TEST_ASSERT_EQUAL_UINT64(0, deltas(t, five, eval + p->DeltaMargin + SeeValues[PAWN] - 1, 0, 0));
    TEST_ASSERT_EQUAL_UINT64(1, deltas(t, five, eval + p->DeltaMargin + SeeValues[PAWN], 0, 0));
}

ON_THREAD(quiescence_tries_evasions_and_knows_mates) {
    // Mated: said so, though the material is fine.
    StackEntry *ss = stand(t, "R5k1/5ppp/8/8/8/nnn5/8/7K b - - 0 1");
    TEST_ASSERT_EQUAL_INT(-SCORE_MATE + 1, quiesce(t, ss, -200, 200, 0));
    // Only quiet evasions: one is searched, with or without the switch that skips the rest.
    for (int on = 0; on < 2; on++) {
        ss = stand(t, "R5k1/5pp1/7p/8/8/nnn5/8/7K b - - 0 1");
        params_of_thread(t)->QuiescenceEvasions = on;
        int score = quiesce(t, ss, -200, 200, 0);
        TEST_ASSERT_TRUE_MESSAGE(!score_is_decisive(score) && score > 200, "g8h7 holds");
    }
    // In check there is no standing pat: the only evasion loses the queen.
    ss = stand(t, "6k1/8/8/8/8/4n3/8/3Q2K1 w - - 0 1");
    int apart = quiesce(t, ss, -3000, 3000, 0);
    TEST_ASSERT_FALSE(ss->pos.checkers);
    ss = stand(t, "6k1/8/8/8/8/5n2/8/3Q2K1 w - - 0 1");
    TEST_ASSERT_TRUE(ss->pos.checkers != 0);
    quiesce(t, ss, -3000, 3000, 0);
    TEST_ASSERT_EQUAL_INT_MESSAGE(SCORE_NONE, ss->static_eval, "in check there is no static score");
    TEST_ASSERT_TRUE(apart > 0);
}

// --- the whole search

// Whether the side to move mates within so many plies, by trying everything.
static bool mates_within(const Position *pos, int plies) {
    MoveList list;
    Position after;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count && plies > 0; i++) {
        position_make(&after, pos, list.moves[i]);
        MoveList replies;
        movegen_list(&after, &replies);
        if (replies.count == 0 && !after.checkers) continue;
        bool all = true;
        for (int j = 0; j < replies.count && all; j++) {
            Position next;
            position_make(&next, &after, replies.moves[j]);
            all = plies > 2 && mates_within(&next, plies - 2);
        }
        if (all) return true;
    }
    return false;
}

// Whatever is pruned, a mate that the search announces in at most two moves is there.
static void announced_mates_are_mates(void) {
    int announced = 0;
    for (uint64_t i = 0; i < (test_long() ? 4000u : 400u); i++) {
        Position pos = random_position(77, i, false);
        if (!movegen_any(&pos)) continue;
        char fen[FEN_SIZE];
        position_to_fen(&pos, fen);
        for (int depth = 1; depth <= 6; depth++) {
            engine_new_game(TheEngine);
            engine_set_position(TheEngine, &pos, NULL);
            SearchResult result = engine_search(TheEngine, &(SearchLimits){.depth = depth}, NULL);
            int plies = SCORE_MATE - abs(result.score);
            if (plies > 3) continue;
            announced++;
            if (result.score > 0) {
                TEST_ASSERT_TRUE_MESSAGE(mates_within(&pos, plies), fen);
            } else if (plies == 2) { // mated in one: whatever is played
                MoveList list;
                movegen_list(&pos, &list);
                for (int j = 0; j < list.count; j++) {
                    Position after;
                    position_make(&after, &pos, list.moves[j]);
                    TEST_ASSERT_TRUE_MESSAGE(mates_within(&after, 1), fen);
                }
            }
        }
    }
    TEST_ASSERT_TRUE_MESSAGE(announced > 20, "too few mates to tell");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(futility_keeps_captures_promotions_checks_killers_gains_and_hanging_pieces);
    RUN_TEST(futility_stops_at_its_margin_its_depth_and_checks);
    RUN_TEST(a_queen_promotion_is_kept_with_the_captures);
    RUN_TEST(extended_futility_keeps_checks_promotions_and_counts_the_victim);
    RUN_TEST(margins_grow_with_depth);
    RUN_TEST(late_move_pruning_keeps_checks_captures_and_evasions);
    RUN_TEST(pruning_by_record_keeps_captures_checks_evasions_and_first_moves);
    RUN_TEST(exchanges_may_lose_more_at_more_depth);
    RUN_TEST(root_moves_are_never_pruned);
    RUN_TEST(pawn_endings_are_searched_move_by_move);
    RUN_TEST(nothing_is_pruned_while_being_mated);
    RUN_TEST(whole_nodes_are_pruned_neither_in_check_nor_on_the_line_nor_without_a_move);
    RUN_TEST(the_safest_technique_is_asked_first);
    RUN_TEST(reverse_futility_grows_with_depth_and_leaves_mates_alone);
    RUN_TEST(razoring_asks_quiescence_and_leaves_mates_alone);
    RUN_TEST(null_moves_are_not_tried_twice_in_a_row_with_pawns_alone_or_against_the_evidence);
    RUN_TEST(a_mate_after_passing_proves_nothing);
    RUN_TEST(a_deep_null_move_is_verified);
    RUN_TEST(probcut_returns_no_mate_and_guesses_at_none);
    RUN_TEST(multicut_returns_no_mate_and_guesses_at_none);
    RUN_TEST(mates_are_passed_up_unchanged);
    RUN_TEST(delta_pruning_is_off_in_late_endgames_in_check_and_for_promotions);
    RUN_TEST(quiescence_tries_evasions_and_knows_mates);
    RUN_TEST(announced_mates_are_mates);
    return UNITY_END();
}
