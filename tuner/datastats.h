// SPDX-License-Identifier: GPL-3.0-or-later
// What files of training games contain, counted game by game: lengths, results, scores, men, positions seen
// twice, how well scores foretell results, how often adjudication was wrong.
#pragma once

#include <stdio.h>

#include "tuner/gamedata.h"

enum { DATASTATS_SCORE_BINS = 11, DATASTATS_SURE = 300, DATASTATS_USABLE_SCORE = 2500 };

// A set of position keys; a large one holds only a share of them, chosen by the key.
typedef struct KeySample {
    Key *slots;
    size_t room, count;
    uint64_t seen, twice; // keys of the share that came, and those that had come before
    int shift;            // one key in 2^shift is of the share
} KeySample;

// The counts.
typedef struct DataStats {
    uint64_t games, plies, positions; // positions have a score
    uint64_t results[3], adjudicated, chess960, capped;
    int shortest, longest;
    uint64_t agree, level, against; // of the positions beyond DATASTATS_SURE: how the game ended
    uint64_t audited, audit_wrong;  // games played on after a verdict, and those that ended otherwise
    uint64_t white_to_move, white_score_positive; // of the positions
    uint64_t in_check, noisy, extreme, usable;    // why positions are not used, the first reason only
    uint64_t men[33];
    uint64_t scores[DATASTATS_SCORE_BINS];
    KeySample keys;
} DataStats;

// Counts that are all 0, ready for about so many plies; false without memory.
bool datastats_init(DataStats *stats, uint64_t plies);

// Gives the memory back.
void datastats_free(DataStats *stats);

// Counts one game.
void datastats_add(DataStats *stats, const DataGame *game);

// The share of the positions beyond DATASTATS_SURE whose game was won by the side that stood better; 1 if
// there are none.
double datastats_agreement(const DataStats *stats);

// Prints everything, with the bytes that the games took.
void datastats_print(const DataStats *stats, uint64_t bytes, FILE *out);
