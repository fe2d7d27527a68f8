// The parts that launch functions are written from.

#ifndef NVPTX_PACKAGE_WRITER_H
#define NVPTX_PACKAGE_WRITER_H

#include "nvptx/package/plan.h"

// What is being written.
struct writer {
    struct arena *arena;              // of the texts and expressions made
    const struct plan *plan;          // of the package
    const struct plan_kernel *kernel; // whose launch function it is
    struct diag_list *diags;          // of what C cannot compute
    struct buf *out;                  // the header
    const struct c_values *values;    // of guards; see struct c_scope
    bool knows_sms;                   // see there
    bool uses_values;                 // the last expression does; see there
    bool ok;                          // no expression was refused
};

// Return an expression as the language writes it.
const char *writer_text(struct writer *w, const struct ir_expr *x);

// Append an expression about the parameters of `kernel` as C.
// Returns whether it may set `overflow`.
bool writer_expr(struct writer *w, const struct ir_kernel *kernel,
                 const struct ir_expr *x);

// The same for a guard: what other guards want, too, is in variables.
bool writer_guard(struct writer *w, const struct ir_kernel *kernel,
                  const struct ir_expr *x);

// Return the bytes that an array spans, as an expression.
struct ir_expr *writer_bytes(struct arena *a, const struct ir_buffer *b);

// Return whether the function that says how large the workspace is takes a
// parameter.
bool writer_is_size(const struct ir_param *p);

// Append the declaration of a parameter in C.
void writer_parameter(struct writer *w, size_t i);

// Append the sizes, separated by commas: as declarations or as names.
void writer_sizes(struct writer *w, bool is_declaration);

// Return "f32[M, K]", with its strides.
const char *writer_shape(struct writer *w, const struct ir_buffer *b);

// Append a statement for each size that uses it: callers compile with
// -Wunused-parameter.
void writer_use_sizes(struct writer *w);

// A function of the header, written from what appends its comment, and its
// name and parameters.
struct writer_function {
    void (*comment)(struct writer *w);
    void (*signature)(struct writer *w);
};

// Append the declaration of a function, below its comment.
void writer_declare(struct writer *w, const struct writer_function *f);

// Append a function up to its first brace. Where the header declares it, its
// comment is there, and it is visible to the linker.
void writer_begin(struct writer *w, const struct writer_function *f);

// Append `ingot_reject(...)` for a condition.
void writer_rejection(struct writer *w, const char *status, const char *text);

#endif
