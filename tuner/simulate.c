// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <gsl/gsl_cdf.h>

enum { STREAM_SURFACE = 0x5355, STREAM_PAIR, STREAM_FORFEIT };

// ---- surfaces ------------------------------------------------------------------------------------------------

struct Surface {
    SurfaceSpec spec;
    double factor;    // f of the reference
    double unit;      // z = value * unit
    double *optimum;  // z*
    double *weight;   // S3: k_i
    double *hessian;  // S1: n x n
    SpsaParam *params;
};

// A sequence of Gaussian and sign draws of one surface.
typedef struct Draws {
    uint64_t seed, next;
} Draws;

static double draw_gaussian(Draws *d) {
    double u = random_unit(random_at(d->seed, STREAM_SURFACE, d->next++));
    return gsl_cdf_ugaussian_Pinv(u + 0x1p-54);
}

static double draw_sign(Draws *d) { return random_at(d->seed, STREAM_SURFACE, d->next++) & 1 ? 1 : -1; }

// H = Q' diag(30^(k/(n-1) - 1/2)) Q with Q from Gram-Schmidt on Gaussian rows.
static void rotated_hessian(double *h, int n, Draws *d) {
    double *q = calloc((size_t)n * (size_t)n, sizeof *q);
    if (!q) return;
    for (int k = 0; k < n; k++) {
        double *row = q + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) row[i] = draw_gaussian(d);
        for (int j = 0; j < k; j++) {
            const double *other = q + (size_t)j * (size_t)n;
            double dot = 0;
            for (int i = 0; i < n; i++) dot += row[i] * other[i];
            for (int i = 0; i < n; i++) row[i] -= dot * other[i];
        }
        double norm = 0;
        for (int i = 0; i < n; i++) norm += row[i] * row[i];
        norm = 1 / sqrt(norm);
        for (int i = 0; i < n; i++) row[i] *= norm;
        double eigen = n > 1 ? pow(30, (double)k / (n - 1) - .5) : 1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) h[i * n + j] += eigen * row[i] * row[j];
    }
    free(q);
}

static double loss_at(const Surface *s, const double *values) {
    int n = s->spec.params;
    double loss = 0, d[SPSA_MAX_PARAMS];
    for (int i = 0; i < n; i++) d[i] = values[i] * s->unit - s->optimum[i];
    switch (s->spec.kind) {
    case SURFACE_S0:
        for (int i = 0; i < n; i++) loss += .5 * d[i] * d[i];
        break;
    case SURFACE_S1:
        for (int i = 0; i < n; i++) {
            const double *row = s->hessian + (size_t)i * (size_t)n;
            double dot = 0;
            for (int j = 0; j < i; j++) dot += row[j] * d[j];
            loss += d[i] * (dot + .5 * row[i] * d[i]);
        }
        break;
    case SURFACE_S3:
        for (int i = 0; i < n; i++) {
            double x = fabs(d[i]);
            loss += s->weight[i] * (d[i] < 0 ? x * x / (1 + x / 2) : 2 * x * x / (1 + x));
        }
        break;
    }
    return loss;
}

Surface *surface_create(const SurfaceSpec *spec, uint64_t seed) {
    size_t n = (size_t)spec->params;
    Surface *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->spec = *spec;
    s->unit = spec->integer ? spec->c0 : 1;
    s->optimum = calloc(n * 2, sizeof(double));
    s->hessian = calloc(spec->kind == SURFACE_S1 ? n * n : 1, sizeof(double));
    s->params = calloc(n, sizeof *s->params);
    if (!s->optimum || !s->hessian || !s->params) {
        surface_destroy(s);
        return NULL;
    }
    s->weight = s->optimum + n;
    Draws d = {.seed = seed};
    if (spec->kind == SURFACE_S1) rotated_hessian(s->hessian, spec->params, &d);
    double box = 4 * spec->range_scale;
    for (int i = 0; i < spec->params; i++) {
        switch (spec->kind) {
        case SURFACE_S0: s->optimum[i] = draw_sign(&d); break;
        case SURFACE_S1: s->optimum[i] = draw_gaussian(&d); break;
        case SURFACE_S3: s->optimum[i] = 1.5 * draw_sign(&d); break;
        }
        double misjudged = spec->kind == SURFACE_S0 ? 1 : exp(.5 * draw_gaussian(&d));
        if (spec->kind == SURFACE_S3) s->weight[i] = i % 2 ? 0 : exp(.7 * draw_gaussian(&d));
        SpsaParam *p = &s->params[i];
        snprintf(p->name, sizeof p->name, "P%d", i);
        p->is_int = spec->integer;
        p->c_end = spec->c0 * misjudged / s->unit;
        p->min = -box / s->unit;
        p->max = box / s->unit;
        if (spec->bound && i % 2 == 0) {
            double best = s->optimum[i] / s->unit;
            if (best < 0) p->min = fmin(spec->integer ? ceil(best) : best, -.25);
            else p->max = fmax(spec->integer ? floor(best) : best, .25);
        }
        if (spec->integer) {
            p->min = floor(p->min);
            p->max = ceil(p->max);
        }
    }
    double start[SPSA_MAX_PARAMS] = {0};
    s->factor = -spec->start_elo / loss_at(s, start);
    return s;
}

void surface_destroy(Surface *s) {
    if (!s) return;
    free(s->optimum);
    free(s->hessian);
    free(s->params);
    free(s);
}

const SpsaParam *surface_params(const Surface *s) { return s->params; }

double surface_elo(const Surface *s, const double *values) { return -s->factor * loss_at(s, values); }

// ---- game pairs ----------------------------------------------------------------------------------------------

static double logistic(double elo) { return 1 / (1 + exp(-elo * (2 / SPSA_ELO))); }

// Adds the outcome of a pair with opening bias b, in BayesElo units x, to five probabilities.
static void add_pair(double p[5], double x, double b) {
    const double drawelo = 265;
    double win1 = logistic(x - drawelo + b), loss1 = logistic(-x - drawelo - b);
    double win2 = logistic(x - drawelo - b), loss2 = logistic(-x - drawelo + b);
    double draw1 = 1 - win1 - loss1, draw2 = 1 - win2 - loss2;
    p[0] += .5 * loss1 * loss2;
    p[1] += .5 * (loss1 * draw2 + draw1 * loss2);
    p[2] += .5 * (draw1 * draw2 + win1 * loss2 + loss1 * win2);
    p[3] += .5 * (win1 * draw2 + draw1 * win2);
    p[4] += .5 * win1 * win2;
}

// Slope of logistic Elo against x at 0: d(score)/dx there, times dElo/dscore.
static double elo_slope(void) {
    double slope = 0;
    const double biases[] = {-60, 140}, drawelo = 265;
    for (int i = 0; i < 4; i++) {
        double b = biases[i / 2] * (i % 2 ? -1 : 1);
        double win = logistic(-drawelo + b), loss = logistic(-drawelo - b);
        slope += .25 * .5 * (win * (1 - win) + loss * (1 - loss)); // of score, in units of 2/C
    }
    return slope * 4;
}

static PairModel model_at(double x) {
    PairModel m = {{0}};
    add_pair(m.p, x, -60);
    add_pair(m.p, x, 140);
    return m;
}

PairModel pair_model(double elo) { return model_at(elo / elo_slope()); }

// Counts of `pairs` game pairs between players `elo` apart, numbered from `first`.
static void play_pairs(double x, uint64_t seed, uint64_t first, int pairs, double forfeits, uint64_t penta[5]) {
    PairModel m = model_at(x);
    for (int j = 0; j < pairs; j++) {
        double u = random_unit(random_at(seed, STREAM_PAIR, first + (uint64_t)j));
        int outcome = 0;
        for (; outcome < 4 && u >= m.p[outcome]; outcome++) u -= m.p[outcome];
        if (forfeits > 0) { // each game of each side is lost with that probability, whatever the play
            double v = random_unit(random_at(seed, STREAM_FORFEIT, first + (uint64_t)j));
            if (v < forfeits * 2) outcome = v < forfeits ? int_max(outcome - 1, 0) : int_min(outcome + 1, 4);
        }
        penta[outcome]++;
    }
}

// ---- runs ----------------------------------------------------------------------------------------------------

bool simulate_run(const SimulationRun *run, uint64_t seed, double *regained, Error *error) {
    int n = run->surface.params;
    Surface *surface = surface_create(&run->surface, seed);
    SpsaParam *params = calloc((size_t)n, sizeof *params);
    double *values = calloc((size_t)n * 2, sizeof *values);
    SpsaState *state = NULL;
    bool ok = surface && params && values;
    if (!ok) error_set(error, "out of memory for %d parameters", n);
    if (ok) {
        memcpy(params, surface_params(surface), (size_t)n * sizeof *params);
        for (int i = 0; i < n; i++) {
            params[i].c_end *= run->c_scale;
            params[i].r_end = run->r;
        }
        SpsaPlan plan = spsa_plan(params, n, run->games, seed);
        plan.mode = run->mode;
        plan.pairs = run->pairs;
        plan.lag = run->lag;
        plan.tail = run->tail;
        state = spsa_create(&plan, error);
        ok = state != NULL;
        double scale = 1 / elo_slope();
        int64_t iterations = ok ? spsa_iterations(&plan) : 0;
        for (int64_t k = 1; k <= iterations; k++) {
            spsa_perturb(state, k, values, values + n);
            double elo = surface_elo(surface, values) - surface_elo(surface, values + n);
            uint64_t penta[5] = {0};
            play_pairs(elo * scale, seed, (uint64_t)((k - 1) * run->pairs), run->pairs, run->forfeits, penta);
            spsa_apply(state, k, penta);
        }
        for (int i = 0; ok && i < n; i++) {
            SpsaEstimate e = spsa_estimate(state, i);
            double last = params[i].is_int ? floor(e.last + .5) : e.last;
            values[i] = run->last ? last : e.value;
            values[n + i] = params[i].start;
        }
        if (ok) *regained = surface_elo(surface, values) - surface_elo(surface, values + n);
    }
    spsa_destroy(state);
    free(values);
    free(params);
    surface_destroy(surface);
    return ok;
}

// ---- the command ---------------------------------------------------------------------------------------------

// A named surface with the lag at which its results arrive (0: the method's own).
typedef struct Preset {
    const char *name, *about;
    SurfaceSpec spec;
    int lag;
} Preset;

static const Preset Presets[] = {
    {"S0", "diagonal quadratic, optimum at +-1 in each parameter",
     {.kind = SURFACE_S0, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1}, 0},
    {"S1", "rotated quadratic, condition 30, c misjudged by lognormal(.5)",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1}, 0},
    {"S3", "not quadratic, not symmetric, half the parameters inert",
     {.kind = SURFACE_S3, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1}, 0},
    {"S1n30", "S1 with 30 parameters",
     {.kind = SURFACE_S1, .params = 30, .start_elo = -20, .c0 = .4, .range_scale = 1}, 0},
    {"S1start5", "S1 from -5 Elo, c x1.5",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -5, .c0 = .6, .range_scale = 1}, 0},
    {"integer", "S1 with integer parameters, c near 1",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1, .integer = true}, 0},
    {"bound", "S1, every second optimum on a bound of its range",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1, .bound = true}, 0},
    {"late", "S1, results 64 iterations late",
     {.kind = SURFACE_S1, .params = 10, .start_elo = -20, .c0 = .4, .range_scale = 1}, 64},
};
enum { PRESETS = sizeof Presets / sizeof *Presets };

// What the command line asks for.
typedef struct Request {
    SimulationRun run;
    const Preset *preset;
    int64_t seeds, first_seed;
    bool json, help;
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
    else if (strcmp(name, "--first-seed") == 0) ok = parse_int(value, 0, INT64_MAX, &request->first_seed, error);
    else if (strcmp(name, "--pairs") == 0) {
        ok = parse_int(value, 1, 100000, &integer, error);
        run->pairs = (int)integer;
    } else if (strcmp(name, "--lag") == 0) {
        ok = parse_int(value, 1, SPSA_MAX_LAG, &integer, error);
        run->lag = (int)integer;
    } else if (strcmp(name, "--r") == 0) ok = parse_real(value, 0, 1e6, &run->r, error);
    else if (strcmp(name, "--cscale") == 0) ok = parse_real(value, 1e-6, 1e6, &run->c_scale, error);
    else if (strcmp(name, "--rangescale") == 0) ok = parse_real(value, 1e-3, 1e3, &run->surface.range_scale, error);
    else if (strcmp(name, "--start") == 0) ok = parse_real(value, -1000, -.001, &run->surface.start_elo, error);
    else if (strcmp(name, "--tail") == 0) ok = parse_real(value, 0, 1, &run->tail, error);
    else if (strcmp(name, "--forfeits") == 0) ok = parse_real(value, 0, .5, &run->forfeits, error);
    else return error_set(error, "%s: unknown option", name);
    return ok || error_prefix(error, "%s", name);
}

// Everything not given on the command line comes from the named surface and the method.
static bool parse_request(int argc, char **argv, Request *request, Error *error) {
    *request = (Request){.preset = &Presets[1], .seeds = 30, .first_seed = 1};
    request->run = (SimulationRun){.r = .002, .c_scale = 1, .games = 20000, .pairs = 4, .tail = -1};
    for (int i = 1, used; i < argc; i += used)
        if (!parse_option(request, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used, error)) return false;
    SimulationRun *run = &request->run;
    SurfaceSpec given = run->surface;
    run->surface = request->preset->spec;
    if (given.params) run->surface.params = given.params;
    if (given.start_elo < 0) run->surface.start_elo = given.start_elo;
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
         "  --rangescale F     multiplies the ranges    --tail SHARE       judge the average of the tail\n"
         "  --pairs N          pairs an iteration (4)   --lag N            results N iterations late\n"
         "  --forfeits P       share of games lost at random\n"
         "  --json             the result as one JSON object\n"
         "\nSurfaces:");
    for (int i = 0; i < PRESETS; i++) printf("  %-10s %s\n", Presets[i].name, Presets[i].about);
    puts("\nExample: hone-tune simulate --surface S1 --params 10 --games 20000 --seeds 30 --method auto --json");
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
    double *regained = calloc((size_t)request.seeds, sizeof *regained);
    int64_t start = now_ns();
    bool ok = regained != NULL;
    for (int64_t i = 0; ok && i < request.seeds; i++)
        ok = simulate_run(&request.run, (uint64_t)(request.first_seed + i), &regained[i], &error);
    if (ok) {
        double seconds = (double)(now_ns() - start) * 1e-9;
        Summary s = summarise(regained, request.seeds);
        double rate = (double)(request.seeds * request.run.games) / seconds;
        if (request.json) print_json(&request, s, rate);
        else
            printf("%s, %s, %lld games, %lld seeds: %.2f Elo regained of %.0f (se %.2f, sd %.2f, 5 %% below %.2f, "
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
