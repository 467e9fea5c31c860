// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/quiesce.h"

#include "engine/learn.h"
#include "engine/movepick.h"
#include "engine/node.h"

int quiesce(SearchThread *t, StackEntry *ss, int alpha, int beta, int qply) {
    Search *s = t->shared;
    const Params *p = &s->params;
    const Position *pos = &ss->pos;
    const int ply = node_ply(t, ss);
    const bool pv_node = beta - alpha > 1;
    t->pvs[ply].count = 0;
    t->run.q_nodes++;

    // Step 1. Stop, draws, solved endgames, the end of the stack; no quiescence at all if it is switched off.
    if (node_must_stop(t)) return 0;
    if (pv_node) t->run.seldepth = int_max(t->run.seldepth, ply);
    if (p->DrawRules && ply > 0 && node_is_draw(t, ss)) return node_draw_score(t);
    TableScore known = tables_probe(&s->tables, pos, ply, 0);
    if (known.bound != BOUND_NONE) {
        node_count_tbhit(t);
        return known.score;
    }
    bool in_check = pos->checkers != 0;
    if (ply >= MAX_PLY - 1) return in_check ? SCORE_DRAW : node_evaluate(t, ss);
    if (!p->Quiescence) {
        if (in_check && !movegen_any(pos)) return node_mated_in(ply);
        return learn_corrected(t, ss, node_evaluate(t, ss));
    }
    t->run.count[ID_Quiescence]++;

    // Step 2. The table.
    TTEntry tt = {.hit = false};
    if (p->UseTT) tt = tt_probe(&s->tt, pos->key, ply, pos->rule50);
    if (tt.hit && tt.move != MOVE_NONE && !movegen_is_legal(pos, tt.move)) tt.move = MOVE_NONE;
    if (!pv_node && tt.hit && tt.score != SCORE_NONE && (p->TtEqualDepth ? tt.depth == 0 : tt.depth >= 0) &&
        (tt.bound & (tt.score >= beta ? BOUND_LOWER : BOUND_UPPER))) {
        t->run.count[ID_UseTT]++;
        return tt.score;
    }

    // Step 3. Stand pat: we need not capture, so the static score is a floor; not in check.
    int best = -SCORE_INFINITE, raw = SCORE_NONE, floor_score = -SCORE_INFINITE;
    if (!in_check) {
        raw = tt.hit && tt.eval != SCORE_NONE ? tt.eval : node_evaluate(t, ss);
        ss->static_eval = floor_score = best = learn_corrected(t, ss, raw);
        if (!p->TtEqualDepth && node_tt_sharpens(&tt, best)) best = tt.score;
        if (best >= beta) {
            if (!tt.hit && p->UseTT)
                tt_store(&s->tt, pos->key, ply, MOVE_NONE, SCORE_NONE, raw, TT_DEPTH_NONE, BOUND_NONE, false);
            return score_is_decisive(best) ? best : (best + beta) / 2;
        }
        alpha = int_max(alpha, best);
    } else {
        ss->static_eval = SCORE_NONE;
    }

    // Step 4. Captures and queen promotions; all evasions in check.
    MovePicker picker;
    bool delta = p->DeltaPruning && !in_check && qply < p->DeltaMaxDepth &&
                 bb_count(position_occupied(pos)) >= p->DeltaMinPieces;
    if (in_check) movepick_main(&picker, t, ss, tt.move);
    else movepick_noisy(&picker, t, ss, tt.move, p->QuiescenceSee ? 0 : -SCORE_INFINITE);
    ss[1].excluded = MOVE_NONE;
    int number = 0;
    Move best_move = MOVE_NONE;
    for (Move move; (move = movepick_next(&picker)) != MOVE_NONE;) {
        number++;
        if (!score_is_loss(best)) {
            // Step 5. Delta pruning. Even the captured piece and a margin leave us below alpha.
            if (delta && move_kind(move) != MOVE_PROMOTION &&
                floor_score + p->DeltaMargin + SeeValues[position_captured(pos, move)] <= alpha) {
                t->run.count[ID_DeltaPruning]++;
                best = int_max(best, floor_score + p->DeltaMargin + SeeValues[position_captured(pos, move)]);
                continue;
            }
            // Step 6. One evasion holds: further quiet ones are not worth the time.
            if (in_check && p->QuiescenceEvasions && !position_is_noisy(pos, move)) {
                t->run.count[ID_QuiescenceEvasions]++;
                picker.skip_quiets = true;
                continue;
            }
        }
        node_make(t, ss, move);
        int score = -quiesce(t, ss + 1, -beta, -alpha, qply + 1);
        if (node_stopped(t)) return 0;
        if (score <= best) continue;
        best = score;
        if (score <= alpha) continue;
        best_move = move;
        if (pv_node) node_pv_set(&t->pvs[ply], move, &t->pvs[ply + 1]);
        if (score >= beta) break;
        alpha = score;
    }

    // Step 7. Mate; remember.
    if (p->QuiescenceSee && !in_check) t->run.count[ID_QuiescenceSee] += (uint64_t)picker.bad_count;
    if (in_check && number == 0) return node_mated_in(ply);
    if (p->UseTT)
        tt_store(&s->tt, pos->key, ply, best_move, best, raw, 0, best >= beta ? BOUND_LOWER : BOUND_UPPER,
                 tt.hit && tt.pv);
    return best;
}
