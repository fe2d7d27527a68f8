// compute_inline -- compute an intermediate array where it is used.
//
//   P[i] = c(i) ? A[i - 3] : 0.0;  C[i] = P[i] + P[i + 1]
//     =>   compute_inline(P)
//   C[i] = (c(i) ? A[i - 3] : 0.0) + (c(i + 1) ? A[i + 1 - 3] : 0.0)
//
// The stage, the loops that held nothing else, and the array disappear.
//
// Requires:
//  1. the array is an intermediate one             E0628
//  2. the stage has no reduction                   E0629
//  3. the stage is one store to P[v, w, ...], its
//     iteration variables, that does not read P    E0630
//  4. nothing else writes P                        E0631
//  5. nothing behind the stage writes what it reads E0632

#include "passes/schedule/prim.h"

#include "ir/build.h"
#include "ir/copy.h"

// What is inlined.
struct inlining {
    struct pass *pass;
    struct ir_stmt *stage;
    struct ir_stmt *store;   // its last statement
    struct ir_expr *value;   // in terms of the iteration variables
    struct ir_buffer *array; // P
};

// Check that the store's indices are the iteration variables, each once.
static bool has_plain_index(const struct inlining *in)
{
    const struct ir_stage *stage = &in->stage->u.stage;
    uint32_t n = in->store->u.store.n;
    struct ir_expr *const *index = in->store->u.store.index;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (index[i]->op == OP_var && index[j]->op == OP_var &&
                index[i]->u.var == index[j]->u.var)
                return false;
        }
        if (index[i]->op != OP_var || index[i]->u.var->kind != VAR_iter)
            return false;
    }
    return n == stage->iters.n;
}

// Take the stage apart: lets, then a store.  Returns false if it is not so.
static bool take_apart(struct inlining *in)
{
    struct ir_block *body = &in->stage->u.stage.body;
    struct map lets = {.arena = in->pass->scratch};
    for (size_t i = 0; i < body->n; i++) {
        struct ir_stmt *s = body->at[i];
        bool is_last = i + 1 == body->n;
        if (s->kind != (is_last ? STMT_store : STMT_let))
            return false;
        if (!is_last)
            map_set(
                &lets, s->u.let.var,
                ir_substitute(in->pass->arena, s->u.let.value, &lets, NULL));
        in->store = s;
    }
    if (!body->n || !has_plain_index(in))
        return false;
    in->array = in->store->u.store.buffer;
    in->value =
        ir_substitute(in->pass->arena, in->store->u.store.value, &lets, NULL);
    return ir_is_pure(in->value, false) && !ir_block_reads(body, in->array);
}

// Report a stage that cannot be inlined.
static bool refuse(const struct sched_call *c, enum diag_code code,
                   struct ir_stmt *stage, const char *note)
{
    diag_error(c->pass->diags, c->span, code, sched_name_of(stage));
    return sched_blame_one(c, stage, note);
}

// Look for statements that write: the context of see_writer.
struct writers {
    const struct inlining *in;
    bool behind;            // the stage was seen
    struct ir_stmt *other;  // writes P as well
    struct ir_stmt *change; // writes what P is made of, later
};

// Return whether a statement itself writes an array.
static bool writes(struct ir_stmt *s, const struct ir_buffer *buffer)
{
    struct ir_block alone = {&s, 1, 1};
    return (s->kind == STMT_store || s->kind == STMT_eval ||
            s->kind == STMT_let || s->kind == STMT_var ||
            s->kind == STMT_assign) &&
           ir_block_writes(&alone, buffer);
}

// The context of see_input.
struct input {
    struct ir_stmt *stmt;
    bool changed;
};

// Note an input that the statement changes.
static void see_input(struct ir_expr *x, void *context)
{
    struct input *in = context;
    in->changed |= x->op == OP_load && writes(in->stmt, x->u.buffer);
}

// Note a statement that writes P or, behind the stage, its inputs.
static void see_writer(struct ir_stmt *s, void *context)
{
    struct writers *w = context;
    w->behind |= s == w->in->stage;
    if (s == w->in->store)
        return;
    if (writes(s, w->in->array))
        w->other = s;
    struct input input = {s, false};
    if (w->behind)
        ir_each_expr(w->in->value, see_input, &input);
    if (input.changed)
        w->change = s;
}

// Check every precondition; fill `in` in.
static bool check(const struct sched_call *c, struct inlining *in)
{
    struct ir_stmt *stage = in->stage;
    if (stage->kind != STMT_stage)
        return refuse(c, D_inline_shape, stage, "not a stage");
    for (size_t i = 0; i < stage->u.stage.iters.n; i++) {
        if (stage->u.stage.iters.at[i].is_reduce)
            return refuse(c, D_inline_reduction, stage, "has a reduction");
    }
    if (!take_apart(in))
        return refuse(c, D_inline_shape, stage, "to be inlined");
    if (in->array->role != ROLE_alloc)
        return refuse(c, D_inline_output, stage, "computes a result");
    struct writers w = {.in = in};
    ir_each_stmt(&c->pass->kernel->body, see_writer, &w);
    if (w.other) {
        refuse(c, D_inline_writers, stage, "to be inlined");
        diag_note(c->pass->diags, w.other->span, "it is written here, too");
        return false;
    }
    if (w.change) {
        refuse(c, D_inline_changed, stage, "to be inlined");
        diag_note(c->pass->diags, w.change->span, "it is changed here");
        return false;
    }
    return true;
}

// Replace an element of P by what it is computed from.
static struct ir_expr *inline_load(struct arena *a, struct ir_expr *x,
                                   void *context)
{
    const struct inlining *in = context;
    if (x->op != OP_load || x->u.buffer != in->array)
        return x;
    struct map vars = {.arena = in->pass->scratch};
    for (uint32_t i = 0; i < x->n; i++)
        map_set(&vars, in->store->u.store.index[i]->u.var, x->args[i]);
    return ir_at(a, ir_substitute(a, in->value, &vars, NULL), x->span);
}

// Remove the `alloc` of an array.
static void remove_alloc(struct pass *p, struct ir_block *block,
                         const struct ir_buffer *array)
{
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block *inner[IR_BLOCKS_MOST];
        uint32_t n = ir_stmt_blocks(s, inner);
        for (uint32_t k = 0; k < n; k++)
            remove_alloc(p, inner[k], array);
        if (s->kind == STMT_alloc && s->u.buffer == array)
            ir_splice(p->arena, block, i--, &(struct ir_block){0});
    }
}

bool sched_compute_inline(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct inlining in = {.pass = p, .stage = sched_arg(c, 0)};
    if (!check(c, &in))
        return false;
    sched_remove(p, in.stage);
    ir_rewrite_in(p->arena, &p->kernel->body, inline_load, &in);
    remove_alloc(p, &p->kernel->body, in.array);
    return true;
}
