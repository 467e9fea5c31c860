// SPDX-License-Identifier: GPL-3.0-or-later
// Endgames solved in memory, without files: for up to four men, who wins and in how many plies (distance to
// mate). Tables are made by retrograde analysis, once a process, and only read after that; so is the set that
// holds them. Castling rights are not covered, the fifty-move rule is left to the caller (no four men need
// more than 40 moves).
#pragma once

#include "engine/position.h"

typedef struct EndgameSet EndgameSet;

enum { ENDGAME_MEN_MAX = 4 };

// What the tables say of a position, from the side to move.
typedef struct EndgameResult {
    bool known; // false: more men than the tables have, castling rights, or a table not built yet
    int wdl;    // 1 won, 0 drawn, -1 lost
    int dtm;    // plies to mate if both sides play their best; 0 for draws
} EndgameResult;

// The men of an endgame beside the two kings.
typedef struct EndgameMaterial {
    int count;        // 0 to 2
    uint8_t piece[2]; // pieces with their colours
} EndgameMaterial;

// What a whole table holds: every way to place its men on the board, en passant left out.
typedef struct EndgameStats {
    uint64_t wins[COLOURS], draws[COLOURS], losses[COLOURS]; // by side to move, from its view
    int longest[COLOURS]; // plies of the longest win of each colour when it is to move; 0 if it has none
    char example[COLOURS][FEN_SIZE]; // a position with that win
} EndgameStats;

// Any thread: the process's tables, with all of up to three men; built by the first call. NULL if memory does
// not suffice.
const EndgameSet *endgame_open(void);

// Any thread: adds the tables of a material and of all that it can turn into, and waits for them.
bool endgame_extend(const EndgameMaterial *material, Error *error);

// Any thread: what the tables know of a position.
EndgameResult endgame_probe(const EndgameSet *set, const Position *pos);

// The material of a position; refused with a reason if it has more than four men or castling rights.
bool endgame_material(const Position *pos, EndgameMaterial *material, Error *error);

// Reads a name such as KRK, KQKR or KQvKR; White has what stands first.
bool endgame_parse(const char *name, EndgameMaterial *material, Error *error);

// Counts a table that has been built; refused with a reason if it has not.
bool endgame_stats(const EndgameSet *set, const EndgameMaterial *material, EndgameStats *stats, Error *error);

// The move that mates soonest, or holds out longest, or keeps the draw; MOVE_NONE if there is none or the
// tables do not know.
Move endgame_best(const EndgameSet *set, const Position *pos);
