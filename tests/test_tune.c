// SPDX-License-Identifier: GPL-3.0-or-later
// Tuning runs over real games: the same result at any concurrency and after any kill; and campaign files:
// what is refused, and where.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/bitboard.h"
#include "tuner/campaign.h"
#include "tuner/report.h"
#include "tuner/tune.h"
#include "unity.h"

static char Folder[64];

void setUp(void) {
    strcpy(Folder, "/tmp/hone_tune_XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(Folder));
}

void tearDown(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", Folder);
    TEST_ASSERT_EQUAL_INT(0, system(command));
}

// Twenty iterations of three parameters at 50 nodes.
static void make_plan(TunePlan *plan, const char *name, int concurrency, uint64_t seed, SpsaMode mode) {
    static PlayOptions play;
    SpsaList list;
    Error error = {""};
    char journal[120];
    snprintf(journal, sizeof journal, "%s/%s", Folder, name);
    play_default(&play);
    strcpy(play.nodes, "50");
    play.concurrency = concurrency;
    play.seed = seed;
    TEST_ASSERT_TRUE_MESSAGE(tune_list(NULL, "LmrBase,LmrDiv,RfpMargin", &list, &error), error.text);
    TEST_ASSERT_EQUAL_INT(3, list.count);
    SpsaPlan spsa = spsa_plan(NULL, 0, 40, seed);
    spsa.mode = mode;
    spsa.pairs = 1;
    spsa.lag = 4;
    TEST_ASSERT_TRUE_MESSAGE(tune_plan(plan, &play, &list, &spsa, journal, &error), error.text);
    plan->quiet = true;
}

static TuneResult run(const char *name, int concurrency, uint64_t seed, SpsaMode mode) {
    TunePlan plan;
    TuneResult result;
    Error error = {""};
    make_plan(&plan, name, concurrency, seed, mode);
    TEST_ASSERT_EQUAL_INT_MESSAGE(MATCH_FINISHED, tune_run(&plan, NULL, &result, &error), error.text);
    TEST_ASSERT_EQUAL_INT(20, result.applied);
    TEST_ASSERT_EQUAL_UINT64(20, stats_pairs(&result.match.stats));
    tune_plan_free(&plan);
    return result;
}

static void assert_same(TuneResult *a, TuneResult *b) {
    TEST_ASSERT_EQUAL_HEX64(a->digest, b->digest);
    for (int i = 0; i < a->count; i++) {
        TEST_ASSERT_TRUE(a->estimates[i].last == b->estimates[i].last);
        TEST_ASSERT_TRUE(a->estimates[i].value == b->estimates[i].value);
    }
    tune_result_free(b);
}

static void concurrency_changes_nothing(void) {
    static const SpsaMode Modes[] = {SPSA_AUTO, SPSA_FISHTEST};
    for (int m = 0; m < 2; m++) {
        char name[3][16];
        for (int i = 0; i < 3; i++) snprintf(name[i], sizeof name[i], "m%d-%d", m, i);
        TuneResult one = run(name[0], 1, 9, Modes[m]), two = run(name[1], 2, 9, Modes[m]),
                   four = run(name[2], 4, 9, Modes[m]);
        bool moved = false;
        for (int i = 0; i < one.count; i++) moved |= one.estimates[i].last != one.estimates[0].value;
        TEST_ASSERT_TRUE(moved);
        assert_same(&one, &two);
        assert_same(&one, &four);
        tune_result_free(&one);
    }
}

static void another_seed_is_another_run(void) {
    TuneResult a = run("a", 2, 9, SPSA_AUTO), b = run("b", 2, 10, SPSA_AUTO);
    TEST_ASSERT_TRUE(a.digest != b.digest);
    tune_result_free(&a);
    tune_result_free(&b);
}

// Plays in a child that is killed after so many milliseconds; true if it came to its end before.
static bool play_and_kill(const char *name, unsigned ms) {
    pid_t child = fork();
    TEST_ASSERT_TRUE(child >= 0);
    if (child == 0) {
        TunePlan plan;
        TuneResult result;
        Error error;
        make_plan(&plan, name, 2, 9, SPSA_AUTO);
        _exit(tune_run(&plan, NULL, &result, &error) == MATCH_FINISHED ? 0 : 3);
    }
    usleep(ms * 1000);
    kill(child, SIGKILL);
    int status;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    if (WIFEXITED(status)) TEST_ASSERT_EQUAL_INT(0, WEXITSTATUS(status));
    return WIFEXITED(status);
}

static void kills_change_nothing(void) {
    TuneResult whole = run("whole", 2, 9, SPSA_AUTO);
    int kills = 0;
    for (uint64_t i = 0; i < (getenv("HONE_LONG") ? 60 : 12); i++) {
        if (play_and_kill("killed", 5 + (unsigned)(random_at(3, 1, i) % 40))) break;
        kills++;
    }
    TEST_ASSERT_TRUE(kills > 0);
    TuneResult killed = run("killed", 2, 9, SPSA_AUTO);
    assert_same(&whole, &killed);
    TuneResult again = run("killed", 1, 9, SPSA_AUTO); // finished: read, not played
    TEST_ASSERT_EQUAL_UINT64(0, again.match.games_now);
    assert_same(&whole, &again);
    tune_result_free(&whole);
}

static void another_plan_is_refused(void) {
    TunePlan plan;
    TuneResult result = run("j", 2, 9, SPSA_AUTO);
    Error error = {""};
    tune_result_free(&result);
    make_plan(&plan, "j", 2, 9, SPSA_FISHTEST);
    TEST_ASSERT_EQUAL_INT(MATCH_FAILED, tune_run(&plan, NULL, &result, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "method"), error.text);
    tune_result_free(&result);
    tune_plan_free(&plan);
}

static void failed_pairs_count_nowhere(void) {
    uint64_t penta[5] = {0};
    JournalPair pair = {.games = 2, .game = {{.white = 0, .half_points = 2}, {.white = 1, .half_points = 1}}};
    tune_count(&pair, penta); // a win with White and a draw
    TEST_ASSERT_EQUAL_UINT64(1, penta[3]);
    pair.game[1].half_points = 2; // lost with Black
    tune_count(&pair, penta);
    TEST_ASSERT_EQUAL_UINT64(1, penta[2]);
    pair.game[0].end = GAME_CRASH;
    tune_count(&pair, penta);
    pair.games = 0;
    tune_count(&pair, penta);
    TEST_ASSERT_EQUAL_UINT64(2, penta[0] + penta[1] + penta[2] + penta[3] + penta[4]);
}

// --- campaigns

static void refuses(const char *stage, const char *place) {
    char text[1000];
    Campaign campaign;
    Error error = {""};
    snprintf(text, sizeof text,
             "{\"name\": \"x\",\n \"stages\": [\n  {\"name\": \"a\", \"type\": \"match\", \"games\": 2},\n  "
             "{\"name\": \"b\",\n   %s\n  }]}",
             stage);
    TEST_ASSERT_FALSE_MESSAGE(campaign_parse(&campaign, text, "f.json", &error), stage);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, place), error.text);
}

static void campaigns_refuse_with_the_place(void) {
    refuses("\"type\": \"sprt\", \"games\": 10, \"elo0\": 0,\n \"elo2\": 5",
            "f.json:6: stages[2].elo2: there is no such key");
    refuses("\"type\": \"sprt\", \"games\": \"many\", \"elo0\": 0, \"elo1\": 5",
            "f.json:5: stages[2].games: 'many' is not");
    refuses("\"type\": \"sprt\", \"games\": 10, \"elo0\": 5, \"elo1\": 0", "stages[2].elo0");
    refuses("\"type\": \"spsa\", \"elo0\": 5, \"games\": 10", "stages[2].elo0: there is no such key");
    refuses("\"type\": \"spsa\", \"games\": 10, \"method\": \"magic\"",
            "stages[2].method: 'magic' is none of");
    refuses("\"type\": \"spsa\"", "f.json:4: stages[2]: a limit is missing");
    refuses("\"type\": \"bench\", \"games\": 10", "stages[2].games: there is no such key");
    refuses("\"type\": \"match\", \"games\": 10, \"gate\": \"accepted\"",
            "stages[2].gate: 'accepted' does not fit");
    refuses("\"type\": \"match\", \"games\": 10, \"if_passed\": \"c\"",
            "stages[2].if_passed: there is no earlier stage 'c'");
    refuses("\"type\": \"match\", \"games\": 10, \"options\": 3", "stages[2].options: an object");
    refuses("\"type\": \"match\", \"games\": 10, \"nodes\": [1]", "stages[2].nodes: a number");
    refuses("\"type\": \"ablate\"", "stages[2]: a limit is missing");
    refuses("\"type\": \"ablate\", \"hours\": 1", "stages[2].hours: ablate takes games");
    refuses("\"type\": \"ablate\", \"games\": 10, \"elo0\": 1", "stages[2].elo0: there is no such key");
    refuses("\"type\": \"ablate\", \"games\": 10,\n \"engine\": \"x\"", "f.json:6: stages[2].engine: not here");
    refuses("\"type\": \"match\", \"games\": 2,\n \"options\": {\n\"A\": 1,\n\"B\": [1]}",
            "f.json:8: stages[2].options.B: a number");
    refuses("\"type\": \"dance\"", "stages[2].type: a type was expected");
    refuses("\"type\": \"match\" \"games\": 10", "f.json:5: this is not JSON");
}

static void campaigns_refuse_at_the_top(void) {
    Campaign campaign;
    Error error = {""};
    TEST_ASSERT_FALSE(campaign_parse(&campaign, "{\"name\": \"x\",\n\"stage\": []}", "f.json", &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "f.json:2: stage: there is no such key"), error.text);
    TEST_ASSERT_FALSE(campaign_parse(&campaign, "{\"name\": \"x\", \"stages\": []}", "f.json", &error));
    TEST_ASSERT_FALSE(campaign_parse(&campaign, "[]", "f.json", &error));
    TEST_ASSERT_FALSE(campaign_parse(&campaign,
                                     "{\"name\": \"x\", \"defaults\": {\"nodes\": 1,\n\"nods\": 2}, \"stages\": "
                                     "[{\"name\": \"a\", \"type\": \"match\", \"games\": 2}]}",
                                     "f.json", &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "f.json:2: defaults.nods: there is no such key"), error.text);
    TEST_ASSERT_FALSE(campaign_parse(&campaign, "{\"name\": \"../x\", \"stages\": []}", "f.json", &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "f.json:1: name: letters"), error.text);
    TEST_ASSERT_FALSE(campaign_read(&campaign, "/nowhere.json", &error));
}

// What only the last stage would stumble over is told before the first one is played.
static void a_stage_that_could_not_begin_is_refused(void) {
    static const char *const Stages[][2] = {
        {"\"type\": \"spsa\", \"games\": 64, \"group\": \"nix\"", "stages[2], b: 'nix'"},
        {"\"type\": \"spsa\", \"games\": 3", "a budget of 3 games"},
        {"\"type\": \"match\", \"games\": 3, \"options\": {\"Nix\": 1}", "there is no option 'Nix'"},
        {"\"type\": \"match\", \"games\": 3, \"openings\": \"nix.epd\"", "stages[2], b: nix.epd: No such file"},
        {"\"type\": \"match\", \"games\": 3, \"draw\": \"nix=1\"", "-draw: nix"},
        {"\"type\": \"match\", \"games\": 3, \"engine\": \"./nix\"", "./nix"},
        {"\"type\": \"ablate\", \"games\": 4, \"only\": \"nix\"", "nix"},
    };
    for (size_t i = 0; i < sizeof Stages / sizeof *Stages; i++) {
        char text[600];
        Campaign campaign;
        Error error = {""};
        snprintf(text, sizeof text,
                 "{\"name\": \"x\", \"stages\": [{\"name\": \"a\", \"type\": \"match\", \"games\": 2}, "
                 "{\"name\": \"b\", %s}]}",
                 Stages[i][0]);
        TEST_ASSERT_TRUE_MESSAGE(campaign_parse(&campaign, text, "f.json", &error), error.text);
        TEST_ASSERT_FALSE_MESSAGE(campaign_check(&campaign, &error), text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, Stages[i][1]), error.text);
        campaign_free(&campaign);
    }
}

static void the_shipped_campaigns_are_valid(void) {
    static const char *const Files[] = {"quick", "overnight", "futility"};
    for (int i = 0; i < 3; i++) {
        char path[100];
        Campaign campaign;
        Error error = {""};
        snprintf(path, sizeof path, "tuner/campaigns/%s.json", Files[i]);
        TEST_ASSERT_TRUE_MESSAGE(campaign_read(&campaign, path, &error), error.text);
        TEST_ASSERT_EQUAL_STRING(Files[i], campaign.name);
        TEST_ASSERT_TRUE_MESSAGE(campaign_check(&campaign, &error), error.text);
        for (int s = 0; s < campaign.count; s++) {
            const CampaignStage *stage = &campaign.stages[s];
            // A stage by the clock must not keep the node limit of the defaults.
            if (stage->play.tc[0]) TEST_ASSERT_EQUAL_STRING("", stage->play.nodes);
            SpsaList list;
            if (stage->kind != STAGE_SPSA) continue;
            TEST_ASSERT_TRUE_MESSAGE(tune_list(stage->params, stage->group, &list, &error), error.text);
            spsa_list_free(&list);
        }
        campaign_free(&campaign);
    }
}

// --- reports

static char *report_of(const char *name) {
    char source[120], path[120];
    Error error = {""};
    snprintf(source, sizeof source, "%s/%s", Folder, name);
    snprintf(path, sizeof path, "%s/report.html", Folder);
    TEST_ASSERT_TRUE_MESSAGE(report_write(source, path, &error), error.text);
    char *text = file_read(path, NULL, &error);
    TEST_ASSERT_NOT_NULL(text);
    TEST_ASSERT_NULL(strstr(text, "http")); // nothing from outside
    TEST_ASSERT_NULL(strstr(text, "<script"));
    TEST_ASSERT_NOT_NULL(strstr(text, "</html>"));
    TEST_ASSERT_NULL(strstr(text, "nan"));
    return text;
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) count++;
    return count;
}

static void a_tune_report_has_every_parameter(void) {
    TuneResult result = run("t.journal", 2, 9, SPSA_AUTO);
    char value[64], *text = report_of("t.journal");
    for (int i = 0; i < result.count; i++) {
        snprintf(value, sizeof value, "<b>%.6g</b>",
                 result.estimates[i].value); // replayed to the same values
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, value), value);
    }
    TEST_ASSERT_NOT_NULL(strstr(text, "<title>LmrBase</title>"));
    TEST_ASSERT_EQUAL_INT(result.count, count_of(text, "class=\"band\""));
    TEST_ASSERT_NOT_NULL(strstr(text, "Pairs by result"));
    TEST_ASSERT_NOT_NULL(strstr(text, "finished after 20 of 20 iterations"));
    tune_result_free(&result);
    free(text);
}

static void a_test_report_has_path_bounds_and_verdict(void) {
    static PlayOptions play;
    MatchPlan plan;
    Error error = {""};
    char journal[120];
    snprintf(journal, sizeof journal, "%s/s.journal", Folder);
    play_default(&play);
    strcpy(play.nodes, "40");
    play.concurrency = 2;
    TEST_ASSERT_TRUE_MESSAGE(play_plan(&play, "new<&>", "old", 30, journal, &plan, &error), error.text);
    plan.has_sprt = true;
    plan.sprt.elo0 = 0;
    plan.sprt.elo1 = 5;
    MatchHooks hooks = {.silent = true};
    MatchResult result;
    TEST_ASSERT_EQUAL_INT_MESSAGE(MATCH_FINISHED, match_play(&plan, &hooks, NULL, &result, &error),
                                  error.text);
    free(plan.players);
    char *text = report_of("s.journal");
    TEST_ASSERT_NOT_NULL(strstr(text, "Log-likelihood ratio"));
    TEST_ASSERT_EQUAL_INT(3, count_of(text, "class=\"level\"")); // both bounds and Elo 0
    TEST_ASSERT_NOT_NULL(strstr(text, "Elo with its 95 % interval"));
    TEST_ASSERT_NOT_NULL(strstr(text, "No decision: the cap was reached"));
    TEST_ASSERT_NOT_NULL(strstr(text, "new&lt;&amp;&gt;"));
    TEST_ASSERT_NOT_NULL(strstr(text, "Incidents: none"));
    free(text);
    // A folder: both kinds on one page.
    TuneResult tuned = run("t.journal", 2, 9, SPSA_AUTO);
    tune_result_free(&tuned);
    text = report_of("");
    TEST_ASSERT_EQUAL_INT(2, count_of(text, "<h2>"));
    free(text);
}

// Games without a second one, and more than two engines: the report counts and says what was played.
static void reports_of_other_matches(void) {
    static const char Plan[] = "{\"hone\":\"journal\",\"version\":1,\"plan\":{\"rounds\":2,\"games\":1,\"engines\":["
                               "{\"name\":\"a\",\"cmd\":\"builtin\"},{\"name\":\"b\",\"cmd\":\"builtin\"}%s]}";
    static const char Pair[] = "{\"pair\":%d,\"games\":[{\"white\":0,\"result\":%d,\"end\":\"checkmate\",\"digest\":\"1\"}]";
    for (int engines = 2; engines <= 3; engines++) {
        char path[200], page[200], line[400];
        Error error = {""};
        snprintf(path, sizeof path, "%s/other%d.journal", Folder, engines);
        snprintf(page, sizeof page, "%s/other%d.html", Folder, engines);
        FILE *file = fopen(path, "w");
        for (int i = -1; i < 2; i++) {
            if (i < 0) snprintf(line, sizeof line, Plan, engines == 3 ? ",{\"name\":\"c\",\"cmd\":\"builtin\"}" : "");
            else snprintf(line, sizeof line, Pair, i, i);
            fprintf(file, "%s,\"crc\":\"%08x\"}\n", line, crc32_of(0, line, strlen(line)));
        }
        fclose(file);
        TEST_ASSERT_TRUE_MESSAGE(report_write(path, page, &error), error.text);
        char *text = file_read(page, NULL, &error);
        const char *expected = engines == 3 ? "2 of 6 games between 3 engines" : "a against b: Elo -190.8";
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, expected), text);
        TEST_ASSERT_NOT_NULL(strstr(text, engines == 3 ? "<tr><td>c<td>" : "2 of at most 2 games"));
        TEST_ASSERT_NULL(strstr(text, "Pairs by result"));
        free(text);
    }
}

static void what_is_no_journal_is_refused(void) {
    Error error = {""};
    char path[120];
    snprintf(path, sizeof path, "%s/x.html", Folder);
    TEST_ASSERT_FALSE(report_write("/nowhere", path, &error));
    TEST_ASSERT_FALSE(report_write(Folder, path, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "no journal"));
    TEST_ASSERT_FALSE(report_write("Makefile", path, &error));
    TEST_ASSERT_EQUAL_INT(-1, access(path, F_OK));
}

int main(void) {
    bitboard_init();
    UNITY_BEGIN();
    RUN_TEST(concurrency_changes_nothing);
    RUN_TEST(another_seed_is_another_run);
    RUN_TEST(kills_change_nothing);
    RUN_TEST(another_plan_is_refused);
    RUN_TEST(failed_pairs_count_nowhere);
    RUN_TEST(campaigns_refuse_with_the_place);
    RUN_TEST(campaigns_refuse_at_the_top);
    RUN_TEST(a_stage_that_could_not_begin_is_refused);
    RUN_TEST(the_shipped_campaigns_are_valid);
    RUN_TEST(a_tune_report_has_every_parameter);
    RUN_TEST(a_test_report_has_path_bounds_and_verdict);
    RUN_TEST(reports_of_other_matches);
    RUN_TEST(what_is_no_journal_is_refused);
    return UNITY_END();
}
