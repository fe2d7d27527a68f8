// Names of schedules: assigned values, stages, loops and axes.

#include "ir/base/suggest.h"
#include "ir/walk.h"
#include "passes/schedule/interpret/interpret.h"

#include <string.h>

void interp_set(struct interp *in, const char *name,
                const struct sched_value *value)
{
    for (size_t i = 0; i < in->frame->names.n; i++) {
        if (in->frame->names.at[i].name == name) {
            in->frame->names.at[i].value = *value;
            return;
        }
    }
    struct sched_binding b = {name, *value};
    vec_push(in->pass->scratch, &in->frame->names, b);
}

const struct sched_value *interp_get(const struct interp *in, const char *name)
{
    for (size_t i = 0; i < in->frame->names.n; i++)
        if (in->frame->names.at[i].name == name)
            return &in->frame->names.at[i].value;
    return NULL;
}

bool interp_static(const struct interp *in, const char *name,
                   struct sched_value *out)
{
    if (in->frame->caller)
        return false;
    vec_foreach(s, &in->pass->kernel->statics) {
        if (s->name != name)
            continue;
        bool is_number = s->kind == STATIC_int || s->kind == STATIC_flag;
        out->kind = is_number ? VALUE_int : VALUE_key;
        out->number = s->number;
        out->key = s->word;
        return true;
    }
    return false;
}

// A look for a stage.
struct stage_search {
    const char *name;
    struct ir_stmt *stage; // of that name
    struct ir_stmt *store; // the first one to an array of that name
    struct suggest suggest;
};

// Look for a stage, or else for a store, of that name.
static struct stage_search find_stage(struct interp *in, const char *name)
{
    struct stage_search f = {.name = name, .suggest = {.wanted = name}};
    ir_foreach_stmt(s, &in->pass->kernel->body) {
        if (s->kind != STMT_stage && s->kind != STMT_store)
            continue;
        struct ir_stmt **found = s->kind == STMT_stage ? &f.stage : &f.store;
        const char *own = sched_name_of(s);
        suggest_offer(&f.suggest, own);
        if (strcmp(own, name) == 0 && !*found)
            *found = s;
    }
    return f;
}

// Make a value of a stage or a loop.
static bool give(struct sched_value *out, enum sched_value_kind kind,
                 struct ir_stmt *stmt, struct span span)
{
    *out = (struct sched_value){.kind = kind, .span = span, .stmt = stmt};
    return true;
}

// Say how a loop is named whose own name stands alone; false if there is none.
static bool help_loop(struct interp *in, const char *name)
{
    ir_foreach_stmt(s, &in->pass->kernel->body) {
        if (s->kind != STMT_stage)
            continue;
        struct ir_block loops = sched_loops(in->pass, s);
        for (size_t i = 0; i < loops.n; i++)
            if (strcmp(sched_name_of(loops.at[i]), name) == 0)
                return diag_help(in->pass->diags,
                                 "a loop is named by its stage: `%s.%s`",
                                 sched_name_of(s), name),
                       true;
    }
    return false;
}

bool interp_name(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out)
{
    const struct sched_value *v = interp_get(in, x->name);
    if (v) {
        *out = *v;
        out->span = x->span;
        return true;
    }
    *out = (struct sched_value){.span = x->span};
    if (interp_static(in, x->name, out))
        return true;
    struct stage_search f = find_stage(in, x->name);
    struct ir_stmt *stage = f.stage ? f.stage : f.store;
    if (stage)
        return give(out, VALUE_stage, stage, x->span);
    *out = (struct sched_value){.kind = VALUE_array, .span = x->span};
    out->buffer = sched_find_buffer(in->pass, x->name);
    if (out->buffer)
        return true;
    for (size_t i = 0; i < in->frame->names.n; i++)
        suggest_offer(&f.suggest, in->frame->names.at[i].name);
    diag_error(in->pass->diags, x->span, D_schedule_unknown_name, x->name);
    if (!help_loop(in, x->name))
        suggest_help(in->pass->diags, &f.suggest);
    return false;
}

// A look for a loop around a stage.
struct loop_search {
    struct interp *in;
    const struct ir_stmt *stage; // or a store: all stores to its array count
    const char *name;
    struct ir_stmt *found;
    bool ambiguous;
    struct suggest suggest;
};

// Look for the loop around one statement.
static void look_around(struct loop_search *f, struct ir_stmt *s)
{
    bool counts = s == f->stage ||
                  (f->stage->kind == STMT_store && s->kind == STMT_store &&
                   s->u.store.buffer == f->stage->u.store.buffer);
    if (!counts)
        return;
    struct ir_block loops = sched_loops(f->in->pass, s);
    for (size_t i = 0; i < loops.n; i++) {
        const char *name = sched_name_of(loops.at[i]);
        suggest_offer(&f->suggest, name);
        if (strcmp(name, f->name) != 0)
            continue;
        f->ambiguous |= f->found && f->found != loops.at[i];
        f->found = loops.at[i];
    }
}

void interp_loops(struct interp *in, const struct sched_value *stage,
                  struct sched_value *out)
{
    struct ir_block loops = sched_loops(in->pass, stage->stmt);
    out->kind = VALUE_list;
    for (size_t i = 0; i < loops.n; i++) {
        struct sched_value v;
        give(&v, VALUE_loop, loops.at[i], out->span);
        vec_push(in->pass->scratch, &out->list, v);
    }
}

// Return the iteration variable that a loop counts, as a stage's index; NULL if
// it counts none or several.
static const char *counted(const struct ir_stmt *stage,
                           const struct ir_stmt *loop)
{
    const char *name = NULL;
    if (stage->kind != STMT_stage)
        return NULL;
    vec_foreach(it, &stage->u.stage.iters) {
        if (!ir_mentions(it->binding, loop->u.loop.var))
            continue;
        if (name)
            return NULL;
        name = it->var->name;
    }
    return name;
}

// Say which loops there are around a stage, and what they count.
static void help_loops(struct interp *in, const struct ir_stmt *stage)
{
    struct buf text = {0};
    const char *base = sched_name_of(stage);
    struct ir_block loops = sched_loops(in->pass, stage);
    for (size_t i = 0; i < loops.n; i++) {
        const char *of = counted(stage, loops.at[i]);
        buf_printf(&text, "%s`%s.%s`", i ? ", " : "", base,
                   sched_name_of(loops.at[i]));
        if (of)
            buf_printf(&text, " (of `%s`)", of);
    }
    if (loops.n)
        diag_help(in->pass->diags, "the loops around it: %s", text.data);
    buf_free(&text);
}

// Evaluate `stage.name`.
static bool find_member(struct interp *in, const struct sched_value *stage,
                        const struct sched_expr *x, struct sched_value *out)
{
    const char *base = sched_name_of(stage->stmt);
    const char *whole = arena_printf(in->pass->scratch, "%s.%s", base, x->name);
    struct ir_stmt *part = find_stage(in, whole).stage;
    struct loop_search f = {.in = in, .stage = stage->stmt, .name = x->name};
    if (part)
        return give(out, VALUE_stage, part, x->span);
    f.suggest.wanted = x->name;
    ir_foreach_stmt(t, &in->pass->kernel->body)
        look_around(&f, t);
    if (f.found && !f.ambiguous)
        return give(out, VALUE_loop, f.found, x->span);
    if (f.ambiguous)
        return diag_error(in->pass->diags, x->span, D_schedule_ambiguous, base,
                          x->name);
    diag_error(in->pass->diags, x->span, D_schedule_unknown_member,
               arena_printf(in->pass->scratch, "`%s`", base), x->name);
    suggest_help(in->pass->diags, &f.suggest);
    help_loops(in, stage->stmt);
    return false;
}

// Return whether `base.name` is about an axis, such as thread.x.
static bool is_axis(struct interp *in, const struct sched_expr *base)
{
    return base->kind == SCHED_name && !interp_get(in, base->name) &&
           (strcmp(base->name, "block") == 0 ||
            strcmp(base->name, "cluster") == 0 ||
            strcmp(base->name, "thread") == 0 ||
            strcmp(base->name, "vthread") == 0);
}

// Evaluate an axis.
static bool eval_axis(struct interp *in, const struct sched_expr *x,
                      struct sched_value *out)
{
    const char *base = x->args.at[0]->name;
    *out = (struct sched_value){.kind = VALUE_axis, .span = x->span};
    if (axis_find(arena_printf(in->pass->scratch, "%s.%s", base, x->name),
                  &out->axis))
        return true;
    return diag_error(in->pass->diags, x->span, D_bind_axis, base, x->name);
}

bool interp_member(struct interp *in, const struct sched_expr *x,
                   struct sched_value *out)
{
    struct sched_value base;
    if (is_axis(in, x->args.at[0]))
        return eval_axis(in, x, out);
    if (!interp_expr(in, x->args.at[0], &base))
        return false;
    if (base.kind != VALUE_stage)
        return diag_error(in->pass->diags, base.span, D_schedule_unknown_member,
                          interp_kind(base.kind), x->name);
    if (!interp_check_alive(in, &base, base.span))
        return false;
    *out = (struct sched_value){.span = x->span};
    if (strcmp(x->name, "loops") == 0) {
        interp_loops(in, &base, out);
        return true;
    }
    return find_member(in, &base, x, out);
}
