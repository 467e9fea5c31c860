// SPDX-License-Identifier: GPL-3.0-or-later
// hone-tune sprt: its JSON against the vectors, its words, and its refusals.
#include "tuner/sprt_command.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/csv.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

// What a command line gives; the caller frees both texts.
typedef struct Run {
    int status;
    char *out, *err;
} Run;

static Run run(const char *line) {
    char words[600], *argv[40] = {"sprt"};
    int argc = 1;
    snprintf(words, sizeof words, "%s", line);
    for (char *rest = words, *word; (word = strsep(&rest, " "));)
        if (*word) argv[argc++] = word;
    Run result = {0};
    size_t out_size, err_size;
    FILE *out = open_memstream(&result.out, &out_size), *err = open_memstream(&result.err, &err_size);
    result.status = sprt_calculate(argc, argv, out, err);
    fclose(out);
    fclose(err);
    return result;
}

static void run_free(Run *result) {
    free(result->out);
    free(result->err);
}

static void check_key(const Csv *csv, size_t row, const cJSON *json, const char *key, const char *column,
                      double tolerance) {
    double want = csv_number(csv, row, column);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    char text[160];
    snprintf(text, sizeof text, "%s %s: %s expected", csv_text(csv, row, "id"), key,
             csv_text(csv, row, column));
    TEST_ASSERT_NOT_NULL_MESSAGE(item, text);
    bool near = cJSON_IsNumber(item) && fabs(item->valuedouble - want) <= tolerance * fmax(1, fabs(want));
    TEST_ASSERT_TRUE_MESSAGE(isfinite(want) ? near : cJSON_IsNull(item), text);
}

static void json_agrees_with_every_row_of_the_vectors(void) {
    Csv csv = csv_read("sprt.csv");
    for (size_t row = 0; row < csv.rows; row++) {
        char counts[200], line[500];
        bool pairs = strcmp(csv_text(&csv, row, "kind"), "penta") == 0;
        if (pairs)
            snprintf(counts, sizeof counts, "--penta %s,%s,%s,%s,%s", csv_text(&csv, row, "c0"),
                     csv_text(&csv, row, "c1"), csv_text(&csv, row, "c2"), csv_text(&csv, row, "c3"),
                     csv_text(&csv, row, "c4"));
        else  // wins first on the command line, losses first in the file
            snprintf(counts, sizeof counts, "--wdl %s,%s,%s", csv_text(&csv, row, "c2"),
                     csv_text(&csv, row, "c1"), csv_text(&csv, row, "c0"));
        snprintf(line, sizeof line, "%s --elo0 %s --elo1 %s --alpha %s --beta %s --model %s --json", counts,
                 csv_text(&csv, row, "elo0"), csv_text(&csv, row, "elo1"), csv_text(&csv, row, "alpha"),
                 csv_text(&csv, row, "beta"), csv_text(&csv, row, "model"));
        Run result = run(line);
        TEST_ASSERT_EQUAL_MESSAGE(0, result.status, result.err);
        cJSON *json = cJSON_Parse(result.out);
        TEST_ASSERT_NOT_NULL_MESSAGE(json, result.out);
        static const char *const Keys[][2] = {
            {"llr", "llr_ref"},       {"lower", "lower"},           {"upper", "upper"},
            {"elo", "elo_raw"},       {"elo_lo", "elo_lo_raw"},     {"elo_hi", "elo_hi_raw"},
            {"los", "los_raw"},       {"nelo", "nelo_raw"},         {"nelo_err", "nelo_err_delta"},
            {"draw_ratio", "draw_ratio"}, {"pair_ratio", "pair_ratio"},
        };
        for (size_t i = 0; i < sizeof Keys / sizeof *Keys; i++)
            check_key(&csv, row, json, Keys[i][0], Keys[i][1], 1e-9);
        check_key(&csv, row, json, "sprt_elo", "sprt_elo", 1e-6);
        check_key(&csv, row, json, "sprt_elo_lo", "sprt_elo_lo", 1e-6);
        check_key(&csv, row, json, "sprt_elo_hi", "sprt_elo_hi", 1e-6);
        TEST_ASSERT_EQUAL_STRING(csv_text(&csv, row, "state_ref"),
                                 cJSON_GetStringValue(cJSON_GetObjectItem(json, "state")));
        cJSON_Delete(json);
        run_free(&result);
    }
    csv_free(&csv);
}

static void check_says(const char *line, const char *words) {
    Run result = run(line);
    TEST_ASSERT_EQUAL_MESSAGE(0, result.status, result.err);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(result.out, words), result.out);
    run_free(&result);
}

static void text_names_the_model_and_the_verdict(void) {
    check_says("--penta 43,61,144,55,37 --elo0 0 --elo1 2", "LLR (normalized): -0.14 (-2.94, 2.94) [0.00");
    check_says("--penta 43,61,144,55,37 --elo0 0 --elo1 2", "no decision yet");
    check_says("--penta 43,61,144,55,37 --elo0 0 --elo1 2", "Elo: -9.20 +/- 20.93");
    check_says("--penta 60,520,1000,590,80 --elo0=0 --elo1=5 --model=logistic", "LLR (logistic): 3.01");
    check_says("--penta 60,520,1000,590,80 --elo0=0 --elo1=5 --model=logistic", "H1 accepted");
    check_says("--wdl 34,0,356 --elo0 0 --elo1 5 --model logistic", "H0 accepted");
    check_says("--wdl 10,0,0 --elo0 0 --elo1 5", "Elo: inf +/- unknown");
    check_says("--help", "Examples:");
}

// Reference: 639,770 / 5^2 games at a bound, whatever the draws and the bias.
static void plans_are_printed(void) {
    check_says("--plan --elo0 0 --elo1 5 --true 5", "probability 95.00 %\nExpected games: 25591\n");
    check_says("--plan --elo0 0 --elo1 5 --true-elo 2.83523128561 --draws .6 --bias 100", "games: 25591\n");
    check_says("--plan --elo0 0 --elo1 5 --true 0 --model logistic", "probability 5.00 %");
    check_says("--plan --elo0 0 --elo1 5 --true 5 --model bayesian", "probability 95.00 %");
    check_says("--plan --elo0 0 --elo1 5 --true 3 --json", "\"pass\":0.64");
    check_says("--plan --elo0 0 --elo1 5 --penta 10,100,200,100,10 --model logistic", "probability 5.00 %");
}

static void check_refused(const char *line, const char *words) {
    Run result = run(line);
    TEST_ASSERT_EQUAL_MESSAGE(2, result.status, line);
    TEST_ASSERT_EQUAL_STRING_MESSAGE("", result.out, line);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(result.err, words), result.err);
    TEST_ASSERT_EQUAL_PTR_MESSAGE(result.err + strlen(result.err) - 1, strchr(result.err, '\n'), "one line");
    run_free(&result);
}

static void bad_command_lines_are_refused_in_one_line(void) {
    check_refused("", "--elo0 and --elo1");
    check_refused("--elo0 0 --elo1 2", "--penta, --wdl or --plan");
    check_refused("--penta 1,2,3,4 --elo0 0 --elo1 2", "--penta: 5 counts");
    check_refused("--penta 1,2,3,4,5,6 --elo0 0 --elo1 2", "--penta: 5 counts");
    check_refused("--penta 1,2,,4,5 --elo0 0 --elo1 2", "not a whole number");
    check_refused("--wdl 1,-2,3 --elo0 0 --elo1 2", "--wdl: -2 is not in");
    check_refused("--wdl 0,0,0 --elo0 0 --elo1 2", "no games");
    check_refused("--wdl 1,2,3 --penta 1,2,3,4,5 --elo0 0 --elo1 2", "one sample");
    check_refused("--wdl 1,2,3 --elo0 2 --elo1 2", "must be below");
    check_refused("--wdl 1,2,3 --elo0 0 --elo1 2 --alpha .6 --beta .6", "alpha and beta");
    check_refused("--wdl 1,2,3 --elo0 0 --elo1 2 --true 1", "--true belongs to --plan");
    check_refused("--penta 1,2,3,4,5 --elo0 0 --elo1 2 --model bayesian", "--wdl is needed");
    check_refused("--penta 1,2,3,4,5 --elo0 0 --elo1 2 --model elo", "'elo' is not a model");
    check_refused("--plan --elo0 0 --elo1 2", "--plan needs");
    check_refused("--plan --elo0 0 --elo1 2 --true 1 --draws 1", "no variance");
    check_refused("--plan --elo0 0 --elo1 2 --true 1 --bias 900", "no variance");
    check_refused("--elo0 nan --elo1 2", "'nan' is not a number");
    check_refused("--frobnicate 3", "--frobnicate: there is no such option");
    check_refused("extra", "'extra' is not an option");
    check_refused("--elo0", "value is missing");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(json_agrees_with_every_row_of_the_vectors);
    RUN_TEST(text_names_the_model_and_the_verdict);
    RUN_TEST(plans_are_printed);
    RUN_TEST(bad_command_lines_are_refused_in_one_line);
    return UNITY_END();
}
