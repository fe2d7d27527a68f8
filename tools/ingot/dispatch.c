// Evaluates guards, grids and the workspace.

#include "tools/ingot/dispatch.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

// Put a number in place of the blocks that the device runs at a time.
static struct ir_expr *settle(struct arena *a, struct ir_expr *x, void *context)
{
    const struct problem *p = context;
    if (x->op != OP_resident || !p->sms)
        return x;
    return ir_mul(a, x->args[0], ir_int(a, p->sms));
}

// Return the value of an expression over the parameters; false if it has none.
static bool value_of(const struct problem *p, const struct ir_kernel *variant,
                     const struct ir_expr *x, int64_t *out)
{
    return ir_eval_int(variant, p->values, x, out);
}

bool dispatch_value(struct arena *a, const struct problem *p,
                    const struct ir_kernel *variant, struct ir_expr *x,
                    int64_t *out)
{
    return value_of(p, variant, ir_rewrite(a, x, settle, (void *)p), out);
}

// Return the first part of a condition that does not hold; NULL if all do.
static struct ir_expr *first_false(struct arena *a, const struct problem *p,
                                   const struct ir_kernel *variant,
                                   struct ir_expr *x)
{
    int64_t holds;
    if (x->op == OP_and) {
        struct ir_expr *left = first_false(a, p, variant, x->args[0]);
        return left ? left : first_false(a, p, variant, x->args[1]);
    }
    return dispatch_value(a, p, variant, x, &holds) && holds ? NULL : x;
}

struct ir_expr *dispatch_refusal(struct arena *a, const struct problem *p,
                                 const struct ir_kernel *variant)
{
    struct ir_expr *refusal = NULL;
    for (size_t i = 0; i < variant->guard.n && !refusal; i++)
        refusal = first_false(a, p, variant, variant->guard.at[i]);
    return refusal;
}

// Return the first variant that takes the problem, or NULL.
static const struct ir_kernel *choose(struct arena *a, const struct problem *p,
                                      const struct ir_kernel *const *variants,
                                      size_t n, const char *wanted)
{
    for (size_t i = 0; i < n; i++) {
        bool is_wanted = !wanted || strcmp(variants[i]->variant, wanted) == 0;
        if (is_wanted && !dispatch_refusal(a, p, variants[i]))
            return variants[i];
    }
    return NULL;
}

// Add a launch; false if its grid has no value.
static bool add_launch(struct arena *a, const struct problem *p,
                       const struct ir_launch *launch, struct dispatch *d)
{
    struct dispatch_launch added = {.launch = launch};
    for (int i = 0; i < 3; i++) {
        struct ir_expr *x = ir_rewrite(a, launch->grid[i], settle, (void *)p);
        int64_t blocks;
        if (!value_of(p, d->variant, x, &blocks))
            return false;
        added.grid[i] = blocks > 0 ? (uint64_t)blocks : 0;
    }
    vec_push(a, &d->launches, added);
    return true;
}

// Add an array of the workspace, gaps between its rows included; false if its
// size has no value.
static bool add_workspace(struct arena *a, const struct problem *p,
                          const struct ir_buffer *b, struct dispatch *d)
{
    int64_t last = 0, row = 1, bytes;
    for (uint32_t i = b->rank; i-- > 0;) {
        int64_t extent, stride = row, step;
        if (!value_of(p, d->variant, b->shape[i], &extent) ||
            (b->strides && !value_of(p, d->variant, b->strides[i], &stride)) ||
            !num_mul(extent - 1, stride, &step) ||
            !num_mul(row, extent, &row) || !num_add(last, step, &last))
            return false;
    }
    if (!num_mul(row > 0 ? last + 1 : 0, (int64_t)type_bytes(b->elem), &bytes))
        return false;
    vec_push(a, &d->workspace, (size_t)bytes);
    return true;
}

// Add a tensor map; false if the shape of its array has no value.
static bool add_map(struct arena *a, const struct problem *p,
                    const struct ir_map *map, struct dispatch *d)
{
    const struct ir_kernel *k = d->variant;
    const struct ir_buffer *b = map->buffer;
    struct dispatch_map added = {.map = map,
                                 .parameter = ir_launch_parameter(k, b)};
    for (uint32_t i = 0; i < b->rank; i++) {
        uint32_t from = b->rank - 1 - i;
        if (!value_of(p, k, b->shape[from], &added.sizes[i]) ||
            !value_of(p, k, ir_buffer_stride(a, b, from), &added.strides[i]))
            return false;
    }
    vec_push(a, &d->maps, added);
    return true;
}

bool dispatch_make(struct arena *a, const struct problem *p,
                   const struct ir_kernel *const *variants, size_t n,
                   const char *wanted, struct diag_list *diags,
                   struct dispatch *out)
{
    *out = (struct dispatch){.variant = choose(a, p, variants, n, wanted)};
    bool ok = out->variant != NULL;
    const struct ir_block *body = ok ? &out->variant->body : NULL;
    for (size_t i = 0; ok && i < body->n; i++) {
        const struct ir_stmt *s = body->at[i];
        if (s->kind == STMT_launch)
            ok = add_launch(a, p, &s->u.launch, out);
        else if (s->kind == STMT_alloc)
            ok = add_workspace(a, p, s->u.buffer, out);
    }
    for (size_t i = 0; ok && i < out->variant->maps.n; i++)
        ok = add_map(a, p, out->variant->maps.at[i], out);
    if (!ok)
        diag_error(diags, p->kernel->span, D_no_variant, p->kernel->name);
    return ok;
}
