// SPDX-License-Identifier: GPL-3.0-or-later
// How fast the trainer is and how fast it could be. Nearly all of its work is adding rows of weights
// (forward) and adding to rows of gradients (back); so the limit is what this machine's nearest cache gives
// for just that.
#include <stdio.h>
#include <stdlib.h>

#include "engine/movegen.h"
#include "tuner/train.h"
#include "tuner/train_command.h"
#include "tuner/train_vec.h"

enum { POSITIONS = 200000, LONGEST_GAME = 120, MEASURE_MS = 200 };

// Bytes a second when an array is summed (or added to, if change is set) again and again.
static double bytes_a_second(size_t size, bool change) {
    const size_t count = size / sizeof(Vec) / 8 * 8;
    Vec *array = aligned_alloc(64, size);
    if (!array) return 0;
    for (size_t i = 0; i < count; i++) array[i] = (Vec){0};
    Vec sums[8] = {{0}};
    const Vec step = (Vec){0} + 1e-9f;
    const int64_t begun = now_ns();
    double bytes = 0;
    while (now_ns() - begun < MEASURE_MS * INT64_C(1000000)) {
        for (int round = 0; round < 100; round++) {
            for (size_t i = 0; i < count; i += 8)
                for (size_t k = 0; k < 8; k++) {
                    if (change) array[i + k] += step;
                    else sums[k] += array[i + k];
                }
            __asm__ volatile("" : : "r"(array) : "memory"); // each round counts
        }
        bytes += 100. * (double)(count * sizeof(Vec));
    }
    const double seconds = (double)(now_ns() - begun) / 1e9;
    volatile float used = 0; // so that the sums are not dropped
    for (int k = 0; k < 8; k++) used = used + sums[k][0];
    free(array);
    return bytes / seconds;
}

// Positions of random games; what they are worth does not matter here.
static bool make_positions(TrainData *data) {
    Position pos[2];
    uint64_t draw = 0;
    TrainList *list = &data->list[0];
    list->positions = malloc(POSITIONS * sizeof *list->positions);
    if (!list->positions) return false;
    while (list->count < POSITIONS) {
        position_from_fen(&pos[0], START_FEN, NULL);
        for (int ply = 0; ply < LONGEST_GAME && list->count < POSITIONS; ply++) {
            MoveList moves;
            movegen_list(&pos[ply & 1], &moves);
            if (!moves.count) break;
            const uint64_t random = random_at(5, 0, draw++);
            list->positions[list->count++] =
                train_pack(&pos[ply & 1], (int)(random % 400) - 200, (int)(random % 3));
            position_make(&pos[~ply & 1], &pos[ply & 1],
                          moves.moves[random_below(mix64(random), (uint64_t)moves.count)]);
        }
    }
    return true;
}

// Positions a second at one width.
static double measure(const TrainData *data, int hidden, int threads, double seconds) {
    TrainPlan plan = TRAIN_DEFAULTS;
    TrainState state;
    Error error;
    plan.hidden = hidden, plan.threads = threads, plan.steps = 1000000, plan.warm_up = 100;
    if (!train_state_new(&state, &plan, &error)) die(1, "hone-tune train: %s", error.text);
    Trainer *trainer = trainer_new(&plan, data, &state, &error);
    if (!trainer) die(1, "hone-tune train: %s", error.text);
    for (int i = 0; i < 3; i++) trainer_step(trainer);
    const int64_t begun = now_ns();
    const int64_t first = state.step;
    while ((double)(now_ns() - begun) < seconds * 1e9) trainer_step(trainer);
    const double rate = (double)(state.step - first) * plan.batch / ((double)(now_ns() - begun) / 1e9);
    trainer_free(trainer);
    train_state_free(&state);
    return rate;
}

int train_speed(int threads, double seconds) {
    TrainData data = {0};
    double men = 0;
    if (!make_positions(&data)) die(1, "hone-tune train: not enough memory");
    for (size_t i = 0; i < POSITIONS; i++) men += data.list[0].positions[i].men;
    men /= POSITIONS;
    const double read = bytes_a_second(16 << 10, false), change = bytes_a_second(16 << 10, true);
    const double far_read = bytes_a_second(256 << 10, false), far_change = bytes_a_second(256 << 10, true);
    printf("one core reads %.0f GB/s and adds to %.0f GB/s in its nearest cache (16 KiB); %.0f and %.0f in "
           "the next "
           "(256 KiB)\n",
           read / 1e9, change / 1e9, far_read / 1e9, far_change / 1e9);
    printf("%d threads, batch %d, random games with %.1f men on average\n\n", threads, TRAIN_DEFAULTS.batch,
           men);
    printf("   N   KB/position   positions/s         limit   share   limit from the next cache\n");
    for (int hidden = 64; hidden <= 256; hidden *= 2) {
        const double rows = 2 * men * hidden * sizeof(float); // bytes read forward, and again changed back
        const double limit = threads / (rows / read + rows / change);
        const double far_limit = threads / (rows / far_read + rows / far_change);
        const double rate = measure(&data, hidden, threads, seconds);
        printf("%4d  %12.1f  %12.0f  %12.0f  %4.0f %%  %12.0f\n", hidden, 2 * rows / 1e3, rate, limit,
               100 * rate / limit, far_limit);
        fflush(stdout);
    }
    printf("\nThe limit is the time for the rows alone, %s.\n",
           "2 x men x N floats read once (forward) and changed once (back), at the rates above");
    train_data_free(&data);
    return 0;
}
