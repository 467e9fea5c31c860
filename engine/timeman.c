// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/timeman.h"

#include "engine/eval.h"

// Thirty years: larger numbers are taken as this, so that no product below can overflow.
#define LONGEST_MS ((int64_t)1000000000000)

static int64_t clamp64(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }
static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t percent_of(int64_t x, int percent) { return x * percent / 100; }

// What a move is worth in time at this stage of the game, in percent: the opening's weight fades into the
// middlegame's with the moves played, and that into the endgame's as pieces go.
static int stage_weight(const Params *p, const Position *root) {
    int early = int_clamp(p->TimeOpeningMoves - root->fullmove + 1, 0, p->TimeOpeningMoves);
    int weight = p->TimeMiddlegame + (p->TimeOpening - p->TimeMiddlegame) * early / p->TimeOpeningMoves;
    int late = int_clamp(p->TimeEndgamePhase - eval_phase(root), 0, p->TimeEndgamePhase);
    return weight + (p->TimeEndgame - weight) * late / p->TimeEndgamePhase;
}

// The soft and the hard limit of a clock, in milliseconds.
static void clock_limits(TimeMan *time, const SearchLimits *limits, const Params *p, const Position *root) {
    int64_t clock = clamp64(limits->time[root->stm], 0, LONGEST_MS);
    int64_t inc = clamp64(limits->inc[root->stm], 0, LONGEST_MS);
    int64_t overhead = clamp64(limits->overhead, 0, LONGEST_MS);
    int64_t moves = limits->movestogo > 0 ? int_min(limits->movestogo, p->TimeMoves) : p->TimeMoves;

    // Each move loses the overhead and gains the increment: what is gained may be spent, and what the moves
    // to come will lose is set aside, up to a share of the clock.
    int64_t left = clock > overhead ? clock - overhead : 0;
    int64_t gain = clamp64(inc - overhead, 0, LONGEST_MS), loss = clamp64(overhead - inc, 0, LONGEST_MS);
    int64_t budget = left - min64(loss * (moves - 1), percent_of(left, p->TimeReserve));

    int64_t soft = budget / moves + percent_of(gain, p->TimeIncrement);
    soft = percent_of(soft, stage_weight(p, root));
    if (limits->ponder) soft = percent_of(soft, p->TimePonder);
    int64_t most = clamp64(min64(left, percent_of(clock, p->TimeMaxShare)), 1, LONGEST_MS);
    time->hard_ms = clamp64(percent_of(soft, p->TimeHardFactor), 1, most);
    time->soft_ms = clamp64(soft, 1, time->hard_ms);
    time->timed = true;
}

TimeMan timeman_make(const SearchLimits *limits, const Params *params, const Position *root) {
    TimeMan time = {
        .start_ns = limits->start_ns ? limits->start_ns : now_ns(),
        .soft_ms = INT64_MAX,
        .hard_ms = INT64_MAX,
        .soft_nodes = limits->soft_nodes ? limits->soft_nodes : UINT64_MAX,
    };
    if (limits->infinite) return time;
    if (limits->has_clock) clock_limits(&time, limits, params, root);
    if (limits->movetime) {
        time.hard_ms = min64(time.hard_ms, clamp64(limits->movetime, 1, LONGEST_MS));
        if (time.timed) time.soft_ms = min64(time.soft_ms, time.hard_ms);
    }
    return time;
}

// How much of the soft limit this search deserves, in percent.
static int effort(const Params *p, const TimeFacts *facts) {
    int64_t percent = 100;
    if (p->TimeStability) {
        int stood = int_clamp(facts->stable, 0, p->TimeStabilityDepths);
        percent = percent * int_max(p->TimeStabilityMax - p->TimeStabilityStep * stood, 0) / 100;
    }
    if (p->TimeScore) {
        int drop = int_clamp(facts->score_drop, -SCORE_INFINITE, SCORE_INFINITE);
        percent = percent * int_clamp(100 + p->TimeScoreScale * drop / 10, p->TimeScoreMin, p->TimeScoreMax) /
                  100;
    }
    if (p->TimeNodes) {
        int permille = int_clamp((int)(facts->best_fraction * 1000), 0, 1000);
        percent = percent * int_max(p->TimeNodesBase - p->TimeNodesScale * permille / 1000, 0) / 100;
    }
    return (int)percent;
}

bool timeman_enough(const TimeMan *time, const Params *params, const TimeFacts *facts) {
    bool by_nodes = time->soft_nodes != UINT64_MAX;
    if (!time->timed && !by_nodes) return false;
    if (facts->legal_moves == 1) return true;
    int percent = effort(params, facts);
    if (time->timed && facts->elapsed_ms >= percent_of(time->soft_ms, percent)) return true;
    return by_nodes &&
           (unsigned __int128)facts->nodes * 100 >= (unsigned __int128)time->soft_nodes * (unsigned)percent;
}

int64_t timeman_elapsed(const TimeMan *time) { return (now_ns() - time->start_ns) / 1000000; }
