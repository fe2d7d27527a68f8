// Weights: what grows and shrinks with the greatest element of its row.

#include "passes/schedule/common/weights.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/stage.h"
#include "passes/opt/fold.h"
#include "passes/schedule/common/move.h"

#include <float.h>

// A look at what a stage computes.
struct look {
    struct weights *w;
    const struct ir_stage *stage;
    struct facts facts;
    struct weight_use use;
    const char *wrong; // or NULL
};

bool weights_start(struct weights *w, struct pass *p,
                   const struct ir_stmt *greatest)
{
    struct reducer r;
    *w = (struct weights){.pass = p, .op = OP_COUNT};
    if (greatest->kind != STMT_stage ||
        !reducer_find(p, &greatest->u.stage, &r) || r.kind != REDUCER_operation)
        return false;
    const struct ir_stmt *store = r.values[0].store;
    w->stage = &greatest->u.stage;
    w->greatest = store->u.store.buffer;
    w->index = store->u.store.index;
    w->element = reducer_operand(&r, 0);
    vec_foreach(it, &w->stage->iters)
        if (it->is_reduce && w->column)
            return false;
        else if (it->is_reduce)
            w->column = it;
    return w->column && store->u.store.value->op == OP_max &&
           (w->element->type.kind == TYPE_f32 ||
            w->element->type.kind == TYPE_f64) &&
           w->stage->iters.n == w->greatest->rank + 1;
}

// Return the weights that an array has, or NULL.
static const struct weight *weight_of(const struct weights *w,
                                      const struct ir_buffer *array)
{
    vec_foreach(x, &w->arrays)
        if (x->array == array)
            return x;
    return NULL;
}

// Return whether an expression is an element of the arrays in question.
static bool is_one(const struct weights *w, const struct ir_expr *x)
{
    return x->op == OP_load &&
           (x->u.buffer == w->greatest || weight_of(w, x->u.buffer));
}

// Return whether an expression mentions one.
static bool mentions(const struct weights *w, const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (is_one(w, x))
            return true;
    return false;
}

bool weights_read(const struct weights *w, const struct ir_stmt *s)
{
    ir_foreach_expr_from(x, s)
        if (is_one(w, x))
            return true;
    return false;
}

// Return false, with a reason unless there is one.
static bool fail(struct look *l, const char *why)
{
    if (!l->wrong)
        l->wrong = why;
    return false;
}

// Return what an expression of the stage of the greatest elements is in the stage
// that reads one of them: that has the same rows, and columns of its own.
static struct ir_expr *translate(struct look *l, const struct ir_expr *load,
                                 struct ir_expr *x)
{
    struct weights *w = l->w;
    struct arena *a = w->pass->arena;
    struct map vars = {.arena = w->pass->scratch};
    const struct ir_iter *column = NULL;
    if (!sched_reads_own(l->stage, load, NULL))
        return NULL;
    vec_foreach(it, &l->stage->iters) {
        bool is_row = false;
        for (uint32_t d = 0; d < load->n; d++)
            is_row |= load->args[d]->u.var == it->var;
        if (!is_row && column)
            return NULL;
        column = is_row ? column : it;
    }
    if (!column)
        return NULL;
    for (uint32_t d = 0; d < load->n; d++)
        map_set(&vars, w->index[d]->u.var, load->args[d]);
    l->use.column = ir_read(a, column->var);
    map_set(&vars, w->column->var, l->use.column);
    return ir_substitute(a, x, &vars, NULL);
}

// Take x - M, where x is the element of M's row that the stage is at.
static bool take_distance(struct look *l, struct ir_expr *x, struct ir_expr *m)
{
    struct arena *a = l->w->pass->arena;
    if (m->op != OP_load || m->u.buffer != l->w->greatest)
        return fail(l, "it subtracts something else");
    struct ir_expr *own = translate(l, m, l->w->element);
    if (!own)
        return fail(l, "its iterations are not those of the rows");
    l->use.row = m->args;
    return ir_expr_equal(fold_expr(a, &l->facts, own),
                         fold_expr(a, &l->facts, x)) ||
           fail(l, "what it subtracts from is not what is the greatest");
}

// Return whether an expression depends on parameters alone.
static bool is_uniform(const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (x->op == OP_load ||
            (x->op == OP_var && x->u.var->kind != VAR_param))
            return false;
    return ir_is_pure(root, false);
}

// Take a factor into a scale; false if it is neither a positive number nor the
// first one that depends on parameters.
static bool take_factor(struct look *l, struct ir_expr *x, bool divides,
                        struct weight_scale *scale)
{
    struct arena *a = l->w->pass->arena;
    bool is_number = x->op == OP_const;
    if (!type_is_float(x->type) || !is_uniform(x) ||
        (is_number ? !(x->u.f > 0) : scale->of != NULL))
        return false;
    if (is_number)
        scale->number *= divides ? 1 / x->u.f : x->u.f;
    else if (divides)
        scale->of = ir_binary(a, OP_div, ir_const_float(a, x->type, 1), x);
    else
        scale->of = x;
    return true;
}

// Take off what a value is multiplied by, or divided.
static struct ir_expr *take_scale(struct look *l, struct ir_expr *x,
                                  struct weight_scale *scale)
{
    *scale = (struct weight_scale){.number = 1};
    for (;;) {
        if ((x->op == OP_mul || x->op == OP_div) &&
            take_factor(l, x->args[1], x->op == OP_div, scale))
            x = x->args[0];
        else if (x->op == OP_mul && take_factor(l, x->args[0], false, scale))
            x = x->args[1];
        else
            return x;
    }
}

// Return whether two scales are the same.
static bool is_same(const struct weight_scale *x, const struct weight_scale *y)
{
    return x->number == y->number && !x->of == !y->of &&
           (!x->of || ir_expr_equal(x->of, y->of));
}

// Take (x - M) * n, or x * n - M * n, where n is a number.
static bool take_exponent(struct look *l, struct ir_expr *x,
                          struct weight_scale *scale)
{
    static const char why[] = "its exponent is no distance from the greatest";
    struct weight_scale left, right;
    x = take_scale(l, x, scale);
    if (x->op != OP_sub || mentions(l->w, x->args[0]))
        return fail(l, why);
    struct ir_expr *m = take_scale(l, x->args[1], &right);
    if (right.number == 1 && !right.of)
        return take_distance(l, x->args[0], m);
    x = take_scale(l, x->args[0], &left);
    scale->number *= right.number;
    return ((!right.of && is_same(&left, &right)) || fail(l, why)) &&
           take_distance(l, x, m);
}

// Take an exponential of a distance.
static bool take_exponential(struct look *l, struct ir_expr *x)
{
    struct weight_scale scale;
    struct ir_expr *exponent =
        fold_expr(l->w->pass->arena, &l->facts, x->args[0]);
    if (!take_exponent(l, exponent, &scale))
        return false;
    if (l->w->op != OP_COUNT &&
        (l->w->op != x->op || !is_same(&l->w->scale, &scale)))
        return fail(l, "its exponent grows otherwise than that of another one");
    l->w->op = x->op;
    l->w->scale = scale;
    l->use.is_at_most_one = true;
    return true;
}

// Take an element of an array of weights.
static bool take_element(struct look *l, struct ir_expr *x)
{
    const struct weight *of = weight_of(l->w, x->u.buffer);
    struct map vars = {.arena = l->w->pass->scratch};
    if (!of)
        return fail(l, "it uses the greatest otherwise than in an exponent");
    for (uint32_t d = 0; d < x->n; d++)
        map_set(&vars, of->index[d]->u.var, x->args[d]);
    l->use.row = ir_substitute_all(l->w->pass->arena, l->w->greatest->rank,
                                   of->row, &vars, NULL);
    l->use.column = ir_substitute(l->w->pass->arena, of->column, &vars, NULL);
    l->use.is_at_most_one = of->is_at_most_one;
    return true;
}

static bool take(struct look *l, struct ir_expr *x);

// Take a product of a weight and something else, or a quotient.
static bool take_product(struct look *l, struct ir_expr *x)
{
    bool of[] = {mentions(l->w, x->args[0]), mentions(l->w, x->args[1])};
    if (of[0] == of[1] || (x->op == OP_div && of[1]))
        return fail(l, "it is no weight times something else");
    bool ok = take(l, x->args[of[1]]);
    l->use.is_at_most_one = false;
    return ok;
}

// Take a weight under a condition, elsewhere 0.
static bool take_choice(struct look *l, struct ir_expr *x)
{
    const struct ir_expr *other = x->args[2];
    if (mentions(l->w, x->args[0]) || other->op != OP_const ||
        !type_is_float(other->type) || other->u.f != 0)
        return fail(l, "where its condition does not hold it is not 0");
    struct facts_mark here = facts_mark(&l->facts);
    facts_assume(&l->facts, x->args[0], true);
    bool ok = take(l, x->args[1]);
    facts_leave(&l->facts, here);
    return ok;
}

// Take a conversion: one that loses range, of what is at most 1.
static bool take_cast(struct look *l, struct ir_expr *x)
{
    bool narrows = type_bits(x->type) < type_bits(x->args[0]->type);
    if (!type_is_float(x->type) || !type_is_float(x->args[0]->type))
        return fail(l, "it is converted to a number that is not floating");
    return take(l, x->args[0]) &&
           (!narrows || l->use.is_at_most_one ||
            fail(l, "it is rounded where it may be more than 1"));
}

// Take an expression that has to be a weight.
static bool take(struct look *l, struct ir_expr *x)
{
    switch ((int)x->op) {
    case OP_load: return take_element(l, x);
    case OP_exp:
    case OP_exp2: return take_exponential(l, x);
    case OP_mul:
    case OP_div: return take_product(l, x);
    case OP_select: return take_choice(l, x);
    case OP_cast: return take_cast(l, x);
    }
    return fail(l, "it is no product with an exponential");
}

// Return whether anything but the value of a store has to do with weights.
static bool reads_elsewhere(const struct weights *w, const struct ir_stage *s,
                            const struct ir_stmt *store)
{
    bool found = s->predicate && mentions(w, s->predicate);
    for (uint32_t i = 0; i < store->u.store.n; i++)
        found |= mentions(w, store->u.store.index[i]);
    return found || s->body.n != 1;
}

// Note that a stage stores weights.
static const char *note(struct look *l, const struct ir_stmt *store)
{
    struct ir_stage *stage = (struct ir_stage *)l->stage;
    struct weight one = {.array = store->u.store.buffer,
                         .stage = stage,
                         .index = store->u.store.index,
                         .row = l->use.row,
                         .column = l->use.column,
                         .is_at_most_one = l->use.is_at_most_one};
    vec_push(l->w->pass->scratch, &l->w->arrays, one);
    return NULL;
}

const char *weights_take(struct weights *w, const struct ir_stmt *s,
                         struct weight_use *out)
{
    struct look l = {.w = w, .stage = &s->u.stage};
    struct reducer r;
    if (s->kind != STMT_stage)
        return "it is no stage";
    bool is_sum =
        ir_stage_reduces(l.stage) && reducer_find(w->pass, l.stage, &r);
    struct ir_stmt *store =
        is_sum ? NULL : sched_plain_store((struct ir_stmt *)s);
    if (is_sum && (r.kind != REDUCER_operation ||
                   r.values[0].store->u.store.value->op != OP_add))
        return "it is no sum";
    if (!is_sum && (!store || l.stage->has_init || ir_stage_reduces(l.stage)))
        return "it neither adds up from 0 nor stores to its own iteration "
               "variables";
    const struct ir_stmt *from = is_sum ? r.values[0].store : store;
    if (reads_elsewhere(w, l.stage, from))
        return "it reads the greatest elsewhere than in what it computes";
    l.facts = facts_around(w->pass->scratch, w->pass->kernel, s);
    facts_enter(&l.facts, s);
    if (!take(&l, is_sum ? reducer_operand(&r, 0) : store->u.store.value))
        return l.wrong;
    *out = l.use;
    return is_sum ? NULL : note(&l, store);
}

struct ir_expr *weights_factor(const struct weights *w, struct ir_expr *from,
                               struct ir_expr *to)
{
    struct arena *a = w->pass->arena;
    struct ir_expr *x = ir_binary(a, OP_sub, from, to);
    if (w->scale.number != 1)
        x = ir_binary(a, OP_mul, x,
                      ir_const_float(a, x->type, w->scale.number));
    if (w->scale.of)
        x = ir_binary(a, OP_mul, x, w->scale.of);
    return ir_call(a, w->op, 1, &x);
}

struct ir_expr *weights_lowest(const struct weights *w)
{
    struct type type = w->element->type;
    double most = type.kind == TYPE_f32 ? FLT_MAX : DBL_MAX;
    return ir_const_float(w->pass->arena, type,
                          -most / (w->scale.number > 1 ? w->scale.number : 1));
}
