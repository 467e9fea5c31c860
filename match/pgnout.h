// SPDX-License-Identifier: GPL-3.0-or-later
// Games as PGN (and final positions as EPD), in order of the pairs. The files are a function of the journal:
// a run that is continued cuts them back to where it once began and writes them again.
#pragma once

#include "match/match.h"

// The files that finished games are written to.
typedef struct PgnOut {
    FILE *file, *epd;
    PgnGame game;
    GameRecord *record;
} PgnOut;

// Where the games of a new run will begin in the PGN file: its size if it is appended to, else 0.
int64_t pgnout_offset(const MatchPlan *plan);

// Opens the files of a plan and cuts the PGN back to an offset.
bool pgnout_open(PgnOut *out, const MatchPlan *plan, int64_t offset, Error *error);

// Writes one game.
bool pgnout_game(PgnOut *out, const MatchPlan *plan, uint64_t pair, const Pairing *pairing,
                 const Opening *opening, const JournalGame *game, Error *error);

// Closes what is open.
void pgnout_close(PgnOut *out);
