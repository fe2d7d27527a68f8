// Accesses to what asynchronous copies, or WGMMAs, in flight access.
//
// Of a copy in group g and an access behind which c groups are committed c - g is
// asked about: between what the barrier or the thread itself knows to be done, and
// what had begun by then.

#include "passes/proof/async.h"
#include "passes/proof/pairs.h"

#include "ir/build.h"

#include <stdlib.h>

// What is asked about a copy, the first access, and another access.
struct under_way {
    const struct group *group; // of two threads; NULL: there is one
    const struct moment *begun, *at;
    uint32_t least, most;      // groups behind that of the copy
    const struct scope *again; // a loop, of which the copy is in an earlier
                               // iteration; or NULL
};

// Require that the two accesses are of one thread.
static void require_one(struct system *s)
{
    for (int i = 0; i < 3; i++) {
        struct ir_expr *at =
            ir_index_value(s->arena, (enum axis)(AXIS_thread_x + i));
        struct sum x = system_value(s, at, FIRST);
        struct sum y = system_value(s, at, SECOND);
        linear_require_equal(&s->linear, &x, &y);
    }
}

// Return whether the copy may be in flight at the access.
static bool may_be_under_way(struct system *s, const void *context)
{
    const struct under_way *u = context;
    struct linear *l = &s->linear;
    struct sum copy = system_value(s, u->begun->groups, FIRST);
    struct sum at = system_value(s, u->at->groups, SECOND);
    linear_require(l, &at, &copy, -(int64_t)u->least);
    if (u->most < GROUPS_ANY)
        linear_require(l, &copy, &at, u->most);
    if (u->again) {
        struct ir_expr *var = ir_read(s->arena, (struct ir_var *)u->again->var);
        struct sum early = system_value(s, var, FIRST);
        struct sum late = system_value(s, var, SECOND);
        linear_require(l, &late, &early, -1);
    }
    if (u->group)
        return group_may_differ(s, u->group);
    require_one(s);
    return system_is_possible(s);
}

// The questions about an epoch.
struct questions {
    struct system *s;
    const struct epoch *epoch;
    const struct group *group; // of two threads
    bool asks_two, asks_one;   // about two threads, about one
    uint64_t kind;             // of the next question
};

// Ask about a copy and an access.
static void ask(struct questions *q, const struct under_way *u,
                const struct family *copy, const struct family *other)
{
    struct pair_question question = {.relation = {q->epoch->loop, NULL, false},
                                     .claim = CLAIM_block_race,
                                     .may_differ = may_be_under_way,
                                     .context = u,
                                     .kind = ++q->kind,
                                     .reason = REASON_under_way};
    if (u->least <= u->most)
        pair_ask(q->s, &question, copy, other);
}

// Return whether two accesses of a family may be to a common element for the
// same values of their bases.
static bool do_conflict(const struct family *f, const struct access *x,
                        const struct access *y)
{
    for (uint32_t d = 0; d < x->buffer->rank; d++) {
        if (f->base[d] && llabs(x->constant[d] - y->constant[d]) >= x->count[d])
            return false;
    }
    return true;
}

// Ask whether a thread copies to one element twice in the same group, by accesses
// of one family.
static void ask_twice(struct questions *q, struct under_way u,
                      const struct family *f)
{
    for (size_t i = 0; i < f->members.n; i++) {
        for (size_t k = 0; k < i && f->first->writes; k++) {
            struct access *x = f->members.at[i], *y = f->members.at[k];
            if (!do_conflict(f, x, y))
                continue;
            access_open(x, CLAIM_block_race, REASON_under_way, y);
            access_open(y, CLAIM_block_race, REASON_under_way, x);
        }
    }
    u.least = u.most = 0;
    const struct scope *scope = f->scope;
    for (; scope && scope != q->epoch->loop; scope = scope->up) {
        u.again = scope;
        if (scope->var)
            ask(q, &u, f, f);
    }
}

// Return whether a scope is reached once in an iteration of the epoch.
static bool is_single(const struct questions *q, const struct scope *scope)
{
    while (scope != q->epoch->loop && !scope->var)
        scope = scope->up;
    return scope == q->epoch->loop;
}

// Return whether an access is on the other side of the branch that a scope is a
// side of.
static bool is_opposite(const struct scope *side, const struct scope *scope)
{
    for (; scope; scope = scope->up) {
        if (scope->branch == side->branch && scope->holds != side->holds)
            return true;
    }
    return false;
}

// Return whether accesses are on two sides of a branch on which all threads in
// question go the same way, once in the epoch, as they meet inside.
static bool are_apart(const struct questions *q, const struct family *x,
                      const struct family *y)
{
    const struct scope *s = x->scope;
    for (; s && s != q->epoch->loop; s = s->up) {
        const struct node *n = s->branch;
        if (n && is_single(q, s) && is_opposite(s, y->scope) &&
            (group_may_meet(q->group, &n->body) ||
             group_may_meet(q->group, &n->otherwise)))
            return true;
    }
    return false;
}

// Ask about a copy of one place and an access of another.
static void ask_both(struct questions *q, const struct async_place *x,
                     const struct family *copy, const struct async_place *y,
                     const struct family *other)
{
    const struct moment *at = &y->at;
    struct under_way u = {q->group, &x->at, at, at->since, at->others, NULL};
    if (q->asks_two)
        ask(q, &u, copy, other);
    u.group = NULL;
    u.least = at->has_begun && copy != other ? 0 : 1;
    u.most = at->own;
    if (q->asks_one)
        ask(q, &u, copy, other);
    if (q->asks_one && copy == other)
        ask_twice(q, u, copy);
}

// Ask about a copy and all accesses of its epoch.
static void ask_all(struct questions *q, const struct async_place *x,
                    const struct family *copy)
{
    vec_foreach(y, &q->epoch->places) {
        const struct families *all = &y->segment->families;
        for (size_t k = 0; k < all->n; k++) {
            if (families_conflict(copy, all->at[k], false) &&
                !are_apart(q, copy, all->at[k]))
                ask_both(q, x, copy, y, all->at[k]);
        }
    }
}

// Say that threads are in one iteration of each loop around an epoch, or not.
static void fix(const struct scope *loop, bool is_fixed)
{
    for (; loop; loop = loop->up)
        ((struct scope *)loop)->is_fixed = is_fixed && loop->var;
}

void async_ask(struct system *s, const struct group *group,
               enum async_kind kind, bool asks_one, const struct epochs *epochs)
{
    const uint32_t *block = s->program->launch->block;
    uint64_t first = (uint64_t)ASYNC_KINDS * (group->same + 1) + kind;
    struct questions q = {.s = s,
                          .group = group,
                          .asks_two = block[0] * block[1] * block[2] > 1,
                          .asks_one = asks_one,
                          .kind = first << 32};
    for (size_t i = 0; i < epochs->n; i++) {
        q.epoch = epochs->at[i];
        fix(q.epoch->loop, true);
        vec_foreach(x, &q.epoch->places) {
            const struct families *all = &x->segment->families;
            for (size_t f = 0; f < all->n; f++) {
                if (async_is(all->at[f]->first, kind))
                    ask_all(&q, x, all->at[f]);
            }
        }
        fix(q.epoch->loop, false);
    }
}
