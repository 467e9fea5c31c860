// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as PGN. Every game that is read survives writing and reading with all its moves.
#include <stdlib.h>
#include <string.h>

#include "openings/pgn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok) {
    if (!ok) abort();
}

static void write_and_read(const PgnGame *game, PgnStyle style) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    require(out && pgn_write(out, game, style, NULL));
    fclose(out);
    PgnReader reader;
    PgnGame again;
    Error error;
    pgn_reader_init(&reader, "written", text, size);
    pgn_game_init(&again);
    require(pgn_read(&reader, &again, &error) == PGN_GAME);
    require(again.move_count == game->move_count && again.start.key == game->start.key);
    for (int i = 0; i < game->move_count; i++) require(again.moves[i].move == game->moves[i].move);
    require(pgn_read(&reader, &again, &error) == PGN_END);
    pgn_game_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PgnReader reader;
    PgnGame game;
    Error error;
    PgnStatus status;
    pgn_reader_init(&reader, "fuzz", (const char *)data, size);
    reader.keep_comments = true;
    pgn_game_init(&game);
    for (int number = 0; (status = pgn_read(&reader, &game, &error)) != PGN_END; number++)
        if (status == PGN_GAME) write_and_read(&game, (PgnStyle){(PgnNotation)(number % 3), number % 2 == 1});
    require(reader.at == reader.size);
    pgn_game_free(&game);
    return 0;
}
