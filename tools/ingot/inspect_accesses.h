// The part of `ingot inspect` that says what accesses to memory cost.

#ifndef TOOLS_INGOT_INSPECT_ACCESSES_H
#define TOOLS_INGOT_INSPECT_ACCESSES_H

#include "tools/ingot/cli.h"

#include <jansson.h>

// A size that accesses are looked at with.
struct access_size {
    const char *name;
    int64_t value;
};

// What --accesses and --size say; give `access_argp` as a child parser whose
// input is this struct, and release the arena.
struct access_options {
    bool is_wanted;
    struct arena arena;
    struct VEC(struct access_size) sizes;
};
extern const struct argp access_argp;

// Return whether a compilation has what is asked for: a kernel, and its sizes.
// Says what it lacks.
bool inspect_accesses_fit(const struct access_options *o,
                          const struct compilation *c);

// Print the tables of all variants.  Returns false after reporting.
bool inspect_accesses(const struct access_options *o, struct compilation *c,
                      bool is_json);

// Return the rows of these tables as a list of objects.
json_t *inspect_accesses_json(const struct access_options *o,
                              struct compilation *c);

#endif
