// Addresses in shared memory whose parts are added in the order in which they
// change:
//
//   S[k % 4 * 4096 + (row * 32 + column) + 512]
//     =>   ((&S[0] + (row * 32 + column)) + k % 4 * 4096) + 512
//
// What the loops around do not change then leaves them, with the address of the
// array, and a constant becomes part of the instruction.

#include "nvptx/emit.h"

#include "ir/build.h"

#include <limits.h>
#include <stdint.h>

enum { PARTS_MOST = 16 };

// A sum.
struct sum {
    const struct ir_expr *parts[PARTS_MOST];
    unsigned depths[PARTS_MOST]; // loops around of which a part needs one
    unsigned n;
};

void emit_enter_loop(struct emitter *e, const struct ir_for *loop)
{
    uintptr_t depth = ++e->depth;
    map_set(&e->depths, loop->var, (void *)depth);
}

void emit_leave_loop(struct emitter *e)
{
    e->depth--;
}

// Return the depth of the innermost loop that an expression needs.
static unsigned depth_of(const struct emitter *e, const struct ir_expr *x)
{
    unsigned most = 0;
    if (x->op == OP_var)
        most = (unsigned)(uintptr_t)map_get(&e->depths, x->u.var);
    if ((ir_op_info(x->op)->flags & (OP_READS | OP_WRITES)) ||
        (x->op == OP_var && x->u.var->kind == VAR_mutable))
        most = e->depth;
    for (uint32_t i = 0; i < x->n; i++) {
        unsigned depth = depth_of(e, x->args[i]);
        most = depth > most ? depth : most;
    }
    return most;
}

void emit_note_depth(struct emitter *e, const struct ir_var *var,
                     const struct ir_expr *value)
{
    uintptr_t depth = depth_of(e, value);
    map_set(&e->depths, var, (void *)depth);
}

// Add an expression to a sum, by its operands if it is one itself: constants
// come last, others by their depth.
static void add_parts(const struct emitter *e, struct sum *s,
                      const struct ir_expr *x)
{
    if (x->op == OP_add && s->n + 2 < PARTS_MOST) {
        add_parts(e, s, x->args[0]);
        add_parts(e, s, x->args[1]);
        return;
    }
    unsigned depth = x->op == OP_const ? UINT_MAX : depth_of(e, x);
    unsigned at = s->n++;
    for (; at && s->depths[at - 1] > depth; at--) {
        s->depths[at] = s->depths[at - 1];
        s->parts[at] = s->parts[at - 1];
    }
    s->depths[at] = depth;
    s->parts[at] = x;
}

LLVMValueRef emit_shared_address(struct emitter *e,
                                 const struct ir_buffer *buffer,
                                 const struct ir_expr *index)
{
    struct sum s = {.n = 0};
    if (buffer->space != SPACE_shared)
        return emit_address(e, buffer, index);
    add_parts(e, &s, index->op == OP_ramp ? index->args[0] : index);
    LLVMTypeRef element = emit_memory_type(e, buffer->elem);
    LLVMValueRef at = map_get(&e->arrays, buffer);
    for (unsigned i = 0; i < s.n; i++) {
        LLVMValueRef v = emit_value(e, s.parts[i]);
        v = emit_convert(e, type_scalar(TYPE_i64), s.parts[i]->type, v);
        at = LLVMBuildGEP2(e->builder, element, at, &v, 1, "");
    }
    return at;
}
