// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

enum { STREAM_SURFACE = 0x5355, STREAM_PAIR, STREAM_FORFEIT };

// ---- surfaces ----

struct Surface {
    SurfaceSpec spec;
    double factor;   // f of the reference
    double unit;     // z = value * unit
    double *optimum; // z*
    double *weight;  // S3: k_i
    double *hessian; // S1: n x n
    SpsaParam *params;
};

// A sequence of Gaussian and sign draws of one surface.
typedef struct Draws {
    uint64_t seed, next;
} Draws;

static double draw_gaussian(Draws *d) {
    double u = random_unit(random_at(d->seed, STREAM_SURFACE, d->next++));
    return gsl_cdf_ugaussian_Pinv(u + 0x1p-54);
}

static double draw_sign(Draws *d) { return random_at(d->seed, STREAM_SURFACE, d->next++) & 1 ? 1 : -1; }

// H = Q' diag(30^(k/(n-1) - 1/2)) Q with Q from Gram-Schmidt on Gaussian rows.
static void rotated_hessian(double *h, int n, Draws *d) {
    double *q = calloc((size_t)n * (size_t)n, sizeof *q);
    if (!q) return;
    for (int k = 0; k < n; k++) {
        double *row = q + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) row[i] = draw_gaussian(d);
        for (int j = 0; j < k; j++) {
            const double *other = q + (size_t)j * (size_t)n;
            double dot = 0;
            for (int i = 0; i < n; i++) dot += row[i] * other[i];
            for (int i = 0; i < n; i++) row[i] -= dot * other[i];
        }
        double norm = 0;
        for (int i = 0; i < n; i++) norm += row[i] * row[i];
        norm = 1 / sqrt(norm);
        for (int i = 0; i < n; i++) row[i] *= norm;
        double eigen = n > 1 ? pow(30, (double)k / (n - 1) - .5) : 1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) h[i * n + j] += eigen * row[i] * row[j];
    }
    free(q);
}

static double loss_at(const Surface *s, const double *values) {
    int n = s->spec.params;
    double loss = 0, d[SPSA_MAX_PARAMS];
    for (int i = 0; i < n; i++) d[i] = values[i] * s->unit - s->optimum[i];
    switch (s->spec.kind) {
    case SURFACE_S0:
        for (int i = 0; i < n; i++) loss += .5 * d[i] * d[i];
        break;
    case SURFACE_S1:
        for (int i = 0; i < n; i++) {
            const double *row = s->hessian + (size_t)i * (size_t)n;
            double dot = 0;
            for (int j = 0; j < i; j++) dot += row[j] * d[j];
            loss += d[i] * (dot + .5 * row[i] * d[i]);
        }
        break;
    case SURFACE_S3:
        for (int i = 0; i < n; i++) {
            double x = fabs(d[i]);
            loss += s->weight[i] * (d[i] < 0 ? x * x / (1 + x / 2) : 2 * x * x / (1 + x));
        }
        break;
    }
    return loss;
}

Surface *surface_create(const SurfaceSpec *spec, uint64_t seed) {
    size_t n = (size_t)spec->params;
    Surface *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->spec = *spec;
    s->unit = spec->integer ? spec->c0 : 1;
    s->optimum = calloc(n * 2, sizeof(double));
    s->hessian = calloc(spec->kind == SURFACE_S1 ? n * n : 1, sizeof(double));
    s->params = calloc(n, sizeof *s->params);
    if (!s->optimum || !s->hessian || !s->params) {
        surface_destroy(s);
        return NULL;
    }
    s->weight = s->optimum + n;
    Draws d = {.seed = seed};
    if (spec->kind == SURFACE_S1) rotated_hessian(s->hessian, spec->params, &d);
    double box = 4 * spec->range_scale;
    for (int i = 0; i < spec->params; i++) {
        switch (spec->kind) {
        case SURFACE_S0: s->optimum[i] = draw_sign(&d); break;
        case SURFACE_S1: s->optimum[i] = draw_gaussian(&d); break;
        case SURFACE_S3: s->optimum[i] = 1.5 * draw_sign(&d); break;
        }
        double misjudged = spec->kind == SURFACE_S0 ? 1 : exp(.5 * draw_gaussian(&d));
        if (spec->kind == SURFACE_S3) s->weight[i] = i % 2 ? 0 : exp(.7 * draw_gaussian(&d));
        SpsaParam *p = &s->params[i];
        snprintf(p->name, sizeof p->name, "P%d", i);
        p->is_int = spec->integer;
        p->c_end = spec->c0 * misjudged / s->unit;
        double uneven = spec->range_noise > 0 ? exp(spec->range_noise * draw_gaussian(&d)) : 1;
        p->min = -box * uneven / s->unit;
        p->max = box * uneven / s->unit;
        if (spec->bound && i % 2 == 0) {
            double best = s->optimum[i] / s->unit;
            if (best < 0) p->min = fmin(spec->integer ? ceil(best) : best, -.25);
            else p->max = fmax(spec->integer ? floor(best) : best, .25);
        }
        if (spec->integer) {
            p->min = floor(p->min);
            p->max = ceil(p->max);
        }
    }
    double start[SPSA_MAX_PARAMS] = {0};
    s->factor = -spec->start_elo / loss_at(s, start);
    return s;
}

void surface_destroy(Surface *s) {
    if (!s) return;
    free(s->optimum);
    free(s->hessian);
    free(s->params);
    free(s);
}

const SpsaParam *surface_params(const Surface *s) { return s->params; }

double surface_elo(const Surface *s, const double *values) { return -s->factor * loss_at(s, values); }

// ---- game pairs ----

static double logistic(double elo) { return 1 / (1 + exp(-elo * (2 / SPSA_ELO))); }

// Adds the outcome of a pair with opening bias b, in BayesElo units x, to five probabilities.
static void add_pair(double p[5], double x, double b) {
    const double drawelo = 265;
    double win1 = logistic(x - drawelo + b), loss1 = logistic(-x - drawelo - b);
    double win2 = logistic(x - drawelo - b), loss2 = logistic(-x - drawelo + b);
    double draw1 = 1 - win1 - loss1, draw2 = 1 - win2 - loss2;
    p[0] += .5 * loss1 * loss2;
    p[1] += .5 * (loss1 * draw2 + draw1 * loss2);
    p[2] += .5 * (draw1 * draw2 + win1 * loss2 + loss1 * win2);
    p[3] += .5 * (win1 * draw2 + draw1 * win2);
    p[4] += .5 * win1 * win2;
}

// Slope of logistic Elo against x at 0: d(score)/dx there, times dElo/dscore.
static double elo_slope(void) {
    double slope = 0;
    const double biases[] = {-60, 140}, drawelo = 265;
    for (int i = 0; i < 4; i++) {
        double b = biases[i / 2] * (i % 2 ? -1 : 1);
        double win = logistic(-drawelo + b), loss = logistic(-drawelo - b);
        slope += .25 * .5 * (win * (1 - win) + loss * (1 - loss)); // of score, in units of 2/C
    }
    return slope * 4;
}

static PairModel model_at(double x) {
    PairModel m = {{0}};
    add_pair(m.p, x, -60);
    add_pair(m.p, x, 140);
    return m;
}

PairModel pair_model(double elo) { return model_at(elo / elo_slope()); }

// Counts of `pairs` game pairs between players `elo` apart, numbered from `first`.
static void play_pairs(double x, uint64_t seed, uint64_t first, int pairs, double forfeits,
                       uint64_t penta[5]) {
    PairModel m = model_at(x);
    for (int j = 0; j < pairs; j++) {
        double u = random_unit(random_at(seed, STREAM_PAIR, first + (uint64_t)j));
        int outcome = 0;
        for (; outcome < 4 && u >= m.p[outcome]; outcome++) u -= m.p[outcome];
        if (forfeits > 0) { // each game of each side is lost with that probability, whatever the play
            double v = random_unit(random_at(seed, STREAM_FORFEIT, first + (uint64_t)j));
            if (v < forfeits * 2) outcome = v < forfeits ? int_max(outcome - 1, 0) : int_min(outcome + 1, 4);
        }
        penta[outcome]++;
    }
}

// ---- runs ----

bool simulate_run(const SimulationRun *run, uint64_t seed, double *regained, Error *error) {
    int n = run->surface.params;
    Surface *surface = surface_create(&run->surface, seed);
    SpsaParam *params = calloc((size_t)n, sizeof *params);
    double *values = calloc((size_t)n * 2, sizeof *values);
    SpsaState *state = NULL;
    bool ok = surface && params && values;
    if (!ok) error_set(error, "out of memory for %d parameters", n);
    if (ok) {
        memcpy(params, surface_params(surface), (size_t)n * sizeof *params);
        for (int i = 0; i < n; i++) {
            params[i].c_end *= run->c_scale;
            params[i].r_end = run->r;
        }
        SpsaPlan plan = spsa_plan(params, n, run->games, seed);
        plan.mode = run->mode;
        plan.pairs = run->pairs;
        plan.lag = run->lag;
        plan.tail = run->tail;
        state = spsa_create(&plan, error);
        ok = state != NULL;
        double scale = 1 / elo_slope();
        int64_t iterations = ok ? spsa_iterations(&plan) : 0;
        for (int64_t k = 1; k <= iterations; k++) {
            spsa_perturb(state, k, values, values + n);
            double elo = surface_elo(surface, values) - surface_elo(surface, values + n);
            uint64_t penta[5] = {0};
            play_pairs(elo * scale, seed, (uint64_t)((k - 1) * run->pairs), run->pairs, run->forfeits, penta);
            spsa_apply(state, k, penta);
        }
        for (int i = 0; ok && i < n; i++) {
            SpsaEstimate e = spsa_estimate(state, i);
            double last = params[i].is_int ? floor(e.last + .5) : e.last;
            values[i] = run->last ? last : e.value;
            values[n + i] = params[i].start;
        }
        if (ok) *regained = surface_elo(surface, values) - surface_elo(surface, values + n);
    }
    spsa_destroy(state);
    free(values);
    free(params);
    surface_destroy(surface);
    return ok;
}
