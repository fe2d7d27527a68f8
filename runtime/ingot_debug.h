/* ingot_debug.h: checks of the arrays of each launch, for programs that are
 * looked at for faults.
 *
 * Define INGOT_DEBUG where generated headers, or the C files of
 * `ingot build --declarations`, are compiled, and compile ingot_debug.c, too,
 * unless libingot_runtime.a is linked, which has it.  Launch functions then ask
 * the driver what each array is before they launch; that takes a microsecond or
 * two an array. */

#ifndef INGOT_DEBUG_INCLUDED
#define INGOT_DEBUG_INCLUDED

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array as a launch function was given it. */
struct ingot_debug_array {
    const char *name;    /* of the parameter */
    const void *address; /* of the first byte */
    uint64_t bytes;      /* that the kernel may touch; 0: it touches none */
    uint32_t is_written; /* 1: not only read */
};

/* Checks the arrays of a launch of `kernel`.  INGOT_BAD_ARRAY, with a text that
 * names the parameter, if one
 *
 *   is memory that the driver does not know, so the GPU cannot reach it;
 *   reaches beyond the end of the memory that it begins in;
 *   is written and overlaps another.
 *
 * What the driver cannot say passes: where it fails, and the extent of memory
 * before CUDA 10.2.  So does memory of the host if the current GPU reaches all
 * of it.  A failed module, and one that finds no driver, is for the launch to
 * report. */
INGOT_API enum ingot_status
ingot_debug_arrays(struct ingot_module *module, const char *kernel,
                   const struct ingot_debug_array *arrays, size_t count);

#ifdef __cplusplus
}
#endif

#endif
