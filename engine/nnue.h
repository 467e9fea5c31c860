// SPDX-License-Identifier: GPL-3.0-or-later
// The neural evaluation: (768 mirrored -> N) x 2 -> 1 x 8, SCReLU, all integer, so that every machine and
// every kernel gives the same number. A Net is immutable, shared by engines and counted. An Accumulator sums
// the first layer for one position; it knows which pieces it has summed, so any other position is reached by
// adding and taking the difference, whether it is the parent, a cousin or a cached board. Any thread may read
// a Net; accumulators belong to one thread.
#pragma once

#include <stddef.h>

#include "engine/position.h"

// The shape and the quantisation of every net; only the width N of the hidden layer varies.
enum {
    NNUE_INPUTS = 768,       // 2 (own, enemy) x 6 types x 64 squares
    NNUE_BUCKETS = 8,        // output weights by the number of men
    NNUE_MAX_HIDDEN = 512,   // N is a multiple of 32 up to this
    NNUE_QA = 255,           // one in the hidden layer
    NNUE_QB = 64,            // one in the output weights
    NNUE_SCALE = 400,        // centipawns of one at the output
    NNUE_WEIGHT_MAX = 505,   // largest first-layer weight or bias: 33 of them cannot overflow int16
    NNUE_OUTPUT_MAX = 127,   // largest output weight: times QA it fits int16
};

// The number of a piece's input as one side sees the board: own pieces first, the board turned for Black and
// mirrored if that side's king stands on the files e to h, so that the king is always on a to d.
static inline int nnue_feature(int side, int king, int piece, int square) {
    int turned = square_for(side, square) ^ (square_file(king) >= 4 ? 7 : 0);
    return ((piece_colour(piece) != side) * PIECE_TYPES + piece_type(piece)) * SQUARES + turned;
}

// The output bucket of a position, by its men: 2 to 5 are bucket 0, 30 to 32 bucket 7.
static inline int nnue_bucket(const Position *pos) { return (bb_count(position_occupied(pos)) - 2) / 4; }
