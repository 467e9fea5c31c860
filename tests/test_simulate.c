// SPDX-License-Identifier: GPL-3.0-or-later
// tuner/simulate against what is known without it: the published pentanomial of the game model, the closed
// form of constant-gain SPSA on a diagonal surface, and the figures of an independent simulator for
// fishtest's schedule.
#include "tuner/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static const SurfaceSpec S0 = {
    .kind = SURFACE_S0, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1};
static const SurfaceSpec S1 = {
    .kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1};
static const SurfaceSpec S3 = {
    .kind = SURFACE_S3, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1};

// Mean over seeds and its standard error.
typedef struct Mean {
    double value, error;
} Mean;

static Mean mean_of(const SimulationRun *run, uint64_t first, int seeds) {
    double sum = 0, square = 0;
    for (int i = 0; i < seeds; i++) {
        double x = 0;
        Error error;
        TEST_ASSERT_TRUE_MESSAGE(simulate_run(run, first + (uint64_t)i, &x, &error), error.text);
        sum += x;
        square += x * x;
    }
    double mean = sum / seeds;
    return (Mean){mean, sqrt((square / seeds - mean * mean) / (seeds - 1))};
}

static void the_game_model_has_the_published_pentanomial(void) {
    static const double Published[5] = {.030, .238, .464, .238, .030};
    PairModel m = pair_model(0);
    double v = 0;
    for (int j = 0; j < 5; j++) {
        TEST_ASSERT_DOUBLE_WITHIN(.0005, Published[j], m.p[j]);
        v += m.p[j] * (.25 * j - .5) * (.25 * j - .5);
    }
    TEST_ASSERT_DOUBLE_WITHIN(.00005, .0896, 2 * v);
    PairModel up = pair_model(1); // one Elo is one Elo: score 1/2 + 1/694.87
    double score = 0;
    for (int j = 0; j < 5; j++) score += .25 * j * up.p[j];
    TEST_ASSERT_DOUBLE_WITHIN(2e-6, .5 + 1 / 694.87, score);
}

static void surfaces_start_where_they_should_and_peak_at_nought(void) {
    const SurfaceSpec *specs[] = {&S0, &S1, &S3};
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            Surface *s = surface_create(specs[kind], seed);
            double zero[10] = {0};
            TEST_ASSERT_DOUBLE_WITHIN(1e-9, -20, surface_elo(s, zero));
            double best = -1e9; // coordinate search finds a top of nought and nothing above it
            for (int sweep = 0; sweep < 400; sweep++)
                for (int i = 0; i < 10; i++) {
                    double step = pow(2, -(sweep % 20));
                    for (int sign = -1; sign <= 1; sign += 2) {
                        double old = zero[i];
                        zero[i] += sign * step;
                        double elo = surface_elo(s, zero);
                        if (elo > best) best = elo;
                        else zero[i] = old;
                    }
                }
            TEST_ASSERT_DOUBLE_WITHIN(.01, 0, best);
            TEST_ASSERT_TRUE(best <= 0);
            surface_destroy(s);
        }
}

// The spectrum of S1, whatever the rotation and the factor: tr(H^2) / tr(H)^2 and the moments of its optimum.
static void s1_has_condition_30(void) {
    double trace = 0, square = 0;
    for (int k = 0; k < 10; k++) {
        double eigen = pow(30, k / 9. - .5);
        trace += eigen;
        square += eigen * eigen;
    }
    for (uint64_t seed = 1; seed <= 5; seed++) {
        Surface *s = surface_create(&S1, seed);
        double zero[10] = {0}, base = surface_elo(s, zero), single[10], got_trace = 0, got_square = 0;
        for (int i = 0; i < 10; i++) {
            zero[i] = 1;
            single[i] = surface_elo(s, zero);
            zero[i] = -1;
            double h = 2 * base - single[i] - surface_elo(s, zero);
            zero[i] = 0;
            got_trace += h;
            got_square += h * h;
            for (int j = 0; j < i; j++) {
                zero[i] = zero[j] = 1;
                double cross = single[i] + single[j] - base - surface_elo(s, zero);
                zero[i] = zero[j] = 0;
                got_square += 2 * cross * cross;
            }
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, square / (trace * trace), got_square / (got_trace * got_trace));
        surface_destroy(s);
    }
}

// Loss after T games at constant gains, from the theory (statistics reference, 3.2).
static double closed_form(double r, double c, double games) {
    double f = 2. * 20 / 10, k = f * c * c / 2, n = 10, v = 0;
    PairModel m = pair_model(0);
    for (int j = 0; j < 5; j++) v += 2 * m.p[j] * (.25 * j - .5) * (.25 * j - .5);
    double decay = exp(-2 * games * 4 * r * k / SPSA_ELO);
    return 20 * decay + n * SPSA_ELO * (4 * v) * r / 8 * (1 - decay);
}

static void constant_gains_on_s0_follow_the_closed_form(void) {
    static const double Rs[] = {.005, .01}, Games[] = {5000, 20000, 50000};
    for (int i = 0; i < 6; i++) {
        SimulationRun run = {.surface = S0,
                             .mode = SPSA_CONSTANT,
                             .last = true,
                             .r = Rs[i / 3],
                             .c_scale = 2,
                             .games = (int64_t)Games[i % 3],
                             .pairs = 4,
                             .lag = 1,
                             .tail = .5};
        Mean m = mean_of(&run, 1, getenv("HONE_LONG") ? 300 : 40);
        double expected = 20 - closed_form(run.r, .8, (double)run.games);
        TEST_ASSERT_DOUBLE_WITHIN(3 * m.error, expected, m.value);
    }
}

// Independent simulator, 30 seeds: 5.59 +- .51, 11.70 +- .57, 15.41 +- .47 (S1), 7.13 +- .45 (S3 at 20,000).
static void fishtest_regains_what_another_simulator_says(void) {
    static const struct {
        const SurfaceSpec *surface;
        int64_t games;
        double mean, error;
    } Rows[] = {
        {&S1, 5000, 5.59, .51}, {&S1, 20000, 11.70, .57}, {&S1, 50000, 15.41, .47}, {&S3, 20000, 7.13, .45}};
    for (int i = 0; i < 4; i++) {
        SimulationRun run = {.surface = *Rows[i].surface,
                             .mode = SPSA_FISHTEST,
                             .last = true,
                             .r = .002,
                             .c_scale = 1,
                             .games = Rows[i].games,
                             .pairs = 4,
                             .lag = 1,
                             .tail = .5};
        Mean m = mean_of(&run, 1, 40);
        TEST_ASSERT_DOUBLE_WITHIN(3 * hypot(m.error, Rows[i].error), Rows[i].mean, m.value);
    }
}

static void a_run_is_the_same_every_time(void) {
    SimulationRun run = {
        .surface = S3, .mode = SPSA_AUTO, .c_scale = 1, .games = 8000, .pairs = 4, .lag = 8, .tail = .5};
    double a = 0, b = 0, c = 0;
    TEST_ASSERT_TRUE(simulate_run(&run, 5, &a, NULL) && simulate_run(&run, 5, &b, NULL) &&
                     simulate_run(&run, 6, &c, NULL));
    TEST_ASSERT_TRUE(a == b && a != c);
}

static void integers_bounds_and_late_results_still_gain(void) {
    for (int i = 0; i < 3; i++) {
        SimulationRun run = {
            .surface = S1, .mode = SPSA_AUTO, .c_scale = 1, .games = 20000, .pairs = 4, .lag = 8, .tail = .5};
        if (i == 0) run.surface.integer = true;
        if (i == 1) run.surface.bound = true;
        if (i == 2) run.lag = 64;
        Mean m = mean_of(&run, 1, 12);
        TEST_ASSERT_TRUE(m.value > 14);
    }
}

// No gains are given: a user's c four times too large or too small changes next to nothing, ranges three
// times too wide little, and a surface forty times steeper than the ranges suggest loses nothing.
static void auto_does_not_depend_on_what_the_user_guessed(void) {
    SimulationRun run = {
        .surface = S1, .mode = SPSA_AUTO, .c_scale = 1, .games = 20000, .pairs = 4, .lag = 8, .tail = .5};
    Mean right = mean_of(&run, 1, 12);
    TEST_ASSERT_TRUE(right.value > 17.5);
    run.c_scale = 4;
    TEST_ASSERT_DOUBLE_WITHIN(.2, right.value, mean_of(&run, 1, 12).value);
    run.c_scale = .25;
    TEST_ASSERT_DOUBLE_WITHIN(.2, right.value, mean_of(&run, 1, 12).value);
    run.c_scale = 1;
    run.surface.range_scale = 3;
    TEST_ASSERT_DOUBLE_WITHIN(.15 * right.value, right.value, mean_of(&run, 1, 12).value);
    run.surface.range_scale = 1. / 3; // many optima near bounds or beyond them
    TEST_ASSERT_DOUBLE_WITHIN(.08 * right.value, right.value, mean_of(&run, 1, 12).value);
    run.surface.range_scale = 1;
    run.surface.start_elo = -800;
    TEST_ASSERT_TRUE(mean_of(&run, 1, 12).value > 700);
}

// Half the parameters of S3 do nothing: few of them may be said to matter, many more of the others, and the
// error that is quoted must be what values of inert parameters really scatter by.
static void what_is_said_to_matter_does(void) {
    int said[2] = {0}, count[2] = {0};
    double square = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Surface *surface = surface_create(&S3, seed);
        SpsaPlan plan = spsa_plan(surface_params(surface), 10, 20000, seed);
        SpsaState *state = spsa_create(&plan, NULL);
        double plus[10], minus[10];
        for (int64_t k = 1; k <= spsa_iterations(&plan); k++) {
            spsa_perturb(state, k, plus, minus);
            PairModel model = pair_model(surface_elo(surface, plus) - surface_elo(surface, minus));
            uint64_t penta[5] = {0};
            for (uint64_t j = 0; j < 4; j++) {
                double u = random_unit(random_at(seed, 1, (uint64_t)k * 4 + j));
                int outcome = 0;
                for (; outcome < 4 && u >= model.p[outcome]; outcome++) u -= model.p[outcome];
                penta[outcome]++;
            }
            spsa_apply(state, k, penta);
        }
        for (int i = 0; i < 10; i++) {
            SpsaEstimate e = spsa_estimate(state, i);
            said[i % 2] += e.matters;
            count[i % 2]++;
            if (i % 2) square += e.signal * e.signal;
        }
        TEST_ASSERT_DOUBLE_WITHIN(.04, .64, spsa_draw_ratio(state));
        spsa_destroy(state);
        surface_destroy(surface);
    }
    TEST_ASSERT_TRUE(said[1] <= .06 * count[1]);
    TEST_ASSERT_TRUE(said[0] >= .2 * count[0]);
    TEST_ASSERT_DOUBLE_WITHIN(.15, 1, sqrt(square / count[1]));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_game_model_has_the_published_pentanomial);
    RUN_TEST(surfaces_start_where_they_should_and_peak_at_nought);
    RUN_TEST(s1_has_condition_30);
    RUN_TEST(constant_gains_on_s0_follow_the_closed_form);
    RUN_TEST(fishtest_regains_what_another_simulator_says);
    RUN_TEST(a_run_is_the_same_every_time);
    RUN_TEST(integers_bounds_and_late_results_still_gain);
    RUN_TEST(auto_does_not_depend_on_what_the_user_guessed);
    RUN_TEST(what_is_said_to_matter_does);
    return UNITY_END();
}
