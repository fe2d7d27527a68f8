// What a launch takes from the hardware.

#include "passes/lower/resources.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"

enum { THREADS_MOST = 1024, SHARED_MOST = 48 * 1024 };

// What a multiprocessor has, and how it is given out.
enum {
    REGISTERS = 65536,
    REGISTERS_UNIT = 8, // for a thread
    RESIDENT = 2048,    // threads at a time
    WARP = 32,
};

// The arrays in shared memory seen so far.
struct shared_arrays {
    struct arena *scratch;
    int64_t total, largest;
    const struct ir_buffer *which; // the largest
};

// Return the bytes of an array whose extents are numbers, 0 for others;
// INT64_MAX if 63 bits do not hold them.
static int64_t array_bytes(struct arena *scratch, const struct ir_buffer *b)
{
    int64_t bytes = (int64_t)type_bytes(b->elem), n;
    if (b->pitches && ir_int_value(layout_elements(scratch, b), &n))
        return num_mul(bytes, n, &bytes) ? bytes : INT64_MAX;
    for (uint32_t i = 0; i < b->rank; i++) {
        if (!ir_int_value(b->shape[i], &n))
            return 0;
        if (!num_mul(bytes, n, &bytes))
            return INT64_MAX;
    }
    return bytes;
}

// Add an array in shared memory.
static void see_alloc(struct ir_stmt *s, void *context)
{
    struct shared_arrays *all = context;
    if (s->kind != STMT_alloc || s->u.buffer->space != SPACE_shared)
        return;
    int64_t bytes = array_bytes(all->scratch, s->u.buffer);
    if (!num_add(all->total, bytes, &all->total))
        all->total = INT64_MAX;
    if (bytes > all->largest) {
        all->largest = bytes;
        all->which = s->u.buffer;
    }
}

// Return whether the arrays in shared memory fit.
static bool check_shared(struct pass *p, struct ir_launch *launch)
{
    struct shared_arrays all = {.scratch = p->scratch};
    ir_each_stmt(&launch->body, see_alloc, &all);
    if (all.total <= SHARED_MOST)
        return true;
    diag_error(p->diags, all.which->span, D_shared_too_large, launch->name,
               (long long)all.total, "a launch", (long long)SHARED_MOST);
    diag_label(p->diags, "the largest array, `%s`, has %lld bytes",
               all.which->name, (long long)all.largest);
    return false;
}

// Return whether the registers of a block suffice for what `launch` promises.
static bool check_registers(struct pass *p, const struct ir_launch *l,
                            int64_t threads, struct span span)
{
    int64_t blocks = l->min_blocks ? l->min_blocks : 1;
    int64_t each = l->max_registers + REGISTERS_UNIT - 1;
    int64_t most = (threads + WARP - 1) / WARP * WARP * blocks;
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
    diag_help(p->diags, "launch(%lld, %lld) fits this block",
              (long long)(RESIDENT / (most / blocks)),
              (long long)(REGISTERS / RESIDENT));
    return false;
}

bool resources_check(struct pass *p, struct ir_stmt *launch)
{
    struct ir_launch *l = &launch->u.launch;
    int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
    if (threads > THREADS_MOST) {
        diag_error(p->diags, launch->span, D_block_threads, l->name,
                   (long long)threads);
        diag_label(p->diags, "%lld x %lld x %lld threads",
                   (long long)l->block[0], (long long)l->block[1],
                   (long long)l->block[2]);
        return false;
    }
    return check_registers(p, l, threads, launch->span) && check_shared(p, l);
}
