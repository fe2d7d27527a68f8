// Copies and substitution: one rewriting rule, told by two maps, serves both.

#include "ir/copy.h"
#include "ir/build.h"
#include "ir/ring.h"
#include "ir/walk.h"

// What stands for what.
struct copying {
    struct arena *arena;
    struct map vars;    // ir_var -> ir_expr
    struct map buffers; // ir_buffer -> ir_buffer
    bool leaves;        // copy constants too, so that nothing is shared
};

// Return the map, or an empty one for NULL.
static struct map map_or_empty(struct arena *a, const struct map *m)
{
    return m ? *m : (struct map){.arena = a};
}

// Return a map with the same entries that can be added to.
static struct map map_copy(struct arena *a, const struct map *m)
{
    struct map copy = {.arena = a};
    for (size_t i = 0; m && i < m->cap; i++)
        if (m->keys[i])
            map_set(&copy, m->keys[i], m->values[i]);
    return copy;
}

// Return the array that stands for one.
static struct ir_buffer *new_buffer(struct copying *c, struct ir_buffer *b)
{
    struct ir_buffer *by = map_get(&c->buffers, b);
    return by ? by : b;
}

// Return the variable that stands for one which is assigned to.
static struct ir_var *new_var(struct copying *c, struct ir_var *var)
{
    struct ir_expr *by = map_get(&c->vars, var);
    return by && by->op == OP_var ? by->u.var : var;
}

// Return the tensor map that stands for one.
static struct ir_map *new_map(struct copying *c, struct ir_map *map)
{
    struct ir_map *by = map_get(&c->buffers, map);
    return by ? by : map;
}

// Return an access of another array.
static struct ir_expr *redirected(struct arena *a, const struct ir_expr *x,
                                  struct ir_buffer *buffer)
{
    struct ir_expr *copy = arena_new(a, struct ir_expr);
    *copy = *x;
    copy->u.buffer = buffer;
    copy->type.kind = buffer->elem.kind;
    return copy;
}

// Replace one node.
static struct ir_expr *substitute_node(struct arena *a, struct ir_expr *x,
                                       void *context)
{
    struct copying *c = context;
    const struct ir_op_info *info = ir_op_info(x->op);
    struct ir_expr *by = x->op == OP_var ? map_get(&c->vars, x->u.var) : NULL;
    if (by)
        return by;
    if (info->flags & (OP_READS | OP_WRITES)) {
        struct ir_buffer *buffer = new_buffer(c, x->u.buffer);
        return buffer == x->u.buffer ? x : redirected(a, x, buffer);
    }
    return c->leaves && x->n == 0 ? ir_with_args(a, x, NULL) : x;
}

// Substitute in one expression; NULL stays NULL.
static struct ir_expr *substitute(struct copying *c, struct ir_expr *x)
{
    return x ? ir_rewrite(c->arena, x, substitute_node, c) : NULL;
}

// Substitute in `n` expressions; NULL stays NULL.
static struct ir_expr **substitute_all(struct copying *c, uint32_t n,
                                       struct ir_expr *const *x)
{
    if (!x)
        return NULL;
    struct ir_expr **r = arena_array(c->arena, struct ir_expr *, n);
    for (uint32_t i = 0; i < n; i++)
        r[i] = substitute(c, x[i]);
    return r;
}

struct ir_expr *ir_substitute(struct arena *a, struct ir_expr *x,
                              const struct map *vars, const struct map *buffers)
{
    struct copying c = {a, map_or_empty(a, vars), map_or_empty(a, buffers),
                        false};
    return substitute(&c, x);
}

struct ir_expr **ir_substitute_all(struct arena *a, uint32_t n,
                                   struct ir_expr *const *x,
                                   const struct map *vars,
                                   const struct map *buffers)
{
    struct copying c = {a, map_or_empty(a, vars), map_or_empty(a, buffers),
                        false};
    return substitute_all(&c, n, x);
}

struct ir_expr *ir_replace_var(struct arena *a, struct ir_expr *x,
                               const struct ir_var *var, struct ir_expr *by)
{
    struct map vars = {.arena = a};
    map_set(&vars, var, by);
    return ir_substitute(a, x, &vars, NULL);
}

// Let the threads of a launch own the arrays that stand for theirs.
static void redirect_noalias(struct copying *c, struct ir_launch *l)
{
    struct ir_launch old = *l;
    l->noalias.at = NULL;
    l->noalias.n = l->noalias.cap = 0;
    for (size_t i = 0; i < old.noalias.n; i++)
        vec_push(c->arena, &l->noalias, new_buffer(c, old.noalias.at[i]));
}

// Let the rings of a loop name the arrays that stand for their own.
static void redirect_rings(struct copying *c, struct ir_for *loop)
{
    for (size_t i = 0; i < loop->rings.n; i++) {
        struct ir_ring *ring = loop->rings.at[i];
        for (size_t k = 0; k < ring->arrays.n; k++)
            ring->arrays.at[k] = new_buffer(c, ring->arrays.at[k]);
    }
}

// Substitute in one statement, but not in those inside it.
static void substitute_stmt(struct copying *c, struct ir_stmt *s)
{
    ir_foreach_place(place, s)
        *place = substitute(c, *place);
    ir_foreach_buffer(buffer, s) *buffer = new_buffer(c, *buffer);
    if (s->kind == STMT_assign)
        s->u.let.var = new_var(c, s->u.let.var);
    if (s->kind == STMT_copy && s->u.copy.map)
        s->u.copy.map = new_map(c, s->u.copy.map);
    if (s->kind == STMT_launch)
        redirect_noalias(c, &s->u.launch);
    if (s->kind == STMT_for)
        redirect_rings(c, &s->u.loop);
    if (s->kind == STMT_alloc) {
        struct ir_buffer *b = s->u.buffer;
        b->shape = substitute_all(c, b->rank, b->shape);
        b->strides = substitute_all(c, b->rank, b->strides);
    }
}

void ir_substitute_in(struct arena *a, struct ir_block *block,
                      const struct map *vars, const struct map *buffers)
{
    struct copying c = {a, map_or_empty(a, vars), map_or_empty(a, buffers),
                        false};
    ir_foreach_stmt(s, block)
        substitute_stmt(&c, s);
}

void ir_replace_in(struct arena *a, struct ir_block *block,
                   const struct ir_var *var, struct ir_expr *by)
{
    struct map vars = {.arena = a};
    map_set(&vars, var, by);
    ir_substitute_in(a, block, &vars, NULL);
}

void ir_expand_let(struct arena *a, struct ir_block *block, size_t at)
{
    const struct ir_stmt *let = block->at[at];
    ir_splice(a, block, at, &(struct ir_block){0});
    ir_replace_in(a, block, let->u.let.var, let->u.let.value);
}

// Declare a copy of a variable that stands for it from here on.
static struct ir_var *declare_var(struct copying *c, const struct ir_var *var)
{
    struct ir_var *copy =
        ir_var_new(c->arena, var->name, var->type, var->kind, var->span);
    struct ir_expr *read = ir_read(c->arena, copy);
    map_set(&c->vars, var, read);
    return copy;
}

// Declare a copy of an array that stands for it from here on.
static struct ir_buffer *declare_buffer(struct copying *c,
                                        const struct ir_buffer *b)
{
    struct ir_buffer *copy = arena_new(c->arena, struct ir_buffer);
    *copy = *b;
    copy->shape = substitute_all(c, b->rank, b->shape);
    copy->strides = substitute_all(c, b->rank, b->strides);
    map_set(&c->buffers, b, copy);
    return copy;
}

// Give a copied statement its own hints.
#define OWN_ATTRS(arena, attrs)                                                \
    ((attrs)->at = (void *)arena_copy(arena, (attrs)->at,                      \
                                      (attrs)->n * sizeof *(attrs)->at),       \
     (attrs)->cap = (attrs)->n)

static struct ir_block copy_stmts(struct copying *c,
                                  const struct ir_block *block);

// Copy what is particular to a stage; `s` is a shallow copy already.
static void copy_stage(struct copying *c, struct ir_stage *s)
{
    const struct ir_iter *old = s->iters.at;
    s->iters.at = arena_array(c->arena, struct ir_iter, s->iters.n);
    s->iters.cap = s->iters.n;
    for (size_t i = 0; i < s->iters.n; i++) {
        s->iters.at[i] = old[i];
        s->iters.at[i].binding = substitute(c, old[i].binding);
    }
    s->predicate = substitute(c, s->predicate);
    for (size_t i = 0; i < s->iters.n; i++) {
        s->iters.at[i].extent = substitute(c, old[i].extent);
        s->iters.at[i].var = declare_var(c, old[i].var);
    }
    OWN_ATTRS(c->arena, &s->attrs);
    s->init = copy_stmts(c, &s->init);
    s->body = copy_stmts(c, &s->body);
}

// Copy what is particular to a loop; `f` is a shallow copy already.
static void copy_for(struct copying *c, struct ir_for *f)
{
    f->from = substitute(c, f->from);
    f->to = substitute(c, f->to);
    f->step = substitute(c, f->step);
    f->var = declare_var(c, f->var);
    OWN_ATTRS(c->arena, &f->attrs);
    ir_rings_copy(c->arena, f, f);
    redirect_rings(c, f);
    f->body = copy_stmts(c, &f->body);
}

// Copy what is particular to a launch.
static void copy_launch(struct copying *c, struct ir_launch *l)
{
    for (int d = 0; d < 3; d++)
        l->grid[d] = substitute(c, l->grid[d]);
    redirect_noalias(c, l);
    l->body = copy_stmts(c, &l->body);
}

// Copy what is particular to a statement that declares nothing; `s` is a shallow
// copy already.
static void copy_rest(struct copying *c, struct ir_stmt *s)
{
    ir_own_places(c->arena, s);
    substitute_stmt(c, s);
    ir_foreach_block(block, s)
        *block = copy_stmts(c, block);
}

// Copy a statement with all it contains.
static struct ir_stmt *copy_stmt(struct copying *c, const struct ir_stmt *old)
{
    struct ir_stmt *s = arena_new(c->arena, struct ir_stmt);
    *s = *old;
    switch ((int)s->kind) {
    case STMT_for: copy_for(c, &s->u.loop); break;
    case STMT_stage: copy_stage(c, &s->u.stage); break;
    case STMT_alloc: s->u.buffer = declare_buffer(c, s->u.buffer); break;
    case STMT_let:
    case STMT_var:
        s->u.let.value = substitute(c, s->u.let.value);
        s->u.let.var = declare_var(c, s->u.let.var);
        break;
    case STMT_launch: copy_launch(c, &s->u.launch); break;
    default: copy_rest(c, s);
    }
    return s;
}

// Copy the statements of a block.
static struct ir_block copy_stmts(struct copying *c,
                                  const struct ir_block *block)
{
    struct ir_block r = {0};
    for (size_t i = 0; i < block->n; i++)
        vec_push(c->arena, &r, copy_stmt(c, block->at[i]));
    return r;
}

struct ir_block ir_copy_block(struct arena *a, const struct ir_block *block,
                              const struct map *vars, const struct map *buffers)
{
    struct copying c = {a, map_copy(a, vars), map_copy(a, buffers), false};
    return copy_stmts(&c, block);
}

struct ir_stmt *ir_copy_stmt(struct arena *a, struct ir_stmt *s,
                             const struct map *vars, const struct map *buffers)
{
    return ir_copy_block(a, ir_alone(s), vars, buffers).at[0];
}

// Copy the parameters; shapes may mention sizes that come later.
static void copy_params(struct copying *c, const struct ir_kernel *from,
                        struct ir_kernel *to)
{
    memset(&to->params, 0, sizeof to->params);
    for (size_t i = 0; i < from->params.n; i++) {
        struct ir_param p = from->params.at[i];
        if (p.var)
            p.var = declare_var(c, p.var);
        vec_push(c->arena, &to->params, p);
    }
    for (size_t i = 0; i < to->params.n; i++) {
        struct ir_param *p = &to->params.at[i];
        if (p->buffer)
            p->buffer = declare_buffer(c, p->buffer);
    }
}

// Copy the tensor maps, but for their arrays.
static void copy_maps(struct copying *c, const struct ir_kernel *from,
                      struct ir_kernel *to)
{
    memset(&to->maps, 0, sizeof to->maps);
    for (size_t i = 0; i < from->maps.n; i++) {
        struct ir_map *map = arena_new(c->arena, struct ir_map);
        *map = *from->maps.at[i];
        map_set(&c->buffers, from->maps.at[i], map);
        vec_push(c->arena, &to->maps, map);
    }
}

// Copy the ranges of elements.
static void copy_ranges(struct copying *c, const struct ir_terms *from,
                        struct ir_terms *to)
{
    memset(&to->ranges, 0, sizeof to->ranges);
    for (size_t i = 0; i < from->ranges.n; i++) {
        struct ir_range r = from->ranges.at[i];
        r.low = substitute(c, r.low);
        r.high = substitute(c, r.high);
        vec_push(c->arena, &to->ranges, r);
    }
}

struct ir_kernel *ir_copy_kernel(struct arena *a,
                                 const struct ir_kernel *kernel)
{
    struct copying c = {a, {.arena = a}, {.arena = a}, true};
    struct ir_kernel *k = arena_new(a, struct ir_kernel);
    *k = *kernel;
    copy_params(&c, kernel, k);
    copy_maps(&c, kernel, k);
    memset(&k->where, 0, sizeof k->where);
    memset(&k->guard, 0, sizeof k->guard);
    for (size_t i = 0; i < kernel->where.n; i++)
        vec_push(a, &k->where, substitute(&c, kernel->where.at[i]));
    for (size_t i = 0; i < kernel->guard.n; i++)
        vec_push(a, &k->guard, substitute(&c, kernel->guard.at[i]));
    copy_ranges(&c, &kernel->terms, &k->terms);
    k->body = copy_stmts(&c, &kernel->body);
    for (size_t i = 0; i < k->maps.n; i++)
        k->maps.at[i]->buffer = new_buffer(&c, k->maps.at[i]->buffer);
    return k;
}
