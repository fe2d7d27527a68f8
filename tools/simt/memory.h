// Arrays, and a record of who accessed each element.

#ifndef TOOLS_SIMT_MEMORY_H
#define TOOLS_SIMT_MEMORY_H

#include "ir/shared.h"
#include "tools/simt/model.h"
#include "tools/simt/simt.h"

struct machine;
struct region;
struct cell;

// How code accesses memory.
enum access_kind {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_ATOMIC = 4, // with READ and WRITE
    ACCESS_LATER = 8,  // by what a thread asks for; with READ or WRITE
    ACCESS_BLIND = 16, // with ATOMIC: nobody uses what was there
};

// How much of a check an access inside of its window needs.
enum window_mode {
    WINDOW_CELLS, // records of all its elements
    WINDOW_CELL,  // the record of one element that is read
    WINDOW_FREE,  // none: what is never written is read
};

// The part of an array in which an access needs no other check; all zero is
// none.  Copied from the region, so that one look finds all of it.
struct window {
    unsigned char *base;
    size_t most; // offset of an access
    size_t mask; // bits of the offset that are 0
    struct region *region;
    struct cell *cells;
    unsigned shift;
    enum window_mode mode;
};

// An instruction that is watched.
struct site {
    uint32_t number;
    uint32_t bytes, align;
    unsigned kind;       // of enum access_kind, combined; 0: no access
    enum reach reach;    // of an atomic
    unsigned ordering;   // of an atomic, of enum ordering, combined
    bool is_used;        // what an atomic brings
    struct region *home; // the array that the address is computed from, or NULL
    struct simt_place place;    // in the kernel
    struct simt_place schedule; // of the directive that made it
    struct window window;       // where the last access was
};

// Who accessed an element last.  A record is packed, see `record_make`.
struct cell {
    uint64_t write, read;       // 0: nobody
    uint64_t other_read;        // by another thread, where `read` is of
                                // several, or by another block, see foreign.c;
                                // with clocks: the next reader
    uint32_t write_by, read_by; // block serial numbers
};

// An array.
struct region {
    const char *name;
    const struct ir_buffer *buffer; // or NULL
    enum space space;
    unsigned char *base;
    size_t bytes;       // of all threads together
    size_t stride;      // local: from one thread to the next, else 0
    size_t part;        // bytes of one thread, or one block
    size_t copy;        // shared, of a cluster: from one block to the next;
                        // the first copy stands for that of the own block
    unsigned shift;     // log2 of the bytes of a cell
    struct cell *cells; // NULL: constant memory, nothing is recorded
    size_t n_cells;
    bool *is_split;  // shared: pages without groups, see groups.c; else NULL
    bool is_defined; // before the run
    bool is_read_only;
    bool is_result;
    uint32_t rank;
    int64_t shape[SIMT_RANK_MOST];     // of parameters and the workspace
    int64_t strides[SIMT_RANK_MOST];   // in elements
    size_t elem;                       // bytes
    const struct shared_layout *parts; // arrays that share it, or NULL
};

// ---- memory.c

// Return a machine without arrays, or NULL if there is no address space.
struct machine *machine_open(void);
void machine_close(struct machine *m);

// Add an array of `bytes` bytes per thread or in all, zero, on pages of its
// own.  Returns NULL when there is no room.
struct region *region_add(struct machine *m, const char *name, enum space space,
                          size_t bytes, size_t elem, size_t copies);

// Add an array in shared memory, of which each of `blocks` blocks of a cluster
// has its own.  No two of them agree in the low bits of their addresses, which
// is all that descriptors hold.
struct region *region_add_shared(struct machine *m, const char *name,
                                 size_t bytes, size_t elem, size_t align,
                                 uint32_t blocks);

// Make memory outside of the arena known: constants of the module.
struct region *region_add_constant(struct machine *m, const char *name,
                                   const void *at, size_t bytes);

// Forget all arrays but the first `n`.
void regions_drop(struct machine *m, size_t n);

// Say which array of the kernel a region is, and its strides in elements.
void region_describe(struct region *r, const struct ir_buffer *buffer,
                     const int64_t *strides);

// Return the region an address lies in, or the first of all for "nowhere".
struct region *region_of(struct machine *m, const void *p);

#endif
