// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of the hand-written evaluation but for material and piece squares (engine/psqt.h), as one
// struct, so that a tuner can evaluate with other numbers than the engine's own. Only eval.c and tuners
// include this.
#pragma once

#include <stddef.h>

#include "engine/position.h"

enum { DANGER_STEPS = 40 };

// Weights are packed (middlegame, endgame) and the evaluation is linear in them, up to `attacker`; the rest
// are plain integers inside a table index or a factor.
typedef struct Weights {
    int32_t mobility_knight[9], mobility_bishop[14], mobility_rook[15], mobility_queen[28]; // by safe squares
    int32_t isolated[2], doubled, backward[2]; // of a pawn; [1] if no enemy pawn shields it on its file
    int32_t connected[8];                      // a pawn beside or guarded by another, by rank
    int32_t passed[8];                         // by rank
    int32_t passed_own_king[8]; // times the distance of a king from the square in front, by rank
    int32_t passed_enemy_king[8];
    int32_t passed_blocked[8]; // something stands in front
    int32_t passed_safe[8];    // the next square is not attacked by the enemy
    int32_t passed_free[8];    // nor is any square up to promotion, and all are empty
    int32_t shelter[4][8];     // by distance of the file from the edge and rank of the own pawn (0: none)
    int32_t storm[2][8]; // [1] if blocked by an own pawn; by rank of the enemy pawn as its victim sees it
    int32_t danger[DANGER_STEPS]; // of a king under attack, by attack units
    int32_t bishop_pair;
    int32_t bishop_pawns; // for each own pawn on the bishop's colour
    int32_t outpost[2];   // a knight or bishop guarded by a pawn that no enemy pawn can ever attack
    int32_t behind_pawn;  // a minor piece with a pawn right in front
    int32_t rook_half_open, rook_open;
    int32_t threat_pawn[4];  // a pawn attacks a knight, bishop, rook, queen
    int32_t threat_minor[4]; // a minor piece does (minor pieces only if no pawn guards them)
    int32_t threat_rook[4];  // a rook does, likewise
    int32_t threat_push;     // a safe push of a pawn would attack a piece
    int32_t hanging[2];      // attacked and not guarded: a pawn, a piece
    int32_t space;           // safe central squares behind and among the own pawns, if there are many pieces
    int32_t tempo;

    int32_t attacker[4];   // attack units of a knight, bishop, rook, queen that reaches the king's ring
    int32_t ring_square;   // for each attacked square of the ring that only the king guards
    int32_t ring_attack;   // for each attacked square next to the king
    int32_t safe_check[4]; // a check on a safe square by a knight, bishop, rook, queen
    int32_t no_queen;      // without a queen
    int32_t scale_pawns, scale_pawn; // of the endgame, in 64ths: base, and each pawn of the better side
    int32_t scale_opposite, scale_opposite_pawn; // opposite bishops alone, likewise
    int32_t scale_opposite_pieces;               // opposite bishops and other pieces
    int32_t scale_no_pawns;                      // no pawns and at most a minor piece up
} Weights;

enum {
    LINEAR_WEIGHTS = offsetof(Weights, attacker) / sizeof(int32_t),
    ALL_WEIGHTS = sizeof(Weights) / sizeof(int32_t)
};

// The engine's own weights.
extern const Weights DefaultWeights;

// The groups into which the trace sums the terms.
enum {
    TERM_PSQ,
    TERM_MOBILITY,
    TERM_PAWNS,
    TERM_PASSED,
    TERM_KING,
    TERM_PIECES,
    TERM_THREATS,
    TERM_SPACE,
    TERM_TEMPO,
    TERMS
};

// What an evaluation is made of: (mg x phase + eg x scale / 64 x (24 - phase)) / 24 + mop_up, from White.
typedef struct EvalParts {
    int32_t terms[TERMS][COLOURS]; // packed; only filled when asked for
    int32_t sum;                   // of all terms, White's less Black's
    int phase, scale, mop_up;
    int total; // in centipawns from White
} EvalParts;

// Evaluates with any weights, and keeps the parts.
EvalParts eval_parts(const Position *pos, const Weights *weights);
