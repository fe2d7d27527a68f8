// Processes that are spoken to over pipes.

#define _DEFAULT_SOURCE // usleep

#include "tools/ingot/child.h"

#include "ir/base/phases.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// Microseconds: the first and the longest pause before looking again, and for how long.
enum {
    PAUSE_US = 100,
    PAUSE_MOST_US = 20000,
    BY_ITSELF_US = 200000,
    KILLED_US = 5000000,
};

double child_now(void)
{
    return phases_now() / 1e3;
}

// Four ends of two pipes; -1: not open.
struct ends {
    int to[2], from[2]; // of the child: read end first
};

// Open both pipes; other children do not get them.
static bool open_ends(struct ends *e)
{
    *e = (struct ends){{-1, -1}, {-1, -1}};
    if (pipe(e->to) || pipe(e->from))
        return false;
    fcntl(e->to[1], F_SETFD, FD_CLOEXEC);
    fcntl(e->from[0], F_SETFD, FD_CLOEXEC);
    return true;
}

// Close the ends that are open.
static void close_ends(const struct ends *e)
{
    for (int i = 0; i < 2; i++) {
        if (e->to[i] >= 0)
            close(e->to[i]);
        if (e->from[i] >= 0)
            close(e->from[i]);
    }
}

// Begin as a child: a process group of its own, that ends with the parent.
static void begin(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
}

// Fork, with pipes between the two: true in the child.
static bool is_born(struct child *c, struct ends *e)
{
    *c = (struct child){0};
    c->id = open_ends(e) ? fork() : -1;
    if (c->id == 0)
        begin();
    return c->id == 0;
}

// Keep the parent's ends of the pipes; false if there is no child.
static bool keep(struct child *c, struct ends *e)
{
    if (c->id < 0) {
        close_ends(e);
        c->id = 0;
        return false;
    }
    setpgid(c->id, c->id);
    close(e->to[0]);
    close(e->from[1]);
    c->wire = (struct wire){e->from[0], e->to[1], {0}};
    fcntl(c->wire.out, F_SETFL, O_NONBLOCK);
    return true;
}

bool child_run(struct child *c, const char *command)
{
    struct ends e;
    if (is_born(c, &e)) {
        dup2(e.to[0], STDIN_FILENO);
        dup2(e.from[1], STDOUT_FILENO);
        close_ends(&e);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return keep(c, &e);
}

bool child_fork(struct child *c, void (*work)(struct wire *, void *),
                void *context)
{
    struct ends e;
    if (is_born(c, &e)) {
        struct wire wire = {-1, e.from[1], {0}};
        work(&wire, context);
        _exit(0);
    }
    return keep(c, &e);
}

// Wait a little for the end of a process; false if it does not come.  Most end at once:
// pauses become longer.
static bool ends(pid_t id, unsigned most_us, int *status)
{
    unsigned pause = PAUSE_US;
    for (unsigned us = 0; us <= most_us; us += pause) {
        if (waitpid(id, status, WNOHANG) == id)
            return true;
        usleep(pause);
        pause = 2 * pause < PAUSE_MOST_US ? 2 * pause : PAUSE_MOST_US;
    }
    return false;
}

// Say how a process ended.
static void tell(int status, bool was_killed, char *text, size_t size)
{
    if (was_killed)
        snprintf(text, size, "does not answer");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "ended by %s", strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "ended with exit status %d", WEXITSTATUS(status));
}

const char *child_end(struct child *c, char *text, size_t size)
{
    int status = 0;
    *text = '\0';
    wire_close(&c->wire);
    if (!c->id)
        return text;
    bool was_killed = !ends(c->id, BY_ITSELF_US, &status);
    kill(-c->id, SIGKILL);
    if (was_killed)
        ends(c->id, KILLED_US, &status);
    tell(status, was_killed, text, size);
    c->status = status;
    c->id = 0;
    return text;
}

void child_stop(struct child *c)
{
    char text[64];
    if (c->id)
        kill(-c->id, SIGKILL);
    child_end(c, text, sizeof text);
}
