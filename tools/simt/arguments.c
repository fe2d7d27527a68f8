// Arguments into the arena, results out of it.

#include "tools/simt/run.h"

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "tools/simt/sparse.h"

#include <stdlib.h>
#include <string.h>

// Results of more elements are not looked through for what is unwritten.
#define ELEMENTS_MOST (INT64_C(1) << 28)

enum { SLOT_BYTES = 8 };

// Larger results are not kept.
#define KEPT_MOST ((size_t)1 << 26)

// Return whether an array holds something before the run: inputs, and results
// that nothing but atomics makes.
static bool is_defined(const struct ir_kernel *k, const struct ir_buffer *b)
{
    if (b->role != ROLE_output)
        return b->role != ROLE_alloc;
    return ir_block_atomics(&k->body, b) && !ir_block_stores(&k->body, b);
}

// Describe the dimensions of an array of the kernel.
static void describe(const struct running *r, struct region *region,
                     const struct ir_buffer *b)
{
    const struct ir_kernel *k = r->code->kernel;
    int64_t strides[SIMT_RANK_MOST] = {0}, row = 1, extent = 1;
    for (uint32_t i = b->rank; i-- > 0 && b->rank <= SIMT_RANK_MOST;) {
        strides[i] = row;
        if (b->strides)
            ir_eval_int(k, r->arguments, b->strides[i], &strides[i]);
        ir_eval_int(k, r->arguments, b->shape[i], &extent);
        region->shape[i] = extent;
        row *= extent > 0 ? extent : 1;
    }
    region_describe(region, b, strides);
}

// Add an array to the machine; `data` NULL leaves it undefined, where stores are
// watched.  Returns NULL after reporting.
static struct region *add_array(struct running *r, const struct ir_buffer *b,
                                const void *data, size_t bytes)
{
    struct region *region =
        region_add(r->m, b->name, SPACE_global, bytes, type_bytes(b->elem), 1);
    if (!region) {
        diag_error(r->diags, (struct span){0}, D_simt_no_memory);
        return NULL;
    }
    describe(r, region, b);
    region->is_defined = !r->code->is_checked || is_defined(r->code->kernel, b);
    region->is_read_only = b->role == ROLE_input;
    region->is_result = b->role == ROLE_output;
    if (data && bytes)
        sparse_copy(region->base, data, bytes);
    return region;
}

// Write the value of a scalar parameter to its slot.
static void store_scalar(const struct ir_var *v,
                         const struct eval_argument *argument, void *slot)
{
    if (type_is_float(v->type))
        eval_store_float(v->type, slot, argument->scalar.f);
    else
        eval_store_int(v->type, slot, argument->scalar.i);
}

// Find the bytes of an array of the workspace, gaps between its rows included.
// Returns false if that is no number.
static bool workspace_bytes(const struct running *r, const struct ir_buffer *b,
                            int64_t *bytes)
{
    const struct ir_kernel *k = r->code->kernel;
    int64_t last = 0, row = 1;
    for (uint32_t i = b->rank; i-- > 0;) {
        int64_t extent, stride = row, step;
        if (!ir_eval_int(k, r->arguments, b->shape[i], &extent) ||
            (b->strides &&
             !ir_eval_int(k, r->arguments, b->strides[i], &stride)) ||
            !num_mul(extent - 1, stride, &step) ||
            !num_mul(row, extent, &row) || !num_add(last, step, &last))
            return false;
    }
    return num_mul(row > 0 ? last + 1 : 0, (int64_t)type_bytes(b->elem), bytes);
}

// Put a pointer to an array into the next slot.
static bool push_array(struct running *r, struct region *region)
{
    if (region)
        memcpy(r->slots + SLOT_BYTES * r->n_slots++, &region->base, SLOT_BYTES);
    return region;
}

// Give the arrays and scalars to the machine.
static bool set_parameters(struct running *r)
{
    const struct ir_kernel *k = r->code->kernel;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_param *p = &k->params.at[i];
        const struct eval_argument *argument = &r->arguments[i];
        if (p->var) {
            store_scalar(p->var, argument,
                         r->slots + SLOT_BYTES * r->n_slots++);
            continue;
        }
        r->regions[i] = add_array(r, p->buffer, argument->data, argument->size);
        if (!push_array(r, r->regions[i]))
            return false;
    }
    struct region **region = &r->regions[k->params.n];
    for (size_t i = 0; i < k->body.n; i++) {
        const struct ir_stmt *s = k->body.at[i];
        int64_t bytes;
        if (s->kind != STMT_alloc)
            continue;
        if (!workspace_bytes(r, s->u.buffer, &bytes))
            return false;
        *region = add_array(r, s->u.buffer, NULL, (size_t)bytes);
        if (!push_array(r, *region++))
            return false;
    }
    return true;
}

// Return the map of an array: TMA counts dimensions from the
// innermost one.
static struct tensor_map map_of(const struct running *r, const struct ir_map *m)
{
    const struct region *region =
        r->regions[ir_launch_parameter(r->code->kernel, m->buffer)];
    struct tensor_map map = {.base = region->base,
                             .bytes = (uint32_t)region->elem,
                             .rank = region->rank,
                             .swizzle = m->swizzle,
                             .rounds = m->rounds};
    for (uint32_t d = 0; d < map.rank && map.rank <= MAP_RANK_MOST; d++) {
        uint32_t from = map.rank - 1 - d;
        map.size[d] = region->shape[from];
        map.stride[d] = region->strides[from] * (int64_t)region->elem;
        map.box[d] = m->box[from];
    }
    return map;
}

// Give the tensor maps to the machine, and pointers to them to the entries.
static bool set_maps(struct running *r)
{
    size_t n = r->code->kernel->maps.n;
    r->maps = calloc(n + 1, sizeof *r->maps);
    for (size_t i = 0; i < n && r->maps; i++) {
        const struct tensor_map *map = &r->maps[i];
        r->maps[i] = map_of(r, r->code->kernel->maps.at[i]);
        memcpy(r->slots + SLOT_BYTES * r->n_slots++, &map, SLOT_BYTES);
    }
    r->m->maps = r->maps;
    r->m->n_maps = n;
    return r->maps;
}

bool arguments_set(struct running *r)
{
    return set_parameters(r) && set_maps(r);
}

void arguments_read(const struct running *r)
{
    const struct ir_kernel *k = r->code->kernel;
    for (size_t i = 0; i < k->params.n; i++)
        if (r->regions[i] && k->params.at[i].buffer->role != ROLE_input)
            sparse_copy(r->arguments[i].data, r->regions[i]->base,
                        r->arguments[i].size);
}

void **arguments_keep(const struct running *r)
{
    size_t n = r->code->kernel->params.n, all = 0;
    void **kept = calloc(n + 1, sizeof *kept);
    for (size_t i = 0; i < n; i++)
        all += r->regions[i] ? r->arguments[i].size : 0;
    bool ok = kept && all <= KEPT_MOST;
    for (size_t i = 0; i < n && ok; i++) {
        size_t bytes = r->arguments[i].size;
        if (!r->regions[i] || r->regions[i]->is_read_only)
            continue;
        kept[i] = malloc(bytes + 1);
        ok = kept[i];
        if (ok)
            memcpy(kept[i], r->regions[i]->base, bytes);
    }
    if (ok)
        return kept;
    for (size_t i = 0; i < n && kept; i++)
        free(kept[i]);
    free(kept);
    return NULL;
}

void arguments_give(const struct running *r, void **kept)
{
    for (size_t i = 0; i < r->code->kernel->params.n; i++) {
        if (kept[i])
            memcpy(r->arguments[i].data, kept[i], r->arguments[i].size);
        free(kept[i]);
    }
    free(kept);
}

// Return the offset of element number `at` of an array, in elements.
static int64_t offset_of(const struct region *r, int64_t at)
{
    int64_t offset = 0;
    for (uint32_t i = r->rank; i-- > 0;) {
        offset += at % r->shape[i] * r->strides[i];
        at /= r->shape[i];
    }
    return offset;
}

// Note which elements of a result were never written.
static void note_unwritten_of(struct running *r, struct region *region)
{
    struct simt_finding first;
    int64_t all = 1;
    uint64_t n = 0;
    for (uint32_t i = 0; i < region->rank; i++)
        all *= region->shape[i];
    for (int64_t at = 0; at < all && all <= ELEMENTS_MOST; at++) {
        size_t offset = (size_t)offset_of(region, at) * region->elem;
        if (region->cells[offset >> region->shift].write)
            continue;
        if (!n++)
            finding_make(r->m, SIMT_FAULT_unwritten, NULL, region,
                         region->base + offset, &first);
    }
    first.count = n;
    if (n)
        finding_note(r->m, &first);
}

void arguments_note_unwritten(struct running *r)
{
    for (size_t i = 0; i < r->code->kernel->params.n; i++) {
        struct region *region = r->regions[i];
        if (region && region->is_result && !region->is_defined)
            note_unwritten_of(r, region);
    }
}
