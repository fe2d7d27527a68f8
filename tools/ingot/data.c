// Follows elements through `let`, conversions, arithmetic that can be undone,
// and arrays that they are copied to.

#include "tools/ingot/data.h"

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/walk.h"

enum { STEPS_MOST = 32 };

// A look at one kernel.
struct look {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct data_rule *rules;
    struct map values; // of a `let`, or of the first store to an array
    struct map loops;  // of a variable that counts iterations
};

// Return the number of the parameter that an array is, or -1.
static int parameter_of(const struct look *l, const struct ir_buffer *b)
{
    for (size_t i = 0; i < l->kernel->params.n; i++)
        if (l->kernel->params.at[i].buffer == b && b->role != ROLE_output)
            return (int)i;
    return -1;
}

// Return whether an expression depends on parameters only.
static bool is_known(struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->type.lanes > 1)
            return false;
    return ir_is_of_params(x);
}

// Return what a name, or an element of an array that is none of the caller's,
// stands for; NULL if that is not known.
static struct ir_expr *named(const struct look *l, const struct ir_expr *x)
{
    if (x->op == OP_var)
        return map_get(&l->values, x->u.var);
    return x->op == OP_load ? map_get(&l->values, x->u.buffer) : NULL;
}

// Return the parameter whose elements an expression has as they are, or -1.
static int origin_of(const struct look *l, struct ir_expr *x)
{
    for (int i = 0; x && i < STEPS_MOST; i++) {
        int parameter = x->op == OP_load ? parameter_of(l, x->u.buffer) : -1;
        if (parameter >= 0)
            return parameter;
        x = x->op == OP_cast ? x->args[0] : named(l, x);
    }
    return -1;
}

// ---- Positions ------------------------------------------------------------

// Note that elements of a parameter, or of none, are positions in an array,
// which are less than `extent`.
static void note_position(struct look *l, int parameter,
                          const struct ir_buffer *b, struct ir_expr *extent)
{
    if (parameter < 0)
        return;
    struct data_rule *rule = &l->rules[parameter];
    rule->indexed = rule->indexed ? rule->indexed : b;
    vec_push(l->arena, &rule->extents, extent);
}

// Return the loop whose iterations an expression counts, or NULL.
static const struct ir_for *loop_of(const struct look *l, struct ir_expr *x)
{
    for (int i = 0; x && i < STEPS_MOST; i++) {
        const struct ir_stmt *s =
            x->op == OP_var ? map_get(&l->loops, x->u.var) : NULL;
        if (s)
            return &s->u.loop;
        x = x->op == OP_cast ? x->args[0] : named(l, x);
    }
    return NULL;
}

// Note that an expression is the index of an array in one dimension.  Elements
// that a loop over such indices goes from or to, as rows of a sparse matrix do,
// may be one more.
//
//   for p in row[i]..row[i + 1] { s += v[p] * x[col[p]] }
static void note_index(struct look *l, const struct ir_buffer *b, uint32_t d,
                       struct ir_expr *x)
{
    const struct ir_for *loop = loop_of(l, x);
    if (b->rank <= d || !is_known(b->shape[d]))
        return;
    note_position(l, origin_of(l, x), b, b->shape[d]);
    if (!loop)
        return;
    struct ir_expr *one = ir_const_int(l->arena, b->shape[d]->type, 1);
    struct ir_expr *extent = ir_add(l->arena, b->shape[d], one);
    note_position(l, origin_of(l, loop->from), b, extent);
    note_position(l, origin_of(l, loop->to), b, extent);
}

// Note indices of an array.
static void note_indices(struct look *l, const struct ir_buffer *b, uint32_t n,
                         struct ir_expr *const *index)
{
    for (uint32_t d = 0; d < n; d++)
        note_index(l, b, d, index[d]);
}

// ---- Comparisons ----------------------------------------------------------

// Return what `x[0] op x[1]`, one of which is known, has to be compared with if
// the other one alone is; NULL if that is not known.
static struct ir_expr *undone(struct look *l, const struct ir_expr *x,
                              int known, struct ir_expr *value)
{
    struct ir_expr *c = x->args[known];
    enum ir_op op;
    switch ((int)x->op) {
    case OP_add: op = OP_sub; break;
    case OP_sub:
        if (!known)
            return ir_binary(l->arena, OP_sub, c, value);
        op = OP_add;
        break;
    case OP_mul: op = OP_div; break;
    case OP_div: op = OP_mul; break;
    case OP_bit_xor: op = OP_bit_xor; break;
    case OP_bit_and:
    case OP_mod: return value;
    default: return NULL;
    }
    bool is_first = !known && (x->op == OP_div);
    bool is_zero = op == OP_div && (c->op != OP_const || (!c->u.i));
    return is_first || is_zero ? NULL : ir_binary(l->arena, op, value, c);
}

// Step to the operand of an expression that is not known, and to what it is
// compared with then; NULL if there is no such.
static struct ir_expr *inner(struct look *l, struct ir_expr *x,
                             struct ir_expr **value)
{
    struct ir_expr *by = named(l, x);
    if (by || x->op == OP_var || x->op == OP_load)
        return by;
    if (x->op == OP_cast) {
        *value = ir_cast(l->arena, x->args[0]->type, *value);
        return x->args[0];
    }
    if (x->op == OP_neg) {
        *value = ir_unary(l->arena, OP_neg, *value);
        return x->args[0];
    }
    if (x->n != 2 || !type_equal(x->args[0]->type, x->args[1]->type))
        return NULL;
    int known = is_known(x->args[1]);
    if (!known && !is_known(x->args[0]))
        return NULL;
    *value = undone(l, x, known, *value);
    return *value ? x->args[!known] : NULL;
}

// Note that an expression is compared with a known value.
static void note_compared(struct look *l, struct ir_expr *x,
                          struct ir_expr *value, bool is_equal)
{
    for (int i = 0; x && i < STEPS_MOST; i++) {
        int parameter = x->op == OP_load ? parameter_of(l, x->u.buffer) : -1;
        if (parameter < 0) {
            x = inner(l, x, &value);
            continue;
        }
        struct data_rule *rule = &l->rules[parameter];
        struct data_rare rare = {value, is_equal};
        rule->is_compared = true;
        vec_push(l->arena, &rule->rare, rare);
        return;
    }
}

// Note that elements of a parameter, or of none, are asked about.
static void note_asked(struct look *l, int parameter)
{
    if (parameter >= 0)
        l->rules[parameter].is_compared = true;
}

// Note that the number of an iteration is compared with a known value, and so
// where the loop begins and ends.
static void note_bounded(struct look *l, struct ir_expr *x)
{
    const struct ir_for *loop = loop_of(l, x);
    if (!loop)
        return;
    note_asked(l, origin_of(l, loop->from));
    note_asked(l, origin_of(l, loop->to));
}

// ---- The look -------------------------------------------------------------

// Note what an expression tells.
static void note_expr(struct look *l, struct ir_expr *x)
{
    if (ir_op_info(x->op)->flags & (OP_READS | OP_WRITES))
        note_indices(l, x->u.buffer, ir_index_count(x), x->args);
    bool is_equal = x->op == OP_eq || x->op == OP_ne;
    if (!is_equal && x->op != OP_lt && x->op != OP_le && x->op != OP_gt &&
        x->op != OP_ge)
        return;
    for (int known = 0; known < 2; known++) {
        bool has_value = is_known(x->args[known]);
        if (has_value)
            note_compared(l, x->args[!known], x->args[known], is_equal);
        if (has_value && !is_equal)
            note_bounded(l, x->args[!known]);
        note_asked(l, origin_of(l, x->args[!known]));
    }
}

// Note what names and arrays stand for.
static void note_value(struct look *l, struct ir_stmt *s)
{
    if (s->kind == STMT_let)
        map_set(&l->values, s->u.let.var, s->u.let.value);
    if (s->kind == STMT_for)
        map_set(&l->loops, s->u.loop.var, s);
    if (s->kind == STMT_store && s->u.store.buffer->role == ROLE_alloc &&
        !map_has(&l->values, s->u.store.buffer))
        map_set(&l->values, s->u.store.buffer, s->u.store.value);
}

// Note what a statement says about the values that it uses as indices.
static void note_uses(struct look *l, struct ir_stmt *s)
{
    if (s->kind == STMT_store)
        note_indices(l, s->u.store.buffer, s->u.store.n, s->u.store.index);
    ir_foreach_expr_of(x, s)
        note_expr(l, x);
}

struct data_rule *data_rules(struct arena *a, const struct ir_kernel *kernel)
{
    struct look l = {.arena = a,
                     .kernel = kernel,
                     .values = {.arena = a},
                     .loops = {.arena = a}};
    l.rules = arena_array(a, struct data_rule, kernel->params.n + 1);
    ir_foreach_stmt(s, &kernel->body)
        note_value(&l, ir_at_once(a, s));
    ir_foreach_stmt(s, &kernel->body)
        note_uses(&l, ir_at_once(a, s));
    return l.rules;
}
