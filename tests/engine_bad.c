// SPDX-License-Identifier: GPL-3.0-or-later
// A UCI engine that misbehaves in one way, named by its first argument, and otherwise plays the legal move
// that the position's key chooses. The second argument is a number where the mode wants one.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "engine/uci.h"

typedef struct Bad {
    const char *mode;
    long number;
    long searches;
    Position pos;
    KeyStack history;
    bool chess960, burning;
} Bad;

static bool is(const Bad *bad, const char *mode) { return strcmp(bad->mode, mode) == 0; }

static void say(const Bad *bad, const char *text) {
    printf("%s%s", text, is(bad, "crlf") ? "\r\n" : "\n");
    fflush(stdout);
}

static void nap(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void sleep_for_ever(void) {
    for (;;) pause();
}

static void *burn(void *context) {
    for (volatile uint64_t *counter = context;;) ++*counter;
    return NULL;
}

static void best(const Bad *bad, const char *end) {
    MoveList list;
    char move[UCI_SIZE];
    movegen_list(&bad->pos, &list);
    Move chosen = list.count ? list.moves[bad->pos.key % (uint64_t)list.count] : MOVE_NONE;
    notation_to_uci(&bad->pos, chosen, move);
    printf("info depth 1 score cp 12 nodes 1 pv %s%s", move, is(bad, "crlf") ? "\r\n" : "\n");
    printf("bestmove %s%s", move, end);
    fflush(stdout);
}

// A child that outlives its parent and holds its pipes open.
static void leave_a_child(void) {
    pid_t child = fork();
    if (child == 0) sleep_for_ever();
    printf("info string grandchild %d\n", (int)child);
    fflush(stdout);
}

static void write_noise(void) {
    for (uint64_t i = 0; i < 4096; i++) putchar((int)(random_at(1, 2, i) & 255));
    fputs("\n\0\0bestmove\0\n\xff\xfe info score\n\n \r\n", stdout);
    fwrite("a\0b\n", 1, 4, stdout);
}

// What happens instead of a search; true if there is nothing more to say.
static bool misbehave(Bad *bad) {
    if (is(bad, "crash-on-go") || (is(bad, "crash-after-n") && bad->searches == bad->number)) {
        fputs("bad engine: now it crashes\n", stderr);
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (is(bad, "fork-grandchild")) {
        leave_a_child();
        abort();
    }
    if (is(bad, "hang")) return true;
    if (is(bad, "hang-ignore-stop")) sleep_for_ever();
    if (is(bad, "flood-info"))
        for (;;) puts("info depth 1 score cp 1 nodes 1 pv e2e4 e7e5 g1f3 b8c6 f1b5 a7a6");
    if (is(bad, "long-line"))
        for (int i = 0; i < 1 << 20; i++) putchar('x');
    if (is(bad, "no-newline")) {
        best(bad, "");
        sleep_for_ever();
    }
    if (is(bad, "binary-noise")) write_noise();
    if (is(bad, "illegal")) return say(bad, "bestmove e2e6"), true;
    if (is(bad, "none")) return say(bad, "bestmove (none)"), true;
    if (is(bad, "stderr-flood"))
        for (int i = 0; i < 1 << 15; i++) fprintf(stderr, "line %d of a lot of noise\n", i);
    if (is(bad, "closes-stdout")) {
        close(STDOUT_FILENO);
        sleep_for_ever();
    }
    return false;
}

static void go(Bad *bad) {
    bad->searches++;
    if (misbehave(bad)) return;
    // In one write: whether the second comes before or after the next go is not left to chance.
    const char *twice = "\ninfo string once more\nbestmove a1a1\n";
    best(bad, is(bad, "double-bestmove") ? twice : is(bad, "crlf") ? "\r\n" : "\n");
    if (is(bad, "exits-after-bestmove")) _exit(0);
}

static void introduce(const Bad *bad) {
    if (is(bad, "no-uciok")) return;
    char line[128];
    snprintf(line, sizeof line, "id name Bad %s", bad->mode);
    say(bad, line);
    say(bad, is(bad, "wrong-range-option") ? "option name Hash type spin default 16 min 1 max 4"
                                           : "option name Hash type spin default 16 min 1 max 1024");
    say(bad, "option name UCI_Chess960 type check default false");
    say(bad, "option name Style type combo default Calm var Calm var Very Wild");
    say(bad, "uciok");
}

static void obey(Bad *bad, const char *line) {
    if (strncmp(line, "uci\n", 4) == 0) introduce(bad);
    if (strncmp(line, "isready", 7) == 0) {
        if (is(bad, "slow-isready")) nap(bad->number);
        if (is(bad, "cpu-burner-when-idle") && !bad->burning) {
            pthread_t thread;
            static uint64_t counter;
            bad->burning = pthread_create(&thread, NULL, burn, &counter) == 0;
        }
        say(bad, "readyok");
        if (is(bad, "early-bestmove")) say(bad, "bestmove a1a1");
    }
    if (strncmp(line, "setoption name UCI_Chess960", 27) == 0) bad->chess960 = strstr(line, "true") != NULL;
    if (strncmp(line, "position ", 9) == 0)
        uci_read_position(line + 9, bad->chess960, &bad->pos, &bad->history, NULL);
    if (strncmp(line, "go", 2) == 0) go(bad);
    if (strncmp(line, "stop", 4) == 0 && is(bad, "hang")) best(bad, "\n");
    if (strncmp(line, "quit", 4) == 0 && !is(bad, "ignore-quit")) exit(0);
}

int main(int argc, char **argv) {
    Bad bad = {.mode = argc > 1 ? argv[1] : "good", .number = argc > 2 ? strtol(argv[2], NULL, 10) : 0};
    if (is(&bad, "crash-at-start")) abort();
    if (is(&bad, "ignore-quit")) signal(SIGTERM, SIG_IGN);
    bitboard_init();
    position_from_fen(&bad.pos, START_FEN, NULL);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) obey(&bad, line);
    if (is(&bad, "ignore-quit")) sleep_for_ever();
    free(line);
    return 0;
}
