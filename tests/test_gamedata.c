// SPDX-License-Identifier: GPL-3.0-or-later
// Files of training games: what is written is read back, whatever the rules of chess bring; a torn file is
// good to its last whole chunk and can be gone on with; damage is found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bitboard.h"
#include "engine/movegen.h"
#include "tests/positions.h"
#include "tuner/gamedata.h"
#include "unity.h"

static char Folder[64];

void setUp(void) {
    bitboard_init();
    strcpy(Folder, "/tmp/hone_data_XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(Folder));
}

void tearDown(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", Folder);
    TEST_ASSERT_EQUAL_INT(0, system(command));
}

static const char *in_folder(char *buffer, const char *name) {
    sprintf(buffer, "%s/%s", Folder, name);
    return buffer;
}

// A random game with scores that move as those of games do; rare moves are preferred, so that all kinds come.
static void random_game(uint64_t seed, DataGame *game) {
    uint64_t at = 0;
    *game = (DataGame){.random_plies = 8 + (int)(seed & 1)};
    if (seed % 3 == 1)
        position_from_chess960(&game->start, (int)(random_at(seed, 1, 0) % 960),
                               (int)(random_at(seed, 1, 1) % 960));
    else position_from_fen(&game->start, START_FEN, NULL);
    int wanted = 1 + (int)(random_at(seed, 2, 0) % GAMEDATA_MAX_PLIES), score = 0;
    Position pos = game->start, after;
    while (game->ply_count < wanted) {
        MoveList list;
        movegen_list(&pos, &list);
        if (list.count == 0) break;
        Move move = list.moves[random_at(seed, 3, at++) % (uint64_t)list.count];
        for (int i = 0; i < list.count; i++)
            if (move_kind(list.moves[i]) != MOVE_NORMAL && random_at(seed, 3, at++) % 3 == 0)
                move = list.moves[i];
        uint64_t roll = random_at(seed, 4, at);
        score += (int)(roll % 61) - 30;
        if (roll >> 32 == 7 || roll % 97 == 0) score = (int)(roll >> 20 & 0x7fff) - 16384;
        game->moves[game->ply_count] = move;
        game->scores[game->ply_count] = (int16_t)(game->ply_count < game->random_plies ? 0 : score);
        game->ply_count++;
        position_make(&after, &pos, move);
        pos = after;
    }
    game->random_plies = int_min(game->random_plies, game->ply_count);
    game->result = (int)(random_at(seed, 5, 0) % 3);
    game->adjudicated = seed & 2;
}

// What a score should come back as: clipped, the odd centipawn towards zero dropped.
static int stored(int score) {
    if (score > 10000) return 10000;
    if (score < -10000) return -10000;
    return score - score % 2;
}

static void expect_game(const DataGame *expected, const DataGame *got) {
    char a[FEN_SIZE], b[FEN_SIZE];
    position_to_fen(&expected->start, a);
    position_to_fen(&got->start, b);
    TEST_ASSERT_EQUAL_STRING(a, b);
    TEST_ASSERT_EQUAL_INT(expected->start.chess960, got->start.chess960);
    TEST_ASSERT_EQUAL_INT(expected->ply_count, got->ply_count);
    TEST_ASSERT_EQUAL_INT(expected->random_plies, got->random_plies);
    TEST_ASSERT_EQUAL_INT(expected->result, got->result);
    TEST_ASSERT_EQUAL_INT(expected->adjudicated, got->adjudicated);
    for (int i = 0; i < expected->ply_count; i++) {
        TEST_ASSERT_EQUAL_UINT16(expected->moves[i], got->moves[i]);
        TEST_ASSERT_EQUAL_INT(stored(expected->scores[i]), got->scores[i]);
    }
}

static void test_round_trip(void) {
    static DataGame game, back;
    uint8_t bytes[GAMEDATA_GAME_BYTES];
    int kinds[4] = {0}, black_castled = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        Error error = {""};
        random_game(seed, &game);
        size_t size = gamedata_encode(&game, bytes, &error);
        TEST_ASSERT_MESSAGE(size > 0, error.text);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(size, gamedata_decode(bytes, size, &back, &error), error.text);
        expect_game(&game, &back);
        GameTally tally = {0};
        TEST_ASSERT_EQUAL_UINT64(size, gamedata_skim(bytes, size, &tally));
        TEST_ASSERT_EQUAL_UINT64(game.ply_count, tally.plies);
        TEST_ASSERT_EQUAL_UINT64(1, tally.results[game.result]);
        // Cut short anywhere, it is no game; and nothing is read past the end.
        for (size_t cut = 0; cut < size; cut += 1 + size / 37) {
            uint8_t *copy = malloc(cut ? cut : 1);
            memcpy(copy, bytes, cut);
            TEST_ASSERT_EQUAL_UINT64(0, gamedata_decode(copy, cut, &back, &error));
            free(copy);
        }
        for (int i = 0; i < game.ply_count; i++) {
            kinds[move_kind(game.moves[i]) >> 14]++;
            black_castled += move_kind(game.moves[i]) == MOVE_CASTLING && i % 2;
        }
    }
    for (int kind = 0; kind < 4; kind++) TEST_ASSERT_GREATER_THAN(50, kinds[kind]);
    TEST_ASSERT_GREATER_THAN(50, black_castled);
}

// The order of moves is that of from, to, promotion: an oracle that sorts.
static int by_place(const void *a, const void *b) {
    const Move x = *(const Move *)a, y = *(const Move *)b;
    if (move_from(x) != move_from(y)) return move_from(x) - move_from(y);
    if (move_to(x) != move_to(y)) return move_to(x) - move_to(y);
    return move_promotion(x) - move_promotion(y);
}

static void test_move_order(void) {
    for (uint64_t i = 0; i < 2000; i++) {
        Position pos = random_position(5, i, i % 2);
        MoveList list;
        movegen_list(&pos, &list);
        qsort(list.moves, (size_t)list.count, sizeof *list.moves, by_place);
        for (int n = 0; n < list.count; n++) TEST_ASSERT_EQUAL_UINT16(list.moves[n], gamedata_move(&pos, n));
        TEST_ASSERT_EQUAL_UINT16(MOVE_NONE, gamedata_move(&pos, list.count));
        TEST_ASSERT_EQUAL_UINT16(MOVE_NONE, gamedata_move(&pos, -1));
    }
}

// Bytes that are no game are refused, or are one by chance; nothing else happens.
static void test_noise(void) {
    static DataGame game;
    Error error;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        size_t size = random_at(seed, 7, 0) % 200;
        uint8_t *bytes = malloc(size ? size : 1);
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(random_at(seed, 8, i) % (seed % 2 ? 24 : 256));
        size_t took = gamedata_decode(bytes, size, &game, &error);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(size, took);
        if (took) TEST_ASSERT_LESS_OR_EQUAL_INT(GAMEDATA_MAX_PLIES, game.ply_count);
        free(bytes);
    }
}

static void test_refused_games(void) {
    static DataGame game;
    uint8_t bytes[GAMEDATA_GAME_BYTES];
    Error error = {""};
    random_game(3, &game);
    game.result = 3;
    TEST_ASSERT_EQUAL_UINT64(0, gamedata_encode(&game, bytes, &error));
    random_game(3, &game);
    game.moves[4] = move_make(A1, H8);
    TEST_ASSERT_EQUAL_UINT64(0, gamedata_encode(&game, bytes, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "ply 5"));
    random_game(3, &game);
    position_from_fen(&game.start, "4k3/8/8/8/8/8/8/4K2R w K - 0 1", NULL);
    TEST_ASSERT_EQUAL_UINT64(0, gamedata_encode(&game, bytes, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "array"));
}

// --- files

static GameWriter *open_writer(const char *path, GameTally *tally) {
    Error error = {""};
    GameWriter *writer = gamewriter_open(path, "seed 1\nnodes 1000\n", tally, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(writer, error.text);
    return writer;
}

// Adds games first to end - 1 and flushes.
static void write_games(const char *path, uint64_t first, uint64_t end) {
    static DataGame game;
    GameTally tally;
    Error error = {""};
    GameWriter *writer = open_writer(path, &tally);
    TEST_ASSERT_EQUAL_UINT64(first, tally.games);
    for (uint64_t i = first; i < end; i++) {
        random_game(i, &game);
        TEST_ASSERT_TRUE_MESSAGE(gamewriter_add(writer, &game, &error), error.text);
    }
    TEST_ASSERT_TRUE_MESSAGE(gamewriter_flush(writer, &error), error.text);
    gamewriter_close(writer);
}

// How many games can be read; they must be those that were written. Fails unless broken is as expected.
static uint64_t read_games(const char *path, bool broken) {
    static DataGame game, expected;
    Error error = {""};
    GameReader *reader = gamereader_open(path, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error.text);
    TEST_ASSERT_EQUAL_STRING("seed 1\nnodes 1000\n", gamereader_settings(reader));
    while (gamereader_next(reader, &game, &error)) {
        random_game(gamereader_games(reader) - 1, &expected);
        expect_game(&expected, &game);
    }
    TEST_ASSERT_EQUAL_MESSAGE(broken, error.text[0] != '\0', error.text);
    uint64_t games = gamereader_games(reader);
    gamereader_close(reader);
    return games;
}

static char *read_all(const char *path, size_t *size) {
    Error error = {""};
    char *bytes = file_read(path, size, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(bytes, error.text);
    return bytes;
}

static void write_all(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    TEST_ASSERT_EQUAL_UINT64(size, fwrite(bytes, 1, size, file));
    TEST_ASSERT_EQUAL_INT(0, fclose(file));
}

static void expect_same_files(const char *a, const char *b) {
    size_t a_size, b_size;
    char *a_bytes = read_all(a, &a_size), *b_bytes = read_all(b, &b_size);
    TEST_ASSERT_EQUAL_UINT64(a_size, b_size);
    TEST_ASSERT_EQUAL_INT(0, memcmp(a_bytes, b_bytes, a_size));
    free(a_bytes);
    free(b_bytes);
}

static void test_file_in_one_and_in_parts(void) {
    char one[100], parts[100];
    in_folder(one, "one"), in_folder(parts, "parts");
    write_games(one, 0, 150);
    TEST_ASSERT_EQUAL_UINT64(150, read_games(one, false));
    const uint64_t stops[] = {0, 0, 1, 2, 63, 64, 64, 65, 127, 129, 149, 150, 150};
    for (size_t i = 0; i + 1 < sizeof stops / sizeof *stops; i++) {
        write_games(parts, stops[i], stops[i + 1]);
        TEST_ASSERT_EQUAL_UINT64(stops[i + 1], read_games(parts, false));
    }
    expect_same_files(one, parts);
}

// How many games whole chunks have, without a look at them.
static uint64_t count_games(const char *path) {
    const uint8_t *bytes;
    size_t size;
    uint32_t games;
    Error error = {""};
    GameReader *reader = gamereader_open(path, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error.text);
    while (gamereader_chunk(reader, &bytes, &size, &games, &error)) {}
    TEST_ASSERT_EQUAL_STRING("", error.text);
    uint64_t count = gamereader_games(reader);
    gamereader_close(reader);
    return count;
}

// Cut at every length from the last whole chunk on: the games before are read, and a new run makes the file
// whole.
static void test_torn_everywhere(void) {
    char whole[100], torn[100], before[100];
    size_t size, good;
    in_folder(whole, "whole"), in_folder(torn, "torn"), in_folder(before, "before");
    write_games(before, 0, 64);
    write_games(whole, 0, 66);
    char *bytes = read_all(whole, &size);
    free(read_all(before, &good));
    TEST_ASSERT_GREATER_THAN(good, size);
    for (size_t cut = good; cut <= size; cut++) {
        write_all(torn, bytes, cut);
        TEST_ASSERT_EQUAL_UINT64(cut < size ? 64 : 66, count_games(torn));
        if (cut % 64 && cut != good + 1 && cut != size - 1) continue;
        TEST_ASSERT_EQUAL_UINT64(cut < size ? 64 : 66, read_games(torn, false));
        write_games(torn, cut < size ? 64 : 66, 66);
        expect_same_files(whole, torn);
    }
    // Killed before the header was whole: begun anew.
    for (size_t cut = 0; cut < 38; cut++) {
        write_all(torn, bytes, cut);
        write_games(torn, 0, 66);
        expect_same_files(whole, torn);
    }
    free(bytes);
}

// Any bit that flips is found: no game is read that was not written, and the fault is named.
static void test_bit_flips(void) {
    char path[100], bad[100];
    size_t size;
    in_folder(path, "good"), in_folder(bad, "bad");
    write_games(path, 0, 70);
    char *bytes = read_all(path, &size);
    for (size_t at = 0; at < size; at += at < 100 ? 1 : 1997) {
        char old = bytes[at];
        Error error = {""};
        bytes[at] = (char)(old ^ 1 << at % 8);
        write_all(bad, bytes, size);
        GameReader *reader = gamereader_open(bad, &error);
        TEST_ASSERT_NOT_EQUAL(at < 38, reader != NULL);
        gamereader_close(reader);
        if (reader) {
            TEST_ASSERT_LESS_THAN_UINT64(70, read_games(bad, true));
        } else {
            TEST_ASSERT_NOT_NULL(strstr(error.text, bad));
        }
        bytes[at] = old;
    }
    free(bytes);
}

static void test_other_settings_are_refused(void) {
    char path[100];
    GameTally tally;
    Error error = {""};
    in_folder(path, "file");
    write_games(path, 0, 3);
    TEST_ASSERT_NULL(gamewriter_open(path, "seed 1\nnodes 2000\n", &tally, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "'nodes 1000'"), error.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "'nodes 2000'"), error.text);
    TEST_ASSERT_NULL(gamewriter_open(path, "seed 1\nnodes 1000\nhash 1\n", &tally, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "only this run has 'hash 1'"), error.text);
    TEST_ASSERT_NULL(gamewriter_open(path, "seed 1\n", &tally, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "only it has 'nodes 1000'"), error.text);
    TEST_ASSERT_EQUAL_UINT64(3, read_games(path, false));
}

static void test_other_files_are_refused(void) {
    char path[100];
    GameTally tally;
    Error error = {""};
    in_folder(path, "file");
    TEST_ASSERT_NULL(gamereader_open(path, &error));
    write_all(path, "", 0);
    TEST_ASSERT_NULL(gamereader_open(path, &error));
    const char text[] = "[Event \"a game of chess\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n";
    write_all(path, text, strlen(text));
    TEST_ASSERT_NULL(gamereader_open(path, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "HoneGame"));
    TEST_ASSERT_NULL(gamewriter_open(path, "seed 1\n", &tally, &error));
    size_t size;
    char *bytes = read_all(path, &size);
    TEST_ASSERT_EQUAL_STRING(text, bytes); // and it is as it was
    free(bytes);
}

static void test_two_writers(void) {
    char path[100];
    GameTally tally;
    Error error = {""};
    in_folder(path, "file");
    GameWriter *first = open_writer(path, &tally);
    TEST_ASSERT_NULL(gamewriter_open(path, "seed 1\nnodes 1000\n", &tally, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "another run"));
    gamewriter_close(first);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_round_trip);
    RUN_TEST(test_move_order);
    RUN_TEST(test_noise);
    RUN_TEST(test_refused_games);
    RUN_TEST(test_file_in_one_and_in_parts);
    RUN_TEST(test_torn_everywhere);
    RUN_TEST(test_bit_flips);
    RUN_TEST(test_other_settings_are_refused);
    RUN_TEST(test_other_files_are_refused);
    RUN_TEST(test_two_writers);
    return UNITY_END();
}
