// SPDX-License-Identifier: GPL-3.0-or-later
// What a net is trained on: the quiet positions of games, 32 bytes each. Games are filtered when they are
// loaded, never when they are written, and every fiftieth game is held out, as a whole.
#pragma once

#include <stdint.h>

#include "engine/nnue.h"
#include "tuner/gamedata.h"

// One position, turned so that White is to move; both values are of the side to move.
typedef struct TrainPosition {
    uint64_t occupied;
    uint8_t pieces[16]; // the piece on each square of occupied, lowest first, four bits each
    int16_t score;      // centipawns
    uint8_t result;     // half points
    uint8_t men;        // how many pieces there are
    uint8_t kings[2];   // where White's and Black's king stand
    uint8_t spare[2];   // zero
} TrainPosition;

_Static_assert(sizeof(TrainPosition) == 32, "a hundred million of them must fit into memory");

// The inputs that are one, as each side sees the board: the side to move first.
typedef struct TrainInputs {
    uint16_t index[32][2];
} TrainInputs;

// What is left out. A position counts under the first reason that fits.
typedef enum TrainDrop {
    DROP_RANDOM, // the move was drawn, not searched
    DROP_SKIP,   // among the first plies of the game
    DROP_CHECK,  // the side to move is in check
    DROP_NOISY,  // the move played takes or promotes
    DROP_SCORE,  // nearly decided
    DROP_RULE50, // close to the fifty-move draw
    DROPS,
} TrainDrop;

// Which positions are taken.
typedef struct TrainFilter {
    int skip;       // plies at the start of each game
    int max_score;  // centipawns either way
    int max_rule50; // plies since the last capture or pawn move
    int held_out;   // one game in so many
} TrainFilter;

// What the commands start from.
#define TRAIN_FILTER_DEFAULTS ((TrainFilter){.skip = 0, .max_score = 2500, .max_rule50 = 80, .held_out = 50})

// How much was read and what became of it.
typedef struct TrainCounts {
    uint64_t games, held_games, plies, results[3]; // results: games by White's half points
    uint64_t dropped[DROPS];
} TrainCounts;

// A growing list of positions.
typedef struct TrainList {
    TrainPosition *positions;
    size_t count, room;
} TrainList;

// One file that was read, for the history of the net.
typedef struct TrainFile {
    char path[512];
    uint64_t digest, games, positions; // positions: after the filter
} TrainFile;

// All positions, for training and held out.
typedef struct TrainData {
    TrainList list[2]; // training, held out
    TrainCounts counts;
    TrainFile *files;
    int file_count;
} TrainData;

// What a reason for leaving positions out is called in reports.
const char *train_drop_name(TrainDrop drop);

// Adds the positions of one game that the filter lets through; false without memory.
bool train_data_add(TrainData *data, const DataGame *game, const TrainFilter *filter);

// Reads files of games, several at once, and puts their positions in the order of the files. A file that is
// broken at its end counts up to there, and a line about it goes to stderr.
bool train_data_read(TrainData *data, const char *const *paths, int path_count, const TrainFilter *filter,
                     int threads, Error *error);

// Gives everything back.
void train_data_free(TrainData *data);

// Packs a position.
TrainPosition train_pack(const Position *pos, int score_white, int result_white);

// The position again, without castling rights, en passant and clocks.
void train_unpack(const TrainPosition *packed, Position *pos);

// Writes the inputs of a position, men of them.
void train_inputs(const TrainPosition *packed, TrainInputs *inputs);

// The output bucket, as nnue_bucket has it.
static inline int train_bucket(const TrainPosition *packed) { return (packed->men - 2) / 4; }

// Where the index-th of count positions comes from in this epoch: a shuffle that needs no memory.
size_t train_shuffle(uint64_t seed, uint64_t epoch, size_t count, size_t index);
