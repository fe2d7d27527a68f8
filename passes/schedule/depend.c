// Which iterations touch the same elements: all pairs of accesses of which
// one writes, less those whose order does not matter.

#include "passes/schedule/depend.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "passes/schedule/depend_access.h"
#include "passes/schedule/prim.h"

// A question on its way.
struct ask {
    struct depend_nest nest;
    struct depend_question question;
    enum axis axis; // that the iterations are to run on
    bool with_example;
    struct map free; // arrays in which no iterations meet: the array itself;
                     // others that were looked at: NULL
};

// Whether an array is used outside of a nest: the context of see_use.
struct uses {
    const struct ir_buffer *buffer;
    size_t reads, writes;
};

// Count the uses in an expression.
static void see_use(struct ir_expr *x, void *context)
{
    struct uses *u = context;
    unsigned flags = ir_op_info(x->op)->flags;
    if ((flags & (OP_READS | OP_WRITES)) && x->u.buffer == u->buffer) {
        u->reads += (flags & OP_READS) != 0;
        u->writes += (flags & OP_WRITES) != 0;
    }
}

// Count a store.
static void see_store(struct ir_stmt *s, void *context)
{
    struct uses *u = context;
    u->writes += s->kind == STMT_store && s->u.store.buffer == u->buffer;
}

// Return how often a block reads and writes an array.
static struct uses count_uses(struct ir_block *block,
                              const struct ir_buffer *buffer)
{
    struct uses u = {buffer, 0, 0};
    ir_each_expr_in(block, see_use, &u);
    ir_each_stmt(block, see_store, &u);
    return u;
}

// What a stored value is made of: the context of see_part.
struct value {
    struct ask *ask;
    const struct ir_stage *stage;
    const struct ir_stmt *store;
    bool varies;
};

// Return whether a variable is one of the store's indices.
static bool is_index(const struct value *v, const struct ir_var *var)
{
    for (uint32_t i = 0; i < v->store->u.store.n; i++) {
        if (v->store->u.store.index[i]->u.var == var)
            return true;
    }
    return false;
}

// Note what may differ between two iterations that store the same element.
static void see_part(struct ir_expr *x, void *context)
{
    struct value *v = context;
    struct ir_block top = {&v->ask->nest.top, 1, 1};
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->op == OP_var && x->u.var->kind != VAR_param)
        v->varies |= !is_index(v, x->u.var);
    if (flags & (OP_READS | OP_WRITES))
        v->varies |= (flags & OP_WRITES) || ir_block_writes(&top, x->u.buffer);
}

// Return whether a write is that of a stage that stores a function of the
// index alone: two of its iterations that store the same element store the
// same value.
static bool is_repeatable(struct ask *ask, const struct depend_access *x)
{
    struct value v = {ask, NULL, x->stmt, false};
    if (!x->stage || x->is_atomic || x->stmt->kind != STMT_store)
        return false;
    v.stage = &x->stage->u.stage;
    if (v.stage->init.n || v.stage->body.n != 1)
        return false;
    for (uint32_t i = 0; i < x->stmt->u.store.n; i++) {
        const struct ir_expr *index = x->stmt->u.store.index[i];
        if (index->op != OP_var || index->u.var->kind != VAR_iter)
            return false;
    }
    ir_each_expr(x->stmt->u.store.value, see_part, &v);
    return !v.varies;
}

// Return whether iterations on an axis have copies of their own of arrays in
// that space.
static bool is_private(const struct ir_buffer *b, enum axis axis)
{
    enum axis_kind kind = axis_kind(axis);
    return (b->space == SPACE_local &&
            (kind == AXIS_BLOCK || kind == AXIS_THREAD)) ||
           (b->space == SPACE_shared && kind == AXIS_BLOCK);
}

// Return whether every read of an array in the nest follows a write of the
// same iteration, and all writes have the property.
static bool is_own(struct ask *ask, const struct ir_buffer *b,
                   bool repeatable_only)
{
    const struct depend_nest *nest = &ask->nest;
    for (size_t i = 0; i < nest->accesses.n; i++) {
        const struct depend_access *x = &nest->accesses.at[i];
        if (x->buffer != b)
            continue;
        if (x->is_atomic ||
            (x->writes && repeatable_only && !is_repeatable(ask, x)) ||
            (!x->writes && !depend_is_covered(&ask->nest, &ask->question, x)))
            return false;
    }
    return true;
}

// Return whether no iterations can meet in an array: each writes what it
// reads, and what another one writes is the same, or somewhere else.
static bool find_free(struct ask *ask, const struct ir_buffer *b)
{
    struct depend_nest *nest = &ask->nest;
    struct ir_stmt *loop = ask->question.loops[0];
    struct ir_block inside = {&loop, 1, 1};
    if (b->role != ROLE_alloc)
        return false;
    struct uses all = count_uses(&nest->pass->kernel->body, b);
    struct uses here = count_uses(&inside, b);
    if (all.writes == here.writes && is_own(ask, b, true))
        return true;
    bool apart = ask->question.order || is_private(b, ask->axis);
    return apart && all.writes == here.writes && all.reads == here.reads &&
           is_own(ask, b, false);
}

// The same, remembered.
static bool is_free(struct ask *ask, const struct ir_buffer *b)
{
    if (!map_has(&ask->free, b))
        map_set(&ask->free, b, find_free(ask, b) ? (void *)b : NULL);
    return map_get(&ask->free, b) != NULL;
}

// Return whether both accesses are those of a reduction that combines its
// operands in any order.  One with a branch keeps the first of equals, so its
// order counts.
static bool combines(const struct depend_access *x,
                     const struct depend_access *y)
{
    bool reduces = false;
    if (!x->stage || x->stage != y->stage || x->in_init || y->in_init)
        return false;
    struct ir_stmt *s = (struct ir_stmt *)x->stage;
    for (size_t i = 0; i < s->u.stage.iters.n; i++)
        reduces |= s->u.stage.iters.at[i].is_reduce;
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        reduces &= ir_expr_equal(x->index[i], y->index[i]);
    return reduces && !sched_has(&s->u.stage.body, STMT_if);
}

// Return whether the order of two accesses matters at all.
static bool is_pair(const struct ask *ask, const struct depend_access *x,
                    const struct depend_access *y)
{
    bool ordered = !(x->is_atomic && y->is_atomic) &&
                   !(ask->question.order && combines(x, y));
    return x->buffer == y->buffer && x->writes && (!y->writes || x <= y) &&
           ordered;
}

// Fix the value of every size that is not a number yet; false if the kernel
// takes no such sizes, as far as that can be seen.
static bool choose_sizes(const struct pass *p, int64_t value, struct map *sizes)
{
    struct arena *a = p->scratch;
    const struct ir_conditions *both[] = {&p->kernel->where, &p->kernel->guard};
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        const struct ir_var *var = p->kernel->params.at[i].var;
        if (var && type_is_index(var->type))
            map_set(sizes, var, ir_const_int(a, var->type, value));
    }
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < both[k]->n; i++) {
            if (ir_is_false(ir_substitute(a, both[k]->at[i], sizes, NULL)))
                return false;
        }
    }
    return true;
}

// Append "i = 0, j = 1" for the loops of a path.
static void iteration_text(struct buf *out, const struct domain_path *path,
                           const int64_t *values)
{
    const char *comma = "";
    for (size_t i = 0; i < path->n; i++) {
        const struct ir_stmt *s = path->at[i].stmt;
        if (!s || s->kind != STMT_for)
            continue;
        buf_printf(out, "%s%s = %lld", comma, s->u.loop.var->name,
                   (long long)values[i]);
        comma = ", ";
    }
}

// Append "`C[0, 1]`" for the element that an access touches.
static void element_text(struct buf *out, struct arena *a,
                         const struct depend_access *x, const int64_t *values,
                         struct map *vars)
{
    for (size_t i = 0; i < x->path.n; i++) {
        const struct ir_stmt *s = x->path.at[i].stmt;
        if (s && s->kind == STMT_for)
            map_set(vars, s->u.loop.var, ir_int(a, values[i]));
    }
    buf_printf(out, "`%s", x->buffer->name);
    for (uint32_t i = 0; i < x->buffer->rank; i++) {
        buf_text(out, i ? ", " : "[");
        ir_print_expr(out, ir_substitute(a, x->index[i], vars, NULL));
    }
    buf_text(out, x->buffer->rank ? "]`" : "`");
}

// Return whether an access mentions a size, in its index or its loops.
static bool mentions(const struct depend_access *x, const struct ir_var *var)
{
    bool found = false;
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        found |= ir_mentions(x->index[i], var);
    for (size_t i = 0; i < x->path.n; i++) {
        const struct domain_step *step = &x->path.at[i];
        if (step->condition)
            found |= ir_mentions(step->condition, var);
        else if (step->stmt->kind == STMT_for)
            found |= ir_mentions(step->stmt->u.loop.from, var) ||
                     ir_mentions(step->stmt->u.loop.to, var);
    }
    return found;
}

// Append "with m = 2, n = 2, " for the sizes that two accesses depend on.
static void sizes_text(struct buf *out, const struct ir_kernel *kernel,
                       const struct depend_access *x,
                       const struct depend_access *y, int64_t value)
{
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        if (var && type_is_index(var->type) &&
            (mentions(x, var) || mentions(y, var)))
            buf_printf(out, "%s%s = %lld, ", out->n ? "" : "with ", var->name,
                       (long long)value);
    }
}

// Return an example of a conflict in words, small sizes first; NULL if none
// was found.
static const char *find_example(struct ask *ask, const struct depend_access *x,
                                const struct depend_access *y)
{
    static const int64_t tried[] = {2,  3,  4,  5,  1,   6,   8,    9,
                                    16, 17, 32, 64, 128, 256, 1024, 4096};
    struct pass *p = ask->nest.pass;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct map sizes = {.arena = p->scratch};
        struct buf out = {0};
        if (!choose_sizes(p, tried[i], &sizes))
            continue;
        const int64_t *values =
            depend_sample(&ask->nest, &ask->question, x, y, &sizes);
        if (!values)
            continue;
        sizes_text(&out, p->kernel, x, y, tried[i]);
        buf_text(&out, "the iterations ");
        iteration_text(&out, &x->path, values);
        buf_text(&out, " and ");
        iteration_text(&out, &y->path, values + x->path.n);
        buf_text(&out, " both touch ");
        element_text(&out, p->scratch, x, values, &sizes);
        const char *text = arena_copy(p->scratch, out.data, out.n);
        buf_free(&out);
        return text;
    }
    return NULL;
}

// Return what an access does.
static struct depend_touch touch(const struct depend_access *x)
{
    return (struct depend_touch){x->stmt, x->span, x->writes};
}

// Look for a pair of accesses that meets.  An array is only looked at as a
// whole once two accesses to it do.
static bool find_meeting(struct ask *ask, struct depend_meeting *out)
{
    struct depend_nest *w = &ask->nest;
    for (size_t i = 0; i < w->accesses.n; i++) {
        const struct depend_access *x = &w->accesses.at[i];
        for (size_t j = 0; j < w->accesses.n && x->writes; j++) {
            const struct depend_access *y = &w->accesses.at[j];
            bool is_exact;
            if (!is_pair(ask, x, y) ||
                !depend_meets(w, &ask->question, x, y, &is_exact) ||
                is_free(ask, x->buffer))
                continue;
            *out = (struct depend_meeting){x->buffer->name, touch(x), touch(y),
                                           is_exact, NULL};
            if (ask->with_example)
                out->example = find_example(ask, x, y);
            return true;
        }
    }
    return false;
}

// Walk the nest and look for a meeting.
static bool answer(struct ask *ask, struct pass *p, struct depend_meeting *out)
{
    *out = (struct depend_meeting){0};
    ask->free.arena = p->scratch;
    depend_walk(&ask->nest, p, ask->question.loops[0], ask->question.across);
    if (!ask->nest.scalar.name)
        return find_meeting(ask, out);
    *out = ask->nest.scalar;
    return true;
}

// Return whether a loop runs at most once.
static bool runs_once(const struct ir_stmt *loop)
{
    return ir_is_int_const(loop->u.loop.from, 0) &&
           ir_is_int_const(loop->u.loop.to, 1);
}

bool depend_carried(struct pass *p, struct ir_stmt *loop, enum axis axis,
                    bool with_example, struct depend_meeting *out)
{
    struct ask ask = {.axis = axis, .with_example = with_example};
    *out = (struct depend_meeting){0};
    ask.question = (struct depend_question){
        .loops = &loop, .n = 1, .across = axis_kind(axis) != AXIS_VECTOR};
    return !runs_once(loop) && answer(&ask, p, out);
}

// Return whether two orders of loops differ, those aside that run once.
static bool differs(struct ir_stmt *const *loops, size_t n,
                    struct ir_stmt *const *order)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (runs_once(order[i]))
            continue;
        while (runs_once(loops[at]))
            at++;
        if (loops[at++] != order[i])
            return true;
    }
    return false;
}

bool depend_reordered(struct pass *p, struct ir_stmt *const *loops, size_t n,
                      struct ir_stmt *const *order, bool with_example,
                      struct depend_meeting *out)
{
    struct ask ask = {.with_example = with_example};
    *out = (struct depend_meeting){0};
    ask.question =
        (struct depend_question){.loops = loops, .n = n, .order = order};
    return differs(loops, n, order) && answer(&ask, p, out);
}

bool depend_uncovered(struct pass *p, const struct ir_buffer *array,
                      struct ir_stmt *loop, struct depend_meeting *out)
{
    struct depend_nest nest;
    struct depend_question q = {.loops = &loop, .n = 1};
    *out = (struct depend_meeting){0};
    depend_walk(&nest, p, loop, false);
    for (size_t i = 0; i < nest.accesses.n; i++) {
        const struct depend_access *x = &nest.accesses.at[i];
        if (x->buffer != array || x->writes || depend_is_covered(&nest, &q, x))
            continue;
        *out = (struct depend_meeting){array->name, touch(x), touch(x), false,
                                       NULL};
        return true;
    }
    return false;
}
