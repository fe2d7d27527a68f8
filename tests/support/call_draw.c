// Random arguments of calls.

#include "tests/support/calls.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "passes/schedule/common/move.h"
#include "tests/support/draw.h"
#include "tests/support/suits.h"
#include "tests/support/values.h"

#include <string.h>

// Of so many arguments one is drawn without asking what suits.
enum { UNSUITED = 100 };

// Return the next random number below n.
static uint64_t below(const struct caller *by, uint64_t n)
{
    return draw_below(by->random, n);
}

// The loops, stages and arrays of a kernel.
struct handles {
    struct arena *arena;
    struct VEC(struct ir_stmt *) loops, stages;
    struct VEC(struct ir_buffer *) arrays;
    size_t n_params; // of the arrays, the first ones
};

// Note a loop, a stage or an array.
static void note_handle(struct handles *h, struct ir_stmt *s)
{
    if (s->kind == STMT_for)
        vec_push(h->arena, &h->loops, s);
    if (s->kind == STMT_stage)
        vec_push(h->arena, &h->stages, s);
    if (s->kind == STMT_alloc)
        vec_push(h->arena, &h->arrays, s->u.buffer);
}

// Note the parameters of a kernel that are arrays.
static void note_params(const struct ir_kernel *k, struct handles *h)
{
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer)
            vec_push(h->arena, &h->arrays, k->params.at[i].buffer);
    h->n_params = h->arrays.n;
}

// Return a random map of n indices: some are cut in two, and the parts, in
// another order, are the new ones; two of them may be joined.
static struct sched_map *random_map(const struct caller *by, uint32_t n)
{
    struct arena *a = by->work;
    struct sched_map *map = arena_new(a, struct sched_map);
    uint64_t joins = by->is_suited ? 6 : 2, drops = by->is_suited ? 64 : 8;
    map->n = n;
    map->vars = arena_array(a, struct ir_var *, n);
    map->to = arena_array(a, struct ir_expr *, 2 * n);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = str_name(by->names, arena_printf(a, "i%u", i));
        map->vars[i] = ir_var_new(a, name, type_scalar(TYPE_int), VAR_let,
                                  (struct span){0});
        struct ir_expr *x = ir_read(a, map->vars[i]);
        struct ir_expr *part = ir_int(a, (int64_t)below(by, 3) + 1);
        map->to[map->m++] = ir_binary(a, OP_div, x, part);
        if (!ir_is_int_const(part, 1) && below(by, drops))
            map->to[map->m++] = ir_binary(a, OP_mod, x, part);
    }
    for (uint32_t i = map->m; i > 1; i--) {
        uint32_t k = (uint32_t)below(by, i);
        struct ir_expr *x = map->to[k];
        map->to[k] = map->to[i - 1];
        map->to[i - 1] = x;
    }
    if (map->m > 1 && below(by, joins) == 1) {
        struct ir_expr *part = ir_int(a, (int64_t)below(by, 3) + 1);
        map->m--;
        map->to[0] = ir_add(a, ir_mul(a, map->to[0], part), map->to[map->m]);
    }
    return map;
}

// Return one of n statements that suits as the first argument, or NULL.
static struct ir_stmt *pick_suited(const struct caller *by,
                                   const struct sched_call *c,
                                   struct ir_stmt **all, size_t n)
{
    size_t start = below(by, n);
    for (size_t i = 0; i < n; i++) {
        struct ir_stmt *at = all[(start + i) % n];
        if (suits_stmt(c->pass, c->prim, at))
            return at;
    }
    return NULL;
}

// Return a loop or a stage, every other time one that is near; NULL if one
// that suits is asked for and there is none.
static struct ir_stmt *pick(const struct caller *by, const struct handles *h,
                            const struct sched_call *c, enum ir_stmt_kind kind)
{
    size_t n = kind == STMT_for ? h->loops.n : h->stages.n;
    struct ir_stmt **all = kind == STMT_for ? h->loops.at : h->stages.at;
    bool is_suited = by->is_suited && c->args.n == 0 && below(by, UNSUITED);
    if (by->near && by->near->n && below(by, 2)) {
        struct ir_stmt *at = by->near->at[below(by, by->near->n)];
        for (size_t i = 0; i < n; i++)
            if (all[i] == at &&
                (!is_suited || suits_stmt(c->pass, c->prim, at)))
                return at;
    }
    return is_suited ? pick_suited(by, c, all, n) : all[below(by, n)];
}

// Return an array, mostly a declared one; where one that suits is asked for
// and there is none, NULL.
static struct ir_buffer *pick_array(const struct caller *by,
                                    const struct handles *h,
                                    enum sched_prim prim)
{
    bool any = h->n_params == h->arrays.n || !below(by, 8);
    size_t first = any ? 0 : h->n_params, n = h->arrays.n - first;
    size_t start = below(by, n);
    bool is_suited = by->is_suited && below(by, UNSUITED);
    for (size_t i = 0; i < n; i++) {
        struct ir_buffer *b = h->arrays.at[first + (start + i) % n];
        if (!is_suited || suits_array(prim, b))
            return b;
    }
    return NULL;
}

// A text with a fault: a `print` comes last, and others would run behind it.
static const char refused_text[] = "{";

// Return a random argument for a letter of a signature, in the kernel.
static struct sched_value argument(const struct caller *by,
                                   const struct handles *h,
                                   const struct sched_call *c, char letter)
{
    struct sched_value v = {.kind = VALUE_int};
    bool is_stage = letter == 's' || (letter == 't' && below(by, 2));
    if (is_stage && h->stages.n) {
        v.kind = VALUE_stage;
        v.stmt = pick(by, h, c, STMT_stage);
    } else if (strchr("lts", letter)) {
        v.kind = VALUE_loop;
        v.stmt = pick(by, h, c, STMT_for);
    } else if (letter == 'a') {
        v.kind = VALUE_array;
        v.buffer = pick_array(by, h, c->prim);
    } else if (letter == 'q') {
        v.kind = VALUE_text;
        v.key = refused_text;
    } else if (letter == 'm') {
        v.kind = VALUE_map;
        v.map = random_map(by, (uint32_t)below(by, 3) + 1);
    } else if (letter == 'o') {
        v.kind = VALUE_space;
        v.space = value_space(by, c);
    } else if (letter == 'x') {
        v.kind = VALUE_axis;
        v.axis = value_axis(by);
    } else if (letter == 'k') {
        v.kind = VALUE_key;
        v.key = str_name(by->names, value_key(by, c));
    } else if (letter == 'f' && value_is_any(by, c)) {
        v.kind = VALUE_any;
    } else {
        v.number = value_number(by, c);
    }
    return v;
}

// Return a stage, not `stage`, that accesses the array which that one stores;
// NULL if none was found.
static struct ir_stmt *neighbour(const struct caller *by,
                                 const struct handles *h, struct ir_stmt *stage)
{
    const struct ir_buffer *array = sched_stored(stage);
    size_t start = below(by, h->stages.n);
    for (size_t i = 0; i < h->stages.n; i++) {
        struct ir_stmt *at = h->stages.at[(start + i) % h->stages.n];
        struct ir_buffer *stored = sched_stored(at);
        if (at != stage && ((array && ir_stmt_uses(at, array)) ||
                            (stored && ir_stmt_uses(stage, stored))))
            return at;
    }
    return NULL;
}

// Return a loop around a statement, or NULL.
static struct ir_stmt *loop_around(const struct caller *by, struct pass *p,
                                   struct ir_stmt *stmt)
{
    struct ir_block loops = sched_loops(p, stmt);
    return loops.n ? loops.at[below(by, loops.n)] : NULL;
}

// Return a loop directly inside another one, or beside it for `beside`.
static struct ir_stmt *loop_near(struct pass *p, struct ir_stmt *loop,
                                 bool beside)
{
    struct ir_block *block = &loop->u.loop.body;
    size_t from = 0;
    if (beside) {
        struct ir_path path = sched_path(p, loop);
        block = path.blocks[path.n - 1];
        from = path.index[path.n - 1] + 1;
    }
    for (size_t i = from; i < block->n; i++) {
        if (block->at[i]->kind == STMT_for)
            return block->at[i];
    }
    return NULL;
}

// Return an array that a stage reads or, unless `is_read`, writes; or NULL.
static struct ir_buffer *array_of(const struct caller *by,
                                  const struct handles *h,
                                  struct ir_stmt *stage, bool is_read)
{
    size_t start = below(by, h->arrays.n);
    for (size_t i = 0; i < h->arrays.n; i++) {
        struct ir_buffer *b = h->arrays.at[(start + i) % h->arrays.n];
        if (is_read ? ir_stmt_reads(stage, b) : ir_stmt_uses(stage, b))
            return b;
    }
    return NULL;
}

// Return the array of a stage that a primitive asks for, or NULL.
static struct ir_buffer *suited_array(const struct caller *by,
                                      const struct handles *h,
                                      enum sched_prim prim,
                                      struct ir_stmt *stage)
{
    switch (prim) {
    case PRIM_cache_read:
    case PRIM_reindex_cache_read: return array_of(by, h, stage, true);
    case PRIM_cache_write:
    case PRIM_reindex_cache_write:
    case PRIM_cache_inplace: return sched_stored(stage);
    default: return array_of(by, h, stage, false);
    }
}

// Return a stage below the loop of a call that stores to shared memory, or NULL.
static struct ir_stmt *fill_below(const struct caller *by,
                                  const struct handles *h,
                                  const struct sched_call *c)
{
    struct ir_stmt *loop = c->args.at[0].stmt;
    size_t start = below(by, h->stages.n);
    for (size_t i = 0; i < h->stages.n; i++) {
        struct ir_stmt *at = h->stages.at[(start + i) % h->stages.n];
        struct ir_buffer *stored = sched_stored(at);
        if (stored && stored->space == SPACE_shared &&
            sched_is_below(c->pass, at, loop))
            return at;
    }
    return NULL;
}

// Return whether a call has a stage among its arguments.
static bool has_argument(const struct sched_call *c, const struct ir_stmt *s)
{
    for (size_t i = 0; i < c->args.n; i++)
        if (c->args.at[i].stmt == s)
            return true;
    return false;
}

// Return the first stage that `online` would move into its loop: it is not there, and
// reads what the greatest elements are, or sums what a stage that moves stores.
static struct ir_stmt *next_weights(const struct handles *h,
                                    const struct sched_call *c)
{
    struct ir_buffer *greatest = sched_stored(c->args.at[0].stmt);
    for (size_t i = 0; greatest && i < h->stages.n; i++) {
        struct ir_stmt *s = h->stages.at[i];
        bool reads = ir_stmt_reads(s, greatest);
        if (has_argument(c, s) ||
            sched_is_below(c->pass, s, c->args.at[1].stmt))
            continue;
        for (size_t k = 2; k < c->args.n && s->u.stage.has_init; k++) {
            struct ir_buffer *b = sched_stored(c->args.at[k].stmt);
            reads |= b && ir_stmt_reads(s, b);
        }
        if (reads)
            return s;
    }
    return NULL;
}

// Let an argument often go with the one before: a loop around the stage or
// around one that it exchanges elements with, a loop next to the loop, an
// array of the stage, a map of as many indices.
static void relate(const struct caller *by, const struct handles *h,
                   struct sched_call *c)
{
    const struct sched_value *before = &c->args.at[c->args.n - 2];
    struct sched_value *v = &c->args.at[c->args.n - 1];
    bool moves = c->prim == PRIM_compute_at || c->prim == PRIM_online ||
                 c->prim == PRIM_reverse_compute_at;
    struct ir_stmt *found = NULL;
    if (below(by, 4) == 0)
        return;
    if (by->is_suited && v->kind == VALUE_array &&
        c->args.at[0].kind == VALUE_stage) {
        struct ir_buffer *array =
            suited_array(by, h, c->prim, c->args.at[0].stmt);
        v->buffer = array ? array : v->buffer;
        return;
    }
    if (c->prim == PRIM_online && v->kind == VALUE_stage) {
        struct ir_stmt *was = v->stmt;
        v->stmt = NULL;
        found = next_weights(h, c);
        v->stmt = was;
    } else if (c->prim == PRIM_pipeline && v->kind == VALUE_stage) {
        found = fill_below(by, h, c);
    } else if (before->kind == VALUE_stage) {
        struct ir_stmt *next = neighbour(by, h, before->stmt);
        struct ir_buffer *array = array_of(by, h, before->stmt, false);
        if (v->kind == VALUE_loop)
            found = !moves ? loop_around(by, c->pass, before->stmt)
                    : next ? loop_around(by, c->pass, next)
                           : NULL;
        else if (v->kind == VALUE_stage)
            found = next;
        else if (v->kind == VALUE_array && array)
            v->buffer = array;
        else if (v->kind == VALUE_map)
            v->map = random_map(by, (uint32_t)before->stmt->u.stage.iters.n);
    } else if (before->kind == VALUE_loop && v->kind == VALUE_loop) {
        found = loop_near(c->pass, before->stmt, c->prim == PRIM_merge);
    } else if (before->kind == VALUE_array && v->kind == VALUE_map) {
        v->map = random_map(by, before->buffer->rank);
    } else if (before->kind == VALUE_loop && v->kind == VALUE_axis &&
               before->stmt->u.loop.to->op != OP_const) {
        v->axis = (enum axis)(AXIS_block_x + (int)below(by, 3));
    }
    if (found)
        v->stmt = found;
}

// Return whether an argument that may be left out is.
static bool leaves_out(const struct caller *by, const struct handles *h,
                       const struct sched_call *c)
{
    const struct sched_value *before = &c->args.at[c->args.n - 1];
    if (by->is_suited && c->prim == PRIM_online && c->args.n >= 2)
        return !next_weights(h, c);
    if (by->is_suited && c->prim == PRIM_raster)
        return strcmp(before->key, "column") == 0;
    if (by->is_suited && c->prim == PRIM_pipeline)
        return !c->args.at[0].stmt->u.loop.rings.n;
    return below(by, 2);
}

// Return whether a drawn argument names something.
static bool is_found(const struct sched_value *v)
{
    switch (v->kind) {
    case VALUE_loop:
    case VALUE_stage: return v->stmt != NULL;
    case VALUE_array: return v->buffer != NULL;
    default: return true;
    }
}

// Choose the arguments of a call; false where nothing suits.
static bool choose(const struct caller *by, const struct handles *h,
                   struct sched_call *c)
{
    for (const char *at = sched_prim_info(c->prim)->arguments;
         *at && !strchr("+?*", *at);) {
        bool marked = at[1] && strchr("+?*", at[1]);
        bool skip = marked && at[1] != '+' && leaves_out(by, h, c);
        if (!skip)
            vec_push(by->scratch, &c->args, argument(by, h, c, *at));
        if (!skip && !is_found(&c->args.at[c->args.n - 1]))
            return false;
        if (!skip && c->args.n > 1)
            relate(by, h, c);
        bool again =
            !skip && marked && at[1] != '?' &&
            (c->prim == PRIM_online ? !leaves_out(by, h, c) : below(by, 2));
        at += again ? 0 : marked ? 2 : 1;
    }
    return true;
}

bool call_draw(const struct caller *by, struct sched_call *c)
{
    struct handles h = {.arena = by->scratch};
    struct ir_kernel *kernel = c->pass->kernel;
    note_params(kernel, &h);
    ir_foreach_stmt(t, &kernel->body)
        note_handle(&h, t);
    bool needs_stage = strchr(sched_prim_info(c->prim)->arguments, 's') != NULL;
    if ((needs_stage && !h.stages.n) || !h.loops.n)
        return false;
    return choose(by, &h, c);
}

// Add the loops and stages of some values to those that are near.
static void add_near(struct arena *a, const struct sched_values *values,
                     struct call_near *near)
{
    for (size_t i = 0; i < values->n; i++) {
        if (values->at[i].stmt)
            vec_push(a, near, values->at[i].stmt);
    }
}

void call_add_near(struct arena *a, const struct sched_call *c,
                   struct call_near *near)
{
    add_near(a, &c->args, near);
    add_near(a, &c->results, near);
}
