// SPDX-License-Identifier: GPL-3.0-or-later
// engine/bitboard: every attack table against a walk over the board square by square, and the small set
// functions.
#include "engine/bitboard.h"

#include <stdlib.h>

#include "engine/util.h"
#include "unity.h"

void setUp(void) { bitboard_init(); }
void tearDown(void) {}

// What a piece reaches by (file, rank) steps; a slider goes on until something stands in its way.
static Bitboard walk(int square, const int (*steps)[2], int count, bool slides, Bitboard occupied) {
    Bitboard seen = 0;
    for (int i = 0; i < count; i++) {
        int file = square % 8 + steps[i][0], rank = square / 8 + steps[i][1];
        while (file >= 0 && file < 8 && rank >= 0 && rank < 8) {
            seen |= 1ull << (8 * rank + file);
            if (!slides || occupied >> (8 * rank + file) & 1) break;
            file += steps[i][0];
            rank += steps[i][1];
        }
    }
    return seen;
}

static const int Straight[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
static const int Diagonal[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
static const int Around[8][2] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
static const int Jumps[8][2] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
static const int WhiteTakes[2][2] = {{-1, 1}, {1, 1}}, BlackTakes[2][2] = {{-1, -1}, {1, -1}};

static void leapers_reach_what_a_walk_reaches(void) {
    for (int square = 0; square < SQUARES; square++) {
        TEST_ASSERT_EQUAL_HEX64(walk(square, Jumps, 8, false, 0), attacks_knight(square));
        TEST_ASSERT_EQUAL_HEX64(walk(square, Around, 8, false, 0), attacks_king(square));
        TEST_ASSERT_EQUAL_HEX64(walk(square, WhiteTakes, 2, false, 0), attacks_pawn(WHITE, square));
        TEST_ASSERT_EQUAL_HEX64(walk(square, BlackTakes, 2, false, 0), attacks_pawn(BLACK, square));
        TEST_ASSERT_EQUAL_HEX64(attacks_knight(square), attacks_of(KNIGHT, square, 0));
        TEST_ASSERT_EQUAL_HEX64(attacks_king(square), attacks_of(KING, square, 0));
    }
}

static void sliders_reach_what_a_walk_reaches(void) {
    for (uint64_t i = 0; i < 200000; i++) {
        int square = (int)(i % SQUARES);
        Bitboard occupied = random_at(1, 0, i); // from half full to nearly empty
        for (uint64_t thin = 0; thin < i / SQUARES % 4; thin++) occupied &= random_at(1, 1 + thin, i);
        Bitboard rook = walk(square, Straight, 4, true, occupied),
                 bishop = walk(square, Diagonal, 4, true, occupied);
        TEST_ASSERT_EQUAL_HEX64(rook, attacks_rook(square, occupied));
        TEST_ASSERT_EQUAL_HEX64(bishop, attacks_bishop(square, occupied));
        TEST_ASSERT_EQUAL_HEX64(rook | bishop, attacks_queen(square, occupied));
        TEST_ASSERT_EQUAL_HEX64(rook, attacks_of(ROOK, square, occupied));
        TEST_ASSERT_EQUAL_HEX64(bishop, attacks_of(BISHOP, square, occupied));
        TEST_ASSERT_EQUAL_HEX64(rook | bishop, attacks_of(QUEEN, square, occupied));
    }
}

// Every occupation of the squares that matter, for two squares: the index function may not mix any two of
// them up.
static void every_occupation_of_a_mask_is_right(void) {
    static const int squares[2] = {A1, 27};
    for (int i = 0; i < 2; i++) {
        int square = squares[i];
        Bitboard mask = RookSliders[square].mask | BishopSliders[square].mask, subset = 0;
        do {
            TEST_ASSERT_EQUAL_HEX64(walk(square, Straight, 4, true, subset), attacks_rook(square, subset));
            TEST_ASSERT_EQUAL_HEX64(walk(square, Diagonal, 4, true, subset), attacks_bishop(square, subset));
            subset = (subset - mask) & mask;
        } while (subset);
    }
}

static void rays_are_attacks_on_an_empty_board(void) {
    for (int square = 0; square < SQUARES; square++) {
        TEST_ASSERT_EQUAL_HEX64(walk(square, Straight, 4, true, 0), bb_rook_rays(square));
        TEST_ASSERT_EQUAL_HEX64(walk(square, Diagonal, 4, true, 0), bb_bishop_rays(square));
        TEST_ASSERT_EQUAL_HEX64(bb_of(square), bb_diagonal(square) & bb_antidiagonal(square));
        TEST_ASSERT_EQUAL_HEX64(bb_bishop_rays(square) | bb_of(square),
                                bb_diagonal(square) | bb_antidiagonal(square));
    }
    TEST_ASSERT_EQUAL_HEX64(0x8040201008040201ull, bb_diagonal(A1));
    TEST_ASSERT_EQUAL_HEX64(0x0102040810204080ull, bb_antidiagonal(H1));
}

static int sign(int x) { return (x > 0) - (x < 0); }

static void between_and_line_agree_with_geometry(void) {
    for (int a = 0; a < SQUARES; a++)
        for (int b = 0; b < SQUARES; b++) {
            int files = b % 8 - a % 8, ranks = b / 8 - a / 8;
            bool aligned = a != b && (!files || !ranks || abs(files) == abs(ranks));
            Bitboard between = 0, line = 0;
            if (aligned) {
                int step = sign(files) + 8 * sign(ranks);
                for (int square = a + step; square != b; square += step) between |= 1ull << square;
                for (int square = 0; square < SQUARES; square++) // on the line if the cross product vanishes
                    if ((square % 8 - a % 8) * ranks == (square / 8 - a / 8) * files) line |= 1ull << square;
            }
            TEST_ASSERT_EQUAL_HEX64(between, bb_between(a, b));
            TEST_ASSERT_EQUAL_HEX64(line, bb_line(a, b));
        }
}

static void sets_are_counted_popped_and_shifted(void) {
    Bitboard set = bb_of(A1) | bb_of(28) | bb_of(H8);
    TEST_ASSERT_EQUAL_INT(3, bb_count(set));
    TEST_ASSERT_TRUE(bb_several(set));
    TEST_ASSERT_EQUAL_INT(A1, bb_pop(&set));
    TEST_ASSERT_EQUAL_INT(28, bb_pop(&set));
    TEST_ASSERT_FALSE(bb_several(set));
    TEST_ASSERT_EQUAL_INT(H8, bb_pop(&set));
    TEST_ASSERT_EQUAL_HEX64(0, set);
    TEST_ASSERT_FALSE(bb_several(0));
    TEST_ASSERT_EQUAL_HEX64(0, bb_east(FILE_H));
    TEST_ASSERT_EQUAL_HEX64(0, bb_west(FILE_A));
    TEST_ASSERT_EQUAL_HEX64(0, bb_north(RANK_8));
    TEST_ASSERT_EQUAL_HEX64(0, bb_south(RANK_1));
    TEST_ASSERT_EQUAL_HEX64(bb_rank(2), bb_forward(WHITE, bb_rank(1)));
    TEST_ASSERT_EQUAL_HEX64(bb_rank(5), bb_forward(BLACK, bb_rank(6)));
    TEST_ASSERT_EQUAL_HEX64(RANK_1 << 16, bb_pawn_attacks(WHITE, bb_rank(1)));
    TEST_ASSERT_EQUAL_HEX64(32, bb_count(LIGHT_SQUARES));
    TEST_ASSERT_FALSE_MESSAGE(bb_has(LIGHT_SQUARES, A1), "a1 is dark");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(leapers_reach_what_a_walk_reaches);
    RUN_TEST(sliders_reach_what_a_walk_reaches);
    RUN_TEST(every_occupation_of_a_mask_is_right);
    RUN_TEST(rays_are_attacks_on_an_empty_board);
    RUN_TEST(between_and_line_agree_with_geometry);
    RUN_TEST(sets_are_counted_popped_and_shifted);
    return UNITY_END();
}
