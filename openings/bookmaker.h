// SPDX-License-Identifier: GPL-3.0-or-later
// Making Polyglot books: adds up what was played in games, or what other books hold, and writes the result in
// the order that the format asks for. Reading books is engine/book.
#pragma once

#include "engine/book.h"
#include "openings/pgn.h"

// What is known of one move in one position.
typedef struct BookStat {
    Key key;
    uint16_t move; // Polyglot's encoding; 0 marks a free slot
    uint32_t games;
    uint64_t points; // twice the wins plus the draws of the side that moved
} BookStat;

// A hash table of moves; zero it to begin.
typedef struct BookMaker {
    BookStat *slots;
    size_t count, capacity;
} BookMaker;

// How a move's record becomes its weight.
typedef enum BookScoring {
    BOOK_POINTS,  // twice the wins plus the draws, as Polyglot counts
    BOOK_SHARE,   // points per game in ten-thousandths, however often the move was played
    BOOK_UNIFORM, // 1 for every move
} BookScoring;

// Which moves get into the book, and how they are weighed.
typedef struct BookRules {
    BookScoring scoring;
    uint32_t min_games;
} BookRules;

// What was written.
typedef struct BookMade {
    size_t entries, positions; // in the book
    size_t rare, losing;       // moves left out: too few games, no points
    uint64_t scaled;           // the largest weight before scaling to 16 bits, or 0 if that was not needed
} BookMade;

// Adds the first max_plies moves of a game with a result (0: all); false if memory runs out.
bool bookmaker_add_game(BookMaker *maker, const PgnGame *game, int max_plies);

// Adds every entry of a book, its weight as points; false if memory runs out.
bool bookmaker_add_book(BookMaker *maker, const Book *book);

// Writes the book to a file, which appears whole or not at all; empties the maker.
bool bookmaker_write(BookMaker *maker, const BookRules *rules, const char *path, BookMade *made,
                     Error *error);

// Gives the memory back.
void bookmaker_free(BookMaker *maker);
