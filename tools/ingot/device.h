// A problem on a GPU: its arrays between guard zones, in as many copies as it
// takes for them not to fit in the cache, and its launches.

#ifndef TOOLS_INGOT_DEVICE_H
#define TOOLS_INGOT_DEVICE_H

#include "runtime/ingot.h"
#include "tools/ingot/dispatch.h"
#include "tools/ingot/driver.h"

// One array in the layout of a set.
struct device_region {
    const struct ir_buffer *buffer; // NULL for one of the workspace
    size_t at, bytes;               // bytes from the start of the set
};

// One copy of all arrays.
struct device_set {
    uint64_t base;                 // its allocation
    void **params;                 // of every launch
    uint64_t *words;               // what they point to, ...
    struct ingot_tensor_map *maps; // ... and the last of them
};

// One launch through the runtime.
struct device_launch {
    uint32_t entry;  // its row in the artefact
    uint32_t shared; // bytes of dynamic shared memory
    const struct dispatch_launch *what;
};

// Who is told that the GPU begins to work for a kernel, and that it is done.
struct device_listener {
    void (*tell)(void *context, bool works);
    void *context;
};

// The problem on the GPU.
struct device {
    const struct driver *driver;
    struct ingot_module *module;
    const struct problem *problem;
    const struct dispatch *dispatch;
    struct diag_list *diags;
    struct arena *arena;
    int64_t free_bytes; // of its memory, that may be taken
    void *stream;
    struct VEC(struct device_region) regions; // parameters, then workspace
    struct VEC(struct device_set) sets;
    struct VEC(struct device_launch) launches;
    size_t set_bytes;
    const struct device
        *like; // one of the same problem, whose inputs are copied;
               // or NULL
    const struct eval_argument
        *inputs; // of each parameter, where they are on the host; or NULL
    const struct device_listener *listener; // or NULL
};

// Tell the listener, if there is one.
void device_tell(const struct device *d, bool works);

// Call a function of driver.def.  True unless it failed, which is reported.
#define DEVICE_CALL(d, function, ...)                                          \
    driver_check((d)->driver, (d)->driver->function(__VA_ARGS__), #function,   \
                 (d)->diags)

// Lay the arrays out, allocate `most_sets` copies or as many as are useful
// (most_sets 0), and write what they hold before the kernel runs.
// Returns false after reporting; device_free releases it all in any case.
bool device_start(struct device *d, size_t most_sets);
void device_free(struct device *d);

// Launch the kernel on one set.  Returns false after reporting.
bool device_launch(struct device *d, const struct device_set *set);

// Wait for all launches.  Returns false after reporting.
bool device_wait(struct device *d);

// Copy array `i` of the problem out of a set.  Returns false after reporting.
bool device_read(struct device *d, const struct device_set *set, size_t i,
                 void *bytes);

// Check the guard zones of a set.  Returns false after reporting.
bool device_check_guards(struct device *d, const struct device_set *set);

#endif
