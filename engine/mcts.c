// SPDX-License-Identifier: GPL-3.0-or-later
// A playout walks from the root along the edges that promise most, values the first position that is new, and
// carries the value back up. A node's value is the average over its edges of what their children are worth by
// now, each by its visits, drawn somewhat towards the best of them; so a position that several lines share
// tells all of them what was learned in any. Mates are proven on the way up: a child that is lost is a win,
// and a node whose children are all won is lost.
#include "engine/mcts.h"

#include <math.h>
#include <stdlib.h>

#include "engine/learn.h"
#include "engine/mctstree.h"
#include "engine/node.h"
#include "engine/quiesce.h"

enum {
    TREE_PLIES = MAX_PLY - 64,  // the longest line in the tree; quiescence needs the rest of the stack
    LINE_PLIES = 48,            // the longest line shown
    AMAF_MAX = 1023,            // visits that an edge remembers for all moves as first
    WATCH_EVERY = 16,           // playouts between two looks at the soft limits
    SURE_MATE = SCORE_MATE - 3, // no shorter mate can be missed: mates in one are looked for at once
};

// One playout: the way down and what was found at its end.
typedef struct Playout {
    int count;
    int value;  // of the last position, to its side to move
    int proof;  // the same if it is proven, or 0
    bool drawn; // the line itself is a draw, whatever its last position is worth
    bool line;  // quiescence left its best line behind
    MctsNode *nodes[TREE_PLIES];
    MctsEdge *edges[TREE_PLIES];
} Playout;

// A proven score one ply further from the end, seen by the other side.
static int proof_above(int proof) { return proof > 0 ? -(proof - 1) : proof < 0 ? -(proof + 1) : 0; }

// Whether a mate comes before the fifty-move rule does.
static bool proof_holds(int proof, int rule50) {
    return !score_is_mate(proof) || SCORE_MATE - abs(proof) + rule50 <= 100;
}

// --- down: which edge promises most

// What the edges of one node are measured by.
typedef struct Measure {
    double explore;      // cpuct x root of the node's visits
    double untried;      // the value of a move that has not been tried
    double virtual_loss; // for each playout under way
    double rave;         // visits at which both kinds of value weigh alike; 0 for none
} Measure;

// The value of a move with its statistics as first move mixed in, the less the more it was tried itself.
static double blend(const MctsEdge *edge, double value, uint32_t visits, double rave) {
    uint32_t amaf = atomic_load_explicit(&edge->amaf, memory_order_relaxed);
    double seen = amaf & AMAF_MAX;
    if (seen == 0) return value;
    double share = sqrt(rave / (3.0 * visits + rave)) * seen / (seen + rave);
    return value + share * ((double)((int32_t)amaf >> 10) / MCTS_ONE - value);
}

static double promise(const MctsEdge *edge, const Measure *by) {
    uint64_t stat = mctstree_load(edge);
    uint32_t visits = mctstree_visits(stat);
    double losses = mctstree_under_way(stat) * by->virtual_loss, weight = visits + losses;
    double value = visits ? (double)mctstree_value(stat) / MCTS_ONE : by->untried;
    if (by->rave > 0) value = blend(edge, value, visits, by->rave);
    if (losses > 0) value = visits ? (value * visits - losses) / weight : value - losses;
    return value + by->explore * (edge->prior / 65536.0) / (1 + weight);
}

// The edge to follow from a node that has its edges; NULL if all are proven.
static MctsEdge *select_edge(const SearchThread *t, const MctsNode *node) {
    const Params *p = &t->shared->params;
    MctsEdge *edges = t->shared->tree->edges + node->first, *best = NULL;
    double tried = 0, most = 0;
    for (int i = 0; i < node->count; i++)
        if (mctstree_visits(mctstree_load(&edges[i]))) tried += edges[i].prior / 65536.0;
    uint32_t visits = atomic_load_explicit(&node->visits, memory_order_relaxed);
    Measure by = {
        .explore = p->MctsCpuct / 100.0 * sqrt(visits),
        .untried = (double)mctstree_node_value(node) / MCTS_ONE - p->MctsFpu / 100.0 * sqrt(tried),
        .virtual_loss = p->MctsVirtualLoss / 100.0,
        .rave = p->MctsAmaf ? p->MctsRave : 0,
    };
    for (int i = 0; i < node->count; i++) {
        if (mctstree_proof(&edges[i].proof)) continue;
        double worth = promise(&edges[i], &by);
        if (best && worth <= most) continue;
        best = &edges[i];
        most = worth;
    }
    return best;
}

// What a decisive score of a new position proves, or 0: the word of the solved endgames, mate, and mate in
// one. Longer mates of quiescence may not be the shortest: the tree will prove them itself.
static int leaf_proof(const SearchThread *t, const StackEntry *ss, int score, int ply) {
    const Position *pos = &ss->pos;
    int proof = 0;
    if (!score_is_decisive(score)) return 0;
    if (tables_probe(&t->shared->tables, pos, ply, 0).bound != BOUND_NONE)
        proof = score > 0 ? score + ply : score - ply;
    else if (score == -SCORE_MATE + ply) proof = -SCORE_MATE;
    else if (score > 0 && mctstree_has_mate(pos)) proof = SCORE_MATE - 1;
    return proof_holds(proof, pos->rule50) ? proof : 0;
}

// Values a new position and gives it a node if there is room.
static uint32_t new_leaf(SearchThread *t, StackEntry *ss, Playout *playout) {
    Search *s = t->shared;
    int score;
    if (s->params.MctsQuiescence) {
        t->run.count[ID_MctsQuiescence]++;
        score = quiesce(t, ss, -SCORE_INFINITE, SCORE_INFINITE, 0);
        playout->line = true;
    } else {
        score = node_static(t, ss);
    }
    if (node_stopped(t)) return 0;
    playout->proof = leaf_proof(t, ss, score, playout->count);
    playout->value = playout->proof > 0   ? MCTS_ONE
                     : playout->proof < 0 ? -MCTS_ONE
                                          : mctstree_squash(score, s->params.MctsScale);
    return mctstree_add(s->tree, mctstree_key(&ss->pos), playout->value, playout->proof,
                        s->params.MctsShared);
}

// Enters the position that an edge leads to: the node to go on from, or NULL if the playout ends here.
static MctsNode *enter(SearchThread *t, StackEntry *ss, MctsEdge *edge, Playout *playout) {
    Search *s = t->shared;
    MctsTree *m = s->tree;
    if (s->params.DrawRules && node_is_draw(t, ss)) {
        playout->value = 0;
        playout->drawn = true;
        return NULL;
    }
    uint32_t child = atomic_load_explicit(&edge->child, memory_order_acquire);
    bool known = child != 0;
    if (!known && s->params.MctsShared) {
        child = mctstree_find(m, mctstree_key(&ss->pos));
        t->run.count[ID_MctsShared] += child != 0;
        if (child) playout->value = mctstree_node_value(&m->nodes[child]);
    }
    if (!known) {
        if (child == 0) child = new_leaf(t, ss, playout);
        uint32_t none = 0;
        atomic_compare_exchange_strong_explicit(&edge->child, &none, child, memory_order_acq_rel,
                                                memory_order_acquire);
        return NULL;
    }
    MctsNode *node = &m->nodes[child];
    bool onward =
        mctstree_proof(&node->proof) == 0 && playout->count < TREE_PLIES && mctstree_grown(t, node, ss);
    playout->value = mctstree_node_value(node);
    return onward && node->count > 0 && mctstree_proof(&node->proof) == 0 ? node : NULL;
}

// Forgets a playout that could not be finished.
static void abandon(const Playout *playout) {
    for (int i = 0; i < playout->count; i++)
        atomic_fetch_sub_explicit(&playout->edges[i]->stat, MCTS_UNDER_WAY, memory_order_relaxed);
}

// The way down; false if the search was stopped or every root move is proven.
static bool descend(SearchThread *t, Playout *playout) {
    Search *s = t->shared;
    StackEntry *ss = t->stack + STACK_BELOW;
    MctsNode *node = s->tree->nodes;
    playout->count = playout->value = playout->proof = 0;
    playout->drawn = playout->line = false;
    for (; node; ss++) {
        MctsEdge *edge = select_edge(t, node);
        // Two positions with one key would bring an illegal move: take the node as a leaf.
        if (!edge || (s->params.MctsShared && !movegen_is_legal(&ss->pos, edge->move))) {
            playout->value = edge ? mctstree_node_value(node) : -MCTS_ONE;
            break;
        }
        atomic_fetch_add_explicit(&edge->stat, MCTS_UNDER_WAY, memory_order_relaxed);
        playout->nodes[playout->count] = node;
        playout->edges[playout->count++] = edge;
        node_make(t, ss, edge->move);
        node = node_must_stop(t) ? NULL : enter(t, ss + 1, edge, playout);
        if (node_stopped(t)) {
            abandon(playout);
            return false;
        }
    }
    return playout->count > 0;
}

// --- up: what the playout taught

// Adds a visit to an edge. If it has a child, the edge is worth what the child is by now; if not, the average
// of what came back. Returns by how much visits x value has grown.
static int64_t visit_edge(MctsEdge *edge, int value, bool whole) {
    uint64_t before = mctstree_load(edge), after;
    int64_t sum, grown_to;
    do {
        int64_t visits = mctstree_visits(before);
        sum = visits * mctstree_value(before);
        int now = whole ? value : (int)((sum + value) / (visits + 1));
        grown_to = (visits + 1) * now;
        after = mctstree_stat((uint32_t)visits + 1, now, (uint64_t)mctstree_under_way(before) - 1);
    } while (!atomic_compare_exchange_weak_explicit(&edge->stat, &before, after, memory_order_relaxed,
                                                    memory_order_relaxed));
    return grown_to - sum;
}

// A move that is proven to lose will not be played: takes it out of its node's average.
static void drop_edge(MctsNode *node, MctsEdge *edge) {
    uint64_t before = mctstree_load(edge), after;
    do after = mctstree_stat(0, -MCTS_ONE, (uint64_t)mctstree_under_way(before) - 1);
    while (!atomic_compare_exchange_weak_explicit(&edge->stat, &before, after, memory_order_relaxed,
                                                  memory_order_relaxed));
    int64_t visits = mctstree_visits(before);
    atomic_fetch_sub_explicit(&node->sum, visits * mctstree_value(before), memory_order_relaxed);
    atomic_fetch_sub_explicit(&node->visits, (uint32_t)visits, memory_order_relaxed);
}

// Works out what a node is worth by now: the average of its visits, drawn towards its best move.
static void settle(const Params *p, const MctsTree *m, MctsNode *node) {
    int64_t visits = atomic_load_explicit(&node->visits, memory_order_relaxed);
    int64_t value = atomic_load_explicit(&node->sum, memory_order_relaxed) / (visits > 0 ? visits : 1);
    int64_t best = -MCTS_ONE;
    for (int i = 0; i < node->count && p->MctsMinimax; i++) {
        uint64_t stat = mctstree_load(&m->edges[node->first + (uint32_t)i]);
        if (mctstree_visits(stat) && mctstree_value(stat) > best) best = mctstree_value(stat);
    }
    if (best > -MCTS_ONE) value += (best - value) * p->MctsMinimax / 100;
    value = value < -MCTS_ONE ? -MCTS_ONE : value > MCTS_ONE ? MCTS_ONE : value;
    atomic_store_explicit(&node->value, (int32_t)value, memory_order_relaxed);
}

// Draws the conclusion for a node from an edge that has just been proven.
static void conclude(MctsTree *m, MctsNode *node, int proof) {
    int best = proof, old = mctstree_proof(&node->proof);
    for (int i = 0; i < node->count && best < 0; i++) {
        int other = mctstree_proof(&m->edges[node->first + (uint32_t)i].proof);
        if (other == 0) return;
        best = int_max(best, other);
    }
    if (old <= 0 || best > old) atomic_store_explicit(&node->proof, (int16_t)best, memory_order_relaxed);
}

// What an edge is proven to be worth to its mover after the playout, or 0.
static int edge_proof(const Playout *playout, int i, const MctsNode *child, int rule50) {
    if (playout->drawn && i == playout->count - 1) return 0;
    int proof = child ? mctstree_proof(&child->proof) : i == playout->count - 1 ? playout->proof : 0;
    return proof_holds(proof, rule50 + 1) ? proof_above(proof) : 0;
}

// A quiet move that did better than its node was thought to be worth looks more promising elsewhere.
static void learn(SearchThread *t, const StackEntry *ss, Move move, int gain) {
    int bonus = (int)((int64_t)gain * t->shared->params.MctsHistoryGain / MCTS_ONE);
    if (bonus && !position_is_noisy(&ss->pos, move)) learn_quiet(t, ss, move, bonus);
}

static void back_up(SearchThread *t, const Playout *playout) {
    MctsTree *m = t->shared->tree;
    int value = playout->value;
    for (int i = playout->count - 1; i >= 0; i--) {
        MctsNode *node = playout->nodes[i];
        MctsEdge *edge = playout->edges[i];
        const StackEntry *ss = t->stack + STACK_BELOW + i;
        uint32_t index = atomic_load_explicit(&edge->child, memory_order_acquire);
        const MctsNode *child = index ? &m->nodes[index] : NULL;
        int proof = edge_proof(playout, i, child, ss->pos.rule50);
        value = -value;
        if (t->shared->params.MctsPrior) learn(t, ss, edge->move, value - mctstree_node_value(node));
        if (proof) atomic_store_explicit(&edge->proof, (int16_t)proof, memory_order_relaxed);
        if (proof < 0) {
            drop_edge(node, edge);
        } else {
            bool whole = child && !(playout->drawn && i == playout->count - 1);
            int64_t more = visit_edge(edge, whole ? -mctstree_node_value(child) : value, whole);
            atomic_fetch_add_explicit(&node->sum, more, memory_order_relaxed);
            atomic_fetch_add_explicit(&node->visits, 1, memory_order_relaxed);
        }
        settle(&t->shared->params, m, node);
        if (proof) conclude(m, node, proof);
    }
}

// All moves as first: every node of the line lets those of its moves learn from the playout that its side
// played in it, then or later.
static void learn_amaf(SearchThread *t, const Playout *playout) {
    Bitboard played[COLOURS][SQUARES] = {{0}}; // to which squares from each
    int value = playout->value, colour = t->stack[STACK_BELOW + playout->count].pos.stm;
    const PV *line = &t->pvs[playout->count];
    for (int i = 0; playout->line && i < line->count; i++)
        played[colour ^ (i & 1)][move_from(line->moves[i])] |= bb_of(move_to(line->moves[i]));
    for (int i = playout->count - 1; i >= 0; i--) {
        const MctsNode *node = playout->nodes[i];
        MctsEdge *edges = t->shared->tree->edges + node->first;
        Move move = playout->edges[i]->move;
        value = -value;
        colour ^= 1;
        played[colour][move_from(move)] |= bb_of(move_to(move));
        for (int j = 0; j < node->count; j++) {
            MctsEdge *edge = &edges[j];
            if (!bb_has(played[colour][move_from(edge->move)], move_to(edge->move))) continue;
            uint32_t amaf = atomic_load_explicit(&edge->amaf, memory_order_relaxed);
            int seen = amaf & AMAF_MAX, average = (int32_t)amaf >> 10;
            average += (value - average) / (seen + 1);
            seen = int_min(seen + 1, AMAF_MAX);
            atomic_store_explicit(&edge->amaf, (uint32_t)average << 10 | (uint32_t)seen,
                                  memory_order_relaxed);
            t->run.count[ID_MctsAmaf]++;
        }
    }
}

// One playout; false if the search was stopped or nothing is left to find out.
static bool play_out(SearchThread *t) {
    Playout playout;
    if (!descend(t, &playout)) return false;
    back_up(t, &playout);
    if (t->shared->params.MctsAmaf) learn_amaf(t, &playout);
    MctsTree *m = t->shared->tree;
    atomic_fetch_add_explicit(&m->playouts, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->plies, (uint64_t)playout.count, memory_order_relaxed);
    return true;
}

// --- the root: what was found

// Whether one edge is to be played rather than another: proven wins first (the shortest), then the most
// visited, proven losses last (the longest).
static bool preferred(const MctsEdge *a, const MctsEdge *b) {
    int proof_a = mctstree_proof(&a->proof), proof_b = mctstree_proof(&b->proof);
    if (proof_a != proof_b) return proof_a > proof_b;
    uint64_t stat_a = mctstree_load(a), stat_b = mctstree_load(b);
    if (mctstree_visits(stat_a) != mctstree_visits(stat_b))
        return mctstree_visits(stat_a) > mctstree_visits(stat_b);
    return mctstree_visits(stat_a) > 0 && mctstree_value(stat_a) > mctstree_value(stat_b);
}

static const MctsEdge *best_edge(const MctsTree *m, const MctsNode *node) {
    const MctsEdge *edges = m->edges + node->first, *best = edges;
    for (int i = 1; i < node->count; i++)
        if (preferred(&edges[i], best)) best = &edges[i];
    return best;
}

// The score to show for a root move.
static int edge_score(const Search *s, const MctsEdge *edge) {
    int proof = mctstree_proof(&edge->proof);
    if (proof) return proof;
    uint64_t stat = mctstree_load(edge);
    return mctstree_unsquash(
        mctstree_visits(stat) ? mctstree_value(stat) : mctstree_node_value(s->tree->nodes),
        s->params.MctsScale);
}

// The line that begins with a root move: from node to node by the edges to be played.
static void fill_line(const Search *s, const MctsEdge *edge, PV *pv) {
    Position pos = s->root, after;
    Key seen[LINE_PLIES];
    for (pv->count = 0; pv->count < LINE_PLIES && movegen_is_legal(&pos, edge->move); pos = after) {
        seen[pv->count] = pos.key;
        pv->moves[pv->count++] = edge->move;
        position_make(&after, &pos, edge->move);
        for (int i = 0; i < pv->count; i++)
            if (seen[i] == after.key) return;
        uint32_t index = atomic_load_explicit(&edge->child, memory_order_acquire);
        const MctsNode *node = &s->tree->nodes[index];
        if (index == 0 || atomic_load_explicit(&node->state, memory_order_acquire) != MCTS_GROWN ||
            node->count == 0)
            return;
        edge = best_edge(s->tree, node);
        if (mctstree_visits(mctstree_load(edge)) == 0 && mctstree_proof(&edge->proof) == 0) return;
    }
}

// Brings the root moves into the order in which they are to be played, with scores and the first lines.
static void rank_root(SearchThread *t, int lines) {
    const Search *s = t->shared;
    const MctsNode *root = s->tree->nodes;
    const MctsEdge *ranked[MAX_MOVES];
    for (int i = 0; i < root->count; i++) {
        const MctsEdge *edge = s->tree->edges + root->first + i;
        int at = i;
        for (; at > 0 && preferred(edge, ranked[at - 1]); at--) ranked[at] = ranked[at - 1];
        ranked[at] = edge;
    }
    for (int i = 0; i < root->count; i++) {
        RootMove *rm = &t->root_moves[i];
        rm->move = ranked[i]->move;
        rm->nodes = mctstree_visits(mctstree_load(ranked[i]));
        rm->score = edge_score(s, ranked[i]);
        rm->seldepth = t->run.seldepth;
        rm->pv.count = 1;
        rm->pv.moves[0] = rm->move;
        if (i < lines) fill_line(s, ranked[i], &rm->pv);
    }
    uint64_t playouts = atomic_load_explicit(&s->tree->playouts, memory_order_relaxed);
    uint64_t plies = atomic_load_explicit(&s->tree->plies, memory_order_relaxed);
    t->run.depth = t->run.completed_depth =
        playouts ? int_clamp((int)((plies + playouts / 2) / playouts), 1, MAX_PLY - 1) : 1;
}

static void report(SearchThread *t) {
    const Search *s = t->shared;
    int lines = int_min(s->multipv, t->root_count);
    rank_root(t, lines);
    for (int i = 0; i < lines && s->observer.info; i++) {
        const RootMove *rm = &t->root_moves[i];
        uint64_t tbhits = 0;
        for (int j = 0; j < s->thread_count; j++)
            tbhits += atomic_load_explicit(&s->threads[j]->run.tbhits, memory_order_relaxed);
        SearchInfo info = {
            .depth = t->run.depth,
            .seldepth = int_max(rm->seldepth, 1),
            .multipv = i + 1,
            .score = tables_root_score(&s->tables, rm->move, rm->score),
            .bound = BOUND_EXACT,
            .nodes = search_nodes(s),
            .tbhits = tbhits,
            .ms = timeman_elapsed(&s->time),
            .hashfull = mctstree_permille(s->tree),
            .pv = &rm->pv,
            .root = &s->root,
        };
        s->observer.info(s->observer.context, &info);
    }
}

// --- running

// What thread 0 keeps an eye on.
typedef struct Watch {
    uint64_t next_look, next_report; // in playouts
    int stable, recent;              // reports with the same best move in a row; score of late
    Move standing;
} Watch;

// Whether a depth is reached that was asked for: by the average playout, or because the tree will not get
// there.
static bool deep_enough(const SearchThread *t, uint64_t playouts) {
    int depth = t->shared->limits.depth;
    return depth && (t->run.depth >= depth || mctstree_permille(t->shared->tree) >= 990 ||
                     playouts >> int_min(depth + 10, 40) > 0);
}

// Whether thread 0 should end the search.
static bool finished(SearchThread *t, const Watch *watch, uint64_t playouts) {
    const Search *s = t->shared;
    const MctsNode *root = s->tree->nodes;
    int proof = mctstree_proof(&root->proof);
    bool waiting = s->limits.infinite || atomic_load_explicit(&s->pondering, memory_order_relaxed);
    if (proof >= SURE_MATE) return true;
    if (s->limits.mate && proof >= SCORE_MATE - 2 * s->limits.mate + 1) return true;
    if (deep_enough(t, playouts)) return true;
    if (waiting || (!s->time.timed && s->time.soft_nodes == UINT64_MAX)) return false;
    if (proof > 0 && !s->limits.mate) return true;
    const MctsEdge *best = best_edge(s->tree, root);
    TimeFacts facts = {
        .stable = watch->stable,
        .score_drop = watch->recent == SCORE_NONE ? 0 : watch->recent - edge_score(s, best),
        .best_fraction = (double)mctstree_visits(mctstree_load(best)) / (double)(playouts + 1),
        .legal_moves = t->root_count,
        .nodes = search_nodes(s),
        .elapsed_ms = timeman_elapsed(&s->time),
    };
    return timeman_enough(&s->time, &s->params, &facts);
}

// Thread 0 between two playouts: reports now and then, and says whether to end.
static bool look(SearchThread *t, Watch *watch) {
    uint64_t playouts = atomic_load_explicit(&t->shared->tree->playouts, memory_order_relaxed);
    if (playouts < watch->next_look) return false;
    watch->next_look = playouts + WATCH_EVERY;
    if (playouts >= watch->next_report) {
        watch->next_report = playouts + playouts / 2 + WATCH_EVERY;
        report(t);
        const RootMove *best = &t->root_moves[0];
        watch->stable = best->move == watch->standing ? watch->stable + 1 : 0;
        watch->standing = best->move;
        watch->recent = watch->recent == SCORE_NONE ? best->score : (3 * watch->recent + best->score) / 4;
    }
    return finished(t, watch, playouts);
}

void mcts_run(SearchThread *t) {
    Watch watch = {.next_look = 1, .next_report = 1, .recent = SCORE_NONE};
    if (t->root_count == 0) return;
    while (!node_stopped(t) && play_out(t))
        if (t->index == 0 && look(t, &watch)) break;
    if (t->index == 0) report(t);
}

void mcts_prepare(Search *s) { mctstree_plant(s->tree, s->threads[0]); }
