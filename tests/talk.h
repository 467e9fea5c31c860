// SPDX-License-Identifier: GPL-3.0-or-later
// UCI within this process, so that sanitizers see the engine: one thread runs uci_run, one counts its
// answers.
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/engine.h"

// A UCI loop on a thread of this process, and the pipes to it.
typedef struct Talk {
    FILE *in, *out; // the engine's ends of the pipes
    int to, from;   // ours
    Engine *engine;
    pthread_t speaker, listener;
    pthread_mutex_t lock;
    pthread_cond_t heard;
    long ready, best; // readyok and bestmove lines heard; under lock
} Talk;

// Starts an engine with a table of one megabyte and talks UCI to it.
void talk_start(Talk *talk);

// Sends bytes as they are; fails the test if the engine hung up.
void talk_send(Talk *talk, const char *bytes, size_t size);

// Sends text as it is (lines end with \n).
void talk_say(Talk *talk, const char *text);

// Waits until so many readyok lines were heard in all; fails the test, showing the lines sent last, if they
// are not.
void talk_expect_ready(Talk *talk, long wanted, const char *last);

// Waits until so many bestmove lines were heard in all.
void talk_expect_best(Talk *talk, long wanted);

// How many bestmove lines were heard.
long talk_best(Talk *talk);

// Closes the engine's input, waits for it to end and frees everything.
void talk_end(Talk *talk);
