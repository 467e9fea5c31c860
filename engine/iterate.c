// SPDX-License-Identifier: GPL-3.0-or-later
// Around the tree: root moves, iterative deepening, aspiration windows, when to stop, and the vote between
// threads.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/movepick.h"
#include "engine/node.h"
#include "engine/search.h"

uint64_t search_nodes(const Search *search) {
    uint64_t sum = 0;
    for (int i = 0; i < search->thread_count; i++)
        sum += atomic_load_explicit(&search->threads[i]->run.nodes, memory_order_relaxed);
    return sum;
}

static uint64_t search_tbhits(const Search *search) {
    uint64_t sum = 0;
    for (int i = 0; i < search->thread_count; i++)
        sum += atomic_load_explicit(&search->threads[i]->run.tbhits, memory_order_relaxed);
    return sum;
}

static bool wanted(const SearchLimits *limits, Move move) {
    const MoveList *list = &limits->searchmoves;
    for (int i = 0; i < list->count; i++)
        if (list->moves[i] == move) return true;
    return list->count == 0;
}

// The stack below the root: no moves, no scores, histories that nothing is learned into twice.
static void prepare_stack(SearchThread *t) {
    for (int i = 0; i < STACK_BELOW + MAX_PLY + STACK_ABOVE; i++) {
        StackEntry *ss = &t->stack[i];
        ss->move = ss->excluded = ss->killers[0] = ss->killers[1] = MOVE_NONE;
        ss->piece = NO_PIECE;
        ss->static_eval = SCORE_NONE;
        ss->continuation = t->hist.continuation[NO_PIECE][0];
        ss->cutoffs = ss->doubles = ss->reduction = 0;
        ss->tt_pv = false;
    }
}

void search_prepare(SearchThread *t) {
    const Search *s = t->shared;
    t->run = (SearchRun){0};
    prepare_stack(t);
    if (s->net) nnue_prepare(&t->nnue, s->net);
    StackEntry *ss = t->stack + STACK_BELOW;
    ss->pos = s->root;
    t->key_count = s->history.count;
    memcpy(t->keys, s->history.keys, (size_t)s->history.count * sizeof *t->keys);
    MovePicker picker;
    movepick_main(&picker, t, ss, MOVE_NONE);
    t->root_count = 0;
    int best_rank = INT_MIN;
    for (Move move; (move = movepick_next(&picker)) != MOVE_NONE;) {
        if (!wanted(&s->limits, move)) continue;
        int rank = tables_rank(&s->tables, move);
        if (rank < best_rank) continue; // it would throw the result away
        if (rank > best_rank) t->root_count = 0;
        best_rank = rank;
        RootMove *rm = &t->root_moves[t->root_count++];
        rm->move = move;
        rm->score = rm->previous = rm->average = -SCORE_INFINITE;
        rm->seldepth = 0;
        rm->nodes = 0;
        rm->pv.count = 1;
        rm->pv.moves[0] = move;
    }
}

// Sorts root moves from index on: better score first, then better previous score, else as they stood.
static void sort_root(SearchThread *t, int from) {
    for (int i = from + 1; i < t->root_count; i++) {
        RootMove moved = t->root_moves[i];
        int at = i;
        for (; at > from; at--) {
            const RootMove *before = &t->root_moves[at - 1];
            if (before->score > moved.score ||
                (before->score == moved.score && before->previous >= moved.previous))
                break;
            t->root_moves[at] = *before;
        }
        if (at != i) t->root_moves[at] = moved;
    }
}

static void report(SearchThread *t, int index, int score, int bound) {
    const Search *s = t->shared;
    if (t->index != 0 || !s->observer.info) return;
    const RootMove *rm = &t->root_moves[index];
    SearchInfo info = {
        .depth = t->run.depth,
        .seldepth = int_max(rm->seldepth, 1),
        .multipv = index + 1,
        .score = tables_root_score(&s->tables, rm->move, score),
        .bound = bound,
        .nodes = search_nodes(s),
        .tbhits = search_tbhits(s),
        .ms = timeman_elapsed(&s->time),
        .hashfull = tt_hashfull(&s->tt),
        .pv = &rm->pv,
        .root = &s->root,
    };
    s->observer.info(s->observer.context, &info);
}

// Searches the root with a window around the last score, wider after each failure.
static void aspirate(SearchThread *t) {
    const Params *p = &t->shared->params;
    int depth = t->run.depth, index = t->run.multipv_index, expected = t->root_moves[index].average;
    int delta = p->AspirationDelta + t->index % 8, alpha = -SCORE_INFINITE, beta = SCORE_INFINITE,
        failed_high = 0;
    bool narrow = p->Aspiration && depth >= p->AspirationMinDepth && expected != -SCORE_INFINITE &&
                  !score_is_decisive(expected);
    if (narrow) {
        delta += expected * expected / 16384;
        alpha = int_max(expected - delta, -SCORE_INFINITE);
        beta = int_min(expected + delta, SCORE_INFINITE);
    }
    for (;;) {
        t->run.seldepth = 0;
        int score = search_root(t, alpha, beta, int_max(1, depth - failed_high));
        sort_root(t, index);
        if (node_stopped(t) || (score > alpha && score < beta)) return;
        t->run.count[ID_Aspiration]++;
        bool failed_low = score <= alpha;
        if (timeman_elapsed(&t->shared->time) > 1000)
            report(t, index, score, failed_low ? BOUND_UPPER : BOUND_LOWER);
        bool open = delta > 500 || score_is_decisive(score); // hunting a mate: no more small steps
        if (failed_low) {
            beta = (alpha + beta) / 2;
            alpha = open ? -SCORE_INFINITE : int_max(score - delta, -SCORE_INFINITE);
            failed_high = 0;
        } else {
            beta = open ? SCORE_INFINITE : int_min(score + delta, SCORE_INFINITE);
            if (p->AspirationReduce && !score_is_decisive(score)) {
                t->run.count[ID_AspirationReduce]++;
                failed_high++;
            }
        }
        delta += 1 + delta * p->AspirationGrowth / 100;
    }
}

// Whether thread 0 should end the search after a finished iteration.
static bool finished(SearchThread *t, int stable, int recent) {
    const Search *s = t->shared;
    const RootMove *best = &t->root_moves[0];
    if (s->limits.depth && t->run.depth >= s->limits.depth) return true;
    if (s->limits.mate && best->score >= SCORE_MATE - 2 * s->limits.mate + 1) return true;
    if (s->limits.infinite || atomic_load_explicit(&s->pondering, memory_order_relaxed)) return false;
    if (!s->time.timed && s->time.soft_nodes == UINT64_MAX) return false;
    bool proven = score_is_mate(best->score) && t->run.depth > 2 * (SCORE_MATE - abs(best->score)) + 4;
    if (proven && s->time.timed && !s->limits.mate) return true;
    uint64_t nodes = atomic_load_explicit(&t->run.nodes, memory_order_relaxed);
    TimeFacts facts = {
        .stable = stable,
        .score_drop = recent - best->score,
        .best_fraction = nodes ? (double)best->nodes / (double)nodes : 0,
        .legal_moves = t->root_count,
        .nodes = search_nodes(s),
        .elapsed_ms = timeman_elapsed(&s->time),
    };
    return timeman_enough(&s->time, &s->params, &facts);
}

// Plays a line on to the mate where the solved endgames know the way.
static void complete_line(const Search *s, PV *pv) {
    Position pos = s->root, after;
    for (int i = 0; i < pv->count; i++, pos = after) position_make(&after, &pos, pv->moves[i]);
    for (Move move; pv->count < MAX_PLY && (move = tables_continue(&s->tables, &pos)) != MOVE_NONE;
         pos = after) {
        position_make(&after, &pos, move);
        pv->moves[pv->count++] = move;
    }
}

void search_run(SearchThread *t) {
    Search *s = t->shared;
    const int lines = int_min(s->multipv, t->root_count);
    const int last = s->limits.depth ? int_min(s->limits.depth, MAX_PLY - 1) : MAX_PLY - 1;
    const bool deepen = s->params.IterativeDeepening || !s->limits.depth;
    // Every other helper stays a ply ahead: what it leaves in the table is deeper than what thread 0 needs.
    const int first = deepen ? int_min(1 + t->index % 2, last) : last;
    int stable = 0, recent = -SCORE_INFINITE;
    Move standing = MOVE_NONE;
    for (t->run.depth = first; t->run.depth <= last && t->root_count > 0; t->run.depth++) {
        t->run.count[ID_IterativeDeepening]++;
        for (int i = 0; i < t->root_count; i++) t->root_moves[i].previous = t->root_moves[i].score;
        for (int line = 0; line < lines; line++) {
            t->run.multipv_index = line;
            aspirate(t);
            if (node_stopped(t)) break;
        }
        t->run.multipv_index = 0;
        bool stopped = node_stopped(t);
        if (lines > 1) sort_root(t, 0);
        if (!stopped) t->run.completed_depth = t->run.depth;
        for (int line = 0; line < lines && t->index == 0; line++) {
            RootMove *rm = &t->root_moves[line];
            if (rm->score == -SCORE_INFINITE) continue;
            if (s->observer.info) complete_line(s, &rm->pv);
            report(t, line, rm->score, BOUND_EXACT);
        }
        if (stopped) break;
        const RootMove *best = &t->root_moves[0];
        stable = best->move == standing ? stable + 1 : 0;
        standing = best->move;
        if (recent == -SCORE_INFINITE) recent = best->score;
        if (t->index == 0 && finished(t, stable, recent)) break;
        recent = (3 * recent + best->score) / 4;
    }
    if (t->run.depth > last) t->run.depth = last;
}

// --- the vote

// Threads vote for their moves, by score above the worst and depth; a proven win or the longest defence
// decides.
static const SearchThread *best_thread(const Search *s) {
    const SearchThread *best = s->threads[0];
    int worst = SCORE_INFINITE;
    for (int i = 0; i < s->thread_count; i++) worst = int_min(worst, s->threads[i]->root_moves[0].score);
    int64_t best_votes = -1;
    for (int i = 0; i < s->thread_count; i++) {
        const SearchThread *t = s->threads[i];
        const RootMove *rm = &t->root_moves[0];
        if (t->run.completed_depth == 0 && i != 0) continue;
        int64_t votes = 0;
        for (int j = 0; j < s->thread_count; j++) {
            const SearchThread *voter = s->threads[j];
            if (voter->root_moves[0].move == rm->move)
                votes += (int64_t)(voter->root_moves[0].score - worst + 14) * voter->run.completed_depth;
        }
        int best_score = best->root_moves[0].score;
        bool better =
            votes > best_votes || (votes == best_votes && t->run.completed_depth > best->run.completed_depth);
        if (score_is_win(best_score)) better = rm->score > best_score;
        else if (score_is_win(rm->score)) better = true;
        else if (score_is_loss(best_score) != score_is_loss(rm->score)) better = score_is_loss(best_score);
        if (i == 0 || better) {
            best = t;
            best_votes = votes;
        }
    }
    return best;
}

// The reply to expect when the line ends after one move: the table's, if it is legal.
static Move ponder_move(const Search *s, Move best) {
    Position after;
    position_make(&after, &s->root, best);
    TTEntry tt = tt_probe(&s->tt, after.key, 1, after.rule50);
    return tt.hit && tt.move != MOVE_NONE && movegen_is_legal(&after, tt.move) ? tt.move : MOVE_NONE;
}

SearchResult search_result(Search *s) {
    SearchResult result = {
        .nodes = search_nodes(s), .tbhits = search_tbhits(s), .ms = timeman_elapsed(&s->time)};
    if (s->threads[0]->root_count == 0) {
        result.score = s->root.checkers ? -SCORE_MATE : SCORE_DRAW;
        return result;
    }
    const SearchThread *best = s->thread_count == 1 || s->multipv > 1 ? s->threads[0] : best_thread(s);
    const RootMove *rm = &best->root_moves[0];
    result.best = rm->move;
    int score = rm->score != -SCORE_INFINITE ? rm->score : rm->previous != -SCORE_INFINITE ? rm->previous : SCORE_DRAW;
    result.score = tables_root_score(&s->tables, rm->move, score);
    result.depth = best->run.completed_depth;
    result.seldepth = rm->seldepth;
    result.pv = rm->pv;
    complete_line(s, &result.pv);
    result.ponder = result.pv.count > 1 ? result.pv.moves[1] : ponder_move(s, rm->move);
    if (best != s->threads[0] && s->observer.info) {
        SearchInfo info = {.depth = best->run.completed_depth,
                           .seldepth = rm->seldepth,
                           .multipv = 1,
                           .score = result.score,
                           .bound = BOUND_EXACT,
                           .nodes = result.nodes,
                           .tbhits = result.tbhits,
                           .ms = result.ms,
                           .hashfull = tt_hashfull(&s->tt),
                           .pv = &result.pv,
                           .root = &s->root};
        s->observer.info(s->observer.context, &info);
    }
    return result;
}
