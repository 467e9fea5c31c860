// SPDX-License-Identifier: GPL-3.0-or-later
// A tuning run: SPSA over real games. It is a match whose two sides get the two parameter sets of an
// iteration; journal, openings, workers and resumption are the match runner's, the mathematics is spsa's.
// What it knows is what replaying its journal gives.
#pragma once

#include "match/match.h"
#include "tuner/play.h"
#include "tuner/spsa_input.h"

// What is to be tuned and how.
typedef struct TunePlan {
    MatchPlan match;          // sides "plus" and "minus"
    SpsaList list;            // the parameters
    SpsaPlan spsa;            // params is list's
    double hours;             // budget in hours, or 0: it becomes games once, from a measured rate
    double rate;              // games a second that was measured for that
    char report[1024];        // HTML file that is kept up to date, or empty
    char report_source[1024]; // what it shows: a folder, or empty for the journal
    bool quiet;               // no progress on stderr and stdout
    bool only_replay;         // read the journal, play nothing
} TunePlan;

// What a run came to.
typedef struct TuneResult {
    int64_t iterations, applied;
    SpsaEstimate *estimates; // one a parameter; freed by tune_result_free
    int count;
    double draw_ratio;
    uint64_t digest; // of all games in order and of the parameters
    double seconds;  // of play, by the journal
    MatchResult match;
} TuneResult;

// The parameters that the words (names or groups, with commas; NULL: all) choose from a file, or from
// params.def if path is NULL or empty.
bool tune_list(const char *path, const char *words, SpsaList *list, Error *error);

// Fills a plan: play says how games are played, spsa the method (its params are taken from list, which the
// plan then owns, even if this fails).
bool tune_plan(TunePlan *plan, const PlayOptions *play, SpsaList *list, const SpsaPlan *spsa,
               const char *journal, Error *error);

// Frees what a plan owns.
void tune_plan_free(TunePlan *plan);

// Rebuilds a plan from a journal's header, for reading it; false without a reason if the journal is that of a
// match.
bool tune_plan_from_json(TunePlan *plan, const cJSON *json, bool *is_tune, Error *error);

// Adds a pair to the counts of its iteration as the tuner does: pairs that were set aside or in which an
// engine failed count nowhere.
void tune_count(const JournalPair *pair, uint64_t penta[5]);

// Runs to the end, or goes on where the journal ends; a finished journal gives its result again.
MatchOutcome tune_run(TunePlan *plan, _Atomic uint64_t *in_flight, TuneResult *result, Error *error);

// Whether a value lies at an end of its range, within a hundredth of it: the range may be too narrow.
bool tune_at_bound(const SpsaParam *param, double value);

// Prints a table: start, value, error, signal to noise, and whether the parameter matters.
void tune_print(const TunePlan *plan, const TuneResult *result, FILE *out);

// Refuses what is no comma-separated list of params, uci, openbench, json.
bool tune_formats_check(const char *names, Error *error);

// Prints the values in the formats of a checked list.
void tune_print_values(const TunePlan *plan, const TuneResult *result, const char *formats, FILE *out);

// Frees what a result holds.
void tune_result_free(TuneResult *result);
