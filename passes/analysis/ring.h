// What software-pipelined loops may fill ahead of its use.
//
//   for k in 0..n {
//     for i in 0..64 { stage S { S[i] = A[k * 64 + i] } }     fills S
//     for i in 0..64 { stage C { C[i] = C[i] + S[i] } }       uses it
//   }
//
// With S a ring of several slots, one for each iteration in flight, the stages
// that fill it may run iterations ahead of those that use it.

#ifndef PASSES_ANALYSIS_RING_H
#define PASSES_ANALYSIS_RING_H

#include "ir/ring.h"
#include "ir/walk.h"

// A ring of a loop, and what fills it.
struct ring {
    struct ir_stmt *loop;
    struct ir_ring *of;                    // NULL: it is only asked for
    struct VEC(struct ir_stmt *) fills;    // statements of its body, in order
    struct VEC(struct ir_buffer *) arrays; // that they fill, each once
    bool by_tma;        // some of them are TMA or bulk copies
    const char *fault;  // why it may not; NULL: it may
    struct ir_stmt *at; // what is in the way
};

// Look at ring number `i` of a loop of a kernel at level stages, which it may
// have or be asked for. It is filled by the statements of its body whose stages
// are of that number, and compute elements of shared arrays from what the loop
// does not change, or from what rings of smaller numbers hold: then such a
// statement may compute in arrays of its own, too. Nothing else may fill these
// arrays, only the loop uses them, and each iteration must first write what it
// reads of them. Texts and lists go to the arena.
struct ring ring_find(struct arena *a, struct ir_kernel *kernel,
                      struct ir_stmt *loop, size_t i);

// Return the same of a ring that was looked at since the kernel last changed: it may
// be there.
struct ring ring_checked(struct arena *a, struct ir_kernel *kernel,
                         struct ir_stmt *loop, size_t i);

// Return what `ring_plan` has made of ring number `i` of a loop: its arrays,
// with slots, and the statements of its body that fill them: they write some and
// read none. It is a fault if that has not run.
struct ring ring_planned(struct arena *a, struct ir_stmt *loop, size_t i);

// Return whether an array is one of a ring's.
bool ring_has(const struct ring *ring, const struct ir_buffer *b);

// Return whether a statement is one of a ring's fills.
bool ring_has_fill(const struct ring *ring, const struct ir_stmt *s);

// Return whether a statement reads an array of a ring, or writes one.
bool ring_is_read(const struct ring *ring, struct ir_stmt *s);
bool ring_is_written(const struct ring *ring, struct ir_stmt *s);

// Return whether an iteration of a loop, at the end of a path from the kernel's
// body, writes what it reads of `n` arrays, n > 0; in which order is not asked.
bool ring_covers(struct arena *a, struct ir_kernel *kernel,
                 const struct ir_path *path, struct ir_buffer *const *arrays,
                 size_t n);

#endif
