// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign: stages one after the other (tune, test, match, ablate, bench) from a JSON file, each with limits, a
// gate and what follows from failing it. This header has what a file says; campaign_run plays it.
#pragma once

#include "tuner/play.h"
#include "tuner/spsa.h"

enum { CAMPAIGN_MAX_STAGES = 64, CAMPAIGN_NAME = 64, CAMPAIGN_LINKS = 8, CAMPAIGN_SOLVES = 32 };

typedef enum StageKind { STAGE_SPSA, STAGE_SPRT, STAGE_MATCH, STAGE_ABLATE, STAGE_BENCH } StageKind;

// When a stage counts as passed; spsa stages always do.
typedef enum StageGate {
    GATE_NONE,        // when it has been played
    GATE_ACCEPTED,    // sprt: H1 accepted
    GATE_NOT_REFUTED, // sprt: H1 accepted, or the cap reached without a decision
    GATE_EQUAL,       // match: every pair ended 1 : 1
} StageGate;

// What a failed stage means for the rest.
typedef enum StageFailure { FAILURE_KEEP_BASE, FAILURE_GO_ON, FAILURE_STOP } StageFailure;

// UCI options by name.
typedef struct OptionSet {
    PlayerOption items[MAX_PLAYER_OPTIONS];
    int count;
} OptionSet;

// One stage as the file describes it.
typedef struct CampaignStage {
    char name[CAMPAIGN_NAME];
    StageKind kind;
    char about[256], say_on_failure[256];
    PlayOptions play;
    OptionSet options, base; // of the candidate and of the base in this stage, on top of what they have
    StageGate gate;
    StageFailure on_failure;
    bool promote; // passed: the candidate becomes the base of what follows
    char if_passed[CAMPAIGN_LINKS][CAMPAIGN_NAME],
        if_failed[CAMPAIGN_LINKS][CAMPAIGN_NAME]; // run only if one of them did
    int if_passed_count, if_failed_count;
    double hours;                   // of play: spsa's budget or the cap of a test; 0: none
    int64_t games;                  // the same in games
    char params[1024], group[4096]; // spsa: a file, and a choice from it; ablate: what is measured
    SpsaPlan spsa;
    SprtSpec sprt;
    int depth, bare_depth;            // bench; ablate, there also around bare alpha-beta
    uint64_t solve_nodes;             // bench: nodes for each position that is to be solved
    char solve[CAMPAIGN_SOLVES][160]; // bench: "FEN bm MOVES"
    int solve_count;
    char increasing[16][CAMPAIGN_NAME]; // bench: options whose values must grow in this order
    int increasing_count;
    bool explicit_defaults; // bench: the node count must not change when all defaults are set by hand
} CampaignStage;

// A whole file.
typedef struct Campaign {
    char name[CAMPAIGN_NAME], about[512];
    double hours; // for all of it: a stage that would begin later is not begun; 0: no limit
    CampaignStage *stages;
    int count;
} Campaign;

// Reads a campaign; unknown keys and bad values are refused with file, line and path. Free it with
// campaign_free.
bool campaign_read(Campaign *campaign, const char *path, Error *error);

// The same from a text; path is for reasons only.
bool campaign_parse(Campaign *campaign, const char *text, const char *path, Error *error);

// Frees what a campaign owns.
void campaign_free(Campaign *campaign);

// Name of a kind of stage as the file spells it.
const char *stage_kind_name(StageKind kind);

// Sets an option in a set, in place of an earlier value.
bool option_set_put(OptionSet *set, const char *name, const char *value, Error *error);

// Refuses a campaign of which a stage could not begin, naming the stage.
bool campaign_check(const Campaign *campaign, Error *error);

// Plays a campaign in a folder, going on where it was; writes its report there. Returns the exit status: 0
// played to its end, 1 interrupted, 2 failed.
int campaign_run(const Campaign *campaign, const char *folder);

// The command `hone-tune run`; argv[0] is its own name.
int run_main(int argc, char **argv);
