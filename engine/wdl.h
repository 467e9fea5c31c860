// SPDX-License-Identifier: GPL-3.0-or-later
// What a score means in results: the chance to win, draw and lose from it, by how much material is left. For
// whoever shows a score (UCI_ShowWDL); the search knows nothing of it.
#pragma once

#include "engine/position.h"

// A model: a side wins with probability 1 / (1 + exp((a - score) / b)), and loses with that of the other
// side's score. a is the score that wins every second game, b how wide the step is; both in centipawns and
// both cubic in x = material / WDL_FULL: a = a[0] + a[1] x + a[2] x^2 + a[3] x^3.
typedef struct WdlModel {
    double a[4], b[4];
} WdlModel;

// Material of both sides in pawns (1, 3, 3, 5, 9) runs from 0 to 78; the model takes what lies outside these
// bounds as the bound.
enum { WDL_FULL = 58, WDL_LEAST = 10, WDL_MOST = 78 };

// Chances in thousandths, which add up to 1000.
typedef struct Wdl {
    int win, draw, loss;
} Wdl;

// The material of a position, as the model counts it.
int wdl_material(const Position *pos);

// The probability that a side wins from a score, by a model.
double wdl_win(const WdlModel *model, double score, int material);

// The chances of the side to move from a search's score; mates and table wins are certain.
Wdl wdl_of(int score, int material);
