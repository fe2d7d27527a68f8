// Directives as text.

#include "passes/schedule/record.h"

#include "ir/stage.h"

#include <ctype.h>
#include <string.h>

// Return what a directive has called a loop or a stage, and note that it is
// used; NULL if none has made it.
static const char *recorded(struct sched_record *r, const struct ir_stmt *s)
{
    vec_foreach(one, &r->names)
        if (one->stmt == s) {
            one->is_used = true;
            return one->name;
        }
    return NULL;
}

// Return the first stage in a loop, or NULL.
static struct ir_stmt *stage_in(struct ir_stmt *loop)
{
    ir_foreach_stmt(s, &loop->u.loop.body)
        if (s->kind == STMT_stage || s->kind == STMT_store)
            return s;
    return NULL;
}

// Return how a schedule says a loop that the kernel had from the start:
// `Y.i`, or `Y.loops[1]` where several loops around Y have the name.
static const char *loop_text(const struct sched_call *c, struct ir_stmt *loop)
{
    struct ir_stmt *stage = stage_in(loop);
    struct arena *a = c->pass->arena;
    const char *name = sched_name_of(loop);
    if (!stage)
        return name;
    struct ir_block loops = sched_loops(c->pass, stage);
    size_t same = 0, at = 0;
    for (size_t i = 0; i < loops.n; i++) {
        same += strcmp(sched_name_of(loops.at[i]), name) == 0;
        at = loops.at[i] == loop ? i : at;
    }
    return same == 1
               ? arena_printf(a, "%s.%s", sched_name_of(stage), name)
               : arena_printf(a, "%s.loops[%zu]", sched_name_of(stage), at);
}

// Return the text of a place in the source.
static const char *written(struct arena *a, struct span span)
{
    return span.source ? arena_printf(a, "%.*s", (int)(span.to - span.from),
                                      span.source->text + span.from)
                       : "_";
}

// Return the text of an argument.
static const char *argument(const struct sched_call *c,
                            const struct sched_value *v)
{
    struct arena *a = c->pass->arena;
    const char *name = v->kind == VALUE_loop || v->kind == VALUE_stage
                           ? recorded(c->pass->record, v->stmt)
                           : NULL;
    if (name)
        return name;
    switch (v->kind) {
    case VALUE_loop: return loop_text(c, v->stmt);
    case VALUE_stage: return sched_name_of(v->stmt);
    case VALUE_int: return arena_printf(a, "%lld", (long long)v->number);
    case VALUE_array: return v->buffer->name;
    case VALUE_axis: return axis_name(v->axis);
    case VALUE_space: return space_name(v->space);
    case VALUE_key: return v->key;
    case VALUE_text: return arena_printf(a, "\"%s\"", v->key);
    case VALUE_form: return written(a, v->span);
    default: return "_";
    }
}

const char *sched_record_begin(const struct sched_call *c)
{
    struct sched_record *r = c->pass->record;
    if (!r || r->depth++)
        return NULL;
    const char *text = sched_prim_info(c->prim)->name;
    vec_foreach(v, &c->args)
        text = arena_printf(c->pass->arena, "%s%s%s", text,
                            v == c->args.at ? "(" : ", ", argument(c, v));
    const char *when = c->guard ? written(c->pass->arena, c->guard->span) : "";
    return arena_printf(c->pass->arena, "%s)%s%s", text,
                        c->guard ? " when " : "", when);
}

// Return whether a name is taken.
static bool is_taken(const struct sched_record *r, const char *name)
{
    vec_foreach(one, &r->names)
        if (strcmp(one->name, name) == 0)
            return true;
    return false;
}

// Return a name for a result: the one that it has, as a word, with a number
// behind it if that is taken.
static const char *name_for(const struct sched_call *c,
                            const struct ir_stmt *stmt)
{
    struct arena *a = c->pass->arena;
    const char *own = sched_name_of(stmt);
    char *word = arena_copy(a, own, strlen(own));
    for (char *at = word; *at; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    const char *name = word;
    for (int i = 2; is_taken(c->pass->record, name); i++)
        name = arena_printf(a, "%s_%d", word, i);
    return name;
}

void sched_record_end(const struct sched_call *c, const char *text, bool ok)
{
    struct sched_record *r = c->pass->record;
    if (!r || --r->depth || !ok || !text)
        return;
    struct sched_directive one = {text, r->names.n, c->results.n};
    vec_push(c->pass->arena, &r->directives, one);
    vec_foreach(v, &c->results) {
        struct sched_recorded result = {v->stmt, name_for(c, v->stmt), false};
        vec_push(c->pass->arena, &r->names, result);
    }
}

void sched_record_print(const struct sched_record *r, struct buf *out)
{
    vec_foreach(d, &r->directives) {
        bool is_used = false;
        for (size_t i = 0; i < d->n; i++)
            is_used |= r->names.at[d->first + i].is_used;
        buf_text(out, "    ");
        for (size_t i = 0; i < d->n && is_used; i++) {
            const struct sched_recorded *one = &r->names.at[d->first + i];
            buf_printf(out, "%s%s%s", i ? ", " : "",
                       one->is_used ? one->name : "_",
                       i + 1 == d->n ? " = " : "");
        }
        buf_printf(out, "%s\n", d->call);
    }
}
