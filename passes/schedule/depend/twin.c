// Reads of what a nest like theirs has written before, which needs no isl:
//
//   for i @block.x { for a { if a < n { L[a] = A[a] } }
//                    for j { if j < n { B[i, j] = L[j] } } }
//
// With j for a, which the indices say, both nests have the same loops, and the read
// is under every condition of the write.

#include "passes/schedule/depend/access.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"

// A write, and a read that comes later in the same iteration of `common` steps
// around both.
struct twins {
    struct depend_nest *nest;
    const struct depend_access *write, *read;
    size_t common;
    struct arena *arena;
    struct map vars; // loops of the write -> those of the read
};

size_t depend_common_steps(const struct depend_access *x,
                           const struct depend_access *y)
{
    for (size_t n = 0;; n++) {
        const struct domain_step *a = &x->path.at[n], *b = &y->path.at[n];
        if (n == x->path.n || n == y->path.n || a->stmt != b->stmt ||
            a->condition != b->condition || a->holds != b->holds)
            return n;
    }
}

// Return the loop on a path, inside of the common steps, that counts a variable, or
// NULL.
static const struct ir_for *counter_of(const struct twins *t,
                                       const struct depend_access *x,
                                       const struct ir_var *var)
{
    for (size_t i = t->common; i < x->path.n; i++)
        if (depend_is_loop(&x->path.at[i]) &&
            x->path.at[i].stmt->u.loop.var == var)
            return &x->path.at[i].stmt->u.loop;
    return NULL;
}

// Return whether an expression of the write is one of the read, and has the same
// value whenever it is evaluated.
static bool is_same(struct twins *t, struct ir_expr *x, struct ir_expr *y)
{
    return ir_is_stable(y) &&
           ir_expr_equal(ir_substitute(t->arena, x, &t->vars, NULL), y);
}

// Match the loops of two indices that are alike but for these.
static bool match(struct twins *t, struct ir_expr *x, struct ir_expr *y)
{
    bool is_own = x->op == OP_var && counter_of(t, t->write, x->u.var);
    if (is_own && y->op == OP_var && counter_of(t, t->read, y->u.var)) {
        if (!map_has(&t->vars, x->u.var))
            map_set(&t->vars, x->u.var, y);
        return true;
    }
    for (uint32_t i = 0; i < x->n && x->n == y->n; i++)
        if (!match(t, x->args[i], y->args[i]))
            return false;
    return x->op == y->op && x->n == y->n;
}

// Return whether the loops of the write have the same iterations as those of the
// read that they are matched with.
static bool have_same_loops(struct twins *t)
{
    for (size_t i = t->common; i < t->write->path.n; i++) {
        const struct domain_step *step = &t->write->path.at[i];
        if (!depend_is_loop(step))
            continue;
        const struct ir_for *x = &step->stmt->u.loop;
        const struct ir_expr *var = map_get(&t->vars, x->var);
        const struct ir_for *y =
            var ? counter_of(t, t->read, var->u.var) : NULL;
        if (!y || !is_same(t, x->from, y->from) || !is_same(t, x->to, y->to) ||
            !is_same(t, x->step, y->step))
            return false;
    }
    return true;
}

// Return whether a condition of the write is one that holds for the read, or a part
// of one.
static bool is_part(struct twins *t, struct ir_expr *x, bool holds,
                    const struct domain_step *step, struct ir_expr *y)
{
    if (step->holds && y->op == OP_and)
        return is_part(t, x, holds, step, y->args[0]) ||
               is_part(t, x, holds, step, y->args[1]);
    return holds == step->holds && is_same(t, x, y);
}

// Return whether the read is under a condition of the write, or each part of it, or
// what is known there implies it.
static bool is_under(struct twins *t, struct ir_expr *x, bool holds)
{
    if (holds && x->op == OP_and)
        return is_under(t, x->args[0], true) && is_under(t, x->args[1], true);
    for (size_t i = t->common; i < t->read->path.n; i++) {
        const struct domain_step *step = &t->read->path.at[i];
        if (step->condition && is_part(t, x, holds, step, step->condition))
            return true;
    }
    return holds && facts_holds(depend_facts_at(t->nest, t->read),
                                ir_substitute(t->arena, x, &t->vars, NULL));
}

// Return whether they are such a write and read.
static bool are_twins(struct twins *t)
{
    uint32_t rank = t->read->buffer->rank;
    for (uint32_t i = 0; i < rank; i++)
        if (!match(t, t->write->index[i], t->read->index[i]))
            return false;
    if (!have_same_loops(t))
        return false;
    for (uint32_t i = 0; i < rank; i++)
        if (!is_same(t, t->write->index[i], t->read->index[i]))
            return false;
    for (size_t i = t->common; i < t->write->path.n; i++) {
        const struct domain_step *step = &t->write->path.at[i];
        if (step->condition && !is_under(t, step->condition, step->holds))
            return false;
    }
    return true;
}

bool depend_has_twin(struct depend_nest *w, const struct depend_question *q,
                     const struct depend_access *read)
{
    for (const struct depend_access *x = w->accesses.at; x < read; x++) {
        struct twins t = {.nest = w,
                          .write = x,
                          .read = read,
                          .common = depend_common_steps(x, read),
                          .arena = w->pass->scratch,
                          .vars.arena = w->pass->scratch};
        if (x->writes && x->buffer == read->buffer &&
            t.common >= w->outer + q->n && are_twins(&t))
            return true;
    }
    return false;
}
