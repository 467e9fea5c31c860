// SPDX-License-Identifier: GPL-3.0-or-later
// hone-tune sprt: reads counts and hypotheses from the command line and prints what match/stats and
// match/sprt make of them, for people or as JSON. No statistics are computed here.
#include "tuner/sprt_command.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/sprt.h"
#include "match/stats.h"
#include "tuner/arguments.h"

static const char Help[] =
    "hone-tune sprt: what a match result means, or what to expect of a test\n"
    "\n"
    "  hone-tune sprt --penta LL,LD,DD,WD,WW --elo0 X --elo1 X   a result in pairs (WL counts as DD)\n"
    "  hone-tune sprt --wdl W,D,L --elo0 X --elo1 X              a result in games\n"
    "  hone-tune sprt --plan --elo0 X --elo1 X --true X          before the test\n"
    "\n"
    "  --elo0 X --elo1 X    the two hypotheses\n"
    "  --alpha X --beta X   error rates at elo0 and at elo1 (0.05)\n"
    "  --model M            unit of the hypotheses: normalized (default), logistic, bayesian (needs --wdl)\n"
    "  --json               one line of JSON; what is not finite is null\n"
    "\n"
    "  --plan               probability that H1 is accepted, and expected games\n"
    "  --true X             true strength, in the unit of the hypotheses\n"
    "  --true-elo X         true strength in logistic Elo\n"
    "  --draws X            share of drawn games (0.5)\n"
    "  --bias X             root mean square bias of the openings in Elo (0)\n"
    "  With --penta or --wdl instead of --true, the truth is the distribution of that sample.\n"
    "\n"
    "The verdict is by the bounds without correction for overshoot; a running match corrects them.\n"
    "The Elo after an SPRT is median-unbiased: a test that stops early makes the plain Elo too extreme.\n"
    "\n"
    "Examples:\n"
    "  hone-tune sprt --penta 43,61,144,55,37 --elo0 0 --elo1 2\n"
    "  hone-tune sprt --wdl 36433,68692,36027 --elo0 0 --elo1 2 --model logistic --json\n"
    "  hone-tune sprt --plan --elo0 0 --elo1 5 --true 3 --draws .5\n";

// The command line, read.
typedef struct Request {
    SprtSpec spec;
    bool plan, json, help;
    Sample sample;      // no classes: none given
    double truth;       // not a number: none given
    bool truth_is_elo;  // truth is logistic Elo, whatever the model
    double draws, bias;
} Request;

// Reads exactly wanted counts separated by commas.
static bool parse_counts(const char *text, int wanted, double *counts, Error *error) {
    for (int i = 0; i < wanted; i++) {
        char field[32];
        size_t length = strcspn(text, ",");
        bool last = text[length] == '\0';
        if (last != (i == wanted - 1) || length >= sizeof field)
            return error_set(error, "%d counts separated by commas expected", wanted);
        memcpy(field, text, length);
        field[length] = '\0';
        int64_t count = 0;
        if (!parse_int(field, 0, INT64_C(1000000000000), &count, error)) return false;
        counts[i] = (double)count;
        text += length + 1;
    }
    return true;
}

static bool parse_sample(const char *text, bool pairs, Sample *sample, Error *error) {
    if (sample->classes) return error_set(error, "give one sample, --penta or --wdl");
    sample->classes = pairs ? PENTA_CLASSES : WDL_CLASSES;
    if (!parse_counts(text, sample->classes, sample->count, error)) return false;
    if (sample_size(sample) == 0) return error_set(error, "no games are counted");
    if (!pairs) {  // wins, draws, losses on the command line; from worst to best in a sample
        double wins = sample->count[0];
        sample->count[0] = sample->count[2];
        sample->count[2] = wins;
    }
    return true;
}

static bool parse_value(void *context, const char *name, const char *value, Error *error) {
    Request *request = context;
    SprtSpec *spec = &request->spec;
    if (!name) return argument_unknown(name, value, error);
    if (strcmp(name, "elo0") == 0) return parse_real(value, -1000, 1000, &spec->elo0, error);
    if (strcmp(name, "elo1") == 0) return parse_real(value, -1000, 1000, &spec->elo1, error);
    if (strcmp(name, "alpha") == 0) return parse_real(value, 0, 1, &spec->alpha, error);
    if (strcmp(name, "beta") == 0) return parse_real(value, 0, 1, &spec->beta, error);
    if (strcmp(name, "model") == 0) return sprt_model_parse(value, &spec->model, error);
    if (strcmp(name, "penta") == 0) return parse_sample(value, true, &request->sample, error);
    if (strcmp(name, "wdl") == 0) return parse_sample(value, false, &request->sample, error);
    if (strcmp(name, "draws") == 0) return parse_real(value, 0, 1, &request->draws, error);
    if (strcmp(name, "bias") == 0) return parse_real(value, 0, 1000, &request->bias, error);
    if (strcmp(name, "true") == 0 || strcmp(name, "true-elo") == 0) {
        if (!isnan(request->truth)) return error_set(error, "give the true strength once");
        request->truth_is_elo = strcmp(name, "true-elo") == 0;
        return parse_real(value, -1000, 1000, &request->truth, error);
    }
    return argument_unknown(name, value, error);
}

// Refuses what does not fit together.
static bool check_request(const Request *request, Error *error) {
    const SprtSpec *spec = &request->spec;
    bool sampled = request->sample.classes != 0, told = !isnan(request->truth);
    if (isnan(spec->elo0) || isnan(spec->elo1)) return error_set(error, "--elo0 and --elo1 are needed");
    if (!sprt_spec_check(spec, error)) return false;
    if (!request->plan && told) return error_set(error, "--true belongs to --plan");
    if (!request->plan && !sampled) return error_set(error, "--penta, --wdl or --plan is needed");
    if (request->plan && sampled == told)
        return error_set(error, "--plan needs either --true or a sample (--penta, --wdl)");
    if (sampled && spec->model == SPRT_BAYESIAN && request->sample.classes != WDL_CLASSES)
        return error_set(error, "the bayesian model counts games: --wdl is needed, not --penta");
    if (!(request->draws < 1 && sprt_game_variance(request->draws, request->bias) > 0))
        return error_set(error, "--draws and --bias leave no variance");
    return true;
}

static bool parse_request(int argc, char **argv, Request *request, Error *error) {
    const ArgumentFlag flags[] = {
        {"plan", &request->plan}, {"json", &request->json}, {"help", &request->help}, {NULL, NULL}};
    if (!arguments_read(argc, argv, flags, parse_value, request, error)) return false;
    return request->help || check_request(request, error);
}

// --- output -----------------------------------------------------------------------------------------------

static const char *unit_of(SprtModel model) {
    switch (model) {
    case SPRT_NORMALIZED: return "nElo";
    case SPRT_LOGISTIC: return "Elo";
    case SPRT_BAYESIAN: return "BayesElo";
    }
    return "?";
}

// All that a sample says.
typedef struct Answer {
    double llr;
    SprtBounds bounds;
    SprtVerdict verdict;
    Estimate elo;
    SprtEstimate after;
} Answer;

static void add_number(cJSON *object, const char *key, double value) {
    if (isfinite(value)) cJSON_AddNumberToObject(object, key, value);
    else cJSON_AddNullToObject(object, key);
}

static bool print_json(cJSON *object, FILE *out) {
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    if (!text) return false;
    fprintf(out, "%s\n", text);
    free(text);
    return true;
}

static bool print_answer_json(const Request *request, const Answer *answer, FILE *out) {
    const Sample *sample = &request->sample;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "model", sprt_model_name(request->spec.model));
    add_number(object, "llr", answer->llr);
    add_number(object, "lower", answer->bounds.lower);
    add_number(object, "upper", answer->bounds.upper);
    cJSON_AddStringToObject(object, "state", sprt_verdict_name(answer->verdict));
    add_number(object, "elo", answer->elo.value);
    add_number(object, "elo_lo", answer->elo.low);
    add_number(object, "elo_hi", answer->elo.high);
    add_number(object, "los", sample_los(sample));
    add_number(object, "nelo", sample_nelo(sample));
    add_number(object, "nelo_err", sample_nelo_error(sample));
    add_number(object, "draw_ratio", sample_draw_ratio(sample));
    add_number(object, "pair_ratio", sample_pair_ratio(sample));
    add_number(object, "sprt_elo", answer->after.elo.value);
    add_number(object, "sprt_elo_lo", answer->after.elo.low);
    add_number(object, "sprt_elo_hi", answer->after.elo.high);
    return print_json(object, out);
}

// A number with two decimals, or a word where there is none.
typedef struct Shown {
    char text[32];
} Shown;

static Shown show(double value) {
    Shown shown;
    if (isnan(value)) snprintf(shown.text, sizeof shown.text, "unknown");
    else snprintf(shown.text, sizeof shown.text, "%.2f", value);
    return shown;
}

static void print_interval(const char *label, const Estimate *estimate, FILE *out) {
    fprintf(out, "%s: %s +/- %s (95 %%: %s to %s)\n", label, show(estimate->value).text,
            show(estimate_margin(estimate)).text, show(estimate->low).text, show(estimate->high).text);
}

static void print_answer_text(const Request *request, const Answer *answer, FILE *out) {
    const Sample *sample = &request->sample;
    const SprtSpec *spec = &request->spec;
    bool pairs = sample->classes == PENTA_CLASSES;
    double games = sample_size(sample) * sample_games_per_unit(sample);
    fprintf(out, "Score: %.2f %% of %.0f games%s\n", 100 * sample_moments(sample).mean, games,
            pairs ? ", judged by pairs" : "");
    print_interval("Elo", &answer->elo, out);
    fprintf(out, "nElo: %s +/- %s\n", show(sample_nelo(sample)).text, show(sample_nelo_error(sample)).text);
    fprintf(out, "LOS: %.2f %%, %s: %.2f %%", 100 * sample_los(sample), pairs ? "drawn pairs" : "draws",
            100 * sample_draw_ratio(sample));
    if (pairs) fprintf(out, ", pairs won to lost: %s", show(sample_pair_ratio(sample)).text);
    fprintf(out, "\nLLR (%s): %.2f (%.2f, %.2f) [%.2f, %.2f], ", sprt_model_name(spec->model), answer->llr,
            answer->bounds.lower, answer->bounds.upper, spec->elo0, spec->elo1);
    switch (answer->verdict) {
    case SPRT_CONTINUE: fprintf(out, "no decision yet\n"); break;
    case SPRT_ACCEPT_H0: fprintf(out, "H0 accepted\n"); break;
    case SPRT_ACCEPT_H1: fprintf(out, "H1 accepted\n"); break;
    }
    print_interval("Elo if an SPRT ended here", &answer->after.elo, out);
}

static bool run_sample(const Request *request, FILE *out, Error *error) {
    const SprtSpec *spec = &request->spec;
    Answer answer = {.bounds = sprt_bounds(spec), .elo = sample_elo(&request->sample)};
    if (!sprt_llr(spec, &request->sample, &answer.llr, error)) return false;
    answer.verdict = sprt_plain_verdict(spec, answer.llr);
    if (!sprt_estimate(spec, &request->sample, &answer.after, error)) return false;
    if (!request->json) {
        print_answer_text(request, &answer, out);
        return true;
    }
    return print_answer_json(request, &answer, out) || error_set(error, "not enough memory");
}

static bool run_plan(const Request *request, FILE *out, Error *error) {
    const SprtSpec *spec = &request->spec;
    double variance = sprt_game_variance(request->draws, request->bias), score;
    SprtPlan plan;
    if (request->sample.classes) {
        score = sample_moments(&request->sample).mean;
        variance = sample_variance_per_game(&request->sample);
        if (!sprt_plan_walk(spec, &request->sample, &plan, error)) return false;
    } else {
        score = request->truth_is_elo ? score_from_elo(request->truth)
                                      : sprt_true_score(spec, request->truth, request->draws, variance);
        plan = sprt_plan(spec, score, request->draws, variance);
    }
    double elo = elo_from_score(score), nelo = NELO_PER_SIGMA * (score - 0.5) / sqrt(variance);
    if (request->json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "model", sprt_model_name(spec->model));
        add_number(object, "true_elo", elo);
        add_number(object, "true_nelo", nelo);
        add_number(object, "variance_per_game", variance);
        add_number(object, "pass", plan.pass);
        add_number(object, "games", plan.games);
        return print_json(object, out) || error_set(error, "not enough memory");
    }
    fprintf(out, "Test: [%.2f, %.2f] %s (%s), alpha %g, beta %g\n", spec->elo0, spec->elo1,
            unit_of(spec->model), sprt_model_name(spec->model), spec->alpha, spec->beta);
    fprintf(out, "Truth: %.2f Elo, %.2f nElo\n", elo, nelo);
    fprintf(out, "H1 accepted with probability %.2f %%\nExpected games: %.0f\n", 100 * plan.pass, plan.games);
    return true;
}

int sprt_calculate(int argc, char **argv, FILE *out, FILE *err) {
    Request request = {.spec = {.elo0 = NAN, .elo1 = NAN, .alpha = 0.05, .beta = 0.05,
                                .batch = SPRT_DEFAULT_BATCH},
                       .truth = NAN, .draws = 0.5};
    Error error;
    if (!parse_request(argc, argv, &request, &error)) {
        fprintf(err, "hone-tune sprt: %s\n", error.text);
        return 2;
    }
    if (request.help) {
        fputs(Help, out);
        return 0;
    }
    if (request.plan ? run_plan(&request, out, &error) : run_sample(&request, out, &error)) return 0;
    fprintf(err, "hone-tune sprt: %s\n", error.text);
    return 1;
}

int sprt_main(int argc, char **argv) { return sprt_calculate(argc, argv, stdout, stderr); }
