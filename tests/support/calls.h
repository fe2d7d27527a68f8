// Random calls of schedule primitives, with arguments that often go together.

#ifndef TESTS_SUPPORT_CALLS_H
#define TESTS_SUPPORT_CALLS_H

#include "ir/base/map.h"
#include "passes/schedule/prim.h"

// Statements that arguments are taken from more often than others.
struct call_near VEC(struct ir_stmt *);

// What calls are drawn with.
struct caller {
    struct arena *work;    // of maps
    struct arena *scratch; // of lists
    struct str_table *names;
    uint64_t *random;       // state of a generator of draw.h
    const int64_t *numbers; // what integers are taken from; NULL: 0 to 5
    size_t n_numbers;
    const struct call_near *near; // or NULL
    bool is_suited; // arguments are mostly such that the call may be accepted
};

// Give a call of c->prim, in the kernel of c->pass, random arguments.
// Returns false if the kernel has no loops, or no stage that it needs.
bool call_draw(const struct caller *by, struct sched_call *c);

// Add the loops and stages among the arguments and results of a call to those
// that are near.
void call_add_near(struct arena *a, const struct sched_call *c,
                   struct call_near *near);

// Append a call as text, `split(C.i, _, 4)`.  `names` maps loops and stages
// to variables of the schedule; others are looked up by their own names.  It
// may be NULL.
void call_print(const struct sched_call *c, const struct map *names,
                struct buf *out);

#endif
