// What is lost of the loops that a stage leaves.
//
//   for k_1 @thread.x { stage P }
//     =>   compute_at(P, C.i)
//   for i { for ax0 { stage P }; ... }   // nothing runs on thread.x
//
// Loops that hold nothing but a stage go with it.  What directives have said of
// them would be lost without a word, so a primitive that removes them refuses.

#include "passes/schedule/common/move.h"

#include "ir/marks.h"

// Return the loops that hold nothing but a stage, outermost first.
static struct ir_block find_left(struct pass *p, const struct ir_stmt *stage)
{
    struct ir_block loops = sched_loops(p, stage);
    size_t outer = loops.n;
    while (outer > 0 && loops.at[outer - 1]->u.loop.body.n == 1)
        outer--;
    return (struct ir_block){loops.at + outer, loops.n - outer, 0};
}

// Report a loop or a stage of which something would be lost; `moves`: the stage
// stays, elsewhere.
static bool refuse(const struct sched_call *c, struct ir_stmt *stage,
                   struct ir_stmt *marked, const char *what, bool moves)
{
    const char *name = sched_name_of(stage);
    diag_error(c->pass->diags, c->span, D_leaves_mark,
               sched_prim_info(c->prim)->name, name, what,
               sched_name_of(marked));
    if (marked->by.source)
        diag_note(c->pass->diags, marked->by, "`%s` is from here",
                  sched_name_of(marked));
    sched_blame_one(c, marked, "would be gone");
    if (moves)
        diag_help(c->pass->diags,
                  "move it first, then say this of its new loops, `%s.loops`",
                  name);
    else
        diag_help(c->pass->diags,
                  "nothing of `%s` is left: leave out what was said of it",
                  name);
    return false;
}

// Check that nobody has said how the loops of a stage run, and nothing of them
// is annotated.
static bool check_marks(const struct sched_call *c, struct ir_stmt *stage,
                        const struct ir_block *left, bool moves)
{
    struct arena *a = c->pass->scratch;
    for (size_t i = 0; i < left->n; i++) {
        const struct ir_for *f = &left->at[i]->u.loop;
        const char *what = NULL;
        if (f->axis != AXIS_serial)
            what = arena_printf(a, "@%s", axis_name(f->axis));
        else if (ir_loop_is_marked(f))
            what = arena_printf(a, "@%s",
                                f->rings.n ? "ring" : f->attrs.at[0].name);
        if (what)
            return refuse(c, stage, left->at[i], what, moves);
    }
    return true;
}

// Return how many of the loops, from `from` on, an expression mentions; the
// first one goes to `at`.
static size_t count_mentioned(const struct ir_block *left,
                              const struct ir_expr *x, size_t *at)
{
    size_t found = 0;
    for (size_t i = left->n; i-- > 0;) {
        if (!ir_mentions(x, left->at[i]->u.loop.var))
            continue;
        *at = i;
        found++;
    }
    return found;
}

// Return a loop that split, fuse or reorder has made of those of a stage: an
// iteration variable has two, two have one, or one was put where new loops
// would not be.  NULL if there is none.
static struct ir_stmt *find_cut(const struct ir_stage *stage,
                                const struct ir_block *left)
{
    size_t next = 0;
    for (size_t i = 0; i < stage->iters.n; i++) {
        size_t at = 0;
        size_t n = count_mentioned(left, stage->iters.at[i].binding, &at);
        if (n > 1 || (n && at + 1 == next) ||
            (n && at < next && left->at[at]->u.loop.is_placed))
            return left->at[at];
        next = n ? at + 1 : next;
    }
    return NULL;
}

bool sched_check_moved(const struct sched_call *c, struct ir_stmt *stage)
{
    struct ir_block left = find_left(c->pass, stage);
    struct ir_stmt *cut = find_cut(&stage->u.stage, &left);
    if (!check_marks(c, stage, &left, true))
        return false;
    return !cut || refuse(c, stage, cut, "the cut or the order", true);
}

bool sched_check_dissolved(const struct sched_call *c, struct ir_stmt *stage)
{
    struct ir_block left = find_left(c->pass, stage);
    const struct ir_attrs *attrs = ir_attrs_of(stage);
    for (size_t i = 0; attrs && i < attrs->n; i++) {
        const char *what =
            arena_printf(c->pass->scratch, "@%s", attrs->at[i].name);
        if (attrs->at[i].mark != MARK_distinct)
            return refuse(c, stage, stage, what, false);
    }
    return check_marks(c, stage, &left, false);
}
