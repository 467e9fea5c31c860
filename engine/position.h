// SPDX-License-Identifier: GPL-3.0-or-later
// A chess position: pure rules, no history, no search state, copied freely. Moves are made by copying
// (position_make), so there is no undo. Repetition needs the keys of the positions before; see KeyStack.
#pragma once

#include "engine/bitboard.h"
#include "engine/types.h"
#include "engine/util.h"

// One position by the rules of chess; a plain value that may be copied.
typedef struct Position {
    Bitboard by_type[PIECE_TYPES]; // all pieces of a type
    Bitboard by_colour[COLOURS];   // all pieces of a colour
    uint8_t board[SQUARES];        // the piece on each square, or NO_PIECE
    Key key;                       // Polyglot key of the whole position
    Key pawn_key;                  // key of the pawns alone
    Key non_pawn_key[COLOURS];     // key of one colour's pieces without its pawns
    Bitboard checkers;             // pieces that give check to the side to move
    Bitboard pinned;               // pieces of the side to move that shield their own king from a slider
    int32_t psq;                   // sum of material and places (psqt.h), packed, from White's view
    uint8_t stm;                   // side to move
    uint8_t castling;              // rights left
    uint8_t ep;                    // square passed over by a two-step, if an enemy pawn is near; or NO_SQUARE
    uint8_t rule50;                // plies since the last capture or pawn move (255 at most)
    uint8_t castle_rook[4];        // where the rook of each right stands; NO_SQUARE without the right
    uint16_t fullmove;             // number of the move, as in a FEN
    bool chess960;                 // castling is written in Chess960 style
} Position;

_Static_assert(sizeof(Position) <= 192, "a Position is copied at every move: three cache lines");

#define START_FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

enum { FEN_SIZE = 128 };

// Reads a FEN (X-FEN and Shredder-FEN castling too; clocks may be missing); impossible positions are
// refused with a reason, and pos is then untouched. chess960 is set if the castling field has file letters
// or rights that standard chess cannot have; a caller that knows better may set it.
bool position_from_fen(Position *pos, const char *fen, Error *error);

// Writes the FEN into a buffer of FEN_SIZE bytes (Shredder-FEN castling letters if chess960).
void position_to_fen(const Position *pos, char *buffer);

// Sets up double Chess960 start position (white, black), each 0 to 959 (518 is the standard array); equal
// numbers give a Chess960 position.
void position_from_chess960(Position *pos, int white, int black);

// Makes a legal move: after becomes the position that it leads to. The two must be different objects.
void position_make(Position *after, const Position *before, Move move);

// Passes the move to the other side; not allowed in check.
void position_make_null(Position *after, const Position *before);

// The key that the position after a legal move will nearly always have; for prefetching only.
Key position_key_after(const Position *pos, Move move);

// The key for comparing positions under the repetition rule: en passant counts only if the capture is legal.
Key position_repetition_key(const Position *pos);

// All pieces of both colours that attack a square through an occupation.
Bitboard position_attackers(const Position *pos, int square, Bitboard occupied);

// Whether a legal move gives check.
bool position_gives_check(const Position *pos, Move move);

// Whether the pawn on a square, which must attack the en passant square, may take there: its king stays safe.
bool position_ep_legal(const Position *pos, int from);

// What pieces are worth to position_see, by type (NO_TYPE is 0; the king is beyond price).
enum { SEE_PAWN = 100, SEE_KNIGHT = 325, SEE_BISHOP = 325, SEE_ROOK = 500, SEE_QUEEN = 900, SEE_KING = 9999 };
extern const int SeeValues[PIECE_TYPES + 1];

// Whether the static exchange on the target square of a legal move gains at least threshold centipawns.
// Both sides take with their least valuable piece, or stop; pieces behind others join in (x-rays); a king
// never takes a defended piece. Pins are ignored. The move itself counts what it takes (en passant too)
// and what its promotion gains, and the promoted piece is what can be taken back; later pawns that take on
// the last rank stay pawns. Castling gains 0.
bool position_see(const Position *pos, Move move, int threshold);

// Whether no sequence of moves can mate: K v K, KN v K, or bishops alone that all stand on one colour of
// square.
bool position_insufficient(const Position *pos);

// Works out bitboards, keys, sums, checks and pins from the board, side to move, castling rights and en
// passant square (which is dropped if no pawn stands beside the one that moved); for whoever sets up a
// position square by square.
void position_rebuild(Position *pos);

// Recomputes everything that is kept incrementally and compares; for asserts and tests.
bool position_ok(const Position *pos);

// The position with colours swapped and the board turned top to bottom; worth the same to the side to move.
Position position_flip(const Position *pos);

// The position mirrored left to right; castling rights must be gone.
Position position_mirror(const Position *pos);

// Where king and rook stand after castling with right number index (2 x colour + queen side).
static inline int castle_king_to(int index) { return square_make(index & 1 ? 2 : 6, index & 2 ? 7 : 0); }
static inline int castle_rook_to(int index) { return square_make(index & 1 ? 3 : 5, index & 2 ? 7 : 0); }
// The number of the right that a castling move uses.
static inline int castle_index(int colour, Move move) {
    return 2 * colour + (move_to(move) < move_from(move));
}

// All pieces of both colours.
static inline Bitboard position_occupied(const Position *pos) {
    return pos->by_colour[WHITE] | pos->by_colour[BLACK];
}
// All pieces of a colour and type.
static inline Bitboard position_pieces(const Position *pos, int colour, int type) {
    return pos->by_colour[colour] & pos->by_type[type];
}
// Where a colour's king stands.
static inline int position_king(const Position *pos, int colour) {
    return bb_first(position_pieces(pos, colour, KING));
}
// Pieces of a colour that are neither pawns nor the king.
static inline Bitboard position_officers(const Position *pos, int colour) {
    return pos->by_colour[colour] & ~(pos->by_type[PAWN] | pos->by_type[KING]);
}
// Whether a colour attacks a square through an occupation.
static inline bool position_attacked(const Position *pos, int by, int square, Bitboard occupied) {
    Bitboard theirs = pos->by_colour[by], queens = pos->by_type[QUEEN];
    Bitboard leapers = (attacks_pawn(by ^ 1, square) & pos->by_type[PAWN]) |
                       (attacks_knight(square) & pos->by_type[KNIGHT]) |
                       (attacks_king(square) & pos->by_type[KING]);
    if (leapers & theirs) return true;
    return (attacks_rook(square, occupied) & theirs & (pos->by_type[ROOK] | queens)) ||
           (attacks_bishop(square, occupied) & theirs & (pos->by_type[BISHOP] | queens));
}
// Whether a legal move takes something (castling does not).
static inline bool position_is_capture(const Position *pos, Move move) {
    if (move_kind(move) == MOVE_CASTLING) return false;
    return move_kind(move) == MOVE_EN_PASSANT || pos->board[move_to(move)] != NO_PIECE;
}
// Whether a legal move takes or promotes to a queen: what quiescence looks at.
static inline bool position_is_noisy(const Position *pos, Move move) {
    if (move_kind(move) == MOVE_PROMOTION && move_promotion(move) == QUEEN) return true;
    return position_is_capture(pos, move);
}
// The type that a legal move takes, or NO_TYPE.
static inline int position_captured(const Position *pos, Move move) {
    if (move_kind(move) == MOVE_EN_PASSANT) return PAWN;
    return position_is_capture(pos, move) ? piece_type(pos->board[move_to(move)]) : NO_TYPE;
}

// The middlegame and the endgame half of a packed score.
static inline int packed_mg(int32_t packed) { return (int16_t)(uint16_t)(uint32_t)packed; }
static inline int packed_eg(int32_t packed) { return (int16_t)(uint16_t)((uint32_t)(packed + 0x8000) >> 16); }
// A middlegame and an endgame value in one int, so that both are added at once.
#define PACK(mg, eg) ((int32_t)((uint32_t)(eg) << 16) + (mg))

// Repetition keys of the positions of a game, oldest first; only the last 256 are ever needed.
typedef struct KeyStack {
    Key keys[256];
    int count;
} KeyStack;

// Forgets all keys.
static inline void keystack_clear(KeyStack *stack) { stack->count = 0; }
// Adds the key of a position that has been left behind; drops the oldest half when full.
void keystack_push(KeyStack *stack, const Position *pos);
// How often a position with this one's key occurred among the keys since the last irreversible move.
int keystack_repetitions(const KeyStack *stack, const Position *pos);

// How a game stands by the rules alone.
typedef enum Ending {
    ENDING_NONE,
    ENDING_CHECKMATE, // the side to move is mated
    ENDING_STALEMATE,
    ENDING_REPETITION, // the position stands for the third time
    ENDING_FIFTY,      // fifty moves without capture or pawn move, and no mate
    ENDING_MATERIAL,
} Ending;

// How a game stands at pos, given the keys of the positions before it.
Ending position_ending(const Position *pos, const KeyStack *before);
