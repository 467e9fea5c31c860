// SPDX-License-Identifier: GPL-3.0-or-later
// Moves as text. Reading a move is finding the one legal move that fits, so nothing illegal is ever returned.
#include "engine/notation.h"

#include <ctype.h>
#include <string.h>

#include "engine/movegen.h"

void notation_square(int square, char *buffer) {
    if (square == NO_SQUARE) {
        memcpy(buffer, "-", 2);
        return;
    }
    buffer[0] = (char)('a' + square_file(square));
    buffer[1] = (char)('1' + square_rank(square));
    buffer[2] = '\0';
}

// Writes a move with castling as the king's two squares or as king takes rook.
static void write_uci(Move move, bool takes_rook, char *buffer) {
    int to = move_to(move);
    if (move_kind(move) == MOVE_CASTLING && !takes_rook)
        to = castle_king_to(castle_index(square_rank(move_from(move)) ? BLACK : WHITE, move));
    notation_square(move_from(move), buffer);
    notation_square(to, buffer + 2);
    if (move_kind(move) == MOVE_PROMOTION) {
        buffer[4] = "pnbrqk"[move_promotion(move)];
        buffer[5] = '\0';
    }
}

void notation_to_uci(const Position *pos, Move move, char *buffer) {
    if (move == MOVE_NONE || move == MOVE_NULL)
        memcpy(buffer, "0000", 5);
    else
        write_uci(move, pos->chess960, buffer);
}

// The square that two characters name, or NO_SQUARE.
static int read_square(const char *text) {
    int file = tolower((unsigned char)text[0]) - 'a';
    if (file < 0 || file > 7 || text[1] < '1' || text[1] > '8') return NO_SQUARE;
    return square_make(file, text[1] - '1');
}

// The castling move from a square that is written with this target, in either style, or MOVE_NONE.
static Move read_castling(const Position *pos, int from, int to) {
    Move takes_rook = move_make_kind(from, to, MOVE_CASTLING);
    if (movegen_is_legal(pos, takes_rook)) return takes_rook;
    for (int index = 2 * pos->stm; index < 2 * pos->stm + 2; index++) {
        if (castle_king_to(index) != to || pos->castle_rook[index] == NO_SQUARE) continue;
        Move move = move_make_kind(from, pos->castle_rook[index], MOVE_CASTLING);
        if (movegen_is_legal(pos, move)) return move;
    }
    return MOVE_NONE;
}

// Called for every move of every `position` command: no moves are generated.
Move notation_from_uci(const Position *pos, const char *text) {
    int from = read_square(text);
    int to = from == NO_SQUARE ? NO_SQUARE : read_square(text + 2);
    if (to == NO_SQUARE) return MOVE_NONE;
    Move move = move_make(from, to);
    bool pawn = piece_type(pos->board[from]) == PAWN;
    if (text[4]) {
        const char *types = "nbrq", *type = strchr(types, tolower((unsigned char)text[4]));
        if (!type || text[5]) return MOVE_NONE;
        move = move_make_promotion(from, to, KNIGHT + (int)(type - types));
    } else if (pawn && to == pos->ep && square_file(from) != square_file(to)) {
        move = move_make_kind(from, to, MOVE_EN_PASSANT);
    }
    if (movegen_is_legal(pos, move)) return move;
    return piece_type(pos->board[from]) == KING && !text[4] ? read_castling(pos, from, to) : MOVE_NONE;
}

// Writes + or # if the move leads there, and ends the text.
static void write_check(const Position *pos, Move move, char *out) {
    Position after;
    position_make(&after, pos, move);
    if (after.checkers) *out++ = movegen_any(&after) ? '+' : '#';
    *out = '\0';
}

// Writes from where the piece comes as far as SAN needs it: nothing, file, rank or both.
static char *write_origin(const Position *pos, Move move, char *out) {
    MoveList list;
    int from = move_from(move), rivals = 0, same_file = 0, same_rank = 0;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++) {
        int other = move_from(list.moves[i]);
        if (other == from || move_to(list.moves[i]) != move_to(move)) continue;
        if (pos->board[other] != pos->board[from]) continue;
        rivals++;
        same_file += square_file(other) == square_file(from);
        same_rank += square_rank(other) == square_rank(from);
    }
    if (rivals && (!same_file || same_rank)) *out++ = (char)('a' + square_file(from));
    if (same_file) *out++ = (char)('1' + square_rank(from));
    return out;
}

// SAN and its long form share all but the origin.
static void write_algebraic(const Position *pos, Move move, bool full, char *out) {
    int type = piece_type(pos->board[move_from(move)]);
    if (move_kind(move) == MOVE_CASTLING) {
        bool queenside = move_to(move) < move_from(move);
        memcpy(out, "O-O-O", 5);
        write_check(pos, move, out + (queenside ? 5 : 3));
        return;
    }
    bool capture = position_is_capture(pos, move);
    if (type != PAWN) *out++ = "PNBRQK"[type];
    if (full) {
        notation_square(move_from(move), out);
        out += 2;
        if (!capture) *out++ = '-';
    } else if (type == PAWN) {
        if (capture) *out++ = (char)('a' + square_file(move_from(move)));
    } else {
        out = write_origin(pos, move, out);
    }
    if (capture) *out++ = 'x';
    notation_square(move_to(move), out);
    out += 2;
    if (move_kind(move) == MOVE_PROMOTION) {
        *out++ = '=';
        *out++ = "PNBRQK"[move_promotion(move)];
    }
    write_check(pos, move, out);
}

void notation_to_san(const Position *pos, Move move, char *buffer) {
    write_algebraic(pos, move, false, buffer);
}

void notation_to_lan(const Position *pos, Move move, char *buffer) {
    write_algebraic(pos, move, true, buffer);
}

// What a SAN text says of a move; -1 where it says nothing.
typedef struct SanParts {
    int type, file, rank, to, promotion, castle_side;
} SanParts;

// Takes castling text apart: the letter O or the digit 0 twice or three times, with or without hyphens.
static bool read_castling_text(const char *text, SanParts *parts) {
    int letters = 0;
    for (; *text == 'O' || *text == '0' || *text == 'o' || *text == '-'; text++) letters += *text != '-';
    if (text[strspn(text, "+#!?")] != '\0' || letters < 2 || letters > 3) return false;
    parts->type = KING;
    parts->castle_side = letters - 2;
    return true;
}

static bool read_san(const char *text, SanParts *parts) {
    static const char letters[] = "PNBRQK";
    *parts = (SanParts){.type = PAWN, .file = -1, .rank = -1, .to = -1, .promotion = -1, .castle_side = -1};
    if (strchr("Oo0", *text)) return *text && read_castling_text(text, parts);
    const char *letter = strchr(letters, *text);
    if (letter && *text) {
        parts->type = (int)(letter - letters);
        text++;
    }
    int files[2], ranks[2], file_count = 0, rank_count = 0;
    for (; *text && !strchr("+#!?", *text); text++) {
        if (*text >= 'a' && *text <= 'h') {
            if (file_count == 2) return false;
            files[file_count++] = *text - 'a';
        } else if (*text >= '1' && *text <= '8') {
            if (rank_count == 2) return false;
            ranks[rank_count++] = *text - '1';
        } else if (file_count && rank_count && strchr("NBRQ", *text) && parts->promotion < 0) {
            parts->promotion = (int)(strchr(letters, *text) - letters);
        } else if (!strchr("x:-=()", *text)) {
            return false;
        }
    }
    if (text[strspn(text, "+#!?")] != '\0' || !file_count || !rank_count) return false;
    parts->to = square_make(files[file_count - 1], ranks[rank_count - 1]);
    if (file_count == 2) parts->file = files[0];
    if (rank_count == 2) parts->rank = ranks[0];
    return true;
}

static bool san_fits(const Position *pos, Move move, const SanParts *parts) {
    int from = move_from(move);
    if ((move_kind(move) == MOVE_CASTLING) != (parts->castle_side >= 0)) return false;
    if (parts->castle_side >= 0) return parts->castle_side == (move_to(move) < from);
    int promotion = move_kind(move) == MOVE_PROMOTION ? move_promotion(move) : -1;
    return piece_type(pos->board[from]) == parts->type && move_to(move) == parts->to &&
           promotion == parts->promotion && (parts->file < 0 || square_file(from) == parts->file) &&
           (parts->rank < 0 || square_rank(from) == parts->rank);
}

Move notation_from_san(const Position *pos, const char *text) {
    MoveList list;
    SanParts parts;
    Move found = MOVE_NONE;
    if (!read_san(text, &parts)) return MOVE_NONE;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++) {
        if (!san_fits(pos, list.moves[i], &parts)) continue;
        if (found != MOVE_NONE) return MOVE_NONE; // the text is ambiguous
        found = list.moves[i];
    }
    return found;
}
