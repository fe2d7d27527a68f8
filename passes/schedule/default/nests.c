// The statements of a kernel that become grids of their own.
//
//   let x = n * 2; for i { A }   =>   for u in 0..1 { let x = n * 2; for i { A } }
//
// A kernel whose outermost statements depend on one another is one nest. An array that
// stages of one of them alone use is no such bond: lowering places it there.

#include "passes/schedule/default/nests.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/stage.h"

// Return whether stages of one outermost statement alone use an array.
static bool has_one_user(const struct ir_block *body,
                         const struct ir_buffer *buffer)
{
    size_t users = 0;
    vec_foreach_value(s, body)
        users += s->kind != STMT_alloc && ir_stages_use(ir_alone(s), buffer);
    return users == 1;
}

// Return whether a statement of the outermost block is used by those behind
// it, so that they cannot be grids of their own.
static bool is_prelude(const struct ir_block *body, const struct ir_stmt *s)
{
    return s->kind == STMT_let || s->kind == STMT_var ||
           s->kind == STMT_barrier ||
           (s->kind == STMT_alloc && s->u.buffer->space != SPACE_global &&
            s->u.buffer->space != SPACE_constant &&
            !has_one_user(body, s->u.buffer));
}

// Return whether a statement of the outermost block declares an array that
// lowering places: one of the workspace, or one that stages use.
static bool is_placed(struct pass *p, const struct ir_stmt *s)
{
    return s->kind == STMT_alloc &&
           (s->u.buffer->space == SPACE_global ||
            s->u.buffer->space == SPACE_constant ||
            ir_stages_use(&p->kernel->body, s->u.buffer));
}

// Return whether several statements of the outermost block depend on one another
// in a kernel without a bound loop.
static bool are_one(struct pass *p)
{
    struct ir_block *body = &p->kernel->body;
    bool has_prelude = false;
    size_t n = 0;
    vec_foreach_value(s, body) {
        has_prelude |= is_prelude(body, s);
        n += !is_placed(p, s);
    }
    return has_prelude && n > 1 && !sched_is_bound(body);
}

void nests_join(struct pass *p)
{
    struct ir_block *body = &p->kernel->body;
    struct ir_block kept = {0}, inner = {0};
    if (!are_one(p))
        return;
    vec_foreach_value(s, body)
        ir_append(p->arena, is_placed(p, s) ? &kept : &inner, s);
    struct ir_var *var =
        ir_var_new(p->arena, str_name(p->names, "u"), type_scalar(TYPE_int),
                   VAR_loop, p->kernel->span);
    struct ir_stmt *loop =
        sched_new_loop(p, var, ir_int(p->arena, 1), inner.at[0]->span);
    loop->u.loop.body = inner;
    ir_append(p->arena, &kept, loop);
    *body = kept;
}

struct ir_block nests_left(struct pass *p)
{
    struct ir_block body = p->kernel->body, left = {0};
    bool any_bound = sched_is_bound(&body);
    vec_foreach_value(s, &body)
        if (s->kind != STMT_alloc && !sched_is_bound(ir_alone(s)) &&
            !(any_bound && is_prelude(&body, s)))
            ir_append(p->scratch, &left, s);
    if (are_one(p))
        left.n = 0;
    return left;
}
