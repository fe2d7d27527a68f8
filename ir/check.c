// Walks a kernel once with the set of declarations in scope and notes every
// rule that is broken, one line each.

#include "ir/check.h"
#include "ir/base/buf.h"
#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/layout.h"
#include "ir/text.h"
#include "ir/type.h"

enum { THREADS_MOST = 1024 };

// What became of a declaration.
enum scope_state { SCOPE_NEVER, SCOPE_OPEN, SCOPE_CLOSED };

// A check under way.
struct checking {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct map states;                 // declaration -> the state's address
    struct VEC(const void *) in_scope; // innermost last
    const struct ir_stmt *stmt;        // looked at; NULL in the kernel's head
    uint32_t depth;                    // of blocks around `stmt`
    bool in_host_expr; // looking at what the launch function evaluates
    bool in_stage;     // looking at a statement of a stage
    struct buf faults;
};

// Append the name of what a statement is about.
static void name_stmt(struct buf *out, const struct ir_stmt *s)
{
    const char *name = "";
    switch (s->kind) {
    case STMT_for: name = s->u.loop.var->name; break;
    case STMT_let:
    case STMT_var:
    case STMT_assign: name = s->u.let.var->name; break;
    case STMT_store: name = s->u.store.buffer->name; break;
    case STMT_alloc: name = s->u.buffer->name; break;
    case STMT_stage: name = s->u.stage.name; break;
    case STMT_launch: name = s->u.launch.name; break;
    case STMT_if:
    case STMT_eval:
    case STMT_barrier:
    case STMT_sync:
    case STMT_COUNT: break;
    }
    buf_printf(out, "%s%s%s: ", stmt_name(s->kind), *name ? " " : "", name);
}

// Note a fault unless `holds`, with the expression it is about or NULL.
// Returns `holds`.
static bool must(struct checking *c, bool holds, const struct ir_expr *x,
                 const char *what)
{
    if (holds)
        return true;
    if (c->stmt)
        name_stmt(&c->faults, c->stmt);
    else
        buf_printf(&c->faults, "kernel %s: ", c->kernel->name);
    buf_text(&c->faults, what);
    if (x) {
        buf_text(&c->faults, ": `");
        ir_print_expr(&c->faults, x);
        buf_char(&c->faults, '`');
    }
    buf_char(&c->faults, '\n');
    return false;
}

// The same, about something with a name.
static bool must_name(struct checking *c, bool holds, const char *name,
                      const char *what)
{
    return holds ||
           must(c, false, NULL, arena_printf(c->arena, "%s: `%s`", what, name));
}

// Return what became of a declaration.
static enum scope_state state_of(const struct checking *c, const void *what)
{
    const enum scope_state *state = map_get(&c->states, what);
    return state ? *state : SCOPE_NEVER;
}

// Bring a declaration into scope.
static void declare(struct checking *c, const void *what, const char *name)
{
    must_name(c, state_of(c, what) == SCOPE_NEVER, name, "declared twice");
    enum scope_state *state = arena_new(c->arena, enum scope_state);
    *state = SCOPE_OPEN;
    map_set(&c->states, what, state);
    vec_push(c->arena, &c->in_scope, what);
}

// Check that a variable or array is in scope.
static void check_use(struct checking *c, const void *what, const char *name)
{
    enum scope_state state = state_of(c, what);
    must_name(c, state != SCOPE_NEVER, name, "used but not declared");
    must_name(c, state != SCOPE_CLOSED, name, "used out of scope");
}

// End the scopes opened since there were `n`.
static void close_scopes(struct checking *c, size_t n)
{
    while (c->in_scope.n > n) {
        const void *what = c->in_scope.at[--c->in_scope.n];
        *(enum scope_state *)map_get(&c->states, what) = SCOPE_CLOSED;
    }
}

// Declare a variable that must be of a kind.
static void declare_var(struct checking *c, const struct ir_var *var,
                        enum var_kind kind)
{
    must_name(c, var->kind == kind, var->name, "wrong kind of variable");
    declare(c, var, var->name);
}

// Return whether a node of type `int` may stand in this place: at level flat
// only leaves that a conversion makes concrete, and what the host evaluates.
static bool int_is_allowed(const struct checking *c, const struct ir_expr *x)
{
    bool is_leaf =
        x->op == OP_index || (x->op == OP_var && x->u.var->kind == VAR_param);
    return c->kernel->level < LEVEL_flat || c->in_host_expr || is_leaf;
}

// Check the indices of an access; `*lanes` becomes the lanes they select.
static void check_index(struct checking *c, const struct ir_buffer *b,
                        uint32_t n, struct ir_expr *const *index,
                        unsigned *lanes)
{
    uint32_t rank = c->kernel->level >= LEVEL_flat ? 1 : b->rank;
    check_use(c, b, b->name);
    must_name(c, n == rank, b->name, "number of indices is not the rank");
    *lanes = 1;
    for (uint32_t i = 0; i < n; i++) {
        must(c, type_is_integer(index[i]->type), index[i],
             "an index must be an integer");
        if (index[i]->type.lanes > 1) {
            must(c, i + 1 == n, index[i],
                 "only the last index may be a vector");
            *lanes = index[i]->type.lanes;
        }
    }
}

// Check that an array may be written.
static void check_writable(struct checking *c, const struct ir_buffer *b)
{
    must_name(c, b->role != ROLE_input, b->name, "written, but an input");
    must_name(c, b->space != SPACE_constant, b->name, "written, but constant");
}

// Check the operands of an operation of ops.def that is named by its letters.
// Atomics have their element's type first.
static void check_operands(struct checking *c, const struct ir_expr *x,
                           uint32_t n_index)
{
    struct type types[1 + 16];
    struct type result;
    const char *wrong = NULL;
    bool is_atomic = (ir_op_info(x->op)->flags & OP_WRITES) != 0;
    uint32_t n = 0;
    if (is_atomic)
        types[n++] = x->u.buffer->elem;
    if (!must(c, x->n - n_index <= 16, x, "too many operands"))
        return;
    for (uint32_t i = n_index; i < x->n; i++)
        types[n++] = x->args[i]->type;
    if (!ir_result_type(c->arena, x->op, n, types, &result, &wrong))
        must(c, false, x, wrong);
    else
        must(c, type_equal(result, x->type), x, "wrong type of a result");
}

// Check a load or an atomic.
static void check_access(struct checking *c, const struct ir_expr *x)
{
    unsigned lanes;
    uint32_t n = ir_index_count(x);
    check_index(c, x->u.buffer, n, x->args, &lanes);
    must(c, type_equal(x->type, type_vector(x->u.buffer->elem, lanes)), x,
         "an access must have the type of its element");
    if (x->op == OP_load)
        return;
    check_operands(c, x, n);
    check_writable(c, x->u.buffer);
    must_name(c, x->u.buffer->space != SPACE_local, x->u.buffer->name,
              "atomic on an array that no other thread sees");
}

// Check an operation that makes or takes apart a vector.
static void check_vector(struct checking *c, const struct ir_expr *x)
{
    struct type t = x->args[0]->type;
    must(c, t.kind == x->type.kind, x, "a lane must have its vector's type");
    if (x->op == OP_lane) {
        must(c, x->u.lane < t.lanes && t.lanes > 1, x, "no such lane");
        return;
    }
    must(c, t.lanes == 1, x, "a lane must be a scalar");
    must(c, x->type.lanes >= 2 && x->type.lanes <= 16, x,
         "a vector must have 2 to 16 lanes");
    must(c, x->op != OP_ramp || type_is_integer(t), x,
         "a ramp must be of integers");
}

// Check an expression and all below it.
static void check_expr(struct checking *c, const struct ir_expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        check_expr(c, x->args[i]);
    must(c, x->type.kind != TYPE_int || int_is_allowed(c, x), x,
         "no value may have type `int` at this level");
    if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES)) {
        check_access(c, x);
        return;
    }
    must(c, !c->in_stage || !(ir_op_info(x->op)->flags & OP_TOGETHER), x,
         "threads do not meet inside a stage");
    switch ((int)x->op) {
    case OP_const:
        must(c, x->type.lanes == 1, x, "a constant is a scalar");
        return;
    case OP_var:
        check_use(c, x->u.var, x->u.var->name);
        must(c, type_equal(x->type, x->u.var->type), x,
             "a variable must be read in its type");
        return;
    case OP_index:
        must(c, c->kernel->level >= LEVEL_launch, x,
             "thread indices need level launch");
        return;
    case OP_cast:
        must(c, x->type.lanes == x->args[0]->type.lanes, x,
             "a conversion must keep the lanes");
        return;
    case OP_ramp:
    case OP_broadcast:
    case OP_lane: check_vector(c, x); return;
    }
    check_operands(c, x, 0);
}

// Check an expression that must be a scalar bool.
static void check_bool(struct checking *c, const struct ir_expr *x)
{
    check_expr(c, x);
    must(c, type_equal(x->type, type_scalar(TYPE_bool)), x,
         "a condition must be a bool");
}

// Check an expression that must have a certain type.
static void check_typed(struct checking *c, const struct ir_expr *x,
                        struct type type)
{
    check_expr(c, x);
    if (!type_equal(x->type, type))
        must(c, false, x,
             arena_printf(c->arena, "must have type %s", type_name(type)));
}

// Check an expression that the launch function evaluates.
static void check_host(struct checking *c, const struct ir_expr *x,
                       struct type type)
{
    c->in_host_expr = true;
    check_typed(c, x, type);
    c->in_host_expr = false;
    must(c, ir_is_pure(x, true), x, "must depend on parameters only");
}

// Check an array's gaps and swizzle.
static void check_layout(struct checking *c, const struct ir_buffer *b)
{
    const char *wrong = NULL;
    if (!b->pitches && !b->swizzle.bits)
        return;
    must_name(c, b->role == ROLE_alloc && !b->strides, b->name,
              "a layout is for arrays that are declared, without strides");
    must_name(c, c->kernel->level < LEVEL_flat, b->name,
              "a layout becomes strides at level flat");
    for (uint32_t i = 0; b->pitches && !wrong && i < b->rank; i++)
        if (layout_has_gaps(b->pitches[i]))
            wrong = layout_pitch_fault(b, i, b->pitches[i]);
    if (!wrong && b->swizzle.bits)
        wrong = layout_swizzle_fault(b, b->swizzle);
    must_name(c, !wrong, b->name, wrong);
}

// Check an array's shape and strides, and declare it.
static void declare_buffer(struct checking *c, const struct ir_buffer *b)
{
    must_name(c, b->elem.lanes == 1, b->name, "elements must be scalars");
    c->in_host_expr = true;
    for (uint32_t i = 0; i < b->rank; i++) {
        check_typed(c, b->shape[i], type_scalar(TYPE_int));
        if (b->strides)
            check_typed(c, b->strides[i], type_scalar(TYPE_int));
    }
    c->in_host_expr = false;
    check_layout(c, b);
    declare(c, b, b->name);
}

// Check an alloc: where it stands and what its extents may be.
static void check_alloc(struct checking *c, const struct ir_buffer *b)
{
    must_name(c, b->role == ROLE_alloc, b->name, "not the array of an alloc");
    bool is_table = b->space == SPACE_constant;
    must_name(c,
              is_table ? !b->strides && !b->pitches && !b->swizzle.bits
                       : b->values == NULL,
              b->name, "values without gaps, of a constant array");
    must_name(c, !is_table || b->values, b->name, "constant without values");
    for (uint32_t i = 0; i < b->n_values; i++)
        must(c, b->values[i]->op == OP_const, b->values[i],
             "a value of a constant array is a number");
    must_name(c, b->space != SPACE_global || c->depth == 1, b->name,
              "a global alloc must be on top of the kernel");
    for (uint32_t i = 0; i < b->rank; i++)
        must(c,
             b->space == SPACE_global || c->kernel->level == LEVEL_stages ||
                 ir_is_const(b->shape[i]),
             b->shape[i],
             "the extents of a shared or local array are constants");
    declare_buffer(c, b);
}

static void check_block(struct checking *c, const struct ir_block *block);

// Check a loop.
static void check_for(struct checking *c, const struct ir_for *f)
{
    int64_t step;
    enum axis_kind kind = axis_kind(f->axis);
    bool is_bound = kind == AXIS_BLOCK || kind == AXIS_THREAD;
    must_name(c, type_is_integer(f->var->type) && f->var->type.lanes == 1,
              f->var->name, "a loop must count integers");
    check_typed(c, f->from, f->var->type);
    check_typed(c, f->to, f->var->type);
    check_typed(c, f->step, f->var->type);
    must(c, !ir_int_value(f->step, &step) || step > 0, f->step,
         "step must be positive");
    must_name(c, !is_bound || c->kernel->level < LEVEL_launch,
              axis_name(f->axis), "bound loops are launches at this level");
    declare_var(c, f->var, VAR_loop);
    check_block(c, &f->body);
}

// Check a stage.
static void check_stage(struct checking *c, const struct ir_stage *s)
{
    for (size_t i = 0; i < s->iters.n; i++) {
        const struct ir_iter *iter = &s->iters.at[i];
        must_name(c, type_is_integer(iter->var->type), iter->var->name,
                  "an iteration variable must be an integer");
        check_typed(c, iter->extent, iter->var->type);
        check_typed(c, iter->binding, iter->var->type);
    }
    if (s->predicate)
        check_bool(c, s->predicate);
    must(c, s->has_init || s->init.n == 0, NULL,
         "`init` has statements but is absent");
    for (size_t i = 0; i < s->iters.n; i++)
        declare_var(c, s->iters.at[i].var, VAR_iter);
    must(c, !c->in_stage, NULL, "a stage inside a stage");
    c->in_stage = true;
    check_block(c, &s->init);
    check_block(c, &s->body);
    c->in_stage = false;
}

// Check a launch.
static void check_launch(struct checking *c, const struct ir_launch *l)
{
    int64_t threads = 1;
    must(c, c->depth == 1, NULL, "a launch must be on top of the kernel");
    for (int d = 0; d < 3; d++) {
        enum axis axis = (enum axis)(AXIS_thread_x + d);
        check_host(c, l->grid[d], type_scalar(TYPE_int));
        must_name(c, l->block[d] >= 1 && l->block[d] <= axis_most(axis),
                  axis_name(axis), "too few or too many threads");
        threads *= l->block[d];
    }
    must(c, threads <= THREADS_MOST, NULL, "more than 1024 threads in a block");
    check_block(c, &l->body);
}

// Check a store.
static void check_store(struct checking *c, const struct ir_stmt *s)
{
    unsigned lanes;
    const struct ir_buffer *b = s->u.store.buffer;
    for (uint32_t i = 0; i < s->u.store.n; i++)
        check_expr(c, s->u.store.index[i]);
    check_index(c, b, s->u.store.n, s->u.store.index, &lanes);
    check_typed(c, s->u.store.value, type_vector(b->elem, lanes));
    check_writable(c, b);
}

// Check an assignment.
static void check_assign(struct checking *c, const struct ir_stmt *s)
{
    const struct ir_var *var = s->u.let.var;
    check_use(c, var, var->name);
    must_name(c, var->kind == VAR_mutable, var->name,
              "assigned, but not declared by `var`");
    check_typed(c, s->u.let.value, var->type);
}

// Check that a statement may stand at its place at all.
static void check_place(struct checking *c, const struct ir_stmt *s)
{
    bool on_top = s->kind == STMT_launch || s->kind == STMT_alloc;
    must_name(c, stmt_allowed(s->kind, c->kernel->level),
              level_name(c->kernel->level), "not allowed at this level");
    must(c, c->kernel->level < LEVEL_launch || c->depth > 1 || on_top, NULL,
         "only launches and allocs may be on top at this level");
}

// Check a statement and all below it.
static void check_stmt(struct checking *c, const struct ir_stmt *s)
{
    check_place(c, s);
    switch (s->kind) {
    case STMT_for: check_for(c, &s->u.loop); break;
    case STMT_if:
        check_bool(c, s->u.branch.cond);
        check_block(c, &s->u.branch.then);
        check_block(c, &s->u.branch.otherwise);
        break;
    case STMT_let:
    case STMT_var:
        check_typed(c, s->u.let.value, s->u.let.var->type);
        declare_var(c, s->u.let.var,
                    s->kind == STMT_let ? VAR_let : VAR_mutable);
        break;
    case STMT_assign: check_assign(c, s); break;
    case STMT_store: check_store(c, s); break;
    case STMT_eval:
        check_expr(c, s->u.value);
        must(c, !ir_is_pure(s->u.value, false), s->u.value, "has no effect");
        break;
    case STMT_alloc: check_alloc(c, s->u.buffer); break;
    case STMT_stage: check_stage(c, &s->u.stage); break;
    case STMT_launch: check_launch(c, &s->u.launch); break;
    case STMT_barrier:
    case STMT_sync:
        must(c, s->kind == STMT_barrier || s->u.sync < SYNC_grid, NULL,
             "only while parsing");
        must(c, !c->in_stage, NULL, "a barrier inside a stage");
        break;
    case STMT_COUNT: break;
    }
}

// Check a block; its declarations and those of its statement end with it.
static void check_block(struct checking *c, const struct ir_block *block)
{
    const struct ir_stmt *outer = c->stmt;
    size_t n = c->in_scope.n;
    c->depth++;
    for (size_t i = 0; i < block->n; i++) {
        bool declares;
        size_t before = c->in_scope.n;
        c->stmt = block->at[i];
        declares = c->stmt->kind == STMT_let || c->stmt->kind == STMT_var ||
                   c->stmt->kind == STMT_alloc;
        check_stmt(c, c->stmt);
        if (!declares)
            close_scopes(c, before);
    }
    c->depth--;
    close_scopes(c, n);
    c->stmt = outer;
}

// Check and declare the parameters: sizes first, as shapes mention them.
static void check_params(struct checking *c, const struct ir_kernel *k)
{
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_param *p = &k->params.at[i];
        if (!must(c, !p->var != !p->buffer, NULL,
                  "a parameter is a variable or an array"))
            continue;
        if (p->var)
            declare_var(c, p->var, VAR_param);
    }
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b)
            continue;
        must_name(c, b->role != ROLE_alloc, b->name, "not a parameter");
        must_name(c, b->space == SPACE_global || b->space == SPACE_constant,
                  b->name, "a parameter must be in global or constant space");
        declare_buffer(c, b);
    }
}

const char *ir_check(struct arena *a, const struct ir_kernel *kernel)
{
    struct checking c = {.arena = a, .kernel = kernel, .states = {.arena = a}};
    check_params(&c, kernel);
    for (size_t i = 0; i < kernel->where.n; i++)
        check_host(&c, kernel->where.at[i], type_scalar(TYPE_bool));
    for (size_t i = 0; i < kernel->guard.n; i++)
        check_host(&c, kernel->guard.at[i], type_scalar(TYPE_bool));
    check_block(&c, &kernel->body);
    const char *faults =
        c.faults.n ? arena_copy(a, c.faults.data, c.faults.n) : NULL;
    buf_free(&c.faults);
    return faults;
}
