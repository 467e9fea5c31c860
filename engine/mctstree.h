// SPDX-License-Identifier: GPL-3.0-or-later
// The tree of a Monte-Carlo search: nodes are positions, edges their moves, and a table finds a node by its
// position. All of it lies in memory that is set aside beforehand; threads add to it without locks. Values
// are integers in units of 1/MCTS_ONE, from the side to move, so that sums are exact in any order.
#pragma once

#include "engine/search.h"

enum { MCTS_ONE = 1 << 20 }; // the value of a win

#define MCTS_NO_SLOT UINT32_MAX

// A legal move of a node.
typedef struct MctsEdge {
    _Atomic uint64_t stat;  // visits (bits 0-31), value to the mover (32-53), playouts under way (54-63)
    _Atomic uint32_t amaf;  // the same of all moves as first: visits (bits 0-9), value (10-31)
    _Atomic uint32_t child; // the node it leads to, or 0
    Move move;
    uint16_t prior;        // how promising it looked, in 1/65536
    _Atomic int16_t proof; // the proven score to the mover, or 0
} MctsEdge;

// What a node's edges are doing.
enum { MCTS_LEAF, MCTS_GROWING, MCTS_GROWN };

// A position of the tree; number 0 is the root.
typedef struct MctsNode {
    Key key;
    _Atomic int64_t sum;     // its own value when it was new, and visits x value of each edge
    _Atomic uint32_t visits; // 1 and those of its edges
    _Atomic int32_t value;   // what these make it worth by now
    uint32_t slot;           // where the table holds it, or MCTS_NO_SLOT
    uint32_t first;          // its edges, once MCTS_GROWN
    _Atomic int16_t proof;   // the proven score, or 0
    _Atomic uint8_t state;
    uint8_t count;
} MctsNode;

_Static_assert(sizeof(MctsNode) == 40 && sizeof(MctsEdge) == 24, "memory is counted in these");

// A tree with all its memory; the threads of a search grow it together.
typedef struct MctsTree {
    int wanted; // megabytes asked for
    uint32_t node_room, slot_count;
    uint64_t edge_room;
    MctsNode *nodes;
    MctsEdge *edges;
    _Atomic uint32_t *slots; // node numbers by key, 0 for none; no more than half are ever taken
    _Atomic uint64_t node_count, edge_count;
    _Atomic uint64_t playouts, plies; // of this search
} MctsTree;

// How far a tree has grown.
typedef struct MctsTreeUse {
    uint64_t nodes, node_room; // positions held, and how many there is room for
    uint64_t edges, edge_room; // moves held, and how many there is room for
    uint64_t bytes;            // what was set aside in all
} MctsTreeUse;

// An empty tree within so many megabytes, or within half as many for as long as memory does not suffice; NULL
// if there is not even room for one.
MctsTree *mctstree_create(int megabytes);

// Gives the memory back; NULL is harmless.
void mctstree_destroy(MctsTree *tree);

// The megabytes that a tree was asked to have; 0 for NULL.
int mctstree_megabytes(const MctsTree *tree);

// Owner only: forgets all nodes and makes the position of a thread's root the new node 0, with the root moves
// as its edges.
void mctstree_plant(MctsTree *tree, SearchThread *thread);

// How far a tree has grown; not while a search runs.
MctsTreeUse mctstree_use(const MctsTree *tree);

// Any thread: how full the tree is, in permille. Once it is full, playouts go on but nothing new is kept.
int mctstree_permille(const MctsTree *tree);

// What tells positions apart: near the fifty-move rule, its counter too.
Key mctstree_key(const Position *pos);

// Any thread: the node of a position, or 0.
uint32_t mctstree_find(const MctsTree *tree, Key key);

// Any thread: a new node for a position, or the one that another thread has just put there if nodes are
// shared; 0 if there is no room.
uint32_t mctstree_add(MctsTree *tree, Key key, int value, int proof, bool shared);

// Any thread: makes sure that a node has its edges, the most promising first; false if it must stay a leaf
// for now. A mate in one is proven at once, and so are mate and stalemate.
bool mctstree_grown(SearchThread *thread, MctsNode *node, const StackEntry *ss);

// Whether the side to move can mate at once.
bool mctstree_has_mate(const Position *pos);

// Centipawns to a value by the logistic, with so many centipawns to the unit.
int mctstree_squash(int score, int scale);

// The way back: the centipawns whose value is nearest.
int mctstree_unsquash(int value, int scale);

// The parts of MctsEdge.stat, and how they are put together.
#define MCTS_UNDER_WAY (1ull << 54)
static inline uint32_t mctstree_visits(uint64_t stat) { return (uint32_t)stat; }
static inline int mctstree_value(uint64_t stat) { return (int)((int64_t)(stat << 10) >> 42); }
static inline int mctstree_under_way(uint64_t stat) { return (int)(stat >> 54); }
static inline uint64_t mctstree_stat(uint32_t visits, int value, uint64_t under_way) {
    return (uint64_t)visits | ((uint64_t)(uint32_t)value & 0x3fffff) << 32 | under_way << 54;
}

// What an edge knows, and what is proven, at this moment.
static inline uint64_t mctstree_load(const MctsEdge *edge) {
    return atomic_load_explicit(&edge->stat, memory_order_relaxed);
}
static inline int mctstree_proof(const _Atomic int16_t *proof) {
    return atomic_load_explicit(proof, memory_order_relaxed);
}

// The value of a node to its side to move.
static inline int mctstree_node_value(const MctsNode *node) {
    int proof = mctstree_proof(&node->proof);
    if (proof) return proof > 0 ? MCTS_ONE : -MCTS_ONE;
    return atomic_load_explicit(&node->value, memory_order_relaxed);
}
