// Who asks TMA: `elect.sync` in the place of the first lane of a
// warp.
//
//   if thread.x % 32 < 1 { tma_load ... }      =>      if elect() { ... }
//
// The assembler then knows that one thread is there; else it has each copy go
// around a loop over the threads that might be.  Which lane is elected must make
// no difference, and all lanes must get there: control around depends on no
// lane, and what the branch does on nothing but names that are the same in all
// lanes, or its own.  The groups of a thread's copies are ended by the thread
// that began them, so of branches with such groups all are elected or none.
// What the first lane alone does in shared memory it does for itself, without a
// barrier: up to the next one it asks TMA, too.

#include "nvptx/emit.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/gpu.h"
#include "ir/walk.h"

// A search for such branches.
struct search {
    struct emitter *e;
    bool ends_groups;   // branches with groups may be elected
    struct map same;    // names that are the same in all lanes of a warp
    bool may_differ;    // what was just looked at: between lanes
    size_t tma, groups; // what was just looked at: its copies, their groups
    bool is_apart;      // some lane alone was in shared memory since all met
    size_t met;         // branches found until then
    struct VEC(struct ir_stmt *) branches;
};

// Return whether an expression is the position on thread.x.
static bool is_thread(const struct ir_expr *x)
{
    while (x->op == OP_cast)
        x = x->args[0];
    return x->op == OP_index && x->u.axis == AXIS_thread_x;
}

// Return whether an expression is `thread.x op n`, n a multiple of 32.
static bool is_thread_by_warps(const struct ir_expr *x, enum ir_op op)
{
    int64_t n;
    return x->op == op && is_thread(x->args[0]) &&
           ir_int_value(x->args[1], &n) && n > 0 && n % WARP_LANES == 0;
}

// Return whether a condition is that of the first lane of each warp.
static bool is_first_lane(const struct ir_expr *x)
{
    bool is_zero = x->op == OP_eq && ir_is_int_const(x->args[1], 0);
    bool is_below = x->op == OP_lt && ir_is_int_const(x->args[1], 1);
    return (is_zero || is_below) && is_thread_by_warps(x->args[0], OP_mod) &&
           ir_is_int_const(x->args[0]->args[1], WARP_LANES);
}

// Note whether the value of an expression may differ between lanes.
static void look(struct search *s, const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (is_thread_by_warps(x, OP_div))
        return;
    s->may_differ |= x->op == OP_index && x->u.axis == AXIS_thread_x;
    s->may_differ |= x->op == OP_var && x->u.var->kind != VAR_param &&
                     !map_has(&s->same, x->u.var);
    s->may_differ |= flags & OP_TOGETHER || (flags & (OP_READS | OP_WRITES) &&
                                             !(flags & OP_SYNCHRONISES));
    for (uint32_t i = 0; i < x->n; i++)
        look(s, x->args[i]);
}

// Return whether a value is the same in all lanes.
static bool is_same(struct search *s, const struct ir_expr *x)
{
    s->may_differ = false;
    look(s, x);
    return !s->may_differ;
}

// Take a name for one that is the same in all lanes.
static void add_name(struct search *s, const struct ir_var *var)
{
    map_set(&s->same, var, (void *)(uintptr_t)var);
}

// Look at a statement of a branch: what it declares is its own.
static void look_stmt(struct search *s, struct ir_stmt *t)
{
    switch ((int)t->kind) {
    case STMT_for: add_name(s, t->u.loop.var); break;
    case STMT_let:
    case STMT_var: add_name(s, t->u.let.var); break;
    case STMT_assign: s->may_differ |= !map_has(&s->same, t->u.let.var); break;
    case STMT_if:
    case STMT_eval: break;
    case STMT_sync:
        s->groups += t->u.sync.kind == SYNC_bulk_commit ||
                     t->u.sync.kind == SYNC_bulk_wait ||
                     t->u.sync.kind == SYNC_bulk_wait_read;
        s->may_differ |= sync_threads(t->u.sync.kind) > 0;
        break;
    case STMT_copy:
        s->tma += ir_is_tma_copy(t);
        s->groups += !t->u.copy.is_load;
        s->may_differ |= ir_is_thread_copy(t);
        break;
    default: s->may_differ = true;
    }
    ir_foreach_place(place, t)
        look(s, *place);
}

// Look at all of a block: sets what the search has just looked at.
static void look_at(struct search *s, struct ir_block *b)
{
    s->may_differ = false;
    s->tma = s->groups = 0;
    ir_foreach_stmt(t, b)
        look_stmt(s, t);
}

// Return whether a branch uses shared memory, other than to arrive at mbarriers,
// or TMA.
static bool uses_shared(struct ir_stmt *branch)
{
    ir_foreach_stmt_from(t, branch)
        if (t->kind == STMT_copy ||
            (t->kind == STMT_store && t->u.store.buffer->space == SPACE_shared))
            return true;
    ir_foreach_expr_from(x, branch) {
        unsigned flags = ir_op_info(x->op)->flags;
        bool arrives = flags & OP_SYNCHRONISES && x->op != OP_mbarrier_init;
        if (flags & (OP_READS | OP_WRITES) && !arrives &&
            x->u.buffer->space == SPACE_shared)
            return true;
    }
    return false;
}

// Note a branch that some lanes take: those found since all met, and those to
// come until they do, may have to be for the same lane.
static void note_apart(struct search *s, struct ir_stmt *t)
{
    if (!uses_shared(t))
        return;
    s->is_apart = true;
    s->branches.n = s->met;
}

static void visit(struct search *s, struct ir_block *b);

// Visit a block that may be passed by, or repeated.
static void visit_inside(struct search *s, struct ir_block *b)
{
    bool was_apart = s->is_apart;
    size_t met = s->met, found = s->branches.n;
    visit(s, b);
    if (s->is_apart && !was_apart) {
        s->branches.n = found < s->branches.n ? found : s->branches.n;
        visit(s, b);
    }
    s->is_apart |= was_apart;
    s->met = met;
}

// Visit a branch that all lanes of a warp reach together.
static void visit_branch(struct search *s, struct ir_stmt *t)
{
    if (is_same(s, t->u.branch.cond)) {
        visit_inside(s, &t->u.branch.then);
        visit_inside(s, &t->u.branch.otherwise);
        return;
    }
    look_at(s, &t->u.branch.then);
    bool may_elect = is_first_lane(t->u.branch.cond) &&
                     !t->u.branch.otherwise.n && s->tma + s->groups &&
                     (s->ends_groups || !s->groups) && !s->may_differ;
    if (!may_elect)
        note_apart(s, t);
    else if (!s->is_apart)
        vec_push(s->e->arena, &s->branches, t);
}

// Visit the statements of a block that all lanes of a warp reach together.
static void visit(struct search *s, struct ir_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct ir_stmt *t = b->at[i];
        struct ir_for *loop = &t->u.loop;
        if (t->kind == STMT_let && is_same(s, t->u.let.value))
            add_name(s, t->u.let.var);
        if (t->kind == STMT_for && is_same(s, loop->from) &&
            is_same(s, loop->to) && is_same(s, loop->step)) {
            add_name(s, loop->var);
            visit_inside(s, &loop->body);
        }
        if (t->kind == STMT_barrier ||
            (t->kind == STMT_sync && sync_threads(t->u.sync.kind))) {
            s->is_apart = false;
            s->met = s->branches.n;
        }
        if (t->kind == STMT_if)
            visit_branch(s, t);
    }
}

// Return whether some groups of a launch would be ended by an elected lane, and
// others not.
static bool splits_groups(struct search *s, struct ir_launch *launch)
{
    size_t elected = 0;
    for (size_t i = 0; i < s->branches.n; i++) {
        look_at(s, &s->branches.at[i]->u.branch.then);
        elected += s->groups;
    }
    look_at(s, &launch->body);
    return elected && elected != s->groups;
}

void emit_elect_begin(struct emitter *e, struct ir_launch *launch)
{
    const struct search none = {.e = e, .same = {.arena = e->arena}};
    struct search s = none;
    e->elected = (struct map){.arena = e->arena};
    if (!nvptx_target_has(e->options->target, FEATURE_elect) ||
        launch->block[0] % WARP_LANES)
        return;
    s.ends_groups = true;
    visit(&s, &launch->body);
    if (splits_groups(&s, launch)) {
        s = none;
        visit(&s, &launch->body);
    }
    for (size_t i = 0; i < s.branches.n; i++)
        map_set(&e->elected, s.branches.at[i], s.branches.at[i]);
}

LLVMValueRef emit_elect(struct emitter *e)
{
    LLVMValueRef all = emit_int(e, type_scalar(TYPE_u32), -1);
    emit_prefer(e, FEATURE_elect);
    LLVMValueRef both =
        emit_intrinsic(e, "llvm.nvvm.elect.sync", NULL, &all, 1);
    return LLVMBuildExtractValue(e->builder, both, 1, "");
}
