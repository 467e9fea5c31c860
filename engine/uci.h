// SPDX-License-Identifier: GPL-3.0-or-later
// The UCI protocol as text: commands in, lines out. One thread reads and never waits for a search; another
// waits for searches (and runs perft and bench) and prints what they end with, so `isready` and `stop` are
// answered at once.
#pragma once

#include <stdio.h>

#include "engine/engine.h"

// Talks UCI until `quit` or the end of the input, then stops what runs; the engine is used by nobody else
// meanwhile. False if the thread it needs could not be started.
bool uci_run(Engine *engine, FILE *in, FILE *out, Error *error);

// Reads `startpos` or `fen <fen>`, and `moves <move>...`: the position, and the keys of those before it.
// Refuses a bad FEN or an illegal move with a reason; nothing is changed then.
bool uci_read_position(const char *text, bool chess960, Position *pos, KeyStack *history, Error *error);

// Reads what stands behind `go` for a position. Words that mean nothing are left out and named in remarks
// (which is empty otherwise); false and a reason if a number is missing or is none. Perft depth goes to
// *perft (0 if not asked).
bool uci_read_go(const char *text, const Position *pos, SearchLimits *limits, int *perft, Error *remarks);

// Writes a score as UCI does: "cp 35", "mate 3", "mate -2"; into 32 bytes.
void uci_score(int score, char *buffer);
