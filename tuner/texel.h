// SPDX-License-Identifier: GPL-3.0-or-later
// Texel's method for the hand-written evaluation: fits its weights, material and piece squares so that the
// evaluation of quiet positions, squashed to 0..1, comes closest to how their games ended and what a search
// said of them.
#pragma once

#include <stdio.h>

#include "engine/util.h"

// What to fit and how.
typedef struct TexelPlan {
    const char *const
        *paths; // text files of lines `fen;score;result`: centipawns and 0, 0.5 or 1, both from White
    int path_count;
    int epochs;    // passes over the data by Adam
    int rounds;    // of coordinate steps over the weights that are not linear, each followed by a fit of the
                   // others
    double result; // share of the result in the target; the rest is the score
    double k;      // the squashing: 1 / (1 + exp(-k x centipawns)), as measured between scores and results
    double decay;  // pull towards the starting values, for weights that few positions use
} TexelPlan;

// What the command starts from.
#define TEXEL_DEFAULTS ((TexelPlan){.epochs = 20, .rounds = 1, .result = 0.25, .k = 0.0065, .decay = 2e-6})

// Fits and writes the new weights.c body and psqt.h tables to out, and progress to log.
bool texel_run(const TexelPlan *plan, FILE *out, FILE *log, Error *error);

// The command `hone-tune texel`; argv[0] is its own name. Returns the exit status.
int texel_main(int argc, char **argv);
