// SPDX-License-Identifier: GPL-3.0-or-later
// Nets for tests: random weights, the file that holds them, and a file that was tampered with but has a right
// checksum.
#pragma once

#include "engine/net.h"

// Arrays of a net that a test may change; weights points to them.
typedef struct TestNet {
    NetWeights weights;
    int16_t *features, *biases, *outputs;
    int32_t output_biases[NNUE_BUCKETS];
} TestNet;

// A net of random weights by (hidden, seed). With large weights it goes near the bounds that a net may have.
TestNet *testnet_create(int hidden, uint64_t seed, bool large);

// Frees its memory.
void testnet_free(TestNet *net);

// The file's bytes in a fresh buffer, written by net_save and read back; fails the test if that fails.
char *testnet_bytes(const TestNet *net, const char *note, size_t *size);

// Makes the checksum of a file right again after its bytes were changed; size is at least 64.
void testnet_seal(char *bytes, size_t size);

// A net in memory, made from random weights.
Net *testnet_net(int hidden, uint64_t seed, bool large);
