// Statements.

#include "nvptx/emit.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/leave.h"
#include "ir/marks.h"
#include "ir/walk.h"

#include <string.h>

enum {
    UNROLLED_MOST = 4096, // statements, where LLVM may unroll nests
    OPEN_STATEMENTS = 16, // that a loop over a size counts for
    OPEN_MOST = 16,       // loops over sizes that it may unroll
    LOOPS_MOST = 64,      // loops in all, of which it may unroll any
    DEPTHS_MOST = 192,    // loops around each of them, and it, together
};

// Return whether there is a barrier below a statement.
static bool has_barrier(struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (t->kind == STMT_barrier && t != s)
            return true;
    return false;
}

// Return whether the threads of a warp wait for one another at a statement, or
// do something together.
static bool is_together(const struct ir_stmt *s)
{
    return s->kind == STMT_matrix ||
           (s->kind == STMT_sync && sync_is_together(s->u.sync.kind));
}

// Return whether threads meet below a statement.
static bool has_meeting(struct ir_stmt *s)
{
    ir_foreach_stmt_from(t, s)
        if (t != s && (t->kind == STMT_barrier || is_together(t)))
            return true;
    ir_foreach_block(inner, s)
        if (ir_flags_in(inner) & OP_TOGETHER)
            return true;
    return false;
}

// Branch for a statement.  If a meeting of threads depends on it, an empty convergent
// instruction keeps LLVM from sending threads for which it knows the condition
// another way to the meeting, past the place where all threads meet.
static LLVMValueRef branch_for(struct emitter *e, struct ir_stmt *s,
                               LLVMValueRef cond, LLVMBasicBlockRef then,
                               LLVMBasicBlockRef otherwise)
{
    if (has_meeting(s))
        emit_warpgroup_sync(e, "");
    return LLVMBuildCondBr(e->builder, cond, then, otherwise);
}

// Return the metadata `{name}` or, if count > 0, `{name, count}`.
static LLVMMetadataRef loop_option(struct emitter *e, const char *name,
                                   int64_t count)
{
    LLVMMetadataRef parts[2] = {
        LLVMMDStringInContext2(e->context, name, strlen(name)), NULL};
    if (count > 0)
        parts[1] =
            LLVMValueAsMetadata(emit_int(e, type_scalar(TYPE_u32), count));
    return LLVMMDNodeInContext2(e->context, parts, count > 0 ? 2 : 1);
}

// Return how often a loop runs, 0 if that is not a number.
static int64_t count_of(const struct ir_for *loop)
{
    int64_t from, to, step, n;
    if (!ir_int_value(loop->from, &from) || !ir_int_value(loop->to, &to) ||
        !ir_int_value(loop->step, &step) || step <= 0 || !num_sub(to, from, &n))
        return 0;
    return n <= step ? 1 : n / step;
}

// Return how often a loop runs, 1 if that is not a number.
static int64_t iterations(const struct ir_for *loop)
{
    int64_t n = count_of(loop);
    return n ? n : 1;
}

// Return how many statements a block has, at most UNROLLED_MOST, if LLVM
// unrolls the loops in it.
static int64_t unrolled_size(struct ir_block *block)
{
    int64_t sum = 0;
    for (size_t i = 0; i < block->n && sum < UNROLLED_MOST; i++) {
        struct ir_stmt *s = block->at[i];
        bool is_open = s->kind == STMT_for && !count_of(&s->u.loop);
        int64_t one = is_open ? OPEN_STATEMENTS : 1;
        ir_foreach_block(inner, s)
            one += unrolled_size(inner);
        if (s->kind == STMT_for && !num_mul(one, iterations(&s->u.loop), &one))
            one = UNROLLED_MOST;
        sum += one < UNROLLED_MOST ? one : UNROLLED_MOST;
    }
    return sum < UNROLLED_MOST ? sum : UNROLLED_MOST;
}

bool emit_is_open(struct ir_block *block)
{
    size_t n = 0;
    ir_foreach_stmt(s, block)
        n += s->kind == STMT_for && !count_of(&s->u.loop);
    return n > OPEN_MOST;
}

// Return how deep the loops of a block are, together.
static size_t depths(struct ir_block *block, size_t depth)
{
    size_t sum = 0;
    for (size_t i = 0; i < block->n; i++) {
        bool is_loop = block->at[i]->kind == STMT_for;
        sum += is_loop ? depth : 0;
        ir_foreach_block(inner, block->at[i])
            sum += depths(inner, depth + is_loop);
    }
    return sum;
}

bool emit_is_crowded(struct ir_block *block)
{
    size_t n = 0;
    ir_foreach_stmt(s, block)
        n += s->kind == STMT_for;
    return n > LOOPS_MOST || depths(block, 1) > DEPTHS_MOST;
}

bool emit_is_long(struct ir_block *block)
{
    return unrolled_size(block) >= UNROLLED_MOST;
}

// Return whether LLVM should leave a loop as it is: one around other loops, in
// a long entry, for it takes a guess at what will be left of each level, and
// the levels multiply; or one over a size beside many such, and any beside very
// many loops, for unrolling one takes it time for all of them.
static bool stays(const struct emitter *e, struct ir_for *loop)
{
    return e->is_crowded || (e->is_open && !count_of(loop)) ||
           (e->is_long && ir_has(&loop->body, STMT_for));
}

// Return how LLVM is to unroll a loop, or NULL if it may choose.  A loop with
// a barrier stays as it is.
static LLVMMetadataRef unroll_option(struct emitter *e, struct ir_stmt *s)
{
    struct ir_for *loop = &s->u.loop;
    if (has_barrier(s))
        return loop_option(e, "llvm.loop.unroll.disable", 0);
    int64_t times = ir_attr_value(s, MARK_unroll);
    if (times > 1)
        return loop_option(e, "llvm.loop.unroll.count", times);
    if (times || ir_attr_get(s, MARK_no_unroll))
        return loop_option(e, "llvm.loop.unroll.disable", 0);
    if (stays(e, loop))
        return loop_option(e, "llvm.loop.unroll.disable", 0);
    if (axis_kind(loop->axis) == AXIS_UNROLL)
        return loop_option(e, "llvm.loop.unroll.enable", 0);
    return NULL;
}

// Attach a loop's options to the branch back to its start.  The node refers
// to itself, as LLVM wants it, so that no two loops have the same.
static void describe_loop(struct emitter *e, struct ir_stmt *s,
                          LLVMValueRef branch)
{
    static const char name[] = "llvm.loop";
    LLVMMetadataRef option = unroll_option(e, s);
    if (!option)
        return;
    LLVMMetadataRef self = LLVMTemporaryMDNode(e->context, NULL, 0);
    LLVMMetadataRef parts[] = {self, option};
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch,
                    LLVMGetMDKindIDInContext(e->context, name, sizeof name - 1),
                    LLVMMetadataAsValue(e->context, node));
}

// Return a < b.
static LLVMValueRef is_less(struct emitter *e, struct type t, LLVMValueRef a,
                            LLVMValueRef b)
{
    LLVMIntPredicate less = type_is_signed(t) ? LLVMIntSLT : LLVMIntULT;
    return LLVMBuildICmp(e->builder, less, a, b, "");
}

// A loop, tested once before it and then at its end:
//
//   before: if (from < to) body else after
//   body:   v = phi(from, next); ...; next = v + step
//           if (next < to) body else after
//
// The branch that its iterations do nothing without leads to `after`, too.
static void emit_for(struct emitter *e, struct ir_stmt *s)
{
    struct ir_for *loop = &s->u.loop;
    struct type t = loop->var->type;
    LLVMValueRef from = emit_value(e, loop->from);
    LLVMValueRef to = emit_value(e, loop->to);
    LLVMValueRef step = emit_value(e, loop->step);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef body = emit_new_block(e, "loop");
    LLVMBasicBlockRef after = emit_new_block(e, "after");
    branch_for(e, s, is_less(e, t, from, to), body, after);
    LLVMPositionBuilderAtEnd(e->builder, body);
    LLVMValueRef v = LLVMBuildPhi(e->builder, emit_type(e, t), "");
    map_set(&e->values, loop->var, v);
    if (ir_loop_leaves(loop))
        map_set(&e->leaves, ir_loop_leaves(loop), after);
    emit_enter_loop(e, loop);
    emit_block(e, &loop->body);
    emit_leave_loop(e);
    LLVMValueRef next = emit_no_wrap(t, LLVMBuildAdd(e->builder, v, step, ""));
    LLVMBasicBlockRef last = LLVMGetInsertBlock(e->builder);
    describe_loop(e, s, branch_for(e, s, is_less(e, t, next, to), body, after));
    LLVMAddIncoming(v, (LLVMValueRef[]){from, next},
                    (LLVMBasicBlockRef[]){before, last}, 2);
    LLVMPositionBuilderAtEnd(e->builder, after);
}

// Return whether all that a branch does is wait for copies that the thread
// itself had TMA make: without any that is no wait.
static bool is_own_wait(const struct ir_stmt *s)
{
    const struct ir_block *then = &s->u.branch.then;
    for (size_t i = 0; i < then->n; i++) {
        enum sync_kind kind = then->at[i]->u.sync.kind;
        if (then->at[i]->kind != STMT_sync ||
            (kind != SYNC_bulk_wait && kind != SYNC_bulk_wait_read))
            return false;
    }
    return then->n && !s->u.branch.otherwise.n;
}

// A branch.  One that only waits is for all threads: none has to choose.
// Without the one that a loop leaves by, the iteration ends behind it.
static void emit_if(struct emitter *e, struct ir_stmt *s)
{
    if (is_own_wait(s)) {
        emit_block(e, &s->u.branch.then);
        return;
    }
    LLVMValueRef cond = map_has(&e->elected, s)
                            ? emit_elect(e)
                            : emit_value(e, s->u.branch.cond);
    LLVMBasicBlockRef then = emit_new_block(e, "then");
    if (map_has(&e->leaves, s)) {
        branch_for(e, s, cond, then, map_get(&e->leaves, s));
        LLVMPositionBuilderAtEnd(e->builder, then);
        emit_block(e, &s->u.branch.then);
        return;
    }
    LLVMBasicBlockRef otherwise = emit_new_block(e, "else");
    LLVMBasicBlockRef end = emit_new_block(e, "end");
    branch_for(e, s, cond, then, otherwise);
    LLVMPositionBuilderAtEnd(e->builder, then);
    emit_block(e, &s->u.branch.then);
    LLVMBuildBr(e->builder, end);
    LLVMPositionBuilderAtEnd(e->builder, otherwise);
    emit_block(e, &s->u.branch.otherwise);
    LLVMBuildBr(e->builder, end);
    LLVMPositionBuilderAtEnd(e->builder, end);
}

// A named value.
static void emit_let(struct emitter *e, const struct ir_stmt *s)
{
    map_set(&e->values, s->u.let.var, emit_value(e, s->u.let.value));
    emit_note_depth(e, s->u.let.var, s->u.let.value);
}

// A variable: a place on the stack, which optimisation removes.
static void emit_variable(struct emitter *e, const struct ir_stmt *s)
{
    LLVMValueRef value = emit_value(e, s->u.let.value);
    LLVMValueRef place = emit_alloca(e, LLVMTypeOf(value));
    LLVMBuildStore(e->builder, value, place);
    map_set(&e->values, s->u.let.var, place);
}

// A new value of a variable.
static void emit_assign(struct emitter *e, const struct ir_stmt *s)
{
    LLVMValueRef value = emit_value(e, s->u.let.value);
    LLVMBuildStore(e->builder, value, map_get(&e->values, s->u.let.var));
}

// Make every thread of the block, or of its cluster, arrive.
static void emit_barrier(struct emitter *e, const struct ir_stmt *s)
{
    LLVMValueRef number = emit_int(e, type_scalar(TYPE_u32), 0);
    if (s->u.of_cluster)
        emit_cluster_barrier(e);
    else
        emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL,
                       &number, 1);
}

// Emit a statement.  Stages and launches are not inside a launch.
static void emit_stmt(struct emitter *e, struct ir_stmt *s)
{
    switch (s->kind) {
    case STMT_for: emit_for(e, s); break;
    case STMT_if: emit_if(e, s); break;
    case STMT_let: emit_let(e, s); break;
    case STMT_var: emit_variable(e, s); break;
    case STMT_assign: emit_assign(e, s); break;
    case STMT_store: emit_store(e, s); break;
    case STMT_eval: emit_value(e, s->u.value); break;
    case STMT_print: emit_print(e, s); break;
    case STMT_alloc: emit_alloc(e, s); break;
    case STMT_barrier: emit_barrier(e, s); break;
    case STMT_sync: emit_sync(e, s); break;
    case STMT_copy: emit_copy(e, s); break;
    case STMT_matrix: emit_matrix(e, s); break;
    case STMT_stage:
    case STMT_launch:
    case STMT_COUNT: break;
    }
}

void emit_block(struct emitter *e, const struct ir_block *block)
{
    size_t around = e->accumulators.n, chosen = e->chosen.n;
    for (size_t i = 0; i < block->n; i++) {
        struct emit_place before = emit_line_stmt(e, block->at[i]);
        emit_stmt(e, block->at[i]);
        emit_line_restore(e, before);
    }
    e->accumulators.n = around;
    e->chosen.n = chosen;
}
