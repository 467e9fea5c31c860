// SPDX-License-Identifier: GPL-3.0-or-later
// Opening: list the files, check each (tablefile.c), let a forked child open and probe every table first (a
// file that still breaks the library ends the child, not us), then do the same here on one thread. After that
// WDL probes only read.
#include "engine/tablebase.h"

#ifdef HONE_BARE

bool tablebase_supported(void) { return false; }
bool tablebase_open(const char *path, Error *error) {
    return error_set(error, "%s: this program was built without libfathom", path);
}
TablebaseInfo tablebase_info(void) { return (TablebaseInfo){0}; }
TablebaseWdl tablebase_wdl(const Position *pos) {
    (void)pos;
    return TABLEBASE_UNKNOWN;
}
bool tablebase_dtz(const Position *pos, int *dtz) {
    (void)pos, (void)dtz;
    return false;
}
bool tablebase_rank(const Position *root, bool repeated, bool rule50, TablebaseRanks *ranks) {
    (void)root, (void)repeated, (void)rule50, (void)ranks;
    return false;
}

#else

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tbprobe.h>
#include <unistd.h>

#include "engine/tablefile.h"

enum { PATH_SIZE = 4096, NAME_SIZE = 16, TOUCHES = 16 };

// The tables of the process. Written under the lock, once; the largest table is read without it.
static struct {
    pthread_mutex_t lock;
    char path[PATH_SIZE];
    int wdl_files, dtz_files;
    atomic_int largest;
} Shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

// One material that has a WDL table, and positions in which its tables are looked up.
typedef struct Material {
    char name[NAME_SIZE];
    int count;
    Position touch[TOUCHES];
} Material;

// What a path holds.
typedef struct Listing {
    int wdl_files, dtz_files, count, size;
    Material *materials;
} Listing;

bool tablebase_supported(void) { return true; }

// ---- probing ----------------------------------------------------------------------------------------------

#define BOARD(pos)                                                                                           \
    (pos)->by_colour[WHITE], (pos)->by_colour[BLACK], (pos)->by_type[KING], (pos)->by_type[QUEEN],           \
        (pos)->by_type[ROOK], (pos)->by_type[BISHOP], (pos)->by_type[KNIGHT], (pos)->by_type[PAWN]

static unsigned ep_of(const Position *pos) { return pos->ep == NO_SQUARE ? 0 : pos->ep; }

static TablebaseWdl probe_wdl(const Position *pos) {
    unsigned result = tb_probe_wdl(BOARD(pos), 0, 0, ep_of(pos), pos->stm == WHITE);
    return result == TB_RESULT_FAILED ? TABLEBASE_UNKNOWN : (TablebaseWdl)((int)result - 2);
}

// Whether there may be a table for a position.
static bool within(const Position *pos) {
    return !pos->castling &&
           bb_count(position_occupied(pos)) <= atomic_load_explicit(&Shared.largest, memory_order_acquire);
}

TablebaseWdl tablebase_wdl(const Position *pos) {
    return pos->rule50 || !within(pos) ? TABLEBASE_UNKNOWN : probe_wdl(pos);
}

static bool probe_dtz(const Position *pos, int *dtz) {
    unsigned result = tb_probe_root(BOARD(pos), 0, 0, ep_of(pos), pos->stm == WHITE, NULL);
    if (result == TB_RESULT_FAILED) return false;
    bool losing = TB_GET_WDL(result) < TB_DRAW;
    *dtz = (int)TB_GET_DTZ(result) * (losing ? -1 : 1);
    return true;
}

bool tablebase_dtz(const Position *pos, int *dtz) {
    if (!within(pos)) return false;
    pthread_mutex_lock(&Shared.lock);
    bool known = probe_dtz(pos, dtz);
    pthread_mutex_unlock(&Shared.lock);
    return known;
}

static Move from_fathom(const Position *pos, TbMove move) {
    static const int Promotion[] = {NO_TYPE, QUEEN, ROOK, BISHOP, KNIGHT};
    int from = TB_MOVE_FROM(move), to = TB_MOVE_TO(move), promotion = TB_MOVE_PROMOTES(move);
    if (promotion >= 1 && promotion <= 4) return move_make_promotion(from, to, Promotion[promotion]);
    if (piece_type(pos->board[from]) == PAWN && to == pos->ep)
        return move_make_kind(from, to, MOVE_EN_PASSANT);
    return move_make(from, to);
}

// The library ranks what is won within the fifty-move rule at 900 and more, draws at 0.
static TablebaseWdl wdl_of_rank(int rank, bool rule50) {
    if (rank == 0) return TABLEBASE_DRAW;
    TablebaseWdl wdl = abs(rank) >= 900 || !rule50 ? TABLEBASE_WIN : TABLEBASE_CURSED_WIN;
    return rank > 0 ? wdl : -wdl;
}

bool tablebase_rank(const Position *root, bool repeated, bool rule50, TablebaseRanks *ranks) {
    ranks->count = 0;
    if (!within(root)) return false;
    struct TbRootMoves *moves = malloc(sizeof *moves); // 100 kB: too much for the stack of a search thread
    if (!moves) return false;
    pthread_mutex_lock(&Shared.lock);
    unsigned clock = root->rule50, ep = ep_of(root);
    bool white = root->stm == WHITE;
    ranks->dtz = tb_probe_root_dtz(BOARD(root), clock, 0, ep, white, repeated, rule50, moves);
    bool known = ranks->dtz || tb_probe_root_wdl(BOARD(root), clock, 0, ep, white, rule50, moves);
    pthread_mutex_unlock(&Shared.lock);
    for (unsigned i = 0; known && i < moves->size; i++) {
        Move move = from_fathom(root, moves->moves[i].move);
        known = movegen_is_legal(root, move);
        ranks->moves[i] = move;
        ranks->rank[i] = moves->moves[i].tbRank;
        ranks->wdl[i] = wdl_of_rank(moves->moves[i].tbRank, rule50);
    }
    ranks->count = known ? (int)moves->size : 0;
    free(moves);
    return known;
}

TablebaseInfo tablebase_info(void) {
    pthread_mutex_lock(&Shared.lock);
    TablebaseInfo info = {Shared.wdl_files, Shared.dtz_files, atomic_load(&Shared.largest)};
    pthread_mutex_unlock(&Shared.lock);
    return info;
}

// ---- opening ----------------------------------------------------------------------------------------------

// Puts a material's men on random squares; false if that is no legal position.
static bool place_men(Position *pos, const char *name, uint64_t random) {
    char board[SQUARES], fen[FEN_SIZE], *out = fen;
    int colour = BLACK;
    memset(board, '1', sizeof board);
    for (const char *p = name; *p; p++) {
        if (*p == 'v') continue;
        if (*p == 'K') colour = !colour;
        int square = random & 63;
        if (board[square] != '1') return false;
        board[square] = (char)(colour == WHITE ? *p : *p + 'a' - 'A');
        random >>= 6;
    }
    for (int rank = 7; rank >= 0; rank--, *out++ = '/') {
        memcpy(out, board + 8 * rank, 8);
        out += 8;
    }
    sprintf(out - 1, " %c - - 0 1", "wb"[random & 1]);
    return position_from_fen(pos, fen, NULL);
}

// Finds positions in which the library must look into the table itself: nothing can be taken. Both sides get
// to move.
static void find_touches(Material *material) {
    for (uint64_t i = 0; material->count < TOUCHES; i++) {
        Position *pos = &material->touch[material->count];
        Move moves[MAX_MOVES];
        if (!place_men(pos, material->name, random_at(0, 0, i)) || pos->stm != material->count % 2) continue;
        bool quiet = true;
        for (int n = movegen(pos, moves, GEN_ALL); n > 0; n--)
            quiet &= !position_is_capture(pos, moves[n - 1]);
        material->count += quiet;
    }
}

static bool listing_add(Listing *listing, const char *name) {
    if (listing->count == listing->size) {
        listing->size = 2 * listing->size + 64;
        Material *larger = realloc(listing->materials, (size_t)listing->size * sizeof *larger);
        if (!larger) return false;
        listing->materials = larger;
    }
    Material *material = &listing->materials[listing->count++];
    material->count = 0;
    snprintf(material->name, sizeof material->name, "%.*s", (int)strcspn(name, "."), name);
    find_touches(material);
    return true;
}

static bool list_directory(Listing *listing, const char *directory, Error *error) {
    DIR *dir = opendir(directory);
    if (!dir) return error_set(error, "%s: %s", directory, strerror(errno));
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(dir));) {
        char path[PATH_SIZE];
        TablefileKind kind = tablefile_kind(entry->d_name);
        if (kind == TABLEFILE_NONE) continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path)
            good = error_set(error, "%s: the path is too long", directory);
        good = good && tablefile_check(path, kind, error);
        listing->wdl_files += kind == TABLEFILE_WDL;
        listing->dtz_files += kind == TABLEFILE_DTZ;
        if (good && kind == TABLEFILE_WDL && !listing_add(listing, entry->d_name))
            good = error_set(error, "not enough memory");
    }
    closedir(dir);
    return good;
}

// Lists the tables of a path and copies it without empty directories: the library reads past one at the end.
static bool list_path(Listing *listing, const char *path, char *clean, Error *error) {
    char directories[PATH_SIZE], *end = clean;
    if (!text_copy(directories, sizeof directories, path)) return error_set(error, "the path is too long");
    char *rest = directories;
    for (char *directory; (directory = strsep(&rest, ":"));) {
        if (!*directory) continue;
        if (!list_directory(listing, directory, error)) return false;
        if (end > clean) *end++ = ':';
        end = stpcpy(end, directory);
    }
    *end = '\0';
    return listing->wdl_files > 0 || error_set(error, "%s: there are no Syzygy tables (*.rtbw)", path);
}

// Looks into every table; the number of the material at work is left in *at.
static bool touch_all(const Listing *listing, volatile int *at) {
    for (*at = 0; *at < listing->count; ++*at) {
        const Material *material = &listing->materials[*at];
        for (int i = 0; i < material->count; i++) {
            int dtz;
            if (probe_wdl(&material->touch[i]) == TABLEBASE_UNKNOWN) return false;
            probe_dtz(&material->touch[i], &dtz); // its table may be missing
        }
    }
    return true;
}

// Opens and touches the tables in a child process, so that what breaks the library breaks the child.
static bool rehearse(const Listing *listing, const char *path, Error *error) {
    volatile int *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return error_set(error, "not enough memory");
    *at = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR); // where the library prints, and where its exit seeks
        for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) dup2(null, stream);
        _exit(tb_init(path) && touch_all(listing, at) ? 0 : 1);
    }
    int status = 0, last = 0;
    bool waited = child > 0;
    while (waited && waitpid(child, &status, 0) < 0) waited = errno == EINTR;
    last = *at;
    munmap((void *)at, sizeof *at);
    if (!waited) return error_set(error, "%s: the tables cannot be tried: %s", path, strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    const char *name = last < listing->count ? listing->materials[last].name : "?";
    return error_set(error, "%s: the tables of %s are damaged: libfathom could not probe them", path, name);
}

static bool open_path(const char *path, Error *error) {
    Listing listing = {0};
    int at;
    char clean[PATH_SIZE];
    bool good = list_path(&listing, path, clean, error) && rehearse(&listing, clean, error);
    if (good && !(tb_init(clean) && TB_LARGEST > 0 && touch_all(&listing, &at)))
        good = error_set(error, "%s: libfathom could not open the tables", path);
    if (good) {
        text_copy(Shared.path, sizeof Shared.path, path);
        Shared.wdl_files = listing.wdl_files;
        Shared.dtz_files = listing.dtz_files;
        atomic_store_explicit(&Shared.largest, (int)TB_LARGEST, memory_order_release);
    }
    free(listing.materials);
    return good;
}

bool tablebase_open(const char *path, Error *error) {
    bitboard_init();
    pthread_mutex_lock(&Shared.lock);
    bool good = true;
    if (!*Shared.path) good = open_path(path, error);
    else if (strcmp(Shared.path, path))
        good = error_set(error, "%s: the tables of %s are open, and a process can only have one path", path,
                         Shared.path);
    pthread_mutex_unlock(&Shared.lock);
    return good;
}

#endif
