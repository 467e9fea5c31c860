// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/sprt.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sf_exp.h>
#include <math.h>
#include <string.h>

static const char *const ModelNames[] = {"normalized", "logistic", "bayesian"};

const char *sprt_model_name(SprtModel model) { return ModelNames[model]; }

bool sprt_model_parse(const char *text, SprtModel *model, Error *error) {
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, ModelNames[i]) != 0) continue;
        *model = (SprtModel)i;
        return true;
    }
    return error_set(error, "'%.40s' is not a model: normalized, logistic or bayesian expected", text);
}

const char *sprt_verdict_name(SprtVerdict verdict) {
    switch (verdict) {
    case SPRT_CONTINUE: return "continue";
    case SPRT_ACCEPT_H0: return "H0";
    case SPRT_ACCEPT_H1: return "H1";
    }
    return "?";
}

bool sprt_spec_check(const SprtSpec *spec, Error *error) {
    if (!(fabs(spec->elo0) <= 1000 && fabs(spec->elo1) <= 1000))
        return error_set(error, "elo0 and elo1 must lie in -1000 to 1000");
    if (!(spec->elo0 < spec->elo1))
        return error_set(error, "elo0 (%g) must be below elo1 (%g)", spec->elo0, spec->elo1);
    if (!(spec->alpha > 0 && spec->beta > 0 && spec->alpha + spec->beta < 1))
        return error_set(error, "alpha and beta must be above 0 and their sum below 1");
    if (spec->batch < 1) return error_set(error, "the batch must be at least one pair");
    return true;
}

SprtBounds sprt_bounds(const SprtSpec *spec) {
    return (SprtBounds){log(spec->beta / (1 - spec->alpha)), log((1 - spec->beta) / spec->alpha)};
}

Sample sprt_sample(const SprtSpec *spec, const Stats *stats) {
    return spec->model == SPRT_BAYESIAN ? sample_of_games(stats) : sample_of_pairs(stats);
}

// The score that BayesElo expects at a draw Elo.
static double bayes_score(double elo, double draw_elo) {
    return (1 + score_from_elo(elo - draw_elo) - score_from_elo(-elo - draw_elo)) / 2;
}

static double bayes_draw_elo(double loss, double win) {
    return (elo_from_score(1 - loss) + elo_from_score(1 - win)) / 2;
}

// The two hypotheses as expected scores; for normalized Elo at this variance of a game.
typedef struct Scores {
    double s0, s1;
} Scores;

static Scores hypothesis_scores(const SprtSpec *spec, double variance_per_game, double draw_elo) {
    double sigma = sqrt(variance_per_game);
    switch (spec->model) {
    case SPRT_NORMALIZED:
        return (Scores){0.5 + spec->elo0 / NELO_PER_SIGMA * sigma, 0.5 + spec->elo1 / NELO_PER_SIGMA * sigma};
    case SPRT_LOGISTIC: return (Scores){score_from_elo(spec->elo0), score_from_elo(spec->elo1)};
    case SPRT_BAYESIAN: return (Scores){bayes_score(spec->elo0, draw_elo), bayes_score(spec->elo1, draw_elo)};
    }
    return (Scores){NAN, NAN};
}

static Scores sample_scores(const SprtSpec *spec, const Sample *regular) {
    double draw_elo = 0;
    if (spec->model == SPRT_BAYESIAN) {
        assert(regular->classes == WDL_CLASSES);
        double size = sample_size(regular);
        draw_elo = bayes_draw_elo(regular->count[0] / size, regular->count[2] / size);
    }
    return hypothesis_scores(spec, sample_variance_per_game(regular), draw_elo);
}

// Fits both hypotheses to a sample without zeros.
static bool fit_hypotheses(const SprtSpec *spec, const Sample *regular, Fit *fit0, Fit *fit1, Error *error) {
    if (spec->model == SPRT_NORMALIZED) {
        double unit = sqrt(sample_games_per_unit(regular)) / NELO_PER_SIGMA;
        return fit_deviation(regular, spec->elo0 * unit, fit0, error) &&
               fit_deviation(regular, spec->elo1 * unit, fit1, error);
    }
    Scores s = sample_scores(spec, regular);
    return fit_mean(regular, s.s0, fit0, error) && fit_mean(regular, s.s1, fit1, error);
}

bool sprt_llr(const SprtSpec *spec, const Sample *sample, double *llr, Error *error) {
    if (sample_size(sample) == 0) {
        *llr = 0;
        return true;
    }
    if (spec->model == SPRT_BAYESIAN && sample->classes != WDL_CLASSES)
        return error_set(error, "the bayesian model needs games (wins, draws, losses), not pairs");
    Sample regular = sample_regularized(sample);
    Fit fit0, fit1;
    if (!fit_hypotheses(spec, &regular, &fit0, &fit1, error)) return false;
    *llr = fit_llr(&regular, &fit0, &fit1);
    return true;
}

static SprtVerdict verdict_by(SprtBounds bounds, double llr) {
    if (llr < bounds.lower) return SPRT_ACCEPT_H0;
    if (llr > bounds.upper) return SPRT_ACCEPT_H1;
    return SPRT_CONTINUE;
}

SprtVerdict sprt_plain_verdict(const SprtSpec *spec, double llr) {
    return verdict_by(sprt_bounds(spec), llr);
}

// --- the running test -------------------------------------------------------------------------------------

Sprt sprt_start(const SprtSpec *spec) { return (Sprt){.spec = *spec}; }

static void overshoot_update(SprtOvershoot *o, double llr) {
    if (llr < o->ref0) {
        double step = llr - o->ref0;
        o->m0 += step;
        o->sq0 += step * step;
        o->ref0 = llr;
    }
    if (llr > o->ref1) {
        double step = llr - o->ref1;
        o->m1 += step;
        o->sq1 += step * step;
        o->ref1 = llr;
    }
}

SprtBounds sprt_corrected_bounds(const Sprt *sprt) {
    const SprtOvershoot *o = &sprt->overshoot;
    SprtBounds bounds = sprt_bounds(&sprt->spec);
    if (o->m0 != 0) bounds.lower -= o->sq0 / (2 * o->m0);
    if (o->m1 != 0) bounds.upper -= o->sq1 / (2 * o->m1);
    return bounds;
}

SprtVerdict sprt_add_pair(Sprt *sprt, int half_points_first, int half_points_second) {
    if (sprt->verdict != SPRT_CONTINUE) return sprt->verdict;
    sprt->stats = stats_add(sprt->stats, stats_from_pair(half_points_first, half_points_second));
    if (stats_pairs(&sprt->stats) % (uint64_t)sprt->spec.batch != 0) return sprt->verdict;
    Sample sample = sprt_sample(&sprt->spec, &sprt->stats);
    double llr = 0;
    if (!sprt_llr(&sprt->spec, &sample, &llr, NULL)) {
        sprt->skipped = true;
        sprt->failures++;
        return sprt->verdict;
    }
    if (sprt->skipped) sprt->overshoot.ref0 = sprt->overshoot.ref1 = llr;
    sprt->skipped = false;
    sprt->llr = llr;
    overshoot_update(&sprt->overshoot, llr);
    return sprt->verdict = verdict_by(sprt_corrected_bounds(sprt), llr);
}

// --- before the test --------------------------------------------------------------------------------------

double sprt_game_variance(double draw_ratio, double rms_bias) {
    double bias = score_from_elo(rms_bias) - 0.5;
    return (1 - draw_ratio) / 4 - bias * bias;
}

// The draw Elo at which equal engines draw this share of games.
static double draw_elo_of(double draw_ratio) { return elo_from_score((1 + draw_ratio) / 2); }

double sprt_true_score(const SprtSpec *spec, double elo, double draw_ratio, double variance) {
    SprtSpec at = *spec;
    at.elo0 = elo;
    return hypothesis_scores(&at, variance, draw_elo_of(draw_ratio)).s0;
}

// Probability that a walk leaves (a, b) at b, where exp(r x) is a martingale along its positions x.
static double exit_probability(double r, double a, double b) {
    if (fabs(r * (b - a)) < 1e-12) return -a / (b - a);
    if (r < 0) return expm1(-r * a) / expm1(r * (b - a));
    return exp(-r * b) * expm1(r * a) / expm1(r * (a - b));
}

// Mean number of steps of such a walk; near a drift of 0 the quotient would lose its digits.
static double exit_steps(double pass, double a, double b, double drift, double variance) {
    if (fabs(drift) < 1e-7 * variance) return -a * b / variance;
    return (b * pass + a * (1 - pass)) / drift;
}

SprtPlan sprt_plan(const SprtSpec *spec, double score, double draw_ratio, double variance) {
    SprtBounds bounds = sprt_bounds(spec);
    Scores s = hypothesis_scores(spec, variance, draw_elo_of(draw_ratio));
    double gap = s.s1 - s.s0, step_variance = gap * gap / variance;
    double h = (2 * score - s.s0 - s.s1) / gap, drift = h * step_variance / 2;
    SprtPlan plan = {.pass = exit_probability(-h, bounds.lower, bounds.upper)};
    plan.games = exit_steps(plan.pass, bounds.lower, bounds.upper, drift, step_variance);
    return plan;
}

// Runs Brent's method on function between ends where its signs differ.
static bool find_root(gsl_function *function, double low, double high, double *root, Error *error) {
    enum { MAX_STEPS = 300 };
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    if (!solver) return error_set(error, "not enough memory");
    int status = gsl_root_fsolver_set(solver, function, low, high);
    bool found = false;
    for (int step = 0; step < MAX_STEPS && status == GSL_SUCCESS && !found; step++) {
        status = gsl_root_fsolver_iterate(solver);
        double left = gsl_root_fsolver_x_lower(solver), right = gsl_root_fsolver_x_upper(solver);
        found = gsl_root_test_interval(left, right, 1e-13, 1e-13) == GSL_SUCCESS;
    }
    *root = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return found || error_set(error, "root finding between %g and %g did not converge", low, high);
}

// The steps of a log-likelihood ratio and their probabilities.
typedef struct Steps {
    int classes;
    double scale; // unit of the argument below, so that the root is near 1
    double share[PENTA_CLASSES], step[PENTA_CLASSES];
} Steps;

// (E[exp(r step)] - 1) / r at r = x scale: rises with r, and is the mean step at r = 0.
static double exponential_mean(double x, void *data) {
    const Steps *steps = data;
    double sum = 0, r = x * steps->scale;
    for (int i = 0; i < steps->classes; i++) {
        double step = steps->step[i];
        sum += steps->share[i] * (r == 0 ? step : expm1(r * step) / r);
    }
    return sum;
}

bool sprt_plan_walk(const SprtSpec *spec, const Sample *sample, SprtPlan *plan, Error *error) {
    Sample regular = sample_regularized(sample);
    Fit fit0, fit1;
    if (!fit_hypotheses(spec, &regular, &fit0, &fit1, error)) return false;
    Steps steps = {.classes = regular.classes};
    double size = sample_size(&regular), drift = 0, variance = 0;
    for (int i = 0; i < steps.classes; i++) {
        steps.share[i] = regular.count[i] / size;
        steps.step[i] = fit0.log_ratio[i] - fit1.log_ratio[i];
        drift += steps.share[i] * steps.step[i];
        variance += steps.share[i] * steps.step[i] * steps.step[i];
    }
    steps.scale = -2 * drift / variance; // the root, if steps were small
    double root = 0, reach = 2;
    gsl_function function = {exponential_mean, &steps};
    for (int i = 0; i < 60 && drift * exponential_mean(reach, &steps) > 0; i++) reach *= 2;
    if (steps.scale != 0 && !find_root(&function, 0, reach, &root, error)) return false;
    double r = root * steps.scale;
    if (r != 0) { // the drift that belongs to this very root: near 0 the sum above is mostly rounding
        drift = 0;
        for (int i = 0; i < steps.classes; i++)
            drift -= steps.share[i] * r * gsl_pow_2(steps.step[i]) * gsl_sf_exprel_2(r * steps.step[i]) / 2;
    }
    SprtBounds bounds = sprt_bounds(spec);
    plan->pass = exit_probability(r, bounds.lower, bounds.upper);
    plan->games =
        sample_games_per_unit(&regular) * exit_steps(plan->pass, bounds.lower, bounds.upper, drift, variance);
    return true;
}

// --- after the test ---------------------------------------------------------------------------------------

// A test seen as a Brownian motion that ended at (time, y) between the bounds a and b.
typedef struct Ending {
    double a, b;               // lower and upper bound
    double time, y;            // units played, log-likelihood ratio reached
    double mid, gap, variance; // mean of the hypotheses' scores, their distance, variance of a unit's score
    double target;             // the probability that is looked for
} Ending;

// exp(shift) times the normal distribution function at z. For large shifts two terms of its asymptotic
// series, as fishtest takes them, so that the figures are the same (the exact product moves Elo by less than
// 0.001).
static double shifted_phi(double shift, double z) {
    if (shift < 10) return exp(shift) * gsl_cdf_ugaussian_P(z);
    return -exp(shift - z * z / 2) / sqrt(2 * M_PI) * (1 / z - 1 / (z * z * z));
}

// Siegmund's approximation, for early ends and strong drifts: one reflection at each bound.
static double worse_by_reflection(const Ending *e, double mu, double sigma2) {
    double q = sqrt(sigma2 * e->time), g = mu / sigma2, offset = mu * e->time;
    return gsl_cdf_ugaussian_P((e->y - offset) / q) +
           shifted_phi(2 * g * e->a, (-e->y + offset + 2 * e->a) / q) -
           shifted_phi(2 * g * e->b, (e->y - offset - 2 * e->b) / q);
}

// The eigenfunction series of a motion between two absorbing bounds.
static double worse_by_series(const Ending *e, double mu, double sigma2) {
    enum { MAX_TERMS = 1000 };
    double A = e->b - e->a, x = -e->a, Y = e->y - e->a, g = mu / sigma2, sum;
    if (fabs(g * A) < 1e-12) sum = (A - x) / A;
    else if (g * A > 30) sum = exp(-2 * g * x);
    else sum = expm1(2 * g * (A - x)) / expm1(2 * g * A);
    // sum is now the probability to end at the lower bound at all.
    for (int n = 1; n <= MAX_TERMS; n++) {
        double w = n * M_PI / A;
        double decay = exp(-(w * w * sigma2 / 2 + mu * mu / (2 * sigma2)) * e->time + g * (Y - x));
        double bound = decay * 2 * (fabs(g) + w) * A / (A * A * (g * g + w * w));
        double u = 2 * (g * sin(w * Y) - w * cos(w * Y)) / (A * (g * g + w * w));
        sum += decay * u * sin(w * x);
        if (bound < 1e-14) break;
    }
    return sum;
}

// Probability of an outcome worse than the one seen (a faster H0, a slower H1, or H0 instead of H1) at a true
// Elo, minus the target; falls with Elo.
static double worse_outcome(double elo, void *data) {
    const Ending *e = data;
    double mu = (score_from_elo(elo) - e->mid) * e->gap / e->variance, sigma2 = e->gap * e->gap / e->variance;
    double A = e->b - e->a;
    bool reflect = sigma2 * e->time / (A * A) < 0.01 || fabs(mu / sigma2 * A) > 15;
    return (reflect ? worse_by_reflection(e, mu, sigma2) : worse_by_series(e, mu, sigma2)) - e->target;
}

// The Elo at which a worse outcome has probability target.
static bool elo_at(const SprtSpec *spec, Ending ending, double target, double *elo, Error *error) {
    const double limit = 1000;
    double mid = (spec->elo0 + spec->elo1) / 2, reach = 30 * (spec->elo1 - spec->elo0);
    ending.target = target;
    gsl_function function = {worse_outcome, &ending};
    for (;; reach *= 2) {
        double low = fmax(mid - reach, -limit), high = fmin(mid + reach, limit);
        double at_low = worse_outcome(low, &ending), at_high = worse_outcome(high, &ending);
        if (at_low >= 0 && at_high <= 0) return find_root(&function, low, high, elo, error);
        if (low == -limit && high == limit) {
            *elo = at_low > 0 ? limit : -limit;
            return true;
        }
    }
}

bool sprt_estimate(const SprtSpec *spec, const Sample *sample, SprtEstimate *estimate, Error *error) {
    if (sample_size(sample) == 0) return error_set(error, "no games: no estimate");
    Sample regular = sample_regularized(sample);
    Moments m = sample_moments(&regular);
    Scores s = sample_scores(spec, &regular);
    SprtBounds bounds = sprt_bounds(spec);
    Ending e = {.a = bounds.lower,
                .b = bounds.upper,
                .time = m.size,
                .mid = (s.s0 + s.s1) / 2,
                .gap = s.s1 - s.s0,
                .variance = m.variance};
    double slope = (m.mean - e.mid) * e.gap / e.variance;
    e.y = m.size * slope;
    if (e.y < e.a || e.y > e.b) {
        e.y = e.y < e.a ? e.a : e.b;
        e.time = e.y / slope;
    }
    if (!elo_at(spec, e, 0.5, &estimate->elo.value, error) ||
        !elo_at(spec, e, 0.975, &estimate->elo.low, error) ||
        !elo_at(spec, e, 0.025, &estimate->elo.high, error))
        return false;
    e.target = 0;
    estimate->los = worse_outcome(0, &e);
    return true;
}
