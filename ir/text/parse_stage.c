// Stages and launches.

#include "ir/text/parse_stmt.h"

#include "ir/build.h"
#include "ir/launch_attribute.h"
#include "ir/marks.h"
#include "ir/text/parse_expr.h"

#include <string.h>

// Return whether a mark may have a word for its value.
static bool has_word(enum ir_mark mark)
{
    return mark != MARK_note && ir_mark_info(mark)->takes != MARK_TAKES_NUMBER;
}

bool parse_attr_value(struct parser *p, struct ir_attr *attr)
{
    attr->mark = ir_mark_named(attr->name);
    uint64_t is_negative = parse_take(p, "-");
    const struct token *t = parse_peek(p, 0);
    if (t->kind == TOKEN_NAME && !is_negative && has_word(attr->mark)) {
        attr->word = t->text;
        p->at++;
        return parse_expect(p, ")", "behind the word of an annotation");
    }
    if (t->kind != TOKEN_INT || t->integer > INT64_MAX + is_negative) {
        diag_error(p->diags, t->span, D_not_a_count, (long long)INT64_MAX);
        return false;
    }
    p->at++;
    attr->value = (int64_t)(is_negative ? 0 - t->integer : t->integer);
    return parse_expect(p, ")", "behind the value of an annotation");
}

// Parse an extent, which may mention the iteration variables in front of it.
static struct ir_expr *parse_extent(struct parser *p,
                                    const struct ir_stage *stage)
{
    size_t mark = scope_open(p);
    vec_foreach(it, &stage->iters)
        scope_add_var(p, it->var);
    struct ir_expr *extent = parse_size(p, "an extent");
    scope_close(p, mark);
    return extent;
}

// Parse one iteration variable of a stage: `reduce v in extent = binding`.
static bool parse_iter(struct parser *p, struct ir_stage *stage)
{
    bool is_reduce = parse_take(p, "reduce");
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an iteration variable");
    if (!name || !parse_expect(p, "in", "behind the iteration variable"))
        return false;
    struct ir_expr *extent = parse_extent(p, stage);
    if (!extent || !parse_expect(p, "=", "behind the extent"))
        return false;
    struct ir_expr *binding = parse_size(p, "a binding");
    struct ir_var *var =
        ir_var_new(p->arena, name, type_scalar(TYPE_int), VAR_iter, span);
    struct ir_iter iter = {var, extent, binding, is_reduce};
    vec_push(p->arena, &stage->iters, iter);
    return binding != NULL;
}

// Parse the iteration variables of a stage, brackets included.
static bool parse_iters(struct parser *p, struct ir_stage *stage)
{
    if (!parse_expect(p, "(", "behind the name of a stage"))
        return false;
    while (!parse_is(p, ")")) {
        if (!parse_iter(p, stage))
            return false;
        if (!parse_take(p, ","))
            break;
    }
    return parse_expect(p, ")", "behind the iteration variables");
}

// Parse the inside of a stage, braces included; `init { }` may come first.
static bool parse_stage_body(struct parser *p, struct ir_stage *stage)
{
    if (!parse_expect(p, "{", "before the body of a stage"))
        return false;
    parse_skip_newlines(p);
    stage->has_init =
        parse_is(p, "init") && strcmp(parse_peek(p, 1)->text, "{") == 0;
    if (stage->has_init) {
        p->at++;
        if (!parse_block(p, &stage->init))
            return false;
    }
    parse_statements(p, &stage->body, false);
    return parse_expect(p, "}", "behind the body of a stage");
}

bool parse_stage(struct parser *p, struct ir_block *out, size_t first)
{
    const char *name = parse_name(p, "a stage");
    if (name && parse_take(p, ".")) {
        const char *part = parse_name(p, "a part of a stage");
        name = part ? arena_printf(p->arena, "%s.%s", name, part) : NULL;
        name = name ? str_name(p->names, name) : NULL;
    }
    if (!name)
        return false;
    struct ir_stmt *s = ir_stmt_stage(p->arena, name);
    struct ir_stage *stage = &s->u.stage;
    if (!parse_iters(p, stage))
        return false;
    if (parse_take(p, "if") &&
        !(stage->predicate = parse_condition(p, "the predicate")))
        return false;
    while (parse_take(p, "@")) {
        struct ir_attr attr = {.name = parse_name(p, "an annotation")};
        if (!attr.name || !parse_expect(p, "(", "behind an annotation") ||
            !parse_attr_value(p, &attr))
            return false;
        vec_push(p->arena, &stage->attrs, attr);
    }
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    size_t mark = scope_open(p);
    for (size_t i = 0; i < stage->iters.n; i++)
        scope_add_var(p, stage->iters.at[i].var);
    bool ok = parse_enter(p) && parse_stage_body(p, stage);
    parse_leave(p);
    scope_close(p, mark);
    return ok;
}

// Parse `(x, y, z)`, numbers of blocks or threads.
static bool parse_counts(struct parser *p, const char *word, uint32_t counts[3])
{
    const char *behind = arena_printf(p->arena, "behind `%s`", word);
    const char *in = arena_printf(p->arena, "in the %s", word);
    if (!parse_expect(p, "(", behind))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!parse_count(p, &counts[i]) ||
            !parse_expect(p, i < 2 ? "," : ")", in))
            return false;
    }
    return true;
}

// Parse `grid(x, y, z) block(x, y, z)`, with `cluster(x, y, z)` between them
// where blocks run together.
static bool parse_geometry(struct parser *p, struct ir_launch *launch)
{
    if (!parse_expect(p, "grid", "behind the name of a launch") ||
        !parse_expect(p, "(", "behind `grid`"))
        return false;
    for (int i = 0; i < 3; i++) {
        launch->grid[i] =
            parse_typed(p, type_scalar(TYPE_int), "a dimension of the grid");
        if (!launch->grid[i] ||
            !parse_expect(p, i < 2 ? "," : ")", "in the grid"))
            return false;
    }
    if (parse_take(p, "cluster") &&
        !parse_counts(p, "cluster", launch->cluster))
        return false;
    return parse_expect(p, "block", "behind the grid") &&
           parse_counts(p, "block", launch->block);
}

bool parse_launch_attributes(struct parser *p, uint32_t *set)
{
    parse_take(p, "launch_attribute");
    do {
        struct span span = parse_peek(p, 0)->span;
        const char *name = parse_name(p, "an attribute of launches");
        if (!name || !attribute_add(p->diags, span, name, set))
            return false;
    } while (parse_take(p, ","));
    return true;
}

// Parse `noalias(a, b)`, arrays in global memory.
static bool parse_noalias(struct parser *p, struct ir_launch *launch)
{
    if (!parse_take(p, "noalias"))
        return true;
    if (!parse_expect(p, "(", "behind `noalias`"))
        return false;
    do {
        struct ir_buffer *b = parse_buffer_name(p);
        if (!b)
            return false;
        vec_push(p->arena, &launch->noalias, b);
    } while (parse_take(p, ","));
    return parse_expect(p, ")", "behind the arrays that threads own");
}

bool parse_launch(struct parser *p, struct ir_block *out, size_t first)
{
    const char *name = parse_name(p, "a launch");
    if (!name)
        return false;
    struct ir_stmt *s = ir_stmt_launch(p->arena, name);
    struct ir_launch *launch = &s->u.launch;
    if (!parse_geometry(p, launch))
        return false;
    if (parse_take(p, "min_blocks") && !parse_count(p, &launch->min_blocks))
        return false;
    if (parse_take(p, "max_registers") &&
        !parse_count(p, &launch->max_registers))
        return false;
    if (parse_is(p, "launch_attribute") &&
        !parse_launch_attributes(p, &launch->attributes))
        return false;
    launch->derives_barriers = parse_take(p, "derive_barriers");
    if (!parse_noalias(p, launch))
        return false;
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    return parse_block(p, &launch->body);
}
