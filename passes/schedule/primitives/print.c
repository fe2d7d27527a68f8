// print -- write a line of text wherever a stage computes an element.
//
//   stage C(vi in n = i) { C[vi] = A[vi] }
//   =>   print(C, "i={} a={}", i, A[i]) when i < 4
//   stage C(vi in n = i) { C[vi] = A[vi]; if vi < 4 { print("i={} a={}", vi, A[vi]) } }
//
// The line is written behind what the stage does; of a sum that is one step of it,
// and `when k == K - 1` leaves the last one. Values are the stage's iteration
// variables, sizes and scalars, elements, and what operators make of them. A text
// has a place `{}` for each. Results stay as they are. On a GPU the lines come when
// the launch has ended, in the order of its threads' arrival; `ingot check` writes
// them in one order.
//
// Requires:
//  1. a stage whose elements are computed one by one: no
//     copy by `copy_via`, no instruction on matrices, no
//     reduction of which threads have parts                   E0793
//  2. elements that the stage touches, or of inputs           E0794
//  3. no other directive behind it, but `print`               E0795
//  4. values, and a condition, of the stage                   E0796
//  5. a text without a fault                                  E0219
//  6. a value for each place of the text                      E0220

#include "passes/schedule/prim.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/marks.h"
#include "ir/printed.h"

// Return whether threads run parts of a reduction of a stage in a loop.
static bool is_shared_sum(const struct ir_stmt *stage,
                          const struct ir_for *loop)
{
    vec_foreach(it, &stage->u.stage.iters)
        if (it->is_reduce && axis_kind(loop->axis) == AXIS_THREAD &&
            ir_mentions(it->binding, loop->var))
            return true;
    return false;
}

// Return why a stage cannot print, or NULL.
static const char *why_not(struct sched_call *c, struct ir_stmt *stage)
{
    if (stage->kind != STMT_stage)
        return "it is a store; write `print` behind it in the kernel";
    if (ir_attr_get(stage, MARK_via))
        return "its copies go on by themselves";
    struct ir_block loops = sched_loops(c->pass, stage);
    for (size_t i = 0; i < loops.n; i++) {
        if (ir_attr_get(loops.at[i], MARK_tensorize))
            return "an instruction on matrices computes it";
        if (is_shared_sum(stage, &loops.at[i]->u.loop))
            return "threads compute a sum of it together, each a part";
    }
    ir_foreach_stmt(s, &c->pass->kernel->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_fragment &&
            ir_stmt_uses(stage, s->u.buffer))
            return "it works on fragments of instructions on matrices";
    return NULL;
}

// Check the text, and the number of its places.
static bool check_text(struct sched_call *c)
{
    uint32_t places;
    const struct sched_value *text = &c->args.at[1];
    const char *wrong = printed_fault(c->pass->arena, text->key, &places);
    if (wrong)
        return diag_error(c->pass->diags, text->span, D_print_text, wrong);
    return places == c->args.n - 2 ||
           diag_error(c->pass->diags, c->span, D_print_count, (long long)places,
                      (long long)c->args.n - 2);
}

// Check the values and the condition.
static bool check_values(struct sched_call *c)
{
    return !c->guard || c->guard->type.kind == TYPE_bool ||
           diag_error(c->pass->diags, c->guard->span, D_print_value,
                      "what stands behind `when` is no condition");
}

bool sched_print(struct sched_call *c)
{
    struct arena *a = c->pass->arena;
    struct ir_stmt *stage = sched_arg(c, 0);
    uint32_t n = (uint32_t)c->args.n - 2;
    const char *wrong = why_not(c, stage);
    if (wrong)
        return sched_refuse(c, stage, "not printed", D_print_stage,
                            sched_name_of(stage), wrong);
    if (!check_text(c) || !check_values(c))
        return false;
    struct ir_expr **values = arena_array(a, struct ir_expr *, n);
    for (uint32_t i = 0; i < n; i++)
        values[i] = c->args.at[i + 2].expr;
    struct ir_stmt *print = ir_stmt_print(a, c->args.at[1].key, n, values);
    struct ir_stmt *s = c->guard ? ir_stmt_if(a, c->guard) : print;
    if (c->guard)
        ir_append(a, &s->u.branch.then, print);
    print->span = s->span = c->span;
    ir_append(a, &stage->u.stage.body, s);
    return true;
}
