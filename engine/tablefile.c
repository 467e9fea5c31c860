// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tablefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TablefileKind tablefile_kind(const char *name) {
    int men = 0, kings = 0;
    const char *p = name;
    for (; *p && *p != '.'; p++) {
        if (*p == 'v') {
            if (kings != 1 || p[1] != 'K') return TABLEFILE_NONE;
            continue;
        }
        kings += *p == 'K';
        if (!strchr("KQRBNP", *p) || (men == 0 && *p != 'K') || ++men > 7) return TABLEFILE_NONE;
    }
    if (kings != 2 || men < 3 || !strchr(name, 'v')) return TABLEFILE_NONE;
    return !strcmp(p, ".rtbw") ? TABLEFILE_WDL : !strcmp(p, ".rtbz") ? TABLEFILE_DTZ : TABLEFILE_NONE;
}

// ---- the checksum -----------------------------------------------------------------------------------------
// The last 16 bytes of a file are CityHash 1.0's 128-bit sum of its 256-bit sum (with CRC-32C) of all before
// them. The sums of files beyond 16 MB are put together from pieces; those are not computed here.

enum { CHUNK = 40, ROUND = 6 * CHUNK, TRAILER = 16, CHECKED_MAX = 1 << 24 };

static const uint64_t Prime0 = 0xc3a5c85c97cb3127ull, Prime1 = 0xb492b66fbe98f273ull,
                      Prime3 = 0xc949d7c7509e6557ull;

static uint64_t load64(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static uint64_t rotate(uint64_t value, int right) { return value >> right | value << (64 - right); }
static uint64_t fold(uint64_t value) { return value ^ value >> 47; }

static uint64_t join(uint64_t low, uint64_t high) {
    const uint64_t multiplier = 0x9ddfea08eb382d69ull;
    uint64_t first = fold((low ^ high) * multiplier);
    return fold((high ^ first) * multiplier) * multiplier;
}

static uint64_t crc32c(uint64_t crc, uint64_t value) {
#ifdef __SSE4_2__
    return __builtin_ia32_crc32di(crc, value);
#else
    crc ^= value; // the value's upper half stays above and is shifted in
    for (int bit = 0; bit < 64; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    return crc;
#endif
}

// What the sum keeps while it goes through the data.
typedef struct Sum {
    uint64_t word[5], last; // last: the first word of the chunk before
    uint64_t crc[5];
} Sum;

static void sum_chunk(Sum *sum, const uint8_t *data, bool multiply) {
    static const int Turn[5] = {41, 27, 41, 33, 25};
    uint64_t first = sum->word[0];
    for (int i = 0; i < 5; i++) {
        uint64_t next = i < 4 ? sum->word[i + 1] : sum->last;
        sum->word[i] = rotate(next, Turn[i] ^ !multiply) * (multiply ? Prime0 : 1) + load64(data + 8 * i);
        sum->crc[i] = crc32c(sum->crc[i], sum->word[i]);
    }
    sum->last = first;
}

// The 256-bit sum of at least ROUND bytes.
static void sum_256(const uint8_t *data, size_t size, uint32_t seed, uint64_t result[4]) {
    Sum sum = {.word = {load64(data + 56) + Prime0, load64(data + 96) + Prime0}, .crc = {seed}};
    uint64_t start = sum.word[2] = join(sum.word[1], size);
    uint64_t second = sum.word[3] = load64(data + 120) * Prime0 + size;
    sum.word[4] = load64(data + 184) + seed;
    sum.last = start + second;
    size_t whole = size / ROUND * ROUND, at = 0;
    for (int chunk = 0; at < whole; at += CHUNK, chunk++) sum_chunk(&sum, data + at, chunk & 1);
    for (; at + CHUNK <= size; at += CHUNK) sum_chunk(&sum, data + at, true);
    if (at < size) sum_chunk(&sum, data + size - CHUNK, true);

    uint64_t *w = sum.word, *crc = sum.crc;
    uint64_t tail = crc[4] + (crc[3] << 32), middle = crc[2] + (crc[1] << 32);
    uint64_t a = join(w[0], tail), b = w[1] + middle;
    uint64_t c = join(w[2], crc[0]) + crc[3], d = join(w[3], w[4] + start);
    tail += w[4];
    uint64_t end = crc[3] + join(middle, sum.last);
    uint64_t e = join(a, d) + tail, f = join(b, c) + a, g = join(tail, end) + c;
    result[0] = e + f + g + middle;
    a = fold((a + g) * Prime0) * Prime0 + b;
    result[1] = second + a + result[0];
    a = fold(a * Prime0) * Prime0 + c;
    result[2] = a + result[1];
    a = fold((a + e) * Prime0) * Prime0;
    result[3] = a + result[2];
}

// Whether the trailer of a file of at most CHECKED_MAX bytes is the sum of the rest.
static bool checksum_matches(const uint8_t *data, size_t size) {
    uint64_t sum[4];
    size -= TRAILER;
    if (size >= ROUND) sum_256(data, size, 0, sum);
    else {
        uint8_t padded[ROUND] = {0};
        memcpy(padded, data, size);
        sum_256(padded, ROUND, ~(uint32_t)size, sum);
    }
    uint64_t a = fold((sum[0] ^ Prime3) * Prime1) * Prime1;
    uint64_t c = sum[1] * Prime1 + (join(sum[2], rotate(sum[3] + 16, 16)) ^ sum[3]);
    uint64_t d = fold(a + sum[2]);
    a = join(a, c);
    uint64_t b = join(d, sum[1]);
    return load64(data + size) == (a ^ b) && load64(data + size + 8) == join(b, a);
}

// ---- the check --------------------------------------------------------------------------------------------

static bool check_magic(const uint8_t *start, TablefileKind kind, const char *path, Error *error) {
    static const uint8_t Magic[][4] = {{0}, {0x71, 0xe8, 0x23, 0x5d}, {0xd7, 0x66, 0x0c, 0xa5}};
    if (!memcmp(start, Magic[kind], 4)) return true;
    return error_set(error, "%s: not a Syzygy %s table: the first bytes are %02x %02x %02x %02x", path,
                     kind == TABLEFILE_WDL ? "WDL" : "DTZ", start[0], start[1], start[2], start[3]);
}

bool tablefile_check(const char *path, TablefileKind kind, Error *error) {
    struct stat status;
    if (stat(path, &status)) return error_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) return error_set(error, "%s: not a file", path);
    if (status.st_size < 64 + TRAILER || status.st_size % 64 != TRAILER)
        return error_set(error, "%s: cut short: a table has 64 x n + 16 bytes, this file has %lld", path,
                         (long long)status.st_size);
    if (status.st_size - TRAILER <= CHECKED_MAX) {
        size_t size;
        char *data = file_read(path, &size, error);
        if (!data) return false;
        bool good = size == (size_t)status.st_size || error_set(error, "%s: changed while it was read", path);
        good = good && check_magic((const uint8_t *)data, kind, path, error);
        if (good && !checksum_matches((const uint8_t *)data, size))
            good = error_set(error, "%s: damaged: its checksum does not match", path);
        free(data);
        return good;
    }
    uint8_t start[4] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return error_set(error, "%s: %s", path, strerror(errno));
    bool read = fread(start, 1, sizeof start, file) == sizeof start;
    fclose(file);
    return read ? check_magic(start, kind, path, error) : error_set(error, "%s: cannot be read", path);
}
