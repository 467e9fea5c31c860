// SPDX-License-Identifier: GPL-3.0-or-later
// engine/movegen: published perft counts, each isolating some rule; the legality of every 16-bit move against
// the generator; noisy and quiet moves as the two halves of all. test_perft_stockfish.c compares with another
// program.
#include "engine/movegen.h"

#include <string.h>

#include "engine/notation.h"
#include "tests/positions.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

typedef struct Perft {
    const char *fen;
    uint64_t counts[7]; // by depth, from 1; 0 where no figure is published
} Perft;

// Standard positions.
static const Perft Standard[] = {
    {START_FEN, {20, 400, 8902, 197281, 4865609, 119060324}},
    {"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
     {48, 2039, 97862, 4085603, 193690690}},
    {"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", {14, 191, 2812, 43238, 0, 0, 178633661}},
    {"r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", {6, 264, 9467, 0, 0, 706045033}},
    {"rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", {44, 1486, 62379, 0, 89941194}},
    {"r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
     {46, 2079, 89890, 0, 164075551}},
    {"r7/4p3/5p1q/3P4/4pQ2/4pP2/6pp/R3K1kr w Q - 1 3", {0, 0, 0, 0, 11609488}},
    {"R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", {218}},
};

// Each of these catches one mistake.
static const Perft Small[] = {
    {"3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", {18, 92, 1670, 10138, 185429, 1134888}}, // en passant opens a rank
    {"8/8/4k3/8/2p5/8/B2P2K1/8 w - - 0 1", {0, 0, 0, 0, 0, 1015133}},  // en passant opens a diagonal
    {"8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", {0, 0, 0, 0, 0, 1440467}}, // en passant gives check
    {"5k2/8/8/8/8/8/8/4K2R w K - 0 1", {0, 0, 0, 0, 0, 661072}},       // castling gives check
    {"3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", {0, 0, 0, 0, 0, 803711}},
    {"r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", {0, 0, 0, 1274206}}, // rights go with a captured rook
    {"r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", {0, 0, 0, 1720476}},  // castling through check
    {"2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", {0, 0, 0, 0, 0, 3821001}},   // promotion out of check
    {"8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", {0, 0, 0, 0, 1004658}},    // discovered check
    {"4k3/1P6/8/8/8/8/K7/8 w - - 0 1", {0, 0, 0, 0, 0, 217342}},       // promotion with check
    {"8/P1k5/K7/8/8/8/8/8 w - - 0 1", {0, 0, 0, 0, 0, 92683}},         // under-promotion
    {"K1k5/8/P7/8/8/8/8/8 w - - 0 1", {0, 0, 0, 0, 0, 2217}},          // stalemate of oneself
    {"8/k1P5/8/1K6/8/8/8/8 w - - 0 1", {0, 0, 0, 0, 0, 0, 567584}},    // stalemate and mate
    {"8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", {0, 0, 0, 23527}},           // double check
};

// Chess960, double Chess960, and castling rooks that shield the king; depths 1 to 4 by stockfish 15.1.
static const Perft Fischer[] = {
    {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah - 0 1", {20, 400, 8902, 197281, 4865609, 119060324}},
    {"1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
     {29, 502, 14569, 287739, 0, 191762235}},
    {"rbbqn1kr/pp2p1pp/6n1/2pp1p2/2P4P/P7/BP1PPPP1/R1BQNNKR w HAha - 0 9",
     {27, 916, 25798, 890435, 0, 924181432}},
    {"rqbbknr1/1ppp2pp/p5n1/4pp2/P7/1PP5/1Q1PPPPP/R1BBKNRN w GAga - 0 9",
     {24, 600, 15347, 408207, 0, 308553169}},
    {"4rrb1/1kp3b1/1p1p4/pP1Pn2p/5p2/1PR2P2/2P1NB1P/2KR1B2 w D - 0 21",
     {30, 935, 27215, 888182, 0, 872323796}},
    {"1rkr3b/1ppn3p/3pB1n1/6q1/R2P4/4N1P1/1P5P/2KRQ1B1 b Dbd - 0 14",
     {35, 1342, 46468, 1854299, 0, 2678022813}},
    {"qbbnrkr1/p1pppppp/1p4n1/8/2P5/6N1/PPNPPPPP/1BRKBRQ1 b FCge - 1 3",
     {30, 718, 22529, 584306, 0, 521301336}},
    {"rr6/2kpp3/1ppn2p1/p2b1q1p/P4P1P/1PNN2P1/2PP4/1K2R2R b E - 1 20", {44, 1438}},
    {"rr6/2kpp3/1ppnb1p1/p2Q1q1p/P4P1P/1PNN2P1/2PP4/1K2RR2 b E - 2 19", {37, 1546, 54792, 2237725}},
};

// Counts every published depth of a list that is small enough for this run.
static void check_perft(const Perft *list, size_t size) {
    const uint64_t limit = test_long() ? UINT64_MAX : 5000000;
    for (size_t i = 0; i < size; i++) {
        Position pos;
        Error error;
        TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, list[i].fen, &error), error.text);
        for (int depth = 1; depth <= 7; depth++) {
            uint64_t expected = list[i].counts[depth - 1];
            if (!expected || expected > limit) continue;
            TEST_ASSERT_EQUAL_UINT64_MESSAGE(expected, movegen_perft(&pos, depth), list[i].fen);
        }
    }
}

#define SIZE(list) (sizeof(list) / sizeof(list)[0])

static void perft_of_the_standard_positions(void) { check_perft(Standard, SIZE(Standard)); }
static void perft_of_the_small_positions(void) { check_perft(Small, SIZE(Small)); }
static void perft_of_chess960(void) { check_perft(Fischer, SIZE(Fischer)); }

// A count by making every move and asking whether the king can be taken: no masks, no pins, no bulk counting.
static uint64_t slow_perft(const Position *pos, int depth) {
    if (!depth) return 1;
    Move moves[MAX_MOVES];
    uint64_t nodes = 0;
    int count = movegen(pos, moves, GEN_ALL);
    for (int i = 0; i < count; i++) {
        Position after;
        position_make(&after, pos, moves[i]);
        TEST_ASSERT_FALSE(
            position_attacked(&after, after.stm, position_king(&after, pos->stm), position_occupied(&after)));
        nodes += slow_perft(&after, depth - 1);
    }
    return nodes;
}

static void bulk_counting_counts_the_same(void) {
    for (uint64_t i = 0; i < 200; i++) {
        Position pos = random_position(11, i, i % 2);
        TEST_ASSERT_EQUAL_UINT64(slow_perft(&pos, 2), movegen_perft(&pos, 2));
    }
    Position pos = random_position(11, 0, false);
    TEST_ASSERT_EQUAL_UINT64(1, movegen_perft(&pos, 0));
}

static void every_encoding_is_legal_if_and_only_if_generated(void) {
    static bool generated[1 << 16];
    for (uint64_t i = 0; i < 1000; i++) {
        Position pos = random_position(12, i, i % 2);
        MoveList list;
        movegen_list(&pos, &list);
        memset(generated, 0, sizeof generated);
        for (int m = 0; m < list.count; m++) {
            TEST_ASSERT_FALSE_MESSAGE(generated[list.moves[m]], "a move was generated twice");
            generated[list.moves[m]] = true;
        }
        for (int move = 0; move < 1 << 16; move++) {
            if (movegen_is_legal(&pos, (Move)move) == generated[move]) continue;
            char fen[FEN_SIZE], text[FEN_SIZE + 32];
            position_to_fen(&pos, fen);
            snprintf(text, sizeof text, "%s move %#x", fen, (unsigned)move);
            TEST_FAIL_MESSAGE(text);
        }
        TEST_ASSERT_EQUAL_INT(list.count > 0, movegen_any(&pos));
        TEST_ASSERT_FALSE(movegen_is_legal(&pos, MOVE_NONE) || movegen_is_legal(&pos, MOVE_NULL));
    }
}

static void noisy_and_quiet_moves_are_the_halves_of_all(void) {
    for (uint64_t i = 0; i < 2000; i++) {
        Position pos = random_position(13, i, i % 2);
        Move all[MAX_MOVES], noisy[MAX_MOVES], quiet[MAX_MOVES];
        int count = movegen(&pos, all, GEN_ALL), noisy_count = movegen(&pos, noisy, GEN_NOISY);
        int quiet_count = movegen(&pos, quiet, GEN_QUIET);
        TEST_ASSERT_EQUAL_INT(count, noisy_count + quiet_count);
        for (int m = 0; m < noisy_count; m++) TEST_ASSERT_TRUE(position_is_noisy(&pos, noisy[m]));
        for (int m = 0; m < quiet_count; m++) TEST_ASSERT_FALSE(position_is_noisy(&pos, quiet[m]));
        for (int m = 0; m < noisy_count; m++) TEST_ASSERT_TRUE(movegen_is_legal(&pos, noisy[m]));
        for (int m = 0; m < quiet_count; m++) TEST_ASSERT_TRUE(movegen_is_legal(&pos, quiet[m]));
    }
}

static void promotions_that_take_are_noisy_and_other_knights_quiet(void) {
    Position pos;
    TEST_ASSERT_TRUE(position_from_fen(&pos, "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", NULL));
    Move moves[MAX_MOVES];
    TEST_ASSERT_EQUAL_INT(5, movegen(&pos, moves, GEN_NOISY));     // a8=Q and axb8 to each of four
    TEST_ASSERT_EQUAL_INT(3 + 5, movegen(&pos, moves, GEN_QUIET)); // a8 to R, B, N; five king moves
}

static void a_flipped_position_has_as_many_moves(void) {
    for (uint64_t i = 0; i < 500; i++) {
        Position pos = random_position(14, i, i % 2), flipped = position_flip(&pos);
        TEST_ASSERT_EQUAL_UINT64(movegen_perft(&pos, 2), movegen_perft(&flipped, 2));
        Position bare = pos;
        bare.castling = 0;
        position_rebuild(&bare);
        Position mirrored = position_mirror(&bare);
        TEST_ASSERT_EQUAL_UINT64(movegen_perft(&bare, 2), movegen_perft(&mirrored, 2));
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(perft_of_the_standard_positions);
    RUN_TEST(perft_of_the_small_positions);
    RUN_TEST(perft_of_chess960);
    RUN_TEST(bulk_counting_counts_the_same);
    RUN_TEST(every_encoding_is_legal_if_and_only_if_generated);
    RUN_TEST(noisy_and_quiet_moves_are_the_halves_of_all);
    RUN_TEST(promotions_that_take_are_noisy_and_other_knights_quiet);
    RUN_TEST(a_flipped_position_has_as_many_moves);
    return UNITY_END();
}
