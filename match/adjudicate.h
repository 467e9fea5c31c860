// SPDX-License-Identifier: GPL-3.0-or-later
// When a game is decided before the rules end it: by draw scores, resignation, length or tablebase. Each rule
// is a small counter that is told every move; the semantics are fastchess's, spelled out here and in
// `hone-match --help`.
#pragma once

#include "engine/position.h"

// The rules of a match; a count of 0 switches a rule off.
typedef struct AdjudicateSpec {
    // Draw: from full move draw_number + 1 on, 2 x draw_count plies in a row with |score| <= draw_score. A
    // capture or pawn move starts the count anew (and counts itself); a missing or mate score sets it back to
    // 0.
    int draw_number, draw_count, draw_score;
    // Resign: resign_count moves in a row of one side with score <= -resign_score lose; with two_sided, 2 x
    // that many plies in a row with |score| >= resign_score, and the side whose last score is negative loses.
    int resign_count, resign_score;
    bool resign_two_sided;
    int max_moves; // a draw after 2 x this many plies by the engines
    // Tablebase: asked after a capture or pawn move (half-move clock 0), no castling rights, at most
    // tb_pieces men.
    bool tb_wins, tb_draws, tb_ignore50;
    int tb_pieces;
} AdjudicateSpec;

// How a rule ended a game.
typedef enum Adjudication {
    ADJUDICATE_NONE,
    ADJUDICATE_WHITE,
    ADJUDICATE_BLACK,
    ADJUDICATE_DRAW
} Adjudication;

// What adjudication remembers of one game.
typedef struct Adjudicator {
    const AdjudicateSpec *spec;
    int draw_plies, resign_moves[COLOURS], win_plies, plies;
    const char *rule; // "", ": SyzygyTB" or ": maximal game length", once a rule has ended the game
} Adjudicator;

// A fresh count for a new game.
Adjudicator adjudicate_start(const AdjudicateSpec *spec);

// Tells a move by mover that led to after, with the score that it came with; returns what follows from it.
// Asked in the order tablebase, resign, draw, length.
Adjudication adjudicate_move(Adjudicator *state, const Position *after, int mover, bool has_score, int score);
