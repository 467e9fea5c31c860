// SPDX-License-Identifier: GPL-3.0-or-later
// The source of every kernel: the includer defines KERNEL (the name of the constant), KERNEL_NAME (its text)
// and LANES (16-bit numbers in a register, 1 for no vectors).
#include <string.h>

#include "engine/net.h"
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

#if LANES == 1
// One side's half of the output.
static int32_t output_half(const int16_t *sums, const int16_t *weights, int hidden) {
    int32_t total = 0;
    for (int i = 0; i < hidden; i++) {
        int value = int_clamp(sums[i], 0, NNUE_QA);
        total += (value * value >> NNUE_SQUARE_SHIFT) * weights[i];
    }
    return total;
}
#else
#include <immintrin.h>
#if LANES == 8
typedef __m128i Register;
#define DO(operation) _mm_##operation
#else
typedef __m256i Register;
#define DO(operation) _mm256_##operation
#endif
#define LOAD(register) (*(const Register *)(const void *)(register))

// One side's half of the output. The upper half of the product of two values, each shifted by six, is the
// square shifted by four; pairs of products are summed in 32 bits.
static inline int32_t output_half(const int16_t *sums, const int16_t *weights, int hidden) {
    _Static_assert(NNUE_SQUARE_SHIFT == 16 - 2 * 6 && NNUE_QA << 6 <= INT16_MAX, "the shifts fit together");
    const Register zero = {0}, one = DO(set1_epi16)(NNUE_QA);
    Register total = zero;
    for (int i = 0; i < hidden; i += LANES) {
        Register value = DO(min_epi16)(DO(max_epi16)(LOAD(sums + i), zero), one);
        value = DO(slli_epi16)(value, 6);
        total = DO(add_epi32)(total, DO(madd_epi16)(DO(mulhi_epi16)(value, value), LOAD(weights + i)));
    }
    int32_t parts[LANES / 2], sum = 0;
    memcpy(parts, &total, sizeof parts);
    for (int i = 0; i < LANES / 2; i++) sum += parts[i];
    return sum;
}
#endif

// Both parts.
static int32_t output(const int16_t *own, const int16_t *other, const int16_t *weights, int hidden) {
    return output_half(own, weights, hidden) + output_half(other, weights + hidden, hidden);
}

// What the includer asked for.
const NnueKernel KERNEL = {KERNEL_NAME, update, output};
