// Calls of primitives, and the table of them.

#include "passes/schedule/prim.h"
#include "passes/schedule/record.h"

static const struct sched_prim_info infos[] = {
#define PRIM(name, arguments, parameters, results, before, after)              \
    {#name, arguments, parameters, results, before, after},
#include "ir/prims.def"
#undef PRIM
};

static bool (*const functions[])(struct sched_call *c) = {
#define PRIM(name, arguments, parameters, results, before, after) sched_##name,
#include "ir/prims.def"
#undef PRIM
};

const struct sched_prim_info *sched_prim_info(enum sched_prim prim)
{
    return &infos[prim];
}

bool sched_run(struct sched_call *c)
{
    const char *text = sched_record_begin(c);
    bool ok = functions[c->prim](c);
    sched_record_end(c, text, ok);
    return ok;
}

struct sched_call sched_call_to(const struct sched_call *from,
                                enum sched_prim prim)
{
    return (struct sched_call){.pass = from->pass,
                               .prim = prim,
                               .span = from->span,
                               .is_independent = from->is_independent};
}

void sched_add_stmt(struct sched_call *c, struct ir_stmt *loop_or_stage)
{
    struct sched_value v = {.span = c->span, .stmt = loop_or_stage};
    v.kind = loop_or_stage->kind == STMT_for ? VALUE_loop : VALUE_stage;
    vec_push(c->pass->scratch, &c->args, v);
}

void sched_add_int(struct sched_call *c, int64_t number)
{
    struct sched_value v = {
        .kind = VALUE_int, .span = c->span, .number = number};
    vec_push(c->pass->scratch, &c->args, v);
}

void sched_add_any(struct sched_call *c)
{
    struct sched_value v = {.kind = VALUE_any, .span = c->span};
    vec_push(c->pass->scratch, &c->args, v);
}

struct ir_stmt *sched_arg(const struct sched_call *c, size_t i)
{
    return c->args.at[i].stmt;
}

struct ir_buffer *sched_arg_buffer(const struct sched_call *c, size_t i)
{
    const struct sched_value *v = &c->args.at[i];
    if (v->kind == VALUE_array)
        return v->buffer;
    struct ir_buffer *named =
        sched_find_buffer(c->pass, sched_name_of(v->stmt));
    struct ir_buffer *stored = sched_stored(v->stmt);
    bool is_left = named && named->role == ROLE_output && stored &&
                   stored->role == ROLE_alloc;
    return named && !is_left ? named : stored;
}

struct ir_stmt **sched_arg_stmts(const struct sched_call *c, size_t first,
                                 size_t *n)
{
    *n = c->args.n - first;
    struct ir_stmt **stmts =
        arena_array(c->pass->scratch, struct ir_stmt *, *n);
    for (size_t i = 0; i < *n; i++)
        stmts[i] = c->args.at[first + i].stmt;
    return stmts;
}

void sched_result(struct sched_call *c, enum sched_value_kind kind,
                  struct ir_stmt *stmt)
{
    struct sched_value v = {.kind = kind, .span = c->span, .stmt = stmt};
    vec_push(c->pass->scratch, &c->results, v);
}
