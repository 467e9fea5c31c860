// SPDX-License-Identifier: GPL-3.0-or-later
// A game and how it is written; reading is in pgn_read.c.
#include "openings/pgn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/notation.h"

enum { LINE_LENGTH = 80 };

// Makes room for one more element; returns the array, or NULL if memory runs out (the old one stays).
static void *grown(void *array, int count, int *capacity, size_t size) {
    if (count < *capacity) return array;
    int wanted = int_max(32, 2 * *capacity);
    void *more = realloc(array, (size_t)wanted * size);
    if (more) *capacity = wanted;
    return more;
}

// Adds size bytes and a zero to the game's text; returns their offset, or 0 if memory runs out.
static uint32_t add_text(PgnGame *game, const char *text, size_t size) {
    size_t needed = game->text_used + size + 2;
    if (needed > UINT32_MAX) return 0;
    if (needed > game->text_capacity) {
        size_t wanted = 2 * needed + 256;
        char *more = realloc(game->text, wanted);
        if (!more) return 0;
        game->text = more;
        game->text_capacity = wanted;
    }
    if (game->text_used == 0) game->text[game->text_used++] = '\0';
    uint32_t offset = (uint32_t)game->text_used;
    memcpy(game->text + offset, text, size);
    game->text[offset + size] = '\0';
    game->text_used = offset + size + 1;
    return offset;
}

void pgn_game_init(PgnGame *game) {
    *game = (PgnGame){0};
    pgn_game_clear(game);
}

void pgn_game_clear(PgnGame *game) {
    position_from_fen(&game->start, START_FEN, NULL);
    game->result = PGN_UNKNOWN;
    game->comment = 0;
    game->tag_count = game->move_count = 0;
    game->text_used = 0;
    if (game->text) game->text[0] = '\0';
}

void pgn_game_free(PgnGame *game) {
    free(game->tags);
    free(game->moves);
    free(game->text);
    *game = (PgnGame){0};
}

static PgnTag *find_tag(const PgnGame *game, const char *name) {
    for (int i = 0; i < game->tag_count; i++)
        if (strcmp(pgn_text(game, game->tags[i].name), name) == 0) return &game->tags[i];
    return NULL;
}

const char *pgn_game_tag(const PgnGame *game, const char *name) {
    const PgnTag *tag = find_tag(game, name);
    return tag ? pgn_text(game, tag->value) : NULL;
}

bool pgn_game_set_tag(PgnGame *game, const char *name, const char *value) {
    PgnTag *tag = find_tag(game, name);
    uint32_t text = add_text(game, value, strlen(value));
    if (!text) return false;
    if (tag) {
        tag->value = text;
        return true;
    }
    PgnTag *tags = grown(game->tags, game->tag_count, &game->tag_capacity, sizeof *tags);
    if (tags) game->tags = tags;
    uint32_t name_text = add_text(game, name, strlen(name));
    if (!tags || !name_text) return false;
    game->tags[game->tag_count++] = (PgnTag){name_text, text};
    return true;
}

bool pgn_game_add_move(PgnGame *game, Move move, const char *comment) {
    PgnMove *moves = grown(game->moves, game->move_count, &game->move_capacity, sizeof *moves);
    if (!moves) return false;
    game->moves = moves;
    uint32_t text = comment && *comment ? add_text(game, comment, strlen(comment)) : 0;
    if (comment && *comment && !text) return false;
    game->moves[game->move_count++] = (PgnMove){move, text};
    return true;
}

bool pgn_game_add_comment(PgnGame *game, const char *comment) {
    uint32_t *slot = game->move_count ? &game->moves[game->move_count - 1].comment : &game->comment;
    if (*comment == '\0') return true;
    uint32_t old = *slot, text = add_text(game, comment, strlen(comment));
    if (!text) return false;
    // Comments of one move follow each other in the text: the zero between two of them becomes a blank.
    bool adjacent = old && old + strlen(pgn_text(game, old)) + 1 == text;
    if (adjacent) game->text[text - 1] = ' ';
    else *slot = text;
    return true;
}

Position pgn_game_position(const PgnGame *game, int plies) {
    Position now = game->start, next;
    for (int i = 0; i < game->move_count && i < plies; i++) {
        position_make(&next, &now, game->moves[i].move);
        now = next;
    }
    return now;
}

const char *pgn_result_text(PgnResult result) {
    static const char *const Texts[] = {"*", "1-0", "0-1", "1/2-1/2"};
    return Texts[result];
}

// ---- writing -----------------------------------------------------------------------------------

// The tags in the order of fastchess; those before ROSTER_END are always written.
enum { ROSTER_END = 7 };
// clang-format off
static const char *const TagOrder[] = {
    "Event", "Site", "Date", "Round", "White", "Black", "Result",
    "EngineWhiteName", "EngineWhiteAuthor", "EngineBlackName", "EngineBlackAuthor", "SetUp", "FEN", "Variant",
    "GameDuration", "GameStartTime", "GameEndTime", "PlyCount", "Termination",
    "TimeControl", "WhiteTimeControl", "BlackTimeControl", "ECO", "Opening",
};
// clang-format on
enum { ORDERED_TAGS = sizeof TagOrder / sizeof *TagOrder };

static void write_tag(FILE *out, const char *name, const char *value) {
    fprintf(out, "[%s \"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') fputc('\\', out);
        fputc((unsigned char)*value < ' ' ? ' ' : *value, out);
    }
    fputs("\"]\n", out);
}

// The value of a tag that follows from the game itself, or NULL; fen is a buffer of FEN_SIZE.
static const char *derived_tag(const PgnGame *game, const char *name, char *fen) {
    position_to_fen(&game->start, fen);
    bool set_up = strcmp(fen, START_FEN) != 0;
    if (strcmp(name, "Result") == 0) return pgn_result_text(game->result);
    if (strcmp(name, "SetUp") == 0) return set_up ? "1" : NULL;
    if (strcmp(name, "FEN") == 0) return set_up ? fen : NULL;
    if (strcmp(name, "Variant") == 0) return game->start.chess960 ? "Chess960" : NULL;
    return NULL;
}

static bool is_derived(const char *name) {
    return strcmp(name, "Result") == 0 || strcmp(name, "SetUp") == 0 || strcmp(name, "FEN") == 0 ||
           strcmp(name, "Variant") == 0;
}

static void write_tags(FILE *out, const PgnGame *game, PgnStyle style) {
    char fen[FEN_SIZE];
    for (int i = 0; i < ORDERED_TAGS; i++) {
        const char *name = TagOrder[i];
        const char *value = is_derived(name) ? derived_tag(game, name, fen) : pgn_game_tag(game, name);
        if (style.minimal && i >= ROSTER_END && strcmp(name, "FEN") != 0 && strcmp(name, "Variant") != 0)
            continue;
        if (!value && i < ROSTER_END) value = strcmp(name, "Date") == 0 ? "????.??.??" : "?";
        if (value) write_tag(out, name, value);
    }
    if (style.minimal) return;
    for (int i = 0; i < game->tag_count; i++) {
        const char *name = pgn_text(game, game->tags[i].name);
        bool ordered = false;
        for (int j = 0; j < ORDERED_TAGS; j++) ordered |= strcmp(name, TagOrder[j]) == 0;
        if (!ordered) write_tag(out, name, pgn_text(game, game->tags[i].value));
    }
}

// Where the line stands: words go to a new line when they would pass the last column.
typedef struct Wrap {
    FILE *out;
    size_t column;
} Wrap;

static void write_word(Wrap *wrap, const char *word, size_t size) {
    if (wrap->column > 0 && wrap->column + 1 + size > LINE_LENGTH) {
        fputc('\n', wrap->out);
        wrap->column = 0;
    }
    if (wrap->column > 0) {
        fputc(' ', wrap->out);
        wrap->column++;
    }
    fwrite(word, 1, size, wrap->out);
    wrap->column += size;
}

// Writes {comment}, breaking it at blanks; a closing brace inside would end it early and becomes ")".
static bool write_comment(Wrap *wrap, const char *comment) {
    size_t length = strlen(comment);
    char *text = malloc(length + 3);
    if (!text) return false;
    text[0] = '{';
    for (size_t i = 0; i < length; i++) {
        char c = comment[i];
        text[i + 1] = c == '}' ? ')' : (unsigned char)c < ' ' ? ' ' : c;
    }
    memcpy(text + length + 1, "}", 2);
    for (const char *word = text; *word;) {
        while (*word == ' ') word++;
        size_t size = strcspn(word, " ");
        if (size) write_word(wrap, word, size);
        word += size;
    }
    free(text);
    return true;
}

static bool write_moves(Wrap *wrap, const PgnGame *game, PgnStyle style) {
    Position pos = game->start, next;
    if (!style.minimal && game->comment && !write_comment(wrap, pgn_text(game, game->comment))) return false;
    for (int i = 0; i < game->move_count; i++) {
        Move move = game->moves[i].move;
        char word[32];
        if (pos.stm == WHITE || i == 0) {
            snprintf(word, sizeof word, "%d%s", pos.fullmove, pos.stm == WHITE ? "." : "...");
            write_word(wrap, word, strlen(word));
        }
        switch (style.notation) {
        case PGN_SAN: notation_to_san(&pos, move, word); break;
        case PGN_LAN: notation_to_lan(&pos, move, word); break;
        case PGN_UCI: notation_to_uci(&pos, move, word); break;
        }
        write_word(wrap, word, strlen(word));
        uint32_t comment = game->moves[i].comment;
        if (!style.minimal && comment && !write_comment(wrap, pgn_text(game, comment))) return false;
        position_make(&next, &pos, move);
        pos = next;
    }
    const char *result = pgn_result_text(game->result);
    write_word(wrap, result, strlen(result));
    return true;
}

bool pgn_write(FILE *out, const PgnGame *game, PgnStyle style, Error *error) {
    write_tags(out, game, style);
    fputc('\n', out);
    Wrap wrap = {out, 0};
    if (!write_moves(&wrap, game, style)) return error_set(error, "writing a game: not enough memory");
    fputs("\n\n", out);
    if (ferror(out)) return error_set(error, "writing a game: %s", strerror(errno));
    return true;
}
