// SPDX-License-Identifier: GPL-3.0-or-later
// Games for training: the same file at any concurrency and after any kill; games that follow the rules and
// the plan; two bytes a ply; scores that agree with results.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/bitboard.h"
#include "tuner/datagen.h"
#include "tuner/datastats.h"
#include "unity.h"

static char Folder[64];

void setUp(void) {
    bitboard_init();
    strcpy(Folder, "/tmp/hone_datagen_XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(Folder));
}

void tearDown(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", Folder);
    TEST_ASSERT_EQUAL_INT(0, system(command));
}

static const char *in_folder(char *buffer, const char *name) {
    sprintf(buffer, "%s/%s", Folder, name);
    return buffer;
}

static DatagenPlan make_plan(const char *path, uint64_t games, int concurrency) {
    DatagenPlan plan = DATAGEN_DEFAULTS;
    plan.nodes = 40;
    plan.dfrc = 20;
    plan.games = games;
    plan.concurrency = concurrency;
    plan.out = path;
    plan.quiet = true;
    return plan;
}

static DatagenReport run(const DatagenPlan *plan) {
    Stop stop = {0};
    DatagenReport report;
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(datagen_run(plan, &stop, &report, &error), error.text);
    return report;
}

static void expect_same_files(const char *a, const char *b) {
    size_t a_size, b_size;
    Error error;
    char *a_bytes = file_read(a, &a_size, &error), *b_bytes = file_read(b, &b_size, &error);
    TEST_ASSERT_EQUAL_UINT64(a_size, b_size);
    TEST_ASSERT_EQUAL_INT(0, memcmp(a_bytes, b_bytes, a_size));
    free(a_bytes);
    free(b_bytes);
}

static void test_judge(void) {
    const struct {
        int from, scores[12], count, verdict;
    } cases[] = {
        {10, {2000, 2000, 3000, 2000}, 4, 2},
        {10, {2000, 2000, 3000, 1998}, 4, -1},
        {10, {-2000, -9000, -3000, -2002}, 4, 0},
        {10, {2000, 2000, -2000, -2000, -2000, 2000}, 6, -1},
        {80, {0, 8, -8, 0, 0, 0, 0, 2, 4, -6}, 10, 1},
        {79, {0, 8, -8, 0, 0, 0, 0, 2, 4, -6}, 10, -1},
        {80, {0, 8, -10, 0, 0, 0, 0, 2, 4, -6}, 10, -1},
        {79, {0, 8, -8, 0, 0, 0, 0, 2, 4, -6, 0}, 11, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DatagenJudge judge = {0};
        int verdict = -1;
        for (int j = 0; j < cases[i].count; j++) {
            TEST_ASSERT_EQUAL_INT(-1, verdict);
            verdict = datagen_judge(&judge, cases[i].from + j, cases[i].scores[j]);
        }
        TEST_ASSERT_EQUAL_INT(cases[i].verdict, verdict);
    }
}

// Plays a game through by the rules: it ends where they say, or where a verdict fell, with that result.
static void expect_sound(const DataGame *game, int random_plies) {
    Position pos = game->start, after;
    KeyStack keys;
    DatagenJudge judge = {0};
    int verdict = -1;
    keystack_clear(&keys);
    TEST_ASSERT_EQUAL_INT(random_plies, game->random_plies);
    for (int ply = 0; ply < game->ply_count; ply++, pos = after) {
        TEST_ASSERT_EQUAL_INT(ENDING_NONE, position_ending(&pos, &keys));
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, game->moves[ply]));
        if (ply == random_plies) TEST_ASSERT_LESS_OR_EQUAL_INT(DATAGEN_REJECT, abs(game->scores[ply]));
        if (ply >= random_plies && verdict < 0) verdict = datagen_judge(&judge, ply, game->scores[ply]);
        keystack_push(&keys, &pos);
        position_make(&after, &pos, game->moves[ply]);
    }
    Ending ending = position_ending(&pos, &keys);
    TEST_ASSERT_EQUAL_INT(ending == ENDING_NONE, game->adjudicated);
    int expected = ending == ENDING_CHECKMATE                                ? (pos.stm == WHITE ? 0 : 2)
                   : ending != ENDING_NONE || game->ply_count == DATAGEN_CAP ? 1
                                                                             : verdict;
    TEST_ASSERT_EQUAL_INT(expected, game->result);
}

static void test_games(void) {
    static DataGame game;
    static DataStats stats;
    char path[100];
    Error error = {""};
    DatagenPlan plan = make_plan(in_folder(path, "games"), 64, 2);
    plan.nodes = 120;
    DatagenReport report = run(&plan);
    TEST_ASSERT_EQUAL_UINT64(64, report.all.games);
    GameReader *reader = gamereader_open(path, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error.text);
    TEST_ASSERT_TRUE(datastats_init(&stats, report.all.plies));
    for (int number = 0; gamereader_next(reader, &game, &error); number++) {
        expect_sound(&game, 8 + number % 2);
        datastats_add(&stats, &game);
    }
    TEST_ASSERT_EQUAL_STRING("", error.text);
    TEST_ASSERT_EQUAL_UINT64(64, gamereader_games(reader));
    TEST_ASSERT_EQUAL_UINT64(report.all.plies, stats.plies);
    double bytes = (double)gamereader_bytes(reader) / (double)stats.plies;
    TEST_ASSERT_TRUE_MESSAGE(bytes < 2.3, "more than 2.3 bytes a ply");
    TEST_ASSERT_GREATER_THAN_UINT64(3, stats.chess960);
    TEST_ASSERT_LESS_THAN_UINT64(30, stats.chess960);
    TEST_ASSERT_GREATER_THAN_UINT64(0, stats.audited);
    TEST_ASSERT_LESS_THAN_UINT64(20, stats.audited);
    TEST_ASSERT_GREATER_THAN_UINT64(15, stats.adjudicated);
    TEST_ASSERT_TRUE_MESSAGE(datastats_agreement(&stats) > 0.75, "scores and results do not agree");
    printf("64 games at 120 nodes: %.3f bytes a ply, %.1f plies a game, agreement %.1f %%\n", bytes,
           (double)stats.plies / 64, 100 * datastats_agreement(&stats));
    datastats_free(&stats);
    gamereader_close(reader);
}

static void test_concurrency(void) {
    char one[100], three[100], other[100];
    DatagenPlan plan = make_plan(in_folder(one, "one"), 70, 1);
    run(&plan);
    plan = make_plan(in_folder(three, "three"), 70, 3);
    run(&plan);
    expect_same_files(one, three);
    // Another seed gives other games.
    plan = make_plan(in_folder(other, "other"), 20, 3);
    plan.seed = 2;
    DatagenReport report = run(&plan);
    struct stat a, b;
    TEST_ASSERT_EQUAL_INT(0, stat(one, &a) | stat(other, &b));
    TEST_ASSERT_EQUAL_UINT64(20, report.all.games);
    TEST_ASSERT_NOT_EQUAL(a.st_size, b.st_size);
}

static void test_killed_and_gone_on(void) {
    char whole[100], killed[100];
    DatagenPlan plan = make_plan(in_folder(whole, "whole"), 150, 2);
    run(&plan);
    plan.out = in_folder(killed, "killed");
    int kills = 0;
    for (int try = 0; try < 3; try++) {
        pid_t child = fork();
        TEST_ASSERT_GREATER_OR_EQUAL(0, child);
        if (child == 0) {
            Stop stop = {0};
            DatagenReport report;
            Error error;
            _exit(datagen_run(&plan, &stop, &report, &error) ? 0 : 1);
        }
        usleep(150000 + 70000 * (unsigned)try);
        kill(child, SIGKILL);
        int status;
        TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
        kills += WIFSIGNALED(status) ? 1 : 0;
    }
    TEST_ASSERT_GREATER_THAN(0, kills);
    run(&plan);
    expect_same_files(whole, killed);
}

static void test_goals(void) {
    char path[100], whole[100];
    DatagenPlan plan = make_plan(in_folder(path, "goals"), 0, 2);
    plan.positions = 500;
    DatagenReport report = run(&plan);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(500, report.all.plies - report.all.random_plies);
    TEST_ASSERT_LESS_THAN_UINT64(500 + DATAGEN_CAP, report.all.plies - report.all.random_plies);
    TEST_ASSERT_FALSE(report.stopped);
    uint64_t games = report.all.games;
    report = run(&plan); // reached: nothing more
    TEST_ASSERT_EQUAL_UINT64(games, report.all.games);
    TEST_ASSERT_EQUAL_UINT64(games, report.before.games);
    plan.positions = 0;
    plan.minutes = 0.01;
    report = run(&plan);
    TEST_ASSERT_GREATER_THAN_UINT64(games, report.all.games);
    TEST_ASSERT_FALSE(report.stopped);
    // However a file came to its games, it is the same.
    plan = make_plan(in_folder(whole, "whole"), report.all.games, 1);
    run(&plan);
    expect_same_files(whole, path);
    // A stop that is asked for at once leaves a good file.
    Stop stop = {.level = 1};
    Error error = {""};
    plan = make_plan(in_folder(path, "stopped"), 50, 2);
    TEST_ASSERT_TRUE(datagen_run(&plan, &stop, &report, &error));
    TEST_ASSERT_TRUE(report.stopped);
    TEST_ASSERT_EQUAL_UINT64(0, report.all.games);
}

static void expect_refused(const DatagenPlan *plan, const char *why) {
    Stop stop = {0};
    DatagenReport report;
    Error error = {""};
    TEST_ASSERT_FALSE(datagen_run(plan, &stop, &report, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, why), error.text);
}

static void test_refused(void) {
    char path[100], folder[100];
    DatagenPlan plan = make_plan(in_folder(path, "file"), 3, 1);
    run(&plan);
    plan.nodes = 41;
    expect_refused(&plan, "'nodes 40'");
    plan = make_plan(path, 3, 1);
    plan.seed = 9;
    expect_refused(&plan, "'seed 9'");
    plan = make_plan(path, 3, 1);
    plan.option_count = 1;
    strcpy(plan.options[0].name, "NullMove");
    strcpy(plan.options[0].value, "false");
    expect_refused(&plan, "'option NullMove=false'");
    strcpy(plan.options[0].name, "NoSuchOption");
    expect_refused(&plan, "NoSuchOption");
    plan = make_plan(in_folder(folder, "no/such/folder"), 3, 1);
    expect_refused(&plan, folder);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_judge);
    RUN_TEST(test_games);
    RUN_TEST(test_concurrency);
    RUN_TEST(test_killed_and_gone_on);
    RUN_TEST(test_goals);
    RUN_TEST(test_refused);
    return UNITY_END();
}
