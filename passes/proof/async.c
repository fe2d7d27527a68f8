// Which asynchronous copies of threads are in flight at each access; likewise
// WGMMAs, which go on reading shared memory.
//
//   cp_async_load S[(k + 2) % 3, t] = A[k + 2, t]    in group k + 2
//   async_commit           k + 3 groups
//   async_wait(1)          of these the last may be under way for the thread,
//   barrier                and behind it for all the others
//
// How many groups are committed is counted as an expression over the loops
// around. How many of the last ones may be in flight is a number: a walk goes
// through each loop until it stays the same.  Only a barrier in loops that are
// in step tells one thread what another one has waited for.
//
// A loop that commits as many groups in each iteration is counted through.  If
// nothing is in flight when an iteration begins, counting begins anew.

#include "passes/proof/async.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

enum { ROUNDS_MOST = 16 };

// The walk.
struct walk {
    struct program *program;
    struct arena *arena;
    struct system *s;
    const struct group *group;
    enum async_kind kind;
    struct epochs *out;
    struct map steps;         // of loops: whether they are in step
    const struct scope *loop; // the innermost that each iteration counts for
                              // itself, or NULL
    bool is_in_step;          // all loops around are
    bool may_cut;             // counting may begin anew here
    bool is_silent;           // nothing is noted: how loops end is looked for
    bool failed;
};

bool async_is(const struct access *x, enum async_kind kind)
{
    return kind == ASYNC_COPIES ? x->is_async : x->is_product;
}

bool async_matters(const struct array_use *use, enum async_kind kind)
{
    return use->is_written &&
           (kind == ASYNC_COPIES ? use->is_async : use->is_product);
}

// ---- Counting -------------------------------------------------------------

// Return how many iterations a loop has, or NULL.
static struct ir_expr *trips(struct walk *w, const struct scope *loop)
{
    int64_t step;
    struct system *s = w->s;
    struct arena *a = w->arena;
    if (!ir_int_value(loop->step, &step) || step < 1 || loop->may_end ||
        !group_has_same(s, w->group, loop->up, loop->from) ||
        !group_has_same(s, w->group, loop->up, loop->to))
        return NULL;
    system_begin(s, (struct relation){NULL, NULL, false});
    system_enter(s, loop->up, FIRST);
    struct sum from = system_value(s, loop->from, FIRST);
    struct sum to = system_value(s, loop->to, FIRST);
    struct ir_expr *n = ir_sub(a, loop->to, loop->from);
    if (system_may_be_less(s, &to, &from))
        n = ir_binary(a, OP_max, n, ir_int(a, 0));
    return step == 1 ? n : ir_binary(a, OP_ceildiv, n, ir_int(a, step));
}

// Return how many iterations of a loop are over, inside of it.
static struct ir_expr *trips_so_far(struct walk *w, const struct scope *loop)
{
    int64_t step;
    struct arena *a = w->arena;
    struct ir_expr *var = ir_read(a, (struct ir_var *)loop->var);
    if (!ir_int_value(loop->step, &step) || step < 1 ||
        !ir_is_stable(loop->from))
        return NULL;
    struct ir_expr *n = ir_sub(a, var, loop->from);
    return step == 1 ? n : ir_binary(a, OP_div, n, ir_int(a, step));
}

// Return x + y * z; NULL if one of them is.
static struct ir_expr *add_product(struct arena *a, struct ir_expr *x,
                                   struct ir_expr *y, struct ir_expr *z)
{
    return x && y && z ? ir_add(a, x, ir_mul(a, y, z)) : NULL;
}

static struct ir_expr *commits(struct walk *w, const struct nodes *nodes);

// Return how many groups all iterations of a loop commit, or NULL.
static struct ir_expr *loop_commits(struct walk *w, const struct node *n)
{
    int64_t each;
    struct arena *a = w->arena;
    struct ir_expr *number = commits(w, &n->body);
    if (!number || !ir_int_value(number, &each))
        return NULL;
    return each ? add_product(a, ir_int(a, 0), number, trips(w, n->scope))
                : number;
}

// Return how many groups one side of a branch commits, and the other; or NULL.
static struct ir_expr *branch_commits(struct walk *w, const struct node *n)
{
    struct ir_expr *x = commits(w, &n->body);
    struct ir_expr *y = commits(w, &n->otherwise);
    return x && y && ir_expr_equal(x, y) ? x : NULL;
}

// Return whether a node is a statement of a kind.
static bool is_sync(const struct node *n, enum sync_kind kind)
{
    return n->kind == NODE_SYNC && n->stmt->kind == STMT_sync &&
           n->stmt->u.sync.kind == kind;
}

// Return whether a node makes a group of what the thread has begun, and whether
// it waits for groups.
static bool is_commit(const struct walk *w, const struct node *n)
{
    return is_sync(n, w->kind == ASYNC_COPIES ? SYNC_async_commit
                                              : SYNC_wgmma_commit);
}

// The same of a wait for such groups.
static bool is_wait(const struct walk *w, const struct node *n)
{
    return is_sync(n,
                   w->kind == ASYNC_COPIES ? SYNC_async_wait : SYNC_wgmma_wait);
}

// Return how many groups nodes commit, each time that they are run; NULL if that
// is not known.
static struct ir_expr *commits(struct walk *w, const struct nodes *nodes)
{
    struct ir_expr *one = ir_int(w->arena, 1), *r = ir_int(w->arena, 0);
    for (size_t i = 0; r && i < nodes->n; i++) {
        const struct node *n = nodes->at[i];
        struct ir_expr *more = NULL;
        if (is_commit(w, n))
            more = one;
        else if (!n->has_sync)
            continue;
        else
            more = n->kind == NODE_LOOP ? loop_commits(w, n)
                                        : branch_commits(w, n);
        r = add_product(w->arena, r, one, more);
    }
    return r;
}

// ---- Moments --------------------------------------------------------------

// Return whether nothing is in flight.
static bool is_clear(const struct moment *m)
{
    return m->own == 0 && m->others == 0 && !m->has_begun;
}

// Return what holds after one of two ways.
static struct moment either(struct moment x, const struct moment *y)
{
    x.own = x.own > y->own ? x.own : y->own;
    x.others = x.others > y->others ? x.others : y->others;
    x.since = x.since < y->since ? x.since : y->since;
    x.has_begun |= y->has_begun;
    return x;
}

// Return whether the same is known, but for how many groups there are.
static bool is_same(const struct moment *x, const struct moment *y)
{
    return x->own == y->own && x->others == y->others && x->since == y->since &&
           x->has_begun == y->has_begun;
}

// Return the number of groups after one more.
static uint32_t one_more(uint32_t n)
{
    return n < GROUPS_ANY ? n + 1 : n;
}

// Begin to count anew.
static void cut(struct walk *w, struct moment *m)
{
    m->epoch = arena_new(w->arena, struct epoch);
    m->epoch->loop = w->loop;
    m->groups = ir_int(w->arena, 0);
    vec_push(w->arena, w->out, m->epoch);
}

// Count anew where the count was lost and nothing is in flight.
static void recover(struct walk *w, struct moment *m)
{
    if (!m->groups && is_clear(m) && w->may_cut && !w->is_silent)
        cut(w, m);
}

// ---- The walk -------------------------------------------------------------

static void go(struct walk *w, const struct nodes *nodes, struct moment *m);

// Walk what orders threads.
static void go_sync(struct walk *w, const struct node *n, struct moment *m)
{
    uint32_t most = n->stmt->kind == STMT_sync ? n->stmt->u.sync.n : 0;
    if (group_meets(w->group, n) && w->is_in_step) {
        m->others = m->own;
        m->since = m->has_begun ? 0 : 1;
    } else if (is_commit(w, n)) {
        m->groups = add_product(w->arena, m->groups, ir_int(w->arena, 1),
                                ir_int(w->arena, 1));
        m->own = one_more(m->own);
        m->others = one_more(m->others);
        m->since = one_more(m->since);
        m->has_begun = false;
    } else if (is_wait(w, n)) {
        m->own = m->own < most ? m->own : most;
    }
    recover(w, m);
}

// Walk accesses: what is known matters where an array is that is accessed
// asynchronously.
static void go_segment(struct walk *w, const struct node *n, struct moment *m)
{
    bool matters = false;
    for (size_t i = 0; i < n->families.n; i++) {
        const struct access *x = n->families.at[i]->first;
        m->has_begun |= async_is(x, w->kind);
        const struct array_use *use = program_use(w->program, x->buffer);
        matters |= async_matters(use, w->kind);
    }
    if (!matters || w->is_silent)
        return;
    w->failed |= !m->groups;
    struct async_place place = {n, *m};
    vec_push(w->arena, &m->epoch->places, place);
}

// Walk a branch.
static void go_branch(struct walk *w, const struct node *n, struct moment *m)
{
    struct moment x = *m, y = *m;
    go(w, &n->body, &x);
    go(w, &n->otherwise, &y);
    *m = either(x, &y);
    if (x.epoch != y.epoch || !x.groups || !y.groups ||
        !ir_expr_equal(x.groups, y.groups))
        m->groups = NULL;
    recover(w, m);
}

// Return whether threads that meet in a loop are in the same iteration; asked
// once.
static bool is_in_step(struct walk *w, const struct node *n)
{
    static const char yes, no;
    if (!map_has(&w->steps, n->scope)) {
        bool is = group_may_meet(w->group, &n->body) &&
                  group_is_in_step(w->s, w->group, n);
        map_set(&w->steps, n->scope, (void *)(is ? &yes : &no));
    }
    return map_get(&w->steps, n->scope) == &yes;
}

// Return whether nodes begin something, or wait for some.
static bool has_async(const struct walk *w, const struct nodes *nodes)
{
    vec_foreach_value(n, nodes) {
        for (size_t k = 0; k < n->families.n; k++) {
            if (async_is(n->families.at[k]->first, w->kind))
                return true;
        }
        if (is_commit(w, n) || is_wait(w, n) || has_async(w, &n->body) ||
            has_async(w, &n->otherwise))
            return true;
    }
    return false;
}

// Return what is known where an iteration of a loop begins, whichever it is, and
// behind the loop.
static struct moment head_of(struct walk *w, const struct node *n,
                             struct moment head)
{
    static const struct moment any = {NULL,       NULL, GROUPS_ANY,
                                      GROUPS_ANY, 0,    true};
    bool outside = w->is_silent, is_done = false;
    w->is_silent = true;
    if (n->scope->may_end && has_async(w, &n->body))
        head = any;
    for (int round = 0; !is_done; round++) {
        struct moment end = head;
        go(w, &n->body, &end);
        end = either(head, &end);
        is_done = is_same(&head, &end);
        head = round < ROUNDS_MOST ? end : either(any, &end);
    }
    w->is_silent = outside;
    return head;
}

// Walk the iterations of a loop that begins with nothing in flight: each counts
// for itself.
static void go_apart(struct walk *w, const struct node *n, struct moment *head)
{
    const struct scope *outside = w->loop;
    struct moment inside = *head;
    w->loop = n->scope;
    cut(w, &inside);
    go(w, &n->body, &inside);
    w->loop = outside;
    cut(w, head);
}

// Walk the iterations of a loop, each of which commits as many groups.
static void go_body(struct walk *w, const struct node *n, struct moment *head)
{
    int64_t number;
    struct ir_expr *each = commits(w, &n->body), *groups = head->groups;
    bool is_known =
        each && ir_int_value(each, &number) && (!number || !n->scope->may_end);
    struct moment inside = *head;
    if (w->may_cut && is_clear(head) && !(is_known && !number)) {
        go_apart(w, n, head);
        return;
    }
    if (!is_known)
        inside.groups = head->groups = NULL;
    else if (number) {
        inside.groups =
            add_product(w->arena, groups, each, trips_so_far(w, n->scope));
        head->groups = add_product(w->arena, groups, each, trips(w, n->scope));
    }
    w->may_cut = false;
    go(w, &n->body, &inside);
}

// Walk a loop.
static void go_loop(struct walk *w, const struct node *n, struct moment *m)
{
    struct scope *loop = n->scope;
    bool was_in_step = w->is_in_step, might_cut = w->may_cut;
    struct moment before = *m;
    loop->is_fixed = is_in_step(w, n);
    w->is_in_step &= loop->is_fixed;
    *m = head_of(w, n, *m);
    m->epoch = before.epoch;
    m->groups = before.groups;
    if (!w->is_silent)
        go_body(w, n, m);
    loop->is_fixed = false;
    w->is_in_step = was_in_step;
    w->may_cut = might_cut;
    recover(w, m);
}

// Walk nodes, one behind the other.
static void go(struct walk *w, const struct nodes *nodes, struct moment *m)
{
    vec_foreach_value(n, nodes) {
        switch (n->kind) {
        case NODE_SEGMENT: go_segment(w, n, m); break;
        case NODE_SYNC: go_sync(w, n, m); break;
        case NODE_LOOP: go_loop(w, n, m); break;
        case NODE_BRANCH: go_branch(w, n, m); break;
        case NODE_EXIT: break;
        }
    }
}

bool async_find(struct program *p, struct system *s, const struct group *group,
                enum async_kind kind, struct epochs *out)
{
    struct walk w = {.program = p,
                     .arena = p->arena,
                     .s = s,
                     .group = group,
                     .kind = kind,
                     .out = out,
                     .steps = {.arena = p->arena},
                     .is_in_step = true,
                     .may_cut = true};
    struct moment m = {.since = 1};
    if (!has_async(&w, &p->body))
        return true;
    cut(&w, &m);
    go(&w, &p->body, &m);
    return !w.failed && !(kind == ASYNC_COPIES && p->has_arrivals);
}
