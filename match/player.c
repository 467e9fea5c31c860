// SPDX-License-Identifier: GPL-3.0-or-later
// The builtin player, and the choice between the two kinds.
#include "match/player.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/notation.h"
#include "match/uci_player.h"

enum { SMALL_HASH = 1, USUAL_HASH = 16 }; // megabytes: clearing 16 costs more than a short game

struct Player {
    const PlayerSpec *spec;
    Engine *engine; // one of the two
    UciPlayer *uci;
    _Atomic bool interrupted;
};

// --- builtin ------------------------------------------------------------------------------------

static bool builtin_create(Player *player, Error *error) {
    const PlayerSpec *spec = player->spec;
    bool node_limited = spec->tc.nodes && !spec->tc.clock && !spec->tc.move_ms;
    player->engine = engine_create(node_limited ? SMALL_HASH : USUAL_HASH);
    if (!player->engine) return error_set(error, "engine '%s': no memory", spec->name);
    Error remark;
    for (int i = 0; i < spec->option_count; i++) {
        const PlayerOption *option = &spec->options[i];
        remark.text[0] = '\0';
        bool fine = engine_set_option(player->engine, option->name, option->value, &remark);
        // What an engine would only remark upon, a match must not begin with.
        if (!fine || remark.text[0])
            return error_set(error, "engine '%s': %s", spec->name, remark.text);
    }
    return true;
}

// A builtin player while it thinks, and what it told last.
typedef struct Thought {
    Player *player;
    int depth, seldepth, hashfull;
    uint64_t nodes;
    Move move;
} Thought;

static void on_info(void *context, const SearchInfo *info) {
    Thought *thought = context;
    if (info->multipv == 1 && info->bound == BOUND_EXACT) {
        thought->depth = info->depth;
        thought->seldepth = info->seldepth;
        thought->hashfull = info->hashfull;
        thought->nodes = info->nodes;
        thought->move = info->pv->moves[0];
    }
    // An interrupt just before the search began was overwritten by its beginning.
    if (atomic_load(&thought->player->interrupted)) engine_stop(thought->player->engine);
}

// Writes a line of moves as text, cut between two of them.
static void write_pv(const Position *root, const PV *pv, char *buffer, size_t size) {
    size_t used = 0;
    for (int i = 0; i < pv->count && used + UCI_SIZE + 1 < size; i++) {
        if (used > 0) buffer[used++] = ' ';
        notation_to_uci(root, pv->moves[i], buffer + used);
        used += strlen(buffer + used);
    }
    buffer[used] = '\0';
}

static PlayerMove builtin_think(Player *player, const PlayerTurn *turn) {
    const TimeControl *tc = &player->spec->tc;
    PlayerMove move = {.status = PLAYER_ILLEGAL};
    Thought thought = {.player = player};
    Observer observer = {.info = on_info, .context = &thought};
    engine_set_position(player->engine, turn->pos, turn->history);
    move.asked_ns = now_ns();
    SearchLimits limits = {
        .nodes = turn->nodes, .depth = tc->depth, .movetime = tc->move_ms, .start_ns = move.asked_ns};
    if (tc->clock) {
        limits.has_clock = true;
        for (int colour = WHITE; colour < COLOURS; colour++) {
            limits.time[colour] = turn->time_ms[colour];
            limits.inc[colour] = turn->inc_ms[colour];
        }
        limits.movestogo = turn->movestogo;
    }
    SearchResult result = engine_search(player->engine, &limits, &observer);
    move.answered_ns = now_ns();
    move.ns = move.answered_ns - move.asked_ns;
    move.move = result.best;
    if (result.best != MOVE_NONE) move.status = PLAYER_OK;
    notation_to_uci(turn->pos, result.best, move.text);
    move.has_score = true;
    move.score = result.score;
    // The same as the last line over UCI: that of a depth which was begun, or else of the last complete one.
    bool told = thought.nodes == result.nodes && thought.move == result.best;
    move.depth = told ? thought.depth : result.depth;
    move.seldepth = told ? thought.seldepth : result.seldepth;
    move.nodes = result.nodes;
    move.tbhits = result.tbhits;
    move.hashfull = thought.hashfull;
    move.nps = move.ns > 0 ? (uint64_t)((double)result.nodes * 1e9 / (double)move.ns) : 0;
    write_pv(turn->pos, &result.pv, move.pv, sizeof move.pv);
    return move;
}

// --- both ---------------------------------------------------------------------------------------

Player *player_create(const PlayerSpec *spec, int affinity, Error *error) {
    Player *player = calloc(1, sizeof *player);
    if (!player) {
        error_set(error, "engine '%s': no memory", spec->name);
        return NULL;
    }
    player->spec = spec;
    bool fine = true;
    if (spec->builtin) fine = builtin_create(player, error);
    else fine = (player->uci = uci_player_create(spec, affinity, error)) != NULL;
    if (fine) return player;
    player_destroy(player);
    return NULL;
}

void player_destroy(Player *player) {
    if (!player) return;
    engine_destroy(player->engine);
    uci_player_destroy(player->uci);
    free(player);
}

bool player_set_option(Player *player, const char *name, const char *value, Error *error) {
    if (player->uci) return uci_player_set(player->uci, name, value, error);
    Error remark = {.text = ""};
    bool fine = engine_set_option(player->engine, name, value, &remark);
    return (fine && !remark.text[0]) ||
           error_set(error, "engine '%s': option %.200s", player->spec->name, remark.text);
}

bool player_new_game(Player *player, bool chess960, Error *error) {
    if (player->uci) return uci_player_new_game(player->uci, chess960, error);
    engine_new_game(player->engine);
    return true;
}

PlayerMove player_think(Player *player, const PlayerTurn *turn) {
    if (atomic_load(&player->interrupted)) return (PlayerMove){.status = PLAYER_INTERRUPTED};
    PlayerMove move = player->uci ? uci_player_think(player->uci, turn) : builtin_think(player, turn);
    if (atomic_load(&player->interrupted)) move.status = PLAYER_INTERRUPTED;
    return move;
}

bool player_alive(const Player *player) { return player->uci ? uci_player_alive(player->uci) : true; }

const char *player_status_name(PlayerStatus status) {
    switch (status) {
    case PLAYER_OK: return "ok";
    case PLAYER_ILLEGAL: return "illegal move";
    case PLAYER_CRASHED: return "crash";
    case PLAYER_STALLED: return "stall";
    case PLAYER_PROTOCOL: return "protocol error";
    case PLAYER_INTERRUPTED: return "interrupted";
    }
    return "?";
}

size_t player_dialogue(const Player *player, char *buffer, size_t size) {
    buffer[0] = '\0';
    return player->uci ? uci_player_dialogue(player->uci, buffer, size) : 0;
}

size_t player_errors(const Player *player, char *buffer, size_t size) {
    buffer[0] = '\0';
    return player->uci ? uci_player_errors(player->uci, buffer, size) : 0;
}

void player_end_text(const Player *player, char *buffer, size_t size) {
    if (player->uci) uci_player_end_text(player->uci, buffer, size);
    else snprintf(buffer, size, "in this process");
}

const char *player_id(const Player *player) { return player->uci ? uci_player_id(player->uci) : "Hone"; }

PlayerManners player_manners(const Player *player) {
    return player->uci ? uci_player_manners(player->uci) : (PlayerManners){0};
}

void player_interrupt(Player *player) {
    atomic_store(&player->interrupted, true);
    if (player->uci) uci_player_interrupt(player->uci);
    else engine_stop(player->engine);
}
