// What a kernel says of its data and results.

#include "ir/text/print.h"

// Return the name of a parameter.
static const char *name_of(const struct printer *p, const struct ir_kernel *k,
                           uint32_t number)
{
    const struct ir_param *param = &k->params.at[number];
    return param->var ? print_name(p, param->var, param->var->name)
                      : print_name(p, param->buffer, param->buffer->name);
}

// Append the word of a clause, or a comma.
static void begin(struct printer *p, const char *word, size_t i)
{
    if (i)
        buf_text(p->out, ", ");
    else
        buf_printf(p->out, "\n    %s ", word);
}

// Append `range A in low..high, ...`.
static void print_ranges(struct printer *p, const struct ir_kernel *k)
{
    for (size_t i = 0; i < k->terms.ranges.n; i++) {
        const struct ir_range *r = &k->terms.ranges.at[i];
        begin(p, "range", i);
        buf_printf(p->out, "%s in ", name_of(p, k, r->parameter));
        print_expr(p, r->low, 0, true);
        buf_text(p->out, "..");
        print_expr(p, r->high, 0, true);
        buf_text(p->out, r->ascends ? " ascending" : "");
    }
}

void print_terms(struct printer *p, const struct ir_kernel *k)
{
    const struct ir_terms *t = &k->terms;
    if (t->defines)
        buf_printf(p->out, "\n    defines %s", t->defines);
    print_ranges(p, k);
    for (size_t i = 0; i < t->unordered.n; i++) {
        const struct ir_unordered *u = &t->unordered.at[i];
        begin(p, "unordered", i);
        buf_text(p->out, name_of(p, k, u->parameter));
        if (u->has_count)
            buf_printf(p->out, " by %s", name_of(p, k, u->count));
    }
    if (t->tolerance) {
        buf_text(p->out, "\n    tolerance ");
        print_expr(p, t->tolerance, 0, true);
    }
    for (size_t i = 0; i < t->tries.n; i++) {
        begin(p, "try", i);
        buf_printf(p->out, "%s = %lld", name_of(p, k, t->tries.at[i].parameter),
                   (long long)t->tries.at[i].value);
    }
}
