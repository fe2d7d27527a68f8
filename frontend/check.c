// Looks at a kernel as a whole, once it is parsed.

#include "frontend/check.h"

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/check.h"
#include "ir/copy.h"
#include "ir/walk.h"

#include <string.h>

enum { SCALAR_MOST = 1000, CONSTANT_MOST = 65536 };

// Return how many nodes an expression has, 0 if it depends on more than sizes
// and scalars.  `sizes` has the counts of the `let`s that stand for such.
static size_t scalar_size(const struct ir_expr *x, const struct map *sizes)
{
    size_t n = 1;
    if (x->op == OP_var && x->u.var->kind != VAR_param)
        return (size_t)(uintptr_t)map_get(sizes, x->u.var);
    if (x->op == OP_index ||
        ir_op_info(x->op)->flags & (OP_READS | OP_WRITES | OP_TOGETHER))
        return 0;
    for (uint32_t i = 0; i < x->n; i++) {
        size_t size = scalar_size(x->args[i], sizes);
        if (!size)
            return 0;
        n += size;
    }
    return n;
}

void kernel_spread_scalars(struct parser *p, struct ir_kernel *k)
{
    struct map map = {.arena = p->arena}, sizes = {.arena = p->arena};
    struct ir_block kept = {0};
    for (size_t i = 0; i < k->body.n; i++) {
        struct ir_stmt *s = k->body.at[i];
        size_t size =
            s->kind == STMT_let ? scalar_size(s->u.let.value, &sizes) : 0;
        if (size > SCALAR_MOST)
            diag_error(p->diags, s->span, D_too_long, (long long)SCALAR_MOST);
        if (size == 0 || size > SCALAR_MOST) {
            ir_append(p->arena, &kept, s);
            continue;
        }
        map_set(&sizes, s->u.let.var, (void *)(uintptr_t)size);
        map_set(&map, s->u.let.var,
                ir_substitute(p->arena, s->u.let.value, &map, NULL));
    }
    k->body = kept;
    if (map.n)
        ir_substitute_in(p->arena, &k->body, &map, NULL);
}

// Report results that nothing writes.
static void check_results(struct parser *p, struct ir_kernel *k)
{
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (b && b->role == ROLE_output && !ir_block_writes(&k->body, b))
            diag_error(p->diags, b->span, D_never_written, b->name);
    }
}

// Report expressions that the launch function cannot compute.
static void check_scalars(struct parser *p, struct ir_expr *const *x, size_t n,
                          const char *what)
{
    struct map none = {0};
    for (size_t i = 0; i < n; i++) {
        if (!scalar_size(x[i], &none))
            diag_error(p->diags, x[i]->span, D_not_of_sizes, what);
    }
}

// Report extents that are negative whatever the sizes.
static void check_extents(struct parser *p, const struct ir_buffer *b)
{
    for (uint32_t i = 0; i < b->rank; i++) {
        int64_t value;
        if (ir_int_value(b->shape[i], &value) && value < 0)
            diag_error(p->diags, b->shape[i]->span, D_negative_extent,
                       (long long)value);
    }
}

// Check the extents and strides of an array that the caller or the launch
// function allocates.
static void check_shape(struct parser *p, const struct ir_buffer *b)
{
    check_scalars(p, b->shape, b->rank, "this extent");
    if (b->strides)
        check_scalars(p, b->strides, b->rank, "this stride");
}

// Check an array in constant memory, whose extents are numbers.
static void check_values(struct parser *p, const struct ir_buffer *b)
{
    int64_t n = 1, extent = 0, bytes = INT64_MAX;
    bool is_plain = !b->strides && !b->pitches && !b->swizzle.bits;
    for (uint32_t i = 0; i < b->rank; i++)
        if (!ir_int_value(b->shape[i], &extent) || !num_mul(n, extent, &n))
            n = INT64_MAX;
    if (!num_mul(n, (int64_t)type_bytes(b->elem), &bytes) ||
        bytes > CONSTANT_MOST)
        diag_error(p->diags, b->span, D_constant_too_large, b->name,
                   (long long)bytes, (long long)CONSTANT_MOST);
    else if (n != b->n_values || !is_plain || b->space != SPACE_constant)
        diag_error(p->diags, b->span, D_constant_values, b->name, (long long)n,
                   (long long)b->n_values);
}

// Check an allocation, in the outermost block `top` or, if that is NULL, in
// another one.  The array of a stage may have any extents at first.
static void check_alloc(struct parser *p, const struct ir_buffer *b,
                        struct ir_block *top)
{
    bool is_const = true;
    check_extents(p, b);
    for (uint32_t i = 0; i < b->rank; i++)
        is_const = is_const && ir_is_const(b->shape[i]);
    if (is_const && (b->space == SPACE_constant || b->values))
        check_values(p, b);
    else if (b->space == SPACE_global && !top)
        diag_error(p->diags, b->span, D_global_inside, b->name);
    else if (b->space == SPACE_global ||
             (b->space != SPACE_constant && top && ir_stages_use(top, b)))
        check_shape(p, b);
    else if (!is_const)
        diag_error(p->diags, b->span, D_array_not_constant, b->name,
                   space_name(b->space));
}

// Check the allocations of a block and of those inside it.
static void check_allocs(struct parser *p, struct ir_block *block,
                         struct ir_block *top)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_alloc)
            check_alloc(p, s->u.buffer, top);
        ir_foreach_block(inner, s)
            check_allocs(p, inner, NULL);
    }
}

// Report operations that the threads of a warp compute at once: what not every
// thread evaluates.
static void check_lazy(struct parser *p, const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (ir_op_info(e->op)->flags & OP_TOGETHER)
            diag_error(p->diags, e->span, D_collective_lazy,
                       ir_op_info(e->op)->spelling);
}

// Report them below a block: in operands that may be skipped, and in stages.
static void check_together_in(struct parser *p, const struct ir_block *block,
                              bool in_stage)
{
    ir_foreach_expr_in(x, block) {
        unsigned flags = ir_op_info(x->op)->flags;
        for (uint32_t i = 1; i < x->n && (flags & OP_LAZY); i++)
            check_lazy(p, x->args[i]);
        if (in_stage && (flags & OP_TOGETHER))
            diag_error(p->diags, x->span, D_collective_in_definition,
                       ir_op_info(x->op)->spelling);
    }
}

// Check the operations that the threads of a warp compute at once.
static void check_together(struct parser *p, struct ir_kernel *k)
{
    check_together_in(p, &k->body, false);
    ir_foreach_stmt(s, &k->body) {
        if (s->kind != STMT_stage)
            continue;
        check_together_in(p, &s->u.stage.init, true);
        check_together_in(p, &s->u.stage.body, true);
    }
}

// Report what ir_check finds; the first fault says enough.
static void check_form(struct parser *p, const struct ir_kernel *k)
{
    const char *faults = ir_check(p->arena, k);
    if (!faults)
        return;
    const char *first = arena_copy(p->arena, faults, strcspn(faults, "\n"));
    diag_error(p->diags, k->span, D_not_well_formed, k->name, first);
}

void kernel_check(struct parser *p, struct ir_kernel *k)
{
    int errors = p->diags->errors;
    check_results(p, k);
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (b) {
            check_extents(p, b);
            check_shape(p, b);
        }
    }
    check_scalars(p, k->where.at, k->where.n, "this condition");
    check_scalars(p, k->guard.at, k->guard.n, "this condition");
    for (size_t i = 0; i < k->terms.ranges.n; i++) {
        check_scalars(p, &k->terms.ranges.at[i].low, 1, "this bound");
        check_scalars(p, &k->terms.ranges.at[i].high, 1, "this bound");
    }
    check_allocs(p, &k->body, &k->body);
    check_together(p, k);
    if (p->diags->errors == errors)
        check_form(p, k);
}
