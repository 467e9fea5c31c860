// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/campaign_bench.h"

#include <string.h>

#include "engine/bench.h"
#include "engine/notation.h"
#include "engine/params.h"

static bool set_all(Engine *engine, const OptionSet *set, Error *error) {
    for (int i = 0; i < set->count; i++)
        if (!engine_set_option(engine, set->items[i].name, set->items[i].value, error)) return false;
    return true;
}

// The candidate's parameters with the stage's.
static bool params_of(const CampaignStage *stage, const OptionSet *candidate, Params *params, Error *error) {
    const OptionSet *sets[2] = {candidate, &stage->options};
    *params = params_default();
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sets[s]->count; i++) {
            int id = params_find(sets[s]->items[i].name);
            if (id >= 0 && !params_parse(params, id, sets[s]->items[i].value, error)) return false;
        }
    return true;
}

// Whether the named values grow in the order of their names; the first that does not is told.
static bool grow(const CampaignStage *stage, const Params *params, bool *yes, char *text, size_t size,
                 Error *error) {
    for (int i = 0; i < stage->increasing_count; i++) {
        int id = params_find(stage->increasing[i]), last = i ? params_find(stage->increasing[i - 1]) : -1;
        if (id < 0) return error_set(error, "increasing: there is no parameter '%s'", stage->increasing[i]);
        if (last >= 0 && params_get(params, id) <= params_get(params, last)) {
            snprintf(text, size, "%s is %d, not above %s with %d", stage->increasing[i],
                     params_get(params, id), stage->increasing[i - 1], params_get(params, last));
            *yes = false;
            return true;
        }
    }
    return true;
}

// Searches one position, "FEN bm MOVE MOVE": is the best move among them?
static bool solve(Engine *engine, const char *line, uint64_t nodes, bool *solved, char *played,
                  Error *error) {
    const char *best = strstr(line, " bm ");
    char fen[160], word[16];
    Position pos;
    if (!best) return error_set(error, "solve: '%.80s': FEN bm MOVE was expected", line);
    snprintf(fen, sizeof fen, "%.*s", (int)(best - line), line);
    if (!position_from_fen(&pos, fen, error)) return error_prefix(error, "solve");
    engine_new_game(engine);
    engine_set_position(engine, &pos, NULL);
    SearchLimits limits = {.nodes = nodes, .depth = 64};
    SearchResult result = engine_search(engine, &limits, NULL);
    notation_to_san(&pos, result.best, played);
    *solved = false;
    best += 4;
    while (text_word(&best, word, sizeof word)) {
        word[strcspn(word, ";")] = '\0';
        Move move = notation_from_san(&pos, word);
        if (move == MOVE_NONE) move = notation_from_uci(&pos, word);
        if (move == MOVE_NONE) return error_set(error, "solve: '%s' is no move of '%.80s'", word, fen);
        *solved |= move == result.best;
    }
    return true;
}

// The node count of a bench; with every default set by hand if asked.
static bool count_nodes(const CampaignStage *stage, const OptionSet *candidate, bool by_hand, uint64_t *nodes,
                        Error *error) {
    static const _Atomic bool Never = false;
    BenchOptions options = {.depth = stage->depth, .threads = 1, .hash = BENCH_HASH};
    Params defaults = params_default();
    Engine *engine = bench_engine(&options, error);
    if (!engine) return false;
    bool ok = true;
    for (int id = 0; ok && by_hand && id < PARAM_COUNT; id++) {
        char value[32];
        params_text(&defaults, id, value);
        ok = engine_set_option(engine, ParamTable[id].name, value, error);
    }
    ok = ok && set_all(engine, candidate, error) && set_all(engine, &stage->options, error);
    FILE *nowhere = ok ? fopen("/dev/null", "w") : NULL;
    if (ok && !nowhere) ok = error_set(error, "/dev/null cannot be opened");
    if (ok) *nodes = bench_run(nowhere, engine, &options, &Never).nodes;
    if (nowhere) fclose(nowhere);
    engine_destroy(engine);
    return ok;
}

bool campaign_bench(const CampaignStage *stage, const OptionSet *candidate, bool *passed, char *text,
                    size_t size, Error *error) {
    Params params;
    uint64_t plain = 0, by_hand = 0;
    int solved_count = 0;
    *passed = true;
    if (!params_of(stage, candidate, &params, error) || !grow(stage, &params, passed, text, size, error))
        return false;
    if (!*passed) return true;
    Engine *engine = engine_create(16);
    bool ok = (engine || error_set(error, "not enough memory")) && set_all(engine, candidate, error) &&
              set_all(engine, &stage->options, error);
    for (int i = 0; ok && *passed && i < stage->solve_count; i++) {
        char played[16] = "";
        ok = solve(engine, stage->solve[i], stage->solve_nodes, passed, played, error);
        if (ok && !*passed)
            snprintf(text, size, "position %d is not solved: %s is played (%.100s)", i + 1, played,
                     stage->solve[i]);
        solved_count += ok && *passed;
    }
    engine_destroy(engine);
    if (!ok || !*passed) return ok;
    if (!count_nodes(stage, candidate, false, &plain, error)) return false;
    if (stage->explicit_defaults && !count_nodes(stage, candidate, true, &by_hand, error)) return false;
    *passed = !stage->explicit_defaults || plain == by_hand;
    snprintf(text, size, "bench %llu nodes at depth %d%s; %d values grow, %d positions solved",
             (unsigned long long)plain, stage->depth,
             !stage->explicit_defaults ? ""
             : *passed                 ? ", the same with all defaults set by hand"
                                       : ", BUT another count with all defaults set by hand",
             stage->increasing_count, solved_count);
    return true;
}
