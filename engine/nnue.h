// SPDX-License-Identifier: GPL-3.0-or-later
// The neural evaluation: (768 mirrored -> N) x 2 -> 1 x 8, SCReLU, all integer, so that every machine and
// every kernel gives the same number. A Net is immutable, shared by engines and counted. An Accumulator sums
// the first layer for one position; it knows which pieces it has summed, so any other position is reached by
// adding and taking the difference, whether it is the parent, a cousin or a cached board. So nothing needs to
// be told when a move is made or taken back, and no sum is ever stale. Any thread may read a Net;
// accumulators belong to one thread.
#pragma once

#include <stddef.h>

#include "engine/net.h"
#include "engine/position.h"

// The number of a piece's input as one side sees the board: own pieces first, the board turned for Black and
// mirrored if that side's king stands on the files e to h, so that the king is always on a to d.
static inline int nnue_feature(int side, int king, int piece, int square) {
    int turned = square_for(side, square) ^ (square_file(king) >= 4 ? 7 : 0);
    return ((piece_colour(piece) != side) * PIECE_TYPES + piece_type(piece)) * SQUARES + turned;
}

// The output bucket of a position, by its men: 2 to 5 are bucket 0, 30 to 32 bucket 7.
static inline int nnue_bucket(const Position *pos) { return (bb_count(position_occupied(pos)) - 2) / 4; }

// The first layer's sums for one board, as both sides see it.
typedef struct Accumulator {
    _Alignas(64) int16_t values[COLOURS][NNUE_MAX_HIDDEN];
    Bitboard by_type[PIECE_TYPES], by_colour[COLOURS]; // the board that was summed
    uint8_t board[SQUARES];
    uint8_t mirrored[COLOURS]; // how each side's half was seen, 0 or 1; 2 if it holds nothing
} Accumulator;

// One thread's sums: the boards of the line that it searches, and for each side and each way of seeing the
// last board for which the line offered nothing near.
typedef struct Nnue {
    const Net *net;
    uint64_t digest; // of the net whose sums these are; 0 before the first
    Accumulator line[MAX_PLY + 1];
    Accumulator cache[COLOURS][2];
} Nnue;

// Makes the sums ready for a net; cheap unless the net is another one than before. All zero is a valid Nnue.
void nnue_prepare(Nnue *nnue, const Net *net);

// What a position at a ply of the line is worth to the side to move, in centipawns, within +-SCORE_EVAL_MAX.
// Any position may be asked for at any ply; it is cheap if it lies near the last ones of that ply or those
// before.
int nnue_evaluate(Nnue *nnue, const Position *pos, int ply);

// The same without any memory of other positions.
int nnue_value(const Net *net, const Position *pos);

// What every output bucket says of a position, to the side to move; nnue_bucket tells which one counts.
void nnue_outputs(const Net *net, const Position *pos, int values[NNUE_BUCKETS]);

// What a net says of a position, for people: its history, the output of every bucket and the value of every
// piece, in centipawns from White; 8,000 bytes hold it all.
void nnue_trace(const Net *net, const Position *pos, char *buffer, size_t size);
