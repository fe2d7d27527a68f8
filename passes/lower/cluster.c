// Multicast of TMA tiles that several blocks of a cluster need: each block
// copies a part, and TMA writes it to the shared memory of all.
//
//   for c in 0..2 @cluster.x {
//     for n in 0..256 { for k in 0..64 { S[n, k] = B[j * 256 + n, l * 64 + k] } }
//   }                                                                       =>
//   for c in 0..2 @cluster.x {
//     TMA tile [128, 64] of B at [j * 256 + c * 128, l * 64] to S[c * 128, 0],
//     multicast(3)
//   }
//
// Multicast is derived: there is no other reason to bind a loop that a copy
// does not depend on to the blocks of a cluster. The loop that is divided among
// the blocks is the outermost one of the nest whose iterations divide evenly
// and whose parts are TMA tiles again.

#include "passes/lower/cluster.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

enum { DIMENSIONS = 3 };

// Return whether there is a loop over blocks of the cluster on another axis than
// those around the place; extents on one axis are the same (mapping.c).
static bool stands_beside(const struct cluster *c, const struct ir_block *body)
{
    ir_foreach_stmt(s, body)
        if (s->kind == STMT_for && axis_is_cluster(s->u.loop.axis) &&
            !c->loops[axis_dimension(s->u.loop.axis)])
            return true;
    return false;
}

// Return whether a name in front of the path's statements stands for a value
// that differs between blocks of the cluster: nobody looks through names later.
static bool has_names(const struct cluster *c, const struct ir_path *path)
{
    bool found = false;
    for (uint32_t i = 0; i < path->n; i++) {
        const struct ir_block *block = path->blocks[i];
        for (size_t k = 0; block->at[k] != path->stmts[i]; k++) {
            const struct ir_stmt *s = block->at[k];
            if (s->kind == STMT_let || s->kind == STMT_var)
                found |= cluster_differs(c, s->u.let.value);
        }
    }
    return found;
}

const char *cluster_find(struct cluster *c, const struct ir_path *path)
{
    *c = (struct cluster){.blocks = 1};
    for (uint32_t i = 0; i < path->n; i++) {
        const struct ir_stmt *s = path->stmts[i];
        int64_t n;
        if (s->kind != STMT_for || !axis_is_cluster(s->u.loop.axis))
            continue;
        c->blocks *= ir_int_value(s->u.loop.to, &n) ? n : 0;
        if (!c->blocks)
            return "how many blocks run together is not known";
        c->loops[axis_dimension(s->u.loop.axis)] = &s->u.loop;
    }
    if (stands_beside(c, path->blocks[0]))
        return "loops on other blocks of clusters stand beside it";
    return has_names(c, path)
               ? "a name around it differs among the blocks of a "
                 "cluster"
               : NULL;
}

// Return the blocks along a dimension.
static int64_t blocks_along(const struct cluster *c, int d)
{
    int64_t n = 1;
    if (c->loops[d])
        ir_int_value(c->loops[d]->to, &n);
    return n;
}

bool cluster_shares(const struct cluster *c, struct ir_stmt *s)
{
    if (!c->blocks)
        return true;
    for (int d = 0; d < DIMENSIONS; d++)
        if (blocks_along(c, d) > 1 && !ir_stmt_mentions(s, c->loops[d]->var))
            return true;
    return false;
}

bool cluster_differs(const struct cluster *c, const struct ir_expr *x)
{
    for (int d = 0; d < DIMENSIONS; d++)
        if (c->loops[d] && ir_mentions(x, c->loops[d]->var))
            return true;
    return false;
}

// The blocks of a cluster that need the same TMA tiles.
struct sharing {
    int64_t blocks;
    struct ir_expr *number; // of this one among them
    struct ir_expr *mask;   // a bit for each, by their number in the cluster
};

// Return whether a TMA tile is not the same along a dimension of the cluster.
static bool differs_along(const struct cluster *c, int d,
                          const struct tma_tile *tile)
{
    const struct ir_var *var = c->loops[d]->var;
    if (ir_any_mentions(tile->copy.far->rank, tile->far_at, var) ||
        (tile->condition && ir_mentions(tile->condition, var)))
        return true;
    for (size_t i = 0; i < tile->around.n; i++)
        if (ir_mentions(tile->around.at[i]->to, var))
            return true;
    return false;
}

// Find the blocks that need the same TMA tiles as this one.
static struct sharing find_sharing(struct arena *a, const struct cluster *c,
                                   const struct tma_tile *tile)
{
    struct sharing s = {1, ir_int(a, 0), NULL};
    struct ir_expr *first = ir_int(a, 0);
    struct type word = type_scalar(TYPE_u16);
    int64_t bits = 1, stride = 1;
    for (int d = 0; d < DIMENSIONS; d++) {
        int64_t n = blocks_along(c, d), more = bits;
        if (n == 1)
            continue;
        struct ir_expr *at = ir_read(a, c->loops[d]->var);
        if (differs_along(c, d, tile)) {
            first = ir_add(a, first, ir_mul(a, at, ir_int(a, stride)));
        } else {
            s.number = ir_add(a, s.number, ir_mul(a, at, ir_int(a, s.blocks)));
            s.blocks *= n;
            for (int64_t i = 1; i < n; i++)
                bits |= more << i * stride;
        }
        stride *= n;
    }
    s.mask = ir_binary(a, OP_shl, ir_const_int(a, word, bits),
                       ir_cast(a, word, first));
    return s;
}

// Return a copy of a nest in which loop `at` from outside runs over the part of
// its iterations that is this block's; NULL if they cannot be divided.
static struct ir_stmt *divided(struct arena *a, struct ir_stmt *nest, size_t at,
                               const struct sharing *s)
{
    struct ir_stmt *copy = ir_copy_stmt(a, nest, NULL, NULL), *loop = copy;
    int64_t n;
    for (size_t i = 0; i < at; i++)
        loop = loop->u.loop.body.at[0];
    struct ir_for *l = &loop->u.loop;
    if (!ir_for_counts(l) || !ir_int_value(l->to, &n) || n % s->blocks)
        return NULL;
    struct ir_expr *part = ir_int(a, n / s->blocks);
    ir_replace_in(a, &l->body, l->var,
                  ir_add(a, ir_mul(a, s->number, part), ir_read(a, l->var)));
    l->to = part;
    return copy;
}

const char *cluster_tiles(struct pass *p, struct facts *facts,
                          const struct cluster *c, struct ir_stmt *nest,
                          struct tma_tile *tile)
{
    const char *wrong = tma_copies_tile(p, facts, nest, tile);
    if (wrong)
        return wrong;
    struct sharing s = find_sharing(p->arena, c, tile);
    if (s.blocks == 1)
        return NULL;
    for (size_t i = 0; i < tile->nest.n; i++) {
        struct tma_tile part = {0};
        struct ir_stmt *copy = divided(p->arena, nest, i, &s);
        if (!copy || tma_copies_tile(p, facts, copy, &part))
            continue;
        *tile = part;
        tile->multicast = s.mask;
        tile->parts = s.blocks;
        return NULL;
    }
    return "no loop of a copy divides among the blocks of the cluster that "
           "need it, into TMA tiles that begin at multiples of 128 bytes or "
           "of a period of the swizzle";
}
