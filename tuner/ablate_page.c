// SPDX-License-Identifier: GPL-3.0-or-later
// The page and the JSON of an ablation, made from the cells of its journal and from the code.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/ablate.h"

// A sentence on a row, where there is something to explain.
typedef struct Remark {
    const char *key, *text;
} Remark;

static const Remark Remarks[] = {
#define CLAIM(key, kind, title, switches, needs, claimed)
#define GROUP(key, title, switches, needs)
#define NEEDS(name, needs)
#define ASIDE(name)
#define REMARK(key, text) {#key, text},
#include "tuner/claims.def"
#undef CLAIM
#undef GROUP
#undef NEEDS
#undef ASIDE
#undef REMARK
};

// How the techniques are coordinated.
typedef struct Technique {
    int id;
    const char *step, *prefix, *condition, *protects;
} Technique;

static const Technique Techniques[] = {
#define TECHNIQUE(name, step, prefix, condition, protects) {ID_##name, step, prefix, condition, protects},
#include "engine/techniques.def"
#undef TECHNIQUE
};

enum {
    REMARKS = sizeof Remarks / sizeof *Remarks,
    TECHNIQUES = sizeof Techniques / sizeof *Techniques,
};

// A page that is being written.
typedef struct Page {
    FILE *out;
    const Ablate *ablate;
    bool times;
} Page;

// What is known of one row in one column; cells are NULL where nothing was measured.
typedef struct Figures {
    const cJSON *with, *without, *match, *timed;
    const char *missing; // what it would need to act here
} Figures;

// --- figures

static double of_plan(const Page *page, const char *name) { return ablate_number(page->ablate->plan, name); }

static const char *text_of(const cJSON *json, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}

// A match under any clock: its key begins with both digests and the word tc.
static const cJSON *find_timed(const Ablate *a, const Params *with, const Params *without) {
    char prefix[ABLATE_KEY];
    const cJSON *cell;
    ablate_match_key(with, without, "tc ", prefix);
    cJSON_ArrayForEach(cell, a->cells) {
        const char *key = text_of(cell, "key");
        if (strcmp(text_of(cell, "what"), "match") == 0 && strncmp(key, prefix, strlen(prefix)) == 0)
            return cell;
    }
    return NULL;
}

static bool figures_of(const Page *page, int row, AblateColumn column, Figures *f) {
    const Ablate *a = page->ablate;
    Params with, without;
    char key[ABLATE_KEY], control[48];
    int depth = (int)of_plan(page, column == COLUMN_OFF ? "depth" : "bare_depth");
    *f = (Figures){0};
    if (!ablate_sides(&a->rows, row, column, &with, &without, &f->missing)) return false;
    ablate_bench_key(&with, depth, key);
    f->with = ablate_cell(a, "bench", key);
    ablate_bench_key(&without, depth, key);
    f->without = ablate_cell(a, "bench", key);
    snprintf(control, sizeof control, "nodes %.30s", text_of(a->plan, "nodes"));
    ablate_match_key(&with, &without, control, key);
    f->match = ablate_cell(a, "match", key);
    if (page->times) f->timed = find_timed(a, &with, &without);
    return (f->with && f->without) || f->match || f->timed;
}

static Stats stats_of(const cJSON *match) {
    Stats stats = {0};
    const cJSON *penta = cJSON_GetObjectItemCaseSensitive(match, "penta"),
                *wdl = cJSON_GetObjectItemCaseSensitive(match, "wdl");
    for (int i = 0; i < PENTA_CLASSES && i < cJSON_GetArraySize(penta); i++)
        stats.penta[i] = (uint64_t)cJSON_GetArrayItem(penta, i)->valuedouble;
    for (int i = 0; i < WDL_CLASSES && i < cJSON_GetArraySize(wdl); i++)
        stats.wdl[i] = (uint64_t)cJSON_GetArrayItem(wdl, i)->valuedouble;
    return stats;
}

static Estimate elo_of(const cJSON *match) {
    Stats stats = stats_of(match);
    Sample sample = sample_of(&stats);
    return sample_elo(&sample);
}

static double counter_of(const Page *page, int row, const Figures *f) {
    int id = page->ablate->rows.items[row].counter;
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(f->with, "count");
    return id >= 0 ? ablate_number(count, ParamTable[id].name) : 0;
}

static double percent_of(const cJSON *cell, const char *part, const char *whole) {
    double all = ablate_number(cell, whole);
    return all > 0 ? 100 * ablate_number(cell, part) / all : 0;
}

// --- words

// A count in three digits or so.
static void print_count(FILE *out, double value) {
    if (value >= 1e9) fprintf(out, "%.2f G", value / 1e9);
    else if (value >= 1e7) fprintf(out, "%.1f M", value / 1e6);
    else if (value >= 1e6) fprintf(out, "%.2f M", value / 1e6);
    else if (value >= 1e4) fprintf(out, "%.0f k", value / 1e3);
    else fprintf(out, "%.0f", value);
}

static void print_elo(FILE *out, const cJSON *match) {
    Estimate elo = elo_of(match);
    if (isfinite(elo.low) && isfinite(elo.high))
        fprintf(out, "%+.1f ± %.1f", elo.value, estimate_margin(&elo));
    else if (isfinite(elo.low)) fprintf(out, "above %+.0f", elo.low);
    else if (isfinite(elo.high)) fprintf(out, "below %+.0f", elo.high);
    else fprintf(out, "all or nothing");
}

// What having the technique changes in nodes, in percent; a number of times where it is far.
static void print_change(FILE *out, const Figures *f, const char *what) {
    double with = ablate_number(f->with, "nodes"), without = ablate_number(f->without, "nodes");
    double ratio = without > 0 ? with / without : 1;
    bool capped = ablate_number(f->with, "capped") > 0 || ablate_number(f->without, "capped") > 0;
    if (capped) fprintf(out, "(cut short) ");
    if (ratio > 0 && ratio < .5) fprintf(out, "%.1fx fewer %s", 1 / ratio, what);
    else if (ratio > 2) fprintf(out, "%.1fx more %s", ratio, what);
    else fprintf(out, "%+.1f %% %s", 100 * (ratio - 1), what);
}

// One column of a technique in words.
static void print_measured(const Page *page, const char *name, int row, const Figures *f) {
    FILE *out = page->out;
    fprintf(out, "**%s:** ", name);
    if (f->missing[0]) { fprintf(out, "cannot act before %s; ", f->missing); }
    if (f->with && f->without) {
        print_change(out, f, "nodes");
        if (page->times)
            fprintf(out, ", %.2fx as fast",
                    ablate_number(f->without, "us") / fmax(ablate_number(f->with, "us"), 1));
        if (page->ablate->rows.items[row].counter >= 0 && !f->missing[0]) {
            fprintf(out, ", acted ");
            print_count(out, counter_of(page, row, f));
            fprintf(out, " times");
        }
    }
    if (f->match) {
        fprintf(out, "%s", f->with && f->without ? ", " : "");
        print_elo(out, f->match);
        fprintf(out, " Elo");
    }
    if (f->timed) {
        fprintf(out, ", ");
        print_elo(out, f->timed);
        fprintf(out, " Elo at %s", text_of(f->timed, "control"));
    }
}

static void print_clock(const Page *page) {
    const cJSON *cell = ablate_cell(page->ablate, "clock", "clock");
    if (!cell || !page->times) return;
    double plain = ablate_number(cell, "plain_nps"), timed = ablate_number(cell, "clock_nps");
    fprintf(page->out, "%.2f %% (%.0f nodes/s without a clock, %.0f with one, depth %.0f)",
            100 * (plain / timed - 1), plain, timed, ablate_number(cell, "depth"));
}

static void print_all(const Page *page, int row) {
    Figures f;
    const cJSON *equal = ablate_cell(page->ablate, "equal", "equal");
    if (figures_of(page, row, COLUMN_SUM, &f)) {
        print_measured(page, "bare to shipped", row, &f);
        fprintf(page->out, "; ");
    }
    if (equal && page->times)
        fprintf(page->out, "at %.0f ms depth %.1f instead of %.1f: %+.1f plies; ", ablate_number(equal, "ms"),
                ablate_number(equal, "shipped_depth"), ablate_number(equal, "bare_depth"),
                ablate_number(equal, "shipped_depth") - ablate_number(equal, "bare_depth"));
    if (page->times && figures_of(page, row, COLUMN_OFF, &f) && f.with)
        fprintf(page->out, "%.2f M nodes/s", ablate_number(f.with, "nodes") / ablate_number(f.with, "us"));
}

static void print_minimal(const Page *page) {
    static const char *const Names[][2] = {
        {"unordered", "as generated"}, {"ordered", "ordered"}, {"table", "ordered, with the table"}};
    const cJSON *cell = ablate_cell(page->ablate, "minimal", "minimal");
    if (!cell) return;
    fprintf(page->out, "depth %.0f, b = %.1f, minimal tree ", ablate_number(cell, "depth"),
            ablate_number(cell, "b"));
    print_count(page->out, ablate_number(cell, "minimal"));
    fprintf(page->out, " leaves");
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(cell, Names[i][0]);
        fprintf(page->out, "; %s ", Names[i][1]);
        print_count(page->out, ablate_number(item, "leaves"));
        fprintf(page->out, ", %.2f times the minimum", ablate_number(item, "ratio"));
    }
}

static void print_phase(const Page *page) {
    static const char *const Names[] = {"opening", "middlegame", "endgame"};
    const cJSON *cell = ablate_cell(page->ablate, "phase", "phase");
    const cJSON *ms = cJSON_GetObjectItemCaseSensitive(cell, "ms"),
                *moves = cJSON_GetObjectItemCaseSensitive(cell, "moves");
    Params p = params_default();
    int weights[3] = {p.TimeOpening, p.TimeMiddlegame, p.TimeEndgame};
    double all = 0, all_moves = 0;
    if (!cell || !page->times) return;
    for (int i = 0; i < 3; i++) {
        all += cJSON_GetArrayItem(ms, i)->valuedouble;
        all_moves += cJSON_GetArrayItem(moves, i)->valuedouble;
    }
    for (int i = 0; i < 3; i++)
        fprintf(page->out, "%s%s %.0f %% of the time in %.0f %% of the moves (weight %d)", i ? "; " : "",
                Names[i], 100 * cJSON_GetArrayItem(ms, i)->valuedouble / fmax(all, 1),
                100 * cJSON_GetArrayItem(moves, i)->valuedouble / fmax(all_moves, 1), weights[i]);
    fprintf(page->out, "; %.0f games at %s", ablate_number(cell, "games"), text_of(cell, "label"));
}

// --- tables

static void print_claims(const Page *page) {
    static const char *const Names[] = {"shipped", "bare", "cumulative"};
    const AblateRows *rows = &page->ablate->rows;
    fprintf(page->out, "## Claimed and measured\n\n| technique | claimed | measured |\n|---|---|---|\n");
    for (int i = 0; i < rows->claims; i++) {
        const AblateRow *row = &rows->items[i];
        fprintf(page->out, "| %s | %s | ", row->title, row->claim);
        if (row->kind == ROW_CLOCK) print_clock(page);
        else if (row->kind == ROW_ALL) print_all(page, i);
        else if (row->kind == ROW_MINIMAL) print_minimal(page);
        else if (row->kind == ROW_PHASE) print_phase(page);
        bool any = false;
        for (int column = 0; row->kind <= ROW_NO_GAMES && column < ABLATE_COLUMNS; column++) {
            Figures f;
            if (!figures_of(page, i, (AblateColumn)column, &f)) continue;
            fprintf(page->out, "%s", any ? "<br>" : "");
            print_measured(page, Names[column], i, &f);
            any = true;
        }
        fprintf(page->out, " |\n");
    }
    fprintf(page->out, "\n");
    for (int i = 0; i < REMARKS; i++) {
        for (int r = 0; r < rows->count; r++)
            if (strcmp(rows->items[r].key, Remarks[i].key) == 0)
                fprintf(page->out, "- *%s*: %s\n", rows->items[r].title, Remarks[i].text);
    }
    if (REMARKS) fprintf(page->out, "\n");
}

static void print_pair(const Page *page, const Figures *f, const char *format, const char *part,
                       const char *whole) {
    for (int i = 0; i < 2; i++) {
        const cJSON *cell = i ? f->with : f->without;
        double value = whole ? percent_of(cell, part, whole) : ablate_number(cell, part);
        fprintf(page->out, "%s", i ? " → " : "");
        if (!cell || value == 0) fprintf(page->out, "–");
        else if (!format) print_count(page->out, value);
        else fprintf(page->out, format, value); // NOLINT(clang-diagnostic-format-nonliteral)
    }
    fprintf(page->out, " | ");
}

static void print_row(const Page *page, int row, const Figures *f) {
    FILE *out = page->out;
    const AblateRow *r = &page->ablate->rows.items[row];
    double nodes = ablate_number(f->with, "nodes");
    fprintf(out, "| %s | ", r->title);
    if (f->missing[0]) {
        fprintf(out, "needs %s", f->missing);
    } else if (r->counter >= 0 && f->with) {
        double count = counter_of(page, row, f);
        print_count(out, count);
        fprintf(out, nodes > 0 ? " (%.2f) | " : " | ", 1000 * count / fmax(nodes, 1));
    }
    if (f->missing[0] || r->counter < 0 || !f->with) fprintf(out, " | ");
    print_pair(page, f, NULL, "nodes", NULL);
    if (f->with && f->without) print_change(out, f, "");
    fprintf(out, " | ");
    if (page->times) {
        for (int i = 0; i < 2; i++) {
            const cJSON *cell = i ? f->with : f->without;
            fprintf(out, "%s%.2f s", i ? " → " : "", ablate_number(cell, "us") / 1e6);
        }
        fprintf(out, " | ");
    }
    print_pair(page, f, "%.1f %%", "cut_first", "cut_nodes");
    print_pair(page, f, "%.2f", "branching", NULL);
    if (f->match) print_elo(out, f->match);
    if (f->timed) {
        fprintf(out, "%sby the clock ", f->match ? "; " : "");
        print_elo(out, f->timed);
    }
    Stats stats = f->match ? stats_of(f->match) : (Stats){0};
    fprintf(out, " | %llu |\n", (unsigned long long)stats_games(&stats));
}

static void print_column(const Page *page, AblateColumn column) {
    static const char *const Titles[] = {"One off from what is shipped", "One on from bare alpha-beta",
                                         "Cumulative, in the order of the claims"};
    FILE *out = page->out;
    fprintf(out, "## %s\n\nDepth %.0f. Each pair is without → with.\n\n", Titles[column],
            of_plan(page, column == COLUMN_OFF ? "depth" : "bare_depth"));
    fprintf(out,
            "| technique | acted (per 1000 nodes) | nodes | change | %sfirst-move cut-offs | branching | Elo "
            "| games |\n",
            page->times ? "time | " : "");
    fprintf(out, "|---|---|---|---|%s---|---|---|---|\n", page->times ? "---|" : "");
    for (int i = 0; i < page->ablate->rows.count; i++) {
        Figures f;
        if (page->ablate->rows.items[i].kind == ROW_ALL && column == COLUMN_OFF) continue;
        if (figures_of(page, i, column, &f)) print_row(page, i, &f);
    }
    fprintf(out, "\n");
}

// The numbers of a technique with their shipped values.
static void print_parameters(FILE *out, const Technique *t) {
    const char *group = ParamTable[t->id].group;
    bool any = false;
    for (int id = 0; id < PARAM_COUNT && strcmp(t->prefix, "-") != 0; id++) {
        const ParamInfo *info = &ParamTable[id];
        if (info->kind == KIND_SWITCH || strcmp(info->group, group) != 0) continue;
        if (strncmp(info->name, t->prefix, strlen(t->prefix)) != 0) continue;
        fprintf(out, "%s%s %d", any ? ", " : "", info->name, info->value);
        any = true;
    }
}

static void print_coordination(FILE *out) {
    fprintf(out, "## Coordination\n\n"
                 "In the order in which a node asks (steps of `engine/search.c`; Q: quiescence), safest "
                 "first: what costs\n"
                 "nothing and proves most comes before what guesses. Whole-node pruning stays away from PV "
                 "nodes, check and\n"
                 "singular searches; no move is pruned before one holds that does not lose; a pruned node "
                 "returns no mate\n"
                 "that is not proven.\n\n"
                 "| step | technique | shipped | condition | parameters | leaves alone "
                 "|\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < TECHNIQUES; i++) {
        const Technique *t = &Techniques[i];
        const ParamInfo *info = &ParamTable[t->id];
        fprintf(out, "| %s | %s | %s | %s | ", t->step, info->name, info->value ? "on" : "off", t->condition);
        print_parameters(out, t);
        fprintf(out, " | %s |\n", t->protects);
    }
}

static void print_page(const Page *page) {
    const cJSON *plan = page->ablate->plan;
    char bare[1024];
    Params params = ablate_bare();
    ablate_describe(&params, bare, sizeof bare);
    fprintf(page->out,
            "# Ablation: what each technique is worth\n\n"
            "Generated from a journal by `hone-tune ablate --page`; do not edit. The engine: %.0f nodes at "
            "depth %.0f on the\n"
            "bench positions. Three comparisons: one technique off from what is *shipped* (depth %.0f), one "
            "on from *bare*\n"
            "alpha-beta (depth %.0f: iterative deepening, quiescence, captures by victim, the rules of "
            "draws, nothing else; "
            "both sides also get\n"
            "what the technique cannot act without), and *cumulative*, the claims one after the other (depth "
            "%.0f). All figures\n"
            "are what having the technique changes. Matches: with against without, %.0f pairs at %s nodes a "
            "move, from\n"
            "`%s`, seed %.0f; ± is 95 %%. Times are of the processor.\n\n",
            of_plan(page, "signature"), of_plan(page, "signature_depth"), of_plan(page, "depth"),
            of_plan(page, "bare_depth"), of_plan(page, "bare_depth"), of_plan(page, "pairs"),
            text_of(plan, "nodes"), text_of(plan, "openings"), of_plan(page, "seed"));
    print_claims(page);
    for (int column = 0; column < ABLATE_COLUMNS; column++) print_column(page, (AblateColumn)column);
    print_coordination(page->out);
}

bool ablate_page(const Ablate *ablate, const char *path, bool times, Error *error) {
    char fresh[1000];
    snprintf(fresh, sizeof fresh, "%.990s.new", path);
    Page page = {.out = fopen(fresh, "w"), .ablate = ablate, .times = times};
    if (!page.out) return error_set(error, "%s: %s", fresh, strerror(errno));
    print_page(&page);
    bool ok = !ferror(page.out);
    ok = fclose(page.out) == 0 && ok && rename(fresh, path) == 0;
    return ok || error_set(error, "%s: %s", path, strerror(errno));
}

// --- JSON

static cJSON *side_json(const cJSON *cell, bool times) {
    cJSON *json = cJSON_Duplicate(cell, true);
    for (int i = 0; i < 4; i++) {
        static const char *const Own[] = {"what", "key", "crc", "us"};
        if (i < 3 || !times) cJSON_DeleteItemFromObjectCaseSensitive(json, Own[i]);
    }
    return json;
}

static cJSON *match_json(const cJSON *cell) {
    cJSON *json = side_json(cell, true);
    Estimate elo = elo_of(cell);
    cJSON_DeleteItemFromObjectCaseSensitive(json, "seconds");
    cJSON_AddNumberToObject(json, "elo", elo.value); // null where it is not finite
    cJSON_AddNumberToObject(json, "low", elo.low);
    cJSON_AddNumberToObject(json, "high", elo.high);
    return json;
}

bool ablate_json(const Ablate *ablate, FILE *out, bool times) {
    Page page = {.out = out, .ablate = ablate, .times = times};
    static const char *const Others[] = {"minimal", "clock", "equal", "phase"};
    cJSON *json = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(json, "rows");
    cJSON_AddItemToObject(json, "plan", cJSON_Duplicate(ablate->plan, true));
    for (int i = 0; i < ablate->rows.count; i++) {
        const AblateRow *row = &ablate->rows.items[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "key", row->key);
        cJSON_AddStringToObject(item, "title", row->title);
        cJSON_AddStringToObject(item, "switches", row->switches);
        if (row->claim) cJSON_AddStringToObject(item, "claim", row->claim);
        for (int column = 0; column < ABLATE_COLUMNS; column++) {
            Figures f;
            if (!figures_of(&page, i, (AblateColumn)column, &f)) continue;
            cJSON *cell = cJSON_AddObjectToObject(item, ablate_column_name((AblateColumn)column));
            if (row->counter >= 0) cJSON_AddNumberToObject(cell, "acted", counter_of(&page, i, &f));
            if (f.missing[0]) cJSON_AddStringToObject(cell, "needs", f.missing);
            if (f.with) cJSON_AddItemToObject(cell, "with", side_json(f.with, times));
            if (f.without) cJSON_AddItemToObject(cell, "without", side_json(f.without, times));
            if (f.match) cJSON_AddItemToObject(cell, "match", match_json(f.match));
            if (f.timed) cJSON_AddItemToObject(cell, "timed", match_json(f.timed));
        }
        cJSON_AddItemToArray(rows, item);
    }
    for (int i = 0; i < (times ? 4 : 1); i++) {
        const cJSON *cell = ablate_cell(ablate, Others[i], Others[i]);
        if (cell) cJSON_AddItemToObject(json, Others[i], side_json(cell, true));
    }
    char *text = cJSON_Print(json);
    bool ok = text && fprintf(out, "%s\n", text) > 0;
    cJSON_free(text);
    cJSON_Delete(json);
    return ok;
}
