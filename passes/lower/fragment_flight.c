// WGMMAs that stay in flight from one iteration to the next.
//
//   for k in 0..n @in_flight(1) {
//     mbarrier_wait(full[k % 4], ...)
//     matrix wgmma.. acc, A[k % 4], B[k % 4]    // still runs when the next begins
//     mbarrier_arrive(empty[(k - 1) % 4])
//   }
//
// Until the wait, only the next group of WGMMAs may touch the accumulator, and
// nothing may change the operands. So a ring's slot is released after the wait;
// that is up to the pass that marks the loop (warp_specialize_consumer.c).

#include "passes/lower/fragments.h"

#include "ir/accesses.h"
#include "ir/build.h"

// The statements of a loop's body.
struct content {
    struct ir_block products, others;
    uint32_t places; // with WGMMAs
};

// Part the statements of a loop's body.
static struct content part(struct arena *a, const struct ir_block *body)
{
    struct content c = {0};
    bool follows = false;
    for (size_t i = 0; i < body->n; i++) {
        bool is_product = fragments_is_product(body->at[i]);
        c.places += is_product && !follows;
        follows = is_product;
        ir_append(a, is_product ? &c.products : &c.others, body->at[i]);
    }
    return c;
}

// The context of see_product, which looks at WGMMAs.
struct look {
    struct ir_block *others;
    const char *fault;
};

// Note what keeps a WGMMA from being in flight.
static void see_product(struct ir_stmt *s, void *context)
{
    struct look *l = context;
    for (int i = 0; s->kind == STMT_matrix && i < MATRIX_OPERANDS; i++) {
        const struct ir_expr *at = s->u.matrix.tiles[i].at;
        if (!at)
            continue;
        if (ir_block_writes(l->others, at->u.buffer))
            l->fault = "something in it changes what they use";
        else if (i == MATRIX_D && ir_block_reads(l->others, at->u.buffer))
            l->fault = "something in it reads their accumulators";
    }
}

// Note a WGMMA beside those that follow one another.
static void see_other(struct ir_stmt *s, void *context)
{
    *(bool *)context |= fragments_is_product(s);
}

// Return why WGMMAs may not be in flight, or NULL.
static const char *find_fault(struct arena *a, const struct ir_for *loop)
{
    struct content c = part(a, &loop->body);
    struct look l = {&c.others, NULL};
    bool has_others = c.places != 1;
    ir_each_stmt(&c.others, see_other, &has_others);
    if (has_others)
        return "not all of them follow one another in its body";
    ir_each_stmt(&c.products, see_product, &l);
    return l.fault;
}

bool fragments_check_flight(struct fragments *f, struct ir_stmt *loop)
{
    const char *fault = find_fault(f->p->scratch, &loop->u.loop);
    if (fault)
        diag_error(f->p->diags, loop->span, D_flight_use,
                   loop->u.loop.var->name, fault);
    return !fault;
}
