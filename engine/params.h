// SPDX-License-Identifier: GPL-3.0-or-later
// The parameters of the search by value: one int a line of params.def. Also the table that describes them,
// from which options, documents and tuner input are made.
#pragma once

#include <stdio.h>

#include "engine/util.h"

// All tunable numbers of one engine, one field to a line of params.def.
typedef struct Params {
#define SWITCH(name, value, group, text)                        int name;
#define PARAM(name, value, min, max, c_end, r_end, group, text) int name;
#define CHOICE(name, value, values, group, text)                int name;
#include "engine/params.def"
#undef SWITCH
#undef PARAM
#undef CHOICE
} Params;

// One number a line of params.def, to index ParamTable and the counters.
typedef enum ParamId {
#define SWITCH(name, value, group, text)                        ID_##name,
#define PARAM(name, value, min, max, c_end, r_end, group, text) ID_##name,
#define CHOICE(name, value, values, group, text)                ID_##name,
#include "engine/params.def"
#undef SWITCH
#undef PARAM
#undef CHOICE
    PARAM_COUNT
} ParamId;

// The values of the parameter Evaluation.
enum { EVALUATION_NET, EVALUATION_HAND };

// What kind of value a parameter takes.
typedef enum ParamKind { KIND_SWITCH, KIND_NUMBER, KIND_CHOICE } ParamKind;

// What params.def says of one parameter.
typedef struct ParamInfo {
    const char *name, *group, *text;
    ParamKind kind;
    int value, min, max; // the default and its bounds
    double c_end, r_end; // SPSA's last step and gain (numbers only)
    const char *values;  // the names of a choice, blank between them
} ParamInfo;

// The table of params.def, in its order, indexed by ParamId.
extern const ParamInfo ParamTable[PARAM_COUNT];

// The defaults of params.def.
Params params_default(void);

// The id of a parameter by name (case does not matter), or -1.
int params_find(const char *name);

// One parameter by id.
int params_get(const Params *params, int id);

// Sets one parameter by id; the value must lie within its bounds.
void params_put(Params *params, int id, int value);

// Sets one parameter from text (a number, true or false, the name of a choice); refuses with a reason and
// changes nothing.
bool params_parse(Params *params, int id, const char *text, Error *error);

// Writes the value of a parameter as params_parse would read it, into 32 bytes.
void params_text(const Params *params, int id, char *buffer);

// The ways in which `hone params` prints the table.
typedef enum ParamsFormat { PARAMS_SPSA, PARAMS_UCI, PARAMS_MD, PARAMS_JSON } ParamsFormat;

// Whether every group of a comma-separated list has parameters; else a reason that names it and those there
// are.
bool params_groups_known(const char *groups, Error *error);

// Prints parameters (all groups, or those in a comma-separated list) in a format; SPSA lines are numbers
// only.
void params_print(FILE *out, const Params *params, ParamsFormat format, const char *groups);
