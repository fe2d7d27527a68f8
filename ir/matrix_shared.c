// Where the operands of a warpgroup's instructions lie in shared memory.
//
// Rows of `swizzle` bytes, eight of them below each other, are a block, of
// which further ones lie `leading` and `stride` bytes apart.  Without a
// swizzle a row has 16 bytes:
//
//   rows along k          blocks along k: leading    along m or n: stride
//   transposed, swizzled  blocks along m or n: leading    along k: stride
//   transposed, not       blocks along m or n: stride    along k: leading
//
// The 16 bytes that a row has at column j then lie at column j ^ row: bits 4
// and up of the address are changed by its bits 7 and up.
// Source: PTX ISA, asynchronous warpgroup-level matrix instructions, strides
// and shared memory matrix layout.

#include "ir/layout.h"
#include "ir/matrix.h"

enum { ROWS = 8, CHUNK = 16 };

uint64_t matrix_shared_address(const struct ir_descriptor *d, uint32_t bytes,
                               uint64_t start, uint32_t line, uint32_t k)
{
    uint32_t row_bytes = d->swizzle ? d->swizzle : CHUNK;
    uint32_t width = row_bytes / bytes;
    bool is_exchanged = d->is_transposed && !d->swizzle;
    uint64_t next_along = is_exchanged ? d->stride : d->leading;
    uint64_t next_across = is_exchanged ? d->leading : d->stride;
    uint32_t along = d->is_transposed ? line : k;
    uint32_t across = d->is_transposed ? k : line;
    uint64_t address = start + along / width * next_along +
                       across / ROWS * next_across +
                       (uint64_t)(across % ROWS) * row_bytes +
                       (uint64_t)(along % width) * bytes;
    return layout_exchanged(d->swizzle, address);
}

void matrix_tile_index(const struct ir_tile *t, const struct matrix_shape *of,
                       uint32_t line, uint32_t k, uint32_t *index)
{
    bool is_transposed = t->descriptor.is_transposed;
    uint32_t along = is_transposed ? line : k;
    uint32_t across = is_transposed ? k : line;
    uint32_t room = is_transposed ? of->lines : of->k;
    uint32_t found = 0;
    for (uint32_t i = t->at->n; i-- > 0;) {
        index[i] = 0;
        if (t->extent[i] <= 1)
            continue;
        bool is_along = found == 0 || (found > 1 && room > 1);
        uint32_t *position = is_along ? &along : &across;
        index[i] = *position % t->extent[i];
        *position /= t->extent[i];
        room /= is_along ? t->extent[i] : 1;
        found++;
    }
}
