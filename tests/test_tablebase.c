// SPDX-License-Identifier: GPL-3.0-or-later
// engine/tablebase and engine/tablefile: damaged files are refused, and what the tables say agrees with
// Debian's program `fathom` and with our own solver. Needs the tables of three and four men in
// $HONE_SHARED/data/syzygy (or ../shared).
#include "engine/tablebase.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/endgame.h"
#include "engine/notation.h"
#include "engine/tablefile.h"
#include "tests/placing.h"
#include "unity.h"

static char Tables[512];
static char Path[520]; // the same with empty directories around it, which the library could not take

void setUp(void) {}
void tearDown(void) {}

static bool long_run(void) { return getenv("HONE_LONG") != NULL; }

static void need_tables(void) {
    if (access(Tables, R_OK)) TEST_IGNORE_MESSAGE("skipped: no shared data");
}

static void need_open(void) {
    Error error = {0};
    need_tables();
    TEST_ASSERT_TRUE_MESSAGE(tablebase_open(Path, &error), error.text);
}

// ---- files ------------------------------------------------------------------------------------------------

static void names_of_tables_are_recognised(void) {
    TEST_ASSERT_EQUAL_INT(TABLEFILE_WDL, tablefile_kind("KQvKR.rtbw"));
    TEST_ASSERT_EQUAL_INT(TABLEFILE_DTZ, tablefile_kind("KPPvKPP.rtbz"));
    TEST_ASSERT_EQUAL_INT(TABLEFILE_WDL, tablefile_kind("KQRBNPvK.rtbw"));
    static const char *const Other[] = {"",
                                        ".",
                                        "..",
                                        "KQvKR",
                                        "KQvKR.rtbm",
                                        "KQKR.rtbw",
                                        "QvK.rtbw",
                                        "KvK.rtbw",
                                        "KQRBNPPvK.rtbw",
                                        "KXvK.rtbw",
                                        "KQvKRvK.rtbw",
                                        "KQvR.rtbw",
                                        "readme.txt",
                                        "KQvKR.rtbw.part"};
    for (size_t i = 0; i < sizeof Other / sizeof *Other; i++)
        TEST_ASSERT_EQUAL_INT_MESSAGE(TABLEFILE_NONE, tablefile_kind(Other[i]), Other[i]);
}

static void write_file(const char *directory, const char *name, const char *data, size_t size) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    TEST_ASSERT_NOT_NULL(file);
    TEST_ASSERT_EQUAL_UINT(size, fwrite(data, 1, size, file));
    fclose(file);
}

static void remove_file(const char *directory, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
}

// A path is refused, and the reason holds a text.
static void refused(const char *path, const char *reason) {
    Error error = {0};
    TEST_ASSERT_FALSE_MESSAGE(tablebase_open(path, &error), path);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, reason), error.text);
    TEST_ASSERT_NULL(strchr(error.text, '\n'));
    TEST_ASSERT_EQUAL_INT(0, tablebase_info().largest);
}

static void damaged_files_are_refused_with_a_reason(void) {
    need_tables();
    char directory[] = "/tmp/hone_tables_XXXXXX", path[600];
    Error error = {0};
    size_t size;
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/KRvKN.rtbw", Tables);
    char *data = file_read(path, &size, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(data, error.text);
    static const char Name[] = "KRvKN.rtbw";
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 997) { // every way to lose the end
        if (cut == 0) continue;
        write_file(directory, Name, data, size - cut);
        refused(directory, Name);
    }
    int flips = long_run() ? 2000 : 200;
    for (int i = 0; i < flips; i++) { // anywhere, the header, the body and the checksum itself
        size_t bit = (size_t)random_below(random_at(1, 1, (uint64_t)i), i % 2 ? 8 * size : 8 * 200);
        data[bit / 8] ^= (char)(1 << bit % 8);
        write_file(directory, Name, data, size);
        refused(directory, Name);
        data[bit / 8] ^= (char)(1 << bit % 8);
    }
    write_file(directory, "KRvKN.rtbz", data, size); // one kind under the name of the other
    write_file(directory, Name, data, size);
    refused(directory, "not a Syzygy DTZ table");
    free(data);
    remove_file(directory, "KRvKN.rtbz");
    remove_file(directory, Name);
    rmdir(directory);
}

// Beyond 16 MB no checksum is compared: then the library breaks, but in the child only.
static void a_file_that_breaks_the_library_is_refused(void) {
    char directory[] = "/tmp/hone_tables_XXXXXX", path[600];
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    char start[4096] = "\x71\xe8\x23\x5d";
    for (size_t i = 4; i < sizeof start; i++) start[i] = (char)random_at(2, 2, i);
    write_file(directory, "KRvKN.rtbw", start, sizeof start);
    snprintf(path, sizeof path, "%s/KRvKN.rtbw", directory);
    TEST_ASSERT_EQUAL_INT(0, truncate(path, (17 << 20) + 16));
    refused(directory, "KRvKN are damaged");
    remove_file(directory, "KRvKN.rtbw");
    rmdir(directory);
}

static void paths_without_tables_are_refused(void) {
    char directory[] = "/tmp/hone_tables_XXXXXX";
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    refused("/no/such/directory", "No such file");
    refused(directory, "no Syzygy tables");
    refused("::", "no Syzygy tables");
    rmdir(directory);
}

static void one_path_a_process(void) {
    Error error = {0};
    need_open();
    TablebaseInfo info = tablebase_info();
    TEST_ASSERT_EQUAL_INT(35, info.wdl_files);
    TEST_ASSERT_EQUAL_INT(35, info.dtz_files);
    TEST_ASSERT_EQUAL_INT(4, info.largest);
    TEST_ASSERT_TRUE(tablebase_open(Path, &error));
    TEST_ASSERT_FALSE(tablebase_open("/tmp", &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "one path"));
}

// ---- agreement --------------------------------------------------------------------------------------------

static void check_wdl(const EndgameSet *set, const Position *pos) {
    char fen[FEN_SIZE];
    position_to_fen(pos, fen);
    EndgameResult solved = endgame_probe(set, pos);
    TEST_ASSERT_TRUE_MESSAGE(solved.known, fen);
    TEST_ASSERT_EQUAL_INT_MESSAGE(2 * solved.wdl, tablebase_wdl(pos), fen); // no cursed wins with four men
}

static void three_men_agree_with_the_solver(void) {
    need_open();
    const EndgameSet *set = endgame_open();
    int step = long_run() ? 1 : 13, checked = 0;
    for (int m = 0; m < THREE_MEN; m++) {
        uint8_t type = (uint8_t)(strchr("PNBRQ", ThreeMen[m][1]) - "PNBRQ");
        uint8_t pieces[3] = {(uint8_t)piece_make(WHITE, KING), (uint8_t)piece_make(BLACK, KING)};
        for (int i = 0; i < 4 * SQUARES * SQUARES * SQUARES; i += step) {
            int squares[3] = {i & 63, i >> 6 & 63, i >> 12 & 63};
            Position pos;
            pieces[2] = (uint8_t)(piece_make(WHITE, type) ^ i >> 19);
            if (!placing_make(&pos, pieces, squares, 3, i >> 18 & 1, NO_SQUARE)) continue;
            check_wdl(set, &pos);
            checked++;
        }
    }
    printf("three men: %d positions agree with the solver\n", checked);
    TEST_ASSERT_GREATER_THAN(3000000 / step, checked);
}

static void four_men_agree_with_the_solver(void) {
    need_open();
    if (!long_run()) TEST_IGNORE_MESSAGE("skipped: HONE_LONG=1 builds all tables");
    const EndgameSet *set = endgame_open();
    Error error = {0};
    int ep = 0, count = 4000;
    for (int m = 0; m < FOUR_MEN; m++) {
        EndgameMaterial material;
        TEST_ASSERT_TRUE(endgame_parse(FourMen[m], &material, &error));
        TEST_ASSERT_TRUE_MESSAGE(endgame_extend(&material, &error), error.text);
        for (int i = 0; i < count; i++) {
            Position pos;
            placing_random(&pos, FourMen[m], 7, (uint64_t)i);
            check_wdl(set, &pos);
            ep += pos.ep != NO_SQUARE;
        }
    }
    printf("four men: %d positions agree with the solver, %d of them with en passant\n", FOUR_MEN * count,
           ep);
    TEST_ASSERT_GREATER_THAN(10, ep);
}

// Runs Debian's program on a position; its WDL and DTZ as numbers, DTZ without a sign.
static bool ask_fathom(const char *fen, int *wdl, int *dtz) {
    static const char *const Names[] = {"Loss", "BlessedLoss", "Draw", "CursedWin", "Win"};
    char command[900], line[600], word[32];
    snprintf(command, sizeof command, "/usr/games/fathom '--path=%s' '%s'", Tables, fen);
    FILE *pipe = popen(command, "r");
    if (!pipe) return false;
    int found = 0;
    while (fgets(line, sizeof line, pipe)) {
        found += sscanf(line, "[DTZ \"%d\"", dtz) == 1;
        if (sscanf(line, "[WDL \"%31[A-Za-z]", word) != 1) continue;
        for (int i = 0; i < 5; i++)
            if (!strcmp(word, Names[i])) *wdl = i - 2, found++;
    }
    pclose(pipe);
    return found == 2;
}

static void wdl_and_dtz_agree_with_fathom(void) {
    need_open();
    if (access("/usr/games/fathom", X_OK))
        TEST_IGNORE_MESSAGE("skipped: the program fathom is not installed");
    int count = long_run() ? 5000 : 30, decisive = 0;
    for (int i = 0; i < count; i++) {
        Position pos;
        char fen[FEN_SIZE];
        int wdl = 0, dtz = 0, found;
        for (uint64_t k = 0;; k++) { // mates and stalemates have no DTZ
            uint64_t number = random_below(random_at(8, (uint64_t)i, k), FOUR_MEN + THREE_MEN);
            placing_random(&pos, number < FOUR_MEN ? FourMen[number] : ThreeMen[number - FOUR_MEN], 8,
                           (uint64_t)i + 100000 * k);
            if (movegen_any(&pos)) break;
        }
        position_to_fen(&pos, fen);
        TEST_ASSERT_TRUE_MESSAGE(ask_fathom(fen, &wdl, &dtz), fen);
        TEST_ASSERT_EQUAL_INT_MESSAGE(wdl, tablebase_wdl(&pos), fen);
        TEST_ASSERT_TRUE_MESSAGE(tablebase_dtz(&pos, &found), fen);
        TEST_ASSERT_EQUAL_INT_MESSAGE(wdl < 0 ? -dtz : dtz, found, fen);
        decisive += wdl != 0;
    }
    printf("fathom: %d positions agree, %d of them not drawn\n", count, decisive);
    TEST_ASSERT_GREATER_THAN(count / 3, decisive);
}

// ---- the root ---------------------------------------------------------------------------------------------

static int best_of(const TablebaseRanks *ranks) {
    int best = 0;
    for (int i = 1; i < ranks->count; i++)
        if (ranks->rank[i] > ranks->rank[best]) best = i;
    return best;
}

static void ranks_keep_the_result(void) {
    need_open();
    for (int i = 0; i < 3000; i++) {
        Position pos, after;
        TablebaseRanks ranks;
        placing_random(&pos, FourMen[i % FOUR_MEN], 9, (uint64_t)i);
        TEST_ASSERT_TRUE(tablebase_rank(&pos, false, true, &ranks));
        MoveList list;
        movegen_list(&pos, &list);
        TEST_ASSERT_EQUAL_INT(list.count, ranks.count);
        if (!list.count) continue;
        TablebaseWdl best = TABLEBASE_LOSS;
        for (int k = 0; k < ranks.count; k++) {
            position_make(&after, &pos, ranks.moves[k]);
            after.rule50 = 0;
            TEST_ASSERT_EQUAL_INT(-tablebase_wdl(&after),
                                  ranks.wdl[k]); // a clock of 0 at the root changes nothing here
            if (ranks.wdl[k] > best) best = ranks.wdl[k];
        }
        TEST_ASSERT_EQUAL_INT(best, ranks.wdl[best_of(&ranks)]);
        TEST_ASSERT_EQUAL_INT(tablebase_wdl(&pos), best);
    }
}

// With the clock running: a win is a win only if the next zeroing move or mate comes in time, and playing the
// best rank against the longest resistance gets there.
static void half_move_clocks_at_the_root_count(void) {
    need_open();
    int played = 0, late = 0;
    for (int i = 0; i < (long_run() ? 20000 : 2000); i++) {
        Position pos, after;
        TablebaseRanks ranks;
        int dtz;
        placing_random(&pos, FourMen[i % FOUR_MEN], 10, (uint64_t)i);
        if (tablebase_wdl(&pos) != TABLEBASE_WIN || !tablebase_dtz(&pos, &dtz)) continue;
        pos.rule50 = (uint8_t)random_below(random_at(11, 0, (uint64_t)i), 101);
        TEST_ASSERT_EQUAL_INT(TABLEBASE_UNKNOWN, pos.rule50 ? tablebase_wdl(&pos) : TABLEBASE_UNKNOWN);
        TEST_ASSERT_TRUE(tablebase_rank(&pos, false, true, &ranks));
        TablebaseWdl wdl = ranks.wdl[best_of(&ranks)];
        if (dtz + pos.rule50 > 101) { // DTZ may be one too small
            TEST_ASSERT_EQUAL_INT(TABLEBASE_CURSED_WIN, wdl);
            late++;
        }
        if (dtz + pos.rule50 > 99) continue;
        TEST_ASSERT_EQUAL_INT(TABLEBASE_WIN, wdl);
        for (bool ours = true;; ours = !ours, pos = after) {
            TEST_ASSERT_TRUE(tablebase_rank(&pos, true, true, &ranks));
            if (!ranks.count) break;
            int best = best_of(&ranks), longest = 0;
            for (int k = 0; !ours && k < ranks.count; k++) {
                Position reply;
                int distance;
                position_make(&reply, &pos, ranks.moves[k]);
                if (reply.rule50 && tablebase_dtz(&reply, &distance) && distance > longest)
                    longest = distance, best = k;
            }
            position_make(&after, &pos, ranks.moves[best]);
            TEST_ASSERT_LESS_OR_EQUAL_INT(100, after.rule50);
            if (!after.rule50) break; // a zeroing move: judged afresh
        }
        Position zeroed = ranks.count ? after : pos;
        bool mated = zeroed.checkers && !movegen_any(&zeroed);
        zeroed.rule50 = 0;
        TEST_ASSERT_TRUE(mated || abs(tablebase_wdl(&zeroed)) == TABLEBASE_WIN);
        played++;
    }
    printf("clocks: %d wins played to a zeroing move or mate, %d too late to win\n", played, late);
    TEST_ASSERT_GREATER_THAN(100, played);
    TEST_ASSERT_GREATER_THAN(10, late);
}

// ---- threads ----------------------------------------------------------------------------------------------

enum { PROBES = 20000 };

// The sum of what a thread sees over the same positions.
static void *probe_many(void *sum) {
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < PROBES; i++) {
        Position pos;
        placing_random(&pos, FourMen[i % FOUR_MEN], 12, (uint64_t)i);
        int seen[2] = {tablebase_wdl(&pos), 0};
        if (i % 50 == 0) {
            TablebaseRanks ranks;
            tablebase_rank(&pos, false, true, &ranks);
            for (int k = 0; k < ranks.count; k++) seen[1] += ranks.rank[k] * (k + 1);
        }
        digest = digest_of(digest, seen, sizeof seen);
    }
    *(uint64_t *)sum = digest;
    return NULL;
}

static void four_threads_see_what_one_sees(void) {
    need_open();
    pthread_t threads[4];
    uint64_t sums[4], alone;
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, probe_many, &sums[i]));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    probe_many(&alone);
    for (int i = 0; i < 4; i++) TEST_ASSERT_EQUAL_HEX64(alone, sums[i]);
}

int main(void) {
    const char *shared = getenv("HONE_SHARED");
    snprintf(Tables, sizeof Tables, "%s/data/syzygy", shared ? shared : "../shared");
    snprintf(Path, sizeof Path, ":%s::", Tables);
    UNITY_BEGIN();
    RUN_TEST(names_of_tables_are_recognised);
    if (tablebase_supported()) {
        RUN_TEST(paths_without_tables_are_refused);
        RUN_TEST(damaged_files_are_refused_with_a_reason);
        RUN_TEST(a_file_that_breaks_the_library_is_refused);
        RUN_TEST(one_path_a_process);
        RUN_TEST(three_men_agree_with_the_solver);
        RUN_TEST(four_men_agree_with_the_solver);
        RUN_TEST(wdl_and_dtz_agree_with_fathom);
        RUN_TEST(ranks_keep_the_result);
        RUN_TEST(half_move_clocks_at_the_root_count);
        RUN_TEST(four_threads_see_what_one_sees);
    }
    return UNITY_END();
}
