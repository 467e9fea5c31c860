// SPDX-License-Identifier: GPL-3.0-or-later
// What search.c shares with iterate.c and mcts.c: the entry to the tree, its single steps, and how a thread
// notices that it must stop.
#pragma once

#include "engine/search.h"

// The value of the root within a window, searched to a depth; fills the root moves' scores and lines.
int searchnode_root(SearchThread *thread, int alpha, int beta, int depth);

// Whether the search is to end; what a node returns after that means nothing.
static inline bool searchnode_stopped(const SearchThread *thread) {
    return atomic_load_explicit(&thread->shared->stop, memory_order_relaxed);
}

// Puts a move on the board of the next stack entry; it counts as a node.
void searchnode_make(SearchThread *thread, StackEntry *ss, Move move);

// Whether the search must end now; thread 0 watches the limits here. To be asked after each move made.
bool searchnode_must_stop(SearchThread *thread);

// Whether the line that leads here is a draw by repetition, fifty moves or material.
bool searchnode_is_draw(const SearchThread *thread, const StackEntry *ss);

// The value of a position within a window once captures are resolved.
int searchnode_quiesce(SearchThread *thread, StackEntry *ss, int alpha, int beta);

// The corrected static score of a position, or that it is mate.
int searchnode_static(SearchThread *thread, StackEntry *ss);
