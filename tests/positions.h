// SPDX-License-Identifier: GPL-3.0-or-later
// Positions for tests: reached by random legal play, so that every rule turns up in them sooner or later.
#pragma once

#include "engine/position.h"

// The position at (seed, index): 0 to 140 random moves from the standard array, or from a double Chess960
// one. Captures are favoured in some games, so that open boards come up too; mates and stalemates may.
Position random_position(uint64_t seed, uint64_t index, bool chess960);

// Whether the long tests were asked for (make check-long).
bool test_long(void);
