// Callers in other languages, written from the manifest of a package.

#ifndef NVPTX_PACKAGE_BINDINGS_BINDINGS_H
#define NVPTX_PACKAGE_BINDINGS_BINDINGS_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/vec.h"

#include <stdbool.h>

// The languages.
enum binding {
#define BINDING(name, spelling, extension, links, meaning) BINDING_##name,
#include "nvptx/package/bindings/bindings.def"
#undef BINDING
    BINDING_COUNT
};

// What a row of bindings.def says.
struct binding_info {
    const char *spelling, *extension;
    bool links;
};

// A row of types.def.
struct bound_type {
    const char *name;
    unsigned bytes;
    const char *c, *ctypes, *rust, *go;
};

// A parameter of a kernel.
struct bound_parameter {
    const char *name; // in C
    const char *text; // "f32[n, m]", or "f32"
    const struct bound_type *type;
    bool is_array;
    bool is_written; // of an array
    bool is_size;    // the functions about sizes take it
};

// A kernel.
struct bound_kernel {
    const char *name;   // in the file
    const char *c_name; // of its launch function
    struct VEC(struct bound_parameter) parameters;
};

// What a manifest says to callers.
struct bound {
    struct arena *arena;
    const char *name;   // of the files
    const char *c_name; // of the tables in C
    const char *source;
    const char *size; // bytes of the fatbin
    struct VEC(struct bound_kernel) kernels;
};

// Return what is known of a language.
const struct binding_info *binding_info(enum binding language);

// Append the file of a language: what calls the kernels of a manifest that was
// written by this program.
void bindings_write(struct arena *a, enum binding language,
                    const char *manifest, size_t size, struct buf *out);

// Append the file of one language.
#define BINDING(name, spelling, extension, links, meaning)                     \
    void bindings_##name(const struct bound *b, struct buf *out);
#include "nvptx/package/bindings/bindings.def"
#undef BINDING

// ---- Parts that languages share

// Return a name, with as many `_` behind it as it takes to be none of a list,
// which ends with NULL.
const char *bound_free(struct arena *a, const char *name,
                       const char *const *taken);

// Return the sizes of a kernel, each behind `first` or, from the second on,
// `next`; names that are among `taken` are changed as bound_free does.
const char *bound_sizes(const struct bound *b, const struct bound_kernel *k,
                        const char *first, const char *next,
                        const char *const *taken);

#endif
