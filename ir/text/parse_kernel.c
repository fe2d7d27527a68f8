// A kernel: its parameters, its results, what it requires, its body.

#include "ir/text/parse.h"

#include "ir/build.h"
#include "ir/text.h"
#include "ir/text/parse_stmt.h"

// Append a scalar parameter; sizes are `int`.
static void add_scalar(struct parser *p, const char *name, struct type type,
                       struct span span)
{
    struct ir_var *var = ir_var_new(p->arena, name, type, VAR_param, span);
    scope_add_var(p, var);
    vec_push(p->arena, &p->kernel->params, (struct ir_param){var, NULL});
}

// Step over the `:` behind the name of a parameter or a result.
static bool expect_colon(struct parser *p, bool is_result)
{
    if (parse_expect(p, ":",
                     is_result ? "behind the name of a result"
                               : "behind the name of a parameter"))
        return true;
    diag_help(p->diags, is_result ? "write its name, its type and its shape: "
                                    "`-> C: f32[n]`"
                                  : "write the name in front of the type: "
                                    "`n: int, A: f32[n]`");
    return false;
}

// Parse one parameter or, if `is_result`, one result.
static bool parse_param(struct parser *p, bool is_result)
{
    size_t start = p->at;
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, is_result ? "a result" : "a parameter");
    struct type type;
    if (!name || !expect_colon(p, is_result) || !parse_type(p, &type))
        return false;
    if (!parse_is(p, "[")) {
        if (is_result || type_is_storage(type)) {
            diag_error(p->diags, span, D_not_an_array, name);
            diag_help(p->diags, "declare an array of one element: `%s: %s[1]`",
                      name, type_name(type));
            return false;
        }
        add_scalar(p, name, type, span);
        return true;
    }
    p->at = start + 1;
    struct ir_buffer *b =
        parse_buffer(p, name, span, is_result ? ROLE_output : ROLE_input);
    if (!b)
        return false;
    scope_add_buffer(p, b);
    vec_push(p->arena, &p->kernel->params, (struct ir_param){NULL, b});
    return true;
}

// Parse parameters up to `)`.
static bool parse_params(struct parser *p, bool are_results)
{
    while (!parse_is(p, ")")) {
        parse_skip_newlines(p);
        if (!parse_param(p, are_results))
            return false;
        if (!parse_take(p, ","))
            break;
    }
    return parse_expect(
        p, ")", are_results ? "behind the results" : "behind the parameters");
}

// Parse `-> C: f32[n]` or `-> (C: ..., D: ...)`.
static bool parse_results(struct parser *p)
{
    if (!parse_take(p, "->"))
        return true;
    return parse_take(p, "(") ? parse_params(p, true) : parse_param(p, true);
}

// Parse comma-separated conditions.
static bool parse_conditions(struct parser *p, struct ir_conditions *out,
                             const char *what)
{
    do {
        struct ir_expr *x = parse_condition(p, what);
        if (!x)
            return false;
        vec_push(p->arena, out, x);
    } while (parse_take(p, ","));
    return true;
}

// Parse the level of a printed kernel.
static bool parse_level(struct parser *p)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a level");
    if (!name || level_find(name, &p->kernel->level))
        return name != NULL;
    diag_error(p->diags, span, D_unknown_level, name);
    return false;
}

// Parse `where`, `guard`, `variant`, `level` ... in front of the body.
static bool parse_traits(struct parser *p)
{
    struct ir_kernel *k = p->kernel;
    bool ok = true;
    for (parse_skip_newlines(p); ok && !parse_is(p, "{");
         parse_skip_newlines(p)) {
        if (parse_take(p, "where"))
            ok = parse_conditions(p, &k->where, "`where`");
        else if (parse_take(p, "guard"))
            ok = parse_conditions(p, &k->guard, "`guard`");
        else if (parse_take(p, "map"))
            ok = parse_map(p);
        else if (parse_take(p, "variant"))
            ok = (k->variant = parse_name(p, "a variant")) != NULL;
        else if (parse_take(p, "level"))
            ok = parse_level(p);
        else if (parse_take(p, "fast_math"))
            k->fast_math = true;
        else if (parse_take(p, "min_blocks"))
            ok = parse_count(p, &k->min_blocks);
        else if (parse_take(p, "max_registers"))
            ok = parse_count(p, &k->max_registers);
        else if (parse_is(p, "launch_attribute"))
            ok = parse_launch_attributes(p, &k->attributes);
        else if (p->instance && parse_is(p, "for"))
            ok = parse_instance_clause(p, &(struct instance_clause){0});
        else if (!parse_terms(p, &ok))
            ok = parse_expect(p, "{", "before the body of the kernel");
    }
    return ok;
}

// Parse the name and, for an instance, the compile-time parameters, which have
// their values from here on.
static bool parse_heading(struct parser *p)
{
    struct ir_kernel *k = p->kernel;
    struct instance_clause names = {0};
    k->span = parse_peek(p, 0)->span;
    k->name = parse_name(p, "a kernel");
    if (!k->name || !p->instance)
        return k->name != NULL;
    if (!parse_static_parameters(p, &names))
        return false;
    k->family = k->name;
    k->name = p->instance->name;
    k->statics = p->instance->statics;
    vec_foreach(s, &k->statics)
        scope_add(p, (struct scope_entry){.kind = ENTRY_STATIC,
                                          .name = s->name,
                                          .span = s->span,
                                          .value = s});
    return true;
}

// Parse the heading, the parameters and the traits; then the body.
static bool parse_parts(struct parser *p)
{
    struct ir_kernel *k = p->kernel;
    if (!parse_heading(p) ||
        !parse_expect(p, "(", "behind the name of a kernel") ||
        !parse_params(p, false))
        return false;
    parse_skip_newlines(p);
    if (!parse_results(p) || !parse_traits(p) ||
        !parse_expect(p, "{", "before the body of the kernel"))
        return false;
    size_t mark = scope_open(p);
    parse_statements(p, &k->body, true);
    scope_close(p, mark);
    return parse_expect(p, "}", "behind the body of the kernel");
}

struct ir_kernel *parse_kernel(struct parser *p)
{
    int errors = p->diags->errors;
    if (!parse_expect(p, "kernel", "before its name"))
        return NULL;
    p->kernel = arena_new(p->arena, struct ir_kernel);
    p->kernel->variant = "";
    p->orders.n = 0;
    size_t mark = scope_open(p);
    bool ok = parse_parts(p);
    scope_close(p, mark);
    return ok && p->diags->errors == errors ? p->kernel : NULL;
}

struct ir_kernel *ir_parse_kernel(struct arena *a, struct str_table *names,
                                  const struct source *source,
                                  struct diag_list *diags)
{
    struct tokens tokens;
    if (!lex_source(a, names, source, diags, &tokens))
        return NULL;
    struct parser p = {
        .arena = a, .names = names, .diags = diags, .tokens = tokens.at};
    parse_skip_newlines(&p);
    struct ir_kernel *k = parse_kernel(&p);
    parse_skip_newlines(&p);
    const struct token *t = parse_peek(&p, 0);
    if (k && t->kind != TOKEN_END) {
        diag_error(diags, t->span, D_expected, "the end of the file",
                   "behind the kernel", t->text);
        return NULL;
    }
    return diags->errors ? NULL : k;
}
