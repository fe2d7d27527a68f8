// Rings of loops: their numbers, roles and words.

#include "ir/ring.h"

#include "ir/build.h"

#include <stddef.h>
#include <string.h>

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

static const struct ir_ring_word_info words[] = {
#define WORD(field, name, first, last, meaning)                                \
    {#field, #name, meaning, LEVEL_##first, LEVEL_##last},
#include "ir/ring.def"
#undef WORD
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

const struct ir_ring_word_info *ir_ring_word(enum ir_ring_word word)
{
    return &words[word];
}

bool ir_ring_is(const struct ir_ring *ring, enum ir_ring_word word)
{
    return ring->words >> word & 1;
}

void ir_ring_set(struct ir_ring *ring, enum ir_ring_word word)
{
    ring->words |= 1u << word;
}

bool ir_ring_is_planned(const struct ir_ring *ring)
{
    return ring->words != 0;
}

struct ir_rings ir_rings_of(const struct ir_stmt *s)
{
    return s->kind == STMT_for ? s->u.loop.rings : (struct ir_rings){0};
}

struct ir_ring *ir_ring_specialized(const struct ir_stmt *s)
{
    struct ir_rings rings = ir_rings_of(s);
    for (size_t i = 0; i < rings.n; i++) {
        if (rings.at[i]->roles.n)
            return rings.at[i];
    }
    return NULL;
}

// Return whether the rings of a loop are planned.
static bool are_planned(const struct ir_for *loop)
{
    return loop->rings.n && ir_ring_is_planned(loop->rings.at[0]);
}

size_t ir_ring_slots(const struct ir_for *loop)
{
    return are_planned(loop) ? loop->rings.n : 0;
}

struct ir_stmt *ir_ring_slot(const struct ir_for *loop, size_t i)
{
    struct ir_stmt *s =
        are_planned(loop) && i < loop->body.n ? loop->body.at[i] : NULL;
    bool is_slot = s && s->kind == STMT_let && s->u.let.value->op == OP_mod;
    return is_slot ? s : NULL;
}

// Remove element `i` of a list.
#define REMOVE(list, i)                                                        \
    memmove(&(list)->at[i], &(list)->at[(i) + 1],                              \
            (--(list)->n - (i)) * sizeof *(list)->at)

void ir_ring_remove(struct ir_for *loop, size_t i)
{
    if (are_planned(loop))
        REMOVE(&loop->body, i);
    REMOVE(&loop->rings, i);
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
    return loop->rings.n || loop->attrs.n;
}

struct ir_ring *ir_ring_new(struct arena *a, int64_t slots)
{
    struct ir_ring *ring = arena_new(a, struct ir_ring);
    ring->slots = slots;
    return ring;
}

// Return a copy of a ring.
static struct ir_ring *copy_ring(struct arena *a, const struct ir_ring *ring)
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

void ir_rings_copy(struct arena *a, struct ir_for *to,
                   const struct ir_for *from)
{
    struct ir_rings rings = from->rings;
    to->rings = (struct ir_rings){0};
    for (size_t i = 0; i < rings.n; i++)
        vec_push(a, &to->rings, copy_ring(a, rings.at[i]));
}

bool ir_ring_equal(const struct ir_ring *x, const struct ir_ring *y)
{
    bool same = x->slots == y->slots && x->lag == y->lag &&
                x->order == y->order && x->producer == y->producer &&
                x->words == y->words && x->roles.n == y->roles.n &&
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
        return ring->lag || ring->order || ring->producer
                   ? "a ring without roles has no `lag`, `producer` or `order`"
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

// Return what is wrong with the words of a ring, or NULL: it has some of each
// field, or none.
static const char *word_fault(const struct ir_ring *ring)
{
    bool has = false;
    for (int i = 0; i < RING_WORDS; i++) {
        has |= ir_ring_is(ring, (enum ir_ring_word)i);
        bool is_last =
            i + 1 == RING_WORDS || strcmp(words[i].field, words[i + 1].field);
        if (is_last && has != ir_ring_is_planned(ring))
            return "a ring that is planned says its `transport`, `arrive` and "
                   "`release`";
        has = is_last ? false : has;
    }
    return NULL;
}

const char *ir_ring_fault(struct arena *a, struct ir_ring *ring)
{
    const char *fault = number_fault(a, ring);
    if (!fault)
        fault = role_fault(ring);
    return fault ? fault : word_fault(ring);
}

// Return what is wrong with a ring in a kernel at a level, or NULL: one that is
// not planned is of level stages.
static const char *level_fault(struct arena *a, const struct ir_ring *ring,
                               enum ir_level level)
{
    bool is_late = !ir_ring_is_planned(ring) && level > LEVEL_stages;
    for (int i = 0; i < RING_WORDS; i++) {
        const struct ir_ring_word_info *word = &words[i];
        if (!ir_ring_is(ring, (enum ir_ring_word)i))
            continue;
        is_late |= level > word->last;
        if (level < word->first)
            return arena_printf(a, "a ring has no `%s %s` before level %s",
                                word->field, word->name,
                                level_name(word->first));
    }
    return is_late ? "a ring has survived `ring_lower`" : NULL;
}

// Return what is wrong with the place of ring number `i` of a loop, or NULL.
static const char *one_place_fault(struct arena *a, const struct ir_for *loop,
                                   size_t i)
{
    const struct ir_ring *ring = loop->rings.at[i];
    if (ir_ring_is_planned(ring) != are_planned(loop))
        return "of the rings of a loop, all are planned, or none";
    if (!ir_ring_is_planned(ring))
        return ring->arrays.n ? "a ring with `arrays` has a `transport`" : NULL;
    if (!ir_ring_slot(loop, i))
        return "the body of a loop with planned rings begins with the slot of "
               "the iteration in each, `let slot = number % slots`";
    for (size_t k = 0; k < ring->arrays.n; k++) {
        const struct ir_buffer *b = ring->arrays.at[k];
        if (!b->rank || !ir_is_int_const(b->shape[0], ring->slots))
            return arena_printf(a,
                                "the first dimension of `%s`, an array of a "
                                "ring, is as long as there are slots",
                                b->name);
    }
    return NULL;
}

const char *ir_ring_place_fault(struct arena *a, const struct ir_for *loop,
                                enum ir_level level)
{
    const char *fault = NULL;
    for (size_t i = 0; i < loop->rings.n && !fault; i++)
        fault = level_fault(a, loop->rings.at[i], level);
    for (size_t i = 0; i < loop->rings.n && !fault; i++)
        fault = one_place_fault(a, loop, i);
    return fault;
}
