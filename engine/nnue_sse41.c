// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel for machines with SSE4.1; compiled for them alone.
#ifdef __x86_64__
#define KERNEL      NnueSse41
#define KERNEL_NAME "SSE4.1"
#define LANES       8
#include "engine/nnue_lanes.h"
#else
typedef int Nothing;
#endif
