// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/uci.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bench.h"
#include "engine/notation.h"
#include "engine/wdl.h"

// What the reporter is busy with. While it is busy the engine belongs to it, else to the reader.
typedef enum JobKind { JOB_NONE, JOB_SEARCH, JOB_PERFT, JOB_BENCH } JobKind;

typedef struct Uci {
    Engine *engine;
    FILE *out;
    Position pos;        // as last set; the engine has a copy
    bool quit;           // the reader has read enough
    int64_t read_ns;     // when the line at hand was read
    int64_t go_ns;       // when the search that runs was asked for
    bool brief;          // so few nodes that info lines may wait for bestmove: one write then, and one wake-up of the reader
    uint64_t told_nodes; // by the last info line; written by the search, read when it has ended
    Move told_move;
    int told_hashfull;
    Engine *bench; // of JOB_BENCH
    BenchOptions bench_options;
    int perft_depth;   // of JOB_PERFT
    _Atomic bool stop; // ends perft and bench
    pthread_t reporter;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under lock:
    JobKind job;
    bool stopping;            // `stop` was read: the job will end very soon
    bool infinite, pondering; // no bestmove before `stop` (or `ponderhit`)
    bool done;                // the reporter may end
} Uci;

// --- output: whole lines, each in one piece -------------------------------------------------------

static void say(Uci *uci, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Prints one line and flushes.
static void say(Uci *uci, const char *format, ...) {
    va_list args;
    va_start(args, format);
    flockfile(uci->out);
    vfprintf(uci->out, format, args);
    fputc('\n', uci->out);
    fflush(uci->out);
    funlockfile(uci->out);
    va_end(args);
}

void uci_score(int score, char *buffer) {
    if (score_is_mate(score))
        snprintf(buffer, 32, "mate %d", score > 0 ? (SCORE_MATE - score + 1) / 2 : -(SCORE_MATE + score) / 2);
    else snprintf(buffer, 32, "cp %d", score);
}

static void on_info(void *context, const SearchInfo *info) {
    Uci *uci = context;
    if (info->multipv == 1) {
        uci->told_nodes = info->nodes;
        uci->told_move = info->pv->moves[0];
        uci->told_hashfull = info->hashfull;
    }
    FILE *out = uci->out;
    char score[32], move[UCI_SIZE];
    uci_score(info->score, score);
    const char *bound = info->bound == BOUND_LOWER   ? " lowerbound"
                        : info->bound == BOUND_UPPER ? " upperbound"
                                                     : "";
    uint64_t nps = info->nodes * 1000 / (uint64_t)(info->ms > 0 ? info->ms : 1);
    flockfile(out);
    fprintf(out, "info depth %d seldepth %d multipv %d score %s%s", info->depth, info->seldepth,
            info->multipv, score, bound);
    if (engine_config(uci->engine)->show_wdl) {
        Wdl wdl = wdl_of(info->score, wdl_material(info->root));
        fprintf(out, " wdl %d %d %d", wdl.win, wdl.draw, wdl.loss);
    }
    fprintf(out, " nodes %llu nps %llu hashfull %d tbhits %llu time %lld pv", (unsigned long long)info->nodes,
            (unsigned long long)nps, info->hashfull, (unsigned long long)info->tbhits, (long long)info->ms);
    for (int i = 0; i < info->pv->count; i++) {
        notation_to_uci(info->root, info->pv->moves[i], move);
        fprintf(out, " %s", move);
    }
    fputc('\n', out);
    if (!uci->brief) fflush(out);
    funlockfile(out);
}

static void on_currmove(void *context, const Position *root, Move move, int number, int depth) {
    enum { QUIET_MS = 3000 }; // nobody wants these in the first seconds
    Uci *uci = context;
    if (now_ns() - uci->go_ns < QUIET_MS * INT64_C(1000000)) return;
    char text[UCI_SIZE];
    notation_to_uci(root, move, text);
    say(uci, "info depth %d currmove %s currmovenumber %d", depth, text, number);
}

static void print_bestmove(Uci *uci, const SearchResult *result) {
    char best[UCI_SIZE], ponder[UCI_SIZE];
    if (result->best == MOVE_NONE) {
        say(uci, "info depth 0 score %s", uci->pos.checkers ? "mate 0" : "cp 0");
        say(uci, "bestmove (none)");
        return;
    }
    // What was told last is not the whole story if the limit came before a line, or another thread found
    // better.
    if (result->nodes != uci->told_nodes || result->best != uci->told_move) {
        SearchInfo info = {
            .depth = result->depth,
            .seldepth = result->seldepth,
            .multipv = 1,
            .score = result->score,
            .bound = BOUND_EXACT,
            .nodes = result->nodes,
            .tbhits = result->tbhits,
            .ms = result->ms,
            .hashfull = uci->told_hashfull,
            .pv = &result->pv,
            .root = &uci->pos,
        };
        uci->brief = true;
        on_info(uci, &info);
    }
    notation_to_uci(&uci->pos, result->best, best);
    notation_to_uci(&uci->pos, result->ponder, ponder);
    if (result->ponder == MOVE_NONE) say(uci, "bestmove %s", best);
    else say(uci, "bestmove %s ponder %s", best, ponder);
}

// --- the reporter ---------------------------------------------------------------------------------

static void print_perft(Uci *uci, uint64_t nodes) {
    if (atomic_load(&uci->stop)) say(uci, "info string perft stopped");
    else say(uci, "\nNodes searched: %llu", (unsigned long long)nodes);
}

static void end_bench(Uci *uci, BenchTotal total) {
    engine_destroy(uci->bench);
    uci->bench = NULL;
    if (atomic_load(&uci->stop)) say(uci, "info string bench stopped");
    else bench_print_total(uci->out, total);
}

static void *reporter_main(void *context) {
    Uci *uci = context;
    pthread_mutex_lock(&uci->lock);
    for (;;) {
        while (uci->job == JOB_NONE && !uci->done) pthread_cond_wait(&uci->changed, &uci->lock);
        if (uci->job == JOB_NONE) break;
        JobKind job = uci->job;
        SearchResult result;
        uint64_t nodes = 0;
        BenchTotal total = {0};
        pthread_mutex_unlock(&uci->lock);
        switch (job) {
        case JOB_NONE: break;
        case JOB_SEARCH: result = engine_wait(uci->engine); break;
        case JOB_PERFT: nodes = bench_perft(uci->out, &uci->pos, uci->perft_depth, &uci->stop); break;
        case JOB_BENCH: total = bench_run(uci->out, uci->bench, &uci->bench_options, &uci->stop); break;
        }
        pthread_mutex_lock(&uci->lock);
        while ((uci->infinite || uci->pondering) && !uci->stopping)
            pthread_cond_wait(&uci->changed, &uci->lock);
        // Under the lock, so that whoever acts upon the last line finds the engine idle.
        if (job == JOB_SEARCH) print_bestmove(uci, &result);
        if (job == JOB_PERFT) print_perft(uci, nodes);
        if (job == JOB_BENCH) end_bench(uci, total);
        uci->job = JOB_NONE;
        pthread_cond_broadcast(&uci->changed);
    }
    pthread_mutex_unlock(&uci->lock);
    return NULL;
}

// Hands a job to the reporter; the reader has made sure that it has none.
static void begin_job(Uci *uci, JobKind job, bool infinite, bool pondering) {
    pthread_mutex_lock(&uci->lock);
    uci->stopping = false;
    uci->infinite = infinite;
    uci->pondering = pondering;
    uci->job = job;
    pthread_cond_broadcast(&uci->changed);
    pthread_mutex_unlock(&uci->lock);
}

static void stop_job(Uci *uci) {
    pthread_mutex_lock(&uci->lock);
    if (uci->job != JOB_NONE) {
        uci->stopping = true;
        atomic_store(&uci->stop, true);
        engine_stop(uci->job == JOB_BENCH ? uci->bench : uci->engine);
        pthread_cond_broadcast(&uci->changed);
    }
    pthread_mutex_unlock(&uci->lock);
}

// Whether the engine is the reader's. After a `stop` the job is as good as over and its end is waited for.
static bool is_idle(Uci *uci) {
    pthread_mutex_lock(&uci->lock);
    while (uci->job != JOB_NONE && uci->stopping) pthread_cond_wait(&uci->changed, &uci->lock);
    bool idle = uci->job == JOB_NONE;
    pthread_mutex_unlock(&uci->lock);
    return idle;
}

// --- reading --------------------------------------------------------------------------------------

// Copies text for a message: cut, and without characters that a terminal would mind.
static const char *quotable(const char *text, char *buffer, size_t size) {
    text_copy(buffer, size, text);
    for (char *c = buffer; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    return buffer;
}

// Says what was wrong with a command, in words that may quote it.
static void say_error(Uci *uci, const char *prefix, const Error *error) {
    char shown[sizeof error->text];
    say(uci, "info string %s%s", prefix, quotable(error->text, shown, sizeof shown));
}

// If the next word of *cursor is word, steps over it.
static bool take(const char **cursor, const char *word) {
    const char *at = *cursor;
    char next[16];
    if (!text_word(&at, next, sizeof next) || strcmp(next, word) != 0) return false;
    *cursor = at;
    return true;
}

bool uci_read_position(const char *text, bool chess960, Position *pos, KeyStack *history, Error *error) {
    Position now, after;
    KeyStack keys;
    char fen[256] = START_FEN, word[128];
    if (take(&text, "fen")) {
        fen[0] = '\0';
        for (const char *at = text; text_word(&at, word, sizeof word) && strcmp(word, "moves") != 0;
             text = at) {
            size_t used = strlen(fen);
            if (used + strlen(word) + 2 > sizeof fen) return error_set(error, "the FEN is too long");
            snprintf(fen + used, sizeof fen - used, "%s%s", used ? " " : "", word);
        }
    } else if (!take(&text, "startpos")) {
        return error_set(error, "expected 'startpos' or 'fen'");
    }
    if (!position_from_fen(&now, fen, error)) return false;
    now.chess960 |= chess960;
    keystack_clear(&keys);
    if (take(&text, "moves")) {
        for (int ply = 1; text_word(&text, word, sizeof word); ply++) {
            Move move = notation_from_uci(&now, word);
            char shown[24];
            if (move == MOVE_NONE)
                return error_set(error, "move %d, '%s', is not legal", ply,
                                 quotable(word, shown, sizeof shown));
            keystack_push(&keys, &now);
            position_make(&after, &now, move);
            now = after;
        }
    } else if (text_word(&text, word, sizeof word)) {
        char shown[24];
        return error_set(error, "expected 'moves', not '%s'", quotable(word, shown, sizeof shown));
    }
    *pos = now;
    *history = keys;
    return true;
}

// The words behind `go` that take a number, and the bounds to which it is cut.
typedef enum GoWord {
    GO_WTIME,
    GO_BTIME,
    GO_WINC,
    GO_BINC,
    GO_MOVESTOGO,
    GO_DEPTH,
    GO_NODES,
    GO_MATE,
    GO_MOVETIME,
    GO_PERFT,
    GO_WORDS
} GoWord;

static const struct {
    const char *name;
    int64_t min, max;
} GoWords[GO_WORDS] = {
    [GO_WTIME] = {"wtime", INT64_MIN, INT64_MAX}, [GO_BTIME] = {"btime", INT64_MIN, INT64_MAX},
    [GO_WINC] = {"winc", 0, INT64_MAX},           [GO_BINC] = {"binc", 0, INT64_MAX},
    [GO_MOVESTOGO] = {"movestogo", 0, 1000},      [GO_DEPTH] = {"depth", 1, MAX_PLY - 1},
    [GO_NODES] = {"nodes", 1, INT64_MAX},         [GO_MATE] = {"mate", 1, MAX_PLY / 2},
    [GO_MOVETIME] = {"movetime", 1, INT64_MAX},   [GO_PERFT] = {"perft", 1, 32},
};

static void go_number(GoWord word, int64_t value, SearchLimits *limits, const Position *pos, int *perft) {
    switch (word) {
    case GO_WTIME: limits->time[WHITE] = value; break;
    case GO_BTIME: limits->time[BLACK] = value; break;
    case GO_WINC: limits->inc[WHITE] = value; break;
    case GO_BINC: limits->inc[BLACK] = value; break;
    case GO_MOVESTOGO: limits->movestogo = (int)value; break;
    case GO_DEPTH: limits->depth = (int)value; break;
    case GO_NODES: limits->nodes = (uint64_t)value; break;
    case GO_MATE: limits->mate = (int)value; break;
    case GO_MOVETIME: limits->movetime = value; break;
    case GO_PERFT: *perft = (int)value; break;
    case GO_WORDS: break;
    }
    limits->has_clock |= word == (pos->stm == WHITE ? GO_WTIME : GO_BTIME);
}

// Adds a word that means nothing here to the remarks.
static void remark(Error *remarks, const char *word) {
    char shown[24];
    size_t used = strlen(remarks->text);
    snprintf(remarks->text + used, sizeof remarks->text - used, "%s '%s'", used ? "" : "go: ignored",
             quotable(word, shown, sizeof shown));
}

static void add_once(MoveList *list, Move move) {
    for (int i = 0; i < list->count; i++)
        if (list->moves[i] == move) return;
    list->moves[list->count++] = move;
}

bool uci_read_go(const char *text, const Position *pos, SearchLimits *limits, int *perft, Error *remarks) {
    char word[32], number[32];
    bool searchmoves = false; // what means nothing else is a move
    remarks->text[0] = '\0';
    *perft = 0;
    while (text_word(&text, word, sizeof word)) {
        int kind = 0;
        while (kind < GO_WORDS && strcmp(word, GoWords[kind].name) != 0) kind++;
        Move move;
        if (kind < GO_WORDS) {
            int64_t value;
            text_word(&text, number, sizeof number);
            if (!parse_int(number, INT64_MIN, INT64_MAX, &value, remarks))
                return error_prefix(remarks, "go %s", word);
            if (value < GoWords[kind].min) value = GoWords[kind].min;
            if (value > GoWords[kind].max) value = GoWords[kind].max;
            go_number((GoWord)kind, value, limits, pos, perft);
        } else if (strcmp(word, "infinite") == 0) {
            limits->infinite = true;
        } else if (strcmp(word, "ponder") == 0) {
            limits->ponder = true;
        } else if (strcmp(word, "searchmoves") == 0) {
            searchmoves = true;
        } else if (searchmoves && (move = notation_from_uci(pos, word)) != MOVE_NONE) {
            add_once(&limits->searchmoves, move);
        } else {
            remark(remarks, word);
        }
    }
    bool limited = limits->has_clock || limits->movetime || limits->depth || limits->nodes || limits->mate;
    if (!limited) limits->infinite = true;
    return true;
}

// --- commands -------------------------------------------------------------------------------------

static void do_uci(Uci *uci, const char *args) {
    (void)args;
    FILE *out = uci->out;
    flockfile(out);
    fputs("id name Hone\nid author the Hone developers\n", out);
    for (int i = 0; i < engine_option_count(); i++) {
        OptionInfo option = engine_option(i);
        fprintf(out, "option name %s type ", option.name);
        char word[64];
        switch (option.kind) {
        case OPTION_CHECK: fprintf(out, "check default %s\n", option.value ? "true" : "false"); break;
        case OPTION_SPIN:
            fprintf(out, "spin default %lld min %lld max %lld\n", (long long)option.value,
                    (long long)option.min, (long long)option.max);
            break;
        case OPTION_COMBO: {
            const char *values = option.text;
            for (int64_t n = 0; n <= option.value; n++) text_word(&values, word, sizeof word);
            fprintf(out, "combo default %s", word);
            for (values = option.text; text_word(&values, word, sizeof word);) fprintf(out, " var %s", word);
            fputc('\n', out);
            break;
        }
        case OPTION_STRING:
            fprintf(out, "string default %s\n", option.text && *option.text ? option.text : "<empty>");
            break;
        case OPTION_BUTTON: fputs("button\n", out); break;
        }
    }
    if (!tablebase_supported()) fputs("info string built without libfathom: SyzygyPath has no effect\n", out);
    fputs("uciok\n", out);
    fflush(out);
    funlockfile(out);
}

static void do_isready(Uci *uci, const char *args) {
    (void)args;
    say(uci, "readyok");
}

static void do_ucinewgame(Uci *uci, const char *args) {
    (void)args;
    engine_new_game(uci->engine);
}

static void do_nothing(Uci *uci, const char *args) { (void)uci, (void)args; }

// Steps over blanks and drops those at the end, in place.
static char *trim(char *text) {
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    return text;
}

static void do_setoption(Uci *uci, const char *args) {
    if (!take(&args, "name")) {
        say(uci, "info string setoption: expected 'name'");
        return;
    }
    char *name = strdup(args), *value = NULL;
    if (!name) return;
    char word[8];
    for (const char *at = name; text_word(&at, word, sizeof word);)
        if (strcmp(word, "value") == 0) {
            value = name + (at - name);
            name[at - name - (int)strlen("value")] = '\0';
            break;
        }
    char *text = value ? trim(value) : NULL;
    if (text && strcmp(text, "<empty>") == 0) *text = '\0';
    Error error = {""};
    bool ok = engine_set_option(uci->engine, trim(name), text, &error);
    if (error.text[0]) say_error(uci, ok ? "" : "setoption: ", &error);
    free(name);
}

static void do_position(Uci *uci, const char *args) {
    Position pos;
    KeyStack history;
    Error error = {""};
    if (!uci_read_position(args, engine_config(uci->engine)->chess960, &pos, &history, &error)) {
        say_error(uci, "position: the old one stays: ", &error);
        return;
    }
    uci->pos = pos;
    engine_set_position(uci->engine, &pos, &history);
}

static void do_go(Uci *uci, const char *args) {
    enum { BRIEF_NODES = 10000 }; // a few milliseconds
    SearchLimits limits = {.start_ns = uci->read_ns};
    Error remarks;
    bool ok = uci_read_go(args, &uci->pos, &limits, &uci->perft_depth, &remarks);
    if (remarks.text[0]) say_error(uci, "", &remarks);
    if (!ok) return;
    atomic_store(&uci->stop, false);
    if (uci->perft_depth) {
        begin_job(uci, JOB_PERFT, false, false);
        return;
    }
    uci->go_ns = uci->read_ns;
    uci->brief = limits.nodes && limits.nodes <= BRIEF_NODES && !limits.infinite && !limits.ponder;
    uci->told_nodes = 0;
    uci->told_hashfull = 0;
    uci->told_move = MOVE_NONE;
    Observer observer = {.info = on_info, .currmove = on_currmove, .context = uci};
    engine_start(uci->engine, &limits, &observer);
    begin_job(uci, JOB_SEARCH, limits.infinite, limits.ponder);
}

static void do_stop(Uci *uci, const char *args) {
    (void)args;
    stop_job(uci);
}

static void do_ponderhit(Uci *uci, const char *args) {
    (void)args;
    pthread_mutex_lock(&uci->lock);
    bool pondering = uci->job == JOB_SEARCH && uci->pondering;
    if (pondering) {
        uci->pondering = false;
        engine_ponderhit(uci->engine);
        pthread_cond_broadcast(&uci->changed);
    }
    pthread_mutex_unlock(&uci->lock);
    if (!pondering) say(uci, "info string ponderhit: nothing is pondered on");
}

static void do_quit(Uci *uci, const char *args) {
    (void)args;
    uci->quit = true;
}

static void do_d(Uci *uci, const char *args) {
    (void)args;
    const Position *pos = &uci->pos;
    char fen[FEN_SIZE], name[4];
    MoveList list;
    position_to_fen(pos, fen);
    movegen_list(pos, &list);
    FILE *out = uci->out;
    flockfile(out);
    fputs("\n +---+---+---+---+---+---+---+---+\n", out);
    for (int rank = 7; rank >= 0; rank--) {
        for (int file = 0; file < 8; file++) {
            int piece = pos->board[square_make(file, rank)];
            fprintf(out, " | %c", piece == NO_PIECE ? ' ' : "PpNnBbRrQqKk"[piece]);
        }
        fprintf(out, " | %d\n +---+---+---+---+---+---+---+---+\n", rank + 1);
    }
    fprintf(out, "   a   b   c   d   e   f   g   h\n\nFen: %s\nKey: %016llX\nCheckers:", fen,
            (unsigned long long)pos->key);
    for (Bitboard checkers = pos->checkers; checkers; checkers &= checkers - 1) {
        notation_square(bb_first(checkers), name);
        fprintf(out, " %s", name);
    }
    fprintf(out, "\nLegal moves: %d\n", list.count);
    fflush(out);
    funlockfile(out);
}

static void do_eval(Uci *uci, const char *args) {
    (void)args;
    enum { SIZE = 1 << 15 };
    char *text = calloc(1, SIZE);
    if (!text) return;
    engine_explain(uci->engine, text, SIZE);
    say(uci, "%s", text);
    free(text);
}

static void do_flip(Uci *uci, const char *args) {
    (void)args;
    uci->pos = position_flip(&uci->pos);
    engine_set_position(uci->engine, &uci->pos, NULL);
}

static void do_bench(Uci *uci, const char *args) {
    Error error = {""};
    if (!bench_read(args, &uci->bench_options, &error) ||
        !(uci->bench = bench_engine(&uci->bench_options, &error))) {
        say_error(uci, "bench: ", &error);
        return;
    }
    atomic_store(&uci->stop, false);
    begin_job(uci, JOB_BENCH, false, false);
}

static void do_compiler(Uci *uci, const char *args) {
    (void)args;
#ifdef __clang__
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
#ifdef NDEBUG
    const char *build = "release";
#else
    const char *build = "with assertions";
#endif
    say(uci, "%s, C%ld, %d-bit, %s", compiler, __STDC_VERSION__ / 100 % 100, (int)sizeof(void *) * 8, build);
}

static void do_params(Uci *uci, const char *args) {
    (void)args;
    flockfile(uci->out);
    params_print(uci->out, engine_params(uci->engine), PARAMS_MD, NULL);
    fflush(uci->out);
    funlockfile(uci->out);
}

static void do_help(Uci *uci, const char *args);

static const struct Command {
    const char *name;
    void (*handler)(Uci *uci, const char *args);
    bool idle; // needs an engine that does not search
    const char *help;
} Commands[] = {
    {"uci", do_uci, false, "says who this is and which options there are"},
    {"isready", do_isready, false, "answers readyok, at any time"},
    {"ucinewgame", do_ucinewgame, true, "forgets all that was learned"},
    {"setoption", do_setoption, true, "name <name> [value <value>]: sets an option"},
    {"position", do_position, true,
     "startpos|fen <fen> [moves <move>...]: sets the position; a bad one changes nothing"},
    {"go", do_go, true,
     "[wtime btime winc binc movestogo depth nodes mate movetime perft <number>] [infinite] [ponder] "
     "[searchmoves <move>...]"},
    {"stop", do_stop, false, "ends the search"},
    {"ponderhit", do_ponderhit, false, "the move pondered on was played"},
    {"quit", do_quit, false, "ends the program"},
    {"debug", do_nothing, false, "on|off: accepted, there is nothing more to say"},
    {"register", do_nothing, false, "accepted, there is nothing to register"},
    {"d", do_d, false, "shows the position"},
    {"eval", do_eval, true, "explains the static evaluation"},
    {"flip", do_flip, true, "swaps the colours"},
    {"bench", do_bench, true, "[depth] [--stats] [--threads N] [--hash MB]: searches the bench positions"},
    {"params", do_params, true, "lists the parameters with their values"},
    {"compiler", do_compiler, false, "says what built this"},
    {"help", do_help, false, "this list"},
};

static void do_help(Uci *uci, const char *args) {
    (void)args;
    flockfile(uci->out);
    for (size_t i = 0; i < sizeof Commands / sizeof *Commands; i++)
        fprintf(uci->out, "%-11s %s\n", Commands[i].name, Commands[i].help);
    fflush(uci->out);
    funlockfile(uci->out);
}

static void dispatch(Uci *uci, const char *line) {
    char word[64], shown[64];
    if (!text_word(&line, word, sizeof word)) return;
    for (size_t i = 0; i < sizeof Commands / sizeof *Commands; i++)
        if (strcmp(word, Commands[i].name) == 0) {
            if (Commands[i].idle && !is_idle(uci)) say(uci, "info string %s: ignored while searching", word);
            else Commands[i].handler(uci, line);
            return;
        }
    say(uci, "info string unknown command '%s', try 'help'", quotable(word, shown, sizeof shown));
}

// --- lines ----------------------------------------------------------------------------------------

typedef struct Line {
    char *text;
    size_t size, room;
    bool too_long;
} Line;

// Reads one line of any length up to LONGEST (the rest is dropped); NUL bytes become blanks. False at the end
// of input.
static bool line_read(Line *line, FILE *in) {
    enum { LONGEST = 64 << 20 };
    int c;
    line->size = 0;
    line->too_long = false;
    while ((c = getc_unlocked(in)) != EOF && c != '\n') {
        if (line->size + 1 >= line->room) {
            size_t room = line->room ? line->room * 2 : 4096;
            char *text = line->size < LONGEST ? realloc(line->text, room) : NULL;
            if (!text) {
                line->too_long = true;
                continue;
            }
            line->text = text;
            line->room = room;
        }
        line->text[line->size++] = c ? (char)c : ' ';
    }
    if (line->text) line->text[line->size] = '\0';
    return c != EOF || line->size > 0;
}

bool uci_run(Engine *engine, FILE *in, FILE *out, Error *error) {
    Uci *uci = calloc(1, sizeof *uci);
    if (!uci) return error_set(error, "not enough memory");
    uci->engine = engine;
    uci->out = out;
    uci->pos = *engine_position(engine);
    pthread_mutex_init(&uci->lock, NULL);
    pthread_cond_init(&uci->changed, NULL);
    bool ok = pthread_create(&uci->reporter, NULL, reporter_main, uci) == 0;
    if (ok) {
        Line line = {0};
        while (!uci->quit && line_read(&line, in)) {
            uci->read_ns = now_ns();
            if (line.too_long) say(uci, "info string line too long, ignored");
            else if (line.size > 0) dispatch(uci, line.text);
        }
        free(line.text);
        stop_job(uci);
        pthread_mutex_lock(&uci->lock);
        uci->done = true;
        pthread_cond_broadcast(&uci->changed);
        pthread_mutex_unlock(&uci->lock);
        pthread_join(uci->reporter, NULL);
    } else {
        error_set(error, "no thread could be started");
    }
    pthread_mutex_destroy(&uci->lock);
    pthread_cond_destroy(&uci->changed);
    free(uci);
    return ok;
}
