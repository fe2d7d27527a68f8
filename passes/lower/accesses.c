// Which accesses to shared and global memory conflict between threads.
//
// Two accesses in global memory do not conflict if they are in the same
// iterations of the same loops over threads: these loops are independent. The
// exception is loops whose threads do one collective operation together.

#include "passes/lower/accesses.h"

#include "ir/accesses.h"
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/cluster_rank.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/marks.h"
#include "ir/walk.h"

// Return whether two accesses look the same from everywhere.
static bool same_access(const struct conflict_access *x,
                        const struct conflict_access *y)
{
    return x->hash == y->hash && x->buffer == y->buffer &&
           x->scope == y->scope && x->writes == y->writes &&
           x->together == y->together && x->is_atomic == y->is_atomic &&
           x->is_wait == y->is_wait && x->is_of_warp == y->is_of_warp &&
           ir_all_equal(x->buffer->rank, x->index, y->index);
}

// Add an access to a set.
static void add(struct arena *a, struct accesses *set,
                const struct conflict_access *x)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i] == x || same_access(set->at[i], x))
            return;
    vec_push(a, set, x);
}

void accesses_add(struct arena *a, struct accesses *set,
                  const struct accesses *more)
{
    for (size_t i = 0; i < more->n; i++)
        add(a, set, more->at[i]);
}

void accesses_settle(struct arena *a, struct accesses *set, uint32_t together)
{
    struct accesses settled = {0};
    if (!together)
        return;
    for (size_t i = 0; i < set->n; i++) {
        struct conflict_access *x = arena_new(a, struct conflict_access);
        *x = *set->at[i];
        if (x->together < together)
            x->together = together;
        add(a, &settled, x);
    }
    *set = settled;
}

struct accesses accesses_of_cluster(struct arena *a, const struct accesses *set,
                                    bool only_remote)
{
    struct accesses found = {0};
    vec_foreach_value(x, set)
        if (x->buffer->of_cluster && (x->is_remote || !only_remote))
            vec_push(a, &found, x);
    return found;
}

struct accesses accesses_parted(struct arena *a, const struct accesses *set)
{
    struct accesses found = {0};
    vec_foreach_value(x, set) {
        struct conflict_access *parted = arena_new(a, struct conflict_access);
        *parted = *x;
        parted->is_parted = true;
        if (x->buffer->of_cluster)
            add(a, &found, parted);
    }
    return found;
}

// The accesses of a statement.
struct own {
    struct arena *arena;
    const struct ir_stmt *stmt;
    const struct map *values;
    const struct conflict_scope *scope;
    const struct ir_launch *launch;
    enum ir_op op; // of the node
    struct accesses found;
};

// Note an access to memory that threads share.
static void note(struct own *o, const struct ir_buffer *b,
                 struct ir_expr *const *index, bool writes, bool is_atomic)
{
    if (b->is_ordered || space_is_own(b->space) || b->space == SPACE_constant ||
        (b->space == SPACE_global && b->role == ROLE_input))
        return;
    struct conflict_access *x = arena_new(o->arena, struct conflict_access);
    *x = (struct conflict_access){.buffer = b,
                                  .stmt = o->stmt,
                                  .writes = writes,
                                  .is_atomic = is_atomic,
                                  .is_wait = o->op == OP_mbarrier_wait,
                                  .is_of_warp = o->op == OP_mbarrier_init,
                                  .scope = o->scope};
    x->index = ir_substitute_all(o->arena, b->rank, index, o->values, NULL);
    x->is_remote =
        b->of_cluster && o->launch && !ir_is_own_rank(o->launch, x->index[0]);
    for (uint32_t i = 0; i < b->rank; i++)
        x->hash = ir_hash_mix(x->hash, ir_expr_hash(x->index[i]));
    add(o->arena, &o->found, x);
}

// Return whether an index, times a stride, is a multiple of a number.
static bool is_multiple(struct arena *a, struct ir_expr *index, int64_t stride,
                        int64_t of)
{
    struct affine x = affine_of(a, index), by = affine_number(of);
    struct affine_term scale = {.factor = stride};
    struct affine quotient, rest;
    x = affine_scale(a, &x, &scale);
    return affine_divide(a, &x, &by, &quotient, &rest) &&
           affine_is_number(&rest) && rest.constant == 0;
}

// Return how many of the first dimensions of its array a run of elements stays
// within one element of: the run lies in what is behind that element, at a
// multiple of its size.
static uint32_t steady_dimensions(struct arena *a, const struct ir_access *x)
{
    uint32_t d = x->buffer->rank;
    int64_t behind = 1, extent;
    for (; d > 0 && behind % x->run; d--) {
        if (!ir_int_value(x->buffer->shape[d - 1], &extent) ||
            !is_multiple(a, x->index[d - 1], behind, x->run))
            return 0;
        behind *= extent;
    }
    return behind % x->run ? 0 : d;
}

enum { LANES_MOST = 255 }; // of a ramp

// Return how many elements a run spans in the dimension in front of those that
// it spans whole, and which dimension that is; 0 if it has no such form.
static int64_t reach_across(const struct ir_access *x, uint32_t *which)
{
    const struct ir_buffer *b = x->buffer;
    int64_t behind = 1, extent;
    uint32_t d = b->rank;
    while (d > 0 && ir_is_int_const(x->index[d - 1], 0) &&
           ir_int_value(b->shape[d - 1], &extent) &&
           behind * extent <= x->run) {
        behind *= extent;
        d--;
    }
    if (d == 0 || x->run % behind || x->run / behind > LANES_MOST)
        return 0;
    *which = d - 1;
    return x->run / behind;
}

// Return an index that may have any value.
static struct ir_expr *any_index(const struct own *o)
{
    struct ir_var *any = ir_var_new(o->arena, "any", type_scalar(TYPE_int),
                                    VAR_let, o->stmt->span);
    return ir_read(o->arena, any);
}

// Note an access: in the first `n` dimensions of its array the element that
// `index` says, any element in the others.
static void note_first(struct own *o, const struct ir_access *x, uint32_t n,
                       struct ir_expr *const *index)
{
    uint32_t rank = x->buffer->rank;
    struct ir_expr **all = arena_array(o->arena, struct ir_expr *, rank);
    for (uint32_t i = 0; i < rank; i++)
        all[i] = i < n ? index[i] : any_index(o);
    note(o, x->buffer, all, x->flags & ACCESS_writes, x->flags & ACCESS_atomic);
}

// Note a run of elements in shared memory.
static void note_run(struct own *o, const struct ir_access *x)
{
    uint32_t d = 0, n = steady_dimensions(o->arena, x);
    int64_t across = reach_across(x, &d);
    struct ir_expr **index =
        arena_array(o->arena, struct ir_expr *, x->buffer->rank);
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        index[i] = x->index[i];
    if (across > 1 && d >= n) {
        index[d] = ir_ramp(o->arena, index[d], (unsigned)across);
        n = d + 1;
    }
    note_first(o, x, n, index);
}

// Note a run of elements in global memory: a part of a row, or whole rows.
static void note_rows(struct own *o, const struct ir_access *x)
{
    int64_t extent, elements = 1;
    uint32_t n = x->buffer->rank;
    while (n > 0 && elements < x->run) {
        n--;
        elements = ir_int_value(x->buffer->shape[n], &extent)
                       ? elements * extent
                       : x->run;
    }
    note_first(o, x, n, x->index);
}

// Note an access of several elements in some dimensions.  Operands of WGMMA,
// which a warpgroup reads together, may be anywhere in these.
static void note_tile(struct own *o, const struct ir_access *x)
{
    bool is_wgmma = x->expr && x->flags & ACCESS_proxy;
    uint32_t rank = x->buffer->rank;
    struct ir_expr **index = arena_array(o->arena, struct ir_expr *, rank);
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t n = x->extent[i];
        index[i] = n <= 1 ? x->index[i]
                   : is_wgmma || n > LANES_MOST
                       ? any_index(o)
                       : ir_ramp(o->arena, x->index[i], n);
    }
    note_first(o, x, rank, index);
}

// Note what a statement itself accesses.
static void note_own(struct own *o, const struct ir_access *x)
{
    if (x->extent)
        note_tile(o, x);
    else if (x->run > 1 && x->buffer->space == SPACE_global)
        note_rows(o, x);
    else if (x->run > 1)
        note_run(o, x);
    else
        note_first(o, x, x->n, x->index);
}

// Note the access of a node.  An mbarrier counts as made by any thread, so that
// a barrier follows before the one that makes it uses it, too: ptxas has its
// whole warp make it, and NVIDIA's racecheck takes that for a hazard.
static void note_node(struct own *o, struct ir_expr *x)
{
    unsigned flags = ir_access_flags(x);
    o->op = x->op;
    if (flags)
        note(o, x->u.buffer, x->args, flags & ACCESS_writes,
             flags & ACCESS_atomic && x->op != OP_mbarrier_init);
}

struct accesses accesses_of(struct arena *a, struct ir_stmt *s,
                            const struct map *values,
                            const struct conflict_scope *scope,
                            const struct ir_launch *launch)
{
    struct own o = {a, s, values, scope, launch, OP_var, {NULL, 0, 0}};
    struct ir_access own[IR_ACCESSES_MOST];
    ir_foreach_expr_of(x, s)
        note_node(&o, x);
    o.op = OP_var;
    uint32_t n = ir_accesses(s, own);
    for (uint32_t i = 0; i < n; i++)
        note_own(&o, &own[i]);
    return o.found;
}

// Put a name for any value in place of a variable.
static struct ir_expr *any_value(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    const struct ir_stmt *s = context;
    if (x->op != OP_var || x->u.var->kind == VAR_param)
        return x;
    return ir_read(a, ir_var_new(a, "any", x->type, VAR_let, s->span));
}

struct accesses accesses_until(struct arena *a, const struct accesses *begun,
                               const struct ir_stmt *wait,
                               const struct conflict_scope *scope)
{
    struct accesses all = {0};
    for (size_t i = 0; i < begun->n; i++) {
        struct conflict_access *x = arena_new(a, struct conflict_access);
        *x = *begun->at[i];
        x->index = arena_array(a, struct ir_expr *, x->buffer->rank);
        for (uint32_t d = 0; d < x->buffer->rank; d++)
            x->index[d] =
                ir_rewrite(a, begun->at[i]->index[d], any_value, (void *)wait);
        x->stmt = wait;
        x->scope = scope;
        add(a, &all, x);
    }
    return all;
}

// Return the axes on which an access, seen from a scope, is in a loop over
// threads of its own: all, if it stands elsewhere or is that of a thread that
// was singled out.
static axis_set axes_apart(const struct conflict_access *x,
                           const struct conflict_scope *common)
{
    axis_set axes = 0;
    for (const struct conflict_scope *s = x->scope; s != common; s = s->up) {
        if (!s || s->is_single)
            return ~0u;
        if (s->loop)
            axes |= 1u << s->loop->u.loop.axis;
    }
    return axes;
}

// Return whether two accesses are those of one statement of the kernel that
// stores to their array.
static bool is_one_statement(const struct conflict *c)
{
    const struct ir_stmt *x = c->first->stmt, *y = c->second->stmt;
    const struct ir_buffer *b = c->first->buffer;
    return ir_stored(x) == b && ir_stored(y) == b &&
           x->span.source == y->span.source && x->span.from == y->span.from &&
           x->span.to == y->span.to;
}

// Return the innermost scope of loops and branches around the second of two
// accesses: names of values that stand between them are around the second alone.
static const struct conflict_scope *
without_names(const struct conflict_scope *common)
{
    while (common && common->var && !common->from)
        common = common->up;
    return common;
}

// Return the axes, of those on which the block has threads, on which two
// accesses are not in the same iteration of a loop whose iterations are
// independent.  Those of one whose threads do its work together are for the
// iterations of one statement.
static axis_set open_axes(const struct conflict *c, axis_set threads,
                          const struct conflict_scope *common)
{
    axis_set apart =
        axes_apart(c->first, common) | axes_apart(c->second, common);
    axis_set open = threads;
    bool is_one = is_one_statement(c);
    for (const struct conflict_scope *s = common; s; s = s->up)
        if (s->loop && (is_one || !ir_attr_get(s->loop, MARK_collective)))
            open &= ~(1u << s->loop->u.loop.axis);
    return open | (apart & threads);
}

// Return how many threads next to each other differ only in their positions on
// some of the axes on which the block has threads; 0 if that says nothing.
static uint32_t threads_along(axis_set axes, axis_set threads)
{
    const axis_set lanes = 1u << AXIS_lane, warps = 1u << AXIS_warp;
    if (axes == lanes)
        return sync_threads(SYNC_warp);
    bool in_groups = threads & 1u << AXIS_warpgroup;
    return in_groups && !(axes & ~(lanes | warps))
               ? sync_threads(SYNC_warpgroup)
               : 0;
}

// Return whether two accesses are to different elements whatever threads of
// whatever blocks make them: an index of both is a number.
static bool are_apart(const struct conflict_access *x,
                      const struct conflict_access *y)
{
    int64_t m, n;
    for (uint32_t i = 0; i < x->buffer->rank; i++)
        if (ir_int_value(x->index[i], &m) && ir_int_value(y->index[i], &n) &&
            m != n)
            return true;
    return false;
}

// Return whether two accesses conflict.  What is atomic does not, but for an
// arrival at an mbarrier behind a wait: it may end the next phase, too, and
// threads that still wait for the one before would miss both.  Accesses to another
// block of the cluster do, unless numbers tell them apart.
static bool conflicts(struct thread_conflicts *known, axis_set threads,
                      const struct conflict *c,
                      const struct conflict_place *place)
{
    const struct conflict_access *x = c->first, *y = c->second;
    if (x->buffer != y->buffer || !(x->writes || y->writes) ||
        (x->is_atomic && y->is_atomic && !(x->is_wait && !y->is_wait)))
        return false;
    if (x->is_remote || y->is_remote)
        return !are_apart(x, y);
    if (x->is_parted || y->is_parted)
        return false;
    if (x->buffer->space != SPACE_global)
        return conflict_test(known, x, y, place);
    axis_set open = open_axes(c, threads, without_names(place->common));
    struct conflict_place within = *place;
    within.within = threads_along(open, threads);
    return open && conflict_test(known, x, y, &within);
}

bool accesses_conflict(struct thread_conflicts *known, axis_set threads,
                       const struct accesses *first,
                       const struct accesses *second,
                       const struct conflict_place *place, struct conflict *out)
{
    for (size_t j = 0; j < second->n; j++) {
        for (size_t i = 0; i < first->n; i++) {
            *out = (struct conflict){first->at[i], second->at[j]};
            if (conflicts(known, threads, out, place))
                return true;
        }
    }
    return false;
}
