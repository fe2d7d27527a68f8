// round_operands: rounds what instructions on tf32 multiply where it is stored.
// They do not look at the low bits: what has some would be cut off.
//
//   for i in 0..128 { for k in 0..32 {
//     stage S(...) @via(tma) { S[i, k] = A[m + i, k0 + k] }
//   } }
//   for i in 0..64 @tensorize(wgmma_m64n128k8_tf32_f32) { ... S[...] ... }
//   =>
//     stage S(...) @via(tma) { S[i, k] = tf32(A[m + i, k0 + k]) }
//
// A TMA load rounds on its way, as its tensor map says (tma_copies.c); all other
// stages compute it. An array that is used in another way too, or filled by
// copies that cannot round, stays as it is, with a warning.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/analysis/tensor.h"
#include "passes/analysis/tma_copy.h"
#include "passes/pass.h"

// An array that such instructions multiply.
struct operand {
    struct ir_buffer *array;
    const struct ir_stmt *user; // a nest marked with one
    size_t loads;               // in all of these nests
};

// The operands of a kernel.
struct operands {
    struct pass *p;
    struct VEC(struct operand) all;
};

// Note that a nest loads an operand.
static void note(struct operands *o, struct ir_buffer *array,
                 const struct ir_stmt *nest)
{
    vec_foreach(x, &o->all) {
        if (x->array != array)
            continue;
        x->loads++;
        return;
    }
    struct operand new = {array, nest, 1};
    vec_push(o->p->scratch, &o->all, new);
}

// Find the operands of the nests that are instructions on tf32.
static void find_operands(struct operands *o)
{
    ir_foreach_stmt(s, &o->p->kernel->body) {
        struct ir_matrix op;
        struct tensor_nest nest;
        if (!tensor_marked(s, &op) || !matrix_info(op).part[MATRIX_A].unused ||
            tensor_match(o->p->scratch, s, op, &nest))
            continue;
        note(o, nest.part[MATRIX_A].buffer, s);
        note(o, nest.part[MATRIX_B].buffer, s);
    }
}

// Return how many loads of an array a kernel has.
static size_t count_loads(const struct ir_kernel *kernel,
                          const struct ir_buffer *array)
{
    size_t n = 0;
    ir_foreach_expr_in(x, &kernel->body)
        n += x->u.buffer == array && ir_op_info(x->op)->flags & OP_READS;
    return n;
}

// Return whether a stage stores to an array by copies that cannot round.
static bool copies_bits(const struct ir_stage *stage,
                        const struct ir_buffer *array)
{
    bool is_bulk = tma_copy_marked(stage) && tma_copy_is_bulk(stage);
    return (copies_marked(stage) || is_bulk) &&
           ir_block_writes(&stage->body, array);
}

// Return why an operand cannot be rounded where it is stored, or NULL.
static const char *fault_of(const struct ir_kernel *kernel,
                            const struct operand *x)
{
    if (count_loads(kernel, x->array) != x->loads)
        return "something else reads it, too";
    ir_foreach_stmt(s, &kernel->body)
        if (s->kind == STMT_stage && copies_bits(&s->u.stage, x->array))
            return "asynchronous copies of threads and bulk copies do not "
                   "round";
    return NULL;
}

// Return a value rounded: of two that a condition chooses from, each.
static struct ir_expr *rounded(struct arena *a, struct ir_expr *x)
{
    if (x->op == OP_tf32)
        return x;
    if (x->op != OP_select)
        return ir_at(a, ir_unary(a, OP_tf32, x), x->span);
    struct ir_expr *args[] = {x->args[0], rounded(a, x->args[1]),
                              rounded(a, x->args[2])};
    return ir_with_args(a, x, args);
}

// Round what the stores to an array write.
static void round_stores(struct pass *p, const struct ir_buffer *array)
{
    ir_foreach_stmt(s, &p->kernel->body)
        if (s->kind == STMT_store && s->u.store.buffer == array)
            s->u.store.value = rounded(p->arena, s->u.store.value);
}

enum pass_result pass_round_operands(struct pass *p)
{
    struct operands o = {.p = p};
    bool changed = false;
    find_operands(&o);
    vec_foreach(x, &o.all) {
        const char *fault = fault_of(p->kernel, x);
        if (fault)
            diag_warning(p->diags, x->user->span, D_not_rounded, x->array->name,
                         fault);
        else
            round_stores(p, x->array);
        changed |= !fault;
    }
    return changed ? PASS_CHANGED : PASS_SAME;
}
