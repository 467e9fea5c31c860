// SPDX-License-Identifier: GPL-3.0-or-later
// match/sprt against the vectors of tests/data (60-digit log-likelihood ratios, fishtest's planning figures
// and its step-by-step overshoot state) and against simulated matches. HONE_LONG=1 plays the full simulation.
#include "match/sprt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/csv.h"
#include "tests/pair_source.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static const char *const Counts[] = {"c0", "c1", "c2", "c3", "c4"};
static const char *const Shares[] = {"p0", "p1", "p2", "p3", "p4"};

// Fails unless got is want within tolerance relative to max(1, |want|).
static void check(double want, double got, double tolerance, const char *id, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "%s %s: %.17g expected, got %.17g", id, what, want, got);
    TEST_ASSERT_TRUE_MESSAGE(fabs(got - want) <= tolerance * fmax(1, fabs(want)), text);
}

static SprtSpec make_spec(SprtModel model, double elo0, double elo1) {
    return (SprtSpec){.elo0 = elo0, .elo1 = elo1, .alpha = 0.05, .beta = 0.05, .model = model, .batch = 1};
}

static SprtSpec spec_of_row(const Csv *csv, size_t row) {
    SprtSpec spec = make_spec(SPRT_NORMALIZED, csv_number(csv, row, "elo0"), csv_number(csv, row, "elo1"));
    spec.alpha = csv_number(csv, row, "alpha");
    spec.beta = csv_number(csv, row, "beta");
    Error error;
    TEST_ASSERT_TRUE_MESSAGE(sprt_model_parse(csv_text(csv, row, "model"), &spec.model, &error), error.text);
    return spec;
}

static void every_row_of_the_vectors_agrees(void) {
    Csv csv = csv_read("sprt.csv");
    for (size_t row = 0; row < csv.rows; row++) {
        const char *id = csv_text(&csv, row, "id");
        SprtSpec spec = spec_of_row(&csv, row);
        Sample sample = {.classes = strcmp(csv_text(&csv, row, "kind"), "penta") == 0 ? 5 : 3};
        for (int i = 0; i < sample.classes; i++) sample.count[i] = csv_number(&csv, row, Counts[i]);
        Error error;
        double llr;
        SprtEstimate after;
        TEST_ASSERT_TRUE_MESSAGE(sprt_llr(&spec, &sample, &llr, &error), error.text);
        TEST_ASSERT_TRUE_MESSAGE(sprt_estimate(&spec, &sample, &after, &error), error.text);
        check(csv_number(&csv, row, "lower"), sprt_bounds(&spec).lower, 1e-9, id, "lower");
        check(csv_number(&csv, row, "upper"), sprt_bounds(&spec).upper, 1e-9, id, "upper");
        check(csv_number(&csv, row, "llr_ref"), llr, 1e-9, id, "llr");
        TEST_ASSERT_EQUAL_STRING_MESSAGE(csv_text(&csv, row, "state_ref"),
                                         sprt_verdict_name(sprt_plain_verdict(&spec, llr)), id);
        check(csv_number(&csv, row, "sprt_elo"), after.elo.value, 1e-6, id, "sprt_elo");
        check(csv_number(&csv, row, "sprt_elo_lo"), after.elo.low, 1e-6, id, "sprt_elo_lo");
        check(csv_number(&csv, row, "sprt_elo_hi"), after.elo.high, 1e-6, id, "sprt_elo_hi");
        check(csv_number(&csv, row, "sprt_los"), after.los, 1e-6, id, "sprt_los");
    }
    csv_free(&csv);
}

// Swapping sides and hypotheses only changes the sign.
static void the_mirrored_test_has_the_opposite_ratio(void) {
    static const SprtModel Models[] = {SPRT_NORMALIZED, SPRT_LOGISTIC, SPRT_BAYESIAN};
    Stats stats = {.penta = {30, 210, 500, 260, 40}, .wdl = {700, 770, 610}};
    Stats flipped = stats_flip(stats);
    for (int i = 0; i < 3; i++) {
        SprtSpec spec = make_spec(Models[i], -1, 4);
        SprtSpec mirror = spec;
        mirror.elo0 = -4;
        mirror.elo1 = 1;
        Sample a = sprt_sample(&spec, &stats), b = sprt_sample(&mirror, &flipped);
        double llr = 0, opposite = 0;
        TEST_ASSERT_TRUE(sprt_llr(&spec, &a, &llr, NULL) && sprt_llr(&mirror, &b, &opposite, NULL));
        TEST_ASSERT_TRUE(fabs(llr) > 0.1);
        check(-llr, opposite, 1e-11, sprt_model_name(Models[i]), "mirror");
    }
}

// Where the truth lies midway, the published figures for the expected games have lost digits (their quotient
// cancels); these are the same rows of the formula in 60-digit arithmetic, by line of the file.
static const struct {
    int line;
    double games;
} MidwayGames[] = {{7, 261633.72351109757}, {18, 41861.39575353324},  {29, 13461.435048919608},
                   {40, 31419.180427252475}, {51, 13461.435048919608}, {84, 261633.72351140197},
                   {92, 11840.44498928407},  {97, 2967.6829142292986}};

static double expected_games(const Csv *csv, size_t row) {
    for (size_t i = 0; i < sizeof MidwayGames / sizeof *MidwayGames; i++)
        if ((size_t)MidwayGames[i].line == row + 2) return MidwayGames[i].games;
    return csv_number(csv, row, "expected_games");
}

static void planning_agrees_with_both_references(void) {
    Csv csv = csv_read("sprt_planning.csv");
    int brownian = 0, walk = 0;
    for (size_t row = 0; row < csv.rows; row++) {
        char id[40];
        snprintf(id, sizeof id, "planning row %zu", row + 2);
        SprtSpec spec = spec_of_row(&csv, row);
        SprtPlan plan;
        double variance = csv_number(&csv, row, "var_per_game");
        if (strcmp(csv_text(&csv, row, "method"), "fishtest_js") == 0) {
            double draws = csv_number(&csv, row, "draw_ratio");
            double bias = csv_number(&csv, row, "rms_bias");
            check(variance, sprt_game_variance(draws, bias), 1e-12, id, "variance");
            double score = score_from_elo(csv_number(&csv, row, "true_elo_logistic"));
            plan = sprt_plan(&spec, score, draws, variance);
            brownian++;
        } else {
            Sample sample = {.classes = 5};
            for (int i = 0; i < 5; i++) sample.count[i] = csv_number(&csv, row, Shares[i]);
            check(variance, sample_variance_per_game(&sample), 1e-9, id, "variance");
            Error error;
            SprtSpec as_elo = spec;
            if (spec.model == SPRT_NORMALIZED) {
                // The reference turns normalized bounds into Elo, with the variance at equal strength, and
                // walks there; our own walk fits deviations, which costs up to 0.1 % fewer games.
                const double equal = 0.07065199542466194;
                as_elo.model = SPRT_LOGISTIC;
                as_elo.elo0 = elo_from_score(sprt_true_score(&spec, spec.elo0, 0, equal));
                as_elo.elo1 = elo_from_score(sprt_true_score(&spec, spec.elo1, 0, equal));
                TEST_ASSERT_TRUE_MESSAGE(sprt_plan_walk(&spec, &sample, &plan, &error), error.text);
                check(csv_number(&csv, row, "pass_prob"), plan.pass, 1e-5, id, "pass_prob, own walk");
                check(csv_number(&csv, row, "expected_games"), plan.games, 1e-3, id, "games, own walk");
            }
            TEST_ASSERT_TRUE_MESSAGE(sprt_plan_walk(&as_elo, &sample, &plan, &error), error.text);
            walk++;
        }
        check(csv_number(&csv, row, "pass_prob"), plan.pass, 1e-9, id, "pass_prob");
        check(expected_games(&csv, row), plan.games, 1e-9, id, "expected_games");
        check(csv_number(&csv, row, "expected_games"), plan.games, 3e-6, id, "published expected_games");
    }
    csv_free(&csv);
    TEST_ASSERT_EQUAL(88, brownian);
    TEST_ASSERT_EQUAL(20, walk);
}

// Published constants: 639,770 / width^2 games at a bound and 1,046,500 / width^2 midway, at any draw rate.
static void the_cost_of_a_normalized_test_depends_on_its_width_alone(void) {
    SprtSpec spec = make_spec(SPRT_NORMALIZED, 0, 4);
    for (double draws = 0.1; draws < 0.95; draws += 0.2) {
        double variance = sprt_game_variance(draws, 0);
        SprtPlan at_bound = sprt_plan(&spec, sprt_true_score(&spec, 4, draws, variance), draws, variance);
        SprtPlan midway = sprt_plan(&spec, sprt_true_score(&spec, 2, draws, variance), draws, variance);
        check(639770.0 / 16, at_bound.games, 1e-4, "bound", "games");
        check(0.95, at_bound.pass, 1e-9, "bound", "pass");
        check(1046500.0 / 16, midway.games, 1e-4, "midway", "games");
        check(0.5, midway.pass, 1e-9, "midway", "pass");
    }
}

// Strengths far outside the bounds must neither overflow nor lose the sign.
static void extreme_plans_stay_finite(void) {
    SprtSpec spec = {.elo0 = 0, .elo1 = 0.5, .alpha = 0.01, .beta = 0.2, .batch = 1};
    for (double elo = -1000; elo <= 1000; elo += 50) {
        double variance = sprt_game_variance(0.5, 0);
        SprtPlan plan = sprt_plan(&spec, score_from_elo(elo), 0.5, variance);
        TEST_ASSERT_TRUE(plan.pass >= 0 && plan.pass <= 1 && isfinite(plan.games) && plan.games > 0);
    }
}

static SprtVerdict verdict_of(const char *state) {
    if (strcmp(state, "rejected") == 0) return SPRT_ACCEPT_H0;
    if (strcmp(state, "accepted") == 0) return SPRT_ACCEPT_H1;
    return SPRT_CONTINUE;
}

// Feeds the pairs of each sequence one by one and compares the whole state at each evaluation.
static void the_overshoot_correction_agrees_step_by_step(void) {
    Csv csv = csv_read("sprt_overshoot.csv");
    Sprt sprt = {0};
    int ended = 0;
    for (size_t row = 0; row < csv.rows; row++) {
        const char *id = csv_text(&csv, row, "seq");
        if (row == 0 || strcmp(id, csv_text(&csv, row - 1, "seq")) != 0) {
            SprtSpec spec = spec_of_row(&csv, row);
            spec.batch = (int)csv_number(&csv, row, "batch_pairs");
            sprt = sprt_start(&spec);
        }
        TEST_ASSERT_EQUAL(SPRT_CONTINUE, sprt.verdict);
        for (const char *c = csv_text(&csv, row, "new_pair_results"); *c; c++) {
            int sum = *c - '0';
            sprt_add_pair(&sprt, sum / 2, sum - sum / 2);
        }
        TEST_ASSERT_EQUAL((uint64_t)csv_number(&csv, row, "pairs_total"), stats_pairs(&sprt.stats));
        for (int i = 0; i < 5; i++)
            TEST_ASSERT_EQUAL((uint64_t)csv_number(&csv, row, Counts[i]), sprt.stats.penta[i]);
        const SprtOvershoot *o = &sprt.overshoot;
        check(csv_number(&csv, row, "llr"), sprt.llr, 1e-9, id, "llr");
        check(csv_number(&csv, row, "ref0"), o->ref0, 1e-9, id, "ref0");
        check(csv_number(&csv, row, "m0"), o->m0, 1e-9, id, "m0");
        check(csv_number(&csv, row, "sq0"), o->sq0, 1e-9, id, "sq0");
        check(csv_number(&csv, row, "ref1"), o->ref1, 1e-9, id, "ref1");
        check(csv_number(&csv, row, "m1"), o->m1, 1e-9, id, "m1");
        check(csv_number(&csv, row, "sq1"), o->sq1, 1e-9, id, "sq1");
        SprtBounds plain = sprt_bounds(&sprt.spec), held = sprt_corrected_bounds(&sprt);
        check(csv_number(&csv, row, "o0"), held.lower - plain.lower, 1e-9, id, "o0");
        check(csv_number(&csv, row, "o1"), plain.upper - held.upper, 1e-9, id, "o1");
        TEST_ASSERT_EQUAL(verdict_of(csv_text(&csv, row, "state_with_overshoot")), sprt.verdict);
        TEST_ASSERT_EQUAL(verdict_of(csv_text(&csv, row, "state_plain")),
                          sprt_plain_verdict(&sprt.spec, sprt.llr));
        ended += sprt.verdict != SPRT_CONTINUE;
    }
    csv_free(&csv);
    TEST_ASSERT_EQUAL(4, ended);
}

// After the verdict further pairs change nothing, and replaying the pairs gives the same bytes.
static void the_verdict_is_final_and_replays(void) {
    SprtSpec spec = make_spec(SPRT_LOGISTIC, 0, 30);
    spec.batch = 8;
    PairSource model = pair_source_at_elo(30);
    Sprt sprt = sprt_start(&spec), again = sprt_start(&spec);
    uint64_t stop = 0;
    while (sprt.verdict == SPRT_CONTINUE) {
        int sum = pair_source_draw(&model, 5, 0, stop++);
        sprt_add_pair(&sprt, sum / 2, sum - sum / 2);
    }
    TEST_ASSERT_EQUAL(0, stop % 8);
    for (uint64_t i = 0; i < stop + 100; i++) {
        int sum = pair_source_draw(&model, 5, 0, i);
        sprt_add_pair(&again, sum / 2, sum - sum / 2);
    }
    TEST_ASSERT_EQUAL_MEMORY(&sprt, &again, sizeof sprt);
    TEST_ASSERT_EQUAL(stop, stats_pairs(&again.stats));
}

// After an evaluation that failed, the extremes start anew at the next ratio and no step is counted.
static void a_skipped_evaluation_is_not_a_step(void) {
    SprtSpec spec = make_spec(SPRT_LOGISTIC, 0, 30);
    Sprt sprt = sprt_start(&spec);
    for (int i = 0; i < 5; i++) sprt_add_pair(&sprt, 2, i % 3);
    SprtOvershoot before = sprt.overshoot;
    TEST_ASSERT_TRUE(before.m1 > 0);
    sprt.skipped = true;
    sprt_add_pair(&sprt, 2, 2);
    TEST_ASSERT_FALSE(sprt.skipped);
    TEST_ASSERT_TRUE(sprt.llr > before.ref1);
    TEST_ASSERT_EQUAL_DOUBLE(sprt.llr, sprt.overshoot.ref0);
    TEST_ASSERT_EQUAL_DOUBLE(sprt.llr, sprt.overshoot.ref1);
    TEST_ASSERT_EQUAL_DOUBLE(before.m1, sprt.overshoot.m1);
    TEST_ASSERT_EQUAL_DOUBLE(before.sq0, sprt.overshoot.sq0);
}

static void impossible_tests_are_refused(void) {
    const SprtSpec good = make_spec(SPRT_NORMALIZED, 0, 5);
    Error error;
    TEST_ASSERT_TRUE(sprt_spec_check(&good, &error));
    SprtSpec bad = good;
    bad.elo1 = 0;
    TEST_ASSERT_FALSE(sprt_spec_check(&bad, &error));
    bad = good, bad.alpha = 0;
    TEST_ASSERT_FALSE(sprt_spec_check(&bad, &error));
    bad = good, bad.alpha = bad.beta = 0.5;
    TEST_ASSERT_FALSE(sprt_spec_check(&bad, &error));
    bad = good, bad.elo0 = NAN;
    TEST_ASSERT_FALSE(sprt_spec_check(&bad, &error));
    bad = good, bad.batch = 0;
    TEST_ASSERT_FALSE(sprt_spec_check(&bad, &error));
    SprtModel model;
    TEST_ASSERT_FALSE(sprt_model_parse("pentanomial", &model, &error));
    bad = good, bad.model = SPRT_BAYESIAN;
    Sample pairs = {.classes = 5, .count = {1, 2, 3, 4, 5}};
    double llr;
    TEST_ASSERT_FALSE(sprt_llr(&bad, &pairs, &llr, &error));
}

// Every small or lopsided sample gives a finite ratio and an ordered interval, in every model.
static void no_sample_breaks_the_solvers(void) {
    static const double Sizes[] = {0, 1, 3, 1000, 1e7};
    for (int model = 0; model < 3; model++)
        for (int code = 1; code < 3125; code++) {
            Sample sample = {.classes = model == SPRT_BAYESIAN ? 3 : 5};
            for (int i = 0, rest = code; i < sample.classes; i++, rest /= 5)
                sample.count[i] = Sizes[rest % 5];
            if (sample_size(&sample) == 0) continue;
            SprtSpec spec = make_spec((SprtModel)model, 0, code % 2 ? 5 : 200);
            Error error = {""};
            double llr;
            SprtEstimate after;
            TEST_ASSERT_TRUE_MESSAGE(sprt_llr(&spec, &sample, &llr, &error), error.text);
            TEST_ASSERT_TRUE_MESSAGE(sprt_estimate(&spec, &sample, &after, &error), error.text);
            TEST_ASSERT_TRUE(isfinite(llr));
            TEST_ASSERT_TRUE(after.elo.low <= after.elo.value && after.elo.value <= after.elo.high);
        }
}

typedef struct Simulated {
    double pass, games;
} Simulated;

static Simulated simulate(const SprtSpec *spec, const PairSource *model, int runs, uint64_t seed) {
    Simulated sum = {0};
    for (int run = 0; run < runs; run++) {
        Sprt sprt = sprt_start(spec);
        for (uint64_t i = 0; sprt.verdict == SPRT_CONTINUE; i++) {
            int half_points = pair_source_draw(model, seed, (uint64_t)run, i);
            sprt_add_pair(&sprt, half_points / 2, half_points - half_points / 2);
        }
        TEST_ASSERT_EQUAL(0, sprt.failures);
        sum.pass += sprt.verdict == SPRT_ACCEPT_H1;
        sum.games += (double)stats_games(&sprt.stats);
    }
    return (Simulated){sum.pass / runs, sum.games / runs};
}

// Corrected bounds [0, 10] at both hypotheses: error rates within 3 standard errors of 5 %, games near the
// plan.
static void simulated_tests(SprtModel kind, int runs, double games_tolerance, uint64_t seed) {
    SprtSpec spec = make_spec(kind, 0, 10);
    spec.batch = SPRT_DEFAULT_BATCH;
    double standard_error = sqrt(0.05 * 0.95 / runs);
    for (int h = 0; h < 2; h++) {
        double elo = h ? spec.elo1 : spec.elo0;
        PairSource model = kind == SPRT_NORMALIZED ? pair_source_at_nelo(elo) : pair_source_at_elo(elo);
        SprtPlan plan = sprt_plan(&spec, pair_source_score(&model), 0, pair_source_variance(&model));
        Simulated seen = simulate(&spec, &model, runs, seed + (uint64_t)h);
        double error_rate = h ? 1 - seen.pass : seen.pass, off = seen.games / plan.games - 1;
        char text[200];
        snprintf(text, sizeof text,
                 "%s [0, 10] true %g: %d tests, batch %d: errors %.4f (%+.2f s.e.), games %.0f (%+.1f %%)",
                 sprt_model_name(kind), elo, runs, spec.batch, error_rate,
                 (error_rate - 0.05) / standard_error, seen.games, 100 * off);
        puts(text);
        TEST_ASSERT_TRUE_MESSAGE(fabs(error_rate - 0.05) <= 3 * standard_error, text);
        TEST_ASSERT_TRUE_MESSAGE(fabs(off) <= games_tolerance, text);
    }
}

static void simulated_tests_keep_their_error_rates(void) {
    const char *mode = getenv("HONE_LONG");
    bool full = mode && strcmp(mode, "1") == 0;
    int runs = full ? 10000 : 400;
    simulated_tests(SPRT_LOGISTIC, runs, full ? 0.05 : 0.15, 20250101);
    if (full) simulated_tests(SPRT_NORMALIZED, runs, 0.05, 20250201);
}

// The estimate after the test is median-unbiased: it lies above the truth in half of all tests, while the
// plain Elo of tests that stopped early does not. Its 95 % interval holds the truth in about 95 %.
static void the_estimate_after_a_test_has_no_bias_of_the_median(void) {
    const int runs = 1000;
    SprtSpec spec = make_spec(SPRT_LOGISTIC, 0, 20);
    PairSource model = pair_source_at_elo(20);
    int above = 0, plain_above = 0, held = 0;
    for (int run = 0; run < runs; run++) {
        Sprt sprt = sprt_start(&spec);
        for (uint64_t i = 0; sprt.verdict == SPRT_CONTINUE; i++) {
            int half_points = pair_source_draw(&model, 77, (uint64_t)run, i);
            sprt_add_pair(&sprt, half_points / 2, half_points - half_points / 2);
        }
        Sample sample = sprt_sample(&spec, &sprt.stats);
        SprtEstimate after;
        TEST_ASSERT_TRUE(sprt_estimate(&spec, &sample, &after, NULL));
        above += after.elo.value > 20;
        plain_above += sample_elo(&sample).value > 20;
        held += after.elo.low <= 20 && 20 <= after.elo.high;
    }
    TEST_ASSERT_INT_WITHIN(3 * 16, runs / 2, above);
    TEST_ASSERT_GREATER_THAN(runs / 2 + 3 * 16, plain_above);
    TEST_ASSERT_INT_WITHIN(3 * 7, runs * 95 / 100, held);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_row_of_the_vectors_agrees);
    RUN_TEST(the_mirrored_test_has_the_opposite_ratio);
    RUN_TEST(planning_agrees_with_both_references);
    RUN_TEST(the_cost_of_a_normalized_test_depends_on_its_width_alone);
    RUN_TEST(extreme_plans_stay_finite);
    RUN_TEST(the_overshoot_correction_agrees_step_by_step);
    RUN_TEST(the_verdict_is_final_and_replays);
    RUN_TEST(a_skipped_evaluation_is_not_a_step);
    RUN_TEST(impossible_tests_are_refused);
    RUN_TEST(no_sample_breaks_the_solvers);
    RUN_TEST(simulated_tests_keep_their_error_rates);
    RUN_TEST(the_estimate_after_a_test_has_no_bias_of_the_median);
    return UNITY_END();
}
