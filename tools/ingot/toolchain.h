// The CUDA tools: where they are looked for.
//
//   struct toolchain tools;
//   toolchain_start(&tools, arguments.cuda);
//   const char *ptxas = toolchain_find(&tools, arena, "ptxas", diags);

#ifndef TOOLS_INGOT_TOOLCHAIN_H
#define TOOLS_INGOT_TOOLCHAIN_H

#include "ir/base/diag.h"

enum { TOOLCHAIN_FOLDERS = 5 };

// The places, the first that has a tool wins.
struct toolchain {
    const char *folders[TOOLCHAIN_FOLDERS]; // each with a bin/ in it
    const char *from[TOOLCHAIN_FOLDERS];    // who named the folder
    size_t n;
    const char *path; // of the environment, tried last; or NULL
};

// Collect the places.  `chosen`, unless NULL, is the only one: who names a
// toolkit gets no tool of another.
void toolchain_start(struct toolchain *t, const char *chosen);

// Return the path of a tool, or NULL after reporting where it was looked for.
const char *toolchain_find(const struct toolchain *t, struct arena *a,
                           const char *name, struct diag_list *diags);

// Return the path of libdevice, or NULL.
const char *toolchain_libdevice_path(const struct toolchain *t,
                                     struct arena *a);

// Map the bitcode of libdevice, for as long as the process lives; its pages
// are read only once a kernel needs them.  Sets NULL and 0 if there is none.
void toolchain_libdevice(const struct toolchain *t, const void **bytes,
                         size_t *size);

#endif
