// Calls of schedules: primitives, defs and functions.

#include "ir/arith.h"
#include "ir/base/suggest.h"
#include "passes/schedule/interpret/interpret.h"
#include "passes/schedule/rings.h"

#include <string.h>

// A function on integers, or on a list of them.
struct function {
    const char *name;
    enum ir_op op; // applied from the left; OP_const for `len`
};

static const struct function functions[] = {
#define NUMBERS(name, op, form, returns) {#name, OP_##op},
#include "passes/schedule/interpret/functions.def"
#undef NUMBERS
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

// What the name of a call stands for: the first of these that there is.
struct interp_callee {
    const struct sched_item *def;
    enum sched_prim prim;
    const struct function *function;
    const struct interp_function *look;
};

// Return the primitive of that name, or PRIM_COUNT.
static enum sched_prim find_prim(const char *name)
{
    for (int i = 0; i < PRIM_COUNT; i++)
        if (strcmp(sched_prim_info((enum sched_prim)i)->name, name) == 0)
            return (enum sched_prim)i;
    return PRIM_COUNT;
}

// Return the function of that name, or NULL.
static const struct function *find_function(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

bool interp_operation(const char *name, enum ir_op *op)
{
    const struct function *f = find_function(name);
    if (f)
        *op = f->op;
    return f && f->op != OP_const;
}

const struct interp_function *interp_look(const char *name)
{
    size_t n;
    const struct interp_function *all = interp_functions(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

// Report a name that nothing callable has.
static bool refuse_unknown(struct interp *in, const struct sched_expr *x)
{
    struct suggest s = {.wanted = x->name};
    for (int i = 0; i < PRIM_COUNT; i++)
        suggest_offer(&s, sched_prim_info((enum sched_prim)i)->name);
    for (const struct sched_program *p = in->program; p; p = p->fallback)
        for (size_t i = 0; i < p->defs.n; i++)
            suggest_offer(&s, p->defs.at[i]->name.text);
    for (int i = 0; i < FUNCTIONS; i++)
        suggest_offer(&s, functions[i].name);
    size_t looks;
    const struct interp_function *all = interp_functions(&looks);
    for (size_t i = 0; i < looks; i++)
        suggest_offer(&s, all[i].name);
    diag_error(in->pass->diags, x->span, D_schedule_unknown_function, x->name);
    return suggest_help(in->pass->diags, &s);
}

// Report a wrong number of arguments; `most` < 0 if there is no limit.
static bool refuse_count(struct interp *in, const struct sched_expr *x,
                         int64_t least, int64_t most, size_t given)
{
    const char *wanted =
        most < 0 ? arena_printf(in->pass->scratch, "at least %lld arguments",
                                (long long)least)
        : most > least
            ? arena_printf(in->pass->scratch, "%lld to %lld arguments",
                           (long long)least, (long long)most)
            : arena_printf(in->pass->scratch, "%lld argument%s",
                           (long long)most, most == 1 ? "" : "s");
    diag_error(in->pass->diags, x->span, D_schedule_argument_count, x->name,
               wanted, (long long)given);
    enum sched_prim prim = find_prim(x->name);
    if (prim < PRIM_COUNT) {
        const struct sched_prim_info *info = sched_prim_info(prim);
        diag_help(in->pass->diags, "%s: %s  =>  %s%s%s", info->name,
                  info->before, info->after, *info->results ? "; returns " : "",
                  info->results);
    }
    return false;
}

// Return whether the mark behind the last letter lets it come again.
static bool repeats(char mark)
{
    return mark == '+' || mark == '*';
}

// Return the letter of argument `i` of a signature, or 0 behind the last.
static char letter_of(const char *signature, size_t i)
{
    size_t n = strcspn(signature, "+?*");
    if (i < n)
        return signature[i];
    return repeats(signature[n]) ? signature[n - 1] : 0;
}

// Return whether a value is of the kind that a letter asks for.
static bool fits(char letter, enum sched_value_kind kind)
{
    switch (letter) {
    case 'l': return kind == VALUE_loop;
    case 's': return kind == VALUE_stage;
    case 't': return kind == VALUE_loop || kind == VALUE_stage;
    case 'i': return kind == VALUE_int;
    case 'f': return kind == VALUE_int || kind == VALUE_any;
    case 'x': return kind == VALUE_axis;
    case 'a': return kind == VALUE_array || kind == VALUE_stage;
    case 'o': return kind == VALUE_space;
    case 'L': return kind == VALUE_list;
    case 'n': return kind == VALUE_list || kind == VALUE_loop;
    case 'm': return kind == VALUE_map;
    case 'q': return kind == VALUE_text;
    case 'e': return kind == VALUE_form;
    case 'g': return kind == VALUE_expr;
    default: return kind == VALUE_key;
    }
}

const char *sched_argument_text(char letter)
{
    switch (letter) {
    case 'l': return "a loop";
    case 's': return "a stage";
    case 't': return "a loop or a stage";
    case 'i': return "an integer";
    case 'f': return "an integer or `_`";
    case 'x': return "an axis, such as thread.x";
    case 'a': return "an array";
    case 'o': return "a memory: shared, local, global or constant";
    case 'L': return "a list";
    case 'n': return "a loop or a list of loops";
    case 'q': return "a text in quotes";
    case 'e': return "a value of the stage";
    case 'm': return "an index map, such as (i, j) -> (j, i)";
    case 'g': return "a condition on sizes, as behind `when`";
    default: return "a bare name";
    }
}

bool interp_check_alive(struct interp *in, const struct sched_value *v,
                        struct span span)
{
    if ((v->kind != VALUE_loop && v->kind != VALUE_stage) ||
        sched_path(in->pass, v->stmt).n)
        return true;
    diag_error(in->pass->diags, span, D_schedule_stale,
               v->kind == VALUE_loop ? "loop" : "stage",
               sched_name_of(v->stmt));
    vec_foreach(c, &in->consumed)
        if (c->stmt == v->stmt)
            diag_note(in->pass->diags, c->span, "`%s` replaced it here",
                      sched_prim_info(c->prim)->name);
    return false;
}

// Append a value; a list is spread.
static bool spread(struct interp *in, const struct sched_value *v,
                   struct sched_values *out)
{
    bool ok = interp_enter(in, v->span);
    if (ok && v->kind != VALUE_list)
        vec_push(in->pass->scratch, out, *v);
    for (size_t i = 0; ok && i < v->list.n; i++)
        ok = spread(in, &v->list.at[i], out);
    interp_leave(in);
    return ok;
}

// Find an axis that is named by one word.  `vthread` is vthread.x, or what
// `bind` makes of it.
static bool find_bare_axis(const char *name, enum axis *out)
{
    *out = AXIS_vthread_x;
    return strcmp(name, "vthread") == 0 ||
           (axis_find(name, out) && axis_kind(*out) == AXIS_THREAD);
}

// Return how many arguments a signature asks for at least.
static size_t least_of(const char *signature)
{
    size_t n = strcspn(signature, "+?*");
    return n - strspn(signature + n, "?*");
}

// Return whether argument `i` of a signature is one loop: not the first of
// those that may come again.
static bool wants_loop(const char *signature, size_t i)
{
    size_t n = strcspn(signature, "+?*");
    size_t end = i < n ? i + strspn(signature + i, "lt") : i;
    return end > i && !repeats(signature[end]);
}

// Evaluate the arguments of a primitive. Lists are spread; but if there are as
// many arguments as it takes, a list of loops in the place of one stands for
// the loop that fuses them.
static bool eval_spread(struct interp *in, const struct sched_expr *x,
                        const char *signature, struct sched_values *out)
{
    bool is_complete = x->args.n >= least_of(signature);
    vec_foreach_value(arg, &x->args) {
        struct sched_value v = {.kind = VALUE_key, .span = arg->span};
        v.key = arg->name;
        char letter = letter_of(signature, out->n);
        bool is_name = arg->kind == SCHED_name;
        if (letter == 'e' && out->n && out->at[0].kind == VALUE_stage) {
            if (!interp_form(in, out->at[0].stmt, arg, &v))
                return false;
        } else if (letter == 'o' && is_name && space_find(arg->name, &v.space))
            v.kind = VALUE_space;
        else if (letter == 'x' && is_name && !interp_get(in, arg->name) &&
                 find_bare_axis(arg->name, &v.axis))
            v.kind = VALUE_axis;
        else if (!(letter == 'k' && is_name) && !interp_expr(in, arg, &v))
            return false;
        bool is_one = is_complete && wants_loop(signature, out->n);
        if (!interp_nest(in, is_one, &v))
            return false;
        if (!spread(in, &v, out))
            return false;
    }
    return true;
}

// Check the arguments of a primitive against its signature.
static bool check_args(struct interp *in, const struct sched_expr *x,
                       const char *signature, const struct sched_values *args)
{
    size_t n = strcspn(signature, "+?*"), least = least_of(signature);
    if (args->n < least || (args->n > n && !repeats(signature[n])))
        return refuse_count(in, x, (int64_t)least,
                            repeats(signature[n]) ? -1 : (int64_t)n, args->n);
    for (size_t i = 0; i < args->n; i++) {
        const struct sched_value *v = &args->at[i];
        char letter = letter_of(signature, i);
        if (!fits(letter, v->kind))
            return diag_error(in->pass->diags, v->span,
                              D_schedule_argument_kind, (long long)i + 1,
                              x->name, sched_argument_text(letter),
                              interp_kind(v->kind));
        if (!interp_check_alive(in, v, v->span))
            return false;
    }
    return true;
}

// Remember which arguments a primitive has replaced.
static void note_consumed(struct interp *in, const struct sched_call *c)
{
    vec_foreach(v, &c->args) {
        struct sched_consumed gone = {v->stmt, c->span, c->prim};
        if ((v->kind == VALUE_loop || v->kind == VALUE_stage) &&
            !sched_path(in->pass, v->stmt).n)
            vec_push(in->pass->scratch, &in->consumed, gone);
    }
}

// Run a primitive, and check the rings that it may have changed, unless that is done once
// all has run.  The first `pipeline` has looked at the only ones.
static bool run_checked(struct interp *in, struct sched_call *c)
{
    bool has_rings =
        in->is_last ? schedule_has_rings(c->pass) : in->size.has_rings;
    c->is_late = in->is_late;
    if (in->is_late)
        return sched_run(c);
    bool looks = has_rings && schedule_rings_concern(c, &c->args);
    c->has_checked_rings = in->has_checked_rings;
    if (!sched_run(c))
        return false;
    looks = looks || (has_rings && (schedule_rings_concern(c, &c->args) ||
                                    schedule_rings_concern(c, &c->results)));
    bool is_first = c->prim == PRIM_pipeline && !has_rings;
    in->has_checked_rings =
        looks || is_first ||
        (in->has_checked_rings && schedule_keeps_rings(c->prim));
    return !looks || schedule_verify_rings(c);
}

bool interp_run(struct interp *in, struct sched_call *c, struct span span)
{
    c->is_independent = interp_proven_call(in, c);
    bool checks_size = !in->is_last && !in->is_late;
    if (!run_checked(in, c) || (checks_size && !interp_check_size(in, c)))
        return false;
    interp_proven_after(in, c);
    note_consumed(in, c);
    if (!in->is_last)
        interp_origins_note(in, span);
    return true;
}

// Evaluate the condition behind a call of `print`, which stands last.
static bool eval_guard(struct interp *in, const struct sched_expr *x,
                       struct sched_call *c)
{
    struct sched_value v;
    if (in->prints && c->prim != PRIM_print)
        return diag_error(in->pass->diags, x->span, D_print_last, x->name);
    in->prints |= c->prim == PRIM_print;
    if (!x->guard)
        return true;
    bool ok = interp_form(in, sched_arg(c, 0), x->guard, &v);
    c->guard = ok ? v.expr : NULL;
    return ok;
}

// Return the place of a directive: in a rule that no text names, of the statement
// that it is about.
static struct span place_of(const struct interp *in, const struct sched_call *c)
{
    vec_foreach(v, &c->args)
        if (in->is_last && v->stmt)
            return v->stmt->span;
    return c->span;
}

// Call a primitive.
static bool call_prim(struct interp *in, const struct sched_expr *x,
                      enum sched_prim prim, struct sched_value *out)
{
    struct sched_call c = {.pass = in->pass, .prim = prim, .span = x->span};
    const char *signature = sched_prim_info(prim)->arguments;
    if (in->keeps)
        return diag_error(in->pass->diags, x->span, D_rule_changes, x->name);
    if (!eval_spread(in, x, signature, &c.args) ||
        !check_args(in, x, signature, &c.args) || !eval_guard(in, x, &c))
        return false;
    c.span = place_of(in, &c);
    if (!interp_run(in, &c, x->span))
        return false;
    *out = (struct sched_value){.span = x->span, .list = c.results};
    if (c.results.n == 1)
        *out = c.results.at[0];
    else if (c.results.n)
        out->kind = VALUE_list;
    return true;
}

// Call one of the functions.
static bool call_function(struct interp *in, const struct sched_expr *x,
                          const struct function *f, struct sched_value *out)
{
    struct sched_values args = {0};
    const char *fault = NULL;
    if (!eval_spread(in, x, "i", &args))
        return false;
    *out = (struct sched_value){.kind = VALUE_int, .span = x->span};
    out->number = (int64_t)args.n;
    if (f->op == OP_const)
        return true;
    if (args.n < 2)
        return refuse_count(in, x, 2, -1, args.n);
    for (size_t i = 0; i < args.n; i++) {
        const struct sched_value *v = &args.at[i];
        union number pair[3] = {{.i = out->number}, {.i = v->number}};
        if (!fits('i', v->kind))
            return diag_error(in->pass->diags, v->span, D_schedule_not_integer,
                              "an argument", interp_kind(v->kind));
        out->number = i ? ir_apply(f->op, type_scalar(TYPE_int), pair, &fault).i
                        : v->number;
    }
    if (fault)
        diag_error(in->pass->diags, x->span, D_schedule_arithmetic, fault);
    return !fault;
}

// Evaluate a condition as one behind `when`.
static bool size_of(struct interp *in, const struct sched_expr *x,
                    struct sched_value *out)
{
    *out = (struct sched_value){.kind = VALUE_expr, .span = x->span};
    out->expr = interp_guard(in, x);
    return out->expr != NULL;
}

// Call a look-up, or another function on values.
static bool call_look(struct interp *in, const struct sched_expr *x,
                      const struct interp_function *f, struct sched_value *out)
{
    struct sched_values args = {0};
    for (size_t i = 0; i < x->args.n; i++) {
        struct sched_value v;
        bool is_size = letter_of(f->arguments, i) == 'g';
        if (!(is_size ? size_of : interp_expr)(in, x->args.at[i], &v))
            return false;
        vec_push(in->pass->scratch, &args, v);
    }
    *out = (struct sched_value){.span = x->span};
    in->looking = x;
    return check_args(in, x, f->arguments, &args) && f->run(in, &args, out);
}

// Check that a def is not running already.
static bool check_recursion(struct interp *in, const struct sched_expr *x,
                            const struct sched_item *def)
{
    for (const struct sched_frame *f = in->frame; f; f = f->caller) {
        if (f->item != def)
            continue;
        diag_error(in->pass->diags, x->span, D_schedule_recursion,
                   def->name.text);
        return diag_note(in->pass->diags, def->name.span,
                         "`%s` is defined here", def->name.text);
    }
    return true;
}

// Check that a def has as many parameters as a call gives, and is not running.
static bool check_call(struct interp *in, const struct sched_expr *x,
                       const struct sched_item *def)
{
    size_t least = sched_least_arguments(def);
    if (x->args.n < least || x->args.n > def->params.n)
        return refuse_count(in, x, (int64_t)least, (int64_t)def->params.n,
                            x->args.n);
    return check_recursion(in, x, def);
}

bool interp_bind(struct interp *in, const struct sched_expr *x,
                 struct sched_frame *frame, interp_evaluate *evaluate)
{
    const struct sched_item *def = frame->item;
    struct sched_frame *caller = in->frame;
    bool ok = check_call(in, x, def);
    for (size_t i = 0; i < def->params.n && ok; i++) {
        const struct sched_parameter *param = &def->params.at[i];
        struct sched_value v;
        in->frame = i < x->args.n ? caller : frame;
        ok = evaluate(in, i < x->args.n ? x->args.at[i] : param->initial, &v);
        in->frame = frame;
        if (ok)
            interp_set(in, param->name.text, &v);
    }
    in->frame = caller;
    return ok;
}

// Call a def.
static bool call_def(struct interp *in, const struct sched_expr *x,
                     const struct sched_item *def, struct sched_value *out)
{
    struct sched_frame frame = {
        .item = def, .caller = in->frame, .call = x->span};
    if (!interp_bind(in, x, &frame, interp_expr))
        return false;
    struct sched_frame *caller = in->frame;
    in->frame = &frame;
    int errors = in->pass->diags->errors;
    bool ok = interp_block(in, &def->body);
    in->frame = caller;
    if (!ok && in->pass->diags->errors > errors && x->span.source &&
        !in->is_last)
        diag_note(in->pass->diags, x->span, "called from here");
    *out = frame.result;
    out->span = x->span;
    return ok;
}

// Find what a name stands for; all NULL and PRIM_COUNT if it stands for nothing.
static const struct interp_callee *find_callee(struct interp *in,
                                               const char *name)
{
    struct interp_callee *found = map_get(&in->callees, name);
    if (found)
        return found;
    found = arena_new(in->pass->arena, struct interp_callee);
    *found = (struct interp_callee){sched_find_def(in->program, name),
                                    find_prim(name), find_function(name),
                                    interp_look(name)};
    in->callees.arena = in->pass->arena;
    map_set(&in->callees, name, found);
    return found;
}

bool interp_call(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out)
{
    const struct interp_callee *callee = find_callee(in, x->name);
    if (callee->def)
        return call_def(in, x, callee->def, out);
    if (callee->prim < PRIM_COUNT)
        return call_prim(in, x, callee->prim, out);
    if (callee->function)
        return call_function(in, x, callee->function, out);
    if (callee->look)
        return call_look(in, x, callee->look, out);
    return refuse_unknown(in, x);
}
