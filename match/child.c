// SPDX-License-Identifier: GPL-3.0-or-later
#define _GNU_SOURCE
#include "match/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGS = 128, PATH_SIZE = 4096, EXEC_MS = 10000, REAP_MS = 10000 };
enum { TO = 1, FROM = 0 }; // the ends of a pipe

typedef struct LogLine {
    int64_t ns;
    char direction; // '>' to the child, '<' from it
    char text[CHILD_LOG_TEXT];
} LogLine;

struct Child {
    pid_t pid;
    int in, out, err; // our ends of its stdin, stdout and stderr; -1 once closed
    int pidfd;        // readable when it has ended; -1 on kernels without
    int wake;         // eventfd of child_interrupt
    bool reaped, killed;
    bool skip;  // the rest of a dropped line is still to come
    int status; // of waitpid, once reaped
    int64_t start_ns, read_ns;
    size_t begin, end;               // what of buffer is not consumed yet
    size_t scanned;                  // no end of line before this
    size_t budget;                   // bytes since child_budget
    uint64_t log_count, error_count; // ever
    LogLine log[CHILD_LOG_LINES];
    char errors[CHILD_ERRORS];
    char buffer[CHILD_LINE_MAX + 1];
};

// --- starting -----------------------------------------------------------------------------------

// A pipe that no other child inherits, with descriptors above those of stdio (dup2 in the child may not meet
// them).
static bool make_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    for (int i = 0; i < 2; i++) {
        if (ends[i] > 2) continue;
        int higher = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
        close(ends[i]);
        ends[i] = higher;
    }
    if (ends[0] >= 0 && ends[1] >= 0) return true;
    close(ends[0]);
    close(ends[1]);
    return false;
}

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

// Writes folder/name, absolute, if that is a program.
static bool find_in(const char *folder, size_t folder_size, const char *name, char *path) {
    char here[PATH_SIZE] = "";
    bool absolute = folder_size > 0 && folder[0] == '/';
    if (!absolute && !getcwd(here, sizeof here)) return false;
    int size = snprintf(path, PATH_SIZE, "%s%s%.*s/%s", here, absolute || !folder_size ? "" : "/",
                        (int)folder_size, folder, name);
    return size < PATH_SIZE && is_program(path);
}

// The absolute path of the program that cmd names.
static bool find_program(const char *cmd, const char *dir, char *path, Error *error) {
    if (!*cmd) return error_set(error, "no program is named (cmd= is empty)");
    if (cmd[0] == '/') {
        text_copy(path, PATH_SIZE, cmd);
        return is_program(path) || error_set(error, "'%.200s' is not a program that can be run", cmd);
    }
    if (*dir && find_in(dir, strlen(dir), cmd, path)) return true;
    if (strchr(cmd, '/')) {
        if (find_in("", 0, cmd, path)) return true;
        return error_set(error, "'%.120s'%s%.120s is not a program that can be run", cmd, *dir ? " in " : "",
                         dir);
    }
    const char *list = getenv("PATH");
    for (const char *at = list ? list : "/usr/bin:/bin"; *at;) {
        size_t size = strcspn(at, ":");
        if (size > 0 && find_in(at, size, cmd, path)) return true;
        at += size + (at[size] == ':');
    }
    if (find_in("", 0, cmd, path)) return true;
    return error_set(error, "there is no program '%.120s' in %s%.80s", cmd, *dir ? dir : "PATH",
                     *dir ? " or PATH" : " or here");
}

// Splits args in place at blanks, with quotes and backslashes as in a shell; argv[0] is there already.
static bool split_args(char *args, char *argv[MAX_ARGS], Error *error) {
    int count = 1;
    char *to = args;
    for (const char *at = args;;) {
        while (*at == ' ' || *at == '\t') at++;
        if (!*at) break;
        if (count == MAX_ARGS - 1) return error_set(error, "more than %d arguments", MAX_ARGS - 2);
        argv[count++] = to;
        char quote = 0;
        for (; *at && (quote || (*at != ' ' && *at != '\t')); at++) {
            if (!quote && (*at == '"' || *at == '\'')) quote = *at;
            else if (*at == quote) quote = 0;
            else if (*at == '\\' && quote != '\'' && at[1]) *to++ = *++at;
            else *to++ = *at;
        }
        if (quote) return error_set(error, "args: a quote (%c) is not closed", quote);
        if (*at) at++; // before the end of the word overwrites it
        *to++ = '\0';
    }
    argv[count] = NULL;
    return true;
}

// What the forked child does: only calls that are safe after a fork in a program with threads.
static _Noreturn void become(const char *path, char *const *argv, const char *dir, int affinity, pid_t parent,
                             const int ends[3], int report) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); // it died before the line above
    sigset_t none;
    sigemptyset(&none);
    const int reset[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++) signal(reset[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    bool fine = dup2(ends[0], 0) >= 0 && dup2(ends[1], 1) >= 0 && dup2(ends[2], 2) >= 0;
    if (fine && *dir) fine = chdir(dir) == 0;
    if (fine && affinity >= 0) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET((size_t)affinity, &cpus);
        fine = sched_setaffinity(0, sizeof cpus, &cpus) == 0;
    }
    if (fine) execv(path, argv);
    int reason = errno;
    if (write(report, &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
}

// Waits until the child has become the program; false and the reason if it could not.
static bool became(int report, const char *path, Error *error) {
    int reason = 0;
    struct pollfd wait = {.fd = report, .events = POLLIN};
    if (poll(&wait, 1, EXEC_MS) <= 0)
        return error_set(error, "'%.200s' could not be started within %d s", path, EXEC_MS / 1000);
    if (read(report, &reason, sizeof reason) != sizeof reason) return true;
    return error_set(error, "'%.200s' cannot be run: %s", path, strerror(reason));
}

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static bool spawn(Child *child, const char *path, char *const *argv, const char *dir, int affinity,
                  Error *error) {
    int pipes[4][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}; // stdin, stdout, stderr, report of exec
    bool fine = true;
    for (int i = 0; i < 4 && fine; i++) fine = make_pipe(pipes[i]);
    child->wake = fine ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (!fine || child->wake < 0) {
        error_set(error, "no pipe for '%.200s': %s", path, strerror(errno));
        fine = false;
    }
    if (fine) {
        pid_t parent = getpid();
        child->pid = fork();
        const int ends[3] = {pipes[0][FROM], pipes[1][TO], pipes[2][TO]};
        if (child->pid == 0) become(path, argv, dir, affinity, parent, ends, pipes[3][TO]);
        if (child->pid < 0) fine = error_set(error, "'%.200s' cannot be started: %s", path, strerror(errno));
    }
    close_fd(&pipes[0][FROM]);
    for (int i = 1; i < 4; i++) close_fd(&pipes[i][TO]);
    child->in = pipes[0][TO];
    child->out = pipes[1][FROM];
    child->err = pipes[2][FROM];
    if (fine) {
        setpgid(child->pid, child->pid); // whichever of the two is first
        child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
        fine = became(pipes[3][FROM], path, error);
        for (int i = 0; i < 3; i++) {
            int fd = i == 0 ? child->in : i == 1 ? child->out : child->err;
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        }
    }
    close_fd(&pipes[3][FROM]);
    return fine;
}

Child *child_start(const char *cmd, const char *args, const char *dir, int affinity, Error *error) {
    char path[PATH_SIZE], *argv[MAX_ARGS] = {path};
    if (!find_program(cmd, dir, path, error)) return NULL;
    Child *child = calloc(1, sizeof *child);
    char *words = strdup(args);
    if (!child || !words) {
        free(child);
        free(words);
        error_set(error, "no memory to start '%.200s'", cmd);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    child->in = child->out = child->err = child->pidfd = child->wake = -1;
    child->start_ns = now_ns();
    bool fine = split_args(words, argv, error) && spawn(child, path, argv, dir, affinity, error);
    free(words);
    if (fine) return child;
    child_free(child);
    return NULL;
}

// --- talking ------------------------------------------------------------------------------------

// Remembers lines of the dialogue.
static void remember(Child *child, char direction, const char *text, size_t size) {
    while (size > 0) {
        const char *stop = memchr(text, '\n', size);
        size_t length = stop ? (size_t)(stop - text) : size;
        LogLine *line = &child->log[child->log_count++ % CHILD_LOG_LINES];
        line->ns = now_ns();
        line->direction = direction;
        size_t kept = length < CHILD_LOG_TEXT ? length : CHILD_LOG_TEXT - 4;
        memcpy(line->text, text, kept);
        memcpy(line->text + kept, length > kept ? "..." : "", length > kept ? 4 : 1);
        size_t step = length + (stop != NULL);
        text += step;
        size -= step;
    }
}

static int poll_ms(int64_t deadline_ns) {
    int64_t left = deadline_ns - now_ns();
    if (left <= 0) return 0;
    int64_t ms = (left + 999999) / 1000000;
    return ms > 3600000 ? 3600000 : (int)ms;
}

// Reads what is on stderr into the ring; closes it at its end. Gives whether there was anything.
static bool read_errors(Child *child) {
    char chunk[4096];
    ssize_t size = child->err < 0 ? 0 : read(child->err, chunk, sizeof chunk);
    if (size > 0) {
        for (ssize_t i = 0; i < size; i++) child->errors[child->error_count++ % CHILD_ERRORS] = chunk[i];
        return true;
    }
    if (size == 0 || (errno != EAGAIN && errno != EINTR)) close_fd(&child->err);
    return false;
}

// Reads what fits into the buffer; closes stdout at its end.
static void read_output(Child *child) {
    if (child->begin > 0) {
        memmove(child->buffer, child->buffer + child->begin, child->end - child->begin);
        child->end -= child->begin;
        child->scanned -= child->begin;
        child->begin = 0;
    }
    if (child->out < 0 || child->end == CHILD_LINE_MAX) return;
    ssize_t size = read(child->out, child->buffer + child->end, CHILD_LINE_MAX - child->end);
    if (size > 0) {
        child->end += (size_t)size;
        child->budget += (size_t)size;
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(&child->out);
    }
}

// Takes a line from the buffer; at the end of the output also one without end of line.
static bool take_line(Child *child, ChildText *line) {
    for (;;) {
        char *from = child->buffer + child->scanned;
        char *stop = memchr(from, '\n', child->end - child->scanned);
        size_t next;
        if (stop) {
            next = (size_t)(stop - child->buffer) + 1;
        } else {
            child->scanned = child->end;
            if (child->out >= 0 || child->begin == child->end) return false;
            stop = child->buffer + child->end;
            next = child->end;
        }
        char *text = child->buffer + child->begin;
        size_t size = (size_t)(stop - text);
        child->begin = child->scanned = next;
        if (child->skip) { // the rest of something stale
            child->skip = false;
            continue;
        }
        while (size > 0 && text[size - 1] == '\r') size--;
        text[size] = '\0';
        for (char *nul = text; (nul = memchr(nul, '\0', size - (size_t)(nul - text)));) *nul = '?';
        *line = (ChildText){.text = text, .size = size, .ns = child->read_ns};
        remember(child, '<', text, size ? size : 1);
        return true;
    }
}

// Waits for any of output, errors, the end and an interrupt; gives false at the deadline.
static bool wait_for_any(Child *child, bool to_write, int64_t deadline_ns, struct pollfd waits[5]) {
    bool room = child->end - child->begin < CHILD_LINE_MAX;
    waits[0] = (struct pollfd){.fd = room ? child->out : -1, .events = POLLIN};
    waits[1] = (struct pollfd){.fd = child->err, .events = POLLIN};
    waits[2] = (struct pollfd){.fd = child->pidfd, .events = POLLIN};
    waits[3] = (struct pollfd){.fd = child->wake, .events = POLLIN};
    waits[4] = (struct pollfd){.fd = to_write ? child->in : -1, .events = POLLOUT};
    int count = poll(waits, to_write ? 5 : 4, poll_ms(deadline_ns));
    if (count <= 0) return count < 0 && errno == EINTR;
    if (waits[1].revents) read_errors(child);
    return true;
}

bool child_send(Child *child, const char *text, size_t size, int64_t deadline_ns) {
    remember(child, '>', text, size);
    while (size > 0) {
        ssize_t sent = child->in < 0 ? -1 : write(child->in, text, size);
        if (sent > 0) {
            text += sent;
            size -= (size_t)sent;
            continue;
        }
        if (child->in < 0 || (errno != EAGAIN && errno != EINTR)) return false;
        // The pipe is full. The child may be waiting for us to read.
        struct pollfd waits[5];
        if (now_ns() >= deadline_ns || !wait_for_any(child, true, deadline_ns, waits)) return false;
        if (waits[0].revents) {
            child->read_ns = now_ns();
            read_output(child);
        }
        if (waits[3].revents || (waits[2].revents && !waits[4].revents)) return false;
    }
    return true;
}

ChildWait child_line(Child *child, int64_t deadline_ns, ChildText *line) {
    for (;;) {
        if (take_line(child, line)) return CHILD_LINE;
        if (child->end - child->begin == CHILD_LINE_MAX) return CHILD_LONG_LINE;
        if (child->budget > CHILD_FLOOD_MAX) return CHILD_FLOOD;
        if (child->out < 0) return CHILD_ENDED;
        struct pollfd waits[5];
        if (!wait_for_any(child, false, deadline_ns, waits)) return CHILD_TIMEOUT;
        child->read_ns = now_ns();
        if (waits[0].revents) read_output(child);
        else if (waits[3].revents) return CHILD_INTERRUPTED;
        else if (waits[2].revents)
            close_fd(&child->out); // it is gone; only its own children can hold the pipe open
        // An absolute end, however much it writes: only what has been read by then counts.
        if (child->read_ns >= deadline_ns) return take_line(child, line) ? CHILD_LINE : CHILD_TIMEOUT;
    }
}

bool child_stale_line(Child *child, ChildText *line) {
    for (;;) {
        if (take_line(child, line)) return true;
        int waiting = 0;
        bool more = child->out >= 0 && child->budget <= CHILD_FLOOD_MAX &&
                    child->end - child->begin < CHILD_LINE_MAX &&
                    ioctl(child->out, FIONREAD, &waiting) == 0 && waiting > 0;
        if (!more) break;
        child->read_ns = now_ns();
        read_output(child);
    }
    child->skip |= child->begin < child->end;
    child->begin = child->scanned = child->end;
    return false;
}

void child_budget(Child *child) { child->budget = 0; }

void child_interrupt(Child *child) {
    uint64_t one = 1;
    if (write(child->wake, &one, sizeof one) < 0) return; // the counter is full: it is readable anyway
}

void child_resume(Child *child) {
    uint64_t count;
    if (read(child->wake, &count, sizeof count) < 0) return; // there was none
}

// --- ending -------------------------------------------------------------------------------------

bool child_running(const Child *child) { return !child->reaped && child->out >= 0; }

// Whether it has ended by itself; it stays a zombie, so that its group's id stays its own.
static bool has_ended(const Child *child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child->pid;
}

void child_end(Child *child, int64_t deadline_ns) {
    if (child->reaped || child->pid <= 0) return;
    // It may hang in a write to a full pipe: read on, and forget what it says.
    while (!has_ended(child) && now_ns() < deadline_ns) {
        int64_t soon = child->pidfd >= 0 ? deadline_ns : now_ns() + 10000000;
        struct pollfd waits[5];
        child->begin = child->end = child->scanned = 0;
        wait_for_any(child, false, soon < deadline_ns ? soon : deadline_ns, waits);
        if (waits[0].revents) read_output(child);
        if (waits[3].revents) break;
    }
    child->killed = !has_ended(child);
    kill(-child->pid, SIGKILL); // itself if it still runs, and whatever it left behind
    close_fd(&child->in);
    close_fd(&child->out);
    int64_t last = now_ns() + REAP_MS * INT64_C(1000000);
    while (waitpid(child->pid, &child->status, WNOHANG) == 0 && now_ns() < last) {
        struct pollfd wait = {.fd = child->pidfd, .events = POLLIN};
        poll(&wait, 1, child->pidfd >= 0 ? poll_ms(last) : 1);
    }
    child->reaped = true;
    while (read_errors(child)) {}
}

void child_free(Child *child) {
    if (!child) return;
    child_end(child, 0);
    close_fd(&child->in);
    close_fd(&child->out);
    close_fd(&child->err);
    close_fd(&child->pidfd);
    close_fd(&child->wake);
    free(child);
}

int64_t child_cpu_ns(const Child *child) {
    clockid_t clock;
    struct timespec used;
    if (child->reaped || clock_getcpuclockid(child->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

int child_pid(const Child *child) { return child->pid; }

void child_end_text(const Child *child, char *buffer, size_t size) {
    if (!child->reaped) snprintf(buffer, size, "running");
    else if (child->killed) snprintf(buffer, size, "killed by the runner");
    else if (WIFSIGNALED(child->status))
        snprintf(buffer, size, "signal %d (%s)%s", WTERMSIG(child->status),
                 strsignal(WTERMSIG(child->status)), WCOREDUMP(child->status) ? ", core dumped" : "");
    else snprintf(buffer, size, "exit status %d", WEXITSTATUS(child->status));
}

size_t child_log(const Child *child, char *buffer, size_t size) {
    size_t used = 0;
    uint64_t first = child->log_count > CHILD_LOG_LINES ? child->log_count - CHILD_LOG_LINES : 0;
    buffer[0] = '\0';
    for (uint64_t i = first; i < child->log_count; i++) {
        const LogLine *line = &child->log[i % CHILD_LOG_LINES];
        double ms = (double)(line->ns - child->start_ns) / 1e6;
        int more = snprintf(buffer + used, size - used, "%12.3f %c %s\n", ms, line->direction, line->text);
        if (more < 0 || (size_t)more >= size - used) break;
        used += (size_t)more;
    }
    buffer[used] = '\0';
    return used;
}

size_t child_errors(Child *child, char *buffer, size_t size) {
    for (int i = 0; i < 2 * CHILD_ERRORS / 4096 && read_errors(child); i++) {} // a pipe's worth, not for ever
    uint64_t first = child->error_count > CHILD_ERRORS ? child->error_count - CHILD_ERRORS : 0;
    if (child->error_count - first >= size) first = child->error_count - (size - 1);
    size_t used = 0;
    for (uint64_t i = first; i < child->error_count; i++) buffer[used++] = child->errors[i % CHILD_ERRORS];
    buffer[used] = '\0';
    return used;
}
