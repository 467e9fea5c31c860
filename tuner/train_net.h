// SPDX-License-Identifier: GPL-3.0-or-later
// Between the trainer's floats and the engine's net file.
#pragma once

#include "engine/net.h"
#include "tuner/train.h"

// How far the quantised net is from the floats that it was rounded from.
typedef struct TrainRounding {
    size_t positions;
    double mean, worst; // centipawns, from the floats that were trained at last
    double unrounded;   // the mean from the floats behind them, where those are rounded in training
    int clipped;        // weights that did not fit
} TrainRounding;

// What a position is worth to the side to move, in centipawns, by the floats.
double train_value(const float *weights, const TrainPlan *plan, const TrainPosition *position);

// Rounds the weights of a run at its end, writes the net with its note, reads it back and compares it with
// the floats on at most so many positions of a list.
bool train_save(const TrainState *state, const TrainPlan *plan, const char *path, const char *note,
                const TrainList *list, size_t most, TrainRounding *rounding, Error *error);

// Starts from the weights of a net instead of random ones; refuses another width.
bool train_start_from(TrainState *state, int hidden, const char *path, Error *error);
