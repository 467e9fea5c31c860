// SPDX-License-Identifier: GPL-3.0-or-later
// One training run from data to net: goes on from its checkpoint, trains, shows how it goes, quantises,
// compares, writes the net with its history and a report.
#pragma once

#include <stdio.h>

#include "match/stop.h"
#include "tuner/train.h"
#include "tuner/train_net.h"

// What to do.
typedef struct TrainJob {
    TrainPlan plan; // steps may be 0: epochs counts then
    TrainFilter filter;
    double epochs;
    char out[1024];        // the net; its checkpoint is OUT.checkpoint
    char report[1024];     // an HTML page; empty for none
    char start_from[1024]; // a net to begin with; empty for random weights
    double checkpoint_s;   // seconds between two checkpoints
    bool fresh, quiet;
} TrainJob;

// What came of it.
typedef struct TrainOutcome {
    bool finished; // false: it was stopped and can go on
    int64_t steps, steps_now;
    double seconds, rate; // of this process; positions a second
    TrainPoint last;
    TrainRounding rounding;
} TrainOutcome;

// Completes the plan: steps from epochs and the length of the warm-up.
void train_job_settle(TrainJob *job, size_t positions);

// Runs; progress goes to log. Stops at a signal, after a checkpoint.
bool train_run(TrainJob *job, const TrainData *data, Stop *stop, FILE *log, TrainOutcome *outcome,
               Error *error);
