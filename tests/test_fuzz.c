// SPDX-License-Identifier: GPL-3.0-or-later
// UCI under random and mutated lines, in this process so that sanitizers see everything: nothing may crash,
// hang or go unanswered. 5,000 lines, or 100,000 with HONE_LONG=1; HONE_SEED chooses other ones.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/util.h"
#include "tests/talk.h"
#include "unity.h"

enum { LINE = 600, CHECK_EVERY = 50, MAX_MEGABYTES = 32, MAX_FUZZ_THREADS = 4 };

static const char *const Corpus[] = {
    "uci",
    "isready",
    "ucinewgame",
    "stop",
    "ponderhit",
    "d",
    "eval",
    "flip",
    "help",
    "compiler",
    "params",
    "debug on",
    "register later",
    "position startpos",
    "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    "position fen 8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1",
    "position fen rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3 moves e5d6",
    "position fen nrknqrbb/pp1ppppp/8/2p5/2P5/8/PP1PPPPP/NRKNQRBB w FBfb - 0 2",
    "position fen R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 99 80",
    "go depth 4",
    "go infinite",
    "go ponder wtime 100 btime 100 winc 1 binc 1",
    "go wtime 20 btime 20 movestogo 3",
    "go nodes 500 searchmoves e2e4 d2d4",
    "go mate 2",
    "go movetime 5",
    "go perft 3",
    "go",
    "bench 2",
    "bench 1 --stats --threads 2 --hash 1",
    "setoption name Hash value 2",
    "setoption name Threads value 2",
    "setoption name MultiPV value 3",
    "setoption name Clear Hash",
    "setoption name UCI_Chess960 value true",
    "setoption name Move Overhead value 10",
    "setoption name LmrBase value 80",
    "setoption name FutilityFormula value table",
    "setoption name UseTT value false",
};

enum { CORPUS = sizeof Corpus / sizeof *Corpus };

// A stream of random numbers.
typedef struct Dice {
    uint64_t seed, count;
} Dice;

static uint64_t roll(Dice *dice, uint64_t bound) {
    return random_below(random_at(dice->seed, 0, dice->count++), bound);
}

// Writes one line into a buffer of LINE bytes and returns its length.
static size_t make_line(Dice *dice, char *line) {
    size_t size = 0;
    if (roll(dice, 8) == 0) { // bytes
        size = roll(dice, 80);
        for (size_t i = 0; i < size; i++) line[i] = (char)roll(dice, roll(dice, 2) ? 256 : 128);
    } else {
        size = (size_t)snprintf(line, LINE, "%s", Corpus[roll(dice, CORPUS)]);
        uint64_t changes = roll(dice, 3) ? roll(dice, 4) : 0;
        while (changes-- > 0 && size > 0) {
            size_t at = roll(dice, size);
            switch (roll(dice, 5)) {
            case 0: line[at] = (char)roll(dice, 256); break;
            case 1: // drop some
                memmove(line + at, line + at + 1, size - at - 1);
                size--;
                break;
            case 2: // double a tail
                if (size + size - at < LINE - 1) {
                    memcpy(line + size, line + at, size - at);
                    size += size - at;
                }
                break;
            case 3: // cut
                size = at;
                break;
            case 4: // put another in
                if (size < LINE / 3) {
                    const char *other = Corpus[roll(dice, CORPUS)];
                    size_t length = strlen(other) < 120 ? strlen(other) : 120;
                    memmove(line + at + length, line + at, size - at);
                    memcpy(line + at, other, length);
                    size += length;
                }
                break;
            }
        }
    }
    for (size_t i = 0; i < size; i++)
        if (line[i] == '\n') line[i] = ' ';
    line[size] = '\0';
    return size;
}

// Whether a line would end the talk or take more of the machine than a test may: big tables, many threads.
static bool too_much(const char *line) {
    char word[64];
    const char *at = line;
    if (text_word(&at, word, sizeof word) && strcmp(word, "quit") == 0) return true;
    char lower[LINE];
    size_t i = 0;
    for (; line[i] && i < LINE - 1; i++) lower[i] = (char)tolower((unsigned char)line[i]);
    lower[i] = '\0';
    bool hash = strstr(lower, "hash"), threads = strstr(lower, "thread");
    if (!hash && !threads) return false;
    for (char *digits = lower; *digits; digits++)
        if (isdigit((unsigned char)*digits)) {
            long long number = strtoll(digits, &digits, 10);
            if (number > (threads ? MAX_FUZZ_THREADS : MAX_MEGABYTES)) return true;
            if (!*digits) break;
        }
    return false;
}

void setUp(void) {}
void tearDown(void) {}

static void random_and_mutated_lines_do_no_harm(void) {
    const char *seed = getenv("HONE_SEED");
    long lines = getenv("HONE_LONG") ? 100000 : 5000, ready = 0;
    Dice dice = {.seed = seed ? strtoull(seed, NULL, 10) : 1};
    Talk talk;
    talk_start(&talk);
    char line[LINE + 1], last[CHECK_EVERY * (LINE + 1)] = "";
    for (long n = 0; n < lines; n++) {
        size_t size = make_line(&dice, line);
        if (too_much(line)) continue;
        snprintf(last + strlen(last), sizeof last - strlen(last), "%s\n", line);
        line[size] = '\n';
        talk_send(&talk, line, size + 1);
        if (roll(&dice, 3) == 0) talk_say(&talk, "stop\n"); // else most lines would meet a search
        if (n % CHECK_EVERY == 0) {
            talk_say(&talk, "isready\n");
            talk_expect_ready(&talk, ++ready, last); // mutated lines may have added more, never fewer
            last[0] = '\0';
        }
    }
    // The long line, alone and as the moves of a position.
    enum { LONG_LINE = 10 << 20 };
    char *text = malloc(LONG_LINE + 1);
    TEST_ASSERT_NOT_NULL(text);
    for (size_t i = 0; i < LONG_LINE; i++) text[i] = (char)(roll(&dice, 20) ? 'a' + roll(&dice, 26) : ' ');
    text[LONG_LINE] = '\n';
    talk_send(&talk, text, LONG_LINE + 1);
    memcpy(text, "stop\nposition startpos moves ", 29);
    talk_send(&talk, text, LONG_LINE + 1);
    talk_say(&talk, "stop\nisready\n");
    talk_expect_ready(&talk, ++ready, "a line of 10 MB\n");
    talk_say(&talk, "stop\nposition startpos\nisready\n");
    talk_expect_ready(&talk, ++ready, "a position\n");
    long best = talk_best(&talk);
    talk_say(&talk, "go depth 3\n");
    talk_expect_best(&talk, best + 1);
    free(text);
    talk_end(&talk);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(random_and_mutated_lines_do_no_harm);
    return UNITY_END();
}
