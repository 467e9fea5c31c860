// SPDX-License-Identifier: GPL-3.0-or-later
// The hand-written evaluation: material and piece squares (kept by Position), mobility, pawns, king safety, bishop
// pair, tempo; tapered between middlegame and endgame. 100 = one pawn, from the side to move.
#pragma once

#include "engine/position.h"

// Terms of pawns that repeat from node to node, by pawn key; part of a search thread.
typedef struct PawnEntry {
    Key key;
    Bitboard passed[COLOURS];
    Bitboard attacks[COLOURS];
    int32_t score; // packed, from White
} PawnEntry;

enum { PAWN_TABLE_SIZE = 2048 };

// Pawn structures already judged; one to a search thread.
typedef struct PawnTable {
    PawnEntry entries[PAWN_TABLE_SIZE];
} PawnTable;

// What a position is worth to the side to move; pawns may be NULL. Always within +-SCORE_EVAL_MAX.
int eval_position(const Position *pos, PawnTable *pawns);

// The terms of an evaluation, for people: writes a table of lines into a buffer.
void eval_trace(const Position *pos, char *buffer, size_t size);

// How far from the endgame a position is: 24 with all pieces, 0 with kings and pawns.
int eval_phase(const Position *pos);
