// speculate: lets loads into registers run where their guards do not hold, so
// that no branch stands between them.
//
//   alloc E: f16[2] in local
//   if thread.x < n {                      E[0] = X[block.x, thread.x < n
//     E[0] = X[block.x, thread.x] }                          ? thread.x : 0]
//   if thread.x + 64 < n {              => E[1] = X[block.x, thread.x + 64 < n
//     E[1] = X[block.x, thread.x + 64] }             ? thread.x + 64 : 0]
//
// LLVM would convert what is loaded in the branch, too, and so wait there for one
// load after the other. Now all are under way at the same time.
//
// The element loaded instead is the first one of the row, which has to exist:
// `when n >= 1` says so. The guard has to be about stores to elements of local
// arrays alone, with numbers for indices, each of which is stored once since its
// array was declared: nobody can have read them where the guard does not hold.
// What is loaded comes from arrays that the kernel does not write.

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

// The state of the walk.
struct speculate {
    struct pass *p;
    struct facts facts;
    struct VEC(struct ir_buffer *) arrays; // declared with no loop in between
    struct ir_expr *guard;                 // of the branch that is looked at
    const struct ir_launch *launch;
    bool changed;
};

// Return whether an array was declared with no loop between that and here.
static bool is_fresh(const struct speculate *x, const struct ir_buffer *b)
{
    for (size_t i = 0; i < x->arrays.n; i++)
        if (x->arrays.at[i] == b)
            return true;
    return false;
}

// Set the numbers that an index has; false if they are not known.
static bool index_numbers(const struct ir_expr *x, int64_t *first, int64_t *end)
{
    const struct ir_expr *base = x->op == OP_ramp ? x->args[0] : x;
    bool is_known = ir_int_value(base, first);
    *end = is_known ? *first + x->type.lanes : 0;
    return is_known;
}

// Return whether two stores to one array are of different elements.
static bool are_apart(const struct ir_stmt *s, const struct ir_stmt *t)
{
    for (uint32_t d = 0; d < s->u.store.n; d++) {
        int64_t first, end, other, other_end;
        if (index_numbers(s->u.store.index[d], &first, &end) &&
            index_numbers(t->u.store.index[d], &other, &other_end) &&
            (end <= other || other_end <= first))
            return true;
    }
    return false;
}

// Return whether a store is the only statement of the launch that writes its
// element, of a local array.
static bool is_only_store(const struct speculate *x, const struct ir_stmt *s)
{
    const struct ir_buffer *b = s->u.store.buffer;
    int64_t first, end;
    for (uint32_t d = 0; d < s->u.store.n; d++)
        if (!index_numbers(s->u.store.index[d], &first, &end))
            return false;
    ir_foreach_stmt(t, &x->launch->body)
        if (t != s && ir_stmt_itself(t, b, ACCESS_writes) &&
            (t->kind != STMT_store || !are_apart(s, t)))
            return false;
    return true;
}

// Return whether the first elements of the row that a load accesses exist, as
// many as it loads, whether the guard holds or not.
static bool has_first(const struct speculate *x, const struct ir_expr *load)
{
    struct arena *a = x->p->scratch;
    const struct ir_buffer *b = load->u.buffer;
    if (!b->rank)
        return false;
    for (uint32_t d = 0; d + 1 < b->rank; d++)
        if (!facts_is_within(&x->facts, load->args[d], b->shape[d]))
            return false;
    struct ir_expr *row = b->shape[b->rank - 1];
    struct affine form = affine_of(a, row);
    bool is_whole = facts_multiple(&x->facts, &form, load->type.lanes);
    int64_t least = is_whole ? 1 : load->type.lanes;
    return facts_at_most(&x->facts, ir_int(a, least), row);
}

// Return whether a value can be computed anyway, if its loads are of first
// elements.
static bool is_safe(const struct speculate *x, struct ir_expr *value)
{
    if (!ir_is_pure(value, false) || !facts_is_total(&x->facts, value))
        return false;
    ir_foreach_expr(e, value) {
        if (!(ir_op_info(e->op)->flags & OP_READS))
            continue;
        if (e->op != OP_load || e->u.buffer->space != SPACE_global ||
            e->u.buffer->role != ROLE_input || !has_first(x, e))
            return false;
        for (uint32_t d = 0; d < e->n; d++)
            if (!ir_is_stable(e->args[d]))
                return false;
    }
    return true;
}

// Return whether all that a branch does can be done anyway.
static bool is_free(const struct speculate *x, const struct ir_stmt *s)
{
    if (s->kind != STMT_if || s->u.branch.otherwise.n ||
        !ir_is_stable(s->u.branch.cond))
        return false;
    vec_foreach_value(t, &s->u.branch.then)
        if (t->kind != STMT_store || !is_fresh(x, t->u.store.buffer) ||
            !is_only_store(x, t) || !is_safe(x, t->u.store.value))
            return false;
    return true;
}

// Let a load be of the first elements of its row where the guard does not hold.
static struct ir_expr *or_first(struct arena *a, struct ir_expr *x,
                                void *context)
{
    const struct speculate *w = context;
    if (x->op != OP_load)
        return x;
    struct ir_expr **index = arena_array(a, struct ir_expr *, x->n);
    for (uint32_t d = 0; d < x->n; d++)
        index[d] = x->args[d];
    struct ir_expr *last = index[x->n - 1];
    struct ir_expr *base = last->op == OP_ramp ? last->args[0] : last;
    base = ir_select(a, w->guard, base, ir_int(a, 0));
    index[x->n - 1] = last->op == OP_ramp ? ir_with_args(a, last, &base) : base;
    return ir_at(a, ir_load(a, x->u.buffer, x->n, index), x->span);
}

// Put the stores of a branch in its place.
static void free_stores(struct speculate *x, struct ir_block *block, size_t at)
{
    struct ir_stmt *s = block->at[at];
    struct ir_block then = s->u.branch.then;
    x->guard = s->u.branch.cond;
    x->changed = true;
    vec_foreach_value(t, &then)
        t->u.store.value =
            ir_rewrite(x->p->arena, t->u.store.value, or_first, x);
    ir_splice(x->p->arena, block, at, &then);
}

// Look for such branches in a block and below.
static void walk(struct speculate *x, struct ir_block *block)
{
    size_t arrays = x->arrays.n;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_local)
            vec_push(x->p->scratch, &x->arrays, s->u.buffer);
        if (is_free(x, s)) {
            free_stores(x, block, i);
            i += s->u.branch.then.n - 1;
            continue;
        }
        struct speculate outside = *x;
        if (s->kind == STMT_launch)
            x->launch = &s->u.launch;
        if (s->kind == STMT_for)
            x->arrays.n = 0, x->arrays.at = NULL, x->arrays.cap = 0;
        facts_foreach_inside(inner, &x->facts, s)
            walk(x, inner);
        x->arrays = outside.arrays;
    }
    x->arrays.n = arrays;
}

enum pass_result pass_speculate(struct pass *p)
{
    struct speculate x = {.p = p};
    facts_start(&x.facts, p->scratch, p->kernel);
    walk(&x, &p->kernel->body);
    return x.changed ? PASS_CHANGED : PASS_SAME;
}
