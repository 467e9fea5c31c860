// SPDX-License-Identifier: GPL-3.0-or-later
// Which move to try next: the table's move, good captures, killers and counter move, quiet moves by history,
// bad captures. Moves are generated only when their stage is reached, and each is given once.
#pragma once

#include "engine/search.h"

// What the picker hands out next, in this order.
typedef enum PickStage {
    PICK_TT,
    PICK_GENERATE_NOISY,
    PICK_GOOD_NOISY,
    PICK_KILLERS,
    PICK_GENERATE_QUIET,
    PICK_QUIET,
    PICK_BAD_NOISY,
    PICK_UNORDERED, // as generated, for measuring what ordering is worth
    PICK_DONE,
} PickStage;

// The moves of one node, one at a time, the most promising first.
typedef struct MovePicker {
    const SearchThread *thread;
    const StackEntry *ss;
    PickStage stage;
    Move tt_move;
    Move refutations[3]; // killers and counter move, MOVE_NONE where there is none
    int refutation;      // next of them
    bool noisy_only;     // quiescence and ProbCut
    bool skip_quiets;    // set by the search when it has seen enough
    int see_floor;       // noisy moves below it are bad
    int next, count;     // the moves of the current stage
    int bad_count;       // bad noisy moves, kept at the front of the list
    Move moves[MAX_MOVES];
    int scores[MAX_MOVES];
} MovePicker;

// All moves of a node of the main search, or all evasions.
void movepick_main(MovePicker *picker, const SearchThread *thread, const StackEntry *ss, Move tt_move);

// Noisy moves only; those whose exchange falls below see_floor are not given unless all_noisy.
void movepick_noisy(MovePicker *picker, const SearchThread *thread, const StackEntry *ss, Move tt_move,
                    int see_floor);

// The next move, or MOVE_NONE.
Move movepick_next(MovePicker *picker);

// The history score of a quiet move, as ordering and reductions see it.
int movepick_history(const SearchThread *thread, const StackEntry *ss, Move move);
