// SPDX-License-Identifier: GPL-3.0-or-later
// openings/pgn: what files in the wild contain is read, faults are named with file and line, and what is
// written is what fastchess writes and what the reader reads again.
#include "openings/pgn.h"

#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "unity.h"

static PgnGame game;
static PgnReader reader;
static Error error;

void setUp(void) {
    pgn_game_init(&game);
    error.text[0] = '\0';
}
void tearDown(void) { pgn_game_free(&game); }

static void begin(const char *text) {
    pgn_reader_init(&reader, "x.pgn", text, strlen(text));
    reader.keep_comments = true;
}

static PgnStatus next(void) { return pgn_read(&reader, &game, &error); }

// The moves as UCI words.
static const char *moves(char *buffer, size_t size) {
    Position pos = game.start, after;
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < game.move_count; i++) {
        char uci[UCI_SIZE];
        notation_to_uci(&pos, game.moves[i].move, uci);
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? " " : "", uci);
        position_make(&after, &pos, game.moves[i].move);
        pos = after;
    }
    return buffer;
}

static void expect_moves(const char *expected) {
    char buffer[4096];
    TEST_ASSERT_EQUAL_STRING(expected, moves(buffer, sizeof buffer));
}

static void expect_bad(const char *text, const char *reason) {
    begin(text);
    TEST_ASSERT_EQUAL_INT_MESSAGE(PGN_BAD, next(), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
}

static void a_plain_game(void) {
    begin("[Event \"A\"]\n[White \"x \\\"y\\\" \\\\\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. "
          "O-O 1-0\n");
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    TEST_ASSERT_EQUAL_STRING("A", pgn_game_tag(&game, "Event"));
    TEST_ASSERT_EQUAL_STRING("x \"y\" \\", pgn_game_tag(&game, "White"));
    TEST_ASSERT_NULL(pgn_game_tag(&game, "Black"));
    TEST_ASSERT_EQUAL_INT(PGN_WHITE_WINS, game.result);
    expect_moves("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1");
    TEST_ASSERT_EQUAL_INT(PGN_END, next());
}

static void everything_that_is_no_move_is_passed_over(void) {
    begin("\xef\xbb\xbf% an escaped line 1. d4\r\n[ Event  \"B \"q\" end\" ]\r\n[Round \"?\"] [Date "
          "\"2024.??.??\"]\r\n\r\n"
          "{before} 1.e4! {a\n  b} $1 (1. d4 d5 (1... Nf6 {( ;} ) 2. c4) ; rest of line ) }\n 1... e5?? $142 "
          "<reserved> 2 . Nf3"
          "\n%2. Qh5\n 2...Nc6!? 3 Bc4 ({x}) d6 4.exd6 e.p. 0-1");
    // 4.exd6 is no legal move: the pawn stands on e4. It is the fault to be named.
    TEST_ASSERT_EQUAL_INT(PGN_BAD, next());
    TEST_ASSERT_EQUAL_STRING("x.pgn:9: no legal move for White at move 4: 'exd6'", error.text);
    expect_moves("e2e4 e7e5 g1f3 b8c6 f1c4 d7d6");
    TEST_ASSERT_EQUAL_STRING("B \"q\" end", pgn_game_tag(&game, "Event"));
    TEST_ASSERT_EQUAL_STRING("2024.??.??", pgn_game_tag(&game, "Date"));
    TEST_ASSERT_EQUAL_STRING("before", pgn_text(&game, game.comment));
    TEST_ASSERT_EQUAL_STRING("a b rest of line ) }", pgn_text(&game, game.moves[0].comment));
    TEST_ASSERT_EQUAL_INT(PGN_END, next());
    begin("1. e4 a6 2. e5 d5 3. exd6 e.p. cxd6 1/2-1/2");
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("e2e4 a7a6 e4e5 d7d5 e5d6 c7d6");
    TEST_ASSERT_EQUAL_INT(PGN_DRAW, game.result);
}

static void long_and_uci_moves_and_zeros_are_read(void) {
    begin("1. e2-e4 d7d5 2. e4xd5 Ng8-f6 3. g1f3 Nf6xd5 4. Bf1e2 e7e6 5. 0-0 *");
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("e2e4 d7d5 e4d5 g8f6 g1f3 f6d5 f1e2 e7e6 e1g1");
    begin("[FEN \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"]\n\na7a8n *");
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("a7a8n");
}

static void chess960_by_tags(void) {
    begin("[Variant \"fischerandom\"]\n[FEN \"1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w KQkq - 0 "
          "1\"]\n[SetUp \"1\"]\n\n1. O-O-O O-O *");
    TEST_ASSERT_EQUAL_INT_MESSAGE(PGN_GAME, next(), error.text);
    TEST_ASSERT_TRUE(game.start.chess960);
    expect_moves("c1b1 c8g8");
    expect_bad("[Variant \"Atomic\"]\n\n1. e4 *", "variant that Hone does not play: 'Atomic'");
}

static void games_without_end_or_movetext(void) {
    begin("[Event \"1\"]\n\n1. e4\n\n[Event \"2\"]\n[Result \"0-1\"]\n\n[Event \"3\"]\n\n*\n\n1. d4 1-0 1. "
          "c4 *");
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("e2e4");
    TEST_ASSERT_EQUAL_INT(PGN_UNKNOWN, game.result);
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    TEST_ASSERT_EQUAL_STRING("2", pgn_game_tag(&game, "Event"));
    TEST_ASSERT_EQUAL_INT(PGN_BLACK_WINS, game.result);
    TEST_ASSERT_EQUAL_INT(0, game.move_count);
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    TEST_ASSERT_EQUAL_STRING("3", pgn_game_tag(&game, "Event"));
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("d2d4");
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("c2c4");
    TEST_ASSERT_EQUAL_INT(PGN_END, next());
    begin("");
    TEST_ASSERT_EQUAL_INT(PGN_END, next());
    begin(" \n{only a comment}\n; and another");
    TEST_ASSERT_EQUAL_INT(PGN_END, next());
}

static void faults_are_named_and_the_next_game_is_read(void) {
    static const char *const Bad[] = {
        "1. e4 e5 2. Ke3 1-0\n\n",
        "[Event \"x\"]\n[Broken value]\n[White \"w\"]\n\n1. e4 e5 1-0\n\n",
        "[Event \"x\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 {1-0} 1-0\n\n",
        "[Event \"x\"]\n[White \"not closed]\n\n1. e4 1-0\n\n",
        "[Event \"x\"]\n\n1. e4 {no end 1-0\n\n",
        "[Event \"x\"]\n\n1. e4 (1. d4 1-0\n\n",
        "[Event \"x\"]\n\n1. e4 \xe2\x99\x9e Nf6 1-0\n\n",
        "[Event \"x\"]\n\n1. e4 -- 2. d4 1-0\n\n",
        "[Event \"x\"]\n\n1. e4 ) 2. d4 1-0\n\n",
        "[Event \"x\"]\n[FEN \"nonsense\"]\n",
    };
    static const char *const Reasons[] = {
        "x.pgn:1: no legal move for White at move 2: 'Ke3'",
        "x.pgn:2: a tag is not",
        "x.pgn:1: FEN tag: ",
        "x.pgn:2: the value",
        "x.pgn:3: the comment that begins here",
        "x.pgn:3: the variation",
        "x.pgn:3: this character",
        "move 1: '--'",
        "x.pgn:3: this character has no place in a game: ')'",
        "FEN tag",
    };
    char text[1024];
    for (size_t i = 0; i < sizeof Bad / sizeof *Bad; i++) {
        snprintf(text, sizeof text, "%s[Event \"good\"]\n[Result \"*\"]\n\n1. d4 d5 *\n", Bad[i]);
        expect_bad(text, Reasons[i]);
        TEST_ASSERT_EQUAL_INT_MESSAGE(PGN_GAME, next(), Bad[i]);
        TEST_ASSERT_EQUAL_STRING("good", pgn_game_tag(&game, "Event"));
        expect_moves("d2d4 d7d5");
        TEST_ASSERT_EQUAL_INT(PGN_END, next());
    }
}

// Found by the fuzzer: a word of a comment that looks like a tag must not end it when a line begins with it.
static void a_tag_within_a_comment_is_text(void) {
    begin("1. e4 {a\n[Event \"} e5 1-0\n");
    TEST_ASSERT_EQUAL_INT_MESSAGE(PGN_GAME, next(), error.text);
    expect_moves("e2e4 e7e5");
    begin("1. e4 {not closed\r\n\r\n[Event \"2\"]\r\n\r\n1. d4 *\r\n");
    TEST_ASSERT_EQUAL_INT(PGN_BAD, next());
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("d2d4");
}

static void plies_beyond_the_limit_are_not_looked_at(void) {
    begin("1. e4 e5 2. Nf3 nonsense Zz9 1-0\n1. d4 *");
    reader.max_plies = 3;
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("e2e4 e7e5 g1f3");
    TEST_ASSERT_EQUAL_INT(PGN_WHITE_WINS, game.result);
    TEST_ASSERT_EQUAL_INT(PGN_GAME, next());
    expect_moves("d2d4");
}

// A game played by the test: moves in UCI, each with a comment.
static void play(const char *text, const char *comment) {
    Position pos = game.start, after;
    char word[UCI_SIZE];
    while (text_word(&text, word, sizeof word)) {
        Move move = notation_from_uci(&pos, word);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, word);
        TEST_ASSERT_TRUE(pgn_game_add_move(&game, move, comment));
        position_make(&after, &pos, move);
        pos = after;
    }
}

static char *written(PgnStyle style) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    TEST_ASSERT_TRUE_MESSAGE(pgn_write(out, &game, style, &error), error.text);
    fclose(out);
    return text;
}

static void set_tags(void) {
    static const char *const Tags[][2] = {
        {"Opening", "x"},
        {"TimeControl", "8+0.08"},
        {"Custom", "kept"},
        {"PlyCount", "4"},
        {"Black", "B\"q\\"},
        {"White", "A"},
        {"Event", "E"},
        {"Round", "7"},
        {"Termination", "normal"},
    };
    for (size_t i = 0; i < sizeof Tags / sizeof *Tags; i++) pgn_game_set_tag(&game, Tags[i][0], Tags[i][1]);
    pgn_game_set_tag(&game, "Round", "8");
    game.result = PGN_BLACK_WINS;
}

static void tags_come_in_fastchess_order_whatever_order_they_were_set(void) {
    set_tags();
    play("f2f3 e7e5 g2g4 d8h4", "+0.25/12 0.103s");
    pgn_game_add_comment(&game, "Black mates }");
    char *text = written((PgnStyle){PGN_SAN, false});
    TEST_ASSERT_EQUAL_STRING(
        "[Event \"E\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"8\"]\n[White \"A\"]\n[Black "
        "\"B\\\"q\\\\\"]\n"
        "[Result \"0-1\"]\n[PlyCount \"4\"]\n[Termination \"normal\"]\n[TimeControl \"8+0.08\"]\n"
        "[Opening \"x\"]\n[Custom \"kept\"]\n\n"
        "1. f3 {+0.25/12 0.103s} e5 {+0.25/12 0.103s} 2. g4 {+0.25/12 0.103s} Qh4#\n"
        "{+0.25/12 0.103s Black mates )} 0-1\n\n",
        text);
    free(text);
    text = written((PgnStyle){PGN_LAN, true});
    TEST_ASSERT_EQUAL_STRING("[Event \"E\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"8\"]\n[White "
                             "\"A\"]\n[Black \"B\\\"q\\\\\"]\n"
                             "[Result \"0-1\"]\n\n1. f2-f3 e7-e5 2. g2-g4 Qd8-h4# 0-1\n\n",
                             text);
    free(text);
}

static void a_game_from_a_black_chess960_position_has_its_tags(void) {
    position_from_fen(&game.start, "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 b GBgb - 3 20", NULL);
    play("c8g8 c1b1", NULL);
    char *text = written((PgnStyle){PGN_UCI, true});
    TEST_ASSERT_EQUAL_STRING(
        "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"?\"]\n[Black \"?\"]\n"
        "[Result \"*\"]\n[FEN \"1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 b GBgb - 3 20\"]\n[Variant "
        "\"Chess960\"]\n\n"
        "20... c8g8 21. c1b1 *\n\n",
        text);
    free(text);
}

static void random_games_survive_writing_and_reading_in_all_notations(void) {
    for (uint64_t number = 0; number < 60; number++) {
        pgn_game_clear(&game);
        if (number % 3 == 1)
            position_from_chess960(&game.start, (int)(number * 7 % 960), (int)(number * 31 % 960));
        if (number % 3 == 2) position_from_fen(&game.start, "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", NULL);
        Position pos = game.start, after;
        for (uint64_t ply = 0; ply < 150; ply++) {
            MoveList list;
            movegen_list(&pos, &list);
            if (list.count == 0) break;
            Move move = list.moves[random_below(random_at(1, number, ply), (uint64_t)list.count)];
            char comment[200];
            snprintf(comment, sizeof comment, "+1.%02d/9 0.001s, n=%d, pv=\"e2e4 [%%clk ; ( %c\"", (int)ply,
                     (int)number, 'a' + (int)ply % 26);
            pgn_game_add_move(&game, move, ply % 5 ? comment : NULL);
            position_make(&after, &pos, move);
            pos = after;
        }
        game.result = (PgnResult)(number % 4);
        static char before[4096], again[4096];
        char *text = written((PgnStyle){(PgnNotation)(number / 3 % 3), false});
        for (const char *line = text; *line;) {
            size_t length = strcspn(line, "\n");
            if (*line != '[') TEST_ASSERT_LESS_OR_EQUAL_UINT(80, length);
            line += length + 1;
        }
        moves(before, sizeof before);
        PgnGame first = game;
        pgn_game_init(&game);
        begin(text);
        TEST_ASSERT_EQUAL_INT_MESSAGE(PGN_GAME, next(), error.text);
        TEST_ASSERT_EQUAL_STRING(before, moves(again, sizeof again));
        TEST_ASSERT_EQUAL_INT(first.result, game.result);
        TEST_ASSERT_EQUAL_HEX64(first.start.key, game.start.key);
        TEST_ASSERT_EQUAL_INT(first.start.chess960, game.start.chess960);
        for (int i = 0; i < game.move_count; i++)
            TEST_ASSERT_EQUAL_STRING(pgn_text(&first, first.moves[i].comment),
                                     pgn_text(&game, game.moves[i].comment));
        TEST_ASSERT_EQUAL_INT(PGN_END, next());
        pgn_game_free(&first);
        free(text);
    }
}

static void hostile_text_takes_linear_time(void) {
    // A quarter of a megabyte of each: a quadratic reader would not come back within the time limit of the runner.
    static const char *const Patterns[] = {
        "{", "(", "[", "[a \"", ";\n", "{}", "$", "1.", "*", "[Event \"x\"]\n", "e4 ", "<", "\"", "(1. e4 {"};
    enum { SIZE = 1 << 18 };
    char *text = malloc(SIZE + 1);
    for (size_t p = 0; p < sizeof Patterns / sizeof *Patterns; p++) {
        size_t length = strlen(Patterns[p]);
        for (size_t i = 0; i < SIZE; i++) text[i] = Patterns[p][i % length];
        text[SIZE] = '\0';
        begin(text);
        int64_t start = now_ms();
        while (next() != PGN_END)
            if (now_ms() - start > 20000) TEST_FAIL_MESSAGE(Patterns[p]);
    }
    free(text);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_plain_game);
    RUN_TEST(everything_that_is_no_move_is_passed_over);
    RUN_TEST(long_and_uci_moves_and_zeros_are_read);
    RUN_TEST(chess960_by_tags);
    RUN_TEST(games_without_end_or_movetext);
    RUN_TEST(faults_are_named_and_the_next_game_is_read);
    RUN_TEST(a_tag_within_a_comment_is_text);
    RUN_TEST(plies_beyond_the_limit_are_not_looked_at);
    RUN_TEST(tags_come_in_fastchess_order_whatever_order_they_were_set);
    RUN_TEST(a_game_from_a_black_chess960_position_has_its_tags);
    RUN_TEST(random_games_survive_writing_and_reading_in_all_notations);
    RUN_TEST(hostile_text_takes_linear_time);
    return UNITY_END();
}
