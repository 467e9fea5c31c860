// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/adjudicate.h"

#include <stdlib.h>

#include "engine/tablebase.h"

Adjudicator adjudicate_start(const AdjudicateSpec *spec) { return (Adjudicator){.spec = spec, .rule = ""}; }

static Adjudication wins(int colour) { return colour == WHITE ? ADJUDICATE_WHITE : ADJUDICATE_BLACK; }

static Adjudication by_table(Adjudicator *state, const Position *after) {
    const AdjudicateSpec *spec = state->spec;
    if (!spec->tb_wins && !spec->tb_draws) return ADJUDICATE_NONE;
    if (after->rule50 != 0 || after->castling || bb_count(position_occupied(after)) > spec->tb_pieces)
        return ADJUDICATE_NONE;
    int wdl = tablebase_wdl(after);
    if (wdl == TABLEBASE_UNKNOWN) return ADJUDICATE_NONE;
    if (!spec->tb_ignore50 && (wdl == 1 || wdl == -1)) wdl = 0; // won but for the fifty-move rule
    state->rule = ": SyzygyTB";
    if (wdl == 0) return spec->tb_draws ? ADJUDICATE_DRAW : ADJUDICATE_NONE;
    if (!spec->tb_wins) return ADJUDICATE_NONE;
    return wins(wdl > 0 ? after->stm : !after->stm);
}

static Adjudication by_resignation(Adjudicator *state, int mover, bool has_score, int score) {
    const AdjudicateSpec *spec = state->spec;
    bool loses = has_score && score <= -spec->resign_score,
         clear = has_score && abs(score) >= spec->resign_score;
    state->resign_moves[mover] = loses ? state->resign_moves[mover] + 1 : 0;
    state->win_plies = clear ? state->win_plies + 1 : 0;
    if (spec->resign_count == 0) return ADJUDICATE_NONE;
    if (!spec->resign_two_sided)
        return state->resign_moves[mover] >= spec->resign_count ? wins(!mover) : ADJUDICATE_NONE;
    if (state->win_plies < 2 * spec->resign_count) return ADJUDICATE_NONE;
    return wins(score < 0 ? !mover : mover);
}

static Adjudication by_draw_scores(Adjudicator *state, const Position *after, bool has_score, int score) {
    const AdjudicateSpec *spec = state->spec;
    if (after->rule50 == 0) state->draw_plies = 0;
    bool level = has_score && !score_is_mate(score) && abs(score) <= spec->draw_score;
    state->draw_plies = level ? state->draw_plies + 1 : 0;
    bool due = spec->draw_count > 0 && after->fullmove - 1 >= spec->draw_number &&
               state->draw_plies >= 2 * spec->draw_count;
    return due ? ADJUDICATE_DRAW : ADJUDICATE_NONE;
}

Adjudication adjudicate_move(Adjudicator *state, const Position *after, int mover, bool has_score,
                             int score) {
    state->plies++;
    // Every counter is told every move, whatever another rule says of it.
    Adjudication resigned = by_resignation(state, mover, has_score, score);
    Adjudication drawn = by_draw_scores(state, after, has_score, score);
    state->rule = "";
    Adjudication verdict = by_table(state, after);
    if (verdict != ADJUDICATE_NONE) return verdict;
    state->rule = "";
    if (resigned != ADJUDICATE_NONE) return resigned;
    if (drawn != ADJUDICATE_NONE) return drawn;
    if (state->spec->max_moves == 0 || state->plies < 2 * state->spec->max_moves) return ADJUDICATE_NONE;
    state->rule = ": maximal game length";
    return ADJUDICATE_DRAW;
}
