// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of `hone-tune ablate`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bitboard.h"
#include "tuner/ablate.h"
#include "tuner/arguments.h"

// What the command line says.
typedef struct Command {
    AblatePlan plan;
    char page[900];
    bool help, json, no_times, list;
} Command;

static void print_help(void) {
    puts("hone-tune ablate [options]: what each technique is worth, switched off from what is shipped, "
         "switched on\n"
         "from bare alpha-beta, and added one after the other in the order of the claims\n\n"
         "  --only NAME,...    keys of the claims, switches, or the words claims and groups (default: all)\n"
         "  --list             names what can be measured, and ends\n"
         "  --columns LIST     of off, on, sum: what is benched (default all)\n"
         "  --match LIST       of off, on, sum, none: where games are played (default all)\n"
         "  --depth N          depth of the bench positions around what is shipped (default 12)\n"
         "  --bare-depth N     the same around bare alpha-beta (default 6)\n"
         "  --cap N            nodes for each bench position, so that every bench ends (default 5000000)\n"
         "  --pairs N          pairs of games in a match (default 1000)\n"
         "  --tc S+I           also play every match of shipped and cumulative by this clock\n"
         "  --phase-pairs N    pairs by the clock for the time by phase (default 50; 0: none)\n"
         "  --phase-tc S+I     their clock (default 2+0.02)\n"
         "  --equal-ms N       thinking time for the depths at equal time (default 100)\n"
         "  --out DIR          journals and page (default runs/ablate): the same command again goes on\n"
         "  --fresh            start over; the old folder is kept beside it\n"
         "  --quiet            no progress\n"
         "  --page FILE        only write the page from the journal in DIR, measure nothing\n"
         "  --json             only print the figures of the journal as JSON\n"
         "  --no-times         leave out of both what differs between two runs of the same plan\n\nGames:\n");
    play_help(stdout, "--");
    puts("\nExamples:\n"
         "  hone-tune ablate --only claims\n"
         "  hone-tune ablate --only lmr,NullMove --pairs 200 --match off\n"
         "  hone-tune ablate --page tuner/ABLATION.md");
}

static bool read_columns(const char *value, bool columns[ABLATE_COLUMNS], Error *error) {
    for (int i = 0; i < ABLATE_COLUMNS; i++) columns[i] = false;
    while (*value) {
        size_t length = strcspn(value, ",");
        bool known = length == 4 && strncmp(value, "none", 4) == 0;
        for (int i = 0; i < ABLATE_COLUMNS; i++) {
            const char *name = ablate_column_name((AblateColumn)i);
            if (strlen(name) != length || strncmp(name, value, length) != 0) continue;
            columns[i] = known = true;
        }
        if (!known) return error_set(error, "'%.40s': off, on, sum or none was expected", value);
        value += length + (value[length] == ',');
    }
    return true;
}

static bool read_number(const char *value, int64_t min, int64_t max, int *out, Error *error) {
    int64_t number = 0;
    if (!parse_int(value, min, max, &number, error)) return false;
    *out = (int)number;
    return true;
}

static bool read_text(const char *value, char *buffer, size_t size, Error *error) {
    return text_copy(buffer, size, value) || error_set(error, "'%.40s...' is too long", value);
}

static bool read_value(void *context, const char *key, const char *value, Error *error) {
    Command *c = context;
    AblatePlan *plan = &c->plan;
    PlayOptions *checked = &plan->play;
    int64_t number = 0;
    bool known = false;
    if (!key) return argument_unknown(key, value, error);
    if (strcmp(key, "only") == 0) return read_text(value, plan->only, sizeof plan->only, error);
    if (strcmp(key, "out") == 0) return read_text(value, plan->out, sizeof plan->out, error);
    if (strcmp(key, "page") == 0) return read_text(value, c->page, sizeof c->page, error);
    if (strcmp(key, "columns") == 0) return read_columns(value, plan->columns, error);
    if (strcmp(key, "match") == 0) return read_columns(value, plan->games, error);
    if (strcmp(key, "depth") == 0) return read_number(value, 1, 60, &plan->depth, error);
    if (strcmp(key, "bare-depth") == 0) return read_number(value, 1, 20, &plan->bare_depth, error);
    if (strcmp(key, "equal-ms") == 0) return read_number(value, 1, 100000, &plan->equal_ms, error);
    if (strcmp(key, "cap") == 0) {
        if (!parse_int(value, 1000, INT64_C(1) << 40, &number, error)) return false;
        plan->cap = (uint64_t)number;
        return true;
    }
    if (strcmp(key, "pairs") == 0 || strcmp(key, "phase-pairs") == 0) {
        bool phase = key[1] == 'h';
        if (!parse_int(value, phase ? 0 : 1, 100000000, &number, error)) return false;
        *(phase ? &plan->phase_pairs : &plan->pairs) = (uint64_t)number;
        return true;
    }
    if (strcmp(key, "tc") == 0 || strcmp(key, "phase-tc") == 0) {
        char *tc = key[0] == 't' ? plan->tc : plan->phase_tc;
        bool ok =
            play_set(checked, "tc", value, &known, error) && read_text(value, tc, sizeof plan->tc, error);
        checked->tc[0] = '\0'; // only checked: the other matches are at fixed nodes
        return ok;
    }
    if (strcmp(key, "st") == 0 || strcmp(key, "engine") == 0 || strcmp(key, "args") == 0 ||
        strcmp(key, "dir") == 0)
        return error_set(error, "not here: the switches are those of the builtin engine");
    if (play_set(checked, key, value, &known, error)) return true;
    return known ? false : argument_unknown(key, value, error);
}

static bool read_command(Command *c, int argc, char **argv, Error *error) {
    const ArgumentFlag flags[] = {{"fresh", &c->plan.fresh}, {"quiet", &c->plan.quiet}, {"help", &c->help},
                                  {"list", &c->list},        {"json", &c->json},        {"no-times", &c->no_times},
                                  {NULL, NULL}};
    return arguments_read(argc, argv, flags, read_value, c, error);
}

static void print_rows(void) {
    AblateRows *rows = calloc(1, sizeof *rows);
    if (!rows) return;
    ablate_rows(rows);
    for (int i = 0; i < rows->count; i++) {
        const AblateRow *row = &rows->items[i];
        printf("%-28s %s%s%s\n", row->key, row->switches[0] ? row->switches : row->title,
               row->needs[0] ? "; needs " : "", row->needs);
    }
    free(rows);
}

// Writes page and JSON from the journal alone.
static bool write_only(const Command *c, Error *error) {
    Ablate *ablate = calloc(1, sizeof *ablate);
    bool ok = ablate && ablate_open(ablate, c->plan.out, error);
    if (ok && c->page[0]) ok = ablate_page(ablate, c->page, !c->no_times, error);
    if (ok && c->json) ok = ablate_json(ablate, stdout, !c->no_times) || error_set(error, "cannot write");
    if (ablate) ablate_close(ablate);
    free(ablate);
    return ok;
}

int ablate_main(int argc, char **argv) {
    Error error = {.text = ""};
    Command *c = calloc(1, sizeof *c);
    if (!c) return 2;
    ablate_plan_default(&c->plan);
    int status = 0;
    bitboard_init();
    if (!read_command(c, argc, argv, &error)) {
        status = 2;
    } else if (c->help) {
        print_help();
    } else if (c->list) {
        print_rows();
    } else if (c->page[0] || c->json) {
        status = write_only(c, &error) ? 0 : 2;
    } else {
        stop_block();
        status = ablate_run(&c->plan, &error);
        if (status == 0) printf("Page: %s/ABLATION.md\n", c->plan.out);
        if (status == 1) printf("Interrupted: the same command again goes on\n");
    }
    if (status == 2) fprintf(stderr, "hone-tune ablate: %s\n", error.text);
    free(c);
    return status;
}
