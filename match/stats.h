// SPDX-License-Identifier: GPL-3.0-or-later
// What a set of game pairs says: counts of results, and from them score, Elo, normalized Elo, likelihood of
// superiority and ratios. Formulas: trinomial over games, pentanomial over pairs. Sequential tests live in
// sprt.h, ratings of more than two engines in ratings.h. Everything here is a pure function: any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Index of a pair's result in Stats.penta: the sum of the half points of both games.
enum { PENTA_LL, PENTA_LD, PENTA_DD, PENTA_WD, PENTA_WW, PENTA_CLASSES };

// Index of a game's result in Stats.wdl.
enum { WDL_WIN, WDL_DRAW, WDL_LOSS, WDL_CLASSES };

// Counts of pairs and of games, seen by the first engine; a value, all zero to begin.
typedef struct Stats {
    uint64_t penta[PENTA_CLASSES];
    uint64_t wdl[WDL_CLASSES];
} Stats;

// The counts of one game in which the first engine made half_points (0, 1 or 2); it enters no pair.
Stats stats_from_game(int half_points);

// The counts of one pair in which the first engine made these half points (0, 1 or 2) in its two games.
Stats stats_from_pair(int half_points_first, int half_points_second);

// The counts of both together.
Stats stats_add(Stats a, Stats b);

// The same results seen by the other engine.
Stats stats_flip(Stats stats);

// Number of games counted.
uint64_t stats_games(const Stats *stats);

// Number of pairs counted.
uint64_t stats_pairs(const Stats *stats);

// Half points that the first engine made.
uint64_t stats_half_points(const Stats *stats);

// Counts by outcome from worst to best in equal steps of score: 3 classes (games) or 5 (pairs). Counts may be
// fractions, so that a prior or a probability distribution can be written the same way.
typedef struct Sample {
    int classes;
    double count[PENTA_CLASSES];
} Sample;

// The sample of games (trinomial).
Sample sample_of_games(const Stats *stats);

// The sample of pairs (pentanomial).
Sample sample_of_pairs(const Stats *stats);

// The sample of pairs if any pair was counted, else of games.
Sample sample_of(const Stats *stats);

// The sample with each zero count replaced by 0.001, as the log-likelihood ratios of the field want it.
Sample sample_regularized(const Sample *sample);

// Sum of the counts.
double sample_size(const Sample *sample);

// Games in one unit of the sample: 1 or 2.
int sample_games_per_unit(const Sample *sample);

// Score of class i: 0, 1/2, 1 or 0, 1/4, 1/2, 3/4, 1.
double sample_value(const Sample *sample, int i);

// Moments of the score of one unit; the variance is divided by size, not by size - 1.
typedef struct Moments {
    double size, mean, variance, skewness, excess_kurtosis;
} Moments;

// The moments of a sample; with zero variance the two shape numbers are not a number.
Moments sample_moments(const Sample *sample);

// A number and its 95 % confidence interval.
typedef struct Estimate {
    double value, low, high;
} Estimate;

#define CONFIDENCE_Z   1.959963984540054  // 97.5 % quantile of the normal distribution
#define NELO_PER_SIGMA 347.43558552260146 // 800 / ln 10: normalized Elo per standard deviation of a game

// Elo of an expected score; infinite at 0 and 1 and beyond.
double elo_from_score(double score);

// Expected score of an Elo difference.
double score_from_elo(double elo);

// Logistic Elo with its interval; ends that leave (0, 1) as scores are infinite.
Estimate sample_elo(const Sample *sample);

// Half the width of an interval: the "+/-" that is printed.
double estimate_margin(const Estimate *estimate);

// Likelihood of superiority: the probability that the true score is above one half.
double sample_los(const Sample *sample);

// Variance of the score of one game (for pairs: twice the variance of a pair's score).
double sample_variance_per_game(const Sample *sample);

// Normalized Elo: the score's distance from one half in standard deviations of a game.
double sample_nelo(const Sample *sample);

// 95 % error of the normalized Elo by the delta method (the variance is estimated too).
double sample_nelo_error(const Sample *sample);

// 95 % error of the normalized Elo as fastchess prints it (the variance taken as known).
double sample_nelo_error_fastchess(const Sample *sample);

// Share of the middle class: drawn games, or for pairs those that ended DD or WL.
double sample_draw_ratio(const Sample *sample);

// Won pairs per lost pair; infinite or not a number where none was lost; not a number for games.
double sample_pair_ratio(const Sample *sample);

// Likelihood of superiority as cutechess prints it (draws left out).
double stats_los_cutechess(const Stats *stats);
