// SPDX-License-Identifier: GPL-3.0-or-later
// The source of every kernel: the includer defines KERNEL (the name of the constant), KERNEL_NAME (its text)
// and LANES (16-bit numbers in a register, 1 for no vectors).
#include "engine/nnue_kernel.h"

// One register of sums. Unsigned, so that overflow wraps.
#if LANES == 1
typedef uint16_t Lanes;
#else
typedef uint16_t Lanes __attribute__((vector_size(2 * LANES), may_alias));
#endif

// Sums and rows alike, as registers.
static inline const Lanes *lanes_of(const int16_t *values) { return (const void *)values; }

// Updates `count` registers' worth of sums; they stay in registers while all rows pass.
static inline __attribute__((always_inline)) void update_tile(int16_t *to, const int16_t *from,
                                                              const NnueRows *rows, int at, int count) {
    Lanes sums[8];
    for (int i = 0; i < count; i++) sums[i] = lanes_of(from + at)[i];
    for (int row = 0; row < rows->adds; row++)
        for (int i = 0; i < count; i++) sums[i] += lanes_of(rows->add[row] + at)[i];
    for (int row = 0; row < rows->takes; row++)
        for (int i = 0; i < count; i++) sums[i] -= lanes_of(rows->take[row] + at)[i];
    Lanes *out = (void *)(to + at);
    for (int i = 0; i < count; i++) out[i] = sums[i];
}

// All sums: in wide tiles, what is left in narrow ones.
static void update(int16_t *to, const int16_t *from, const NnueRows *rows, int hidden) {
    enum { WIDE = 8, NARROW = 32 / LANES < 8 ? 32 / LANES : 8 };
    int at = 0;
    for (; at + WIDE * LANES <= hidden; at += WIDE * LANES) update_tile(to, from, rows, at, WIDE);
    for (; at < hidden; at += NARROW * LANES) update_tile(to, from, rows, at, NARROW);
}

// The part of one side.
static inline __attribute__((always_inline)) int32_t output_half(const int16_t *sums, const int16_t *weights,
                                                                 int hidden) {
    sums = __builtin_assume_aligned(sums, 64);
    weights = __builtin_assume_aligned(weights, 64);
    hidden -= hidden % 32; // so that the compiler knows
    int32_t total = 0;
    for (int i = 0; i < hidden; i++) {
        int16_t value = sums[i] < 0 ? 0 : sums[i];
        value = value > 255 ? 255 : value;
        int16_t product = (int16_t)(value * weights[i]); // fits: the net was checked
        total += (int32_t)product * value;
    }
    return total;
}

// Both parts.
static int32_t output(const int16_t *own, const int16_t *other, const int16_t *weights, int hidden) {
    return output_half(own, weights, hidden) + output_half(other, weights + hidden, hidden);
}

// What the includer asked for.
const NnueKernel KERNEL = {KERNEL_NAME, update, output};
