/* One array over all GPUs of the machine: each has a part, a stream and memory;
 * one module serves them all.  Compares with the CPU. */

#include "logistic.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3000017, MOST = 16 };

/* What one GPU has. */
struct part {
    int64_t begin, count;
    cudaStream_t stream;
    void *X, *Y;
};

/* Is that CUDA's success?  Else says what failed. */
static bool is_ok(cudaError_t error, const char *what)
{
    if (error)
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return !error;
}

/* Is that Ingot's success?  Else says why not. */
static bool is_done(enum ingot_status status, struct ingot_module *module)
{
    char text[INGOT_TEXT_SIZE];

    if (status)
        fprintf(stderr, "%s\n", ingot_error_text(module, text, sizeof text));
    return !status;
}

/* Prepares a GPU for its part: loads the kernels in its context, too. */
static bool prepare(struct ingot_module *module, struct part *part, int device,
                    int devices)
{
    size_t bytes;

    part->begin = (int64_t)N * device / devices;
    part->count = (int64_t)N * (device + 1) / devices - part->begin;
    bytes = (size_t)part->count * sizeof(float);
    return is_ok(cudaSetDevice(device), "cudaSetDevice") &&
           is_done(ingot_preload(module), module) &&
           is_ok(cudaStreamCreate(&part->stream), "cudaStreamCreate") &&
           is_ok(cudaMalloc(&part->X, bytes), "cudaMalloc") &&
           is_ok(cudaMalloc(&part->Y, bytes), "cudaMalloc");
}

/* Queues all that a GPU does, without waiting: the next GPU begins meanwhile.  The
 * stream's context, not the thread's, says where the kernel is launched. */
static bool queue(struct ingot_module *module, const struct part *part,
                  int device, const float *x, float *y)
{
    size_t bytes = (size_t)part->count * sizeof(float);

    return is_ok(cudaSetDevice(device), "cudaSetDevice") &&
           is_ok(cudaMemcpyAsync(part->X, x + part->begin, bytes,
                                 cudaMemcpyHostToDevice, part->stream),
                 "copy to the GPU") &&
           is_done(logistic(module, part->stream, part->count, part->X, part->Y,
                            NULL),
                   module) &&
           is_ok(cudaMemcpyAsync(y + part->begin, part->Y, bytes,
                                 cudaMemcpyDeviceToHost, part->stream),
                 "copy from the GPU");
}

/* Gives back what a GPU has. */
static void release(const struct part *part, int device)
{
    cudaSetDevice(device);
    cudaFree(part->X);
    cudaFree(part->Y);
    if (part->stream)
        cudaStreamDestroy(part->stream);
}

/* Has all GPUs compute their parts, and compares. */
static bool run(struct ingot_module *module, struct part *parts, int devices,
                float *x, float *y)
{
    bool ok = true;
    int i, wrong = 0;

    for (i = 0; i < N; i++)
        x[i] = (float)(i % 4096) / 4096.0f;
    for (i = 0; i < devices && ok; i++)
        ok = prepare(module, &parts[i], i, devices);
    for (i = 0; i < devices && ok; i++)
        ok = queue(module, &parts[i], i, x, y);
    for (i = 0; i < devices && ok; i++)
        ok = is_ok(cudaStreamSynchronize(parts[i].stream), "waiting");
    for (i = 0; i < N && ok; i++) {
        float right = 3.5f * x[i] * (1.0f - x[i]), off = y[i] - right;
        wrong += !(off < 1e-6f && off > -1e-6f);
    }
    if (ok)
        printf("logistic: %d elements on %d GPUs, %d wrong; y[2048] = %g\n", N,
               devices, wrong, y[2048]);
    return ok && !wrong;
}

int main(void)
{
    struct part parts[MOST] = {{0}};
    struct ingot_module *module = NULL;
    void *x = NULL, *y = NULL;
    int devices = 0, i;
    bool ok = is_ok(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");

    devices = devices < MOST ? devices : MOST;
    ok = ok &&
         is_ok(cudaHostAlloc(&x, N * sizeof(float), cudaHostAllocPortable),
               "cudaHostAlloc") &&
         is_ok(cudaHostAlloc(&y, N * sizeof(float), cudaHostAllocPortable),
               "cudaHostAlloc") &&
         is_done(ingot_open(&module, &logistic_artifact, logistic_fatbin,
                            sizeof logistic_fatbin, NULL),
                 module) &&
         run(module, parts, devices, x, y);
    for (i = 0; i < devices; i++)
        release(&parts[i], i);
    ingot_close(module);
    cudaFreeHost(x);
    cudaFreeHost(y);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
