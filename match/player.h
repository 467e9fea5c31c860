// SPDX-License-Identifier: GPL-3.0-or-later
// What plays a game: an engine in this process (builtin) or a UCI program (a child process). A game cannot
// tell them apart, and at fixed nodes both play the same moves. A player belongs to one worker thread;
// nothing is shared.
#pragma once

#include "engine/engine.h"
#include "engine/position.h"

// How long a side may think. Any mix may be given; zero means not given.
typedef struct TimeControl {
    int moves;               // moves to each control, 0 for the whole game
    int64_t base_ms, inc_ms; // base of a control and increment a move
    int64_t move_ms;         // st=: fixed time a move
    uint64_t nodes;
    int depth;
    int64_t margin_ms; // a loss on time only when the clock is this far below zero
    bool clock;        // tc= was given (and is not inf)
} TimeControl;

// One UCI option and its value, as text.
typedef struct PlayerOption {
    char name[64], value[256];
} PlayerOption;

enum { MAX_PLAYER_OPTIONS = 512 };

enum { STARTUP_MS = 10000, PING_MS = 60000, QUIT_MS = 5000, WATCHDOG_MS = 60000 };

// An engine as the command line describes it; const while a match runs.
typedef struct PlayerSpec {
    char name[64];
    bool builtin;
    char cmd[512], args[1024], dir[512];
    bool restart; // a fresh process for every game
    TimeControl tc;
    // Deadlines for uciok, readyok, the end after quit, and a move without a clock; 0 for the defaults below,
    // the last then follows from the limit: WATCHDOG_MS and a millisecond for each node of the limit, or ten
    // times that.
    int64_t startup_ms, ping_ms, quit_ms, watchdog_ms;
    PlayerOption options[MAX_PLAYER_OPTIONS];
    int option_count;
} PlayerSpec;

// What a game tells a player when it is to move.
typedef struct PlayerTurn {
    const Position *start; // where the record begins (FEN), and the moves since
    const Move *moves;
    int move_count;
    const Position *pos; // the position now, with the keys of those before it
    const KeyStack *history;
    int64_t time_ms[COLOURS], inc_ms[COLOURS]; // clocks of both sides, if the mover has a clock
    int movestogo;                             // moves to the next control, 0 if none
    uint64_t nodes;                            // node limit (spec's, maybe jittered), 0 if none
} PlayerTurn;

// How a turn ended.
typedef enum PlayerStatus {
    PLAYER_OK,
    PLAYER_ILLEGAL,     // a move that is not legal here, or none at all: text has it
    PLAYER_CRASHED,     // the process ended or closed its pipe
    PLAYER_STALLED,     // no answer by the deadline; with a clock, not even after stop (a loss on time, then)
    PLAYER_PROTOCOL,    // endless line, flood, or nonsense where an answer was due
    PLAYER_INTERRUPTED, // player_interrupt was called: whatever it is, it is no move of a game
} PlayerStatus;

// What came back.
typedef struct PlayerMove {
    PlayerStatus status;
    Move move;
    char text[16]; // as the engine wrote it
    bool has_score;
    int score; // in the search's terms: mates as SCORE_MATE - plies, from the side to move
    int depth, seldepth;
    uint64_t nodes, nps, tbhits;
    int hashfull;
    int64_t ns;                    // thinking time, from go written to bestmove readable
    int64_t asked_ns, answered_ns; // when that was (now_ns); the runner's own latency lies between one's
                                   // answer and the other's go
    char pv[512];
} PlayerMove;

typedef struct Player Player;

// Makes a player and gets it ready (uci ... uciok, options, isready); an unknown option, a value out of range
// or a program that does not answer (at the second attempt) is refused with a reason. affinity is a CPU for a
// child process, or -1. spec must outlive the player. The child dies with the calling thread.
Player *player_create(const PlayerSpec *spec, int affinity, Error *error);

// Ends a player: quit, a grace, then SIGKILL to its process group.
void player_destroy(Player *player);

// Sets an option between games, in place of what the spec says; a builtin refuses what it does not know or
// cannot be.
bool player_set_option(Player *player, const char *name, const char *value, Error *error);

// Gets ready for a game (ucinewgame, isready; a new process if the spec asks for that); false if the program
// does not answer, or cannot play Chess960.
bool player_new_game(Player *player, bool chess960, Error *error);

// Asks for a move and waits for it, at most until the deadline that follows from the clocks and limits.
PlayerMove player_think(Player *player, const PlayerTurn *turn);

// Whether the player can go on after what came last; if not it must be destroyed and made again.
bool player_alive(const Player *player);

// "illegal move", "crash", ...: a status in words.
const char *player_status_name(PlayerStatus status);

// For an incident report: the last lines of the dialogue; returns the length.
size_t player_dialogue(const Player *player, char *buffer, size_t size);

// For an incident report: the last of stderr; returns the length.
size_t player_errors(const Player *player, char *buffer, size_t size);

// For an incident report: how the process ended ("signal 11 (Segmentation fault)"), or that it has not.
void player_end_text(const Player *player, char *buffer, size_t size);

// "id name" of a UCI program, or "Hone".
const char *player_id(const Player *player);

// What a program did that it should not have, though no game was lost by it.
typedef struct PlayerManners {
    uint64_t stale;    // lines that came before go: an early or a second bestmove
    uint64_t unknown;  // lines that are not UCI
    double idle_share; // processor time used while it was not its turn, per second of that; 0 before there
                       // was a second
} PlayerManners;

// Manners of a player since its process was started; all zero for a builtin.
PlayerManners player_manners(const Player *player);

// Asks a player, from any thread, to answer at once; from then on player_think gives PLAYER_INTERRUPTED.
void player_interrupt(Player *player);
