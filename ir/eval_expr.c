// Runs expressions: one function per way to compute.

#include "ir/build.h"
#include "ir/eval_code.h"

#include <string.h>

// Stop with the fault of an operation, if it had one.
static inline void stop_if(struct thread *t, const struct code *x,
                           const char *fault)
{
    if (fault)
        eval_stop(t->machine, EVAL_FAULT, x->origin->span, "%s", fault);
}

// Give a constant.
static union number run_const(struct thread *t, const struct code *x)
{
    (void)t;
    return x->value;
}

// Read a scalar.
static union number run_var(struct thread *t, const struct code *x)
{
    return t->frame[x->slot];
}

// Read a lane of a vector variable.
static union number run_vector_var(struct thread *t, const struct code *x)
{
    return t->frame[x->slot + t->lane];
}

// Give where the thread is.
static union number run_index(struct thread *t, const struct code *x)
{
    enum axis axis = x->origin->u.axis;
    bool is_thread = axis_kind(axis) == AXIS_THREAD;
    return (union number){.i = is_thread ? t->place[axis_dimension(axis)]
                                         : t->index[axis]};
}

// Give how many blocks run at a time.
static union number run_resident(struct thread *t, const struct code *x)
{
    int64_t each = eval_run(t, x->args[0]).i;
    return (union number){.i = each * EVAL_SMS};
}

// Give the bits of an f32.
static union number run_float_bits(struct thread *t, const struct code *x)
{
    float value = (float)eval_run(t, x->args[0]).f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (union number){.i = bits};
}

// Give the f32 that has some bits.
static union number run_bits_float(struct thread *t, const struct code *x)
{
    uint32_t bits = (uint32_t)eval_run(t, x->args[0]).i;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (union number){.f = value};
}

// Return the element that an expression reads, or NULL after a fault.
static void *element_read(struct thread *t, const struct code *x)
{
    void *element = eval_element(t, &x->access, x->origin->span);
    if (element && t->machine->watch)
        eval_watch_read(t, &x->access, element, x->origin);
    return element;
}

// Load an integer or a bool.
static union number run_load_int(struct thread *t, const struct code *x)
{
    const void *element = element_read(t, x);
    return (union number){.i = element ? eval_load_int(x->type, element) : 0};
}

// Load a floating number.
static union number run_load_float(struct thread *t, const struct code *x)
{
    const void *element = element_read(t, x);
    return (union number){.f = element ? eval_load_float(x->type, element) : 0};
}

// Convert.
static union number run_cast(struct thread *t, const struct code *x)
{
    const char *fault = NULL;
    union number a = eval_run(t, x->args[0]);
    union number r = ir_convert(x->to, x->type, a, &fault);
    stop_if(t, x, fault);
    return r;
}

// Choose; only the chosen one runs.
static union number run_select(struct thread *t, const struct code *x)
{
    return eval_run(t, x->args[eval_run(t, x->args[0]).i ? 1 : 2]);
}

// Give a || b; b runs only if a is false.
static union number run_or(struct thread *t, const struct code *x)
{
    union number a = eval_run(t, x->args[0]);
    return a.i ? a : eval_run(t, x->args[1]);
}

// Give a && b; b runs only if a is true.
static union number run_and(struct thread *t, const struct code *x)
{
    union number a = eval_run(t, x->args[0]);
    return a.i ? eval_run(t, x->args[1]) : a;
}

// Run an operation with a number of operands on integers or bools.
static inline union number run_int(struct thread *t, const struct code *x,
                                   int n)
{
    const char *fault = NULL;
    int64_t a = eval_run(t, x->args[0]).i;
    int64_t b = n > 1 ? eval_run(t, x->args[1]).i : 0;
    int64_t r = x->how->on_int(x->type, a, b, 0, &fault);
    stop_if(t, x, fault);
    return (union number){.i = r};
}

// Run an operation on one integer.
static union number run_int_1(struct thread *t, const struct code *x)
{
    return run_int(t, x, 1);
}

// Run an operation on two integers.
static union number run_int_2(struct thread *t, const struct code *x)
{
    return run_int(t, x, 2);
}

// Run an operation with a number of operands on floating numbers, unrounded.
static inline double run_real(struct thread *t, const struct code *x, int n)
{
    double a = eval_run(t, x->args[0]).f;
    double b = n > 1 ? eval_run(t, x->args[1]).f : 0;
    double c = n > 2 ? eval_run(t, x->args[2]).f : 0;
    return x->how->on_float(x->type, a, b, c);
}

// Run an operation on one floating number.
static union number run_float_1(struct thread *t, const struct code *x)
{
    return (union number){.f = ir_round_float(x->type, run_real(t, x, 1))};
}

// Run an operation on two floating numbers.
static union number run_float_2(struct thread *t, const struct code *x)
{
    return (union number){.f = ir_round_float(x->type, run_real(t, x, 2))};
}

// Run an operation on three floating numbers.
static union number run_float_3(struct thread *t, const struct code *x)
{
    return (union number){.f = ir_round_float(x->type, run_real(t, x, 3))};
}

// Run a test of one floating number.
static union number run_test_1(struct thread *t, const struct code *x)
{
    return (union number){.i = x->how->test(eval_run(t, x->args[0]).f, 0)};
}

// Run a comparison of floating numbers.
static union number run_test_2(struct thread *t, const struct code *x)
{
    double a = eval_run(t, x->args[0]).f;
    double b = eval_run(t, x->args[1]).f;
    return (union number){.i = x->how->test(a, b)};
}

// Give a lane of a ramp; x->how adds.
static union number run_ramp(struct thread *t, const struct code *x)
{
    const char *fault = NULL;
    int64_t base = eval_run(t, x->args[0]).i;
    int64_t r = x->how->on_int(x->type, base, t->lane, 0, &fault);
    stop_if(t, x, fault);
    return (union number){.i = r};
}

// Give a lane of a broadcast.
static union number run_broadcast(struct thread *t, const struct code *x)
{
    return eval_run(t, x->args[0]);
}

// Give a lane of a vector made of scalars.
static union number run_lanes(struct thread *t, const struct code *x)
{
    return eval_run(t, x->args[t->lane]);
}

// Take one lane out of a vector.
static union number run_lane(struct thread *t, const struct code *x)
{
    unsigned lane = t->lane;
    t->lane = x->origin->u.lane;
    union number r = eval_run(t, x->args[0]);
    t->lane = lane;
    return r;
}

// Add the four products of two vectors to a number.
static union number run_dp4a(struct thread *t, const struct code *x)
{
    unsigned lane = t->lane;
    int64_t sum = eval_run(t, x->args[2]).i;
    for (t->lane = 0; t->lane < 4; t->lane++)
        sum += eval_run(t, x->args[0]).i * eval_run(t, x->args[1]).i;
    t->lane = lane;
    return (union number){.i = ir_wrap_int(x->to, sum)};
}

// Return what an atomic leaves in the element; `x` is its operand.
static union number atomic_next(struct thread *t, const struct code *c,
                                union number old, union number x)
{
    const char *fault = NULL;
    enum ir_op op = c->origin->op;
    union number r = x;
    if (op == OP_atomic_cas)
        r = old.i == x.i ? eval_run(t, c->args[c->access.n + 1]) : old;
    else if (op != OP_atomic_exchange && type_is_float(c->type))
        r.f = ir_round_float(c->type, c->how->on_float(c->type, old.f, x.f, 0));
    else if (op != OP_atomic_exchange)
        r.i = c->how->on_int(c->type, old.i, x.i, 0, &fault);
    stop_if(t, c, fault);
    return r;
}

// Run an atomic and give the old element.
static union number run_atomic(struct thread *t, const struct code *c)
{
    bool takes = c->origin->op != OP_atomic_exchange;
    void *element = takes ? element_read(t, c)
                          : eval_element(t, &c->access, c->origin->span);
    if (!element)
        return (union number){0};
    union number x = eval_run(t, c->args[c->access.n]);
    union number old = eval_load_number(c->type, element);
    eval_change_number(t->machine, c->type, element, atomic_next(t, c, old, x));
    return old;
}

void eval_run_lanes(struct thread *t, const struct code *x, union number *out)
{
    unsigned lane = t->lane;
    for (unsigned k = 0; k < x->origin->type.lanes; k++) {
        t->lane = k;
        out[k] = eval_run(t, x);
    }
    t->lane = lane;
}

// Set how an operation of ir/arith.def runs.
static void bind_arith(struct code *c)
{
    uint32_t n = c->origin->n;
    if (!type_is_float(c->type))
        c->run = n == 1 ? run_int_1 : run_int_2;
    else if (c->how->test)
        c->run = n == 1 ? run_test_1 : run_test_2;
    else
        c->run = n == 1 ? run_float_1 : n == 2 ? run_float_2 : run_float_3;
}

// Run an operation on an mbarrier.  The roles of warp-specialized loops wait
// for each other in ways that round-robin threads cannot.
static union number run_mbarrier(struct thread *t, const struct code *c)
{
    if (c->origin->op == OP_mbarrier_wait && c->origin->u.buffer->is_ordered)
        eval_stop(t->machine, EVAL_FAULT, c->origin->span,
                  "a producer and its consumers wait: `ingot check` runs them");
    return eval_mbarrier(t, c);
}

void eval_bind_code(struct code *c)
{
    const struct ir_expr *x = c->origin;
    switch ((int)x->op) {
    case OP_const: c->run = run_const; return;
    case OP_var: c->run = x->type.lanes > 1 ? run_vector_var : run_var; return;
    case OP_index: c->run = run_index; return;
    case OP_load:
        c->run = type_is_float(x->type) ? run_load_float : run_load_int;
        return;
    case OP_cast: c->run = run_cast; return;
    case OP_select: c->run = run_select; return;
    case OP_or: c->run = run_or; return;
    case OP_and: c->run = run_and; return;
    case OP_ramp: c->run = run_ramp; return;
    case OP_broadcast: c->run = run_broadcast; return;
    case OP_lanes: c->run = run_lanes; return;
    case OP_lane: c->run = run_lane; return;
    case OP_dp4a: c->run = run_dp4a; return;
    case OP_resident: c->run = run_resident; return;
    case OP_float_bits: c->run = run_float_bits; return;
    case OP_bits_float: c->run = run_bits_float; return;
    }
    if (ir_op_info(x->op)->flags & OP_TOGETHER)
        c->run = run_var;
    else if (ir_op_info(x->op)->flags & OP_SYNCHRONISES)
        c->run = run_mbarrier;
    else if (ir_op_info(x->op)->flags & OP_WRITES)
        c->run = run_atomic;
    else
        bind_arith(c);
}
