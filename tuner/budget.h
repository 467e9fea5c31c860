// SPDX-License-Identifier: GPL-3.0-or-later
// Hours into games: a budget in hours becomes games once, from a measured rate, and stands in the journal's
// header from then on, so that a run that is continued keeps its plan.
#pragma once

#include "match/match.h"

// Games a second of a match, from a few seconds of play that is kept nowhere; false if interrupted, too.
bool budget_rate(const MatchPlan *match, double seconds, double *rate, Error *error);

// The games that fit into the hours, a multiple of unit: as the journal's header has it (member.hours,
// .games, .rate), or else from a rate measured now.
bool budget_settle(const MatchPlan *match, const char *member, double hours, int64_t unit, int64_t *games,
                   double *rate, Error *error);
