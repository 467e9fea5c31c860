// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/movepick.h"

#include "engine/movegen.h"

static const Params *params_of(const SearchThread *thread) { return &thread->shared->params; }

void movepick_main(MovePicker *picker, const SearchThread *thread, const StackEntry *ss, Move tt_move) {
    const Params *p = params_of(thread);
    const StackEntry *before = ss - 1;
    picker->thread = thread;
    picker->ss = ss;
    picker->stage = p->MoveOrdering ? PICK_TT : PICK_UNORDERED;
    picker->tt_move = tt_move;
    picker->refutations[0] = p->KillerSlots > 0 ? ss->killers[0] : MOVE_NONE;
    picker->refutations[1] = p->KillerSlots > 1 ? ss->killers[1] : MOVE_NONE;
    picker->refutations[2] =
        p->CounterMove ? thread->hist.counter[before->piece][move_to(before->move)] : MOVE_NONE;
    picker->refutation = 0;
    picker->noisy_only = false;
    picker->skip_quiets = false;
    picker->see_floor = 0;
    picker->next = picker->count = picker->bad_count = 0;
}

void movepick_noisy(MovePicker *picker, const SearchThread *thread, const StackEntry *ss, Move tt_move,
                    int see_floor) {
    movepick_main(picker, thread, ss, tt_move);
    picker->noisy_only = true;
    picker->see_floor = see_floor;
    bool fits = tt_move != MOVE_NONE && position_is_noisy(&ss->pos, tt_move) &&
                position_see(&ss->pos, tt_move, see_floor);
    if (!fits) picker->tt_move = MOVE_NONE;
}

int movepick_history(const SearchThread *thread, const StackEntry *ss, Move move) {
    const Params *p = params_of(thread);
    const Histories *hist = &thread->hist;
    const Position *pos = &ss->pos;
    int piece = pos->board[move_from(move)], to = move_to(move), score = 0;
    if (p->MainHistory) score += hist->main[pos->stm][move_from(move)][to];
    if (p->BestMoveTable) score += hist->best_move[piece][to] / 2;
    if (p->PawnHistory) score += hist->pawn[history_pawn_index(pos)][piece][to];
    if (p->ContinuationHistory)
        score += ss[-1].continuation[piece][to] + ss[-2].continuation[piece][to] +
                 ss[-4].continuation[piece][to] / 2;
    return score;
}

// Captures: the most valuable victim first, then what such captures achieved before.
static void score_noisy(MovePicker *picker, int from) {
    const Position *pos = &picker->ss->pos;
    bool learned = params_of(picker->thread)->CaptureHistory;
    for (int i = from; i < picker->count; i++) {
        Move move = picker->moves[i];
        int victim = position_captured(pos, move), piece = pos->board[move_from(move)];
        int score = victim == NO_TYPE ? 0 : 16 * SeeValues[victim] - piece_type(piece);
        if (move_kind(move) == MOVE_PROMOTION)
            score += move_promotion(move) == QUEEN ? 16 * SeeValues[QUEEN] : -16 * SeeValues[QUEEN];
        if (learned && victim != NO_TYPE)
            score += picker->thread->hist.capture[piece][move_to(move)][victim] / 2;
        picker->scores[i] = score;
    }
}

// Squares that a lesser piece of the enemy attacks, by the type of piece that would stand there.
static void lesser_threats(const Position *pos, Bitboard threats[PIECE_TYPES]) {
    int enemy = !pos->stm;
    Bitboard occupied = position_occupied(pos), set;
    Bitboard by_pawn = bb_pawn_attacks(enemy, position_pieces(pos, enemy, PAWN)), by_minor = by_pawn;
    for (set = position_pieces(pos, enemy, KNIGHT); set;) by_minor |= attacks_knight(bb_pop(&set));
    for (set = position_pieces(pos, enemy, BISHOP); set;) by_minor |= attacks_bishop(bb_pop(&set), occupied);
    Bitboard by_rook = by_minor;
    for (set = position_pieces(pos, enemy, ROOK); set;) by_rook |= attacks_rook(bb_pop(&set), occupied);
    threats[PAWN] = threats[KING] = 0;
    threats[KNIGHT] = threats[BISHOP] = by_pawn;
    threats[ROOK] = by_minor;
    threats[QUEEN] = by_rook;
}

// Quiet moves: by history, then safe checks, then pieces that leave or enter the reach of lesser ones.
static void score_quiets(MovePicker *picker, int from) {
    const Position *pos = &picker->ss->pos;
    const Params *p = params_of(picker->thread);
    int king = position_king(pos, !pos->stm);
    Bitboard occupied = position_occupied(pos), threats[PIECE_TYPES], checks[PIECE_TYPES];
    lesser_threats(pos, threats);
    checks[PAWN] = attacks_pawn(!pos->stm, king);
    checks[KNIGHT] = attacks_knight(king);
    checks[BISHOP] = attacks_bishop(king, occupied);
    checks[ROOK] = attacks_rook(king, occupied);
    checks[QUEEN] = checks[BISHOP] | checks[ROOK];
    checks[KING] = 0;
    for (int i = from; i < picker->count; i++) {
        Move move = picker->moves[i];
        int type = piece_type(pos->board[move_from(move)]);
        int score = movepick_history(picker->thread, picker->ss, move);
        if (bb_has(checks[type], move_to(move)) && position_see(pos, move, -75)) score += p->CheckOrderBonus;
        if (threats[type]) {
            int weight = p->ThreatOrderScale * SeeValues[type];
            if (bb_has(threats[type], move_from(move))) score += weight;
            if (bb_has(threats[type], move_to(move))) score -= weight;
        }
        picker->scores[i] = score;
    }
}

// Takes the best move left in the current stage.
static Move pick_best(MovePicker *picker) {
    int best = picker->next;
    for (int i = best + 1; i < picker->count; i++)
        if (picker->scores[i] > picker->scores[best]) best = i;
    Move move = picker->moves[best];
    picker->moves[best] = picker->moves[picker->next];
    picker->scores[best] = picker->scores[picker->next];
    picker->moves[picker->next] = move;
    picker->next++;
    return move;
}

static bool is_refutation(const MovePicker *picker, Move move) {
    return move == picker->refutations[0] || move == picker->refutations[1] || move == picker->refutations[2];
}

// Whether a killer or counter move can be played here, is quiet and has not been given.
static bool refutation_fits(const MovePicker *picker, int slot) {
    Move move = picker->refutations[slot];
    if (move == MOVE_NONE || move == picker->tt_move) return false;
    for (int i = 0; i < slot; i++)
        if (move == picker->refutations[i]) return false;
    const Position *pos = &picker->ss->pos;
    return movegen_is_legal(pos, move) && !position_is_noisy(pos, move);
}

// Moves as the generator gives them.
static Move next_unordered(MovePicker *picker) {
    if (picker->count == 0) {
        picker->count = movegen(&picker->ss->pos, picker->moves, picker->noisy_only ? GEN_NOISY : GEN_ALL);
        if (picker->count == 0) return MOVE_NONE;
    }
    while (picker->next < picker->count) {
        Move move = picker->moves[picker->next++];
        if (!picker->skip_quiets || position_is_noisy(&picker->ss->pos, move)) return move;
    }
    return MOVE_NONE;
}

Move movepick_next(MovePicker *picker) {
    const Position *pos = &picker->ss->pos;
    const Params *p = params_of(picker->thread);
    switch (picker->stage) {
    case PICK_TT:
        picker->stage = PICK_GENERATE_NOISY;
        if (picker->tt_move != MOVE_NONE) return picker->tt_move;
        // fall through
    case PICK_GENERATE_NOISY:
        picker->count = movegen(pos, picker->moves, GEN_NOISY);
        score_noisy(picker, 0);
        picker->stage = PICK_GOOD_NOISY;
        // fall through
    case PICK_GOOD_NOISY:
        while (picker->next < picker->count) {
            Move move = pick_best(picker);
            if (move == picker->tt_move) continue;
            if ((p->SeeOrdering || picker->noisy_only) && !position_see(pos, move, picker->see_floor)) {
                picker->moves[picker->bad_count++] = move;
                continue;
            }
            return move;
        }
        if (picker->noisy_only) {
            picker->stage = PICK_DONE;
            return MOVE_NONE;
        }
        picker->stage = PICK_KILLERS;
        // fall through
    case PICK_KILLERS:
        while (picker->refutation < 3 && !picker->skip_quiets) {
            int slot = picker->refutation++;
            if (refutation_fits(picker, slot)) return picker->refutations[slot];
            picker->refutations[slot] = MOVE_NONE;
        }
        picker->stage = PICK_GENERATE_QUIET;
        // fall through
    case PICK_GENERATE_QUIET:
        picker->next = picker->count = picker->bad_count;
        if (!picker->skip_quiets) {
            picker->count += movegen(pos, picker->moves + picker->bad_count, GEN_QUIET);
            score_quiets(picker, picker->next);
        }
        picker->stage = PICK_QUIET;
        // fall through
    case PICK_QUIET:
        while (picker->next < picker->count && !picker->skip_quiets) {
            Move move = pick_best(picker);
            if (move != picker->tt_move && !is_refutation(picker, move)) return move;
        }
        picker->stage = PICK_BAD_NOISY;
        picker->next = 0;
        // fall through
    case PICK_BAD_NOISY:
        if (picker->next < picker->bad_count) return picker->moves[picker->next++];
        picker->stage = PICK_DONE;
        return MOVE_NONE;
    case PICK_UNORDERED: return next_unordered(picker);
    case PICK_DONE: return MOVE_NONE;
    }
    return MOVE_NONE;
}
