// SPDX-License-Identifier: GPL-3.0-or-later
// match/stats against the vectors of tests/data/sprt.csv (60-digit figures), published lines of other
// runners, and the degenerate samples.
#include "match/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/csv.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

// Fails unless both are the same within tolerance relative to max(1, |want|), or both infinite or not a
// number.
static void check(double want, double got, double tolerance, const char *id, const char *what) {
    bool ok = isfinite(want) ? fabs(got - want) <= tolerance * fmax(1, fabs(want))
                             : isnan(want) ? isnan(got) : got == want;
    char text[200];
    snprintf(text, sizeof text, "%s %s: %.17g expected, got %.17g", id, what, want, got);
    TEST_ASSERT_TRUE_MESSAGE(ok, text);
}

static Sample sample_of_row(const Csv *csv, size_t row) {
    static const char *const Columns[] = {"c0", "c1", "c2", "c3", "c4"};
    Sample sample = {.classes = strcmp(csv_text(csv, row, "kind"), "penta") == 0 ? 5 : 3};
    for (int i = 0; i < sample.classes; i++) sample.count[i] = csv_number(csv, row, Columns[i]);
    return sample;
}

static void every_row_of_the_vectors_agrees(void) {
    Csv csv = csv_read("sprt.csv");
    TEST_ASSERT_EQUAL(86, csv.rows);
    for (size_t row = 0; row < csv.rows; row++) {
        const char *id = csv_text(&csv, row, "id");
        Sample sample = sample_of_row(&csv, row);
        Estimate elo = sample_elo(&sample);
        check(csv_number(&csv, row, "score"), sample_moments(&sample).mean, 1e-9, id, "score");
        check(csv_number(&csv, row, "elo_raw"), elo.value, 1e-9, id, "elo");
        check(csv_number(&csv, row, "elo_lo_raw"), elo.low, 1e-9, id, "elo_lo");
        check(csv_number(&csv, row, "elo_hi_raw"), elo.high, 1e-9, id, "elo_hi");
        check(csv_number(&csv, row, "los_raw"), sample_los(&sample), 1e-9, id, "los");
        check(csv_number(&csv, row, "nelo_raw"), sample_nelo(&sample), 1e-9, id, "nelo");
        check(csv_number(&csv, row, "nelo_err_delta"), sample_nelo_error(&sample), 1e-9, id, "nelo_err");
        check(csv_number(&csv, row, "draw_ratio"), sample_draw_ratio(&sample), 1e-9, id, "draw_ratio");
        check(csv_number(&csv, row, "pair_ratio"), sample_pair_ratio(&sample), 1e-9, id, "pair_ratio");
    }
    csv_free(&csv);
}

// A result block as fastchess prints it: Elo -9.20 +/- 20.93, nElo -11.50 +/- 26.11, LOS 19.41 %, DrawRatio
// 42.35 %, PairsRatio 0.88, 248 wins, 266 losses, 166 draws, 48.68 %.
static void a_block_of_fastchess_is_reproduced(void) {
    Stats stats = {.penta = {43, 61, 144, 55, 37}, .wdl = {248, 166, 266}};
    Sample pairs = sample_of(&stats);
    Estimate elo = sample_elo(&pairs);
    TEST_ASSERT_EQUAL(340, stats_pairs(&stats));
    TEST_ASSERT_EQUAL(680, stats_games(&stats));
    TEST_ASSERT_EQUAL(662, stats_half_points(&stats));
    check(-9.20, elo.value, 0.005, "fastchess", "elo");
    check(20.93, estimate_margin(&elo), 0.0005, "fastchess", "elo error");
    check(-11.50, sample_nelo(&pairs), 0.0005, "fastchess", "nelo");
    check(26.11, sample_nelo_error_fastchess(&pairs), 0.0005, "fastchess", "nelo error");
    check(0.1941, sample_los(&pairs), 0.00005, "fastchess", "los");
    check(0.4235, sample_draw_ratio(&pairs), 0.00005, "fastchess", "draw ratio");
    check(0.88, sample_pair_ratio(&pairs), 0.006, "fastchess", "pair ratio");
    check(0.4868, sample_moments(&pairs).mean, 0.00005, "fastchess", "score");
}

// cutechess: 1/2 + 1/2 erf((W - L) / sqrt(2 (W + L))).
static void the_los_of_cutechess_leaves_draws_out(void) {
    Stats stats = {.wdl = {95, 40, 92}};
    check(0.5 + 0.5 * erf(3 / sqrt(374)), stats_los_cutechess(&stats), 1e-14, "cutechess", "los");
    Stats drawn = {.wdl = {0, 7, 0}};
    check(0.5, stats_los_cutechess(&drawn), 0, "cutechess", "los of draws");
}

// All nine results of a pair land in the right class; the view of the other engine is the mirror.
static void pairs_are_counted_once_and_flip(void) {
    Stats sum = {0}, other = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            Stats pair = stats_from_pair(i, j);
            TEST_ASSERT_EQUAL(1, pair.penta[i + j]);
            TEST_ASSERT_EQUAL(1, stats_pairs(&pair));
            TEST_ASSERT_EQUAL(2, stats_games(&pair));
            TEST_ASSERT_EQUAL(i + j, stats_half_points(&pair));
            sum = stats_add(sum, pair);
            other = stats_add(other, stats_flip(stats_from_pair(2 - i, 2 - j)));
        }
    TEST_ASSERT_EQUAL_MEMORY(&sum, &other, sizeof sum);
    uint64_t penta[] = {1, 2, 3, 2, 1};
    TEST_ASSERT_EQUAL_UINT64_ARRAY(penta, sum.penta, 5);
    uint64_t wdl[] = {6, 6, 6};
    TEST_ASSERT_EQUAL_UINT64_ARRAY(wdl, sum.wdl, 3);
    Stats won = stats_from_pair(2, 1);
    TEST_ASSERT_EQUAL(1, won.wdl[WDL_WIN]);
    TEST_ASSERT_EQUAL(1, won.wdl[WDL_DRAW]);
    TEST_ASSERT_EQUAL(0, won.wdl[WDL_LOSS]);
    Stats lost = stats_flip(stats_from_game(2));
    TEST_ASSERT_EQUAL(1, lost.wdl[WDL_LOSS]);
    TEST_ASSERT_EQUAL(0, stats_pairs(&lost));
    Sample games = sample_of(&lost);
    TEST_ASSERT_EQUAL(3, games.classes);
    TEST_ASSERT_EQUAL_DOUBLE(1, games.count[0]);
}

// The variance of games is p(1-p)-like for wins and losses alone, and paired games halve it when the opening
// decides.
static void the_variance_is_that_of_a_game(void) {
    Stats coin = {.wdl = {50, 0, 50}};
    Sample games = sample_of_games(&coin);
    check(0.25, sample_variance_per_game(&games), 1e-15, "coin", "variance");
    Stats biased = {.penta = {0, 0, 50, 0, 0}, .wdl = {50, 0, 50}};
    Sample pairs = sample_of_pairs(&biased);
    check(0, sample_variance_per_game(&pairs), 0, "biased openings", "variance");
}

static void elo_and_score_are_inverse(void) {
    for (double elo = -900; elo <= 900; elo += 12.5)
        check(elo, elo_from_score(score_from_elo(elo)), 1e-10, "inverse", "elo");
    check(10.0 / 11, score_from_elo(400), 1e-15, "400", "score");
    check(INFINITY, elo_from_score(1.2), 0, "beyond", "elo");
    check(-INFINITY, elo_from_score(-0.1), 0, "beyond", "elo");
}

static void nothing_played_is_not_a_number_and_no_crash(void) {
    Stats none = {0};
    Sample sample = sample_of(&none);
    check(NAN, sample_elo(&sample).value, 0, "empty", "elo");
    check(NAN, sample_nelo(&sample), 0, "empty", "nelo");
    check(NAN, sample_draw_ratio(&sample), 0, "empty", "draw ratio");
    check(NAN, sample_los(&sample), 0, "empty", "los");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_row_of_the_vectors_agrees);
    RUN_TEST(a_block_of_fastchess_is_reproduced);
    RUN_TEST(the_los_of_cutechess_leaves_draws_out);
    RUN_TEST(pairs_are_counted_once_and_flip);
    RUN_TEST(the_variance_is_that_of_a_game);
    RUN_TEST(elo_and_score_are_inverse);
    RUN_TEST(nothing_played_is_not_a_number_and_no_crash);
    return UNITY_END();
}
