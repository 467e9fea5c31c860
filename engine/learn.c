// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/learn.h"

// --- moves

int learn_bonus(const Params *p, int depth) {
    return int_min(p->HistoryBonusScale * depth, p->HistoryBonusMax);
}

static void learn_continuation(const StackEntry *ss, int piece, int to, int bonus) {
    static const int Back[] = {1, 2, 4};
    for (size_t i = 0; i < sizeof Back / sizeof *Back; i++)
        history_add(&ss[-Back[i]].continuation[piece][to], bonus, HISTORY_MAX);
}

void learn_quiet(SearchThread *t, const StackEntry *ss, Move move, int bonus) {
    const Position *pos = &ss->pos;
    int from = move_from(move), to = move_to(move), piece = pos->board[from];
    history_add(&t->hist.main[pos->stm][from][to], bonus, HISTORY_MAX);
    history_add(&t->hist.best_move[piece][to], bonus, HISTORY_MAX);
    history_add(&t->hist.pawn[history_pawn_index(pos)][piece][to], bonus, HISTORY_MAX);
    learn_continuation(ss, piece, to, bonus);
}

static void learn_capture(SearchThread *t, const StackEntry *ss, Move move, int bonus) {
    int victim = position_captured(&ss->pos, move);
    if (victim == NO_TYPE) return;
    history_add(&t->hist.capture[ss->pos.board[move_from(move)]][move_to(move)][victim], bonus, HISTORY_MAX);
}

// Counts which parts of the ordering spoke for the move that cut; first: no other was searched before it.
static void count_ordering(SearchThread *t, const StackEntry *ss, Move best, bool first) {
    const Params *p = &t->shared->params;
    const Histories *hist = &t->hist;
    const Position *pos = &ss->pos;
    uint64_t *count = t->run.count;
    int from = move_from(best), to = move_to(best), piece = pos->board[from];
    if (!p->MoveOrdering) return;
    count[ID_MoveOrdering] += first;
    if (position_is_noisy(pos, best)) {
        int victim = position_captured(pos, best);
        count[ID_CaptureHistory] +=
            p->CaptureHistory && victim != NO_TYPE && hist->capture[piece][to][victim] > 0;
        return;
    }
    count[ID_KillerSlots] += (p->KillerSlots > 0 && best == ss->killers[0]) ||
                             (p->KillerSlots > 1 && best == ss->killers[1]);
    count[ID_CounterMove] += p->CounterMove && best == hist->counter[ss[-1].piece][move_to(ss[-1].move)];
    count[ID_MainHistory] += p->MainHistory && hist->main[pos->stm][from][to] > 0;
    count[ID_BestMoveTable] += p->BestMoveTable && hist->best_move[piece][to] > 0;
    count[ID_PawnHistory] += p->PawnHistory && hist->pawn[history_pawn_index(pos)][piece][to] > 0;
    count[ID_ContinuationHistory] += p->ContinuationHistory && ss[-1].continuation[piece][to] > 0;
}

void learn_cut(SearchThread *t, StackEntry *ss, Move best, const MoveList *quiets, const MoveList *noisies,
               int depth) {
    const Params *p = &t->shared->params;
    count_ordering(t, ss, best, quiets->count + noisies->count == 0);
    int malus = int_min(p->HistoryMalusScale * depth, p->HistoryMalusMax);
    if (!position_is_noisy(&ss->pos, best)) {
        if (ss->killers[0] != best) {
            ss->killers[1] = ss->killers[0];
            ss->killers[0] = best;
        }
        t->hist.counter[ss[-1].piece][move_to(ss[-1].move)] = best;
        learn_quiet(t, ss, best, learn_bonus(p, depth));
        for (int i = 0; i < quiets->count; i++) learn_quiet(t, ss, quiets->moves[i], -malus);
    } else {
        learn_capture(t, ss, best, learn_bonus(p, depth));
    }
    for (int i = 0; i < noisies->count; i++) learn_capture(t, ss, noisies->moves[i], -malus);
}

// --- errors of the evaluation

// The slot of the error table for the last two moves.
static int16_t *move_error(SearchThread *t, const StackEntry *ss) {
    unsigned last = (unsigned)(ss[-1].piece * SQUARES + move_to(ss[-1].move));
    unsigned before = (unsigned)(ss[-2].piece * SQUARES + move_to(ss[-2].move));
    return &t->hist.move_error[ss->pos.stm][(last * 1039 + before * 7) % CORRECTION_SIZE];
}

int learn_corrected(SearchThread *t, const StackEntry *ss, int raw) {
    const Params *p = &t->shared->params;
    const Position *pos = &ss->pos;
    int eval = raw;
    if (p->DrawRules) eval = eval * (256 - pos->rule50) / 256; // progress counts
    if (p->CorrectionHistory) {
        int us = pos->stm, sum = 0;
        sum += p->CorrPawn * t->hist.pawn_error[us][pos->pawn_key % CORRECTION_SIZE];
        for (int colour = WHITE; colour <= BLACK; colour++)
            sum += p->CorrNonPawn *
                   t->hist.non_pawn_error[us][colour][pos->non_pawn_key[colour] % CORRECTION_SIZE];
        sum += p->CorrContinuation * *move_error(t, ss);
        eval += sum / 2048;
        t->run.count[ID_CorrectionHistory] += sum != 0;
    }
    return int_clamp(eval, -SCORE_EVAL_MAX, SCORE_EVAL_MAX);
}

void learn_error(SearchThread *t, const StackEntry *ss, int depth, int error) {
    const Position *pos = &ss->pos;
    int us = pos->stm, bonus = int_clamp(error * depth / 8, -CORRECTION_MAX / 4, CORRECTION_MAX / 4);
    history_add(&t->hist.pawn_error[us][pos->pawn_key % CORRECTION_SIZE], bonus, CORRECTION_MAX);
    for (int colour = WHITE; colour <= BLACK; colour++)
        history_add(&t->hist.non_pawn_error[us][colour][pos->non_pawn_key[colour] % CORRECTION_SIZE], bonus,
                    CORRECTION_MAX);
    history_add(move_error(t, ss), bonus, CORRECTION_MAX);
}
