// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/supervise.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "match/journal.h"

enum { MAX_WORKERS = 1024, MAX_SUSPECTS = 4096, MAX_RESTARTS = 200 };

// What is supervised.
typedef struct Job {
    const char *program, *journal;
    int concurrency;
} Job;

// Writes into the journal that a pair is set aside.
static void set_aside(const Job *job, uint64_t number) {
    Error error;
    Journal journal = {.fd = -1};
    cJSON *json = NULL;
    int64_t size;
    JournalPair pair = {.number = number};
    bool ok = journal_lock(&journal, job->journal, &error) &&
              journal_read(job->journal, &json, &size, NULL, NULL, &error) &&
              journal_continue(&journal, size, &error) && journal_append(&journal, &pair, &error);
    journal_close(&journal);
    cJSON_Delete(json);
    fprintf(stderr, "%s: pair %llu was in flight in two crashes: %s\n", job->program,
            (unsigned long long)number + 1, ok ? "set aside" : error.text);
}

// Waits for the child to end, passing on what this process is told, unless it is what the terminal tells both.
static int wait_for(pid_t child) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    for (;;) {
        siginfo_t info;
        int status, number = sigwaitinfo(&set, &info);
        if (number > 0 && number != SIGCHLD && info.si_code == SI_USER) kill(child, number);
        if (waitpid(child, &status, WNOHANG) == child) return status;
    }
}

// Notes the pairs that were in flight at a crash; those noted before are set aside.
static void note_suspects(const Job *job, const _Atomic uint64_t *in_flight, uint64_t *suspects, int *count) {
    for (int w = 0; w < job->concurrency && w < MAX_WORKERS; w++) {
        uint64_t mark = atomic_load(&in_flight[w]);
        if (mark == 0) continue;
        bool known = false;
        for (int i = 0; i < *count; i++) known |= suspects[i] == mark;
        if (known) set_aside(job, mark - 1);
        else if (*count < MAX_SUSPECTS) suspects[(*count)++] = mark;
    }
}

int supervise(const char *program, const char *journal, int concurrency, SuperviseRun *run, void *context) {
    Job job = {.program = program, .journal = journal, .concurrency = concurrency};
    _Atomic uint64_t *in_flight = mmap(NULL, MAX_WORKERS * sizeof *in_flight, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t suspects[MAX_SUSPECTS];
    int suspect_count = 0, status = -1;
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL); // so that wait_for can wait for it
    if (in_flight == MAP_FAILED) return run(context, NULL, 0);
    for (int attempt = 0; status < 0 && attempt <= MAX_RESTARTS; attempt++) {
        for (int w = 0; w < MAX_WORKERS; w++) atomic_store(&in_flight[w], 0);
        fflush(NULL);
        pid_t parent = getpid();
        pid_t child = fork();
        if (child < 0) {
            status = run(context, NULL, attempt);
            break;
        }
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(2);
            exit(run(context, in_flight, attempt));
        }
        int how = wait_for(child);
        if (WIFEXITED(how)) {
            status = WEXITSTATUS(how);
            break;
        }
        fprintf(stderr, "%s: the run crashed (%s); going on from the journal\n", program,
                strsignal(WTERMSIG(how)));
        note_suspects(&job, in_flight, suspects, &suspect_count);
    }
    munmap((void *)in_flight, MAX_WORKERS * sizeof *in_flight);
    if (status >= 0) return status;
    fprintf(stderr, "%s: %d crashes: giving up\n", program, MAX_RESTARTS + 1);
    return 2;
}
