// One run: arguments into the arena, all blocks of all launches, results out
// of it.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "tools/simt/code.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "tools/simt/sparse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// Results of more elements are not looked through for what is unwritten.
#define ELEMENTS_MOST (INT64_C(1) << 28)

enum { STACK_BYTES = 64 * 1024, SLOT_BYTES = 8 };
#define STEPS_MOST UINT64_C(10000000000)
#define GRID_MOST  INT64_C(0x7fffffff)

// A run.
struct running {
    struct simt_code *code;
    struct machine *m;
    const struct eval_argument *arguments;
    struct diag_list *diags;
    unsigned char *slots; // of the entries' parameters
    size_t n_slots;
    struct region **regions; // of the parameters, NULL for scalars, then of the
                             // workspace
    struct tensor_map *maps;
};

// ---- Arguments ------------------------------------------------------------

// What looks for atomics on an array.
struct search {
    const struct ir_buffer *buffer;
    bool found;
};

// Note an atomic.
static void see_atomic(struct ir_expr *x, void *context)
{
    struct search *s = context;
    s->found |=
        ir_op_info(x->op)->flags & OP_WRITES && x->u.buffer == s->buffer;
}

// Return whether an array holds something before the run: inputs, and results
// that nothing but atomics makes.
static bool is_defined(const struct ir_kernel *k, const struct ir_buffer *b)
{
    struct search s = {b, false};
    if (b->role != ROLE_output)
        return b->role != ROLE_alloc;
    ir_each_expr_in((struct ir_block *)&k->body, see_atomic, &s);
    return s.found && !ir_block_stores((struct ir_block *)&k->body, b);
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

// Add an array to the machine; `data` NULL leaves it undefined.
// Returns NULL after reporting.
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
    region->is_defined = is_defined(r->code->kernel, b);
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

// Give the parameters of the kernel to the machine.
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

// Return the map of an array: the copy engine counts dimensions from the
// innermost one.
static struct tensor_map map_of(const struct running *r, const struct ir_map *m)
{
    const struct region *region =
        r->regions[ir_launch_parameter(r->code->kernel, m->buffer)];
    struct tensor_map map = {.base = region->base,
                             .bytes = (uint32_t)region->elem,
                             .rank = region->rank,
                             .swizzle = m->swizzle};
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

// Copy the results out of the machine.
static void read_results(struct running *r)
{
    const struct ir_kernel *k = r->code->kernel;
    for (size_t i = 0; i < k->params.n; i++)
        if (r->regions[i] && k->params.at[i].buffer->role != ROLE_input)
            sparse_copy(r->arguments[i].data, r->regions[i]->base,
                        r->arguments[i].size);
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

// Note results of which elements were never written.
static void note_unwritten(struct running *r)
{
    for (size_t i = 0; i < r->code->kernel->params.n; i++) {
        struct region *region = r->regions[i];
        if (region && region->is_result && !region->is_defined)
            note_unwritten_of(r, region);
    }
}

// ---- Launches -------------------------------------------------------------

// Forget where accesses were: arrays come and go.
static void forget_windows(struct simt_code *code)
{
    for (size_t i = 0; i < code->sites.n; i++)
        code->sites.at[i]->window = (struct window){NULL};
}

// Prepare the machine for a launch.  False if its grid has no value, or one
// that no GPU takes.
static bool prepare(struct running *r, const struct code_entry *e)
{
    struct machine *m = r->m;
    m->entry = e->launch->name;
    m->body = e->run;
    m->threads = 1;
    uint32_t blocks_of_cluster = 1;
    for (int d = 0; d < 3; d++) {
        int64_t blocks;
        if (!ir_eval_int(r->code->kernel, r->arguments, e->launch->grid[d],
                         &blocks) ||
            blocks > GRID_MOST)
            return false;
        m->grid[d] = blocks > 0 ? (uint32_t)blocks : 0;
        m->block[d] = e->launch->block[d];
        m->threads *= m->block[d];
        m->cluster[d] = e->cluster[d];
        blocks_of_cluster *= m->cluster[d];
        if (m->grid[d] % m->cluster[d])
            return false;
    }
    m->n_fibers = m->threads * blocks_of_cluster;
    m->registers = e->registers;
    m->has_clocks = e->has_clocks;
    m->min_blocks = e->launch->min_blocks;
    forget_windows(r->code);
    if (r->code->dynamic) {
        struct region *dynamic = r->code->dynamic;
        dynamic->part = (size_t)shared_dynamic(e->shared);
        dynamic->bytes = dynamic->copy ? dynamic->bytes : dynamic->part;
        dynamic->parts = e->shared;
    }
    return m->threads <= THREADS_MOST && m->n_fibers <= FIBERS_MOST;
}

// Run all launches.
static bool run_launches(struct running *r)
{
    for (size_t i = 0; i < r->code->entries.n && !r->m->is_stopped; i++) {
        const struct code_entry *e = &r->code->entries.at[i];
        if (!prepare(r, e)) {
            diag_error(r->diags, r->code->kernel->span, D_simt_no_grid,
                       e->launch->name);
            return false;
        }
        if (r->m->grid[0] && r->m->grid[1] && r->m->grid[2])
            blocks_run(r->m);
    }
    return true;
}

// ---- The run --------------------------------------------------------------

// Give the machine stacks, once.
static bool make_stacks(const struct simt_code *code)
{
    struct machine *m = code->machine;
    if (m->stacks)
        return true;
    m->stack_bytes = (STACK_BYTES + code->locals + 4095) & ~(size_t)4095;
    void *p = mmap(NULL, m->stack_bytes * FIBERS_MOST, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    m->stacks = p == MAP_FAILED ? NULL : p;
    return m->stacks;
}

// Return what arrays of a block are made of at first, a byte over and over: as
// floating numbers NaN, large and least, so that neither a sum nor a maximum
// hides it everywhere.
static uint64_t poison_of(enum simt_policy policy)
{
    static const unsigned char bytes[] = {0xff, 0x4b, 0xcb};
    return bytes[policy % sizeof bytes] * (UINT64_MAX / 0xff);
}

// When what is asynchronous happens, by policy.
static const enum arrival arrivals[] = {
#define POLICY(name, spelling, arrival, meaning) ARRIVAL_##arrival,
#include "tools/simt/policies.def"
#undef POLICY
};

// Begin a run.
static void begin(struct simt_code *code, const struct simt_run *run,
                  struct simt_result *out)
{
    struct machine *m = code->machine;
    *out = (struct simt_result){0};
    m->result = out;
    m->sites = code->sites.at;
    m->policy = run->policy;
    m->arrival = arrivals[run->policy];
    m->poison = poison_of(run->policy);
    m->random = run->seed;
    m->most_blocks = run->most_blocks;
    m->steps = 0;
    m->most_steps = run->most_steps ? run->most_steps : STEPS_MOST;
    m->is_stopped = false;
    m->pending.is_active = false;
    m->current = NULL;
}

// Put faults before notes.
static int by_severity(const void *a, const void *b)
{
    const struct simt_finding *x = a, *y = b;
    int first =
        (int)simt_fault_severity(y->fault) - (int)simt_fault_severity(x->fault);
    return first ? first : (int)x->fault - (int)y->fault;
}

// Return the seconds since some moment.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool simt_run(struct simt_code *code, const struct eval_argument *arguments,
              const struct simt_run *run, struct simt_result *out,
              struct diag_list *diags)
{
    size_t n = code->kernel->params.n + code->kernel->body.n +
               code->kernel->maps.n + 1;
    struct running r = {.code = code,
                        .m = code->machine,
                        .arguments = arguments,
                        .diags = diags,
                        .slots = calloc(n, SLOT_BYTES),
                        .regions = calloc(n, sizeof *r.regions)};
    double began = now();
    begin(code, run, out);
    r.m->slots = r.slots;
    bool ok = r.slots && r.regions && make_stacks(code);
    if (!ok)
        diag_error(diags, (struct span){0}, D_simt_no_memory);
    ok = ok && set_parameters(&r) && set_maps(&r) && run_launches(&r);
    if (ok && code->is_checked && !r.m->is_stopped && !run->most_blocks)
        note_unwritten(&r);
    if (ok)
        read_results(&r);
    qsort(out->findings, out->n, sizeof *out->findings, by_severity);
    out->accesses = r.m->steps;
    out->is_stopped = r.m->is_stopped;
    out->seconds = now() - began;
    regions_drop(r.m, code->n_regions);
    free(r.slots);
    free(r.regions);
    free(r.maps);
    return ok;
}
