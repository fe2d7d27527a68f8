// Rings of loops: their numbers and roles.

#include "ir/ring.h"

#include "ir/build.h"

#include <stddef.h>

static const struct ir_ring_number numbers[] = {
#define NUMBER(name, least, most, meaning)                                     \
    {#name, meaning, offsetof(struct ir_ring, name), least, most},
#include "ir/ring.def"
#undef NUMBER
};

static const struct {
    const char *name, *meaning;
} parts[] = {
#define ROLE(name, meaning) {#name, meaning},
#include "ir/ring.def"
#undef ROLE
};

const struct ir_ring_number *ir_ring_number(int i)
{
    return &numbers[i];
}

int64_t *ir_ring_field(struct ir_ring *ring, int i)
{
    return (int64_t *)(void *)((char *)ring + numbers[i].at);
}

const char *ir_ring_part_name(enum ir_ring_part part)
{
    return parts[part].name;
}

const char *ir_ring_part_meaning(enum ir_ring_part part)
{
    return parts[part].meaning;
}

struct ir_role *ir_ring_role(const struct ir_ring *ring, enum ir_ring_part part)
{
    for (size_t i = 0; i < ring->roles.n; i++) {
        if (ring->roles.at[i].part == part)
            return &ring->roles.at[i];
    }
    return NULL;
}

struct ir_ring *ir_ring_of(const struct ir_stmt *s)
{
    return s->kind == STMT_for ? s->u.loop.ring : NULL;
}

struct ir_ring *ir_ring_specialized(const struct ir_stmt *s)
{
    struct ir_ring *ring = ir_ring_of(s);
    return ring && ring->roles.n ? ring : NULL;
}

const struct ir_stmt *ir_ring_slot(const struct ir_for *loop)
{
    const struct ir_stmt *first =
        loop->ring && loop->ring->arrays.n && loop->body.n ? loop->body.at[0]
                                                           : NULL;
    return first && first->kind == STMT_let && first->u.let.value->op == OP_mod
               ? first
               : NULL;
}

bool ir_ring_has(const struct ir_ring *ring, const struct ir_buffer *b)
{
    for (size_t i = 0; i < ring->arrays.n; i++) {
        if (ring->arrays.at[i] == b)
            return true;
    }
    return false;
}

bool ir_loop_is_marked(const struct ir_for *loop)
{
    return loop->ring || loop->attrs.n;
}

struct ir_ring *ir_ring_new(struct arena *a, int64_t slots)
{
    struct ir_ring *ring = arena_new(a, struct ir_ring);
    ring->slots = slots;
    return ring;
}

struct ir_ring *ir_ring_copy(struct arena *a, const struct ir_ring *ring)
{
    struct ir_ring *copy = arena_new(a, struct ir_ring);
    *copy = *ring;
    copy->roles.n = copy->roles.cap = 0;
    for (size_t i = 0; i < ring->roles.n; i++)
        vec_push(a, &copy->roles, ring->roles.at[i]);
    copy->arrays.n = copy->arrays.cap = 0;
    for (size_t i = 0; i < ring->arrays.n; i++)
        vec_push(a, &copy->arrays, ring->arrays.at[i]);
    return copy;
}

bool ir_ring_equal(const struct ir_ring *x, const struct ir_ring *y)
{
    if (!x || !y)
        return x == y;
    bool same = x->slots == y->slots && x->lag == y->lag &&
                x->order == y->order && x->roles.n == y->roles.n &&
                x->arrays.n == y->arrays.n;
    for (size_t i = 0; same && i < x->roles.n; i++)
        same = x->roles.at[i].part == y->roles.at[i].part &&
               x->roles.at[i].registers == y->roles.at[i].registers;
    return same;
}

// Return what is wrong with the numbers of a ring, or NULL.
static const char *number_fault(struct arena *a, struct ir_ring *ring)
{
    for (int i = 0; i < RING_NUMBERS; i++) {
        const struct ir_ring_number *of = &numbers[i];
        int64_t n = *ir_ring_field(ring, i);
        if (n < of->least || n > of->most)
            return arena_printf(a,
                                "`%s` of a ring is a number from %lld to "
                                "%lld",
                                of->name, (long long)of->least,
                                (long long)of->most);
    }
    if (ring->order == 1)
        return "the `order` of a ring has two warpgroups, or more";
    return ring->lag < ring->slots
               ? NULL
               : "the `lag` of a ring is less than its `slots`: one is to be "
                 "filled";
}

// Return what is wrong with the roles of a ring, or NULL.
static const char *role_fault(const struct ir_ring *ring)
{
    if (!ring->roles.n)
        return ring->lag || ring->order
                   ? "a ring without roles has no `lag` and no `order`"
                   : NULL;
    if (ring->roles.n != RING_PARTS || !ir_ring_role(ring, RING_fill) ||
        !ir_ring_role(ring, RING_use))
        return "a ring with roles has one `fill` and one `use`";
    for (size_t i = 0; i < ring->roles.n; i++) {
        int64_t n = ring->roles.at[i].registers;
        if (n && (n < RING_REGISTERS_LEAST || n > RING_REGISTERS_MOST ||
                  n % RING_REGISTERS_UNIT))
            return "the threads of a role keep 24 to 240 registers, a multiple "
                   "of 8; 0: as many as they begin with";
    }
    return NULL;
}

const char *ir_ring_fault(struct arena *a, struct ir_ring *ring)
{
    const char *fault = number_fault(a, ring);
    return fault ? fault : role_fault(ring);
}

const char *ir_ring_place_fault(struct arena *a, const struct ir_for *loop,
                                enum ir_level level)
{
    const struct ir_ring *ring = loop->ring;
    if (level > LEVEL_stages)
        return "a ring has survived `ring_lower`";
    if (ring->arrays.n && !ir_ring_slot(loop))
        return "the body of a loop whose ring has arrays begins with the slot "
               "of the iteration, `let slot = number % slots`";
    for (size_t i = 0; i < ring->arrays.n; i++) {
        const struct ir_buffer *b = ring->arrays.at[i];
        if (!b->rank || !ir_is_int_const(b->shape[0], ring->slots))
            return arena_printf(a,
                                "the first dimension of `%s`, an array of a "
                                "ring, is as long as there are slots",
                                b->name);
    }
    return NULL;
}
