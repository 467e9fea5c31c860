// SPDX-License-Identifier: GPL-3.0-or-later
// hone-match against engines that misbehave (tests/engine_bad.c): each game must end as the table of failures
// wants it, what is an incident must leave its folder, the match must go on, and no process may be left. All
// matches run at once.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/util.h"
#include "unity.h"

#define LONG_GAME  "tc=100+1" // nobody loses on time
#define SHORT_GAME "tc=1.5"   // who hangs does; who answers has time enough on a busy machine

// A match of Bad (White first) against Good, of two games.
typedef struct Case {
    const char *mode, *limit, *more;
    int status;         // exit status of hone-match
    const char *first;  // must be in its output: the end of game 1,
    const char *second; // of game 2, or another line
    const char *kind;   // of the incidents; NULL for none
    FILE *output;
} Case;

#define DRAW     "{Draw by adjudication"
#define G1(text) "Finished game 1 (Bad vs Good): 0-1 {White" text
#define G2(text) "Finished game 2 (Good vs Bad): 1-0 {Black" text
#define G1_DRAW  "Finished game 1 (Bad vs Good): 1/2-1/2 " DRAW
#define G2_DRAW  "Finished game 2 (Good vs Bad): 1/2-1/2 " DRAW

static Case Cases[] = {
    {"crash-at-start", LONG_GAME, "", 2, "engine 'Bad': ended (signal 6 (Aborted)", "before uciok", NULL,
     NULL},
    {"no-uciok", LONG_GAME, "-startup-ms 500", 2, "engine 'Bad': no uciok by the deadline", "", NULL, NULL},
    {"crash-on-go", LONG_GAME, "", 0, G1(" disconnects}"), G2(" disconnects}"), "crash", NULL},
    {"crash-after-n 3", LONG_GAME, "", 0, G1(" disconnects}"), G2(" disconnects}"), "crash", NULL},
    {"hang", SHORT_GAME, "", 0, G1(" loses on time ("), G2(" loses on time ("), "time", NULL},
    {"hang", "nodes=10", "-watchdog-ms 500", 0, G1("'s connection stalls}"), G2("'s connection stalls}"),
     "stall", NULL},
    {"hang-ignore-stop", SHORT_GAME, "", 0, G1(" loses on time ("), G2(" loses on time ("), "time", NULL},
    {"hang-ignore-stop", "depth=3", "-watchdog-ms 500", 0, G1("'s connection stalls}"),
     G2("'s connection stalls}"), "stall", NULL},
    {"flood-info", "nodes=10", "", 0, G1("'s connection stalls: protocol"),
     G2("'s connection stalls: protocol"), "protocol", NULL},
    {"long-line", LONG_GAME, "", 0, G1("'s connection stalls: protocol"),
     G2("'s connection stalls: protocol"), "protocol", NULL},
    {"no-newline", SHORT_GAME, "", 0, G1(" loses on time ("), G2(" loses on time ("), "time", NULL},
    {"binary-noise", LONG_GAME, "", 0, G1_DRAW, G2_DRAW, NULL, NULL},
    {"crlf", LONG_GAME, "", 0, G1_DRAW, G2_DRAW, NULL, NULL},
    {"illegal", LONG_GAME, "", 0, G1(" makes an illegal move: e2e6}"), G2(" makes an illegal move: e2e6}"),
     "illegal", NULL},
    {"none", LONG_GAME, "", 0, G1(" makes an illegal move: (none)}"), G2(" makes an illegal move: (none)}"),
     "illegal", NULL},
    {"early-bestmove", LONG_GAME, "", 0, G1_DRAW, "Bad: ", NULL, NULL},
    {"double-bestmove", LONG_GAME, "", 0, G1_DRAW, "lines came before go and were dropped", NULL, NULL},
    {"slow-isready 600", LONG_GAME, "", 0, G1_DRAW, G2_DRAW, NULL, NULL},
    {"slow-isready 600", LONG_GAME, "-ping-ms 200", 2, "engine 'Bad': no readyok by the deadline", "", NULL,
     NULL},
    {"stderr-flood", LONG_GAME, "", 0, G1_DRAW, G2_DRAW, NULL, NULL},
    {"fork-grandchild", LONG_GAME, "", 0, G1(" disconnects}"), G2(" disconnects}"), "crash", NULL},
    {"ignore-quit", LONG_GAME, "-quit-ms 300", 0, G1_DRAW, G2_DRAW, NULL, NULL},
    {"closes-stdout", LONG_GAME, "", 0, G1(" disconnects}"), G2(" disconnects}"), "crash", NULL},
    {"exits-after-bestmove", LONG_GAME, "", 0, G1(" disconnects}"), G2(" disconnects}"), "crash", NULL},
    {"wrong-range-option", LONG_GAME " option.Hash=16", "", 2,
     "engine 'Bad': option Hash: 16 is outside 1 to 4", "", NULL, NULL},
    {"good", LONG_GAME " option.Hush=16", "", 2, "engine 'Bad': there is no option 'Hush'", "", NULL, NULL},
    {"good", LONG_GAME, "-rounds 4 -concurrency 2", 0, G1_DRAW, "Finished match", NULL, NULL},
    {"illegal", LONG_GAME, "-rounds 20 -incidents 5", 2, G1(" makes an illegal move: e2e6}"),
     "stopped: 6 engine failures (limit 5)", "illegal", NULL},
};

enum { CASES = sizeof Cases / sizeof *Cases };

static char Bad[512], Match[512], Folder[64], Tag[48];

void setUp(void) {}
void tearDown(void) {}

static void start(Case *c, int number) {
    char command[4096];
    snprintf(command, sizeof command,
             "mkdir %s/%d && cd %s/%d && exec 2>&1; "
             "'%s' -engine cmd='%s' name=Bad args='%s %s%s' -engine cmd='%s' name=Good args='good 0 %s' "
             "-each %s -rounds 1 -maxmoves 4 -journal j %s </dev/null; echo \"exit status $?\"",
             Folder, number, Folder, number, Match, Bad, c->mode, strchr(c->mode, ' ') ? "" : "0 ", Tag, Bad,
             Tag, c->limit, c->more);
    c->output = popen(command, "r");
    TEST_ASSERT_NOT_NULL(c->output);
}

// How many folders of incidents of a kind a match has left, or of all kinds.
static int incidents_of(int number, const char *kind) {
    char path[128];
    int count = 0;
    snprintf(path, sizeof path, "%s/%d/incidents/j", Folder, number);
    DIR *dir = opendir(path);
    if (!dir) return 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.' && (!kind || strstr(entry->d_name, kind));
    closedir(dir);
    return count;
}

static void finish(Case *c, int number) {
    static char text[1 << 16], message[1 << 17], status[32];
    size_t size = fread(text, 1, sizeof text - 1, c->output);
    text[size] = '\0';
    pclose(c->output);
    snprintf(message, sizeof message, "%s (%s): %s", c->mode, c->limit, text);
    snprintf(status, sizeof status, "exit status %d\n", c->status);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, status), message);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, c->first), message);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, c->second), message);
    int wanted = !c->kind ? 0 : c->status == 0 ? 2 : 6;
    TEST_ASSERT_TRUE_MESSAGE(incidents_of(number, c->kind) >= wanted, message);
    TEST_ASSERT_EQUAL_INT_MESSAGE(incidents_of(number, c->kind), incidents_of(number, NULL), message);
}

static void every_failure_ends_as_it_should(void) {
    for (int i = 0; i < CASES; i++) start(&Cases[i], i);
    for (int i = 0; i < CASES; i++) finish(&Cases[i], i);
}

// Counts processes that have our tag among their arguments.
static int processes_left(void) {
    int count = 0;
    DIR *dir = opendir("/proc");
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[300], arguments[4096];
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        size_t size = fread(arguments, 1, sizeof arguments, file);
        fclose(file);
        count += memmem(arguments, size, Tag, strlen(Tag)) != NULL;
    }
    if (dir) closedir(dir);
    return count;
}

static void no_process_is_left(void) {
    for (int i = 0; i < 2000 && processes_left() > 0; i++) usleep(10000);
    TEST_ASSERT_EQUAL_INT(0, processes_left());
}

// What an incident's report must hold to be of use.
static void a_report_tells_what_happened(void) {
    char path[128];
    Error error;
    size_t size;
    snprintf(path, sizeof path, "%s/2/incidents/j/1-1-crash/report.txt", Folder);
    char *text = file_read(path, &size, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, error.text);
    static const char *const parts[] = {"signal 11 (Segmentation fault)", "bad engine: now it crashes\n",
                                        " > position startpos\n", " > go wtime 101000 ",
                                        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, parts[i]), parts[i]);
    free(text);
}

// Another run with the same journal's name keeps what is there and counts on.
static void numbers_of_incidents_go_on(void) {
    char command[2048], path[128];
    int number = 0;
    while (number < CASES && strcmp(Cases[number].mode, "illegal") != 0) number++;
    int before = incidents_of(number, NULL);
    TEST_ASSERT_GREATER_THAN_INT(1, before);
    snprintf(command, sizeof command,
             "cd %s/%d && '%s' -engine cmd='%s' name=Bad args='illegal 0 %s' -engine cmd='%s' name=Good args='good 0 %s' "
             "-each " LONG_GAME " -rounds 1 -maxmoves 4 -journal j -fresh </dev/null >/dev/null 2>&1",
             Folder, number, Match, Bad, Tag, Bad, Tag);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    TEST_ASSERT_EQUAL_INT(before + 2, incidents_of(number, NULL));
    for (int i = 1; i <= before + 2; i++) {
        snprintf(path, sizeof path, "%s/%d/incidents/j/1-%d-illegal/report.txt", Folder, number, i);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, access(path, R_OK), path);
    }
}

// One signal lets the pairs in flight end; the second ends everything at once, thinking engines too.
static void a_second_signal_ends_it_at_once(void) {
    static const char *const engines[] = {"cmd=builtin", NULL}; // with a supervisor, and without
    for (int i = 0; i < 2; i++) {
        char bad[600], good[600], args[64], journal[100];
        snprintf(bad, sizeof bad, "cmd=%s", Bad);
        snprintf(good, sizeof good, "%s", engines[i] ? engines[i] : bad);
        snprintf(args, sizeof args, "args=hang 0 %s", Tag);
        snprintf(journal, sizeof journal, "%s/signals-%d", Folder, i);
        pid_t runner = fork();
        if (runner == 0) {
            if (!freopen("/dev/null", "w", stdout)) _exit(9);
            execl(Match, Match, "-engine", bad, args, "-engine", good, args, "-each", "tc=1000", "-journal",
                  journal, NULL);
            _exit(9);
        }
        for (int n = 0; n < 1000 && processes_left() < (i == 0 ? 2 : 3); n++) usleep(10000); // engines run
        usleep(500000);
        int status = 0;
        kill(runner, SIGTERM);
        usleep(700000);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, waitpid(runner, &status, WNOHANG), "the game in flight must go on");
        int64_t begin = now_ms();
        kill(runner, SIGTERM);
        TEST_ASSERT_EQUAL_INT(runner, waitpid(runner, &status, 0));
        TEST_ASSERT_TRUE(now_ms() - begin < 10000);
        TEST_ASSERT_TRUE(WIFEXITED(status));
        TEST_ASSERT_EQUAL_INT(1, WEXITSTATUS(status));
        no_process_is_left();
    }
}

int main(int argc, char **argv) {
    (void)argc;
    const char *slash = strrchr(argv[0], '/'), *home = getenv("HONE_BIN");
    char here[256], from[300];
    if (!getcwd(here, sizeof here)) return 1;
    snprintf(from, sizeof from, "%s%s", argv[0][0] == '/' ? "" : here, argv[0][0] == '/' ? "" : "/");
    snprintf(Bad, sizeof Bad, "%s%.*s/engine_bad", from, slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    snprintf(Match, sizeof Match, "%s/hone-match", home ? home : here);
    snprintf(Folder, sizeof Folder, "/tmp/hone-faults-XXXXXX");
    snprintf(Tag, sizeof Tag, "faults-of-%d", (int)getpid());
    if (!mkdtemp(Folder)) return 1;
    UNITY_BEGIN();
    RUN_TEST(every_failure_ends_as_it_should);
    RUN_TEST(no_process_is_left);
    RUN_TEST(a_report_tells_what_happened);
    RUN_TEST(numbers_of_incidents_go_on);
    RUN_TEST(a_second_signal_ends_it_at_once);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", Folder);
    if (system(command) != 0) return 1;
    return UNITY_END();
}
