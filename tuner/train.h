// SPDX-License-Identifier: GPL-3.0-or-later
// The trainer's mathematics: a batch of positions forward and back through the net of engine/nnue.h in
// floats, and AdamW. A batch is always cut into TRAIN_LANES parts with a gradient each, which are added in
// their order, so what comes out does not depend on the number of threads. All that a run is made of is in
// TrainState; the order of the positions follows from the seed and the step.
#pragma once

#include "tuner/train_data.h"

// Weights of TRAIN_COLUMNS neighbouring neurons lie together, 768 rows of one cache line: that block and
// its gradient stay close to the core while a chunk of positions passes.
enum { TRAIN_COLUMNS = 16, TRAIN_CHUNK = 512, TRAIN_LANES = 4, TRAIN_MAX_THREADS = 4 };

#define TRAIN_CLIP 1.98 // largest weight: what the quantised net can hold

// How to train.
typedef struct TrainPlan {
    int hidden; // neurons for each side
    int batch;
    int64_t steps, warm_up;          // batches in all; batches until the rate is full
    double rate, rate_end;           // the learning rate, falling along a cosine
    double decay;                    // of AdamW
    double lambda_start, lambda_end; // share of the result in the target, the rest is the score
    double power;                    // the loss is |p - target|^power
    double round_from;               // from this share of the run on, positions see rounded weights
    int score_scale; // a score s is worth 1 / (1 + exp(-s / scale)), and the net speaks in such scores
    uint64_t seed;
    int threads; // changes nothing but the time
} TrainPlan;

// What the command starts from.
#define TRAIN_DEFAULTS                                                                                       \
    ((TrainPlan){.hidden = 128,                                                                              \
                 .batch = 16384,                                                                             \
                 .rate = 1e-3,                                                                               \
                 .rate_end = 1e-5,                                                                           \
                 .decay = .01,                                                                               \
                 .lambda_start = .2,                                                                         \
                 .lambda_end = .6,                                                                           \
                 .power = 2,                                                                                 \
                 .round_from = .8,                                                                           \
                 .score_scale = 200,                                                                         \
                 .seed = 1,                                                                                  \
                 .threads = 2})

// One point of the loss curve.
typedef struct TrainPoint {
    int64_t step;
    double train;      // mean loss since the last point
    double held;       // loss on the games held out, with the target of this step
    double held_plain; // squared error there with half score, half result: does not change on the way
} TrainPoint;

enum { TRAIN_POINTS = 400 };

// All that a run has come to; with the plan and the data it determines the rest.
typedef struct TrainState {
    int64_t step;
    size_t size;                    // numbers in each of the three arrays
    float *weights, *mean, *square; // mean and mean square of the gradient, as Adam keeps them
    double loss;                    // summed since the last point
    int64_t loss_steps;
    int point_count;
    TrainPoint points[TRAIN_POINTS];
} TrainState;

// Where a weight lies in the arrays: first layer, its biases, output layer (side 0 is the side to move), its
// biases.
static inline size_t train_at_input(int hidden, int input, int neuron) {
    (void)hidden;
    return (size_t)(neuron / TRAIN_COLUMNS * NNUE_INPUTS + input) * TRAIN_COLUMNS + neuron % TRAIN_COLUMNS;
}
static inline size_t train_at_bias(int hidden, int neuron) { return (size_t)NNUE_INPUTS * hidden + neuron; }
static inline size_t train_at_output(int hidden, int bucket, int side, int neuron) {
    return (size_t)(NNUE_INPUTS + 1 + 2 * bucket + side) * hidden + neuron;
}
static inline size_t train_at_output_bias(int hidden, int bucket) {
    return (size_t)(NNUE_INPUTS + 1 + 2 * NNUE_BUCKETS) * hidden + bucket;
}

// How many numbers a net has, rounded up to whole columns.
size_t train_size(int hidden);

// A fresh state: weights drawn by the seed, no steps made. False without memory.
bool train_state_new(TrainState *state, const TrainPlan *plan, Error *error);

// Gives the arrays back.
void train_state_free(TrainState *state);

typedef struct Trainer Trainer;

// Gets ready to train a state on data; all three must outlive the trainer.
Trainer *trainer_new(const TrainPlan *plan, const TrainData *data, TrainState *state, Error *error);

// Ends the threads.
void trainer_free(Trainer *trainer);

// Trains one batch and returns its mean loss.
double trainer_step(Trainer *trainer);

// Adds a point to the loss curve, with the losses over at most so many of the positions held out.
void trainer_point(Trainer *trainer, size_t most);

// Mean loss over a list and the gradient of its sum, with the target of the trainer's step; for tests.
double trainer_gradient(Trainer *trainer, const TrainPosition *positions, size_t count, float *gradient);

// The weights as the engine will have them: on the grid of its integers.
void train_round(int hidden, const float *weights, float *rounded);

// Whether the positions of a step see rounded weights. The gradient goes to the weights behind them, so that
// small steps add up, and what is trained at last is what the engine computes.
bool train_rounds(const TrainPlan *plan, int64_t step);

// The learning rate at a step.
double train_rate(const TrainPlan *plan, int64_t step);

// The share of the result in the target at a step.
double train_lambda(const TrainPlan *plan, int64_t step);
