// SPDX-License-Identifier: GPL-3.0-or-later
// Four threads in a storm of commands, meant for ThreadSanitizer: stop, ponderhit and go at any moment,
// tables and threads resized in between; through engine.h with a second thread that interferes, and through
// UCI.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bench.h"
#include "engine/movegen.h"
#include "tests/talk.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static int rounds(void) { return getenv("HONE_LONG") ? 1500 : 60; }

static void set(Engine *engine, const char *name, int value) {
    char text[16];
    Error error = {""};
    snprintf(text, sizeof text, "%d", value);
    TEST_ASSERT_TRUE_MESSAGE(engine_set_option(engine, name, text, &error), error.text);
}

typedef struct Meddler {
    Engine *engine;
    _Atomic bool done;
    uint64_t seed;
} Meddler;

// Stops and ponder-hits at random moments.
static void *meddle(void *context) {
    Meddler *meddler = context;
    for (uint64_t i = 0; !atomic_load(&meddler->done); i++) {
        uint64_t random = random_at(meddler->seed, 1, i);
        usleep((useconds_t)(random & 4095));
        if (random >> 32 & 1) engine_stop(meddler->engine);
        else engine_ponderhit(meddler->engine);
    }
    return NULL;
}

static _Atomic int Heard; // info lines, so that the observer does something

static void listen_in(void *context, const SearchInfo *info) {
    (void)context;
    atomic_fetch_add(&Heard, info->pv->count > 0);
}

static void an_engine_withstands_a_meddler(void) {
    Engine *engine = engine_create(1);
    TEST_ASSERT_NOT_NULL(engine);
    set(engine, "Threads", 4);
    Meddler meddler = {.engine = engine, .seed = 5};
    pthread_t thread;
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, meddle, &meddler));
    Observer observer = {.info = listen_in};
    for (int i = 0; i < rounds(); i++) {
        uint64_t random = random_at(6, 0, (uint64_t)i);
        Position pos;
        TEST_ASSERT_TRUE(position_from_fen(&pos, bench_fen((int)(random % (uint64_t)bench_count())), NULL));
        engine_set_position(engine, &pos, NULL);
        if (i % 5 == 0) set(engine, "Threads", 1 + (int)(random >> 20 & 3));
        if (i % 7 == 0) set(engine, "Hash", 1 + (int)(random >> 24 & 7));
        if (i % 11 == 0) engine_new_game(engine);
        if (i % 13 == 0) engine_set_option(engine, "Clear Hash", NULL, NULL);
        SearchLimits limits = {0};
        switch (random >> 28 & 3) {
        case 0: limits.infinite = true; break;
        case 1: limits = (SearchLimits){.ponder = true, .has_clock = true, .time = {50, 50}}; break;
        case 2: limits.depth = 6; break;
        case 3: limits.movetime = 3; break;
        }
        SearchResult result;
        if (random >> 31 & 1) {
            engine_start(engine, &limits, &observer);
            if (random >> 30 & 1) usleep((useconds_t)(random >> 40 & 2047));
            if (random >> 33 & 1) engine_stop(engine);
            result = engine_wait(engine);
        } else {
            result = engine_search(engine, &limits, &observer);
        }
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, result.best));
    }
    atomic_store(&meddler.done, true);
    pthread_join(thread, NULL);
    engine_start(engine, &(SearchLimits){.infinite = true}, &observer);
    engine_destroy(engine); // in the middle of a search
    TEST_ASSERT_TRUE(atomic_load(&Heard) > 0);
}

static void uci_withstands_a_storm(void) {
    static const char *const lines[] = {
        "go infinite\n",
        "go ponder wtime 40 btime 40\n",
        "go depth 5\n",
        "go movetime 2\n",
        "go nodes 2000\n",
        "stop\n",
        "stop\n",
        "ponderhit\n",
        "isready\n",
        "ucinewgame\n",
        "setoption name Hash value 3\n",
        "setoption name Hash value 1\n",
        "setoption name Threads value 4\n",
        "setoption name Threads value 2\n",
        "setoption name Clear Hash\n",
        "setoption name MultiPV value 2\n",
        "setoption name MultiPV value 1\n",
        "position startpos moves e2e4 c7c5\n",
        "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\n",
        "d\n",
        "eval\n",
        "go perft 3\n",
    };
    Talk talk;
    talk_start(&talk);
    talk_say(&talk, "setoption name Threads value 4\n");
    long ready = 0;
    for (int i = 0; i < rounds() * 10; i++) {
        uint64_t random = random_at(8, 0, (uint64_t)i);
        const char *line = lines[random % (sizeof lines / sizeof *lines)];
        talk_say(&talk, line);
        ready += strcmp(line, "isready\n") == 0;
        if ((random >> 32 & 3) == 0) usleep((useconds_t)(random >> 40 & 2047));
        if ((random >> 34 & 3) == 0) talk_say(&talk, "stop\n");
        if ((random >> 36 & 15) == 0) talk_expect_ready(&talk, ready, "a storm\n");
    }
    talk_say(&talk, "stop\nisready\n");
    talk_expect_ready(&talk, ++ready, "a storm\n");
    talk_say(&talk, "go infinite\n"); // and the end of input in the middle of a search
    talk_end(&talk);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(an_engine_withstands_a_meddler);
    RUN_TEST(uci_withstands_a_storm);
    return UNITY_END();
}
