// SPDX-License-Identifier: GPL-3.0-or-later
// Sequential probability ratio tests: hypotheses in Elo, bounds, the running test with its correction for
// overshoot, what to expect of a test before it starts, and what the result says afterwards. A test consumes
// pairs in order of their number and keeps nothing but what replaying them gives.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/util.h"
#include "match/llr.h"
#include "match/stats.h"

// What elo0 and elo1 measure.
typedef enum SprtModel {
    SPRT_NORMALIZED, // normalized Elo: score in standard deviations of a game
    SPRT_LOGISTIC,   // logistic Elo: expected score
    SPRT_BAYESIAN,   // BayesElo, with the draw Elo of the sample; games, not pairs
} SprtModel;

// A test: H0 (elo0) against H1 (elo1 > elo0), const while it runs.
typedef struct SprtSpec {
    double elo0, elo1;
    double alpha, beta; // probability of accepting H1 at elo0, and of accepting H0 at elo1
    SprtModel model;
    int batch; // the running test is evaluated each time this many pairs are complete
} SprtSpec;

enum { SPRT_DEFAULT_BATCH = 8 };

// What the test says so far.
typedef enum SprtVerdict { SPRT_CONTINUE, SPRT_ACCEPT_H0, SPRT_ACCEPT_H1 } SprtVerdict;

// "normalized", "logistic" or "bayesian".
const char *sprt_model_name(SprtModel model);

// Finds a model by its name.
bool sprt_model_parse(const char *text, SprtModel *model, Error *error);

// "continue", "H0" or "H1".
const char *sprt_verdict_name(SprtVerdict verdict);

// Refuses a test that cannot be run (bounds reversed, error rates out of range, batch below 1).
bool sprt_spec_check(const SprtSpec *spec, Error *error);

// Wald's bounds of the log-likelihood ratio.
typedef struct SprtBounds {
    double lower, upper;
} SprtBounds;

// The bounds of a test, without correction.
SprtBounds sprt_bounds(const SprtSpec *spec);

// The sample that the test looks at: pairs, or games in the Bayesian model.
Sample sprt_sample(const SprtSpec *spec, const Stats *stats);

// The log-likelihood ratio of a sample (zero counts become 0.001); fails where it cannot be computed.
bool sprt_llr(const SprtSpec *spec, const Sample *sample, double *llr, Error *error);

// The verdict of a log-likelihood ratio by the bounds without correction.
SprtVerdict sprt_plain_verdict(const SprtSpec *spec, double llr);

// How far the ratio has gone beyond what was its extreme, on each side: by Siegmund's theorem the mean square
// over twice the mean estimates by how much it will jump over a bound.
typedef struct SprtOvershoot {
    double ref0, m0, sq0; // lowest ratio seen, sum of the steps to it, sum of their squares
    double ref1, m1, sq1; // the same for the highest
} SprtOvershoot;

// A running test. All of it follows from spec and the pairs added so far.
typedef struct Sprt {
    SprtSpec spec;
    Stats stats; // pairs up to the stopping pair
    double llr;  // at the last evaluation
    SprtOvershoot overshoot;
    bool skipped;      // the last evaluation failed: the next one starts the extremes anew
    uint64_t failures; // evaluations that failed
    SprtVerdict verdict;
} Sprt;

// A test before its first pair.
Sprt sprt_start(const SprtSpec *spec);

// Adds the next pair in order (half points of the first engine in its games) and returns the verdict; after
// the verdict further pairs change nothing.
SprtVerdict sprt_add_pair(Sprt *sprt, int half_points_first, int half_points_second);

// The bounds that the test is held to now, moved inwards by the expected overshoot.
SprtBounds sprt_corrected_bounds(const Sprt *sprt);

// What to expect of a test.
typedef struct SprtPlan {
    double pass;  // probability that H1 is accepted
    double games; // expected number of games
} SprtPlan;

// Variance of a game's score at a share of draws and a root mean square opening bias in Elo.
double sprt_game_variance(double draw_ratio, double rms_bias);

// A true Elo in the unit of the bounds, as an expected score.
double sprt_true_score(const SprtSpec *spec, double elo, double draw_ratio, double variance);

// The plan at a true score, with the ratio taken as a Brownian motion (right for narrow bounds); draw_ratio
// is used by the Bayesian model alone, variance is that of a game.
SprtPlan sprt_plan(const SprtSpec *spec, double score, double draw_ratio, double variance);

// The plan where outcomes have the shares of this sample, with the ratio taken as a random walk.
bool sprt_plan_walk(const SprtSpec *spec, const Sample *sample, SprtPlan *plan, Error *error);

// Logistic Elo after a test that may have stopped early: median-unbiased, with its interval; and the
// likelihood of superiority that belongs to it. Clamped to +-1000.
typedef struct SprtEstimate {
    Estimate elo;
    double los;
} SprtEstimate;

// The estimate for a sample that the test has led to.
bool sprt_estimate(const SprtSpec *spec, const Sample *sample, SprtEstimate *estimate, Error *error);
