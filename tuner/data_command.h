// SPDX-License-Identifier: GPL-3.0-or-later
// The command `hone-tune data`: checks, counts, shows and merges files of training games.
#pragma once

// Runs it; argv[0] is its own name. Returns the exit status: 1 where a file is broken or its scores do not
// agree with its results.
int data_main(int argc, char **argv);
