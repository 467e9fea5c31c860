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
    S(80, 103), S(323, 306), S(344, 321), S(466, 555), S(1015, 981), S(0, 0),
};

// Bonuses by place for White, with a8 first so that each block looks like the left half of a board.
static const int32_t PieceSquare[PIECE_TYPES][SQUARES] = {
    [PAWN] = {
        ROW(S(   0,    0), S(   0,    0), S(   0,    0), S(   0,    0)),
        ROW(S(  35,   88), S(  46,   94), S(  47,   81), S(  56,   84)),
        ROW(S(  15,   45), S(  19,   46), S(  21,   40), S(  35,   34)),
        ROW(S(  -1,   18), S(  11,   20), S(  16,   13), S(  19,   11)),
        ROW(S(  -6,    9), S(  -4,    9), S(  13,   -2), S(  15,    0)),
        ROW(S(  -7,    8), S(  -2,    8), S(   3,    2), S(   8,    3)),
        ROW(S(  -8,   11), S(   8,   12), S(  -9,   16), S(  -9,   12)),
        ROW(S(   0,    0), S(   0,    0), S(   0,    0), S(   0,    0)),
    },
    [KNIGHT] = {
        ROW(S( -63,  -54), S( -38,  -34), S( -25,  -21), S( -17,   -8)),
        ROW(S( -12,  -32), S(  -1,  -15), S(  12,    0), S(  14,    5)),
        ROW(S(  10,  -15), S(  18,    0), S(  29,   12), S(  39,   14)),
        ROW(S(  21,    6), S(  23,   14), S(  31,   20), S(  40,   18)),
        ROW(S(  15,    0), S(  17,   15), S(  28,   13), S(  21,   22)),
        ROW(S(  -6,   -5), S(   5,   -2), S(   9,    6), S(  17,   20)),
        ROW(S( -23,  -31), S(  -9,  -15), S( -10,   -7), S(   1,    9)),
        ROW(S( -44,  -45), S( -20,  -25), S(  -9,  -16), S( -11,   -5)),
    },
    [BISHOP] = {
        ROW(S( -29,  -15), S( -22,   -9), S( -14,   -2), S( -12,   -2)),
        ROW(S( -22,  -10), S(  -6,    0), S(   3,    3), S(  -3,   -1)),
        ROW(S(   3,    1), S(   5,    3), S(   4,    2), S(  17,    6)),
        ROW(S(   2,    2), S(   9,    1), S(  28,   11), S(  19,   13)),
        ROW(S(  10,   -9), S(  15,   -1), S(  14,    2), S(  18,   10)),
        ROW(S(   7,   -4), S(  19,   -5), S(  15,    8), S(  11,    8)),
        ROW(S(   6,   -8), S(  18,   -2), S(   3,   -4), S(   5,    8)),
        ROW(S(  -4,  -10), S( -13,   -8), S( -13,    1), S(   8,    6)),
    },
    [ROOK] = {
        ROW(S(   6,   12), S(  12,   14), S(  15,    7), S(  17,    2)),
        ROW(S(  17,   15), S(  16,   15), S(  18,    9), S(  27,    9)),
        ROW(S(   8,   20), S(  10,   13), S(   7,    4), S(  20,   10)),
        ROW(S( -12,   11), S(  -1,   11), S(   0,    3), S(   8,    2)),
        ROW(S( -17,    5), S( -13,    9), S(   1,    1), S(   3,    2)),
        ROW(S( -24,    4), S( -11,   -1), S(  -3,   -5), S(   1,   -9)),
        ROW(S( -37,  -16), S( -22,   -8), S( -14,   -9), S(  -2,  -10)),
        ROW(S( -19,   -4), S( -10,   -4), S(  -1,  -16), S(   4,  -10)),
    },
    [QUEEN] = {
        ROW(S(  -9,  -25), S(   2,  -14), S(   4,   -3), S(   9,    7)),
        ROW(S(   2,   -2), S(   1,    3), S(  11,   13), S(   8,   19)),
        ROW(S(   7,    8), S(   6,   16), S(  12,   23), S(  14,   32)),
        ROW(S(  -4,   11), S(  12,   23), S(   8,   30), S(   9,   34)),
        ROW(S(  -8,    8), S(  -3,   17), S(   0,   22), S(   6,   29)),
        ROW(S( -17,   -4), S(  -3,    5), S(  -1,   11), S(   4,   17)),
        ROW(S(  -9,  -21), S(  -2,  -11), S(  -3,   -7), S(   8,    0)),
        ROW(S( -14,  -35), S(  -2,  -25), S(  -8,  -16), S(   0,  -18)),
    },
    [KING] = {
        ROW(S( -48,  -50), S( -39,  -25), S( -69,  -12), S( -81,    1)),
        ROW(S( -47,  -13), S( -39,    5), S( -68,   19), S( -82,   22)),
        ROW(S( -48,    6), S( -39,   23), S( -67,   31), S( -80,   36)),
        ROW(S( -45,   12), S( -34,   29), S( -66,   29), S( -76,   39)),
        ROW(S( -40,    5), S( -31,   16), S( -53,   33), S( -67,   36)),
        ROW(S( -17,   -3), S( -10,    1), S( -33,   15), S( -52,   29)),
        ROW(S(  10,  -24), S(   3,  -10), S( -16,    7), S( -25,    8)),
        ROW(S(  25,  -54), S(  27,  -34), S(  -1,  -18), S( -10,   -8)),
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
