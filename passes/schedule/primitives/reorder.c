// reorder -- permute nested loops.
//
//   for i { for j { for k { ... } } }
//     =>   reorder(k, i)
//   for k { for j { for i { ... } } }
//
// The named loops take the places that they have among themselves, in the
// order given; other loops stay where they are.
//
// Requires:
//  1. no loop is named twice                             E0612
//  2. the loops and those between them hold one another
//     and nothing else                                   E0609 E0610
//  3. a loop stays inside of those on which its bounds
//     depend                                             E0611
//  4. loops that carry a dependence keep their order,
//     but for the reductions of a stage                  E0614
//  5. no grid loop ends up inside a thread loop          E0618
//  6. a vector loop stays innermost                      E0627

#include "passes/schedule/prim.h"

#include "ir/build.h"

// The loops from the outermost named one to the innermost, before and after.
struct band {
    size_t n;
    struct ir_stmt **before, **after;
};

// Return the named loops from the outermost to the innermost.
static struct ir_stmt **by_depth(struct pass *p, struct ir_stmt *const *loops,
                                 size_t n)
{
    struct ir_stmt **sorted = arena_array(p->scratch, struct ir_stmt *, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t depth = sched_path(p, loops[i]).n;
        size_t at = i;
        for (; at && sched_path(p, sorted[at - 1]).n > depth; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = loops[i];
    }
    return sorted;
}

// Lay out the band from `first` to `last`.
static struct band make_band(struct pass *p, struct ir_stmt *first,
                             const struct ir_stmt *last,
                             struct ir_stmt *const *order, size_t n)
{
    struct band b = {.n = 1};
    for (struct ir_stmt *s = first; s != last; s = s->u.loop.body.at[0])
        b.n++;
    b.before = arena_array(p->scratch, struct ir_stmt *, b.n);
    b.after = arena_array(p->scratch, struct ir_stmt *, b.n);
    struct ir_stmt *s = first;
    for (size_t i = 0, next = 0; i < b.n; i++) {
        b.before[i] = s;
        b.after[i] = sched_is_among(s, order, n) ? order[next++] : s;
        if (i + 1 < b.n)
            s = s->u.loop.body.at[0];
    }
    return b;
}

// Check that no block loop comes behind a thread loop, and a vector loop
// last.
static bool check_axes(const struct sched_call *c, const struct band *b)
{
    struct ir_stmt *thread = NULL;
    for (size_t i = 0; i < b->n; i++) {
        struct ir_stmt *s = b->after[i];
        enum axis_kind kind = axis_kind(s->u.loop.axis);
        if (kind == AXIS_THREAD)
            thread = s;
        if (kind == AXIS_BLOCK && thread)
            return sched_refuse(c, s, "would be inside", D_block_inside_thread,
                                s->u.loop.var->name, thread->u.loop.var->name);
        if (kind == AXIS_VECTOR && i + 1 < b->n)
            return sched_refuse(c, s, "would not be innermost",
                                D_vector_not_innermost, s->u.loop.var->name);
    }
    return true;
}

// Put the loops of the band into their new order.
static void link(struct pass *p, const struct band *b)
{
    struct ir_block innermost = b->before[b->n - 1]->u.loop.body;
    sched_replace(p, b->before[0], b->after[0]);
    for (size_t i = 0; i < b->n; i++)
        b->after[i]->u.loop.is_placed |= b->after[i] != b->before[i];
    for (size_t i = 0; i + 1 < b->n; i++) {
        struct ir_block body = {0};
        ir_append(p->arena, &body, b->after[i + 1]);
        b->after[i]->u.loop.body = body;
    }
    b->after[b->n - 1]->u.loop.body = innermost;
}

bool sched_reorder(struct sched_call *c)
{
    size_t n;
    struct pass *p = c->pass;
    struct ir_stmt **order = sched_arg_stmts(c, 0, &n);
    if (!sched_check_distinct(c, order, n))
        return false;
    struct ir_stmt **sorted = by_depth(p, order, n);
    if (!sched_check_nested(c, sorted, n, true))
        return false;
    struct band b = make_band(p, sorted[0], sorted[n - 1], order, n);
    if (!sched_check_inside(c, b.after, b.n) ||
        !sched_check_order(c, b.before, b.n, b.after) || !check_axes(c, &b))
        return false;
    link(p, &b);
    return true;
}
