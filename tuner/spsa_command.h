// SPDX-License-Identifier: GPL-3.0-or-later
// The command `hone-tune spsa`.
#pragma once

// Runs it; argv[0] is its own name. Returns the exit status: 0 finished, 1 interrupted, 2 refused or failed.
int spsa_main(int argc, char **argv);
