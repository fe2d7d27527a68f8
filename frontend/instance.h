// Kernels with compile-time parameters, and their instances.

#ifndef FRONTEND_INSTANCE_H
#define FRONTEND_INSTANCE_H

#include "frontend/frontend.h"
#include "ir/text/parse.h"

// Return whether a kernel with compile-time parameters comes next.
bool instance_is_next(const struct parser *p);

// Parse the kernel that comes next once for each of its instances, with `add`;
// stops at the first that has errors and says which it is.
bool instances_add(struct parser *p, struct program *out,
                   bool (*add)(struct parser *p, struct program *out));

#endif
