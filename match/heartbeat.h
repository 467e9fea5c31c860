// SPDX-License-Identifier: GPL-3.0-or-later
// A heartbeat tells whether the machine stood still: a thread on each CPU sleeps two milliseconds at a time
// and notes when it slept much longer, because the machine, or what runs on it beside us, did not let it
// wake. A move that came too late at such a moment says nothing about the engine.
#pragma once

#include "engine/util.h"

typedef struct Heartbeat Heartbeat;

// Shorter pauses are not noted, and only so many of the last ones are known.
enum { HEARTBEAT_STALL_MS = 5, HEARTBEAT_KEPT = 1024 };

// Starts the threads; NULL if none could be started.
Heartbeat *heartbeat_start(void);

// Ends the threads and frees everything; harmless on NULL.
void heartbeat_stop(Heartbeat *heartbeat);

// Any thread: the longest pause that overlaps a stretch of time (of now_ns), in nanoseconds, 0 if none was
// noted. Waits for the next beat after it, at most a second: a stall that is not over is known then. NULL saw
// nothing.
int64_t heartbeat_worst(Heartbeat *heartbeat, int64_t from_ns, int64_t to_ns);

// Any thread: how many pauses have been noted so far.
uint64_t heartbeat_count(Heartbeat *heartbeat);

// Notes a pause as if a thread had seen it; for tests.
void heartbeat_note(Heartbeat *heartbeat, int64_t from_ns, int64_t to_ns);
