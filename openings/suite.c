// SPDX-License-Identifier: GPL-3.0-or-later
#include "openings/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/movegen.h"

enum {
    STREAM_WALK = 0x77616c6b,
    BATCH = 512,        // walks between two looks at what came out
    QUICK_SHARE = 8,    // a first look with an eighth of the nodes ...
    QUICK_MARGIN = 150, // ... turns away what lies this far outside the window
    BARREN = 1000000,   // so many walks in a row without a position: the plan is hopeless
    MAX_THREADS = 256,
};

typedef enum WalkFate { WALK_KEPT, WALK_OVER, WALK_IN_CHECK, WALK_MATE_IN_ONE, WALK_OUTSIDE } WalkFate;

typedef struct Walk {
    Position pos;
    WalkFate fate;
    int score; // from White
} Walk;

// Walks first to first + BATCH - 1, shared by the workers.
typedef struct Batch {
    const SuitePlan *plan;
    uint64_t first;
    _Atomic int next;
    Walk walks[BATCH];
} Batch;

typedef struct Worker {
    Batch *batch;
    Engine *engine;
    pthread_t thread;
} Worker;

bool suite_walk(const SuitePlan *plan, uint64_t index, Position *pos) {
    uint64_t seed = random_at(plan->seed, STREAM_WALK, index);
    if (plan->dfrc)
        position_from_chess960(pos, (int)random_below(random_at(seed, 1, 0), 960),
                               (int)random_below(random_at(seed, 1, 1), 960));
    else position_from_fen(pos, START_FEN, NULL);
    int plies = plan->plies + (int)(index & 1);
    for (int ply = 0; ply < plies; ply++) {
        MoveList list;
        movegen_list(pos, &list);
        if (list.count == 0) return false;
        Position before = *pos;
        position_make(pos, &before,
                      list.moves[random_below(random_at(seed, 0, (uint64_t)ply), (uint64_t)list.count)]);
    }
    pos->rule50 = 0;
    pos->fullmove = 1;
    return movegen_any(pos) && !position_insufficient(pos);
}

bool suite_mate_in_one(const Position *pos) {
    MoveList list;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_make(&after, pos, list.moves[i]);
        if (after.checkers && !movegen_any(&after)) return true;
    }
    return false;
}

void suite_scores_add(SuiteScores *scores, int white_score) {
    int width = scores->width, middle = SUITE_BINS / 2;
    // Rounds to the nearest bin, halves away from 0, so that the spread of a mirrored suite is mirrored.
    int bin = white_score >= 0 ? (white_score + width / 2) / width : -((-white_score + width / 2) / width);
    scores->bins[int_clamp(middle + bin, 0, SUITE_BINS - 1)]++;
    scores->count++;
    scores->sum += white_score;
    scores->sum_squares += (double)white_score * white_score;
}

// The score from White after so many nodes.
static int look(Engine *engine, const Position *pos, int nodes) {
    SearchLimits limits = {.start_ns = now_ns(), .nodes = (uint64_t)int_max(1, nodes)};
    engine_set_position(engine, pos, NULL);
    SearchResult result = engine_search(engine, &limits, NULL);
    return pos->stm == WHITE ? result.score : -result.score;
}

// How far a score lies outside the window.
static int outside(const SuitePlan *plan, int white_score) {
    int score = plan->either ? abs(white_score) : white_score;
    return int_max(0, int_max(plan->low - score, score - plan->high));
}

static void take_walk(const SuitePlan *plan, Engine *engine, uint64_t index, Walk *walk) {
    *walk = (Walk){.fate = WALK_OVER};
    if (!suite_walk(plan, index, &walk->pos)) return;
    walk->fate = walk->pos.checkers ? WALK_IN_CHECK : WALK_MATE_IN_ONE;
    if (walk->pos.checkers || suite_mate_in_one(&walk->pos)) return;
    // Each walk begins with a fresh engine: what it saw before, and in which order, must not matter.
    engine_new_game(engine);
    walk->fate = WALK_OUTSIDE;
    int far = outside(plan, look(engine, &walk->pos, plan->nodes / QUICK_SHARE));
    if (far > QUICK_MARGIN) return;
    walk->score = look(engine, &walk->pos, plan->nodes);
    if (outside(plan, walk->score) == 0) walk->fate = WALK_KEPT;
}

static void *work(void *argument) {
    Worker *worker = argument;
    Batch *batch = worker->batch;
    for (int i; (i = atomic_fetch_add(&batch->next, 1)) < BATCH;)
        take_walk(batch->plan, worker->engine, batch->first + (uint64_t)i, &batch->walks[i]);
    return NULL;
}

// Takes all walks of a batch on the workers' threads; this one is the first of them.
static bool run_batch(Worker *workers, int count, Error *error) {
    int started = 1;
    bool ok = true;
    for (; ok && started < count; started++)
        ok = pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0;
    if (!ok) started--;
    work(&workers[0]);
    for (int i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
    return ok || error_set(error, "a thread cannot be started");
}

// Keys of the positions kept.
typedef struct KeySet {
    Key *slots;
    size_t mask;
} KeySet;

static bool keyset_add(KeySet *set, Key key) {
    size_t at = (size_t)mix64(key) & set->mask;
    for (; set->slots[at]; at = (at + 1) & set->mask)
        if (set->slots[at] == key) return false;
    set->slots[at] = key;
    return true;
}

// Hands over what a batch brought, in the order of the walks.
static bool consume(const SuitePlan *plan, const Batch *batch, KeySet *seen, SuiteKeep *keep, void *context,
                    SuiteReport *report) {
    for (int i = 0; i < BATCH && report->kept < (uint64_t)plan->count; i++) {
        const Walk *walk = &batch->walks[i];
        report->walks++;
        switch (walk->fate) {
        case WALK_OVER: report->over++; continue;
        case WALK_IN_CHECK: report->in_check++; continue;
        case WALK_MATE_IN_ONE: report->mate_in_one++; continue;
        case WALK_OUTSIDE: report->outside++; continue;
        case WALK_KEPT: break;
        }
        if (!keyset_add(seen, position_repetition_key(&walk->pos))) {
            report->transposed++;
            continue;
        }
        report->kept++;
        report->white_to_move += walk->pos.stm == WHITE;
        suite_scores_add(&report->scores, walk->score);
        if (!keep(context, &walk->pos, walk->score)) return false;
    }
    return true;
}

static bool make_all(const SuitePlan *plan, Batch *batch, Worker *workers, KeySet *seen, SuiteKeep *keep,
                     void *context, SuiteReport *report, Error *error) {
    uint64_t last_walks = 0, last_kept = 0;
    while (report->kept < (uint64_t)plan->count) {
        atomic_store(&batch->next, 0);
        if (!run_batch(workers, plan->threads, error)) return false;
        if (!consume(plan, batch, seen, keep, context, report))
            return error_set(error, "the suite cannot be written");
        batch->first += BATCH;
        if (report->kept > last_kept) {
            last_kept = report->kept;
            last_walks = report->walks;
        }
        if (report->walks - last_walks > BARREN)
            return error_set(error, "no position of %d in a row fits: %d to %d centipawns after %d plies",
                             BARREN, plan->low, plan->high, plan->plies);
    }
    return true;
}

bool suite_make(const SuitePlan *plan, SuiteKeep *keep, void *context, SuiteReport *report, Error *error) {
    static const int Widths[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    int choice = 0;
    while (choice < 8 && int_max(abs(plan->low), abs(plan->high)) / Widths[choice] > 15) choice++;
    *report = (SuiteReport){.scores = {.width = Widths[choice]}};
    if (plan->threads < 1 || plan->threads > MAX_THREADS)
        return error_set(error, "%d threads, expected 1 to %d", plan->threads, MAX_THREADS);
    size_t slots = 64;
    while (slots < 2 * (size_t)plan->count) slots *= 2;
    KeySet seen = {calloc(slots, sizeof(Key)), slots - 1};
    Batch *batch = calloc(1, sizeof *batch);
    Worker *workers = calloc((size_t)plan->threads, sizeof *workers);
    bool ok = seen.slots && batch && workers;
    for (int i = 0; ok && i < plan->threads; i++) {
        batch->plan = plan;
        workers[i].batch = batch;
        workers[i].engine = engine_create(1);
        ok = workers[i].engine != NULL;
    }
    if (ok) ok = make_all(plan, batch, workers, &seen, keep, context, report, error);
    else error_set(error, "not enough memory");
    for (int i = 0; workers && i < plan->threads; i++)
        if (workers[i].engine) engine_destroy(workers[i].engine);
    free(seen.slots);
    free(batch);
    free(workers);
    return ok;
}
