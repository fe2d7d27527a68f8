// Accesses whose element exists: each index is at least 0 and below the extent.
// Families are asked about first, by their ends; isl decides, or else the facts
// that the compiler itself simplifies with, which know products of sizes.

#include "passes/proof/claims.h"
#include "passes/proof/natural.h"

#include "ir/build.h"
#include "ir/walk.h"

// The index of an access in one dimension.
struct place {
    const struct scope *scope;
    const struct ir_buffer *buffer;
    uint32_t dimension;
    struct ir_expr *index; // but for a number
    int64_t lo, hi;        // the least and the greatest number
};

// ---- Systems ----------------------------------------------------------------

// Return whether a system has no solution where the index leaves its array;
// what of it may leave stays in the system.
static bool is_inside(struct system *s, const struct place *p)
{
    struct linear *l = &s->linear;
    struct sum lo = linear_number(p->lo), hi = linear_number(p->hi);
    struct sum zero = linear_number(0);
    system_begin(s, (struct relation){NULL, NULL, false});
    system_enter(s, p->scope, FIRST);
    struct sum x = system_value(s, p->index, FIRST);
    struct sum end = system_value(s, p->buffer->shape[p->dimension], FIRST);
    lo = linear_plus(l, x, 1, &lo);
    hi = linear_plus(l, x, 1, &hi);
    size_t n = l->rows.n;
    linear_require(l, &zero, &lo, -1);
    if (system_is_possible(s))
        return false;
    l->rows.n = n;
    linear_require(l, &hi, &end, 0);
    return !system_is_possible(s);
}

// ---- Places alone -----------------------------------------------------------

// Return whether an index is a number between two others.
static bool is_number_inside(const struct place *p)
{
    int64_t at, end;
    return ir_int_value(p->index, &at) &&
           ir_int_value(p->buffer->shape[p->dimension], &end) &&
           at + p->lo >= 0 && at + p->hi < end;
}

// Return whether a condition that holds says y - x >= 1, and room, which is
// y - x - 1 and more, is so at least 0.
static bool says(struct arena *a, const struct ir_expr *c, bool holds,
                 const struct affine *room)
{
    if (c->op == (holds ? OP_and : OP_or))
        return says(a, c->args[0], holds, room) ||
               says(a, c->args[1], holds, room);
    if (c->op != (holds ? OP_lt : OP_ge) || !type_is_index(c->args[0]->type) ||
        c->type.lanes != 1)
        return false;
    struct affine x = affine_of(a, c->args[0]), y = affine_of(a, c->args[1]);
    struct affine said = affine_add(a, &y, -1, &x);
    affine_offset(&said, -1);
    struct affine more = affine_add(a, room, -1, &said);
    return affine_is_number(&more) && more.constant >= 0;
}

// Return whether something around says that a number is at least 0.
static bool is_said(struct system *s, const struct scope *scope,
                    const struct affine *room)
{
    for (; scope && !room->failed; scope = scope->up) {
        if (!scope->var && says(s->arena, scope->condition, scope->holds, room))
            return true;
        if (!scope->var || !ir_is_stable(scope->to))
            continue;
        struct ir_expr *var = ir_read(s->arena, (struct ir_var *)scope->var);
        struct ir_expr *less = ir_binary(s->arena, OP_lt, var, scope->to);
        if (says(s->arena, less, true, room))
            return true;
    }
    return false;
}

// Return whether x + more < end as x is an index of the block and the grid ends
// before.
static bool is_block_below(struct system *s, const struct scope *scope,
                           const struct ir_expr *x, struct ir_expr *end,
                           int64_t more)
{
    if (x->op != OP_index || axis_kind(x->u.axis) != AXIS_BLOCK)
        return false;
    const struct ir_launch *launch = s->program->launch;
    struct affine top = affine_of(s->arena, end);
    struct affine grid =
        affine_of(s->arena, launch->grid[axis_dimension(x->u.axis)]);
    struct affine room = affine_add(s->arena, &top, -1, &grid);
    affine_offset(&room, -more);
    return natural_is_sum(s->facts, scope, &room);
}

// Return whether x < end, by what is said around: x / d < end where
// x < end * d, and x % d < end where d <= end.
static bool is_below(struct system *s, const struct scope *scope,
                     struct ir_expr *x, struct ir_expr *end, int64_t more)
{
    struct arena *a = s->arena;
    struct affine value = affine_of(a, x), top = affine_of(a, end);
    struct affine room = affine_add(a, &top, -1, &value);
    affine_offset(&room, -1 - more);
    if (is_said(s, scope, &room) || natural_is_sum(s->facts, scope, &room) ||
        is_block_below(s, scope, x, end, more))
        return true;
    if (more || x->n != 2 || !type_is_index(x->type))
        return false;
    struct ir_expr *by = x->args[1];
    if (x->op == OP_min)
        return is_below(s, scope, x->args[0], end, 0) ||
               is_below(s, scope, by, end, 0);
    if (x->op == OP_max)
        return is_below(s, scope, x->args[0], end, 0) &&
               is_below(s, scope, by, end, 0);
    if (!natural_is(s->facts, scope, by))
        return false;
    if (x->op == OP_div)
        return is_below(s, scope, x->args[0], ir_mul(a, end, by), 0);
    struct ir_expr *least = ir_binary(a, OP_sub, by, ir_int(a, 1));
    return x->op == OP_mod && (is_below(s, scope, least, end, 0) ||
                               is_below(s, scope, x->args[0], end, 0));
}

// Return whether the index is inside by its form and by what is said around.
static bool is_plainly_inside(struct system *s, const struct place *p)
{
    struct affine x = affine_of(s->arena, p->index);
    affine_offset(&x, p->lo);
    return natural_is_sum(s->facts, p->scope, &x) &&
           is_below(s, p->scope, p->index, p->buffer->shape[p->dimension],
                    p->hi);
}

// ---- Facts ------------------------------------------------------------------

// Learn what holds inside a scope.
static void enter(struct system *s, struct facts *f, const struct scope *scope)
{
    if (!scope)
        return;
    enter(s, f, scope->up);
    if (!scope->var) {
        facts_assume(f, scope->condition, scope->holds);
        return;
    }
    struct ir_stmt loop = {.kind = STMT_for};
    loop.u.loop = (struct ir_for){.var = (struct ir_var *)scope->var,
                                  .from = scope->from,
                                  .to = scope->to,
                                  .step = scope->step};
    facts_enter(f, &loop);
}

// Return whether the facts at a place say that the index is inside.
static bool follows(struct system *s, const struct place *p)
{
    struct facts f;
    struct ir_stmt launch = {.kind = STMT_launch};
    facts_start(&f, s->arena, s->program->kernel);
    launch.u.launch = *s->program->launch;
    facts_enter(&f, &launch);
    enter(s, &f, p->scope);
    struct affine x = affine_of(s->arena, p->index);
    struct affine end = affine_of(s->arena, p->buffer->shape[p->dimension]);
    struct affine room = affine_add(s->arena, &end, -1, &x);
    affine_offset(&x, p->lo);
    affine_offset(&room, -1 - p->hi);
    return facts_nonnegative(&f, &x) && facts_nonnegative(&f, &room);
}

// ---- Accesses ---------------------------------------------------------------

// Return whether the members of a family exist in one dimension; asked of one
// of them, or of all at once.
static bool holds(struct system *s, const struct family *f,
                  const struct access *one, uint32_t d)
{
    struct place p = {f->first->scope, f->first->buffer, d, NULL, 0, 0};
    if (one) {
        p.index = one->index[d];
        p.hi = (int64_t)one->count[d] - 1;
    } else {
        p.index = f->base[d];
        p.lo = f->offsets[d].lo;
        p.hi = f->offsets[d].hi + f->first->count[d] - 1;
    }
    if (is_number_inside(&p) || is_plainly_inside(s, &p))
        return true;
    s->is_loose = true;
    bool is_sure = is_inside(s, &p);
    s->is_loose = false;
    return is_sure || is_inside(s, &p) || follows(s, &p);
}

// Return whether an expression depends on memory or on what may change.
static bool is_data(struct ir_expr *x)
{
    ir_foreach_expr(e, x) // of the names, the stable ones have been replaced
        if (e->op == OP_var && e->u.var->kind == VAR_let)
            return true;
    return !ir_is_stable(x);
}

// Say that an access may be outside along a dimension.
static void note_open(struct system *s, struct access *x, uint32_t d)
{
    enum proof_reason why = REASON_open;
    struct place p = {x->scope,    x->buffer, d,
                      x->index[d], 0,         (int64_t)x->count[d] - 1};
    if (system_is_spent(s))
        why = REASON_budget;
    else if (is_data(x->index[d]))
        why = REASON_data;
    else if (!is_inside(s, &p) && s->is_exact)
        why = REASON_model;
    struct proof_values sizes = {0};
    if (why == REASON_open || why == REASON_model)
        sizes = system_sizes(s, s->arena);
    x->claims[CLAIM_bounds].sizes = sizes;
    access_open(x, CLAIM_bounds, why, NULL);
}

// Judge a family in one dimension.
static void judge(struct system *s, const struct family *f, uint32_t d)
{
    if (f->base[d] && holds(s, f, NULL, d))
        return;
    vec_foreach_value(x, &f->members) {
        if (!x->count[d])
            access_open(x, CLAIM_bounds,
                        x->is_proxy ? REASON_tile : REASON_open, NULL);
        else if (f->members.n == 1 || !holds(s, f, x, d))
            note_open(s, x, d);
    }
}

// Judge the families of nodes.  TMA tiles may begin outside of their array.
static void walk(struct system *s, const struct nodes *nodes)
{
    vec_foreach_value(n, nodes) {
        vec_foreach_value(f, &n->families) {
            if (f->first->is_beyond)
                continue;
            for (size_t j = 0; j < f->members.n; j++)
                f->members.at[j]->claims[CLAIM_bounds].is_asked = true;
            for (uint32_t d = 0; d < f->first->buffer->rank; d++)
                judge(s, f, d);
        }
        walk(s, &n->body);
        walk(s, &n->otherwise);
    }
}

void claim_bounds(struct program *p, struct system *s)
{
    walk(s, &p->body);
}
