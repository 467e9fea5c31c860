// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/mctstree.h"

#include <stdlib.h>

#include "engine/movepick.h"
#include "engine/node.h"

enum {
    RULE50_APART = 60,  // from here on positions that differ in this counter alone are kept apart
    BYTES_A_NODE = 200, // a share of the memory that leaves room for the edges of one node in four
};

// e to the power of x for |x| up to 40, the same on every machine.
static double exponential(double x) {
    double step = x / 1024, power = 1 + step * (1 + step / 2 * (1 + step / 3));
    for (int i = 0; i < 10; i++) power *= power;
    return power;
}

// Centipawns to a value by the logistic.
int mctstree_squash(int score, int scale) {
    double x = (double)int_clamp(score, -20 * scale, 20 * scale) / scale;
    return (int)((2 / (1 + exponential(-x)) - 1) * MCTS_ONE);
}

// The centipawns that come nearest to a value: the way back.
int mctstree_unsquash(int value, int scale) {
    int low = -15 * scale, high = 15 * scale;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (mctstree_squash(middle, scale) < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// --- memory

MctsTree *mctstree_create(int megabytes) {
    for (int size = megabytes; size > 0; size /= 2) {
        uint64_t bytes = (uint64_t)size << 20, rooms = bytes / BYTES_A_NODE;
        uint64_t node_room = rooms < UINT32_MAX / 2 ? rooms : UINT32_MAX / 2 - 1;
        uint64_t fixed = sizeof(MctsTree) + node_room * (sizeof(MctsNode) + 2 * sizeof(uint32_t));
        uint64_t edge_room = (bytes - fixed) / sizeof(MctsEdge);
        if (edge_room > UINT32_MAX) edge_room = UINT32_MAX;
        MctsTree *m = calloc(1, sizeof *m);
        if (!m) return NULL;
        m->wanted = megabytes;
        m->node_room = (uint32_t)node_room;
        m->slot_count = (uint32_t)(2 * node_room);
        m->edge_room = edge_room;
        m->nodes = malloc(node_room * sizeof *m->nodes);
        m->edges = malloc(edge_room * sizeof *m->edges);
        m->slots = calloc(m->slot_count, sizeof *m->slots);
        if (m->nodes && m->edges && m->slots) return m;
        mctstree_destroy(m);
    }
    return NULL;
}

void mctstree_destroy(MctsTree *m) {
    if (!m) return;
    free(m->nodes);
    free(m->edges);
    free((void *)m->slots);
    free(m);
}

int mctstree_megabytes(const MctsTree *m) { return m ? m->wanted : 0; }

MctsTreeUse mctstree_use(const MctsTree *m) {
    return (MctsTreeUse){
        .nodes = (uint32_t)atomic_load(&m->node_count),
        .node_room = m->node_room,
        .edges = atomic_load(&m->edge_count),
        .edge_room = m->edge_room,
        .bytes = sizeof *m + m->node_room * sizeof *m->nodes + m->edge_room * sizeof *m->edges +
                 m->slot_count * sizeof *m->slots,
    };
}

// Takes some of what is left: the first of them, or UINT64_MAX if there are not so many.
static uint64_t claim(_Atomic uint64_t *used, uint64_t wanted, uint64_t room) {
    uint64_t before = atomic_load_explicit(used, memory_order_relaxed);
    do
        if (before + wanted > room) return UINT64_MAX;
    while (!atomic_compare_exchange_weak_explicit(used, &before, before + wanted, memory_order_relaxed,
                                                  memory_order_relaxed));
    return before;
}

// How full the tree is, in permille: once it is full, playouts go on but nothing new is remembered.
int mctstree_permille(const MctsTree *m) {
    uint64_t nodes = atomic_load_explicit(&m->node_count, memory_order_relaxed) * 1000 / m->node_room;
    uint64_t edges = atomic_load_explicit(&m->edge_count, memory_order_relaxed) * 1000 / m->edge_room;
    return (int)(nodes > edges ? nodes : edges);
}

// What tells positions apart: near the fifty-move rule, its counter too.
Key mctstree_key(const Position *pos) {
    return position_repetition_key(pos) ^ (pos->rule50 >= RULE50_APART ? mix64(pos->rule50) : 0);
}

static uint32_t slot_of(const MctsTree *m, Key key) {
    return (uint32_t)((unsigned __int128)mix64(key) * m->slot_count >> 64);
}

// The node of a position, or 0.
uint32_t mctstree_find(const MctsTree *m, Key key) {
    for (uint32_t slot = slot_of(m, key);; slot = slot + 1 < m->slot_count ? slot + 1 : 0) {
        uint32_t index = atomic_load_explicit(&m->slots[slot], memory_order_acquire);
        if (index == 0 || m->nodes[index].key == key) return index;
    }
}

static void start_node(MctsNode *node, Key key, int value, int proof) {
    node->key = key;
    node->slot = MCTS_NO_SLOT;
    node->first = node->count = 0;
    atomic_init(&node->sum, value);
    atomic_init(&node->visits, 1);
    atomic_init(&node->value, value);
    atomic_init(&node->proof, (int16_t)proof);
    atomic_init(&node->state, MCTS_LEAF);
}

// A new node for a position, or the one that another thread has just put there; 0 if there is no room.
uint32_t mctstree_add(MctsTree *m, Key key, int value, int proof, bool shared) {
    uint64_t claimed = claim(&m->node_count, 1, m->node_room);
    if (claimed == UINT64_MAX) return 0;
    uint32_t index = (uint32_t)claimed;
    MctsNode *node = &m->nodes[index];
    start_node(node, key, value, proof);
    if (!shared) return index;
    for (uint32_t slot = slot_of(m, key);; slot = slot + 1 < m->slot_count ? slot + 1 : 0) {
        uint32_t there = 0;
        if (atomic_compare_exchange_strong_explicit(&m->slots[slot], &there, index, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            node->slot = slot;
            return index;
        }
        if (m->nodes[there].key == key) return there; // ours is lost until the next search
    }
}

// --- growing: the moves of a node and how promising they look

// A move on its way to become an edge.
typedef struct Sprout {
    Move move;
    int score;  // as ordered
    bool mates; // at once
} Sprout;

static bool mates_at_once(const Position *pos, Move move) {
    Position after;
    if (!position_gives_check(pos, move)) return false;
    position_make(&after, pos, move);
    return !movegen_any(&after);
}

// Whether the side to move can mate at once.
bool mctstree_has_mate(const Position *pos) {
    MoveList list;
    movegen_list(pos, &list);
    for (int i = 0; i < list.count; i++)
        if (mates_at_once(pos, list.moves[i])) return true;
    return false;
}

// How promising a move looks before anything is known of it, in a kind of centipawns.
static int order(const SearchThread *t, const StackEntry *ss, Move move, Move tt_move) {
    const Params *p = &t->shared->params;
    const Position *pos = &ss->pos;
    bool promotion = move_kind(move) == MOVE_PROMOTION, safe = position_see(pos, move, 0);
    int score = move == tt_move ? p->MctsPriorTable : 0;
    if (promotion && move_promotion(move) != QUEEN) score -= p->MctsPriorLosing;
    else if (promotion) score += p->MctsPriorCapture * (SEE_QUEEN - SEE_PAWN) / 100;
    score += p->MctsPriorCapture * SeeValues[position_captured(pos, move)] / 100;
    if (!safe) score -= p->MctsPriorLosing;
    else if (position_gives_check(pos, move)) score += p->MctsPriorCheck;
    if (!position_is_noisy(pos, move)) score += p->MctsPriorHistory * movepick_history(t, ss, move) / 10000;
    return score;
}

static Move table_move(const SearchThread *t, const Position *pos) {
    if (!t->shared->params.UseTT) return MOVE_NONE;
    TTEntry tt = tt_probe(&t->shared->tt, pos->key, 0, pos->rule50);
    return tt.hit ? tt.move : MOVE_NONE;
}

// Orders moves, the most promising first; as generated if there is no prior.
static void sort_sprouts(SearchThread *t, const StackEntry *ss, Sprout *sprouts, const Move *moves,
                         int count) {
    bool prior = t->shared->params.MctsPrior;
    Move tt_move = prior ? table_move(t, &ss->pos) : MOVE_NONE;
    t->run.count[ID_MctsPrior] += prior;
    for (int i = 0; i < count; i++) {
        Sprout sprout = {.move = moves[i], .mates = mates_at_once(&ss->pos, moves[i])};
        if (prior) sprout.score = order(t, ss, moves[i], tt_move);
        int at = i;
        for (; at > 0 && sprouts[at - 1].score < sprout.score; at--) sprouts[at] = sprouts[at - 1];
        sprouts[at] = sprout;
    }
}

// Turns sorted moves into edges, with a softmax over their order as prior; returns the node's proof.
static int fill_edges(const Params *p, MctsEdge *edges, const Sprout *sprouts, int count) {
    double weight[MAX_MOVES], total = 0;
    int proof = 0;
    for (int i = 0; i < count; i++) {
        double below = (double)(sprouts[0].score - sprouts[i].score) / p->MctsPriorTemperature;
        total += weight[i] = exponential(below < 20 ? -below : -20);
    }
    for (int i = 0; i < count; i++) {
        MctsEdge *edge = &edges[i];
        int mate = sprouts[i].mates ? SCORE_MATE - 1 : 0;
        edge->move = sprouts[i].move;
        edge->prior = (uint16_t)int_clamp((int)(weight[i] / total * 65536), 1, UINT16_MAX);
        atomic_init(&edge->stat, mctstree_stat(0, mate ? MCTS_ONE : 0, 0));
        atomic_init(&edge->amaf, 0);
        atomic_init(&edge->child, 0);
        atomic_init(&edge->proof, (int16_t)mate);
        if (mate) proof = mate;
    }
    return proof;
}

// Gives a node its edges; false if another thread is about it or no room is left.
static bool grow(SearchThread *t, MctsNode *node, const StackEntry *ss, const Move *moves, int count) {
    MctsTree *m = t->shared->tree;
    Sprout sprouts[MAX_MOVES];
    uint64_t first = claim(&m->edge_count, (uint64_t)count, m->edge_room);
    if (first == UINT64_MAX) return false;
    sort_sprouts(t, ss, sprouts, moves, count);
    int proof = fill_edges(&t->shared->params, m->edges + first, sprouts, count);
    if (count == 0) { // mate or stalemate, which quiescence may not have seen
        atomic_store_explicit(&node->sum, 0, memory_order_relaxed);
        atomic_store_explicit(&node->value, 0, memory_order_relaxed);
        if (ss->pos.checkers) proof = -SCORE_MATE;
    }
    node->first = (uint32_t)first;
    node->count = (uint8_t)count;
    if (proof) atomic_store_explicit(&node->proof, (int16_t)proof, memory_order_relaxed);
    return true;
}

// Makes sure that a node has its edges; false if it must stay a leaf for now.
bool mctstree_grown(SearchThread *t, MctsNode *node, const StackEntry *ss) {
    uint8_t state = atomic_load_explicit(&node->state, memory_order_acquire);
    uint64_t used = atomic_load_explicit(&t->shared->tree->edge_count, memory_order_relaxed);
    if (state == MCTS_GROWN) return true;
    if (state == MCTS_GROWING || used + MAX_MOVES > t->shared->tree->edge_room ||
        !atomic_compare_exchange_strong_explicit(&node->state, &state, MCTS_GROWING, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    MoveList list;
    movegen_list(&ss->pos, &list);
    bool done = grow(t, node, ss, list.moves, list.count);
    atomic_store_explicit(&node->state, done ? MCTS_GROWN : MCTS_LEAF, memory_order_release);
    return done;
}

void mctstree_plant(MctsTree *m, SearchThread *t) {
    const StackEntry *ss = t->stack + STACK_BELOW;
    uint64_t used = atomic_load(&m->node_count);
    for (uint64_t i = 0; i < used; i++)
        if (m->nodes[i].slot != MCTS_NO_SLOT) atomic_init(&m->slots[m->nodes[i].slot], 0);
    atomic_store(&m->node_count, 1);
    atomic_store(&m->edge_count, 0);
    atomic_store(&m->playouts, 0);
    atomic_store(&m->plies, 0);
    int score = node_static(t, t->stack + STACK_BELOW);
    start_node(m->nodes, ss->pos.key, mctstree_squash(score, t->shared->params.MctsScale), 0);
    Move moves[MAX_MOVES];
    for (int i = 0; i < t->root_count; i++) moves[i] = t->root_moves[i].move;
    if (t->root_count > 0 && grow(t, m->nodes, ss, moves, t->root_count))
        atomic_store(&m->nodes->state, MCTS_GROWN);
}
