// SPDX-License-Identifier: GPL-3.0-or-later
// The retrograde solver. A table has one byte for each placing of its men and side to move. Building it: mark
// what is illegal; look once at the moves that leave the table (captures and promotions, whose tables exist
// already) and count those that stay; then go backwards from the mates, one ply of distance at a time. The
// builder has its own moves and unmoves, so that position.c and movegen.c can check it.
#include "engine/endgame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/movegen.h"

enum { SLOTS = ENDGAME_MEN_MAX, NO_SLOT = -1, KINDS = 2 * KING + 1, NO_KIND = 2 * KING };

// The byte of a position: 0 a draw, n + 1 mate in n plies (n odd: the side to move wins; n even: it loses).
enum { CODE_DRAW = 0, CODE_MATED = 1, CODE_MAX = 250, CODE_ILLEGAL = 255 };

// Instead of a number of moves left: the position has a way out and cannot be lost any more.
enum { SAFE = 255 };

// Men on a board; in a table they stand in the order of its slots.
typedef struct Men {
    int count, stm;
    int pushed; // the slot of a pawn that may be taken en passant, or NO_SLOT
    uint8_t piece[SLOTS], square[SLOTS];
} Men;

// One table. The first slot is the anchor, mirrored into one part of the board: a pawn to the files a to d,
// or the white king (no pawns) to the corner a1-d4. No square is its own mirror image in either group, so
// each entry stands for equally many positions and moves and unmoves match one to one. Mirroring at the
// diagonal would break that.
typedef struct Table {
    int count;
    bool pawns, en_passant;
    uint8_t piece[SLOTS];
    size_t size;
    uint8_t *code;
} Table;

struct EndgameSet {
    _Atomic(const Table *) table[KINDS][KINDS]; // by the two pieces beside the kings; the smaller first
};

// ---- material ---------------------------------------------------------------------------------------------

static EndgameMaterial material_flip(EndgameMaterial material) {
    for (int i = 0; i < 2; i++) material.piece[i] ^= 1;
    return material;
}

// Where a material's table hangs in the set; colours as they are.
static void material_kinds(const EndgameMaterial *material, int kinds[2]) {
    kinds[0] = material->count > 0 ? material->piece[0] : NO_KIND;
    kinds[1] = material->count > 1 ? material->piece[1] : NO_KIND;
    if (kinds[0] > kinds[1]) {
        int swap = kinds[0];
        kinds[0] = kinds[1];
        kinds[1] = swap;
    }
}

// Only one of a material and its colour-swapped twin has a table: the one whose strongest piece is white.
static bool material_swapped(const EndgameMaterial *material) {
    int strongest = -1;
    for (int i = 0; i < material->count; i++) {
        int rank = material->piece[i] ^ 1; // of equal types the white one counts more
        strongest = int_max(strongest, rank);
    }
    return strongest >= 0 && !(strongest & 1);
}

static const Table *find_table(const EndgameSet *set, const EndgameMaterial *material, bool *swapped) {
    int kinds[2];
    *swapped = material_swapped(material);
    EndgameMaterial stored = *swapped ? material_flip(*material) : *material;
    material_kinds(&stored, kinds);
    return atomic_load_explicit(&set->table[kinds[0]][kinds[1]], memory_order_acquire);
}

bool endgame_material(const Position *pos, EndgameMaterial *material, Error *error) {
    Bitboard men = position_occupied(pos);
    if (bb_count(men) > ENDGAME_MEN_MAX)
        return error_set(error, "the position has %d men: the solver takes up to %d", bb_count(men),
                         ENDGAME_MEN_MAX);
    if (pos->castling)
        return error_set(error, "the position has castling rights: the solver does not know them");
    material->count = 0;
    for (men &= ~pos->by_type[KING]; men;) material->piece[material->count++] = pos->board[bb_pop(&men)];
    return true;
}

bool endgame_parse(const char *name, EndgameMaterial *material, Error *error) {
    static const char Letters[] = "PNBRQ";
    int kings = 0;
    *material = (EndgameMaterial){0};
    for (const char *p = name; *p; p++) {
        const char *letter = strchr(Letters, *p);
        if (*p == 'K') {
            if (++kings > 2) return error_set(error, "%s: more than two kings", name);
        } else if (*p == 'v') {
            if (kings != 1 || p[1] != 'K')
                return error_set(error, "%s: a v stands before the second king only", name);
        } else if (!letter || !kings) {
            return error_set(error, "%s: expected a name such as KRK or KQKR, with the letters KQRBNP", name);
        } else if (material->count == 2) {
            return error_set(error, "%s has more than four men: the solver takes up to four", name);
        } else {
            material->piece[material->count++] = (uint8_t)piece_make(kings - 1, (int)(letter - Letters));
        }
    }
    if (kings != 2) return error_set(error, "%s: expected two kings, as in KRK or KQKR", name);
    return true;
}

// ---- men --------------------------------------------------------------------------------------------------

static Bitboard men_occupied(const Men *men) {
    Bitboard occupied = 0;
    for (int i = 0; i < men->count; i++) occupied |= bb_of(men->square[i]);
    return occupied;
}

static Bitboard man_attacks(int piece, int square, Bitboard occupied) {
    int type = piece_type(piece);
    return type == PAWN ? attacks_pawn(piece_colour(piece), square) : attacks_of(type, square, occupied);
}

static int king_square(const Men *men, int colour) {
    for (int i = 0; i < men->count; i++)
        if (men->piece[i] == piece_make(colour, KING)) return men->square[i];
    return NO_SQUARE;
}

// Whether a colour's king is attacked through an occupation.
static bool king_attacked(const Men *men, int colour, Bitboard occupied) {
    Bitboard king = bb_of(king_square(men, colour));
    for (int i = 0; i < men->count; i++) {
        if (piece_colour(men->piece[i]) == colour) continue;
        if (man_attacks(men->piece[i], men->square[i], occupied) & king) return true;
    }
    return false;
}

static bool men_check(const Men *men, int colour) { return king_attacked(men, colour, men_occupied(men)); }

// Whether the pawn in a slot could have come by two steps just now, with an enemy pawn ready to take it en
// passant.
static bool could_be_pushed(const Men *men, int slot) {
    int colour = piece_colour(men->piece[slot]), square = men->square[slot];
    if (piece_type(men->piece[slot]) != PAWN || colour == men->stm || square_rank_for(colour, square) != 3)
        return false;
    int push = pawn_push(colour);
    if (men_occupied(men) & (bb_of(square - push) | bb_of(square - 2 * push))) return false;
    Bitboard beside = bb_east(bb_of(square)) | bb_west(bb_of(square));
    for (int i = 0; i < men->count; i++)
        if (men->piece[i] == piece_make(men->stm, PAWN) && bb_has(beside, men->square[i])) return true;
    return false;
}

// Whether the men can stand like this: on squares of their own, pawns on their ranks, the side to move not
// taking a king.
static bool men_legal(const Men *men) {
    if (bb_count(men_occupied(men)) != men->count) return false;
    for (int i = 0; i < men->count; i++)
        if (piece_type(men->piece[i]) == PAWN && bb_has(RANK_1 | RANK_8, men->square[i])) return false;
    if (men->pushed != NO_SLOT && !could_be_pushed(men, men->pushed)) return false;
    return !men_check(men, !men->stm);
}

// ---- index ------------------------------------------------------------------------------------------------

// A pawn that may be taken en passant is written on its own back rank, where no pawn can be.
static int written_square(const Men *men, int slot) {
    int square = men->square[slot];
    return slot == men->pushed ? square_for(piece_colour(men->piece[slot]), square_file(square)) : square;
}

static size_t table_index(const Table *table, const Men *men) {
    int anchor = square_for(piece_colour(table->piece[0]), written_square(men, 0));
    int mirror = square_file(anchor) > 3 ? 7 : 0;
    if (!table->pawns && square_rank(anchor) > 3) mirror |= 56;
    anchor ^= mirror;
    size_t index = (size_t)(2 * (4 * square_rank(anchor) + square_file(anchor)) + men->stm);
    for (int i = 1; i < table->count; i++) index = index << 6 | (size_t)(written_square(men, i) ^ mirror);
    return index;
}

static Men table_men(const Table *table, size_t index) {
    Men men = {.count = table->count, .pushed = NO_SLOT};
    memcpy(men.piece, table->piece, sizeof men.piece);
    for (int i = table->count - 1; i > 0; i--, index >>= 6) men.square[i] = index & 63;
    men.stm = index & 1;
    int anchor = (int)(index >> 1);
    men.square[0] = (uint8_t)square_for(piece_colour(men.piece[0]), square_make(anchor & 3, anchor >> 2));
    for (int i = 0; table->en_passant && i < table->count; i++) {
        int colour = piece_colour(men.piece[i]);
        if (piece_type(men.piece[i]) != PAWN || square_rank_for(colour, men.square[i]) != 0 ||
            men.pushed != NO_SLOT)
            continue;
        men.pushed = i;
        men.square[i] = (uint8_t)(men.square[i] + 3 * pawn_push(colour));
    }
    return men;
}

// The index after the man in a slot of the position at index went from its square to another and the side
// changed. Only the anchor's moves can turn the board.
static size_t moved_index(const Table *table, const Men *men, size_t index, int slot, int to) {
    if (slot == 0 || men->pushed != NO_SLOT) {
        Men moved = *men;
        moved.square[slot] = (uint8_t)to;
        moved.stm = !men->stm;
        moved.pushed = NO_SLOT;
        return table_index(table, &moved);
    }
    int shift = 6 * (table->count - 1 - slot);
    return (index ^ (size_t)1 << 6 * (table->count - 1)) ^ (size_t)(men->square[slot] ^ to) << shift;
}

// The code of men in any order and of either colour; two bare kings draw, if they may stand so.
static int set_code(const EndgameSet *set, const Men *men) {
    EndgameMaterial material = {0};
    for (int i = 0; i < men->count; i++)
        if (piece_type(men->piece[i]) != KING) material.piece[material.count++] = men->piece[i];
    if (material.count == 0) return men_legal(men) ? CODE_DRAW : CODE_ILLEGAL;
    bool swapped;
    const Table *table = find_table(set, &material, &swapped);
    assert(table);
    Men in_slots = {.count = men->count, .stm = men->stm ^ swapped, .pushed = NO_SLOT};
    unsigned used = 0;
    for (int slot = 0; slot < table->count; slot++) {
        int i = 0;
        while (men->piece[i] != (table->piece[slot] ^ swapped) || used >> i & 1) i++;
        used |= 1u << i;
        in_slots.piece[slot] = table->piece[slot];
        in_slots.square[slot] = (uint8_t)square_for(swapped ? BLACK : WHITE, men->square[i]);
        if (men->pushed == i) in_slots.pushed = slot;
    }
    return table->code[table_index(table, &in_slots)];
}

// ---- forwards: the first look at each position ------------------------------------------------------------

// What the moves of one position come to.
typedef struct Outlook {
    int staying;   // legal moves that stay in the table
    int win;       // code of the quickest win by a move that leaves the table, or 0
    int loss;      // code of the slowest loss by such a move, or 0
    bool draw;     // such a move draws
} Outlook;

static void outlook_leave(Outlook *outlook, int child) {
    if (child == CODE_ILLEGAL) return;
    int code = child + 1; // mate is one ply further away; odd codes are losses of their side to move
    if (child == CODE_DRAW) outlook->draw = true;
    else if (child & 1) outlook->win = outlook->win ? int_min(outlook->win, code) : code;
    else outlook->loss = int_max(outlook->loss, code);
}

// The men after the man in a slot went to a square, with the enemy man in slot taken (or NO_SLOT) off the
// board.
static Men men_after(const Men *men, int slot, int to, int taken) {
    Men after = *men;
    after.stm = !men->stm;
    after.pushed = NO_SLOT;
    after.square[slot] = (uint8_t)to;
    if (taken != NO_SLOT) {
        after.count--;
        after.piece[taken] = after.piece[after.count];
        after.square[taken] = after.square[after.count];
    }
    return after;
}

// A move that takes, or a move of a pawn.
static void outlook_move(const EndgameSet *set, const Table *table, const Men *men, int slot, int to,
                         int taken, Outlook *outlook) {
    Men after = men_after(men, slot, to, taken);
    bool pawn = piece_type(men->piece[slot]) == PAWN;
    if (pawn && bb_has(RANK_1 | RANK_8, to)) {
        int moved = slot == after.count ? taken : slot; // taking filled the gap with the last man
        for (int type = KNIGHT; type <= QUEEN; type++) {
            after.piece[moved] = (uint8_t)piece_make(men->stm, type);
            outlook_leave(outlook, set_code(set, &after));
        }
    } else if (taken != NO_SLOT) {
        outlook_leave(outlook, set_code(set, &after));
    } else {
        if (pawn && abs(to - men->square[slot]) == 16 && could_be_pushed(&after, slot)) after.pushed = slot;
        outlook->staying += table->code[table_index(table, &after)] != CODE_ILLEGAL;
    }
}

static void outlook_pawn(const EndgameSet *set, const Table *table, const Men *men, int slot,
                         Outlook *outlook) {
    int from = men->square[slot], push = pawn_push(men->stm);
    Bitboard occupied = men_occupied(men);
    if (!bb_has(occupied, from + push)) {
        outlook_move(set, table, men, slot, from + push, NO_SLOT, outlook);
        if (square_rank_for(men->stm, from) == 1 && !bb_has(occupied, from + 2 * push))
            outlook_move(set, table, men, slot, from + 2 * push, NO_SLOT, outlook);
    }
    for (int i = 0; i < men->count; i++) {
        if (piece_colour(men->piece[i]) == men->stm) continue;
        if (bb_has(attacks_pawn(men->stm, from), men->square[i]))
            outlook_move(set, table, men, slot, men->square[i], i, outlook);
        if (i == men->pushed && bb_has(attacks_pawn(men->stm, from), men->square[i] + push))
            outlook_move(set, table, men, slot, men->square[i] + push, i, outlook);
    }
}

static Outlook look_ahead(const EndgameSet *set, const Table *table, size_t index, const Men *men) {
    Outlook outlook = {0};
    Bitboard occupied = men_occupied(men);
    for (int slot = 0; slot < men->count; slot++) {
        if (piece_colour(men->piece[slot]) != men->stm) continue;
        if (piece_type(men->piece[slot]) == PAWN) {
            outlook_pawn(set, table, men, slot, &outlook);
            continue;
        }
        Bitboard targets = man_attacks(men->piece[slot], men->square[slot], occupied);
        Bitboard quiet = targets & ~occupied;
        if (piece_type(men->piece[slot]) != KING &&
            !king_attacked(men, men->stm, occupied ^ bb_of(men->square[slot]))) {
            outlook.staying += bb_count(quiet); // neither in check nor pinned: all its moves are legal
        } else {
            while (quiet) {
                size_t child = moved_index(table, men, index, slot, bb_pop(&quiet));
                outlook.staying += table->code[child] != CODE_ILLEGAL;
            }
        }
        if (!(targets & occupied)) continue;
        for (int i = 0; i < men->count; i++)
            if (piece_colour(men->piece[i]) != men->stm && bb_has(targets, men->square[i]))
                outlook_move(set, table, men, slot, men->square[i], i, &outlook);
    }
    return outlook;
}

// ---- backwards: from the mates ----------------------------------------------------------------------------

// A table under construction. A code that is not final yet: the quickest win known; or, while moves are left,
// the loss that leaving moves lead to at least.
typedef struct Build {
    Table *table;
    uint8_t *left; // moves that stay in the table and are not known to lose, or SAFE
    int top;       // the highest code given so far
} Build;

static void build_start(Build *build, const EndgameSet *set) {
    Table *table = build->table;
    for (size_t i = 0; i < table->size; i++) {
        Men men = table_men(table, i);
        table->code[i] = men_legal(&men) ? CODE_DRAW : CODE_ILLEGAL;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->code[i] == CODE_ILLEGAL) continue;
        Men men = table_men(table, i);
        Outlook outlook = look_ahead(set, table, i, &men);
        int code = outlook.win ? outlook.win : outlook.draw ? CODE_DRAW : outlook.loss;
        bool safe = outlook.win || outlook.draw;
        if (!safe && !outlook.staying && !outlook.loss) { // no legal move
            if (men_check(&men, men.stm)) code = CODE_MATED;
            else safe = true;
        }
        table->code[i] = (uint8_t)code;
        build->left[i] = (uint8_t)(safe ? SAFE : outlook.staying);
        build->top = int_max(build->top, code);
    }
}

// A move from the position at index leads to one that is mate in n plies (code n + 1).
static void build_parent(Build *build, size_t index, int child) {
    uint8_t *code = &build->table->code[index], *left = &build->left[index];
    if (*code == CODE_ILLEGAL) return;
    bool winning = *code && !(*code & 1);
    if (child & 1) { // the other side loses: a win, unless there is a quicker one
        if (winning && *code <= child + 1) return;
        *code = (uint8_t)(child + 1);
        *left = SAFE;
    } else { // a move that loses: the last of them decides
        if (*left == SAFE || --*left) return;
        *code = (uint8_t)int_max(*code, child + 1);
    }
    build->top = int_max(build->top, *code);
}

static void build_unmove(Build *build, const Men *men, size_t index, int slot, int from, int child) {
    build_parent(build, moved_index(build->table, men, index, slot, from), child);
    if (!build->table->en_passant) return;
    Men before = *men;
    before.stm = !men->stm;
    before.pushed = NO_SLOT;
    before.square[slot] = (uint8_t)from;
    for (int i = 0; i < men->count; i++) {
        if (!could_be_pushed(&before, i)) continue;
        before.pushed = i; // the same move can be played instead of taking en passant
        build_parent(build, table_index(build->table, &before), child);
        before.pushed = NO_SLOT;
    }
}

static void build_parents(Build *build, size_t index, int child) {
    Men men = table_men(build->table, index);
    Bitboard occupied = men_occupied(&men);
    for (int slot = 0; slot < men.count; slot++) {
        int colour = piece_colour(men.piece[slot]), to = men.square[slot], push = pawn_push(colour);
        if (colour == men.stm || (men.pushed != NO_SLOT && slot != men.pushed)) continue;
        if (piece_type(men.piece[slot]) != PAWN) {
            Bitboard origins = man_attacks(men.piece[slot], to, occupied) & ~occupied;
            while (origins) build_unmove(build, &men, index, slot, bb_pop(&origins), child);
            continue;
        }
        int rank = square_rank_for(colour, to);
        bool one = rank > 1 && !bb_has(occupied, to - push);
        bool two = rank == 3 && one && !bb_has(occupied, to - 2 * push);
        if (one && men.pushed == NO_SLOT) build_unmove(build, &men, index, slot, to - push, child);
        if (two && (men.pushed == slot || !could_be_pushed(&men, slot)))
            build_unmove(build, &men, index, slot, to - 2 * push, child);
    }
}

static void build_run(Build *build) {
    Table *table = build->table;
    const uint8_t *end = table->code + table->size;
    for (int code = CODE_MATED; code <= build->top; code++) {
        for (const uint8_t *p = table->code; (p = memchr(p, code, (size_t)(end - p))); p++) {
            size_t index = (size_t)(p - table->code);
            if (code & 1 && build->left[index]) continue; // not lost yet
            build_parents(build, index, code);
        }
    }
    assert(build->top <= CODE_MAX);
    for (size_t i = 0; i < table->size; i++)
        if (table->code[i] != CODE_ILLEGAL && table->code[i] & 1 && build->left[i])
            table->code[i] = CODE_DRAW;
}

// ---- the set ----------------------------------------------------------------------------------------------

static Table *table_create(const EndgameMaterial *material) {
    Table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    EndgameMaterial rest = *material;
    for (int i = 0; i < rest.count && !table->pawns; i++) {
        if (piece_type(rest.piece[i]) != PAWN) continue;
        table->pawns = true;
        table->piece[table->count++] = rest.piece[i];
        rest.piece[i] = rest.piece[--rest.count];
    }
    table->piece[table->count++] = (uint8_t)piece_make(WHITE, KING);
    table->piece[table->count++] = (uint8_t)piece_make(BLACK, KING);
    for (int i = 0; i < rest.count; i++) table->piece[table->count++] = rest.piece[i];
    int last = table->piece[table->count - 1];
    table->en_passant = table->pawns && last == (table->piece[0] ^ 1);
    table->size = (size_t)(table->pawns ? 28 : 16) * 2 << 6 * (table->count - 1);
    table->code = malloc(table->size);
    if (table->code) return table;
    free(table);
    return NULL;
}

static bool set_build(EndgameSet *set, EndgameMaterial material);

// Builds all tables that a capture or a promotion can lead to.
static bool set_build_below(EndgameSet *set, const EndgameMaterial *material) {
    for (int i = 0; i < material->count; i++) {
        EndgameMaterial child = *material;
        child.piece[i] = child.piece[--child.count];
        if (!set_build(set, child)) return false;
        if (piece_type(material->piece[i]) != PAWN) continue;
        for (int type = KNIGHT; type <= QUEEN; type++) {
            child = *material;
            child.piece[i] = (uint8_t)piece_make(piece_colour(material->piece[i]), type);
            if (!set_build(set, child)) return false;
        }
    }
    return true;
}

// Builds the table of a material unless it exists; false if memory does not suffice. One thread at a time.
static bool set_build(EndgameSet *set, EndgameMaterial material) {
    bool swapped;
    if (material.count == 0 || find_table(set, &material, &swapped)) return true;
    if (swapped) material = material_flip(material);
    if (!set_build_below(set, &material)) return false;
    Build build = {.table = table_create(&material)};
    if (!build.table) return false;
    build.left = malloc(build.table->size);
    if (!build.left) {
        free(build.table->code);
        free(build.table);
        return false;
    }
    build_start(&build, set);
    build_run(&build);
    free(build.left);
    int kinds[2];
    material_kinds(&material, kinds);
    atomic_store_explicit(&set->table[kinds[0]][kinds[1]], build.table, memory_order_release);
    return true;
}

// The tables of the process: each is written once, before it is published, and stays to the end.
static struct {
    pthread_once_t once;
    pthread_mutex_t building;
    EndgameSet set;
    bool failed;
} Shared = {.once = PTHREAD_ONCE_INIT, .building = PTHREAD_MUTEX_INITIALIZER};

static void open_once(void) {
    bitboard_init();
    for (int type = PAWN; type <= QUEEN && !Shared.failed; type++)
        Shared.failed = !set_build(&Shared.set, (EndgameMaterial){1, {(uint8_t)piece_make(WHITE, type)}});
}

const EndgameSet *endgame_open(void) {
    pthread_once(&Shared.once, open_once);
    return Shared.failed ? NULL : &Shared.set;
}

bool endgame_extend(const EndgameMaterial *material, Error *error) {
    if (!endgame_open()) return error_set(error, "not enough memory for the tables of three men");
    pthread_mutex_lock(&Shared.building);
    bool built = set_build(&Shared.set, *material);
    pthread_mutex_unlock(&Shared.building);
    return built || error_set(error, "not enough memory for the tables of four men");
}

// ---- asking -----------------------------------------------------------------------------------------------

EndgameResult endgame_probe(const EndgameSet *set, const Position *pos) {
    EndgameResult unknown = {0};
    Bitboard occupied = position_occupied(pos);
    if (bb_count(occupied) > ENDGAME_MEN_MAX || pos->castling) return unknown;
    Men men = {.stm = pos->stm, .pushed = NO_SLOT};
    EndgameMaterial material = {0};
    while (occupied) {
        int square = bb_pop(&occupied), piece = pos->board[square];
        if (piece_type(piece) != KING) material.piece[material.count++] = (uint8_t)piece;
        if (pos->ep != NO_SQUARE && square == pos->ep + pawn_push(!pos->stm)) men.pushed = men.count;
        men.piece[men.count] = (uint8_t)piece;
        men.square[men.count++] = (uint8_t)square;
    }
    bool swapped;
    if (material.count && !find_table(set, &material, &swapped)) return unknown;
    if (men.pushed != NO_SLOT && !could_be_pushed(&men, men.pushed)) men.pushed = NO_SLOT;
    int code = set_code(set, &men);
    if (code == CODE_ILLEGAL) return unknown;
    return (EndgameResult){true, code == CODE_DRAW ? 0 : code & 1 ? -1 : 1, code == CODE_DRAW ? 0 : code - 1};
}

Move endgame_best(const EndgameSet *set, const Position *pos) {
    if (!endgame_probe(set, pos).known) return MOVE_NONE;
    MoveList list;
    movegen_list(pos, &list);
    Move best = MOVE_NONE;
    int best_value = 0;
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_make(&after, pos, list.moves[i]);
        EndgameResult result = endgame_probe(set, &after);
        if (!result.known) return MOVE_NONE;
        int value = result.wdl * (result.dtm - 1000); // good for us: the other side is lost, and soon
        if (best == MOVE_NONE || value > best_value) {
            best = list.moves[i];
            best_value = value;
        }
    }
    return best;
}

static void men_fen(const Men *men, bool swapped, char *fen) {
    char board[SQUARES] = {0}, *out = fen;
    for (int i = 0; i < men->count; i++)
        board[square_for(swapped ? BLACK : WHITE, men->square[i])] = "PpNnBbRrQqKk"[men->piece[i] ^ swapped];
    for (int rank = 7; rank >= 0; rank--) {
        int empty = 0;
        for (int file = 0; file < 8; file++) {
            char letter = board[square_make(file, rank)];
            if (!letter && ++empty && file < 7) continue;
            if (empty) *out++ = (char)('0' + empty);
            if (letter) *out++ = letter;
            empty = 0;
        }
        *out++ = rank ? '/' : ' ';
    }
    strcpy(out, men->stm ^ swapped ? "b - - 0 1" : "w - - 0 1");
}

bool endgame_stats(const EndgameSet *set, const EndgameMaterial *material, EndgameStats *stats,
                   Error *error) {
    *stats = (EndgameStats){0};
    bool swapped;
    const Table *table = find_table(set, material, &swapped);
    if (!table) return error_set(error, "there is no table of this material");
    bool twins =
        material->count == 2 && material->piece[0] == material->piece[1]; // each placing has two entries
    uint64_t weight = (table->pawns ? 2 : 4) / (twins ? 2 : 1);
    for (size_t i = 0; i < table->size; i++) {
        int code = table->code[i];
        if (code == CODE_ILLEGAL) continue;
        Men men = table_men(table, i);
        if (men.pushed != NO_SLOT) continue;
        int stm = men.stm ^ swapped;
        if (code == CODE_DRAW) stats->draws[stm] += weight;
        else if (code & 1) stats->losses[stm] += weight;
        else stats->wins[stm] += weight;
        if (code == CODE_DRAW || code & 1 || code - 1 <= stats->longest[stm]) continue;
        stats->longest[stm] = code - 1;
        men_fen(&men, swapped, stats->example[stm]);
    }
    return true;
}
