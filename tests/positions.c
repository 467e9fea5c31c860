// SPDX-License-Identifier: GPL-3.0-or-later
// Positions by random legal play.
#include "tests/positions.h"

#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"

static Move random_move(const Position *pos, uint64_t random, bool greedy) {
    Move moves[MAX_MOVES];
    int count = movegen(pos, moves, greedy ? GEN_NOISY : GEN_ALL);
    if (!count && greedy) count = movegen(pos, moves, GEN_ALL);
    return count ? moves[random_below(random, (uint64_t)count)] : MOVE_NONE;
}

Position random_position(uint64_t seed, uint64_t index, bool chess960) {
    uint64_t stream = mix64(index) | 1, draw = 0;
    Position pos;
    if (chess960) {
        int white = (int)random_below(random_at(seed, stream, draw++), 960);
        int black = (int)random_below(random_at(seed, stream, draw++), 960);
        position_from_chess960(&pos, white, black);
    } else {
        position_from_fen(&pos, START_FEN, NULL);
    }
    int plies = (int)random_below(random_at(seed, stream, draw++), 141);
    uint64_t greed = random_below(random_at(seed, stream, draw++),
                                  4); // of eight moves, how many must capture
    for (int ply = 0; ply < plies; ply++) {
        uint64_t random = random_at(seed, stream, draw++);
        Move move = random_move(&pos, random, (random & 7) < greed);
        if (move == MOVE_NONE) break;
        Position after;
        position_make(&after, &pos, move);
        pos = after;
    }
    return pos;
}

bool test_long(void) {
    const char *value = getenv("HONE_LONG");
    return value && !strcmp(value, "1");
}
