// cache_read -- read an array through a copy in another memory.
//
//   for i { C[i] = f(A[i]) }
//     =>   A_shared = cache_read(C, A, shared)
//   for ax0 { A_shared[ax0] = A[ax0] }
//   for i { C[i] = f(A_shared[i]) }
//
// The copy is a stage of its own, in front of the stages that read it; where
// the array is computed in the same loop as it is read, inside of that loop.
// With stages behind the memory only these (and the first) read the copy, else
// all that read the array. Of an array that `inputs(stage)` has twice, the named stages
// alone read the copy, by that operand.
//
// Requires:
//  1. the memory is not constant                       E0644
//  2. the stages are stages ...                        E0653
//  3. ... and read the array                           E0642
//  4. none of them writes it, and nothing does between
//     the copy and the last of them                    E0643

#include "passes/schedule/common/move.h"
#include "passes/schedule/common/stage_nest.h"

#include "ir/copy.h"
#include "passes/schedule/common/operands.h"

// What is going to be made.
struct plan {
    struct ir_buffer *array;
    enum space space;
    struct sched_uses uses;
    const struct ir_expr *operand; // of the first reader alone, or NULL
    struct ir_stmt **readers;      // of the copy, in the order of the program
    size_t n;
    struct ir_stmt *loop;  // around the place, or NULL for the outermost block
    struct ir_stmt *front; // the copy goes before it
};

// Check that a stage reads the array.
static bool check_reader(const struct sched_call *c, const struct plan *plan,
                         struct ir_stmt *s)
{
    if (s->kind != STMT_stage)
        return sched_refuse(c, s, "not a stage", D_stage_wanted,
                            sched_name_of(s));
    if (sched_is_among(s, plan->uses.readers.at, plan->uses.readers.n))
        return true;
    return sched_refuse(c, s, "named here", D_cache_unused, sched_name_of(s),
                        "read", plan->array->name);
}

// List who is to read the copy.
static bool find_readers(const struct sched_call *c, struct plan *plan)
{
    size_t named = c->args.n - 2;
    plan->uses = sched_uses_of(c->pass, plan->array);
    struct ir_stmt **stages =
        arena_array(c->pass->scratch, struct ir_stmt *, named);
    plan->operand = operands_of(sched_arg(c, 0), c->args.at[1].operand);
    if (plan->operand && plan->operand->u.buffer != plan->array)
        plan->operand = NULL;
    for (size_t i = 0; i < named; i++) {
        stages[i] = sched_arg(c, i ? i + 2 : 0);
        if (!check_reader(c, plan, stages[i]))
            return false;
    }
    plan->readers =
        arena_array(c->pass->scratch, struct ir_stmt *, plan->uses.readers.n);
    vec_foreach_value(s, &plan->uses.readers)
        if (s->kind == STMT_stage && ((named == 1 && !c->args.at[1].operand) ||
                                      sched_is_among(s, stages, named)))
            plan->readers[plan->n++] = s;
    return true;
}

// Return the innermost loop around all readers and a writer, or NULL.
static struct ir_stmt *common_loop(struct pass *p, const struct plan *plan)
{
    struct ir_path path = sched_path(p, plan->readers[0]);
    for (uint32_t i = path.n - 1; i-- > 0;) {
        struct ir_stmt *s = path.stmts[i];
        bool holds = s->kind == STMT_for, writes = false;
        for (size_t k = 0; k < plan->n && holds; k++)
            holds = sched_is_below(p, plan->readers[k], s);
        for (size_t k = 0; k < plan->uses.writers.n && holds; k++)
            writes |= sched_is_below(p, plan->uses.writers.at[k], s);
        if (holds && writes)
            return s;
    }
    return NULL;
}

// Check that nothing writes the array between its copy and the readers.
static bool check_writers(const struct sched_call *c, const struct plan *plan,
                          const struct ir_stmt *front)
{
    struct pass *p = c->pass;
    size_t first = sched_order_of(p, front);
    size_t last = sched_order_of(p, plan->readers[plan->n - 1]);
    vec_foreach_value(s, &plan->uses.writers) {
        size_t order = sched_order_of(p, s);
        if (order < first || order > last)
            continue;
        struct ir_stmt *reader = plan->readers[plan->n - 1];
        return sched_refuse_two(c, s, reader, "written and read",
                                D_cache_changed, plan->array->name,
                                sched_name_of(reader));
    }
    return true;
}

// Check everything and fill the plan in.
static bool make_plan(struct sched_call *c, struct plan *plan)
{
    struct pass *p = c->pass;
    plan->array = sched_arg_buffer(c, 1);
    plan->space = c->args.at[2].space;
    if (plan->space == SPACE_constant)
        return sched_refuse_at(c, c->args.at[2].span, sched_arg(c, 0),
                               "named here", D_cache_space, "constant");
    if (!find_readers(c, plan))
        return false;
    size_t at;
    plan->loop = common_loop(p, plan);
    plan->front = plan->loop
                      ? sched_child_with(p, plan->loop, plan->readers[0], &at)
                      : sched_path(p, plan->readers[0]).stmts[0];
    return check_writers(c, plan, plan->front);
}

// Return the part of the array to copy: what all threads read if they share the
// copy and what it copies.
static struct sched_region_dim *region_of(struct pass *p,
                                          const struct plan *plan)
{
    struct sched_region_query q = {.pass = p,
                                   .loop = plan->loop,
                                   .buffer = plan->array,
                                   .access = REGION_loads,
                                   .across_threads =
                                       plan->space == SPACE_shared &&
                                       !space_is_own(plan->array->space)};
    if (plan->loop)
        return sched_region_find(&q).dims;
    return sched_region_over(p, plan->array->rank, plan->array->shape);
}

bool sched_cache_read(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct plan plan = {0};
    struct map buffers = {.arena = p->scratch};
    if (!make_plan(c, &plan))
        return false;
    struct sched_region_dim *region = region_of(p, &plan);
    const char *name = arena_printf(p->scratch, "%s_%s", plan.array->name,
                                    space_name(plan.space));
    struct ir_buffer *copy = sched_new_buffer(p, name, plan.array, plan.space);
    struct span span = sched_load_span(plan.readers[0], plan.array);
    map_set(&buffers, plan.array, copy);
    for (size_t i = 0; i < plan.n && !plan.operand; i++)
        ir_substitute_in(p->arena, ir_alone(plan.readers[i]), NULL, &buffers);
    if (plan.operand)
        operands_replace(p->arena, plan.readers[0], plan.operand, copy);
    struct ir_stmt *stage =
        stage_nest_copy(p, copy->name, plan.array, copy, span);
    struct sched_place place = sched_place_of(p, plan.front, false);
    stage_nest_put(p, stage, &place, region);
    sched_result(c, VALUE_stage, stage);
    return true;
}
