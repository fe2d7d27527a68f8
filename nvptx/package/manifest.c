// Writes and reads the manifest with jansson, which keeps the order of keys.

#include "nvptx/package/manifest.h"

#include "ir/build.h"
#include "ir/launch_attribute.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "nvptx/package/c_names.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT = 1 };

// A number of struct kernel_usage and its key.
struct usage_key {
    const char *key;
    size_t offset;
};

static const struct usage_key usage_keys[] = {
    {"registers", offsetof(struct kernel_usage, registers)},
    {"stack", offsetof(struct kernel_usage, stack)},
    {"spill_stores", offsetof(struct kernel_usage, spill_stores)},
    {"spill_loads", offsetof(struct kernel_usage, spill_loads)},
    {"shared", offsetof(struct kernel_usage, shared)},
    {"barriers", offsetof(struct kernel_usage, barriers)},
    {"parameter_bytes", offsetof(struct kernel_usage, parameter_bytes)},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

// ---- Writing --------------------------------------------------------------

// Return text as JSON, or null for NULL; bytes that are not UTF-8 become `?`.
static json_t *text_json(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    if (value)
        return value;
    char plain[512];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof plain; n++)
        plain[n] = (char)(text[n] < ' ' || text[n] > '~' ? '?' : text[n]);
    return json_stringn(plain, n);
}

// Return a number as 16 hexadecimal digits.
static json_t *hash_json(uint64_t hash)
{
    return json_sprintf("%016llx", (unsigned long long)hash);
}

// Return an expression as the language writes it.
static json_t *expr_json(const struct ir_expr *x)
{
    struct buf b = {0};
    ir_print_expr(&b, x);
    json_t *value = text_json(b.data);
    buf_free(&b);
    return value;
}

// Return a list of expressions.
static json_t *exprs_json(struct ir_expr *const *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, expr_json(x[i]));
    return list;
}

// Return what a kernel of an image uses; null where it is not known.
static json_t *usage_json(const struct kernel_usage *usage)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", text_json(usage->name));
    for (size_t i = 0; i < COUNT(usage_keys); i++) {
        int64_t value;
        memcpy(&value, (const char *)usage + usage_keys[i].offset,
               sizeof value);
        json_object_set_new(object, usage_keys[i].key,
                            value < 0 ? json_null() : json_integer(value));
    }
    return object;
}

json_t *manifest_image(const struct fatbin_image *image,
                       const struct usage_list *usage)
{
    char name[IMAGE_NAME_SIZE];
    image_name(image->kind, image->sm, image->suffix, name);
    json_t *object = json_object(), *kernels = json_array();
    json_object_set_new(object, "target", text_json(name));
    json_object_set_new(object, "kind",
                        text_json(image->kind == IMAGE_PTX ? "ptx" : "cubin"));
    json_object_set_new(object, "offset",
                        json_integer((json_int_t)image->offset));
    json_object_set_new(object, "size",
                        json_integer((json_int_t)image->padded));
    json_object_set_new(object, "hash", hash_json(image->hash));
    for (size_t i = 0; i < usage->n; i++)
        json_array_append_new(kernels, usage_json(&usage->at[i]));
    json_object_set_new(object, "kernels", kernels);
    return object;
}

// Return what an array is for.
static const char *role_name(enum buffer_role role)
{
    switch (role) {
    case ROLE_input: return "input";
    case ROLE_output: return "output";
    case ROLE_inout: return "inout";
    case ROLE_alloc: return "workspace";
    }
    return NULL;
}

// Return an array: a parameter, or one of the workspace.
static json_t *array_json(const struct ir_buffer *b, uint32_t align)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", text_json(b->name));
    json_object_set_new(object, "type", text_json(type_name(b->elem)));
    json_object_set_new(object, "shape", exprs_json(b->shape, b->rank));
    if (b->strides)
        json_object_set_new(object, "strides", exprs_json(b->strides, b->rank));
    json_object_set_new(object, "role", text_json(role_name(b->role)));
    json_object_set_new(object, "align", json_integer(align));
    return object;
}

// Return a parameter of a kernel.
static json_t *parameter_json(const struct plan_kernel *kernel, size_t i)
{
    const struct ir_param *p = &kernel->source->params.at[i];
    json_t *object =
        p->buffer ? array_json(p->buffer, kernel->aligns[i]) : json_object();
    if (p->var) {
        json_object_set_new(object, "name", text_json(p->var->name));
        json_object_set_new(object, "type", text_json(type_name(p->var->type)));
    }
    json_object_set_new(object, "c_name", text_json(kernel->names[i]));
    return object;
}

// Return a tensor map: how an argument becomes a parameter of the launches.
static json_t *map_json(const struct ir_map *map)
{
    const struct ir_buffer *b = map->buffer;
    struct arena a = {0};
    json_t *object = json_object(), *box = json_array(),
           *strides = json_array();
    for (uint32_t i = 0; i < b->rank; i++) {
        json_array_append_new(box, json_integer(map->box[i]));
        json_array_append_new(strides, expr_json(ir_buffer_stride(&a, b, i)));
    }
    json_object_set_new(object, "name", text_json(map->name));
    json_object_set_new(object, "array", text_json(b->name));
    json_object_set_new(object, "type", text_json(type_name(b->elem)));
    json_object_set_new(object, "shape", exprs_json(b->shape, b->rank));
    json_object_set_new(object, "strides", strides);
    json_object_set_new(object, "box", box);
    json_object_set_new(object, "swizzle", json_integer(map->swizzle));
    json_object_set_new(object, "rounds_to",
                        map->rounds ? json_string("tf32") : json_null());
    arena_reset(&a);
    return object;
}

// Return the tensor maps of a variant.
static json_t *maps_json(const struct ir_kernel *kernel)
{
    json_t *list = json_array();
    for (size_t i = 0; i < kernel->maps.n; i++)
        json_array_append_new(list, map_json(kernel->maps.at[i]));
    return list;
}

// Return a number, or null for 0: the assembler's choice.
static json_t *choice_json(uint32_t value)
{
    return value ? json_integer(value) : json_null();
}

// Return how many barriers a block has, of a branch those of the side with
// more.
static json_int_t barriers_in(const struct ir_block *block)
{
    json_int_t sum = 0;
    for (size_t i = 0; i < block->n; i++) {
        json_int_t most = 0;
        ir_foreach_block(inner, block->at[i]) {
            json_int_t one = barriers_in(inner);
            most = one > most ? one : most;
        }
        sum += most + (block->at[i]->kind == STMT_barrier);
    }
    return sum;
}

// Return the names of a set of launch attributes.
static json_t *attributes_json(uint32_t set)
{
    json_t *list = json_array();
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        enum launch_attribute attribute = (enum launch_attribute)i;
        if (attribute_in(set, attribute))
            json_array_append_new(list, text_json(attribute_name(attribute)));
    }
    return list;
}

// Return a launch.
static json_t *launch_json(const struct plan_entry *entry)
{
    const struct ir_launch *launch = entry->launch;
    json_t *object = json_object(), *block = json_array();
    json_t *cluster = json_array();
    for (int i = 0; i < 3; i++) {
        json_array_append_new(block, json_integer(launch->block[i]));
        json_array_append_new(cluster, json_integer(launch->cluster[i]));
    }
    json_object_set_new(object, "entry", text_json(launch->name));
    json_object_set_new(object, "grid", exprs_json(launch->grid, 3));
    json_object_set_new(object, "cluster", cluster);
    json_object_set_new(object, "block", block);
    json_object_set_new(object, "barriers",
                        json_integer(barriers_in(&launch->body)));
    json_object_set_new(object, "dynamic_shared", json_integer(entry->dynamic));
    json_object_set_new(object, "min_blocks", choice_json(launch->min_blocks));
    json_object_set_new(object, "max_registers",
                        choice_json(launch->max_registers));
    json_object_set_new(object, "attributes",
                        attributes_json(launch->attributes));
    json_object_set_new(object, "in_every_image",
                        json_boolean(!entry->is_optional));
    return object;
}

// Return a variant.
static json_t *variant_json(const struct plan *plan,
                            const struct plan_variant *variant)
{
    const struct ir_kernel *kernel = variant->kernel;
    json_t *object = json_object();
    json_t *workspace = json_array(), *launches = json_array();
    for (size_t i = 0; i < variant->workspace.n; i++)
        json_array_append_new(
            workspace, array_json(variant->workspace.at[i], WORKSPACE_ALIGN));
    for (uint32_t i = 0; i < variant->n_entries; i++)
        json_array_append_new(
            launches, launch_json(&plan->entries.at[variant->entries_at + i]));
    json_object_set_new(object, "name",
                        text_json(kernel->variant ? kernel->variant : ""));
    json_object_set_new(object, "guard",
                        exprs_json(kernel->guard.at, kernel->guard.n));
    json_object_set_new(object, "workspace", workspace);
    if (kernel->maps.n)
        json_object_set_new(object, "maps", maps_json(kernel));
    json_object_set_new(object, "launches", launches);
    return object;
}

// Return a kernel, with the hash of its definition.
static json_t *kernel_json(const struct plan *plan,
                           const struct plan_kernel *kernel,
                           uint64_t definition)
{
    const struct ir_kernel *source = kernel->source;
    json_t *object = json_object();
    json_t *parameters = json_array(), *variants = json_array();
    for (size_t i = 0; i < source->params.n; i++)
        json_array_append_new(parameters, parameter_json(kernel, i));
    for (uint32_t i = 0; i < kernel->n_variants; i++)
        json_array_append_new(variants,
                              variant_json(plan, &kernel->variants[i]));
    json_object_set_new(object, "name", text_json(source->name));
    json_object_set_new(object, "c_name", text_json(kernel->name));
    json_object_set_new(object, "definition", hash_json(definition));
    json_object_set_new(object, "parameters", parameters);
    json_object_set_new(object, "where",
                        exprs_json(source->where.at, source->where.n));
    json_object_set_new(object, "fast_math", json_boolean(source->fast_math));
    json_object_set_new(object, "variants", variants);
    return object;
}

// Return the versions of what made the package.
static json_t *tools_json(const struct package *package)
{
    json_t *object = json_object();
    json_object_set_new(object, "ingot", text_json(package->ingot_version));
    json_object_set_new(object, "llvm", text_json(package->llvm_version));
    json_object_set_new(object, "ptxas", text_json(package->ptxas_version));
    return object;
}

// Return which drivers the package needs.
static json_t *driver_json(const struct driver_need *need)
{
    return json_pack("{s:i, s:o}", "oldest", need->oldest, "needed_by",
                     text_json(need->why));
}

void manifest_write(struct arena *a, const struct plan *plan, struct buf *out)
{
    const struct package *package = plan->package;
    json_t *root = json_object(), *fatbin = json_object();
    json_t *images = json_array(), *kernels = json_array();
    for (size_t i = 0; i < package->n_images; i++)
        json_array_append_new(
            images, manifest_image(&plan->images[i], &plan->usage[i]));
    for (size_t i = 0; i < package->n_kernels; i++)
        json_array_append_new(kernels,
                              kernel_json(plan, &plan->kernels[i],
                                          package->kernels[i].definition));
    json_object_set_new(
        fatbin, "file",
        text_json(arena_printf(a, package->triple ? "%s.o" : "%s.fatbin",
                               package->name)));
    json_object_set_new(fatbin, "size",
                        json_integer((json_int_t)plan->fatbin_size));
    json_object_set_new(fatbin, "hash", hash_json(plan->fatbin_hash));
    json_object_set_new(root, "format", json_integer(FORMAT));
    json_object_set_new(root, "name", text_json(package->name));
    json_object_set_new(root, "prefix", text_json(plan->prefix));
    json_object_set_new(root, "c_name", text_json(plan->name));
    json_object_set_new(root, "source", text_json(path_base(package->source)));
    json_object_set_new(root, "tools", tools_json(package));
    json_object_set_new(root, "driver", driver_json(&plan->need));
    json_object_set_new(root, "fatbin", fatbin);
    json_object_set_new(root, "images", images);
    json_object_set_new(root, "kernels", kernels);
    char *text = json_dumps(root, JSON_INDENT(2));
    buf_text(out, text ? text : "");
    buf_char(out, '\n');
    free(text);
    json_decref(root);
}

// ---- Reading --------------------------------------------------------------

// Complete one kernel by what the manifest says of it.
static void read_usage(const json_t *object, struct kernel_usage *usage)
{
    for (size_t i = 0; i < COUNT(usage_keys); i++) {
        const json_t *value = json_object_get(object, usage_keys[i].key);
        char *field = (char *)usage + usage_keys[i].offset;
        int64_t known;
        memcpy(&known, field, sizeof known);
        if (known >= 0 || !json_is_integer(value))
            continue;
        known = json_integer_value(value);
        memcpy(field, &known, sizeof known);
    }
}

// Complete the kernels of one image.
static void read_image(const json_t *image, struct usage_list *usage)
{
    const json_t *kernels = json_object_get(image, "kernels");
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        const char *name = json_string_value(json_object_get(kernel, "name"));
        struct kernel_usage *u = name ? usage_find(usage, name) : NULL;
        if (u)
            read_usage(kernel, u);
    }
}

// Return why a manifest does not belong to a fatbin with that hash, or NULL.
static const char *mismatch(const json_t *root, uint64_t fatbin_hash)
{
    char wanted[17];
    const char *hash = json_string_value(
        json_object_get(json_object_get(root, "fatbin"), "hash"));
    snprintf(wanted, sizeof wanted, "%016llx", (unsigned long long)fatbin_hash);
    if (json_integer_value(json_object_get(root, "format")) != FORMAT)
        return "it is of an unknown format";
    if (!hash || strcmp(hash, wanted) != 0)
        return "it describes another fatbin";
    return NULL;
}

const char *manifest_read(struct arena *a, const char *text, size_t size,
                          uint64_t fatbin_hash, struct usage_list *usage,
                          size_t n_images)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return arena_printf(a, "line %d: %s", error.line, error.text);
    const char *fault = mismatch(root, fatbin_hash);
    const json_t *images = json_object_get(root, "images");
    for (size_t i = 0; i < n_images && !fault; i++)
        read_image(json_array_get(images, i), &usage[i]);
    json_decref(root);
    return fault;
}
