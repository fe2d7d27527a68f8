// What an agent does between a request and its answer, for who limits it.
//
//   > {"phase": "host", "used": 0.02}
//   > {"phase": "gpu", "used": 1.31}
//
// `used` are the processor seconds since the request, without those in which the GPU
// worked.  A line comes when the phase changes, and each second while it is the host's.

#ifndef TOOLS_INGOT_AGENT_PHASES_H
#define TOOLS_INGOT_AGENT_PHASES_H

#include "tools/ingot/device.h"
#include "tools/ingot/wire.h"

#include <pthread.h>

// The phases of one request.
struct agent_phases {
    struct device_listener listener; // for the devices that are used
    struct wire *wire; // nobody else may write to it until the end
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    double used;  // processor seconds of the host's phases that are over
    double began; // processor time as the host's phase began
    bool is_gpu, is_over, has_thread;
};

// Begin with the host's phase, and say so.
void agent_phases_begin(struct agent_phases *p, struct wire *wire);

// End: the wire may be used for the answer.
void agent_phases_end(struct agent_phases *p);

#endif
