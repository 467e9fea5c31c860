// SPDX-License-Identifier: GPL-3.0-or-later
// The command `hone solve`: what the endgame tables say, in words.
#pragma once

// Runs `hone solve` with the words behind it; prints the answer, or one line on stderr, and returns the exit
// status.
int solve_main(int argc, char **argv);
