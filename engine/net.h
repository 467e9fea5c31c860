// SPDX-License-Identifier: GPL-3.0-or-later
// A net as a file and as a value: its shape, its weights, its history. A Net is checked when it is made,
// never changes afterwards, and is shared and counted; any thread may read it. What it computes is in nnue.h.
//
// The file, little-endian: 64 bytes of header; the note, JSON text filled up with blanks to a multiple of 64;
// int16 feature weights [768][N], feature biases [N], output weights [8][2N] (first the side to move's half);
// int32 output biases [8].
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "engine/util.h"

// The shape and the quantisation of every net; only the width N of the hidden layer varies.
enum {
    NNUE_INPUTS = 768,      // 2 (own, enemy) x 6 types x 64 squares
    NNUE_BUCKETS = 8,       // output weights by the number of men
    NNUE_MAX_HIDDEN = 512,  // N is a multiple of 32 up to this
    NNUE_QA = 480,          // one in the hidden layer
    NNUE_QB = 512,          // one in the output weights
    NNUE_SCALE_MAX = 1000,  // most centipawns of one at the output
    NNUE_WEIGHT_MAX = 992,  // largest first-layer weight or bias: 33 of them cannot overflow int16
    NNUE_OUTPUT_MAX = 1024, // largest output weight
    NNUE_SQUARE_SHIFT = 4,  // a squared activation loses so many bits, and fits int16
};

// The longest note that a net may carry, in bytes.
enum { NET_NOTE_MAX = 1 << 16 };

// The numbers of a net, quantised; whoever made them owns the arrays.
typedef struct NetWeights {
    int hidden;                   // N
    int scale;                    // centipawns of one at the output, at most NNUE_SCALE_MAX
    const int16_t *features;      // [NNUE_INPUTS][N], scaled by QA
    const int16_t *biases;        // [N], scaled by QA
    const int16_t *outputs;       // [NNUE_BUCKETS][2N], scaled by QB: the side to move's view, the other's
    const int32_t *output_biases; // [NNUE_BUCKETS], scaled by QA x QB
} NetWeights;

// The code that computes with a net; see nnue_kernel.h.
struct NnueKernel;

// A net in memory; made by net_parse or net_load, ended by the last net_release.
typedef struct Net {
    NetWeights weights;              // aligned to 64 bytes
    const struct NnueKernel *kernel; // the fastest code that this machine runs
    uint64_t digest;                 // of the weights: two nets with the same one evaluate alike
    const char *note;                // its history, JSON text
    _Atomic int users;
} Net;

// Makes a net from the bytes of a file. NULL and a one-line reason, which begins with name, unless every
// field is as it must be and no position can make a sum overflow.
Net *net_parse(const void *data, size_t size, const char *name, Error *error);

// The same from a file.
Net *net_load(const char *path, Error *error);

// The net built into the program (EVALFILE), the same for all; NULL if the build has none.
const Net *net_builtin(void);

// Counts one more user and returns the net, which may be NULL.
const Net *net_retain(const Net *net);

// Counts one user less and frees the net after the last; NULL does no harm. The builtin net is never freed.
void net_release(const Net *net);

// Writes a net file with its note (one line of JSON); what net_parse would refuse is refused, and the old
// file stays until the new one is whole.
bool net_save(const char *path, const NetWeights *weights, const char *note, Error *error);
