// What a thread of a scan loads, and combines on its own.

#include "ir/build.h"
#include "ir/copy.h"
#include "passes/lower/scans.h"

// Declare the arrays of what is kept.
static void declare_kept(struct scanning *c, struct ir_block *to)
{
    struct pass *p = c->pass;
    for (uint32_t k = 0; k < c->n_kept; k++) {
        uint32_t rank;
        struct ir_expr **shape = nest_shape(c, c->n, &rank);
        const struct ir_buffer *from = c->kept[k].load->u.buffer;
        const char *name = arena_printf(p->scratch, "%s_kept", from->name);
        struct ir_buffer *b = ir_buffer_new(p->arena, str_name(p->names, name),
                                            from->elem, rank, shape);
        b->space = SPACE_local;
        b->span = c->stage->span;
        c->kept[k].array = b;
        scan_add(c, to, ir_stmt_alloc(p->arena, b));
    }
}

// Append what keeps loads of an element.
static void add_kept(const struct scanning *c, struct ir_block *to,
                     const struct scan_nest *nest, const struct map *iters)
{
    struct arena *a = c->pass->arena;
    for (uint32_t k = 0; k < c->n_kept; k++) {
        struct ir_buffer *array = c->kept[k].array;
        struct ir_expr **index = arena_array(a, struct ir_expr *, array->rank);
        for (uint32_t i = 0; i < array->rank; i++)
            index[i] = nest->index[i];
        scan_add(c, to,
                 ir_stmt_store(a, array, array->rank, index,
                               ir_substitute(a, c->kept[k].load, iters, NULL)));
    }
}

void load_operands(const struct scanning *c, const struct scan_nest *nest,
                   const struct map *iters, struct ir_expr **x)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        x[v] = kept_read(c, reducer_operand(&c->scan.reducer, v), nest->index);
        x[v] = ir_substitute(c->pass->arena, x[v], iters, NULL);
    }
}

// Load each element.  Vectors of which some elements do not exist are branches,
// one waiting for the other: the last tile of a grid loads single elements
// instead.
static void load_each(struct scanning *c, struct ir_block *to, bool exist)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    struct map iters = {.arena = c->pass->scratch};
    struct scan_nest nest = nest_open(c, to, c->n, exist || !c->blocks);
    struct scan_values at = nest_values(c, c->totals[c->n], &nest);
    const char *name =
        arena_printf(c->pass->scratch, "%s.own", c->stage->u.stage.name);
    struct ir_stmt *s = nest_stage(c, &nest, name, &iters);
    add_kept(c, &s->u.stage.body, &nest, &iters);
    load_operands(c, &nest, &iters, x);
    scan_write(c, &s->u.stage.body, &at, x);
}

void load_total(struct scanning *c, uint32_t k, struct scan_nest *nest)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    struct scan_values out = nest_values(c, c->totals[k], nest);
    struct ir_block *outside = nest->body;
    scan_identity(c, x);
    struct scan_values run = scan_declare_values(c, outside, "sum", x);
    nest_enter(c, nest, k, false);
    struct scan_values in = nest_values(c, c->totals[k + 1], nest);
    scan_read(c, &in, x);
    scan_combine(c, nest->body, &run, x);
    scan_read(c, &run, x);
    scan_write(c, outside, &out, x);
}

bool load_is_early(const struct scanning *c)
{
    return c->n > 1 && c->levels[c->n - 1].kind == SCAN_SERIAL &&
           kept_is_all(c);
}

// Load each element and combine those of the innermost level, if that is to be
// done now.
static void load_all(struct scanning *c, struct ir_block *to, bool exist)
{
    load_each(c, to, exist);
    if (!load_is_early(c))
        return;
    struct scan_nest nest = nest_open(c, to, c->n - 1, false);
    load_total(c, c->n - 1, &nest);
}

void load_elements(struct scanning *c, struct ir_block *to)
{
    struct ir_expr *x[REDUCER_ARRAYS];
    nest_arrays(c, to, c->n, "own", c->totals[c->n]);
    declare_kept(c, to);
    if (load_is_early(c))
        nest_arrays(c, to, c->n - 1, "total", c->totals[c->n - 1]);
    if (c->stage->u.stage.predicate) {
        struct ir_stmt *whole =
            scan_add(c, to, ir_stmt_if(c->pass->arena, nest_is_whole(c)));
        load_all(c, &whole->u.branch.then, true);
        to = &whole->u.branch.otherwise;
        struct scan_nest none = nest_open(c, to, c->n, true);
        struct scan_values at = nest_values(c, c->totals[c->n], &none);
        scan_identity(c, x);
        scan_write(c, none.body, &at, x);
    }
    load_all(c, to, !c->stage->u.stage.predicate);
}
