// Threads of a block that touch the same element, one of which writes, with
// nothing between that all of them wait at.
//
// The threads of a block go through its barriers together, so what happens
// between two of them happens at the same time, in any order.  A walk keeps what
// was touched since the last barrier on some way (`exit`), and meets it with what
// comes before the next one (`entry`): behind it in a block, and in the next
// iteration of a loop around.  Loops are in step where each iteration has a
// barrier on every way; others have their threads in any two iterations.
//
// The same walk is done for threads of one warp, which meet at `syncwarp` as well,
// and of one warpgroup.

#include "passes/proof/claims.h"
#include "passes/proof/pairs.h"

#include "ir/build.h"
#include "ir/walk.h"

// Which threads a walk is about: two of the same `same` next to each other (0:
// of the block) that are not of the same `apart`.
struct group {
    uint32_t same, apart;
};

// What nodes touch.
struct flow {
    struct family_set entry, exit;
    bool clears; // a barrier is on every way
};

// The walk.
struct walk {
    struct arena *arena;
    struct system *s;
    struct group group;
    const struct scope *scope; // around the nodes that are walked
};

// Return whether the threads in question wait for each other at a node.
static bool is_barrier(const struct walk *w, const struct node *n)
{
    if (n->kind != NODE_SYNC)
        return false;
    if (n->stmt->kind == STMT_barrier)
        return true;
    uint32_t threads = sync_threads(n->stmt->u.sync.kind);
    return w->group.same && threads >= w->group.same;
}

// Return whether the threads in question may wait for each other in some nodes.
static bool has_barrier(const struct walk *w, const struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct node *n = nodes->at[i];
        if (is_barrier(w, n) ||
            (n->has_sync &&
             (has_barrier(w, &n->body) || has_barrier(w, &n->otherwise))))
            return true;
    }
    return false;
}

// ---- Pairs ------------------------------------------------------------------

// Return whether the two threads may be different ones of the group.
static bool may_differ(struct system *s, const void *context)
{
    const struct group *g = context;
    struct linear *l = &s->linear;
    struct sum x = system_thread(s, FIRST), y = system_thread(s, SECOND);
    if (g->same) {
        struct sum a = linear_divide(l, x, g->same);
        struct sum b = linear_divide(l, y, g->same);
        linear_require_equal(l, &a, &b);
    }
    if (g->apart > 1) {
        x = linear_divide(l, x, g->apart);
        y = linear_divide(l, y, g->apart);
    }
    return system_may_be_less(s, &x, &y) || system_may_be_less(s, &y, &x);
}

// Ask about all pairs of two sets.
static void ask(struct walk *w, const struct family_set *first,
                const struct family_set *second, struct relation relation)
{
    struct pair_question q = {.relation = relation,
                              .claim = CLAIM_block_race,
                              .may_differ = may_differ,
                              .context = &w->group,
                              .kind = w->group.same};
    for (size_t i = 0; i < first->n; i++) {
        for (size_t j = 0; j < second->n; j++) {
            if (families_conflict(first->at[i], second->at[j], false))
                pair_ask(w->s, &q, first->at[i], second->at[j]);
        }
    }
}

// ---- Nodes ------------------------------------------------------------------

static struct flow walk_nodes(struct walk *w, const struct nodes *nodes,
                              const struct scope *scope);

// Return whether a loop has an iteration whenever it is reached.
static bool runs(const struct walk *w, const struct scope *loop)
{
    struct system *s = w->s;
    if (!ir_is_stable(loop->from) || !ir_is_stable(loop->to))
        return false;
    system_begin(s, (struct relation){NULL, NULL, false});
    system_enter(s, loop->up, FIRST);
    struct sum from = system_value(s, loop->from, FIRST);
    struct sum to = system_value(s, loop->to, FIRST), one = linear_number(1);
    to = linear_plus(&s->linear, to, -1, &one);
    return !system_may_be_less(s, &to, &from);
}

// Return whether every way through some nodes has a barrier.
static bool clears(const struct walk *w, const struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct node *n = nodes->at[i];
        bool all = n->has_sync && clears(w, &n->body);
        if (is_barrier(w, n) ||
            (n->kind == NODE_BRANCH && all && clears(w, &n->otherwise)) ||
            (n->kind == NODE_LOOP && all && !n->scope->may_end &&
             runs(w, n->scope)))
            return true;
    }
    return false;
}

// Return whether a value is the same for both threads of a pair.
static bool is_same(struct walk *w, struct ir_expr *x)
{
    struct system *s = w->s;
    if (!ir_is_stable(x))
        return false;
    system_begin(s, (struct relation){w->scope, NULL, false});
    system_enter(s, w->scope, FIRST);
    system_enter(s, w->scope, SECOND);
    may_differ(s, &w->group);
    struct sum a = system_value(s, x, FIRST), b = system_value(s, x, SECOND);
    return !system_may_be_less(s, &a, &b) && !system_may_be_less(s, &b, &a);
}

// Add the families of a whole part of a launch to a set.
static void add_all(struct walk *w, const struct nodes *nodes,
                    struct family_set *out)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct node *n = nodes->at[i];
        for (size_t k = 0; k < n->families.n; k++)
            family_add(w->arena, out, n->families.at[k]);
        add_all(w, &n->body, out);
        add_all(w, &n->otherwise, out);
    }
}

// Walk a loop.
static struct flow walk_loop(struct walk *w, struct node *n)
{
    int64_t step;
    struct scope *loop = n->scope;
    bool is_regular = ir_int_value(loop->step, &step) && !loop->may_end;
    loop->is_fixed =
        is_regular && clears(w, &n->body) && is_same(w, loop->from);
    struct flow f = walk_nodes(w, &n->body, loop);
    struct relation next = {loop, loop, false};
    struct relation any = {w->scope, NULL, false};
    if (has_barrier(w, &n->body))
        ask(w, &f.exit, &f.entry, loop->is_fixed ? next : any);
    f.clears = f.clears && !loop->may_end && runs(w, loop);
    loop->is_fixed = false;
    if (!loop->may_end)
        return f;
    f.exit.n = 0;
    add_all(w, &n->body, &f.exit);
    return f;
}

// Walk a branch: without a barrier inside, which all of the threads in question
// would have to reach, they may be on both sides.
static struct flow walk_branch(struct walk *w, struct node *n)
{
    struct flow f = walk_nodes(w, &n->body, w->scope);
    struct flow g = walk_nodes(w, &n->otherwise, w->scope);
    struct relation same = {w->scope, NULL, false};
    if (!has_barrier(w, &n->body) && !has_barrier(w, &n->otherwise))
        ask(w, &f.entry, &g.entry, same);
    families_add(w->arena, &f.entry, &g.entry);
    families_add(w->arena, &f.exit, &g.exit);
    f.clears &= g.clears;
    return f;
}

// Walk a segment: different threads are at all of it.
static struct flow walk_segment(struct walk *w, const struct node *n)
{
    struct flow f = {0};
    struct relation same = {w->scope, NULL, false};
    for (size_t i = 0; i < n->families.n; i++) {
        const struct family *x = n->families.at[i];
        struct family_set one = {.at = (const struct family *[]){x}, .n = 1};
        vec_push(w->arena, &f.entry, x);
        ask(w, &f.entry, &one, same);
    }
    families_add(w->arena, &f.exit, &f.entry);
    return f;
}

// Walk a node.
static struct flow walk_node(struct walk *w, struct node *n)
{
    struct flow none = {.clears = is_barrier(w, n)};
    switch (n->kind) {
    case NODE_SEGMENT: return walk_segment(w, n);
    case NODE_LOOP: return walk_loop(w, n);
    case NODE_BRANCH: return walk_branch(w, n);
    case NODE_SYNC:
    case NODE_EXIT: break;
    }
    return none;
}

// Walk nodes, one behind the other.
static struct flow walk_nodes(struct walk *w, const struct nodes *nodes,
                              const struct scope *scope)
{
    struct flow r = {0};
    const struct scope *outside = w->scope;
    w->scope = scope;
    for (size_t i = 0; i < nodes->n; i++) {
        struct flow f = walk_node(w, nodes->at[i]);
        struct relation same = {scope, NULL, false};
        ask(w, &r.exit, &f.entry, same);
        if (!r.clears)
            families_add(w->arena, &r.entry, &f.entry);
        if (f.clears)
            r.exit.n = 0;
        families_add(w->arena, &r.exit, &f.exit);
        r.clears |= f.clears;
    }
    w->scope = outside;
    return r;
}

// Return whether some threads of a launch meet apart from the others.
static bool has_kind(const struct nodes *nodes, enum sync_kind kind)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct node *n = nodes->at[i];
        bool is_it = n->kind == NODE_SYNC && n->stmt->kind == STMT_sync &&
                     n->stmt->u.sync.kind == kind;
        if (is_it || has_kind(&n->body, kind) || has_kind(&n->otherwise, kind))
            return true;
    }
    return false;
}

// Return why nothing is proved of accesses to an array, or REASON_none.
static enum proof_reason obstacle(const struct program *p,
                                  const struct ir_buffer *b)
{
    const struct array_use *use = program_use(p, b);
    return p->has_return        ? REASON_returns
           : use->has_mbarriers ? REASON_mbarriers
           : use->is_proxy      ? REASON_proxy
           : use->is_async      ? REASON_waits
                                : REASON_none;
}

// Return whether an array is written in a launch and other threads see it.
static bool is_shared(const struct program *p, const struct ir_buffer *b)
{
    return program_use(p, b)->is_written && !space_is_own(b->space);
}

void claim_block_race(struct program *p, struct system *s)
{
    struct walk w = {.arena = p->arena, .s = s};
    const struct ir_launch *l = p->launch;
    bool has_warps = has_kind(&p->body, SYNC_warp);
    bool has_groups = has_kind(&p->body, SYNC_warpgroup);
    uint32_t least = has_warps ? 32 : has_groups ? 128 : 1;
    for (size_t i = 0; i < p->all.n; i++) {
        struct access *x = p->all.at[i];
        if (!is_shared(p, x->buffer))
            continue;
        x->claims[CLAIM_block_race].is_asked = true;
        enum proof_reason why = obstacle(p, x->buffer);
        if (why != REASON_none)
            access_open(x, CLAIM_block_race, why, NULL);
    }
    if (p->has_return || l->block[0] * l->block[1] * l->block[2] == 1)
        return;
    w.group = (struct group){0, has_groups ? 128 : least};
    walk_nodes(&w, &p->body, NULL);
    w.group = (struct group){128, has_warps ? 32 : 1};
    if (has_groups)
        walk_nodes(&w, &p->body, NULL);
    w.group = (struct group){32, 1};
    if (has_warps)
        walk_nodes(&w, &p->body, NULL);
}
