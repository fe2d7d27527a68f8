// peel: peels full tiles and full iterations of serial loops, whose guards are
// always true.
//
//   for b in 0..ceildiv(n, 64) @block.x {       if b * 64 + 63 < n {
//     for t in 0..64 @thread.x {                  for t { for k in 0..K / 8 {
//       for k in 0..ceildiv(K, 8) {                 for v { ... }
//         for v in 0..8 {                =>         }
//           if b * 64 + t < n &&                    if K / 8 < ceildiv(K, 8) {
//              k * 8 + v < K { ... }                  for v { if K / 8 * 8 + v
//         }                                             < K { ... } }
//       }                                           }
//     }                                           }
//   }                                           } else { as before }
//
// The body of the innermost loop over blocks gets a version without guards if
// that saves each thread many tests. Serial loops get one iteration, or a loop,
// of their own for the tail. The choice of the version is the same for all
// threads of a block, so barriers can be derived inside. A program that has
// barriers of its own keeps exactly those, and is not changed. Arrays in shared
// memory are declared once, in front.

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/marks.h"
#include "ir/walk.h"
#include "passes/analysis/uniform.h"
#include "passes/lower/guards.h"
#include "passes/opt/fold.h"
#include "passes/pass.h"

enum {
    STATEMENTS_MOST = 256, // that are copied at a time
    REPEATS_LEAST = 4,     // of a condition that is worth a version
    ITERATIONS_LEAST = 4,  // of a loop that is cut
};

// The state of the walk.
struct tails {
    struct pass *p;
    struct facts facts;
    struct uniform uniform;
    bool changed;
};

// Return whether a block may be copied.
static bool may_copy(struct ir_block *block)
{
    int n = 0;
    ir_foreach_stmt(s, block)
        if (++n > STATEMENTS_MOST || ir_is_meeting(s) ||
            (s->kind == STMT_sync && s->u.sync.kind == SYNC_grid))
            return false;
    return true;
}

// Take the declarations of arrays in shared memory out of a block and below.
static void take_shared(struct tails *t, struct ir_block *block,
                        struct ir_block *out)
{
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        ir_foreach_block(inner, s)
            take_shared(t, inner, out);
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared) {
            ir_append(t->p->arena, out, s);
            ir_splice(t->p->arena, block, i, &(struct ir_block){0});
        } else {
            i++;
        }
    }
}

// Return the condition that all bounds are at least 0.
static struct ir_expr *condition_of(struct tails *t,
                                    const struct uniform_bounds *bounds)
{
    struct arena *a = t->p->arena;
    struct ir_expr *r = ir_bool(a, true);
    for (size_t i = 0; i < bounds->n; i++) {
        struct ir_expr *c = fold_condition(a, &bounds->at[i]);
        r = ir_binary(a, OP_and, r, c);
    }
    return r;
}

// Keep the bounds that are defined here, where the conditions inside cannot be
// evaluated.
static void keep_total(struct tails *t, struct uniform_bounds *bounds)
{
    size_t kept = 0;
    vec_foreach(x, bounds) {
        bool is_total = true;
        for (size_t k = 0; k < x->terms.n; k++)
            for (uint32_t j = 0; j < x->terms.at[k].n; j++)
                is_total &= facts_is_total(&t->facts, x->terms.at[k].atoms[j]);
        if (is_total)
            bounds->at[kept++] = *x;
    }
    bounds->n = kept;
}

// Return whether some bound cannot be at least 0 where those before it are.
static bool are_never(struct tails *t, const struct uniform_bounds *bounds)
{
    struct facts_mark here = facts_mark(&t->facts);
    struct affine one = affine_number(1), none = affine_number(0);
    bool never = false;
    vec_foreach(x, bounds) {
        struct affine above = affine_add(t->p->scratch, x, 1, &one);
        struct affine below = affine_add(t->p->scratch, &none, -1, &above);
        never |= facts_nonnegative(&t->facts, &below);
        facts_assume(&t->facts, fold_condition(t->p->scratch, x), true);
    }
    facts_leave(&t->facts, here);
    return never;
}

// Let the body of a loop over blocks choose between two versions; returns the
// inner one, or the body if there is no choice.
static struct ir_block *choose(struct tails *t, struct ir_stmt *loop)
{
    struct arena *a = t->p->arena;
    struct ir_block *body = &loop->u.loop.body, out = {0};
    int64_t repeats;
    struct uniform_bounds bounds =
        uniform_find(&t->uniform, body, NULL, &repeats);
    keep_total(t, &bounds);
    if (!bounds.n || repeats < REPEATS_LEAST || are_never(t, &bounds) ||
        !may_copy(body))
        return body;
    struct ir_stmt *s = ir_stmt_if(a, condition_of(t, &bounds));
    ir_stmt_from(s, loop);
    take_shared(t, body, &out);
    s->u.branch.otherwise = ir_copy_block(a, body, NULL, NULL);
    s->u.branch.then = *body;
    uniform_drop(&t->uniform, &s->u.branch.then, &bounds);
    ir_append(a, &out, s);
    *body = out;
    facts_assume(&t->facts, s->u.branch.cond, true);
    t->changed = true;
    return &s->u.branch.then;
}

// A serial loop being cut.
struct cut {
    struct ir_stmt *loop;
    struct uniform_bounds bounds;
    struct ir_expr *end; // of the inner iterations
    bool once;           // at most one is left
    bool is_short;       // `end` is at most that of the loop
};

// Return how many iterations, from 0, a bound allows: at most 0 if none.
static struct affine allowed(struct tails *t, const struct cut *c,
                             const struct affine *bound, int64_t *by)
{
    struct affine rest, number;
    int64_t factor = 0;
    affine_linear(t->p->scratch, bound, c->loop->u.loop.var, &factor, &rest);
    *by = -factor;
    number = affine_number(-factor);
    return affine_add(t->p->scratch, &rest, 1, &number);
}

// Note what is known of the end of the inner iterations, x / by.
static void compare_end(struct tails *t, struct cut *c, const struct affine *x,
                        int64_t by)
{
    struct ir_expr *to = c->loop->u.loop.to;
    int64_t n, end;
    if (ir_int_value(c->end, &end) && ir_int_value(to, &n)) {
        c->is_short = end <= n;
        c->once = end >= n - 1;
    } else if (to->op == OP_ceildiv && ir_is_int_const(to->args[1], by)) {
        struct affine whole = affine_of(t->p->scratch, to->args[0]);
        struct affine d = affine_add(t->p->scratch, &whole, -1, x);
        c->is_short = affine_is_number(&d) && d.constant >= 0;
        c->once = affine_is_number(&d) && d.constant == 0;
    }
}

// Find where the inner iterations end; false if that is nowhere, or if more
// than one would be left of a loop that counts to a number.
static bool find_end(struct tails *t, struct cut *c)
{
    struct arena *a = t->p->arena;
    struct ir_expr *zero = ir_int(a, 0);
    int64_t by, n;
    for (size_t i = 0; i < c->bounds.n; i++) {
        struct affine x = allowed(t, c, &c->bounds.at[i], &by);
        struct ir_expr *end = affine_expr(a, &x, zero->type);
        if (x.failed)
            return false;
        bool is_natural = facts_nonnegative(&t->facts, &x);
        end = ir_binary(a, OP_div, end, ir_int(a, by));
        if (!is_natural)
            end = ir_binary(a, OP_max, end, zero);
        c->end = c->end ? ir_binary(a, OP_min, c->end, end) : end;
        if (c->bounds.n == 1 && is_natural)
            compare_end(t, c, &x, by);
    }
    if (!c->is_short)
        c->end = ir_binary(a, OP_min, c->end, c->loop->u.loop.to);
    if (ir_is_const(c->loop->u.loop.to) && !c->once)
        return false;
    return !ir_int_value(c->end, &n) || n > 1;
}

// Return whether a loop counts from 0 to the same number in all threads, and
// is worth a cut.
static bool may_cut(struct tails *t, const struct ir_stmt *s)
{
    const struct ir_for *loop = &s->u.loop;
    int64_t n = INT64_MAX;
    if (s->kind != STMT_for || loop->axis != AXIS_serial ||
        ir_attr_get(s, MARK_dp4a))
        return false;
    ir_int_value(loop->to, &n);
    return ir_for_counts(loop) && n >= ITERATIONS_LEAST &&
           uniform_is(&t->uniform, loop->to);
}

// Return the iterations from the end of the inner ones on.
static struct ir_block rest_of(struct tails *t, const struct cut *c)
{
    struct arena *a = t->p->arena;
    const struct ir_for *loop = &c->loop->u.loop;
    struct map vars = {.arena = t->p->scratch};
    struct ir_block rest = {0};
    struct ir_stmt *s;
    if (c->once) {
        s = ir_stmt_if(a, ir_binary(a, OP_lt, c->end, loop->to));
        s->u.branch.then = loop->body;
        map_set(&vars, loop->var, c->end);
    } else {
        s = ir_stmt_for(a, loop->var, c->end, loop->to, loop->step, loop->axis);
        s->u.loop.attrs = loop->attrs;
        s->u.loop.body = loop->body;
    }
    ir_append(a, &rest, ir_stmt_from(s, c->loop));
    rest = ir_copy_block(a, &rest, &vars, NULL);
    return c->once && ir_is_true(s->u.branch.cond) ? rest.at[0]->u.branch.then
                                                   : rest;
}

// Give the end a name if it is long.
static void name_end(struct tails *t, struct cut *c, struct ir_block *out)
{
    if (ir_is_const(c->end) || c->end->op == OP_div)
        return;
    struct arena *a = t->p->arena;
    const struct ir_var *var = c->loop->u.loop.var;
    const char *text = arena_printf(t->p->scratch, "%s_end", var->name);
    struct ir_var *end = ir_var_new(a, str_name(t->p->names, text),
                                    c->end->type, VAR_let, var->span);
    struct ir_stmt *let = ir_stmt_let(a, end, c->end);
    ir_append(a, out, ir_stmt_from(let, c->loop));
    uniform_enter(&t->uniform, let);
    c->end = ir_read(a, end);
}

// What came in the place of a loop.
struct parts {
    size_t inner; // number of the statement with the inner iterations
    size_t n;     // statements
};

// Cut a loop in two.
static struct parts cut(struct tails *t, struct ir_block *block, size_t at)
{
    struct cut c = {.loop = block->at[at]};
    struct parts parts = {0, 1};
    struct ir_for *loop = &c.loop->u.loop;
    struct uniform_mark here = uniform_mark(&t->uniform);
    struct ir_block out = {0};
    int64_t repeats;
    if (!may_cut(t, c.loop) || !may_copy(&loop->body))
        return parts;
    uniform_enter(&t->uniform, c.loop);
    vec_push(t->p->scratch, &t->uniform.vars, loop->var);
    c.bounds = uniform_find(&t->uniform, &loop->body, loop->var, &repeats);
    uniform_leave(&t->uniform, here);
    keep_total(t, &c.bounds);
    if (c.bounds.n > 0 && find_end(t, &c)) {
        take_shared(t, &loop->body, &out);
        name_end(t, &c, &out);
        struct ir_block rest = rest_of(t, &c);
        uniform_enter(&t->uniform, c.loop);
        vec_push(t->p->scratch, &t->uniform.vars, loop->var);
        uniform_drop(&t->uniform, &loop->body, &c.bounds);
        loop->to = c.end;
        parts.inner = out.n;
        ir_append(t->p->arena, &out, c.loop);
        ir_append_all(t->p->arena, &out, &rest);
        parts.n = out.n;
        ir_splice(t->p->arena, block, at, &out);
        t->changed = true;
    }
    uniform_leave(&t->uniform, here);
    return parts;
}

// Return whether a loop's variable is the same in all threads of a block.
static bool is_common(struct tails *t, const struct ir_for *loop)
{
    enum axis_kind kind = axis_kind(loop->axis);
    return kind != AXIS_THREAD && kind != AXIS_VECTOR &&
           uniform_is(&t->uniform, loop->from) &&
           uniform_is(&t->uniform, loop->step);
}

// Return whether a statement is an innermost loop over blocks.
static bool is_innermost_grid(struct ir_stmt *s)
{
    if (!ir_is_over(s, AXIS_BLOCK))
        return false;
    ir_foreach_stmt(t, &s->u.loop.body)
        if (ir_is_over(t, AXIS_BLOCK))
            return false;
    return true;
}

static void walk(struct tails *t, struct ir_block *block, bool in_grid);

// Walk what is inside a statement.
static void walk_inside(struct tails *t, struct ir_stmt *s, bool in_grid)
{
    struct ir_block *inside[IR_BLOCKS_MOST];
    bool is_grid = is_innermost_grid(s);
    bool common = s->kind == STMT_for && is_common(t, &s->u.loop);
    if (common)
        vec_push(t->p->scratch, &t->uniform.vars, s->u.loop.var);
    uint32_t n = ir_stmt_blocks(s, inside);
    if (is_grid)
        inside[0] = choose(t, s);
    for (uint32_t k = 0; k < n; k++)
        walk(t, inside[k], in_grid || is_grid);
}

// Walk the statements of a block; inside the loops over blocks serial loops
// are cut.
static void walk(struct tails *t, struct ir_block *block, bool in_grid)
{
    struct uniform_mark here = uniform_mark(&t->uniform);
    for (size_t i = 0; i < block->n; i++) {
        struct parts parts = {0, 1};
        if (in_grid)
            parts = cut(t, block, i);
        struct uniform_mark before = uniform_mark(&t->uniform);
        struct ir_stmt *s = block->at[i + parts.inner];
        uniform_enter(&t->uniform, s);
        walk_inside(t, s, in_grid);
        if (s->kind != STMT_let)
            uniform_leave(&t->uniform, before);
        i += parts.n - 1;
    }
    uniform_leave(&t->uniform, here);
}

enum pass_result pass_peel(struct pass *p)
{
    struct tails t = {.p = p};
    facts_start(&t.facts, p->scratch, p->kernel);
    t.uniform = (struct uniform){.arena = p->arena, .scratch = p->scratch};
    t.uniform.facts = &t.facts;
    t.uniform.values.arena = p->scratch;
    walk(&t, &p->kernel->body, false);
    if (t.changed)
        guards_move(p, &p->kernel->body);
    return t.changed ? PASS_CHANGED : PASS_SAME;
}
