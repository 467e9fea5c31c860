// SPDX-License-Identifier: GPL-3.0-or-later
// What a piece on a square is worth before anything else is asked: material plus place, middlegame and endgame
// packed. position_make keeps the sum in Position.psq; include this only there and in the evaluation.
#pragma once

#include "engine/position.h"

#define S PACK
// A rank is worth the same from both sides, so only files a to d are written.
#define ROW(a, b, c, d) a, b, c, d, d, c, b, a

// Material, with 100 for about one pawn.
static const int32_t Material[PIECE_TYPES] = {
    S(84, 104), S(330, 300), S(350, 315), S(480, 540), S(1010, 980), S(0, 0),
};

// Bonuses by place for White, with a8 first so that each block looks like the left half of a board.
static const int32_t PieceSquare[PIECE_TYPES][SQUARES] = {
    [PAWN] = {
        ROW(S(   0,    0), S(   0,    0), S(   0,    0), S(   0,    0)),
        ROW(S(  38,   90), S(  46,   88), S(  50,   86), S(  50,   84)),
        ROW(S(  14,   46), S(  22,   44), S(  30,   42), S(  32,   40)),
        ROW(S(   0,   20), S(   8,   18), S(  20,   16), S(  26,   14)),
        ROW(S(  -6,   10), S(   2,    8), S(  14,    6), S(  24,    4)),
        ROW(S( -10,    8), S(  -2,    6), S(   2,    4), S(   6,    2)),
        ROW(S( -10,   10), S(   3,    8), S(  -2,    6), S( -16,    4)),
        ROW(S(   0,    0), S(   0,    0), S(   0,    0), S(   0,    0)),
    },
    [KNIGHT] = {
        ROW(S( -60,  -52), S( -38,  -34), S( -24,  -20), S( -14,   -8)),
        ROW(S( -18,  -30), S(  -4,  -16), S(   6,   -4), S(  14,    6)),
        ROW(S(  10,  -12), S(  20,    0), S(  28,   10), S(  34,   16)),
        ROW(S(  16,    4), S(  24,   14), S(  30,   20), S(  34,   24)),
        ROW(S(  10,    2), S(  18,   12), S(  24,   18), S(  28,   22)),
        ROW(S(  -2,  -14), S(   8,   -2), S(  16,    8), S(  22,   14)),
        ROW(S( -22,  -30), S(  -8,  -16), S(   2,   -4), S(  10,    6)),
        ROW(S( -50,  -50), S( -28,  -32), S( -14,  -18), S(  -4,   -6)),
    },
    [BISHOP] = {
        ROW(S( -28,  -14), S( -20,   -8), S( -14,   -4), S( -10,    0)),
        ROW(S( -14,   -8), S(  -8,   -4), S(  -4,    0), S(   0,    4)),
        ROW(S(   2,   -4), S(   6,    0), S(  10,    4), S(  14,    6)),
        ROW(S(   8,    0), S(  12,    4), S(  16,    6), S(  18,    8)),
        ROW(S(  10,    0), S(  14,    4), S(  18,    6), S(  20,    8)),
        ROW(S(   8,   -4), S(  12,    0), S(  16,    4), S(  20,    6)),
        ROW(S(   0,   -8), S(  18,   -4), S(  10,    0), S(  14,    4)),
        ROW(S( -20,  -14), S( -12,   -8), S( -12,   -4), S(  -2,    0)),
    },
    [ROOK] = {
        ROW(S(   6,   10), S(  10,   10), S(  16,    8), S(  22,    6)),
        ROW(S(  10,   12), S(  14,   12), S(  20,   10), S(  26,    8)),
        ROW(S(  -2,    8), S(   2,    8), S(   8,    6), S(  14,    4)),
        ROW(S( -10,    6), S(  -6,    6), S(   0,    4), S(   6,    2)),
        ROW(S( -16,    2), S( -12,    2), S(  -6,    0), S(   0,   -2)),
        ROW(S( -18,   -2), S( -14,   -2), S(  -8,   -4), S(  -2,   -6)),
        ROW(S( -20,   -4), S( -16,   -4), S( -10,   -6), S(  -4,   -8)),
        ROW(S( -10,   -4), S(  -6,   -4), S(   0,   -6), S(   6,   -8)),
    },
    [QUEEN] = {
        ROW(S(  -6,  -24), S(   0,  -14), S(   4,   -4), S(   6,    4)),
        ROW(S(  -6,   -8), S(   0,    2), S(   4,   10), S(   6,   18)),
        ROW(S(  -2,    4), S(   4,   12), S(   8,   20), S(  10,   28)),
        ROW(S(  -6,   12), S(   0,   20), S(   4,   28), S(   6,   34)),
        ROW(S(  -6,    8), S(   0,   16), S(   4,   24), S(   6,   30)),
        ROW(S(  -6,   -4), S(   0,    4), S(   4,   12), S(   6,   20)),
        ROW(S(  -8,  -20), S(  -2,  -10), S(   2,   -2), S(   4,    6)),
        ROW(S( -10,  -34), S(  -4,  -24), S(   0,  -14), S(   2,   -6)),
    },
    [KING] = {
        ROW(S( -48,  -50), S( -40,  -28), S( -69,  -12), S( -81,    0)),
        ROW(S( -48,  -16), S( -40,    0), S( -69,   12), S( -81,   22)),
        ROW(S( -48,    4), S( -40,   16), S( -69,   26), S( -81,   34)),
        ROW(S( -44,   14), S( -36,   24), S( -65,   32), S( -77,   38)),
        ROW(S( -36,   10), S( -28,   20), S( -57,   28), S( -69,   34)),
        ROW(S( -18,   -4), S( -10,    8), S( -39,   18), S( -51,   26)),
        ROW(S(   6,  -22), S(  14,   -6), S( -15,    6), S( -27,   16)),
        ROW(S(  22,  -52), S(  30,  -30), S(   1,  -14), S( -11,   -2)),
    },
};

#undef ROW
#undef S

// What a piece on a square adds to the sum, which is from White's view.
static inline int32_t psqt_of(int piece, int square) {
    int type = piece_type(piece);
    int32_t value = Material[type] + PieceSquare[type][square_for(piece_colour(piece), square) ^ 56];
    return piece_colour(piece) == WHITE ? value : -value;
}
