// Reads the outputs of all processes in one poll loop.

#define _GNU_SOURCE

#include "nvptx/process.h"

#include "ir/base/phases.h"

#include "nvptx/spawn.h"
#include "nvptx/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUT = SPAWN_OUT, ERR = SPAWN_ERR, PIPES = SPAWN_PIPES };

enum {
    DEFAULT_LIMIT_MS = 600000,
    REAP_INTERVAL_US = 200,
    CHUNK = 65536,
};

// A process that was started.
struct running {
    struct process *process;
    pid_t pid;
    struct watch watch;
    double began;       // on the clock of phases_now
    struct pollfd *fds; // PIPES of them; fd -1 after the end of the stream
};

// Return the time that a process may use, or do nothing for.
static int64_t limit_of(const struct process *p)
{
    return p->limit_ms ? p->limit_ms : DEFAULT_LIMIT_MS;
}

// Return how many bytes a process may write.
static size_t output_limit(const struct process *p)
{
    return p->output_most ? p->output_most : (size_t)PROCESS_OUTPUT_MOST;
}

// Start a process; on failure `end` says so and its streams are closed.
static void start(struct running *r)
{
    struct process *p = r->process;
    struct spawned child = {0};
    int error = spawn(p, limit_of(p) / 1000 + 2, &child);
    if (error) {
        p->end = PROCESS_NOT_STARTED;
        p->code = error;
    }
    r->pid = child.pid;
    r->watch = watch_start(child.pid, limit_of(p));
    r->began = phases_now();
    for (int i = 0; i < PIPES; i++)
        r->fds[i] = (struct pollfd){.fd = child.pipes[i], .events = POLLIN};
}

// Close a stream of a process.
static void close_stream(struct running *r, int stream)
{
    if (r->fds[stream].fd >= 0)
        close(r->fds[stream].fd);
    r->fds[stream].fd = -1;
    r->process->ms = phases_now() - r->began;
}

// Return whether a stream of the process is open.
static bool is_talking(const struct running *r)
{
    return r->fds[OUT].fd >= 0 || r->fds[ERR].fd >= 0;
}

// Kill the group of a process and note why.
static void stop(struct running *r, enum process_end why)
{
    kill(-r->pid, SIGKILL);
    r->process->end = why;
    for (int i = 0; i < PIPES; i++)
        close_stream(r, i);
}

// Read what a stream has ready.
static void read_stream(struct running *r, int stream)
{
    struct process *p = r->process;
    struct buf *into = stream == OUT ? &p->output : &p->errors;
    char chunk[CHUNK];
    ssize_t n = read(r->fds[stream].fd, chunk, sizeof chunk);
    if (n > 0)
        watch_progress(&r->watch);
    if (n > 0)
        buf_bytes(into, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_stream(r, stream);
    if (into->n > output_limit(p))
        stop(r, PROCESS_FLOODED);
}

// End a process that uses too much processor time, or does nothing.
static void judge(struct running *r)
{
    enum watch_end end = watch_look(&r->watch);
    if (end != WATCH_FINE)
        stop(r, end == WATCH_IDLE ? PROCESS_IDLE : PROCESS_OVERTIME);
}

// Return how long to wait for news from any of `n` processes, or -1 if none
// has an open stream.
static int wait_ms(const struct running *all, size_t n)
{
    int first = -1;
    for (size_t i = 0; i < n; i++) {
        int pause = is_talking(&all[i]) ? watch_pause(&all[i].watch) : -1;
        if (pause >= 0 && (first < 0 || pause < first))
            first = pause;
    }
    return first;
}

// Read the outputs of all processes until each has closed them or was killed.
static void listen_to(struct running *all, size_t n, struct pollfd *fds)
{
    for (int wait = wait_ms(all, n); wait >= 0; wait = wait_ms(all, n)) {
        poll(fds, (nfds_t)(n * PIPES), wait);
        for (size_t i = 0; i < n * PIPES; i++)
            if (fds[i].fd >= 0 && fds[i].revents)
                read_stream(&all[i / PIPES], (int)(i % PIPES));
        for (size_t i = 0; i < n; i++)
            if (is_talking(&all[i]))
                judge(&all[i]);
    }
}

// Wait until a process without open streams has ended, within its limits; it
// stays a zombie, so that its group cannot be another's.
static void await_end(struct running *r)
{
    const struct timespec pause = {0, REAP_INTERVAL_US * 1000};
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOWAIT | WNOHANG) ==
               0 &&
           info.si_pid == 0) {
        if (r->process->end == PROCESS_EXITED)
            judge(r);
        nanosleep(&pause, NULL);
    }
}

// Take the status of a process and end what is left of its group.
static void reap(struct running *r)
{
    struct process *p = r->process;
    int status = 0;
    await_end(r);
    kill(-r->pid, SIGKILL);
    while (waitpid(r->pid, &status, 0) < 0) {
        if (errno != EINTR) {
            p->end = PROCESS_NOT_STARTED;
            p->code = errno;
            return;
        }
    }
    if (p->end != PROCESS_EXITED)
        return;
    if (WIFSIGNALED(status))
        p->end =
            WTERMSIG(status) == SIGXCPU ? PROCESS_OVERTIME : PROCESS_SIGNALED;
    p->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

// Return whether a path is a file that may be run.
static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, X_OK) == 0;
}

const char *process_find(struct arena *a, const char *name,
                         const char *const *folders, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        const char *found = arena_printf(a, "%s/bin/%s", folders[i], name);
        if (is_program(found))
            return found;
    }
    while (path && *path) {
        int length = (int)strcspn(path, ":");
        const char *found = arena_printf(a, "%.*s/%s", length, path, name);
        if (length > 0 && is_program(found))
            return found;
        path += length + (path[length] == ':');
    }
    return NULL;
}

void process_run(struct arena *scratch, struct process *all, size_t n)
{
    struct running *running = arena_array(scratch, struct running, n);
    struct pollfd *fds = arena_array(scratch, struct pollfd, n * PIPES);
    for (size_t i = 0; i < n; i++) {
        all[i].end = PROCESS_EXITED;
        all[i].code = 0;
        running[i].process = &all[i];
        running[i].fds = &fds[i * PIPES];
        start(&running[i]);
    }
    listen_to(running, n, fds);
    for (size_t i = 0; i < n; i++)
        if (all[i].end != PROCESS_NOT_STARTED)
            reap(&running[i]);
}

void process_free(struct process *p)
{
    buf_free(&p->output);
    buf_free(&p->errors);
}

void process_ending(const struct process *p, struct buf *out)
{
    switch (p->end) {
    case PROCESS_EXITED:
        buf_printf(out, "exited with status %d", p->code);
        break;
    case PROCESS_SIGNALED:
        buf_printf(out, "was killed by signal %d (%s)", p->code,
                   strsignal(p->code));
        break;
    case PROCESS_NOT_STARTED:
        buf_printf(out, "could not be started: %s", strerror(p->code));
        break;
    case PROCESS_OVERTIME:
        buf_printf(out, "used more than %.3g s of processor time",
                   (double)limit_of(p) / 1000);
        break;
    case PROCESS_IDLE:
        buf_printf(out, "did nothing for %.3g s", (double)limit_of(p) / 1000);
        break;
    case PROCESS_FLOODED:
        buf_printf(out, "wrote more than %zu bytes", output_limit(p));
        break;
    }
}

// Append an argument, quoted if a shell would read it otherwise.
static void append_argument(const char *text, struct buf *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789+,-./:=@_";
    if (*text && text[strspn(text, plain)] == '\0') {
        buf_text(out, text);
        return;
    }
    buf_char(out, '\'');
    for (; *text; text++)
        buf_printf(out, *text == '\'' ? "'\\''" : "%c", *text);
    buf_char(out, '\'');
}

void process_command(const struct process *p, struct buf *out)
{
    for (size_t i = 0; p->argv[i]; i++) {
        if (i)
            buf_char(out, ' ');
        append_argument(p->argv[i], out);
    }
}
