// Preconditions that several primitives share.

#include "passes/schedule/prim.h"

#include "passes/schedule/depend/depend.h"

#include "ir/accesses.h"

bool sched_check_serial(const struct sched_call *c, struct ir_stmt *loop)
{
    enum axis axis = loop->u.loop.axis;
    if (axis == AXIS_serial)
        return true;
    sched_refuse(c, loop, "runs already in its own way", D_loop_not_serial,
                 sched_prim_info(c->prim)->name, loop->u.loop.var->name,
                 axis_name(axis));
    diag_help(c->pass->diags, "do this before the loop is bound, unrolled or "
                              "vectorized");
    return false;
}

bool sched_check_plain(const struct sched_call *c, struct ir_stmt *loop)
{
    const struct ir_for *f = &loop->u.loop;
    if (!ir_loop_is_marked(f))
        return true;
    sched_refuse(c, loop, "annotated", D_loop_annotated,
                 sched_prim_info(c->prim)->name, f->var->name,
                 f->rings.n ? "ring" : f->attrs.at[0].name);
    return diag_help(c->pass->diags, "annotate the new loop afterwards");
}

bool sched_check_distinct(const struct sched_call *c,
                          struct ir_stmt *const *loops, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (loops[i] != loops[j])
                continue;
            return sched_refuse(c, loops[i], "twice", D_loop_named_twice,
                                loops[i]->u.loop.var->name,
                                sched_prim_info(c->prim)->name);
        }
    }
    return true;
}

// Return whether `inner` is reached from `outer` over blocks that hold one
// statement each, all loops; without any loop between them unless `gaps`.
static bool is_nested(const struct ir_stmt *outer, const struct ir_stmt *inner,
                      bool gaps)
{
    do {
        const struct ir_block *body = &outer->u.loop.body;
        if (body->n != 1 || body->at[0]->kind != STMT_for)
            return false;
        outer = body->at[0];
    } while (gaps && outer != inner);
    return outer == inner;
}

// Report two loops of which the second is not right inside the first.
static bool refuse_nest(const struct sched_call *c, struct ir_stmt *outer,
                        struct ir_stmt *inner)
{
    struct ir_path path;
    const char *name = outer->u.loop.var->name;
    const char *other = inner->u.loop.var->name;
    bool inside = ir_find(c->pass->scratch, &outer->u.loop.body, inner, &path);
    sched_refuse_two(c, outer, inner, "named here",
                     inside ? D_loops_not_adjacent : D_loops_not_nested, other,
                     name);
    if (inside)
        diag_help(c->pass->diags,
                  "`%s` must hold `%s` and nothing else: reorder the loops "
                  "between them, or decompose_reduction what stands beside it",
                  name, other);
    return false;
}

bool sched_check_from_zero(const struct sched_call *c, struct ir_stmt *loop)
{
    const struct ir_for *f = &loop->u.loop;
    if (ir_for_counts(f))
        return true;
    sched_refuse(c, loop, "counts otherwise", D_loop_not_from_zero,
                 sched_prim_info(c->prim)->name, f->var->name);
    diag_help(c->pass->diags, "count its iterations first: `x = split(%s, _)`",
              f->var->name);
    return false;
}

bool sched_check_nested(const struct sched_call *c,
                        struct ir_stmt *const *loops, size_t n, bool gaps)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (!is_nested(loops[i], loops[i + 1], gaps))
            return refuse_nest(c, loops[i], loops[i + 1]);
    return true;
}

// Report that the bounds of a loop depend on another one.
static bool refuse_bounds(const struct sched_call *c, struct ir_stmt *loop,
                          struct ir_stmt *by)
{
    const char *name = loop->u.loop.var->name, *other = by->u.loop.var->name;
    sched_refuse_two(c, by, loop, "not a rectangle", D_loop_bounds_depend, name,
                     other, sched_prim_info(c->prim)->name);
    return diag_help(c->pass->diags,
                     "`%s` has to stay inside `%s` as it is: choose among the "
                     "loops around both, or inside",
                     name, other);
}

bool sched_check_rectangle(const struct sched_call *c,
                           struct ir_stmt *const *loops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (ir_for_mentions(&loops[i]->u.loop, loops[j]->u.loop.var))
                return refuse_bounds(c, loops[i], loops[j]);
    return true;
}

bool sched_check_inside(const struct sched_call *c,
                        struct ir_stmt *const *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (ir_for_mentions(&order[i]->u.loop, order[j]->u.loop.var))
                return refuse_bounds(c, order[i], order[j]);
    return true;
}

// Say which loops around a loop, itself and those below included, could run
// on the axis instead.
static void help_parallel(const struct sched_call *c, struct ir_stmt *loop,
                          enum axis axis)
{
    struct buf text = {0};
    struct ir_block loops = sched_loops(c->pass, sched_innermost(loop));
    for (size_t i = 0; i < loops.n; i++) {
        struct depend_conflict conflict;
        if (loops.at[i]->u.loop.axis == AXIS_serial &&
            !depend_carried(c->pass, loops.at[i], axis, false, &conflict))
            buf_printf(&text, "%s`%s`", text.n ? ", " : "",
                       loops.at[i]->u.loop.var->name);
    }
    if (text.n)
        diag_help(c->pass->diags, "independent loops here: %s", text.data);
    buf_free(&text);
}

void sched_note_conflict(const struct sched_call *c,
                         const struct depend_conflict *m)
{
    struct diag_list *d = c->pass->diags;
    const struct span nowhere = {0};
    if (m->example)
        diag_note(d, nowhere, "%s", m->example);
    else if (!m->is_exact)
        diag_note(d, nowhere,
                  "it was not proved that they access different elements of "
                  "`%s`: an index or a condition is not affine",
                  m->name);
    diag_note(d, m->first.span, "`%s` is written here", m->name);
    if (m->second.span.from != m->first.span.from || !m->second.writes)
        diag_note(d, m->second.span, "and %s here",
                  m->second.writes ? "written" : "read");
    if (m->uncovered.source)
        diag_note(d, m->uncovered,
                  "each iteration could have its own `%s`, but what is read "
                  "here is not always written before in the same iteration",
                  m->name);
}

bool sched_check_parallel(const struct sched_call *c, struct ir_stmt *loop,
                          enum axis axis)
{
    struct depend_conflict m;
    if (c->is_independent || !depend_carried(c->pass, loop, axis, true, &m))
        return true;
    const char *name = loop->u.loop.var->name;
    const char *how =
        axis == AXIS_vector
            ? "vectorize"
            : arena_printf(c->pass->scratch, "bind to %s", axis_name(axis));
    diag_error(c->pass->diags, c->span, D_loop_carries, how, name);
    diag_label(c->pass->diags,
               "two iterations of `%s` may access the same element of `%s`",
               name, m.name);
    sched_note_conflict(c, &m);
    sched_blame_one(c, loop, "carries the dependence");
    help_parallel(c, loop, axis);
    return false;
}

// Say which loops of a band can change places with any other.
static void help_order(const struct sched_call *c, struct ir_stmt *const *loops,
                       size_t n)
{
    struct buf text = {0};
    struct depend_conflict m;
    struct ir_stmt **order = arena_array(c->pass->scratch, struct ir_stmt *, n);
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t k = 0; k < n; k++)
            order[k] = loops[k == i ? i + 1 : k == i + 1 ? i : k];
        if (!depend_reordered(c->pass, loops, n, order, false, &m))
            buf_printf(&text, "%s`%s` and `%s`", text.n ? "; " : "",
                       loops[i]->u.loop.var->name,
                       loops[i + 1]->u.loop.var->name);
    }
    diag_help(c->pass->diags,
              "iterations that access the same element must stay in order%s%s",
              text.n ? "; these could change places: " : "",
              text.n ? text.data : "");
    buf_free(&text);
}

bool sched_check_order(const struct sched_call *c, struct ir_stmt *const *loops,
                       size_t n, struct ir_stmt *const *order)
{
    struct depend_conflict m;
    struct buf text = {0};
    if (c->is_independent ||
        !depend_reordered(c->pass, loops, n, order, true, &m))
        return true;
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s`%s`", i ? ", " : "", order[i]->u.loop.var->name);
    diag_error(c->pass->diags, c->span, D_reorder_dependence, text.data);
    buf_free(&text);
    sched_note_conflict(c, &m);
    sched_blame(c, loops, n, "to be reordered");
    help_order(c, loops, n);
    return false;
}

bool sched_check_declared(const struct sched_call *c,
                          const struct ir_buffer *array, const char *how)
{
    const struct sched_value *v = &c->args.at[0];
    if (array && array->role == ROLE_alloc)
        return true;
    diag_error(c->pass->diags, c->span, D_layout_fixed, how,
               array ? array->name : sched_name_of(v->stmt));
    if (array && array->span.source)
        diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
    diag_help(c->pass->diags, "cache_read or cache_write it first: the copy "
                              "may lie anywhere");
    return false;
}

bool sched_check_working_copy(const struct sched_call *c, size_t i,
                              struct ir_stmt *stage,
                              const struct ir_buffer *array)
{
    const struct sched_value *memory = &c->args.at[i];
    if (memory->space == SPACE_constant)
        return sched_refuse_at(c, memory->span, stage, "named here",
                               D_cache_space, "constant");
    if (space_is_own(memory->space) &&
        ir_block_atomics(&c->pass->kernel->body, array))
        return sched_refuse_at(
            c, memory->span, stage, "named here", D_scope_memory, array->name,
            space_name(memory->space), "there are atomics on it");
    return true;
}
