// SPDX-License-Identifier: GPL-3.0-or-later
// engine/notation: every legal move of random positions there and back in UCI and SAN; SAN texts known by
// hand; both castling styles; texts that name no move.
#include "engine/notation.h"

#include <string.h>

#include "engine/movegen.h"
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

static void every_move_goes_there_and_back(void) {
    for (uint64_t i = 0; i < 400; i++) {
        Position pos = random_position(41, i, i % 2);
        static char sans[MAX_MOVES][SAN_SIZE];
        MoveList list;
        movegen_list(&pos, &list);
        for (int m = 0; m < list.count; m++) {
            char uci[UCI_SIZE], lan[SAN_SIZE];
            notation_to_uci(&pos, list.moves[m], uci);
            notation_to_san(&pos, list.moves[m], sans[m]);
            notation_to_lan(&pos, list.moves[m], lan);
            TEST_ASSERT_LESS_THAN(UCI_SIZE, strlen(uci));
            TEST_ASSERT_LESS_THAN(SAN_SIZE, strlen(sans[m]));
            TEST_ASSERT_EQUAL_HEX16_MESSAGE(list.moves[m], notation_from_uci(&pos, uci), uci);
            TEST_ASSERT_EQUAL_HEX16_MESSAGE(list.moves[m], notation_from_san(&pos, sans[m]), sans[m]);
            TEST_ASSERT_EQUAL_HEX16_MESSAGE(list.moves[m], notation_from_san(&pos, lan), lan);
            for (int other = 0; other < m; other++) TEST_ASSERT_TRUE(strcmp(sans[m], sans[other]) != 0);
        }
    }
}

static void san_is_as_short_as_it_can_be(void) {
    for (uint64_t i = 0; i < 200; i++) {
        Position pos = random_position(42, i, i % 2);
        MoveList list;
        movegen_list(&pos, &list);
        for (int m = 0; m < list.count; m++) {
            char san[SAN_SIZE];
            notation_to_san(&pos, list.moves[m], san);
            if (!strchr("NBRQ", san[0])) continue;
            // With its origin written, taking the origin out must make it ambiguous.
            char *to = san + strlen(san) - 1;
            while (*to < '1' || *to > '8') to--;
            char *target = to - 1;
            bool takes = target[-1] == 'x';
            char *end = target - takes;
            if (end - san == 1) continue;
            char shorter[SAN_SIZE] = {san[0]};
            strcat(shorter, end);
            TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_san(&pos, shorter), san);
        }
    }
}

static void san_known_by_hand(void) {
    static const struct {
        const char *fen, *uci, *san, *lan;
    } cases[] = {
        {START_FEN, "e2e4", "e4", "e2-e4"},
        {START_FEN, "g1f3", "Nf3", "Ng1-f3"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O", "O-O"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "O-O-O", "O-O-O"},
        {"5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+", "O-O+"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "a1a8", "Rxa8+", "Ra1xa8+"},
        {"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6", "e5xd6"},
        {"1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", "axb8=Q+", "a7xb8=Q+"},
        {"1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a8=N", "a7-a8=N"},
        {"4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1", "Ra1-d1"},     // by file
        {"4k3/8/8/8/R7/8/8/R3K3 w - - 0 1", "a1a3", "R1a3", "Ra1-a3"},     // by rank
        {"2k5/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1", "Qh4-e1"},   // by both
        {"4k3/8/8/1b6/8/2N3N1/8/4K3 w - - 0 1", "c3e2", "Nce2", "Nc3-e2"}, // both may go
        {"4k3/8/8/8/1b6/2N3N1/8/4K3 w - - 0 1", "g3e2", "Ne2", "Ng3-e2"},  // the other knight is pinned
        {"6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", "Ra8#", "Ra1-a8#"},
        {"7k/8/8/6Q1/8/8/8/K7 w - - 0 1", "g5g6", "Qg6", "Qg5-g6"}, // stalemate has no sign
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position pos = from(cases[i].fen);
        char text[SAN_SIZE];
        Move move = notation_from_uci(&pos, cases[i].uci);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, cases[i].san);
        notation_to_san(&pos, move, text);
        TEST_ASSERT_EQUAL_STRING(cases[i].san, text);
        notation_to_lan(&pos, move, text);
        TEST_ASSERT_EQUAL_STRING(cases[i].lan, text);
        notation_to_uci(&pos, move, text);
        TEST_ASSERT_EQUAL_STRING(cases[i].uci, text);
    }
}

static void san_is_read_forgivingly(void) {
    static const struct {
        const char *fen, *text, *uci;
    } cases[] = {
        {START_FEN, "Ng1f3", "g1f3"},
        {START_FEN, "Nf3!?", "g1f3"},
        {START_FEN, "Pe4", "e2e4"},
        {START_FEN, "e2e4", "e2e4"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0-0", "e1g1"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O-O!", "e1c1"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0-0-0+", "e1c1"},
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "Ra8", "a1a8"},   // x and + left out
        {"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "R:a8#", "a1a8"}, // wrong sign
        {"1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "ab8Q", "a7b8q"},
        {"1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "axb8(N)", "a7b8n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position pos = from(cases[i].fen);
        char uci[UCI_SIZE];
        notation_to_uci(&pos, notation_from_san(&pos, cases[i].text), uci);
        TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].uci, uci, cases[i].text);
    }
}

static void texts_that_name_no_move(void) {
    static const char *const sans[] = {"",       "e5",   "Nd4",  "O-O",  "O-O-O", "O",    "O-O-O-O", "0-0x",
                                       "Ke2",    "exd3", "e4=Q", "N",    "Nf",    "Nf33", "e9",      "i4",
                                       "e4e5e6", "+",    "x",    "e4Qx", "--",    "Z0",   "bb"};
    static const char *const ucis[] = {"",      "0000",  "e2e5", "e1g1", "e1h1", "e7e5", "e2e4q",
                                       "e2e4 ", "e2-e4", "a1a1", "b1b1", "e2",   "xxxx", "e2e4e2e4e2e4"};
    Position pos = from(START_FEN);
    for (size_t i = 0; i < sizeof sans / sizeof sans[0]; i++)
        TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_san(&pos, sans[i]), sans[i]);
    for (size_t i = 0; i < sizeof ucis / sizeof ucis[0]; i++)
        TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_uci(&pos, ucis[i]), ucis[i]);
    pos = from("4k3/P7/8/8/8/8/8/4K3 w - - 0 1");
    TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_uci(&pos, "a7a8"), "promotes to what?");
    TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_uci(&pos, "a7a8k"), "not to a king");
    TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_san(&pos, "a8"), "promotes to what?");
    pos = from("4k3/8/8/8/8/8/4K3/R6R w - - 0 1");
    TEST_ASSERT_EQUAL_HEX16_MESSAGE(MOVE_NONE, notation_from_san(&pos, "Rd1"), "which rook?");
}

// Every text that looks like a move, against the names of the legal moves: those in the position's style first, then
// castling in the other one.
static void every_text_is_read_as_the_move_of_that_name(void) {
    static const char *const fens[] = {
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/p2pqpb1/bn2pnp1/2pPN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq c6 0 2",
        "n1n1k3/PPP5/8/8/8/8/ppp5/N1N1K3 b - - 0 1",
        "4k3/8/8/8/8/8/8/1RK2R2 w BF - 0 1",
        "1rk2r2/8/8/8/8/8/8/4K3 b bf - 0 1",
        "4k3/8/8/8/8/8/8/R4K1R w AH - 0 1",
        "8/8/8/2k5/3Pp3/8/8/4K2Q b - d3 0 1",
    };
    for (size_t f = 0; f < sizeof fens / sizeof fens[0]; f++) {
        Position pos = from(fens[f]), other = pos;
        other.chess960 = !pos.chess960;
        MoveList list;
        movegen_list(&pos, &list);
        for (int code = 0; code < 64 * 64 * 7; code++) {
            char text[UCI_SIZE], name[UCI_SIZE];
            notation_square(code / 7 / 64, text);
            notation_square(code / 7 % 64, text + 2);
            text[4] = "\0nbrqkp"[code % 7];
            text[5] = '\0';
            Move wanted = MOVE_NONE;
            for (int pass = 0; pass < 2 && wanted == MOVE_NONE; pass++)
                for (int i = 0; i < list.count && wanted == MOVE_NONE; i++) {
                    notation_to_uci(pass ? &other : &pos, list.moves[i], name);
                    if (strcmp(name, text) == 0) wanted = list.moves[i];
                }
            TEST_ASSERT_EQUAL_HEX16_MESSAGE(wanted, notation_from_uci(&pos, text), text);
        }
    }
}

// Any bytes: no crash, and whatever is found is legal.
static void random_texts_give_legal_moves_or_none(void) {
    static const char letters[] = "abcdefgh12345678NBRQKPOo0x-=+#!?()";
    Position pos = from("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    for (uint64_t i = 0; i < 20000; i++) {
        char text[10] = {0};
        uint64_t length = 1 + random_below(random_at(43, i, 0), 8);
        for (uint64_t c = 0; c < length; c++)
            text[c] = letters[random_below(random_at(43, i, c + 1), sizeof letters - 1)];
        Move san = notation_from_san(&pos, text), uci = notation_from_uci(&pos, text);
        TEST_ASSERT_TRUE(san == MOVE_NONE || movegen_is_legal(&pos, san));
        TEST_ASSERT_TRUE(uci == MOVE_NONE || movegen_is_legal(&pos, uci));
    }
}

static void castling_is_understood_in_both_styles(void) {
    Position pos = from("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    Move castling = move_make_kind(E1, H1, MOVE_CASTLING);
    char text[UCI_SIZE];
    TEST_ASSERT_EQUAL_HEX16(castling, notation_from_uci(&pos, "e1g1"));
    TEST_ASSERT_EQUAL_HEX16(castling, notation_from_uci(&pos, "e1h1"));
    notation_to_uci(&pos, castling, text);
    TEST_ASSERT_EQUAL_STRING("e1g1", text);
    // A line of moves is written with its first position: the other side castles on its own rank.
    notation_to_uci(&pos, move_make_kind(E1 ^ 56, H1 ^ 56, MOVE_CASTLING), text);
    TEST_ASSERT_EQUAL_STRING("e8g8", text);
    notation_to_uci(&pos, move_make_kind(E1 ^ 56, A1 ^ 56, MOVE_CASTLING), text);
    TEST_ASSERT_EQUAL_STRING("e8c8", text);
    pos.chess960 = true;
    TEST_ASSERT_EQUAL_HEX16(castling, notation_from_uci(&pos, "e1h1"));
    TEST_ASSERT_EQUAL_HEX16(castling, notation_from_uci(&pos, "e1g1"));
    notation_to_uci(&pos, castling, text);
    TEST_ASSERT_EQUAL_STRING("e1h1", text);
    // A king one step from its castling square: the step is the step.
    pos = from("4k3/8/8/8/8/8/8/5K1R w H - 0 1");
    TEST_ASSERT_EQUAL_HEX16(move_make(F1, G1), notation_from_uci(&pos, "f1g1"));
    TEST_ASSERT_EQUAL_HEX16(move_make_kind(F1, H1, MOVE_CASTLING), notation_from_uci(&pos, "f1h1"));
}

static void squares_and_no_move(void) {
    char text[UCI_SIZE];
    Position pos = from(START_FEN);
    notation_square(A1, text);
    TEST_ASSERT_EQUAL_STRING("a1", text);
    notation_square(H8, text);
    TEST_ASSERT_EQUAL_STRING("h8", text);
    notation_square(NO_SQUARE, text);
    TEST_ASSERT_EQUAL_STRING("-", text);
    notation_to_uci(&pos, MOVE_NONE, text);
    TEST_ASSERT_EQUAL_STRING("0000", text);
    notation_to_uci(&pos, MOVE_NULL, text);
    TEST_ASSERT_EQUAL_STRING("0000", text);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_move_goes_there_and_back);
    RUN_TEST(san_is_as_short_as_it_can_be);
    RUN_TEST(san_known_by_hand);
    RUN_TEST(san_is_read_forgivingly);
    RUN_TEST(texts_that_name_no_move);
    RUN_TEST(every_text_is_read_as_the_move_of_that_name);
    RUN_TEST(random_texts_give_legal_moves_or_none);
    RUN_TEST(castling_is_understood_in_both_styles);
    RUN_TEST(squares_and_no_move);
    return UNITY_END();
}
