// SPDX-License-Identifier: GPL-3.0-or-later
// Games for training: Hone against itself with few nodes a move, from random openings, many games side by
// side. Game number g is a function of the plan's settings and g alone, and games are written in order, so
// that a file is the same at any concurrency and after any kill. One engine plays both sides of a game: they
// share its table and histories, which are cleared before each game.
#pragma once

#include "engine/engine.h"
#include "match/stop.h"
#include "tuner/gamedata.h"

enum { DATAGEN_MAX_OPTIONS = 32 };

// When a game is decided before the rules end it; all scores as they are stored.
enum {
    DATAGEN_REJECT = 300, // an opening further from level is drawn anew
    DATAGEN_WIN_SCORE = 2000,
    DATAGEN_WIN_PLIES = 4, // so many plies in a row for the same side
    DATAGEN_DRAW_SCORE = 8,
    DATAGEN_DRAW_PLIES = 10, // so many plies in a row within this ...
    DATAGEN_DRAW_FROM = 80,  // ... from this ply on
    DATAGEN_CAP = 400,       // plies; a draw
    DATAGEN_AUDIT = 10, // percent of the games that are played to their end, to see how often that is wrong
};

// What to play.
typedef struct DatagenPlan {
    // These make the games; they stand in the file.
    uint64_t seed;
    int nodes,
        hard; // soft limit of nodes a move (it costs three to four times that), hard one in its multiples
    int hash; // megabytes
    int dfrc; // percent of the games that start from a double Chess960 position
    int random_plies; // moves drawn at random; every second game has one more
    int option_count;
    struct {
        char name[64], value[256];
    } options[DATAGEN_MAX_OPTIONS]; // of the engine
    // These do not.
    uint64_t games, positions; // how many in the whole file; 0 for no limit
    double minutes;            // of this run; 0 for no limit
    int concurrency;
    const char *out;
    bool quiet;
} DatagenPlan;

// What the command starts from: with these, a move costs about 1,300 nodes.
#define DATAGEN_DEFAULTS                                                                                     \
    ((DatagenPlan){.seed = 1, .nodes = 350, .hard = 8, .hash = 1, .random_plies = 8, .concurrency = 1})

// What adjudication remembers of a game.
typedef struct DatagenJudge {
    int win_plies, draw_plies; // win_plies is negative when Black stands better
} DatagenJudge;

// Told the score from White at each ply that was searched, in order; gives the result in half points of
// White, or -1 as long as there is none.
int datagen_judge(DatagenJudge *judge, int ply, int score);

// An engine as the plan wants it.
Engine *datagen_engine(const DatagenPlan *plan, Error *error);

// The settings that make the games, as they stand in the file: lines of `name value`. The last one is a
// digest of a few searches, which stands for the engine's code, parameters and net.
bool datagen_settings(const DatagenPlan *plan, char *text, size_t size, Error *error);

// Plays game number and says how many nodes it took; false if *interrupt was set on the way (or no opening
// was found in many tries).
bool datagen_play(const DatagenPlan *plan, Engine *engine, uint64_t number, const _Atomic bool *interrupt,
                  DataGame *game, uint64_t *nodes);

// How a run ended.
typedef struct DatagenReport {
    GameTally before; // what the file held already
    GameTally all;    // what it holds now
    uint64_t nodes;   // searched in this run's games
    double seconds;   // of this run
    bool stopped;     // asked to, before the goal
} DatagenReport;

// Plays games into the file of the plan, or goes on with it, until the goal or a stop.
bool datagen_run(const DatagenPlan *plan, Stop *stop, DatagenReport *report, Error *error);

// The command `hone-tune datagen`; argv[0] is its own name. Returns the exit status.
int datagen_main(int argc, char **argv);
