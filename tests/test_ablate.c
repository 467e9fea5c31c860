// SPDX-License-Identifier: GPL-3.0-or-later
// The ablation end to end in small: what is measured, that a torn journal leads to the same page, that every
// claim has its row; and that the table of techniques says what the search does.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bitboard.h"
#include "tuner/ablate.h"
#include "unity.h"

static char Folder[64];

void setUp(void) {
    strcpy(Folder, "/tmp/hone_ablate_XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(Folder));
}

void tearDown(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", Folder);
    TEST_ASSERT_EQUAL_INT(0, system(command));
}

// Two techniques at depth 4, four pairs at 200 nodes.
static void small_plan(AblatePlan *plan, const char *name) {
    ablate_plan_default(plan);
    strcpy(plan->play.nodes, "200");
    plan->play.concurrency = 2;
    plan->pairs = 4;
    plan->depth = 4;
    plan->bare_depth = 2;
    plan->phase_pairs = 1;
    strcpy(plan->phase_tc, "0.2+0.001");
    plan->equal_ms = 1;
    plan->quiet = true;
    strcpy(plan->only, "nullmove,LateMoveReductions");
    snprintf(plan->out, sizeof plan->out, "%s/%s", Folder, name);
}

static void run(const AblatePlan *plan) {
    Error error = {""};
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, ablate_run(plan, &error), error.text);
}

// The page without times, or with them.
static char *page_of(const AblatePlan *plan, bool times) {
    Ablate ablate;
    Error error = {""};
    char path[900];
    TEST_ASSERT_TRUE_MESSAGE(ablate_open(&ablate, plan->out, &error), error.text);
    snprintf(path, sizeof path, "%s/page.md", Folder);
    TEST_ASSERT_TRUE_MESSAGE(ablate_page(&ablate, path, times, &error), error.text);
    ablate_close(&ablate);
    char *text = file_read(path, NULL, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, error.text);
    return text;
}

static void cut_file(const char *path, uint64_t random) {
    size_t size;
    Error error;
    char *text = file_read(path, &size, &error);
    TEST_ASSERT_NOT_NULL(text);
    size_t header = strcspn(text, "\n") + 1;
    free(text);
    if (size <= header) return; // cut to its header before, and not needed since
    TEST_ASSERT_EQUAL_INT(0, truncate(path, (off_t)(header + random_below(random, size - header))));
}

static void a_torn_journal_leads_to_the_same_page(void) {
    static AblatePlan plan;
    char path[900], match[900];
    small_plan(&plan, "a");
    run(&plan);
    char *first = page_of(&plan, false);
    snprintf(path, sizeof path, "%s/ablate.journal", plan.out);
    snprintf(match, sizeof match, "%s/matches/nullmove-off.journal", plan.out);
    for (uint64_t i = 0; i < 4; i++) {
        cut_file(path, random_at(7, i, 0));
        cut_file(match, random_at(7, i, 1));
        run(&plan);
        char *again = page_of(&plan, false);
        TEST_ASSERT_EQUAL_STRING(first, again);
        free(again);
    }
    free(first);
}

static void what_is_there_is_not_measured_again(void) {
    static AblatePlan plan;
    small_plan(&plan, "a");
    run(&plan);
    char *first = page_of(&plan, true); // with times, which would differ
    run(&plan);
    char *again = page_of(&plan, true);
    TEST_ASSERT_EQUAL_STRING(first, again);
    free(first);
    free(again);
}

static void techniques_act_and_save_nodes(void) {
    static AblatePlan plan;
    Ablate ablate;
    Error error = {""};
    small_plan(&plan, "a");
    for (int i = 0; i < ABLATE_COLUMNS; i++) plan.games[i] = false;
    plan.columns[COLUMN_ON] = plan.columns[COLUMN_SUM] = false;
    strcpy(plan.only, "claims");
    plan.phase_pairs = 0;
    plan.depth = 7;
    plan.cap = 10000;
    run(&plan);
    TEST_ASSERT_TRUE_MESSAGE(ablate_open(&ablate, plan.out, &error), error.text);
    for (int i = 0; i < ablate.rows.claims; i++) {
        const AblateRow *row = &ablate.rows.items[i];
        Params with, without;
        char key[ABLATE_KEY];
        if (row->kind > ROW_NO_GAMES) continue;
        TEST_ASSERT_TRUE(ablate_sides(&ablate.rows, i, COLUMN_OFF, &with, &without, NULL));
        ablate_bench_key(&with, 7, key);
        const cJSON *on = ablate_cell(&ablate, "bench", key);
        ablate_bench_key(&without, 7, key);
        const cJSON *off = ablate_cell(&ablate, "bench", key);
        TEST_ASSERT_NOT_NULL(on);
        TEST_ASSERT_NOT_NULL(off);
        const char *counter = ParamTable[row->counter].name;
        const cJSON *counts = cJSON_GetObjectItemCaseSensitive(on, "count");
        TEST_ASSERT_TRUE_MESSAGE(ablate_number(counts, counter) > 0, counter);
        if (row->kind == ROW_NO_GAMES) continue; // one depth is one deepening
        counts = cJSON_GetObjectItemCaseSensitive(off, "count");
        TEST_ASSERT_TRUE_MESSAGE(ablate_number(counts, counter) == 0, counter);
        TEST_ASSERT_TRUE_MESSAGE(ablate_number(on, "nodes") != ablate_number(off, "nodes"), counter);
    }
    ablate_close(&ablate);
}

static void the_page_has_every_claim(void) {
    // As the issue has them.
    static const char *const Rows[][2] = {
        {"LMR", "15-25 % fewer nodes, 10-20 % less time"},
        {"futility", "10-20 % fewer nodes, 8-15 % less time"},
        {"extended futility", "a further 8-15 % fewer nodes"},
        {"delta pruning", "5-15 % fewer nodes"},
        {"razoring", "8-18 % fewer nodes"},
        {"multi-cut", "5-12 % fewer nodes"},
        {"probabilistic pruning", "5-10 % fewer nodes"},
        {"null move", "30-50 % fewer nodes; 1.2-1.4x"},
        {"PVS", "15-25 % fewer nodes"},
        {"aspiration windows", "10-20 % fewer nodes, 1.2-1.3x"},
        {"killer moves", "5-10 % fewer nodes; 1.15-1.25x"},
        {"transposition table", "2-3x"},
        {"move ordering", "1.3-1.5x"},
        {"iterative deepening with TT", "1.2-1.5x against fixed depth"},
        {"time management", "under 5 % overhead"},
        {"all together", "40 % fewer nodes and 50 % faster; 5-10x; +2-3 plies at equal time"},
        {"move ordering, pruning off", "nodes beside Knuth and Moore's minimal tree"},
        {"time by phase", "share of the clock spent in opening, middlegame, endgame"},
    };
    static AblatePlan plan;
    small_plan(&plan, "a");
    strcpy(plan.only, "nullmove,time,all,minimal,phase");
    run(&plan);
    char *page = page_of(&plan, true), *at = page, start[200];
    for (size_t i = 0; i < sizeof Rows / sizeof *Rows; i++) {
        snprintf(start, sizeof start, "| %s | %s", Rows[i][0], Rows[i][1]);
        at = strstr(at, start); // and in this order
        TEST_ASSERT_NOT_NULL_MESSAGE(at, start);
    }
    TEST_ASSERT_NOT_NULL(strstr(page, "times the minimum"));
    TEST_ASSERT_NOT_NULL(strstr(page, "% of the time in"));
    TEST_ASSERT_NOT_NULL(strstr(page, "plies"));
    TEST_ASSERT_NOT_NULL(strstr(page, "nodes/s without a clock"));
    TEST_ASSERT_NOT_NULL(strstr(page, " Elo"));
    TEST_ASSERT_NULL(strstr(page, "nan"));
    TEST_ASSERT_NULL(strstr(page, "inf"));
    free(page);
}

static void what_cannot_be_is_refused(void) {
    static AblatePlan plan;
    Error error = {""};
    small_plan(&plan, "a");
    strcpy(plan.only, "nullmove,castling");
    TEST_ASSERT_EQUAL_INT(2, ablate_run(&plan, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "'castling' is no technique"), error.text);
    TEST_ASSERT_TRUE(access(plan.out, F_OK) != 0); // nothing was begun
    strcpy(plan.only, "nullmove");
    for (int i = 0; i < ABLATE_COLUMNS; i++) plan.games[i] = false;
    run(&plan);
    plan.depth = 5;
    TEST_ASSERT_EQUAL_INT(2, ablate_run(&plan, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "depth is 5, the journal has 4"), error.text);
}

// --- parameters

static void sides_differ_in_the_technique_alone(void) {
    AblateRows rows;
    Params shipped = params_default(), bare = ablate_bare();
    ablate_rows(&rows);
    TEST_ASSERT_EQUAL_INT(18, rows.claims);
    TEST_ASSERT_EQUAL_INT(0, bare.UseTT | bare.NullMove | bare.MainHistory | bare.KillerSlots | bare.UsePVS);
    TEST_ASSERT_EQUAL_INT(1, bare.Quiescence & bare.DrawRules & bare.IterativeDeepening);
    for (int i = 0; i < rows.count; i++) {
        const AblateRow *row = &rows.items[i];
        if (row->kind > ROW_NO_GAMES) continue;
        TEST_ASSERT_TRUE_MESSAGE(row->counter >= 0, row->key);
        for (int column = 0; column < ABLATE_COLUMNS; column++) {
            Params with, without;
            const char *missing;
            if (!ablate_sides(&rows, i, (AblateColumn)column, &with, &without, &missing)) continue;
            bool waits = strcmp(row->key, "multicut") == 0 || strcmp(row->key, "nullmove") == 0 ||
                         strcmp(row->key, "razoring") == 0 || strcmp(row->key, "probabilistic") == 0;
            TEST_ASSERT_EQUAL_INT_MESSAGE(column == COLUMN_SUM && waits, missing[0] != '\0', row->key);
            for (int id = 0; id < PARAM_COUNT; id++) {
                bool own = strstr(row->switches, ParamTable[id].name) != NULL;
                bool differs = params_get(&with, id) != params_get(&without, id);
                TEST_ASSERT_TRUE_MESSAGE(!differs || own, row->key);
                if (column == COLUMN_OFF && !own)
                    TEST_ASSERT_EQUAL_INT(params_get(&shipped, id), params_get(&with, id));
            }
            TEST_ASSERT_TRUE_MESSAGE(memcmp(&with, &without, sizeof with) != 0, row->key);
        }
    }
}

// --- the table of techniques and the code

typedef struct Technique {
    int id;
    const char *name, *step;
} Technique;

static const Technique Techniques[] = {
#define TECHNIQUE(name, step, prefix, condition, protects) {ID_##name, #name, step},
#include "engine/techniques.def"
};

enum { TECHNIQUES = sizeof Techniques / sizeof *Techniques };

static void every_switch_is_in_the_table_once(void) {
    for (int id = 0; id < PARAM_COUNT; id++) {
        const ParamInfo *info = &ParamTable[id];
        if (info->kind != KIND_SWITCH || strcmp(info->group, "mcts") == 0 || strcmp(info->group, "eval") == 0)
            continue;
        int found = 0;
        for (int i = 0; i < TECHNIQUES; i++) found += Techniques[i].id == id;
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, found, info->name);
    }
}

static char *source(const char *path) {
    Error error = {""};
    char *text = file_read(path, NULL, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, error.text);
    return text;
}

// The step that a place in a source belongs to: that of the last comment before it.
static int step_at(const char *text, const char *at) {
    const char *last = NULL;
    for (const char *next = text; (next = strstr(next, "// Step ")) && next < at; next++) last = next;
    return last ? atoi(last + strlen("// Step ")) : 0;
}

// Whether a word stands in a step of a source, and does not go on.
static bool stands_in_step(const char *text, const char *word, int step) {
    for (const char *at = text; (at = strstr(at, word)); at++)
        if (!isalnum((unsigned char)at[strlen(word)]) && step_at(text, at) == step) return true;
    return false;
}

static void the_table_names_the_steps_of_the_code(void) {
    char *tree = source("engine/search.c"), *leaves = source("engine/quiesce.c");
    for (int i = 0; i < TECHNIQUES; i++) {
        const Technique *t = &Techniques[i];
        const char *file = strcmp(t->step, "root") == 0   ? "engine/iterate.c"
                           : strcmp(t->step, "time") == 0 ? "engine/timeman.c"
                           : strcmp(t->step, "13") == 0   ? "engine/movepick.c"
                           : strcmp(t->step, "6") == 0    ? "engine/learn.c"
                                                          : NULL;
        char *other = file ? source(file) : NULL, used[80], counted[80];
        snprintf(used, sizeof used, ">%s", t->name); // p->Name
        snprintf(counted, sizeof counted, "ID_%s]", t->name);
        const bool quiet = t->step[0] == 'Q';
        const char *text = quiet ? leaves : tree;
        const int step = atoi(t->step + quiet);
        bool found = file ? strstr(other, t->name) != NULL
                          : stands_in_step(text, used, step) || stands_in_step(text, counted, step);
        free(other);
        TEST_ASSERT_TRUE_MESSAGE(found, t->name);
    }
    free(tree), free(leaves);
}

// Where a static function of search.c is defined, or NULL.
static const char *body_of(const char *text, const char *name, size_t length) {
    for (const char *at = text; (at = strstr(at, "\nstatic ")); at++) {
        const char *paren = strchr(at + 1, '('), *end = strchr(at + 1, '\n');
        if (!paren || paren > end || (size_t)(paren - at) <= length) continue;
        if (strncmp(paren - length, name, length) != 0 || !strchr(" *", paren[-(long)length - 1])) continue;
        const char *brace = strchr(paren, '{'), *semicolon = strchr(paren, ';');
        if (brace && (!semicolon || brace < semicolon)) return brace;
    }
    return NULL;
}

// The counters in the order in which a function comes to them, those of what it calls among them.
static int walk(const char *text, const char *body, int *ids, int count, int depth) {
    int nesting = 0;
    const char *at = body;
    do {
        nesting += (*at == '{') - (*at == '}');
        if (at[0] == '/' && at[1] == '/') at = strchr(at, '\n');
        if (!isalpha((unsigned char)*at)) {
            at++;
            continue;
        }
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
        for (int i = 0; i < TECHNIQUES; i++)
            if (length == strlen(Techniques[i].name) + 3 && strncmp(at, "ID_", 3) == 0 &&
                strncmp(at + 3, Techniques[i].name, length - 3) == 0)
                ids[count++] = i;
        bool again = length == 6 && strncmp(at, "search", 6) == 0;
        const char *inner = at[length] == '(' && !again && depth < 4 ? body_of(text, at, length) : NULL;
        if (inner) count = walk(text, inner, ids, count, depth + 1);
        at += length;
    } while (nesting > 0);
    return count;
}

static void the_table_has_the_order_of_asking(void) {
    char *text = source("engine/search.c");
    int ids[200], last = -1, seen = 0;
    const char *body = body_of(text, "search", 6);
    TEST_ASSERT_NOT_NULL(body);
    int count = walk(text, body, ids, 0, 0);
    for (int i = 0; i < count; i++) {
        const Technique *t = &Techniques[ids[i]];
        if (strcmp(t->step, "13") == 0) continue; // the ordering is asked elsewhere and counted here
        bool same_group =
            last >= 0 && strcmp(ParamTable[t->id].group, ParamTable[Techniques[last].id].group) == 0;
        TEST_ASSERT_TRUE_MESSAGE(ids[i] > last || same_group, t->name);
        last = ids[i] > last ? ids[i] : last;
        seen++;
    }
    TEST_ASSERT_TRUE(seen >= 23);
    free(text);
}

int main(void) {
    UNITY_BEGIN();
    bitboard_init();
    RUN_TEST(every_switch_is_in_the_table_once);
    RUN_TEST(the_table_names_the_steps_of_the_code);
    RUN_TEST(the_table_has_the_order_of_asking);
    RUN_TEST(sides_differ_in_the_technique_alone);
    RUN_TEST(what_cannot_be_is_refused);
    RUN_TEST(a_torn_journal_leads_to_the_same_page);
    RUN_TEST(what_is_there_is_not_measured_again);
    RUN_TEST(techniques_act_and_save_nodes);
    RUN_TEST(the_page_has_every_claim);
    return UNITY_END();
}
