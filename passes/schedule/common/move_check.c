// What a stage that is to be moved stores, and what must be around it.

#include "passes/schedule/common/move.h"

#include "ir/equal.h"
#include "ir/stage.h"
#include "passes/schedule/common/stage_nest.h"
#include "passes/schedule/depend/depend.h"

// What the statements of a stage store: the context of see_own.
struct own_search {
    struct pass *p;
    const struct ir_stage *stage;
    struct sched_stores *found;
    bool is_own; // so far
};

// Note the index of the first store.
static void set_index(struct own_search *f, struct ir_stmt *s)
{
    uint32_t n = s->u.store.n;
    f->found->n = n;
    f->found->index = s->u.store.index;
    f->is_own &= n == ir_stage_selecting(f->stage);
    for (uint32_t i = 0; i < n && f->is_own; i++) {
        int iter = ir_stage_iter(f->stage, s->u.store.index[i]);
        f->is_own &= iter >= 0 && !f->stage->iters.at[iter].is_reduce;
        for (uint32_t j = 0; j < i; j++)
            f->is_own &=
                !ir_expr_equal(s->u.store.index[i], s->u.store.index[j]);
    }
}

// Note a store.
static void add_store(struct own_search *f, struct ir_stmt *s)
{
    if (!f->found->arrays.n)
        set_index(f, s);
    f->is_own &= s->u.store.n == f->found->n;
    for (uint32_t i = 0; i < f->found->n && f->is_own; i++)
        f->is_own &= ir_expr_equal(s->u.store.index[i], f->found->index[i]);
    if (!sched_has_buffer(&f->found->arrays, s->u.store.buffer))
        vec_push(f->p->scratch, &f->found->arrays, s->u.store.buffer);
}

// Look at a statement of a stage.
static void see_own(struct own_search *f, struct ir_stmt *s)
{
    if (s->kind == STMT_store)
        add_store(f, s);
    f->is_own &= s->kind == STMT_store || s->kind == STMT_let ||
                 s->kind == STMT_var || s->kind == STMT_assign ||
                 s->kind == STMT_if || s->kind == STMT_for;
}

bool sched_stores_of(struct pass *p, struct ir_stmt *stage,
                     struct sched_stores *out)
{
    *out = (struct sched_stores){0};
    if (stage->kind != STMT_stage)
        return false;
    struct own_search f = {p, &stage->u.stage, out, true};
    ir_foreach_stmt(s, &stage->u.stage.body)
        see_own(&f, s);
    ir_foreach_stmt(t, &stage->u.stage.init)
        see_own(&f, t);
    ir_foreach_expr_from(x, stage)
        f.is_own &= !(ir_op_info(x->op)->flags & OP_WRITES);
    return f.is_own && out->arrays.n;
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
    size_t n;
    struct sched_buffers inputs = sched_inputs_of(p, stage);
    struct ir_path path = sched_path(p, stage);
    struct ir_stmt **loops = sched_loops(p, &path, &n);
    for (size_t i = 0; i < n; i++) {
        bool changes = false;
        for (size_t k = 0; k < inputs.n; k++)
            changes |= !sched_has_buffer(stored, inputs.at[k]) &&
                       depend_changes(p, loops[i], inputs.at[k]);
        if (changes && (!sched_is_below(p, user, loops[i]) ||
                        crosses(p, loops[i], stored)))
            return loops[i];
    }
    return NULL;
}

bool sched_refuse_shape(const struct sched_call *c, struct ir_stmt *stage,
                        const char *note)
{
    diag_error(c->pass->diags, c->span, D_move_shape, sched_name_of(stage));
    return sched_blame_one(c, stage, note);
}

bool sched_check_stores(const struct sched_call *c, struct ir_stmt *stage,
                        struct sched_stores *out)
{
    struct diag_list *diags = c->pass->diags;
    if (stage->kind != STMT_stage) {
        diag_error(diags, c->span, D_stage_wanted, sched_name_of(stage));
        return sched_blame_one(c, stage, "not a stage");
    }
    if (sched_stores_of(c->pass, stage, out))
        return true;
    return sched_refuse_shape(c, stage,
                              "not just stores to its own iteration variables");
}

// A search for loops around a stage that do not hold the place it moves to.
struct left_search {
    struct pass *pass;
    struct ir_stmt *const *around;
    size_t n;
    struct ir_stmt *to; // the loop that it moves into
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
        for (size_t i = 0; i < f->n && x->op == OP_var; i++)
            if (f->around[i]->u.loop.var == x->u.var && leaves(f, f->around[i]))
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

// Return whether some loop that the stage would leave begins or ends where
// another one around it says so: new loops would be over more.
static bool is_uneven(const struct left_search *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct ir_for *loop = &f->around[i]->u.loop;
        for (size_t k = 0; k < f->n && leaves(f, f->around[i]); k++) {
            const struct ir_var *var = f->around[k]->u.loop.var;
            if (ir_mentions(loop->from, var) || ir_mentions(loop->to, var))
                return true;
        }
    }
    return false;
}

bool sched_check_movable(const struct sched_call *c, struct ir_stmt *stage,
                         struct ir_stmt *to, struct sched_stores *out)
{
    if (!sched_check_stores(c, stage, out))
        return false;
    struct ir_path path = sched_path(c->pass, stage);
    struct left_search f = {.pass = c->pass, .to = to};
    f.around = sched_loops(c->pass, &path, &f.n);
    if (stage_mentions_left(&f, &stage->u.stage))
        return sched_refuse_shape(c, stage,
                                  "mentions a loop that it would leave");
    return !is_uneven(&f) ||
           sched_refuse_shape(c, stage,
                              "a loop around it depends on another one");
}

bool sched_check_alone(const struct sched_call *c, struct ir_stmt *stage,
                       const struct sched_uses *uses)
{
    struct ir_stmt *both[] = {stage, NULL};
    for (size_t i = 0; i < uses->writers.n; i++) {
        if (uses->writers.at[i] == stage)
            continue;
        both[1] = uses->writers.at[i];
        diag_error(c->pass->diags, c->span, D_move_shape, sched_name_of(stage));
        return sched_blame(c, both, 2, "both write its array");
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
        struct ir_stmt *both[] = {loop, all[i]};
        diag_error(c->pass->diags, c->span, D_move_outside, buffer->name, how,
                   loop->u.loop.var->name);
        return sched_blame(c, both, 2, "the loop, and the other stage");
    }
    return true;
}
