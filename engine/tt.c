// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/util.h"

// The data word: move (bits 0-15), score (16-31), evaluation (32-47), depth + 2 (48-55, 0 for an empty slot),
// bound (56-57), pv (58), generation (59-63).
enum { DEPTH_OFFSET = 2, GENERATIONS = 32 };
enum {
    SHIFT_SCORE = 16,
    SHIFT_EVAL = 32,
    SHIFT_DEPTH = 48,
    SHIFT_BOUND = 56,
    SHIFT_PV = 58,
    SHIFT_GENERATION = 59
};

// An entry loses worth by this many plies a search; a stored depth must be beaten to within OVERWRITE_SLACK.
enum { AGE_WEIGHT = 8, OVERWRITE_SLACK = 4, OVERWRITE_PV = 2 };

enum {
    CLUSTER_BYTES = TT_CLUSTER * sizeof(TTSlot),
    HUGE_PAGE = 1 << 21,
    SMALL_PAGE = 1 << 12,
    CLEAR_THREADS = 64
};

_Static_assert(CLUSTER_BYTES == 64, "a cluster is one cache line");

static inline uint64_t pack(Move move, int score, int eval, int depth, int bound, bool pv, int generation) {
    return (uint64_t)move | (uint64_t)(uint16_t)score << SHIFT_SCORE |
           (uint64_t)(uint16_t)eval << SHIFT_EVAL | (uint64_t)(depth + DEPTH_OFFSET) << SHIFT_DEPTH |
           (uint64_t)bound << SHIFT_BOUND | (uint64_t)pv << SHIFT_PV |
           (uint64_t)generation << SHIFT_GENERATION;
}

static inline Move data_move(uint64_t data) { return (Move)data; }
static inline int data_score(uint64_t data) { return (int16_t)(uint16_t)(data >> SHIFT_SCORE); }
static inline int data_eval(uint64_t data) { return (int16_t)(uint16_t)(data >> SHIFT_EVAL); }
static inline int data_depth(uint64_t data) { return (int)(uint8_t)(data >> SHIFT_DEPTH) - DEPTH_OFFSET; }
static inline int data_bound(uint64_t data) { return (int)(data >> SHIFT_BOUND & 3); }
static inline bool data_pv(uint64_t data) { return data >> SHIFT_PV & 1; }
static inline int data_generation(uint64_t data) { return (int)(data >> SHIFT_GENERATION); }
static inline bool data_empty(uint64_t data) { return (uint8_t)(data >> SHIFT_DEPTH) == 0; }

static inline int data_age(const TT *tt, uint64_t data) {
    return (tt->generation - data_generation(data) + GENERATIONS) % GENERATIONS;
}

static inline TTSlot *cluster_of(const TT *tt, Key key) {
    return &tt->slots[(uint64_t)((unsigned __int128)key * tt->clusters >> 64) * TT_CLUSTER];
}

// A score counted from the root becomes one counted from the node at ply.
static int score_to_node(int score, int ply) {
    if (score == SCORE_NONE) return score;
    return score_is_win(score) ? score + ply : score_is_loss(score) ? score - ply : score;
}

// The way back. A win that needs more plies than the fifty-move rule leaves is no proof: it comes out as the
// best score that is none.
static int score_from_node(int score, int ply, int rule50) {
    if (score == SCORE_NONE || !score_is_decisive(score)) return score;
    int size = abs(score), plies = (size >= SCORE_MATE_IN_MAX ? SCORE_MATE : SCORE_TB_WIN) - size;
    int seen = plies > 100 - rule50 || size - ply < SCORE_TB_WIN_IN_MAX ? SCORE_EVAL_MAX : size - ply;
    return score > 0 ? seen : -seen;
}

// One thread's share of a clearing.
typedef struct ClearPart {
    char *from;
    size_t bytes;
    pthread_t thread;
    bool running;
} ClearPart;

static void *clear_part(void *context) {
    ClearPart *part = context;
    memset(part->from, 0, part->bytes);
    return NULL;
}

void tt_clear(TT *tt, int threads) {
    enum { WORTH_A_THREAD = 32 << 20 };
    int parts = int_clamp((int)(tt->bytes / WORTH_A_THREAD), 1, int_clamp(threads, 1, CLEAR_THREADS));
    ClearPart part[CLEAR_THREADS];
    size_t step = tt->bytes / (size_t)parts & ~(size_t)(SMALL_PAGE - 1);
    for (int i = 0; i < parts; i++) {
        size_t from = step * (size_t)i, to = i + 1 < parts ? from + step : tt->bytes;
        part[i] = (ClearPart){.from = (char *)tt->slots + from, .bytes = to - from};
        part[i].running = i > 0 && pthread_create(&part[i].thread, NULL, clear_part, &part[i]) == 0;
    }
    for (int i = 0; i < parts; i++)
        if (!part[i].running) clear_part(&part[i]);
    for (int i = 0; i < parts; i++)
        if (part[i].running) pthread_join(part[i].thread, NULL);
    tt->generation = 0;
}

bool tt_resize(TT *tt, int megabytes) {
    uint64_t bytes = (uint64_t)int_max(megabytes, 1) << 20;
    uint64_t page = bytes >= HUGE_PAGE ? HUGE_PAGE : SMALL_PAGE, room = (bytes + page - 1) / page * page;
    // The kernel would promise more than there is and end the process when it is used.
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (room > memory) return false;
    TTSlot *slots = aligned_alloc(page, room);
    if (!slots) return false;
#ifdef MADV_HUGEPAGE
    if (page == HUGE_PAGE) madvise(slots, room, MADV_HUGEPAGE); // a wish: without it the table is only slower
#endif
    free(tt->slots);
    *tt = (TT){.slots = slots, .clusters = bytes / CLUSTER_BYTES, .bytes = bytes};
    tt_clear(tt, (int)sysconf(_SC_NPROCESSORS_ONLN));
    return true;
}

void tt_free(TT *tt) {
    free(tt->slots);
    *tt = (TT){0};
}

void tt_new_search(TT *tt) { tt->generation = (uint8_t)((tt->generation + 1) % GENERATIONS); }

TTEntry tt_probe(const TT *tt, Key key, int ply, int rule50) {
    TTSlot *cluster = cluster_of(tt, key);
    for (int i = 0; i < TT_CLUSTER; i++) {
        uint64_t data = atomic_load_explicit(&cluster[i].data, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&cluster[i].check, memory_order_relaxed);
        if ((check ^ data) != key || data_empty(data)) continue;
        return (TTEntry){
            .hit = true,
            .move = data_move(data),
            .score = score_from_node(data_score(data), ply, rule50),
            .eval = data_eval(data),
            .depth = data_depth(data),
            .bound = data_bound(data),
            .pv = data_pv(data),
        };
    }
    return (TTEntry){.score = SCORE_NONE, .eval = SCORE_NONE, .depth = TT_DEPTH_NONE};
}

void tt_store(TT *tt, Key key, int ply, Move move, int score, int eval, int depth, int bound, bool pv) {
    assert(depth >= TT_DEPTH_NONE && depth + DEPTH_OFFSET <= UINT8_MAX);
    TTSlot *cluster = cluster_of(tt, key), *slot = NULL;
    uint64_t old = 0;
    bool same = false;
    int least = INT32_MAX;
    for (int i = 0; i < TT_CLUSTER; i++) {
        uint64_t data = atomic_load_explicit(&cluster[i].data, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&cluster[i].check, memory_order_relaxed);
        bool empty = data_empty(data);
        same = !empty && (check ^ data) == key;
        int worth = empty ? INT32_MIN : data_depth(data) - AGE_WEIGHT * data_age(tt, data);
        if (same || worth < least) {
            least = worth;
            slot = &cluster[i];
            old = data;
        }
        if (same) break;
    }
    uint64_t data = pack(move, score_to_node(score, ply), eval, depth, bound, pv, tt->generation);
    if (same) {
        if (move == MOVE_NONE) data |= data_move(old);
        bool worthy = bound == BOUND_EXACT || data_age(tt, old) != 0 ||
                      depth + OVERWRITE_PV * pv > data_depth(old) - OVERWRITE_SLACK;
        if (!worthy) data = (old & ~(uint64_t)UINT16_MAX) | data_move(data);
    }
    atomic_store_explicit(&slot->data, data, memory_order_relaxed);
    atomic_store_explicit(&slot->check, key ^ data, memory_order_relaxed);
}

int tt_hashfull(const TT *tt) {
    enum { SAMPLE = 1000 };
    int full = 0;
    for (int i = 0; i < SAMPLE; i++) {
        uint64_t data = atomic_load_explicit(&tt->slots[i].data, memory_order_relaxed);
        full += !data_empty(data) && data_age(tt, data) == 0;
    }
    return full;
}
