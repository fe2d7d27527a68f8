// Machine code as nvdisasm writes it: instructions, their classes and places,
// and the loops that they form.

#ifndef TOOLS_INGOT_SASS_H
#define TOOLS_INGOT_SASS_H

#include "ir/base/arena.h"
#include "ir/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum sass_class {
#define SASS_CLASS(name, weight, meaning) SASS_##name,
#include "tools/ingot/sass.def"
    SASS_CLASSES
};

// A row of sass.def.
struct sass_class_info {
    const char *name;
    uint32_t weight;
    const char *meaning;
};
const struct sass_class_info *sass_class_info(enum sass_class class);

// A line of a source.
struct sass_place {
    const char *file;
    uint32_t line;
};
struct sass_places VEC(struct sass_place);

// An instruction.
struct sass_instr {
    uint32_t at;      // its address
    const char *text; // with its predicate, without the semicolon
    enum sass_class class;
    int32_t target;            // the instruction that it may branch to, or -1
    bool is_last;              // the next one does not follow
    struct sass_places places; // innermost first; none if they are not known
};

// A kernel.
struct sass_kernel {
    const char *name;
    struct VEC(struct sass_instr) code;
};
struct sass_kernels VEC(struct sass_kernel);

// Read what `nvdisasm -c` wrote, with -gi for places.
struct sass_kernels sass_read(struct arena *a, const char *text);

// A loop: in[i] says whether instruction i is part of it.
struct sass_loop {
    const bool *in; // NULL: there is no loop
    size_t n;       // instructions of the loop
};

// Find the main loop of a kernel: of those that hold no other loop that does
// more than wait, the one whose instructions weigh most.
struct sass_loop sass_main_loop(struct arena *a,
                                const struct sass_kernel *kernel);

#endif
