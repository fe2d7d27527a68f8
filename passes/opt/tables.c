// tables: computes small arrays that depend on nothing but their indices at
// compile time, into constant memory.
//
//   alloc W: f32[9] in global
//   for k in 0..9 @thread.x {
//     stage W(v in 9 = k) { W[v] = 1.0 / f32(1 + v * v) }
//   }
//   ... W[k] ...
//     =>
//   alloc W: f32[9] in constant = [1.0, 0.5, 0.2 ...]
//   ... W[k] ...
//
// The nest that computes the array is evaluated and dropped, if
//  1. the array stands on top of the kernel, has a constant shape and at most
//     16384 bytes, 65536 together with all other tables;
//  2. the nest writes nothing else and every element, nobody else writes the
//     array, and the nest uses no size, no parameter, no other array but
//     tables, and no function whose last bit depends on the library;
//  3. at every access outside of the nest all threads of a block, and all
//     lanes of a vector, read the same element: constant memory serves one
//     address at a time.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/eval.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/analysis/divergence.h"
#include "passes/pass.h"

#include <math.h>
#include <string.h>

enum {
    TABLE_MOST = 16384,   // bytes of a table
    MEMORY_MOST = 65536,  // of all
    STEPS_MOST = 1 << 20, // statements to be evaluated
};

// An array that may become a table.
struct table {
    struct pass *p;
    struct ir_buffer *array;
    size_t n;               // elements
    struct ir_block *block; // holds the nest that computes it
    size_t at;
};

// Return whether a statement may be in a nest that is evaluated and computes an
// array.
static bool is_evaluable(const struct ir_stmt *s, const struct ir_buffer *array)
{
    return s->kind == STMT_for || s->kind == STMT_let || s->kind == STMT_var ||
           s->kind == STMT_stage || s->kind == STMT_assign ||
           s->kind == STMT_if ||
           (s->kind == STMT_store && s->u.store.buffer == array);
}

// Note the variables that a statement declares.
static void declare(struct map *declared, struct ir_stmt *s)
{
    if (s->kind == STMT_for)
        map_set(declared, s->u.loop.var, s);
    if (s->kind == STMT_let || s->kind == STMT_var)
        map_set(declared, s->u.let.var, s);
    for (size_t i = 0; s->kind == STMT_stage && i < s->u.stage.iters.n; i++)
        map_set(declared, s->u.stage.iters.at[i].var, s);
}

// Return whether an expression itself is made of what a nest declares, and of
// elements of the array and of tables.
static bool is_known(const struct ir_expr *x, const struct map *declared,
                     const struct ir_buffer *array)
{
    if (x->op == OP_var)
        return map_has(declared, x->u.var);
    if (x->op == OP_load)
        return x->u.buffer == array || (x->u.buffer->space == SPACE_constant &&
                                        x->u.buffer->role == ROLE_alloc);
    return ir_is_reproducible(x);
}

// Return whether a statement computes elements of the array from nothing.
static bool is_closed(const struct table *t, struct ir_stmt *nest)
{
    struct map declared = {.arena = t->p->scratch};
    ir_foreach_stmt_from(s, nest) {
        if (!is_evaluable(s, t->array))
            return false;
        declare(&declared, s);
    }
    ir_foreach_expr_from(x, nest)
        if (!is_known(x, &declared, t->array))
            return false;
    return true;
}

// Find the nest: the outermost closed statement that writes the array; false
// if something beside it does.
static bool find_nest(struct table *t, struct ir_block *block)
{
    size_t found = 0;
    struct ir_block *inside[IR_BLOCKS_MOST];
    struct ir_stmt *nest = NULL;
    for (size_t i = 0; i < block->n; i++) {
        if (!ir_stmt_writes(block->at[i], t->array))
            continue;
        nest = block->at[i];
        t->block = block;
        t->at = i;
        found++;
    }
    if (found != 1 || (is_closed(t, nest) && block->n > 1))
        return found == 1;
    uint32_t n = nest->kind == STMT_stage ? 0 : ir_stmt_blocks(nest, inside);
    return n == 1 && find_nest(t, inside[0]);
}

// Return whether a read is of an element that lanes agree on.
static bool is_same(const struct divergence *known, const struct ir_expr *x)
{
    axis_set axes = 0;
    for (uint32_t i = 0; i < x->n; i++)
        axes |= divergence_of(known, x->args[i]);
    return x->op == OP_load && !axes;
}

// Return whether the array is read, by all lanes at the same index, once the
// nest is gone.
static bool is_uniform(struct pass *p, const struct ir_buffer *array)
{
    bool is_read = false;
    axis_set lanes = 1u << AXIS_vector;
    for (int i = 0; i < AXIS_COUNT; i++)
        if (axis_kind((enum axis)i) == AXIS_THREAD)
            lanes |= 1u << i;
    struct divergence known = divergence_start(p->scratch, lanes);
    divergence_find(&known, &p->kernel->body);
    ir_foreach_expr_in(x, &p->kernel->body) {
        if (!(ir_op_info(x->op)->flags & OP_READS) || x->u.buffer != array)
            continue;
        if (!is_same(&known, x))
            return false;
        is_read = true;
    }
    return is_read;
}

// Evaluate the nest alone into `data`; false after a fault.
static bool evaluate(const struct table *t, void *data, size_t bytes)
{
    struct arena *a = t->p->scratch;
    struct ir_kernel *k = arena_new(a, struct ir_kernel);
    struct ir_buffer *out = arena_new(a, struct ir_buffer);
    struct map buffers = {.arena = a};
    struct ir_param param = {.buffer = out};
    struct ir_block body = {0};
    *k = (struct ir_kernel){.name = t->p->kernel->name, .variant = ""};
    k->level = t->p->kernel->level;
    *out = *t->array;
    out->role = ROLE_output;
    out->space = SPACE_global;
    map_set(&buffers, t->array, out);
    vec_push(a, &k->params, param);
    vec_foreach_value(s, &t->p->kernel->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_constant)
            ir_append(a, &body, s);
    ir_append(a, &body, t->block->at[t->at]);
    k->body = ir_copy_block(a, &body, NULL, &buffers);
    struct eval_argument argument = {.data = data, .size = bytes};
    return ir_eval(a, k, &argument, STEPS_MOST).status == EVAL_DONE;
}

// Return the elements as constants; NULL if the nest does not give each a
// number.
static struct ir_expr **values(const struct table *t)
{
    struct arena *a = t->p->arena;
    struct type type = t->array->elem;
    size_t size = type_bytes(type), bytes = t->n * size;
    char *data = arena_array(t->p->scratch, char, bytes);
    char *again = arena_array(t->p->scratch, char, bytes);
    struct ir_expr **all = arena_array(a, struct ir_expr *, t->n);
    memset(data, 0, bytes);
    memset(again, 0xff, bytes);
    if (!evaluate(t, data, bytes) || !evaluate(t, again, bytes) ||
        memcmp(data, again, bytes) != 0)
        return NULL;
    for (size_t i = 0; i < t->n; i++) {
        const char *at = data + i * size;
        double x = type_is_float(type) ? eval_load_float(type, at) : 0;
        if (!isfinite(x))
            return NULL;
        all[i] = type_is_float(type)
                     ? ir_const_float(a, type, x)
                     : ir_const_int(a, type, eval_load_int(type, at));
    }
    return all;
}

// Return the bytes of an array; more than a table has if that is not known.
static size_t bytes_of(struct arena *a, const struct ir_buffer *b)
{
    int64_t n;
    if (!ir_int_value(ir_buffer_elements(a, b), &n) || n < 1 || n > TABLE_MOST)
        return TABLE_MOST + 1;
    return (size_t)n * type_bytes(b->elem);
}

// Return whether an array has the shape and the elements of a table.
static bool can_be_table(struct arena *a, const struct ir_buffer *b)
{
    bool is_number = (type_is_float(b->elem) && !type_is_storage(b->elem)) ||
                     (type_is_integer(b->elem) && !type_is_index(b->elem));
    return b->space != SPACE_constant && is_number && !b->strides &&
           !b->is_double && !b->of_cluster && bytes_of(a, b) <= TABLE_MOST;
}

// Make a table of an array; false if it has to stay.
static bool make_table(struct pass *p, struct ir_buffer *array)
{
    struct table t = {.p = p, .array = array};
    t.n = bytes_of(p->scratch, array) / type_bytes(array->elem);
    if (!find_nest(&t, &p->kernel->body))
        return false;
    struct ir_stmt *nest = t.block->at[t.at];
    struct ir_block none = {0};
    struct ir_expr **all = is_closed(&t, nest) ? values(&t) : NULL;
    if (!all)
        return false;
    ir_splice(p->arena, t.block, t.at, &none);
    if (!is_uniform(p, array)) {
        ir_insert(p->arena, t.block, t.at, nest);
        return false;
    }
    array->space = SPACE_constant;
    array->values = all;
    array->n_values = (uint32_t)t.n;
    array->pitches = NULL;
    array->swizzle = (struct ir_swizzle){0};
    return true;
}

enum pass_result pass_tables(struct pass *p)
{
    size_t used = 0;
    enum pass_result result = PASS_SAME;
    struct VEC(struct ir_buffer *) arrays = {0};
    vec_foreach_value(s, &p->kernel->body) {
        if (s->kind != STMT_alloc)
            continue;
        if (s->u.buffer->space == SPACE_constant)
            used += s->u.buffer->n_values * type_bytes(s->u.buffer->elem);
        else if (can_be_table(p->scratch, s->u.buffer))
            vec_push(p->scratch, &arrays, s->u.buffer);
    }
    for (size_t i = 0; i < arrays.n; i++) {
        size_t bytes = bytes_of(p->scratch, arrays.at[i]);
        if (used + bytes > MEMORY_MOST || !make_table(p, arrays.at[i]))
            continue;
        used += bytes;
        result = PASS_CHANGED;
    }
    return result;
}
