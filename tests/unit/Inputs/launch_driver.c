/* Calls the launch functions of demo.h on a runtime that only writes down what
 * it is asked for.  Prints one line a call; tests/unit/package_header.c
 * compares them. */

#include "demo.h"

#include <stdio.h>

/* How the runtime of this program behaves. */
struct ingot_module {
    int is_available; /* what ingot_available says */
};

enum ingot_status ingot_reject(struct ingot_module *module,
                               enum ingot_status status, const char *kernel,
                               const char *what)
{
    (void)module;
    printf("rejected %d %s: %s\n", (int)status, kernel, what);
    return status;
}

enum ingot_status ingot_available(struct ingot_module *module, uint32_t entry,
                                  CUstream stream, int *available)
{
    (void)stream;
    printf("available %u? ", (unsigned)entry);
    *available = module->is_available;
    return INGOT_OK;
}

enum ingot_status ingot_launch(struct ingot_module *module, uint32_t entry,
                               CUstream stream, const uint64_t grid[3],
                               const uint32_t block[3], uint32_t dynamic_shared,
                               void **params)
{
    unsigned i;

    (void)module;
    (void)stream;
    printf("%s <%llu %llu %llu, %u %u %u, %u>", demo_entries[entry].name,
           (unsigned long long)grid[0], (unsigned long long)grid[1],
           (unsigned long long)grid[2], (unsigned)block[0], (unsigned)block[1],
           (unsigned)block[2], (unsigned)dynamic_shared);
    for (i = 0; i < demo_entries[entry].param_count; i++)
        if (demo_entries[entry].param_sizes[i] == 8)
            printf(" %lld", (long long)*(int64_t *)params[i]);
        else
            printf(" %d:%d", demo_entries[entry].param_sizes[i],
                   (int)*(int32_t *)params[i]);
    printf("\n");
    return INGOT_OK;
}

enum ingot_status ingot_encode(struct ingot_module *module, CUstream stream,
                               const struct ingot_tensor *tensor,
                               const void *array, const int64_t *sizes,
                               const int64_t *strides,
                               struct ingot_tensor_map *map)
{
    (void)module;
    (void)stream;
    printf("map of %s at %llu: %lld x %lld, rows %lld apart, boxes %u x %u, "
           "swizzle %u\n",
           tensor->name, (unsigned long long)(uintptr_t)array,
           (long long)sizes[1], (long long)sizes[0], (long long)strides[1],
           (unsigned)tensor->box[1], (unsigned)tensor->box[0],
           (unsigned)tensor->swizzle);
    map->words[0] = tensor->swizzle;
    return INGOT_OK;
}

/* Turns a number into a pointer. */
#define AT(type, number) ((type *)(uintptr_t)(number))

int main(void)
{
    const int64_t big = INT64_C(4000000000);
    struct ingot_module module = {1};
    struct ingot_module *m = &module;
    const float *in = AT(const float, 4096);
    float *out = AT(float, 8192);
    const ingot_f16 *half = AT(const ingot_f16, 4098);
    void *scratch = AT(void, 65536);

    vadd(m, NULL, 1000, in, in, out, NULL);
    vadd(m, NULL, 0, NULL, NULL, NULL, NULL);
    vadd(m, NULL, 1, in, in, NULL, NULL);
    vadd(m, NULL, -1, in, in, out, NULL);
    vadd(m, NULL, 1, AT(const float, 4098), in, out, NULL);
    vadd(m, NULL, INT64_MAX, in, in, out, NULL);
    vadd(m, NULL, INT64_MAX / 4, in, in, out, NULL);

    printf("bytes %llu %llu %d\n",
           (unsigned long long)scale_bytes(0, 3, 16, 20),
           (unsigned long long)scale_bytes(6, 3, 16, 20),
           vadd_bytes(1, INT64_MAX) == (size_t)-1);
    printf("workspace %llu\n", (unsigned long long)vadd_workspace(1000));
    printf("workspace %llu\n", (unsigned long long)softmax_workspace(10, 100));
    printf("workspace %llu\n", (unsigned long long)softmax_workspace(0, 0));
    printf("too large %d\n", softmax_workspace(big, big) == (size_t)-1);
    printf("negative %d\n", softmax_workspace(-1, 1) == (size_t)-1);
    softmax(m, NULL, 10, 100, in, out, scratch);
    softmax(m, NULL, 10, 100, in, out, NULL);
    softmax(m, NULL, 10, 100, in, out, AT(void, 65544));
    softmax(m, NULL, 0, 100, in, out, NULL);
    softmax(m, NULL, big, big, in, out, scratch);

    scale(m, NULL, 3, 16, 20, 1.0f, -7, half, in, out, NULL);
    scale(m, NULL, 70000, 16, 20, 1.0f, 5, half, in, out, NULL);
    scale(m, NULL, 3, 16, 15, 1.0f, 5, half, in, out, NULL);
    scale(m, NULL, 3, 17, 20, 1.0f, 5, half, in, out, NULL);
    scale(m, NULL, 3, 16, 20, 0.5f, 5, half, in, out, NULL);
    scale(m, NULL, 3, 16, 20, 0.0f / 0.0f, 5, half, in, out, NULL);
    scale(m, NULL, big, 4000, 4000, 1.0f, 5, half, in, out, NULL);
    scale(m, NULL, big, big, big, 1.0f, 5, half, in, out, NULL);
    scale(m, NULL, 2, 8, INT64_MAX, 1.0f, 5, half, in, out, NULL);
    scale(m, NULL, 3, 16, 20, 1.0f, 5, half, AT(const float, 4100), out, NULL);
    scale(m, NULL, 3, 0, INT64_MAX, 1.0f, 5, NULL, NULL, NULL, NULL);
    module.is_available = 0;
    scale(m, NULL, 3, 16, 20, 1.0f, -7, half, in, out, NULL);
    mapped(m, NULL, 100, in, out, scratch);
    return 0;
}
