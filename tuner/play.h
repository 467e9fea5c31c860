// SPDX-License-Identifier: GPL-3.0-or-later
// How the games of a tuning run or of a campaign's stage are played: a few keys with text values, the same on
// the command line and in campaign files, that become a plan of the match runner.
#pragma once

#include "match/match.h"

// The keys of play_set with their values; empty or zero where the default holds.
typedef struct PlayOptions {
    char engine[512], args[1024], dir[512]; // "builtin" or a program
    char nodes[32], depth[16], tc[64], st[32];
    char openings[1024];       // a file, or "none"
    char draw[96], resign[96]; // hone-match's keys with blanks between, or "off"
    int concurrency;
    uint64_t seed;
    uint64_t start;                           // first opening, from 1
    PlayerOption options[MAX_PLAYER_OPTIONS]; // for every engine
    int option_count;
} PlayOptions;

// The defaults: builtin, balanced openings, one worker a core, the usual adjudication.
void play_default(PlayOptions *play);

// Sets one key from text; *known tells whether there is such a key at all, a bad value is refused with a
// reason.
bool play_set(PlayOptions *play, const char *key, const char *value, bool *known, Error *error);

// Sets a UCI option for every engine, in place of an earlier value.
bool play_option(PlayOptions *play, const char *name, const char *value, Error *error);

// The plan of a match between two engines of these names, with that many pairs; the caller frees
// plan->players.
bool play_plan(const PlayOptions *play, const char *first, const char *second, uint64_t pairs,
               const char *journal, MatchPlan *plan, Error *error);

// Sets an option of one engine of a plan, in place of an earlier value.
bool play_player_option(PlayerSpec *spec, const char *name, const char *value, Error *error);

// Prints the keys with their meaning, each behind a prefix such as "--".
void play_help(FILE *out, const char *prefix);
