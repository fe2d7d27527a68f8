// What runs: one block at a time, its threads as fibers, over arrays in an
// arena of their own with a record of who accessed each element.

#ifndef TOOLS_SIMT_MACHINE_H
#define TOOLS_SIMT_MACHINE_H

#include "tools/simt/memory.h"
#include "tools/simt/search.h"

enum {
    WARP_LANES = 32,
    THREADS_MOST = 1024,
    FIBERS_MOST = 8192, // of a cluster of blocks
    CLUSTER_MOST = 16,
    MBARRIERS_MOST = 512,
    RESIDENT_MOST = 64,
    RESIDENT_USUAL = 8,
    AGENTS_MOST = FIBERS_MOST + FIBERS_MOST / WARP_LANES + MBARRIERS_MOST,
    OPERANDS_MOST = 640,
    SINK_BYTES = 64
};

enum fiber_state {
    FIBER_READY,
    FIBER_BARRIER,   // of the block
    FIBER_WARP,      // other lanes
    FIBER_NAMED,     // a named barrier
    FIBER_MBARRIER,  // a phase of an mbarrier
    FIBER_CLUSTER,   // the barrier of the cluster
    FIBER_REGISTERS, // registers that other warps hold
    FIBER_DONE
};

// What the lanes of a warp do at once: collectives.def.
enum collective {
#define COLLECTIVE(name, intrinsic, ...) COLLECTIVE_##name,
#include "tools/simt/collectives.def"
#undef COLLECTIVE
    COLLECTIVES
};

// What came before, where threads meet otherwise than all of a block at once:
// of each agent (thread, warp of a matrix instruction, mbarrier that copies
// complete) the accesses older than a stamp.
struct clock {
    uint32_t *seen;
    uint32_t *fenced; // and are known to the asynchronous proxy
};

// The state of a loop at its head, some iterations ago.
struct turn {
    const struct site *site;
    uint64_t state, changes;
    uint32_t n, most;       // iterations since, and until another one is kept
    uint32_t since, period; // iterations since it came back, and between twice
};

enum { LINE_BYTES = 64 }; // of the processor's cache

// A thread.  What every switch, collective and access reads comes first: two
// lines of the processor's cache, of as many threads as a cluster has.
struct fiber {
    void *stack; // where it was left
    enum fiber_state state;
    uint32_t place;          // among the threads of all resident blocks
    uint32_t number;         // in the cluster
    uint32_t tid;            // in the block
    uint32_t stamp;          // of its accesses: when it last met others
    uint32_t floor;          // older accesses of the block came before
    uint32_t warp_floor;     // and of the warp
    uint32_t rank;           // of the block in the cluster
    const struct site *site; // what it waits at
    enum collective what;
    uint32_t mask;
    uint64_t operands[3];
    uint64_t result;
    uint32_t thread[3], block[3];
    struct clock clock;  // with NULL: the floors say all
    struct view view;    // of other blocks
    uint32_t waits_for;  // which barrier, or how many registers
    uint64_t parity;     // of the phase
    uint64_t waited;     // progress of the machine at the last test
    uint32_t group;      // of its copies, not yet committed
    uint32_t copies;     // the first one outstanding, 0: none
    uint32_t bulk_group; // the same of stores by the asynchronous proxy
    uint32_t registers;  // of its warp, in lane 0
    uint32_t products;   // of its warpgroup, begun and complete
    uint32_t products_done;
    uint32_t products_group; // not yet committed
    uint32_t products_stamp; // of the last wait, in lane 0
    bool has_fenced;         // its registers for products
    bool insists;            // on a phase of an mbarrier
    bool has_arrived;        // at the barrier of the cluster
    bool may_pass;           // it: all have arrived
    uint64_t idle_at;        // changes of memory, and one, when it looked and
                             // found nothing new
    uint64_t round_at;       // the same when its loop began to repeat itself
    uint64_t left;           // iterations of that loop at most
    struct turn turn;        // of that loop
    const void *polled;      // by its last atomic
    const struct site *poller;
    uint64_t expected;  // by it, if it compared
    uint64_t polled_at; // changes then
    uint32_t polls;     // in vain, while nobody else could go on
    uint32_t atomics;   // so far
} __attribute__((aligned(LINE_BYTES)));

// A write that met another: a fault only if it changes the value.  The next
// step of the thread decides that.
struct pending {
    bool is_active;
    int64_t slice; // steps of the thread that were left
    const unsigned char *at;
    unsigned char before[SINK_BYTES];
    size_t bytes;
    struct simt_finding finding;
};

// A write that a later one of the block met.
struct same {
    const struct cell *cell; // NULL: none
    uint64_t value;          // of the cell then
    uint32_t by;             // block serial number
    uint32_t agent;
};
enum { SAME_MOST = 1 << 21 };

// Blocks of a launch of which it is noted which two accessed a common element.
enum { PAIRS_SIDE = 1024 };

// When what is asynchronous happens: policies.def.
enum arrival { ARRIVAL_late, ARRIVAL_at_once, ARRIVAL_random };

enum { REGIONS_MOST = 1024 };
#define SHARED_WINDOW ((size_t)1 << 18)

enum { MAP_RANK_MOST = 5 };

// A tensor map, a parameter of entries behind the arrays.  Dimensions
// innermost first; outside of the tensor there are zeros.
struct tensor_map {
    unsigned char *base;
    uint32_t bytes; // of an element
    uint32_t rank;
    int64_t size[MAP_RANK_MOST];   // in elements
    int64_t stride[MAP_RANK_MOST]; // in bytes
    uint32_t box[MAP_RANK_MOST];
    uint32_t swizzle; // 0, 32, 64 or 128 bytes
    bool rounds;      // loads round each element, an f32, to tf32
};

// The last write, of which is not yet known whether it changes anything.
struct written {
    const void *at;
    size_t bytes; // 0: none
    unsigned char before[SINK_BYTES];
};

// A place for a block, or a cluster, that is resident.
struct slot {
    struct fiber *fibers;
    uint32_t serial, clock, at[3];
    bool is_live;
};

// Threads that look have been let go on, to see whether it helps.
struct trial {
    bool is_on;
    uint64_t changes, progress; // when it began
};

// The order of the blocks of a launch, or of clusters of them.
struct tour {
    uint64_t n, at, step; // of so many, from where, how far each time
    uint64_t all;         // of the launch
};

// One run.
struct machine {
    unsigned char *arena; // address space for arrays
    uint16_t *pages;      // the region of each page, 0 for none
    size_t used;          // bytes of the arena
    size_t shared;        // bytes of a block's shared memory
    struct region regions[REGIONS_MOST];
    size_t n_regions; // the first means "nowhere"

    struct site *const *sites; // of the code, by number
    const char *entry;         // the launch
    uint32_t grid[3], block[3], at[3];
    struct tour tour;
    uint32_t cluster[3];  // blocks of a cluster
    uint32_t threads;     // of a block
    uint32_t n_fibers;    // of a cluster
    uint32_t registers;   // of a thread at the start; 0: as many as there are
    uint32_t min_blocks;  // that share the registers; 0: not said
    enum arrival arrival; // of what is asynchronous
    uint32_t serial;      // of the block, over all launches
    uint32_t last_serial; // of any block
    uint32_t first;       // serial before this launch's first block; as a
                          // reader: several blocks of the launch
    uint32_t clock;       // meetings of threads so far
    struct fiber all[FIBERS_MOST]; // of all slots
    struct fiber *fibers;          // of this one
    struct slot slots[RESIDENT_MOST];
    uint32_t n_slots, slot;
    bool may_wait;    // code that may look for changes of memory
    uint64_t changes; // of values in memory
    struct written written;
    struct fiber *forced; // that goes on though it finds nothing new
    struct trial trial;
    struct orders orders;
    struct fiber *current;
    uint32_t order[FIBERS_MOST];
    bool has_async;  // code that needs `async`
    bool has_clocks; // and a launch that needs clocks
    bool has_order;  // and fences or atomics that put accesses in order
    bool has_agents; // not only threads access memory
    enum simt_missing assumed; // of fences that are not there
    struct flags flags;
    uint32_t n_agents;   // so far
    struct async *async; // async.h
    const struct tensor_map *maps;
    size_t n_maps;
    uint64_t progress;                // phases, copies and barriers so far
    uint64_t operands[OPERANDS_MOST]; // of the call that is made
    void *scheduler;                  // its stack while a fiber runs
    unsigned char *stacks;
    size_t stack_bytes;
    void (*body)(void *slots);
    void *parameters; // their slots

    enum simt_policy policy;
    uint64_t random;        // state
    int64_t slice, granted; // steps left to this fiber, and what it was given
    uint64_t steps, most_steps;
    uint64_t moved;       // elements of products of matrices
    uint64_t most_blocks; // of a launch; 0: all
    uint32_t resident;    // blocks at a time
    bool is_stopped;
    uint64_t poison; // what arrays of a block, and registers, hold at first
    struct pending pending;
    bool is_group, is_group_wrong; // is looked at, and something is
    struct same same[SAME_MOST];   // same.c
    uint64_t pairs[PAIRS_SIDE * PAIRS_SIDE / 64];
    unsigned char sink[SINK_BYTES] __attribute__((aligned(16)));
    struct simt_result *result;
    struct trace *trace; // trace.h; NULL: none is asked for
    struct buf *printed; // by the kernel; NULL: it is not wanted
};

// ---- access.c: called by the code

// Check an access of this thread.  Returns where it may go: `p`, or a place
// where it does no harm.
void *simt_access(struct machine *m, void *p, struct site *s);

// The same for `bytes` bytes: memcpy, memset.
void *simt_range(struct machine *m, void *p, uint64_t bytes,
                 const struct site *s);

// One more iteration of a loop.
void simt_step(struct machine *m, const struct site *s);

// Return `divisor`, or 1 after a finding, if `value / divisor` has no result
// in a signed (`bits` > 0) or unsigned (`bits` < 0) integer of so many bits.
uint64_t simt_divisor(struct machine *m, uint64_t value, uint64_t divisor,
                      int64_t bits, const struct site *s);

// Return this thread's part of a local array.
void *simt_local(struct machine *m, const struct region *r);

// Decide what a write that met another one was.
void pending_settle(struct machine *m);

// ---- foreign.c

// Note the first read of an element by this block, where there are no fences.
void foreign_read(struct machine *m, const struct region *r, struct cell *c,
                  uint64_t record);

// Return a read of an element by another block, and that block's serial number.
uint64_t foreign_reader(const struct machine *m, const struct cell *c,
                        uint32_t *by);

// ---- same.c

// Note who has written the cell at `p`, and what: a write of the block meets
// that one.
void same_note(struct machine *m, const struct region *r,
               const unsigned char *p, uint64_t older);

// Return whether this thread itself has written to the cell at `p` what another
// one, which it has not met, has written last.
bool same_as_own(struct machine *m, const struct region *r,
                 const unsigned char *p);

// ---- coverage.c

// Note that this block accessed an element that another one of the launch, by
// its serial number, accessed last.
void pairs_note(struct machine *m, uint32_t other);

// Begin a launch, of which there are no pairs yet.
void pairs_begin(struct machine *m);

// ---- groups.c

enum { GROUP_BYTES = 16, GROUPS_SHIFT = 10 }; // log2 of the bytes of a page

// Return whether an access is to whole groups, each of which has one record.
bool groups_are_whole(const struct region *r, size_t offset, size_t bytes);

// Give the cells of the pages of an access records of their own.
void groups_split(const struct machine *m, struct region *r, size_t offset,
                  size_t bytes);

// ---- under_way.c

// An access that goes on while its thread does.
struct under_way {
    uint32_t bytes, align;
    unsigned kind;  // READ or WRITE, with LATER
    uint32_t agent; // that does it
    bool by_proxy;  // the asynchronous one
    const struct site *site;
};

// Return what an address stands for: shared memory of the own block has
// another one in a cluster.
void *own_address(struct machine *m, void *p);

// Check an access that is done at once, aligned to its size.  Returns where,
// or NULL after a finding.
void *access_now(struct machine *m, void *p, uint32_t bytes, unsigned kind,
                 const struct site *s);

// Check an access of this thread; from now on it meets every other one.
// Returns where it is done, or NULL after a finding.
void *access_begin(struct machine *m, void *p, const struct under_way *u);

// Say that it was done by an agent, at a stamp.
void access_end(struct machine *m, void *p, const struct under_way *u,
                uint32_t agent, uint32_t stamp);

// Check that what the asynchronous proxy reads of shared memory was fenced
// since it was written.
void access_need_fence(struct machine *m, void *p, uint32_t bytes,
                       const struct site *s);

// ---- clock.c

// Reserve what code with clocks needs.  Returns false without memory.
bool async_open(struct machine *m);
void async_close(struct machine *m);

// ---- findings.c

// Note a fault of the current thread at a place of the code.
void finding_add(struct machine *m, enum simt_fault fault, const struct site *s,
                 struct region *r, const void *p);

// Fill a finding for the current thread, without noting it.
void finding_make(struct machine *m, enum simt_fault fault,
                  const struct site *s, struct region *r, const void *p,
                  struct simt_finding *out);

// Say who another access of a finding was by, and where; of which block.
void finding_set_other(const struct machine *m, uint64_t record, uint32_t by,
                       struct simt_finding *f);

// Say which other thread waits.
void finding_set_waiting(const struct machine *m, const struct fiber *other,
                         struct simt_finding *f);

// Note a fault of the current thread in which a write had a part.
void finding_add_other(struct machine *m, enum simt_fault fault,
                       const struct site *s, struct region *r, void *p,
                       uint64_t record);

// Return the array that an address is told by: its own, or the nearest one.
struct region *finding_region(struct machine *m, struct region *r,
                              const void *p);

// Return whether two findings are the same fault at the same places.
bool finding_is_same(const struct simt_finding *a,
                     const struct simt_finding *b);

// Note a finding, or count it if the same is known.
void finding_note(struct machine *m, const struct simt_finding *f);

// Return the coordinates of a thread of the cluster, or of the thread that
// another agent works for; the same of another cluster of the launch.
struct simt_thread thread_of(const struct machine *m, uint32_t number);
struct simt_thread foreign_thread(const struct machine *m, uint32_t number,
                                  uint32_t by);

// ---- order.c

// Put the threads of the block in the order of the policy.
void order_threads(struct machine *m);

// Return a random number below `n`.
uint64_t random_below(struct machine *m, uint64_t n);

// Grant the fiber that runs next its steps.
void order_grant(struct machine *m);

// ---- launch.c

// Run the clusters of a launch, or as many of them as there may be: the first,
// the last and some between.
void blocks_run(struct machine *m);

// Find the first block of the cluster of a serial number.
void block_at(const struct machine *m, uint32_t serial, uint32_t at[3]);

// Let the block of a slot be the one that runs.
void slot_enter(struct machine *m, uint32_t slot);

// ---- block.c

// Begin a block, or the blocks of a cluster.
void block_begin(struct machine *m);

// Let each of its threads run that can.  Returns whether any did; notes its
// end.
bool block_advance(struct machine *m);

// Let a thread go on for the steps that it was granted.
void fiber_go_on(struct machine *m, struct fiber *f);

// Nothing of a block goes on: say who waits, where.
void note_stuck(struct machine *m);

// Leave the current fiber; returns when it goes on.
void fiber_yield(struct machine *m);

// Leave it until something sets it ready.
void fiber_wait(struct machine *m, enum fiber_state state,
                const struct site *s);

// Note that a thread waits for one that does not come.
void note_wait(struct machine *m, enum simt_fault fault, const struct fiber *f,
               const struct fiber *other);

// Take account of the steps of the current fiber, and let others run.
void fiber_preempt(struct machine *m, const struct site *s);

// Wait for the block; called by the code.
void simt_barrier(struct machine *m, const struct site *s);

// ---- wait.c

// Note a write that is about to be done.
void wait_note_write(struct machine *m, const void *p, size_t bytes);

// Count the last write if it has changed anything.
void wait_settle(struct machine *m);

// Return whether a thread has not come back to a state since memory changed.
bool wait_moves(const struct machine *m, const struct fiber *f);

// Return whether a thread would find nothing new.
bool wait_is_idle(struct machine *m, const struct fiber *f);

// The current thread looks at an element by an atomic, which may compare it: if
// nothing has changed since it did just that, others run first.
void wait_poll(struct machine *m, const void *p, uint64_t expected,
               const struct site *s);

// The head of a loop, its state, and the iterations that it has left; called by
// the code.
void simt_turn(struct machine *m, const struct site *s, uint64_t state,
               uint64_t left);

// No thread runs: let one go on that looks for changes, or say that all hang.
void wait_resolve(struct machine *m, uint64_t unbegun);

// ---- async.c

// Begin a launch.
void async_launch(struct machine *m);

// Begin the blocks of a cluster, and end them.
void async_begin(struct machine *m);
void async_end(struct machine *m);

// Do what the policy wants done between two rounds of threads.
void async_between(struct machine *m);

// No thread can go on: let something happen that they may wait for.  Returns
// whether there was anything.
bool async_go_on(struct machine *m);

// ---- mbarrier.c

// Return the thread that asked last for what an agent does to its mbarrier.
uint32_t mbarrier_user(const struct machine *m, uint32_t agent);

// ---- warp.c

// Do something with the other lanes of the warp; called by the code.
uint64_t simt_collective(struct machine *m, uint64_t what, uint64_t mask,
                         uint64_t a, uint64_t b, uint64_t c,
                         const struct site *s);

// Return a special register of this thread, by its number in registers.def.
uint32_t simt_register(struct machine *m, uint32_t i);

#endif
