// SPDX-License-Identifier: GPL-3.0-or-later
// SPSA with hand-set gains (fishtest, OpenBench, constant) and with gains it finds itself (auto).
//
// Auto in short. In the first games the two sides lie unevenly about theta, AutoShift steps further out on the
// one side than on the other: the nearer side wins by what a step costs, and the slopes are seen as well as in
// any other game. Those games find the c at which a step costs what is wanted. From that cost, the
// draw ratio and the budget follows r, by the closed form for quadratic surfaces. All else is SPSA with one
// rounding draw for both sides, realised differences, and an average of the tail.
#include "tuner/spsa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The rules of auto: chosen on seeds 1 to 100 of the simulator, reported on others (tuner/SIMULATION.md).
static const double AutoBase = .2;    // first guess of c, as a share of the range
static const double AutoTrust = .33;  // how much the user's c counts against the range where they disagree
static const double AutoWidest = .5;  // largest c, as a share of the range
static const double AutoProbes = .08; // share of the budget whose games also measure what a step costs
static const double AutoWorth = 3;    // what a step should cost a parameter, in Elo
static const double AutoPrior = 1.5;  // deviation of the logarithm of what the first c costs
static const double AutoMissing = 10; // Elo thought to be missing at the start; only its logarithm counts
static const double AutoAlpha = .45;  // how fast r falls
static const double AutoLate = .1;    // share of the way to the optimum that may be in flight
static const double AutoShift = .3;   // how far a probe's middle lies from the centre, in steps
static const double AutoNear = .5;    // share of c that is kept however near a bound is
static const double AutoMatters = 12; // chi-square that about 2 % of inert parameters reach (test_simulate)

enum { STREAM_FLIP = 0x5350, STREAM_ROUND_PLUS, STREAM_ROUND_MINUS };

// What perturbing an iteration depends on; a ring of them lets results come late.
typedef struct Snapshot {
    double scale; // auto: c in units of base
    int stage;    // auto: which of the stages a probe belongs to
    bool probe;   // auto: the sides lie unevenly about the centre
} Snapshot;

// Sums of the regression of results on one parameter's differences d and on d times its place.
typedef struct Evidence {
    double dd, ddt, ddtt, yd, ydt;
} Evidence;

// Probes at one scale.
typedef struct Stage {
    double scale, y, games;
} Stage;

enum { STAGES = 24, GRID = 81 };

struct SpsaState {
    SpsaPlan plan;
    int64_t iterations, applied;
    uint64_t penta[5];
    Snapshot *ring;     // lag + 1 entries, entry k % (lag + 1) is the state after iteration k
    double *ring_theta; // (lag + 1) x count
    double *theta, *sum, *noise, *base, *plus, *minus; // count numbers each
    Evidence *evidence;
    double sum_weight;     // iterations in sum
    double square, played; // sum of squared results (less what probes cost), games
    // auto
    bool probing;
    int64_t probes;
    double scale; // c in units of base
    Stage stages[STAGES];
    int stage; // the last one
    double log_cost,
        log_error;   // of the cost of a step at scale 1, against the cost wanted: mean and deviation
    double worth, r; // cost of a step a parameter, gain
};

const char *spsa_mode_name(SpsaMode mode) {
    static const char *const Names[] = {"auto", "fishtest", "openbench", "constant"};
    return Names[mode];
}

SpsaPlan spsa_plan(const SpsaParam *params, int count, int64_t games, uint64_t seed) {
    return (SpsaPlan){.mode = SPSA_AUTO,
                      .params = params,
                      .count = count,
                      .seed = seed,
                      .games = games,
                      .pairs = 4,
                      .lag = 8,
                      .alpha = .602,
                      .gamma = .101,
                      .a_ratio = .1,
                      .tail = .5};
}

bool spsa_check(const SpsaPlan *plan, Error *error) {
    if (plan->count < 1 || plan->count > SPSA_MAX_PARAMS)
        return error_set(error, "%d parameters: expected 1 to %d", plan->count, SPSA_MAX_PARAMS);
    if (plan->pairs < 1 || plan->pairs > 100000)
        return error_set(error, "pairs of an iteration %d: expected 1 to 100000", plan->pairs);
    if (plan->lag < 1 || plan->lag > SPSA_MAX_LAG)
        return error_set(error, "lag %d: expected 1 to %d", plan->lag, SPSA_MAX_LAG);
    if (plan->games < 2 * plan->pairs)
        return error_set(error, "a budget of %lld games: expected at least one iteration of %d pairs",
                         (long long)plan->games, plan->pairs);
    if (!(plan->tail > 0 && plan->tail <= 1)) return error_set(error, "tail %g: expected (0, 1]", plan->tail);
    for (int i = 0; i < plan->count; i++) {
        const SpsaParam *p = &plan->params[i];
        if (!(p->min < p->max))
            return error_set(error, "parameter %s: min %g is not below max %g", p->name, p->min, p->max);
        if (!(p->start >= p->min && p->start <= p->max))
            return error_set(error, "parameter %s: value %g is outside [%g, %g]", p->name, p->start, p->min,
                             p->max);
        if (plan->mode != SPSA_AUTO && !(p->c_end > 0))
            return error_set(error, "parameter %s: c_end %g: expected more than 0", p->name, p->c_end);
        if (plan->mode != SPSA_AUTO && !(p->r_end >= 0))
            return error_set(error, "parameter %s: r_end %g: expected 0 or more", p->name, p->r_end);
    }
    return true;
}

int64_t spsa_iterations(const SpsaPlan *plan) { return plan->games / (2 * plan->pairs); }

static double clip(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// ---- hand-set gains ----

// What the schedule multiplies c_end and r_end c_end^2 by once `pairs` pairs have been applied.
typedef struct Schedule {
    double c, a;
} Schedule;

static Schedule schedule_at(const SpsaPlan *plan, double pairs) {
    if (plan->mode == SPSA_CONSTANT) return (Schedule){.c = 1, .a = 1};
    bool openbench = plan->mode == SPSA_OPENBENCH; // counts iterations where fishtest counts pairs
    double count = openbench ? (double)spsa_iterations(plan) : (double)(plan->games / 2);
    double offset = openbench ? plan->a_ratio * count : floor(plan->a_ratio * count);
    double it = 1 + (openbench ? pairs / plan->pairs : pairs);
    return (Schedule){.c = pow(count / it, plan->gamma),
                      .a = pow((offset + count) / (offset + it), plan->alpha)};
}

static SpsaGain gain_from(const SpsaPlan *plan, int i, Schedule at) {
    const SpsaParam *p = &plan->params[i];
    double c = p->c_end * at.c;
    if (plan->mode == SPSA_OPENBENCH && p->is_int && c < .5) c = .5;
    return (SpsaGain){.c = c, .r = p->r_end * p->c_end * p->c_end * at.a / (c * c)};
}

SpsaGain spsa_gain(const SpsaPlan *plan, int i, double pairs) {
    return gain_from(plan, i, schedule_at(plan, pairs));
}

SpsaSides spsa_sides(const SpsaPlan *plan, int i, double theta, double c, int flip, double u_plus,
                     double u_minus) {
    const SpsaParam *p = &plan->params[i];
    SpsaSides s = {.wanted_plus = theta + c * flip, .wanted_minus = theta - c * flip};
    if (plan->mode != SPSA_OPENBENCH) { // OpenBench clips after rounding
        s.wanted_plus = clip(s.wanted_plus, p->min, p->max);
        s.wanted_minus = clip(s.wanted_minus, p->min, p->max);
    }
    s.plus = clip(p->is_int ? floor(s.wanted_plus + u_plus) : s.wanted_plus, p->min, p->max);
    s.minus = clip(p->is_int ? floor(s.wanted_minus + u_minus) : s.wanted_minus, p->min, p->max);
    return s;
}

double spsa_step(const SpsaPlan *plan, int i, double theta, SpsaGain gain, int flip,
                 double wins_minus_losses) {
    const SpsaParam *p = &plan->params[i];
    return clip(theta + gain.r * gain.c * flip * wins_minus_losses, p->min, p->max);
}

int spsa_flip(const SpsaPlan *plan, int64_t k, int i) {
    uint64_t words = (uint64_t)(plan->count + 63) / 64;
    uint64_t bits = random_at(plan->seed, STREAM_FLIP, (uint64_t)k * words + (uint64_t)i / 64);
    return bits >> (i & 63) & 1 ? 1 : -1;
}

static double rounding(const SpsaPlan *plan, uint64_t stream, int64_t k, int i) {
    return random_unit(random_at(plan->seed, stream, (uint64_t)k * (uint64_t)plan->count + (uint64_t)i));
}

// ---- the state ----

static double score_of(const uint64_t penta[5]) { // wins - losses
    return 2. * (double)penta[4] + (double)penta[3] - (double)penta[1] - 2. * (double)penta[0];
}

static void remember(SpsaState *s) {
    int slot = (int)(s->applied % (s->plan.lag + 1));
    s->ring[slot] = (Snapshot){.scale = s->scale, .stage = s->stage, .probe = s->probing};
    memcpy(s->ring_theta + (size_t)slot * (size_t)s->plan.count, s->theta,
           (size_t)s->plan.count * sizeof *s->theta);
}

// Lets the user's c speak for the proportions between parameters, not for their size: who misjudges all of
// them alike changes nothing.
static void auto_weigh(SpsaState *s) {
    double sum = 0;
    int given = 0;
    for (int i = 0; i < s->plan.count; i++) {
        const SpsaParam *p = &s->plan.params[i];
        if (p->c_end > 0) {
            sum += log(p->c_end / (p->max - p->min));
            given++;
        }
    }
    for (int i = 0; i < s->plan.count; i++) {
        const SpsaParam *p = &s->plan.params[i];
        if (p->c_end > 0) s->base[i] *= exp(AutoTrust * (log(p->c_end / (p->max - p->min)) - sum / given));
    }
}

SpsaState *spsa_create(const SpsaPlan *plan, Error *error) {
    if (!spsa_check(plan, error)) return NULL;
    size_t n = (size_t)plan->count;
    SpsaState *s = calloc(1, sizeof *s);
    if (s) {
        s->plan = *plan;
        s->ring = calloc((size_t)plan->lag + 1, sizeof *s->ring);
        s->ring_theta = calloc(((size_t)plan->lag + 1) * n, sizeof(double));
        s->evidence = calloc(n, sizeof *s->evidence);
        s->theta = calloc(n * 6, sizeof(double));
    }
    if (!s || !s->ring || !s->ring_theta || !s->evidence || !s->theta) {
        spsa_destroy(s);
        error_set(error, "out of memory for %d parameters", plan->count);
        return NULL;
    }
    double **const arrays[] = {&s->sum, &s->noise, &s->base, &s->plus, &s->minus};
    for (size_t j = 0; j < sizeof arrays / sizeof *arrays; j++) *arrays[j] = s->theta + (j + 1) * n;
    s->iterations = spsa_iterations(plan);
    for (int i = 0; i < plan->count; i++) {
        const SpsaParam *p = &plan->params[i];
        s->theta[i] = p->start;
        s->base[i] = (p->max - p->min) * AutoBase;
    }
    auto_weigh(s);
    s->scale = 1;
    s->stages[0].scale = 1;
    s->log_error = AutoPrior;
    s->probing = plan->mode == SPSA_AUTO;
    s->probes = (int64_t)ceil((double)s->iterations * AutoProbes);
    remember(s);
    return s;
}

void spsa_destroy(SpsaState *s) {
    if (!s) return;
    free(s->ring);
    free(s->ring_theta);
    free(s->evidence);
    free(s->theta);
    free(s);
}

int64_t spsa_applied(const SpsaState *s) { return s->applied; }

bool spsa_ready(const SpsaState *s, int64_t k) {
    return k > s->applied && k <= s->applied + s->plan.lag && k <= s->iterations;
}

// The full step of parameter i at a scale: at least 1 for an integer, at most what fits into its range.
static double auto_c(const SpsaState *s, int i, double scale, double reach) {
    const SpsaParam *p = &s->plan.params[i];
    double c = s->base[i] * scale;
    if (p->is_int && c < 1) c = 1;
    return fmin(c, (p->max - p->min) * .5 / reach);
}

// Where parameter i is perturbed: the centre, and how far from it either side lies.
typedef struct Spot {
    double centre, c, plus, minus;
} Spot;

// Near a bound the step shrinks, down to AutoNear, before the centre leaves theta. A probe moves both sides
// AutoShift steps along the perturbation, so that the plus side is further from the centre than the minus
// side.
static Spot auto_spot(const SpsaState *s, int i, double theta, Snapshot seen) {
    const SpsaParam *p = &s->plan.params[i];
    double shift = seen.probe ? AutoShift : 0, reach = 1 + shift;
    double full = auto_c(s, i, seen.scale, reach), least = full * AutoNear;
    if (p->is_int) least = fmin(fmax(least, 1), full);
    double c = clip(fmin(theta - p->min, p->max - theta) / reach, least, full);
    return (Spot){.centre = clip(theta, p->min + c * reach, p->max - c * reach),
                  .c = c,
                  .plus = c * (1 + shift),
                  .minus = c * (1 - shift)};
}

void spsa_perturb(const SpsaState *s, int64_t k, double *plus, double *minus) {
    const SpsaPlan *plan = &s->plan;
    int64_t from = k > plan->lag ? k - plan->lag : 0;
    int slot = (int)(from % (plan->lag + 1));
    const double *theta = s->ring_theta + (size_t)slot * (size_t)plan->count;
    Schedule at = schedule_at(plan, (double)((k - 1) * plan->pairs));
    for (int i = 0; i < plan->count; i++) {
        const SpsaParam *p = &plan->params[i];
        int flip = spsa_flip(plan, k, i);
        double u = p->is_int ? rounding(plan, STREAM_ROUND_PLUS, k, i) : 0;
        if (plan->mode != SPSA_AUTO) {
            double u_minus =
                p->is_int && plan->mode != SPSA_OPENBENCH ? rounding(plan, STREAM_ROUND_MINUS, k, i) : u;
            double c = gain_from(plan, i, at).c;
            SpsaSides sides = spsa_sides(plan, i, theta[i], c, flip, u, u_minus);
            plus[i] = sides.plus;
            minus[i] = sides.minus;
        } else {
            Spot spot = auto_spot(s, i, theta[i], s->ring[slot]);
            plus[i] = spot.centre + spot.plus * flip;
            minus[i] = spot.centre - spot.minus * flip;
            if (p->is_int) {
                plus[i] = clip(floor(plus[i] + u), p->min, p->max);
                minus[i] = clip(floor(minus[i] + u), p->min, p->max);
            }
        }
    }
}

double spsa_draw_ratio(const SpsaState *s) {
    double n = 0, mean = 0, square = 0;
    for (int j = 0; j < 5; j++) {
        double count = (double)s->penta[j], a = .25 * j;
        n += count;
        mean += a * count;
        square += a * a * count;
    }
    if (n < 1) return 0;
    mean /= n;
    return 1 - 8 * (square / n - mean * mean);
}

double spsa_step_worth(const SpsaState *s) { return s->worth; }

// Variance of one game's result in Elo^2.
static double auto_noise(const SpsaState *s) {
    return SPSA_ELO * SPSA_ELO * clip(1 - spsa_draw_ratio(s), .05, 1);
}

// The gain r* of the closed form for what a step is worth and for the budget.
static double auto_r(const SpsaState *s, double worth) {
    double games = (double)s->iterations * 2 * s->plan.pairs;
    double q = s->plan.count * auto_noise(s) / (64 * worth * games);
    return SPSA_ELO / (8 * worth * games) * log(fmax(AutoMissing / q, 3));
}

// What a step costs, from all probes so far: the posterior of its logarithm on a grid, for a quadratic
// surface whose results saturate as (wins - losses) a game = tanh(Elo / C).
static void auto_fit(SpsaState *s) {
    double logs[GRID], best = -HUGE_VAL, sum = 0, mean = 0, square = 0;
    double variance = auto_noise(s) / (SPSA_ELO * SPSA_ELO), wanted = AutoWorth * s->plan.count;
    for (int g = 0; g < GRID; g++) {
        double u = (g - GRID / 2) * .125;
        logs[g] = -.5 * u * u / (AutoPrior * AutoPrior);
        for (int j = 0; j <= s->stage; j++) {
            const Stage *t = &s->stages[j];
            if (t->games == 0) continue;
            double miss =
                t->y / t->games + tanh(4 * AutoShift * t->scale * t->scale * wanted * exp(u) / SPSA_ELO);
            logs[g] -= .5 * t->games * miss * miss / variance;
        }
        best = fmax(best, logs[g]);
    }
    for (int g = 0; g < GRID; g++) {
        double u = (g - GRID / 2) * .125, p = exp(logs[g] - best);
        sum += p;
        mean += p * u;
        square += p * u * u;
    }
    s->log_cost = mean / sum;
    s->log_error = sqrt(fmax(square / sum - s->log_cost * s->log_cost, 0));
}

// What a step costs a parameter at a scale.
static double auto_worth(double log_cost, double scale) { return AutoWorth * exp(log_cost) * scale * scale; }

// The scale at which a step costs what is wanted, as far as it fits into the ranges.
static double auto_scale(const SpsaState *s) { return fmin(exp(-.5 * s->log_cost), AutoWidest / AutoBase); }

// One probe: better knowledge of the cost, and another stage where the scale turns out clearly wrong.
static void auto_probe(SpsaState *s, int stage, double y, double games) {
    s->stages[stage].y += y;
    s->stages[stage].games += games;
    auto_fit(s);
    double scale = auto_scale(s);
    if (fabs(log(scale / s->scale)) > .15 && s->stage + 1 < STAGES) {
        s->scale = scale;
        s->stages[++s->stage] = (Stage){.scale = scale};
    }
}

// Ends the probes: the cost of a step is known as well as it will be; c is set, r follows from the budget.
static void auto_begin(SpsaState *s) {
    s->scale = auto_scale(s);
    s->worth = auto_worth(s->log_cost, s->scale);
    s->r = auto_r(s, s->worth);
    s->probing = false;
}

// Notes what iteration k says about parameter i: its difference d, its place, the result, the step taken for
// it.
static void note(SpsaState *s, int64_t k, int i, double place, double y, double games, double step) {
    Evidence *e = &s->evidence[i];
    double d = s->plus[i] - s->minus[i], t = place - s->plan.params[i].start;
    e->dd += d * d * games;
    e->ddt += d * d * t * games;
    e->ddtt += d * d * t * t * games;
    e->yd += y * d;
    e->ydt += y * d * t;
    // A step counts in the tail's average as far as the average still lies ahead of it.
    double ahead = (double)(s->iterations - k + 1) / (s->plan.tail * (double)s->iterations);
    double weight = ahead < 1 ? ahead : 1;
    s->noise[i] += weight * weight * step * step * games;
}

// Applies a result; returns it without what a probe costs.
static double apply_auto(SpsaState *s, int64_t k, double y, double games) {
    const SpsaPlan *plan = &s->plan;
    int slot = (int)((k > plan->lag ? k - plan->lag : 0) % (plan->lag + 1));
    Snapshot seen = s->ring[slot];
    double worth = s->worth, r = s->r;
    if (seen.probe) {
        double cost = auto_worth(s->log_cost, seen.scale) * plan->count; // without this result
        worth = auto_worth(s->log_cost + s->log_error, seen.scale);
        r = auto_r(s, worth) * (1 - pow(s->log_error / AutoPrior, 2)); // no faster than the evidence grows
        if (s->probing) auto_probe(s, seen.stage, y, games);
        y += tanh(4 * AutoShift * cost / SPSA_ELO) * games;
        if (s->probing && s->applied + 1 >= s->probes) auto_begin(s);
    }
    r *= pow((.1 + 1) / (.1 + (double)k / (double)s->iterations), AutoAlpha);
    // Results come lag iterations late: no step so large that they would be answered again and again
    // meanwhile.
    r = fmin(r, AutoLate * SPSA_ELO / (4 * worth * plan->lag * 2 * plan->pairs));
    for (int i = 0; i < plan->count; i++) {
        const SpsaParam *p = &plan->params[i];
        double theta = s->ring_theta[(size_t)slot * (size_t)plan->count + (size_t)i];
        double d = s->plus[i] - s->minus[i];
        Spot spot = auto_spot(s, i, theta, seen);
        if (d == 0) continue;
        double full =
            auto_c(s, i, seen.scale, 1); // the curvature 2 worth / c^2 carries the slope from centre to theta
        double carry = 2 * worth / (full * full) * (theta - spot.centre) / SPSA_ELO * games;
        double step = 2 * r * spot.c * spot.c / d;
        note(s, k, i, spot.centre, y, games, step);
        s->theta[i] = clip(s->theta[i] + step * y - step * d * carry, p->min, p->max);
    }
    return y;
}

void spsa_apply(SpsaState *s, int64_t k, const uint64_t penta[5]) {
    const SpsaPlan *plan = &s->plan;
    double y = score_of(penta), games = 0;
    spsa_perturb(s, k, s->plus, s->minus);
    for (int j = 0; j < 5; j++) {
        s->penta[j] += penta[j];
        games += 2. * (double)penta[j];
    }
    if (games == 0) { // every pair of it was set aside: the iteration passes without a step
    } else if (plan->mode == SPSA_AUTO) {
        y = apply_auto(s, k, y, games);
    } else {
        Schedule at = schedule_at(plan, (double)((k - 1) * plan->pairs));
        for (int i = 0; i < plan->count; i++) {
            SpsaGain gain = gain_from(plan, i, at);
            note(s, k, i, s->theta[i], y, games, gain.r * gain.c);
            s->theta[i] = spsa_step(plan, i, s->theta[i], gain, spsa_flip(plan, k, i), y);
        }
    }
    s->square += y * y;
    s->played += games;
    s->applied = k;
    remember(s);
    if ((double)k > (double)s->iterations * (1 - plan->tail)) {
        for (int i = 0; i < plan->count; i++) s->sum[i] += s->theta[i];
        s->sum_weight++;
    }
}

SpsaEstimate spsa_estimate(const SpsaState *s, int i) {
    const SpsaParam *p = &s->plan.params[i];
    const Evidence *v = &s->evidence[i];
    SpsaEstimate e = {.last = s->theta[i]};
    e.average = s->sum_weight > 0 ? s->sum[i] / s->sum_weight : s->theta[i];
    e.value = p->is_int ? clip(floor(e.average + .5), p->min, p->max) : e.average;
    double variance = s->played > 0 ? s->square / s->played : 0; // of one game's result
    e.error = sqrt(s->noise[i] * variance);
    e.signal = e.error > 0 ? (e.average - p->start) / e.error : 0;
    double det = v->dd * v->ddtt - v->ddt * v->ddt;
    if (variance > 0 && det > 1e-9 * v->dd * v->ddtt)
        e.chi2 = (v->yd * v->yd * v->ddtt - 2 * v->yd * v->ydt * v->ddt + v->ydt * v->ydt * v->dd) / det /
                 variance;
    else if (variance > 0 && v->dd > 0) e.chi2 = v->yd * v->yd / v->dd / variance;
    e.matters = e.chi2 > AutoMatters;
    return e;
}

SpsaGain spsa_gain_now(const SpsaState *s, int i) {
    if (s->plan.mode != SPSA_AUTO) return spsa_gain(&s->plan, i, (double)(s->applied * s->plan.pairs));
    return (SpsaGain){.c = auto_c(s, i, s->scale, 1), .r = s->r};
}
