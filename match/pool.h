// SPDX-License-Identifier: GPL-3.0-or-later
// Workers that play numbered pairs side by side, and one consumer that gets the results in order of their
// numbers, whatever order they finish in. Matches and tuning runs are both pools; they differ in what a pair
// is.
#pragma once

#include <stdatomic.h>

#include "engine/util.h"
#include "match/stop.h"

// What a pool calls. `result` points to spec.result_size bytes that the hooks own the meaning of.
typedef struct PoolHooks {
    // Worker thread: plays pair number; false if it could not be finished (interrupted): it then counts
    // nowhere.
    bool (*play)(void *context, int worker, uint64_t number, void *result);
    // Under the pool's lock, in the order in which pairs finish: keeps a result for good (the journal).
    void (*record)(void *context, uint64_t number, const void *result);
    // Under the pool's lock, in order of the numbers: false ends the run.
    bool (*consume)(void *context, uint64_t number, void *result);
    // Under the pool's lock, on the calling thread, about once a second and at the end.
    void (*tick)(void *context);
    // Worker thread, before it ends.
    void (*leave)(void *context, int worker);
    void *context;
} PoolHooks;

// What a pool of workers plays, and how far ahead.
typedef struct PoolSpec {
    int concurrency;
    uint64_t first, end; // pairs first .. end - 1 are played and consumed
    uint64_t window;     // no pair is started this far ahead of the last consumed one, or more
    uint64_t step; // the window begins at a multiple of this below the last consumed one (0: just there)
    size_t result_size;
} PoolSpec;

typedef struct Pool Pool;

// A pool with room for its results; NULL without memory.
Pool *pool_create(const PoolSpec *spec, const PoolHooks *hooks);

// Hands over a result that an earlier run recorded; before pool_run only.
void pool_preload(Pool *pool, uint64_t number, const void *result);

// Runs until all pairs are consumed, consume says so, or a stop is asked for: then the pairs in flight are
// finished; once *interrupt is set play is expected to give up. Returns the number of pairs consumed.
uint64_t pool_run(Pool *pool, Stop *stop, _Atomic bool *interrupt);

// Frees the pool.
void pool_free(Pool *pool);
