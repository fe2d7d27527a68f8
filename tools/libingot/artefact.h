// From a compilation to the files of a package.

#ifndef TOOLS_LIBINGOT_ARTEFACT_H
#define TOOLS_LIBINGOT_ARTEFACT_H

#include "nvptx/package/package.h"
#include "tools/libingot/compile.h"

// Describe the kernels, variants and images of a compilation as a package;
// the caller sets what differs.  `ptxas` is the assembler that made the
// cubins, NULL if there are none.
struct package artefact_package(struct compilation *c, const char *name,
                                const char *source, const struct ptxas *ptxas);

#endif
