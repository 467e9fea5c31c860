// SPDX-License-Identifier: GPL-3.0-or-later
// engine/position and engine/fen: keys against the published examples and against their definition, making
// moves, checks and pins by walking the board, FENs taken and refused, repetition and the other endings.
// Static exchange has a suite of its own.
#include "engine/position.h"

#include <string.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "engine/polyglot.h"
#include "engine/psqt.h"
#include "tests/positions.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static Position from(const char *fen) {
    Position pos;
    Error error = {""};
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, fen, &error), error.text);
    return pos;
}

// Plays moves in UCI text from a position.
static Position play(Position pos, const char *moves) {
    char word[8];
    while (text_word(&moves, word, sizeof word)) {
        Move move = notation_from_uci(&pos, word);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, word);
        Position after;
        position_make(&after, &pos, move);
        pos = after;
    }
    return pos;
}

// ---- keys -------------------------------------------------------------------------------------------------

// The key by the words of the format's description, from the FEN alone: nothing shared but the table.
static Key key_by_definition(const Position *pos) {
    static const char kinds[] = "pPnNbBrRqQkK";
    char fen[FEN_SIZE];
    Key key = 0;
    position_to_fen(pos, fen);
    int row = 7, file = 0;
    const char *c = fen;
    for (; *c != ' '; c++) {
        if (*c == '/') {
            row--;
            file = 0;
        } else if (*c >= '1' && *c <= '8') {
            file += *c - '0';
        } else {
            key ^= Polyglot[64 * (strchr(kinds, *c) - kinds) + 8 * row + file++];
        }
    }
    if (c[1] == 'w') key ^= Polyglot[780];
    for (c += 3; *c != ' '; c++) // right by right; which side a file letter means is told by the king
        for (int right = 0; right < 4; right++) {
            const char *names = "KQkq";
            bool meant = pos->chess960 ? *c == (right < 2 ? 'A' : 'a') + pos->castle_rook[right] % 8
                                       : *c == names[right];
            if (meant && pos->castling >> right & 1) key ^= Polyglot[768 + right];
        }
    if (c[1] != '-') key ^= Polyglot[772 + c[1] - 'a'];
    return key;
}

// The sum was taken over the figures in Debian's polyglot source, as little-endian bytes.
static void the_table_is_the_published_one(void) {
    uint32_t crc = 0;
    for (int i = 0; i < POLYGLOT_NUMBERS; i++)
        for (int shift = 0; shift < 64; shift += 8) {
            uint8_t byte = (uint8_t)(Polyglot[i] >> shift);
            crc = crc32_of(crc, &byte, 1);
        }
    TEST_ASSERT_EQUAL_HEX32(0xeb4bc79a, crc);
}

static void the_published_example_keys(void) {
    static const struct {
        const char *moves;
        Key key;
    } examples[] = {
        {"", 0x463b96181691fc9c},
        {"e2e4", 0x823c9b50fd114196},
        {"e2e4 d7d5", 0x0756b94461c50fb0},
        {"e2e4 d7d5 e4e5", 0x662fafb965db29d4},
        {"e2e4 d7d5 e4e5 f7f5", 0x22a48b5a8e47ff78},
        {"e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a607ca3f242c1},
        {"e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fdd303c946bdd9},
        {"a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c8123ea7b067637},
        {"a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f9b829b279560},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        Position pos = play(from(START_FEN), examples[i].moves);
        TEST_ASSERT_EQUAL_HEX64_MESSAGE(examples[i].key, pos.key, examples[i].moves);
        char fen[FEN_SIZE];
        position_to_fen(&pos, fen);
        TEST_ASSERT_EQUAL_HEX64_MESSAGE(examples[i].key, from(fen).key, fen);
    }
}

// Pieces that attack a square, found by walking away from it; blocker tells what was met on the way instead.
static Bitboard walk_attackers(const Position *pos, int square, int by, Bitboard *pins) {
    static const int steps[16][2] = {{0, 1}, {0, -1}, {1, 0},  {-1, 0}, {1, 1},   {1, -1},  {-1, 1}, {-1, -1},
                                     {1, 2}, {2, 1},  {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
    Bitboard found = 0;
    *pins = 0;
    for (int i = 0; i < 16; i++) {
        int shield = NO_SQUARE;
        for (int distance = 1; distance < (i < 8 ? 8 : 2); distance++) {
            int file = square % 8 + distance * steps[i][0], rank = square / 8 + distance * steps[i][1];
            if (file < 0 || file > 7 || rank < 0 || rank > 7) break;
            int piece = pos->board[8 * rank + file], type = piece / 2;
            if (piece == NO_PIECE) continue;
            bool slides = type == QUEEN || type == (i < 4 ? ROOK : BISHOP);
            bool near = distance == 1 &&
                        (type == KING || (type == PAWN && i >= 4 && steps[i][1] == (by ? 1 : -1)));
            bool hits = piece % 2 == by &&
                        (i >= 8 ? type == KNIGHT : slides || (near && shield == NO_SQUARE));
            if (hits && shield == NO_SQUARE) found |= 1ull << (8 * rank + file);
            if (hits && shield != NO_SQUARE && pos->board[shield] % 2 != by) *pins |= 1ull << shield;
            if (shield != NO_SQUARE || hits) break;
            shield = 8 * rank + file;
        }
    }
    return found;
}

static void everything_kept_by_make_is_what_its_definition_says(void) {
    for (uint64_t i = 0; i < 300; i++) {
        Position pos = random_position(21, i, i % 2);
        Move moves[MAX_MOVES];
        int count = movegen(&pos, moves, GEN_ALL);
        for (int m = 0; m < count; m++) {
            Position after;
            position_make(&after, &pos, moves[m]);
            TEST_ASSERT_TRUE(position_ok(&after));
            TEST_ASSERT_EQUAL_HEX64(key_by_definition(&after), after.key);
            Key pawns = 0, others[2] = {0, 0};
            int middle = 0, end = 0;
            for (int square = 0; square < 64; square++) {
                int piece = after.board[square];
                if (piece == NO_PIECE) continue;
                *(piece / 2 == PAWN ? &pawns : &others[piece % 2]) ^= Polyglot[64 * (piece ^ 1) + square];
                middle += packed_mg(psqt_of(piece, square));
                end += packed_eg(psqt_of(piece, square));
            }
            TEST_ASSERT_EQUAL_HEX64(pawns, after.pawn_key);
            TEST_ASSERT_EQUAL_HEX64(others[WHITE], after.non_pawn_key[WHITE]);
            TEST_ASSERT_EQUAL_HEX64(others[BLACK], after.non_pawn_key[BLACK]);
            TEST_ASSERT_EQUAL_INT(middle, packed_mg(after.psq));
            TEST_ASSERT_EQUAL_INT(end, packed_eg(after.psq));
            int king = position_king(&after, after.stm);
            Bitboard pins, checkers = walk_attackers(&after, king, after.stm ^ 1, &pins);
            TEST_ASSERT_EQUAL_HEX64(checkers, after.checkers);
            TEST_ASSERT_EQUAL_HEX64(pins, after.pinned);
        }
    }
}

static void position_ok_sees_every_wrong_field(void) {
    Position good = from("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    TEST_ASSERT_TRUE(position_ok(&good));
#define WRONG(change)                                          \
    do {                                                       \
        Position bad = good;                                   \
        change;                                                \
        TEST_ASSERT_FALSE_MESSAGE(position_ok(&bad), #change); \
    } while (0)
    WRONG(bad.key ^= 1);
    WRONG(bad.pawn_key ^= 1);
    WRONG(bad.non_pawn_key[1] ^= 1);
    WRONG(bad.psq += 1);
    WRONG(bad.checkers ^= 1);
    WRONG(bad.pinned ^= 1);
    WRONG(bad.by_type[PAWN] ^= bb_of(28));
    WRONG(bad.by_colour[WHITE] ^= bb_of(28));
    WRONG(bad.board[28] = NO_PIECE);
    WRONG(bad.castling = 7);
    WRONG(bad.castle_rook[0] = 0);
    WRONG(bad.stm = BLACK);
#undef WRONG
}

static void attackers_are_those_that_a_walk_finds(void) {
    for (uint64_t i = 0; i < 500; i++) {
        Position pos = random_position(22, i, i % 2);
        for (int square = 0; square < SQUARES; square++) {
            Bitboard pins, white = walk_attackers(&pos, square, WHITE, &pins);
            Bitboard black = walk_attackers(&pos, square, BLACK, &pins), occupied = position_occupied(&pos);
            TEST_ASSERT_EQUAL_HEX64(white | black, position_attackers(&pos, square, occupied));
            TEST_ASSERT_EQUAL_INT(white != 0, position_attacked(&pos, WHITE, square, occupied));
            TEST_ASSERT_EQUAL_INT(black != 0, position_attacked(&pos, BLACK, square, occupied));
        }
    }
}

static void gives_check_says_what_making_the_move_shows(void) {
    int checks = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        Position pos = random_position(23, i, i % 2);
        Move moves[MAX_MOVES];
        int count = movegen(&pos, moves, GEN_ALL);
        for (int m = 0; m < count; m++) {
            Position after;
            position_make(&after, &pos, moves[m]);
            TEST_ASSERT_EQUAL_INT(after.checkers != 0, position_gives_check(&pos, moves[m]));
            checks += after.checkers != 0;
        }
    }
    TEST_ASSERT_GREATER_THAN_INT(1000, checks);
    static const char *const special[][2] = {
        {"8/8/8/2k5/2pP4/8/8/4K3 b - d3 0 1", "c4d3"},  // takes en passant, no check
        {"8/8/8/8/k1pP3R/8/8/4K3 w - - 0 1", "h4h3"},   // no check
        {"4k3/8/8/3pP3/8/8/8/4RK2 w - d6 0 1", "e5d6"}, // discovered by leaving the file
        {"8/8/8/k2pP2R/8/8/8/4K3 w - d6 0 1", "e5d6"},  // both pawns leave the rank
        {"7B/8/8/3Pp3/8/8/1k6/4K3 w - e6 0 1", "d5e6"}, // the pawn taken opens the diagonal
        {"5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"},     // castling gives check
        {"3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1"},
        {"8/8/8/8/8/8/8/k3K2R w H - 0 1", "e1h1"},    // along the back rank, over the king's old square
        {"8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e7e8n"}, // promotion to a knight
        {"8/4P3/8/4k3/8/8/8/4K3 w - - 0 1", "e7e8q"},
        {"4k3/4P3/3K4/8/8/8/8/8 w - - 0 1", "d6e6"},
    };
    static const bool expected[] = {false, false, true, true, true, true, true, true, true, true, false};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        Position pos = from(special[i][0]), after;
        Move move = notation_from_uci(&pos, special[i][1]);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, special[i][0]);
        position_make(&after, &pos, move);
        TEST_ASSERT_EQUAL_INT_MESSAGE(expected[i], after.checkers != 0, special[i][0]);
        TEST_ASSERT_EQUAL_INT_MESSAGE(expected[i], position_gives_check(&pos, move), special[i][0]);
    }
}

static void key_after_is_nearly_always_the_key(void) {
    int moves_seen = 0, wrong = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        Position pos = random_position(24, i, i % 2);
        Move moves[MAX_MOVES];
        int count = movegen(&pos, moves, GEN_ALL);
        for (int m = 0; m < count; m++) {
            Position after;
            position_make(&after, &pos, moves[m]);
            bool same = position_key_after(&pos, moves[m]) == after.key;
            bool plain = move_kind(moves[m]) == MOVE_NORMAL && after.castling == pos.castling &&
                         after.ep == NO_SQUARE;
            TEST_ASSERT_TRUE(same || !plain);
            moves_seen++;
            wrong += !same;
        }
    }
    TEST_ASSERT_LESS_THAN_INT(moves_seen / 10, wrong);
}

static void a_null_move_passes_and_forgets_en_passant(void) {
    Position pos = play(from(START_FEN), "e2e4 d7d5 e4e5 f7f5"), after;
    TEST_ASSERT_NOT_EQUAL(NO_SQUARE, pos.ep);
    position_make_null(&after, &pos);
    TEST_ASSERT_TRUE(position_ok(&after));
    TEST_ASSERT_EQUAL_INT(BLACK, after.stm);
    TEST_ASSERT_EQUAL_INT(NO_SQUARE, after.ep);
    TEST_ASSERT_EQUAL_INT(1, after.rule50);
    TEST_ASSERT_EQUAL_HEX64(key_by_definition(&after), after.key);
}

static void the_clocks_saturate(void) {
    Position pos = from("4k3/8/8/8/8/8/8/4K2R w - - 254 9999"), after;
    pos = play(pos, "h1h2 e8e7 h2h1 e7e8");
    TEST_ASSERT_EQUAL_INT(255, pos.rule50);
    TEST_ASSERT_EQUAL_INT(10001, pos.fullmove);
    pos.fullmove = UINT16_MAX;
    pos.stm = BLACK;
    position_rebuild(&pos);
    position_make(&after, &pos, notation_from_uci(&pos, "e8e7"));
    TEST_ASSERT_EQUAL_INT(UINT16_MAX, after.fullmove);
}

// ---- FEN --------------------------------------------------------------------------------------------------

static void fens_come_back_as_they_went_in(void) {
    static const char *const fens[] = {
        START_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 12 34",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        "4rrb1/1kp3b1/1p1p4/pP1Pn2p/5p2/1PR2P2/2P1NB1P/2KR1B2 w D - 0 21",
        "rr6/2kpp3/1ppn2p1/p2b1q1p/P4P1P/1PNN2P1/2PP4/1K2R2R b E - 1 20",
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        "8/8/8/8/8/8/8/K1k5 w - - 255 9999",
    };
    char text[FEN_SIZE];
    for (size_t i = 0; i < sizeof fens / sizeof fens[0]; i++) {
        Position pos = from(fens[i]);
        position_to_fen(&pos, text);
        TEST_ASSERT_EQUAL_STRING(fens[i], text);
    }
    for (uint64_t i = 0; i < 2000; i++) {
        Position pos = random_position(25, i, i % 2);
        position_to_fen(&pos, text);
        Position again = from(text);
        TEST_ASSERT_EQUAL_HEX64(pos.key, again.key);
        TEST_ASSERT_EQUAL_INT(pos.rule50, again.rule50);
        TEST_ASSERT_EQUAL_INT(pos.fullmove, again.fullmove);
        TEST_ASSERT_EQUAL_MEMORY(pos.castle_rook, again.castle_rook, sizeof pos.castle_rook);
        TEST_ASSERT_EQUAL_MEMORY(pos.board, again.board, sizeof pos.board);
    }
}

static void clocks_may_be_missing_and_x_fen_means_the_outer_rook(void) {
    Position pos = from("8/8/8/8/8/8/8/K1k5 w - -");
    TEST_ASSERT_EQUAL_INT(0, pos.rule50);
    TEST_ASSERT_EQUAL_INT(1, pos.fullmove);
    pos = from("  4k3/8/8/8/8/8/8/1RR1KR1R   w  KQ - ");
    TEST_ASSERT_EQUAL_INT(H1, pos.castle_rook[0]);
    TEST_ASSERT_EQUAL_INT(1, pos.castle_rook[1]);
    TEST_ASSERT_TRUE(pos.chess960);
    pos = from("4k3/8/8/8/8/8/8/1RR1KR1R w CF - 0 1");
    TEST_ASSERT_EQUAL_INT(F1, pos.castle_rook[0]);
    TEST_ASSERT_EQUAL_INT(C1, pos.castle_rook[1]);
    TEST_ASSERT_FALSE(from(START_FEN).chess960);
    TEST_ASSERT_EQUAL_INT_MESSAGE(NO_SQUARE,
                                  from("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1").ep,
                                  "no pawn stands beside e4");
}

static void impossible_positions_are_refused_with_a_reason(void) {
    static const struct {
        const char *fen, *reason;
    } cases[] = {
        {"", "board field is missing"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "side to move field is missing"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", "castling field is missing"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq", "en passant field is missing"},
        {"rnbqkbnr/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "7 ranks"},
        {"8/rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", "more than 8 ranks"},
        {"rnbqkbnr/ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "rank 7 has 7 files"},
        {"rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "'9' in the board field"},
        {"rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "rank 7 has more than 8"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQkq - 0 1", "rank 1 has 7 files"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPXPPP/RNBQKBNR w KQkq - 0 1", "'X' in the board field"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1", "side to move \"x\""},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR white KQkq - 0 1", "side to move \"white\""},
        {"rnbq1bnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1", "Black has 0 kings"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKKBNR w - - 0 1", "White has 2 kings"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNP w - - 0 1",
         "White has a pawn on the first or last rank"},
        {"4k3/8/8/8/8/pppp4/ppppp3/4K3 w - - 0 1", "Black has 9 pawns"},
        {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKQNR w KQkq - 0 1", "8 pawns and 1 promoted"},
        {"QQQQQQQQ/QQQ5/8/8/8/8/8/K1k5 w - - 0 1", "0 pawns and 10 promoted"},
        {"4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "Black is in check"},
        {"4k3/8/8/8/8/8/8/3kK3 w - - 0 1", "Black has 2 kings"},
        {"8/8/8/8/8/8/8/3kK3 w - - 0 1", "Black is in check"},
        {"4k3/8/8/8/8/8/8/4K2R w Q - 0 1", "castling right 'Q' without a rook"},
        {"4k3/8/8/8/8/8/8/4K2R w KG - 0 1", "castling right 'G' without a rook"},
        {"4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "castling right 'K' is given twice"},
        {"4k3/8/8/8/8/8/8/4KRR1 w FG - 0 1", "castling right 'G' is given twice"},
        {"4k3/8/8/8/8/8/4K3/7R w K - 0 1", "the king has left"},
        {"4k3/8/8/8/8/8/8/4K2R w Kx - 0 1", "castling \"Kx\""},
        {"4k3/8/8/8/8/8/8/4K2R w K e3 0 1", "passed over the en passant square e3"},
        {"4k3/8/8/8/8/8/8/4K2R w K e6 0 1", "passed over the en passant square e6"},
        {"4k3/4n3/8/4p3/8/8/8/4K2R w K e6 0 1", "passed over the en passant square e6"},
        {"4k3/8/4n3/4p3/8/8/8/4K2R w K e6 0 1", "passed over the en passant square e6"},
        {"4k3/8/8/4p3/8/8/8/4K2R w K e9 0 1", "en passant field \"e9\""},
        {"4k3/8/8/4p3/8/8/8/4K2R w K e66 0 1", "en passant field \"e66\""},
        {"4k3/8/8/8/8/8/8/4K2R w K - -1 1", "half-move clock \"-1\""},
        {"4k3/8/8/8/8/8/8/4K2R w K - 256 1", "half-move clock \"256\""},
        {"4k3/8/8/8/8/8/8/4K2R w K - 0 -5", "move number \"-5\""},
        {"4k3/8/8/8/8/8/8/4K2R w K - 0 99999999999999999999", "move number \"9999"},
        {"4k3/8/8/8/8/8/8/4K2R w K - x 1", "half-move clock \"x\""},
        {"4k3/8/8/8/8/8/8/4K2R w K - 0 1 extra", "after the sixth"},
        {"4k3/8/8/8/1b6/5n2/8/r3K3 w - - 0 1", "more than two pieces give check"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position pos = from(START_FEN), before = pos;
        Error error = {""};
        TEST_ASSERT_FALSE_MESSAGE(position_from_fen(&pos, cases[i].fen, &error), cases[i].fen);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, cases[i].reason), error.text);
        TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&before, &pos, sizeof pos, "a refused FEN may change nothing");
    }
}

// Any text: refused or a sound position, never a crash.
static void mutated_fens_never_give_an_unsound_position(void) {
    static const char letters[] = "PpNnBbRrQqKk12345678/ -wbKQkqABCHabch36e\t\x7f\xff";
    int taken = 0;
    for (uint64_t i = 0; i < 50000; i++) {
        char fen[FEN_SIZE];
        Position pos = random_position(26, i % 50, i % 2);
        position_to_fen(&pos, fen);
        uint64_t length = strlen(fen), edits = 1 + random_below(random_at(27, i, 0), 4);
        for (uint64_t e = 0; e < edits; e++) {
            uint64_t at = random_below(random_at(27, i, 2 * e + 1), length);
            fen[at] = letters[random_below(random_at(27, i, 2 * e + 2), sizeof letters)];
        }
        if (!position_from_fen(&pos, fen, NULL)) continue;
        taken++;
        TEST_ASSERT_TRUE_MESSAGE(position_ok(&pos), fen);
        Move moves[MAX_MOVES];
        int count = movegen(&pos, moves, GEN_ALL);
        TEST_ASSERT_LESS_OR_EQUAL_INT(218, count);
        for (int m = 0; m < count; m++) {
            Position after;
            position_make(&after, &pos, moves[m]);
            TEST_ASSERT_TRUE_MESSAGE(position_ok(&after), fen);
        }
    }
    TEST_ASSERT_GREATER_THAN_INT(500, taken);
}

static void chess960_numbers_follow_the_table(void) {
    static const struct {
        int number;
        const char *rank;
    } known[] = {{518, "RNBQKBNR"}, {0, "BBQNNRKR"}, {959, "RKRNNQBB"}, {534, "RNBKQBNR"}, {1, "BQNBNRKR"}};
    char fen[FEN_SIZE];
    Position pos;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        position_from_chess960(&pos, known[i].number, 518);
        position_to_fen(&pos, fen);
        TEST_ASSERT_EQUAL_STRING_LEN(known[i].rank, strstr(fen, "PPPPPPPP/") + 9, 8);
        TEST_ASSERT_EQUAL_STRING_LEN("rnbqkbnr/", fen, 9);
    }
    static Key keys[960];
    for (int number = 0; number < 960; number++) {
        position_from_chess960(&pos, number, number);
        TEST_ASSERT_TRUE(position_ok(&pos));
        position_to_fen(&pos, fen);
        TEST_ASSERT_EQUAL_HEX64(pos.key, from(fen).key);
        keys[number] = pos.key;
        for (int other = 0; other < number; other++) TEST_ASSERT_TRUE(keys[other] != pos.key);
    }
    position_from_chess960(&pos, 518, 518);
    TEST_ASSERT_EQUAL_HEX64(0x463b96181691fc9c, pos.key);
}

// ---- symmetry ---------------------------------------------------------------------------------------------

static void flipping_twice_gives_the_position_back(void) {
    for (uint64_t i = 0; i < 500; i++) {
        Position pos = random_position(28, i, i % 2), flipped = position_flip(&pos),
                 again = position_flip(&flipped);
        TEST_ASSERT_TRUE(position_ok(&flipped));
        TEST_ASSERT_EQUAL_INT(-pos.psq, flipped.psq);
        TEST_ASSERT_EQUAL_INT(pos.stm ^ 1, flipped.stm);
        TEST_ASSERT_EQUAL_HEX64(pos.key, again.key);
        TEST_ASSERT_EQUAL_MEMORY(pos.board, again.board, sizeof pos.board);
        TEST_ASSERT_EQUAL_INT(bb_count(pos.checkers), bb_count(flipped.checkers));
        TEST_ASSERT_EQUAL_INT(bb_count(pos.pinned), bb_count(flipped.pinned));
        pos.castling = 0;
        position_rebuild(&pos);
        Position mirrored = position_mirror(&pos);
        TEST_ASSERT_TRUE(position_ok(&mirrored));
        mirrored = position_mirror(&mirrored);
        TEST_ASSERT_EQUAL_HEX64(pos.key, mirrored.key);
    }
}

// ---- endings ----------------------------------------------------------------------------------------------

// A position as the repetition rule sees it, in text: board, side, rights, and en passant if a legal move
// uses it.
static void signature(const Position *pos, char *text) {
    MoveList list;
    bool ep = false;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++) ep |= move_kind(list.moves[i]) == MOVE_EN_PASSANT;
    Position copy = *pos;
    copy.rule50 = 0;
    copy.fullmove = 1;
    if (!ep) copy.ep = NO_SQUARE;
    position_to_fen(&copy, text);
}

// Games that shuffle: half of the moves take the player's last one back if that is legal.
static void repetitions_are_counted_as_by_comparing_everything(void) {
    enum { PLIES = 400 };
    static char seen[PLIES + 1][FEN_SIZE];
    int repeated = 0;
    for (uint64_t game = 0; game < 60; game++) {
        Position pos = random_position(29, game, game % 2);
        KeyStack stack;
        Move last[2] = {MOVE_NONE, MOVE_NONE};
        keystack_clear(&stack);
        pos.rule50 = 0; // what came before is not on the stack
        for (int ply = 0; ply < PLIES; ply++) {
            signature(&pos, seen[ply]);
            int expected = 0;
            for (int i = 0; i < ply; i++) expected += !strcmp(seen[i], seen[ply]);
            TEST_ASSERT_EQUAL_INT(expected, keystack_repetitions(&stack, &pos));
            repeated += expected > 0;
            MoveList list;
            movegen_list(&pos, &list);
            if (!list.count || pos.rule50 > 100) break; // beyond that, nobody needs the count
            uint64_t random = random_at(30, game, (uint64_t)ply);
            Move move = list.moves[random_below(random, (uint64_t)list.count)];
            Move back = move_make(move_to(last[pos.stm]), move_from(last[pos.stm]));
            if (random & 1 && last[pos.stm] != MOVE_NONE && movegen_is_legal(&pos, back)) move = back;
            last[pos.stm] = move;
            keystack_push(&stack, &pos);
            Position after;
            position_make(&after, &pos, move);
            pos = after;
        }
    }
    TEST_ASSERT_GREATER_THAN_INT(200, repeated);
}

// Whether the third time is seen as such, given moves from a FEN.
static Ending ending_after(const char *fen, const char *moves) {
    Position pos = from(fen);
    KeyStack stack;
    char word[8];
    keystack_clear(&stack);
    while (text_word(&moves, word, sizeof word)) {
        keystack_push(&stack, &pos);
        Position after;
        Move move = notation_from_uci(&pos, word);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, word);
        position_make(&after, &pos, move);
        pos = after;
    }
    return position_ending(&pos, &stack);
}

static void en_passant_counts_for_repetition_only_if_legal(void) {
    // After e2e4 Black's d4 pawn may take, so the position then is not the one after the shuffles.
    const char *shuffles = "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1";
    TEST_ASSERT_EQUAL_INT(
        ENDING_NONE, ending_after("rnbqkbnr/ppp1pppp/8/8/3p4/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", shuffles));
    // Here taking would leave the king on h4 to the rook on a4: no right, so it is three times the same.
    const char *pinned = "8/8/8/8/R2p3k/8/4P3/K5n1 w - - 0 1";
    TEST_ASSERT_EQUAL_INT(ENDING_REPETITION,
                          ending_after(pinned, "e2e4 g1f3 a1b1 f3g1 b1a1 g1f3 a1b1 f3g1 b1a1"));
    Position pos = play(from(pinned), "e2e4");
    TEST_ASSERT_NOT_EQUAL_MESSAGE(NO_SQUARE, pos.ep, "a pawn stands beside, so Polyglot's key has the file");
    TEST_ASSERT_TRUE(position_repetition_key(&pos) != pos.key);
}

static void the_third_time_is_a_draw_and_the_second_is_not(void) {
    TEST_ASSERT_EQUAL_INT(ENDING_NONE, ending_after(START_FEN, "g1f3 g8f6 f3g1 f6g8"));
    TEST_ASSERT_EQUAL_INT(ENDING_REPETITION,
                          ending_after(START_FEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"));
    // A right lost on the way makes the first position another one.
    TEST_ASSERT_EQUAL_INT(ENDING_NONE, ending_after("r3k3/8/8/8/8/8/8/4K2R w K - 0 1",
                                                    "h1g1 a8b8 g1h1 b8a8 h1g1 a8b8 g1h1 b8a8"));
}

static void a_long_game_does_not_overflow_the_stack(void) {
    Position pos = from("4k3/8/8/8/8/8/8/RN2K3 w - - 0 1");
    KeyStack stack;
    keystack_clear(&stack);
    static const char *const cycle[] = {"b1c3", "e8e7", "c3b1", "e7e8"};
    for (int ply = 0; ply < 3000; ply++) {
        Position after;
        keystack_push(&stack, &pos);
        position_make(&after, &pos, notation_from_uci(&pos, cycle[ply % 4]));
        pos = after;
        TEST_ASSERT_TRUE(stack.count > 0 && stack.count <= 256);
        if (ply < 300) continue;
        TEST_ASSERT_GREATER_THAN_INT(20, keystack_repetitions(&stack, &pos));
    }
}

static void fifty_moves_draw_unless_the_last_one_mates(void) {
    TEST_ASSERT_EQUAL_INT(ENDING_NONE, ending_after("7k/8/6K1/8/8/8/8/R7 w - - 98 80", "a1b1"));
    TEST_ASSERT_EQUAL_INT(ENDING_FIFTY, ending_after("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1b1"));
    TEST_ASSERT_EQUAL_INT(ENDING_CHECKMATE, ending_after("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8"));
    TEST_ASSERT_EQUAL_INT(ENDING_NONE, ending_after("7k/8/6K1/8/8/8/P7/R7 w - - 99 80", "a2a3"));
    TEST_ASSERT_EQUAL_INT(ENDING_STALEMATE, ending_after("7k/8/8/6Q1/8/8/8/K7 w - - 99 80", "g5g6"));
}

static void material_that_cannot_mate(void) {
    static const struct {
        const char *men;
        bool drawn;
    } cases[] = {
        {"8/8/8/8/8/8/8/K1k5 w - - 0 1", true},      {"8/8/8/8/8/8/8/KNk5 b - - 0 1", true},
        {"8/8/8/8/8/8/8/KBk5 b - - 0 1", true},      {"8/8/8/8/8/5b2/8/KBk5 b - - 0 1", true},
        {"8/8/8/8/8/4b3/8/KBk5 b - - 0 1", false},   {"8/8/8/3B4/8/5B2/8/KBk5 b - - 0 1", true},
        {"8/8/8/4B3/8/5B2/8/K1k5 b - - 0 1", false}, {"8/8/8/8/8/5N2/8/KNk5 b - - 0 1", false},
        {"8/8/8/8/8/5n2/8/KNk5 b - - 0 1", false},   {"8/8/8/8/8/5n2/8/KBk5 b - - 0 1", false},
        {"8/8/8/8/8/P7/8/K1k5 w - - 0 1", false},    {"8/8/8/8/8/R7/8/K1k5 w - - 0 1", false},
        {"8/8/8/8/8/q7/8/3K1k2 w - - 0 1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position pos = from(cases[i].men), flipped = position_flip(&pos);
        TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].drawn, position_insufficient(&pos), cases[i].men);
        TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].drawn, position_insufficient(&flipped), cases[i].men);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_table_is_the_published_one);
    RUN_TEST(the_published_example_keys);
    RUN_TEST(everything_kept_by_make_is_what_its_definition_says);
    RUN_TEST(position_ok_sees_every_wrong_field);
    RUN_TEST(attackers_are_those_that_a_walk_finds);
    RUN_TEST(gives_check_says_what_making_the_move_shows);
    RUN_TEST(key_after_is_nearly_always_the_key);
    RUN_TEST(a_null_move_passes_and_forgets_en_passant);
    RUN_TEST(the_clocks_saturate);
    RUN_TEST(fens_come_back_as_they_went_in);
    RUN_TEST(clocks_may_be_missing_and_x_fen_means_the_outer_rook);
    RUN_TEST(impossible_positions_are_refused_with_a_reason);
    RUN_TEST(mutated_fens_never_give_an_unsound_position);
    RUN_TEST(chess960_numbers_follow_the_table);
    RUN_TEST(flipping_twice_gives_the_position_back);
    RUN_TEST(repetitions_are_counted_as_by_comparing_everything);
    RUN_TEST(en_passant_counts_for_repetition_only_if_legal);
    RUN_TEST(the_third_time_is_a_draw_and_the_second_is_not);
    RUN_TEST(a_long_game_does_not_overflow_the_stack);
    RUN_TEST(fifty_moves_draw_unless_the_last_one_mates);
    RUN_TEST(material_that_cannot_mate);
    return UNITY_END();
}
