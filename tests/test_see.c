// SPDX-License-Identifier: GPL-3.0-or-later
// position_see against an exchange played out recursively on a plain board, written from the words of
// position.h: the least valuable piece takes (lowest square first among equals), either side may stop, x-rays
// count, pins do not, a king takes nothing that is defended, and only the first move promotes.
#include "engine/position.h"

#include <stdio.h>
#include <string.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "tests/positions.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static const int Price[PIECE_TYPES] = {100, 325, 325, 500, 900, 1000000};

// Whether the piece on a square attacks another on this board.
static bool attacks(const uint8_t *board, int from, int to) {
    int files = to % 8 - from % 8, ranks = to / 8 - from / 8, type = board[from] / 2;
    int wide = files < 0 ? -files : files, high = ranks < 0 ? -ranks : ranks;
    if (from == to) return false;
    if (type == PAWN) return wide == 1 && ranks == (board[from] % 2 ? -1 : 1);
    if (type == KNIGHT) return wide * high == 2;
    if (type == KING) return wide <= 1 && high <= 1;
    bool straight = !files || !ranks, diagonal = wide == high;
    if (!(straight && type != BISHOP) && !(diagonal && type != ROOK)) return false;
    int step = (files > 0) - (files < 0) + 8 * ((ranks > 0) - (ranks < 0));
    for (int square = from + step; square != to; square += step)
        if (board[square] != NO_PIECE) return false;
    return true;
}

static bool defended(const uint8_t *board, int by, int square) {
    for (int from = 0; from < 64; from++)
        if (board[from] != NO_PIECE && board[from] % 2 == by && attacks(board, from, square)) return true;
    return false;
}

// The most that a side gains by taking on a square, or 0 if it had better not; every order is tried if all is
// set, else the least valuable piece alone.
static int exchange(const uint8_t *board, int side, int square, bool all) {
    int best = 0, chosen = NO_TYPE;
    for (int pass = 0; pass < 2; pass++)
        for (int from = 0; from < 64; from++) {
            int piece = board[from];
            if (piece == NO_PIECE || piece % 2 != side || !attacks(board, from, square)) continue;
            if (pass == 0) { // find the cheapest type
                if (piece / 2 < chosen) chosen = piece / 2;
                continue;
            }
            if (!all && piece / 2 != chosen) continue;
            uint8_t after[64];
            memcpy(after, board, sizeof after);
            after[square] = (uint8_t)piece;
            after[from] = NO_PIECE;
            if (piece / 2 == KING && defended(after, side ^ 1, square)) continue;
            int gain = Price[board[square] / 2] - exchange(after, side ^ 1, square, all);
            if (gain > best) best = gain;
            if (!all) return best;
        }
    return best;
}

static int oracle(const Position *pos, Move move, bool all) {
    int from = move_from(move), to = move_to(move), kind = move_kind(move), gain = 0;
    if (kind == MOVE_CASTLING) return 0;
    uint8_t board[64];
    memcpy(board, pos->board, sizeof board);
    if (board[to] != NO_PIECE) gain = Price[board[to] / 2];
    board[to] = board[from];
    board[from] = NO_PIECE;
    if (kind == MOVE_EN_PASSANT) {
        int victim = to + (pos->stm == WHITE ? -8 : 8);
        TEST_ASSERT_EQUAL_INT(PAWN, board[victim] / 2);
        gain = Price[PAWN];
        board[victim] = NO_PIECE;
    }
    if (kind == MOVE_PROMOTION) {
        gain += Price[move_promotion(move)] - Price[PAWN];
        board[to] = (uint8_t)(2 * move_promotion(move) + pos->stm);
    }
    return gain - exchange(board, pos->stm ^ 1, to, all);
}

static const int Thresholds[] = {-900, -500, -325, -101, -100, -1, 0, 1, 100, 101, 325, 500, 900};
enum { THRESHOLDS = sizeof Thresholds / sizeof Thresholds[0] };

static void fail_at(const Position *pos, Move move, int threshold, int expected) {
    char fen[FEN_SIZE], uci[UCI_SIZE], text[FEN_SIZE + 80];
    position_to_fen(pos, fen);
    notation_to_uci(pos, move, uci);
    snprintf(text, sizeof text, "%s %s threshold %d oracle %d", fen, uci, threshold, expected);
    TEST_FAIL_MESSAGE(text);
}

static void exchange_agrees_with_the_oracle(void) {
    long moves_seen = 0, captures = 0, promotions = 0, en_passants = 0, other_orders = 0;
    for (uint64_t i = 0; i < (test_long() ? 50000 : 8000); i++) {
        Position pos = random_position(31, i, i % 2);
        Move moves[MAX_MOVES];
        int count = movegen(&pos, moves, GEN_ALL);
        for (int m = 0; m < count; m++) {
            Move move = moves[m];
            int expected = oracle(&pos, move, false);
            moves_seen++;
            captures += position_is_capture(&pos, move);
            promotions += move_kind(move) == MOVE_PROMOTION;
            en_passants += move_kind(move) == MOVE_EN_PASSANT;
            other_orders += oracle(&pos, move, true) != expected;
            for (int t = 0; t < THRESHOLDS; t++)
                if (position_see(&pos, move, Thresholds[t]) != (expected >= Thresholds[t]))
                    fail_at(&pos, move, Thresholds[t], expected);
            if (!position_see(&pos, move, expected) || position_see(&pos, move, expected + 1))
                fail_at(&pos, move, expected, expected);
        }
    }
    printf("exchange: %ld moves, %ld captures, %ld promotions, %ld en passant; %ld have a better order\n",
           moves_seen, captures, promotions, en_passants, other_orders);
    TEST_ASSERT_GREATER_THAN(100000, moves_seen);
    TEST_ASSERT_GREATER_THAN(10000, captures);
    TEST_ASSERT_GREATER_THAN(100, promotions);
    TEST_ASSERT_GREATER_THAN(10, en_passants);
    // Taking with the least valuable piece is right but where it opens a line for the other side.
    TEST_ASSERT_LESS_THAN(moves_seen / 500, other_orders);
}

static void exchanges_known_by_hand(void) {
    static const struct {
        const char *fen, *move;
        int value;
    } cases[] = {
        {"1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100},
        {"1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", -225},
        {"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100},       // en passant, not retaken
        {"4k3/2p5/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0},       // and retaken
        {"1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", 325 + 800}, // takes and promotes
        {"rn2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", 325 - 100}, // the queen is retaken
        {"rn2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8n", 325 - 100}, // so is a knight: a pawn for a knight
        {"r3k3/1P6/8/8/8/8/8/4K3 w q - 0 1", "b7b8q", -100},      // quiet promotion, retaken
        {"8/8/8/3k4/4p3/5P2/8/4K3 w - - 0 1", "f3e4", 0},         // the king retakes
        {"8/8/8/3k4/4p3/5P2/6B1/4K3 w - - 0 1", "f3e4", 100},     // the king may not: the bishop defends
        {"4k3/8/8/4p3/8/8/4Q3/4R1K1 w - - 0 1", "e2e5", 100},
        {"4k3/4r3/8/4p3/8/8/4Q3/4R1K1 w - - 0 1", "e2e5", 100 - 900 + 500},
        {"4k3/4r3/8/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", 100},   // a rook behind a rook
        {"4k3/6b1/5q2/4p3/3P4/8/1B6/4K3 w - - 0 1", "d4e5", 100}, // bishop behind pawn, bishop behind queen
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position pos;
        TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, cases[i].fen, NULL), cases[i].fen);
        Move move = notation_from_uci(&pos, cases[i].move);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, cases[i].fen);
        TEST_ASSERT_TRUE_MESSAGE(position_see(&pos, move, cases[i].value), cases[i].fen);
        TEST_ASSERT_FALSE_MESSAGE(position_see(&pos, move, cases[i].value + 1), cases[i].fen);
        Position flipped = position_flip(&pos);
        Move turned = (Move)(move ^ (56 | 56 << 6));
        TEST_ASSERT_TRUE_MESSAGE(position_see(&flipped, turned, cases[i].value), cases[i].fen);
        TEST_ASSERT_FALSE_MESSAGE(position_see(&flipped, turned, cases[i].value + 1), cases[i].fen);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(exchange_agrees_with_the_oracle);
    RUN_TEST(exchanges_known_by_hand);
    return UNITY_END();
}
