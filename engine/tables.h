// SPDX-License-Identifier: GPL-3.0-or-later
// What solved endgames tell one search: the solver's tables (exact distances to mate) and the process's
// Syzygy tables (win, draw or loss), within the limits of one engine. Those of three men are built when a game
// begins or, at the latest, by the first position that asks for them, which waits; so what a search finds does
// not depend on when that was.
#pragma once

#include "engine/endgame.h"
#include "engine/tablebase.h"

// What an engine's options say.
typedef struct TableOptions {
    int builtin;           // the solver's tables: 0 none, 3 up to three men, 4 also those of a root with four
    bool syzygy;           // a path was given and opened
    TablebaseLimits probe; // SyzygyProbeLimit, SyzygyProbeDepth, Syzygy50MoveRule
} TableOptions;

// What one search may ask.
typedef struct Tables {
    int endgame_men;       // ask the solver's tables with up to so many men; 0 never
    TablebaseLimits probe; // ask the Syzygy tables within these; men is 0 for never
    int largest;           // men in the largest Syzygy table
    bool ranked;           // the root's moves are ranked by the Syzygy tables
    TablebaseRanks ranks;
} Tables;

// A score from the tables and what it bounds; BOUND_NONE if they do not know.
typedef struct TableScore {
    int score, bound;
} TableScore;

// The options of a fresh engine.
TableOptions tables_default(void);

// Builds the solver's tables of three men, which any game may come to; quick if they exist. For moments when no
// clock runs.
void tables_open(const TableOptions *options);

// Builds the solver's tables that a search of a root will soon ask for; quick if they exist. False if there are
// none of four men for it.
bool tables_build(const TableOptions *options, const Position *root);

// Works out what a search of a root may ask; builds the solver's tables of four men that it needs and ranks
// the root's moves.
void tables_prepare(Tables *tables, const TableOptions *options, const Position *root,
                    const KeyStack *history);

// Any thread: the score of a position at a ply that is searched to a depth (below 1 in quiescence).
TableScore tables_probe(const Tables *tables, const Position *pos, int ply, int depth);

// How well a root move keeps the result, 0 for all if the root is not ranked.
int tables_rank(const Tables *tables, Move move);

// The score to show for a root move: the tables' word where the search has no mate; the search's if they are
// silent.
int tables_root_score(const Tables *tables, Move move, int score);

// The next move of a line that the solver's tables know to the end; MOVE_NONE if they do not.
Move tables_continue(const Tables *tables, const Position *pos);
