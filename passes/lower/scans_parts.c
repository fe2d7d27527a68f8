// What lowering scans is made of: values of a partial result, what combines
// them in order, and exchanges between lanes.

#include "ir/build.h"
#include "ir/gpu.h"
#include "passes/lower/scans.h"

// Return the directive that made the stage, or else the loops of the scan.
static struct span directive_of(const struct scanning *c)
{
    struct span by = c->stage->by;
    for (uint32_t i = c->first; i + 1 < c->path.n && !by.source; i++)
        by = c->path.stmts[i]->by;
    return by;
}

struct ir_stmt *scan_add(const struct scanning *c, struct ir_block *to,
                         struct ir_stmt *s)
{
    const struct ir_stmt like = {.span = c->stage->span, .by = directive_of(c)};
    ir_append(c->pass->arena, to, ir_stmt_from(s, &like));
    return s;
}

struct ir_var *scan_var(const struct scanning *c, const char *name,
                        struct type type, enum var_kind kind)
{
    return ir_var_new(c->pass->arena, str_name(c->pass->names, name), type,
                      kind, c->stage->span);
}

struct ir_var *scan_let(const struct scanning *c, struct ir_block *to,
                        const char *name, struct ir_expr *value,
                        enum var_kind kind)
{
    struct ir_var *var = scan_var(c, name, value->type, kind);
    scan_add(c, to, ir_stmt_let(c->pass->arena, var, value));
    return var;
}

// Return the array that a value runs in.
static const struct ir_buffer *array_of(const struct scanning *c, size_t value)
{
    return c->scan.reducer.values[value].store->u.store.buffer;
}

struct type scan_type(const struct scanning *c, size_t value)
{
    return array_of(c, value)->elem;
}

const char *scan_name(const struct scanning *c, size_t value, const char *what)
{
    const char *name =
        arena_printf(c->pass->scratch, "%s_%s", array_of(c, value)->name, what);
    return str_name(c->pass->names, name);
}

struct ir_buffer *scan_array(const struct scanning *c, size_t value,
                             const char *what, enum space space, uint32_t rank,
                             struct ir_expr **shape)
{
    struct ir_buffer *b =
        ir_buffer_new(c->pass->arena, scan_name(c, value, what),
                      scan_type(c, value), rank, shape);
    b->space = space;
    b->span = c->stage->span;
    return b;
}

void scan_identity(const struct scanning *c, struct ir_expr **x)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        x[v] = c->scan.reducer.values[v].identity;
}

void scan_read(const struct scanning *c, const struct scan_values *from,
               struct ir_expr **x)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        x[v] = reducer_read(c->pass->arena, &from->at[v]);
}

struct scan_values scan_declare_values(const struct scanning *c,
                                       struct ir_block *to, const char *what,
                                       struct ir_expr *const *initial)
{
    struct scan_values r = {0};
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        r.at[v].var =
            scan_var(c, scan_name(c, v, what), scan_type(c, v), VAR_mutable);
        scan_add(c, to, ir_stmt_let(c->pass->arena, r.at[v].var, initial[v]));
    }
    return r;
}

void scan_write(const struct scanning *c, struct ir_block *to,
                const struct scan_values *at, struct ir_expr *const *x)
{
    for (size_t v = 0; v < c->scan.reducer.n; v++)
        scan_add(c, to, reducer_write(c->pass->arena, &at->at[v], x[v]));
}

void scan_combine(const struct scanning *c, struct ir_block *to,
                  const struct scan_values *at, struct ir_expr *const *right)
{
    const struct ir_stmt like = {.span = c->stage->span, .by = directive_of(c)};
    struct ir_block block =
        reducer_combine(c->pass, &c->scan.reducer, at->at, right, &c->values);
    ir_foreach_stmt(s, &block)
        ir_stmt_from(s, &like);
    ir_append_all(c->pass->arena, to, &block);
}

void scan_precede(const struct scanning *c, struct ir_block *to,
                  struct ir_expr *condition, const struct scan_values *at,
                  struct ir_expr *const *left)
{
    struct ir_expr *own[REDUCER_ARRAYS], *all[REDUCER_ARRAYS];
    if (condition) {
        struct ir_stmt *s = ir_stmt_if(c->pass->arena, condition);
        to = &scan_add(c, to, s)->u.branch.then;
    }
    struct scan_values front = scan_declare_values(c, to, "front", left);
    scan_read(c, at, own);
    scan_combine(c, to, &front, own);
    scan_read(c, &front, all);
    scan_write(c, to, at, all);
}

void scan_shuffle(const struct scanning *c, struct ir_block *to, enum ir_op op,
                  const struct scan_values *at, struct ir_expr *lane,
                  struct ir_expr **x)
{
    struct arena *a = c->pass->arena;
    for (size_t v = 0; v < c->scan.reducer.n; v++) {
        struct ir_expr *args[] = {reducer_read(a, &at->at[v]), lane};
        struct ir_var *var = scan_let(c, to, scan_name(c, v, "other"),
                                      ir_call(a, op, 2, args), VAR_let);
        x[v] = ir_read(a, var);
    }
}

struct ir_expr *scan_compare(const struct scanning *c, enum ir_op op,
                             struct ir_expr *x, int64_t with)
{
    struct arena *a = c->pass->arena;
    return ir_binary(a, op, x, ir_const_int(a, x->type, with));
}

void scan_lanes(const struct scanning *c, struct ir_block *to,
                const struct scan_values *at, struct ir_expr *lane,
                int64_t width)
{
    for (int64_t d = 1; d < width; d *= 2) {
        struct ir_expr *left[REDUCER_ARRAYS];
        scan_shuffle(c, to, OP_shuffle_up, at, ir_int(c->pass->arena, d), left);
        scan_precede(c, to, scan_compare(c, OP_ge, lane, d), at, left);
    }
}

struct ir_expr *scan_lane(const struct scanning *c)
{
    for (uint32_t k = 0; k < c->n; k++)
        if (c->levels[k].kind == SCAN_LANES)
            return c->levels[k].number;
    return NULL;
}
