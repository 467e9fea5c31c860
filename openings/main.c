// SPDX-License-Identifier: GPL-3.0-or-later
// The program hone-book: makes, shows, merges and checks Polyglot books, and makes suites of start positions.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/book.h"
#include "engine/notation.h"
#include "openings/bookmaker.h"
#include "openings/opening.h"
#include "openings/pgn.h"
#include "openings/suite.h"

enum { EXIT_BAD_INPUT = 1, EXIT_USAGE = 2, SHOWN_PROBLEMS = 8 };

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *brief, *help;
} Command;

static int run_make(int argc, char **argv);
static int run_show(int argc, char **argv);
static int run_merge(int argc, char **argv);
static int run_check(int argc, char **argv);
static int run_suite(int argc, char **argv);

static const Command Commands[] = {
    {"make", run_make, "a Polyglot book from PGN games",
     "usage: hone-book make [options] OUT.bin GAMES.pgn...\n"
     "\n"
     "Adds up every move of every game that has a result and writes those that pass the rules.\n"
     "  --plies N         only the first N plies of a game (default 24; 0: all)\n"
     "  --min-games N     a move must have been played in N games (default 3)\n"
     "  --scoring HOW     the weight of a move (default points):\n"
     "                      points   2 x wins + draws of the side that moved, as polyglot counts\n"
     "                      share    points per game in ten-thousandths, however often it was played\n"
     "                      uniform  1\n"
     "Weights above 65535 are scaled down together. Moves without points are left out.\n"
     "\n"
     "examples:\n"
     "  hone-book make book.bin games.pgn\n"
     "  hone-book make --plies 16 --min-games 10 --scoring share book.bin a.pgn b.pgn\n"},
    {"show", run_show, "what a book has for a position",
     "usage: hone-book show BOOK.bin [FEN]\n"
     "\n"
     "Prints the moves of the position (the start position if none is given): move, UCI, weight, share.\n"
     "\n"
     "examples:\n"
     "  hone-book show book.bin\n"
     "  hone-book show book.bin 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1'\n"},
    {"merge", run_merge, "one book from several",
     "usage: hone-book merge OUT.bin IN.bin IN.bin...\n"
     "\n"
     "A move that several books have gets the sum of its weights (scaled down together above 65535).\n"
     "\n"
     "examples:\n"
     "  hone-book merge all.bin white.bin black.bin\n"},
    {"check", run_check, "whether a book or a file of openings is sound",
     "usage: hone-book check [--plies N] FILE...\n"
     "\n"
     "For files of openings (EPD, FEN, PGN): valid, bad, repeated and forced positions. For books "
     "(Polyglot):\n"
     "order, moves, repeated entries, and moves that are illegal where the book leads to from the start.\n"
     "The exit status is 1 if something is wrong.\n"
     "  --plies N         of games and books, only the first N plies (default 0: all)\n"
     "\n"
     "examples:\n"
     "  hone-book check openings/balanced.epd\n"
     "  hone-book check --plies 16 book.bin games.pgn\n"},
    {"suite", run_suite, "start positions by random walks that the engine judges",
     "usage: hone-book suite [options] [OUT.epd]\n"
     "\n"
     "Writes EPD lines to the file, or to the output, and says on stderr what it made. The same seed, "
     "count,\n"
     "window, plies, nodes and kind give the same suite with any number of threads.\n"
     "  --count N         positions (default 20000)\n"
     "  --window LOW:HIGH the score in centipawns from White's side (default -25:75, around that of the "
     "start)\n"
     "  --either          the window is that of the side that stands better, be it White or Black\n"
     "  --plies N         random moves, and one more in every second walk (default 8)\n"
     "  --nodes N         nodes that the engine may look at (default 4000)\n"
     "  --seed N          (default 1)\n"
     "  --dfrc            walks begin from double Chess960 positions\n"
     "  --threads N       (default: all processors)\n"
     "\n"
     "examples:\n"
     "  hone-book suite balanced.epd\n"
     "  hone-book suite --window 80:120 --either --seed 2 unbalanced.epd\n"
     "  hone-book suite --dfrc --count 200000 dfrc.epd\n"},
};
enum { COMMANDS = sizeof Commands / sizeof *Commands };

// ---- options ----------------------------------------------------------------------------------

typedef enum OptionType { OPTION_NUMBER, OPTION_TEXT, OPTION_FLAG } OptionType;

// One option of a command; what value points to depends on the type: int64_t, const char * or bool.
typedef struct Option {
    const char *name;
    OptionType type;
    void *value;
    int64_t min, max;
} Option;

static void set_option(const Option *option, const char *text) {
    Error error;
    if (option->type == OPTION_TEXT) *(const char **)option->value = text;
    else if (!parse_int(text, option->min, option->max, option->value, &error))
        die(EXIT_USAGE, "hone-book: --%s: %s", option->name, error.text);
}

// Takes the options out of argv (--name value or --name=value) and returns the number of other arguments,
// which move to the front.
static int parse_options(int argc, char **argv, const Option *options, int count) {
    int kept = 0;
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') { // "-" alone is a field of a FEN
            argv[kept++] = argv[i];
            continue;
        }
        const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 0), *equals = strchr(name, '=');
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        const Option *option = options;
        while (option < options + count &&
               (strlen(option->name) != length || strncmp(option->name, name, length) != 0))
            option++;
        if (option == options + count) die(EXIT_USAGE, "hone-book: unknown option '%s'; see --help", argv[i]);
        if (option->type == OPTION_FLAG) {
            if (equals) die(EXIT_USAGE, "hone-book: --%s takes no value", option->name);
            *(bool *)option->value = true;
        } else {
            if (!equals && ++i == argc) die(EXIT_USAGE, "hone-book: --%s needs a value", option->name);
            set_option(option, equals ? equals + 1 : argv[i]);
        }
    }
    return kept;
}

static Book open_book(const char *path) {
    Book book;
    Error error;
    if (!book_open(&book, path, &error)) die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
    return book;
}

// Output never replaces a file of another kind: whoever forgets to name the output would lose an input.
static void spare_other_files(const char *path, OpeningFormat format) {
    FileMap map;
    Book book;
    OpeningFormat found;
    if (!file_map(&map, path, NULL)) return;
    bool same = map.size == 0 || (opening_detect(map.data, map.size, &found, NULL) && found == format);
    if (same && map.size > 0 && format == OPENING_POLYGLOT)
        same = book_from_memory(&book, path, map.data, map.size, NULL);
    file_unmap(&map);
    if (!same)
        die(EXIT_BAD_INPUT, "hone-book: %s: is there and is no %s: remove it or name another output", path,
            format == OPENING_POLYGLOT ? "Polyglot book" : "file of positions");
}

// ---- make and merge ---------------------------------------------------------------------------

typedef struct GameCounts {
    uint64_t used, no_result, bad;
} GameCounts;

static void add_games(BookMaker *maker, const char *path, int plies, GameCounts *counts) {
    FileMap map;
    Error error;
    if (!file_map(&map, path, &error)) die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
    PgnReader reader;
    PgnGame game;
    PgnStatus status;
    pgn_reader_init(&reader, path, map.data, map.size);
    reader.max_plies = plies;
    pgn_game_init(&game);
    while ((status = pgn_read(&reader, &game, &error)) != PGN_END) {
        if (status == PGN_BAD) {
            if (counts->bad++ < SHOWN_PROBLEMS) fprintf(stderr, "left out: %s\n", error.text);
        } else if (game.result == PGN_UNKNOWN) {
            counts->no_result++;
        } else {
            if (!bookmaker_add_game(maker, &game, plies)) die(EXIT_BAD_INPUT, "hone-book: not enough memory");
            counts->used++;
        }
    }
    pgn_game_free(&game);
    file_unmap(&map);
}

static void write_book(BookMaker *maker, const BookRules *rules, const char *path) {
    BookMade made;
    Error error;
    if (!bookmaker_write(maker, rules, path, &made, &error)) die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
    printf("%s: %zu moves in %zu positions\n", path, made.entries, made.positions);
    if (made.rare + made.losing > 0)
        printf("left out: %zu moves of too few games, %zu without a point\n", made.rare, made.losing);
    if (made.scaled) printf("weights scaled by 65535/%" PRIu64 "\n", made.scaled);
}

static int run_make(int argc, char **argv) {
    int64_t plies = 24, min_games = 3;
    const char *scoring = "points";
    const Option options[] = {
        {"plies", OPTION_NUMBER, &plies, 0, 1024},
        {"min-games", OPTION_NUMBER, &min_games, 1, UINT32_MAX},
        {"scoring", OPTION_TEXT, &scoring, 0, 0},
    };
    argc = parse_options(argc, argv, options, sizeof options / sizeof *options);
    if (argc < 2) die(EXIT_USAGE, "hone-book make: expected OUT.bin and at least one PGN file; see --help");
    static const char *const Names[] = {"points", "share", "uniform"};
    int choice = 0;
    while (choice < 3 && strcmp(Names[choice], scoring) != 0) choice++;
    if (choice == 3) die(EXIT_USAGE, "hone-book: --scoring: '%s' is not points, share or uniform", scoring);
    spare_other_files(argv[0], OPENING_POLYGLOT);
    BookMaker maker = {0};
    GameCounts counts = {0};
    for (int i = 1; i < argc; i++) add_games(&maker, argv[i], (int)plies, &counts);
    printf("%" PRIu64 " games", counts.used);
    if (counts.no_result) printf(", %" PRIu64 " without a result left out", counts.no_result);
    if (counts.bad) printf(", %" PRIu64 " that cannot be read left out", counts.bad);
    printf("\n");
    BookRules rules = {(BookScoring)choice, (uint32_t)min_games};
    write_book(&maker, &rules, argv[0]);
    bookmaker_free(&maker);
    return 0;
}

static int run_merge(int argc, char **argv) {
    argc = parse_options(argc, argv, NULL, 0);
    if (argc < 3) die(EXIT_USAGE, "hone-book merge: expected OUT.bin and at least two books; see --help");
    spare_other_files(argv[0], OPENING_POLYGLOT);
    BookMaker maker = {0};
    for (int i = 1; i < argc; i++) {
        Book book = open_book(argv[i]);
        if (!bookmaker_add_book(&maker, &book)) die(EXIT_BAD_INPUT, "hone-book: not enough memory");
        book_close(&book);
    }
    BookRules rules = {BOOK_POINTS, 1};
    write_book(&maker, &rules, argv[0]);
    bookmaker_free(&maker);
    return 0;
}

// ---- show -------------------------------------------------------------------------------------

static int run_show(int argc, char **argv) {
    argc = parse_options(argc, argv, NULL, 0);
    if (argc < 1) die(EXIT_USAGE, "hone-book show: expected a book; see --help");
    char *fen = text_join(argc - 1, argv + 1); // without quotes it comes in pieces
    if (!fen) die(EXIT_BAD_INPUT, "hone-book: not enough memory");
    Position pos;
    Error error;
    if (!position_from_fen(&pos, *fen ? fen : START_FEN, &error))
        die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
    free(fen);
    Book book = open_book(argv[0]);
    BookMoves found = book_moves(&book, &pos);
    printf("key %016" PRIx64 ", %d moves\n", pos.key, found.count);
    for (int i = 0; i < found.count; i++) {
        char san[SAN_SIZE], uci[UCI_SIZE];
        notation_to_san(&pos, found.moves[i].move, san);
        notation_to_uci(&pos, found.moves[i].move, uci);
        double share = found.total ? 100.0 * found.moves[i].weight / found.total : 0;
        printf("%-8s %-6s %5d %6.2f %%\n", san, uci, found.moves[i].weight, share);
    }
    book_close(&book);
    return 0;
}

// ---- check ------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// How many values of an array occur before; sorts it.
static uint64_t count_repeats(uint64_t *values, uint64_t count) {
    uint64_t repeats = 0;
    qsort(values, count, sizeof *values, by_value);
    for (uint64_t i = 1; i < count; i++) repeats += values[i] == values[i - 1];
    return repeats;
}

static bool check_book(const Book *book, const char *path) {
    uint64_t positions = 0, zero = 0, repeated = 0;
    for (size_t i = 0, first = 0; i < book->count; i++) {
        BookEntry entry = book_entry(book, i);
        if (i == 0 || book_entry(book, first).key != entry.key) {
            positions++;
            first = i;
        }
        zero += entry.weight == 0;
        bool again = false;
        for (size_t k = first; k < i; k++) again |= book_entry(book, k).move == entry.move;
        repeated += again;
    }
    printf("%s: Polyglot, %zu entries in %" PRIu64 " positions, in order\n", path, book->count, positions);
    printf("  %" PRIu64 " repeated entries, %" PRIu64 " of weight 0\n", repeated, zero);
    return repeated == 0;
}

// Moves of the book that are illegal in the positions which its lines lead to.
static uint64_t count_illegal(const OpeningSet *set, const Book *book) {
    uint64_t illegal = 0;
    for (uint64_t i = 0; i < set->node_count; i++) {
        Position pos = opening_node_position(set, (uint32_t)i);
        for (size_t at = book_find(book, pos.key); at < book->count && book_entry(book, at).key == pos.key;
             at++)
            illegal += book_decode(&pos, book_entry(book, at).move) == MOVE_NONE;
    }
    return illegal;
}

// The book is NULL if the file is none.
static bool check_openings(const char *path, const Book *book, int plies) {
    OpeningSet set;
    Error error;
    if (!opening_set_load(&set, path, plies, &error)) {
        printf("%s\n", error.text);
        return book != NULL; // a book for other positions than the start position is sound
    }
    Key *keys = malloc(set.count * sizeof *keys);
    if (!keys) die(EXIT_BAD_INPUT, "hone-book: not enough memory");
    uint64_t in_check = 0, mates = 0, white = 0, illegal = 0;
    for (uint64_t i = 0; i < set.count; i++) {
        Opening opening;
        if (!opening_at(&set, 0, OPENING_SEQUENTIAL, 1, i, &opening, &error))
            die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
        keys[i] = position_repetition_key(&opening.position);
        in_check += opening.position.checkers != 0;
        mates += suite_mate_in_one(&opening.position);
        white += opening.position.stm == WHITE;
    }
    uint64_t repeated = count_repeats(keys, set.count);
    if (book) illegal = count_illegal(&set, book);
    printf("%s: %s, digest %016" PRIx64 "\n", path, opening_format_name(set.format), set.digest);
    printf("  %" PRIu64 " valid openings, %" PRIu64 " bad, %" PRIu64 " repeated\n", set.count, set.bad_count,
           repeated);
    printf("  %" PRIu64 " with White to move, %" PRIu64 " in check, %" PRIu64 " with a mate in one\n", white,
           in_check, mates);
    if (book) printf("  %" PRIu64 " illegal moves along its lines\n", illegal);
    for (uint64_t i = 0; i < set.bad_count && i < OPENING_PROBLEMS; i++)
        printf("  line %" PRIu64 ": %s\n", set.problems[i].line, set.problems[i].reason);
    bool sound = set.bad_count == 0 && illegal == 0;
    free(keys);
    opening_set_free(&set);
    return sound;
}

static bool check_file(const char *path, int plies) {
    FileMap map;
    Error error;
    OpeningFormat format = OPENING_EPD;
    Book book;
    bool usable = file_map(&map, path, &error);
    if (usable && !opening_detect(map.data, map.size, &format, &error))
        usable = error_prefix(&error, "%s", path);
    bool polyglot = format == OPENING_POLYGLOT;
    if (usable && polyglot) usable = book_from_memory(&book, path, map.data, map.size, &error);
    bool sound = usable;
    if (!usable) fprintf(stderr, "hone-book: %s\n", error.text);
    if (usable && polyglot) sound = check_book(&book, path);
    if (usable) sound &= check_openings(path, polyglot ? &book : NULL, plies);
    file_unmap(&map);
    return sound;
}

static int run_check(int argc, char **argv) {
    int64_t plies = 0;
    const Option options[] = {{"plies", OPTION_NUMBER, &plies, 0, OPENING_MAX_PLIES}};
    argc = parse_options(argc, argv, options, 1);
    if (argc < 1) die(EXIT_USAGE, "hone-book check: expected a file; see --help");
    bool sound = true;
    for (int i = 0; i < argc; i++) sound &= check_file(argv[i], (int)plies);
    return sound ? 0 : EXIT_BAD_INPUT;
}

// ---- suite ------------------------------------------------------------------------------------

typedef struct SuiteOutput {
    FILE *file;
    uint64_t digest, kept, wanted;
    int64_t start_ms, shown_ms;
    bool terminal;
} SuiteOutput;

// Writes the first four fields of the FEN; clocks would only cost room.
static bool keep_position(void *context, const Position *pos, int white_score) {
    SuiteOutput *output = context;
    (void)white_score;
    char fen[FEN_SIZE];
    position_to_fen(pos, fen);
    char *end = fen;
    for (int blanks = 0; *end && (blanks += *end == ' ') < 4;) end++;
    *end++ = '\n';
    size_t size = (size_t)(end - fen);
    output->digest = digest_of(output->digest, fen, size);
    output->kept++;
    int64_t now = now_ms();
    if (output->terminal && now - output->shown_ms > 500) {
        double seconds = (double)(now - output->start_ms) / 1000, rate = (double)output->kept / seconds;
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " positions, %.0f/s, %.0f s to go  ", output->kept,
                output->wanted, rate, (double)(output->wanted - output->kept) / rate);
        output->shown_ms = now;
    }
    return fwrite(fen, 1, size, output->file) == size;
}

static void print_scores(const SuiteScores *scores) {
    double mean = scores->sum / (double)scores->count;
    double variance = scores->sum_squares / (double)scores->count - mean * mean;
    fprintf(stderr, "score from White: mean %+.1f, standard deviation %.1f centipawns\n", mean,
            sqrt(fmax(0, variance)));
    uint64_t largest = 1;
    for (int i = 0; i < SUITE_BINS; i++)
        if (scores->bins[i] > largest) largest = scores->bins[i];
    for (int i = 0; i < SUITE_BINS; i++) {
        if (scores->bins[i] == 0) continue;
        int stars = (int)(60 * scores->bins[i] / largest);
        fprintf(stderr, "%+6d %7" PRIu64 " %.*s\n", (i - SUITE_BINS / 2) * scores->width, scores->bins[i],
                stars, "############################################################");
    }
}

static void print_report(const SuitePlan *plan, const SuiteReport *report, const SuiteOutput *output) {
    fprintf(stderr,
            "%" PRIu64 " positions from %" PRIu64 " walks of %d or %d plies, %d nodes, seed %" PRIu64 "%s\n",
            report->kept, report->walks, plan->plies, plan->plies + 1, plan->nodes, plan->seed,
            plan->dfrc ? ", double Chess960" : "");
    fprintf(stderr,
            "not taken: %" PRIu64 " over, %" PRIu64 " in check, %" PRIu64 " with a mate in one, %" PRIu64
            " outside %d to %d centipawns of %s, %" PRIu64 " transpositions\n",
            report->over, report->in_check, report->mate_in_one, report->outside, plan->low, plan->high,
            plan->either ? "either side" : "White", report->transposed);
    fprintf(stderr, "%" PRIu64 " with White to move; digest %016" PRIx64 "; %.1f s\n", report->white_to_move,
            output->digest, (double)(now_ms() - output->start_ms) / 1000);
    print_scores(&report->scores);
}

static bool parse_window(const char *text, int *low, int *high) {
    enum { WIDEST = 10000 };
    int64_t from, to;
    char first[16];
    const char *colon = strchr(text, ':');
    snprintf(first, sizeof first, "%.*s", colon ? (int)(colon - text) : 0, text);
    if (!colon || !parse_int(first, -WIDEST, WIDEST, &from, NULL) ||
        !parse_int(colon + 1, from, WIDEST, &to, NULL))
        return false;
    *low = (int)from;
    *high = (int)to;
    return true;
}

static int run_suite(int argc, char **argv) {
    int64_t count = 20000, plies = 8, nodes = 4000, seed = 1, threads = sysconf(_SC_NPROCESSORS_ONLN);
    const char *window = "-25:75";
    bool dfrc = false, either = false;
    const Option options[] = {
        {"count", OPTION_NUMBER, &count, 1, 100000000}, {"window", OPTION_TEXT, &window, 0, 0},
        {"plies", OPTION_NUMBER, &plies, 0, 200},       {"nodes", OPTION_NUMBER, &nodes, 1, 1000000000},
        {"seed", OPTION_NUMBER, &seed, 0, INT64_MAX},   {"dfrc", OPTION_FLAG, &dfrc, 0, 0},
        {"threads", OPTION_NUMBER, &threads, 1, 256},   {"either", OPTION_FLAG, &either, 0, 0},
    };
    argc = parse_options(argc, argv, options, sizeof options / sizeof *options);
    if (argc > 1) die(EXIT_USAGE, "hone-book suite: one file at most; see --help");
    SuitePlan plan = {.seed = (uint64_t)seed,
                      .count = (int)count,
                      .plies = (int)plies,
                      .nodes = (int)nodes,
                      .dfrc = dfrc,
                      .either = either,
                      .threads = (int)threads};
    if (!parse_window(window, &plan.low, &plan.high))
        die(EXIT_USAGE, "hone-book: --window: '%s' is not LOW:HIGH with -10000 <= LOW <= HIGH <= 10000",
            window);
    SuiteOutput output = {.file = stdout,
                          .digest = DIGEST_START,
                          .wanted = (uint64_t)count,
                          .start_ms = now_ms(),
                          .terminal = isatty(STDERR_FILENO)};
    FileOut out;
    Error error;
    if (argc == 1) {
        spare_other_files(argv[0], OPENING_EPD);
        if (!file_out_open(&out, argv[0], &error)) die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
        output.file = out.file;
    }
    SuiteReport report;
    bool ok = suite_make(&plan, keep_position, &output, &report, &error);
    if (output.terminal) fprintf(stderr, "\r%60s\r", "");
    if (argc == 1) ok = file_out_close(&out, ok, &error);
    if (!ok) die(EXIT_BAD_INPUT, "hone-book: %s", error.text);
    print_report(&plan, &report, &output);
    return 0;
}

// ---- the program ------------------------------------------------------------------------------

static void print_usage(FILE *out) {
    fprintf(out, "hone-book: Polyglot books and suites of start positions\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  hone-book %-6s %s\n", Commands[i].name, Commands[i].brief);
    fprintf(out, "\nhone-book COMMAND --help says more and has examples.\n");
}

static int run_command(int argc, char **argv) {
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return 0;
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], Commands[i].name) != 0) continue;
        for (int k = 2; k < argc; k++)
            if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) {
                fputs(Commands[i].help, stdout);
                return 0;
            }
        return Commands[i].run(argc - 2, argv + 2);
    }
    die(EXIT_USAGE, "hone-book: unknown command '%s'; see hone-book --help", argv[1]);
}

int main(int argc, char **argv) { return stdout_end("hone-book", run_command(argc, argv)); }
