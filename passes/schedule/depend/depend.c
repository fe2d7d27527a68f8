// Which iterations access the same elements: all pairs of accesses of which
// one writes, less those whose order does not matter.

#include "passes/schedule/depend/depend.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/analysis/scan.h"
#include "passes/schedule/depend/access.h"
#include "passes/schedule/prim.h"

enum { OWN_DEPTH = 8 };

// A question on its way.
struct ask {
    struct depend_nest nest;
    struct depend_question question;
    bool with_example;
    bool only_own; // only arrays that each thread has for itself count
    bool has_own;  // there are such; of an answer without a conflict
    struct map
        free; // arrays in which no iterations conflict: the array itself;
              // others that were looked at: NULL
    struct map at_once; // the same of those that were looked at without isl
    const struct depend_access *uncovered; // why the newest one is not free
};

// Return whether no iterations conflict in an array as a whole.
static bool is_free(struct ask *ask, const struct ir_buffer *b)
{
    if (!map_has(&ask->free, b)) {
        bool free =
            depend_is_free(&ask->nest, &ask->question, b, &ask->uncovered);
        map_set(&ask->free, b, free ? (void *)b : NULL);
    }
    return map_get(&ask->free, b) != NULL;
}

// The same, only if that needs no isl.
static bool is_free_at_once(struct ask *ask, const struct ir_buffer *b)
{
    if (!map_has(&ask->at_once, b)) {
        bool free = depend_is_free_at_once(&ask->nest, &ask->question, b);
        map_set(&ask->at_once, b, free ? (void *)b : NULL);
    }
    return map_get(&ask->at_once, b) != NULL;
}

// Return whether both accesses are those of a reduction that combines its
// operands in any order.  One with a branch keeps the first of equals, and a
// scan what each step has, so their order counts.
static bool combines(const struct depend_access *x,
                     const struct depend_access *y)
{
    bool reduces = false;
    if (!x->stage || x->stage != y->stage || x->in_init || y->in_init ||
        x->buffer != y->buffer)
        return false;
    struct ir_stmt *s = (struct ir_stmt *)x->stage;
    for (size_t i = 0; i < s->u.stage.iters.n; i++)
        reduces |= s->u.stage.iters.at[i].is_reduce;
    return reduces && ir_all_equal(x->buffer->rank, x->index, y->index) &&
           !ir_has(&s->u.stage.body, STMT_if) && !ir_stage_scans(&s->u.stage);
}

// Return whether an axis may share the reduction that a loop counts: that of
// the one stage below, whose partial results can be combined. Blocks, but for
// those of a cluster, and the lanes of vectors share scans alone.
static bool is_shared_reduction(struct pass *p, struct ir_stmt *loop,
                                enum axis axis)
{
    struct ir_stmt *s = loop;
    struct reducer ignored;
    struct scan scan;
    bool is_thread = axis_kind(axis) == AXIS_THREAD;
    while (s->kind == STMT_for && s->u.loop.body.n == 1)
        s = s->u.loop.body.at[0];
    if (s->kind != STMT_stage || !ir_loop_reduces(&loop->u.loop))
        return false;
    if ((is_thread || axis_is_cluster(axis)) &&
        reducer_find(p, &s->u.stage, &ignored))
        return true;
    return (is_thread ||
            (axis_kind(axis) == AXIS_BLOCK && !axis_is_cluster(axis)) ||
            axis == AXIS_vector) &&
           scan_find(p, &s->u.stage, &scan);
}

// Return whether an access is in a loop inside of the question's that has its
// axis, too: the iterations share that one (analysis/nested.h).
static bool is_together(const struct ask *ask, const struct depend_access *x)
{
    bool found = false;
    for (size_t i = ask->nest.outer + 1; i < x->path.n; i++)
        found |= depend_is_loop(&x->path.at[i]) &&
                 x->path.at[i].stmt->u.loop.axis == ask->question.axis;
    return found;
}

// Return whether a directive made an access, or something around it inside of
// the question's loop.
static bool is_directed(const struct ask *ask, const struct depend_access *x)
{
    bool found = x->stmt->by.source;
    for (size_t i = ask->nest.outer + 1; i < x->path.n; i++)
        found |= x->path.at[i].stmt && x->path.at[i].stmt->by.source;
    return found;
}

// Return whether two accesses conflict as the kernel's own text has it: in a loop
// that it binds, and not in an array that directives filled or read there.
static bool is_given(const struct ask *ask, const struct depend_access *x,
                     const struct depend_access *y)
{
    return !ask->question.loops[0]->by.source &&
           (x->buffer->role != ROLE_alloc ||
            !(is_directed(ask, x) || is_directed(ask, y)));
}

static bool fills_differently(const struct depend_nest *nest,
                              const struct ir_buffer *array, unsigned depth);

// Return whether a value is made of an array that threads have each for itself,
// and fill differently; `depth` arrays are copied from others.
static bool is_of_own(const struct depend_nest *nest,
                      const struct ir_expr *value, unsigned depth)
{
    ir_foreach_expr(x, value)
        if (x->op == OP_load && space_is_own(x->u.buffer->space) &&
            fills_differently(nest, x->u.buffer, depth))
            return true;
    return false;
}

// Return whether threads fill such an array differently.
static bool fills_differently(const struct depend_nest *nest,
                              const struct ir_buffer *array, unsigned depth)
{
    if (!depend_repeats(nest, array) || depth == OWN_DEPTH)
        return true;
    vec_foreach(y, &nest->accesses)
        if (y->buffer == array && y->writes &&
            is_of_own(nest, y->stmt->u.store.value, depth + 1))
            return true;
    return false;
}

// Return whether an access writes to shared memory what threads have each for
// itself.
static bool shares_own(const struct ask *ask, const struct depend_access *x)
{
    return x->writes && x->buffer->space == SPACE_shared &&
           x->stmt->kind == STMT_store &&
           is_of_own(&ask->nest, x->stmt->u.store.value, 0);
}

// Return whether two accesses are no matter to iterations that are on their
// axis already: the part of an array that one of them accesses was not cut to
// it outside of global memory, unless both write their own to one element, and
// what they write together they write once.
static bool is_bound_apart(const struct ask *ask, const struct depend_access *x,
                           const struct depend_access *y)
{
    bool together = is_together(ask, x) && (!y->writes || is_together(ask, y));
    return ask->question.is_bound &&
           (together || is_given(ask, x, y) ||
            (x->buffer->space != SPACE_global &&
             !(shares_own(ask, x) && shares_own(ask, y))));
}

// Return whether an access is by a stage whose iterations store to different
// elements, which the question's loops count: the kernel promises that.
static bool is_distinct(const struct ask *ask, const struct depend_access *x)
{
    const struct depend_question *q = &ask->question;
    bool counts = x->stage && x->writes && !x->in_init && q->n &&
                  ir_stage_is_distinct(&x->stage->u.stage) &&
                  !ir_block_writes(&x->stage->u.stage.init, x->buffer);
    for (size_t i = 0; counts && i < q->n; i++)
        counts = ir_stage_role(&x->stage->u.stage, q->loops[i]->u.loop.var);
    return counts;
}

// Return whether the order of two accesses matters at all.
static bool is_pair(const struct ask *ask, const struct depend_access *x,
                    const struct depend_access *y)
{
    bool is_shared = ask->question.combines && x->stage && x->stage == y->stage;
    bool ordered = !(x->is_atomic && y->is_atomic) &&
                   !(ask->question.order && combines(x, y)) &&
                   !(x == y && is_distinct(ask, x));
    bool counts = !ask->only_own || space_is_own(x->buffer->space);
    return x->buffer == y->buffer && x->writes && (!y->writes || x <= y) &&
           ordered && !is_shared && counts && !is_bound_apart(ask, x, y);
}

// Return whether an access is by the init of a reduction that the question's
// loop counts on blocks: it runs before them all, even where there are none.
static bool precedes_blocks(const struct ask *ask,
                            const struct depend_access *x)
{
    const struct depend_question *q = &ask->question;
    return x->in_init && q->n && axis_kind(q->axis) == AXIS_BLOCK &&
           !q->combines &&
           (ir_stage_role(&x->stage->u.stage, q->loops[0]->u.loop.var) &
            STAGE_REDUCES);
}

// Return what an access does.
static struct depend_end end_of(const struct depend_access *x)
{
    return (struct depend_end){x->stmt, x->span, x->writes};
}

// Return whether two accesses meet in an array that is not free.  An array is only
// looked at as a whole once two accesses to it may.
static bool conflicts(struct ask *ask, const struct depend_access *x,
                      const struct depend_access *y, bool *is_exact)
{
    struct depend_nest *w = &ask->nest;
    struct depend_known known;
    return depend_is_open(w, &ask->question, x, y, &known) &&
           !is_free_at_once(ask, x->buffer) &&
           depend_meets_open(w, &ask->question, x, y, &known, is_exact) &&
           !is_free(ask, x->buffer);
}

// Look for a pair of accesses that conflict; or else for one whose first precedes
// all blocks.
static bool find_meeting(struct ask *ask, bool precedes,
                         struct depend_conflict *out)
{
    struct depend_nest *w = &ask->nest;
    vec_foreach(x, &w->accesses) {
        for (size_t j = 0; j < w->accesses.n && x->writes; j++) {
            const struct depend_access *y = &w->accesses.at[j];
            bool is_exact = true;
            if (!is_pair(ask, x, y) ||
                !(precedes ? precedes_blocks(ask, x) && !is_free(ask, x->buffer)
                           : conflicts(ask, x, y, &is_exact)))
                continue;
            *out = (struct depend_conflict){.name = x->buffer->name,
                                            .first = end_of(x),
                                            .second = end_of(y),
                                            .is_exact = is_exact};
            if (ask->uncovered)
                out->uncovered = ask->uncovered->span;
            if (ask->with_example)
                out->example = depend_example(w, &ask->question, x, y);
            return true;
        }
    }
    return false;
}

// Walk the nest and look for a conflict.
static bool look(struct ask *ask, struct pass *p, struct depend_conflict *out)
{
    *out = (struct depend_conflict){0};
    ask->free.arena = ask->at_once.arena = p->scratch;
    depend_walk(&ask->nest, p, ask->question.loops[0], ask->question.axis,
                ask->question.across);
    if (!ask->nest.scalar.name)
        return find_meeting(ask, false, out) || find_meeting(ask, true, out);
    *out = ask->nest.scalar;
    return true;
}

// The same; nothing is kept of a question without a conflict but whether some
// arrays are accessed that each thread has for itself.
static bool answer(struct ask *ask, struct pass *p, struct depend_conflict *out)
{
    struct arena_mark here = arena_mark(p->scratch);
    if (look(ask, p, out))
        return true;
    vec_foreach(x, &ask->nest.accesses)
        ask->has_own |= space_is_own(x->buffer->space);
    ask->nest = (struct depend_nest){0};
    arena_release(p->scratch, here);
    return false;
}

// Return whether threads may conflict in arrays that each has for itself: no
// barrier between the iterations of the serial loops around helps there.
static bool answer_own(struct ask *ask, struct pass *p,
                       struct depend_conflict *out)
{
    struct ask own = {.question = ask->question,
                      .with_example = ask->with_example,
                      .only_own = true};
    own.question.across = true;
    return ask->has_own && answer(&own, p, out);
}

// Return whether a loop runs at most once.
static bool runs_once(const struct ir_stmt *loop)
{
    return ir_is_int_const(loop->u.loop.from, 0) &&
           ir_is_int_const(loop->u.loop.to, 1);
}

bool depend_carried(struct pass *p, struct ir_stmt *loop, enum axis axis,
                    bool with_example, struct depend_conflict *out)
{
    bool has_barrier = ir_has(&p->kernel->body, STMT_barrier);
    bool is_thread = axis_kind(axis) == AXIS_THREAD;
    struct ask ask = {.with_example = with_example};
    *out = (struct depend_conflict){0};
    ask.question = (struct depend_question){
        .loops = &loop,
        .n = 1,
        .axis = axis,
        .across = axis_kind(axis) == AXIS_BLOCK || has_barrier,
        .combines = is_shared_reduction(p, loop, axis),
        .is_bound = loop->u.loop.axis == axis};
    return !runs_once(loop) &&
           (answer(&ask, p, out) ||
            (is_thread && !ask.question.is_bound && answer_own(&ask, p, out)));
}

// Return whether two orders of loops differ, those aside that run once.
static bool differs(struct ir_stmt *const *loops, size_t n,
                    struct ir_stmt *const *order)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (runs_once(order[i]))
            continue;
        while (runs_once(loops[at]))
            at++;
        if (loops[at++] != order[i])
            return true;
    }
    return false;
}

bool depend_reordered(struct pass *p, struct ir_stmt *const *loops, size_t n,
                      struct ir_stmt *const *order, bool with_example,
                      struct depend_conflict *out)
{
    struct ask ask = {.with_example = with_example};
    *out = (struct depend_conflict){0};
    ask.question =
        (struct depend_question){.loops = loops, .n = n, .order = order};
    return differs(loops, n, order) && answer(&ask, p, out);
}

// Return whether two accesses are in different loops on the question's axis,
// and to memory that its blocks share.
static bool is_apart(const struct ask *ask, const struct depend_access *x,
                     const struct depend_access *y, struct ir_stmt *loops[2])
{
    loops[0] = depend_loop_on(x, ask->question.axis);
    loops[1] = depend_loop_on(y, ask->question.axis);
    return loops[0] && loops[1] && loops[0] != loops[1] &&
           x->buffer->space == SPACE_global;
}

// Look for blocks that conflict from different loops on the question's axis.
static bool find_apart(struct ask *ask, struct depend_conflict *out,
                       struct ir_stmt *loops[2])
{
    struct depend_nest *w = &ask->nest;
    for (size_t i = 0; i < w->accesses.n; i++) {
        for (size_t j = 0; j < w->accesses.n; j++) {
            const struct depend_access *x = &w->accesses.at[i];
            const struct depend_access *y = &w->accesses.at[j];
            bool is_exact;
            if (!is_pair(ask, x, y) || !is_apart(ask, x, y, loops) ||
                !depend_meets(w, &ask->question, x, y, &is_exact))
                continue;
            *out = (struct depend_conflict){.name = x->buffer->name,
                                            .first = end_of(x),
                                            .second = end_of(y),
                                            .is_exact = is_exact};
            out->example = depend_example(w, &ask->question, x, y);
            return true;
        }
    }
    return false;
}

bool depend_between(struct pass *p, struct ir_stmt *nest,
                    struct depend_conflict *out, struct ir_stmt *loops[2])
{
    size_t loops_on[AXIS_COUNT] = {0};
    struct ask ask = {.question = {.across = true}};
    ir_foreach_stmt_from(s, nest)
        if (s->kind == STMT_for)
            loops_on[s->u.loop.axis]++;
    if (nest->kind == STMT_for && runs_once(nest)) {
        for (size_t i = 0; i < nest->u.loop.body.n; i++)
            if (depend_between(p, nest->u.loop.body.at[i], out, loops))
                return true;
        return false;
    }
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        ask.question.axis = (enum axis)axis;
        if (axis_kind((enum axis)axis) != AXIS_BLOCK || loops_on[axis] < 2 ||
            ir_has(ir_alone(nest), STMT_sync))
            continue;
        depend_walk(&ask.nest, p, nest, ask.question.axis, true);
        if (find_apart(&ask, out, loops))
            return true;
    }
    return false;
}
