// SPDX-License-Identifier: GPL-3.0-or-later
// engine/endgame: published figures, and every value against those of its successors as position.c and
// movegen.c make them, which share no code with the solver. The four-man materials but one take HONE_LONG=1.
#include "engine/endgame.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"
#include "tests/placing.h"
#include "unity.h"

static const EndgameSet *Set;

void setUp(void) {}
void tearDown(void) {}

static bool long_run(void) { return getenv("HONE_LONG") != NULL; }

static EndgameStats stats_of(const char *name) {
    EndgameMaterial material;
    EndgameStats stats;
    Error error = {0};
    TEST_ASSERT_TRUE_MESSAGE(endgame_parse(name, &material, &error), error.text);
    TEST_ASSERT_TRUE_MESSAGE(endgame_extend(&material, &error), error.text);
    TEST_ASSERT_TRUE_MESSAGE(endgame_stats(Set, &material, &stats, &error), error.text);
    return stats;
}

static Position position_of(const char *fen) {
    Position pos;
    Error error = {0};
    TEST_ASSERT_TRUE_MESSAGE(position_from_fen(&pos, fen, &error), error.text);
    return pos;
}

// What the moves of a position say of it: one ply further than the best of its successors.
static EndgameResult from_successors(const Position *pos) {
    MoveList list;
    movegen_list(pos, &list);
    EndgameResult best = {true, -2, 0};
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_make(&after, pos, list.moves[i]);
        EndgameResult child = endgame_probe(Set, &after);
        TEST_ASSERT_TRUE(child.known);
        EndgameResult mine = {true, -child.wdl, child.wdl ? child.dtm + 1 : 0};
        bool better = mine.wdl > best.wdl ||
                      (mine.wdl == best.wdl && (mine.wdl > 0 ? mine.dtm < best.dtm : mine.dtm > best.dtm));
        if (better) best = mine;
    }
    if (list.count == 0) best = (EndgameResult){true, pos->checkers ? -1 : 0, 0};
    return best;
}

static void check_position(const Position *pos) {
    EndgameResult expected = from_successors(pos), found = endgame_probe(Set, pos);
    char fen[FEN_SIZE];
    position_to_fen(pos, fen);
    TEST_ASSERT_TRUE_MESSAGE(found.known, fen);
    TEST_ASSERT_EQUAL_INT_MESSAGE(expected.wdl, found.wdl, fen);
    TEST_ASSERT_EQUAL_INT_MESSAGE(expected.dtm, found.dtm, fen);
}

static void longest_wins_of_three_men_are_the_published_ones(void) {
    static const struct {
        const char *name;
        int moves;
    } Published[] = {{"KQK", 10}, {"KRK", 16}, {"KPK", 28}, {"KBK", 0}, {"KNK", 0}};
    for (size_t i = 0; i < sizeof Published / sizeof *Published; i++) {
        EndgameStats stats = stats_of(Published[i].name);
        TEST_ASSERT_EQUAL_INT_MESSAGE(2 * Published[i].moves - (Published[i].moves > 0), stats.longest[WHITE],
                                      Published[i].name);
        TEST_ASSERT_EQUAL_INT(0, stats.longest[BLACK]);
        if (!Published[i].moves) continue;
        Position example = position_of(stats.example[WHITE]);
        TEST_ASSERT_EQUAL_INT(stats.longest[WHITE], endgame_probe(Set, &example).dtm);
    }
}

// The literature of KPK bitbases gives 331,352 positions, of which 222,564 are won.
static void king_and_pawn_counts_are_the_published_ones(void) {
    EndgameStats stats = stats_of("KPK");
    TEST_ASSERT_EQUAL_UINT64(222564, stats.wins[WHITE] + stats.losses[BLACK]);
    TEST_ASSERT_EQUAL_UINT64(331352 - 222564, stats.draws[WHITE] + stats.draws[BLACK]);
    TEST_ASSERT_EQUAL_UINT64(0, stats.losses[WHITE] + stats.wins[BLACK]);
    EndgameStats turned = stats_of("KKP");
    TEST_ASSERT_EQUAL_UINT64(stats.wins[WHITE], turned.wins[BLACK]);
    TEST_ASSERT_EQUAL_UINT64(stats.losses[BLACK], turned.losses[WHITE]);
    Position example = position_of(turned.example[BLACK]);
    TEST_ASSERT_EQUAL_INT(55, endgame_probe(Set, &example).dtm);
}

static void every_position_of_three_men_agrees_with_its_successors(void) {
    int step = long_run() ? 1 : 29; // a prime, so that all squares occur
    for (int m = 0; m < THREE_MEN; m++) {
        uint8_t type = (uint8_t)(strchr("PNBRQ", ThreeMen[m][1]) - "PNBRQ");
        uint8_t pieces[3] = {(uint8_t)piece_make(WHITE, KING), (uint8_t)piece_make(BLACK, KING),
                             (uint8_t)piece_make(WHITE, type)};
        int checked = 0;
        for (int i = 0; i < 4 * SQUARES * SQUARES * SQUARES; i += step) {
            int squares[3] = {i & 63, i >> 6 & 63, i >> 12 & 63};
            Position pos;
            pieces[2] = (uint8_t)(piece_make(WHITE, type) ^ i >> 19);
            if (!placing_make(&pos, pieces, squares, 3, i >> 18 & 1, NO_SQUARE)) continue;
            check_position(&pos);
            checked++;
        }
        TEST_ASSERT_GREATER_THAN(600000 / step, checked);
    }
}

static void check_random(const char *name, int count) {
    EndgameMaterial material;
    Error error = {0};
    TEST_ASSERT_TRUE(endgame_parse(name, &material, &error));
    TEST_ASSERT_TRUE_MESSAGE(endgame_extend(&material, &error), error.text);
    for (int i = 0; i < count; i++) {
        Position pos;
        placing_random(&pos, name, 4, (uint64_t)i);
        check_position(&pos);
        Position flipped = position_flip(&pos), mirrored = position_mirror(&pos);
        EndgameResult found = endgame_probe(Set, &pos), turned = endgame_probe(Set, &flipped),
                      other = endgame_probe(Set, &mirrored);
        TEST_ASSERT_TRUE(turned.known && turned.wdl == found.wdl && turned.dtm == found.dtm);
        TEST_ASSERT_TRUE(other.known && other.wdl == found.wdl && other.dtm == found.dtm);
    }
}

// Both sides can win; and a side that is lost can choose between being mated and taking into a longer loss.
static void two_materials_of_four_men_agree_with_their_successors(void) {
    check_random("KQKR", 20000);
    EndgameStats stats = stats_of("KQKR");
    TEST_ASSERT_EQUAL_INT(2 * 35 - 1, stats.longest[WHITE]);
    TEST_ASSERT_EQUAL_INT(2 * 19 - 1, stats.longest[BLACK]);
    check_random("KRRK", 20000);
    TEST_ASSERT_EQUAL_INT(2 * 7 - 1, stats_of("KRRK").longest[WHITE]);
}

// Distances in moves as the endgame literature and the Nalimov tables give them: for the side named first,
// and the other.
static void longest_wins_of_four_men_are_the_published_ones(void) {
    static const struct {
        const char *name;
        int white, black;
    } Published[] = {{"KBNK", 33, 0},  {"KRKN", 40, 1},  {"KBBK", 19, 0},  {"KQKN", 21, 0},  {"KQKB", 17, 0},
                     {"KRKB", 29, 0},  {"KQKQ", 13, 13}, {"KRKR", 19, 19}, {"KNNK", 1, 0},   {"KQKP", 28, 29},
                     {"KRKP", 26, 43}, {"KBKP", 1, 29},  {"KNKP", 7, 29},  {"KPKP", 33, 33}, {"KPPK", 32, 0}};
    if (!long_run()) TEST_IGNORE_MESSAGE("skipped: HONE_LONG=1 builds all tables");
    for (size_t i = 0; i < sizeof Published / sizeof *Published; i++) {
        EndgameStats stats = stats_of(Published[i].name);
        TEST_ASSERT_EQUAL_INT_MESSAGE(Published[i].white, (stats.longest[WHITE] + 1) / 2, Published[i].name);
        TEST_ASSERT_EQUAL_INT_MESSAGE(Published[i].black, (stats.longest[BLACK] + 1) / 2, Published[i].name);
    }
}

static void random_positions_of_all_four_men_agree_with_their_successors(void) {
    if (!long_run()) TEST_IGNORE_MESSAGE("skipped: HONE_LONG=1 builds all tables");
    for (int m = 0; m < FOUR_MEN; m++) check_random(FourMen[m], 20000);
    int ep = 0;
    for (uint64_t i = 0; ep < 5000; i++) {
        Position pos;
        placing_random(&pos, "KPKP", 5, i);
        if (pos.ep == NO_SQUARE) continue;
        check_position(&pos);
        ep++;
    }
}

static void known_positions(void) {
    static const struct {
        const char *fen;
        int wdl, dtm;
    } Known[] = {
        {"8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", 0, 0},   // stalemate
        {"7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", 1, 1},    // mate in one
        {"7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", -1, 0},   // mated
        {"4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", 1, 21},  // king before the pawn on the sixth
        {"8/8/8/8/k7/8/P7/K7 w - - 0 1", 0, 0},      // rook's pawn
        {"7k/8/8/8/8/8/8/K7 w - - 0 1", 0, 0},       // bare kings
        {"8/8/8/8/8/1k6/p7/K7 w - - 0 1", 0, 0},     // stalemate in the corner
    };
    for (size_t i = 0; i < sizeof Known / sizeof *Known; i++) {
        Position pos = position_of(Known[i].fen);
        EndgameResult result = endgame_probe(Set, &pos);
        TEST_ASSERT_TRUE_MESSAGE(result.known, Known[i].fen);
        TEST_ASSERT_EQUAL_INT_MESSAGE(Known[i].wdl, result.wdl, Known[i].fen);
        TEST_ASSERT_EQUAL_INT_MESSAGE(Known[i].dtm, result.dtm, Known[i].fen);
    }
}

static void best_moves_mate_in_the_distance(void) {
    for (uint64_t i = 0; i < 300; i++) {
        Position pos, after;
        placing_random(&pos, ThreeMen[i % 2 ? 1 : 4], 6, i);
        EndgameResult result = endgame_probe(Set, &pos);
        if (!result.wdl) continue;
        for (int ply = 0; ply < result.dtm; ply++, pos = after) {
            Move best = endgame_best(Set, &pos);
            TEST_ASSERT_TRUE(movegen_is_legal(&pos, best));
            position_make(&after, &pos, best);
        }
        TEST_ASSERT_TRUE(pos.checkers && !movegen_any(&pos));
    }
}

static void what_it_cannot_know_is_refused_with_a_reason(void) {
    EndgameMaterial material;
    Error error;
    Position five = position_of("4k3/8/8/8/8/8/4PPP1/4K3 w - - 0 1"),
             castle = position_of("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    TEST_ASSERT_FALSE(endgame_material(&five, &material, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "5 men"));
    TEST_ASSERT_FALSE(endgame_material(&castle, &material, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "castling"));
    TEST_ASSERT_FALSE(endgame_probe(Set, &five).known);
    TEST_ASSERT_FALSE(endgame_probe(Set, &castle).known);
    static const char *const Bad[] = {"", "K", "QK", "KK?", "KQKRN", "KKK", "krk", "KQvR", "vKK", "KQRBK"};
    for (size_t i = 0; i < sizeof Bad / sizeof *Bad; i++)
        TEST_ASSERT_FALSE_MESSAGE(endgame_parse(Bad[i], &material, &error), Bad[i]);
    static const char *const Good[] = {"KK", "KQK", "KKQ", "KvKQ", "KQvKR", "KQRK", "KPvKP"};
    for (size_t i = 0; i < sizeof Good / sizeof *Good; i++)
        TEST_ASSERT_TRUE_MESSAGE(endgame_parse(Good[i], &material, &error), Good[i]);
}

static void *open_and_probe(void *fen) {
    const EndgameSet *set = endgame_open();
    Position pos;
    bool read = position_from_fen(&pos, fen, NULL);
    return read && set && endgame_probe(set, &pos).wdl == 1 ? fen : NULL;
}

// The first test of all, so that the tables are built under it.
static void many_threads_may_open_at_once(void) {
    pthread_t threads[4];
    char fen[] = "8/8/8/3k4/8/8/8/KR6 w - - 0 1";
    bitboard_init();
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, open_and_probe, fen));
    for (int i = 0; i < 4; i++) {
        void *found;
        pthread_join(threads[i], &found);
        TEST_ASSERT_EQUAL_PTR(fen, found);
    }
    Set = endgame_open();
    TEST_ASSERT_NOT_NULL(Set);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(many_threads_may_open_at_once);
    RUN_TEST(longest_wins_of_three_men_are_the_published_ones);
    RUN_TEST(king_and_pawn_counts_are_the_published_ones);
    RUN_TEST(known_positions);
    RUN_TEST(every_position_of_three_men_agrees_with_its_successors);
    RUN_TEST(best_moves_mate_in_the_distance);
    RUN_TEST(what_it_cannot_know_is_refused_with_a_reason);
    RUN_TEST(two_materials_of_four_men_agree_with_their_successors);
    RUN_TEST(longest_wins_of_four_men_are_the_published_ones);
    RUN_TEST(random_positions_of_all_four_men_agree_with_their_successors);
    return UNITY_END();
}
