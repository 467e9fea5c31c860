// SPDX-License-Identifier: GPL-3.0-or-later
// The neural evaluation explained: what each bucket says, and what the board would be worth without each man.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/nnue.h"
#include "engine/nnue_kernel.h"

// Text that grows in a buffer and is cut at its end.
typedef struct Text {
    char *buffer;
    size_t size, used;
} Text;

static void add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(Text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int wrote = vsnprintf(text->buffer + text->used, text->size - text->used, format, args);
    va_end(args);
    if (wrote > 0) text->used += (size_t)wrote;
    if (text->used >= text->size) text->used = text->size - 1;
}

static int from_white(const Position *pos, int value) { return pos->stm == WHITE ? value : -value; }

// The board without the man on a square, as far as an evaluation needs it.
static Position without(const Position *pos, int square) {
    Position less = *pos;
    int piece = pos->board[square];
    less.by_type[piece_type(piece)] &= ~bb_of(square);
    less.by_colour[piece_colour(piece)] &= ~bb_of(square);
    less.board[square] = NO_PIECE;
    return less;
}

static void add_board(Text *text, const Net *net, const Position *pos) {
    static const char Line[] = " +-------+-------+-------+-------+-------+-------+-------+-------+\n";
    int whole = from_white(pos, nnue_value(net, pos));
    add(text, "%s", Line);
    for (int rank = 7; rank >= 0; rank--) {
        for (int file = 0; file < 8; file++)
            add(text, " |   %c  ", " PpNnBbRrQqKk"[(pos->board[square_make(file, rank)] + 1) % (PIECES + 1)]);
        add(text, " | %d\n", rank + 1);
        for (int file = 0; file < 8; file++) {
            int square = square_make(file, rank), piece = pos->board[square];
            if (piece == NO_PIECE || piece_type(piece) == KING) {
                add(text, " |      ");
                continue;
            }
            Position less = without(pos, square);
            add(text, " |%+6d", whole - from_white(pos, nnue_value(net, &less)));
        }
        add(text, " |\n%s", Line);
    }
    add(text, "     a       b       c       d       e       f       g       h\n");
}

void nnue_trace(const Net *net, const Position *pos, char *buffer, size_t size) {
    enum { NOTE_SHOWN = 1000 };
    if (!size) return;
    Text text = {buffer, size, 0};
    int values[NNUE_BUCKETS], used = nnue_bucket(pos);
    nnue_outputs(net, pos, values);
    add(&text, "Net %016llx%s, %d hidden, %s kernel\n", (unsigned long long)net->digest,
        net == net_builtin() ? " (builtin)" : "", net->weights.hidden, net->kernel->name);
    if (*net->note)
        add(&text, "Note %.*s%s\n", NOTE_SHOWN, net->note, strlen(net->note) > NOTE_SHOWN ? " ..." : "");
    add(&text, "\nCentipawns for White, by bucket (men); * is the one that counts\n");
    for (int bucket = 0; bucket < NNUE_BUCKETS; bucket++)
        add(&text, "%s%d (%2d-%2d) %+6d%s",
            bucket == 0  ? ""
            : bucket % 4 ? "   "
                         : "\n",
            bucket, 4 * bucket + 2, int_min(4 * bucket + 5, 32), from_white(pos, values[bucket]),
            bucket == used ? "*" : " ");
    add(&text, "\n\nWhat each man adds for White: the evaluation less the one without it\n");
    add_board(&text, net, pos);
}
