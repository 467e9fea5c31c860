// SPDX-License-Identifier: GPL-3.0-or-later
// One game between two players: clocks, rules, adjudication, and what is kept of it. A game always ends with
// a result and a reason; a player that fails loses.
#pragma once

#include "match/adjudicate.h"
#include "match/heartbeat.h"
#include "match/player.h"
#include "openings/opening.h"

enum { GAME_MAX_PLIES = 2048 };

// How a game ended; those from GAME_TIME on are failures of one side, which loses.
typedef enum GameEnd {
    GAME_CHECKMATE,
    GAME_STALEMATE,
    GAME_REPETITION,
    GAME_FIFTY,
    GAME_MATERIAL,
    GAME_ADJUDICATED,
    GAME_TOO_LONG, // the record is full: a draw
    GAME_TIME,
    GAME_ILLEGAL,
    GAME_CRASH,
    GAME_STALL,
    GAME_PROTOCOL,
    GAME_INTERRUPTED, // counts nowhere
} GameEnd;

// One move of a game with what its player said of it.
typedef struct GameMove {
    Move move;
    bool has_score;
    int16_t depth, seldepth;
    int score; // from the side that moved
    uint64_t nodes;
    int64_t ns;
} GameMove;

// One finished game.
typedef struct GameRecord {
    int white;       // 0 if the first engine of the pairing has White, else 1
    int half_points; // of White: 0, 1 or 2
    GameEnd end;
    int loser;       // colour that failed, for ends from GAME_TIME on
    char reason[96]; // as fastchess words it
    int plies;       // moves of the engines, without the opening's
    uint64_t digest; // of moves, scores and end; not of times
    int64_t ms;      // wall clock of the whole game
    int64_t stall_ms; // how long the machine stalled during a move that lost on time; -1: nobody watched
    int64_t started_unix, ended_unix;
    GameMove moves[GAME_MAX_PLIES];
} GameRecord;

// What a game is played under.
typedef struct GameSetup {
    Player *players[2]; // [0] the pairing's first engine
    const TimeControl *tc[2];
    const char *names[2];
    int white; // which of them has White
    const Opening *opening;
    const AdjudicateSpec *adjudicate;
    uint64_t nodes[2];             // node limits of this pair (0: none)
    const _Atomic bool *interrupt; // ends the game at once when set
    uint64_t crash_key;            // test hook: abort() when this position is to be thought about (0: never)
    Heartbeat *heartbeat;          // knows of stalls of the machine, or NULL
    int64_t *latency_counts;       // histogram of the runner's own delay, or NULL (LATENCY_BINS)
} GameSetup;

enum { LATENCY_BINS = 24 }; // bin i counts delays of 2^i microseconds and less

// Plays a game to its end.
void game_play(const GameSetup *setup, GameRecord *record);

// "checkmate", "stalemate" ... as the journal has it.
const char *game_end_name(GameEnd end);

// The end by its name; false if there is none.
bool game_end_parse(const char *name, GameEnd *end);

// The reason of an end that follows from the rules, White having made half_points; empty for the others.
const char *game_reason(GameEnd end, int half_points);

// PGN's Termination of an end.
const char *game_termination(GameEnd end);
