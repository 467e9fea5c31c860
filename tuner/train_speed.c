// SPDX-License-Identifier: GPL-3.0-or-later
// How fast the trainer is and how fast it could be. Nearly all of its work is adding rows of weights
// (forward) and adding to rows of gradients (back); so the limit is what this machine's nearest cache gives
// for just that.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/movegen.h"
#include "tuner/train.h"
#include "tuner/train_command.h"
#include "tuner/train_vec.h"

enum { POSITIONS = 200000, LONGEST_GAME = 200 };
#define MEASURE_S .2

// Seconds that the cores have given to this process.
static double cpu_seconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

// Bytes a second when an array is summed (or added to, if change is set) again and again.
static double bytes_a_second(size_t size, bool change) {
    const size_t count = size / sizeof(Vec) / 8 * 8;
    Vec *array = aligned_alloc(64, size);
    if (!array) return 0;
    for (size_t i = 0; i < count; i++) array[i] = (Vec){0};
    Vec sums[8] = {{0}};
    const Vec step = (Vec){0} + 1e-9f;
    const double begun = cpu_seconds();
    double bytes = 0;
    while (cpu_seconds() - begun < MEASURE_S) {
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
    const double seconds = cpu_seconds() - begun;
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

// Positions a second at one width, by the clock and by the time that the cores really gave.
static void measure(const TrainData *data, int hidden, int threads, double seconds, double rates[2]) {
    TrainPlan plan = TRAIN_DEFAULTS;
    TrainState state;
    Error error;
    plan.hidden = hidden, plan.threads = threads, plan.steps = 1000000, plan.warm_up = 100;
    if (!train_state_new(&state, &plan, &error)) die(1, "hone-tune train: %s", error.text);
    Trainer *trainer = trainer_new(&plan, data, &state, &error);
    if (!trainer) die(1, "hone-tune train: %s", error.text);
    for (int i = 0; i < 3; i++) trainer_step(trainer);
    const double begun = (double)now_ns() / 1e9, cpu_begun = cpu_seconds();
    const int64_t first = state.step;
    while ((double)now_ns() / 1e9 - begun < seconds) trainer_step(trainer);
    const double positions = (double)(state.step - first) * plan.batch;
    rates[0] = positions / ((double)now_ns() / 1e9 - begun);
    rates[1] = positions / (cpu_seconds() - cpu_begun) * threads;
    trainer_free(trainer);
    train_state_free(&state);
}

int train_speed(int threads, double seconds) {
    TrainData data = {0};
    double men = 0;
    if (!make_positions(&data)) die(1, "hone-tune train: not enough memory");
    for (size_t i = 0; i < POSITIONS; i++) men += data.list[0].positions[i].men;
    men /= POSITIONS;
    const double read = bytes_a_second(16 << 10, false), change = bytes_a_second(16 << 10, true);
    const double far_read = bytes_a_second(256 << 10, false), far_change = bytes_a_second(256 << 10, true);
    printf(
        "A core reads %.0f GB/s and adds to %.0f GB/s in 16 KiB (nearest cache), %.0f and %.0f in 256 KiB\n",
        read / 1e9, change / 1e9, far_read / 1e9, far_change / 1e9);
    printf("%d threads, batch %d, random games with %.1f men on average\n\n", threads, TRAIN_DEFAULTS.batch,
           men);
    printf("   N  KB/position  positions/s   of CPU time        limit  share   limit of 256 KiB\n");
    for (int hidden = 64; hidden <= 256; hidden *= 2) {
        const double rows = 2 * men * hidden * sizeof(float); // bytes read forward, and again changed back
        const double limit = threads / (rows / read + rows / change);
        const double far_limit = threads / (rows / far_read + rows / far_change);
        double rates[2];
        measure(&data, hidden, threads, seconds, rates);
        printf("%4d  %11.1f  %11.0f  %12.0f  %11.0f  %3.0f %%  %17.0f\n", hidden, 2 * rows / 1e3, rates[0],
               rates[1], limit, 100 * rates[1] / limit, far_limit);
        fflush(stdout);
    }
    puts("\nThe limit: 2 x men x N floats read once (forward) and added to once (back), at the rates above, "
         "and\n"
         "nothing else. Of CPU time: as if the threads had had their cores to themselves. The share is of "
         "that.");
    train_data_free(&data);
    return 0;
}
