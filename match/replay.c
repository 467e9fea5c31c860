// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a journal afterwards: what two runs must agree on, and playing its pairs again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match/match.h"

// The pairs of a journal, sorted, without copies.
typedef struct PairList {
    JournalPair *pairs;
    uint64_t count, capacity;
} PairList;

static bool keep(void *context, const JournalPair *pair, Error *error) {
    PairList *list = context;
    if (list->count == list->capacity) {
        uint64_t capacity = list->capacity ? 2 * list->capacity : 1024;
        JournalPair *grown = realloc(list->pairs, capacity * sizeof *grown);
        if (!grown) return error_set(error, "not enough memory");
        list->pairs = grown;
        list->capacity = capacity;
    }
    list->pairs[list->count] = *pair;
    for (int g = 0; g < 2; g++)
        list->pairs[list->count].game[g].moves = list->pairs[list->count].game[g].reason = NULL;
    list->count++;
    return true;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = ((const JournalPair *)a)->number, y = ((const JournalPair *)b)->number;
    return (x > y) - (x < y);
}

// Reads plan and pairs; what lies beyond a gap or beyond the verdict of a test is left out, as it counts
// nowhere. A tuning run, whose pairs have parameters that its plan does not name, is refused where they are to be played.
static bool load(const char *path, bool to_play, MatchPlan *plan, PairList *list, Error *error) {
    cJSON *json = NULL;
    int64_t size;
    if (!journal_read(path, &json, &size, keep, list, error)) return false;
    bool ok = match_plan_from_json(plan, json, error);
    if (ok && to_play && cJSON_HasObjectItem(json, "spsa"))
        ok = error_set(error, "this is a tuning run; only the pairs of a match can be played again");
    if (!ok) error_prefix(error, "%s: line 1", path);
    cJSON_Delete(json);
    if (!ok) return false;
    if (list->count) qsort(list->pairs, list->count, sizeof *list->pairs, by_number);
    Sprt sprt = plan->has_sprt ? sprt_start(&plan->sprt) : (Sprt){.verdict = SPRT_CONTINUE};
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        const JournalPair *pair = &list->pairs[i];
        if (pair->number < kept) continue;
        if (pair->number > kept || sprt.verdict != SPRT_CONTINUE) break;
        list->pairs[kept++] = *pair;
        if (!plan->has_sprt || pair->games != 2) continue;
        int points[2];
        for (int g = 0; g < 2; g++)
            points[g] = pair->game[g].white == 0 ? pair->game[g].half_points : 2 - pair->game[g].half_points;
        sprt_add_pair(&sprt, points[0], points[1]);
    }
    list->count = kept;
    return true;
}

bool match_digest(const char *path, Error *error) {
    MatchPlan plan = {0};
    PairList list = {0};
    bool ok = load(path, false, &plan, &list, error);
    uint64_t whole = DIGEST_START;
    for (uint64_t i = 0; ok && i < list.count; i++) {
        const JournalPair *pair = &list.pairs[i];
        if (pair->games == 0) printf("pair %llu set aside\n", (unsigned long long)pair->number + 1);
        for (int g = 0; g < pair->games; g++) {
            const JournalGame *game = &pair->game[g];
            char line[160];
            int used = snprintf(line, sizeof line,
                                "pair %llu game %d white %d points %d end %s plies %d moves %016llx\n",
                                (unsigned long long)pair->number + 1, g + 1, game->white, game->half_points,
                                game_end_name(game->end), game->plies, (unsigned long long)game->digest);
            fputs(line, stdout);
            whole = digest_of(whole, line, (size_t)used);
        }
    }
    if (ok) printf("%llu pairs, digest %016llx\n", (unsigned long long)list.count, (unsigned long long)whole);
    free(list.pairs);
    free(plan.players);
    return ok;
}

// The recorded moves of one pair, for a second look at the journal.
typedef struct Recorded {
    uint64_t pair;
    char *moves[2]; // NULL where the journal has none
} Recorded;

static bool keep_moves(void *context, const JournalPair *pair, Error *error) {
    Recorded *recorded = context;
    if (pair->number != recorded->pair) return true;
    for (int g = 0; g < pair->games; g++) {
        free(recorded->moves[g]);
        recorded->moves[g] = NULL;
        if (pair->game[g].moves && !(recorded->moves[g] = strdup(pair->game[g].moves)))
            return error_set(error, "not enough memory");
    }
    return true;
}

// Tells a recorded move to people: "e2e4, score 31, depth 9, 5000 nodes".
static void describe_move(const char *word, char *text, size_t size) {
    int score = 0, depth = 0;
    unsigned long long nodes = 0;
    const char *colon = strchr(word, ':');
    if (!colon || sscanf(colon + 1, "%d/%d/%llu", &score, &depth, &nodes) != 3) {
        snprintf(text, size, "the game is over");
        return;
    }
    char shown[32] = "no score";
    if (score != SCORE_NONE) snprintf(shown, sizeof shown, "score %d", score);
    snprintf(text, size, "%.*s, %s, depth %d, %llu nodes", (int)(colon - word), word, shown, depth, nodes);
}

// Names the first move in which two records differ, times aside.
static void print_first_difference(const char *before, const char *now) {
    char old_word[80], new_word[80], old_text[128], new_text[128];
    for (int ply = 1;; ply++) {
        bool had = text_word(&before, old_word, sizeof old_word), has = text_word(&now, new_word, sizeof new_word);
        if (!had) old_word[0] = '\0';
        if (!has) new_word[0] = '\0';
        char *old_ms = strrchr(old_word, '/'), *new_ms = strrchr(new_word, '/');
        if (old_ms) *old_ms = '\0';
        if (new_ms) *new_ms = '\0';
        if (had && has && strcmp(old_word, new_word) == 0) continue;
        describe_move(old_word, old_text, sizeof old_text);
        describe_move(new_word, new_text, sizeof new_text);
        if (had || has) printf("  first at move %d of the engines: journal %s; now %s\n", ply, old_text, new_text);
        else printf("  the moves are the same, the end is another\n");
        return;
    }
}

// Says where a game left the recorded one, as far as the journal kept its moves.
static bool explain_difference(const char *path, uint64_t pair, int g, const GameRecord *record,
                               const Opening *opening, Error *error) {
    Recorded recorded = {.pair = pair};
    cJSON *json = NULL;
    int64_t size;
    char *now = journal_moves_text(record, opening);
    bool ok = now || error_set(error, "not enough memory");
    ok = ok && journal_read(path, &json, &size, keep_moves, &recorded, error);
    if (ok && recorded.moves[g]) print_first_difference(recorded.moves[g], now);
    else if (ok) printf("  the journal has no moves, so nobody can say where (-pgnout keeps them)\n");
    cJSON_Delete(json);
    for (int i = 0; i < 2; i++) free(recorded.moves[i]);
    free(now);
    return ok;
}

// Plays one game again; *same says whether moves, scores and end are the recorded ones.
static bool replay_game(const MatchPlan *plan, const Pairing *pairing, const Opening *opening,
                        Player *players[2], const JournalPair *pair, int g, GameRecord *record, bool *same) {
    static const _Atomic bool Never = false;
    const JournalGame *game = &pair->game[g];
    int index[2] = {pairing->first, pairing->second};
    GameSetup setup = {
        .white = game->white, .opening = opening, .adjudicate = &plan->adjudicate, .interrupt = &Never};
    for (int side = 0; side < 2; side++) {
        setup.players[side] = players[side];
        setup.tc[side] = &plan->players[index[side]].tc;
        setup.names[side] = plan->players[index[side]].name;
        setup.nodes[side] = match_nodes(plan, pair->number, index[side], opening);
    }
    game_play(&setup, record);
    *same = record->digest == game->digest;
    return true;
}

bool match_replay(const char *path, int64_t only, Error *error) {
    MatchPlan plan = {0};
    PairList list = {0};
    OpeningSet openings = {0};
    Player *players[2] = {NULL, NULL};
    GameRecord *record = malloc(sizeof *record);
    bool ok = record && load(path, true, &plan, &list, error);
    if (ok && plan.openings[0]) ok = opening_set_load(&openings, plan.openings, plan.plies, error);
    uint64_t played = 0, different = 0;
    for (uint64_t i = 0; ok && i < list.count; i++) {
        const JournalPair *pair = &list.pairs[i];
        if (only > 0 && pair->number + 1 != (uint64_t)only) continue;
        Pairing pairing = match_pairing(&plan, pair->number);
        const TimeControl *tc = &plan.players[pairing.first].tc;
        if (tc->clock || tc->move_ms) {
            ok = error_set(error, "%s: pair %llu was played by the clock and cannot be played again", path,
                           (unsigned long long)pair->number + 1);
            break;
        }
        Opening opening;
        ok = match_opening(&plan, plan.openings[0] ? &openings : NULL, pair->number, &opening, error);
        for (int side = 0; ok && side < 2; side++) {
            player_destroy(players[side]);
            ok = (players[side] = player_create(&plan.players[side == 0 ? pairing.first : pairing.second], -1,
                                                error)) != NULL;
        }
        for (int g = 0; ok && g < pair->games; g++) {
            bool same;
            ok = replay_game(&plan, &pairing, &opening, players, pair, g, record, &same);
            played++;
            if (same) continue;
            printf("pair %llu game %d differs: journal %d plies, %s, %016llx; now %d plies, %s, %016llx\n",
                   (unsigned long long)pair->number + 1, g + 1, pair->game[g].plies,
                   game_end_name(pair->game[g].end), (unsigned long long)pair->game[g].digest, record->plies,
                   game_end_name(record->end), (unsigned long long)record->digest);
            // The journal is read again for it, so only for the first: where one game parts, most others do.
            if (different++ == 0) ok = explain_difference(path, pair->number, g, record, &opening, error);
        }
    }
    if (ok && played == 0) ok = error_set(error, "%s: there is no such pair", path);
    if (ok)
        printf("%llu games played again, %llu differ\n", (unsigned long long)played,
               (unsigned long long)different);
    if (ok && different) ok = error_set(error, "%s: %llu games differ", path, (unsigned long long)different);
    for (int side = 0; side < 2; side++) player_destroy(players[side]);
    opening_set_free(&openings);
    free(list.pairs);
    free(plan.players);
    free(record);
    return ok;
}
