/* One kernel as a shared library, for callers such as Python's ctypes.
 *
 *   cc -shared -fPIC -O2 -Iruntime -IDIR '-DHEADER="vadd.h"'
 *      -DARTIFACT=vadd_artifact '-DWORKSPACE=vadd_workspace(n[0])'
 *      '-DCALL=vadd(module, stream, n[0], a[0], a[1], a[2], workspace)'
 *      tools/bench/bridge.c runtime/ingot.c -ldl -lpthread -o vadd.so
 *
 * `n` are the kernel's sizes and `a` its arrays, in the order of its parameters,
 * `workspace` what WORKSPACE counts the bytes of. */

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

/* Writes into `text`, of `size` bytes, what became of the last call. */
void bridge_error(char *text, size_t size)
{
    char message[INGOT_TEXT_SIZE];
    snprintf(text, size, "%s",
             ingot_error_text(module, message, sizeof message));
}

/* The bytes of workspace for these sizes. */
size_t bridge_workspace(const int64_t *n)
{
    (void)n;
    return WORKSPACE;
}

/* Launches the kernel once; returns the status. */
int bridge_launch(CUstream stream, const int64_t *n, void **a, void *workspace)
{
    (void)n;
    (void)workspace;
    return (int)CALL;
}

// Return the time between two moments.
static double nanoseconds(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) * 1e9 +
           (double)(to.tv_nsec - from.tv_nsec);
}

/* Launches the kernel `times` times; returns the nanoseconds of host time
 * that one launch took. */
double bridge_time(CUstream stream, const int64_t *n, void **a, int times)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < times; i++)
        bridge_launch(stream, n, a, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return nanoseconds(from, to) / times;
}

typedef int (*launch_kernel)(void *f, unsigned gx, unsigned gy, unsigned gz,
                             unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, CUstream stream, void **params,
                             void **extra);

/* The same for the driver's bare cuLaunchKernel of a function that takes one
 * size and three arrays. */
double bridge_time_bare(launch_kernel launch, void *f, CUstream stream,
                        int64_t n, void **a, unsigned grid, unsigned block,
                        int times)
{
    struct timespec from, to;
    void *params[] = {&n, &a[0], &a[1], &a[2]};
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < times; i++)
        launch(f, grid, 1, 1, block, 1, 1, 0, stream, params, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return nanoseconds(from, to) / times;
}
