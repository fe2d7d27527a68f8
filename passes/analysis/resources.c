// resources: refuses launches that need more than the hardware has.
//
//   alloc S: f32[256, 256] in shared      E0722: 262144 bytes, sm_80 has 166912
//
// A block may have as much shared memory as every architecture of the build
// has (the largest GPU if it names none), and a thread 512 KiB of local memory.
// What `launch(min_blocks, max_registers)` promises needs registers and threads
// of an SM (E0665, E0666).  Barriers that let arrays share bytes are there.

#include "ir/gpu.h"
#include "ir/shared.h"
#include "ir/walk.h"
#include "passes/pass.h"

#include <string.h>

enum { LOCAL_MOST = 512 * 1024 };

// What an SM has, and how it is given out.
enum {
    REGISTERS = 65536,
    REGISTERS_UNIT = 8, // for a thread
    RESIDENT = 2048,    // threads at a time
};

// What the GPU with most shared memory has for a block.
static const struct pass_target largest = {"the largest GPU", 227 * 1024};

// Return the array of a layout that takes most.
static const struct shared_place *largest_place(const struct shared_layout *all)
{
    const struct shared_place *r = all->places.at;
    for (size_t i = 0; i < all->places.n; i++)
        if (all->places.at[i].bytes > r->bytes)
            r = &all->places.at[i];
    return r;
}

// Say what the build's other architectures have, beside one that has not
// enough.
static void note_others(struct pass *p, int64_t bytes, const char *without)
{
    bool fits = false;
    for (size_t i = 0; i < p->n_targets; i++) {
        const struct pass_target *t = &p->targets[i];
        if (strcmp(t->name, without) == 0)
            continue;
        diag_note(p->diags, (struct span){0},
                  bytes > t->shared ? "%s has %lld"
                                    : "it fits %s, which has %lld",
                  t->name, (long long)t->shared);
        fits |= bytes <= t->shared;
    }
    if (fits)
        diag_help(p->diags,
                  "give %s a schedule of its own, with smaller tiles: "
                  "`schedule name for %s { ... }`",
                  without, without);
}

// Return whether the arrays in shared memory fit every architecture that the
// kernel is built for.
static bool check_shared(struct pass *p, struct ir_launch *launch)
{
    struct shared_layout all = shared_layout(p->scratch, launch);
    const struct pass_target *t = p->n_targets ? p->targets : &largest;
    size_t n = p->n_targets ? p->n_targets : 1;
    while (n > 0 && all.bytes <= t->shared)
        t++, n--;
    if (n == 0)
        return true;
    const struct shared_place *place = largest_place(&all);
    diag_error(p->diags, place->buffer->span, D_shared_too_large, launch->name,
               (long long)all.bytes, t->name, (long long)t->shared);
    diag_label(p->diags, "the largest array, `%s`, has %lld bytes",
               place->buffer->name, (long long)place->bytes);
    note_others(p, all.bytes, t->name);
    return false;
}

// Return whether the registers of a block suffice for what `launch` promises.
static bool check_registers(struct pass *p, const struct ir_launch *l,
                            int64_t threads, struct span span)
{
    int64_t blocks = l->min_blocks ? l->min_blocks : 1;
    int64_t each = l->max_registers + REGISTERS_UNIT - 1;
    int64_t most =
        (threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES * blocks;
    each -= each % REGISTERS_UNIT;
    if (most > RESIDENT)
        diag_error(p->diags, span, D_launch_resident, l->name,
                   (long long)blocks, (long long)threads, (long long)RESIDENT);
    else if (most * each > REGISTERS)
        diag_error(p->diags, span, D_launch_registers, l->name,
                   (long long)blocks, (long long)threads,
                   (long long)l->max_registers, (long long)(most * each),
                   (long long)REGISTERS);
    else
        return true;
    return diag_help(p->diags, "launch(%lld, %lld) fits this block",
                     (long long)(RESIDENT / (most / blocks)),
                     (long long)(REGISTERS / RESIDENT));
}

// Report an array in local memory that is larger than all a thread has.
static void check_array(struct pass *p, const struct ir_stmt *s)
{
    if (s->kind != STMT_alloc || s->u.buffer->space != SPACE_local)
        return;
    const struct ir_buffer *b = s->u.buffer;
    int64_t bytes = shared_bytes(p->scratch, b);
    if (bytes <= LOCAL_MOST)
        return;
    diag_error(p->diags, b->span, D_local_too_large, b->name, (long long)bytes,
               (long long)LOCAL_MOST);
    diag_help(p->diags, "compute it deeper, inside the loops over threads, "
                        "with compute_at or reverse_compute_at");
}

// Return whether the arrays in local memory fit.
static bool check_local(struct pass *p, struct ir_launch *launch)
{
    int errors = p->diags->errors;
    ir_foreach_stmt(s, &launch->body)
        check_array(p, s);
    return p->diags->errors == errors;
}

// Return whether the hardware has what a launch needs.
static bool check_launch(struct pass *p, struct ir_stmt *launch)
{
    struct ir_launch *l = &launch->u.launch;
    int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
    return check_registers(p, l, threads, launch->span) && check_shared(p, l) &&
           check_local(p, l);
}

enum pass_result pass_resources(struct pass *p)
{
    struct ir_block *top = &p->kernel->body;
    for (size_t i = 0; i < top->n; i++)
        if (top->at[i]->kind == STMT_launch && !check_launch(p, top->at[i]))
            return PASS_FAILED;
    return PASS_SAME;
}
