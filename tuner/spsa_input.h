// SPDX-License-Identifier: GPL-3.0-or-later
// Parameter lists as users bring and take them: OpenBench and fishtest lines, weather-factory JSON in;
// params.def, UCI, OpenBench and JSON out. Text to SpsaParam and back, nothing else.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "tuner/spsa.h"

// A list of parameters; free it with spsa_list_free.
typedef struct SpsaList {
    SpsaParam *items;
    int count;
} SpsaList;

// How a list of values is written.
typedef enum SpsaFormat { SPSA_PARAMS_DEF, SPSA_UCI, SPSA_LINES, SPSA_JSON } SpsaFormat;

// Parses a text in any of the three input formats, told apart by their shape; `name` of the source goes into
// reasons. Blank lines and lines that begin with # are skipped. False and a reason that names line and field.
bool spsa_list_parse(const char *text, const char *name, SpsaList *list, Error *error);

// Reads and parses a file.
bool spsa_list_read(const char *path, SpsaList *list, Error *error);

// Keeps the parameters that the comma-separated words choose: names, or groups of params.def, without regard
// to case; the order of the list stays. A word that chooses nothing is refused.
bool spsa_list_select(SpsaList *list, const char *words, Error *error);

// Frees what a list holds and empties it.
void spsa_list_free(SpsaList *list);

// Writes the parameters with `values` (count numbers; NULL: their starts) in a format.
void spsa_list_write(const SpsaList *list, const double *values, SpsaFormat format, FILE *out);
