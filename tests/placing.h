// SPDX-License-Identifier: GPL-3.0-or-later
// Positions with given men for the tests of the solver and the tablebases: random ones, and all of three men.
#pragma once

#include "engine/position.h"

// Puts men on squares through a FEN; false if the position is impossible. ep is NO_SQUARE or a square for the
// FEN.
bool placing_make(Position *pos, const uint8_t *pieces, const int *squares, int count, int stm, int ep);

// Random men of a material ("KRKN") in a random legal position, either side to move; (seed, index) decide, no
// state. Pawns of both colours side by side get an en passant square whenever they can.
void placing_random(Position *pos, const char *material, uint64_t seed, uint64_t index);

// The materials of four men, one a pair of colours: KQQK ... KPKP.
enum { FOUR_MEN = 30 };
extern const char *const FourMen[FOUR_MEN];
// The materials of three men.
enum { THREE_MEN = 5 };
extern const char *const ThreeMen[THREE_MEN];
