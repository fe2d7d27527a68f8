// Statements of the loop language.

#include "ir/text/parse_stmt.h"

#include "ir/build.h"
#include "ir/text/parse_expr.h"

#include <string.h>

bool parse_block(struct parser *p, struct ir_block *out)
{
    parse_skip_newlines(p);
    if (!parse_expect(p, "{", "before a block") || !parse_enter(p))
        return false;
    size_t mark = scope_open(p);
    parse_statements(p, out, false);
    scope_close(p, mark);
    parse_leave(p);
    return parse_expect(p, "}", "behind the block");
}

// Parse `@axis` and `@name(value)` behind the range of a loop.
static bool parse_loop_attr(struct parser *p, struct ir_for *loop)
{
    size_t first = p->at;
    const char *name = parse_name(p, "an axis or an annotation");
    if (!name)
        return false;
    if (strcmp(name, "ring") == 0 && parse_is(p, "(") &&
        parse_peek(p, 1)->kind == TOKEN_NAME)
        return parse_ring(p, loop);
    if (parse_take(p, ".")) {
        const char *dim = parse_name(p, "x, y or z");
        name = arena_printf(p->arena, "%s.%s", name, dim ? dim : "");
    }
    if (parse_take(p, "(")) {
        struct ir_attr attr = {.name = name};
        bool ok = parse_attr_value(p, &attr);
        vec_push(p->arena, &loop->attrs, attr);
        return ok;
    }
    if (axis_find(name, &loop->axis))
        return true;
    diag_error(p->diags, parse_span(p, first), D_unknown_axis, name);
    diag_help(
        p->diags,
        "the axes are block.x/y/z, thread.x/y/z, warp, "
        "lane, serial, unroll and vector; a hint has a value: `@unroll(4)`");
    return false;
}

// Parse `from..to step s` into a loop whose variable has a type.
static bool parse_range(struct parser *p, struct ir_for *loop)
{
    struct type type = loop->var->type;
    loop->from = parse_typed(p, type, "the start of the range");
    if (!loop->from || !parse_expect(p, "..", "between the ends of a range"))
        return false;
    loop->to = parse_typed(p, type, "the end of the range");
    if (!loop->to)
        return false;
    loop->step = ir_const_int(p->arena, type, 1);
    if (!parse_take(p, "step"))
        return true;
    loop->step = parse_typed(p, type, "the step");
    int64_t value;
    if (!loop->step || !ir_int_value(loop->step, &value) || value > 0)
        return loop->step != NULL;
    diag_error(p->diags, loop->step->span, D_bad_step, (long long)value);
    return false;
}

// Return the type that a variable declared without one gets at this level.
static struct type index_type(const struct parser *p)
{
    bool is_flat = p->kernel && p->kernel->level == LEVEL_flat;
    return type_scalar(is_flat ? TYPE_idx64 : TYPE_int);
}

// Parse a loop behind the word `for`.
static bool parse_for(struct parser *p, struct ir_block *out, size_t first)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a loop variable");
    struct type type = index_type(p);
    if (!name || (parse_take(p, ":") && !parse_type(p, &type)) ||
        !parse_expect(p, "in", "behind the loop variable"))
        return false;
    if (!type_is_integer(type)) {
        diag_error(p->diags, span, D_not_an_index, "a loop variable",
                   type_name(type));
        return false;
    }
    struct ir_var *var = ir_var_new(p->arena, name, type, VAR_loop, span);
    struct ir_expr *zero = ir_const_int(p->arena, type, 0);
    struct ir_stmt *s =
        ir_stmt_for(p->arena, var, zero, zero, zero, AXIS_serial);
    if (!parse_range(p, &s->u.loop))
        return false;
    while (parse_take(p, "@")) {
        if (!parse_loop_attr(p, &s->u.loop))
            return false;
    }
    s->span = parse_span(p, first);
    size_t mark = scope_open(p);
    scope_add_var(p, var);
    bool ok = parse_block(p, &s->u.loop.body);
    scope_close(p, mark);
    ir_append(p->arena, out, s);
    return ok;
}

// Parse a branch behind the word `if`.
static bool parse_if(struct parser *p, struct ir_block *out, size_t first)
{
    struct ir_expr *cond = parse_condition(p, "`if`");
    if (!cond)
        return false;
    struct ir_stmt *s = ir_stmt_if(p->arena, cond);
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    if (!parse_block(p, &s->u.branch.then))
        return false;
    size_t before = p->at;
    parse_skip_newlines(p);
    if (!parse_take(p, "else")) {
        p->at = before;
        return true;
    }
    size_t second = p->at;
    if (!parse_take(p, "if"))
        return parse_block(p, &s->u.branch.otherwise);
    bool ok = parse_enter(p) && parse_if(p, &s->u.branch.otherwise, second);
    parse_leave(p);
    return ok;
}

// Parse a declaration of a scalar behind `let` or `var`.
static bool parse_let(struct parser *p, struct ir_block *out, size_t first,
                      enum var_kind kind)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a variable");
    struct type type = {0};
    if (!name)
        return false;
    bool is_typed = parse_take(p, ":");
    bool ok = !is_typed || parse_type(p, &type);
    struct ir_expr *value = NULL;
    if (ok && parse_expect(p, "=", "behind the name"))
        value = parse_expr(p);
    value = is_typed ? parse_convert(p, value, type, "the value")
                     : parse_close(p, value);
    if (!value) {
        scope_add_broken(p, name, span);
        return false;
    }
    struct ir_var *var = ir_var_new(p->arena, name, value->type, kind, span);
    struct ir_stmt *s = ir_stmt_let(p->arena, var, value);
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    scope_add_var(p, var);
    return true;
}

bool parse_let_statement(struct parser *p, struct ir_block *out)
{
    size_t first = p->at;
    return parse_expect(p, "let", "before a name") &&
           parse_let(p, out, first, VAR_let);
}

// Parse the values of an array, `[a, b ...]`, behind `=`.
static bool parse_values(struct parser *p, struct ir_buffer *b)
{
    struct VEC(struct ir_expr *) list = {0};
    if (!parse_expect(p, "[", "before the values"))
        return false;
    while (!parse_is(p, "]")) {
        struct ir_expr *x = parse_typed(p, b->elem, "the value");
        if (x && x->op != OP_const)
            diag_error(p->diags, x->span, D_not_a_value);
        if (!x || x->op != OP_const)
            return false;
        vec_push(p->arena, &list, x);
        if (!parse_take(p, ","))
            break;
    }
    b->values = list.at;
    b->n_values = (uint32_t)list.n;
    return parse_expect(p, "]", "behind the values");
}

// Parse an allocation behind its word.
static bool parse_alloc(struct parser *p, struct ir_block *out, size_t first)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an array");
    struct ir_buffer *b = name ? parse_buffer(p, name, span, ROLE_alloc) : NULL;
    if (!b || (parse_take(p, "=") && !parse_values(p, b))) {
        if (name)
            scope_add_broken(p, name, span);
        return false;
    }
    struct ir_stmt *s = ir_stmt_alloc(p->arena, b);
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    scope_add_buffer(p, b);
    return true;
}

bool parse_assign_op(struct parser *p, enum ir_op *op)
{
    static const struct {
        const char *text;
        enum ir_op op;
    } forms[] = {{"+=", OP_add},    {"-=", OP_sub},     {"*=", OP_mul},
                 {"/=", OP_div},    {"%=", OP_mod},     {"&=", OP_bit_and},
                 {"|=", OP_bit_or}, {"^=", OP_bit_xor}, {"<<=", OP_shl},
                 {">>=", OP_shr}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (parse_take(p, forms[i].text)) {
            *op = forms[i].op;
            return true;
        }
    }
    *op = OP_const;
    return parse_expect(p, "=", "in an assignment");
}

struct ir_expr *parse_new_value(struct parser *p, enum ir_op op,
                                struct ir_expr *old)
{
    struct ir_expr *x[2] = {old, parse_typed(p, old->type, "the value")};
    if (!x[1] || op == OP_const)
        return x[1];
    return parse_operation(p, op, 2, x, x[1]->span);
}

// Append a store or an assignment to what `target` reads.
static bool append_assignment(struct parser *p, struct ir_block *out,
                              struct ir_expr *target, size_t first)
{
    enum ir_op op;
    struct ir_stmt *s;
    bool is_store = target->op == OP_load;
    if (is_store && !parse_check_writable(p, target->u.buffer, target->span))
        return false;
    if (!is_store && target->u.var->kind != VAR_mutable) {
        diag_error(p->diags, target->span, D_immutable, target->u.var->name);
        diag_note(p->diags, target->u.var->span, "declared here");
        return false;
    }
    if (!parse_assign_op(p, &op))
        return false;
    struct ir_expr *x = parse_new_value(p, op, target);
    if (!x)
        return false;
    s = is_store ? ir_stmt_store(p->arena, target->u.buffer, target->n,
                                 target->args, x)
                 : ir_stmt_assign(p->arena, target->u.var, x);
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    return true;
}

// Parse an assignment, a store, or an expression for its effect.
static bool parse_simple(struct parser *p, struct ir_block *out, size_t first)
{
    struct ir_expr *x = parse_close(p, parse_expr(p));
    if (!x)
        return false;
    if ((x->op == OP_load || x->op == OP_var) &&
        parse_peek(p, 0)->kind == TOKEN_PUNCT)
        return append_assignment(p, out, x, first);
    if (!(ir_op_info(x->op)->flags & (OP_WRITES | OP_TOGETHER))) {
        diag_error(p->diags, x->span, D_no_effect);
        return false;
    }
    struct ir_stmt *s = ir_stmt_eval(p->arena, x);
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    return true;
}

// Append a barrier.
static bool append_barrier(struct parser *p, struct ir_block *out, size_t first)
{
    struct ir_stmt *s = ir_stmt_barrier(p->arena);
    if (parse_take(p, "(")) {
        s->u.of_cluster = true;
        if (!parse_expect(p, "cluster", "behind `barrier(`") ||
            !parse_expect(p, ")", "behind `cluster`"))
            return false;
    }
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    return true;
}

// Parse `(scope)` behind `fence`.
static bool parse_scope(struct parser *p, enum sync_kind *out)
{
    if (!parse_expect(p, "(", "behind `fence`"))
        return false;
    const struct token *t = parse_peek(p, 0);
    enum ir_scope scope;
    if (scope_named(t->text, &scope)) {
        *out = scope == SCOPE_block ? SYNC_block
               : scope == SCOPE_gpu ? SYNC_gpu
                                    : SYNC_system;
        p->at++;
        return parse_expect(p, ")", "behind the scope");
    }
    diag_error(p->diags, t->span, D_unknown_scope, parse_described(p, t));
    return false;
}

// Append `syncwarp`, or a fence whose word has been read.
static bool append_sync(struct parser *p, struct ir_block *out, size_t first,
                        bool is_fence)
{
    enum sync_kind kind = SYNC_warp;
    if (is_fence && !parse_scope(p, &kind))
        return false;
    struct ir_stmt *s = ir_stmt_sync(p->arena, kind);
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    return true;
}

// Append what a word that is no keyword says to wait for (async_commit ...
// continue), with its number where it has one, if that is the whole statement.
static bool parse_word(struct parser *p, struct ir_block *out)
{
    size_t first = p->at;
    for (int kind = SYNC_async_commit; kind < SYNC_COUNT; kind++) {
        bool has_number = sync_has_number((enum sync_kind)kind);
        const struct token *next = parse_peek(p, has_number ? 4 : 1);
        bool ends = next->kind == TOKEN_NEWLINE || strcmp(next->text, "}") == 0;
        if (!parse_is(p, sync_spelling((enum sync_kind)kind)) || !ends)
            continue;
        struct ir_stmt *s = ir_stmt_sync(p->arena, (enum sync_kind)kind);
        p->at++;
        if (has_number && (!parse_expect(p, "(", "before a number") ||
                           !parse_count(p, &s->u.sync.n) ||
                           !parse_expect(p, ")", "behind a number")))
            return false;
        s->span = parse_span(p, first);
        ir_append(p->arena, out, s);
        return true;
    }
    return false;
}

// Return whether a store comes next that has a hint.
static bool is_hinted(const struct parser *p)
{
    enum ir_hint hint;
    const struct token *t = parse_peek(p, 0);
    return parse_peek(p, 1)->kind == TOKEN_NAME && t->kind == TOKEN_NAME &&
           hint_named(t->text, &hint);
}

// Parse a store behind a hint to the cache.
static bool parse_hinted(struct parser *p, struct ir_block *out, size_t first)
{
    size_t n = out->n;
    enum ir_hint hint = HINT_usual;
    hint_named(parse_peek(p, 0)->text, &hint);
    p->at++;
    if (!parse_simple(p, out, first))
        return false;
    struct ir_stmt *s = out->n > n ? out->at[n] : NULL;
    if (s && s->kind == STMT_store) {
        s->u.store.hint = hint;
        return true;
    }
    diag_error(p->diags, parse_span(p, first), D_not_a_store);
    return false;
}

// Parse one statement; false after an error.
static bool parse_statement(struct parser *p, struct ir_block *out)
{
    size_t first = p->at;
    bool ok;
    if (parse_word(p, out))
        return true;
    if (is_hinted(p))
        return parse_hinted(p, out, first);
    if (parse_peek(p, 1)->kind == TOKEN_NAME && parse_take(p, "matrix"))
        return parse_matrix(p, out, first);
    if (parse_peek(p, 1)->kind == TOKEN_PUNCT &&
        *parse_peek(p, 1)->text == '(' && parse_take(p, "print"))
        return parse_print(p, out, first);
    if (parse_copy(p, out, &ok))
        return ok;
    if (parse_take(p, "for"))
        return parse_for(p, out, first);
    if (parse_take(p, "if"))
        return parse_if(p, out, first);
    if (parse_take(p, "let"))
        return parse_let(p, out, first, VAR_let);
    if (parse_take(p, "var"))
        return parse_let(p, out, first, VAR_mutable);
    if (parse_take(p, "alloc"))
        return parse_alloc(p, out, first);
    if (parse_take(p, "barrier"))
        return append_barrier(p, out, first);
    if (parse_take(p, "syncwarp"))
        return append_sync(p, out, first, false);
    if (parse_take(p, "fence"))
        return append_sync(p, out, first, true);
    if (parse_take(p, "stage"))
        return parse_stage(p, out, first);
    if (parse_take(p, "launch"))
        return parse_launch(p, out, first);
    return parse_simple(p, out, first);
}

// Parse a statement on top of a kernel, where tensor maps of arrays stand, too.
static bool parse_on_top(struct parser *p, struct ir_block *out)
{
    bool is_map = parse_peek(p, 1)->kind == TOKEN_NAME && parse_take(p, "map");
    return is_map ? parse_map(p) : parse_statement(p, out);
}

void parse_statements(struct parser *p, struct ir_block *out, bool is_top)
{
    for (;;) {
        parse_skip_newlines(p);
        if (parse_is(p, "}") || parse_peek(p, 0)->kind == TOKEN_END)
            return;
        size_t before = p->at;
        p->operations = 0;
        bool ok = (is_top && p->define && p->define(p, out)) ||
                  (p->at == before &&
                   (is_top ? parse_on_top(p, out) : parse_statement(p, out)));
        if (ok) {
            parse_check_comment(p, before);
            parse_end_statement(p);
        } else {
            parse_recover(p);
        }
        p->at += p->at == before;
    }
}
