// A kernel with values for its parameters: what `ingot run` computes.

#ifndef TOOLS_INGOT_PROBLEM_H
#define TOOLS_INGOT_PROBLEM_H

#include "ir/arith.h"
#include "ir/base/diag.h"
#include "ir/eval.h"
#include "ir/ir.h"
#include "tools/ingot/elements.h"

// `name = text` from the command line.
struct problem_setting {
    const char *name, *text;
};

struct problem_settings VEC(struct problem_setting);

// The settings and the seed of the random rest.
struct problem_request {
    struct problem_settings values; // of sizes and scalars; the last counts
    struct problem_settings ranges; // of arrays: "LO:HI"
    uint64_t seed;
    enum elements elements; // of arrays without a range
};

struct problem_requests VEC(struct problem_request);

// What an array holds before the kernel runs.
enum problem_fill {
    FILL_RANDOM, // it is read: of the kind that the problem says
    FILL_POISON, // it is written: no value that is likely to be right
};

struct problem_values VEC(union number);

// One array parameter.
struct problem_array {
    const struct ir_buffer *buffer;
    size_t parameter; // its place among all
    size_t bytes;     // that it spans
    enum problem_fill fill;
    struct problem_values rare; // among its elements
    bool is_ranged;   // its elements are random, from `low` to `high`, of
    double low, high; // integers both included
    bool ascends;     // ranged: none is less than the one in front of it
};

// The problem.
struct problem {
    const struct ir_kernel *kernel; // as it was written
    uint64_t seed;
    enum elements elements;
    bool is_sparse; // of large arrays without a range the first part is written
    struct eval_argument *values; // of each parameter; arrays: size alone
    struct VEC(struct problem_array) arrays;
    int64_t sms; // of the device; 0: those of the interpreter
};

// How asking for a problem ended.
enum problem_result {
    PROBLEM_READY,
    PROBLEM_REFUSED, // reported: `where` does not hold, or it is too large
    PROBLEM_USAGE,   // `wrong` says what of the request cannot be
};

// Give every parameter of a kernel its value.  Scalars that are not set are
// random, sizes must be set.
enum problem_result problem_make(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 const struct problem_request *request,
                                 struct diag_list *diags, struct problem *out,
                                 const char **wrong);

// Return whether what `where` says holds, of the definition, too, and there are
// numbers in the ranges of the elements; requires kernel and values alone.
bool problem_is_possible(const struct problem *p);

// Add a request for each set of sizes that the text says to try.
void problem_tries(struct arena *a, const struct ir_kernel *kernel,
                   const struct problem_request *base,
                   struct problem_requests *out);

// Say of which arrays of positions the text should give the range.
void problem_hint(struct arena *a, const struct ir_kernel *kernel,
                  const struct problem_request *request,
                  struct diag_list *diags);

// Return how many bytes of an array are written before the kernel runs; those
// behind them are 0.
size_t problem_written(const struct problem *p,
                       const struct problem_array *array);

// Write what an array holds before the kernel runs.
void problem_write(const struct problem *p, size_t array, void *bytes);

// Return memory for an array of the problem, or NULL after reporting; released
// by problem_free.
void *problem_alloc(const struct problem_array *array, struct diag_list *diags);
void problem_free(const struct problem_array *array, void *data);

// Return the byte that poison is made of: floating types read it as NaN.
unsigned char problem_poison(const struct ir_buffer *b);

// Return arguments whose arrays are newly allocated, shared with children, and
// written; or NULL after reporting that memory ran out.
// problem_free_arguments releases them.
struct eval_argument *problem_arguments(struct arena *a,
                                        const struct problem *p,
                                        struct diag_list *diags);
void problem_free_arguments(const struct problem *p,
                            struct eval_argument *arguments);

#endif
