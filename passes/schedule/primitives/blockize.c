// blockize -- make the loops from one on part of the stage's body.
//
//   for i_0 { for i_1 in 0..16 { stage C(vi in n = i_0 * 16 + i_1) { C[vi] } } }
//     =>   blockize(i_1)
//   for i_0 { stage C_o(vi_o in ceildiv(n, 16) = i_0) {
//               for i_1 in 0..16 { let vi = vi_o * 16 + i_1; C[vi] } } }
//
// A stage holds no stage, so that of the inner loops dissolves in the body of
// the new one, whose iteration variables count blocks.  An init gets loops of
// its own in front, over what selects elements.  Parts of the predicate that
// mention no inner loop stay with the stage.
//
// Requires:
//  1. the loop holds, over loops alone, one stage; none of them
//     is bound                                                  E0689
//  2. each iteration variable is an inner loop, or a block's
//     number times its size, a number, plus the inner loops'
//     part, which goes over 0 .. size - 1                       E0689
//  3. with an init, no inner loop both selects elements and
//     counts the reduction                                      E0689

#include "passes/schedule/prim.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"

// An iteration variable taken apart: number * size + inner.
struct part {
    bool is_whole; // it is an inner loop, and the new stage has it not
    int64_t size;
    struct ir_expr *number;
    struct affine inner;
    struct ir_var *block; // the iteration variable of the new stage
};

// What is made into a block.
struct blocking {
    struct pass *pass;
    struct ir_stmt *loop, *stage;
    struct VEC(struct ir_stmt *) loops; // from the loop inward
    struct part *parts;                 // of each iteration variable
    const char *fault;
};

// Collect the loops down to the stage; false if there is anything else.
static bool find_stage(struct blocking *b)
{
    struct ir_stmt *s = b->loop;
    b->fault = "its loops do not hold one stage alone";
    for (; s->kind == STMT_for; s = s->u.loop.body.at[0]) {
        enum axis_kind kind = axis_kind(s->u.loop.axis);
        vec_push(b->pass->scratch, &b->loops, s);
        if (s->u.loop.body.n != 1)
            return false;
        if (kind == AXIS_BLOCK || kind == AXIS_THREAD || kind == AXIS_VTHREAD) {
            b->fault = "a loop of it is bound";
            return false;
        }
    }
    b->stage = s;
    return s->kind == STMT_stage;
}

// Return the inner loop whose variable it is, or NULL.
static const struct ir_for *inner_loop(const struct blocking *b,
                                       const struct ir_expr *x)
{
    for (size_t i = 0; i < b->loops.n && x->op == OP_var; i++)
        if (b->loops.at[i]->u.loop.var == x->u.var)
            return &b->loops.at[i]->u.loop;
    return NULL;
}

// Return whether an expression mentions an inner loop.
static bool is_inner(const struct blocking *b, const struct ir_expr *x)
{
    for (size_t i = 0; i < b->loops.n; i++)
        if (ir_mentions(x, b->loops.at[i]->u.loop.var))
            return true;
    return false;
}

// Return how many numbers from 0 on an inner part goes over: 0 if it is no
// number in mixed radix of the inner loops.
static int64_t size_of(const struct blocking *b, const struct affine *inner)
{
    int64_t size = 1;
    for (size_t n = 0; n < inner->terms.n; n++) {
        bool found = false;
        for (size_t i = 0; i < inner->terms.n && !found; i++) {
            const struct affine_term *t = &inner->terms.at[i];
            const struct ir_for *loop =
                t->n == 1 ? inner_loop(b, t->atoms[0]) : NULL;
            int64_t extent;
            found = loop && t->factor == size && ir_for_counts(loop) &&
                    ir_int_value(loop->to, &extent) && extent > 1 &&
                    num_mul(size, extent, &size);
        }
        if (!found)
            return 0;
    }
    return size;
}

// Take the binding of an iteration variable apart.
static bool take_apart(struct blocking *b, const struct ir_iter *it,
                       struct part *out)
{
    struct arena *a = b->pass->arena;
    const struct ir_for *loop = inner_loop(b, it->binding);
    struct affine all = affine_of(a, it->binding), one = affine_number(1);
    struct affine outer = affine_number(all.constant), rest, number;
    out->inner = affine_number(0);
    for (size_t i = 0; i < all.terms.n; i++) {
        struct affine term = affine_scale(a, &one, &all.terms.at[i]);
        struct ir_expr *x = affine_expr(a, &term, it->var->type);
        struct affine *to = is_inner(b, x) ? &out->inner : &outer;
        *to = affine_add(a, to, 1, &term);
    }
    out->is_whole =
        loop && ir_for_counts(loop) && ir_expr_equal(loop->to, it->extent);
    if (out->is_whole)
        return true;
    out->size = all.failed ? 0 : size_of(b, &out->inner);
    if (out->size < 1)
        return false;
    struct affine size = affine_number(out->size);
    if (!affine_divide(a, &outer, &size, &number, &rest) || rest.terms.n ||
        rest.constant)
        return false;
    out->number =
        out->size == 1 ? it->binding : affine_expr(a, &number, it->var->type);
    return true;
}

// Return what inner loop `i` does for the stage.
static unsigned role_of(const struct blocking *b, size_t i)
{
    return ir_stage_role(&b->stage->u.stage, b->loops.at[i]->u.loop.var);
}

// Check every precondition.
static bool check(const struct sched_call *c, struct blocking *b)
{
    bool good = find_stage(b);
    const struct ir_stage *stage = good ? &b->stage->u.stage : NULL;
    if (good)
        b->parts = arena_array(b->pass->scratch, struct part, stage->iters.n);
    for (size_t i = 0; good && i < stage->iters.n; i++) {
        b->fault = "an iteration variable is no number of a block and a place "
                   "in it";
        good = take_apart(b, &stage->iters.at[i], &b->parts[i]);
    }
    for (size_t i = 0; good && i < b->loops.n && stage->has_init; i++) {
        b->fault = "a loop of it both selects elements and counts a reduction";
        good = role_of(b, i) != (STAGE_SELECTS | STAGE_REDUCES);
    }
    if (good)
        return true;
    return sched_refuse(c, b->loop, "to be a block", D_blockize_shape,
                        sched_name_of(b->loop), b->fault);
}

// Make the new stage, without its body.
static struct ir_stmt *make_stage(struct blocking *b)
{
    struct pass *p = b->pass;
    const struct ir_stage *old = &b->stage->u.stage;
    const char *name = arena_printf(p->scratch, "%s_o", old->name);
    struct ir_stmt *s = ir_stmt_stage(p->arena, str_name(p->names, name));
    s->span = b->stage->span;
    for (size_t i = 0; i < old->iters.n; i++) {
        struct ir_iter it = old->iters.at[i];
        struct part *part = &b->parts[i];
        if (part->is_whole)
            continue;
        if (part->size > 1) {
            name = arena_printf(p->scratch, "%s_o", it.var->name);
            it.var = ir_var_new(p->arena, str_name(p->names, name),
                                it.var->type, VAR_iter, it.var->span);
            it.extent = ir_binary(p->arena, OP_ceildiv, it.extent,
                                  ir_int(p->arena, part->size));
        }
        it.binding = part->number;
        part->block = it.var;
        vec_push(p->arena, &s->u.stage.iters, it);
    }
    vec_append(p->arena, &s->u.stage.attrs, &old->attrs);
    return s;
}

// Return the parts of the predicate that mention inner loops, or the others;
// those about a reduction only if wanted.
static struct ir_expr *conditions(const struct blocking *b, bool inner,
                                  bool reduce)
{
    struct conditions kept = {0};
    struct conditions all =
        fold_split(b->pass->scratch, b->stage->u.stage.predicate);
    for (size_t i = 0; i < all.n; i++) {
        bool keep = is_inner(b, all.at[i]) == inner;
        for (size_t k = 0; k < b->loops.n && !reduce; k++)
            keep &= !(role_of(b, k) & STAGE_REDUCES) ||
                    !ir_mentions(all.at[i], b->loops.at[k]->u.loop.var);
        if (keep)
            vec_push(b->pass->scratch, &kept, all.at[i]);
    }
    return fold_all(b->pass->arena, kept.at, kept.n);
}

// Put what the old stage calls its iteration variables in front of its
// statements.
static struct ir_block name_parts(const struct blocking *b,
                                  const struct ir_block *inside, bool is_init)
{
    struct arena *a = b->pass->arena;
    const struct ir_stage *old = &b->stage->u.stage;
    struct map vars = {.arena = b->pass->scratch};
    struct ir_block body = {0};
    for (size_t i = 0; i < old->iters.n; i++) {
        const struct part *part = &b->parts[i];
        struct ir_var *var = old->iters.at[i].var;
        if ((part->size == 1 && !part->is_whole) ||
            (is_init && old->iters.at[i].is_reduce))
            continue;
        struct ir_expr *value =
            part->is_whole ? old->iters.at[i].binding
                           : ir_add(a,
                                    ir_mul(a, ir_read(a, part->block),
                                           ir_int(a, part->size)),
                                    affine_expr(a, &part->inner, var->type));
        struct ir_var *new =
            ir_var_new(a, var->name, var->type, VAR_let, var->span);
        struct ir_stmt *let = ir_stmt_let(a, new, value);
        map_set(&vars, var, ir_read(a, new));
        ir_append(a, &body, let);
    }
    struct ir_block copy = ir_copy_block(a, inside, &vars, NULL);
    ir_append_all(a, &body, &copy);
    return body;
}

// Return statements of the old stage inside of copies of the inner loops;
// without those that count the reduction if it is the init.
static struct ir_block make_body(const struct blocking *b,
                                 const struct ir_block *inside, bool is_init)
{
    struct arena *a = b->pass->arena;
    struct ir_block body = name_parts(b, inside, is_init);
    struct ir_expr *condition = conditions(b, true, !is_init);
    if (!ir_is_true(condition)) {
        struct ir_stmt *branch = ir_stmt_if(a, condition);
        branch->span = b->stage->span;
        ir_enclose(a, &body, branch, &branch->u.branch.then);
    }
    for (size_t i = b->loops.n; i-- > 0;) {
        const struct ir_for *old = &b->loops.at[i]->u.loop;
        if (is_init && (role_of(b, i) & STAGE_REDUCES))
            continue;
        struct ir_stmt *s =
            ir_stmt_for(a, old->var, old->from, old->to, old->step, old->axis);
        s->span = b->loops.at[i]->span;
        s->u.loop.attrs = old->attrs;
        s->u.loop.rings = old->rings;
        ir_enclose(a, &body, s, &s->u.loop.body);
    }
    return ir_copy_block(a, &body, NULL, NULL);
}

// Return the condition that each block's number is below the number of
// blocks, where the loops do not say so: a tail may skip whole blocks.
static struct ir_expr *has_block(const struct blocking *b)
{
    struct pass *p = b->pass;
    struct facts facts = facts_around(p->scratch, p->kernel, b->loop);
    struct ir_expr *r = ir_bool(p->arena, true);
    for (size_t i = 0; i < b->stage->u.stage.iters.n; i++) {
        const struct part *part = &b->parts[i];
        if (part->is_whole || part->size == 1)
            continue;
        struct ir_expr *n = ir_binary(p->arena, OP_ceildiv,
                                      b->stage->u.stage.iters.at[i].extent,
                                      ir_int(p->arena, part->size));
        struct ir_expr *below = ir_binary(p->arena, OP_lt, part->number, n);
        if (!facts_holds(&facts, below))
            r = ir_binary(p->arena, OP_and, r, below);
    }
    return r;
}

bool sched_blockize(struct sched_call *c)
{
    struct blocking b = {.pass = c->pass, .loop = sched_arg(c, 0)};
    if (!check(c, &b))
        return false;
    struct arena *a = c->pass->arena;
    const struct ir_stage *old = &b.stage->u.stage;
    struct ir_stmt *s = make_stage(&b);
    struct ir_stage *stage = &s->u.stage;
    struct ir_expr *predicate = conditions(&b, false, true);
    if (old->predicate)
        predicate = ir_binary(a, OP_and, predicate, has_block(&b));
    bool reduces = false;
    for (size_t i = 0; i < stage->iters.n; i++)
        reduces |= stage->iters.at[i].is_reduce;
    stage->predicate = ir_is_true(predicate) ? NULL : predicate;
    stage->body = make_body(&b, &old->body, false);
    if (old->has_init)
        stage->init = make_body(&b, &old->init, true);
    stage->has_init = old->has_init && reduces;
    if (old->has_init && !reduces) {
        ir_append_all(a, &stage->init, &stage->body);
        stage->body = stage->init;
        stage->init = (struct ir_block){0};
    }
    sched_replace(c->pass, b.loop, s);
    sched_result(c, VALUE_stage, s);
    return true;
}
