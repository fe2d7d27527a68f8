// The inside of the interpreter, shared by ir/eval*.c.
//
// A kernel is translated once into code nodes and action nodes, each with the
// function that runs it; every variable has become a slot of a frame, every
// array a row of a table.  Vectors are computed lane by lane: running a node
// of a vector type gives the lane that the thread is at.

#ifndef IR_EVAL_CODE_H
#define IR_EVAL_CODE_H

#include "ir/arith.h"
#include "ir/base/map.h"
#include "ir/eval.h"

enum { LANES_MOST = 16, WARP = 32, WARPGROUP = 128, OPERANDS_MOST = 3 };

struct action;
struct cluster_state;
struct code;
struct machine;
struct thread;
struct turns;

// An array: what is the same for all threads.
struct array {
    const struct ir_buffer *buffer;
    const struct code **shape, **strides; // strides: NULL for row-major
    int64_t *extent, *stride; // their values, once the array is set up
    int64_t elements;         // of its storage, gaps of the strides included
    size_t bytes;             // of its storage
    size_t element_bytes;
    void *data;     // NULL for local arrays
    uint64_t epoch; // shared: the block that `data` belongs to
};

// An access to an array.
struct access {
    uint32_t array; // row of the table
    uint32_t n;     // indices
    const struct code **index;
    bool is_flat; // the one index counts elements of the storage
};

// An expression.
struct code {
    union number (*run)(struct thread *t, const struct code *x);
    const struct ir_expr *origin;
    struct type type;        // of the operands it computes with
    struct type to;          // cast: the type to convert to
    const struct arith *how; // operations of ir/arith.def
    const struct code **args;
    struct access access; // load and atomics
    union number value;   // const
    uint32_t slot;        // var; together: of the result
};

// The operations of a statement that the threads of a warp compute at once,
// operands before what uses them.
struct exchanges VEC(const struct code *);

// Statements in order.
struct actions {
    struct action **at;
    size_t n;
};

// An iteration variable of a stage.
struct stage_iter {
    const struct code *extent, *binding;
    uint32_t slot;
    bool is_reduce;
};

// A statement.
struct action {
    void (*run)(struct thread *t, const struct action *s);
    const struct ir_stmt *origin;
    bool has_barrier;           // in its blocks, or is one
    uint32_t joint;             // in its blocks or itself, so many threads,
                                // of a warp or warpgroup, do something at
                                // once; 0: none
    bool spawns;                // has a loop over threads, or is one
    bool waits;                 // in its blocks or itself, a thread may wait
                                // for another one
    struct exchanges exchanges; // of the statement itself
    bool reduces;               // for: over a reduction of a stage below
    bool reduces_all;           // for: so, and over elements of none
    const struct code *none;    // for: that the reduction is empty, though the
                                // loop may not be; or NULL
    bool repeats;               // for: what an iteration does depends on what
                                // variables and arrays hold, not on its number
    const struct code *holds;   // for: what it ends without; or NULL
    const struct code *x, *y, *z; // for: from, to, step; if: cond, its parts
                                  // without loops over reductions;
                                  // let, var, assign, store, eval: value;
                                  // matrix: keep or NULL;
                                  // launch: grid; stage: predicate or NULL,
                                  // its parts without the reduction
    uint32_t slot;                // for, let, var, assign
    uint32_t array;               // alloc
    struct access access;         // store; TMA tile copy: in shared memory
    struct access far;            // TMA or bulk copy: in global memory
    struct access signal;         // copy: its mbarrier; without indices: none
    struct access operands[OPERANDS_MOST]; // matrix; without indices: none
    struct actions body, other;            // other: else, init
    const struct code **values;            // print
    struct stage_iter *iters;              // stage
    size_t n_iters;
};

// What runs: one of many in a round-robin, or the only one.
struct thread {
    struct machine *machine;
    union number *frame;
    void **data;    // of each array; NULL before its alloc
    bool *is_owned; // whether this thread allocated it
    void **shared;  // each of the shared arrays of its block, where
                    // blocks take turns; else NULL
    struct cluster_state *cluster; // of its block, where those take turns that
                                   // share arrays; else NULL
    unsigned lane;                 // of the vector being computed
    unsigned empty;            // loops around that have no iteration and run
                               // the init of a reduction only
    bool none;                 // that reduction has no iteration at all
    int64_t index[AXIS_COUNT]; // inside a launch
    int64_t place[3];          // in the block, along x, y and z
    int64_t block[3];          // threads of the block along x, y and z
    bool in_warpgroup;         // a loop over warps counts those of a warpgroup
};

// Threads of one block that run statements in lock-step.
struct group {
    struct thread **at;
    size_t n;
    size_t whole;   // threads of the warp, or warpgroup, that these are of; 0:
                    // of a whole block
    uint32_t width; // WARP or WARPGROUP; 0: a whole block
};

// The iterations of a loop.
struct range {
    int64_t from, to, step;
};

// The blocks of a cluster that share arrays.
struct cluster_state {
    size_t blocks, arrived; // of those, at the barrier
    uint64_t meetings;      // so far
    void **shared;          // each of the arrays that they share
};

// One evaluation.
struct machine {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct map slots;   // ir_var -> its slot + 1, as a pointer
    struct map buffers; // ir_buffer -> its row + 1, as a pointer
    size_t n_slots;
    struct VEC(struct array) arrays;
    struct exchanges exchanges; // of the statement being translated
    struct VEC(const struct ir_var *) counters; // of reductions, around it
    uint64_t epoch;                             // counts blocks
    struct eval_watch *watch;                   // or NULL
    struct buf *printed;  // by `print`, or NULL: nobody reads it
    struct turn *turn;    // of those who take turns, whose it is, or NULL
    size_t n_turns;       // that have begun and not ended
    uint64_t events;      // that others may have waited for: elements and
                          // variables that hold another value now
    uint64_t looks;       // of loops that look again, so many times only
    struct span waits_at; // who waited first since all had their turns
    bool has_mbarriers;   // they count, and waits wait
    const void *watched[EVAL_UNWRITTEN_MOST]; // the elements of its reads
    struct arena *texts;                      // of what it says
    uint64_t most_steps, steps_left;
    bool is_stopped; // `result` says why
    struct eval_result result;
};

// Translation (ir/eval_compile.c).
const struct code *eval_compile_expr(struct machine *m,
                                     const struct ir_expr *x);
struct actions eval_compile_block(struct machine *m,
                                  const struct ir_block *block);
uint32_t eval_slot(struct machine *m, const struct ir_var *var);
uint32_t eval_array(struct machine *m, const struct ir_buffer *b);

// Set `run` from `origin` (ir/eval_expr.c, ir/eval_stmt.c).
void eval_bind_code(struct code *x);
void eval_bind_action(struct action *s);

// Run an expression.
static inline union number eval_run(struct thread *t, const struct code *x)
{
    return x->run(t, x);
}

// Run an expression in all its lanes.
void eval_run_lanes(struct thread *t, const struct code *x, union number *out);

// Run the statements of a block (ir/eval_stmt.c).
void eval_run_actions(struct thread *t, const struct actions *block);

// Compute the iterations of a loop; none after a fault.
struct range eval_loop_range(struct thread *t, const struct action *s);

// Begin an iteration of a loop; false when the evaluation has ended.
bool eval_begin_iteration(struct machine *m, const struct action *s);

// Move to the next iteration; false past the last.
bool eval_next_iteration(const struct range *r, int64_t *i);

// Return whether a loop is to have another iteration behind one that began
// after so many events.  Before a thread looks again whether what it waits for
// is there, others go on; where an iteration of a loop without an end has changed
// nothing, the next ones would not either, and there are none.
bool eval_goes_on(struct machine *m, const struct action *s,
                  const struct range *r, uint64_t before);

// Count a step; false when the evaluation has ended.
bool eval_step(struct machine *m, const struct ir_stmt *at);

// Run a statement that threads do in lock-step, for one (ir/eval_group.c).
void eval_alone(struct thread *t, const struct action *s);

// Let the threads of a group, all of one warp, do an operation at once
// (ir/eval_warp.c).
void eval_exchange(const struct group *g, const struct code *c);
// Run a statement for the threads of a group, warp after warp (or warpgroup).
void eval_units(const struct group *g, uint32_t width, const struct action *s,
                void (*run)(struct group *g, const struct action *s));
// Run a statement, or those of a block, for all threads of a group
// (ir/eval_group.c).
void eval_group_run(struct group *g, const struct action *s);
void eval_run_group(struct group *g, const struct actions *block);
// Tell a thread that it is number `i` of `n` on an axis; warps have 32 lanes,
// in whatever order the loops stand, and warpgroups, which stand around warps,
// 128.
void eval_set_place(struct thread *t, enum axis axis, int64_t i, int64_t n);
// Make `each` threads like every thread of a group, side by side; free them.
struct group eval_group_new(const struct group *parents, size_t each);
void eval_group_free(struct group *g);
// Let the threads of a group run an instruction on matrices
// (ir/eval_matrix.c).
void eval_matrix(const struct group *g, const struct action *s);

// Run a TMA tile copy or a bulk copy (ir/eval_copy.c).
void eval_copy(struct thread *t, const struct action *s);

// Run the blocks of a loop round-robin; of a launch, as needed
// (ir/eval_grid.c).
void eval_block_loop(const struct group *g, const struct action *s,
                     const struct range *r);
void eval_launch(struct thread *t, const struct action *s);
// Let the block of a thread wait for the others of its cluster, where those take
// turns.
void eval_cluster_barrier(struct thread *t, struct span span);

// Memory (ir/eval_memory.c).
//
// Return the address of the element that an access selects, or NULL after a
// fault.
void *eval_element(struct thread *t, const struct access *access,
                   struct span span);
// Likewise of the element so many further on in each dimension.
void *eval_element_moved(struct thread *t, const struct access *access,
                         const uint32_t *by, struct span span);
union number eval_load_number(struct type type, const void *element);
void eval_store_number(struct type type, void *element, union number value);
// Store, and count an event if the element held another value.
void eval_change_number(struct machine *m, struct type type, void *element,
                        union number value);
// Compute the extents, strides and size of an array; false after a fault.
bool eval_set_up_array(struct thread *t, struct array *array);
// Do what an alloc does for one thread.
void eval_allocate(struct thread *t, uint32_t array);
// Make a thread with a copy of the parent's frame and local arrays, or an
// empty one if the parent is NULL.
struct thread eval_thread_new(struct machine *m, const struct thread *parent);
// Leave in the parent what the thread has in the parent's local arrays.
void eval_thread_return(const struct thread *t, struct thread *parent);
void eval_thread_free(struct thread *t);

// What takes turns.
struct turns {
    struct machine *machine;
    struct span span;
    size_t n;
    // Run number `number` from end to end.
    void (*run)(const struct turns *all, size_t number);
};

// Run so many round-robin: each until it waits, then the next
// (ir/eval_turns.c).
void eval_turns(const struct turns *all);
// Run a statement for parts of a group round-robin.
void eval_parts(struct group *parts, size_t n, const struct action *s,
                void (*run)(struct group *g, const struct action *s));
// Let others go on before the one whose turn it is; stops if nobody can.
void eval_pause(struct machine *m, struct span span);

// Run an operation on an mbarrier, and count bytes that were copied
// (ir/eval_mbarrier.c).
union number eval_mbarrier(struct thread *t, const struct code *c);
void eval_signal(struct thread *t, const struct action *s, size_t bytes);

// Note the read of an element that nobody had written, and the write of one
// that was read before, by another statement and where other threads can see
// it (ir/eval_watch.c); only where there is a watch.
void eval_watch_read(struct thread *t, const struct access *access,
                     const void *element, const struct ir_expr *by);
void eval_watch_write(struct thread *t, const void *element, struct span span);
// What fresh arrays of floating types, and of others, are filled with.
enum {
    EVAL_POISON_FLOAT = 0xff,
    EVAL_POISON_INT = 0xcd,
    EVAL_POISON_OTHER = 0x4d
};

// Stop the evaluation; the first reason counts.
void eval_stop(struct machine *m, enum eval_status status, struct span span,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
