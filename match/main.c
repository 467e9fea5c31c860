// SPDX-License-Identifier: GPL-3.0-or-later
// The program hone-match. The match runs in a child process; a small supervisor restarts it from the journal
// when an engine inside it crashes, and sets a pair aside that was in flight in two crashes.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/bitboard.h"
#include "match/match.h"
#include "match/options.h"
#include "match/stop.h"

enum { MAX_WORKERS = 1024, MAX_SUSPECTS = 4096, MAX_RESTARTS = 200 };

// Runs the match in this process and says how it ended as an exit status.
static int run_here(const MatchPlan *plan, _Atomic uint64_t *in_flight) {
    Error error = {.text = ""};
    switch (match_run(plan, in_flight, &error)) {
    case MATCH_FINISHED: return 0;
    case MATCH_INTERRUPTED: return 1;
    case MATCH_FAILED: fprintf(stderr, "hone-match: %s\n", error.text); return 2;
    }
    return 2;
}

// Writes into the journal that a pair is set aside.
static void set_aside(const MatchPlan *plan, uint64_t number) {
    Error error;
    Journal journal;
    cJSON *json = NULL;
    int64_t size;
    JournalPair pair = {.number = number};
    bool ok = journal_read(plan->journal, &json, &size, NULL, NULL, &error) &&
              journal_continue(&journal, plan->journal, size, &error);
    if (ok) {
        ok = journal_append(&journal, &pair, &error);
        journal_close(&journal);
    }
    cJSON_Delete(json);
    fprintf(stderr, "hone-match: pair %llu was in flight in two crashes: %s\n",
            (unsigned long long)number + 1, ok ? "set aside" : error.text);
}

// Waits for the child to end, passing on what this process is told; SIGINT the terminal has told the child
// itself.
static int wait_for(pid_t child) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    for (;;) {
        int status, number = sigwaitinfo(&set, NULL);
        if (number == SIGTERM || number == SIGHUP) kill(child, number);
        if (waitpid(child, &status, WNOHANG) == child) return status;
    }
}

// Notes the pairs that were in flight at a crash; those noted before are set aside.
static void note_suspects(const MatchPlan *plan, const _Atomic uint64_t *in_flight, uint64_t *suspects,
                          int *count) {
    for (int w = 0; w < plan->concurrency && w < MAX_WORKERS; w++) {
        uint64_t mark = atomic_load(&in_flight[w]);
        if (mark == 0) continue;
        bool known = false;
        for (int i = 0; i < *count; i++) known |= suspects[i] == mark;
        if (known) set_aside(plan, mark - 1);
        else if (*count < MAX_SUSPECTS) suspects[(*count)++] = mark;
    }
}

// Runs the match in a child, again and again while it crashes.
static int supervise(MatchPlan *plan) {
    _Atomic uint64_t *in_flight = mmap(NULL, MAX_WORKERS * sizeof *in_flight, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t suspects[MAX_SUSPECTS];
    int suspect_count = 0;
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL); // so that wait_for can wait for it
    if (in_flight == MAP_FAILED) return run_here(plan, NULL);
    for (int restart = 0; restart <= MAX_RESTARTS; restart++) {
        for (int w = 0; w < MAX_WORKERS; w++) atomic_store(&in_flight[w], 0);
        fflush(NULL);
        pid_t parent = getpid();
        pid_t child = fork();
        if (child < 0) return run_here(plan, NULL);
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(2);
            exit(run_here(plan, in_flight));
        }
        int status = wait_for(child);
        if (WIFEXITED(status)) return WEXITSTATUS(status);
        fprintf(stderr, "hone-match: the match crashed (%s); going on from the journal\n",
                strsignal(WTERMSIG(status)));
        note_suspects(plan, in_flight, suspects, &suspect_count);
        plan->fresh = false;
    }
    fprintf(stderr, "hone-match: %d crashes: giving up\n", MAX_RESTARTS + 1);
    return 2;
}

int main(int count, char **arguments) {
    Error error = {.text = ""};
    bitboard_init();
    if (count < 2 || strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-help") == 0) {
        options_help(count < 2 ? stderr : stdout);
        return count < 2 ? 2 : 0;
    }
    bool digest = strcmp(arguments[1], "digest") == 0, replay = strcmp(arguments[1], "replay") == 0;
    if (digest || replay) {
        int64_t only = 0;
        bool ok = count >= 3 && count <= (digest ? 3 : 4);
        if (!ok) die(2, "hone-match: usage: hone-match %s JOURNAL%s", arguments[1], replay ? " [PAIR]" : "");
        if (count == 4 && !parse_int(arguments[3], 1, INT64_MAX, &only, &error))
            die(2, "hone-match: PAIR: %s", error.text);
        ok = digest ? match_digest(arguments[2], &error) : match_replay(arguments[2], only, &error);
        if (!ok) die(2, "hone-match: %s", error.text);
        return 0;
    }
    MatchPlan plan;
    if (!options_parse(&plan, count - 1, arguments + 1, &error)) die(2, "hone-match: %s", error.text);
    bool builtin = false;
    for (int i = 0; i < plan.player_count; i++) builtin |= plan.players[i].builtin;
    stop_block();
    int status = builtin ? supervise(&plan) : run_here(&plan, NULL);
    free(plan.players);
    return status;
}
