// Reads a manifest and calls the language.

#include "nvptx/package/bindings/bindings.h"

#include <jansson.h>
#include <string.h>

static const struct binding_info infos[] = {
#define BINDING(name, spelling, extension, links, meaning)                     \
    {spelling, extension, links},
#include "nvptx/package/bindings/bindings.def"
#undef BINDING
};

static const struct bound_type types[] = {
#define BOUND_TYPE(name, bytes, c, ctypes, rust, go)                           \
    {#name, bytes, c, ctypes, rust, go},
#include "nvptx/package/bindings/types.def"
#undef BOUND_TYPE
};

const struct binding_info *binding_info(enum binding language)
{
    return &infos[language];
}

// Return the text of a key, "" if there is none.
static const char *text_of(struct arena *a, const json_t *object,
                           const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? arena_copy(a, text, strlen(text)) : "";
}

// Return the type of a name.
static const struct bound_type *type_of(const char *name)
{
    size_t n = sizeof types / sizeof *types - 1;
    for (size_t i = 0; i < n; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return &types[n];
}

// Return "f32[n, m]".
static const char *array_text(struct arena *a, const char *type,
                              const json_t *shape)
{
    const char *text = arena_printf(a, "%s[", type);
    for (size_t i = 0; i < json_array_size(shape); i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
                            json_string_value(json_array_get(shape, i)));
    return arena_printf(a, "%s]", text);
}

// Read a parameter.
static struct bound_parameter read_parameter(struct arena *a,
                                             const json_t *object)
{
    const json_t *shape = json_object_get(object, "shape");
    const char *type = text_of(a, object, "type");
    const char *role = text_of(a, object, "role");
    return (struct bound_parameter){
        .name = text_of(a, object, "c_name"),
        .text = shape ? array_text(a, type, shape) : type,
        .type = type_of(type),
        .is_array = shape,
        .is_written = shape && strcmp(role, "input") != 0,
        .is_size = !shape && strcmp(type, "int") == 0};
}

// Read a kernel.
static struct bound_kernel read_kernel(struct arena *a, const json_t *object)
{
    const json_t *list = json_object_get(object, "parameters");
    struct bound_kernel kernel = {.name = text_of(a, object, "name"),
                                  .c_name = text_of(a, object, "c_name")};
    for (size_t i = 0; i < json_array_size(list); i++)
        vec_push(a, &kernel.parameters,
                 read_parameter(a, json_array_get(list, i)));
    return kernel;
}

// Read a manifest.
static struct bound read_manifest(struct arena *a, const json_t *root)
{
    const json_t *list = json_object_get(root, "kernels");
    const json_t *fatbin = json_object_get(root, "fatbin");
    struct bound b = {
        .arena = a,
        .name = text_of(a, root, "name"),
        .c_name = text_of(a, root, "c_name"),
        .source = text_of(a, root, "source"),
        .size = arena_printf(
            a, "%lld",
            (long long)json_integer_value(json_object_get(fatbin, "size")))};
    for (size_t i = 0; i < json_array_size(list); i++)
        vec_push(a, &b.kernels, read_kernel(a, json_array_get(list, i)));
    return b;
}

void bindings_write(struct arena *a, enum binding language,
                    const char *manifest, size_t size, struct buf *out)
{
    json_t *root = json_loadb(manifest, size, 0, NULL);
    struct bound b = read_manifest(a, root);
    json_decref(root);
    switch (language) {
#define BINDING(name, spelling, extension, links, meaning)                     \
    case BINDING_##name:                                                       \
        bindings_##name(&b, out);                                              \
        return;
#include "nvptx/package/bindings/bindings.def"
#undef BINDING
    case BINDING_COUNT: return;
    }
}

const char *bound_free(struct arena *a, const char *name,
                       const char *const *taken)
{
    for (size_t i = 0; taken[i]; i++)
        if (strcmp(taken[i], name) == 0)
            return bound_free(a, arena_printf(a, "%s_", name), taken);
    return name;
}

const char *bound_sizes(const struct bound *b, const struct bound_kernel *k,
                        const char *first, const char *next,
                        const char *const *taken)
{
    const char *text = "";
    vec_foreach(p, &k->parameters)
        if (p->is_size)
            text = arena_printf(b->arena, "%s%s%s", text, *text ? next : first,
                                bound_free(b->arena, p->name, taken));
    return text;
}
