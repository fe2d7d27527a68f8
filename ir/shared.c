// Where the arrays of a launch in shared memory lie.

#include "ir/shared.h"

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"

// Return how many bytes an array has that is not distributed.
static int64_t bytes_of(struct arena *a, const struct ir_buffer *b)
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

int64_t shared_bytes(struct arena *a, const struct ir_buffer *b)
{
    struct ir_buffer part = b->of_cluster ? layout_in_block(a, b) : *b;
    return bytes_of(a, &part);
}

// Set which statements of the launch use an array; none: first > last.  TMA, and
// other blocks of the cluster, may use one at any time.
static void find_life(const struct ir_block *body, struct shared_place *place)
{
    place->first = body->n;
    place->last = 0;
    if (place->buffer->of_cluster || ir_block_copies(body, place->buffer)) {
        place->first = 0;
        place->last = body->n - 1;
        return;
    }
    for (size_t i = 0; i < body->n; i++) {
        if (!ir_stmt_uses(body->at[i], place->buffer))
            continue;
        place->first = place->first < i ? place->first : i;
        place->last = i;
    }
}

// Return whether there is a barrier among statements of a block.
static bool has_barrier(const struct ir_block *body, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (body->at[i]->kind == STMT_barrier)
            return true;
    return false;
}

// Return whether a barrier parts all uses of x from all uses of y: here, or on
// both sides of the branch that holds them, if there are barriers in it, and
// so either all threads run a side or none.
static bool are_apart(const struct ir_block *body, const struct shared_place *x,
                      const struct shared_place *y)
{
    struct shared_place u = *x, v = *y;
    find_life(body, &u);
    find_life(body, &v);
    if (u.first > u.last || v.first > v.last)
        return true;
    if (u.last < v.first || v.last < u.first)
        return u.last < v.first ? has_barrier(body, u.last + 1, v.first)
                                : has_barrier(body, v.last + 1, u.first);
    struct ir_stmt *s = body->at[u.first];
    if (u.first != u.last || v.first != v.last || s->kind != STMT_if)
        return false;
    const struct ir_block *then = &s->u.branch.then;
    const struct ir_block *otherwise = &s->u.branch.otherwise;
    return (has_barrier(then, 0, then->n) ||
            has_barrier(otherwise, 0, otherwise->n)) &&
           are_apart(then, x, y) && are_apart(otherwise, x, y);
}

// Return whether two arrays have a byte in common where x lies now.
static bool collide(const struct shared_place *x, const struct shared_place *y)
{
    int64_t end_x, end_y;
    return !num_add(x->offset, x->bytes, &end_x) ||
           !num_add(y->offset, y->bytes, &end_y) ||
           (x->offset < end_y && y->offset < end_x);
}

// Return the end of an array, up to the alignment of another.
static int64_t end_of(const struct shared_place *x, const struct ir_buffer *b)
{
    int64_t align = b->align > SHARED_ALIGN ? b->align : SHARED_ALIGN, end;
    if (!num_add(x->offset, x->bytes, &end) || !num_add(end, align - 1, &end))
        return INT64_MAX;
    return end - end % align;
}

// Return the first array in the way of one where it lies now; NULL if there is
// none.
static const struct shared_place *in_the_way(const struct shared_layout *all,
                                             const struct ir_block *body,
                                             const struct shared_place *place)
{
    for (size_t i = 0; i < all->places.n; i++) {
        const struct shared_place *x = &all->places.at[i];
        if (collide(place, x) && end_of(x, place->buffer) > place->offset &&
            !are_apart(body, x, place))
            return x;
    }
    return NULL;
}

// Put an array at the first place that no array in use at the same time has.
static void lay_out(struct shared_layout *all, const struct ir_block *body,
                    struct shared_place *place)
{
    const struct shared_place *x;
    int64_t end;
    while ((x = in_the_way(all, body, place)) != NULL)
        place->offset = end_of(x, place->buffer);
    for (size_t i = 0; i < all->places.n; i++)
        all->overlaps |= place->bytes > 0 && all->places.at[i].bytes > 0 &&
                         collide(place, &all->places.at[i]);
    if (!num_add(place->offset, place->bytes, &end))
        end = INT64_MAX;
    all->bytes = end > all->bytes ? end : all->bytes;
}

struct shared_layout shared_layout(struct arena *a,
                                   const struct ir_launch *launch)
{
    struct shared_layout layout = {0};
    ir_foreach_stmt(s, &launch->body) {
        if (s->kind != STMT_alloc || s->u.buffer->space != SPACE_shared)
            continue;
        struct shared_place place = {.buffer = s->u.buffer};
        place.bytes = shared_bytes(a, s->u.buffer);
        find_life(&launch->body, &place);
        lay_out(&layout, &launch->body, &place);
        vec_push(a, &layout.places, place);
    }
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
