// SPDX-License-Identifier: GPL-3.0-or-later
// The command `hone-tune train`: its options and what it prints.
#pragma once

// argv[0] is the command's own name. Returns the exit status: 0, 1 where it was stopped and can go on, 2
// where something was wrong.
int train_main(int argc, char **argv);

// Prints how fast this machine trains nets of several widths, beside what its caches would allow.
int train_speed(int threads, double seconds);
