// SPDX-License-Identifier: GPL-3.0-or-later
// What a search thread learns from the nodes it has finished, and how it uses it on the static score:
// histories of moves, and errors of the evaluation by like positions.
#pragma once

#include "engine/search.h"

// The bonus for a good move at a depth.
int learn_bonus(const Params *params, int depth);

// Notes that a quiet move did well or badly at a node.
void learn_quiet(SearchThread *thread, const StackEntry *ss, Move move, int bonus);

// Notes a cut-off: the best move gains, those tried before it lose; a quiet one becomes killer and counter
// move.
void learn_cut(SearchThread *thread, StackEntry *ss, Move best, const MoveList *quiets,
               const MoveList *noisies, int depth);

// Notes by how much a search to a depth missed the static score of its node.
void learn_error(SearchThread *thread, const StackEntry *ss, int depth, int error);

// The static score of a node, moved by how wrong the evaluation was in like positions.
int learn_corrected(SearchThread *thread, const StackEntry *ss, int raw);
