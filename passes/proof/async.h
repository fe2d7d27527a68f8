// Asynchronous copies and WGMMAs, and what may be accessed while they are in
// flight.

#ifndef PASSES_PROOF_ASYNC_H
#define PASSES_PROOF_ASYNC_H

#include "passes/proof/group.h"

enum { GROUPS_ANY = 1 << 16 }; // so many, or more

// What goes on behind its statement, in groups that each thread commits.
enum async_kind { ASYNC_COPIES, ASYNC_PRODUCTS, ASYNC_KINDS };

struct epoch;

// What is known at a place of the groups that each thread commits.  So many of
// the last ones may be in flight: `own` for the thread itself, `others` for all
// others, which know what was waited for before the last barrier.  What was
// begun before that barrier is in a group at least `since` back.
struct moment {
    struct epoch *epoch;
    struct ir_expr *groups; // committed in this epoch; NULL: not known
    uint32_t own, others, since;
    bool has_begun; // copies may have begun that are in no group so far
};

// Accesses, and what is known there.
struct async_place {
    const struct node *segment;
    struct moment at;
};

// A part of a launch in which groups are counted: an iteration of a loop, or
// less; nothing is in flight where it begins.
struct epoch {
    const struct scope *loop; // or NULL: of the launch
    struct VEC(struct async_place) places;
};
struct epochs VEC(struct epoch *);

// Return whether an access goes on behind its statement, and whether an array
// has such accesses and is written.
bool async_is(const struct access *x, enum async_kind kind);
bool async_matters(const struct array_use *use, enum async_kind kind);

// Find what is in flight at each access; returns false if that is not known.
bool async_find(struct program *p, struct system *s, const struct group *group,
                enum async_kind kind, struct epochs *out);

// Ask whether two threads of a group, or one thread if `asks_one`, may access
// what a copy or a WGMMA in flight accesses.
void async_ask(struct system *s, const struct group *group,
               enum async_kind kind, bool asks_one,
               const struct epochs *epochs);

#endif
