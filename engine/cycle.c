// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cycle.h"

#include <pthread.h>

#include "engine/polyglot.h"

enum { CUCKOO_SIZE = 8192 };

// Written once by cycle_init: the key difference of a reversible move, and the move.
static Key CuckooKeys[CUCKOO_SIZE];
static Move CuckooMoves[CUCKOO_SIZE];
static pthread_once_t Once = PTHREAD_ONCE_INIT;

static unsigned slot_one(Key key) { return (unsigned)(key >> 3) % CUCKOO_SIZE; }
static unsigned slot_two(Key key) { return (unsigned)(key >> 24) % CUCKOO_SIZE; }

static void cuckoo_insert(Key key, Move move) {
    for (unsigned slot = slot_one(key);; slot = slot == slot_one(key) ? slot_two(key) : slot_one(key)) {
        Key old_key = CuckooKeys[slot];
        Move old_move = CuckooMoves[slot];
        CuckooKeys[slot] = key;
        CuckooMoves[slot] = move;
        if (old_move == MOVE_NONE) return;
        key = old_key;
        move = old_move;
    }
}

static void fill(void) {
    bitboard_init();
    for (int piece = 0; piece < PIECES; piece++) {
        if (piece_type(piece) == PAWN) continue;
        for (int a = 0; a < SQUARES; a++)
            for (int b = a + 1; b < SQUARES; b++)
                if (bb_has(attacks_of(piece_type(piece), a, 0), b))
                    cuckoo_insert(
                        polyglot_piece(piece, a) ^ polyglot_piece(piece, b) ^ Polyglot[POLYGLOT_TURN],
                        move_make(a, b));
    }
}

void cycle_init(void) { pthread_once(&Once, fill); }

bool cycle_links(const Position *pos, Key earlier) {
    Key difference = position_repetition_key(pos) ^ earlier;
    unsigned slot = slot_one(difference);
    if (CuckooKeys[slot] != difference) slot = slot_two(difference);
    if (CuckooKeys[slot] != difference || CuckooMoves[slot] == MOVE_NONE) return false;
    int a = move_from(CuckooMoves[slot]), b = move_to(CuckooMoves[slot]);
    if (bb_between(a, b) & position_occupied(pos)) return false;
    int piece = pos->board[a] != NO_PIECE ? pos->board[a] : pos->board[b];
    return piece != NO_PIECE && piece_colour(piece) == pos->stm;
}
