// Runs schedules: statements, parameters, guards.

#include "passes/schedule/schedule.h"

#include "passes/schedule/interpret/interpret.h"
#include "passes/schedule/verify.h"

#include <string.h>

enum { STEPS_MOST = 1000000, DEEPEST = 400 };

bool interp_steps(struct interp *in, struct span span, size_t n)
{
    in->steps += (int64_t)n;
    if (in->steps <= STEPS_MOST)
        return true;
    return diag_error(in->pass->diags, span, D_schedule_too_long,
                      (long long)STEPS_MOST);
}

bool interp_enter(struct interp *in, struct span span)
{
    if (in->depth++ < DEEPEST)
        return interp_steps(in, span, 1);
    return diag_error(in->pass->diags, span, D_too_deep, (long long)DEEPEST);
}

void interp_leave(struct interp *in)
{
    in->depth--;
}

// Report that what is assigned is no value.
static bool refuse_nothing(struct interp *in, const struct sched_stmt *s)
{
    diag_error(in->pass->diags, s->value->span, D_schedule_no_value);
    return diag_help(in->pass->diags,
                     "leave `%s =` out: the loops keep their names",
                     s->names.at[0].text);
}

// Report that the call on the right gives another number of values.
static bool refuse_tuple(struct interp *in, const struct sched_stmt *s,
                         size_t n)
{
    diag_error(in->pass->diags, s->span, D_schedule_tuple,
               (long long)s->names.n, (long long)n);
    if (s->value->kind == SCHED_call && strcmp(s->value->name, "split") == 0)
        diag_help(in->pass->diags,
                  "`split` gives a loop for each factor, `_` among "
                  "them, outermost first");
    return false;
}

// Run `names = value`.
static bool run_assign(struct interp *in, const struct sched_stmt *s)
{
    struct sched_value v;
    const struct sched_stmt *around = in->assigning;
    in->assigning = s;
    bool ok = interp_expr(in, s->value, &v);
    in->assigning = around;
    if (!ok)
        return false;
    if (v.kind == VALUE_none)
        return refuse_nothing(in, s);
    if (s->names.n > 1 && (v.kind != VALUE_list || v.list.n != s->names.n)) {
        return refuse_tuple(in, s, v.kind == VALUE_list ? v.list.n : 1);
    }
    for (size_t i = 0; i < s->names.n; i++) {
        const char *name = s->names.at[i].text;
        if (strcmp(name, "_") != 0)
            interp_set(in, name, s->names.n > 1 ? &v.list.at[i] : &v);
    }
    return true;
}

// Run a loop over a list.
static bool run_for(struct interp *in, const struct sched_stmt *s)
{
    struct sched_value v;
    if (!interp_expr(in, s->value, &v))
        return false;
    if (v.kind != VALUE_list)
        return diag_error(in->pass->diags, s->value->span, D_schedule_not_list,
                          "`for`", interp_kind(v.kind));
    for (size_t i = 0; i < v.list.n && !in->frame->returned; i++) {
        interp_set(in, s->names.at[0].text, &v.list.at[i]);
        if (!interp_block(in, &s->body))
            return false;
    }
    return true;
}

// Run a branch.
static bool run_if(struct interp *in, const struct sched_stmt *s)
{
    int64_t condition;
    return interp_int(in, s->value, "a condition", &condition) &&
           interp_block(in, condition ? &s->body : &s->otherwise);
}

// Run `return`.
static bool run_return(struct interp *in, const struct sched_stmt *s)
{
    if (!in->frame->caller)
        return diag_error(in->pass->diags, s->span, D_schedule_return);
    in->frame->returned = true;
    return !s->value || interp_expr(in, s->value, &in->frame->result);
}

// Run a statement, by its kind.
static bool run_stmt(struct interp *in, const struct sched_stmt *s)
{
    struct sched_value ignored;
    switch (s->kind) {
    case SCHED_assign: return run_assign(in, s);
    case SCHED_eval: return interp_expr(in, s->value, &ignored);
    case SCHED_for: return run_for(in, s);
    case SCHED_if: return run_if(in, s);
    case SCHED_return: return run_return(in, s);
    case SCHED_contract: return interp_contract(in, s);
    case SCHED_tune:
    case SCHED_set:
        return diag_error(in->pass->diags, s->span, D_schedule_tune_late);
    }
    return false;
}

bool interp_block(struct interp *in, const struct sched_block *block)
{
    for (size_t i = 0; i < block->n && !in->frame->returned; i++) {
        const struct sched_stmt *s = block->at[i];
        bool ok = interp_enter(in, s->span) && run_stmt(in, s);
        interp_leave(in);
        if (!ok)
            return false;
    }
    return true;
}

const struct sched_setting *interp_setting(const struct interp *in,
                                           const char *name)
{
    for (size_t i = in->n_settings; i-- > 0;)
        if (strcmp(in->settings[i].name, name) == 0)
            return &in->settings[i];
    vec_foreach(one, &in->own)
        if (strcmp(one->name, name) == 0)
            return one;
    return NULL;
}

// Give a parameter of the schedule its setting or its default.
static bool set_param(struct interp *in, const struct sched_parameter *param)
{
    struct sched_value v = {.kind = VALUE_int, .span = param->name.span};
    const struct sched_setting *s = interp_setting(in, param->name.text);
    if (!s && !param->initial)
        return diag_error(in->pass->diags, param->name.span,
                          D_schedule_no_default, param->name.text);
    if (s)
        v.number = s->value;
    else if (!interp_expr(in, param->initial, &v))
        return false;
    interp_set(in, param->name.text, &v);
    return true;
}

// Return the guard of a schedule; NULL after an error.
static struct ir_expr *find_guard(struct interp *in,
                                  const struct sched_item *schedule)
{
    struct ir_expr *known = interp_known(in, schedule);
    if (known)
        return interp_here(in, known);
    in->keeps = true;
    struct ir_expr *x = interp_guard(in, schedule->guard);
    in->keeps = false;
    interp_know(in, schedule, x);
    return x;
}

// Give the parameters and the knobs that the body begins with their values,
// and find the guard; NULL if there is none.
static bool run_header(struct interp *in, size_t *tunes, struct ir_expr **guard)
{
    const struct sched_item *schedule = in->frame->item;
    bool is_part = in->pass->kernel->family || schedule->rule;
    *guard = NULL;
    for (size_t i = 0; i < schedule->params.n; i++)
        if (!set_param(in, &schedule->params.at[i]))
            return false;
    if (!interp_knobs(in, &schedule->body, tunes))
        return false;
    if (!schedule->guard)
        return true;
    struct ir_expr *x = *guard = find_guard(in, schedule);
    if (x && x->op == OP_const && is_part && x->u.i)
        *guard = NULL;
    if (!x || x->type.kind == TYPE_bool)
        return x != NULL;
    return diag_error(in->pass->diags, schedule->guard->span, D_schedule_guard,
                      "it is not a condition");
}

// Open the frame of a schedule: of a case of a rule with the names of the rule.
static bool open_frame(struct interp *in, const struct sched_item *schedule,
                       struct sched_frame *outer, struct sched_frame *inner)
{
    *outer = (struct sched_frame){.item = schedule};
    in->frame = outer;
    return !schedule->rule || interp_rule(in, schedule, inner);
}

bool schedule_guard(struct pass *p, const struct sched_program *program,
                    const struct sched_item *schedule,
                    const struct sched_setting *settings, size_t n,
                    struct ir_expr **guard)
{
    struct sched_frame outer, inner;
    struct interp in = {.pass = p,
                        .program = program,
                        .settings = settings,
                        .n_settings = n,
                        .quiet = true};
    size_t tunes;
    return open_frame(&in, schedule, &outer, &inner) &&
           run_header(&in, &tunes, guard);
}

bool schedule_excludes(const struct ir_kernel *kernel,
                       const struct sched_item *schedule,
                       const struct ir_expr *guard)
{
    return (kernel->family || schedule->rule) && guard &&
           guard->op == OP_const && !guard->u.i;
}

// Run what stands behind the knobs of a schedule.
static bool run_body(struct interp *in, const struct sched_item *schedule,
                     size_t tunes)
{
    struct sched_block rest = {schedule->body.at + tunes,
                               schedule->body.n - tunes,
                               schedule->body.n - tunes};
    return interp_block(in, &rest);
}

// Return the call of a rule without arguments.
static struct sched_expr *call_of(struct pass *p, const char *rule)
{
    struct sched_expr *by = arena_new(p->scratch, struct sched_expr);
    by->kind = SCHED_call;
    by->name = rule;
    by->span = p->kernel->span;
    return by;
}

bool interp_last(struct pass *p, const struct sched_program *program,
                 const char *rule, size_t which,
                 const struct sched_settings *settings)
{
    const char *name = str_name(p->names, rule);
    struct sched_item schedule = {.name = {name, p->kernel->span},
                                  .by = call_of(p, name)};
    struct sched_frame outer, inner;
    struct sched_items cases = {0};
    struct ir_expr *guard;
    size_t tunes;
    while (program->fallback)
        program = program->fallback;
    struct interp in = {.pass = p,
                        .program = program,
                        .settings = settings->at,
                        .n_settings = settings->n,
                        .is_last = true};
    sched_add_cases(p->scratch, &schedule,
                    sched_find_item(&program->rules, name), &cases);
    return open_frame(&in, cases.at[which], &outer, &inner) &&
           run_header(&in, &tunes, &guard) &&
           run_body(&in, cases.at[which], tunes);
}

bool schedule_apply(struct pass *p, const struct sched_program *program,
                    const struct sched_item *schedule,
                    const struct sched_setting *settings, size_t n,
                    struct sched_outcome *outcome)
{
    struct sched_frame outer, inner;
    struct interp in = {.pass = p,
                        .program = program,
                        .settings = settings,
                        .n_settings = n,
                        .is_late = schedule->is_planned};
    struct ir_expr *guard;
    size_t tunes;
    in.size = interp_size_of(&in);
    if (!open_frame(&in, schedule, &outer, &inner) ||
        !run_header(&in, &tunes, &guard))
        return false;
    if (guard)
        vec_push(p->arena, &p->kernel->guard, guard);
    interp_origins_begin(&in);
    struct sched_call last = {.pass = p, .span = schedule->name.span};
    bool ok = run_body(&in, schedule, tunes) && interp_knobs_end(&in) &&
              (!in.is_late || interp_check_size(&in, &last)) &&
              schedule_verify(p, schedule, in.has_checked_rings);
    if (outcome)
        *outcome = (struct sched_outcome){in.knobs, in.contracts, in.required};
    return ok;
}
