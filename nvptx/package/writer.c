// Parts of launch functions.

#include "nvptx/package/writer.h"

#include "ir/build.h"
#include "ir/text.h"
#include "nvptx/package/c_expr.h"
#include "nvptx/package/c_names.h"

const char *writer_text(struct writer *w, const struct ir_expr *x)
{
    struct buf b = {0};
    ir_print_expr(&b, x);
    const char *text = arena_copy(w->arena, b.data, b.n);
    buf_free(&b);
    return text;
}

// Append an expression; `values` have variables.
static bool append(struct writer *w, const struct ir_kernel *kernel,
                   const struct ir_expr *x, const struct c_values *values)
{
    struct c_scope scope = {.kernel = kernel,
                            .names = w->kernel->names,
                            .values = values,
                            .knows_sms = w->knows_sms};
    if (!c_expr(&scope, x, w->out)) {
        if (w->ok)
            diag_error(w->diags, x->span, D_not_in_c, writer_text(w, x));
        w->ok = false;
    }
    w->uses_values = scope.uses_values;
    return scope.has_checks;
}

bool writer_expr(struct writer *w, const struct ir_kernel *kernel,
                 const struct ir_expr *x)
{
    return append(w, kernel, x, NULL);
}

bool writer_guard(struct writer *w, const struct ir_kernel *kernel,
                  const struct ir_expr *x)
{
    return append(w, kernel, x, w->values);
}

struct ir_expr *writer_bytes(struct arena *a, const struct ir_buffer *b)
{
    struct ir_expr *elements = ir_buffer_elements(a, b);
    struct type type = elements->type;
    if (b->strides) {
        struct ir_expr *one = ir_const_int(a, type, 1), *span = one;
        struct ir_expr *is_empty = ir_bool(a, false);
        struct ir_expr *zero = ir_zero(a, type);
        for (uint32_t i = 0; i < b->rank; i++) {
            struct ir_expr *last = ir_sub(a, b->shape[i], one);
            span = ir_add(a, span, ir_mul(a, last, b->strides[i]));
            is_empty = ir_binary(a, OP_or, is_empty,
                                 ir_binary(a, OP_eq, b->shape[i], zero));
        }
        elements = ir_select(a, is_empty, zero, span);
    }
    return ir_mul(a, elements,
                  ir_const_int(a, type, (int64_t)type_bytes(b->elem)));
}

bool writer_is_size(const struct ir_param *p)
{
    return p->var && type_is_index(p->var->type);
}

void writer_parameter(struct writer *w, size_t i)
{
    const struct ir_param *p = &w->kernel->source->params.at[i];
    const char *name = w->kernel->names[i];
    if (p->var)
        buf_printf(w->out, "%s %s", type_c_name(p->var->type), name);
    else
        buf_printf(w->out, "%s%s *%s",
                   p->buffer->role == ROLE_input ? "const " : "",
                   type_c_name(p->buffer->elem), name);
}

void writer_sizes(struct writer *w, bool is_declaration)
{
    const struct ir_kernel *source = w->kernel->source;
    bool is_first = true;
    for (size_t i = 0; i < source->params.n; i++) {
        if (!writer_is_size(&source->params.at[i]))
            continue;
        buf_text(w->out, is_first ? "" : ", ");
        is_first = false;
        if (is_declaration)
            writer_parameter(w, i);
        else
            buf_text(w->out, w->kernel->names[i]);
    }
    if (is_first && is_declaration)
        buf_text(w->out, "void");
}

void writer_use_sizes(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    for (size_t i = 0; i < source->params.n; i++)
        if (writer_is_size(&source->params.at[i]))
            buf_printf(w->out, "    (void)%s;\n", w->kernel->names[i]);
}

void writer_declare(struct writer *w, const struct writer_function *f)
{
    f->comment(w);
    buf_text(w->out, "INGOT_API ");
    f->signature(w);
    buf_text(w->out, ";\n");
}

void writer_begin(struct writer *w, const struct writer_function *f)
{
    bool is_declared = w->plan->package->declarations;
    if (!is_declared)
        f->comment(w);
    buf_text(w->out, is_declared ? "" : "static inline ");
    f->signature(w);
    buf_text(w->out, "\n{\n");
}

const char *writer_shape(struct writer *w, const struct ir_buffer *b)
{
    struct buf out = {0};
    buf_text(&out, type_name(b->elem));
    for (uint32_t i = 0; i < b->rank; i++) {
        buf_text(&out, i ? ", " : "[");
        ir_print_expr(&out, b->shape[i]);
    }
    buf_text(&out, b->rank ? "]" : "");
    for (uint32_t i = 0; b->strides && i < b->rank; i++) {
        buf_text(&out, i ? ", " : " strides [");
        ir_print_expr(&out, b->strides[i]);
    }
    buf_text(&out, b->strides && b->rank ? "]" : "");
    const char *text = arena_copy(w->arena, out.data, out.n);
    buf_free(&out);
    return text;
}

void writer_rejection(struct writer *w, const char *status, const char *text)
{
    buf_printf(w->out, "return ingot_reject(module, INGOT_%s, \"%s\",\n",
               status, w->kernel->source->name);
    buf_indent(w->out, 28);
    buf_char(w->out, '"');
    c_string(w->out, text);
    buf_text(w->out, "\");\n");
}
