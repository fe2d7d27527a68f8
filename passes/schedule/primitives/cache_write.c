// cache_write -- compute an array in another memory and copy it out.
//
//   for i { for k { C[i] = C[i] + f(i, k) } }
//     =>   C_local = cache_write(C, local)
//   for i { for k { C_local[i] = C_local[i] + f(i, k) } }
//   for i { C[i] = C_local[i] }
//
// Every stage that writes the array writes to the new one; the copy is a stage
// of its own behind them, C_local. Its loops are called as those by which the
// stage writes: C.i is a loop of the computation, C_local.i one of the copy.
// Where an index of C is more than an iteration variable, they are ax0, ax1 ...
// by the dimension. Of a stage with several arrays, the third argument names
// one.
//
// Requires:
//  1. the stage is a stage ...                         E0653
//  2. ... and writes the array; what the caller put
//     there is neither read nor kept                   E0642
//  3. the memory is not constant                       E0644
//  4. atomics are not on an array that each thread has
//     for itself                                       E0676
//  5. where it is computed, nothing else reads it      E0643

#include "passes/schedule/common/move.h"
#include "passes/schedule/common/stage_nest.h"

#include "ir/accesses.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"

// What is going to be made.
struct plan {
    struct ir_buffer *array;
    enum space space;
    struct sched_uses uses;
    struct ir_stmt *last; // of the outermost block, writes the array
};

// Return the statement of the outermost block that holds another one.
static struct ir_stmt *top_of(struct pass *p, const struct ir_stmt *s)
{
    return sched_path(p, s).stmts[0];
}

// Return whether a statement writes the array.
static bool writes(const struct plan *plan, const struct ir_stmt *s)
{
    for (size_t i = 0; i < plan->uses.writers.n; i++)
        if (plan->uses.writers.at[i] == s)
            return true;
    return false;
}

// Check that nothing but its writers reads the array up to the copy.
static bool check_readers(const struct sched_call *c, const struct plan *plan)
{
    struct pass *p = c->pass;
    size_t behind = sched_order_of(p, plan->last);
    vec_foreach_value(s, &plan->uses.readers) {
        bool inside = top_of(p, s) == plan->last;
        if (writes(plan, s) || (!inside && sched_order_of(p, s) > behind))
            continue;
        return sched_refuse(c, s, "reads it before it is copied",
                            D_cache_changed, plan->array->name,
                            sched_name_of(s));
    }
    return true;
}

// Return whether a stage stores to all elements of the array.
static bool covers(const struct plan *plan, struct ir_stmt *stage)
{
    struct ir_stmt *store =
        stage->kind == STMT_stage ? sched_plain_store(stage) : NULL;
    for (uint32_t d = 0; store && d < plan->array->rank; d++) {
        int i = ir_stage_iter(&stage->u.stage, store->u.store.index[d]);
        if (i < 0 || !ir_expr_equal(stage->u.stage.iters.at[i].extent,
                                    plan->array->shape[d]))
            return false;
    }
    return store != NULL;
}

// Check that nothing of what the caller left in the array is needed: it is
// not in the new one.
static bool check_fresh(const struct sched_call *c, const struct plan *plan)
{
    struct ir_stmt *first = plan->uses.writers.at[0];
    bool begins = first->kind == STMT_stage && first->u.stage.has_init;
    bool reads = !begins && ir_stmt_reads(first, plan->array);
    bool keeps = plan->array->role == ROLE_inout && !covers(plan, first);
    if (plan->array->role == ROLE_alloc || (!reads && !keeps))
        return true;
    diag_error(c->pass->diags, c->span, D_cache_unused, sched_name_of(first),
               reads ? "compute anew" : "write all of", plan->array->name);
    diag_help(c->pass->diags,
              "cache_inplace copies what the array held before, too");
    return sched_blame_one(c, first,
                           reads ? "reads what was there before"
                                 : "leaves some as it was");
}

// Check everything and fill the plan in.
static bool make_plan(const struct sched_call *c, struct plan *plan)
{
    struct pass *p = c->pass;
    struct ir_stmt *stage = sched_arg(c, 0);
    plan->space = c->args.at[1].space;
    if (stage->kind != STMT_stage)
        return sched_refuse(c, stage, "not a stage", D_stage_wanted,
                            sched_name_of(stage));
    plan->array = c->args.n > 2 ? sched_arg_buffer(c, 2) : sched_stored(stage);
    if (plan->array)
        plan->uses = sched_uses_of(p, plan->array);
    if (!plan->array || !writes(plan, stage))
        return sched_refuse(
            c, stage, "named here", D_cache_unused, sched_name_of(stage),
            "write", plan->array ? plan->array->name : sched_name_of(stage));
    plan->last = top_of(p, plan->uses.writers.at[plan->uses.writers.n - 1]);
    return sched_check_working_copy(c, 1, stage, plan->array) &&
           check_fresh(c, plan) && check_readers(c, plan);
}

// Return what a loop over an iteration variable is to be called: as the one
// that binds it, or else `i` for vi; NULL where that is no name.
static const char *loop_name(struct pass *p, const struct ir_iter *it)
{
    if (it->binding->op == OP_var)
        return it->binding->u.var->name;
    const char *name = it->var->name + (it->var->name[0] == 'v');
    bool is_name = (*name >= 'a' && *name <= 'z') ||
                   (*name >= 'A' && *name <= 'Z') || *name == '_';
    return is_name ? str_name(p->names, name) : NULL;
}

// Call the loops of a copy out of an array as those by which a stage writes it.
static void name_loops(struct pass *p, struct ir_stmt *writer,
                       const struct ir_buffer *from,
                       struct sched_region_dim *region)
{
    const struct ir_stage *stage = &writer->u.stage;
    const struct ir_stmt *store = sched_plain_store(writer);
    if (!store || store->u.store.buffer != from)
        return;
    for (uint32_t d = 0; d < from->rank; d++) {
        int i = ir_stage_iter(stage, store->u.store.index[d]);
        region[d].loop = loop_name(p, &stage->iters.at[i]);
    }
}

bool sched_cache_write(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct plan plan = {0};
    struct map buffers = {.arena = p->scratch};
    struct span span = sched_arg(c, 0)->span;
    if (!make_plan(c, &plan))
        return false;
    const char *name = arena_printf(p->scratch, "%s_%s", plan.array->name,
                                    space_name(plan.space));
    struct ir_buffer *made = sched_new_buffer(p, name, plan.array, plan.space);
    map_set(&buffers, plan.array, made);
    for (size_t i = 0; i < plan.uses.writers.n; i++)
        ir_substitute_in(p->arena, ir_alone(plan.uses.writers.at[i]), NULL,
                         &buffers);
    struct sched_region_dim *region =
        sched_region_over(p, plan.array->rank, plan.array->shape);
    struct ir_stmt *stage =
        stage_nest_copy(p, made->name, made, plan.array, span);
    name_loops(p, sched_arg(c, 0), made, region);
    struct sched_place place = sched_place_of(p, plan.last, true);
    stage_nest_put(p, stage, &place, region);
    sched_result(c, VALUE_stage, stage);
    return true;
}
