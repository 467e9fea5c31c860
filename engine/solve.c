// SPDX-License-Identifier: GPL-3.0-or-later
// `hone solve`: reads a position or the name of a material, asks the endgame tables and prints the answer for
// people.
#include "engine/solve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/endgame.h"
#include "engine/movegen.h"
#include "engine/notation.h"

static const char Usage[] =
    "usage: hone solve \"<fen>\"      who wins with up to four men, in how many moves, and a best line\n"
    "       hone solve --table KRK  wins, draws, losses and the longest win of a material\n"
    "\n"
    "examples:\n"
    "  hone solve \"8/8/8/8/8/3K4/3P4/3k4 w - - 0 1\"\n"
    "  hone solve --table KQKR\n";

static const char *const ColourName[COLOURS] = {"White", "Black"};

static const char *moves_word(int moves) { return moves == 1 ? "move" : "moves"; }

static void print_verdict(const Position *pos, EndgameResult result) {
    int winner = result.wdl > 0 ? pos->stm : !pos->stm;
    bool stuck = !movegen_any(pos);
    if (result.wdl == 0) puts(stuck ? "draw: stalemate" : "draw");
    else if (stuck) printf("%s has won: checkmate\n", ColourName[winner]);
    else {
        int moves = (result.dtm + 1) / 2;
        printf("%s wins: mate in %d %s (%d %s)\n", ColourName[winner], moves, moves_word(moves), result.dtm,
               result.dtm == 1 ? "ply" : "plies");
        if (pos->rule50 >= 100)
            printf("but the game is drawn by the fifty-move rule: the half-move clock stands at %d\n",
                   pos->rule50);
        else if (pos->rule50 + result.dtm > 100)
            printf("but the half-move clock stands at %d: the fifty-move rule may come first\n", pos->rule50);
    }
}

// Prints a best line in SAN: to the mate, or the first moves of a draw.
static void print_line(const EndgameSet *set, const Position *start, EndgameResult result) {
    Position pos = *start;
    int plies = result.wdl ? result.dtm : 8;
    if (!movegen_any(&pos)) return;
    printf("line:");
    for (int ply = 0; ply < plies; ply++) {
        Move move = endgame_best(set, &pos);
        if (move == MOVE_NONE) break;
        char san[SAN_SIZE];
        notation_to_san(&pos, move, san);
        if (pos.stm == WHITE || ply == 0) printf(" %d.%s", pos.fullmove, pos.stm == WHITE ? "" : "..");
        printf(" %s", san);
        Position after;
        position_make(&after, &pos, move);
        pos = after;
    }
    putchar('\n');
}

static bool solve_position(const char *fen, Error *error) {
    Position pos;
    EndgameMaterial material;
    if (!position_from_fen(&pos, fen, error)) return false;
    if (!endgame_material(&pos, &material, error) || !endgame_extend(&material, error)) return false;
    const EndgameSet *set = endgame_open();
    EndgameResult result = endgame_probe(set, &pos);
    if (!result.known) return error_set(error, "the position cannot be reached by legal moves");
    print_verdict(&pos, result);
    print_line(set, &pos, result);
    return true;
}

static bool solve_table(const char *name, Error *error) {
    EndgameMaterial material;
    EndgameStats stats;
    if (!endgame_parse(name, &material, error)) return false;
    if (material.count == 0)
        return error_set(error, "%s: two bare kings always draw, there is no table", name);
    if (!endgame_extend(&material, error) || !endgame_stats(endgame_open(), &material, &stats, error))
        return false;
    printf("%s: all placings of the men, from the side to move\n", name);
    printf("%-14s %12s %12s %12s %12s\n", "", "wins", "draws", "losses", "positions");
    for (int stm = WHITE; stm <= BLACK; stm++)
        printf("%s to move  %12llu %12llu %12llu %12llu\n", ColourName[stm],
               (unsigned long long)stats.wins[stm], (unsigned long long)stats.draws[stm],
               (unsigned long long)stats.losses[stm],
               (unsigned long long)(stats.wins[stm] + stats.draws[stm] + stats.losses[stm]));
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int moves = (stats.longest[colour] + 1) / 2;
        if (!stats.longest[colour]) printf("%s never wins on the move\n", ColourName[colour]);
        else
            printf("longest win for %s: mate in %d %s, %s\n", ColourName[colour], moves, moves_word(moves),
                   stats.example[colour]);
    }
    return true;
}

int solve_main(int argc, char **argv) {
    Error error;
    bool help = argc == 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"));
    if (argc == 0 || help) {
        fputs(Usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    bool table = !strcmp(argv[0], "--table");
    if (table && argc != 2) {
        fputs(Usage, stderr);
        return 2;
    }
    char *fen = text_join(argc, argv); // without quotes it comes in pieces
    if (!fen) die(1, "hone solve: not enough memory");
    bool solved = table ? solve_table(argv[1], &error) : solve_position(fen, &error);
    free(fen);
    if (!solved) fprintf(stderr, "hone solve: %s\n", error.text);
    return solved ? 0 : 1;
}
