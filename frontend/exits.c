// Statements that leave a loop become branches around what they skip.
//
//   if i >= n { return }        =>    if i >= n { } else { B[i] = 0.0 }
//   B[i] = 0.0
//
// That is all where the exit ends what a branch at the end of the loop's body
// does.  Elsewhere it sets a variable, which is asked before each statement
// that it skips.

#include "frontend/exits.h"

#include "ir/base/diag.h"
#include "ir/build.h"
#include "ir/walk.h"

enum { RETURN, BREAK, CONTINUE, EXITS, NO_EXIT = -1 };

// Where a statement is.
struct place {
    bool in_threads, in_loop;
    struct ir_var *flag[EXITS];
    int depth; // of loops around
};

// The search in one kernel.
struct exits {
    struct parser *p;
    unsigned returns; // found so far
    struct span last; // the last of them
};

static unsigned lower(struct exits *e, struct ir_block *block,
                      const struct place *at, int tail);

// Return which exit a statement is.
static int exit_of(const struct ir_stmt *s)
{
    if (s->kind != STMT_sync || s->u.sync.kind < SYNC_return)
        return NO_EXIT;
    return (int)(s->u.sync.kind - SYNC_return);
}

// Return whether a block ends with an exit.
static bool ends_with(const struct ir_block *block, int kind)
{
    return block->n && kind != NO_EXIT &&
           exit_of(block->at[block->n - 1]) == kind;
}

// Move the statements of a block from number `at` on to the end of another.
static void move_rest(struct exits *e, struct ir_block *from, size_t at,
                      struct ir_block *to)
{
    for (size_t i = at; i < from->n; i++)
        ir_append(e->p->arena, to, from->at[i]);
    from->n = at;
}

// Return a branch that is taken if none of these exits has happened.
static struct ir_stmt *unless(struct exits *e, const struct place *at,
                              unsigned bits, struct span span)
{
    struct arena *a = e->p->arena;
    struct ir_expr *cond = ir_bool(a, true);
    for (int kind = 0; kind < EXITS; kind++) {
        if (bits & 1u << kind)
            cond = ir_binary(a, OP_and, cond,
                             ir_unary(a, OP_not, ir_read(a, at->flag[kind])));
    }
    struct ir_stmt *s = ir_stmt_if(a, ir_at(a, cond, span));
    s->span = span;
    return s;
}

// Return the declaration of a flag.
static struct ir_stmt *declare(struct exits *e, struct ir_var *flag)
{
    return ir_stmt_let(e->p->arena, flag, ir_bool(e->p->arena, false));
}

// Return a new flag.
static struct ir_var *flag_new(struct exits *e, const char *name)
{
    return ir_var_new(e->p->arena, str_name(e->p->names, name),
                      type_scalar(TYPE_bool), VAR_mutable, (struct span){0});
}

// Replace the exit that is statement `i` of a block; returns what is pending.
static unsigned lower_exit(struct exits *e, struct ir_block *block, size_t i,
                           const struct place *at, int tail)
{
    struct arena *a = e->p->arena;
    struct span span = block->at[i]->span;
    int kind = exit_of(block->at[i]);
    bool fits = kind == RETURN ? at->in_threads : at->in_loop;
    if (!fits)
        diag_error(e->p->diags, span, D_exit_place,
                   sync_spelling(block->at[i]->u.sync.kind),
                   kind == RETURN ? "loop over threads" : "loop");
    else if (i + 1 < block->n)
        diag_error(e->p->diags, block->at[i + 1]->span, D_never_runs);
    e->returns += fits && kind == RETURN;
    e->last = span;
    block->n = i + (kind != tail && fits);
    if (kind == tail || !fits)
        return 0;
    block->at[i] = ir_stmt_assign(a, at->flag[kind], ir_bool(a, true));
    block->at[i]->span = span;
    return 1u << kind;
}

// Lower a branch, which takes the rest of its block where one arm leaves.
static unsigned lower_branch(struct exits *e, struct ir_block *block, size_t i,
                             const struct place *at, int tail)
{
    struct ir_block *then = &block->at[i]->u.branch.then;
    struct ir_block *otherwise = &block->at[i]->u.branch.otherwise;
    if (ends_with(then, tail))
        move_rest(e, block, i + 1, otherwise);
    else if (ends_with(otherwise, tail))
        move_rest(e, block, i + 1, then);
    int inner = i + 1 == block->n ? tail : NO_EXIT;
    return lower(e, then, at, inner) | lower(e, otherwise, at, inner);
}

// Lower a loop over iterations that follow one another, number *i of a block.
static unsigned lower_serial(struct exits *e, struct ir_block *block, size_t *i,
                             const struct place *at)
{
    struct ir_stmt *s = block->at[*i];
    struct ir_block *body = &s->u.loop.body;
    struct place inner = *at;
    inner.in_loop = true;
    inner.depth++;
    inner.flag[BREAK] = flag_new(e, "stopped");
    inner.flag[CONTINUE] = flag_new(e, "skipped");
    unsigned bits = lower(e, body, &inner, CONTINUE);
    if (bits & 1u << CONTINUE)
        ir_insert(e->p->arena, body, 0, declare(e, inner.flag[CONTINUE]));
    unsigned ends = bits & ~(1u << CONTINUE);
    if (ends) {
        struct ir_stmt *branch = unless(e, &inner, ends, s->span);
        move_rest(e, body, 0, &branch->u.branch.then);
        ir_append(e->p->arena, body, branch);
    }
    if (bits & 1u << BREAK)
        ir_insert(e->p->arena, block, (*i)++, declare(e, inner.flag[BREAK]));
    return bits & 1u << RETURN;
}

// Lower a loop over threads or blocks.
static void lower_bound(struct exits *e, struct ir_stmt *s,
                        const struct place *at)
{
    bool is_thread = axis_kind(s->u.loop.axis) == AXIS_THREAD;
    struct place inner = {.in_threads = is_thread || at->in_threads,
                          .depth = at->depth + 1};
    inner.flag[RETURN] = flag_new(e, "returned");
    unsigned bits =
        lower(e, &s->u.loop.body, &inner, is_thread ? RETURN : NO_EXIT);
    if (bits)
        ir_insert(e->p->arena, &s->u.loop.body, 0,
                  declare(e, inner.flag[RETURN]));
}

// Lower a stage, which runs whole: what it holds leaves no loop around it.
static void lower_stage(struct exits *e, struct ir_stmt *s)
{
    const struct place inner = {0};
    lower(e, &s->u.stage.init, &inner, NO_EXIT);
    lower(e, &s->u.stage.body, &inner, NO_EXIT);
}

// Lower a launch, whose body is what each thread does.
static void lower_launch(struct exits *e, struct ir_stmt *s)
{
    struct ir_block *body = &s->u.launch.body;
    struct place inner = {.in_threads = true, .depth = 1};
    inner.flag[RETURN] = flag_new(e, "returned");
    if (lower(e, body, &inner, RETURN))
        ir_insert(e->p->arena, body, 0, declare(e, inner.flag[RETURN]));
}

// Lower a loop, number *i of a block; returns what is pending behind it.
static unsigned lower_loop(struct exits *e, struct ir_block *block, size_t *i,
                           const struct place *at)
{
    unsigned before = e->returns, pending = 0;
    struct ir_stmt *s = block->at[*i];
    enum axis_kind kind = axis_kind(s->u.loop.axis);
    bool is_bound = kind == AXIS_BLOCK || kind == AXIS_THREAD;
    if (is_bound)
        lower_bound(e, s, at);
    else
        pending = lower_serial(e, block, i, at);
    bool repeats = !is_bound && !at->in_threads;
    if (e->returns > before && (is_bound || repeats) &&
        (repeats || (at->depth && *i + 1 < block->n)))
        diag_error(e->p->diags, e->last, D_return_followed);
    return pending;
}

// Lower the exits of a block; `tail` is the one that skips to its end anyway.
// Returns which may have happened at its end, as bits.
static unsigned lower(struct exits *e, struct ir_block *block,
                      const struct place *at, int tail)
{
    unsigned pending = 0;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        unsigned bits = 0;
        if (exit_of(s) != NO_EXIT)
            return pending | lower_exit(e, block, i, at, tail);
        if (s->kind == STMT_if)
            bits = lower_branch(e, block, i, at, tail);
        else if (s->kind == STMT_for)
            bits = lower_loop(e, block, &i, at);
        else if (s->kind == STMT_launch)
            lower_launch(e, s);
        else if (s->kind == STMT_stage)
            lower_stage(e, s);
        pending |= bits;
        if (!bits || i + 1 == block->n)
            continue;
        struct ir_stmt *rest = unless(e, at, bits, block->at[i + 1]->span);
        move_rest(e, block, i + 1, &rest->u.branch.then);
        ir_append(e->p->arena, block, rest);
        return pending | lower(e, &rest->u.branch.then, at, tail);
    }
    return pending;
}

void exits_lower(struct parser *p, struct ir_kernel *k)
{
    struct exits e = {.p = p};
    struct place top = {0};
    lower(&e, &k->body, &top, NO_EXIT);
}
