// The case of a rule, or a schedule for all sizes, as a schedule of its own.
//
//   rule gemm(acc, C) {                         schedule mm for sm_90a {
//       A, B = inputs(acc)                          whole = 1
//       tma = gemm_tma(A, B, C)                     gemm_sm90(acc, C, [128, 128], whole)
//       case(whole in [1, 0]) for sm_90a    =>  }
//           when tma { gemm_sm90(acc, C, [128, 128], whole) }
//   }
//
//   schedule mm when M % BM == 0 {              schedule mm for sm_90
//       tune BM in [64, 128]              =>        when M == 512 && N == 512 {
//       ...                                         BM = 128
//   }                                               ...
//                                               }
//
// Of the names in front of the cases those are kept that the directives need, as
// they are written; a parameter stands for the argument of the call. Knobs that have
// no place in the text, as defs make them, are set: `set lanes = 4`.

#include "tools/libingot/schedule_case.h"

#include "nvptx/package/fatbin.h"
#include "tools/libingot/target_set.h"

#include <ctype.h>
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

// What is being printed, and which settings it has used.
struct printer {
    const struct schedule_case *what;
    struct needs needs;
    struct arena *arena;
    bool *is_used; // of each setting
    struct buf *out;
};

// Return the last setting of a name, and note that it is used; NULL if there is
// none.
static const struct sched_setting *setting_of(struct printer *p,
                                              const char *name)
{
    const struct sched_settings *all = p->what->settings;
    const struct sched_setting *last = NULL;
    for (size_t i = 0; all && i < all->n; i++) {
        if (strcmp(all->at[i].name, name) != 0)
            continue;
        last = &all->at[i];
        p->is_used[i] = true;
    }
    return last;
}

// Append the value of a parameter of the case: its own, or the last that it was set
// to.
static void print_value(struct printer *p, const struct sched_parameter *from)
{
    const struct sched_setting *last = setting_of(p, from->name.text);
    if (last)
        buf_printf(p->out, "%lld", (long long)last->value);
    else
        print_span(from->initial->span, p->out);
}

// Append the parameters of the rule that a case belongs to.
static void print_arguments(struct printer *p)
{
    const struct sched_item *rule = p->what->item->rule;
    const struct sched_expr *by = p->what->item->by;
    for (size_t i = 0; rule && i < rule->params.n; i++) {
        const struct sched_parameter *param = &rule->params.at[i];
        const struct sched_expr *value =
            i < by->args.n ? by->args.at[i] : param->initial;
        if (!print_name(&p->needs, &param->name, value, p->out))
            continue;
        if (value->kind == SCHED_name)
            buf_text(p->out, value->name);
        else
            print_span(value->span, p->out);
        buf_text(p->out, "\n");
    }
}

// Append the parameters of the schedule or case.
static void print_parameters(struct printer *p)
{
    vec_foreach(param, &p->what->item->params) {
        if (!print_name(&p->needs, &param->name, param->initial, p->out))
            continue;
        print_value(p, param);
        buf_text(p->out, "\n");
    }
}

// Return the call of a function of that name that a statement takes its values
// from; NULL if there is none.
static const struct sched_expr *call_of(const struct sched_stmt *s,
                                        const char *name)
{
    const struct sched_expr *x = s->value;
    bool is_call = s->kind == SCHED_assign && x && x->kind == SCHED_call;
    return is_call && strcmp(x->name, name) == 0 ? x : NULL;
}

// Return whether a knob declared behind statement `at` is left open.
static bool is_open_behind(struct printer *p, size_t at)
{
    const struct sched_block *body = &p->what->item->body;
    for (size_t i = at + 1; i < body->n; i++)
        if (body->at[i]->kind == SCHED_tune &&
            !setting_of(p, body->at[i]->names.at[0].text))
            return true;
    return false;
}

// Append a knob that is set as a name with a value; one with others that are open
// behind it still declares it.  False if it is not set.
static bool print_knob(struct printer *p, size_t at)
{
    const struct sched_stmt *s = p->what->item->body.at[at];
    const struct sched_setting *set = NULL;
    bool is_knob =
        s->kind == SCHED_tune || call_of(s, "sample_categorical") != NULL;
    if (is_knob && s->names.n == 1)
        set = setting_of(p, s->names.at[0].text);
    if (set && s->kind == SCHED_tune && is_open_behind(p, at))
        buf_printf(p->out, "    tune %s in [%lld]\n", set->name,
                   (long long)set->value);
    else if (set)
        buf_printf(p->out, "    %s = %lld\n", set->name, (long long)set->value);
    return set != NULL;
}

// Return the setting of a factor of a tile, number `i` from 0.
static const struct sched_setting *
factor_of(struct printer *p, const struct sched_stmt *s, size_t i)
{
    const char *name = s->names.n > 1 ? s->names.at[i].text
                                      : arena_printf(p->arena, "%s_%zu",
                                                     s->names.at[0].text, i);
    return setting_of(p, name);
}

// Return how many factors a call of sample_perfect_tile has; 0: that is not
// written as a number.
static size_t count_factors(const struct sched_expr *call)
{
    bool is_known = call->args.n > 1 && call->args.at[1]->kind == SCHED_int;
    int64_t n = is_known ? call->args.at[1]->value : 0;
    return n > 1 && n < 16 ? (size_t)n : 0;
}

// Append `extent(loop) / (a * b)`, the first factor of a tile.
static void print_first_factor(const struct sched_expr *call,
                               const struct sched_setting *const *factors,
                               size_t n, struct buf *out)
{
    buf_text(out, "extent(");
    print_span(call->args.at[0]->span, out);
    buf_text(out, ") / (");
    for (size_t i = 1; i < n; i++)
        buf_printf(out, "%s%lld", i > 1 ? " * " : "",
                   (long long)factors[i]->value);
    buf_text(out, ")");
}

// Append the factors of a tile, of which all but the first are set:
// `i0 = extent(C.i) / (4 * 16)`, `i1 = 4`, `i2 = 16`, or as a list.  False if they
// are not.
static bool print_tile(struct printer *p, const struct sched_stmt *s)
{
    const struct sched_expr *call = call_of(s, "sample_perfect_tile");
    const struct sched_setting *factors[16] = {0};
    size_t n = call ? count_factors(call) : 0;
    bool is_list = s->names.n == 1;
    if (!n || (!is_list && s->names.n != n))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!(factors[i] = factor_of(p, s, i)))
            return false;
    buf_printf(p->out, "    %s = %s", s->names.at[0].text, is_list ? "[" : "");
    print_first_factor(call, factors, n, p->out);
    for (size_t i = 1; i < n; i++) {
        if (is_list)
            buf_printf(p->out, ", %lld", (long long)factors[i]->value);
        else
            buf_printf(p->out, "\n    %s = %lld", s->names.at[i].text,
                       (long long)factors[i]->value);
    }
    buf_text(p->out, is_list ? "]\n" : "\n");
    return true;
}

const struct nvptx_target *
schedule_case_target(struct arena *a, const struct sched_item *item,
                     const struct nvptx_target *target)
{
    struct diag_list quiet = {.arena = a, .is_brief = true};
    target_set set;
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    target_set_find(a, item, &quiet, &set);
    for (size_t i = 0; i < n; i++)
        if (all[i].number == target->number && !all[i].kind &&
            target_set_has(set, &all[i]))
            return &all[i];
    return target;
}

// Append the architectures behind `for`, if there are any.
static void print_targets(const struct sched_item *item, struct buf *out)
{
    for (size_t i = 0; i < item->targets.n; i++)
        buf_printf(out, "%s%s%s", i ? ", " : " for ",
                   item->targets.at[i].name.text,
                   item->targets.at[i].is_open ? "+" : "");
}

// Append the head.
static void print_head(struct arena *a, const struct schedule_case *w,
                       struct buf *out)
{
    buf_printf(out, "schedule %s", w->kernel->name);
    if (w->target)
        buf_printf(out, " for %s",
                   schedule_case_target(a, w->item, w->target)->name);
    else
        print_targets(w->item, out);
    for (size_t i = 0; w->sizes && i < w->sizes->n; i++)
        buf_printf(out, "%s%s == %lld", i ? " && " : " when ",
                   w->sizes->at[i].name, (long long)w->sizes->at[i].value);
    buf_text(out, " {\n");
}

// Append the directives, with the names that they need in front.
static void print_body(struct printer *p)
{
    const struct sched_item *item = p->what->item;
    print_arguments(p);
    print_parameters(p);
    if (item->rule)
        vec_foreach_value(s, &item->rule->body)
            if (gives(&p->needs, s))
                print_stmt(s, p->out);
    for (size_t i = 0; i < item->body.n; i++)
        if (!print_knob(p, i) && !print_tile(p, item->body.at[i]))
            print_stmt(item->body.at[i], p->out);
    buf_text(p->out, "}\n\n");
}

// Append what sets the knobs that have no place in the text; of settings of the same
// name the last counts.
static void print_sets(struct printer *p, struct buf *out)
{
    const struct sched_settings *all = p->what->settings;
    for (size_t i = 0; all && i < all->n; i++)
        if (!p->is_used[i])
            buf_printf(out, "    set %s = %lld\n", all->at[i].name,
                       (long long)setting_of(p, all->at[i].name)->value);
}

void schedule_case_print(struct arena *a, const struct schedule_case *what,
                         struct buf *out)
{
    size_t n = what->settings ? what->settings->n : 0;
    struct buf body = {0};
    struct printer p = {.what = what,
                        .arena = a,
                        .is_used = arena_array(a, bool, n + 1),
                        .out = &body};
    note_block(&p.needs, &what->item->body);
    if (what->item->rule)
        note_names(&p.needs, what->item->rule);
    print_head(a, what, out);
    print_body(&p);
    print_sets(&p, out);
    buf_text(out, body.data);
    buf_free(&body);
    arena_reset(&p.needs.arena);
}

void schedule_case_print_rule(const struct ir_kernel *kernel,
                              const struct sched_item *item, struct buf *out)
{
    const struct sched_expr *by = item->by;
    buf_printf(out, "schedule %s by %s(", kernel->name, by->name);
    for (size_t i = 0; i < by->args.n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", by->args.at[i]->name);
    buf_printf(out, ") // %s\n\n", item->rule->name.span.source->name);
}

uint64_t schedule_case_hash(const char *text)
{
    struct buf said = {0};
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "//", 2) == 0)
            at += strcspn(at, "\n");
        if (!*at)
            break;
        if (!isspace((unsigned char)*at))
            buf_char(&said, *at);
    }
    uint64_t hash = fatbin_hash(said.n ? said.data : "", said.n);
    buf_free(&said);
    return hash;
}
