// Loops over a tree: a stack of what has been entered.

#include "ir/foreach.h"

#include "ir/matrix.h"
#include "ir/walk.h"

// Return place `i` of an array of n; NULL if there are fewer.
static struct ir_expr **of_array(struct ir_expr **at, uint32_t n, uint32_t i)
{
    return i < n ? &at[i] : NULL;
}

// Return place `i` of a stage; NULL if there are fewer.
static struct ir_expr **of_stage(struct ir_stage *stage, uint32_t i)
{
    if (i == 2 * stage->iters.n)
        return &stage->predicate;
    if (i > 2 * stage->iters.n)
        return NULL;
    struct ir_iter *it = &stage->iters.at[i / 2];
    return i % 2 ? &it->binding : &it->extent;
}

// Return place `i` of an instruction on matrices; NULL if there are fewer.
static struct ir_expr **of_matrix(struct ir_stmt *s, uint32_t i)
{
    if (i < MATRIX_OPERANDS)
        return &s->u.matrix.tiles[i].at;
    return i == MATRIX_OPERANDS ? &s->u.matrix.keep : NULL;
}

// Return place `i` of a copy; NULL if there are fewer.
static struct ir_expr **of_copy(struct ir_copy *copy, uint32_t i)
{
    uint32_t near = copy->far.n, signal = near + copy->near.n;
    uint32_t end = signal + copy->signal.n;
    if (i < near)
        return &copy->far.index[i];
    if (i < signal)
        return &copy->near.index[i - near];
    if (i < end)
        return &copy->signal.index[i - signal];
    return i == end ? &copy->multicast : i == end + 1 ? &copy->where : NULL;
}

// Return place `i` of a loop; NULL if there are fewer.
static struct ir_expr **of_loop(struct ir_for *loop, uint32_t i)
{
    return i == 0   ? &loop->from
           : i == 1 ? &loop->to
           : i == 2 ? &loop->step
                    : NULL;
}

// Return place `i` of a statement, which may hold NULL; NULL if there are
// fewer.
static struct ir_expr **place_at(struct ir_stmt *s, uint32_t i)
{
    switch (s->kind) {
    case STMT_for: return of_loop(&s->u.loop, i);
    case STMT_if: return of_array(&s->u.branch.cond, 1, i);
    case STMT_let:
    case STMT_var:
    case STMT_assign: return of_array(&s->u.let.value, 1, i);
    case STMT_store:
        return i == s->u.store.n ? &s->u.store.value
                                 : of_array(s->u.store.index, s->u.store.n, i);
    case STMT_eval: return of_array(&s->u.value, 1, i);
    case STMT_print: return of_array(s->u.print.values, s->u.print.n, i);
    case STMT_stage: return of_stage(&s->u.stage, i);
    case STMT_launch: return of_array(s->u.launch.grid, 3, i);
    case STMT_matrix: return of_matrix(s, i);
    case STMT_copy: return of_copy(&s->u.copy, i);
    case STMT_alloc:
    case STMT_barrier:
    case STMT_sync:
    case STMT_COUNT: break;
    }
    return NULL;
}

struct ir_expr **ir_next_place(struct ir_stmt *s, uint32_t *next)
{
    struct ir_expr **place;
    do
        place = place_at(s, (*next)++);
    while (place && !*place);
    return place;
}

uint32_t ir_stmt_blocks(struct ir_stmt *s, struct ir_block *out[])
{
    switch ((int)s->kind) {
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
    }
    return 0;
}

// Return an array of indices again, in memory of its own.
static struct ir_expr **own_array(struct arena *a, struct ir_expr *const *at,
                                  uint32_t n)
{
    return n ? (void *)arena_copy(a, at, n * sizeof *at) : NULL;
}

// Give a place an array of its own.
static void own_place(struct arena *a, struct ir_place *place)
{
    place->index = own_array(a, place->index, place->n);
}

void ir_own_places(struct arena *a, struct ir_stmt *s)
{
    if (s->kind == STMT_store)
        s->u.store.index = own_array(a, s->u.store.index, s->u.store.n);
    if (s->kind == STMT_print)
        s->u.print.values = own_array(a, s->u.print.values, s->u.print.n);
    if (s->kind != STMT_copy)
        return;
    own_place(a, &s->u.copy.far);
    own_place(a, &s->u.copy.near);
    own_place(a, &s->u.copy.signal);
}

// Return array `i` of a copy; NULL if there are fewer.
static struct ir_buffer **buffer_of_copy(struct ir_copy *copy, uint32_t i)
{
    struct ir_place *ends[] = {&copy->far, &copy->near, &copy->signal};
    bool is_there = i < sizeof ends / sizeof *ends && ends[i]->buffer;
    return is_there ? &ends[i]->buffer : NULL;
}

struct ir_buffer **ir_next_buffer(struct ir_stmt *s, uint32_t *next)
{
    uint32_t i = (*next)++;
    switch ((int)s->kind) {
    case STMT_store: return i ? NULL : &s->u.store.buffer;
    case STMT_alloc: return i ? NULL : &s->u.buffer;
    case STMT_copy: return buffer_of_copy(&s->u.copy, i);
    }
    return NULL;
}

struct ir_block *ir_next_block(struct ir_stmt *s, uint32_t *next)
{
    struct ir_block *blocks[IR_BLOCKS_MOST];
    return *next < ir_stmt_blocks(s, blocks) ? blocks[(*next)++] : NULL;
}

// Make room for more steps.
static __attribute__((noinline)) void grow(struct ir_walk *w)
{
    struct ir_step *more = arena_array(&w->arena, struct ir_step, 2 * w->cap);
    memcpy(more, w->at, w->n * sizeof *more);
    w->at = more;
    w->cap *= 2;
}

// Enter something.
static inline void push(struct ir_walk *w, struct ir_step step)
{
    if (w->n == w->cap)
        grow(w);
    w->at[w->n++] = step;
}

// Begin with nothing.
static void begin(struct ir_walk *w)
{
    w->n = 0;
    w->cap = sizeof w->here / sizeof *w->here;
    w->at = w->here;
    w->stmt = NULL;
    w->expr = NULL;
    w->arena = (struct arena){0};
}

struct ir_walk *ir_walk_block(struct ir_walk *w, const struct ir_block *block)
{
    begin(w);
    push(w, (struct ir_step){.of = STEP_block,
                             .u.block = (struct ir_block *)block});
    return w;
}

struct ir_walk *ir_walk_from(struct ir_walk *w, const struct ir_stmt *s)
{
    begin(w);
    push(w, (struct ir_step){.of = STEP_self, .u.stmt = (struct ir_stmt *)s});
    return w;
}

struct ir_walk *ir_walk_stmt(struct ir_walk *w, const struct ir_stmt *s)
{
    begin(w);
    push(w, (struct ir_step){.of = STEP_stmt, .u.stmt = (struct ir_stmt *)s});
    return w;
}

struct ir_walk *ir_walk_expr(struct ir_walk *w, const struct ir_expr *x)
{
    begin(w);
    push(w, (struct ir_step){.of = STEP_root, .u.expr = (struct ir_expr *)x});
    return w;
}

// Enter the blocks of a statement.
static void push_blocks(struct ir_walk *w, struct ir_stmt *s)
{
    struct ir_block *inside[IR_BLOCKS_MOST];
    for (uint32_t n = ir_stmt_blocks(s, inside); n > 0; n--)
        push(w, (struct ir_step){.of = STEP_block, .u.block = inside[n - 1]});
}

// Return the statement of a step that comes next; NULL if none does.
static struct ir_stmt *stmt_of(struct ir_step *step)
{
    if (step->of == STEP_self)
        return step->next++ == 0 ? step->u.stmt : NULL;
    if (step->of == STEP_block && step->next < step->u.block->n)
        return step->u.block->at[step->next++];
    return NULL;
}

struct ir_stmt *ir_next_stmt(struct ir_walk *w)
{
    if (w->stmt)
        push_blocks(w, w->stmt);
    w->stmt = NULL;
    for (; w->n && !w->stmt; w->n -= !w->stmt)
        w->stmt = stmt_of(&w->at[w->n - 1]);
    return w->stmt;
}

// Return the expression of the innermost step that comes next; NULL if what
// comes next is a statement, which is entered, or nothing.
static struct ir_expr *next_of(struct ir_walk *w, struct ir_step *top)
{
    if (top->of == STEP_root && top->next++ == 0)
        return top->u.expr;
    if (top->of == STEP_stmt) {
        struct ir_expr **place = ir_next_place(top->u.stmt, &top->next);
        return place ? *place : NULL;
    }
    struct ir_stmt *s = stmt_of(top);
    if (s) {
        push_blocks(w, s);
        push(w, (struct ir_step){.of = STEP_stmt, .u.stmt = s});
    }
    return NULL;
}

// Return the next operand of the expression that the innermost step is; the step
// ends with the last one.
static struct ir_expr *next_operand(struct ir_walk *w)
{
    struct ir_step *top = &w->at[w->n - 1];
    struct ir_expr *operand = top->u.expr->args[top->next++];
    w->n -= top->next == top->u.expr->n;
    return operand;
}

struct ir_expr *ir_next_expr(struct ir_walk *w)
{
    if (w->expr && w->expr->n)
        push(w, (struct ir_step){.of = STEP_expr, .u.expr = w->expr});
    w->expr = NULL;
    while (w->n && !w->expr) {
        uint32_t n = w->n;
        if (w->at[n - 1].of == STEP_expr)
            return w->expr = next_operand(w);
        w->expr = next_of(w, &w->at[n - 1]);
        w->n -= !w->expr && w->n == n;
    }
    return w->expr;
}
