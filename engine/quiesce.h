// SPDX-License-Identifier: GPL-3.0-or-later
// Quiescence: only moves that change the material, until the position is quiet enough to be evaluated. In
// numbered steps, as the node of search.c.
#pragma once

#include "engine/search.h"

// The value of a position within a window once captures are resolved; qply counts the plies of quiescence so
// far.
int quiesce(SearchThread *thread, StackEntry *ss, int alpha, int beta, int qply);
