// SPDX-License-Identifier: GPL-3.0-or-later
// The file, all numbers little-endian:
//   header: "HoneGame", version (4 bytes), size of the settings (4), settings, CRC-32 of all before (4)
//   chunk:  size of the games (4), their count (4), number of the first one (8), CRC of the games (4), CRC of
//           these 20 bytes (4), games
//   game:   flags (result in bits 0 and 1, 4 adjudicated, 8 Chess960), Chess960: two start numbers (2 each),
//           plies (varint), random plies (1), and for each ply the number of the move and, unless it was a
//           random one, the score less the one before it, in units of two centipawns (zig-zag varint)
#include "tuner/gamedata.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/movegen.h"

enum { VERSION = 1, HEADER_FIXED = 16, CHUNK_HEADER = 24 };
enum { CHUNK_ROOM = GAMEDATA_CHUNK_GAMES * GAMEDATA_GAME_BYTES };
enum { TORN_MAX = 1 << 20 }; // more than this is not the rest of one unfinished write
enum { FLAG_RESULT = 3, FLAG_ADJUDICATED = 4, FLAG_CHESS960 = 8, FLAGS = 15 };

static const char Magic[8] = "HoneGame";

static void put_number(uint8_t *bytes, uint64_t value, int size) {
    for (int i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_number(const uint8_t *bytes, int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

// --- moves by number

// Where a move stands in the order of from, to, promotion; each legal move has its own place.
static uint16_t move_place(Move move) {
    int promotion = move_kind(move) == MOVE_PROMOTION ? move_promotion(move) - KNIGHT : 0;
    return (uint16_t)(move_from(move) << 8 | move_to(move) << 2 | promotion);
}

// The legal moves and their places in the order.
typedef struct Places {
    MoveList list;
    uint16_t places[MAX_MOVES];
} Places;

static void find_places(Places *all, const Position *pos) {
    movegen_list(pos, &all->list);
    for (int i = 0; i < all->list.count; i++) all->places[i] = move_place(all->list.moves[i]);
}

// How many moves come before a place.
static int count_before(const Places *all, uint16_t place) {
    int before = 0;
    for (int i = 0; i < all->list.count; i++) before += all->places[i] < place;
    return before;
}

Move gamedata_move(const Position *pos, int number) {
    Places all;
    find_places(&all, pos);
    if (number < 0 || number >= all.list.count) return MOVE_NONE;
    for (int i = 0; i < all.list.count; i++)
        if (count_before(&all, all.places[i]) == number) return all.list.moves[i];
    return MOVE_NONE;
}

static int move_number(const Position *pos, Move move) {
    Places all;
    find_places(&all, pos);
    for (int i = 0; i < all.list.count; i++)
        if (all.list.moves[i] == move) return count_before(&all, all.places[i]);
    return -1;
}

int gamedata_score(int score) { return int_clamp(score, -GAMEDATA_SCORE_MAX, GAMEDATA_SCORE_MAX) / 2 * 2; }

// --- one game

static size_t put_varint(uint8_t *bytes, uint32_t value) {
    size_t size = 0;
    for (; value >= 128; value >>= 7) bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    return size;
}

// The start number of one colour's back rank, or -1.
static int start_number(const Position *pos, int colour) {
    Position start;
    for (int number = 0; number < 960; number++) {
        position_from_chess960(&start, number, number);
        if (memcmp(start.board + square_for(colour, A1), pos->board + square_for(colour, A1), 8) == 0)
            return number;
    }
    return -1;
}

// Writes what a game started from; false if it has no number.
static bool put_start(const Position *start, uint8_t *bytes, size_t *size) {
    Position expected;
    if (!start->chess960) {
        position_from_fen(&expected, START_FEN, NULL);
        return expected.key == start->key;
    }
    int white = start_number(start, WHITE), black = start_number(start, BLACK);
    if (white < 0 || black < 0) return false;
    position_from_chess960(&expected, white, black);
    put_number(bytes + *size, (uint64_t)white, 2);
    put_number(bytes + *size + 2, (uint64_t)black, 2);
    *size += 4;
    return expected.key == start->key;
}

size_t gamedata_encode(const DataGame *game, uint8_t *bytes, Error *error) {
    size_t size = 1;
    int plies = game->ply_count, last = 0;
    if (plies < 0 || plies > GAMEDATA_MAX_PLIES || game->random_plies < 0 || game->random_plies > plies ||
        game->random_plies > 255 || game->result < 0 || game->result > 2)
        return error_set(error, "a game of %d plies, %d of them random, result %d", plies, game->random_plies,
                         game->result);
    bytes[0] = (uint8_t)(game->result | (game->adjudicated ? FLAG_ADJUDICATED : 0) |
                         (game->start.chess960 ? FLAG_CHESS960 : 0));
    if (!put_start(&game->start, bytes, &size))
        return error_set(error, "a game must start from the standard or a Chess960 array");
    size += put_varint(bytes + size, (uint32_t)plies);
    bytes[size++] = (uint8_t)game->random_plies;
    Position pos = game->start, after;
    for (int ply = 0; ply < plies; ply++, pos = after) {
        int number = move_number(&pos, game->moves[ply]);
        if (number < 0) return error_set(error, "ply %d of a game is not legal", ply + 1);
        bytes[size++] = (uint8_t)number;
        if (ply >= game->random_plies) {
            int score = gamedata_score(game->scores[ply]) / 2, step = score - last;
            size += put_varint(bytes + size, (uint32_t)step << 1 ^ (step < 0 ? UINT32_MAX : 0));
            last = score;
        }
        position_make(&after, &pos, game->moves[ply]);
    }
    return size;
}

// Bytes that are read one after the other; bad once they did not suffice.
typedef struct Cursor {
    const uint8_t *bytes;
    size_t size, at;
    bool bad;
} Cursor;

static uint32_t take_byte(Cursor *cursor) {
    if (cursor->at < cursor->size) return cursor->bytes[cursor->at++];
    cursor->bad = true;
    return 0;
}

static uint32_t take_varint(Cursor *cursor) {
    uint32_t value = 0;
    for (int shift = 0; shift < 28; shift += 7) {
        uint32_t byte = take_byte(cursor);
        value |= (byte & 127) << shift;
        if (byte < 128) return value;
    }
    cursor->bad = true;
    return 0;
}

static bool take_start(Cursor *cursor, Position *start, bool chess960) {
    if (!chess960) return position_from_fen(start, START_FEN, NULL);
    uint32_t white = take_byte(cursor);
    white |= take_byte(cursor) << 8;
    uint32_t black = take_byte(cursor);
    black |= take_byte(cursor) << 8;
    if (cursor->bad || white >= 960 || black >= 960) return false;
    position_from_chess960(start, (int)white, (int)black);
    return true;
}

size_t gamedata_decode(const uint8_t *bytes, size_t size, DataGame *game, Error *error) {
    Cursor cursor = {.bytes = bytes, .size = size};
    uint32_t flags = take_byte(&cursor);
    if (cursor.bad || flags > FLAGS || (flags & FLAG_RESULT) > 2)
        return error_set(error, "the flags of a game are wrong");
    if (!take_start(&cursor, &game->start, flags & FLAG_CHESS960))
        return error_set(error, "the start position of a game is wrong");
    uint32_t plies = take_varint(&cursor), random_plies = take_byte(&cursor);
    if (cursor.bad || plies > GAMEDATA_MAX_PLIES || random_plies > plies)
        return error_set(error, "the length of a game is wrong");
    game->result = (int)(flags & FLAG_RESULT);
    game->adjudicated = flags & FLAG_ADJUDICATED;
    game->ply_count = (int)plies;
    game->random_plies = (int)random_plies;
    Position pos = game->start, after;
    int64_t score = 0;
    for (int ply = 0; ply < game->ply_count; ply++, pos = after) {
        Move move = gamedata_move(&pos, (int)take_byte(&cursor));
        if (cursor.bad || move == MOVE_NONE) return error_set(error, "ply %d is no legal move", ply + 1);
        game->moves[ply] = move;
        game->scores[ply] = 0;
        if (ply >= game->random_plies) {
            uint32_t step = take_varint(&cursor);
            score += (int64_t)(step >> 1) ^ -(int64_t)(step & 1);
            if (cursor.bad || score > GAMEDATA_SCORE_MAX / 2 || score < -GAMEDATA_SCORE_MAX / 2)
                return error_set(error, "the score at ply %d is wrong", ply + 1);
            game->scores[ply] = (int16_t)(2 * score);
        }
        position_make(&after, &pos, move);
    }
    return cursor.at;
}

size_t gamedata_skim(const uint8_t *bytes, size_t size, GameTally *tally) {
    Cursor cursor = {.bytes = bytes, .size = size};
    uint32_t flags = take_byte(&cursor);
    for (int i = 0; i < 4 && flags & FLAG_CHESS960; i++) take_byte(&cursor);
    uint32_t plies = take_varint(&cursor), random_plies = take_byte(&cursor);
    for (uint32_t ply = 0; ply < plies && !cursor.bad; ply++) {
        take_byte(&cursor);
        if (ply >= random_plies) take_varint(&cursor);
    }
    if (cursor.bad || (flags & FLAG_RESULT) > 2) return 0;
    tally->games++;
    tally->plies += plies;
    tally->random_plies += random_plies;
    tally->results[flags & FLAG_RESULT]++;
    return cursor.at;
}

// --- chunks

// What stands before the games of a chunk.
typedef struct ChunkHead {
    uint32_t size, games;
    uint64_t first;
    uint32_t crc; // of the games
} ChunkHead;

static void put_head(uint8_t *bytes, const ChunkHead *head) {
    put_number(bytes, head->size, 4);
    put_number(bytes + 4, head->games, 4);
    put_number(bytes + 8, head->first, 8);
    put_number(bytes + 16, head->crc, 4);
    put_number(bytes + 20, crc32_of(0, bytes, 20), 4);
}

static bool get_head(const uint8_t *bytes, ChunkHead *head) {
    head->size = (uint32_t)get_number(bytes, 4);
    head->games = (uint32_t)get_number(bytes + 4, 4);
    head->first = get_number(bytes + 8, 8);
    head->crc = (uint32_t)get_number(bytes + 16, 4);
    return get_number(bytes + 20, 4) == crc32_of(0, bytes, 20) && head->size <= CHUNK_ROOM &&
           head->games > 0 && head->games <= GAMEDATA_CHUNK_GAMES;
}

// --- reading

struct GameReader {
    FileMap map;
    char *path, *settings;
    size_t at;    // of the next chunk
    size_t chunk; // where the last chunk read began
    ChunkHead head;
    const uint8_t *games; // of the chunk that is being read
    size_t used;
    uint32_t left;
    uint64_t count, torn;
};

// Reads the header; false with a reason if it is none.
static bool read_header(GameReader *reader, Error *error) {
    const uint8_t *bytes = (const uint8_t *)reader->map.data;
    size_t size = reader->map.size;
    if (size < HEADER_FIXED + 4 || memcmp(bytes, Magic, sizeof Magic) != 0)
        return error_set(error, "%s: not a file of games (it should begin with HoneGame)", reader->path);
    uint64_t version = get_number(bytes + 8, 4), length = get_number(bytes + 12, 4);
    if (version != VERSION)
        return error_set(error, "%s: version %" PRIu64 ", but this program reads %d", reader->path, version,
                         VERSION);
    size_t end = HEADER_FIXED + (size_t)length;
    if (length > GAMEDATA_SETTINGS_MAX || end + 4 > size ||
        crc32_of(0, bytes, end) != get_number(bytes + end, 4))
        return error_set(error, "%s: the header is damaged", reader->path);
    reader->settings = calloc((size_t)length + 1, 1);
    if (!reader->settings) return error_set(error, "%s: not enough memory", reader->path);
    memcpy(reader->settings, bytes + HEADER_FIXED, (size_t)length);
    reader->at = end + 4;
    return true;
}

GameReader *gamereader_open(const char *path, Error *error) {
    bitboard_init();
    GameReader *reader = calloc(1, sizeof *reader);
    if (reader) reader->path = strdup(path);
    if (!reader || !reader->path) {
        free(reader);
        error_set(error, "%s: not enough memory", path);
        return NULL;
    }
    if (!file_map(&reader->map, path, error) || !read_header(reader, error)) {
        gamereader_close(reader);
        return NULL;
    }
    return reader;
}

void gamereader_close(GameReader *reader) {
    if (!reader) return;
    file_unmap(&reader->map);
    free(reader->path);
    free(reader->settings);
    free(reader);
}

const char *gamereader_settings(const GameReader *reader) { return reader->settings; }
uint64_t gamereader_games(const GameReader *reader) { return reader->count; }
uint64_t gamereader_torn(const GameReader *reader) { return reader->torn; }
uint64_t gamereader_bytes(const GameReader *reader) { return reader->map.size; }

// Takes the next chunk; false at the end of the file (error empty) or with a reason.
static bool load_chunk(GameReader *reader, Error *error) {
    size_t rest = reader->map.size - reader->at;
    const uint8_t *head = (const uint8_t *)reader->map.data + reader->at;
    if (error) error->text[0] = '\0';
    reader->chunk = reader->at;
    reader->torn = rest;
    if (rest < CHUNK_HEADER) return false;
    if (!get_head(head, &reader->head))
        return error_set(error, "%s: the head of the chunk at byte %zu is damaged", reader->path, reader->at);
    if (rest - CHUNK_HEADER < reader->head.size) return false;
    reader->torn = 0;
    if (crc32_of(0, head + CHUNK_HEADER, reader->head.size) != reader->head.crc)
        return error_set(error, "%s: the chunk at byte %zu is damaged (its checksum is wrong)", reader->path,
                         reader->at);
    if (reader->head.first != reader->count)
        return error_set(error, "%s: the chunk at byte %zu begins with game %" PRIu64 " instead of %" PRIu64,
                         reader->path, reader->at, reader->head.first, reader->count);
    reader->games = head + CHUNK_HEADER;
    reader->left = reader->head.games;
    reader->used = 0;
    reader->at += CHUNK_HEADER + reader->head.size;
    return true;
}

bool gamereader_chunk(GameReader *reader, const uint8_t **bytes, size_t *size, uint32_t *games,
                      Error *error) {
    if (!load_chunk(reader, error)) return false;
    *bytes = reader->games;
    *size = reader->head.size;
    *games = reader->left;
    reader->count += reader->left;
    reader->left = 0;
    return true;
}

bool gamereader_next(GameReader *reader, DataGame *game, Error *error) {
    if (error) error->text[0] = '\0';
    if (reader->left == 0 && !load_chunk(reader, error)) return false;
    size_t took =
        gamedata_decode(reader->games + reader->used, reader->head.size - reader->used, game, error);
    if (took == 0) return error_prefix(error, "%s: game %" PRIu64, reader->path, reader->count);
    reader->used += took;
    reader->left--;
    reader->count++;
    if (reader->left == 0 && reader->used != reader->head.size)
        return error_set(error, "%s: the chunk at byte %zu is longer than its games", reader->path,
                         reader->chunk);
    return true;
}

// --- writing

struct GameWriter {
    char *path;
    int fd;
    int64_t end;    // where the next chunk goes
    uint64_t first; // number of its first game
    uint32_t games; // games of it so far
    size_t used;    // bytes of them
    bool changed;   // there are games that the file does not have
    uint8_t bytes[CHUNK_HEADER + CHUNK_ROOM];
};

static bool write_at(GameWriter *writer, const uint8_t *bytes, size_t size, int64_t at, Error *error) {
    for (size_t done = 0; done < size;) {
        ssize_t wrote = pwrite(writer->fd, bytes + done, size - done, at + (int64_t)done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
            int reason = wrote < 0 ? errno : ENOSPC;
            if (ftruncate(writer->fd, at) != 0) reason = errno;
            return error_set(error, "%s: cannot write: %s", writer->path, strerror(reason));
        }
        done += (size_t)wrote;
    }
    return true;
}

// Writes the games in hand as a chunk at the end; they stay in hand until the chunk is full.
static bool write_chunk(GameWriter *writer, Error *error) {
    uint8_t *games = writer->bytes + CHUNK_HEADER;
    ChunkHead head = {.size = (uint32_t)writer->used,
                      .games = writer->games,
                      .first = writer->first,
                      .crc = crc32_of(0, games, writer->used)};
    put_head(writer->bytes, &head);
    size_t size = CHUNK_HEADER + writer->used;
    if (!write_at(writer, writer->bytes, size, writer->end, error)) return false;
    writer->changed = false;
    if (writer->games < GAMEDATA_CHUNK_GAMES) return true;
    writer->end += (int64_t)size;
    writer->first += writer->games;
    writer->games = 0;
    writer->used = 0;
    return true;
}

bool gamewriter_add_bytes(GameWriter *writer, const void *bytes, size_t size, Error *error) {
    memcpy(writer->bytes + CHUNK_HEADER + writer->used, bytes, size);
    writer->used += size;
    writer->games++;
    writer->changed = true;
    return writer->games < GAMEDATA_CHUNK_GAMES || write_chunk(writer, error);
}

bool gamewriter_add(GameWriter *writer, const DataGame *game, Error *error) {
    uint8_t bytes[GAMEDATA_GAME_BYTES];
    size_t size = gamedata_encode(game, bytes, error);
    if (size == 0)
        return error_prefix(error, "%s: game %" PRIu64, writer->path, writer->first + writer->games);
    return gamewriter_add_bytes(writer, bytes, size, error);
}

bool gamewriter_flush(GameWriter *writer, Error *error) {
    if (writer->changed && !write_chunk(writer, error)) return false;
    return fdatasync(writer->fd) == 0 ||
           error_set(error, "%s: cannot sync: %s", writer->path, strerror(errno));
}

void gamewriter_close(GameWriter *writer) {
    if (!writer) return;
    if (writer->fd >= 0) close(writer->fd);
    free(writer->path);
    free(writer);
}

// The header of a file with these settings, in a fresh buffer.
static uint8_t *make_header(const char *settings, size_t *size) {
    size_t length = strlen(settings), end = HEADER_FIXED + length;
    uint8_t *bytes = malloc(end + 4);
    if (!bytes) return NULL;
    memcpy(bytes, Magic, sizeof Magic);
    put_number(bytes + 8, VERSION, 4);
    put_number(bytes + 12, length, 4);
    memcpy(bytes + HEADER_FIXED, settings, length);
    put_number(bytes + end, crc32_of(0, bytes, end), 4);
    *size = end + 4;
    return bytes;
}

// Names the first line in which two settings differ.
static bool compare_settings(const char *path, const char *old, const char *new, Error *error) {
    while (*old && *new) {
        size_t a = strcspn(old, "\n"), b = strcspn(new, "\n");
        if (a != b || memcmp(old, new, a) != 0)
            return error_set(error, "%.100s: made with other settings: it has '%.*s', this run '%.*s'", path,
                             (int)(a < 60 ? a : 60), old, (int)(b < 60 ? b : 60), new);
        old += a + (old[a] == '\n'), new += b + (new[b] == '\n');
    }
    if (!*old && !*new) return true;
    const char *more = *old ? old : new;
    return error_set(error, "%.100s: made with other settings: only %s has '%.*s'", path,
                     *old ? "it" : "this run", (int)strcspn(more, "\n"), more);
}

// Goes through an old file, counts its games and takes a short last chunk in hand.
static bool take_over(GameWriter *writer, const char *settings, GameTally *tally, Error *error) {
    GameReader *reader = gamereader_open(writer->path, error);
    if (!reader) return false;
    bool ok = compare_settings(writer->path, reader->settings, settings, error);
    Error broken = {""};
    const uint8_t *bytes;
    size_t size;
    uint32_t games;
    writer->end = (int64_t)reader->at;
    while (ok && gamereader_chunk(reader, &bytes, &size, &games, &broken)) {
        for (size_t at = 0, took; at < size; at += took)
            if ((took = gamedata_skim(bytes + at, size - at, tally)) == 0) break;
        writer->end = (int64_t)reader->at;
        writer->first = reader->count;
        if (games == GAMEDATA_CHUNK_GAMES) continue;
        // Only the last chunk may be short; its games are written again with those that fill it.
        writer->end = (int64_t)reader->chunk;
        writer->first = reader->head.first;
        writer->games = games;
        writer->used = size;
        memcpy(writer->bytes + CHUNK_HEADER, bytes, size);
        break;
    }
    size_t whole = (size_t)writer->end + (writer->games ? CHUNK_HEADER + writer->used : 0);
    tally->torn = reader->map.size - whole;
    if (ok && tally->torn > TORN_MAX)
        ok = error_set(error, "%s", broken.text[0] ? broken.text : "a short chunk in the middle");
    gamereader_close(reader);
    return ok && (tally->torn == 0 || ftruncate(writer->fd, (int64_t)whole) == 0 ||
                  error_set(error, "%s: %s", writer->path, strerror(errno)));
}

// Begins a new file, or one whose writer was killed before the header was whole; goes on with any other.
static bool begin(GameWriter *writer, const char *settings, GameTally *tally, Error *error) {
    size_t size;
    uint8_t *header = make_header(settings, &size), *old = header ? malloc(size) : NULL;
    struct stat info;
    bool ok = old && fstat(writer->fd, &info) == 0;
    if (!ok) {
        error_set(error, "%s: not enough memory", writer->path);
    } else {
        ssize_t got = pread(writer->fd, old, size, 0);
        if (info.st_size < (off_t)size && got == (ssize_t)info.st_size && !memcmp(old, header, (size_t)got)) {
            writer->end = (int64_t)size;
            ok = write_at(writer, header, size, 0, error);
        } else {
            ok = take_over(writer, settings, tally, error);
        }
    }
    free(header);
    free(old);
    return ok;
}

GameWriter *gamewriter_open(const char *path, const char *settings, GameTally *tally, Error *error) {
    GameWriter *writer = calloc(1, sizeof *writer);
    *tally = (GameTally){0};
    bitboard_init();
    if (writer) writer->path = strdup(path);
    if (!writer || !writer->path) {
        free(writer);
        error_set(error, "%s: not enough memory", path);
        return NULL;
    }
    writer->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    bool ok = writer->fd >= 0 || error_set(error, "%s: %s", path, strerror(errno));
    // A run that was just killed may need a moment to be gone.
    for (int try = 0; ok && flock(writer->fd, LOCK_EX | LOCK_NB) != 0; try++) {
        if (try == 30) ok = error_set(error, "%s: another run is writing it", path);
        usleep(100000);
    }
    if (ok && strlen(settings) > GAMEDATA_SETTINGS_MAX)
        ok = error_set(error, "%s: the settings are too long", path);
    if (ok && begin(writer, settings, tally, error)) return writer;
    gamewriter_close(writer);
    return NULL;
}
