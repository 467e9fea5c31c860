// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any text as a FEN. What is accepted must be a sound position that survives writing and reading,
// and so must every position one move on.
#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"
#include "engine/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok) {
    if (!ok) abort();
}

static void check_position(const Position *pos) {
    Position again;
    char fen[FEN_SIZE], fen_again[FEN_SIZE];
    require(position_ok(pos));
    position_to_fen(pos, fen);
    require(position_from_fen(&again, fen, NULL));
    position_to_fen(&again, fen_again);
    require(strcmp(fen, fen_again) == 0 && again.key == pos->key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[512];
    Position pos, after;
    Error error;
    if (size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!position_from_fen(&pos, text, &error)) return 0;
    check_position(&pos);
    MoveList list;
    movegen_list(&pos, &list);
    require(list.count <= MAX_MOVES);
    for (int i = 0; i < list.count; i++) {
        char uci[UCI_SIZE], san[SAN_SIZE];
        notation_to_uci(&pos, list.moves[i], uci);
        notation_to_san(&pos, list.moves[i], san);
        require(notation_from_uci(&pos, uci) == list.moves[i]);
        require(notation_from_san(&pos, san) == list.moves[i]);
        position_make(&after, &pos, list.moves[i]);
        require(position_ok(&after));
    }
    return 0;
}
