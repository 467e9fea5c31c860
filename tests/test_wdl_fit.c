// SPDX-License-Identifier: GPL-3.0-or-later
// tuner/wdl_fit: finds a model again from the counts that it predicts, and counts a game from both sides.
#include "tuner/wdl_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

void setUp(void) { bitboard_init(); }
void tearDown(void) {}

static void a_model_is_found_again(void) {
    const WdlModel truth = {.a = {250, -60, 35, -20}, .b = {70, 50, -25, 8}};
    WdlModel found;
    double loss;
    Error error = {""};
    WdlCounts *counts = calloc(1, sizeof *counts);
    for (int material = WDL_LEAST; material <= WDL_MOST; material++)
        for (int bin = 0; bin < WDL_FIT_BINS; bin++) {
            const double score = bin * WDL_FIT_STEP - WDL_FIT_MOST, games = 4000 * exp(-fabs(score) / 300);
            const double win = wdl_win(&truth, score, material), lost = wdl_win(&truth, -score, material);
            uint32_t *results = counts->results[material][bin];
            results[0] = (uint32_t)lround(games * lost), results[2] = (uint32_t)lround(games * win);
            results[1] = (uint32_t)lround(games * (1 - win - lost));
            counts->positions += results[0] + results[1] + results[2];
        }
    TEST_ASSERT_TRUE_MESSAGE(wdl_fit(counts, &found, &loss, &error), error.text);
    for (int material = WDL_LEAST; material <= WDL_MOST; material++)
        for (int score = -600; score <= 600; score += 50)
            TEST_ASSERT_DOUBLE_WITHIN(.002, wdl_win(&truth, score, material),
                                      wdl_win(&found, score, material));
    counts->positions = 10;
    TEST_ASSERT_FALSE(wdl_fit(counts, &found, &loss, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "too few"));
    free(counts);
}

static void a_game_counts_from_the_side_to_move(void) {
    WdlCounts *counts = calloc(1, sizeof *counts);
    DataGame *game = calloc(1, sizeof *game);
    TEST_ASSERT_TRUE(position_from_fen(&game->start, START_FEN, NULL));
    game->random_plies = 1, game->result = 2, game->ply_count = 3;
    game->moves[0] = move_make(12, 28), game->scores[0] = 999;
    game->moves[1] = move_make(52, 36), game->scores[1] = 100; // Black to move, White better, White won
    game->moves[2] = move_make(11, 27), game->scores[2] = 50;
    wdl_fit_add(counts, game);
    TEST_ASSERT_EQUAL(2, counts->positions);
    TEST_ASSERT_EQUAL(1, counts->results[78][(WDL_FIT_MOST - 100) / WDL_FIT_STEP][0]);
    TEST_ASSERT_EQUAL(1, counts->results[78][(WDL_FIT_MOST + 50) / WDL_FIT_STEP][2]);
    free(game), free(counts);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_model_is_found_again);
    RUN_TEST(a_game_counts_from_the_side_to_move);
    return UNITY_END();
}
