// SPDX-License-Identifier: GPL-3.0-or-later
// The command `hone diag`: a search looked at depth by depth, with what each technique did; and a suite of
// four positions in which futility pruning goes wrong first when its margins are too small for its depth.
#pragma once

#include <stdio.h>

#include "engine/engine.h"

// One position of the suite: what it is about, the position, and the move that is right.
typedef struct DiagCase {
    const char *name, *fen, *best;
} DiagCase;

// The number of positions in the suite.
int diag_count(void);

// One position of the suite.
DiagCase diag_case(int index);

// What the depths of one position came to.
typedef struct DiagSummary {
    int settled;            // the depth from which the right move stood to the end, 0 if it did not
    int changes;            // how often the best move changed
    int unexpected;         // how often it changed away from the right move
    uint64_t nodes, futile; // nodes and futility prunes of the last depth's search
} DiagSummary;

// Prints, depth by depth, best move, score, nodes and what each technique did; marks where the best move
// changed.
void diag_position(FILE *out, Engine *engine, const Position *pos, int depth);

// Prints, depth by depth, best move, score, nodes and futility prunes of one suite position; marks where the
// best move changed, and where it left the right one.
DiagSummary diag_run(FILE *out, Engine *engine, const DiagCase *which, int depth);

// Runs the whole suite and prints a table of the summaries below it.
void diag_suite(FILE *out, Engine *engine, int depth);

// Runs `hone diag` with the words behind it and returns the exit status.
int diag_main(int argc, char **argv);
