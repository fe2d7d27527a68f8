// Loop nests: finding, naming, making and replacing loops.

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/text.h"

#include <string.h>

const char *sched_name_of(const struct ir_stmt *s)
{
    if (s->kind == STMT_for)
        return s->u.loop.var->name;
    if (s->kind == STMT_stage)
        return s->u.stage.name;
    return s->kind == STMT_store ? s->u.store.buffer->name : stmt_name(s->kind);
}

struct ir_path sched_path(struct pass *p, const struct ir_stmt *s)
{
    struct ir_path path = {0};
    ir_find(p->scratch, &p->kernel->body, s, &path);
    return path;
}

struct ir_block sched_loops(struct pass *p, const struct ir_stmt *s)
{
    struct ir_block loops = {0};
    struct ir_path path = sched_path(p, s);
    for (uint32_t i = 0; i < path.n; i++)
        if (path.stmts[i]->kind == STMT_for)
            ir_append(p->scratch, &loops, path.stmts[i]);
    return loops;
}

struct ir_stmt *sched_innermost(struct ir_stmt *loop)
{
    while (loop->kind == STMT_for && loop->u.loop.body.n == 1)
        loop = loop->u.loop.body.at[0];
    return loop;
}

// Return whether a loop of a nest has that name.
static bool is_taken(const struct ir_stmt *nest, const char *name)
{
    ir_foreach_stmt_from(s, nest)
        if (s->kind == STMT_for && strcmp(s->u.loop.var->name, name) == 0)
            return true;
    return false;
}

struct ir_var *sched_new_var(struct pass *p, const struct ir_stmt *near,
                             const char *name, struct span span)
{
    struct ir_path path = sched_path(p, near);
    const char *free = name;
    for (int k = 1; is_taken(path.stmts[0], free); k++)
        free = arena_printf(p->scratch, "%s_%d", name, k);
    return ir_var_new(p->arena, str_name(p->names, free), type_scalar(TYPE_int),
                      VAR_loop, span);
}

bool sched_is_among(const struct ir_stmt *s, struct ir_stmt *const *all,
                    size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i] == s)
            return true;
    return false;
}

struct sched_place sched_place_of(struct pass *p, const struct ir_stmt *s,
                                  bool behind)
{
    struct sched_place place = {0};
    struct ir_path path = sched_path(p, s);
    struct ir_block loops = sched_loops(p, s);
    place.block = path.blocks[path.n - 1];
    place.at = path.index[path.n - 1] + behind;
    place.around = loops.at;
    place.n = loops.n - (s->kind == STMT_for);
    return place;
}

void sched_replace(struct pass *p, const struct ir_stmt *old,
                   struct ir_stmt *new)
{
    struct ir_path path = sched_path(p, old);
    path.blocks[path.n - 1]->at[path.index[path.n - 1]] = new;
}

struct ir_stmt *sched_new_loop(struct pass *p, struct ir_var *var,
                               struct ir_expr *extent, struct span span)
{
    struct ir_stmt *s = ir_stmt_for(p->arena, var, ir_int(p->arena, 0), extent,
                                    ir_int(p->arena, 1), AXIS_serial);
    s->span = span;
    return s;
}

// Put a number together again whose parts stand in their places:
// p / b * (b * w) + p % b * w is p * w.
static struct ir_expr *join_parts(struct arena *a, struct ir_expr *x,
                                  void *context)
{
    (void)context;
    if (x->op != OP_add || x->args[0]->op != OP_mul)
        return x;
    const struct ir_expr *high = x->args[0], *low = x->args[1];
    struct ir_expr *scale = low->op == OP_mul ? low->args[1] : NULL;
    const struct ir_expr *div = high->args[0];
    const struct ir_expr *mod = scale ? low->args[0] : low;
    if (div->op != OP_div || mod->op != OP_mod || !ir_is_stable(mod) ||
        !ir_expr_equal(div->args[0], mod->args[0]) ||
        !ir_expr_equal(div->args[1], mod->args[1]))
        return x;
    struct ir_expr *by = mod->args[1], *number = mod->args[0];
    struct ir_expr *weight = scale ? ir_mul(a, by, scale) : by;
    if (!ir_expr_equal(high->args[1], weight))
        return x;
    return scale ? ir_mul(a, number, scale) : number;
}

void sched_renumber(struct pass *p, struct ir_stmt *loop,
                    struct ir_expr *number)
{
    const struct ir_for *f = &loop->u.loop;
    struct ir_expr *value =
        ir_add(p->arena, f->from, ir_mul(p->arena, number, f->step));
    ir_replace_in(p->arena, &loop->u.loop.body, f->var, value);
    ir_rewrite_in(p->arena, &loop->u.loop.body, join_parts, NULL);
}

// Return whether a statement only holds other ones together.
static bool is_frame(const struct ir_stmt *s)
{
    return s->kind == STMT_for || s->kind == STMT_stage ||
           s->kind == STMT_alloc;
}

// Return whether every statement below a block that does something is inside
// of a stage.
static bool is_staged(struct ir_block *block)
{
    vec_foreach_value(s, block)
        if (!is_frame(s) ||
            (s->kind == STMT_for && !is_staged(&s->u.loop.body)))
            return false;
    return true;
}

// Let a stage run only where the condition holds, too.
static void guard_stage(struct pass *p, struct ir_stage *stage,
                        struct ir_expr *condition)
{
    struct ir_expr *old = stage->predicate;
    stage->predicate =
        old ? ir_binary(p->arena, OP_and, old, condition) : condition;
}

// Put the statements of a block into an `if`.
static void guard_all(struct pass *p, struct ir_block *block,
                      struct ir_expr *condition)
{
    struct ir_stmt *s = ir_stmt_if(p->arena, condition);
    s->span = block->n ? block->at[0]->span : condition->span;
    ir_enclose(p->arena, block, s, &s->u.branch.then);
}

// Return whether the bounds of a loop mention a loop variable of a condition.
static bool depends_on(const struct ir_for *loop,
                       const struct ir_expr *condition)
{
    ir_foreach_expr(x, condition)
        if (x->op == OP_var && x->u.var->kind == VAR_loop &&
            ir_for_mentions(loop, x->u.var))
            return true;
    return false;
}

// Return whether a condition can be tested inside of the loops of a block
// instead of around them: in stages, or where their bounds have a value in any
// case.
static bool can_sink(struct ir_block *block, struct ir_expr *condition)
{
    if (is_staged(block))
        return true;
    return block->n == 1 && block->at[0]->kind == STMT_for &&
           !depends_on(&block->at[0]->u.loop, condition);
}

// Let a loop run only where the condition holds, if its end is read at what
// the condition is about: elsewhere there may be no such element.
static void guard_end(struct pass *p, struct ir_for *loop,
                      struct ir_expr *condition)
{
    if ((ir_flags(loop->to) & OP_READS) && depends_on(loop, condition))
        loop->to = ir_select(p->arena, condition, loop->to, loop->from);
}

void sched_guard(struct pass *p, struct ir_block *block,
                 struct ir_expr *condition)
{
    if (!can_sink(block, condition)) {
        guard_all(p, block, condition);
        return;
    }
    vec_foreach_value(s, block) {
        if (s->kind == STMT_stage)
            guard_stage(p, &s->u.stage, condition);
        if (s->kind != STMT_for)
            continue;
        guard_end(p, &s->u.loop, condition);
        sched_guard(p, &s->u.loop.body, condition);
    }
}

// Add the nest around the first marked statement to the newest error.
static void note_nest(struct pass *p, struct ir_stmt *const *marked, size_t n,
                      const char *note)
{
    struct ir_path path = sched_path(p, marked[0]);
    struct buf text = {0};
    if (!path.n)
        return;
    ir_print_nest(&text, ir_alone(path.stmts[0]),
                  (const struct ir_stmt *const *)marked, n, note);
    diag_note(p->diags, (struct span){0}, "the loops at this point\n%s",
              text.data ? text.data : "");
    buf_free(&text);
}

bool sched_blame(const struct sched_call *c, struct ir_stmt *const *marked,
                 size_t n, const char *note)
{
    struct span last = {0};
    if (c->pass->diags->is_brief)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct span span = marked[i]->span;
        bool again = span.source == last.source && span.from == last.from;
        if (span.source && !again)
            diag_note(c->pass->diags, span, "`%s` is here",
                      sched_name_of(marked[i]));
        last = span;
    }
    note_nest(c->pass, marked, n, note);
    return false;
}

bool sched_blame_one(const struct sched_call *c, struct ir_stmt *marked,
                     const char *note)
{
    return sched_blame(c, &marked, 1, note);
}

void sched_remove(struct pass *p, const struct ir_stmt *s)
{
    struct ir_path path = sched_path(p, s);
    for (uint32_t i = path.n; i-- > 0;) {
        struct ir_block *block = path.blocks[i];
        ir_splice(p->arena, block, path.index[i], &(struct ir_block){0});
        if (block->n || i == 0 || path.stmts[i - 1]->kind != STMT_for)
            return;
    }
}

bool sched_is_bound(struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_launch ||
            (s->kind == STMT_for && axis_kind(s->u.loop.axis) >= AXIS_BLOCK))
            return true;
    return false;
}

bool sched_is_unscheduled(const struct ir_stage *stage,
                          struct ir_stmt *const *loops, size_t n)
{
    if (stage->iters.n != n || stage->predicate)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct ir_expr *x = stage->iters.at[i].binding;
        const struct ir_for *f = &loops[i]->u.loop;
        if (x->op != OP_var || x->u.var != f->var || !ir_for_counts(f) ||
            !ir_expr_equal(f->to, stage->iters.at[i].extent))
            return false;
    }
    return true;
}

bool sched_is_own_index(const struct ir_stage *stage, uint32_t n,
                        struct ir_expr *const *index)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_expr *x = index[i];
        if (x->op != OP_var || x->u.var != stage->iters.at[i].var)
            return false;
    }
    return true;
}
