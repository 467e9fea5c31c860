// SPDX-License-Identifier: GPL-3.0-or-later
// engine/timeman: no limit is ever above what the clock holds, whatever it is told; a player who takes all
// that he is given never loses on time; and each factor pulls the way its name says.
#include "engine/timeman.h"

#include <stdio.h>

#include "unity.h"

#define MIDDLE_FEN "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 20"
#define ENDGAME_FEN "8/5pk1/6p1/8/8/6P1/5PK1/8 w - - 0 50"

void setUp(void) {}
void tearDown(void) {}

static Position at(const char *fen) {
    Position pos;
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, fen, &error), error.text);
    return pos;
}

static SearchLimits clock_of(int64_t time, int64_t inc, int movestogo, int64_t overhead) {
    SearchLimits limits = {.has_clock = true, .movestogo = movestogo, .overhead = overhead, .start_ns = 1};
    limits.time[WHITE] = time;
    limits.inc[WHITE] = inc;
    return limits;
}

static TimeMan make(SearchLimits limits, const char *fen) {
    Params params = params_default();
    Position pos = at(fen);
    return timeman_make(&limits, &params, &pos);
}

static void no_limit_is_above_what_is_left(void) {
    const int64_t times[] = {INT64_MIN,
                             -1000000,
                             -50,
                             -49,
                             -1,
                             0,
                             1,
                             2,
                             3,
                             10,
                             19,
                             20,
                             21,
                             22,
                             50,
                             100,
                             999,
                             1000,
                             5000,
                             60000,
                             3600000,
                             INT64_C(1) << 40,
                             INT64_C(1) << 62,
                             INT64_MAX};
    const int64_t incs[] = {INT64_MIN, -5, 0, 1, 5, 10, 100, 1000, 60000, INT64_C(1) << 62, INT64_MAX};
    const int togo[] = {INT32_MIN, -1, 0, 1, 2, 3, 10, 40, 1000, INT32_MAX};
    const int64_t overheads[] = {0, 1, 10, 20, 100, 5000, INT64_MAX};
    const char *const fens[] = {START_FEN, MIDDLE_FEN, ENDGAME_FEN};
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        for (size_t i = 0; i < sizeof incs / sizeof *incs; i++)
            for (size_t m = 0; m < sizeof togo / sizeof *togo; m++)
                for (size_t o = 0; o < sizeof overheads / sizeof *overheads; o++)
                    for (size_t f = 0; f < 3; f++) {
                        TimeMan time = make(clock_of(times[t], incs[i], togo[m], overheads[o]), fens[f]);
                        int64_t room = times[t] > overheads[o] ? times[t] - overheads[o] : 1;
                        char what[160];
                        snprintf(what, sizeof what,
                                 "time %lld inc %lld movestogo %d overhead %lld: soft %lld hard %lld",
                                 (long long)times[t], (long long)incs[i], togo[m], (long long)overheads[o],
                                 (long long)time.soft_ms, (long long)time.hard_ms);
                        TEST_ASSERT_TRUE_MESSAGE(time.hard_ms >= 1 && time.hard_ms <= room, what);
                        TEST_ASSERT_TRUE_MESSAGE(time.soft_ms >= 1 && time.soft_ms <= time.hard_ms, what);
                        TEST_ASSERT_TRUE(time.timed);
                    }
}

// No parameter within its bounds may break the rule, since the tuner tries them all.
static void no_parameter_value_breaks_that(void) {
    Position pos = at(MIDDLE_FEN);
    for (int id = 0; id < PARAM_COUNT; id++)
        for (int end = 0; end < 2; end++) {
            Params params = params_default();
            params_put(&params, id, end ? ParamTable[id].max : ParamTable[id].min);
            for (int64_t clock = 1; clock < 100000; clock = clock * 3 + 1) {
                SearchLimits limits = clock_of(clock, clock / 7, (int)(clock % 5), 20);
                TimeMan time = timeman_make(&limits, &params, &pos);
                TEST_ASSERT_TRUE_MESSAGE(time.hard_ms >= 1 && time.hard_ms <= (clock > 20 ? clock - 20 : 1),
                                         ParamTable[id].name);
                TEST_ASSERT_TRUE_MESSAGE(time.soft_ms >= 1 && time.soft_ms <= time.hard_ms,
                                         ParamTable[id].name);
            }
        }
}

// Plays a game in which each move takes its soft or its hard limit and the overhead; returns the move at
// which the clock fell, or 0. The clock is refilled as the control says.
static int flag_at(int64_t base, int64_t inc, int control, int64_t overhead, int moves, bool all_of_it) {
    int64_t clock = base;
    for (int move = 1; move <= moves; move++) {
        int togo = control ? control - (move - 1) % control : 0;
        char fen[128];
        snprintf(fen, sizeof fen, "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP2BPPP/R1BQ1RK1 w - - 0 %d",
                 move);
        TimeMan time = make(clock_of(clock, inc, togo, overhead), fen);
        clock -= (all_of_it ? time.hard_ms : time.soft_ms) + overhead;
        if (clock < 0) return move;
        clock += inc;
        if (control && togo == 1) clock += base;
    }
    return 0;
}

static void a_player_who_takes_everything_keeps_time(void) {
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(60000, 600, 0, 20, 300, true), "60+0.6");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(2000, 50, 0, 20, 300, true), "2+0.05");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(100, 1000, 0, 20, 300, true), "0.1+1");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(500, 25, 0, 20, 300, true), "0.5+0.025");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(2000, 0, 1, 20, 300, true), "1/2");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(60000, 0, 5, 10, 300, true), "5/60");
}

static void a_player_who_takes_the_soft_limit_keeps_time(void) {
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(2000, 0, 40, 10, 300, false), "40/2");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(60000, 0, 40, 20, 300, false), "40/60");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(60000, 0, 0, 20, 150, false), "60+0");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(10000, 0, 0, 10, 150, false), "10+0");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(500, 5, 0, 5, 150, false), "0.5+0.005");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, flag_at(500, 10, 0, 5, 300, false), "0.5+0.01");
}

static void the_clock_is_used_not_hoarded(void) {
    // A game of 60 moves should spend most of a sudden-death clock, and 40 moves most of a control.
    int64_t clock = 60000;
    for (int move = 0; move < 60; move++) clock -= make(clock_of(clock, 0, 0, 20), MIDDLE_FEN).soft_ms + 20;
    TEST_ASSERT_TRUE(clock > 0 && clock < 24000);
    clock = 60000;
    for (int move = 0; move < 40; move++)
        clock -= make(clock_of(clock, 0, 40 - move, 20), MIDDLE_FEN).soft_ms + 20;
    TEST_ASSERT_TRUE(clock > 0 && clock < 15000);
    TimeMan last = make(clock_of(10000, 0, 1, 20), MIDDLE_FEN);
    TEST_ASSERT_TRUE_MESSAGE(last.soft_ms >= 7000, "the last move of a control may take nearly all");
}

static void more_time_means_more_thought(void) {
    int64_t previous = 0;
    for (int64_t clock = 1; clock < 1000000; clock = clock * 5 / 4 + 1) {
        int64_t soft = make(clock_of(clock, 0, 0, 20), MIDDLE_FEN).soft_ms;
        TEST_ASSERT_TRUE(soft >= previous);
        previous = soft;
    }
    previous = 0;
    for (int64_t inc = 0; inc < 5000; inc += 50) {
        int64_t soft = make(clock_of(60000, inc, 0, 20), MIDDLE_FEN).soft_ms;
        TEST_ASSERT_TRUE(soft > previous);
        previous = soft;
    }
    previous = INT64_MAX;
    for (int togo = 1; togo <= 42; togo++) {
        int64_t soft = make(clock_of(60000, 0, togo, 20), MIDDLE_FEN).soft_ms;
        TEST_ASSERT_TRUE(soft < previous || togo == 1);
        previous = soft;
    }
}

static void each_stage_of_the_game_has_its_weight(void) {
    const char *const fens[] = {START_FEN, MIDDLE_FEN, ENDGAME_FEN};
    const int ids[] = {ID_TimeOpening, ID_TimeMiddlegame, ID_TimeEndgame};
    SearchLimits limits = clock_of(60000, 0, 0, 20);
    for (int stage = 0; stage < 3; stage++) {
        Params params = params_default();
        for (int i = 0; i < 3; i++) params_put(&params, ids[i], i == stage ? 200 : 50);
        int64_t soft[3];
        for (int i = 0; i < 3; i++) {
            Position pos = at(fens[i]);
            soft[i] = timeman_make(&limits, &params, &pos).soft_ms;
        }
        for (int i = 0; i < 3; i++)
            if (i != stage) {
                TEST_ASSERT_TRUE(soft[stage] > soft[i] * 3);
            }
    }
}

static void black_reads_his_own_clock(void) {
    SearchLimits limits = clock_of(100, 0, 0, 20);
    limits.time[BLACK] = 600000;
    Params params = params_default();
    Position pos = at("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    TEST_ASSERT_TRUE(timeman_make(&limits, &params, &pos).soft_ms > 1000);
}

static void movetime_is_a_hard_limit_alone(void) {
    TimeMan time = make((SearchLimits){.movetime = 50, .overhead = 20}, START_FEN);
    TEST_ASSERT_EQUAL_INT64(50, time.hard_ms);
    TEST_ASSERT_EQUAL_INT64(INT64_MAX, time.soft_ms);
    TEST_ASSERT_FALSE(time.timed);
    TEST_ASSERT_EQUAL_INT64(1, make((SearchLimits){.movetime = -7}, START_FEN).hard_ms);
    SearchLimits both = clock_of(60000, 0, 0, 20);
    both.movetime = 3;
    time = make(both, START_FEN);
    TEST_ASSERT_EQUAL_INT64(3, time.hard_ms);
    TEST_ASSERT_EQUAL_INT64(3, time.soft_ms);
}

static void without_a_clock_there_is_no_limit(void) {
    const SearchLimits none[] = {{.depth = 5},
                                 {.nodes = 100},
                                 {.infinite = true},
                                 {.mate = 3},
                                 {.infinite = true, .has_clock = true, .movetime = 5, .time = {100, 100}}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        TimeMan time = make(none[i], START_FEN);
        TEST_ASSERT_EQUAL_INT64(INT64_MAX, time.hard_ms);
        TEST_ASSERT_EQUAL_INT64(INT64_MAX, time.soft_ms);
        Params params = params_default();
        TimeFacts facts = {.legal_moves = 1, .nodes = UINT64_MAX, .elapsed_ms = INT64_MAX};
        TEST_ASSERT_FALSE(timeman_enough(&time, &params, &facts));
    }
}

static void pondering_thinks_a_little_longer(void) {
    SearchLimits limits = clock_of(60000, 600, 0, 20);
    int64_t plain = make(limits, MIDDLE_FEN).soft_ms;
    limits.ponder = true;
    TEST_ASSERT_TRUE(make(limits, MIDDLE_FEN).soft_ms > plain);
}

// The elapsed time at which a search that goes as facts say ends.
static int64_t ends_at(const Params *params, TimeFacts facts) {
    TimeMan time = {.timed = true, .soft_ms = 1000, .hard_ms = 5000, .soft_nodes = UINT64_MAX};
    for (facts.elapsed_ms = 0; facts.elapsed_ms < 10000; facts.elapsed_ms++)
        if (timeman_enough(&time, params, &facts)) break;
    return facts.elapsed_ms;
}

static void each_factor_pulls_its_way_and_its_switch_turns_it_off(void) {
    Params all = params_default(), none = all;
    none.TimeStability = none.TimeScore = none.TimeNodes = 0;
    TimeFacts plain = {.stable = 3, .best_fraction = 0.6, .legal_moves = 20};
    TEST_ASSERT_EQUAL_INT64(1000, ends_at(&none, plain));

    const struct {
        int id;
        TimeFacts quick, slow;
    } cases[] = {
        {ID_TimeStability,
         {.stable = 8, .best_fraction = 0.6, .legal_moves = 20},
         {.stable = 0, .best_fraction = 0.6, .legal_moves = 20}},
        {ID_TimeScore,
         {.score_drop = -30, .best_fraction = 0.6, .legal_moves = 20},
         {.score_drop = 40, .best_fraction = 0.6, .legal_moves = 20}},
        {ID_TimeNodes, {.best_fraction = 0.95, .legal_moves = 20}, {.best_fraction = 0.2, .legal_moves = 20}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Params one = none;
        params_put(&one, cases[i].id, 1);
        TEST_ASSERT_TRUE(ends_at(&one, cases[i].quick) < ends_at(&one, cases[i].slow));
        TEST_ASSERT_TRUE(ends_at(&all, cases[i].quick) < ends_at(&all, cases[i].slow));
        TEST_ASSERT_EQUAL_INT64(ends_at(&none, cases[i].quick), ends_at(&none, cases[i].slow));
    }
}

static void senseless_facts_do_no_harm(void) {
    Params params = params_default();
    const TimeFacts facts[] = {
        {.stable = INT32_MAX, .score_drop = INT32_MAX, .best_fraction = 9, .legal_moves = 20},
        {.stable = INT32_MIN, .score_drop = INT32_MIN, .best_fraction = -9, .legal_moves = 20},
        {.legal_moves = 0},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        TEST_ASSERT_TRUE(ends_at(&params, facts[i]) < 10000);
}

static void one_legal_move_is_played_at_once(void) {
    Params params = params_default();
    TEST_ASSERT_EQUAL_INT64(0, ends_at(&params, (TimeFacts){.legal_moves = 1}));
    TEST_ASSERT_TRUE(ends_at(&params, (TimeFacts){.legal_moves = 2}) > 0);
}

static void a_budget_of_nodes_is_scaled_as_time_is(void) {
    Params params = params_default();
    TimeMan time = make((SearchLimits){.soft_nodes = 1000}, START_FEN);
    TEST_ASSERT_FALSE(time.timed);
    TimeFacts facts = {.stable = 3, .score_drop = 10, .best_fraction = 0.6, .legal_moves = 20};
    int64_t by_time = ends_at(&params, facts);
    for (facts.nodes = 0; !timeman_enough(&time, &params, &facts);) facts.nodes++;
    TEST_ASSERT_EQUAL_INT64(by_time, (int64_t)facts.nodes);
    time.soft_nodes = UINT64_MAX - 1;
    facts.nodes = UINT64_MAX / 4;
    TEST_ASSERT_FALSE_MESSAGE(timeman_enough(&time, &params, &facts), "no product may wrap around");
}

static void the_clock_starts_when_go_was_read(void) {
    int64_t start = now_ns() - 70000000;
    TimeMan time = make((SearchLimits){.movetime = 50, .start_ns = start}, START_FEN);
    TEST_ASSERT_TRUE(timeman_elapsed(&time) >= 70 && timeman_elapsed(&time) < 5000);
    time = make((SearchLimits){.movetime = 50}, START_FEN);
    TEST_ASSERT_TRUE(timeman_elapsed(&time) < 5000);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(no_limit_is_above_what_is_left);
    RUN_TEST(no_parameter_value_breaks_that);
    RUN_TEST(a_player_who_takes_everything_keeps_time);
    RUN_TEST(a_player_who_takes_the_soft_limit_keeps_time);
    RUN_TEST(the_clock_is_used_not_hoarded);
    RUN_TEST(more_time_means_more_thought);
    RUN_TEST(each_stage_of_the_game_has_its_weight);
    RUN_TEST(black_reads_his_own_clock);
    RUN_TEST(movetime_is_a_hard_limit_alone);
    RUN_TEST(without_a_clock_there_is_no_limit);
    RUN_TEST(pondering_thinks_a_little_longer);
    RUN_TEST(each_factor_pulls_its_way_and_its_switch_turns_it_off);
    RUN_TEST(senseless_facts_do_no_harm);
    RUN_TEST(one_legal_move_is_played_at_once);
    RUN_TEST(a_budget_of_nodes_is_scaled_as_time_is);
    RUN_TEST(the_clock_starts_when_go_was_read);
    return UNITY_END();
}
