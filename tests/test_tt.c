// SPDX-License-Identifier: GPL-3.0-or-later
// engine/tt: what goes in comes out; mates keep their distance; what is worth more stays; any size; and four
// threads that write and read the same few clusters never see a mixture of two entries.
#include "engine/tt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/util.h"
#include "unity.h"

static TT Table; // each test makes it anew

void setUp(void) {
    Table = (TT){0};
    TEST_ASSERT_TRUE(tt_resize(&Table, 1));
}
void tearDown(void) { tt_free(&Table); }

// A key of a given cluster, the n-th of many.
static Key key_in(uint64_t cluster, uint64_t n) {
    unsigned __int128 first = ((unsigned __int128)cluster << 64) / Table.clusters + 1;
    return (Key)first + n * 1000003;
}

static void store_simple(Key key, Move move, int depth, int bound) {
    tt_store(&Table, key, 0, move, 7, 9, depth, bound, false);
}

static void a_fresh_table_knows_nothing(void) {
    for (uint64_t i = 0; i < 1000; i++) TEST_ASSERT_FALSE(tt_probe(&Table, random_at(1, 0, i), 0, 0).hit);
    TEST_ASSERT_FALSE_MESSAGE(tt_probe(&Table, 0, 0, 0).hit, "an empty slot must not look like key 0");
    TTEntry miss = tt_probe(&Table, 5, 0, 0);
    TEST_ASSERT_EQUAL_INT(MOVE_NONE, miss.move);
    TEST_ASSERT_EQUAL_INT(SCORE_NONE, miss.score);
    TEST_ASSERT_EQUAL_INT(SCORE_NONE, miss.eval);
    TEST_ASSERT_EQUAL_INT(BOUND_NONE, miss.bound);
}

static void every_field_comes_back(void) {
    const int scores[] = {0, 1, -1, 345, -345, SCORE_EVAL_MAX, -SCORE_EVAL_MAX, SCORE_NONE};
    const int depths[] = {TT_DEPTH_NONE, 0, 1, 17, MAX_PLY};
    const Move moves[] = {MOVE_NONE, 1, 0x7fff, 0x8000, 0xffff};
    int n = 0;
    for (size_t s = 0; s < sizeof scores / sizeof *scores; s++)
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
            for (size_t m = 0; m < sizeof moves / sizeof *moves; m++)
                for (int bound = BOUND_NONE; bound <= BOUND_EXACT; bound++) {
                    Key key = random_at(2, 0, (uint64_t)n);
                    int eval = scores[(s + 3) % 8];
                    bool pv = n++ & 1;
                    tt_store(&Table, key, 11, moves[m], scores[s], eval, depths[d], bound, pv);
                    TTEntry entry = tt_probe(&Table, key, 11, 0);
                    TEST_ASSERT_TRUE(entry.hit);
                    TEST_ASSERT_EQUAL_INT(moves[m], entry.move);
                    TEST_ASSERT_EQUAL_INT(scores[s], entry.score);
                    TEST_ASSERT_EQUAL_INT(eval, entry.eval);
                    TEST_ASSERT_EQUAL_INT(depths[d], entry.depth);
                    TEST_ASSERT_EQUAL_INT(bound, entry.bound);
                    TEST_ASSERT_EQUAL_INT(pv, entry.pv);
                }
    tt_store(&Table, 0, 0, 77, 5, 6, 3, BOUND_EXACT, false);
    TEST_ASSERT_EQUAL_INT_MESSAGE(77, tt_probe(&Table, 0, 0, 0).move, "key 0 is a key like any other");
}

static void mates_and_table_wins_keep_their_distance_from_the_node(void) {
    const int bases[] = {SCORE_MATE, SCORE_TB_WIN};
    for (int b = 0; b < 2; b++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int ply = 0; ply < 60; ply += 7)
                for (int distance = 0; distance <= 60; distance += 3)
                    for (int other = 0; other < 60; other += 11) {
                        Key key = random_at(3, (uint64_t)(b * 2 + (sign > 0)),
                                            (uint64_t)(ply * 10000 + distance * 100 + other));
                        tt_store(&Table, key, ply, 1, sign * (bases[b] - ply - distance), 0, 5, BOUND_EXACT,
                                 false);
                        TTEntry entry = tt_probe(&Table, key, other, 0);
                        TEST_ASSERT_EQUAL_INT(sign * (bases[b] - other - distance), entry.score);
                    }
}

static void wins_that_the_fifty_move_rule_may_stop_are_no_proof(void) {
    const int bases[] = {SCORE_MATE, SCORE_TB_WIN};
    for (int b = 0; b < 2; b++)
        for (int distance = 0; distance <= 30; distance++) {
            Key key = random_at(4, (uint64_t)b, (uint64_t)distance);
            tt_store(&Table, key, 4, 1, bases[b] - 4 - distance, 0, 5, BOUND_EXACT, false);
            for (int rule50 = 0; rule50 <= 100; rule50++) {
                int score = tt_probe(&Table, key, 2, rule50).score;
                TEST_ASSERT_EQUAL_INT(distance + rule50 <= 100 ? bases[b] - 2 - distance : SCORE_EVAL_MAX,
                                      score);
            }
            tt_store(&Table, ~key, 4, 1, -(bases[b] - 4 - distance), 0, 5, BOUND_EXACT, false);
            TEST_ASSERT_EQUAL_INT(-SCORE_EVAL_MAX, tt_probe(&Table, ~key, 2, 101 - distance).score);
        }
}

static void a_score_never_leaves_its_class_by_being_read_deep_in_the_tree(void) {
    tt_store(&Table, 99, 0, 1, SCORE_TB_WIN - 90, 0, 5, BOUND_EXACT, false);
    TEST_ASSERT_EQUAL_INT(SCORE_EVAL_MAX, tt_probe(&Table, 99, MAX_PLY - 1, 0).score);
    tt_store(&Table, 98, 0, 1, SCORE_MATE - 90, 0, 5, BOUND_EXACT, false);
    TEST_ASSERT_FALSE(score_is_mate(tt_probe(&Table, 98, MAX_PLY - 1, 0).score));
}

static void a_missing_move_leaves_the_old_one(void) {
    store_simple(50, 123, 5, BOUND_LOWER);
    store_simple(50, MOVE_NONE, 9, BOUND_UPPER);
    TTEntry entry = tt_probe(&Table, 50, 0, 0);
    TEST_ASSERT_EQUAL_INT(123, entry.move);
    TEST_ASSERT_EQUAL_INT(9, entry.depth);
    store_simple(50, 321, 9, BOUND_UPPER);
    TEST_ASSERT_EQUAL_INT(321, tt_probe(&Table, 50, 0, 0).move);
}

static void a_much_shallower_bound_does_not_overwrite(void) {
    store_simple(60, 1, 10, BOUND_LOWER);
    store_simple(60, 2, 6, BOUND_UPPER);
    TTEntry entry = tt_probe(&Table, 60, 0, 0);
    TEST_ASSERT_EQUAL_INT(10, entry.depth);
    TEST_ASSERT_EQUAL_INT(BOUND_LOWER, entry.bound);
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, entry.move, "the newer move is taken all the same");
    store_simple(60, 3, 7, BOUND_UPPER);
    TEST_ASSERT_EQUAL_INT_MESSAGE(7, tt_probe(&Table, 60, 0, 0).depth, "within the slack it does");
    store_simple(61, 1, 10, BOUND_LOWER);
    tt_store(&Table, 61, 0, 1, 7, 9, 4, BOUND_UPPER, true);
    TEST_ASSERT_EQUAL_INT_MESSAGE(10, tt_probe(&Table, 61, 0, 0).depth,
                                  "a principal variation counts two plies");
    tt_store(&Table, 61, 0, 1, 7, 9, 5, BOUND_UPPER, true);
    TEST_ASSERT_EQUAL_INT(5, tt_probe(&Table, 61, 0, 0).depth);
    store_simple(62, 1, 10, BOUND_LOWER);
    store_simple(62, 1, 2, BOUND_EXACT);
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, tt_probe(&Table, 62, 0, 0).depth, "an exact score always overwrites");
    store_simple(63, 1, 10, BOUND_LOWER);
    tt_new_search(&Table);
    store_simple(63, 1, 2, BOUND_UPPER);
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, tt_probe(&Table, 63, 0, 0).depth,
                                  "an older search's entry is overwritten");
}

static void the_least_worthy_of_a_cluster_goes(void) {
    const int depths[TT_CLUSTER] = {12, 3, 9, 5};
    for (uint64_t i = 0; i < TT_CLUSTER; i++) store_simple(key_in(100, i), 1, depths[i], BOUND_LOWER);
    for (uint64_t i = 0; i < TT_CLUSTER; i++) TEST_ASSERT_TRUE(tt_probe(&Table, key_in(100, i), 0, 0).hit);
    store_simple(key_in(100, 10), 1, 1, BOUND_LOWER);
    TEST_ASSERT_TRUE(tt_probe(&Table, key_in(100, 10), 0, 0).hit);
    TEST_ASSERT_FALSE_MESSAGE(tt_probe(&Table, key_in(100, 1), 0, 0).hit, "depth 3 was the lowest");
    for (uint64_t i = 0; i < TT_CLUSTER; i++)
        TEST_ASSERT_EQUAL_INT(i != 1, tt_probe(&Table, key_in(100, i), 0, 0).hit);
}

static void an_old_entry_goes_before_a_shallow_one_of_today(void) {
    store_simple(key_in(200, 0), 1, 12, BOUND_LOWER);
    tt_new_search(&Table);
    tt_new_search(&Table); // 12 - 8 x 2 < 1
    for (uint64_t i = 1; i < TT_CLUSTER; i++) store_simple(key_in(200, i), 1, 1, BOUND_LOWER);
    store_simple(key_in(200, 9), 1, 1, BOUND_LOWER);
    TEST_ASSERT_FALSE(tt_probe(&Table, key_in(200, 0), 0, 0).hit);
    for (uint64_t i = 1; i < TT_CLUSTER; i++) TEST_ASSERT_TRUE(tt_probe(&Table, key_in(200, i), 0, 0).hit);
    // Generations are five bits: after 32 searches an entry looks fresh again, after 31 as old as can be.
    TEST_ASSERT_EQUAL_INT(2, Table.generation);
    for (int i = 0; i < 32; i++) tt_new_search(&Table);
    TEST_ASSERT_EQUAL_INT(2, Table.generation);
}

static void any_size_works_and_its_clusters_are_all_used(void) {
    const int sizes[] = {1, 2, 3, 5, 7, 33, 70};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        TEST_ASSERT_TRUE(tt_resize(&Table, sizes[s]));
        TEST_ASSERT_EQUAL_UINT64((uint64_t)sizes[s] << 20, Table.bytes);
        TEST_ASSERT_EQUAL_UINT64(Table.bytes, Table.clusters * TT_CLUSTER * sizeof(TTSlot));
        TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)Table.slots % 64);
        store_simple(0, 1, 5, BOUND_EXACT);
        store_simple(UINT64_MAX, 2, 5, BOUND_EXACT);
        TEST_ASSERT_EQUAL_INT(2, tt_probe(&Table, UINT64_MAX, 0, 0).move);
        TEST_ASSERT_EQUAL_UINT64(2,
                                 atomic_load(&Table.slots[(Table.clusters - 1) * TT_CLUSTER].data) & 0xffff);
        TEST_ASSERT_EQUAL_UINT64(1, atomic_load(&Table.slots[0].data) & 0xffff);
    }
}

static void a_table_that_cannot_be_had_leaves_the_old_one(void) {
    store_simple(70, 9, 5, BOUND_EXACT);
    TTSlot *slots = Table.slots;
    TEST_ASSERT_FALSE(tt_resize(&Table, 1 << 28)); // 256 TB
    TEST_ASSERT_EQUAL_PTR(slots, Table.slots);
    TEST_ASSERT_EQUAL_INT(9, tt_probe(&Table, 70, 0, 0).move);
}

static void clearing_reaches_every_byte_with_any_number_of_threads(void) {
    const int threads[] = {1, 2, 3, 7, 1000};
    TEST_ASSERT_TRUE(tt_resize(&Table, 97));
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        memset((void *)Table.slots, 0x5a, Table.bytes);
        Table.generation = 3;
        tt_clear(&Table, threads[t]);
        const char *bytes = (const char *)Table.slots;
        TEST_ASSERT_TRUE(bytes[0] == 0 && memcmp(bytes, bytes + 1, Table.bytes - 1) == 0);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, Table.generation, "a cleared table is as new");
    }
}

static void hashfull_counts_what_this_search_wrote(void) {
    TEST_ASSERT_EQUAL_INT(0, tt_hashfull(&Table));
    uint64_t entries = Table.clusters * TT_CLUSTER;
    for (uint64_t i = 0; i < entries / 2; i++) store_simple(random_at(5, 0, i), 1, 4, BOUND_LOWER);
    TEST_ASSERT_INT_WITHIN(60, 450,
                           tt_hashfull(&Table)); // half as many keys as slots: some clusters overflow
    for (uint64_t i = 0; i < entries * 8; i++) store_simple(random_at(6, 0, i), 1, 4, BOUND_LOWER);
    TEST_ASSERT_EQUAL_INT(1000, tt_hashfull(&Table));
    tt_new_search(&Table);
    TEST_ASSERT_EQUAL_INT(0, tt_hashfull(&Table));
}

// --- four threads on 64 clusters: every field of an entry is a function of its key.
enum { HAMMER_KEYS = 2048, HAMMER_ROUNDS = 400000, HAMMER_THREADS = 4 };

typedef struct Hammer {
    pthread_t thread;
    uint64_t number, hits, torn;
} Hammer;

static Key hammer_key(uint64_t n) { return key_in(n % 64, 1 + n / 64); }

static void *hammer(void *context) {
    Hammer *me = context;
    for (uint64_t i = 0; i < HAMMER_ROUNDS; i++) {
        uint64_t random = random_at(7, me->number, i);
        Key key = hammer_key(random % HAMMER_KEYS);
        uint64_t f = mix64(key);
        Move move = (Move)(f | 1);
        int score = (int)(f >> 16 & 8191) - 4096, eval = (int)(f >> 29 & 8191) - 4096;
        int depth = (int)(f >> 42 & 63), bound = (int)(f >> 48 & 3);
        bool pv = f >> 50 & 1;
        if (random >> 60 & 1) {
            tt_store(&Table, key, 3, move, score, eval, depth, bound, pv);
        } else {
            TTEntry entry = tt_probe(&Table, key, 3, 0);
            if (!entry.hit) continue;
            me->hits++;
            me->torn += entry.move != move || entry.score != score || entry.eval != eval ||
                        entry.depth != depth || entry.bound != bound || entry.pv != pv;
        }
    }
    return NULL;
}

static void four_threads_never_see_a_torn_entry(void) {
    Hammer hammers[HAMMER_THREADS] = {0};
    for (uint64_t i = 0; i < HAMMER_THREADS; i++) {
        hammers[i].number = i;
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]));
    }
    uint64_t hits = 0, torn = 0;
    for (int i = 0; i < HAMMER_THREADS; i++) {
        pthread_join(hammers[i].thread, NULL);
        hits += hammers[i].hits;
        torn += hammers[i].torn;
    }
    TEST_ASSERT_EQUAL_UINT64(0, torn);
    TEST_ASSERT_TRUE_MESSAGE(hits > HAMMER_ROUNDS / 20, "the readers must have had something to read");
}

// The same by hand: whatever words two writers leave in a slot, a mixture is no hit.
static void a_mixture_of_two_writes_is_a_miss(void) {
    TTSlot *slot = Table.slots;
    store_simple(key_in(0, 1), 11, 5, BOUND_EXACT);
    uint64_t data = atomic_load(&slot->data), check = atomic_load(&slot->check);
    tt_clear(&Table, 1);
    store_simple(key_in(0, 2), 22, 6, BOUND_EXACT);
    uint64_t data2 = atomic_load(&slot->data), check2 = atomic_load(&slot->check);
    TEST_ASSERT_TRUE(data != data2 && check != check2);
    for (int mix = 0; mix < 2; mix++) {
        atomic_store(&slot->data, mix ? data : data2);
        atomic_store(&slot->check, mix ? check2 : check);
        TEST_ASSERT_FALSE(tt_probe(&Table, key_in(0, 1), 0, 0).hit);
        TEST_ASSERT_FALSE(tt_probe(&Table, key_in(0, 2), 0, 0).hit);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_fresh_table_knows_nothing);
    RUN_TEST(every_field_comes_back);
    RUN_TEST(mates_and_table_wins_keep_their_distance_from_the_node);
    RUN_TEST(wins_that_the_fifty_move_rule_may_stop_are_no_proof);
    RUN_TEST(a_score_never_leaves_its_class_by_being_read_deep_in_the_tree);
    RUN_TEST(a_missing_move_leaves_the_old_one);
    RUN_TEST(a_much_shallower_bound_does_not_overwrite);
    RUN_TEST(the_least_worthy_of_a_cluster_goes);
    RUN_TEST(an_old_entry_goes_before_a_shallow_one_of_today);
    RUN_TEST(any_size_works_and_its_clusters_are_all_used);
    RUN_TEST(a_table_that_cannot_be_had_leaves_the_old_one);
    RUN_TEST(clearing_reaches_every_byte_with_any_number_of_threads);
    RUN_TEST(hashfull_counts_what_this_search_wrote);
    RUN_TEST(a_mixture_of_two_writes_is_a_miss);
    RUN_TEST(four_threads_never_see_a_torn_entry);
    return UNITY_END();
}
