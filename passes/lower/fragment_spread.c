// Spreads stages that use fragments over the threads that hold the elements.
//
// The loops around a stage count tiles and, inside of a tile, rows and columns.
// Those inside go away: the lane and the number of the element say which row
// and column of the tile it is.

#include "passes/lower/fragments.h"

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/stage.h"
#include "ir/walk.h"

#include <string.h>

enum { WARP = 32, GROUP_WARPS = 4 };

// Report that a stage cannot be spread; returns false.
static bool refuse(struct spread *x, const char *why)
{
    return diag_error(x->f->p->diags, x->stage->span, D_fragment_stage,
                      x->stage->u.stage.name, why);
}

struct ir_expr *spread_over_loops(struct spread *x, struct ir_expr *e)
{
    return ir_stage_over_loops(x->f->p->arena, &x->stage->u.stage, e);
}

// Return how many elements a tile of a fragment has.
static uint32_t tile_size(const struct fragment *f)
{
    return f->tile[0] * (f->dim[1] == FRAGMENT_NONE ? 1 : f->tile[1]);
}

// Let the layout follow a fragment if its tiles are larger than those of another.
static void take_like(struct spread *x, const struct ir_buffer *b,
                      struct ir_expr *const *at, struct ir_expr *const **index)
{
    const struct fragment *f = fragment_of(x->f, b);
    if (!f || (x->like && tile_size(f) <= tile_size(x->like)))
        return;
    x->like = f;
    *index = at;
}

// Find the fragment that the layout follows: that with the largest tiles, the first
// one that the stage stores to, or else loads.  Returns the index of that access.
static struct ir_expr *const *find_like(struct spread *x)
{
    struct ir_expr *const *index = NULL;
    ir_foreach_stmt_from(s, x->stage)
        if (s->kind == STMT_store)
            take_like(x, s->u.store.buffer, s->u.store.index, &index);
    ir_foreach_expr_from(e, x->stage)
        if (e->op == OP_load)
            take_like(x, e->u.buffer, e->args, &index);
    return index;
}

// Return whether an index of the stage counts threads, in a loop that is bound
// to them.
static bool counts_threads(const struct spread *x)
{
    const struct ir_stage *s = &x->stage->u.stage;
    for (size_t i = 0; i < s->iters.n; i++) {
        const struct ir_expr *at = s->iters.at[i].binding;
        if (ir_mentions(at, x->f->lane) ||
            (x->f->warp && ir_mentions(at, x->f->warp)))
            return true;
    }
    return false;
}

// List the loops between the threads and the stage.
static const char *find_loops(struct spread *x)
{
    if (counts_threads(x))
        return "one of its loops is bound to threads";
    for (uint32_t i = 0; i + 1 < x->path.n; i++) {
        struct ir_stmt *s = x->path.stmts[i];
        if (s->kind != STMT_for)
            continue;
        if (x->n == SPREAD_MOST)
            return "there are too many loops around it";
        x->loops[x->n++] = (struct spread_loop){.loop = s, .side = -1};
    }
    return NULL;
}

// Learn what a loop is worth in an index; false if that is no number.
static bool weigh(struct spread *x, struct spread_loop *l, int side,
                  struct ir_expr *index)
{
    int64_t factor;
    struct affine rest, all = affine_of(x->f->p->scratch, index);
    if (!affine_linear(x->f->p->scratch, &all, l->loop->u.loop.var, &factor,
                       &rest))
        return false;
    if (!factor)
        return true;
    if (l->side >= 0 && l->side != side)
        return false;
    l->side = side;
    l->factor = factor;
    return ir_int_value(l->loop->u.loop.to, &l->extent) &&
           ir_for_counts(&l->loop->u.loop);
}

// Find the loops that count the rows (columns) inside of a tile: each begins
// where the one before it ends, and the last ends with the tile or goes on.
static bool divide_loops(struct spread *x, int side)
{
    int64_t reached = 1, tile = x->like->tile[side];
    while (reached < tile) {
        struct spread_loop *next = NULL;
        for (uint32_t i = 0; i < x->n; i++)
            if (x->loops[i].side == side && x->loops[i].factor == reached &&
                x->loops[i].extent > 1)
                next = &x->loops[i];
        if (!next || tile % reached)
            return false;
        next->inside = next->extent;
        if (reached * next->extent > tile)
            next->inside = tile / reached;
        if (next->extent % next->inside)
            return false;
        reached *= next->inside;
    }
    return reached == tile;
}

// Take what a loop contributes out of an index that is linear in it.
static void take_out(struct arena *a, struct affine *index,
                     const struct spread_loop *l)
{
    int64_t factor;
    struct affine rest;
    if (affine_linear(a, index, l->loop->u.loop.var, &factor, &rest))
        *index = rest;
}

// Return whether what is left of an index without the inside of tiles is a
// whole number of tiles.
static bool counts_tiles(struct spread *x, int side, struct ir_expr *index)
{
    struct arena *a = x->f->p->scratch;
    struct affine all = affine_of(a, index), by, quotient, rest;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->loops[i].side == side && x->loops[i].inside)
            take_out(a, &all, &x->loops[i]);
    by = affine_number(x->like->tile[side]);
    return affine_divide(a, &all, &by, &quotient, &rest) &&
           affine_is_number(&rest) && rest.constant == 0;
}

// Understand the index that the layout follows.
static const char *understand(struct spread *x, struct ir_expr *const *index)
{
    for (int side = 0; side < 2 && x->like->dim[side] != FRAGMENT_NONE;
         side++) {
        struct ir_expr *at = spread_over_loops(x, index[x->like->dim[side]]);
        for (uint32_t i = 0; i < x->n; i++)
            if (!weigh(x, &x->loops[i], side, at))
                return "an index of its fragment is not a sum of multiples of "
                       "the loops around it";
        if (!divide_loops(x, side) || !counts_tiles(x, side, at))
            return "the loops around it do not count whole tiles of its "
                   "fragment";
    }
    return NULL;
}

// Return the first loop that counts something inside of a tile, and goes.
static uint32_t first_inside(const struct spread *x)
{
    uint32_t i = 0;
    while (i < x->n && (!x->loops[i].inside || x->loops[i].element))
        i++;
    return i;
}

// Return whether a stage reads another element of the array of a store.
static bool reads_other(const struct ir_stmt *stage,
                        const struct ir_stmt *store)
{
    ir_foreach_expr_from(x, stage)
        if (x->op == OP_load && x->u.buffer == store->u.store.buffer &&
            !ir_all_equal(x->n, x->args, store->u.store.index))
            return true;
    return false;
}

// Return whether an iteration of the stage may read what another one writes to
// memory.
static bool reads_back(const struct spread *x)
{
    ir_foreach_stmt_from(s, x->stage)
        if (s->kind == STMT_store && !fragment_of(x->f, s->u.store.buffer) &&
            reads_other(x->stage, s))
            return true;
    return false;
}

// Return whether the stage stores rows to memory, which several threads have.
static bool stores_rows(const struct spread *x)
{
    bool found = false;
    ir_foreach_stmt_from(s, x->stage)
        found |= s->kind == STMT_store && !fragment_of(x->f, s->u.store.buffer);
    return found && x->like->dim[1] == FRAGMENT_NONE;
}

// Check that nothing but the stage is in those loops, and that it does not
// use what other threads have.
static const char *check_nest(struct spread *x)
{
    struct ir_stmt *top = x->loops[first_inside(x)].loop;
    struct ir_stage *stage = &x->stage->u.stage;
    bool is_below = false;
    if (stores_rows(x))
        return "it stores elements of rows, which several threads have";
    for (uint32_t i = 0; i + 1 < x->path.n; i++) {
        struct ir_stmt *s = x->path.stmts[i];
        is_below |= s == top;
        if (is_below && (s->kind != STMT_for || s->u.loop.body.n != 1))
            return "another statement stands in the loops around it";
    }
    for (uint32_t i = 0; i < x->n; i++) {
        bool goes = x->loops[i].inside && !x->loops[i].element &&
                    !(x->reduces && x->loops[i].side == 1);
        for (size_t k = 0; goes && k < stage->iters.n; k++)
            if (stage->iters.at[k].is_reduce &&
                ir_mentions(stage->iters.at[k].binding,
                            x->loops[i].loop->u.loop.var))
                return "it reduces over elements that several threads have";
    }
    return reads_back(x) ? "it reads what other iterations of it write" : NULL;
}

struct ir_expr *spread_digit(struct spread *x, int side, uint32_t i)
{
    struct arena *a = x->f->p->arena;
    const struct matrix_digit *d = &x->layout.digit[side][i];
    if (d->by == MATRIX_BY_ELEMENT)
        return ir_read(a, x->digit[side * MATRIX_DIGITS_MOST + i]);
    bool by_lane = d->by == MATRIX_BY_LANE;
    struct ir_expr *of = ir_read(a, by_lane ? x->f->lane : x->f->warp);
    uint32_t all = by_lane ? WARP : GROUP_WARPS;
    of = ir_binary(a, OP_div, of, ir_int(a, d->step));
    return d->extent * d->step == all
               ? of
               : ir_binary(a, OP_mod, of, ir_int(a, d->extent));
}

// Return the row (column) inside of a tile that this thread is at.
static struct ir_expr *position(struct spread *x, int side)
{
    struct arena *a = x->f->p->arena;
    struct ir_expr *sum = ir_int(a, 0);
    for (uint32_t i = 0; i < x->layout.n[side]; i++)
        sum = ir_add(a, sum,
                     ir_mul(a, spread_digit(x, side, i),
                            ir_int(a, x->layout.digit[side][i].weight)));
    return sum;
}

struct ir_expr *spread_element(struct spread *x)
{
    struct arena *a = x->f->p->arena;
    struct ir_expr *sum = ir_int(a, 0);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < x->layout.n[side]; i++) {
            const struct matrix_digit *d = &x->layout.digit[side][i];
            if (d->by == MATRIX_BY_ELEMENT)
                sum = ir_add(
                    a, sum,
                    ir_mul(a, spread_digit(x, side, i), ir_int(a, d->step)));
        }
    }
    return sum;
}

// Return whether a fragment is laid out as the one that the stage follows.
static bool is_alike(const struct spread *x, const struct fragment *f)
{
    return memcmp(&f->layout, &x->like->layout, sizeof f->layout) == 0;
}

// Return the element of a tile of a fragment that this thread is at.
static struct ir_expr *element(struct spread *x, const struct fragment *f)
{
    struct arena *a = x->f->p->arena;
    if (!is_alike(x, f))
        return spread_element_within(x, f);
    struct ir_expr *sum = spread_element(x);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct spread_loop *l = &x->loops[i];
        if (l->element)
            sum = ir_add(a, sum,
                         ir_mul(a, ir_read(a, l->loop->u.loop.var),
                                ir_int(a, l->element)));
    }
    return sum;
}

struct ir_expr **spread_index(struct spread *x, const struct fragment *f,
                              struct ir_expr *const *index,
                              struct ir_expr *element)
{
    struct arena *a = x->f->p->arena;
    uint32_t rank = f->array->rank;
    struct ir_expr **out = arena_array(a, struct ir_expr *, (size_t)rank + 1);
    for (uint32_t d = 0; d < rank; d++) {
        int side = d == f->dim[0] ? 0 : d == f->dim[1] ? 1 : -1;
        out[d] = spread_over_loops(x, index[d]);
        if (side < 0)
            continue;
        struct affine all = affine_of(a, out[d]), by, quotient, rest;
        for (uint32_t i = 0; i < x->n; i++) {
            struct spread_loop *l = &x->loops[i];
            if (l->side != side || !l->inside)
                continue;
            take_out(a, &all, l);
            if (!l->out)
                continue;
            struct affine tiles = affine_atom(a, ir_read(a, l->out));
            all = affine_add(a, &all, x->like->tile[side] * l->tiles, &tiles);
        }
        by = affine_number(x->like->tile[side]);
        affine_divide(a, &all, &by, &quotient, &rest);
        out[d] = affine_expr(a, &quotient, type_scalar(TYPE_int));
        if (f->tile[side] != x->like->tile[side])
            out[d] =
                ir_add(a,
                       ir_mul(a, out[d],
                              ir_int(a, x->like->tile[side] / f->tile[side])),
                       spread_tile_within(x, f, side));
    }
    out[rank] = element;
    return out;
}

// Return whether another access to a fragment is at the same place of a tile.
static bool agrees(struct spread *x, const struct fragment *f,
                   struct ir_expr *const *index)
{
    bool same = f->local && (is_alike(x, f) || spread_is_within(x, f));
    for (int side = 0; same && side < 2; side++) {
        if (f->dim[side] == FRAGMENT_NONE)
            continue;
        struct affine all = affine_of(
            x->f->p->scratch, spread_over_loops(x, index[f->dim[side]]));
        for (uint32_t i = 0; i < x->n; i++) {
            const struct spread_loop *l = &x->loops[i];
            struct affine rest;
            int64_t factor;
            same &= affine_linear(x->f->p->scratch, &all, l->loop->u.loop.var,
                                  &factor, &rest);
            same &= !l->inside || factor == (l->side == side ? l->factor : 0);
        }
        same = same &&
               counts_tiles(x, side, spread_over_loops(x, index[f->dim[side]]));
    }
    return same;
}

// The rewriting of accesses: what is wrong with one, or NULL.
struct redirect {
    struct spread *x;
    const char *wrong;
};

static const char *const other_place =
    "it uses two fragments, or two places of one, that different threads have";

// Let a load read the thread's own element.
static struct ir_expr *redirect_load(struct arena *a, struct ir_expr *e,
                                     void *context)
{
    struct redirect *r = context;
    struct fragment *f =
        e->op == OP_load ? fragment_of(r->x->f, e->u.buffer) : NULL;
    if (e->op == OP_load && e->u.buffer->space == SPACE_local)
        r->wrong = "it uses a local array, of which every thread has its own";
    if (!f)
        return e;
    if (!agrees(r->x, f, e->args)) {
        r->wrong = other_place;
        return e;
    }
    return ir_at(a,
                 ir_load(a, f->local, f->local->rank,
                         spread_index(r->x, f, e->args, element(r->x, f))),
                 e->span);
}

// Let a store write the thread's own element.
static void redirect_store(struct redirect *r, struct ir_stmt *s)
{
    struct fragment *f = fragment_of(r->x->f, s->u.store.buffer);
    if (s->u.store.buffer->space == SPACE_local)
        r->wrong = "it uses a local array, of which every thread has its own";
    if (!f)
        return;
    if (!agrees(r->x, f, s->u.store.index)) {
        r->wrong = other_place;
        return;
    }
    s->u.store.index =
        spread_index(r->x, f, s->u.store.index, element(r->x, f));
    s->u.store.buffer = f->local;
    s->u.store.n = f->local->rank;
}

// Redirect every access of the stage to the thread's own elements.
static const char *redirect(struct spread *x)
{
    struct redirect r = {x, NULL};
    struct ir_block *blocks[] = {&x->stage->u.stage.init,
                                 &x->stage->u.stage.body};
    struct ir_block copies[2];
    for (int i = 0; i < 2; i++) {
        copies[i] = ir_copy_block(x->f->p->arena, blocks[i], NULL, NULL);
        ir_foreach_stmt(s, &copies[i])
            if (s->kind == STMT_store)
                redirect_store(&r, s);
        ir_rewrite_in(x->f->p->arena, &copies[i], redirect_load, &r);
    }
    for (int i = 0; i < 2 && !r.wrong; i++)
        *blocks[i] = copies[i];
    return r.wrong;
}

// Make the variables that count elements, and tiles of loops that do both.
static void declare(struct spread *x)
{
    struct arena *a = x->f->p->arena;
    struct type type = type_scalar(TYPE_int);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < x->layout.n[side]; i++)
            x->digit[side * MATRIX_DIGITS_MOST + i] =
                ir_var_new(a, str_name(x->f->p->names, "e"), type, VAR_loop,
                           x->stage->span);
    for (uint32_t i = 0; i < x->n; i++) {
        struct spread_loop *l = &x->loops[i];
        l->tiles = 1;
        if (l->inside && l->inside < l->extent)
            l->out = ir_var_new(a, l->loop->u.loop.var->name, type, VAR_loop,
                                l->loop->span);
    }
}

struct map spread_values(struct spread *x)
{
    struct arena *a = x->f->p->arena;
    struct map vars = {.arena = x->f->p->scratch};
    for (uint32_t i = 0; i < x->n; i++) {
        struct spread_loop *l = &x->loops[i];
        if (!l->inside || l->element)
            continue;
        struct ir_expr *at =
            ir_binary(a, OP_div, x->at[l->side], ir_int(a, l->factor));
        if (l->factor * l->inside < x->like->tile[l->side])
            at = ir_binary(a, OP_mod, at, ir_int(a, l->inside));
        if (l->out)
            at = ir_add(
                a,
                ir_mul(a, ir_read(a, l->out), ir_int(a, l->inside * l->tiles)),
                at);
        map_set(&vars, l->loop->u.loop.var, at);
    }
    return vars;
}

// Put a loop around a block.
static void wrap(struct spread *x, struct ir_block *block, struct ir_var *var,
                 int64_t extent, enum axis axis, const struct ir_stmt *from)
{
    struct arena *a = x->f->p->arena;
    struct ir_stmt *s =
        ir_stmt_from(ir_stmt_for(a, var, ir_int(a, 0), ir_int(a, extent),
                                 ir_int(a, 1), axis),
                     from);
    ir_enclose(a, block, s, &s->u.loop.body);
}

// Put the loops over a thread's elements around the stage, the fastest inside.
static void wrap_elements(struct spread *x, struct ir_block *block)
{
    const struct matrix_layout *layout = &x->layout;
    for (uint32_t step = 1; step < layout->elements;) {
        uint32_t next = layout->elements;
        for (int side = 0; side < 2; side++) {
            for (uint32_t i = 0; i < layout->n[side]; i++) {
                const struct matrix_digit *d = &layout->digit[side][i];
                if (d->by != MATRIX_BY_ELEMENT || d->step != step)
                    continue;
                bool is_pair =
                    step == 1 && side == 1 && d->weight == 1 && !x->reduces;
                wrap(x, block, x->digit[side * MATRIX_DIGITS_MOST + i],
                     d->extent, is_pair ? AXIS_vector : AXIS_unroll, x->stage);
                next = step * d->extent;
            }
        }
        step = next;
    }
}

// Put the loops that count tiles back around a block, those from `first` to `last`.
static void wrap_tiles(struct spread *x, struct ir_block *block, uint32_t first,
                       uint32_t last)
{
    for (uint32_t i = last; i-- > first;) {
        struct spread_loop *l = &x->loops[i];
        if (l->out) {
            wrap(x, block, l->out, l->extent / (l->inside * l->tiles),
                 AXIS_serial, l->loop);
        } else if (!l->inside) {
            ir_enclose(x->f->p->arena, block, l->loop, &l->loop->u.loop.body);
        }
    }
}

// Return the first of the loops from `first` on that, as those below it, count
// columns; false if one that counts rows is below one.
static bool find_columns(const struct spread *x, uint32_t first, uint32_t *out)
{
    const struct ir_stage *s = &x->stage->u.stage;
    uint32_t at = first;
    for (uint32_t i = first; i < x->n; i++)
        if (!(ir_stage_role(s, x->loops[i].loop->u.loop.var) & STAGE_REDUCES))
            at = i + 1;
    for (uint32_t i = first; i < at; i++)
        if (ir_stage_role(s, x->loops[i].loop->u.loop.var) & STAGE_REDUCES)
            return false;
    *out = at;
    return true;
}

// Append the stage, spread over elements and over those tiles that are in a row.
static const char *append_stage(struct spread *x, struct ir_block *block,
                                struct ir_block *stores, uint32_t columns)
{
    struct arena *a = x->f->p->arena;
    struct ir_block front = {0}, behind = {0};
    const char *wrong = redirect(x);
    if (wrong)
        return wrong;
    if (x->reduces && !spread_reduce(x, &front, &behind))
        return "it is no reduction without an init, whose parts can be combined";
    if (!x->reduces)
        fragments_store(x, stores);
    x->at[0] = position(x, 0);
    x->at[1] = position(x, 1);
    struct map values = spread_values(x);
    ir_append(a, block, x->stage);
    ir_substitute_in(a, block, &values, NULL);
    wrap_elements(x, block);
    wrap_tiles(x, block, columns, x->n);
    ir_append_all(a, &front, block);
    ir_append_all(a, &front, &behind);
    *block = front;
    return NULL;
}

bool fragments_spread(struct fragments *f, struct ir_stmt *group,
                      struct ir_stmt *stage)
{
    struct spread x = {.f = f, .stage = stage};
    struct ir_expr *const *index = find_like(&x);
    struct ir_block block = {0}, stores = {0};
    ir_find(f->p->scratch, &group->u.loop.body, stage, &x.path);
    const char *wrong = find_loops(&x);
    wrong = wrong ? wrong : understand(&x, index);
    if (!wrong)
        spread_keep(&x);
    x.reduces = spread_reduces(&x);
    wrong = wrong ? wrong : check_nest(&x);
    if (wrong)
        return refuse(&x, wrong);
    uint32_t first = first_inside(&x), columns = x.n;
    if (x.reduces && !find_columns(&x, first, &columns))
        return refuse(&x, "a loop over rows stands in one over columns");
    declare(&x);
    bool rounds = fragments_part_rounding(&x);
    if (!fragments_load(&x, &block))
        wrong = append_stage(&x, &block, &stores, columns);
    else
        columns = x.n;
    if (wrong)
        return refuse(&x, wrong);
    if (stores.n) {
        ir_insert(f->p->arena, &stores, 1, block.at[0]);
        block = stores;
    }
    uint32_t at = 0;
    while (x.path.stmts[at] != x.loops[first].loop)
        at++;
    struct ir_block *parent = x.path.blocks[at];
    wrap_tiles(&x, &block, first, columns);
    if (rounds)
        fragments_append_rounding(f, &block);
    ir_splice(f->p->arena, parent, x.path.index[at], &block);
    return true;
}
