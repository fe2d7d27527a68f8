// A set is one allocation:
//
//   guard | array | guard | array | guard ...       arrays at multiples of 256
//
// The guards hold one byte value, which nothing may change.

#include "tools/ingot/device.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGN = 256,
    GUARD_BYTES = 4096,
    GUARD = 0xa5,
    SETS_MOST = 512,
    CACHES = 3, // the sets together are so many times as large as the cache
};

// ---- Layout ---------------------------------------------------------------

// Return the end of a region, rounded up: where a guard begins.
static size_t region_end(const struct device_region *r)
{
    return (r->at + r->bytes + ALIGN - 1) / ALIGN * ALIGN;
}

// Add a region behind the others.
static void add_region(struct device *d, const struct ir_buffer *buffer,
                       size_t bytes)
{
    struct device_region r = {buffer, d->set_bytes, bytes};
    vec_push(d->arena, &d->regions, r);
    d->set_bytes = region_end(&r) + GUARD_BYTES;
}

// Lay out all arrays.
static void lay_out(struct device *d)
{
    const struct dispatch *dispatch = d->dispatch;
    d->set_bytes = GUARD_BYTES;
    for (size_t i = 0; i < d->problem->arrays.n; i++)
        add_region(d, d->problem->arrays.at[i].buffer,
                   d->problem->arrays.at[i].bytes);
    for (size_t i = 0; i < dispatch->workspace.n; i++)
        add_region(d, NULL, dispatch->workspace.at[i]);
}

// Return how many sets do not fit in the cache, nor fill half the memory.
static size_t useful_sets(const struct device *d)
{
    size_t wanted = (size_t)d->driver->l2_bytes * CACHES / d->set_bytes + 1;
    size_t fit = (size_t)d->free_bytes / 2 / d->set_bytes;
    wanted = wanted < SETS_MOST ? wanted : SETS_MOST;
    wanted = wanted < fit ? wanted : fit;
    return wanted ? wanted : 1;
}

// ---- Sets -----------------------------------------------------------------

// Write a scalar as a launch takes it.
static void set_scalar(const struct ir_var *var,
                       const struct eval_argument *value, uint64_t *word)
{
    if (type_is_float(var->type))
        eval_store_float(var->type, word, value->scalar.f);
    else if (type_is_index(var->type))
        *word = (uint64_t)value->scalar.i;
    else
        eval_store_int(var->type, word, value->scalar.i);
}

// Make a tensor map of an array at an address.  Returns false after reporting.
static bool set_map(struct device *d, const struct dispatch_map *from,
                    uint64_t address, struct ingot_tensor_map *to)
{
    const struct ir_buffer *b = from->map->buffer;
    struct ingot_tensor tensor = {.name = from->map->name,
                                  .rank = b->rank,
                                  .element = (uint32_t)type_bytes(b->elem),
                                  .swizzle = from->map->swizzle,
                                  .rounds = from->map->rounds};
    char text[INGOT_TEXT_SIZE];
    for (uint32_t i = 0; i < b->rank; i++)
        tensor.box[i] = from->map->box[b->rank - 1 - i];
    if (!ingot_encode(d->module, d->stream, &tensor, (void *)address,
                      from->sizes, from->strides, to))
        return true;
    diag_error(d->diags, b->span, D_launch_refused, d->dispatch->variant->name,
               ingot_error_text(d->module, text, sizeof text));
    return false;
}

// Make the tensor maps of a set, whose other parameters are filled, from
// parameter `at` on.  Returns false after reporting.
static bool set_maps(struct device *d, struct device_set *set, size_t at)
{
    const struct dispatch *p = d->dispatch;
    char *room = arena_alloc(d->arena, (p->maps.n + 1) * sizeof *set->maps);
    uintptr_t past = (uintptr_t)room % sizeof *set->maps;
    set->maps = (void *)(room + (past ? sizeof *set->maps - past : 0));
    for (size_t i = 0; i < p->maps.n; i++) {
        set->params[at + i] = &set->maps[i];
        if (!set_map(d, &p->maps.at[i], set->words[p->maps.at[i].parameter],
                     &set->maps[i]))
            return false;
    }
    return true;
}

// Fill the parameters of a set.  Returns false after reporting.
static bool set_params(struct device *d, struct device_set *set)
{
    const struct ir_kernel *k = d->problem->kernel;
    size_t n = k->params.n + d->regions.n - d->problem->arrays.n;
    size_t region = 0;
    set->params = arena_array(d->arena, void *, n + d->dispatch->maps.n);
    set->words = arena_array(d->arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        set->params[i] = &set->words[i];
        if (i < k->params.n && k->params.at[i].var)
            set_scalar(k->params.at[i].var, &d->problem->values[i],
                       &set->words[i]);
        else
            set->words[i] = set->base + d->regions.at[region++].at;
    }
    return set_maps(d, set, n);
}

// Allocate a set.
static bool add_set(struct device *d)
{
    struct device_set set = {0};
    if (!DEVICE_CALL(d, cuMemAlloc_v2, &set.base, d->set_bytes))
        return false;
    bool ok = set_params(d, &set);
    vec_push(d->arena, &d->sets, set);
    return ok;
}

// Return what array `i` holds, if it is on the host and nothing has changed it; or NULL.
static const void *on_host(const struct device *d, size_t i)
{
    const struct problem_array *array = &d->problem->arrays.at[i];
    bool is_input = array->buffer->role == ROLE_input;
    return d->inputs && is_input ? d->inputs[array->parameter].data : NULL;
}

// Write random numbers to an array.
static bool upload(struct device *d, size_t i, uint64_t to)
{
    const struct problem_array *array = &d->problem->arrays.at[i];
    const void *there = on_host(d, i);
    if (there)
        return !array->bytes ||
               DEVICE_CALL(d, cuMemcpyHtoD_v2, to, there, array->bytes);
    void *host = problem_alloc(array, d->diags);
    if (!host)
        return false;
    problem_write(d->problem, i, host);
    bool ok = !array->bytes ||
              DEVICE_CALL(d, cuMemcpyHtoD_v2, to, host, array->bytes);
    problem_free(array, host);
    return ok;
}

// Return whether array `i` is on the device already: an input, which no run
// changes.
static bool is_there(const struct device *d, size_t i)
{
    return d->like && d->problem->arrays.at[i].buffer->role == ROLE_input;
}

// Copy array `i` from the other one of the same problem.
static bool copy_input(struct device *d, size_t i, uint64_t to)
{
    const struct device_region *from = &d->like->regions.at[i];
    return !from->bytes ||
           DEVICE_CALL(d, cuMemcpyDtoD_v2, to,
                       d->like->sets.at[0].base + from->at, from->bytes);
}

// Write what a region holds before the kernel runs; the workspace and results
// hold poison.
static bool fill_region(struct device *d, size_t i, uint64_t base)
{
    const struct device_region *r = &d->regions.at[i];
    enum problem_fill fill =
        i < d->problem->arrays.n ? d->problem->arrays.at[i].fill : FILL_POISON;
    unsigned char byte = 0xff;
    if (fill == FILL_RANDOM && is_there(d, i))
        return copy_input(d, i, base + r->at);
    if (fill == FILL_RANDOM)
        return upload(d, i, base + r->at);
    if (r->buffer)
        byte = problem_poison(r->buffer);
    return !r->bytes ||
           DEVICE_CALL(d, cuMemsetD8_v2, base + r->at, byte, r->bytes);
}

// Write the first set, and copy it to the others.
static bool fill_sets(struct device *d)
{
    uint64_t base = d->sets.at[0].base;
    bool ok = DEVICE_CALL(d, cuMemsetD8_v2, base, GUARD, d->set_bytes);
    for (size_t i = 0; ok && i < d->regions.n; i++)
        ok = fill_region(d, i, base);
    for (size_t i = 1; ok && i < d->sets.n; i++)
        ok = DEVICE_CALL(d, cuMemcpyDtoD_v2, d->sets.at[i].base, base,
                         d->set_bytes);
    return ok;
}

bool device_start(struct device *d, size_t most_sets)
{
    enum { NON_BLOCKING = 1 };
    lay_out(d);
    size_t n = most_sets ? most_sets : useful_sets(d);
    if (!DEVICE_CALL(d, cuStreamCreate, &d->stream, NON_BLOCKING))
        return false;
    while (d->sets.n < n)
        if (!add_set(d))
            return false;
    return fill_sets(d) && DEVICE_CALL(d, cuStreamSynchronize, NULL);
}

void device_free(struct device *d)
{
    for (size_t i = 0; i < d->sets.n; i++)
        d->driver->cuMemFree_v2(d->sets.at[i].base);
    if (d->stream)
        d->driver->cuStreamDestroy_v2(d->stream);
}

// ---- Running --------------------------------------------------------------

void device_tell(const struct device *d, bool works)
{
    if (d->listener)
        d->listener->tell(d->listener->context, works);
}

bool device_launch(struct device *d, const struct device_set *set)
{
    for (size_t i = 0; i < d->launches.n; i++) {
        const struct device_launch *l = &d->launches.at[i];
        if (ingot_launch(d->module, l->entry, d->stream, l->what->grid,
                         l->what->launch->block, l->shared,
                         set->params) == INGOT_OK)
            continue;
        char text[INGOT_TEXT_SIZE];
        diag_error(d->diags, (struct span){0}, D_launch_refused,
                   l->what->launch->name,
                   ingot_error_text(d->module, text, sizeof text));
        return false;
    }
    return true;
}

bool device_wait(struct device *d)
{
    return DEVICE_CALL(d, cuStreamSynchronize, d->stream);
}

bool device_read(struct device *d, const struct device_set *set, size_t i,
                 void *bytes)
{
    const struct device_region *r = &d->regions.at[i];
    return !r->bytes ||
           DEVICE_CALL(d, cuMemcpyDtoH_v2, bytes, set->base + r->at, r->bytes);
}

// Check the bytes from..to of a set; `r` is the region before or behind them.
static bool check_guard(struct device *d, const struct device_set *set,
                        size_t from, size_t to, const struct device_region *r)
{
    unsigned char bytes[GUARD_BYTES + ALIGN];
    if (!DEVICE_CALL(d, cuMemcpyDtoH_v2, bytes, set->base + from, to - from))
        return false;
    for (size_t i = 0; i < to - from; i++) {
        if (bytes[i] == GUARD)
            continue;
        diag_error(d->diags, r->buffer ? r->buffer->span : (struct span){0},
                   D_wrote_outside, r->buffer ? r->buffer->name : "workspace");
        return false;
    }
    return true;
}

bool device_check_guards(struct device *d, const struct device_set *set)
{
    bool ok = true;
    for (size_t i = 0; ok && i < d->regions.n; i++) {
        const struct device_region *r = &d->regions.at[i];
        size_t end = r->at + r->bytes;
        ok = check_guard(d, set, r->at - GUARD_BYTES, r->at, r) &&
             check_guard(d, set, end, region_end(r) + GUARD_BYTES, r);
    }
    return ok;
}
