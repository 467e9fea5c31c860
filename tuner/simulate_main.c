// SPDX-License-Identifier: GPL-3.0-or-later
// The command `hone-tune simulate`: one method on one surface, or the table of all of them as Markdown.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tuner/simulate.h"

// A named surface with the lag at which its results arrive (0: the method's own).
typedef struct Preset {
    const char *name, *about;
    SurfaceSpec spec;
    int lag;
} Preset;

static const Preset Presets[] = {
    {"S0",
     "diagonal quadratic, optimum at +-1 in each parameter",
     {.kind = SURFACE_S0, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1},
     0},
    {"S1",
     "rotated quadratic, condition 30, c misjudged by lognormal(.5)",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1},
     0},
    {"S3",
     "not quadratic, not symmetric, half the parameters inert",
     {.kind = SURFACE_S3, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1},
     0},
    {"S1n30",
     "S1 with 30 parameters",
     {.kind = SURFACE_S1, .params = 30, .start_elo = -20, .c0 = .4, .range_scale = 1},
     0},
    {"S1start5",
     "S1 from -5 Elo, c x1.5",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -5, .c0 = .6, .range_scale = 1},
     0},
    {"integer",
     "S1 with integer parameters, c near 1",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1, .integer = true},
     0},
    {"bound",
     "S1, every second optimum on a bound of its range",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1, .bound = true},
     0},
    {"late",
     "S1, results 64 iterations late",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1},
     64},
};
enum { PRESETS = sizeof Presets / sizeof *Presets };

// What the command line asks for.
typedef struct Request {
    SimulationRun run;
    const Preset *preset;
    int64_t seeds, first_seed;
    int threads;
    bool json, table, help;
} Request;

// Mean and spread of the Elo regained over many seeds.
typedef struct Summary {
    double mean, sd, se, losing_share, low; // low: the 5 % quantile
} Summary;

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static Summary summarise(const double *x, int64_t n) {
    Summary s = {0};
    double *sorted = malloc((size_t)n * sizeof *sorted);
    for (int64_t i = 0; i < n; i++) {
        s.mean += x[i] / (double)n;
        s.losing_share += (x[i] < 0) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) s.sd += (x[i] - s.mean) * (x[i] - s.mean);
    s.sd = n > 1 ? sqrt(s.sd / (double)(n - 1)) : 0;
    s.se = s.sd / sqrt((double)n);
    if (sorted) {
        memcpy(sorted, x, (size_t)n * sizeof *sorted);
        qsort(sorted, (size_t)n, sizeof *sorted, compare_reals);
        s.low = sorted[n / 20];
        free(sorted);
    }
    return s;
}

static bool parse_mode(const char *text, SimulationRun *run, Error *error) {
    for (int m = SPSA_AUTO; m <= SPSA_CONSTANT; m++)
        if (strcmp(text, spsa_mode_name((SpsaMode)m)) == 0) {
            run->mode = (SpsaMode)m;
            return true;
        }
    return error_set(error, "'%s': expected auto, fishtest, openbench or constant", text);
}

static bool parse_surface(const char *text, Request *request, Error *error) {
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(text, Presets[i].name) == 0) {
            request->preset = &Presets[i];
            return true;
        }
    return error_set(error, "'%s': expected S0, S1, S3, S1n30, S1start5, integer, bound or late", text);
}

// One option with its value (NULL where there is none); *used says how many words it took.
static bool parse_option(Request *request, const char *name, const char *value, int *used, Error *error) {
    SimulationRun *run = &request->run;
    int64_t integer = 0;
    *used = 1;
    if (strcmp(name, "--json") == 0) return request->json = true;
    if (strcmp(name, "--table") == 0) return request->table = true;
    if (strcmp(name, "--help") == 0) return request->help = true;
    if (!value) return error_set(error, "%s: unknown option, or its value is missing", name);
    *used = 2;
    bool ok;
    if (strcmp(name, "--surface") == 0) ok = parse_surface(value, request, error);
    else if (strcmp(name, "--method") == 0) ok = parse_mode(value, run, error);
    else if (strcmp(name, "--params") == 0) {
        ok = parse_int(value, 1, SPSA_MAX_PARAMS, &integer, error);
        run->surface.params = (int)integer;
    } else if (strcmp(name, "--games") == 0) ok = parse_int(value, 2, 1000000000, &run->games, error);
    else if (strcmp(name, "--seeds") == 0) ok = parse_int(value, 1, 1000000, &request->seeds, error);
    else if (strcmp(name, "--first-seed") == 0)
        ok = parse_int(value, 0, INT64_MAX, &request->first_seed, error);
    else if (strcmp(name, "--pairs") == 0) {
        ok = parse_int(value, 1, 100000, &integer, error);
        run->pairs = (int)integer;
    } else if (strcmp(name, "--threads") == 0) {
        ok = parse_int(value, 1, 256, &integer, error);
        request->threads = (int)integer;
    } else if (strcmp(name, "--lag") == 0) {
        ok = parse_int(value, 1, SPSA_MAX_LAG, &integer, error);
        run->lag = (int)integer;
    } else if (strcmp(name, "--r") == 0) ok = parse_real(value, 0, 1e6, &run->r, error);
    else if (strcmp(name, "--cscale") == 0) ok = parse_real(value, 1e-6, 1e6, &run->c_scale, error);
    else if (strcmp(name, "--rangescale") == 0)
        ok = parse_real(value, 1e-3, 1e3, &run->surface.range_scale, error);
    else if (strcmp(name, "--rangenoise") == 0)
        ok = parse_real(value, 0, 3, &run->surface.range_noise, error);
    else if (strcmp(name, "--start") == 0)
        ok = parse_real(value, -1000, -.001, &run->surface.start_elo, error);
    else if (strcmp(name, "--tail") == 0) ok = parse_real(value, 0, 1, &run->tail, error);
    else if (strcmp(name, "--forfeits") == 0) ok = parse_real(value, 0, .5, &run->forfeits, error);
    else return error_set(error, "%s: unknown option", name);
    return ok || error_prefix(error, "%s", name);
}

// Everything not given on the command line comes from the named surface and the method.
static bool parse_request(int argc, char **argv, Request *request, Error *error) {
    *request = (Request){.preset = &Presets[1], .seeds = 30, .first_seed = 1, .threads = 1};
    request->run = (SimulationRun){.r = -1, .c_scale = 1, .games = 20000, .pairs = 4, .tail = -1};
    for (int i = 1, used; i < argc; i += used)
        if (!parse_option(request, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used, error)) return false;
    SimulationRun *run = &request->run;
    SurfaceSpec given = run->surface;
    if (run->r >= 0 && run->mode == SPSA_AUTO && !request->table)
        return error_set(error, "--r belongs to hand-set methods, auto chooses its own");
    if (run->r < 0) run->r = .002;
    run->surface = request->preset->spec;
    if (given.params) run->surface.params = given.params;
    if (given.start_elo < 0) run->surface.start_elo = given.start_elo;
    run->surface.range_noise = given.range_noise;
    if (given.range_scale > 0) run->surface.range_scale = given.range_scale;
    if (!run->lag) run->lag = request->preset->lag ? request->preset->lag : run->mode == SPSA_AUTO ? 8 : 1;
    run->last = run->mode != SPSA_AUTO && run->tail <= 0;
    if (run->tail <= 0) run->tail = .5;
    return true;
}

static void print_help(void) {
    puts("hone-tune simulate: the tuner against Elo surfaces that are known exactly\n"
         "\n"
         "  --surface NAME     one of those below (S1)\n"
         "  --method NAME      auto, fishtest, openbench, constant (auto)\n"
         "  --games N          budget of one run (20000)\n"
         "  --seeds N          number of runs, each on a surface of its own (30)\n"
         "  --first-seed N     seed of the first (1)\n"
         "  --params N         number of parameters     --start ELO        Elo at the start\n"
         "  --r R              hand-set r_end (.002)    --cscale F         multiplies the user's c\n"
         "  --rangescale F     multiplies the ranges    --rangenoise S     misjudges each by lognormal(S)\n"
         "  --tail SHARE       judge the average of the tail\n"
         "  --pairs N          pairs an iteration (4)   --lag N            results N iterations late\n"
         "  --forfeits P       share of games lost at random\n"
         "  --threads N        runs at the same time (1); changes no figure\n"
         "  --json             the result as one JSON object\n"
         "  --table            all methods on all surfaces, as Markdown (see tuner/SIMULATION.md)\n"
         "\nSurfaces:");
    for (int i = 0; i < PRESETS; i++) printf("  %-10s %s\n", Presets[i].name, Presets[i].about);
    puts("\nExample: hone-tune simulate --surface S1 --params 10 --games 20000 --seeds 30 --method auto "
         "--json");
}

static void print_json(const Request *request, Summary s, double rate) {
    const SimulationRun *run = &request->run;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "surface", request->preset->name);
    cJSON_AddNumberToObject(json, "params", run->surface.params);
    cJSON_AddStringToObject(json, "method", spsa_mode_name(run->mode));
    if (run->mode != SPSA_AUTO) cJSON_AddNumberToObject(json, "r", run->r);
    cJSON_AddNumberToObject(json, "cscale", run->c_scale);
    cJSON_AddNumberToObject(json, "games", (double)run->games);
    cJSON_AddNumberToObject(json, "seeds", (double)request->seeds);
    cJSON_AddNumberToObject(json, "first_seed", (double)request->first_seed);
    cJSON_AddNumberToObject(json, "mean", s.mean);
    cJSON_AddNumberToObject(json, "sd", s.sd);
    cJSON_AddNumberToObject(json, "se", s.se);
    cJSON_AddNumberToObject(json, "low5", s.low);
    cJSON_AddNumberToObject(json, "losing_share", s.losing_share);
    cJSON_AddNumberToObject(json, "games_per_second", rate);
    char *text = cJSON_PrintUnformatted(json);
    puts(text ? text : "{}");
    free(text);
    cJSON_Delete(json);
}

// ---- many seeds ----

// Seeds first, first + step, ... of one run, worked off by one thread.
typedef struct Batch {
    const SimulationRun *run;
    uint64_t first_seed;
    int64_t from, step, count;
    double *regained;
    Error error;
    bool ok;
} Batch;

static void *run_batch(void *context) {
    Batch *b = context;
    b->ok = true;
    for (int64_t i = b->from; b->ok && i < b->count; i += b->step)
        b->ok = simulate_run(b->run, b->first_seed + (uint64_t)i, &b->regained[i], &b->error);
    return NULL;
}

// Elo regained for every seed of a request, in the order of the seeds whatever the number of threads.
static bool run_seeds(const Request *request, const SimulationRun *run, double *regained, Error *error) {
    Batch batches[256];
    pthread_t threads[256];
    bool started[256] = {false}, ok = true;
    for (int t = 0; t < request->threads; t++) {
        batches[t] = (Batch){.run = run,
                             .first_seed = (uint64_t)request->first_seed,
                             .from = t,
                             .step = request->threads,
                             .count = request->seeds,
                             .regained = regained};
        started[t] = t > 0 && pthread_create(&threads[t], NULL, run_batch, &batches[t]) == 0;
    }
    for (int t = 0; t < request->threads; t++) {
        if (started[t]) pthread_join(threads[t], NULL);
        else run_batch(&batches[t]);
        if (!batches[t].ok && ok) {
            ok = false;
            if (error) *error = batches[t].error;
        }
    }
    return ok;
}

// ---- the table ----

// One method of the table.
typedef struct Method {
    SpsaMode mode;
    double r, c_scale;
    bool average;
} Method;

enum { GRID = 16, BUDGETS = 3, JUDGED = 4, WRONG = 6 };
static const double GridR[] = {.002, .005, .01, .02};
static const int64_t Budgets[BUDGETS] = {5000, 20000, 50000};
static const char *const Judged[JUDGED] = {"S1", "S3", "S1n30",
                                           "S1start5"}; // the others are run at one budget

// The hand-set grid in order, then auto.
static Method method_at(int row) {
    if (row == GRID) return (Method){.mode = SPSA_AUTO, .c_scale = 1, .average = true};
    return (Method){
        .mode = SPSA_FISHTEST, .r = GridR[row / 4], .c_scale = row / 2 % 2 ? 2 : 1, .average = row % 2};
}

static void method_name(int row, char *name, size_t size) {
    Method m = method_at(row);
    if (m.mode == SPSA_AUTO) snprintf(name, size, "**auto**");
    else snprintf(name, size, "fishtest r=%g %gc %s", m.r, m.c_scale, m.average ? "tail average" : "last");
}

static const Preset *preset_named(const char *name) {
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(Presets[i].name, name) == 0) return &Presets[i];
    return NULL;
}

static SimulationRun table_run(const Preset *preset, Method m, int64_t games) {
    int lag = preset->lag ? preset->lag : m.mode == SPSA_AUTO ? 8 : 1;
    return (SimulationRun){.surface = preset->spec,
                           .mode = m.mode,
                           .last = !m.average,
                           .r = m.r,
                           .c_scale = m.c_scale,
                           .games = games,
                           .pairs = 4,
                           .lag = lag,
                           .tail = .5};
}

static Summary paired(const double *a, const double *b, int64_t n, double *work) {
    for (int64_t i = 0; i < n; i++) work[i] = a[i] - b[i];
    return summarise(work, n);
}

// The grid and auto on one surface: a row of means for each, then auto against the best row, seed by seed.
static bool table_surface(const Request *request, const Preset *preset, int from, int to, double *results,
                          Error *error) {
    int64_t seeds = request->seeds;
    int best[BUDGETS] = {0};
    Summary top[BUDGETS] = {{0}};
    printf("\n## %s: %s, start %.0f Elo, %d parameters\n\n| method |", preset->name, preset->about,
           preset->spec.start_elo, preset->spec.params);
    for (int b = from; b < to; b++) printf(" %lld games |", (long long)Budgets[b]);
    printf("\n|---|");
    for (int b = from; b < to; b++) printf("---|");
    for (int row = 0; row <= GRID; row++) {
        char name[64];
        method_name(row, name, sizeof name);
        printf("\n| %s |", name);
        for (int b = from; b < to; b++) {
            double *regained = results + ((int64_t)b * (GRID + 1) + row) * seeds;
            SimulationRun run = table_run(preset, method_at(row), Budgets[b]);
            if (!run_seeds(request, &run, regained, error)) return false;
            Summary s = summarise(regained, seeds);
            if (row < GRID && (row == 0 || s.mean > top[b].mean)) best[b] = row, top[b] = s;
            printf(" %.2f +- %.2f", s.mean, s.se);
            if (s.losing_share > 0) printf(", %.0f %% lose", 100 * s.losing_share);
            printf(" |");
            fflush(stdout);
        }
    }
    printf("\n");
    for (int b = from; b < to; b++) {
        char name[64];
        const double *grid = results + ((int64_t)b * (GRID + 1)) * seeds;
        method_name(best[b], name, sizeof name);
        double *work = results + (int64_t)BUDGETS * (GRID + 1) * seeds;
        Summary d = paired(grid + GRID * seeds, grid + best[b] * seeds, seeds, work);
        printf("\n- %lld games: auto minus the best row (%s): %+.2f +- %.2f Elo", (long long)Budgets[b], name,
               d.mean, d.se);
    }
    printf("\n");
    return true;
}

// Auto when the user's c or ranges are wrong, against auto when they are right.
static bool table_robust(const Request *request, double *results, Error *error) {
    static const struct {
        const char *name;
        double c, range, noise;
    } Wrong[WRONG] = {{"as given", 1, 1, 0},   {"c / 4", .25, 1, 0},         {"c x 4", 4, 1, 0},
                      {"ranges x 3", 1, 3, 0}, {"ranges / 3", 1, 1. / 3, 0}, {"ranges uneven", 1, 1, .5}};
    printf("\n## What the user got wrong (auto)\n\nRanges / 3 put optima out of reach: on S1 the best values "
           "inside "
           "them regain 19.6 of 20 Elo. Uneven: each range\nmisjudged on its own, by lognormal(.5).\n\n| "
           "surface | games |");
    for (int w = 0; w < WRONG; w++) printf(" %s |", Wrong[w].name);
    printf("\n|---|---|---|---|---|---|---|---|");
    for (int j = 0; j < JUDGED; j++)
        for (int b = 1; b < BUDGETS; b++) {
            double right = 0;
            printf("\n| %s | %lld |", Judged[j], (long long)Budgets[b]);
            for (int w = 0; w < WRONG; w++) {
                SimulationRun run = table_run(preset_named(Judged[j]), method_at(GRID), Budgets[b]);
                run.c_scale = Wrong[w].c;
                run.surface.range_scale = Wrong[w].range;
                run.surface.range_noise = Wrong[w].noise;
                if (!run_seeds(request, &run, results, error)) return false;
                Summary s = summarise(results, request->seeds);
                if (w == 0) right = s.mean;
                printf(" %.2f +- %.2f", s.mean, s.se);
                if (w > 0) printf(" (%+.1f %%)", 100 * (s.mean / right - 1));
                printf(" |");
                fflush(stdout);
            }
        }
    printf("\n");
    return true;
}

static bool print_table(const Request *request, Error *error) {
    size_t cells = ((size_t)BUDGETS * (GRID + 1) + 1) * (size_t)request->seeds;
    double *results = calloc(cells, sizeof *results);
    if (!results) return error_set(error, "out of memory");
    printf("# The tuner on known surfaces\n\n"
           "Written by `hone-tune simulate --table --seeds %lld --first-seed %lld`. Each cell: mean Elo "
           "regained "
           "over the\nseeds and its standard error. Every method sees the same surfaces and the same random "
           "numbers "
           "for its games.\nThe rules of auto were chosen on seeds 1 to 100 and on nothing above.\n\n"
           "fishtest: its schedule, results at once; r and c by hand, c from the user's c (right but for "
           "lognormal(.5), "
           "which no\nreal user can know). auto: no gains given, results 8 iterations late. 4 game pairs an "
           "iteration. Last: the last\ntheta; tail average: of the second half.\n",
           (long long)request->seeds, (long long)request->first_seed);
    bool ok = true;
    for (int i = 0; ok && i < PRESETS; i++) {
        bool judged = false;
        for (int j = 0; j < JUDGED; j++) judged |= strcmp(Presets[i].name, Judged[j]) == 0;
        ok = table_surface(request, &Presets[i], judged ? 0 : 1, judged ? BUDGETS : 2, results, error);
    }
    ok = ok && table_robust(request, results, error);
    free(results);
    return ok;
}

int simulate_main(int argc, char **argv) {
    Error error;
    Request request;
    if (!parse_request(argc, argv, &request, &error)) {
        fprintf(stderr, "hone-tune simulate: %s\n", error.text);
        return 2;
    }
    if (request.help) {
        print_help();
        return 0;
    }
    if (request.table) {
        if (print_table(&request, &error)) return 0;
        fprintf(stderr, "hone-tune simulate: %s\n", error.text);
        return 1;
    }
    double *regained = calloc((size_t)request.seeds, sizeof *regained);
    int64_t start = now_ns();
    bool ok = regained && run_seeds(&request, &request.run, regained, &error);
    if (ok) {
        double seconds = (double)(now_ns() - start) * 1e-9;
        Summary s = summarise(regained, request.seeds);
        double rate = (double)(request.seeds * request.run.games) / seconds;
        if (request.json) print_json(&request, s, rate);
        else
            printf("%s, %s, %lld games, %lld seeds: %.2f Elo regained of %.0f (se %.2f, sd %.2f, 5 %% below "
                   "%.2f, "
                   "%.0f %% lose), %.1f M games/s\n",
                   request.preset->name, spsa_mode_name(request.run.mode), (long long)request.run.games,
                   (long long)request.seeds, s.mean, -request.run.surface.start_elo, s.se, s.sd, s.low,
                   100 * s.losing_share, rate * 1e-6);
    } else {
        fprintf(stderr, "hone-tune simulate: %s\n", regained ? error.text : "out of memory");
    }
    free(regained);
    return ok ? 0 : 1;
}
