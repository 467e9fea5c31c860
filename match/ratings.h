// SPDX-License-Identifier: GPL-3.0-or-later
// Elo ratings of several engines from all their games, by the Bradley-Terry model (a draw is half a win),
// with intervals by bootstrap over pairs. Two engines alone are in stats.h. Pure functions: any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/util.h"
#include "match/stats.h"

// The rating of one engine; the first engine is 0 by definition, and its interval is empty.
typedef struct Rating {
    Estimate elo; // not a number where no chain of games leads to the first engine
    Stats stats;  // all its results
} Rating;

// Rates engines (at least one) from table, engines x engines: cell [i * engines + j] holds results of i
// against j seen by i. A pair is counted in one of the two cells only, whichever suits the caller. An engine
// that made no half point against another (or all of them) counts as if it had made (left) a thousandth of a
// point there, so that every rating is finite. The interval holds 95 % of replicas bootstrap samples drawn
// from seed; 0 replicas leave the intervals not a number. Fills ratings[engines]; fails where memory or
// convergence does.
bool ratings_fit(int engines, const Stats *table, int replicas, uint64_t seed, Rating *ratings, Error *error);
