// SPDX-License-Identifier: GPL-3.0-or-later
// engine/uci and the program `hone`, driven over pipes as a GUI would: every command, at every wrong moment,
// with every wrong argument. Times are generous (a busy machine, sanitizers); order is what is checked.
#include "engine/uci.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/bench.h"
#include "tests/dialogue.h"
#include "unity.h"

enum { PATIENCE = 30000, WHILE = 300 }; // milliseconds: before giving up; to see that nothing comes

#define MATE_IN_2 "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"
#define MATED "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
#define STALEMATE "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
#define ONE_MOVE "7k/8/8/8/8/8/r7/K7 w - - 0 1"

static char Program[512];

void setUp(void) {}
void tearDown(void) {}

static Dialogue start(void) { return dialogue_start((char *[]){Program, NULL}); }

// Asks isready, and lets everything before the answer pass.
static void settle(Dialogue *d) {
    dialogue_send(d, "isready");
    TEST_ASSERT_NOT_NULL_MESSAGE(dialogue_until(d, "readyok", PATIENCE), "no readyok");
}

static const char *bestmove(Dialogue *d) {
    const char *line = dialogue_until(d, "bestmove", PATIENCE);
    TEST_ASSERT_NOT_NULL_MESSAGE(line, "no bestmove");
    return line;
}

// The move of a bestmove line, in a buffer of the caller.
static char *move_of(const char *line, char *buffer) {
    TEST_ASSERT_EQUAL_INT(1, sscanf(line, "bestmove %7s", buffer));
    return buffer;
}

static void quit(Dialogue *d) {
    dialogue_send(d, "quit");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, dialogue_end(d, PATIENCE),
                                  "the program must end by itself, with status 0");
}

// The number behind a word of an info line, or -1.
static int64_t field(const char *line, const char *name) {
    char key[32];
    snprintf(key, sizeof key, " %s ", name);
    const char *at = strstr(line, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

// --- the handshake and options --------------------------------------------------------------------

static void uci_lists_options_and_takes_back_every_default(void) {
    Dialogue d = start();
    TEST_ASSERT_NULL_MESSAGE(dialogue_line(&d, WHILE), "nothing is said before `uci`");
    dialogue_send(&d, "uci");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "id name Hone", PATIENCE));
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "id author ", PATIENCE));
    char name[64][80], value[64][80];
    int count = 0, seen = 0;
    const char *line;
    while ((line = dialogue_line(&d, PATIENCE)) && strcmp(line, "uciok") != 0) {
        const char *type = strstr(line, " type ");
        TEST_ASSERT_TRUE_MESSAGE(strncmp(line, "option name ", 12) == 0 && type, line);
        seen++;
        const char *standard = strstr(type, " default ");
        if (!standard || count == 64) continue;
        snprintf(name[count], sizeof *name, "%.*s", (int)(type - line - 12), line + 12);
        snprintf(value[count++], sizeof *value, "%.*s", (int)strcspn(standard + 9, " "), standard + 9);
    }
    TEST_ASSERT_NOT_NULL(line);
    TEST_ASSERT_EQUAL_INT(engine_option_count(), seen);
    for (int i = 0; i < count; i++) dialogue_send(&d, "setoption name %s value %s", name[i], value[i]);
    settle(&d);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, d.strings, d.line);
    quit(&d);
}

static void setoption_says_what_it_refuses_and_keeps_the_old_value(void) {
    static const char *const bad[] = {
        "setoption name Hash value 0",
        "setoption name Hash value -1",
        "setoption name Hash value 1x",
        "setoption name Hash value",
        "setoption name Hash",
        "setoption name LmrBase value 99999999999999999999",
        "setoption name LmrBase value -100000",
        "setoption name NoSuchThing value 1",
        "setoption Hash 16",
        "setoption",
        "setoption name",
        "setoption name UCI_Chess960 value maybe",
        "setoption name FutilityFormula value cubic",
    };
    Dialogue d = start();
    dialogue_send(&d, "params");
    const char *line = dialogue_until(&d, "| LmrBase |", PATIENCE);
    TEST_ASSERT_NOT_NULL(line);
    char before[256];
    snprintf(before, sizeof before, "%s", line);
    settle(&d);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int strings = d.strings;
        dialogue_send(&d, "%s", bad[i]);
        settle(&d);
        TEST_ASSERT_EQUAL_INT_MESSAGE(strings + 1, d.strings, bad[i]);
    }
    dialogue_send(&d, "params");
    TEST_ASSERT_EQUAL_STRING(before, dialogue_until(&d, "| LmrBase |", PATIENCE));
    settle(&d);
    int strings = d.strings;
    dialogue_send(&d, "setoption name move overhead value 35");
    dialogue_send(&d, "setoption name  Clear   Hash");
    dialogue_send(&d, "setoption name Clear Hash");
    dialogue_send(&d, "setoption name lmrbase value %d", ParamTable[ID_LmrBase].min);
    settle(&d);
    TEST_ASSERT_EQUAL_INT_MESSAGE(strings + 1, d.strings, "two blanks are no name; the others are fine");
    dialogue_send(&d, "params");
    line = dialogue_until(&d, "| LmrBase |", PATIENCE);
    TEST_ASSERT_NOT_NULL(line);
    TEST_ASSERT_TRUE_MESSAGE(strcmp(before, line) != 0, "a good value is taken");
    quit(&d);
}

// --- bad input ------------------------------------------------------------------------------------

static void bad_input_gets_one_line_and_changes_nothing(void) {
    static const char *const bad[] = {
        "xyzzy",
        "positon startpos",
        "position",
        "position fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "position fen k7/8/8/8/8/8/8/K6R w - - 0 1 x",
        "position fen 4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "position startpos moves e2e5",
        "position startpos moves e2e4 e7e5 e1e3",
        "position startpos e2e4",
        "position startpos moves e7e8x",
        "position fen 9/8/8/8/8/8/8/8 w - - 0 1 moves a1a2",
        "go depth",
        "go depth x",
        "go wtime 99999999999999999999999999",
        "go nodes 1e6",
        "ponderhit",
        "bench 0",
        "bench --threads",
        "bench x",
        "\x01\x02\xff\xfe",
        "UCI",
    };
    Dialogue d = start();
    dialogue_send(&d, "position startpos moves g1f3 g8f6 f3g1");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int strings = d.strings;
        dialogue_send(&d, "%s", bad[i]);
        settle(&d);
        TEST_ASSERT_EQUAL_INT_MESSAGE(strings + 1, d.strings, bad[i]);
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, d.bestmoves, "a `go` that cannot be read starts nothing");
    dialogue_send(&d, "d");
    const char *line = dialogue_until(&d, "Fen: ", PATIENCE);
    TEST_ASSERT_EQUAL_STRING("Fen: rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 3 2", line);
    quit(&d);
}

static void words_that_mean_nothing_are_named_and_skipped(void) {
    Dialogue d = start();
    dialogue_send(&d, "go quickly depth 3 please searchmoves e2e4 e2e5");
    char move[8];
    TEST_ASSERT_EQUAL_STRING("e2e4", move_of(bestmove(&d), move));
    TEST_ASSERT_EQUAL_INT(1, d.strings);
    dialogue_send(&d, "go searchmoves e2e5 h2h4 h7h5 h2h4 depth 1");
    TEST_ASSERT_EQUAL_STRING_MESSAGE("info string go: ignored 'e2e5' 'h7h5'",
                                     dialogue_until(&d, "info string", PATIENCE), "illegal moves only");
    TEST_ASSERT_EQUAL_STRING("h2h4", move_of(bestmove(&d), move));
    quit(&d);
}

static void what_is_quoted_has_no_control_characters(void) {
    static const char *const bad[] = {"go depth \x1b[31m",
                                      "go \x1b[31m depth 1",
                                      "setoption name \x1b value \x07",
                                      "position \x1b",
                                      "position startpos moves \x1b",
                                      "bench \x1b",
                                      "\x1b"};
    Dialogue d = start();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dialogue_send(&d, "%s", bad[i]);
        const char *line = dialogue_until(&d, "info string", PATIENCE);
        TEST_ASSERT_NOT_NULL_MESSAGE(line, bad[i] + 1);
        TEST_ASSERT_NULL_MESSAGE(strpbrk(line, "\x1b\x07"), line);
        settle(&d);
    }
    quit(&d);
}

static void blank_lines_ends_of_lines_and_nul_bytes_do_no_harm(void) {
    Dialogue d = start();
    static const char text[] =
        "\n\r\n   \t \nisready\r\nposition startpos moves e2e4\r\nd\r\n\0\0\nis\0ready\n  isready  \n";
    dialogue_send_bytes(&d, text, sizeof text - 1);
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "readyok", PATIENCE));
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "Fen: rnbqkbnr/pppppppp/8/8/4P3", PATIENCE));
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "info string unknown command 'is'", PATIENCE));
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "readyok", PATIENCE));
    quit(&d);
}

static void lines_of_ten_megabytes_are_read(void) {
    enum { SIZE = 10 << 20 };
    char *text = malloc(SIZE + 1);
    TEST_ASSERT_NOT_NULL(text);
    Dialogue d = start();
    memset(text, 'x', SIZE);
    text[SIZE] = '\n';
    dialogue_send_bytes(&d, text, SIZE + 1);
    settle(&d);
    TEST_ASSERT_EQUAL_INT(1, d.strings);
    memcpy(text, "position startpos moves", 23);
    for (int i = 23; i + 5 <= SIZE; i += 5) memcpy(text + i, i / 5 % 2 == 0 ? " e2e4" : " zzzz", 5);
    dialogue_send_bytes(&d, text, SIZE + 1);
    settle(&d);
    TEST_ASSERT_EQUAL_INT(2, d.strings);
    quit(&d);
    free(text);
}

// --- searching ------------------------------------------------------------------------------------

static void isready_is_answered_while_searching(void) {
    Dialogue d = start();
    dialogue_send(&d, "go infinite");
    for (int i = 0; i < 20; i++) settle(&d);
    TEST_ASSERT_EQUAL_INT(0, d.bestmoves);
    dialogue_send(&d, "stop");
    bestmove(&d);
    dialogue_send(&d, "stop");
    settle(&d);
    TEST_ASSERT_NULL(dialogue_line(&d, WHILE));
    TEST_ASSERT_EQUAL_INT(1, d.bestmoves);
    quit(&d);
}

static void infinite_waits_for_stop_even_when_there_is_nothing_to_think(void) {
    static const char *const fens[] = {MATE_IN_2, MATED, STALEMATE, ONE_MOVE, "8/8/8/8/8/8/8/K1k5 w - - 0 1"};
    Dialogue d = start();
    for (size_t i = 0; i < sizeof fens / sizeof *fens; i++) {
        dialogue_send(&d, "position fen %s", fens[i]);
        dialogue_send(&d, i % 2 ? "go infinite depth 2" : "go infinite");
        while (dialogue_line(&d, WHILE / 2) && d.bestmoves == (int)i) {
            if (field(d.line, "depth") > 100) break;
        }
        TEST_ASSERT_EQUAL_INT_MESSAGE((int)i, d.bestmoves, fens[i]);
        dialogue_send(&d, "stop");
        bestmove(&d);
    }
    quit(&d);
}

static void no_legal_move_is_told_as_none(void) {
    Dialogue d = start();
    dialogue_send(&d, "position fen %s", MATED);
    dialogue_send(&d, "go depth 5");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "info depth 0 score mate 0", PATIENCE));
    TEST_ASSERT_EQUAL_STRING("bestmove (none)", bestmove(&d));
    dialogue_send(&d, "position fen %s", STALEMATE);
    dialogue_send(&d, "go movetime 100");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "info depth 0 score cp 0", PATIENCE));
    TEST_ASSERT_EQUAL_STRING("bestmove (none)", bestmove(&d));
    quit(&d);
}

static void while_searching_only_what_makes_sense_is_done(void) {
    Dialogue d = start();
    dialogue_send(&d, "go infinite");
    static const char *const refused[] = {"go depth 1",
                                          "position startpos moves e2e4",
                                          "setoption name Hash value 32",
                                          "ucinewgame",
                                          "flip",
                                          "eval",
                                          "bench 1",
                                          "go perft 1"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        int strings = d.strings;
        dialogue_send(&d, "%s", refused[i]);
        settle(&d);
        TEST_ASSERT_EQUAL_INT_MESSAGE(strings + 1, d.strings, refused[i]);
    }
    TEST_ASSERT_EQUAL_INT(0, d.bestmoves);
    // After `stop` nothing need wait for the bestmove.
    int strings = d.strings;
    dialogue_send(
        &d, "stop\nsetoption name Hash value 8\nposition startpos moves e2e4 e7e5\ngo depth 2\nstop\nd");
    settle(&d);
    TEST_ASSERT_EQUAL_INT(strings, d.strings);
    dialogue_send(&d, "go depth 2");
    while (d.bestmoves < 3) bestmove(&d);
    dialogue_send(&d, "d");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "Fen: rnbqkbnr/pppp1ppp/8/4p3/4P3", PATIENCE));
    TEST_ASSERT_EQUAL_INT(3, d.bestmoves);
    quit(&d);
}

static void every_go_gets_one_bestmove(void) {
    static const char *const go[] = {"go depth 4",           "go infinite",
                                     "go movetime 3",        "go nodes 300",
                                     "go wtime 60 btime 60", "go ponder wtime 100 btime 100",
                                     "go mate 1 depth 3",    "go wtime -5 btime -5 movestogo 1"};
    Dialogue d = start();
    int rounds = getenv("HONE_LONG") ? 2000 : 150;
    for (int i = 0; i < rounds; i++) {
        uint64_t random = random_at(11, 0, (uint64_t)i);
        dialogue_send(&d, "position fen %s", bench_fen((int)(random % (uint64_t)bench_count())));
        const char *line = go[random >> 32 & 7];
        dialogue_send(&d, "%s", line);
        if (strstr(line, "ponder") && random >> 40 & 1) dialogue_send(&d, "ponderhit");
        if (random >> 41 & 1) usleep((useconds_t)(random >> 48 & 4095));
        dialogue_send(&d, "stop");
        if (random >> 42 & 1) dialogue_send(&d, "stop");
        bestmove(&d);
        if (random >> 43 & 1) dialogue_send(&d, "stop");
        if (random >> 44 & 1) dialogue_send(&d, "ucinewgame");
    }
    settle(&d);
    TEST_ASSERT_NULL(dialogue_line(&d, WHILE));
    TEST_ASSERT_EQUAL_INT(rounds, d.bestmoves);
    TEST_ASSERT_EQUAL_INT(0, d.strings);
    quit(&d);
}

static void pondering_ends_with_ponderhit_or_stop_only(void) {
    Dialogue d = start();
    const char *go[] = {"go ponder wtime 40 btime 40", "go ponder depth 1", "go ponder movetime 5",
                        "go ponder nodes 50"};
    for (int i = 0; i < 8; i++) {
        dialogue_send(&d, "position startpos moves e2e4 e7e5");
        dialogue_send(&d, "%s", go[i / 2]);
        int64_t end = now_ms() + WHILE;
        while (now_ms() < end) dialogue_line(&d, (int)(end - now_ms() > 0 ? end - now_ms() : 0));
        TEST_ASSERT_EQUAL_INT_MESSAGE(i, d.bestmoves, go[i / 2]);
        dialogue_send(&d, i % 2 ? "stop" : "ponderhit");
        bestmove(&d);
    }
    TEST_ASSERT_EQUAL_INT(0, d.strings);
    quit(&d);
}

static void nodes_are_counted_exactly(void) {
    Dialogue d = start();
    const int64_t counts[] = {1, 2, 17, 100, 1000, 1024, 12345, 50000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        dialogue_send(&d, "ucinewgame\nposition fen %s\ngo nodes %lld", bench_fen(12), (long long)counts[i]);
        int64_t nodes = -1;
        const char *line;
        while ((line = dialogue_line(&d, PATIENCE)) && strncmp(line, "bestmove", 8) != 0)
            if (field(line, "nodes") >= 0) nodes = field(line, "nodes");
        TEST_ASSERT_NOT_NULL(line);
        TEST_ASSERT_EQUAL_INT64(counts[i], nodes);
    }
    quit(&d);
}

static void multipv_gives_that_many_lines_in_order(void) {
    Dialogue d = start();
    dialogue_send(&d, "setoption name MultiPV value 4\nposition fen %s\ngo depth 7", bench_fen(13));
    char first[5][8] = {"", "", "", "", ""};
    int64_t scores[5] = {0};
    const char *line;
    while ((line = dialogue_line(&d, PATIENCE)) && strncmp(line, "bestmove", 8) != 0) {
        if (field(line, "depth") != 7 || strstr(line, "bound") || !strstr(line, " pv ")) continue;
        int64_t n = field(line, "multipv");
        TEST_ASSERT_TRUE(n >= 1 && n <= 4);
        TEST_ASSERT_EQUAL_INT(1, sscanf(strstr(line, " pv "), " pv %7s", first[n]));
        scores[n] = field(line, "score cp");
    }
    TEST_ASSERT_NOT_NULL(line);
    char move[8];
    TEST_ASSERT_EQUAL_STRING(first[1], move_of(line, move));
    for (int i = 1; i <= 4; i++) {
        TEST_ASSERT_TRUE(first[i][0]);
        for (int j = 1; j < i; j++)
            TEST_ASSERT_TRUE(strcmp(first[i], first[j]) != 0 && scores[j] >= scores[i]);
    }
    dialogue_send(&d, "setoption name MultiPV value 200\nposition fen %s\ngo depth 3", ONE_MOVE);
    bestmove(&d); // more lines than moves
    quit(&d);
}

static void searchmoves_are_the_only_ones_searched(void) {
    Dialogue d = start();
    dialogue_send(&d, "go depth 6 searchmoves a2a3 h2h3");
    const char *line;
    while ((line = dialogue_line(&d, PATIENCE)) && strncmp(line, "bestmove", 8) != 0) {
        const char *pv = strstr(line, " pv ");
        TEST_ASSERT_TRUE(!pv || strncmp(pv, " pv a2a3", 8) == 0 || strncmp(pv, " pv h2h3", 8) == 0);
    }
    char move[8];
    TEST_ASSERT_NOT_NULL(line);
    move_of(line, move);
    TEST_ASSERT_TRUE(strcmp(move, "a2a3") == 0 || strcmp(move, "h2h3") == 0);
    dialogue_send(&d, "go searchmoves a2a3 depth 3");
    TEST_ASSERT_EQUAL_STRING("a2a3", move_of(bestmove(&d), move));
    dialogue_send(&d, "go depth 3");
    bestmove(&d); // and the next search has all moves again
    quit(&d);
}

static void mates_are_told_in_moves(void) {
    Dialogue d = start();
    dialogue_send(&d, "position fen %s\ngo mate 2", MATE_IN_2);
    bool told = false;
    const char *line;
    while ((line = dialogue_line(&d, PATIENCE)) && strncmp(line, "bestmove", 8) != 0)
        told |= strstr(line, "score mate 2 ") != NULL;
    TEST_ASSERT_TRUE_MESSAGE(told, "mate in 2 found");
    char move[8];
    TEST_ASSERT_EQUAL_STRING("a1a6", move_of(line, move));
    char score[32];
    uci_score(SCORE_MATE - 1, score);
    TEST_ASSERT_EQUAL_STRING("mate 1", score);
    uci_score(SCORE_MATE - 5, score);
    TEST_ASSERT_EQUAL_STRING("mate 3", score);
    uci_score(-SCORE_MATE, score);
    TEST_ASSERT_EQUAL_STRING("mate 0", score);
    uci_score(-SCORE_MATE + 4, score);
    TEST_ASSERT_EQUAL_STRING("mate -2", score);
    uci_score(-35, score);
    TEST_ASSERT_EQUAL_STRING("cp -35", score);
    quit(&d);
}

static void info_lines_are_complete_and_their_lines_legal(void) {
    Dialogue d = start();
    for (int i = 0; i < bench_count(); i += 4) {
        dialogue_send(&d, "position fen %s\ngo depth 7", bench_fen(i));
        const char *line;
        int64_t depth = 0, nodes = 0;
        while ((line = dialogue_line(&d, PATIENCE)) && strncmp(line, "bestmove", 8) != 0) {
            static const char *const fields[] = {"depth", "seldepth", "multipv", "nodes",
                                                 "nps",   "hashfull", "tbhits",  "time"};
            for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
                TEST_ASSERT_TRUE_MESSAGE(field(line, fields[f]) >= 0, line);
            TEST_ASSERT_TRUE_MESSAGE(field(line, "depth") >= depth && field(line, "nodes") >= nodes, line);
            TEST_ASSERT_TRUE_MESSAGE(strstr(line, " score cp ") || strstr(line, " score mate "), line);
            depth = field(line, "depth");
            nodes = field(line, "nodes");
            char command[4096];
            snprintf(command, sizeof command, "fen %s moves%s", bench_fen(i), strstr(line, " pv ") + 3);
            Position pos;
            KeyStack history;
            Error error = {""};
            TEST_ASSERT_TRUE_MESSAGE(uci_read_position(command, false, &pos, &history, &error), error.text);
        }
        TEST_ASSERT_NOT_NULL(line);
        TEST_ASSERT_EQUAL_INT64(7, depth);
    }
    quit(&d);
}

static void castling_is_written_as_the_option_says(void) {
    Dialogue d = start();
    char move[8];
    dialogue_send(&d, "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 2 searchmoves e1g1");
    TEST_ASSERT_EQUAL_STRING("e1g1", move_of(bestmove(&d), move));
    dialogue_send(&d, "setoption name UCI_Chess960 value true");
    dialogue_send(&d, "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 2 searchmoves e1h1");
    TEST_ASSERT_EQUAL_STRING("e1h1", move_of(bestmove(&d), move));
    dialogue_send(&d, "position fen 1k6/8/8/8/8/8/8/1K1R4 w D - 0 1 moves b1d1\nd");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "Fen: 1k6/8/8/8/8/8/8/5RK1 b - - 1 1", PATIENCE));
    quit(&d);
}

static void a_game_of_3000_plies_is_taken(void) {
    static const char *const shuffle[] = {" g1f3", " g8f6", " f3g1", " f6g8",
                                          " b1c3", " b8c6", " c3b1", " c6b8"};
    char *text = calloc(1, 3000 * 5 + 64);
    TEST_ASSERT_NOT_NULL(text);
    char *at = text + sprintf(text, "position startpos moves");
    for (int ply = 0; ply < 3000; ply++) {
        memcpy(at, shuffle[ply % 8], 5);
        at += 5;
    }
    Dialogue d = start();
    dialogue_send(&d, "%s", text);
    dialogue_send(&d, "go depth 5");
    char move[8];
    TEST_ASSERT_TRUE(move_of(bestmove(&d), move)[0] != '(');
    TEST_ASSERT_EQUAL_INT(0, d.strings);
    quit(&d);
    free(text);
}

static void clocks_are_kept(void) {
    Dialogue d = start();
    const struct {
        const char *go;
        int64_t most;
    } cases[] = {{"go movetime 50", 50},
                 {"go wtime 1000 btime 1000", 800},
                 {"go wtime 1 btime 1", 1},
                 {"go wtime -100 btime -100 winc 10 binc 10", 1},
                 {"go wtime 300 btime 300 movestogo 1", 240}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        // A second for a machine that is busy with other things, and three attempts: an engine that is late
        // always is not excused. The sharp test measures stalls, see test_time.
        int64_t least = INT64_MAX;
        for (int attempt = 0; attempt < 3 && least > cases[i].most + 1000; attempt++) {
            dialogue_send(&d, "position fen %s", bench_fen(12));
            settle(&d);
            int64_t start_ms = now_ms();
            dialogue_send(&d, "%s", cases[i].go);
            bestmove(&d);
            if (now_ms() - start_ms < least) least = now_ms() - start_ms;
        }
        TEST_ASSERT_TRUE_MESSAGE(least <= cases[i].most + 1000, cases[i].go);
    }
    quit(&d);
}

// --- endings --------------------------------------------------------------------------------------

static void quit_and_the_end_of_input_end_everything_at_once(void) {
    static const char *const work[] = {"",
                                       "go infinite",
                                       "go ponder wtime 1000 btime 1000",
                                       "go perft 9",
                                       "bench 60",
                                       "go depth 3",
                                       "setoption name Threads value 3\ngo infinite",
                                       "go infinite\nstop"};
    // At once and a little later, one by quit and the other by the end of the input.
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        for (int later = 0; later < 2; later++) {
            Dialogue d = start();
            dialogue_send(&d, "%s", work[i]);
            if (later) usleep(40000);
            if ((i + (size_t)later) % 2) dialogue_send(&d, "quit");
            else dialogue_close(&d);
            int64_t start_ms = now_ms();
            TEST_ASSERT_EQUAL_INT_MESSAGE(0, dialogue_end(&d, PATIENCE), work[i]);
            TEST_ASSERT_TRUE_MESSAGE(now_ms() - start_ms < 5000, work[i]);
        }
}

static void perft_and_bench_can_be_stopped(void) {
    Dialogue d = start();
    dialogue_send(&d, "go perft 3");
    TEST_ASSERT_EQUAL_STRING("Nodes searched: 8902", dialogue_until(&d, "Nodes searched", PATIENCE));
    dialogue_send(&d, "go perft 12");
    settle(&d);
    dialogue_send(&d, "stop");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "info string perft stopped", PATIENCE));
    dialogue_send(&d, "bench 80");
    settle(&d);
    dialogue_send(&d, "stop");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "info string bench stopped", PATIENCE));
    dialogue_send(&d, "go depth 2");
    bestmove(&d);
    TEST_ASSERT_EQUAL_INT(1, d.bestmoves);
    quit(&d);
}

static void people_can_ask_for_help_board_and_evaluation(void) {
    Dialogue d = start();
    dialogue_send(&d, "help");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "ponderhit ", PATIENCE));
    dialogue_send(&d, "compiler");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "help ", PATIENCE));
    const char *line = dialogue_line(&d, PATIENCE);
    TEST_ASSERT_TRUE(line && (strncmp(line, "gcc", 3) == 0 || strncmp(line, "clang", 5) == 0));
    dialogue_send(&d, "eval");
    TEST_ASSERT_NOT_NULL(dialogue_until(&d, "Evaluation", PATIENCE));
    dialogue_send(&d, "position startpos moves e2e4\nflip\nd");
    TEST_ASSERT_NOT_NULL(
        dialogue_until(&d, "Fen: rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq -", PATIENCE));
    dialogue_send(&d, "debug on\nregister later\nstop");
    settle(&d);
    TEST_ASSERT_EQUAL_INT(0, d.strings);
    quit(&d);
}

// --- the command line -----------------------------------------------------------------------------

// Runs the program to its end and gives its status; its last line goes to last.
static int run(char *const argv[], char *last, size_t size) {
    Dialogue d = dialogue_start(argv);
    last[0] = '\0';
    for (const char *line; (line = dialogue_line(&d, PATIENCE));) snprintf(last, size, "%s", line);
    return dialogue_end(&d, PATIENCE);
}

static void the_command_line_does_what_it_says(void) {
    char last[1024], again[1024];
    unsigned long long nodes, nps, nodes2;
    TEST_ASSERT_EQUAL_INT(0, run((char *[]){Program, "bench", "4", NULL}, last, sizeof last));
    TEST_ASSERT_EQUAL_INT(2, sscanf(last, "%llu nodes %llu nps", &nodes, &nps));
    TEST_ASSERT_EQUAL_INT(
        0, run((char *[]){Program, "bench", "4", "--stats", "--hash", "4", NULL}, again, sizeof again));
    TEST_ASSERT_EQUAL_INT(2, sscanf(again, "%llu nodes %llu nps", &nodes2, &nps));
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(nodes, nodes2, "at depth 4 no table is full");
    TEST_ASSERT_EQUAL_INT(0, run((char *[]){Program, "perft", "4", NULL}, last, sizeof last));
    TEST_ASSERT_EQUAL_INT(2, sscanf(last, "%llu nodes %llu nps", &nodes, &nps));
    TEST_ASSERT_EQUAL_UINT64(197281, nodes);
    TEST_ASSERT_EQUAL_INT(
        0, run((char *[]){Program, "perft", "2",
                          "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", NULL},
               last, sizeof last));
    TEST_ASSERT_EQUAL_INT(1, sscanf(last, "%llu nodes", &nodes));
    TEST_ASSERT_EQUAL_UINT64(2039, nodes);
    char *const formats[] = {"--spsa", "--uci", "--md", "--json"};
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, run((char *[]){Program, "params", formats[i], NULL}, last, sizeof last));
    TEST_ASSERT_EQUAL_INT(0,
                          run((char *[]){Program, "diag", MATE_IN_2, "4", "LmrBase=50", "UseTT=false", NULL},
                              last, sizeof last));
    TEST_ASSERT_EQUAL_INT(
        0, run((char *[]){Program, "diag", "--suite", "3", "LmrBase=50", NULL}, last, sizeof last));
    TEST_ASSERT_EQUAL_INT(
        0, run((char *[]){Program, "params", "--spsa", "--group", "time,lmr", NULL}, last, sizeof last));
    char *const commands[] = {"bench", "perft", "params", "diag", "solve"};
    for (int i = 0; i < 5; i++) {
        TEST_ASSERT_EQUAL_INT(0, run((char *[]){Program, commands[i], "--help", NULL}, last, sizeof last));
        TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE("  hone ", last, 7, "the last line is an example");
    }
    char *const help[] = {"--help", "-h", "help"};
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_INT(0, run((char *[]){Program, help[i], NULL}, last, sizeof last));
}

static void output_that_gets_lost_is_a_failure(void) {
    char last[256], command[600];
    snprintf(command, sizeof command, "'%s' params --md >/dev/full", Program);
    TEST_ASSERT_EQUAL_INT(1, run((char *[]){"/bin/sh", "-c", command, NULL}, last, sizeof last));
}

static void wrong_arguments_end_with_status_2(void) {
    char last[256];
    char *const bad[][6] = {{Program, "benchmark"},
                            {Program, "bench", "x"},
                            {Program, "bench", "0"},
                            {Program, "bench", "--hash", "0"},
                            {Program, "perft"},
                            {Program, "perft", "-1"},
                            {Program, "perft", "3", "x"},
                            {Program, "params", "--csv"},
                            {Program, "params"},
                            {Program, "diag"},
                            {Program, "diag", "x"},
                            {Program, "diag", MATE_IN_2, "NoSuch=1"},
                            {Program, "diag", MATE_IN_2, "LmrBase=x"},
                            {Program, "diag", MATE_IN_2, "x"},
                            {Program, "diag", "--suite", "x"},
                            {Program, "diag", MATE_IN_2, "SyzygyPath=/nowhere"},
                            {Program, "params", "--md", "--group"},
                            {Program, "params", "--md", "--group", "lmr,nosuch"},
                            {Program, "params", "--md", "--group", ""},
                            {Program, "-x"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_EQUAL_INT_MESSAGE(2, run(bad[i], last, sizeof last), bad[i][1]);
}

int main(void) {
    const char *folder = getenv("HONE_BIN");
    snprintf(Program, sizeof Program, "%s/hone", folder ? folder : ".");
    UNITY_BEGIN();
    RUN_TEST(uci_lists_options_and_takes_back_every_default);
    RUN_TEST(setoption_says_what_it_refuses_and_keeps_the_old_value);
    RUN_TEST(bad_input_gets_one_line_and_changes_nothing);
    RUN_TEST(words_that_mean_nothing_are_named_and_skipped);
    RUN_TEST(what_is_quoted_has_no_control_characters);
    RUN_TEST(blank_lines_ends_of_lines_and_nul_bytes_do_no_harm);
    RUN_TEST(lines_of_ten_megabytes_are_read);
    RUN_TEST(isready_is_answered_while_searching);
    RUN_TEST(infinite_waits_for_stop_even_when_there_is_nothing_to_think);
    RUN_TEST(no_legal_move_is_told_as_none);
    RUN_TEST(while_searching_only_what_makes_sense_is_done);
    RUN_TEST(every_go_gets_one_bestmove);
    RUN_TEST(pondering_ends_with_ponderhit_or_stop_only);
    RUN_TEST(nodes_are_counted_exactly);
    RUN_TEST(multipv_gives_that_many_lines_in_order);
    RUN_TEST(searchmoves_are_the_only_ones_searched);
    RUN_TEST(mates_are_told_in_moves);
    RUN_TEST(info_lines_are_complete_and_their_lines_legal);
    RUN_TEST(castling_is_written_as_the_option_says);
    RUN_TEST(a_game_of_3000_plies_is_taken);
    RUN_TEST(clocks_are_kept);
    RUN_TEST(quit_and_the_end_of_input_end_everything_at_once);
    RUN_TEST(perft_and_bench_can_be_stopped);
    RUN_TEST(people_can_ask_for_help_board_and_evaluation);
    RUN_TEST(the_command_line_does_what_it_says);
    RUN_TEST(output_that_gets_lost_is_a_failure);
    RUN_TEST(wrong_arguments_end_with_status_2);
    return UNITY_END();
}
