// SPDX-License-Identifier: GPL-3.0-or-later
// What happens at one node of any search (search.c, quiesce.c, mcts.c): making a move, noticing draws and
// that it is time to stop, evaluating. Works on one thread's own state and, to read, on what the threads
// share.
#pragma once

#include "engine/search.h"

// How far a stack entry is from the root.
static inline int node_ply(const SearchThread *thread, const StackEntry *ss) {
    return (int)(ss - thread->stack) - STACK_BELOW;
}

// Nodes that this thread has searched.
static inline uint64_t node_count(const SearchThread *thread) {
    return atomic_load_explicit(&thread->run.nodes, memory_order_relaxed);
}

// Counts a position that the solved endgames knew.
static inline void node_count_tbhit(SearchThread *thread) {
    uint64_t hits = atomic_load_explicit(&thread->run.tbhits, memory_order_relaxed);
    atomic_store_explicit(&thread->run.tbhits, hits + 1, memory_order_relaxed);
}

// The score of the side that is mated at a ply.
static inline int node_mated_in(int ply) { return -SCORE_MATE + ply; }

// A draw, a hair to either side by node parity, so that the search does not go blind among equal draws.
static inline int node_draw_score(const SearchThread *thread) {
    return SCORE_DRAW - 1 + (int)(node_count(thread) & 2);
}

// Whether the search is to end; what a node returns after that means nothing.
static inline bool node_stopped(const SearchThread *thread) {
    return atomic_load_explicit(&thread->shared->stop, memory_order_relaxed);
}

// Whether the search must end now; thread 0 watches the limits here. To be asked after each move made.
bool node_must_stop(SearchThread *thread);

// Puts a move on the board of the next stack entry; it counts as a node.
void node_make(SearchThread *thread, StackEntry *ss, Move move);

// Passes the move; it counts as a node.
void node_make_null(SearchThread *thread, StackEntry *ss);

// Makes a line of a move and what follows it.
void node_pv_set(PV *pv, Move move, const PV *tail);

// Whether the line that leads here is a draw by repetition, fifty moves or material.
bool node_is_draw(const SearchThread *thread, const StackEntry *ss);

// Whether one reversible move leads back to a position that stood since the root.
bool node_can_repeat(const SearchThread *thread, const StackEntry *ss);

// The evaluation of a position as it is, by the net or by hand.
int node_evaluate(SearchThread *thread, const StackEntry *ss);

// The corrected static score of a position, or that it is mate.
int node_static(SearchThread *thread, StackEntry *ss);

// Whether a table score says more than the static one: its bound points past it.
bool node_tt_sharpens(const TTEntry *tt, int eval);
