// SPDX-License-Identifier: GPL-3.0-or-later
// Small things that every layer needs: errors as values, the clock, stateless randomness, checksums and
// number parsing. Nothing here knows about chess.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Why something was refused: one line that names what was wrong and what was expected.
typedef struct Error {
    char text[320];
} Error;

// Writes a formatted reason into error (which may be NULL) and returns false, for `return error_set(...)`.
bool error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Puts "prefix: " in front of a reason already set and returns false, so that a caller can add its place.
bool error_prefix(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints "program: reason" on stderr and exits with status; for mains only, library code returns errors.
_Noreturn void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

// For the end of main: flushes stdout and returns status; 1 with a word on stderr if what was printed got
// lost.
int stdout_end(const char *program, int status);

// Nanoseconds of the monotonic clock.
int64_t now_ns(void);

// Milliseconds of the monotonic clock.
int64_t now_ms(void);

// Mixes a 64-bit value so that every input bit reaches every output bit (a bijection).
uint64_t mix64(uint64_t value);

// The 64-bit random number at (seed, stream, index): no state, so any number can be had again at any time.
uint64_t random_at(uint64_t seed, uint64_t stream, uint64_t index);

// A number in [0, bound) from a 64-bit random one, by the multiply-high method (no modulo bias worth naming).
uint64_t random_below(uint64_t random, uint64_t bound);

// A number in [0, 1) with 53 bits from a 64-bit random one.
double random_unit(uint64_t random);

// CRC-32 (IEEE 802.3) of size bytes, continued from crc (0 to begin).
uint32_t crc32_of(uint32_t crc, const void *data, size_t size);

// 64-bit digest of size bytes, continued from digest (DIGEST_START to begin).
uint64_t digest_of(uint64_t digest, const void *data, size_t size);
#define DIGEST_START 0xcbf29ce484222325ull

// Parses all of text as a decimal integer in [min, max]; refuses trailing characters.
bool parse_int(const char *text, int64_t min, int64_t max, int64_t *value, Error *error);

// Parses all of text as a finite real number in [min, max]; refuses trailing characters.
bool parse_real(const char *text, double min, double max, double *value, Error *error);

// Copies text into a buffer of size bytes, cut if it must be, always terminated; returns false if it was cut.
bool text_copy(char *buffer, size_t size, const char *text);

// Whether two texts are equal but for the case of ASCII letters (UCI names are).
bool text_equal(const char *a, const char *b);

// Takes the next blank-separated word from *cursor into word (cut to size) and advances; false at the end.
bool text_word(const char **cursor, char *word, size_t size);

// Words with blanks between them in a fresh string that the caller frees; NULL if memory does not suffice.
char *text_join(int count, char *const *words);

// Reads a whole file into a fresh, zero-terminated buffer that the caller frees; NULL and a reason on
// failure.
char *file_read(const char *path, size_t *size, Error *error);

// A whole file mapped into memory, read only; an empty file has size 0 and no data.
typedef struct FileMap {
    const char *data;
    size_t size;
} FileMap;

// Maps a regular file. The file must not shrink while it is mapped: reading past its new end would end the
// process.
bool file_map(FileMap *map, const char *path, Error *error);

// Gives the memory back; harmless on a zeroed or an unmapped map.
void file_unmap(FileMap *map);

// A file being written: under the name `part` until it is whole, so that an older one is replaced at once or
// not at all. What is no regular file (a device, a pipe) is written to as it is.
typedef struct FileOut {
    FILE *file;
    char *path, *part; // part is NULL for what is no regular file
} FileOut;

// Begins to write a file; nothing is to be closed if that fails.
bool file_out_open(FileOut *out, const char *path, Error *error);

// Ends it: whole, the file appears; else, or if not all could be written, nothing is left of it.
bool file_out_close(FileOut *out, bool whole, Error *error);

static inline int int_min(int a, int b) { return a < b ? a : b; }
static inline int int_max(int a, int b) { return a > b ? a : b; }
static inline int int_clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
