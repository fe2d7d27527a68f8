// Where the arrays of a launch in shared memory lie.

#include "ir/shared.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"

// A layout under construction.
struct laying {
    struct arena *arena;
    struct shared_layout *layout;
};

// Return the bytes of an array whose extents are numbers, 0 for others;
// INT64_MAX if 63 bits do not hold them.
static int64_t array_bytes(struct arena *a, const struct ir_buffer *b)
{
    int64_t bytes = (int64_t)type_bytes(b->elem), n;
    if ((b->pitches || b->strides) && ir_int_value(layout_elements(a, b), &n))
        return num_mul(bytes, n, &bytes) ? bytes : INT64_MAX;
    for (uint32_t i = 0; i < b->rank; i++) {
        if (!ir_int_value(b->shape[i], &n))
            return 0;
        if (!num_mul(bytes, n, &bytes))
            return INT64_MAX;
    }
    return bytes;
}

// Add an array behind the others.
static void see_alloc(struct ir_stmt *s, void *context)
{
    struct laying *l = context;
    struct shared_layout *all = l->layout;
    if (s->kind != STMT_alloc || s->u.buffer->space != SPACE_shared)
        return;
    const struct ir_buffer *b = s->u.buffer;
    int64_t align = b->align > SHARED_ALIGN ? b->align : SHARED_ALIGN;
    struct shared_place place = {b, all->bytes, array_bytes(l->arena, b)};
    if (num_add(place.offset, align - 1, &place.offset))
        place.offset -= place.offset % align;
    if (!num_add(place.offset, place.bytes, &all->bytes))
        all->bytes = INT64_MAX;
    vec_push(l->arena, &all->places, place);
}

struct shared_layout shared_layout(struct arena *a,
                                   const struct ir_launch *launch)
{
    struct shared_layout layout = {0};
    struct laying l = {a, &layout};
    ir_each_stmt((struct ir_block *)&launch->body, see_alloc, &l);
    return layout;
}

const struct shared_place *shared_find(const struct shared_layout *layout,
                                       const struct ir_buffer *buffer)
{
    for (size_t i = 0; i < layout->places.n; i++)
        if (layout->places.at[i].buffer == buffer)
            return &layout->places.at[i];
    return NULL;
}

int64_t shared_dynamic(const struct shared_layout *layout)
{
    return layout->bytes > SHARED_STATIC_MOST ? layout->bytes : 0;
}
