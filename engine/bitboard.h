// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of squares in 64 bits, and where pieces attack from where. The look-up tables are written once by
// bitboard_init and only read after that, from any thread. position_from_fen and its like call
// bitboard_init, so whoever holds a Position need not.
#pragma once

#ifdef HONE_PEXT
#include <immintrin.h>
#endif

#include "engine/types.h"

#define FILE_A 0x0101010101010101ull
#define FILE_H 0x8080808080808080ull
#define RANK_1 0x00000000000000ffull
#define RANK_8 0xff00000000000000ull
#define LIGHT_SQUARES 0x55aa55aa55aa55aaull

// Fills the attack tables; any thread may call it, any number of times.
void bitboard_init(void);

// The set that holds one square.
static inline Bitboard bb_of(int square) { return 1ull << square; }
// Whether a set holds a square.
static inline bool bb_has(Bitboard set, int square) { return set >> square & 1; }
// The number of squares in a set.
static inline int bb_count(Bitboard set) { return __builtin_popcountll(set); }
// The lowest square of a set that is not empty.
static inline int bb_first(Bitboard set) {
    assert(set);
    return __builtin_ctzll(set);
}
// Whether a set holds two squares or more.
static inline bool bb_several(Bitboard set) { return (set & (set - 1)) != 0; }
// Takes the lowest square out of a set that is not empty.
static inline int bb_pop(Bitboard *set) {
    int square = bb_first(*set);
    *set &= *set - 1;
    return square;
}
static inline Bitboard bb_file(int file) { return FILE_A << file; }
static inline Bitboard bb_rank(int rank) { return RANK_1 << 8 * rank; }
static inline Bitboard bb_north(Bitboard set) { return set << 8; }
static inline Bitboard bb_south(Bitboard set) { return set >> 8; }
static inline Bitboard bb_east(Bitboard set) { return (set & ~FILE_H) << 1; }
static inline Bitboard bb_west(Bitboard set) { return (set & ~FILE_A) >> 1; }
// A set moved one step forward for a colour.
static inline Bitboard bb_forward(int colour, Bitboard set) { return colour == WHITE ? set << 8 : set >> 8; }

// Everything that a set of pawns of a colour attacks.
static inline Bitboard bb_pawn_attacks(int colour, Bitboard pawns) {
    Bitboard forward = bb_forward(colour, pawns);
    return bb_east(forward) | bb_west(forward);
}

// How a slider's attacks are found: the squares of mask that are occupied give an index into attacks, by PEXT
// where the build has it (HONE_PEXT), by a magic multiplication elsewhere.
typedef struct Slider {
    Bitboard mask;           // squares whose occupation matters
    const Bitboard *attacks; // one set for each occupation
    Bitboard magic;          // multiplier, and what to shift its product by, if there is no PEXT
    int shift;
} Slider;

// The tables, indexed by square; read them through the functions below.
extern Slider BishopSliders[SQUARES], RookSliders[SQUARES];
extern Bitboard PawnAttacks[COLOURS][SQUARES], KnightAttacks[SQUARES], KingAttacks[SQUARES];
extern Bitboard BishopRays[SQUARES], RookRays[SQUARES], DiagonalLine[SQUARES], AntidiagonalLine[SQUARES];
extern Bitboard BetweenSquares[SQUARES][SQUARES], LineSquares[SQUARES][SQUARES];

// Which of a slider's sets belongs to an occupation.
static inline uint64_t slider_index(const Slider *slider, Bitboard occupied) {
#ifdef HONE_PEXT
    return _pext_u64(occupied, slider->mask);
#else
    return (occupied & slider->mask) * slider->magic >> slider->shift;
#endif
}

// Squares that a pawn of a colour attacks from a square.
static inline Bitboard attacks_pawn(int colour, int square) { return PawnAttacks[colour][square]; }
// Squares that a knight attacks from a square.
static inline Bitboard attacks_knight(int square) { return KnightAttacks[square]; }
// Squares that a king attacks from a square.
static inline Bitboard attacks_king(int square) { return KingAttacks[square]; }
// Squares that a bishop attacks from a square through an occupation.
static inline Bitboard attacks_bishop(int square, Bitboard occupied) {
    return BishopSliders[square].attacks[slider_index(&BishopSliders[square], occupied)];
}
// Squares that a rook attacks from a square through an occupation.
static inline Bitboard attacks_rook(int square, Bitboard occupied) {
    return RookSliders[square].attacks[slider_index(&RookSliders[square], occupied)];
}
// Squares that a queen attacks from a square through an occupation.
static inline Bitboard attacks_queen(int square, Bitboard occupied) {
    return attacks_bishop(square, occupied) | attacks_rook(square, occupied);
}
// Squares that a piece of any type but a pawn attacks.
static inline Bitboard attacks_of(int type, int square, Bitboard occupied) {
    switch (type) {
    case KNIGHT: return attacks_knight(square);
    case BISHOP: return attacks_bishop(square, occupied);
    case ROOK: return attacks_rook(square, occupied);
    case QUEEN: return attacks_queen(square, occupied);
    default: assert(type == KING); return attacks_king(square);
    }
}
// Squares that a bishop or a rook attacks on an empty board.
static inline Bitboard bb_bishop_rays(int square) { return BishopRays[square]; }
static inline Bitboard bb_rook_rays(int square) { return RookRays[square]; }
// The line through a square that runs like a1-h8, and the one that runs like a8-h1.
static inline Bitboard bb_diagonal(int square) { return DiagonalLine[square]; }
static inline Bitboard bb_antidiagonal(int square) { return AntidiagonalLine[square]; }
// The squares strictly between two squares on one line; empty if they share none.
static inline Bitboard bb_between(int a, int b) { return BetweenSquares[a][b]; }
// The whole line through two squares, edge to edge; empty if they share none.
static inline Bitboard bb_line(int a, int b) { return LineSquares[a][b]; }
