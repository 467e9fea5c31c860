// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/train.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/train_vec.h"

enum { PARTS = TRAIN_COLUMNS / VEC_WIDTH, PIECES_OF_WORK = 32, MAX_HELD_PARTS = 64 };

// Positions on their way through the net, ordered by the number of men so that loops end predictably.
typedef struct Chunk {
    int count;
    TrainInputs inputs[TRAIN_CHUNK]; // times TRAIN_COLUMNS
    uint8_t men[TRAIN_CHUNK], buckets[TRAIN_CHUNK], results[TRAIN_CHUNK];
    int16_t scores[TRAIN_CHUNK];
    float slopes[TRAIN_CHUNK]; // of the loss by the output
    float sums[TRAIN_CHUNK][TRAIN_COLUMNS] __attribute__((aligned(64)));
    float *hidden; // [block][position][side][TRAIN_COLUMNS]
} Chunk;

// How a target is made and what missing it costs.
typedef struct Aim {
    float lambda, power, scale;
} Aim;

// What one thread works with.
typedef struct Worker {
    Trainer *trainer;
    pthread_t thread;
    Chunk *chunk;
} Worker;

struct Trainer {
    TrainPlan plan;
    const TrainData *data;
    TrainState *state;
    float *gradients[TRAIN_LANES];
    float *rounded; // the weights, on the grid of the engine's integers
    double losses[TRAIN_LANES];
    double held[MAX_HELD_PARTS][2];
    size_t held_count; // how many of the positions held out are looked at
    Worker workers[TRAIN_MAX_THREADS];
    int threads;
    pthread_barrier_t begin, end;
    void (*job)(Worker *worker, int piece); // NULL ends the threads
    int pieces;
    _Atomic int next;
};

size_t train_size(int hidden) {
    const size_t size = train_at_output_bias(hidden, NNUE_BUCKETS);
    return (size + TRAIN_COLUMNS - 1) / TRAIN_COLUMNS * TRAIN_COLUMNS;
}

// --- one chunk through the net

// Takes positions into the chunk, those with few men first.
static void chunk_fill(Chunk *chunk, const TrainPosition *const *from, int count) {
    int places[34] = {0};
    for (int i = 0; i < count; i++) places[from[i]->men + 1]++;
    for (int men = 1; men < 34; men++) places[men] += places[men - 1];
    chunk->count = count;
    for (int i = 0; i < count; i++) {
        const TrainPosition *position = from[i];
        const int place = places[position->men]++;
        TrainInputs *inputs = &chunk->inputs[place];
        train_inputs(position, inputs);
        for (int j = 0; j < position->men; j++)
            for (int side = 0; side < 2; side++)
                inputs->index[j][side] = (uint16_t)(inputs->index[j][side] * TRAIN_COLUMNS);
        chunk->men[place] = position->men;
        chunk->buckets[place] = (uint8_t)train_bucket(position);
        chunk->scores[place] = position->score;
        chunk->results[place] = position->result;
    }
}

// Adds the rows of a position as both sides see it, every other man to sums of its own: an addition takes
// longer than the next one has to wait for its row.
static inline void sum_rows(const float *restrict rows, const uint16_t (*restrict index)[2], int men, Vec *a,
                            Vec *b) {
    Vec c[PARTS], d[PARTS];
    for (int k = 0; k < PARTS; k++) c[k] = d[k] = (Vec){0};
    for (int i = 0; i + 1 < men; i += 2)
        for (int k = 0; k < PARTS; k++) {
            a[k] += ((const Vec *)(rows + index[i][0]))[k], b[k] += ((const Vec *)(rows + index[i][1]))[k];
            c[k] += ((const Vec *)(rows + index[i + 1][0]))[k];
            d[k] += ((const Vec *)(rows + index[i + 1][1]))[k];
        }
    const uint16_t *last = index[men - 1];
    for (int k = 0; k < PARTS; k++) {
        if (men & 1) a[k] += ((const Vec *)(rows + last[0]))[k], b[k] += ((const Vec *)(rows + last[1]))[k];
        a[k] += c[k], b[k] += d[k];
    }
}

// Sums the first layer for one block of neurons and adds the block's share of the output.
static void forward_block(Chunk *chunk, const float *restrict weights, int width, int block) {
    const float *restrict rows = weights + train_at_input(width, 0, block * TRAIN_COLUMNS);
    const Vec *restrict bias = (const Vec *)(weights + train_at_bias(width, block * TRAIN_COLUMNS));
    Vec *restrict hidden = (Vec *)(chunk->hidden + (size_t)block * TRAIN_CHUNK * 2 * TRAIN_COLUMNS);
    for (int p = 0; p < chunk->count; p++, hidden += 2 * PARTS) {
        Vec a[PARTS], b[PARTS];
        for (int k = 0; k < PARTS; k++) a[k] = b[k] = bias[k];
        sum_rows(rows, chunk->inputs[p].index, chunk->men[p], a, b);
        const float *out = weights + train_at_output(width, chunk->buckets[p], 0, block * TRAIN_COLUMNS);
        const Vec *restrict wa = (const Vec *)out, *restrict wb = (const Vec *)(out + width);
        Vec *restrict sum = (Vec *)chunk->sums[p];
        for (int k = 0; k < PARTS; k++) {
            hidden[k] = a[k], hidden[PARTS + k] = b[k];
            const Vec x = vec_clamp(a[k]), y = vec_clamp(b[k]), share = x * x * wa[k] + y * y * wb[k];
            if (block) sum[k] += share;
            else sum[k] = share;
        }
    }
}

// The slope of one block's neurons, spread to the weights that they come from.
static void backward_block(const Chunk *chunk, const float *restrict weights, float *restrict gradient,
                           int width, int block) {
    float *restrict rows = gradient + train_at_input(width, 0, block * TRAIN_COLUMNS);
    Vec *restrict bias = (Vec *)(gradient + train_at_bias(width, block * TRAIN_COLUMNS));
    const Vec *restrict hidden =
        (const Vec *)(chunk->hidden + (size_t)block * TRAIN_CHUNK * 2 * TRAIN_COLUMNS);
    Vec biases[PARTS];
    for (int k = 0; k < PARTS; k++) biases[k] = bias[k];
    for (int p = 0; p < chunk->count; p++, hidden += 2 * PARTS) {
        const size_t out = train_at_output(width, chunk->buckets[p], 0, block * TRAIN_COLUMNS);
        const Vec *restrict wa = (const Vec *)(weights + out), *restrict wb =
                                                                   (const Vec *)(weights + out + width);
        Vec *restrict ga = (Vec *)(gradient + out), *restrict gb = (Vec *)(gradient + out + width);
        const float slope = chunk->slopes[p];
        Vec a[PARTS], b[PARTS];
        for (int k = 0; k < PARTS; k++) {
            const Vec x = hidden[k], y = hidden[PARTS + k];
            const Vec cx = vec_clamp(x), cy = vec_clamp(y);
            ga[k] += cx * cx * slope, gb[k] += cy * cy * slope;
            a[k] = (Vec)((VecMask)cx & (x < 1)) * wa[k] * (2 * slope);
            b[k] = (Vec)((VecMask)cy & (y < 1)) * wb[k] * (2 * slope);
            biases[k] += a[k] + b[k];
        }
        const uint16_t(*restrict index)[2] = chunk->inputs[p].index;
        for (int i = 0, men = chunk->men[p]; i < men; i++) {
            Vec *own = (Vec *)(rows + index[i][0]);
            for (int k = 0; k < PARTS; k++) own[k] += a[k];
            Vec *other = (Vec *)(rows + index[i][1]);
            for (int k = 0; k < PARTS; k++) other[k] += b[k];
        }
    }
    for (int k = 0; k < PARTS; k++) bias[k] = biases[k];
}

// Adds up the losses of a chunk, with its aim and by the plain measure, and keeps the slopes.
static void chunk_losses(Chunk *chunk, const float *output_biases, Aim aim, double losses[2]) {
    float loss = 0, plain = 0;
    for (int p = 0; p < chunk->count; p++) {
        float out = output_biases[chunk->buckets[p]];
        for (int k = 0; k < TRAIN_COLUMNS; k++) out += chunk->sums[p][k];
        const float guess = 1 / (1 + expf(-out)), result = (float)chunk->results[p] / 2;
        const float score = 1 / (1 + expf(-(float)chunk->scores[p] / aim.scale));
        const float miss = guess - (aim.lambda * result + (1 - aim.lambda) * score);
        const float other = guess - (result + score) / 2, size = fabsf(miss);
        const float rest = aim.power == 2 ? size : powf(size, aim.power - 1);
        chunk->slopes[p] = aim.power * (miss < 0 ? -rest : rest) * guess * (1 - guess);
        loss += rest * size, plain += other * other;
    }
    losses[0] += loss, losses[1] += plain;
}

static void chunk_forward(Chunk *chunk, const float *weights, int width, Aim aim, double losses[2]) {
    for (int block = 0; block < width / TRAIN_COLUMNS; block++) forward_block(chunk, weights, width, block);
    chunk_losses(chunk, weights + train_at_output_bias(width, 0), aim, losses);
}

static void chunk_backward(Chunk *chunk, const float *weights, float *gradient, int width) {
    for (int block = 0; block < width / TRAIN_COLUMNS; block++)
        backward_block(chunk, weights, gradient, width, block);
    float *biases = gradient + train_at_output_bias(width, 0);
    for (int p = 0; p < chunk->count; p++) biases[chunk->buckets[p]] += chunk->slopes[p];
}

// --- what the threads do

double train_rate(const TrainPlan *plan, int64_t step) {
    if (step < plan->warm_up) return plan->rate * (double)(step + 1) / (double)plan->warm_up;
    const double length = (double)(plan->steps - plan->warm_up);
    const double way = length > 0 ? (double)(step - plan->warm_up) / length : 1;
    return plan->rate_end + (plan->rate - plan->rate_end) * (1 + cos(M_PI * fmin(way, 1))) / 2;
}

double train_lambda(const TrainPlan *plan, int64_t step) {
    const double way = plan->steps > 1 ? fmin((double)step / (double)(plan->steps - 1), 1) : 1;
    return plan->lambda_start + (plan->lambda_end - plan->lambda_start) * way;
}

bool train_rounds(const TrainPlan *plan, int64_t step) {
    return (double)step >= plan->round_from * (double)plan->steps;
}

// The weights as the positions of this step see them.
static const float *seen_weights(const Trainer *trainer) {
    return train_rounds(&trainer->plan, trainer->state->step) ? trainer->rounded : trainer->state->weights;
}

static void round_range(const float *restrict weights, float *restrict rounded, size_t begin, size_t end,
                        float scale) {
    for (size_t i = begin; i < end; i++) rounded[i] = rintf(weights[i] * scale) / scale;
}

void train_round(int hidden, const float *weights, float *rounded) {
    const size_t outputs = train_at_output(hidden, 0, 0, 0), biases = train_at_output_bias(hidden, 0);
    round_range(weights, rounded, 0, outputs, NNUE_QA);
    round_range(weights, rounded, outputs, biases, NNUE_QB);
    round_range(weights, rounded, biases, train_size(hidden), NNUE_QA * NNUE_QB);
}

static Aim aim_now(const Trainer *trainer) {
    return (Aim){.lambda = (float)train_lambda(&trainer->plan, trainer->state->step),
                 .power = (float)trainer->plan.power,
                 .scale = (float)trainer->plan.score_scale};
}

// Finds the positions of a part of the batch in this epoch's order and asks the memory for them.
static int find_positions(const Trainer *trainer, int first, int last, const TrainPosition **from) {
    const TrainList *list = &trainer->data->list[0];
    const int count = int_min(last - first, TRAIN_CHUNK);
    for (int i = 0; i < count; i++) {
        const uint64_t sample =
            (uint64_t)trainer->state->step * (uint64_t)trainer->plan.batch + (uint64_t)(first + i);
        from[i] = list->positions +
                  train_shuffle(trainer->plan.seed, sample / list->count, list->count, sample % list->count);
        __builtin_prefetch(from[i], 0, 2);
    }
    return count;
}

// One lane of a batch, forward and back; the positions of the next chunk come while this one is worked on.
static void train_lane(Worker *worker, int lane) {
    Trainer *trainer = worker->trainer;
    const TrainPlan *plan = &trainer->plan;
    const float *weights = seen_weights(trainer);
    const int last = plan->batch * (lane + 1) / TRAIN_LANES;
    const TrainPosition *from[TRAIN_CHUNK];
    int first = plan->batch * lane / TRAIN_LANES;
    double losses[2] = {0};
    int count = find_positions(trainer, first, last, from);
    while (count > 0) {
        chunk_fill(worker->chunk, from, count);
        first += count;
        count = find_positions(trainer, first, last, from);
        chunk_forward(worker->chunk, weights, plan->hidden, aim_now(trainer), losses);
        chunk_backward(worker->chunk, weights, trainer->gradients[lane], plan->hidden);
    }
    trainer->losses[lane] = losses[0];
}

// AdamW on a range of the weights; leaves the gradients zero for the next batch.
static void adam_range(Trainer *trainer, size_t begin, size_t end, float limit) {
    const TrainPlan *plan = &trainer->plan;
    const double step = (double)trainer->state->step + 1, rate = train_rate(plan, trainer->state->step);
    const float scale = 1 / (float)plan->batch, keep = (float)(1 - rate * plan->decay);
    const float pace = (float)(rate / (1 - pow(.9, step))), root = (float)(1 / (1 - pow(.999, step)));
    float *restrict g0 = trainer->gradients[0], *restrict g1 = trainer->gradients[1];
    float *restrict g2 = trainer->gradients[2], *restrict g3 = trainer->gradients[3];
    float *restrict weights = trainer->state->weights;
    float *restrict mean = trainer->state->mean, *restrict square = trainer->state->square;
    for (size_t i = begin; i < end; i++) {
        const float g = ((g0[i] + g1[i]) + (g2[i] + g3[i])) * scale;
        g0[i] = g1[i] = g2[i] = g3[i] = 0;
        mean[i] = .9f * mean[i] + .1f * g;
        square[i] = .999f * square[i] + .001f * g * g;
        float w = weights[i] * keep - pace * mean[i] / (sqrtf(square[i] * root) + 1e-8f);
        w = w > limit ? limit : w;
        weights[i] = w < -limit ? -limit : w;
    }
}

_Static_assert(TRAIN_LANES == 4, "adam_range adds four gradients");

static void update_piece(Worker *worker, int piece) {
    Trainer *trainer = worker->trainer;
    const size_t limited = train_at_output_bias(trainer->plan.hidden, 0), columns = limited / TRAIN_COLUMNS;
    const size_t begin = columns * (size_t)piece / PIECES_OF_WORK * TRAIN_COLUMNS;
    const size_t end = columns * (size_t)(piece + 1) / PIECES_OF_WORK * TRAIN_COLUMNS;
    adam_range(trainer, begin, end, (float)TRAIN_CLIP);
    if (piece == PIECES_OF_WORK - 1) adam_range(trainer, limited, trainer->state->size, 1e3f);
}

// The losses over one part of the positions held out.
static void held_piece(Worker *worker, int piece) {
    Trainer *trainer = worker->trainer;
    const TrainList *list = &trainer->data->list[1];
    const size_t first = trainer->held_count * (size_t)piece / MAX_HELD_PARTS;
    const size_t last = trainer->held_count * (size_t)(piece + 1) / MAX_HELD_PARTS;
    double losses[2] = {0};
    for (size_t i = first; i < last;) {
        const TrainPosition *from[TRAIN_CHUNK];
        int count = 0;
        for (; count < TRAIN_CHUNK && i < last; i++)
            from[count++] = list->positions + i * list->count / trainer->held_count;
        chunk_fill(worker->chunk, from, count);
        chunk_forward(worker->chunk, seen_weights(trainer), trainer->plan.hidden, aim_now(trainer), losses);
    }
    trainer->held[piece][0] = losses[0], trainer->held[piece][1] = losses[1];
}

static void take_pieces(Worker *worker) {
    Trainer *trainer = worker->trainer;
    for (;;) {
        const int piece = atomic_fetch_add(&trainer->next, 1);
        if (piece >= trainer->pieces) return;
        trainer->job(worker, piece);
    }
}

static void *work(void *context) {
    Worker *worker = context;
    Trainer *trainer = worker->trainer;
    for (;;) {
        pthread_barrier_wait(&trainer->begin);
        if (!trainer->job) return NULL;
        take_pieces(worker);
        pthread_barrier_wait(&trainer->end);
    }
}

// Lets all threads work until every piece is done; who does which does not matter.
static void share_out(Trainer *trainer, void (*job)(Worker *, int), int pieces) {
    trainer->job = job, trainer->pieces = pieces;
    atomic_store(&trainer->next, 0);
    if (trainer->threads > 1) pthread_barrier_wait(&trainer->begin);
    if (job) take_pieces(&trainer->workers[0]);
    if (job && trainer->threads > 1) pthread_barrier_wait(&trainer->end);
}

double trainer_step(Trainer *trainer) {
    TrainState *state = trainer->state;
    double loss = 0;
    share_out(trainer, train_lane, TRAIN_LANES);
    share_out(trainer, update_piece, PIECES_OF_WORK);
    for (int lane = 0; lane < TRAIN_LANES; lane++) loss += trainer->losses[lane];
    loss /= trainer->plan.batch;
    state->loss += loss, state->loss_steps++, state->step++;
    if (train_rounds(&trainer->plan, state->step))
        train_round(trainer->plan.hidden, state->weights, trainer->rounded);
    return loss;
}

void trainer_point(Trainer *trainer, size_t most) {
    TrainState *state = trainer->state;
    const size_t count = trainer->data->list[1].count;
    double held = 0, plain = 0;
    trainer->held_count = count < most ? count : most;
    if (trainer->held_count) share_out(trainer, held_piece, MAX_HELD_PARTS);
    for (int i = 0; trainer->held_count && i < MAX_HELD_PARTS; i++)
        held += trainer->held[i][0], plain += trainer->held[i][1];
    const double share = trainer->held_count ? 1 / (double)trainer->held_count : 0;
    if (state->point_count == TRAIN_POINTS) state->point_count--;
    state->points[state->point_count++] =
        (TrainPoint){.step = state->step,
                     .train = state->loss_steps ? state->loss / (double)state->loss_steps : 0,
                     .held = held * share,
                     .held_plain = plain * share};
    state->loss = 0, state->loss_steps = 0;
}

double trainer_gradient(Trainer *trainer, const TrainPosition *positions, size_t count, float *gradient) {
    Chunk *chunk = trainer->workers[0].chunk;
    double losses[2] = {0};
    for (size_t first = 0; first < count; first += TRAIN_CHUNK) {
        const TrainPosition *from[TRAIN_CHUNK];
        int size = 0;
        while (size < TRAIN_CHUNK && first + (size_t)size < count)
            from[size] = positions + first + (size_t)size, size++;
        chunk_fill(chunk, from, size);
        chunk_forward(chunk, seen_weights(trainer), trainer->plan.hidden, aim_now(trainer), losses);
        chunk_backward(chunk, seen_weights(trainer), gradient, trainer->plan.hidden);
    }
    return losses[0] / (double)count;
}

// --- making and ending

static float *new_floats(size_t count) {
    float *floats = aligned_alloc(64, (count * sizeof *floats + 63) / 64 * 64);
    if (floats) memset(floats, 0, count * sizeof *floats);
    return floats;
}

bool train_state_new(TrainState *state, const TrainPlan *plan, Error *error) {
    const int width = plan->hidden;
    *state = (TrainState){.size = train_size(width)};
    state->weights = new_floats(state->size), state->mean = new_floats(state->size);
    state->square = new_floats(state->size);
    if (!state->weights || !state->mean || !state->square) {
        train_state_free(state);
        return error_set(error, "not enough memory");
    }
    const size_t outputs = train_at_output(width, 0, 0, 0), last = train_at_output_bias(width, NNUE_BUCKETS);
    const double first_layer = 1 / sqrt(NNUE_INPUTS), second_layer = 1 / sqrt(2 * width);
    for (size_t i = 0; i < last; i++)
        state->weights[i] = (float)((2 * random_unit(random_at(plan->seed, 0x7e19, i)) - 1) *
                                    (i < outputs ? first_layer : second_layer));
    return true;
}

void train_state_free(TrainState *state) {
    free(state->weights), free(state->mean), free(state->square);
    *state = (TrainState){0};
}

static Chunk *chunk_new(int hidden) {
    Chunk *chunk = aligned_alloc(64, (sizeof *chunk + 63) / 64 * 64);
    if (!chunk) return NULL;
    chunk->hidden = new_floats((size_t)TRAIN_CHUNK * 2 * (size_t)hidden);
    if (chunk->hidden) return chunk;
    free(chunk);
    return NULL;
}

Trainer *trainer_new(const TrainPlan *plan, const TrainData *data, TrainState *state, Error *error) {
    Trainer *trainer = calloc(1, sizeof *trainer);
    bool ok = trainer != NULL;
    if (ok) trainer->plan = *plan, trainer->data = data, trainer->state = state, trainer->threads = 1;
    for (int lane = 0; ok && lane < TRAIN_LANES; lane++)
        ok = (trainer->gradients[lane] = new_floats(state->size)) != NULL;
    ok = ok && (trainer->rounded = new_floats(state->size)) != NULL;
    if (ok) train_round(plan->hidden, state->weights, trainer->rounded);
    const int threads = int_clamp(plan->threads, 1, TRAIN_MAX_THREADS);
    for (int i = 0; ok && i < threads; i++) {
        trainer->workers[i].trainer = trainer;
        ok = (trainer->workers[i].chunk = chunk_new(plan->hidden)) != NULL;
    }
    if (!ok) {
        error_set(error, "not enough memory");
        trainer_free(trainer);
        return NULL;
    }
    if (threads == 1) return trainer;
    pthread_barrier_init(&trainer->begin, NULL, (unsigned)threads);
    pthread_barrier_init(&trainer->end, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&trainer->workers[i].thread, NULL, work, &trainer->workers[i]) != 0)
            die(1, "hone-tune: cannot start a thread");
    trainer->threads = threads;
    return trainer;
}

void trainer_free(Trainer *trainer) {
    if (!trainer) return;
    if (trainer->threads > 1) {
        share_out(trainer, NULL, 0);
        for (int i = 1; i < trainer->threads; i++) pthread_join(trainer->workers[i].thread, NULL);
        pthread_barrier_destroy(&trainer->begin), pthread_barrier_destroy(&trainer->end);
    }
    for (int i = 0; i < TRAIN_MAX_THREADS; i++) {
        if (trainer->workers[i].chunk) free(trainer->workers[i].chunk->hidden);
        free(trainer->workers[i].chunk);
    }
    for (int lane = 0; lane < TRAIN_LANES; lane++) free(trainer->gradients[lane]);
    free(trainer->rounded);
    free(trainer);
}
