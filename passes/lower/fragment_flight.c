// WGMMAs that stay in flight from one iteration to the next.
//
//   for k in 0..n @in_flight(1) {
//     mbarrier_wait(full[k % 4], ...)
//     matrix wgmma.. acc, A[k % 4], B[k % 4]    // still runs when the next begins
//     mbarrier_arrive(empty[(k - 1) % 4])
//   }
//
// Until the wait, only the next group of WGMMAs may access the accumulator, and
// nothing may change the operands. So a ring's slot is released after the wait;
// that is up to the pass that marks the loop (warp_specialize_consumer.c).

#include "passes/lower/fragments.h"

#include "ir/accesses.h"
#include "ir/build.h"

#define NOT_CONSECUTIVE "not all of them follow one another in its body"

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

// Return what keeps a WGMMA from being in flight beside other statements of the
// loop, or NULL.
static const char *product_fault(const struct ir_stmt *product,
                                 struct ir_block *others)
{
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        const struct ir_expr *at = product->u.matrix.tiles[i].at;
        if (at && ir_block_writes(others, at->u.buffer))
            return "something in it changes what they use";
        if (at && i == MATRIX_D && ir_block_reads(others, at->u.buffer))
            return "something in it reads their accumulators";
    }
    return NULL;
}

// Return why WGMMAs may not be in flight, or NULL.
static const char *find_fault(struct arena *a, const struct ir_for *loop)
{
    struct content c = part(a, &loop->body);
    const char *fault = c.places == 1 ? NULL : NOT_CONSECUTIVE;
    ir_foreach_stmt(s, &c.others)
        if (fragments_is_product(s))
            return NOT_CONSECUTIVE;
    ir_foreach_stmt(s, &c.products)
        if (!fault && s->kind == STMT_matrix)
            fault = product_fault(s, &c.others);
    return fault;
}

bool fragments_check_flight(struct fragments *f, struct ir_stmt *loop)
{
    const char *fault = find_fault(f->p->scratch, &loop->u.loop);
    if (fault)
        diag_error(f->p->diags, loop->span, D_flight_use,
                   loop->u.loop.var->name, fault);
    return !fault;
}
