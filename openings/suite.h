// SPDX-License-Identifier: GPL-3.0-or-later
// Suites of start positions: seeded random walks, each scored by the engine, kept if the advantage lies in a
// window. A suite is a function of its plan: walk number i depends on (seed, i) alone, and walks are taken in
// order, so that any number of threads makes the same suite.
#pragma once

#include "engine/position.h"

// What to make.
typedef struct SuitePlan {
    uint64_t seed;
    int count;     // positions wanted
    int low, high; // the window in centipawns from White's side, both included
    bool either;   // the window is that of the side that stands better, be it White or Black
    int plies;     // random moves; every second walk makes one more, so that both colours are to move
    int nodes;     // the engine's look at a position
    bool dfrc;     // walks begin from double Chess960 positions
    int threads;
} SuitePlan;

enum { SUITE_BINS = 41 };

// How scores are spread, in centipawns from White's side.
typedef struct SuiteScores {
    int width; // of a bin; the middle bin lies around 0, the outer ones take the rest
    uint64_t bins[SUITE_BINS];
    uint64_t count;
    double sum, sum_squares;
} SuiteScores;

// What was made and what was not.
typedef struct SuiteReport {
    uint64_t walks; // walks looked at
    uint64_t over;  // the game was over, or the walk did not get that far
    uint64_t in_check, mate_in_one, outside, transposed;
    uint64_t kept, white_to_move;
    SuiteScores scores;
} SuiteReport;

// Told of every position kept, in order; false ends the making.
typedef bool SuiteKeep(void *context, const Position *pos, int white_score);

// Makes a suite. Fails if threads or engines cannot be had, if keep says so, or if the plan yields next to
// nothing.
bool suite_make(const SuitePlan *plan, SuiteKeep *keep, void *context, SuiteReport *report, Error *error);

// The position at the end of walk number index (clocks set back, as an EPD line without them says); false if
// the game ended on the way.
bool suite_walk(const SuitePlan *plan, uint64_t index, Position *pos);

// Whether the side to move can mate at once.
bool suite_mate_in_one(const Position *pos);

// Adds a score from White's side.
void suite_scores_add(SuiteScores *scores, int white_score);
