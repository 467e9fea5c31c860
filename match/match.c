// SPDX-License-Identifier: GPL-3.0-or-later
// Playing a plan: the hooks of the pool, the players of each worker, what is counted, written and printed.
#include "match/match.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/tablebase.h"
#include "match/incident.h"
#include "match/output.h"
#include "match/pgnout.h"
#include "match/pool.h"
#include "match/stop.h"

enum { DIGEST_SLOTS = 1 << 18, WINDOW = 8, JITTER_PERMILLE = 40 };

// --- who plays what

static uint64_t pairings_of(const MatchPlan *plan) {
    uint64_t n = (uint64_t)plan->player_count, k = (uint64_t)plan->seeds;
    return plan->gauntlet ? k * (n - k) : n * (n - 1) / 2;
}

uint64_t match_pairs(const MatchPlan *plan) { return plan->rounds * pairings_of(plan); }

Pairing match_pairing(const MatchPlan *plan, uint64_t pair) {
    uint64_t pairings = pairings_of(plan), index = pair % pairings;
    Pairing pairing = {.round = pair / pairings};
    if (plan->gauntlet) {
        int others = plan->player_count - plan->seeds;
        pairing.first = (int)index / others;
        pairing.second = plan->seeds + (int)index % others;
        return pairing;
    }
    int first = 0, row = plan->player_count - 1;
    while ((int)index >= row) index -= (uint64_t)row--, first++;
    pairing.first = first;
    pairing.second = first + 1 + (int)index;
    return pairing;
}

bool match_opening(const MatchPlan *plan, const OpeningSet *openings, uint64_t pair, Opening *opening,
                   Error *error) {
    uint64_t round = match_pairing(plan, pair).round;
    if (openings) {
        if (!opening_at(openings, plan->seed, plan->order, plan->start, round, opening, error)) return false;
    } else {
        *opening = (Opening){.number = 1, .wrap = round};
        position_from_fen(&opening->start, START_FEN, NULL);
        opening->position = opening->start;
    }
    if (plan->chess960) opening->start.chess960 = opening->position.chess960 = true;
    return true;
}

uint64_t match_nodes(const MatchPlan *plan, uint64_t pair, int player, const Opening *opening) {
    uint64_t nodes = plan->players[player].tc.nodes;
    if (nodes < 50 || opening->wrap == 0) return nodes;
    uint64_t shift =
        random_below(random_at(plan->seed, 0x4a17, match_pairing(plan, pair).round), 2 * JITTER_PERMILLE + 1);
    return nodes * (1000 - JITTER_PERMILLE + shift) / 1000;
}

// Whether a game can be played again from the plan: nodes or depth decide, not time.
static bool repeatable(const MatchPlan *plan, const Pairing *pairing) {
    const TimeControl *a = &plan->players[pairing->first].tc, *b = &plan->players[pairing->second].tc;
    return !a->clock && !b->clock && !a->move_ms && !b->move_ms;
}

// --- one run

// One pair on its way from a worker to the consumer.
typedef struct PairResult {
    JournalPair pair;
    char reason[2][96];
    char *moves[2]; // owned; NULL where they are not kept
    uint64_t nodes;
} PairResult;

typedef struct Worker {
    pthread_mutex_t lock; // players, for whoever interrupts them
    Player *players[MATCH_MAX_PLAYERS];
    GameRecord record;
    int64_t latency[LATENCY_BINS];
} Worker;

typedef struct Run {
    const MatchPlan *plan;
    const MatchHooks *hooks;
    bool over; // the journal was finished already, or a hook has had enough
    MatchState state;
    OpeningSet openings;
    bool has_openings;
    Journal journal;
    PgnOut pgn;
    Incidents incidents;
    Worker *workers;
    _Atomic uint64_t *in_flight;
    Heartbeat *heartbeat; // where clocks matter, or NULL
    Stop stop;
    _Atomic bool interrupt;
    _Atomic bool rude[MATCH_MAX_PLAYERS]; // bad manners have been told
    uint64_t *digests;                    // of games seen, to notice copies
    bool replaying;                       // results come from the journal: count them, say nothing
    bool failed;                          // under the pool's lock
    Error reason;
    int64_t last_sync_ms, last_live_ms;
} Run;

static const OpeningSet *openings_of(const Run *run) { return run->has_openings ? &run->openings : NULL; }

// Ends the run because it cannot go on; the first reason stands.
static void fail(Run *run, const Error *error) {
    if (!run->failed) run->reason = *error;
    run->failed = true;
    stop_request(&run->stop, 2);
}

// --- worker: playing

// Puts a player where it can be interrupted, or takes it away from there.
static Player *put_in(Worker *worker, int index, Player *player) {
    pthread_mutex_lock(&worker->lock);
    Player *before = worker->players[index];
    worker->players[index] = player;
    pthread_mutex_unlock(&worker->lock);
    return before;
}

// Ends a player, if there is one; bad manners that cost no game are told once for each engine.
static void put_out(Run *run, int worker, int index) {
    const char *name = run->plan->players[index].name;
    Player *player = put_in(&run->workers[worker], index, NULL);
    if (!player) return;
    PlayerManners manners = player_manners(player);
    bool rude = manners.stale > 0 || manners.idle_share > 0.5;
    if (rude && !atomic_exchange(&run->rude[index], true)) {
        if (manners.stale)
            fprintf(stderr, "hone-match: %s: %llu lines came before go and were dropped\n", name,
                    (unsigned long long)manners.stale);
        if (manners.idle_share > 0.5)
            fprintf(stderr, "hone-match: %s burns %.0f %% of a processor while it is not its turn\n", name,
                    100 * manners.idle_share);
    }
    player_destroy(player);
}

static Player *player_of(Run *run, int worker, int index, Error *error) {
    const MatchPlan *plan = run->plan;
    Worker *w = &run->workers[worker];
    if (w->players[index] && !player_alive(w->players[index])) put_out(run, worker, index);
    int cpu = plan->affinity
                  ? (plan->affinity_count ? plan->affinity_cpus[worker % plan->affinity_count] : worker)
                  : -1;
    if (!w->players[index]) put_in(w, index, player_create(&plan->players[index], cpu, error));
    return w->players[index];
}

// Ends what the players think about, now.
static void interrupt_players(Run *run) {
    for (int i = 0; i < run->plan->concurrency; i++) {
        Worker *w = &run->workers[i];
        pthread_mutex_lock(&w->lock);
        for (int p = 0; p < run->plan->player_count; p++)
            if (w->players[p]) player_interrupt(w->players[p]);
        pthread_mutex_unlock(&w->lock);
    }
}

// Keeps what is needed to understand a failure, and puts the failed player out.
static void on_failure(Run *run, int worker, uint64_t pair, const Pairing *pairing, const Opening *opening,
                       const GameRecord *record) {
    if (record->end < GAME_TIME || record->end == GAME_INTERRUPTED) return;
    bool white_is_first = record->white == 0;
    int index = (record->loser == WHITE) == white_is_first ? pairing->first : pairing->second;
    Worker *w = &run->workers[worker];
    incidents_write(&run->incidents, pair, run->plan->players[index].name, opening, record,
                    w->players[index]);
    if (record->end != GAME_TIME && record->end != GAME_ILLEGAL) put_out(run, worker, index);
}

static bool play_pair(void *context, int worker, uint64_t number, void *out) {
    Run *run = context;
    const MatchPlan *plan = run->plan;
    Worker *w = &run->workers[worker];
    PairResult *result = out;
    Pairing pairing = match_pairing(plan, number);
    Opening opening;
    Error error = {.text = ""};
    *result = (PairResult){.pair = {.number = number}};
    if (run->in_flight) atomic_store(&run->in_flight[worker], number + 1);
    bool ok = match_opening(plan, openings_of(run), number, &opening, &error);
    for (int g = 0; ok && g < plan->games; g++) {
        int index[2] = {pairing.first, pairing.second};
        GameSetup setup = {.white = (g == 1 && !plan->noswap) ^ plan->reverse,
                           .opening = &opening,
                           .adjudicate = &plan->adjudicate,
                           .interrupt = &run->interrupt,
                           .latency_counts = w->latency,
                           .heartbeat = run->heartbeat,
                           .crash_key = plan->crash_key};
        for (int side = 0; ok && side < 2; side++) {
            ok = (setup.players[side] = player_of(run, worker, index[side], &error)) != NULL;
            setup.tc[side] = &plan->players[index[side]].tc;
            setup.names[side] = plan->players[index[side]].name;
            setup.nodes[side] = match_nodes(plan, number, index[side], &opening);
        }
        if (ok && run->hooks->prepare)
            ok = run->hooks->prepare(run->hooks->context, number, setup.players, &error);
        if (!ok) break;
        game_play(&setup, &w->record);
        const GameRecord *r = &w->record;
        if (r->end == GAME_INTERRUPTED) break;
        on_failure(run, worker, number, &pairing, &opening, r);
        result->pair.game[g] = (JournalGame){.white = r->white,
                                             .half_points = r->half_points,
                                             .end = r->end,
                                             .loser = r->loser,
                                             .plies = r->plies,
                                             .digest = r->digest,
                                             .started_unix = r->started_unix,
                                             .stall_ms = r->stall_ms,
                                             .ms = r->ms};
        result->pair.games = g + 1;
        text_copy(result->reason[g], sizeof result->reason[g], r->reason);
        if (!repeatable(plan, &pairing) || plan->pgn[0] || plan->epd[0])
            result->moves[g] = journal_moves_text(r, &opening);
        for (int i = 0; i < r->plies; i++) result->nodes += r->moves[i].nodes;
    }
    if (run->in_flight) atomic_store(&run->in_flight[worker], 0);
    if (ok && result->pair.games == plan->games) return true;
    if (!ok) fail(run, &error);
    for (int g = 0; g < 2; g++) free(result->moves[g]);
    return false;
}

static void leave(void *context, int worker) {
    Run *run = context;
    for (int i = 0; i < run->plan->player_count; i++) put_out(run, worker, i);
}

// --- in order of finishing: the journal

// The journal's view of a result: texts are pointed to, not copied.
static JournalPair journal_view(const PairResult *result) {
    JournalPair pair = result->pair;
    for (int g = 0; g < pair.games; g++) {
        pair.game[g].moves = result->moves[g];
        pair.game[g].reason =
            *game_reason(pair.game[g].end, pair.game[g].half_points) ? NULL : result->reason[g];
    }
    return pair;
}

// Writes a pair; a full disk makes everybody wait here until there is room again, or until the run is
// stopped.
static void record_pair(void *context, uint64_t number, const void *out) {
    Run *run = context;
    JournalPair pair = journal_view(out);
    Error error;
    bool told = false;
    while (!journal_append(&run->journal, &pair, &error)) {
        if (!told)
            fprintf(stderr, "hone-match: %s; waiting for room (pair %llu is finished and kept in memory)\n",
                    error.text, (unsigned long long)number);
        told = true;
        if (stop_poll(&run->stop)) {
            fail(run, &error);
            return;
        }
        sleep(1);
    }
}

// --- in order of numbers: counting, printing, PGN

// Notes a game and says whether the same one was seen before (as far as a table of fixed size remembers).
static bool seen_before(Run *run, const Opening *opening, const JournalGame *game) {
    uint64_t mark = mix64(game->digest ^ opening->position.key ^ (uint64_t)game->white) | 1;
    uint64_t *slot = &run->digests[mark % DIGEST_SLOTS];
    bool seen = *slot == mark;
    *slot = mark;
    return seen;
}

// Notes a loss on time for the list at the end.
static void note_time_loss(MatchState *state, TimeLoss loss, const char *reason) {
    if (state->time_losses < MATCH_KEPT_LOSSES) {
        text_copy(loss.reason, sizeof loss.reason, reason);
        state->losses[state->time_losses] = loss;
    }
    state->time_losses++;
    state->stalled_losses += loss.stall_ms > 0;
}

static void count_game(Run *run, const Pairing *pairing, uint64_t pair, int g, const PairResult *result) {
    const JournalGame *game = &result->pair.game[g];
    MatchState *state = &run->state;
    if (game->end < GAME_TIME) return;
    bool first_failed = (game->loser == WHITE) == (game->white == 0);
    int index = first_failed ? pairing->first : pairing->second;
    if (game->end == GAME_TIME) {
        TimeLoss loss = {.pair = pair,
                         .game = g,
                         .player = index,
                         .stall_ms = game->stall_ms,
                         .ended_unix = game->started_unix + game->ms / 1000};
        state->timeouts[index]++;
        note_time_loss(state, loss, result->reason[g]);
    } else {
        state->crashes[index]++;
    }
    state->incidents++;
}

static int points_of_first(const JournalGame *game) {
    return game->white == 0 ? game->half_points : 2 - game->half_points;
}

static bool consume_pair(void *context, uint64_t number, void *out) {
    Run *run = context;
    const MatchPlan *plan = run->plan;
    MatchState *state = &run->state;
    PairResult *result = out;
    JournalPair view = journal_view(result);
    Pairing pairing = match_pairing(plan, number);
    Stats *cell = &state->table[pairing.first * plan->player_count + pairing.second];
    Opening opening;
    Error error;
    bool go_on = true;
    state->pairs_done = number + 1;
    if (!match_opening(plan, openings_of(run), number, &opening, &error)) {
        fail(run, &error);
        go_on = false;
    }
    if (view.games == 0) state->aside++;
    for (int g = 0; g < view.games && go_on; g++) {
        const JournalGame *game = &view.game[g];
        count_game(run, &pairing, number, g, result);
        if (seen_before(run, &opening, game)) state->duplicates++;
        if (pairing.first == 0)
            state->white[game->white] =
                stats_add(state->white[game->white], stats_from_game(points_of_first(game)));
        if (!run->replaying) {
            state->games_now++;
            if (!run->hooks->silent)
                output_game(state, number * (uint64_t)plan->games + (uint64_t)g + 1, &pairing, game,
                            result->reason[g]);
        }
        if (run->pgn.record && !pgnout_game(&run->pgn, plan, number, &pairing, &opening, game, &error)) {
            fail(run, &error);
            go_on = false;
        }
    }
    if (view.games == 1) *cell = stats_add(*cell, stats_from_game(points_of_first(&view.game[0])));
    if (view.games == 2) {
        int a = points_of_first(&view.game[0]), b = points_of_first(&view.game[1]);
        *cell = stats_add(*cell, stats_from_pair(a, b));
        if (plan->has_sprt && sprt_add_pair(&state->sprt, a, b) != SPRT_CONTINUE) go_on = false;
    }
    if (run->hooks->consume && go_on && !run->hooks->consume(run->hooks->context, &view, run->replaying)) {
        run->over = true;
        go_on = false;
    }
    if (!run->replaying) {
        state->pairs_now++;
        state->nodes_now += result->nodes;
        if (!run->hooks->silent) output_pair(state);
        bool broken =
            state->incidents > (uint64_t)plan->incident_limit || (!plan->recover && state->incidents > 0);
        if (broken && go_on) {
            error_set(&error, "stopped: %llu engine failures (limit %d); see %s",
                      (unsigned long long)state->incidents, plan->recover ? plan->incident_limit : 0,
                      run->incidents.folder);
            fail(run, &error);
            go_on = false;
        }
    }
    for (int g = 0; g < 2; g++) free(result->moves[g]);
    return go_on;
}

static void tick(void *context) {
    Run *run = context;
    int64_t now = now_ms();
    Error error;
    if (atomic_load(&run->interrupt)) interrupt_players(run);
    if (now - run->last_sync_ms >= 1000) {
        run->last_sync_ms = now;
        if (!journal_sync(&run->journal, &error)) fprintf(stderr, "hone-match: %s\n", error.text);
    }
    if (now - run->last_live_ms >= 500) {
        run->last_live_ms = now;
        if (!run->hooks->silent) output_live(&run->state);
    }
    if (run->hooks->tick) run->hooks->tick(run->hooks->context, &run->state);
}

// --- beginning and end

// What an earlier run left in the journal, kept until the pool exists.
typedef struct Earlier {
    PairResult *results;
    uint64_t count, capacity;
} Earlier;

static bool keep_pair(void *context, const JournalPair *pair, Error *error) {
    Earlier *earlier = context;
    if (earlier->count == earlier->capacity) {
        uint64_t capacity = earlier->capacity ? 2 * earlier->capacity : 1024;
        PairResult *grown = realloc(earlier->results, capacity * sizeof *grown);
        if (!grown) return error_set(error, "not enough memory");
        earlier->results = grown;
        earlier->capacity = capacity;
    }
    PairResult *result = &earlier->results[earlier->count++];
    *result = (PairResult){.pair = *pair};
    for (int g = 0; g < pair->games; g++) {
        const JournalGame *game = &pair->game[g];
        text_copy(result->reason[g], sizeof result->reason[g],
                  game->reason ? game->reason : game_reason(game->end, game->half_points));
        if (game->moves && !(result->moves[g] = strdup(game->moves)))
            return error_set(error, "not enough memory");
        result->pair.game[g].moves = result->pair.game[g].reason = NULL;
    }
    return true;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = ((const PairResult *)a)->pair.number, y = ((const PairResult *)b)->pair.number;
    return (x > y) - (x < y);
}

// Feeds the run what the journal has: in order to the consumer as far as there is no gap; the rest stays for
// the pool. Returns how many were consumed; *over if they already ended the run.
static uint64_t replay_earlier(Run *run, Earlier *earlier, bool *over) {
    if (earlier->count) qsort(earlier->results, earlier->count, sizeof *earlier->results, by_number);
    uint64_t used = 0, next = 0;
    run->replaying = true;
    for (; used < earlier->count && !*over; used++) {
        PairResult *result = &earlier->results[used];
        if (result->pair.number < next) continue; // written twice: the first counts
        if (result->pair.number > next) break;
        *over = !consume_pair(run, next++, result);
    }
    run->replaying = false;
    *over |= next >= match_pairs(run->plan);
    memmove(earlier->results, earlier->results + used,
            (size_t)(earlier->count - used) * sizeof *earlier->results);
    earlier->count -= used;
    return next;
}

static bool prepare(Run *run, const MatchPlan *plan, const MatchHooks *hooks, Error *error) {
    size_t n = (size_t)plan->player_count;
    *run = (Run){.plan = plan, .hooks = hooks, .in_flight = NULL, .journal = {.fd = -1}};
    run->state = (MatchState){.plan = plan, .pairs_total = match_pairs(plan), .begun_ms = now_ms()};
    run->state.table = calloc(n * n, sizeof *run->state.table);
    run->state.timeouts = calloc(n, sizeof *run->state.timeouts);
    run->state.crashes = calloc(n, sizeof *run->state.crashes);
    run->digests = calloc(DIGEST_SLOTS, sizeof *run->digests);
    run->workers = calloc((size_t)plan->concurrency, sizeof *run->workers);
    for (int w = 0; run->workers && w < plan->concurrency; w++)
        pthread_mutex_init(&run->workers[w].lock, NULL);
    if (plan->has_sprt) run->state.sprt = sprt_start(&plan->sprt);
    if (!run->state.table || !run->state.timeouts || !run->state.crashes || !run->digests || !run->workers)
        return error_set(error, "not enough memory");
    if (plan->tb_path[0] && !tablebase_open(plan->tb_path, error)) return false;
    if (!plan->openings[0]) return true;
    run->has_openings = opening_set_load(&run->openings, plan->openings, plan->plies, error);
    if (run->has_openings && run->openings.bad_count) {
        fprintf(stderr, "hone-match: %s: %llu of %llu openings cannot be used and are left out\n",
                plan->openings, (unsigned long long)run->openings.bad_count,
                (unsigned long long)(run->openings.bad_count + run->openings.count));
        for (uint64_t i = 0; i < run->openings.bad_count && i < 3; i++)
            fprintf(stderr, "  line %llu: %s\n", (unsigned long long)run->openings.problems[i].line,
                    run->openings.problems[i].reason);
    }
    return run->has_openings;
}

static void clean_up(Run *run) {
    journal_close(&run->journal);
    pgnout_close(&run->pgn);
    opening_set_free(&run->openings);
    free(run->state.table);
    free(run->state.timeouts);
    free(run->state.crashes);
    free(run->digests);
    for (int w = 0; run->workers && w < run->plan->concurrency; w++)
        pthread_mutex_destroy(&run->workers[w].lock);
    free(run->workers);
}

// Makes every player once, so that a wrong path, option or value is told before game 1.
static bool preflight(const MatchPlan *plan, Error *error) {
    for (int i = 0; i < plan->player_count; i++) {
        Player *player = player_create(&plan->players[i], -1, error);
        if (!player) return false;
        player_destroy(player);
    }
    return true;
}

bool match_check(const MatchPlan *plan, Error *error) {
    static const MatchHooks None = {0};
    Run run;
    bool ok = prepare(&run, plan, &None, error) && preflight(plan, error);
    clean_up(&run);
    return ok;
}

// Opens the journal: a new one, or the old one to go on with. *over if the old one was finished (it is set
// aside then).
static bool open_journal(Run *run, Earlier *earlier, uint64_t *done, Error *error) {
    const MatchPlan *plan = run->plan;
    cJSON *ours = match_plan_json(plan, openings_of(run)), *theirs = NULL;
    if (run->hooks->extra)
        cJSON_AddItemToObject(ours, run->hooks->extra_name, cJSON_Duplicate(run->hooks->extra, true));
    cJSON *known = NULL, *begins = cJSON_CreateObject();
    int64_t size = 0;
    char text[400], aside[1100];
    bool ok = true, exists = access(plan->journal, F_OK) == 0, over = false;
    if (exists && plan->fresh) {
        ok = journal_set_aside(plan->journal, aside, sizeof aside, error);
        if (ok) printf("Old journal kept as %s\n", aside);
        exists = false;
    }
    if (ok && exists) {
        ok = journal_lock(&run->journal, plan->journal, error) &&
             journal_read(plan->journal, &theirs, &size, keep_pair, earlier, error);
        if (ok) {
            known = cJSON_DetachItemFromObjectCaseSensitive(theirs, "files");
            cJSON_DeleteItemFromObjectCaseSensitive(theirs, "pgn_offset"); // as older journals have it
            if (journal_difference(ours, theirs, text, sizeof text))
                ok =
                    error_set(error, "%s belongs to another match: %.200s (--fresh starts anew and keeps it)",
                              plan->journal, text);
        }
    }
    ok = ok && pgnout_open(&run->pgn, plan, known, begins, error);
    cJSON_Delete(known);
    if (ok && exists) {
        *done = replay_earlier(run, earlier, &over);
        if (over && run->hooks->keep_finished) {
            run->over = true;
        } else if (over) {
            ok = journal_set_aside(plan->journal, aside, sizeof aside, error);
            if (ok) printf("The journal was finished: kept as %s, a new match begins\n", aside);
            cJSON_Delete(theirs);
            cJSON_Delete(ours);
            cJSON_Delete(begins);
            for (uint64_t i = 0; i < earlier->count; i++)
                free(earlier->results[i].moves[0]), free(earlier->results[i].moves[1]);
            earlier->count = 0;
            clean_up(run);
            return ok && prepare(run, plan, run->hooks, error) && open_journal(run, earlier, done, error);
        }
        ok = run->over || journal_continue(&run->journal, size, error);
    } else if (ok) {
        *done = 0;
        cJSON_AddItemToObject(ours, "files", begins);
        begins = NULL;
        ok = journal_create(&run->journal, plan->journal, ours, error);
    }
    cJSON_Delete(theirs);
    cJSON_Delete(ours);
    cJSON_Delete(begins);
    return ok;
}

static bool has_clocks(const MatchPlan *plan) {
    for (int i = 0; i < plan->player_count; i++)
        if (plan->players[i].tc.clock || plan->players[i].tc.move_ms) return true;
    return false;
}

// Plays what the journal does not have yet.
static bool play_on(Run *run, const Earlier *earlier, uint64_t done, Error *error) {
    const MatchPlan *plan = run->plan;
    const MatchHooks *own = run->hooks;
    PoolSpec spec = {.concurrency = plan->concurrency,
                     .first = done,
                     .end = match_pairs(plan),
                     .result_size = sizeof(PairResult),
                     .step = own->step,
                     .window = own->window ? own->window : (uint64_t)(WINDOW * plan->concurrency)};
    PoolHooks hooks = {.play = play_pair,
                       .record = record_pair,
                       .consume = consume_pair,
                       .tick = tick,
                       .leave = leave,
                       .context = run};
    Pool *pool = pool_create(&spec, &hooks);
    if (!pool) return error_set(error, "not enough memory");
    for (uint64_t i = 0; i < earlier->count; i++)
        pool_preload(pool, earlier->results[i].pair.number, &earlier->results[i]);
    if (has_clocks(plan)) run->heartbeat = heartbeat_start();
    pool_run(pool, &run->stop, &run->interrupt);
    pool_free(pool);
    if (run->heartbeat) {
        run->state.stalls = heartbeat_count(run->heartbeat);
        run->state.longest_stall_ms = heartbeat_worst(run->heartbeat, 0, now_ns()) / 1000000;
        heartbeat_stop(run->heartbeat);
        run->heartbeat = NULL;
    }
    for (int w = 0; w < plan->concurrency; w++)
        for (int i = 0; i < LATENCY_BINS; i++) run->state.latency[i] += run->workers[w].latency[i];
    Error sync;
    if (!journal_sync(&run->journal, &sync) && !run->failed) fail(run, &sync);
    return true;
}

MatchOutcome match_run(const MatchPlan *plan, _Atomic uint64_t *in_flight, Error *error) {
    return match_play(plan, NULL, in_flight, NULL, error);
}

MatchOutcome match_play(const MatchPlan *plan, const MatchHooks *hooks, _Atomic uint64_t *in_flight,
                        MatchResult *result, Error *error) {
    static const MatchHooks None = {0};
    Run run;
    Earlier earlier = {0};
    uint64_t done = 0;
    MatchOutcome outcome = MATCH_FAILED;
    if (!hooks) hooks = &None;
    if (!prepare(&run, plan, hooks, error) || !preflight(plan, error) ||
        !open_journal(&run, &earlier, &done, error))
        goto end;
    run.in_flight = in_flight;
    if (!incidents_open(&run.incidents, plan->journal, error)) goto end;
    if (!hooks->silent) output_plan(&run.state, plan->seed, done > 0);
    if (!run.over && !hooks->only_replay && !play_on(&run, &earlier, done, error)) goto end;
    bool complete =
        run.over || run.state.pairs_done >= run.state.pairs_total || run.state.sprt.verdict != SPRT_CONTINUE;
    outcome = run.failed ? MATCH_FAILED : complete ? MATCH_FINISHED : MATCH_INTERRUPTED;
    if (!hooks->silent) {
        output_clear_live();
        output_end(&run.state, outcome);
    }
    if (result)
        *result = (MatchResult){.stats = run.state.table[1],
                                .sprt = run.state.sprt,
                                .pairs = run.state.pairs_done,
                                .aside = run.state.aside,
                                .incidents = run.state.incidents,
                                .duplicates = run.state.duplicates,
                                .games_now = run.state.games_now,
                                .seconds_now = (double)(now_ms() - run.state.begun_ms) / 1000};
    if (run.failed) *error = run.reason;
end:
    for (uint64_t i = 0; (run.over || hooks->only_replay) && i < earlier.count; i++)
        free(earlier.results[i].moves[0]), free(earlier.results[i].moves[1]);
    free(earlier.results);
    clean_up(&run);
    return outcome;
}
