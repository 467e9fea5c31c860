// SPDX-License-Identifier: GPL-3.0-or-later
// What each technique is worth: switched off from what is shipped, switched on from bare alpha-beta, and
// added one after the other. Every measured figure is a cell, a line of a journal; games have journals of
// their own beside it; the page is made from the cells alone.
#pragma once

#include "match/stop.h"
#include "tuner/play.h"

enum { ABLATE_MAX_ROWS = 96, ABLATE_NAME = 40, ABLATE_KEY = 80, ABLATE_DIGEST = 17 };

// What a row compares with what.
typedef enum AblateColumn {
    COLUMN_OFF, // shipped, with it and without
    COLUMN_ON,  // bare alpha-beta, with it and without
    COLUMN_SUM, // bare and all claims before it, with it and without
    ABLATE_COLUMNS
} AblateColumn;

// What is measured in a row.
typedef enum AblateKind {
    ROW_TECHNIQUE, // nodes, time, cut-offs, and games
    ROW_NO_GAMES,  // the same where games would not differ
    ROW_CLOCK,     // what watching the clock costs
    ROW_ALL,       // bare against shipped
    ROW_MINIMAL,   // leaves beside the minimal tree
    ROW_PHASE,     // time by phase of the game
} AblateKind;

// One row of the page; those with a claim come first.
typedef struct AblateRow {
    const char *key, *title, *switches, *needs, *claim; // claim is NULL where nothing was claimed
    AblateKind kind;
    int counter; // id of the parameter whose counter must fire, or -1
} AblateRow;

// All rows: claims, groups, then every other switch of params.def that is a technique.
typedef struct AblateRows {
    AblateRow items[ABLATE_MAX_ROWS];
    int count, claims;
} AblateRows;

// What a run measures, and how.
typedef struct AblatePlan {
    PlayOptions play; // of the games at fixed nodes
    uint64_t pairs;   // in each match
    int depth, bare_depth;
    uint64_t cap; // nodes for each bench position, so that every bench ends
    char tc[64];  // matches by the clock too, or empty
    char phase_tc[64];
    uint64_t phase_pairs; // games by the clock for the time by phase; 0: none
    int equal_ms;         // thinking time for the depths at equal time
    char out[800];
    char only[1024];              // keys or switches, or empty for all
    bool columns[ABLATE_COLUMNS]; // what is benched
    bool games[ABLATE_COLUMNS];   // where matches are played
    bool fresh, quiet;
} AblatePlan;

// A journal of cells with what it belongs to.
typedef struct Ablate {
    AblateRows rows;
    cJSON *plan;  // of the journal: the conditions
    cJSON *cells; // an array
    Journal journal;
    Stop stop;
    char folder[800];
} Ablate;

// The defaults.
void ablate_plan_default(AblatePlan *plan);

// --- rows

// Makes the rows from claims.def and params.def.
void ablate_rows(AblateRows *rows);

// Marks the rows that a list of names (keys, switches, "claims", "groups"; empty: all) chooses; refuses an
// unknown name.
bool ablate_choose(const AblateRows *rows, const char *only, bool chosen[ABLATE_MAX_ROWS], Error *error);

// The parameters of plain alpha-beta: deepening, quiescence, captures by victim and the rules of draws,
// nothing else.
Params ablate_bare(void);

// The two sides of a cell; false where the column does not apply. *missing (or NULL) gets what the technique
// needs and what comes only later in the cumulative column, empty if nothing.
bool ablate_sides(const AblateRows *rows, int row, AblateColumn column, Params *with, Params *without,
                  const char **missing);

// A digest of all parameters as text.
void ablate_digest(const Params *params, char text[ABLATE_DIGEST]);

// "shipped -NullMove" or "bare +UseTT +UsePVS": whichever is shorter.
void ablate_describe(const Params *params, char *text, size_t size);

// "off", "on" or "sum".
const char *ablate_column_name(AblateColumn column);

// --- measuring: each makes the figures of a cell, which the caller owns; NULL if it was stopped or failed

// Nodes, time, cut-offs, branching and counters of the bench positions at a depth, or as far as cap nodes go.
cJSON *measure_bench(const Params *params, int depth, uint64_t cap, Stop *stop, Error *error);

// Nodes per second with a clock and without, in turns.
cJSON *measure_clock(int depth, Stop *stop, Error *error);

// Depths reached in a thinking time, shipped and bare.
cJSON *measure_equal(int ms, Stop *stop, Error *error);

// Leaves of plain alpha-beta without order, with it, and with the table, beside the minimal tree.
cJSON *measure_minimal(int depth, Stop *stop, Error *error);

// Time and moves by phase in the games of a journal by the clock.
cJSON *measure_phase(const MatchPlan *plan, Error *error);

// --- the journal

// The cell of a kind with a key, or NULL.
const cJSON *ablate_cell(const Ablate *ablate, const char *what, const char *key);

// The key of a bench of parameters.
void ablate_bench_key(const Params *params, int depth, char key[ABLATE_KEY]);

// The key of a match under a control such as "nodes 5000".
void ablate_match_key(const Params *with, const Params *without, const char *control, char key[ABLATE_KEY]);

// Opens a journal for reading only.
bool ablate_open(Ablate *ablate, const char *folder, Error *error);

// Gives everything back.
void ablate_close(Ablate *ablate);

// Measures what is missing. 0: all is there, 1: interrupted, 2: failed with a reason.
int ablate_run(const AblatePlan *plan, Error *error);

// --- what comes of it

// A number of the journal's plan, or of a cell (0 if it is not there).
double ablate_number(const cJSON *json, const char *name);

// Writes the page; times false leaves out all that differs between two runs of the same plan.
bool ablate_page(const Ablate *ablate, const char *path, bool times, Error *error);

// Writes the figures as JSON.
bool ablate_json(const Ablate *ablate, FILE *out, bool times);

// The command `hone-tune ablate`; argv[0] is its own name.
int ablate_main(int argc, char **argv);
