// SPDX-License-Identifier: GPL-3.0-or-later
// One node of the search, in numbered steps. A technique is one step: its idea in a line or two, its numbers
// in params.def, a switch, a counter. Techniques are asked safest first. Iterative deepening, aspiration and
// the vote between threads live in iterate.c, quiescence in quiesce.c.
#include "engine/search.h"

#include "engine/learn.h"
#include "engine/movepick.h"
#include "engine/node.h"
#include "engine/quiesce.h"

// 1024 x ln(i): the one table behind all late-move reductions.
static const int16_t Ln[128] = {
    0,    0,    710,  1125, 1420, 1648, 1835, 1993, 2129, 2250, 2358, 2455, 2545, 2627, 2702, 2773,
    2839, 2901, 2960, 3015, 3068, 3118, 3165, 3211, 3254, 3296, 3336, 3375, 3412, 3448, 3483, 3516,
    3549, 3580, 3611, 3641, 3670, 3698, 3725, 3751, 3777, 3803, 3827, 3851, 3875, 3898, 3921, 3943,
    3964, 3985, 4006, 4026, 4046, 4066, 4085, 4104, 4122, 4140, 4158, 4175, 4193, 4210, 4226, 4243,
    4259, 4275, 4290, 4306, 4321, 4336, 4350, 4365, 4379, 4393, 4407, 4421, 4435, 4448, 4461, 4474,
    4487, 4500, 4512, 4525, 4537, 4549, 4561, 4573, 4585, 4596, 4608, 4619, 4630, 4641, 4652, 4663,
    4674, 4685, 4695, 4705, 4716, 4726, 4736, 4746, 4756, 4766, 4775, 4785, 4795, 4804, 4813, 4823,
    4832, 4841, 4850, 4859, 4868, 4876, 4885, 4894, 4902, 4911, 4919, 4928, 4936, 4944, 4952, 4960,
};

enum {
    LATE_ENDGAME_MEN = 10, // at most this many men: "few pieces left" in margins
    TT_RULE50_MAX = 90,    // no table cut-offs near the fifty-move rule: the table knows nothing of it
};

// What the steps of one node share.
typedef struct Node {
    int alpha, beta, depth, ply;
    bool root, pv, cut; // cut: expected to fail high
    bool in_check, improving, endgame;
    TTEntry tt;
    int raw_eval; // as evaluated, for the table
    int eval;     // corrected, sharpened by the table's bound: what pruning compares with
} Node;

static int search(SearchThread *t, StackEntry *ss, int alpha, int beta, int depth, bool cut);

// --- margins

// How far below alpha a quiet move may start at a depth; grows with depth.
static int futility_margin(const Params *p, int depth, bool endgame) {
    int margin;
    if (p->FutilityFormula == 0) {
        margin = p->FutilityBase + p->FutilityScale * depth;
    } else {
        const int table[] = {p->FutilityMargin1, p->FutilityMargin2, p->FutilityMargin3, p->FutilityMargin4,
                             p->FutilityMargin5, p->FutilityMargin6, p->FutilityMargin7, p->FutilityMargin8};
        margin = table[int_clamp(depth, 1, 8) - 1];
    }
    return endgame ? margin * p->FutilityEndgameScale / 100 : margin;
}

// The late-move reduction to start from, in 1/1024 ply.
static int base_reduction(const Params *p, int depth, int number, bool noisy) {
    int product = Ln[int_min(depth, 127)] * Ln[int_min(number, 127)] / 1024;
    if (noisy) return p->LmrNoisyBase + product * 1000 / p->LmrNoisyDiv;
    return p->LmrBase + product * 1000 / p->LmrDiv;
}

// The fitted chance in 1/10000 that a quiet move with this history is good at a depth of 1 to 6.
static int chance_good(const Params *p, int band, int bucket) {
    const int table[3][6] = {
        {p->ProbGood1A, p->ProbGood1B, p->ProbGood1C, p->ProbGood1D, p->ProbGood1E, p->ProbGood1F},
        {p->ProbGood2A, p->ProbGood2B, p->ProbGood2C, p->ProbGood2D, p->ProbGood2E, p->ProbGood2F},
        {p->ProbGood3A, p->ProbGood3B, p->ProbGood3C, p->ProbGood3D, p->ProbGood3E, p->ProbGood3F},
    };
    return table[band][bucket];
}

static int history_bucket(int history) {
    return history < -8000   ? 0
           : history < -3000 ? 1
           : history < 0     ? 2
           : history < 3000  ? 3
           : history < 8000  ? 4
                             : 5;
}

// Whether the moving piece is attacked and not defended where it stands.
static bool is_hanging(const Position *pos, int square) {
    Bitboard occupied = position_occupied(pos);
    return position_attacked(pos, !pos->stm, square, occupied) &&
           !position_attacked(pos, pos->stm, square, occupied);
}

// --- whole-node pruning: each gives a score to return (any, if the search was stopped), or SCORE_NONE

// Step 7. Reverse futility. The static score is so far above beta that a quiet opponent cannot bring it down.
static int reverse_futility(SearchThread *t, const Node *n) {
    const Params *p = &t->shared->params;
    if (!p->ReverseFutility || n->depth > p->RfpMaxDepth || score_is_decisive(n->eval) ||
        score_is_loss(n->beta))
        return SCORE_NONE;
    if (n->eval - p->RfpMargin * n->depth + (n->improving ? p->RfpImproving : 0) < n->beta) return SCORE_NONE;
    t->run.count[ID_ReverseFutility]++;
    return (2 * n->beta + n->eval) / 3;
}

// Step 8. Razoring. The static score is so far below alpha that only captures could save it: ask quiescence.
static int razoring(SearchThread *t, StackEntry *ss, const Node *n) {
    const Params *p = &t->shared->params;
    if (!p->Razoring || n->depth > p->RazorMaxDepth || score_is_decisive(n->alpha)) return SCORE_NONE;
    int margin = n->endgame ? p->RazorMarginEndgame : p->RazorMargin;
    if (n->eval + margin * n->depth > n->alpha) return SCORE_NONE;
    int score = quiesce(t, ss, n->alpha, n->alpha + 1, 0);
    if (node_stopped(t)) return 0;
    if (score > n->alpha || score_is_decisive(score)) return SCORE_NONE;
    t->run.count[ID_Razoring]++;
    return score;
}

// Step 9. Null move. If passing still beats beta in a reduced search, a real move will too, unless it is
// zugzwang: so not without pieces, never twice in a row, and verified when deep.
static int null_move(SearchThread *t, StackEntry *ss, const Node *n) {
    const Params *p = &t->shared->params;
    if (!p->NullMove || n->depth < p->NullMinDepth || ss[-1].move == MOVE_NULL ||
        n->ply < t->run.null_min_ply)
        return SCORE_NONE;
    if (n->eval < n->beta || ss->static_eval < n->beta + p->NullMarginBase - p->NullMarginDepth * n->depth)
        return SCORE_NONE;
    if (bb_count(position_officers(&ss->pos, ss->pos.stm)) < p->NullMinPieces || score_is_loss(n->beta))
        return SCORE_NONE;
    if (n->tt.hit && (n->tt.bound & BOUND_UPPER) && n->tt.score < n->beta) return SCORE_NONE;
    int reduction = p->NullBase + p->NullDepthScale * n->depth +
                    int_min((n->eval - n->beta) * 1024 / p->NullEvalScale, p->NullEvalMax);
    int depth = n->depth - reduction / 1024;
    node_make_null(t, ss);
    int score = -search(t, ss + 1, -n->beta, -n->beta + 1, depth, !n->cut);
    if (node_stopped(t)) return 0;
    if (score < n->beta) return SCORE_NONE;
    if (score_is_win(score)) score = n->beta; // a mate against a passing side proves nothing
    if (p->NullVerification && n->depth >= p->NullVerifyDepth && t->run.null_min_ply == 0) {
        t->run.count[ID_NullVerification]++;
        t->run.null_min_ply = n->ply + 3 * int_max(depth, 1) / 4 + 1;
        int verified = search(t, ss, n->beta - 1, n->beta, int_max(depth, 1), false);
        t->run.null_min_ply = 0;
        if (node_stopped(t)) return 0;
        if (verified < n->beta) return SCORE_NONE;
    }
    t->run.count[ID_NullMove]++;
    return score;
}

// Step 10. ProbCut. A good capture that beats beta by a margin in a reduced search will hardly fail in a full
// one.
static int probcut(SearchThread *t, StackEntry *ss, const Node *n) {
    const Params *p = &t->shared->params;
    int target = n->beta + p->ProbCutMargin - (n->improving ? p->ProbCutImproving : 0);
    if (!p->ProbCut || n->depth < p->ProbCutMinDepth || score_is_decisive(n->beta) ||
        score_is_decisive(target))
        return SCORE_NONE;
    if (n->tt.hit && n->tt.depth >= n->depth - p->ProbCutReduction && n->tt.score != SCORE_NONE &&
        n->tt.score < target)
        return SCORE_NONE;
    MovePicker picker;
    movepick_noisy(&picker, t, ss, n->tt.move, target - ss->static_eval);
    for (Move move; (move = movepick_next(&picker)) != MOVE_NONE;) {
        if (move == ss->excluded) continue;
        node_make(t, ss, move);
        int score = -quiesce(t, ss + 1, -target, -target + 1, 0);
        if (score >= target && n->depth > p->ProbCutReduction)
            score = -search(t, ss + 1, -target, -target + 1, n->depth - p->ProbCutReduction, !n->cut);
        if (node_stopped(t)) return 0;
        if (score < target) continue;
        t->run.count[ID_ProbCut]++;
        if (p->UseTT)
            tt_store(&t->shared->tt, ss->pos.key, n->ply, move, score, n->raw_eval,
                     n->depth - p->ProbCutReduction + 1, BOUND_LOWER, n->tt.pv);
        return score_is_decisive(score) ? n->beta : score - (target - n->beta);
    }
    return SCORE_NONE;
}

// Step 11. Classic multi-cut. Several of the first moves beat beta in reduced searches: one of them will in
// full.
static int classic_multicut(SearchThread *t, StackEntry *ss, const Node *n) {
    const Params *p = &t->shared->params;
    if (!p->ClassicMultiCut || !n->cut || n->depth < p->MultiCutMinDepth || score_is_decisive(n->beta))
        return SCORE_NONE;
    MovePicker picker;
    movepick_main(&picker, t, ss, n->tt.move);
    int cuts = 0, seen = 0;
    for (Move move; seen < p->MultiCutMoves && (move = movepick_next(&picker)) != MOVE_NONE; seen++) {
        node_make(t, ss, move);
        int score = -search(t, ss + 1, -n->beta, -n->beta + 1, n->depth - 1 - p->MultiCutReduction, false);
        if (node_stopped(t)) return 0;
        if (score < n->beta || ++cuts < p->MultiCutThreshold) continue;
        t->run.count[ID_ClassicMultiCut]++;
        return n->beta;
    }
    return SCORE_NONE;
}

// --- pruning and extending one move

// What is known of the move that is about to be searched.
typedef struct Candidate {
    Move move;
    int number; // 1 for the first legal move
    bool noisy, gives_check, refutation;
    int history;
    int reduction; // in 1/1024 ply
    int new_depth, reduced_depth;
} Candidate;

// Step 14a. Futility. Nothing that this quiet move does can lift the static score to alpha.
static bool futile(const SearchThread *t, const StackEntry *ss, const Node *n, const Candidate *c) {
    const Params *p = &t->shared->params;
    const Position *pos = &ss->pos;
    int depth = p->FutilityLmrDepth ? c->reduced_depth : n->depth;
    if (!p->FutilityPruning || n->in_check || depth > p->FutilityMaxDepth) return false;
    if (ss->static_eval + futility_margin(p, depth, n->endgame) > n->alpha) return false;
    if (p->FutilityKeepCaptures && position_is_capture(pos, c->move)) return false;
    if (p->FutilityKeepPromotions && move_kind(c->move) == MOVE_PROMOTION) return false;
    if (p->FutilityKeepChecks && c->gives_check) return false;
    if (p->FutilityKeepKiller && c->refutation) return false;
    if (p->FutilityKeepSee && position_see(pos, c->move, 1)) return false;
    return !p->FutilityKeepHanging || !is_hanging(pos, move_from(c->move));
}

// Step 14b. Extended futility. Even with what it captures the move stays far below alpha.
static bool extended_futile(const SearchThread *t, const StackEntry *ss, const Node *n, const Candidate *c) {
    const Params *p = &t->shared->params;
    if (!p->ExtendedFutility || n->in_check || c->gives_check || n->depth > p->ExtFutilityMaxDepth)
        return false;
    if (move_kind(c->move) == MOVE_PROMOTION) return false;
    int victim = position_captured(&ss->pos, c->move), gain = victim == NO_TYPE ? 0 : SeeValues[victim];
    return ss->static_eval + futility_margin(p, n->depth, n->endgame) + p->ExtFutilityExtra + gain <=
           n->alpha;
}

// Step 14. Whether a move can be skipped unsearched. Never the first, never while we are being mated, never
// at the root.
static bool prune_move(SearchThread *t, StackEntry *ss, const Node *n, const Candidate *c,
                       MovePicker *picker) {
    const Params *p = &t->shared->params;
    uint64_t *count = t->run.count;
    bool quiet = !c->noisy;
    if (quiet && p->LateMovePruning && !n->in_check && n->depth <= p->LmpMaxDepth &&
        100 * c->number >= (p->LmpBase + p->LmpScale * n->depth * n->depth) / (n->improving ? 1 : 2)) {
        picker->skip_quiets = true;
        count[ID_LateMovePruning]++;
        return !c->gives_check;
    }
    if ((quiet || !p->FutilityKeepCaptures) && futile(t, ss, n, c)) {
        count[ID_FutilityPruning]++;
        return true;
    }
    if (extended_futile(t, ss, n, c)) {
        count[ID_ExtendedFutility]++;
        return true;
    }
    if (quiet && p->HistoryPruning && c->reduced_depth <= p->HistPruneMaxDepth &&
        c->history < -p->HistPruneScale * n->depth) {
        count[ID_HistoryPruning]++;
        return true;
    }
    if (quiet && p->ProbabilisticPruning && !n->in_check && !c->gives_check && n->depth <= 6 &&
        c->number > p->ProbPruneMinMoves &&
        chance_good(p, (n->depth - 1) / 2, history_bucket(c->history)) < p->ProbPruneMax) {
        count[ID_ProbabilisticPruning]++;
        return true;
    }
    if (p->SeePruning && n->depth <= p->SeeMaxDepth) {
        int floor = quiet ? -p->SeeQuietMargin * c->reduced_depth * c->reduced_depth
                          : -p->SeeCaptureMargin * n->depth;
        if (!position_see(&ss->pos, c->move, floor)) {
            count[ID_SeePruning]++;
            return true;
        }
    }
    return false;
}

// Step 15. Extensions of the table move, by a search of the node without it. If everything else fails far
// below, it is singular and deserves depth; if something else beats beta too, the node is cut (multi-cut,
// *cut_score is set).
static int extension(SearchThread *t, StackEntry *ss, const Node *n, Move move, int *cut_score) {
    const Params *p = &t->shared->params;
    const TTEntry *tt = &n->tt;
    if (!p->SingularExtension || n->root || ss->excluded != MOVE_NONE || move != tt->move ||
        n->depth < p->SingularMinDepth)
        return 0;
    if (tt->depth < n->depth - 3 || !(tt->bound & BOUND_LOWER) || score_is_decisive(tt->score) ||
        n->ply >= 2 * t->run.depth)
        return 0;
    int target = tt->score - p->SingularMargin * n->depth / 64;
    ss->excluded = move;
    int score = search(t, ss, target - 1, target, (n->depth - 1) / 2, n->cut);
    ss->excluded = MOVE_NONE;
    if (node_stopped(t)) return 0;
    if (score < target) {
        t->run.count[ID_SingularExtension]++;
        if (p->DoubleExtension && !n->pv && score < target - p->DoubleMargin && ss->doubles <= p->DoubleMax) {
            t->run.count[ID_DoubleExtension]++;
            return 2;
        }
        return 1;
    }
    if (p->MultiCut && score >= n->beta && !score_is_decisive(score)) {
        t->run.count[ID_MultiCut]++;
        *cut_score = score;
        return 0;
    }
    if (p->NegativeExtension && (tt->score >= n->beta || n->cut)) {
        t->run.count[ID_NegativeExtension]++;
        return tt->score >= n->beta ? -2 : -1;
    }
    return 0;
}

// Step 16a. How much less deep a late move is searched: a ladder of reasons.
static int late_move_reduction(const SearchThread *t, const StackEntry *ss, const Node *n, const Candidate *c,
                               bool tt_noisy) {
    const Params *p = &t->shared->params;
    int r = c->reduction;
    if (n->cut) r += p->LmrCutMore;                           // expected to fail high on another move
    if (!n->improving) r += p->LmrNotImproving;               // going downhill
    if (tt_noisy) r += p->LmrTtCapture;                       // a capture is best: quiets rarely matter
    if (ss[1].cutoffs > 3) r += p->LmrCutoffMore;             // replies refute us again and again
    if (n->pv) r -= p->LmrPvLess;                             // the line matters
    if (ss->tt_pv) r -= p->LmrTtPvLess;                       // it did once
    if (n->endgame) r -= p->LmrEndgameLess;                   // few pieces, long plans
    if (c->refutation) r -= p->LmrKillerLess;                 // refuted a sibling
    if (c->gives_check) r -= p->LmrCheckLess;                 // forcing
    if (!c->noisy) r -= c->history * 1024 / p->LmrHistoryDiv; // by its record
    return int_min(r / 1024, p->LmrMaxReduction);
}

// Step 16. PVS. The first move gets the whole window; later ones must prove in a zero window, reduced at
// first, that they deserve it: reduced -> full depth -> full window.
static int search_move(SearchThread *t, StackEntry *ss, const Node *n, Candidate *c, int best,
                       bool tt_noisy) {
    const Params *p = &t->shared->params;
    int alpha = n->alpha, new_depth = c->new_depth, score = SCORE_NONE;
    int low = p->UsePVS ? -alpha - 1 : -n->beta;
    ss->reduction = 0;
    if (p->LateMoveReductions && n->depth >= p->LmrDepthThreshold &&
        c->number > p->LmrMoveThreshold + (n->root ? 1 : 0)) {
        int reduction = late_move_reduction(t, ss, n, c, tt_noisy);
        int reduced = int_clamp(new_depth - reduction, 1, new_depth + (n->pv ? 1 : 0));
        t->run.count[ID_LateMoveReductions] += reduced < new_depth;
        ss->reduction = reduction;
        score = -search(t, ss + 1, low, -alpha, reduced, true);
        ss->reduction = 0;
        if (score > alpha && reduced < new_depth) {
            new_depth += score > best + p->LmrDeeper;
            new_depth -= score < best + 8;
            if (reduced < new_depth) score = -search(t, ss + 1, low, -alpha, new_depth, !n->cut);
        }
    } else if (!n->pv || c->number > 1 || !p->UsePVS) {
        score = -search(t, ss + 1, low, -alpha, new_depth, !n->cut);
    }
    if (n->pv && p->UsePVS && (c->number == 1 || score > alpha)) {
        t->run.count[ID_UsePVS] += c->number > 1;
        score = -search(t, ss + 1, -n->beta, -alpha, new_depth, false);
    }
    return score;
}

// The root keeps score and line of each move that is best so far; all others fall to the bottom of the next
// sort.
static void root_update(SearchThread *t, RootMove *rm, int number, int score, int alpha, const PV *tail,
                        uint64_t nodes) {
    rm->nodes += nodes;
    if (number == 1 || score > alpha) {
        rm->score = score;
        rm->average = rm->average == -SCORE_INFINITE ? score : (rm->average + score) / 2;
        rm->seldepth = t->run.seldepth;
        node_pv_set(&rm->pv, rm->move, tail);
    } else {
        rm->score = -SCORE_INFINITE;
    }
}

static RootMove *root_find(SearchThread *t, Move move) {
    for (int i = t->run.multipv_index; i < t->root_count; i++)
        if (t->root_moves[i].move == move) return &t->root_moves[i];
    return NULL;
}

static void root_currmove(SearchThread *t, Move move, int number, int depth) {
    const Search *s = t->shared;
    if (t->index == 0 && s->observer.currmove && timeman_elapsed(&s->time) > 3000)
        s->observer.currmove(s->observer.context, &s->root, move, number + t->run.multipv_index, depth);
}

// --- the node

static int search(SearchThread *t, StackEntry *ss, int alpha, int beta, int depth, bool cut) {
    Search *s = t->shared;
    const Params *p = &s->params;
    const Position *pos = &ss->pos;
    Node n = {.ply = node_ply(t, ss), .pv = beta - alpha > 1, .cut = cut};
    PV *pv = &t->pvs[n.ply];
    n.root = n.ply == 0;
    pv->count = 0;

    // Step 1. The end of the depth: let quiescence settle the captures.
    if (depth <= 0) return quiesce(t, ss, alpha, beta, 0);

    // Step 2. Stop, draws, the end of the stack.
    if (node_must_stop(t)) return 0;
    if (n.pv) t->run.seldepth = int_max(t->run.seldepth, n.ply);
    if (!n.root && p->DrawRules) {
        if (node_is_draw(t, ss)) return node_draw_score(t);
        if (p->UpcomingRepetition && alpha < SCORE_DRAW && node_can_repeat(t, ss)) {
            t->run.count[ID_UpcomingRepetition]++;
            alpha = node_draw_score(t);
            if (alpha >= beta) return alpha;
        }
    }
    if (n.ply >= MAX_PLY - 1) return pos->checkers ? SCORE_DRAW : node_evaluate(t, ss);

    // Step 3. Mate distance. A shorter mate is already certain on either side.
    if (!n.root && p->MateDistance) {
        alpha = int_max(alpha, node_mated_in(n.ply));
        beta = int_min(beta, SCORE_MATE - n.ply - 1);
        if (alpha >= beta) {
            t->run.count[ID_MateDistance]++;
            return alpha;
        }
    }
    n.alpha = alpha;
    n.beta = beta;
    n.depth = depth;
    n.in_check = pos->checkers != 0;
    n.endgame = bb_count(position_occupied(pos)) <= LATE_ENDGAME_MEN;
    ss[1].excluded = MOVE_NONE;
    ss[2].killers[0] = ss[2].killers[1] = MOVE_NONE;
    ss[2].cutoffs = 0;
    ss->doubles = ss[-1].doubles;
    Move excluded = ss->excluded;

    // Step 4. The transposition table may know the answer, or at least the move to try first.
    if (p->UseTT) n.tt = tt_probe(&s->tt, pos->key, n.ply, pos->rule50);
    if (n.tt.hit && n.tt.move != MOVE_NONE && !movegen_is_legal(pos, n.tt.move)) n.tt.move = MOVE_NONE;
    if (n.root) n.tt.move = p->MoveOrdering ? t->root_moves[t->run.multipv_index].move : MOVE_NONE;
    bool tt_noisy = n.tt.move != MOVE_NONE && position_is_noisy(pos, n.tt.move);
    if (excluded == MOVE_NONE) ss->tt_pv = n.pv || (n.tt.hit && n.tt.pv);
    if (!n.pv && excluded == MOVE_NONE && n.tt.hit && n.tt.score != SCORE_NONE &&
        pos->rule50 < TT_RULE50_MAX && (p->TtEqualDepth ? n.tt.depth == depth : n.tt.depth >= depth) &&
        (n.tt.bound & (n.tt.score >= beta ? BOUND_LOWER : BOUND_UPPER))) {
        t->run.count[ID_UseTT]++;
        if (n.tt.score >= beta && n.tt.move != MOVE_NONE && !tt_noisy)
            learn_quiet(t, ss, n.tt.move, learn_bonus(p, depth));
        return n.tt.score;
    }

    // Step 5. Solved endgames. Our own tables know the distance to mate; Syzygy's know the result, which
    // bounds the score.
    int best = -SCORE_INFINITE, ceiling = SCORE_INFINITE;
    TableScore known = {0, BOUND_NONE};
    if (!n.root && excluded == MOVE_NONE) known = tables_probe(&s->tables, pos, n.ply, depth);
    if (known.bound != BOUND_NONE) {
        node_count_tbhit(t);
        if (known.bound == BOUND_EXACT ||
            (known.bound == BOUND_LOWER ? known.score >= beta : known.score <= alpha)) {
            int stored = int_min(depth + 6, MAX_PLY - 1);
            if (p->UseTT)
                tt_store(&s->tt, pos->key, n.ply, MOVE_NONE, known.score, SCORE_NONE, stored, known.bound,
                         ss->tt_pv);
            return known.score;
        }
        if (n.pv && known.bound == BOUND_LOWER) n.alpha = int_max(alpha, best = known.score);
        if (n.pv && known.bound == BOUND_UPPER) ceiling = known.score;
    }

    // Step 6. The static score, corrected, sharpened by the table; and whether we are better off than a move
    // ago.
    if (n.in_check) {
        n.raw_eval = n.eval = ss->static_eval = SCORE_NONE;
    } else if (excluded != MOVE_NONE) {
        n.raw_eval = n.eval = ss->static_eval;
    } else {
        n.raw_eval = n.tt.hit && n.tt.eval != SCORE_NONE ? n.tt.eval : node_evaluate(t, ss);
        n.eval = ss->static_eval = learn_corrected(t, ss, n.raw_eval);
        if (node_tt_sharpens(&n.tt, n.eval)) n.eval = n.tt.score;
        if (!n.tt.hit && p->UseTT)
            tt_store(&s->tt, pos->key, n.ply, MOVE_NONE, SCORE_NONE, n.raw_eval, TT_DEPTH_NONE, BOUND_NONE,
                     ss->tt_pv);
    }
    int earlier = ss[-2].static_eval != SCORE_NONE ? ss[-2].static_eval : ss[-4].static_eval;
    n.improving = !n.in_check && earlier != SCORE_NONE && ss->static_eval > earlier;

    // Steps 7 to 11. Prune the whole node: never on the principal variation, in check, or without a move.
    if (!n.pv && !n.in_check && excluded == MOVE_NONE) {
        int score;
        if ((score = reverse_futility(t, &n)) != SCORE_NONE) return score;
        if ((score = razoring(t, ss, &n)) != SCORE_NONE) return score;
        if ((score = null_move(t, ss, &n)) != SCORE_NONE) return score;
        if ((score = probcut(t, ss, &n)) != SCORE_NONE) return score;
        if ((score = classic_multicut(t, ss, &n)) != SCORE_NONE) return score;
    }

    // Step 12. Internal iterative reduction. Without a table move ordering is poor: search less deep now, the
    // table will know better next time. In check, a ply more.
    if (p->InternalIterativeReduction && depth >= p->IirMinDepth && n.tt.move == MOVE_NONE && (n.pv || cut)) {
        t->run.count[ID_InternalIterativeReduction]++;
        n.depth--;
    }
    if (p->CheckExtension && n.in_check && !n.root && n.ply < 2 * t->run.depth) {
        t->run.count[ID_CheckExtension]++;
        n.depth++;
    }

    // Step 13. The moves, best first.
    MovePicker picker;
    MoveList quiets, noisies; // tried and failed, to learn from
    quiets.count = noisies.count = 0;
    int number = 0;
    Move best_move = MOVE_NONE;
    movepick_main(&picker, t, ss, n.tt.move);
    for (Move move; (move = movepick_next(&picker)) != MOVE_NONE;) {
        if (move == excluded) continue;
        RootMove *rm = NULL;
        if (n.root && !(rm = root_find(t, move))) continue;
        Candidate c = {.move = move, .number = ++number, .noisy = position_is_noisy(pos, move)};
        if (n.root) root_currmove(t, move, number, depth);
        c.gives_check = position_gives_check(pos, move);
        c.refutation =
            !c.noisy && (move == ss->killers[0] || move == ss->killers[1] || move == picker.refutations[2]);
        c.history = c.noisy ? 0 : movepick_history(t, ss, move);
        c.reduction = p->LateMoveReductions ? base_reduction(p, n.depth, number, c.noisy) : 0;
        c.reduced_depth =
            int_max(0, n.depth - 1 - c.reduction / 1024 + c.history / int_max(1, p->LmrHistoryDiv));

        // Step 14. Pruning of single moves.
        if (!n.root && !score_is_loss(best) && position_officers(pos, pos->stm) &&
            prune_move(t, ss, &n, &c, &picker))
            continue;

        // Step 15. Extensions.
        int cut_score = SCORE_NONE, extra = extension(t, ss, &n, move, &cut_score);
        if (node_stopped(t)) return 0;
        if (cut_score != SCORE_NONE) return cut_score;
        ss->doubles = ss[-1].doubles + (extra >= 2);
        c.new_depth = n.depth - 1 + extra;

        // Step 16. Search it.
        uint64_t before = node_count(t);
        node_make(t, ss, move);
        int score = search_move(t, ss, &n, &c, best, tt_noisy);
        if (node_stopped(t)) return 0;
        if (rm) root_update(t, rm, number, score, n.alpha, &t->pvs[n.ply + 1], node_count(t) - before);
        if (!c.noisy && !n.in_check && n.depth <= 6 && number > 1) {
            int band = (n.depth - 1) / 2, bucket = history_bucket(c.history);
            t->run.prob_tried[band][bucket]++;
            t->run.prob_good[band][bucket] += score > n.alpha;
        }
        if (score > best) {
            best = score;
            if (score > n.alpha) {
                best_move = move;
                if (n.pv) node_pv_set(pv, move, &t->pvs[n.ply + 1]);
                if (score >= beta) {
                    ss->cutoffs++;
                    t->run.cut_nodes++;
                    t->run.cut_first += number == 1;
                    break;
                }
                n.alpha = score;
            }
        }
        if (move != best_move) {
            MoveList *tried = c.noisy ? &noisies : &quiets;
            if (tried->count < 64) tried->moves[tried->count++] = move;
        }
    }

    // Step 17. Mate, stalemate; learn from the result; remember it.
    if (p->SeeOrdering) t->run.count[ID_SeeOrdering] += (uint64_t)picker.bad_count;
    if (number == 0) return excluded != MOVE_NONE ? alpha : n.in_check ? node_mated_in(n.ply) : SCORE_DRAW;
    if (best == -SCORE_INFINITE) best = alpha; // every move was pruned
    best = int_min(best, ceiling);
    if (best >= beta) {
        learn_cut(t, ss, best_move, &quiets, &noisies, depth);
        if (!score_is_decisive(best) && !score_is_decisive(beta)) best = (best * depth + beta) / (depth + 1);
    } else if (best_move == MOVE_NONE && ss[-1].move != MOVE_NULL && !n.root && ss[-1].piece != NO_PIECE &&
               ss[-1].move != MOVE_NONE && !position_is_noisy(&ss[-1].pos, ss[-1].move)) {
        // The move before refuted all of ours: it deserves credit.
        learn_quiet(t, ss - 1, ss[-1].move, learn_bonus(p, depth) / 2);
    }
    if (excluded == MOVE_NONE && !(n.root && t->run.multipv_index > 0)) {
        int bound = best >= beta ? BOUND_LOWER : best_move != MOVE_NONE && n.pv ? BOUND_EXACT : BOUND_UPPER;
        if (p->UseTT) tt_store(&s->tt, pos->key, n.ply, best_move, best, n.raw_eval, depth, bound, ss->tt_pv);
        bool quiet_best = best_move == MOVE_NONE || !position_is_noisy(pos, best_move);
        bool tells = !(bound == BOUND_LOWER && best <= ss->static_eval) &&
                     !(bound == BOUND_UPPER && best >= ss->static_eval);
        if (p->CorrectionHistory && !n.in_check && quiet_best && tells && !score_is_decisive(best))
            learn_error(t, ss, depth, best - ss->static_eval);
    }
    return best;
}

int search_root(SearchThread *t, int alpha, int beta, int depth) {
    return search(t, t->stack + STACK_BELOW, alpha, beta, depth, false);
}
