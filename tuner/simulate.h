// SPDX-License-Identifier: GPL-3.0-or-later
// The tuner's test bench: Elo surfaces that are known exactly and a model of game pairs, so that the tuner
// can be run unchanged against millions of simulated games. The `simulate` command lives here too.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tuner/spsa.h"

// The families of surfaces: diagonal, rotated quadratic of condition 30, not quadratic with half the
// parameters inert.
typedef enum SurfaceKind { SURFACE_S0, SURFACE_S1, SURFACE_S3 } SurfaceKind;

// What a surface is made from; every field of it but the kind can be set on the command line.
typedef struct SurfaceSpec {
    SurfaceKind kind;
    int params;
    double start_elo;   // at the start, relative to the optimum; negative
    double c0;          // the typical step a user would name
    double range_scale; // how much wider than +-4 the ranges are that the user names
    double range_noise; // ranges misjudged one by one, by lognormal(range_noise)
    bool integer;       // parameters are integers and c0 is one of them
    bool bound;         // for every second parameter the optimum lies on a bound of its range
} SurfaceSpec;

// One surface: Elo as a function of n values. Owned by surface_create's caller.
typedef struct Surface Surface;

// The surface of a seed; NULL when memory is short.
Surface *surface_create(const SurfaceSpec *spec, uint64_t seed);

// Frees a surface; NULL is allowed.
void surface_destroy(Surface *surface);

// The parameters as a user would describe them, without gains other than c_end.
const SpsaParam *surface_params(const Surface *surface);

// Elo of a set of values relative to the optimum of the surface.
double surface_elo(const Surface *surface, const double *values);

// The five probabilities (LL, LD, DD+WL, WD, WW) of a game pair between players `elo` apart.
typedef struct PairModel {
    double p[5];
} PairModel;

// The pair model of section 4 of the statistics reference: BayesElo, drawelo 265, opening bias -60 or +140.
PairModel pair_model(double elo);

// One run: which surface, which tuner, which seed.
typedef struct SimulationRun {
    SurfaceSpec surface;
    SpsaMode mode;
    bool last;         // judge the last theta instead of the recommended value
    double r, c_scale; // hand-set gains; c_scale multiplies the c the user names
    int64_t games;
    int pairs, lag;
    double tail, forfeits;
} SimulationRun;

// Elo regained by the run with this seed: Elo of the values found minus Elo of the start.
bool simulate_run(const SimulationRun *run, uint64_t seed, double *regained, Error *error);

// The command `hone-tune simulate`; argv[0] is its own name. Returns the exit status.
int simulate_main(int argc, char **argv);
