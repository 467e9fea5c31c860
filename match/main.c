// SPDX-License-Identifier: GPL-3.0-or-later
// The program hone-match: reads the command line and plays, supervised where an engine runs in this process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bitboard.h"
#include "match/match.h"
#include "match/options.h"
#include "match/stop.h"
#include "match/supervise.h"

// Runs the match in this process and says how it ended as an exit status.
static int run_here(void *context, _Atomic uint64_t *in_flight, int attempt) {
    MatchPlan *plan = context;
    Error error = {.text = ""};
    if (attempt > 0) plan->fresh = false;
    switch (match_run(plan, in_flight, &error)) {
    case MATCH_FINISHED: return 0;
    case MATCH_INTERRUPTED: return 1;
    case MATCH_FAILED: fprintf(stderr, "hone-match: %s\n", error.text); return 2;
    }
    return 2;
}

int main(int count, char **arguments) {
    Error error = {.text = ""};
    bitboard_init();
    if (count < 2 || strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-help") == 0) {
        options_help(count < 2 ? stderr : stdout);
        return count < 2 ? 2 : 0;
    }
    if (count == 3 && strcmp(arguments[2], "--help") == 0) {
        options_help(stdout);
        return 0;
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
    int status = builtin ? supervise("hone-match", plan.journal, plan.concurrency, run_here, &plan)
                         : run_here(&plan, NULL, 0);
    free(plan.players);
    return status;
}
