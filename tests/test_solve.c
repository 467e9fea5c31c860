// SPDX-License-Identifier: GPL-3.0-or-later
// `hone solve` as a user runs it: what it prints, what it refuses and with which status. Needs the program
// ($HONE_BIN).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

static char Program[512];

void setUp(void) {
    if (access(Program, X_OK)) TEST_IGNORE_MESSAGE("skipped: the program hone is not built");
}
void tearDown(void) {}

// Runs `hone solve ARGUMENTS`; both outputs go into text, the exit status comes back.
static int solve(const char *arguments, char *text, size_t size) {
    char command[800];
    snprintf(command, sizeof command, "%s solve %s 2>&1", Program, arguments);
    FILE *pipe = popen(command, "r");
    TEST_ASSERT_NOT_NULL(pipe);
    size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void says(const char *arguments, int status, const char *expected) {
    char text[8192];
    TEST_ASSERT_EQUAL_INT_MESSAGE(status, solve(arguments, text, sizeof text), arguments);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, expected), text);
}

static void who_wins_and_in_how_many_moves(void) {
    says("'7k/5Q2/6K1/8/8/8/8/8 w - - 0 1'", 0, "White wins: mate in 1 move (1 ply)\nline: 1. Q");
    says("'8/8/8/8/8/2k5/1R6/K7 w - - 0 1'", 0, "White wins: mate in 16 moves (31 plies)");
    says("'8/6k1/8/8/8/8/1p4K1/8 b - - 0 7'", 0, "Black wins: mate in ");
    says("'8/6k1/8/8/8/8/1p4K1/8 b - - 0 7'", 0, "line: 7... b1=");
    says("'4k3/8/4K3/4P3/8/8/8/8 b - - 0 1'", 0, "White wins: mate in ");
    says("'7k/6Q1/6K1/8/8/8/8/8 b - - 0 1'", 0, "White has won: checkmate");
    says("'8/8/8/8/8/4k3/4p3/4K3 w - - 0 1'", 0, "draw: stalemate");
    says("'7k/8/8/8/8/8/8/K7 w - - 0 1'", 0, "draw\n");
    says("'8/8/8/8/8/2k5/1R6/K7 w - - 80 60'", 0, "the fifty-move rule may come first");
    says("'8/8/8/8/8/2k5/1R6/K7 w - - 100 60'", 0, "but the game is drawn by the fifty-move rule");
    says("8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 0, "White wins: mate in 16 moves (31 plies)");
}

// A line that is printed ends in mate after exactly as many moves.
static void lines_end_in_mate(void) {
    char text[8192];
    TEST_ASSERT_EQUAL_INT(0, solve("'8/8/8/6k1/8/8/1P4K1/8 w - - 0 1'", text, sizeof text)); // longest KPK
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "mate in 28 moves (55 plies)"), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, " 28. "), text);
    TEST_ASSERT_NULL_MESSAGE(strstr(text, " 29. "), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "#\n"), text);
}

static void whole_tables(void) {
    says("--table KQK", 0, "longest win for White: mate in 10 moves");
    says("--table KRK", 0, "longest win for White: mate in 16 moves");
    says("--table KPK", 0, "longest win for White: mate in 28 moves");
    says("--table KPK", 0, "White to move        124960        38368            0       163328");
    says("--table KvKP", 0, "Black to move        124960        38368            0       163328");
    says("--table KNK", 0, "White never wins");
}

static void what_cannot_be_solved_is_refused(void) {
    says("'4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1'", 1, "hone solve: the position has 5 men");
    says("'4k3/8/8/8/8/8/8/4K2R w K - 0 1'", 1, "castling rights");
    says("'4k3/8/8/8 w'", 1, "hone solve: ");
    says("4k3/8/8/8/8/8/8/4K2R w - - 0 1 and a half", 1, "text after the sixth field");
    says("--table KRNBK", 1, "more than four men");
    says("--table KK", 1, "two bare kings");
    says("--table", 2, "usage:");
    says("", 2, "usage:");
    says("--help", 0, "examples:");
}

int main(void) {
    const char *bin = getenv("HONE_BIN");
    snprintf(Program, sizeof Program, "%s/hone", bin ? bin : ".");
    UNITY_BEGIN();
    RUN_TEST(who_wins_and_in_how_many_moves);
    RUN_TEST(lines_end_in_mate);
    RUN_TEST(whole_tables);
    RUN_TEST(what_cannot_be_solved_is_refused);
    return UNITY_END();
}
