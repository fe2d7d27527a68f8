// buffers: moves the arrays of stages to where they are used, and shrinks them
// to the region used there.
//
//   alloc S: f32[n] in shared               for b in 0..n / 8 @block.x {
//   for b in 0..n / 8 @block.x {              alloc S: f32[8] in shared
//     for t in 0..8 @thread.x {               for t in 0..8 @thread.x {
//       stage S(v in n = b * 8 + t)      =>     stage S(v in n = b * 8 + t)
//         { S[v] = A[v] }                         { S[t] = A[v] }
//       stage C(v in n = b * 8 + t)             stage C(v in n = b * 8 + t)
//         { C[v] = S[v] }                         { C[v] = S[t] }
//
// Arrays in shared and local memory move if they stand on top of the kernel and
// a stage uses them; others stay as declared. An array then holds what one
// iteration of the fixed loops accesses. Of the loops around all accesses, fixed
// are those over blocks, serial ones, and for local arrays those over threads.
// A serial loop is fixed only if no iteration reads what an earlier one wrote:
// two iterations access different parts of the array, or each begins with a
// stage that writes what it reads. The array is declared outside of such a
// loop, even where each block or thread inside has its own. A local array that
// several loops over threads use is declared outside of them, and holds what all
// their threads access, of which own_parts leaves each its part.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/ring.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "passes/lower/own_parts.h"
#include "passes/lower/placing.h"

// Add the index that keeps a dimension whole to the newest diagnostic.
static void label_culprit(struct placing *x, uint32_t d)
{
    struct buf text = {0};
    const struct region_dim *dim = &x->region.dims[d];
    if (!dim->culprit)
        return;
    ir_print_expr(&text, dim->culprit);
    diag_note(x->p->diags, dim->span, "index %u of this access is `%s`", d,
              text.data);
    buf_free(&text);
}

// Report a dimension whose extent is no number.
static bool report_open(struct placing *x, uint32_t d)
{
    diag_error(x->p->diags, x->buffer->span, D_region_open, d, x->buffer->name,
               space_name(x->buffer->space));
    label_culprit(x, d);
    diag_help(x->p->diags, "split the loops that this index moves with by a "
                           "number, or move the stages deeper with compute_at");
    return false;
}

// Report that the threads of a block would share a fragment.
static bool report_threads(struct placing *x)
{
    own_report_shared(x->p, x->buffer, &x->p->kernel->body, x->buffer->span);
    return diag_help(x->p->diags,
                     "move the stages that use it below one loop over threads "
                     "with compute_at or reverse_compute_at");
}

// Return whether the array is a fragment that is written below a loop over
// threads.
static bool is_fragment_of_others(struct placing *x)
{
    struct ir_block *block = x->common.blocks.at[x->common.stmts.n];
    if (x->buffer->space != SPACE_fragment)
        return false;
    ir_foreach_stmt(s, block)
        if (ir_is_over(s, AXIS_THREAD) &&
            ir_block_writes(&s->u.loop.body, x->buffer))
            return true;
    return false;
}

// Return the last loop over several blocks that writes an array, or NULL: those
// of a cluster may fill one that they share, and registers.
static const struct ir_stmt *find_grid(const struct ir_block *block,
                                       const struct ir_buffer *array)
{
    const struct ir_stmt *last = NULL;
    bool is_cut = array->of_cluster || array->space == SPACE_local;
    ir_foreach_stmt(s, block)
        if (ir_is_over(s, AXIS_BLOCK) && !(is_cut && ir_runs_together(s)) &&
            !ir_is_int_const(s->u.loop.to, 1) &&
            ir_block_writes(&s->u.loop.body, array))
            last = s;
    return last;
}

// Check that no loop over blocks below `block` fills the array, which each
// block has for itself; reports E0723.
static bool check_grids(struct placing *x, struct ir_block *block)
{
    const struct ir_stmt *grid = find_grid(block, x->buffer);
    if (!grid)
        return true;
    const struct ir_for *loop = &grid->u.loop;
    diag_error(x->p->diags, x->buffer->span, D_near_between_blocks,
               x->buffer->name, space_name(x->buffer->space));
    diag_note(x->p->diags, grid->span, "`%s`, over %s, fills it in parts",
              loop->var->name, axis_name(loop->axis));
    diag_help(x->p->diags,
              "bind a loop around all uses of `%s` to %s, or put it into "
              "global memory with set_scope",
              x->buffer->name, axis_name(loop->axis));
    return false;
}

// Decide which dimensions move, and how long they become: of arrays of a thread
// those too that stay as long, whose indices become as short as they can.
// Returns false after reporting an error.
static bool find_shape(struct placing *x, bool *moves, struct ir_expr **shape)
{
    if (is_fragment_of_others(x))
        return report_threads(x);
    if (!check_grids(x, x->common.blocks.at[x->common.stmts.n]))
        return false;
    for (uint32_t d = 0; d < x->buffer->rank; d++) {
        const struct region_dim *dim = &x->region.dims[d];
        int64_t n = region_extent(dim), whole = INT64_MAX;
        bool is_number = ir_int_value(x->buffer->shape[d], &whole);
        if (n == 0 && !is_number)
            return report_open(x, d);
        moves[d] = n > 0 && (n < whole ||
                             (n == whole && space_is_own(x->buffer->space)));
        shape[d] = moves[d] ? ir_int(x->p->arena, n) : x->buffer->shape[d];
    }
    return true;
}

// Return how many of the loops and branches around all accesses may be around
// the array: not the loop that fills it for its next iteration, if it is in
// shared memory.
static size_t depth_most(const struct placing *x)
{
    size_t n = x->common.stmts.n;
    while (n && x->buffer->is_double && x->buffer->space == SPACE_shared) {
        struct ir_stmt *s = x->common.stmts.at[--n];
        if (s->kind == STMT_for && s->u.loop.axis == AXIS_serial)
            break;
    }
    return n;
}

// Return how many of the loops and branches around all accesses are to be
// around the array.
static size_t depth_of(const struct placing *x, const bool *moves)
{
    size_t depth = 0, most = depth_most(x);
    for (size_t i = 0; i < most; i++) {
        struct ir_stmt *s = x->common.stmts.at[i];
        bool needed = ir_is_over(s, AXIS_BLOCK) || placing_is_threads(s);
        if ((placing_is_threads(s) && x->buffer->space == SPACE_shared) ||
            !placing_is_anew(x, s))
            break;
        for (uint32_t d = 0; d < x->region.rank && placing_is_sequential(s);
             d++)
            needed |= moves[d] &&
                      placing_base_mentions(&x->region.dims[d], s->u.loop.var);
        depth = needed ? i + 1 : depth;
    }
    return depth;
}

// Take the array from the top of the kernel to its place: before the first use
// in a block of the way down.
static void move_alloc(struct placing *x, size_t depth)
{
    struct ir_block *top = &x->p->kernel->body;
    struct ir_block *to = x->common.blocks.at[depth];
    size_t at = ir_index(top, x->alloc);
    ir_splice(x->p->arena, top, at, &(struct ir_block){0});
    for (at = 0; at < to->n; at++)
        if (ir_stmt_uses(to->at[at], x->buffer))
            break;
    ir_insert(x->p->arena, to, at, x->alloc);
}

// Give the array its new extents.  Strides that are numbers stay: they hold
// the padding.
static void resize(struct placing *x, struct ir_expr **shape)
{
    bool are_numbers = x->buffer->strides != NULL;
    for (uint32_t d = 0; d < x->buffer->rank && are_numbers; d++)
        are_numbers = ir_is_const(x->buffer->strides[d]);
    if (!are_numbers)
        x->buffer->strides = NULL;
    x->buffer->shape = shape;
}

// Move an array and shrink it.  Returns false after reporting an error.
static bool place(struct pass *p, struct ir_stmt *alloc)
{
    struct placing x = {.p = p, .alloc = alloc, .buffer = alloc->u.buffer};
    uint32_t rank = x.buffer->rank;
    bool *moves = arena_array(p->scratch, bool, rank);
    struct ir_expr **shape = arena_array(p->arena, struct ir_expr *, rank);
    placing_find(&x);
    if (!x.region.is_accessed)
        return true;
    if (!find_shape(&x, moves, shape))
        return false;
    struct region_question q = placing_question(&x);
    size_t depth = depth_of(&x, moves);
    region_shift(&q, &x.region, moves);
    resize(&x, shape);
    move_alloc(&x, depth);
    return true;
}

// Return whether arrays of a space belong to a block or a thread.
static bool is_near(enum space space)
{
    return space == SPACE_shared || space_is_own(space);
}

// Return whether a planned ring in a block has given an array slots, and so a place.
static bool has_slots(const struct ir_block *block, const struct ir_buffer *b)
{
    ir_foreach_stmt(s, block)
        for (size_t i = 0; i < ir_rings_of(s).n; i++)
            if (ir_ring_has(ir_rings_of(s).at[i], b))
                return true;
    return false;
}

enum pass_result pass_buffers(struct pass *p)
{
    struct VEC(struct ir_stmt *) found = {0};
    struct ir_block *top = &p->kernel->body;
    vec_foreach_value(s, top)
        if (s->kind == STMT_alloc && is_near(s->u.buffer->space) &&
            s->u.buffer->space != SPACE_constant &&
            ir_stages_use(top, s->u.buffer) &&
            !ir_block_copies(top, s->u.buffer) && !has_slots(top, s->u.buffer))
            vec_push(p->scratch, &found, s);
    for (size_t i = 0; i < found.n; i++)
        if (!place(p, found.at[i]))
            return PASS_FAILED;
    if (!own_check_given(p))
        return PASS_FAILED;
    return found.n ? PASS_CHANGED : PASS_SAME;
}
