// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/util.h"
#include "unity.h"

Csv csv_read(const char *name) {
    char path[300];
    Error error;
    snprintf(path, sizeof path, "tests/data/%s", name);
    Csv csv = {.text = file_read(path, NULL, &error)};
    if (!csv.text) TEST_FAIL_MESSAGE(error.text);
    csv.columns = 1;
    for (const char *c = csv.text; *c && *c != '\n'; c++) csv.columns += *c == ',';
    size_t lines = 1;
    for (const char *c = csv.text; *c; c++) lines += *c == '\n';
    csv.field = calloc(lines * csv.columns, sizeof *csv.field);
    TEST_ASSERT_NOT_NULL(csv.field);
    size_t line = 0;
    for (char *rest = csv.text, *row; (row = strsep(&rest, "\n"));) {
        row[strcspn(row, "\r")] = '\0';
        if (*row == '\0') continue;
        for (size_t i = 0; i < csv.columns; i++) {
            csv.field[line * csv.columns + i] = strsep(&row, ",");
            TEST_ASSERT_NOT_NULL_MESSAGE(csv.field[line * csv.columns + i], "a row is too short");
        }
        line++;
    }
    csv.rows = line - 1;
    TEST_ASSERT_GREATER_THAN(0, csv.rows);
    return csv;
}

void csv_free(Csv *csv) {
    free(csv->field);
    free(csv->text);
}

const char *csv_text(const Csv *csv, size_t row, const char *column) {
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->field[i], column) == 0) return csv->field[(row + 1) * csv->columns + i];
    TEST_FAIL_MESSAGE(column);
    return "";
}

double csv_number(const Csv *csv, size_t row, const char *column) {
    const char *text = csv_text(csv, row, column);
    return *text ? strtod(text, NULL) : NAN;
}
