// SPDX-License-Identifier: GPL-3.0-or-later
// The hand-written evaluation: material and piece squares (kept by Position), mobility, pawns, king safety,
// threats, tempo; tapered between middlegame and endgame. 100 = one pawn, from the side to move. Any thread
// may call everything here; a PawnTable belongs to one thread.
#pragma once

#include <stddef.h>

#include "engine/position.h"

// Terms of pawns and kings that repeat from node to node, by the squares of both.
typedef struct PawnEntry {
    Key key;
    Bitboard passed; // pawns of both colours that no enemy pawn can stop
    int32_t score;   // packed, from White
} PawnEntry;

// Entries of a table, 96 KB in all.
enum { PAWN_TABLE_SIZE = 4096 };

// A cache of pawn terms, part of a search thread. All zero is a valid, empty table; what it holds never
// changes an evaluation.
typedef struct PawnTable {
    PawnEntry entries[PAWN_TABLE_SIZE];
} PawnTable;

// What a position is worth to the side to move; pawns may be NULL. Always within +-SCORE_EVAL_MAX.
int eval_position(const Position *pos, PawnTable *pawns);

// The terms of an evaluation, for people: writes a table of lines into a buffer (1,200 bytes hold it all).
void eval_trace(const Position *pos, char *buffer, size_t size);

// How far from the endgame a position is: 24 with all pieces, 0 with kings and pawns.
int eval_phase(const Position *pos);
