// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/train_net.h"

#include <math.h>
#include <stdlib.h>

#include "engine/nnue.h"

double train_value(const float *w, const TrainPlan *plan, const TrainPosition *position) {
    const int hidden = plan->hidden, bucket = train_bucket(position);
    TrainInputs inputs;
    train_inputs(position, &inputs);
    double out = w[train_at_output_bias(hidden, bucket)];
    for (int side = 0; side < 2; side++)
        for (int n = 0; n < hidden; n++) {
            double sum = w[train_at_bias(hidden, n)];
            for (int i = 0; i < position->men; i++)
                sum += w[train_at_input(hidden, inputs.index[i][side], n)];
            sum = sum < 0 ? 0 : sum > 1 ? 1 : sum;
            out += sum * sum * w[train_at_output(hidden, bucket, side, n)];
        }
    return out * plan->score_scale;
}

// Rounds one number and counts what does not fit.
static int round_to(double value, int scale, int limit, int *clipped) {
    const long rounded = lround(value * scale);
    if (labs(rounded) > limit) ++*clipped;
    return (int)(rounded > limit ? limit : rounded < -limit ? -limit : rounded);
}

// The arrays of a net while it is made.
typedef struct Numbers {
    int16_t features[NNUE_INPUTS * NNUE_MAX_HIDDEN], biases[NNUE_MAX_HIDDEN];
    int16_t outputs[NNUE_BUCKETS * 2 * NNUE_MAX_HIDDEN];
    int32_t output_biases[NNUE_BUCKETS];
} Numbers;

static NetWeights quantise(const float *w, const TrainPlan *plan, Numbers *numbers, int *clipped) {
    const int hidden = plan->hidden;
    for (int n = 0; n < hidden; n++) {
        for (int input = 0; input < NNUE_INPUTS; input++)
            numbers->features[input * hidden + n] =
                (int16_t)round_to(w[train_at_input(hidden, input, n)], NNUE_QA, NNUE_WEIGHT_MAX, clipped);
        numbers->biases[n] =
            (int16_t)round_to(w[train_at_bias(hidden, n)], NNUE_QA, NNUE_WEIGHT_MAX, clipped);
        for (int half = 0; half < 2 * NNUE_BUCKETS; half++)
            numbers->outputs[half * hidden + n] = (int16_t)round_to(
                w[train_at_output(hidden, half / 2, half % 2, n)], NNUE_QB, NNUE_OUTPUT_MAX, clipped);
    }
    for (int bucket = 0; bucket < NNUE_BUCKETS; bucket++)
        numbers->output_biases[bucket] =
            round_to(w[train_at_output_bias(hidden, bucket)], NNUE_QA * NNUE_QB, INT32_MAX / 4, clipped);
    return (NetWeights){.hidden = hidden,
                        .scale = plan->score_scale,
                        .features = numbers->features,
                        .biases = numbers->biases,
                        .outputs = numbers->outputs,
                        .output_biases = numbers->output_biases};
}

static void compare(const float *seen, const float *behind, const TrainPlan *plan, const Net *net,
                    const TrainList *list, size_t most, TrainRounding *rounding) {
    const size_t count = list->count < most ? list->count : most;
    double sum = 0, unrounded = 0;
    for (size_t i = 0; i < count; i++) {
        const TrainPosition *packed = list->positions + i * list->count / count;
        Position pos;
        train_unpack(packed, &pos);
        const int value = nnue_value(net, &pos);
        const double miss = fabs(train_value(seen, plan, packed) - value);
        unrounded += fabs(train_value(behind, plan, packed) - value);
        sum += miss, rounding->worst = fmax(rounding->worst, miss);
    }
    rounding->positions = count;
    rounding->mean = count ? sum / (double)count : 0;
    rounding->unrounded = count ? unrounded / (double)count : 0;
}

bool train_save(const TrainState *state, const TrainPlan *plan, const char *path, const char *note,
                const TrainList *list, size_t most, TrainRounding *rounding, Error *error) {
    Numbers *numbers = calloc(1, sizeof *numbers);
    float *rounded = malloc(state->size * sizeof *rounded);
    Net *net = NULL;
    *rounding = (TrainRounding){0};
    if (numbers && rounded) {
        train_round(plan->hidden, state->weights, rounded);
        const float *seen = train_rounds(plan, plan->steps - 1) ? rounded : state->weights;
        const NetWeights weights = quantise(seen, plan, numbers, &rounding->clipped);
        if (net_save(path, &weights, note, error)) net = net_load(path, error);
        if (net) compare(seen, state->weights, plan, net, list, most, rounding);
        if (net) net_release(net);
    } else {
        error_set(error, "not enough memory");
    }
    free(numbers), free(rounded);
    return net != NULL;
}

bool train_start_from(TrainState *state, int hidden, const char *path, Error *error) {
    Net *net = net_load(path, error);
    if (!net) return false;
    const NetWeights *from = &net->weights;
    float *w = state->weights;
    const bool fits = from->hidden == hidden;
    for (int n = 0; fits && n < hidden; n++) {
        for (int input = 0; input < NNUE_INPUTS; input++)
            w[train_at_input(hidden, input, n)] = (float)from->features[input * hidden + n] / NNUE_QA;
        w[train_at_bias(hidden, n)] = (float)from->biases[n] / NNUE_QA;
        for (int half = 0; half < 2 * NNUE_BUCKETS; half++)
            w[train_at_output(hidden, half / 2, half % 2, n)] =
                (float)from->outputs[half * hidden + n] / NNUE_QB;
    }
    for (int bucket = 0; fits && bucket < NNUE_BUCKETS; bucket++)
        w[train_at_output_bias(hidden, bucket)] = (float)from->output_biases[bucket] / (NNUE_QA * NNUE_QB);
    const int width = from->hidden;
    net_release(net);
    return fits || error_set(error, "%s: the net has %d neurons, --hidden says %d", path, width, hidden);
}
