// SPDX-License-Identifier: GPL-3.0-or-later
// match/ratings against exact tables, another algorithm (minorisation), the two-engine formulas, and
// simulated tournaments whose truth is known.
#include "match/ratings.h"

#include <math.h>
#include <string.h>

#include "tests/pair_source.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

enum { MOST = 8 };

static void fit(int engines, const Stats *table, int replicas, uint64_t seed, Rating *ratings) {
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(ratings_fit(engines, table, replicas, seed, ratings, &error), error.text);
}

// Strengths 1 : 2 : 4 win 2/3, 4/5 and 2/3 of their games; one octave is 400 log10 2 Elo.
static void exact_odds_are_recovered(void) {
    Stats table[9] = {0};
    table[1 * 3 + 0].wdl[WDL_WIN] = 40, table[1 * 3 + 0].wdl[WDL_LOSS] = 20;
    table[0 * 3 + 2].wdl[WDL_WIN] = 30, table[0 * 3 + 2].wdl[WDL_LOSS] = 120;
    table[2 * 3 + 1].wdl[WDL_WIN] = 500, table[2 * 3 + 1].wdl[WDL_LOSS] = 250;
    Rating ratings[3];
    fit(3, table, 0, 1, ratings);
    TEST_ASSERT_EQUAL_DOUBLE(0, ratings[0].elo.value);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 400 * log10(2), ratings[1].elo.value);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 800 * log10(2), ratings[2].elo.value);
    TEST_ASSERT_EQUAL(210, stats_games(&ratings[0].stats));
    TEST_ASSERT_EQUAL(50, ratings[0].stats.wdl[WDL_WIN]);
    TEST_ASSERT_TRUE(isnan(ratings[1].elo.low));
}

static void two_engines_agree_with_the_formulas(void) {
    Stats table[4] = {0};
    table[2] = (Stats){.penta = {43, 61, 144, 55, 37}, .wdl = {248, 166, 266}};
    Rating ratings[2];
    fit(2, table, 4000, 9, ratings);
    Sample sample = sample_of_pairs(&table[2]);
    Estimate elo = sample_elo(&sample);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, elo.value, ratings[1].elo.value);
    TEST_ASSERT_DOUBLE_WITHIN(1.5, elo.low, ratings[1].elo.low);
    TEST_ASSERT_DOUBLE_WITHIN(1.5, elo.high, ratings[1].elo.high);
    TEST_ASSERT_EQUAL_DOUBLE(0, ratings[0].elo.low);
    TEST_ASSERT_EQUAL_DOUBLE(0, ratings[0].elo.high);
}

// Every pair is won by the opening: pairs do not vary, games do.
static void the_bootstrap_draws_pairs(void) {
    Stats table[4] = {0};
    table[1] = (Stats){.penta = {0, 0, 100, 0, 0}, .wdl = {100, 0, 100}};
    Rating by_pairs[2], by_games[2];
    fit(2, table, 200, 3, by_pairs);
    memset(table[1].penta, 0, sizeof table[1].penta);
    fit(2, table, 200, 3, by_games);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, by_pairs[1].elo.high - by_pairs[1].elo.low);
    TEST_ASSERT_DOUBLE_WITHIN(25, 97, by_games[1].elo.high - by_games[1].elo.low);
}

// Another way to the same maximum: strength_i = points_i / sum over j of games_ij / (strength_i +
// strength_j).
static void minorise(int n, const Stats *table, double *elo) {
    double games[MOST][MOST] = {{0}}, points[MOST] = {0}, strength[MOST];
    for (int i = 0; i < n; i++) {
        strength[i] = 1;
        for (int j = 0; j < n; j++) {
            const Stats *s = &table[i * n + j];
            double played = (double)stats_games(s), made = (double)stats_half_points(s) / 2;
            games[i][j] += played, games[j][i] += played;
            points[i] += made, points[j] += played - made;
        }
    }
    for (int round = 0; round < 20000; round++)
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) sum += games[i][j] / (strength[i] + strength[j]);
            strength[i] = points[i] / sum;
        }
    for (int i = 0; i < n; i++) elo[i] = 400 * log10(strength[i] / strength[0]);
}

// A tournament of n engines rating_step Elo apart; each pairing plays this many pairs.
static void play(int n, double rating_step, int pairs, uint64_t seed, Stats *table) {
    memset(table, 0, (size_t)(n * n) * sizeof *table);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            PairSource source = pair_source_at_elo(rating_step * (i - j));
            for (int k = 0; k < pairs; k++) {
                int sum = pair_source_draw(&source, seed, (uint64_t)(i * n + j), (uint64_t)k);
                Stats *cell = &table[(i + j) % 2 ? i * n + j : j * n + i];
                Stats pair = stats_from_pair(sum / 2, sum - sum / 2);
                *cell = stats_add(*cell, (i + j) % 2 ? pair : stats_flip(pair));
            }
        }
}

static void the_maximum_is_that_of_another_algorithm(void) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int n = 3 + (int)(seed % 6);
        Stats table[MOST * MOST];
        play(n, 40, 30, seed, table);
        Rating ratings[MOST];
        double elo[MOST];
        fit(n, table, 0, seed, ratings);
        minorise(n, table, elo);
        for (int i = 0; i < n; i++) TEST_ASSERT_DOUBLE_WITHIN(1e-5, elo[i], ratings[i].elo.value);
    }
}

// 95 % of intervals should hold the truth: 3 engines besides the first, 250 tournaments.
static void intervals_hold_the_truth(void) {
    enum { N = 4, RUNS = 250 };
    int held = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        Stats table[N * N];
        Rating ratings[N];
        play(N, 25, 100, 1000 + run, table);
        fit(N, table, 200, run, ratings);
        for (int i = 1; i < N; i++) held += ratings[i].elo.low <= 25 * i && 25 * i <= ratings[i].elo.high;
    }
    double share = (double)held / (RUNS * (N - 1));
    TEST_ASSERT_DOUBLE_WITHIN(0.035, 0.945, share);
}

static void engines_without_a_link_are_not_rated(void) {
    Stats table[16] = {0};
    table[0 * 4 + 1] = (Stats){.penta = {1, 2, 3, 2, 2}, .wdl = {8, 6, 6}};
    table[2 * 4 + 3] = (Stats){.penta = {1, 2, 3, 2, 2}, .wdl = {8, 6, 6}};
    Rating ratings[4];
    fit(4, table, 50, 1, ratings);
    TEST_ASSERT_TRUE(isfinite(ratings[1].elo.value) && isfinite(ratings[1].elo.low));
    TEST_ASSERT_TRUE(isnan(ratings[2].elo.value) && isnan(ratings[3].elo.high));
    TEST_ASSERT_EQUAL(20, stats_games(&ratings[2].stats));
    Stats none[4] = {0};
    fit(2, none, 50, 1, ratings);
    TEST_ASSERT_TRUE(ratings[0].elo.value == 0 && isnan(ratings[1].elo.value));
    fit(1, none, 50, 1, ratings);
    TEST_ASSERT_TRUE(ratings[0].elo.value == 0 && ratings[0].elo.high == 0);
}

// All won, all lost, a chain of them, and a million games beside one: finite and in order.
static void one_sided_results_stay_finite(void) {
    Stats table[16] = {0};
    table[0 * 4 + 1] = (Stats){.penta = {0, 0, 0, 0, 10}, .wdl = {20, 0, 0}};
    table[1 * 4 + 2] = (Stats){.penta = {0, 0, 0, 0, 1000000}, .wdl = {2000000, 0, 0}};
    table[2 * 4 + 3] = (Stats){.penta = {0, 0, 0, 0, 1}, .wdl = {2, 0, 0}};
    Rating ratings[4];
    fit(4, table, 50, 1, ratings);
    for (int i = 0; i < 4; i++) TEST_ASSERT_TRUE(isfinite(ratings[i].elo.high - ratings[i].elo.low));
    for (int i = 1; i < 4; i++) TEST_ASSERT_TRUE(ratings[i].elo.value < ratings[i - 1].elo.value - 500);
    double odds = (20 - 1e-3) / 1e-3;
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, -400 * log10(odds), ratings[1].elo.value);
}

static void the_same_seed_gives_the_same_intervals(void) {
    Stats table[9];
    play(3, 30, 50, 4, table);
    Rating a[3], b[3], c[3];
    fit(3, table, 100, 11, a);
    fit(3, table, 100, 11, b);
    fit(3, table, 100, 12, c);
    TEST_ASSERT_EQUAL_MEMORY(a, b, sizeof a);
    TEST_ASSERT_TRUE(a[1].elo.low != c[1].elo.low);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(exact_odds_are_recovered);
    RUN_TEST(two_engines_agree_with_the_formulas);
    RUN_TEST(the_bootstrap_draws_pairs);
    RUN_TEST(the_maximum_is_that_of_another_algorithm);
    RUN_TEST(intervals_hold_the_truth);
    RUN_TEST(engines_without_a_link_are_not_rated);
    RUN_TEST(one_sided_results_stay_finite);
    RUN_TEST(the_same_seed_gives_the_same_intervals);
    return UNITY_END();
}
