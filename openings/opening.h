// SPDX-License-Identifier: GPL-3.0-or-later
// Where games start: a set of positions from a file of EPD or FEN lines, PGN games or a Polyglot book. The
// format is told by the content; everything is validated when loaded and only valid openings are ever given
// out. Memory holds an index, not the file. A loaded set does not change: any thread may call opening_at.
#pragma once

#include "engine/position.h"

typedef enum OpeningFormat { OPENING_EPD, OPENING_PGN, OPENING_POLYGLOT } OpeningFormat;
typedef enum OpeningOrder { OPENING_SEQUENTIAL, OPENING_RANDOM } OpeningOrder;

enum { OPENING_MAX_PLIES = 256, OPENING_PROBLEMS = 8 };

// One opening: EPD has no moves, PGN and Polyglot have them.
typedef struct Opening {
    Position start;    // where the record of the game begins
    Position position; // after the moves: where the players begin to think
    Move moves[OPENING_MAX_PLIES];
    int move_count;
    uint64_t number; // among the valid ones of the set, from 1
    uint64_t wrap;   // how often the whole set had been used up before this pair
} Opening;

// A line (PGN: the line where the fault lies) that was not taken, and why.
typedef struct OpeningProblem {
    uint64_t line;
    char reason[160];
} OpeningProblem;

// One move of the tree that a Polyglot book spans; node 0 is the start position.
typedef struct OpeningNode {
    uint32_t parent;
    Move move;
    uint16_t depth;
} OpeningNode;

// An open file of start positions.
typedef struct OpeningSet {
    OpeningFormat format;
    char *path;
    int fd, plies;
    int64_t file_size, file_mtime_ns; // the file must stay as it was
    uint64_t digest;                  // of the file's bytes
    uint64_t *offsets;                // where each valid line or game begins, and where the last one ends
    OpeningNode *nodes;               // Polyglot: the tree, and the nodes where lines end
    uint64_t node_count;
    uint32_t *leaves;
    uint64_t count;     // valid openings
    uint64_t bad_count; // refused ones, the first few named
    OpeningProblem problems[OPENING_PROBLEMS];
} OpeningSet;

// Loads a file; plies limits the moves taken from PGN and Polyglot (0: as far as the game or book goes).
// Fails if nothing in it is valid; lines that are not are counted and named in the set.
bool opening_set_load(OpeningSet *set, const char *path, int plies, Error *error);

// Gives everything back; harmless on a zeroed set.
void opening_set_free(OpeningSet *set);

// "EPD", "PGN" or "Polyglot".
const char *opening_format_name(OpeningFormat format);

// Tells what bytes are by looking at them; refuses with a reason what is none of the three.
bool opening_detect(const char *data, size_t size, OpeningFormat *format, Error *error);

// The opening of a pair (from 0), where start (from 1) shifts the sequence: pairs of the same seed with start
// 1 and start 101 use the same openings 100 pairs apart. Fails only if the file changed since it was loaded.
bool opening_at(const OpeningSet *set, uint64_t seed, OpeningOrder order, uint64_t start, uint64_t pair,
                Opening *opening, Error *error);

// Element index of a permutation of [0, count) that the seed chooses.
uint64_t opening_permute(uint64_t seed, uint64_t index, uint64_t count);

// Reads one line of size bytes: FEN, or EPD whose hmvc and fmvn give the clocks and whose other opcodes are
// passed over.
bool opening_from_line(Position *pos, const char *line, size_t size, Error *error);

// Polyglot: the position of a node of the tree.
Position opening_node_position(const OpeningSet *set, uint32_t node);
