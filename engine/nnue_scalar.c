// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel for every machine.
#define KERNEL      NnueScalar
#define KERNEL_NAME "scalar"
#define LANES       1
#include "engine/nnue_lanes.h"
