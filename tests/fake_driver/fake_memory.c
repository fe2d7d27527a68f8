/* fake_memory.c: what the driver says of pointers. */

#include "fake_cuda.h"

#include <string.h>

/* Finds the memory that holds `address`: what the test said, or an allocation; 0
 * if there is none. */
static int find(uint64_t address, struct fake_memory *found)
{
    const struct fake_memory *memory = fake_state()->memory;
    int i;

    for (i = 0; i < FAKE_MAX; i++)
        if (memory[i].size && address - memory[i].start < memory[i].size) {
            *found = memory[i];
            return 1;
        }
    return fake_find_memory(address, found);
}

FAKE_API int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    struct fake_memory memory;
    int is_known = find(address, &memory);

    if (fake_state()->pointer_result)
        return fake_state()->pointer_result;
    if (!is_known || (attribute != 2 && fake_state()->has_no_ranges))
        return 1;
    switch (attribute) {
    case 2: memcpy(value, &memory.type, sizeof memory.type); return 0;
    case 11: memcpy(value, &memory.start, sizeof memory.start); return 0;
    case 12: memcpy(value, &memory.size, sizeof memory.size); return 0;
    default: return 1;
    }
}
