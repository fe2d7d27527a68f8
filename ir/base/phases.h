// How long the phases of a compilation take.
//
//   double began = phases_now();
//   ...
//   phases_add(times, "lower/simplify", phases_now() - began);
//
// A name with a slash is a part of the phase in front of it.  Times under one
// name add up.

#ifndef IR_BASE_PHASES_H
#define IR_BASE_PHASES_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/vec.h"

// The time of a phase.
struct phase {
    const char *name;
    double ms;
};

// All phases, in the order in which they were first added.
struct phases {
    struct arena *arena;
    struct VEC(struct phase) all;
};

// Return the milliseconds of a clock that only goes forward.
double phases_now(void);

// Add to the time of a phase; the name is copied.  NULL: nothing is noted.
void phases_add(struct phases *times, const char *name, double ms);

// Add the times of another list, as parts of a phase, which may be NULL:
// `PHASE/TARGET NAME`.
void phases_merge(struct phases *times, const char *phase, const char *target,
                  const struct phases *from);

// Append a table: each phase, with its parts indented below it.
void phases_print(const struct phases *times, struct buf *out);

#endif
