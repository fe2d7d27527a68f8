// Opens the driver for an agent, and says which GPU it has, while the agent does what
// needs none.

#ifndef TOOLS_INGOT_AGENT_OPENING_H
#define TOOLS_INGOT_AGENT_OPENING_H

#include "tools/ingot/driver.h"
#include "tools/ingot/wire.h"

#include <pthread.h>

// A driver that is being opened.
struct agent_opening {
    struct wire *wire;
    struct driver driver;
    pthread_t thread;
    bool is_begun, has_thread;
};

// Begin to open the driver at a path, NULL for the system's, and then to say over the
// wire what its GPU is.  Where there is none, the process ends.
void agent_opening_begin(struct agent_opening *o, struct wire *wire,
                         const char *path);

// Wait until all is said, and set `out` to the driver, for this thread; nothing if that
// was done.
void agent_opening_end(struct agent_opening *o, struct driver *out);

#endif
