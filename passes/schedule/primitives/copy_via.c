// copy_via -- say how a copy is made.
//
//   stage S { S[i] = A[i] }   =>   copy_via(S, cp_async)
//   stage S @via(cp_async) { S[i] = A[i] }
//
//   copy_via(S, cp_async, evict_last)   =>   evict_last S[i] = A[i]
//
// A hint says how long the L2 cache is to keep what the store accesses in global
// memory; a call without one takes it back.
//
// Copies by cp_async run while the thread goes on, and need no registers.
// Lowering waits for them before what they fill is used, or, in a software
// pipeline, iterations later. If none of a stage's copies becomes one, or gets
// its hint, that is a warning (E0778, E0779). The way `vector`, through
// registers, is that of a stage without a mark.
//
// Requires:
//  1. a stage                                            E0653
//  2. one of the ways to copy                            E0662
//  3. for cp_async: it just copies an element, or has
//     zero where a condition fails, from global to
//     shared memory, which is not double buffered        E0663
//  4. ... of 4 bytes or more, or in a vector loop         E0664
//  5. for tma: the same, or out of shared memory, between
//     it and an array of 1 to 5 dimensions, whose rows
//     can be a multiple of 16 bytes apart                E0663
//  6. for bulk: the same, where what lies in one run on
//     both sides can be a multiple of 16 bytes           E0663
//  7. a hint that there is, if any, for a stage that
//     stores to global memory, or copies from it         E0861
//
// tma goes through a tensor map, for which the array must have elements, at
// most 2^31 - 1 in each dimension, and rows a multiple of 16 bytes apart; what
// is not known of that becomes part of the kernel's guard, so that other sizes
// take another variant.  A TMA tile begins at a multiple of 16 bytes of a row in
// global memory: the loop along a row that begins or ends elsewhere, as that of a
// tile with a halo does, copies the elements around it, too.
//
//   for w in 0..62 { S[w0 * 56 + w] = 3 <= .. ? X[w0 * 56 + w - 3] : 0.0 }
//     =>   for w in 0..64 { S[w0 * 56 + w - 1] = .. }
//
// Whether the nest consists of TMA tiles is checked once
// arrays have their final sizes (pass tma_copies, E0772).  Whether blocks of a
// cluster bring TMA tiles for each other is not asked for but follows from the
// loops.
//
// bulk needs no tensor map: each bulk copy is contiguous on both sides. The
// rows of the array must be multiples of 16 bytes apart, and conditions must
// leave out no part of a tile; what is not known of these becomes part of the
// kernel's guard. A condition that no loop of the tile decides stays: the tile
// exists or not. Whether the nest consists of bulk copies is checked by the
// pass tma_copies, too (E0865).

#include "passes/schedule/prim.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/marks.h"
#include "passes/analysis/bulk_guard.h"
#include "passes/analysis/copies.h"
#include "passes/analysis/tma_copy.h"
#include "passes/schedule/common/tma_row.h"

#include <string.h>

enum { ASYNC_BYTES_LEAST = 4 };

// A row of copy_ways.def.
struct way {
    const char *name;
    enum { PLAIN, ASYNC, TILES, RUNS } kind;
};

static const struct way ways[] = {
#define COPY_WAY(name, kind, meaning) {#name, kind},
#include "passes/schedule/copy_ways.def"
#undef COPY_WAY
};

// Return the way of a name; NULL after an error.
static const struct way *find_way(const struct sched_call *c, const char *name)
{
    size_t n = sizeof ways / sizeof *ways;
    for (size_t i = 0; i < n; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    diag_error(c->pass->diags, c->args.at[1].span, D_copy_way, name);
    for (size_t i = 0; i < n; i++)
        diag_help(c->pass->diags, "`%s` is one", ways[i].name);
    return NULL;
}

// Report that a stage is no copy of this kind.  Returns false.
static bool refuse(const struct sched_call *c, struct ir_stmt *stage,
                   const char *fault)
{
    return sched_refuse(c, stage, "the copy", D_copy_shape,
                        sched_name_of(stage), c->args.at[1].key, fault);
}

// Return the lanes of the vector loop around a stage; 1 if there is none.
static int64_t lanes_of(const struct sched_call *c, const struct ir_stmt *stage)
{
    struct ir_path path = sched_path(c->pass, stage);
    int64_t lanes = 1;
    for (uint32_t i = 0; i + 1 < path.n; i++) {
        const struct ir_stmt *s = path.stmts[i];
        if (s->kind == STMT_for && s->u.loop.axis == AXIS_vector)
            ir_int_value(s->u.loop.to, &lanes);
    }
    return lanes;
}

// Check that a stage is a copy that can be asynchronous.
static bool check_copy(const struct sched_call *c, struct ir_stmt *stage)
{
    struct ir_block *body = &stage->u.stage.body;
    struct ir_stmt *store = body->n == 1 ? body->at[0] : NULL;
    if (!store || store->kind != STMT_store || stage->u.stage.has_init)
        return refuse(c, stage, "it is more than one store");
    const struct ir_expr *from = copies_source(store);
    if (!from)
        return refuse(c, stage, "it does not store an element as it is");
    if (from->u.buffer->space != SPACE_global)
        return refuse(c, stage, "what it reads is not in global memory");
    if (store->u.store.buffer->space != SPACE_shared)
        return refuse(c, stage, "what it fills is not in shared memory");
    if (store->u.store.buffer->is_double)
        return refuse(c, stage, "what it fills is double buffered");
    int64_t bytes = (int64_t)type_bytes(from->type) * lanes_of(c, stage);
    if (bytes >= ASYNC_BYTES_LEAST)
        return true;
    sched_refuse(c, stage, "the copy", D_copy_bytes, sched_name_of(stage),
                 (long long)bytes);
    diag_help(c->pass->diags, "split its innermost loop and vectorize that "
                              "before");
    return false;
}

// Check that a stage is a copy that may go through a tensor map, and find what
// must hold for there to be one.
static bool check_tiles(const struct sched_call *c, struct ir_stmt *stage,
                        struct ir_conditions *guard)
{
    struct tma_copy copy;
    struct facts facts;
    const char *fault = tma_copy_find(&stage->u.stage, &copy);
    facts_start(&facts, c->pass->scratch, c->pass->kernel);
    if (!fault)
        fault = tma_copy_conditions(c->pass->arena, &facts, copy.far, guard);
    return !fault || refuse(c, stage, fault);
}

// Check that a stage is a copy that can be lowered to bulk copies, and find the
// conditions under which they are whole.
static bool check_runs(const struct sched_call *c, struct ir_stmt *stage,
                       struct ir_conditions *guard)
{
    struct facts facts;
    struct ir_path path = sched_path(c->pass, stage);
    facts_start(&facts, c->pass->scratch, c->pass->kernel);
    facts_enter_path(&facts, &path, path.n);
    const char *fault = bulk_guard(c->pass->arena, &facts, &path, guard);
    return !fault || refuse(c, stage, fault);
}

// Return the store of a stage that accesses global memory, or NULL.
static struct ir_stmt *far_store(const struct ir_stage *stage)
{
    struct ir_stmt *s = stage->body.n == 1 ? stage->body.at[0] : NULL;
    if (!s || s->kind != STMT_store || stage->has_init)
        return NULL;
    const struct ir_expr *from = copies_source(s);
    bool is_far = s->u.store.buffer->space == SPACE_global ||
                  (from && from->u.buffer->space == SPACE_global);
    return is_far ? s : NULL;
}

// Find the hint that is given for the store of a stage.
static bool find_hint(const struct sched_call *c, struct ir_stmt *stage,
                      enum ir_hint *out)
{
    *out = HINT_usual;
    if (c->args.n < 3)
        return true;
    const char *name = c->args.at[2].key;
    if (hint_named(name, out) && far_store(&stage->u.stage))
        return true;
    diag_error(c->pass->diags, c->args.at[2].span, D_copy_hint, name,
               sched_name_of(stage));
    if (*out != HINT_usual)
        sched_blame_one(c, stage,
                        "what does not just store to global memory, "
                        "or copy from it,");
    for (int i = HINT_usual + 1; *out == HINT_usual && i < HINT_COUNT; i++)
        diag_help(c->pass->diags, "`%s` is one", hint_name((enum ir_hint)i));
    return false;
}

// Check that a stage that is copied otherwise than by its threads accesses no array
// of a cluster.
static bool check_place(const struct sched_call *c, struct ir_stmt *stage,
                        const struct way *way)
{
    ir_foreach_stmt(s, &c->pass->kernel->body)
        if (way->kind != PLAIN && s->kind == STMT_alloc &&
            s->u.buffer->of_cluster && ir_stmt_uses(stage, s->u.buffer))
            return refuse(c, stage,
                          "it accesses an array that is distributed over the "
                          "blocks of a cluster");
    return true;
}

// Give a store another hint, which is the last directive's.
static void set_hint(struct ir_stmt *store, enum ir_hint hint)
{
    store->u.store.hint = hint;
    store->u.store.hinted = (struct span){0};
}

bool sched_copy_via(struct sched_call *c)
{
    struct ir_stmt *stage = sched_arg(c, 0);
    struct pass *p = c->pass;
    if (stage->kind != STMT_stage)
        return sched_refuse(c, stage, "a store", D_stage_wanted,
                            sched_name_of(stage));
    struct ir_conditions guard = {0};
    enum ir_hint hint;
    const struct way *way = find_way(c, c->args.at[1].key);
    if (!way || !find_hint(c, stage, &hint) || !check_place(c, stage, way) ||
        (way->kind == ASYNC && !check_copy(c, stage)) ||
        (way->kind == TILES && !check_tiles(c, stage, &guard)) ||
        (way->kind == RUNS && !check_runs(c, stage, &guard)))
        return false;
    vec_append(p->arena, &p->kernel->guard, &guard);
    if (way->kind == TILES)
        sched_widen_row(c, stage);
    ir_attr_remove(stage, MARK_via);
    stage->u.stage.via = (struct span){0};
    if (way->kind != PLAIN)
        ir_attr_set_word(p->arena, stage, MARK_via,
                         str_name(p->names, way->name));
    if (far_store(&stage->u.stage))
        set_hint(far_store(&stage->u.stage), hint);
    return true;
}
