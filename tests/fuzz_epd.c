// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a file of openings, whatever the content says that it is. Every opening that the
// set counts can be had, and a game can be played from it.
#define _GNU_SOURCE // memfd_create
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/movegen.h"
#include "openings/opening.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    OpeningSet set;
    Error error;
    if (opening_set_load(&set, path, (int)(size % 32), &error)) {
        for (uint64_t pair = 0; pair < set.count && pair < 16; pair++) {
            Opening opening;
            if (!opening_at(&set, size, OPENING_RANDOM, 1, pair, &opening, &error)) abort();
            if (!position_ok(&opening.position) || !movegen_any(&opening.position)) abort();
        }
        opening_set_free(&set);
    }
    close(fd);
    return 0;
}
