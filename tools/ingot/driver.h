// The CUDA driver, opened at run time, and one device of it.

#ifndef TOOLS_INGOT_DRIVER_H
#define TOOLS_INGOT_DRIVER_H

#include "ir/base/diag.h"

#include <stdint.h>

// A device and the functions that reach it.
struct driver {
#define DRIVER(name, parameters) int(*name) parameters;
#include "tools/ingot/driver.def"
#undef DRIVER
    const char *path; // of the library
    int count;        // of devices
    int device;       // handle
    void *context;    // its primary context, current in this thread
    unsigned sm;      // 90 for compute capability 9.0
    int version;      // 13000 for a driver made for CUDA 13.0
    int sms;
    int64_t l2_bytes; // of its last-level cache
    char name[128];   // "NVIDIA H200"
};

// Open the driver and its first device.  `path` NULL means the system's.
// Returns NULL, or a phrase that says why there is no GPU to use.
const char *driver_open(struct driver *d, const char *path);

// Give the device back; the library stays open.
void driver_close(struct driver *d);

// Return the free bytes of the device; INT64_MAX if that is not known.
int64_t driver_memory(const struct driver *d);

// Report a call that failed.  Returns whether it succeeded.
bool driver_check(const struct driver *d, int result, const char *call,
                  struct diag_list *diags);

#endif
