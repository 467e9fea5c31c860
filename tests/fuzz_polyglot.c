// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a Polyglot book. What is accepted gives legal moves only; the input is tried as it
// is, and again with its keys replaced by the start position's so that probes hit.
#include <stdlib.h>
#include <string.h>

#include "engine/book.h"
#include "engine/movegen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void probe(const void *data, size_t size) {
    Book book;
    Error error;
    if (!book_from_memory(&book, "fuzz", data, size, &error)) return;
    Position pos, next;
    position_from_fen(&pos, START_FEN, NULL);
    for (int ply = 0; ply < 8; ply++) {
        BookMoves found = book_moves(&book, &pos);
        for (int i = 0; i < found.count; i++)
            if (!movegen_is_legal(&pos, found.moves[i].move)) abort();
        Move move = book_pick(&book, &pos, ply % 2 == 1, size);
        if (move == MOVE_NONE) break;
        position_make(&next, &pos, move);
        pos = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    probe(data, size);
    uint8_t *copy = malloc(size + 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    for (size_t at = 0; at + BOOK_ENTRY_SIZE <= size; at += BOOK_ENTRY_SIZE)
        memcpy(copy + at, "\x46\x3b\x96\x18\x16\x91\xfc\x9c", 8);
    probe(copy, size);
    free(copy);
    return 0;
}
