// SPDX-License-Identifier: GPL-3.0-or-later
// Another program counts the same: perft, move by move, against one stockfish process on 2,000 random
// positions, half of them Chess960. A long test; an ordinary run compares 40. Skipped where stockfish is not
// installed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/movegen.h"
#include "engine/notation.h"
#include "tests/positions.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

typedef struct Peer {
    FILE *in, *out;
    pid_t pid;
} Peer;

static const char *peer_path(void) {
    static const char *const places[] = {"/usr/games/stockfish", "/usr/bin/stockfish",
                                         "/usr/local/bin/stockfish"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (!access(places[i], X_OK)) return places[i];
    return NULL;
}

static Peer peer_start(const char *path) {
    int to[2], back[2];
    TEST_ASSERT_EQUAL_INT(0, pipe(to));
    TEST_ASSERT_EQUAL_INT(0, pipe(back));
    Peer peer = {.pid = fork()};
    if (!peer.pid) {
        dup2(to[0], 0);
        dup2(back[1], 1);
        close(to[1]);
        close(back[0]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(back[1]);
    peer.in = fdopen(to[1], "w");
    peer.out = fdopen(back[0], "r");
    setvbuf(peer.in, NULL, _IOLBF, 0);
    return peer;
}

// Compares every line "e2e4: 20" of the peer's count with ours, and the sum.
static void compare(Peer *peer, const Position *pos, int depth) {
    char fen[FEN_SIZE], line[256], text[400];
    position_to_fen(pos, fen);
    fprintf(peer->in, "setoption name UCI_Chess960 value %s\nposition fen %s\ngo perft %d\n",
            pos->chess960 ? "true" : "false", fen, depth);
    int roots = 0;
    while (fgets(line, sizeof line, peer->out)) {
        unsigned long long count;
        char name[8];
        if (sscanf(line, "Nodes searched: %llu", &count) == 1) {
            snprintf(text, sizeof text, "%s depth %d", fen, depth);
            TEST_ASSERT_EQUAL_UINT64_MESSAGE(count, movegen_perft(pos, depth), text);
            Move moves[MAX_MOVES];
            TEST_ASSERT_EQUAL_INT_MESSAGE(movegen(pos, moves, GEN_ALL), roots, text);
            return;
        }
        if (sscanf(line, "%7[a-h1-8nbrq]: %llu", name, &count) != 2) continue;
        snprintf(text, sizeof text, "%s after %s", fen, name);
        Move move = notation_from_uci(pos, name);
        TEST_ASSERT_NOT_EQUAL_MESSAGE(MOVE_NONE, move, text);
        Position after;
        position_make(&after, pos, move);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(count, movegen_perft(&after, depth - 1), text);
        roots++;
    }
    TEST_FAIL_MESSAGE("stockfish ended early");
}

static void stockfish_counts_the_same(void) {
    const char *path = peer_path();
    if (!path) TEST_IGNORE_MESSAGE("skipped: stockfish is not installed");
    Peer peer = peer_start(path);
    const uint64_t positions = test_long() ? 2000 : 40;
    for (uint64_t i = 0; i < positions; i++) {
        Position pos = random_position(51, i, i % 2);
        if (movegen_any(&pos)) compare(&peer, &pos, 3);
    }
    fprintf(peer.in, "quit\n");
    fclose(peer.in);
    fclose(peer.out);
    TEST_ASSERT_EQUAL_INT(peer.pid, waitpid(peer.pid, NULL, 0));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(stockfish_counts_the_same);
    return UNITY_END();
}
