// Lays out a package.

#include "nvptx/package/plan.h"

#include "ir/shared.h"
#include "nvptx/package/c_names.h"

#include <string.h>

enum { POINTER_BYTES = 8 };

bool plan_needs(const struct package_image *image, const char *entry)
{
    for (size_t i = 0; i < image->n_entries; i++)
        if (strcmp(image->entries[i], entry) == 0)
            return true;
    return image->n_entries == 0;
}

// Return the bytes of a parameter of an entry.
static size_t parameter_size(const struct ir_param *p)
{
    if (p->buffer)
        return POINTER_BYTES;
    return type_is_index(p->var->type) ? sizeof(int64_t)
                                       : type_bytes(p->var->type);
}

// Append a parameter to the table, aligned to its own size or to that of maps.
static void add_parameter(struct arena *a, struct plan *plan,
                          struct plan_entry *entry, size_t size)
{
    uint32_t bytes = (uint32_t)size;
    uint32_t align = bytes < MAP_ALIGN ? bytes : MAP_ALIGN;
    uint32_t at = (entry->parameter_bytes + align - 1) / align * align;
    entry->parameter_bytes = at + bytes;
    entry->n_parameters++;
    vec_push(a, &plan->parameter_sizes, (uint16_t)bytes);
}

// Return an entry that has the parameters of a variant, and no launch yet.
static struct plan_entry parameters_of(struct arena *a, struct plan *plan,
                                       const struct plan_variant *variant)
{
    struct plan_entry entry = {.parameters_at =
                                   (uint32_t)plan->parameter_sizes.n};
    for (size_t i = 0; i < variant->kernel->params.n; i++)
        add_parameter(a, plan, &entry,
                      parameter_size(&variant->kernel->params.at[i]));
    for (size_t i = 0; i < variant->workspace.n; i++)
        add_parameter(a, plan, &entry, POINTER_BYTES);
    for (size_t i = 0; i < variant->kernel->maps.n; i++)
        add_parameter(a, plan, &entry, MAP_BYTES);
    entry.has_maps = variant->kernel->maps.n > 0;
    return entry;
}

// Return the most static shared memory that any image says a launch needs.
static int64_t most_shared(const struct package *package, const char *name)
{
    int64_t most = 0;
    for (size_t i = 0; i < package->n_images; i++) {
        const struct kernel_usage *u =
            usage_find(&package->images[i].usage, name);
        if (u && u->shared > most)
            most = u->shared;
    }
    return most;
}

// Append a launch to the table.
static void add_entry(struct arena *a, struct plan *plan,
                      struct plan_entry entry, const struct ir_launch *launch)
{
    const struct package *package = plan->package;
    entry.launch = launch;
    entry.threads = launch->block[0] * launch->block[1] * launch->block[2];
    entry.shared = most_shared(package, launch->name);
    struct shared_layout shared = shared_layout(a, launch);
    entry.dynamic = shared_dynamic(&shared);
    for (size_t i = 0; i < package->n_images; i++)
        if (!plan_needs(&package->images[i], launch->name))
            entry.is_optional = true;
    vec_push(a, &plan->entries, entry);
}

// Lay out a variant: its workspace, then its launches.
static void add_variant(struct arena *a, struct plan *plan,
                        struct plan_variant *variant)
{
    const struct ir_block *body = &variant->kernel->body;
    variant->entries_at = (uint32_t)plan->entries.n;
    for (size_t i = 0; i < body->n; i++)
        if (body->at[i]->kind == STMT_alloc)
            vec_push(a, &variant->workspace, body->at[i]->u.buffer);
    struct plan_entry entry = parameters_of(a, plan, variant);
    for (size_t i = 0; i < body->n; i++)
        if (body->at[i]->kind == STMT_launch)
            add_entry(a, plan, entry, &body->at[i]->u.launch);
    variant->n_entries = (uint32_t)plan->entries.n - variant->entries_at;
}

// Return the bytes that a variant wants an array parameter to be aligned to:
// TMA takes multiples of 16 only.
static uint32_t variant_align(const struct ir_kernel *variant,
                              const struct ir_buffer *b)
{
    for (size_t i = 0; i < variant->maps.n; i++)
        if (variant->maps.at[i]->buffer == b && b->align < MAPPED_ALIGN)
            return MAPPED_ALIGN;
    return b->align;
}

// Return the bytes that an array parameter must be aligned to: those of an
// element, or more where a variant asks for more.
static uint32_t parameter_align(const struct package_kernel *kernel, size_t i)
{
    const struct ir_buffer *b = kernel->source->params.at[i].buffer;
    uint32_t most = b ? (uint32_t)type_bytes(b->elem) : 1;
    if (b && b->align > most)
        most = b->align;
    for (size_t v = 0; b && v < kernel->n_variants; v++) {
        const struct ir_kernel *variant = kernel->variants[v];
        uint32_t align = variant_align(variant, variant->params.at[i].buffer);
        most = align > most ? align : most;
    }
    return most;
}

// Lay out a kernel.
static void add_kernel(struct arena *a, struct plan *plan,
                       const struct package_kernel *from,
                       struct plan_kernel *to)
{
    size_t n = from->source->params.n;
    uint32_t *aligns = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        aligns[i] = parameter_align(from, i);
    to->source = from->source;
    to->name = arena_printf(a, "%s%s", plan->prefix, from->source->name);
    to->workspace = arena_printf(a, "%s_workspace", to->name);
    to->bytes = arena_printf(a, "%s_bytes", to->name);
    to->names = c_parameter_names(a, from->source, plan->prefix);
    to->aligns = aligns;
    to->n_variants = (uint32_t)from->n_variants;
    to->variants = arena_array(a, struct plan_variant, from->n_variants);
    for (size_t v = 0; v < from->n_variants; v++) {
        to->variants[v].kernel = from->variants[v];
        add_variant(a, plan, &to->variants[v]);
        to->needs_workspace |= to->variants[v].workspace.n > 0;
    }
}

void plan_make(struct arena *a, const struct package *package, struct plan *out)
{
    *out = (struct plan){.package = package};
    out->prefix = package->prefix ? package->prefix : "";
    out->name =
        arena_printf(a, "%s%s", out->prefix, c_identifier(a, package->name));
    out->kernels = arena_array(a, struct plan_kernel, package->n_kernels);
    for (size_t i = 0; i < package->n_kernels; i++)
        add_kernel(a, out, &package->kernels[i], &out->kernels[i]);
    out->images = arena_array(a, struct fatbin_image, package->n_images);
    for (size_t i = 0; i < package->n_images; i++) {
        const struct package_image *image = &package->images[i];
        out->images[i] = (struct fatbin_image){
            .kind = image->kind,
            .sm = image->sm,
            .suffix = image->suffix,
            .bytes = image->bytes,
            .size = image->size,
        };
    }
}

// ---- Names ----------------------------------------------------------------

// The names that a header declares at its top.
struct declared {
    struct arena *arena;
    struct diag_list *diags;
    struct VEC(const char *) names;
    bool ok;
};

// Declare a name, which is refused for the reason `why` unless that is NULL, or
// because it was declared before.
static void declare(struct declared *d, struct span span, const char *name,
                    const char *why)
{
    for (size_t i = 0; i < d->names.n && !why; i++)
        if (strcmp(d->names.at[i], name) == 0)
            why = "used twice in the header";
    vec_push(d->arena, &d->names, name);
    if (why) {
        diag_error(d->diags, span, D_name_taken, name, why);
        d->ok = false;
    }
}

bool plan_check_names(struct arena *a, const struct plan *plan,
                      struct diag_list *diags)
{
    static const char *const tables[] = {"images", "parameters", "entries",
                                         "artifact", "fatbin"};
    struct declared d = {.arena = a, .diags = diags, .ok = true};
    if (strcmp(plan->name, "ingot") == 0)
        declare(&d, (struct span){0}, "ingot.h", "the runtime's header");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        declare(&d, (struct span){0},
                arena_printf(a, "%s_%s", plan->name, tables[i]), NULL);
    for (size_t i = 0; i < plan->package->n_kernels; i++) {
        const struct plan_kernel *k = &plan->kernels[i];
        declare(&d, k->source->span, k->name, c_name_taken(k->name));
        declare(&d, k->source->span, k->workspace, NULL);
        declare(&d, k->source->span, k->bytes, NULL);
    }
    return d.ok;
}
