// SPDX-License-Identifier: GPL-3.0-or-later
// engine/nnue: every kernel gives the number that a plain reading of the definition gives, whichever way the
// sums were reached; symmetric under colour flip and mirror; engines with different nets do not disturb each
// other.
#include "engine/nnue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/movegen.h"
#include "engine/nnue_kernel.h"
#include "tests/nets.h"
#include "tests/positions.h"
#include "unity.h"

enum { POSITIONS = 10000 };

static Position *Sample; // random positions, half of them Chess960

void setUp(void) {
    bitboard_init();
    if (Sample) return;
    Sample = malloc(POSITIONS * sizeof *Sample);
    TEST_ASSERT_NOT_NULL(Sample);
    for (uint64_t i = 0; i < POSITIONS; i++) Sample[i] = random_position(11, i, i & 1);
}

void tearDown(void) {}

// --- the number itself

// One side's view of a FEN's board: a list of inputs, from the definition alone. Returns their count.
static int inputs_of(const char *fen, bool black, int inputs[64]) {
    char board[8][8]; // rank 0 is the first rank
    int count = 0, rank = 7, file = 0, king_file = 0;
    memset(board, 0, sizeof board);
    for (; *fen != ' '; fen++) {
        if (*fen == '/') rank--, file = 0;
        else if (*fen >= '1' && *fen <= '8') file += *fen - '0';
        else board[rank][file++] = *fen;
    }
    for (int r = 0; r < 8; r++)
        for (int f = 0; f < 8; f++)
            if (board[r][f] == (black ? 'k' : 'K')) king_file = f;
    for (int r = 0; r < 8; r++)
        for (int f = 0; f < 8; f++) {
            char piece = board[r][f];
            if (!piece) continue;
            bool is_black = piece >= 'a';
            const char *types = is_black ? "pnbrqk" : "PNBRQK";
            int type = (int)(strchr(types, piece) - types);
            int seen_file = king_file > 3 ? 7 - f : f, seen_rank = black ? 7 - r : r;
            inputs[count++] = 384 * (is_black != black) + 64 * type + 8 * seen_rank + seen_file;
        }
    return count;
}

// The evaluation as the file's description gives it, in 64-bit numbers, for the side to move.
static int reference(const TestNet *net, const Position *pos) {
    char fen[FEN_SIZE];
    position_to_fen(pos, fen);
    int hidden = net->weights.hidden, men = 0;
    int64_t sum = 0;
    int black = strchr(fen, ' ')[1] == 'b', bucket;
    for (int view = 0; view < 2; view++) { // the side to move first
        int inputs[64];
        men = inputs_of(fen, view ? !black : black, inputs);
        bucket = (men - 2) / 4;
        for (int n = 0; n < hidden; n++) {
            int64_t x = net->biases[n];
            for (int i = 0; i < men; i++) x += net->features[inputs[i] * hidden + n];
            x = x < 0 ? 0 : x > 480 ? 480 : x;
            sum += x * x / 16 * net->outputs[(bucket * 2 + view) * hidden + n];
        }
    }
    bucket = (men - 2) / 4;
    int64_t value = (16 * sum / 480 + net->output_biases[bucket]) * net->weights.scale / (480 * 512);
    return (int)(value > SCORE_EVAL_MAX ? SCORE_EVAL_MAX : value < -SCORE_EVAL_MAX ? -SCORE_EVAL_MAX : value);
}

static void the_evaluation_is_what_the_definition_says(void) {
    for (int large = 0; large < 2; large++) {
        TestNet *random = testnet_create(64, 5, large);
        Net *net = testnet_net(64, 5, large);
        int distinct = 0, last = 0;
        for (int i = 0; i < 2000; i++) {
            int value = nnue_value(net, &Sample[i]), outputs[NNUE_BUCKETS];
            TEST_ASSERT_EQUAL_INT(reference(random, &Sample[i]), value);
            nnue_outputs(net, &Sample[i], outputs);
            TEST_ASSERT_EQUAL_INT(value, outputs[nnue_bucket(&Sample[i])]);
            distinct += value != last;
            last = value;
        }
        TEST_ASSERT_GREATER_THAN_INT(1800, distinct);
        net_release(net);
        testnet_free(random);
    }
}

static void scores_stay_below_table_wins(void) {
    TestNet *random = testnet_create(32, 6, false);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < NNUE_BUCKETS; i++) random->output_biases[i] = sign * INT32_MAX;
        size_t size;
        char *bytes = testnet_bytes(random, "", &size);
        Net *net = net_parse(bytes, size, "test", NULL);
        TEST_ASSERT_NOT_NULL(net);
        TEST_ASSERT_EQUAL_INT(sign * SCORE_EVAL_MAX, nnue_value(net, &Sample[0]));
        net_release(net);
        free(bytes);
    }
    testnet_free(random);
}

static void every_kernel_gives_the_same_number(void) {
    static const int Hidden[] = {32, 64, 96, 128, 256, 512};
    int kernels = 0;
    while (nnue_kernel_at(kernels)) kernels++;
    TEST_ASSERT_EQUAL_PTR(nnue_kernel_best(), nnue_kernel_at(kernels - 1));
    for (size_t h = 0; h < sizeof Hidden / sizeof *Hidden; h++) {
        Net *net = testnet_net(Hidden[h], 20 + h, h & 1), plain = *net;
        plain.kernel = &NnueScalar;
        for (int i = 0; i < POSITIONS; i++) {
            int value = nnue_value(&plain, &Sample[i]);
            for (int k = 1; k < kernels; k++) {
                Net other = *net;
                other.kernel = nnue_kernel_at(k);
                if (nnue_value(&other, &Sample[i]) != value) TEST_FAIL_MESSAGE(other.kernel->name);
            }
        }
        net_release(net);
    }
    printf("%d kernels, %d positions\n", kernels, POSITIONS);
}

static void flip_and_mirror_change_nothing(void) {
    Net *net = testnet_net(64, 7, true);
    for (int i = 0; i < POSITIONS; i++) {
        Position pos = Sample[i], other = position_flip(&pos);
        int value = nnue_value(net, &pos);
        TEST_ASSERT_EQUAL_INT(value, nnue_value(net, &other));
        pos.castling = 0;
        memset(pos.castle_rook, NO_SQUARE, sizeof pos.castle_rook);
        position_rebuild(&pos);
        other = position_mirror(&pos);
        TEST_ASSERT_EQUAL_INT(value, nnue_value(net, &other));
    }
    net_release(net);
}

// --- sums that follow a search

// A line of positions as a search has it, and how often what happened in it.
typedef struct Walk {
    Position line[MAX_PLY + 1];
    int ply, crossings, nulls, jumps, compared;
    uint64_t seed, count;
} Walk;

static uint64_t roll(Walk *walk, uint64_t bound) {
    return random_below(random_at(31, walk->seed, walk->count++), bound);
}

// Goes one ply on, by a random move or by passing; false if there is no move.
static bool step(Walk *walk) {
    const Position *pos = &walk->line[walk->ply];
    Position *after = &walk->line[walk->ply + 1];
    MoveList list;
    movegen_list(pos, &list);
    if (!list.count || pos->rule50 > 100) return false;
    if (!pos->checkers && roll(walk, 8) == 0) {
        position_make_null(after, pos);
        walk->nulls++;
    } else {
        Move move = list.moves[roll(walk, (uint64_t)list.count)];
        for (int i = 0; i < list.count && roll(walk, 2) == 0; i++) // kings like to walk
            if (piece_type(pos->board[move_from(list.moves[i])]) == KING) move = list.moves[i];
        position_make(after, pos, move);
        walk->crossings +=
            square_file(position_king(pos, pos->stm)) / 4 != square_file(position_king(after, pos->stm)) / 4;
    }
    walk->ply++;
    return true;
}

static void any_walk_through_the_tree_gives_what_a_fresh_sum_gives(void) {
    enum { GAMES = 1000, STEPS = 200 };
    Net *nets[3] = {testnet_net(32, 8, false), testnet_net(64, 9, true), testnet_net(32, 10, true)};
    Nnue *nnue = aligned_alloc(64, sizeof *nnue);
    Walk *walk = calloc(1, sizeof *walk);
    TEST_ASSERT_TRUE(nnue && walk);
    memset(nnue, 0xa5, sizeof *nnue); // it needs no zeros but these
    nnue->net = NULL;
    for (uint64_t game = 0; game < GAMES; game++) {
        const Net *net = nets[game / 10 % 3];
        nnue_prepare(nnue, net);
        walk->seed = game;
        walk->count = 0;
        walk->ply = 0;
        walk->line[0] = game % 5 ? random_position(12, game, game & 1) : Sample[0];
        for (int i = 0; i < STEPS; i++) {
            if (walk->ply >= MAX_PLY - 1 || !step(walk) ||
                roll(walk, 6) == 0) { // back up some way, as a search does
                walk->ply = (int)roll(walk, (uint64_t)walk->ply + 1);
                walk->jumps++;
            }
            if (roll(walk, 3) == 0) continue; // not every node is evaluated
            const Position *pos = &walk->line[walk->ply];
            TEST_ASSERT_EQUAL_INT(nnue_value(net, pos), nnue_evaluate(nnue, pos, walk->ply));
            walk->compared++;
        }
    }
    printf("%d games: %d compared, %d king crossings, %d null moves, %d jumps back\n", GAMES, walk->compared,
           walk->crossings, walk->nulls, walk->jumps);
    TEST_ASSERT_GREATER_THAN_INT(100 * GAMES, walk->compared);
    TEST_ASSERT_GREATER_THAN_INT(GAMES, walk->crossings);
    TEST_ASSERT_GREATER_THAN_INT(GAMES, walk->nulls);
    free(walk);
    free(nnue);
    for (int i = 0; i < 3; i++) net_release(nets[i]);
}

// --- engines

static Engine *engine_with(const Net *net) {
    Engine *engine = engine_create(1);
    TEST_ASSERT_NOT_NULL(engine);
    engine_set_net(engine, net);
    return engine;
}

typedef struct Found {
    uint64_t nodes;
    int score;
    Move best;
} Found;

static Found found(SearchResult result) { return (Found){result.nodes, result.score, result.best}; }

static void engines_with_different_nets_do_not_disturb_each_other(void) {
    enum { ASKED = 12 };
    const SearchLimits limits = {.nodes = 3000};
    Net *nets[2] = {testnet_net(64, 13, false), testnet_net(128, 14, false)};
    Found alone[2][ASKED];
    for (int side = 0; side < 2; side++) {
        Engine *engine = engine_with(nets[side]);
        for (int i = 0; i < ASKED; i++) {
            engine_set_position(engine, &Sample[2 * i], NULL);
            alone[side][i] = found(engine_search(engine, &limits, NULL));
        }
        engine_destroy(engine);
    }
    TEST_ASSERT_NOT_EQUAL(0, memcmp(alone[0], alone[1], sizeof alone[0]));
    Engine *engines[3] = {engine_with(nets[0]), engine_with(nets[1]), engine_with(nets[0])};
    TEST_ASSERT_EQUAL_INT(3, atomic_load(&nets[0]->users)); // shared, not copied
    for (int i = 0; i < ASKED; i++) {
        for (int e = 0; e < 3; e++) {
            engine_set_position(engines[e], &Sample[2 * i], NULL);
            engine_start(engines[e], &limits, NULL);
        }
        for (int e = 0; e < 3; e++) {
            Found now = found(engine_wait(engines[e]));
            TEST_ASSERT_EQUAL_UINT64(alone[e & 1][i].nodes, now.nodes);
            TEST_ASSERT_EQUAL_INT(alone[e & 1][i].score, now.score);
            TEST_ASSERT_EQUAL_INT(alone[e & 1][i].best, now.best);
        }
    }
    for (int e = 0; e < 3; e++) engine_destroy(engines[e]);
    TEST_ASSERT_EQUAL_INT(1, atomic_load(&nets[0]->users));
    for (int i = 0; i < 2; i++) net_release(nets[i]);
}

static Found found_with(Engine *engine) {
    engine_new_game(engine);
    engine_set_position(engine, &Sample[4], NULL);
    return found(engine_search(engine, &(SearchLimits){.depth = 7}, NULL));
}

static void the_net_can_be_changed_and_switched_off(void) {
    Net *nets[2] = {testnet_net(64, 13, false), testnet_net(64, 14, false)};
    Engine *engine = engine_with(NULL);
    Found hand = found_with(engine);
    engine_set_net(engine, nets[0]);
    Found first = found_with(engine);
    engine_set_net(engine, nets[1]);
    Found second = found_with(engine);
    TEST_ASSERT_TRUE(hand.nodes != first.nodes && first.nodes != second.nodes);
    engine_set_net(engine, nets[0]);
    TEST_ASSERT_EQUAL_UINT64(first.nodes, found_with(engine).nodes); // nothing of the second is left
    TEST_ASSERT_TRUE(engine_set_option(engine, "Evaluation", "hand", NULL));
    TEST_ASSERT_EQUAL_UINT64(hand.nodes, found_with(engine).nodes);
    TEST_ASSERT_TRUE(engine_set_option(engine, "Evaluation", "net", NULL));
    TEST_ASSERT_EQUAL_UINT64(first.nodes, found_with(engine).nodes);
    engine_destroy(engine);
    for (int i = 0; i < 2; i++) net_release(nets[i]);
}

static void eval_explains_buckets_and_men(void) {
    char text[16000], small[100], expected[64];
    Net *net = testnet_net(64, 15, false);
    Engine *engine = engine_with(net);
    Position pos, less;
    position_from_fen(&pos, "4k3/8/8/3q4/8/2N5/PPP5/4K3 b - - 0 1", NULL);
    position_from_fen(&less, "4k3/8/8/3q4/8/8/PPP5/4K3 b - - 0 1", NULL);
    engine_set_position(engine, &pos, NULL);
    engine_explain(engine, text, sizeof text);
    snprintf(expected, sizeof expected, "Net %016llx, 64 hidden", (unsigned long long)net->digest);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, expected), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "for a test"), text);
    snprintf(expected, sizeof expected, "1 ( 6- 9) %+6d*", -nnue_value(net, &pos));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, expected), text);
    snprintf(expected, sizeof expected, "|%+6d |", nnue_value(net, &less) - nnue_value(net, &pos));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, expected), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "Material+place"), text); // the hand-written terms follow
    memset(small, 'x', sizeof small);
    engine_explain(engine, small, 60);
    TEST_ASSERT_LESS_THAN_INT(60, strlen(small));
    TEST_ASSERT_EQUAL_INT('x', small[60]);
    engine_set_net(engine, NULL);
    engine_explain(engine, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "No net"), text);
    engine_destroy(engine);
    net_release(net);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_evaluation_is_what_the_definition_says);
    RUN_TEST(scores_stay_below_table_wins);
    RUN_TEST(every_kernel_gives_the_same_number);
    RUN_TEST(flip_and_mirror_change_nothing);
    RUN_TEST(any_walk_through_the_tree_gives_what_a_fresh_sum_gives);
    RUN_TEST(engines_with_different_nets_do_not_disturb_each_other);
    RUN_TEST(the_net_can_be_changed_and_switched_off);
    RUN_TEST(eval_explains_buckets_and_men);
    free(Sample);
    return UNITY_END();
}
