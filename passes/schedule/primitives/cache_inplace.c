// cache_inplace -- work on a copy of an array that is read and written.
//
//   for i { X[i] = X[i] * 2 }
//     =>   in, out = cache_inplace(X, X, shared)
//   for ax0 { X_shared[ax0] = X[ax0] }
//   for i { X_shared[i] = X_shared[i] * 2 }
//   for ax0 { X[ax0] = X_shared[ax0] }
//
// Everything in the outermost loop around the stage that uses the array uses
// the copy.  The copies are the stages X_shared and X_shared.out.
//
// Requires:
//  1. the stage is a stage ...               E0653
//  2. ... that writes the array, and reads
//     what it held before these loops        E0692
//  3. the memory is not constant             E0644
//  4. atomics are not on an array that each
//     thread has for itself                  E0676

#include "passes/schedule/common/stage_nest.h"

#include "ir/accesses.h"
#include "ir/copy.h"

// Return whether an array holds something before a statement: the caller's, or
// what stands in front in the outermost block has written it.
static bool is_filled(struct pass *p, const struct ir_stmt *stage,
                      const struct ir_buffer *array)
{
    size_t at = sched_path(p, stage).index[0];
    struct ir_block front = {p->kernel->body.at, at, at};
    return array->role == ROLE_input || array->role == ROLE_inout ||
           ir_block_writes(&front, array);
}

// Check every precondition.
static bool check(const struct sched_call *c, struct ir_stmt *stage,
                  const struct ir_buffer *array)
{
    if (stage->kind != STMT_stage)
        return sched_refuse(c, stage, "not a stage", D_stage_wanted,
                            sched_name_of(stage));
    bool reads =
        ir_stmt_reads(stage, array) && is_filled(c->pass, stage, array);
    if (reads && ir_stmt_writes(stage, array))
        return sched_check_working_copy(c, 2, stage, array);
    sched_refuse(c, stage, "named here", D_inplace_use, sched_name_of(stage),
                 reads ? "write" : "read", array->name);
    diag_help(c->pass->diags, "use %s for it",
              reads ? "cache_read" : "cache_write");
    return false;
}

// Put a copy of the whole array before or behind a statement.
static void put_copy(struct sched_call *c, const char *name,
                     struct ir_buffer *from, struct ir_buffer *to,
                     const struct ir_stmt *near, bool behind)
{
    struct pass *p = c->pass;
    struct sched_region_dim *region =
        sched_region_over(p, from->rank, from->shape);
    struct ir_stmt *stage = stage_nest_copy(p, name, from, to, near->span);
    struct sched_place place = sched_place_of(p, near, behind);
    stage_nest_put(p, stage, &place, region);
    sched_result(c, VALUE_stage, stage);
}

bool sched_cache_inplace(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct ir_stmt *stage = sched_arg(c, 0);
    struct ir_buffer *array = sched_arg_buffer(c, 1);
    struct map buffers = {.arena = p->scratch};
    enum space space = c->args.at[2].space;
    if (!check(c, stage, array))
        return false;
    struct ir_stmt *top = sched_path(p, stage).stmts[0];
    const char *name =
        arena_printf(p->scratch, "%s_%s", array->name, space_name(space));
    struct ir_buffer *made = sched_new_buffer(p, name, array, space);
    map_set(&buffers, array, made);
    ir_substitute_in(p->arena, ir_alone(top), NULL, &buffers);
    put_copy(c, made->name, array, made, top, false);
    put_copy(c, arena_printf(p->scratch, "%s.out", made->name), made, array,
             top, true);
    return true;
}
