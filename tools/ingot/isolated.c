// The child's standard error is a pipe, whose end says that the child is gone.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "tools/ingot/isolated.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100 };

// A child that runs.
struct child {
    const struct isolated *what;
    struct isolated_result *out;
    pid_t id;
    int pipe; // to read from
    size_t n; // bytes of its text
};

// Return the seconds since some moment.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Read what the child wrote; false at its end.
static bool take_text(struct child *c)
{
    char part[512];
    ssize_t n = read(c->pipe, part, sizeof part);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    size_t room = ISOLATED_TEXT - 1 - c->n;
    size_t kept = (size_t)n < room ? (size_t)n : room;
    memcpy(c->out->text + c->n, part, kept);
    c->n += kept;
    return true;
}

// Wait until the child closes its pipe; false if that takes too long.
static bool follow(struct child *c)
{
    uint64_t seen = *c->what->progress;
    double since = now();
    for (;;) {
        struct pollfd one = {c->pipe, POLLIN, 0};
        bool has_text = poll(&one, 1, TICK_MS) > 0;
        if (*c->what->progress != seen) {
            seen = *c->what->progress;
            since = now();
        }
        if (now() - since >= c->what->seconds)
            return false;
        if (has_text && !take_text(c))
            return true;
        if (c->what->tick)
            c->what->tick(c->what->context);
    }
}

// Run the work in the child, which ends here.
static void be_child(const struct isolated *what, const int *ends)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    what->work(what->context);
    _exit(0);
}

// Say how the child ended.
static void judge(struct child *c, bool in_time)
{
    int status = 0;
    if (!in_time)
        kill(c->id, SIGKILL);
    while (waitpid(c->id, &status, 0) < 0 && errno == EINTR)
        continue;
    bool is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    c->out->end = !in_time  ? ISOLATED_TOO_LONG
                  : is_done ? ISOLATED_DONE
                            : ISOLATED_CRASHED;
    c->out->reason = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit";
}

void isolated_run(const struct isolated *what, struct isolated_result *out)
{
    struct child c = {.what = what, .out = out};
    int ends[2];
    *out = (struct isolated_result){.end = ISOLATED_NO_PROCESS};
    if (pipe(ends))
        return;
    c.id = fork();
    if (c.id == 0)
        be_child(what, ends);
    close(ends[1]);
    c.pipe = ends[0];
    if (c.id > 0)
        judge(&c, follow(&c));
    close(ends[0]);
}

void *isolated_alloc(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void isolated_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}
