// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One option of the command line: its name, the most values it takes (-1: any), what it does, its help.
typedef struct OptionRow {
    const char *name;
    int most;
    bool (*read)(MatchPlan *plan, char **values, int count, Error *error);
    const char *help;
} OptionRow;

// --- small readers

// Splits "key=value"; false if there is no '='.
static bool split(const char *text, char *key, size_t size, const char **value) {
    const char *equals = strchr(text, '=');
    if (!equals || (size_t)(equals - text) >= size) return false;
    memcpy(key, text, (size_t)(equals - text));
    key[equals - text] = '\0';
    *value = equals + 1;
    return true;
}

static bool to_int(const char *text, int64_t min, int64_t max, int *out, Error *error) {
    int64_t value = 0;
    if (!parse_int(text, min, max, &value, error)) return false;
    *out = (int)value;
    return true;
}

static bool to_u64(const char *text, uint64_t *out, Error *error) {
    int64_t value = 0;
    if (!parse_int(text, 0, INT64_MAX, &value, error)) return false;
    *out = (uint64_t)value;
    return true;
}

static bool to_bool(const char *text, bool *out, Error *error) {
    bool yes = text_equal(text, "true") || text_equal(text, "on") || strcmp(text, "1") == 0;
    bool no = text_equal(text, "false") || text_equal(text, "off") || strcmp(text, "0") == 0;
    *out = yes;
    return yes || no || error_set(error, "'%.40s' is neither true nor false", text);
}

static bool to_path(char *buffer, size_t size, const char *text, Error *error) {
    return text_copy(buffer, size, text) || error_set(error, "'%.60s...' is too long", text);
}

static bool one(int count, Error *error) {
    return count == 1 || error_set(error, "one value was expected, %d given", count);
}

static bool to_ms(const char *text, int64_t *out, Error *error) {
    char plain[40];
    text_copy(plain, sizeof plain, text);
    size_t length = strlen(plain);
    if (length && plain[length - 1] == 's') plain[length - 1] = '\0';
    double seconds = 0;
    if (!parse_real(plain, 0, 1e7, &seconds, error)) return false;
    *out = (int64_t)(seconds * 1000 + 0.5);
    return true;
}

bool options_control(const char *text, TimeControl *tc, Error *error) {
    char rest[64];
    tc->clock = false; // what an earlier tc= said is over
    tc->moves = 0;
    tc->base_ms = tc->inc_ms = 0;
    if (text_equal(text, "inf") || text_equal(text, "infinite")) return true;
    if (!text_copy(rest, sizeof rest, text))
        return error_set(error, "'%.40s...' is not a time control", text);
    char *at = rest, *slash = strchr(rest, '/'), *plus, *colon;
    if (slash) {
        *slash = '\0';
        if (!to_int(rest, 1, 10000, &tc->moves, error)) return false;
        at = slash + 1;
    }
    if ((plus = strchr(at, '+'))) {
        *plus = '\0';
        if (!to_ms(plus + 1, &tc->inc_ms, error)) return false;
    }
    int64_t minutes = 0;
    if ((colon = strchr(at, ':'))) {
        *colon = '\0';
        if (!parse_int(at, 0, 100000, &minutes, error)) return false;
        at = colon + 1;
    }
    if (!to_ms(at, &tc->base_ms, error)) return false;
    tc->base_ms += minutes * 60000;
    tc->clock = true;
    return tc->base_ms + tc->inc_ms > 0 || error_set(error, "'%.40s' gives no time at all", text);
}

// --- engines

static bool engine_value(PlayerSpec *spec, const char *text, Error *error) {
    char key[80];
    const char *value;
    if (!split(text, key, sizeof key, &value))
        return error_set(error, "'%.60s': key=value was expected", text);
    TimeControl *tc = &spec->tc;
    int milliseconds = 0;
    bool ok = true;
    if (strncmp(key, "option.", 7) == 0) {
        if (spec->option_count == MAX_PLAYER_OPTIONS)
            return error_set(error, "more than %d options", MAX_PLAYER_OPTIONS);
        PlayerOption *option = &spec->options[spec->option_count++];
        text_copy(option->name, sizeof option->name, key + 7);
        ok = to_path(option->value, sizeof option->value, value, error);
    } else if (strcmp(key, "cmd") == 0) {
        spec->builtin = strcmp(value, "builtin") == 0;
        ok = to_path(spec->cmd, sizeof spec->cmd, value, error);
    } else if (strcmp(key, "name") == 0) ok = to_path(spec->name, sizeof spec->name, value, error);
    else if (strcmp(key, "dir") == 0) ok = to_path(spec->dir, sizeof spec->dir, value, error);
    else if (strcmp(key, "args") == 0 || strcmp(key, "arg") == 0)
        ok = to_path(spec->args, sizeof spec->args, value, error);
    else if (strcmp(key, "proto") == 0)
        ok = text_equal(value, "uci") || error_set(error, "proto=%.20s: only uci is spoken here", value);
    else if (strcmp(key, "tc") == 0) ok = options_control(value, tc, error);
    else if (strcmp(key, "st") == 0) ok = to_ms(value, &tc->move_ms, error);
    else if (strcmp(key, "nodes") == 0) ok = to_u64(value, &tc->nodes, error);
    else if (strcmp(key, "depth") == 0 || strcmp(key, "plies") == 0)
        ok = to_int(value, 1, 1000, &tc->depth, error);
    else if (strcmp(key, "timemargin") == 0) {
        ok = to_int(value, 0, 1000000, &milliseconds, error);
        tc->margin_ms = milliseconds;
    } else if (strcmp(key, "restart") == 0) {
        ok = text_equal(value, "auto") || to_bool(value, &spec->restart, error);
    } else {
        return error_set(error, "'%.40s' is not known", key);
    }
    return ok || error_prefix(error, "%s", key);
}

static bool read_engine(MatchPlan *plan, char **values, int count, Error *error) {
    if (plan->player_count == MATCH_MAX_PLAYERS)
        return error_set(error, "more than %d engines", MATCH_MAX_PLAYERS);
    PlayerSpec *spec = &plan->players[plan->player_count++];
    for (int i = 0; i < count; i++)
        if (!engine_value(spec, values[i], error)) return false;
    return true;
}

// An engine's own options stand in front: what -each repeats of them is dropped. What -each itself says twice
// counts as said last.
static void settle_options(PlayerSpec *spec, int own) {
    int kept = own;
    for (int o = own; o < spec->option_count; o++) {
        int k = 0;
        while (k < kept && !text_equal(spec->options[o].name, spec->options[k].name)) k++;
        if (k >= own) spec->options[k] = spec->options[o];
        kept += k == kept;
    }
    spec->option_count = kept;
}

// Whatever -each says comes first for every engine: it is read when all engines are known, and their own
// values again.
static bool read_each(MatchPlan *plan, char **values, int count, Error *error) {
    for (int i = 0; i < plan->player_count; i++) {
        PlayerSpec own = plan->players[i], *spec = &plan->players[i];
        bool has_control = own.tc.clock || own.tc.move_ms || own.tc.nodes || own.tc.depth;
        for (int v = 0; v < count; v++)
            if (!engine_value(spec, values[v], error)) return false;
        if (own.cmd[0]) memcpy(spec->cmd, own.cmd, sizeof spec->cmd), spec->builtin = own.builtin;
        if (own.name[0]) memcpy(spec->name, own.name, sizeof spec->name);
        if (own.dir[0]) memcpy(spec->dir, own.dir, sizeof spec->dir);
        if (own.args[0]) memcpy(spec->args, own.args, sizeof spec->args);
        if (has_control) {
            int64_t margin = own.tc.margin_ms ? own.tc.margin_ms : spec->tc.margin_ms;
            spec->tc = own.tc;
            spec->tc.margin_ms = margin;
        }
        settle_options(spec, own.option_count);
    }
    return true;
}

// --- the other options

#define READER(name) static bool name(MatchPlan *plan, char **values, int count, Error *error)

READER(read_rounds) { return one(count, error) && to_u64(values[0], &plan->rounds, error); }
READER(read_games) { return one(count, error) && to_int(values[0], 1, 2, &plan->games, error); }
READER(read_repeat) {
    plan->games = 2;
    return count == 0 || (one(count, error) && to_int(values[0], 1, 2, &plan->games, error));
}
READER(read_concurrency) {
    if (!one(count, error) || !to_int(values[0], -1024, 1024, &plan->concurrency, error)) return false;
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (plan->concurrency <= 0) plan->concurrency = int_max(1, cores + plan->concurrency);
    return true;
}
READER(read_nothing) {
    (void)plan, (void)values, (void)count, (void)error;
    return true;
}
READER(read_affinity) {
    plan->affinity = true;
    for (char *at = count ? values[0] : NULL; at && *at;) {
        char *end;
        long from = strtol(at, &end, 10), to = from, cpus = sysconf(_SC_NPROCESSORS_CONF);
        bool good = end != at;
        if (*end == '-') to = strtol(end + 1, &end, 10);
        good = good && from >= 0 && from <= to && to < cpus && (*end == ',' || !*end);
        if (!good)
            return error_set(error, "'%.40s': a list of CPUs such as 0,2-3 was expected, of 0 to %ld", values[0],
                             cpus - 1);
        for (long cpu = from; cpu <= to && plan->affinity_count < 256; cpu++)
            plan->affinity_cpus[plan->affinity_count++] = (int)cpu;
        at = *end == ',' ? end + 1 : end;
    }
    return true;
}
READER(read_tournament) {
    if (!one(count, error)) return false;
    plan->gauntlet = text_equal(values[0], "gauntlet");
    return plan->gauntlet || text_equal(values[0], "roundrobin") || text_equal(values[0], "round-robin") ||
           error_set(error, "'%.40s' is neither roundrobin nor gauntlet", values[0]);
}
READER(read_seeds) {
    return one(count, error) && to_int(values[0], 1, MATCH_MAX_PLAYERS - 1, &plan->seeds, error);
}
READER(read_noswap) {
    (void)values, (void)count, (void)error;
    return plan->noswap = true;
}
READER(read_reverse) {
    (void)values, (void)count, (void)error;
    return plan->reverse = true;
}
READER(read_fresh) {
    (void)values, (void)count, (void)error;
    return plan->fresh = true;
}
READER(read_quiet) {
    (void)values, (void)count, (void)error;
    return plan->quiet = true;
}
READER(read_srand) { return one(count, error) && to_u64(values[0], &plan->seed, error); }
READER(read_event) { return one(count, error) && to_path(plan->event, sizeof plan->event, values[0], error); }
READER(read_site) { return one(count, error) && to_path(plan->site, sizeof plan->site, values[0], error); }
READER(read_journal) {
    return one(count, error) && to_path(plan->journal, sizeof plan->journal, values[0], error);
}
READER(read_maxmoves) {
    return one(count, error) && to_int(values[0], 1, GAME_MAX_PLIES / 2, &plan->adjudicate.max_moves, error);
}
READER(read_ratinginterval) { return one(count, error) && to_u64(values[0], &plan->rating_interval, error); }
READER(read_scoreinterval) { return one(count, error) && to_u64(values[0], &plan->score_interval, error); }
READER(read_incidents) {
    return one(count, error) && to_int(values[0], 0, 1000000, &plan->incident_limit, error);
}
READER(read_recover) {
    plan->recover = true;
    return count == 0 || (one(count, error) && to_bool(values[0], &plan->recover, error));
}
READER(read_tb) {
    return one(count, error) && to_path(plan->tb_path, sizeof plan->tb_path, values[0], error);
}
READER(read_tbpieces) {
    return one(count, error) && to_int(values[0], 2, 7, &plan->adjudicate.tb_pieces, error);
}
READER(read_tbignore50) {
    (void)values, (void)count, (void)error;
    return plan->adjudicate.tb_ignore50 = true;
}
READER(read_tbadjudicate) {
    if (!one(count, error)) return false;
    bool both = text_equal(values[0], "BOTH");
    plan->adjudicate.tb_wins = both || text_equal(values[0], "WIN_LOSS");
    plan->adjudicate.tb_draws = both || text_equal(values[0], "DRAW");
    return plan->adjudicate.tb_wins || plan->adjudicate.tb_draws ||
           error_set(error, "'%.40s' is none of BOTH, WIN_LOSS, DRAW", values[0]);
}
READER(read_variant) {
    if (!one(count, error)) return false;
    plan->chess960 = text_equal(values[0], "fischerandom") || text_equal(values[0], "chess960");
    return plan->chess960 || text_equal(values[0], "standard") ||
           error_set(error, "'%.40s' is neither standard nor fischerandom", values[0]);
}
// Deadlines in milliseconds, for all engines.
static bool to_deadline(MatchPlan *plan, size_t offset, char **values, int count, Error *error) {
    int64_t ms = 0;
    if (!one(count, error) || !parse_int(values[0], 1, INT64_C(1000000000), &ms, error)) return false;
    for (int i = 0; i < MATCH_MAX_PLAYERS; i++) memcpy((char *)&plan->players[i] + offset, &ms, sizeof ms);
    return true;
}
READER(read_startup) { return to_deadline(plan, offsetof(PlayerSpec, startup_ms), values, count, error); }
READER(read_ping) { return to_deadline(plan, offsetof(PlayerSpec, ping_ms), values, count, error); }
READER(read_quit) { return to_deadline(plan, offsetof(PlayerSpec, quit_ms), values, count, error); }
READER(read_watchdog) { return to_deadline(plan, offsetof(PlayerSpec, watchdog_ms), values, count, error); }
READER(read_crashkey) {
    if (!one(count, error)) return false;
    plan->crash_key = strtoull(values[0], NULL, 16);
    return true;
}

// Options whose values are key=value: calls the setter for each and names the key if it refuses.
static bool each_key(MatchPlan *plan, char **values, int count,
                     bool (*set)(MatchPlan *plan, const char *key, const char *value, Error *error),
                     Error *error) {
    for (int i = 0; i < count; i++) {
        char key[40];
        const char *value;
        if (!split(values[i], key, sizeof key, &value))
            return error_set(error, "'%.60s': key=value was expected", values[i]);
        if (!set(plan, key, value, error)) return error_prefix(error, "%s", key);
    }
    return true;
}

#define SETTER(name) static bool name(MatchPlan *plan, const char *key, const char *value, Error *error)
#define UNKNOWN_KEY  error_set(error, "is not known here")

SETTER(set_openings) {
    if (strcmp(key, "file") == 0) return to_path(plan->openings, sizeof plan->openings, value, error);
    if (strcmp(key, "format") == 0 || strcmp(key, "policy") == 0)
        return true; // told by content; a pair shares its opening anyway
    if (strcmp(key, "plies") == 0) return to_int(value, 0, OPENING_MAX_PLIES, &plan->plies, error);
    if (strcmp(key, "start") == 0)
        return to_u64(value, &plan->start, error) &&
               (plan->start > 0 || error_set(error, "openings count from 1"));
    if (strcmp(key, "srand") == 0) return to_u64(value, &plan->seed, error);
    if (strcmp(key, "order") != 0) return UNKNOWN_KEY;
    plan->order = text_equal(value, "random") ? OPENING_RANDOM : OPENING_SEQUENTIAL;
    return text_equal(value, "random") || text_equal(value, "sequential") ||
           error_set(error, "'%.40s' is neither random nor sequential", value);
}
SETTER(set_sprt) {
    if (strcmp(key, "elo0") == 0) return parse_real(value, -1000, 1000, &plan->sprt.elo0, error);
    if (strcmp(key, "elo1") == 0) return parse_real(value, -1000, 1000, &plan->sprt.elo1, error);
    if (strcmp(key, "alpha") == 0) return parse_real(value, 1e-9, 0.5, &plan->sprt.alpha, error);
    if (strcmp(key, "beta") == 0) return parse_real(value, 1e-9, 0.5, &plan->sprt.beta, error);
    if (strcmp(key, "model") == 0) return sprt_model_parse(value, &plan->sprt.model, error);
    if (strcmp(key, "batch") == 0) return to_int(value, 1, 100000, &plan->sprt.batch, error);
    return UNKNOWN_KEY;
}
SETTER(set_draw) {
    AdjudicateSpec *a = &plan->adjudicate;
    if (strcmp(key, "movenumber") == 0 || strcmp(key, "number") == 0)
        return to_int(value, 0, 10000, &a->draw_number, error);
    if (strcmp(key, "movecount") == 0 || strcmp(key, "count") == 0)
        return to_int(value, 1, 1000, &a->draw_count, error);
    if (strcmp(key, "score") == 0) return to_int(value, 0, 10000, &a->draw_score, error);
    return UNKNOWN_KEY;
}
SETTER(set_resign) {
    AdjudicateSpec *a = &plan->adjudicate;
    if (strcmp(key, "movecount") == 0 || strcmp(key, "count") == 0)
        return to_int(value, 1, 1000, &a->resign_count, error);
    if (strcmp(key, "score") == 0) return to_int(value, 0, 32000, &a->resign_score, error);
    if (strcmp(key, "twosided") == 0) return to_bool(value, &a->resign_two_sided, error);
    return UNKNOWN_KEY;
}
SETTER(set_pgnout) {
    bool ignored;
    if (strcmp(key, "file") == 0) return to_path(plan->pgn, sizeof plan->pgn, value, error);
    if (strcmp(key, "append") == 0) return to_bool(value, &plan->pgn_append, error);
    if (strcmp(key, "nodes") == 0) return to_bool(value, &plan->pgn_nodes, error);
    if (strcmp(key, "seldepth") == 0) return to_bool(value, &plan->pgn_seldepth, error);
    if (strcmp(key, "nps") == 0) return to_bool(value, &plan->pgn_nps, error);
    if (strcmp(key, "timeleft") == 0) return to_bool(value, &plan->pgn_timeleft, error);
    if (strcmp(key, "min") == 0) return to_bool(value, &plan->pgn_style.minimal, error);
    if (strcmp(key, "hashfull") == 0 || strcmp(key, "tbhits") == 0 || strcmp(key, "pv") == 0 ||
        strcmp(key, "latency") == 0)
        return to_bool(value, &ignored, error);
    if (strcmp(key, "notation") != 0) return UNKNOWN_KEY;
    plan->pgn_style.notation = text_equal(value, "lan")   ? PGN_LAN
                               : text_equal(value, "uci") ? PGN_UCI
                                                          : PGN_SAN;
    return text_equal(value, "san") || plan->pgn_style.notation != PGN_SAN ||
           error_set(error, "'%.40s' is none of san, lan, uci", value);
}
SETTER(set_epdout) {
    if (strcmp(key, "file") == 0) return to_path(plan->epd, sizeof plan->epd, value, error);
    return strcmp(key, "append") == 0 ? to_bool(value, &plan->epd_append, error) : UNKNOWN_KEY;
}
SETTER(set_output) {
    if (strcmp(key, "format") != 0) return UNKNOWN_KEY;
    plan->format = text_equal(value, "cutechess") ? FORMAT_CUTECHESS
                   : text_equal(value, "json")    ? FORMAT_JSON
                                                  : FORMAT_FASTCHESS;
    return plan->format != FORMAT_FASTCHESS || text_equal(value, "fastchess") ||
           error_set(error, "'%.40s' is none of fastchess, cutechess, json", value);
}
SETTER(set_report) { return strcmp(key, "penta") == 0 ? to_bool(value, &plan->penta, error) : UNKNOWN_KEY; }

// What names a file must do so, or it would quietly do nothing.
static bool named(const char *path, Error *error) {
    return path[0] || error_set(error, "file= is missing");
}

READER(read_openings) {
    return each_key(plan, values, count, set_openings, error) && named(plan->openings, error);
}
READER(read_sprt) {
    plan->has_sprt = true;
    return each_key(plan, values, count, set_sprt, error) && sprt_spec_check(&plan->sprt, error);
}
READER(read_draw) {
    plan->adjudicate.draw_count = 1;
    return each_key(plan, values, count, set_draw, error);
}
READER(read_resign) {
    plan->adjudicate.resign_count = 1;
    return each_key(plan, values, count, set_resign, error);
}
READER(read_pgnout) {
    if (count > 0 && !strchr(values[0], '=')) { // cutechess: a bare file name
        if (!to_path(plan->pgn, sizeof plan->pgn, values[0], error)) return false;
        for (int i = 1; i < count; i++)
            if (text_equal(values[i], "min")) plan->pgn_style.minimal = true;
        return true;
    }
    return each_key(plan, values, count, set_pgnout, error) && named(plan->pgn, error);
}
READER(read_epdout) {
    if (count == 1 && !strchr(values[0], '=')) return to_path(plan->epd, sizeof plan->epd, values[0], error);
    return each_key(plan, values, count, set_epdout, error) && named(plan->epd, error);
}
READER(read_output) { return each_key(plan, values, count, set_output, error); }
READER(read_report) { return each_key(plan, values, count, set_report, error); }

static const OptionRow Rows[] = {
    {"-engine", -1, read_engine,
     "cmd=builtin|PROGRAM name= args= dir= tc= st= nodes= depth= timemargin= restart=on|off "
     "option.NAME=VALUE   adds an engine;\n"
     "      tc=[moves/][minutes:]seconds[+increment] or inf; nodes and depth may be mixed with it, or stand "
     "alone"},
    {"-each", -1, NULL, "the same keys, for every engine that does not say otherwise; may be given more than once"},
    {"-rounds", 1, read_rounds, "N      pairs of games for each pairing (default 2)"},
    {"-games", 1, read_games, "1|2    games to a pair (default 2: same opening, colours reversed)"},
    {"-repeat", 1, read_repeat, "       the same as -games 2"},
    {"-concurrency", 1, read_concurrency,
     "N      pairs played side by side (default 1; 0 or less: cores + N)"},
    {"-use-affinity", 1, read_affinity, "[CPUS] tie each worker's engines to a CPU, such as 0,2-3"},
    {"-tournament", 1, read_tournament, "roundrobin|gauntlet   for more than two engines"},
    {"-seeds", 1, read_seeds, "N      engines that play the gauntlet (default 1)"},
    {"-noswap", 0, read_noswap, "       do not swap colours in the second game"},
    {"-reverse", 0, read_reverse, "       begin with the colours reversed"},
    {"-openings", -1, read_openings,
     "file= order=random|sequential start=N plies=N   EPD, FEN, PGN or Polyglot, told by content"},
    {"-srand", 1, read_srand, "N      seed of everything random (always printed and kept in the journal)"},
    {"-variant", 1, read_variant, "standard|fischerandom"},
    {"-sprt", -1, read_sprt,
     "elo0= elo1= alpha=.05 beta=.05 model=normalized|logistic|bayesian batch=8   stop when it is decided"},
    {"-draw", -1, read_draw,
     "movenumber= movecount= score=   a draw when, from full move movenumber + 1 on, both sides' scores "
     "stayed within +-score for\n"
     "      movecount moves each; a capture or pawn move starts the count anew and counts itself; a mate "
     "score or none sets it to 0"},
    {"-resign", -1, read_resign,
     "movecount= score= [twosided=true]   a side loses after movecount own moves in a row at -score or "
     "worse; twosided: after\n"
     "      2 x movecount plies in a row of |score| or more, the side whose last score is negative loses"},
    {"-maxmoves", 1, read_maxmoves, "N      a draw after N moves each by the engines"},
    {"-tb", 1, read_tb,
     "PATH   Syzygy tables for adjudication, asked when the half-move clock is 0 and castling is over"},
    {"-tbpieces", 1, read_tbpieces, "N      ask with at most N men"},
    {"-tbignore50", 0, read_tbignore50, "       count wins that the fifty-move rule would stop"},
    {"-tbadjudicate", 1, read_tbadjudicate, "BOTH|WIN_LOSS|DRAW"},
    {"-pgnout", -1, read_pgnout,
     "file= notation=san|lan|uci append=true min=false nodes= seldepth= nps=   games, in order of the pairs"},
    {"-epdout", -1, read_epdout, "file= append=true  final positions"},
    {"-event", 1, read_event, "NAME   PGN tag"},
    {"-site", 1, read_site, "NAME   PGN tag"},
    {"-output", -1, read_output, "format=fastchess|cutechess|json"},
    {"-report", -1, read_report, "penta=true|false   statistics of pairs or of games"},
    {"-ratinginterval", 1, read_ratinginterval,
     "N      results every N pairs (default 10; 0: only at the end)"},
    {"-scoreinterval", 1, read_scoreinterval, "N      cutechess score line every N games (default 1)"},
    {"-journal", 1, read_journal,
     "FILE   where the run is kept (default hone-match.journal): the same command again continues it"},
    {"-fresh", 0, read_fresh, "       start over; the old journal is kept beside it"},
    {"-recover", 1, read_recover, "[off]  go on when an engine fails (default on)"},
    {"-incidents", 1, read_incidents,
     "N      end the run after more than N failures of engines (default 20)"},
    {"-startup-ms", 1, read_startup, "N      wait this long for uciok (default 10000)"},
    {"-ping-ms", 1, read_ping, "N      and this long for readyok (default 60000)"},
    {"-ucinewgame-ms", 1, read_ping, NULL},
    {"-quit-ms", 1, read_quit,
     "N      and this long for an engine to quit before it is killed (default 5000)"},
    {"-watchdog-ms", 1, read_watchdog,
     "N      and this long for a move without a clock (default a minute and a millisecond a node; depth: "
     "ten)"},
    {"-quiet", 0, read_quiet, "       no lines for single games"},
    {"-proto", 1, read_nothing, NULL},
    {"-force-concurrency", 0, read_nothing, NULL},
    {"-strict", 0, read_nothing, NULL},
    {"-wait", 1, read_nothing, NULL},
    {"-autosaveinterval", 1, read_nothing, NULL},
    {"-log", -1, read_nothing, NULL},
    {"-crashkey", 1, read_crashkey, NULL},
};

static const OptionRow *find_row(const char *text) {
    while (text[0] == '-' && text[1] == '-') text++;
    for (size_t i = 0; i < sizeof Rows / sizeof *Rows; i++)
        if (strcmp(Rows[i].name, text) == 0) return &Rows[i];
    return NULL;
}

// --- all of it

// Names that scripts can read: no blanks or quotes, none twice.
static bool settle_names(MatchPlan *plan, Error *error) {
    for (int i = 0; i < plan->player_count; i++) {
        PlayerSpec *spec = &plan->players[i];
        if (!spec->cmd[0]) return error_set(error, "-engine number %d has no cmd=", i + 1);
        if (!spec->name[0]) {
            const char *slash = strrchr(spec->cmd, '/');
            text_copy(spec->name, sizeof spec->name, spec->builtin ? "Hone" : slash ? slash + 1 : spec->cmd);
        }
        for (char *at = spec->name; *at; at++)
            if (strchr(" \t\"\\{}()", *at)) *at = '_';
        for (int copy = 2, j = 0; j < i; j++)
            if (strcmp(spec->name, plan->players[j].name) == 0) {
                size_t length = strlen(spec->name);
                snprintf(spec->name + length, sizeof spec->name - length, "_%d", copy++);
                j = -1;
            }
        const TimeControl *tc = &spec->tc;
        if (!tc->clock && !tc->move_ms && !tc->nodes && !tc->depth)
            return error_set(error, "engine %s has no limit: give tc=, st=, nodes= or depth=", spec->name);
        if (tc->clock && tc->move_ms)
            return error_set(error, "engine %s: tc= and st= exclude each other", spec->name);
    }
    return true;
}

// Reads all options in their order; the values of every -each are put together in each, to be read last.
static bool read_rows(MatchPlan *plan, int count, char **arguments, char **each, int *each_count,
                      Error *error) {
    for (int i = 0; i < count;) {
        const OptionRow *row = find_row(arguments[i]);
        if (!row) return error_set(error, "there is no option '%.60s' (see --help)", arguments[i]);
        int first = ++i;
        while (i < count && !find_row(arguments[i]) && (row->most < 0 || i - first < row->most)) {
            if (arguments[i][0] == '-' && row->most != 1 && !strchr(arguments[i], '=')) break;
            i++;
        }
        if (strcmp(row->name, "-each") == 0) {
            for (int v = first; v < i; v++) each[(*each_count)++] = arguments[v];
        } else if (!row->read(plan, arguments + first, i - first, error)) {
            return error_prefix(error, "%s", row->name);
        }
    }
    return true;
}

bool options_parse(MatchPlan *plan, int count, char **arguments, Error *error) {
    *plan = (MatchPlan){.rounds = 2,
                        .games = 2,
                        .seeds = 1,
                        .start = 1,
                        .seed = 1,
                        .concurrency = 1,
                        .penta = true,
                        .rating_interval = 10,
                        .score_interval = 1,
                        .recover = true,
                        .incident_limit = 20,
                        .pgn_append = true,
                        .epd_append = true,
                        .event = "Hone match",
                        .site = "?",
                        .journal = "hone-match.journal"};
    plan->adjudicate.tb_pieces = 7;
    plan->adjudicate.tb_wins = plan->adjudicate.tb_draws = true;
    plan->sprt =
        (SprtSpec){.alpha = 0.05, .beta = 0.05, .model = SPRT_NORMALIZED, .batch = SPRT_DEFAULT_BATCH};
    plan->players = calloc(MATCH_MAX_PLAYERS, sizeof *plan->players);
    if (!plan->players) return error_set(error, "not enough memory");
    for (int i = 0; i < MATCH_MAX_PLAYERS; i++) {
        plan->players[i].startup_ms = STARTUP_MS;
        plan->players[i].ping_ms = PING_MS;
        plan->players[i].quit_ms = QUIT_MS;
    }
    char **each = calloc((size_t)count + 1, sizeof *each);
    int each_count = 0;
    bool ok = each ? read_rows(plan, count, arguments, each, &each_count, error)
                   : error_set(error, "not enough memory");
    if (ok && each_count && !read_each(plan, each, each_count, error)) ok = error_prefix(error, "-each");
    free(each);
    if (!ok) return false;
    if (plan->player_count < 2)
        return error_set(error, "two engines are needed at least: -engine cmd=... -engine cmd=...");
    if (plan->gauntlet && plan->seeds >= plan->player_count)
        return error_set(error, "-seeds %d: fewer than the %d engines were expected", plan->seeds,
                         plan->player_count);
    if (plan->has_sprt && plan->player_count > 2)
        return error_set(error, "-sprt: exactly two engines were expected, there are %d", plan->player_count);
    if (plan->has_sprt && plan->games != 2)
        return error_set(error, "-sprt: the test counts pairs, -games 2 was expected");
    if (plan->format == FORMAT_CUTECHESS) plan->penta = false;
    if (plan->rounds == 0) return error_set(error, "-rounds: at least 1 was expected");
    return settle_names(plan, error);
}

void options_help(FILE *out) {
    fputs("hone-match plays matches between engines and says what the result means.\n\n"
          "  hone-match OPTIONS                     play, or continue what the journal holds\n"
          "  hone-match digest JOURNAL              what two runs of the same plan must agree on\n"
          "  hone-match replay JOURNAL [PAIR]       play node-limited pairs again and compare\n\n",
          out);
    for (size_t i = 0; i < sizeof Rows / sizeof *Rows; i++)
        if (Rows[i].help) fprintf(out, "  %-16s %s\n", Rows[i].name, Rows[i].help);
    fputs("\nA game ends by the rules first, then by tablebase, resign, draw and length, in this order. A "
          "side that crashes, hangs, makes an\n"
          "illegal move or oversteps its clock by more than timemargin loses. -rounds counts pairs.\n\n"
          "Examples:\n"
          "  hone-match -engine cmd=builtin name=new option.LmrBase=900 -engine cmd=builtin name=old -each "
          "nodes=5000 \\\n"
          "             -openings file=openings/balanced.epd order=random -rounds 2000 -concurrency 2 -sprt "
          "elo0=0 elo1=5\n"
          "  hone-match -engine cmd=./hone -engine cmd=stockfish -each tc=2+0.02 option.Hash=16 -rounds 100 "
          "-concurrency 2 \\\n"
          "             -openings file=openings/balanced.epd order=random -pgnout file=games.pgn\n",
          out);
}
