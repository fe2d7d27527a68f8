// The tensor maps of a variant, for the executor.

#include "tools/ingot/check.h"

#include "tools/ingot/dispatch.h"

// Describe one map.
static struct simt_map describe(const struct dispatch_map *from)
{
    const struct ir_buffer *b = from->map->buffer;
    struct simt_map to = {.parameter = from->parameter,
                          .bytes = (uint32_t)type_bytes(b->elem),
                          .rank = b->rank,
                          .swizzle = from->map->swizzle};
    for (uint32_t i = 0; i < b->rank; i++) {
        to.size[i] = from->sizes[i];
        to.stride[i] = from->strides[i] * (int64_t)to.bytes;
        to.box[i] = from->map->box[b->rank - 1 - i];
    }
    return to;
}

const struct simt_map *check_tensors(struct arena *a, const struct problem *p,
                                     const struct ir_kernel *kernel)
{
    struct simt_map *maps = arena_array(a, struct simt_map, kernel->maps.n);
    for (size_t i = 0; i < kernel->maps.n; i++) {
        struct dispatch_map map;
        if (dispatch_map(a, p, kernel, kernel->maps.at[i], &map))
            maps[i] = describe(&map);
    }
    return maps;
}
