// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/data_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/notation.h"
#include "tuner/datastats.h"

#define AGREEMENT_WANTED 0.9

static const char Help[] =
    "hone-tune data check FILE...     structure, checksums, legal moves; score against result\n"
    "hone-tune data stats FILE...     lengths, results, scores, men, duplicates, adjudication\n"
    "hone-tune data show FILE GAME    the moves of a game (from 0) with their scores from White\n"
    "hone-tune data merge OUT IN...   one file from several\n"
    "A file is what hone-tune datagen wrote. Check ends with status 1 if a file is broken, or if the side\n"
    "that stands better by more than 300 centipawns wins in no more than 90 % of the positions. An\n"
    "unfinished chunk at the end of a file is passed over: its writer was killed, or is at work.\n"
    "Examples:\n"
    "  hone-tune data check games.hone\n"
    "  hone-tune data show games.hone 17\n"
    "  hone-tune data merge all.hone monday.hone tuesday.hone\n";

// Counts all games of a file; false with a reason at the first fault, with what came before it counted.
static bool scan(const char *path, DataStats *stats, uint64_t *bytes, Error *error) {
    GameReader *reader = gamereader_open(path, error);
    DataGame *game = malloc(sizeof *game);
    bool ok = reader && game;
    if (reader && !game) error_set(error, "%s: not enough memory", path);
    if (ok) {
        while (gamereader_next(reader, game, error)) datastats_add(stats, game);
        ok = error->text[0] == '\0';
        *bytes += gamereader_bytes(reader);
        if (ok && gamereader_torn(reader) > 0)
            printf("%s: an unfinished chunk of %" PRIu64 " bytes at the end is passed over\n", path,
                   gamereader_torn(reader));
    }
    gamereader_close(reader);
    free(game);
    return ok;
}

static int check(int count, char **paths) {
    int status = 0;
    for (int i = 0; i < count; i++) {
        DataStats stats;
        Error error = {""};
        uint64_t bytes = 0;
        if (!datastats_init(&stats, 0)) die(1, "hone-tune data: not enough memory");
        bool ok = scan(paths[i], &stats, &bytes, &error);
        double share = datastats_agreement(&stats);
        if (!ok) {
            printf("%s\n", error.text);
        } else {
            printf("%s: %" PRIu64 " games, %" PRIu64 " plies, %.3f bytes a ply, all legal; beyond %d "
                   "centipawns the better side won in %.2f %%%s\n",
                   paths[i], stats.games, stats.plies, stats.plies ? (double)bytes / (double)stats.plies : 0,
                   DATASTATS_SURE, 100 * share,
                   share > AGREEMENT_WANTED ? "" : ": too few, more than 90 % were expected");
        }
        if (!ok || share <= AGREEMENT_WANTED) status = 1;
        datastats_free(&stats);
    }
    return status;
}

static int stats_of(int count, char **paths) {
    DataStats stats;
    Error error = {""};
    uint64_t bytes = 0, expected = 0;
    for (int i = 0; i < count; i++) {
        GameReader *reader = gamereader_open(paths[i], &error);
        if (!reader) die(1, "hone-tune data: %s", error.text);
        expected += gamereader_bytes(reader) / 2;
        printf("%s: ", paths[i]);
        for (const char *c = gamereader_settings(reader); *c; c++)
            if (*c != '\n') putchar(*c);
            else if (c[1]) fputs(", ", stdout);
        putchar('\n');
        gamereader_close(reader);
    }
    if (!datastats_init(&stats, expected)) die(1, "hone-tune data: not enough memory");
    for (int i = 0; i < count; i++)
        if (!scan(paths[i], &stats, &bytes, &error)) die(1, "hone-tune data: %s", error.text);
    datastats_print(&stats, bytes, stdout);
    datastats_free(&stats);
    return 0;
}

static void print_game(const DataGame *game, uint64_t number) {
    static const char *const Results[] = {"0-1", "1/2-1/2", "1-0"};
    char text[FEN_SIZE];
    position_to_fen(&game->start, text);
    printf("game %" PRIu64 ": %s%s, %d plies, the first %d random\n%s\n", number, Results[game->result],
           game->adjudicated ? " (adjudicated)" : "", game->ply_count, game->random_plies, text);
    Position pos = game->start, after;
    for (int ply = 0; ply < game->ply_count; ply++, pos = after) {
        char san[SAN_SIZE], score[16] = "";
        notation_to_san(&pos, game->moves[ply], san);
        if (ply >= game->random_plies) snprintf(score, sizeof score, "%+d", game->scores[ply]);
        if (ply % 2 == 0) printf("%3d. ", ply / 2 + 1);
        printf("%-8s %-7s%s", san, score, ply % 2 && ply % 8 != 7 ? "  " : "");
        if (ply % 8 == 7 || ply + 1 == game->ply_count) putchar('\n');
        position_make(&after, &pos, game->moves[ply]);
    }
    position_to_fen(&pos, text);
    printf("%s\n", text);
}

static int show(const char *path, const char *number_text) {
    Error error = {""};
    int64_t number;
    if (!parse_int(number_text, 0, INT64_MAX, &number, &error)) die(2, "hone-tune data: GAME: %s", error.text);
    GameReader *reader = gamereader_open(path, &error);
    if (!reader) die(1, "hone-tune data: %s", error.text);
    DataGame *game = malloc(sizeof *game);
    bool found = false;
    while (game && !found && gamereader_next(reader, game, &error))
        found = gamereader_games(reader) == (uint64_t)number + 1;
    if (error.text[0]) die(1, "hone-tune data: %s", error.text);
    if (!found)
        die(1, "hone-tune data: %s: there is no game %" PRId64 ", only %" PRIu64, path, number,
            gamereader_games(reader));
    print_game(game, (uint64_t)number);
    free(game);
    gamereader_close(reader);
    return 0;
}

// --- merging

// The settings of a merged file: those of each part, after its name.
static char *merged_settings(int count, GameReader **readers, char **paths) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fprintf(out, "merged %d\n", count);
    for (int i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/');
        fprintf(out, "file %s\n%s", slash ? slash + 1 : paths[i], gamereader_settings(readers[i]));
    }
    fclose(out);
    return text;
}

// Copies all games of a file.
static bool copy_games(GameReader *reader, GameWriter *writer, GameTally *tally, Error *error) {
    const uint8_t *bytes;
    size_t size;
    uint32_t games;
    while (gamereader_chunk(reader, &bytes, &size, &games, error))
        for (size_t at = 0, took; at < size; at += took) {
            took = gamedata_skim(bytes + at, size - at, tally);
            if (took == 0) return error_set(error, "a game of a chunk cannot be read");
            if (!gamewriter_add_bytes(writer, bytes + at, took, error)) return false;
        }
    return error->text[0] == '\0';
}

static bool merge_into(const char *path, int count, GameReader **readers, char **paths, GameTally *tally,
                       Error *error) {
    GameTally before;
    char *settings = merged_settings(count, readers, paths);
    if (!settings) return error_set(error, "not enough memory");
    GameWriter *writer = gamewriter_open(path, settings, &before, error);
    bool ok = writer != NULL;
    for (int i = 0; ok && i < count; i++)
        ok = copy_games(readers[i], writer, tally, error) || error_prefix(error, "%s", paths[i]);
    ok = ok && gamewriter_flush(writer, error);
    gamewriter_close(writer);
    free(settings);
    return ok;
}

static int merge(const char *out, int count, char **paths) {
    Error error = {""};
    GameTally tally = {0};
    char part[4096];
    GameReader **readers = calloc((size_t)count, sizeof *readers);
    if (!readers) die(1, "hone-tune data: not enough memory");
    if (access(out, F_OK) == 0) die(1, "hone-tune data: %s exists already; merge makes a new file", out);
    if (snprintf(part, sizeof part, "%s.part", out) >= (int)sizeof part) die(1, "hone-tune data: OUT is too long");
    for (int i = 0; i < count; i++) {
        readers[i] = gamereader_open(paths[i], &error);
        if (!readers[i]) die(1, "hone-tune data: %s", error.text);
        for (int j = 0; j < i; j++)
            if (strcmp(gamereader_settings(readers[i]), gamereader_settings(readers[j])) == 0)
                die(1, "hone-tune data: %s and %s have the same settings, so they hold the same games", paths[j],
                    paths[i]);
    }
    unlink(part);
    bool ok = merge_into(part, count, readers, paths, &tally, &error);
    if (ok && rename(part, out) != 0) ok = error_set(&error, "%s: cannot be renamed to %s", part, out);
    if (!ok) {
        unlink(part);
        die(1, "hone-tune data: %s", error.text);
    }
    printf("%s: %" PRIu64 " games, %" PRIu64 " plies from %d files\n", out, tally.games, tally.plies, count);
    for (int i = 0; i < count; i++) gamereader_close(readers[i]);
    free(readers);
    return 0;
}

int data_main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (argc == 1 || strcmp(what, "--help") == 0) {
        fputs(Help, stdout);
        return argc == 1 ? 2 : 0;
    }
    if (strcmp(what, "check") == 0 && argc > 2) return check(argc - 2, argv + 2);
    if (strcmp(what, "stats") == 0 && argc > 2) return stats_of(argc - 2, argv + 2);
    if (strcmp(what, "show") == 0 && argc == 4) return show(argv[2], argv[3]);
    if (strcmp(what, "merge") == 0 && argc > 3) return merge(argv[2], argc - 3, argv + 3);
    die(2, "hone-tune data: expected check, stats, show or merge and files; hone-tune data --help says more");
}
