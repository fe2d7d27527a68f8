// Calls as text.

#include "ir/text.h"
#include "tests/support/calls.h"

// Return the first stage below a loop, or else the first store; NULL if there
// is neither.
static struct ir_stmt *first_below(struct ir_stmt *loop, enum ir_stmt_kind kind)
{
    if (loop->kind == kind)
        return loop;
    ir_foreach_block(inner, loop) {
        for (size_t i = 0; i < inner->n; i++) {
            struct ir_stmt *found = first_below(inner->at[i], kind);
            if (found)
                return found;
        }
    }
    return NULL;
}

// Append a loop as text: its name behind that of what is inside.
static void print_loop(struct ir_stmt *loop, struct buf *out)
{
    struct ir_stmt *inside = first_below(loop, STMT_stage);
    if (!inside)
        inside = first_below(loop, STMT_store);
    if (inside)
        buf_printf(out, "%s.", sched_name_of(inside));
    buf_text(out, sched_name_of(loop));
}

// Append an index map as text.
static void print_map(const struct sched_map *map, struct buf *out)
{
    for (uint32_t i = 0; i < map->n; i++)
        buf_printf(out, "%s%s", i ? ", " : "(", map->vars[i]->name);
    for (uint32_t i = 0; i < map->m; i++) {
        buf_text(out, i ? ", " : ") -> (");
        ir_print_expr(out, map->to[i]);
    }
    buf_text(out, ")");
}

// Append an argument as text.
static void print_argument(const struct sched_value *v, const struct map *names,
                           struct buf *out)
{
    const char *name = names && v->stmt ? map_get(names, v->stmt) : NULL;
    if (name) {
        buf_text(out, name);
        return;
    }
    switch (v->kind) {
    case VALUE_int: buf_printf(out, "%lld", (long long)v->number); break;
    case VALUE_loop: print_loop(v->stmt, out); break;
    case VALUE_stage: buf_text(out, sched_name_of(v->stmt)); break;
    case VALUE_array: buf_text(out, v->buffer->name); break;
    case VALUE_space: buf_text(out, space_name(v->space)); break;
    case VALUE_axis: buf_text(out, axis_name(v->axis)); break;
    case VALUE_key: buf_text(out, v->key); break;
    case VALUE_map: print_map(v->map, out); break;
    default: buf_text(out, "_"); break;
    }
}

void call_print(const struct sched_call *c, const struct map *names,
                struct buf *out)
{
    buf_printf(out, "%s(", sched_prim_info(c->prim)->name);
    for (size_t i = 0; i < c->args.n; i++) {
        buf_text(out, i ? ", " : "");
        print_argument(&c->args.at[i], names, out);
    }
    buf_text(out, ")");
}
