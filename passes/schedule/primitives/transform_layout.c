// transform_layout -- order the elements of an array otherwise.
//
//   alloc T: f32[32, 8];  T[i, j]   =>   transform_layout(T, (i, j) -> (j, i))
//   alloc T: f32[8, 32];  T[j, i]
//
// Every access follows.  Where the map makes the array larger, as
// (i) -> (i / 4, i % 4) does with 30 elements, a stage in front of all others
// writes the pad value, an integer, to the new elements.
//
// Requires:
//  1. the kernel declares the array                            E0675
//  2. it is row-major, without gaps or swizzle                 E0682
//  3. the map has an index for each dimension ...              E0679
//  4. ... and is one to one                                    E0680
//  5. it adds no elements, there is a value for them, or the
//     array is in shared or local memory: nothing reads them   E0681

#include "passes/schedule/common/index_map.h"
#include "passes/schedule/common/stage_nest.h"

#include "ir/build.h"

// The rewriting.
struct rewriting {
    struct pass *pass;
    const struct sched_map *map;
    struct ir_buffer *array;
};

// Give a load or an atomic its new indices.
static struct ir_expr *map_access(struct arena *a, struct ir_expr *x,
                                  void *context)
{
    const struct rewriting *r = context;
    bool is_access = ir_op_info(x->op)->flags & (OP_READS | OP_WRITES);
    if (!is_access || x->u.buffer != r->array)
        return x;
    struct ir_expr **index = index_map_apply(r->pass, r->map, x->args);
    if (x->op == OP_load)
        return ir_at(a, ir_load(a, r->array, r->map->m, index), x->span);
    struct ir_expr *atomic = ir_atomic(a, x->op, r->array, r->map->m, index,
                                       x->n - r->map->n, x->args + r->map->n);
    return ir_at(a, ir_scoped(atomic, (enum ir_scope)x->scope), x->span);
}

// Give a store its new indices.
static void map_store(const struct rewriting *r, struct ir_stmt *s)
{
    if (s->kind != STMT_store || s->u.store.buffer != r->array)
        return;
    s->u.store.index = index_map_apply(r->pass, r->map, s->u.store.index);
    s->u.store.n = r->map->m;
}

// Return a stage that writes the pad value to the elements that
// the map adds.
static struct ir_stmt *make_fill(struct pass *p, const struct index_map *m,
                                 struct ir_buffer *array, int64_t value)
{
    struct arena *a = p->arena;
    const char *name = arena_printf(p->scratch, "%s_pad", array->name);
    struct ir_stmt *stage = ir_stmt_stage(a, str_name(p->names, name));
    stage->span = array->span;
    struct ir_expr **index =
        stage_nest_iters(p, stage, array->rank, array->shape);
    struct ir_expr **old = index_map_invert(p, m, index);
    struct ir_expr *x = type_is_float(array->elem)
                            ? ir_const_float(a, array->elem, (double)value)
                            : ir_const_int(a, array->elem, value);
    struct ir_stmt *store = ir_stmt_store(a, array, array->rank, index, x);
    struct ir_stmt *branch =
        ir_stmt_if(a, ir_unary(a, OP_not, index_map_inside(p, m, old)));
    store->span = branch->span = array->span;
    ir_append(a, &branch->u.branch.then, store);
    ir_append(a, &stage->u.stage.body, branch);
    return stage;
}

// Return the place behind the declaration of an array, and those next to it.
static struct sched_place place_behind(struct pass *p,
                                       const struct ir_buffer *array)
{
    struct sched_place place =
        sched_place_of(p, sched_alloc_of(p, array), true);
    while (place.at < place.block->n &&
           place.block->at[place.at]->kind == STMT_alloc)
        place.at++;
    return place;
}

// Check every precondition.
static bool check(struct sched_call *c, struct ir_buffer *array,
                  struct index_map *m)
{
    const struct sched_map *map = c->args.at[1].map;
    if (!sched_check_declared(c, array, "lay out"))
        return false;
    if (array->strides || array->pitches || array->swizzle.bits) {
        diag_error(c->pass->diags, c->span, D_map_layout, array->name);
        diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
        return false;
    }
    if (!index_map_check(c, map, array->shape, array->rank, array->name, m))
        return false;
    if (!m->pads || c->args.n > 2 || array->space != SPACE_global)
        return true;
    diag_error(c->pass->diags, map->span, D_map_pads, array->name);
    diag_note(c->pass->diags, array->span, "`%s` is here", array->name);
    diag_help(c->pass->diags,
              "divide by a divisor of the extent, or give the value of the "
              "new elements behind the map");
    return false;
}

bool sched_transform_layout(struct sched_call *c)
{
    struct pass *p = c->pass;
    struct index_map m;
    struct ir_buffer *array = sched_arg_buffer(c, 0);
    if (!check(c, array, &m))
        return false;
    struct rewriting r = {p, m.map, array};
    ir_rewrite_in(p->arena, &p->kernel->body, map_access, &r);
    ir_foreach_stmt(s, &p->kernel->body)
        map_store(&r, s);
    array->rank = m.map->m;
    array->shape = m.extents;
    if (!m.pads || c->args.n < 3)
        return true;
    struct ir_stmt *fill = make_fill(p, &m, array, c->args.at[2].number);
    struct sched_place place = place_behind(p, array);
    stage_nest_put(p, fill, &place, stage_nest_region(p, &fill->u.stage));
    sched_result(c, VALUE_stage, fill);
    return true;
}
