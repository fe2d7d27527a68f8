// Runs the definition of a kernel as a C program, on all cores.

#ifndef TOOLS_INGOT_HOST_H
#define TOOLS_INGOT_HOST_H

#include "tools/ingot/problem.h"

// Return whether there is a C compiler, and the kernel can be printed as C.
bool host_supports(struct arena *a, const struct ir_kernel *kernel);

// Compile the definition of the problem's kernel and run it on the arguments,
// in a process of its own.
// Returns false after reporting.
bool host_run(struct arena *a, const struct problem *p,
              struct eval_argument *arguments, struct diag_list *diags);

#endif
