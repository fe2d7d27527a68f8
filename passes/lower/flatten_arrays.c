// The arrays of a kernel at level flat: strides instead of padding, and
// elements of type idx64, as in memory, instead of `int`.

#include "ir/build.h"
#include "ir/layout.h"
#include "ir/walk.h"
#include "passes/lower/dropped.h"
#include "passes/lower/flatten.h"

// Turn the gaps of an array into strides, and check its swizzle.
static void flatten_array(struct pass *p, const struct ir_stmt *alloc)
{
    struct ir_buffer *b = alloc->u.buffer;
    b->strides = layout_strides(p->arena, b);
    b->pitches = NULL;
    dropped_swizzle(p, b);
    if (layout_swizzle_fits(b))
        return;
    diag_error(p->diags, alloc->span, D_layout_swizzle, b->name,
               arena_printf(p->scratch,
                            "its rows are no multiple of 2^(%u + %u) elements",
                            b->swizzle.bits, b->swizzle.base));
}

bool flatten_begin_arrays(struct pass *p)
{
    int errors = p->diags->errors;
    ir_foreach_stmt(s, &p->kernel->body)
        if (s->kind == STMT_alloc)
            flatten_array(p, s);
    return p->diags->errors == errors;
}

struct type flatten_element(const struct ir_buffer *b)
{
    return b->elem.kind == TYPE_int ? type_scalar(TYPE_idx64) : b->elem;
}

// Give the elements of an array, and their values if they are constants, the
// type of level flat.
static void vectorize_elements(struct arena *a, struct ir_buffer *b)
{
    struct type elem = flatten_element(b);
    if (type_equal(elem, b->elem))
        return;
    struct ir_expr **values = arena_array(a, struct ir_expr *, b->n_values);
    for (uint32_t i = 0; i < b->n_values; i++)
        values[i] = ir_const_int(a, elem, b->values[i]->u.i);
    b->values = b->values ? values : NULL;
    b->elem = elem;
}

void flatten_end_arrays(struct pass *p)
{
    for (size_t i = 0; i < p->kernel->params.n; i++) {
        struct ir_buffer *b = p->kernel->params.at[i].buffer;
        if (b)
            vectorize_elements(p->arena, b);
    }
    ir_foreach_stmt(s, &p->kernel->body) {
        if (s->kind != STMT_alloc)
            continue;
        s->u.buffer->swizzle = (struct ir_swizzle){0};
        vectorize_elements(p->arena, s->u.buffer);
    }
}
