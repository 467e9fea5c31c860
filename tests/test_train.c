// SPDX-License-Identifier: GPL-3.0-or-later
// The trainer: its gradient against differences of a loss written a second time in doubles, a batch learnt by
// heart, runs that are killed and go on, the quantised net against the floats, the filters, the shuffle.
#include "tuner/train.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/eval.h"
#include "engine/movegen.h"
#include "engine/nnue.h"
#include "engine/weights.h"
#include "tuner/train_run.h"
#include "unity.h"

void setUp(void) { bitboard_init(); }
void tearDown(void) {}

// A random game, scored by the hand-written evaluation.
static void random_game(DataGame *game, uint64_t number, int plies) {
    Position pos[2];
    *game = (DataGame){.random_plies = 4, .result = (int)(number % 3)};
    position_from_fen(&game->start, START_FEN, NULL);
    pos[0] = game->start;
    for (int ply = 0; ply < plies; ply++) {
        MoveList list;
        movegen_list(&pos[ply & 1], &list);
        if (!list.count) break;
        const uint64_t random = random_at(11, number, (uint64_t)ply);
        game->moves[ply] = list.moves[random_below(random, (uint64_t)list.count)];
        game->scores[ply] = (int16_t)int_clamp(eval_parts(&pos[ply & 1], &DefaultWeights).total, -3000, 3000);
        position_make(&pos[~ply & 1], &pos[ply & 1], game->moves[ply]);
        game->ply_count++;
    }
}

static TrainData random_data(uint64_t games, int plies) {
    TrainData data = {0};
    const TrainFilter filter = {.max_score = 2500, .max_rule50 = 80, .held_out = 5};
    DataGame *game = malloc(sizeof *game);
    TEST_ASSERT_NOT_NULL(game);
    for (uint64_t i = 0; i < games; i++) {
        random_game(game, i, plies);
        TEST_ASSERT_TRUE(train_data_add(&data, game, &filter));
    }
    free(game);
    return data;
}

// --- the data

static void inputs_are_those_of_the_engine(void) {
    DataGame *game = malloc(sizeof *game);
    Position pos[2];
    int seen = 0;
    for (uint64_t number = 0; number < 20; number++) {
        random_game(game, number, 150);
        pos[0] = game->start;
        for (int ply = 0; ply < game->ply_count; ply++) {
            const Position *p = &pos[ply & 1];
            const TrainPosition packed = train_pack(p, 123, 2);
            TEST_ASSERT_EQUAL(p->stm == WHITE ? 123 : -123, packed.score);
            TEST_ASSERT_EQUAL(p->stm == WHITE ? 2 : 0, packed.result);
            TEST_ASSERT_EQUAL(nnue_bucket(p), train_bucket(&packed));
            TrainInputs inputs;
            train_inputs(&packed, &inputs);
            for (int side = 0; side < 2; side++) {
                bool wanted[NNUE_INPUTS] = {0};
                const int view = p->stm ^ side;
                for (int square = 0; square < SQUARES; square++)
                    if (p->board[square] != NO_PIECE)
                        wanted[nnue_feature(view, position_king(p, view), p->board[square], square)] = true;
                for (int i = 0; i < packed.men; i++) {
                    TEST_ASSERT_TRUE(wanted[inputs.index[i][side]]);
                    wanted[inputs.index[i][side]] = false;
                }
                for (int i = 0; i < NNUE_INPUTS; i++) TEST_ASSERT_FALSE(wanted[i]);
            }
            Position again;
            train_unpack(&packed, &again);
            const Position turned = p->stm == WHITE ? *p : position_flip(p);
            TEST_ASSERT_EQUAL_MEMORY(turned.board, again.board, sizeof again.board);
            TEST_ASSERT_TRUE(position_ok(&again));
            seen++;
            position_make(&pos[~ply & 1], p, game->moves[ply]);
        }
    }
    TEST_ASSERT_TRUE(seen > 1000);
    free(game);
}

// Moves by their squares, all legal where they are used.
static void play(DataGame *game, int from, int to, int kind, int score) {
    const int ply = game->ply_count++;
    game->moves[ply] = (Move)(move_make(from, to) | kind);
    game->scores[ply] = (int16_t)score;
}

static void every_filter_is_counted(void) {
    enum {
        D2 = 11,
        D4 = 27,
        E4 = 28,
        D5 = 35,
        D7 = 51,
        E2 = 12,
        B5 = 33,
        C6 = 42,
        C7 = 50,
        F7 = 53,
        F6 = 45,
        A2 = 8,
        A3 = 16
    };
    DataGame *game = calloc(1, sizeof *game);
    position_from_fen(&game->start, START_FEN, NULL);
    game->random_plies = 1, game->result = 2;
    play(game, E2, E4, 0, 0);     // random
    play(game, D7, D5, 0, 20);    // early
    play(game, E4, D5, 0, 30);    // takes
    play(game, C7, C6, 0, 40);    // fine
    play(game, F1, B5, 0, -60);   // fine
    play(game, F7, F6, 0, 2600);  // decided; Black's pawn on c6 shields the king
    play(game, D5, C6, 0, 50);    // takes
    play(game, 57, 42, 0, 45);    // b8xc6 takes
    play(game, B5, 42, 0, 90);    // takes, with check
    play(game, 60, 53, 0, 80);    // in check: e8f7
    play(game, A2, A3, 0, -2500); // fine
    TrainData data = {0};
    const TrainFilter filter = {.skip = 2, .max_score = 2500, .max_rule50 = 80, .held_out = 1000000};
    TEST_ASSERT_TRUE(train_data_add(&data, game, &filter));
    TEST_ASSERT_EQUAL(1, data.counts.dropped[DROP_RANDOM]);
    TEST_ASSERT_EQUAL(1, data.counts.dropped[DROP_SKIP]);
    TEST_ASSERT_EQUAL(4, data.counts.dropped[DROP_NOISY]);
    TEST_ASSERT_EQUAL(1, data.counts.dropped[DROP_CHECK]);
    TEST_ASSERT_EQUAL(1, data.counts.dropped[DROP_SCORE]);
    TEST_ASSERT_EQUAL(0, data.counts.dropped[DROP_RULE50]);
    TEST_ASSERT_EQUAL(11, data.counts.plies);
    TEST_ASSERT_EQUAL(3, data.list[0].count);
    TEST_ASSERT_EQUAL(-40, data.list[0].positions[0].score); // Black to move, and White won
    TEST_ASSERT_EQUAL(0, data.list[0].positions[0].result);
    TEST_ASSERT_EQUAL(-60, data.list[0].positions[1].score);
    TEST_ASSERT_EQUAL(2, data.list[0].positions[1].result);
    train_data_free(&data);

    // A promotion that takes nothing, and a count that is too high.
    *game = (DataGame){0};
    TEST_ASSERT_TRUE(position_from_fen(&game->start, "8/P6k/8/8/8/8/8/K7 w - - 81 90", NULL));
    play(game, 0, 1, 0, 500);
    game->moves[0] = move_make(0, 1);
    play(game, 55, 54, 0, 500);
    game->moves[2] = move_make_promotion(48, 56, QUEEN);
    game->ply_count = 3;
    TEST_ASSERT_TRUE(train_data_add(&data, game, &filter));
    TEST_ASSERT_EQUAL(2, data.counts.dropped[DROP_SKIP]);
    TEST_ASSERT_EQUAL(1, data.counts.dropped[DROP_NOISY]);
    const TrainFilter all = {.max_score = 2500, .max_rule50 = 80, .held_out = 1000000};
    TEST_ASSERT_TRUE(train_data_add(&data, game, &all));
    TEST_ASSERT_EQUAL(2, data.counts.dropped[DROP_RULE50]);
    train_data_free(&data);
    free(game);
}

static void whole_games_are_held_out(void) {
    TrainData data = random_data(200, 60);
    TEST_ASSERT_TRUE(data.counts.held_games > 15 && data.counts.held_games < 75); // one in five
    TEST_ASSERT_TRUE(data.list[1].count > 10 * data.counts.held_games);           // all of each
    uint64_t kept = data.list[0].count + data.list[1].count;
    for (int i = 0; i < DROPS; i++) kept += data.counts.dropped[i];
    TEST_ASSERT_EQUAL(data.counts.plies, kept);
    train_data_free(&data);
}

static void a_shuffle_finds_every_position_once(void) {
    static const size_t Counts[] = {1, 2, 3, 5, 64, 65, 1000, 4097, 100003};
    for (size_t c = 0; c < sizeof Counts / sizeof *Counts; c++)
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            bool *seen = calloc(Counts[c], sizeof *seen);
            size_t fixed = 0;
            for (size_t i = 0; i < Counts[c]; i++) {
                const size_t place = train_shuffle(7, epoch, Counts[c], i);
                TEST_ASSERT_TRUE(place < Counts[c] && !seen[place]);
                seen[place] = true, fixed += place == i;
            }
            TEST_ASSERT_TRUE(Counts[c] < 1000 || fixed < 10);
            free(seen);
        }
}

// --- the mathematics

// The loss of one position, from the meaning of the net and without the trainer's layout of inputs.
static double reference_loss(const double *w, int hidden, const TrainPosition *packed, double lambda,
                             double power, double scale) {
    Position pos;
    train_unpack(packed, &pos);
    double out = w[train_at_output_bias(hidden, nnue_bucket(&pos))];
    for (int side = WHITE; side <= BLACK; side++)
        for (int n = 0; n < hidden; n++) {
            double sum = w[train_at_bias(hidden, n)];
            for (int square = 0; square < SQUARES; square++)
                if (pos.board[square] != NO_PIECE)
                    sum += w[train_at_input(
                        hidden, nnue_feature(side, position_king(&pos, side), pos.board[square], square), n)];
            sum = fmin(fmax(sum, 0), 1);
            out += sum * sum * w[train_at_output(hidden, nnue_bucket(&pos), side, n)];
        }
    const double target = lambda * packed->result / 2. + (1 - lambda) / (1 + exp(-packed->score / scale));
    return pow(fabs(1 / (1 + exp(-out)) - target), power);
}

static double reference_sum(const double *w, int hidden, const TrainPosition *positions, size_t count,
                            const TrainPlan *plan) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum +=
            reference_loss(w, hidden, &positions[i], train_lambda(plan, 0), plan->power, plan->score_scale);
    return sum;
}

static void check_gradient(double power) {
    enum { COUNT = 24, HIDDEN = 32, CHECKS = 400 };
    TrainData data = random_data(30, 120);
    TrainPlan plan = TRAIN_DEFAULTS;
    TrainState state;
    Error error = {""};
    plan.hidden = HIDDEN, plan.power = power, plan.steps = 100, plan.lambda_start = .3, plan.threads = 1;
    TEST_ASSERT_TRUE(train_state_new(&state, &plan, &error));
    // Large enough that some neurons are below 0 and some above 1.
    for (size_t i = 0; i < state.size; i++) state.weights[i] *= 4;
    TrainPosition positions[COUNT];
    for (size_t i = 0; i < COUNT; i++) positions[i] = data.list[0].positions[i * data.list[0].count / COUNT];
    Trainer *trainer = trainer_new(&plan, &data, &state, &error);
    float *gradient = aligned_alloc(64, state.size * sizeof *gradient);
    memset(gradient, 0, state.size * sizeof *gradient);
    const double loss = trainer_gradient(trainer, positions, COUNT, gradient);
    double *w = malloc(state.size * sizeof *w);
    for (size_t i = 0; i < state.size; i++) w[i] = state.weights[i];
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, reference_sum(w, HIDDEN, positions, COUNT, &plan) / COUNT, loss);
    double largest = 0;
    for (size_t i = 0; i < state.size; i++) largest = fmax(largest, fabs(gradient[i]));
    int moving = 0;
    for (uint64_t k = 0; k < CHECKS; k++) {
        const size_t first = k < CHECKS / 2 ? 0 : train_at_bias(HIDDEN, 0); // half of them in the last layers
        const size_t i =
            first + random_below(random_at(3, 1, k), train_at_output_bias(HIDDEN, NNUE_BUCKETS) - first);
        const double old = w[i], step = 1e-5;
        w[i] = old + step;
        const double up = reference_sum(w, HIDDEN, positions, COUNT, &plan);
        w[i] = old - step;
        const double down = reference_sum(w, HIDDEN, positions, COUNT, &plan);
        w[i] = old;
        const double slope = (up - down) / (2 * step);
        TEST_ASSERT_DOUBLE_WITHIN(1e-3 * fabs(slope) + 1e-5 * largest, slope, gradient[i]);
        moving += fabs(slope) > 1e-4 * largest;
    }
    TEST_ASSERT_TRUE(moving > CHECKS / 8);
    free(w), free(gradient), trainer_free(trainer), train_state_free(&state), train_data_free(&data);
}

static void the_gradient_is_the_slope_of_the_loss(void) {
    check_gradient(2);
    check_gradient(2.5);
}

static void one_batch_is_learnt_by_heart(void) {
    TrainData data = random_data(40, 100);
    TrainPlan plan = TRAIN_DEFAULTS;
    TrainState state;
    Error error = {""};
    data.list[0].count = 256;
    plan.hidden = 64, plan.batch = 256, plan.steps = 400, plan.rate = 1e-2, plan.decay = 0,
    plan.round_from = 1;
    plan.lambda_start = plan.lambda_end = 0, plan.warm_up = 10;
    for (size_t i = 0; i < 256; i++) // nothing that a simpler evaluation could know
        data.list[0].positions[i].score = (int16_t)(random_at(9, 9, i) % 1000 - 500);
    TEST_ASSERT_TRUE(train_state_new(&state, &plan, &error));
    Trainer *trainer = trainer_new(&plan, &data, &state, &error);
    double first = 0, last = 0;
    for (int i = 0; i < 400; i++) {
        last = trainer_step(trainer);
        if (i == 0) first = last;
    }
    TEST_ASSERT_TRUE(first > 1e-2);
    TEST_ASSERT_TRUE_MESSAGE(last < 1e-4, "the loss stayed above 1e-4");
    trainer_free(trainer), train_state_free(&state), train_data_free(&data);
}

// --- runs

static TrainJob small_job(const char *folder, const char *name) {
    TrainJob job = {
        .plan = TRAIN_DEFAULTS, .filter = TRAIN_FILTER_DEFAULTS, .quiet = true, .checkpoint_s = 60};
    job.plan.hidden = 32, job.plan.batch = 2048, job.plan.steps = 300;
    snprintf(job.out, sizeof job.out, "%s/%s.nnue", folder, name);
    return job;
}

// Runs a job; its log goes nowhere.
static bool run(TrainJob *job, const TrainData *data, TrainOutcome *outcome, Error *error) {
    Stop stop = {0};
    FILE *log = fopen("/dev/null", "w");
    const bool ok = train_run(job, data, &stop, log, outcome, error);
    fclose(log);
    return ok;
}

static void same_files(const char *folder, const char *a, const char *b) {
    char path[2][256];
    size_t size[2];
    char *text[2];
    snprintf(path[0], sizeof path[0], "%s/%s", folder, a),
        snprintf(path[1], sizeof path[1], "%s/%s", folder, b);
    for (int i = 0; i < 2; i++) text[i] = file_read(path[i], &size[i], NULL);
    TEST_ASSERT_NOT_NULL(text[0]);
    TEST_ASSERT_NOT_NULL(text[1]);
    TEST_ASSERT_EQUAL(size[0], size[1]);
    TEST_ASSERT_EQUAL_MEMORY(text[0], text[1], size[0]);
    free(text[0]), free(text[1]);
}

static void a_killed_run_goes_on_to_the_same_net(void) {
    char folder[] = "/tmp/test_train_XXXXXX";
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    TrainData data = random_data(400, 120);
    TrainOutcome outcome;
    Error error = {""};
    TrainJob whole = small_job(folder, "whole");
    TEST_ASSERT_TRUE_MESSAGE(run(&whole, &data, &outcome, &error), error.text);
    TEST_ASSERT_TRUE(outcome.finished && outcome.steps_now == 300);
    const useconds_t patience = (useconds_t)(outcome.seconds * 1e6 / 4);
    TEST_ASSERT_DOUBLE_WITHIN(1, 0, outcome.rounding.mean); // centipawns between floats and integers
    TEST_ASSERT_TRUE(outcome.rounding.unrounded > outcome.rounding.mean);
    TEST_ASSERT_TRUE(outcome.rounding.positions > 1000 && outcome.rounding.clipped == 0);
    TEST_ASSERT_TRUE(outcome.last.held > 0 && outcome.last.held < .2);

    TrainJob stopped = small_job(folder, "stopped"); // as by a signal, before the first step
    Stop stop = {1};
    TEST_ASSERT_TRUE_MESSAGE(train_run(&stopped, &data, &stop, stdout, &outcome, &error), error.text);
    TEST_ASSERT_TRUE(!outcome.finished && outcome.steps == 0);

    TrainJob killed = small_job(folder, "killed");
    killed.plan.threads = 1; // makes no difference
    killed.checkpoint_s = 0;
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child == 0) {
            run(&killed, &data, &outcome, &error);
            _exit(0);
        }
        usleep(patience + 20000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    TEST_ASSERT_TRUE_MESSAGE(run(&killed, &data, &outcome, &error), error.text);
    TEST_ASSERT_TRUE(outcome.finished && outcome.steps_now < 300);
    same_files(folder, "whole.nnue", "killed.nnue");
    same_files(folder, "whole.nnue.checkpoint", "killed.nnue.checkpoint");

    killed.plan.rate = 2e-3; // other settings are refused, and the setting is named
    TEST_ASSERT_FALSE(run(&killed, &data, &outcome, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "rate 0.001"), error.text);
    killed.fresh = true, killed.plan.steps = 5;
    snprintf(killed.start_from, sizeof killed.start_from, "%s", whole.out);
    TEST_ASSERT_TRUE_MESSAGE(run(&killed, &data, &outcome, &error), error.text);
    TEST_ASSERT_EQUAL(5, outcome.steps_now);
    killed.plan.hidden = 64;
    TEST_ASSERT_FALSE(run(&killed, &data, &outcome, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "32 neurons"), error.text);
    train_data_free(&data);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    TEST_ASSERT_EQUAL(0, system(command));
}

static void the_schedules_begin_and_end_as_told(void) {
    TrainPlan plan = TRAIN_DEFAULTS;
    plan.steps = 1001, plan.warm_up = 10;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1e-4, train_rate(&plan, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1e-3, train_rate(&plan, 10));
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, 1e-5, train_rate(&plan, 1000));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, .2, train_lambda(&plan, 0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, .4, train_lambda(&plan, 500));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, .6, train_lambda(&plan, 1000));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(inputs_are_those_of_the_engine);
    RUN_TEST(every_filter_is_counted);
    RUN_TEST(whole_games_are_held_out);
    RUN_TEST(a_shuffle_finds_every_position_once);
    RUN_TEST(the_gradient_is_the_slope_of_the_loss);
    RUN_TEST(one_batch_is_learnt_by_heart);
    RUN_TEST(a_killed_run_goes_on_to_the_same_net);
    RUN_TEST(the_schedules_begin_and_end_as_told);
    return UNITY_END();
}
