// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/pair_source.h"

#include <math.h>

#include "engine/util.h"

static double logistic(double elo) { return 1 / (1 + pow(10, -elo / 400)); }

PairSource pair_source(double x) {
    static const double Bias[2] = {-60, 140};
    PairSource model = {0};
    for (int k = 0; k < 2; k++) {
        double game[2][3];  // loss, draw, win in the first and in the second game
        for (int g = 0; g < 2; g++) {
            double b = g == 0 ? Bias[k] : -Bias[k];
            game[g][2] = logistic(x - 265 + b);
            game[g][0] = logistic(-x - 265 - b);
            game[g][1] = 1 - game[g][0] - game[g][2];
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) model.share[i + j] += game[0][i] * game[1][j] / 2;
    }
    return model;
}

double pair_source_score(const PairSource *model) {
    double score = 0;
    for (int i = 0; i < 5; i++) score += model->share[i] * i / 4;
    return score;
}

double pair_source_variance(const PairSource *model) {
    double score = pair_source_score(model), variance = 0;
    for (int i = 0; i < 5; i++) variance += model->share[i] * (i / 4.0 - score) * (i / 4.0 - score);
    return 2 * variance;
}

static double excess(double x, double elo, double nelo) {
    PairSource model = pair_source(x);
    double target = logistic(elo) + nelo * log(10) / 800 * sqrt(pair_source_variance(&model));
    return pair_source_score(&model) - target;
}

static PairSource solve(double elo, double nelo) {
    double low = -1000, high = 1000;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (excess(middle, elo, nelo) < 0) low = middle;
        else high = middle;
    }
    return pair_source(low);
}

PairSource pair_source_at_elo(double elo) { return solve(elo, 0); }
PairSource pair_source_at_nelo(double nelo) { return solve(0, nelo); }

int pair_source_draw(const PairSource *model, uint64_t seed, uint64_t stream, uint64_t index) {
    double u = random_unit(random_at(seed, stream, index));
    int i = 0;
    while (i < 4 && u >= model->share[i]) u -= model->share[i++];
    return i;
}
