/* cudart.c: CUDA's runtime over the driver of tests/fake_driver, as far as the
 * projects of docs/examples use it.  A context is current from the first call on.
 * When the process ends, what it did not give back is said, and its exit status
 * is 9. */

#include "cuda_runtime_api.h"

#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The driver's functions that fake_cuda.h does not declare. */
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPopCurrent_v2(void **context);
int cuMemAlloc_v2(void **address, size_t size);
int cuMemFree_v2(void *address);
int cuMemHostAlloc(void **at, size_t size, unsigned flags);
int cuMemFreeHost(void *at);
int cuMemHostRegister_v2(void *at, size_t size, unsigned flags);
int cuMemHostUnregister(void *at);
int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes,
                         cudaStream_t stream);
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes,
                         cudaStream_t stream);
int cuStreamCreate(cudaStream_t *stream, unsigned flags);
int cuStreamDestroy_v2(cudaStream_t stream);
int cuStreamSynchronize(cudaStream_t stream);
int cuStreamBeginCapture_v2(cudaStream_t stream, int mode);
int cuStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
int cuGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                unsigned long long flags);
int cuGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
int cuGraphDestroy(cudaGraph_t graph);
int cuGraphExecDestroy(cudaGraphExec_t executable);

/* Two GPUs, and the kernels of the examples. */
__attribute__((constructor)) static void begin(void)
{
    struct fake *fake = fake_state();
    int i;

    fake->device_count = 2;
    for (i = 0; i < FAKE_MAX; i++)
        fake->kernels[i] = example_kernels[i];
}

/* Complains of what was not given back, and of what was copied from nowhere. */
__attribute__((destructor)) static void end(void)
{
    const struct fake *fake = fake_state();

    if (!fake->live_memory && !fake->live_streams && !fake->live_events &&
        !fake->live_modules && !fake->malformed)
        return;
    fprintf(stderr,
            "not given back: %d allocations, %d streams, %d events, "
            "%d modules; %d copies of what is not there\n",
            fake->live_memory, fake->live_streams, fake->live_events,
            fake->live_modules, fake->malformed);
    fflush(NULL);
    _exit(9);
}

/* Makes a device's context current. */
static int use(int device)
{
    void *context, *old;
    int result = cuInit(0);

    if (result || (result = cuDevicePrimaryCtxRetain(&context, device)))
        return result;
    cuDevicePrimaryCtxRelease_v2(device);
    if (!cuCtxGetCurrent(&old) && old)
        cuCtxPopCurrent_v2(&old);
    fake_context_push(context);
    return 0;
}

/* Makes the first one's current, unless there is one. */
static int ready(void)
{
    void *context;

    if (!cuInit(0) && !cuCtxGetCurrent(&context) && context)
        return 0;
    return use(0);
}

const char *cudaGetErrorString(cudaError_t error)
{
    const char *name;

    return cuGetErrorName(error, &name) ? "unknown error" : name;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = fake_state()->device_count;
    return 0;
}

cudaError_t cudaSetDevice(int device)
{
    return device < 0 || device >= fake_state()->device_count ? 101
                                                              : use(device);
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    int result = ready();

    return result ? result : cuMemAlloc_v2(pointer, size);
}

cudaError_t cudaFree(void *pointer)
{
    int result = ready();

    return result || !pointer ? result : cuMemFree_v2(pointer);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    return cudaHostAlloc(pointer, size, 0);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    int result = ready();

    return result ? result
                  : cuMemHostAlloc(pointer, size,
                                   flags & ~(unsigned)cudaHostAllocPortable);
}

cudaError_t cudaFreeHost(void *pointer)
{
    int result = ready();

    return result || !pointer ? result : cuMemFreeHost(pointer);
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    int result = ready();

    return result ? result : cuMemHostRegister_v2(pointer, size, flags);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    return cuMemHostUnregister(pointer);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
                       enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice ? cuMemcpyHtoD_v2(to, from, size)
                                          : cuMemcpyDtoH_v2(to, from, size);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return kind == cudaMemcpyHostToDevice
               ? cuMemcpyHtoDAsync_v2(to, from, size, stream)
               : cuMemcpyDtoHAsync_v2(to, from, size, stream);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    int result = ready();

    return result ? result : cuStreamCreate(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return cuStreamDestroy_v2(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return cuStreamSynchronize(stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   enum cudaStreamCaptureMode mode)
{
    return cuStreamBeginCapture_v2(stream, (int)mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    return cuStreamEndCapture(stream, graph);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable,
                                          cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cuGraphInstantiateWithFlags(executable, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    return cuGraphLaunch(executable, stream);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return cuGraphDestroy(graph);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    return cuGraphExecDestroy(executable);
}
