// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/spsa_input.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "engine/params.h"

enum { MAX_FIELDS = 7, MAX_LINE = 512 };

void spsa_list_free(SpsaList *list) {
    free(list->items);
    *list = (SpsaList){0};
}

static bool list_add(SpsaList *list, const SpsaParam *param, Error *error) {
    for (int i = 0; i < list->count; i++)
        if (text_equal(list->items[i].name, param->name))
            return error_set(error, "parameter '%s' is named twice", param->name);
    if (list->count >= SPSA_MAX_PARAMS) return error_set(error, "more than %d parameters", SPSA_MAX_PARAMS);
    SpsaParam *items = realloc(list->items, ((size_t)list->count + 1) * sizeof *items);
    if (!items) return error_set(error, "out of memory");
    list->items = items;
    items[list->count++] = *param;
    return true;
}

static bool param_check(const SpsaParam *p, Error *error) {
    if (!p->name[0]) return error_set(error, "name: expected one, found none");
    if (!(p->min < p->max))
        return error_set(error, "'%s': min %g is not below max %g", p->name, p->min, p->max);
    if (p->start < p->min || p->start > p->max)
        return error_set(error, "'%s': value %g is outside [%g, %g]", p->name, p->start, p->min, p->max);
    if (p->c_end <= 0) return error_set(error, "'%s': c_end %g: expected more than 0", p->name, p->c_end);
    if (p->r_end < 0) return error_set(error, "'%s': r_end %g: expected 0 or more", p->name, p->r_end);
    if (p->is_int && (p->start != floor(p->start) || p->min != floor(p->min) || p->max != floor(p->max)))
        return error_set(error, "'%s': value, min and max of an int: expected whole numbers", p->name);
    return true;
}

// Cuts a line at its commas, in place; blanks around fields go. Returns the number of fields, at most max
// + 1.
static int split(char *line, char *fields[], int max) {
    int count = 0;
    for (char *at = line; at;) {
        char *comma = strchr(at, ',');
        if (comma) *comma = '\0';
        while (isspace((unsigned char)*at)) at++;
        size_t length = strlen(at);
        while (length && isspace((unsigned char)at[length - 1])) at[--length] = '\0';
        if (count < max) fields[count] = at;
        if (++count > max) break;
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

// `name, int|float, value, min, max, c_end, r_end` (OpenBench) or `name,start,min,max,c_end,r_end`
// (fishtest).
static bool parse_line(char *line, SpsaParam *p, Error *error) {
    static const char *const Names[] = {"value", "min", "max", "c_end", "r_end"};
    char *fields[MAX_FIELDS];
    int count = split(line, fields, MAX_FIELDS);
    if (count != 6 && count != 7)
        return error_set(
            error, "%d fields: expected 7 (name, int, value, min, max, c_end, r_end) or 6 without the type",
            count);
    *p = (SpsaParam){.is_int = true};
    if (!text_copy(p->name, sizeof p->name, fields[0]))
        return error_set(error, "name '%s': longer than %d characters", fields[0], SPSA_NAME - 1);
    if (count == 7) {
        if (!text_equal(fields[1], "int") && !text_equal(fields[1], "float"))
            return error_set(error, "'%s': type '%s': expected int or float", p->name, fields[1]);
        p->is_int = text_equal(fields[1], "int");
    }
    double *const numbers[] = {&p->start, &p->min, &p->max, &p->c_end, &p->r_end};
    for (int i = 0; i < 5; i++)
        if (!parse_real(fields[count - 5 + i], -1e15, 1e15, numbers[i], error))
            return error_prefix(error, "'%s': %s", p->name, Names[i]);
    // fishtest names no type: whole numbers mean an integer
    if (count == 6)
        p->is_int = p->start == floor(p->start) && p->min == floor(p->min) && p->max == floor(p->max);
    return param_check(p, error);
}

static bool parse_lines(const char *text, const char *name, SpsaList *list, Error *error) {
    int number = 0;
    for (const char *at = text; *at;) {
        char line[MAX_LINE];
        size_t length = strcspn(at, "\n");
        number++;
        if (length >= sizeof line)
            return error_set(error, "%s:%d: line longer than %d", name, number, MAX_LINE - 1);
        memcpy(line, at, length);
        line[length] = '\0';
        at += length + (at[length] == '\n');
        char *first = line + strspn(line, " \t\r");
        if (!*first || *first == '#') continue;
        SpsaParam p;
        if (!parse_line(first, &p, error) || !list_add(list, &p, error))
            return error_prefix(error, "%s:%d", name, number);
    }
    return true;
}

// `{"Name": {"value": v, "min_value": a, "max_value": b, "step": c}, ...}`, all numbers; unknown keys are
// refused.
static bool parse_object(const cJSON *item, SpsaParam *p, Error *error) {
    static const char *const Keys[] = {"value", "min_value", "max_value", "step"};
    double *const numbers[] = {&p->start, &p->min, &p->max, &p->c_end};
    *p = (SpsaParam){.is_int = true, .r_end = .002};
    if (!text_copy(p->name, sizeof p->name, item->string))
        return error_set(error, "name '%s': longer than %d characters", item->string, SPSA_NAME - 1);
    if (!cJSON_IsObject(item)) return error_set(error, "'%s': expected an object", p->name);
    for (int i = 0; i < 4; i++) {
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, Keys[i]);
        if (!cJSON_IsNumber(number)) return error_set(error, "'%s': %s: expected a number", p->name, Keys[i]);
        *numbers[i] = number->valuedouble;
    }
    for (const cJSON *key = item->child; key; key = key->next) {
        bool known = false;
        for (int i = 0; i < 4; i++) known |= strcmp(key->string, Keys[i]) == 0;
        if (!known) return error_set(error, "'%s': unknown key '%s'", p->name, key->string);
    }
    p->is_int = p->start == floor(p->start) && p->min == floor(p->min) && p->max == floor(p->max);
    return param_check(p, error);
}

static bool parse_json(const char *text, const char *name, SpsaList *list, Error *error) {
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, true);
    if (!cJSON_IsObject(json)) {
        int line = 1;
        for (const char *at = text; end && at < end; at++) line += *at == '\n';
        cJSON_Delete(json);
        return error_set(error, "%s:%d: not a JSON object of parameters", name, line);
    }
    bool ok = true;
    for (const cJSON *item = json->child; ok && item; item = item->next) {
        SpsaParam p;
        ok = parse_object(item, &p, error) && list_add(list, &p, error);
    }
    cJSON_Delete(json);
    return ok || error_prefix(error, "%s", name);
}

bool spsa_list_parse(const char *text, const char *name, SpsaList *list, Error *error) {
    *list = (SpsaList){0};
    const char *first = text + strspn(text, " \t\r\n");
    bool ok = *first == '{' ? parse_json(text, name, list, error) : parse_lines(text, name, list, error);
    if (ok && list->count == 0) ok = error_set(error, "%s: no parameters", name);
    if (!ok) spsa_list_free(list);
    return ok;
}

bool spsa_list_read(const char *path, SpsaList *list, Error *error) {
    *list = (SpsaList){0};
    char *text = file_read(path, NULL, error);
    bool ok = text && spsa_list_parse(text, path, list, error);
    free(text);
    return ok;
}

static bool chosen_by(const SpsaParam *p, const char *word) {
    int id = params_find(p->name);
    return text_equal(p->name, word) || (id >= 0 && text_equal(ParamTable[id].group, word));
}

bool spsa_list_select(SpsaList *list, const char *words, Error *error) {
    char copy[4096], *fields[SPSA_MAX_PARAMS];
    if (!text_copy(copy, sizeof copy, words))
        return error_set(error, "selection longer than %zu", sizeof copy - 1);
    int count = split(copy, fields, SPSA_MAX_PARAMS), kept = 0;
    if (count > SPSA_MAX_PARAMS) return error_set(error, "selection of more than %d words", SPSA_MAX_PARAMS);
    for (int w = 0; w < count; w++) {
        bool any = false;
        for (int i = 0; i < list->count; i++) any |= chosen_by(&list->items[i], fields[w]);
        if (!any) return error_set(error, "'%s': no parameter or group of that name in the list", fields[w]);
    }
    for (int i = 0; i < list->count; i++) {
        bool keep = false;
        for (int w = 0; w < count; w++) keep |= chosen_by(&list->items[i], fields[w]);
        if (keep) list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return true;
}

static void write_value(FILE *out, const SpsaParam *p, double value) {
    if (p->is_int) fprintf(out, "%.0f", floor(value + .5));
    else fprintf(out, "%.6g", value);
}

static void write_json(const SpsaList *list, const double *values, FILE *out) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < list->count; i++) {
        const SpsaParam *p = &list->items[i];
        double value = values ? values[i] : p->start;
        cJSON *item = cJSON_AddObjectToObject(json, p->name);
        cJSON_AddNumberToObject(item, "value", p->is_int ? floor(value + .5) : value);
        cJSON_AddNumberToObject(item, "min_value", p->min);
        cJSON_AddNumberToObject(item, "max_value", p->max);
        cJSON_AddNumberToObject(item, "step", p->c_end);
    }
    char *text = cJSON_Print(json);
    if (text) fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}

void spsa_list_write(const SpsaList *list, const double *values, SpsaFormat format, FILE *out) {
    if (format == SPSA_JSON) {
        write_json(list, values, out);
        return;
    }
    for (int i = 0; i < list->count; i++) {
        const SpsaParam *p = &list->items[i];
        double value = values ? values[i] : p->start;
        int id = params_find(p->name);
        if (format == SPSA_UCI) {
            fprintf(out, "setoption name %s value ", p->name);
            write_value(out, p, value);
        } else if (format == SPSA_PARAMS_DEF && id >= 0) {
            const ParamInfo *info = &ParamTable[id];
            fprintf(out, "PARAM(%s, ", info->name);
            write_value(out, p, value);
            fprintf(out, ", %d, %d, %g, %g, %s, \"%s\")", info->min, info->max, info->c_end, info->r_end,
                    info->group, info->text);
        } else {
            if (format == SPSA_PARAMS_DEF) fputs("// not in params.def: ", out);
            fprintf(out, "%s, %s, ", p->name, p->is_int ? "int" : "float");
            write_value(out, p, value);
            fprintf(out, ", %.10g, %.10g, %.10g, %.10g", p->min, p->max, p->c_end, p->r_end);
        }
        fputc('\n', out);
    }
}
