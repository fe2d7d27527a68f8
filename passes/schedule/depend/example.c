// Two iterations that conflict, in words.

#include "passes/schedule/depend/access.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/walk.h"

// Fix the value of every size that is not a number yet; false if the kernel
// takes no such sizes, as far as that can be seen.
static bool choose_sizes(const struct pass *p, int64_t value, struct map *sizes)
{
    struct arena *a = p->scratch;
    const struct ir_conditions *both[] = {&p->kernel->where, &p->kernel->guard};
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        const struct ir_var *var = p->kernel->params.at[i].var;
        if (var && type_is_index(var->type))
            map_set(sizes, var, ir_const_int(a, var->type, value));
    }
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->n; i++)
            if (ir_is_false(ir_substitute(a, both[k]->at[i], sizes, NULL)))
                return false;
    return true;
}

// Append "i = 0, j = 1" for the loops of a path.
static void iteration_text(struct buf *out, const struct domain_path *path,
                           const int64_t *values)
{
    const char *comma = "";
    for (size_t i = 0; i < path->n; i++) {
        const struct ir_stmt *s = path->at[i].stmt;
        if (!s || s->kind != STMT_for)
            continue;
        buf_printf(out, "%s%s = %lld", comma, s->u.loop.var->name,
                   (long long)values[i]);
        comma = ", ";
    }
}

// Append " of `C`" where two accesses need not be in one nest.
static void stage_text(struct buf *out, const struct depend_question *q,
                       const struct depend_access *x)
{
    if (q->any && x->stage)
        buf_printf(out, " of `%s`", x->stage->u.stage.name);
}

// Append "`C[0, 1]`" for the element of an access.
static void element_text(struct buf *out, struct arena *a,
                         const struct depend_access *x, const int64_t *values,
                         struct map *vars)
{
    for (size_t i = 0; i < x->path.n; i++) {
        const struct ir_stmt *s = x->path.at[i].stmt;
        if (s && s->kind == STMT_for)
            map_set(vars, s->u.loop.var, ir_int(a, values[i]));
    }
    buf_printf(out, "`%s", x->buffer->name);
    for (uint32_t i = 0; i < x->buffer->rank; i++) {
        buf_text(out, i ? ", " : "[");
        ir_print_expr(out, ir_substitute(a, x->index[i], vars, NULL));
    }
    buf_text(out, x->buffer->rank ? "]`" : "`");
}

// Return whether an access mentions a size, in its index or its loops.
static bool mentions(const struct depend_access *x, const struct ir_var *var)
{
    bool found = ir_any_mentions(x->buffer->rank, x->index, var);
    vec_foreach(step, &x->path) {
        if (step->condition)
            found |= ir_mentions(step->condition, var);
        else if (step->stmt->kind == STMT_for)
            found |= ir_mentions(step->stmt->u.loop.from, var) ||
                     ir_mentions(step->stmt->u.loop.to, var);
    }
    return found;
}

// Append "with m = 2, n = 2, " for the sizes that two accesses depend on.
static void sizes_text(struct buf *out, const struct ir_kernel *kernel,
                       const struct depend_access *x,
                       const struct depend_access *y, int64_t value)
{
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        if (var && type_is_index(var->type) &&
            (mentions(x, var) || mentions(y, var)))
            buf_printf(out, "%s%s = %lld, ", out->n ? "" : "with ", var->name,
                       (long long)value);
    }
}

const char *depend_example(struct depend_nest *w,
                           const struct depend_question *q,
                           const struct depend_access *x,
                           const struct depend_access *y)
{
    static const int64_t tried[] = {2,  3,  4,  5,  1,   6,   8,    9,
                                    16, 17, 32, 64, 128, 256, 1024, 4096};
    struct pass *p = w->pass;
    size_t n = p->diags->is_brief ? 0 : sizeof tried / sizeof *tried;
    for (size_t i = 0; i < n; i++) {
        struct map sizes = {.arena = p->scratch};
        struct buf out = {0};
        if (!choose_sizes(p, tried[i], &sizes))
            continue;
        const int64_t *values = depend_sample(w, q, x, y, &sizes);
        if (!values)
            continue;
        sizes_text(&out, p->kernel, x, y, tried[i]);
        buf_text(&out, q->any ? "iteration " : "the iterations ");
        iteration_text(&out, &x->path, values);
        stage_text(&out, q, x);
        buf_text(&out, " and ");
        iteration_text(&out, &y->path, values + x->path.n);
        stage_text(&out, q, y);
        buf_text(&out, " both access ");
        element_text(&out, p->scratch, x, values, &sizes);
        const char *text = arena_copy(p->scratch, out.data, out.n);
        buf_free(&out);
        return text;
    }
    return NULL;
}
