// What runs while threads go on: copies, matrix instructions, and the barriers
// that tell when they are done.

#ifndef TOOLS_SIMT_ASYNC_H
#define TOOLS_SIMT_ASYNC_H

#include "tools/simt/record.h"

enum { NAMED_BARRIERS = 16 };

// An mbarrier, known by its address.
struct mbarrier {
    unsigned char *at;
    uint64_t record;    // of the write that made it
    uint32_t count;     // arrivals of a phase
    uint32_t pending;   // that are still to come
    int64_t bytes;      // that copies have still to bring
    uint64_t phase;     // so many are complete
    struct clock now;   // what came before the arrivals of this phase
    struct clock ended; // and of complete ones
    bool is_live;
    uint32_t user; // the thread that asked last for copies that signal it
};

// A named barrier of a block.
struct named {
    uint32_t threads, arrived; // 0: nobody waits
    struct clock clock;
    const struct site *site; // of the first to arrive
    uint32_t first;          // number of that thread
};

// A copy of a few bytes by one thread.
struct copy {
    unsigned char *to, *from;
    uint32_t bytes, valid; // of which so many are copied; the rest is zero
    uint32_t group;
    uint32_t next; // of the thread, or in the list of those that are free
    const struct site *site;
    bool is_done;
};

// A TMA tile copy between a tensor and shared memory.
struct tma_copy {
    struct tensor_map map;
    unsigned char *shared;     // the TMA tile
    int32_t at[MAP_RANK_MOST]; // in the tensor
    uint32_t agent;
    bool is_load, is_bulk; // bulk: of bytes
    const struct site *site;
};

// What the asynchronous proxy is asked for, or an arrival after copies.
struct event {
    void (*happen)(struct machine *m, struct event *e);
    uint32_t fiber;           // that asked for it
    uint32_t copies;          // the first of a list of copies
    struct mbarrier *signals; // or NULL
    struct tma_copy copy;
    uint32_t group; // of stores, from 1; 0: none, or waited for
    bool is_read;   // its thread has waited until it was
    bool has_happened;
};

// Readers of an element more: threads of a warp at one place and one time.
struct reader {
    uint64_t record; // of one of them
    uint32_t by;     // block serial number
    uint32_t next;
    uint32_t room;  // for so many before the list is searched
    uint32_t lanes; // which of the warp
};

// All of a machine.
struct async {
    uint32_t *clocks;           // memory of all of them
    size_t length;              // of one
    size_t used;                // clocks
    struct clock joined;        // for a moment
    bool is_at_once, is_random; // when things happen
    struct mbarrier mbarriers[MBARRIERS_MOST];
    uint32_t n_mbarriers;
    struct named named[FIBERS_MOST / WARP_LANES * NAMED_BARRIERS];
    struct clock cluster; // what came before arrivals at its barrier
    struct copy *copies;  // the first is none
    uint32_t n_copies, free_copy;
    uint32_t most_copies;
    struct event *events; // some have happened
    uint32_t n_events, most_events, waiting_events;
    struct product *products;
    uint32_t n_products, most_products;
    uint64_t *values;       // of inline instructions, of each thread
    struct reader *readers; // the first is none
    uint32_t n_readers, free_reader;
    uint64_t searches;                 // of lists of readers
    uint64_t searched[2][FIBERS_MOST]; // in which, and how old: reads, writes;
                                       // by thread
};

// Return the slots of a thread's inline instructions.
static inline uint64_t *values_of(const struct machine *m,
                                  const struct fiber *f)
{
    return m->async->values + (size_t)f->place * OPERANDS_MOST;
}

// Return the agents beside the threads: the warps, for matrix instructions,
// and the mbarriers, for the copies that signal them.
static inline uint32_t agent_of_warp(const struct machine *m,
                                     const struct fiber *f)
{
    return m->n_fibers + f->number / WARP_LANES;
}

static inline uint32_t agent_of_mbarriers(const struct machine *m)
{
    return m->n_fibers + m->n_fibers / WARP_LANES + 1;
}

// ---- readers.c

// Note the read of an element by this thread beside those of others.
void readers_add(const struct machine *m, struct cell *c, uint64_t record);

// Keep the last write of a cell, an atomic, beside its readers: another one
// follows that does not come behind it, as one would that reads it.
void readers_keep_write(const struct machine *m, const struct region *r,
                        struct cell *c);

// Return a read of a cell's list that a write of this thread meets, or 0; of
// the block `*by`.  Two atomics do not meet.
uint64_t readers_meet(const struct machine *m, const struct cell *c,
                      const struct site *s, uint32_t *by);

// Return a write that was kept, and that a plain read of this thread meets, or
// 0.
uint64_t writes_meet(const struct machine *m, const struct cell *c,
                     uint32_t *by);

// Forget, where there are fences, the list of a cell of a block or launch that
// has ended.
void readers_begin(const struct machine *m, const struct region *r,
                   struct cell *c);

// Forget the list of a cell, or all of them.
void readers_drop(const struct machine *m, struct cell *c);
void readers_forget(struct machine *m);

// Give a cell that has none the readers of another one.
void readers_copy(const struct machine *m, const struct cell *from,
                  struct cell *to);

// Put one record in the place of another one.
void readers_replace(const struct machine *m, struct cell *c, uint64_t old,
                     uint64_t by);

// ---- clock.c

// Give every thread a clock that knows of nothing.
void clocks_begin(struct machine *m);

// Return a clock that knows of nothing; it lives until the next block.
struct clock clock_new(struct machine *m);
void clock_clear(const struct machine *m, struct clock c);

// Tell a clock what a thread knows and has done, or the other way round.
void clock_release(struct machine *m, struct fiber *f, struct clock to);
void clock_acquire(struct machine *m, struct fiber *f, struct clock from);
void clock_pass(const struct machine *m, struct clock to, struct clock from);

// Make known to the asynchronous proxy all that a thread knows.
void clock_fence(struct machine *m, struct fiber *f);

// Threads meet at a barrier: each knows what any of them did.  NULL in `who`:
// nobody.  `is_block`: at a barrier of all that the block still has.
void clocks_meet(struct machine *m, struct fiber *const *who, uint32_t n,
                 bool is_block);

// ---- async.c

// Return a new event of the current thread.
struct event *event_new(struct machine *m,
                        void (*happen)(struct machine *m, struct event *e));

// Let an event happen if it has not.
void event_settle(struct machine *m, struct event *e);

// Let an event happen now if the policy is so.
void event_ready(struct machine *m, struct event *e);

// ---- cluster.c

// Open the barrier of the cluster if all threads have arrived and some wait.
// Returns whether it did.
bool cluster_open(struct machine *m);

// Check that blocks of the cluster did not end while others might still reach
// their shared memory, once all have.
void cluster_end(struct machine *m);

// ---- registers.c

// Return the registers of a thread at the start of the launch.
uint32_t registers_at_start(const struct machine *m);

// Return the address of another block's shared memory that belongs to one of
// this or any other block, and the block that an address is of.
void *address_in(struct machine *m, void *p, uint32_t rank);
uint32_t rank_of(struct machine *m, void *p);

// ---- tensor_copy.c

// Note if a block ends before a copy of it is done.
void tensor_end(struct machine *m, const struct event *e);

// ---- mbarrier.c

// Check that an mbarrier was made known to the asynchronous proxy.
void mbarrier_need_fence(struct machine *m, const struct mbarrier *b,
                         const struct site *s);

// Return the mbarrier at an address, or NULL after a finding.  A read of it
// is noted.
struct mbarrier *mbarrier_at(struct machine *m, void *p, const struct site *s);

// Bring bytes that it expects, on behalf of copies that are done: what they
// wrote is ordered by it.  Returns the stamp of their writes.
uint32_t mbarrier_bring(struct machine *m, struct mbarrier *b);
void mbarrier_complete(struct machine *m, struct mbarrier *b, int64_t bytes,
                       uint32_t arrivals);

// Return the agent for what copies write that signal it.
uint32_t mbarrier_agent(const struct machine *m, const struct mbarrier *b);

// Wake threads that asked, but did not insist.  Returns whether any.
bool mbarrier_wake(struct machine *m);

#endif
