// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/params.h"

#include <string.h>

#include "engine/types.h"

const ParamInfo ParamTable[PARAM_COUNT] = {
#define SWITCH(name, value, group, text) {#name, #group, text, KIND_SWITCH, value, 0, 1, 0, 0, NULL},
#define PARAM(name, value, min, max, c_end, r_end, group, text)                                              \
    {#name, #group, text, KIND_NUMBER, value, min, max, c_end, r_end, NULL},
#define CHOICE(name, value, values, group, text)                                                             \
    {#name, #group, text, KIND_CHOICE, value, 0, 0, 0, 0, values},
#include "engine/params.def"
#undef SWITCH
#undef PARAM
#undef CHOICE
};

_Static_assert(sizeof(Params) == PARAM_COUNT * sizeof(int), "Params is a plain array of ints with names");

Params params_default(void) {
    Params params;
    for (int id = 0; id < PARAM_COUNT; id++) params_put(&params, id, ParamTable[id].value);
    return params;
}

int params_find(const char *name) {
    for (int id = 0; id < PARAM_COUNT; id++)
        if (text_equal(ParamTable[id].name, name)) return id;
    return -1;
}

int params_get(const Params *params, int id) {
    int value;
    memcpy(&value, (const char *)params + (size_t)id * sizeof value, sizeof value);
    return value;
}

void params_put(Params *params, int id, int value) {
    memcpy((char *)params + (size_t)id * sizeof value, &value, sizeof value);
}

// The index of text among the blank-separated values of a choice, or -1.
static int choice_index(const char *values, const char *text) {
    char word[32];
    for (int index = 0; text_word(&values, word, sizeof word); index++)
        if (text_equal(word, text)) return index;
    return -1;
}

bool params_parse(Params *params, int id, const char *text, Error *error) {
    const ParamInfo *info = &ParamTable[id];
    int64_t value = -1;
    if (info->kind == KIND_CHOICE) {
        value = choice_index(info->values, text);
        if (value < 0) return error_set(error, "%s: '%.40s' is none of: %s", info->name, text, info->values);
    } else if (info->kind == KIND_SWITCH && (text_equal(text, "true") || text_equal(text, "false"))) {
        value = text_equal(text, "true");
    } else if (!parse_int(text, info->min, info->max, &value, error)) {
        return error_prefix(error, "%s", info->name);
    }
    params_put(params, id, (int)value);
    return true;
}

void params_text(const Params *params, int id, char *buffer) {
    const ParamInfo *info = &ParamTable[id];
    int value = params_get(params, id);
    if (info->kind == KIND_NUMBER) {
        snprintf(buffer, 32, "%d", value);
    } else if (info->kind == KIND_SWITCH) {
        snprintf(buffer, 32, "%s", value ? "true" : "false");
    } else {
        const char *values = info->values;
        for (int index = 0; index <= value; index++) text_word(&values, buffer, 32);
    }
}

// Whether a group is in a comma-separated list; NULL lists all.
static bool group_wanted(const char *groups, const char *group) {
    if (!groups) return true;
    size_t length = strlen(group);
    for (const char *at = groups; *at; at += *at == ',') {
        size_t span = strcspn(at, ",");
        if (span == length && memcmp(at, group, length) == 0) return true;
        at += span;
    }
    return false;
}

bool params_groups_known(const char *groups, Error *error) {
    char wanted[32], known[300] = "";
    for (int id = 0; id < PARAM_COUNT; id++) { // the parameters of a group stand together
        const char *group = ParamTable[id].group;
        if (id > 0 && strcmp(group, ParamTable[id - 1].group) == 0) continue;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? "," : "", group);
    }
    for (const char *at = groups;; at++) {
        size_t span = strcspn(at, ",");
        snprintf(wanted, sizeof wanted, "%.*s", (int)span, at);
        if (!*wanted || !group_wanted(known, wanted))
            return error_set(error, "'%s' is none of %s", wanted, known);
        at += span;
        if (!*at) return true;
    }
}

static void print_uci(FILE *out, const ParamInfo *info) {
    fprintf(out, "option name %s type ", info->name);
    if (info->kind == KIND_SWITCH) {
        fprintf(out, "check default %s\n", info->value ? "true" : "false");
    } else if (info->kind == KIND_NUMBER) {
        fprintf(out, "spin default %d min %d max %d\n", info->value, info->min, info->max);
    } else {
        Params defaults = params_default();
        char word[32];
        params_text(&defaults, (int)(info - ParamTable), word);
        fprintf(out, "combo default %s", word);
        for (const char *values = info->values; text_word(&values, word, sizeof word);)
            fprintf(out, " var %s", word);
        fputc('\n', out);
    }
}

void params_print(FILE *out, const Params *params, ParamsFormat format, const char *groups) {
    const char *separator = "";
    if (format == PARAMS_MD)
        fputs("| name | value | range | group | what it does |\n|---|---|---|---|---|\n", out);
    if (format == PARAMS_JSON) fputc('[', out);
    for (int id = 0; id < PARAM_COUNT; id++) {
        const ParamInfo *info = &ParamTable[id];
        if (!group_wanted(groups, info->group)) continue;
        int value = params_get(params, id);
        char text[32];
        params_text(params, id, text);
        switch (format) {
        case PARAMS_SPSA:
            if (info->kind == KIND_NUMBER)
                fprintf(out, "%s, int, %d, %d, %d, %g, %g\n", info->name, value, info->min, info->max,
                        info->c_end, info->r_end);
            break;
        case PARAMS_UCI: print_uci(out, info); break;
        case PARAMS_MD:
            if (info->kind == KIND_NUMBER)
                fprintf(out, "| %s | %s | %d to %d | %s | %s |\n", info->name, text, info->min, info->max,
                        info->group, info->text);
            else
                fprintf(out, "| %s | %s | %s | %s | %s |\n", info->name, text,
                        info->kind == KIND_SWITCH ? "switch" : info->values, info->group, info->text);
            break;
        case PARAMS_JSON:
            fprintf(out, "%s\n {\"name\": \"%s\", \"kind\": \"%s\", \"group\": \"%s\", \"value\": %d",
                    separator, info->name,
                    info->kind == KIND_SWITCH   ? "switch"
                    : info->kind == KIND_NUMBER ? "number"
                                                : "choice",
                    info->group, value);
            if (info->kind == KIND_NUMBER)
                fprintf(out, ", \"min\": %d, \"max\": %d, \"c_end\": %g, \"r_end\": %g", info->min, info->max,
                        info->c_end, info->r_end);
            if (info->kind == KIND_CHOICE) fprintf(out, ", \"values\": \"%s\"", info->values);
            fprintf(out, ", \"text\": \"%s\"}", info->text);
            separator = ",";
            break;
        }
    }
    if (format == PARAMS_JSON) fputs("\n]\n", out);
}
