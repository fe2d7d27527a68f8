// What a stage reduces, and how: which arrays hold its result, what they
// start from, what each iteration combines them with.
//
//   S[vi] = S[vi] + x                          an operation that allows any
//                                              order: + * min max || && | & ^
//   let a = P[vi]  let b = x                   a reduction that the file
//   let c = Q[vi]  let d = y  ...              declares: several arrays, and
//   P[vi] = f(a, b, c, d)  Q[vi] = g(...)      any function of both sides,
//                                              branches included
//   if x(vj) > x(I[vi]) { I[vi] = vj }         the position of an extreme
//
// each of them possibly under a condition on the iteration.
#ifndef PASSES_ANALYSIS_REDUCER_H
#define PASSES_ANALYSIS_REDUCER_H

#include "ir/base/map.h"
#include "passes/pass.h"

enum { REDUCER_ARRAYS = 8 }; // of one reduction, at most

enum reducer_kind {
    REDUCER_operation,
    REDUCER_declared,
    REDUCER_position,
};

// One value of a partial result.
struct reducer_value {
    const struct ir_stmt *store; // of it in the stage's body
    struct ir_expr *identity;    // a constant
    size_t operand;              // operation: which argument is combined;
                                 // declared: which statement names it
};

// How a stage reduces.
struct reducer {
    const struct ir_stage *stage;
    const struct ir_block *block; // of its body: what combines
    enum reducer_kind kind;
    size_t n;
    struct reducer_value values[REDUCER_ARRAYS];
};

// Where a value lives instead of in the stage's array.
struct reducer_place {
    struct ir_var *var;       // a variable, or NULL
    struct ir_buffer *buffer; // else an element
    uint32_t n;
    struct ir_expr **index;
};

// Find out how a stage reduces; false if its partial results cannot be
// combined in any order.
bool reducer_find(struct pass *p, const struct ir_stage *stage,
                  struct reducer *out);

// Return the value in a place, and a statement that changes it.
struct ir_expr *reducer_read(struct arena *a, const struct reducer_place *at);
struct ir_stmt *reducer_write(struct arena *a, const struct reducer_place *at,
                              struct ir_expr *value);

// Let statements that load and store the values do that in other places.
void reducer_move(struct pass *p, const struct reducer *r,
                  const struct reducer_place *places, struct ir_block *block);

// Return what an iteration combines with each value, or its position.
struct ir_expr *reducer_operand(const struct reducer *r, size_t value);

// Return a copy of the stage's body that accumulates in other places, with
// variables replaced (vars may be NULL).
struct ir_block reducer_body(struct pass *p, const struct reducer *r,
                             const struct reducer_place *places,
                             const struct map *vars);

// Return statements that combine a partial result in `places` with another
// one, whose values are `right`.  Of equal extremes the first position stays.
struct ir_block reducer_combine(struct pass *p, const struct reducer *r,
                                const struct reducer_place *places,
                                struct ir_expr *const *right,
                                const struct map *vars);

#endif
