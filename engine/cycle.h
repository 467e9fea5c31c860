// SPDX-License-Identifier: GPL-3.0-or-later
// Whether one reversible move leads back to an earlier position, told from the two keys alone: their difference is
// looked up among the differences that all reversible moves make (a cuckoo table, after M. N. J. van Kervinck).
#pragma once

#include "engine/position.h"

// Fills the table; any thread may call it, any number of times.
void cycle_init(void);

// Whether the side to move can reach the position with an earlier repetition key by one legal-looking reversible move.
bool cycle_links(const Position *pos, Key earlier);
