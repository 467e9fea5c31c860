// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of an engine's failure: one folder an incident with the position, the moves, the last
// dialogue, the last of stderr and how the process ended. Any worker may write one; nothing here ends a run.
#pragma once

#include "match/game.h"

// Where the incidents of a match are written.
typedef struct Incidents {
    char folder[1200]; // incidents/<journal's name>
    _Atomic int last;  // number of the last one, by this run or an earlier one
} Incidents;

// Names the folder for a journal; it is made with the first incident.
bool incidents_open(Incidents *incidents, const char *journal, Error *error);

// Writes the incident that ended a game; player is the one that failed, or NULL. What cannot be written is
// told on stderr.
void incidents_write(Incidents *incidents, uint64_t pair, const char *name, const Opening *opening,
                     const GameRecord *record, const Player *player);
