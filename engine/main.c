// SPDX-License-Identifier: GPL-3.0-or-later
// The program `hone`: UCI without arguments, else one of the commands in the table below.
#include <stdlib.h>
#include <string.h>

#include "engine/bench.h"
#include "engine/diag.h"
#include "engine/solve.h"
#include "engine/uci.h"

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
    char *text = text_join(argc, argv);
    if (!text) die(1, "hone: not enough memory");
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
    char *fen = text_join(argc - 1, argv + 1);
    if (!fen) die(1, "hone: not enough memory");
    bitboard_init();
    if (!position_from_fen(&pos, *fen ? fen : START_FEN, &error)) die(2, "hone perft: %s", error.text);
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
        else if (strcmp(argv[i], "--group") == 0)
            die(2, "hone params: --group needs a value such as lmr,futility");
        else die(2, "hone params: '%s' is not --spsa, --uci, --md, --json or --group a,b", argv[i]);
    }
    if (format < 0) die(2, "hone params: expected --spsa, --uci, --md or --json");
    Error error;
    if (groups && !params_groups_known(groups, &error)) die(2, "hone params: --group: %s", error.text);
    Params params = params_default();
    params_print(stdout, &params, formats[format], groups);
    return 0;
}

static int run_help(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *brief, *help;
} Commands[] = {
    {"bench", run_bench, "node count and speed over fixed positions",
     "usage: hone bench [depth] [--stats] [--threads N] [--hash MB] [Name=value...]\n"
     "\n"
     "Searches fixed positions, each from a fresh state, to a depth (12 if none is given). The last line is\n"
     "`<nodes> nodes <nps> nps`; the nodes of one thread are the signature of the engine.\n"
     "  --stats           also what each technique did\n"
     "  --threads N       (default 1)\n"
     "  --hash MB         (default 16)\n"
     "  Name=value        any option or parameter of the engine (see hone params --md)\n"
     "\n"
     "examples:\n"
     "  hone bench\n"
     "  hone bench 10 --stats NullMove=false\n"},
    {"perft", run_perft, "counts the leaves of the tree of legal moves",
     "usage: hone perft <depth> [fen]\n"
     "\n"
     "Counts the leaves at a depth behind each legal move, from the start position or another. The last line "
     "is\n"
     "`<nodes> nodes <nps> nps`.\n"
     "\n"
     "examples:\n"
     "  hone perft 6\n"
     "  hone perft 5 \"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1\"\n"},
    {"params", run_params, "the tunable parameters",
     "usage: hone params --spsa|--uci|--md|--json [--group a,b]\n"
     "\n"
     "Prints every number and switch of the search, or those of some groups, with their defaults: as input "
     "for\n"
     "SPSA (OpenBench's lines; numbers only), as UCI options, as a table in Markdown, or as JSON.\n"
     "\n"
     "examples:\n"
     "  hone params --md\n"
     "  hone params --spsa --group lmr,futility\n"},
    {"diag", diag_main, "depth by depth: move, score, nodes, what each technique did", NULL},
    {"solve", solve_main, "up to four men: who wins, in how many moves", NULL},
    {"--help", run_help, "this list", NULL},
};
enum { COMMANDS = sizeof Commands / sizeof *Commands };

static int run_help(int argc, char **argv) {
    (void)argc, (void)argv;
    puts("hone            a UCI chess engine: talks UCI on standard input and output ('help' lists its "
         "commands)");
    for (int i = 0; i < COMMANDS; i++) printf("hone %-10s %s\n", Commands[i].name, Commands[i].brief);
    puts("\nhone COMMAND --help says more and has examples.");
    return 0;
}

static int run_command(int argc, char **argv) {
    if (argc == 1) return run_uci();
    const char *name = strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0 ? "--help" : argv[1];
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, Commands[i].name) != 0) continue;
        bool asked = argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
        if (!asked || !Commands[i].help) return Commands[i].run(argc - 2, argv + 2);
        fputs(Commands[i].help, stdout);
        return 0;
    }
    die(2, "hone: unknown argument '%.80s', see hone --help", argv[1]);
}

int main(int argc, char **argv) { return stdout_end("hone", run_command(argc, argv)); }
