// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/wdl.h"

#include <math.h>

// The coefficients, here and nowhere else. Set by hand for games at a second a move and more: `hone-tune wdl` fits them to
// games, but those made for training, at some hundred nodes a move, are hardly ever drawn.
static const WdlModel Model = {
    .a = {110.0, 50.0, 0.0, 0.0},
    .b = {50.0, 30.0, 0.0, 0.0},
};

int wdl_material(const Position *pos) {
    static const int Worth[] = {[PAWN] = 1, [KNIGHT] = 3, [BISHOP] = 3, [ROOK] = 5, [QUEEN] = 9};
    int material = 0;
    for (int type = PAWN; type <= QUEEN; type++) material += Worth[type] * bb_count(pos->by_type[type]);
    return material;
}

static double cubic(const double c[4], double x) { return c[0] + x * (c[1] + x * (c[2] + x * c[3])); }

double wdl_win(const WdlModel *model, double score, int material) {
    double x = (double)int_clamp(material, WDL_LEAST, WDL_MOST) / WDL_FULL;
    return 1 / (1 + exp((cubic(model->a, x) - score) / cubic(model->b, x)));
}

Wdl wdl_of(int score, int material) {
    if (score_is_win(score)) return (Wdl){.win = 1000};
    if (score_is_loss(score)) return (Wdl){.loss = 1000};
    Wdl wdl = {.win = (int)(1000 * wdl_win(&Model, score, material) + 0.5),
               .loss = (int)(1000 * wdl_win(&Model, -score, material) + 0.5)};
    wdl.draw = 1000 - wdl.win - wdl.loss;
    return wdl;
}
