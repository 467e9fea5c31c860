// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOT_EMPTY, SLOT_RUNNING, SLOT_DONE };

struct Pool {
    PoolSpec spec;
    PoolHooks hooks;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under lock: a ring of slots for the numbers [consumed, consumed + slots).
    uint64_t slots, next, consumed;
    uint8_t *states;
    char *results;
    int running; // workers alive
    bool over;   // the consumer has had enough
    Stop *stop;
    _Atomic bool *interrupt;
};

typedef struct PoolWorker {
    Pool *pool;
    int index;
    pthread_t thread;
} PoolWorker;

static void *slot_of(Pool *pool, uint64_t number) {
    return pool->results + number % pool->slots * pool->spec.result_size;
}

static void make_room(Pool *pool, uint64_t wanted) {
    if (wanted <= pool->slots) return;
    uint8_t *states = calloc(wanted, 1);
    char *results = calloc(wanted, pool->spec.result_size);
    for (uint64_t n = pool->consumed; states && results && n < pool->consumed + pool->slots; n++) {
        states[n % wanted] = pool->states[n % pool->slots];
        memcpy(results + n % wanted * pool->spec.result_size, slot_of(pool, n), pool->spec.result_size);
    }
    free(pool->states);
    free(pool->results);
    pool->states = states;
    pool->results = results;
    pool->slots = wanted;
}

Pool *pool_create(const PoolSpec *spec, const PoolHooks *hooks) {
    Pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->spec = *spec;
    pool->hooks = *hooks;
    pool->next = pool->consumed = spec->first;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    make_room(pool, spec->window);
    if (!pool->states || !pool->results) {
        pool_free(pool);
        return NULL;
    }
    return pool;
}

void pool_free(Pool *pool) {
    if (!pool) return;
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->changed);
    free(pool->states);
    free(pool->results);
    free(pool);
}

void pool_preload(Pool *pool, uint64_t number, const void *result) {
    if (number < pool->consumed) return;
    make_room(pool, number - pool->consumed + 1);
    pool->states[number % pool->slots] = SLOT_DONE;
    memcpy(slot_of(pool, number), result, pool->spec.result_size);
}

// Hands everything that is next in order to the consumer.
static void drain(Pool *pool) {
    while (!pool->over && pool->consumed < pool->spec.end &&
           pool->states[pool->consumed % pool->slots] == SLOT_DONE) {
        uint64_t number = pool->consumed;
        if (!pool->hooks.consume(pool->hooks.context, number, slot_of(pool, number))) {
            pool->over = true;
            atomic_store(pool->interrupt, true);
        }
        pool->states[number % pool->slots] = SLOT_EMPTY;
        pool->consumed++;
    }
    pthread_cond_broadcast(&pool->changed);
}

// Waits for a number that may be started; false when there is none left.
static bool take(Pool *pool, uint64_t *number) {
    for (;;) {
        while (pool->next < pool->consumed ||
               (pool->next < pool->consumed + pool->slots && pool->next < pool->spec.end &&
                pool->states[pool->next % pool->slots] == SLOT_DONE))
            pool->next++;
        if (pool->over || pool->next >= pool->spec.end || atomic_load(&pool->stop->level)) return false;
        uint64_t step = pool->spec.step ? pool->spec.step : 1;
        if (pool->next < pool->consumed - pool->consumed % step + pool->spec.window) break;
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    *number = pool->next++;
    pool->states[*number % pool->slots] = SLOT_RUNNING;
    return true;
}

static void *worker_main(void *argument) {
    PoolWorker *worker = argument;
    Pool *pool = worker->pool;
    const PoolHooks *hooks = &pool->hooks;
    void *result = calloc(1, pool->spec.result_size);
    uint64_t number;
    pthread_mutex_lock(&pool->lock);
    while (result && take(pool, &number)) {
        pthread_mutex_unlock(&pool->lock);
        bool finished = hooks->play(hooks->context, worker->index, number, result);
        pthread_mutex_lock(&pool->lock);
        if (!finished) {
            pool->states[number % pool->slots] = SLOT_EMPTY;
            break;
        }
        hooks->record(hooks->context, number, result);
        pool->states[number % pool->slots] = SLOT_DONE;
        memcpy(slot_of(pool, number), result, pool->spec.result_size);
        drain(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    free(result);
    hooks->leave(hooks->context, worker->index);
    pthread_mutex_lock(&pool->lock);
    pool->running--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

uint64_t pool_run(Pool *pool, Stop *stop, _Atomic bool *interrupt) {
    pool->stop = stop;
    pool->interrupt = interrupt;
    PoolWorker *workers = calloc((size_t)pool->spec.concurrency, sizeof *workers);
    pthread_mutex_lock(&pool->lock);
    drain(pool);
    int started = 0;
    for (; workers && started < pool->spec.concurrency; started++) {
        workers[started] = (PoolWorker){.pool = pool, .index = started};
        if (pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]) != 0) break;
        pool->running++;
    }
    while (pool->running > 0) {
        struct timespec wake;
        clock_gettime(CLOCK_MONOTONIC, &wake);
        wake.tv_nsec += 250000000;
        if (wake.tv_nsec >= 1000000000) wake = (struct timespec){wake.tv_sec + 1, wake.tv_nsec - 1000000000};
        pthread_cond_timedwait(&pool->changed, &pool->lock, &wake);
        int level = stop_poll(stop);
        if (level > 1) atomic_store(interrupt, true);
        if (level > 0) pthread_cond_broadcast(&pool->changed);
        pool->hooks.tick(pool->hooks.context);
    }
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    free(workers);
    return pool->consumed - pool->spec.first;
}
