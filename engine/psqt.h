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
    S(73, 93), S(314, 315), S(329, 326), S(430, 575), S(999, 986), S(0, 0),
};

// Bonuses by place for White, with a8 first so that each block looks like the left half of a board.
static const int32_t PieceSquare[PIECE_TYPES][SQUARES] = {
    [PAWN] = {
        ROW(S(   0,    0), S(   0,    0), S(   0,    0), S(   0,    0)),
        ROW(S(  34,   74), S(  47,   99), S(  44,   85), S(  61,   86)),
        ROW(S(  22,   32), S(  22,   42), S(  14,   41), S(  26,   36)),
        ROW(S(   2,   19), S(  11,   23), S(  16,    9), S(  15,    5)),
        ROW(S(  -2,   11), S(  -7,   14), S(  12,   -2), S(   9,    1)),
        ROW(S(  -5,    5), S(   4,    6), S(   7,    1), S(   5,    4)),
        ROW(S(  -7,   16), S(   9,   12), S(  -5,   18), S(  -8,   10)),
        ROW(S(   0,    0), S(   0,    0), S(   0,    0), S(   0,    0)),
    },
    [KNIGHT] = {
        ROW(S( -66,  -50), S( -36,  -33), S( -28,  -24), S( -20,   -9)),
        ROW(S(  -3,  -34), S(  -4,  -10), S(  24,    3), S(  12,    6)),
        ROW(S(  14,  -15), S(  16,   -1), S(  27,    2), S(  36,   12)),
        ROW(S(  22,    7), S(  23,   12), S(  35,   10), S(  35,   21)),
        ROW(S(  18,   -3), S(  17,   15), S(  27,   19), S(  21,   21)),
        ROW(S( -11,   -3), S(   3,    4), S(   4,    8), S(  13,   20)),
        ROW(S( -20,  -34), S( -15,  -13), S(  -9,   -9), S(  -6,    8)),
        ROW(S( -33,  -40), S( -19,  -19), S( -11,  -12), S( -14,   -3)),
    },
    [BISHOP] = {
        ROW(S( -31,  -14), S( -25,   -7), S( -21,   -1), S( -16,    2)),
        ROW(S( -29,   -5), S(  -7,    6), S(   3,    1), S(  -4,    1)),
        ROW(S(  -4,    4), S(   1,    1), S(   2,    8), S(  15,    3)),
        ROW(S(  -8,    2), S(  16,   -2), S(  27,    9), S(  20,   11)),
        ROW(S(   9,  -18), S(   8,   -5), S(  17,    2), S(  21,   10)),
        ROW(S(  -1,   -2), S(  18,   -5), S(  18,    5), S(   9,   12)),
        ROW(S(  11,   -8), S(  16,   -7), S(  10,   -7), S(   5,    3)),
        ROW(S(   2,   -3), S(  -5,   -6), S( -12,    2), S(   4,    6)),
    },
    [ROOK] = {
        ROW(S(   5,   18), S(  14,   17), S(  16,   13), S(  16,    5)),
        ROW(S(  17,   15), S(  14,   12), S(  14,    9), S(  32,   11)),
        ROW(S(  15,   19), S(  15,    7), S(   7,    0), S(  27,    4)),
        ROW(S( -23,   21), S(  -2,   15), S(  -2,    4), S(   6,    5)),
        ROW(S( -19,   10), S( -21,   16), S(  -8,    3), S(  -4,    5)),
        ROW(S( -30,    3), S( -12,   -5), S(  -8,   -2), S(   5,   -9)),
        ROW(S( -34,  -20), S( -27,  -10), S( -17,  -12), S(  -6,  -12)),
        ROW(S( -18,   -3), S( -11,   -1), S(  -5,  -16), S(   3,  -14)),
    },
    [QUEEN] = {
        ROW(S( -15,  -28), S(   3,  -13), S(   6,   -1), S(  11,   12)),
        ROW(S(   2,    2), S(   8,    6), S(  19,   21), S(  16,   25)),
        ROW(S(   7,    9), S(  16,   22), S(  16,   26), S(  21,   37)),
        ROW(S(  -2,   13), S(   9,   25), S(   8,   30), S(   7,   33)),
        ROW(S( -12,    6), S(  -4,   25), S(  -1,   22), S(   3,   30)),
        ROW(S( -21,   -1), S(  -4,    5), S(  -7,   10), S(   0,   15)),
        ROW(S( -13,  -22), S(  -5,  -13), S(  -3,  -19), S(  -4,  -13)),
        ROW(S(  -9,  -35), S(  -7,  -26), S( -12,  -18), S(  -7,  -34)),
    },
    [KING] = {
        ROW(S( -48,  -51), S( -38,  -20), S( -69,   -9), S( -81,    4)),
        ROW(S( -45,   -8), S( -37,   14), S( -66,   30), S( -83,   26)),
        ROW(S( -49,    4), S( -39,   29), S( -65,   31), S( -80,   38)),
        ROW(S( -45,    8), S( -33,   26), S( -65,   29), S( -73,   39)),
        ROW(S( -43,   -3), S( -37,    8), S( -52,   31), S( -66,   35)),
        ROW(S( -15,   -9), S(  -6,   -3), S( -26,   17), S( -51,   29)),
        ROW(S(  13,  -24), S(   5,  -12), S( -18,    1), S( -32,    9)),
        ROW(S(  22,  -52), S(  21,  -30), S(  -5,  -18), S( -10,  -18)),
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
