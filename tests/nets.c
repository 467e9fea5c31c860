// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unity.h"

static int within(uint64_t seed, uint64_t stream, uint64_t index, int most) {
    return (int)random_below(random_at(seed, stream, index), 2 * (uint64_t)most + 1) - most;
}

TestNet *testnet_create(int hidden, uint64_t seed, bool large) {
    TestNet *net = calloc(1, sizeof *net);
    size_t n = (size_t)hidden;
    TEST_ASSERT_NOT_NULL(net);
    net->features = malloc(n * NNUE_INPUTS * sizeof *net->features);
    net->biases = malloc(n * sizeof *net->biases);
    net->outputs = malloc(n * 2 * NNUE_BUCKETS * sizeof *net->outputs);
    TEST_ASSERT_TRUE(net->features && net->biases && net->outputs);
    for (size_t i = 0; i < n * NNUE_INPUTS; i++)
        net->features[i] = (int16_t)within(seed, 1, i, large ? NNUE_WEIGHT_MAX : 40);
    for (size_t i = 0; i < n; i++)
        net->biases[i] = (int16_t)within(seed, 2, i, large ? NNUE_WEIGHT_MAX : 150);
    for (size_t i = 0; i < n * 2 * NNUE_BUCKETS; i++)
        net->outputs[i] = (int16_t)within(seed, 3, i, !large ? 160 : hidden > 128 ? 280 : NNUE_OUTPUT_MAX);
    for (size_t i = 0; i < NNUE_BUCKETS; i++) net->output_biases[i] = within(seed, 4, i, 8000);
    net->weights = (NetWeights){hidden, 400, net->features, net->biases, net->outputs, net->output_biases};
    return net;
}

void testnet_free(TestNet *net) {
    free(net->features);
    free(net->biases);
    free(net->outputs);
    free(net);
}

char *testnet_bytes(const TestNet *net, const char *note, size_t *size) {
    char path[] = "/tmp/hone_net_XXXXXX";
    int fd = mkstemp(path);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(0, fd);
    close(fd);
    Error error = {""};
    bool saved = net_save(path, &net->weights, note, &error);
    char *bytes = saved ? file_read(path, size, &error) : NULL;
    remove(path);
    TEST_ASSERT_TRUE_MESSAGE(bytes != NULL, error.text);
    return bytes;
}

void testnet_seal(char *bytes, size_t size) {
    uint32_t crc = crc32_of(crc32_of(0, bytes + 32, 4), bytes + 64, size - 64);
    memcpy(bytes + 40, &crc, sizeof crc);
}

Net *testnet_net(int hidden, uint64_t seed, bool large) {
    TestNet *random = testnet_create(hidden, seed, large);
    size_t size;
    char *bytes = testnet_bytes(random, "{\"made\": \"for a test\"}", &size);
    Error error = {""};
    Net *net = net_parse(bytes, size, "random net", &error);
    TEST_ASSERT_TRUE_MESSAGE(net != NULL, error.text);
    free(bytes);
    testnet_free(random);
    return net;
}
