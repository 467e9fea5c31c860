// SPDX-License-Identifier: GPL-3.0-or-later
// The transposition table: one shared table without locks. An entry is two 64-bit words, the data and the key
// XOR the data, each read and written with relaxed atomics; a reader that catches two halves of different
// writes sees a key that does not fit and takes it as a miss, so no entry can be torn. Four entries fill a
// cache line.
#pragma once

#include <stdatomic.h>

#include "engine/types.h"

// One entry as it lies in memory: two words that verify each other, so that a torn entry is never believed.
typedef struct TTSlot {
    _Atomic uint64_t check; // key ^ data
    _Atomic uint64_t data;
} TTSlot;

enum { TT_CLUSTER = 4 };

// The table, shared by all threads of an engine.
typedef struct TT {
    TTSlot *slots;      // clusters x TT_CLUSTER, aligned to 64 bytes, in huge pages where they can be had
    uint64_t clusters;  // any number: the index is the high word of key x clusters
    uint64_t bytes;     // what was allocated
    uint8_t generation; // 5 bits, one more each search, so that old entries go first
} TT;

// What the table knows of a position; a copy, so that other threads cannot change it under the reader.
typedef struct TTEntry {
    bool hit;
    Move move; // or MOVE_NONE
    int score; // counted from the root (see tt_probe), or SCORE_NONE
    int eval;  // static evaluation before correction, or SCORE_NONE
    int depth; // 0 in quiescence; TT_DEPTH_NONE if only the evaluation is known
    int bound; // BOUND_*
    bool pv;   // the node was once on a principal variation
} TTEntry;

enum { TT_DEPTH_NONE = -1 };

// Owner only, and only while no search runs: sizes the table to megabytes (1 or more) and clears it. If
// memory does not suffice the old table stays and false is returned.
bool tt_resize(TT *tt, int megabytes);

// Owner only, idle: forgets everything, with at most so many threads.
void tt_clear(TT *tt, int threads);

// Owner only, idle: gives the memory back.
void tt_free(TT *tt);

// Owner only: starts a new generation.
void tt_new_search(TT *tt);

// Any thread: looks a key up; mate and table scores come out as seen from ply. A win that needs more plies
// than the fifty-move rule leaves is no proof and comes out as +-SCORE_EVAL_MAX.
TTEntry tt_probe(const TT *tt, Key key, int ply, int rule50);

// Any thread: stores what a search found at ply, unless what stands there is worth more.
void tt_store(TT *tt, Key key, int ply, Move move, int score, int eval, int depth, int bound, bool pv);

// Any thread: asks the memory for the cluster of a key.
static inline void tt_prefetch(const TT *tt, Key key) {
    uint64_t index = (uint64_t)((unsigned __int128)key * tt->clusters >> 64);
    __builtin_prefetch(&tt->slots[index * TT_CLUSTER]);
}

// Any thread: how full the table is with entries of this search, in permille.
int tt_hashfull(const TT *tt);
