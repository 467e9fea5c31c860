// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the ablation and the parameters that each of its cells compares.
#include <stdlib.h>
#include <string.h>

#include "tuner/ablate.h"

// What bare alpha-beta keeps; without any order of captures quiescence would not end.
static const char Skeleton[] = "IterativeDeepening Quiescence DrawRules MoveOrdering";

// Groups of params.def that are no techniques of the alpha-beta search.
static const char *const OtherGroups[] = {"time", "mcts", "eval"};

static const char *const Aside[] = {
#define CLAIM(key, kind, title, switches, needs, claimed)
#define GROUP(key, title, switches, needs)
#define NEEDS(name, needs)
#define REMARK(key, text)
#define ASIDE(name) #name,
#include "tuner/claims.def"
#undef NEEDS
#undef ASIDE
};

static const char *const Needs[][2] = {
#define ASIDE(name)
#define NEEDS(name, needs) {#name, needs},
#include "tuner/claims.def"
#undef CLAIM
#undef GROUP
#undef NEEDS
};

static const AblateRow Claims[] = {
#define NEEDS(name, needs)
#define CLAIM(key, kind, title, switches, needs, claimed) {#key, title, switches, needs, claimed, kind, -1},
#define GROUP(key, title, switches, needs)
#include "tuner/claims.def"
#undef CLAIM
#undef GROUP
};

static const AblateRow Groups[] = {
#define CLAIM(key, kind, title, switches, needs, claimed)
#define GROUP(key, title, switches, needs) {#key, title, switches, needs, NULL, ROW_TECHNIQUE, -1},
#include "tuner/claims.def"
#undef CLAIM
#undef GROUP
#undef NEEDS
#undef ASIDE
#undef REMARK
};

enum {
    CLAIMS = sizeof Claims / sizeof *Claims,
    GROUPS = sizeof Groups / sizeof *Groups,
    ASIDES = sizeof Aside / sizeof *Aside,
    NEEDED = sizeof Needs / sizeof *Needs,
};

const char *ablate_column_name(AblateColumn column) {
    static const char *const Names[] = {"off", "on", "sum"};
    return Names[column];
}

static bool is_technique(int id) {
    const ParamInfo *info = &ParamTable[id];
    if (info->kind != KIND_SWITCH) return false;
    for (size_t i = 0; i < sizeof OtherGroups / sizeof *OtherGroups; i++)
        if (strcmp(info->group, OtherGroups[i]) == 0) return false;
    for (int i = 0; i < ASIDES; i++)
        if (strcmp(info->name, Aside[i]) == 0) return false;
    return true;
}

// Whether a row of the claims is about this switch alone.
static bool claimed_alone(const char *name) {
    for (int i = 0; i < CLAIMS; i++) {
        char first[ABLATE_NAME];
        const char *cursor = Claims[i].switches;
        if (text_word(&cursor, first, sizeof first) && strcmp(first, name) == 0 &&
            (*cursor == '\0' || strchr(cursor, '=')))
            return true;
    }
    return false;
}

static void add_row(AblateRows *rows, AblateRow row) {
    char first[ABLATE_NAME];
    const char *cursor = row.switches;
    if (text_word(&cursor, first, sizeof first)) row.counter = params_find(first);
    if (rows->count < ABLATE_MAX_ROWS) rows->items[rows->count++] = row;
}

void ablate_rows(AblateRows *rows) {
    *rows = (AblateRows){0};
    for (int i = 0; i < CLAIMS; i++) add_row(rows, Claims[i]);
    rows->claims = rows->count;
    for (int i = 0; i < GROUPS; i++) add_row(rows, Groups[i]);
    for (int id = 0; id < PARAM_COUNT; id++) {
        const char *name = ParamTable[id].name, *needs = "";
        if (!is_technique(id) || claimed_alone(name)) continue;
        for (int i = 0; i < NEEDED; i++)
            if (strcmp(Needs[i][0], name) == 0) needs = Needs[i][1];
        add_row(rows, (AblateRow){name, name, name, needs, NULL, ROW_TECHNIQUE, -1});
    }
}

bool ablate_choose(const AblateRows *rows, const char *only, bool chosen[ABLATE_MAX_ROWS], Error *error) {
    char name[ABLATE_NAME];
    for (int i = 0; i < rows->count; i++) chosen[i] = !only[0];
    while (*only) {
        size_t length = strcspn(only, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, only);
        only += length + (only[length] == ',');
        bool known = false;
        for (int i = 0; i < rows->count; i++) {
            const AblateRow *row = &rows->items[i];
            bool fits = text_equal(name, row->key) || (row->counter >= 0 && !strchr(row->switches, ' ') &&
                                                       text_equal(name, ParamTable[row->counter].name));
            fits |= text_equal(name, "claims") && row->claim;
            fits |= text_equal(name, "groups") && i >= CLAIMS && i < CLAIMS + GROUPS;
            chosen[i] |= fits;
            known |= fits;
        }
        if (!known)
            return error_set(error,
                             "'%s' is no technique: a key of the claims, claims, groups or a switch of "
                             "`hone params` was expected",
                             name);
    }
    return true;
}

// --- parameters

// Switches a list on or off. A number without a value is on as shipped (at least at its minimum and one) and
// off at its minimum; one with a value is off as shipped.
static void apply(Params *params, const char *list, bool on) {
    char word[ABLATE_NAME];
    while (text_word(&list, word, sizeof word)) {
        char *equals = strchr(word, '=');
        if (equals) *equals = '\0';
        int id = params_find(word);
        if (id < 0) continue;
        const ParamInfo *info = &ParamTable[id];
        int value = on ? int_max(info->value, info->min + 1) : info->min;
        if (equals) value = on ? atoi(equals + 1) : info->value;
        else if (info->kind == KIND_SWITCH) value = on;
        params_put(params, id, value);
    }
}

// Whether everything in a list is switched on.
static bool has_all(const Params *params, const char *list) {
    Params all = *params;
    apply(&all, list, true);
    return memcmp(&all, params, sizeof all) == 0;
}

Params ablate_bare(void) {
    Params params = params_default();
    for (int id = 0; id < PARAM_COUNT; id++)
        if (is_technique(id)) params_put(&params, id, 0);
    for (int i = 0; i < CLAIMS; i++) apply(&params, Claims[i].switches, false);
    apply(&params, Skeleton, true);
    return params;
}

bool ablate_sides(const AblateRows *rows, int row, AblateColumn column, Params *with, Params *without,
                  const char **missing) {
    const AblateRow *r = &rows->items[row];
    *with = *without = params_default();
    if (missing) *missing = "";
    if (r->kind == ROW_ALL) {
        // The other figure of this row is what is shipped, at the greater depth.
        if (column == COLUMN_SUM) *without = ablate_bare();
        return column != COLUMN_ON;
    }
    if (r->kind != ROW_TECHNIQUE && r->kind != ROW_NO_GAMES) return false;
    if (column == COLUMN_SUM && !r->claim) return false;
    if (column != COLUMN_OFF) *with = ablate_bare();
    if (column == COLUMN_ON) apply(with, r->needs, true);
    for (int i = 0; column == COLUMN_SUM && i < row; i++) apply(with, rows->items[i].switches, true);
    *without = *with;
    apply(with, r->switches, true);
    apply(without, r->switches, false);
    if (missing && column == COLUMN_SUM && !has_all(with, r->needs)) *missing = r->needs;
    return true;
}

void ablate_digest(const Params *params, char text[ABLATE_DIGEST]) {
    uint64_t digest = DIGEST_START;
    for (int id = 0; id < PARAM_COUNT; id++) {
        int32_t value = params_get(params, id);
        digest = digest_of(digest, &value, sizeof value);
    }
    snprintf(text, ABLATE_DIGEST, "%016llx", (unsigned long long)digest);
}

// The differences from a set of parameters, behind its name; returns how many.
static int differences(const Params *params, const Params *from, const char *name, char *text, size_t size) {
    int count = 0;
    size_t used = (size_t)snprintf(text, size, "%s", name);
    for (int id = 0; id < PARAM_COUNT; id++) {
        int value = params_get(params, id);
        if (value == params_get(from, id)) continue;
        count++;
        if (used >= size) continue;
        const ParamInfo *info = &ParamTable[id];
        used += info->kind == KIND_SWITCH
                    ? (size_t)snprintf(text + used, size - used, " %c%s", value ? '+' : '-', info->name)
                    : (size_t)snprintf(text + used, size - used, " %s=%d", info->name, value);
    }
    return count;
}

void ablate_describe(const Params *params, char *text, size_t size) {
    Params shipped = params_default(), bare = ablate_bare();
    char other[1024];
    int from_shipped = differences(params, &shipped, "shipped", text, size);
    if (differences(params, &bare, "bare", other, sizeof other) < from_shipped) text_copy(text, size, other);
}
