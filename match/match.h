// SPDX-License-Identifier: GPL-3.0-or-later
// A match: pairs of games between two or more players by a plan, played by a pool, kept in a journal, judged
// in order. The plan is const while it runs; what a run knows is what replaying its journal gives.
#pragma once

#include "match/adjudicate.h"
#include "match/game.h"
#include "match/journal.h"
#include "match/player.h"
#include "match/sprt.h"
#include "openings/pgn.h"

typedef enum MatchFormat { FORMAT_FASTCHESS, FORMAT_CUTECHESS, FORMAT_JSON } MatchFormat;

enum { MATCH_MAX_PLAYERS = 64 };

// What is to be played, and how it is shown.
typedef struct MatchPlan {
    // What decides the games: all of it is written into the journal and must be equal to continue.
    PlayerSpec *players;
    int player_count;
    uint64_t rounds; // pairs for each pairing
    int games;       // 2, or 1 for single games
    bool gauntlet;   // the first `seeds` players against the others; else all against all
    int seeds;
    bool noswap, reverse; // keep colours in the second game; start with the colours reversed
    char openings[1024];  // a file, or empty for the start position
    OpeningOrder order;
    int plies;
    uint64_t start; // first opening, from 1
    uint64_t seed;
    bool chess960;
    AdjudicateSpec adjudicate;
    char tb_path[1024];
    bool has_sprt;
    SprtSpec sprt;
    // How: may differ when a run is continued.
    int concurrency;
    bool affinity;
    int affinity_cpus[256], affinity_count;
    char journal[1024];
    bool fresh;
    char pgn[1024]; // or empty
    PgnStyle pgn_style;
    bool pgn_append, epd_append, pgn_nodes, pgn_seldepth, pgn_nps, pgn_timeleft;
    char epd[1024]; // final positions, or empty
    char event[128], site[128];
    MatchFormat format;
    bool penta;                               // report pairs, not games
    uint64_t rating_interval, score_interval; // in pairs and games
    bool recover;                             // go on after a failed engine
    int incident_limit;                       // end the run when more than this many engines failed
    bool quiet;                               // no lines for each game
    uint64_t crash_key; // test hook: abort() before thinking on the position with this key
} MatchPlan;

// How a run ended.
typedef enum MatchOutcome {
    MATCH_FINISHED,    // all pairs played, or a verdict
    MATCH_INTERRUPTED, // by a signal: continue with the same command
    MATCH_FAILED,      // it cannot go on: the reason has been printed
} MatchOutcome;

// A game that was lost on time.
typedef struct TimeLoss {
    uint64_t pair; // from 0
    int game, player;
    int64_t stall_ms, ended_unix; // how long the machine stalled meanwhile, 0 if it did not
    char reason[96];
} TimeLoss;

enum { MATCH_KEPT_LOSSES = 100 };

// What one run knows; owned by match.c, shown to output.c.
typedef struct MatchState {
    const MatchPlan *plan;
    uint64_t pairs_total, pairs_done;
    Stats *table;   // player_count x player_count, a pairing's results in the cell of its first player
    Stats white[2]; // of a two-player match: the first player's games as White and as Black
    Sprt sprt;
    uint64_t aside;               // pairs set aside after crashes
    uint64_t *timeouts, *crashes; // by player
    uint64_t time_losses, stalled_losses; // all, and those while the machine stalled
    TimeLoss losses[MATCH_KEPT_LOSSES];   // the first ones
    uint64_t incidents, duplicates;
    uint64_t games_now, pairs_now; // played by this process
    uint64_t nodes_now;
    int64_t begun_ms;
    int64_t latency[LATENCY_BINS];
    uint64_t stalls; // of the machine, seen by this process, and the longest
    int64_t longest_stall_ms;
} MatchState;

// The two players of a pair, first and second.
typedef struct Pairing {
    int first, second;
    uint64_t round; // from 0
} Pairing;

// Who plays in a pair.
Pairing match_pairing(const MatchPlan *plan, uint64_t pair);

// Number of pairs of the whole plan.
uint64_t match_pairs(const MatchPlan *plan);

// What of a plan decides its games, as JSON that the caller deletes.
cJSON *match_plan_json(const MatchPlan *plan, const OpeningSet *openings);

// A plan from that JSON, for replaying; the players array is allocated and freed by the caller.
bool match_plan_from_json(MatchPlan *plan, const cJSON *json, Error *error);

// The opening of a pair.
bool match_opening(const MatchPlan *plan, const OpeningSet *openings, uint64_t pair, Opening *opening,
                   Error *error);

// The node limit of a player in a pair: its own, moved a few percent where the openings have been used up
// before.
uint64_t match_nodes(const MatchPlan *plan, uint64_t pair, int player, const Opening *opening);

// What a caller that is more than a match (a tuning run, a campaign) adds to one. Any function may be NULL.
typedef struct MatchHooks {
    void *context;
    const char
        *extra_name; // a member that the journal's plan gets, and what it holds (the caller's), or NULL
    const cJSON *extra;
    uint64_t window, step; // of the pool; 0 for the usual ones
    bool only_replay;      // read the journal, play nothing
    bool silent;           // nothing on stdout
    bool keep_finished;    // a finished journal gives its result again instead of making room for a new match
    // Worker thread, before every game: players[0] is the pairing's first engine.
    bool (*prepare)(void *context, uint64_t pair, Player *players[2], Error *error);
    // Under the pool's lock, in order of the numbers, those of the journal first (replayed): false ends the
    // run.
    bool (*consume)(void *context, const JournalPair *pair, bool replayed);
    // Under the pool's lock, a few times a second.
    void (*tick)(void *context, const MatchState *state);
} MatchHooks;

// What a run came to.
typedef struct MatchResult {
    Stats stats; // of the first two players
    Sprt sprt;
    uint64_t pairs, aside, incidents, duplicates;
    uint64_t games_now; // played by this process, and how long it took
    double seconds_now;
} MatchResult;

// Runs a match as match_run does, with hooks (or NULL), and tells what it came to (or NULL).
MatchOutcome match_play(const MatchPlan *plan, const MatchHooks *hooks, _Atomic uint64_t *in_flight,
                        MatchResult *result, Error *error);

// Refuses a plan that could not begin: its openings, tables, engines and their options.
bool match_check(const MatchPlan *plan, Error *error);

// Runs a match to its end, printing to stdout; in_flight (or NULL) holds, for each worker, 1 + the pair it is
// playing, for a supervisor that wants to know after a crash.
MatchOutcome match_run(const MatchPlan *plan, _Atomic uint64_t *in_flight, Error *error);

// Prints what two runs of the same plan must agree on.
bool match_digest(const char *journal, Error *error);

// Plays pairs of a node-limited journal again (all, or one) and names the first move that differs.
bool match_replay(const char *journal, int64_t only, Error *error);
