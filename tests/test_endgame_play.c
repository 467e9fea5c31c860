// SPDX-License-Identifier: GPL-3.0-or-later
// King and queen, or king and rook, against the bare king, won by search alone: the engine has no tables, its
// opponent has the solver's and holds out as long as can be. Every game must end in mate within fifty moves.
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "tests/placing.h"
#include "unity.h"

enum { NODES = 20000 }; // a move

static const EndgameSet *Set; // the defender's, and the judge's

void setUp(void) {}
void tearDown(void) {}

static bool strong_side(const Position *pos) {
    return pos->stm == (position_occupied(pos) & ~pos->by_type[KING] & pos->by_colour[WHITE] ? WHITE : BLACK);
}

// A won position of a material: the next from index on that is not a draw. Every third is given to Black.
static Position won_position(const char *material, uint64_t *index) {
    for (;;) {
        Position pos;
        placing_random(&pos, material, 77, (*index)++);
        EndgameResult known = endgame_probe(Set, &pos);
        if (!known.known || known.wdl == 0 || known.dtm < 3) continue;
        return *index % 3 == 0 ? position_flip(&pos) : pos;
    }
}

// Plays one position to its end and gives the plies it took.
static int play_out(Engine *engine, Position pos) {
    char fen[FEN_SIZE], message[200];
    KeyStack history;
    Ending ending;
    SearchLimits limits = {.nodes = NODES};
    int plies = 0, distance = endgame_probe(Set, &pos).dtm;
    position_to_fen(&pos, fen);
    keystack_clear(&history);
    engine_new_game(engine);
    for (; (ending = position_ending(&pos, &history)) == ENDING_NONE; plies++) {
        Move move = MOVE_NONE;
        if (strong_side(&pos)) {
            engine_set_position(engine, &pos, &history);
            SearchResult result = engine_search(engine, &limits, NULL);
            TEST_ASSERT_EQUAL_UINT64(0, result.tbhits); // by search alone
            move = result.best;
        } else {
            move = endgame_best(Set, &pos);
        }
        TEST_ASSERT_TRUE(movegen_is_legal(&pos, move));
        Position after;
        keystack_push(&history, &pos);
        position_make(&after, &pos, move);
        pos = after;
    }
    snprintf(message, sizeof message, "%s: %d plies, mate was %d away", fen, plies, distance);
    TEST_ASSERT_EQUAL_INT_MESSAGE(ENDING_CHECKMATE, ending, message);
    TEST_ASSERT_FALSE_MESSAGE(strong_side(&pos), message);
    TEST_ASSERT_LESS_OR_EQUAL_INT_MESSAGE(100, plies, message);
    return plies;
}

static void win_all(const char *material) {
    int games = getenv("HONE_LONG") ? 200 : 20, longest = 0, lost_time = 0;
    uint64_t index = 0;
    Engine *engine = engine_create(4);
    Error error;
    TEST_ASSERT_TRUE(engine_set_option(engine, "BuiltinTables", "0", &error));
    for (int i = 0; i < games; i++) {
        Position pos = won_position(material, &index);
        int distance = endgame_probe(Set, &pos).dtm, plies = play_out(engine, pos);
        longest = int_max(longest, plies);
        lost_time += plies - distance;
    }
    engine_destroy(engine);
    printf("%s: %d of %d won, the longest in %d plies, on average %.1f more than needed\n", material, games,
           games, longest, (double)lost_time / games);
}

static void queen_wins_by_search_alone(void) { win_all("KQK"); }

static void rook_wins_by_search_alone(void) { win_all("KRK"); }

// The longest wins that there are.
static void the_longest_wins(void) {
    static const char *const Names[] = {"KQK", "KRK"};
    Engine *engine = engine_create(4);
    Error error;
    TEST_ASSERT_TRUE(engine_set_option(engine, "BuiltinTables", "0", &error));
    for (int i = 0; i < 2; i++) {
        EndgameMaterial material;
        EndgameStats stats;
        Position pos;
        TEST_ASSERT_TRUE(endgame_parse(Names[i], &material, &error));
        TEST_ASSERT_TRUE(endgame_stats(Set, &material, &stats, &error));
        TEST_ASSERT_TRUE(position_from_fen(&pos, stats.example[WHITE], &error));
        printf("%s: %d plies instead of %d\n", stats.example[WHITE], play_out(engine, pos),
               stats.longest[WHITE]);
    }
    engine_destroy(engine);
}

int main(void) {
    Set = endgame_open();
    if (!Set) return 1;
    UNITY_BEGIN();
    RUN_TEST(queen_wins_by_search_alone);
    RUN_TEST(rook_wins_by_search_alone);
    RUN_TEST(the_longest_wins);
    return UNITY_END();
}
