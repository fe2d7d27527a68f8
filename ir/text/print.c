// Kernels and statements as text; ir/text/parse*.c read it back.

#include "ir/text/print.h"

#include "ir/build.h"
#include "ir/launch_attribute.h"
#include "ir/matrix.h"
#include "ir/text.h"
#include "ir/walk.h"

enum { STEP = 4 };

static void print_block(struct printer *p, const struct ir_block *block,
                        int indent);

// Append `pad(0, 1) align(0, 32, 1) swizzle(3, 2)` of an array.
static void print_layout(struct printer *p, const struct ir_buffer *b)
{
    for (uint32_t i = 0; b->pitches && i < b->rank; i++) {
        const struct ir_pitch *pitch = &b->pitches[i];
        if (pitch->pad)
            buf_printf(p->out, " pad(%u, %u)", i, pitch->pad);
        if (pitch->factor > 1)
            buf_printf(p->out, " align(%u, %u, %u)", i, pitch->factor,
                       pitch->offset);
    }
    if (b->swizzle.bits)
        buf_printf(p->out, " swizzle(%u, %u, %u)", b->swizzle.bits,
                   b->swizzle.base, b->swizzle.shift);
}

// Append `strides [..] align n inout` of an array, and its layout.
static void print_buffer_traits(struct printer *p, const struct ir_buffer *b)
{
    if (b->strides) {
        buf_text(p->out, " strides [");
        print_list(p, b->strides, b->rank, true);
        buf_char(p->out, ']');
    }
    print_layout(p, b);
    if (b->is_double)
        buf_text(p->out, " double");
    if (b->is_ordered)
        buf_text(p->out, " ordered");
    if (b->of_cluster)
        buf_text(p->out, " cluster");
    if (b->threads)
        buf_printf(p->out, " threads(%u)", b->threads);
    if (b->align)
        buf_printf(p->out, " align %u", b->align);
    if (b->role == ROLE_inout)
        buf_text(p->out, " inout");
}

// Append `{`, the statements and `}`.
static void print_body(struct printer *p, const struct ir_block *block,
                       int indent)
{
    buf_text(p->out, "{\n");
    print_block(p, block, indent + STEP);
    buf_indent(p->out, indent);
    buf_char(p->out, '}');
}

// Append annotations.
static void print_attrs(struct printer *p, const struct ir_attr *attrs,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        attrs[i].word
            ? buf_printf(p->out, " @%s(%s)", attrs[i].name, attrs[i].word)
            : buf_printf(p->out, " @%s(%lld)", attrs[i].name,
                         (long long)attrs[i].value);
}

// Append the line of a loop without its body.
static void print_for_head(struct printer *p, const struct ir_for *f)
{
    const char *name = print_name(p, f->var, f->var->name);
    struct type usual =
        type_scalar(p->level == LEVEL_flat ? TYPE_idx64 : TYPE_int);
    buf_printf(p->out, "for %s", name);
    if (!type_equal(f->var->type, usual))
        buf_printf(p->out, ": %s", type_name(f->var->type));
    buf_text(p->out, " in ");
    print_expr(p, f->from, 0, true);
    buf_text(p->out, "..");
    print_expr(p, f->to, 0, true);
    if (!ir_is_int_const(f->step, 1)) {
        buf_text(p->out, " step ");
        print_expr(p, f->step, 0, true);
    }
    if (f->axis != AXIS_serial)
        buf_printf(p->out, " @%s", axis_name(f->axis));
    print_attrs(p, f->attrs.at, f->attrs.n);
    for (size_t i = 0; i < f->rings.n; i++)
        print_ring(p, f->rings.at[i]);
}

// Append a loop.  Its variable is declared once the range is printed.
static void print_for(struct printer *p, const struct ir_for *f, int indent)
{
    size_t mark = p->scope.n;
    print_declare(p, f->var, f->var->name);
    print_for_head(p, f);
    buf_char(p->out, ' ');
    print_body(p, &f->body, indent);
    print_close(p, mark);
}

// Append an element of an array.
static void print_element(struct printer *p, const struct ir_buffer *b,
                          uint32_t n, struct ir_expr *const *index)
{
    buf_printf(p->out, "%s[", print_name(p, b, b->name));
    print_list(p, index, n, false);
    buf_char(p->out, ']');
}

// Append where a copy begins in global memory.
static void print_far(struct printer *p, const struct ir_copy *c)
{
    buf_printf(p->out, "%s[",
               c->map ? print_name(p, c->map, c->map->name)
                      : print_name(p, c->far.buffer, c->far.buffer->name));
    print_list(p, c->far.index, c->far.n, false);
    buf_char(p->out, ']');
}

// Append a copy.
static void print_copy(struct printer *p, const struct ir_copy *c)
{
    const struct ir_place *near = &c->near, *signal = &c->signal;
    buf_text(p->out, ir_copy_word(c));
    if (c->elements)
        buf_printf(p->out, "(%u)", c->elements);
    buf_char(p->out, ' ');
    if (c->is_load) {
        print_element(p, near->buffer, near->n, near->index);
        buf_text(p->out, " = ");
        print_far(p, c);
    } else {
        print_far(p, c);
        buf_text(p->out, " = ");
        print_element(p, near->buffer, near->n, near->index);
    }
    if (signal->buffer) {
        buf_text(p->out, " signals ");
        print_element(p, signal->buffer, signal->n, signal->index);
    }
    if (c->where) {
        buf_text(p->out, " if ");
        print_expr(p, c->where, 0, false);
    }
    if (c->multicast) {
        buf_text(p->out, " multicast(");
        print_expr(p, c->multicast, 0, true);
        buf_char(p->out, ')');
    }
    if (c->hint != HINT_usual)
        buf_printf(p->out, " %s", hint_name(c->hint));
}

// Append a branch; one that is all there is behind `else` stands on its line.
static void print_if(struct printer *p, const struct ir_stmt *s, int indent)
{
    const struct ir_block *otherwise = &s->u.branch.otherwise;
    buf_text(p->out, "if ");
    print_expr(p, s->u.branch.cond, 0, false);
    buf_char(p->out, ' ');
    print_body(p, &s->u.branch.then, indent);
    if (!otherwise->n)
        return;
    buf_text(p->out, " else ");
    if (otherwise->n == 1 && otherwise->at[0]->kind == STMT_if)
        print_if(p, otherwise->at[0], indent);
    else
        print_body(p, otherwise, indent);
}

// Append a declaration of a scalar.
static void print_let(struct printer *p, const struct ir_stmt *s)
{
    const struct ir_var *v = s->u.let.var;
    const struct ir_expr *x = s->u.let.value;
    struct buf *out = p->out;
    struct buf value = {0};
    bool is_typed = x->op == OP_const && x->type.lanes == 1;
    p->out = &value;
    print_expr(p, x, 0, is_typed);
    p->out = out;
    buf_printf(out, "%s %s", s->kind == STMT_var ? "var" : "let",
               print_declare(p, v, v->name));
    if (is_typed)
        buf_printf(out, ": %s", type_name(v->type));
    buf_printf(out, " = %s", value.data);
    buf_free(&value);
}

// Append a store.
static void print_store(struct printer *p, const struct ir_stmt *s)
{
    if (s->u.store.hint != HINT_usual)
        buf_printf(p->out, "%s ", hint_name(s->u.store.hint));
    print_element(p, s->u.store.buffer, s->u.store.n, s->u.store.index);
    buf_text(p->out, " = ");
    print_expr(p, s->u.store.value, 0, s->u.store.value->type.lanes == 1);
}

// Append an operand of an instruction on matrices: `b[i : 4, j] desc(128, 0, 1024)`.
static void print_tile(struct printer *p, const struct ir_tile *t)
{
    const struct ir_descriptor *d = &t->descriptor;
    const struct ir_buffer *b = t->at->u.buffer;
    buf_printf(p->out, " %s[", print_name(p, b, b->name));
    for (uint32_t i = 0; i < t->at->n; i++) {
        buf_text(p->out, i ? ", " : "");
        print_expr(p, t->at->args[i], 0, false);
        if (t->extent[i] > 1)
            buf_printf(p->out, " : %u", t->extent[i]);
    }
    buf_char(p->out, ']');
    if (d->stride)
        buf_printf(p->out, " desc(%u, %u, %u%s)", d->swizzle, d->leading,
                   d->stride, d->is_transposed ? ", transposed" : "");
}

// Append an instruction on matrices.
static void print_matrix(struct printer *p, const struct ir_stmt *s)
{
    buf_text(p->out, "matrix ");
    matrix_name(p->out, s->u.matrix.op);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        if (!s->u.matrix.tiles[i].at)
            continue;
        buf_text(p->out, i ? "," : "");
        print_tile(p, &s->u.matrix.tiles[i]);
    }
    if (!s->u.matrix.keep)
        return;
    buf_text(p->out, " keep ");
    print_expr(p, s->u.matrix.keep, 0, false);
}

// Append what threads wait for or order.
static void print_sync(struct printer *p, const struct ir_stmt *s)
{
    buf_text(p->out, sync_spelling(s->u.sync.kind));
    if (sync_has_number(s->u.sync.kind))
        buf_printf(p->out, "(%u)", s->u.sync.n);
}

// Append an allocation.
static void print_array(struct printer *p, const struct ir_buffer *b)
{
    buf_printf(p->out, "alloc %s", print_declare(p, b, b->name));
    print_shape(p, b);
    buf_printf(p->out, " in %s", space_name(b->space));
    print_buffer_traits(p, b);
    if (b->space != SPACE_constant)
        return;
    buf_text(p->out, " = [");
    print_list(p, b->values, b->n_values, true);
    buf_char(p->out, ']');
}

// Append the declaration of a tensor map on a line of its own.
static void print_map(struct printer *p, const struct ir_map *map, int indent)
{
    const struct ir_buffer *b = map->buffer;
    buf_char(p->out, '\n');
    buf_indent(p->out, indent);
    buf_printf(p->out, "map %s of %s box[", print_declare(p, map, map->name),
               print_name(p, b, b->name));
    for (uint32_t i = 0; i < b->rank; i++)
        buf_printf(p->out, "%s%u", i ? ", " : "", map->box[i]);
    buf_char(p->out, ']');
    if (map->swizzle)
        buf_printf(p->out, " swizzle(%u)", map->swizzle);
    if (map->rounds)
        buf_text(p->out, " tf32");
}

// Append an allocation, and its tensor maps on lines of their own.
static void print_alloc(struct printer *p, const struct ir_buffer *b,
                        int indent)
{
    print_array(p, b);
    for (size_t i = 0; p->kernel && i < p->kernel->maps.n; i++)
        if (p->kernel->maps.at[i]->buffer == b)
            print_map(p, p->kernel->maps.at[i], indent);
}

// Append the line of a stage without its body; its variables are declared.
static void print_stage_head(struct printer *p, const struct ir_stage *stage)
{
    buf_printf(p->out, "stage %s(", stage->name);
    for (size_t i = 0; i < stage->iters.n; i++) {
        const struct ir_iter *it = &stage->iters.at[i];
        buf_printf(p->out, "%s%s%s in ", i ? ", " : "",
                   it->is_reduce ? "reduce " : "",
                   print_declare(p, it->var, it->var->name));
        print_expr(p, it->extent, 0, false);
        buf_text(p->out, " = ");
        print_expr(p, it->binding, 0, false);
    }
    buf_char(p->out, ')');
    if (stage->predicate) {
        buf_text(p->out, " if ");
        print_expr(p, stage->predicate, 0, false);
    }
    print_attrs(p, stage->attrs.at, stage->attrs.n);
}

// Append a stage.
static void print_stage(struct printer *p, const struct ir_stage *stage,
                        int indent)
{
    size_t mark = p->scope.n;
    print_stage_head(p, stage);
    buf_text(p->out, " {\n");
    if (stage->has_init) {
        buf_indent(p->out, indent + STEP);
        buf_text(p->out, "init ");
        print_body(p, &stage->init, indent + STEP);
        buf_char(p->out, '\n');
    }
    print_block(p, &stage->body, indent + STEP);
    buf_indent(p->out, indent);
    buf_char(p->out, '}');
    print_close(p, mark);
}

// Append `launch_attribute a, b` between two texts, if there are any.
static void print_launch_attributes(struct printer *p, const char *before,
                                    uint32_t set, const char *behind)
{
    const char *word = "launch_attribute ";
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        enum launch_attribute attribute = (enum launch_attribute)i;
        if (!attribute_in(set, attribute))
            continue;
        buf_printf(p->out, "%s%s%s", before, word, attribute_name(attribute));
        before = "";
        word = ", ";
    }
    buf_text(p->out, set ? behind : "");
}

// Append `noalias(a, b)`, if there are any.
static void print_noalias(struct printer *p, const struct ir_launch *l)
{
    for (size_t i = 0; i < l->noalias.n; i++)
        buf_printf(p->out, "%s%s", i ? ", " : "noalias(",
                   print_name(p, l->noalias.at[i], l->noalias.at[i]->name));
    if (l->noalias.n)
        buf_text(p->out, ") ");
}

// Append a launch.
static void print_launch(struct printer *p, const struct ir_launch *l,
                         int indent)
{
    buf_printf(p->out, "launch %s grid(", l->name);
    print_list(p, l->grid, 3, true);
    buf_text(p->out, ") ");
    if (ir_cluster_blocks(l) > 1)
        buf_printf(p->out, "cluster(%u, %u, %u) ", l->cluster[0], l->cluster[1],
                   l->cluster[2]);
    buf_printf(p->out, "block(%u, %u, %u) ", l->block[0], l->block[1],
               l->block[2]);
    if (l->min_blocks)
        buf_printf(p->out, "min_blocks %u ", l->min_blocks);
    if (l->max_registers)
        buf_printf(p->out, "max_registers %u ", l->max_registers);
    print_launch_attributes(p, "", l->attributes, " ");
    if (l->derives_barriers)
        buf_text(p->out, "derive_barriers ");
    print_noalias(p, l);
    print_body(p, &l->body, indent);
}

// Append a `print`.
static void print_print(struct printer *p, const struct ir_stmt *s)
{
    buf_printf(p->out, "print(\"%s\"", s->u.print.text);
    for (uint32_t i = 0; i < s->u.print.n; i++) {
        buf_text(p->out, ", ");
        print_expr(p, s->u.print.values[i], 0, false);
    }
    buf_char(p->out, ')');
}

// Append one statement without its indentation and newline.
static void print_stmt(struct printer *p, const struct ir_stmt *s, int indent)
{
    switch (s->kind) {
    case STMT_for: print_for(p, &s->u.loop, indent); return;
    case STMT_if: print_if(p, s, indent); return;
    case STMT_let: print_let(p, s); return;
    case STMT_var: print_let(p, s); return;
    case STMT_store: print_store(p, s); return;
    case STMT_alloc: print_alloc(p, s->u.buffer, indent); return;
    case STMT_barrier:
        buf_text(p->out, s->u.of_cluster ? "barrier(cluster)" : "barrier");
        return;
    case STMT_sync: print_sync(p, s); return;
    case STMT_matrix: print_matrix(p, s); return;
    case STMT_copy: print_copy(p, &s->u.copy); return;
    case STMT_stage: print_stage(p, &s->u.stage, indent); return;
    case STMT_launch: print_launch(p, &s->u.launch, indent); return;
    case STMT_print: print_print(p, s); return;
    case STMT_eval: print_expr(p, s->u.value, 0, false); return;
    case STMT_assign:
        buf_printf(p->out,
                   "%s = ", print_name(p, s->u.let.var, s->u.let.var->name));
        print_expr(p, s->u.let.value, 0, s->u.let.value->type.lanes == 1);
        return;
    case STMT_COUNT: return;
    }
}

// Append the statements of a block, one or more lines each.
static void print_block(struct printer *p, const struct ir_block *block,
                        int indent)
{
    size_t mark = p->scope.n;
    for (size_t i = 0; i < block->n; i++) {
        buf_indent(p->out, indent);
        print_stmt(p, block->at[i], indent);
        buf_char(p->out, '\n');
    }
    print_close(p, mark);
}

// Append one parameter or result.
static void print_param(struct printer *p, const struct ir_param *param)
{
    if (param->var) {
        buf_printf(p->out, "%s: %s",
                   print_declare(p, param->var, param->var->name),
                   type_name(param->var->type));
        return;
    }
    buf_text(p->out, print_declare(p, param->buffer, param->buffer->name));
    print_shape(p, param->buffer);
    print_buffer_traits(p, param->buffer);
}

// Return how many of the parameters, the last ones, are results.
static size_t count_results(const struct ir_kernel *k)
{
    size_t n = 0;
    while (n < k->params.n && k->params.at[k->params.n - 1 - n].buffer &&
           k->params.at[k->params.n - 1 - n].buffer->role == ROLE_output)
        n++;
    return n;
}

// Append parameters `from` to `to`.
static void print_params(struct printer *p, const struct ir_kernel *k,
                         size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        buf_text(p->out, i > from ? ", " : "");
        print_param(p, &k->params.at[i]);
    }
}

// Append `word a, b` on a line of its own, if there are conditions.
static void print_conditions(struct printer *p, const char *word,
                             const struct ir_conditions *list)
{
    if (!list->n)
        return;
    buf_printf(p->out, "\n    %s ", word);
    print_list(p, list->at, (uint32_t)list->n, false);
}

// Append what stands between the parameters and the body.
static void print_kernel_traits(struct printer *p, const struct ir_kernel *k)
{
    print_conditions(p, "where", &k->where);
    print_conditions(p, "guard", &k->guard);
    print_terms(p, k);
    for (size_t i = 0; i < k->maps.n; i++)
        if (k->maps.at[i]->buffer->role != ROLE_alloc)
            print_map(p, k->maps.at[i], STEP);
    if (k->variant[0])
        buf_printf(p->out, "\n    variant %s", k->variant);
    if (k->fast_math)
        buf_text(p->out, "\n    fast_math");
    if (k->min_blocks)
        buf_printf(p->out, "\n    min_blocks %u", k->min_blocks);
    if (k->max_registers)
        buf_printf(p->out, "\n    max_registers %u", k->max_registers);
    print_launch_attributes(p, "\n    ", k->attributes, "");
    if (k->level != LEVEL_stages)
        buf_printf(p->out, "\n    level %s", level_name(k->level));
}

void ir_print_kernel(struct buf *out, const struct ir_kernel *k)
{
    struct printer p;
    print_start(&p, out, true);
    size_t results = count_results(k), first = k->params.n - results;
    buf_printf(out, "kernel %s(", k->name);
    print_params(&p, k, 0, first);
    buf_char(out, ')');
    if (results) {
        buf_text(out, results > 1 ? " -> (" : " -> ");
        print_params(&p, k, first, k->params.n);
        buf_text(out, results > 1 ? ")" : "");
    }
    print_kernel_traits(&p, k);
    buf_text(out, "\n{\n");
    p.level = k->level;
    p.kernel = k;
    print_block(&p, &k->body, STEP);
    buf_text(out, "}\n");
    arena_reset(&p.arena);
}

// What a short nest marks.
struct marks {
    const struct ir_stmt *const *at;
    size_t n;
    const char *note;
};

// Append the loops and stages of a block, one a line.
static void print_nest(struct printer *p, const struct ir_block *block,
                       const struct marks *marks, int indent)
{
    for (size_t i = 0; i < block->n; i++) {
        const struct ir_stmt *s = block->at[i];
        bool is_loop = s->kind == STMT_for;
        if (s->kind == STMT_if)
            print_nest(p, &s->u.branch.then, marks, indent);
        if (!is_loop && s->kind != STMT_stage)
            continue;
        buf_indent(p->out, indent);
        if (is_loop)
            print_for_head(p, &s->u.loop);
        else
            print_stage_head(p, &s->u.stage);
        for (size_t k = 0; k < marks->n; k++) {
            if (marks->at[k] == s)
                buf_printf(p->out, "  <-- %s", marks->note);
        }
        buf_char(p->out, '\n');
        if (is_loop)
            print_nest(p, &s->u.loop.body, marks, indent + 2);
    }
}

void ir_print_nest(struct buf *out, const struct ir_block *block,
                   const struct ir_stmt *const *marked, size_t n,
                   const char *note)
{
    struct printer p;
    struct marks marks = {marked, n, note};
    print_start(&p, out, false);
    print_nest(&p, block, &marks, 0);
    arena_reset(&p.arena);
}
