// Compares two trees side by side.  Whatever both sides declare at the same
// place is matched from there on; a use is equal to a use of its match.

#include "ir/equal.h"
#include "ir/base/map.h"
#include "ir/foreach.h"
#include "ir/matrix.h"
#include "ir/ring.h"

// A comparison under way.
struct comparison {
    struct arena *arena;
    struct map match;       // declarations of a -> those of b, and back
    const char *where;      // the innermost statement with a name
    const char *difference; // the first one found, or NULL
};

// Note a difference; always false.
static bool differ(struct comparison *c, const char *what)
{
    if (!c->difference)
        c->difference = c->where[0]
                            ? arena_printf(c->arena, "%s: %s", c->where, what)
                            : what;
    return false;
}

// Return whether it holds; if not, note what differs.
static bool same(struct comparison *c, bool holds, const char *what)
{
    return holds || differ(c, what);
}

// Match two declarations; neither was matched before.
static void match(struct comparison *c, const void *a, const void *b)
{
    map_set(&c->match, a, (void *)b);
    map_set(&c->match, b, (void *)a);
}

// Return whether a use of `a` is a use of `b`.
static bool matches(const struct comparison *c, const void *a, const void *b)
{
    return map_has(&c->match, a) ? map_get(&c->match, a) == b : a == b;
}

// Compare what an expression holds besides its operands.
static bool same_payload(const struct comparison *c, const struct ir_expr *a,
                         const struct ir_expr *b)
{
    unsigned memory = OP_READS | OP_WRITES;
    if (ir_op_info(a->op)->flags & memory)
        return a->scope == b->scope && matches(c, a->u.buffer, b->u.buffer);
    switch ((int)a->op) {
    case OP_const:
        return type_is_float(a->type)
                   ? memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0
                   : a->u.i == b->u.i;
    case OP_var: return matches(c, a->u.var, b->u.var);
    case OP_index: return a->u.axis == b->u.axis;
    case OP_lane: return a->u.lane == b->u.lane;
    }
    return true;
}

// Compare two expressions; both may be NULL.
static bool same_expr(const struct comparison *c, const struct ir_expr *a,
                      const struct ir_expr *b)
{
    if (!a || !b)
        return a == b;
    if (a->op != b->op || !type_equal(a->type, b->type) || a->n != b->n ||
        !same_payload(c, a, b))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!same_expr(c, a->args[i], b->args[i]))
            return false;
    return true;
}

// Compare `n` expressions with `n` others; both arrays may be NULL.
static bool same_exprs(const struct comparison *c, size_t n,
                       struct ir_expr *const *a, struct ir_expr *const *b)
{
    if (!a || !b)
        return a == b || n == 0;
    for (size_t i = 0; i < n; i++)
        if (!same_expr(c, a[i], b[i]))
            return false;
    return true;
}

// Compare two declarations of variables and match them.
static bool same_var(struct comparison *c, const struct ir_var *a,
                     const struct ir_var *b)
{
    match(c, a, b);
    return same(c, type_equal(a->type, b->type), "types of a variable") &&
           same(c, a->kind == b->kind, "kinds of a variable");
}

// Return whether the gaps and swizzles of two arrays are the same.
static bool same_layout(const struct ir_buffer *a, const struct ir_buffer *b)
{
    return !a->pitches == !b->pitches && a->is_double == b->is_double &&
           a->is_ordered == b->is_ordered && a->threads == b->threads &&
           a->of_cluster == b->of_cluster &&
           (!a->pitches || memcmp(a->pitches, b->pitches,
                                  a->rank * sizeof *a->pitches) == 0) &&
           memcmp(&a->swizzle, &b->swizzle, sizeof a->swizzle) == 0;
}

// Compare two declarations of arrays and match them.
static bool same_buffer(struct comparison *c, const struct ir_buffer *a,
                        const struct ir_buffer *b)
{
    match(c, a, b);
    return same(c, type_equal(a->elem, b->elem), "types of an array") &&
           same(c, a->rank == b->rank, "ranks of an array") &&
           same(c, same_exprs(c, a->rank, a->shape, b->shape),
                "shapes of an array") &&
           same(c, same_exprs(c, a->rank, a->strides, b->strides),
                "strides of an array") &&
           same(c, same_layout(a, b), "layouts of an array") &&
           same(c,
                a->n_values == b->n_values &&
                    same_exprs(c, a->n_values, a->values, b->values),
                "values of an array") &&
           same(c, a->space == b->space, "spaces of an array") &&
           same(c, a->role == b->role, "roles of an array") &&
           same(c, a->align == b->align, "alignments of an array");
}

// Compare the hints of two loops or stages.
static bool same_attrs(struct comparison *c, size_t n, const struct ir_attr *a,
                       size_t m, const struct ir_attr *b)
{
    bool ok = n == m;
    for (size_t i = 0; ok && i < n; i++)
        ok =
            strcmp(a[i].name, b[i].name) == 0 && a[i].value == b[i].value &&
            strcmp(a[i].word ? a[i].word : "", b[i].word ? b[i].word : "") == 0;
    return same(c, ok, "annotations");
}

static bool same_block(struct comparison *c, const struct ir_block *a,
                       const struct ir_block *b);

// Return whether two loops have the same rings, over arrays that match.
static bool same_rings(const struct comparison *c, const struct ir_for *a,
                       const struct ir_for *b)
{
    bool ok = a->rings.n == b->rings.n;
    for (size_t i = 0; ok && i < a->rings.n; i++) {
        const struct ir_ring *x = a->rings.at[i], *y = b->rings.at[i];
        ok = ir_ring_equal(x, y);
        for (size_t k = 0; ok && k < x->arrays.n; k++)
            ok = matches(c, x->arrays.at[k], y->arrays.at[k]);
    }
    return ok;
}

// Compare two loops.
static bool same_for(struct comparison *c, const struct ir_for *a,
                     const struct ir_for *b)
{
    c->where = arena_printf(c->arena, "for %s", a->var->name);
    return same(c, same_expr(c, a->from, b->from), "first values") &&
           same(c, same_expr(c, a->to, b->to), "ends") &&
           same(c, same_expr(c, a->step, b->step), "steps") &&
           same(c, a->axis == b->axis, "axes") &&
           same_attrs(c, a->attrs.n, a->attrs.at, b->attrs.n, b->attrs.at) &&
           same(c, same_rings(c, a, b), "rings") &&
           same_var(c, a->var, b->var) && same_block(c, &a->body, &b->body);
}

// Compare the iteration variables of two stages, but do not match them yet.
static bool same_iters(struct comparison *c, const struct ir_stage *a,
                       const struct ir_stage *b)
{
    bool ok = same(c, a->iters.n == b->iters.n, "iteration variables");
    for (size_t i = 0; ok && i < a->iters.n; i++) {
        const struct ir_iter *x = &a->iters.at[i], *y = &b->iters.at[i];
        ok = same(c, same_expr(c, x->binding, y->binding), "bindings") &&
             same(c, x->is_reduce == y->is_reduce, "reduction marks");
    }
    return ok;
}

// Match the iteration variables of two stages, whose extents may mention those
// in front of them.
static bool match_iters(struct comparison *c, const struct ir_stage *a,
                        const struct ir_stage *b)
{
    bool ok = true;
    for (size_t i = 0; ok && i < a->iters.n; i++) {
        const struct ir_iter *x = &a->iters.at[i], *y = &b->iters.at[i];
        ok = same(c, same_expr(c, x->extent, y->extent), "extents") &&
             same_var(c, x->var, y->var);
    }
    return ok;
}

// Compare two stages.
static bool same_stage(struct comparison *c, const struct ir_stage *a,
                       const struct ir_stage *b)
{
    c->where = arena_printf(c->arena, "stage %s", a->name);
    bool ok = same(c, strcmp(a->name, b->name) == 0, "names") &&
              same_iters(c, a, b) &&
              same(c, same_expr(c, a->predicate, b->predicate), "predicates") &&
              same(c, a->has_init == b->has_init, "presence of `init`") &&
              same_attrs(c, a->attrs.n, a->attrs.at, b->attrs.n, b->attrs.at);
    return ok && match_iters(c, a, b) && same_block(c, &a->init, &b->init) &&
           same_block(c, &a->body, &b->body);
}

// Compare the arrays whose elements the threads of two launches own.
static bool same_noalias(const struct comparison *c, const struct ir_launch *a,
                         const struct ir_launch *b)
{
    bool ok = a->noalias.n == b->noalias.n;
    for (size_t i = 0; ok && i < a->noalias.n; i++)
        ok = matches(c, a->noalias.at[i], b->noalias.at[i]);
    return ok;
}

// Compare two launches.
static bool same_launch(struct comparison *c, const struct ir_launch *a,
                        const struct ir_launch *b)
{
    c->where = arena_printf(c->arena, "launch %s", a->name);
    return same(c, strcmp(a->name, b->name) == 0, "names") &&
           same(c, same_exprs(c, 3, a->grid, b->grid), "grids") &&
           same(c, memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0,
                "clusters") &&
           same(c, memcmp(a->block, b->block, sizeof a->block) == 0,
                "blocks") &&
           same(c,
                a->min_blocks == b->min_blocks &&
                    a->max_registers == b->max_registers,
                "launch bounds") &&
           same(c, a->attributes == b->attributes, "launch attributes") &&
           same(c, a->derives_barriers == b->derives_barriers,
                "who places barriers") &&
           same(c, same_noalias(c, a, b), "arrays that threads own") &&
           same_block(c, &a->body, &b->body);
}

// Compare two stores.
static bool same_store(struct comparison *c, const struct ir_stmt *a,
                       const struct ir_stmt *b)
{
    return same(c, matches(c, a->u.store.buffer, b->u.store.buffer),
                "arrays stored to") &&
           same(c,
                a->u.store.n == b->u.store.n &&
                    same_exprs(c, a->u.store.n, a->u.store.index,
                               b->u.store.index),
                "indices of a store") &&
           same(c, same_expr(c, a->u.store.value, b->u.store.value),
                "values stored") &&
           same(c, a->u.store.hint == b->u.store.hint, "hints of stores");
}

// Compare two operands of instructions on matrices.
static bool same_tile(struct comparison *c, const struct ir_tile *a,
                      const struct ir_tile *b)
{
    const struct ir_descriptor *x = &a->descriptor, *y = &b->descriptor;
    return same(c, same_expr(c, a->at, b->at), "operands") &&
           same(c, memcmp(a->extent, b->extent, sizeof a->extent) == 0,
                "extents of an operand") &&
           same(c,
                x->swizzle == y->swizzle && x->leading == y->leading &&
                    x->stride == y->stride &&
                    x->is_transposed == y->is_transposed,
                "layouts of an operand");
}

// Compare two instructions on matrices.
static bool same_matrix(struct comparison *c, const struct ir_stmt *a,
                        const struct ir_stmt *b)
{
    bool ok = same(c,
                   a->u.matrix.op.row == b->u.matrix.op.row &&
                       a->u.matrix.op.n == b->u.matrix.op.n,
                   "instructions");
    for (int i = 0; ok && i < MATRIX_OPERANDS; i++)
        ok = same_tile(c, &a->u.matrix.tiles[i], &b->u.matrix.tiles[i]);
    return ok && same(c, same_expr(c, a->u.matrix.keep, b->u.matrix.keep),
                      "conditions of an instruction");
}

// Compare two elements of arrays; of none, both must be none.
static bool same_place(struct comparison *c, const struct ir_place *a,
                       const struct ir_place *b)
{
    if (!a->buffer || !b->buffer)
        return a->buffer == b->buffer;
    return matches(c, a->buffer, b->buffer) && a->n == b->n &&
           same_exprs(c, a->n, a->index, b->index);
}

// Compare two copies.
static bool same_copy(struct comparison *c, const struct ir_copy *a,
                      const struct ir_copy *b)
{
    return same(c, a->transport == b->transport && a->is_load == b->is_load,
                "kinds of a copy") &&
           same(c,
                !a->map == !b->map && (!a->map || matches(c, a->map, b->map)) &&
                    a->elements == b->elements,
                "tensor maps copied by") &&
           same(c, same_place(c, &a->far, &b->far),
                "places in global memory") &&
           same(c, same_place(c, &a->near, &b->near),
                "places in shared memory") &&
           same(c, same_place(c, &a->signal, &b->signal),
                "mbarriers of a copy") &&
           same(c, same_expr(c, a->where, b->where), "conditions of a copy") &&
           same(c,
                same_expr(c, a->multicast, b->multicast) && a->hint == b->hint,
                "traits of a copy");
}

// Compare two branches.
static bool same_if(struct comparison *c, const struct ir_stmt *a,
                    const struct ir_stmt *b)
{
    return same(c, same_expr(c, a->u.branch.cond, b->u.branch.cond),
                "conditions of an `if`") &&
           same_block(c, &a->u.branch.then, &b->u.branch.then) &&
           same_block(c, &a->u.branch.otherwise, &b->u.branch.otherwise);
}

// Compare two statements that are no more than their arrays and expressions.
static bool same_rest(struct comparison *c, struct ir_stmt *a,
                      struct ir_stmt *b)
{
    uint32_t next = 0, buffers = 0;
    ir_foreach_buffer(x, a)
    {
        struct ir_buffer **y = ir_next_buffer(b, &buffers);
        if (!y || !matches(c, *x, *y))
            return false;
    }
    ir_foreach_place(x, a) {
        struct ir_expr **y = ir_next_place(b, &next);
        if (!y || !same_expr(c, *x, *y))
            return false;
    }
    return !ir_next_place(b, &next) && !ir_next_buffer(b, &buffers);
}

// Compare two statements.
static bool same_stmt(struct comparison *c, const struct ir_stmt *a,
                      const struct ir_stmt *b)
{
    if (!same(c, a->kind == b->kind, "kinds of a statement"))
        return false;
    switch ((int)a->kind) {
    case STMT_for: return same_for(c, &a->u.loop, &b->u.loop);
    case STMT_if: return same_if(c, a, b);
    case STMT_let:
    case STMT_var:
        return same(c, same_expr(c, a->u.let.value, b->u.let.value),
                    "values of a variable") &&
               same_var(c, a->u.let.var, b->u.let.var);
    case STMT_assign:
        return same(c, matches(c, a->u.let.var, b->u.let.var),
                    "variables assigned to") &&
               same(c, same_expr(c, a->u.let.value, b->u.let.value),
                    "values assigned");
    case STMT_store: return same_store(c, a, b);
    case STMT_eval:
        return same(c, same_expr(c, a->u.value, b->u.value),
                    "expressions evaluated for their effect");
    case STMT_alloc: return same_buffer(c, a->u.buffer, b->u.buffer);
    case STMT_stage: return same_stage(c, &a->u.stage, &b->u.stage);
    case STMT_launch: return same_launch(c, &a->u.launch, &b->u.launch);
    case STMT_sync:
        return same(
            c, a->u.sync.kind == b->u.sync.kind && a->u.sync.n == b->u.sync.n,
            "fences");
    case STMT_print:
        return same(c,
                    strcmp(a->u.print.text, b->u.print.text) == 0 &&
                        a->u.print.n == b->u.print.n &&
                        same_exprs(c, a->u.print.n, a->u.print.values,
                                   b->u.print.values),
                    "what is printed");
    case STMT_matrix: return same_matrix(c, a, b);
    case STMT_copy: return same_copy(c, &a->u.copy, &b->u.copy);
    case STMT_barrier:
        return same(c, a->u.of_cluster == b->u.of_cluster, "barriers");
    }
    return same(c, same_rest(c, (struct ir_stmt *)a, (struct ir_stmt *)b),
                "expressions or arrays of a statement");
}

// Compare two blocks.
static bool same_block(struct comparison *c, const struct ir_block *a,
                       const struct ir_block *b)
{
    const char *outer = c->where;
    bool ok = same(c, a->n == b->n, "numbers of statements");
    for (size_t i = 0; ok && i < a->n; i++) {
        ok = same_stmt(c, a->at[i], b->at[i]);
        c->where = outer;
    }
    return ok;
}

// Compare and match the parameters: sizes first, as shapes mention them.
static bool same_params(struct comparison *c, const struct ir_kernel *a,
                        const struct ir_kernel *b)
{
    bool ok = same(c, a->params.n == b->params.n, "numbers of parameters");
    for (size_t i = 0; ok && i < a->params.n; i++) {
        const struct ir_param *p = &a->params.at[i], *q = &b->params.at[i];
        ok = same(c, !p->var == !q->var, "kinds of a parameter");
        if (ok && p->var)
            ok = same(c, strcmp(p->var->name, q->var->name) == 0,
                      "names of a parameter") &&
                 same_var(c, p->var, q->var);
    }
    for (size_t i = 0; ok && i < a->params.n; i++) {
        const struct ir_param *p = &a->params.at[i], *q = &b->params.at[i];
        if (p->buffer)
            ok = same(c, strcmp(p->buffer->name, q->buffer->name) == 0,
                      "names of a parameter") &&
                 same_buffer(c, p->buffer, q->buffer);
    }
    return ok;
}

// Match the tensor maps, whose arrays are not all known yet.
static bool match_maps(struct comparison *c, const struct ir_kernel *a,
                       const struct ir_kernel *b)
{
    bool ok = same(c, a->maps.n == b->maps.n, "numbers of tensor maps");
    for (size_t i = 0; ok && i < a->maps.n; i++) {
        const struct ir_map *x = a->maps.at[i], *y = b->maps.at[i];
        match(c, x, y);
        ok = same(c, x->buffer->rank == y->buffer->rank,
                  "ranks of a tensor map");
    }
    return ok;
}

// Compare the tensor maps, which are matched as all arrays are.
static bool same_maps(struct comparison *c, const struct ir_kernel *a,
                      const struct ir_kernel *b)
{
    bool ok = true;
    for (size_t i = 0; ok && i < a->maps.n; i++) {
        const struct ir_map *x = a->maps.at[i], *y = b->maps.at[i];
        ok = same(
            c,
            matches(c, x->buffer, y->buffer) && x->swizzle == y->swizzle &&
                x->rounds == y->rounds &&
                memcmp(x->box, y->box, x->buffer->rank * sizeof *x->box) == 0,
            "tensor maps");
    }
    return ok;
}

// Compare what two kernels say of their data.
static bool same_ranges(const struct comparison *c, const struct ir_terms *a,
                        const struct ir_terms *b)
{
    bool ok = a->ranges.n == b->ranges.n;
    for (size_t i = 0; ok && i < a->ranges.n; i++) {
        const struct ir_range *x = &a->ranges.at[i], *y = &b->ranges.at[i];
        ok = x->parameter == y->parameter && same_expr(c, x->low, y->low) &&
             same_expr(c, x->high, y->high) && x->ascends == y->ascends;
    }
    return ok;
}

// Compare the results without order of two kernels, and where they are tried.
static bool same_lists(const struct ir_terms *a, const struct ir_terms *b)
{
    bool ok = a->unordered.n == b->unordered.n && a->tries.n == b->tries.n;
    for (size_t i = 0; ok && i < a->unordered.n; i++) {
        const struct ir_unordered *x = &a->unordered.at[i];
        const struct ir_unordered *y = &b->unordered.at[i];
        ok = x->parameter == y->parameter && x->has_count == y->has_count &&
             x->count == y->count;
    }
    for (size_t i = 0; ok && i < a->tries.n; i++)
        ok = a->tries.at[i].parameter == b->tries.at[i].parameter &&
             a->tries.at[i].value == b->tries.at[i].value;
    return ok;
}

// Compare what two kernels say beside what they compute.
static bool same_terms(struct comparison *c, const struct ir_terms *a,
                       const struct ir_terms *b)
{
    bool has_name = a->defines && b->defines;
    return same(c, same_ranges(c, a, b), "ranges of elements") &&
           same(c, same_lists(a, b), "`unordered` or `try`") &&
           same(c,
                !a->tolerance == !b->tolerance &&
                    (!a->tolerance || same_expr(c, a->tolerance, b->tolerance)),
                "tolerances") &&
           same(c,
                !a->defines == !b->defines &&
                    (!has_name || strcmp(a->defines, b->defines) == 0),
                "`defines`");
}

bool ir_expr_equal(const struct ir_expr *a, const struct ir_expr *b)
{
    if (a == b || !a || !b || a->op != b->op || a->n != b->n)
        return a == b;
    return same_expr(&(struct comparison){.where = ""}, a, b);
}

bool ir_all_equal(uint32_t n, struct ir_expr *const *x,
                  struct ir_expr *const *y)
{
    for (uint32_t i = 0; i < n; i++)
        if (!ir_expr_equal(x[i], y[i]))
            return false;
    return true;
}

uint64_t ir_hash_mix(uint64_t x, uint64_t y)
{
    x = (x ^ y) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

uint64_t ir_expr_hash(const struct ir_expr *x)
{
    uint64_t h = (uint64_t)x->op << 8 | x->n;
    if (x->op == OP_var)
        h ^= (uintptr_t)x->u.var;
    else if (x->op == OP_const && !type_is_float(x->type))
        h = ir_hash_mix(h, (uint64_t)x->u.i);
    for (uint32_t i = 0; i < x->n; i++)
        h = ir_hash_mix(h, ir_expr_hash(x->args[i]));
    return h;
}

bool ir_kernel_equal(struct arena *arena, const struct ir_kernel *a,
                     const struct ir_kernel *b, const char **difference)
{
    struct comparison comparison = {arena, {.arena = arena}, "", NULL};
    struct comparison *c = &comparison;
    bool ok = same(c, strcmp(a->name, b->name) == 0, "names of the kernel") &&
              same(c, strcmp(a->variant, b->variant) == 0, "variants") &&
              same(c, a->level == b->level, "levels") &&
              same(c, a->fast_math == b->fast_math, "fast_math") &&
              same(c,
                   a->min_blocks == b->min_blocks &&
                       a->max_registers == b->max_registers,
                   "launch bounds") &&
              same(c, a->attributes == b->attributes, "launch attributes") &&
              same_params(c, a, b) && match_maps(c, a, b) &&
              same(c,
                   a->where.n == b->where.n &&
                       same_exprs(c, a->where.n, a->where.at, b->where.at),
                   "`where`") &&
              same(c,
                   a->guard.n == b->guard.n &&
                       same_exprs(c, a->guard.n, a->guard.at, b->guard.at),
                   "guards") &&
              same_terms(c, &a->terms, &b->terms) &&
              same_block(c, &a->body, &b->body) && same_maps(c, a, b);
    if (!ok && difference)
        *difference = c->difference;
    return ok;
}
