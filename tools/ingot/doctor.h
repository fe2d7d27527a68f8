// `ingot doctor`, in parts: the machine, and an artefact.

#ifndef TOOLS_INGOT_DOCTOR_H
#define TOOLS_INGOT_DOCTOR_H

#include "nvptx/package/inspect.h"
#include "tools/ingot/toolchain.h"

#include <jansson.h>

// ---- doctor_machine.c

// A program or a file that some command needs.
struct doctor_tool {
    const char *name, *used_by;
    const char *path;    // NULL: it is missing
    const char *version; // NULL: it has none, or does not run
    bool is_broken;      // it is there, and does not say its version
};
enum { DOCTOR_TOOLS = 5 };

// A GPU.
struct doctor_gpu {
    char name[128];
    unsigned sm; // 90 for compute capability 9.0
    int sms;
};

// What a machine has.
struct doctor_machine {
    struct doctor_tool tools[DOCTOR_TOOLS];
    const char *no_gpu; // why no GPU can be used, or NULL: what follows is so
    int driver;         // 13000 for a driver made for CUDA 13.0
    bool is_copying;    // the first GPU gives back what is copied to it
    struct VEC(struct doctor_gpu) gpus;
};

// Look at this machine; `driver` is the libcuda.so.1 to use, or NULL.
void doctor_machine(struct arena *a, const struct toolchain *tools,
                    const char *driver, struct doctor_machine *out);

// Return whether all that is there works.
bool doctor_is_well(const struct doctor_machine *m);

// Append it as text, or return it as JSON.
void doctor_print_machine(const struct doctor_machine *m, struct buf *out);
json_t *doctor_machine_json(const struct doctor_machine *m);

// ---- doctor_artefact.c

// A fatbin.
struct doctor_artefact {
    const char *path;
    struct inspection what;
    int ptxas;  // the major number of that which made it; 0: not known
    int oldest; // the oldest driver that its manifest names; 0: none
    const char *needed_by; // what needs it
};

// Append as text which GPUs and drivers run it, and how much code each kernel has
// for each, or return it as JSON.
void doctor_print_artefact(struct arena *a, const struct doctor_artefact *d,
                           struct buf *out);
json_t *doctor_artefact_json(struct arena *a, const struct doctor_artefact *d);

#endif
