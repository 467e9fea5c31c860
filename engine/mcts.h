// SPDX-License-Identifier: GPL-3.0-or-later
// Monte-Carlo tree search, the other way to look ahead (SearchMode mcts): PUCT over the same rules, moves
// weighed beforehand by the ordering of alpha-beta, leaves valued by its quiescence, statistics shared
// between transpositions. All threads of a search grow one tree (mctstree.h).
#pragma once

#include "engine/search.h"

// The values of the SearchMode parameter.
enum { SEARCH_ALPHABETA, SEARCH_MCTS };

// Owner only, after search_prepare: empties the tree of a search and puts its root there.
void mcts_prepare(Search *search);

// Runs one thread of a search to its end, as search_run does: until stop, the limits (thread 0 watches them),
// or until nothing is left to find out. Thread 0 leaves the root moves in order, best first.
void mcts_run(SearchThread *thread);
