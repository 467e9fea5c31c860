// SPDX-License-Identifier: GPL-3.0-or-later
// What a match prints: the lines of fastchess and cutechess, which other people's scripts read, and JSON
// lines; and the live line on a terminal.
#pragma once

#include "match/match.h"

// Before the first game: what is going to be played and, for a test, what to expect of it.
void output_plan(const MatchState *state, uint64_t seed, bool continued);

// A game has ended; number counts from 1.
void output_game(const MatchState *state, uint64_t number, const Pairing *pairing, const JournalGame *game,
                 const char *reason);

// After a pair, where an interval is due: score lines or the block of results.
void output_pair(const MatchState *state);

// At the end: the last block of results, verdict, incidents.
void output_end(const MatchState *state, MatchOutcome outcome);

// Around a line that is rewritten: a narrow terminal cuts it instead of breaking it, or the rest would stay behind.
#define LIVE_BEGIN "\r\033[K\033[?7l"
#define LIVE_END   "\033[?7h"

// On a terminal: one line that is rewritten, with games, rate, time left, Elo and LLR. Piped: nothing.
void output_live(const MatchState *state);

// Takes the live line away before something else is printed.
void output_clear_live(void);
