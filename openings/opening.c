// SPDX-License-Identifier: GPL-3.0-or-later
#include "openings/opening.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/book.h"
#include "openings/pgn.h"

enum { STREAM_ORDER = 0x6f726465, LINE_SIZE = 1024, RELEASE_STEP = 1 << 20 };

// ---- one line ----------------------------------------------------------------------------------

// The value of a clock opcode, within what a FEN can say.
static bool parse_clock(const char *name, const char *text, int64_t min, int64_t max, int64_t *value,
                        Error *error) {
    return parse_int(text, min, max, value, error) || error_prefix(error, "%s", name);
}

// Reads the operations `opcode operand ... ;` of an EPD line for the two clocks.
static bool parse_operations(const char *text, int64_t *halfmove, int64_t *fullmove, Error *error) {
    while (*text) {
        char operation[64];
        size_t used = 0;
        bool quoted = false;
        for (; *text && (quoted || *text != ';'); text++) {
            quoted ^= *text == '"';
            if (used < sizeof operation - 1) operation[used++] = *text;
        }
        if (*text == ';') text++;
        operation[used] = '\0';
        char opcode[16], operand[16];
        const char *cursor = operation;
        if (!text_word(&cursor, opcode, sizeof opcode)) continue;
        bool half = strcmp(opcode, "hmvc") == 0, full = strcmp(opcode, "fmvn") == 0;
        if (!half && !full) continue;
        text_word(&cursor, operand, sizeof operand);
        if (!parse_clock(opcode, operand, half ? 0 : 1, half ? 255 : 9999, half ? halfmove : fullmove, error))
            return false;
    }
    return true;
}

bool opening_from_line(Position *pos, const char *line, size_t size, Error *error) {
    char text[LINE_SIZE], word[16], fen[LINE_SIZE + 32];
    if (size >= sizeof text) return error_set(error, "longer than %d characters", LINE_SIZE - 1);
    if (memchr(line, '\0', size)) return error_set(error, "a zero byte in a line of text");
    memcpy(text, line, size);
    text[size] = '\0';
    const char *blanks = " \t\r\n\v\f", *rest = text;
    for (int field = 0; field < 4; field++) {
        rest += strspn(rest, blanks);
        rest += strcspn(rest, blanks);
    }
    // Four fields, or a FEN with its clocks: nothing to translate.
    if (rest[strspn(rest, " \t\r0123456789")] == '\0') return position_from_fen(pos, text, error);
    int64_t halfmove = 0, fullmove = 1;
    const char *cursor = rest, *before = rest;
    // A FEN goes on with its two clocks, EPD with operations; both at once are taken as well.
    if (text_word(&cursor, word, sizeof word) && isdigit((unsigned char)*word)) {
        if (!parse_clock("halfmove clock", word, 0, 255, &halfmove, error)) return false;
        before = cursor;
        if (text_word(&cursor, word, sizeof word) && isdigit((unsigned char)*word)) {
            word[strcspn(word, ";")] = '\0';
            if (!parse_clock("move number", word, 0, 9999, &fullmove, error)) return false;
            before = cursor;
        }
    }
    if (!parse_operations(before, &halfmove, &fullmove, error)) return false;
    snprintf(fen, sizeof fen, "%.*s %d %d", (int)(rest - text), text, (int)halfmove, (int)fullmove);
    return position_from_fen(pos, fen, error);
}

// Whether a game can be played from here.
static bool playable(const Position *pos, Error *error) {
    KeyStack none;
    keystack_clear(&none);
    switch (position_ending(pos, &none)) {
    case ENDING_NONE: return true;
    case ENDING_CHECKMATE: return error_set(error, "the side to move is mated");
    case ENDING_STALEMATE: return error_set(error, "the side to move is stalemated");
    case ENDING_REPETITION:
    case ENDING_FIFTY: return error_set(error, "the game is drawn by the fifty-move rule");
    case ENDING_MATERIAL: return error_set(error, "neither side can mate");
    }
    return false;
}

// ---- the format --------------------------------------------------------------------------------

const char *opening_format_name(OpeningFormat format) {
    static const char *const Names[] = {"EPD", "PGN", "Polyglot"};
    return Names[format];
}

// Whether the first word of a line is eight ranks.
static bool looks_like_ranks(const char *line, size_t size) {
    int slashes = 0;
    for (size_t i = 0; i < size && !isspace((unsigned char)line[i]); i++) slashes += line[i] == '/';
    return slashes == 7;
}

bool opening_detect(const char *data, size_t size, OpeningFormat *format, Error *error) {
    if (size == 0) return error_set(error, "the file is empty");
    const uint8_t *bytes = (const uint8_t *)data;
    if (size >= 4 && ((bytes[0] == 0x1f && bytes[1] == 0x8b) || memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0 ||
                      memcmp(data, "PK\3\4", 4) == 0))
        return error_set(error, "the file is compressed: unpack it first");
    bool little = size >= 6 && !memcmp(data, "\xff\xfe", 2) && !bytes[3] && !bytes[5];
    bool big = size >= 6 && !memcmp(data, "\xfe\xff", 2) && !bytes[2] && !bytes[4];
    if (little || big) return error_set(error, "the file is text in UTF-16: save it as UTF-8 first");
    size_t head = size < 4096 ? size : 4096;
    for (size_t i = 0; i < head; i++)
        if (bytes[i] < '\t' || (bytes[i] > '\r' && bytes[i] < ' ')) {
            *format = OPENING_POLYGLOT;
            return true;
        }
    // Text: the first line that says what it is.
    size_t at = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (int line = 0; at < size && line < 100; line++) {
        const char *start = data + at, *end = memchr(start, '\n', size - at);
        size_t length = end ? (size_t)(end - start) : size - at;
        at += length + 1;
        while (length > 0 && isspace((unsigned char)*start)) start++, length--;
        if (length == 0) continue;
        if (*start == '[' || *start == '{' || *start == ';' || *start == '%' ||
            strncmp(start, "1.", length < 2 ? length : 2) == 0) {
            *format = OPENING_PGN;
            return true;
        }
        if (looks_like_ranks(start, length)) {
            *format = OPENING_EPD;
            return true;
        }
    }
    return error_set(error, "neither EPD or FEN lines nor PGN nor a Polyglot book");
}

// ---- loading -----------------------------------------------------------------------------------

// The set while it is being filled.
typedef struct Loader {
    OpeningSet *set;
    FileMap map;
    size_t capacity, released;
    bool no_memory;
} Loader;

static void add_problem(OpeningSet *set, uint64_t line, const char *reason) {
    if (set->bad_count < OPENING_PROBLEMS) {
        set->problems[set->bad_count].line = line;
        text_copy(set->problems[set->bad_count].reason, sizeof set->problems->reason, reason);
    }
    set->bad_count++;
}

// Writes an offset behind the valid ones (the caller counts it, or not).
static void put_offset(Loader *loader, uint64_t offset) {
    OpeningSet *set = loader->set;
    if (set->count >= loader->capacity) {
        size_t wanted = loader->capacity ? loader->capacity + loader->capacity / 2 : 1024;
        uint64_t *more = realloc(set->offsets, wanted * sizeof *more);
        if (!more) {
            loader->no_memory = true;
            return;
        }
        set->offsets = more;
        loader->capacity = wanted;
    }
    set->offsets[set->count] = offset;
}

static void add_offset(Loader *loader, uint64_t offset) {
    put_offset(loader, offset);
    if (!loader->no_memory) loader->set->count++;
}

// Lets go of the pages that were read, so that the file never sits in memory as a whole.
static void release_pages(Loader *loader, size_t at) {
    if (at - loader->released < RELEASE_STEP) return;
    size_t size = (at - loader->released) / RELEASE_STEP * RELEASE_STEP;
    madvise((void *)(uintptr_t)(loader->map.data + loader->released), size, MADV_DONTNEED);
    loader->released += size;
}

static void load_lines(Loader *loader) {
    const char *data = loader->map.data;
    size_t size = loader->map.size, at = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (uint64_t number = 1; at < size && !loader->no_memory; number++) {
        const char *line = data + at, *end = memchr(line, '\n', size - at);
        size_t length = end ? (size_t)(end - line) : size - at, next = at + length + 1;
        while (length > 0 && isspace((unsigned char)line[length - 1])) length--;
        if (length > 0 && *line != '#') {
            Position pos;
            Error reason;
            if (opening_from_line(&pos, line, length, &reason) && playable(&pos, &reason))
                add_offset(loader, at);
            else add_problem(loader->set, number, reason.text);
        }
        loader->set->digest = digest_of(loader->set->digest, data + at, (next < size ? next : size) - at);
        at = next;
        release_pages(loader, at);
    }
}

static void load_games(Loader *loader) {
    OpeningSet *set = loader->set;
    PgnReader reader;
    PgnGame game;
    Error reason;
    PgnStatus status;
    pgn_reader_init(&reader, set->path, loader->map.data, loader->map.size);
    reader.max_plies = set->plies;
    pgn_game_init(&game);
    while (!loader->no_memory && (status = pgn_read(&reader, &game, &reason)) != PGN_END) {
        Position last;
        if (status == PGN_GAME) last = pgn_game_position(&game, set->plies);
        if (status == PGN_GAME && playable(&last, &reason)) add_offset(loader, reader.game_start);
        else add_problem(set, (uint64_t)reader.game_line, reason.text);
        release_pages(loader, reader.game_start);
    }
    pgn_game_free(&game);
    set->digest = digest_of(set->digest, loader->map.data, loader->map.size);
}

static Position node_position(const OpeningNode *nodes, uint32_t index, Move *moves) {
    int depth = nodes[index].depth;
    for (int i = depth - 1; i >= 0; i--, index = nodes[index].parent) moves[i] = nodes[index].move;
    Position pos, next;
    position_from_fen(&pos, START_FEN, NULL);
    for (int i = 0; i < depth; i++) {
        position_make(&next, &pos, moves[i]);
        pos = next;
    }
    return pos;
}

Position opening_node_position(const OpeningSet *set, uint32_t node) {
    Move moves[OPENING_MAX_PLIES];
    return node_position(set->nodes, node, moves);
}

// Notes a key; false if it was there. The table has room for all.
static bool add_key(Key *table, size_t mask, Key key) {
    size_t slot = (size_t)mix64(key) & mask;
    for (; table[slot]; slot = (slot + 1) & mask)
        if (table[slot] == key) return false;
    table[slot] = key;
    return true;
}

// Walks the book breadth first; a position is entered once, by its shortest line. Every entry of the book
// gives at most one node, so the tree is no larger than the book.
static void load_tree(Loader *loader, const Book *book) {
    OpeningSet *set = loader->set;
    size_t slots = 64, nodes = 1;
    while (slots < 2 * (book->count + 2)) slots *= 2;
    Key *seen = calloc(slots, sizeof *seen);
    set->nodes = malloc((book->count + 1) * sizeof *set->nodes);
    set->leaves = malloc((book->count + 1) * sizeof *set->leaves);
    loader->no_memory = !seen || !set->nodes || !set->leaves;
    if (!loader->no_memory) {
        set->nodes[0] = (OpeningNode){0};
        for (size_t i = 0; i < nodes; i++) {
            Move path[OPENING_MAX_PLIES];
            Position pos = node_position(set->nodes, (uint32_t)i, path), next;
            if (i == 0) add_key(seen, slots - 1, pos.key);
            BookMoves found = book_moves(book, &pos);
            bool leaf = found.total == 0 || set->nodes[i].depth >= set->plies;
            for (int k = 0; !leaf && k < found.count && found.moves[k].weight > 0; k++) {
                position_make(&next, &pos, found.moves[k].move);
                if (add_key(seen, slots - 1, next.key) && nodes <= book->count)
                    set->nodes[nodes++] = (OpeningNode){(uint32_t)i, found.moves[k].move,
                                                        (uint16_t)(set->nodes[i].depth + 1)};
            }
            Error reason;
            if (leaf && i > 0 && playable(&pos, &reason)) set->leaves[set->count++] = (uint32_t)i;
            else if (leaf && i > 0) add_problem(set, 0, reason.text);
        }
    }
    set->node_count = nodes;
    set->digest = digest_of(set->digest, book->map.data, book->map.size);
    free(seen);
}

static bool load_book(Loader *loader, Error *error) {
    Book book;
    if (!book_from_memory(&book, loader->set->path, loader->map.data, loader->map.size, error)) return false;
    if (book.count >= UINT32_MAX)
        return error_set(error, "%s: more entries than can be used", loader->set->path);
    load_tree(loader, &book);
    if (!loader->no_memory && loader->set->count == 0)
        return error_set(error, "%s: the book has no move for the start position", loader->set->path);
    return true;
}

// Keeps the file open and remembers what it looks like, so that a change is noticed.
static bool open_file(OpeningSet *set, Error *error) {
    set->fd = open(set->path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (set->fd < 0 || fstat(set->fd, &status) != 0)
        return error_set(error, "%s: %s", set->path, strerror(errno));
    set->file_size = status.st_size;
    set->file_mtime_ns = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    return true;
}

static bool load(OpeningSet *set, const char *path, int plies, Error *error) {
    Loader loader = {.set = set};
    *set = (OpeningSet){.fd = -1,
                        .plies = plies > 0 && plies < OPENING_MAX_PLIES ? plies : OPENING_MAX_PLIES,
                        .digest = DIGEST_START};
    set->path = strdup(path);
    if (!set->path) return error_set(error, "%s: not enough memory", path);
    if (!open_file(set, error) || !file_map(&loader.map, path, error)) return false;
    bool ok = opening_detect(loader.map.data, loader.map.size, &set->format, error);
    if (!ok) error_prefix(error, "%s", path);
    if (ok && set->format == OPENING_EPD) load_lines(&loader);
    if (ok && set->format == OPENING_PGN) load_games(&loader);
    if (ok && set->format == OPENING_POLYGLOT) ok = load_book(&loader, error);
    if (ok && set->format != OPENING_POLYGLOT) put_offset(&loader, loader.map.size);
    file_unmap(&loader.map);
    if (ok && loader.no_memory) ok = error_set(error, "%s: not enough memory", path);
    if (ok && set->count == 0)
        ok = error_set(error, "%s: no valid opening in it; line %llu: %.120s", path,
                       (unsigned long long)set->problems[0].line, set->problems[0].reason);
    return ok;
}

bool opening_set_load(OpeningSet *set, const char *path, int plies, Error *error) {
    if (load(set, path, plies, error)) return true;
    opening_set_free(set);
    return false;
}

void opening_set_free(OpeningSet *set) {
    if (set->path && set->fd >= 0) close(set->fd);
    free(set->path);
    free(set->offsets);
    free(set->nodes);
    free(set->leaves);
    *set = (OpeningSet){.fd = -1};
}

// ---- choosing ----------------------------------------------------------------------------------

// A Feistel network permutes a power of four not below count; walking its cycles stays within [0, count). No
// table, no state: any element can be had at any time.
uint64_t opening_permute(uint64_t seed, uint64_t index, uint64_t count) {
    assert(index < count);
    int bits = 4;
    while (bits < 32 && 1ull << 2 * bits < count) bits++;
    uint64_t mask = (1ull << bits) - 1;
    do {
        uint64_t left = index >> bits, right = index & mask;
        for (uint64_t round = 0; round < 8; round++) {
            uint64_t mixed = left ^ (random_at(seed, STREAM_ORDER + round, right) & mask);
            left = right;
            right = mixed;
        }
        index = left << bits | right;
    } while (index >= count);
    return index;
}

// Reads one opening's bytes again; the caller frees them.
static char *read_bytes(const OpeningSet *set, uint64_t index, size_t *size, Error *error) {
    struct stat status;
    bool same = fstat(set->fd, &status) == 0 && status.st_size == set->file_size &&
                status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec == set->file_mtime_ns;
    if (!same) {
        error_set(error, "%s: changed since it was loaded", set->path);
        return NULL;
    }
    size_t wanted = (size_t)(set->offsets[index + 1] - set->offsets[index]), got = 0;
    if (set->format == OPENING_EPD && wanted > LINE_SIZE)
        wanted = LINE_SIZE; // bad lines may lie between two good ones
    char *bytes = malloc(wanted + 1);
    while (bytes && got < wanted) {
        ssize_t more = pread(set->fd, bytes + got, wanted - got, (off_t)(set->offsets[index] + got));
        if (more == 0 || (more < 0 && errno != EINTR)) break;
        if (more > 0) got += (size_t)more;
    }
    if (bytes && got == wanted) {
        *size = wanted;
        return bytes;
    }
    error_set(error, "%s: %s", set->path, bytes ? "cannot be read" : "not enough memory");
    free(bytes);
    return NULL;
}

static bool opening_from_bytes(const OpeningSet *set, const char *bytes, size_t size, Opening *opening,
                               Error *error) {
    if (set->format == OPENING_EPD) {
        const char *end = memchr(bytes, '\n', size);
        if (!opening_from_line(&opening->start, bytes, end ? (size_t)(end - bytes) : size, error))
            return false;
        opening->position = opening->start;
        return true;
    }
    PgnReader reader;
    PgnGame game;
    pgn_reader_init(&reader, set->path, bytes, size);
    reader.max_plies = set->plies;
    pgn_game_init(&game);
    bool ok = pgn_read(&reader, &game, error) == PGN_GAME;
    if (ok) {
        opening->start = game.start;
        opening->position = pgn_game_position(&game, set->plies);
        opening->move_count = game.move_count;
        for (int i = 0; i < game.move_count; i++) opening->moves[i] = game.moves[i].move;
    }
    pgn_game_free(&game);
    return ok;
}

bool opening_at(const OpeningSet *set, uint64_t seed, OpeningOrder order, uint64_t start, uint64_t pair,
                Opening *opening, Error *error) {
    uint64_t place = (start > 0 ? start - 1 : 0) + pair, index = place % set->count;
    if (order == OPENING_RANDOM) index = opening_permute(seed, index, set->count);
    opening->number = index + 1;
    opening->wrap = place / set->count;
    opening->move_count = 0;
    if (set->format == OPENING_POLYGLOT) {
        position_from_fen(&opening->start, START_FEN, NULL);
        opening->move_count = set->nodes[set->leaves[index]].depth;
        opening->position = node_position(set->nodes, set->leaves[index], opening->moves);
        return true;
    }
    size_t size;
    char *bytes = read_bytes(set, index, &size, error);
    if (!bytes) return false;
    bool ok = opening_from_bytes(set, bytes, size, opening, error);
    free(bytes);
    return ok;
}
