// The case of a rule as a schedule of its own.
//
//   rule gemm(acc, C) {                         schedule mm for sm_90a {
//       A, B = inputs(acc)                          whole = 1
//       tma = gemm_tma(A, B, C)                     gemm_sm90(acc, C, [128, 128], whole)
//       case(whole in [1, 0]) for sm_90a    =>  }
//           when tma { gemm_sm90(acc, C, [128, 128], whole) }
//   }
//
// Of the names in front of the cases those are kept that the directives need, as
// they are written; a parameter stands for the argument of the call.

#include "tools/ingot/schedule_case.h"

#include <string.h>

// The names that what is printed needs; interned.
struct needs {
    struct arena arena;
    struct VEC(const char *) names;
};

// Return whether a name is needed.
static bool is_needed(const struct needs *n, const char *name)
{
    vec_foreach_value(known, &n->names)
        if (known == name)
            return true;
    return false;
}

// Note the names in an expression.
static void note_expr(struct needs *n, const struct sched_expr *x)
{
    if (x && x->kind == SCHED_name && !is_needed(n, x->name))
        vec_push(&n->arena, &n->names, x->name);
    for (size_t i = 0; x && i < x->args.n; i++)
        note_expr(n, x->args.at[i]);
}

// Note the names in statements.
static void note_block(struct needs *n, const struct sched_block *block)
{
    vec_foreach_value(s, block) {
        note_expr(n, s->value);
        note_block(n, &s->body);
        note_block(n, &s->otherwise);
    }
}

// Return whether a statement gives a name that is needed.
static bool gives(const struct needs *n, const struct sched_stmt *s)
{
    for (size_t i = 0; i < s->names.n; i++)
        if (is_needed(n, s->names.at[i].text))
            return true;
    return false;
}

// Note what the names of a rule need that are needed themselves: each stands
// behind those that it uses.
static void note_names(struct needs *n, const struct sched_item *rule)
{
    for (size_t i = rule->body.n; i-- > 0;) {
        struct sched_block one = {.at = &rule->body.at[i], .n = 1};
        if (gives(n, rule->body.at[i]))
            note_block(n, &one);
    }
}

// Append what is written at a place.
static void print_span(struct span span, struct buf *out)
{
    buf_bytes(out, span.source->text + span.from, span.to - span.from);
}

// Return the column that a place of a text is in, from 0.
static size_t column_of(struct span span)
{
    size_t from = span.from;
    while (from > 0 && span.source->text[from - 1] != '\n')
        from--;
    return span.from - from;
}

// Append a statement as it is written, moved to the first indentation.
static void print_stmt(const struct sched_stmt *s, struct buf *out)
{
    const char *text = s->span.source->text;
    size_t column = column_of(s->span), skip = 0;
    buf_text(out, "    ");
    for (size_t i = s->span.from; i < s->span.to; i++) {
        if (skip > 0 && text[i] == ' ') {
            skip--;
            continue;
        }
        skip = 0;
        buf_bytes(out, &text[i], 1);
        if (text[i] != '\n')
            continue;
        buf_text(out, "    ");
        skip = column;
    }
    buf_text(out, "\n");
}

// Append `name = ` for a parameter that is needed and has a value; false if it is
// not printed.
static bool print_name(const struct needs *n, const struct sched_name *name,
                       const struct sched_expr *value, struct buf *out)
{
    if (!value || !is_needed(n, name->text) ||
        (value->kind == SCHED_name && value->name == name->text))
        return false;
    buf_printf(out, "    %s = ", name->text);
    return true;
}

// Append the value of a parameter of the case: its own, or the last that it was set
// to.
static void print_value(const struct variant *v,
                        const struct sched_parameter *p, struct buf *out)
{
    const struct sched_setting *last = NULL;
    vec_foreach(one, &v->settings)
        if (strcmp(one->name, p->name.text) == 0)
            last = one;
    if (last)
        buf_printf(out, "%lld", (long long)last->value);
    else
        print_span(p->initial->span, out);
}

// Append the parameters of the rule and of the case.
static void print_parameters(const struct needs *n, const struct variant *v,
                             struct buf *out)
{
    const struct sched_item *item = v->schedule, *rule = item->rule;
    const struct sched_expr *by = item->by;
    for (size_t i = 0; i < rule->params.n; i++) {
        const struct sched_parameter *p = &rule->params.at[i];
        const struct sched_expr *value =
            i < by->args.n ? by->args.at[i] : p->initial;
        if (!print_name(n, &p->name, value, out))
            continue;
        if (value->kind == SCHED_name)
            buf_text(out, value->name);
        else
            print_span(value->span, out);
        buf_text(out, "\n");
    }
    vec_foreach(p, &item->params) {
        if (!print_name(n, &p->name, p->initial, out))
            continue;
        print_value(v, p, out);
        buf_text(out, "\n");
    }
}

void schedule_case_print(const struct variant *v, struct buf *out)
{
    const struct sched_item *item = v->schedule;
    struct needs needs = {0};
    note_block(&needs, &item->body);
    note_names(&needs, item->rule);
    buf_printf(out, "schedule %s", v->source->name);
    for (size_t i = 0; i < item->targets.n; i++)
        buf_printf(out, "%s%s%s", i ? ", " : " for ",
                   item->targets.at[i].name.text,
                   item->targets.at[i].is_open ? "+" : "");
    buf_text(out, " {\n");
    print_parameters(&needs, v, out);
    vec_foreach_value(s, &item->rule->body)
        if (gives(&needs, s))
            print_stmt(s, out);
    vec_foreach_value(s, &item->body)
        print_stmt(s, out);
    buf_text(out, "}\n\n");
    arena_reset(&needs.arena);
}
