// Instructions on matrices:
// `matrix op d[i : 4], a[j, k : 8] desc(128, 0, 1024), b[l : 4] keep x`.

#include "ir/text/parse_stmt.h"

#include "ir/build.h"
#include "ir/matrix.h"
#include "ir/text/parse_expr.h"

// Parse one index and, behind `:`, how many elements there are.
static struct ir_expr *parse_range(struct parser *p, uint32_t *extent)
{
    struct ir_expr *x = parse_index(p, "an index");
    *extent = 1;
    return !x || !parse_take(p, ":") || parse_count(p, extent) ? x : NULL;
}

// Parse `desc(swizzle, leading, stride)` behind its word, with `transposed`
// as the last word or not.
static bool parse_descriptor(struct parser *p, struct ir_descriptor *d)
{
    bool ok =
        parse_expect(p, "(", "behind `desc`") && parse_count(p, &d->swizzle) &&
        parse_expect(p, ",", "between numbers") &&
        parse_count(p, &d->leading) &&
        parse_expect(p, ",", "between numbers") && parse_count(p, &d->stride);
    if (ok && parse_take(p, ",")) {
        d->is_transposed = true;
        ok = parse_expect(p, "transposed", "as the last word");
    }
    return ok && parse_expect(p, ")", "behind the numbers");
}

// Parse one operand.
static bool parse_tile(struct parser *p, struct ir_tile *t)
{
    size_t first = p->at;
    struct ir_expr *index[IR_TILE_RANK];
    uint32_t n = 0;
    struct ir_buffer *b = parse_buffer_name(p);
    if (!b || !parse_expect(p, "[", "behind the name of an array"))
        return false;
    while (!parse_is(p, "]") && n < IR_TILE_RANK) {
        index[n] = parse_range(p, &t->extent[n]);
        if (!index[n++])
            return false;
        if (!parse_take(p, ","))
            break;
    }
    if (!parse_expect(p, "]", "behind the indices"))
        return false;
    bool is_flat = p->kernel && p->kernel->level == LEVEL_flat;
    if (n != (is_flat ? 1 : b->rank)) {
        parse_wrong_rank(p, parse_span(p, first), b, n);
        return false;
    }
    t->at =
        ir_at(p->arena, ir_place(p->arena, b, n, index), parse_span(p, first));
    return !parse_take(p, "desc") || parse_descriptor(p, &t->descriptor);
}

bool parse_matrix(struct parser *p, struct ir_block *out, size_t first)
{
    struct ir_matrix op;
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an instruction");
    if (!name || !matrix_find(name, &op)) {
        if (name)
            diag_error(p->diags, span, D_unknown_matrix, name);
        return false;
    }
    struct ir_stmt *s = ir_stmt_matrix(p->arena, op);
    struct matrix_info info = matrix_info(op);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        if (!*info.part[i].layout)
            continue;
        if (i && !parse_expect(p, ",", "between the operands"))
            return false;
        if (!parse_tile(p, &s->u.matrix.tiles[i]))
            return false;
    }
    if (parse_take(p, "keep"))
        s->u.matrix.keep = parse_condition(p, "`keep`");
    s->span = parse_span(p, first);
    ir_append(p->arena, out, s);
    return true;
}
