// SPDX-License-Identifier: GPL-3.0-or-later
// The 781 numbers of the Polyglot book format, which are also the terms of a Position's key. Numbers only:
// position.c says how a key is put together.
#pragma once

#include "engine/types.h"

// Where each kind of term begins in the table: 64 for each piece, castling rights, en passant files, White
// to move.
enum { POLYGLOT_CASTLING = 768, POLYGLOT_EP = 772, POLYGLOT_TURN = 780, POLYGLOT_NUMBERS = 781 };

// The published numbers, in the order of the format.
extern const Key Polyglot[POLYGLOT_NUMBERS];

// The term of a piece on a square (the format counts black before white).
static inline Key polyglot_piece(int piece, int square) { return Polyglot[64 * (piece ^ 1) + square]; }
