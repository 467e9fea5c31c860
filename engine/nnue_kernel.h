// SPDX-License-Identifier: GPL-3.0-or-later
// The two loops in which the neural evaluation spends its time. They are compiled several times from one
// source (nnue_lanes.h), each for other vector instructions; all give the same numbers. No state.
#pragma once

#include <stdint.h>

// The rows of feature weights that lead from one board's sums to another's.
typedef struct NnueRows {
    int adds, takes;
    const int16_t *add[64], *take[64];
} NnueRows;

// One way to compute. All arrays are aligned to 64 bytes, hidden is a multiple of 32.
typedef struct NnueKernel {
    const char *name;
    // to = from + the added rows - the taken ones, modulo 2^16; to and from may be the same.
    void (*update)(int16_t *to, const int16_t *from, const NnueRows *rows, int hidden);
    // The sum of (clamp(x, 0, QA)^2 >> SQUARE_SHIFT) x weight over own and then other.
    int32_t (*output)(const int16_t *own, const int16_t *other, const int16_t *weights, int hidden);
} NnueKernel;

// The kernels; all but the first need a machine that has the instructions.
extern const NnueKernel NnueScalar;
#ifdef __x86_64__
extern const NnueKernel NnueSse41, NnueAvx2;
#endif

// The kernels that this machine can run, slowest first; NULL behind the last.
const NnueKernel *nnue_kernel_at(int index);

// The fastest of them.
const NnueKernel *nnue_kernel_best(void);
