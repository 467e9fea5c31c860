// SPDX-License-Identifier: GPL-3.0-or-later
// match/heartbeat: pauses are found by when they were, the oldest are forgotten first, and a machine that
// stands still (here: a process that was stopped) is noticed.
#include "match/heartbeat.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unity.h"

static const int64_t Ms = 1000000;

void setUp(void) {}
void tearDown(void) {}

static void pause_ms(int ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * Ms}, NULL); }

// Times long past, where no thread of ours can have seen anything.
static void pauses_are_found_by_their_time(void) {
    Heartbeat *heart = heartbeat_start();
    TEST_ASSERT_NOT_NULL(heart);
    heartbeat_note(heart, 100 * Ms, 157 * Ms);
    heartbeat_note(heart, 150 * Ms, 160 * Ms);
    heartbeat_note(heart, 300 * Ms, 306 * Ms);
    TEST_ASSERT_TRUE(heartbeat_count(heart) >= 3);
    TEST_ASSERT_EQUAL_INT64(57 * Ms, heartbeat_worst(heart, 90 * Ms, 120 * Ms));
    TEST_ASSERT_EQUAL_INT64(57 * Ms, heartbeat_worst(heart, 110 * Ms, 111 * Ms)); // all within the pause
    TEST_ASSERT_EQUAL_INT64(10 * Ms, heartbeat_worst(heart, 158 * Ms, 400 * Ms));
    TEST_ASSERT_EQUAL_INT64(6 * Ms, heartbeat_worst(heart, 160 * Ms, 301 * Ms));
    TEST_ASSERT_EQUAL_INT64(0, heartbeat_worst(heart, 160 * Ms, 300 * Ms)); // between two
    TEST_ASSERT_EQUAL_INT64(0, heartbeat_worst(heart, 0, 100 * Ms));
    TEST_ASSERT_EQUAL_INT64(0, heartbeat_worst(NULL, 0, 1000 * Ms));
    heartbeat_stop(heart);
    heartbeat_stop(NULL);
}

static void the_oldest_are_forgotten_first(void) {
    Heartbeat *heart = heartbeat_start();
    TEST_ASSERT_NOT_NULL(heart);
    for (int64_t i = 0; i < HEARTBEAT_KEPT + 10; i++) heartbeat_note(heart, 100 * i * Ms, (100 * i + 7) * Ms);
    TEST_ASSERT_EQUAL_INT64(0, heartbeat_worst(heart, 0, 950 * Ms));
    TEST_ASSERT_EQUAL_INT64(7 * Ms, heartbeat_worst(heart, 100 * (HEARTBEAT_KEPT + 9) * Ms,
                                                    (100 * (HEARTBEAT_KEPT + 9) + 1) * Ms));
    heartbeat_stop(heart);
}

// A child counts its own pauses while this process stops it for a while, as a stalled machine would.
static void a_stop_is_noticed(void) {
    enum { STOP_MS = 200 };
    int report[2];
    TEST_ASSERT_EQUAL_INT(0, pipe(report));
    pid_t child = fork();
    if (child == 0) {
        Heartbeat *heart = heartbeat_start();
        int64_t begin = now_ns(), worst = 0;
        if (!heart || write(report[1], &begin, sizeof begin) != sizeof begin) _exit(1);
        for (int i = 0; i < 400 && worst < STOP_MS / 2 * Ms; i++) {
            pause_ms(25);
            worst = heartbeat_worst(heart, begin, now_ns());
        }
        if (write(report[1], &worst, sizeof worst) != sizeof worst) _exit(1);
        heartbeat_stop(heart);
        _exit(0);
    }
    int64_t value = 0;
    int status = 0;
    TEST_ASSERT_EQUAL_INT(sizeof value, read(report[0], &value, sizeof value)); // it runs
    kill(child, SIGSTOP);
    pause_ms(STOP_MS);
    kill(child, SIGCONT);
    TEST_ASSERT_EQUAL_INT(sizeof value, read(report[0], &value, sizeof value));
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    TEST_ASSERT_TRUE(value >= STOP_MS / 2 * Ms);
    close(report[0]);
    close(report[1]);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(pauses_are_found_by_their_time);
    RUN_TEST(the_oldest_are_forgotten_first);
    RUN_TEST(a_stop_is_noticed);
    return UNITY_END();
}
