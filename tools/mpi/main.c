// ingot-mpi: what `ingot tune` becomes when mpirun or srun starts it as several
// processes.
//
//   ingot-mpi RANKS AGENT INGOT tune ...   as rank 0 the tuner, else an agent
//   ingot-mpi bridge NAME                  started by the tuner for a rank
//
// Only this program is linked with MPI.

#define _GNU_SOURCE // sched_setaffinity

#include "tools/ingot/cli.h"
#include "tools/mpi/ranks.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Let this process run on every processor of its host: Open MPI binds ranks to one or
// a few, as if they computed.  Other launchers bind on purpose.
static void unbind(void)
{
    cpu_set_t all;
    if (!getenv("OMPI_COMM_WORLD_SIZE"))
        return;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

// Own the GPU that this rank has among those of its host: of CUDA_VISIBLE_DEVICES, if
// the launcher set that, for this rank alone perhaps.
static void choose_gpu(int local)
{
    char name[256];
    size_t count = 1;
    const char *at = getenv("CUDA_VISIBLE_DEVICES");
    if (!at || !*at) {
        snprintf(name, sizeof name, "%d", local);
        setenv("CUDA_VISIBLE_DEVICES", name, 1);
        return;
    }
    for (const char *c = at; *c; c++)
        count += *c == ',';
    for (size_t i = (size_t)local % count; i > 0; i--)
        at += strcspn(at, ",") + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
    setenv("CUDA_VISIBLE_DEVICES", name, 1);
}

// Be a rank of so many, as the launcher says.
static int be_rank(int ranks, char **rest)
{
    char self[4096];
    struct link l;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    unbind();
    if (!link_open(&l)) {
        fprintf(stderr, "ingot-mpi: MPI does not start\n");
        return EXIT_TOOL;
    }
    if (l.size != ranks) {
        fprintf(stderr,
                "ingot-mpi: %d processes were started, MPI has %d: use the "
                "mpirun of its Open MPI, or srun --mpi=pmix\n",
                ranks, l.size);
        link_close(&l);
        return EXIT_TOOL;
    }
    setenv("INGOT_RANKS", "1", 1);
    choose_gpu(l.local);
    return l.rank == 0 ? router_run(&l, self, rest + 1)
                       : relay_run(&l, rest[0]);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "bridge") == 0)
        return bridge_run(argv[2]);
    if (argc > 4 && atoi(argv[1]) > 1)
        return be_rank(atoi(argv[1]), argv + 2);
    fprintf(stderr, "ingot-mpi: is started by `mpirun -n 8 ingot tune FILE "
                    "...`, not by hand\n");
    return EXIT_USAGE;
}
