// A kernel with compile-time parameters becomes one kernel for each choice of
// their values: those of its own `for` clauses, or those that the command asks
// for instead.

#include "frontend/instance.h"

#include <string.h>

enum { INSTANCES_MOST = 1000 };

// What is known of the kernel that comes next.
struct family {
    const char *name;
    struct span span;
    struct instance_clause parameters; // with their defaults
    struct VEC(struct instance_clause) clauses;
    struct VEC(struct instance) instances;
};

bool instance_is_next(const struct parser *p)
{
    return parse_is(p, "kernel") && parse_peek(p, 1)->kind == TOKEN_NAME &&
           strcmp(parse_peek(p, 2)->text, "[") == 0;
}

// Parse the `for` clauses up to the body, and leave the parser where it was.
static bool find_clauses(struct parser *p, struct family *f)
{
    size_t first = p->at;
    bool ok = true;
    for (int depth = 0; ok && parse_peek(p, 0)->kind != TOKEN_END;) {
        struct instance_clause clause = {0};
        if (depth == 0 && parse_is(p, "{"))
            break;
        if (depth == 0 && parse_is(p, "for")) {
            ok = parse_instance_clause(p, &clause);
            vec_push(p->arena, &f->clauses, clause);
            continue;
        }
        if (depth == 0 && parse_take(p, "defines")) {
            ok = parse_pattern(p, "a kernel") != NULL;
            continue;
        }
        depth += parse_is(p, "(") || parse_is(p, "[");
        depth -= parse_is(p, ")") || parse_is(p, "]");
        p->at++;
    }
    p->at = first;
    return ok;
}

// Parse a clause of the command for this kernel: its name, then the clause.
static bool take_asked(struct parser *p, struct family *f,
                       struct instance_request *request)
{
    struct tokens tokens;
    if (!lex_source(p->arena, p->names, request->source, p->diags, &tokens))
        return false;
    struct parser own = {.arena = p->arena,
                         .names = p->names,
                         .diags = p->diags,
                         .tokens = tokens.at};
    if (!parse_take(&own, f->name))
        return true;
    struct instance_clause clause = {0};
    request->is_taken = true;
    if (!parse_instance_clause(&own, &clause))
        return false;
    if (!clause.pattern && f->clauses.n)
        clause.pattern = f->clauses.at[0].pattern;
    parse_end_statement(&own);
    vec_push(p->arena, &f->clauses, clause);
    return true;
}

// Let the clauses of the command, if any are for this kernel, replace its own.
static bool find_asked(struct parser *p, struct family *f,
                       struct program *program)
{
    size_t own = f->clauses.n;
    vec_foreach(r, &program->requests)
        if (!take_asked(p, f, r))
            return false;
    if (f->clauses.n == own)
        return true;
    f->clauses.at += own;
    f->clauses.n -= own;
    f->clauses.cap = f->clauses.n;
    return true;
}

// Return what a clause, or else the default, gives a parameter; NULL, reported,
// if neither does.
static const struct static_values *given(struct parser *p,
                                         const struct family *f,
                                         const struct instance_clause *clause,
                                         const struct static_values *parameter)
{
    vec_foreach(g, &clause->given)
        if (g->parameter.name == parameter->parameter.name)
            return g;
    if (parameter->values.n)
        return parameter;
    diag_error(p->diags, clause->span, D_static_without_value, f->name,
               parameter->parameter.name);
    return NULL;
}

// Return the name of an instance: by the pattern, or the values behind the
// kernel's name.
static const char *name_of(struct parser *p, const struct family *f,
                           const struct instance_clause *clause,
                           const struct ir_statics *statics)
{
    const char *text = f->name;
    if (clause->pattern)
        return static_fill(p, clause->pattern, statics);
    vec_foreach(s, statics)
        text = arena_printf(p->arena, "%s_%s", text, static_text(p, s));
    return str_name(p->names, text);
}

// Add an instance for each choice of values from parameter number
// `so_far->n` on.
static bool choose(struct parser *p, struct family *f,
                   const struct instance_clause *clause,
                   const struct ir_statics *so_far)
{
    if (so_far->n == f->parameters.given.n) {
        struct instance one = {name_of(p, f, clause, so_far), *so_far};
        vec_push(p->arena, &f->instances, one);
        return f->instances.n <= INSTANCES_MOST ||
               diag_error(p->diags, clause->span, D_static_too_many, f->name,
                          (long long)INSTANCES_MOST);
    }
    const struct static_values *parameter = &f->parameters.given.at[so_far->n];
    const struct static_values *g = given(p, f, clause, parameter);
    for (size_t i = 0; g && i < g->values.n; i++) {
        struct ir_static one = g->values.at[i];
        struct ir_statics next = {0};
        const struct ir_static *other =
            one.kind == STATIC_word ? static_find(so_far, one.word) : NULL;
        if (other)
            one = *other;
        one.name = parameter->parameter.name;
        vec_append(p->arena, &next, so_far);
        vec_push(p->arena, &next, one);
        if (!choose(p, f, clause, &next))
            return false;
    }
    return g != NULL;
}

// Report what a clause gives that is no parameter of the kernel.
static bool check_clause(struct parser *p, const struct family *f,
                         const struct instance_clause *clause)
{
    bool ok = true;
    vec_foreach(g, &clause->given) {
        bool found = false;
        vec_foreach(parameter, &f->parameters.given)
            found |= parameter->parameter.name == g->parameter.name;
        if (!found)
            ok = diag_error(p->diags, g->parameter.span, D_static_unknown,
                            g->parameter.name, f->name);
    }
    return ok;
}

// Find all instances of the kernel that comes next.
static bool find_instances(struct parser *p, struct family *f,
                           struct program *program)
{
    size_t first = p->at++;
    f->span = parse_peek(p, 0)->span;
    f->name = parse_name(p, "a kernel");
    bool ok = parse_static_parameters(p, &f->parameters) &&
              find_clauses(p, f) && find_asked(p, f, program);
    for (size_t i = 0; ok && i < f->clauses.n; i++)
        ok = check_clause(p, f, &f->clauses.at[i]) &&
             choose(p, f, &f->clauses.at[i], &(struct ir_statics){0});
    if (ok && !f->instances.n)
        ok = diag_error(p->diags, f->span, D_static_no_instance, f->name);
    p->at = ok ? first : p->at;
    return ok;
}

// Say which instance it is that has errors.
static void tell_instance(struct parser *p, const struct family *f,
                          const struct instance *one)
{
    const char *text = "";
    vec_foreach(s, &one->statics)
        text = arena_printf(p->arena, "%s%s%s = %s", text, *text ? ", " : "",
                            s->name, static_text(p, s));
    diag_note(p->diags, f->span, "in its instance `%s`: %s", one->name, text);
}

bool instances_add(struct parser *p, struct program *out,
                   bool (*add)(struct parser *p, struct program *out))
{
    struct family f = {0};
    bool ok = find_instances(p, &f, out);
    size_t first = p->at;
    for (size_t i = 0; ok && i < f.instances.n; i++) {
        int errors = p->diags->errors;
        p->at = first;
        p->instance = &f.instances.at[i];
        p->operations = p->depth = 0;
        ok = add(p, out) && p->diags->errors == errors;
        if (!ok)
            tell_instance(p, &f, p->instance);
        p->instance = NULL;
    }
    return ok;
}

void instances_check(const struct program *program, struct diag_list *diags)
{
    vec_foreach(r, &program->requests)
        if (!r->is_taken)
            diag_error(diags, (struct span){r->source, 0, 0},
                       D_static_no_family, r->source->text);
}
