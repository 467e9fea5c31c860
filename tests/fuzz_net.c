// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer: any bytes as a net file. So that most inputs get past the checksum, it is put right first in all
// but one of 256; short inputs stand for the beginning of a file, the rest is zero. A net that is taken must
// evaluate within bounds, the same with every kernel, and be described.
#include <stdlib.h>
#include <string.h>

#include "engine/nnue.h"
#include "engine/nnue_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 64, FILE_32 = 64 + 2 * 32 * (768 + 1 + 16) + 32 };

// Asks a net about a position with each kernel.
static void use(const Net *net) {
    static const char *const Fens[] = {START_FEN, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
                                       "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"};
    char text[8000];
    for (int i = 0; i < 3; i++) {
        Position pos;
        if (!position_from_fen(&pos, Fens[i], NULL)) abort();
        int value = nnue_value(net, &pos);
        if (abs(value) > SCORE_EVAL_MAX) abort();
        for (int k = 0; nnue_kernel_at(k); k++) {
            Net other = *net;
            other.kernel = nnue_kernel_at(k);
            if (nnue_value(&other, &pos) != value) abort();
        }
        nnue_trace(net, &pos, text, sizeof text);
        if (strlen(text) + 1 >= sizeof text) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bitboard_init();
    size_t whole = size >= HEADER && size % 2 == 0 && size < FILE_32 ? FILE_32 : size;
    char *bytes = calloc(1, whole + 1);
    if (!bytes) return 0;
    if (size) memcpy(bytes, data, size);
    if (whole >= HEADER && data[size - 1] != 255) {
        uint32_t crc = crc32_of(crc32_of(0, bytes + 32, 4), bytes + HEADER, whole - HEADER);
        memcpy(bytes + 40, &crc, sizeof crc);
    }
    Error error = {""};
    Net *net = net_parse(bytes, whole, "fuzz", &error);
    if (net) use(net);
    else if (strncmp(error.text, "fuzz: ", 6) != 0 || strchr(error.text, '\n')) abort();
    net_release(net);
    free(bytes);
    return 0;
}
