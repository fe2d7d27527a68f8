// What a stage that is to be moved stores, and what must be around it.

#include "passes/schedule/common/move.h"

#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/schedule/common/stage_nest.h"
#include "passes/schedule/depend/depend.h"

// Return whether an index is made of all iteration variables of a stage that
// count no reduction, each once.
static bool is_own_index(const struct ir_stage *stage, uint32_t n,
                         struct ir_expr *const *index)
{
    for (uint32_t i = 0; i < n; i++) {
        int iter = ir_stage_iter(stage, index[i]);
        if (iter < 0 || stage->iters.at[iter].is_reduce)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (ir_expr_equal(index[i], index[j]))
                return false;
    }
    return n == ir_stage_selecting(stage);
}

// Add a store; false if it is not at the index of those before.
static bool add_store(struct arena *a, struct sched_stores *out,
                      const struct ir_stmt *s)
{
    if (!out->arrays.n) {
        out->n = s->u.store.n;
        out->index = s->u.store.index;
    }
    if (s->u.store.n != out->n ||
        !ir_all_equal(out->n, s->u.store.index, out->index))
        return false;
    if (!sched_has_buffer(&out->arrays, s->u.store.buffer))
        vec_push(a, &out->arrays, s->u.store.buffer);
    return true;
}

// Add the stores of a block; false if it does anything else.
static bool add_stores(struct arena *a, struct sched_stores *out,
                       const struct ir_block *block)
{
    ir_foreach_stmt(s, block)
        if (s->kind == STMT_store
                ? !add_store(a, out, s)
                : s->kind != STMT_let && s->kind != STMT_var &&
                      s->kind != STMT_assign && s->kind != STMT_if &&
                      s->kind != STMT_for)
            return false;
    return true;
}

// Find what a stage stores; false if it does anything else than to store at one index.
static bool find_stores(struct pass *p, struct ir_stmt *stage,
                        struct sched_stores *out)
{
    const struct ir_stage *own = &stage->u.stage;
    *out = (struct sched_stores){0};
    if (stage->kind != STMT_stage || !add_stores(p->scratch, out, &own->body) ||
        !add_stores(p->scratch, out, &own->init) || !out->arrays.n)
        return false;
    ir_foreach_expr_from(x, stage)
        if (ir_op_info(x->op)->flags & OP_WRITES)
            return false;
    return true;
}

bool sched_stores_of(struct pass *p, struct ir_stmt *stage,
                     struct sched_stores *out)
{
    return find_stores(p, stage, out) &&
           is_own_index(&stage->u.stage, out->n, out->index);
}

bool sched_reads_own(const struct ir_stage *stage, const struct ir_expr *load,
                     struct ir_expr *const *index)
{
    for (uint32_t i = 0; i < load->n; i++) {
        if (ir_stage_iter(stage, load->args[i]) < 0 ||
            (index && !ir_expr_equal(index[i], load->args[i])))
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (ir_expr_equal(load->args[i], load->args[j]))
                return false;
    }
    return true;
}

bool sched_refuse_order(const struct sched_call *c,
                        const struct sched_obstacle *o)
{
    struct ir_stmt *both[] = {o->loop, o->other};
    struct ir_stmt *writer = o->writes ? o->stage : o->other;
    struct ir_stmt *user = o->writes ? o->other : o->stage;
    struct depend_conflict conflict;
    diag_error(c->pass->diags, c->span, D_move_order, sched_name_of(o->stage),
               o->fault);
    if (depend_conflicts(c->pass, writer, user, o->buffer, &conflict))
        sched_note_conflict(c, &conflict);
    return sched_blame(c, both, 2, o->note);
}

// Return whether an array flows from one iteration of a loop to another one.
static bool crosses(struct pass *p, struct ir_stmt *loop,
                    const struct sched_buffers *arrays)
{
    struct depend_conflict ignored;
    struct depend_flow flow = {0};
    for (size_t i = 0; i < arrays->n; i++) {
        flow.written = flow.used = arrays->at[i];
        if (depend_flows(p, loop, &flow, &ignored))
            return true;
    }
    return false;
}

struct ir_stmt *sched_find_change(struct pass *p, struct ir_stmt *stage,
                                  const struct sched_buffers *stored,
                                  const struct ir_stmt *user)
{
    struct sched_buffers inputs = sched_inputs_of(p, stage);
    struct ir_block loops = sched_loops(p, stage);
    for (size_t i = 0; i < loops.n; i++) {
        bool changes = false;
        for (size_t k = 0; k < inputs.n; k++)
            changes |= !sched_has_buffer(stored, inputs.at[k]) &&
                       depend_changes(p, loops.at[i], inputs.at[k]);
        if (changes && (!sched_is_below(p, user, loops.at[i]) ||
                        crosses(p, loops.at[i], stored)))
            return loops.at[i];
    }
    return NULL;
}

bool sched_refuse_shape(const struct sched_call *c, struct ir_stmt *stage,
                        const char *note)
{
    return sched_refuse(c, stage, note, D_move_shape, sched_name_of(stage));
}

bool sched_check_stores(const struct sched_call *c, struct ir_stmt *stage,
                        struct sched_stores *out)
{
    if (stage->kind != STMT_stage)
        return sched_refuse(c, stage, "not a stage", D_stage_wanted,
                            sched_name_of(stage));
    if (sched_stores_of(c->pass, stage, out))
        return true;
    return sched_refuse_shape(c, stage,
                              "not just stores to its own iteration variables");
}

// A search for loops around a stage that do not hold the place it moves to.
struct left_search {
    struct pass *pass;
    const struct ir_stage *stage;
    struct ir_block around; // loops
    struct ir_stmt *to;     // the loop that it moves into
};

// Return whether the stage would leave a loop.
static bool leaves(const struct left_search *f, struct ir_stmt *loop)
{
    return loop != f->to && !sched_is_below(f->pass, f->to, loop);
}

// Return whether an expression mentions the variable of such a loop.
static bool mentions_left(const struct left_search *f,
                          const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        for (size_t i = 0; i < f->around.n && x->op == OP_var; i++)
            if (f->around.at[i]->u.loop.var == x->u.var &&
                leaves(f, f->around.at[i]))
                return true;
    return false;
}

// Return whether a stage does.
static bool stage_mentions_left(const struct left_search *f,
                                struct ir_stage *stage)
{
    struct ir_block *blocks[] = {&stage->body, &stage->init};
    for (int i = 0; i < 2; i++)
        ir_foreach_stmt(s, blocks[i])
            ir_foreach_place(place, s)
                if (mentions_left(f, *place))
                    return true;
    struct conditions kept = stage_nest_conditions(f->pass, stage);
    for (size_t i = 0; i < kept.n; i++)
        if (mentions_left(f, kept.at[i]))
            return true;
    return false;
}

// Return whether a loop counts a variable of the stage whose extent itself
// depends on the element: new loops would be over the same.
static bool has_own_range(const struct left_search *f,
                          const struct ir_for *loop)
{
    const struct ir_stage *stage = f->stage;
    for (size_t i = 0; i < stage->iters.n; i++)
        for (size_t k = 0; k < i; k++)
            if (ir_mentions(stage->iters.at[i].binding, loop->var) &&
                ir_mentions(stage->iters.at[i].extent, stage->iters.at[k].var))
                return true;
    return false;
}

// Return whether some loop that the stage would leave begins or ends where
// another one around it says so: new loops would be over more.
static bool is_uneven(const struct left_search *f)
{
    for (size_t i = 0; i < f->around.n; i++) {
        const struct ir_for *loop = &f->around.at[i]->u.loop;
        if (has_own_range(f, loop))
            continue;
        for (size_t k = 0; k < f->around.n && leaves(f, f->around.at[i]); k++) {
            const struct ir_var *var = f->around.at[k]->u.loop.var;
            if (ir_mentions(loop->from, var) || ir_mentions(loop->to, var))
                return true;
        }
    }
    return false;
}

// Check what sched_check_movable does besides the stores.
static bool check_leaves(const struct sched_call *c, struct ir_stmt *stage,
                         struct ir_stmt *to)
{
    struct left_search f = {.pass = c->pass,
                            .stage = &stage->u.stage,
                            .to = to,
                            .around = sched_loops(c->pass, stage)};
    if (stage_mentions_left(&f, &stage->u.stage))
        return sched_refuse_shape(c, stage,
                                  "mentions a loop that it would leave");
    return !is_uneven(&f) ||
           sched_refuse_shape(c, stage,
                              "a loop around it depends on another one");
}

bool sched_check_movable(const struct sched_call *c, struct ir_stmt *stage,
                         struct ir_stmt *to, struct sched_stores *out)
{
    return sched_check_stores(c, stage, out) && check_leaves(c, stage, to);
}

// Return whether no two iterations of the loops that a stage leaves store to one
// element.
static bool stores_apart(struct pass *p, const struct ir_stmt *stage,
                         struct ir_stmt *to)
{
    struct ir_block loops = sched_loops(p, stage);
    struct depend_conflict ignored;
    for (size_t i = 0; i < loops.n; i++)
        if (loops.at[i] != to && !sched_is_below(p, to, loops.at[i]) &&
            depend_carried(p, loops.at[i], AXIS_vector, false, &ignored))
            return false;
    return true;
}

bool sched_check_apart(const struct sched_call *c, struct ir_stmt *stage,
                       struct ir_stmt *to, struct sched_stores *out)
{
    if (sched_stores_of(c->pass, stage, out) ||
        !find_stores(c->pass, stage, out) || ir_stage_reduces(&stage->u.stage))
        return sched_check_movable(c, stage, to, out);
    return check_leaves(c, stage, to) &&
           (stores_apart(c->pass, stage, to) ||
            sched_refuse_shape(c, stage,
                               "two iterations may store to one element"));
}

bool sched_check_alone(const struct sched_call *c, struct ir_stmt *stage,
                       const struct sched_uses *uses)
{
    for (size_t i = 0; i < uses->writers.n; i++) {
        if (uses->writers.at[i] == stage)
            continue;
        return sched_refuse_two(c, stage, uses->writers.at[i],
                                "both write its array", D_move_shape,
                                sched_name_of(stage));
    }
    return true;
}

bool sched_check_below(const struct sched_call *c, struct ir_stmt *loop,
                       const struct ir_buffer *buffer, const char *how,
                       struct ir_stmt *const *all, size_t n,
                       const struct ir_stmt *except)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i] == except || sched_is_below(c->pass, all[i], loop))
            continue;
        return sched_refuse_two(c, loop, all[i],
                                "the loop, and the other stage", D_move_outside,
                                buffer->name, how, loop->u.loop.var->name);
    }
    return true;
}
