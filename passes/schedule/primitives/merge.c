// merge -- join loops that stand side by side into one.
//
//   for i in 0..n { P[i] = A[i] + 1 }; for j in 0..n { C[j] = P[j] }
//     =>   m = merge(i, j)
//   for i_j_m in 0..n { P[i_j_m] = A[i_j_m] + 1; C[i_j_m] = P[i_j_m] }
//
// The loops may be deeper: those around them, up to what holds them all, are
// merged as well.  Merging is what reordering does to
//
//   for side in 0..2 { for i in 0..n { if side == 0 { P }; if side == 1 { C } } }
//
// and legal if that is.
//
// Requires:
//  1. the loops and those to be merged around them are serial,
//     have no annotation, count from 0 in steps of 1          E0607 E0608 E0623
//  2. none is named twice                                     E0612
//  3. they stand side by side, as deep, each alone in the
//     one around it                                           E0685
//  4. their extents are equal                                 E0686
//  5. no iteration would come before one of an earlier loop
//     on which it depends                                     E0687

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "passes/schedule/depend/depend.h"

// What is merged.
struct merging {
    struct pass *pass;
    size_t n;               // nests
    struct ir_stmt **loops; // the named ones
    struct ir_path *paths;  // down to them
    uint32_t from, depth;   // the nests are the statements from .. depth - 1
    size_t first, last;     // of the nests in their block
};

// Report two loops.
static bool refuse(const struct sched_call *c, enum diag_code code,
                   struct ir_stmt *x, struct ir_stmt *y)
{
    return sched_refuse_two(c, x, y, "to be merged", code, sched_name_of(x),
                            sched_name_of(y));
}

// Return the loop of nest `k` at some depth.
static struct ir_stmt *loop_at(const struct merging *m, size_t k, uint32_t i)
{
    return m->paths[k].stmts[i];
}

// Return the block that holds the nests.
static struct ir_block *block_of(const struct merging *m)
{
    return m->paths[0].blocks[m->from];
}

// Find where the paths part; false if some nest is not a chain of loops as
// deep as the first.
static bool find_nests(struct merging *m)
{
    m->depth = m->paths[0].n;
    while (m->from + 1 < m->depth && m->from + 1 < m->paths[1].n &&
           loop_at(m, 0, m->from) == loop_at(m, 1, m->from))
        m->from++;
    for (size_t k = 0; k < m->n; k++) {
        if (m->paths[k].n != m->depth ||
            m->paths[k].blocks[m->from] != block_of(m))
            return false;
        for (uint32_t i = m->from; i < m->depth; i++) {
            struct ir_stmt *s = loop_at(m, k, i);
            if (s->kind != STMT_for ||
                (i + 1 < m->depth && s->u.loop.body.n != 1))
                return false;
        }
    }
    return true;
}

// Return whether a statement is the outermost loop of a nest.
static bool is_nest(const struct merging *m, const struct ir_stmt *s)
{
    bool found = false;
    for (size_t k = 0; k < m->n; k++)
        found |= s == loop_at(m, k, m->from);
    return found;
}

// Check that nothing but declarations stands between the nests.
static bool are_neighbours(struct merging *m)
{
    const struct ir_block *block = block_of(m);
    size_t found = 0;
    for (size_t i = 0; i < block->n; i++) {
        if (!is_nest(m, block->at[i]))
            continue;
        m->first = found++ ? m->first : i;
        m->last = i;
    }
    for (size_t i = m->first; i < m->last; i++)
        if (!is_nest(m, block->at[i]) && block->at[i]->kind != STMT_alloc)
            return false;
    return found == m->n;
}

// Return an extent with the variables of the first nest instead of nest `k`'s.
static struct ir_expr *extent_of(const struct merging *m, size_t k, uint32_t i)
{
    struct map vars = {.arena = m->pass->scratch};
    for (uint32_t j = m->from; j < i; j++)
        map_set(&vars, loop_at(m, k, j)->u.loop.var,
                ir_read(m->pass->arena, loop_at(m, 0, j)->u.loop.var));
    return ir_substitute(m->pass->arena, loop_at(m, k, i)->u.loop.to, &vars,
                         NULL);
}

// Check one loop against that of the first nest.
static bool check_loop(const struct sched_call *c, const struct merging *m,
                       size_t k, uint32_t i)
{
    struct ir_stmt *s = loop_at(m, k, i);
    if (!sched_check_serial(c, s) || !sched_check_plain(c, s) ||
        !sched_check_from_zero(c, s))
        return false;
    return ir_expr_equal(extent_of(m, k, i), extent_of(m, 0, i)) ||
           refuse(c, D_merge_extent, loop_at(m, 0, i), s);
}

// Check the loops, and where they are.
static bool check(const struct sched_call *c, struct merging *m)
{
    if (!sched_check_distinct(c, m->loops, m->n))
        return false;
    if (!find_nests(m) || !are_neighbours(m))
        return refuse(c, D_merge_siblings, m->loops[0], m->loops[m->n - 1]);
    for (size_t k = 0; k < m->n; k++)
        for (uint32_t i = m->from; i < m->depth; i++)
            if (!check_loop(c, m, k, i))
                return false;
    return true;
}

// Make the merged loop at some depth: `i_j_m`, or `i_m` if all are called i.
static struct ir_stmt *make_loop(const struct merging *m, uint32_t i)
{
    struct pass *p = m->pass;
    const struct ir_for *first = &loop_at(m, 0, i)->u.loop;
    const char *name = first->var->name;
    for (size_t k = 1; k < m->n; k++) {
        const char *own = loop_at(m, k, i)->u.loop.var->name;
        if (own != first->var->name)
            name = arena_printf(p->scratch, "%s_%s", name, own);
    }
    struct ir_var *var =
        sched_new_var(p, loop_at(m, 0, i),
                      arena_printf(p->scratch, "%s_m", name), first->var->span);
    return sched_new_loop(p, var, first->to, loop_at(m, 0, i)->span);
}

// Make the merged loops, each in the one before it, without a body.
static struct ir_stmt **make_loops(const struct merging *m)
{
    struct pass *p = m->pass;
    struct ir_stmt **loops =
        arena_array(p->scratch, struct ir_stmt *, m->depth - m->from);
    struct map vars = {.arena = p->scratch};
    for (uint32_t i = m->from; i < m->depth; i++) {
        struct ir_stmt *s = loops[i - m->from] = make_loop(m, i);
        s->u.loop.to = ir_substitute(p->arena, s->u.loop.to, &vars, NULL);
        map_set(&vars, loop_at(m, 0, i)->u.loop.var,
                ir_read(p->arena, s->u.loop.var));
        if (i > m->from)
            ir_append(p->arena, &loops[i - m->from - 1]->u.loop.body, s);
    }
    return loops;
}

// Append the body of nest `k`, with the merged loops' variables.
static void append_body(const struct merging *m, size_t k,
                        struct ir_stmt *const *loops, struct ir_block body,
                        struct ir_block *out)
{
    struct arena *a = m->pass->arena;
    struct map vars = {.arena = m->pass->scratch};
    for (uint32_t i = m->from; i < m->depth; i++)
        map_set(&vars, loop_at(m, k, i)->u.loop.var,
                ir_read(a, loops[i - m->from]->u.loop.var));
    ir_substitute_in(a, &body, &vars, NULL);
    ir_append_all(a, out, &body);
}

// Return the nests in the order of the program.
static size_t *in_order(const struct merging *m)
{
    size_t n = 0;
    size_t *order = arena_array(m->pass->scratch, size_t, m->n);
    for (size_t i = m->first; i <= m->last; i++)
        for (size_t k = 0; k < m->n; k++)
            if (block_of(m)->at[i] == loop_at(m, k, m->from))
                order[n++] = k;
    return order;
}

// Put a statement in place of the nests, behind the declarations among them.
static void replace(const struct merging *m, struct ir_stmt *by)
{
    struct ir_block *block = block_of(m), out = {0};
    for (size_t i = 0; i < block->n; i++) {
        if (!is_nest(m, block->at[i]))
            ir_append(m->pass->arena, &out, block->at[i]);
        if (i == m->last)
            ir_append(m->pass->arena, &out, by);
    }
    *block = out;
}

// Check that merging reverses no dependence: the nests, copied, are put one
// after another into a loop of their own, and that is moved inside.
static bool check_order(const struct sched_call *c, const struct merging *m)
{
    struct pass *p = m->pass;
    struct ir_block *block = block_of(m), before = *block;
    const size_t *number = in_order(m);
    uint32_t n = m->depth - m->from;
    struct ir_var *var = ir_var_new(p->arena, str_name(p->names, "side"),
                                    type_scalar(TYPE_int), VAR_loop, c->span);
    struct ir_stmt **band = arena_array(p->scratch, struct ir_stmt *, n + 1);
    struct ir_stmt **order = arena_array(p->scratch, struct ir_stmt *, n + 1);
    struct ir_stmt **loops = make_loops(m);
    band[0] = order[n] =
        sched_new_loop(p, var, ir_int(p->arena, (int64_t)m->n), c->span);
    ir_append(p->arena, &band[0]->u.loop.body, loops[0]);
    for (uint32_t i = 0; i < n; i++)
        band[i + 1] = order[i] = loops[i];
    for (size_t k = 0; k < m->n; k++) {
        struct ir_block *body =
            &loop_at(m, number[k], m->depth - 1)->u.loop.body;
        struct ir_stmt *branch = ir_stmt_if(
            p->arena, ir_binary(p->arena, OP_eq, ir_read(p->arena, var),
                                ir_int(p->arena, (int64_t)k)));
        append_body(m, number[k], loops,
                    ir_copy_block(p->arena, body, NULL, NULL),
                    &branch->u.branch.then);
        ir_append(p->arena, &loops[n - 1]->u.loop.body, branch);
    }
    replace(m, band[0]);
    struct depend_conflict conflict;
    bool bad = depend_reordered(p, band, n + 1, order, true, &conflict);
    *block = before;
    if (!bad)
        return true;
    refuse(c, D_merge_order, m->loops[0], m->loops[m->n - 1]);
    sched_note_conflict(c, &conflict);
    return false;
}

bool sched_can_merge(struct pass *p, struct ir_stmt *x, struct ir_stmt *y)
{
    struct diag_list dropped = {.arena = p->scratch, .is_brief = true};
    struct pass quiet = *p;
    struct sched_call c = {.pass = &quiet, .prim = PRIM_merge};
    struct ir_stmt *loops[] = {x, y};
    struct ir_path paths[] = {sched_path(p, x), sched_path(p, y)};
    struct merging m = {.pass = &quiet, .n = 2, .loops = loops, .paths = paths};
    quiet.diags = &dropped;
    return check(&c, &m) && check_order(&c, &m);
}

bool sched_merge(struct sched_call *c)
{
    struct merging m = {.pass = c->pass};
    m.loops = sched_arg_stmts(c, 0, &m.n);
    m.paths = arena_array(c->pass->scratch, struct ir_path, m.n);
    for (size_t k = 0; k < m.n; k++)
        m.paths[k] = sched_path(c->pass, m.loops[k]);
    if (!check(c, &m) || !check_order(c, &m))
        return false;
    uint32_t n = m.depth - m.from;
    const size_t *number = in_order(&m);
    struct ir_stmt **loops = make_loops(&m);
    for (size_t k = 0; k < m.n; k++)
        append_body(&m, number[k], loops,
                    loop_at(&m, number[k], m.depth - 1)->u.loop.body,
                    &loops[n - 1]->u.loop.body);
    replace(&m, loops[0]);
    sched_result(c, VALUE_loop, loops[n - 1]);
    return true;
}
