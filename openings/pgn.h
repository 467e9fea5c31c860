// SPDX-License-Identifier: GPL-3.0-or-later
// Games as PGN text: a reader that takes one game at a time and forgives what files in the wild contain, and
// a writer whose tags and comments are those of fastchess. A PgnGame is filled by the reader, or by whoever
// plays games.
#pragma once

#include <stdio.h>

#include "engine/position.h"

typedef enum PgnResult { PGN_UNKNOWN, PGN_WHITE_WINS, PGN_BLACK_WINS, PGN_DRAW } PgnResult;

// A tag; both are offsets into the game's text (pgn_text).
typedef struct PgnTag {
    uint32_t name, value;
} PgnTag;

// A move and the offset of its comment (0 for none).
typedef struct PgnMove {
    Move move;
    uint32_t comment;
} PgnMove;

// One game. It owns its memory and keeps it from game to game: init once, clear between games, free at the
// end.
typedef struct PgnGame {
    Position start; // where the moves begin
    PgnResult result;
    uint32_t comment; // said before the first move
    PgnTag *tags;
    PgnMove *moves;
    char *text; // tags and comments, each zero-terminated; offset 0 is the empty text
    int tag_count, tag_capacity, move_count, move_capacity;
    size_t text_used, text_capacity;
} PgnGame;

// An empty game from the start position.
void pgn_game_init(PgnGame *game);

// Back to an empty game; the memory is kept.
void pgn_game_clear(PgnGame *game);

// Gives the memory back.
void pgn_game_free(PgnGame *game);

// The text at an offset.
static inline const char *pgn_text(const PgnGame *game, uint32_t offset) {
    return game->text ? game->text + offset : "";
}

// The value of a tag (names are compared exactly), or NULL.
const char *pgn_game_tag(const PgnGame *game, const char *name);

// Sets a tag, replacing an older value; false if memory runs out. Result, SetUp, FEN and Variant need not be
// set: the writer takes them from result and start.
bool pgn_game_set_tag(PgnGame *game, const char *name, const char *value);

// Appends a move with a comment (may be NULL); false if memory runs out. Its legality is the caller's
// business.
bool pgn_game_add_move(PgnGame *game, Move move, const char *comment);

// Adds to the comment of the last move, or to the game's if there is none yet, with a blank between.
bool pgn_game_add_comment(PgnGame *game, const char *comment);

// The position after the first plies moves (all of them if there are fewer).
Position pgn_game_position(const PgnGame *game, int plies);

// "1-0", "0-1", "1/2-1/2" or "*".
const char *pgn_result_text(PgnResult result);

typedef enum PgnNotation { PGN_SAN, PGN_LAN, PGN_UCI } PgnNotation;

// How a game is written.
typedef struct PgnStyle {
    PgnNotation notation;
    bool minimal; // the seven roster tags, FEN and Variant; no comments
} PgnStyle;

// Writes one game and the blank line after it: roster tags first, then in fastchess's order, then the others
// as they were set; movetext in at most 80 columns.
bool pgn_write(FILE *out, const PgnGame *game, PgnStyle style, Error *error);

// Reads games from text in memory (map a file for it). Zero the options or set them after pgn_reader_init.
typedef struct PgnReader {
    const char *name; // of the file, for reasons
    const char *text;
    size_t size, at;
    int line;      // of `at`, from 1
    int max_plies; // moves beyond are passed over without a look; 0 for no limit
    bool keep_comments;
    size_t game_start; // where the last game began
    int game_line;
} PgnReader;

// What reading the next game gave.
typedef enum PgnStatus {
    PGN_END,  // no more games
    PGN_GAME, // a game was read
    PGN_BAD,  // a game cannot be read: error names file, line and what; the next call goes on with the next
              // game
} PgnStatus;

// A reader at the start of a text that it borrows, as it does the name.
void pgn_reader_init(PgnReader *reader, const char *name, const char *text, size_t size);

// Reads the next game into game (initialised by the caller). After PGN_BAD it holds what came before the
// fault.
PgnStatus pgn_read(PgnReader *reader, PgnGame *game, Error *error);
