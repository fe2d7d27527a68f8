// A driver whose GPU is the CPU, for tests of `ingot run`: memory is malloc's,
// and launching the kernel `vadd(n, A, B, C)` adds in C.
//
// FAKE_GPU says what goes wrong: nothing by default; "idle" launches do
// nothing; "outside" they write one element more; "dot" they compute the sum of
// A[i] B[i] instead, "short" without its last term; "fail:NAME" the function of
// that name returns CUDA_ERROR_OUT_OF_MEMORY; "empty" there is no device.
// FAKE_SM is its compute capability times ten.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_MEMORY = 2, NOT_FOUND = 500, THREADS = 1024, SM = 90 };

// Return whether FAKE_GPU is that text.
static int is_mode(const char *text)
{
    const char *mode = getenv("FAKE_GPU");
    return mode && strcmp(mode, text) == 0;
}

// Return the result of a function.
static int result_of(const char *name)
{
    const char *mode = getenv("FAKE_GPU");
    return mode && strncmp(mode, "fail:", 5) == 0 && !strcmp(mode + 5, name)
               ? OUT_OF_MEMORY
               : 0;
}

// A function of the driver; the body sets its results.
#define API(name, parameters, ...)                                             \
    int name parameters;                                                       \
    int name parameters                                                        \
    {                                                                          \
        if (result_of(#name))                                                  \
            return result_of(#name);                                           \
        __VA_ARGS__;                                                           \
        return 0;                                                              \
    }
// One that only succeeds.
#define API_NOTHING(name) API(name, (void), (void)0)

// Something to point to.
static char thing[1];

API_NOTHING(cuInit)
API(cuDriverGetVersion, (int *v), *v = 13000)
API(cuGetErrorName, (int code, const char **name),
    *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "ANOTHER")
API(cuGetErrorString, (int code, const char **text), (void)code,
    *text = "out of memory")
API(cuDeviceGetCount, (int *n), *n = !is_mode("empty"))
API(cuDeviceGet, (int *device, int i), *device = i)
API(cuDeviceGetName, (char *name, int size, int device), (void)device,
    (void)size, strcpy(name, "Fake GPU"))

// Return an attribute of the device.
static int attribute(int which)
{
    const char *number = getenv("FAKE_SM");
    int sm = number ? atoi(number) : SM;
    switch (which) {
    case 75: return sm / 10;
    case 76: return sm % 10;
    case 38: return 1 << 16;
    default: return 65536;
    }
}

API(cuDeviceGetAttribute, (int *value, int which, int device), (void)device,
    *value = attribute(which))
API(cuDevicePrimaryCtxRetain, (void **context, int device), (void)device,
    *context = thing)
API_NOTHING(cuDevicePrimaryCtxRelease_v2)
API(cuCtxGetCurrent, (void **context), *context = thing)
API_NOTHING(cuCtxSetCurrent)
API(cuCtxGetDevice, (int *device), *device = 0)
API_NOTHING(cuCtxPushCurrent_v2)
API(cuCtxPopCurrent_v2, (void **context), *context = thing)

API(cuMemGetInfo_v2, (size_t * free_bytes, size_t *all),
    *all = *free_bytes = (size_t)1 << 24)
API(cuMemAlloc_v2, (uint64_t * at, size_t n), *at = (uint64_t)malloc(n))
API(cuMemFree_v2, (uint64_t at), free((void *)at))
API(cuMemsetD8_v2, (uint64_t at, unsigned char byte, size_t n),
    memset((void *)at, byte, n))
API(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t n),
    memcpy((void *)to, from, n))
API(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t n),
    memcpy(to, (const void *)from, n))
API(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t n),
    memcpy((void *)to, (const void *)from, n))

API(cuStreamCreate, (void **stream, unsigned flags), (void)flags,
    *stream = thing)
API_NOTHING(cuStreamDestroy_v2)
API_NOTHING(cuStreamSynchronize)
API_NOTHING(cuStreamBeginCapture_v2)
API(cuStreamEndCapture, (void *stream, void **graph), (void)stream,
    *graph = thing)
API(cuGraphInstantiateWithFlags, (void **exec, void *graph), *exec = graph)
API_NOTHING(cuGraphLaunch)
API_NOTHING(cuGraphExecDestroy)
API_NOTHING(cuGraphDestroy)
API(cuEventCreate, (void **event, unsigned flags), (void)flags, *event = thing)
API_NOTHING(cuEventRecord)
API_NOTHING(cuEventSynchronize)
API(cuEventElapsedTime, (float *ms, void *from, void *to), (void)from, (void)to,
    *ms = is_mode("slow") ? 3.0f : 0.003f)
API_NOTHING(cuEventDestroy_v2)

API(cuModuleLoadDataEx,
    (void **module, const void *image, unsigned n, int *options, void **values),
    (void)image, (void)n, (void)options, (void)values, *module = thing)
API_NOTHING(cuModuleUnload)
API(cuModuleGetFunction, (void **function, void *module, const char *name),
    (void)module, (void)name, *function = thing)
API(cuFuncGetAttribute, (int *value, int which, void *function), (void)function,
    *value = which == 0 ? THREADS : 0)
API_NOTHING(cuFuncSetAttribute)

// Return a sum of products.
static float dot(int64_t n, const float *a, const float *b)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

// Add two vectors, or multiply them.
static void add(void **params)
{
    int64_t n = *(int64_t *)params[0];
    const float *a = *(const float **)params[1],
                *b = *(const float **)params[2];
    float *c = *(float **)params[3];
    if (is_mode("dot") || is_mode("short")) {
        c[0] = dot(n - is_mode("short"), a, b);
        return;
    }
    for (int64_t i = 0; i < n && !is_mode("idle"); i++)
        c[i] = a[i] + b[i];
    if (is_mode("outside"))
        c[n] = 0;
}

API(cuLaunchKernel,
    (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
     unsigned bz, unsigned shared, void *stream, void **params, void **extra),
    (void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz,
    (void)shared, (void)stream, (void)extra, add(params))
