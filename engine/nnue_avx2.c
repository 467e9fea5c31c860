// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel for machines with AVX2; compiled for them alone.
#ifdef __x86_64__
#define KERNEL      NnueAvx2
#define KERNEL_NAME "AVX2"
#define LANES       16
#include "engine/nnue_lanes.h"
#else
typedef int Nothing;
#endif
