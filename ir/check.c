// Walks a kernel once with the set of declarations in scope and notes every
// rule that is broken, one line each.

#include "ir/check.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/checking.h"
#include "ir/launch_attribute.h"
#include "ir/layout.h"
#include "ir/marks.h"
#include "ir/matrix.h"
#include "ir/printed.h"
#include "ir/ring.h"
#include "ir/walk.h"

#include <string.h>

enum { THREADS_MOST = 1024, SWIZZLE_ROWS = 8, WORD_BITS = 32 };

// Declare a variable that must be of a kind.
static void declare_var(struct checking *c, const struct ir_var *var,
                        enum var_kind kind)
{
    check_must_name(c, var->kind == kind, var->name, "wrong kind of variable");
    check_declare(c, var, var->name);
}

// Check an expression that must be a scalar bool.
static void check_bool(struct checking *c, const struct ir_expr *x)
{
    check_expr(c, x);
    check_must(c, type_equal(x->type, type_scalar(TYPE_bool)), x,
               "a condition must be a bool");
}

// Check an expression that must have a certain type.
static void check_typed(struct checking *c, const struct ir_expr *x,
                        struct type type)
{
    check_expr(c, x);
    if (!type_equal(x->type, type))
        check_must(
            c, false, x,
            arena_printf(c->arena, "must have type %s", type_name(type)));
}

// Check an expression that the launch function evaluates.
static void check_host(struct checking *c, const struct ir_expr *x,
                       struct type type)
{
    c->in_host_expr = true;
    check_typed(c, x, type);
    c->in_host_expr = false;
    check_must(c, ir_is_pure(x, true), x, "must depend on parameters only");
}

// Check an array's gaps and swizzle.
static void check_layout(struct checking *c, const struct ir_buffer *b)
{
    const char *wrong = NULL;
    if (!b->pitches && !b->swizzle.bits)
        return;
    check_must_name(
        c, b->role == ROLE_alloc && !b->strides, b->name,
        "a layout is for arrays that are declared, without strides");
    check_must_name(c, c->kernel->level < LEVEL_flat, b->name,
                    "a layout becomes strides at level flat");
    for (uint32_t i = 0; b->pitches && !wrong && i < b->rank; i++)
        if (layout_has_gaps(b->pitches[i]))
            wrong = layout_pitch_fault(b, i, b->pitches[i]);
    if (!wrong && b->swizzle.bits)
        wrong = layout_swizzle_fault(b, b->swizzle);
    check_must_name(c, !wrong, b->name, wrong);
}

// Check an array's shape and strides, and declare it.
static void declare_buffer(struct checking *c, const struct ir_buffer *b)
{
    check_must_name(c, b->elem.lanes == 1, b->name, "elements must be scalars");
    c->in_host_expr = true;
    for (uint32_t i = 0; i < b->rank; i++) {
        check_typed(c, b->shape[i], type_scalar(TYPE_int));
        if (b->strides)
            check_typed(c, b->strides[i], type_scalar(TYPE_int));
    }
    c->in_host_expr = false;
    check_layout(c, b);
    check_declare(c, b, b->name);
}

// Check an alloc: where it stands and what its extents may be.
static void check_alloc(struct checking *c, const struct ir_buffer *b)
{
    check_must_name(c, b->role == ROLE_alloc, b->name,
                    "not the array of an alloc");
    bool is_table = b->space == SPACE_constant;
    check_must_name(c,
                    is_table ? !b->strides && !b->pitches && !b->swizzle.bits
                             : b->values == NULL,
                    b->name, "values without gaps, of a constant array");
    check_must_name(c, !is_table || b->values, b->name,
                    "constant without values");
    for (uint32_t i = 0; i < b->n_values; i++)
        check_must(c, b->values[i]->op == OP_const, b->values[i],
                   "a value of a constant array is a number");
    check_must_name(
        c, b->space != SPACE_fragment || c->kernel->level == LEVEL_stages,
        b->name, "a fragment, which level stages alone has");
    check_must_name(c,
                    b->threads == 0 ||
                        (b->space == SPACE_local && b->threads <= b->rank &&
                         c->kernel->level < LEVEL_launch),
                    b->name, "positions of threads, but no array of theirs");
    check_must_name(c, !b->of_cluster || b->space == SPACE_shared, b->name,
                    "an array of a cluster, but not in shared memory");
    check_must_name(c, !b->of_cluster || b->rank > 0, b->name,
                    "an array of a cluster without ranks of its blocks");
    check_must_name(c, b->space != SPACE_global || c->depth == 1, b->name,
                    "a global alloc must be on top of the kernel");
    for (uint32_t i = 0; i < b->rank; i++)
        check_must(c,
                   b->space == SPACE_global ||
                       c->kernel->level == LEVEL_stages ||
                       ir_is_const(b->shape[i]),
                   b->shape[i],
                   "the extents of a shared or local array are constants");
    declare_buffer(c, b);
    check_maps(c, b);
}

static void check_block(struct checking *c, const struct ir_block *block);

// Check the marks of a loop or a stage.
static void check_attrs(struct checking *c, const struct ir_attrs *attrs)
{
    for (size_t i = 0; i < attrs->n; i++) {
        const char *fault = ir_attr_fault(c->arena, &attrs->at[i],
                                          c->stmt->kind, c->kernel->level);
        check_must(c, !fault, NULL, fault);
    }
}

// Check a loop.
static void check_for(struct checking *c, const struct ir_for *f)
{
    int64_t step;
    enum axis_kind kind = axis_kind(f->axis);
    bool is_bound = kind == AXIS_BLOCK || kind == AXIS_THREAD;
    check_must_name(c, type_is_integer(f->var->type) && f->var->type.lanes == 1,
                    f->var->name, "a loop must count integers");
    check_typed(c, f->from, f->var->type);
    check_typed(c, f->to, f->var->type);
    check_typed(c, f->step, f->var->type);
    check_must(c, !ir_int_value(f->step, &step) || step > 0, f->step,
               "step must be positive");
    check_must_name(c, !is_bound || c->kernel->level < LEVEL_launch,
                    axis_name(f->axis),
                    "bound loops are launches at this level");
    check_attrs(c, &f->attrs);
    const char *fault = NULL;
    for (size_t i = 0; i < f->rings.n && !fault; i++)
        fault = ir_ring_fault(c->arena, f->rings.at[i]);
    if (!fault)
        fault = ir_ring_place_fault(c->arena, f, c->kernel->level);
    check_must_name(c, !fault, f->var->name, fault);
    declare_var(c, f->var, VAR_loop);
    if (kind == AXIS_THREAD || axis_is_cluster(f->axis))
        map_set(&c->positions, f->var, f->var);
    check_block(c, &f->body);
}

// Check that an extent depends on no more than the element: on variables that
// count no reduction.
static void check_extent(struct checking *c, const struct ir_stage *s,
                         const struct ir_iter *iter)
{
    for (const struct ir_iter *it = s->iters.at; it < iter; it++)
        check_must(c,
                   !ir_mentions(iter->extent, it->var) ||
                       (iter->is_reduce && !it->is_reduce),
                   iter->extent,
                   "the extent of a reduction may depend on the variables of "
                   "the element, no other extent on any");
}

// Check a stage.
static void check_stage(struct checking *c, const struct ir_stage *s)
{
    for (size_t i = 0; i < s->iters.n; i++) {
        const struct ir_iter *iter = &s->iters.at[i];
        check_must_name(c, type_is_integer(iter->var->type), iter->var->name,
                        "an iteration variable must be an integer");
        check_typed(c, iter->binding, iter->var->type);
    }
    check_attrs(c, &s->attrs);
    if (s->predicate)
        check_bool(c, s->predicate);
    check_must(c, s->has_init || s->init.n == 0, NULL,
               "`init` has statements but is absent");
    for (size_t i = 0; i < s->iters.n; i++) {
        const struct ir_iter *iter = &s->iters.at[i];
        check_typed(c, iter->extent, iter->var->type);
        check_extent(c, s, iter);
        declare_var(c, iter->var, VAR_iter);
    }
    check_must(c, !c->in_stage, NULL, "a stage inside a stage");
    c->in_stage = true;
    check_block(c, &s->init);
    check_block(c, &s->body);
    c->in_stage = false;
}

// Check the arrays that the threads of a launch own.
static void check_noalias(struct checking *c, const struct ir_launch *l)
{
    for (size_t i = 0; i < l->noalias.n; i++) {
        const struct ir_buffer *b = l->noalias.at[i];
        check_use(c, b, b->name);
        check_must_name(c, b->space == SPACE_global, b->name,
                        "threads own elements of global memory alone");
        for (size_t k = 0; k < i; k++)
            check_must_name(c, l->noalias.at[k] != b, b->name,
                            "said to be noalias twice");
    }
}

// Return whether every thread of a launch waits for the grids before it, and
// accesses no global memory until then.
static bool waits_first(const struct ir_launch *l)
{
    size_t n = ir_first_global(&l->body);
    for (size_t i = 0; i < n; i++)
        if (l->body.at[i]->kind == STMT_sync &&
            l->body.at[i]->u.sync.kind == SYNC_dependency_wait)
            return true;
    return false;
}

// Check that arrays of a cluster lie in as many blocks as it has.
static void check_cluster_arrays(struct checking *c, const struct ir_launch *l)
{
    ir_foreach_stmt(s, &l->body)
        if (s->kind == STMT_alloc && s->u.buffer->of_cluster)
            check_must_name(
                c,
                s->u.buffer->rank > 0 && ir_is_int_const(s->u.buffer->shape[0],
                                                         ir_cluster_blocks(l)),
                s->u.buffer->name,
                "an array of a cluster that has another number of blocks");
}

// Check a launch.
static void check_launch(struct checking *c, const struct ir_launch *l)
{
    int64_t threads = 1, blocks = 1;
    check_must(c, c->depth == 1, NULL, "a launch must be on top of the kernel");
    for (int d = 0; d < 3; d++) {
        enum axis axis = (enum axis)(AXIS_thread_x + d);
        check_host(c, l->grid[d], type_scalar(TYPE_int));
        check_must_name(c, l->block[d] >= 1 && l->block[d] <= axis_most(axis),
                        axis_name(axis), "too few or too many threads");
        threads *= l->block[d];
        blocks *= l->cluster[d];
    }
    check_must(c, threads <= THREADS_MOST, NULL,
               "more than 1024 threads in a block");
    check_must(c, blocks >= 1 && blocks <= axis_most(AXIS_cluster_x), NULL,
               "no blocks in a cluster, or more than 8");
    check_must(c, !l->derives_barriers || c->kernel->level < LEVEL_flat, NULL,
               "barriers are derived before level flat");
    check_must(c,
               !attribute_in(l->attributes, ATTRIBUTE_programmatic) ||
                   c->kernel->level < LEVEL_flat || waits_first(l),
               NULL, "accesses global memory before `dependency_wait`");
    check_noalias(c, l);
    check_cluster_arrays(c, l);
    check_block(c, &l->body);
}

// Check a store.
static void check_store(struct checking *c, const struct ir_stmt *s)
{
    unsigned lanes;
    const struct ir_buffer *b = s->u.store.buffer;
    for (uint32_t i = 0; i < s->u.store.n; i++)
        check_expr(c, s->u.store.index[i]);
    check_index(c, b, s->u.store.n, s->u.store.index, &lanes);
    check_typed(c, s->u.store.value, type_vector(b->elem, lanes));
    check_writable(c, b);
}

// Check an operand of an instruction on matrices: its element, where it lies
// and how much of it there is.
static void check_tile(struct checking *c, const struct ir_tile *t,
                       struct ir_matrix op, enum matrix_operand which)
{
    struct matrix_info info = matrix_info(op);
    const struct matrix_part *part = &info.part[which];
    struct matrix_layout layout;
    bool is_own = matrix_layout(op, which, &layout);
    bool is_any = strcmp(part->precision, "b16") == 0;
    uint32_t elements = 1, bits = type_bits(part->type);
    if (!check_must(c, t->at && t->at->op == OP_place, t->at,
                    "an operand is a place"))
        return;
    check_expr(c, t->at);
    for (uint32_t i = 0; i < t->at->n && i < IR_TILE_RANK; i++)
        elements *= t->extent[i];
    check_must(c,
               is_any ? type_bits(t->at->type) == bits ||
                            (!info.is_transposed &&
                             type_bits(t->at->type) <= WORD_BITS)
                      : type_equal(t->at->type, part->type),
               t->at, "an operand of another type");
    check_must(c,
               t->at->u.buffer->space == (is_own ? SPACE_local : SPACE_shared),
               t->at, "an operand in the wrong memory");
    check_must(c,
               !is_own ||
                   elements * type_bits(t->at->type) == layout.elements * bits,
               t->at, "an operand of another size");
    check_must(c,
               t->descriptor.swizzle * SWIZZLE_ROWS <= t->at->u.buffer->align,
               t->at, "a swizzled operand that is not aligned to 8 rows");
}

// Check an instruction on matrices.
static void check_matrix(struct checking *c, const struct ir_stmt *s)
{
    struct matrix_info info = matrix_info(s->u.matrix.op);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        if (*info.part[i].layout)
            check_tile(c, &s->u.matrix.tiles[i], s->u.matrix.op,
                       (enum matrix_operand)i);
        else
            check_must(c, !s->u.matrix.tiles[i].at, NULL,
                       "an operand that the instruction does not have");
    }
    if (s->u.matrix.keep)
        check_bool(c, s->u.matrix.keep);
}

// Check an assignment.
static void check_assign(struct checking *c, const struct ir_stmt *s)
{
    const struct ir_var *var = s->u.let.var;
    check_use(c, var, var->name);
    check_must_name(c, var->kind == VAR_mutable, var->name,
                    "assigned, but not declared by `var`");
    check_typed(c, s->u.let.value, var->type);
}

// Check a print.
static void check_print(struct checking *c, const struct ir_stmt *s)
{
    uint32_t places;
    check_must(c,
               !printed_fault(c->arena, s->u.print.text, &places) &&
                   places == s->u.print.n,
               NULL, "a text with as many places as there are values");
    for (uint32_t i = 0; i < s->u.print.n; i++) {
        const struct ir_expr *x = s->u.print.values[i];
        check_expr(c, x);
        check_must(c, x->type.lanes == 1, x, "a value to print is a scalar");
        check_must(c, ir_is_pure(x, false), x, "what is printed has an effect");
    }
}

// Check that a statement may stand at its place at all.
static void check_place(struct checking *c, const struct ir_stmt *s)
{
    bool on_top = s->kind == STMT_launch || s->kind == STMT_alloc;
    check_must_name(c, stmt_allowed(s->kind, c->kernel->level),
                    level_name(c->kernel->level), "not allowed at this level");
    check_must(c, c->kernel->level < LEVEL_grids || c->depth > 1 || on_top,
               NULL, "only launches and allocs may be on top at this level");
}

// Check a statement and all below it.
static void check_stmt(struct checking *c, const struct ir_stmt *s)
{
    check_place(c, s);
    switch (s->kind) {
    case STMT_for: check_for(c, &s->u.loop); break;
    case STMT_if:
        check_bool(c, s->u.branch.cond);
        check_block(c, &s->u.branch.then);
        check_block(c, &s->u.branch.otherwise);
        break;
    case STMT_let:
    case STMT_var:
        check_typed(c, s->u.let.value, s->u.let.var->type);
        declare_var(c, s->u.let.var,
                    s->kind == STMT_let ? VAR_let : VAR_mutable);
        break;
    case STMT_assign: check_assign(c, s); break;
    case STMT_store: check_store(c, s); break;
    case STMT_eval:
        check_expr(c, s->u.value);
        check_must(c, !ir_is_pure(s->u.value, false), s->u.value,
                   "has no effect");
        break;
    case STMT_print: check_print(c, s); break;
    case STMT_alloc: check_alloc(c, s->u.buffer); break;
    case STMT_stage: check_stage(c, &s->u.stage); break;
    case STMT_launch: check_launch(c, &s->u.launch); break;
    case STMT_matrix: check_matrix(c, s); break;
    case STMT_copy: check_copy(c, s); break;
    case STMT_barrier:
    case STMT_sync:
        check_must(c, s->kind == STMT_barrier || s->u.sync.kind < SYNC_grid,
                   NULL, "only while parsing");
        check_must(c, !c->in_stage, NULL, "a barrier inside a stage");
        break;
    case STMT_COUNT: break;
    }
}

// Check a block; its declarations and those of its statement end with it.
static void check_block(struct checking *c, const struct ir_block *block)
{
    const struct ir_stmt *outer = c->stmt;
    size_t n = c->in_scope.n;
    c->depth++;
    for (size_t i = 0; i < block->n; i++) {
        bool declares;
        size_t before = c->in_scope.n;
        c->stmt = block->at[i];
        declares = c->stmt->kind == STMT_let || c->stmt->kind == STMT_var ||
                   c->stmt->kind == STMT_alloc;
        check_stmt(c, c->stmt);
        if (!declares)
            check_close(c, before);
    }
    c->depth--;
    check_close(c, n);
    c->stmt = outer;
}

// Check and declare the parameters: sizes first, as shapes mention them.
static void check_params(struct checking *c, const struct ir_kernel *k)
{
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_param *p = &k->params.at[i];
        if (!check_must(c, !p->var != !p->buffer, NULL,
                        "a parameter is a variable or an array"))
            continue;
        if (p->var)
            declare_var(c, p->var, VAR_param);
    }
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b)
            continue;
        check_must_name(c, b->role != ROLE_alloc, b->name, "not a parameter");
        check_must_name(
            c, b->space == SPACE_global || b->space == SPACE_constant, b->name,
            "a parameter must be in global or constant space");
        declare_buffer(c, b);
    }
}

// Check what is said of the elements of parameters.
static void check_ranges(struct checking *c, const struct ir_kernel *k)
{
    for (size_t i = 0; i < k->terms.ranges.n; i++) {
        const struct ir_range *r = &k->terms.ranges.at[i];
        bool is_array =
            r->parameter < k->params.n && k->params.at[r->parameter].buffer;
        if (!check_must(c, is_array, r->low, "no range of an array"))
            continue;
        struct type elem = k->params.at[r->parameter].buffer->elem;
        struct type type =
            type_scalar(type_is_float(elem) ? TYPE_f64 : TYPE_int);
        check_host(c, r->low, type);
        check_host(c, r->high, type);
    }
}

const char *ir_check(struct arena *a, const struct ir_kernel *kernel)
{
    struct checking c = {.arena = a,
                         .kernel = kernel,
                         .states = {.arena = a},
                         .positions = {.arena = a}};
    check_params(&c, kernel);
    check_maps(&c, NULL);
    for (size_t i = 0; i < kernel->where.n; i++)
        check_host(&c, kernel->where.at[i], type_scalar(TYPE_bool));
    for (size_t i = 0; i < kernel->guard.n; i++)
        check_host(&c, kernel->guard.at[i], type_scalar(TYPE_bool));
    check_ranges(&c, kernel);
    check_block(&c, &kernel->body);
    check_must(&c, c.n_maps == kernel->maps.n, NULL,
               "a tensor map must stand behind its array");
    const char *faults =
        c.faults.n ? arena_copy(a, c.faults.data, c.faults.n) : NULL;
    buf_free(&c.faults);
    return faults;
}
