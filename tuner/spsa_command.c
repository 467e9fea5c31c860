// SPDX-License-Identifier: GPL-3.0-or-later
// hone-tune spsa: the command line, read into a plan, and the result, printed. The run itself is tune.c's.
#include "tuner/spsa_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bitboard.h"
#include "match/stop.h"
#include "match/supervise.h"
#include "tuner/arguments.h"
#include "tuner/report.h"
#include "tuner/tune.h"

// The command line, read.
typedef struct Command {
    PlayOptions play;
    SpsaPlan spsa;
    char params[1024], group[4096], journal[1024], report[1024], formats[128];
    double hours, r, c_scale; // r and c_scale: for all parameters, 0 where their own are taken
    bool fresh, quiet, help;
} Command;

static void print_help(void) {
    fputs("hone-tune spsa: tunes parameters by games and says what it found\n\n"
          "  --params FILE      lines of `hone params --spsa`, fishtest lines or weather-factory JSON "
          "(default: params.def)\n"
          "  --group WORDS      only these parameters or groups, with commas between\n"
          "  --games N          budget in games; or\n"
          "  --hours H          budget in hours: becomes games once, from a measured rate, kept in the "
          "journal\n"
          "  --method M         auto (default: chooses its own gains), fishtest, openbench or constant\n"
          "  --r X --c-scale X  hand-set methods: r of all parameters; factor on their c\n"
          "  --pairs N          game pairs to an iteration (default 4)\n"
          "  --lag N            iteration k starts from the values after iteration k - N (default 8)\n"
          "  --tail X           share of the run that is averaged (default 0.5)\n"
          "  --option NAME=V    UCI option of both sides\n",
          stdout);
    play_help(stdout, "--");
    fputs(
        "  --journal FILE     where the run is kept (default hone-tune.journal): the same command again goes "
        "on\n"
        "  --fresh            start over; the old journal is kept beside it\n"
        "  --format LIST      how values are printed: of params,uci,openbench,json (default: all)\n"
        "  --quiet            no progress\n\n"
        "At fixed nodes the result does not depend on --concurrency, nor on how often the run was killed and "
        "continued.\n\n"
        "Examples:\n"
        "  hone-tune spsa --group futility,lmr,nullmove --nodes 8000 --hours 6 --concurrency 2\n"
        "  hone params --spsa > p.txt; hone-tune spsa --params p.txt --group LmrBase,LmrDiv --games 4000 "
        "--nodes 2000\n"
        "  hone-tune spsa --params mine.txt --engine ./myengine --tc 2+0.02 --games 20000 --option Hash=16\n",
        stdout);
}

static bool read_mode(const char *value, SpsaMode *mode, Error *error) {
    static const SpsaMode Modes[] = {SPSA_AUTO, SPSA_FISHTEST, SPSA_OPENBENCH, SPSA_CONSTANT};
    for (size_t i = 0; i < sizeof Modes / sizeof *Modes; i++)
        if (text_equal(value, spsa_mode_name(Modes[i]))) {
            *mode = Modes[i];
            return true;
        }
    return error_set(error, "'%.40s' is none of auto, fishtest, openbench, constant", value);
}

static bool read_small(const char *value, int64_t max, int *number, Error *error) {
    int64_t wide = 0;
    if (!parse_int(value, 1, max, &wide, error)) return false;
    *number = (int)wide;
    return true;
}

static bool read_value(void *context, const char *key, const char *value, Error *error) {
    Command *c = context;
    bool known = false;
    char name[64];
    if (!key) return argument_unknown(key, value, error);
    if (play_set(&c->play, key, value, &known, error)) return true;
    if (known) return false;
    if (strcmp(key, "params") == 0)
        return text_copy(c->params, sizeof c->params, value) || error_set(error, "too long");
    if (strcmp(key, "group") == 0)
        return text_copy(c->group, sizeof c->group, value) || error_set(error, "too long");
    if (strcmp(key, "journal") == 0)
        return text_copy(c->journal, sizeof c->journal, value) || error_set(error, "too long");
    if (strcmp(key, "report") == 0)
        return text_copy(c->report, sizeof c->report, value) || error_set(error, "too long");
    if (strcmp(key, "format") == 0)
        return (text_copy(c->formats, sizeof c->formats, value) || error_set(error, "too long")) &&
               tune_formats_check(value, error);
    if (strcmp(key, "games") == 0) return parse_int(value, 2, INT64_C(1000000000), &c->spsa.games, error);
    if (strcmp(key, "hours") == 0) return parse_real(value, 1e-4, 1000, &c->hours, error);
    if (strcmp(key, "method") == 0) return read_mode(value, &c->spsa.mode, error);
    if (strcmp(key, "pairs") == 0) return read_small(value, 100000, &c->spsa.pairs, error);
    if (strcmp(key, "lag") == 0) return read_small(value, SPSA_MAX_LAG, &c->spsa.lag, error);
    if (strcmp(key, "tail") == 0) return parse_real(value, 0, 1, &c->spsa.tail, error);
    if (strcmp(key, "r") == 0) return parse_real(value, 1e-9, 100, &c->r, error);
    if (strcmp(key, "c-scale") == 0) return parse_real(value, 1e-3, 1000, &c->c_scale, error);
    if (strcmp(key, "option") == 0) {
        const char *equals = strchr(value, '=');
        if (!equals || (size_t)(equals - value) >= sizeof name)
            return error_set(error, "'%.60s': NAME=VALUE was expected", value);
        memcpy(name, value, (size_t)(equals - value));
        name[equals - value] = '\0';
        return play_option(&c->play, name, equals + 1, error);
    }
    return argument_unknown(key, value, error);
}

static bool read_command(Command *c, int argc, char **argv, Error *error) {
    const ArgumentFlag flags[] = {{"fresh", &c->fresh}, {"quiet", &c->quiet}, {"help", &c->help}, {NULL, NULL}};
    if (!arguments_read(argc, argv, flags, read_value, c, error)) return false;
    if (c->help) return true;
    if ((c->spsa.games > 0) == (c->hours > 0))
        return error_set(error, "give the budget: --games N or --hours H");
    return (c->r == 0 && c->c_scale == 0) || c->spsa.mode != SPSA_AUTO ||
           error_set(error, "--r and --c-scale belong to hand-set methods, auto chooses its own");
}

// What is tuned cannot be set as well.
static bool check_options(const PlayOptions *play, const SpsaList *list, Error *error) {
    for (int i = 0; i < list->count; i++)
        for (int o = 0; o < play->option_count; o++)
            if (text_equal(list->items[i].name, play->options[o].name))
                return error_set(error, "--option %s: it is among the parameters that are tuned", list->items[i].name);
    return true;
}

// The run, where it is played.
typedef struct Job {
    TunePlan *plan;
    const char *formats;
} Job;

static int run_here(void *context, _Atomic uint64_t *in_flight, int attempt) {
    Job *job = context;
    TuneResult result;
    Error error = {.text = ""};
    if (attempt > 0) job->plan->match.fresh = false;
    MatchOutcome outcome = tune_run(job->plan, in_flight, &result, &error);
    int status = outcome == MATCH_FINISHED ? 0 : outcome == MATCH_INTERRUPTED ? 1 : 2;
    if (status < 2) tune_print(job->plan, &result, stdout);
    if (status == 1)
        printf("Interrupted: the same command again goes on from %s\n", job->plan->match.journal);
    if (status == 0) tune_print_values(job->plan, &result, job->formats, stdout);
    if (status == 2) fprintf(stderr, "hone-tune spsa: %s\n", error.text);
    Error remark;
    if (status < 2 && job->plan->report[0] &&
        !report_write(job->plan->match.journal, job->plan->report, &remark))
        fprintf(stderr, "hone-tune spsa: report: %s\n", remark.text);
    tune_result_free(&result);
    return status;
}

int spsa_main(int argc, char **argv) {
    Error error = {.text = ""};
    Command *c = calloc(1, sizeof *c);
    TunePlan plan = {0};
    SpsaList list = {0};
    if (!c) return 2;
    play_default(&c->play);
    c->spsa = spsa_plan(NULL, 0, 0, 1);
    text_copy(c->journal, sizeof c->journal, "hone-tune.journal");
    text_copy(c->formats, sizeof c->formats, "params,uci,openbench,json");
    int status = 2;
    bool ok = read_command(c, argc, argv, &error);
    if (ok && c->help) {
        print_help();
        free(c);
        return 0;
    }
    ok = ok && tune_list(c->params, c->group, &list, &error) && check_options(&c->play, &list, &error);
    for (int i = 0; ok && i < list.count; i++) {
        if (c->r > 0) list.items[i].r_end = c->r;
        if (c->c_scale > 0) list.items[i].c_end *= c->c_scale;
    }
    bitboard_init();
    ok = ok && tune_plan(&plan, &c->play, &list, &c->spsa, c->journal, &error);
    if (ok) {
        plan.hours = c->hours;
        plan.quiet = c->quiet;
        if (!c->report[0]) snprintf(plan.report, sizeof plan.report, "%.1000s.html", c->journal);
        else if (!text_equal(c->report, "off")) text_copy(plan.report, sizeof plan.report, c->report);
        plan.match.fresh = c->fresh;
        Job job = {.plan = &plan, .formats = c->formats};
        stop_block();
        status = plan.match.players[0].builtin
                     ? supervise("hone-tune", plan.match.journal, plan.match.concurrency, run_here, &job)
                     : run_here(&job, NULL, 0);
    } else {
        fprintf(stderr, "hone-tune spsa: %s\n", error.text);
    }
    spsa_list_free(&list);
    tune_plan_free(&plan);
    free(c);
    return status;
}
