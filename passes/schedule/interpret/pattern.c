// What a rule's pattern asks of a stage.

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/schedule/common/operands.h"
#include "passes/schedule/interpret/interpret.h"

bool look_is_product(struct interp *in, const struct sched_values *args,
                     struct sched_value *out)
{
    (void)in;
    out->kind = VALUE_int;
    out->number = operands_are_factors(args->at[0].stmt);
    return true;
}

bool interp_is_swapped(struct interp *in, struct ir_stmt *stage,
                       const struct sched_value *first,
                       const struct sched_value *second)
{
    struct ir_block loops = sched_loops(in->pass, stage);
    bool has_first = false, has_second = false, is_first_last = false;
    for (size_t i = 0; i < loops.n && stage->kind == STMT_stage; i++) {
        const struct ir_var *var = loops.at[i]->u.loop.var;
        bool a = interp_varies(in, stage, first, var);
        bool b = interp_varies(in, stage, second, var);
        if (a == b || ir_stage_role(&stage->u.stage, var) & STAGE_REDUCES)
            continue;
        has_first |= a;
        has_second |= b;
        is_first_last = a;
    }
    return has_first && has_second && is_first_last;
}

bool look_is_scan(struct interp *in, const struct sched_values *args,
                  struct sched_value *out)
{
    const struct ir_stmt *stage = args->at[0].stmt;
    (void)in;
    out->kind = VALUE_int;
    out->number = stage->kind == STMT_stage &&
                  ir_stage_scans(&stage->u.stage) &&
                  !ir_stage_is_distinct(&stage->u.stage);
    return true;
}

// Return whether a statement is an atomic on an element that data choose.
static bool scatters(const struct ir_stmt *s)
{
    if (s->kind != STMT_eval || !(ir_flags(s->u.value) & OP_WRITES))
        return false;
    bool is_chosen = false;
    for (uint32_t i = 0; i + 1 < s->u.value->n; i++)
        ir_foreach_expr(x, s->u.value->args[i])
            is_chosen |= x->op == OP_load;
    return is_chosen;
}

bool look_is_scatter(struct interp *in, const struct sched_values *args,
                     struct sched_value *out)
{
    const struct ir_stmt *stage = args->at[0].stmt;
    const struct ir_block *body =
        stage->kind == STMT_stage ? &stage->u.stage.body : NULL;
    (void)in;
    out->kind = VALUE_int;
    out->number = body && body->n == 1 && scatters(body->at[0]);
    return true;
}

bool look_is_ragged(struct interp *in, const struct sched_values *args,
                    struct sched_value *out)
{
    struct arena *a = in->pass->scratch;
    const struct ir_stmt *loop = args->at[0].stmt;
    out->kind = VALUE_int;
    ir_foreach_expr(x, ir_for_extent(a, &loop->u.loop))
        out->number |=
            x->op == OP_load || (x->op == OP_var && x->u.var->kind == VAR_loop);
    return true;
}

// Return the loop of a list over a variable, or NULL.
static struct ir_stmt *loop_over(const struct ir_block *loops,
                                 const struct ir_expr *x)
{
    for (size_t i = 0; i < loops->n && x->op == OP_var; i++)
        if (loops->at[i]->u.loop.var == x->u.var)
            return loops->at[i];
    return NULL;
}

// Return whether a statement, or one in it, stores to an array.
static bool writes(struct ir_stmt *stage, const struct ir_buffer *b)
{
    ir_foreach_stmt_from(s, stage)
        if (s->kind == STMT_store && s->u.store.buffer == b)
            return true;
    return false;
}

// Return whether what a stage has stored is an index of a read.
static bool is_found(struct ir_stmt *stage, const struct ir_expr *read)
{
    for (uint32_t i = 0; i < read->n; i++)
        ir_foreach_expr(x, read->args[i])
            if (x->op == OP_load && writes(stage, x->u.buffer))
                return true;
    return false;
}

// Return the loop that an index of all reads of an array in a stage is, or NULL.
// What the result so far says, as that of an argmax does, is not counted.
static struct ir_stmt *index_loop(struct interp *in, struct ir_stmt *stage,
                                  const struct ir_buffer *b, int operand,
                                  uint32_t d)
{
    struct ir_block one = {.at = &stage, .n = 1};
    struct ir_block loops = sched_loops(in->pass, stage);
    struct ir_stmt *found = NULL;
    bool is_first = true;
    ir_foreach_expr_in(x, &one) {
        if (x->op != OP_load || x->u.buffer != b || is_found(stage, x) ||
            !operands_mean(stage, operand, x))
            continue;
        struct ir_expr *index = x->args[d];
        if (stage->kind == STMT_stage)
            index =
                ir_stage_over_loops(in->pass->scratch, &stage->u.stage, index);
        struct ir_stmt *loop = loop_over(&loops, index);
        found = is_first || found == loop ? loop : NULL;
        is_first = false;
    }
    return found;
}

// Return the array that an argument is, or that a stage stores.
static const struct ir_buffer *array_of(const struct sched_value *array)
{
    return array->kind == VALUE_array ? array->buffer
                                      : sched_stored(array->stmt);
}

bool look_indices(struct interp *in, const struct sched_values *args,
                  struct sched_value *out)
{
    const struct ir_buffer *b = array_of(&args->at[1]);
    out->kind = VALUE_list;
    for (uint32_t d = 0; b && d < b->rank; d++) {
        struct sched_value v = {.kind = VALUE_loop, .span = out->span};
        v.stmt = index_loop(in, args->at[0].stmt, b, args->at[1].operand, d);
        if (v.stmt)
            vec_push(in->pass->scratch, &out->list, v);
    }
    return true;
}

bool look_dimension(struct interp *in, const struct sched_values *args,
                    struct sched_value *out)
{
    const struct ir_buffer *b = array_of(&args->at[1]);
    out->kind = VALUE_int;
    out->number = -1;
    for (uint32_t d = b ? b->rank : 0; d-- > 0;)
        if (index_loop(in, args->at[0].stmt, b, args->at[1].operand, d) ==
            args->at[2].stmt)
            out->number = d;
    return true;
}
