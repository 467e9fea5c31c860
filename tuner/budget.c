// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/budget.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

// When measuring ends, as the consumer sees it.
typedef struct RateWatch {
    int64_t end_ms;
} RateWatch;

static bool watch(void *context, const JournalPair *pair, bool replayed) {
    const RateWatch *rate = context;
    (void)pair, (void)replayed;
    return now_ms() < rate->end_ms;
}

bool budget_rate(const MatchPlan *match, double seconds, double *rate, Error *error) {
    MatchPlan copy = *match;
    snprintf(copy.journal, sizeof copy.journal, "%.1000s.rate", match->journal);
    unlink(copy.journal);
    copy.rounds = 1000000;
    copy.fresh = copy.has_sprt = false;
    RateWatch until = {.end_ms = now_ms() + (int64_t)(seconds * 1000)};
    MatchHooks hooks = {.context = &until, .silent = true, .consume = watch};
    MatchResult result;
    MatchOutcome outcome = match_play(&copy, &hooks, NULL, &result, error);
    unlink(copy.journal);
    if (outcome == MATCH_FAILED) return false;
    if (outcome == MATCH_INTERRUPTED)
        return error_set(error, "interrupted while the rate of play was measured");
    *rate = (double)result.games_now / result.seconds_now;
    return true;
}

static double number(const cJSON *json, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

bool budget_settle(const MatchPlan *match, const char *member, double hours, int64_t unit, int64_t *games,
                   double *rate, Error *error) {
    if (!match->fresh && access(match->journal, F_OK) == 0) {
        cJSON *json = NULL;
        int64_t size;
        if (!journal_read(match->journal, &json, &size, NULL, NULL, error)) return false;
        const cJSON *own = cJSON_GetObjectItemCaseSensitive(json, member);
        bool known = number(own, "hours") == hours && number(own, "rate") > 0;
        if (known) *games = (int64_t)number(own, "games");
        if (known) *rate = number(own, "rate");
        cJSON_Delete(json);
        if (known) return true;
    }
    if (!budget_rate(match, fmin(fmax(hours * 36, 2), 30), rate, error)) return false;
    *games = (int64_t)(*rate * hours * 3600) / unit * unit;
    return *games >= unit || error_set(error, "%g hours at %.2f games/s are less than %lld games", hours,
                                       *rate, (long long)unit);
}
