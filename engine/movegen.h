// SPDX-License-Identifier: GPL-3.0-or-later
// Legal moves. The generator knows checks and pins, so every move that it gives is legal.
#pragma once

#include "engine/position.h"

// The moves of one position, in no particular order.
typedef struct MoveList {
    Move moves[MAX_MOVES];
    int count;
} MoveList;

// Which moves to generate: noisy are captures and queen promotions, quiet is the rest.
enum { GEN_NOISY = 1, GEN_QUIET = 2, GEN_ALL = 3 };

// Writes the legal moves of the wanted kinds and returns their number.
int movegen(const Position *pos, Move *moves, int kinds);

// All legal moves as a list.
static inline void movegen_list(const Position *pos, MoveList *list) {
    list->count = movegen(pos, list->moves, GEN_ALL);
}

// Whether any 16-bit value is a legal move here, without generating; agrees with movegen for all 65,536
// values.
bool movegen_is_legal(const Position *pos, Move move);

// Whether there is any legal move.
bool movegen_any(const Position *pos);

// The number of move sequences of a length (the leaves of the tree of legal moves).
uint64_t movegen_perft(const Position *pos, int depth);
