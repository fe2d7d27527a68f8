// fuse_reduction_epilogue -- fold an epilogue into the reduction before it.
//
//   T[i] = 0; for k { T[i] = T[i] + f }      D[i] = T[i] + bias[i]
//     =>   fuse_reduction_epilogue(T, D)
//   D[i] = bias[i]; for k { D[i] = D[i] + f }
//
// This is for an epilogue that adds to a sum; it changes the order of the
// additions. Any other epilogue runs in the last iteration of the reduction, or
// behind the init if there is none:
//
//   D[i] = relu(T[i])
//     =>
//   init { D[i] = 0; if K == 0 { D[i] = relu(D[i]) } }
//   for k { D[i] = D[i] + f; if k == K - 1 { D[i] = relu(D[i]) } }
//
// T disappears if nothing else uses it and both have one type; the stage is
// then called like the epilogue.  Otherwise it stays, and is stored as well.
// The loops of the reduction may be scheduled already, those of the epilogue
// not.
//
// Requires:
//  1. the first is a reduction with an init, of one store to
//     an element of its own, and nothing else computes T        E0690
//  2. the second is one store to an element of its own, uses
//     the same element of T, and goes over all of them          E0690
//     ... and, unless it adds, can run in the last iteration    E0690
//  3. in between nothing uses D or writes what it is made of    E0691
//  4. nothing has been said of how the epilogue runs            E0670

#include "passes/schedule/common/move.h"

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"

// What is folded.
struct folding {
    struct pass *pass;
    struct ir_stmt *reduction, *epilogue;
    struct ir_stmt *init, *combine, *last; // the stores
    struct ir_buffer *from, *to;           // T and D
    struct map vars;                       // the epilogue's to the reduction's
    struct ir_expr *value;                 // of D, in the reduction's variables
    struct ir_expr **index;                // of D, likewise
    bool keeps;                            // T stays
    bool uses;                             // the epilogue uses T
    const char *fault;
};

// Return the only store of a block, or NULL.
static struct ir_stmt *only_store(const struct ir_block *block)
{
    return block->n == 1 && block->at[0]->kind == STMT_store ? block->at[0]
                                                             : NULL;
}

// Return whether each element that a store writes has its own iterations.
static bool stores_own(const struct ir_stage *stage, const struct ir_stmt *s)
{
    return ir_stage_owns(stage, s->u.store.n, s->u.store.index);
}

// Return the iteration variable of a stage that an index is, or NULL.
static const struct ir_iter *iter_of(const struct ir_stage *stage,
                                     const struct ir_expr *x)
{
    int i = ir_stage_iter(stage, x);
    return i < 0 ? NULL : &stage->iters.at[i];
}

// Find the stores of the reduction; false if it has another form.
static bool take_reduction(struct folding *f)
{
    struct ir_stage *stage = &f->reduction->u.stage;
    f->fault = "the first is no reduction of one store with an init";
    if (f->reduction->kind != STMT_stage || !stage->has_init ||
        !ir_stage_reduces(stage))
        return false;
    f->init = only_store(&stage->init);
    f->combine = only_store(&stage->body);
    if (!f->init || !f->combine || !stores_own(stage, f->combine) ||
        f->init->u.store.buffer != f->combine->u.store.buffer)
        return false;
    f->from = f->combine->u.store.buffer;
    return ir_all_equal(f->init->u.store.n, f->init->u.store.index,
                        f->combine->u.store.index);
}

// Check that the loops of the epilogue are its iteration variables, in full.
static bool covers_all(struct folding *f)
{
    struct ir_block loops = sched_loops(f->pass, f->epilogue);
    return loops.n + 1 == sched_path(f->pass, f->epilogue).n &&
           sched_is_unscheduled(&f->epilogue->u.stage, loops.at, loops.n);
}

// Check that a use of T in the epilogue is of the element that an iteration
// makes, and note whose variables are whose.
static void note_use(struct folding *f, struct ir_expr *x)
{
    const struct ir_stage *stage = &f->reduction->u.stage;
    if (x->op != OP_load || x->u.buffer != f->from)
        return;
    f->uses = true;
    for (uint32_t d = 0; d < x->n; d++) {
        struct ir_expr *own = f->combine->u.store.index[d];
        const struct ir_iter *it = iter_of(&f->epilogue->u.stage, x->args[d]);
        const struct ir_iter *ours = iter_of(stage, own);
        const struct ir_expr *known = it ? map_get(&f->vars, it->var) : NULL;
        if (it && ours && ir_expr_equal(it->extent, ours->extent) &&
            (!known || ir_expr_equal(known, own)))
            map_set(&f->vars, it->var, own);
        else if (it || !ir_expr_equal(x->args[d], own))
            f->fault = "it uses other elements than the one just made";
    }
}

// Find the store of the epilogue; false if it has another form.
static bool take_epilogue(struct folding *f)
{
    struct ir_stage *stage = &f->epilogue->u.stage;
    f->fault = "the second is not one store of a value to an element each";
    if (f->epilogue->kind != STMT_stage || stage->has_init ||
        ir_stage_reduces(stage))
        return false;
    f->last = only_store(&stage->body);
    if (!f->last || !stores_own(stage, f->last) ||
        !ir_is_pure(f->last->u.store.value, false))
        return false;
    f->to = f->last->u.store.buffer;
    if (ir_block_reads(&stage->body, f->to) || f->to == f->from)
        return false;
    f->fault = "the second is scheduled already";
    if (!covers_all(f))
        return false;
    f->fault = NULL;
    ir_foreach_expr(x, f->last->u.store.value)
        note_use(f, x);
    bool uses_each = f->uses;
    for (size_t i = 0; i < stage->iters.n; i++)
        uses_each &= map_has(&f->vars, stage->iters.at[i].var);
    if (!f->fault && !uses_each)
        f->fault = "it does not use each element of the reduction once";
    return !f->fault;
}

// Return whether a statement writes what the epilogue reads.
static bool writes_input(struct ir_stmt *s, const struct folding *f)
{
    ir_foreach_expr(x, f->last->u.store.value)
        if (x->op == OP_load && ir_stmt_itself(s, x->u.buffer, ACCESS_writes))
            return true;
    return false;
}

// Return whether a statement between the two is in the way.
static bool is_in_way(const struct folding *f, struct ir_stmt *s)
{
    return (s != f->init && s != f->combine && writes_input(s, f)) ||
           (s->kind == STMT_alloc && s->u.buffer == f->to) ||
           ir_stmt_itself(s, f->to, ACCESS_reads | ACCESS_writes);
}

// Check what lies between the two.
static bool check_between(const struct sched_call *c, const struct folding *f)
{
    struct ir_path path = sched_path(f->pass, f->reduction);
    const struct ir_stmt *other = NULL;
    bool behind = false, done = false;
    ir_foreach_stmt(s, &f->pass->kernel->body) {
        behind |= s == path.stmts[0];
        done |= s == f->epilogue;
        if (behind && !done && is_in_way(f, s))
            other = s;
    }
    if (!other && done && behind)
        return true;
    sched_refuse(c, f->epilogue, "to be folded", D_epilogue_between,
                 sched_name_of(f->epilogue), sched_name_of(f->reduction));
    if (other)
        diag_note(f->pass->diags, other->span, "this is in the way");
    return false;
}

// Return whether a statement other than the two accesses T: writes it, or reads
// it.
static bool others_access(const struct folding *f, unsigned flags)
{
    ir_foreach_stmt(s, &f->pass->kernel->body)
        if (s != f->init && s != f->combine && s != f->last &&
            ir_stmt_itself(s, f->from, flags))
            return true;
    return false;
}

// Return whether an expression is the element of T that is being made.
static bool is_element(const struct folding *f, const struct ir_expr *x)
{
    return x->op == OP_load && x->u.buffer == f->from;
}

// Return whether an expression uses an element of T.
static bool uses_element(const struct folding *f, const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (is_element(f, x))
            return true;
    return false;
}

// Return what a sum adds to the element of T: x of T + x or x + T.  NULL if
// the expression is not such a sum.
static struct ir_expr *addend(const struct folding *f, struct ir_expr *x)
{
    for (uint32_t i = 0; x->op == OP_add && i < 2; i++)
        if (is_element(f, x->args[i]) && !uses_element(f, x->args[1 - i]))
            return x->args[1 - i];
    return NULL;
}

// Return whether a number is 0.
static bool is_zero(const struct ir_expr *x)
{
    return x->op == OP_const &&
           (type_is_float(x->type) ? x->u.f == 0 : x->u.i == 0);
}

// Return whether the epilogue adds to a sum that begins with 0.
static bool is_added(const struct folding *f)
{
    return !f->keeps && is_zero(f->init->u.store.value) &&
           addend(f, f->last->u.store.value) &&
           addend(f, f->combine->u.store.value);
}

// Return whether an iteration variable grows with the loops around: outer
// loops weigh more than inner ones.
static bool is_ordered(const struct ir_iter *it, struct ir_stmt *const *loops,
                       size_t n, struct arena *a)
{
    struct affine x = affine_of(a, it->binding);
    int64_t last = INT64_MAX;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        vec_foreach(t, &x.terms) {
            if (t->n != 1 || t->atoms[0]->op != OP_var ||
                t->atoms[0]->u.var != loops[i]->u.loop.var)
                continue;
            if (t->factor <= 0 || t->factor >= last)
                return false;
            last = t->factor;
            found++;
        }
    }
    return !x.failed && found == x.terms.n;
}

// Return whether a condition says just that an iteration variable is in range.
static bool is_bound_of(const struct ir_iter *it, const struct ir_expr *x)
{
    return x->op == OP_lt && ir_expr_equal(x->args[0], it->binding) &&
           ir_expr_equal(x->args[1], it->extent);
}

// Return whether a condition may leave out the last value of a reduction
// variable: it is about several of them, or about all loops of one.
static bool leaves_out(const struct ir_stage *stage, const struct ir_expr *x,
                       struct ir_stmt *const *loops, size_t n)
{
    size_t about = 0;
    bool is_whole = false;
    if (x->op == OP_and)
        return leaves_out(stage, x->args[0], loops, n) ||
               leaves_out(stage, x->args[1], loops, n);
    vec_foreach(it, &stage->iters) {
        size_t all = 0, found = 0;
        for (size_t k = 0; k < n && it->is_reduce; k++) {
            const struct ir_var *var = loops[k]->u.loop.var;
            all += ir_mentions(it->binding, var);
            found += ir_mentions(it->binding, var) && ir_mentions(x, var);
        }
        about += found > 0;
        is_whole |= found && found == all && !is_bound_of(it, x);
    }
    return about > 1 || is_whole;
}

// Return whether the last values of all reduction variables come last, and
// come at all.
static bool ends_last(const struct folding *f)
{
    const struct ir_stage *stage = &f->reduction->u.stage;
    struct ir_block loops = sched_loops(f->pass, f->reduction);
    vec_foreach(it, &stage->iters)
        if (it->is_reduce &&
            !is_ordered(it, loops.at, loops.n, f->pass->scratch))
            return false;
    return !stage->predicate ||
           !leaves_out(stage, stage->predicate, loops.at, loops.n);
}

// Check every precondition; fill the rest of `f` in.
static bool check(const struct sched_call *c, struct folding *f)
{
    bool good = take_reduction(f) && take_epilogue(f);
    bool writes = good && others_access(f, ACCESS_writes);
    if (writes)
        f->fault = "something else computes elements, too";
    f->keeps = good && (writes || others_access(f, ACCESS_reads) ||
                        f->from->role != ROLE_alloc ||
                        !type_equal(f->from->elem, f->to->elem));
    bool late = good && !is_added(f) && !ends_last(f);
    if (late)
        f->fault = "it has to run last, but the reduction is out of order";
    if (!good || writes || late)
        return sched_refuse(c, f->epilogue, "to be folded", D_epilogue_shape,
                            sched_name_of(f->epilogue),
                            sched_name_of(f->reduction), f->fault);
    return check_between(c, f);
}

// Replace the element of T by that of D.
static struct ir_expr *use_result(struct arena *a, struct ir_expr *x,
                                  void *context)
{
    const struct folding *f = context;
    return is_element(f, x)
               ? ir_at(a, ir_load(a, f->to, f->last->u.store.n, f->index),
                       x->span)
               : x;
}

// Let a store go to D instead of T.
static void redirect(struct folding *f, struct ir_stmt *store)
{
    store->u.store.value =
        ir_rewrite(f->pass->arena, store->u.store.value, use_result, f);
    store->u.store.buffer = f->to;
    store->u.store.n = f->last->u.store.n;
    store->u.store.index = f->index;
}

// Return the condition that a reduction is in its last iteration, or that it
// has none.
static struct ir_expr *is_last(const struct folding *f, bool none)
{
    struct arena *a = f->pass->arena;
    const struct ir_stage *stage = &f->reduction->u.stage;
    struct ir_expr *r = ir_bool(a, !none), *zero = ir_int(a, 0);
    vec_foreach(it, &stage->iters) {
        if (!it->is_reduce)
            continue;
        struct ir_expr *end = ir_sub(a, it->extent, ir_int(a, 1));
        struct ir_expr *x = none
                                ? ir_binary(a, OP_eq, it->extent, zero)
                                : ir_binary(a, OP_eq, ir_read(a, it->var), end);
        r = ir_binary(a, none ? OP_or : OP_and, r, x);
    }
    return r;
}

// Append the store of D to a block, under a condition.
static void append_last(struct folding *f, struct ir_block *block,
                        struct ir_expr *condition)
{
    struct arena *a = f->pass->arena;
    if (ir_is_false(condition))
        return;
    struct ir_stmt *branch = ir_stmt_if(a, condition);
    struct ir_stmt *store =
        ir_stmt_store(a, f->to, f->last->u.store.n, f->index, f->value);
    branch->span = store->span = f->last->span;
    ir_append(a, &branch->u.branch.then, store);
    ir_append(a, block, branch);
}

bool sched_fuse_reduction_epilogue(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct folding f = {
        .pass = p, .reduction = sched_arg(c, 0), .epilogue = sched_arg(c, 1)};
    f.vars.arena = p->scratch;
    if (!check(c, &f) || !sched_check_dissolved(c, f.epilogue))
        return false;
    struct ir_stage *stage = &f.reduction->u.stage;
    uint32_t n = f.last->u.store.n;
    f.index =
        ir_substitute_all(p->arena, n, f.last->u.store.index, &f.vars, NULL);
    f.value = ir_substitute(p->arena, f.last->u.store.value, &f.vars, NULL);
    struct ir_expr *start = addend(&f, f.value);
    bool adds = is_added(&f);
    sched_remove(p, f.epilogue);
    if (!f.keeps) {
        redirect(&f, f.init);
        redirect(&f, f.combine);
        f.value = ir_rewrite(p->arena, f.value, use_result, &f);
        stage->name = f.epilogue->u.stage.name;
        sched_remove(p, sched_alloc_of(p, f.from));
    }
    if (adds) {
        f.init->u.store.value = start;
    } else {
        append_last(&f, &stage->init, is_last(&f, true));
        append_last(&f, &stage->body, is_last(&f, false));
    }
    return true;
}
