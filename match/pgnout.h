// SPDX-License-Identifier: GPL-3.0-or-later
// Games as PGN (and final positions as EPD), in order of the pairs. The files are a function of the journal:
// a run that is continued cuts them back to where it once began and writes them again.
#pragma once

#include "match/match.h"

// A file that games are added to. A run that goes on gives all its games again: while `following`, they are
// only compared with what stands there.
typedef struct PgnFile {
    const char *path;
    FILE *file; // NULL: not wanted
    bool following;
} PgnFile;

// The files that finished games are written to.
typedef struct PgnOut {
    PgnFile pgn, epd;
    PgnGame game;
    GameRecord *record;
} PgnOut;

// Opens the files of a plan and adds to begins, an object of offsets by path, where the run begins in each:
// as known of an earlier part of the run (NULL: there is none), else at the end, or at 0 in a file that is
// not appended to. What others have added since stays.
bool pgnout_open(PgnOut *out, const MatchPlan *plan, const cJSON *known, cJSON *begins, Error *error);

// Writes one game.
bool pgnout_game(PgnOut *out, const MatchPlan *plan, uint64_t pair, const Pairing *pairing,
                 const Opening *opening, const JournalGame *game, Error *error);

// Closes what is open.
void pgnout_close(PgnOut *out);
