// SPDX-License-Identifier: GPL-3.0-or-later
// Moves on the clock: 2,000 each (HONE_LONG=1, else a few) at 50 ms, at 5 ms and with one second left must
// end within limit and overhead. An excess counts only if the machine was there: a heartbeat thread saw no
// stall at that moment, nor was the searching thread itself kept from its core. If the machine stalls too
// often the test is skipped.
#include <stdlib.h>
#include <time.h>

#include "engine/bench.h"
#include "engine/movegen.h"
#include "match/heartbeat.h"
#include "unity.h"

enum { STALL_NS = 10000000 };

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void setUp(void) {}
void tearDown(void) {}

// Plays moves under limits; each may take most_ms and the overhead.
static void keep_time(const char *name, SearchLimits limits, int64_t most_ms) {
    enum { OVERHEAD_MS = 20 }; // the default
    Engine *engine = engine_create(16);
    Heartbeat *heart = heartbeat_start();
    TEST_ASSERT_NOT_NULL(heart);
    engine_new_game(engine); // builds what it needs
    int moves = getenv("HONE_LONG") ? 2000 : 25, over = 0, excused = 0;
    int64_t worst = 0;
    for (int i = 0; i < moves; i++) {
        Position pos;
        TEST_ASSERT_TRUE(position_from_fen(&pos, bench_fen(i % bench_count()), NULL));
        engine_set_position(engine, &pos, NULL);
        int64_t cpu = cpu_ns();
        limits.start_ns = now_ns();
        SearchResult result = engine_search(engine, &limits, NULL);
        int64_t took = now_ns() - limits.start_ns, away = took - (cpu_ns() - cpu);
        int64_t excess = took - (most_ms + OVERHEAD_MS) * 1000000;
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, result.best));
        if (took > worst) worst = took;
        if (excess <= 0) continue;
        if (away > STALL_NS || heartbeat_worst(heart, limits.start_ns, limits.start_ns + took) > STALL_NS) {
            excused++;
        } else {
            over++;
            fprintf(stderr, "%.1f ms too long: %s\n", (double)excess / 1e6, bench_fen(i % bench_count()));
        }
    }
    heartbeat_stop(heart);
    engine_destroy(engine);
    char text[160];
    snprintf(text, sizeof text, "%s: %d moves, worst %.1f ms, %d late, %d more while the machine stalled",
             name, moves, (double)worst / 1e6, over, excused);
    puts(text);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, over, text);
    if (excused > moves / 20)
        TEST_IGNORE_MESSAGE("skipped: a machine that stalls all the time proves nothing");
}

static void moves_of_50_ms(void) { keep_time("50 ms a move", (SearchLimits){.movetime = 50}, 50); }

static void moves_of_5_ms(void) { keep_time("5 ms a move", (SearchLimits){.movetime = 5}, 5); }

static void moves_with_a_second_left(void) {
    SearchLimits limits = {.has_clock = true, .time = {1000, 1000}};
    Params params = params_default();
    int64_t most = 0;
    for (int i = 0; i < bench_count(); i++) {
        Position pos;
        TEST_ASSERT_TRUE(position_from_fen(&pos, bench_fen(i), NULL));
        SearchLimits told = limits;
        told.overhead = 20;
        int64_t hard = timeman_make(&told, &params, &pos).hard_ms;
        if (hard > most) most = hard;
    }
    TEST_ASSERT_TRUE(most < 1000);
    keep_time("1 s left", limits, most);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(moves_of_50_ms);
    RUN_TEST(moves_of_5_ms);
    RUN_TEST(moves_with_a_second_left);
    return UNITY_END();
}
