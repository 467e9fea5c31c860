// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/game.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/notation.h"

static const char *const EndNames[] = {"checkmate",   "stalemate", "repetition", "fifty",   "material",
                                       "adjudicated", "toolong",   "time",       "illegal", "crash",
                                       "stall",       "protocol",  "interrupted"};

const char *game_end_name(GameEnd end) { return EndNames[end]; }

bool game_end_parse(const char *name, GameEnd *end) {
    for (int i = 0; i <= GAME_INTERRUPTED; i++)
        if (strcmp(EndNames[i], name) == 0) {
            *end = (GameEnd)i;
            return true;
        }
    return false;
}

const char *game_termination(GameEnd end) {
    switch (end) {
    case GAME_CHECKMATE:
    case GAME_STALEMATE:
    case GAME_REPETITION:
    case GAME_FIFTY:
    case GAME_MATERIAL: return "normal";
    case GAME_ADJUDICATED:
    case GAME_TOO_LONG: return "adjudication";
    case GAME_TIME: return "time forfeit";
    case GAME_ILLEGAL: return "illegal move";
    case GAME_CRASH:
    case GAME_STALL:
    case GAME_PROTOCOL: return "abandoned";
    case GAME_INTERRUPTED: return "unterminated";
    }
    return "";
}

// A clock: what is left of the control, and the moves to the next one.
typedef struct Clock {
    int64_t left_ms;
    int to_go;
} Clock;

static Clock clock_start(const TimeControl *tc) { return (Clock){tc->base_ms + tc->inc_ms, tc->moves}; }

// Takes the time of a move off; false if that loses. The clock is clipped to 0 before the increment is added.
static bool clock_move(Clock *clock, const TimeControl *tc, int64_t ns, int64_t *overrun_ms) {
    int64_t ms = ns / 1000000;
    *overrun_ms = 0;
    if (tc->move_ms && ms > tc->move_ms + tc->margin_ms) *overrun_ms = ms - tc->move_ms;
    if (!tc->clock) return *overrun_ms == 0;
    clock->left_ms -= ms;
    if (clock->left_ms < -tc->margin_ms) *overrun_ms = -clock->left_ms;
    if (clock->left_ms < 0) clock->left_ms = 0;
    clock->left_ms += tc->inc_ms;
    if (tc->moves && --clock->to_go == 0) {
        clock->left_ms += tc->base_ms;
        clock->to_go = tc->moves;
    }
    return *overrun_ms == 0;
}

static const char *colour_name(int colour) { return colour == WHITE ? "White" : "Black"; }

// A failure: the side loses.
static void lose(GameRecord *record, int colour, GameEnd end, const char *format, const char *what) {
    record->end = end;
    record->loser = colour;
    record->half_points = colour == WHITE ? 0 : 2;
    int used = snprintf(record->reason, sizeof record->reason, "%s", colour_name(colour));
    snprintf(record->reason + used, sizeof record->reason - (size_t)used, format, what);
}

const char *game_reason(GameEnd end, int half_points) {
    switch (end) {
    case GAME_CHECKMATE: return half_points == 2 ? "White mates" : "Black mates";
    case GAME_STALEMATE: return "Draw by stalemate";
    case GAME_REPETITION: return "Draw by 3-fold repetition";
    case GAME_FIFTY: return "Draw by fifty moves rule";
    case GAME_MATERIAL: return "Draw by insufficient mating material";
    case GAME_TOO_LONG: return "Draw by adjudication: maximal game length";
    case GAME_ADJUDICATED:
    case GAME_TIME:
    case GAME_ILLEGAL:
    case GAME_CRASH:
    case GAME_STALL:
    case GAME_PROTOCOL:
    case GAME_INTERRUPTED: return "";
    }
    return "";
}

static void end_game(GameRecord *record, GameEnd end, int half_points) {
    record->end = end;
    record->half_points = half_points;
    text_copy(record->reason, sizeof record->reason, game_reason(end, half_points));
}

// Whether the rules end the game here; writes the record if so.
static bool ended_by_rules(GameRecord *record, const Position *pos, const KeyStack *history) {
    switch (position_ending(pos, history)) {
    case ENDING_NONE: return false;
    case ENDING_CHECKMATE: end_game(record, GAME_CHECKMATE, pos->stm == WHITE ? 0 : 2); break;
    case ENDING_STALEMATE: end_game(record, GAME_STALEMATE, 1); break;
    case ENDING_REPETITION: end_game(record, GAME_REPETITION, 1); break;
    case ENDING_FIFTY: end_game(record, GAME_FIFTY, 1); break;
    case ENDING_MATERIAL: end_game(record, GAME_MATERIAL, 1); break;
    }
    return true;
}

static bool ended_by_adjudication(GameRecord *record, Adjudicator *state, const Position *after, int mover,
                                  const PlayerMove *move) {
    Adjudication verdict = adjudicate_move(state, after, mover, move->has_score, move->score);
    if (verdict == ADJUDICATE_NONE) return false;
    record->end = GAME_ADJUDICATED;
    record->half_points = verdict == ADJUDICATE_DRAW ? 1 : verdict == ADJUDICATE_WHITE ? 2 : 0;
    snprintf(record->reason, sizeof record->reason, "%s%s",
             verdict == ADJUDICATE_DRAW    ? "Draw by adjudication"
             : verdict == ADJUDICATE_WHITE ? "White wins by adjudication"
                                           : "Black wins by adjudication",
             state->rule);
    return true;
}

// What went wrong with a move that did not come back whole.
static void failed(GameRecord *record, int mover, const PlayerMove *move) {
    switch (move->status) {
    case PLAYER_OK:
    case PLAYER_INTERRUPTED: break;
    case PLAYER_ILLEGAL: lose(record, mover, GAME_ILLEGAL, " makes an illegal move: %s", move->text); break;
    case PLAYER_CRASHED: lose(record, mover, GAME_CRASH, " disconnects%s", ""); break;
    case PLAYER_STALLED: lose(record, mover, GAME_STALL, "'s connection stalls%s", ""); break;
    case PLAYER_PROTOCOL:
        lose(record, mover, GAME_PROTOCOL, "'s connection stalls: protocol error%s", "");
        break;
    }
}

// The digest covers what two runs of a plan must agree on: moves, scores and the end.
static void finish(GameRecord *record) {
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < record->plies; i++) {
        const GameMove *m = &record->moves[i];
        int32_t score = m->has_score ? m->score : SCORE_NONE;
        digest = digest_of(digest, &m->move, sizeof m->move);
        digest = digest_of(digest, &score, sizeof score);
    }
    int32_t tail[2] = {(int32_t)record->end, record->half_points};
    record->digest = digest_of(digest, tail, sizeof tail);
    record->ended_unix = (int64_t)time(NULL);
}

static void count_latency(int64_t *counts, int64_t ns) {
    int bin = 0;
    while (bin < LATENCY_BINS - 1 && ns / 1000 > 1ll << bin) bin++;
    counts[bin]++;
}

// A clock ran out: the side loses, and the record says whether the machine stalled meanwhile.
static void lose_on_time(const GameSetup *setup, GameRecord *record, int mover, const PlayerMove *move,
                         int64_t overrun_ms) {
    char text[40];
    snprintf(text, sizeof text, " (%lldms overrun)", (long long)overrun_ms);
    lose(record, mover, GAME_TIME, " loses on time%s", text);
    if (!setup->heartbeat) return;
    int64_t end = move->answered_ns ? move->answered_ns : now_ns();
    record->stall_ms = heartbeat_worst(setup->heartbeat, end - move->ns, end) / 1000000;
}

// Plays moves until something ends the game.
static void play_moves(const GameSetup *setup, GameRecord *record) {
    const Opening *opening = setup->opening;
    Position pos = opening->start, after;
    KeyStack history = {.count = 0};
    Move line[OPENING_MAX_PLIES + GAME_MAX_PLIES];
    Clock clocks[2] = {clock_start(setup->tc[0]), clock_start(setup->tc[1])};
    Adjudicator adjudicator = adjudicate_start(setup->adjudicate);
    int64_t answered_ns = 0; // when the last answer was readable
    int count = 0;
    for (; count < opening->move_count; count++) {
        keystack_push(&history, &pos);
        position_make(&after, &pos, line[count] = opening->moves[count]);
        pos = after;
    }
    while (!ended_by_rules(record, &pos, &history)) {
        int mover = pos.stm, who = mover == WHITE ? setup->white : !setup->white;
        const TimeControl *tc = setup->tc[who];
        if (record->plies == GAME_MAX_PLIES) {
            end_game(record, GAME_TOO_LONG, 1);
            return;
        }
        PlayerTurn turn = {.start = &opening->start,
                           .moves = line,
                           .move_count = count,
                           .pos = &pos,
                           .history = &history,
                           .nodes = setup->nodes[who]};
        for (int colour = WHITE; colour <= BLACK; colour++) {
            int side = colour == WHITE ? setup->white : !setup->white;
            turn.time_ms[colour] = clocks[side].left_ms;
            turn.inc_ms[colour] = setup->tc[side]->inc_ms;
        }
        turn.movestogo = clocks[who].to_go;
        if (setup->crash_key && pos.key == setup->crash_key) abort();
        PlayerMove move = player_think(setup->players[who], &turn);
        if (move.status == PLAYER_INTERRUPTED ||
            atomic_load_explicit(setup->interrupt, memory_order_relaxed)) {
            record->end = GAME_INTERRUPTED;
            return;
        }
        if (setup->latency_counts && answered_ns && move.asked_ns)
            count_latency(setup->latency_counts, move.asked_ns - answered_ns);
        answered_ns = move.answered_ns;
        int64_t overrun;
        if (!clock_move(&clocks[who], tc, move.ns, &overrun)) {
            lose_on_time(setup, record, mover, &move, overrun);
            return;
        }
        if (move.status != PLAYER_OK) {
            failed(record, mover, &move);
            return;
        }
        record->moves[record->plies++] = (GameMove){.move = move.move,
                                                    .has_score = move.has_score,
                                                    .depth = (int16_t)move.depth,
                                                    .seldepth = (int16_t)move.seldepth,
                                                    .score = move.score,
                                                    .nodes = move.nodes,
                                                    .ns = move.ns};
        keystack_push(&history, &pos);
        position_make(&after, &pos, line[count++] = move.move);
        pos = after;
        if (position_ending(&pos, &history) == ENDING_NONE &&
            ended_by_adjudication(record, &adjudicator, &pos, mover, &move))
            return;
    }
}

void game_play(const GameSetup *setup, GameRecord *record) {
    int64_t begin = now_ns();
    record->white = setup->white;
    record->plies = 0;
    record->stall_ms = -1;
    record->reason[0] = '\0';
    record->started_unix = (int64_t)time(NULL);
    bool ready = true;
    for (int who = 0; who < 2 && ready; who++) {
        Error error;
        if (player_new_game(setup->players[who], setup->opening->start.chess960, &error)) continue;
        lose(record, who == setup->white ? WHITE : BLACK, GAME_STALL, "'s connection stalls%s", "");
        ready = false;
    }
    if (ready) play_moves(setup, record);
    record->ms = (now_ns() - begin) / 1000000;
    finish(record);
}
