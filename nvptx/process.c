// Runs tools over pipes.
//
// Inputs are files in memory (memfd), so that a tool may open and seek them;
// outputs are pipes, read by one poll loop for all processes.

#define _GNU_SOURCE

#include "nvptx/process.h"

#include "ir/base/phases.h"

#include "nvptx/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUT, ERR, PIPES };

enum {
    DEFAULT_TIMEOUT_MS = 60000,
    REAP_INTERVAL_US = 200,
    CHUNK = 65536,
};

// A process that was started.
struct running {
    struct process *process;
    pid_t pid;
    int64_t deadline;   // on the clock of now_ms
    double began;       // on the clock of phases_now
    struct pollfd *fds; // PIPES of them; fd -1 after the end of the stream
};

// Return milliseconds of a clock that only goes forward.
static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Return the time that a process may take.
static int64_t timeout_of(const struct process *p)
{
    return p->timeout_ms ? p->timeout_ms : DEFAULT_TIMEOUT_MS;
}

// Return how many bytes a process may write.
static size_t output_limit(const struct process *p)
{
    return p->output_most ? p->output_most : (size_t)PROCESS_OUTPUT_MOST;
}

// Return a file in memory with these bytes, at its start, or -1 with errno.
// Its number is above all that a child's inputs get.
static int memory_file(const struct process_input *input)
{
    int low = memfd_create("input", MFD_CLOEXEC);
    if (low < 0)
        return -1;
    int fd = -1;
    if (io_write(low, input->bytes, input->size) &&
        lseek(low, 0, SEEK_SET) == 0)
        fd = fcntl(low, F_DUPFD_CLOEXEC, PROCESS_INPUTS_MOST + 3);
    close(low);
    return fd;
}

// What a child gets: files, and the pipes' ends for it and for us; -1 if not
// open.
struct plumbing {
    int inputs[PROCESS_INPUTS_MOST];
    size_t n_inputs;
    int ours[PIPES], theirs[PIPES];
};

// Close what is open of `n` descriptors.
static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

// Open the inputs of a process; standard input is empty if it has none.
static bool open_inputs(const struct process *p, struct plumbing *pipes)
{
    static const struct process_input nothing = {"", 0};
    const struct process_input *inputs = p->n_inputs ? p->inputs : &nothing;
    size_t n = p->n_inputs ? p->n_inputs : 1;
    for (; pipes->n_inputs < n; pipes->n_inputs++) {
        int fd = memory_file(&inputs[pipes->n_inputs]);
        if (fd < 0)
            return false;
        pipes->inputs[pipes->n_inputs] = fd;
    }
    return true;
}

// Open a pipe whose end for us does not block.
static bool open_pipe(int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *ours = ends[0];
    *theirs = ends[1];
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

// Open everything that a child gets; false, with errno, on failure.
static bool open_plumbing(const struct process *p, struct plumbing *pipes)
{
    *pipes = (struct plumbing){.ours = {-1, -1}, .theirs = {-1, -1}};
    if (p->n_inputs > PROCESS_INPUTS_MOST) {
        errno = E2BIG;
        return false;
    }
    return open_inputs(p, pipes) &&
           open_pipe(&pipes->ours[OUT], &pipes->theirs[OUT]) &&
           open_pipe(&pipes->ours[ERR], &pipes->theirs[ERR]);
}

// Say where the child's descriptors go.
// Returns an errno.
static int place_files(posix_spawn_file_actions_t *actions,
                       const struct plumbing *pipes)
{
    int error = posix_spawn_file_actions_adddup2(actions, pipes->inputs[0], 0);
    for (int i = 0; i < PIPES && !error; i++)
        error =
            posix_spawn_file_actions_adddup2(actions, pipes->theirs[i], 1 + i);
    for (int i = 1; i < (int)pipes->n_inputs && !error; i++)
        error =
            posix_spawn_file_actions_adddup2(actions, pipes->inputs[i], 2 + i);
    return error;
}

// Say that the child leads a group of its own and has no signal blocked,
// caught or ignored.
// Returns an errno.
static int set_attributes(posix_spawnattr_t *attributes)
{
    const short flags =
        POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setflags(attributes, flags);
    return error;
}

// Start a process on its plumbing.
// Returns an errno.
static int spawn(const struct process *p, const struct plumbing *pipes,
                 pid_t *pid)
{
    char *const environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int error = place_files(&actions, pipes);
    if (!error)
        error = set_attributes(&attributes);
    if (!error)
        error = posix_spawn(pid, p->argv[0], &actions, &attributes,
                            (char *const *)p->argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Start a process; on failure `end` says so and its streams are closed.
static void start(struct running *r)
{
    struct process *p = r->process;
    struct plumbing pipes;
    int error = open_plumbing(p, &pipes) ? 0 : errno;
    if (!error)
        error = spawn(p, &pipes, &r->pid);
    close_all(pipes.inputs, pipes.n_inputs);
    close_all(pipes.theirs, PIPES);
    if (error) {
        close_all(pipes.ours, PIPES);
        p->end = PROCESS_NOT_STARTED;
        p->code = error;
    }
    r->deadline = now_ms() + timeout_of(p);
    r->began = phases_now();
    for (int i = 0; i < PIPES; i++)
        r->fds[i] = (struct pollfd){.fd = pipes.ours[i], .events = POLLIN};
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
        buf_bytes(into, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_stream(r, stream);
    if (into->n > output_limit(p))
        stop(r, PROCESS_FLOODED);
}

// Return how long to wait for news from any of `n` processes, or -1 if none
// has an open stream.
static int wait_ms(const struct running *all, size_t n)
{
    int64_t first = INT64_MAX, now = now_ms();
    for (size_t i = 0; i < n; i++)
        if (is_talking(&all[i]) && all[i].deadline < first)
            first = all[i].deadline;
    if (first == INT64_MAX)
        return -1;
    return first <= now ? 0 : first - now > 60000 ? 60000 : (int)(first - now);
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
            if (is_talking(&all[i]) && all[i].deadline <= now_ms())
                stop(&all[i], PROCESS_TIMED_OUT);
    }
}

// Wait until a process without open streams has ended, at most until its
// deadline; it stays a zombie, so that its group cannot be another's.
static void await_end(struct running *r)
{
    const struct timespec pause = {0, REAP_INTERVAL_US * 1000};
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOWAIT | WNOHANG) ==
               0 &&
           info.si_pid == 0) {
        if (r->process->end == PROCESS_EXITED && r->deadline <= now_ms())
            stop(r, PROCESS_TIMED_OUT);
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
        p->end = PROCESS_SIGNALED;
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
    case PROCESS_TIMED_OUT:
        buf_printf(out, "ran longer than %.3g s", (double)timeout_of(p) / 1000);
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
