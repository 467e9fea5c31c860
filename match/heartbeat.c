// SPDX-License-Identifier: GPL-3.0-or-later
#define _GNU_SOURCE
#include "match/heartbeat.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { BEAT_NS = 2000000, MS_NS = 1000000, MAX_HEARTS = 16, PATIENCE_BEATS = 500 };

// A stretch of time in which a thread should have woken and did not.
typedef struct Pause {
    int64_t from, to;
} Pause;

// One thread, tied to a CPU if it has one.
typedef struct Heart {
    Heartbeat *owner;
    pthread_t thread;
    _Atomic int64_t last; // when it last woke
} Heart;

struct Heartbeat {
    Heart hearts[MAX_HEARTS];
    int count;
    _Atomic bool stop;
    pthread_mutex_t lock;
    // Under lock: the last pauses, in a ring.
    uint64_t noted;
    Pause pauses[HEARTBEAT_KEPT];
};

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = BEAT_NS}, NULL); }

void heartbeat_note(Heartbeat *heartbeat, int64_t from_ns, int64_t to_ns) {
    pthread_mutex_lock(&heartbeat->lock);
    heartbeat->pauses[heartbeat->noted++ % HEARTBEAT_KEPT] = (Pause){from_ns, to_ns};
    pthread_mutex_unlock(&heartbeat->lock);
}

static void *beat(void *context) {
    Heart *heart = context;
    while (!atomic_load(&heart->owner->stop)) {
        int64_t due = now_ns() + BEAT_NS;
        nap();
        int64_t now = now_ns();
        if (now - due >= HEARTBEAT_STALL_MS * MS_NS) heartbeat_note(heart->owner, due, now);
        atomic_store(&heart->last, now);
    }
    return NULL;
}

// Starts one thread, on a CPU; where that is not allowed it runs anywhere.
static bool heart_start(Heartbeat *heartbeat, int cpu) {
    Heart *heart = &heartbeat->hearts[heartbeat->count];
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    heart->owner = heartbeat;
    atomic_store(&heart->last, now_ns());
    if (pthread_create(&heart->thread, NULL, beat, heart) != 0) return false;
    pthread_setaffinity_np(heart->thread, sizeof only, &only);
    heartbeat->count++;
    return true;
}

Heartbeat *heartbeat_start(void) {
    Heartbeat *heartbeat = calloc(1, sizeof *heartbeat);
    if (!heartbeat) return NULL;
    pthread_mutex_init(&heartbeat->lock, NULL);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && heartbeat->count < MAX_HEARTS; cpu++)
        if (CPU_ISSET(cpu, &allowed) && !heart_start(heartbeat, cpu)) break;
    if (heartbeat->count > 0) return heartbeat;
    heartbeat_stop(heartbeat);
    return NULL;
}

void heartbeat_stop(Heartbeat *heartbeat) {
    if (!heartbeat) return;
    atomic_store(&heartbeat->stop, true);
    for (int i = 0; i < heartbeat->count; i++) pthread_join(heartbeat->hearts[i].thread, NULL);
    pthread_mutex_destroy(&heartbeat->lock);
    free(heartbeat);
}

// Whether every thread has woken after a moment.
static bool beaten_since(const Heartbeat *heartbeat, int64_t ns) {
    for (int i = 0; i < heartbeat->count; i++)
        if (atomic_load(&heartbeat->hearts[i].last) < ns) return false;
    return true;
}

int64_t heartbeat_worst(Heartbeat *heartbeat, int64_t from_ns, int64_t to_ns) {
    if (!heartbeat) return 0;
    int64_t worst = 0;
    for (int i = 0; i < PATIENCE_BEATS && !beaten_since(heartbeat, to_ns); i++) nap();
    pthread_mutex_lock(&heartbeat->lock);
    for (uint64_t i = 0; i < heartbeat->noted && i < HEARTBEAT_KEPT; i++) {
        Pause pause = heartbeat->pauses[i];
        if (pause.from < to_ns && pause.to > from_ns && pause.to - pause.from > worst)
            worst = pause.to - pause.from;
    }
    pthread_mutex_unlock(&heartbeat->lock);
    return worst;
}

uint64_t heartbeat_count(Heartbeat *heartbeat) {
    pthread_mutex_lock(&heartbeat->lock);
    uint64_t noted = heartbeat->noted;
    pthread_mutex_unlock(&heartbeat->lock);
    return noted;
}
