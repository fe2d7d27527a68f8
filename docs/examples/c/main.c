/* Y = a X + Y on the GPU: memory and stream are the CUDA runtime's, the kernel
 * is Ingot's.  Compares with the CPU. */

#include "saxpy.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000003, BYTES = N * (int)sizeof(float) };

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

/* Copies in, computes and copies back, all in one stream; waits for it. */
static bool saxpy_on_gpu(struct ingot_module *module, cudaStream_t stream,
                         float a, const float *x, float *y)
{
    void *X = NULL, *Y = NULL, *workspace = NULL;
    size_t more = saxpy_workspace(N);
    bool ok =
        is_ok(cudaMalloc(&X, BYTES), "cudaMalloc") &&
        is_ok(cudaMalloc(&Y, BYTES), "cudaMalloc") &&
        (!more || is_ok(cudaMalloc(&workspace, more), "cudaMalloc")) &&
        is_ok(cudaMemcpyAsync(X, x, BYTES, cudaMemcpyHostToDevice, stream),
              "copy of x") &&
        is_ok(cudaMemcpyAsync(Y, y, BYTES, cudaMemcpyHostToDevice, stream),
              "copy of y") &&
        is_done(saxpy(module, stream, N, a, X, Y, workspace), module) &&
        is_ok(cudaMemcpyAsync(y, Y, BYTES, cudaMemcpyDeviceToHost, stream),
              "copy of the result") &&
        is_ok(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

    cudaFree(X);
    cudaFree(Y);
    cudaFree(workspace);
    return ok;
}

/* Fills pinned arrays, computes, and compares. */
static bool run(struct ingot_module *module, cudaStream_t stream, float *x,
                float *y)
{
    int i, wrong = 0;

    for (i = 0; i < N; i++) {
        x[i] = (float)(i % 1000);
        y[i] = 1.0f;
    }
    if (!saxpy_on_gpu(module, stream, 2.0f, x, y))
        return false;
    for (i = 0; i < N; i++)
        wrong += y[i] != 2.0f * x[i] + 1.0f;
    printf("saxpy: %d elements, %d wrong; y[7] = %g\n", N, wrong, y[7]);
    return !wrong;
}

int main(void)
{
    struct ingot_module *module = NULL;
    void *x = NULL, *y = NULL;
    cudaStream_t stream = NULL;
    bool ok = is_ok(cudaSetDevice(0), "cudaSetDevice") &&
              is_ok(cudaMallocHost(&x, BYTES), "cudaMallocHost") &&
              is_ok(cudaMallocHost(&y, BYTES), "cudaMallocHost") &&
              is_ok(cudaStreamCreate(&stream), "cudaStreamCreate") &&
              is_done(ingot_open(&module, &saxpy_artifact, saxpy_fatbin,
                                 sizeof saxpy_fatbin, NULL),
                      module) &&
              is_done(ingot_preload(module), module) &&
              run(module, stream, x, y);

    ingot_close(module);
    if (stream)
        cudaStreamDestroy(stream);
    cudaFreeHost(x);
    cudaFreeHost(y);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
