// Writes the function that says how large the workspace of a kernel is:
//
//   size_t K_workspace(sizes)
//   {
//       the most of each variant whose guard holds, unless one in front of it
//       takes these sizes on every GPU that has it
//   }
//
// What a guard says of scalars, and of the device, is not known here: it may
// hold.

#include "nvptx/package/workspace.h"

#include "ir/build.h"
#include "ir/type.h"
#include "ir/walk.h"

// Return whether a condition is about nothing but sizes.
static bool is_of_sizes(struct ir_expr *x)
{
    ir_foreach_expr(e, x)
        if (e->op == OP_resident ||
            (e->op == OP_var && !type_is_index(e->u.var->type)))
            return false;
    return true;
}

// Add to a condition what is known of another; `all` becomes false if that is
// not all of it.
static struct ir_expr *add_known(struct writer *w, struct ir_expr *to,
                                 struct ir_expr *x, bool *all)
{
    if (x->op == OP_and)
        return add_known(w, add_known(w, to, x->args[0], all), x->args[1], all);
    if (is_of_sizes(x))
        return ir_binary(w->arena, OP_and, to, x);
    *all = false;
    return to;
}

// Return what is known of a variant's guard; `all` is whether that is all.
static struct ir_expr *
known_guard(struct writer *w, const struct plan_variant *variant, bool *all)
{
    struct ir_expr *known = ir_bool(w->arena, true);
    *all = true;
    vec_foreach_value(guard, &variant->kernel->guard)
        known = add_known(w, known, guard, all);
    return known;
}

// Return whether an image has the launches of a variant.
static bool is_in(const struct writer *w, const struct package_image *image,
                  const struct plan_variant *variant)
{
    const struct plan_entry *first = &w->plan->entries.at[variant->entries_at];
    return variant->n_entries && plan_needs(image, first->launch->name);
}

// Return whether every image that has one variant has another, too.
static bool is_wherever(const struct writer *w, const struct plan_variant *one,
                        const struct plan_variant *other)
{
    const struct package *package = w->plan->package;
    for (size_t i = 0; i < package->n_images; i++)
        if (is_in(w, &package->images[i], one) &&
            !is_in(w, &package->images[i], other))
            return false;
    return true;
}

void workspace_arrays(struct writer *w, const struct plan_variant *variant,
                      bool is_launch)
{
    for (size_t i = 0; i < variant->workspace.n; i++) {
        const struct ir_buffer *b = variant->workspace.at[i];
        if (is_launch)
            buf_printf(w->out,
                       "        arrays[%zu] = ingot_workspace_at(workspace, "
                       "used);\n",
                       i);
        buf_text(w->out, "        used = ingot_workspace_add(used, ");
        writer_expr(w, variant->kernel, writer_bytes(w->arena, b));
        buf_text(w->out, ", &overflow);\n");
    }
}

// Return the statements that add up the workspace of a variant.
static const char *size_text(struct writer *w,
                             const struct plan_variant *variant)
{
    struct writer inner = *w;
    struct buf text = {0};
    inner.out = &text;
    workspace_arrays(&inner, variant, false);
    const char *copy = arena_copy(w->arena, text.n ? text.data : "", text.n);
    w->ok = inner.ok;
    buf_free(&text);
    return copy;
}

// Return whether the variant behind number `v` is the same schedule for more
// sizes: what it says holds of this one, too.
static bool is_repeated(const struct writer *w, uint32_t v)
{
    return w->kernel->variants[v].kernel->is_narrow &&
           v + 1 < w->kernel->n_variants;
}

// Append statements that set `taken` if a variant in front of number `v` takes
// the sizes wherever that one could.
static void write_taken(struct writer *w, uint32_t v)
{
    for (uint32_t u = 0; u < v; u++) {
        bool all;
        const struct plan_variant *other = &w->kernel->variants[u];
        struct ir_expr *guard = known_guard(w, other, &all);
        if (!all || !is_wherever(w, &w->kernel->variants[v], other) ||
            is_repeated(w, u))
            continue;
        buf_text(w->out, "    overflow = 0;\n    taken |= (");
        writer_expr(w, other->kernel, guard);
        buf_text(w->out, ") && !overflow;\n");
    }
}

// Append statements that make `most` at least what a variant needs.
static void write_variant(struct writer *w, uint32_t v)
{
    bool all;
    const struct plan_variant *variant = &w->kernel->variants[v];
    struct ir_expr *guard = known_guard(w, variant, &all);
    if (!variant->workspace.n || is_repeated(w, v))
        return;
    buf_text(w->out, "    taken = 0;\n");
    write_taken(w, v);
    buf_text(w->out, "    overflow = 0;\n    if (!taken && (");
    writer_expr(w, variant->kernel, guard);
    buf_printf(w->out,
               ") && !overflow) {\n        used = 0;\n%s"
               "        most = used > most ? used : most;\n"
               "        lost |= overflow;\n    }\n",
               size_text(w, variant));
}

// Append the comment above the function.
static void write_comment(struct writer *w)
{
    buf_printf(w->out,
               "/* The bytes of workspace that `%s` needs for these sizes, "
               "maybe 0; (size_t)-1\n * if they are more than 64 bits hold. "
               "*/\n",
               w->kernel->source->name);
}

// Append the name and parameters of the function.
static void write_signature(struct writer *w)
{
    buf_printf(w->out, "size_t %s(", w->kernel->workspace);
    writer_sizes(w, true);
    buf_char(w->out, ')');
}

static const struct writer_function function = {write_comment, write_signature};

void workspace_declare(struct writer *w)
{
    writer_declare(w, &function);
}

void workspace_write(struct writer *w)
{
    writer_begin(w, &function);
    if (w->kernel->needs_workspace)
        buf_text(w->out, "    int64_t most = 0, used = 0;\n"
                         "    int overflow = 0, lost = 0, taken = 0;\n\n");
    writer_use_sizes(w);
    if (!w->kernel->needs_workspace) {
        buf_text(w->out, "    return 0;\n}\n\n");
        return;
    }
    for (uint32_t v = 0; v < w->kernel->n_variants; v++)
        write_variant(w, v);
    buf_text(w->out, "    (void)used;\n    (void)overflow;\n    (void)taken;\n"
                     "    return lost ? (size_t)-1 : (size_t)most;\n}\n\n");
}
