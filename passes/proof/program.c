// Takes a launch apart.

#include "passes/proof/program.h"

#include "ir/affine.h"
#include "ir/base/map.h"
#include "ir/base/num.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/proof/stmt_accesses.h"

#include <string.h>

// The walk over a launch.
struct walk {
    struct program *program;
    struct arena *arena;
    struct map values; // what lets stand for
    const struct scope *scope;
    struct scope *loop;   // the innermost around, or NULL
    struct nodes *out;    // where nodes go
    struct node *segment; // that accesses are added to; NULL: a new one
};

void access_open(struct access *x, enum proof_claim claim,
                 enum proof_reason reason, const struct access *other)
{
    struct claim *c = &x->claims[claim];
    c->is_asked = true;
    if (c->is_open)
        return;
    c->is_open = true;
    c->reason = reason;
    c->other = other;
}

// Add a node.
static struct node *add_node(struct walk *w, enum node_kind kind,
                             const struct ir_stmt *s)
{
    struct node *n = arena_new(w->arena, struct node);
    n->kind = kind;
    n->stmt = s;
    vec_push(w->arena, w->out, n);
    w->segment = kind == NODE_SEGMENT ? n : NULL;
    return n;
}

// ---- Families -------------------------------------------------------------

// Return an index without its constant, which goes to *constant.
static struct ir_expr *base_of(struct arena *a, struct ir_expr *x,
                               int64_t *constant)
{
    *constant = 0;
    if (!x || !type_is_index(x->type))
        return x;
    struct affine form = affine_of(a, x);
    if (form.failed)
        return x;
    *constant = form.constant;
    form.constant = 0;
    return affine_expr(a, &form, x->type);
}

// Return whether two accesses may be of one family, but for their indices.
static bool is_alike(const struct access *x, const struct access *y)
{
    return x->buffer == y->buffer && x->reads == y->reads &&
           x->writes == y->writes && x->is_atomic == y->is_atomic &&
           x->is_async == y->is_async && x->is_proxy == y->is_proxy &&
           x->is_product == y->is_product && x->is_beyond == y->is_beyond &&
           x->atomic_scope == y->atomic_scope &&
           memcmp(x->count, y->count, x->buffer->rank * sizeof *x->count) == 0;
}

// Return whether two bases are the same.
static bool same_base(const struct ir_expr *x, const struct ir_expr *y)
{
    return x == y || (x && y && ir_expr_equal(x, y));
}

// Return whether a family has these bases.
static bool has_bases(const struct family *f, struct ir_expr *const *base)
{
    for (uint32_t d = 0; d < f->first->buffer->rank; d++) {
        if (!same_base(f->base[d], base[d]))
            return false;
    }
    return true;
}

// Put a constant among others.
static void add_offset(struct offsets *o, int64_t x)
{
    int64_t away = x < o->lo ? o->lo - x : x - o->lo;
    o->step = num_gcd(o->step, away);
    o->lo = x < o->lo ? x : o->lo;
    o->hi = x > o->hi ? x : o->hi;
}

// Return the family among some that an access is of, with these bases and
// constants; a new one if there is none.
static struct family *join(struct walk *w, struct families *all,
                           const struct scope *scope, struct access *x,
                           struct ir_expr **base, const int64_t *constant)
{
    uint32_t rank = x->buffer->rank;
    for (size_t i = all->n; i-- > 0;) {
        struct family *f = all->at[i];
        if (f->scope != scope || !is_alike(f->first, x) || !has_bases(f, base))
            continue;
        for (uint32_t d = 0; d < rank; d++)
            add_offset(&f->offsets[d], constant[d]);
        return f;
    }
    struct family *f = arena_new(w->arena, struct family);
    f->first = x;
    f->scope = scope;
    f->base = base;
    f->offsets = arena_array(w->arena, struct offsets, rank + 1);
    for (uint32_t d = 0; d < rank; d++)
        f->offsets[d] = (struct offsets){constant[d], constant[d], 0};
    vec_push(w->arena, all, f);
    return f;
}

bool scope_is_short(const struct scope *s)
{
    if (s->var)
        return true;
    ir_foreach_expr(x, s->condition) {
        bool is_thread =
            x->op == OP_index && axis_kind(x->u.axis) == AXIS_THREAD;
        if (x->n == 0 && x->op != OP_const && !is_thread)
            return false;
    }
    return !(ir_flags(s->condition) & (OP_READS | OP_WRITES));
}

// Return the innermost scope of some that counts in a short question, or NULL.
static const struct scope *core_of(const struct scope *s)
{
    while (s && !scope_is_short(s))
        s = s->up;
    return s;
}

// Put an access into its families.
static void add_to_family(struct walk *w, struct node *segment,
                          struct access *x)
{
    uint32_t rank = x->buffer->rank;
    struct ir_expr **base = arena_array(w->arena, struct ir_expr *, rank + 1);
    int64_t *constant = arena_array(w->arena, int64_t, rank + 1);
    for (uint32_t d = 0; d < rank; d++)
        base[d] =
            base_of(w->arena, x->count[d] ? x->index[d] : NULL, &constant[d]);
    x->constant = constant;
    struct family *f = join(w, &segment->families, x->scope, x, base, constant);
    vec_push(w->arena, &f->members, x);
    f->wide = join(w, &w->program->wide, core_of(x->scope), x, base, constant);
}

// ---- Statements -----------------------------------------------------------

struct array_use *program_use(const struct program *p,
                              const struct ir_buffer *b)
{
    return map_get(&p->uses, b);
}

// Note how an access uses its array.
static void note_use(struct program *p, const struct access *x)
{
    struct array_use *use = program_use(p, x->buffer);
    if (!use) {
        use = arena_new(p->arena, struct array_use);
        map_set(&p->uses, x->buffer, use);
    }
    use->is_written |= x->writes;
    use->is_by_tma |= x->is_proxy && !x->is_product;
    use->is_product |= x->is_product;
    use->is_async |= x->is_async;
    p->has_arrivals |= x->is_arrival;
    use->has_mbarriers |= x->is_mbarrier || x->buffer->is_ordered;
}

// Note the accesses of a statement.
static void note_accesses(struct walk *w, struct ir_stmt *s)
{
    struct accesses found = {0};
    struct stmt_accesses t = {.arena = w->arena,
                              .values = &w->values,
                              .scope = w->scope,
                              .out = &found};
    stmt_accesses_find(&t, s);
    for (size_t i = 0; i < found.n; i++) {
        if (!w->segment)
            add_node(w, NODE_SEGMENT, s);
        vec_push(w->arena, &w->program->all, found.at[i]);
        note_use(w->program, found.at[i]);
        add_to_family(w, w->segment, found.at[i]);
    }
}

static void walk_block(struct walk *w, struct ir_block *block);

// Walk a block into nodes of its own, inside a scope.
static void walk_inside(struct walk *w, struct ir_block *block,
                        struct nodes *out, const struct scope *scope)
{
    const struct scope *outside = w->scope;
    struct nodes *to = w->out;
    w->out = out;
    w->scope = scope;
    w->segment = NULL;
    walk_block(w, block);
    w->out = to;
    w->scope = outside;
    w->segment = NULL;
}

// Return whether one of some nodes orders threads.
static bool has_sync(const struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        if (nodes->at[i]->kind == NODE_SYNC || nodes->at[i]->has_sync)
            return true;
    }
    return false;
}

// Walk a loop.
static void walk_loop(struct walk *w, struct ir_stmt *s)
{
    struct ir_for *loop = &s->u.loop;
    struct node *n = add_node(w, NODE_LOOP, s);
    struct scope *scope = arena_new(w->arena, struct scope);
    struct scope *around = w->loop;
    scope->up = w->scope;
    scope->var = loop->var;
    scope->from = ir_substitute(w->arena, loop->from, &w->values, NULL);
    scope->to = ir_substitute(w->arena, loop->to, &w->values, NULL);
    scope->step = ir_substitute(w->arena, loop->step, &w->values, NULL);
    n->scope = w->loop = scope;
    walk_inside(w, &loop->body, &n->body, scope);
    w->loop = around;
    n->has_sync = has_sync(&n->body);
}

// Walk a branch.
static void walk_branch(struct walk *w, struct ir_stmt *s)
{
    struct node *n = add_node(w, NODE_BRANCH, s);
    struct ir_expr *c =
        ir_substitute(w->arena, s->u.branch.cond, &w->values, NULL);
    for (int side = 0; side < 2; side++) {
        struct scope *scope = arena_new(w->arena, struct scope);
        scope->up = w->scope;
        scope->condition = c;
        scope->holds = side == 0;
        scope->branch = n;
        walk_inside(w, side ? &s->u.branch.otherwise : &s->u.branch.then,
                    side ? &n->otherwise : &n->body, scope);
    }
    n->has_sync = has_sync(&n->body) || has_sync(&n->otherwise);
}

// Return whether a statement ends a loop, an iteration or the kernel.
static bool is_exit(const struct ir_stmt *s)
{
    return s->kind == STMT_sync &&
           (s->u.sync.kind == SYNC_return || s->u.sync.kind == SYNC_break ||
            s->u.sync.kind == SYNC_continue);
}

// Note how a statement orders threads, or that they leave.
static void walk_sync(struct walk *w, struct ir_stmt *s)
{
    struct program *p = w->program;
    bool ends = is_exit(s);
    add_node(w, ends ? NODE_EXIT : NODE_SYNC, s);
    if (ends && w->loop)
        w->loop->may_end = true;
    if (s->kind != STMT_sync)
        return;
    enum sync_kind kind = s->u.sync.kind;
    p->has_return |= kind == SYNC_return || (ends && !w->loop);
    p->has_grid_barrier |= kind == SYNC_grid;
}

// Walk a statement.
static void walk_stmt(struct walk *w, struct ir_stmt *s)
{
    note_accesses(w, s);
    if (s->kind == STMT_for)
        walk_loop(w, s);
    else if (s->kind == STMT_if)
        walk_branch(w, s);
    else if (s->kind == STMT_sync || s->kind == STMT_barrier)
        walk_sync(w, s);
    if (s->kind != STMT_let)
        return;
    struct ir_expr *value =
        ir_substitute(w->arena, s->u.let.value, &w->values, NULL);
    if (ir_is_steady(value))
        map_set(&w->values, s->u.let.var, value);
    else
        map_set(&w->program->elements, s->u.let.var, value);
}

// Walk the statements of a block.
static void walk_block(struct walk *w, struct ir_block *block)
{
    for (size_t i = 0; i < block->n; i++)
        walk_stmt(w, block->at[i]);
}

struct program *program_make(struct arena *a, const struct ir_kernel *kernel,
                             const struct ir_launch *launch)
{
    struct program *p = arena_new(a, struct program);
    *p = (struct program){.arena = a,
                          .kernel = kernel,
                          .launch = launch,
                          .uses = {.arena = a},
                          .elements = {.arena = a}};
    struct walk w = {.program = p, .arena = a, .values = {.arena = a}};
    w.out = &p->body;
    walk_block(&w, (struct ir_block *)&launch->body);
    return p;
}
