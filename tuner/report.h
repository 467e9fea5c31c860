// SPDX-License-Identifier: GPL-3.0-or-later
// The report: one HTML file that needs nothing else, made from a journal or from the folder of a campaign. It
// says what the run came to in words and shows how it got there.
#pragma once

#include <stdio.h>

#include "engine/util.h"

// When a report that is kept up to date is due again; all zero to begin.
typedef struct ReportClock {
    int64_t next_ms;
} ReportClock;

// Begins an HTML page in the style of the reports.
void report_head(FILE *out, const char *title);

// Writes the report of a journal, or of a folder with journals, into a file, in one step.
bool report_write(const char *source, const char *path, Error *error);

// Writes it if it is due: not before 10 s after the last, nor before fifty times as long as that took. An
// empty path does nothing; what goes wrong is told on stderr once and does not end a run.
void report_tick(ReportClock *clock, const char *source, const char *path);

// The command `hone-tune report`; argv[0] is its own name.
int report_main(int argc, char **argv);
