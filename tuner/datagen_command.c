// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of `hone-tune datagen`.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/arguments.h"
#include "tuner/datagen.h"

static void print_help(void) {
    const DatagenPlan plan = DATAGEN_DEFAULTS;
    printf("hone-tune datagen --out FILE (--games N | --positions N | --minutes M) [options]\n"
           "Hone plays itself and stores every ply with its score, about two bytes each. The same command\n"
           "goes on where a run ended or was killed; Ctrl-C ends after the games in flight. A file is a\n"
           "function of its settings: the same at any concurrency.\n"
           "  --out FILE          the file of games\n"
           "  --games N           until the file has so many games\n"
           "  --positions N       until it has so many positions with a score\n"
           "  --minutes M         for so long\n"
           "  --nodes N           soft limit of nodes a move, looked at after each iteration and scaled as\n"
           "                      time would be; a move costs three to four times that (%d)\n"
           "  --hard N            never more than N times that (%d)\n"
           "  --hash N            megabytes of each engine's table (%d)\n"
           "  --seed N            of the openings (%" PRIu64 ")\n"
           "  --random-plies N    moves drawn at random; every second game has one more (%d)\n"
           "  --dfrc PERCENT      games from double Chess960 positions (%d)\n"
           "  --option NAME=VALUE of the engine; may be repeated\n"
           "  --concurrency N     games side by side (default: the number of cores)\n"
           "  --quiet             no progress\n"
           "Adjudication: a win at %d centipawns for %d plies, a draw within %d for %d plies from ply %d, a\n"
           "draw at ply %d; %d %% of the games are played to their end. Openings beyond %d are drawn anew.\n"
           "Examples:\n"
           "  hone-tune datagen --out games.hone --games 10000\n"
           "  hone-tune datagen --out more.hone --minutes 60 --nodes 500 --seed 2 --dfrc 20\n",
           plan.nodes, plan.hard, plan.hash, plan.seed, plan.random_plies, plan.dfrc, DATAGEN_WIN_SCORE,
           DATAGEN_WIN_PLIES, DATAGEN_DRAW_SCORE, DATAGEN_DRAW_PLIES, DATAGEN_DRAW_FROM, DATAGEN_CAP,
           DATAGEN_AUDIT, DATAGEN_REJECT);
}

static bool add_option(DatagenPlan *plan, const char *text, Error *error) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return error_set(error, "'%.60s' is not NAME=VALUE", text);
    if (plan->option_count == DATAGEN_MAX_OPTIONS)
        return error_set(error, "more than %d options", DATAGEN_MAX_OPTIONS);
    size_t length = (size_t)(equals - text);
    char *name = plan->options[plan->option_count].name, *value = plan->options[plan->option_count].value;
    if (length >= sizeof plan->options[0].name ||
        !text_copy(value, sizeof plan->options[0].value, equals + 1) || strchr(text, '\n'))
        return error_set(error, "'%.60s': name or value too long", text);
    memcpy(name, text, length);
    name[length] = '\0';
    if (text_equal(name, "Threads") || text_equal(name, "Hash"))
        return error_set(error, "%s is not free here: one thread, and --hash", name);
    plan->option_count++;
    return true;
}

// Where a number of the command line goes, and its bounds.
typedef struct NumberOption {
    const char *name;
    int64_t min, max;
    int *small;
    uint64_t *large;
} NumberOption;

static bool read_value(void *context, const char *key, const char *value, Error *error) {
    DatagenPlan *plan = context;
    const NumberOption numbers[] = {
        {"games", 1, INT64_MAX, NULL, &plan->games},
        {"positions", 1, INT64_MAX, NULL, &plan->positions},
        {"seed", 0, INT64_MAX, NULL, &plan->seed},
        {"nodes", 1, 100000000, &plan->nodes, NULL},
        {"hard", 1, 1000, &plan->hard, NULL},
        {"hash", 1, 65536, &plan->hash, NULL},
        {"dfrc", 0, 100, &plan->dfrc, NULL},
        {"random-plies", 0, 100, &plan->random_plies, NULL},
        {"concurrency", 1, 256, &plan->concurrency, NULL},
    };
    if (!key) return argument_unknown(key, value, error);
    if (strcmp(key, "option") == 0) return add_option(plan, value, error);
    if (strcmp(key, "minutes") == 0) return parse_real(value, 0.001, 1e6, &plan->minutes, error);
    if (strcmp(key, "out") == 0) {
        plan->out = value;
        return true;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t number;
        if (strcmp(key, numbers[i].name) != 0) continue;
        if (!parse_int(value, numbers[i].min, numbers[i].max, &number, error)) return false;
        if (numbers[i].small) *numbers[i].small = (int)number;
        else *numbers[i].large = (uint64_t)number;
        return true;
    }
    return argument_unknown(key, value, error);
}

int datagen_main(int argc, char **argv) {
    DatagenPlan plan = DATAGEN_DEFAULTS;
    Error error = {""};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    plan.concurrency = int_clamp((int)cores, 1, 256);
    bool help = argc == 1;
    const ArgumentFlag flags[] = {{"quiet", &plan.quiet}, {"help", &help}, {NULL, NULL}};
    if (!arguments_read(argc, argv, flags, read_value, &plan, &error)) die(2, "hone-tune datagen: %s", error.text);
    if (help) {
        print_help();
        return argc == 1 ? 2 : 0;
    }
    if (!plan.out) die(2, "hone-tune datagen: --out FILE is missing");
    if (!plan.games && !plan.positions && !(plan.minutes > 0))
        die(2, "hone-tune datagen: how long? Give --games, --positions or --minutes");
    Stop stop = {0};
    DatagenReport report;
    stop_block();
    if (!datagen_run(&plan, &stop, &report, &error)) die(1, "hone-tune datagen: %s", error.text);
    uint64_t games = report.all.games - report.before.games;
    uint64_t found =
        report.all.plies - report.all.random_plies - report.before.plies + report.before.random_plies;
    double seconds = report.seconds > 0 ? report.seconds : 1, moves = found ? (double)found : 1;
    printf("%s: %" PRIu64 " games and %" PRIu64
           " positions more in %.1f s: %.2f M positions an hour, %.0f nodes "
           "each, %.2f M nodes a second; %" PRIu64 " games in all%s\n",
           plan.out, games, found, report.seconds, (double)found / seconds * 3600 / 1e6,
           (double)report.nodes / moves, (double)report.nodes / seconds / 1e6, report.all.games,
           report.stopped ? "; stopped: the same command goes on" : "");
    return 0;
}
