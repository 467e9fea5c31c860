// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/play.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "match/options.h"

static const char DefaultDraw[] = "movenumber=34 movecount=8 score=20";
static const char DefaultResign[] = "movecount=3 score=600 twosided=true";
static const char DefaultOpenings[] = "openings/balanced.epd";

enum { MAX_WORDS = 64, DEFAULT_NODES = 5000 };

void play_default(PlayOptions *play) {
    *play = (PlayOptions){.engine = "builtin",
                          .concurrency = int_max(1, (int)sysconf(_SC_NPROCESSORS_ONLN)),
                          .seed = 1,
                          .start = 1};
    text_copy(play->draw, sizeof play->draw, DefaultDraw);
    text_copy(play->resign, sizeof play->resign, DefaultResign);
    text_copy(play->openings, sizeof play->openings, DefaultOpenings);
    if (access(DefaultOpenings, R_OK) == 0) return;
    // Not in the source tree: the file may lie beside the program.
    char path[900];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash) return;
    slash[1] = '\0';
    snprintf(play->openings, sizeof play->openings, "%s%s", path, DefaultOpenings);
}

static bool set_text(char *buffer, size_t size, const char *value, Error *error) {
    return text_copy(buffer, size, value) || error_set(error, "'%.40s...' is too long", value);
}

static bool set_number(const char *value, int64_t min, int64_t max, int64_t *number, Error *error) {
    return parse_int(value, min, max, number, error);
}

bool play_set(PlayOptions *play, const char *key, const char *value, bool *known, Error *error) {
    int64_t number = 0;
    TimeControl control = {0};
    *known = true;
    if (strcmp(key, "engine") == 0) return set_text(play->engine, sizeof play->engine, value, error);
    if (strcmp(key, "args") == 0) return set_text(play->args, sizeof play->args, value, error);
    if (strcmp(key, "dir") == 0) return set_text(play->dir, sizeof play->dir, value, error);
    if (strcmp(key, "openings") == 0) return set_text(play->openings, sizeof play->openings, value, error);
    if (strcmp(key, "draw") == 0) return set_text(play->draw, sizeof play->draw, value, error);
    if (strcmp(key, "resign") == 0) return set_text(play->resign, sizeof play->resign, value, error);
    if (strcmp(key, "nodes") == 0)
        return set_number(value, 1, INT64_C(1) << 40, &number, error) &&
               set_text(play->nodes, sizeof play->nodes, value, error);
    if (strcmp(key, "depth") == 0)
        return set_number(value, 1, 200, &number, error) &&
               set_text(play->depth, sizeof play->depth, value, error);
    if (strcmp(key, "tc") == 0)
        return options_control(value, &control, error) && set_text(play->tc, sizeof play->tc, value, error);
    if (strcmp(key, "st") == 0) return set_text(play->st, sizeof play->st, value, error);
    if (strcmp(key, "concurrency") == 0) {
        if (!set_number(value, 1, 1024, &number, error)) return false;
        play->concurrency = (int)number;
        return true;
    }
    if (strcmp(key, "seed") == 0) {
        if (!set_number(value, 0, INT64_MAX, &number, error)) return false;
        play->seed = (uint64_t)number;
        return true;
    }
    if (strcmp(key, "start") == 0) {
        if (!set_number(value, 1, INT64_MAX, &number, error)) return false;
        play->start = (uint64_t)number;
        return true;
    }
    *known = false;
    return false;
}

static bool put_option(PlayerOption *options, int *count, const char *name, const char *value, Error *error) {
    int at = 0;
    while (at < *count && !text_equal(options[at].name, name)) at++;
    if (at == MAX_PLAYER_OPTIONS) return error_set(error, "more than %d options", MAX_PLAYER_OPTIONS);
    if (at == *count) (*count)++;
    bool fits = text_copy(options[at].name, sizeof options[at].name, name) &&
                text_copy(options[at].value, sizeof options[at].value, value);
    return fits || error_set(error, "option '%.40s': name or value too long", name);
}

bool play_option(PlayOptions *play, const char *name, const char *value, Error *error) {
    return put_option(play->options, &play->option_count, name, value, error);
}

bool play_player_option(PlayerSpec *spec, const char *name, const char *value, Error *error) {
    return put_option(spec->options, &spec->option_count, name, value, error);
}

// Words of a command line, in one buffer.
typedef struct Words {
    char text[8192];
    size_t used;
    char *words[MAX_WORDS];
    int count;
} Words;

static void add_word(Words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(Words *words, const char *format, ...) {
    va_list list;
    if (words->count == MAX_WORDS || words->used >= sizeof words->text) return;
    va_start(list, format);
    words->words[words->count++] = words->text + words->used;
    words->used +=
        (size_t)vsnprintf(words->text + words->used, sizeof words->text - words->used, format, list) + 1;
    va_end(list);
}

// Adds an option whose values stand in one text with blanks between, unless it is off.
static void add_values(Words *words, const char *name, const char *values) {
    char word[96];
    if (text_equal(values, "off")) return;
    add_word(words, "%s", name);
    while (text_word(&values, word, sizeof word)) add_word(words, "%s", word);
}

bool play_plan(const PlayOptions *play, const char *first, const char *second, uint64_t pairs,
               const char *journal, MatchPlan *plan, Error *error) {
    Words words = {0};
    const char *names[2] = {first, second};
    for (int i = 0; i < 2; i++) {
        add_word(&words, "-engine");
        add_word(&words, "cmd=%s", play->engine);
        add_word(&words, "name=%s", names[i]);
        if (play->args[0]) add_word(&words, "args=%s", play->args);
        if (play->dir[0]) add_word(&words, "dir=%s", play->dir);
    }
    add_word(&words, "-each");
    if (play->nodes[0]) add_word(&words, "nodes=%s", play->nodes);
    if (play->depth[0]) add_word(&words, "depth=%s", play->depth);
    if (play->tc[0]) add_word(&words, "tc=%s", play->tc);
    if (play->st[0]) add_word(&words, "st=%s", play->st);
    if (!play->nodes[0] && !play->depth[0] && !play->tc[0] && !play->st[0])
        add_word(&words, "nodes=%d", DEFAULT_NODES);
    if (!text_equal(play->openings, "none")) {
        add_word(&words, "-openings");
        add_word(&words, "file=%s", play->openings);
        add_word(&words, "order=random");
        add_word(&words, "start=%llu", (unsigned long long)play->start);
    }
    add_values(&words, "-draw", play->draw);
    add_values(&words, "-resign", play->resign);
    add_word(&words, "-srand");
    add_word(&words, "%llu", (unsigned long long)play->seed);
    add_word(&words, "-concurrency");
    add_word(&words, "%d", play->concurrency);
    add_word(&words, "-rounds");
    add_word(&words, "%llu", (unsigned long long)pairs);
    add_word(&words, "-journal");
    add_word(&words, "%s", journal);
    add_word(&words, "-quiet");
    if (words.used >= sizeof words.text || words.count == MAX_WORDS)
        return error_set(error, "the settings are too long");
    if (!options_parse(plan, words.count, words.words, error)) return false;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < play->option_count; i++)
            if (!play_player_option(&plan->players[p], play->options[i].name, play->options[i].value, error))
                return false;
    return true;
}

void play_help(FILE *out, const char *prefix) {
    static const char *const Lines[][2] = {
        {"engine CMD", "builtin (default) or a UCI program; also args, dir"},
        {"nodes N", "nodes a move (default 5000); or depth N, tc SECONDS+INC, st SECONDS"},
        {"openings FILE", "EPD, PGN or Polyglot (default openings/balanced.epd), or none"},
        {"start N", "first opening of the shuffled file (default 1)"},
        {"draw KEYS",
         "adjudication as in hone-match, or off (default \"movenumber=34 movecount=8 score=20\")"},
        {"resign KEYS", "the same (default \"movecount=3 score=600 twosided=true\")"},
        {"concurrency N", "pairs played side by side (default: the number of cores)"},
        {"seed N", "of everything random (default 1)"},
    };
    for (size_t i = 0; i < sizeof Lines / sizeof *Lines; i++)
        fprintf(out, "  %s%-16s %s\n", prefix, Lines[i][0], Lines[i][1]);
}
