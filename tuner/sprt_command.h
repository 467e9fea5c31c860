// SPDX-License-Identifier: GPL-3.0-or-later
// The subcommand `hone-tune sprt`: a calculator for sequential tests.
#pragma once

#include <stdio.h>

// The command `hone-tune sprt`; argv[0] is its own name. Returns the exit status.
int sprt_main(int argc, char **argv);

// The same with its streams as arguments, so that tests can read what it prints.
int sprt_calculate(int argc, char **argv, FILE *out, FILE *err);
