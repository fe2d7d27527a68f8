/* Calls `copy` of choose.h on a runtime that only says which launch it is asked
 * for.
 *
 *   choose N ENTRY...      copies N elements, with these entries in the image */

#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image of this program. */
struct ingot_module {
    char **entries;
    int n;
};

enum ingot_status ingot_reject(struct ingot_module *module,
                               enum ingot_status status, const char *kernel,
                               const char *what)
{
    (void)module;
    printf("%s: %s\n", kernel, what);
    return status;
}

enum ingot_status ingot_available(struct ingot_module *module, uint32_t entry,
                                  CUstream stream, int *available)
{
    int i;

    (void)stream;
    *available = 0;
    for (i = 0; i < module->n; i++)
        *available |= !strcmp(module->entries[i], choose_entries[entry].name);
    return INGOT_OK;
}

enum ingot_status ingot_launch(struct ingot_module *module, uint32_t entry,
                               CUstream stream, const uint64_t grid[3],
                               const uint32_t block[3], uint32_t dynamic_shared,
                               void **params)
{
    (void)module, (void)stream, (void)dynamic_shared, (void)params;
    printf("%s <%u, %u>\n", choose_entries[entry].name, (unsigned)grid[0],
           (unsigned)block[0]);
    return INGOT_OK;
}

int main(int argc, char **argv)
{
    static float in[4096], out[4096];
    struct ingot_module module = {argv + 2, argc - 2};

    return (int)copy(&module, NULL, atoi(argv[1]), in, out, NULL);
}
