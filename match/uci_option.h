// SPDX-License-Identifier: GPL-3.0-or-later
// What a UCI program says of its options, and whether a value fits. Pure text; who speaks to the program is
// uci_player.
#pragma once

#include "engine/engine.h"

// One option as the program described it.
typedef struct UciOption {
    char name[64];
    OptionKind kind;
    bool bounded;            // a spin with both min and max
    int64_t value, min, max; // default of a spin, and its bounds
    char vars[512];          // values of a combo, each behind a line feed
} UciOption;

// Reads a line "option name ... type ..."; false if it is none.
bool uci_option_parse(const char *line, UciOption *option);

// Whether the program will take this value; the reason names option, value and what is allowed.
bool uci_option_check(const UciOption *option, const char *value, Error *error);
