// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/node.h"

#include <string.h>

#include "engine/cycle.h"
#include "engine/learn.h"
#include "engine/movegen.h"

enum {
#ifdef HONE_DEBUG
    CLOCK_NODES = 32, // debug builds are slow: look at the clock more often
#else
    CLOCK_NODES = 1024, // nodes between two looks at the clock
#endif
};

// Thread 0 watches the limits: nodes at every node when one thread must be exact, the clock every thousand or
// so.
bool node_must_stop(SearchThread *t) {
    Search *s = t->shared;
    if (node_stopped(t)) return true;
    if (t->index != 0) return false;
    uint64_t nodes = node_count(t);
    bool over = s->limits.nodes && s->thread_count == 1 && nodes >= s->limits.nodes;
    if (!over && nodes % CLOCK_NODES == 0 && !atomic_load_explicit(&s->pondering, memory_order_relaxed)) {
        over = s->limits.nodes && search_nodes(s) >= s->limits.nodes;
        over |= s->time.hard_ms != INT64_MAX && timeman_elapsed(&s->time) >= s->time.hard_ms;
    }
    if (over) atomic_store_explicit(&s->stop, true, memory_order_relaxed);
    return over;
}

void node_make(SearchThread *t, StackEntry *ss, Move move) {
    int piece = ss->pos.board[move_from(move)], to = move_to(move);
    if (t->shared->params.UseTT) tt_prefetch(&t->shared->tt, position_key_after(&ss->pos, move));
    ss->move = move;
    ss->piece = piece;
    ss->continuation = t->hist.continuation[piece][to];
    t->keys[t->key_count + node_ply(t, ss)] = position_repetition_key(&ss->pos);
    position_make(&ss[1].pos, &ss->pos, move);
    atomic_store_explicit(&t->run.nodes, node_count(t) + 1, memory_order_relaxed);
}

void node_make_null(SearchThread *t, StackEntry *ss) {
    ss->move = MOVE_NULL;
    ss->piece = NO_PIECE;
    ss->continuation = t->hist.continuation[NO_PIECE][0];
    t->keys[t->key_count + node_ply(t, ss)] = position_repetition_key(&ss->pos);
    position_make_null(&ss[1].pos, &ss->pos);
    atomic_store_explicit(&t->run.nodes, node_count(t) + 1, memory_order_relaxed);
}

void node_pv_set(PV *pv, Move move, const PV *tail) {
    pv->moves[0] = move;
    pv->count = 1;
    if (tail->count > MAX_PLY - 1) return;
    memcpy(pv->moves + 1, tail->moves, (size_t)tail->count * sizeof *tail->moves);
    pv->count += tail->count;
}

// --- draws

// Whether this position stood before: twice in all if since the root, three times if before it.
static bool repeated(const SearchThread *t, const StackEntry *ss) {
    int reach = ss->pos.rule50;
    if (reach < 4) return false;
    int ply = node_ply(t, ss), here = t->key_count + ply, seen = 0;
    Key key = position_repetition_key(&ss->pos);
    for (int back = 2; back <= reach && back <= here; back += 2) {
        if (back <= ply && ss[-back].move == MOVE_NULL) return false;
        if (back - 1 <= ply && ss[1 - back].move == MOVE_NULL) return false;
        if (t->keys[here - back] != key) continue;
        if (back <= ply || ++seen == 2) return true;
    }
    return false;
}

bool node_is_draw(const SearchThread *t, const StackEntry *ss) {
    const Position *pos = &ss->pos;
    if (pos->rule50 >= 100) return !pos->checkers || movegen_any(pos);
    return repeated(t, ss) || position_insufficient(pos);
}

bool node_can_repeat(const SearchThread *t, const StackEntry *ss) {
    int reach = ss->pos.rule50, ply = node_ply(t, ss), here = t->key_count + ply;
    if (reach > here) reach = here;
    for (int back = 1; back <= reach && back <= ply; back++)
        if (ss[-back].move == MOVE_NULL) {
            reach = back - 1;
            break;
        }
    for (int back = 3; back <= reach && back < ply; back += 2)
        if (cycle_links(&ss->pos, t->keys[here - back])) return true;
    return false;
}

// --- evaluation

int node_evaluate(SearchThread *t, const StackEntry *ss) {
    return t->shared->net ? nnue_evaluate(&t->nnue, &ss->pos, node_ply(t, ss))
                          : eval_position(&ss->pos, &t->pawns);
}

bool node_tt_sharpens(const TTEntry *tt, int eval) {
    return tt->hit && tt->score != SCORE_NONE && (tt->bound & (tt->score > eval ? BOUND_LOWER : BOUND_UPPER));
}

int node_static(SearchThread *t, StackEntry *ss) {
    if (ss->pos.checkers && !movegen_any(&ss->pos)) return node_mated_in(node_ply(t, ss));
    return learn_corrected(t, ss, node_evaluate(t, ss));
}
