// The loop nest as boxes in boxes: of each loop its axis, its extent, the line of the
// kernel and the directive that made it.

#include "tools/report/report.h"

static json_t *block_json(struct report *r, const struct ir_block *block);

// Return a statement of a kind, with its places.
static json_t *start(struct report *r, const struct ir_stmt *s)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_text(stmt_name(s->kind)));
    json_object_set_new(object, "at", report_place(r, s->span));
    json_object_set_new(object, "by", report_place(r, s->by));
    return object;
}

// Set the marks of a loop or a stage.
static void set_marks(json_t *object, const struct ir_attrs *attrs)
{
    json_t *list = json_array();
    vec_foreach(one, attrs) {
        json_t *mark = one->word ? json_sprintf("%s %s", one->name, one->word)
                                 : json_sprintf("%s %lld", one->name,
                                                (long long)one->value);
        json_array_append_new(list, mark ? mark : json_text(one->name));
    }
    json_object_set_new(object, "marks", list);
}

// Return how an axis is run: the class of its box.
static const char *class_of(enum axis axis)
{
    switch (axis_kind(axis)) {
    case AXIS_SERIAL: return "serial";
    case AXIS_UNROLL: return "unroll";
    case AXIS_VECTOR: return "vector";
    case AXIS_VTHREAD: return "vthread";
    case AXIS_BLOCK: return "block";
    case AXIS_THREAD: return "thread";
    }
    return "serial";
}

// Set the bounds of a loop, and its extent, null where sizes do not decide it.
static void set_range(struct report *r, json_t *object,
                      const struct ir_for *loop)
{
    int64_t from, to, step;
    bool is_known = report_value(r, loop->from, &from) &&
                    report_value(r, loop->to, &to) &&
                    report_value(r, loop->step, &step) && step > 0;
    json_object_set_new(object, "from", report_expr(loop->from));
    json_object_set_new(object, "to", report_expr(loop->to));
    json_object_set_new(object, "step", report_expr(loop->step));
    if (is_known)
        json_object_set_new(
            object, "extent",
            json_integer(to > from ? (to - from - 1) / step + 1 : 0));
}

// Fill a loop.
static void set_loop(struct report *r, json_t *object,
                     const struct ir_for *loop)
{
    json_object_set_new(object, "name", json_text(loop->var->name));
    json_object_set_new(object, "axis", json_text(axis_name(loop->axis)));
    json_object_set_new(object, "class", json_text(class_of(loop->axis)));
    set_range(r, object, loop);
    set_marks(object, &loop->attrs);
    json_object_set_new(object, "rings",
                        json_integer((json_int_t)loop->rings.n));
    json_object_set_new(object, "body", block_json(r, &loop->body));
}

// Fill a stage.
static void set_stage(struct report *r, json_t *object,
                      const struct ir_stage *stage)
{
    json_t *iters = json_array();
    vec_foreach(one, &stage->iters)
        json_array_append_new(iters,
                              json_pack("{s:o, s:o, s:b}", "name",
                                        json_text(one->var->name), "binding",
                                        report_expr(one->binding), "reduce",
                                        one->is_reduce));
    json_object_set_new(object, "name", json_text(stage->name));
    json_object_set_new(object, "iters", iters);
    set_marks(object, &stage->attrs);
    if (stage->predicate)
        json_object_set_new(object, "where", report_expr(stage->predicate));
    json_object_set_new(object, "body", block_json(r, &stage->body));
}

// Set the declaration of an array.
static void set_array(json_t *object, const struct ir_buffer *b)
{
    json_t *shape = json_array();
    for (uint32_t i = 0; i < b->rank; i++)
        json_array_append_new(shape, report_expr(b->shape[i]));
    json_object_set_new(object, "name", json_text(b->name));
    json_object_set_new(object, "type", json_text(type_name(b->elem)));
    json_object_set_new(object, "space", json_text(space_name(b->space)));
    json_object_set_new(object, "shape", shape);
    json_object_set_new(object, "double", json_boolean(b->is_double));
}

// Set what a store does.
static void set_store(json_t *object, const struct ir_stmt *s)
{
    json_t *index = json_array();
    for (uint32_t i = 0; i < s->u.store.n; i++)
        json_array_append_new(index, report_expr(s->u.store.index[i]));
    json_object_set_new(object, "name", json_text(s->u.store.buffer->name));
    json_object_set_new(object, "index", index);
    json_object_set_new(object, "value", report_expr(s->u.store.value));
}

// Return a statement.
static json_t *stmt_json(struct report *r, const struct ir_stmt *s)
{
    json_t *object = start(r, s);
    switch ((int)s->kind) {
    case STMT_for: set_loop(r, object, &s->u.loop); break;
    case STMT_stage: set_stage(r, object, &s->u.stage); break;
    case STMT_alloc: set_array(object, s->u.buffer); break;
    case STMT_store: set_store(object, s); break;
    case STMT_if:
        json_object_set_new(object, "where", report_expr(s->u.branch.cond));
        json_object_set_new(object, "body", block_json(r, &s->u.branch.then));
        json_object_set_new(object, "else",
                            block_json(r, &s->u.branch.otherwise));
        break;
    case STMT_let:
    case STMT_var:
    case STMT_assign:
        json_object_set_new(object, "name", json_text(s->u.let.var->name));
        json_object_set_new(object, "value", report_expr(s->u.let.value));
        break;
    case STMT_eval:
        json_object_set_new(object, "value", report_expr(s->u.value));
        break;
    case STMT_launch:
        json_object_set_new(object, "name", json_text(s->u.launch.name));
        json_object_set_new(object, "body", block_json(r, &s->u.launch.body));
        break;
    }
    return object;
}

// Return the statements of a block.
static json_t *block_json(struct report *r, const struct ir_block *block)
{
    json_t *list = json_array();
    vec_foreach_value(s, block)
        json_array_append_new(list, stmt_json(r, s));
    return list;
}

json_t *report_nest(struct report *r)
{
    return block_json(r, &r->taken->variant->scheduled->body);
}
