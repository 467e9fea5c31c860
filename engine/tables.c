// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tables.h"

enum { FIFTY_PLIES = 100, CURSED_SCORE = 10, SOON_MEN = 10 }; // so few men may soon be three

TableOptions tables_default(void) {
    return (TableOptions){.builtin = 3, .probe = {.men = 7, .depth = 1, .rule50 = true}};
}

// Whether a position occurred twice since the last zeroing move, the root among them.
static bool has_repeated(const Position *root, const KeyStack *history) {
    int reach = int_min(root->rule50, history->count), first = history->count - reach;
    for (int i = first; i <= history->count; i++) {
        Key key = i < history->count ? history->keys[i] : position_repetition_key(root);
        for (int k = first; k < i; k++)
            if (history->keys[k] == key) return true;
    }
    return false;
}

void tables_open(const TableOptions *options) {
    if (options->builtin) endgame_open();
}

bool tables_build(const TableOptions *options, const Position *root) {
    EndgameMaterial material;
    int men = bb_count(position_occupied(root));
    if (men <= SOON_MEN) tables_open(options);
    if (options->builtin < 4 || men != 4) return false;
    return endgame_material(root, &material, NULL) && endgame_extend(&material, NULL);
}

void tables_prepare(Tables *tables, const TableOptions *options, const Position *root,
                    const KeyStack *history) {
    int men = bb_count(position_occupied(root));
    tables->endgame_men = !options->builtin ? 0 : tables_build(options, root) ? 4 : 3;

    tables->probe = options->probe;
    tables->largest = options->syzygy ? tablebase_info().largest : 0;
    tables->probe.men = int_min(tables->probe.men, tables->largest);
    tables->ranked = men <= tables->probe.men &&
                     tablebase_rank(root, has_repeated(root, history), options->probe.rule50, &tables->ranks);
    if (!tables->ranked) return;
    // The result is safe at the root. Below it every move that keeps a win would look alike, so let the
    // search make progress by itself; without DTZ only its own probes can.
    int best = -1000;
    for (int i = 0; i < tables->ranks.count; i++) best = int_max(best, tables->ranks.rank[i]);
    if (tables->ranks.dtz || best <= 0) tables->probe.men = 0;
}

// A mate in so many plies that the fifty-move rule does not come first is as good as found.
static TableScore endgame_score(const Position *pos, int ply) {
    const EndgameSet *set = endgame_open();
    EndgameResult result = set ? endgame_probe(set, pos) : (EndgameResult){0};
    if (!result.known || (result.wdl && pos->rule50 + result.dtm > FIFTY_PLIES))
        return (TableScore){0, BOUND_NONE};
    if (result.wdl == 0) return (TableScore){SCORE_DRAW, BOUND_EXACT};
    int plies = ply + result.dtm;
    int score = plies < MAX_PLY ? SCORE_MATE - plies : SCORE_TB_WIN - ply;
    return (TableScore){result.wdl * score, BOUND_EXACT};
}

static TableScore syzygy_score(const Tables *tables, const Position *pos, int ply) {
    int wdl = tablebase_wdl(pos);
    if (wdl == TABLEBASE_UNKNOWN) return (TableScore){0, BOUND_NONE};
    int decisive = tables->probe.rule50 ? TABLEBASE_WIN : TABLEBASE_CURSED_WIN;
    if (wdl >= decisive) return (TableScore){SCORE_TB_WIN - ply, BOUND_LOWER};
    if (wdl <= -decisive) return (TableScore){-SCORE_TB_WIN + ply, BOUND_UPPER};
    return (TableScore){SCORE_DRAW + 2 * wdl, BOUND_EXACT};
}

TableScore tables_probe(const Tables *tables, const Position *pos, int ply, int depth) {
    TableScore unknown = {0, BOUND_NONE};
    int men = bb_count(position_occupied(pos));
    if (men > int_max(tables->endgame_men, tables->probe.men) || pos->castling) return unknown;
    if (men <= tables->endgame_men) {
        TableScore score = endgame_score(pos, ply);
        if (score.bound != BOUND_NONE) return score;
    }
    if (men > tables->probe.men || pos->rule50 || depth < 1) return unknown;
    if (men == tables->largest && depth < tables->probe.depth) return unknown;
    return syzygy_score(tables, pos, ply);
}

static int rank_index(const Tables *tables, Move move) {
    for (int i = 0; tables->ranked && i < tables->ranks.count; i++)
        if (tables->ranks.moves[i] == move) return i;
    return -1;
}

int tables_rank(const Tables *tables, Move move) {
    int index = rank_index(tables, move);
    return index < 0 ? 0 : tables->ranks.rank[index];
}

int tables_root_score(const Tables *tables, Move move, int score) {
    int index = rank_index(tables, move);
    if (index < 0 || score_is_mate(score)) return score;
    int wdl = tables->ranks.wdl[index];
    if (wdl == TABLEBASE_WIN) return SCORE_TB_WIN - 1;
    if (wdl == TABLEBASE_LOSS) return -SCORE_TB_WIN + 1;
    return SCORE_DRAW + CURSED_SCORE * wdl;
}

Move tables_continue(const Tables *tables, const Position *pos) {
    if (bb_count(position_occupied(pos)) > tables->endgame_men) return MOVE_NONE;
    const EndgameSet *set = endgame_open();
    EndgameResult result = set ? endgame_probe(set, pos) : (EndgameResult){0};
    if (!result.known || !result.wdl || pos->rule50 + result.dtm > FIFTY_PLIES) return MOVE_NONE;
    return endgame_best(set, pos);
}
