// Rank 0:  tuner <--pipes--> bridge <--socket--> router <--MPI--> relay
//
// The tuner is a process of its own, so that it knows nothing of MPI: a rank is an
// agent like others, which ends when that rank's does.

#include "tools/ingot/child.h"
#include "tools/mpi/ranks.h"
#include "tools/mpi/socket.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAREWELL_S 5.0

// Another rank; files are -1 where there is none.
struct peer {
    int listener, bridge;
    uint32_t session; // of the bridge
    double heard;
    bool has_left;
};

// The router.
struct router {
    struct link *link;
    struct peer *peers;  // of each rank
    struct pollfd *wait; // room for two files of each rank
    pid_t tuner;
    uint32_t sessions; // that there were
    double beaten;
};

// ---- Starting -------------------------------------------------------------

// Write the name of a rank's socket.
static void name_socket(int rank, pid_t router, char *out)
{
    snprintf(out, RANKS_ADDRESS_SIZE, "ingot-mpi-%ld-%d", (long)router, rank);
}

// Listen for a bridge of each rank.
static bool listen_for_bridges(struct router *r)
{
    char name[RANKS_ADDRESS_SIZE];
    for (int i = 1; i < r->link->size; i++) {
        name_socket(i, getpid(), name);
        r->peers[i] = (struct peer){.listener = socket_listen(name),
                                    .bridge = -1,
                                    .heard = child_now()};
        if (r->peers[i].listener < 0)
            return false;
    }
    return true;
}

// Return the command of a rank's bridge.
static char *bridge_command(const char *self, int rank)
{
    char name[RANKS_ADDRESS_SIZE];
    size_t size = strlen(self) + RANKS_ADDRESS_SIZE + 32;
    char *text = malloc(size);
    if (!text)
        abort();
    name_socket(rank, getpid(), name);
    snprintf(text, size, "exec '%s' bridge %s", self, name);
    return text;
}

// Return the tuner's command line, with an agent for each other rank behind `tune`.
static const char **tuner_arguments(const struct link *l, const char *self,
                                    char **command)
{
    size_t n = 0, at = 0;
    while (command[n])
        n++;
    const char **out = calloc(n + 2 * (size_t)l->size + 1, sizeof *out);
    if (!out)
        abort();
    for (size_t i = 0; i < n; i++) {
        out[at++] = command[i];
        for (int rank = 1; i == 1 && rank < l->size; rank++) {
            out[at++] = "--cross";
            out[at++] = bridge_command(self, rank);
        }
    }
    return out;
}

// Start the tuner, which ends with this process.
static bool start_tuner(struct router *r, const char **arguments)
{
    r->tuner = fork();
    if (r->tuner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    return r->tuner > 0;
}

// ---- Between bridges and ranks --------------------------------------------

// Forget a rank's bridge.
static void drop_bridge(struct peer *peer)
{
    if (peer->bridge >= 0)
        close(peer->bridge);
    peer->bridge = -1;
}

// Return whether a rank has not been heard of for long.
static bool is_gone(const struct peer *peer)
{
    return child_now() > peer->heard + RANKS_SILENT_S;
}

// Begin a session for a new bridge; there is none with a rank that is gone.
static void greet(struct router *r, int rank)
{
    struct peer *peer = &r->peers[rank];
    drop_bridge(peer);
    peer->bridge = socket_accept(peer->listener);
    if (is_gone(peer))
        drop_bridge(peer);
    if (peer->bridge < 0)
        return;
    peer->session = ++r->sessions;
    link_tell(r->link, rank, LINK_OPEN, peer->session);
}

// Pass on what a bridge says, or that it has ended.
static void take_packet(struct router *r, int rank)
{
    struct peer *peer = &r->peers[rank];
    struct link_message m = {
        .kind = LINK_BYTES, .rank = rank, .session = peer->session};
    ssize_t n = recv(peer->bridge, m.bytes, sizeof m.bytes, MSG_DONTWAIT);
    if (n > 0) {
        m.n = (size_t)n;
        link_send(r->link, &m);
        return;
    }
    drop_bridge(peer);
    link_tell(r->link, rank, LINK_CLOSE, peer->session);
}

// Send a packet to a rank's bridge.
static void send_packet(struct peer *peer, char kind,
                        const struct link_message *m)
{
    char packet[LINK_BYTES_MOST + 1];
    packet[0] = kind;
    memcpy(packet + 1, m->bytes, m->n);
    if (send(peer->bridge, packet, m->n + 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        drop_bridge(peer);
}

// Take a message of a rank.
static void take_message(struct router *r, const struct link_message *m)
{
    struct peer *peer = &r->peers[m->rank];
    bool is_now = peer->bridge >= 0 && m->session == peer->session;
    peer->heard = child_now();
    switch (m->kind) {
    case LINK_BYTES:
        if (is_now)
            send_packet(peer, SOCKET_BYTES, m);
        break;
    case LINK_END:
        if (is_now)
            send_packet(peer, SOCKET_END, m);
        break;
    case LINK_BYE: peer->has_left = true; break;
    case LINK_BEAT:
    case LINK_OPEN:
    case LINK_CLOSE: break;
    }
}

// Wait a little for bridges and messages, and take what has come.
static void wait_and_take(struct router *r)
{
    int n = r->link->size;
    struct link_message m;
    for (int i = 0; i < n; i++) {
        r->wait[i] = (struct pollfd){r->peers[i].listener, POLLIN, 0};
        r->wait[n + i] = (struct pollfd){r->peers[i].bridge, POLLIN, 0};
    }
    if (poll(r->wait, 2 * (nfds_t)n, RANKS_TICK_MS) > 0)
        for (int i = 1; i < n; i++) {
            if (r->wait[n + i].revents)
                take_packet(r, i);
            if (r->wait[i].revents)
                greet(r, i);
        }
    while (link_take(r->link, &m))
        take_message(r, &m);
}

// Say now and then that rank 0 is there, and end the bridges of ranks that are gone.
static void beat(struct router *r)
{
    if (child_now() < r->beaten + RANKS_BEAT_S)
        return;
    r->beaten = child_now();
    for (int i = 1; i < r->link->size; i++) {
        if (is_gone(&r->peers[i]))
            drop_bridge(&r->peers[i]);
        link_tell(r->link, i, LINK_BEAT, 0);
    }
}

// ---- Ending ---------------------------------------------------------------

// Return whether every rank has left.
static bool all_left(const struct router *r)
{
    for (int i = 1; i < r->link->size; i++)
        if (!r->peers[i].has_left)
            return false;
    return true;
}

// Count ranks that have not been heard of lately among those that have left.  Returns
// whether there are any.
static bool give_up_lost(struct router *r)
{
    bool any = false;
    for (int i = 1; i < r->link->size; i++)
        if (child_now() > r->peers[i].heard + FAREWELL_S)
            any = r->peers[i].has_left = true;
    return any;
}

// Have all ranks leave; MPI ends in order if none is gone.
static void part(struct router *r)
{
    bool lost = give_up_lost(r);
    double began = child_now();
    for (int i = 1; i < r->link->size; i++)
        link_tell(r->link, i, LINK_BYE, lost);
    while (!all_left(r) && child_now() < began + FAREWELL_S)
        wait_and_take(r);
    if (!lost && all_left(r))
        link_close(r->link);
}

// Return the exit status that a wait status stands for.
static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int router_run(struct link *l, const char *self, char **command)
{
    int status = 0;
    struct router r = {.link = l};
    r.peers = calloc((size_t)l->size, sizeof *r.peers);
    r.wait = calloc(2 * (size_t)l->size, sizeof *r.wait);
    if (!r.peers || !r.wait)
        abort();
    r.peers[0] = (struct peer){.listener = -1, .bridge = -1};
    if (!listen_for_bridges(&r) ||
        !start_tuner(&r, tuner_arguments(l, self, command)))
        status = RANKS_PROCESS_LOST << 8;
    while (!status && waitpid(r.tuner, &status, WNOHANG) == 0) {
        wait_and_take(&r);
        beat(&r);
    }
    part(&r);
    return code_of(status);
}
