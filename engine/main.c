// SPDX-License-Identifier: GPL-3.0-or-later
// The program `hone`: UCI without arguments, else one of the commands in the table below.
#include <stdlib.h>
#include <string.h>

#include "engine/bench.h"
#include "engine/diag.h"
#include "engine/solve.h"
#include "engine/uci.h"

// Joins arguments with blanks into a fresh string.
static char *join(int count, char **words) {
    size_t size = 1;
    for (int i = 0; i < count; i++) size += strlen(words[i]) + 1;
    char *text = calloc(1, size);
    if (!text) die(1, "hone: not enough memory");
    for (int i = 0; i < count; i++) {
        strcat(text, words[i]);
        if (i + 1 < count) strcat(text, " ");
    }
    return text;
}

static Engine *create(int hash) {
    Engine *engine = engine_create(hash);
    if (!engine) die(1, "hone: not enough memory");
    return engine;
}

static int run_uci(void) {
    Error error;
    Engine *engine = create(BENCH_HASH);
    if (!uci_run(engine, stdin, stdout, &error)) die(1, "hone: %s", error.text);
    engine_destroy(engine);
    return 0;
}

static int run_bench(int argc, char **argv) {
    BenchOptions options;
    Error error;
    char *text = join(argc, argv);
    if (!bench_read(text, &options, &error)) die(2, "hone bench: %s", error.text);
    free(text);
    Engine *engine = bench_engine(&options, &error);
    if (!engine) die(1, "hone bench: %s", error.text);
    _Atomic bool stop = false;
    BenchTotal total = bench_run(stdout, engine, &options, &stop);
    bench_print_total(stdout, total);
    engine_destroy(engine);
    return total.nodes > 0 ? 0 : 1;
}

static int run_perft(int argc, char **argv) {
    int64_t depth;
    Error error;
    Position pos;
    if (argc < 1) die(2, "hone perft: expected <depth> [fen]");
    if (!parse_int(argv[0], 1, 32, &depth, &error)) die(2, "hone perft: depth: %s", error.text);
    char *fen = argc > 1 ? join(argc - 1, argv + 1) : NULL;
    bitboard_init();
    if (!position_from_fen(&pos, fen ? fen : START_FEN, &error)) die(2, "hone perft: %s", error.text);
    free(fen);
    _Atomic bool stop = false;
    int64_t start = now_ns();
    uint64_t nodes = bench_perft(stdout, &pos, (int)depth, &stop);
    int64_t us = (now_ns() - start) / 1000;
    printf("\n%llu nodes %.0f nps\n", (unsigned long long)nodes,
           (double)nodes * 1e6 / (double)(us > 0 ? us : 1));
    return 0;
}

static int run_params(int argc, char **argv) {
    static const char *const Names[] = {"--spsa", "--uci", "--md", "--json"};
    const ParamsFormat formats[] = {PARAMS_SPSA, PARAMS_UCI, PARAMS_MD, PARAMS_JSON};
    int format = -1;
    const char *groups = NULL;
    for (int i = 0; i < argc; i++) {
        int known = 0;
        while (known < 4 && strcmp(argv[i], Names[known]) != 0) known++;
        if (known < 4) format = known;
        else if (strcmp(argv[i], "--group") == 0 && i + 1 < argc) groups = argv[++i];
        else die(2, "hone params: '%s' is not --spsa, --uci, --md, --json or --group a,b", argv[i]);
    }
    if (format < 0) die(2, "hone params: expected --spsa, --uci, --md or --json");
    Params params = params_default();
    params_print(stdout, &params, formats[format], groups);
    return 0;
}

static int run_help(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} Commands[] = {
    {"bench", run_bench,
     "[depth] [--stats] [--threads N] [--hash MB] [Name=value...]   node count and speed over fixed "
     "positions"},
    {"perft", run_perft, "<depth> [fen]   counts the leaves of the tree of legal moves"},
    {"params", run_params, "--spsa|--uci|--md|--json [--group a,b]   the tunable parameters"},
    {"diag", diag_main,
     "\"<fen>\" or --suite [depth] [Name=value...]   depth by depth: move, score, nodes, what each technique "
     "did"},
    {"solve", solve_main, "\"<fen>\" or --table KRK   up to four men: who wins, in how many moves"},
    {"--help", run_help, "this list"},
};

static int run_help(int argc, char **argv) {
    (void)argc, (void)argv;
    puts("hone            a UCI chess engine: talks UCI on standard input and output ('help' lists its "
         "commands)");
    for (size_t i = 0; i < sizeof Commands / sizeof *Commands; i++)
        printf("hone %-10s %s\n", Commands[i].name, Commands[i].help);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 1) return run_uci();
    for (size_t i = 0; i < sizeof Commands / sizeof *Commands; i++)
        if (strcmp(argv[1], Commands[i].name) == 0) return Commands[i].run(argc - 2, argv + 2);
    die(2, "hone: unknown argument '%.80s', see hone --help", argv[1]);
}
