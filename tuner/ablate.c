// SPDX-License-Identifier: GPL-3.0-or-later
// Running an ablation: a list of jobs, each of which makes a cell or two of the journal. What the journal has
// is not measured again, so the same command goes on after any interruption.
#include "tuner/ablate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/bench.h"
#include "match/supervise.h"

enum { SIGNATURE_DEPTH = 6, MAX_JOBS = 8 * ABLATE_MAX_ROWS };

// Without order and pruning each ply more takes some fifteen times as long: this deep is a matter of a minute.
enum { MINIMAL_DEPTH = 4 };

typedef enum JobKind { JOB_BENCH, JOB_CLOCK, JOB_EQUAL, JOB_MINIMAL, JOB_PHASE, JOB_MATCH } JobKind;

// One thing to measure.
typedef struct Job {
    JobKind kind;
    int row;
    AblateColumn column;
    bool timed;
} Job;

// A run on its way.
typedef struct Run {
    const AblatePlan *plan;
    Ablate ablate;
    Job jobs[MAX_JOBS];
    int count, now;
    uint64_t games_left;   // of matches after this one
    double seconds, games; // played so far, for the time left
} Run;

void ablate_plan_default(AblatePlan *plan) {
    *plan = (AblatePlan){.pairs = 1000,
                         .depth = 12,
                         .bare_depth = 6,
                         .cap = 5000000,
                         .phase_tc = "2+0.02",
                         .phase_pairs = 50,
                         .equal_ms = 100,
                         .columns = {true, true, true},
                         .games = {true, true, true},
                         .out = "runs/ablate"};
    play_default(&plan->play);
    text_copy(plan->play.nodes, sizeof plan->play.nodes, "5000");
}

// --- cells

double ablate_number(const cJSON *json, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static bool text_is(const cJSON *json, const char *name, const char *text) {
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return value && strcmp(value, text) == 0;
}

const cJSON *ablate_cell(const Ablate *ablate, const char *what, const char *key) {
    const cJSON *cell;
    cJSON_ArrayForEach(
        cell, ablate->cells) if (text_is(cell, "what", what) && text_is(cell, "key", key)) return cell;
    return NULL;
}

void ablate_bench_key(const Params *params, int depth, char key[ABLATE_KEY]) {
    char digest[ABLATE_DIGEST];
    ablate_digest(params, digest);
    snprintf(key, ABLATE_KEY, "%s depth %d", digest, depth);
}

void ablate_match_key(const Params *with, const Params *without, const char *control, char key[ABLATE_KEY]) {
    char first[ABLATE_DIGEST], second[ABLATE_DIGEST];
    ablate_digest(with, first);
    ablate_digest(without, second);
    snprintf(key, ABLATE_KEY, "%s %s %.40s", first, second, control);
}

static bool keep_cell(void *context, const cJSON *line, Error *error) {
    Ablate *ablate = context;
    cJSON *copy = cJSON_Duplicate(line, true);
    return (copy && cJSON_AddItemToArray(ablate->cells, copy)) || error_set(error, "not enough memory");
}

// Takes a measured cell into the journal; json is owned from here on.
static bool put_cell(Run *run, const char *what, const char *key, const char *label, cJSON *json,
                     Error *error) {
    cJSON *cell = cJSON_CreateObject(), *item;
    cJSON_AddStringToObject(cell, "what", what);
    cJSON_AddStringToObject(cell, "key", key);
    cJSON_AddStringToObject(cell, "label", label);
    while ((item = json->child)) {
        cJSON_DetachItemViaPointer(json, item);
        cJSON_AddItemToObject(cell, item->string, item);
    }
    cJSON_Delete(json);
    bool ok =
        journal_append_line(&run->ablate.journal, cell, error) && journal_sync(&run->ablate.journal, error);
    cJSON_AddItemToArray(run->ablate.cells, cell);
    return ok;
}

// --- opening and closing

static void journal_path(const char *folder, char *path, size_t size) {
    snprintf(path, size, "%.800s/ablate.journal", folder);
}

bool ablate_open(Ablate *ablate, const char *folder, Error *error) {
    char path[900];
    int64_t size;
    *ablate = (Ablate){.cells = cJSON_CreateArray(), .journal = {.fd = -1}};
    text_copy(ablate->folder, sizeof ablate->folder, folder);
    journal_path(folder, path, sizeof path);
    ablate_rows(&ablate->rows);
    return journal_read_lines(path, &ablate->plan, &size, keep_cell, ablate, error);
}

void ablate_close(Ablate *ablate) {
    journal_close(&ablate->journal);
    cJSON_Delete(ablate->plan);
    cJSON_Delete(ablate->cells);
    *ablate = (Ablate){.journal = {.fd = -1}};
}

// The node count of a shallow bench: another engine must not go on with this one's figures.
static bool signature(double *nodes, Stop *stop, Error *error) {
    Params shipped = params_default();
    cJSON *json = measure_bench(&shipped, SIGNATURE_DEPTH, 0, stop, error);
    *nodes = ablate_number(json, "nodes");
    cJSON_Delete(json);
    return json != NULL || error_set(error, "interrupted before the first figure");
}

static cJSON *plan_json(const AblatePlan *plan, double nodes) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "ablate", 1);
    cJSON_AddNumberToObject(json, "signature", nodes);
    cJSON_AddNumberToObject(json, "signature_depth", SIGNATURE_DEPTH);
    cJSON_AddNumberToObject(json, "depth", plan->depth);
    cJSON_AddNumberToObject(json, "bare_depth", plan->bare_depth);
    cJSON_AddNumberToObject(json, "cap", (double)plan->cap);
    cJSON_AddNumberToObject(json, "pairs", (double)plan->pairs);
    cJSON_AddStringToObject(json, "nodes", plan->play.nodes);
    cJSON_AddStringToObject(json, "openings", plan->play.openings);
    cJSON_AddStringToObject(json, "draw", plan->play.draw);
    cJSON_AddStringToObject(json, "resign", plan->play.resign);
    cJSON_AddNumberToObject(json, "seed", (double)plan->play.seed);
    cJSON_AddNumberToObject(json, "equal_ms", plan->equal_ms);
    cJSON_AddStringToObject(json, "phase_tc", plan->phase_tc);
    cJSON_AddNumberToObject(json, "phase_pairs", (double)plan->phase_pairs);
    return json;
}

// Makes a folder and those above it.
static bool make_folders(const char *folder, Error *error) {
    char path[1000];
    snprintf(path, sizeof path, "%.800s/matches", folder);
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/') continue;
        char rest = *at;
        *at = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return error_set(error, "%s: %s", path, strerror(errno));
        *at = rest;
        if (!rest) return true;
    }
}

// Opens the journal of a run: a new one, or the old one to go on with.
static bool open_run(Run *run, Error *error) {
    const AblatePlan *plan = run->plan;
    Ablate *a = &run->ablate;
    char path[900], aside[1000], text[400];
    double nodes = 0;
    int64_t size = 0;
    journal_path(plan->out, path, sizeof path);
    if (plan->fresh && access(plan->out, F_OK) == 0) {
        if (!journal_set_aside(plan->out, aside, sizeof aside, error)) return false;
        printf("Old folder kept as %s\n", aside);
    }
    if (!make_folders(plan->out, error) || !signature(&nodes, &a->stop, error)) return false;
    a->plan = plan_json(plan, nodes);
    if (access(path, F_OK) != 0) return journal_create(&a->journal, path, a->plan, error);
    cJSON *theirs = NULL;
    bool ok = journal_lock(&a->journal, path, error) &&
              journal_read_lines(path, &theirs, &size, keep_cell, a, error);
    if (ok && journal_difference(a->plan, theirs, text, sizeof text))
        ok = error_set(error, "%s belongs to another run: %.200s (--fresh starts anew and keeps it)", path,
                       text);
    cJSON_Delete(theirs);
    return ok && journal_continue(&a->journal, size, error);
}

// --- jobs

static void add_job(Run *run, Job job) {
    if (run->count < MAX_JOBS) run->jobs[run->count++] = job;
}

static void add_matches(Run *run, const bool *chosen, AblateColumn column, bool claims, bool timed) {
    const AblateRows *rows = &run->ablate.rows;
    for (int i = 0; i < rows->count; i++) {
        const AblateRow *row = &rows->items[i];
        bool plays = row->kind == ROW_TECHNIQUE || (row->kind == ROW_ALL && column == COLUMN_SUM);
        if (chosen[i] && plays && (row->claim != NULL) == claims && run->plan->games[column])
            add_job(run, (Job){JOB_MATCH, i, column, timed});
    }
}

// What costs little first, then what matters most.
static bool list_jobs(Run *run, Error *error) {
    const AblateRows *rows = &run->ablate.rows;
    bool chosen[ABLATE_MAX_ROWS], timed = run->plan->tc[0] != '\0';
    if (!ablate_choose(rows, run->plan->only, chosen, error)) return false;
    for (int i = 0; i < rows->count; i++) {
        AblateKind kind = rows->items[i].kind;
        if (!chosen[i]) continue;
        for (int column = 0; column < ABLATE_COLUMNS; column++)
            if (run->plan->columns[column] && (kind <= ROW_NO_GAMES || kind == ROW_ALL))
                add_job(run, (Job){JOB_BENCH, i, (AblateColumn)column, false});
        if (kind == ROW_CLOCK) add_job(run, (Job){JOB_CLOCK, i, COLUMN_OFF, false});
        if (kind == ROW_ALL) add_job(run, (Job){JOB_EQUAL, i, COLUMN_OFF, false});
        if (kind == ROW_MINIMAL) add_job(run, (Job){JOB_MINIMAL, i, COLUMN_OFF, false});
    }
    add_matches(run, chosen, COLUMN_OFF, true, false);
    for (int i = 0; i < rows->count; i++)
        if (chosen[i] && rows->items[i].kind == ROW_PHASE && run->plan->phase_pairs)
            add_job(run, (Job){JOB_PHASE, i, COLUMN_OFF, true});
    add_matches(run, chosen, COLUMN_SUM, true, false);
    add_matches(run, chosen, COLUMN_ON, true, false);
    add_matches(run, chosen, COLUMN_OFF, false, false);
    add_matches(run, chosen, COLUMN_ON, false, false);
    if (timed) {
        add_matches(run, chosen, COLUMN_OFF, true, true);
        add_matches(run, chosen, COLUMN_SUM, true, true);
        add_matches(run, chosen, COLUMN_OFF, false, true);
    }
    return true;
}

static void control_of(const AblatePlan *plan, bool timed, char *text, size_t size) {
    if (timed) snprintf(text, size, "tc %.30s", plan->tc);
    else snprintf(text, size, "nodes %.30s", plan->play.nodes);
}

// Whether a job has been done, or need not be.
static bool is_done(const Run *run, const Job *job) {
    const Ablate *a = &run->ablate;
    char key[ABLATE_KEY], other[ABLATE_KEY], control[48];
    Params with, without;
    const char *missing;
    const int depth = job->column == COLUMN_OFF ? run->plan->depth : run->plan->bare_depth;
    switch (job->kind) {
    case JOB_CLOCK: return ablate_cell(a, "clock", "clock") != NULL;
    case JOB_EQUAL: return ablate_cell(a, "equal", "equal") != NULL;
    case JOB_MINIMAL: return ablate_cell(a, "minimal", "minimal") != NULL;
    case JOB_PHASE: return ablate_cell(a, "phase", "phase") != NULL;
    case JOB_BENCH:
        if (!ablate_sides(&a->rows, job->row, job->column, &with, &without, NULL)) return true;
        ablate_bench_key(&with, depth, key);
        ablate_bench_key(&without, depth, other);
        return ablate_cell(a, "bench", key) && ablate_cell(a, "bench", other);
    case JOB_MATCH:
        if (!ablate_sides(&a->rows, job->row, job->column, &with, &without, &missing) || *missing)
            return true;
        control_of(run->plan, job->timed, control, sizeof control);
        ablate_match_key(&with, &without, control, key);
        return ablate_cell(a, "match", key) != NULL;
    }
    return true;
}

static bool do_bench(Run *run, const Job *job, Error *error) {
    const int depth = job->column == COLUMN_OFF ? run->plan->depth : run->plan->bare_depth;
    Params sides[2];
    ablate_sides(&run->ablate.rows, job->row, job->column, &sides[0], &sides[1], NULL);
    for (int i = 0; i < 2; i++) {
        char key[ABLATE_KEY], label[1024];
        ablate_bench_key(&sides[i], depth, key);
        if (ablate_cell(&run->ablate, "bench", key)) continue;
        ablate_describe(&sides[i], label, sizeof label);
        cJSON *json = measure_bench(&sides[i], depth, run->plan->cap, &run->ablate.stop, error);
        if (!json || !put_cell(run, "bench", key, label, json, error)) return false;
    }
    return true;
}

// --- matches

// A match in the child that plays it.
typedef struct MatchJob {
    Run *run;
    MatchPlan plan;
    const char *name;
} MatchJob;

static void hours_text(double seconds, char *text, size_t size) {
    if (seconds < 5400) snprintf(text, size, "%.0f min", ceil(seconds / 60));
    else snprintf(text, size, "%.1f h", seconds / 3600);
}

// The line that is rewritten while a match is played.
static void show_match(void *context, const MatchState *state) {
    const MatchJob *job = context;
    const Run *run = job->run;
    double seconds = (double)(now_ms() - state->begun_ms) / 1000;
    if (run->plan->quiet || !isatty(STDOUT_FILENO) || state->games_now < 4 || seconds <= 0) return;
    double rate = (double)state->games_now / seconds;
    double here = 2 * (double)(state->pairs_total - state->pairs_done);
    Sample sample = sample_of(&state->table[1]);
    Estimate elo = sample_elo(&sample);
    char left[40], all[40];
    hours_text(here / rate, left, sizeof left);
    hours_text((here + (double)run->games_left) / rate, all, sizeof all);
    printf("\r[%d/%d] %s: %llu of %llu games, %.1f games/s, Elo %+.1f +- %.1f, %s left, %s in all   ",
           run->now + 1, run->count, job->name, (unsigned long long)(2 * state->pairs_done),
           (unsigned long long)(2 * state->pairs_total), rate, elo.value, estimate_margin(&elo), left, all);
    fflush(stdout);
}

static int play_child(void *context, _Atomic uint64_t *in_flight, int attempt) {
    MatchJob *job = context;
    Error error = {.text = ""};
    MatchResult result;
    MatchHooks hooks = {.context = job, .silent = true, .keep_finished = true, .tick = show_match};
    (void)attempt;
    MatchOutcome outcome = match_play(&job->plan, &hooks, in_flight, &result, &error);
    if (outcome == MATCH_FAILED) fprintf(stderr, "hone-tune ablate: %s: %s\n", job->name, error.text);
    return outcome == MATCH_FINISHED ? 0 : outcome == MATCH_INTERRUPTED ? 1 : 2;
}

static bool set_params(PlayerSpec *spec, const Params *params, Error *error) {
    Params shipped = params_default();
    for (int id = 0; id < PARAM_COUNT; id++) {
        char value[32];
        if (params_get(params, id) == params_get(&shipped, id)) continue;
        params_text(params, id, value);
        if (!play_player_option(spec, ParamTable[id].name, value, error)) return false;
    }
    return true;
}

// Plays a match to its end and gives what it came to: 0, 1 interrupted, 2 failed.
static int play_match(Run *run, MatchJob *job, MatchResult *result, Error *error) {
    MatchHooks hooks = {.silent = true, .keep_finished = true, .only_replay = true};
    int status = supervise("hone-tune ablate", job->plan.journal, job->plan.concurrency, play_child, job);
    if (status == 2) error_set(error, "%s could not be played to its end", job->name);
    if (status != 0) return status;
    MatchOutcome outcome = match_play(&job->plan, &hooks, NULL, result, error);
    if (!run->plan->quiet && isatty(STDOUT_FILENO)) printf("\r%120s\r", "");
    return outcome == MATCH_FINISHED ? 0 : 2;
}

static cJSON *counts_json(const uint64_t *counts, int count) {
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) cJSON_AddItemToArray(array, cJSON_CreateNumber((double)counts[i]));
    return array;
}

static int do_match(Run *run, const Job *job, Error *error) {
    const AblateRow *row = &run->ablate.rows.items[job->row];
    Params with, without;
    char key[ABLATE_KEY], control[48], name[120], path[1000], label[1024];
    PlayOptions *play = malloc(sizeof *play);
    MatchJob match = {.run = run, .name = name};
    MatchResult result;
    if (!play) return 2;
    *play = run->plan->play;
    control_of(run->plan, job->timed, control, sizeof control);
    if (job->timed) {
        play->nodes[0] = '\0';
        text_copy(play->tc, sizeof play->tc, run->plan->tc);
    }
    ablate_sides(&run->ablate.rows, job->row, job->column, &with, &without, NULL);
    ablate_match_key(&with, &without, control, key);
    snprintf(name, sizeof name, "%s-%s%s", row->key, ablate_column_name(job->column),
             job->timed ? "-timed" : "");
    snprintf(path, sizeof path, "%.800s/matches/%s.journal", run->plan->out, name);
    bool ok = play_plan(play, "with", "without", run->plan->pairs, path, &match.plan, error) &&
              set_params(&match.plan.players[0], &with, error) &&
              set_params(&match.plan.players[1], &without, error);
    int64_t begun = now_ms();
    int status = ok ? play_match(run, &match, &result, error) : 2;
    if (status == 0) {
        cJSON *json = cJSON_CreateObject();
        double seconds = (double)(now_ms() - begun) / 1000;
        cJSON_AddStringToObject(json, "control", control);
        cJSON_AddItemToObject(json, "penta", counts_json(result.stats.penta, PENTA_CLASSES));
        cJSON_AddItemToObject(json, "wdl", counts_json(result.stats.wdl, WDL_CLASSES));
        cJSON_AddNumberToObject(json, "aside", (double)result.aside);
        cJSON_AddNumberToObject(json, "seconds", seconds);
        run->seconds += seconds;
        run->games += (double)stats_games(&result.stats);
        ablate_describe(&without, label, sizeof label);
        if (!put_cell(run, "match", key, label, json, error)) status = 2;
        Sample sample = sample_of(&result.stats);
        Estimate elo = sample_elo(&sample);
        if (!run->plan->quiet)
            printf("  %llu games, Elo %+.1f [%+.1f, %+.1f]\n", (unsigned long long)stats_games(&result.stats),
                   elo.value, elo.low, elo.high);
    }
    free(match.plan.players);
    free(play);
    return status;
}

static int do_phase(Run *run, Error *error) {
    char path[1000];
    PlayOptions *play = malloc(sizeof *play);
    MatchJob match = {.run = run, .name = "phase"};
    MatchResult result;
    if (!play) return 2;
    *play = run->plan->play;
    play->nodes[0] = '\0';
    text_copy(play->tc, sizeof play->tc, run->plan->phase_tc);
    snprintf(path, sizeof path, "%.800s/matches/phase.journal", run->plan->out);
    bool ok = play_plan(play, "one", "other", run->plan->phase_pairs, path, &match.plan, error);
    int status = ok ? play_match(run, &match, &result, error) : 2;
    if (status == 0) {
        cJSON *json = measure_phase(&match.plan, error);
        if (!json || !put_cell(run, "phase", "phase", run->plan->phase_tc, json, error)) status = 2;
    }
    free(match.plan.players);
    free(play);
    return status;
}

// --- the run

static int do_job(Run *run, const Job *job, Error *error) {
    Stop *stop = &run->ablate.stop;
    cJSON *json = NULL;
    const char *what = "";
    switch (job->kind) {
    case JOB_BENCH: return do_bench(run, job, error) ? 0 : stop_poll(stop) ? 1 : 2;
    case JOB_MATCH: return do_match(run, job, error);
    case JOB_PHASE: return do_phase(run, error);
    case JOB_CLOCK:
        what = "clock";
        json = measure_clock(int_max(1, run->plan->depth - 1), stop, error);
        break;
    case JOB_EQUAL:
        what = "equal";
        json = measure_equal(run->plan->equal_ms, stop, error);
        break;
    case JOB_MINIMAL:
        what = "minimal";
        json = measure_minimal(int_min(run->plan->bare_depth, MINIMAL_DEPTH), stop, error);
        break;
    }
    if (!json) return stop_poll(stop) ? 1 : 2;
    return put_cell(run, what, what, "", json, error) ? 0 : 2;
}

static void announce(Run *run) {
    static const char *const Kinds[] = {"bench", "clock", "equal time", "minimal tree", "phase", "match"};
    const Job *job = &run->jobs[run->now];
    char left[40] = "";
    run->games_left = 0;
    for (int i = run->now + 1; i < run->count; i++)
        if (run->jobs[i].kind == JOB_MATCH && !is_done(run, &run->jobs[i]))
            run->games_left += 2 * run->plan->pairs;
    if (run->plan->quiet) return;
    if (run->games > 0 && job->kind == JOB_MATCH) {
        hours_text(((double)run->games_left + 2 * (double)run->plan->pairs) * run->seconds / run->games, left,
                   sizeof left);
        strcat(left, " left");
    }
    printf("[%d/%d] %s: %s %s%s%s%s\n", run->now + 1, run->count, Kinds[job->kind],
           run->ablate.rows.items[job->row].title,
           job->kind == JOB_BENCH || job->kind == JOB_MATCH ? ablate_column_name(job->column) : "",
           job->timed ? " by the clock" : "", left[0] ? ", " : "", left);
    fflush(stdout);
}

// Renews the page and the JSON beside the journal.
static bool write_results(const Run *run, Error *error) {
    char path[900];
    snprintf(path, sizeof path, "%.800s/ablate.json", run->plan->out);
    FILE *out = fopen(path, "w");
    bool ok = out && ablate_json(&run->ablate, out, true);
    if (out) ok = fclose(out) == 0 && ok;
    if (!ok) return error_set(error, "%s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%.800s/ABLATION.md", run->plan->out);
    return ablate_page(&run->ablate, path, true, error);
}

int ablate_run(const AblatePlan *plan, Error *error) {
    Run *run = calloc(1, sizeof *run);
    int status = 2;
    if (!run) return 2;
    run->plan = plan;
    run->ablate = (Ablate){.cells = cJSON_CreateArray(), .journal = {.fd = -1}};
    text_copy(run->ablate.folder, sizeof run->ablate.folder, plan->out);
    ablate_rows(&run->ablate.rows);
    if (list_jobs(run, error) && open_run(run, error)) status = 0;
    for (run->now = 0; status == 0 && run->now < run->count; run->now++) {
        const Job *job = &run->jobs[run->now];
        if (is_done(run, job)) continue;
        announce(run);
        status = stop_poll(&run->ablate.stop) ? 1 : do_job(run, job, error);
        bool slow = job->kind != JOB_BENCH;
        if (status < 2 && slow && !write_results(run, error)) status = 2;
    }
    if (status < 2 && !write_results(run, error)) status = 2;
    ablate_close(&run->ablate);
    free(run);
    return status;
}
