// Widens the row of a copy to the groups of 16 bytes that TMA copies.
//
//   for w in 0..62 {
//     stage S(vw in W + 6 = w0 * 56 + w) {
//       S[vw] = 3 <= vw && .. ? X[vw - 3] : 0.0
//     }
//   }
//   =>
//   for w in 0..64 {
//     stage S(vw in W + 6 = w0 * 56 + w - 1) if 0 <= w0 * 56 + w - 1 && .. {
//       ..
//     }
//   }
//
// A TMA tile begins at a multiple of 16 bytes of a row in global memory, and
// its rows have a multiple of 16 bytes. The elements that come along are not
// used.

#include "passes/schedule/common/tma_row.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/analysis/facts.h"
#include "passes/analysis/tma_copy.h"
#include "passes/opt/fold.h"

// The loop along a row, and how many elements TMA copies instead.
struct row {
    struct ir_stmt *loop;
    int64_t extent, before, whole;
};

// Return by how many elements an index exceeds a multiple of `group`; `group`
// if that is not known.
static int64_t excess(const struct facts *f, const struct affine *index,
                      int64_t group)
{
    for (int64_t k = 0; k < group; k++) {
        struct affine first = *index;
        affine_offset(&first, -k);
        if (facts_multiple(f, &first, group))
            return k;
    }
    return group;
}

// Find the loop that moves an index by 1 and holds nothing but the stage; its
// place in the row is that of the index where the loop begins.
static bool find_loop(struct sched_call *c, const struct ir_path *path,
                      const struct affine *index, struct row *row,
                      struct affine *first)
{
    for (uint32_t i = path->n - 1; i-- > 0;) {
        struct ir_stmt *s = path->stmts[i];
        int64_t factor;
        if (s->kind != STMT_for || s->u.loop.body.n != 1 ||
            s->u.loop.axis != AXIS_serial)
            return false;
        if (!affine_linear(c->pass->scratch, index, s->u.loop.var, &factor,
                           first))
            return false;
        row->loop = s;
        if (factor)
            return factor == 1 && ir_for_counts(&s->u.loop) &&
                   ir_int_value(s->u.loop.to, &row->extent);
    }
    return false;
}

// Find the row of a copy out of global memory that has to become wider.
static bool find_row(struct sched_call *c, struct ir_stmt *stage,
                     struct row *row)
{
    struct arena *a = c->pass->scratch;
    struct ir_path path = sched_path(c->pass, stage);
    struct map bindings = ir_stage_bindings(a, &stage->u.stage);
    struct tma_copy copy;
    struct facts facts;
    struct affine first;
    if (tma_copy_find(&stage->u.stage, &copy) || !copy.is_load)
        return false;
    facts_start(&facts, a, c->pass->kernel);
    facts_enter_path(&facts, &path, path.n);
    struct ir_expr *last =
        ir_substitute(a, copy.far_index[copy.far->rank - 1], &bindings, NULL);
    struct affine index = affine_of(a, fold_expr(a, &facts, last));
    int64_t group = TENSOR_GROUP_BYTES / (int64_t)type_bytes(copy.far->elem);
    if (!find_loop(c, &path, &index, row, &first))
        return false;
    row->before = excess(&facts, &first, group);
    row->whole = (row->before + row->extent + group - 1) / group * group;
    return row->before < group && row->whole > row->extent;
}

// Let a stage run only where an iteration variable that a loop moves is in its
// range.
static void guard_range(struct pass *p, struct ir_stmt *loop,
                        const struct ir_stage *stage)
{
    struct arena *a = p->arena;
    vec_foreach(iter, &stage->iters) {
        struct ir_expr *x = iter->binding;
        if (!ir_mentions(x, loop->u.loop.var))
            continue;
        struct ir_expr *low = ir_binary(a, OP_le, ir_int(a, 0), x);
        struct ir_expr *high = ir_binary(a, OP_lt, x, iter->extent);
        sched_guard(p, &loop->u.loop.body, ir_binary(a, OP_and, low, high));
    }
}

void sched_widen_row(struct sched_call *c, struct ir_stmt *stage)
{
    struct pass *p = c->pass;
    struct row row;
    if (!find_row(c, stage, &row))
        return;
    const struct ir_var *old = row.loop->u.loop.var;
    struct ir_var *var = sched_new_var(p, row.loop, old->name, old->span);
    struct ir_stmt *wide =
        sched_new_loop(p, var, ir_int(p->arena, row.whole), row.loop->span);
    struct ir_expr *number =
        ir_sub(p->arena, ir_read(p->arena, var), ir_int(p->arena, row.before));
    sched_renumber(p, row.loop, number);
    sched_replace(p, row.loop, wide);
    wide->u.loop.body = row.loop->u.loop.body;
    guard_range(p, wide, &stage->u.stage);
}
