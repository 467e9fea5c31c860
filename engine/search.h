// SPDX-License-Identifier: GPL-3.0-or-later
// How Hone looks ahead: what a search is asked (SearchLimits), what it tells while it runs (SearchInfo
// through an Observer) and what it found (SearchResult). SearchThread is one thread's memory, Search what the
// threads share. The search never prints and never allocates.
#pragma once

#include <stdatomic.h>

#include "engine/eval.h"
#include "engine/history.h"
#include "engine/movegen.h"
#include "engine/nnue.h"
#include "engine/params.h"
#include "engine/position.h"
#include "engine/tables.h"
#include "engine/timeman.h"
#include "engine/tt.h"

// A line of play.
typedef struct PV {
    int count;
    Move moves[MAX_PLY + 1];
} PV;

// What a search tells while it runs.
typedef struct SearchInfo {
    int depth, seldepth, multipv; // multipv counts from 1
    int score, bound;             // BOUND_LOWER and BOUND_UPPER while an aspiration window fails
    uint64_t nodes, tbhits;
    int64_t ms;
    int hashfull;
    const PV *pv;
    const Position *root;
} SearchInfo;

// Who is told; each function may be NULL. They are called from the search's main thread.
typedef struct Observer {
    void (*info)(void *context, const SearchInfo *info);
    void (*currmove)(void *context, const Position *root, Move move, int number, int depth);
    void *context;
} Observer;

// What a search found.
typedef struct SearchResult {
    Move best, ponder; // MOVE_NONE if there is no legal move, or no reply known
    int score, depth, seldepth;
    uint64_t nodes, tbhits;
    int64_t ms;
    PV pv;
} SearchResult;

// One root move with what is known of it.
typedef struct RootMove {
    Move move;
    int score, previous, average;
    int seldepth;
    uint64_t nodes;
    PV pv;
} RootMove;

// One ply of the line that is being searched.
typedef struct StackEntry {
    Position pos;
    Move move;                        // the move made here, MOVE_NULL for a null move
    int piece;                        // the piece that made it
    int static_eval;                  // corrected, or SCORE_NONE in check
    int16_t (*continuation)[SQUARES]; // history of what follows the move made here
    Move excluded;                    // not to be searched: the singular search asks without it
    Move killers[2];
    int cutoffs;   // how often the children of this node's siblings failed high
    int doubles;   // double extensions on the line so far
    int reduction; // of the move made here
    bool tt_pv;
} StackEntry;

enum { STACK_BELOW = 7, STACK_ABOVE = 3 };

// What belongs to one search: reset by one assignment.
typedef struct SearchRun {
    _Atomic uint64_t nodes, tbhits; // written by the owner alone, read by all
    uint64_t count[PARAM_COUNT];    // how often each technique acted
    uint64_t cut_nodes, cut_first;  // fail-highs, and those by the first move
    uint64_t q_nodes;
    uint64_t prob_tried[3][6],
        prob_good[3][6]; // how quiets fared by depth and history, to fit probabilistic pruning
    int seldepth, depth, completed_depth;
    int null_min_ply; // null moves are off below this ply while one is verified
    int multipv_index;
} SearchRun;

// What belongs to one thread of one engine.
typedef struct SearchThread {
    SearchRun run;
    int index;
    struct Search *shared;
    int root_count;
    RootMove root_moves[MAX_MOVES];
    Key keys[256 + MAX_PLY + 1]; // repetition keys of the game and of the line
    int key_count;               // of the game, before the root
    StackEntry stack[STACK_BELOW + MAX_PLY + STACK_ABOVE];
    PV pvs[MAX_PLY + 2];
    PawnTable pawns;
    Nnue nnue;      // sums of the net; never zeroed
    Histories hist; // reset each game by one memset
} SearchThread;

// What the threads of one search share.
typedef struct Search {
    Params params;
    TT tt;
    SearchLimits limits;
    TimeMan time;
    Observer observer;
    _Atomic bool stop, pondering;
    Position root;
    KeyStack history;
    Tables tables;
    const Net *net; // evaluates, or NULL: the hand-written evaluation does
    int multipv;
    int thread_count;
    SearchThread **threads;
    struct MctsTree *tree; // of SearchMode mcts; NULL otherwise
} Search;

// Prepares a thread's root moves and stack for a new search of shared->root.
void search_prepare(SearchThread *thread);

// Runs one thread of a search to its end: until stop, or the limits (thread 0 watches them and stops the
// others).
void search_run(SearchThread *thread);

// The value of the root within a window, searched to a depth; fills the root moves' scores and lines.
int search_root(SearchThread *thread, int alpha, int beta, int depth);

// The result of a finished search: the best of all threads by vote.
SearchResult search_result(Search *search);

// Nodes searched so far by all threads.
uint64_t search_nodes(const Search *search);
