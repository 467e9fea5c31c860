// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bench.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "engine/uci.h"

static const char *const Fens[] = {
#include "engine/bench.def"
};

enum { FENS = sizeof Fens / sizeof *Fens };

int bench_count(void) { return FENS; }

const char *bench_fen(int index) { return Fens[index]; }

bool bench_read(const char *text, BenchOptions *options, Error *error) {
    *options = (BenchOptions){.depth = BENCH_DEPTH, .threads = 1, .hash = BENCH_HASH};
    char word[128], number[32];
    while (text_word(&text, word, sizeof word)) {
        bool threads = strcmp(word, "--threads") == 0, hash = strcmp(word, "--hash") == 0;
        int64_t value;
        size_t used = strlen(options->settings);
        if (strcmp(word, "--stats") == 0) {
            options->stats = true;
        } else if (threads || hash) {
            text_word(&text, number, sizeof number);
            if (!parse_int(number, 1, 1 << 20, &value, error)) return error_prefix(error, "%s", word);
            *(threads ? &options->threads : &options->hash) = (int)value;
        } else if (strchr(word, '=')) {
            if (used + strlen(word) + 2 > sizeof options->settings)
                return error_set(error, "too many settings at '%s'", word);
            snprintf(options->settings + used, sizeof options->settings - used, "%s ", word);
        } else {
            if (!parse_int(word, 1, BENCH_MAX_DEPTH, &value, error)) return error_prefix(error, "depth");
            options->depth = (int)value;
        }
    }
    return true;
}

Engine *bench_engine(const BenchOptions *options, Error *error) {
    Engine *engine = engine_create(options->hash);
    if (!engine) {
        error_set(error, "no memory for a table of %d MB", options->hash);
        return NULL;
    }
    char number[16], word[128];
    snprintf(number, sizeof number, "%d", options->threads);
    bool set = options->threads == 1 || engine_set_option(engine, "Threads", number, error);
    for (const char *rest = options->settings; set && text_word(&rest, word, sizeof word);) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        set =
            engine_set_option(engine, word, equals + 1, error) && !error->text[0]; // a remark is a fault here
    }
    if (set) return engine;
    engine_destroy(engine);
    return NULL;
}

// --- statistics -----------------------------------------------------------------------------------

// Nodes at the end of each depth of one search.
typedef struct DepthNodes {
    uint64_t nodes[MAX_PLY + 1];
} DepthNodes;

static void note_depth(void *context, const SearchInfo *info) {
    DepthNodes *depths = context;
    if (info->bound == BOUND_EXACT && info->depth <= MAX_PLY) depths->nodes[info->depth] = info->nodes;
}

static void sums_add(BenchSums *sums, const Engine *engine, const DepthNodes *depths,
                     const SearchResult *result) {
    SearchRun run = engine_counters(engine);
    for (int id = 0; id < PARAM_COUNT; id++) sums->run.count[id] += run.count[id];
    sums->run.cut_nodes += run.cut_nodes;
    sums->run.cut_first += run.cut_first;
    sums->run.q_nodes += run.q_nodes;
    sums->nodes += result->nodes;
    // How many times the nodes grow from one depth to the next, over the deeper half of the search.
    int last = result->depth, half = last / 2;
    if (last > half && half > 0 && depths->nodes[half] > 0 && depths->nodes[last] > depths->nodes[half]) {
        sums->log_branching += log((double)depths->nodes[last] / (double)depths->nodes[half]) / (last - half);
        sums->branched++;
    }
}

double bench_branching(const BenchSums *sums) {
    return sums->branched ? exp(sums->log_branching / sums->branched) : 0;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void sums_print(FILE *out, const BenchSums *sums) {
    fprintf(out, "\n%-24s %14s %12s\n", "technique", "acted", "per 1000");
    for (int id = 0; id < PARAM_COUNT; id++)
        if (ParamTable[id].kind == KIND_SWITCH)
            fprintf(out, "%-24s %14llu %12.2f\n", ParamTable[id].name,
                    (unsigned long long)sums->run.count[id], percent(sums->run.count[id], sums->nodes) * 10);
    fprintf(out, "\nfirst-move cutoffs  %6.2f %% of %llu\n",
            percent(sums->run.cut_first, sums->run.cut_nodes), (unsigned long long)sums->run.cut_nodes);
    fprintf(out, "branching factor    %6.2f\n", bench_branching(sums));
    fprintf(out, "quiescence share    %6.2f %%\n\n", percent(sums->run.q_nodes, sums->nodes));
}

static int64_t cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

SearchResult bench_position(Engine *engine, int index, const SearchLimits *limits, BenchSums *sums) {
    Position pos;
    DepthNodes depths = {0};
    Observer observer = {.info = note_depth, .context = &depths};
    position_from_fen(&pos, Fens[index], NULL);
    engine_new_game(engine);
    engine_set_position(engine, &pos, NULL);
    int64_t start = cpu_us();
    SearchResult result = engine_search(engine, limits, &observer);
    sums->us += cpu_us() - start;
    sums_add(sums, engine, &depths, &result);
    return result;
}

// --- the bench ------------------------------------------------------------------------------------

BenchTotal bench_run(FILE *out, Engine *engine, const BenchOptions *options, const _Atomic bool *stop) {
    BenchSums sums = {0};
    engine_new_game(engine); // what the first game builds is not timed
    int64_t start = now_ns();
    for (int i = 0; i < FENS; i++) {
        Position pos;
        Error error = {""};
        if (!position_from_fen(&pos, Fens[i], &error)) {
            fprintf(out, "info string bench position %d: %s\n", i + 1, error.text);
            return (BenchTotal){0};
        }
        DepthNodes depths = {0};
        SearchLimits limits = {.depth = options->depth};
        Observer observer = {.info = note_depth, .context = &depths};
        engine_new_game(engine);
        engine_set_position(engine, &pos, NULL);
        // A stop before engine_start is seen in the flag, one after it by the search.
        engine_start(engine, &limits, &observer);
        if (atomic_load(stop)) engine_stop(engine);
        SearchResult result = engine_wait(engine);
        if (atomic_load(stop)) return (BenchTotal){0};
        char move[UCI_SIZE], score[32];
        notation_to_uci(&pos, result.best, move);
        uci_score(result.score, score);
        fprintf(out, "%2d/%d %12llu nodes  %-6s %-10s %s\n", i + 1, FENS, (unsigned long long)result.nodes,
                move, score, Fens[i]);
        fflush(out);
        sums_add(&sums, engine, &depths, &result);
    }
    int64_t ms = (now_ns() - start) / 1000000;
    if (options->stats) sums_print(out, &sums);
    return (BenchTotal){.nodes = sums.nodes, .ms = ms};
}

void bench_print_total(FILE *out, BenchTotal total) {
    uint64_t nps = total.nodes * 1000 / (uint64_t)(total.ms > 0 ? total.ms : 1);
    fprintf(out, "%llu nodes %llu nps\n", (unsigned long long)total.nodes, (unsigned long long)nps);
    fflush(out);
}

// --- perft ----------------------------------------------------------------------------------------

// Counts like movegen_perft, but looks at the flag often enough to stop within moments.
static uint64_t perft_until(const Position *pos, int depth, const _Atomic bool *stop) {
    enum { SHORT = 4 };
    if (depth <= SHORT) return movegen_perft(pos, depth);
    MoveList list;
    Position after;
    uint64_t nodes = 0;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count && !atomic_load_explicit(stop, memory_order_relaxed); i++) {
        position_make(&after, pos, list.moves[i]);
        nodes += perft_until(&after, depth - 1, stop);
    }
    return nodes;
}

uint64_t bench_perft(FILE *out, const Position *pos, int depth, const _Atomic bool *stop) {
    MoveList list;
    uint64_t nodes = 0;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++) {
        Position after;
        char move[UCI_SIZE];
        position_make(&after, pos, list.moves[i]);
        uint64_t part = depth > 1 ? perft_until(&after, depth - 1, stop) : 1;
        if (atomic_load(stop)) return 0;
        notation_to_uci(pos, list.moves[i], move);
        fprintf(out, "%s: %llu\n", move, (unsigned long long)part);
        fflush(out);
        nodes += part;
    }
    return nodes;
}
