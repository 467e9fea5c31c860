// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/train_data.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *train_drop_name(TrainDrop drop) {
    static const char *const Names[DROPS] = {"random move", "early ply",     "in check",
                                             "noisy move",  "decided score", "fifty-move count"};
    return Names[drop];
}

TrainPosition train_pack(const Position *pos, int score_white, int result_white) {
    const int turn = pos->stm == BLACK;
    TrainPosition packed = {.score = (int16_t)(turn ? -score_white : score_white),
                            .result = (uint8_t)(turn ? 2 - result_white : result_white)};
    for (int square = 0; square < SQUARES; square++) {
        const int from = square_for(turn ? BLACK : WHITE, square);
        if (pos->board[from] == NO_PIECE) continue;
        const int piece = pos->board[from] ^ turn;
        packed.occupied |= 1ull << square;
        packed.pieces[packed.men / 2] |= (uint8_t)(piece << 4 * (packed.men & 1));
        packed.men++;
        if (piece_type(piece) == KING) packed.kings[piece_colour(piece)] = (uint8_t)square;
    }
    return packed;
}

void train_unpack(const TrainPosition *packed, Position *pos) {
    *pos = (Position){.stm = WHITE, .ep = NO_SQUARE, .fullmove = 1};
    memset(pos->board, NO_PIECE, sizeof pos->board);
    memset(pos->castle_rook, NO_SQUARE, sizeof pos->castle_rook);
    Bitboard left = packed->occupied;
    for (int i = 0; i < packed->men; i++, left &= left - 1)
        pos->board[bb_first(left)] = packed->pieces[i / 2] >> 4 * (i & 1) & 15;
    position_rebuild(pos);
}

void train_inputs(const TrainPosition *packed, TrainInputs *inputs) {
    // The first input of each piece, as its own side to move and as the other side count them.
    static const uint16_t First[2][16] = {{0, 384, 64, 448, 128, 512, 192, 576, 256, 640, 320, 704},
                                          {384, 0, 448, 64, 512, 128, 576, 192, 640, 256, 704, 320}};
    const int own = square_file(packed->kings[0]) >= 4 ? 7 : 0,
              other = 56 ^ (square_file(packed->kings[1]) >= 4 ? 7 : 0);
    Bitboard left = packed->occupied;
    for (int i = 0; i < packed->men; i++, left &= left - 1) {
        const int square = bb_first(left), piece = packed->pieces[i / 2] >> 4 * (i & 1) & 15;
        inputs->index[i][0] = (uint16_t)(First[0][piece] + (square ^ own));
        inputs->index[i][1] = (uint16_t)(First[1][piece] + (square ^ other));
    }
}

static bool list_add(TrainList *list, const TrainPosition *position) {
    if (list->count == list->room) {
        const size_t room = list->room ? list->room + list->room / 2 : 1 << 14;
        TrainPosition *grown = realloc(list->positions, room * sizeof *grown);
        if (!grown) return false;
        list->positions = grown, list->room = room;
    }
    list->positions[list->count++] = *position;
    return true;
}

// Why a position is left out, or DROPS if it is not.
static TrainDrop why_dropped(const Position *pos, const DataGame *game, int ply, const TrainFilter *filter) {
    const Move move = game->moves[ply];
    if (ply < game->random_plies) return DROP_RANDOM;
    if (ply < filter->skip) return DROP_SKIP;
    if (pos->checkers) return DROP_CHECK;
    if (position_is_capture(pos, move) || move_kind(move) == MOVE_PROMOTION) return DROP_NOISY;
    if (abs(game->scores[ply]) > filter->max_score) return DROP_SCORE;
    if (pos->rule50 > filter->max_rule50) return DROP_RULE50;
    return DROPS;
}

bool train_data_add(TrainData *data, const DataGame *game, const TrainFilter *filter) {
    // By what was played, so that a game stays on its side whatever the files are called, and so does its
    // twin.
    uint64_t digest = digest_of(DIGEST_START, &game->start.key, sizeof game->start.key);
    digest = digest_of(digest, game->moves, (size_t)game->ply_count * sizeof(Move));
    const bool held = mix64(digest) % (uint64_t)filter->held_out == 0;
    Position board[2];
    board[0] = game->start;
    data->counts.games++, data->counts.held_games += held;
    data->counts.results[game->result]++;
    for (int ply = 0; ply < game->ply_count; ply++) {
        const Position *pos = &board[ply & 1];
        const TrainDrop drop = why_dropped(pos, game, ply, filter);
        data->counts.plies++;
        if (drop != DROPS) {
            data->counts.dropped[drop]++;
        } else {
            const TrainPosition packed = train_pack(pos, game->scores[ply], game->result);
            if (!list_add(&data->list[held], &packed)) return false;
        }
        position_make(&board[~ply & 1], pos, game->moves[ply]);
    }
    return true;
}

// --- files

// What the reading threads share: each takes the next file.
typedef struct Loading {
    const char *const *paths;
    int path_count;
    const TrainFilter *filter;
    TrainData *parts; // one a file
    _Atomic int next;
    pthread_mutex_t lock;
    bool failed; // under lock, as is error
    Error *error;
} Loading;

static bool read_file(const char *path, const TrainFilter *filter, TrainData *part, TrainFile *about,
                      Error *error) {
    FileMap map;
    if (!text_copy(about->path, sizeof about->path, path)) return error_set(error, "%s: name too long", path);
    if (!file_map(&map, path, error)) return false;
    about->digest = digest_of(DIGEST_START, map.data, map.size);
    file_unmap(&map);
    GameReader *reader = gamereader_open(path, error);
    DataGame *game = malloc(sizeof *game);
    bool ok = reader && (game || error_set(error, "not enough memory"));
    Error broken = {""};
    while (ok && gamereader_next(reader, game, &broken))
        ok = train_data_add(part, game, filter) || error_set(error, "not enough memory");
    if (ok && broken.text[0]) fprintf(stderr, "hone-tune: %s (what comes before it is used)\n", broken.text);
    if (reader) gamereader_close(reader);
    free(game);
    about->games = part->counts.games;
    about->positions = part->list[0].count + part->list[1].count;
    return ok;
}

static void *load_files(void *context) {
    Loading *loading = context;
    for (;;) {
        const int i = atomic_fetch_add(&loading->next, 1);
        if (i >= loading->path_count) return NULL;
        TrainData *part = &loading->parts[i];
        Error error = {""};
        if (read_file(loading->paths[i], loading->filter, part, part->files, &error)) continue;
        pthread_mutex_lock(&loading->lock);
        if (!loading->failed) *loading->error = error;
        loading->failed = true;
        pthread_mutex_unlock(&loading->lock);
        return NULL;
    }
}

static void add_counts(TrainCounts *sum, const TrainCounts *more) {
    sum->games += more->games, sum->held_games += more->held_games, sum->plies += more->plies;
    for (int i = 0; i < 3; i++) sum->results[i] += more->results[i];
    for (int i = 0; i < DROPS; i++) sum->dropped[i] += more->dropped[i];
}

// Puts the parts together in order, each given back as soon as it is copied.
static bool join_parts(TrainData *data, TrainData *parts, int count) {
    for (int which = 0; which < 2; which++) {
        TrainList *list = &data->list[which];
        for (int i = 0; i < count; i++) list->room += parts[i].list[which].count;
        list->positions = malloc((list->room ? list->room : 1) * sizeof *list->positions);
        if (!list->positions) return false;
        for (int i = 0; i < count; i++) {
            TrainList *part = &parts[i].list[which];
            if (part->count)
                memcpy(list->positions + list->count, part->positions, part->count * sizeof *list->positions);
            list->count += part->count;
            free(part->positions);
            *part = (TrainList){0};
        }
    }
    for (int i = 0; i < count; i++) add_counts(&data->counts, &parts[i].counts);
    return true;
}

bool train_data_read(TrainData *data, const char *const *paths, int path_count, const TrainFilter *filter,
                     int threads, Error *error) {
    enum { MOST = 64 };
    pthread_t helpers[MOST];
    int started = 0;
    *data = (TrainData){.files = calloc((size_t)path_count, sizeof(TrainFile)), .file_count = path_count};
    Loading loading = {.paths = paths, .path_count = path_count, .filter = filter, .error = error};
    loading.parts = calloc((size_t)path_count, sizeof *loading.parts);
    if (!data->files || !loading.parts) {
        free(loading.parts);
        return error_set(error, "not enough memory");
    }
    for (int i = 0; i < path_count; i++) loading.parts[i].files = &data->files[i];
    pthread_mutex_init(&loading.lock, NULL);
    while (started < int_min(int_min(threads, path_count), MOST) - 1 &&
           pthread_create(&helpers[started], NULL, load_files, &loading) == 0)
        started++;
    load_files(&loading);
    for (int i = 0; i < started; i++) pthread_join(helpers[i], NULL);
    pthread_mutex_destroy(&loading.lock);
    bool ok = !loading.failed;
    if (ok) ok = join_parts(data, loading.parts, path_count) || error_set(error, "not enough memory");
    for (int i = 0; i < path_count; i++)
        for (int which = 0; which < 2; which++) free(loading.parts[i].list[which].positions);
    free(loading.parts);
    return ok;
}

void train_data_free(TrainData *data) {
    free(data->list[0].positions), free(data->list[1].positions), free(data->files);
    *data = (TrainData){0};
}

// --- order

// A Feistel network over the next even power of two, walked until it lands inside.
size_t train_shuffle(uint64_t seed, uint64_t epoch, size_t count, size_t index) {
    if (count < 2) return 0;
    const int half = (64 - __builtin_clzll((uint64_t)count - 1) + 1) / 2;
    const uint64_t mask = (1ull << half) - 1, key = mix64(seed ^ mix64(epoch + 1));
    uint64_t x = index;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t mixed =
                (right + 1 + (key >> 16 * round & 0xffff) * 0x10001) * 0x9e3779b97f4a7c15ull ^ key;
            const uint64_t next = left ^ ((mixed * 0xd6e8feb86659fd93ull) >> 32 & mask);
            left = right, right = next;
        }
        x = left << half | right;
    } while (x >= count);
    return (size_t)x;
}
