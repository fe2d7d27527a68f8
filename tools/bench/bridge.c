/* One kernel as a shared library, for callers such as Python's ctypes.
 *
 *   cc -shared -fPIC -O2 -Iruntime -IDIR '-DHEADER="vadd.h"'
 *      -DARTIFACT=vadd_artifact
 *      '-DCALL=vadd(module, stream, n, a[0], a[1], a[2])'
 *      tools/bench/bridge.c runtime/ingot.c -ldl -lpthread -o vadd.so */

#define _POSIX_C_SOURCE 200809L

#include HEADER

#include <stdio.h>
#include <time.h>

static struct ingot_module *module;

/* Opens the fatbin and loads it; prints why it cannot and returns the status. */
int bridge_open(const char *path)
{
    char text[INGOT_TEXT_SIZE];
    int status = ingot_open_file(&module, &ARTIFACT, path, NULL);
    status = status ? status : (int)ingot_preload(module);
    if (status)
        fprintf(stderr, "%s\n", ingot_error_text(module, text, sizeof text));
    return status;
}

/* Launches the kernel once; `a` are its arrays in order, `n` its size if it
 * has one. */
int bridge_launch(CUstream stream, void **a, int64_t n)
{
    (void)n;
    return (int)CALL;
}

/* Launches the kernel `times` times; returns the nanoseconds of host time
 * that one launch took. */
double bridge_time(CUstream stream, void **a, int64_t n, int times)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < times; i++)
        bridge_launch(stream, a, n);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
            (double)(to.tv_nsec - from.tv_nsec)) /
           times;
}

typedef int (*launch_kernel)(void *f, unsigned gx, unsigned gy, unsigned gz,
                             unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, CUstream stream, void **params,
                             void **extra);

/* The same for the driver's bare cuLaunchKernel of a function. */
double bridge_time_bare(launch_kernel launch, void *f, CUstream stream,
                        void **a, int64_t n, unsigned grid, unsigned block,
                        int times)
{
    struct timespec from, to;
    void *params[] = {&n, &a[0], &a[1], &a[2]};
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < times; i++)
        launch(f, grid, 1, 1, block, 1, 1, 0, stream, params, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
            (double)(to.tv_nsec - from.tv_nsec)) /
           times;
}
