// SPDX-License-Identifier: GPL-3.0-or-later
// The PGN reader: one pass over the text, no recursion, time linear in its length whatever it contains.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/notation.h"
#include "openings/pgn.h"

enum { TOKEN_SIZE = 64, TAG_SIZE = 4096, MAX_TAGS = 1000 };

// One game being read.
typedef struct Parse {
    PgnReader *reader;
    PgnGame *game;
    Position pos;     // after the moves so far
    bool seen, moves; // anything at all, movetext
    Error *error;
} Parse;

typedef enum Step { STEP_ON, STEP_DONE, STEP_BAD } Step;

void pgn_reader_init(PgnReader *reader, const char *name, const char *text, size_t size) {
    *reader = (PgnReader){.name = name, .text = text, .size = size, .line = 1};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) reader->at = 3; // byte order mark
}

static int peek(const PgnReader *reader) {
    return reader->at < reader->size ? (unsigned char)reader->text[reader->at] : -1;
}

static void advance(PgnReader *reader) { reader->line += reader->text[reader->at++] == '\n'; }

static bool at_line_start(const PgnReader *reader) {
    return reader->at == 0 || reader->text[reader->at - 1] == '\n' ||
           (reader->line == 1 && reader->at == 3 && *reader->text == '\xef');
}

static bool looking_at(const PgnReader *reader, const char *text) {
    size_t size = strlen(text);
    return reader->size - reader->at >= size && memcmp(reader->text + reader->at, text, size) == 0;
}

static void skip_line(PgnReader *reader) {
    while (peek(reader) >= 0 && peek(reader) != '\n') advance(reader);
}

// Blanks, and lines that begin with % (they belong to other programs).
static void skip_blanks(PgnReader *reader) {
    for (;;) {
        int c = peek(reader);
        if (c == '%' && at_line_start(reader)) skip_line(reader);
        else if (c == ' ' || (c >= '\t' && c <= '\r')) advance(reader);
        else return;
    }
}

// Reason with file and line in front.
static Step bad(Parse *parse, int line, const char *what, const char *text) {
    error_set(parse->error, "%s:%d: %s%s%.60s%s", parse->reader->name, line, what, *text ? " '" : "", text,
              *text ? "'" : "");
    return STEP_BAD;
}

// Whether a new game begins here for sure: an Event tag after an empty line. Within a comment or a variation
// it says that someone forgot to close it.
static bool at_new_game(const PgnReader *reader) {
    size_t at = reader->at;
    if (!at_line_start(reader) || !looking_at(reader, "[Event \"")) return false;
    if (at >= 2 && reader->text[at - 2] == '\r') at--;
    return at >= 2 && reader->text[at - 2] == '\n';
}

// Passes over {a comment}; false if it is not closed before the file ends or a new game begins.
static bool skip_comment(PgnReader *reader) {
    advance(reader);
    while (peek(reader) >= 0) {
        if (peek(reader) == '}') {
            advance(reader);
            return true;
        }
        if (at_new_game(reader)) return false;
        advance(reader);
    }
    return false;
}

// Adds text[from, to) to the comments, with runs of blanks made one blank.
static bool keep_comment(Parse *parse, size_t from, size_t to) {
    if (!parse->reader->keep_comments) return true;
    char *text = malloc(to - from + 1);
    if (!text) return false;
    size_t used = 0;
    for (size_t i = from; i < to; i++) {
        char c = parse->reader->text[i];
        bool blank = c == '\0' || isspace((unsigned char)c);
        if (!blank) text[used++] = c;
        else if (used > 0 && text[used - 1] != ' ') text[used++] = ' ';
    }
    if (used > 0 && text[used - 1] == ' ') used--;
    text[used] = '\0';
    bool ok = pgn_game_add_comment(parse->game, text);
    free(text);
    return ok;
}

static Step read_comment(Parse *parse) {
    PgnReader *reader = parse->reader;
    int line = reader->line;
    size_t from = reader->at + 1;
    bool brace = peek(reader) == '{';
    if (!brace) skip_line(reader);
    else if (!skip_comment(reader)) return bad(parse, line, "the comment that begins here is not closed", "");
    size_t to = brace ? reader->at - 1 : reader->at;
    return keep_comment(parse, from, to) ? STEP_ON : bad(parse, line, "not enough memory", "");
}

// Passes over (a variation), with variations and comments in it.
static Step skip_variation(Parse *parse) {
    PgnReader *reader = parse->reader;
    int line = reader->line, depth = 0;
    do {
        int c = peek(reader);
        if (c < 0 || at_new_game(reader))
            return bad(parse, line, "the variation that begins here is not closed", "");
        if (c == '{') {
            if (!skip_comment(reader))
                return bad(parse, line, "a comment in this variation is not closed", "");
            continue;
        }
        if (c == ';') {
            skip_line(reader);
            continue;
        }
        depth += (c == '(') - (c == ')');
        advance(reader);
    } while (depth > 0);
    return STEP_ON;
}

// The closing quote of a tag's value: the first one before a ']', so that stray quotes inside are forgiven.
static const char *value_end(const char *from, const char *line_end) {
    for (const char *p = from; p < line_end; p++) {
        if (*p == '\\' && p + 1 < line_end) {
            p++;
            continue;
        }
        if (*p != '"') continue;
        const char *after = p + 1;
        while (after < line_end && isspace((unsigned char)*after)) after++;
        if (after < line_end && *after == ']') return p;
    }
    return NULL;
}

// Reads [Name "value"].
static Step read_tag(Parse *parse) {
    PgnReader *reader = parse->reader;
    const char *text = reader->text + reader->at, *end = reader->text + reader->size;
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    if (!line_end) line_end = end;
    char name[TOKEN_SIZE], value[TAG_SIZE];
    size_t used = 0;
    const char *p = text + 1;
    while (p < line_end && isspace((unsigned char)*p)) p++;
    while (p < line_end && (isalnum((unsigned char)*p) || *p == '_') && used < sizeof name - 1)
        name[used++] = *p++;
    name[used] = '\0';
    while (p < line_end && isspace((unsigned char)*p)) p++;
    if (used == 0 || p == line_end || *p != '"')
        return bad(parse, reader->line, "a tag is not [Name \"value\"]", name);
    const char *close = value_end(++p, line_end);
    if (!close) return bad(parse, reader->line, "the value of this tag is not closed by \"]:", name);
    if (close - p >= TAG_SIZE) return bad(parse, reader->line, "the value of this tag is too long:", name);
    for (used = 0; p < close; p++) {
        if (*p == '\\' && p + 1 < close && (p[1] == '"' || p[1] == '\\')) p++;
        value[used++] = *p == '\0' ? ' ' : *p;
    }
    value[used] = '\0';
    if (strcmp(name, "Event") == 0 && pgn_game_tag(parse->game, "Event"))
        return STEP_DONE; // a game without movetext
    if (parse->game->tag_count >= MAX_TAGS)
        return bad(parse, reader->line, "more tags than a game can have", "");
    if (!pgn_game_set_tag(parse->game, name, value)) return bad(parse, reader->line, "not enough memory", "");
    parse->seen = true;
    const char *bracket = memchr(close, ']', (size_t)(line_end - close));
    reader->at = (size_t)(bracket + 1 - reader->text);
    return STEP_ON;
}

// Sets the start position from the tags, when the movetext begins.
static Step begin_moves(Parse *parse) {
    static const char *const Standard[] = {"standard", "normal", "chess", "from position", "?", "-", ""};
    static const char *const Chess960[] = {"chess960",      "chess 960", "fischerandom",
                                           "fischerrandom", "frc",       "dfrc"};
    if (parse->moves) return STEP_ON;
    parse->moves = parse->seen = true;
    PgnGame *game = parse->game;
    const char *variant = pgn_game_tag(game, "Variant"), *fen = pgn_game_tag(game, "FEN");
    bool known = !variant, chess960 = false;
    for (size_t i = 0; variant && i < sizeof Standard / sizeof *Standard; i++)
        known |= text_equal(variant, Standard[i]);
    for (size_t i = 0; variant && i < sizeof Chess960 / sizeof *Chess960; i++)
        chess960 |= text_equal(variant, Chess960[i]);
    if (!known && !chess960)
        return bad(parse, parse->reader->line, "a variant that Hone does not play:", variant);
    Error reason;
    if (fen && !position_from_fen(&game->start, fen, &reason)) {
        error_set(parse->error, "%s:%d: FEN tag: %s", parse->reader->name, parse->reader->game_line,
                  reason.text);
        return STEP_BAD;
    }
    game->start.chess960 |= chess960;
    parse->pos = game->start;
    return STEP_ON;
}

static Step read_move(Parse *parse, const char *token) {
    if (parse->reader->max_plies > 0 && parse->game->move_count >= parse->reader->max_plies) return STEP_ON;
    Move move = notation_from_san(&parse->pos, token); // long forms are SAN that says more than it must
    if (move == MOVE_NONE) move = notation_from_uci(&parse->pos, token);
    if (move == MOVE_NONE) {
        char what[80];
        snprintf(what, sizeof what,
                 "no legal move for %s at move %d:", parse->pos.stm == WHITE ? "White" : "Black",
                 parse->pos.fullmove);
        return bad(parse, parse->reader->line, what, token);
    }
    if (!pgn_game_add_move(parse->game, move, NULL))
        return bad(parse, parse->reader->line, "not enough memory", "");
    Position before = parse->pos;
    position_make(&parse->pos, &before, move);
    return STEP_ON;
}

static bool is_symbol(int c) { return isalnum(c) || (c > 0 && strchr("+#=-_:/@", c)); }

// Takes a word of movetext; its first TOKEN_SIZE - 1 characters go into token.
static void read_token(PgnReader *reader, char *token) {
    int used = 0;
    for (; is_symbol(peek(reader)); advance(reader))
        if (used < TOKEN_SIZE - 1) token[used++] = (char)peek(reader);
    token[used] = '\0';
}

// Whether a token ends a game, and how.
static bool is_result(const char *token, PgnResult *result) {
    bool white = strcmp(token, "1-0") == 0, black = strcmp(token, "0-1") == 0;
    bool draw = strcmp(token, "1/2-1/2") == 0 || strcmp(token, "1/2") == 0;
    *result = white ? PGN_WHITE_WINS : black ? PGN_BLACK_WINS : draw ? PGN_DRAW : PGN_UNKNOWN;
    return white || black || draw;
}

static Step read_word(Parse *parse) {
    char token[TOKEN_SIZE];
    if (looking_at(parse->reader, "e.p.")) {
        parse->reader->at += 4;
        return STEP_ON;
    }
    Step step = begin_moves(parse);
    if (step != STEP_ON) return step;
    read_token(parse->reader, token);
    if (is_result(token, &parse->game->result)) return STEP_DONE;
    if (token[strspn(token, "0123456789")] == '\0') return STEP_ON; // a move number
    return read_move(parse, token);
}

// One thing of a game: a tag, a comment, a move ...
static Step read_step(Parse *parse) {
    PgnReader *reader = parse->reader;
    int c = peek(reader);
    switch (c) {
    case -1: return STEP_DONE;
    case '[': return parse->moves ? STEP_DONE : read_tag(parse);
    case '{':
    case ';': return read_comment(parse);
    case '(': return skip_variation(parse);
    case '*':
        if (begin_moves(parse) == STEP_BAD) return STEP_BAD;
        advance(reader);
        return STEP_DONE;
    case '$':
    case '!':
    case '?':
    case '.':
        advance(reader);
        while (c == '$' && isdigit(peek(reader))) advance(reader);
        return STEP_ON;
    case '<': // reserved for the future since 1994
        while (peek(reader) >= 0 && peek(reader) != '>' && peek(reader) != '\n') advance(reader);
        if (peek(reader) == '>') advance(reader);
        return STEP_ON;
    default: break;
    }
    if (is_symbol(c)) return read_word(parse);
    char text[8];
    snprintf(text, sizeof text, c >= ' ' && c < 127 ? "%c" : "\\x%02x", c);
    return bad(parse, reader->line, "this character has no place in a game:", text);
}

// After a fault: on to the first tag after movetext, or past the result.
static void skip_game(PgnReader *reader, bool in_tags) {
    PgnResult result;
    char token[TOKEN_SIZE];
    for (;;) {
        skip_blanks(reader);
        int c = peek(reader);
        if (c < 0) return;
        if (c == '[' && at_line_start(reader)) {
            if (!in_tags) return;
            skip_line(reader);
        } else if (c == '{') {
            skip_comment(reader);
        } else if (c == ';') {
            skip_line(reader);
        } else if (is_symbol(c)) {
            in_tags = false;
            read_token(reader, token);
            if (is_result(token, &result)) return;
        } else {
            advance(reader);
            if (c == '*') return;
        }
    }
}

PgnStatus pgn_read(PgnReader *reader, PgnGame *game, Error *error) {
    pgn_game_clear(game);
    Parse parse = {.reader = reader, .game = game, .error = error};
    Step step;
    skip_blanks(reader);
    reader->game_start = reader->at;
    reader->game_line = reader->line;
    do {
        step = read_step(&parse);
        if (step == STEP_ON) skip_blanks(reader);
    } while (step == STEP_ON);
    if (step == STEP_DONE && !parse.seen) return PGN_END;
    if (step == STEP_BAD) {
        skip_game(reader, !parse.moves);
        return PGN_BAD;
    }
    if (begin_moves(&parse) == STEP_BAD)
        return PGN_BAD; // a game without movetext: the next one follows at once
    const char *result = pgn_game_tag(game, "Result");
    if (game->result == PGN_UNKNOWN && result) is_result(result, &game->result);
    return PGN_GAME;
}
