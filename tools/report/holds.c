// Which thread of a block writes which element: a walk through the first block of a
// launch, warp by warp, with the numbers that its lanes have (passes/model/lanes.h).
//
//   C[(block.y * 8 + thread.y) * n + thread.x] = x    thread (1, 2) writes C[2, 1]
//
// Of a loop over tiles, which begins at the block's number, the first tile is followed,
// of others as many iterations as show something new: a few where only shared memory is
// written, whose elements the next ones write again.  Where data decides, both sides of
// a branch are followed.

#include "tools/report/report.h"

#include "ir/accesses.h"
#include "ir/foreach.h"
#include "passes/model/lanes.h"

enum {
    STEPS_MOST = 1 << 21, // statements of a launch, for all its warps
    HOLDS_MOST = 1 << 20, // elements of an array
    TRIPS_MOST = 256,     // of a loop that stores to global memory
    TRIPS_OF_SHARED = 16, // of another: slots of a ring
    RANK_MOST = IR_TILE_RANK
};

// A warp on its way.
struct walk {
    struct report *report;
    const struct ir_kernel *kernel;
    struct lanes_place place;
    struct report_held_list *out;
    uint32_t active; // lanes, a bit each
    int64_t steps;   // that are left
};

static void walk_block(struct walk *w, const struct ir_block *block);

// ---- Noting ---------------------------------------------------------------

// Return what is known of an array.
static struct report_held *held_of(struct walk *w, const struct ir_buffer *b)
{
    for (size_t i = 0; i < w->out->n; i++)
        if (w->out->at[i].buffer == b)
            return &w->out->at[i];
    vec_push(&w->report->c->arena, w->out, (struct report_held){.buffer = b});
    return &w->out->at[w->out->n - 1];
}

// Note a way in which it is written.
static void note_way(struct report_held *h, const char *way)
{
    for (int i = 0; i < REPORT_WAYS; i++) {
        if (h->ways[i] && strcmp(h->ways[i], way) == 0)
            return;
        if (!h->ways[i]) {
            h->ways[i] = way;
            return;
        }
    }
}

// Note that a lane writes elements from one on.
static void note(struct walk *w, struct report_held *h, int lane, int64_t first,
                 int64_t n)
{
    uint32_t thread = w->place.first + (uint32_t)lane;
    for (int64_t i = 0; i < n; i++) {
        h->is_part |= h->of.n >= HOLDS_MOST;
        if (h->of.n < HOLDS_MOST)
            vec_push(&w->report->c->arena, &h->of,
                     (struct report_hold){first + i, thread});
    }
}

// Note a write of every active lane: `run` elements from an index on, or one for
// each lane of a vector.
static void write_at(struct walk *w, const struct ir_buffer *b,
                     const struct ir_expr *index, int64_t run, const char *way)
{
    struct lanes at;
    if (b->space != SPACE_global && b->space != SPACE_shared)
        return;
    struct report_held *h = held_of(w, b);
    note_way(h, way);
    lanes_of(&w->place, index, &at);
    h->is_part |= at.trust != LANES_EXACT;
    for (int i = 0; i < WARP_LANES && at.trust == LANES_EXACT; i++)
        if (w->active >> i & 1)
            note(w, h, i, lanes_at(&at, i), run * index->type.lanes);
}

// ---- Copies ---------------------------------------------------------------

// Note the rows of a box that lie within the array: `corner` is its first element.
static void write_box(struct walk *w, struct report_held *h, int lane,
                      const struct ir_map *map, const int64_t *corner)
{
    const struct ir_buffer *b = map->buffer;
    int64_t shape[RANK_MOST], at[RANK_MOST], rows = 1;
    uint32_t last = b->rank - 1;
    for (uint32_t d = 0; d < b->rank; d++)
        if (!ir_eval_int(w->kernel, w->report->problem->values, b->shape[d],
                         &shape[d]))
            return;
    for (uint32_t d = 0; d < last; d++)
        rows *= map->box[d];
    for (int64_t row = 0; row < rows; row++) {
        int64_t rest = row, first = 0, n = shape[last] - corner[last];
        bool is_inside = true;
        for (uint32_t d = last; d-- > 0; rest /= map->box[d])
            at[d] = corner[d] + rest % map->box[d];
        at[last] = corner[last];
        for (uint32_t d = 0; d <= last; d++) {
            is_inside &= at[d] >= 0 && at[d] < shape[d];
            first = first * shape[d] + at[d];
        }
        if (is_inside)
            note(w, h, lane, first, n < map->box[last] ? n : map->box[last]);
    }
}

// Note a copy of a tile to global memory, through its map.
static void write_tile(struct walk *w, const struct ir_copy *copy)
{
    struct lanes at[RANK_MOST];
    struct report_held *h = held_of(w, copy->map->buffer);
    int64_t corner[RANK_MOST];
    uint32_t n = copy->far.n;
    note_way(h, ir_copy_word(copy));
    if (n > RANK_MOST || n != copy->map->buffer->rank)
        return;
    for (uint32_t d = 0; d < n; d++) {
        lanes_of(&w->place, copy->far.index[d], &at[d]);
        h->is_part |= at[d].trust != LANES_EXACT;
    }
    for (int i = 0; i < WARP_LANES && !h->is_part; i++) {
        if (!(w->active >> i & 1))
            continue;
        for (uint32_t d = 0; d < n; d++)
            corner[d] = lanes_at(&at[d], i);
        write_box(w, h, i, copy->map, corner);
    }
}

// Note a copy.
static void walk_copy(struct walk *w, const struct ir_copy *copy)
{
    const struct ir_place *to = copy->is_load ? &copy->near : &copy->far;
    bool is_own = transport_is_of_threads(copy->transport);
    if (!copy->is_load && copy->map)
        write_tile(w, copy);
    else if (to->n)
        write_at(w, to->buffer, to->index[to->n - 1],
                 is_own ? 1 : ir_copy_elements(copy), ir_copy_word(copy));
}

// Note what an instruction on matrices writes to shared memory, row by row.
static void walk_matrix(struct walk *w, const struct ir_stmt *s)
{
    struct ir_access all[IR_ACCESSES_MOST];
    uint32_t n = ir_accesses(s, all);
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_access *x = &all[i];
        if (x->flags & ACCESS_writes && x->n)
            write_at(w, x->buffer, x->index[x->n - 1],
                     x->extent ? x->extent[x->n - 1] : 1, "stmatrix");
    }
}

// ---- Statements -----------------------------------------------------------

// Note the atomics in the expressions of a statement.
static void walk_atomics(struct walk *w, const struct ir_stmt *s)
{
    ir_foreach_expr_of(x, s) {
        unsigned flags = ir_op_info(x->op)->flags;
        if (flags & OP_WRITES && !(flags & OP_SYNCHRONISES) &&
            x->op != OP_place && x->n)
            write_at(w, x->u.buffer, x->args[0], 1, "atomic");
    }
}

// Return whether something below a block writes to global memory.
static bool writes_global(const struct ir_block *block)
{
    ir_foreach_stmt(s, block) {
        struct ir_access all[IR_ACCESSES_MOST];
        uint32_t n = ir_accesses(s, all);
        for (uint32_t i = 0; i < n; i++)
            if (all[i].flags & ACCESS_writes &&
                all[i].buffer->space == SPACE_global)
                return true;
        ir_foreach_expr_of(x, s)
            if (ir_op_info(x->op)->flags & OP_WRITES && x->op != OP_place &&
                x->u.buffer->space == SPACE_global)
                return true;
    }
    return false;
}

// Return the active lanes for which an iteration begins at `at`.
static uint32_t lanes_below(const struct walk *w, const struct lanes *at,
                            const struct lanes *to)
{
    uint32_t r = 0;
    bool is_known = at->trust == LANES_EXACT && to->trust == LANES_EXACT;
    for (int i = 0; i < WARP_LANES; i++)
        r |= (uint32_t)(!is_known || lanes_at(at, i) < lanes_at(to, i)) << i;
    return r & w->active;
}

// Move a loop's variable on.
static void advance(struct lanes *at, const struct lanes *step)
{
    struct lanes next = *at;
    next.same = at->same && step->same;
    for (int i = 0; i < (next.same ? 1 : WARP_LANES); i++)
        next.at[i] =
            (int64_t)((uint64_t)lanes_at(at, i) + (uint64_t)lanes_at(step, i));
    *at = next;
}

// Follow a loop.
static void walk_loop(struct walk *w, const struct ir_for *loop)
{
    struct lanes at, to, step;
    uint32_t active = w->active;
    lanes_of(&w->place, loop->from, &at);
    lanes_of(&w->place, loop->to, &to);
    lanes_of(&w->place, loop->step, &step);
    int most = writes_global(&loop->body) ? TRIPS_MOST : TRIPS_OF_SHARED;
    if (at.trust || to.trust || step.trust || at.on)
        most = 1;
    for (int trip = 0; trip < most && w->steps > 0; trip++) {
        w->active = lanes_below(w, &at, &to) & active;
        if (!w->active)
            break;
        lanes_set(&w->place, loop->var, &at);
        walk_block(w, &loop->body);
        advance(&at, &step);
    }
    w->active = active;
}

// Follow the sides of a branch, each with the lanes that take it.
static void walk_branch(struct walk *w, const struct ir_stmt *s)
{
    struct lanes c;
    uint32_t active = w->active, yes = 0;
    lanes_of(&w->place, s->u.branch.cond, &c);
    bool is_known = c.trust == LANES_EXACT;
    for (int i = 0; i < WARP_LANES; i++)
        yes |= (uint32_t)(!is_known || lanes_at(&c, i) != 0) << i;
    w->active = active & yes;
    walk_block(w, &s->u.branch.then);
    w->active = is_known ? active & ~yes : active;
    walk_block(w, &s->u.branch.otherwise);
    w->active = active;
}

// Follow a statement.
static void walk_stmt(struct walk *w, const struct ir_stmt *s)
{
    struct lanes value;
    walk_atomics(w, s);
    switch ((int)s->kind) {
    case STMT_for: walk_loop(w, &s->u.loop); break;
    case STMT_if: walk_branch(w, s); break;
    case STMT_let:
    case STMT_var:
    case STMT_assign:
        lanes_of(&w->place, s->u.let.value, &value);
        lanes_set(&w->place, s->u.let.var, &value);
        break;
    case STMT_store:
        if (s->u.store.n)
            write_at(w, s->u.store.buffer, s->u.store.index[s->u.store.n - 1],
                     1, "store");
        break;
    case STMT_matrix: walk_matrix(w, s); break;
    case STMT_copy: walk_copy(w, &s->u.copy); break;
    }
}

// Follow the statements of a block while some lane is active.
static void walk_block(struct walk *w, const struct ir_block *block)
{
    for (size_t i = 0; i < block->n && w->active && w->steps > 0; i++) {
        w->steps--;
        walk_stmt(w, block->at[i]);
    }
}

// Set the sizes.
static void set_sizes(struct walk *w)
{
    for (size_t i = 0; i < w->kernel->params.n; i++) {
        const struct ir_var *var = w->kernel->params.at[i].var;
        struct lanes value;
        if (!var || type_is_float(var->type))
            continue;
        lanes_number(w->report->problem->values[i].scalar.i, &value);
        lanes_set(&w->place, var, &value);
    }
}

struct report_held_list report_holds(struct report *r,
                                     const struct ir_launch *launch)
{
    struct report_held_list out = {0};
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    struct walk w = {.report = r,
                     .kernel = r->taken->variant->kernel,
                     .out = &out,
                     .steps = STEPS_MOST,
                     .place = {.arena = &r->c->arena,
                               .device = r->device,
                               .launch = launch,
                               .values.arena = &r->c->arena}};
    set_sizes(&w);
    for (uint32_t first = 0; first < threads; first += WARP_LANES) {
        uint32_t left = threads - first;
        w.active = left < WARP_LANES ? (1u << left) - 1 : UINT32_MAX;
        w.place.first = first;
        walk_block(&w, &launch->body);
    }
    vec_foreach(h, &out)
        h->is_part |= w.steps <= 0;
    return out;
}
