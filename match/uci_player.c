// SPDX-License-Identifier: GPL-3.0-or-later
#include "match/uci_player.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/notation.h"
#include "match/child.h"
#include "match/uci_option.h"

enum {
    FLAG_MS = 100,   // after the flag fell we wait this long before we say stop
    STOP_MS = 1000,  // and then this long for a bestmove
    FALL_MS = 1000,  // for the process to end when its output has
    SEND_MS = 10000, // for it to read a command outside of its own time
};

#define MS INT64_C(1000000)

struct UciPlayer {
    const PlayerSpec *spec;
    int affinity;
    char id[128];
    bool alive;
    bool can_chess960, chess960;
    int games;
    int threads;
    uint64_t stale, unknown;
    int64_t ready_ns, think_ns; // when it was ready, and how long it thought since
    int64_t ready_cpu_ns;       // what it had used by then
    char *message;              // of message_size bytes, for position and go
    size_t message_size;
    pthread_mutex_t lock; // child, for whoever interrupts
    Child *child;
    _Atomic bool interrupted;
};

// --- words --------------------------------------------------------------------------------------

// A word within a line; size 0 at the end.
typedef struct Word {
    const char *text;
    size_t size;
} Word;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static Word next_word(const char **cursor) {
    const char *at = *cursor;
    while (is_blank(*at)) at++;
    const char *end = at;
    while (*end && !is_blank(*end)) end++;
    *cursor = end;
    return (Word){at, (size_t)(end - at)};
}

static bool is_word(Word word, const char *text) {
    return strlen(text) == word.size && memcmp(word.text, text, word.size) == 0;
}

static bool begins_with(const char *line, const char *text) { return is_word(next_word(&line), text); }

// The text behind the first word, without blanks around it.
static const char *behind_word(const char *line) {
    next_word(&line);
    while (is_blank(*line)) line++;
    return line;
}

// Adds formatted text to the message, which must have room.
static size_t add(UciPlayer *p, size_t used, const char *format, ...) __attribute__((format(printf, 3, 4)));
static size_t add(UciPlayer *p, size_t used, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int size = vsnprintf(p->message + used, p->message_size - used, format, args);
    va_end(args);
    return size < 0                                ? used
           : used + (size_t)size < p->message_size ? used + (size_t)size
                                                   : p->message_size - 1;
}

static bool make_room(UciPlayer *p, size_t size) {
    if (size <= p->message_size) return true;
    char *larger = realloc(p->message, size * 2);
    if (!larger) return false;
    p->message = larger;
    p->message_size = size * 2;
    return true;
}

// --- info lines ---------------------------------------------------------------------------------

// What one info line said.
typedef struct Info {
    PlayerMove told;
    bool has_score, bound, has_depth, has_nodes, has_nps, has_tbhits, has_hashfull;
    long multipv;
    const char *pv;
} Info;

static int mate_score(int64_t moves) {
    int64_t plies = moves > 0 ? 2 * moves - 1 : -2 * moves;
    if (plies > MAX_PLY - 1) plies = MAX_PLY - 1;
    return moves > 0 ? SCORE_MATE - (int)plies : -SCORE_MATE + (int)plies;
}

static void read_score(const char **cursor, Info *info) {
    const char *at = *cursor;
    Word kind = next_word(&at);
    int64_t value = strtoll(at, NULL, 10);
    if (is_word(kind, "cp")) {
        if (value > SCORE_TB_WIN) value = SCORE_TB_WIN;
        if (value < -SCORE_TB_WIN) value = -SCORE_TB_WIN;
        info->told.score = (int)value;
    } else if (is_word(kind, "mate")) {
        if (value > MAX_PLY) value = MAX_PLY;
        if (value < -MAX_PLY) value = -MAX_PLY;
        info->told.score = mate_score(value);
    } else {
        return;
    }
    next_word(&at);
    info->has_score = true;
    *cursor = at;
}

static Info read_info(const char *at) {
    Info info = {.multipv = 1};
    for (Word word = next_word(&at); word.size > 0; word = next_word(&at)) {
        const char *value = at;
        bool number = true;
        if (is_word(word, "depth")) info.told.depth = (int)strtol(value, NULL, 10), info.has_depth = true;
        else if (is_word(word, "seldepth")) info.told.seldepth = (int)strtol(value, NULL, 10);
        else if (is_word(word, "multipv")) info.multipv = strtol(value, NULL, 10);
        else if (is_word(word, "nodes")) info.told.nodes = strtoull(value, NULL, 10), info.has_nodes = true;
        else if (is_word(word, "nps")) info.told.nps = strtoull(value, NULL, 10), info.has_nps = true;
        else if (is_word(word, "tbhits"))
            info.told.tbhits = strtoull(value, NULL, 10), info.has_tbhits = true;
        else if (is_word(word, "hashfull"))
            info.told.hashfull = (int)strtol(value, NULL, 10), info.has_hashfull = true;
        else number = false;
        if (number) next_word(&at);
        else if (is_word(word, "score")) read_score(&at, &info);
        else if (is_word(word, "lowerbound") || is_word(word, "upperbound")) info.bound = true;
        else if (is_word(word, "string")) break;
        else if (is_word(word, "pv")) {
            while (is_blank(*at)) at++;
            info.pv = at;
            break;
        }
    }
    return info;
}

// Copies a line of moves, cut between two of them.
static void copy_pv(const char *pv, char *buffer, size_t size) {
    if (text_copy(buffer, size, pv)) return;
    char *last = strrchr(buffer, ' ');
    if (last) *last = '\0';
}

void uci_parse_info(const char *line, PlayerMove *move) {
    if (!begins_with(line, "info")) return;
    Info info = read_info(behind_word(line));
    if (info.multipv != 1) return;
    if (info.has_nodes) move->nodes = info.told.nodes;
    if (info.has_nps) move->nps = info.told.nps;
    if (info.has_tbhits) move->tbhits = info.told.tbhits;
    if (info.has_hashfull) move->hashfull = info.told.hashfull;
    if (!info.has_score || (info.bound && move->has_score)) return;
    move->has_score = true; // a bound is better than nothing, and worse than any score
    move->score = info.told.score;
    if (info.has_depth) move->depth = info.told.depth;
    if (info.told.seldepth) move->seldepth = info.told.seldepth;
    if (info.pv) copy_pv(info.pv, move->pv, sizeof move->pv);
}

// --- starting -----------------------------------------------------------------------------------

static int64_t deadline_in(int64_t ms, int64_t otherwise) {
    return now_ns() + (ms > 0 ? ms : otherwise) * MS;
}

// Waits for a line that begins with a word; the others pass.
static ChildWait wait_for_word(UciPlayer *p, const char *word, int64_t deadline_ns) {
    ChildText line;
    child_budget(p->child);
    for (;;) {
        ChildWait wait = child_line(p->child, deadline_ns, &line);
        if (wait != CHILD_LINE || begins_with(line.text, word)) return wait;
    }
}

// Why there was no answer, after ending the process where it cannot be used any more.
static bool refuse(UciPlayer *p, ChildWait wait, const char *word, Error *error) {
    char end[96];
    p->alive = false;
    child_end(p->child, wait == CHILD_ENDED ? now_ns() + FALL_MS * MS : 0);
    child_end_text(p->child, end, sizeof end);
    switch (wait) {
    case CHILD_TIMEOUT: return error_set(error, "no %s by the deadline", word);
    case CHILD_LONG_LINE: return error_set(error, "an endless line instead of %s", word);
    case CHILD_FLOOD: return error_set(error, "a flood of output instead of %s", word);
    case CHILD_INTERRUPTED: return error_set(error, "interrupted before %s", word);
    case CHILD_LINE:
    case CHILD_ENDED: break;
    }
    return error_set(error, "ended (%s) before %s", end, word);
}

// Sends what is in the message and waits for readyok.
static bool send_and_settle(UciPlayer *p, size_t size, Error *error) {
    int64_t deadline = deadline_in(p->spec->ping_ms, PING_MS);
    if (!child_send(p->child, p->message, size, deadline))
        return refuse(p, now_ns() >= deadline ? CHILD_TIMEOUT : CHILD_ENDED, "readyok", error);
    ChildWait wait = wait_for_word(p, "readyok", deadline);
    return wait == CHILD_LINE || refuse(p, wait, "readyok", error);
}

// The options that a program listed.
typedef struct OptionList {
    UciOption *options;
    int count, room;
} OptionList;

static bool option_add(OptionList *list, const UciOption *option) {
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 64;
        UciOption *larger = realloc(list->options, (size_t)room * sizeof *larger);
        if (!larger) return false;
        list->options = larger;
        list->room = room;
    }
    list->options[list->count++] = *option;
    return true;
}

static const UciOption *option_find(const OptionList *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (text_equal(list->options[i].name, name)) return &list->options[i];
    return NULL;
}

// Says uci and listens until uciok.
static bool introduce(UciPlayer *p, OptionList *list, Error *error) {
    int64_t deadline = deadline_in(p->spec->startup_ms, STARTUP_MS);
    ChildWait wait = child_send(p->child, "uci\n", 4, deadline) ? CHILD_LINE : CHILD_ENDED;
    ChildText line;
    UciOption option;
    while (wait == CHILD_LINE && (wait = child_line(p->child, deadline, &line)) == CHILD_LINE) {
        if (begins_with(line.text, "uciok")) return true;
        if (begins_with(line.text, "id") && begins_with(behind_word(line.text), "name"))
            text_copy(p->id, sizeof p->id, behind_word(behind_word(line.text)));
        else if (uci_option_parse(line.text, &option) && !option_add(list, &option))
            return error_set(error, "no memory for its options");
    }
    return refuse(p, wait, "uciok", error);
}

// Writes the setoption lines of the spec behind the message; Threads first, as hash tables are cleared by
// threads.
static bool write_options(UciPlayer *p, const OptionList *list, size_t *used, Error *error) {
    const PlayerSpec *spec = p->spec;
    const UciOption *own = option_find(list, "Threads");
    p->threads = own && own->value > 1 ? (int)own->value : 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < spec->option_count; i++) {
            const PlayerOption *wanted = &spec->options[i];
            bool threads = text_equal(wanted->name, "Threads");
            if (threads != (pass == 0)) continue;
            const UciOption *option = option_find(list, wanted->name);
            if (!option) return error_set(error, "there is no option '%s'", wanted->name);
            if (!uci_option_check(option, wanted->value, error)) return false;
            if (threads) p->threads = int_max(1, (int)strtol(wanted->value, NULL, 10));
            if (!make_room(p, *used + sizeof *wanted + 64)) return error_set(error, "no memory");
            *used = add(p, *used, "setoption name %s", option->name);
            if (option->kind != OPTION_BUTTON) *used = add(p, *used, " value %s", wanted->value);
            *used = add(p, *used, "\n");
        }
    }
    return true;
}

// Starts the program and gets it ready. Where another attempt may help, *again is set.
static bool start(UciPlayer *p, bool *again, Error *error) {
    const PlayerSpec *spec = p->spec;
    OptionList list = {0};
    *again = false;
    Child *child = child_start(spec->cmd, spec->args, spec->dir, p->affinity, error);
    pthread_mutex_lock(&p->lock);
    p->child = child;
    if (child && atomic_load(&p->interrupted)) child_interrupt(child);
    pthread_mutex_unlock(&p->lock);
    if (!child) return false;
    size_t used = 0;
    *again = true;
    bool fine = introduce(p, &list, error);
    if (fine) {
        *again = fine = write_options(p, &list, &used, error);
        used = add(p, used, "isready\n");
        fine = fine && send_and_settle(p, used, error);
    }
    p->can_chess960 = option_find(&list, "UCI_Chess960") != NULL;
    free(list.options);
    if (!fine) return false;
    p->alive = true;
    p->chess960 = false;
    p->games = 0;
    p->ready_ns = now_ns();
    p->ready_cpu_ns = child_cpu_ns(p->child);
    p->think_ns = 0;
    return true;
}

// Ends the program: politely if it is alive.
static void stop(UciPlayer *p) {
    pthread_mutex_lock(&p->lock);
    Child *child = p->child;
    p->child = NULL;
    pthread_mutex_unlock(&p->lock);
    if (!child) return;
    int64_t deadline = deadline_in(p->spec->quit_ms, QUIT_MS);
    if (p->alive && child_send(child, "quit\n", 5, deadline)) child_end(child, deadline);
    child_free(child);
    p->alive = false;
}

// Starts the program, a second time if that may help.
static bool start_twice(UciPlayer *p, Error *error) {
    bool again;
    if (start(p, &again, error)) return true;
    stop(p);
    if (again && !atomic_load(&p->interrupted)) {
        if (start(p, &again, error)) return true;
        stop(p);
    }
    return error_prefix(error, "engine '%s'", p->spec->name);
}

UciPlayer *uci_player_create(const PlayerSpec *spec, int affinity, Error *error) {
    UciPlayer *p = calloc(1, sizeof *p);
    if (!p || !make_room(p, 4096)) {
        free(p);
        error_set(error, "engine '%s': no memory", spec->name);
        return NULL;
    }
    p->spec = spec;
    p->affinity = affinity;
    text_copy(p->id, sizeof p->id, spec->name);
    pthread_mutex_init(&p->lock, NULL);
    if (start_twice(p, error)) return p;
    uci_player_destroy(p);
    return NULL;
}

void uci_player_destroy(UciPlayer *p) {
    if (!p) return;
    stop(p);
    pthread_mutex_destroy(&p->lock);
    free(p->message);
    free(p);
}

// --- playing ------------------------------------------------------------------------------------

bool uci_player_set(UciPlayer *p, const char *name, const char *value, Error *error) {
    if (!p->alive) return error_set(error, "engine '%s': its process has ended", p->spec->name);
    if (!make_room(p, strlen(name) + strlen(value) + 64)) return error_set(error, "no memory");
    size_t used = add(p, 0, "setoption name %s value %s\n", name, value);
    return child_send(p->child, p->message, used, deadline_in(p->spec->ping_ms, PING_MS)) ||
           error_set(error, "engine '%s': does not take setoption", p->spec->name);
}

bool uci_player_new_game(UciPlayer *p, bool chess960, Error *error) {
    if (p->spec->restart && p->games > 0) {
        stop(p);
        if (!start_twice(p, error)) return false;
    }
    if (!p->alive) return error_set(error, "engine '%s': its process has ended", p->spec->name);
    if (chess960 && !p->can_chess960)
        return error_set(error, "engine '%s': it has no option UCI_Chess960", p->spec->name);
    size_t used = 0;
    if (chess960 != p->chess960)
        used = add(p, used, "setoption name UCI_Chess960 value %s\n", chess960 ? "true" : "false");
    p->chess960 = chess960;
    p->games++;
    used = add(p, used, "ucinewgame\nisready\n");
    return send_and_settle(p, used, error) || error_prefix(error, "engine '%s'", p->spec->name);
}

// Writes the moves of a game, each behind a blank.
static size_t write_moves(UciPlayer *p, size_t used, const PlayerTurn *turn) {
    for (int i = 0; i < turn->move_count; i++) {
        p->message[used++] = ' ';
        notation_to_uci(turn->start, turn->moves[i], p->message + used);
        used += strlen(p->message + used);
    }
    return used;
}

static long long at_least_one(int64_t ms) { return ms > 1 ? ms : 1; }

// Writes position and go; gives the length, 0 without memory.
static size_t write_turn(UciPlayer *p, const PlayerTurn *turn) {
    const TimeControl *tc = &p->spec->tc;
    char fen[FEN_SIZE];
    if (!make_room(p, (size_t)turn->move_count * UCI_SIZE + FEN_SIZE + 512)) return 0;
    position_to_fen(turn->start, fen);
    size_t used =
        strcmp(fen, START_FEN) == 0 ? add(p, 0, "position startpos") : add(p, 0, "position fen %s", fen);
    if (turn->move_count > 0) used = write_moves(p, add(p, used, " moves"), turn);
    used = add(p, used, "\ngo");
    if (tc->clock) {
        used = add(p, used, " wtime %lld btime %lld", at_least_one(turn->time_ms[WHITE]),
                   at_least_one(turn->time_ms[BLACK]));
        if (turn->inc_ms[WHITE] || turn->inc_ms[BLACK])
            used = add(p, used, " winc %lld binc %lld", (long long)turn->inc_ms[WHITE],
                       (long long)turn->inc_ms[BLACK]);
        if (turn->movestogo) used = add(p, used, " movestogo %d", turn->movestogo);
    }
    if (tc->move_ms) used = add(p, used, " movetime %lld", (long long)tc->move_ms);
    if (turn->nodes) used = add(p, used, " nodes %llu", (unsigned long long)turn->nodes);
    if (tc->depth) used = add(p, used, " depth %d", tc->depth);
    if (!tc->clock && !tc->move_ms && !turn->nodes && !tc->depth) used = add(p, used, " infinite");
    return add(p, used, "\n");
}

// How long to wait for a bestmove before stop, in milliseconds.
static int64_t patience_ms(const PlayerSpec *spec, const PlayerTurn *turn) {
    const TimeControl *tc = &spec->tc;
    if (tc->clock) return at_least_one(turn->time_ms[turn->pos->stm]) + tc->margin_ms + FLAG_MS;
    if (tc->move_ms) return tc->move_ms + tc->margin_ms + FLAG_MS;
    if (spec->watchdog_ms > 0) return spec->watchdog_ms;
    return turn->nodes ? WATCHDOG_MS + (int64_t)(turn->nodes < INT32_MAX ? turn->nodes : INT32_MAX)
                       : 10 * WATCHDOG_MS;
}

// Listens until bestmove, which it reads into move.
static ChildWait listen_for_move(UciPlayer *p, int64_t deadline_ns, const Position *pos, PlayerMove *move) {
    ChildText line;
    for (;;) {
        ChildWait wait = child_line(p->child, deadline_ns, &line);
        if (wait != CHILD_LINE) {
            move->answered_ns = now_ns();
            return wait;
        }
        if (begins_with(line.text, "info")) {
            uci_parse_info(line.text, move);
        } else if (begins_with(line.text, "bestmove")) {
            const char *at = behind_word(line.text);
            Word word = next_word(&at);
            snprintf(move->text, sizeof move->text, "%.*s", (int)word.size, word.text);
            move->move = notation_from_uci(pos, move->text);
            move->status = move->move == MOVE_NONE ? PLAYER_ILLEGAL : PLAYER_OK;
            move->answered_ns = line.ns;
            return CHILD_LINE;
        } else {
            p->unknown++;
        }
    }
}

// No bestmove by the deadline, or an interrupt: stop, and kill if even that is not answered.
static void call_in(UciPlayer *p, bool interrupted, const Position *pos, PlayerMove *move) {
    const TimeControl *tc = &p->spec->tc;
    child_resume(p->child);
    child_budget(p->child);
    int64_t deadline = now_ns() + STOP_MS * MS;
    bool answered =
        child_send(p->child, "stop\n", 5, deadline) && listen_for_move(p, deadline, pos, move) == CHILD_LINE;
    if (!answered) {
        child_end(p->child, 0);
        p->alive = false;
    }
    if (interrupted) move->status = PLAYER_INTERRUPTED;
    else if (!answered || (!tc->clock && !tc->move_ms)) move->status = PLAYER_STALLED;
}

PlayerMove uci_player_think(UciPlayer *p, const PlayerTurn *turn) {
    PlayerMove move = {.status = PLAYER_CRASHED};
    ChildText line;
    size_t size = p->alive ? write_turn(p, turn) : 0;
    if (size == 0) return move;
    child_budget(p->child);
    while (child_stale_line(p->child, &line)) p->stale += !begins_with(line.text, "info");
    move.asked_ns = now_ns(); // before the write, which may put the child in our place
    int64_t deadline = move.asked_ns + patience_ms(p->spec, turn) * MS;
    ChildWait wait = CHILD_ENDED;
    if (child_send(p->child, p->message, size, deadline))
        wait = listen_for_move(p, deadline, turn->pos, &move);
    else if (atomic_load(&p->interrupted)) wait = CHILD_INTERRUPTED;
    else if (now_ns() >= deadline) wait = CHILD_TIMEOUT;
    switch (wait) {
    case CHILD_LINE: break;
    case CHILD_TIMEOUT:
    case CHILD_INTERRUPTED: call_in(p, wait == CHILD_INTERRUPTED, turn->pos, &move); break;
    case CHILD_ENDED:
    case CHILD_LONG_LINE:
    case CHILD_FLOOD:
        move.status = wait == CHILD_ENDED ? PLAYER_CRASHED : PLAYER_PROTOCOL;
        child_end(p->child, wait == CHILD_ENDED ? now_ns() + FALL_MS * MS : 0);
        p->alive = false;
        break;
    }
    if (move.answered_ns == 0) move.answered_ns = now_ns();
    move.ns = move.answered_ns - move.asked_ns;
    p->think_ns += move.ns;
    return move;
}

// --- about it -----------------------------------------------------------------------------------

bool uci_player_alive(const UciPlayer *p) { return p->alive && child_running(p->child); }

size_t uci_player_dialogue(const UciPlayer *p, char *buffer, size_t size) {
    buffer[0] = '\0';
    return p->child ? child_log(p->child, buffer, size) : 0;
}

size_t uci_player_errors(const UciPlayer *p, char *buffer, size_t size) {
    buffer[0] = '\0';
    return p->child ? child_errors(p->child, buffer, size) : 0;
}

void uci_player_end_text(const UciPlayer *p, char *buffer, size_t size) {
    if (p->child) child_end_text(p->child, buffer, size);
    else snprintf(buffer, size, "not running");
}

const char *uci_player_id(const UciPlayer *p) { return p->id; }

PlayerManners uci_player_manners(const UciPlayer *p) {
    PlayerManners manners = {.stale = p->stale, .unknown = p->unknown};
    int64_t cpu = p->child ? child_cpu_ns(p->child) : -1;
    int64_t idle = now_ns() - p->ready_ns - p->think_ns;
    if (cpu >= 0 && p->ready_cpu_ns >= 0 && idle >= 1000 * MS) {
        int64_t excess = cpu - p->ready_cpu_ns - p->think_ns * p->threads;
        manners.idle_share = excess > 0 ? (double)excess / (double)idle : 0;
    }
    return manners;
}

void uci_player_interrupt(UciPlayer *p) {
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->interrupted, true);
    if (p->child) child_interrupt(p->child);
    pthread_mutex_unlock(&p->lock);
}
