// Look-ups and lists: functions of schedules that change nothing.

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/stage.h"
#include "ir/type.h"
#include "ir/walk.h"
#include "passes/schedule/common/operands.h"
#include "passes/schedule/interpret/interpret.h"

enum { RANGE_MOST = 100000 };

// Append a loop or a stage to a list.
static void add(struct interp *in, struct sched_value *list,
                enum sched_value_kind kind, struct ir_stmt *stmt)
{
    struct sched_value v = {.kind = kind, .span = list->span, .stmt = stmt};
    vec_push(in->pass->scratch, &list->list, v);
}

// Return the list of loops around a stage.
static bool look_loops(struct interp *in, const struct sched_values *args,
                       struct sched_value *out)
{
    interp_loops(in, &args->at[0], out);
    return true;
}

// Return the list of the loops around a stage over which it reduces.
static bool look_reductions(struct interp *in, const struct sched_values *args,
                            struct sched_value *out)
{
    struct ir_stmt *stage = args->at[0].stmt;
    struct ir_block loops = sched_loops(in->pass, stage);
    out->kind = VALUE_list;
    for (size_t i = 0; i < loops.n && stage->kind == STMT_stage; i++)
        if (ir_stage_role(&stage->u.stage, loops.at[i]->u.loop.var) &
            STAGE_REDUCES)
            add(in, out, VALUE_loop, loops.at[i]);
    return true;
}

bool interp_loops_of(struct interp *in, const struct sched_value *v,
                     const char *name, struct sched_values *out)
{
    *out = v->list;
    if (v->kind != VALUE_list) {
        *out = (struct sched_values){0};
        vec_push(in->pass->scratch, out, *v);
    }
    vec_foreach(loop, out) {
        if (loop->kind != VALUE_loop)
            return diag_error(in->pass->diags, v->span,
                              D_schedule_argument_kind, 1LL, name, "loops",
                              interp_kind(loop->kind));
        if (!interp_check_alive(in, loop, v->span))
            return false;
    }
    return true;
}

// Return whether the number of iterations of loops together is a constant.
static bool count(struct interp *in, const struct sched_values *loops,
                  int64_t *out)
{
    int64_t one;
    *out = 1;
    vec_foreach(v, loops)
        if (!ir_int_value(ir_for_extent(in->pass->scratch, &v->stmt->u.loop),
                          &one) ||
            !num_mul(*out, one, out))
            return false;
    return true;
}

// Set `out` to how many iterations loops have together: the second argument, if
// there is one, where that is not a constant.
static bool look_extent(struct interp *in, const struct sched_values *args,
                        struct sched_value *out)
{
    struct sched_values loops;
    if (!interp_loops_of(in, &args->at[0], "extent", &loops))
        return false;
    out->kind = VALUE_int;
    if (count(in, &loops, &out->number))
        return true;
    if (args->n == 2) {
        out->number = args->at[1].number;
        return true;
    }
    vec_foreach(loop, &loops)
        if (!interp_extent(in, loop, &out->number))
            return false;
    return diag_error(in->pass->diags, out->span, D_schedule_arithmetic,
                      "the loops have too many iterations together");
}

bool interp_extent(struct interp *in, const struct sched_value *v, int64_t *out)
{
    struct ir_stmt *loop = v->stmt;
    if (ir_int_value(ir_for_extent(in->pass->scratch, &loop->u.loop), out))
        return true;
    diag_error(in->pass->diags, v->span, D_schedule_open_extent,
               sched_name_of(loop));
    return diag_note(in->pass->diags, loop->span, "it is this loop");
}

// Set `out` to a number if it is a constant, else to a size.
static bool give_size(struct ir_expr *x, struct sched_value *out)
{
    bool is_known = ir_int_value(x, &out->number);
    out->kind = is_known ? VALUE_int : VALUE_expr;
    out->expr = x;
    return true;
}

// Set `out` to the product of the numbers of iterations of loops.
static bool look_size(struct interp *in, const struct sched_values *args,
                      struct sched_value *out)
{
    struct sched_values loops;
    struct arena *a = in->pass->arena;
    struct ir_expr *all = ir_int(a, 1);
    if (!interp_loops_of(in, &args->at[0], "size", &loops))
        return false;
    vec_foreach(loop, &loops)
        all = ir_binary(a, OP_mul, all, ir_for_extent(a, &loop->stmt->u.loop));
    return give_size(all, out);
}

// Return whether a stage or a store writes what a statement reads.
static bool feeds(struct ir_stmt *s, struct ir_stmt *reader)
{
    const struct ir_buffer *written = sched_stored(s);
    return written && ir_stmt_reads(reader, written);
}

// Return whether a statement counts as a stage: a store outside of stages does,
// too. Loops skip what is in them.
static bool is_stage(const struct ir_stmt *s)
{
    return s->kind == STMT_stage || s->kind == STMT_store;
}

// List the neighbours of a stage: those before it (`writers`) or behind it.
static void list_neighbours(struct interp *in, struct ir_stmt *stage,
                            bool writers, struct sched_value *out)
{
    out->kind = VALUE_list;
    ir_foreach_stmt(s, &in->pass->kernel->body) {
        if (!is_stage(s))
            continue;
        ir_skip(s);
        if (s != stage && (writers ? feeds(s, stage) : feeds(stage, s)))
            add(in, out, VALUE_stage, s);
    }
}

// Set `out` to the stages that write what a stage reads.
static bool look_producers(struct interp *in, const struct sched_values *args,
                           struct sched_value *out)
{
    list_neighbours(in, args->at[0].stmt, true, out);
    return true;
}

// Set `out` to the stages that read what a stage writes.
static bool look_consumers(struct interp *in, const struct sched_values *args,
                           struct sched_value *out)
{
    list_neighbours(in, args->at[0].stmt, false, out);
    return true;
}

// Add the loops and stages directly inside a block; branches count as nothing.
static void add_children(struct interp *in, struct ir_block *block,
                         struct sched_value *out)
{
    vec_foreach_value(s, block) {
        if (s->kind == STMT_for)
            add(in, out, VALUE_loop, s);
        else if (s->kind == STMT_stage || s->kind == STMT_store)
            add(in, out, VALUE_stage, s);
        else {
            ir_foreach_block(inner, s)
                add_children(in, inner, out);
        }
    }
}

// Set `out` to the loops and stages directly inside a loop.
static bool look_children(struct interp *in, const struct sched_values *args,
                          struct sched_value *out)
{
    out->kind = VALUE_list;
    add_children(in, &args->at[0].stmt->u.loop.body, out);
    return true;
}

// List the stages, or only those whose array is a result.
static void list_stages(struct interp *in, bool results,
                        struct sched_value *out)
{
    out->kind = VALUE_list;
    ir_foreach_stmt(s, &in->pass->kernel->body) {
        if (!is_stage(s))
            continue;
        ir_skip(s);
        const struct ir_buffer *b = sched_stored(s);
        if (!results || (b && b->role != ROLE_alloc))
            add(in, out, VALUE_stage, s);
    }
}

// Set `out` to the stages that write a result of the kernel.
static bool look_outputs(struct interp *in, const struct sched_values *args,
                         struct sched_value *out)
{
    (void)args;
    list_stages(in, true, out);
    return true;
}

// Set `out` to all stages of the kernel.
static bool look_stages(struct interp *in, const struct sched_values *args,
                        struct sched_value *out)
{
    (void)args;
    list_stages(in, false, out);
    return true;
}

// ---- Arrays ---------------------------------------------------------------

// Set `out` to the arrays that a stage reads, but for the one that it writes: of
// two, that with the rows of a product first. An array whose rows are combined with each
// other is there twice, once as each operand.
static bool look_inputs(struct interp *in, const struct sched_values *args,
                        struct sched_value *out)
{
    struct ir_stmt *stage = args->at[0].stmt;
    struct ir_block one = {.at = &stage, .n = 1};
    out->kind = VALUE_list;
    ir_foreach_expr_in(x, &one) {
        struct sched_value v = {.kind = VALUE_array, .span = out->span};
        bool known = x->op != OP_load || x->u.buffer == sched_stored(stage);
        vec_foreach(other, &out->list)
            known |= other->buffer == x->u.buffer;
        v.buffer = known ? NULL : x->u.buffer;
        if (!known)
            vec_push(in->pass->scratch, &out->list, v);
    }
    if (out->list.n == 1 && operands_are_alike(stage)) {
        vec_push(in->pass->scratch, &out->list, out->list.at[0]);
        for (int i = 0; i < 2; i++)
            out->list.at[i].operand = i + 1;
    }
    struct sched_value *two = out->list.at;
    if (out->list.n == 2 && interp_is_swapped(in, stage, &two[0], &two[1])) {
        struct sched_value first = two[0];
        two[0] = two[1];
        two[1] = first;
    }
    return true;
}

// Set `out` to the arrays that a stage writes.
static bool look_written(struct interp *in, const struct sched_values *args,
                         struct sched_value *out)
{
    out->kind = VALUE_list;
    ir_foreach_stmt_from(s, args->at[0].stmt) {
        struct sched_value v = {.kind = VALUE_array, .span = out->span};
        v.buffer = s->kind == STMT_store ? s->u.store.buffer : NULL;
        bool known = !v.buffer;
        vec_foreach(other, &out->list)
            known |= other->buffer == v.buffer;
        if (!known)
            vec_push(in->pass->scratch, &out->list, v);
    }
    return true;
}

// Return the array that a value is, or that a stage writes.
static const struct ir_buffer *array_of(const struct sched_value *v)
{
    return v->kind == VALUE_array ? v->buffer : sched_stored(v->stmt);
}

// Set `out` to the size of an array's elements.
static bool look_bytes(struct interp *in, const struct sched_values *args,
                       struct sched_value *out)
{
    const struct ir_buffer *b = array_of(&args->at[0]);
    (void)in;
    out->kind = VALUE_int;
    out->number = (int64_t)type_bytes(b->elem);
    return true;
}

// Set `out` to whether an array is a parameter or a result of the kernel.
static bool look_is_parameter(struct interp *in,
                              const struct sched_values *args,
                              struct sched_value *out)
{
    (void)in;
    out->kind = VALUE_int;
    out->number = array_of(&args->at[0])->role != ROLE_alloc;
    return true;
}

// Set `out` to the type of an array's elements.
static bool look_type(struct interp *in, const struct sched_values *args,
                      struct sched_value *out)
{
    out->kind = VALUE_key;
    out->key =
        str_name(in->pass->names,
                 ir_type_text(in->pass->scratch, array_of(&args->at[0])->elem));
    return true;
}

// Set `out` to the elements from one row of an array to the next.
static bool look_pitch(struct interp *in, const struct sched_values *args,
                       struct sched_value *out)
{
    const struct ir_buffer *b = array_of(&args->at[0]);
    struct ir_expr *pitch = b->rank > 1 ? interp_pitch(b, b->rank - 2) : NULL;
    return give_size(pitch ? pitch : ir_int(in->pass->arena, 0), out);
}

// Set `out` to how many elements an array has.
static bool look_elements(struct interp *in, const struct sched_values *args,
                          struct sched_value *out)
{
    const struct ir_buffer *b = array_of(&args->at[0]);
    struct ir_expr *all = ir_int(in->pass->arena, 1);
    for (uint32_t d = 0; d < b->rank; d++)
        all = ir_binary(in->pass->arena, OP_mul, all, b->shape[d]);
    return give_size(all, out);
}

// Return whether an index of a stage changes with a loop.
static bool follows(struct interp *in, const struct ir_stmt *stage,
                    struct ir_expr *index, const struct ir_var *var)
{
    struct ir_expr *x =
        stage->kind == STMT_stage
            ? ir_stage_over_loops(in->pass->scratch, &stage->u.stage, index)
            : index;
    return ir_mentions(x, var);
}

bool interp_varies(struct interp *in, struct ir_stmt *stage,
                   const struct sched_value *array, const struct ir_var *var)
{
    const struct ir_buffer *b = array_of(array);
    struct ir_block one = {.at = &stage, .n = 1};
    bool varies = false;
    ir_foreach_expr_in(x, &one) {
        bool is_meant = x->op == OP_load && x->u.buffer == b &&
                        operands_mean(stage, array->operand, x);
        for (uint32_t i = 0; is_meant && i < x->n; i++)
            varies |= follows(in, stage, x->args[i], var);
    }
    return varies;
}

// Set `out` to whether a stage reads other elements of an array in other
// iterations of a loop.
static bool look_varies(struct interp *in, const struct sched_values *args,
                        struct sched_value *out)
{
    out->kind = VALUE_int;
    out->number = interp_varies(in, args->at[0].stmt, &args->at[1],
                                args->at[2].stmt->u.loop.var);
    return true;
}

// Return the last index of the first read of an array in a stage, or NULL.
static struct ir_expr *last_index(struct ir_stmt *stage,
                                  const struct ir_buffer *b, int operand)
{
    struct ir_block one = {.at = &stage, .n = 1};
    ir_foreach_expr_in(x, &one)
        if (x->op == OP_load && x->u.buffer == b && x->n &&
            operands_mean(stage, operand, x))
            return x->args[x->n - 1];
    return NULL;
}

// Set `out` to the innermost loop that the last index of an array varies with.
static bool look_innermost(struct interp *in, const struct sched_values *args,
                           struct sched_value *out)
{
    struct ir_stmt *stage = args->at[0].stmt, *found = NULL;
    const struct sched_value *v = &args->at[1];
    const struct ir_buffer *b = array_of(v);
    struct ir_expr *x = last_index(stage, b, v->operand);
    struct ir_block loops = sched_loops(in->pass, stage);
    if (x && stage->kind == STMT_stage)
        x = ir_stage_over_loops(in->pass->scratch, &stage->u.stage, x);
    for (size_t i = 0; x && i < loops.n; i++)
        if (ir_mentions(x, loops.at[i]->u.loop.var))
            found = loops.at[i];
    if (!found)
        return diag_error(in->pass->diags, v->span, D_schedule_not_read,
                          sched_name_of(stage), b->name);
    out->kind = VALUE_loop;
    out->stmt = found;
    return true;
}

// ---- Lists ----------------------------------------------------------------

// Set `out` to 0 .. n - 1, or to a .. b - 1.
static bool list_range(struct interp *in, const struct sched_values *args,
                       struct sched_value *out)
{
    int64_t from = args->n > 1 ? args->at[0].number : 0;
    int64_t to = args->at[args->n - 1].number;
    out->kind = VALUE_list;
    if (to > from && (uint64_t)to - (uint64_t)from > RANGE_MOST)
        return diag_error(in->pass->diags, out->span, D_schedule_arithmetic,
                          "the list would be too long");
    for (int64_t i = from; i < to; i++) {
        struct sched_value v = {
            .kind = VALUE_int, .span = out->span, .number = i};
        vec_push(in->pass->scratch, &out->list, v);
    }
    return true;
}

// Set `out` to the elements of a list, the last one first.
static bool list_reversed(struct interp *in, const struct sched_values *args,
                          struct sched_value *out)
{
    const struct sched_values *list = &args->at[0].list;
    out->kind = VALUE_list;
    for (size_t i = list->n; i-- > 0;)
        vec_push(in->pass->scratch, &out->list, list->at[i]);
    return true;
}

static const struct interp_function functions[] = {
#define FUNCTION(name, arguments, run, form, returns) {#name, arguments, run},
#include "passes/schedule/interpret/functions.def"
#undef FUNCTION
};

const struct interp_function *interp_functions(size_t *n)
{
    *n = sizeof functions / sizeof *functions;
    return functions;
}
