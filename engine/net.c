// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/net.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/nnue_kernel.h"
#include "engine/types.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "net files are read as they lie in memory: little-endian machines only"
#endif

// The first bytes of a net file.
typedef struct NetHeader {
    char magic[8];
    uint32_t version, hidden, inputs, buckets;
    int32_t qa, qb, scale;
    uint32_t note_size, crc; // crc of scale and all bytes behind the header
    uint32_t zero[5];
} NetHeader;

enum { NET_VERSION = 1, NET_BLOCK = 64, MOST_MEN = 32 };

static const char Magic[8] = {'H', 'o', 'n', 'e', 'N', 'N', 'U', 'E'};

_Static_assert(sizeof(NetHeader) == NET_BLOCK, "the header fills one block");

static size_t round_up(size_t size) { return (size + NET_BLOCK - 1) / NET_BLOCK * NET_BLOCK; }

// The bytes of the weights behind the note.
static size_t weights_size(int hidden) {
    size_t shorts = (size_t)hidden * (NNUE_INPUTS + 1 + 2 * NNUE_BUCKETS);
    return shorts * sizeof(int16_t) + NNUE_BUCKETS * sizeof(int32_t);
}

// Points into the weights of a file, which begin at data.
static NetWeights weights_at(const char *data, int hidden, int scale) {
    NetWeights weights = {.hidden = hidden, .scale = scale};
    const int16_t *shorts = (const void *)data;
    weights.features = shorts;
    weights.biases = weights.features + (size_t)hidden * NNUE_INPUTS;
    weights.outputs = weights.biases + hidden;
    weights.output_biases = (const void *)(weights.outputs + (size_t)hidden * 2 * NNUE_BUCKETS);
    return weights;
}

// The checksum of all that the fields of the header do not fix: the scale and what follows the header.
static uint32_t crc_of(const NetHeader *header, const char *rest, size_t size) {
    return crc32_of(crc32_of(0, &header->scale, sizeof header->scale), rest, size);
}

// --- what is refused

static bool check_number(const char *field, int64_t value, int64_t expected, Error *error) {
    if (value == expected) return true;
    return error_set(error, "%s is %lld, expected %lld", field, (long long)value, (long long)expected);
}

static bool check_header(const NetHeader *header, size_t size, Error *error) {
    if (memcmp(header->magic, Magic, sizeof Magic) != 0)
        return error_set(error, "magic is not \"HoneNNUE\": no net of Hone");
    if (!check_number("version", header->version, NET_VERSION, error)) return false;
    if (header->hidden == 0 || header->hidden % 32 != 0 || header->hidden > NNUE_MAX_HIDDEN)
        return error_set(error, "hidden is %u, expected a multiple of 32 up to %d", header->hidden,
                         NNUE_MAX_HIDDEN);
    if (!check_number("inputs", header->inputs, NNUE_INPUTS, error) ||
        !check_number("buckets", header->buckets, NNUE_BUCKETS, error) ||
        !check_number("qa", header->qa, NNUE_QA, error) || !check_number("qb", header->qb, NNUE_QB, error))
        return false;
    if (header->scale < 1 || header->scale > NNUE_SCALE_MAX)
        return error_set(error, "scale is %d, expected 1 to %d", header->scale, NNUE_SCALE_MAX);
    if (header->note_size % NET_BLOCK != 0 || header->note_size > NET_NOTE_MAX)
        return error_set(error, "note_size is %u, expected a multiple of %d up to %d", header->note_size,
                         NET_BLOCK, NET_NOTE_MAX);
    for (int i = 0; i < 5; i++)
        if (header->zero[i]) return error_set(error, "padding of the header is not zero");
    size_t expected = sizeof *header + header->note_size + weights_size((int)header->hidden);
    if (size != expected)
        return error_set(error, "file has %zu bytes, expected %zu for hidden %u", size, expected,
                         header->hidden);
    return true;
}

static bool check_note(const char *note, size_t size, Error *error) {
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)note[i] < ' ' || note[i] == 127)
            return error_set(error, "note has byte %d at %zu, expected text", (unsigned char)note[i], i);
    return true;
}

// The largest sum of MOST_MEN of the values; sorts them.
static int sum_of_largest(int values[SQUARES]) {
    for (int i = 1; i < SQUARES; i++) {
        int value = values[i], at = i;
        for (; at > 0 && values[at - 1] < value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    int sum = 0;
    for (int i = 0; i < MOST_MEN; i++) sum += values[i];
    return sum;
}

// Whether no board can make a sum leave int16: at most 32 men, one a square, each the worst that can stand
// there.
static bool check_features(const NetWeights *w, Error *error) {
    for (int n = 0; n < w->hidden; n++) {
        int up[SQUARES] = {0}, down[SQUARES] = {0};
        for (int input = 0; input < NNUE_INPUTS; input++) {
            int value = w->features[(size_t)input * (size_t)w->hidden + (size_t)n], square = input % SQUARES;
            up[square] = int_max(up[square], value);
            down[square] = int_max(down[square], -value);
        }
        int high = w->biases[n] + sum_of_largest(up), low = w->biases[n] - sum_of_largest(down);
        if (high > INT16_MAX || low < INT16_MIN)
            return error_set(error, "feature weights: unit %d can reach %d, beyond 16 bits", n,
                             high > INT16_MAX ? high : low);
    }
    return true;
}

// Whether every sum of products fits 32 bits, in whatever order they are added.
static bool check_outputs(const NetWeights *w, Error *error) {
    for (int bucket = 0; bucket < NNUE_BUCKETS; bucket++) {
        int64_t up = 0, down = 0;
        for (int n = 0; n < 2 * w->hidden; n++) {
            int value = w->outputs[bucket * 2 * w->hidden + n];
            if (value > NNUE_OUTPUT_MAX || value < -NNUE_OUTPUT_MAX)
                return error_set(error, "output weight %d of bucket %d is %d, expected -%d to %d", n, bucket,
                                 value, NNUE_OUTPUT_MAX, NNUE_OUTPUT_MAX);
            *(value > 0 ? &up : &down) += (int64_t)value * (NNUE_QA * NNUE_QA >> NNUE_SQUARE_SHIFT);
        }
        if (up > INT32_MAX || down < -INT32_MAX)
            return error_set(error, "output weights of bucket %d can reach %lld, beyond 32 bits", bucket,
                             (long long)(up > INT32_MAX ? up : down));
    }
    return true;
}

// --- reading

// One block of memory with the net, its weights and its note; users is 1.
static Net *net_new(const NetHeader *header, const char *note, const char *weights) {
    size_t front = round_up(sizeof(Net)), size = weights_size((int)header->hidden);
    size_t length = header->note_size;
    while (length > 0 && note[length - 1] == ' ') length--;
    char *memory = aligned_alloc(NET_BLOCK, round_up(front + size + length + 1));
    if (!memory) return NULL;
    char *copy = memory + front, *text = copy + size;
    memcpy(copy, weights, size);
    memcpy(text, note, length);
    text[length] = '\0';
    Net *net = (void *)memory;
    *net = (Net){
        .weights = weights_at(copy, (int)header->hidden, header->scale),
        .kernel = nnue_kernel_best(),
        .digest = digest_of(digest_of(DIGEST_START, &header->scale, sizeof header->scale), copy, size),
        .note = text,
        .users = 1,
    };
    return net;
}

Net *net_parse(const void *data, size_t size, const char *name, Error *error) {
    NetHeader header;
    const char *bytes = data;
    if (size < sizeof header) {
        error_set(error, "%s: file has %zu bytes, expected a header of %zu", name, size, sizeof header);
        return NULL;
    }
    memcpy(&header, bytes, sizeof header);
    const char *note = bytes + sizeof header;
    Net *net = NULL;
    bool ok = check_header(&header, size, error);
    if (ok && crc_of(&header, note, size - sizeof header) != header.crc)
        ok = error_set(error, "crc does not match: the file is damaged");
    ok = ok && check_note(note, header.note_size, error);
    if (ok && !(net = net_new(&header, note, note + header.note_size)))
        ok = error_set(error, "not enough memory");
    ok = ok && check_features(&net->weights, error) && check_outputs(&net->weights, error);
    if (ok) return net;
    error_prefix(error, "%s", name);
    free(net);
    return NULL;
}

Net *net_load(const char *path, Error *error) {
    FileMap map;
    if (!file_map(&map, path, error)) return NULL;
    Net *net = net_parse(map.data, map.size, path, error);
    file_unmap(&map);
    return net;
}

// Between these two lies the file that was built in, if any (nnue_data.S).
extern const char NnueData[], NnueDataEnd[];

static pthread_once_t BuiltinOnce = PTHREAD_ONCE_INIT;
static Net *Builtin;

static void builtin_init(void) {
    size_t size = (size_t)((uintptr_t)NnueDataEnd - (uintptr_t)NnueData);
    if (size) Builtin = net_parse(NnueData, size, "builtin net", NULL);
}

const Net *net_builtin(void) {
    pthread_once(&BuiltinOnce, builtin_init);
    return Builtin;
}

const Net *net_retain(const Net *net) {
    if (net) atomic_fetch_add_explicit(&((Net *)(uintptr_t)net)->users, 1, memory_order_relaxed);
    return net;
}

void net_release(const Net *net) {
    if (!net) return;
    Net *own = (Net *)(uintptr_t)net;
    if (atomic_fetch_sub_explicit(&own->users, 1, memory_order_acq_rel) == 1) free(own);
}

// --- writing

// The bytes of a net file in a fresh buffer.
static char *net_bytes(const NetWeights *weights, const char *note, size_t *size, Error *error) {
    const NetWeights *w = weights;
    size_t length = strlen(note), hidden = (size_t)w->hidden;
    if (w->hidden <= 0 || w->hidden > NNUE_MAX_HIDDEN || length > NET_NOTE_MAX) {
        error_set(error, "hidden is %d, expected a multiple of 32 up to %d; note has %zu bytes of %d",
                  w->hidden, NNUE_MAX_HIDDEN, length, NET_NOTE_MAX);
        return NULL;
    }
    NetHeader header = {
        .version = NET_VERSION,
        .hidden = (uint32_t)w->hidden,
        .inputs = NNUE_INPUTS,
        .buckets = NNUE_BUCKETS,
        .qa = NNUE_QA,
        .qb = NNUE_QB,
        .scale = w->scale,
        .note_size = (uint32_t)round_up(length),
    };
    memcpy(header.magic, Magic, sizeof Magic);
    *size = sizeof header + header.note_size + weights_size(w->hidden);
    char *bytes = malloc(*size), *at = bytes ? bytes + sizeof header : NULL;
    if (!bytes) {
        error_set(error, "not enough memory");
        return NULL;
    }
    memset(at, ' ', header.note_size);
    memcpy(at, note, length);
    at += header.note_size;
    const struct {
        const void *data;
        size_t size;
    } parts[] = {
        {w->features, hidden * NNUE_INPUTS * sizeof *w->features},
        {w->biases, hidden * sizeof *w->biases},
        {w->outputs, hidden * 2 * NNUE_BUCKETS * sizeof *w->outputs},
        {w->output_biases, NNUE_BUCKETS * sizeof *w->output_biases},
    };
    for (int i = 0; i < 4; at += parts[i++].size) memcpy(at, parts[i].data, parts[i].size);
    header.crc = crc_of(&header, bytes + sizeof header, *size - sizeof header);
    memcpy(bytes, &header, sizeof header);
    return bytes;
}

bool net_save(const char *path, const NetWeights *weights, const char *note, Error *error) {
    size_t size;
    char *bytes = net_bytes(weights, note, &size, error);
    if (!bytes) return error_prefix(error, "%s", path);
    Net *net = net_parse(bytes, size, path, error);
    char temporary[4096];
    bool ok = net != NULL;
    net_release(net);
    if (ok && snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary)
        ok = error_set(error, "%s: the path is too long", path);
    FILE *file = ok ? fopen(temporary, "wb") : NULL;
    if (ok) {
        bool written =
            file && fwrite(bytes, 1, size, file) == size && fflush(file) == 0 && fsync(fileno(file)) == 0;
        int reason = errno;
        if (file && fclose(file) != 0 && written) written = false, reason = errno;
        if (written && rename(temporary, path) != 0) written = false, reason = errno;
        if (!written) {
            ok = error_set(error, "%s: %s", path, strerror(reason));
            if (file) remove(temporary);
        }
    }
    free(bytes);
    return ok;
}
