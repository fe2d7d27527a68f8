// The texts that a page shows lines of, and expressions as text.

#include "tools/report/report.h"

#include "tools/libingot/library.h"

#include "ir/foreach.h"
#include "ir/text.h"

// Return the number of a text, which is added once.
static size_t number_of(struct report *r, struct report_text text)
{
    for (size_t i = 0; i < r->texts.n; i++)
        if (strcmp(r->texts.at[i].name, text.name) == 0)
            return i;
    vec_push(&r->c->arena, &r->texts, text);
    return r->texts.n - 1;
}

json_t *report_place(struct report *r, struct span span)
{
    const struct source *s = span.source;
    if (!s)
        return json_null();
    size_t i = number_of(r, (struct report_text){s->name, s->text, s->size});
    return json_pack("[I, I]", (json_int_t)i,
                     (json_int_t)source_line(s, span.from).number);
}

json_t *report_line(struct report *r, const char *file, uint32_t line)
{
    struct report_text text = {file, "", 0};
    for (size_t i = 0; i < r->texts.n; i++)
        if (strcmp(nvptx_line_path(&r->c->arena, r->texts.at[i].name), file) ==
            0)
            text = r->texts.at[i];
    for (const struct library_file *f = library_files; f->name; f++)
        if (strcmp(f->name, file) == 0)
            text = (struct report_text){f->name, f->text, f->size};
    return json_pack("[I, I]", (json_int_t)number_of(r, text),
                     (json_int_t)line);
}

json_t *report_texts(const struct report *r)
{
    json_t *list = json_array();
    vec_foreach(text, &r->texts)
        json_array_append_new(list, json_pack("{s:o, s:o}", "name",
                                              json_text(text->name), "text",
                                              json_text(text->text)));
    return list;
}

json_t *report_expr(const struct ir_expr *x)
{
    struct buf text = {0};
    ir_print_expr(&text, x);
    json_t *out = json_text(text.n ? text.data : "");
    buf_free(&text);
    return out;
}

// Return whether an expression is of parameters alone.
static bool is_of_sizes(const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if ((e->op == OP_var && e->u.var->kind != VAR_param) ||
            e->op == OP_index || e->op == OP_resident ||
            !(ir_op_info(e->op)->flags & OP_PURE) || type_is_float(e->type))
            return false;
    return true;
}

bool report_value(const struct report *r, const struct ir_expr *x,
                  int64_t *value)
{
    const struct ir_kernel *k = r->taken->variant->scheduled;
    return is_of_sizes(x) && ir_eval_int(k, r->problem->values, x, value);
}
