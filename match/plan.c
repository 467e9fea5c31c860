// SPDX-License-Identifier: GPL-3.0-or-later
// A plan as JSON and back: what of it decides the games, for the journal's header.
#include <stdlib.h>
#include <string.h>

#include "match/match.h"

static cJSON *control_json(const TimeControl *tc) {
    cJSON *json = cJSON_CreateObject();
    if (tc->clock) {
        cJSON_AddNumberToObject(json, "moves", tc->moves);
        cJSON_AddNumberToObject(json, "base_ms", (double)tc->base_ms);
        cJSON_AddNumberToObject(json, "inc_ms", (double)tc->inc_ms);
    }
    if (tc->move_ms) cJSON_AddNumberToObject(json, "move_ms", (double)tc->move_ms);
    if (tc->nodes) cJSON_AddNumberToObject(json, "nodes", (double)tc->nodes);
    if (tc->depth) cJSON_AddNumberToObject(json, "depth", tc->depth);
    cJSON_AddNumberToObject(json, "margin_ms", (double)tc->margin_ms);
    return json;
}

static cJSON *player_json(const PlayerSpec *spec) {
    cJSON *json = cJSON_CreateObject(), *options = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", spec->name);
    cJSON_AddStringToObject(json, "cmd", spec->builtin ? "builtin" : spec->cmd);
    cJSON_AddStringToObject(json, "args", spec->args);
    cJSON_AddStringToObject(json, "dir", spec->dir);
    cJSON_AddBoolToObject(json, "restart", spec->restart);
    cJSON_AddItemToObject(json, "tc", control_json(&spec->tc));
    for (int i = 0; i < spec->option_count; i++)
        cJSON_AddStringToObject(options, spec->options[i].name, spec->options[i].value);
    cJSON_AddItemToObject(json, "options", options);
    return json;
}

// The numbers of a plan by name, so that writing and reading cannot drift apart.
#define ADJUDICATE_FIELDS(X)                                                                                 \
    X(draw_number)                                                                                           \
    X(draw_count)                                                                                            \
    X(draw_score) X(resign_count) X(resign_score) X(resign_two_sided) X(max_moves) X(tb_wins) X(tb_draws)    \
        X(tb_ignore50) X(tb_pieces)
#define PLAN_FIELDS(X) X(games) X(gauntlet) X(seeds) X(noswap) X(reverse) X(order) X(plies) X(chess960)

cJSON *match_plan_json(const MatchPlan *plan, const OpeningSet *openings) {
    cJSON *json = cJSON_CreateObject(), *players = cJSON_CreateArray(), *adjudicate = cJSON_CreateObject();
    char text[32];
    for (int i = 0; i < plan->player_count; i++)
        cJSON_AddItemToArray(players, player_json(&plan->players[i]));
    cJSON_AddItemToObject(json, "engines", players);
    cJSON_AddNumberToObject(json, "rounds", (double)plan->rounds);
#define ADD(field) cJSON_AddNumberToObject(json, #field, plan->field);
    PLAN_FIELDS(ADD)
#undef ADD
    cJSON_AddStringToObject(json, "openings", plan->openings);
    snprintf(text, sizeof text, "%016llx", openings ? (unsigned long long)openings->digest : 0ull);
    cJSON_AddStringToObject(json, "openings_digest", text);
    cJSON_AddNumberToObject(json, "start", (double)plan->start);
    snprintf(text, sizeof text, "%llu", (unsigned long long)plan->seed);
    cJSON_AddStringToObject(json, "seed", text);
#define ADD(field) cJSON_AddNumberToObject(adjudicate, #field, plan->adjudicate.field);
    ADJUDICATE_FIELDS(ADD)
#undef ADD
    cJSON_AddItemToObject(json, "adjudicate", adjudicate);
    cJSON_AddStringToObject(json, "tb", plan->tb_path);
    if (plan->has_sprt) {
        cJSON *sprt = cJSON_AddObjectToObject(json, "sprt");
        cJSON_AddNumberToObject(sprt, "elo0", plan->sprt.elo0);
        cJSON_AddNumberToObject(sprt, "elo1", plan->sprt.elo1);
        cJSON_AddNumberToObject(sprt, "alpha", plan->sprt.alpha);
        cJSON_AddNumberToObject(sprt, "beta", plan->sprt.beta);
        cJSON_AddStringToObject(sprt, "model", sprt_model_name(plan->sprt.model));
        cJSON_AddNumberToObject(sprt, "batch", plan->sprt.batch);
    }
    return json;
}

// --- reading

static double number(const cJSON *json, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsTrue(item) ? 1 : 0;
}

static void string(const cJSON *json, const char *name, char *buffer, size_t size) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    text_copy(buffer, size, text ? text : "");
}

static void player_from_json(PlayerSpec *spec, const cJSON *json) {
    const cJSON *tc = cJSON_GetObjectItemCaseSensitive(json, "tc"), *option;
    memset(spec, 0, sizeof *spec);
    string(json, "name", spec->name, sizeof spec->name);
    string(json, "cmd", spec->cmd, sizeof spec->cmd);
    string(json, "args", spec->args, sizeof spec->args);
    string(json, "dir", spec->dir, sizeof spec->dir);
    spec->builtin = strcmp(spec->cmd, "builtin") == 0;
    spec->restart = number(json, "restart") != 0;
    spec->startup_ms = 10000;
    spec->ping_ms = 60000;
    spec->quit_ms = 5000;
    spec->tc = (TimeControl){.clock = cJSON_HasObjectItem(tc, "base_ms"),
                             .moves = (int)number(tc, "moves"),
                             .base_ms = (int64_t)number(tc, "base_ms"),
                             .inc_ms = (int64_t)number(tc, "inc_ms"),
                             .move_ms = (int64_t)number(tc, "move_ms"),
                             .nodes = (uint64_t)number(tc, "nodes"),
                             .depth = (int)number(tc, "depth"),
                             .margin_ms = (int64_t)number(tc, "margin_ms")};
    cJSON_ArrayForEach(option, cJSON_GetObjectItemCaseSensitive(json, "options")) {
        if (spec->option_count == MAX_PLAYER_OPTIONS) break;
        PlayerOption *o = &spec->options[spec->option_count++];
        text_copy(o->name, sizeof o->name, option->string);
        text_copy(o->value, sizeof o->value, cJSON_IsString(option) ? option->valuestring : "");
    }
}

bool match_plan_from_json(MatchPlan *plan, const cJSON *json, Error *error) {
    const cJSON *engines = cJSON_GetObjectItemCaseSensitive(json, "engines"), *engine,
                *adjudicate = cJSON_GetObjectItemCaseSensitive(json, "adjudicate");
    const cJSON *sprt = cJSON_GetObjectItemCaseSensitive(json, "sprt");
    int count = cJSON_GetArraySize(engines);
    char text[32];
    *plan = (MatchPlan){.concurrency = 1};
    if (count < 2 || count > MATCH_MAX_PLAYERS)
        return error_set(error, "the plan has %d engines, 2 to %d were expected", count, MATCH_MAX_PLAYERS);
    plan->players = calloc((size_t)count, sizeof *plan->players);
    if (!plan->players) return error_set(error, "not enough memory");
    cJSON_ArrayForEach(engine, engines) player_from_json(&plan->players[plan->player_count++], engine);
    plan->rounds = (uint64_t)number(json, "rounds");
#define READ(field) plan->field = (__typeof__(plan->field))number(json, #field);
    PLAN_FIELDS(READ)
#undef READ
#define READ(field) plan->adjudicate.field = (__typeof__(plan->adjudicate.field))number(adjudicate, #field);
    ADJUDICATE_FIELDS(READ)
#undef READ
    string(json, "openings", plan->openings, sizeof plan->openings);
    string(json, "tb", plan->tb_path, sizeof plan->tb_path);
    plan->start = (uint64_t)number(json, "start");
    string(json, "seed", text, sizeof text);
    plan->seed = strtoull(text, NULL, 10);
    plan->has_sprt = sprt != NULL;
    if (sprt) {
        string(sprt, "model", text, sizeof text);
        plan->sprt = (SprtSpec){.elo0 = number(sprt, "elo0"),
                                .elo1 = number(sprt, "elo1"),
                                .alpha = number(sprt, "alpha"),
                                .beta = number(sprt, "beta"),
                                .batch = (int)number(sprt, "batch")};
        if (!sprt_model_parse(text, &plan->sprt.model, error)) return false;
    }
    return true;
}
