// Reads what a cubin holds: its architecture, its kernels and what they use.
// Nothing outside the given bytes is read, whatever they say.

#ifndef NVPTX_PACKAGE_ELF_H
#define NVPTX_PACKAGE_ELF_H

#include "ir/base/arena.h"
#include "ir/base/vec.h"

#include <stdint.h>

// What one kernel uses; -1 where it is not known.
struct kernel_usage {
    const char *name;        // its symbol
    int64_t registers;       // per thread
    int64_t stack;           // bytes of local memory per thread
    int64_t spill_stores;    // bytes per thread, of the stack
    int64_t spill_loads;     // bytes per thread
    int64_t shared;          // bytes of static shared memory per block
    int64_t barriers;        // named barriers
    int64_t parameter_bytes; // bytes of all parameters, padding included
};

// All kernels of one image.
struct usage_list VEC(struct kernel_usage);

// Return a usage of which nothing is known.
struct kernel_usage usage_unknown(const char *name);

// Find a kernel by its name, or return NULL.
struct kernel_usage *usage_find(const struct usage_list *list,
                                const char *name);

// A cubin.
struct elf_cubin {
    uint32_t sm;           // 90 for sm_90 and sm_90a
    uint8_t abi_version;   // of the ELF header
    const uint8_t *compat; // its `.nv.compat` section, or NULL
    size_t compat_size;
    struct usage_list kernels; // in the order of the symbol table
};

// Read a cubin; the names and `compat` point into an arena copy or the bytes.
// Returns NULL, or a phrase that says what is malformed.
const char *elf_read(struct arena *a, const void *bytes, size_t size,
                     struct elf_cubin *out);

// Find the machine code of a kernel in a cubin; the result points into the
// bytes.  Returns NULL, with size 0, if there is none.
const uint8_t *elf_code(struct arena *a, const void *bytes, size_t size,
                        const char *kernel, size_t *code_size);

#endif
