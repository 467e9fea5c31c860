// SPDX-License-Identifier: GPL-3.0-or-later
// Players: the builtin and UCI programs give the same moves, and every way in which a program can misbehave
// (tests/engine_bad.c) comes to the end that is asked for, in time, without leaving a process or a descriptor
// behind.
#include "match/player.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "match/child.h"
#include "match/uci_option.h"
#include "match/uci_player.h"
#include "unity.h"

enum { CLOCK_MS = 300, SLACK_MS = 4000 }; // a busy machine

static char BadPath[512], HonePath[512];

void setUp(void) {}
void tearDown(void) {}

// A game as the runner keeps it.
typedef struct Game {
    Position start, pos;
    KeyStack keys;
    Move moves[512];
    int count;
} Game;

static void game_start(Game *game, const char *fen) {
    Error error;
    game->count = 0;
    keystack_clear(&game->keys);
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&game->start, fen, &error), error.text);
    game->pos = game->start;
}

static void game_play(Game *game, Move move) {
    Position after;
    TEST_ASSERT_TRUE(movegen_is_legal(&game->pos, move));
    keystack_push(&game->keys, &game->pos);
    position_make(&after, &game->pos, move);
    game->pos = after;
    game->moves[game->count++] = move;
}

static PlayerTurn game_turn(const Game *game, uint64_t nodes) {
    return (PlayerTurn){.start = &game->start,
                        .moves = game->moves,
                        .move_count = game->count,
                        .pos = &game->pos,
                        .history = &game->keys,
                        .time_ms = {CLOCK_MS, CLOCK_MS},
                        .nodes = nodes};
}

// A misbehaving engine with a clock of CLOCK_MS.
static PlayerSpec bad_spec(const char *mode) {
    PlayerSpec spec = {
        .name = "Bad", .startup_ms = 20000, .quit_ms = 20000, .tc = {.clock = true, .base_ms = CLOCK_MS}};
    snprintf(spec.cmd, sizeof spec.cmd, "%s", BadPath);
    snprintf(spec.args, sizeof spec.args, "%s", mode);
    return spec;
}

static Player *make(const PlayerSpec *spec) {
    Error error = {""};
    Player *player = player_create(spec, -1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(player, error.text);
    TEST_ASSERT_TRUE_MESSAGE(player_new_game(player, false, &error), error.text);
    return player;
}

// The first move of a game by a misbehaving engine, which stays for questions.
static Player *first_move(const PlayerSpec *spec, Game *game, PlayerMove *move) {
    Player *player = make(spec);
    game_start(game, START_FEN);
    PlayerTurn turn = game_turn(game, 0);
    *move = player_think(player, &turn);
    return player;
}

// Two moves by a misbehaving engine that must both be good.
static Player *two_moves(const PlayerSpec *spec) {
    Game game;
    PlayerMove move;
    Player *player = first_move(spec, &game, &move);
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_STRING("ok", player_status_name(move.status));
        TEST_ASSERT_TRUE(move.has_score);
        TEST_ASSERT_EQUAL_INT(12, move.score);
        game_play(&game, move.move);
        PlayerTurn turn = game_turn(&game, 0);
        move = player_think(player, &turn);
    }
    TEST_ASSERT_EQUAL_STRING("ok", player_status_name(move.status));
    TEST_ASSERT_TRUE(player_alive(player));
    return player;
}

static bool process_exists(pid_t pid) {
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'X';
    fclose(file);
    return state != 'Z' && state != 'X'; // a zombie is init's business
}

// --- the same moves -----------------------------------------------------------------------------

// Plays plies against itself, asking both players at every move.
static void compare(Player *builtin, Player *uci, const char *fen, int plies) {
    Game game;
    Error error;
    game_start(&game, fen);
    TEST_ASSERT_TRUE(player_new_game(builtin, game.start.chess960, &error));
    TEST_ASSERT_TRUE_MESSAGE(player_new_game(uci, game.start.chess960, &error), error.text);
    for (int i = 0; i < plies && position_ending(&game.pos, &game.keys) == ENDING_NONE; i++) {
        PlayerTurn turn = game_turn(&game, 500 + 100 * (uint64_t)(i % 7));
        PlayerMove a = player_think(builtin, &turn), b = player_think(uci, &turn);
        TEST_ASSERT_EQUAL_STRING("ok", player_status_name(b.status));
        TEST_ASSERT_EQUAL_STRING(a.text, b.text);
        TEST_ASSERT_EQUAL_HEX16(a.move, b.move);
        TEST_ASSERT_EQUAL_INT(a.score, b.score);
        TEST_ASSERT_EQUAL_INT(a.depth, b.depth);
        TEST_ASSERT_EQUAL_INT(a.seldepth, b.seldepth);
        TEST_ASSERT_EQUAL_UINT64(a.nodes, b.nodes);
        TEST_ASSERT_EQUAL_INT(a.hashfull, b.hashfull);
        TEST_ASSERT_EQUAL_STRING(a.pv, b.pv);
        TEST_ASSERT_TRUE(a.ns > 0 && b.ns > 0 && b.answered_ns - b.asked_ns == b.ns);
        game_play(&game, a.move);
    }
}

static void builtin_and_uci_play_the_same_moves(void) {
    if (access(HonePath, X_OK) != 0) TEST_IGNORE_MESSAGE("skipped: no hone beside the tests");
    PlayerSpec spec = {.name = "A", .builtin = true, .tc = {.nodes = 1000}, .option_count = 2};
    spec.options[0] = (PlayerOption){"hash", "1"};
    spec.options[1] = (PlayerOption){"LmrBase", "80"};
    PlayerSpec other = spec;
    other.builtin = false;
    snprintf(other.cmd, sizeof other.cmd, "%s", HonePath);
    Error error = {""};
    Player *builtin = player_create(&spec, -1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(builtin, error.text);
    Player *uci = player_create(&other, -1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(uci, error.text);
    TEST_ASSERT_EQUAL_STRING("Hone", player_id(uci));
    compare(builtin, uci, START_FEN, 30);
    compare(builtin, uci, "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 6 8", 20);
    compare(builtin, uci, "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w DFdf - 0 1", 12);
    compare(builtin, uci, "8/8/8/3k4/8/3K1P2/8/8 w - - 0 1", 10);
    PlayerManners manners = player_manners(uci);
    TEST_ASSERT_EQUAL_UINT64(0, manners.stale);
    player_destroy(builtin);
    player_destroy(uci);
}

static void node_limited_builtin_play_has_a_small_hash(void) {
    PlayerSpec spec = {.name = "A", .builtin = true, .tc = {.nodes = 300000}};
    Game game;
    PlayerMove small, usual;
    Player *player = make(&spec);
    game_start(&game, START_FEN);
    PlayerTurn turn = game_turn(&game, 300000);
    small = player_think(player, &turn);
    player_destroy(player);
    snprintf(spec.options[spec.option_count++].name, 64, "Hash");
    snprintf(spec.options[0].value, 64, "16");
    player = make(&spec);
    usual = player_think(player, &turn);
    player_destroy(player);
    TEST_ASSERT_TRUE(small.hashfull > 2 * usual.hashfull);
    TEST_ASSERT_EQUAL_UINT64(300000, small.nodes);
}

// A search that was stopped before it saw anything must not say that it is mated: a resignation could follow.
static void one_node_is_no_mate(void) {
    PlayerSpec spec = {.name = "A", .builtin = true, .tc = {.nodes = 1}};
    Game game;
    Player *player = make(&spec);
    game_start(&game, START_FEN);
    PlayerTurn turn = game_turn(&game, 1);
    PlayerMove move = player_think(player, &turn);
    player_destroy(player);
    TEST_ASSERT_EQUAL_STRING("ok", player_status_name(move.status));
    TEST_ASSERT_FALSE(score_is_decisive(move.score));
}

// --- options ------------------------------------------------------------------------------------

static void expect_refusal(PlayerSpec *spec, const char *name, const char *value, const char *reason) {
    Error error = {""};
    spec->option_count = 1;
    snprintf(spec->options[0].name, 64, "%s", name);
    snprintf(spec->options[0].value, 64, "%s", value);
    Player *player = player_create(spec, -1, &error);
    if (reason) {
        TEST_ASSERT_NULL(player);
        TEST_ASSERT_EQUAL_STRING(reason, error.text);
    } else {
        TEST_ASSERT_NOT_NULL_MESSAGE(player, error.text);
    }
    player_destroy(player);
}

static void options_are_checked_before_game_1(void) {
    PlayerSpec spec = bad_spec("wrong-range-option");
    expect_refusal(&spec, "Hash", "16", "engine 'Bad': option Hash: 16 is outside 1 to 4");
    expect_refusal(&spec, "Hash", "4", NULL);
    expect_refusal(&spec, "Hash", "4x", "engine 'Bad': option Hash: '4x' is not a whole number");
    expect_refusal(&spec, "Hush", "4", "engine 'Bad': there is no option 'Hush'");
    expect_refusal(&spec, "style", "very wild", NULL);
    expect_refusal(&spec, "Style", "Wild", "engine 'Bad': option Style: 'Wild' is none of: Calm Very Wild");
    expect_refusal(&spec, "UCI_Chess960", "1",
                   "engine 'Bad': option UCI_Chess960: '1' is neither true nor false");
    PlayerSpec builtin = {.name = "B", .builtin = true};
    expect_refusal(&builtin, "Hush", "4", "engine 'B': there is no option 'Hush'");
    Error error;
    builtin.option_count = 1;
    builtin.options[0] = (PlayerOption){"Hash", "-1"};
    TEST_ASSERT_NULL(player_create(&builtin, -1, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "Hash"));
}

static void option_lines_are_understood(void) {
    UciOption option;
    TEST_ASSERT_TRUE(uci_option_parse("option name Clear Hash type button", &option));
    TEST_ASSERT_EQUAL_STRING("Clear Hash", option.name);
    TEST_ASSERT_EQUAL_INT(OPTION_BUTTON, option.kind);
    TEST_ASSERT_TRUE(
        uci_option_parse("option  name Skill min Level type spin default 20  min -5 max 20", &option));
    TEST_ASSERT_EQUAL_STRING("Skill min Level", option.name);
    TEST_ASSERT_TRUE(option.bounded && option.min == -5 && option.max == 20 && option.value == 20);
    TEST_ASSERT_TRUE(uci_option_parse("option name Book File type string default <empty>", &option));
    TEST_ASSERT_TRUE(uci_option_check(&option, "anything at all", NULL));
    TEST_ASSERT_TRUE(uci_option_parse("option name N type spin default 1", &option));
    TEST_ASSERT_TRUE(!option.bounded && uci_option_check(&option, "7", NULL));
    TEST_ASSERT_FALSE(uci_option_parse("option name Nothing", &option));
    TEST_ASSERT_FALSE(uci_option_parse("option type spin", &option));
    TEST_ASSERT_FALSE(uci_option_parse("info string option name X type check", &option));
}

static void info_lines_are_understood(void) {
    PlayerMove move = {0};
    uci_parse_info("info depth 5 seldepth 9 score cp -31 upperbound nodes 10", &move);
    TEST_ASSERT_TRUE(move.has_score);
    TEST_ASSERT_EQUAL_INT(-31, move.score);
    uci_parse_info(
        "info depth 6 seldepth 8 multipv 1 score cp 25 nodes 123456789012 nps 5 hashfull 7 tbhits 3 time 9 "
        "pv e2e4 e7e5",
        &move);
    uci_parse_info("info depth 6 multipv 2 score cp -900 nodes 4 pv a2a3", &move);
    uci_parse_info("info string depth 99 score cp 5000", &move);
    uci_parse_info("info depth 7 score cp 99 lowerbound nodes 123456789013 pv d2d4", &move);
    uci_parse_info("info depth 7 currmove e2e4 currmovenumber 1", &move);
    TEST_ASSERT_EQUAL_INT(25, move.score);
    TEST_ASSERT_EQUAL_INT(6, move.depth);
    TEST_ASSERT_EQUAL_INT(8, move.seldepth);
    TEST_ASSERT_EQUAL_UINT64(123456789013, move.nodes);
    TEST_ASSERT_EQUAL_UINT64(3, move.tbhits);
    TEST_ASSERT_EQUAL_INT(7, move.hashfull);
    TEST_ASSERT_EQUAL_STRING("e2e4 e7e5", move.pv);
    static const struct {
        const char *text;
        int score;
    } scores[] = {{"mate 1", SCORE_MATE - 1},
                  {"mate 3", SCORE_MATE - 5},
                  {"mate -1", -SCORE_MATE + 2},
                  {"mate 0", -SCORE_MATE},
                  {"mate 5000", SCORE_MATE_IN_MAX + 1},
                  {"cp 99999", SCORE_TB_WIN},
                  {"cp -99999999999999999999", -SCORE_TB_WIN}};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
        char line[64];
        snprintf(line, sizeof line, "info score %s", scores[i].text);
        uci_parse_info(line, &move);
        TEST_ASSERT_EQUAL_INT_MESSAGE(scores[i].score, move.score, scores[i].text);
    }
}

// --- starting and ending ------------------------------------------------------------------------

static void expect_no_start(PlayerSpec *spec, const char *reason) {
    Error error = {""};
    TEST_ASSERT_NULL(player_create(spec, -1, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
}

static void what_does_not_start_is_refused(void) {
    PlayerSpec spec = bad_spec("crash-at-start");
    expect_no_start(&spec, "engine 'Bad': ended (signal 6 (Aborted)");
    spec = bad_spec("no-uciok");
    spec.startup_ms = 200;
    int64_t start = now_ms();
    expect_no_start(&spec, "engine 'Bad': no uciok by the deadline");
    TEST_ASSERT_TRUE(now_ms() - start >= 400 && now_ms() - start < 400 + SLACK_MS); // twice
    spec = bad_spec("");
    snprintf(spec.cmd, sizeof spec.cmd, "/nowhere/engine");
    expect_no_start(&spec, "'/nowhere/engine' is not a program that can be run");
    snprintf(spec.cmd, sizeof spec.cmd, "no-such-engine-anywhere");
    expect_no_start(&spec, "there is no program 'no-such-engine-anywhere' in PATH");
    snprintf(spec.cmd, sizeof spec.cmd, "sh");
    snprintf(spec.dir, sizeof spec.dir, "/nowhere");
    expect_no_start(&spec, "No such file or directory");
    spec.dir[0] = '\0';
    snprintf(spec.args, sizeof spec.args, "-c 'exit 3'");
    expect_no_start(&spec, "ended (exit status 3) before uciok");
    snprintf(spec.args, sizeof spec.args, "-c 'exit 3");
    expect_no_start(&spec, "a quote (') is not closed");
}

static void a_slow_isready_is_waited_for_and_not_charged(void) {
    PlayerSpec spec = bad_spec("slow-isready 500"); // more than the clock
    player_destroy(two_moves(&spec));
    spec.ping_ms = 100;
    expect_no_start(&spec, "no readyok by the deadline");
}

static void dir_and_args_reach_the_program(void) {
    PlayerSpec spec = bad_spec("");
    snprintf(spec.cmd, sizeof spec.cmd, "sh");
    snprintf(spec.dir, sizeof spec.dir, "/usr");
    snprintf(spec.args, sizeof spec.args,
             "-c \"echo id name \\$PWD \\$0 \\$1; echo uciok; read a; read a; echo readyok; read a\" 'two "
             "words' three\\ \\'s");
    Error error = {""};
    Player *player = player_create(&spec, 1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(player, error.text);
    TEST_ASSERT_EQUAL_STRING("/usr two words three 's", player_id(player));
    player_destroy(player);
}

static void who_ignores_quit_is_killed(void) {
    PlayerSpec spec = bad_spec("ignore-quit");
    spec.quit_ms = 200;
    Player *player = two_moves(&spec);
    int64_t start = now_ms();
    player_destroy(player);
    TEST_ASSERT_TRUE(now_ms() - start >= 200 && now_ms() - start < 200 + SLACK_MS);
}

// --- moves --------------------------------------------------------------------------------------

static void small_sins_cost_nothing(void) {
    static const char *const modes[] = {"good", "crlf", "binary-noise", "stderr-flood"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        PlayerSpec spec = bad_spec(modes[i]);
        spec.tc.base_ms = 10000;
        spec.tc.margin_ms = 10000; // noise takes time on a busy machine
        Player *player = two_moves(&spec);
        char errors[CHILD_ERRORS + 1];
        size_t size = player_errors(player, errors, sizeof errors);
        TEST_ASSERT_EQUAL_INT(i == 3 ? CHILD_ERRORS : 0, size);
        TEST_ASSERT_EQUAL_INT(i == 3, strstr(errors, "line 32767 of a lot of noise\n") != NULL);
        TEST_ASSERT_EQUAL_INT(i == 2, player_manners(player).unknown > 10);
        player_destroy(player);
    }
}

// A bestmove that nobody asked for must not be taken for the answer to the next question.
static void what_comes_before_go_is_dropped(void) {
    static const char *const modes[] = {"early-bestmove", "double-bestmove"};
    for (int i = 0; i < 2; i++) {
        PlayerSpec spec = bad_spec(modes[i]);
        uint64_t stale = 0, expected = i == 0 ? 1 : 3;
        const char *status = "";
        for (int attempt = 1; attempt <= 3 && stale != expected; attempt++) {
            Game game;
            PlayerMove move;
            Player *player = make(&spec);
            game_start(&game, START_FEN);
            for (int ply = 0; ply < 4; ply++) {
                usleep(200000 * attempt); // it has said its second word by now, unless the machine is very busy
                PlayerTurn turn = game_turn(&game, 0);
                move = player_think(player, &turn);
                status = player_status_name(move.status);
                if (move.status != PLAYER_OK) break;
                game_play(&game, move.move);
            }
            stale = player_manners(player).stale;
            player_destroy(player);
        }
        TEST_ASSERT_EQUAL_STRING("ok", status);
        TEST_ASSERT_EQUAL_UINT64(expected, stale);
    }
}

static void illegal_moves_are_told_with_their_text(void) {
    static const char *const cases[][2] = {{"illegal", "e2e6"}, {"none", "(none)"}};
    for (int i = 0; i < 2; i++) {
        PlayerSpec spec = bad_spec(cases[i][0]);
        Game game;
        PlayerMove move;
        Player *player = first_move(&spec, &game, &move);
        TEST_ASSERT_EQUAL_STRING("illegal move", player_status_name(move.status));
        TEST_ASSERT_EQUAL_STRING(cases[i][1], move.text);
        TEST_ASSERT_TRUE(player_alive(player)); // it may play the next game
        player_destroy(player);
    }
}

static void crashes_are_told_with_signal_stderr_and_dialogue(void) {
    PlayerSpec spec = bad_spec("crash-after-n 2");
    Game game;
    PlayerMove move;
    Player *player = first_move(&spec, &game, &move);
    TEST_ASSERT_EQUAL_STRING("ok", player_status_name(move.status));
    game_play(&game, move.move);
    PlayerTurn turn = game_turn(&game, 0);
    move = player_think(player, &turn);
    TEST_ASSERT_EQUAL_STRING("crash", player_status_name(move.status));
    TEST_ASSERT_FALSE(player_alive(player));
    char text[64 * 1024];
    player_end_text(player, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "signal 11 (Segmentation fault)"), text);
    player_errors(player, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("bad engine: now it crashes\n", text);
    player_dialogue(player, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, " > go wtime 300 btime 300\n"), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, " < readyok\n"), text);
    Error error;
    TEST_ASSERT_FALSE(player_new_game(player, false, &error));
    TEST_ASSERT_EQUAL_STRING("engine 'Bad': its process has ended", error.text);
    player_destroy(player);
    spec = bad_spec("crash-on-go");
    player = first_move(&spec, &game, &move);
    TEST_ASSERT_EQUAL_STRING("crash", player_status_name(move.status));
    player_destroy(player);
}

static void an_answer_before_the_end_counts(void) {
    PlayerSpec spec = bad_spec("exits-after-bestmove");
    Game game;
    PlayerMove move;
    Player *player = first_move(&spec, &game, &move);
    TEST_ASSERT_EQUAL_STRING("ok", player_status_name(move.status));
    game_play(&game, move.move);
    PlayerTurn turn = game_turn(&game, 0);
    move = player_think(player, &turn);
    TEST_ASSERT_EQUAL_STRING("crash", player_status_name(move.status));
    player_destroy(player);
}

static void a_closed_output_is_a_crash(void) {
    PlayerSpec spec = bad_spec("closes-stdout");
    Game game;
    PlayerMove move;
    Player *player = first_move(&spec, &game, &move);
    TEST_ASSERT_EQUAL_STRING("crash", player_status_name(move.status));
    player_destroy(player);
}

// The grandchild holds the pipe open, so that there is no end of file; it must go too.
static void grandchildren_are_killed(void) {
    PlayerSpec spec = bad_spec("fork-grandchild");
    spec.tc.clock = false;
    Game game;
    PlayerMove move;
    int64_t start = now_ms();
    Player *player = first_move(&spec, &game, &move);
    TEST_ASSERT_EQUAL_STRING("crash", player_status_name(move.status));
    TEST_ASSERT_TRUE(now_ms() - start < SLACK_MS);
    char text[64 * 1024];
    player_dialogue(player, text, sizeof text);
    const char *at = strstr(text, "grandchild ");
    TEST_ASSERT_NOT_NULL_MESSAGE(at, text);
    pid_t grandchild = (pid_t)strtol(at + 11, NULL, 10);
    player_destroy(player);
    for (int i = 0; i < 200 && process_exists(grandchild); i++) usleep(10000);
    TEST_ASSERT_FALSE(process_exists(grandchild));
}

static void floods_and_endless_lines_are_protocol_errors(void) {
    static const char *const modes[] = {"flood-info", "long-line"};
    for (int i = 0; i < 2; i++) {
        PlayerSpec spec = bad_spec(modes[i]);
        spec.tc = (TimeControl){.nodes = 1000};
        Game game;
        PlayerMove move;
        Player *player = first_move(&spec, &game, &move);
        TEST_ASSERT_EQUAL_STRING("protocol error", player_status_name(move.status));
        TEST_ASSERT_FALSE(player_alive(player));
        player_destroy(player);
    }
}

// --- time ---------------------------------------------------------------------------------------

// The first move must come to an end in [low, low + SLACK_MS] milliseconds.
static void expect_hang(PlayerSpec *spec, PlayerStatus status, bool alive, int64_t low) {
    Game game;
    PlayerMove move;
    Player *player = make(spec);
    game_start(&game, START_FEN);
    PlayerTurn turn = game_turn(&game, spec->tc.nodes);
    int64_t start = now_ms();
    move = player_think(player, &turn);
    int64_t ms = now_ms() - start;
    TEST_ASSERT_EQUAL_STRING(player_status_name(status), player_status_name(move.status));
    TEST_ASSERT_EQUAL_INT(alive, player_alive(player));
    TEST_ASSERT_TRUE(ms >= low && ms < low + SLACK_MS);
    TEST_ASSERT_TRUE(move.ns >= CLOCK_MS * INT64_C(1000000)); // more than the clock: a loss on time
    if (alive) {                                              // the late bestmove was consumed
        Error error;
        TEST_ASSERT_TRUE(player_new_game(player, false, &error));
        TEST_ASSERT_EQUAL_UINT64(0, player_manners(player).stale);
    }
    player_destroy(player);
}

static void hangs_end_at_the_deadline(void) {
    PlayerSpec spec = bad_spec("hang");
    expect_hang(&spec, PLAYER_OK, true, CLOCK_MS + 100);
    spec = bad_spec("hang-ignore-stop");
    expect_hang(&spec, PLAYER_STALLED, false, CLOCK_MS + 100 + 1000);
    spec = bad_spec("no-newline");
    spec.tc = (TimeControl){.move_ms = CLOCK_MS};
    expect_hang(&spec, PLAYER_STALLED, false, CLOCK_MS + 100 + 1000);
    spec = bad_spec("hang");
    spec.tc = (TimeControl){.nodes = 1000};
    spec.watchdog_ms = 500;
    expect_hang(&spec, PLAYER_STALLED, true, 500);
}

static void a_child_that_does_not_read_blocks_nobody(void) {
    Error error;
    Child *child = child_start("sleep", "1000", "", -1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(child, error.text);
    enum { LOT = 1 << 20 };
    char *lot = malloc(LOT);
    TEST_ASSERT_NOT_NULL(lot);
    memset(lot, 'x', LOT);
    int64_t start = now_ms();
    TEST_ASSERT_FALSE(child_send(child, lot, LOT, now_ns() + 200000000));
    TEST_ASSERT_TRUE(now_ms() - start >= 200 && now_ms() - start < 200 + SLACK_MS);
    free(lot);
    child_free(child);
}

// Both sides write at once what does not fit into a pipe: neither may wait for the other.
static void an_echo_of_a_lot_does_not_deadlock(void) {
    Error error;
    Child *child = child_start("cat", "", "", -1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(child, error.text);
    enum { LINES = 1500, WIDTH = 64 };
    char text[LINES * WIDTH + 1];
    for (int i = 0; i < LINES; i++) snprintf(text + WIDTH * i, WIDTH + 1, "%062d\r\n", i);
    int64_t deadline = now_ns() + INT64_C(20000000000);
    TEST_ASSERT_TRUE(child_send(child, text, sizeof text - 1, deadline));
    ChildText line;
    for (int i = 0; i < LINES; i++) {
        TEST_ASSERT_EQUAL_INT(CHILD_LINE, child_line(child, deadline, &line));
        TEST_ASSERT_EQUAL_INT(62, line.size);
        TEST_ASSERT_EQUAL_INT(i, atoi(line.text));
    }
    TEST_ASSERT_EQUAL_INT(CHILD_TIMEOUT, child_line(child, now_ns() + 1000000, &line));
    child_free(child);
}

// Uses the processor for a while; the share of it that was to be had.
static double burn(int64_t ns) {
    struct timespec t;
    int64_t begin = now_ns();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    double used = -(double)t.tv_sec - (double)t.tv_nsec / 1e9;
    while (now_ns() - begin < ns) continue;
    double elapsed = (double)(now_ns() - begin) / 1e9;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (used + (double)t.tv_sec + (double)t.tv_nsec / 1e9) / elapsed;
}

static void who_burns_while_idle_is_told(void) {
    PlayerSpec spec = bad_spec("cpu-burner-when-idle");
    Player *burner = two_moves(&spec);
    spec = bad_spec("good");
    Player *good = two_moves(&spec);
    double ours = burn(1200000000); // others run here too: as much as we got it may have had
    double share = player_manners(burner).idle_share;
    TEST_ASSERT_TRUE_MESSAGE(share > ours / 8, "a share of the processor must be seen");
    TEST_ASSERT_TRUE(player_manners(good).idle_share < share / 2);
    player_destroy(burner);
    player_destroy(good);
}

static void *interrupt_soon(void *context) {
    usleep(100000);
    player_interrupt(context);
    return NULL;
}

static void thinking_can_be_interrupted(void) {
    PlayerSpec specs[2] = {bad_spec("hang"), {.name = "B", .builtin = true}};
    for (int i = 0; i < 2; i++) {
        Game game;
        pthread_t thread;
        specs[i].tc = (TimeControl){.clock = true};
        Player *player = make(&specs[i]);
        game_start(&game, START_FEN);
        PlayerTurn turn = game_turn(&game, 0);
        turn.time_ms[WHITE] = turn.time_ms[BLACK] = 100000000;
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, interrupt_soon, player));
        int64_t start = now_ms();
        PlayerMove move = player_think(player, &turn);
        pthread_join(thread, NULL);
        TEST_ASSERT_EQUAL_STRING("interrupted", player_status_name(move.status));
        TEST_ASSERT_TRUE(now_ms() - start < SLACK_MS);
        TEST_ASSERT_EQUAL_STRING("interrupted", player_status_name(player_think(player, &turn).status));
        player_destroy(player);
    }
}

static void a_restart_is_a_new_process(void) {
    PlayerSpec spec = bad_spec("crash-after-n 2");
    spec.restart = true;
    Error error = {""};
    Player *player = player_create(&spec, -1, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(player, error.text);
    for (int i = 0; i < 3; i++) { // one process would crash at the second move
        Game game;
        game_start(&game, START_FEN);
        TEST_ASSERT_TRUE_MESSAGE(player_new_game(player, false, &error), error.text);
        PlayerTurn turn = game_turn(&game, 0);
        TEST_ASSERT_EQUAL_STRING("ok", player_status_name(player_think(player, &turn).status));
    }
    player_destroy(player);
}

// A process that plays is killed with SIGKILL: its engine must not outlive it.
static void engines_die_with_a_killed_runner(void) {
    int report[2];
    TEST_ASSERT_EQUAL_INT(0, pipe(report));
    pid_t runner = fork();
    if (runner == 0) {
        Error error;
        Child *child = child_start("sleep", "1000", "", -1, &error);
        int pid = child ? child_pid(child) : -1;
        if (write(report[1], &pid, sizeof pid) < 0) _exit(1);
        for (;;) pause();
    }
    int pid = -1;
    TEST_ASSERT_EQUAL_INT(sizeof pid, read(report[0], &pid, sizeof pid));
    TEST_ASSERT_TRUE(pid > 0 && process_exists(pid));
    kill(runner, SIGKILL);
    waitpid(runner, NULL, 0);
    for (int i = 0; i < 200 && process_exists(pid); i++) usleep(10000);
    TEST_ASSERT_FALSE(process_exists(pid));
    close(report[0]);
    close(report[1]);
}

// --- all of it ----------------------------------------------------------------------------------

static int open_files(void) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

static int FilesBefore;

static void nothing_is_left_behind(void) {
    TEST_ASSERT_EQUAL_INT(FilesBefore, open_files());
    TEST_ASSERT_EQUAL_INT(-1, waitpid(-1, NULL, WNOHANG));
    TEST_ASSERT_EQUAL_INT(ECHILD, errno);
}

int main(int argc, char **argv) {
    (void)argc;
    const char *slash = strrchr(argv[0], '/'), *hone = getenv("HONE_BIN");
    snprintf(BadPath, sizeof BadPath, "%.*s/engine_bad", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    snprintf(HonePath, sizeof HonePath, "%s/hone", hone ? hone : ".");
    bitboard_init();
    FilesBefore = open_files();
    UNITY_BEGIN();
    RUN_TEST(builtin_and_uci_play_the_same_moves);
    RUN_TEST(node_limited_builtin_play_has_a_small_hash);
    RUN_TEST(one_node_is_no_mate);
    RUN_TEST(options_are_checked_before_game_1);
    RUN_TEST(option_lines_are_understood);
    RUN_TEST(info_lines_are_understood);
    RUN_TEST(what_does_not_start_is_refused);
    RUN_TEST(a_slow_isready_is_waited_for_and_not_charged);
    RUN_TEST(dir_and_args_reach_the_program);
    RUN_TEST(who_ignores_quit_is_killed);
    RUN_TEST(small_sins_cost_nothing);
    RUN_TEST(what_comes_before_go_is_dropped);
    RUN_TEST(illegal_moves_are_told_with_their_text);
    RUN_TEST(crashes_are_told_with_signal_stderr_and_dialogue);
    RUN_TEST(an_answer_before_the_end_counts);
    RUN_TEST(a_closed_output_is_a_crash);
    RUN_TEST(grandchildren_are_killed);
    RUN_TEST(floods_and_endless_lines_are_protocol_errors);
    RUN_TEST(hangs_end_at_the_deadline);
    RUN_TEST(a_child_that_does_not_read_blocks_nobody);
    RUN_TEST(an_echo_of_a_lot_does_not_deadlock);
    RUN_TEST(who_burns_while_idle_is_told);
    RUN_TEST(thinking_can_be_interrupted);
    RUN_TEST(a_restart_is_a_new_process);
    RUN_TEST(engines_die_with_a_killed_runner);
    RUN_TEST(nothing_is_left_behind);
    return UNITY_END();
}
