// Parts stages that load fragments rounded to tf32 into the load, which may be
// one of matrices and run a step ahead, and the rounding, which waits for it:
//
//   F[i, k] = tf32(S[i, k])
//   =>
//   for t in 0..2 { matrix ldmatrix_x4 F[t, 0, 0 : 4], S[..] }
//   for t in 0..2 { for e in 0..4 { F[t, 0, e] = tf32(F[t, 0, e]) } }

#include "passes/lower/fragments.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/foreach.h"

bool fragments_part_rounding(struct spread *x)
{
    struct ir_stage *s = &x->stage->u.stage;
    struct ir_stmt *store = s->body.n == 1 ? s->body.at[0] : NULL;
    if (s->predicate || s->has_init || !store || store->kind != STMT_store ||
        store->u.store.buffer != x->like->array)
        return false;
    struct ir_expr *value = store->u.store.value;
    if (value->op != OP_tf32 || value->args[0]->op != OP_load ||
        value->args[0]->u.buffer->space != SPACE_shared)
        return false;
    store->u.store.value = value->args[0];
    return true;
}

// Return a store that rounds an element.
static struct ir_stmt *round_element(struct arena *a, struct ir_buffer *b,
                                     struct ir_expr *const *index)
{
    struct ir_expr *element = ir_load(a, b, b->rank, index);
    return ir_stmt_store(a, b, b->rank, index, ir_unary(a, OP_tf32, element));
}

// Append loops that round the elements which an instruction loads.
static void append_loops(struct fragments *f, const struct ir_stmt *load,
                         struct ir_block *out)
{
    struct arena *a = f->p->arena;
    const struct ir_tile *loaded = &load->u.matrix.tiles[MATRIX_D];
    struct ir_expr *index[IR_TILE_RANK];
    for (uint32_t d = 0; d < loaded->at->n; d++) {
        index[d] = loaded->at->args[d];
        if (loaded->extent[d] == 1)
            continue;
        struct ir_var *e =
            ir_var_new(a, str_name(f->p->names, "e"), type_scalar(TYPE_int),
                       VAR_loop, load->span);
        struct ir_stmt *loop =
            ir_stmt_for(a, e, ir_int(a, 0), ir_int(a, loaded->extent[d]),
                        ir_int(a, 1), AXIS_unroll);
        ir_append(a, out, ir_stmt_from(loop, load));
        out = &loop->u.loop.body;
        index[d] = ir_add(a, index[d], ir_read(a, e));
    }
    ir_append(
        a, out,
        ir_stmt_from(round_element(a, loaded->at->u.buffer, index), load));
}

// Let the statements of a block round what they load.
static void turn_loads(struct fragments *f, struct ir_block *block)
{
    struct arena *a = f->p->arena;
    for (size_t i = 0; i < block->n; i++) {
        struct ir_stmt *s = block->at[i];
        struct ir_block loops = {0};
        if (s->kind == STMT_store)
            block->at[i] = ir_stmt_from(
                round_element(a, s->u.store.buffer, s->u.store.index), s);
        if (s->kind == STMT_matrix) {
            append_loops(f, s, &loops);
            ir_splice(a, block, i, &loops);
        }
        ir_foreach_block(inner, s)
            turn_loads(f, inner);
    }
}

void fragments_append_rounding(struct fragments *f, struct ir_block *loads)
{
    struct arena *a = f->p->arena;
    struct ir_block rounding = ir_copy_block(a, loads, NULL, NULL);
    turn_loads(f, &rounding);
    ir_append_all(a, loads, &rounding);
}
