// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/nnue.h"

#include <string.h>

#include "engine/nnue_kernel.h"

enum { NOTHING = 2 }; // in Accumulator.mirrored

const NnueKernel *nnue_kernel_at(int index) {
    if (index == 0) return &NnueScalar;
#ifdef __x86_64__
    __builtin_cpu_init();
    bool sse41 = __builtin_cpu_supports("sse4.1");
    bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    if (index == 1 && sse41) return &NnueSse41;
    if (index == 2 && avx2) return &NnueAvx2;
#endif
    return NULL;
}

const NnueKernel *nnue_kernel_best(void) {
    const NnueKernel *best = NULL, *kernel;
    for (int i = 0; (kernel = nnue_kernel_at(i)); i++) best = kernel;
    return best;
}

// --- sums

// How a side sees the board: 1 if mirrored.
static inline int mirrored_for(const Position *pos, int side) {
    return square_file(position_king(pos, side)) >= 4;
}

static inline const int16_t *row_of(const Net *net, int side, int king, int piece, int square) {
    return net->weights.features + nnue_feature(side, king, piece, square) * net->weights.hidden;
}

// The squares on which a position differs from the board that was summed.
static inline Bitboard difference(const Accumulator *acc, const Position *pos) {
    Bitboard set =
        (acc->by_colour[WHITE] ^ pos->by_colour[WHITE]) | (acc->by_colour[BLACK] ^ pos->by_colour[BLACK]);
    for (int type = 0; type < PIECE_TYPES; type++) set |= acc->by_type[type] ^ pos->by_type[type];
    return set;
}

static inline void remember_board(Accumulator *acc, const Position *pos) {
    memcpy(acc->by_type, pos->by_type, sizeof acc->by_type);
    memcpy(acc->by_colour, pos->by_colour, sizeof acc->by_colour);
    memcpy(acc->board, pos->board, sizeof acc->board);
}

// One side's sums of a position, from those of a board that differs from it on some squares.
static inline void reach(const Net *net, int16_t *to, const Accumulator *from, Bitboard squares,
                         const Position *pos, int side) {
    NnueRows rows;
    rows.adds = rows.takes = 0;
    int king = position_king(pos, side);
    while (squares) {
        int square = bb_pop(&squares), before = from->board[square], now = pos->board[square];
        if (before != NO_PIECE) rows.take[rows.takes++] = row_of(net, side, king, before, square);
        if (now != NO_PIECE) rows.add[rows.adds++] = row_of(net, side, king, now, square);
    }
    net->kernel->update(to, from->values[side], &rows, net->weights.hidden);
}

// Sums that hold the biases of one side for an empty board.
static void clear(Accumulator *acc, const Net *net, int side, int mirrored) {
    memcpy(acc->values[side], net->weights.biases, (size_t)net->weights.hidden * sizeof *net->weights.biases);
    memset(acc->by_type, 0, sizeof acc->by_type);
    memset(acc->by_colour, 0, sizeof acc->by_colour);
    memset(acc->board, NO_PIECE, sizeof acc->board);
    acc->mirrored[side] = (uint8_t)mirrored;
    acc->mirrored[!side] = NOTHING;
}

void nnue_prepare(Nnue *nnue, const Net *net) {
    bool known = nnue->net && nnue->digest == net->digest;
    nnue->net = net;
    nnue->digest = net->digest;
    if (known) return;
    for (int ply = 0; ply <= MAX_PLY; ply++)
        nnue->line[ply].mirrored[WHITE] = nnue->line[ply].mirrored[BLACK] = NOTHING;
    for (int side = 0; side < COLOURS; side++)
        for (int mirrored = 0; mirrored < 2; mirrored++)
            clear(&nnue->cache[side][mirrored], net, side, mirrored);
}

// One side's sums of a position at a ply from the nearest board that there is: of this ply, of the two
// before, or the cached one, which then moves here.
static void reach_from_nearest(Nnue *nnue, const Position *pos, int ply, int side) {
    int mirrored = mirrored_for(pos, side), least = SQUARES + 1;
    Accumulator *here = &nnue->line[ply], *cached = &nnue->cache[side][mirrored], *base = cached;
    Bitboard squares = 0;
    for (int back = -1; back <= 2 && back <= ply; back++) {
        Accumulator *acc = back < 0 ? cached : here - back;
        if (acc->mirrored[side] != mirrored) continue;
        Bitboard set = difference(acc, pos);
        int count = bb_count(set);
        if (count >= least) continue;
        least = count;
        base = acc;
        squares = set;
    }
    reach(nnue->net, here->values[side], base, squares, pos, side);
    if (base != cached) return;
    memcpy(cached->values[side], here->values[side],
           (size_t)nnue->net->weights.hidden * sizeof *here->values[side]);
    remember_board(cached, pos);
}

// Both sides' sums of a position at a ply: those of the ply before and one move, mostly.
static const Accumulator *sums_at(Nnue *nnue, const Position *pos, int ply) {
    enum { ONE_MOVE = 4 }; // squares that a move changes at most
    Accumulator *here = &nnue->line[ply];
    if (ply > 0) {
        const Accumulator *before = here - 1;
        Bitboard squares = difference(before, pos);
        if (bb_count(squares) <= ONE_MOVE && before->mirrored[WHITE] == mirrored_for(pos, WHITE) &&
            before->mirrored[BLACK] == mirrored_for(pos, BLACK)) {
            if (!squares) return before; // a null move
            reach(nnue->net, here->values[WHITE], before, squares, pos, WHITE);
            reach(nnue->net, here->values[BLACK], before, squares, pos, BLACK);
            remember_board(here, pos);
            memcpy(here->mirrored, before->mirrored, sizeof here->mirrored);
            return here;
        }
    }
    reach_from_nearest(nnue, pos, ply, WHITE);
    reach_from_nearest(nnue, pos, ply, BLACK);
    remember_board(here, pos);
    for (int side = 0; side < COLOURS; side++) here->mirrored[side] = (uint8_t)mirrored_for(pos, side);
    return here;
}

// --- the output

static int output_of(const Net *net, const Accumulator *acc, int stm, int bucket) {
    const NetWeights *w = &net->weights;
    int64_t sum = net->kernel->output(acc->values[stm], acc->values[!stm],
                                      w->outputs + bucket * 2 * w->hidden, w->hidden);
    int64_t value = (sum * (1 << NNUE_SQUARE_SHIFT) / NNUE_QA + w->output_biases[bucket]) * w->scale /
                    (NNUE_QA * NNUE_QB);
    return value > SCORE_EVAL_MAX ? SCORE_EVAL_MAX : value < -SCORE_EVAL_MAX ? -SCORE_EVAL_MAX : (int)value;
}

int nnue_evaluate(Nnue *nnue, const Position *pos, int ply) {
    return output_of(nnue->net, sums_at(nnue, pos, ply), pos->stm, nnue_bucket(pos));
}

static void sums_fresh(const Net *net, const Position *pos, Accumulator *acc) {
    for (int side = 0; side < COLOURS; side++) {
        clear(acc, net, side, mirrored_for(pos, side));
        reach(net, acc->values[side], acc, position_occupied(pos), pos, side);
    }
}

int nnue_value(const Net *net, const Position *pos) {
    Accumulator acc;
    sums_fresh(net, pos, &acc);
    return output_of(net, &acc, pos->stm, nnue_bucket(pos));
}

void nnue_outputs(const Net *net, const Position *pos, int values[NNUE_BUCKETS]) {
    Accumulator acc;
    sums_fresh(net, pos, &acc);
    for (int bucket = 0; bucket < NNUE_BUCKETS; bucket++)
        values[bucket] = output_of(net, &acc, pos->stm, bucket);
}
