// WGMMAs: the result is there at once, but what is in shared memory counts as
// read until the warps have waited.

#include "tools/simt/intrinsics.h"
#include "tools/simt/matrix.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 128,
    WARPS = 4,
    CHUNK = 16,
    ROWS = 16,
    N_MOST = 256,
    K_MOST = 32
};

// A matrix in shared memory.
struct product_operand {
    bool is_shared;
    struct ir_descriptor descriptor;
    uint64_t start; // low bits of its address
};

// A WGMMA that some warps have not waited for.
struct product {
    struct ir_matrix matrix;
    struct product_operand operand[MATRIX_OPERANDS];
    uint32_t first;         // thread
    uint32_t group[WARPS];  // that each warp counts it to
    uint32_t number[WARPS]; // of the warp's WGMMAs
    bool is_done[WARPS];
    const struct site *site;
};

// ---- Operands in shared memory --------------------------------------------

// A part of an operand: 16 bytes that lie behind each other.
struct chunk {
    uint32_t line, k; // of the first element
    unsigned char *at;
};

// What to do with each chunk.
typedef void (*each)(struct machine *m, const struct product *p,
                     enum matrix_operand which, const struct chunk *c,
                     void *context);

// Visit the chunks of an operand whose lines are in [from, to).  Returns false
// if one is outside of shared memory.
static bool each_chunk(struct machine *m, const struct product *p,
                       enum matrix_operand which, const uint32_t lines[2],
                       each visit, void *context)
{
    struct matrix_info info = matrix_info(p->matrix);
    const struct product_operand *o = &p->operand[which];
    uint32_t bytes = (uint32_t)type_bytes(info.part[which].type);
    uint32_t width = CHUNK / bytes;
    bool along_lines = o->descriptor.is_transposed;
    uint32_t line_step = along_lines ? width : 1,
             k_step = along_lines ? 1 : width;
    for (uint32_t line = lines[0]; line < lines[1]; line += line_step)
        for (uint32_t k = 0; k < info.k; k += k_step) {
            uint64_t low =
                matrix_shared_address(&o->descriptor, bytes, o->start, line, k);
            struct chunk c = {line, k, NULL};
            c.at = shared_find_low(m, &m->fibers[p->first], low, CHUNK);
            if (!c.at)
                return false;
            visit(m, p, which, &c, context);
        }
    return true;
}

// An operand that is read: the context of load_chunk.
struct loaded {
    struct matrix_part part;
    double *to; // a row after the other
};

// Read a chunk of an operand.
static void load_chunk(struct machine *m, const struct product *p,
                       enum matrix_operand which, const struct chunk *c,
                       void *context)
{
    const struct loaded *l = context;
    const struct matrix_part *part = &l->part;
    uint32_t bytes = (uint32_t)type_bytes(part->type);
    m->moved += CHUNK / bytes;
    bool along_lines = p->operand[which].descriptor.is_transposed;
    for (uint32_t i = 0; i < CHUNK / bytes; i++) {
        uint32_t line = c->line + (along_lines ? i : 0);
        uint32_t k = c->k + (along_lines ? 0 : i);
        uint32_t row = which == MATRIX_A ? line : k;
        uint32_t column = which == MATRIX_A ? k : line;
        l->to[row * part->columns + column] =
            matrix_load(part, c->at + i * bytes);
    }
}

// Describe the read of a chunk by a warp.
static struct under_way read_of(const struct machine *m,
                                const struct product *p, uint32_t warp)
{
    const struct fiber *f = &m->fibers[p->first + warp * WARP_LANES];
    return (struct under_way){.bytes = CHUNK,
                              .align = CHUNK,
                              .kind = ACCESS_READ | ACCESS_LATER,
                              .agent = agent_of_warp(m, f),
                              .by_proxy = true,
                              .site = p->site};
}

// Note that a warp, which the context is, begins to read a chunk.
static void begin_chunk(struct machine *m, const struct product *p,
                        enum matrix_operand which, const struct chunk *c,
                        void *context)
{
    (void)which;
    struct under_way u = read_of(m, p, *(const uint32_t *)context);
    access_need_fence(m, c->at, CHUNK, p->site);
    access_begin(m, c->at, &u);
}

// Note that it has read it.
static void end_chunk(struct machine *m, const struct product *p,
                      enum matrix_operand which, const struct chunk *c,
                      void *context)
{
    (void)which;
    uint32_t warp = *(const uint32_t *)context;
    struct under_way u = read_of(m, p, warp);
    access_end(m, c->at, &u, u.agent,
               m->fibers[p->first + warp * WARP_LANES].products_stamp);
}

// Visit all that a warp reads: its rows of A, and all of B.
static bool each_of_warp(struct machine *m, const struct product *p,
                         uint32_t warp, each visit)
{
    uint32_t rows[] = {warp * ROWS, (warp + 1) * ROWS};
    uint32_t columns[] = {0, p->matrix.n};
    return (!p->operand[MATRIX_A].is_shared ||
            each_chunk(m, p, MATRIX_A, rows, visit, &warp)) &&
           each_chunk(m, p, MATRIX_B, columns, visit, &warp);
}

// ---- Issue ----------------------------------------------------------------

// Wait for all threads of the warpgroup.  Returns true to the last of them.
static bool meet_group(struct machine *m, const struct site *s)
{
    struct fiber *f = m->current, *first = f - f->tid % GROUP;
    bool are_all = f->tid / GROUP * GROUP + GROUP <= m->threads;
    f->state = FIBER_WARP;
    f->site = s;
    f->what = COLLECTIVE_group;
    for (uint32_t i = 0; i < GROUP && are_all; i++)
        are_all = first[i].state == FIBER_WARP && first[i].site == s &&
                  first[i].what == COLLECTIVE_group;
    if (!are_all) {
        fiber_yield(m);
        return false;
    }
    for (uint32_t i = 0; i < GROUP; i++)
        first[i].state = FIBER_READY;
    return true;
}

// Return the value of an argument for a thread; `otherwise` if there is none.
static uint64_t argument(struct machine *m, const struct fiber *f,
                         const struct ptx_step *step, uint32_t i,
                         uint64_t otherwise)
{
    return i < step->n ? values_of(m, f)[*step->argument[i].slot] : otherwise;
}

// Set an operand from its descriptor.  Notes if that is wrong.
static void set_operand(struct machine *m, struct product *p,
                        enum matrix_operand which, uint64_t bits,
                        bool is_transposed)
{
    struct product_operand *o = &p->operand[which];
    o->is_shared = true;
    o->start = descriptor_read(bits, is_transposed, &o->descriptor);
    if (!descriptor_is_aligned(bits))
        finding_add(m, SIMT_FAULT_descriptor, p->site, NULL, NULL);
}

// Describe a WGMMA.
static struct product product_of(struct machine *m, const struct site *s,
                                 const struct ptx_step *step,
                                 const struct fiber *first)
{
    enum { D, A, B, KEEP, SIGN_A, SIGN_B, OTHER_A, OTHER_B };
    bool in_registers = step->argument[A].n > 1;
    struct product p = {
        .matrix = step->matrix, .first = first->number, .site = s};
    uint64_t other_a = in_registers ? 0 : argument(m, first, step, OTHER_A, 0);
    uint64_t other_b =
        argument(m, first, step, in_registers ? OTHER_A : OTHER_B, 0);
    if (!in_registers)
        set_operand(m, &p, MATRIX_A, argument(m, first, step, A, 0), other_a);
    set_operand(m, &p, MATRIX_B, argument(m, first, step, B, 0), other_b);
    for (uint32_t w = 0; w < WARPS; w++) {
        const struct fiber *f = first + w * WARP_LANES;
        p.group[w] = f->products_group;
        p.number[w] = f->products;
    }
    return p;
}

// Compute a WGMMA.  Returns false if an operand is outside of shared memory.
static bool compute(struct machine *m, const struct product *p,
                    const struct ptx_step *step)
{
    enum { KEEP = 3, SIGN_A, SIGN_B };
    const struct fiber *first = &m->fibers[p->first];
    struct matrix_info info = matrix_info(p->matrix);
    uint32_t rows[] = {0, info.m}, columns[] = {0, info.n};
    double *a = calloc(GROUP / 2 * K_MOST, sizeof *a);
    double *b = calloc(K_MOST * N_MOST, sizeof *b);
    double *d = calloc(GROUP / 2 * N_MOST, sizeof *d);
    struct loaded as = {info.part[MATRIX_A], a}, bs = {info.part[MATRIX_B], b};
    bool ok = a && b && d;
    if (ok && !p->operand[MATRIX_A].is_shared)
        matrix_gather(m, first, step, MATRIX_A, &step->argument[1], a);
    else if (ok)
        ok = each_chunk(m, p, MATRIX_A, rows, load_chunk, &as);
    ok = ok && each_chunk(m, p, MATRIX_B, columns, load_chunk, &bs);
    if (ok && argument(m, first, step, KEEP, 1))
        matrix_gather(m, first, step, MATRIX_D, &step->argument[0], d);
    if ((int64_t)(argument(m, first, step, SIGN_A, 1) *
                  argument(m, first, step, SIGN_B, 1)) < 0)
        for (uint32_t i = 0; ok && i < info.m * info.k; i++)
            a[i] = -a[i];
    if (ok)
        matrix_multiply(&info, a, b, d);
    if (ok)
        matrix_scatter(m, first, step, d);
    free(a);
    free(b);
    free(d);
    return ok;
}

// Note what a WGMMA reads until it has been waited for.  Each chunk is an
// access, at none of which another thread goes on.
static void begin(struct machine *m, struct product *p)
{
    struct fiber *last = m->current;
    int64_t slice = m->slice;
    m->slice = INT64_MAX;
    for (uint32_t w = 0; w < WARPS; w++) {
        m->current = &m->fibers[p->first + w * WARP_LANES];
        each_of_warp(m, p, w, begin_chunk);
    }
    m->steps += (uint64_t)(INT64_MAX - m->slice);
    m->slice = slice;
    m->current = last;
}

// Keep a WGMMA until it has been waited for.
static void keep(struct async *a, const struct product *p)
{
    if (a->n_products == a->most_products) {
        uint32_t most = a->most_products ? 2 * a->most_products : 64;
        struct product *more = realloc(a->products, most * sizeof *more);
        if (!more)
            return;
        a->products = more;
        a->most_products = most;
    }
    a->products[a->n_products++] = *p;
}

void product_issue(struct machine *m, const struct site *s,
                   const struct ptx_step *step)
{
    struct fiber *f = m->current;
    f->products++;
    if (!f->has_fenced)
        finding_add(m, SIMT_FAULT_missing_fence, s, NULL, NULL);
    f->has_fenced = true;
    if (!meet_group(m, s))
        return;
    struct product p = product_of(m, s, step, f - f->tid % GROUP);
    if (compute(m, &p, step))
        begin(m, &p);
    else
        finding_add(m, SIMT_FAULT_descriptor, s, NULL, NULL);
    keep(m->async, &p);
}

// ---- Registers ------------------------------------------------------------

uint32_t product_number(const struct machine *m)
{
    return m->current->products;
}

// Return whether a WGMMA of a thread has the shape of another one.
static bool has_shape(const struct machine *m, const struct fiber *f,
                      uint32_t number, const struct ptx_step *as)
{
    const struct async *a = m->async;
    struct matrix_info other = matrix_info(as->matrix);
    for (uint32_t i = 0; i < a->n_products; i++) {
        const struct product *p = &a->products[i];
        struct matrix_info info = matrix_info(p->matrix);
        if (p->first == f->number - f->tid % GROUP &&
            p->number[f->tid % GROUP / WARP_LANES] == number)
            return info.m == other.m && info.n == other.n && info.k == other.k;
    }
    return false;
}

void product_access(struct machine *m, uint32_t number,
                    const struct ptx_step *as, const struct site *s)
{
    const struct fiber *f = m->current;
    if (number > f->products_done && !(as && has_shape(m, f, number, as)))
        finding_add(m, SIMT_FAULT_product_early, s, NULL, NULL);
}

// ---- Waiting --------------------------------------------------------------

uint64_t product_fence(struct machine *m, const struct site *s,
                       const uint64_t *o)
{
    (void)s, (void)o;
    m->current->has_fenced = true;
    return 0;
}

uint64_t product_commit(struct machine *m, const struct site *s,
                        const uint64_t *o)
{
    (void)s, (void)o;
    m->current->products_group++;
    return 0;
}

// Forget WGMMAs that all warps have waited for.
static void forget(struct async *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_products; i++) {
        const struct product *p = &a->products[i];
        bool is_done = true;
        for (uint32_t w = 0; w < WARPS; w++)
            is_done &= p->is_done[w];
        if (!is_done)
            a->products[n++] = *p;
    }
    a->n_products = n;
}

// Complete the WGMMAs of a warp in groups before one.
static void end_before(struct machine *m, struct fiber *first, uint32_t group)
{
    struct async *a = m->async;
    uint32_t warp = first->tid % GROUP / WARP_LANES;
    first->products_stamp = ++m->clock;
    for (uint32_t i = 0; i < a->n_products; i++) {
        struct product *p = &a->products[i];
        if (p->first + warp * WARP_LANES != first->number || p->is_done[warp] ||
            p->group[warp] >= group)
            continue;
        each_of_warp(m, p, warp, end_chunk);
        p->is_done[warp] = true;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            if (first[l].products_done < p->number[warp])
                first[l].products_done = p->number[warp];
    }
    forget(a);
}

uint64_t product_wait(struct machine *m, const struct site *s,
                      const uint64_t *o)
{
    struct fiber *f = m->current, *first = f - f->tid % WARP_LANES;
    uint32_t most = (uint32_t)o[0], open = f->products_group;
    if (simt_collective(m, COLLECTIVE_together, UINT32_MAX, 0, 0, 0, s))
        end_before(m, first, open > most ? open - most : 0);
    f->clock.seen[agent_of_warp(m, f)] = first->products_stamp + 1;
    return 0;
}
