// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of squares in 64 bits, and where pieces attack from where. The look-up tables are written once by
// bitboard_init and only read after that.
#pragma once

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

// Squares that a pawn of a colour attacks from a square.
Bitboard attacks_pawn(int colour, int square);
// Squares that a knight attacks from a square.
Bitboard attacks_knight(int square);
// Squares that a king attacks from a square.
Bitboard attacks_king(int square);
// Squares that a bishop attacks from a square through an occupation.
Bitboard attacks_bishop(int square, Bitboard occupied);
// Squares that a rook attacks from a square through an occupation.
Bitboard attacks_rook(int square, Bitboard occupied);
// Squares that a queen attacks from a square through an occupation.
Bitboard attacks_queen(int square, Bitboard occupied);
// Squares that a piece of any type but a pawn attacks.
Bitboard attacks_of(int type, int square, Bitboard occupied);
// The squares strictly between two squares on one line; empty if they share none.
Bitboard bb_between(int a, int b);
// The whole line through two squares, edge to edge; empty if they share none.
Bitboard bb_line(int a, int b);
