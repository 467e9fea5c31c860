// SPDX-License-Identifier: GPL-3.0-or-later
// What a search thread learned in a game: which moves cut, and how wrong the evaluation was. All tables are
// int16_t (or moves) in one struct, so a new game is one memset.
#pragma once

#include "engine/position.h"

// Bounds and sizes of the tables.
enum {
    HISTORY_MAX = 16384,    // scores stay within +- this
    CORRECTION_MAX = 1024,  // errors stay within +- this
    PAWN_HISTORY = 512,     // pawn structures told apart
    CORRECTION_SIZE = 16384 // positions told apart by each correction table
};

// A score for each piece and target square.
typedef int16_t PieceTo[PIECES][SQUARES];

// All that a thread learns about moves during a game; reset by one memset.
typedef struct Histories {
    int16_t main[COLOURS][SQUARES][SQUARES]; // quiet moves by from and to
    PieceTo best_move;                       // the classic table: colour, piece, square
    PieceTo pawn[PAWN_HISTORY];              // quiet moves by pawn structure
    int16_t capture[PIECES][SQUARES][PIECE_TYPES];
    PieceTo continuation[PIECES + 1][SQUARES]; // quiet moves by an earlier move; the last row is for none
    Move counter[PIECES + 1][SQUARES];         // the quiet reply that last refuted a move
    int16_t pawn_error[COLOURS][CORRECTION_SIZE];
    int16_t non_pawn_error[COLOURS][COLOURS][CORRECTION_SIZE];
    int16_t move_error[COLOURS][CORRECTION_SIZE]; // by the last two moves
} Histories;

_Static_assert(sizeof(Histories) < 5 << 19, "a new game clears the histories: keep them within 2.5 MB");

// Moves a score towards the bonus' sign, the less the nearer it is to the limit, so that it ages by itself.
static inline void history_add(int16_t *score, int bonus, int limit) {
    bonus = int_clamp(bonus, -limit, limit);
    int size = bonus < 0 ? -bonus : bonus;
    *score = (int16_t)(*score + bonus - *score * size / limit);
}

// The pawn-structure plane of a position.
static inline int history_pawn_index(const Position *pos) { return (int)(pos->pawn_key % PAWN_HISTORY); }
