// SPDX-License-Identifier: GPL-3.0-or-later
// The hand-written evaluation. Every term is a weight times a count, added up from White's view in packed
// form; the weights stand in weights.c. The same code runs for the search (constant weights, pawn table) and
// for trace and tuner.
#include "engine/eval.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/psqt.h"
#include "engine/weights.h"

enum { ALL = PIECE_TYPES, PHASE_MAX = 24, SCALE_ONE = 64 };

// What the terms share: who attacks what, and where the kings are in danger.
typedef struct Attacks {
    Bitboard by[COLOURS][PIECE_TYPES + 1];  // squares attacked by pieces of a type, and by any
    Bitboard twice[COLOURS];                // squares attacked by at least two pieces
    Bitboard area[COLOURS];                 // squares that count for mobility
    Bitboard ring[COLOURS];                 // around the king
    Bitboard pinned[COLOURS];               // pieces that shield their king from a slider
    int units[COLOURS], attackers[COLOURS]; // against the other king
} Attacks;

#define INLINE static inline __attribute__((always_inline))

// Adds a packed value for a colour to the sum, and to the trace if there is one.
#define ADD(term, colour, value)                                                                             \
    do {                                                                                                     \
        int32_t value_ = (value);                                                                            \
        sum += (colour) == WHITE ? value_ : -value_;                                                         \
        if (parts) parts->terms[term][colour] += value_;                                                     \
    } while (0)

static int distance(int a, int b) {
    return int_max(abs(square_file(a) - square_file(b)), abs(square_rank(a) - square_rank(b)));
}

// All squares ahead of a set, its own excluded.
INLINE Bitboard fill_ahead(int colour, Bitboard set) {
    if (colour == WHITE) {
        set |= set << 8, set |= set << 16, set |= set << 32;
        return set << 8;
    }
    set |= set >> 8, set |= set >> 16, set |= set >> 32;
    return set >> 8;
}

INLINE Bitboard beside(Bitboard set) { return bb_east(set) | bb_west(set); }

int eval_phase(const Position *pos) {
    int phase = bb_count(pos->by_type[KNIGHT] | pos->by_type[BISHOP]) + 2 * bb_count(pos->by_type[ROOK]) +
                4 * bb_count(pos->by_type[QUEEN]);
    return int_min(phase, PHASE_MAX);
}

// ---- pawns and the shelter of kings: what the pawn table keeps -------------------------------------------

INLINE int32_t shelter(const Position *pos, const Weights *w, int us) {
    int king = position_king(pos, us), rank = square_rank_for(us, king);
    int centre = int_clamp(square_file(king), 1, 6);
    int32_t sum = 0;
    for (int file = centre - 1; file <= centre + 1; file++) {
        Bitboard ahead = bb_file(file) & (us == WHITE ? ~0ull << 8 * rank : ~0ull >> 8 * rank);
        Bitboard own = ahead & position_pieces(pos, us, PAWN),
                 enemy = ahead & position_pieces(pos, !us, PAWN);
        int own_rank = own ? square_rank_for(us, us == WHITE ? bb_first(own) : 63 - __builtin_clzll(own)) : 0;
        int enemy_rank =
            enemy ? square_rank_for(us, us == WHITE ? bb_first(enemy) : 63 - __builtin_clzll(enemy)) : 0;
        sum += w->shelter[8 * int_min(file, 7 - file) + own_rank];
        sum += w->storm[8 * (own_rank && own_rank + 1 == enemy_rank) + enemy_rank];
    }
    return sum;
}

INLINE int32_t pawn_terms(const Position *pos, const Weights *w, int us, Bitboard *all_passed,
                          EvalParts *parts) {
    const int them = !us;
    const Bitboard own = position_pieces(pos, us, PAWN), enemy = position_pieces(pos, them, PAWN);
    const Bitboard own_attacks = bb_pawn_attacks(us, own), enemy_attacks = bb_pawn_attacks(them, enemy);
    const Bitboard enemy_ahead = fill_ahead(them, enemy);
    const Bitboard files = fill_ahead(us, own) | fill_ahead(them, own) | own;
    const Bitboard own_reach = fill_ahead(us, own_attacks) | own_attacks;
    const Bitboard passed = own & ~(enemy_ahead | beside(enemy_ahead)) & ~fill_ahead(them, own);
    const Bitboard isolated = own & ~beside(files);
    const Bitboard phalanx = own & beside(own), supported = own & own_attacks;
    const Bitboard open = own & ~enemy_ahead;
    // Backward: no own pawn beside or behind to guard it, and the square in front is held by an enemy pawn.
    const Bitboard backward = own & ~isolated & ~own_reach & ~phalanx & bb_forward(them, enemy_attacks);
    int32_t sum = 0;

    ADD(TERM_PAWNS, us,
        w->isolated[0] * bb_count(isolated & ~open) + w->isolated[1] * bb_count(isolated & open));
    ADD(TERM_PAWNS, us,
        w->backward[0] * bb_count(backward & ~open) + w->backward[1] * bb_count(backward & open));
    ADD(TERM_PAWNS, us, w->doubled * bb_count(own & fill_ahead(them, own)));
    for (Bitboard set = phalanx; set;) ADD(TERM_PAWNS, us, w->phalanx[square_rank_for(us, bb_pop(&set))]);
    for (Bitboard set = supported; set;) ADD(TERM_PAWNS, us, w->supported[square_rank_for(us, bb_pop(&set))]);
    for (Bitboard set = passed; set;) {
        int square = bb_pop(&set), rank = square_rank_for(us, square), front = square + pawn_push(us);
        ADD(TERM_PASSED, us, w->passed[rank]);
        ADD(TERM_PASSED, us, w->passed_own_king[rank] * distance(position_king(pos, us), front));
        ADD(TERM_PASSED, us, w->passed_enemy_king[rank] * distance(position_king(pos, them), front));
    }
    for (Bitboard set = open & ~passed & ~fill_ahead(them, own); set;) {
        const int square = bb_pop(&set);
        const Bitboard pawn = bb_of(square);
        if (bb_count(own & beside(pawn | fill_ahead(them, pawn))) >=
            bb_count(enemy & beside(fill_ahead(us, pawn))))
            ADD(TERM_PASSED, us, w->candidate[square_rank_for(us, square)]);
    }
    ADD(TERM_KING, us, shelter(pos, w, us));
    *all_passed |= passed;
    return sum;
}

// The terms of both colours, from the table if they are there.
INLINE int32_t pawns_and_shelter(const Position *pos, const Weights *w, PawnTable *table, Bitboard *passed,
                                 EvalParts *parts) {
    const Key kings =
        (Key)(position_king(pos, WHITE) << 6 | position_king(pos, BLACK)) * 0x9e3779b97f4a7c15ull;
    const Key key = (pos->pawn_key ^ kings) | 1; // never 0, which an empty entry has
    PawnEntry *entry = table ? &table->entries[key >> 32 & (PAWN_TABLE_SIZE - 1)] : NULL;
    if (entry && entry->key == key) {
        *passed = entry->passed;
        return entry->score;
    }
    *passed = 0;
    int32_t sum = pawn_terms(pos, w, WHITE, passed, parts) + pawn_terms(pos, w, BLACK, passed, parts);
    if (entry) *entry = (PawnEntry){.key = key, .passed = *passed, .score = sum};
    return sum;
}

// ---- pieces, kings, threats ------------------------------------------------------------------------------

INLINE void attacks_start(const Position *pos, Attacks *att, int us) {
    const int them = !us, king = position_king(pos, us);
    const Bitboard pawns = position_pieces(pos, us, PAWN), occupied = position_occupied(pos);
    const Bitboard pawn_attacks = bb_pawn_attacks(us, pawns), near = attacks_king(king);
    const Bitboard forward = bb_forward(us, pawns);
    const Bitboard doubled = bb_east(forward) & bb_west(forward);
    // Pawns that cannot move, or have not, are no squares for the own pieces; nor is what enemy pawns attack.
    const Bitboard fixed = pawns & (bb_forward(them, occupied) | bb_rank(us == WHITE ? 1 : 6));
    att->by[us][PAWN] = pawn_attacks, att->by[us][KING] = near;
    for (int type = KNIGHT; type <= QUEEN; type++) att->by[us][type] = 0;
    att->by[us][ALL] = pawn_attacks | near;
    att->twice[us] = doubled | (pawn_attacks & near);
    att->area[us] = ~(fixed | bb_of(king) | bb_pawn_attacks(them, position_pieces(pos, them, PAWN)));
    att->ring[us] = near | bb_of(king) | bb_forward(us, near);
    att->units[us] = att->attackers[us] = 0;
    att->pinned[us] = 0;
    const Bitboard sliders = pos->by_colour[them];
    Bitboard snipers = attacks_rook(king, 0) & sliders & (pos->by_type[ROOK] | pos->by_type[QUEEN]);
    snipers |= attacks_bishop(king, 0) & sliders & (pos->by_type[BISHOP] | pos->by_type[QUEEN]);
    while (snipers) {
        const Bitboard shield = bb_between(king, bb_pop(&snipers)) & occupied;
        if (shield && !bb_several(shield)) att->pinned[us] |= shield & pos->by_colour[us];
    }
}

// The pieces of one type; the type is a constant wherever this is called.
INLINE int32_t type_terms(const Position *pos, const Weights *w, Attacks *att, int us, int type,
                          EvalParts *parts) {
    const Bitboard occupied = position_occupied(pos), queens = pos->by_type[QUEEN];
    const Bitboard pawns = pos->by_type[PAWN], own_pawns = pawns & pos->by_colour[us];
    const Bitboard ring = att->ring[!us], near = att->by[!us][KING];
    const int king = position_king(pos, us);
    int32_t sum = 0;
    for (Bitboard set = position_pieces(pos, us, type); set;) {
        const int square = bb_pop(&set);
        const Bitboard file = bb_file(square_file(square));
        // Sliders see through the pieces that slide with them.
        const Bitboard reach = type == KNIGHT   ? attacks_knight(square)
                               : type == BISHOP ? attacks_bishop(square, occupied ^ queens)
                               : type == ROOK
                                   ? attacks_rook(square, occupied ^ queens ^ position_pieces(pos, us, ROOK))
                                   : attacks_queen(square, occupied);
        att->twice[us] |= att->by[us][ALL] & reach;
        att->by[us][ALL] |= reach, att->by[us][type] |= reach;
        const int32_t *mobility = type == KNIGHT   ? w->mobility_knight
                                  : type == BISHOP ? w->mobility_bishop
                                  : type == ROOK   ? w->mobility_rook
                                                   : w->mobility_queen;
        const Bitboard moves = bb_has(att->pinned[us], square) ? reach & bb_line(king, square) : reach;
        ADD(TERM_MOBILITY, us, mobility[bb_count(moves & att->area[us])]);
        if (reach & ring) {
            att->attackers[us]++;
            att->units[us] += w->attacker[type - KNIGHT] + w->ring_attack * bb_count(reach & near);
        }
        if (type <= BISHOP) ADD(TERM_PIECES, us, w->minor_distance[type == BISHOP] * distance(square, king));
        if (type == BISHOP) {
            const Bitboard colour = bb_has(LIGHT_SQUARES, square) ? LIGHT_SQUARES : ~LIGHT_SQUARES;
            ADD(TERM_PIECES, us, w->bishop_pawns * bb_count(own_pawns & colour));
        }
        if (type == ROOK && !(file & own_pawns))
            ADD(TERM_PIECES, us, file & pawns ? w->rook_half_open : w->rook_open);
    }
    return sum;
}

INLINE int32_t piece_terms(const Position *pos, const Weights *w, Attacks *att, int us, EvalParts *parts) {
    const Bitboard pawns = pos->by_type[PAWN], bishops = position_pieces(pos, us, BISHOP);
    const Bitboard minors = bishops | position_pieces(pos, us, KNIGHT);
    int32_t sum = type_terms(pos, w, att, us, KNIGHT, parts) + type_terms(pos, w, att, us, BISHOP, parts) +
                  type_terms(pos, w, att, us, ROOK, parts) + type_terms(pos, w, att, us, QUEEN, parts);
    if ((bishops & LIGHT_SQUARES) && (bishops & ~LIGHT_SQUARES)) ADD(TERM_PIECES, us, w->bishop_pair);
    ADD(TERM_PIECES, us, w->behind_pawn * bb_count(bb_forward(us, minors) & pawns));
    const Bitboard enemy_ahead = fill_ahead(!us, position_pieces(pos, !us, PAWN));
    const Bitboard ranks =
        us == WHITE ? RANK_1 << 24 | RANK_1 << 32 | RANK_1 << 40 : RANK_8 >> 24 | RANK_8 >> 32 | RANK_8 >> 40;
    const Bitboard outposts = minors & ranks & att->by[us][PAWN] & ~beside(enemy_ahead);
    ADD(TERM_PIECES, us, w->outpost[0] * bb_count(outposts & ~bishops));
    ADD(TERM_PIECES, us, w->outpost[1] * bb_count(outposts & bishops));
    return sum;
}

// What the danger to the king of `us` costs it.
INLINE int32_t king_terms(const Position *pos, const Weights *w, const Attacks *att, int us,
                          EvalParts *parts) {
    const int them = !us, king = position_king(pos, us);
    const bool queen = position_pieces(pos, them, QUEEN) != 0;
    const int file = square_file(king);
    const Bitboard files = file < 3   ? FILE_A | FILE_A << 1 | FILE_A << 2 | (file == 2 ? FILE_A << 3 : 0)
                           : file > 4 ? FILE_H | FILE_H >> 1 | FILE_H >> 2 | (file == 5 ? FILE_H >> 3 : 0)
                                      : 0x3c3c3c3c3c3c3c3cull;
    const Bitboard flank = files & (us == WHITE ? ~0ull >> 24 : ~0ull << 24);
    int32_t sum = 0;
    ADD(TERM_KING, us, w->flank_defence * bb_count(flank & att->by[us][ALL]));
    if (att->attackers[them] + queen < 2) return sum;
    const Bitboard occupied = position_occupied(pos);
    const Bitboard weak = att->by[them][ALL] & (~att->by[us][ALL] | (att->by[us][KING] & ~att->twice[us]));
    const Bitboard safe = ~pos->by_colour[them] & (~att->by[us][ALL] | (weak & att->twice[them]));
    const Bitboard straight = attacks_rook(king, occupied) & safe,
                   slanted = attacks_bishop(king, occupied) & safe;
    int units = att->units[them] + w->ring_weak * bb_count(weak & att->ring[us]);
    if (attacks_knight(king) & safe & att->by[them][KNIGHT]) units += w->safe_check[0];
    if (slanted & att->by[them][BISHOP]) units += w->safe_check[1];
    if (straight & att->by[them][ROOK]) units += w->safe_check[2];
    if ((straight | slanted) & att->by[them][QUEEN]) units += w->safe_check[3];
    if (!queen) units += w->no_queen;
    ADD(TERM_KING, us, w->danger[int_clamp(units, 0, DANGER_STEPS - 1)]);
    return sum;
}

INLINE int32_t threat_terms(const Position *pos, const Weights *w, const Attacks *att, int us,
                            EvalParts *parts) {
    const int them = !us;
    const Bitboard officers = position_officers(pos, them), enemy = pos->by_colour[them];
    const Bitboard minors = (pos->by_type[KNIGHT] | pos->by_type[BISHOP]) & enemy;
    const Bitboard by_minor = att->by[us][KNIGHT] | att->by[us][BISHOP];
    const Bitboard unguarded = ~(minors & att->by[them][PAWN]);
    int32_t sum = 0;
    for (Bitboard set = officers & (att->by[us][PAWN] | ((by_minor | att->by[us][ROOK]) & unguarded)); set;) {
        const int square = bb_pop(&set), index = piece_type(pos->board[square]) - KNIGHT;
        if (bb_has(att->by[us][PAWN], square))
            ADD(TERM_THREATS, us, w->threat_pawn[index]);
        else if (bb_has(by_minor, square))
            ADD(TERM_THREATS, us, w->threat_minor[index]);
        else
            ADD(TERM_THREATS, us, w->threat_rook[index]);
    }
    const Bitboard queen = position_pieces(pos, them, QUEEN), occupied = position_occupied(pos);
    if (queen && !bb_several(queen)) {
        const int square = bb_first(queen);
        const Bitboard safe = ~pos->by_colour[us] & ~att->by[them][PAWN] &
                              (~att->by[them][ALL] | (att->twice[us] & ~att->twice[them]));
        const Bitboard leaps = attacks_knight(square) & att->by[us][KNIGHT] & safe;
        const Bitboard slides = ((attacks_bishop(square, occupied) & att->by[us][BISHOP]) |
                                 (attacks_rook(square, occupied) & att->by[us][ROOK])) &
                                safe & att->twice[us];
        ADD(TERM_THREATS, us, w->threat_queen[0] * bb_count(leaps) + w->threat_queen[1] * bb_count(slides));
    }
    const Bitboard hanging = enemy & att->by[us][ALL] & ~att->by[them][ALL];
    ADD(TERM_THREATS, us,
        w->hanging[0] * bb_count(hanging & pos->by_type[PAWN]) +
            w->hanging[1] * bb_count(hanging & officers));
    const Bitboard held = att->by[them][PAWN] | (att->twice[them] & ~att->twice[us]);
    ADD(TERM_THREATS, us, w->restricted * bb_count(att->by[us][ALL] & att->by[them][ALL] & ~held));
    const Bitboard empty = ~occupied, third = bb_rank(us == WHITE ? 2 : 5);
    Bitboard push = bb_forward(us, position_pieces(pos, us, PAWN)) & empty;
    push |= bb_forward(us, push & third) & empty;
    push &= ~att->by[them][PAWN] & (att->by[us][ALL] | ~att->by[them][ALL]);
    ADD(TERM_THREATS, us,
        w->threat_push * bb_count(bb_pawn_attacks(us, push) & officers & ~att->by[us][PAWN]));
    return sum;
}

// What a passed pawn meets on its way.
INLINE int32_t passed_terms(const Position *pos, const Weights *w, const Attacks *att, Bitboard passed,
                            int us, EvalParts *parts) {
    const int them = !us;
    const Bitboard occupied = position_occupied(pos);
    int32_t sum = 0;
    for (Bitboard set = passed & pos->by_colour[us]; set;) {
        const int square = bb_pop(&set), rank = square_rank_for(us, square), front = square + pawn_push(us);
        if (fill_ahead(them, bb_of(square)) & position_pieces(pos, us, ROOK))
            ADD(TERM_PASSED, us, w->passed_rook);
        if (bb_has(occupied, front)) {
            ADD(TERM_PASSED, us, w->passed_blocked[rank]);
        } else if (!bb_has(att->by[them][ALL], front)) {
            const bool free = !(fill_ahead(us, bb_of(square)) & (occupied | att->by[them][ALL]));
            ADD(TERM_PASSED, us, free ? w->passed_free[rank] : w->passed_safe[rank]);
        }
    }
    return sum;
}

// ---- endgames --------------------------------------------------------------------------------------------

// Whether the better side has only pawns on one edge file and a bishop that does not guard their promotion
// square, with the enemy king there first.
static bool wrong_bishop(const Position *pos, int us) {
    const Bitboard pawns = position_pieces(pos, us, PAWN), bishops = position_pieces(pos, us, BISHOP);
    if (!pawns || position_officers(pos, us) != bishops || ((pawns & ~FILE_A) && (pawns & ~FILE_H)))
        return false;
    const int corner = square_for(us, pawns & FILE_A ? A8 : H8);
    const bool guarded = bishops & (bb_has(LIGHT_SQUARES, corner) ? LIGHT_SQUARES : ~LIGHT_SQUARES);
    return !guarded && distance(position_king(pos, !us), corner) <= 1;
}

// How much of an endgame advantage of the better side counts, in 64ths.
static int scale_of(const Position *pos, const Weights *w, int us) {
    static const int Value[PIECE_TYPES] = {[KNIGHT] = 3, [BISHOP] = 3, [ROOK] = 5, [QUEEN] = 9};
    const Bitboard own = position_officers(pos, us), enemy = position_officers(pos, !us);
    const Bitboard knights = pos->by_type[KNIGHT], bishops = pos->by_type[BISHOP];
    const int pawns = bb_count(position_pieces(pos, us, PAWN));
    if (!pawns) {
        int lead = 0;
        for (int type = KNIGHT; type <= QUEEN; type++)
            lead += Value[type] * (bb_count(pos->by_type[type] & own) - bb_count(pos->by_type[type] & enemy));
        const bool cannot_mate =
            !(own & ~knights) ? bb_count(own) <= 2 : !(own & ~bishops) && !bb_several(own);
        if (cannot_mate) return 0;
        if (lead <= Value[BISHOP]) return w->scale_no_pawns;
    }
    if (wrong_bishop(pos, us)) return 0;
    const Bitboard own_bishop = bishops & own, enemy_bishop = bishops & enemy;
    if (own_bishop && enemy_bishop && !bb_several(own_bishop) && !bb_several(enemy_bishop) &&
        !(own_bishop & LIGHT_SQUARES) != !(enemy_bishop & LIGHT_SQUARES))
        return (own | enemy) == bishops ? w->scale_opposite + w->scale_opposite_pawn * pawns
                                        : w->scale_opposite_pieces;
    return int_min(SCALE_ONE, w->scale_base + w->scale_pawn * pawns);
}

// Against a bare king: drive it to the edge (to a corner of the bishop's colour with bishop and knight) and
// come near.
static int mop_up(const Position *pos, int us) {
    const Bitboard bishops = position_pieces(pos, us, BISHOP), knights = position_pieces(pos, us, KNIGHT);
    const Bitboard majors = pos->by_colour[us] & (pos->by_type[ROOK] | pos->by_type[QUEEN]);
    const bool light = bishops & LIGHT_SQUARES, dark = bishops & ~LIGHT_SQUARES;
    if (!majors && !(light && dark) && !(bishops && knights)) return 0;
    const int own = position_king(pos, us), king = position_king(pos, !us);
    const int file = square_file(king), rank = square_rank(king);
    int drive = int_max(3 - file, file - 4) + int_max(3 - rank, rank - 4);
    if (!majors && light != dark) {
        const int near_a1 = int_max(file, rank), near_h8 = 7 - int_min(file, rank);
        const int near_a8 = int_max(file, 7 - rank), near_h1 = int_max(7 - file, rank);
        drive = 2 * (7 - (dark ? int_min(near_a1, near_h8) : int_min(near_a8, near_h1)));
    }
    return 200 + 20 * drive + 8 * (7 - distance(own, king));
}

// ---- the whole -------------------------------------------------------------------------------------------

// The evaluation from White; parts is NULL but for trace and tuner.
INLINE int evaluate(const Position *pos, const Weights *w, PawnTable *table, EvalParts *parts) {
    Attacks att;
    Bitboard passed;
    int32_t sum = pos->psq + pawns_and_shelter(pos, w, table, &passed, parts);
    attacks_start(pos, &att, WHITE);
    attacks_start(pos, &att, BLACK);
    sum += piece_terms(pos, w, &att, WHITE, parts) + piece_terms(pos, w, &att, BLACK, parts);
    sum += king_terms(pos, w, &att, WHITE, parts) + king_terms(pos, w, &att, BLACK, parts);
    sum += threat_terms(pos, w, &att, WHITE, parts) + threat_terms(pos, w, &att, BLACK, parts);
    sum +=
        passed_terms(pos, w, &att, passed, WHITE, parts) + passed_terms(pos, w, &att, passed, BLACK, parts);
    ADD(TERM_TEMPO, pos->stm, w->tempo);

    const int better = packed_eg(sum) >= 0 ? WHITE : BLACK;
    const int scale = scale_of(pos, w, better), phase = scale ? eval_phase(pos) : 0; // dead draws are 0
    int total = packed_mg(sum) * phase * SCALE_ONE + packed_eg(sum) * scale * (PHASE_MAX - phase);
    total /= PHASE_MAX * SCALE_ONE;
    int drive = 0;
    if (pos->by_colour[!better] == position_pieces(pos, !better, KING)) {
        drive = better == WHITE ? mop_up(pos, WHITE) : -mop_up(pos, BLACK);
        total += drive;
    }
    total = int_clamp(total, -SCORE_EVAL_MAX, SCORE_EVAL_MAX);
    if (parts)
        parts->sum = sum, parts->phase = phase, parts->scale = scale, parts->mop_up = drive,
        parts->total = total;
    return total;
}

int eval_position(const Position *pos, PawnTable *pawns) {
    int score = evaluate(pos, &DefaultWeights, pawns, NULL);
    return pos->stm == WHITE ? score : -score;
}

EvalParts eval_parts(const Position *pos, const Weights *weights) {
    EvalParts parts = {0};
    for (int square = 0; square < SQUARES; square++) {
        const int piece = pos->board[square];
        if (piece == NO_PIECE) continue;
        const int32_t value = psqt_of(piece, square);
        parts.terms[TERM_PSQ][piece_colour(piece)] += piece_colour(piece) == WHITE ? value : -value;
    }
    evaluate(pos, weights, NULL, &parts);
    return parts;
}

// Writes one line of the trace: middlegame and endgame in pawns for White, Black and the difference.
static int trace_line(char *buffer, size_t size, const char *name, int32_t white, int32_t black, bool both) {
    const int32_t total = white - black;
    char sides[64] = "       -       - |       -       -";
    if (both)
        snprintf(sides, sizeof sides, "%8.2f%8.2f |%8.2f%8.2f", packed_mg(white) / 100.0,
                 packed_eg(white) / 100.0, packed_mg(black) / 100.0, packed_eg(black) / 100.0);
    return snprintf(buffer, size, "%-14s|%s |%8.2f%8.2f\n", name, sides, packed_mg(total) / 100.0,
                    packed_eg(total) / 100.0);
}

void eval_trace(const Position *pos, char *buffer, size_t size) {
    static const char *const Names[TERMS] = {"Material+place", "Mobility", "Pawns",   "Passed pawns",
                                             "King safety",    "Pieces",   "Threats", "Tempo"};
    const EvalParts parts = eval_parts(pos, &DefaultWeights);
    const int sign = pos->stm == WHITE ? 1 : -1;
    size_t used = 0;
#define PRINT(write) used = (size_t)int_min((int)used + (write), (int)size - 1)
    if (!size) return;
    PRINT(snprintf(buffer, size, "Term          |  White mg      eg |Black mg      eg |Total mg      eg\n"));
    for (int term = 0; term < TERMS; term++)
        PRINT(trace_line(buffer + used, size - used, Names[term], parts.terms[term][WHITE],
                         parts.terms[term][BLACK], true));
    PRINT(trace_line(buffer + used, size - used, "Sum", parts.sum, 0, false));
    PRINT(snprintf(buffer + used, size - used, "Phase %d/24, endgame scale %d/64, mop-up %.2f\n", parts.phase,
                   parts.scale, parts.mop_up / 100.0));
    PRINT(snprintf(buffer + used, size - used, "Evaluation %+.2f for White, %+.2f for the side to move\n",
                   parts.total / 100.0, sign * parts.total / 100.0));
#undef PRINT
}
