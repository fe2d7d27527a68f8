// Copies by TMA, done at once: bulk copies, and tiles element by element.
//
// A tile lies in shared memory without gaps, its last dimension fastest.  At
// level flat, where storage is what it is on the device, groups of 16 bytes
// are exchanged as the map's swizzle says.

#include "ir/accesses.h"
#include "ir/arith.h"
#include "ir/build.h"
#include "ir/eval_code.h"
#include "ir/layout.h"
#include "ir/walk.h"

#include <string.h>

enum { RANK_MOST = 5, GROUP_BYTES = 16 };

// A copy under way.
struct copying {
    const struct ir_map *map;
    const struct array *near, *far; // in shared memory, and mapped
    char *near_data, *far_data;
    size_t first; // byte of the tile in shared memory
    int64_t at[RANK_MOST];
    bool is_swizzled, is_load;
};

// Return the element of the mapped array that tile element `number` stands for,
// or NULL outside of it.
static char *far_element(const struct copying *c, size_t number)
{
    uint64_t offset = 0;
    for (uint32_t i = c->map->buffer->rank; i-- > 0;) {
        int64_t at = c->at[i] + (int64_t)(number % c->map->box[i]);
        number /= c->map->box[i];
        if (at < 0 || at >= c->far->extent[i])
            return NULL;
        offset += (uint64_t)at * (uint64_t)c->far->stride[i];
    }
    return c->far_data + offset * c->far->element_bytes;
}

// Load an element of the mapped array, rounded where the map says so: TMA is
// taken to round to nearest as the operation `tf32` does. Which way ties go is
// not documented.
static void load_element(const struct copying *c, char *near, const char *far)
{
    float x;
    memcpy(near, far, c->near->element_bytes);
    if (!c->map->rounds)
        return;
    memcpy(&x, near, sizeof x);
    x = arith_tf32(x);
    memcpy(near, &x, sizeof x);
}

// Copy element `number` of the tile; false if it lies behind the array in
// shared memory.
static bool copy_element(const struct copying *c, size_t number)
{
    size_t bytes = c->near->element_bytes, at = c->first + number * bytes;
    if (c->is_swizzled)
        at = layout_exchanged(c->map->swizzle, at);
    if (at + bytes > c->near->bytes)
        return false;
    char *near = c->near_data + at, *far = far_element(c, number);
    if (c->is_load && far)
        load_element(c, near, far);
    else if (c->is_load)
        memset(near, 0, bytes);
    else if (far)
        memcpy(far, near, bytes);
    return true;
}

// Return whether `elements` from an index on are part of a row, or whole rows
// that nothing parts and whose length is a number.
static bool is_run(struct thread *t, const struct access *access,
                   int64_t elements)
{
    const struct array *array = &t->machine->arrays.at[access->array];
    int64_t behind = 1, number;
    for (uint32_t i = access->n; i-- > 0;) {
        int64_t at = eval_run(t, access->index[i]).i;
        if (array->stride[i] != behind)
            return false;
        if (at + elements <= array->extent[i])
            return true;
        if (at || elements % array->extent[i] ||
            !ir_int_value(array->buffer->shape[i], &number))
            return false;
        elements /= array->extent[i];
        behind *= array->extent[i];
    }
    return false;
}

// Return whether a bulk copy that begins there stays in an array; stop if not.
static bool stays(struct thread *t, const struct action *s,
                  const struct access *access, const char *first, size_t bytes)
{
    const struct array *array = &t->machine->arrays.at[access->array];
    size_t at = (size_t)(first - (char *)t->data[access->array]);
    if (access->is_flat ? at + bytes <= array->bytes
                        : is_run(t, access, s->origin->u.copy.elements))
        return true;
    eval_stop(t->machine, EVAL_FAULT, s->origin->span,
              "the bulk copy leaves `%s`, which has %lld bytes",
              array->buffer->name, (long long)array->bytes);
    return false;
}

// Do a bulk copy, which begins at `near` in shared memory.
static void copy_bulk(struct thread *t, const struct action *s, char *near)
{
    const struct ir_stmt *o = s->origin;
    size_t bytes = o->u.copy.elements * type_bytes(o->u.copy.far.buffer->elem);
    char *far = eval_element(t, &s->far, o->span);
    if (!far || !stays(t, s, &s->far, far, bytes) ||
        !stays(t, s, &s->access, near, bytes))
        return;
    if (o->u.copy.is_load)
        memcpy(near, far, bytes);
    else
        memcpy(far, near, bytes);
    eval_signal(t, s, bytes);
}

// Return whether a tile begins at a multiple of 16 bytes of a row of the mapped
// array, as hardware asks; stop if not.
static bool begins_in_group(struct thread *t, const struct action *s,
                            const struct copying *c)
{
    int64_t column = c->at[s->far.n - 1];
    if (column * (int64_t)c->far->element_bytes % GROUP_BYTES == 0)
        return true;
    eval_stop(t->machine, EVAL_FAULT, s->origin->span,
              "the tile begins at column %lld of `%s`, not at a multiple of 16 "
              "bytes",
              (long long)column, c->far->buffer->name);
    return false;
}

// Copy a tile, which begins at `first` in shared memory.
static void copy_tile(struct thread *t, const struct action *s,
                      const char *first)
{
    const struct ir_stmt *o = s->origin;
    struct copying c = {.map = o->u.copy.map};
    size_t elements = (size_t)ir_copy_elements(&o->u.copy);
    c.near = &t->machine->arrays.at[s->access.array];
    c.far = &t->machine->arrays.at[s->far.array];
    c.near_data = t->data[s->access.array];
    c.far_data = t->data[s->far.array];
    c.first = (size_t)(first - c.near_data);
    c.is_load = o->u.copy.is_load;
    c.is_swizzled = c.map->swizzle && s->access.is_flat;
    for (uint32_t i = 0; i < s->far.n; i++)
        c.at[i] = eval_run(t, s->far.index[i]).i;
    if (!begins_in_group(t, s, &c))
        return;
    for (size_t i = 0; i < elements; i++) {
        if (copy_element(&c, i))
            continue;
        eval_stop(t->machine, EVAL_FAULT, o->span,
                  "the tile leaves `%s`, which has %lld bytes",
                  c.near->buffer->name, (long long)c.near->bytes);
        return;
    }
    eval_signal(t, s, elements * c.near->element_bytes);
}

void eval_copy(struct thread *t, const struct action *s)
{
    const struct ir_stmt *o = s->origin;
    if (o->u.copy.multicast) {
        eval_stop(t->machine, EVAL_FAULT, o->span,
                  "a copy for other blocks of the cluster: `ingot check` runs "
                  "it");
        return;
    }
    char *first = eval_element(t, &s->access, o->span);
    if (first && o->u.copy.map)
        copy_tile(t, s, first);
    else if (first)
        copy_bulk(t, s, first);
}
