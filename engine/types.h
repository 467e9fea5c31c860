// SPDX-License-Identifier: GPL-3.0-or-later
// The vocabulary of chess: colours, pieces, squares, moves, scores. Values only; no state, no functions with
// effects.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

// A set of squares, bit n for square n; and the hash key of a position.
typedef uint64_t Bitboard;
typedef uint64_t Key;

enum { WHITE, BLACK, COLOURS };
enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, PIECE_TYPES, NO_TYPE = PIECE_TYPES };

// A piece is 2 x type + colour, so that 0..11 are dense.
enum { PIECES = 12, NO_PIECE = 12 };

// Squares run a1 = 0, b1 = 1 ... h8 = 63.
enum {
    A1 = 0,
    C1 = 2,
    D1 = 3,
    E1 = 4,
    F1 = 5,
    G1 = 6,
    H1 = 7,
    A8 = 56,
    H8 = 63,
    SQUARES = 64,
    NO_SQUARE = 64
};

// Castling rights, one bit each; index = 2 x colour + (queen side ? 1 : 0).
enum { WHITE_SHORT = 1, WHITE_LONG = 2, BLACK_SHORT = 4, BLACK_LONG = 8, ALL_CASTLING = 15 };

static inline int piece_make(int colour, int type) { return 2 * type + colour; }
static inline int piece_type(int piece) { return piece >> 1; }
static inline int piece_colour(int piece) { return piece & 1; }

static inline int square_make(int file, int rank) { return 8 * rank + file; }
static inline int square_file(int square) { return square & 7; }
static inline int square_rank(int square) { return square >> 3; }
// The rank as its owner sees it: 0 is the own back rank.
static inline int square_rank_for(int colour, int square) { return square >> 3 ^ (colour == WHITE ? 0 : 7); }
// The square as its owner sees it: flipped top to bottom for Black.
static inline int square_for(int colour, int square) { return square ^ (colour == WHITE ? 0 : 56); }
// One step forward for a colour, as a difference of squares.
static inline int pawn_push(int colour) { return colour == WHITE ? 8 : -8; }

// A move in 16 bits: from (0-5), to (6-11), promotion type - KNIGHT (12-13, 0 unless promoting), kind
// (14-15). Castling is written as the king taking its own rook, which is unambiguous in Chess960 too.
typedef uint16_t Move;
enum { MOVE_NORMAL = 0 << 14, MOVE_PROMOTION = 1 << 14, MOVE_EN_PASSANT = 2 << 14, MOVE_CASTLING = 3 << 14 };
enum { MOVE_NONE = 0, MOVE_NULL = 1 << 6 | 1 }; // b1b1: never legal, so it can stand for passing

// Moves put together and taken apart.
static inline Move move_make(int from, int to) { return (Move)(from | to << 6); }
static inline Move move_make_kind(int from, int to, int kind) { return (Move)(from | to << 6 | kind); }
static inline Move move_make_promotion(int from, int to, int type) {
    return (Move)(from | to << 6 | (type - KNIGHT) << 12 | MOVE_PROMOTION);
}
static inline int move_from(Move move) { return move & 63; }
static inline int move_to(Move move) { return move >> 6 & 63; }
static inline int move_kind(Move move) { return move & 3 << 14; }
static inline int move_promotion(Move move) { return KNIGHT + (move >> 12 & 3); }

enum { MAX_MOVES = 256, MAX_PLY = 192 };

// Scores in centipawns from the side to move. A mate at distance n plies is SCORE_MATE - n; a table win lies
// below every mate and above every evaluation.
enum {
    SCORE_DRAW = 0,
    SCORE_INFINITE = 32001,
    SCORE_NONE = 32002,
    SCORE_MATE = 32000,
    SCORE_MATE_IN_MAX = SCORE_MATE - MAX_PLY,
    SCORE_TB_WIN = SCORE_MATE_IN_MAX - 1,
    SCORE_TB_WIN_IN_MAX = SCORE_TB_WIN - MAX_PLY,
    SCORE_EVAL_MAX = SCORE_TB_WIN_IN_MAX - 1,
};

// What a score claims: a proven win or loss, by mate or by table.
static inline bool score_is_win(int score) { return score >= SCORE_TB_WIN_IN_MAX; }
static inline bool score_is_loss(int score) { return score <= -SCORE_TB_WIN_IN_MAX; }
static inline bool score_is_decisive(int score) { return score_is_win(score) || score_is_loss(score); }
static inline bool score_is_mate(int score) {
    return score >= SCORE_MATE_IN_MAX || score <= -SCORE_MATE_IN_MAX;
}

// What a stored or reported score says of the true one.
enum { BOUND_NONE, BOUND_UPPER, BOUND_LOWER, BOUND_EXACT };
