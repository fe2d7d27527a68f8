// tuner <--pipes--> bridge <--socket--> router: ends as the agent of the rank does.

#include "tools/mpi/ranks.h"
#include "tools/mpi/socket.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// Write all bytes to the standard output; false if nobody reads.
static bool say(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, bytes, n);
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

// End in the way that a wait status says.
static int end_as(int status)
{
    struct rlimit none = {0, 0};
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return RANKS_PROCESS_LOST;
}

// Take a packet of the router.  Returns false at the end, with the exit status.
static bool take(int file, int *code)
{
    char packet[LINK_BYTES_MOST + 1];
    int status;
    ssize_t n = recv(file, packet, sizeof packet, 0);
    if (n > 0 && packet[0] == SOCKET_BYTES)
        return say(packet + 1, (size_t)n - 1);
    *code = RANKS_PROCESS_LOST;
    if (n == (ssize_t)sizeof status + 1 && packet[0] == SOCKET_END) {
        memcpy(&status, packet + 1, sizeof status);
        *code = end_as(status);
    }
    return false;
}

// Pass on what the tuner says; false at its end.
static bool pass_on(int file)
{
    char bytes[LINK_BYTES_MOST];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    return n > 0 && send(file, bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

int bridge_run(const char *name)
{
    int code = 0, file = socket_connect(name);
    if (file < 0) {
        fprintf(stderr, "ingot-mpi: there is no rank behind %s\n", name);
        return RANKS_PROCESS_LOST;
    }
    for (;;) {
        struct pollfd both[] = {{file, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (poll(both, 2, -1) < 0)
            continue;
        if (both[0].revents ? !take(file, &code) : !pass_on(file))
            return code;
    }
}
