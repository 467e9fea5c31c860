// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/train_command.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/arguments.h"
#include "tuner/train_run.h"

// The command line, read.
typedef struct Command {
    TrainJob job;
    const char **paths;
    int path_count;
    bool speed, help;
} Command;

static void print_help(void) {
    const TrainPlan plan = TRAIN_DEFAULTS;
    const TrainFilter filter = TRAIN_FILTER_DEFAULTS;
    printf("hone-tune train [options] --out NET --data FILE...\n"
           "Trains a net on files of games (hone-tune datagen), quantises it and writes it.\n\n"
           "  --data FILE...       games; filtered and held out when they are loaded\n"
           "  --out NET            the net; NET.checkpoint keeps the run, NET.html shows it\n"
           "  --hidden N           neurons for each side, a multiple of 32 (%d)\n"
           "  --epochs X           passes over the data (30); or\n"
           "  --steps N            batches\n"
           "  --batch N            positions to a batch (%d)\n"
           "  --lr X --lr-end X    learning rate, falling along a cosine (%g, %g)\n"
           "  --warm-up N          batches until it is full (a fiftieth of the run, 500 at most)\n"
           "  --decay X            weight decay of AdamW (%g)\n"
           "  --lambda-start X --lambda-end X\n"
           "                       share of the result in the target, from the first step to the last (%g, "
           "%g)\n"
           "  --power X            the loss is |p - target|^X (%g)\n"
           "  --score-scale X      a score s counts as 1 / (1 + exp(-s / X)) (%d); the net speaks in such scores\n"
           "  --round-from X       from this share of the run on, train with weights rounded as in the "
           "engine (%g)\n"
           "  --start-from NET     begin with the weights of a net\n",
           plan.hidden, plan.batch, plan.rate, plan.rate_end, plan.decay, plan.lambda_start, plan.lambda_end,
           plan.power, plan.score_scale, plan.round_from);
    printf("  --skip N             leave out the first plies of every game (%d)\n"
           "  --max-score N        leave out larger scores (%d)\n"
           "  --max-rule50 N       leave out higher fifty-move counts (%d)\n"
           "  --hold-out N         one game in N is not trained on but measured (%d)\n"
           "  --seed N             of weights and order (%llu)\n"
           "  --threads N          up to %d (%d); changes the time and nothing else\n"
           "  --checkpoint S       seconds between checkpoints (60)\n"
           "  --fresh              start over, whatever the checkpoint says\n"
           "  --report FILE|off    the page with the loss curve (NET.html)\n"
           "  --quiet              no progress\n"
           "  --speed              positions a second on this machine at several widths, and no more\n\n"
           "The same command again goes on from the checkpoint, and comes to the very same net.\n\n"
           "Examples:\n"
           "  hone-tune train --hidden 128 --epochs 20 --out net.nnue --data games/*.games\n"
           "  hone-tune train --hidden 128 --start-from net.nnue --lr 2e-4 --epochs 5 --out next.nnue --data "
           "new.games\n"
           "  hone-tune train --speed\n",
           filter.skip, filter.max_score, filter.max_rule50, filter.held_out, (unsigned long long)plan.seed,
           TRAIN_MAX_THREADS, plan.threads);
}

static bool read_whole(const char *value, int64_t min, int64_t max, int *number, Error *error) {
    int64_t wide = 0;
    if (!parse_int(value, min, max, &wide, error)) return false;
    *number = (int)wide;
    return true;
}

static bool read_path(const char *value, char *path, size_t size, Error *error) {
    return text_copy(path, size, value) || error_set(error, "the name is too long");
}

static bool read_hidden(const char *value, int *hidden, Error *error) {
    if (!read_whole(value, 32, NNUE_MAX_HIDDEN, hidden, error)) return false;
    return *hidden % 32 == 0 || error_set(error, "%d is not a multiple of 32", *hidden);
}

static bool read_value(void *context, const char *key, const char *value, Error *error) {
    Command *c = context;
    TrainJob *job = &c->job;
    TrainPlan *plan = &job->plan;
    TrainFilter *filter = &job->filter;
    int64_t seed;
    if (!key || strcmp(key, "data") == 0) {
        c->paths[c->path_count++] = value;
        return true;
    }
    if (strcmp(key, "out") == 0) return read_path(value, job->out, sizeof job->out, error);
    if (strcmp(key, "report") == 0) return read_path(value, job->report, sizeof job->report, error);
    if (strcmp(key, "start-from") == 0)
        return read_path(value, job->start_from, sizeof job->start_from, error);
    if (strcmp(key, "hidden") == 0) return read_hidden(value, &plan->hidden, error);
    if (strcmp(key, "epochs") == 0) return parse_real(value, 1e-6, 1e6, &job->epochs, error);
    if (strcmp(key, "steps") == 0) return parse_int(value, 1, INT64_C(1000000000), &plan->steps, error);
    if (strcmp(key, "batch") == 0) return read_whole(value, TRAIN_LANES, 1 << 22, &plan->batch, error);
    if (strcmp(key, "lr") == 0) return parse_real(value, 0, 1, &plan->rate, error);
    if (strcmp(key, "lr-end") == 0) return parse_real(value, 0, 1, &plan->rate_end, error);
    if (strcmp(key, "warm-up") == 0) return parse_int(value, 1, 1000000, &plan->warm_up, error);
    if (strcmp(key, "decay") == 0) return parse_real(value, 0, 1, &plan->decay, error);
    if (strcmp(key, "lambda-start") == 0) return parse_real(value, 0, 1, &plan->lambda_start, error);
    if (strcmp(key, "lambda-end") == 0) return parse_real(value, 0, 1, &plan->lambda_end, error);
    if (strcmp(key, "power") == 0) return parse_real(value, 1.5, 4, &plan->power, error);
    if (strcmp(key, "round-from") == 0) return parse_real(value, 0, 1, &plan->round_from, error);
    if (strcmp(key, "score-scale") == 0) return read_whole(value, 1, NNUE_SCALE_MAX, &plan->score_scale, error);
    if (strcmp(key, "skip") == 0) return read_whole(value, 0, GAMEDATA_MAX_PLIES, &filter->skip, error);
    if (strcmp(key, "max-score") == 0)
        return read_whole(value, 1, GAMEDATA_SCORE_MAX, &filter->max_score, error);
    if (strcmp(key, "max-rule50") == 0) return read_whole(value, 0, 255, &filter->max_rule50, error);
    if (strcmp(key, "hold-out") == 0) return read_whole(value, 2, 1000000, &filter->held_out, error);
    if (strcmp(key, "threads") == 0) return read_whole(value, 1, TRAIN_MAX_THREADS, &plan->threads, error);
    if (strcmp(key, "checkpoint") == 0) return parse_real(value, 0, 1e6, &job->checkpoint_s, error);
    if (strcmp(key, "seed") == 0) {
        if (!parse_int(value, 0, INT64_MAX, &seed, error)) return false;
        plan->seed = (uint64_t)seed;
        return true;
    }
    return argument_unknown(key, value, error);
}

// Reads the options; what is none is a file of games, with or without --data before it.
static bool read_command(Command *c, int argc, char **argv, Error *error) {
    const ArgumentFlag flags[] = {{"fresh", &c->job.fresh},
                                  {"quiet", &c->job.quiet},
                                  {"speed", &c->speed},
                                  {"help", &c->help},
                                  {NULL, NULL}};
    if (!arguments_read(argc, argv, flags, read_value, c, error)) return false;
    if (c->help || c->speed) return true;
    if (c->job.epochs > 0 && c->job.plan.steps > 0) return error_set(error, "--epochs and --steps exclude each other");
    if (c->job.epochs <= 0) c->job.epochs = 30;
    if (!c->path_count) return error_set(error, "no games given: --data FILE...");
    return c->job.out[0] || error_set(error, "--out NET is missing");
}

static void print_counts(const TrainData *data, double seconds) {
    const TrainCounts *counts = &data->counts;
    printf("%llu games (%llu held out; White won %llu, drew %llu, lost %llu), %llu plies read in %.1f s\n",
           (unsigned long long)counts->games, (unsigned long long)counts->held_games,
           (unsigned long long)counts->results[2], (unsigned long long)counts->results[1],
           (unsigned long long)counts->results[0], (unsigned long long)counts->plies, seconds);
    for (int i = 0; i < DROPS; i++)
        if (counts->dropped[i])
            printf("  left out, %-17s %12llu  %5.1f %%\n", train_drop_name((TrainDrop)i),
                   (unsigned long long)counts->dropped[i],
                   100 * (double)counts->dropped[i] / (double)counts->plies);
    printf("%zu positions to train on, %zu held out\n", data->list[0].count, data->list[1].count);
    fflush(stdout);
}

static void print_outcome(const TrainJob *job, const TrainOutcome *outcome) {
    const TrainRounding *rounding = &outcome->rounding;
    if (outcome->steps_now)
        printf("%lld steps in %.1f s, %.2f M positions/s\n", (long long)outcome->steps_now, outcome->seconds,
               outcome->rate / 1e6);
    if (!outcome->finished) {
        printf("Stopped at step %lld of %lld: the same command again goes on from %s.checkpoint\n",
               (long long)outcome->steps, (long long)job->plan.steps, job->out);
        return;
    }
    printf("loss %.6f, held out %.6f, plain %.6f\n", outcome->last.train, outcome->last.held,
           outcome->last.held_plain);
    printf(
        "float and integer evaluation on %zu positions: %.2f centipawns apart on average, %.1f at most%s\n",
        rounding->positions, rounding->mean, rounding->worst,
        rounding->mean < 2 ? "" : " (more than the 2 that are wanted)");
    if (job->plan.round_from < 1)
        printf("(%.2f from the weights before they are rounded)\n", rounding->unrounded);
    if (rounding->clipped) printf("%d weights did not fit and were clipped\n", rounding->clipped);
    printf("%s written%s%s\n", job->out, job->report[0] ? ", report " : "", job->report);
}

static int train_here(Command *c) {
    TrainJob *job = &c->job;
    TrainData data = {0};
    TrainOutcome outcome;
    Error error = {""};
    Stop stop = {0};
    stop_block();
    const int64_t begun = now_ms();
    bool ok = train_data_read(&data, c->paths, c->path_count, &job->filter, job->plan.threads, &error);
    if (ok) print_counts(&data, (double)(now_ms() - begun) / 1000);
    ok = ok && train_run(job, &data, &stop, stdout, &outcome, &error);
    if (ok) print_outcome(job, &outcome);
    else fprintf(stderr, "hone-tune train: %s\n", error.text);
    train_data_free(&data);
    return !ok ? 2 : outcome.finished ? 0 : 1;
}

int train_main(int argc, char **argv) {
    Error error = {""};
    Command *c = calloc(1, sizeof *c);
    const char **paths = calloc((size_t)argc, sizeof *paths);
    int status = 2;
    if (!c || !paths) die(2, "hone-tune train: not enough memory");
    c->paths = paths;
    c->job =
        (TrainJob){.plan = TRAIN_DEFAULTS, .filter = TRAIN_FILTER_DEFAULTS, .checkpoint_s = 60};
    bitboard_init();
    if (!read_command(c, argc, argv, &error)) {
        fprintf(stderr, "hone-tune train: %s\n", error.text);
    } else if (c->help) {
        print_help();
        status = 0;
    } else if (c->speed) {
        status = train_speed(c->job.plan.threads, 3);
    } else {
        if (!c->job.report[0]) snprintf(c->job.report, sizeof c->job.report, "%.1000s.html", c->job.out);
        else if (strcmp(c->job.report, "off") == 0) c->job.report[0] = '\0';
        status = train_here(c);
    }
    free(paths), free(c);
    return status;
}
