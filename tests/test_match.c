// SPDX-License-Identifier: GPL-3.0-or-later
// hone-match as people run it: the same plan gives the same games whatever the concurrency, the kind of
// player, a kill -9 or a crash inside; what is wrong is told in one line before game 1.
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/position.h"
#include "engine/util.h"
#include "tests/positions.h"
#include "unity.h"

static char Folder[] = "/tmp/hone-test-match-XXXXXX";

void setUp(void) {}
void tearDown(void) {}

static const char *top(void) { return getenv("HONE_BIN") ? getenv("HONE_BIN") : "."; }

// Runs a shell command in the test's folder with $M as the program; returns its exit status.
static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...) {
    char command[4000];
    va_list args;
    int used = snprintf(
        command, sizeof command,
        "cd %s; H=$(realpath %s/hone); M=$(realpath %s/hone-match); O=$(realpath %s/openings/balanced.epd); ",
        Folder, top(), top(), top());
    va_start(args, format);
    vsnprintf(command + used, sizeof command - (size_t)used, format, args);
    va_end(args);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// The output of a shell command, trimmed, in a buffer of the caller.
static const char *output(char *buffer, size_t size, const char *command) {
    char path[64];
    snprintf(path, sizeof path, "%s/out", Folder);
    shell("(%s) > out 2>&1", command);
    FILE *file = fopen(path, "r");
    TEST_ASSERT_NOT_NULL(file);
    size_t got = fread(buffer, 1, size - 1, file);
    fclose(file);
    while (got > 0 && buffer[got - 1] == '\n') got--;
    buffer[got] = '\0';
    return buffer;
}

#define PLAN(nodes, rounds)                                                                                  \
    "-each nodes=" nodes " -rounds " rounds                                                                  \
    " -openings file=$O order=random -srand 7 -ratinginterval 0 -quiet"
#define BUILTIN "-engine cmd=builtin name=A -engine cmd=builtin name=B option.LmrBase=1300 "
#define UCI     "-engine cmd=$H name=A option.Hash=1 -engine cmd=$H name=B option.Hash=1 option.LmrBase=1300 "

static void test_same_games_at_any_concurrency_and_as_uci(void) {
    for (int c = 1; c <= 4; c *= 2)
        TEST_ASSERT_EQUAL_INT(
            0,
            shell("$M " BUILTIN PLAN("300", "12") " -concurrency %d -journal c%d.journal > /dev/null", c, c));
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " UCI PLAN("300", "12") " -concurrency 2 -journal u.journal > /dev/null"));
    for (int c = 1; c <= 4; c *= 2) shell("$M digest c%d.journal > c%d.digest", c, c);
    shell("$M digest u.journal > u.digest");
    TEST_ASSERT_EQUAL_INT(0, shell("test $(wc -l < c1.digest) = 25 && cmp c1.digest c2.digest && cmp "
                                   "c1.digest c4.digest && cmp c1.digest u.digest"));
}

static void test_equal_engines_mirror_each_other(void) {
    char text[4000];
    TEST_ASSERT_EQUAL_INT(0, shell("$M -engine cmd=builtin -engine cmd=builtin " PLAN(
                                 "300", "25") " -concurrency 2 -journal e.journal > e.out"));
    TEST_ASSERT_EQUAL_INT(
        0, shell("grep -q 'Ptnml(0-2): \\[0, 0, 25, 0, 0\\]' e.out && grep -q '(50.00 %%)' e.out"));
    // Results without any spread: figures that a script can read, and null where JSON has none.
    TEST_ASSERT_EQUAL_INT(0, shell("! grep -qi nan e.out && grep -q 'Elo: 0.00 +/- 0.00, nElo: 0.00 +/- ' e.out"));
    TEST_ASSERT_EQUAL_INT(0, shell("$M -engine cmd=builtin -engine cmd=builtin " PLAN("100", "3") " -journal ej.journal "
                                   "-output format=json > ej.out && ! grep -qi nan ej.out && grep -q "
                                   "'\"nelo\":null' ej.out"));
    // Both games of a pair have the same digest.
    output(text, sizeof text, "$M digest e.journal | grep ^pair | awk '{print $2, $NF}' | sort -u | wc -l");
    TEST_ASSERT_EQUAL_STRING("25", text);
}

// PGN without what depends on the clock.
#define PLAIN_PGN(file)                                                                                      \
    "grep -vE '^.(Date|GameDuration|GameStartTime|GameEndTime) ' " file                                      \
    " | tr '\\n' ' ' | sed -E 's/ [0-9.]+s([,}])/\\1/g'"

static void test_kill_and_resume(void) {
    const char *pairs = test_long() ? "200" : "40";
    int kills = test_long() ? 50 : 6;
    char plan[600];
    snprintf(plan, sizeof plan,
             BUILTIN "-each nodes=%d -rounds %s -openings file=$O order=random -srand 9 -ratinginterval 0 "
                     "-quiet -concurrency 2",
             test_long() ? 2000 : 400, pairs);
    TEST_ASSERT_EQUAL_INT(0, shell("$M %s -journal whole.journal -pgnout file=whole.pgn > /dev/null", plan));
    for (int i = 0; i < kills; i++) {
        double wait = 0.02 + random_unit(random_at(3, 4, (uint64_t)i)) * (test_long() ? 0.6 : 0.2);
        // The journal's whole lines before the kill must all be there after it.
        shell("cp killed.journal before 2> /dev/null; setsid $M %s -journal killed.journal -pgnout "
              "file=killed.pgn > /dev/null 2>&1 & p=$!; sleep %.3f; kill -9 -$p $p 2> /dev/null; wait $p 2> "
              "/dev/null; true",
              plan, wait);
        if (shell("test -s before") == 0)
            TEST_ASSERT_EQUAL_INT(
                0, shell("head -n -1 before > kept; head -c $(wc -c < kept) killed.journal | cmp - kept"));
        if (shell("$M digest killed.journal 2> /dev/null | tail -1 | grep -q '^%s pairs'", pairs) == 0) break;
    }
    if (shell("$M digest killed.journal | tail -1 | grep -q '^%s pairs'", pairs) != 0)
        TEST_ASSERT_EQUAL_INT(
            0, shell("$M %s -journal killed.journal -pgnout file=killed.pgn > /dev/null", plan));
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M digest whole.journal > w.digest; $M digest killed.journal | cmp - w.digest"));
    TEST_ASSERT_EQUAL_INT(0, shell(PLAIN_PGN("whole.pgn") " > w.txt; " PLAIN_PGN(
                                 "killed.pgn") " > k.txt; test -s w.txt && cmp w.txt k.txt"));
}

static void test_interrupt_and_continue(void) {
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " BUILTIN PLAN("400", "40") " -concurrency 2 -journal iw.journal > /dev/null"));
    int status = shell("$M " BUILTIN PLAN(
        "400", "40") " -concurrency 2 -journal i.journal > i.out & p=$!; sleep 0.15; kill -TERM $p; wait $p");
    if (status != 0) { // it may have been quicker than the signal
        TEST_ASSERT_EQUAL_INT(1, status);
        TEST_ASSERT_EQUAL_INT(0, shell("grep -q 'Run the same command again to continue' i.out"));
        TEST_ASSERT_EQUAL_INT(
            0, shell("$M " BUILTIN PLAN("400", "40") " -concurrency 1 -journal i.journal > /dev/null"));
    }
    TEST_ASSERT_EQUAL_INT(0,
                          shell("$M digest iw.journal > iw.digest; $M digest i.journal | cmp - iw.digest"));
}

// A builtin engine that crashes on one position: the night goes on, the pair is set aside and reported.
static void test_a_crash_inside_costs_one_pair(void) {
    Position pos;
    position_from_fen(&pos, "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3", NULL);
    shell("printf 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 "
          "1\\nr1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\\n"
          "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2\\n' > three.epd");
    TEST_ASSERT_EQUAL_INT(
        0, shell("ulimit -c 0; $M " BUILTIN "-each nodes=200 -rounds 3 -openings file=three.epd -journal "
                                            "x.journal -crashkey %016llx > x.out 2> x.err",
                 (unsigned long long)pos.key));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -q 'Pairs set aside after crashes: 1' x.out && grep -q 'pair 2 was "
                                   "in flight in two crashes: set aside' x.err"));
    TEST_ASSERT_EQUAL_INT(0, shell("$M digest x.journal | grep -q 'pair 2 set aside' && test $($M digest "
                                   "x.journal | grep -c game) = 4"));
}

static void refused(const char *arguments, const char *expected) {
    char text[2000], command[1200];
    snprintf(command, sizeof command, "$M %s; echo status $?", arguments);
    output(text, sizeof text, command);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, expected), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "status 2"), text);
}

static void test_what_is_wrong_is_refused(void) {
    refused("-engine cmd=builtin -engine cmd=builtin -each nodes=x", "nodes: 'x' is not a whole number");
    refused("-engine cmd=builtin -engine cmd=builtin", "has no limit");
    refused("-engine cmd=builtin -each nodes=10", "two engines are needed");
    refused("-engine cmd=builtin option.NoSuch=1 -engine cmd=builtin -each nodes=10 -journal r1.journal",
            "NoSuch");
    refused("-engine cmd=builtin option.LmrBase=99999 -engine cmd=builtin -each nodes=10 -journal r2.journal",
            "LmrBase");
    refused("-engine cmd=./nothere -engine cmd=builtin -each nodes=10 -journal r3.journal", "nothere");
    refused("-engine cmd=builtin -engine cmd=builtin -each nodes=10 -nosuch", "there is no option '-nosuch'");
    refused("-engine cmd=builtin -engine cmd=builtin -each nodes=10 -sprt elo0=5 elo1=0", "-sprt");
    refused("-engine cmd=builtin -engine cmd=builtin -each nodes=10 -openings file=nothere.epd -journal "
            "r4.journal",
            "nothere.epd");
    refused(BUILTIN "-each nodes=10 -sprt elo0=0 elo1=5 -games 1", "-sprt: the test counts pairs, -games 2");
    refused(BUILTIN "-each nodes=10 -openings order=random", "-openings: file= is missing");
    refused(BUILTIN "-each nodes=10 -pgnout", "-pgnout: file= is missing");
    refused(BUILTIN "-each nodes=10 -epdout append=false", "-epdout: file= is missing");
    refused(BUILTIN "-each nodes=10 -epdout file=x append=perhaps", "neither true nor false");
    refused(BUILTIN "-each nodes=10 -use-affinity 1-0", "a list of CPUs");
    refused(BUILTIN "-each nodes=10 -use-affinity 99999", "a list of CPUs");
    shell("$M " BUILTIN PLAN("50", "2") " -journal d.journal > /dev/null; $M " BUILTIN PLAN(
        "50", "20000") " -journal d2.journal > /dev/null & while ! test -s d2.journal; do sleep 0.02; done; "
                       "kill -TERM $!; wait $!; true");
    refused(BUILTIN PLAN("60", "20000") " -journal d2.journal", "nodes");
}

static void test_a_damaged_journal_is_refused_and_a_torn_one_is_mended(void) {
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " BUILTIN PLAN("50",
                                    "8") " -journal t.journal > /dev/null; $M digest t.journal > t.digest"));
    // Cut the last line in half: the pair is played again.
    shell("head -c -40 t.journal > torn.journal");
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " BUILTIN PLAN(
               "50", "8") " -journal torn.journal > /dev/null; $M digest torn.journal | cmp - t.digest"));
    // One digit changed in the middle: refused, with the line.
    shell("sed '4s/plies\":[0-9]/plies\":9/' t.journal | sed '4s/plies\":9/plies\":77/' > bad.journal");
    refused("digest bad.journal", "line 4: damaged");
}

// Files of games are added to, final positions alone as well; what others have added since is never cut off, nor is a
// file that takes the place of the one before.
static void test_files_of_games_lose_nothing(void) {
    const char *match = "$M " BUILTIN PLAN("50", "%d") " -journal o%d.journal %s > /dev/null";
    shell("echo mine > o.epd; echo theirs > o.pgn");
    shell(match, 2, 1, "-epdout file=o.epd");
    TEST_ASSERT_EQUAL_INT(0, shell("test $(wc -l < o.epd) = 5 && grep -qx mine o.epd"));
    shell(match, 3, 2, "-pgnout file=o.pgn");
    // The same command again begins anew: what it finds it leaves.
    shell("echo later >> o.pgn");
    shell(match, 3, 2, "-pgnout file=o.pgn");
    TEST_ASSERT_EQUAL_INT(0, shell("head -1 o.pgn | grep -qx theirs && grep -qx later o.pgn && test $(grep -c Event "
                                   "o.pgn) = 12"));
    // Interrupted, then the file is another one, and longer: its own text stays, and all games follow it.
    shell("head -3 o2.journal > o4.journal; yes longer | head -5000 > o4.pgn");
    shell(match, 3, 4, "-pgnout file=o4.pgn");
    TEST_ASSERT_EQUAL_INT(0, shell("test $(grep -cx longer o4.pgn) = 5000 && test $(grep -c Event o4.pgn) = 6"));
    // Or it is gone.
    shell("head -3 o2.journal > o2b; mv o2b o2.journal; rm o.pgn");
    shell(match, 3, 2, "-pgnout file=o.pgn");
    TEST_ASSERT_EQUAL_INT(0, shell("head -c 6 o.pgn | grep -q Event && test $(grep -c Event o.pgn) = 6"));
    // Torn in the middle of a game: that game is written again.
    shell("cp o2.journal o5.journal; head -3 o5.journal > o2.journal; cp o.pgn whole.pgn; head -c 1500 whole.pgn > o.pgn");
    shell(match, 3, 2, "-pgnout file=o.pgn");
    TEST_ASSERT_EQUAL_INT(0, shell(PLAIN_PGN("whole.pgn") " > o.a; " PLAIN_PGN("o.pgn") " | cmp - o.a"));
}

// On a terminal the line of progress never wraps, and wrapping is on again behind it.
static void test_the_live_line_does_not_wrap(void) {
    TEST_ASSERT_EQUAL_INT(0, shell("if command -v script > /dev/null; then script -qc \"$M " BUILTIN PLAN("300", "2000") 
                                   " -journal live.journal\" live.log > /dev/null & p=$!; sleep 1.5; pkill -TERM -P $p; "
                                   "wait $p; else printf '\\033[?7lpairs, \\033[?7h' > live.log; fi; true"));
    TEST_ASSERT_EQUAL_INT(0, shell("tr '\\r' '\\n' < live.log | grep 'pairs, ' | grep -v '^.\\[K.\\[?7l.*\\[?7h' && "
                                   "exit 1; grep -q 'pairs, ' live.log"));
}

// What a script sends to the process alone stops it as Ctrl-C does.
static void test_sigint_by_kill_stops(void) {
    int status = shell("$M " BUILTIN PLAN("5000", "4000") " -journal sig.journal > sig.out & p=$!; while ! test -s "
                       "sig.journal; do sleep 0.05; done; sleep 0.3; kill -INT $p; wait $p");
    TEST_ASSERT_EQUAL_INT(1, status);
    TEST_ASSERT_EQUAL_INT(0, shell("grep -q 'Run the same command again to continue' sig.out"));
}

// An engine that changed behind the journal's back: replay names the first move where the games part, if the journal
// has moves; the same engine plays the same.
static void test_replay_names_the_first_difference(void) {
    shell("ln -sf $H changing; for k in with without; do $M -engine cmd=./changing name=A option.Hash=1 -engine cmd=builtin "
          "name=B -each nodes=300 -rounds 1 -openings file=$O order=random -srand 7 -journal $k.journal $(test $k = with && "
          "echo -pgnout file=with.pgn) > /dev/null; done");
    TEST_ASSERT_EQUAL_INT(0, shell("$M replay with.journal | grep -qx '2 games played again, 0 differ'"));
    shell("printf '#!/bin/sh\\n(echo setoption name LmrBase value 100; cat) | %%s\\n' $H > other; chmod +x other; mv other changing");
    TEST_ASSERT_EQUAL_INT(2, shell("$M replay with.journal > r.out 2> r.err"));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE '^  first at move [0-9]+ of the engines: journal [a-h][1-8][a-h][1-8].?, score "
                                   "-?[0-9]+, depth [0-9]+, [0-9]+ nodes; now [a-h][1-8]' r.out && grep -q '2 games differ' r.err"));
    shell("$M replay without.journal > r.out 2> r.err");
    TEST_ASSERT_EQUAL_INT(0, shell("grep -q 'the journal has no moves' r.out"));
}

static void test_lines_that_scripts_read(void) {
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " BUILTIN "-each nodes=100 -rounds 10 -openings file=$O order=random -srand 7 -journal "
                               "l.journal -sprt elo0=0 elo1=500 batch=64 > l.out"));
    // fishtest and OpenBench
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE '^Games: [0-9]+, Wins: [0-9]+, Losses: [0-9]+, Draws: [0-9]+, "
                                   "Points: [0-9.]+ \\([0-9.]+ %%\\)$' l.out"));
    TEST_ASSERT_EQUAL_INT(
        0, shell("grep -qE '^Ptnml\\(0-2\\): \\[[0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+\\]' l.out"));
    TEST_ASSERT_EQUAL_INT(0, shell("test $(grep -cE '^Finished game [0-9]+ \\([^ ]+ vs [^ ]+\\): "
                                   "(1-0|0-1|1/2-1/2) \\{.+\\}$' l.out) = 20"));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE '^LLR: -?[0-9.]+ \\(-?[0-9.]+%%\\) \\(-2.94, 2.94\\) \\[0.00, "
                                   "500.00\\]' l.out && grep -qx 'Finished match' l.out"));
    // cutechess: weather-factory and chess-tuning-tools; W - L - D and two blanks before the bracket
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " BUILTIN "-each nodes=100 -rounds 5 -openings file=$O order=random -srand 7 -journal "
                               "k.journal -output format=cutechess > k.out"));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE '^Score of A vs B: [0-9]+ - [0-9]+ - [0-9]+  \\[[0-9.]+\\] 10$' "
                                   "k.out && grep -qE '^Elo difference: ' k.out"));
}

// Several -each count as one; of what they say twice the last counts, and an engine's own word stands.
static void test_each_may_be_repeated(void) {
    TEST_ASSERT_EQUAL_INT(
        0, shell("$M " BUILTIN "-each nodes=70 option.Hash=2 -each option.Hash=1 option.LmrBase=1100 -rounds 1 "
                 "-each nodes=60 -journal m2.journal > /dev/null"));
    TEST_ASSERT_EQUAL_INT(0, shell("$M " BUILTIN "-each nodes=60 option.Hash=1 option.LmrBase=1100 -rounds 1 "
                                   "-journal m1.journal > /dev/null"));
    TEST_ASSERT_EQUAL_INT(0, shell("head -1 m1.journal > m1; head -1 m2.journal | cmp - m1 && grep -q 1300 m1 && "
                                   "grep -q 1100 m1"));
    TEST_ASSERT_EQUAL_INT(0, shell("$M digest m1.journal > m1.digest; $M digest m2.journal | cmp - m1.digest"));
}

// The runner's own latency: median, 99 % and the histogram, which has every move but the first of a game.
static void test_latency_is_told(void) {
    TEST_ASSERT_EQUAL_INT(0, shell("$M " UCI PLAN("100", "3") " -journal lat.journal > lat.out"));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE \"^Runner's own latency: median at most [0-9.]+ ms, 99 %% at most "
                                   "[0-9.]+ ms over [0-9]+ moves$\" lat.out"));
    TEST_ASSERT_EQUAL_INT(
        0, shell("plies=$(tail -n +2 lat.journal | grep -oE '\"plies\":[0-9]+' | cut -d: -f2 | awk '{n += $1 - 1} END {print n}'); "
                 "told=$(sed -nE 's/.* over ([0-9]+) moves$/\\1/p' lat.out); "
                 "sum=$(grep 'moves by latency' lat.out | grep -oE '<=[0-9.]+ [0-9]+' | awk '{n += $2} END {print n}'); "
                 "test \"$plies\" = \"$told\" && test \"$sum\" = \"$told\""));
}

// The runner itself is stopped for longer than a clock has: whoever was to move loses on time, and it is told that
// the machine was to blame; also after the journal was read again.
static void test_a_time_loss_in_a_stall_is_told(void) {
    int status = 1;
    for (int attempt = 0; attempt < 5 && status != 0; attempt++) { // the stop may fall between two games
        status = shell("rm -rf s.journal incidents; $M -engine cmd=$H name=A -engine cmd=$H name=B -each tc=0.8+0.01 "
                       "option.Hash=1 -rounds 1 -maxmoves 60 -journal s.journal -quiet > s.out & p=$!; "
                       "while ! test -s s.journal; do sleep 0.05; done; sleep 0.5; kill -STOP $p; sleep 1.5; "
                       "kill -CONT $p; wait $p && grep -qE '^Time losses: [0-9]+, of which [1-9][0-9]* during a stall "
                       "of the machine$' s.out");
    }
    TEST_ASSERT_EQUAL_INT(0, status);
    TEST_ASSERT_EQUAL_INT(
        0, shell("grep -qE '^  pair 1, game [12] at 20[0-9-]+ [0-9:]+ UTC, [AB]: (White|Black) loses on time "
                 "\\([0-9]+ms overrun\\), the machine stalled [0-9]{4} ms$' s.out"));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE '^Stalls of the machine: [0-9]+ of 5 ms or more, the longest lasted "
                                   "[0-9]{4} ms$' s.out"));
    TEST_ASSERT_EQUAL_INT(
        0, shell("grep -qrE '^machine stalled [0-9]{4} ms during the move$' incidents/s.journal"));
    TEST_ASSERT_EQUAL_INT(0, shell("grep -qE '\"stall_ms\":[0-9]{4}' s.journal"));
}

int main(void) {
    bitboard_init();
    if (!mkdtemp(Folder)) return 1;
    UNITY_BEGIN();
    RUN_TEST(test_same_games_at_any_concurrency_and_as_uci);
    RUN_TEST(test_equal_engines_mirror_each_other);
    RUN_TEST(test_kill_and_resume);
    RUN_TEST(test_interrupt_and_continue);
    RUN_TEST(test_a_crash_inside_costs_one_pair);
    RUN_TEST(test_what_is_wrong_is_refused);
    RUN_TEST(test_a_damaged_journal_is_refused_and_a_torn_one_is_mended);
    RUN_TEST(test_files_of_games_lose_nothing);
    RUN_TEST(test_the_live_line_does_not_wrap);
    RUN_TEST(test_sigint_by_kill_stops);
    RUN_TEST(test_replay_names_the_first_difference);
    RUN_TEST(test_lines_that_scripts_read);
    RUN_TEST(test_each_may_be_repeated);
    RUN_TEST(test_latency_is_told);
    RUN_TEST(test_a_time_loss_in_a_stall_is_told);
    int failures = UNITY_END();
    if (failures == 0) shell("cd /; rm -rf %s", Folder);
    return failures;
}
