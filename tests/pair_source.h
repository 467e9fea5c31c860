// SPDX-License-Identifier: GPL-3.0-or-later
// A model of game pairs for simulations: BayesElo with draw Elo 265, opening bias -60 or +140 at random,
// colours reversed in the second game. Independent of the statistics under test.
#pragma once

#include <stdint.h>

// Probabilities of a pair's results (0 to 4 half points) at a strength difference x in BayesElo.
typedef struct PairSource {
    double share[5];
} PairSource;

// The model at x.
PairSource pair_source(double x);

// The model whose expected score is that of a logistic Elo difference.
PairSource pair_source_at_elo(double elo);

// The model whose expected score lies nelo normalized Elo above one half.
PairSource pair_source_at_nelo(double nelo);

// Expected score of a model.
double pair_source_score(const PairSource *model);

// Variance of the score of a game, as pairs show it.
double pair_source_variance(const PairSource *model);

// Half points (0 to 4) of pair number index in a stream of random pairs.
int pair_source_draw(const PairSource *model, uint64_t seed, uint64_t stream, uint64_t index);
