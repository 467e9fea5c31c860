// SPDX-License-Identifier: GPL-3.0-or-later
// The words of a command line: `--key value`, `--key=value`, flags, and words that are no options.
#pragma once

#include "engine/util.h"

// An option without a value; a list of them ends with a name of NULL.
typedef struct ArgumentFlag {
    const char *name; // without its dashes
    bool *set;
} ArgumentFlag;

// Takes one option, its name without dashes; a word that is no option comes with the name NULL.
typedef bool ArgumentSetter(void *context, const char *key, const char *value, Error *error);

// Reads a command line; what is refused is named.
bool arguments_read(int argc, char **argv, const ArgumentFlag *flags, ArgumentSetter *set, void *context,
                    Error *error);

// The refusal of an option or word that a command does not know.
bool argument_unknown(const char *key, const char *value, Error *error);

