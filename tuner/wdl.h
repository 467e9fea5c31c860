// SPDX-License-Identifier: GPL-3.0-or-later
// What a score means in results: the chance to win is 1 / (1 + exp((a - s) / b)) for a score s, the chance to
// lose is the chance to win at -s, the rest is drawn. a and b are cubic in the material on the board and are
// fitted to games by maximum likelihood.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "tuner/gamedata.h"

// Material counts pawn 1, knight and bishop 3, rook 5, queen 9, both sides together: 78 at the start. Scores
// are counted in bins of ten centipawns.
enum { WDL_MATERIALS = 79, WDL_STEP = 10, WDL_MOST = 1500, WDL_BINS = 2 * WDL_MOST / WDL_STEP + 1 };
enum { WDL_POWERS = 4, WDL_NUMBERS = 2 * WDL_POWERS };

// How often games with this material and score, both from the side to move, were lost, drawn and won.
typedef struct WdlCounts {
    uint64_t positions;
    uint32_t results[WDL_MATERIALS][WDL_BINS][3];
} WdlCounts;

// The model: a and b are sums of number[i] x^i with x = material / 40 - 1, b at least 10.
typedef struct WdlModel {
    double a[WDL_POWERS], b[WDL_POWERS];
    double loss; // minus the mean log likelihood
} WdlModel;

// Material on the board.
int wdl_material(const Position *pos);

// a and b at a material; below 16 the values of 16 hold, games there are few.
void wdl_at(const WdlModel *model, int material, double *a, double *b);

// Adds the searched plies of a game.
void wdl_add(WdlCounts *counts, const DataGame *game);

// Fits the model; refuses fewer than a thousand positions.
bool wdl_fit(const WdlCounts *counts, WdlModel *model, Error *error);

// The command `hone-tune wdl`; argv[0] is its own name. Returns the exit status.
int wdl_main(int argc, char **argv);
