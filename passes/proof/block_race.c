// Threads of a block that access the same element, one of which writes, with
// nothing between that all of them wait at.
//
// The threads of a block go through its barriers together, so what happens
// between two of them happens at the same time, in any order.  A walk keeps what
// was accessed since the last barrier on some way (`exit`), and meets it with what
// comes before the next one (`entry`): behind it in a block, and in the next
// iteration of a loop around.  Loops are in step where each iteration has a
// barrier on every way; others have their threads in any two iterations.
//
// The same walk is done for threads of one warp, which meet at `syncwarp` as well,
// and of one warpgroup; and for threads of different blocks of a cluster, which
// share the arrays `in shared cluster` and meet at its barriers alone.

#include "passes/proof/async.h"
#include "passes/proof/claims.h"
#include "passes/proof/pairs.h"

// Of questions about a cluster, beside the sizes of groups of threads.
enum { KIND_CLUSTER = 1 };

// What nodes access.
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

// ---- Pairs ------------------------------------------------------------------

// Return whether what two families access may be the same: those of a cluster
// meet in the arrays that it shares.
static bool meet(const struct walk *w, const struct family *x,
                 const struct family *y)
{
    return families_conflict(x, y, w->group.of_cluster) &&
           (!w->group.of_cluster || x->first->buffer->of_cluster);
}

// Ask about all pairs of two sets.
static void ask(struct walk *w, const struct family_set *first,
                const struct family_set *second, struct relation relation)
{
    struct pair_question q = {.relation = relation,
                              .claim = CLAIM_block_race,
                              .may_differ = group_may_differ,
                              .context = &w->group,
                              .kind = w->group.of_cluster ? KIND_CLUSTER
                                                          : w->group.same};
    for (size_t i = 0; i < first->n; i++) {
        for (size_t j = 0; j < second->n; j++) {
            if (meet(w, first->at[i], second->at[j]))
                pair_ask(w->s, &q, first->at[i], second->at[j]);
        }
    }
}

// ---- Nodes ------------------------------------------------------------------

static struct flow walk_nodes(struct walk *w, const struct nodes *nodes,
                              const struct scope *scope);

// Add the families of a whole part of a launch to a set.
static void add_all(struct walk *w, const struct nodes *nodes,
                    struct family_set *out)
{
    vec_foreach_value(n, nodes) {
        for (size_t k = 0; k < n->families.n; k++)
            family_add(w->arena, out, n->families.at[k]);
        add_all(w, &n->body, out);
        add_all(w, &n->otherwise, out);
    }
}

// Walk a loop.
static struct flow walk_loop(struct walk *w, struct node *n)
{
    struct scope *loop = n->scope;
    loop->is_fixed = group_is_in_step(w->s, &w->group, n);
    struct flow f = walk_nodes(w, &n->body, loop);
    struct relation next = {loop, loop, w->group.of_cluster};
    struct relation any = {w->scope, NULL, w->group.of_cluster};
    if (group_may_meet(&w->group, &n->body))
        ask(w, &f.exit, &f.entry, loop->is_fixed ? next : any);
    f.clears = f.clears && !loop->may_end && loop_runs(w->s, loop);
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
    struct relation same = {w->scope, NULL, w->group.of_cluster};
    if (!group_may_meet(&w->group, &n->body) &&
        !group_may_meet(&w->group, &n->otherwise))
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
    struct relation same = {w->scope, NULL, w->group.of_cluster};
    vec_foreach_value(x, &n->families) {
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
    struct flow none = {.clears = group_meets(&w->group, n)};
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
        struct relation same = {scope, NULL, w->group.of_cluster};
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
    vec_foreach_value(n, nodes) {
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
           : use->is_by_tma     ? REASON_proxy
                                : REASON_none;
}

// Return whether an array is written in a launch and other threads see it.
static bool is_shared(const struct program *p, const struct ir_buffer *b)
{
    return program_use(p, b)->is_written && !space_is_own(b->space);
}

// Say of each access that the claim is asked of it, or why it is open.
static void begin(const struct program *p)
{
    vec_foreach_value(x, &p->all) {
        if (!is_shared(p, x->buffer))
            continue;
        x->claims[CLAIM_block_race].is_asked = true;
        enum proof_reason why = obstacle(p, x->buffer);
        if (why != REASON_none)
            access_open(x, CLAIM_block_race, why, NULL);
    }
}

// Say that the claim is open for all accesses to arrays that are accessed
// asynchronously.
static void open_all(const struct program *p, enum async_kind kind)
{
    vec_foreach_value(x, &p->all) {
        if (is_shared(p, x->buffer) &&
            async_matters(program_use(p, x->buffer), kind))
            access_open(x, CLAIM_block_race, REASON_waits, NULL);
    }
}

// Ask about two threads of a group, and about one thread alone if `asks_one`.
static void ask_group(struct walk *w, struct program *p, struct group group,
                      bool asks_one)
{
    const uint32_t *block = p->launch->block;
    w->group = group;
    for (int kind = 0; kind < ASYNC_KINDS; kind++) {
        enum async_kind what = (enum async_kind)kind;
        struct epochs epochs = {0};
        if (async_find(p, w->s, &w->group, what, &epochs))
            async_ask(w->s, &w->group, what, asks_one, &epochs);
        else
            open_all(p, what);
    }
    if (block[0] * block[1] * block[2] > 1)
        walk_nodes(w, &p->body, NULL);
}

// Return whether blocks of a cluster share an array.
static bool shares_arrays(const struct program *p)
{
    vec_foreach_value(x, &p->all)
        if (x->buffer->of_cluster)
            return true;
    return false;
}

void claim_block_race(struct program *p, struct system *s)
{
    struct walk w = {.arena = p->arena, .s = s};
    bool has_warps = has_kind(&p->body, SYNC_warp);
    bool has_groups = has_kind(&p->body, SYNC_warpgroup);
    uint32_t least = has_warps ? 32 : has_groups ? 128 : 1;
    begin(p);
    if (p->has_return)
        return;
    ask_group(&w, p, (struct group){0, has_groups ? 128 : least, false}, true);
    if (has_groups)
        ask_group(&w, p, (struct group){128, has_warps ? 32 : 1, false}, false);
    if (has_warps)
        ask_group(&w, p, (struct group){32, 1, false}, false);
    if (shares_arrays(p)) {
        w.group = (struct group){.of_cluster = true};
        walk_nodes(&w, &p->body, NULL);
    }
}
