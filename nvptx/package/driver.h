// Which drivers an artefact needs.
//
//   struct driver_need need = driver_need(arena, plan);
//   buf_printf(out, "drivers for CUDA %s", driver_release(arena, need.oldest));

#ifndef NVPTX_PACKAGE_DRIVER_H
#define NVPTX_PACKAGE_DRIVER_H

#include "nvptx/package/plan.h"

// Return what a package whose fatbin is made needs.
struct driver_need driver_need(struct arena *a, const struct plan *plan);

// Return a CUDA release and the branch of its drivers, "12.0 (R525)".
const char *driver_release(struct arena *a, int cuda);

#endif
