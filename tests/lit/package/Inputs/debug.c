// Prints what the checks of `scale` are given, in their place.

#include "debug.h"

#include <stdio.h>

enum ingot_status ingot_debug_arrays(struct ingot_module *module,
                                     const char *kernel,
                                     const struct ingot_debug_array *arrays,
                                     size_t count)
{
    printf("%s: %d\n", kernel, module != NULL);
    for (size_t i = 0; i < count; i++)
        printf("%s %p: %u bytes, %s\n", arrays[i].name, arrays[i].address,
               (unsigned)arrays[i].bytes,
               arrays[i].is_written ? "written" : "read");
    return INGOT_BAD_ARRAY;
}

int main(void)
{
    float *x = (float *)0x1000, *z = (float *)0x2000, *y = (float *)0x3000;
    printf("status %d\n", scale(NULL, NULL, 100, 2, x, z, y, (void *)0x4000));
    printf("status %d\n", scale(NULL, NULL, 100, 2, NULL, z, y, NULL));
    return 0;
}
