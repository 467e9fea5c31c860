// SPDX-License-Identifier: GPL-3.0-or-later
// What iterate.c and search.c share: the entry to the tree, and how a thread notices that it must stop.
#pragma once

#include "engine/search.h"

// The value of the root within a window, searched to a depth; fills the root moves' scores and lines.
int searchnode_root(SearchThread *thread, int alpha, int beta, int depth);

// Whether the search is to end; what a node returns after that means nothing.
static inline bool searchnode_stopped(const SearchThread *thread) {
    return atomic_load_explicit(&thread->shared->stop, memory_order_relaxed);
}
