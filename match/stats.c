// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/stats.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

static const double ZeroCount = 1e-3; // what a zero count becomes in a regularized sample

Stats stats_from_game(int half_points) {
    assert(half_points >= 0 && half_points <= 2);
    Stats stats = {0};
    stats.wdl[WDL_LOSS - half_points] = 1;
    return stats;
}

Stats stats_from_pair(int half_points_first, int half_points_second) {
    Stats stats = stats_add(stats_from_game(half_points_first), stats_from_game(half_points_second));
    stats.penta[half_points_first + half_points_second] = 1;
    return stats;
}

Stats stats_add(Stats a, Stats b) {
    for (int i = 0; i < PENTA_CLASSES; i++) a.penta[i] += b.penta[i];
    for (int i = 0; i < WDL_CLASSES; i++) a.wdl[i] += b.wdl[i];
    return a;
}

Stats stats_flip(Stats stats) {
    Stats flipped;
    for (int i = 0; i < PENTA_CLASSES; i++) flipped.penta[i] = stats.penta[PENTA_CLASSES - 1 - i];
    for (int i = 0; i < WDL_CLASSES; i++) flipped.wdl[i] = stats.wdl[WDL_CLASSES - 1 - i];
    return flipped;
}

uint64_t stats_games(const Stats *stats) {
    return stats->wdl[WDL_WIN] + stats->wdl[WDL_DRAW] + stats->wdl[WDL_LOSS];
}

uint64_t stats_pairs(const Stats *stats) {
    uint64_t pairs = 0;
    for (int i = 0; i < PENTA_CLASSES; i++) pairs += stats->penta[i];
    return pairs;
}

uint64_t stats_half_points(const Stats *stats) { return 2 * stats->wdl[WDL_WIN] + stats->wdl[WDL_DRAW]; }

Sample sample_of_games(const Stats *stats) {
    Sample sample = {.classes = WDL_CLASSES};
    for (int i = 0; i < WDL_CLASSES; i++) sample.count[i] = (double)stats->wdl[WDL_LOSS - i];
    return sample;
}

Sample sample_of_pairs(const Stats *stats) {
    Sample sample = {.classes = PENTA_CLASSES};
    for (int i = 0; i < PENTA_CLASSES; i++) sample.count[i] = (double)stats->penta[i];
    return sample;
}

Sample sample_of(const Stats *stats) {
    return stats_pairs(stats) ? sample_of_pairs(stats) : sample_of_games(stats);
}

Sample sample_regularized(const Sample *sample) {
    Sample regular = *sample;
    for (int i = 0; i < regular.classes; i++)
        if (regular.count[i] == 0) regular.count[i] = ZeroCount;
    return regular;
}

double sample_size(const Sample *sample) {
    double size = 0;
    for (int i = 0; i < sample->classes; i++) size += sample->count[i];
    return size;
}

int sample_games_per_unit(const Sample *sample) { return sample->classes == PENTA_CLASSES ? 2 : 1; }

double sample_value(const Sample *sample, int i) { return (double)i / (sample->classes - 1); }

Moments sample_moments(const Sample *sample) {
    Moments m = {.size = sample_size(sample)};
    for (int i = 0; i < sample->classes; i++) m.mean += sample->count[i] * sample_value(sample, i);
    m.mean /= m.size;
    double third = 0, fourth = 0;
    for (int i = 0; i < sample->classes; i++) {
        double share = sample->count[i] / m.size, d = sample_value(sample, i) - m.mean;
        m.variance += share * d * d;
        third += share * d * d * d;
        fourth += share * d * d * d * d;
    }
    m.skewness = third / (m.variance * sqrt(m.variance));
    m.excess_kurtosis = fourth / (m.variance * m.variance) - 3;
    return m;
}

double elo_from_score(double score) {
    if (score <= 0) return -INFINITY;
    if (score >= 1) return INFINITY;
    return NELO_PER_SIGMA / 2 * (log(score) - log1p(-score));
}

double score_from_elo(double elo) { return 1 / (1 + exp(-elo / (NELO_PER_SIGMA / 2))); }

Estimate sample_elo(const Sample *sample) {
    Moments m = sample_moments(sample);
    double reach = CONFIDENCE_Z * sqrt(m.variance / m.size);
    return (Estimate){elo_from_score(m.mean), elo_from_score(m.mean - reach), elo_from_score(m.mean + reach)};
}

double estimate_margin(const Estimate *estimate) { return (estimate->high - estimate->low) / 2; }

double sample_los(const Sample *sample) {
    Moments m = sample_moments(sample);
    if (m.variance == 0) return m.mean > 0.5 ? 1 : m.mean < 0.5 ? 0 : 0.5;
    return gsl_cdf_ugaussian_P((m.mean - 0.5) / sqrt(m.variance / m.size));
}

double sample_variance_per_game(const Sample *sample) {
    return sample_games_per_unit(sample) * sample_moments(sample).variance;
}

double sample_nelo(const Sample *sample) {
    return NELO_PER_SIGMA * (sample_moments(sample).mean - 0.5) / sqrt(sample_variance_per_game(sample));
}

double sample_nelo_error(const Sample *sample) {
    Moments m = sample_moments(sample);
    double t = (m.mean - 0.5) / sqrt(m.variance);
    double spread = 1 - t * m.skewness + t * t * (m.excess_kurtosis + 2) / 4;
    if (spread < 0) spread = 0; // cannot be, but for rounding
    return CONFIDENCE_Z * NELO_PER_SIGMA * sqrt(spread / (sample_games_per_unit(sample) * m.size));
}

double sample_nelo_error_fastchess(const Sample *sample) {
    return CONFIDENCE_Z * NELO_PER_SIGMA / sqrt(sample_games_per_unit(sample) * sample_size(sample));
}

double sample_draw_ratio(const Sample *sample) {
    return sample->count[sample->classes / 2] / sample_size(sample);
}

double sample_pair_ratio(const Sample *sample) {
    if (sample->classes != PENTA_CLASSES) return NAN;
    const double *n = sample->count;
    return (n[PENTA_WD] + n[PENTA_WW]) / (n[PENTA_LL] + n[PENTA_LD]);
}

double stats_los_cutechess(const Stats *stats) {
    double wins = (double)stats->wdl[WDL_WIN], losses = (double)stats->wdl[WDL_LOSS];
    if (wins + losses == 0) return 0.5;
    return gsl_cdf_ugaussian_P((wins - losses) / sqrt(wins + losses));
}
