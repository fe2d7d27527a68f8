// double_buffer -- fill an array for the next iteration while this one uses it.
//
//   for k { S[i] = A[k, i]; C = C + f(S) }
//     =>   double_buffer(S)
//   for k { S[i] = A[k, i]; C = C + f(S) }, S a ring of two slots
//
// The stage is a copy into shared memory under a loop, as compute_at makes it.
// Lowering makes a ring of two slots: before the loop the first one is filled,
// in each iteration the next one is loaded, this one used, the next one
// stored.  Serial loops of the copy are unrolled.  If TMA stores the array, the
// next slot is filled meanwhile. A fragment is loaded for
// the next iteration of the loop, and, if a pipelined loop is around that, in
// the last one for the first of the next tile.  Where no such loop is left for
// lowering, that is a warning (E0777).
//
// Requires:
//  1. the stage just stores to its own iteration
//     variables, and alone writes its array        E0653 E0654
//  2. the array is in shared memory, or a fragment E0674
//  3. a serial loop holds the stage and all that
//     read it, and nothing in it changes what the
//     stage reads                                  E0656 E0657

#include "passes/schedule/common/move.h"

#include "ir/build.h"

// What is marked.
struct mark {
    struct ir_stmt *stage, *loop; // the loop that refills the array
    struct ir_buffer *array;
    struct sched_uses uses;
};

// Find the loop: the innermost one around the stage and a reader.
static bool find_loop(const struct sched_call *c, struct mark *m)
{
    struct ir_path path = sched_path(c->pass, m->stage);
    for (uint32_t i = path.n - 1; i-- > 0 && !m->loop;) {
        struct ir_stmt *s = path.stmts[i];
        for (size_t k = 0; k < m->uses.readers.n && s->kind == STMT_for; k++)
            if (sched_is_below(c->pass, m->uses.readers.at[k], s))
                m->loop = s;
    }
    if (m->loop && m->loop->u.loop.axis == AXIS_serial)
        return sched_check_from_zero(c, m->loop) &&
               sched_check_below(c, m->loop, m->array, "also read",
                                 m->uses.readers.at, m->uses.readers.n, NULL);
    sched_refuse(c, m->stage, "not in a serial loop with its readers",
                 D_move_shape, sched_name_of(m->stage));
    return diag_help(c->pass->diags, "compute_at(%s, loop) first",
                     sched_name_of(m->stage));
}

// Check that the loop does not change what the stage reads.
static bool check_inputs(const struct sched_call *c, const struct mark *m)
{
    struct pass *p = c->pass;
    struct sched_buffers inputs = sched_inputs_of(p, m->stage);
    for (size_t i = 0; i < inputs.n; i++) {
        struct sched_uses uses = sched_uses_of(p, inputs.at[i]);
        for (size_t k = 0; k < uses.writers.n; k++) {
            if (!sched_is_below(p, uses.writers.at[k], m->loop))
                continue;
            struct sched_obstacle o = {
                .stage = m->stage,
                .loop = m->loop,
                .other = uses.writers.at[k],
                .buffer = inputs.at[i],
                .fault = "run before what it reads is computed",
                .note = "the loop, and what computes it"};
            return sched_refuse_order(c, &o);
        }
    }
    return true;
}

// Check everything and fill `m` in.
static bool check(const struct sched_call *c, struct mark *m)
{
    struct pass *p = c->pass;
    struct sched_stores stores;
    m->array = sched_stored(m->stage);
    m->uses = sched_uses_of(p, m->array);
    if (!sched_check_stores(c, m->stage, &stores) ||
        !sched_check_alone(c, m->stage, &m->uses))
        return false;
    bool is_shared = m->array->space == SPACE_shared && !m->array->of_cluster;
    if (!is_shared && m->array->space != SPACE_fragment)
        return sched_refuse(c, m->stage, "fills it", D_double_memory,
                            m->array->name,
                            m->array->of_cluster ? "distributed shared"
                                                 : space_name(m->array->space));
    return find_loop(c, m) && check_inputs(c, m);
}

bool sched_double_buffer(struct sched_call *c)
{
    int64_t extent;
    struct mark m = {.stage = sched_arg(c, 0)};
    if (!check(c, &m))
        return false;
    m.array->is_double = true;
    if (m.array->space == SPACE_fragment)
        return true;
    struct ir_path path = sched_path(c->pass, m.stage);
    for (uint32_t i = path.n - 1; i-- > 0 && path.stmts[i] != m.loop;) {
        struct ir_stmt *s = path.stmts[i];
        if (s->kind == STMT_for && s->u.loop.axis == AXIS_serial &&
            ir_int_value(s->u.loop.to, &extent))
            s->u.loop.axis = AXIS_unroll;
    }
    return true;
}
