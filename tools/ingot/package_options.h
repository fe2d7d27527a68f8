// The options of a build that say what callers get: --embed, --prefix,
// --declarations, --bindings, --triple, --driver-floor.

#ifndef TOOLS_INGOT_PACKAGE_OPTIONS_H
#define TOOLS_INGOT_PACKAGE_OPTIONS_H

#include "ir/base/arena.h"
#include "nvptx/package/bindings/bindings.h"

#include <argp.h>

// What was asked for.
struct package_options {
    struct arena arena;
    const char *prefix; // or NULL
    const char *triple; // not NULL where there is an object file
    int driver_floor;   // a CUDA release as the driver counts, or 0
    bool embed;
    bool declarations;            // asked for, or needed by bindings
    bool bindings[BINDING_COUNT]; // of these languages
};

// Give this as a child parser whose input is a struct package_options.
extern const struct argp package_options_argp;

// Check what the options mean together, and choose the host of an object file;
// ends the process if they exclude each other.  `is_object` if there is such a
// file, `has_none` if there is no header.
void package_options_check(struct package_options *o, bool is_object,
                           bool has_none, struct argp_state *state);

#endif
