// Stages as they were written.

#include "passes/schedule/common/iter_loops.h"

#include "ir/walk.h"

bool sched_refuse_remap(const struct sched_call *c, struct ir_stmt *stage,
                        const char *why)
{
    return sched_refuse(c, stage, "to be remapped", D_remap_stage,
                        stage->u.stage.name, why);
}

// Return whether the loops are the stage's, each alone in the one before.
static bool is_perfect(const struct sched_iter_loops *r,
                       const struct ir_path *path)
{
    uint32_t first = path->n - 1 - (uint32_t)r->n;
    bool perfect = path->blocks[path->n - 1]->n == 1;
    for (uint32_t i = 0; i < r->n && perfect; i++)
        perfect = path->stmts[first + i] == r->loops[i] &&
                  (!i || path->blocks[first + i]->n == 1);
    return perfect && sched_is_unscheduled(&r->stage->u.stage, r->loops, r->n);
}

bool sched_find_iter_loops(const struct sched_call *c, struct ir_stmt *stage,
                           struct sched_iter_loops *out)
{
    struct ir_path path = sched_path(c->pass, stage);
    struct ir_block loops = sched_loops(c->pass, stage);
    size_t n = stage->u.stage.iters.n;
    if (!n || loops.n < n || path.n < n + 1)
        return sched_refuse_remap(c, stage,
                                  "its loops are not its iteration variables");
    *out = (struct sched_iter_loops){stage, loops.at + (loops.n - n), n};
    if (!is_perfect(out, &path))
        return sched_refuse_remap(c, stage,
                                  "its loops are not its iteration variables");
    for (size_t i = 0; i < n; i++) {
        struct ir_stmt *loop = out->loops[i];
        if (ir_block_mentions(&stage->u.stage.body, loop->u.loop.var) ||
            ir_block_mentions(&stage->u.stage.init, loop->u.loop.var))
            return sched_refuse_remap(c, stage, "it uses the loops themselves");
        if (!sched_check_serial(c, loop) || !sched_check_plain(c, loop) ||
            !sched_check_from_zero(c, loop))
            return false;
    }
    return true;
}
