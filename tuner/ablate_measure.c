// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of the ablation that need no match of their own. Times are those of the processor, not of the
// wall, so that other work on the machine shows as little as it can.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bench.h"
#include "engine/eval.h"
#include "engine/movegen.h"
#include "tuner/ablate.h"

enum { CLOCK_ROUNDS = 5 };

static Engine *engine_with(const Params *params, Error *error) {
    Engine *engine = engine_create(BENCH_HASH);
    if (!engine) error_set(error, "no memory for a table of %d MB", BENCH_HASH);
    else engine_set_params(engine, params);
    return engine;
}

// Ends a long search when the run is to stop.
typedef struct Watch {
    Engine *engine;
    Stop *stop;
    _Atomic bool over;
} Watch;

static void *watch_stop(void *context) {
    Watch *watch = context;
    while (!atomic_load(&watch->over)) {
        if (stop_poll(watch->stop)) engine_stop(watch->engine);
        usleep(20000);
    }
    return NULL;
}

// Searches every bench position; false if it was stopped. *capped (or NULL) counts those that the limit of
// nodes ended.
static bool search_all(Engine *engine, const SearchLimits *limits, Stop *stop, BenchSums *sums,
                       int64_t *depths, int *capped) {
    Watch watch = {.engine = engine, .stop = stop};
    pthread_t watcher;
    bool watched = pthread_create(&watcher, NULL, watch_stop, &watch) == 0;
    for (int i = 0; i < bench_count() && !stop_poll(stop); i++) {
        SearchResult result = bench_position(engine, i, limits, sums);
        *depths += result.depth;
        if (capped) *capped += limits->nodes && result.nodes >= limits->nodes;
    }
    atomic_store(&watch.over, true);
    if (watched) pthread_join(watcher, NULL);
    return !stop_poll(stop);
}

cJSON *measure_bench(const Params *params, int depth, uint64_t cap, Stop *stop, Error *error) {
    BenchSums *sums = calloc(1, sizeof *sums);
    Engine *engine = sums ? engine_with(params, error) : NULL;
    SearchLimits limits = {.depth = depth, .nodes = cap};
    int64_t depths = 0;
    int capped = 0;
    cJSON *json = NULL;
    if (engine && search_all(engine, &limits, stop, sums, &depths, &capped)) {
        json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "depth", depth);
        cJSON_AddNumberToObject(json, "nodes", (double)sums->nodes);
        cJSON_AddNumberToObject(json, "capped", capped);
        cJSON_AddNumberToObject(json, "us", (double)sums->us);
        cJSON_AddNumberToObject(json, "cut_nodes", (double)sums->run.cut_nodes);
        cJSON_AddNumberToObject(json, "cut_first", (double)sums->run.cut_first);
        cJSON_AddNumberToObject(json, "q_nodes", (double)sums->run.q_nodes);
        cJSON_AddNumberToObject(json, "branching", bench_branching(sums));
        cJSON *count = cJSON_AddObjectToObject(json, "count");
        for (int id = 0; id < PARAM_COUNT; id++)
            if (sums->run.count[id])
                cJSON_AddNumberToObject(count, ParamTable[id].name, (double)sums->run.count[id]);
    }
    engine_destroy(engine);
    free(sums);
    return json;
}

// An hour on the clock never ends a search to a fixed depth, but it is watched and weighed all the same. With
// and without take turns on each position, and the fastest of some rounds counts.
cJSON *measure_clock(int depth, Stop *stop, Error *error) {
    Params shipped = params_default();
    Engine *engine = engine_with(&shipped, error);
    double us[2] = {0, 0}, nodes[2] = {0, 0};
    bool ok = engine != NULL;
    for (int i = 0; ok && i < bench_count(); i++) {
        int64_t best[2] = {INT64_MAX, INT64_MAX};
        uint64_t found[2] = {0, 0};
        for (int round = 0; round < 2 * CLOCK_ROUNDS; round++) {
            int timed = round % 2;
            BenchSums sums = {0};
            SearchLimits limits = {.depth = depth, .has_clock = timed};
            limits.time[WHITE] = limits.time[BLACK] = 3600000;
            bench_position(engine, i, &limits, &sums);
            best[timed] = sums.us < best[timed] ? sums.us : best[timed];
            found[timed] = sums.nodes;
        }
        ok = !stop_poll(stop);
        for (int timed = 0; timed < 2 && found[0] == found[1];
             timed++) { // a single reply ends a timed search
            us[timed] += (double)best[timed];
            nodes[timed] += (double)found[timed];
        }
    }
    engine_destroy(engine);
    if (!ok) return NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "depth", depth);
    cJSON_AddNumberToObject(json, "plain_nps", 1e6 * nodes[0] / fmax(us[0], 1));
    cJSON_AddNumberToObject(json, "clock_nps", 1e6 * nodes[1] / fmax(us[1], 1));
    return json;
}

cJSON *measure_equal(int ms, Stop *stop, Error *error) {
    Params sides[2] = {params_default(), ablate_bare()};
    int64_t depths[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        Engine *engine = engine_with(&sides[i], error);
        BenchSums sums = {0};
        SearchLimits limits = {.movetime = ms};
        bool ok = engine && search_all(engine, &limits, stop, &sums, &depths[i], NULL);
        engine_destroy(engine);
        if (!ok) return NULL;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "ms", ms);
    cJSON_AddNumberToObject(json, "shipped_depth", (double)depths[0] / bench_count());
    cJSON_AddNumberToObject(json, "bare_depth", (double)depths[1] / bench_count());
    return json;
}

// --- the minimal tree

// Leaves of a search to a depth: without quiescence it visits each leaf once, and what deepening searched
// before is taken off again.
static uint64_t leaves_of(Engine *engine, int index, int depth, bool deepens) {
    uint64_t leaves[2] = {0, 0};
    for (int less = 0; less < (deepens && depth > 1 ? 2 : 1); less++) {
        BenchSums sums = {0};
        SearchLimits limits = {.depth = depth - less};
        bench_position(engine, index, &limits, &sums);
        leaves[less] = sums.run.q_nodes;
    }
    return leaves[0] - leaves[1];
}

static double minimal_tree(double b, int depth) {
    return pow(b, (depth + 1) / 2) + pow(b, depth / 2) -
           1; // NOLINT(bugprone-integer-division): halves of a depth
}

cJSON *measure_minimal(int depth, Stop *stop, Error *error) {
    static const char *const Names[] = {"unordered", "ordered", "table"};
    Params params[3];
    double leaves[3] = {0}, log_ratio[3] = {0}, log_b = 0, minimal = 0;
    int counted = 0;
    bool ok = true;
    for (int i = 0; i < 3; i++) params[i] = ablate_bare();
    for (int i = 1; i < 3; i++) { // all of the ordering as shipped; the table in the last one
        Params shipped = params_default();
        for (int id = 0; id < PARAM_COUNT; id++)
            if (strcmp(ParamTable[id].group, "ordering") == 0)
                params_put(&params[i], id, params_get(&shipped, id));
    }
    params[0].IterativeDeepening = params[0].MoveOrdering = 0;
    params[2].UseTT = 1;
    for (int i = 0; i < 3 && ok; i++) {
        params[i].Quiescence = 0;
        Engine *engine = engine_with(&params[i], error);
        ok = engine != NULL;
        for (int p = 0; ok && p < bench_count(); p++) {
            Position pos;
            position_from_fen(&pos, bench_fen(p), NULL);
            double b = pow((double)movegen_perft(&pos, depth), 1.0 / depth);
            uint64_t found = leaves_of(engine, p, depth, params[i].IterativeDeepening);
            ok = !stop_poll(stop);
            if (b <= 1 || found == 0) continue;
            leaves[i] += (double)found;
            log_ratio[i] += log((double)found / minimal_tree(b, depth));
            if (i > 0) continue;
            counted++;
            log_b += log(b);
            minimal += minimal_tree(b, depth);
        }
        engine_destroy(engine);
    }
    if (!ok || !counted) return NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "depth", depth);
    cJSON_AddNumberToObject(json, "b", exp(log_b / counted));
    cJSON_AddNumberToObject(json, "minimal", minimal);
    for (int i = 0; i < 3; i++) {
        cJSON *item = cJSON_AddObjectToObject(json, Names[i]);
        cJSON_AddNumberToObject(item, "leaves", leaves[i]);
        cJSON_AddNumberToObject(item, "ratio", exp(log_ratio[i] / counted));
    }
    return json;
}

// --- time by phase

// What the games of a journal add up to.
typedef struct PhaseSums {
    const MatchPlan *plan;
    OpeningSet openings;
    GameRecord record;
    double ms[3];
    uint64_t moves[3], games;
} PhaseSums;

// The opening lasts as long as its weight in the time management, the endgame begins half-way down from
// TimeEndgamePhase.
static int phase_of(const Params *p, const Position *pos) {
    if (eval_phase(pos) <= p->TimeEndgamePhase / 2) return 2;
    return pos->fullmove <= p->TimeOpeningMoves ? 0 : 1;
}

static bool add_games(void *context, const JournalPair *pair, Error *error) {
    PhaseSums *sums = context;
    Params p = params_default();
    Opening opening;
    if (!match_opening(sums->plan, sums->plan->openings[0] ? &sums->openings : NULL, pair->number, &opening,
                       error))
        return false;
    for (int g = 0; g < pair->games; g++) {
        if (!journal_record(&pair->game[g], &opening, &sums->record, error)) return false;
        Position pos = opening.position, after;
        sums->games++;
        for (int i = 0; i < sums->record.plies; i++, pos = after) {
            const GameMove *move = &sums->record.moves[i];
            int phase = phase_of(&p, &pos);
            sums->ms[phase] += (double)move->ns / 1e6;
            sums->moves[phase]++;
            position_make(&after, &pos, move->move);
        }
    }
    return true;
}

cJSON *measure_phase(const MatchPlan *plan, Error *error) {
    PhaseSums *sums = calloc(1, sizeof *sums);
    cJSON *header = NULL, *json = NULL;
    int64_t size;
    if (!sums) {
        error_set(error, "not enough memory");
        return NULL;
    }
    sums->plan = plan;
    bool ok = !plan->openings[0] || opening_set_load(&sums->openings, plan->openings, plan->plies, error);
    ok = ok && journal_read(plan->journal, &header, &size, add_games, sums, error);
    if (ok) {
        json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "games", (double)sums->games);
        cJSON *ms = cJSON_AddArrayToObject(json, "ms"), *moves = cJSON_AddArrayToObject(json, "moves");
        for (int i = 0; i < 3; i++) {
            cJSON_AddItemToArray(ms, cJSON_CreateNumber(round(sums->ms[i])));
            cJSON_AddItemToArray(moves, cJSON_CreateNumber((double)sums->moves[i]));
        }
    }
    cJSON_Delete(header);
    opening_set_free(&sums->openings);
    free(sums);
    return json;
}
