// mbarriers: they count arrivals and bytes, in phases.
//
// The element holds the parity of the phase, how many arrivals a phase takes,
// how many are still to come, and the bytes.  Copies are done at once, so those
// of one may be counted before it is told to expect them.

#include "ir/eval_code.h"

enum {
    BYTES_BITS = 23,
    COUNT_BITS = 20,
    BYTES_NONE = 1 << (BYTES_BITS - 1), // bytes are counted from here
};

// What an mbarrier holds.
struct state {
    uint64_t parity, count, pending;
    int64_t bytes; // expected, and not yet there
};

// Read an mbarrier.
static struct state state_of(const void *element)
{
    uint64_t bits = (uint64_t)eval_load_int(type_scalar(TYPE_u64), element);
    const uint64_t count = (UINT64_C(1) << COUNT_BITS) - 1;
    const uint64_t bytes = (UINT64_C(1) << BYTES_BITS) - 1;
    return (struct state){bits >> 63, bits >> (BYTES_BITS + COUNT_BITS) & count,
                          bits >> BYTES_BITS & count,
                          (int64_t)(bits & bytes) - BYTES_NONE};
}

// Write an mbarrier; its phase ends if nothing more is to come.
static void enter(struct machine *m, void *element, struct state s)
{
    if (!s.pending && !s.bytes) {
        s.parity ^= 1;
        s.pending = s.count;
    }
    uint64_t bytes = (uint64_t)(s.bytes + BYTES_NONE);
    uint64_t bits = s.parity << 63 | s.count << (BYTES_BITS + COUNT_BITS) |
                    s.pending << BYTES_BITS |
                    (bytes & ((UINT64_C(1) << BYTES_BITS) - 1));
    eval_store_int(type_scalar(TYPE_u64), element, (int64_t)bits);
    m->events++;
}

// Wait for the end of the phase of a parity.
static void wait_for(struct thread *t, const struct code *c,
                     const void *element, uint64_t parity)
{
    while (state_of(element).parity == parity && !t->machine->is_stopped)
        eval_pause(t->machine, c->origin->span);
}

union number eval_mbarrier(struct thread *t, const struct code *c)
{
    union number nothing = {.i = 0};
    void *element = eval_element(t, &c->access, c->origin->span);
    if (!element || !t->machine->has_mbarriers)
        return nothing;
    struct state s = state_of(element);
    uint32_t operand = c->access.n;
    bool has_operand = c->origin->n > operand;
    uint64_t x = has_operand ? (uint64_t)eval_run(t, c->args[operand]).i : 0;
    switch ((int)c->origin->op) {
    case OP_mbarrier_init: s = (struct state){0, x, x, 0}; break;
    case OP_mbarrier_expect:
        s.bytes += (int64_t)x;
        s.pending--;
        break;
    case OP_mbarrier_wait: wait_for(t, c, element, x & 1); return nothing;
    default: s.pending--;
    }
    enter(t->machine, element, s);
    return nothing;
}

void eval_signal(struct thread *t, const struct action *s, size_t bytes)
{
    if (!t->machine->has_mbarriers || !s->signal.n)
        return;
    void *element = eval_element(t, &s->signal, s->origin->span);
    if (!element)
        return;
    struct state state = state_of(element);
    state.bytes -= (int64_t)bytes;
    enter(t->machine, element, state);
}
