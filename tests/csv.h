// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of test vectors: a CSV file whose first line names the columns; no quoting.
#pragma once

#include <stddef.h>

// A table in memory; fields point into text.
typedef struct Csv {
    char *text;
    char **field;  // rows x columns, the names first
    size_t rows, columns;
} Csv;

// Reads tests/data/NAME; a test that cannot read it fails.
Csv csv_read(const char *name);

// Frees a table.
void csv_free(Csv *csv);

// The field in a row (0 is the first below the names) and a named column; an unknown column fails the test.
const char *csv_text(const Csv *csv, size_t row, const char *column);

// The same as a number; an empty field is not a number.
double csv_number(const Csv *csv, size_t row, const char *column);
