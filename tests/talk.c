// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/talk.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/uci.h"
#include "unity.h"

enum { PATIENCE_S = 60 };

static void *speak(void *context) {
    Talk *talk = context;
    Error error;
    if (!uci_run(talk->engine, talk->in, talk->out, &error)) fprintf(stderr, "uci_run: %s\n", error.text);
    fclose(talk->out);
    return NULL;
}

// Counts answers until the engine closes its output.
static void *listen_to(void *context) {
    Talk *talk = context;
    FILE *from = fdopen(talk->from, "r");
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, from) > 0) {
        pthread_mutex_lock(&talk->lock);
        talk->ready += strcmp(line, "readyok\n") == 0;
        talk->best += strncmp(line, "bestmove ", 9) == 0;
        pthread_cond_broadcast(&talk->heard);
        pthread_mutex_unlock(&talk->lock);
    }
    free(line);
    fclose(from);
    return NULL;
}

void talk_start(Talk *talk) {
    int to[2], from[2];
    signal(SIGPIPE, SIG_IGN);
    TEST_ASSERT_TRUE(pipe(to) == 0 && pipe(from) == 0);
    *talk = (Talk){.to = to[1], .from = from[0], .in = fdopen(to[0], "r"), .out = fdopen(from[1], "w")};
    talk->engine = engine_create(1);
    TEST_ASSERT_TRUE(talk->engine && talk->in && talk->out);
    pthread_mutex_init(&talk->lock, NULL);
    pthread_cond_init(&talk->heard, NULL);
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&talk->speaker, NULL, speak, talk));
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&talk->listener, NULL, listen_to, talk));
}

void talk_send(Talk *talk, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = write(talk->to, bytes, size);
        TEST_ASSERT_TRUE_MESSAGE(sent > 0, "the engine hung up");
        bytes += sent;
        size -= (size_t)sent;
    }
}

void talk_say(Talk *talk, const char *text) { talk_send(talk, text, strlen(text)); }

// Waits until a counter reaches a value; gives what it reached.
static long wait_for(Talk *talk, const long *counter, long wanted) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&talk->lock);
    int late = 0;
    while (*counter < wanted && !late) late = pthread_cond_timedwait(&talk->heard, &talk->lock, &end);
    long heard = *counter;
    pthread_mutex_unlock(&talk->lock);
    return heard;
}

void talk_expect_ready(Talk *talk, long wanted, const char *last) {
    long heard = wait_for(talk, &talk->ready, wanted);
    if (heard < wanted) fprintf(stderr, "no readyok after these lines:\n%s", last);
    TEST_ASSERT_TRUE_MESSAGE(heard >= wanted, "no readyok");
}

void talk_expect_best(Talk *talk, long wanted) {
    TEST_ASSERT_EQUAL_INT64(wanted, wait_for(talk, &talk->best, wanted));
}

long talk_best(Talk *talk) {
    pthread_mutex_lock(&talk->lock);
    long best = talk->best;
    pthread_mutex_unlock(&talk->lock);
    return best;
}

void talk_end(Talk *talk) {
    close(talk->to);
    pthread_join(talk->speaker, NULL);
    pthread_join(talk->listener, NULL);
    fclose(talk->in);
    engine_destroy(talk->engine);
    pthread_mutex_destroy(&talk->lock);
    pthread_cond_destroy(&talk->heard);
}
