// SPDX-License-Identifier: GPL-3.0-or-later
// Setting up positions: from FEN text and by Chess960 number, and writing FENs. Every position that gets
// in here can be reached by the rules as far as can be told at little cost; the rest of the engine relies
// on that.
#include "engine/position.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char PieceLetters[] = "PpNnBbRrQqKk";

static bool read_board(Position *pos, const char *text, Error *error) {
    memset(pos->board, NO_PIECE, sizeof pos->board);
    int rank = 7, file = 0;
    for (const char *c = text; *c; c++) {
        const char *letter = strchr(PieceLetters, *c);
        if (*c == '/') {
            if (file != 8) return error_set(error, "FEN: rank %d has %d files, expected 8", rank + 1, file);
            if (--rank < 0) return error_set(error, "FEN: more than 8 ranks in \"%s\"", text);
            file = 0;
        } else if (*c >= '1' && *c <= '8') {
            file += *c - '0';
        } else if (letter) {
            if (file < 8) pos->board[square_make(file, rank)] = (uint8_t)(letter - PieceLetters);
            file++;
        } else {
            char shown = isprint((unsigned char)*c) ? *c : '?';
            return error_set(error, "FEN: '%c' in the board field is no piece", shown);
        }
        if (file > 8) return error_set(error, "FEN: rank %d has more than 8 files", rank + 1);
    }
    if (rank != 0) return error_set(error, "FEN: %d ranks in the board field, expected 8", 8 - rank);
    if (file != 8) return error_set(error, "FEN: rank 1 has %d files, expected 8", file);
    return true;
}

// A side can own what the first array has, with pawns replaced by what they promote to. This also keeps
// the number of moves below MAX_MOVES.
static bool check_men(const Position *pos, int colour, Error *error) {
    static const int first[PIECE_TYPES] = {8, 2, 2, 2, 1, 1};
    const char *name = colour == WHITE ? "White" : "Black";
    int counts[PIECE_TYPES] = {0}, promoted = 0;
    for (int square = 0; square < SQUARES; square++) {
        int piece = pos->board[square];
        if (piece == NO_PIECE || piece_colour(piece) != colour) continue;
        counts[piece_type(piece)]++;
        if (piece_type(piece) == PAWN && bb_has(RANK_1 | RANK_8, square))
            return error_set(error, "FEN: %s has a pawn on the first or last rank", name);
    }
    if (counts[KING] != 1) return error_set(error, "FEN: %s has %d kings, expected 1", name, counts[KING]);
    if (counts[PAWN] > 8) return error_set(error, "FEN: %s has %d pawns, at most 8 fit", name, counts[PAWN]);
    for (int type = KNIGHT; type < KING; type++) promoted += int_max(0, counts[type] - first[type]);
    if (promoted > 8 - counts[PAWN])
        return error_set(error, "FEN: %s has %d pawns and %d promoted pieces, more than 8 together", name,
                         counts[PAWN], promoted);
    return true;
}

static int find_king(const Position *pos, int colour) {
    int square = 0;
    while (pos->board[square] != piece_make(colour, KING)) square++;
    return square;
}

// The square of the rook that a castling letter means, or NO_SQUARE: K and Q mean the outermost rook of
// the side.
static int castling_rook(const Position *pos, int colour, int king, char letter) {
    int rook = piece_make(colour, ROOK), rank = square_for(colour, A1), edge = letter == 'K' ? 7 : 0;
    if (letter >= 'A' && letter <= 'H')
        return pos->board[rank + letter - 'A'] == rook ? rank + letter - 'A' : NO_SQUARE;
    for (int square = rank + edge; square != king; square += edge ? -1 : 1)
        if (pos->board[square] == rook) return square;
    return NO_SQUARE;
}

static bool read_castling(Position *pos, const char *text, Error *error) {
    memset(pos->castle_rook, NO_SQUARE, sizeof pos->castle_rook);
    if (!strcmp(text, "-")) return true;
    for (const char *c = text; *c; c++) {
        char letter = (char)toupper((unsigned char)*c);
        if (!strchr("KQABCDEFGH", letter))
            return error_set(error, "FEN: castling \"%s\", expected \"-\" or letters of KQkq, A-Ha-h", text);
        int colour = isupper((unsigned char)*c) ? WHITE : BLACK, king = find_king(pos, colour);
        if (square_rank_for(colour, king) != 0)
            return error_set(error, "FEN: castling right '%c', but the king has left its first rank", *c);
        int rook = castling_rook(pos, colour, king, letter), index = 2 * colour + (rook < king);
        if (rook == NO_SQUARE) return error_set(error, "FEN: castling right '%c' without a rook for it", *c);
        if (pos->castling & 1 << index)
            return error_set(error, "FEN: castling right '%c' is given twice", *c);
        pos->castling = (uint8_t)(pos->castling | 1 << index);
        pos->castle_rook[index] = (uint8_t)rook;
        bool standard = square_file(king) == 4 && square_file(rook) == (index & 1 ? 0 : 7);
        if (!standard || !strchr("KQ", letter)) pos->chess960 = true;
    }
    return true;
}

static bool read_ep(Position *pos, const char *text, Error *error) {
    pos->ep = NO_SQUARE;
    if (!strcmp(text, "-")) return true;
    if (strlen(text) != 2 || text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8')
        return error_set(error, "FEN: en passant field \"%s\", expected a square or \"-\"", text);
    int square = square_make(text[0] - 'a', text[1] - '1'), push = pawn_push(pos->stm);
    if (square_rank_for(pos->stm, square) != 5 || pos->board[square] != NO_PIECE ||
        pos->board[square + push] != NO_PIECE || pos->board[square - push] != piece_make(pos->stm ^ 1, PAWN))
        return error_set(error, "FEN: no pawn can have just passed over the en passant square %s", text);
    pos->ep = (uint8_t)square;
    return true;
}

static bool read_clock(const char *text, const char *name, int max, int *value, Error *error) {
    int64_t number = 0;
    if (!parse_int(text, 0, max, &number, NULL))
        return error_set(error, "FEN: %s \"%s\", expected a number from 0 to %d", name, text, max);
    *value = (int)number;
    return true;
}

bool position_from_fen(Position *pos, const char *fen, Error *error) {
    enum { MAX_RULE50 = 255, MAX_FULLMOVE = 9999 };
    static const char *const names[] = {"board", "side to move", "castling", "en passant", "", ""};
    char words[6][96] = {{0}};
    int count = 0, rule50 = 0, fullmove = 1;
    while (count < 6 && text_word(&fen, words[count], sizeof words[count])) count++;
    if (count < 4) return error_set(error, "FEN: the %s field is missing", names[count]);
    char rest[2];
    if (text_word(&fen, rest, sizeof rest)) return error_set(error, "FEN: text after the sixth field");

    Position made = {0};
    if (!read_board(&made, words[0], error)) return false;
    if (!check_men(&made, WHITE, error) || !check_men(&made, BLACK, error)) return false;
    if (strcmp(words[1], "w") && strcmp(words[1], "b"))
        return error_set(error, "FEN: side to move \"%s\", expected w or b", words[1]);
    made.stm = words[1][0] == 'w' ? WHITE : BLACK;
    if (!read_castling(&made, words[2], error) || !read_ep(&made, words[3], error)) return false;
    if (count > 4 && !read_clock(words[4], "half-move clock", MAX_RULE50, &rule50, error)) return false;
    if (count > 5 && !read_clock(words[5], "move number", MAX_FULLMOVE, &fullmove, error)) return false;
    made.rule50 = (uint8_t)rule50;
    made.fullmove = (uint16_t)int_max(1, fullmove);
    position_rebuild(&made);
    if (position_attacked(&made, made.stm, position_king(&made, made.stm ^ 1), position_occupied(&made)))
        return error_set(error, "FEN: %s is in check and not to move", made.stm == WHITE ? "Black" : "White");
    if (bb_count(made.checkers) > 2) return error_set(error, "FEN: more than two pieces give check");
    *pos = made;
    return true;
}

static void write_castling(const Position *pos, char *out) {
    for (int i = 0; i < 4; i++) {
        if (!(pos->castling & 1 << i)) continue;
        char letter = pos->chess960 ? (char)('A' + square_file(pos->castle_rook[i])) : "KQKQ"[i];
        *out++ = i < 2 ? letter : (char)tolower(letter);
    }
    if (!pos->castling) *out++ = '-';
    *out = '\0';
}

void position_to_fen(const Position *pos, char *buffer) {
    char *out = buffer, castling[5], ep[3] = "-";
    for (int rank = 7; rank >= 0; rank--) {
        int empty = 0;
        for (int file = 0; file < 8; file++) {
            int piece = pos->board[square_make(file, rank)];
            if (piece == NO_PIECE) {
                empty++;
                continue;
            }
            if (empty) *out++ = (char)('0' + empty);
            *out++ = PieceLetters[piece];
            empty = 0;
        }
        if (empty) *out++ = (char)('0' + empty);
        if (rank) *out++ = '/';
    }
    write_castling(pos, castling);
    if (pos->ep != NO_SQUARE) {
        ep[0] = (char)('a' + square_file(pos->ep));
        ep[1] = (char)('1' + square_rank(pos->ep));
    }
    snprintf(out, FEN_SIZE - (size_t)(out - buffer), " %c %s %s %d %d", "wb"[pos->stm], castling, ep,
             pos->rule50, pos->fullmove);
}

// The first free square of the back rank that has `skip` free ones before it.
static int free_file(const int *types, int skip) {
    int file = 0;
    while (types[file] != NO_TYPE || skip-- > 0) file++;
    return file;
}

// The back rank of a Chess960 number in the usual (Scharnagl's) numbering.
static void chess960_rank(int number, int *types) {
    // Free squares to skip for each knight; the first one's square is no longer free for the second.
    static const int knights[10][2] = {
        {0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3},
    };
    for (int file = 0; file < 8; file++) types[file] = NO_TYPE;
    types[number % 4 * 2 + 1] = BISHOP;
    types[number / 4 % 4 * 2] = BISHOP;
    types[free_file(types, number / 16 % 6)] = QUEEN;
    const int *skips = knights[number / 96];
    types[free_file(types, skips[0])] = KNIGHT;
    types[free_file(types, skips[1])] = KNIGHT;
    types[free_file(types, 0)] = ROOK;
    types[free_file(types, 0)] = KING;
    types[free_file(types, 0)] = ROOK;
}

void position_from_chess960(Position *pos, int white, int black) {
    assert(white >= 0 && white < 960 && black >= 0 && black < 960);
    *pos = (Position){.castling = ALL_CASTLING, .ep = NO_SQUARE, .fullmove = 1, .chess960 = true};
    memset(pos->board, NO_PIECE, sizeof pos->board);
    for (int colour = WHITE; colour < COLOURS; colour++) {
        int types[8], right = 2 * colour + 1;
        chess960_rank(colour == WHITE ? white : black, types);
        for (int file = 0; file < 8; file++) {
            int square = square_for(colour, file);
            pos->board[square] = (uint8_t)piece_make(colour, types[file]);
            pos->board[square_for(colour, file + 8)] = (uint8_t)piece_make(colour, PAWN);
            if (types[file] == ROOK) pos->castle_rook[right--] = (uint8_t)square;
        }
    }
    position_rebuild(pos);
}
