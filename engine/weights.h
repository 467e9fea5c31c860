// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of the hand-written evaluation but for material and piece squares (engine/psqt.h), as one
// struct made from weights.def, so that a tuner can evaluate with other numbers than the engine's own. Only
// eval.c and tuners include this.
#pragma once

#include <stddef.h>

#include "engine/position.h"

// All weights; a struct of int32_t only, so it is also an array of ALL_WEIGHTS numbers.
typedef struct Weights {
#define ONE(name, text) int32_t name;
#define MANY(name, count, text) int32_t name[count];
#define PLAIN ONE
#define PLAIN_MANY MANY
#include "engine/weights.def"
#undef ONE
#undef MANY
#undef PLAIN
#undef PLAIN_MANY
} Weights;

// How many weights there are, and how many of them are packed and linear (those come first).
enum {
    LINEAR_WEIGHTS = offsetof(Weights, attacker) / sizeof(int32_t),
    ALL_WEIGHTS = sizeof(Weights) / sizeof(int32_t),
    DANGER_STEPS = sizeof((Weights){0}.danger) / sizeof(int32_t),
};

// The engine's own weights.
extern const Weights DefaultWeights;

// The groups into which the trace sums the terms.
enum {
    TERM_PSQ,
    TERM_MOBILITY,
    TERM_PAWNS,
    TERM_PASSED,
    TERM_KING,
    TERM_PIECES,
    TERM_THREATS,
    TERM_TEMPO,
    TERMS
};

// What an evaluation is made of: (mg x phase + eg x scale / 64 x (24 - phase)) / 24 + mop_up, from White.
typedef struct EvalParts {
    int32_t terms[TERMS][COLOURS]; // packed
    int32_t sum;                   // of all terms, White's less Black's
    int phase, scale, mop_up;
    int total; // in centipawns from White
} EvalParts;

// Evaluates with any weights, and keeps the parts.
EvalParts eval_parts(const Position *pos, const Weights *weights);
