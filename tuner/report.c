// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/report.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "match/ratings.h"
#include "tuner/plot.h"
#include "tuner/tune.h"

enum { POINTS = 400, RATE_BINS = 60, EVERY_MS = 10000, MAX_PLOTS = 64 };

// One pair as the report needs it.
typedef struct Row {
    uint64_t number;
    JournalPair pair; // without texts
} Row;

// A journal, read: pairs in order up to the first gap or the verdict.
typedef struct Source {
    MatchPlan match;
    TunePlan tune;
    bool tunes;
    Row *rows;
    uint64_t count, capacity;
    Sprt sprt;
    Stats stats;  // of all pairs, from the side of each pairing's first engine
    Stats *table; // of each pairing, as ratings_fit takes them
    uint64_t aside, failures;
} Source;

// --- reading

static bool keep(void *context, const JournalPair *pair, Error *error) {
    Source *s = context;
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 1024;
        Row *grown = realloc(s->rows, s->capacity * sizeof *grown);
        if (!grown) return error_set(error, "not enough memory");
        s->rows = grown;
    }
    Row *row = &s->rows[s->count++];
    *row = (Row){.number = pair->number, .pair = *pair};
    for (int g = 0; g < 2; g++) row->pair.game[g].moves = row->pair.game[g].reason = NULL;
    return true;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = ((const Row *)a)->number, y = ((const Row *)b)->number;
    return (x > y) - (x < y);
}

static int points_of(const JournalGame *game) {
    return game->white == 0 ? game->half_points : 2 - game->half_points;
}

static Stats stats_of(const JournalPair *pair) {
    if (pair->games == 0) return (Stats){0};
    if (pair->games == 1) return stats_from_game(points_of(&pair->game[0]));
    return stats_from_pair(points_of(&pair->game[0]), points_of(&pair->game[1]));
}

// Counts a pair of a match, and tells the test.
static void count_row(Source *s, const JournalPair *pair) {
    Pairing pairing = match_pairing(&s->match, pair->number);
    Stats *cell = &s->table[pairing.first * s->match.player_count + pairing.second], stats = stats_of(pair);
    if (pair->games == 0) s->aside++;
    for (int g = 0; g < pair->games; g++) s->failures += pair->game[g].end >= GAME_TIME;
    s->stats = stats_add(s->stats, stats);
    *cell = stats_add(*cell, stats);
    if (s->match.has_sprt && pair->games == 2)
        sprt_add_pair(&s->sprt, points_of(&pair->game[0]), points_of(&pair->game[1]));
}

static bool source_read(Source *s, const char *path, Error *error) {
    cJSON *json = NULL;
    int64_t size;
    *s = (Source){0};
    if (!journal_read(path, &json, &size, keep, s, error)) return false;
    bool ok = tune_plan_from_json(&s->tune, json, &s->tunes, error);
    if (s->tunes) s->match = s->tune.match;
    else ok = match_plan_from_json(&s->match, json, error);
    cJSON_Delete(json);
    if (!ok) return error_prefix(error, "%s: line 1", path);
    s->table = calloc((size_t)(s->match.player_count * s->match.player_count), sizeof *s->table);
    if (!s->table) return error_set(error, "not enough memory");
    if (s->count) qsort(s->rows, s->count, sizeof *s->rows, by_number);
    s->sprt = s->match.has_sprt ? sprt_start(&s->match.sprt) : (Sprt){.verdict = SPRT_CONTINUE};
    uint64_t kept = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        if (s->rows[i].number < kept) continue;
        if (s->rows[i].number > kept || s->sprt.verdict != SPRT_CONTINUE) break;
        s->rows[kept] = s->rows[i];
        count_row(s, &s->rows[kept++].pair);
    }
    s->count = kept;
    return true;
}

static void source_free(Source *s) {
    free(s->rows);
    free(s->table);
    if (s->tunes) tune_plan_free(&s->tune);
    else free(s->match.players);
}

// --- plots of a match

// Values along a run, at most POINTS of them.
typedef struct Path {
    double x[POINTS + 2], y[POINTS + 2], low[POINTS + 2], high[POINTS + 2];
    int count;
} Path;

static bool due(uint64_t i, uint64_t total) {
    uint64_t step = total / POINTS + 1;
    return i % step == 0 || i == total;
}

static void range_of(const double *values, int count, double *low, double *high) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

static void plot_penta(const Stats *stats, FILE *out) {
    static const char *const Labels[] = {"0 : 2", "½ : 1½", "1 : 1", "1½ : ½", "2 : 0"};
    double most = 1;
    for (int i = 0; i < PENTA_CLASSES; i++) most = fmax(most, (double)stats->penta[i]);
    Plot plot = plot_begin(out, "Pairs by result", NULL, 0, 5, 0, most * 1.12);
    for (int i = 0; i < PENTA_CLASSES; i++) {
        char value[32];
        snprintf(value, sizeof value, "%llu", (unsigned long long)stats->penta[i]);
        plot_bar(&plot, i + .15, i + .85, (double)stats->penta[i], Labels[i], value);
    }
    plot_end(&plot);
}

static void plot_rate(const Source *s, FILE *out) {
    int64_t first = INT64_MAX, last = 0;
    double bins[RATE_BINS] = {0}, x[RATE_BINS], most = 0;
    for (uint64_t i = 0; i < s->count; i++)
        for (int g = 0; g < s->rows[i].pair.games; g++) {
            int64_t start = s->rows[i].pair.game[g].started_unix * 1000,
                    end = start + s->rows[i].pair.game[g].ms;
            if (start < first) first = start;
            if (end > last) last = end;
        }
    double width = fmax((double)(last - first) / RATE_BINS / 1000, 1);
    int used = last > first ? int_min(RATE_BINS, (int)((double)(last - first) / 1000 / width)) : 0;
    if (used < 2) return;
    for (uint64_t i = 0; i < s->count; i++)
        for (int g = 0; g < s->rows[i].pair.games; g++) {
            int64_t end = s->rows[i].pair.game[g].started_unix * 1000 + s->rows[i].pair.game[g].ms;
            int bin = (int)((double)(end - first) / 1000 / width);
            if (bin < used) bins[bin] += 1 / width;
        }
    for (int i = 0; i < used; i++) x[i] = (i + .5) * width / 60, most = fmax(most, bins[i]);
    Plot plot = plot_begin(out, "Games a second", "minutes", 0, used * width / 60, 0, most * 1.1);
    plot_line(&plot, "a", x, bins, used);
    plot_end(&plot);
}

static void plot_match(const Source *s, Path *path, FILE *out) {
    Stats stats = {0};
    Path *llr = path, *elo = path + 1;
    Sprt sprt = s->match.has_sprt ? sprt_start(&s->match.sprt) : (Sprt){.verdict = SPRT_CONTINUE};
    llr->count = elo->count = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        const JournalPair *pair = &s->rows[i].pair;
        stats = stats_add(stats, stats_of(pair));
        if (s->match.has_sprt && pair->games == 2)
            sprt_add_pair(&sprt, points_of(&pair->game[0]), points_of(&pair->game[1]));
        if (!due(i + 1, s->count) || stats_games(&stats) == 0) continue;
        llr->x[llr->count] = elo->x[elo->count] = (double)stats_games(&stats);
        llr->y[llr->count++] = sprt.llr;
        Sample sample = sample_of(&stats);
        Estimate e = sample_elo(&sample);
        elo->low[elo->count] = e.low;
        elo->high[elo->count] = e.high;
        elo->y[elo->count++] = e.value;
    }
    if (s->match.has_sprt) {
        SprtBounds bounds = sprt_bounds(&s->match.sprt);
        double low = bounds.lower, high = bounds.upper;
        range_of(llr->y, llr->count, &low, &high);
        Plot plot = plot_begin(out, "Log-likelihood ratio", "games", 0,
                               llr->count ? llr->x[llr->count - 1] : 1, low * 1.1, high * 1.1);
        plot_level(&plot, bounds.upper, "H1");
        plot_level(&plot, bounds.lower, "H0");
        plot_line(&plot, "a", llr->x, llr->y, llr->count);
        plot_end(&plot);
    }
    // The first intervals are too wide to see anything: the range follows the last two thirds, and the last value.
    double low = 0, high = 0, most = 400, last = elo->count ? elo->y[elo->count - 1] : 0;
    if (isfinite(last)) most = fmax(most, 1.3 * fabs(last));
    int from = elo->count / 3;
    range_of(elo->low + from, elo->count - from, &low, &high);
    range_of(elo->high + from, elo->count - from, &low, &high);
    Plot plot =
        plot_begin(out, "Elo with its 95 % interval", "games", 0, elo->count ? elo->x[elo->count - 1] : 1,
                   fmax(low * 1.1, -most) - 1, fmin(high * 1.1, most) + 1);
    plot_band(&plot, elo->x, elo->low, elo->high, elo->count);
    plot_level(&plot, 0, "");
    plot_line(&plot, "a", elo->x, elo->y, elo->count);
    plot_end(&plot);
}

// --- words

static void say_match(const Source *s, FILE *out) {
    Sample sample = sample_of(&s->stats);
    Estimate elo = sample_elo(&sample);
    uint64_t total = match_pairs(&s->match);
    const char *first = s->match.players[0].name, *second = s->match.players[1].name;
    fputs("<p class=\"verdict\">", out);
    if (s->match.has_sprt) {
        SprtVerdict v = s->sprt.verdict;
        SprtEstimate after;
        Sample seen = sprt_sample(&s->match.sprt, &s->stats);
        Error ignored;
        if (v != SPRT_CONTINUE && sprt_estimate(&s->match.sprt, &seen, &after, &ignored)) elo = after.elo;
        if (v == SPRT_ACCEPT_H1) fputs("H1 accepted: the first engine is better by this test. ", out);
        else if (v == SPRT_ACCEPT_H0)
            fputs("H0 accepted: the first engine is not better by this test. ", out);
        else if (s->count >= total) fputs("No decision: the cap was reached before either bound. ", out);
        else fputs("Not decided yet: the test goes on. ", out);
        SprtBounds bounds = sprt_corrected_bounds(&s->sprt);
        fprintf(out, "SPRT [%g, %g] %s, LLR %.2f (held to %.2f and %.2f, corrected for overshoot). ",
                s->match.sprt.elo0, s->match.sprt.elo1, sprt_model_name(s->match.sprt.model), s->sprt.llr, bounds.lower,
                bounds.upper);
    }
    html_text(out, first);
    fputs(" against ", out);
    html_text(out, second);
    fprintf(out, ": Elo %.1f, 95 %% between %.1f and %.1f", elo.value, elo.low, elo.high);
    fprintf(out, "%s, %llu of at most %llu games.</p>\n",
            s->match.has_sprt && s->sprt.verdict != SPRT_CONTINUE ? " (median-unbiased)" : "",
            (unsigned long long)stats_games(&s->stats), (unsigned long long)total * (unsigned)s->match.games);
}

// More than two engines: a table.
static void say_ratings(const Source *s, FILE *out) {
    Rating ratings[MATCH_MAX_PLAYERS];
    Error error;
    fprintf(out, "<p class=\"verdict\">%llu of %llu games between %d engines.",
            (unsigned long long)stats_games(&s->stats),
            (unsigned long long)match_pairs(&s->match) * (unsigned)s->match.games, s->match.player_count);
    if (!ratings_fit(s->match.player_count, s->table, 200, s->match.seed, ratings, &error)) {
        fprintf(out, " No ratings yet: %s.</p>\n", error.text);
        return;
    }
    fputs(" Elo is relative to the first.</p>\n<div class=\"wide\"><table><tr><th>engine<th>Elo<th>&plusmn;<th>games<th>"
          "score</tr>\n",
          out);
    for (int i = 0; i < s->match.player_count; i++) {
        const Stats *own = &ratings[i].stats;
        fputs("<tr><td>", out);
        html_text(out, s->match.players[i].name);
        if (isnan(ratings[i].elo.value)) fputs("<td>-<td>-", out); // nobody has played it yet
        else fprintf(out, "<td>%.1f<td>%.1f", ratings[i].elo.value, estimate_margin(&ratings[i].elo));
        fprintf(out, "<td>%llu<td>%.1f %%</tr>\n", (unsigned long long)stats_games(own),
                50 * (double)stats_half_points(own) / fmax((double)stats_games(own), 1));
    }
    fputs("</table></div>\n", out);
}

static void say_incidents(const Source *s, FILE *out) {
    if (s->failures == 0 && s->aside == 0) {
        fputs("<p>Incidents: none; no engine failed, no pair was set aside.</p>\n", out);
        return;
    }
    fprintf(out,
            "<p class=\"bad\">Incidents: %llu games lost by a failing engine, %llu pairs set aside after "
            "crashes.</p>\n",
            (unsigned long long)s->failures, (unsigned long long)s->aside);
}

// --- a tuning run

// Replays the run and notes each parameter's way; paths has one entry a parameter shown.
static SpsaState *replay(const Source *s, Path *paths, int shown, Error *error) {
    const SpsaPlan *plan = &s->tune.spsa;
    SpsaState *state = spsa_create(plan, error);
    uint64_t penta[5] = {0}, pairs = (uint64_t)plan->pairs, total = s->count / pairs;
    if (!state) return NULL;
    for (uint64_t i = 0; i < total * pairs; i++) {
        tune_count(&s->rows[i].pair, penta);
        if ((i + 1) % pairs != 0) continue;
        uint64_t k = (i + 1) / pairs;
        spsa_apply(state, (int64_t)k, penta);
        memset(penta, 0, sizeof penta);
        if (!due(k, total)) continue;
        for (int p = 0; p < shown; p++) {
            SpsaEstimate e = spsa_estimate(state, p);
            Path *path = &paths[p];
            path->x[path->count] = 2 * (double)(i + 1);
            path->low[path->count] = fmax(e.last - e.error, plan->params[p].min);
            path->high[path->count] = fmin(e.last + e.error, plan->params[p].max);
            path->y[path->count++] = e.last;
        }
    }
    return state;
}

static void table_of(const SpsaPlan *plan, const SpsaState *state, FILE *out) {
    fputs("<div class=\"wide\"><table><tr><th>parameter<th>start<th>value<th>&plusmn;<th>signal / "
          "noise<th>matters</tr>\n",
          out);
    for (int i = 0; i < plan->count; i++) {
        SpsaEstimate e = spsa_estimate(state, i);
        fputs("<tr><td>", out);
        html_text(out, plan->params[i].name);
        fprintf(out, "<td>%.6g<td><b>%.6g</b><td>%.4g<td>%.2f<td>%s%s</tr>\n", plan->params[i].start, e.value,
                e.error, e.signal, e.matters ? "yes" : "not seen",
                tune_at_bound(&plan->params[i], e.value) ? ", at its bound" : "");
    }
    fputs("</table></div>\n", out);
}

static bool show_tune(const Source *s, FILE *out, Error *error) {
    const SpsaPlan *plan = &s->tune.spsa;
    int shown = int_min(plan->count, MAX_PLOTS);
    Path *paths = calloc((size_t)shown + 1, sizeof *paths);
    SpsaState *state = paths ? replay(s, paths, shown, error) : NULL;
    if (!state) {
        free(paths);
        return false;
    }
    int64_t applied = spsa_applied(state), total = spsa_iterations(plan);
    int matter = 0;
    for (int i = 0; i < plan->count; i++) matter += spsa_estimate(state, i).matters;
    fprintf(out,
            "<p class=\"verdict\">SPSA, method %s: %s after %lld of %lld iterations (%llu games). %d of %d "
            "parameters are seen to matter.</p>\n",
            spsa_mode_name(plan->mode), applied >= total ? "finished" : "running or interrupted",
            (long long)applied, (long long)total, (unsigned long long)(2 * s->count), matter, plan->count);
    table_of(plan, state, out);
    fputs("<div class=\"plots\">\n", out);
    for (int p = 0; p < shown; p++) {
        const Path *path = &paths[p];
        const SpsaParam *param = &plan->params[p];
        double low = param->start, high = param->start;
        range_of(path->low, path->count, &low, &high);
        range_of(path->high, path->count, &low, &high);
        double room = fmax((high - low) * .08, 1e-6);
        Plot plot = plot_begin(out, param->name, "games", 0, 2 * (double)(total * plan->pairs), low - room,
                               high + room);
        plot_band(&plot, path->x, path->low, path->high, path->count);
        plot_level(&plot, param->start, "start");
        plot_line(&plot, "a", path->x, path->y, path->count);
        plot_end(&plot);
    }
    fputs("</div>\n", out);
    if (plan->count > shown)
        fprintf(out, "<p>%d more parameters are in the table only.</p>\n", plan->count - shown);
    spsa_destroy(state);
    free(paths);
    return true;
}

// --- pages

static const char Head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root{--back:#fff;--text:#1b1f24;--soft:#67707b;--rule:#e3e6ea;--line:#0b62c4;--band:#0b62c422;--level:#"
    "b3541e;--good:#0a7d33;--bad:#b3261e;--box:#f5f7f9;color-scheme:light dark}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#14171a;--text:#e4e7ea;--soft:#98a1ab;--rule:#2c3238;--"
    "line:#6db3ff;--band:#6db3ff2e;--level:#f0a060;--good:#6fd58f;--bad:#ff8f86;--box:#1d2227}}\n"
    "*{box-sizing:border-box}body{margin:0 "
    "auto;padding:1rem;max-width:62rem;background:var(--back);color:var(--text);font:16px/1.5 "
    "system-ui,sans-serif}\n"
    "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-top:1px solid "
    "var(--rule);padding-top:1rem}\n"
    ".verdict{background:var(--box);border-left:4px solid var(--line);padding:.6rem "
    ".8rem;overflow-wrap:anywhere}.bad{color:var(--bad)}.soft{color:var(--soft)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:1rem}figure{"
    "margin:0}svg{width:100%;height:auto;display:block}\n"
    ".wide{overflow-x:auto;margin:.8rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:."
    "25rem .7rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}\n"
    "th:first-child,td:first-child,td.text{text-align:left}td.text{white-space:normal}.passed{color:var(--"
    "good)}.failed{color:var(--bad)}pre{background:var(--box);padding:.6rem;overflow-x:auto}\n"
    ".grid{stroke:var(--rule);fill:none}.line{fill:none;stroke:var(--line);stroke-width:1.8}.band{fill:var(--"
    "band);stroke:none}.bar{fill:var(--line)}\n"
    ".level{stroke:var(--level);stroke-dasharray:5 "
    "4;fill:none}.tick{fill:var(--soft);font-size:11px}.head{fill:var(--text);font-size:13px;font-weight:600}"
    "\n"
    "@media(max-width:40rem){.tick{font-size:17px}.head{font-size:19px}}\n"
    "</style>\n";

static bool show_journal(const char *path, const char *name, FILE *out, Error *error) {
    Source s;
    Path *paths = calloc(2, sizeof *paths);
    bool ok = (paths || error_set(error, "not enough memory")) && source_read(&s, path, error);
    if (!ok) {
        if (paths) source_free(&s);
        free(paths);
        return false;
    }
    bool two = s.match.player_count == 2;
    fputs("<h2>", out);
    html_text(out, name);
    fputs("</h2>\n", out);
    if (!s.tunes && two) say_match(&s, out);
    if (!s.tunes && !two) say_ratings(&s, out);
    if (s.tunes) ok = show_tune(&s, out, error);
    say_incidents(&s, out);
    if (ok) {
        fputs("<div class=\"plots\">\n", out);
        if (!s.tunes && two) plot_match(&s, paths, out);
        if (two && stats_pairs(&s.stats) > 0) plot_penta(&s.stats, out);
        plot_rate(&s, out);
        fputs("</div>\n", out);
    }
    free(paths);
    source_free(&s);
    return ok;
}

static const char *text_of(const cJSON *json, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}

// The campaign's own words, from result.json, if it is there.
static void show_result(const char *folder, FILE *out) {
    char path[1200];
    snprintf(path, sizeof path, "%.1100s/result.json", folder);
    char *text = file_read(path, NULL, NULL);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    const cJSON *stage, *option;
    free(text);
    if (!json) return;
    fputs("<h1>Campaign ", out);
    html_text(out, text_of(json, "name"));
    fputs("</h1><p>", out);
    html_text(out, text_of(json, "about"));
    fputs("</p>\n<div class=\"wide\"><table><tr><th>stage<th>type<th>state<th>what came of it</tr>\n", out);
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(json, "stages")) {
        fputs("<tr><td>", out);
        html_text(out, text_of(stage, "name"));
        fprintf(out, "<td>%s<td class=\"%s\">%s<td class=\"text\">", text_of(stage, "type"),
                text_of(stage, "state"), text_of(stage, "state"));
        html_text(out, text_of(stage, "text"));
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(json, "options");
    if (cJSON_GetArraySize(options) == 0)
        fputs("<p class=\"verdict\">Candidate: the base, no value differs.</p>\n", out);
    else fputs("<p>Candidate now:</p><pre>", out);
    cJSON_ArrayForEach(option, options) {
        fputs("setoption name ", out);
        html_text(out, option->string);
        fputs(" value ", out);
        html_text(out, cJSON_IsString(option) ? option->valuestring : "");
        fputs("\n", out);
    }
    if (cJSON_GetArraySize(options) > 0) fputs("</pre>\n", out);
    cJSON_Delete(json);
}

static int is_journal(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 8 && strcmp(entry->d_name + length - 8, ".journal") == 0;
}

static bool show_folder(const char *folder, FILE *out, Error *error) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_journal, alphasort);
    if (count < 0) return error_set(error, "%s: %s", folder, strerror(errno));
    bool ok = true;
    show_result(folder, out);
    for (int i = 0; i < count; i++) {
        char path[1400];
        snprintf(path, sizeof path, "%.1000s/%.300s", folder, entries[i]->d_name);
        ok = ok && show_journal(path, entries[i]->d_name, out, error);
        free(entries[i]);
    }
    free(entries);
    return ok && (count > 0 || error_set(error, "%s: there is no journal in it", folder));
}

void report_head(FILE *out, const char *title) {
    fputs(Head, out);
    fputs("<title>Hone: ", out);
    html_text(out, title);
    fputs("</title></head><body>\n", out);
}

bool report_write(const char *source, const char *path, Error *error) {
    char fresh[1200];
    struct stat about;
    if (stat(source, &about) != 0) return error_set(error, "%s: %s", source, strerror(errno));
    snprintf(fresh, sizeof fresh, "%.1100s.new", path);
    FILE *out = fopen(fresh, "w");
    if (!out) return error_set(error, "%s: %s", fresh, strerror(errno));
    report_head(out, source);
    bool folder = S_ISDIR(about.st_mode);
    bool ok = folder ? show_folder(source, out, error) : show_journal(source, source, out, error);
    fputs("<p class=\"soft\">Made by hone-tune report from ", out);
    html_text(out, source);
    fputs("</p></body></html>\n", out);
    bool written = ferror(out) == 0;
    written = fclose(out) == 0 && written;
    if (ok && !written) ok = error_set(error, "%s: cannot write: %s", fresh, strerror(errno));
    if (ok && rename(fresh, path) != 0) ok = error_set(error, "%s: %s", path, strerror(errno));
    if (!ok) remove(fresh);
    return ok;
}

void report_tick(ReportClock *clock, const char *source, const char *path) {
    Error error;
    int64_t now = now_ms();
    if (!path[0] || now < clock->next_ms) return;
    if (clock->next_ms == 0) { // not at once: there is nothing to see yet
        clock->next_ms = now + EVERY_MS;
        return;
    }
    bool ok = report_write(source, path, &error);
    int64_t took = now_ms() - now;
    clock->next_ms = now + (50 * took > EVERY_MS ? 50 * took : EVERY_MS);
    if (ok) return;
    fprintf(stderr, "hone-tune: report: %s\n", error.text);
    clock->next_ms = INT64_MAX;
}

int report_main(int argc, char **argv) {
    char path[1100];
    Error error;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        puts(
            "hone-tune report JOURNAL|FOLDER [FILE.html]\n\nOne HTML file that needs nothing else: verdict "
            "in words, LLR path with bounds, Elo with its interval,\n"
            "pairs by result, the way of every parameter with its uncertainty, games a second, incidents.\n\n"
            "Examples:\n  hone-tune report hone-match.journal\n  hone-tune report runs/quick out.html");
        return 0;
    }
    if (argc < 2 || argc > 3 || argv[1][0] == '-')
        die(2, "hone-tune report: JOURNAL|FOLDER [FILE.html] was expected (see --help)");
    struct stat about;
    bool folder = stat(argv[1], &about) == 0 && S_ISDIR(about.st_mode);
    snprintf(path, sizeof path, folder ? "%.1000s/report.html" : "%.1000s.html", argv[1]);
    const char *target = argc == 3 ? argv[2] : path;
    if (!report_write(argv[1], target, &error)) die(2, "hone-tune report: %s", error.text);
    printf("%s\n", target);
    return 0;
}
