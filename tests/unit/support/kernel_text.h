// Kernels written as text inside tests.

#ifndef TESTS_UNIT_SUPPORT_KERNEL_TEXT_H
#define TESTS_UNIT_SUPPORT_KERNEL_TEXT_H

#include "ir/eval.h"
#include "ir/ir.h"

// Return the kernel that the text is, in the arena; fails the test with the
// diagnostics, or the faults of ir_check, if it is none.
struct ir_kernel *kernel_text(struct arena *a, const char *text);

// The same without ir_check.
struct ir_kernel *kernel_text_unchecked(struct arena *a, const char *text);

// Return the kernel as text, in the arena.
const char *kernel_printed(struct arena *a, const struct ir_kernel *k);

// Return the first statement of that kind below the kernel's body; fails the
// test if there is none.
struct ir_stmt *kernel_stmt(struct ir_kernel *k, enum ir_stmt_kind kind);

// A kernel in an arena, `arena`, that the test resets at its end.
#define KERNEL(name, ...)                                                      \
    struct arena arena = {0};                                                  \
    struct ir_kernel *name = kernel_text(&arena, __VA_ARGS__)

// The arguments of one run.
#define ARGS(...)   ((struct eval_argument[]){__VA_ARGS__})
#define SIZE(value) ((struct eval_argument){.scalar.i = (value)})

// An argument that is an array.
#define ARRAY(array)                                                           \
    (struct eval_argument)                                                     \
    {                                                                          \
        .data = (array), .size = sizeof(array)                                 \
    }

// Evaluate, and fail the test unless it is done.
void kernel_run(const struct ir_kernel *k, const struct eval_argument *args);

// Evaluate, and fail the test unless it ends with that status and its text
// contains those words.
void kernel_stops(const struct ir_kernel *k, const struct eval_argument *args,
                  enum eval_status status, const char *words);

#endif
