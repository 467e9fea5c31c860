// SPDX-License-Identifier: GPL-3.0-or-later
// engine/wdl: chances that add up, mirror each other and never go the wrong way, for every score and
// material; and UCI_ShowWDL as a GUI sees it.
#include "engine/wdl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/dialogue.h"
#include "unity.h"

enum { PATIENCE = 30000 };

static char Program[512];

void setUp(void) {}
void tearDown(void) {}

static void chances_add_up_and_mirror(void) {
    for (int material = 0; material <= 110; material++) {
        for (int score = -SCORE_MATE; score <= SCORE_MATE; score += score > -3000 && score < 3000 ? 1 : 37) {
            Wdl ours = wdl_of(score, material), theirs = wdl_of(-score, material);
            TEST_ASSERT_EQUAL_INT(1000, ours.win + ours.draw + ours.loss);
            TEST_ASSERT_TRUE(ours.win >= 0 && ours.draw >= 0 && ours.loss >= 0);
            TEST_ASSERT_TRUE(ours.win == theirs.loss && ours.draw == theirs.draw && ours.loss == theirs.win);
        }
    }
}

static void a_higher_score_is_never_worse(void) {
    for (int material = 0; material <= 110; material++) {
        Wdl before = wdl_of(-SCORE_MATE, material);
        for (int score = -SCORE_MATE + 1; score <= SCORE_MATE; score++) {
            Wdl now = wdl_of(score, material);
            TEST_ASSERT_TRUE(now.win >= before.win && now.loss <= before.loss);
            before = now;
        }
        // And it means something: from nothing to a queen the step is climbed.
        TEST_ASSERT_TRUE(wdl_of(0, material).draw > 500);
        TEST_ASSERT_TRUE(wdl_of(900, material).win > 950);
    }
}

static void what_is_proven_is_certain(void) {
    static const int Proven[] = {SCORE_MATE, SCORE_MATE - 9, SCORE_MATE_IN_MAX, SCORE_TB_WIN,
                                 SCORE_TB_WIN_IN_MAX};
    for (size_t i = 0; i < sizeof Proven / sizeof *Proven; i++) {
        TEST_ASSERT_EQUAL_INT(1000, wdl_of(Proven[i], 30).win);
        TEST_ASSERT_EQUAL_INT(1000, wdl_of(-Proven[i], 30).loss);
    }
}

// The model is the formula of the header, and half the games are won at a.
static void the_formula(void) {
    WdlModel model = {.a = {120, 30, -20, 10}, .b = {60, -5, 4, 2}};
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, wdl_win(&model, 140, WDL_FULL)); // x = 1: 120 + 30 - 20 + 10
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1 / (1 + exp(-1)), wdl_win(&model, 140 + 61, WDL_FULL));
    double x = 29.0 / WDL_FULL, a = 120 + 30 * x - 20 * x * x + 10 * x * x * x,
           b = 60 - 5 * x + 4 * x * x + 2 * x * x * x;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1 / (1 + exp((a - 33) / b)), wdl_win(&model, 33, 29));
    TEST_ASSERT_DOUBLE_WITHIN(0, wdl_win(&model, 50, WDL_LEAST), wdl_win(&model, 50, 0));
    TEST_ASSERT_DOUBLE_WITHIN(0, wdl_win(&model, 50, WDL_MOST), wdl_win(&model, 50, 99));
}

static void material_counts_both_sides(void) {
    Position pos;
    TEST_ASSERT_TRUE(position_from_fen(&pos, START_FEN, NULL));
    TEST_ASSERT_EQUAL_INT(78, wdl_material(&pos));
    TEST_ASSERT_TRUE(position_from_fen(&pos, "4k3/1p6/2n5/8/8/8/4BQR1/4K3 w - - 0 1", NULL));
    TEST_ASSERT_EQUAL_INT(1 + 3 + 3 + 9 + 5, wdl_material(&pos));
}

// Info lines have wdl behind the score when asked for, adding up to 1000, and not otherwise.
static void the_option_shows_it(void) {
    Dialogue d = dialogue_start((char *[]){Program, NULL});
    for (int show = 0; show < 2; show++) {
        int lines = 0, with = 0;
        if (show) dialogue_send(&d, "setoption name UCI_ShowWDL value true");
        dialogue_send(&d, "position startpos moves e2e4");
        dialogue_send(&d, "go nodes 20000");
        for (const char *line; (line = dialogue_line(&d, PATIENCE)) && strncmp(line, "bestmove", 8) != 0;) {
            int win, draw, loss;
            const char *score = strstr(line, " score cp "), *wdl = strstr(line, " wdl ");
            if (!score) continue;
            lines++;
            if (!wdl) continue;
            with++;
            TEST_ASSERT_TRUE(wdl > score && wdl < strstr(line, " nodes "));
            TEST_ASSERT_EQUAL_INT(3, sscanf(wdl, " wdl %d %d %d ", &win, &draw, &loss));
            TEST_ASSERT_EQUAL_INT(1000, win + draw + loss);
        }
        TEST_ASSERT_GREATER_THAN_INT(3, lines);
        TEST_ASSERT_EQUAL_INT(show ? lines : 0, with);
    }
    dialogue_send(&d, "quit");
    TEST_ASSERT_EQUAL_INT(0, dialogue_end(&d, PATIENCE));
}

int main(void) {
    const char *bin = getenv("HONE_BIN");
    snprintf(Program, sizeof Program, "%s/hone", bin ? bin : ".");
    bitboard_init();
    UNITY_BEGIN();
    RUN_TEST(chances_add_up_and_mirror);
    RUN_TEST(a_higher_score_is_never_worse);
    RUN_TEST(what_is_proven_is_certain);
    RUN_TEST(the_formula);
    RUN_TEST(material_counts_both_sides);
    RUN_TEST(the_option_shows_it);
    return UNITY_END();
}
