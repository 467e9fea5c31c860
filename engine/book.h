// SPDX-License-Identifier: GPL-3.0-or-later
// Opening books in Polyglot's .bin format: opened by memory map, searched by halving, nothing copied. A Book
// does not change after it was opened, so any thread may ask it. Making books is hone-book's work, not done
// here.
#pragma once

#include "engine/position.h"

// An open book: a read-only map of its file.
typedef struct Book {
    FileMap map;
    size_t count; // entries
} Book;

enum { BOOK_ENTRY_SIZE = 16 };

// One entry as the file has it; the move in Polyglot's own 16 bits.
typedef struct BookEntry {
    Key key;
    uint16_t move, weight;
    uint32_t learn;
} BookEntry;

// A legal move of the book with its weight.
typedef struct BookMove {
    Move move;
    uint16_t weight;
} BookMove;

// What the book has for one position: legal moves only, each once, the heaviest first.
typedef struct BookMoves {
    int count;
    uint32_t total; // sum of the weights
    BookMove moves[MAX_MOVES];
} BookMoves;

// Opens a book; refuses with a reason what cannot be one: broken size, keys out of order, impossible moves.
bool book_open(Book *book, const char *path, Error *error);

// Checks bytes in memory as book_open does and makes them a book that borrows them; name stands in reasons.
bool book_from_memory(Book *book, const char *name, const void *data, size_t size, Error *error);

// Gives back what book_open took; harmless on a zeroed book.
void book_close(Book *book);

// The entry at an index.
BookEntry book_entry(const Book *book, size_t index);

// Writes an entry as BOOK_ENTRY_SIZE bytes of a file.
void book_entry_write(const BookEntry *entry, uint8_t *bytes);

// The index of the first entry whose key is not below key (count if there is none).
size_t book_find(const Book *book, Key key);

// All legal moves that the book has for a position.
BookMoves book_moves(const Book *book, const Position *pos);

// The book's move, or MOVE_NONE: the heaviest, or one drawn by weight. The draw depends on (seed, position)
// alone.
Move book_pick(const Book *book, const Position *pos, bool best, uint64_t seed);

// A legal move in Polyglot's encoding (castling as king takes rook).
uint16_t book_encode(Move move);

// The legal move that a Polyglot encoding means here (castling as e1g1 is understood too), or MOVE_NONE.
Move book_decode(const Position *pos, uint16_t encoded);
