// SPDX-License-Identifier: GPL-3.0-or-later
// tuner/spsa against worked examples of fishtest and OpenBench (tests/data/spsa.csv), the order of results,
// rounding and bounds; tuner/spsa_input: the three input formats, what they refuse, and what is written.
#include "tuner/spsa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/spsa_input.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

// ---- the vectors ----

enum { COLUMNS = 34 };
// clang-format off
enum { IMPL, ITERATION, ITER_BEFORE, PARAM_NAME, IS_INT, START, MIN, MAX, C_END, R_END, A, ALPHA, GAMMA,
       NUM_ITER, C0, A0, THETA_BEFORE, C_K, R_K, A_K, FLIP, THETA_PLUS, THETA_MINUS, ROUND_U, UCI_PLUS,
       UCI_MINUS, GAMES, WINS, DRAWS, LOSSES, RESULT, DELTA, THETA_AFTER, CLIPPED };
// clang-format on

static double number(char *fields[], int column) { return atof(fields[column]); }

static void close_to(double expected, double got) {
    TEST_ASSERT_DOUBLE_WITHIN(1e-9 * fmax(1, fabs(expected)), expected, got);
}

static void check_row(char *f[], bool openbench) {
    SpsaParam p = {.name = "P",
                   .is_int = number(f, IS_INT) != 0,
                   .start = number(f, START),
                   .min = number(f, MIN),
                   .max = number(f, MAX),
                   .c_end = number(f, C_END),
                   .r_end = number(f, R_END)};
    SpsaPlan plan = spsa_plan(&p, 1, 0, 1);
    plan.mode = openbench ? SPSA_OPENBENCH : SPSA_FISHTEST;
    plan.games = (int64_t)number(f, NUM_ITER) * 2 * (openbench ? plan.pairs : 1);
    double pairs = openbench ? (number(f, ITER_BEFORE) - 1) * plan.pairs : number(f, ITER_BEFORE);
    SpsaGain gain = spsa_gain(&plan, 0, pairs);
    close_to(number(f, C_K), gain.c);
    close_to(number(f, R_K), gain.r);
    close_to(number(f, A_K), gain.r * gain.c * gain.c);
    int flip = (int)number(f, FLIP);
    double u = number(f, ROUND_U);
    SpsaSides sides = spsa_sides(&plan, 0, number(f, THETA_BEFORE), gain.c, flip, u, u);
    close_to(number(f, THETA_PLUS), sides.wanted_plus);
    close_to(number(f, THETA_MINUS), sides.wanted_minus);
    close_to(number(f, UCI_PLUS), sides.plus);
    close_to(number(f, UCI_MINUS), sides.minus);
    close_to(number(f, THETA_AFTER),
             spsa_step(&plan, 0, number(f, THETA_BEFORE), gain, flip, number(f, RESULT)));
}

static void worked_examples_of_fishtest_and_openbench(void) {
    FILE *file = fopen("tests/data/spsa.csv", "r");
    TEST_ASSERT_NOT_NULL_MESSAGE(file, "tests/data/spsa.csv");
    char line[2048];
    int rows[2] = {0};
    while (fgets(line, sizeof line, file)) {
        char *fields[COLUMNS], *at = line;
        for (int i = 0; i < COLUMNS; i++) {
            fields[i] = strsep(&at, ",\n");
            TEST_ASSERT_NOT_NULL(fields[i]);
        }
        bool openbench = strcmp(fields[IMPL], "openbench") == 0;
        if (!openbench && strcmp(fields[IMPL], "fishtest") != 0) continue;
        rows[openbench]++;
        check_row(fields, openbench);
    }
    fclose(file);
    TEST_ASSERT_EQUAL_INT(10, rows[0]);
    TEST_ASSERT_EQUAL_INT(10, rows[1]);
}

static void a_whole_run_equals_the_formulas_step_by_step(void) {
    SpsaParam p[2] = {
        {.name = "A", .is_int = false, .start = 50, .min = 0, .max = 100, .c_end = 4, .r_end = .002},
        {.name = "B", .is_int = false, .start = 392, .min = 100, .max = 400, .c_end = 12.5, .r_end = .002}};
    SpsaPlan plan = spsa_plan(p, 2, 2000, 7);
    plan.mode = SPSA_FISHTEST;
    plan.lag = 1;
    SpsaState *state = spsa_create(&plan, NULL);
    TEST_ASSERT_NOT_NULL(state);
    double theta[2] = {50, 392}, plus[2], minus[2];
    for (int k = 1; k <= 250; k++) {
        uint64_t penta[5] = {0};
        penta[k * 7 % 5] += 3;
        penta[k % 5] += 1;
        double y = 2. * (double)penta[4] + (double)penta[3] - (double)penta[1] - 2. * (double)penta[0];
        spsa_perturb(state, k, plus, minus);
        for (int i = 0; i < 2; i++) {
            double it = (k - 1) * 4 + 1, c = p[i].c_end * pow(1000 / it, .101);
            double a = p[i].r_end * p[i].c_end * p[i].c_end * pow(1100 / (100 + it), .602);
            int flip = spsa_flip(&plan, k, i);
            close_to(fmin(fmax(theta[i] + c * flip, p[i].min), p[i].max), plus[i]);
            close_to(fmin(fmax(theta[i] - c * flip, p[i].min), p[i].max), minus[i]);
            theta[i] = fmin(fmax(theta[i] + a / c * flip * y, p[i].min), p[i].max);
        }
        spsa_apply(state, k, penta);
        for (int i = 0; i < 2; i++) close_to(theta[i], spsa_estimate(state, i).last);
    }
    TEST_ASSERT_EQUAL_INT(250, (int)spsa_applied(state));
    spsa_destroy(state);
}

// ---- order, rounding, bounds ----

static void fake_result(int64_t k, uint64_t penta[5]) {
    memset(penta, 0, 5 * sizeof *penta);
    for (uint64_t j = 0; j < 4; j++) penta[random_below(random_at(3, 4, (uint64_t)k * 4 + j), 5)]++;
}

// Perturbations asked for as early as the lag allows are the same as those asked for at the last moment.
static void late_results_do_not_change_a_run(void) {
    SpsaParam p[3] = {
        {.name = "A", .is_int = true, .start = 5, .min = 0, .max = 10, .c_end = 1, .r_end = .1},
        {.name = "B", .is_int = true, .start = 90, .min = 0, .max = 100, .c_end = 5, .r_end = .1},
        {.name = "C", .is_int = false, .start = 0, .min = -4, .max = 4, .c_end = .4, .r_end = .1}};
    for (int mode = SPSA_AUTO; mode <= SPSA_CONSTANT; mode++) {
        SpsaPlan plan = spsa_plan(p, 3, 4000, 11);
        plan.mode = (SpsaMode)mode;
        SpsaState *eager = spsa_create(&plan, NULL), *lazy = spsa_create(&plan, NULL);
        double seen[600][6], now[6];
        int64_t total = spsa_iterations(&plan), asked = 0;
        TEST_ASSERT_EQUAL_INT(500, (int)total);
        for (int64_t k = 1; k <= total; k++) {
            for (; spsa_ready(eager, asked + 1); asked++)
                spsa_perturb(eager, asked + 1, seen[asked + 1], seen[asked + 1] + 3);
            TEST_ASSERT_EQUAL_INT((int)(k + 7 < total ? k + 7 : total), (int)asked);
            spsa_perturb(lazy, k, now, now + 3);
            TEST_ASSERT_EQUAL_MEMORY(now, seen[k], sizeof now);
            uint64_t penta[5];
            fake_result(k, penta);
            spsa_apply(eager, k, penta);
            spsa_apply(lazy, k, penta);
        }
        for (int i = 0; i < 3; i++) {
            SpsaEstimate a = spsa_estimate(eager, i), b = spsa_estimate(lazy, i);
            TEST_ASSERT_TRUE(a.last == b.last && a.average == b.average && a.value == b.value);
        }
        spsa_destroy(eager);
        spsa_destroy(lazy);
    }
}

static void auto_plays_whole_numbers_within_bounds_and_full_differences(void) {
    SpsaParam p[2] = {{.name = "A", .is_int = true, .start = 0, .min = 0, .max = 6},
                      {.name = "B", .is_int = true, .start = 100, .min = 0, .max = 100}};
    SpsaPlan plan = spsa_plan(p, 2, 8000, 5);
    SpsaState *state = spsa_create(&plan, NULL);
    for (int64_t k = 1; k <= spsa_iterations(&plan); k++) {
        double plus[2], minus[2];
        spsa_perturb(state, k, plus, minus);
        for (int i = 0; i < 2; i++) {
            TEST_ASSERT_TRUE(plus[i] == floor(plus[i]) && minus[i] == floor(minus[i]));
            TEST_ASSERT_TRUE(plus[i] >= p[i].min && plus[i] <= p[i].max && minus[i] >= p[i].min &&
                             minus[i] <= p[i].max);
            TEST_ASSERT_TRUE_MESSAGE(plus[i] != minus[i],
                                     "one shared draw and c of at least 1 keep the sides apart");
        }
        uint64_t penta[5];
        fake_result(k, penta);
        spsa_apply(state, k, penta);
    }
    spsa_destroy(state);
}

// Where every step is ruinous an integer is moved by 1 to either side, by one draw for both: always 2 apart.
static void one_draw_rounds_both_sides(void) {
    SpsaParam p = {.name = "A", .is_int = true, .start = 10, .min = 0, .max = 20};
    SpsaPlan plan = spsa_plan(&p, 1, 8000, 5);
    SpsaState *state = spsa_create(&plan, NULL);
    int fractions = 0;
    for (int64_t k = 1; k <= spsa_iterations(&plan); k++) {
        double plus, minus;
        spsa_perturb(state, k, &plus, &minus);
        uint64_t ruin[5] = {4}, penta[5];
        fake_result(k, penta);
        if (k > 200) {
            TEST_ASSERT_TRUE(spsa_gain_now(state, 0).c == 1);
            TEST_ASSERT_TRUE(fabs(plus - minus) == 2);
            fractions += spsa_estimate(state, 0).last != floor(spsa_estimate(state, 0).last);
        }
        spsa_apply(state, k, k <= 150 ? ruin : penta);
    }
    TEST_ASSERT_TRUE(fractions > 700);
    spsa_destroy(state);
}

// A value at its bound is judged by games around a centre further in. If those show no slope, the optimum is
// at the centre, not at the bound: the curvature must carry the slope back and draw the value inward.
static void level_games_draw_a_value_away_from_its_bound(void) {
    SpsaParam p = {.name = "A", .start = 100, .min = 0, .max = 100};
    SpsaPlan plan = spsa_plan(&p, 1, 20000, 5);
    SpsaState *state = spsa_create(&plan, NULL);
    double before = 0;
    for (int64_t k = 1; k <= spsa_iterations(&plan); k++) {
        uint64_t lost[5] = {0, 1, 3}, level[5] = {0, 0, 4};
        spsa_apply(state, k, k <= 200 ? lost : level);
        if (k == 250) before = spsa_estimate(state, 0).last;
    }
    TEST_ASSERT_TRUE(spsa_estimate(state, 0).last < before - .5);
    spsa_destroy(state);
}

static void bad_plans_are_refused_by_name(void) {
    SpsaParam p = {.name = "Margin", .start = 5, .min = 0, .max = 4, .c_end = 1, .r_end = .002};
    SpsaPlan plan = spsa_plan(&p, 1, 1000, 1);
    Error error;
    TEST_ASSERT_NULL(spsa_create(&plan, &error));
    TEST_ASSERT_EQUAL_STRING("parameter Margin: value 5 is outside [0, 4]", error.text);
    p.start = 2;
    plan.lag = 0;
    TEST_ASSERT_NULL(spsa_create(&plan, &error));
    plan.lag = 8;
    plan.games = 7;
    TEST_ASSERT_NULL(spsa_create(&plan, &error));
}

// ---- input and output ----

static void the_three_input_formats_say_the_same(void) {
    static const char *const Texts[] = {
        "# futility\nFutBase, int, 100, 0, 300, 15, 0.002\n\n  LmrBase ,int, 77, -20, 200, 8.5, 0.002\r\n",
        "FutBase,100,0,300,15,0.002\nLmrBase,77,-20,200,8.5,0.002",
        "{\"FutBase\": {\"value\": 100, \"min_value\": 0, \"max_value\": 300, \"step\": 15},\n"
        " \"LmrBase\": {\"value\": 77, \"min_value\": -20, \"max_value\": 200, \"step\": 8.5}}",
    };
    for (int t = 0; t < 3; t++) {
        SpsaList list;
        Error error;
        TEST_ASSERT_TRUE_MESSAGE(spsa_list_parse(Texts[t], "in", &list, &error), error.text);
        TEST_ASSERT_EQUAL_INT(2, list.count);
        TEST_ASSERT_EQUAL_STRING("FutBase", list.items[0].name);
        TEST_ASSERT_EQUAL_STRING("LmrBase", list.items[1].name);
        const SpsaParam *p = &list.items[1];
        TEST_ASSERT_TRUE(p->is_int && p->start == 77 && p->min == -20 && p->max == 200 && p->c_end == 8.5);
        TEST_ASSERT_TRUE(p->r_end == .002);
        spsa_list_free(&list);
    }
}

static void refused(const char *text, const char *reason) {
    SpsaList list;
    Error error = {""};
    TEST_ASSERT_FALSE_MESSAGE(spsa_list_parse(text, "in", &list, &error), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
    TEST_ASSERT_EQUAL_INT(0, list.count);
}

static void bad_input_is_refused_with_its_place(void) {
    refused("", "in: no parameters");
    refused("A, int, 1, 0, 5, 1", "in:1: 'A': value");
    refused("A, int, 1, 0, 5, 1, .1, 9", "in:1: 8 fields");
    refused("A, 1, 2", "in:1: 3 fields");
    refused("\nA, real, 1, 0, 5, 1, .1", "in:2: 'A': type 'real'");
    refused("A, int, x, 0, 5, 1, .1", "in:1: 'A': value");
    refused("A, int, 1, 0, 5, 1, nan", "in:1: 'A': r_end");
    refused("A, int, 9, 0, 5, 1, .1", "outside [0, 5]");
    refused("A, int, 1, 5, 0, 1, .1", "not below");
    refused("A, int, 1, 0, 5, 0, .1", "c_end 0");
    refused("A, int, 1.5, 0, 5, 1, .1", "whole numbers");
    refused("A, int, 1, 0, 5, 1, .1\na, int, 1, 0, 5, 1, .1", "in:2: parameter 'a' is named twice");
    refused("{\"A\": {\"value\": 1, \"min_value\": 0, \"max_value\": 5}}", "in: 'A': step");
    refused("{\"A\": {\"value\": 1, \"min_value\": 0, \"max_value\": 5, \"step\": 1, \"x\": 1}}",
            "unknown key 'x'");
    refused("{\"A\":\n {\"value\": }}", "in:2: not a JSON");
    refused("{}", "no parameters");
}

static void select_and_write(void) {
    SpsaList list;
    Error error;
    const char *text = "RfpMargin, int, 75, 20, 200, 8, 0.002\nRazorMargin, int, 200, 50, 600, 25, 0.002\n"
                       "Other, float, 1.5, 0, 2, 0.1, 0.002\n";
    TEST_ASSERT_TRUE(spsa_list_parse(text, "in", &list, &error));
    TEST_ASSERT_FALSE(spsa_list_select(&list, "rfp,nonsense", &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "'nonsense'"));
    TEST_ASSERT_TRUE(spsa_list_select(&list, "rfp, other", &error));
    TEST_ASSERT_EQUAL_INT(2, list.count);
    double values[] = {80.6, 1.25};
    static const char *const Expected[] = {
        "PARAM(RfpMargin, 81, 20, 200, 8, 0.002, rfp, \"Margin a ply.\")\n"
        "// not in params.def: Other, float, 1.25, 0, 2, 0.1, 0.002\n",
        "setoption name RfpMargin value 81\nsetoption name Other value 1.25\n",
        "RfpMargin, int, 81, 20, 200, 8, 0.002\nOther, float, 1.25, 0, 2, 0.1, 0.002\n",
    };
    for (int format = SPSA_PARAMS_DEF; format <= SPSA_JSON; format++) {
        char *buffer = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&buffer, &size);
        spsa_list_write(&list, values, (SpsaFormat)format, out);
        fclose(out);
        if (format != SPSA_JSON) TEST_ASSERT_EQUAL_STRING(Expected[format], buffer);
        if (format >= SPSA_LINES) { // what is written can be read again
            SpsaList again;
            TEST_ASSERT_TRUE_MESSAGE(spsa_list_parse(buffer, "again", &again, &error), error.text);
            TEST_ASSERT_EQUAL_INT(2, again.count);
            TEST_ASSERT_TRUE(again.items[0].start == 81 && again.items[1].start == 1.25 &&
                             again.items[1].c_end == .1);
            spsa_list_free(&again);
        }
        free(buffer);
    }
    spsa_list_free(&list);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(worked_examples_of_fishtest_and_openbench);
    RUN_TEST(a_whole_run_equals_the_formulas_step_by_step);
    RUN_TEST(late_results_do_not_change_a_run);
    RUN_TEST(auto_plays_whole_numbers_within_bounds_and_full_differences);
    RUN_TEST(one_draw_rounds_both_sides);
    RUN_TEST(level_games_draw_a_value_away_from_its_bound);
    RUN_TEST(bad_plans_are_refused_by_name);
    RUN_TEST(the_three_input_formats_say_the_same);
    RUN_TEST(bad_input_is_refused_with_its_place);
    RUN_TEST(select_and_write);
    return UNITY_END();
}
