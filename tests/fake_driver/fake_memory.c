/* fake_memory.c: what the driver says of pointers. */

#include "fake_cuda.h"

#include <string.h>

/* The memory that holds `address`, or NULL. */
static const struct fake_memory *find(uint64_t address)
{
    const struct fake_memory *memory = fake_state()->memory;
    int i;

    for (i = 0; i < FAKE_MAX; i++)
        if (memory[i].size && address - memory[i].start < memory[i].size)
            return &memory[i];
    return NULL;
}

FAKE_API int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    const struct fake_memory *memory = find(address);

    if (fake_state()->pointer_result)
        return fake_state()->pointer_result;
    if (!memory || (attribute != 2 && fake_state()->has_no_ranges))
        return 1;
    switch (attribute) {
    case 2: memcpy(value, &memory->type, sizeof memory->type); return 0;
    case 11: memcpy(value, &memory->start, sizeof memory->start); return 0;
    case 12: memcpy(value, &memory->size, sizeof memory->size); return 0;
    default: return 1;
    }
}
