// SPDX-License-Identifier: GPL-3.0-or-later
// Newton's method on the log-likelihood, which is concave. Strengths are natural log-odds inside, Elo
// outside.
#include "match/ratings.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LeastPoints = 1e-3; // of a side that made none
static const double EloPerLogOdds = NELO_PER_SIGMA / 2;

// What is needed of a table to fit it once: games and points of every engine against every other.
typedef struct Field {
    int engines;
    Sample *sample;         // engines x engines, i < j: outcomes seen by i
    double *games, *points; // engines x engines
    bool *linked;           // a chain of games leads to engine 0
    gsl_matrix *hessian;    // of the engines but the first; unlinked ones get a row of their own
    gsl_vector *gradient;
} Field;

static void field_free(Field *field) {
    free(field->sample);
    free(field->games);
    free(field->points);
    free(field->linked);
    if (field->hessian) gsl_matrix_free(field->hessian);
    if (field->gradient) gsl_vector_free(field->gradient);
}

static bool field_create(Field *field, int engines, Error *error) {
    size_t n = (size_t)engines;
    *field = (Field){.engines = engines,
                     .sample = calloc(n * n, sizeof *field->sample),
                     .games = calloc(n * n, sizeof *field->games),
                     .points = calloc(n * n, sizeof *field->points),
                     .linked = calloc(n, sizeof *field->linked),
                     .hessian = n > 1 ? gsl_matrix_calloc(n - 1, n - 1) : NULL,
                     .gradient = n > 1 ? gsl_vector_calloc(n - 1) : NULL};
    return (field->sample && field->games && field->points && field->linked &&
            (n == 1 || (field->hessian && field->gradient))) ||
           error_set(error, "ratings: not enough memory for %d engines", engines);
}

// Sets the result between two engines, i < j, to these outcomes.
static void field_set(Field *field, int i, int j, const Sample *sample) {
    double units = sample_size(sample), per_unit = sample_games_per_unit(sample), points = 0;
    for (int k = 0; k < sample->classes; k++) points += sample->count[k] * sample_value(sample, k) * per_unit;
    double games = units * per_unit;
    points = fmin(fmax(points, LeastPoints), games - LeastPoints);
    int ij = i * field->engines + j, ji = j * field->engines + i;
    field->games[ij] = field->games[ji] = games;
    field->points[ij] = points;
    field->points[ji] = games - points;
}

static void field_link(Field *field) {
    field->linked[0] = true;
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < field->engines; i++)
            for (int j = 0; j < field->engines; j++)
                if (field->linked[i] && !field->linked[j] && field->games[i * field->engines + j] > 0)
                    field->linked[j] = grown = true;
    }
}

static double log_likelihood(const Field *field, const double *strength) {
    double sum = 0;
    for (int i = 0; i < field->engines; i++)
        for (int j = 0; j < field->engines; j++) {
            double points = field->points[i * field->engines + j];
            if (points > 0) sum -= points * log1p(exp(strength[j] - strength[i]));
        }
    return sum;
}

// Newton's step at strength, into field->gradient. The diagonal is raised a trifle, so that the matrix stays
// positive definite whatever the rounding.
static void newton_step(Field *field, const double *strength) {
    const double raise = 1 + 1e-12;
    int n = field->engines;
    gsl_matrix_set_zero(field->hessian);
    for (int i = 1; i < n; i++) {
        double slope = 0, diagonal = 0;
        for (int j = 0; j < n && field->linked[i]; j++) {
            double games = field->games[i * n + j], expected = 1 / (1 + exp(strength[j] - strength[i]));
            if (games == 0) continue;
            double weight = games * expected * (1 - expected);
            slope += field->points[i * n + j] - games * expected;
            diagonal += weight;
            if (j > 0) gsl_matrix_set(field->hessian, (size_t)i - 1, (size_t)j - 1, -weight);
        }
        gsl_matrix_set(field->hessian, (size_t)i - 1, (size_t)i - 1, field->linked[i] ? diagonal * raise : 1);
        gsl_vector_set(field->gradient, (size_t)i - 1, slope);
    }
    gsl_linalg_cholesky_decomp1(field->hessian);
    gsl_linalg_cholesky_svx(field->hessian, field->gradient);
}

// Climbs from strength (which is overwritten) to the maximum; trial is room for as many numbers.
static bool field_fit(Field *field, double *strength, double *trial, Error *error) {
    enum { MAX_STEPS = 200, MAX_HALVINGS = 40 };
    const double longest = 3, tolerance = 1e-9;
    int n = field->engines;
    if (n == 1) return true;
    for (int step = 0; step < MAX_STEPS; step++) {
        newton_step(field, strength);
        double length = fabs(gsl_vector_get(field->gradient, gsl_blas_idamax(field->gradient)));
        double scale = length > longest ? longest / length : 1, before = log_likelihood(field, strength);
        for (int halving = 0; halving < MAX_HALVINGS; halving++, scale /= 2) {
            trial[0] = 0;
            for (int i = 1; i < n; i++)
                trial[i] = strength[i] + scale * gsl_vector_get(field->gradient, (size_t)i - 1);
            if (log_likelihood(field, trial) >= before - 1e-12 * fabs(before)) break;
        }
        memcpy(strength, trial, (size_t)n * sizeof *strength);
        if (length < tolerance) return true;
    }
    return error_set(error, "ratings: no convergence in %d steps", MAX_STEPS);
}

// --- bootstrap --------------------------------------------------------------------------------------------

// A generator for GSL on our stateless numbers.
typedef struct Stream {
    uint64_t seed, stream, index;
} Stream;

static uint64_t stream_next(void *state) {
    Stream *stream = state;
    return random_at(stream->seed, stream->stream, stream->index++);
}

static void stream_set(void *state, unsigned long seed) { *(Stream *)state = (Stream){.seed = seed}; }
static unsigned long stream_get(void *state) { return (unsigned long)(stream_next(state) >> 32); }
static double stream_get_double(void *state) { return random_unit(stream_next(state)); }

static const gsl_rng_type StreamType = {"random_at", UINT32_MAX,       0, sizeof(Stream), stream_set,
                                        stream_get,  stream_get_double};

// Replaces every result by as many units drawn from it with replacement.
static void field_resample(Field *field, const gsl_rng *rng) {
    for (int i = 0; i < field->engines; i++)
        for (int j = i + 1; j < field->engines; j++) {
            const Sample *sample = &field->sample[i * field->engines + j];
            if (sample->classes == 0) continue;
            Sample drawn = *sample;
            unsigned counts[PENTA_CLASSES], units = (unsigned)sample_size(sample);
            gsl_ran_multinomial(rng, (size_t)sample->classes, units, sample->count, counts);
            for (int k = 0; k < drawn.classes; k++) drawn.count[k] = counts[k];
            field_set(field, i, j, &drawn);
        }
}

// The interval of each engine: the middle 95 % of its strength over all replicas.
static bool bootstrap(Field *field, const double *strength, double *trial, int replicas, uint64_t seed,
                      Rating *ratings, Error *error) {
    size_t n = (size_t)field->engines, count = (size_t)replicas;
    double *drawn = malloc(n * sizeof *drawn), *all = malloc(n * count * sizeof *all);
    gsl_rng *rng = gsl_rng_alloc(&StreamType);
    bool ok = drawn && all && rng;
    if (!ok) error_set(error, "ratings: not enough memory for %d replicas", replicas);
    for (size_t k = 0; ok && k < count; k++) {
        *(Stream *)gsl_rng_state(rng) = (Stream){.seed = seed, .stream = k};
        field_resample(field, rng);
        memcpy(drawn, strength, n * sizeof *drawn);
        ok = field_fit(field, drawn, trial, error);
        for (size_t i = 0; i < n; i++) all[i * count + k] = drawn[i];
    }
    for (size_t i = 0; ok && i < n; i++) {
        double *own = all + i * count;
        gsl_sort(own, 1, count);
        ratings[i].elo.low = EloPerLogOdds * gsl_stats_quantile_from_sorted_data(own, 1, count, 0.025);
        ratings[i].elo.high = EloPerLogOdds * gsl_stats_quantile_from_sorted_data(own, 1, count, 0.975);
    }
    if (rng) gsl_rng_free(rng);
    free(all);
    free(drawn);
    return ok;
}

// --- the whole --------------------------------------------------------------------------------------------

static void field_load(Field *field, const Stats *table, Rating *ratings) {
    int n = field->engines;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            Stats stats = stats_add(table[i * n + j], stats_flip(table[j * n + i]));
            ratings[i].stats = stats_add(ratings[i].stats, stats);
            ratings[j].stats = stats_add(ratings[j].stats, stats_flip(stats));
            if (stats_games(&stats) == 0) continue;
            field->sample[i * n + j] = sample_of(&stats);
            field_set(field, i, j, &field->sample[i * n + j]);
        }
    field_link(field);
}

bool ratings_fit(int engines, const Stats *table, int replicas, uint64_t seed, Rating *ratings,
                 Error *error) {
    Field field;
    double *strength = calloc((size_t)engines * 2, sizeof *strength), *trial = strength + engines;
    for (int i = 0; i < engines; i++) ratings[i] = (Rating){.elo = {NAN, NAN, NAN}};
    bool ok = field_create(&field, engines, error);
    if (ok && !strength) ok = error_set(error, "ratings: not enough memory for %d engines", engines);
    if (ok) {
        field_load(&field, table, ratings);
        ok = field_fit(&field, strength, trial, error);
    }
    for (int i = 0; ok && i < engines; i++) ratings[i].elo.value = EloPerLogOdds * strength[i];
    if (ok && replicas > 0) ok = bootstrap(&field, strength, trial, replicas, seed, ratings, error);
    for (int i = 0; ok && i < engines; i++)
        if (!field.linked[i]) ratings[i].elo = (Estimate){NAN, NAN, NAN};
    field_free(&field);
    free(strength);
    return ok;
}
