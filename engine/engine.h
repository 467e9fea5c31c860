// SPDX-License-Identifier: GPL-3.0-or-later
// The only door to an engine. An engine is a value: many live in one process, each with its own parameters,
// table and threads, and none knows of the others.
//
// Owner only (one thread at a time): everything but engine_stop and engine_ponderhit, which any thread may
// call. While a search runs, all functions that change the engine wait for it to end first, except those two.
#pragma once

#include "engine/search.h"

typedef struct Engine Engine;

// An engine with default parameters, one thread and a table of hash megabytes; NULL if memory does not
// suffice.
Engine *engine_create(int hash_megabytes);

// Stops what runs and frees everything.
void engine_destroy(Engine *engine);

// The kinds of UCI options.
typedef enum OptionKind { OPTION_CHECK, OPTION_SPIN, OPTION_COMBO, OPTION_STRING, OPTION_BUTTON } OptionKind;

// What an engine says of one option; from params.def or the table in engine.c.
typedef struct OptionInfo {
    const char *name;
    OptionKind kind;
    int64_t value, min, max; // default and bounds (check: 0 or 1)
    const char *text;        // default of a string, or the values of a combo, blank between them
} OptionInfo;

// Any thread: the number of options.
int engine_option_count(void);

// Any thread: one option, by index.
OptionInfo engine_option(int index);

// Sets an option from text (names in any case); refuses what is unknown or out of range with a reason and
// keeps the old value. A button takes NULL or "". A non-fatal remark (a missing tablebase path) comes back as
// true with a text in error, which is empty otherwise.
bool engine_set_option(Engine *engine, const char *name, const char *value, Error *error);

// What the options that are not parameters stand at.
typedef struct EngineConfig {
    int hash, threads, multipv;
    int overhead;             // milliseconds
    bool chess960, show_wdl;  // for whoever prints
    TableOptions tables;      // solved endgames
    bool own_book, book_best; // play from BookFile; its heaviest move instead of one drawn by weight
    int book_depth;           // up to this move number
    uint64_t book_seed;
} EngineConfig;

// The options that are not parameters.
const EngineConfig *engine_config(const Engine *engine);

// The parameters that the next search will use.
const Params *engine_params(const Engine *engine);

// Replaces all parameters at once.
void engine_set_params(Engine *engine, const Params *params);

// The net that evaluates unless Evaluation is hand: of EvalFile, else the builtin one; NULL if there is none.
const Net *engine_net(const Engine *engine);

// Gives the engine a net, which it shares and counts (NULL: none), and forgets the table's scores if it is
// another one.
void engine_set_net(Engine *engine, const Net *net);

// Forgets everything learned: table, histories. The next game starts as from a fresh engine.
void engine_new_game(Engine *engine);

// Sets the position to search and the positions before it, oldest first (history may be NULL).
void engine_set_position(Engine *engine, const Position *pos, const KeyStack *history);

// The position to be searched.
const Position *engine_position(const Engine *engine);

// Starts a search on the engine's own threads and returns at once; the observer may be NULL.
void engine_start(Engine *engine, const SearchLimits *limits, const Observer *observer);

// Waits for the search to end and gives what it found; a move from the book has depth 0 and no score.
SearchResult engine_wait(Engine *engine);

// Both in one: the calling thread itself is the search's main thread, so a one-thread engine needs no other.
SearchResult engine_search(Engine *engine, const SearchLimits *limits, const Observer *observer);

// Any thread: ends the search as soon as it may; harmless if none runs.
void engine_stop(Engine *engine);

// Any thread: the move pondered on was played; the clock counts from the start of the search.
void engine_ponderhit(Engine *engine);

// Counters of the last search, summed over threads.
SearchRun engine_counters(const Engine *engine);

// The static evaluation of the current position in words, for people (16,000 bytes hold it all).
void engine_explain(const Engine *engine, char *buffer, size_t size);
