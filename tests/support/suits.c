// Which loops, stages, arrays and spaces suit a primitive: suits.def.

#include "tests/support/suits.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/marks.h"
#include "ir/ring.h"
#include "ir/stage.h"
#include "ir/walk.h"
#include "passes/analysis/dot.h"
#include "passes/analysis/ring_fills.h"

enum { SHORT_MOST = 16, NEAR_MOST = 1024, ROW_LEAST = 8, TILE_BYTES = 128 };

// Return the number of iterations of a loop; 0 if it is not known.
static int64_t extent_of(const struct ir_stmt *s)
{
    int64_t from = 1, to = 0;
    bool known = s->kind == STMT_for && ir_int_value(s->u.loop.from, &from) &&
                 ir_int_value(s->u.loop.to, &to);
    return known && from == 0 ? to : 0;
}

static bool is_serial(const struct ir_stmt *s)
{
    return s->kind == STMT_for && s->u.loop.axis == AXIS_serial;
}

// Return what alone, but for declarations, stands in a loop; or NULL.
static struct ir_stmt *only_in(const struct ir_stmt *s)
{
    return ir_only(&s->u.loop.body);
}

static bool is_nest(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_stmt *inner = only_in(s);
    return is_serial(s) && inner && inner->kind == STMT_for;
}

static bool has_brother(struct pass *p, struct ir_stmt *s)
{
    struct ir_path path = sched_path(p, s);
    const struct ir_block *block = path.blocks[path.n - 1];
    for (size_t i = path.index[path.n - 1] + 1; i < block->n; i++) {
        if (block->at[i]->kind == STMT_for)
            return true;
    }
    return false;
}

// Return whether a loop from one axis to another is above a path's end.
static bool is_below(const struct ir_path *path, enum axis first,
                     enum axis last)
{
    for (uint32_t i = 0; i + 1 < path->n; i++) {
        const struct ir_stmt *s = path->stmts[i];
        if (s->kind == STMT_for && s->u.loop.axis >= first &&
            s->u.loop.axis <= last)
            return true;
    }
    return false;
}

// Return whether an array is used beside the way down to a statement.
static bool is_used_beside(const struct ir_path *path,
                           const struct ir_buffer *array)
{
    for (uint32_t i = 0; i < path->n; i++) {
        const struct ir_block *block = path->blocks[i];
        for (size_t k = 0; k < block->n; k++) {
            struct ir_stmt *s = block->at[k];
            if (s != path->stmts[i] && s->kind != STMT_alloc &&
                ir_stmt_uses(s, array))
                return true;
        }
    }
    return false;
}

// Return whether an array is used both at or before a statement of a block,
// and at or behind it, in different ones.
static bool spans(const struct ir_block *block, size_t at,
                  const struct ir_buffer *array)
{
    size_t first = block->n, last = 0;
    for (size_t i = 0; i < block->n; i++) {
        if (block->at[i]->kind == STMT_alloc ||
            !ir_stmt_uses(block->at[i], array))
            continue;
        first = first < i ? first : i;
        last = i;
    }
    return first < last && first <= at && at <= last;
}

// Return whether threads, or blocks, would have to share an array if a loop was
// bound.
static bool would_share(const struct ir_path *path, const struct ir_buffer *b)
{
    if (b->space == SPACE_global ||
        (b->space == SPACE_shared &&
         is_below(path, AXIS_block_x, AXIS_block_z)))
        return false;
    return spans(path->blocks[0], path->index[0], b) ||
           (ir_stmt_uses(path->stmts[path->n - 1], b) &&
            is_used_beside(path, b));
}

// Return whether a loop over threads is above a path's end, and in it, beside
// the way down, results are stored: every thread of another axis would do so.
static bool is_stored_beside(const struct ir_path *path)
{
    bool in_threads = false, any = false;
    for (uint32_t i = 0; i < path->n; i++) {
        const struct ir_stmt *s = path->stmts[i];
        for (size_t k = 0; in_threads && k < path->blocks[i]->n; k++) {
            if (path->blocks[i]->at[k] == s)
                continue;
            ir_foreach_stmt_from(t, path->blocks[i]->at[k])
                any |= t->kind == STMT_store &&
                       t->u.store.buffer->role != ROLE_alloc;
        }
        in_threads |=
            s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_THREAD;
    }
    return any;
}

static bool is_apart(struct pass *p, struct ir_stmt *s)
{
    struct ir_path path = sched_path(p, s);
    if (!is_serial(s) || is_stored_beside(&path))
        return false;
    ir_foreach_stmt(t, &p->kernel->body)
        if (t->kind == STMT_alloc && would_share(&path, t->u.buffer))
            return false;
    return true;
}

static bool is_short(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    int64_t n = extent_of(s);
    return is_serial(s) && n > 0 && n <= SHORT_MOST;
}

static bool is_of_lanes(struct pass *p, struct ir_stmt *s)
{
    int64_t n = extent_of(s);
    if (!is_short(p, s) || n < 2 || (n & (n - 1)) != 0)
        return false;
    return !ir_has(&s->u.loop.body, STMT_for) &&
           !ir_has(&s->u.loop.body, STMT_barrier);
}

// Return the declared array that a stage stores, or NULL.
static struct ir_buffer *own_of(struct ir_stmt *s)
{
    struct ir_buffer *array = s->kind == STMT_stage ? sched_stored(s) : NULL;
    return array && array->role == ROLE_alloc ? array : NULL;
}

static bool makes_own(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    return own_of(s) != NULL;
}

static bool makes_elements(struct pass *p, struct ir_stmt *s)
{
    return makes_own(p, s) && !s->u.stage.has_init;
}

static bool uses_own(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    if (s->kind != STMT_stage || s->u.stage.has_init)
        return false;
    ir_foreach_expr_in(x, &s->u.stage.body)
        if (x->op == OP_load && x->u.buffer->role == ROLE_alloc)
            return true;
    return false;
}

// Return the one store of a stage without init, or NULL.
static struct ir_stmt *one_store(struct ir_stmt *s)
{
    bool is_one = s->kind == STMT_stage && !s->u.stage.has_init &&
                  s->u.stage.body.n == 1 &&
                  s->u.stage.body.at[0]->kind == STMT_store;
    return is_one ? s->u.stage.body.at[0] : NULL;
}

static bool refills(struct pass *p, struct ir_stmt *s)
{
    struct ir_buffer *array = own_of(s);
    struct ir_path path = array ? sched_path(p, s) : (struct ir_path){0};
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        if (is_serial(path.stmts[i]) &&
            ir_block_reads(&path.stmts[i]->u.loop.body, array))
            return true;
    }
    return false;
}

static bool refills_shared(struct pass *p, struct ir_stmt *s)
{
    struct ir_buffer *array = own_of(s);
    return array && array->space == SPACE_shared && !array->is_double &&
           refills(p, s);
}

static bool copies_to_shared(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_stmt *store = one_store(s);
    return store && store->u.store.buffer->space == SPACE_shared &&
           (store->u.store.value->op == OP_load ||
            store->u.store.value->op == OP_select);
}

static bool holds_fill(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_block *body = &s->u.loop.body;
    if (!is_serial(s) || s->u.loop.attrs.n || body->n < 2)
        return false;
    for (size_t i = 0; i < body->n; i++) {
        if (ring_is_fill(body, body->at[i]))
            return true;
    }
    return false;
}

static bool is_block(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    return s->kind == STMT_for && axis_kind(s->u.loop.axis) == AXIS_BLOCK &&
           !axis_is_cluster(s->u.loop.axis) &&
           !ir_attr_get(s, MARK_persistent) &&
           !ir_attr_get(s, MARK_persistent_sms);
}

static bool is_walked(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    return ir_attr_get(s, MARK_persistent) ||
           ir_attr_get(s, MARK_persistent_sms);
}

static bool is_block_nest(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_stmt *inner = s->kind == STMT_for ? only_in(s) : NULL;
    return inner && axis_kind(s->u.loop.axis) == AXIS_BLOCK &&
           inner->kind == STMT_for &&
           axis_kind(inner->u.loop.axis) == AXIS_BLOCK &&
           !ir_attr_get(s, MARK_order);
}

static bool is_ring(struct pass *p, struct ir_stmt *s)
{
    struct ir_path path = sched_path(p, s);
    return ir_rings_of(s).n && !ir_ring_specialized(s) &&
           is_below(&path, AXIS_warpgroup, AXIS_warpgroup);
}

static bool is_product(struct pass *p, struct ir_stmt *s)
{
    struct ir_stmt *j = is_nest(p, s) ? only_in(s) : NULL;
    struct ir_stmt *k = j && is_nest(p, j) ? only_in(j) : NULL;
    struct ir_stmt *stage = k ? only_in(k) : NULL;
    struct ir_buffer *array = stage ? own_of(stage) : NULL;
    bool is_fragment = array && array->space == SPACE_fragment;
    return is_fragment || (is_serial(s) && !dot_loop(p->scratch, s));
}

static bool reduces(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    return s->kind == STMT_stage && s->u.stage.has_init;
}

static bool finds_greatest(struct pass *p, struct ir_stmt *s)
{
    struct ir_stmt *store =
        reduces(p, s) && s->u.stage.body.n == 1 ? s->u.stage.body.at[0] : NULL;
    return store && store->kind == STMT_store &&
           store->u.store.value->op == OP_max;
}

static bool divides(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_stmt *store = one_store(s);
    return store && store->u.store.value->op == OP_div;
}

static bool has_exponential(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    ir_foreach_expr_from(x, s)
        if (s->kind == STMT_stage && x->type.kind == TYPE_f32 &&
            (x->op == OP_exp || x->op == OP_exp2))
            return true;
    return false;
}

static bool counts_reduction(struct pass *p, struct ir_stmt *s)
{
    return is_serial(s) && reduces(p, sched_innermost(s)) &&
           ir_loop_reduces(&s->u.loop);
}

static bool counts_tiles(struct pass *p, struct ir_stmt *s)
{
    struct ir_stmt *inner = sched_innermost(s);
    return is_serial(s) && reduces(p, inner) &&
           ir_stage_role(&inner->u.stage, s->u.loop.var) == STAGE_SELECTS;
}

static bool updates(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_buffer *array = s->kind == STMT_stage ? sched_stored(s) : NULL;
    return array && !s->u.stage.has_init &&
           ir_block_reads(&s->u.stage.body, array);
}

static bool pads(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    struct ir_stmt *store = one_store(s);
    return store && store->u.store.value->op == OP_select;
}

static bool is_marked(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    return s->kind == STMT_for     ? s->u.loop.attrs.n > 0
           : s->kind == STMT_stage ? s->u.stage.attrs.n > 0
                                   : false;
}

static bool takes_elements(struct pass *p, struct ir_stmt *s)
{
    (void)p;
    return s->kind == STMT_stage && s->u.stage.body.n == 1;
}

bool suits_stmt(struct pass *p, enum sched_prim prim, struct ir_stmt *s)
{
    static bool (*const tests[PRIM_COUNT])(struct pass *, struct ir_stmt *) = {
#define SUIT(prim, test) [PRIM_##prim] = test,
#include "tests/support/suits.def"
#undef SUIT
    };
    return !tests[prim] || tests[prim](p, s);
}

bool suits_array(enum sched_prim prim, const struct ir_buffer *array)
{
    int64_t row = 0;
    bool has_rows = array->role == ROLE_alloc && array->rank >= 2;
    switch (prim) {
    case PRIM_distribute: return array->space == SPACE_shared;
    case PRIM_pad:
    case PRIM_storage_align: return has_rows;
    case PRIM_swizzle:
        return has_rows && array->space == SPACE_shared &&
               ir_int_value(array->shape[array->rank - 1], &row) &&
               row % ROW_LEAST == 0;
    default: return true;
    }
}

bool suits_tma_tile(struct pass *p, const struct ir_stmt *stage)
{
    struct ir_path path = sched_path(p, stage);
    const struct ir_buffer *array = sched_stored(path.stmts[path.n - 1]);
    int64_t bytes = array ? (int64_t)type_bytes(array->elem) : 1;
    for (uint32_t i = path.n - 1; i-- > 0;) {
        if (path.stmts[i]->kind != STMT_for ||
            only_in(path.stmts[i]) != path.stmts[i + 1])
            break;
        bytes *= extent_of(path.stmts[i]);
    }
    return bytes % TILE_BYTES == 0;
}

// Return whether a thread, or a block, has room for an array.
static bool is_small(const struct ir_buffer *array)
{
    int64_t n = 1, extent;
    for (uint32_t i = 0; i < array->rank; i++) {
        if (!ir_int_value(array->shape[i], &extent) || extent > NEAR_MOST)
            return false;
        n *= extent;
    }
    return n <= NEAR_MOST;
}

// Return the innermost bound loop around a statement, or NULL.
static const struct ir_stmt *bound_around(struct pass *p,
                                          const struct ir_stmt *s)
{
    const struct ir_stmt *loop = NULL;
    struct ir_path path = sched_path(p, s);
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        if (path.stmts[i]->kind == STMT_for &&
            path.stmts[i]->u.loop.axis >= AXIS_block_x)
            loop = path.stmts[i];
    }
    return loop;
}

bool suits_space(struct pass *p, const struct ir_buffer *array)
{
    const struct ir_stmt *first = NULL, *loop = NULL;
    ir_foreach_stmt(s, &p->kernel->body) {
        if (s->kind != STMT_stage || !ir_stmt_uses(s, array))
            continue;
        if (first && bound_around(p, s) != loop)
            return false;
        first = first ? first : s;
        loop = bound_around(p, s);
    }
    return loop || is_small(array);
}

bool suits_near(struct pass *p, const struct ir_stmt *stage,
                const struct ir_buffer *array)
{
    struct ir_path path = sched_path(p, stage);
    return is_small(array) && !is_below(&path, AXIS_block_x, AXIS_vthread_z);
}
