// Writes launch functions:
//
//   enum ingot_status K(module, stream, sizes and arrays)
//   {
//       sizes >= 0, `where`                          INGOT_BAD_SIZE
//       each array: its bytes fit in 64 bits         INGOT_OVERFLOW
//                   not NULL unless empty            INGOT_NULL_ARRAY
//                   aligned                          INGOT_MISALIGNED
//       the first variant whose guard holds: each of its launches in order
//   }
//
// ingot_launch checks the grid against the device and takes a grid with a
// zero as done.

#include "nvptx/package/launch.h"

#include "ir/build.h"
#include "ir/text.h"
#include "nvptx/package/c_expr.h"
#include "nvptx/package/c_names.h"

#include <string.h>

static const char functions[] =
    "static inline enum ingot_status\n"
    "ingot_check_array(struct ingot_module *module, const char *kernel,\n"
    "                  const char *text, const void *array, int64_t bytes,\n"
    "                  int overflow, unsigned align)\n"
    "{\n"
    "    if (overflow || bytes < 0)\n"
    "        return ingot_reject(module, INGOT_OVERFLOW, kernel, text);\n"
    "    if (!array && bytes > 0)\n"
    "        return ingot_reject(module, INGOT_NULL_ARRAY, kernel, text);\n"
    "    if ((uintptr_t)array % align != 0)\n"
    "        return ingot_reject(module, INGOT_MISALIGNED, kernel, text);\n"
    "    return INGOT_OK;\n"
    "}\n"
    "\n"
    "static inline int64_t ingot_workspace_add(int64_t used, int64_t bytes,\n"
    "                                          int *overflow)\n"
    "{\n"
    "    *overflow |= bytes < 0;\n"
    "    bytes = ingot_i64_add(bytes, 255, overflow) / 256 * 256;\n"
    "    return ingot_i64_add(used, bytes, overflow);\n"
    "}\n"
    "\n"
    "static inline void *ingot_workspace_at(void *workspace, int64_t used)\n"
    "{\n"
    "    return workspace ? (char *)workspace + used : workspace;\n"
    "}\n"
    "\n"
    "static inline uint64_t ingot_grid(int64_t blocks)\n"
    "{\n"
    "    return blocks > 0 ? (uint64_t)blocks : 0;\n"
    "}\n";

// What is being written.
struct writer {
    struct arena *arena;
    const struct plan *plan;
    const struct plan_kernel *kernel;
    struct diag_list *diags;
    struct buf *out;
    bool ok; // no expression was refused
};

const char *launch_functions(void)
{
    return functions;
}

// Return an expression as the language writes it.
static const char *expr_text(struct writer *w, const struct ir_expr *x)
{
    struct buf b = {0};
    ir_print_expr(&b, x);
    const char *text = arena_copy(w->arena, b.data, b.n);
    buf_free(&b);
    return text;
}

// Append an expression about the parameters of `kernel` as C.
// Returns whether it may set `overflow`.
static bool write_expr(struct writer *w, const struct ir_kernel *kernel,
                       const struct ir_expr *x)
{
    struct c_scope scope = {.kernel = kernel, .names = w->kernel->names};
    if (!c_expr(&scope, x, w->out)) {
        if (w->ok)
            diag_error(w->diags, x->span, D_not_in_c, expr_text(w, x));
        w->ok = false;
    }
    return scope.has_checks;
}

// Return the bytes that an array spans, as an expression.
static struct ir_expr *array_bytes(struct arena *a, const struct ir_buffer *b)
{
    struct ir_expr *elements = ir_buffer_elements(a, b);
    struct type type = elements->type;
    if (b->strides) {
        struct ir_expr *one = ir_const_int(a, type, 1), *span = one;
        struct ir_expr *is_empty = ir_bool(a, false);
        struct ir_expr *zero = ir_zero(a, type);
        for (uint32_t i = 0; i < b->rank; i++) {
            struct ir_expr *last = ir_sub(a, b->shape[i], one);
            span = ir_add(a, span, ir_mul(a, last, b->strides[i]));
            is_empty = ir_binary(a, OP_or, is_empty,
                                 ir_binary(a, OP_eq, b->shape[i], zero));
        }
        elements = ir_select(a, is_empty, zero, span);
    }
    return ir_mul(a, elements,
                  ir_const_int(a, type, (int64_t)type_bytes(b->elem)));
}

// ---- Parameters -----------------------------------------------------------

// Return whether the function that says how large the workspace is takes a
// parameter.
static bool is_size(const struct ir_param *p)
{
    return p->var && type_is_index(p->var->type);
}

// Append the declaration of a parameter in C.
static void write_parameter(struct writer *w, size_t i)
{
    const struct ir_param *p = &w->kernel->source->params.at[i];
    const char *name = w->kernel->names[i];
    if (p->var)
        buf_printf(w->out, "%s %s", type_c_name(p->var->type), name);
    else
        buf_printf(w->out, "%s%s *%s",
                   p->buffer->role == ROLE_input ? "const " : "",
                   type_c_name(p->buffer->elem), name);
}

// Append the sizes, separated by commas: as declarations or as names.
static void write_sizes(struct writer *w, bool is_declaration)
{
    const struct ir_kernel *source = w->kernel->source;
    bool is_first = true;
    for (size_t i = 0; i < source->params.n; i++) {
        if (!is_size(&source->params.at[i]))
            continue;
        buf_text(w->out, is_first ? "" : ", ");
        is_first = false;
        if (is_declaration)
            write_parameter(w, i);
        else
            buf_text(w->out, w->kernel->names[i]);
    }
    if (is_first && is_declaration)
        buf_text(w->out, "void");
}

// Return "f32[M, K]", with its strides.
static const char *shape_text(struct writer *w, const struct ir_buffer *b)
{
    struct buf out = {0};
    buf_text(&out, type_name(b->elem));
    for (uint32_t i = 0; i < b->rank; i++) {
        buf_text(&out, i ? ", " : "[");
        ir_print_expr(&out, b->shape[i]);
    }
    buf_text(&out, b->rank ? "]" : "");
    for (uint32_t i = 0; b->strides && i < b->rank; i++) {
        buf_text(&out, i ? ", " : " strides [");
        ir_print_expr(&out, b->strides[i]);
    }
    buf_text(&out, b->strides && b->rank ? "]" : "");
    const char *text = arena_copy(w->arena, out.data, out.n);
    buf_free(&out);
    return text;
}

// ---- The comment ----------------------------------------------------------

// Return what a launch does with an array.
static const char *role_text(enum buffer_role role)
{
    switch (role) {
    case ROLE_input: return "read";
    case ROLE_output: return "written";
    case ROLE_inout: return "read and written";
    case ROLE_alloc: return "scratch";
    }
    return "";
}

// Append what a parameter is.
static void write_comment_line(struct writer *w, size_t i)
{
    const struct ir_param *p = &w->kernel->source->params.at[i];
    buf_printf(w->out, " *   %s: ", w->kernel->names[i]);
    if (p->buffer)
        buf_printf(w->out, "%s, %s, aligned to %u bytes\n",
                   shape_text(w, p->buffer), role_text(p->buffer->role),
                   w->kernel->aligns[i]);
    else
        buf_printf(w->out, "%s\n",
                   is_size(p) ? "a number of elements, at least 0"
                              : type_name(p->var->type));
}

// Append the comment above a launch function.
static void write_comment(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    buf_printf(w->out, "/* Launches kernel `%s` on `stream`.\n *\n",
               source->name);
    for (size_t i = 0; i < source->params.n; i++)
        write_comment_line(w, i);
    if (w->kernel->has_workspace)
        buf_printf(w->out,
                   " *   workspace: %s_workspace bytes, overwritten, aligned "
                   "to %d bytes\n",
                   source->name, WORKSPACE_ALIGN);
    for (size_t i = 0; i < source->where.n; i++)
        buf_printf(w->out, "%s *   %s\n", i ? "" : " *\n * Requires\n *\n",
                   expr_text(w, source->where.at[i]));
    buf_text(w->out, " */\n");
}

// ---- The workspace --------------------------------------------------------

// Append statements that add the workspace of a variant to `used` and, if
// `is_launch`, set `arrays` to the places.
static void write_workspace_arrays(struct writer *w,
                                   const struct plan_variant *variant,
                                   bool is_launch, int indent)
{
    for (size_t i = 0; i < variant->workspace.n; i++) {
        const struct ir_buffer *b = variant->workspace.at[i];
        if (is_launch) {
            buf_indent(w->out, indent);
            buf_printf(w->out,
                       "arrays[%zu] = ingot_workspace_at(workspace, used);\n",
                       i);
        }
        buf_indent(w->out, indent);
        buf_text(w->out, "used = ingot_workspace_add(used, ");
        write_expr(w, variant->kernel, array_bytes(w->arena, b));
        buf_text(w->out, ", &overflow);\n");
    }
}

// Append the function that says how large the workspace is.
static void write_workspace_function(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    buf_printf(w->out,
               "/* The bytes of workspace that `%s` needs for these sizes; "
               "(size_t)-1 if\n * they are more than 64 bits hold. */\n"
               "static inline size_t %s_workspace(",
               source->name, source->name);
    write_sizes(w, true);
    buf_text(w->out, ")\n{\n    int64_t most = 0, used;\n"
                     "    int overflow = 0;\n\n");
    for (size_t i = 0; i < source->params.n; i++)
        if (is_size(&source->params.at[i]))
            buf_printf(w->out, "    (void)%s;\n", w->kernel->names[i]);
    for (uint32_t v = 0; v < w->kernel->n_variants; v++) {
        buf_text(w->out, "    used = 0;\n");
        write_workspace_arrays(w, &w->kernel->variants[v], false, 4);
        buf_text(w->out, "    most = used > most ? used : most;\n");
    }
    buf_text(w->out, "    return overflow ? (size_t)-1 : (size_t)most;\n}\n\n");
}

// ---- Checks ---------------------------------------------------------------

// Append `ingot_reject(...)` for a condition.
static void write_rejection(struct writer *w, const char *status,
                            const char *text)
{
    buf_printf(w->out, "return ingot_reject(module, INGOT_%s, \"%s\",\n",
               status, w->kernel->source->name);
    buf_indent(w->out, 28);
    buf_char(w->out, '"');
    c_string(w->out, text);
    buf_text(w->out, "\");\n");
}

// Append the checks of sizes and of `where`.
static void write_conditions(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    for (size_t i = 0; i < source->params.n; i++) {
        const char *name = w->kernel->names[i];
        if (!is_size(&source->params.at[i]))
            continue;
        buf_printf(w->out, "    if (%s < 0)\n        ", name);
        write_rejection(w, "BAD_SIZE", arena_printf(w->arena, "%s >= 0", name));
    }
    for (size_t i = 0; i < source->where.n; i++) {
        buf_text(w->out, "    if (!(");
        bool has_checks = write_expr(w, source, source->where.at[i]);
        buf_printf(w->out, ")%s)\n        ", has_checks ? " || overflow" : "");
        write_rejection(w, "BAD_SIZE", expr_text(w, source->where.at[i]));
    }
}

// Append the check of an array of which `bytes` says how large it is.
static void write_array_check(struct writer *w, const char *name,
                              const char *text, uint32_t align)
{
    buf_printf(w->out, "    status = ingot_check_array(module, \"%s\",\n",
               w->kernel->source->name);
    buf_indent(w->out, 31);
    buf_printf(w->out, "\"%s: ", name);
    c_string(w->out, text);
    buf_printf(w->out, ", aligned to %u bytes\",\n", align);
    buf_indent(w->out, 31);
    buf_printf(w->out, "%s, bytes, overflow, %u);\n", name, align);
    buf_text(w->out, "    if (status)\n        return status;\n");
}

// Append the checks of the arrays.
static void write_array_checks(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    for (size_t i = 0; i < source->params.n; i++) {
        const struct ir_buffer *b = source->params.at[i].buffer;
        if (!b)
            continue;
        buf_text(w->out, "    bytes = ");
        write_expr(w, source, array_bytes(w->arena, b));
        buf_text(w->out, ";\n");
        write_array_check(w, w->kernel->names[i], shape_text(w, b),
                          w->kernel->aligns[i]);
    }
    if (w->kernel->has_workspace) {
        buf_printf(w->out, "    bytes = (int64_t)%s_workspace(", source->name);
        write_sizes(w, false);
        buf_text(w->out, ");\n");
        write_array_check(w, "workspace", "scratch memory", WORKSPACE_ALIGN);
    }
}

// ---- Launches -------------------------------------------------------------

// Append one launch; `is_last` if the function returns its status.
static void write_launch(struct writer *w, const struct plan_variant *variant,
                         uint32_t entry, bool is_last)
{
    const struct ir_launch *launch = w->plan->entries.at[entry].launch;
    bool has_checks = false;
    buf_printf(w->out,
               "        {\n"
               "            static const uint32_t block[3] = {%u, %u, %u};\n"
               "            const uint64_t grid[3] = {\n",
               launch->block[0], launch->block[1], launch->block[2]);
    for (int i = 0; i < 3; i++) {
        buf_indent(w->out, 16);
        buf_text(w->out, "ingot_grid(");
        has_checks |= write_expr(w, variant->kernel, launch->grid[i]);
        buf_text(w->out, "),\n");
    }
    buf_text(w->out, "            };\n\n");
    if (has_checks) {
        buf_text(w->out, "            if (overflow)\n                ");
        write_rejection(w, "OVERFLOW",
                        arena_printf(w->arena, "the grid of %s", launch->name));
    }
    buf_printf(w->out,
               "            status = ingot_launch(module, %u, stream, grid, "
               "block, 0,\n                                  parameters);\n",
               entry);
    buf_printf(w->out, is_last ? "            return status;\n        }\n"
                               : "            if (status)\n"
                                 "                return status;\n        }\n");
}

// Append the addresses of what the launches of a variant are given.
static void write_arguments(struct writer *w,
                            const struct plan_variant *variant)
{
    size_t n = variant->workspace.n;
    if (n)
        buf_printf(w->out,
                   "        void *arrays[%zu];\n"
                   "        int64_t used = 0;\n",
                   n);
    buf_text(w->out, "        void *parameters[] = {\n");
    for (size_t i = 0; i < w->kernel->source->params.n; i++)
        buf_printf(w->out, "            &%s,\n", w->kernel->names[i]);
    for (size_t i = 0; i < n; i++)
        buf_printf(w->out, "            &arrays[%zu],\n", i);
    buf_text(w->out, "        };\n\n");
    write_workspace_arrays(w, variant, true, 8);
}

// Append `if (guard)` of a variant, or nothing if it has none.
// Returns whether it has.
static bool write_guard(struct writer *w, const struct plan_variant *variant,
                        bool is_optional)
{
    const struct ir_kernel *kernel = variant->kernel;
    struct ir_expr *guard = ir_bool(w->arena, true);
    for (size_t i = 0; i < kernel->guard.n; i++)
        guard = ir_binary(w->arena, OP_and, guard, kernel->guard.at[i]);
    if (ir_is_true(guard)) {
        buf_text(w->out, is_optional ? "    if (available)\n" : "");
        return is_optional;
    }
    buf_printf(w->out, "    if (%s(", is_optional ? "available && " : "");
    bool has_checks = write_expr(w, kernel, guard);
    buf_printf(w->out, ")%s)\n", has_checks ? " && !overflow" : "");
    return true;
}

// Return the first launch of a variant that some image lacks, or the number
// of all launches if there is none.
static uint32_t optional_entry(const struct plan *plan,
                               const struct plan_variant *variant)
{
    uint32_t end = variant->entries_at + variant->n_entries;
    for (uint32_t i = variant->entries_at; i < end; i++)
        if (plan->entries.at[i].is_optional)
            return i;
    return (uint32_t)plan->entries.n;
}

// Append a question whether the device has the launches of a variant.
// Returns whether that is a question: images hold all launches of a variant or
// none.
static bool write_availability(struct writer *w,
                               const struct plan_variant *variant)
{
    uint32_t entry = optional_entry(w->plan, variant);
    if (entry == w->plan->entries.n)
        return false;
    buf_printf(w->out,
               "    status = ingot_available(module, %u, stream, &available);\n"
               "    if (status)\n        return status;\n",
               entry);
    return true;
}

// Append a variant: its guard and its launches.
// Returns whether it takes every call that comes to it.
static bool write_variant(struct writer *w, const struct plan_variant *variant)
{
    const char *name = variant->kernel->variant;
    buf_printf(w->out, "\n    /* variant `%s` */\n",
               name && *name ? name : "general");
    if (w->kernel->n_variants > 1)
        buf_text(w->out, "    overflow = 0;\n");
    bool is_optional = write_availability(w, variant);
    bool has_guard = write_guard(w, variant, is_optional);
    buf_text(w->out, "    {\n");
    write_arguments(w, variant);
    for (uint32_t i = 0; i < variant->n_entries; i++)
        write_launch(w, variant, variant->entries_at + i,
                     i + 1 == variant->n_entries);
    buf_text(w->out, "    }\n");
    return !has_guard;
}

// Return whether some image lacks a launch of the kernel.
static bool has_optional(const struct writer *w)
{
    for (uint32_t v = 0; v < w->kernel->n_variants; v++)
        if (optional_entry(w->plan, &w->kernel->variants[v]) <
            w->plan->entries.n)
            return true;
    return false;
}

// Append everything above the first statement of the launch function.
static void write_head(struct writer *w)
{
    const struct ir_kernel *source = w->kernel->source;
    buf_printf(w->out,
               "static inline enum ingot_status %s(\n"
               "    struct ingot_module *module, CUstream stream",
               source->name);
    for (size_t i = 0; i < source->params.n; i++) {
        buf_text(w->out, ",\n    ");
        write_parameter(w, i);
    }
    buf_text(w->out, w->kernel->has_workspace ? ",\n    void *workspace" : "");
    buf_text(w->out, ")\n{\n    enum ingot_status status;\n"
                     "    int64_t bytes;\n    int overflow = 0;\n");
    buf_text(w->out, has_optional(w) ? "    int available = 0;\n\n" : "\n");
}

bool launch_write(struct arena *a, const struct plan *plan,
                  const struct plan_kernel *kernel, struct diag_list *diags,
                  struct buf *out)
{
    struct writer w = {.arena = a,
                       .plan = plan,
                       .kernel = kernel,
                       .diags = diags,
                       .out = out,
                       .ok = true};
    if (kernel->has_workspace)
        write_workspace_function(&w);
    write_comment(&w);
    write_head(&w);
    write_conditions(&w);
    write_array_checks(&w);
    bool takes_all = false;
    for (uint32_t v = 0; v < kernel->n_variants && !takes_all; v++)
        takes_all = write_variant(&w, &kernel->variants[v]);
    if (!takes_all) {
        buf_text(out, "    ");
        write_rejection(&w, "BAD_SIZE", "no variant takes these sizes");
    }
    buf_text(out, "}\n");
    return w.ok;
}
