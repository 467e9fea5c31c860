// SPDX-License-Identifier: GPL-3.0-or-later
// Reading campaign files.
#include "tuner/campaign.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// --- places in the text: cJSON has checked it, so this may be simple

static const char *skip_space(const char *at) {
    while (*at && isspace((unsigned char)*at)) at++;
    return at;
}

static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        at = skip_space(at);
        if (*at == '"') at = skip_string(at);
        else if (*at == '{' || *at == '[') depth++, at++;
        else if (*at == '}' || *at == ']') depth--, at++;
        else if (depth > 0 && *at) at++;
        else
            while (*at && !strchr(",]}", *at) && !isspace((unsigned char)*at)) at++;
    } while (depth > 0 && *at);
    return at;
}

// Where the member or item begins, in the object or array at `at`; `at` itself if there is none.
static const char *find_inside(const char *at, const char *key, int index) {
    const char *start = at = skip_space(at);
    size_t length = key ? strlen(key) : 0;
    if (*at != (key ? '{' : '[')) return start;
    at++;
    for (int i = 0;; i++) {
        at = skip_space(at);
        if (*at == ',') at = skip_space(at + 1);
        if (!*at || *at == '}' || *at == ']') return start;
        const char *here = at;
        if (key) {
            bool same = *at == '"' && strncmp(at + 1, key, length) == 0 && at[1 + length] == '"';
            at = skip_space(skip_string(at));
            if (*at == ':') at = skip_space(at + 1);
            if (same) return here;
        } else if (i == index) {
            return here;
        }
        at = skip_value(at);
    }
}

// --- reading

typedef struct Reader {
    Campaign *campaign;
    const char *text, *path;
    int stage; // that is being read, -1 outside
    Error *error;
} Reader;

// Refuses with file, line and path; key: a member's, a.b for one inside it, NULL for the stage itself.
static bool refuse(const Reader *r, const char *key, const char *reason) {
    const char *at = r->text;
    char place[200], keep[200];
    snprintf(keep, sizeof keep, "%.199s", reason);
    if (r->stage >= 0) {
        at = find_inside(at, "stages", 0);
        at = skip_space(strchr(at, ':') ? strchr(at, ':') + 1 : at);
        at = find_inside(at, NULL, r->stage);
        snprintf(place, sizeof place, "stages[%d]%s%.80s", r->stage + 1, key ? "." : "", key ? key : "");
    } else {
        snprintf(place, sizeof place, "%.80s", key ? key : "");
    }
    for (const char *part = key; part; part = *part ? part + 1 : NULL) {
        char name[64];
        size_t length = strcspn(part, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, part);
        if (part != key) at = skip_space(strchr(at, ':') ? strchr(at, ':') + 1 : at);
        at = find_inside(at, name, 0);
        part += length;
    }
    int line = 1;
    for (const char *c = r->text; c < at; c++) line += *c == '\n';
    return error_set(r->error, "%s:%d: %s: %s", r->path, line, place, keep);
}

// A plain value as text; false if it is an object, an array or null.
static bool plain_text(const cJSON *item, char *text, size_t size) {
    if (cJSON_IsString(item)) return text_copy(text, size, item->valuestring);
    if (cJSON_IsBool(item)) return text_copy(text, size, cJSON_IsTrue(item) ? "true" : "false");
    if (!cJSON_IsNumber(item)) return false;
    snprintf(text, size, "%.15g", item->valuedouble);
    return true;
}

bool option_set_put(OptionSet *set, const char *name, const char *value, Error *error) {
    int at = 0;
    while (at < set->count && !text_equal(set->items[at].name, name)) at++;
    if (at == MAX_PLAYER_OPTIONS) return error_set(error, "more than %d options", MAX_PLAYER_OPTIONS);
    if (at == set->count) set->count++;
    bool fits = text_copy(set->items[at].name, sizeof set->items[at].name, name) &&
                text_copy(set->items[at].value, sizeof set->items[at].value, value);
    return fits || error_set(error, "option '%.40s': name or value too long", name);
}

static bool read_options(const Reader *r, const cJSON *json, OptionSet *set) {
    const cJSON *item;
    if (!cJSON_IsObject(json)) return refuse(r, json->string, "an object of UCI options was expected");
    cJSON_ArrayForEach(item, json) {
        char text[256], key[80];
        Error reason;
        snprintf(key, sizeof key, "%s.%.60s", json->string, item->string);
        if (!plain_text(item, text, sizeof text))
            return refuse(r, key, "a number, a text or true or false was expected");
        if (!option_set_put(set, item->string, text, &reason)) return refuse(r, key, reason.text);
    }
    return true;
}

// Reads texts into rows of `size` characters: an array, or a single one.
static bool read_texts(const Reader *r, const cJSON *json, char *rows, size_t size, int most, int *count) {
    const cJSON *item = cJSON_IsArray(json) ? json->child : json;
    for (*count = 0; item; item = cJSON_IsArray(json) ? item->next : NULL) {
        if (!cJSON_IsString(item)) return refuse(r, json->string, "a text or an array of texts was expected");
        if (*count == most) return refuse(r, json->string, "too many entries");
        if (!text_copy(rows + (size_t)(*count)++ * size, size, item->valuestring))
            return refuse(r, json->string, "an entry is too long");
    }
    return true;
}

static int find_word(const char *text, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0) return i;
    return -1;
}

static const char *const Kinds[] = {"spsa", "sprt", "match", "ablate", "bench"};
static const char *const Gates[] = {"none", "accepted", "not refuted", "equal"};
static const char *const Failures[] = {"keep base", "go on", "stop"};
static const char *const Methods[] = {"auto", "fishtest", "openbench", "constant"};

const char *stage_kind_name(StageKind kind) { return Kinds[kind]; }

static bool to_int(const char *text, int64_t max, int *out, Error *error) {
    int64_t wide = 0;
    if (!parse_int(text, 1, max, &wide, error)) return false;
    *out = (int)wide;
    return true;
}

// The plain keys of each kind of stage; *known tells whether there is such a key.
static bool set_plain(CampaignStage *s, const char *key, const char *value, bool *known, Error *error) {
    bool tests = s->kind == STAGE_SPRT, plays = s->kind != STAGE_BENCH, tunes = s->kind == STAGE_SPSA;
    int64_t number = 0;
    int word;
    *known = true;
    if (strcmp(key, "about") == 0)
        return text_copy(s->about, sizeof s->about, value) || error_set(error, "too long");
    if (strcmp(key, "say_on_failure") == 0)
        return text_copy(s->say_on_failure, sizeof s->say_on_failure, value) || error_set(error, "too long");
    if (strcmp(key, "gate") == 0) {
        word = find_word(value, Gates, 4);
        if (word < 0) return error_set(error, "'%.40s' is none of none, accepted, not refuted, equal", value);
        s->gate = (StageGate)word;
        bool fits = s->gate == GATE_NONE || (tests && s->gate != GATE_EQUAL) ||
                    (s->kind == STAGE_MATCH && s->gate == GATE_EQUAL);
        return fits || error_set(error, "'%s' does not fit a stage of type %s", value, Kinds[s->kind]);
    }
    if (strcmp(key, "on_failure") == 0) {
        word = find_word(value, Failures, 3);
        if (word < 0) return error_set(error, "'%.40s' is none of keep base, go on, stop", value);
        s->on_failure = (StageFailure)word;
        return true;
    }
    if (strcmp(key, "promote") == 0) {
        s->promote = strcmp(value, "true") == 0;
        return s->promote || strcmp(value, "false") == 0 || error_set(error, "true or false was expected");
    }
    if (plays && strcmp(key, "hours") == 0) return parse_real(value, 1e-4, 1000, &s->hours, error);
    if (plays && strcmp(key, "games") == 0) return parse_int(value, 2, INT64_C(1000000000), &s->games, error);
    if (tests && strcmp(key, "elo0") == 0) return parse_real(value, -1000, 1000, &s->sprt.elo0, error);
    if (tests && strcmp(key, "elo1") == 0) return parse_real(value, -1000, 1000, &s->sprt.elo1, error);
    if (tests && strcmp(key, "alpha") == 0) return parse_real(value, 1e-9, .5, &s->sprt.alpha, error);
    if (tests && strcmp(key, "beta") == 0) return parse_real(value, 1e-9, .5, &s->sprt.beta, error);
    if (tests && strcmp(key, "model") == 0) return sprt_model_parse(value, &s->sprt.model, error);
    if (tunes && strcmp(key, "params") == 0)
        return text_copy(s->params, sizeof s->params, value) || error_set(error, "too long");
    if (tunes && strcmp(key, "group") == 0)
        return text_copy(s->group, sizeof s->group, value) || error_set(error, "too long");
    if (tunes && strcmp(key, "pairs") == 0) return to_int(value, 100000, &s->spsa.pairs, error);
    if (tunes && strcmp(key, "lag") == 0) return to_int(value, SPSA_MAX_LAG, &s->spsa.lag, error);
    if (tunes && strcmp(key, "tail") == 0) return parse_real(value, 0, 1, &s->spsa.tail, error);
    if (tunes && strcmp(key, "method") == 0) {
        static const SpsaMode Modes[] = {SPSA_AUTO, SPSA_FISHTEST, SPSA_OPENBENCH, SPSA_CONSTANT};
        word = find_word(value, Methods, 4);
        if (word < 0)
            return error_set(error, "'%.40s' is none of auto, fishtest, openbench, constant", value);
        s->spsa.mode = Modes[word];
        return true;
    }
    if (s->kind == STAGE_BENCH) {
        if (strcmp(key, "depth") == 0) return to_int(value, 60, &s->depth, error);
        if (strcmp(key, "solve_nodes") == 0) {
            bool ok = parse_int(value, 1, INT64_C(1000000000), &number, error);
            s->solve_nodes = (uint64_t)number;
            return ok;
        }
        if (strcmp(key, "explicit_defaults") == 0) {
            s->explicit_defaults = strcmp(value, "true") == 0;
            return s->explicit_defaults || strcmp(value, "false") == 0 ||
                   error_set(error, "true or false was expected");
        }
        *known = false;
        return false;
    }
    if (s->kind == STAGE_ABLATE) {
        if (strcmp(key, "engine") == 0 || strcmp(key, "args") == 0 || strcmp(key, "dir") == 0 ||
            strcmp(key, "st") == 0)
            return error_set(error, "not here: ablate measures the builtin engine");
        if (strcmp(key, "only") == 0)
            return text_copy(s->group, sizeof s->group, value) || error_set(error, "too long");
        if (strcmp(key, "depth") == 0) return to_int(value, 60, &s->depth, error);
        if (strcmp(key, "bare_depth") == 0) return to_int(value, 20, &s->bare_depth, error);
    }
    return play_set(&s->play, key, value, known, error);
}

// One member of a stage.
static bool read_member(const Reader *r, CampaignStage *s, const cJSON *item) {
    const char *key = item->string;
    char text[4096];
    bool known;
    Error reason;
    if (strcmp(key, "name") == 0 || strcmp(key, "type") == 0) return true;
    if (strcmp(key, "options") == 0) return read_options(r, item, &s->options);
    if (strcmp(key, "base") == 0) return read_options(r, item, &s->base);
    if (strcmp(key, "if_passed") == 0)
        return read_texts(r, item, s->if_passed[0], sizeof s->if_passed[0], CAMPAIGN_LINKS,
                          &s->if_passed_count);
    if (strcmp(key, "if_failed") == 0)
        return read_texts(r, item, s->if_failed[0], sizeof s->if_failed[0], CAMPAIGN_LINKS,
                          &s->if_failed_count);
    if (s->kind == STAGE_BENCH && strcmp(key, "solve") == 0)
        return read_texts(r, item, s->solve[0], sizeof s->solve[0], CAMPAIGN_SOLVES, &s->solve_count);
    if (s->kind == STAGE_BENCH && strcmp(key, "increasing") == 0)
        return read_texts(r, item, s->increasing[0], sizeof s->increasing[0], 16, &s->increasing_count);
    if (!plain_text(item, text, sizeof text)) {
        set_plain(s, key, "", &known, &reason);
        return refuse(r, key,
                      known ? "a number, a text or true or false was expected" : "there is no such key");
    }
    if (set_plain(s, key, text, &known, &reason)) return true;
    return refuse(r, key, known ? reason.text : "there is no such key in a stage of this type");
}

static bool check_links(const Reader *r, const char *key, char (*names)[CAMPAIGN_NAME], int count) {
    for (int i = 0; i < count; i++) {
        bool found = false;
        for (int s = 0; s < r->stage; s++) found |= strcmp(r->campaign->stages[s].name, names[i]) == 0;
        char text[120];
        snprintf(text, sizeof text, "there is no earlier stage '%s'", names[i]);
        if (!found) return refuse(r, key, text);
    }
    return true;
}

// What must be there for the kind of stage, and fit together.
static bool check_stage(const Reader *r, CampaignStage *s) {
    Error reason;
    for (int i = 0; i < r->stage; i++)
        if (strcmp(r->campaign->stages[i].name, s->name) == 0)
            return refuse(r, "name", "another stage has it");
    if (s->kind == STAGE_ABLATE && s->hours > 0) return refuse(r, "hours", "ablate takes games, for each match");
    if (s->kind == STAGE_ABLATE && s->options.count + s->base.count > 0)
        return refuse(r, NULL, "ablate measures what is shipped: no options, no base");
    if (s->kind == STAGE_SPRT && !sprt_spec_check(&s->sprt, &reason)) return refuse(r, "elo0", reason.text);
    if (s->kind != STAGE_BENCH && s->games == 0 && s->hours == 0)
        return refuse(r, NULL, "a limit is missing: games or hours");
    if (s->kind == STAGE_SPSA && s->games > 0 && s->hours > 0)
        return refuse(r, "hours", "games and hours exclude each other here");
    return check_links(r, "if_passed", s->if_passed, s->if_passed_count) &&
           check_links(r, "if_failed", s->if_failed, s->if_failed_count);
}

static const char BadFileName[] = "letters, digits, - _ and . were expected: it becomes a file name";

// Whether a name may become that of a file.
static bool file_name(const char *name) {
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c)) return false;
    return name[0] && name[0] != '.';
}

static bool read_stage(Reader *r, const cJSON *json, const cJSON *defaults, CampaignStage *s) {
    const cJSON *item, *name = cJSON_GetObjectItemCaseSensitive(json, "name"),
                       *type = cJSON_GetObjectItemCaseSensitive(json, "type");
    if (!cJSON_IsObject(json)) return refuse(r, NULL, "an object was expected");
    if (!cJSON_IsString(name) || !name->valuestring[0] ||
        !text_copy(s->name, sizeof s->name, name->valuestring))
        return refuse(r, name ? "name" : NULL, "a name was expected, 1 to 63 characters");
    if (!file_name(s->name)) return refuse(r, "name", BadFileName);
    int kind = cJSON_IsString(type) ? find_word(type->valuestring, Kinds, 5) : -1;
    if (kind < 0)
        return refuse(r, type ? "type" : NULL, "a type was expected: spsa, sprt, match, ablate or bench");
    s->kind = (StageKind)kind;
    play_default(&s->play);
    s->spsa = spsa_plan(NULL, 0, 0, 1);
    s->sprt = (SprtSpec){.alpha = .05, .beta = .05, .model = SPRT_NORMALIZED, .batch = SPRT_DEFAULT_BATCH};
    s->gate = kind == STAGE_SPRT ? GATE_ACCEPTED : GATE_NONE;
    s->depth = 10;
    s->solve_nodes = 200000;
    s->play.seed = (uint64_t)r->stage + 1; // other openings for each stage
    cJSON_ArrayForEach(item, defaults) {
        char text[4096], key[80];
        bool known = true;
        Error reason = {"a number, a text or true or false was expected"};
        bool ok =
            plain_text(item, text, sizeof text) && play_set(&s->play, item->string, text, &known, &reason);
        if (ok) continue;
        Reader outside = *r;
        outside.stage = -1;
        snprintf(key, sizeof key, "defaults.%.60s", item->string);
        return refuse(&outside, key,
                      known ? reason.text
                            : "there is no such key; known: engine, args, dir, nodes, depth, tc, st, openings, start, "
                              "draw, resign, concurrency, seed");
    }
    // A stage with a limit of its own takes none from the defaults.
    static const char *const Limits[] = {"nodes", "depth", "tc", "st"};
    for (int i = 0; i < 4 && kind != STAGE_ABLATE; i++)
        if (cJSON_HasObjectItem(json, Limits[i]))
            s->play.nodes[0] = s->play.depth[0] = s->play.tc[0] = s->play.st[0] = '\0';
    cJSON_ArrayForEach(item, json) if (!read_member(r, s, item)) return false;
    return check_stage(r, s);
}

static bool read_top(Reader *r, const cJSON *json) {
    const cJSON *item;
    Campaign *c = r->campaign;
    cJSON_ArrayForEach(item, json) {
        const char *key = item->string;
        if (strcmp(key, "name") == 0) {
            if (!cJSON_IsString(item) || !item->valuestring[0] ||
                !text_copy(c->name, sizeof c->name, item->valuestring))
                return refuse(r, key, "a text of 1 to 63 characters was expected");
            if (!file_name(c->name)) return refuse(r, key, BadFileName);
        } else if (strcmp(key, "about") == 0) {
            if (!cJSON_IsString(item) || !text_copy(c->about, sizeof c->about, item->valuestring))
                return refuse(r, key, "a text of at most 511 characters was expected");
        } else if (strcmp(key, "hours") == 0) {
            if (!cJSON_IsNumber(item) || item->valuedouble <= 0)
                return refuse(r, key, "a number above 0 was expected");
            c->hours = item->valuedouble;
        } else if (strcmp(key, "defaults") == 0) {
            if (!cJSON_IsObject(item)) return refuse(r, key, "an object was expected");
        } else if (strcmp(key, "stages") != 0) {
            return refuse(r, key, "there is no such key; known: name, about, hours, defaults, stages");
        }
    }
    return c->name[0] || refuse(r, NULL, "the campaign has no name");
}

bool campaign_parse(Campaign *campaign, const char *text, const char *path, Error *error) {
    Reader r = {.campaign = campaign, .text = text, .path = path, .stage = -1, .error = error};
    const char *end = NULL;
    *campaign = (Campaign){0};
    cJSON *json = cJSON_ParseWithOpts(text, &end, true);
    if (!cJSON_IsObject(json)) {
        int line = 1;
        for (const char *c = text; end && c < end; c++) line += *c == '\n';
        cJSON_Delete(json);
        return error_set(error, "%s:%d: this is not JSON, or not an object", path, line);
    }
    const cJSON *stages = cJSON_GetObjectItemCaseSensitive(json, "stages"),
                *defaults = cJSON_GetObjectItemCaseSensitive(json, "defaults");
    int count = cJSON_IsArray(stages) ? cJSON_GetArraySize(stages) : 0;
    bool ok = read_top(&r, json);
    if (ok && (count < 1 || count > CAMPAIGN_MAX_STAGES))
        ok = refuse(&r, "stages", "an array of 1 to 64 stages was expected");
    campaign->stages = ok ? calloc((size_t)count, sizeof *campaign->stages) : NULL;
    if (ok && !campaign->stages) ok = error_set(error, "not enough memory");
    for (r.stage = 0; ok && r.stage < count; r.stage++, campaign->count++)
        ok = read_stage(&r, cJSON_GetArrayItem(stages, r.stage), defaults, &campaign->stages[r.stage]);
    cJSON_Delete(json);
    if (!ok) campaign_free(campaign);
    return ok;
}

bool campaign_read(Campaign *campaign, const char *path, Error *error) {
    char *text = file_read(path, NULL, error);
    bool ok = text && campaign_parse(campaign, text, path, error);
    free(text);
    return ok;
}

void campaign_free(Campaign *campaign) {
    free(campaign->stages);
    *campaign = (Campaign){0};
}
