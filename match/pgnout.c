// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/pgnout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool open_at(PgnFile *out, const char *path, bool append, const cJSON *known, cJSON *begins,
                    Error *error) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(known, path);
    struct stat info = {.st_size = 0};
    if (!path[0]) return true;
    *out = (PgnFile){.path = path, .file = fopen(path, "a+b"), .following = true};
    bool ok = out->file && (item || append || ftruncate(fileno(out->file), 0) == 0) &&
              fstat(fileno(out->file), &info) == 0;
    double size = (double)info.st_size, begin = cJSON_IsNumber(item) ? item->valuedouble : size;
    if (begin > size) begin = 0; // another file, or emptied since
    cJSON_AddNumberToObject(begins, path, begin);
    return (ok && fseeko(out->file, (off_t)begin, SEEK_SET) == 0) ||
           error_set(error, "%s: %s", path, strerror(errno));
}

bool pgnout_open(PgnOut *out, const MatchPlan *plan, const cJSON *known, cJSON *begins, Error *error) {
    if (!plan->pgn[0] && !plan->epd[0]) return true;
    out->record = malloc(sizeof *out->record);
    if (!out->record) return error_set(error, "not enough memory");
    pgn_game_init(&out->game);
    return open_at(&out->pgn, plan->pgn, plan->pgn_append, known, begins, error) &&
           open_at(&out->epd, plan->epd, plan->epd_append, known, begins, error);
}

void pgnout_close(PgnOut *out) {
    if (out->pgn.file) fclose(out->pgn.file);
    if (out->epd.file) fclose(out->epd.file);
    if (out->record) pgn_game_free(&out->game);
    free(out->record);
    *out = (PgnOut){0};
}

// Whether a text stands here already; if it is torn at the end of the file, the rest of it goes. From the
// first text that does not stand here the file is only added to.
static bool stands_here(PgnFile *out, const char *text, size_t length) {
    off_t at = ftello(out->file);
    char *there = malloc(length + 1);
    size_t got = there ? fread(there, 1, length, out->file) : 0;
    bool same = there && memcmp(there, text, got) == 0;
    free(there);
    if (same && got == length) return true;
    out->following = false;
    if (same && feof(out->file) && ftruncate(fileno(out->file), at) != 0) return false;
    fseeko(out->file, 0, SEEK_END);
    return false;
}

static bool put(PgnFile *out, const char *text, size_t length, Error *error) {
    if (out->following && stands_here(out, text, length)) return true;
    bool ok = fwrite(text, 1, length, out->file) == length && fflush(out->file) == 0;
    return ok || error_set(error, "%s: %s", out->path, strerror(errno));
}

static bool put_game(PgnFile *out, const PgnGame *game, PgnStyle style, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    bool ok = memory && pgn_write(memory, game, style, error);
    if (!memory || fclose(memory) != 0) ok = error_set(error, "not enough memory");
    ok = ok && put(out, text, length, error);
    free(text);
    return ok;
}

static void set_time(PgnGame *game, const char *tag, const char *format, int64_t unix_time) {
    char text[64];
    time_t moment = (time_t)unix_time;
    struct tm parts;
    gmtime_r(&moment, &parts);
    strftime(text, sizeof text, format, &parts);
    pgn_game_set_tag(game, tag, text);
}

static void control_tag(const TimeControl *tc, char *buffer, size_t size) {
    if (tc->clock && tc->moves)
        snprintf(buffer, size, "%d/%g+%g", tc->moves, (double)tc->base_ms / 1000, (double)tc->inc_ms / 1000);
    else if (tc->clock)
        snprintf(buffer, size, "%g+%g", (double)tc->base_ms / 1000, (double)tc->inc_ms / 1000);
    else if (tc->move_ms) snprintf(buffer, size, "%g/move", (double)tc->move_ms / 1000);
    else snprintf(buffer, size, "-");
}

// "+0.25/12 0.103s" and what else is wanted; mates in plies.
static void move_comment(const MatchPlan *plan, const GameMove *m, char *buffer, size_t size) {
    int used = 0;
    if (!m->has_score) used = snprintf(buffer, size, "0.00/%d", m->depth);
    else if (score_is_mate(m->score))
        used = snprintf(buffer, size, "%cM%d/%d", m->score > 0 ? '+' : '-', SCORE_MATE - abs(m->score),
                        m->depth);
    else used = snprintf(buffer, size, "%+.2f/%d", (double)m->score / 100, m->depth);
    used += snprintf(buffer + used, size - (size_t)used, " %.3fs", (double)m->ns / 1e9);
    if (plan->pgn_nodes)
        used += snprintf(buffer + used, size - (size_t)used, ", n=%llu", (unsigned long long)m->nodes);
    if (plan->pgn_seldepth) used += snprintf(buffer + used, size - (size_t)used, ", sd=%d", m->seldepth);
    if (plan->pgn_nps && m->ns > 0)
        snprintf(buffer + used, size - (size_t)used, ", nps=%.0f", (double)m->nodes * 1e9 / (double)m->ns);
}

static void set_tags(PgnGame *pgn, const MatchPlan *plan, uint64_t pair, const Pairing *pairing,
                     const GameRecord *r) {
    const PlayerSpec *white = &plan->players[r->white == 0 ? pairing->first : pairing->second];
    const PlayerSpec *black = &plan->players[r->white == 0 ? pairing->second : pairing->first];
    char text[64], other[64];
    pgn_game_set_tag(pgn, "Event", plan->event);
    pgn_game_set_tag(pgn, "Site", plan->site);
    set_time(pgn, "Date", "%Y.%m.%d", r->started_unix);
    snprintf(text, sizeof text, "%llu", (unsigned long long)pair + 1);
    pgn_game_set_tag(pgn, "Round", text);
    pgn_game_set_tag(pgn, "White", white->name);
    pgn_game_set_tag(pgn, "Black", black->name);
    pgn_game_set_tag(pgn, "Result", pgn_result_text(pgn->result));
    int seconds = (int)(r->ms / 1000);
    snprintf(text, sizeof text, "%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    pgn_game_set_tag(pgn, "GameDuration", text);
    set_time(pgn, "GameStartTime", "%Y-%m-%dT%H:%M:%S +0000", r->started_unix);
    set_time(pgn, "GameEndTime", "%Y-%m-%dT%H:%M:%S +0000", r->ended_unix);
    snprintf(text, sizeof text, "%d", pgn->move_count);
    pgn_game_set_tag(pgn, "PlyCount", text);
    pgn_game_set_tag(pgn, "Termination", game_termination(r->end));
    control_tag(&white->tc, text, sizeof text);
    control_tag(&black->tc, other, sizeof other);
    if (strcmp(text, other) == 0) {
        pgn_game_set_tag(pgn, "TimeControl", text);
    } else {
        pgn_game_set_tag(pgn, "WhiteTimeControl", text);
        pgn_game_set_tag(pgn, "BlackTimeControl", other);
    }
}

bool pgnout_game(PgnOut *out, const MatchPlan *plan, uint64_t pair, const Pairing *pairing,
                 const Opening *opening, const JournalGame *game, Error *error) {
    GameRecord *r = out->record;
    PgnGame *pgn = &out->game;
    if (!journal_record(game, opening, r, error)) return false;
    pgn_game_clear(pgn);
    pgn->start = opening->start;
    pgn->result = r->half_points == 2 ? PGN_WHITE_WINS : r->half_points == 0 ? PGN_BLACK_WINS : PGN_DRAW;
    for (int i = 0; i < opening->move_count; i++) pgn_game_add_move(pgn, opening->moves[i], "book");
    for (int i = 0; i < r->plies; i++) {
        char comment[256];
        move_comment(plan, &r->moves[i], comment, sizeof comment);
        if (i == r->plies - 1) {
            size_t used = strlen(comment);
            snprintf(comment + used, sizeof comment - used, ", %s", r->reason);
        }
        pgn_game_add_move(pgn, r->moves[i].move, comment);
    }
    if (r->plies == 0) pgn_game_add_comment(pgn, r->reason);
    set_tags(pgn, plan, pair, pairing, r);
    if (out->pgn.file && !put_game(&out->pgn, pgn, plan->pgn_style, error)) return false;
    if (!out->epd.file) return true;
    char fen[FEN_SIZE + 1];
    Position last = pgn_game_position(pgn, pgn->move_count);
    position_to_fen(&last, fen);
    strcat(fen, "\n");
    return put(&out->epd, fen, strlen(fen), error);
}
