// SPDX-License-Identifier: GPL-3.0-or-later
// The mathematics of the tuner: perturbations, gains, updates and what they add up to. No input, no output,
// no games: a caller plays what spsa_perturb asks for and hands the results back to spsa_apply in order.
//
// Nothing here keeps a generator: iteration k depends on (plan, seed, k) and on the state after iteration
// k - lag, so replaying the results of a journal gives the same state to the last bit.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/util.h"

enum { SPSA_NAME = 64, SPSA_MAX_PARAMS = 1024, SPSA_MAX_LAG = 4096 };

// Elo for one unit of (wins - losses) a game near equality: 800 / ln 10.
#define SPSA_ELO 347.43558552260146

// How gains are chosen: by the tuner itself, or by hand as fishtest, OpenBench or constant-gain SPSA do.
typedef enum SpsaMode { SPSA_AUTO, SPSA_FISHTEST, SPSA_OPENBENCH, SPSA_CONSTANT } SpsaMode;

// One parameter as the user describes it. Auto needs no c_end (0 will do) and ignores r_end; where c_end is
// given it takes part in the proportions between parameters, not in their size.
typedef struct SpsaParam {
    char name[SPSA_NAME];
    bool is_int;
    double start, min, max, c_end, r_end;
} SpsaParam;

// All that defines a run; const while it goes on.
typedef struct SpsaPlan {
    SpsaMode mode;
    const SpsaParam *params; // the caller's, must outlive the state
    int count;               // of params
    uint64_t seed;           // of flips and rounding
    int64_t games;           // the budget
    int pairs;               // game pairs of one iteration
    int lag;                 // iteration k is perturbed around theta after iteration k - lag; 1 is sequential
    double alpha, gamma, a_ratio; // the schedule of fishtest and OpenBench
    double tail;                  // share of the run, counted from its end, that the average takes in
} SpsaPlan;

// Gains of one parameter at one moment: half the perturbation, and the step relative to it.
typedef struct SpsaGain {
    double c, r;
} SpsaGain;

// What the two sides of an iteration play for one parameter: wanted values and values as the engine gets
// them.
typedef struct SpsaSides {
    double wanted_plus, wanted_minus, plus, minus;
} SpsaSides;

// What is known about one parameter at the moment.
typedef struct SpsaEstimate {
    double last;    // theta
    double average; // mean of theta over the tail
    double value;   // what to use: the average, as an integer where the parameter is one
    double error;   // standard deviation that value would have if the parameter did nothing at all
    double signal;  // (value - start) / error
    double chi2;    // evidence of any effect, slope or curvature: chi-square with two degrees of freedom
    bool matters;   // chi2 beyond what about 2 % of inert parameters reach
} SpsaEstimate;

// The run so far; made by spsa_create, opaque to callers.
typedef struct SpsaState SpsaState;

// A plan with the customary defaults (auto, alpha .602, gamma .101, A ratio .1, lag 8, 4 pairs, tail one
// half).
SpsaPlan spsa_plan(const SpsaParam *params, int count, int64_t games, uint64_t seed);

// Refuses a plan that cannot be run, naming the parameter or field.
bool spsa_check(const SpsaPlan *plan, Error *error);

// Number of iterations of a plan: its budget in whole iterations.
int64_t spsa_iterations(const SpsaPlan *plan);

// Gains of fishtest's, OpenBench's or constant SPSA for parameter i once `pairs` game pairs have been
// applied.
SpsaGain spsa_gain(const SpsaPlan *plan, int i, double pairs);

// The two sides of parameter i around theta in the hand-set modes; u_plus and u_minus in [0, 1) round
// integers.
SpsaSides spsa_sides(const SpsaPlan *plan, int i, double theta, double c, int flip, double u_plus,
                     double u_minus);

// Theta after a result in the hand-set modes: theta + r c flip (wins - losses), clipped to the range.
double spsa_step(const SpsaPlan *plan, int i, double theta, SpsaGain gain, int flip,
                 double wins_minus_losses);

// The sign of parameter i in iteration k (from 1).
int spsa_flip(const SpsaPlan *plan, int64_t k, int i);

// Starts a run; NULL and a reason if the plan is refused. The plan is copied, its params are not.
SpsaState *spsa_create(const SpsaPlan *plan, Error *error);

// Frees a state; NULL is allowed.
void spsa_destroy(SpsaState *state);

// Number of iterations applied so far.
int64_t spsa_applied(const SpsaState *state);

// Whether iteration k may be perturbed already: it is not applied yet, and k - lag is.
bool spsa_ready(const SpsaState *state, int64_t k);

// The values both sides play in iteration k, count numbers each; integers are rounded. Needs spsa_ready.
void spsa_perturb(const SpsaState *state, int64_t k, double *plus, double *minus);

// Applies the pentanomial counts (LL, LD, DD+WL, WD, WW of the plus side) of iteration k = applied + 1.
void spsa_apply(SpsaState *state, int64_t k, const uint64_t penta[5]);

// What is known about parameter i.
SpsaEstimate spsa_estimate(const SpsaState *state, int i);

// Half the perturbation of parameter i in the next iteration, and its relative step, as reported to users.
SpsaGain spsa_gain_now(const SpsaState *state, int i);

// The draw ratio in the sense of 1 - 4 v, with v the variance of a game's score from the pairs seen so far.
double spsa_draw_ratio(const SpsaState *state);

// What one step of c costs on average over the parameters, in Elo, as auto measured it (0 before that).
double spsa_step_worth(const SpsaState *state);

// Name of a mode as the command line spells it.
const char *spsa_mode_name(SpsaMode mode);
