// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ThreeMen[THREE_MEN] = {"KQK", "KRK", "KBK", "KNK", "KPK"};
const char *const FourMen[FOUR_MEN] = {
    "KQQK", "KQRK", "KQBK", "KQNK", "KQPK", "KRRK", "KRBK", "KRNK", "KRPK", "KBBK",
    "KBNK", "KBPK", "KNNK", "KNPK", "KPPK", "KQKQ", "KQKR", "KQKB", "KQKN", "KQKP",
    "KRKR", "KRKB", "KRKN", "KRKP", "KBKB", "KBKN", "KBKP", "KNKN", "KNKP", "KPKP",
};

bool placing_make(Position *pos, const uint8_t *pieces, const int *squares, int count, int stm, int ep) {
    char board[SQUARES], fen[FEN_SIZE], *out = fen;
    memset(board, '1', sizeof board);
    for (int i = 0; i < count; i++) {
        if (board[squares[i]] != '1') return false;
        board[squares[i]] = "PpNnBbRrQqKk"[pieces[i]];
    }
    for (int rank = 7; rank >= 0; rank--, *out++ = '/') {
        memcpy(out, board + 8 * rank, 8);
        out += 8;
    }
    char square[3] = "-";
    if (ep != NO_SQUARE)
        snprintf(square, sizeof square, "%c%c", "abcdefgh"[square_file(ep)], "12345678"[square_rank(ep)]);
    sprintf(out - 1, " %c - %s 0 1", "wb"[stm], square);
    return position_from_fen(pos, fen, NULL);
}

static int read_pieces(const char *material, uint8_t *pieces) {
    int count = 0, kings = 0;
    for (const char *p = material; *p; p++) {
        kings += *p == 'K';
        pieces[count++] = (uint8_t)piece_make(kings - 1, (int)(strchr("PNBRQK", *p) - "PNBRQK"));
    }
    return count;
}

// Where an en passant square can be if the side to move has a pawn beside one that came by two steps.
static int possible_ep(const uint8_t *pieces, const int *squares, int count, int stm) {
    for (int i = 0; i < count; i++) {
        int push = pawn_push(!stm);
        if (pieces[i] != piece_make(!stm, PAWN) || square_rank_for(!stm, squares[i]) != 3) continue;
        bool beside = false, free = true;
        for (int k = 0; k < count; k++) {
            beside |= pieces[k] == piece_make(stm, PAWN) &&
                      square_rank(squares[k]) == square_rank(squares[i]) && abs(squares[k] - squares[i]) == 1;
            free &= squares[k] != squares[i] - push && squares[k] != squares[i] - 2 * push;
        }
        if (beside && free) return squares[i] - push;
    }
    return NO_SQUARE;
}

void placing_random(Position *pos, const char *material, uint64_t seed, uint64_t index) {
    uint8_t pieces[8];
    int squares[8], count = read_pieces(material, pieces);
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t bits = random_at(seed, index, attempt);
        for (int i = 0; i < count; i++) squares[i] = bits >> 6 * i & 63;
        int stm = bits >> 62 & 1;
        int ep = possible_ep(pieces, squares, count, stm);
        if (placing_make(pos, pieces, squares, count, stm, ep)) return;
    }
}
