// Walks a nest and notes every element that it reads or writes, and under
// which loops and conditions.

#include "passes/schedule/depend/access.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

static void walk_block(struct depend_nest *w, struct ir_block *block);

// Step under a condition, or into a statement's scope.  Returns how deep the walk
// was.
static size_t enter(struct depend_nest *w, const struct ir_stmt *s,
                    struct ir_expr *condition, bool holds)
{
    size_t depth = w->path.n;
    struct domain_step step = {s, condition, holds};
    if (s || condition)
        vec_push(w->pass->scratch, &w->path, step);
    return depth;
}

// Step out again.
static void leave(struct depend_nest *w, size_t depth)
{
    w->path.n = depth;
}

// Return a copy of the path to the place being walked.
static struct domain_path copy_path(const struct depend_nest *w)
{
    struct domain_path path = {0};
    vec_append(w->pass->scratch, &path, &w->path);
    return path;
}

// Remember an access to an array that outlives an iteration.
static void add_access(struct depend_nest *w, const struct ir_buffer *buffer,
                       struct ir_expr **index, struct span span, bool writes,
                       bool is_atomic)
{
    struct depend_access x = {.buffer = buffer, .stmt = w->stmt};
    if (map_has(&w->inner, buffer))
        return;
    x.stage = w->stage;
    x.in_init = w->in_init;
    x.span = span.source ? span : w->stmt->span;
    x.writes = writes;
    x.is_atomic = is_atomic;
    x.index = index;
    x.path = copy_path(w);
    x.reading = arena_new(w->pass->scratch, struct depend_reading);
    vec_push(w->pass->scratch, &w->accesses, x);
}

// Remember what an expression in terms of loops accesses; lazy operands are
// under their condition.
static void add_accesses(struct depend_nest *w, struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    for (uint32_t i = 0; i < x->n; i++) {
        bool holds = x->op == OP_and || (x->op == OP_select && i == 1);
        bool is_lazy = (info->flags & OP_LAZY) && i > 0;
        size_t here = enter(w, NULL, is_lazy ? x->args[0] : NULL, holds);
        add_accesses(w, x->args[i]);
        leave(w, here);
    }
    bool writes = info->flags & OP_WRITES;
    if (info->flags & (OP_READS | OP_WRITES))
        add_access(w, x->u.buffer, x->args, x->span, writes, writes);
}

// Return an expression in terms of loops, after noting what it reads.
static struct ir_expr *walk_expr(struct depend_nest *w, struct ir_expr *x)
{
    x = ir_substitute(w->pass->scratch, x, &w->values, NULL);
    add_accesses(w, x);
    return x;
}

// Declare a variable inside the loops.
static void declare(struct depend_nest *w, struct ir_var *var)
{
    map_set(&w->varying, var, var);
    map_set(&w->inner, var, var);
}

// Walk a loop.
static void walk_loop(struct depend_nest *w, struct ir_stmt *s)
{
    walk_expr(w, s->u.loop.from);
    walk_expr(w, s->u.loop.to);
    declare(w, s->u.loop.var);
    size_t here = enter(w, s, NULL, false);
    walk_block(w, &s->u.loop.body);
    leave(w, here);
}

// Walk a block behind a condition, which may be NULL.
static void walk_guarded(struct depend_nest *w, struct ir_expr *condition,
                         bool holds, struct ir_block *block)
{
    size_t here = enter(w, NULL, condition, holds);
    walk_block(w, block);
    leave(w, here);
}

// Walk the init of a stage: it runs where every reduction variable is 0.
static void walk_init(struct depend_nest *w, struct ir_stage *stage)
{
    struct arena *a = w->pass->scratch;
    struct ir_expr *first = ir_bool(a, true);
    vec_foreach(it, &stage->iters) {
        struct ir_expr *value = map_get(&w->values, it->var);
        if (it->is_reduce)
            first = ir_binary(a, OP_and, first,
                              ir_binary(a, OP_eq, value, ir_int(a, 0)));
    }
    w->in_init = true;
    walk_guarded(w, first, true, &stage->init);
    w->in_init = false;
}

// Walk a stage: its iteration variables stand for their bindings.
static void walk_stage(struct depend_nest *w, struct ir_stmt *s)
{
    struct ir_stage *stage = &s->u.stage;
    struct ir_expr *predicate = stage->predicate;
    w->stage = s;
    vec_foreach(it, &stage->iters)
        map_set(&w->values, it->var, walk_expr(w, it->binding));
    if (predicate)
        predicate = walk_expr(w, predicate);
    size_t here = enter(w, s, NULL, false);
    enter(w, NULL, predicate, true);
    walk_init(w, stage);
    walk_block(w, &stage->body);
    leave(w, here);
    w->stage = NULL;
}

// Walk a `let`, which stands for its value, or a `var`, which does not.
static void walk_let(struct depend_nest *w, struct ir_stmt *s)
{
    struct ir_expr *value = walk_expr(w, s->u.let.value);
    declare(w, s->u.let.var);
    if (s->kind != STMT_let)
        return;
    map_set(&w->values, s->u.let.var, value);
    enter(w, s, NULL, false);
}

// Note something outside of the loops that each iteration changes.
static void note_scalar(struct depend_nest *w, const struct ir_stmt *s,
                        const char *name)
{
    if (!w->scalar.name)
        w->scalar = (struct depend_conflict){.name = name,
                                             .first = {s, s->span, true},
                                             .second = {s, s->span, true},
                                             .is_exact = true};
}

// Walk an assignment.
static void walk_assign(struct depend_nest *w, struct ir_stmt *s)
{
    walk_expr(w, s->u.let.value);
    if (!map_has(&w->inner, s->u.let.var))
        note_scalar(w, s, s->u.let.var->name);
}

// Walk a store, which reads before it writes.
static void walk_store(struct depend_nest *w, struct ir_stmt *s)
{
    uint32_t n = s->u.store.n;
    struct ir_expr **index =
        arena_array(w->pass->scratch, struct ir_expr *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        index[i] = walk_expr(w, s->u.store.index[i]);
    walk_expr(w, s->u.store.value);
    add_access(w, s->u.store.buffer, index, s->span, true, false);
}

// Walk a branch.
static void walk_branch(struct depend_nest *w, struct ir_stmt *s)
{
    struct ir_expr *condition = walk_expr(w, s->u.branch.cond);
    walk_guarded(w, condition, true, &s->u.branch.then);
    walk_guarded(w, condition, false, &s->u.branch.otherwise);
}

// An array that is declared inside belongs to one iteration, unless it is in
// shared memory and the iterations become threads.
static void walk_alloc(struct depend_nest *w, const struct ir_buffer *array)
{
    if (array->space != SPACE_shared || !w->on_threads)
        map_set(&w->inner, array, w);
}

// Walk what is neither a store nor holds statements: each iteration may change
// all that it writes outside of the loops.
static void walk_other(struct depend_nest *w, struct ir_stmt *s)
{
    struct ir_access own[IR_ACCESSES_MOST];
    uint32_t n = ir_accesses(s, own);
    for (uint32_t i = 0; i < n; i++)
        if (own[i].flags & ACCESS_writes && !map_has(&w->inner, own[i].buffer))
            note_scalar(w, s, own[i].buffer->name);
}

// Walk the values of a print.
static void walk_print(struct depend_nest *w, struct ir_stmt *s)
{
    for (uint32_t i = 0; i < s->u.print.n; i++)
        walk_expr(w, s->u.print.values[i]);
}

// Walk a statement.
static void walk_stmt(struct depend_nest *w, struct ir_stmt *s)
{
    s = ir_at_once(w->pass->scratch, s);
    w->stmt = s;
    switch ((int)s->kind) {
    case STMT_for: walk_loop(w, s); break;
    case STMT_if: walk_branch(w, s); break;
    case STMT_let: walk_let(w, s); break;
    case STMT_var: walk_let(w, s); break;
    case STMT_assign: walk_assign(w, s); break;
    case STMT_store: walk_store(w, s); break;
    case STMT_eval: walk_expr(w, s->u.value); break;
    case STMT_print: walk_print(w, s); break;
    case STMT_alloc: walk_alloc(w, s->u.buffer); break;
    case STMT_stage: walk_stage(w, s); break;
    default: walk_other(w, s);
    }
}

// Walk the statements of a block, out of which no `let` reaches.
static void walk_block(struct depend_nest *w, struct ir_block *block)
{
    size_t here = enter(w, NULL, NULL, false);
    for (size_t i = 0; i < block->n; i++)
        walk_stmt(w, block->at[i]);
    leave(w, here);
}

// Learn the lets in front of statement `n` of a block around the nest.
static void enter_lets(struct depend_nest *w, const struct ir_block *block,
                       size_t n)
{
    struct arena *a = w->pass->scratch;
    for (size_t i = 0; i < n; i++) {
        struct ir_stmt *s = block->at[i];
        if (s->kind == STMT_var)
            map_set(&w->varying, s->u.let.var, s);
        if (s->kind != STMT_let)
            continue;
        map_set(&w->values, s->u.let.var,
                ir_substitute(a, s->u.let.value, &w->values, NULL));
        enter(w, s, NULL, false);
    }
}

// Step into a statement around the nest, of which `next` holds the nest.
static void enter_around(struct depend_nest *w, struct ir_stmt *s,
                         const struct ir_block *next, bool across)
{
    if (s->kind == STMT_if) {
        struct ir_expr *c =
            ir_substitute(w->pass->scratch, s->u.branch.cond, &w->values, NULL);
        enter(w, NULL, c, next == &s->u.branch.then);
    } else if (s->kind == STMT_for) {
        enum axis_kind kind = axis_kind(s->u.loop.axis);
        if (across && kind != AXIS_BLOCK && kind != AXIS_THREAD)
            map_set(&w->varying, s->u.loop.var, s);
        enter(w, s, NULL, false);
    }
}

// Step under a guard. What it says of the number of SMs says nothing of the
// order of iterations, and takes isl long.
static void enter_guard(struct depend_nest *w, struct ir_expr *x)
{
    if (x->op == OP_and) {
        enter_guard(w, x->args[0]);
        enter_guard(w, x->args[1]);
    } else if (!ir_asks_for_sms(x)) {
        enter(w, NULL, x, true);
    }
}

// Start a walk under the kernel's guard.
static void start(struct depend_nest *w, struct pass *p)
{
    *w = (struct depend_nest){.pass = p};
    w->values.arena = w->varying.arena = w->inner.arena = p->scratch;
    for (size_t i = 0; i < p->kernel->guard.n; i++)
        enter_guard(w, p->kernel->guard.at[i]);
}

// Return whether two steps are the same one.
static bool is_same(const struct domain_step *x, const struct domain_step *y)
{
    return x->stmt == y->stmt && x->condition == y->condition &&
           x->holds == y->holds;
}

// Learn what holds behind the first `n` steps of a path: what they share with the
// last path that was asked about is known.  Of a stage there is nothing to learn, as
// indices are in terms of loops.
static void go_to(struct depend_nest *w, const struct domain_path *path,
                  size_t n)
{
    struct arena *a = w->pass->scratch;
    size_t known = 0;
    if (!w->facts.arena)
        facts_start(&w->facts, a, w->pass->kernel);
    while (known < n && known < w->entered.n &&
           is_same(&w->entered.at[known], &path->at[known]))
        known++;
    if (known < w->entered.n)
        facts_leave(&w->facts, w->marks.at[known]);
    w->entered.n = w->marks.n = known;
    for (size_t i = known; i < n; i++) {
        const struct domain_step *step = &path->at[i];
        vec_push(a, &w->marks, facts_mark(&w->facts));
        vec_push(a, &w->entered, *step);
        if (step->stmt && step->stmt->kind != STMT_stage)
            facts_enter(&w->facts, step->stmt);
        else if (step->condition)
            facts_assume(&w->facts, step->condition, step->holds);
    }
}

const struct facts *depend_facts_around(struct depend_nest *w,
                                        const struct depend_access *x)
{
    go_to(w, &x->path, w->outer);
    return &w->facts;
}

const struct facts *depend_facts_at(struct depend_nest *w,
                                    const struct depend_access *x)
{
    go_to(w, &x->path, x->path.n);
    if (!w->noted || !facts_are_same(&w->facts, w->noted))
        w->noted = facts_copy(&w->facts);
    return w->noted;
}

void depend_walk_all(struct depend_nest *w, struct pass *p)
{
    start(w, p);
    w->outer = w->path.n;
    for (size_t i = 0; i < p->kernel->body.n; i++)
        if (p->kernel->body.at[i]->kind != STMT_alloc)
            walk_stmt(w, p->kernel->body.at[i]);
}

void depend_walk(struct depend_nest *w, struct pass *p, struct ir_stmt *loop,
                 enum axis axis, bool across)
{
    struct ir_path path = {0};
    start(w, p);
    w->on_threads = axis_kind(axis) == AXIS_THREAD;
    w->top = loop;
    ir_find(p->scratch, &p->kernel->body, loop, &path);
    for (uint32_t i = 0; i < path.n; i++) {
        enter_lets(w, path.blocks[i], path.index[i]);
        if (i + 1 < path.n)
            enter_around(w, path.stmts[i], path.blocks[i + 1], across);
    }
    if (path.n)
        w->top = path.stmts[0];
    w->outer = w->path.n;
    walk_stmt(w, loop);
}
