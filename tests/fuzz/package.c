// Fuzzes the readers of fatbins, cubins and manifests: no input may make them
// read outside of it, leak or loop.

#include "nvptx/package/fatbin.h"
#include "nvptx/package/manifest.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Read the input as each of the three.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct fatbin fatbin;
    struct elf_cubin cubin;
    struct usage_list usage = {0};
    if (!fatbin_read(&a, data, size, &fatbin))
        for (size_t i = 0; i < fatbin.images.n; i++)
            fatbin_kernels(&a, &fatbin.images.at[i], &usage);
    elf_read(&a, data, size, &cubin);
    manifest_read(&a, (const char *)data, size, 0, &usage, 1);
    arena_reset(&a);
    return 0;
}
