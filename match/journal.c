// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/notation.h"

// --- writing

// Writes all of a line at the end of the whole lines; cuts a torn rest off if it cannot.
static bool write_line(Journal *journal, const char *line, size_t length, Error *error) {
    size_t done = 0;
    while (done < length) {
        ssize_t wrote = pwrite(journal->fd, line + done, length - done, journal->size + (int64_t)done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
            int reason = errno;
            if (ftruncate(journal->fd, journal->size) != 0) reason = errno;
            return error_set(error, "%s: cannot write: %s", journal->path, strerror(reason));
        }
        done += (size_t)wrote;
    }
    journal->size += (int64_t)length;
    return true;
}

// Closes a line of JSON that lacks only its last brace with the CRC of what stands before it.
static bool seal_line(Journal *journal, char *line, size_t used, Error *error) {
    used += (size_t)sprintf(line + used, ",\"crc\":\"%08x\"}\n", crc32_of(0, line, used));
    return write_line(journal, line, used, error);
}

bool journal_create(Journal *journal, const char *path, const cJSON *plan, Error *error) {
    if (!text_copy(journal->path, sizeof journal->path, path))
        return error_set(error, "%.60s...: the path is too long", path);
    journal->size = 0;
    journal->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (journal->fd < 0) return error_set(error, "%s: %s", path, strerror(errno));
    flock(journal->fd, LOCK_EX | LOCK_NB);
    char *text = cJSON_PrintUnformatted(plan);
    size_t need = text ? strlen(text) + 100 : 0;
    char *line = text ? malloc(need) : NULL;
    bool ok = line != NULL;
    if (ok) {
        int used = snprintf(line, need, "{\"hone\":\"journal\",\"version\":1,\"plan\":%s", text);
        ok = seal_line(journal, line, (size_t)used, error);
    } else {
        error_set(error, "%s: not enough memory", path);
    }
    free(line);
    cJSON_free(text);
    return ok;
}

bool journal_lock(Journal *journal, const char *path, Error *error) {
    if (!text_copy(journal->path, sizeof journal->path, path))
        return error_set(error, "%.60s...: the path is too long", path);
    journal->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (journal->fd < 0) return error_set(error, "%s: %s", path, strerror(errno));
    // A run that was just killed may need a moment to be gone.
    for (int try = 0; flock(journal->fd, LOCK_EX | LOCK_NB) != 0; try++) {
        if (try == 50) return error_set(error, "%s: another run is writing it", path);
        usleep(100000);
    }
    return true;
}

bool journal_continue(Journal *journal, int64_t size, Error *error) {
    journal->size = size;
    return ftruncate(journal->fd, size) == 0 || error_set(error, "%s: %s", journal->path, strerror(errno));
}

bool journal_append(Journal *journal, const JournalPair *pair, Error *error) {
    size_t need = 1024;
    for (int i = 0; i < pair->games; i++) need += pair->game[i].moves ? strlen(pair->game[i].moves) : 0;
    char *line = malloc(need);
    if (!line) return error_set(error, "%s: not enough memory", journal->path);
    int used = snprintf(line, need, "{\"pair\":%llu,\"games\":[", (unsigned long long)pair->number);
    for (int i = 0; i < pair->games; i++) {
        const JournalGame *g = &pair->game[i];
        used += snprintf(line + used, need - (size_t)used,
                         "%s{\"white\":%d,\"result\":%d,\"end\":\"%s\",\"loser\":%d,\"plies\":%d,\"digest\":"
                         "\"%016llx\",\"t\":%lld,\"ms\":%lld",
                         i ? "," : "", g->white, g->half_points, game_end_name(g->end), g->loser, g->plies,
                         (unsigned long long)g->digest, (long long)g->started_unix, (long long)g->ms);
        if (g->stall_ms > 0)
            used += snprintf(line + used, need - (size_t)used, ",\"stall_ms\":%lld", (long long)g->stall_ms);
        if (g->reason) used += snprintf(line + used, need - (size_t)used, ",\"reason\":\"%.95s\"", g->reason);
        if (g->moves) used += snprintf(line + used, need - (size_t)used, ",\"moves\":\"%s\"", g->moves);
        used += snprintf(line + used, need - (size_t)used, "}");
    }
    used += snprintf(line + used, need - (size_t)used, "]");
    bool ok = seal_line(journal, line, (size_t)used, error);
    free(line);
    return ok;
}

bool journal_append_line(Journal *journal, const cJSON *json, Error *error) {
    char *text = cJSON_PrintUnformatted(json);
    size_t length = text ? strlen(text) : 0;
    char *line = length > 2 && text[length - 1] == '}' ? malloc(length + 32) : NULL;
    bool ok = line != NULL;
    if (ok) {
        memcpy(line, text, length - 1); // without its last brace
        ok = seal_line(journal, line, length - 1, error);
    } else {
        error_set(error, "%s: not enough memory", journal->path);
    }
    free(line);
    cJSON_free(text);
    return ok;
}

bool journal_sync(Journal *journal, Error *error) {
    return fdatasync(journal->fd) == 0 ||
           error_set(error, "%s: cannot sync: %s", journal->path, strerror(errno));
}

void journal_close(Journal *journal) {
    if (journal->fd >= 0) close(journal->fd);
    journal->fd = -1;
}

bool journal_set_aside(const char *path, char *aside, size_t size, Error *error) {
    for (int i = 1; i < 10000; i++) {
        snprintf(aside, size, "%s.%d", path, i);
        if (access(aside, F_OK) == 0) continue;
        return rename(path, aside) == 0 ||
               error_set(error, "%s: cannot move it aside: %s", path, strerror(errno));
    }
    return error_set(error, "%s: too many old journals beside it", path);
}

// --- reading

// Whether a line (without its newline) ends with the CRC of what stands before it.
static bool line_whole(const char *line, size_t length) {
    static const size_t TAIL = sizeof ",\"crc\":\"00000000\"}" - 1;
    if (length < TAIL || memcmp(line + length - TAIL, ",\"crc\":\"", 8) != 0) return false;
    char expected[9];
    snprintf(expected, sizeof expected, "%08x", crc32_of(0, line, length - TAIL));
    return memcmp(line + length - 10, expected, 8) == 0;
}

static int number_of(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valueint : 0;
}

static const char *text_of(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static bool read_pair(const cJSON *json, JournalPair *pair) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(json, "pair"),
                *games = cJSON_GetObjectItemCaseSensitive(json, "games"), *item;
    if (!cJSON_IsNumber(number) || !cJSON_IsArray(games) || cJSON_GetArraySize(games) > 2) return false;
    *pair = (JournalPair){.number = (uint64_t)number->valuedouble};
    cJSON_ArrayForEach(item, games) {
        JournalGame *g = &pair->game[pair->games++];
        const char *end = text_of(item, "end"), *digest = text_of(item, "digest");
        const cJSON *ms = cJSON_GetObjectItemCaseSensitive(item, "ms"),
                    *started = cJSON_GetObjectItemCaseSensitive(item, "t");
        *g = (JournalGame){.white = number_of(item, "white"),
                           .half_points = number_of(item, "result"),
                           .loser = number_of(item, "loser"),
                           .stall_ms = number_of(item, "stall_ms"),
                           .plies = number_of(item, "plies"),
                           .ms = cJSON_IsNumber(ms) ? (int64_t)ms->valuedouble : 0,
                           .started_unix = cJSON_IsNumber(started) ? (int64_t)started->valuedouble : 0,
                           .moves = text_of(item, "moves"),
                           .reason = text_of(item, "reason")};
        if (!end || !game_end_parse(end, &g->end) || !digest || g->half_points < 0 || g->half_points > 2)
            return false;
        g->digest = strtoull(digest, NULL, 16);
    }
    return true;
}

// Who is told the pairs of a journal.
typedef struct PairVisitor {
    JournalVisitor *visit;
    void *context;
} PairVisitor;

static bool visit_pair(void *context, const cJSON *line, Error *error) {
    const PairVisitor *visitor = context;
    JournalPair pair;
    return read_pair(line, &pair) && visitor->visit(visitor->context, &pair, error);
}

bool journal_read(const char *path, cJSON **plan, int64_t *size, JournalVisitor *visit, void *context,
                  Error *error) {
    PairVisitor visitor = {visit, context};
    return journal_read_lines(path, plan, size, visit ? visit_pair : NULL, &visitor, error);
}

bool journal_read_lines(const char *path, cJSON **plan, int64_t *size, JournalLineVisitor *visit,
                        void *context, Error *error) {
    FILE *file = fopen(path, "rb");
    if (!file) return error_set(error, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    bool ok = true;
    *plan = NULL;
    *size = 0;
    for (uint64_t number = 1; ok; number++) {
        ssize_t length = getline(&line, &capacity, file);
        if (length <= 0) break;
        bool last = line[length - 1] != '\n';
        size_t text = (size_t)length - (last ? 0 : 1);
        if (last || !line_whole(line, text)) {
            // Torn if nothing follows; anything else is damage that we do not guess about.
            int next = last ? EOF : fgetc(file);
            if (next == EOF && number > 1) break;
            ok = error_set(error, "%s: line %llu: damaged (its checksum does not fit)", path,
                           (unsigned long long)number);
            break;
        }
        cJSON *json = cJSON_ParseWithLength(line, text);
        if (number == 1) {
            *plan = cJSON_DetachItemFromObjectCaseSensitive(json, "plan");
            ok = *plan && number_of(json, "version") == 1;
            if (!ok) error_set(error, "%s: line 1: not a journal of version 1", path);
        } else if (visit) {
            ok = visit(context, json, error) ||
                 error_prefix(error, "%s: line %llu", path, (unsigned long long)number);
        }
        cJSON_Delete(json);
        if (ok) *size += length;
    }
    if (ok && !*plan) ok = error_set(error, "%s: line 1: empty or torn, not a journal", path);
    if (!ok) {
        cJSON_Delete(*plan);
        *plan = NULL;
    }
    free(line);
    fclose(file);
    return ok;
}

// --- comparing plans

static void short_text(const cJSON *item, char *buffer, size_t size) {
    char *text = item ? cJSON_PrintUnformatted(item) : NULL;
    snprintf(buffer, size, "%.80s", text ? text : "nothing");
    cJSON_free(text);
}

static bool differ_at(const cJSON *a, const cJSON *b, const char *where, char *text, size_t size) {
    if (cJSON_Compare(a, b, true)) return false;
    bool objects = cJSON_IsObject(a) && cJSON_IsObject(b), arrays = cJSON_IsArray(a) && cJSON_IsArray(b);
    char inner[200];
    if (objects) {
        for (int pass = 0; pass < 2; pass++) {
            const cJSON *item, *object = pass ? b : a;
            cJSON_ArrayForEach(item, object) {
                snprintf(inner, sizeof inner, "%s%s%s", where, *where ? "." : "", item->string);
                const cJSON *x = cJSON_GetObjectItemCaseSensitive(a, item->string),
                            *y = cJSON_GetObjectItemCaseSensitive(b, item->string);
                if (differ_at(x, y, inner, text, size)) return true;
            }
        }
    }
    if (arrays && cJSON_GetArraySize(a) == cJSON_GetArraySize(b)) {
        for (int i = 0; i < cJSON_GetArraySize(a); i++) {
            snprintf(inner, sizeof inner, "%s[%d]", where, i + 1);
            if (differ_at(cJSON_GetArrayItem(a, i), cJSON_GetArrayItem(b, i), inner, text, size)) return true;
        }
    }
    char ours[100], theirs[100];
    short_text(a, ours, sizeof ours);
    short_text(b, theirs, sizeof theirs);
    snprintf(text, size, "%s is %s, the journal has %s", where, ours, theirs);
    return true;
}

bool journal_difference(const cJSON *plan, const cJSON *other, char *text, size_t size) {
    return differ_at(plan, other, "", text, size);
}

// --- moves

char *journal_moves_text(const GameRecord *record, const Opening *opening) {
    size_t capacity = (size_t)record->plies * 64 + 1, used = 0;
    char *text = malloc(capacity);
    if (!text) return NULL;
    Position pos = opening->position, after;
    text[0] = '\0';
    for (int i = 0; i < record->plies; i++) {
        const GameMove *m = &record->moves[i];
        char move[UCI_SIZE];
        notation_to_uci(&pos, m->move, move);
        used += (size_t)snprintf(text + used, capacity - used, "%s%s:%d/%d/%llu/%lld", i ? " " : "", move,
                                 m->has_score ? m->score : SCORE_NONE, m->depth, (unsigned long long)m->nodes,
                                 (long long)(m->ns / 1000000));
        position_make(&after, &pos, m->move);
        pos = after;
    }
    return text;
}

bool journal_record(const JournalGame *game, const Opening *opening, GameRecord *record, Error *error) {
    Position pos = opening->position, after;
    const char *cursor = game->moves ? game->moves : "";
    char word[80];
    record->white = game->white;
    record->half_points = game->half_points;
    record->end = game->end;
    record->loser = game->loser;
    record->digest = game->digest;
    record->ms = game->ms;
    record->stall_ms = game->stall_ms;
    record->started_unix = game->started_unix;
    record->ended_unix = game->started_unix + game->ms / 1000;
    record->plies = 0;
    text_copy(record->reason, sizeof record->reason,
              game->reason ? game->reason : game_reason(game->end, game->half_points));
    while (text_word(&cursor, word, sizeof word)) {
        char *colon = strchr(word, ':');
        int score = SCORE_NONE, depth = 0;
        unsigned long long nodes = 0;
        long long ms = 0;
        if (!colon || sscanf(colon + 1, "%d/%d/%llu/%lld", &score, &depth, &nodes, &ms) != 4)
            return error_set(error, "'%s' is not a recorded move", word);
        *colon = '\0';
        Move move = notation_from_uci(&pos, word);
        if (move == MOVE_NONE || record->plies == GAME_MAX_PLIES)
            return error_set(error, "move %d, '%s', is not legal there", record->plies + 1, word);
        record->moves[record->plies++] = (GameMove){.move = move,
                                                    .has_score = score != SCORE_NONE,
                                                    .depth = (int16_t)depth,
                                                    .score = score,
                                                    .nodes = nodes,
                                                    .ns = ms * 1000000};
        position_make(&after, &pos, move);
        pos = after;
    }
    return true;
}
