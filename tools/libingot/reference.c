// Prints a kernel as C: arrays, statements, the function around them.

#include "tools/libingot/reference.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/leave.h"
#include "ir/walk.h"
#include "tools/libingot/reference_print.h"

#include <ctype.h>

enum { STEP = 4 };

// Return whether a statement itself is beyond the printer.
static bool is_stmt_beyond(const struct ir_stmt *s)
{
    return s->kind == STMT_barrier || s->kind == STMT_sync ||
           s->kind == STMT_launch ||
           (s->kind == STMT_alloc && s->u.buffer->values);
}

// Return whether an expression itself is beyond the printer.
static bool is_expr_beyond(const struct ir_expr *x)
{
    return x->type.lanes > 1 || x->op == OP_lane || x->op == OP_index ||
           x->op == OP_resident || ir_op_info(x->op)->flags & OP_TOGETHER;
}

bool reference_supported(const struct ir_kernel *kernel)
{
    ir_foreach_stmt(s, &kernel->body)
        if (is_stmt_beyond(s))
            return false;
    ir_foreach_expr_in(x, &kernel->body)
        if (is_expr_beyond(x))
            return false;
    return kernel->level <= LEVEL_loops;
}

const char *reference_name(struct reference *r, const void *what,
                           const char *name)
{
    char *known = map_get(&r->names, what);
    if (known)
        return known;
    known = arena_printf(&r->arena, "%s_%d", name, r->declared++);
    for (char *c = known; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    map_set(&r->names, what, known);
    return known;
}

const struct cell *reference_cell(const struct reference *r,
                                  const struct ir_buffer *b)
{
    return map_get(&r->cells, b);
}

const char *reference_cell_type(const struct ir_buffer *b,
                                const struct cell *cell)
{
    switch (cell->form) {
    case CELL_STORED: return reference_stored_type(b->elem);
    case CELL_FLOAT: return "float";
    case CELL_DOUBLE: break;
    }
    return "double";
}

// Give an array its form and name.
static struct cell *declare_cell(struct reference *r, const struct ir_buffer *b,
                                 enum cell_form form)
{
    struct cell *cell = arena_new(&r->arena, struct cell);
    cell->name = reference_name(r, b, b->name);
    cell->form = form;
    map_set(&r->cells, b, cell);
    return cell;
}

// Return how the C program holds a parameter.
static enum cell_form param_form(const struct ir_kernel *k,
                                 const struct ir_buffer *b)
{
    struct ir_block body = k->body;
    if (!type_is_float(b->elem) || b->elem.kind == TYPE_f64)
        return CELL_STORED;
    if (b->role == ROLE_input)
        return b->elem.kind == TYPE_f32 ? CELL_STORED : CELL_FLOAT;
    return ir_block_reads(&body, b) ? CELL_DOUBLE : CELL_STORED;
}

// Append how many elements the storage of an array has.
static void print_elements(struct reference *r, const struct ir_buffer *b)
{
    buf_text(r->out, "(int64_t)(1");
    for (uint32_t i = 0; i < b->rank; i++) {
        buf_text(r->out, b->strides ? " + (" : " * ");
        reference_expr(r, b->shape[i]);
        if (b->strides) {
            buf_text(r->out, " - 1) * ");
            reference_expr(r, b->strides[i]);
        }
    }
    buf_char(r->out, ')');
    for (uint32_t i = 0; i < b->rank && b->strides; i++) {
        buf_text(r->out, " * (");
        reference_expr(r, b->shape[i]);
        buf_text(r->out, " != 0)");
    }
}

// Append the loop that copies an array to or from its caller's form:
// `left[i] = f(right[i])`.
static void print_copy(struct reference *r, const struct ir_buffer *b,
                       const char *left, const char *function,
                       const char *right)
{
    bool is_f32 = b->elem.kind == TYPE_f32;
    buf_text(r->out, "#pragma omp parallel for\n"
                     "    for (int64_t i = 0; i < ");
    print_elements(r, b);
    buf_printf(r->out, "; i++)\n        %s[i] = ", left);
    if (is_f32)
        buf_printf(r->out, "%s[i];\n", right);
    else
        buf_printf(r->out, "%s_%s(%s[i]);\n", function, type_name(b->elem),
                   right);
}

// Append the declaration of the elements of an array on the heap.
static void print_heap(struct reference *r, const struct ir_buffer *b,
                       int indent)
{
    const struct cell *cell = reference_cell(r, b);
    const char *type = reference_cell_type(b, cell);
    buf_indent(r->out, indent);
    buf_printf(r->out, "%s *restrict %s = take(", type, cell->name);
    print_elements(r, b);
    buf_printf(r->out, ", sizeof(%s));\n", type);
}

// Append the declaration of an array parameter, and its copy.
static void open_array(struct reference *r, const struct ir_kernel *k,
                       size_t at)
{
    const struct ir_buffer *b = k->params.at[at].buffer;
    const struct cell *cell = declare_cell(r, b, param_form(k, b));
    const char *type = reference_stored_type(b->elem);
    if (cell->form == CELL_STORED) {
        buf_printf(r->out, "    %s *restrict %s = args[%zu];\n", type,
                   cell->name, at);
        return;
    }
    buf_printf(r->out, "    %s *raw%zu = args[%zu];\n", type, at, at);
    print_heap(r, b, STEP);
    print_copy(r, b, cell->name, "decode",
               arena_printf(&r->arena, "raw%zu", at));
}

// Append what makes the results of an array parameter reach the caller.
static void close_array(struct reference *r, const struct ir_kernel *k,
                        size_t at)
{
    const struct ir_buffer *b = k->params.at[at].buffer;
    const struct cell *cell = b ? reference_cell(r, b) : NULL;
    if (!cell || cell->form == CELL_STORED)
        return;
    if (cell->form == CELL_DOUBLE)
        print_copy(r, b, arena_printf(&r->arena, "raw%zu", at), "encode",
                   cell->name);
    buf_printf(r->out, "    free(%s);\n", cell->name);
}

// Append the declaration of a scalar parameter.
static void open_scalar(struct reference *r, const struct ir_var *var,
                        size_t at)
{
    const char *decode = "";
    if (type_is_float(var->type) && type_bits(var->type) < 32)
        decode = arena_printf(&r->arena, "decode_%s", type_name(var->type));
    buf_printf(r->out, "    const %s %s = %s(*(const %s *)args[%zu]);\n",
               reference_value_type(var->type),
               reference_name(r, var, var->name), decode,
               reference_stored_type(var->type), at);
}

static void print_block(struct reference *r, struct ir_block *block,
                        int indent);

// Append `{`, the statements and `}`.
static void print_body(struct reference *r, struct ir_block *block, int indent)
{
    buf_text(r->out, "{\n");
    print_block(r, block, indent + STEP);
    buf_indent(r->out, indent);
    buf_text(r->out, "}\n");
}

// Append the first line of a loop.  One over a reduction that has no
// iteration runs once all the same, with `once_...` set, for the init.
static void print_for_head(struct reference *r, struct ir_for *f)
{
    const char *name = reference_name(r, f->var, f->var->name);
    bool reduces = ir_loop_reduces(f);
    buf_printf(r->out, "for (%s %s = ", reference_value_type(f->var->type),
               name);
    reference_expr(r, f->from);
    if (reduces) {
        vec_push(&r->arena, &r->reductions, name);
        buf_printf(r->out, ", once_%s = !(%s < ", name, name);
        reference_expr(r, f->to);
        buf_char(r->out, ')');
    }
    buf_printf(r->out, "; %s < ", name);
    reference_expr(r, f->to);
    if (reduces)
        buf_printf(r->out, " || once_%s", name);
    const struct ir_stmt *branch = reduces ? NULL : ir_loop_leaves(f);
    if (branch) {
        buf_text(r->out, " && ");
        reference_expr(r, branch->u.branch.cond);
    }
    buf_printf(r->out, "; %s += ", name);
    reference_expr(r, f->step);
    if (reduces)
        buf_printf(r->out, ", once_%s = 0", name);
    buf_char(r->out, ')');
}

// Append a loop.
static void print_for(struct reference *r, struct ir_for *f, int indent)
{
    size_t mark = r->reductions.n;
    print_for_head(r, f);
    buf_char(r->out, ' ');
    print_body(r, &f->body, indent);
    r->reductions.n = mark;
}

// Append a branch.
static void print_if(struct reference *r, struct ir_stmt *s, int indent)
{
    buf_text(r->out, "if (");
    reference_expr(r, s->u.branch.cond);
    buf_text(r->out, ") ");
    print_body(r, &s->u.branch.then, indent);
    if (!s->u.branch.otherwise.n)
        return;
    buf_indent(r->out, indent);
    buf_text(r->out, "else ");
    print_body(r, &s->u.branch.otherwise, indent);
}

// Append a declaration of a variable.
static void print_let(struct reference *r, const struct ir_stmt *s)
{
    const struct ir_var *var = s->u.let.var;
    buf_printf(r->out, "%s %s = ", reference_value_type(var->type),
               reference_name(r, var, var->name));
    reference_expr(r, s->u.let.value);
    buf_text(r->out, ";\n");
}

// Append a store, rounding where the elements are the caller's.
static void print_store(struct reference *r, const struct ir_stmt *s)
{
    const struct ir_buffer *b = s->u.store.buffer;
    bool is_stored = reference_cell(r, b)->form == CELL_STORED;
    bool is_narrow = type_is_float(b->elem) && type_bits(b->elem) < 32;
    reference_element(r, b, s->u.store.n, s->u.store.index);
    buf_text(r->out, " = ");
    if (is_stored && is_narrow)
        buf_printf(r->out, "encode_%s", type_name(b->elem));
    buf_char(r->out, '(');
    reference_expr(r, s->u.store.value);
    buf_text(r->out, ");\n");
}

// Append an alloc.
static void print_alloc(struct reference *r, const struct ir_buffer *b,
                        int indent)
{
    bool is_float = type_is_float(b->elem);
    const struct cell *cell =
        declare_cell(r, b, is_float ? CELL_DOUBLE : CELL_STORED);
    if (b->space == SPACE_global) {
        print_heap(r, b, indent);
        return;
    }
    buf_indent(r->out, indent);
    buf_printf(r->out, "%s %s[1", reference_cell_type(b, cell), cell->name);
    for (uint32_t i = 0; i < b->rank; i++) {
        buf_text(r->out, " * ");
        reference_expr(r, b->shape[i]);
    }
    buf_text(r->out, "];\n");
}

// Append the condition that the reduction begins: every variable is 0.
static void print_first(struct reference *r, const struct ir_stage *s)
{
    buf_text(r->out, "if (1");
    for (size_t i = 0; i < s->iters.n; i++) {
        const struct ir_var *var = s->iters.at[i].var;
        if (s->iters.at[i].is_reduce)
            buf_printf(r->out, " && %s == 0",
                       reference_name(r, var, var->name));
    }
    buf_text(r->out, ") ");
}

// Append a stage.
static void print_stage(struct reference *r, struct ir_stage *s, int indent)
{
    buf_text(r->out, "if (");
    if (s->predicate)
        reference_expr(r, s->predicate);
    else
        buf_char(r->out, '1');
    buf_text(r->out, ") {\n");
    for (size_t i = 0; i < s->iters.n; i++) {
        const struct ir_iter *iter = &s->iters.at[i];
        buf_indent(r->out, indent + STEP);
        buf_printf(r->out,
                   "const %s %s = ", reference_value_type(iter->var->type),
                   reference_name(r, iter->var, iter->var->name));
        reference_expr(r, iter->binding);
        buf_text(r->out, ";\n");
    }
    if (s->has_init) {
        buf_indent(r->out, indent + STEP);
        print_first(r, s);
        print_body(r, &s->init, indent + STEP);
    }
    for (size_t i = 0; i < r->reductions.n; i++) {
        buf_indent(r->out, indent + STEP);
        buf_printf(r->out, "if (!once_%s)\n", r->reductions.at[i]);
    }
    buf_indent(r->out, indent + STEP);
    print_body(r, &s->body, indent + STEP);
    buf_indent(r->out, indent);
    buf_text(r->out, "}\n");
}

// Append a statement; what only threads do, such as a barrier, is nothing.
static void print_stmt(struct reference *r, struct ir_stmt *s, int indent)
{
    s = ir_at_once(&r->arena, s);
    if (s->kind != STMT_alloc)
        buf_indent(r->out, indent);
    switch ((int)s->kind) {
    case STMT_for: print_for(r, &s->u.loop, indent); break;
    case STMT_if: print_if(r, s, indent); break;
    case STMT_let:
    case STMT_var: print_let(r, s); break;
    case STMT_assign:
        buf_printf(r->out, "%s = ",
                   reference_name(r, s->u.let.var, s->u.let.var->name));
        reference_expr(r, s->u.let.value);
        buf_text(r->out, ";\n");
        break;
    case STMT_store: print_store(r, s); break;
    case STMT_eval:
        reference_expr(r, s->u.value);
        buf_text(r->out, ";\n");
        break;
    case STMT_alloc: print_alloc(r, s->u.buffer, indent); break;
    case STMT_stage: print_stage(r, &s->u.stage, indent); break;
    }
}

// Append the statements of a block.
static void print_block(struct reference *r, struct ir_block *block, int indent)
{
    for (size_t i = 0; i < block->n; i++)
        print_stmt(r, block->at[i], indent);
}

// Append a nest of loops around a stage.
static void print_nest(struct reference *r, const struct reference_nest *nest)
{
    size_t mark = r->reductions.n;
    if (nest->parallel)
        buf_printf(r->out, "#pragma omp parallel for collapse(%zu)\n",
                   nest->parallel);
    for (size_t i = 0; i < nest->loops.n; i++) {
        buf_indent(r->out, STEP);
        print_for_head(r, nest->loops.at[i]);
        buf_char(r->out, '\n');
    }
    print_stmt(r, nest->stage, STEP);
    r->reductions.n = mark;
}

void reference_print(struct buf *out, const struct ir_kernel *kernel)
{
    struct reference r = {.out = out};
    r.names.arena = r.cells.arena = &r.arena;
    for (int i = 0; reference_prelude[i]; i++)
        buf_text(out, reference_prelude[i]);
    buf_text(out, "void ingot_reference(void **args);\n\n"
                  "void ingot_reference(void **args)\n{\n");
    for (size_t i = 0; i < kernel->params.n; i++)
        if (kernel->params.at[i].var)
            open_scalar(&r, kernel->params.at[i].var, i);
    for (size_t i = 0; i < kernel->params.n; i++)
        if (kernel->params.at[i].buffer)
            open_array(&r, kernel, i);
    for (size_t i = 0; i < kernel->body.n; i++) {
        struct reference_nest nest;
        if (reference_nest(&r.arena, kernel->body.at[i], &nest))
            print_nest(&r, &nest);
        else
            print_stmt(&r, kernel->body.at[i], STEP);
    }
    for (size_t i = 0; i < kernel->params.n; i++)
        close_array(&r, kernel, i);
    for (size_t i = 0; i < kernel->body.n; i++) {
        const struct ir_stmt *s = kernel->body.at[i];
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_global)
            buf_printf(out, "    free(%s);\n",
                       reference_cell(&r, s->u.buffer)->name);
    }
    buf_text(out, "}\n");
    arena_reset(&r.arena);
}
