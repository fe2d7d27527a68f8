// relax_fragments: drops the guards of stages that only write elements of fragments
// which do not exist where the guard does not hold.
//
//   alloc e: f32[64, 64] in fragment           alloc e: f32[64, 64] in fragment
//   for x in 0..64 { for y in 0..64 {          for x in 0..64 { for y in 0..64 {
//     stage e(i in M = b * 64 + x,               stage e(i in ceildiv(M, 64) * 64 =
//             j in 64 = y)                =>             b * 64 + x, j in 64 = y) {
//         if b * 64 + x < M {                      e[x, y] = exp(s[x, y] - m[x])
//       e[x, y] = exp(s[x, y] - m[x])          }
//     }                                      } }
//   } }
//
// A fragment has room for whole tiles: an element beyond the end of an iteration
// variable has a place of its own there, and nothing may read it.  What is stored
// there instead is computed from other fragments alone, whose places have values,
// too: without a guard no branch or choice stands between instructions.  The
// iteration variable ends where its loops do then.  A guard on what a reduction runs
// over stays.

#include "ir/affine.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"
#include "passes/pass.h"

// A fragment.
struct fragment {
    size_t loops;    // around its declaration
    bool is_partial; // some places may have no value
};

// A stage with a guard.
struct guarded {
    struct ir_stage *stage;
    struct conditions all;
    struct dropped {
        struct ir_iter *iter; // whose end a condition says that may go, or NULL
        struct ir_expr *extent; // which it has without
    } * drops;
    bool is_plain; // it stores to fragments, values of fragments
};

// The state of the walk.
struct relaxed {
    struct pass *p;
    struct facts facts;
    struct VEC(const struct ir_for *) loops; // around
    struct map fragments;                    // buffers -> struct fragment
    struct VEC(struct guarded) stages;
};

// Return whether an expression changes with a loop inside of a declaration.
static bool is_inside(const struct relaxed *r, const struct fragment *f,
                      const struct ir_expr *x)
{
    for (size_t i = f->loops; i < r->loops.n; i++)
        if (ir_mentions(x, r->loops.at[i]->var))
            return true;
    return false;
}

// Return what a sum has of terms that change so.
static struct affine inner_part(const struct relaxed *r,
                                const struct fragment *f,
                                const struct affine *sum)
{
    struct affine part = affine_number(0);
    vec_foreach(t, &sum->terms) {
        struct affine one = {.terms = {t, 1, 1}};
        bool moves = false;
        for (uint32_t i = 0; i < t->n; i++)
            moves |= is_inside(r, f, t->atoms[i]);
        if (moves)
            part = affine_add(r->p->scratch, &part, 1, &one);
    }
    return part;
}

// Return whether two sums differ by a number; it goes to *by.
static bool differ_by(struct arena *a, const struct affine *x,
                      const struct affine *y, int64_t *by)
{
    struct affine d = affine_add(a, x, -1, y);
    *by = d.constant;
    return !d.failed && affine_is_number(&d);
}

// Return whether each value of an iteration variable, beyond its end too, has places
// of its own in the fragment that a statement stores to.
static bool has_own_place(const struct relaxed *r, const struct ir_stage *stage,
                          const struct ir_iter *it, const struct ir_stmt *store)
{
    struct arena *a = r->p->scratch;
    const struct fragment *f = map_get(&r->fragments, store->u.store.buffer);
    struct affine binding = affine_of(a, it->binding);
    struct affine part = inner_part(r, f, &binding);
    int64_t by;
    for (uint32_t d = 0; d < store->u.store.n && !binding.failed; d++) {
        struct ir_expr *x =
            ir_stage_over_loops(a, stage, store->u.store.index[d]);
        struct affine index = affine_of(a, x);
        if (!index.failed && part.terms.n && differ_by(a, &index, &part, &by))
            return facts_is_within(&r->facts, x,
                                   store->u.store.buffer->shape[d]);
    }
    return false;
}

// Return the iteration variable whose end a condition says, or NULL.
static struct ir_iter *bounded(const struct relaxed *r,
                               const struct ir_stage *stage,
                               const struct ir_expr *condition)
{
    struct arena *a = r->p->scratch;
    struct affine form, end;
    if (condition->n != 2 || !facts_form(a, condition, &form))
        return NULL;
    vec_foreach(it, &stage->iters) {
        int64_t by;
        end = affine_of(a, ir_sub(a, it->extent, it->binding));
        affine_offset(&end, -1);
        if (!end.failed && differ_by(a, &end, &form, &by) && by == 0)
            return it;
    }
    return NULL;
}

// Return whether a block of a stage only stores to fragments what is made of
// fragments.
static bool is_plain(struct relaxed *r, const struct ir_block *block)
{
    vec_foreach_value(s, block) {
        if (s->kind != STMT_store ||
            !map_has(&r->fragments, s->u.store.buffer) ||
            !ir_is_pure(s->u.store.value, false) ||
            !facts_is_total(&r->facts, s->u.store.value))
            return false;
        ir_foreach_expr(x, s->u.store.value)
            if ((ir_op_info(x->op)->flags & OP_READS) &&
                !map_has(&r->fragments, x->u.buffer))
                return false;
    }
    return true;
}

// Return whether an expression does not fall when a variable grows.
static bool grows(const struct ir_expr *x, const struct ir_var *var)
{
    int64_t n;
    if (!ir_mentions(x, var) || x->op == OP_var)
        return true;
    switch ((int)x->op) {
    case OP_add:
    case OP_min:
    case OP_max: return grows(x->args[0], var) && grows(x->args[1], var);
    case OP_sub: return grows(x->args[0], var) && !ir_mentions(x->args[1], var);
    case OP_mul:
    case OP_div:
    case OP_ceildiv:
        return grows(x->args[0], var) && ir_int_value(x->args[1], &n) && n > 0;
    }
    return false;
}

// Return the end of what an iteration variable runs over in the loops around, in
// terms of sizes, or NULL.
static struct ir_expr *end_in_loops(const struct relaxed *r,
                                    const struct ir_iter *it)
{
    struct arena *a = r->p->arena;
    struct ir_expr *last = it->binding;
    for (size_t i = r->loops.n; i-- > 0;) {
        const struct ir_for *loop = r->loops.at[i];
        struct map vars = {.arena = r->p->scratch};
        if (!ir_mentions(last, loop->var))
            continue;
        if (!ir_for_counts(loop) || !grows(last, loop->var))
            return NULL;
        map_set(&vars, loop->var, ir_sub(a, loop->to, ir_int(a, 1)));
        last = ir_substitute(a, last, &vars, NULL);
    }
    struct affine form = affine_of(a, last);
    affine_offset(&form, 1);
    return form.failed || !ir_is_of_params(last)
               ? NULL
               : affine_expr(a, &form, type_scalar(TYPE_int));
}

// Return what may be dropped of a stage's guard: a condition that says no more than
// that the elements exist which it stores.
static struct dropped says_exist(const struct relaxed *r,
                                 const struct ir_stage *stage,
                                 const struct ir_expr *condition)
{
    const struct dropped none = {0};
    struct ir_iter *it = bounded(r, stage, condition);
    const struct ir_block *blocks[] = {&stage->init, &stage->body};
    if (!it || it->is_reduce)
        return none;
    for (int i = 0; i < 2; i++)
        vec_foreach_value(s, blocks[i])
            if (!has_own_place(r, stage, it, s))
                return none;
    struct ir_expr *end = end_in_loops(r, it);
    return end ? (struct dropped){it, end} : none;
}

// Return the fragment of which a store leaves places without values if it does not
// run everywhere, or NULL: one that changes an element leaves what was there.
static struct fragment *left_open(const struct relaxed *r,
                                  const struct ir_stmt *store)
{
    if (store->kind != STMT_store)
        return NULL;
    ir_foreach_expr(x, store->u.store.value)
        if (x->op == OP_load && x->u.buffer == store->u.store.buffer &&
            ir_all_equal(x->n, x->args, store->u.store.index))
            return NULL;
    return map_get(&r->fragments, store->u.store.buffer);
}

// Note of which fragments a stage leaves places without values by guards that stay.
static void note_open(struct relaxed *r, const struct guarded *g)
{
    ir_foreach_stmt(s, &g->stage->body) {
        struct fragment *f = left_open(r, s);
        for (size_t i = 0; i < g->all.n && f; i++) {
            const struct ir_iter *it = bounded(r, g->stage, g->all.at[i]);
            f->is_partial |= !g->drops[i].iter && !(it && it->is_reduce) &&
                             is_inside(r, f, g->all.at[i]);
        }
    }
}

// Note a stage with a guard.
static void note_stage(struct relaxed *r, struct ir_stage *stage)
{
    struct arena *a = r->p->scratch;
    struct guarded g = {.stage = stage, .all = fold_split(a, stage->predicate)};
    g.is_plain = is_plain(r, &stage->init) && is_plain(r, &stage->body);
    g.drops = arena_array(a, struct dropped, g.all.n);
    for (size_t i = 0; i < g.all.n && g.is_plain; i++)
        g.drops[i] = says_exist(r, stage, g.all.at[i]);
    note_open(r, &g);
    vec_push(a, &r->stages, g);
}

// Note the fragments and the stages of a block.
static void collect(struct relaxed *r, struct ir_block *block)
{
    vec_foreach_value(s, block) {
        size_t loops = r->loops.n;
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_fragment) {
            struct fragment *f = arena_new(r->p->scratch, struct fragment);
            f->loops = loops;
            map_set(&r->fragments, s->u.buffer, f);
        }
        if (s->kind == STMT_for)
            vec_push(r->p->scratch, &r->loops, &s->u.loop);
        if (s->kind == STMT_stage && s->u.stage.predicate)
            note_stage(r, &s->u.stage);
        facts_foreach_inside(inner, &r->facts, s)
            collect(r, inner);
        r->loops.n = loops;
    }
}

// Return whether what a stage reads has values everywhere.
static bool reads_whole(const struct relaxed *r, const struct guarded *g)
{
    ir_foreach_expr_in(x, &g->stage->body) {
        const struct fragment *f =
            x->op == OP_load ? map_get(&r->fragments, x->u.buffer) : NULL;
        if (f && f->is_partial)
            return false;
    }
    return true;
}

// Keep the guards of a stage: places of what it stores have no values then.
static void keep(struct relaxed *r, struct guarded *g)
{
    g->is_plain = false;
    ir_foreach_stmt(s, &g->stage->body) {
        struct fragment *f = left_open(r, s);
        if (f)
            f->is_partial = true;
    }
}

// Keep the guards of stages that read places without values, and of those that
// read what these store.
static void keep_readers(struct relaxed *r)
{
    bool more = true;
    while (more) {
        more = false;
        vec_foreach(g, &r->stages) {
            if (!g->is_plain || reads_whole(r, g))
                continue;
            keep(r, g);
            more = true;
        }
    }
}

// Drop the guards of a stage; returns whether there are any.
static bool drop(struct relaxed *r, struct guarded *g)
{
    struct conditions left = {0};
    for (size_t i = 0; i < g->all.n; i++) {
        struct dropped *d = &g->drops[i];
        if (g->is_plain && d->iter)
            d->iter->extent = d->extent;
        else
            vec_push(r->p->scratch, &left, g->all.at[i]);
    }
    if (left.n == g->all.n)
        return false;
    g->stage->predicate =
        left.n ? fold_all(r->p->arena, left.at, left.n) : NULL;
    return true;
}

enum pass_result pass_relax_fragments(struct pass *p)
{
    struct relaxed r = {.p = p, .fragments.arena = p->scratch};
    bool changed = false;
    facts_start(&r.facts, p->scratch, p->kernel);
    collect(&r, &p->kernel->body);
    keep_readers(&r);
    vec_foreach(g, &r.stages)
        changed |= drop(&r, g);
    return changed ? PASS_CHANGED : PASS_SAME;
}
