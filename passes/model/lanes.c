// What an expression is in the 32 lanes of a warp.

#include "passes/model/lanes.h"

#include "ir/arith.h"
#include "ir/build.h"

#include <stdlib.h>

// Begin a value that depends on nothing; `at` is not set.
static void start(struct lanes *out)
{
    out->trust = LANES_EXACT;
    out->same = true;
    out->drifts = false;
    out->on = out->depth = out->turns = 0;
    out->step = 0;
    out->owed = NULL;
}

void lanes_number(int64_t value, struct lanes *out)
{
    start(out);
    out->at[0] = value;
}

bool lanes_is_number(const struct lanes *x)
{
    return x->trust == LANES_EXACT && x->same;
}

// Set what a variable or an array is.
static void set(struct lanes_place *p, const void *what,
                const struct lanes *value)
{
    struct lanes *known = map_get(&p->values, what);
    if (!known)
        known = arena_new(p->arena, struct lanes);
    *known = *value;
    map_set(&p->values, what, known);
}

void lanes_set(struct lanes_place *p, const struct ir_var *var,
               const struct lanes *value)
{
    set(p, var, value);
}

// Return whether an array has one element.
static bool is_single(const struct ir_buffer *b)
{
    int64_t n;
    for (uint32_t d = 0; d < b->rank; d++)
        if (!ir_int_value(b->shape[d], &n) || n != 1)
            return false;
    return true;
}

void lanes_keep(struct lanes_place *p, const struct ir_buffer *buffer,
                const struct lanes *value, int lane)
{
    struct lanes one = *value;
    if (!is_single(buffer) || !type_is_integer(buffer->elem))
        return;
    one.at[0] = lanes_at(value, lane);
    one.same = true;
    set(p, buffer, &one);
}

// Set a value that data decides.
static void unknown(struct lanes *out)
{
    start(out);
    out->trust = LANES_UNKNOWN;
    out->same = false;
    out->drifts = true;
    memset(out->at, 0, sizeof out->at);
}

// Set the position on an axis of threads.
static void thread_position(const struct lanes_place *p, enum axis axis,
                            struct lanes *out)
{
    const uint32_t *block = p->launch->block;
    uint32_t x = block[0] ? block[0] : 1, y = block[1] ? block[1] : 1;
    start(out);
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        uint32_t t = p->first + i;
        int64_t at[] = {t % x, t / x % y, t / x / y};
        out->at[i] = at[axis_dimension(axis)];
        if (axis == AXIS_warpgroup)
            out->at[i] = t % x / GROUP_THREADS;
        else if (axis == AXIS_warp)
            out->at[i] = t % x / WARP_LANES;
        else if (axis == AXIS_lane)
            out->at[i] = t % x % WARP_LANES;
    }
    out->same =
        out->at[0] == out->at[WARP_LANES - 1] && out->at[0] == out->at[1];
}

// Set the position of the block.
static void block_position(const struct lanes_place *p, enum axis axis,
                           struct lanes *out)
{
    int d = axis_dimension(axis);
    uint32_t cluster = p->launch->cluster[d];
    bool inside = axis_is_cluster(axis) && cluster;
    lanes_number(inside ? p->block[d] % cluster : p->block[d], out);
    out->on = (unsigned)ON_X << d;
}

// Let a result depend on what an operand depends on.
static void depend(struct lanes *out, const struct lanes *x)
{
    out->trust = x->trust > out->trust ? x->trust : out->trust;
    out->same &= x->same;
    out->on |= x->on;
    out->depth = x->depth > out->depth ? x->depth : out->depth;
    out->turns = x->turns > out->turns ? x->turns : out->turns;
}

// Return what an iteration of the loop at a depth adds to an operand.
static int64_t step_at(const struct lanes *x, unsigned depth)
{
    return x->depth == depth ? x->step : 0;
}

// Set what an iteration adds to a sum, a difference or a product; anything else
// drifts.
static void follow(enum ir_op op, const struct lanes *x, const struct lanes *y,
                   struct lanes *out)
{
    unsigned d = out->depth;
    int64_t a = step_at(x, d), b = y ? step_at(y, d) : 0;
    out->drifts =
        (x->depth == d && x->drifts) || (y && y->depth == d && y->drifts);
    if (op == OP_add)
        out->step = a + b;
    else if (op == OP_sub)
        out->step = a - b;
    else if (op == OP_mul && y && !b && y->same)
        out->step = (int64_t)((uint64_t)a * (uint64_t)y->at[0]);
    else if (op == OP_mul && y && !a && x->same)
        out->step = (int64_t)((uint64_t)b * (uint64_t)x->at[0]);
    else if (a || b)
        out->drifts = true;
}

// Compute the usual operations on indices, which do not overflow; false for others.
static bool quick(enum ir_op op, int64_t a, int64_t b, int64_t *out)
{
    switch ((int)op) {
    case OP_add: *out = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case OP_sub: *out = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case OP_mul: *out = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    case OP_div: *out = b > 0 ? a / b : 0; return b > 0;
    case OP_mod: *out = b > 0 ? a % b : 0; return b > 0;
    case OP_lt: *out = a < b; return true;
    case OP_bit_xor: *out = a ^ b; return true;
    default: return false;
    }
}

// Compute an operation on integers of a type; one without a result is 0.
static int64_t one_of(const struct arith *how, enum ir_op op, struct type t,
                      int64_t a, int64_t b)
{
    const char *fault = NULL;
    int64_t value;
    if (type_is_index(t) && quick(op, a, b, &value))
        return value;
    value = how->on_int(t, a, b, 0, &fault);
    return fault ? 0 : value;
}

// Compute an operation on integers in every lane.
static void apply(const struct ir_expr *x, struct lanes *const *args,
                  struct lanes *out)
{
    const struct arith *how = ir_arith(x->op);
    struct type t = type_scalar((enum type_kind)x->args[0]->type.kind);
    const struct lanes *b = args[x->n > 1];
    int n = out->same ? 1 : WARP_LANES;
    if (!how || !how->on_int) {
        unknown(out);
        return;
    }
    for (int i = 0; i < n; i++)
        out->at[i] =
            one_of(how, x->op, t, lanes_at(args[0], i), lanes_at(b, i));
    if (x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv ||
        x->op == OP_mulhi)
        out->on |= out->on ? ON_QUOTIENT : 0;
}

// Compute an operation of one or two operands.
static void operation(const struct lanes_place *p, const struct ir_expr *x,
                      struct lanes *out)
{
    struct lanes values[2];
    struct lanes *const args[] = {&values[0], &values[1]};
    start(out);
    for (uint32_t i = 0; i < x->n; i++) {
        lanes_of(p, x->args[i], args[i]);
        depend(out, args[i]);
    }
    if (out->trust == LANES_UNKNOWN) {
        unknown(out);
        return;
    }
    apply(x, args, out);
    follow(x->op, args[0], x->n > 1 ? args[1] : NULL, out);
}

// Compute `c ? a : b`, lane by lane.
static void choose(const struct lanes_place *p, const struct ir_expr *x,
                   struct lanes *out)
{
    struct lanes c, a, b;
    lanes_of(p, x->args[0], &c);
    lanes_of(p, x->args[1], &a);
    lanes_of(p, x->args[2], &b);
    start(out);
    depend(out, &c);
    depend(out, &a);
    depend(out, &b);
    for (int i = 0; i < (out->same ? 1 : WARP_LANES); i++)
        out->at[i] = lanes_at(&c, i) ? lanes_at(&a, i) : lanes_at(&b, i);
    follow(OP_add, c.at[0] ? &a : &b, NULL, out);
}

// Compute `&&` or `||`: what one side decides is known.
static void decide(const struct lanes_place *p, const struct ir_expr *x,
                   struct lanes *out)
{
    struct lanes a, b;
    bool by = x->op == OP_or;
    lanes_of(p, x->args[0], &a);
    if (lanes_is_number(&a) && (a.at[0] != 0) == by) {
        *out = a;
        return;
    }
    lanes_of(p, x->args[1], &b);
    start(out);
    depend(out, &a);
    depend(out, &b);
    for (int i = 0; i < (out->same ? 1 : WARP_LANES); i++) {
        bool x0 = lanes_at(&a, i), x1 = lanes_at(&b, i);
        out->at[i] = by ? x0 || x1 : x0 && x1;
    }
}

// Set what is known of an element of an array, or of what an atomic returns: that
// it is the same in all lanes if its index is.
static void element(const struct lanes_place *p, const struct ir_expr *x,
                    struct lanes *out)
{
    struct lanes at;
    const struct lanes *kept = map_get(&p->values, x->u.buffer);
    if (x->op == OP_load && kept) {
        *out = *kept;
        return;
    }
    lanes_of(p, x->args[x->n - 1], &at);
    bool shared = x->op == OP_load && at.same && type_is_integer(x->type);
    unknown(out);
    if (!shared)
        return;
    lanes_number(0, out);
    out->trust = LANES_SHIFT;
    out->depth = at.depth;
    out->turns = at.turns;
    out->drifts = at.depth > 0;
}

// Return whether an operation is one on integers or conditions.
static bool is_integral(const struct ir_expr *x)
{
    bool r = true;
    for (uint32_t i = 0; i < x->n; i++)
        r &= !type_is_float(x->args[i]->type);
    return r && x->n >= 1 && x->n <= 2;
}

// Compute what has operands.
static void compound(const struct lanes_place *p, const struct ir_expr *x,
                     struct lanes *out)
{
    unsigned flags = ir_op_info(x->op)->flags;
    if (x->n == 0 || type_is_float(x->type))
        unknown(out);
    else if (flags & (OP_READS | OP_WRITES))
        element(p, x, out);
    else if (flags & OP_TOGETHER)
        unknown(out);
    else if (is_integral(x))
        operation(p, x, out);
    else
        unknown(out);
}

void lanes_of(const struct lanes_place *p, const struct ir_expr *x,
              struct lanes *out)
{
    const struct lanes *known;
    switch ((int)x->op) {
    case OP_const:
        if (type_is_float(x->type))
            unknown(out);
        else
            lanes_number(x->u.i, out);
        return;
    case OP_var:
        known = map_get(&p->values, x->u.var);
        if (known)
            *out = *known;
        else
            unknown(out);
        return;
    case OP_index:
        if (axis_kind(x->u.axis) == AXIS_BLOCK)
            block_position(p, x->u.axis, out);
        else
            thread_position(p, x->u.axis, out);
        return;
    case OP_cast:
        if (type_is_float(x->type) || type_is_float(x->args[0]->type))
            unknown(out);
        else
            lanes_of(p, x->args[0], out);
        return;
    case OP_ramp:
    case OP_broadcast: lanes_of(p, x->args[0], out); return;
    case OP_select: choose(p, x, out); return;
    case OP_and:
    case OP_or: decide(p, x, out); return;
    case OP_resident:
        lanes_of(p, x->args[0], out);
        for (int i = 0; i < (out->same ? 1 : WARP_LANES); i++)
            out->at[i] *= p->device->sms;
        return;
    default: compound(p, x, out);
    }
}
