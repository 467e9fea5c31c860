// SPDX-License-Identifier: GPL-3.0-or-later
// Syzygy tablebases through libfathom. They belong to the process: one path, opened once, checked and touched
// on one thread, because the library has no locks, sets tables up on the first probe and leaves the process
// on a broken file. Each engine has its own limits (TablebaseLimits). Built with HONE_BARE there is no
// library, and opening is refused.
#pragma once

#include "engine/movegen.h"

// What the tables say under the fifty-move rule, from the side to move.
typedef enum TablebaseWdl {
    TABLEBASE_LOSS = -2,
    TABLEBASE_BLESSED_LOSS = -1, // lost, but drawn by the fifty-move rule
    TABLEBASE_DRAW = 0,
    TABLEBASE_CURSED_WIN = 1, // won, but drawn by the fifty-move rule
    TABLEBASE_WIN = 2,
    TABLEBASE_UNKNOWN = 3,
} TablebaseWdl;

// How an engine uses the tables.
typedef struct TablebaseLimits {
    int men;    // probe with up to so many men; 0 turns the tables off
    int depth;  // with exactly as many men as the largest table has: only at this depth or more
    bool rule50; // cursed wins and blessed losses count as draws
} TablebaseLimits;

// The moves of a root position as the tables rank them; higher is better, equal ranks keep the result equally
// well.
typedef struct TablebaseRanks {
    int count;
    bool dtz; // by distance to a zeroing move; else by result alone
    Move moves[MAX_MOVES];
    int rank[MAX_MOVES];   // 1000 a win in time, -1000 a loss, 0 a draw
    TablebaseWdl wdl[MAX_MOVES]; // result after the move for the side that makes it, the root's half-move
                                 // clock counted
} TablebaseRanks;

// What was opened.
typedef struct TablebaseInfo {
    int wdl_files, dtz_files;
    int largest; // men in the largest table; 0 if nothing is open
} TablebaseInfo;

// Whether this program was built with libfathom.
bool tablebase_supported(void);

// Any thread: opens the tables in a path (directories with a colon between them), once a process. Every file
// is checked first; the same path again is fine, another one is refused, as is a path without tables or with
// a broken one.
bool tablebase_open(const char *path, Error *error);

// Any thread: what is open.
TablebaseInfo tablebase_info(void);

// Any thread, without a lock: the result of a position without castling rights whose half-move clock is 0.
TablebaseWdl tablebase_wdl(const Position *pos);

// Any thread, one at a time: the distance to a zeroing move as the tables have it (positive: a win); false if
// unknown.
bool tablebase_dtz(const Position *pos, int *dtz);

// Any thread, one at a time: ranks the legal moves of a root, by DTZ, or by WDL where DTZ tables are missing.
// Repeated says that a position has occurred twice since the last zeroing move: then only strict progress
// counts. False if unknown.
bool tablebase_rank(const Position *root, bool repeated, bool rule50, TablebaseRanks *ranks);
