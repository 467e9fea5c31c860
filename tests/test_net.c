// SPDX-License-Identifier: GPL-3.0-or-later
// engine/net: what is saved is loaded again; every damaged or impossible file is refused with a line that
// names the file and the field; an engine that is given one keeps the net it had.
#include "engine/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/nets.h"
#include "unity.h"

enum { HEADER = 64, HIDDEN = 32 };

static const char Note[] = "{\"seed\": 7, \"loss\": 0.0123}";

static TestNet *Source;
static char *Bytes; // a good file
static size_t Size;

void setUp(void) {
    Source = testnet_create(HIDDEN, 3, false);
    Bytes = testnet_bytes(Source, Note, &Size);
}

void tearDown(void) {
    testnet_free(Source);
    free(Bytes);
}

static void expect_refused(const char *bytes, size_t size, const char *field) {
    Error error = {""};
    Net *net = net_parse(bytes, size, "some.nnue", &error);
    TEST_ASSERT_NULL_MESSAGE(net, field);
    TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE("some.nnue: ", error.text, 11, error.text);
    if (!strstr(error.text, field)) TEST_FAIL_MESSAGE(error.text);
    TEST_ASSERT_NULL(strchr(error.text, '\n'));
}

static void what_is_saved_is_loaded(void) {
    Error error = {""};
    Net *net = net_parse(Bytes, Size, "good", &error);
    TEST_ASSERT_TRUE_MESSAGE(net != NULL, error.text);
    const NetWeights *w = &net->weights;
    TEST_ASSERT_EQUAL_INT(HIDDEN, w->hidden);
    TEST_ASSERT_EQUAL_INT16_ARRAY(Source->features, w->features, HIDDEN * NNUE_INPUTS);
    TEST_ASSERT_EQUAL_INT16_ARRAY(Source->biases, w->biases, HIDDEN);
    TEST_ASSERT_EQUAL_INT16_ARRAY(Source->outputs, w->outputs, 2 * HIDDEN * NNUE_BUCKETS);
    TEST_ASSERT_EQUAL_INT32_ARRAY(Source->output_biases, w->output_biases, NNUE_BUCKETS);
    TEST_ASSERT_EQUAL_STRING(Note, net->note);
    TEST_ASSERT_EQUAL_INT(0, (uintptr_t)w->features % 64);
    // The file is laid out as net.h says, byte for byte.
    TEST_ASSERT_EQUAL_INT(
        0, memcmp(Bytes, "HoneNNUE\1\0\0\0\40\0\0\0\0\3\0\0\10\0\0\0\340\1\0\0\0\2\0\0\220\1\0\0\100\0\0\0",
                  40));
    TEST_ASSERT_EQUAL_INT(
        0, memcmp(Bytes + HEADER + 64, Source->features, sizeof(int16_t) * HIDDEN * NNUE_INPUTS));
    TEST_ASSERT_EQUAL_INT(HEADER + 64 + 2 * HIDDEN * (768 + 1 + 16) + 32, Size);
    const Net *again = net_retain(net);
    TEST_ASSERT_EQUAL_INT(2, atomic_load(&net->users));
    net_release(again);
    // One other weight is another net; another note is not.
    Source->features[5] ^= 1;
    size_t size;
    char *bytes = testnet_bytes(Source, Note, &size);
    Net *other = net_parse(bytes, size, "other", NULL);
    TEST_ASSERT_TRUE(other && other->digest != net->digest);
    net_release(other);
    free(bytes);
    Source->features[5] ^= 1;
    bytes = testnet_bytes(Source, "", &size);
    other = net_parse(bytes, size, "other", NULL);
    TEST_ASSERT_TRUE(other && other->digest == net->digest && !*other->note);
    net_release(other);
    free(bytes);
    net_release(net);
}

static void any_other_length_is_refused(void) {
    char *longer = calloc(1, Size + 64);
    TEST_ASSERT_NOT_NULL(longer);
    memcpy(longer, Bytes, Size);
    for (size_t size = 0; size < Size; size += size < 200 ? 1 : 997) expect_refused(Bytes, size, "file has");
    expect_refused(longer, Size + 1, "file has");
    expect_refused(longer, Size + 64, "file has");
    free(longer);
}

static void every_flipped_bit_is_noticed(void) {
    for (size_t bit = 0; bit < 8 * Size; bit += bit < 8 * HEADER ? 1 : 211) {
        Bytes[bit / 8] ^= (char)(1 << bit % 8);
        Error error = {""};
        if (net_parse(Bytes, Size, "flipped", &error)) TEST_FAIL_MESSAGE("a flipped bit was not noticed");
        TEST_ASSERT_GREATER_THAN_INT(12, (int)strlen(error.text));
        Bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    Bytes[Size - 1] ^= 1;
    expect_refused(Bytes, Size, "crc");
}

static void every_field_of_the_header_is_checked(void) {
    static const struct {
        int offset;
        const char *field;
        uint32_t values[3];
    } Cases[] = {
        {0, "magic", {0, 0x656e6f49, 1}},
        {8, "version", {0, 2, UINT32_MAX}},
        {12, "hidden", {0, 33, 544}},
        {16, "inputs", {0, 767, 769}},
        {20, "buckets", {0, 1, 9}},
        {24, "qa", {0, 255, 481}},
        {28, "qb", {0, 64, 513}},
        {32, "scale", {0, 1001, UINT32_MAX}},
        {36, "note_size", {63, 65, UINT32_MAX - 63}},
        {40, "crc", {0, 1, 2}},
        {44, "padding", {1, 2, 3}},
        {60, "padding", {1, 2, 3}},
    };
    for (size_t i = 0; i < sizeof Cases / sizeof *Cases; i++)
        for (int v = 0; v < 3; v++) {
            uint32_t old;
            memcpy(&old, Bytes + Cases[i].offset, 4);
            memcpy(Bytes + Cases[i].offset, &Cases[i].values[v], 4);
            expect_refused(Bytes, Size, Cases[i].field);
            memcpy(Bytes + Cases[i].offset, &old, 4);
        }
}

// Puts a 16-bit number at an offset behind the note and expects a refusal that names the field.
static void expect_number_refused(size_t offset, int16_t value, const char *field) {
    char *at = Bytes + HEADER + 64 + offset, old[2];
    memcpy(old, at, 2);
    memcpy(at, &value, 2);
    testnet_seal(Bytes, Size);
    expect_refused(Bytes, Size, field);
    memcpy(at, old, 2);
}

static void weights_that_could_overflow_are_refused(void) {
    const size_t biases = 2 * HIDDEN * NNUE_INPUTS, outputs = biases + 2 * HIDDEN;
    expect_number_refused(2 * 5, INT16_MAX, "feature weights: unit 5");
    expect_number_refused(2 * (HIDDEN * 700 + 9), INT16_MIN, "feature weights: unit 9");
    expect_number_refused(biases + 2 * 3, INT16_MAX, "feature weights: unit 3");
    expect_number_refused(outputs, NNUE_OUTPUT_MAX + 1, "output weight 0 of bucket 0");
    expect_number_refused(outputs + 2 * (2 * HIDDEN * 7 + 1), -NNUE_OUTPUT_MAX - 1, "output weight 1 of bucket 7");
    Bytes[HEADER + 3] = '\n';
    testnet_seal(Bytes, Size);
    expect_refused(Bytes, Size, "note");

    // The bounds are exact: 32 men of 1000 and a bias of 767 fit, 768 do not.
    memset(Source->features, 0, sizeof(int16_t) * HIDDEN * NNUE_INPUTS);
    for (int square = 0; square < 40; square++)
        Source->features[(64 * (square % 12) + square) * HIDDEN + 8] = 1000;
    Source->biases[8] = 767;
    size_t size;
    free(testnet_bytes(Source, "", &size));
    Source->biases[8] = 768;
    Error error = {""};
    char path[] = "/tmp/hone_net_never_written";
    TEST_ASSERT_FALSE(net_save(path, &Source->weights, "", &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "unit 8 can reach 32768"), error.text);
    TEST_ASSERT_NOT_EQUAL(0, access(path, F_OK));

    // 1,024 output weights of 145 keep every sum below 2^31, of 146 not.
    TestNet *wide = testnet_create(512, 4, false);
    for (int i = 0; i < 1024; i++) wide->outputs[i] = 145;
    free(testnet_bytes(wide, "", &size));
    for (int i = 0; i < 1024; i++) wide->outputs[i] = 146;
    TEST_ASSERT_FALSE(net_save(path, &wide->weights, "", &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "bucket 0 can reach"), error.text);
    testnet_free(wide);
}

static void saving_says_why_it_failed_and_keeps_the_old_file(void) {
    Error error = {""};
    TEST_ASSERT_FALSE(net_save("/nonexistent/x.nnue", &Source->weights, Note, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "/nonexistent/x.nnue: No such"), error.text);
    char path[] = "/tmp/hone_net_XXXXXX";
    int fd = mkstemp(path);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(0, fd);
    close(fd);
    TEST_ASSERT_TRUE(net_save(path, &Source->weights, Note, &error));
    Source->outputs[0] = NNUE_OUTPUT_MAX + 1;
    TEST_ASSERT_FALSE(net_save(path, &Source->weights, Note, &error));
    TEST_ASSERT_FALSE(net_save(path, &Source->weights, "two\nlines", &error));
    Net *net = net_load(path, &error);
    TEST_ASSERT_TRUE_MESSAGE(net != NULL, error.text);
    net_release(net);
    remove(path);
    TEST_ASSERT_NULL(net_load(path, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "No such file"), error.text);
    TEST_ASSERT_NULL(net_load("/tmp", &error));
}

static void an_engine_keeps_its_net_when_the_new_one_is_refused(void) {
    char path[] = "/tmp/hone_net_XXXXXX", bad[] = "/tmp/hone_bad_XXXXXX";
    int fd = mkstemp(path), broken = mkstemp(bad);
    TEST_ASSERT_TRUE(fd >= 0 && broken >= 0);
    TEST_ASSERT_EQUAL_INT(Size, write(fd, Bytes, Size));
    TEST_ASSERT_EQUAL_INT(Size - 1, write(broken, Bytes, Size - 1));
    close(fd);
    close(broken);
    Engine *engine = engine_create(1);
    Error error = {""};
    TEST_ASSERT_NOT_NULL(engine);
    TEST_ASSERT_EQUAL_PTR(net_builtin(), engine_net(engine));
    TEST_ASSERT_TRUE_MESSAGE(engine_set_option(engine, "EvalFile", path, &error), error.text);
    const Net *net = engine_net(engine);
    TEST_ASSERT_TRUE(net && net != net_builtin() && strcmp(net->note, Note) == 0);
    TEST_ASSERT_EQUAL_INT(1, atomic_load(&net->users));
    TEST_ASSERT_FALSE(engine_set_option(engine, "EvalFile", bad, &error));
    TEST_ASSERT_EQUAL_STRING_LEN("EvalFile: /tmp/hone_bad_", error.text, 24);
    TEST_ASSERT_FALSE(engine_set_option(engine, "evalfile", "/nonexistent.nnue", &error));
    TEST_ASSERT_EQUAL_PTR(net, engine_net(engine));
    TEST_ASSERT_TRUE(engine_set_option(engine, "EvalFile", "", &error));
    TEST_ASSERT_EQUAL_PTR(net_builtin(), engine_net(engine));
    engine_destroy(engine);
    remove(path);
    remove(bad);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(what_is_saved_is_loaded);
    RUN_TEST(any_other_length_is_refused);
    RUN_TEST(every_flipped_bit_is_noticed);
    RUN_TEST(every_field_of_the_header_is_checked);
    RUN_TEST(weights_that_could_overflow_are_refused);
    RUN_TEST(saving_says_why_it_failed_and_keeps_the_old_file);
    RUN_TEST(an_engine_keeps_its_net_when_the_new_one_is_refused);
    return UNITY_END();
}
