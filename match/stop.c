// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/stop.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static sigset_t stop_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

void stop_block(void) {
    sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void stop_unblock(void) {
    sigset_t set = stop_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    signal(SIGPIPE, SIG_DFL);
}

int stop_poll(Stop *stop) {
    const struct timespec at_once = {0, 0};
    sigset_t set = stop_signals();
    while (sigtimedwait(&set, NULL, &at_once) > 0) atomic_fetch_add(&stop->level, 1);
    return atomic_load(&stop->level);
}

void stop_request(Stop *stop, int level) {
    int now = atomic_load(&stop->level);
    while (now < level && !atomic_compare_exchange_weak(&stop->level, &now, level)) {}
}
