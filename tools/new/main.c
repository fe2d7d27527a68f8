// Runs the kernel on the first GPU and looks at what it computed.
//
// Memory is the program's own business: with the CUDA toolkit it would call
// cudaMalloc. This one takes the functions from the driver, and needs no toolkit.

#include "my_kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000003, BYTES = N * (int)sizeof(float) };

// The functions of the driver that this program calls.
struct gpu {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*alloc)(uint64_t *pointer, size_t size);
    int (*to_device)(uint64_t to, const void *from, size_t size);
    int (*to_host)(void *to, uint64_t from, size_t size);
};

// Opens the driver and makes the context of the first GPU current; 0 if all
// went well.
static int open_gpu(struct gpu *gpu)
{
    static const char *const names[] = {
        "cuInit",        "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
        "cuMemAlloc_v2", "cuMemcpyHtoD_v2",          "cuMemcpyDtoH_v2"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(library, names[i]);
        if (!function)
            return -1;
        memcpy((char *)gpu + i * sizeof function, &function, sizeof function);
    }
    if (!library || gpu->init(0) || gpu->retain(&context, 0))
        return -1;
    return gpu->set_current(context);
}

// Copies the inputs to the GPU, launches, and copies the result back; 0 if all
// went well.
static int compute(struct ingot_module *module, const struct gpu *gpu,
                   const float *a, const float *b, float *c)
{
    uint64_t A, B, C;
    if (gpu->alloc(&A, BYTES) || gpu->alloc(&B, BYTES) ||
        gpu->alloc(&C, BYTES) || gpu->to_device(A, a, BYTES) ||
        gpu->to_device(B, b, BYTES))
        return -1;
    if (my_kernel(module, NULL, N, (const float *)A, (const float *)B,
                  (float *)C, NULL))
        return -1;
    return gpu->to_host(c, C, BYTES);
}

int main(void)
{
    static float a[N], b[N], c[N];
    char text[INGOT_TEXT_SIZE];
    struct ingot_module *module;
    struct gpu gpu;
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)i;
    }
    if (open_gpu(&gpu)) {
        fprintf(stderr, "no GPU\n");
        return 77;
    }
    if (ingot_open(&module, &my_kernel_artifact, my_kernel_fatbin,
                   sizeof my_kernel_fatbin, NULL) ||
        compute(module, &gpu, a, b, c)) {
        fprintf(stderr, "%s\n", ingot_error_text(module, text, sizeof text));
        ingot_close(module);
        return EXIT_FAILURE;
    }
    printf("C[1] = %g, C[%d] = %g\n", (double)c[1], N - 1, (double)c[N - 1]);
    ingot_close(module);
    return EXIT_SUCCESS;
}
