// SPDX-License-Identifier: GPL-3.0-or-later
// Moves and squares as text: UCI (e2e4, e7e8q, Chess960 castling as king takes rook) and SAN (Nbd7, O-O,
// exd8=Q+).
#pragma once

#include "engine/position.h"

enum { UCI_SIZE = 8, SAN_SIZE = 12 };

// Writes a move of either side as UCI text ("0000" for none); castling as e1g1, or e1h1 style if the position is
// chess960, which is all that is asked of it.
void notation_to_uci(const Position *pos, Move move, char *buffer);

// The legal move that a UCI text names (both castling styles are understood), or MOVE_NONE.
Move notation_from_uci(const Position *pos, const char *text);

// Writes a legal move as SAN, with disambiguation and + or #.
void notation_to_san(const Position *pos, Move move, char *buffer);

// Writes a legal move in long algebraic form (Ng1-f3, e7xd8=Q+).
void notation_to_lan(const Position *pos, Move move, char *buffer);

// The legal move that a SAN text names (0-0 and missing or extra +, #, !, ?, x and = are forgiven), or
// MOVE_NONE.
Move notation_from_san(const Position *pos, const char *text);

// Writes a square as text ("e4", "-" for none) into 3 bytes.
void notation_square(int square, char *buffer);
