// SPDX-License-Identifier: GPL-3.0-or-later
// What a position is and how moves change it: make, keys, attacks, static exchange, endings. Reading and
// writing FENs is in fen.c, finding moves in movegen.c.
#include "engine/position.h"

#include <string.h>

#include "engine/movegen.h"
#include "engine/polyglot.h"
#include "engine/psqt.h"

const int SeeValues[PIECE_TYPES + 1] = {
    SEE_PAWN, SEE_KNIGHT, SEE_BISHOP, SEE_ROOK, SEE_QUEEN, SEE_KING, 0,
};

// Puts a piece on squares or takes it off them: the sets and keys do not care which.
static inline void toggle(Position *pos, int piece, Bitboard squares, Key term) {
    pos->by_type[piece_type(piece)] ^= squares;
    pos->by_colour[piece_colour(piece)] ^= squares;
    pos->key ^= term;
    *(piece_type(piece) == PAWN ? &pos->pawn_key : &pos->non_pawn_key[piece_colour(piece)]) ^= term;
}

static inline void put(Position *pos, int piece, int square) {
    toggle(pos, piece, bb_of(square), polyglot_piece(piece, square));
    pos->board[square] = (uint8_t)piece;
    pos->psq += psqt_of(piece, square);
}

static inline void take(Position *pos, int piece, int square) {
    toggle(pos, piece, bb_of(square), polyglot_piece(piece, square));
    pos->board[square] = NO_PIECE;
    pos->psq -= psqt_of(piece, square);
}

// The same as take and put, in one go.
static inline void shift(Position *pos, int piece, int from, int to) {
    toggle(pos, piece, bb_of(from) | bb_of(to), polyglot_piece(piece, from) ^ polyglot_piece(piece, to));
    pos->board[from] = NO_PIECE;
    pos->board[to] = (uint8_t)piece;
    pos->psq += psqt_of(piece, to) - psqt_of(piece, from);
}

// Finds the pieces that give check to the side to move, and its pieces that are pinned.
static inline void find_checks(Position *pos) {
    int us = pos->stm, king = position_king(pos, us);
    Bitboard occupied = position_occupied(pos), enemies = pos->by_colour[us ^ 1];
    Bitboard checkers = (attacks_pawn(us, king) & pos->by_type[PAWN]) |
                        (attacks_knight(king) & pos->by_type[KNIGHT]);
    Bitboard snipers = (bb_rook_rays(king) & (pos->by_type[ROOK] | pos->by_type[QUEEN])) |
                       (bb_bishop_rays(king) & (pos->by_type[BISHOP] | pos->by_type[QUEEN]));
    Bitboard pinned = 0;
    checkers &= enemies;
    snipers &= enemies;
    while (snipers) {
        int sniper = bb_pop(&snipers);
        Bitboard shields = bb_between(king, sniper) & occupied;
        if (!shields)
            checkers |= bb_of(sniper);
        else if (!bb_several(shields))
            pinned |= shields;
    }
    pos->checkers = checkers;
    pos->pinned = pinned & ~enemies;
}

// Takes rights away from the position and its key.
static void lose_castling(Position *pos, int lost) {
    for (int i = 0; i < 4; i++) {
        if (!(pos->castling & lost & 1 << i)) continue;
        pos->castling = (uint8_t)(pos->castling & ~(1 << i));
        pos->castle_rook[i] = NO_SQUARE;
        pos->key ^= Polyglot[POLYGLOT_CASTLING + i];
    }
}

// The rights that a move from or to the king's and the rooks' first squares ends.
static inline void update_castling(Position *pos, int piece, int from, int to) {
    int lost = piece_type(piece) == KING ? 3 << 2 * piece_colour(piece) : 0;
    if ((bb_of(from) | bb_of(to)) & (RANK_1 | RANK_8))
        for (int i = 0; i < 4; i++)
            if (pos->castle_rook[i] == from || pos->castle_rook[i] == to) lost |= 1 << i;
    if (lost) lose_castling(pos, lost);
}

static void make_castling(Position *pos, Move move) {
    int us = pos->stm, index = castle_index(us, move);
    int king = piece_make(us, KING), rook = piece_make(us, ROOK);
    take(pos, king, move_from(move));
    take(pos, rook, move_to(move));
    put(pos, king, castle_king_to(index));
    put(pos, rook, castle_rook_to(index));
    lose_castling(pos, 3 << 2 * us);
}

void position_make(Position *after, const Position *before, Move move) {
    assert(after != before);
#ifdef HONE_DEBUG
    assert(movegen_is_legal(before, move));
#endif
    *after = *before;
    const int us = before->stm, from = move_from(move), to = move_to(move), kind = move_kind(move);
    const int piece = before->board[from];
    assert(piece != NO_PIECE && piece_colour(piece) == us);

    if (before->ep != NO_SQUARE) {
        after->key ^= Polyglot[POLYGLOT_EP + square_file(before->ep)];
        after->ep = NO_SQUARE;
    }
    if (before->rule50 < UINT8_MAX) after->rule50++;
    if (before->fullmove < UINT16_MAX) after->fullmove = (uint16_t)(before->fullmove + us);

    if (kind == MOVE_CASTLING) {
        make_castling(after, move);
    } else {
        const int victim = before->board[to];
        if (victim != NO_PIECE) {
            take(after, victim, to);
            after->rule50 = 0;
        }
        if (kind == MOVE_PROMOTION) {
            take(after, piece, from);
            put(after, piece_make(us, move_promotion(move)), to);
        } else {
            shift(after, piece, from, to);
        }
        if (piece_type(piece) == PAWN) {
            after->rule50 = 0;
            const int behind = to ^ 8; // of a two-step: the square passed over; of en passant: the pawn taken
            if (kind == MOVE_EN_PASSANT) {
                take(after, piece ^ 1, behind);
            } else if ((from ^ to) == 16 &&
                       attacks_pawn(us, behind) & position_pieces(before, us ^ 1, PAWN)) {
                after->ep = (uint8_t)behind;
                after->key ^= Polyglot[POLYGLOT_EP + square_file(to)];
            }
        }
        if (before->castling) update_castling(after, piece, from, to);
    }
    after->stm = (uint8_t)(us ^ 1);
    after->key ^= Polyglot[POLYGLOT_TURN];
    find_checks(after);
#ifdef HONE_DEBUG
    assert(position_ok(after));
#endif
}

void position_make_null(Position *after, const Position *before) {
    assert(after != before && !before->checkers);
    *after = *before;
    if (before->ep != NO_SQUARE) {
        after->key ^= Polyglot[POLYGLOT_EP + square_file(before->ep)];
        after->ep = NO_SQUARE;
    }
    if (before->rule50 < UINT8_MAX) after->rule50++;
    if (before->fullmove < UINT16_MAX) after->fullmove = (uint16_t)(before->fullmove + before->stm);
    after->stm ^= 1;
    after->key ^= Polyglot[POLYGLOT_TURN];
    find_checks(after);
#ifdef HONE_DEBUG
    assert(position_ok(after));
#endif
}

void position_rebuild(Position *pos) {
    bitboard_init();
    memset(pos->by_type, 0, sizeof pos->by_type);
    memset(pos->by_colour, 0, sizeof pos->by_colour);
    memset(pos->non_pawn_key, 0, sizeof pos->non_pawn_key);
    pos->key = pos->pawn_key = 0;
    pos->psq = 0;
    for (int square = 0; square < SQUARES; square++)
        if (pos->board[square] != NO_PIECE) put(pos, pos->board[square], square);
    for (int i = 0; i < 4; i++) {
        if (pos->castling & 1 << i)
            pos->key ^= Polyglot[POLYGLOT_CASTLING + i];
        else
            pos->castle_rook[i] = NO_SQUARE;
    }
    if (pos->ep != NO_SQUARE && !(attacks_pawn(pos->stm ^ 1, pos->ep) & position_pieces(pos, pos->stm, PAWN)))
        pos->ep = NO_SQUARE;
    if (pos->ep != NO_SQUARE) pos->key ^= Polyglot[POLYGLOT_EP + square_file(pos->ep)];
    if (pos->stm == WHITE) pos->key ^= Polyglot[POLYGLOT_TURN];
    find_checks(pos);
}

// Whether every castling right has its king on the first rank and its rook on the right side of it.
static bool castling_ok(const Position *pos) {
    for (int i = 0; i < 4; i++) {
        if (!(pos->castling & 1 << i)) continue;
        int king = position_king(pos, i / 2), rook = pos->castle_rook[i];
        if (pos->board[rook] != piece_make(i / 2, ROOK) || (rook < king) != i % 2) return false;
        if (square_rank_for(i / 2, king) != 0 || square_rank_for(i / 2, rook) != 0) return false;
    }
    return true;
}

bool position_ok(const Position *pos) {
    for (int colour = WHITE; colour < COLOURS; colour++)
        if (bb_count(position_pieces(pos, colour, KING)) != 1) return false;
    if (position_attacked(pos, pos->stm, position_king(pos, pos->stm ^ 1), position_occupied(pos)))
        return false;
    Position fresh = *pos;
    position_rebuild(&fresh);
    return castling_ok(pos) && !memcmp(fresh.by_type, pos->by_type, sizeof pos->by_type) &&
           !memcmp(fresh.by_colour, pos->by_colour, sizeof pos->by_colour) && fresh.key == pos->key &&
           fresh.pawn_key == pos->pawn_key && fresh.non_pawn_key[WHITE] == pos->non_pawn_key[WHITE] &&
           fresh.non_pawn_key[BLACK] == pos->non_pawn_key[BLACK] && fresh.checkers == pos->checkers &&
           fresh.pinned == pos->pinned && fresh.psq == pos->psq && fresh.ep == pos->ep &&
           !memcmp(fresh.castle_rook, pos->castle_rook, sizeof pos->castle_rook);
}

Key position_key_after(const Position *pos, Move move) {
    int from = move_from(move), to = move_to(move), piece = pos->board[from], victim = pos->board[to];
    Key key = pos->key ^ Polyglot[POLYGLOT_TURN] ^ polyglot_piece(piece, from) ^ polyglot_piece(piece, to);
    if (victim != NO_PIECE) key ^= polyglot_piece(victim, to);
    if (pos->ep != NO_SQUARE) key ^= Polyglot[POLYGLOT_EP + square_file(pos->ep)];
    return key;
}

bool position_ep_legal(const Position *pos, int from) {
    int us = pos->stm, king = position_king(pos, us), victim = pos->ep ^ 8;
    Bitboard enemies = pos->by_colour[us ^ 1] & ~bb_of(victim);
    Bitboard occupied = (position_occupied(pos) ^ bb_of(from) ^ bb_of(victim)) | bb_of(pos->ep);
    return !(position_attackers(pos, king, occupied) & enemies);
}

Key position_repetition_key(const Position *pos) {
    if (pos->ep == NO_SQUARE) return pos->key;
    Bitboard pawns = attacks_pawn(pos->stm ^ 1, pos->ep) & position_pieces(pos, pos->stm, PAWN);
    while (pawns)
        if (position_ep_legal(pos, bb_pop(&pawns))) return pos->key;
    return pos->key ^ Polyglot[POLYGLOT_EP + square_file(pos->ep)];
}

Bitboard position_attackers(const Position *pos, int square, Bitboard occupied) {
    Bitboard queens = pos->by_type[QUEEN];
    return (attacks_pawn(BLACK, square) & position_pieces(pos, WHITE, PAWN)) |
           (attacks_pawn(WHITE, square) & position_pieces(pos, BLACK, PAWN)) |
           (attacks_knight(square) & pos->by_type[KNIGHT]) | (attacks_king(square) & pos->by_type[KING]) |
           (attacks_bishop(square, occupied) & (pos->by_type[BISHOP] | queens)) |
           (attacks_rook(square, occupied) & (pos->by_type[ROOK] | queens));
}

bool position_gives_check(const Position *pos, Move move) {
    int us = pos->stm, king = position_king(pos, us ^ 1), from = move_from(move), to = move_to(move);
    int kind = move_kind(move), type = piece_type(pos->board[from]);
    Bitboard occupied = position_occupied(pos) ^ bb_of(from), ours = pos->by_colour[us] ^ bb_of(from);
    if (kind == MOVE_CASTLING) { // the rook gives the check, and nothing stands behind it
        int index = castle_index(us, move);
        occupied = (occupied & ~bb_of(to)) | bb_of(castle_king_to(index)) | bb_of(castle_rook_to(index));
        return bb_has(attacks_rook(king, occupied), castle_rook_to(index));
    }
    occupied |= bb_of(to);
    if (kind == MOVE_EN_PASSANT) occupied ^= bb_of(to ^ 8);
    if (kind == MOVE_PROMOTION) type = move_promotion(move);
    if (type == PAWN ? bb_has(attacks_pawn(us, to), king)
                     : type != KING && bb_has(attacks_of(type, to, occupied), king))
        return true;
    // A piece behind the one that moved (or behind a pawn taken en passant).
    if (kind != MOVE_EN_PASSANT && !bb_has(bb_rook_rays(king) | bb_bishop_rays(king), from)) return false;
    return (attacks_rook(king, occupied) & ours & (pos->by_type[ROOK] | pos->by_type[QUEEN])) ||
           (attacks_bishop(king, occupied) & ours & (pos->by_type[BISHOP] | pos->by_type[QUEEN]));
}

bool position_see(const Position *pos, Move move, int threshold) {
    if (move_kind(move) == MOVE_CASTLING) return threshold <= 0;
    const int us = pos->stm, to = move_to(move);
    int standing = piece_type(pos->board[move_from(move)]), gain = SeeValues[position_captured(pos, move)];
    if (move_kind(move) == MOVE_PROMOTION) {
        standing = move_promotion(move);
        gain += SeeValues[standing] - SEE_PAWN;
    }
    if (gain < threshold) return false;
    // What the mover is above the threshold if the other side takes back and that is the end.
    int margin = gain - threshold - SeeValues[standing];
    if (margin >= 0) return true;

    Bitboard occupied = (position_occupied(pos) ^ bb_of(move_from(move))) | bb_of(to);
    if (move_kind(move) == MOVE_EN_PASSANT) occupied ^= bb_of(to ^ 8);
    const Bitboard diagonal = pos->by_type[BISHOP] | pos->by_type[QUEEN];
    const Bitboard straight = pos->by_type[ROOK] | pos->by_type[QUEEN];
    Bitboard attackers = position_attackers(pos, to, occupied);

    // In each turn one side is behind and must take to be ahead; who cannot has lost the exchange.
    for (int side = us ^ 1;; side ^= 1) {
        attackers &= occupied;
        Bitboard own = attackers & pos->by_colour[side];
        if (!own) return side != us;
        int type = PAWN;
        while (!(own & pos->by_type[type])) type++;
        occupied ^= bb_of(bb_first(own & pos->by_type[type]));
        if (type != KNIGHT && type != ROOK) attackers |= attacks_bishop(to, occupied) & diagonal;
        if (type >= ROOK) attackers |= attacks_rook(to, occupied) & straight;
        if (type == KING) return (attackers & occupied & pos->by_colour[side ^ 1] ? side != us : side == us);
        margin = -margin - 1 - SeeValues[type];
        if (margin >= 0) return side == us;
    }
}

bool position_insufficient(const Position *pos) {
    if (pos->by_type[PAWN] | pos->by_type[ROOK] | pos->by_type[QUEEN]) return false;
    Bitboard knights = pos->by_type[KNIGHT], bishops = pos->by_type[BISHOP];
    if (knights) return !bishops && !bb_several(knights);
    return !(bishops & LIGHT_SQUARES) || !(bishops & ~LIGHT_SQUARES);
}

// The position with every square sent through XOR turn, and colours swapped if asked.
static Position transformed(const Position *pos, int turn, int swap) {
    Position out = *pos;
    for (int square = 0; square < SQUARES; square++) {
        int piece = pos->board[square];
        out.board[square ^ turn] = (uint8_t)(piece == NO_PIECE ? NO_PIECE : piece ^ swap);
    }
    out.stm = (uint8_t)(pos->stm ^ swap);
    if (pos->ep != NO_SQUARE) out.ep = (uint8_t)(pos->ep ^ turn);
    out.castling = 0;
    for (int i = 0; i < 4; i++) {
        int to = i ^ 2 * swap;
        if (!(pos->castling & 1 << i)) continue;
        out.castling = (uint8_t)(out.castling | 1 << to);
        out.castle_rook[to] = (uint8_t)(pos->castle_rook[i] ^ turn);
    }
    position_rebuild(&out);
    return out;
}

Position position_flip(const Position *pos) { return transformed(pos, 56, 1); }

Position position_mirror(const Position *pos) {
    assert(!pos->castling);
    return transformed(pos, 7, 0);
}

void keystack_push(KeyStack *stack, const Position *pos) {
    enum { SIZE = sizeof stack->keys / sizeof stack->keys[0] };
    if (stack->count == SIZE) {
        memmove(stack->keys, stack->keys + SIZE / 2, SIZE / 2 * sizeof(Key));
        stack->count = SIZE / 2;
    }
    stack->keys[stack->count++] = position_repetition_key(pos);
}

int keystack_repetitions(const KeyStack *stack, const Position *pos) {
    int seen = 0, oldest = int_max(0, stack->count - pos->rule50);
    Key key = position_repetition_key(pos);
    for (int i = stack->count - 4; i >= oldest; i -= 2) seen += stack->keys[i] == key;
    return seen;
}

Ending position_ending(const Position *pos, const KeyStack *before) {
    if (!movegen_any(pos)) return pos->checkers ? ENDING_CHECKMATE : ENDING_STALEMATE;
    if (position_insufficient(pos)) return ENDING_MATERIAL;
    if (keystack_repetitions(before, pos) >= 2) return ENDING_REPETITION;
    return pos->rule50 >= 100 ? ENDING_FIFTY : ENDING_NONE;
}
