// SPDX-License-Identifier: GPL-3.0-or-later
// Games for training in a compact file: a header and chunks of games, each chunk with its length and
// checksum, so that a file whose writer was killed is good up to its last whole chunk. A ply costs about two
// bytes: the move as its place in the list of legal moves, the score as its difference from the last one.
#pragma once

#include "engine/position.h"

enum { GAMEDATA_MAX_PLIES = 512 };

// One game. Scores are in centipawns from White, mates clipped to +-GAMEDATA_SCORE_MAX; random plies have
// none.
typedef struct DataGame {
    Position start;   // the standard or a double Chess960 start position
    int ply_count;    // random ones and played ones
    int random_plies; // the first so many moves were drawn at random, without a search
    int result;       // half points of White: 0, 1, 2
    bool adjudicated;
    Move moves[GAMEDATA_MAX_PLIES];
    int16_t scores[GAMEDATA_MAX_PLIES];
} DataGame;

enum { GAMEDATA_SCORE_MAX = 10000 };

typedef struct GameReader GameReader;

// Opens a file of games; refuses with a reason what is none.
GameReader *gamereader_open(const char *path, Error *error);

// Reads the next game; false at the end of the file (error empty) or at a broken chunk (error says which).
bool gamereader_next(GameReader *reader, DataGame *game, Error *error);

// Closes the file.
void gamereader_close(GameReader *reader);
