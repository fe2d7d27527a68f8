// Reductions: the right side of a definition that combines the values of an
// expression over reduction variables.
//
//   S[i] = sum(j in n) X[i, j]
//     =>  init { S[vi] = 0.0 }   S[vi] = S[vi] + X[vi, vj]
//   I[i] = argmax(j in n) X[i, j]
//     =>  init { I[vi] = 0 }   if X[vi, vj] > X[vi, I[vi]] { I[vi] = vj }

#include "frontend/define.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/neutral.h"

#include <string.h>

// A row of reduce.def.
struct builtin {
    const char *name;
    enum ir_op op;
};

static const struct builtin builtins[] = {
#define REDUCE(name, op) {#name, OP_##op},
#include "frontend/reduce.def"
#undef REDUCE
};
enum { BUILTINS = sizeof builtins / sizeof *builtins };

// Bits of a position among as many as only the caller knows.
enum { LEAST_OPEN_BITS = 32 };

// Return the row of a name, or NULL.
static const struct builtin *find_builtin(const char *name)
{
    for (int i = 0; i < BUILTINS; i++) {
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    }
    return NULL;
}

// Return the declared reduction of a name, or NULL.
static const struct reducer *find_reducer(const struct parser *p,
                                          const char *name)
{
    const struct frontend *f = p->context;
    for (size_t i = 0; i < f->reducers.n; i++) {
        if (f->reducers.at[i]->name == name)
            return f->reducers.at[i];
    }
    return NULL;
}

// Return whether a name is argmax or argmin.
static bool is_arg(const char *name)
{
    return strcmp(name, "argmax") == 0 || strcmp(name, "argmin") == 0;
}

bool reduce_is_next(const struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    return t->kind == TOKEN_NAME && strcmp(parse_peek(p, 1)->text, "(") == 0 &&
           parse_peek(p, 2)->kind == TOKEN_NAME &&
           strcmp(parse_peek(p, 3)->text, "in") == 0;
}

// Return how many operands the brackets have that come behind a name.
static int operands_ahead(const struct parser *p)
{
    int depth = 0, n = 1;
    for (size_t i = 1;; i++) {
        const struct token *t = parse_peek(p, i);
        if (t->kind == TOKEN_END || t->kind == TOKEN_NEWLINE)
            return n;
        if (t->kind != TOKEN_PUNCT)
            continue;
        depth += strchr("([", t->text[0]) != NULL;
        depth -= strchr(")]", t->text[0]) != NULL;
        if (depth == 0)
            return n;
        n += depth == 1 && t->text[0] == ',';
    }
}

// Report a reduction that does not say over what; `max(a, b)` is a function.
static bool report_bare(struct parser *p)
{
    const struct token *t = parse_peek(p, 0);
    const struct builtin *b = find_builtin(t->text);
    bool is_function = b && (b->op == OP_max || b->op == OP_min);
    if ((!b && !is_arg(t->text) && !find_reducer(p, t->text)) ||
        (is_function && operands_ahead(p) != 1))
        return false;
    diag_error(p->diags, t->span, D_reduction_bare, t->text);
    diag_help(
        p->diags,
        "write the variable and its range in the brackets, and the operand "
        "behind them: `%s(k in K) A[i, k]`",
        t->text);
    return true;
}

bool reduce_misplaced(struct parser *p)
{
    bool is_scan = scan_is_next(p);
    if (!is_scan && !reduce_is_next(p))
        return report_bare(p);
    const struct token *t = parse_peek(p, 0);
    diag_error(p->diags, t->span, D_reduction_inside, t->text);
    if (p->at && strcmp(t[-1].text, "=") == 0)
        diag_help(p->diags,
                  "it needs a definition on its left: an array with "
                  "names as indices, `C[i, j] = %s(...) ...`",
                  t->text);
    else
        diag_help(p->diags,
                  "name it first: `let partial[...] = %s(%s %s ...) "
                  "...`, then use `partial[...]` here",
                  t->text, parse_peek(p, 2)->text, is_scan ? "<=" : "in");
    return true;
}

// Let the newest iteration variable begin at `low`: it counts from 0.
static void add_low(struct parser *p, struct definition *d, struct ir_expr *low)
{
    struct ir_var *var = d->iters.at[d->iters.n - 1].var;
    map_set(&d->lows, var, ir_add(p->arena, low, ir_read(p->arena, var)));
}

// Parse `(k in K, l in low..high)`.
static bool parse_axes(struct parser *p, struct definition *d)
{
    p->at++;
    do {
        struct span span = parse_peek(p, 0)->span;
        const char *name = parse_name(p, "a reduction variable");
        if (!name || !parse_expect(p, "in", "behind a reduction variable"))
            return false;
        struct ir_expr *low, *extent;
        if (!define_parse_range(p, d, name, &low, &extent))
            return false;
        define_add_iter(p, d, name, span, extent, true);
        if (low)
            add_low(p, d, low);
    } while (parse_take(p, ","));
    return parse_expect(p, ")", "behind the reduction variables");
}

// Report operands that a reduction cannot combine.
static bool check_operand(struct parser *p, const struct builtin *b,
                          const struct ir_expr *x)
{
    bool wants_bool = b->op == OP_or || b->op == OP_and;
    if ((x->type.kind == TYPE_bool) == wants_bool && !type_is_storage(x->type))
        return true;
    diag_error(p->diags, x->span, D_reduction_type, b->name,
               type_name(x->type));
    return false;
}

// Parse the operand of a reduction whose result has the operand's type.
static bool parse_builtin(struct parser *p, struct definition *d,
                          const struct builtin *b)
{
    struct ir_stage *stage = &d->stage->u.stage;
    struct element *e = &d->elements[0];
    struct ir_expr *x = parse_expr(p);
    x = e->buffer ? parse_convert(p, x, e->buffer->elem, "the operand")
                  : parse_close(p, x);
    if (!x || !check_operand(p, b, x) || !define_check_reads(p, d, x))
        return false;
    define_arrays(p, d, &x->type);
    stage->has_init = true;
    define_store(p, d, 0, &stage->init, ir_neutral(p->arena, b->op, x->type));
    define_store(p, d, 0, &stage->body,
                 ir_binary(p->arena, b->op, define_load(p, d, 0), x));
    return true;
}

// Return whether a type holds every position of an iteration: any of 32 bits,
// smaller ones for as many as a number says.
static bool holds_positions(struct type type, const struct ir_iter *iter)
{
    int64_t n;
    if (!type_is_integer(type) || type_bits(type) >= LEAST_OPEN_BITS)
        return type_is_integer(type);
    return ir_int_value(iter->extent, &n) && ir_wrap_int(type, n - 1) == n - 1;
}

// Parse the operand of argmax or argmin; the result is the first position.
static bool parse_arg(struct parser *p, struct definition *d, bool is_max)
{
    struct arena *a = p->arena;
    struct ir_stage *stage = &d->stage->u.stage;
    struct type type = type_scalar(TYPE_i64);
    const struct ir_iter *last = &d->iters.at[d->iters.n - 1];
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x || !define_check_reads(p, d, x))
        return false;
    define_arrays(p, d, &type);
    type = d->elements[0].buffer->elem;
    if (d->lows.n) {
        diag_error(p->diags, last->var->span, D_arg_range,
                   d->loops.at[d->iters.n - 1]->name);
        diag_help(p->diags, "count from 0: `argmax(k in high - low)` of an "
                            "element at `low + k`");
        return false;
    }
    if (d->iters.n - d->elements[0].n != 1 || !holds_positions(type, last)) {
        diag_error(p->diags, d->elements[0].span, D_arg_reduction);
        return false;
    }
    struct ir_expr *best =
        ir_cast(a, type_scalar(TYPE_int), define_load(p, d, 0));
    struct ir_expr *at_best = ir_replace_var(a, x, last->var, best);
    struct ir_stmt *s =
        ir_stmt_if(a, ir_binary(a, is_max ? OP_gt : OP_lt, x, at_best));
    stage->has_init = true;
    define_store(p, d, 0, &stage->init, ir_zero(a, type));
    define_store(p, d, 0, &s->u.branch.then,
                 ir_cast(a, type, ir_read(a, last->var)));
    ir_append(a, &stage->body, s);
    return true;
}

// Parse `x` or `(x, y, ...)`, one for each value of a declared reduction.
static bool parse_tuple(struct parser *p, const struct reducer *r,
                        struct ir_expr **x)
{
    bool brackets = r->n > 1;
    if (brackets && !parse_expect(p, "(", "before the operands"))
        return false;
    for (uint32_t k = 0; k < r->n; k++) {
        x[k] = parse_typed(p, r->left[k]->type, "the operand");
        if (!x[k] ||
            (k + 1 < r->n && !parse_expect(p, ",", "between the operands")))
            return false;
    }
    return !brackets || parse_expect(p, ")", "behind the operands");
}

// Append `let name = value` to a block and return the variable.
static struct ir_var *append_let(struct parser *p, struct ir_block *block,
                                 const struct ir_var *like,
                                 struct ir_expr *value)
{
    struct ir_var *v =
        ir_var_new(p->arena, like->name, like->type, VAR_let, like->span);
    ir_append(p->arena, block, ir_stmt_let(p->arena, v, value));
    return v;
}

// Fill the stage with a declared reduction of the operands `x`.
static void apply_reducer(struct parser *p, struct definition *d,
                          const struct reducer *r, struct ir_expr **x)
{
    struct ir_stage *stage = &d->stage->u.stage;
    struct map map = {.arena = p->arena};
    struct ir_block lets = {0};
    for (uint32_t k = 0; k < r->n; k++) {
        struct ir_var *a =
            append_let(p, &lets, r->left[k], define_load(p, d, k));
        struct ir_var *b = append_let(p, &lets, r->right[k], x[k]);
        map_set(&map, r->left[k], ir_read(p->arena, a));
        map_set(&map, r->right[k], ir_read(p->arena, b));
    }
    struct ir_block tail = r->lets;
    for (uint32_t k = 0; k < r->n; k++)
        define_store(p, d, k, &tail, r->result[k]);
    tail = ir_copy_block(p->arena, &tail, &map, NULL);
    ir_append_all(p->arena, &stage->body, &lets);
    ir_append_all(p->arena, &stage->body, &tail);
    for (uint32_t k = 0; k < r->n; k++)
        define_store(p, d, k, &stage->init, r->identity[k]);
    stage->has_init = true;
}

// Parse the operands of a declared reduction.
static bool parse_declared(struct parser *p, struct definition *d,
                           const struct reducer *r)
{
    struct ir_expr *x[REDUCER_MOST];
    struct type types[REDUCER_MOST];
    for (uint32_t k = 0; k < r->n; k++)
        types[k] = r->left[k]->type;
    if (d->n_elements != r->n) {
        diag_error(p->diags, d->elements[0].span, D_tuple_size, r->name,
                   (long long)r->n, r->n == 1 ? "array" : "arrays",
                   (long long)d->n_elements);
        diag_note(p->diags, r->span, "`%s` is declared here", r->name);
        return false;
    }
    for (uint32_t k = 0; k < r->n; k++) {
        const struct ir_buffer *b = d->elements[k].buffer;
        if (b && !type_equal(b->elem, types[k])) {
            diag_error(p->diags, d->elements[k].span, D_wrong_type,
                       "this array", type_name(b->elem), type_name(types[k]));
            return false;
        }
    }
    if (!parse_tuple(p, r, x))
        return false;
    for (uint32_t k = 0; k < r->n; k++) {
        if (!define_check_reads(p, d, x[k]))
            return false;
    }
    define_arrays(p, d, types);
    apply_reducer(p, d, r, x);
    return true;
}

// What is combined: a row of reduce.def, a declared reduction, or else argmax
// or argmin.
struct combination {
    const struct builtin *builtin;
    const struct reducer *declared;
    bool is_max; // argmax
};

// Parse the name of a reduction.
static bool parse_combination(struct parser *p, const struct definition *d,
                              struct combination *out)
{
    const struct token *t = parse_peek(p, 0);
    const struct builtin *b = find_builtin(t->text);
    const struct reducer *r = find_reducer(p, t->text);
    if (!b && !r && !is_arg(t->text)) {
        diag_error(p->diags, t->span, D_unknown_reduction, t->text);
        diag_help(p->diags,
                  strcmp(t->text, "scan") == 0
                      ? "a scan ends at an index: `scan(j <= i) sum X[j]`"
                      : "the reductions are sum, prod, max, min, any, all, "
                        "argmax, argmin and those declared with `reduce`");
        return false;
    }
    if (r && r->is_broken)
        return false;
    if (!r && d->n_elements > 1) {
        diag_error(p->diags, t->span, D_tuple_size, t->text, 1LL, "array",
                   (long long)d->n_elements);
        return false;
    }
    p->at++;
    *out = (struct combination){b, r, strcmp(t->text, "argmax") == 0};
    return true;
}

// Parse the operands, and fill the stage.
static bool parse_operands(struct parser *p, struct definition *d,
                           const struct combination *c)
{
    if (c->declared)
        return parse_declared(p, d, c->declared);
    return c->builtin ? parse_builtin(p, d, c->builtin)
                      : parse_arg(p, d, c->is_max);
}

bool reduce_parse(struct parser *p, struct definition *d)
{
    struct combination c;
    if (!parse_combination(p, d, &c) || !parse_axes(p, d) ||
        !parse_operands(p, d, &c))
        return false;
    if (d->lows.n)
        ir_substitute_in(p->arena, &d->stage->u.stage.body, &d->lows, NULL);
    return true;
}

bool reduce_parse_operation(struct parser *p, struct definition *d)
{
    struct combination c;
    return parse_combination(p, d, &c) && parse_operands(p, d, &c);
}

// Parse the values of one partial result: `a: f32, n: i32`.
static bool parse_state(struct parser *p, struct ir_var **vars, uint32_t *n)
{
    *n = 0;
    do {
        struct span span = parse_peek(p, 0)->span;
        const char *name = parse_name(p, "a value");
        struct type type;
        if (!name || !parse_expect(p, ":", "behind the name of a value") ||
            !parse_type(p, &type))
            return false;
        if (*n == REDUCER_MOST) {
            diag_error(p->diags, span, D_too_many_operands,
                       (long long)REDUCER_MOST);
            return false;
        }
        vars[*n] = ir_var_new(p->arena, name, type, VAR_let, span);
        scope_add_var(p, vars[(*n)++]);
    } while (parse_take(p, ","));
    return true;
}

// Parse both partial results and the identity.
static bool parse_signature(struct parser *p, struct reducer *r)
{
    uint32_t n = 0;
    if (!parse_expect(p, "(", "behind the name of a reduction") ||
        !parse_state(p, r->left, &r->n) ||
        !parse_expect(p, ";", "between the two partial results") ||
        !parse_state(p, r->right, &n) ||
        !parse_expect(p, ")", "behind the partial results"))
        return false;
    bool same = n == r->n;
    for (uint32_t k = 0; same && k < n; k++)
        same = type_equal(r->left[k]->type, r->right[k]->type);
    if (!same) {
        diag_error(p->diags, r->span, D_reducer_sides, r->name);
        return false;
    }
    parse_skip_newlines(p);
    return parse_expect(p, "identity", "behind the partial results") &&
           parse_tuple(p, r, r->identity);
}

// Parse the result: `= x`, or `{ let ...  (x, y) }`.
static bool parse_result(struct parser *p, struct reducer *r)
{
    parse_skip_newlines(p);
    if (parse_take(p, "="))
        return parse_tuple(p, r, r->result);
    if (!parse_expect(p, "{", "before the result of a reduction"))
        return false;
    parse_skip_newlines(p);
    while (parse_is(p, "let")) {
        size_t before = r->lets.n;
        parse_let_statement(p, &r->lets);
        if (r->lets.n == before)
            return false;
        parse_skip_newlines(p);
    }
    if (!parse_tuple(p, r, r->result))
        return false;
    parse_skip_newlines(p);
    return parse_expect(p, "}", "behind the result of a reduction");
}

bool reduce_declare(struct parser *p)
{
    struct frontend *f = p->context;
    struct reducer *r = arena_new(p->arena, struct reducer);
    r->span = parse_peek(p, 0)->span;
    r->name = parse_name(p, "a reduction");
    if (!r->name)
        return false;
    if (find_builtin(r->name) || is_arg(r->name) || find_reducer(p, r->name)) {
        diag_error(p->diags, r->span, D_declared_twice, r->name);
        return false;
    }
    size_t mark = scope_open(p);
    r->is_broken = !parse_signature(p, r) || !parse_result(p, r);
    scope_close(p, mark);
    vec_push(p->arena, &f->reducers, r);
    return !r->is_broken;
}
