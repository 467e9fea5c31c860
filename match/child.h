// SPDX-License-Identifier: GPL-3.0-or-later
// A child process at the other end of three pipes: started in a process group of its own, spoken to in lines,
// every wait with a deadline, killed with all its offspring. It knows nothing of chess; uci_player.h speaks
// UCI through it.
//
// A child dies with the thread that started it (PR_SET_PDEATHSIG), even if that is killed with SIGKILL: start
// children from threads that live to the end. One thread owns a child; only child_interrupt may be called
// from others.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/util.h"

// How much a child may say.
enum {
    CHILD_LINE_MAX = 64 << 10,  // a line of its output may be this long
    CHILD_FLOOD_MAX = 16 << 20, // bytes that it may write between two calls of child_budget
    CHILD_ERRORS = 64 << 10,    // kept of its stderr
    CHILD_LOG_LINES = 200,      // kept of the dialogue,
    CHILD_LOG_TEXT = 400,       // each cut to this
};

typedef struct Child Child;

// What waiting for a line came to.
typedef enum ChildWait {
    CHILD_LINE,        // a line is there
    CHILD_TIMEOUT,     // the deadline passed
    CHILD_ENDED,       // it ended or closed its output, and everything it wrote has been read
    CHILD_LONG_LINE,   // no end of line within CHILD_LINE_MAX bytes
    CHILD_FLOOD,       // more than CHILD_FLOOD_MAX bytes
    CHILD_INTERRUPTED, // child_interrupt was called
} ChildWait;

// A line without its end; valid until the next call. NUL bytes are shown as '?'.
typedef struct ChildText {
    char *text;
    size_t size;
    int64_t ns; // when it was found to be readable
} ChildText;

// Starts a program: cmd as a path (relative to dir, if dir is not empty) or a name to be found in dir or
// PATH, args split at blanks (quotes and backslash as in a shell), on CPU affinity (-1: any). NULL and a
// reason if it cannot be run. Makes the whole process ignore SIGPIPE.
Child *child_start(const char *cmd, const char *args, const char *dir, int affinity, Error *error);

// Sends text whole; waits at most until deadline_ns where the pipe is full. False: the child ended, or the
// deadline passed.
bool child_send(Child *child, const char *text, size_t size, int64_t deadline_ns);

// Waits for the next line until deadline_ns (of now_ns). stderr is read on the way.
ChildWait child_line(Child *child, int64_t deadline_ns, ChildText *line);

// A line that is there already, without waiting; at the end what is left of a line is dropped, so that
// nothing written before this call is taken for an answer to what is sent after it.
bool child_stale_line(Child *child, ChildText *line);

// Starts counting towards CHILD_FLOOD_MAX again.
void child_budget(Child *child);

// Any thread: makes child_line return CHILD_INTERRUPTED from now on, until child_resume.
void child_interrupt(Child *child);

// Forgets an interrupt.
void child_resume(Child *child);

// Whether it runs, as far as is known.
bool child_running(const Child *child);

// Waits until deadline_ns for it to end by itself, then kills its process group; either way reaps it and
// reads what is left on stderr. Harmless when done before.
void child_end(Child *child, int64_t deadline_ns);

// Ends it at once if it runs, and frees everything.
void child_free(Child *child);

// Processor time that it used so far, in nanoseconds; -1 if it cannot be known.
int64_t child_cpu_ns(const Child *child);

// Process id, also the id of its group.
int child_pid(const Child *child);

// Writes how it ended ("signal 11 (Segmentation fault)", "exit status 1", "running") into a buffer.
void child_end_text(const Child *child, char *buffer, size_t size);

// Writes the last lines of the dialogue, oldest first, with the time in milliseconds and '<' or '>'; gives
// the length.
size_t child_log(const Child *child, char *buffer, size_t size);

// Writes the last of stderr, with what is there to be read; gives the length.
size_t child_errors(Child *child, char *buffer, size_t size);
