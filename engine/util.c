// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/util.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool error_set(Error *error, const char *format, ...) {
    if (!error) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

bool error_prefix(Error *error, const char *format, ...) {
    if (!error) return false;
    Error reason = *error;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof error->text)
        snprintf(error->text + used, sizeof error->text - (size_t)used, ": %.300s", reason.text);
    return false;
}

void die(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fflush(stdout);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

int stdout_end(const char *program, int status) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "%s: standard output: %s\n", program,
            errno ? strerror(errno) : "not all could be written");
    return status ? status : 1;
}

int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t now_ms(void) { return now_ns() / 1000000; }

// The finaliser of splitmix64.
uint64_t mix64(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

uint64_t random_at(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint64_t golden = 0x9e3779b97f4a7c15ull;
    uint64_t key = mix64(mix64(seed + golden) ^ (stream * 0xd1342543de82ef95ull + golden));
    return mix64(key + (index + 1) * golden);
}

uint64_t random_below(uint64_t random, uint64_t bound) {
    return (uint64_t)((unsigned __int128)random * bound >> 64);
}

double random_unit(uint64_t random) { return (double)(random >> 11) * 0x1p-53; }

uint32_t crc32_of(uint32_t crc, const void *data, size_t size) {
    // Four bits at a time: a table of 16 words is computed by hand once and never changes.
    static const uint32_t Nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *bytes = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = Nibble[crc & 15] ^ crc >> 4;
        crc = Nibble[crc & 15] ^ crc >> 4;
    }
    return ~crc;
}

// FNV-1a.
uint64_t digest_of(uint64_t digest, const void *data, size_t size) {
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) digest = (digest ^ bytes[i]) * 0x100000001b3ull;
    return digest;
}

bool parse_int(const char *text, int64_t min, int64_t max, int64_t *value, Error *error) {
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (*text == '\0' || isspace((unsigned char)*text) || *end != '\0')
        return error_set(error, "'%.60s' is not a whole number", text);
    if (errno != 0 || parsed < min || parsed > max)
        return error_set(error, "%.60s is not in %lld to %lld", text, (long long)min, (long long)max);
    *value = parsed;
    return true;
}

bool parse_real(const char *text, double min, double max, double *value, Error *error) {
    char *end;
    errno = 0;
    double parsed = strtod(text, &end);
    if (*text == '\0' || isspace((unsigned char)*text) || *end != '\0' || !isfinite(parsed))
        return error_set(error, "'%.60s' is not a number", text);
    if (parsed < min || parsed > max) return error_set(error, "%g is not in %g to %g", parsed, min, max);
    *value = parsed;
    return true;
}

bool text_copy(char *buffer, size_t size, const char *text) {
    size_t length = strlen(text), kept = length < size ? length : size - 1;
    memcpy(buffer, text, kept);
    buffer[kept] = '\0';
    return kept == length;
}

bool text_equal(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
    return *a == *b;
}

bool text_word(const char **cursor, char *word, size_t size) {
    const char *from = *cursor;
    while (isspace((unsigned char)*from)) from++;
    const char *to = from;
    while (*to && !isspace((unsigned char)*to)) to++;
    size_t length = (size_t)(to - from), kept = length < size ? length : size - 1;
    memcpy(word, from, kept);
    word[kept] = '\0';
    *cursor = to;
    return length > 0;
}

char *text_join(int count, char *const *words) {
    size_t size = 1;
    for (int i = 0; i < count; i++) size += strlen(words[i]) + 1;
    char *text = malloc(size), *end = text;
    for (int i = 0; text && i < count; i++) {
        if (i > 0) *end++ = ' ';
        end = stpcpy(end, words[i]);
    }
    if (text) *end = '\0';
    return text;
}

char *file_read(const char *path, size_t *size, Error *error) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        error_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    size_t capacity = 1 << 16, used = 0;
    char *data = malloc(capacity + 1);
    while (data) {
        size_t got = fread(data + used, 1, capacity - used, file);
        used += got;
        if (got == 0 || feof(file)) break;
        if (used == capacity) {
            char *grown = realloc(data, (capacity *= 2) + 1);
            if (!grown) free(data);
            data = grown;
        }
    }
    bool failed = !data || ferror(file);
    if (failed) error_set(error, "%s: %s", path, data ? strerror(errno) : "not enough memory");
    fclose(file);
    if (failed) {
        free(data);
        return NULL;
    }
    data[used] = '\0';
    if (size) *size = used;
    return data;
}

bool file_map(FileMap *map, const char *path, Error *error) {
    *map = (FileMap){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_set(error, "%s: %s", path, strerror(errno));
    struct stat status;
    bool ok = fstat(fd, &status) == 0;
    if (!ok) error_set(error, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode)) ok = error_set(error, "%s: not a regular file", path);
    if (ok && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) ok = error_set(error, "%s: %s", path, strerror(errno));
        else *map = (FileMap){data, (size_t)status.st_size};
    }
    close(fd);
    return ok;
}

void file_unmap(FileMap *map) {
    if (map->data) munmap((void *)(uintptr_t)map->data, map->size);
    *map = (FileMap){0};
}

bool file_out_open(FileOut *out, const char *path, Error *error) {
    struct stat status;
    bool special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    size_t size = strlen(path) + sizeof ".tmp";
    *out = (FileOut){.path = strdup(path), .part = special ? NULL : malloc(size)};
    if (out->part) snprintf(out->part, size, "%s.tmp", path);
    if (!out->path || !(out->part || special)) error_set(error, "%s: not enough memory", path);
    else if (!(out->file = fopen(special ? path : out->part, "wb")))
        error_set(error, "%s: %s", special ? path : out->part, strerror(errno));
    if (out->file) return true;
    free(out->path);
    free(out->part);
    return false;
}

bool file_out_close(FileOut *out, bool whole, Error *error) {
    errno = 0;
    bool written = !ferror(out->file);
    written &= fclose(out->file) == 0;
    if (whole && written && out->part) written = rename(out->part, out->path) == 0;
    if (!written) error_set(error, "%s: %s", out->path, errno ? strerror(errno) : "not all could be written");
    if (!(whole && written) && out->part) unlink(out->part);
    free(out->path);
    free(out->part);
    return whole && written;
}
