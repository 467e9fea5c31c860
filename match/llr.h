// SPDX-License-Identifier: GPL-3.0-or-later
// Generalized log-likelihood ratios of a sample: for each hypothesis the most likely distribution that obeys
// it, and the ratio of the two. What the hypotheses mean in Elo is decided in sprt.h. Pure functions: any
// thread.
#pragma once

#include <stdbool.h>

#include "engine/util.h"
#include "match/stats.h"

// The most likely distribution under a hypothesis, as log(p_i / q_i) for each class of a sample with shares p
// and likeliest shares q.
typedef struct Fit {
    double log_ratio[PENTA_CLASSES];
} Fit;

// Fits the likeliest distribution whose mean is score (in (0, 1)); every count of the sample must be
// positive.
bool fit_mean(const Sample *sample, double score, Fit *fit, Error *error);

// Fits the likeliest distribution whose mean lies t standard deviations of a unit above one half; every count
// of the sample must be positive. Fails, with the reason, where the iteration does not settle.
bool fit_deviation(const Sample *sample, double t, Fit *fit, Error *error);

// The log-likelihood ratio of the second fit against the first.
double fit_llr(const Sample *sample, const Fit *fit0, const Fit *fit1);
