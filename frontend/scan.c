// Scans: the right side of a definition whose elements are the reductions of
// all elements up to each, or before it.
//
//   Y[r, i] = scan(j <= i) sum X[r, j]
//     =>
//   alloc Y_run: f32[R] in local
//   for r in 0..R {
//     for i in 0..n {
//       stage Y(vr in R = r, reduce vi in n = i) {
//         init { Y_run[vr] = 0.0 }
//         Y_run[vr] = Y_run[vr] + X[vr, vi]
//         Y[vr, vi] = Y_run[vr]
//       }
//     }
//   }
//
// So a scan is a reduction into `Y_run` whose every step stores what it has so
// far; with `j < i` it stores before it combines. The loop of the scan is the
// innermost one.

#include "frontend/define.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

#include <string.h>

bool scan_is_next(const struct parser *p)
{
    const char *sign = parse_peek(p, 3)->text;
    return strcmp(parse_peek(p, 0)->text, "scan") == 0 &&
           strcmp(parse_peek(p, 1)->text, "(") == 0 &&
           parse_peek(p, 2)->kind == TOKEN_NAME &&
           (*sign == '<' || *sign == '>');
}

// The range of a scan: `j <= i`.
struct scan_range {
    const char *name; // of j
    struct span span;
    bool is_inclusive;
};

// Find which index of the elements on the left a name is.
static bool find_scanned(struct parser *p, struct definition *d,
                         const char *name, struct span span)
{
    for (uint32_t i = 0; i < d->loops.n; i++) {
        d->scanned = i;
        if (d->loops.at[i]->name == name)
            return true;
    }
    return diag_error(p->diags, span, D_scan_index, name, d->elements[0].name);
}

// Parse `scan(j <= i)`.
static bool parse_range(struct parser *p, struct definition *d,
                        struct scan_range *out)
{
    p->at += 2;
    out->span = parse_peek(p, 0)->span;
    out->name = parse_name(p, "a variable of the scan");
    struct span sign = parse_peek(p, 0)->span;
    out->is_inclusive = parse_take(p, "<=");
    if (!out->is_inclusive && !parse_take(p, "<")) {
        diag_error(p->diags, sign, D_scan_range);
        diag_help(p->diags,
                  "write `%s <= i`, or `%s < i` without the element "
                  "itself",
                  out->name, out->name);
        return false;
    }
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "an index of the left side");
    return name && find_scanned(p, d, name, span) &&
           parse_expect(p, ")", "behind the range of a scan");
}

// Return the reduction that a scan is: of the elements in front of each
// position, for all other indices.
static struct definition reduction_of(struct parser *p,
                                      const struct definition *d,
                                      const struct scan_range *range)
{
    struct definition r = {.is_let = d->is_let,
                           .is_reduction = true,
                           .n_elements = d->n_elements,
                           .stage = d->stage};
    for (uint32_t i = 0; i < d->iters.n; i++) {
        if (i == d->scanned)
            continue;
        vec_push(p->arena, &r.iters, d->iters.at[i]);
        vec_push(p->arena, &r.loops, d->loops.at[i]);
    }
    for (uint32_t k = 0; k < d->n_elements; k++) {
        const struct element *e = &d->elements[k];
        const char *name = arena_printf(p->arena, "%s_run", e->name);
        r.elements[k] = (struct element){
            .name = str_name(p->names, name), .span = e->span, .n = e->n - 1};
    }
    define_add_iter(p, &r, range->name, range->span,
                    d->iters.at[d->scanned].extent, true);
    return r;
}

// Make the arrays of what the scan of a result has so far: of its types.
static void make_running(struct parser *p, struct definition *r,
                         const struct definition *d)
{
    struct type types[REDUCER_MOST];
    for (uint32_t k = 0; k < d->n_elements && !d->is_let; k++)
        types[k] = d->elements[k].buffer->elem;
    if (!d->is_let)
        define_arrays(p, r, types);
}

// Report what reads the position of an element of the scan, or an array that it
// defines.
static bool check_operands(struct parser *p, const struct definition *d,
                           struct ir_block *body)
{
    const struct ir_var *position = d->iters.at[d->scanned].var;
    const char *name = d->loops.at[d->scanned]->name;
    ir_foreach_expr_in(x, body) {
        if (x->op == OP_var && x->u.var == position)
            return diag_error(p->diags, x->span, D_scan_operand, name);
        if (x->op == OP_load && !define_check_reads(p, d, x))
            return false;
    }
    return true;
}

// Let the elements be stored in front of what combines, or behind it.
static void store_elements(struct parser *p, struct definition *d,
                           const struct definition *r, bool is_inclusive)
{
    struct ir_block *body = &d->stage->u.stage.body;
    struct ir_block stores = {0};
    for (uint32_t k = 0; k < d->n_elements; k++)
        define_store(p, d, k, &stores, define_load(p, r, k));
    struct ir_block *first = is_inclusive ? body : &stores;
    ir_append_all(p->arena, first, is_inclusive ? &stores : body);
    *body = *first;
}

bool scan_parse(struct parser *p, struct definition *d)
{
    struct scan_range range;
    struct type types[REDUCER_MOST];
    struct ir_block *body = &d->stage->u.stage.body;
    if (!parse_range(p, d, &range))
        return false;
    struct definition r = reduction_of(p, d, &range);
    make_running(p, &r, d);
    if (!reduce_parse_operation(p, &r) || !check_operands(p, d, body))
        return false;
    struct ir_iter *scanned = &d->iters.at[d->scanned];
    struct map vars = {.arena = p->arena};
    map_set(&vars, r.iters.at[r.iters.n - 1].var,
            ir_read(p->arena, scanned->var));
    ir_substitute_in(p->arena, body, &vars, NULL);
    scanned->is_reduce = true;
    for (uint32_t k = 0; k < d->n_elements; k++) {
        d->running[k] = r.elements[k];
        types[k] = r.elements[k].buffer->elem;
    }
    define_arrays(p, d, types);
    store_elements(p, d, &r, range.is_inclusive);
    return true;
}

void scan_declare(struct parser *p, struct definition *d,
                  struct ir_block *block)
{
    for (uint32_t k = 0; k < d->n_elements; k++) {
        struct element *e = &d->running[k];
        for (uint32_t i = 0, n = 0; i < d->iters.n; i++)
            if (i != d->scanned)
                e->buffer->shape[n++] = d->iters.at[i].extent;
        e->buffer->space = SPACE_local;
        struct ir_stmt *s = ir_stmt_alloc(p->arena, e->buffer);
        s->span = e->span;
        ir_append(p->arena, block, s);
    }
}
