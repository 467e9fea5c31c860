// SPDX-License-Identifier: GPL-3.0-or-later
// Games for training in a compact file: a header and chunks of games, each chunk with its length and
// checksum, so that a file whose writer was killed is good up to its last whole chunk. A ply costs about two
// bytes: the move as its place in the list of legal moves, the score as its difference from the last one.
#pragma once

#include "engine/position.h"

enum { GAMEDATA_MAX_PLIES = 512 };

// One game. Scores are in centipawns from White, mates clipped to +-GAMEDATA_SCORE_MAX; random plies have
// none. scores[i] is that of the position before moves[i].
typedef struct DataGame {
    Position start;   // the standard or a double Chess960 start position
    int ply_count;    // random ones and played ones
    int random_plies; // the first so many moves were drawn at random, without a search
    int result;       // half points of White: 0, 1, 2
    bool adjudicated;
    Move moves[GAMEDATA_MAX_PLIES];
    int16_t scores[GAMEDATA_MAX_PLIES];
} DataGame;

enum { GAMEDATA_SCORE_MAX = 10000 };

typedef struct GameReader GameReader;

// Opens a file of games; refuses with a reason what is none.
GameReader *gamereader_open(const char *path, Error *error);

// Reads the next game; false at the end of the file (error empty) or at a broken chunk (error says which).
bool gamereader_next(GameReader *reader, DataGame *game, Error *error);

// Closes the file.
void gamereader_close(GameReader *reader);

// Takes the next chunk and gives its games as they lie in the file; for whoever copies or counts without
// playing them through. False as gamereader_next; do not mix the two.
bool gamereader_chunk(GameReader *reader, const uint8_t **bytes, size_t *size, uint32_t *games, Error *error);

// The settings that the file was made with, lines of `name value`; lives as long as the reader.
const char *gamereader_settings(const GameReader *reader);

// How many games were read so far.
uint64_t gamereader_games(const GameReader *reader);

// The bytes of an unfinished chunk at the end of the file, known when it is reached.
uint64_t gamereader_torn(const GameReader *reader);

// The bytes of the whole file.
uint64_t gamereader_bytes(const GameReader *reader);

typedef struct GameWriter GameWriter;

// Games of a chunk (the last one of a file may have fewer), and bounds of what is written.
enum { GAMEDATA_CHUNK_GAMES = 64, GAMEDATA_GAME_BYTES = 16 + 4 * GAMEDATA_MAX_PLIES };
enum { GAMEDATA_SETTINGS_MAX = 1 << 16 };

// What a file held when it was opened for writing.
typedef struct GameTally {
    uint64_t games, plies, random_plies;
    uint64_t results[3]; // by half points of White
    uint64_t torn;       // bytes of an unfinished chunk that were cut off
} GameTally;

// Opens a file to add games: a new one, or one with the same settings, which goes on after its last whole
// game. Refuses other settings, naming the first line that differs, and a file that another run is writing.
GameWriter *gamewriter_open(const char *path, const char *settings, GameTally *tally, Error *error);

// Adds a game; whole chunks go to the file at once.
bool gamewriter_add(GameWriter *writer, const DataGame *game, Error *error);

// Adds a game that gamedata_encode wrote.
bool gamewriter_add_bytes(GameWriter *writer, const void *bytes, size_t size, Error *error);

// Writes what is left as a short chunk, which a later run fills up, and makes sure that all is on the disk.
bool gamewriter_flush(GameWriter *writer, Error *error);

// Closes the file without a flush; harmless on NULL.
void gamewriter_close(GameWriter *writer);

// Writes one game into GAMEDATA_GAME_BYTES bytes and returns its size; 0 with a reason if it is none: a start
// position that has no number, an illegal move, too many plies.
size_t gamedata_encode(const DataGame *game, uint8_t *bytes, Error *error);

// Reads one game from bytes and returns the bytes it took; 0 with a reason if they are none.
size_t gamedata_decode(const uint8_t *bytes, size_t size, DataGame *game, Error *error);

// Adds what one game has to a tally without playing it through and returns the bytes it took; 0 if it is none.
size_t gamedata_skim(const uint8_t *bytes, size_t size, GameTally *tally);

// The legal move with a number in the order of from, to and promotion; MOVE_NONE if there are fewer.
Move gamedata_move(const Position *pos, int number);

// A score as it will be read back: clipped, and rounded to two centipawns towards zero.
int gamedata_score(int score);
