// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/datastats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tuner/datagen.h"

enum { KEYS_MAX = 1 << 22 };

static const int ScoreEdges[DATASTATS_SCORE_BINS - 1] = {-2000, -1000, -500, -200, -50,
                                                         50,    200,   500,  1000, 2000};

bool datastats_init(DataStats *stats, uint64_t plies) {
    *stats = (DataStats){.shortest = GAMEDATA_MAX_PLIES};
    KeySample *keys = &stats->keys;
    while (plies >> keys->shift > KEYS_MAX) keys->shift++;
    keys->room = 1 << 10;
    while (keys->room < 2 * (plies >> keys->shift)) keys->room *= 2;
    keys->slots = calloc(keys->room, sizeof *keys->slots);
    return keys->slots != NULL;
}

void datastats_free(DataStats *stats) {
    free(stats->keys.slots);
    stats->keys.slots = NULL;
}

static void add_key(KeySample *keys, Key key) {
    uint64_t mixed = mix64(key);
    if (keys->shift > 0 && mixed << (64 - keys->shift) != 0) return;
    if (key == 0 || 8 * keys->count > 7 * keys->room) return;
    keys->seen++;
    size_t at = (size_t)(mixed >> keys->shift) & (keys->room - 1);
    for (; keys->slots[at] && keys->slots[at] != key; at = (at + 1) & (keys->room - 1)) {}
    keys->twice += keys->slots[at] == key;
    keys->count += keys->slots[at] == 0;
    keys->slots[at] = key;
}

// One position with its score and the move that was played.
static void add_position(DataStats *stats, const Position *pos, Move move, int score, int result) {
    stats->positions++;
    stats->white_to_move += pos->stm == WHITE;
    stats->white_score_positive += score > 0;
    stats->men[bb_count(position_occupied(pos))]++;
    int bin = 0;
    while (bin < DATASTATS_SCORE_BINS - 1 && score >= ScoreEdges[bin]) bin++;
    stats->scores[bin]++;
    add_key(&stats->keys, pos->key);
    if (abs(score) > DATASTATS_SURE) {
        int expected = score > 0 ? 2 : 0;
        stats->agree += result == expected;
        stats->level += result == 1;
        stats->against += result == 2 - expected;
    }
    if (pos->checkers) stats->in_check++;
    else if (position_is_capture(pos, move) || move_kind(move) == MOVE_PROMOTION) stats->noisy++;
    else if (abs(score) >= DATASTATS_USABLE_SCORE) stats->extreme++;
    else stats->usable++;
}

void datastats_add(DataStats *stats, const DataGame *game) {
    Position pos = game->start, after;
    DatagenJudge judge = {0};
    bool judged = false;
    stats->games++;
    stats->plies += (uint64_t)game->ply_count;
    stats->results[game->result]++;
    stats->adjudicated += game->adjudicated;
    stats->capped += game->adjudicated && game->ply_count >= DATAGEN_CAP;
    stats->chess960 += game->start.chess960;
    stats->shortest = int_min(stats->shortest, game->ply_count);
    stats->longest = int_max(stats->longest, game->ply_count);
    for (int ply = 0; ply < game->ply_count; ply++, pos = after) {
        if (ply >= game->random_plies) {
            add_position(stats, &pos, game->moves[ply], game->scores[ply], game->result);
            int verdict = datagen_judge(&judge, ply, game->scores[ply]);
            if (verdict >= 0 && !judged && ply + 1 < game->ply_count) {
                judged = true;
                stats->audited++;
                stats->audit_wrong += verdict != game->result;
            }
        }
        position_make(&after, &pos, game->moves[ply]);
    }
}

static uint64_t sure(const DataStats *stats) { return stats->agree + stats->level + stats->against; }

double datastats_agreement(const DataStats *stats) {
    return sure(stats) ? (double)stats->agree / (double)sure(stats) : 1;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

// A line of a histogram.
static void print_bar(FILE *out, const char *label, uint64_t part, uint64_t whole) {
    double share = percent(part, whole);
    fprintf(out, "  %-16s %6.2f %%  ", label, share);
    for (int i = 0; i < (int)(share + 0.5); i++) fputc('#', out);
    fputc('\n', out);
}

static void print_histograms(const DataStats *s, FILE *out) {
    char label[32];
    fprintf(out, "men on the board\n");
    for (int first = 2; first <= 30; first += 4) {
        uint64_t sum = 0;
        int last = int_min(first + 3, 32);
        for (int men = first; men <= last; men++) sum += s->men[men];
        snprintf(label, sizeof label, "%d to %d", first, last);
        print_bar(out, label, sum, s->positions);
    }
    fprintf(out, "scores from White, centipawns\n");
    for (int bin = 0; bin < DATASTATS_SCORE_BINS; bin++) {
        if (bin == 0) snprintf(label, sizeof label, "below %d", ScoreEdges[0]);
        else if (bin == DATASTATS_SCORE_BINS - 1)
            snprintf(label, sizeof label, "from %d", ScoreEdges[bin - 1]);
        else snprintf(label, sizeof label, "%d to %d", ScoreEdges[bin - 1], ScoreEdges[bin] - 1);
        print_bar(out, label, s->scores[bin], s->positions);
    }
}

void datastats_print(const DataStats *s, uint64_t bytes, FILE *out) {
    double games = (double)(s->games ? s->games : 1);
    fprintf(out,
            "games            %" PRIu64 " (%.1f %% Chess960), plies %" PRIu64 ", positions %" PRIu64 "\n",
            s->games, percent(s->chess960, s->games), s->plies, s->positions);
    fprintf(out, "bytes            %" PRIu64 ", %.3f a ply\n", bytes,
            s->plies ? (double)bytes / (double)s->plies : 0);
    fprintf(out, "length           %.1f plies (%d to %d)\n", (double)s->plies / games,
            s->games ? s->shortest : 0, s->longest);
    fprintf(out, "results          White %.2f %%, draw %.2f %%, Black %.2f %%; White scores %.2f %%\n",
            percent(s->results[2], s->games), percent(s->results[1], s->games),
            percent(s->results[0], s->games), percent(2 * s->results[2] + s->results[1], 2 * s->games));
    fprintf(out, "adjudicated      %.2f %% (%.2f %% by length)\n", percent(s->adjudicated, s->games),
            percent(s->capped, s->games));
    fprintf(out, "audit            %" PRIu64 " games played on after a verdict, %.2f %% ended otherwise\n",
            s->audited, percent(s->audit_wrong, s->audited));
    fprintf(out,
            "beyond %d       %.2f %% won by the side that stood better, %.2f %% drawn, %.2f %% lost (%" PRIu64
            " positions)\n",
            DATASTATS_SURE, percent(s->agree, sure(s)), percent(s->level, sure(s)),
            percent(s->against, sure(s)), sure(s));
    fprintf(out, "colours          White to move in %.2f %%, score above 0 for White in %.2f %%\n",
            percent(s->white_to_move, s->positions), percent(s->white_score_positive, s->positions));
    fprintf(out, "duplicates       %.2f %% of the positions came before%s\n",
            percent(s->keys.twice, s->keys.seen), s->keys.shift ? " (from a sample of the keys)" : "");
    fprintf(out,
            "usable           %.2f %% (in check %.2f %%, capture or promotion %.2f %%, beyond %d %.2f %%)\n",
            percent(s->usable, s->positions), percent(s->in_check, s->positions),
            percent(s->noisy, s->positions), DATASTATS_USABLE_SCORE, percent(s->extreme, s->positions));
    print_histograms(s, out);
}
