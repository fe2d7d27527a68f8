// Runs parts of a build on threads, as many at a time as make or the user allows.

#include "tools/libingot/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MOST = 64 };

// ---- The jobserver ----------------------------------------------------------

// Return what follows the last `name` of the flags, or NULL.
static const char *value_of(const char *flags, const char *name)
{
    const char *found = NULL;
    while (flags && (flags = strstr(flags, name)))
        found = flags += strlen(name);
    return found;
}

// Open both ends of the pipe by their paths, without waiting for tokens: with file
// descriptors of our own, as the flags of make's are those of all its commands.
static bool open_ends(struct jobs *j, const char *from, const char *to)
{
    struct stat a, b;
    j->from = open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    j->to = j->from < 0 ? -1 : open(to, O_WRONLY | O_CLOEXEC);
    return j->to >= 0 && fstat(j->from, &a) == 0 && fstat(j->to, &b) == 0 &&
           S_ISFIFO(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Open the pipe that the flags name: `fifo:PATH`, or two file descriptors, which make
// passes to recursive commands alone.
static bool open_make(struct jobs *j, const char *flags)
{
    char from[4096], to[64];
    int read_end, write_end;
    const char *value = value_of(flags, "--jobserver-auth=");
    value = value ? value : value_of(flags, "--jobserver-fds=");
    if (value && sscanf(value, "fifo:%4095[^ ]", from) == 1)
        return open_ends(j, from, from);
    if (!value || sscanf(value, "%d,%d", &read_end, &write_end) != 2 ||
        read_end < 0 || write_end < 0)
        return false;
    snprintf(from, sizeof from, "/proc/self/fd/%d", read_end);
    snprintf(to, sizeof to, "/proc/self/fd/%d", write_end);
    return open_ends(j, from, to);
}

void jobs_start(struct jobs *j, const char *flags, size_t most)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *j = (struct jobs){.from = -1, .to = -1};
    j->is_make = open_make(j, flags);
    if (!j->is_make)
        jobs_end(j);
    j->most = most                           ? most
              : j->is_make || processors < 1 ? THREADS_MOST
                                             : (size_t)processors;
}

void jobs_end(struct jobs *j)
{
    if (j->from >= 0)
        close(j->from);
    if (j->to >= 0)
        close(j->to);
    *j = (struct jobs){.from = -1, .to = -1};
}

// ---- Threads ----------------------------------------------------------------

// What the threads of one jobs_run share.
struct crew {
    const struct jobs *jobs;
    void (*work)(void *, size_t);
    void *context;
    size_t n, next; // under `mutex`
    pthread_mutex_t mutex;
    int ended; // can be read when no part is left
};

// Run the next part.  Returns false if there was none.
static bool run_next(struct crew *c)
{
    pthread_mutex_lock(&c->mutex);
    size_t i = c->next;
    c->next += i < c->n;
    pthread_mutex_unlock(&c->mutex);
    if (i == c->n)
        return false;
    c->work(c->context, i);
    return true;
}

// Wait for a token.  Returns false when no part is left before there is one, or the pipe
// is broken.
static bool take_token(const struct crew *c, char *token)
{
    for (;;) {
        struct pollfd wait[] = {{c->jobs->from, POLLIN, 0},
                                {c->ended, POLLIN, 0}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return false;
        if (wait[1].revents)
            return false;
        ssize_t got = read(c->jobs->from, token, 1);
        if (got >= 0)
            return got == 1;
        if (errno != EAGAIN && errno != EINTR)
            return false;
    }
}

// Give a token back.
static void give_token(const struct jobs *j, char token)
{
    while (write(j->to, &token, 1) < 0 && errno == EINTR)
        ;
}

// Run parts, each with a token where make wants one.
static void *help(void *argument)
{
    struct crew *c = argument;
    char token = 0;
    bool needs = c->jobs && c->jobs->is_make, ran = true;
    while (ran && (!needs || take_token(c, &token))) {
        ran = run_next(c);
        if (needs)
            give_token(c->jobs, token);
    }
    return NULL;
}

// Tell the threads that wait for tokens that no part is left.
static void end_waiting(const struct crew *c)
{
    uint64_t one = 1;
    while (c->ended >= 0 && write(c->ended, &one, sizeof one) < 0 &&
           errno == EINTR)
        ;
}

void jobs_run(const struct jobs *j, size_t n, void (*work)(void *, size_t),
              void *context)
{
    struct crew c = {j, work, context, n, 0, PTHREAD_MUTEX_INITIALIZER, -1};
    pthread_t threads[THREADS_MOST];
    size_t started = 0, most = j && j->most < n ? j->most : n;
    most = most < THREADS_MOST ? most : THREADS_MOST;
    if (j && j->is_make && (c.ended = eventfd(0, EFD_CLOEXEC)) < 0)
        most = 1;
    while (started + 1 < most &&
           pthread_create(&threads[started], NULL, help, &c) == 0)
        started++;
    while (run_next(&c))
        ;
    end_waiting(&c);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (c.ended >= 0)
        close(c.ended);
    pthread_mutex_destroy(&c.mutex);
}
