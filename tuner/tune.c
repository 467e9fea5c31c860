// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/tune.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/params.h"
#include "match/output.h"
#include "tuner/budget.h"
#include "tuner/report.h"

enum { VALUE_SIZE = 40, LINE_EVERY_MS = 30000, LIVE_EVERY_MS = 500 };

// One run in progress.
typedef struct Run {
    TunePlan *plan;
    pthread_mutex_t lock; // of state: workers perturb while the consumer applies
    SpsaState *state;
    uint64_t penta[5]; // of the iteration that is being counted
    uint64_t digest;
    int64_t ms; // of all games together
    int64_t last_live_ms, last_line_ms;
    ReportClock report;
} Run;

// --- plans
// --------------------------------------------------------------------------------------------------------

bool tune_list(const char *path, const char *words, SpsaList *list, Error *error) {
    *list = (SpsaList){0};
    if (path && path[0]) {
        if (!spsa_list_read(path, list, error)) return false;
    } else {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        if (!out) return error_set(error, "not enough memory");
        Params defaults = params_default();
        params_print(out, &defaults, PARAMS_SPSA, NULL);
        fclose(out);
        bool ok = spsa_list_parse(text, "params.def", list, error);
        free(text);
        if (!ok) return false;
    }
    if (!words || !words[0] || spsa_list_select(list, words, error)) return true;
    spsa_list_free(list);
    return false;
}

static void value_text(const SpsaParam *param, double value, char *text) {
    snprintf(text, VALUE_SIZE, param->is_int ? "%.0f" : "%.6g", value);
}

bool tune_plan(TunePlan *plan, const PlayOptions *play, SpsaList *list, const SpsaPlan *spsa,
               const char *journal, Error *error) {
    *plan = (TunePlan){.list = *list, .spsa = *spsa};
    *list = (SpsaList){0};
    plan->spsa.params = plan->list.items;
    plan->spsa.count = plan->list.count;
    plan->spsa.seed = play->seed;
    if (!play_plan(play, "plus", "minus", 1, journal, &plan->match, error)) return false;
    // The start values as options: a name that the engine does not know is told before game 1.
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < plan->list.count; i++) {
            char text[VALUE_SIZE];
            value_text(&plan->list.items[i], plan->list.items[i].start, text);
            if (!play_player_option(&plan->match.players[side], plan->list.items[i].name, text, error))
                return false;
        }
    return true;
}

void tune_plan_free(TunePlan *plan) {
    spsa_list_free(&plan->list);
    free(plan->match.players);
    plan->match.players = NULL;
}

static const SpsaMode Modes[] = {SPSA_AUTO, SPSA_FISHTEST, SPSA_OPENBENCH, SPSA_CONSTANT};

static cJSON *plan_json(const TunePlan *plan) {
    const SpsaPlan *spsa = &plan->spsa;
    cJSON *json = cJSON_CreateObject(), *params = cJSON_CreateArray();
    cJSON_AddStringToObject(json, "method", spsa_mode_name(spsa->mode));
    cJSON_AddNumberToObject(json, "games", (double)spsa->games);
    cJSON_AddNumberToObject(json, "pairs", spsa->pairs);
    cJSON_AddNumberToObject(json, "lag", spsa->lag);
    cJSON_AddNumberToObject(json, "alpha", spsa->alpha);
    cJSON_AddNumberToObject(json, "gamma", spsa->gamma);
    cJSON_AddNumberToObject(json, "a_ratio", spsa->a_ratio);
    cJSON_AddNumberToObject(json, "tail", spsa->tail);
    cJSON_AddNumberToObject(json, "hours", plan->hours);
    cJSON_AddNumberToObject(json, "rate", plan->rate);
    for (int i = 0; i < spsa->count; i++) {
        const SpsaParam *p = &spsa->params[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", p->name);
        cJSON_AddBoolToObject(item, "int", p->is_int);
        cJSON_AddNumberToObject(item, "start", p->start);
        cJSON_AddNumberToObject(item, "min", p->min);
        cJSON_AddNumberToObject(item, "max", p->max);
        cJSON_AddNumberToObject(item, "c_end", p->c_end);
        cJSON_AddNumberToObject(item, "r_end", p->r_end);
        cJSON_AddItemToArray(params, item);
    }
    cJSON_AddItemToObject(json, "params", params);
    return json;
}

static double number(const cJSON *json, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

bool tune_plan_from_json(TunePlan *plan, const cJSON *json, bool *is_tune, Error *error) {
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(json, "spsa"),
                *params = cJSON_GetObjectItemCaseSensitive(own, "params"), *item;
    *plan = (TunePlan){0};
    *is_tune = own != NULL;
    if (!own) return false;
    if (!match_plan_from_json(&plan->match, json, error)) return false;
    plan->list.items = calloc((size_t)cJSON_GetArraySize(params) + 1, sizeof *plan->list.items);
    if (!plan->list.items) return error_set(error, "not enough memory");
    cJSON_ArrayForEach(item, params) {
        SpsaParam *p = &plan->list.items[plan->list.count++];
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        text_copy(p->name, sizeof p->name, name ? name : "");
        p->is_int = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "int"));
        p->start = number(item, "start");
        p->min = number(item, "min");
        p->max = number(item, "max");
        p->c_end = number(item, "c_end");
        p->r_end = number(item, "r_end");
    }
    plan->spsa = (SpsaPlan){.params = plan->list.items,
                            .count = plan->list.count,
                            .seed = plan->match.seed,
                            .games = (int64_t)number(own, "games"),
                            .pairs = (int)number(own, "pairs"),
                            .lag = (int)number(own, "lag"),
                            .alpha = number(own, "alpha"),
                            .gamma = number(own, "gamma"),
                            .a_ratio = number(own, "a_ratio"),
                            .tail = number(own, "tail")};
    const char *method = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(own, "method"));
    bool known = false;
    for (size_t i = 0; method && i < sizeof Modes / sizeof *Modes; i++)
        if (strcmp(method, spsa_mode_name(Modes[i])) == 0) plan->spsa.mode = Modes[i], known = true;
    plan->hours = number(own, "hours");
    plan->rate = number(own, "rate");
    return known || error_set(error, "spsa.method: unknown");
}

// --- a run's hooks

// Makes a player with every parameter at its least and one at its greatest value: what an engine refuses is
// told now.
static bool check_bounds(const TunePlan *plan, Error *error) {
    PlayerSpec *spec = malloc(sizeof *spec);
    bool ok = spec != NULL || error_set(error, "not enough memory");
    for (int high = 0; ok && high < 2; high++) {
        *spec = plan->match.players[0];
        for (int i = 0; ok && i < plan->list.count; i++) {
            char text[VALUE_SIZE];
            const SpsaParam *p = &plan->list.items[i];
            value_text(p, high ? p->max : p->min, text);
            ok = play_player_option(spec, p->name, text, error);
        }
        Player *player = ok ? player_create(spec, -1, error) : NULL;
        ok = player != NULL;
        player_destroy(player);
    }
    free(spec);
    return ok;
}

// --- hooks of the match
// -------------------------------------------------------------------------------------------

static bool give_parameters(void *context, uint64_t pair, Player *players[2], Error *error) {
    Run *run = context;
    const SpsaPlan *spsa = &run->plan->spsa;
    double values[2][SPSA_MAX_PARAMS];
    pthread_mutex_lock(&run->lock);
    spsa_perturb(run->state, (int64_t)(pair / (uint64_t)spsa->pairs) + 1, values[0], values[1]);
    pthread_mutex_unlock(&run->lock);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < spsa->count; i++) {
            char text[VALUE_SIZE];
            value_text(&spsa->params[i], values[side][i], text);
            if (!player_set_option(players[side], spsa->params[i].name, text, error)) return false;
        }
    return true;
}

void tune_count(const JournalPair *pair, uint64_t penta[5]) {
    int sum = 0;
    if (pair->games != 2) return;
    for (int g = 0; g < 2; g++) {
        const JournalGame *game = &pair->game[g];
        if (game->end > GAME_TIME) return;
        sum += game->white == 0 ? game->half_points : 2 - game->half_points;
    }
    penta[sum]++;
}

static bool take_pair(void *context, const JournalPair *pair, bool replayed) {
    Run *run = context;
    uint64_t pairs = (uint64_t)run->plan->spsa.pairs;
    (void)replayed;
    tune_count(pair, run->penta);
    for (int g = 0; g < pair->games; g++) {
        const JournalGame *game = &pair->game[g];
        uint64_t words[5] = {pair->number, (uint64_t)game->white, (uint64_t)game->half_points,
                             (uint64_t)game->end, game->digest};
        run->digest = digest_of(run->digest, words, sizeof words);
        run->ms += game->ms;
    }
    if ((pair->number + 1) % pairs != 0) return true;
    pthread_mutex_lock(&run->lock);
    spsa_apply(run->state, (int64_t)((pair->number + 1) / pairs), run->penta);
    pthread_mutex_unlock(&run->lock);
    memset(run->penta, 0, sizeof run->penta);
    return true;
}

static void print_progress(const Run *run, const MatchState *state, FILE *out) {
    double seconds = (double)(now_ms() - state->begun_ms) / 1000,
           rate = seconds > 0 ? (double)state->games_now / seconds : 0;
    double left = rate > 0 ? 2 * (double)(state->pairs_total - state->pairs_done) / rate : 0;
    fprintf(out, "iteration %lld/%lld, %llu of %llu games, %.1f games/s, %d:%02d:%02d left, drawn about %.0f %%",
            (long long)spsa_applied(run->state), (long long)spsa_iterations(&run->plan->spsa),
            (unsigned long long)(2 * state->pairs_done), (unsigned long long)(2 * state->pairs_total), rate,
            (int)(left / 3600), (int)(left / 60) % 60, (int)left % 60,
            100 * fmax(spsa_draw_ratio(run->state), 0));
}

static void show_progress(void *context, const MatchState *state) {
    Run *run = context;
    int64_t now = now_ms();
    bool terminal = isatty(STDERR_FILENO);
    if (!run->plan->quiet && terminal && now - run->last_live_ms >= LIVE_EVERY_MS) {
        run->last_live_ms = now;
        fputs(LIVE_BEGIN, stderr);
        print_progress(run, state, stderr);
        fputs(LIVE_END, stderr);
        fflush(stderr);
    }
    if (!run->plan->quiet && !terminal && now - run->last_line_ms >= LINE_EVERY_MS) {
        run->last_line_ms = now;
        print_progress(run, state, stdout);
        printf("\n");
        fflush(stdout);
    }
    report_tick(&run->report,
                run->plan->report_source[0] ? run->plan->report_source : run->plan->match.journal,
                run->plan->report);
}

// --- a run
// --------------------------------------------------------------------------------------------------------

static void print_plan(const TunePlan *plan) {
    const SpsaPlan *spsa = &plan->spsa;
    const TimeControl *tc = &plan->match.players[0].tc;
    printf("SPSA, method %s: %d parameters, %lld games in %lld iterations of %d pairs, lag %d, seed %llu",
           spsa_mode_name(spsa->mode), spsa->count, (long long)spsa->games, (long long)spsa_iterations(spsa),
           spsa->pairs, spsa->lag, (unsigned long long)spsa->seed);
    if (tc->nodes) printf(", %llu nodes a move", (unsigned long long)tc->nodes);
    printf("\n");
    if (plan->hours > 0) printf("Budget: %g hours at %.1f games/s\n", plan->hours, plan->rate);
    printf("Journal %s%s%s\n", plan->match.journal, plan->report[0] ? ", report " : "", plan->report);
    fflush(stdout);
}

static void fill_result(const Run *run, TuneResult *result) {
    const SpsaPlan *spsa = &run->plan->spsa;
    result->iterations = spsa_iterations(spsa);
    result->applied = spsa_applied(run->state);
    result->draw_ratio = spsa_draw_ratio(run->state);
    result->count = spsa->count;
    result->digest = run->digest;
    result->seconds = (double)run->ms / 1000 / run->plan->match.concurrency;
    result->estimates = calloc((size_t)spsa->count, sizeof *result->estimates);
    for (int i = 0; result->estimates && i < spsa->count; i++) {
        SpsaEstimate e = result->estimates[i] = spsa_estimate(run->state, i);
        double words[3] = {e.last, e.average, e.value};
        result->digest = digest_of(result->digest, words, sizeof words);
    }
}

MatchOutcome tune_run(TunePlan *plan, _Atomic uint64_t *in_flight, TuneResult *result, Error *error) {
    Run run = {.plan = plan, .digest = DIGEST_START, .last_line_ms = now_ms()};
    MatchOutcome outcome = MATCH_FAILED;
    *result = (TuneResult){0};
    if (!check_bounds(plan, error)) return MATCH_FAILED;
    if (plan->hours > 0 && plan->rate <= 0 &&
        !budget_settle(&plan->match, "spsa", plan->hours, 2 * plan->spsa.pairs, &plan->spsa.games,
                       &plan->rate, error))
        return MATCH_FAILED;
    run.state = spsa_create(&plan->spsa, error);
    if (!run.state) return MATCH_FAILED;
    pthread_mutex_init(&run.lock, NULL);
    plan->match.rounds = (uint64_t)(spsa_iterations(&plan->spsa) * plan->spsa.pairs);
    if (!plan->quiet) print_plan(plan);
    cJSON *extra = plan_json(plan);
    MatchHooks hooks = {.context = &run,
                        .extra_name = "spsa",
                        .extra = extra,
                        .silent = true,
                        .only_replay = plan->only_replay,
                        .keep_finished = true,
                        .prepare = give_parameters,
                        .consume = take_pair,
                        .tick = show_progress,
                        .step = (uint64_t)plan->spsa.pairs,
                        .window = (uint64_t)plan->spsa.lag * (uint64_t)plan->spsa.pairs};
    outcome = match_play(&plan->match, &hooks, in_flight, &result->match, error);
    if (!plan->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    fill_result(&run, result);
    if (outcome != MATCH_FAILED && !result->estimates) {
        error_set(error, "not enough memory");
        outcome = MATCH_FAILED;
    }
    cJSON_Delete(extra);
    pthread_mutex_destroy(&run.lock);
    spsa_destroy(run.state);
    return outcome;
}

void tune_result_free(TuneResult *result) {
    free(result->estimates);
    *result = (TuneResult){0};
}

// --- printing
// -----------------------------------------------------------------------------------------------------

bool tune_at_bound(const SpsaParam *param, double value) {
    double near = (param->max - param->min) * .01;
    return value <= param->min + near || value >= param->max - near;
}

void tune_print(const TunePlan *plan, const TuneResult *result, FILE *out) {
    fprintf(out, "%-24s %10s %10s %10s %8s  %s\n", "Parameter", "start", "value", "+/-", "signal", "matters");
    for (int i = 0; i < result->count; i++) {
        const SpsaEstimate *e = &result->estimates[i];
        const SpsaParam *p = &plan->list.items[i];
        char start[VALUE_SIZE], value[VALUE_SIZE];
        value_text(p, p->start, start);
        value_text(p, e->value, value);
        fprintf(out, "%-24s %10s %10s %10.4g %8.2f  %s (chi2 %.1f)%s\n", p->name, start, value, e->error,
                e->signal, e->matters ? "yes" : "not seen", e->chi2,
                tune_at_bound(p, e->value) ? ", at its bound" : "");
    }
    const Stats *s = &result->match.stats;
    fprintf(
        out,
        "%lld of %lld iterations, %llu pairs, Ptnml(0-2): [%llu, %llu, %llu, %llu, %llu], draw ratio %.2f",
        (long long)result->applied, (long long)result->iterations, (unsigned long long)result->match.pairs,
        (unsigned long long)s->penta[0], (unsigned long long)s->penta[1], (unsigned long long)s->penta[2],
        (unsigned long long)s->penta[3], (unsigned long long)s->penta[4], result->draw_ratio);
    if (result->match.aside) fprintf(out, ", %llu pairs set aside", (unsigned long long)result->match.aside);
    if (result->match.incidents)
        fprintf(out, ", %llu engine failures", (unsigned long long)result->match.incidents);
    fprintf(out, "\nDigest %016llx\n", (unsigned long long)result->digest);
}

// The formats by the names they are asked for.
static const struct {
    const char *name, *title;
    SpsaFormat format;
} Formats[] = {{"params", "params.def lines", SPSA_PARAMS_DEF},
               {"uci", "UCI", SPSA_UCI},
               {"openbench", "OpenBench lines", SPSA_LINES},
               {"json", "JSON", SPSA_JSON}};

// Walks through names with commas between: which format is the next one, -1 at the end, -2 where there is no such one.
static int next_format(const char **names) {
    size_t length = strcspn(*names, ",");
    const char *name = *names;
    if (!*name) return -1;
    *names += length + (name[length] == ',');
    for (int i = 0; i < 4; i++)
        if (strlen(Formats[i].name) == length && strncmp(Formats[i].name, name, length) == 0) return i;
    return -2;
}

bool tune_formats_check(const char *names, Error *error) {
    const char *at = names;
    int format = next_format(&at);
    if (format == -1) return error_set(error, "no format is named");
    while (format >= 0) format = next_format(&at);
    return format == -1 || error_set(error, "'%.60s': of params, uci, openbench, json were expected", names);
}

void tune_print_values(const TunePlan *plan, const TuneResult *result, const char *formats, FILE *out) {
    double values[SPSA_MAX_PARAMS];
    bool several = strchr(formats, ',') != NULL;
    for (int i = 0; i < result->count; i++) values[i] = result->estimates[i].value;
    for (int f; (f = next_format(&formats)) >= 0;) {
        if (several) fprintf(out, "%s:\n", Formats[f].title);
        spsa_list_write(&plan->list, values, Formats[f].format, out);
    }
}
