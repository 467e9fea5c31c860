// SPDX-License-Identifier: GPL-3.0-or-later
// A conversation with a program over pipes, for tests: send lines, wait for lines, never longer than told.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A child process that is talked to through pipes.
typedef struct Dialogue {
    pid_t pid;
    int to, from; // pipes; to is -1 once closed
    char *buffer; // read but not yet taken
    size_t size, room;
    char *line;    // the line last taken
    int bestmoves; // lines beginning with bestmove so far
    int strings;   // lines beginning with `info string` so far
} Dialogue;

// Starts a program (argv ends with NULL); fails the test if that is impossible.
Dialogue dialogue_start(char *const argv[]);

// Sends bytes as they are.
void dialogue_send_bytes(Dialogue *dialogue, const char *bytes, size_t size);

// Sends a formatted line.
void dialogue_send(Dialogue *dialogue, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The next line within a time, or NULL; it lives until the next call.
const char *dialogue_line(Dialogue *dialogue, int ms);

// Skips lines until one begins with prefix; NULL if none comes within the time.
const char *dialogue_until(Dialogue *dialogue, const char *prefix, int ms);

// Closes the program's input.
void dialogue_close(Dialogue *dialogue);

// Waits for the program to end by itself (else kills it) and frees everything; its exit status, -1 if it had
// to be killed, -2 if a signal ended it.
int dialogue_end(Dialogue *dialogue, int ms);
