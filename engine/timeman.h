// SPDX-License-Identifier: GPL-3.0-or-later
// How long to think: limits as asked (SearchLimits) become a soft limit, checked after each iteration and
// scaled by how the search goes, and a hard one that is never passed. The same factors work on a budget of
// nodes.
#pragma once

#include "engine/movegen.h"
#include "engine/params.h"

// What `go` asks for; zero means not given.
typedef struct SearchLimits {
    int64_t start_ns;                    // when `go` was read (now_ns)
    int64_t time[COLOURS], inc[COLOURS]; // milliseconds left and increment; see has_clock
    int movestogo;
    int64_t movetime;
    uint64_t nodes;      // exact with one thread
    uint64_t soft_nodes; // stop after the iteration that passes it, scaled as time would be
    int depth, mate;
    int64_t overhead; // milliseconds lost between engine and clock at each move
    bool has_clock, infinite, ponder;
    MoveList searchmoves; // empty for all
} SearchLimits;

// When one search must end, worked out from its limits.
typedef struct TimeMan {
    int64_t start_ns;
    int64_t soft_ms, hard_ms; // INT64_MAX if there is no such limit
    uint64_t soft_nodes;      // UINT64_MAX if none
    bool timed;               // a clock runs: soft limits apply
} TimeMan;

// How the search goes, after an iteration.
typedef struct TimeFacts {
    int stable;           // iterations in a row with the same best move
    int score_drop;       // centipawns below the average of late (negative if above)
    double best_fraction; // share of the nodes spent on the best move, 0 to 1
    int legal_moves;
    uint64_t nodes;
    int64_t elapsed_ms;
} TimeFacts;

// Works the limits out for the side to move of a root position.
TimeMan timeman_make(const SearchLimits *limits, const Params *params, const Position *root);

// Whether to stop after an iteration that ended as facts say.
bool timeman_enough(const TimeMan *time, const Params *params, const TimeFacts *facts);

// Milliseconds since `go` was read.
int64_t timeman_elapsed(const TimeMan *time);
