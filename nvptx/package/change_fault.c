// Compares the manifests of two builds: whether code of the one can be launched by the
// header of the other.

#include "nvptx/package/change.h"

#include <jansson.h>
#include <string.h>

// What is compared.
struct comparison {
    struct arena *arena;
    const json_t *ours, *theirs; // the kernels of one name
    const char *kernel;
    const struct usage_list *image; // what the image has
};

// Return a text member of an object, or "".
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

// Return the member of a list whose member `key` is `name`, or NULL.
static const json_t *named(const json_t *list, const char *key,
                           const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *member = json_array_get(list, i);
        if (strcmp(text_of(member, key), name) == 0)
            return member;
    }
    return NULL;
}

// Return whether two objects are equal in a member.
static bool agree(const json_t *a, const json_t *b, const char *key)
{
    const json_t *of_a = json_object_get(a, key);
    const json_t *of_b = json_object_get(b, key);
    return of_a == of_b || json_equal(of_a, of_b);
}

// Return whether two objects are equal in all members but one.
static bool agree_without(const json_t *a, const json_t *b, const char *key)
{
    json_t *copy_of_a = json_copy((json_t *)(uintptr_t)a);
    json_t *copy_of_b = json_copy((json_t *)(uintptr_t)b);
    json_object_del(copy_of_a, key);
    json_object_del(copy_of_b, key);
    bool ok = json_equal(copy_of_a, copy_of_b);
    json_decref(copy_of_a);
    json_decref(copy_of_b);
    return ok;
}

// Return whether two variants do the same: the same launches under the same guard.
// Their names do not matter, and which other images have a launch.
static bool same_variant(const json_t *a, const json_t *b)
{
    const json_t *ours = json_object_get(a, "launches");
    const json_t *theirs = json_object_get(b, "launches");
    bool ok = agree(a, b, "guard") && agree(a, b, "workspace") &&
              agree(a, b, "maps") &&
              json_array_size(ours) == json_array_size(theirs);
    for (size_t i = 0; ok && i < json_array_size(ours); i++)
        ok = agree_without(json_array_get(ours, i), json_array_get(theirs, i),
                           "in_every_image");
    return ok;
}

// Return whether the other build has a variant.
static bool has_variant(const json_t *kernel, const json_t *variant)
{
    const json_t *all = json_object_get(kernel, "variants");
    for (size_t i = 0; i < json_array_size(all); i++)
        if (same_variant(variant, json_array_get(all, i)))
            return true;
    return false;
}

// Return what is wrong with the image's launches of a variant, or NULL.
static const char *variant_fault(const struct comparison *c,
                                 const json_t *variant)
{
    const json_t *launches = json_object_get(variant, "launches");
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i);
        const char *entry = text_of(launch, "entry");
        bool is_there = usage_find(c->image, entry) != NULL;
        if (!is_there &&
            json_is_true(json_object_get(launch, "in_every_image")))
            return arena_printf(c->arena, "it has no launch `%s`", entry);
        if (is_there && !has_variant(c->theirs, variant))
            return arena_printf(c->arena, "it launches `%s` in another way",
                                entry);
    }
    return NULL;
}

// Return whether two kernels have the same parameters, whatever their alignment.
static bool same_parameters(const json_t *a, const json_t *b)
{
    const json_t *ours = json_object_get(a, "parameters");
    const json_t *theirs = json_object_get(b, "parameters");
    bool ok = json_array_size(ours) == json_array_size(theirs);
    for (size_t i = 0; ok && i < json_array_size(ours); i++)
        ok = agree_without(json_array_get(ours, i), json_array_get(theirs, i),
                           "align");
    return ok;
}

// Return the parameter that must be aligned more strictly than the header checks, or
// NULL.
static const json_t *stricter(const json_t *a, const json_t *b)
{
    const json_t *ours = json_object_get(a, "parameters");
    const json_t *theirs = json_object_get(b, "parameters");
    for (size_t i = 0; i < json_array_size(ours); i++) {
        const json_t *parameter = json_array_get(theirs, i);
        if (json_integer_value(json_object_get(parameter, "align")) >
            json_integer_value(
                json_object_get(json_array_get(ours, i), "align")))
            return parameter;
    }
    return NULL;
}

// Return what is different of a kernel, or NULL.
static const char *kernel_fault(const struct comparison *c)
{
    const json_t *variants = json_object_get(c->ours, "variants");
    const char *fault = NULL;
    if (!c->theirs)
        return arena_printf(c->arena, "it has no kernel `%s`", c->kernel);
    if (!json_object_get(c->ours, "definition") ||
        !json_object_get(c->theirs, "definition"))
        return arena_printf(c->arena,
                            "an older ingot did not note what `%s` computes",
                            c->kernel);
    if (!agree(c->ours, c->theirs, "definition") ||
        !same_parameters(c->ours, c->theirs) ||
        !agree(c->ours, c->theirs, "where") ||
        !agree(c->ours, c->theirs, "fast_math"))
        return arena_printf(c->arena, "its `%s` computes something else",
                            c->kernel);
    for (size_t i = 0; i < json_array_size(variants) && !fault; i++)
        fault = variant_fault(c, json_array_get(variants, i));
    const json_t *parameter = fault ? NULL : stricter(c->ours, c->theirs);
    return parameter ? arena_printf(c->arena,
                                    "its `%s` needs `%s` aligned more strictly",
                                    c->kernel, text_of(parameter, "name"))
                     : fault;
}

const char *change_fault(struct arena *a, const struct inspect_file *ours,
                         const struct inspect_file *theirs,
                         const struct usage_list *image)
{
    json_t *our_root = json_loadb(ours->bytes, ours->size, 0, NULL);
    json_t *their_root = json_loadb(theirs->bytes, theirs->size, 0, NULL);
    const json_t *kernels = json_object_get(our_root, "kernels");
    const char *fault = NULL;
    for (size_t i = 0; i < json_array_size(kernels) && !fault; i++) {
        struct comparison c = {a, json_array_get(kernels, i), NULL, NULL,
                               image};
        c.kernel = text_of(c.ours, "name");
        c.theirs =
            named(json_object_get(their_root, "kernels"), "name", c.kernel);
        fault = kernel_fault(&c);
    }
    if (fault)
        fault = arena_printf(a, "%s", fault);
    json_decref(our_root);
    json_decref(their_root);
    return fault;
}

// Return the name of a launch of a kernel that waits by itself, or NULL.
static const char *waiting_in(const json_t *kernel)
{
    const json_t *variants = json_object_get(kernel, "variants");
    for (size_t v = 0; v < json_array_size(variants); v++) {
        const json_t *launches =
            json_object_get(json_array_get(variants, v), "launches");
        for (size_t i = 0; i < json_array_size(launches); i++) {
            const json_t *launch = json_array_get(launches, i);
            const json_t *all = json_object_get(launch, "attributes");
            for (size_t k = 0; k < json_array_size(all); k++) {
                const char *name = json_string_value(json_array_get(all, k));
                if (name && strcmp(name, "programmatic") == 0)
                    return text_of(launch, "entry");
            }
        }
    }
    return NULL;
}

const char *change_waiting(struct arena *a, const struct inspect_file *manifest)
{
    json_t *root = json_loadb(manifest->bytes, manifest->size, 0, NULL);
    const json_t *kernels = json_object_get(root, "kernels");
    const char *name = NULL;
    for (size_t i = 0; i < json_array_size(kernels) && !name; i++)
        name = waiting_in(json_array_get(kernels, i));
    if (name)
        name = arena_printf(a, "%s", name);
    json_decref(root);
    return name;
}
