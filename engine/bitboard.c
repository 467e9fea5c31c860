// SPDX-License-Identifier: GPL-3.0-or-later
// Fills the attack tables. Everything here runs once; the look-ups themselves are inline in the header.
#include "engine/bitboard.h"

#include <pthread.h>

Slider BishopSliders[SQUARES], RookSliders[SQUARES];
Bitboard PawnAttacks[COLOURS][SQUARES], KnightAttacks[SQUARES], KingAttacks[SQUARES];
Bitboard BishopRays[SQUARES], RookRays[SQUARES], DiagonalLine[SQUARES], AntidiagonalLine[SQUARES];
Bitboard BetweenSquares[SQUARES][SQUARES], LineSquares[SQUARES][SQUARES];

// One set for each relevant occupation of each square, behind the pointers of the Sliders.
enum { BISHOP_SETS = 5248, ROOK_SETS = 102400 };
static Bitboard BishopSets[BISHOP_SETS], RookSets[ROOK_SETS];

// Steps in files and ranks, so that walking off the board is seen.
typedef struct Step {
    int file, rank;
} Step;

static const Step BishopSteps[4] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
static const Step RookSteps[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
static const Step KnightSteps[8] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

// Multipliers that send each occupation of a square's mask to an index of its own, or to one that shares its
// attacks. Found by trying random numbers with few bits.
static const Bitboard BishopMagics[SQUARES] = {
    0x05b01608004414c0ull, 0x012001042d024004ull, 0x0308620042010000ull, 0x0084040084080420ull,
    0x1104042080002010ull, 0x000088a008003000ull, 0x4000410410400000ull, 0x00c90125012010c0ull,
    0x1004102208190428ull, 0x0000480828004050ull, 0x2050102410883000ull, 0x08a024050a000628ull,
    0xb100040421102402ull, 0x0000008804402800ull, 0x1012004410a80820ull, 0x0101142082109002ull,
    0x0048502128018800ull, 0x1110c04410262048ull, 0x08980040820140d9ull, 0x4001002020408000ull,
    0x0001020820080000ull, 0x0101000204809400ull, 0x0001100401180201ull, 0x0880200510921004ull,
    0x0002100149311022ull, 0x0004100005210800ull, 0x2002160005080200ull, 0x104c00c811010100ull,
    0x0041010004104008ull, 0x0818020000220100ull, 0x800a08820400a800ull, 0x0005010042208800ull,
    0x84080441a2044808ull, 0x2002108400109104ull, 0x0000280100880a00ull, 0x0400110801040040ull,
    0x0000440400004100ull, 0x21100382014c2208ull, 0x0004080080004c40ull, 0x5804430440020440ull,
    0x1048040221810800ull, 0x0000480430005410ull, 0x8000084050040801ull, 0x0000002011002800ull,
    0x7054010214000a00ull, 0x4010008908100300ull, 0x10901002084280a5ull, 0x00014604010a0248ull,
    0x4240840108400018ull, 0x000a008088091820ull, 0x0800854464100000ull, 0x1003004042022080ull,
    0x0980862012048040ull, 0x800020041006308eull, 0x0040504102088004ull, 0x0620042100410800ull,
    0x0c50140402280401ull, 0x2010404208040200ull, 0x0004000200420820ull, 0x0200000954420203ull,
    0x0080300820824410ull, 0x022080041002ce00ull, 0x0400319009280880ull, 0x0020040088010020ull,
};
static const Bitboard RookMagics[SQUARES] = {
    0x8a80041040008028ull, 0x8900102080400100ull, 0x0880100480082000ull, 0x4100080410010021ull,
    0x9200081020040200ull, 0xc100088204000100ull, 0x0400140081101208ull, 0x0080014021001c80ull,
    0x0c00800040008020ull, 0x5002804000802000ull, 0x4006004080142200ull, 0x080f0010010008a1ull,
    0x0000800800800400ull, 0x2201000900020400ull, 0x9003000200140100ull, 0x1081002483460100ull,
    0x0000208000804008ull, 0xa010810020400109ull, 0x0620010011002042ull, 0x4410220012000840ull,
    0x3001010008000410ull, 0x0840080120400410ull, 0x1c60040002100801ull, 0x0840020024004081ull,
    0x0030802880004001ull, 0x410020024000500aull, 0x2220100080200080ull, 0x0050120200402008ull,
    0x0800050100080010ull, 0x1000040080020080ull, 0x0000308400080241ull, 0x2803000100008042ull,
    0x04a0400121800080ull, 0x0000802004804000ull, 0x2920001000802080ull, 0x0800100080800802ull,
    0x4000800400800800ull, 0x0608402008010410ull, 0x0008100184000208ull, 0x320008810a000064ull,
    0x08c004402284800dull, 0x0010044420044008ull, 0x0000100020008080ull, 0x0012081001010020ull,
    0x4029020408010010ull, 0x0000020004008080ull, 0x45a0480230840001ull, 0x0820004400820001ull,
    0x0820800040003080ull, 0x0000200080400080ull, 0x2820001041002100ull, 0x2038601001018900ull,
    0x2000800800040080ull, 0x00a0020004008080ull, 0x00c1000200441100ull, 0x340010a041140200ull,
    0x2400588000210141ull, 0x0011400050210485ull, 0x0042100841022001ull, 0x0c30015021000449ull,
    0x0041000402100801ull, 0x060d000400020801ull, 0x4082000401008802ull, 0x0420008100502402ull,
};

// The square one step away, or NO_SQUARE beyond the edge.
static int step_from(int square, Step step) {
    int file = square_file(square) + step.file, rank = square_rank(square) + step.rank;
    return file < 0 || file > 7 || rank < 0 || rank > 7 ? NO_SQUARE : square_make(file, rank);
}

// The squares from a square in one direction up to the first occupied one or the edge.
static Bitboard walk(int square, Step step, Bitboard occupied) {
    Bitboard seen = 0;
    while ((square = step_from(square, step)) != NO_SQUARE) {
        seen |= bb_of(square);
        if (bb_has(occupied, square)) break;
    }
    return seen;
}

static Bitboard walk_all(int square, const Step steps[4], Bitboard occupied) {
    Bitboard seen = 0;
    for (int i = 0; i < 4; i++) seen |= walk(square, steps[i], occupied);
    return seen;
}

static void init_leapers(int square) {
    for (int colour = WHITE; colour < COLOURS; colour++)
        PawnAttacks[colour][square] = bb_pawn_attacks(colour, bb_of(square));
    for (int i = 0; i < 8; i++) {
        int to = step_from(square, KnightSteps[i]);
        if (to != NO_SQUARE) KnightAttacks[square] |= bb_of(to);
    }
    Bitboard row = bb_of(square) | bb_east(bb_of(square)) | bb_west(bb_of(square));
    KingAttacks[square] = (row | bb_north(row) | bb_south(row)) & ~bb_of(square);
}

// Fills the sets of one slider on one square and returns how many there are.
static int init_slider(Slider *slider, int square, const Step steps[4], Bitboard magic, Bitboard *sets) {
    Bitboard ranks = (RANK_1 | RANK_8) & ~bb_rank(square_rank(square));
    Bitboard files = (FILE_A | FILE_H) & ~bb_file(square_file(square));
    Bitboard mask = walk_all(square, steps, 0) & ~(ranks | files);
    int bits = bb_count(mask);
    *slider = (Slider){.mask = mask, .attacks = sets, .magic = magic, .shift = 64 - bits};

    Bitboard occupied = 0;
    do { // every subset of the mask
        sets[slider_index(slider, occupied)] = walk_all(square, steps, occupied);
        occupied = (occupied - mask) & mask;
    } while (occupied);
    return 1 << bits;
}

static void init_sliders(void) {
    Bitboard *bishop = BishopSets, *rook = RookSets;
    for (int square = 0; square < SQUARES; square++) {
        bishop += init_slider(&BishopSliders[square], square, BishopSteps, BishopMagics[square], bishop);
        rook += init_slider(&RookSliders[square], square, RookSteps, RookMagics[square], rook);
        BishopRays[square] = attacks_bishop(square, 0);
        RookRays[square] = attacks_rook(square, 0);
    }
    assert(bishop == BishopSets + BISHOP_SETS && rook == RookSets + ROOK_SETS);
}

static void init_lines(int a) {
    static const Step directions[4] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    for (int i = 0; i < 4; i++) {
        Step back = {-directions[i].file, -directions[i].rank};
        Bitboard line = bb_of(a) | walk(a, directions[i], 0) | walk(a, back, 0);
        if (i == 2) DiagonalLine[a] = line;
        if (i == 3) AntidiagonalLine[a] = line;
        for (Bitboard others = line & ~bb_of(a); others;) {
            int b = bb_pop(&others);
            LineSquares[a][b] = line;
            Step step = bb_has(walk(a, back, 0), b) ? back : directions[i];
            BetweenSquares[a][b] = walk(a, step, bb_of(b)) & ~bb_of(b);
        }
    }
}

static void init_tables(void) {
    init_sliders();
    for (int square = 0; square < SQUARES; square++) {
        init_leapers(square);
        init_lines(square);
    }
}

static pthread_once_t TablesOnce = PTHREAD_ONCE_INIT;

void bitboard_init(void) { pthread_once(&TablesOnce, init_tables); }
