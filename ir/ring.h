// Rings of loops: their numbers, their roles, their text.

#ifndef IR_RING_H
#define IR_RING_H

#include "ir/ir.h"

// The registers that setmaxnreg can give a thread (PTX ISA, setmaxnreg).
enum {
    RING_REGISTERS_LEAST = 24,
    RING_REGISTERS_MOST = 240,
    RING_REGISTERS_UNIT = 8
};

// A number of ring.def: where it is in a ring, and what it may be.
struct ir_ring_number {
    const char *name, *meaning;
    size_t at; // of the field
    int64_t least, most;
};
enum ring_number {
#define NUMBER(name, least, most, meaning) RING_NUMBER_##name,
#include "ir/ring.def"
#undef NUMBER
    RING_NUMBERS
};
const struct ir_ring_number *ir_ring_number(int i); // 0 <= i < RING_NUMBERS
// Return that number of a ring.
int64_t *ir_ring_field(struct ir_ring *ring, int i);

// Return the name of a role, "fill", and what it does.
const char *ir_ring_part_name(enum ir_ring_part part);
const char *ir_ring_part_meaning(enum ir_ring_part part);
// Return the role of a ring that fills or uses it; NULL: it has none.
struct ir_role *ir_ring_role(const struct ir_ring *ring,
                             enum ir_ring_part part);

// A WORD of ring.def: `field name`.
struct ir_ring_word_info {
    const char *field, *name, *meaning;
    enum ir_level first, last; // of kernels whose loops may have it
};
const struct ir_ring_word_info *ir_ring_word(enum ir_ring_word word);
// Return whether a ring has a word; give it one.
bool ir_ring_is(const struct ir_ring *ring, enum ir_ring_word word);
void ir_ring_set(struct ir_ring *ring, enum ir_ring_word word);
// Return whether `ring_plan` has planned a ring: it has words.
bool ir_ring_is_planned(const struct ir_ring *ring);

// Return the rings of a statement: none if it is no loop.
struct ir_rings ir_rings_of(const struct ir_stmt *s);
// Return the first ring with roles of a statement, or NULL.
struct ir_ring *ir_ring_specialized(const struct ir_stmt *s);
// Let a loop have copies of the rings of another.
void ir_rings_copy(struct arena *a, struct ir_for *to,
                   const struct ir_for *from);

// Return whether a loop has a ring or a mark.
bool ir_loop_is_marked(const struct ir_for *loop);

// Return a new ring of so many slots.
struct ir_ring *ir_ring_new(struct arena *a, int64_t slots);
// Return whether two rings are the same but for which arrays they name.
bool ir_ring_equal(const struct ir_ring *x, const struct ir_ring *y);
// Return whether an array is one of a ring's.
bool ir_ring_has(const struct ir_ring *ring, const struct ir_buffer *b);
// Return the statement that says which slot of the arrays is that of an
// iteration in a loop's ring number `i`, `let slot = number % slots`; NULL: the
// ring is not planned.
struct ir_stmt *ir_ring_slot(const struct ir_for *loop, size_t i);
// Return how many statements a loop's body begins with that are such.
size_t ir_ring_slots(const struct ir_for *loop);
// Take ring number `i` from a loop, with the statement that says its slot.
void ir_ring_remove(struct ir_for *loop, size_t i);

// Return what is wrong with a ring, or NULL: numbers or registers out of their
// range, as many products in flight as slots, or roles that are not one that
// fills and one that uses, or words of some fields alone. The text goes to the
// arena.
const char *ir_ring_fault(struct arena *a, struct ir_ring *ring);

// Return what is wrong with the rings of a loop in a kernel at a level, or NULL:
// no pass has lowered one, it is of another level, some are planned and others
// not, a planned one has no slot for its iterations, or an array has not as many
// slots. The text goes to the arena.
const char *ir_ring_place_fault(struct arena *a, const struct ir_for *loop,
                                enum ir_level level);

#endif
