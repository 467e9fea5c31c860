// SPDX-License-Identifier: GPL-3.0-or-later
// The journal: what a run knows. Append-only; a header line with the plan, then one JSON line a pair with its
// number and a CRC, written when the pair ends. Replaying it gives everything else: statistics, tests, PGN. A
// torn last line (kill -9, full disk) is cut off when the journal is opened again.
#pragma once

#include <cjson/cJSON.h>

#include "match/game.h"

// One game as the journal keeps it. Moves are kept where the game cannot be played again from its plan, or
// where a PGN is wanted.
typedef struct JournalGame {
    int white, half_points; // as in GameRecord
    GameEnd end;
    int loser, plies;
    uint64_t digest;
    int64_t started_unix, ms;
    int64_t stall_ms;   // as in GameRecord; kept where a game was lost on time while the machine stalled
    const char *reason; // where the end alone does not tell it, or NULL
    const char *moves;  // "move:score/depth/nodes/ms" with blanks between, or NULL
} JournalGame;

// One finished pair; games is 1 where a pair has one game only, 0 where the pair was set aside.
typedef struct JournalPair {
    uint64_t number;
    int games;
    JournalGame game[2];
} JournalPair;

// An open journal; lines are only ever appended.
typedef struct Journal {
    int fd;
    int64_t size; // bytes of whole lines: what follows is torn
    char path[1024];
} Journal;

// Told every pair of a journal in the order of its lines; false ends the reading with the visitor's reason.
typedef bool JournalVisitor(void *context, const JournalPair *pair, Error *error);

// Reads a journal: its plan (which the caller deletes) and its pairs. size becomes the length of the whole
// lines.
bool journal_read(const char *path, cJSON **plan, int64_t *size, JournalVisitor *visit, void *context,
                  Error *error);

// Told every line of a journal that is not of pairs; false ends the reading with the visitor's reason.
typedef bool JournalLineVisitor(void *context, const cJSON *line, Error *error);

// The same for a journal whose lines are other records than pairs.
bool journal_read_lines(const char *path, cJSON **plan, int64_t *size, JournalLineVisitor *visit,
                        void *context, Error *error);

// Writes one record, an object, as a line of its own.
bool journal_append_line(Journal *journal, const cJSON *line, Error *error);

// Starts a new journal with a plan; refuses if the file exists.
bool journal_create(Journal *journal, const char *path, const cJSON *plan, Error *error);

// Opens a journal that exists and keeps other runs from writing it; before it is read, so that nothing comes
// after.
bool journal_lock(Journal *journal, const char *path, Error *error);

// Goes on after the whole lines of a journal that was locked and read: a torn rest is cut off.
bool journal_continue(Journal *journal, int64_t size, Error *error);

// Writes one pair in one write; on failure (a full disk) the file is cut back to whole lines and may be tried
// again.
bool journal_append(Journal *journal, const JournalPair *pair, Error *error);

// Asks the disk to have it.
bool journal_sync(Journal *journal, Error *error);

// Closes the file.
void journal_close(Journal *journal);

// Renames a journal to the first free of path.1, path.2 ..., whose name is written into aside.
bool journal_set_aside(const char *path, char *aside, size_t size, Error *error);

// Where two plans first differ, as "field: this, journal has that"; false if they are equal.
bool journal_difference(const cJSON *plan, const cJSON *other, char *text, size_t size);

// The moves of a record as the journal keeps them, in a fresh text that the caller frees (NULL without
// memory).
char *journal_moves_text(const GameRecord *record, const Opening *opening);

// Rebuilds a record from the journal's game; the opening tells where it began. False and a reason if a move
// does not fit.
bool journal_record(const JournalGame *game, const Opening *opening, GameRecord *record, Error *error);
