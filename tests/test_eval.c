// SPDX-License-Identifier: GPL-3.0-or-later
// engine/eval: symmetric to the last centipawn under colour flip and mirror, within bounds, the same with and
// without the pawn table, equal to the sum of its trace; and it knows what a chess player knows.
#include "engine/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"
#include "engine/psqt.h"
#include "engine/weights.h"
#include "unity.h"

void setUp(void) { bitboard_init(); }
void tearDown(void) {}

// The position after a random number of random legal moves from the start, or from a Chess960 start for odd
// numbers.
static Position random_position(uint64_t number) {
    Position pos, next;
    uint64_t count = 0;
    position_from_fen(&pos, START_FEN, NULL);
    if (number & 1) {
        int start = (int)random_below(random_at(7, number, count++), 960);
        position_from_chess960(&pos, start, start);
    }
    for (int plies = (int)random_below(random_at(7, number, count++), 160); plies > 0; plies--) {
        MoveList list;
        movegen_list(&pos, &list);
        if (!list.count || position_insufficient(&pos)) break;
        position_make(&next, &pos,
                      list.moves[random_below(random_at(7, number, count++), (uint64_t)list.count)]);
        pos = next;
    }
    return pos;
}

static Position from_fen(const char *fen) {
    Position pos;
    Error error;
    if (!position_from_fen(&pos, fen, &error)) TEST_FAIL_MESSAGE(error.text);
    return pos;
}

static int eval_of(const char *fen) {
    Position pos = from_fen(fen);
    return eval_position(&pos, NULL);
}

static void flipping_colours_changes_nothing(void) {
    int different = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        Position pos = random_position(i), flipped = position_flip(&pos);
        TEST_ASSERT_EQUAL_INT(eval_position(&pos, NULL), eval_position(&flipped, NULL));
        different += eval_position(&pos, NULL) != 0;
    }
    TEST_ASSERT_GREATER_THAN_INT(9000, different);
}

static void mirroring_files_changes_nothing(void) {
    int tried = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        Position pos = random_position(i);
        if (pos.castling) continue;
        Position mirrored = position_mirror(&pos);
        TEST_ASSERT_EQUAL_INT(eval_position(&pos, NULL), eval_position(&mirrored, NULL));
        tried++;
    }
    TEST_ASSERT_GREATER_THAN_INT(5000, tried);
}

static void the_pawn_table_changes_nothing(void) {
    PawnTable *table = calloc(1, sizeof *table);
    int used = 0;
    for (uint64_t i = 0; i < 500; i++) {
        Position pos = random_position(i), next;
        for (uint64_t k = 0; k < 60; k++) {
            TEST_ASSERT_EQUAL_INT(eval_position(&pos, NULL), eval_position(&pos, table)); // filled now
            TEST_ASSERT_EQUAL_INT(eval_position(&pos, NULL), eval_position(&pos, table)); // read now
            MoveList list;
            movegen_list(&pos, &list);
            if (!list.count) break;
            position_make(&next, &pos, list.moves[random_below(random_at(8, i, k), (uint64_t)list.count)]);
            pos = next;
        }
    }
    for (int i = 0; i < PAWN_TABLE_SIZE; i++) used += table->entries[i].key != 0;
    TEST_ASSERT_GREATER_THAN_INT(PAWN_TABLE_SIZE / 4, used);
    free(table);
}

static void the_pawn_table_is_read(void) {
    PawnTable *table = calloc(1, sizeof *table);
    Position pos = from_fen(START_FEN);
    int score = eval_position(&pos, table);
    for (int i = 0; i < PAWN_TABLE_SIZE; i++)
        if (table->entries[i].key) table->entries[i].score += PACK(50, 50);
    TEST_ASSERT_EQUAL_INT(score + 50, eval_position(&pos, table));
    free(table);
}

static void the_trace_adds_up(void) {
    for (uint64_t i = 0; i < 3000; i++) {
        Position pos = random_position(i);
        EvalParts parts = eval_parts(&pos, &DefaultWeights);
        int mg = 0, eg = 0;
        for (int term = 0; term < TERMS; term++) {
            mg += packed_mg(parts.terms[term][WHITE]) - packed_mg(parts.terms[term][BLACK]);
            eg += packed_eg(parts.terms[term][WHITE]) - packed_eg(parts.terms[term][BLACK]);
        }
        TEST_ASSERT_EQUAL_INT(mg, packed_mg(parts.sum));
        TEST_ASSERT_EQUAL_INT(eg, packed_eg(parts.sum));
        int total =
            (mg * parts.phase * 64 + eg * parts.scale * (24 - parts.phase)) / (24 * 64) + parts.mop_up;
        TEST_ASSERT_EQUAL_INT(total, parts.total);
        TEST_ASSERT_EQUAL_INT(pos.stm == WHITE ? total : -total, eval_position(&pos, NULL));
        TEST_ASSERT_EQUAL_INT32(pos.psq, parts.terms[TERM_PSQ][WHITE] - parts.terms[TERM_PSQ][BLACK]);
    }
}

static void the_trace_says_what_the_evaluation_is(void) {
    char text[2048], small[40], expected[64];
    Position pos = from_fen("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3");
    int score = eval_position(&pos, NULL);
    eval_trace(&pos, text, sizeof text);
    snprintf(expected, sizeof expected, "%+.2f for the side to move", score / 100.0);
    TEST_ASSERT_NOT_NULL(strstr(text, expected));
    TEST_ASSERT_LESS_THAN_INT(1200, (int)strlen(text));
    memset(small, 'x', sizeof small);
    eval_trace(&pos, small, 30);
    TEST_ASSERT_EQUAL_INT(29, (int)strlen(small));
    TEST_ASSERT_EQUAL_INT('x', small[30]);
    TEST_ASSERT_EQUAL_MEMORY(text, small, 29);
}

static void extremes_stay_within_bounds(void) {
    static const char *const Fens[] = {
        "QQQQQQQQ/Q7/8/8/8/k7/8/RNBK1BNR w - - 0 1", "3k4/QQQQQ3/8/8/8/8/QQQQ4/RNBK1BNR b - - 0 1",
        "qqqqqqqq/q7/8/8/8/K7/8/rnbk1bnr b - - 0 1", "7k/PPPPPPPP/8/8/8/8/8/RNBQKBNR w - - 0 1",
        "8/pppppppp/8/8/8/8/PPPPPPPP/k6K w - - 0 1"};
    for (size_t i = 0; i < sizeof Fens / sizeof *Fens; i++) {
        Position pos;
        if (!position_from_fen(&pos, Fens[i], NULL)) continue; // the rules may refuse what cannot arise
        int score = eval_position(&pos, NULL);
        TEST_ASSERT_GREATER_OR_EQUAL_INT(-20000, score);
        TEST_ASSERT_LESS_OR_EQUAL_INT(20000, score);
    }
    for (uint64_t i = 0; i < 2000; i++) {
        Position pos = random_position(i);
        TEST_ASSERT_LESS_OR_EQUAL_INT(12000, abs(eval_position(&pos, NULL)));
    }
}

static void a_piece_more_is_better(void) {
    const int start = eval_of(START_FEN);
    TEST_ASSERT_INT_WITHIN(40, 20, start); // only the move
    TEST_ASSERT_GREATER_THAN_INT(start + 40,
                                 eval_of("rnbqkbnr/pp1ppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    TEST_ASSERT_GREATER_THAN_INT(start + 240,
                                 eval_of("r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    TEST_ASSERT_GREATER_THAN_INT(start + 240,
                                 eval_of("rn1qkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
    TEST_ASSERT_GREATER_THAN_INT(start + 350,
                                 eval_of("1nbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1"));
    TEST_ASSERT_GREATER_THAN_INT(start + 800,
                                 eval_of("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"));
}

static void a_pawn_is_about_a_hundred(void) {
    int base = eval_of("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"),
        more = eval_of("4k3/ppp5/8/8/8/8/PPPP4/4K3 w - - 0 1");
    TEST_ASSERT_INT_WITHIN(60, 110, more - base);
}

static void passed_pawns_grow_on_their_way(void) {
    const char *const fens[] = {"4k3/8/8/8/8/P7/8/4K3 w - - 0 1", "4k3/8/8/8/P7/8/8/4K3 w - - 0 1",
                                "4k3/8/8/P7/8/8/8/4K3 w - - 0 1", "4k3/8/P7/8/8/8/8/4K3 w - - 0 1",
                                "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"};
    for (int i = 1; i < 5; i++) TEST_ASSERT_GREATER_THAN_INT(eval_of(fens[i - 1]), eval_of(fens[i]));
}

static void endings_that_cannot_be_won_are_near_zero(void) {
    static const char *const Fens[] = {
        "8/8/4k3/8/8/3NNK2/8/8 w - - 0 1",    // two knights
        "8/8/4k3/8/8/3B1K2/8/8 w - - 0 1",    // a bishop
        "1k6/8/8/P7/1K6/8/3B4/8 w - - 0 1",   // a8 is light, d2 is dark: the wrong bishop
        "8/8/4k3/8/3r4/8/2R5/4KB2 b - - 0 1", // a minor piece up without pawns
    };
    for (size_t i = 0; i < sizeof Fens / sizeof *Fens; i++)
        TEST_ASSERT_INT_WITHIN(i == 3 ? 150 : 0, 0, eval_of(Fens[i]));
    TEST_ASSERT_GREATER_THAN_INT(250, eval_of("1k6/8/8/P7/1K6/8/4B3/8 w - - 0 1")); // the right one
    int opposite = eval_of("4k3/3b1p2/6p1/8/4P3/3P1P2/3B4/4K3 w - - 0 1");
    int same = eval_of("4k3/4bp2/6p1/8/4P3/3P1P2/3B4/4K3 w - - 0 1");
    TEST_ASSERT_GREATER_THAN_INT(opposite, same);
}

static void a_bare_king_is_driven_to_the_edge(void) {
    static const char *const Pieces[] = {"R", "Q"};
    for (int i = 0; i < 2; i++) {
        char centre[64], edge[64], corner[64];
        snprintf(centre, sizeof centre, "8/8/8/3k4/8/3K4/8/1%s6 w - - 0 1", Pieces[i]);
        snprintf(edge, sizeof edge, "3k4/8/3K4/8/8/8/8/1%s6 w - - 0 1", Pieces[i]);
        snprintf(corner, sizeof corner, "7k/8/6K1/8/8/8/8/1%s6 w - - 0 1", Pieces[i]);
        TEST_ASSERT_GREATER_THAN_INT(eval_of(centre), eval_of(edge));
        TEST_ASSERT_GREATER_THAN_INT(eval_of(edge), eval_of(corner));
    }
    // Bishop and knight: only a corner of the bishop's colour (f1 is light, so a8) will do.
    TEST_ASSERT_GREATER_THAN_INT(eval_of("7k/8/5K2/8/8/8/8/4NB2 w - - 0 1"),
                                 eval_of("k7/8/2K5/8/8/8/8/4NB2 w - - 0 1"));
}

static void the_phase_runs_from_24_to_0(void) {
    Position pos = from_fen(START_FEN);
    TEST_ASSERT_EQUAL_INT(24, eval_phase(&pos));
    pos = from_fen("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1");
    TEST_ASSERT_EQUAL_INT(0, eval_phase(&pos));
    pos = from_fen("q3k3/pppp4/8/8/8/8/PPPP4/R2NKB2 w - - 0 1");
    TEST_ASSERT_EQUAL_INT(8, eval_phase(&pos));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(flipping_colours_changes_nothing);
    RUN_TEST(mirroring_files_changes_nothing);
    RUN_TEST(the_pawn_table_changes_nothing);
    RUN_TEST(the_pawn_table_is_read);
    RUN_TEST(the_trace_adds_up);
    RUN_TEST(the_trace_says_what_the_evaluation_is);
    RUN_TEST(extremes_stay_within_bounds);
    RUN_TEST(a_piece_more_is_better);
    RUN_TEST(a_pawn_is_about_a_hundred);
    RUN_TEST(passed_pawns_grow_on_their_way);
    RUN_TEST(endings_that_cannot_be_won_are_near_zero);
    RUN_TEST(a_bare_king_is_driven_to_the_edge);
    RUN_TEST(the_phase_runs_from_24_to_0);
    return UNITY_END();
}
