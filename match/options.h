// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of hone-match: fastchess's grammar, read into a plan.
#pragma once

#include "match/match.h"

// Reads arguments into a plan (whose players the caller frees); refuses what it does not know, naming option
// and value.
bool options_parse(MatchPlan *plan, int count, char **arguments, Error *error);

// Prints the help: every option with its meaning, the rules of adjudication, examples.
void options_help(FILE *out);

// Reads a time control as `tc=` has it: [moves/][minutes:]seconds[+increment], or inf.
bool options_control(const char *text, TimeControl *tc, Error *error);
