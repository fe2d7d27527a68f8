// Processes that are spoken to over pipes, and that may crash or hang.

#ifndef TOOLS_INGOT_CHILD_H
#define TOOLS_INGOT_CHILD_H

#include "tools/ingot/wire.h"

#include <sys/types.h>

// Enough for what child_end says.
enum { CHILD_TEXT_SIZE = 128 };

// A process; id 0: there is none.
struct child {
    pid_t id;
    struct wire wire; // to its standard output, from its standard input
    double deadline;  // when it is given up, by child_now
    int status;       // how it ended, as of waitpid
};

// Return the seconds since some moment.
double child_now(void);

// Run a command of the shell, whose standard input and output are the wire.
// Returns false if it cannot be started.
bool child_run(struct child *c, const char *command);

// Run a function in a copy of this process, which ends with it; the wire sends to
// this process alone.  Returns false if it cannot be started.
bool child_fork(struct child *c, void (*work)(struct wire *, void *),
                void *context);

// Kill the process group, if there is one.
void child_stop(struct child *c);

// Close the wire, and end the process group if it has not ended by itself.
// Returns how it ended, "ended by Segmentation fault" for example, in a buffer of
// `size` bytes.
const char *child_end(struct child *c, char *text, size_t size);

#endif
