// SPDX-License-Identifier: GPL-3.0-or-later
// Playing a campaign. Every stage has its own journal in the run's folder and is played in a supervised
// child; what it came to is then read from the journal, so a stage that was played before is not played
// again.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/bitboard.h"
#include "match/stop.h"
#include "match/supervise.h"
#include "tuner/ablate.h"
#include "tuner/arguments.h"
#include "tuner/budget.h"
#include "tuner/campaign.h"
#include "tuner/campaign_bench.h"
#include "tuner/report.h"
#include "tuner/tune.h"

typedef enum StageState {
    STATE_WAITING,
    STATE_SKIPPED,
    STATE_PASSED,
    STATE_FAILED,
    STATE_UNDECIDED
} StageState;

// What a stage came to.
typedef struct StageOutcome {
    StageState state;
    char text[400];
    double seconds; // of play
} StageOutcome;

typedef struct Progress {
    const Campaign *campaign;
    const char *folder;
    char report[1024];
    OptionSet base, candidate;
    StageOutcome outcomes[CAMPAIGN_MAX_STAGES];
    double seconds; // of play, all stages
} Progress;

// A stage ready to be played: one of the two plans.
typedef struct StageJob {
    const CampaignStage *stage;
    bool tunes;
    TunePlan tune;
    MatchPlan match;
    double rate; // measured, where hours became games
    const char *folder, *report;
} StageJob;

static const char *const StateNames[] = {"not run", "skipped", "passed", "failed", "undecided"};

// --- plans

static bool add_options(PlayerSpec *spec, const OptionSet *set, Error *error) {
    for (int i = 0; i < set->count; i++)
        if (!play_player_option(spec, set->items[i].name, set->items[i].value, error)) return false;
    return true;
}

static bool plan_tune(const Progress *p, StageJob *job, const char *journal, Error *error) {
    const CampaignStage *stage = job->stage;
    SpsaList list;
    SpsaPlan spsa = stage->spsa;
    spsa.games = stage->games;
    if (!tune_list(stage->params, stage->group, &list, error)) return false;
    // Tuning begins where the campaign is.
    for (int i = 0; i < list.count; i++)
        for (int k = 0; k < p->candidate.count; k++)
            if (text_equal(list.items[i].name, p->candidate.items[k].name))
                list.items[i].start = strtod(p->candidate.items[k].value, NULL);
    PlayOptions *play = malloc(sizeof *play);
    if (!play) {
        spsa_list_free(&list);
        return error_set(error, "not enough memory");
    }
    *play = stage->play;
    bool ok = true;
    for (int i = 0; ok && i < p->candidate.count; i++)
        ok = play_option(play, p->candidate.items[i].name, p->candidate.items[i].value, error);
    for (int i = 0; ok && i < stage->options.count; i++)
        ok = play_option(play, stage->options.items[i].name, stage->options.items[i].value, error);
    ok = ok && tune_plan(&job->tune, play, &list, &spsa, journal, error);
    spsa_list_free(&list);
    free(play);
    job->tune.hours = stage->hours;
    text_copy(job->tune.report, sizeof job->tune.report, p->report);
    text_copy(job->tune.report_source, sizeof job->tune.report_source, p->folder);
    return ok;
}

static bool plan_match(const Progress *p, StageJob *job, const char *journal, Error *error) {
    const CampaignStage *stage = job->stage;
    uint64_t pairs = stage->games > 0 ? (uint64_t)(stage->games + 1) / 2 : 1;
    MatchPlan *plan = &job->match;
    if (!play_plan(&stage->play, "candidate", "base", pairs, journal, plan, error)) return false;
    bool ok = add_options(&plan->players[0], &p->candidate, error) &&
              add_options(&plan->players[0], &stage->options, error) &&
              add_options(&plan->players[1], &p->base, error) &&
              add_options(&plan->players[1], &stage->base, error);
    plan->has_sprt = stage->kind == STAGE_SPRT;
    plan->sprt = stage->sprt;
    plan->rating_interval = 250;
    return ok;
}

// Whether a stage could begin: what is wrong in the last one must not show only when the others have been played.
static bool check_stage(const CampaignStage *stage, Error *error) {
    if (stage->kind == STAGE_BENCH) return true;
    if (stage->kind == STAGE_ABLATE) {
        bool chosen[ABLATE_MAX_ROWS];
        AblateRows *rows = calloc(1, sizeof *rows);
        if (!rows) return error_set(error, "not enough memory");
        ablate_rows(rows);
        bool known = ablate_choose(rows, stage->group, chosen, error);
        free(rows);
        return known;
    }
    Progress *nothing = calloc(1, sizeof *nothing);
    StageJob *job = calloc(1, sizeof *job);
    bool ok = (nothing && job) || error_set(error, "not enough memory");
    if (ok) {
        nothing->folder = "";
        job->stage = stage;
        job->tunes = stage->kind == STAGE_SPSA;
        ok = job->tunes ? plan_tune(nothing, job, "none", error) : plan_match(nothing, job, "none", error);
    }
    if (ok && stage->kind == STAGE_SPSA && stage->games > 0) ok = spsa_check(&job->tune.spsa, error);
    ok = ok && match_check(job->tunes ? &job->tune.match : &job->match, error);
    if (job) tune_plan_free(&job->tune), free(job->match.players);
    free(job), free(nothing);
    return ok;
}

bool campaign_check(const Campaign *campaign, Error *error) {
    for (int i = 0; i < campaign->count; i++)
        if (!check_stage(&campaign->stages[i], error))
            return error_prefix(error, "stages[%d], %s", i + 1, campaign->stages[i].name);
    return true;
}

// A budget or cap in hours becomes games, once.
static bool settle_hours(StageJob *job, Error *error) {
    const CampaignStage *stage = job->stage;
    int64_t games = 0;
    if (stage->hours <= 0 || job->rate > 0) return true;
    if (job->tunes) {
        bool ok = budget_settle(&job->tune.match, "spsa", stage->hours, 2 * job->tune.spsa.pairs,
                                &job->tune.spsa.games, &job->rate, error);
        job->tune.rate = job->rate;
        return ok;
    }
    if (!budget_settle(&job->match, "stage", stage->hours, 2, &games, &job->rate, error)) return false;
    if (stage->games > 0 && stage->games < games) games = stage->games;
    job->match.rounds = (uint64_t)(games + 1) / 2;
    return true;
}

// --- in the child: playing

static cJSON *stage_json(const StageJob *job) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", job->stage->name);
    cJSON_AddNumberToObject(json, "hours", job->stage->hours);
    cJSON_AddNumberToObject(json, "games", (double)(2 * job->match.rounds));
    cJSON_AddNumberToObject(json, "rate", job->rate);
    return json;
}

// What the hooks of a match keep: time played, and when the report is due.
typedef struct Watch {
    int64_t ms;
    ReportClock clock;
    const StageJob *job;
} Watch;

static bool add_time(void *context, const JournalPair *pair, bool replayed) {
    Watch *watch = context;
    (void)replayed;
    for (int g = 0; g < pair->games; g++) watch->ms += pair->game[g].ms;
    return true;
}

static void renew_report(void *context, const MatchState *state) {
    Watch *watch = context;
    (void)state;
    report_tick(&watch->clock, watch->job->folder, watch->job->report);
}

// Plays a match or test, or only reads its journal.
static MatchOutcome play_match(StageJob *job, _Atomic uint64_t *in_flight, bool only_replay,
                               MatchResult *result, double *seconds, Error *error) {
    Watch watch = {.job = job};
    if (!settle_hours(job, error)) return MATCH_FAILED;
    cJSON *extra = stage_json(job);
    MatchHooks hooks = {.context = &watch,
                        .extra_name = "stage",
                        .extra = extra,
                        .silent = only_replay,
                        .only_replay = only_replay,
                        .keep_finished = true,
                        .consume = add_time,
                        .tick = renew_report};
    MatchOutcome outcome = match_play(&job->match, &hooks, in_flight, result, error);
    *seconds = (double)watch.ms / 1000 / job->match.concurrency;
    cJSON_Delete(extra);
    return outcome;
}

static int play_child(void *context, _Atomic uint64_t *in_flight, int attempt) {
    StageJob *job = context;
    Error error = {.text = ""};
    MatchOutcome outcome;
    (void)attempt;
    if (job->tunes) {
        TuneResult result;
        outcome = tune_run(&job->tune, in_flight, &result, &error);
        if (outcome == MATCH_FINISHED) tune_print(&job->tune, &result, stdout);
        tune_result_free(&result);
    } else {
        MatchResult result;
        double seconds;
        outcome = play_match(job, in_flight, false, &result, &seconds, &error);
    }
    if (outcome == MATCH_FAILED)
        fprintf(stderr, "hone-tune run: stage %s: %s\n", job->stage->name, error.text);
    return outcome == MATCH_FINISHED ? 0 : outcome == MATCH_INTERRUPTED ? 1 : 2;
}

// --- in the parent: plan, result

static void hours_text(double seconds, char *text, size_t size) {
    if (seconds < 5400) snprintf(text, size, "%.0f min", ceil(seconds / 60));
    else snprintf(text, size, "%.1f h", seconds / 3600);
}

// Says what a stage is expected to take, before it starts.
static bool print_plan(StageJob *job, Error *error) {
    const CampaignStage *stage = job->stage;
    char hours[40];
    double rate = 0;
    if (!settle_hours(job, error)) return false;
    if (job->rate > 0) rate = job->rate;
    else if (!budget_rate(job->tunes ? &job->tune.match : &job->match, 2, &rate, error)) return false;
    double games = job->tunes ? (double)job->tune.spsa.games : (double)(2 * job->match.rounds);
    hours_text(games / fmax(rate, .01), hours, sizeof hours);
    if (stage->kind == STAGE_SPRT) {
        double variance = sprt_game_variance(.5, 0), most = 0;
        for (int i = 0; i < 3; i++) {
            double elo = stage->sprt.elo0 + (stage->sprt.elo1 - stage->sprt.elo0) * i / 2;
            most = fmax(
                most, sprt_plan(&stage->sprt, sprt_true_score(&stage->sprt, elo, .5, variance), .5, variance)
                          .games);
        }
        char expected[40];
        hours_text(fmin(most, games) / fmax(rate, .01), expected, sizeof expected);
        printf("Plan: SPRT [%g, %g], expected at most about %.0f games (%s at %.1f games/s), cap %.0f games "
               "(%s)\n",
               stage->sprt.elo0, stage->sprt.elo1, fmin(most, games), expected, rate, games, hours);
    } else {
        printf("Plan: about %.0f games, %s at %.1f games/s\n", games, hours, rate);
    }
    fflush(stdout);
    return true;
}

static void judge_match(const CampaignStage *stage, const MatchResult *result, StageOutcome *outcome) {
    const Stats *s = &result->stats;
    Sample sample = sample_of(s);
    Estimate elo = sample_elo(&sample);
    SprtEstimate after;
    Error ignored;
    const char *verdict = "";
    bool passed = true;
    if (stage->kind == STAGE_SPRT) {
        SprtVerdict v = result->sprt.verdict;
        verdict = v == SPRT_ACCEPT_H1   ? "H1 accepted, "
                  : v == SPRT_ACCEPT_H0 ? "H0 accepted, "
                                        : "no decision: the cap was reached, ";
        passed = stage->gate == GATE_NONE || v == SPRT_ACCEPT_H1 ||
                 (v == SPRT_CONTINUE && stage->gate == GATE_NOT_REFUTED);
        Sample seen = sprt_sample(&stage->sprt, s);
        if (v != SPRT_CONTINUE && sprt_estimate(&stage->sprt, &seen, &after, &ignored)) elo = after.elo;
    } else if (stage->gate == GATE_EQUAL) {
        passed = stats_pairs(s) > 0 && s->penta[PENTA_DD] == stats_pairs(s);
        verdict = passed ? "every pair 1 : 1, " : "pairs that are not 1 : 1, ";
    }
    bool undecided = stage->kind == STAGE_SPRT && result->sprt.verdict == SPRT_CONTINUE;
    outcome->state = passed ? STATE_PASSED : undecided ? STATE_UNDECIDED : STATE_FAILED;
    snprintf(outcome->text, sizeof outcome->text,
             "%s%llu games, Elo %.1f [%.1f, %.1f], pairs [%llu %llu %llu %llu %llu]", verdict,
             (unsigned long long)stats_games(s), elo.value, elo.low, elo.high,
             (unsigned long long)s->penta[0], (unsigned long long)s->penta[1],
             (unsigned long long)s->penta[2], (unsigned long long)s->penta[3],
             (unsigned long long)s->penta[4]);
}

static bool adopt_values(Progress *p, const TunePlan *plan, const TuneResult *result, StageOutcome *outcome,
                         Error *error) {
    int moved = 0, matter = 0;
    for (int i = 0; i < result->count; i++) {
        char text[40];
        const SpsaEstimate *e = &result->estimates[i];
        snprintf(text, sizeof text, plan->list.items[i].is_int ? "%.0f" : "%.6g", e->value);
        if (!option_set_put(&p->candidate, plan->list.items[i].name, text, error)) return false;
        moved += e->value != plan->list.items[i].start;
        matter += e->matters;
    }
    outcome->state = STATE_PASSED;
    snprintf(outcome->text, sizeof outcome->text,
             "%lld iterations, %llu pairs; %d of %d parameters moved, %d seen to matter; digest %016llx",
             (long long)result->applied, (unsigned long long)result->match.pairs, moved, result->count,
             matter, (unsigned long long)result->digest);
    return true;
}

// Reads from the journal what a stage came to; *finished tells whether it is played to its end.
static bool read_outcome(Progress *p, StageJob *job, StageOutcome *outcome, bool *finished, Error *error) {
    const char *journal = job->tunes ? job->tune.match.journal : job->match.journal;
    *finished = false;
    if (access(journal, F_OK) != 0) return true;
    if (job->tunes) {
        TuneResult result;
        job->tune.only_replay = job->tune.quiet = true;
        MatchOutcome state = tune_run(&job->tune, NULL, &result, error);
        job->tune.only_replay = job->tune.quiet = false;
        *finished = state == MATCH_FINISHED;
        outcome->seconds = result.seconds;
        bool ok =
            state != MATCH_FAILED && (!*finished || adopt_values(p, &job->tune, &result, outcome, error));
        tune_result_free(&result);
        return ok;
    }
    MatchResult result;
    MatchOutcome state = play_match(job, NULL, true, &result, &outcome->seconds, error);
    *finished = state == MATCH_FINISHED;
    if (*finished) judge_match(job->stage, &result, outcome);
    return state != MATCH_FAILED;
}

// Plays one stage with games; the exit status as campaign_run has it.
static int run_games(Progress *p, int index, StageOutcome *outcome, Error *error) {
    const CampaignStage *stage = &p->campaign->stages[index];
    StageJob *job = calloc(1, sizeof *job);
    char journal[1024];
    bool finished = false;
    int status = 2;
    if (!job) {
        error_set(error, "not enough memory");
        return 2;
    }
    job->stage = stage;
    job->folder = p->folder;
    job->report = p->report;
    job->tunes = stage->kind == STAGE_SPSA;
    snprintf(journal, sizeof journal, "%.900s/%02d-%s.journal", p->folder, index + 1, stage->name);
    bool ok = job->tunes ? plan_tune(p, job, journal, error) : plan_match(p, job, journal, error);
    bool before = access(journal, F_OK) == 0;
    ok = ok && read_outcome(p, job, outcome, &finished, error);
    if (ok && finished) printf("(played before)\n");
    if (ok && !finished) {
        if (!before) ok = print_plan(job, error);
        const MatchPlan *match = job->tunes ? &job->tune.match : &job->match;
        if (ok)
            status = match->players[0].builtin
                         ? supervise("hone-tune run", journal, match->concurrency, play_child, job)
                         : play_child(job, NULL, 0);
        if (ok && status == 2) error_set(error, "the stage could not be played to its end");
        ok = ok && status == 0 && read_outcome(p, job, outcome, &finished, error);
    }
    if (ok && finished) status = 0;
    if (ok && !finished) status = 1;
    tune_plan_free(&job->tune);
    free(job->match.players);
    free(job);
    return status;
}

// Measures the techniques of what is shipped, in a folder of the stage's own.
static int run_ablate(const Progress *p, int index, StageOutcome *outcome, Error *error) {
    const CampaignStage *stage = &p->campaign->stages[index];
    AblatePlan *plan = malloc(sizeof *plan);
    if (!plan) return 2;
    ablate_plan_default(plan);
    char nodes[sizeof plan->play.nodes];
    memcpy(nodes, plan->play.nodes, sizeof nodes);
    plan->play = stage->play;
    if (!plan->play.nodes[0]) memcpy(plan->play.nodes, nodes, sizeof nodes);
    text_copy(plan->tc, sizeof plan->tc, stage->play.tc);
    plan->play.tc[0] = '\0';
    plan->pairs = (uint64_t)(stage->games + 1) / 2;
    if (stage->depth) plan->depth = stage->depth;
    if (stage->bare_depth) plan->bare_depth = stage->bare_depth;
    snprintf(plan->out, sizeof plan->out, "%.700s/%02d-%.63s", p->folder, index + 1, stage->name);
    bool fits = text_copy(plan->only, sizeof plan->only, stage->group);
    int status = fits ? ablate_run(plan, error) : 2;
    if (!fits) error_set(error, "only: too long");
    outcome->state = STATE_PASSED;
    snprintf(outcome->text, sizeof outcome->text, "page %.300s/ABLATION.md", plan->out);
    free(plan);
    return status;
}

// --- the order of things

static const StageOutcome *outcome_of(const Progress *p, const char *name) {
    for (int i = 0; i < p->campaign->count; i++)
        if (strcmp(p->campaign->stages[i].name, name) == 0) return &p->outcomes[i];
    return NULL;
}

// Whether a stage's conditions hold; the reason why not goes into the outcome.
static bool wanted(const Progress *p, const CampaignStage *stage, StageOutcome *outcome) {
    bool passed = stage->if_passed_count == 0, failed = stage->if_failed_count == 0;
    for (int i = 0; i < stage->if_passed_count; i++)
        passed |= outcome_of(p, stage->if_passed[i])->state == STATE_PASSED;
    for (int i = 0; i < stage->if_failed_count; i++)
        failed |= outcome_of(p, stage->if_failed[i])->state >= STATE_FAILED;
    outcome->state = STATE_SKIPPED;
    if (!passed)
        snprintf(outcome->text, sizeof outcome->text, "stage %s has not passed", stage->if_passed[0]);
    else if (!failed)
        snprintf(outcome->text, sizeof outcome->text, "stage %s has not failed", stage->if_failed[0]);
    bool late = p->campaign->hours > 0 && p->seconds > p->campaign->hours * 3600;
    if (passed && failed && late)
        snprintf(outcome->text, sizeof outcome->text, "the time budget of %g hours is used up",
                 p->campaign->hours);
    return passed && failed && !late;
}

// What follows from a stage for candidate and base; false ends the campaign.
static bool conclude(Progress *p, const CampaignStage *stage, StageOutcome *outcome) {
    bool tests = stage->kind == STAGE_SPRT || stage->kind == STAGE_MATCH;
    Error ignored;
    if (outcome->state == STATE_PASSED) {
        if (tests && stage->promote) {
            for (int i = 0; i < stage->options.count; i++)
                option_set_put(&p->candidate, stage->options.items[i].name, stage->options.items[i].value,
                               &ignored);
            p->base = p->candidate;
        }
        return true;
    }
    if (stage->say_on_failure[0]) {
        size_t used = strlen(outcome->text);
        snprintf(outcome->text + used, sizeof outcome->text - used, "; %s", stage->say_on_failure);
    }
    if (stage->on_failure == FAILURE_KEEP_BASE) p->candidate = p->base;
    return stage->on_failure != FAILURE_STOP;
}

static bool write_result(const Progress *p, Error *error) {
    char path[1100], whole[1100];
    cJSON *json = cJSON_CreateObject(), *stages = cJSON_AddArrayToObject(json, "stages"), *options;
    cJSON_AddStringToObject(json, "name", p->campaign->name);
    cJSON_AddStringToObject(json, "about", p->campaign->about);
    cJSON_AddNumberToObject(json, "seconds", p->seconds);
    for (int i = 0; i < p->campaign->count; i++) {
        const CampaignStage *stage = &p->campaign->stages[i];
        cJSON *item = cJSON_CreateObject();
        char journal[120];
        snprintf(journal, sizeof journal, "%02d-%s.journal", i + 1, stage->name);
        cJSON_AddStringToObject(item, "name", stage->name);
        cJSON_AddStringToObject(item, "type", stage_kind_name(stage->kind));
        cJSON_AddStringToObject(item, "about", stage->about);
        cJSON_AddStringToObject(item, "state", StateNames[p->outcomes[i].state]);
        cJSON_AddStringToObject(item, "text", p->outcomes[i].text);
        if (stage->kind != STAGE_BENCH && stage->kind != STAGE_ABLATE)
            cJSON_AddStringToObject(item, "journal", journal);
        cJSON_AddItemToArray(stages, item);
    }
    options = cJSON_AddObjectToObject(json, "options");
    for (int i = 0; i < p->candidate.count; i++)
        cJSON_AddStringToObject(options, p->candidate.items[i].name, p->candidate.items[i].value);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    snprintf(path, sizeof path, "%.1000s/result.json.new", p->folder);
    snprintf(whole, sizeof whole, "%.1000s/result.json", p->folder);
    FILE *out = text ? fopen(path, "w") : NULL;
    bool ok = out && fprintf(out, "%s\n", text) > 0;
    ok = (out && fclose(out) == 0) && ok && rename(path, whole) == 0;
    cJSON_free(text);
    return ok || error_set(error, "%s: %s", whole, strerror(errno));
}

static void print_summary(const Progress *p) {
    printf("\nCampaign %s\n", p->campaign->name);
    for (int i = 0; i < p->campaign->count; i++)
        printf("  %-20s %-7s %s\n", p->campaign->stages[i].name, StateNames[p->outcomes[i].state],
               p->outcomes[i].text);
    if (p->candidate.count == 0) printf("Result: the base is kept, no value changes\n");
    else printf("Result: these values\n");
    for (int i = 0; i < p->candidate.count; i++)
        printf("setoption name %s value %s\n", p->candidate.items[i].name, p->candidate.items[i].value);
    fflush(stdout);
}

int campaign_run(const Campaign *campaign, const char *folder) {
    Progress *p = calloc(1, sizeof *p);
    Error error = {.text = ""};
    int status = 0;
    if (!p) return 2;
    p->campaign = campaign;
    p->folder = folder;
    snprintf(p->report, sizeof p->report, "%.1000s/report.html", folder);
    printf("Campaign %s: %d stages, folder %s\n%s%s", campaign->name, campaign->count, folder,
           campaign->about, campaign->about[0] ? "\n" : "");
    for (int i = 0; i < campaign->count && status == 0; i++) {
        const CampaignStage *stage = &campaign->stages[i];
        StageOutcome *outcome = &p->outcomes[i];
        printf("\nStage %d of %d: %s (%s)%s%s\n", i + 1, campaign->count, stage->name,
               stage_kind_name(stage->kind), stage->about[0] ? ": " : "", stage->about);
        fflush(stdout);
        bool go_on = true;
        if (wanted(p, stage, outcome)) {
            outcome->state = STATE_WAITING;
            if (stage->kind == STAGE_BENCH) {
                bool passed = false;
                if (!campaign_bench(stage, &p->candidate, &passed, outcome->text, sizeof outcome->text,
                                    &error))
                    status = 2;
                outcome->state = passed ? STATE_PASSED : STATE_FAILED;
            } else if (stage->kind == STAGE_ABLATE) {
                status = run_ablate(p, i, outcome, &error);
            } else {
                status = run_games(p, i, outcome, &error);
            }
            p->seconds += outcome->seconds;
            if (status == 0) go_on = conclude(p, stage, outcome);
        }
        if (status == 0) printf("Stage %s: %s: %s\n", stage->name, StateNames[outcome->state], outcome->text);
        if (status == 2) fprintf(stderr, "hone-tune run: stage %s: %s\n", stage->name, error.text);
        if (status < 2 && !write_result(p, &error)) {
            fprintf(stderr, "hone-tune run: %s\n", error.text);
            status = 2;
        }
        if (!go_on) break;
    }
    if (status == 0) print_summary(p);
    if (status < 2) {
        if (report_write(folder, p->report, &error)) printf("Report: %s\n", p->report);
        else fprintf(stderr, "hone-tune run: report: %s\n", error.text);
    }
    if (status == 1) printf("Interrupted: the same command again goes on\n");
    free(p);
    return status;
}

// --- the command

static const char Help[] =
    "hone-tune run FILE.json: plays a campaign: stages one after the other, unattended\n\n"
    "  --folder DIR       where journals and results are kept (default runs/NAME): the same command again "
    "goes on\n"
    "  --fresh            start over; the old folder is kept beside it\n"
    "  --check            read the file, try what its stages need, say what it would do, play nothing\n\n"
    "Stages are of type spsa, sprt, match, ablate or bench. Candidate and base are sets of UCI options: spsa "
    "gives the\n"
    "candidate its values, sprt and match play candidate against base, a test that fails resets the "
    "candidate\n"
    "(on_failure: keep base), one with promote makes it the new base.\n\n"
    "Keys of every stage: name, type, about, options, base, gate (none, accepted, not refuted, equal), "
    "on_failure (keep base,\n"
    "go on, stop), say_on_failure, promote, if_passed, if_failed; of games: games, hours and the keys below; "
    "of sprt: elo0, elo1, alpha,\n"
    "beta, model; of spsa: params, group, method, pairs, lag, tail; of bench: depth, explicit_defaults, "
    "increasing, solve,\n"
    "solve_nodes; of ablate: only, depth, bare_depth, games of each match. At the top: name, about, hours, defaults, stages.\n\n";

static bool set_folder_aside(const char *folder, Error *error) {
    char aside[1200];
    if (access(folder, F_OK) != 0) return true;
    if (!journal_set_aside(folder, aside, sizeof aside, error)) return false;
    printf("Old folder kept as %s\n", aside);
    return true;
}

// Makes a folder and those above it.
static bool make_folder(const char *folder, Error *error) {
    char path[1024];
    text_copy(path, sizeof path, folder);
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

static void print_check(const Campaign *c) {
    printf("%s: %d stages\n", c->name, c->count);
    for (int i = 0; i < c->count; i++) {
        const CampaignStage *s = &c->stages[i];
        printf("  %-20s %-6s %s", s->name, stage_kind_name(s->kind), s->about);
        if (s->games) printf(" [%lld games]", (long long)s->games);
        if (s->hours > 0) printf(" [%g hours]", s->hours);
        printf("\n");
    }
}

// The command line, read.
typedef struct Command {
    const char *file;
    char folder[1000];
    bool fresh, check, help;
} Command;

static bool read_value(void *context, const char *key, const char *value, Error *error) {
    Command *c = context;
    if (key && strcmp(key, "folder") == 0)
        return text_copy(c->folder, sizeof c->folder, value) || error_set(error, "too long");
    if (key || c->file) return argument_unknown(key, value, error);
    c->file = value;
    return true;
}

int run_main(int argc, char **argv) {
    Command c = {0};
    const ArgumentFlag flags[] = {{"fresh", &c.fresh}, {"check", &c.check}, {"help", &c.help}, {NULL, NULL}};
    Error error = {.text = ""};
    Campaign campaign;
    if (!arguments_read(argc, argv, flags, read_value, &c, &error)) die(2, "hone-tune run: %s", error.text);
    if (c.help) {
        fputs(Help, stdout);
        play_help(stdout, "");
        return 0;
    }
    if (!c.file) die(2, "hone-tune run: a campaign file is missing (see --help)");
    if (!campaign_read(&campaign, c.file, &error)) die(2, "hone-tune run: %s", error.text);
    bitboard_init();
    if (!campaign_check(&campaign, &error)) die(2, "hone-tune run: %s: %s", c.file, error.text);
    if (c.check) {
        print_check(&campaign);
        campaign_free(&campaign);
        return 0;
    }
    if (!c.folder[0]) snprintf(c.folder, sizeof c.folder, "runs/%s", campaign.name);
    stop_block();
    bool ok = (!c.fresh || set_folder_aside(c.folder, &error)) && make_folder(c.folder, &error);
    int status = ok ? campaign_run(&campaign, c.folder) : 2;
    if (!ok) fprintf(stderr, "hone-tune run: %s\n", error.text);
    campaign_free(&campaign);
    return status;
}
