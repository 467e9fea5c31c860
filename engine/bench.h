// SPDX-License-Identifier: GPL-3.0-or-later
// Measuring: the bench (fixed positions to a fixed depth, whose node count is the signature of the engine),
// and perft.
#pragma once

#include <stdatomic.h>
#include <stdio.h>

#include "engine/engine.h"

enum { BENCH_DEPTH = 12, BENCH_HASH = 16, BENCH_MAX_DEPTH = MAX_PLY - 1 };

// What a bench runs with.
typedef struct BenchOptions {
    int depth, threads, hash; // hash in megabytes
    bool stats;               // print what each technique did
    char settings[512];       // options to set first: `Name=value `, one behind the other
} BenchOptions;

// Reads `[depth] [--stats] [--threads N] [--hash MB] [Name=value...]`, blank-separated.
bool bench_read(const char *text, BenchOptions *options, Error *error);

// The number of bench positions.
int bench_count(void);

// The FEN of one bench position.
const char *bench_fen(int index);

// An engine set up for a bench, which bench_run will use; NULL and a reason if it cannot be had.
Engine *bench_engine(const BenchOptions *options, Error *error);

// What a bench came to; no nodes if it was stopped.
typedef struct BenchTotal {
    uint64_t nodes;
    int64_t ms;
} BenchTotal;

// Searches every position from a fresh state and prints a line each, and statistics if asked. Gives up when
// *stop is set (engine_stop ends the position at hand).
BenchTotal bench_run(FILE *out, Engine *engine, const BenchOptions *options, const _Atomic bool *stop);

// What the searches of several positions add up to; all zero to begin.
typedef struct BenchSums {
    SearchRun run; // counters, cut-offs and quiescence nodes
    uint64_t nodes;
    int64_t us; // of the processor, in the searches of bench_position
    double log_branching; // sum of the logarithms of each position's branching factor
    int branched;         // positions that had one
} BenchSums;

// Searches one bench position from a fresh state in this thread and adds it to the sums.
SearchResult bench_position(Engine *engine, int index, const SearchLimits *limits, BenchSums *sums);

// How many times the nodes grow from one depth to the next, over the deeper half of each search; 0 if
// unknown.
double bench_branching(const BenchSums *sums);

// Prints the last line of a bench: `<nodes> nodes <nps> nps`.
void bench_print_total(FILE *out, BenchTotal total);

// Prints perft with the share of each move and the sum, as `go perft` does; gives up (returning 0) when *stop
// is set.
uint64_t bench_perft(FILE *out, const Position *pos, int depth, const _Atomic bool *stop);
