// SPDX-License-Identifier: GPL-3.0-or-later
// An engine: its options, its table, its threads and the life of a search on them. Helper threads are parked
// on a condition variable; the main thread of a search is the caller's (engine_search) or one of the engine's
// own (engine_start), created when it is first needed.
#include "engine/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book.h"
#include "engine/cycle.h"
#include "engine/mcts.h"
#include "engine/mctstree.h"

#ifndef HONE_TUNE
#define HONE_TUNE 1
#endif

enum { MAX_THREADS = 256, MAX_HASH = 1 << 20 };

// One parked pthread and the search thread that it runs.
typedef struct Worker {
    Engine *engine;
    int index;
    pthread_t thread;
} Worker;

struct Engine {
    Search search;
    EngineConfig config;
    Book book; // of BookFile; zero if there is none
    const Net *net; // of EvalFile, else the builtin one; NULL if there is none
    SearchThread *threads[MAX_THREADS];
    Worker helpers[MAX_THREADS]; // [0] unused: thread 0 is the caller or the main worker
    Worker main;
    bool has_main;
    bool busy; // engine_start without engine_wait; owner only
    SearchResult result;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under lock:
    bool quit, main_go, main_done;
    int helper_round, helpers_running; // a new round sends the helpers off
};

// --- options

static bool set_hash(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text;
    if (value == e->config.hash) return true;
    if (!tt_resize(&e->search.tt, (int)value))
        return error_set(error, "Hash: no memory for %d MB, still %d MB", (int)value, e->config.hash);
    e->config.hash = (int)value;
    return true;
}

static bool set_threads(Engine *engine, int64_t value, const char *text, Error *error);

static bool set_multipv(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.multipv = (int)value;
    return true;
}

static bool set_overhead(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.overhead = (int)value;
    return true;
}

static bool set_chess960(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.chess960 = value != 0;
    return true;
}

static bool set_show_wdl(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.show_wdl = value != 0;
    return true;
}

static bool set_builtin_tables(Engine *e, int64_t value, const char *text, Error *error) {
    (void)value;
    if (strcmp(text, "0") && strcmp(text, "3") && strcmp(text, "4"))
        return error_set(error, "BuiltinTables: '%.40s' is not one of 0, 3, 4", text);
    e->config.tables.builtin = text[0] - '0';
    return true;
}

// A path that cannot be opened is a remark: the engine plays on without.
static bool set_syzygy_path(Engine *e, int64_t value, const char *text, Error *error) {
    (void)value;
    bool named = *text && strcmp(text, "<empty>");
    e->config.tables.syzygy = named && tablebase_open(text, error);
    if (named && !e->config.tables.syzygy) error_prefix(error, "SyzygyPath");
    return true;
}

static bool set_syzygy_depth(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.tables.probe.depth = (int)value;
    return true;
}

static bool set_syzygy_limit(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.tables.probe.men = (int)value;
    return true;
}

static bool set_syzygy_rule50(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.tables.probe.rule50 = value != 0;
    return true;
}

static bool set_own_book(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.own_book = value != 0;
    return true;
}

// What cannot be a book is refused, and the old one stays.
static bool set_book_file(Engine *e, int64_t value, const char *text, Error *error) {
    (void)value;
    Book book = {0};
    if (*text && strcmp(text, "<empty>") && !book_open(&book, text, error))
        return error_prefix(error, "BookFile");
    book_close(&e->book);
    e->book = book;
    return true;
}

// What cannot be a net is refused, and the old one stays. The table holds scores of the old one: out with them.
static bool set_eval_file(Engine *e, int64_t value, const char *text, Error *error) {
    (void)value;
    const Net *net = NULL;
    bool named = *text && strcmp(text, "<empty>");
    if (named && !(net = net_load(text, error))) return error_prefix(error, "EvalFile");
    engine_set_net(e, named ? net : net_builtin());
    if (named) net_release(net);
    return true;
}

static bool set_book_depth(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.book_depth = (int)value;
    return true;
}

static bool set_book_best(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.book_best = value != 0;
    return true;
}

static bool set_book_seed(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text, (void)error;
    e->config.book_seed = (uint64_t)value;
    return true;
}

// Ponder only tells that the GUI may: nothing to do.
static bool set_nothing(Engine *e, int64_t value, const char *text, Error *error) {
    (void)e, (void)value, (void)text, (void)error;
    return true;
}

static bool press_clear_hash(Engine *e, int64_t value, const char *text, Error *error) {
    (void)value, (void)text, (void)error;
    tt_clear(&e->search.tt, e->config.threads);
    return true;
}

// The options that are not in params.def: declared here, with what setting them does.
static const struct OwnOption {
    OptionInfo info;
    bool (*set)(Engine *engine, int64_t value, const char *text, Error *error);
} OwnOptions[] = {
    {{"Hash", OPTION_SPIN, 16, 1, MAX_HASH, NULL}, set_hash},
    {{"Threads", OPTION_SPIN, 1, 1, MAX_THREADS, NULL}, set_threads},
    {{"MultiPV", OPTION_SPIN, 1, 1, MAX_MOVES, NULL}, set_multipv},
    {{"Ponder", OPTION_CHECK, 0, 0, 1, NULL}, set_nothing},
    {{"Move Overhead", OPTION_SPIN, 20, 0, 10000, NULL}, set_overhead},
    {{"UCI_Chess960", OPTION_CHECK, 0, 0, 1, NULL}, set_chess960},
    {{"UCI_ShowWDL", OPTION_CHECK, 0, 0, 1, NULL}, set_show_wdl},
    {{"BuiltinTables", OPTION_COMBO, 1, 0, 2, "0 3 4"}, set_builtin_tables},
    {{"SyzygyPath", OPTION_STRING, 0, 0, 0, "<empty>"}, set_syzygy_path},
    {{"SyzygyProbeDepth", OPTION_SPIN, 1, 1, 100, NULL}, set_syzygy_depth},
    {{"SyzygyProbeLimit", OPTION_SPIN, 7, 0, 7, NULL}, set_syzygy_limit},
    {{"Syzygy50MoveRule", OPTION_CHECK, 1, 0, 1, NULL}, set_syzygy_rule50},
    {{"EvalFile", OPTION_STRING, 0, 0, 0, "<empty>"}, set_eval_file},
    {{"OwnBook", OPTION_CHECK, 0, 0, 1, NULL}, set_own_book},
    {{"BookFile", OPTION_STRING, 0, 0, 0, "<empty>"}, set_book_file},
    {{"BookDepth", OPTION_SPIN, 255, 1, 1000, NULL}, set_book_depth},
    {{"BookBestMove", OPTION_CHECK, 0, 0, 1, NULL}, set_book_best},
    {{"BookSeed", OPTION_SPIN, 0, 0, INT32_MAX, NULL}, set_book_seed},
    {{"Clear Hash", OPTION_BUTTON, 0, 0, 0, NULL}, press_clear_hash},
};

enum { OWN_OPTIONS = sizeof OwnOptions / sizeof *OwnOptions };

int engine_option_count(void) { return OWN_OPTIONS + (HONE_TUNE ? PARAM_COUNT : 0); }

OptionInfo engine_option(int index) {
    if (index < OWN_OPTIONS) return OwnOptions[index].info;
    const ParamInfo *p = &ParamTable[index - OWN_OPTIONS];
    OptionKind kind = p->kind == KIND_SWITCH   ? OPTION_CHECK
                      : p->kind == KIND_NUMBER ? OPTION_SPIN
                                               : OPTION_COMBO;
    return (OptionInfo){p->name, kind, p->value, p->min, p->max, p->values};
}

static bool set_own(Engine *e, const struct OwnOption *option, const char *text, Error *error) {
    int64_t value = 0;
    const OptionInfo *info = &option->info;
    if (info->kind == OPTION_CHECK) {
        if (text_equal(text, "true")) value = 1;
        else if (!text_equal(text, "false"))
            return error_set(error, "%s: '%.40s' is neither true nor false", info->name, text);
    } else if (info->kind == OPTION_SPIN && !parse_int(text, info->min, info->max, &value, error)) {
        return error_prefix(error, "%s", info->name);
    }
    return option->set(e, value, text, error);
}

static void settle(Engine *engine) {
    if (engine->busy) {
        engine_stop(engine);
        engine_wait(engine);
    }
}

bool engine_set_option(Engine *engine, const char *name, const char *value, Error *error) {
    settle(engine);
    if (error) error->text[0] = '\0';
    for (int i = 0; i < OWN_OPTIONS; i++)
        if (text_equal(OwnOptions[i].info.name, name))
            return set_own(engine, &OwnOptions[i], value ? value : "", error);
    int id = HONE_TUNE ? params_find(name) : -1;
    if (id < 0) return error_set(error, "there is no option '%.80s'", name);
    return params_parse(&engine->search.params, id, value ? value : "", error);
}

const EngineConfig *engine_config(const Engine *engine) { return &engine->config; }

const Params *engine_params(const Engine *engine) { return &engine->search.params; }

void engine_set_params(Engine *engine, const Params *params) {
    settle(engine);
    engine->search.params = *params;
}

const Net *engine_net(const Engine *engine) { return engine->net; }

void engine_set_net(Engine *engine, const Net *net) {
    settle(engine);
    bool same = net == engine->net || (net && engine->net && net->digest == engine->net->digest);
    net_retain(net);
    net_release(engine->net);
    engine->net = net;
    if (!same) tt_clear(&engine->search.tt, engine->config.threads);
}

// --- threads

static SearchThread *thread_new(Engine *engine, int index) {
    SearchThread *thread = aligned_alloc(64, (sizeof *thread + 63) & ~(size_t)63);
    if (!thread) return NULL;
    memset(thread, 0, sizeof *thread);
    thread->index = index;
    thread->shared = &engine->search;
    return thread;
}

// Runs one thread's part of a search, in the way that SearchMode asks for.
static void run_thread(SearchThread *thread) {
    if (thread->shared->tree) mcts_run(thread);
    else search_run(thread);
}

// A helper sleeps until a new round begins, runs its part of the search, and says when it is done.
static void *helper_main(void *argument) {
    Worker *worker = argument;
    Engine *e = worker->engine;
    pthread_mutex_lock(&e->lock);
    int seen = e->helper_round;
    e->helpers_running--; // the creator waits for this
    pthread_cond_broadcast(&e->changed);
    for (;;) {
        while (e->helper_round == seen && !e->quit) pthread_cond_wait(&e->changed, &e->lock);
        if (e->quit) break;
        seen = e->helper_round;
        pthread_mutex_unlock(&e->lock);
        run_thread(e->threads[worker->index]);
        pthread_mutex_lock(&e->lock);
        e->helpers_running--;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void wait_for_helpers(Engine *e) {
    pthread_mutex_lock(&e->lock);
    while (e->helpers_running > 0) pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static void helpers_end(Engine *e) {
    pthread_mutex_lock(&e->lock);
    e->quit = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    for (int i = 1; i < e->search.thread_count; i++) pthread_join(e->helpers[i].thread, NULL);
    if (e->has_main) pthread_join(e->main.thread, NULL);
    e->has_main = e->quit = false;
    for (int i = 1; i < e->search.thread_count; i++) free(e->threads[i]);
    e->search.thread_count = 1;
}

static bool set_threads(Engine *e, int64_t value, const char *text, Error *error) {
    (void)text;
    int wanted = (int)value;
    helpers_end(e);
    for (int i = 1; i < wanted; i++) {
        e->threads[i] = thread_new(e, i);
        e->helpers[i] = (Worker){.engine = e, .index = i};
        e->helpers_running = 1;
        if (!e->threads[i] || pthread_create(&e->helpers[i].thread, NULL, helper_main, &e->helpers[i]) != 0) {
            free(e->threads[i]);
            e->helpers_running = 0;
            e->config.threads = i;
            return error_set(error, "Threads: only %d of %d could be started", i, wanted);
        }
        wait_for_helpers(e);
        e->search.thread_count = i + 1;
    }
    e->config.threads = wanted;
    return true;
}

// --- life

Engine *engine_create(int hash_megabytes) {
    bitboard_init();
    cycle_init();
    Engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->threads[0] = thread_new(e, 0);
    if (!e->threads[0] || !tt_resize(&e->search.tt, hash_megabytes)) {
        free(e->threads[0]);
        free(e);
        return NULL;
    }
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    e->search.params = params_default();
    e->net = net_retain(net_builtin());
    e->search.threads = e->threads;
    e->search.thread_count = 1;
    e->config =
        (EngineConfig){.hash = hash_megabytes, .threads = 1, .multipv = 1, .overhead = 20, .book_depth = 255};
    e->config.tables = tables_default();
    position_from_fen(&e->search.root, START_FEN, NULL);
    return e;
}

void engine_destroy(Engine *e) {
    if (!e) return;
    settle(e);
    helpers_end(e);
    tt_free(&e->search.tt);
    mctstree_destroy(e->search.tree);
    book_close(&e->book);
    net_release(e->net);
    free(e->threads[0]);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->changed);
    free(e);
}

void engine_new_game(Engine *e) {
    settle(e);
    tables_open(&e->config.tables); // now, so that no clock pays for it
    tt_clear(&e->search.tt, e->config.threads);
    for (int i = 0; i < e->search.thread_count; i++) {
        memset(&e->threads[i]->hist, 0, sizeof e->threads[i]->hist);
        memset(&e->threads[i]->pawns, 0, sizeof e->threads[i]->pawns);
    }
}

void engine_set_position(Engine *e, const Position *pos, const KeyStack *history) {
    settle(e);
    e->search.root = *pos;
    if (history) e->search.history = *history;
    else keystack_clear(&e->search.history);
    tables_build(&e->config.tables, pos); // here and not on the clock
}

const Position *engine_position(const Engine *e) { return &e->search.root; }

// --- one search

// Sets memory for the tree aside when SearchMode wants one, as much as Hash says, and gives it back when not.
static void fit_tree(Engine *e) {
    Search *s = &e->search;
    int wanted = s->params.SearchMode == SEARCH_MCTS ? e->config.hash : 0;
    if (mctstree_megabytes(s->tree) == wanted) return;
    mctstree_destroy(s->tree);
    s->tree = wanted ? mctstree_create(wanted) : NULL;
}

static void begin(Engine *e, const SearchLimits *limits, const Observer *observer) {
    Search *s = &e->search;
    s->limits = *limits;
    s->limits.overhead = e->config.overhead;
    if (s->limits.start_ns == 0) s->limits.start_ns = now_ns();
    s->observer = observer ? *observer : (Observer){0};
    s->multipv = e->config.multipv;
    s->net = s->params.Evaluation == EVALUATION_NET ? e->net : NULL;
    s->time = timeman_make(&s->limits, &s->params, &s->root);
    atomic_store(&s->stop, false);
    atomic_store(&s->pondering, limits->ponder);
    tt_new_search(&s->tt);
    tables_prepare(&s->tables, &e->config.tables, &s->root, &s->history);
    for (int i = 0; i < s->thread_count; i++) search_prepare(s->threads[i]);
    fit_tree(e);
    if (s->tree) mcts_prepare(s);
}

// The book's move if it may answer: a game is played, not a question asked, and the game is young enough.
static Move book_move(const Engine *e) {
    const SearchLimits *limits = &e->search.limits;
    bool playing = !limits->infinite && !limits->ponder && limits->mate == 0 &&
                   limits->searchmoves.count == 0 && e->config.multipv == 1;
    if (!e->config.own_book || !playing || e->search.root.fullmove > e->config.book_depth) return MOVE_NONE;
    return book_pick(&e->book, &e->search.root, e->config.book_best, e->config.book_seed);
}

// Thread 0's part: ask the book, send the helpers off, search, wait where the protocol wants it, gather.
static SearchResult conduct(Engine *e) {
    Search *s = &e->search;
    Move known = book_move(e);
    if (known != MOVE_NONE) return (SearchResult){.best = known, .pv = {.count = 1, .moves = {known}}};
    if (s->thread_count > 1) {
        pthread_mutex_lock(&e->lock);
        e->helpers_running = s->thread_count - 1;
        e->helper_round++;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
    }
    run_thread(s->threads[0]);
    if (s->limits.infinite || s->limits.ponder) {
        pthread_mutex_lock(&e->lock);
        while ((s->limits.infinite || atomic_load(&s->pondering)) && !atomic_load(&s->stop))
            pthread_cond_wait(&e->changed, &e->lock);
        pthread_mutex_unlock(&e->lock);
    }
    atomic_store(&s->stop, true);
    if (s->thread_count > 1) wait_for_helpers(e);
    return search_result(s);
}

// The engine's own main thread, for engine_start.
static void *main_main(void *argument) {
    Engine *e = ((Worker *)argument)->engine;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        while (!e->main_go && !e->quit) pthread_cond_wait(&e->changed, &e->lock);
        if (e->quit) break;
        e->main_go = false;
        pthread_mutex_unlock(&e->lock);
        SearchResult result = conduct(e);
        pthread_mutex_lock(&e->lock);
        e->result = result;
        e->main_done = true;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

void engine_start(Engine *e, const SearchLimits *limits, const Observer *observer) {
    settle(e);
    begin(e, limits, observer);
    e->busy = true;
    if (!e->has_main) {
        e->main = (Worker){.engine = e};
        e->has_main = pthread_create(&e->main.thread, NULL, main_main, &e->main) == 0;
    }
    if (!e->has_main) { // no thread to be had: search here and now
        e->result = conduct(e);
        e->main_done = true;
        return;
    }
    pthread_mutex_lock(&e->lock);
    e->main_done = false;
    e->main_go = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

SearchResult engine_wait(Engine *e) {
    pthread_mutex_lock(&e->lock);
    while (!e->main_done) pthread_cond_wait(&e->changed, &e->lock);
    e->busy = false;
    SearchResult result = e->result;
    pthread_mutex_unlock(&e->lock);
    return result;
}

SearchResult engine_search(Engine *e, const SearchLimits *limits, const Observer *observer) {
    settle(e);
    begin(e, limits, observer);
    return conduct(e);
}

void engine_stop(Engine *e) {
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->search.stop, true);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void engine_ponderhit(Engine *e) {
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->search.pondering, false);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

SearchRun engine_counters(const Engine *e) {
    SearchRun sum = e->search.threads[0]->run;
    for (int i = 1; i < e->search.thread_count; i++) {
        const SearchRun *run = &e->search.threads[i]->run;
        for (int id = 0; id < PARAM_COUNT; id++) sum.count[id] += run->count[id];
        sum.nodes += run->nodes;
        sum.tbhits += run->tbhits;
        sum.q_nodes += run->q_nodes;
        sum.cut_nodes += run->cut_nodes;
        sum.cut_first += run->cut_first;
        for (int band = 0; band < 3; band++)
            for (int bucket = 0; bucket < 6; bucket++) {
                sum.prob_tried[band][bucket] += run->prob_tried[band][bucket];
                sum.prob_good[band][bucket] += run->prob_good[band][bucket];
            }
    }
    return sum;
}

void engine_explain(const Engine *e, char *buffer, size_t size) {
    const Position *pos = &e->search.root;
    bool wanted = e->search.params.Evaluation == EVALUATION_NET;
    int used = 0;
    if (e->net) {
        nnue_trace(e->net, pos, buffer, size);
        used = (int)strlen(buffer);
        int value = nnue_value(e->net, pos), white = pos->stm == WHITE ? value : -value;
        used += snprintf(buffer + used, size - (size_t)used,
                         "Net evaluation %+.2f for White, %+.2f for the side to move%s\n\n", white / 100.0,
                         value / 100.0, wanted ? "" : " (not used: Evaluation is hand)");
    } else if (wanted) {
        used = snprintf(buffer, size, "No net is built in or given by EvalFile: the hand-written evaluation is used\n\n");
    }
    used = int_min(used, (int)size - 1);
    eval_trace(pos, buffer + used, size - (size_t)used);
}
