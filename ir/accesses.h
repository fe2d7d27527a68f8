// Which elements of which arrays a statement reads and writes.
//
// Ask here instead of switching over kinds of statements.

#ifndef IR_ACCESSES_H
#define IR_ACCESSES_H

#include "ir/ir.h"

enum access_flags {
    ACCESS_reads = 1,
    ACCESS_writes = 2,
    ACCESS_atomic = 4,  // by an atomic, or of an mbarrier
    ACCESS_proxy = 8,   // by the asynchronous proxy: TMA, or WGMMA
    ACCESS_async = 16,  // goes on behind its statement, until its thread waits
    ACCESS_clipped = 32 // may leave the array: zeros are read, nothing written
};

// An access: of the element at `index`, and of those behind it.
struct ir_access {
    struct ir_buffer *buffer;
    uint32_t n;
    struct ir_expr *const *index;
    struct ir_expr *expr;   // the operand of a matrix instruction; NULL: it is
                            // a store or a copy
    struct ir_expr *where;  // it happens only where this holds; NULL: always
    struct span span;       // may be none
    unsigned flags;         // of enum access_flags
    const uint32_t *extent; // how many elements in each dimension; NULL: one
    int64_t run;            // without extents: so many one behind the other
};

// The most accesses of a statement besides those of its expressions.
enum { IR_ACCESSES_MOST = 3 };

// Set what a statement itself accesses: the element that it stores to, the
// operands of a matrix instruction, both sides of a copy and its mbarrier.
// Returns how many there are.  Not those of the loads and atomics in its
// expressions, nor of its blocks.
uint32_t ir_accesses(const struct ir_stmt *s,
                     struct ir_access out[IR_ACCESSES_MOST]);

// Return the flags of what an expression itself accesses, without its operands;
// 0 if it accesses nothing, or is an operand of a matrix instruction.
unsigned ir_access_flags(const struct ir_expr *x);

// Return how many elements a copy moves.
int64_t ir_copy_elements(const struct ir_copy *copy);

// Return the array that a copy writes, and the one that it reads.
struct ir_buffer *ir_copy_target(const struct ir_copy *copy);
struct ir_buffer *ir_copy_source(const struct ir_copy *copy);

// Return whether a statement is a copy that one thread has TMA make, or one
// that each thread makes for itself.
bool ir_is_tma_copy(const struct ir_stmt *s);
bool ir_is_thread_copy(const struct ir_stmt *s);
// Return the array that a thread writes in a store or a copy of its own, NULL
// for other statements.
struct ir_buffer *ir_stored(const struct ir_stmt *s);

// Return whether a statement, or one below it, reads or writes the array, or
// does either.
bool ir_stmt_reads(const struct ir_stmt *s, const struct ir_buffer *buffer);
bool ir_stmt_writes(const struct ir_stmt *s, const struct ir_buffer *buffer);
bool ir_stmt_uses(const struct ir_stmt *s, const struct ir_buffer *buffer);
// Return whether a statement of a block does.
bool ir_block_reads(const struct ir_block *block,
                    const struct ir_buffer *buffer);
bool ir_block_writes(const struct ir_block *block,
                     const struct ir_buffer *buffer);
bool ir_block_uses(const struct ir_block *block,
                   const struct ir_buffer *buffer);
// Return whether a statement itself, without what is below it, accesses the
// array in one of the ways, other than as an mbarrier.
bool ir_stmt_itself(const struct ir_stmt *s, const struct ir_buffer *buffer,
                    unsigned flags);
// Return whether an atomic of a block changes the array.
bool ir_block_atomics(const struct ir_block *block,
                      const struct ir_buffer *buffer);
// Return whether a block stores to the array other than by atomics.
bool ir_block_stores(const struct ir_block *block,
                     const struct ir_buffer *buffer);
// Return whether copies by TMA in a block use an array in shared memory, which
// may be later than these statements: as a side, or to signal.
bool ir_block_copies(const struct ir_block *block,
                     const struct ir_buffer *buffer);
// Return whether a stage below a block reads or writes the array.
bool ir_stages_use(const struct ir_block *block,
                   const struct ir_buffer *buffer);
// Return the place of the first statement of a block that accesses an array in
// global memory, itself or below it; the number of statements if none does.
size_t ir_first_global(const struct ir_block *block);

#endif
