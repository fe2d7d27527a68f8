// Accesses to the slots of rings.

#include "passes/lower/slots.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"
#include "ir/matrix.h"
#include "ir/walk.h"

#include <string.h>

// The rewrite of a block: arrays of a ring, or those of a map.
struct use {
    struct arena *arena;
    const struct ring *ring;
    const struct map *arrays;
    struct ir_expr *slot;
};

// Return the array with slots that stands for an array; NULL: it has none.
static struct ir_buffer *slotted(const struct use *u, struct ir_buffer *b)
{
    if (u->arrays)
        return map_get(u->arrays, b);
    return ring_has(u->ring, b) ? b : NULL;
}

// Return an index with the slot in front.
static struct ir_expr **in_slot(struct arena *a, struct ir_expr *slot,
                                uint32_t n, struct ir_expr *const *index)
{
    struct ir_expr **out = arena_array(a, struct ir_expr *, (size_t)n + 1);
    out[0] = slot;
    for (uint32_t i = 0; i < n; i++)
        out[i + 1] = index[i];
    return out;
}

// Load from a ring in the slot.
static struct ir_expr *load_slot(struct arena *a, struct ir_expr *x,
                                 void *context)
{
    const struct use *u = context;
    struct ir_buffer *b = x->op == OP_load ? slotted(u, x->u.buffer) : NULL;
    if (!b)
        return x;
    struct ir_expr **index = in_slot(a, u->slot, x->n, x->args);
    return ir_at(a, ir_load(a, b, x->n + 1, index), x->span);
}

// Store to a ring in the slot.
static void store_slot(const struct use *u, struct ir_stmt *s)
{
    struct ir_buffer *b =
        s->kind == STMT_store ? slotted(u, s->u.store.buffer) : NULL;
    if (!b)
        return;
    s->u.store.buffer = b;
    s->u.store.index =
        in_slot(u->arena, u->slot, s->u.store.n, s->u.store.index);
    s->u.store.n++;
}

// Let an operand of an instruction on matrices be in a slot of an array.
static void use_place(struct arena *a, struct ir_tile *t, struct ir_buffer *b,
                      struct ir_expr *slot)
{
    uint32_t n = t->at->n;
    struct ir_expr **index = in_slot(a, slot, n, t->at->args);
    memmove(&t->extent[1], &t->extent[0],
            (IR_TILE_RANK - 1) * sizeof *t->extent);
    t->extent[0] = 1;
    t->at = ir_at(a, ir_place(a, b, n + 1, index), t->at->span);
}

// Let a store by TMA be from the slot.
static void copy_slot(const struct use *u, struct ir_stmt *s)
{
    struct ir_place *near = &s->u.copy.near;
    struct ir_buffer *b = s->kind == STMT_copy && !s->u.copy.is_load
                              ? slotted(u, near->buffer)
                              : NULL;
    if (!b)
        return;
    near->buffer = b;
    near->index = in_slot(u->arena, u->slot, near->n, near->index);
    near->n++;
}

// Let the operands of an instruction on matrices be in the slot.
static void place_slot(const struct use *u, struct ir_stmt *s)
{
    for (int i = 0; s->kind == STMT_matrix && i < MATRIX_OPERANDS; i++) {
        struct ir_tile *t = &s->u.matrix.tiles[i];
        struct ir_buffer *b = t->at ? slotted(u, t->at->u.buffer) : NULL;
        if (b)
            use_place(u->arena, t, b, u->slot);
    }
}

// Rewrite a block.
static void rewrite(struct use *u, struct ir_block *block)
{
    ir_rewrite_in(u->arena, block, load_slot, u);
    ir_foreach_stmt(s, block) {
        store_slot(u, s);
        place_slot(u, s);
        copy_slot(u, s);
    }
}

void slots_use(struct arena *a, const struct ring *ring, struct ir_block *block,
               struct ir_expr *slot)
{
    rewrite(&(struct use){a, ring, NULL, slot}, block);
}

void slots_use_map(struct arena *a, const struct map *arrays,
                   struct ir_block *block, struct ir_expr *slot)
{
    rewrite(&(struct use){a, NULL, arrays, slot}, block);
}

struct ir_expr *slots_count(struct pass *p, struct ir_stmt *loop, size_t i,
                            struct ir_expr *number)
{
    struct arena *a = p->arena;
    struct ir_for *of = &loop->u.loop;
    struct ir_var *slot =
        ir_var_new(a, str_name(p->names, "slot"), type_scalar(TYPE_int),
                   VAR_let, of->var->span);
    struct ir_expr *value =
        ir_binary(a, OP_mod, number, ir_int(a, of->rings.at[i]->slots));
    ir_insert(a, &of->body, i, ir_stmt_from(ir_stmt_let(a, slot, value), loop));
    return ir_read(a, slot);
}

void slots_at(struct arena *a, const struct ir_for *loop,
              struct ir_expr *iteration, struct map *vars)
{
    map_set(vars, loop->var, iteration);
    for (size_t i = 0; i < ir_ring_slots(loop); i++) {
        const struct ir_stmt *slot = ir_ring_slot(loop, i);
        map_set(vars, slot->u.let.var,
                ir_substitute(a, slot->u.let.value, vars, NULL));
    }
}
