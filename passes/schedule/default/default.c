// The last rule: what a kernel gets that no schedule and no other rule is for, and
// what a schedule leaves.
//
//   for i { for j { C[i, j] = A[i, j] } }
//     =>
//   for i_j_fused_0 @block.x { for i_j_fused_1 in 0..256 @thread.x {
//     for i_j_fused_2 in 0..4 @vector { ... } } }
//
// The library says how, in the rules `default` and `rest`.  Here is what text cannot
// do: to put statements that depend on one another into one nest.

#include "passes/schedule/schedule.h"

#include "passes/schedule/default/nests.h"
#include "passes/schedule/interpret/interpret.h"

// Return what the library makes of nests that are left: the first case of a rule
// counts rows of unknown length as long.
static bool run(struct pass *p, const struct sched_program *program,
                const char *rule, const struct sched_settings *settings,
                bool long_rows)
{
    const struct sched_settings none = {0};
    return interp_last(p, program, rule, long_rows ? 0 : 1,
                       settings ? settings : &none);
}

// Bind the nests that are left, as one if they depend on one another.
static bool complete(struct pass *p, const struct sched_program *program,
                     const struct sched_settings *settings, bool long_rows)
{
    nests_join(p);
    return !nests_left(p).n || run(p, program, "rest", settings, long_rows);
}

bool schedule_default(struct pass *p, const struct sched_program *program,
                      const struct sched_settings *settings, bool long_rows)
{
    return run(p, program, "default", settings, long_rows) &&
           complete(p, program, settings, long_rows);
}

bool schedule_complete(struct pass *p, const struct sched_program *program)
{
    return complete(p, program, NULL, false);
}
