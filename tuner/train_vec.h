// SPDX-License-Identifier: GPL-3.0-or-later
// Vectors for the trainer's loops, as wide as the machine's registers.
#pragma once

#include <stdint.h>

// As many floats as one register holds.
#if defined __AVX512F__
enum { VEC_WIDTH = 16 };
#elif defined __AVX__
enum { VEC_WIDTH = 8 };
#else
enum { VEC_WIDTH = 4 };
#endif

// Floats, and what comparing them gives.
typedef float Vec __attribute__((vector_size(4 * VEC_WIDTH), may_alias));
typedef int32_t VecMask __attribute__((vector_size(4 * VEC_WIDTH), may_alias));

// What lies between 0 and 1 as it is, the rest moved to the nearer end.
static inline Vec vec_clamp(Vec x) {
    const Vec one = x * 0 + 1;
    return (Vec)(((VecMask)x & (x > 0) & (x < 1)) | ((VecMask)one & (x >= 1)));
}
