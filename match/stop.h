// SPDX-License-Identifier: GPL-3.0-or-later
// How a long run is asked to stop: SIGINT, SIGTERM or SIGHUP once lets the pairs in flight finish, twice ends
// at once. The signals are blocked and looked for now and then, so no handler and no global is needed.
#pragma once

#include <stdatomic.h>

// How urgently to stop: 0 go on, 1 finish what is in flight, 2 and more end at once.
typedef struct Stop {
    _Atomic int level;
} Stop;

// Blocks the three signals in this thread and those it will create, and ignores SIGPIPE so that a dead engine
// cannot take the runner with it. Children that are to hear signals must unblock them.
void stop_block(void);

// Unblocks the three signals; for child processes before they go on.
void stop_unblock(void);

// Any thread: takes signals that have come and raises the level by one for each; returns the level.
int stop_poll(Stop *stop);

// Any thread: raises the level to at least this.
void stop_request(Stop *stop, int level);
