// SPDX-License-Identifier: GPL-3.0-or-later
// A player that is a UCI program in a child process. One write, one poll and one read a move: `position` and
// `go` go out together, without isready, and what comes back is parsed where it lies. See player.h for what
// the functions do.
#pragma once

#include "match/player.h"

typedef struct UciPlayer UciPlayer;

// Starts the program and gets it ready; tries a second time if it crashes or does not answer.
UciPlayer *uci_player_create(const PlayerSpec *spec, int affinity, Error *error);

// quit, a grace, SIGKILL to the group.
void uci_player_destroy(UciPlayer *player);

// Sends one setoption line; the program answers for it at the isready of the next game.
bool uci_player_set(UciPlayer *player, const char *name, const char *value, Error *error);

// ucinewgame and isready, in a new process if the spec asks for it.
bool uci_player_new_game(UciPlayer *player, bool chess960, Error *error);

// position, go, and the answer by the deadline.
PlayerMove uci_player_think(UciPlayer *player, const PlayerTurn *turn);

// Whether another game or move can be asked of it.
bool uci_player_alive(const UciPlayer *player);

// The last lines of the dialogue.
size_t uci_player_dialogue(const UciPlayer *player, char *buffer, size_t size);

// The last of stderr.
size_t uci_player_errors(const UciPlayer *player, char *buffer, size_t size);

// How the process ended.
void uci_player_end_text(const UciPlayer *player, char *buffer, size_t size);

// The name that it gave itself.
const char *uci_player_id(const UciPlayer *player);

// What it did that it should not have.
PlayerManners uci_player_manners(const UciPlayer *player);

// Any thread: ends the wait for an answer.
void uci_player_interrupt(UciPlayer *player);

// Reads an info line into what is known of a move; ignores lines of other variations, and bounds once a score
// is known.
void uci_parse_info(const char *line, PlayerMove *move);
