// SPDX-License-Identifier: GPL-3.0-or-later
// A run in a child process, started again from its journal when an engine inside it crashes; a pair that was
// in flight in two crashes is set aside. Matches and tuning runs of builtin engines are run so.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

// The run: plays in this process and gives an exit status; in_flight (or NULL) as match_run wants it, attempt
// is above 0 after crashes.
typedef int SuperviseRun(void *context, _Atomic uint64_t *in_flight, int attempt);

// Runs in a child, again and again while it crashes; the caller has one thread only. Returns the status of
// the run that ended by itself, 2 when there were too many crashes. program begins every message.
int supervise(const char *program, const char *journal, int concurrency, SuperviseRun *run, void *context);
