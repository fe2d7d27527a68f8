// Visiting and rewriting trees.

#include "ir/walk.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/matrix.h"

struct ir_stmt *ir_only(const struct ir_block *block)
{
    struct ir_stmt *only = NULL;
    for (size_t i = 0; i < block->n; i++) {
        if (block->at[i]->kind == STMT_alloc)
            continue;
        if (only)
            return NULL;
        only = block->at[i];
    }
    return only;
}

struct ir_expr *ir_rewrite(struct arena *a, struct ir_expr *x,
                           struct ir_expr *(*rule)(struct arena *a,
                                                   struct ir_expr *x,
                                                   void *context),
                           void *context)
{
    struct ir_expr **args = NULL;
    for (uint32_t i = 0; i < x->n; i++) {
        struct ir_expr *arg = ir_rewrite(a, x->args[i], rule, context);
        if (arg != x->args[i] && !args) {
            args = arena_array(a, struct ir_expr *, x->n);
            memcpy(args, x->args, x->n * sizeof *args);
        }
        if (args)
            args[i] = arg;
    }
    return rule(a, args ? ir_with_args(a, x, args) : x, context);
}

void ir_rewrite_in(struct arena *a, struct ir_block *block,
                   struct ir_expr *(*rule)(struct arena *a, struct ir_expr *x,
                                           void *context),
                   void *context)
{
    ir_foreach_stmt(s, block)
        ir_foreach_place(place, s)
            *place = ir_rewrite(a, *place, rule, context);
}

// Find a statement below a block that is `depth` blocks deep, and make room
// for the path when its length is known.
static bool find_from(struct arena *a, struct ir_block *block,
                      const struct ir_stmt *wanted, uint32_t depth,
                      struct ir_path *path)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_block *inner[IR_BLOCKS_MOST];
        struct ir_stmt *s = block->at[i];
        bool found = s == wanted;
        if (found) {
            path->n = depth + 1;
            path->stmts = arena_array(a, struct ir_stmt *, path->n);
            path->blocks = arena_array(a, struct ir_block *, path->n);
            path->index = arena_array(a, size_t, path->n);
        }
        uint32_t n = ir_stmt_blocks(s, inner);
        for (uint32_t k = 0; k < n && !found; k++)
            found = find_from(a, inner[k], wanted, depth + 1, path);
        if (found) {
            path->stmts[depth] = s;
            path->blocks[depth] = block;
            path->index[depth] = i;
            return true;
        }
    }
    return false;
}

bool ir_find(struct arena *a, struct ir_block *block,
             const struct ir_stmt *wanted, struct ir_path *path)
{
    return find_from(a, block, wanted, 0, path);
}

void ir_splice(struct arena *a, struct ir_block *block, size_t at,
               const struct ir_block *with)
{
    struct ir_block r = {0};
    for (size_t i = 0; i < at; i++)
        vec_push(a, &r, block->at[i]);
    vec_append(a, &r, with);
    for (size_t i = at + 1; i < block->n; i++)
        vec_push(a, &r, block->at[i]);
    *block = r;
}

size_t ir_index(const struct ir_block *block, const struct ir_stmt *s)
{
    size_t at = 0;
    while (block->at[at] != s)
        at++;
    return at;
}

void ir_insert(struct arena *a, struct ir_block *block, size_t at,
               struct ir_stmt *s)
{
    vec_push(a, block, s);
    memmove(block->at + at + 1, block->at + at,
            (block->n - 1 - at) * sizeof *block->at);
    block->at[at] = s;
}

void ir_insert_all(struct arena *a, struct ir_block *block, size_t at,
                   const struct ir_block *from)
{
    for (size_t i = 0; i < from->n; i++)
        ir_insert(a, block, at + i, from->at[i]);
}

bool ir_has(const struct ir_block *block, enum ir_stmt_kind kind)
{
    ir_foreach_stmt(s, block)
        if (s->kind == kind)
            return true;
    return false;
}

bool ir_is_meeting(const struct ir_stmt *s)
{
    return s->kind == STMT_barrier ||
           (s->kind == STMT_sync && sync_threads(s->u.sync.kind));
}

bool ir_has_meeting(const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (ir_is_meeting(s))
            return true;
    return false;
}

unsigned ir_flags(const struct ir_expr *x)
{
    unsigned flags = 0;
    ir_foreach_expr(e, x)
        flags |= ir_op_info(e->op)->flags;
    return flags;
}

unsigned ir_flags_in(const struct ir_block *block)
{
    unsigned flags = 0;
    ir_foreach_expr_in(x, block)
        flags |= ir_op_info(x->op)->flags;
    return flags;
}

bool ir_has_roles(const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_alloc && s->u.buffer->is_ordered &&
            s->u.buffer->space == SPACE_shared)
            return true;
    return false;
}

bool ir_asks_for_sms(const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_resident)
            return true;
    return false;
}

bool ir_mentions(const struct ir_expr *x, const struct ir_var *var)
{
    if (x->op == OP_var && x->u.var == var)
        return true;
    for (uint32_t i = 0; i < x->n; i++)
        if (ir_mentions(x->args[i], var))
            return true;
    return false;
}

bool ir_any_mentions(uint32_t n, struct ir_expr *const *x,
                     const struct ir_var *var)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_mentions(x[i], var))
            return true;
    return false;
}

bool ir_for_mentions(const struct ir_for *loop, const struct ir_var *var)
{
    return ir_mentions(loop->from, var) || ir_mentions(loop->to, var) ||
           ir_mentions(loop->step, var);
}

bool ir_for_counts(const struct ir_for *loop)
{
    return ir_is_int_const(loop->from, 0) && ir_is_int_const(loop->step, 1);
}

bool ir_is_over(const struct ir_stmt *s, enum axis_kind kind)
{
    return s->kind == STMT_for && axis_kind(s->u.loop.axis) == kind;
}

bool ir_runs_together(const struct ir_stmt *s)
{
    return ir_is_over(s, AXIS_THREAD) ||
           (s->kind == STMT_for && axis_is_cluster(s->u.loop.axis));
}

bool ir_is_of_params(const struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_index ||
            (e->op == OP_var && e->u.var->kind != VAR_param))
            return false;
    return !(ir_flags(x) & (OP_READS | OP_WRITES | OP_TOGETHER));
}

// Return whether an expression keeps its value, of whose loads those of inputs
// do if `inputs_do`.
static bool keeps_value(const struct ir_expr *x, bool inputs_do)
{
    bool is_input = x->op == OP_load && x->u.buffer->role == ROLE_input;
    unsigned flags = ir_op_info(x->op)->flags;
    bool changes = (flags & (OP_READS | OP_WRITES | OP_TOGETHER)) ||
                   (x->op == OP_var && x->u.var->kind == VAR_mutable);
    if (changes && !(is_input && inputs_do))
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!keeps_value(x->args[i], inputs_do))
            return false;
    return true;
}

bool ir_is_stable(const struct ir_expr *x)
{
    return keeps_value(x, false);
}

bool ir_is_steady(const struct ir_expr *x)
{
    return keeps_value(x, true);
}

// Return whether a stage has an init and reduces over the variable.
static bool reduces_over(const struct ir_stage *stage, const struct ir_var *var)
{
    bool reduces = false, moves = false;
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        bool binds = ir_mentions(it->binding, var);
        reduces |= binds && it->is_reduce;
        moves |= binds && !it->is_reduce;
    }
    return stage->has_init && reduces && !moves;
}

bool ir_loop_reduces(struct ir_for *loop)
{
    ir_foreach_stmt(s, &loop->body)
        if (s->kind == STMT_stage && reduces_over(&s->u.stage, loop->var))
            return true;
    return false;
}

bool ir_block_mentions(const struct ir_block *block, const struct ir_var *var)
{
    for (size_t i = 0; i < block->n; i++)
        if (ir_stmt_mentions(block->at[i], var))
            return true;
    return false;
}

bool ir_stmt_mentions(const struct ir_stmt *s, const struct ir_var *var)
{
    ir_foreach_expr_from(x, s)
        if (x->op == OP_var && x->u.var == var)
            return true;
    return false;
}

bool ir_stmt_uses_declared(const struct ir_stmt *user,
                           const struct ir_stmt *declaration)
{
    const struct ir_var *var = declaration->u.let.var;
    if (declaration->kind == STMT_alloc)
        return ir_stmt_uses(user, declaration->u.buffer);
    ir_foreach_stmt_from(s, user)
        if (s->kind == STMT_assign && s->u.let.var == var)
            return true;
    return ir_stmt_mentions(user, var);
}

bool ir_uses_declared(const struct ir_block *block,
                      const struct ir_stmt *declaration)
{
    for (size_t i = 0; i < block->n; i++)
        if (ir_stmt_uses_declared(block->at[i], declaration))
            return true;
    return false;
}
