// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "match/ratings.h"

static const char Rule[] = "--------------------------------------------------";

static const char *result_text(int half_points) {
    return half_points == 2 ? "1-0" : half_points == 0 ? "0-1" : "1/2-1/2";
}

static Stats *cell(const MatchState *state, int first, int second) {
    return &state->table[first * state->plan->player_count + second];
}

// The results of a two-player match.
static Stats main_stats(const MatchState *state) { return *cell(state, 0, 1); }

static Sample main_sample(const MatchState *state, const Stats *stats) {
    return state->plan->penta && stats_pairs(stats) > 0 ? sample_of_pairs(stats) : sample_of_games(stats);
}

// A time control as people write it: "8+0.08", "40/60+0.6", "N=5000", "1.00/move".
static void control_text(const TimeControl *tc, char *buffer, size_t size) {
    int used = 0;
    buffer[0] = '\0';
    if (tc->clock) {
        if (tc->moves) used += snprintf(buffer, size, "%d/", tc->moves);
        used += snprintf(buffer + used, size - (size_t)used, "%g", (double)tc->base_ms / 1000);
        if (tc->inc_ms)
            used += snprintf(buffer + used, size - (size_t)used, "+%g", (double)tc->inc_ms / 1000);
    }
    if (tc->move_ms)
        used += snprintf(buffer + used, size - (size_t)used, "%s%g/move", used ? " " : "",
                         (double)tc->move_ms / 1000);
    if (tc->nodes)
        used += snprintf(buffer + used, size - (size_t)used, "%sN=%" PRIu64, used ? " " : "", tc->nodes);
    if (tc->depth) snprintf(buffer + used, size - (size_t)used, "%sD=%d", used ? " " : "", tc->depth);
}

static const char *option_value(const PlayerSpec *spec, const char *name, const char *otherwise) {
    for (int i = 0; i < spec->option_count; i++)
        if (text_equal(spec->options[i].name, name)) return spec->options[i].value;
    return otherwise;
}

static const char *book_name(const MatchPlan *plan) {
    const char *slash = strrchr(plan->openings, '/');
    return plan->openings[0] == '\0' ? "startpos" : slash ? slash + 1 : plan->openings;
}

static double llr_now(const MatchState *state, const Stats *stats) {
    double llr = NAN;
    const SprtSpec *spec = &state->plan->sprt;
    Sample sample = sprt_sample(spec, stats);
    Error error;
    return sprt_llr(spec, &sample, &llr, &error) ? llr : NAN;
}

// A figure as text, whatever it is: "-" where there is nothing to tell, never a NaN with or without a sign.
typedef struct Figure {
    char text[32];
} Figure;

static Figure figure(double value, int digits) {
    Figure figure;
    if (isnan(value)) text_copy(figure.text, sizeof figure.text, "-");
    else if (isinf(value)) text_copy(figure.text, sizeof figure.text, value > 0 ? "inf" : "-inf");
    else snprintf(figure.text, sizeof figure.text, "%.*f", digits, value);
    return figure;
}

// Half of an interval; one without end is infinite.
static Figure margin(const Estimate *estimate, int digits) {
    double half = estimate_margin(estimate);
    return figure(isnan(half) && isinf(estimate->value) ? INFINITY : half, digits);
}

// The normalized Elo; of results without any spread around one half it is 0 (and 0 / 0 by the formula).
static Figure nelo(const Sample *sample) {
    Moments m = sample_moments(sample);
    return figure(m.variance == 0 && m.mean == 0.5 ? 0 : sample_nelo(sample), 2);
}

// --- fastchess

static void fastchess_block(const MatchState *state) {
    const MatchPlan *plan = state->plan;
    Stats stats = main_stats(state);
    if (stats_games(&stats) == 0) return;
    Sample sample = main_sample(state, &stats);
    Estimate elo = sample_elo(&sample);
    char control[80];
    control_text(&plan->players[0].tc, control, sizeof control);
    printf("%s\n", Rule);
    printf("Results of %s vs %s (%s, %st, %sMB, %s):\n", plan->players[0].name, plan->players[1].name,
           control, option_value(&plan->players[0], "Threads", "1"),
           option_value(&plan->players[0], "Hash",
                        plan->players[0].builtin && plan->players[0].tc.nodes ? "1" : "16"),
           book_name(plan));
    printf("Elo: %s +/- %s, nElo: %s +/- %s\n", figure(elo.value, 2).text, margin(&elo, 2).text,
           nelo(&sample).text, figure(sample_nelo_error_fastchess(&sample), 2).text);
    printf("LOS: %.2f %%, DrawRatio: %.2f %%", 100 * sample_los(&sample), 100 * sample_draw_ratio(&sample));
    if (sample.classes == PENTA_CLASSES) printf(", PairsRatio: %s", figure(sample_pair_ratio(&sample), 2).text);
    double points = (double)stats_half_points(&stats) / 2, games = (double)stats_games(&stats);
    printf("\nGames: %" PRIu64 ", Wins: %" PRIu64 ", Losses: %" PRIu64 ", Draws: %" PRIu64
           ", Points: %.1f (%.2f %%)\n",
           stats_games(&stats), stats.wdl[WDL_WIN], stats.wdl[WDL_LOSS], stats.wdl[WDL_DRAW], points,
           100 * points / games);
    if (plan->penta && stats_pairs(&stats) > 0) {
        // Of the pairs in the middle, those of a win and a loss against those of two draws: the games tell
        // how many.
        double dd =
            ((double)stats.wdl[WDL_DRAW] - (double)stats.penta[PENTA_LD] - (double)stats.penta[PENTA_WD]) / 2;
        double wl = (double)stats.penta[PENTA_DD] - dd;
        printf("Ptnml(0-2): [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
               "], WL/DD Ratio: %s\n",
               stats.penta[0], stats.penta[1], stats.penta[2], stats.penta[3], stats.penta[4],
               figure(wl / dd, 2).text);
    }
    if (plan->has_sprt) {
        SprtBounds bounds = sprt_bounds(&plan->sprt);
        double llr = llr_now(state, &stats);
        if (isnan(llr)) llr = 0; // too little to tell
        printf("LLR: %.2f (%.1f%%) (%.2f, %.2f) [%.2f, %.2f] (%s model)\n", llr,
               100 * llr / (llr < 0 ? bounds.lower : bounds.upper), bounds.lower, bounds.upper,
               plan->sprt.elo0, plan->sprt.elo1, sprt_model_name(plan->sprt.model));
    }
    printf("%s\n", Rule);
}

// --- more than two engines

// A place in the table.
typedef struct Ranked {
    double elo;
    int player;
} Ranked;

// Best first; those without a rating last.
static int by_elo(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (isnan(x->elo) || isnan(y->elo)) return isnan(x->elo) - isnan(y->elo);
    return (x->elo < y->elo) - (x->elo > y->elo);
}

static void rating_table(const MatchState *state) {
    int count = state->plan->player_count;
    Rating ratings[MATCH_MAX_PLAYERS];
    Ranked ranked[MATCH_MAX_PLAYERS];
    Error error;
    if (!ratings_fit(count, state->table, 200, state->plan->seed, ratings, &error)) {
        printf("Ratings: %s\n", error.text);
        return;
    }
    for (int i = 0; i < count; i++) ranked[i] = (Ranked){ratings[i].elo.value, i};
    qsort(ranked, (size_t)count, sizeof *ranked, by_elo);
    printf("%s\n%-4s %-25s %8s %8s %8s %8s %7s %8s %8s   %s\n", Rule, "Rank", "Name", "Elo", "+/-", "nElo",
           "+/-", "Games", "Score", "Draw", "Ptnml(0-2)");
    for (int i = 0; i < count; i++) {
        const Rating *rating = &ratings[ranked[i].player];
        const Stats *s = &rating->stats;
        Sample sample = sample_of(s);
        double games = (double)stats_games(s);
        printf("%4d %-25s %8s %8s %8s %8s %7" PRIu64 " %7s%% %7s%%   [%" PRIu64 ", %" PRIu64 ", %" PRIu64
               ", %" PRIu64 ", %" PRIu64 "]\n",
               i + 1, state->plan->players[ranked[i].player].name, figure(rating->elo.value, 2).text,
               margin(&rating->elo, 2).text, nelo(&sample).text,
               figure(sample_nelo_error_fastchess(&sample), 2).text, stats_games(s),
               figure(50 * (double)stats_half_points(s) / games, 2).text,
               figure(100 * sample_draw_ratio(&sample), 2).text,
               s->penta[0], s->penta[1], s->penta[2], s->penta[3], s->penta[4]);
    }
    printf("Elo is relative to %s.\n%s\n", state->plan->players[0].name, Rule);
}

// --- cutechess

static void score_line(const char *label, const Stats *s) {
    double games = (double)stats_games(s);
    printf("%s: %" PRIu64 " - %" PRIu64 " - %" PRIu64 "  [%.3f] %" PRIu64 "\n", label, s->wdl[WDL_WIN],
           s->wdl[WDL_LOSS], s->wdl[WDL_DRAW], (double)stats_half_points(s) / 2 / games, stats_games(s));
}

static void cutechess_score(const MatchState *state) {
    const MatchPlan *plan = state->plan;
    Stats stats = main_stats(state);
    char label[160];
    snprintf(label, sizeof label, "Score of %s vs %s", plan->players[0].name, plan->players[1].name);
    score_line(label, &stats);
}

static void cutechess_block(const MatchState *state, bool final) {
    const MatchPlan *plan = state->plan;
    Stats stats = main_stats(state);
    if (stats_games(&stats) == 0) return;
    char label[160];
    cutechess_score(state);
    snprintf(label, sizeof label, "...      %s playing White", plan->players[0].name);
    score_line(label, &state->white[0]);
    snprintf(label, sizeof label, "...      %s playing Black", plan->players[0].name);
    score_line(label, &state->white[1]);
    Stats as_white = stats_add(state->white[0], stats_flip(state->white[1]));
    score_line("...      White vs Black", &as_white);
    Sample sample = sample_of_games(&stats);
    Estimate elo = sample_elo(&sample);
    printf("Elo difference: %s +/- %s, LOS: %.1f %%, DrawRatio: %.1f %%\n", figure(elo.value, 1).text,
           margin(&elo, 1).text, 100 * stats_los_cutechess(&stats), 100 * sample_draw_ratio(&sample));
    if (!plan->has_sprt) return;
    SprtBounds bounds = sprt_bounds(&plan->sprt);
    double llr = llr_now(state, &stats);
    if (isnan(llr)) llr = 0;
    printf("SPRT: llr %.3g (%.1f%%), lbound %.3g, ubound %.3g", llr, 100 * llr / bounds.upper, bounds.lower,
           bounds.upper);
    if (final && state->sprt.verdict != SPRT_CONTINUE)
        printf(" - %s was accepted", sprt_verdict_name(state->sprt.verdict));
    printf("\n");
}

// --- JSON lines

static void json_number(const char *name, double value, const char *end) {
    if (isfinite(value)) printf("\"%s\":%.10g%s", name, value, end);
    else printf("\"%s\":null%s", name, end);
}

static void json_block(const MatchState *state) {
    const MatchPlan *plan = state->plan;
    Stats stats = main_stats(state);
    Sample sample = main_sample(state, &stats);
    Estimate elo = sample_elo(&sample);
    printf("{\"type\":\"result\",\"games\":%" PRIu64 ",\"wins\":%" PRIu64 ",\"draws\":%" PRIu64
           ",\"losses\":%" PRIu64 ",\"penta\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],",
           stats_games(&stats), stats.wdl[WDL_WIN], stats.wdl[WDL_DRAW], stats.wdl[WDL_LOSS], stats.penta[0],
           stats.penta[1], stats.penta[2], stats.penta[3], stats.penta[4]);
    if (plan->has_sprt) {
        SprtBounds bounds = sprt_bounds(&plan->sprt);
        double llr = llr_now(state, &stats);
        json_number("llr", llr, ",");
        json_number("lower", bounds.lower, ",");
        json_number("upper", bounds.upper, ",");
        printf("\"state\":\"%s\",\"model\":\"%s\",", sprt_verdict_name(state->sprt.verdict),
               sprt_model_name(plan->sprt.model));
        SprtEstimate after;
        Sample seen = sprt_sample(&plan->sprt, &stats);
        Error error;
        bool known = sprt_estimate(&plan->sprt, &seen, &after, &error);
        json_number("sprt_elo", known ? after.elo.value : NAN, ",");
        json_number("sprt_elo_lo", known ? after.elo.low : NAN, ",");
        json_number("sprt_elo_hi", known ? after.elo.high : NAN, ",");
    }
    json_number("elo", elo.value, ",");
    json_number("elo_lo", elo.low, ",");
    json_number("elo_hi", elo.high, ",");
    json_number("los", sample_los(&sample), ",");
    json_number("nelo", sample_nelo(&sample), ",");
    json_number("nelo_err", sample_nelo_error(&sample), ",");
    json_number("draw_ratio", sample_draw_ratio(&sample), ",");
    json_number("pair_ratio", sample_pair_ratio(&sample), "}\n");
}

// --- when

static void block(const MatchState *state, bool final) {
    output_clear_live();
    if (state->plan->player_count > 2) {
        rating_table(state);
        return;
    }
    switch (state->plan->format) {
    case FORMAT_FASTCHESS: fastchess_block(state); break;
    case FORMAT_CUTECHESS: cutechess_block(state, final); break;
    case FORMAT_JSON: json_block(state); break;
    }
    fflush(stdout);
}

void output_plan(const MatchState *state, uint64_t seed, bool continued) {
    const MatchPlan *plan = state->plan;
    if (plan->format == FORMAT_JSON) {
        printf("{\"type\":\"plan\",\"seed\":%" PRIu64 ",\"pairs\":%" PRIu64 ",\"done\":%" PRIu64
               ",\"journal\":\"%s\"}\n",
               seed, state->pairs_total, state->pairs_done, plan->journal);
        return;
    }
    printf("Seed %" PRIu64 ", journal %s%s", seed, plan->journal, continued ? ": continued" : "");
    if (continued) printf(" after %" PRIu64 " of %" PRIu64 " pairs", state->pairs_done, state->pairs_total);
    printf("\n");
    if (plan->has_sprt) {
        const SprtSpec *spec = &plan->sprt;
        double variance = sprt_game_variance(0.5, 0);
        for (int i = 0; i < 3; i++) {
            double elo = i == 0 ? spec->elo0 : i == 1 ? (spec->elo0 + spec->elo1) / 2 : spec->elo1;
            SprtPlan expected = sprt_plan(spec, sprt_true_score(spec, elo, 0.5, variance), 0.5, variance);
            printf("SPRT [%.2f, %.2f] %s: at a true %.2f it takes about %.0f games and passes with "
                   "probability %.3f\n",
                   spec->elo0, spec->elo1, sprt_model_name(spec->model), elo, expected.games, expected.pass);
        }
    }
    fflush(stdout);
}

void output_game(const MatchState *state, uint64_t number, const Pairing *pairing, const JournalGame *game,
                 const char *reason) {
    const MatchPlan *plan = state->plan;
    if (plan->quiet) return;
    output_clear_live();
    const char *white = plan->players[game->white == 0 ? pairing->first : pairing->second].name;
    const char *black = plan->players[game->white == 0 ? pairing->second : pairing->first].name;
    if (plan->format == FORMAT_JSON) {
        printf("{\"type\":\"game\",\"game\":%" PRIu64
               ",\"white\":\"%s\",\"black\":\"%s\",\"result\":\"%s\",\"reason\":\"%s\",\"plies\":%d}\n",
               number, white, black, result_text(game->half_points), reason, game->plies);
    } else {
        uint64_t total = state->pairs_total * (uint64_t)plan->games;
        printf("Started game %" PRIu64 " of %" PRIu64 " (%s vs %s)\n", number, total, white, black);
        printf("Finished game %" PRIu64 " (%s vs %s): %s {%s}\n", number, white, black,
               result_text(game->half_points), reason);
    }
}

void output_pair(const MatchState *state) {
    const MatchPlan *plan = state->plan;
    uint64_t games = state->pairs_done * (uint64_t)plan->games;
    bool rating = plan->rating_interval && state->pairs_done % plan->rating_interval == 0;
    if (plan->format == FORMAT_CUTECHESS && plan->player_count == 2 && !rating && plan->score_interval &&
        games % plan->score_interval == 0) {
        output_clear_live();
        cutechess_score(state);
    }
    if (rating) block(state, false);
    fflush(stdout);
}

// What was lost on time, and whether the machine was to blame.
static void time_losses(const MatchState *state) {
    if (state->time_losses)
        printf("Time losses: %" PRIu64 ", of which %" PRIu64 " during a stall of the machine\n",
               state->time_losses, state->stalled_losses);
    for (uint64_t i = 0; i < state->time_losses && i < MATCH_KEPT_LOSSES; i++) {
        const TimeLoss *loss = &state->losses[i];
        time_t ended = (time_t)loss->ended_unix;
        struct tm utc;
        char at[40];
        strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", gmtime_r(&ended, &utc));
        printf("  pair %" PRIu64 ", game %d at %s UTC, %s: %s", loss->pair + 1, loss->game + 1, at,
               state->plan->players[loss->player].name, loss->reason);
        if (loss->stall_ms > 0) printf(", the machine stalled %" PRId64 " ms", loss->stall_ms);
        printf("\n");
    }
    if (state->stalls)
        printf("Stalls of the machine: %" PRIu64 " of %d ms or more, the longest lasted %" PRId64 " ms\n",
               state->stalls, HEARTBEAT_STALL_MS, state->longest_stall_ms);
}

static int64_t latency_total(const MatchState *state) {
    int64_t total = 0;
    for (int i = 0; i < LATENCY_BINS; i++) total += state->latency[i];
    return total;
}

// The bin below and in which a share of the delays lies.
static int latency_bin(const MatchState *state, double share) {
    int bin = 0;
    int64_t below = state->latency[0];
    while (bin < LATENCY_BINS - 1 && (double)below < share * (double)latency_total(state))
        below += state->latency[++bin];
    return bin;
}

// The runner's own delay, from one engine's answer to the other's go: in a line, and all of it as a histogram.
static void latency_lines(const MatchState *state) {
    if (latency_total(state) == 0) return;
    const char *between = "";
    printf("Runner's own latency: median at most %.3f ms, 99 %% at most %.3f ms over %" PRId64 " moves\n",
           (double)(1 << latency_bin(state, 0.5)) / 1000, (double)(1 << latency_bin(state, 0.99)) / 1000,
           latency_total(state));
    printf("  moves by latency in ms: ");
    for (int i = 0; i < LATENCY_BINS; i++) {
        if (state->latency[i] == 0) continue;
        printf("%s<=%.3f %" PRId64, between, (double)(1 << i) / 1000, state->latency[i]);
        between = ", ";
    }
    printf("\n");
}

// The same as JSON members.
static void json_time(const MatchState *state) {
    printf(",\"time_losses\":%" PRIu64 ",\"stalled_losses\":%" PRIu64 ",\"stalls\":%" PRIu64
           ",\"longest_stall_ms\":%" PRId64 ",\"latency_us\":{",
           state->time_losses, state->stalled_losses, state->stalls, state->longest_stall_ms);
    const char *between = "";
    for (int i = 0; i < LATENCY_BINS; i++) {
        if (state->latency[i] == 0) continue;
        printf("%s\"%d\":%" PRId64, between, 1 << i, state->latency[i]);
        between = ",";
    }
    printf("}");
}

void output_end(const MatchState *state, MatchOutcome outcome) {
    const MatchPlan *plan = state->plan;
    if (!plan->rating_interval || state->pairs_done % plan->rating_interval != 0 ||
        plan->format != FORMAT_FASTCHESS)
        block(state, true);
    if (plan->format == FORMAT_JSON) {
        printf("{\"type\":\"end\",\"outcome\":\"%s\",\"aside\":%" PRIu64 ",\"duplicates\":%" PRIu64
               ",\"incidents\":%" PRIu64,
               outcome == MATCH_FINISHED      ? "finished"
               : outcome == MATCH_INTERRUPTED ? "interrupted"
                                              : "failed",
               state->aside, state->duplicates, state->incidents);
        json_time(state);
        printf("}\n");
        fflush(stdout);
        return;
    }
    if (plan->has_sprt) {
        switch (state->sprt.verdict) {
        case SPRT_CONTINUE:
            if (outcome == MATCH_FINISHED)
                printf("SPRT ([%.2f, %.2f]) ended at the game limit - no decision\n", plan->sprt.elo0,
                       plan->sprt.elo1);
            break;
        case SPRT_ACCEPT_H0:
        case SPRT_ACCEPT_H1:
            printf("SPRT ([%.2f, %.2f]) completed - %s was accepted\n", plan->sprt.elo0, plan->sprt.elo1,
                   sprt_verdict_name(state->sprt.verdict));
            SprtEstimate after;
            Stats stats = main_stats(state);
            Sample seen = sprt_sample(&plan->sprt, &stats);
            Error error;
            if (sprt_estimate(&plan->sprt, &seen, &after, &error))
                printf("Elo after the test, median-unbiased: %.2f [%.2f, %.2f]\n", after.elo.value,
                       after.elo.low, after.elo.high);
            break;
        }
    }
    for (int i = 0; i < plan->player_count; i++)
        if (state->timeouts[i] || state->crashes[i])
            printf("Player: %s\n  Timeouts: %" PRIu64 "\n  Crashed: %" PRIu64 "\n", plan->players[i].name,
                   state->timeouts[i], state->crashes[i]);
    if (state->aside) printf("Pairs set aside after crashes: %" PRIu64 "\n", state->aside);
    if (state->duplicates)
        printf("Duplicate games: %" PRIu64 " (copies tell nothing new: use more openings)\n",
               state->duplicates);
    time_losses(state);
    latency_lines(state);
    if (outcome == MATCH_INTERRUPTED)
        printf("Tournament was interrupted. Run the same command again to continue from %s\n", plan->journal);
    else if (outcome == MATCH_FINISHED) printf("Finished match\n");
    int64_t seconds = (now_ms() - state->begun_ms) / 1000;
    printf("Total Time: %02d:%02d:%02d (hours:minutes:seconds)\n", (int)(seconds / 3600),
           (int)(seconds / 60 % 60), (int)(seconds % 60));
    fflush(stdout);
}

// --- the live line

void output_clear_live(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

void output_live(const MatchState *state) {
    if (!isatty(STDERR_FILENO)) return;
    double seconds = (double)(now_ms() - state->begun_ms) / 1000,
           rate = seconds > 0 ? (double)state->games_now / seconds : 0;
    double left = (double)((state->pairs_total - state->pairs_done) * (uint64_t)state->plan->games);
    fprintf(stderr, LIVE_BEGIN "%" PRIu64 "/%" PRIu64 " pairs, %.1f games/s", state->pairs_done,
            state->pairs_total, rate);
    if (rate > 0)
        fprintf(stderr, ", at most %d:%02d:%02d left", (int)(left / rate) / 3600,
                (int)(left / rate) / 60 % 60, (int)(left / rate) % 60);
    if (state->plan->player_count == 2 && state->pairs_done > 0) {
        Stats stats = main_stats(state);
        Sample sample = main_sample(state, &stats);
        Estimate elo = sample_elo(&sample);
        fprintf(stderr, ", Elo %s +/- %s", figure(elo.value, 1).text, margin(&elo, 1).text);
        if (state->plan->has_sprt)
            fprintf(stderr, ", LLR %.2f (%s)", llr_now(state, &stats),
                    sprt_model_name(state->plan->sprt.model));
    }
    fputs(LIVE_END, stderr);
    fflush(stderr);
}
