// Writes launch functions:
//
//   enum ingot_status K(module, stream, sizes and arrays, workspace)
//   {
//       sizes >= 0, `where`                          INGOT_BAD_SIZE
//       each array: its bytes fit in 64 bits         INGOT_OVERFLOW
//                   not NULL unless empty            INGOT_NULL_ARRAY
//                   aligned                          INGOT_MISALIGNED
//       with INGOT_DEBUG: memory of the GPU, and apart  INGOT_BAD_ARRAY
//       the first variant whose guard holds: each of its launches in order
//   }
//
// ingot_launch checks the grid against the device and takes a grid with a
// zero as done.

#include "nvptx/package/launch.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "nvptx/package/bytes.h"
#include "nvptx/package/c_expr.h"
#include "nvptx/package/workspace.h"

#include <string.h>

// Append one launch; `is_last` if the function returns its status.
static void write_launch(struct writer *w, const struct plan_variant *variant,
                         uint32_t entry, bool is_last)
{
    const struct plan_entry *e = &w->plan->entries.at[entry];
    const struct ir_launch *launch = e->launch;
    bool has_checks = false;
    buf_printf(w->out,
               "        {\n"
               "            static const uint32_t block[3] = {%u, %u, %u};\n"
               "            const uint64_t grid[3] = {\n",
               launch->block[0], launch->block[1], launch->block[2]);
    for (int i = 0; i < 3; i++) {
        buf_indent(w->out, 16);
        buf_text(w->out, "ingot_grid(");
        has_checks |= writer_expr(w, variant->kernel, launch->grid[i]);
        buf_text(w->out, "),\n");
    }
    buf_text(w->out, "            };\n\n");
    if (has_checks) {
        buf_text(w->out, "            if (overflow)\n                ");
        writer_rejection(
            w, "OVERFLOW",
            arena_printf(w->arena, "the grid of %s", launch->name));
    }
    buf_printf(w->out,
               "            INGOT_BEFORE_LAUNCH(\"%s\");\n"
               "            status = ingot_launch(module, %u, stream, grid, "
               "block, %lld,\n                                  parameters);\n"
               "            INGOT_AFTER_LAUNCH(\"%s\");\n",
               launch->name, entry, (long long)e->dynamic, launch->name);
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
    if (variant->kernel->maps.n)
        buf_printf(w->out, "        struct ingot_tensor_map maps[%zu];\n",
                   variant->kernel->maps.n);
    buf_text(w->out, "        void *parameters[] = {\n");
    for (size_t i = 0; i < w->kernel->source->params.n; i++)
        buf_printf(w->out, "            &%s,\n", w->kernel->names[i]);
    for (size_t i = 0; i < n; i++)
        buf_printf(w->out, "            &arrays[%zu],\n", i);
    for (size_t i = 0; i < variant->kernel->maps.n; i++)
        buf_printf(w->out, "            &maps[%zu],\n", i);
    buf_text(w->out, "        };\n\n");
    workspace_arrays(w, variant, true);
    launch_maps(w, variant);
}

// Append the guard of a variant to `text` as C, or nothing if it has none.
// Returns whether it uses values that several guards do.
static bool print_guard(struct writer *w, const struct plan_variant *variant,
                        struct buf *text)
{
    struct buf *header = w->out;
    struct ir_expr *guard = ir_bool(w->arena, true);
    vec_foreach_value(g, &variant->kernel->guard)
        guard = ir_binary(w->arena, OP_and, guard, g);
    if (ir_is_true(guard))
        return false;
    w->out = text;
    buf_char(text, '(');
    bool has_checks = writer_guard(w, variant->kernel, guard);
    buf_text(text, has_checks ? ") && !overflow" : ")");
    w->out = header;
    return w->uses_values;
}

// Append `if (guard)` of a variant, or nothing if it has none.
// Returns whether it has.
static bool write_guard(struct writer *w, const struct buf *guard,
                        bool is_optional)
{
    if (guard->n)
        buf_printf(w->out, "    if (%s%s)\n",
                   is_optional ? "available && " : "", guard->data);
    else if (is_optional)
        buf_text(w->out, "    if (available)\n");
    return guard->n || is_optional;
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
    struct buf guard = {0};
    bool uses_values = print_guard(w, variant, &guard);
    buf_printf(w->out, "\n    /* variant `%s` */\n",
               name && *name ? name : "general");
    if (w->kernel->n_variants > 1)
        buf_printf(w->out, "    overflow = %s;\n",
                   uses_values ? "ingot_overflow" : "0");
    bool is_optional = write_availability(w, variant);
    bool has_guard = write_guard(w, &guard, is_optional);
    buf_free(&guard);
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

// Append the name and parameters of the launch function.
static void write_signature(struct writer *w)
{
    buf_printf(w->out,
               "enum ingot_status %s(\n"
               "    struct ingot_module *module, CUstream stream",
               w->kernel->name);
    for (size_t i = 0; i < w->kernel->source->params.n; i++) {
        buf_text(w->out, ",\n    ");
        writer_parameter(w, i);
    }
    buf_text(w->out, ",\n    void *workspace)");
}

static const struct writer_function function = {launch_comment,
                                                write_signature};

// Append everything above the first statement of the launch function.
static void write_head(struct writer *w)
{
    writer_begin(w, &function);
    buf_text(w->out, "    enum ingot_status status;\n"
                     "    int64_t bytes;\n    int overflow = 0;\n");
    buf_text(w->out, has_optional(w) ? "    int available = 0;\n\n" : "\n");
    buf_text(w->out,
             w->kernel->needs_workspace ? "" : "    (void)workspace;\n");
}

// Return whether a guard of the kernel asks how many SMs the device has.
static bool asks_for_sms(const struct writer *w)
{
    for (uint32_t v = 0; v < w->kernel->n_variants; v++)
        vec_foreach_value(guard, &w->kernel->variants[v].kernel->guard)
            if (ir_asks_for_sms(guard))
                return true;
    return false;
}

// Append the question how many SMs the device has, once for all guards.
static void write_sms(struct writer *w)
{
    w->knows_sms = asks_for_sms(w);
    if (w->knows_sms)
        buf_text(w->out, "    const int64_t ingot_sms = "
                         "ingot_resident(module, stream, 1);\n");
}

// Find the values that several guards want.
static void find_values(struct writer *w, struct c_values *values)
{
    for (uint32_t v = 0; v < w->kernel->n_variants; v++) {
        const struct ir_kernel *kernel = w->kernel->variants[v].kernel;
        struct c_scope scope = {.kernel = kernel,
                                .names = w->kernel->names,
                                .knows_sms = w->knows_sms};
        vec_foreach_value(guard, &kernel->guard)
            c_expr_want(&scope, guard, values);
    }
}

// Append these values, and whether one of them overflows: guards that use any
// do not hold then. Products of sizes of arrays that exist do not overflow.
static void write_values(struct writer *w, const struct c_values *values)
{
    bool any = false;
    for (size_t i = 0; i < values->at.n; i++) {
        const struct c_value *v = &values->at.at[i];
        struct c_scope scope = {.kernel = v->kernel,
                                .names = w->kernel->names,
                                .values = values,
                                .knows_sms = w->knows_sms};
        if (v->uses < 2)
            continue;
        buf_text(w->out, any ? "" : "    overflow = 0;\n");
        buf_printf(w->out, "    const int64_t ingot_v%zu = ", i);
        c_expr_value(&scope, v->x, w->out);
        buf_text(w->out, ";\n");
        any = true;
    }
    buf_text(w->out, any ? "    const int ingot_overflow = overflow;\n" : "");
}

void launch_declare(struct arena *a, const struct plan *plan,
                    const struct plan_kernel *kernel, struct buf *out)
{
    struct writer w = {.arena = a, .plan = plan, .kernel = kernel, .out = out};
    bytes_declare(&w);
    workspace_declare(&w);
    buf_char(out, '\n');
    writer_declare(&w, &function);
    buf_char(out, '\n');
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
    struct c_values values = {.arena = a};
    bytes_write(&w);
    workspace_write(&w);
    write_head(&w);
    launch_checks(&w);
    write_sms(&w);
    find_values(&w, &values);
    write_values(&w, &values);
    w.values = &values;
    bool takes_all = false;
    for (uint32_t v = 0; v < kernel->n_variants && !takes_all; v++)
        takes_all = write_variant(&w, &kernel->variants[v]);
    if (!takes_all) {
        buf_text(out, "    ");
        writer_rejection(&w, "BAD_SIZE", "no variant takes these sizes");
    }
    buf_text(out, "}\n");
    return w.ok;
}
