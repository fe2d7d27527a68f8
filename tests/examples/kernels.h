/* kernels.h: what the kernels of docs/examples compute, for a driver without GPU. */

#ifndef EXAMPLE_KERNELS_H
#define EXAMPLE_KERNELS_H

#include "tests/fake_driver/fake_cuda.h"

/* All of them, in each of their variants. */
extern const struct fake_kernel example_kernels[FAKE_MAX];

#endif
