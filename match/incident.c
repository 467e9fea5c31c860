// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/incident.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/notation.h"

enum { DIALOGUE_SIZE = 256 << 10 };

// The highest number among the folders that earlier runs have left (PAIR-NUMBER-KIND), 0 if there is none.
static int last_number(const char *folder) {
    int last = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        int number;
        if (sscanf(entry->d_name, "%*u-%9d-", &number) == 1) last = int_max(last, number);
    }
    if (dir) closedir(dir);
    return last;
}

bool incidents_open(Incidents *incidents, const char *journal, Error *error) {
    const char *slash = strrchr(journal, '/');
    int directory = slash ? (int)(slash - journal + 1) : 0;
    int used = snprintf(incidents->folder, sizeof incidents->folder, "%.*sincidents/%s", directory, journal,
                        slash ? slash + 1 : journal);
    if (used >= (int)sizeof incidents->folder)
        return error_set(error, "%.60s...: the path is too long", journal);
    atomic_store(&incidents->last, last_number(incidents->folder));
    return true;
}

// Makes a folder and those above it.
static bool make_folders(const char *path) {
    char part[1400];
    if (!text_copy(part, sizeof part, path)) return false;
    for (char *at = part + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST) return false;
        *at = '/';
    }
    return mkdir(part, 0755) == 0 || errno == EEXIST;
}

static void write_game(FILE *file, uint64_t pair, const char *name, const Opening *opening,
                       const GameRecord *record) {
    char fen[FEN_SIZE], move[UCI_SIZE];
    Position pos = opening->position, after;
    position_to_fen(&pos, fen);
    fprintf(file, "pair %llu\nengine %s\nend %s\nreason %s\nfen %s\nmoves", (unsigned long long)pair + 1,
            name, game_end_name(record->end), record->reason, fen);
    for (int i = 0; i < record->plies; i++) {
        notation_to_uci(&pos, record->moves[i].move, move);
        fprintf(file, " %s", move);
        position_make(&after, &pos, record->moves[i].move);
        pos = after;
    }
    position_to_fen(&pos, fen);
    fprintf(file, "\nlast fen %s\n", fen);
    if (record->stall_ms > 0)
        fprintf(file, "machine stalled %lld ms during the move\n", (long long)record->stall_ms);
    else if (record->stall_ms == 0) fprintf(file, "machine did not stall during the move\n");
}

void incidents_write(Incidents *incidents, uint64_t pair, const char *name, const Opening *opening,
                     const GameRecord *record, const Player *player) {
    char path[1400];
    int number = atomic_fetch_add(&incidents->last, 1) + 1;
    snprintf(path, sizeof path, "%s/%llu-%d-%s", incidents->folder, (unsigned long long)pair + 1, number,
             game_end_name(record->end));
    FILE *file = NULL;
    bool ok = make_folders(path);
    if (ok) {
        size_t end = strlen(path);
        snprintf(path + end, sizeof path - end, "/report.txt");
        ok = (file = fopen(path, "w")) != NULL;
    }
    if (ok) {
        write_game(file, pair, name, opening, record);
        char *dialogue = player ? malloc(DIALOGUE_SIZE) : NULL;
        if (dialogue) {
            char ended[128];
            player_end_text(player, ended, sizeof ended);
            fprintf(file, "process %s\n\n--- dialogue\n", ended);
            fwrite(dialogue, 1, player_dialogue(player, dialogue, DIALOGUE_SIZE), file);
            fprintf(file, "\n--- stderr\n");
            fwrite(dialogue, 1, player_errors(player, dialogue, DIALOGUE_SIZE), file);
            free(dialogue);
        }
        ok = !ferror(file);
        ok &= fclose(file) == 0;
    }
    if (!ok) fprintf(stderr, "hone-match: cannot keep the incident in %s: %s\n", path, strerror(errno));
}
