// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/train_run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match/output.h"
#include "tuner/plot.h"
#include "tuner/report.h"
#include "tuner/train_checkpoint.h"

enum { CURVE = 100, SAMPLE = 200000, COMPARED = 10000, LIVE_MS = 500, REPORT_MS = 10000 };

// A run while it goes on.
typedef struct Run {
    TrainJob *job;
    const TrainData *data;
    TrainState state;
    TrainOutcome *outcome;
    FILE *log;
    char settings[8192], checkpoint[1100];
    int64_t begun_ms, saved_ms, shown_ms, reported_ms, first_step;
} Run;

void train_job_settle(TrainJob *job, size_t positions) {
    TrainPlan *plan = &job->plan;
    if (plan->steps == 0) plan->steps = (int64_t)ceil(fmax(1, job->epochs * (double)positions / plan->batch));
    if (plan->warm_up == 0) plan->warm_up = plan->steps / 50 < 500 ? plan->steps / 50 : 500;
}

// --- what the run was told, and its history

// Adds formatted text to a buffer, cut if it must be.
static void add_text(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_text(char *buffer, size_t size, const char *format, ...) {
    const size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
}

static void write_settings(Run *run) {
    const TrainPlan *plan = &run->job->plan;
    const TrainFilter *filter = &run->job->filter;
    char *text = run->settings;
    const size_t size = sizeof run->settings;
    add_text(text, size, "hidden %d\nbatch %d\nsteps %lld\nwarm-up %lld\nrate %.9g\nrate-end %.9g\n",
             plan->hidden, plan->batch, (long long)plan->steps, (long long)plan->warm_up, plan->rate,
             plan->rate_end);
    add_text(text, size,
             "decay %.9g\nlambda-start %.9g\nlambda-end %.9g\npower %.9g\nscore-scale %d\nround-from "
             "%.9g\n",
             plan->decay, plan->lambda_start, plan->lambda_end, plan->power, plan->score_scale,
             plan->round_from);
    add_text(text, size, "seed %llu\nskip %d\nmax-score %d\nmax-rule50 %d\nhold-out %d\nstart-from %s\n",
             (unsigned long long)plan->seed, filter->skip, filter->max_score, filter->max_rule50,
             filter->held_out, run->job->start_from[0] ? run->job->start_from : "random weights");
    add_text(text, size, "positions %zu + %zu held out\n", run->data->list[0].count,
             run->data->list[1].count);
    uint64_t digest = DIGEST_START; // of any number of files
    for (int i = 0; i < run->data->file_count; i++)
        digest = digest_of(digest, &run->data->files[i].digest, sizeof digest);
    add_text(text, size, "data %d files, digest %016llx\n", run->data->file_count,
             (unsigned long long)digest);
}

static cJSON *files_json(const TrainData *data) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < data->file_count; i++) {
        const TrainFile *file = &data->files[i];
        const char *slash = strrchr(file->path, '/');
        char digest[32];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)file->digest);
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "file", slash ? slash + 1 : file->path);
        cJSON_AddStringToObject(item, "digest", digest);
        cJSON_AddNumberToObject(item, "games", (double)file->games);
        cJSON_AddNumberToObject(item, "positions", (double)file->positions);
        cJSON_AddItemToArray(list, item);
    }
    return list;
}

// The history of the net as one line of JSON, which the caller frees. No date, so that it can be made again.
static char *note_of(const Run *run) {
    const TrainData *data = run->data;
    const TrainPoint *last = &run->state.points[run->state.point_count - 1];
    cJSON *json = cJSON_CreateObject(), *settings = cJSON_AddObjectToObject(json, "settings");
    for (const char *line = run->settings; *line;) {
        char name[64] = "", value[1100] = "";
        if (sscanf(line, "%63[^ ] %1023[^\n]", name, value) == 2)
            cJSON_AddStringToObject(settings, name, value);
        line += strcspn(line, "\n"), line += *line == '\n';
    }
    cJSON_AddNumberToObject(json, "games", (double)data->counts.games);
    cJSON_AddNumberToObject(json, "plies", (double)data->counts.plies);
    cJSON_AddNumberToObject(json, "train_positions", (double)data->list[0].count);
    cJSON_AddNumberToObject(json, "held_out_positions", (double)data->list[1].count);
    cJSON_AddNumberToObject(json, "loss_train", last->train);
    cJSON_AddNumberToObject(json, "loss_held_out", last->held);
    cJSON_AddNumberToObject(json, "loss_held_out_plain", last->held_plain);
    cJSON_AddItemToObject(json, "data", files_json(data));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

// --- what is shown

static double epochs_at(const Run *run, int64_t step) {
    return (double)step * run->job->plan.batch / (double)run->data->list[0].count;
}

static double rate_of(const Run *run) {
    const double seconds = (double)(now_ms() - run->begun_ms) / 1000;
    return (double)(run->state.step - run->first_step) * run->job->plan.batch / fmax(seconds, 1e-3);
}

static void print_progress(const Run *run, FILE *out) {
    const TrainState *state = &run->state;
    const TrainPlan *plan = &run->job->plan;
    const double rate = rate_of(run);
    const double left = (double)(plan->steps - state->step) * plan->batch / fmax(rate, 1);
    fprintf(out, "epoch %.2f/%.2f", epochs_at(run, state->step), epochs_at(run, plan->steps));
    if (state->point_count) {
        const TrainPoint *point = &state->points[state->point_count - 1];
        fprintf(out, ", loss %.6f, held out %.6f (plain %.6f)", point->train, point->held, point->held_plain);
    }
    fprintf(out, ", lr %.2g, lambda %.2f, %.2f M positions/s, %d:%02d:%02d left",
            train_rate(plan, state->step), train_lambda(plan, state->step), rate / 1e6, (int)(left / 3600),
            (int)(left / 60) % 60, (int)left % 60);
}

static void plot_losses(const Run *run, FILE *out) {
    const TrainState *state = &run->state;
    double x[TRAIN_POINTS], train[TRAIN_POINTS], held[TRAIN_POINTS], plain[TRAIN_POINTS];
    double low = INFINITY, high = 0, plain_low = INFINITY, plain_high = 0;
    const int count = state->point_count, skip = count > 20 ? 2 : 0; // the first fall would hide the rest
    for (int i = 0; i < count; i++) {
        const TrainPoint *point = &state->points[i];
        x[i] = epochs_at(run, point->step);
        train[i] = point->train, held[i] = point->held, plain[i] = point->held_plain;
        if (i < skip) continue;
        low = fmin(low, fmin(train[i], held[i])), high = fmax(high, fmax(train[i], held[i]));
        plain_low = fmin(plain_low, plain[i]), plain_high = fmax(plain_high, plain[i]);
    }
    if (count == 0) return;
    Plot plot = plot_begin(out, "Loss: training (thin) and held out", "epoch", x[0], x[count - 1], low, high);
    plot_line(&plot, "thin", x, train, count), plot_line(&plot, "a", x, held, count);
    plot_end(&plot);
    plot = plot_begin(out, "Held out, squared error, half score and half result", "epoch", x[0], x[count - 1],
                      plain_low, plain_high);
    plot_line(&plot, "a", x, plain, count);
    plot_end(&plot);
}

static bool write_report(const Run *run, Error *error) {
    const TrainJob *job = run->job;
    char fresh[1200];
    snprintf(fresh, sizeof fresh, "%.1100s.new", job->report);
    FILE *out = fopen(fresh, "w");
    if (!out) return error_set(error, "%s: %s", fresh, strerror(errno));
    report_head(out, job->out);
    fputs("<h1>Net ", out), html_text(out, job->out), fputs("</h1><p class=\"verdict\">", out);
    print_progress(run, out);
    fputs("</p>\n<div class=\"plots\">", out);
    plot_losses(run, out);
    fputs("</div>\n", out);
    if (run->outcome->rounding.positions)
        fprintf(out,
                "<p>Float and integer evaluation differ by %.2f centipawns on average, %.1f at most.</p>\n",
                run->outcome->rounding.mean, run->outcome->rounding.worst);
    fputs("<h2>Settings</h2><pre>", out), html_text(out, run->settings);
    fputs(
        "</pre>\n<h2>Data</h2><div class=\"wide\"><table><tr><th>file<th>games<th>positions<th>digest</tr>\n",
        out);
    for (int i = 0; i < run->data->file_count; i++) {
        const TrainFile *file = &run->data->files[i];
        fputs("<tr><td>", out), html_text(out, file->path);
        fprintf(out, "<td>%llu<td>%llu<td>%016llx</tr>\n", (unsigned long long)file->games,
                (unsigned long long)file->positions, (unsigned long long)file->digest);
    }
    fputs("</table></div></body></html>\n", out);
    bool ok = ferror(out) == 0;
    ok = fclose(out) == 0 && ok;
    if (ok && rename(fresh, job->report) == 0) return true;
    error_set(error, "%s: cannot write: %s", fresh, strerror(errno));
    remove(fresh);
    return false;
}

// A report that cannot be written is told once and does not end the run.
static void report_now(Run *run) {
    Error error;
    if (!run->job->report[0]) return;
    run->reported_ms = now_ms();
    if (write_report(run, &error)) return;
    fprintf(stderr, "hone-tune train: report: %s\n", error.text);
    run->job->report[0] = '\0';
}

static void show(Run *run, bool new_point) {
    const int64_t now = now_ms();
    const bool terminal = isatty(fileno(run->log)), quiet = run->job->quiet;
    if (!quiet && terminal && (new_point || now - run->shown_ms >= LIVE_MS)) {
        run->shown_ms = now;
        fputs(LIVE_BEGIN, run->log);
        print_progress(run, run->log);
        fputs(LIVE_END, run->log);
        fflush(run->log);
    }
    if (!quiet && !terminal && new_point) {
        print_progress(run, run->log);
        fputs("\n", run->log);
        fflush(run->log);
    }
    if (new_point && now - run->reported_ms >= REPORT_MS) report_now(run);
}

// --- the run

// Whether a number is infinite or none, which -ffast-math would not tell.
static bool is_broken(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (bits >> 52 & 0x7ff) == 0x7ff;
}

static bool save_state(Run *run, Error *error) {
    run->saved_ms = now_ms();
    return checkpoint_write(run->checkpoint, run->settings, &run->state, error);
}

static bool begin(Run *run, Error *error) {
    TrainJob *job = run->job;
    bool found = false;
    if (!run->data->list[0].count) return error_set(error, "no positions to train on are left");
    write_settings(run);
    snprintf(run->checkpoint, sizeof run->checkpoint, "%.1000s.checkpoint", job->out);
    if (!train_state_new(&run->state, &job->plan, error)) return false;
    if (!job->fresh && checkpoint_read(run->checkpoint, run->settings, &run->state, &found, error)) {
        fprintf(run->log, "%s: goes on at step %lld of %lld\n", run->checkpoint, (long long)run->state.step,
                (long long)job->plan.steps);
        return true;
    }
    if (found) return false;
    return !job->start_from[0] || train_start_from(&run->state, job->plan.hidden, job->start_from, error);
}

// Trains until the end or a signal.
static bool loop(Run *run, Trainer *trainer, Stop *stop, Error *error) {
    const TrainJob *job = run->job;
    TrainState *state = &run->state;
    const int64_t steps = job->plan.steps, every = (steps + CURVE - 1) / CURVE;
    while (state->step < steps && stop_poll(stop) == 0) {
        const double loss = trainer_step(trainer);
        if (is_broken(loss))
            return error_set(error, "the loss is no number any more at step %lld: try a lower --lr",
                             (long long)state->step);
        const bool point = state->step % every == 0 || state->step == steps;
        if (point) trainer_point(trainer, state->step == steps ? SIZE_MAX : SAMPLE);
        show(run, point);
        if ((double)(now_ms() - run->saved_ms) >= 1000 * job->checkpoint_s && !save_state(run, error))
            return false;
    }
    return run->state.step == run->first_step || save_state(run, error);
}

static bool finish(Run *run, Error *error) {
    TrainOutcome *outcome = run->outcome;
    const TrainList *list = &run->data->list[run->data->list[1].count ? 1 : 0];
    char *note = note_of(run);
    if (!note) return error_set(error, "not enough memory");
    const bool ok = train_save(&run->state, &run->job->plan, run->job->out, note, list, COMPARED,
                               &outcome->rounding, error);
    free(note);
    outcome->last = run->state.points[run->state.point_count - 1];
    outcome->finished = ok;
    return ok;
}

bool train_run(TrainJob *job, const TrainData *data, Stop *stop, FILE *log, TrainOutcome *outcome,
               Error *error) {
    Run *run = calloc(1, sizeof *run);
    if (!run) return error_set(error, "not enough memory");
    *outcome = (TrainOutcome){0};
    train_job_settle(job, data->list[0].count);
    run->job = job, run->data = data, run->log = log, run->outcome = outcome;
    bool ok = begin(run, error);
    Trainer *trainer = ok ? trainer_new(&job->plan, data, &run->state, error) : NULL;
    run->first_step = run->state.step;
    run->begun_ms = run->saved_ms = now_ms();
    ok = trainer && loop(run, trainer, stop, error);
    outcome->steps = run->state.step, outcome->steps_now = run->state.step - run->first_step;
    outcome->seconds = (double)(now_ms() - run->begun_ms) / 1000, outcome->rate = rate_of(run);
    trainer_free(trainer);
    if (!job->quiet && isatty(fileno(log))) fputs("\r\033[K", log);
    if (ok && run->state.step == job->plan.steps) ok = finish(run, error);
    if (ok) report_now(run);
    train_state_free(&run->state);
    free(run);
    return ok;
}
