// The phases of a reduction that threads share: loops over threads with no
// barrier inside. The barriers between them are inserted with the launch
// (barrier_insertion.c).

#include "passes/lower/crossthread.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/ring.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/opt/fold.h"

// What all threads do before they wait.
struct reduction_phase {
    struct ir_block *body;  // inside the thread loops
    struct map vars;        // the stage's thread loops to this phase's
    struct ir_expr *number; // of the thread among those of its element
    struct ir_expr *rank;   // of the block among those of its element
    struct reducer_place values[REDUCER_ARRAYS]; // what it has so far
};

// Return whether a loop counts the reduction.
static bool reduces(const struct crossing *c, const struct ir_stmt *loop)
{
    return (crossthread_role(c, loop) & STAGE_REDUCES) != 0;
}

// Return the directive that made the stage, or else the loop over the threads
// that share it.
static struct span directive_of(const struct crossing *c)
{
    struct span by = c->stage->by;
    for (size_t i = 0; i < c->threads.n && !by.source; i++)
        if (reduces(c, c->threads.at[i]))
            by = c->threads.at[i]->by;
    return by;
}

// Return a statement with the places of those that stand for the stage.
static struct ir_stmt model(const struct crossing *c)
{
    return (struct ir_stmt){.span = c->stage->span, .by = directive_of(c)};
}

// Append a statement that stands for the stage.
static struct ir_stmt *add(const struct crossing *c, struct ir_block *to,
                           struct ir_stmt *s)
{
    const struct ir_stmt like = model(c);
    ir_append(c->pass->arena, to, ir_stmt_from(s, &like));
    return s;
}

// Make a variable.
static struct ir_var *new_var(const struct crossing *c, const char *name,
                              struct type type, enum var_kind kind)
{
    return ir_var_new(c->pass->arena, str_name(c->pass->names, name), type,
                      kind, c->stage->span);
}

// Return the array of a value of the result.
static struct ir_buffer *result_of(const struct crossing *c, size_t value)
{
    return c->reducer.values[value].store->u.store.buffer;
}

// Return a name made from that of an array of the result.
static const char *name_for(const struct crossing *c, size_t value,
                            const char *what)
{
    const char *name = result_of(c, value)->name;
    return str_name(c->pass->names,
                    arena_printf(c->pass->scratch, "%s_%s", name, what));
}

// Return the variable of a loop in a phase.
static struct ir_expr *loop_value(const struct crossing *c,
                                  const struct reduction_phase *ph,
                                  const struct ir_stmt *loop)
{
    struct ir_expr *x = map_get(&ph->vars, loop->u.loop.var);
    return x ? x : ir_read(c->pass->arena, loop->u.loop.var);
}

// Set the numbers of the thread and its block: neighbours along x are
// neighbours.
static void number_threads(const struct crossing *c, struct reduction_phase *ph)
{
    struct arena *a = c->pass->arena;
    ph->number = ph->rank = ir_int(a, 0);
    static const enum axis axes[] = {
        AXIS_cluster_z, AXIS_cluster_y, AXIS_cluster_x,
        AXIS_warpgroup, AXIS_warp,      AXIS_lane,
        AXIS_thread_z,  AXIS_thread_y,  AXIS_thread_x};
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        vec_foreach_value(s, &c->threads) {
            if (s->u.loop.axis != axes[k] || !reduces(c, s))
                continue;
            struct ir_expr *extent = ir_int(a, crossthread_threads(s));
            struct ir_expr **number =
                axis_is_cluster(axes[k]) ? &ph->rank : &ph->number;
            *number =
                ir_add(a, ir_mul(a, *number, extent), loop_value(c, ph, s));
        }
    }
}

// Append the thread loops of a phase: those of the stage for the first one,
// copies for the others.
static struct reduction_phase open_phase(const struct crossing *c,
                                         struct ir_block *to, bool is_first)
{
    struct arena *a = c->pass->arena;
    struct reduction_phase ph = {.body = to,
                                 .vars = {.arena = c->pass->scratch}};
    for (size_t i = 0; i < c->threads.n; i++) {
        struct ir_stmt *s = c->threads.at[i];
        const struct ir_for *l = &s->u.loop;
        if (!is_first) {
            struct ir_var *var =
                new_var(c, l->var->name, l->var->type, VAR_loop);
            map_set(&ph.vars, l->var, ir_read(a, var));
            s = ir_stmt_for(a, var, l->from, l->to, l->step, l->axis);
        }
        s->u.loop.body = (struct ir_block){0};
        ir_append(a, ph.body, ir_stmt_from(s, c->threads.at[i]));
        ph.body = &s->u.loop.body;
    }
    number_threads(c, &ph);
    return ph;
}

// Declare a variable for each value of a thread's partial result.
static void declare_values(const struct crossing *c, struct reduction_phase *ph,
                           const char *what,
                           struct ir_expr *const initial[REDUCER_ARRAYS])
{
    for (size_t v = 0; v < c->reducer.n; v++) {
        struct ir_var *var = new_var(c, name_for(c, v, what),
                                     result_of(c, v)->elem, VAR_mutable);
        ph->values[v] = (struct reducer_place){.var = var};
        add(c, ph->body, ir_stmt_let(c->pass->arena, var, initial[v]));
    }
}

// Return the place of a part of the thread's group, in the block of a rank.
static struct reducer_place part_in(const struct crossing *c,
                                    const struct reduction_phase *ph,
                                    size_t value, struct ir_expr *rank,
                                    struct ir_expr *number)
{
    struct arena *a = c->pass->arena;
    struct reducer_place at = {.buffer = c->part[value]};
    at.index = arena_array(a, struct ir_expr *, at.buffer->rank);
    if (at.buffer->of_cluster)
        at.index[at.n++] = rank;
    for (size_t i = 0; i < c->outer.n; i++)
        at.index[at.n++] = ir_read(a, c->outer.at[i]->u.loop.var);
    for (size_t i = 0; i < c->threads.n; i++)
        if (!reduces(c, c->threads.at[i]))
            at.index[at.n++] = loop_value(c, ph, c->threads.at[i]);
    at.index[at.n++] = number;
    return at;
}

// Return the place of a part of the thread's group, in its own block.
static struct reducer_place part_at(const struct crossing *c,
                                    const struct reduction_phase *ph,
                                    size_t value, struct ir_expr *number)
{
    return part_in(c, ph, value, ph->rank, number);
}

// Return the shape of the parts: how many blocks have them if several do, one
// number for each group of threads, then that of the parts.
static struct ir_expr **parts_shape(const struct crossing *c, uint32_t *rank)
{
    struct arena *a = c->pass->arena;
    struct ir_expr **shape =
        arena_array(a, struct ir_expr *, c->outer.n + c->threads.n + 2);
    *rank = 0;
    if (c->blocks > 1)
        shape[(*rank)++] = ir_int(a, c->blocks);
    for (size_t i = 0; i < c->outer.n; i++)
        shape[(*rank)++] = c->outer.at[i]->u.loop.to;
    for (size_t i = 0; i < c->threads.n; i++)
        if (!reduces(c, c->threads.at[i]))
            shape[(*rank)++] = c->threads.at[i]->u.loop.to;
    shape[(*rank)++] = ir_int(a, c->parts);
    return shape;
}

void crossthread_share(struct pass *p, struct ir_path *path, uint32_t n,
                       const struct ir_block *arrays)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ir_is_over(path->stmts[i], AXIS_BLOCK))
            k = i + 1;
    ir_insert_all(p->arena, path->blocks[k], k ? 0 : path->index[0], arrays);
    path->index[k] += arrays->n;
}

// Declare the arrays of the parts.
static void declare_parts(struct crossing *c)
{
    struct ir_block arrays = {0};
    for (size_t v = 0; v < c->reducer.n; v++) {
        uint32_t rank;
        struct ir_expr **shape = parts_shape(c, &rank);
        c->part[v] = ir_buffer_new(c->pass->arena, name_for(c, v, "part"),
                                   result_of(c, v)->elem, rank, shape);
        c->part[v]->space = SPACE_shared;
        c->part[v]->of_cluster = c->blocks > 1;
        c->part[v]->span = c->stage->span;
        add(c, &arrays, ir_stmt_alloc(c->pass->arena, c->part[v]));
    }
    crossthread_share(c->pass, &c->path, c->first, &arrays);
}

// Return what the stage's variables for elements are in a phase.
static struct map iter_values(const struct crossing *c,
                              const struct reduction_phase *ph)
{
    struct map values = {.arena = c->pass->scratch};
    const struct ir_stage *stage = &c->stage->u.stage;
    vec_foreach(it, &stage->iters) {
        struct ir_expr *x =
            ir_substitute(c->pass->arena, it->binding, &ph->vars, NULL);
        if (!it->is_reduce)
            map_set(&values, it->var, x);
    }
    return values;
}

// Return how often a loop that ends at `to` runs before its last iteration; NULL
// if that is not known.
static struct ir_expr *before_last(struct arena *a, const struct ir_expr *to)
{
    int64_t n;
    if (to->op == OP_ceildiv && ir_int_value(to->args[1], &n))
        return ir_binary(a, OP_div, to->args[0], to->args[1]);
    if (to->op == OP_select && ir_is_int_const(to->args[2], 0)) {
        struct ir_expr *x = before_last(a, to->args[1]);
        return x ? ir_select(a, to->args[0], x, to->args[2]) : NULL;
    }
    return ir_int_value(to, &n) && n > 1 ? ir_int(a, n - 1) : NULL;
}

// Return how often a loop of the reduction runs before its last iteration,
// which may be the only one that a condition cuts short; NULL if no condition
// depends on it, or it is marked.
static struct ir_expr *whole_iterations(const struct crossing *c,
                                        const struct ir_for *loop)
{
    struct arena *a = c->pass->arena;
    const struct ir_stage *stage = &c->stage->u.stage;
    bool is_cut =
        (stage->predicate && ir_mentions(stage->predicate, loop->var)) ||
        c->reducer.block != &stage->body;
    return is_cut && loop->axis == AXIS_serial && !ir_loop_is_marked(loop)
               ? before_last(a, loop->to)
               : NULL;
}

// Return whether a loop holds one loop after another and the stage, alone.
static bool is_chain(const struct ir_stmt *s)
{
    while (s->kind == STMT_for && s->u.loop.body.n == 1)
        s = s->u.loop.body.at[0];
    return s->kind != STMT_for;
}

// Append the loops of a thread's share: from one on twice, where that leaves
// a first nest without the conditions of the tail.
static void add_nest(const struct crossing *c, struct ir_block *to,
                     const struct ir_block *nest)
{
    struct arena *a = c->pass->arena;
    struct ir_stmt *s = nest->at[0];
    if (s->kind == STMT_for && s->u.loop.body.n == 1) {
        struct ir_expr *whole =
            is_chain(s) ? whole_iterations(c, &s->u.loop) : NULL;
        struct ir_block body = s->u.loop.body;
        if (whole) {
            struct ir_block first = ir_copy_block(a, nest, NULL, NULL);
            first.at[0]->u.loop.to = whole;
            s->u.loop.from = whole;
            ir_append(a, to, first.at[0]);
        } else {
            s->u.loop.body = (struct ir_block){0};
            add_nest(c, &s->u.loop.body, &body);
        }
    }
    ir_append(a, to, s);
}

// Let each thread reduce its share.
static void add_share(const struct crossing *c, struct reduction_phase *ph)
{
    struct arena *a = c->pass->arena;
    const struct ir_stage *stage = &c->stage->u.stage;
    struct ir_expr *initial[REDUCER_ARRAYS];
    const char *name = arena_printf(c->pass->scratch, "%s.part", stage->name);
    struct ir_stmt *s = ir_stmt_stage(a, str_name(c->pass->names, name));
    for (size_t v = 0; v < c->reducer.n; v++)
        initial[v] = c->reducer.values[v].identity;
    declare_values(c, ph, "own", initial);
    struct ir_block nest = {0}, *into = &nest;
    for (size_t i = 0; i < c->reductions.n; i++) {
        ir_append(a, into, c->reductions.at[i]);
        into = &c->reductions.at[i]->u.loop.body;
        into->n--;
    }
    s->u.stage.iters = stage->iters;
    s->u.stage.predicate = stage->predicate;
    s->u.stage.attrs = stage->attrs;
    s->u.stage.body = reducer_body(c->pass, &c->reducer, ph->values, NULL);
    add(c, into, s);
    add_nest(c, ph->body, &nest);
}

// Append statements that combine values with others.
static void add_combination(const struct crossing *c, struct ir_block *to,
                            const struct reducer_place *values,
                            struct ir_expr *const *right,
                            const struct map *vars)
{
    struct ir_block block =
        reducer_combine(c->pass, &c->reducer, values, right, vars);
    struct ir_stmt like = model(c);
    ir_foreach_stmt(s, &block)
        ir_stmt_from(s, &like);
    ir_append_all(c->pass->arena, to, &block);
}

// Combine the values of `width` neighbours by shuffles; all of them get the
// result.
static void add_shuffles(const struct crossing *c, struct reduction_phase *ph,
                         int64_t width)
{
    struct arena *a = c->pass->arena;
    struct map values = iter_values(c, ph);
    for (int64_t bit = width / 2; bit > 0; bit /= 2) {
        struct ir_expr *right[REDUCER_ARRAYS];
        for (size_t v = 0; v < c->reducer.n; v++) {
            struct ir_expr *args[] = {reducer_read(a, &ph->values[v]),
                                      ir_int(a, bit)};
            struct ir_var *var = new_var(c, name_for(c, v, "other"),
                                         result_of(c, v)->elem, VAR_let);
            add(c, ph->body,
                ir_stmt_let(a, var, ir_call(a, OP_shuffle_xor, 2, args)));
            right[v] = ir_read(a, var);
        }
        add_combination(c, ph->body, ph->values, right, &values);
    }
}

// Append stores of a thread's part, to all blocks that share the reduction.
static void push_parts(const struct crossing *c,
                       const struct reduction_phase *ph, struct ir_block *to,
                       struct ir_expr *part)
{
    struct arena *a = c->pass->arena;
    struct ir_var *var = new_var(c, "rank", type_scalar(TYPE_int), VAR_loop);
    struct ir_stmt *loop = ir_stmt_for(
        a, var, ir_int(a, 0), ir_int(a, c->blocks), ir_int(a, 1), AXIS_unroll);
    if (c->blocks > 1)
        to = &add(c, to, loop)->u.loop.body;
    for (size_t v = 0; v < c->reducer.n; v++) {
        struct reducer_place at = part_in(c, ph, v, ir_read(a, var), part);
        add(c, to, reducer_write(a, &at, reducer_read(a, &ph->values[v])));
    }
}

// Let one of the neighbours that have exchanged store their part.
static void store_parts(const struct crossing *c,
                        const struct reduction_phase *ph)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *width = ir_int(a, c->width);
    struct ir_expr *each = ir_int(a, c->each / c->width);
    struct ir_expr *part = ir_add(a, ir_mul(a, ph->rank, each),
                                  ir_binary(a, OP_div, ph->number, width));
    struct ir_expr *lane = ir_binary(a, OP_mod, ph->number, width);
    struct ir_block *to = ph->body;
    if (c->width > 1)
        to = &add(c, to, ir_stmt_if(a, ir_binary(a, OP_eq, lane, ir_int(a, 0))))
                  ->u.branch.then;
    push_parts(c, ph, to, part);
}

// Combine the parts of one half of the threads with those of the other until
// one is left.
static void add_tree(const struct crossing *c, struct ir_block *to)
{
    struct arena *a = c->pass->arena;
    struct type type = type_scalar(TYPE_int);
    struct ir_expr *right[REDUCER_ARRAYS];
    int64_t steps = 0;
    while (INT64_C(1) << steps < c->parts)
        steps++;
    struct ir_var *step = new_var(c, "step", type, VAR_loop);
    struct ir_var *half = new_var(c, "half", type, VAR_let);
    struct ir_stmt *loop = ir_stmt_for(a, step, ir_int(a, 0), ir_int(a, steps),
                                       ir_int(a, 1), AXIS_serial);
    struct ir_block *body = &add(c, to, loop)->u.loop.body;
    struct ir_expr *most = ir_int(a, INT64_C(1) << (steps - 1));
    struct ir_expr *size = ir_read(a, half);
    add(c, body,
        ir_stmt_let(a, half, ir_binary(a, OP_shr, most, ir_read(a, step))));
    struct reduction_phase ph = open_phase(c, body, false);
    struct ir_expr *other = ir_add(a, ph.number, size);
    struct ir_expr *is_left = ir_binary(a, OP_lt, ph.number, size);
    if (c->parts != INT64_C(1) << steps)
        is_left = ir_binary(a, OP_and, is_left,
                            ir_binary(a, OP_lt, other, ir_int(a, c->parts)));
    for (size_t v = 0; v < c->reducer.n; v++) {
        struct reducer_place at = part_at(c, &ph, v, other);
        ph.values[v] = part_at(c, &ph, v, ph.number);
        right[v] = reducer_read(a, &at);
    }
    struct map values = iter_values(c, &ph);
    struct ir_stmt *branch = add(c, ph.body, ir_stmt_if(a, is_left));
    add_combination(c, &branch->u.branch.then, ph.values, right, &values);
}

// Read the one part that is left.
static void read_part(const struct crossing *c, struct reduction_phase *ph)
{
    for (size_t v = 0; v < c->reducer.n; v++)
        ph->values[v] = part_at(c, ph, v, ir_int(c->pass->arena, 0));
}

// Read the parts, one to a thread, as often as the threads need, and combine
// `width` neighbours, of which those beyond the last part have the identity.
static void shuffle_parts(const struct crossing *c, struct reduction_phase *ph,
                          int64_t width)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *initial[REDUCER_ARRAYS];
    struct ir_expr *number = ir_binary(a, OP_mod, ph->number, ir_int(a, width));
    struct ir_expr *is_part = ir_binary(a, OP_lt, number, ir_int(a, c->parts));
    for (size_t v = 0; v < c->reducer.n; v++) {
        struct reducer_place at = part_at(c, ph, v, number);
        initial[v] = reducer_read(a, &at);
        if (width > c->parts)
            initial[v] = ir_select(a, is_part, initial[v],
                                   c->reducer.values[v].identity);
    }
    declare_values(c, ph, "all", initial);
    add_shuffles(c, ph, width);
}

// Return the least power of two that is not below a number.
static int64_t power_above(int64_t n)
{
    int64_t r = 1;
    while (r < n)
        r *= 2;
    return r;
}

// Set what a thread reads of the parts: from number `from` on, of which each of
// `width` neighbours has one; the identity beyond the last.
static void read_parts(const struct crossing *c,
                       const struct reduction_phase *ph, int64_t from,
                       int64_t width, struct ir_expr **out)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *lane = ir_binary(a, OP_mod, ph->number, ir_int(a, width));
    struct ir_expr *number = ir_add(a, lane, ir_int(a, from));
    struct ir_expr *is_part = ir_binary(a, OP_lt, number, ir_int(a, c->parts));
    for (size_t v = 0; v < c->reducer.n; v++) {
        struct reducer_place at = part_at(c, ph, v, number);
        out[v] = reducer_read(a, &at);
        if (from + width > c->parts)
            out[v] =
                ir_select(a, is_part, out[v], c->reducer.values[v].identity);
    }
}

// Read the parts of all blocks of the cluster, several to a thread, and combine
// them.
static void gather_parts(const struct crossing *c, struct reduction_phase *ph)
{
    struct ir_expr *parts[REDUCER_ARRAYS];
    int64_t width = power_above(c->parts);
    width = width < c->width ? width : c->width;
    struct map values = iter_values(c, ph);
    read_parts(c, ph, 0, width, parts);
    declare_values(c, ph, "all", parts);
    for (int64_t from = width; from < c->parts; from += width) {
        read_parts(c, ph, from, width, parts);
        add_combination(c, ph->body, ph->values, parts, &values);
    }
    add_shuffles(c, ph, width);
}

// Return the conjuncts of the stage's predicate that the reduction does not
// decide.
static struct ir_expr *element_predicate(const struct crossing *c)
{
    struct conditions kept = {0};
    struct pass *p = c->pass;
    struct conditions all = fold_split(p->scratch, c->stage->u.stage.predicate);
    for (size_t i = 0; i < all.n; i++) {
        bool decides = false;
        for (uint32_t k = c->first; k + 1 < c->path.n; k++) {
            const struct ir_stmt *s = c->path.stmts[k];
            decides |= reduces(c, s) && ir_mentions(all.at[i], s->u.loop.var);
        }
        if (!decides)
            vec_push(p->scratch, &kept, all.at[i]);
    }
    return fold_all(p->arena, kept.at, kept.n);
}

// Return whether the thread is the first of those that share the result.
static struct ir_expr *is_first(const struct crossing *c,
                                const struct reduction_phase *ph)
{
    struct arena *a = c->pass->arena;
    struct ir_expr *first = ir_binary(a, OP_eq, ph->number, ir_int(a, 0));
    if (c->blocks == 1)
        return first;
    return ir_binary(a, OP_and, ir_binary(a, OP_eq, ph->rank, ir_int(a, 0)),
                     first);
}

// Make the stage that stores the result, without its stores.
static struct ir_stmt *result_stage(const struct crossing *c,
                                    const struct reduction_phase *ph,
                                    struct map *iters)
{
    struct arena *a = c->pass->arena;
    const struct ir_stage *old = &c->stage->u.stage;
    struct ir_stmt *s = ir_stmt_stage(a, old->name);
    struct ir_expr *predicate =
        ir_substitute(a, element_predicate(c), &ph->vars, NULL);
    for (size_t i = 0; i < old->iters.n; i++) {
        struct ir_iter it = old->iters.at[i];
        if (it.is_reduce)
            continue;
        it.var = new_var(c, it.var->name, it.var->type, VAR_iter);
        it.binding = ir_substitute(a, it.binding, &ph->vars, NULL);
        map_set(iters, old->iters.at[i].var, ir_read(a, it.var));
        vec_push(a, &s->u.stage.iters, it);
    }
    if (result_of(c, 0)->space != SPACE_local)
        predicate = ir_binary(a, OP_and, is_first(c, ph), predicate);
    s->u.stage.predicate = ir_is_true(predicate) ? NULL : predicate;
    return s;
}

// Store the result: in every thread's own array, else by the first thread.
static void add_result(const struct crossing *c,
                       const struct reduction_phase *ph)
{
    struct arena *a = c->pass->arena;
    struct map iters = {.arena = c->pass->scratch};
    struct ir_stmt *s = result_stage(c, ph, &iters);
    for (size_t v = 0; v < c->reducer.n; v++) {
        const struct ir_stmt *old = c->reducer.values[v].store;
        uint32_t n = old->u.store.n;
        struct ir_expr **index =
            ir_substitute_all(a, n, old->u.store.index, &iters, NULL);
        add(c, &s->u.stage.body,
            ir_stmt_store(a, old->u.store.buffer, n, index,
                          reducer_read(a, &ph->values[v])));
    }
    add(c, ph->body, s);
}

void crossthread_phases(struct crossing *c, struct ir_block *to)
{
    struct reduction_phase ph = open_phase(c, to, true);
    int64_t width = power_above(c->parts);
    add_share(c, &ph);
    add_shuffles(c, &ph, c->width);
    if (c->parts == 1) {
        add_result(c, &ph);
        return;
    }
    declare_parts(c);
    store_parts(c, &ph);
    bool has_tree = c->blocks == 1 && width > c->width;
    if (has_tree)
        add_tree(c, to);
    ph = open_phase(c, to, false);
    if (c->blocks > 1)
        gather_parts(c, &ph);
    else if (has_tree)
        read_part(c, &ph);
    else
        shuffle_parts(c, &ph, width);
    add_result(c, &ph);
}
