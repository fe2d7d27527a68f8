// Descriptors of matrices in shared memory: PTX ISA, "Asynchronous Warpgroup
// Level Matrix Instructions", matrix descriptor.

#include "tools/simt/matrix.h"

enum {
    UNIT = 16, // bytes that fields count
    FIELD = 0x3fff,
    LEADING = 16,
    STRIDE = 32,
    OFFSET = 49,
    SWIZZLE = 62,
    LINE = 128
};

// The swizzles by their number.
static const uint32_t swizzles[] = {0, 128, 64, 32};

unsigned char *shared_find_low(struct machine *m, const struct fiber *f,
                               uint64_t low, size_t bytes)
{
    for (size_t i = 1; i < m->n_regions; i++) {
        const struct region *r = &m->regions[i];
        if (r->space != SPACE_shared)
            continue;
        uint64_t start = (uintptr_t)r->base & (SHARED_WINDOW - 1);
        if (low < start || low - start > r->part ||
            bytes > r->part - (low - start))
            continue;
        return r->base + (low - start) +
               (r->copy ? r->copy * (m->slot + f->rank + 1) : 0);
    }
    return NULL;
}

void *shared_pointer(struct machine *m, const struct fiber *f, uint64_t operand)
{
    void *p = (void *)(uintptr_t)operand;
    if (region_of(m, p) != &m->regions[0] || operand >> 32)
        return p;
    unsigned char *found =
        shared_find_low(m, f, operand & (SHARED_WINDOW - 1), 1);
    return found ? found : p;
}

uint64_t descriptor_read(uint64_t bits, bool is_transposed,
                         struct ir_descriptor *out)
{
    *out = (struct ir_descriptor){
        .swizzle = swizzles[bits >> SWIZZLE],
        .leading = (uint32_t)(bits >> LEADING & FIELD) * UNIT,
        .stride = (uint32_t)(bits >> STRIDE & FIELD) * UNIT,
        .is_transposed = is_transposed};
    return (bits & FIELD) * UNIT;
}

bool descriptor_is_aligned(uint64_t bits)
{
    uint64_t start = (bits & FIELD) * UNIT, offset = bits >> OFFSET & 7;
    uint32_t swizzle = swizzles[bits >> SWIZZLE];
    uint64_t rows = swizzle ? swizzle / UNIT : 1;
    return start / LINE % rows == offset;
}
