// Scopes and expressions of a checked kernel.

#include "ir/checking.h"

#include "ir/build.h"
#include "ir/text.h"
#include "ir/type.h"

// Append the name of what a statement is about.
static void name_stmt(struct buf *out, const struct ir_stmt *s)
{
    const char *name = "";
    switch ((int)s->kind) {
    case STMT_for: name = s->u.loop.var->name; break;
    case STMT_let:
    case STMT_var:
    case STMT_assign: name = s->u.let.var->name; break;
    case STMT_store: name = s->u.store.buffer->name; break;
    case STMT_alloc: name = s->u.buffer->name; break;
    case STMT_stage: name = s->u.stage.name; break;
    case STMT_launch: name = s->u.launch.name; break;
    case STMT_copy: name = s->u.copy.near.buffer->name; break;
    }
    const char *word =
        s->kind == STMT_copy ? ir_copy_word(&s->u.copy) : stmt_name(s->kind);
    buf_printf(out, "%s%s%s: ", word, *name ? " " : "", name);
}

bool check_must(struct checking *c, bool holds, const struct ir_expr *x,
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

bool check_must_name(struct checking *c, bool holds, const char *name,
                     const char *what)
{
    return holds || check_must(c, false, NULL,
                               arena_printf(c->arena, "%s: `%s`", what, name));
}

// Return what became of a declaration.
static enum scope_state state_of(const struct checking *c, const void *what)
{
    const enum scope_state *state = map_get(&c->states, what);
    return state ? *state : SCOPE_NEVER;
}

void check_declare(struct checking *c, const void *what, const char *name)
{
    check_must_name(c, state_of(c, what) == SCOPE_NEVER, name,
                    "declared twice");
    enum scope_state *state = arena_new(c->arena, enum scope_state);
    *state = SCOPE_OPEN;
    map_set(&c->states, what, state);
    vec_push(c->arena, &c->in_scope, what);
}

void check_use(struct checking *c, const void *what, const char *name)
{
    enum scope_state state = state_of(c, what);
    check_must_name(c, state != SCOPE_NEVER, name, "used but not declared");
    check_must_name(c, state != SCOPE_CLOSED, name, "used out of scope");
}

void check_close(struct checking *c, size_t n)
{
    while (c->in_scope.n > n) {
        const void *what = c->in_scope.at[--c->in_scope.n];
        *(enum scope_state *)map_get(&c->states, what) = SCOPE_CLOSED;
    }
}

// Return whether a node of type `int` may stand in this place: at level flat
// only leaves that a conversion makes concrete, and what the host evaluates.
static bool int_is_allowed(const struct checking *c, const struct ir_expr *x)
{
    bool is_leaf =
        x->op == OP_index || (x->op == OP_var && x->u.var->kind == VAR_param);
    return c->kernel->level < LEVEL_flat || c->in_host_expr || is_leaf;
}

// Return whether an index is the position of the thread, or of its block in the
// cluster: the variable of such a loop, or what is left of one with one iteration.
static bool is_position(const struct checking *c, const struct ir_expr *x)
{
    return x->op == OP_var ? map_get(&c->positions, x->u.var) != NULL
                           : ir_is_int_const(x, 0);
}

void check_index(struct checking *c, const struct ir_buffer *b, uint32_t n,
                 struct ir_expr *const *index, unsigned *lanes)
{
    uint32_t rank = c->kernel->level >= LEVEL_flat ? ir_flat_rank(b) : b->rank;
    check_use(c, b, b->name);
    check_must_name(c, n == rank, b->name, "number of indices is not the rank");
    *lanes = 1;
    for (uint32_t i = 0; i < n; i++) {
        check_must(c, type_is_integer(index[i]->type), index[i],
                   "an index must be an integer");
        check_must(c, i >= b->threads || is_position(c, index[i]), index[i],
                   "no position of the thread");
        if (index[i]->type.lanes > 1) {
            check_must(c, i + 1 == n, index[i],
                       "only the last index may be a vector");
            *lanes = index[i]->type.lanes;
        }
    }
}

void check_writable(struct checking *c, const struct ir_buffer *b)
{
    check_must_name(c, b->role != ROLE_input, b->name, "written, but an input");
    check_must_name(c, b->space != SPACE_constant, b->name,
                    "written, but constant");
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
    if (!check_must(c, x->n - n_index <= 16, x, "too many operands"))
        return;
    for (uint32_t i = n_index; i < x->n; i++)
        types[n++] = x->args[i]->type;
    if (!ir_result_type(c->arena, x->op, n, types, &result, &wrong))
        check_must(c, false, x, wrong);
    else
        check_must(c, type_equal(result, x->type), x, "wrong type of a result");
}

void check_mbarrier(struct checking *c, const struct ir_buffer *b)
{
    check_must_name(c, type_equal(b->elem, type_scalar(TYPE_u64)), b->name,
                    "an mbarrier is a u64");
    check_must_name(c, b->space == SPACE_shared, b->name,
                    "an mbarrier is in shared memory");
}

// Check a load or an atomic.
static void check_access(struct checking *c, const struct ir_expr *x)
{
    unsigned lanes;
    uint32_t n = ir_index_count(x);
    check_index(c, x->u.buffer, n, x->args, &lanes);
    check_must(c, type_equal(x->type, type_vector(x->u.buffer->elem, lanes)), x,
               "an access must have the type of its element");
    if (x->op == OP_load)
        return;
    check_must_name(c, !x->u.buffer->of_cluster, x->u.buffer->name,
                    "an array of a cluster, in what is no load and no store");
    if (ir_op_info(x->op)->flags & OP_SYNCHRONISES)
        check_mbarrier(c, x->u.buffer);
    check_operands(c, x, n);
    check_writable(c, x->u.buffer);
    if (x->op == OP_place)
        check_must(c, c->stmt->kind == STMT_matrix, x,
                   "a place outside of an instruction on matrices");
    else
        check_must_name(c, !space_is_own(x->u.buffer->space), x->u.buffer->name,
                        "atomic on an array that no other thread sees");
}

// Check an operation that makes or takes apart a vector.
static void check_vector(struct checking *c, const struct ir_expr *x)
{
    struct type t = x->args[0]->type;
    check_must(c, t.kind == x->type.kind, x,
               "a lane must have its vector's type");
    if (x->op == OP_lane) {
        check_must(c, x->u.lane < t.lanes && t.lanes > 1, x, "no such lane");
        return;
    }
    check_must(c, t.lanes == 1, x, "a lane must be a scalar");
    check_must(c, x->type.lanes >= 2 && x->type.lanes <= 16, x,
               "a vector must have 2 to 16 lanes");
    check_must(c, x->op != OP_ramp || type_is_integer(t), x,
               "a ramp must be of integers");
}

void check_expr(struct checking *c, const struct ir_expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        check_expr(c, x->args[i]);
    check_must(c, x->type.kind != TYPE_int || int_is_allowed(c, x), x,
               "no value may have type `int` at this level");
    if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES)) {
        check_access(c, x);
        return;
    }
    check_must(c, !c->in_stage || !(ir_op_info(x->op)->flags & OP_TOGETHER), x,
               "threads do not meet inside a stage");
    switch ((int)x->op) {
    case OP_const:
        check_must(c, x->type.lanes == 1, x, "a constant is a scalar");
        return;
    case OP_var:
        check_use(c, x->u.var, x->u.var->name);
        check_must(c, type_equal(x->type, x->u.var->type), x,
                   "a variable must be read in its type");
        return;
    case OP_index:
        check_must(c, c->kernel->level >= LEVEL_grids, x,
                   "thread indices need level grids");
        return;
    case OP_cast:
        check_must(c, x->type.lanes == x->args[0]->type.lanes, x,
                   "a conversion must keep the lanes");
        return;
    case OP_ramp:
    case OP_broadcast:
    case OP_lane: check_vector(c, x); return;
    }
    check_operands(c, x, 0);
}
