// What the operations of an expression take.

#include "ir/base/num.h"
#include "ir/build.h"
#include "passes/model/warp.h"

// Instructions on each pipe.
struct op_cost {
    float fma, mufu, integer;
};

static const struct op_cost exact[OP_COUNT] = {
#define COST(op, fma, mufu, integer) [OP_##op] = {fma, mufu, integer},
#define FAST(op, fma, mufu, integer)
#include "passes/model/op_costs.def"
#undef COST
#undef FAST
};

static const struct op_cost fast[OP_COUNT] = {
#define COST(op, fma, mufu, integer)
#define FAST(op, fma, mufu, integer) [OP_##op] = {fma, mufu, integer},
#include "passes/model/op_costs.def"
#undef COST
#undef FAST
};

enum { SHUFFLE_CLOCKS = 24, SHUFFLES_OF_SUM = 5, WAIT_CLOCKS = 20 };

// Return whether an operation of a kernel has a faster form.
static bool is_fast(const struct warp *w, enum ir_op op)
{
    const struct op_cost *c = &fast[op];
    return w->kernel->fast_math && (c->fma > 0 || c->mufu > 0);
}

// Return how many instructions an operation on a type is, of those that one f32
// has: two halves go together.
static double parts_of(struct type t)
{
    double n = t.lanes;
    return type_bits(t) == 16 && t.lanes > 1 ? n / 2 : n;
}

// Add instructions on integers or conditions.
static void integers(struct warp *w, double n)
{
    warp_spend(w, MODEL_integer, n, w->place.device->integer);
}

// Add an operation on floats.  A product that is added is one instruction with
// the sum.
static void floats(struct warp *w, const struct ir_expr *x)
{
    const struct model_device *d = w->place.device;
    struct type t = x->n ? x->args[x->op == OP_select]->type : x->type;
    const struct op_cost *c = is_fast(w, x->op) ? &fast[x->op] : &exact[x->op];
    double n = parts_of(t), lanes = t.kind == TYPE_f64 ? d->f64 : d->fma;
    double fused = 0;
    if (x->op == OP_add || x->op == OP_sub)
        fused = x->args[0]->op == OP_mul || x->args[1]->op == OP_mul;
    if (c->fma > fused)
        warp_spend(w, MODEL_fma, n * (c->fma - fused), lanes);
    if (c->mufu > 0)
        warp_spend(w, MODEL_mufu, n * c->mufu, d->mufu);
    if (c->integer > 0)
        integers(w, n * c->integer);
}

// Add an operation on integers that are data.
static void arithmetic(struct warp *w, const struct ir_expr *x)
{
    enum { DIVIDE = 20, BY_NUMBER = 4, WIDE_PRODUCT = 4, WIDE_UPPER_HALF = 9 };
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    double n = x->type.lanes;
    if (divides)
        n *= ir_is_const(x->args[1]) ? BY_NUMBER : DIVIDE;
    if (type_bits(x->type) == 64 && (x->op == OP_mul || x->op == OP_mulhi))
        n *= x->op == OP_mul ? WIDE_PRODUCT : WIDE_UPPER_HALF;
    if (x->op == OP_mul || x->op == OP_mulhi || x->op == OP_dp4a)
        warp_spend(w, MODEL_fma, n, w->place.device->fma / 2);
    else
        integers(w, n);
}

// Add what lanes exchange: as an access to shared memory, but without banks.
static void exchange(struct warp *w, const struct ir_expr *x)
{
    bool is_sum = x->op >= OP_warp_sum && x->op <= OP_warp_xor;
    double n = is_sum ? SHUFFLES_OF_SUM : 1;
    warp_settle(w);
    warp_spend(w, MODEL_lsu, n, WARP_LANES);
    w->path += n * SHUFFLE_CLOCKS;
}

// Add what an operation on an mbarrier takes.
static void signal(struct warp *w, const struct ir_expr *x)
{
    warp_spend(w, MODEL_lsu, 1, WARP_LANES);
    if (x->op != OP_mbarrier_wait)
        return;
    w->waits = true;
    warp_settle(w);
    w->path += WAIT_CLOCKS;
    if (w->depth == 0 && w->copied > w->path)
        w->path = w->copied;
}

// What the walk through an index finds.
struct index_walk {
    struct warp *warp;
    double sum; // instructions
};

static void access_of(struct warp *w, const struct ir_expr *x);

// What is known of a part of an index.
struct index_part {
    bool changes;  // in the loop around
    uint64_t hash; // of what it computes
};

static struct index_part part_of(struct index_walk *k, const struct ir_expr *x);

// Return what is known of a variable, and pay for the first use of a `let`.
static struct index_part part_of_var(struct index_walk *k,
                                     const struct ir_expr *x)
{
    struct warp *w = k->warp;
    struct lanes *v = map_get(&w->place.values, x->u.var);
    struct index_part r = {.hash = (uint64_t)(uintptr_t)x->u.var};
    r.changes = v ? v->turns == warp_turns(w) : warp_turns(w) == 0;
    const struct ir_expr *owed = v ? v->owed : NULL;
    if (owed) {
        v->owed = NULL;
        part_of(k, owed);
    }
    return r;
}

// Return the instructions of an operation on indices.
static double price(const struct ir_expr *x)
{
    static const double wide = 30, narrow = 18, number = 3, simple = 0.4;
    int64_t by;
    if (x->op != OP_div && x->op != OP_mod && x->op != OP_ceildiv)
        return simple;
    if (ir_int_value(x->args[1], &by))
        return by > 0 && (by & (by - 1)) == 0 ? simple : number;
    return type_bits(x->type) > 32 ? wide : narrow;
}

// Return what tells an operation from others, without its operands; the quotient
// and the rest of a division are one.
static uint64_t own_hash(const struct warp *w, const struct ir_expr *x)
{
    uint64_t r = x->op == OP_mod ? OP_div : x->op;
    if (x->op == OP_const && !type_is_float(x->type))
        r ^= num_mix((uint64_t)x->u.i);
    if (x->op == OP_index)
        r ^= num_mix((uint64_t)x->u.axis + 1);
    if (x->op == OP_load)
        r ^= num_mix((uint64_t)(uintptr_t)x->u.buffer + w->epoch);
    return r;
}

// Return whether an operation of an index takes instructions.  In a loop that is
// expanded most become part of an address; a division by a size does not.
static bool is_priced(const struct warp *w, const struct ir_expr *x)
{
    bool divides = x->op == OP_div || x->op == OP_mod || x->op == OP_ceildiv;
    bool is_open = divides && !ir_is_const(x->args[1]);
    return x->n && (!w->unrolled || is_open) && x->op != OP_load &&
           x->op != OP_cast && x->op != OP_ramp;
}

// Return what is known of a part of an index, and add what it reads, and its
// operations if the loop around changes them: others are done before it.  Nothing
// is computed twice.
static struct index_part part_of(struct index_walk *k, const struct ir_expr *x)
{
    struct warp *w = k->warp;
    struct index_part r = {warp_turns(w) == 0 && x->op == OP_index,
                           own_hash(w, x)};
    if (x->op == OP_var)
        return part_of_var(k, x);
    for (uint32_t i = 0; i < x->n; i++) {
        struct index_part one = part_of(k, x->args[i]);
        r.changes |= one.changes;
        r.hash = num_mix(r.hash + one.hash * (2 * i + 1));
    }
    bool counts = x->op == OP_load || (r.changes && is_priced(w, x));
    if (!counts || !reuse_is_new(w->reuse, r.hash, w->loop, w->place.first))
        return r;
    if (x->op == OP_load)
        access_of(w, x);
    else
        k->sum += price(x);
    return r;
}

void warp_index(struct warp *w, const struct ir_expr *x)
{
    struct index_walk k = {.warp = w};
    part_of(&k, x);
    if (k.sum > 0)
        integers(w, k.sum);
}

// Return whether an expression is an element that was converted before.
static bool is_converted(struct warp *w, const struct ir_expr *x)
{
    struct index_walk k = {.warp = w};
    if (x->op != OP_load || !x->n)
        return false;
    uint64_t place = part_of(&k, x->args[x->n - 1]).hash;
    place = num_mix(place ^ (uint64_t)(uintptr_t)x->u.buffer) + w->epoch;
    return !reuse_is_new(w->reuse, place, w->loop, w->place.first);
}

// Add a conversion.
static void convert(struct warp *w, const struct ir_expr *x)
{
    if (is_converted(w, x->args[0]))
        return;
    struct type to = x->type, from = x->args[0]->type;
    bool is_float = type_is_float(to), was_float = type_is_float(from);
    double n = to.lanes;
    if (is_float && was_float && to.kind != from.kind)
        integers(w, type_bits(to) < 32 ? n / 2 : n);
    else if (is_float != was_float && to.kind != TYPE_bool)
        warp_spend(w, MODEL_mufu, n, w->place.device->mufu);
}

bool warp_is_index(const struct ir_expr *x)
{
    bool r = type_is_index(x->type) || x->type.kind == TYPE_bool;
    for (uint32_t i = 0; i < x->n; i++)
        r &= type_is_index(x->args[i]->type) ||
             x->args[i]->type.kind == TYPE_bool;
    return r;
}

// Add a read or an atomic.
static void access_of(struct warp *w, const struct ir_expr *x)
{
    uint32_t n = ir_index_count(x);
    bool writes = ir_op_info(x->op)->flags & OP_WRITES;
    if (!n)
        return;
    warp_index(w, x->args[n - 1]);
    warp_access(w, writes ? MOVE_atomic : MOVE_read, x->u.buffer,
                x->args[n - 1], x->type);
}

// Add an operation by itself.
static void operation(struct warp *w, const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    bool is_float = x->n && type_is_float(x->args[x->n - 1]->type);
    if (flags & OP_SYNCHRONISES)
        signal(w, x);
    else if (flags & (OP_READS | OP_WRITES))
        access_of(w, x);
    else if (flags & OP_TOGETHER)
        exchange(w, x);
    else if (x->op == OP_cast)
        convert(w, x);
    else if (x->op == OP_ramp || x->op == OP_broadcast || x->op == OP_lanes ||
             x->op == OP_lane || x->n == 0)
        return;
    else if (is_float)
        floats(w, x);
    else
        arithmetic(w, x);
}

void warp_value(struct warp *w, const struct ir_expr *x)
{
    unsigned flags = ir_op_info(x->op)->flags;
    uint32_t first = 0;
    if (x->op == OP_var)
        warp_index(w, x);
    if (x->op == OP_place || x->n == 0)
        return;
    if (warp_is_index(x) && !(flags & (OP_READS | OP_WRITES | OP_TOGETHER))) {
        warp_index(w, x);
        return;
    }
    if (flags & (OP_READS | OP_WRITES))
        first = ir_index_count(x);
    for (uint32_t i = first; i < x->n; i++)
        warp_value(w, x->args[i]);
    operation(w, x);
}
