// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuner/train_checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The head of the file; settings, the points and three arrays of size floats follow, then the CRC of it all.
typedef struct Head {
    char magic[8];
    uint32_t version, settings_size;
    uint64_t size;
    int64_t step, loss_steps;
    double loss;
    int64_t point_count;
} Head;

static const char Magic[8] = {'H', 'o', 'n', 'e', 'T', 'r', 'a', 'n'};

// Writes and adds to the checksum.
static bool put(FILE *file, uint32_t *crc, const void *data, size_t size) {
    *crc = crc32_of(*crc, data, size);
    return fwrite(data, 1, size, file) == size;
}

bool checkpoint_write(const char *path, const char *settings, const TrainState *state, Error *error) {
    char fresh[1200];
    snprintf(fresh, sizeof fresh, "%.1100s.new", path);
    FILE *file = fopen(fresh, "wb");
    if (!file) return error_set(error, "%s: %s", fresh, strerror(errno));
    Head head = {.version = 1,
                 .settings_size = (uint32_t)strlen(settings),
                 .size = state->size,
                 .step = state->step,
                 .loss_steps = state->loss_steps,
                 .loss = state->loss,
                 .point_count = state->point_count};
    memcpy(head.magic, Magic, sizeof Magic);
    uint32_t crc = 0;
    const size_t bytes = state->size * sizeof(float);
    bool ok = put(file, &crc, &head, sizeof head) && put(file, &crc, settings, head.settings_size) &&
              put(file, &crc, state->points, (size_t)state->point_count * sizeof *state->points) &&
              put(file, &crc, state->weights, bytes) && put(file, &crc, state->mean, bytes) &&
              put(file, &crc, state->square, bytes) && fwrite(&crc, sizeof crc, 1, file) == 1;
    ok = fflush(file) == 0 && fsync(fileno(file)) == 0 && ok;
    ok = fclose(file) == 0 && ok;
    ok = ok && rename(fresh, path) == 0;
    if (ok) return true;
    error_set(error, "%s: cannot write: %s", fresh, strerror(errno));
    remove(fresh);
    return false;
}

// Names the first line in which two settings differ.
static bool same_settings(const char *old, const char *now, Error *error) {
    while (*old || *now) {
        const int a = (int)strcspn(old, "\n"), b = (int)strcspn(now, "\n");
        if (a != b || strncmp(old, now, (size_t)a) != 0)
            return error_set(error,
                             "it was made with other settings: '%.*s' there, '%.*s' now; --fresh starts over",
                             int_min(a, 80), old, int_min(b, 80), now);
        old += a + (old[a] != 0), now += b + (now[b] != 0);
    }
    return true;
}

// Checks the bytes of a file and takes the state out of them.
static bool take(const char *data, size_t size, const char *settings, TrainState *state, Error *error) {
    Head head;
    uint32_t crc;
    if (size < sizeof head + sizeof crc || memcmp(data, Magic, sizeof Magic) != 0)
        return error_set(error, "this is no checkpoint of hone-tune train");
    memcpy(&head, data, sizeof head);
    memcpy(&crc, data + size - sizeof crc, sizeof crc);
    if (crc32_of(0, data, size - sizeof crc) != crc)
        return error_set(error, "the checksum is wrong: the file is damaged; --fresh starts over");
    if (head.version != 1) return error_set(error, "version %u, 1 was expected", head.version);
    char *text = strndup(data + sizeof head, head.settings_size);
    if (!text) return error_set(error, "not enough memory");
    const bool same = same_settings(text, settings, error);
    free(text);
    if (!same) return false;
    const size_t points = (size_t)head.point_count * sizeof *state->points,
                 bytes = state->size * sizeof(float);
    if (head.size != state->size || head.point_count < 0 || head.point_count > TRAIN_POINTS ||
        size != sizeof head + head.settings_size + points + 3 * bytes + sizeof crc)
        return error_set(error, "the size is wrong; --fresh starts over");
    data += sizeof head + head.settings_size;
    state->step = head.step, state->loss = head.loss, state->loss_steps = head.loss_steps;
    state->point_count = (int)head.point_count;
    memcpy(state->points, data, points);
    memcpy(state->weights, data + points, bytes);
    memcpy(state->mean, data + points + bytes, bytes);
    memcpy(state->square, data + points + 2 * bytes, bytes);
    return true;
}

bool checkpoint_read(const char *path, const char *settings, TrainState *state, bool *found, Error *error) {
    size_t size;
    *found = access(path, F_OK) == 0;
    if (!*found) return false;
    char *data = file_read(path, &size, error);
    if (!data) return false;
    const bool ok = take(data, size, settings, state, error) || error_prefix(error, "%s", path);
    free(data);
    return ok;
}
