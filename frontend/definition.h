// `defines NAME`: a kernel that has the results of another one.

#ifndef FRONTEND_DEFINITION_H
#define FRONTEND_DEFINITION_H

#include "frontend/frontend.h"
#include "ir/text/parse.h"

// Find the kernel that a kernel's text names among those in front of it;
// reports E0347 if there is none, and E0348 if its parameters differ.
void definition_find(struct parser *p, struct ir_kernel *k,
                     const struct program *program);

#endif
