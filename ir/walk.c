// Visiting and rewriting trees.

#include "ir/walk.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/matrix.h"

uint32_t ir_stmt_blocks(struct ir_stmt *s, struct ir_block *out[])
{
    switch (s->kind) {
    case STMT_for: out[0] = &s->u.loop.body; return 1;
    case STMT_if:
        out[0] = &s->u.branch.then;
        out[1] = &s->u.branch.otherwise;
        return 2;
    case STMT_stage:
        out[0] = &s->u.stage.init;
        out[1] = &s->u.stage.body;
        return 2;
    case STMT_launch: out[0] = &s->u.launch.body; return 1;
    case STMT_let:
    case STMT_var:
    case STMT_assign:
    case STMT_store:
    case STMT_eval:
    case STMT_alloc:
    case STMT_barrier:
    case STMT_sync:
    case STMT_matrix:
    case STMT_copy:
    case STMT_COUNT: break;
    }
    return 0;
}

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

// Call `see` with each place of an array of them.
static void see_all(struct ir_expr **places, uint32_t n,
                    void (*see)(struct ir_expr **place, void *context),
                    void *context)
{
    for (uint32_t i = 0; i < n; i++)
        see(&places[i], context);
}

// The part of ir_stmt_exprs for a stage.
static void see_stage(struct ir_stage *stage,
                      void (*see)(struct ir_expr **place, void *context),
                      void *context)
{
    for (size_t i = 0; i < stage->iters.n; i++) {
        see(&stage->iters.at[i].extent, context);
        see(&stage->iters.at[i].binding, context);
    }
    if (stage->predicate)
        see(&stage->predicate, context);
}

// The part of ir_stmt_exprs for an instruction on matrices.
static void see_matrix(struct ir_stmt *s,
                       void (*see)(struct ir_expr **place, void *context),
                       void *context)
{
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        if (s->u.matrix.tiles[i].at)
            see(&s->u.matrix.tiles[i].at, context);
    }
    if (s->u.matrix.keep)
        see(&s->u.matrix.keep, context);
}

// The part of ir_stmt_exprs for a copy by TMA.
static void see_copy(struct ir_copy *copy,
                     void (*see)(struct ir_expr **place, void *context),
                     void *context)
{
    see_all(copy->far.index, copy->far.n, see, context);
    see_all(copy->near.index, copy->near.n, see, context);
    see_all(copy->signal.index, copy->signal.n, see, context);
    if (copy->multicast)
        see(&copy->multicast, context);
}

void ir_stmt_exprs(struct ir_stmt *s,
                   void (*see)(struct ir_expr **place, void *context),
                   void *context)
{
    switch (s->kind) {
    case STMT_for:
        see(&s->u.loop.from, context);
        see(&s->u.loop.to, context);
        see(&s->u.loop.step, context);
        break;
    case STMT_if: see(&s->u.branch.cond, context); break;
    case STMT_let:
    case STMT_var:
    case STMT_assign: see(&s->u.let.value, context); break;
    case STMT_store:
        see_all(s->u.store.index, s->u.store.n, see, context);
        see(&s->u.store.value, context);
        break;
    case STMT_eval: see(&s->u.value, context); break;
    case STMT_stage: see_stage(&s->u.stage, see, context); break;
    case STMT_launch: see_all(s->u.launch.grid, 3, see, context); break;
    case STMT_matrix: see_matrix(s, see, context); break;
    case STMT_copy: see_copy(&s->u.copy, see, context); break;
    case STMT_alloc:
    case STMT_barrier:
    case STMT_sync:
    case STMT_COUNT: break;
    }
}

void ir_each_stmt(struct ir_block *block,
                  void (*see)(struct ir_stmt *s, void *context), void *context)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_block *inner[IR_BLOCKS_MOST];
        struct ir_stmt *s = block->at[i];
        see(s, context);
        uint32_t n = ir_stmt_blocks(s, inner);
        for (uint32_t k = 0; k < n; k++)
            ir_each_stmt(inner[k], see, context);
    }
}

void ir_each_expr(struct ir_expr *x,
                  void (*see)(struct ir_expr *x, void *context), void *context)
{
    see(x, context);
    for (uint32_t i = 0; i < x->n; i++)
        ir_each_expr(x->args[i], see, context);
}

// What ir_each_expr_in hands down.
struct expr_visit {
    void (*see)(struct ir_expr *x, void *context);
    void *context;
};

// Visit the expression at a place.
static void visit_place(struct ir_expr **place, void *context)
{
    struct expr_visit *v = context;
    ir_each_expr(*place, v->see, v->context);
}

// Visit the expressions of a statement.
static void visit_stmt(struct ir_stmt *s, void *context)
{
    ir_stmt_exprs(s, visit_place, context);
}

void ir_each_expr_in(struct ir_block *block,
                     void (*see)(struct ir_expr *x, void *context),
                     void *context)
{
    struct expr_visit v = {see, context};
    ir_each_stmt(block, visit_stmt, &v);
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

// What ir_rewrite_in hands down.
struct rewriting {
    struct arena *arena;
    struct ir_expr *(*rule)(struct arena *a, struct ir_expr *x, void *context);
    void *context;
};

// Rewrite the expression at a place.
static void rewrite_place(struct ir_expr **place, void *context)
{
    struct rewriting *r = context;
    *place = ir_rewrite(r->arena, *place, r->rule, r->context);
}

// Rewrite the expressions of a statement.
static void rewrite_stmt(struct ir_stmt *s, void *context)
{
    ir_stmt_exprs(s, rewrite_place, context);
}

void ir_rewrite_in(struct arena *a, struct ir_block *block,
                   struct ir_expr *(*rule)(struct arena *a, struct ir_expr *x,
                                           void *context),
                   void *context)
{
    struct rewriting r = {a, rule, context};
    ir_each_stmt(block, rewrite_stmt, &r);
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

const struct ir_attr *ir_loop_mark(const struct ir_stmt *s, const char *name)
{
    for (size_t i = 0; s->kind == STMT_for && i < s->u.loop.attrs.n; i++) {
        if (strcmp(s->u.loop.attrs.at[i].name, name) == 0)
            return &s->u.loop.attrs.at[i];
    }
    return NULL;
}

int64_t ir_loop_mark_value(const struct ir_stmt *s, const char *name)
{
    const struct ir_attr *mark = ir_loop_mark(s, name);
    return mark ? mark->value : 0;
}

void ir_splice(struct arena *a, struct ir_block *block, size_t at,
               const struct ir_block *with)
{
    struct ir_block r = {0};
    for (size_t i = 0; i < at; i++)
        vec_push(a, &r, block->at[i]);
    for (size_t i = 0; i < with->n; i++)
        vec_push(a, &r, with->at[i]);
    for (size_t i = at + 1; i < block->n; i++)
        vec_push(a, &r, block->at[i]);
    *block = r;
}

void ir_insert(struct arena *a, struct ir_block *block, size_t at,
               struct ir_stmt *s)
{
    vec_push(a, block, s);
    memmove(block->at + at + 1, block->at + at,
            (block->n - 1 - at) * sizeof *block->at);
    block->at[at] = s;
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

// Set *(bool *)context to false at memory or a mutable variable.
static void see_unstable(struct ir_expr *x, void *context)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if ((flags & (OP_READS | OP_WRITES | OP_TOGETHER)) ||
        (x->op == OP_var && x->u.var->kind == VAR_mutable))
        *(bool *)context = false;
}

bool ir_is_stable(const struct ir_expr *x)
{
    bool stable = true;
    ir_each_expr((struct ir_expr *)x, see_unstable, &stable);
    return stable;
}

// A search for a reduction over a loop.
struct reduction_search {
    const struct ir_var *var;
    bool found;
};

// Note a stage that has an init and reduces over the loop.
static void see_reduction(struct ir_stmt *s, void *context)
{
    struct reduction_search *search = context;
    bool reduces = false, moves = false;
    if (s->kind != STMT_stage || !s->u.stage.has_init)
        return;
    for (size_t i = 0; i < s->u.stage.iters.n; i++) {
        const struct ir_iter *it = &s->u.stage.iters.at[i];
        bool binds = ir_mentions(it->binding, search->var);
        reduces |= binds && it->is_reduce;
        moves |= binds && !it->is_reduce;
    }
    search->found |= reduces && !moves;
}

bool ir_loop_reduces(struct ir_for *loop)
{
    struct reduction_search search = {loop->var, false};
    ir_each_stmt(&loop->body, see_reduction, &search);
    return search.found;
}

// A question about the uses of a variable.
struct var_search {
    const struct ir_var *var;
    bool found;
};

// Look at an expression for the variable.
static void look_for_var(struct ir_expr *x, void *context)
{
    struct var_search *search = context;
    search->found |= x->op == OP_var && x->u.var == search->var;
}

bool ir_block_mentions(struct ir_block *block, const struct ir_var *var)
{
    struct var_search search = {var, false};
    ir_each_expr_in(block, look_for_var, &search);
    return search.found;
}

// Look at a statement that may assign to the variable.
static void look_for_assign(struct ir_stmt *s, void *context)
{
    struct var_search *search = context;
    search->found |= s->kind == STMT_assign && s->u.let.var == search->var;
}

bool ir_uses_declared(struct ir_block *block, const struct ir_stmt *declaration)
{
    const struct ir_buffer *buffer = declaration->u.buffer;
    if (declaration->kind == STMT_alloc)
        return ir_block_reads(block, buffer) || ir_block_writes(block, buffer);
    struct var_search search = {declaration->u.let.var, false};
    ir_each_stmt(block, look_for_assign, &search);
    return search.found || ir_block_mentions(block, search.var);
}
