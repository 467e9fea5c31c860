// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the engine's model of what a score means in results (engine/wdl.h) to games, by maximum likelihood.
#pragma once

#include <stdint.h>

#include "engine/wdl.h"
#include "tuner/gamedata.h"

// Scores are counted in bins of ten centipawns.
enum { WDL_FIT_STEP = 10, WDL_FIT_MOST = 1500, WDL_FIT_BINS = 2 * WDL_FIT_MOST / WDL_FIT_STEP + 1 };

// How often games with this material and score, both from the side to move, were lost, drawn and won.
typedef struct WdlCounts {
    uint64_t positions;
    uint32_t results[WDL_MOST + 1][WDL_FIT_BINS][3];
} WdlCounts;

// Adds the searched plies of a game.
void wdl_fit_add(WdlCounts *counts, const DataGame *game);

// Fits the model and gives minus the mean log likelihood; refuses fewer than a thousand positions.
bool wdl_fit(const WdlCounts *counts, WdlModel *model, double *loss, Error *error);

// The command `hone-tune wdl`; argv[0] is its own name. Returns the exit status.
int wdl_fit_main(int argc, char **argv);
