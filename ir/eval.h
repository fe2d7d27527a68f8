// The interpreter: what a kernel means, at any level.

#ifndef IR_EVAL_H
#define IR_EVAL_H

#include "ir/base/buf.h"
#include "ir/ir.h"

// The value of a parameter: for a variable the scalar, for an array its
// elements in the layout of the file (little-endian, C types of types.def,
// row-major or strided).
struct eval_argument {
    union {
        int64_t i; // integer types and bool
        double f;  // floating types
    } scalar;
    void *data;  // elements; not owned
    size_t size; // bytes at `data`
};

// The SMs of the device that the interpreter stands for: few, so
// that small problems keep them busy for several rounds.
enum { EVAL_SMS = 3 };

// How an evaluation ended.
enum eval_status {
    EVAL_DONE,
    EVAL_REFUSED, // a `where` is false, or a grid larger than a device takes
    EVAL_FAULT,   // out of bounds, division by zero, divergent barrier ...
    EVAL_LIMIT,   // more than `most_steps` statements
    EVAL_WAITS,   // every thread that is left waits
};

struct eval_result {
    enum eval_status status;
    const char *text; // what and where, unless done; in the arena
    struct span span;
};

// A read of an element that nobody had written.
struct eval_unwritten {
    const struct ir_buffer *buffer;
    const char *element; // "s[255]", in the arena
    struct span read;
    struct span write; // of who writes it afterwards; none if nobody does
    bool is_atomic;    // an atomic reads it
};

enum { EVAL_UNWRITTEN_MOST = 16 };

// What to look for in an evaluation.
struct eval_watch {
    // Fresh arrays hold other values than usual: what is in results that
    // differ then has come of them.
    bool is_other;
    // The reads of such values: of each place in the text the first.
    struct eval_unwritten unwritten[EVAL_UNWRITTEN_MOST];
    size_t n;
    uint64_t steps; // that it took
};

// Run a kernel on arguments in the order of kernel->params. Floating point is
// computed in the type of each operation, rounded to nearest even.  Threads of
// a block run round-robin between barriers, and where they wait for one
// another; blocks run one after another, or round-robin where they wait.
// `most_steps` 0 means no limit.
struct eval_result ir_eval(struct arena *a, const struct ir_kernel *kernel,
                           const struct eval_argument *arguments,
                           uint64_t most_steps);

// The same, and watch.  Results hold before what fresh
// arrays do: NaN, or 0xcd in every byte.
struct eval_result ir_eval_watched(struct arena *a,
                                   const struct ir_kernel *kernel,
                                   const struct eval_argument *arguments,
                                   uint64_t most_steps,
                                   struct eval_watch *watch);

// The same, without a watch if it is NULL, and append what the kernel prints.
struct eval_result
ir_eval_printed(struct arena *a, const struct ir_kernel *kernel,
                const struct eval_argument *arguments, uint64_t most_steps,
                struct eval_watch *watch, struct buf *printed);

// Evaluate an integer expression over parameters only, such as an extent, a
// `where` or a grid dimension; false if it divides by zero or overflows.
bool ir_eval_int(const struct ir_kernel *kernel,
                 const struct eval_argument *arguments, const struct ir_expr *x,
                 int64_t *value);

// The same for `n` choices of arguments; `known` says of each whether it has a
// value.
void ir_eval_ints(const struct ir_kernel *kernel,
                  const struct eval_argument *const *arguments, size_t n,
                  const struct ir_expr *x, int64_t *values, bool *known);

// Conversions between a number and the bytes of an element.
double eval_load_float(struct type type, const void *element);
void eval_store_float(struct type type, void *element, double value);
int64_t eval_load_int(struct type type, const void *element);
void eval_store_int(struct type type, void *element, int64_t value);

#endif
