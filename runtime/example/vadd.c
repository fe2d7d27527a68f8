/* vadd.c: adds two vectors on the GPU with the kernel of vadd.ing.
 *
 *   ingot build vadd.ing -o out
 *   cc -Iout -I.. vadd.c ../ingot.c -o vadd -ldl -lpthread
 *   ./vadd out/vadd.fatbin
 *
 * Memory is the application's own business; a program with the CUDA toolkit
 * would call cuMemAlloc or cudaMalloc.  This one needs no toolkit and takes the
 * five functions from the driver itself. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vadd.h>

enum { N = 1000003, BYTES = N * (int)sizeof(float) };

/* The functions of the driver that this program calls. */
struct gpu {
    int (*init)(unsigned);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*alloc)(uint64_t *pointer, size_t size);
    int (*to_device)(uint64_t to, const void *from, size_t size);
    int (*to_host)(void *to, uint64_t from, size_t size);
};

/* Opens the driver and makes the first GPU's context current; 0 if all went
 * well. */
static int open_gpu(struct gpu *gpu)
{
    static const char *const names[] = {
        "cuInit",        "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
        "cuMemAlloc_v2", "cuMemcpyHtoD_v2",          "cuMemcpyDtoH_v2"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *function, *context;
    size_t i;

    for (i = 0; library && i < sizeof names / sizeof *names; i++) {
        function = dlsym(library, names[i]);
        if (!function)
            return -1;
        memcpy((char *)gpu + i * sizeof function, &function, sizeof function);
    }
    if (!library || gpu->init(0) || gpu->retain(&context, 0))
        return -1;
    return gpu->set_current(context);
}

/* Adds on the GPU; 0 if all went well. */
static int add(struct ingot_module *module, const struct gpu *gpu,
               const float *a, const float *b, float *c)
{
    uint64_t A, B, C;

    if (gpu->alloc(&A, BYTES) || gpu->alloc(&B, BYTES) || gpu->alloc(&C, BYTES))
        return -1;
    if (gpu->to_device(A, a, BYTES) || gpu->to_device(B, b, BYTES))
        return -1;
    if (vadd(module, NULL, N, (const float *)A, (const float *)B, (float *)C,
             NULL))
        return -1;
    return gpu->to_host(c, C, BYTES);
}

int main(int argc, char **argv)
{
    static float a[N], b[N], c[N];
    const char *path = argc > 1 ? argv[1] : "vadd.fatbin";
    char text[INGOT_TEXT_SIZE];
    struct ingot_module *module;
    struct ingot_load load;
    struct gpu gpu;
    int i, wrong = 0;

    for (i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)i;
    }
    if (open_gpu(&gpu)) {
        fprintf(stderr, "no GPU\n");
        return 77;
    }
    if (ingot_open_file(&module, &vadd_artifact, path, NULL) ||
        ingot_preload(module) || add(module, &gpu, a, b, c)) {
        fprintf(stderr, "%s\n", ingot_error_text(module, text, sizeof text));
        ingot_close(module);
        return 1;
    }
    ingot_report(module, &load);
    for (i = 0; i < N; i++)
        wrong += c[i] != a[i] + b[i];
    printf("%d elements, %d wrong; image %u for sm_%u, loaded in %.2f ms\n", N,
           wrong, load.image, load.device_sm, load.load_ms);
    ingot_close(module);
    return wrong != 0;
}
