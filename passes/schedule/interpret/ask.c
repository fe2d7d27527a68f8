// What a schedule asks before it spreads a nest: functions that change nothing.

#include "ir/build.h"
#include "passes/schedule/default/independent.h"
#include "passes/schedule/default/inline.h"
#include "passes/schedule/default/lanes.h"
#include "passes/schedule/default/nests.h"
#include "passes/schedule/default/rows.h"
#include "passes/schedule/interpret/interpret.h"

// Set `out` to the list of some statements.
static bool give_all(struct interp *in, const struct ir_block *all,
                     struct sched_value *out)
{
    out->kind = VALUE_list;
    vec_foreach_value(s, all) {
        struct sched_value v = {.span = out->span, .stmt = s};
        v.kind = s->kind == STMT_for ? VALUE_loop : VALUE_stage;
        vec_push(in->pass->scratch, &out->list, v);
    }
    return true;
}

// Set `out` to a number, or to whether something is so.
static bool give(int64_t number, struct sched_value *out)
{
    out->kind = VALUE_int;
    out->number = number;
    return true;
}

bool look_nests(struct interp *in, const struct sched_values *args,
                struct sched_value *out)
{
    struct ir_block left = nests_left(in->pass);
    (void)args;
    return give_all(in, &left, out);
}

bool look_only_stage(struct interp *in, const struct sched_values *args,
                     struct sched_value *out)
{
    struct ir_stmt *s = args->at[0].stmt;
    struct ir_block found = {0};
    while (s->kind == STMT_for && s->u.loop.body.n == 1)
        s = s->u.loop.body.at[0];
    if (s->kind == STMT_stage)
        ir_append(in->pass->scratch, &found, s);
    return give_all(in, &found, out);
}

bool look_inner_loops(struct interp *in, const struct sched_values *args,
                      struct sched_value *out)
{
    struct ir_block found = {0};
    ir_foreach_stmt(s, &args->at[0].stmt->u.loop.body)
        if (s->kind == STMT_for)
            ir_append(in->pass->scratch, &found, s);
    return give_all(in, &found, out);
}

bool look_is_bound(struct interp *in, const struct sched_values *args,
                   struct sched_value *out)
{
    struct ir_block *all = &in->pass->kernel->body;
    return give(sched_is_bound(args->n ? ir_alone(args->at[0].stmt) : all),
                out);
}

bool look_independent_loops(struct interp *in, const struct sched_values *args,
                            struct sched_value *out)
{
    struct ir_block loops = independent_loops(in->pass, args->at[0].stmt);
    interp_proven_add(in, &loops);
    return give_all(in, &loops, out);
}

bool look_vector_lanes(struct interp *in, const struct sched_values *args,
                       struct sched_value *out)
{
    struct sched_values loops;
    struct ir_block all = {0};
    if (!interp_loops_of(in, &args->at[0], "vector_lanes", &loops))
        return false;
    vec_foreach(loop, &loops)
        ir_append(in->pass->scratch, &all, loop->stmt);
    return give(lanes_allowed(in->pass, all.at, all.n), out);
}

bool look_can_share(struct interp *in, const struct sched_values *args,
                    struct sched_value *out)
{
    return give(rows_can_share(in->pass, args->at[0].stmt), out);
}

bool look_reads_along(struct interp *in, const struct sched_values *args,
                      struct sched_value *out)
{
    return give(rows_lie_along(in->pass, args->at[0].stmt, args->at[1].stmt),
                out);
}

bool look_can_merge(struct interp *in, const struct sched_values *args,
                    struct sched_value *out)
{
    return give(sched_can_merge(in->pass, args->at[0].stmt, args->at[1].stmt),
                out);
}

bool look_inline_cost(struct interp *in, const struct sched_values *args,
                      struct sched_value *out)
{
    return give(inline_cost(in->pass, args->at[0].stmt), out);
}
