// SPDX-License-Identifier: GPL-3.0-or-later
// What plays a game: an engine in this process (builtin) or a UCI program (a child process). A game cannot tell them
// apart, and at fixed nodes both play the same moves. A player belongs to one worker thread; nothing is shared.
#pragma once

#include "engine/engine.h"
#include "engine/position.h"

// How long a side may think. Any mix may be given; zero means not given.
typedef struct TimeControl {
    int moves;              // moves to each control, 0 for the whole game
    int64_t base_ms, inc_ms; // base of a control and increment a move
    int64_t move_ms;        // st=: fixed time a move
    uint64_t nodes;
    int depth;
    int64_t margin_ms;      // a loss on time only when the clock is this far below zero
    bool clock;             // tc= was given (and is not inf)
} TimeControl;

// One UCI option and its value, as text.
typedef struct PlayerOption {
    char name[64], value[256];
} PlayerOption;

enum { MAX_PLAYER_OPTIONS = 512 };

// An engine as the command line describes it; const while a match runs.
typedef struct PlayerSpec {
    char name[64];
    bool builtin;
    char cmd[512], args[1024], dir[512];
    bool restart;           // a fresh process for every game
    TimeControl tc;
    int64_t startup_ms, ping_ms, quit_ms; // deadlines for uciok, readyok and the end after quit
    PlayerOption options[MAX_PLAYER_OPTIONS];
    int option_count;
} PlayerSpec;

// What a game tells a player when it is to move.
typedef struct PlayerTurn {
    const Position *start;  // where the record begins (FEN), and the moves since
    const Move *moves;
    int move_count;
    const Position *pos;    // the position now, with the keys of those before it
    const KeyStack *history;
    int64_t time_ms[COLOURS], inc_ms[COLOURS]; // clocks of both sides, if the mover has a clock
    int movestogo;          // moves to the next control, 0 if none
    uint64_t nodes;         // node limit (spec's, maybe jittered), 0 if none
} PlayerTurn;

// How a turn ended.
typedef enum PlayerStatus {
    PLAYER_OK,
    PLAYER_ILLEGAL,   // a move that is not legal here, or none at all: text has it
    PLAYER_CRASHED,   // the process ended or closed its pipe
    PLAYER_STALLED,   // no answer by the deadline, not even after stop
    PLAYER_PROTOCOL,  // endless line, flood, or nonsense where an answer was due
} PlayerStatus;

// What came back.
typedef struct PlayerMove {
    PlayerStatus status;
    Move move;
    char text[16];           // as the engine wrote it
    bool has_score;
    int score;               // in the search's terms: mates as SCORE_MATE - plies, from the side to move
    int depth, seldepth;
    uint64_t nodes, nps, tbhits;
    int hashfull;
    int64_t ns;              // thinking time, from go written to bestmove read
    int64_t latency_ns;      // runner's own: bestmove readable until it was read
    char pv[512];
} PlayerMove;

typedef struct Player Player;

// Makes a player and gets it ready (uci ... uciok, options, isready); an unknown option, a value out of range or a
// program that does not answer is refused with a reason. affinity is a CPU, or -1.
Player *player_create(const PlayerSpec *spec, int affinity, Error *error);

// Ends a player: quit, a grace, then SIGKILL to its process group.
void player_destroy(Player *player);

// Gets ready for a game (ucinewgame, isready); false if the program does not answer.
bool player_new_game(Player *player, bool chess960, Error *error);

// Asks for a move and waits for it, at most until the deadline that follows from the clocks and limits.
PlayerMove player_think(Player *player, const PlayerTurn *turn);

// Whether the player can go on after what came last; if not it must be destroyed and made again.
bool player_alive(const Player *player);

// For an incident report: the last lines of the dialogue, the last of stderr and how the process ended; returns the length.
size_t player_dialogue(const Player *player, char *buffer, size_t size);

// "id name" of a UCI program, or "Hone".
const char *player_id(const Player *player);

// Asks a thinking player, from any thread, to answer at once.
void player_interrupt(Player *player);
