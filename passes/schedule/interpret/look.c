// Look-ups and lists: functions of schedules that change nothing.

#include "ir/accesses.h"
#include "ir/build.h"
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

// Set `out` to the number of a loop's iterations: the second argument, if there
// is one, where that is not a constant.
static bool look_extent(struct interp *in, const struct sched_values *args,
                        struct sched_value *out)
{
    const struct ir_for *loop = &args->at[0].stmt->u.loop;
    out->kind = VALUE_int;
    if (args->n == 2 &&
        !ir_int_value(ir_for_extent(in->pass->scratch, loop), &out->number)) {
        out->number = args->at[1].number;
        return true;
    }
    return interp_extent(in, &args->at[0], &out->number);
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
