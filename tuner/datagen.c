// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/datagen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match/pool.h"

enum { STREAM_GAME = 0x67616d65, STREAM_START = 1, STREAM_MOVES = 2, STREAM_AUDIT = 3 };
enum { TRIES = 10000, WINDOW = 64, SYNC_GAMES = 16 * GAMEDATA_CHUNK_GAMES, PLAIN_SECONDS = 30 };

// --- one game

int datagen_judge(DatagenJudge *judge, int ply, int score) {
    int side = score >= DATAGEN_WIN_SCORE ? 1 : score <= -DATAGEN_WIN_SCORE ? -1 : 0;
    judge->win_plies = side * judge->win_plies > 0 ? judge->win_plies + side : side;
    bool level = ply >= DATAGEN_DRAW_FROM && abs(score) <= DATAGEN_DRAW_SCORE;
    judge->draw_plies = level ? judge->draw_plies + 1 : 0;
    if (abs(judge->win_plies) >= DATAGEN_WIN_PLIES) return judge->win_plies > 0 ? 2 : 0;
    return judge->draw_plies >= DATAGEN_DRAW_PLIES ? 1 : -1;
}

// A game in progress.
typedef struct Board {
    Position pos;
    KeyStack keys;  // of the positions before
    uint64_t nodes; // searched so far
} Board;

static void make_move(Board *board, Move move) {
    Position before = board->pos;
    keystack_push(&board->keys, &before);
    position_make(&board->pos, &before, move);
}

// Draws the opening of one try; false if the game is over before it begins.
static bool draw_opening(const DatagenPlan *plan, uint64_t number, uint64_t seed, uint64_t try, Board *board,
                         DataGame *game) {
    uint64_t start = random_at(seed, STREAM_START, try), moves = random_at(seed, STREAM_MOVES, try);
    if (random_below(random_at(start, 0, 0), 100) < (uint64_t)plan->dfrc)
        position_from_chess960(&game->start, (int)random_below(random_at(start, 0, 1), 960),
                               (int)random_below(random_at(start, 0, 2), 960));
    else position_from_fen(&game->start, START_FEN, NULL);
    board->pos = game->start;
    keystack_clear(&board->keys);
    game->ply_count = game->random_plies = plan->random_plies + (int)(number & 1);
    for (int ply = 0; ply < game->random_plies; ply++) {
        MoveList list;
        movegen_list(&board->pos, &list);
        if (list.count == 0) return false;
        uint64_t drawn = random_below(random_at(moves, 0, (uint64_t)ply), (uint64_t)list.count);
        game->moves[ply] = gamedata_move(&board->pos, (int)drawn);
        game->scores[ply] = 0;
        make_move(board, game->moves[ply]);
    }
    return position_ending(&board->pos, &board->keys) == ENDING_NONE;
}

// The score from White, as it will be stored, and the move to play.
static int think(const DatagenPlan *plan, Engine *engine, Board *board, Move *best) {
    SearchLimits limits = {.soft_nodes = (uint64_t)plan->nodes,
                           .nodes = (uint64_t)plan->nodes * (uint64_t)plan->hard};
    engine_set_position(engine, &board->pos, &board->keys);
    SearchResult result = engine_search(engine, &limits, NULL);
    *best = result.best;
    board->nodes += result.nodes;
    return gamedata_score(board->pos.stm == WHITE ? result.score : -result.score);
}

// Plays a game on from its opening, whose first move and score are known.
static bool play_on(const DatagenPlan *plan, Engine *engine, bool audit, const _Atomic bool *interrupt,
                    Board *board, DataGame *game, Move move, int score) {
    DatagenJudge judge = {0};
    for (;;) {
        int ply = game->ply_count++, verdict = datagen_judge(&judge, ply, score);
        game->moves[ply] = move;
        game->scores[ply] = (int16_t)score;
        make_move(board, move);
        Ending ending = position_ending(&board->pos, &board->keys);
        game->adjudicated = ending == ENDING_NONE;
        if (ending != ENDING_NONE) {
            game->result = ending != ENDING_CHECKMATE ? 1 : board->pos.stm == BLACK ? 2 : 0;
            return true;
        }
        game->result = audit || verdict < 0 ? 1 : verdict;
        if (game->ply_count >= DATAGEN_CAP || (verdict >= 0 && !audit)) return true;
        if (atomic_load_explicit(interrupt, memory_order_relaxed)) return false;
        score = think(plan, engine, board, &move);
    }
}

bool datagen_play(const DatagenPlan *plan, Engine *engine, uint64_t number, const _Atomic bool *interrupt,
                  DataGame *game, uint64_t *nodes) {
    uint64_t seed = random_at(plan->seed, STREAM_GAME, number);
    bool audit = random_below(random_at(seed, STREAM_AUDIT, 0), 100) < DATAGEN_AUDIT, finished = false;
    Board board = {0};
    engine_new_game(engine);
    for (uint64_t try = 0; try < TRIES && !atomic_load(interrupt); try++) {
        Move move;
        if (!draw_opening(plan, number, seed, try, &board, game)) continue;
        int score = think(plan, engine, &board, &move);
        if (abs(score) > DATAGEN_REJECT) continue;
        finished = play_on(plan, engine, audit, interrupt, &board, game, move, score);
        break;
    }
    *nodes = board.nodes;
    return finished;
}

// --- settings

Engine *datagen_engine(const DatagenPlan *plan, Error *error) {
    Engine *engine = engine_create(plan->hash);
    if (!engine) {
        error_set(error, "no memory for an engine with %d MB", plan->hash);
        return NULL;
    }
    for (int i = 0; i < plan->option_count; i++)
        if (!engine_set_option(engine, plan->options[i].name, plan->options[i].value, error)) {
            engine_destroy(engine);
            return NULL;
        }
    return engine;
}

// A digest of what the engine finds in a few positions: another engine, parameter or net shows in it.
static bool signature(const DatagenPlan *plan, uint64_t *digest, Error *error) {
    static const char *const Fens[] = {
        START_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r1bq1rk1/pp2bppp/2n2n2/2pp4/3P4/2N1PN2/PP2BPPP/R1BQ1RK1 b - - 0 9",
        "6k1/5pp1/4p2p/1p1pP3/1P1P2P1/r4P1K/2R4P/8 b - - 3 35",
        "2r3k1/1q3pp1/p2bpn1p/1p6/3P4/PQN1B2P/1P3PP1/3R2K1 w - - 0 24",
    };
    Engine *engine = datagen_engine(plan, error);
    if (!engine) return false;
    *digest = DIGEST_START;
    for (size_t i = 0; i < sizeof Fens / sizeof *Fens; i++) {
        Position pos;
        SearchLimits limits = {.depth = 8, .nodes = 100000};
        position_from_fen(&pos, Fens[i], NULL);
        engine_set_position(engine, &pos, NULL);
        SearchResult result = engine_search(engine, &limits, NULL);
        uint64_t found[3] = {result.nodes, (uint64_t)(int64_t)result.score, result.best};
        *digest = digest_of(*digest, found, sizeof found);
    }
    engine_destroy(engine);
    return true;
}

// One line of the settings.
static void add_line(char *text, size_t size, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void add_line(char *text, size_t size, size_t *used, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (*used < size) *used += (size_t)vsnprintf(text + *used, size - *used, format, list);
    va_end(list);
}

bool datagen_settings(const DatagenPlan *plan, char *text, size_t size, Error *error) {
    size_t used = 0;
    uint64_t net = 0, engine;
    for (int i = 0; i < plan->option_count; i++) {
        if (!text_equal(plan->options[i].name, "EvalFile")) continue;
        size_t length;
        char *bytes = file_read(plan->options[i].value, &length, error);
        if (!bytes) return error_prefix(error, "EvalFile");
        net = digest_of(DIGEST_START, bytes, length);
        free(bytes);
    }
    if (!signature(plan, &engine, error)) return false;
    add_line(text, size, &used, "seed %" PRIu64 "\nnodes %d\nhard %d\nhash %d\ndfrc %d\nrandom %d\n",
             plan->seed, plan->nodes, plan->hard, plan->hash, plan->dfrc, plan->random_plies);
    add_line(text, size, &used, "reject %d\nwin %d for %d\ndraw %d for %d from %d\ncap %d\naudit %d\n",
             DATAGEN_REJECT, DATAGEN_WIN_SCORE, DATAGEN_WIN_PLIES, DATAGEN_DRAW_SCORE, DATAGEN_DRAW_PLIES,
             DATAGEN_DRAW_FROM, DATAGEN_CAP, DATAGEN_AUDIT);
    for (int i = 0; i < plan->option_count; i++)
        if (!text_equal(plan->options[i].name, "EvalFile"))
            add_line(text, size, &used, "option %s=%s\n", plan->options[i].name, plan->options[i].value);
    if (net) add_line(text, size, &used, "net %016" PRIx64 "\n", net);
    else add_line(text, size, &used, "net default\n");
    add_line(text, size, &used, "engine %016" PRIx64 "\n", engine);
    return used < size || error_set(error, "the settings are too long");
}

// --- many games

// A run: its engines, its file and what it counts. Under the pool's lock, but for engines and interrupt.
typedef struct Run {
    const DatagenPlan *plan;
    Engine **engines;
    GameWriter *writer;
    DatagenReport *report;
    Stop *stop;
    _Atomic bool interrupt;
    bool time_up, live;
    int64_t start_ms, shown_ms;
    Error error;
} Run;

static uint64_t positions(const GameTally *tally) { return tally->plies - tally->random_plies; }

static bool reached(const Run *run) {
    const DatagenPlan *plan = run->plan;
    const GameTally *all = &run->report->all;
    return (plan->games && all->games >= plan->games) ||
           (plan->positions && positions(all) >= plan->positions);
}

// What a worker hands over.
typedef struct Played {
    DataGame game;
    uint64_t nodes;
} Played;

static bool pool_play(void *context, int worker, uint64_t number, void *result) {
    Run *run = context;
    Played *played = result;
    return datagen_play(run->plan, run->engines[worker], number, &run->interrupt, &played->game,
                        &played->nodes);
}

static void pool_record(void *context, uint64_t number, const void *result) {
    (void)context, (void)number, (void)result;
}

static bool pool_consume(void *context, uint64_t number, void *result) {
    Run *run = context;
    GameTally *all = &run->report->all;
    const DataGame *game = &((const Played *)result)->game;
    if (run->error.text[0]) return false;
    if (!gamewriter_add(run->writer, game, &run->error)) return false;
    if ((number + 1) % SYNC_GAMES == 0 && !gamewriter_flush(run->writer, &run->error)) return false;
    all->games++;
    all->plies += (uint64_t)game->ply_count;
    all->random_plies += (uint64_t)game->random_plies;
    all->results[game->result]++;
    run->report->nodes += ((const Played *)result)->nodes;
    return !reached(run);
}

// Time as people read it: 42 s, 12 min, 3.4 h.
static void duration_text(double seconds, char *buffer, size_t size) {
    if (seconds < 120) snprintf(buffer, size, "%.0f s", seconds);
    else if (seconds < 7200) snprintf(buffer, size, "%.0f min", seconds / 60);
    else snprintf(buffer, size, "%.1f h", seconds / 3600);
}

// How many seconds are left, by the goal that comes first; negative if nobody can say.
static double seconds_left(const Run *run, double seconds) {
    const DatagenPlan *plan = run->plan;
    const GameTally *all = &run->report->all, *before = &run->report->before;
    double left = -1, games = (double)(all->games - before->games);
    double found = (double)(positions(all) - positions(before));
    if (plan->games && games > 0) left = ((double)plan->games - (double)all->games) * seconds / games;
    if (plan->positions && found > 0) {
        double more = ((double)plan->positions - (double)positions(all)) * seconds / found;
        left = left < 0 || more < left ? more : left;
    }
    if (plan->minutes > 0) {
        double more = plan->minutes * 60 - seconds;
        left = left < 0 || more < left ? more : left;
    }
    return left;
}

// One line: games, positions, speed, what is left, length and results.
static void progress(const Run *run, const char *end) {
    const GameTally *all = &run->report->all, *before = &run->report->before;
    double seconds = (double)(now_ms() - run->start_ms) / 1000, games = (double)(all->games ? all->games : 1);
    double found = (double)(positions(all) - positions(before)), left = seconds_left(run, seconds);
    char eta[32] = "";
    if (left >= 0) duration_text(left, eta, sizeof eta);
    fprintf(stderr,
            "games %" PRIu64
            "  positions %.2f M  %.2f M/h  %s%s%s%.0f plies a game  White %.1f %% draw %.1f %% "
            "Black %.1f %%%s",
            all->games, (double)positions(all) / 1e6, seconds > 0 ? found / seconds * 3600 / 1e6 : 0,
            eta[0] ? "left " : "", eta, eta[0] ? "  " : "", (double)all->plies / games,
            100 * (double)all->results[2] / games, 100 * (double)all->results[1] / games,
            100 * (double)all->results[0] / games, end);
}

static void pool_tick(void *context) {
    Run *run = context;
    int64_t now = now_ms(), pause = run->live ? 1000 : PLAIN_SECONDS * 1000;
    if (run->plan->minutes > 0 && (double)(now - run->start_ms) >= run->plan->minutes * 60000 &&
        !run->time_up) {
        run->time_up = true; // what is in flight is finished and kept
        stop_request(run->stop, 1);
    }
    if (run->plan->quiet || now - run->shown_ms < pause) return;
    run->shown_ms = now;
    progress(run, run->live ? "\x1b[K\r" : "\n");
}

static void pool_leave(void *context, int worker) { (void)context, (void)worker; }

// Makes an engine for each worker.
static bool make_engines(Run *run, Error *error) {
    run->engines = calloc((size_t)run->plan->concurrency, sizeof *run->engines);
    if (!run->engines) return error_set(error, "not enough memory");
    for (int i = 0; i < run->plan->concurrency; i++)
        if (!(run->engines[i] = datagen_engine(run->plan, error))) return false;
    return true;
}

static bool play_all(Run *run, Error *error) {
    const PoolSpec spec = {.concurrency = run->plan->concurrency,
                           .first = run->report->all.games,
                           .end = run->plan->games ? run->plan->games : UINT64_MAX,
                           .window = WINDOW + 2 * (uint64_t)run->plan->concurrency,
                           .result_size = sizeof(Played)};
    const PoolHooks hooks = {.play = pool_play,
                             .record = pool_record,
                             .consume = pool_consume,
                             .tick = pool_tick,
                             .leave = pool_leave,
                             .context = run};
    Pool *pool = pool_create(&spec, &hooks);
    if (!pool) return error_set(error, "not enough memory");
    run->start_ms = run->shown_ms = now_ms();
    pool_run(pool, run->stop, &run->interrupt);
    pool_free(pool);
    run->report->seconds = (double)(now_ms() - run->start_ms) / 1000;
    if (!run->plan->quiet) progress(run, run->live ? "\x1b[K\n" : "\n");
    if (run->error.text[0]) {
        *error = run->error;
        return false;
    }
    return gamewriter_flush(run->writer, error);
}

bool datagen_run(const DatagenPlan *plan, Stop *stop, DatagenReport *report, Error *error) {
    char *settings = malloc(GAMEDATA_SETTINGS_MAX);
    Run run = {.plan = plan, .report = report, .stop = stop, .live = isatty(STDERR_FILENO) != 0};
    *report = (DatagenReport){0};
    bool ok = settings || error_set(error, "not enough memory");
    ok = ok && datagen_settings(plan, settings, GAMEDATA_SETTINGS_MAX, error);
    if (ok) ok = (run.writer = gamewriter_open(plan->out, settings, &report->before, error)) != NULL;
    report->all = report->before;
    if (ok && report->before.games > 0 && !plan->quiet)
        fprintf(stderr, "%s: going on after %" PRIu64 " games\n", plan->out, report->before.games);
    if (ok && report->before.torn > 0 && !plan->quiet)
        fprintf(stderr, "%s: cut off %" PRIu64 " bytes of an unfinished chunk\n", plan->out,
                report->before.torn);
    if (ok && !reached(&run)) ok = make_engines(&run, error) && play_all(&run, error);
    report->stopped = ok && !run.time_up && !reached(&run);
    for (int i = 0; run.engines && i < plan->concurrency; i++) engine_destroy(run.engines[i]);
    free(run.engines);
    gamewriter_close(run.writer);
    free(settings);
    return ok;
}
