// bounds: accesses that cannot be right, and sizes that cannot exist.
//
//   for i in 0..n { B[i] = A[i + 1] }       // A: f32[n]: E0450
//
// Reported is an index that, for all sizes with which the access runs at all,
// is outside the array in some iteration.  Most are proved to be inside by
// facts; only the others ask isl.  What is not affine is not judged.

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "passes/analysis/domain_build.h"
#include "passes/analysis/facts.h"
#include "passes/pass.h"

enum { ISL_OPERATIONS_MOST = 200000 };

// The state of the walk.
struct bounds {
    struct pass *p;
    struct facts facts;
    struct domain_path path;
    isl_ctx *ctx; // made for the first question
    bool failed;
};

// An access being judged.
struct access {
    struct ir_buffer *buffer;
    uint32_t n;
    struct ir_expr *const *index;
    struct span span;
};

// Return whether 0 <= index < extent follows from the facts.
static bool is_inside(const struct bounds *b, struct ir_expr *index,
                      struct ir_expr *extent)
{
    struct arena *a = b->p->scratch;
    struct affine x = affine_of(a, index), end = affine_of(a, extent);
    struct affine room = affine_add(a, &end, -1, &x);
    affine_offset(&room, -1);
    return facts_nonnegative(&b->facts, &x) &&
           facts_nonnegative(&b->facts, &room);
}

// Return an expression with the names around replaced by what they stand for.
static struct ir_expr *expand_names(const struct bounds *b, struct ir_expr *x)
{
    struct arena *a = b->p->scratch;
    for (size_t i = b->path.n; i-- > 0;) {
        const struct ir_stmt *s = b->path.at[i].stmt;
        bool is_stage = s && s->kind == STMT_stage;
        if (s && s->kind == STMT_let)
            x = ir_replace_var(a, x, s->u.let.var, s->u.let.value);
        for (size_t k = 0; is_stage && k < s->u.stage.iters.n; k++)
            x = ir_replace_var(a, x, s->u.stage.iters.at[k].var,
                               s->u.stage.iters.at[k].binding);
    }
    return x;
}

// Return an expression with the numbers of an example in it.
static struct ir_expr *at_example(const struct bounds *b, struct ir_expr *x,
                                  const struct domain_example *example)
{
    struct arena *a = b->p->scratch;
    for (size_t i = 0; i < example->n; i++)
        x = ir_replace_var(a, x, example->at[i].var,
                           ir_int(a, example->at[i].value));
    return x;
}

// Append "n = 1, i = 0" for what an index and its extent mention.
static void example_text(struct buf *out, const struct domain_example *example,
                         const struct ir_expr *index,
                         const struct ir_expr *extent)
{
    for (size_t i = 0; i < example->n; i++) {
        const struct ir_var *var = example->at[i].var;
        if (ir_mentions(index, var) || ir_mentions(extent, var))
            buf_printf(out, "%s%s = %lld", out->n ? ", " : "", var->name,
                       (long long)example->at[i].value);
    }
}

// Append "[n, 4]" for a shape.
static void shape_text(struct buf *out, const struct ir_buffer *b)
{
    for (uint32_t i = 0; i < b->rank; i++) {
        buf_text(out, i ? ", " : "[");
        ir_print_expr(out, b->shape[i]);
    }
    buf_text(out, "]");
}

// Add the numbers of an example to the newest diagnostic.
static void report_example(struct bounds *b, struct ir_expr *index,
                           struct ir_expr *extent,
                           const struct domain_example *example)
{
    struct buf where = {0};
    int64_t at, end;
    index = expand_names(b, index);
    extent = expand_names(b, extent);
    example_text(&where, example, index, extent);
    if (ir_int_value(at_example(b, index, example), &at) &&
        ir_int_value(at_example(b, extent, example), &end))
        diag_note(b->p->diags, (struct span){0},
                  "%s%s the index is %lld and the extent %lld",
                  where.n ? "for example, with " : "here",
                  where.n ? where.data : "", (long long)at, (long long)end);
    buf_free(&where);
}

// Report an index that leaves its array.
static void report(struct bounds *b, const struct access *x, uint32_t at,
                   const struct domain_example *example)
{
    struct buf shape = {0};
    struct diag_list *d = b->p->diags;
    struct ir_expr *wrong = x->index[at];
    struct span span = wrong->span.source ? wrong->span : x->span;
    diag_error(d, span, D_range, (long long)at, x->buffer->name);
    struct interval r = facts_range(&b->facts, wrong);
    if (r.lo != INT64_MIN && r.hi != INT64_MAX)
        diag_label(d, "goes from %lld to %lld", (long long)r.lo,
                   (long long)r.hi);
    shape_text(&shape, x->buffer);
    diag_note(d, x->buffer->span, "the shape of `%s` is %s", x->buffer->name,
              shape.data);
    report_example(b, wrong, x->buffer->shape[at], example);
    if (x->buffer->role == ROLE_input)
        diag_help(d,
                  "where the element is not there, read another value: "
                  "`condition ? %s[...] : ...`",
                  x->buffer->name);
    buf_free(&shape);
    b->failed = true;
}

// Return whether isl shows that an index leaves its array.
static bool leaves(struct bounds *b, const struct access *x, uint32_t at,
                   struct domain_example *example)
{
    if (!b->ctx)
        b->ctx = domain_context(ISL_OPERATIONS_MOST);
    isl_ctx_reset_operations(b->ctx);
    struct domain_access question = {.kernel = b->p->kernel,
                                     .path = &b->path,
                                     .index = x->index[at],
                                     .extent = x->buffer->shape[at]};
    return domain_leaves(b->ctx, b->p->scratch, &question, example);
}

// Judge every index of an access.
static void check_access(struct bounds *b, const struct access *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        struct domain_example example = {0};
        if (!type_is_index(x->index[i]->type) ||
            is_inside(b, x->index[i], x->buffer->shape[i]))
            continue;
        if (leaves(b, x, i, &example))
            report(b, x, i, &example);
    }
}

// Step into a statement's scope, or under a condition.
static void enter(struct bounds *b, const struct ir_stmt *s,
                  struct ir_expr *condition, bool holds)
{
    struct domain_step step = {s, condition, holds};
    if (condition)
        facts_assume(&b->facts, condition, holds);
    else
        facts_enter(&b->facts, s);
    vec_push(b->p->scratch, &b->path, step);
}

// Judge the accesses in an expression; lazy operands under their condition.
static void check_expr(struct bounds *b, struct ir_expr *x)
{
    const struct ir_op_info *info = ir_op_info(x->op);
    for (uint32_t i = 0; i < x->n; i++) {
        struct facts_mark here = facts_mark(&b->facts);
        size_t depth = b->path.n;
        bool holds = x->op == OP_and || (x->op == OP_select && i == 1);
        if ((info->flags & OP_LAZY) && i > 0)
            enter(b, NULL, x->args[0], holds);
        check_expr(b, x->args[i]);
        facts_leave(&b->facts, here);
        b->path.n = depth;
    }
    if (info->flags & (OP_READS | OP_WRITES)) {
        struct access access = {x->u.buffer, ir_index_count(x), x->args,
                                x->span};
        check_access(b, &access);
    }
}

// Report an array whose size in bytes does not fit in 64 bits.
static void check_size(struct bounds *b, const struct ir_buffer *array)
{
    int64_t bytes = (int64_t)type_bytes(array->elem), extent;
    for (uint32_t i = 0; i < array->rank; i++) {
        if (!ir_int_value(array->shape[i], &extent) || extent == 0)
            continue;
        if (!num_mul(bytes, extent, &bytes)) {
            diag_error(b->p->diags, array->span, D_size_overflow, array->name);
            b->failed = true;
            return;
        }
    }
}

static void check_block(struct bounds *b, struct ir_block *block);

// Judge what is inside a statement.
static void check_inside(struct bounds *b, struct ir_stmt *s,
                         struct ir_block *block, struct ir_expr *condition,
                         bool holds)
{
    struct facts_mark here = facts_mark(&b->facts);
    size_t depth = b->path.n;
    if (s)
        enter(b, s, NULL, false);
    if (condition)
        enter(b, NULL, condition, holds);
    check_block(b, block);
    facts_leave(&b->facts, here);
    b->path.n = depth;
}

// Judge a statement.
static void check_stmt(struct bounds *b, struct ir_stmt *s)
{
    s = ir_at_once(b->p->scratch, s);
    ir_foreach_place(place, s)
        check_expr(b, *place);
    if (s->kind == STMT_store) {
        struct access access = {s->u.store.buffer, s->u.store.n,
                                s->u.store.index, s->span};
        check_access(b, &access);
    } else if (s->kind == STMT_for) {
        check_inside(b, s, &s->u.loop.body, NULL, false);
    } else if (s->kind == STMT_if) {
        check_inside(b, NULL, &s->u.branch.then, s->u.branch.cond, true);
        check_inside(b, NULL, &s->u.branch.otherwise, s->u.branch.cond, false);
    } else if (s->kind == STMT_stage) {
        struct ir_expr *predicate = s->u.stage.predicate;
        check_inside(b, s, &s->u.stage.init, predicate, true);
        check_inside(b, s, &s->u.stage.body, predicate, true);
    } else if (s->kind == STMT_let) {
        enter(b, s, NULL, false);
    } else if (s->kind == STMT_alloc) {
        check_size(b, s->u.buffer);
    }
}

// Judge the statements of a block.
static void check_block(struct bounds *b, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&b->facts);
    size_t depth = b->path.n;
    for (size_t i = 0; i < block->n; i++)
        check_stmt(b, block->at[i]);
    facts_leave(&b->facts, here);
    b->path.n = depth;
}

enum pass_result pass_bounds(struct pass *p)
{
    struct bounds b = {.p = p};
    if (p->is_bounded)
        return PASS_SAME;
    facts_start(&b.facts, p->scratch, p->kernel);
    for (size_t i = 0; i < p->kernel->params.n; i++)
        if (p->kernel->params.at[i].buffer)
            check_size(&b, p->kernel->params.at[i].buffer);
    check_block(&b, &p->kernel->body);
    isl_ctx_free(b.ctx);
    return b.failed ? PASS_FAILED : PASS_SAME;
}
