// SPDX-License-Identifier: GPL-3.0-or-later
#define _GNU_SOURCE // vasprintf
#include "tests/dialogue.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/util.h"
#include "unity.h"

Dialogue dialogue_start(char *const argv[]) {
    int to[2], from[2];
    TEST_ASSERT_TRUE(pipe(to) == 0 && pipe(from) == 0);
    signal(SIGPIPE, SIG_IGN);
    pid_t pid = fork();
    TEST_ASSERT_TRUE(pid >= 0);
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    return (Dialogue){.pid = pid, .to = to[1], .from = from[0]};
}

void dialogue_send_bytes(Dialogue *d, const char *bytes, size_t size) {
    while (size > 0 && d->to >= 0) {
        ssize_t sent = write(d->to, bytes, size);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        bytes += sent;
        size -= (size_t)sent;
    }
}

void dialogue_send(Dialogue *d, const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    TEST_ASSERT_TRUE(size >= 0);
    dialogue_send_bytes(d, text, (size_t)size);
    dialogue_send_bytes(d, "\n", 1);
    free(text);
}

const char *dialogue_line(Dialogue *d, int ms) {
    int64_t end = now_ms() + ms;
    for (;;) {
        char *newline = d->size ? memchr(d->buffer, '\n', d->size) : NULL;
        if (newline) {
            size_t length = (size_t)(newline - d->buffer);
            free(d->line);
            d->line = strndup(d->buffer, length);
            d->size -= length + 1;
            memmove(d->buffer, newline + 1, d->size);
            d->bestmoves += strncmp(d->line, "bestmove", 8) == 0;
            d->strings += strncmp(d->line, "info string", 11) == 0;
            return d->line;
        }
        int64_t left = end - now_ms();
        struct pollfd ready = {.fd = d->from, .events = POLLIN};
        if (poll(&ready, 1, left > 0 ? (int)left : 0) <= 0) return NULL;
        if (d->room - d->size < 4096) d->buffer = realloc(d->buffer, d->room = 2 * d->room + 65536);
        ssize_t got = read(d->from, d->buffer + d->size, d->room - d->size);
        if (got <= 0) return NULL;
        d->size += (size_t)got;
    }
}

const char *dialogue_until(Dialogue *d, const char *prefix, int ms) {
    int64_t end = now_ms() + ms;
    for (;;) {
        int64_t left = end - now_ms();
        const char *line = dialogue_line(d, left > 0 ? (int)left : 0);
        if (!line || strncmp(line, prefix, strlen(prefix)) == 0) return line;
    }
}

void dialogue_close(Dialogue *d) {
    if (d->to >= 0) close(d->to);
    d->to = -1;
}

int dialogue_end(Dialogue *d, int ms) {
    int64_t end = now_ms() + ms;
    int status = 0;
    dialogue_close(d);
    while (dialogue_line(d, (int)(end > now_ms() ? end - now_ms() : 0))) {
    } // until it closes its output, too
    pid_t ended;
    while ((ended = waitpid(d->pid, &status, WNOHANG)) == 0 && now_ms() < end) usleep(2000);
    if (ended == 0) {
        kill(d->pid, SIGKILL);
        waitpid(d->pid, &status, 0);
    }
    close(d->from);
    free(d->buffer);
    free(d->line);
    *d = (Dialogue){.to = -1};
    return ended == 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}
