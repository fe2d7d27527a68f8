// What the processes of `mpirun ingot tune` do.

#ifndef TOOLS_MPI_RANKS_H
#define TOOLS_MPI_RANKS_H

#include "tools/mpi/link.h"

#include <stddef.h>

enum {
    RANKS_TICK_MS = 2,       // between looks at what has come by MPI
    RANKS_PROCESS_LOST = 1,  // exit status where the other side is gone
    RANKS_ADDRESS_SIZE = 64, // of a rank's socket at rank 0
};

// How often somebody says that it is there, and when it is taken to be gone.
#define RANKS_BEAT_S   1.0
#define RANKS_SILENT_S 30.0

// Rank 0: run the tuner, with a bridge as an agent for each other rank.  `command`
// is `ingot`, `tune`, and what follows; `self` is this program.  Returns the exit
// status.
int router_run(struct link *l, const char *self, char **command);

// Any other rank: run an agent, a command of the shell, whenever rank 0 asks for it.
// Returns the exit status.
int relay_run(struct link *l, const char *command);

// An agent of the tuner: what it says and is told goes through a rank's socket at
// rank 0.  Ends as the agent of that rank does.
int bridge_run(const char *name);

#endif
