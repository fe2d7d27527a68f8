// What a primitive is given, and what primitives share.
//
// A primitive is one file with one exported function.  It works in three
// steps: check every precondition, build the new tree, replace.  It returns
// false after reporting an error, and has then changed nothing.

#ifndef PASSES_SCHEDULE_PRIM_H
#define PASSES_SCHEDULE_PRIM_H

#include "ir/ring.h"
#include "ir/walk.h"
#include "passes/pass.h"

enum sched_value_kind {
    VALUE_none,  // what a call without a result returns
    VALUE_int,   // an integer; 0 and 1 are false and true
    VALUE_any,   // `_`
    VALUE_list,  // values
    VALUE_loop,  // a `for` of the kernel
    VALUE_stage, // a stage of the kernel, or the store of an array
    VALUE_array, // an array of the kernel
    VALUE_space, // shared ...
    VALUE_axis,  // block.x ...
    VALUE_key,   // a bare name
    VALUE_map,   // an index map
    VALUE_expr,  // of sizes, in a guard
    VALUE_text,  // "..."
    VALUE_form,  // what a stage computes with
};

// An index map: n variables, and m indices in terms of them.
struct sched_map {
    struct span span;
    uint32_t n, m;
    struct ir_var **vars;
    struct ir_expr **to;
};

// A value of the schedule language.
struct sched_values VEC(struct sched_value);
struct sched_value {
    enum sched_value_kind kind;
    struct span span;         // where it was written
    int64_t number;           // int
    struct ir_stmt *stmt;     // loop, stage
    struct ir_buffer *buffer; // array
    int operand;              // array: of those of a stage the one that is
                              // meant, 1 or 2; 0: wherever it is read
    enum space space;         // space
    enum axis axis;           // axis
    const char *key;          // key, text
    struct sched_map *map;    // map
    struct ir_expr *expr;     // expr, form
    struct sched_values list; // list
};

enum sched_prim {
#define PRIM(name, arguments, parameters, results, before, after) PRIM_##name,
#include "ir/prims.def"
#undef PRIM
    PRIM_COUNT
};

// A row of prims.def.
struct sched_prim_info {
    const char *name, *arguments, *parameters, *results, *before, *after;
};
const struct sched_prim_info *sched_prim_info(enum sched_prim prim);

// Return what a letter of the arguments asks for: "a loop" ...
const char *sched_argument_text(char letter);

// A primitive's call, with arguments of the kinds that its row asks for.
struct sched_call {
    struct pass *pass;
    enum sched_prim prim;
    struct span span;       // of the directive
    bool is_independent;    // the caller knows that no iterations of its loops
                            // conflict: no dependence is looked for
    bool is_late;           // the caller checks rings and bound loops later
    bool has_checked_rings; // of the kernel as it is now
    struct ir_expr *guard;  // behind `when`; NULL: always
    struct sched_values args;    // lists are spread
    struct sched_values results; // what it made
};

#define PRIM(name, arguments, parameters, results, before, after)              \
    bool sched_##name(struct sched_call *c);
#include "ir/prims.def"
#undef PRIM

// Run a primitive.
bool sched_run(struct sched_call *c);

// Calls from inside the compiler: start one, add arguments, sched_run.
struct sched_call sched_call_to(const struct sched_call *from,
                                enum sched_prim prim);
void sched_add_stmt(struct sched_call *c, struct ir_stmt *loop_or_stage);
void sched_add_int(struct sched_call *c, int64_t number);
void sched_add_any(struct sched_call *c);

// Return the loop or the stage of argument `i`.
struct ir_stmt *sched_arg(const struct sched_call *c, size_t i);
// Return the statements of the arguments from `first` on.
struct ir_stmt **sched_arg_stmts(const struct sched_call *c, size_t first,
                                 size_t *n);
// Return the array of argument `i`: of a stage named like an array, that one,
// unless it is a result that cache_write left to a copy; else the one that the
// stage stores to.
struct ir_buffer *sched_arg_buffer(const struct sched_call *c, size_t i);
// Append a loop, or another value, to the results.
void sched_result(struct sched_call *c, enum sched_value_kind kind,
                  struct ir_stmt *stmt);

// Errors: report one at the directive, or at an argument, with what diag_error
// takes from the code on, and blame a statement, or two.  Returns false.
#define sched_refuse(c, marked, note, ...)                                     \
    sched_refuse_at(c, (c)->span, marked, note, __VA_ARGS__)
#define sched_refuse_at(c, span, marked, note, ...)                            \
    (diag_error((c)->pass->diags, span, __VA_ARGS__),                          \
     sched_blame_one(c, marked, note))
#define sched_refuse_two(c, first, second, note, ...)                          \
    (diag_error((c)->pass->diags, (c)->span, __VA_ARGS__),                     \
     sched_blame(c, (struct ir_stmt *[]){first, second}, 2, note))
// After diag_error, add the program lines of the marked statements and the nest
// around them as it stands.  Returns false.
bool sched_blame(const struct sched_call *c, struct ir_stmt *const *marked,
                 size_t n, const char *note);
bool sched_blame_one(const struct sched_call *c, struct ir_stmt *marked,
                     const char *note);
// Say where two iterations conflict, and in which ones.
struct depend_conflict;
void sched_note_conflict(const struct sched_call *c,
                         const struct depend_conflict *m);

// Names and places.

// Return the name of a loop or a stage, as messages have it.
const char *sched_name_of(const struct ir_stmt *s);
// Return the way from the kernel's body down to a statement of it.
struct ir_path sched_path(struct pass *p, const struct ir_stmt *s);
// Return the loops around a statement, outermost first, and itself if it is one.
struct ir_block sched_loops(struct pass *p, const struct ir_stmt *s);
// Return the innermost statement that a loop holds with only loops between.
struct ir_stmt *sched_innermost(struct ir_stmt *loop);
// Make a loop variable whose name no other loop of `near`'s nest has.
struct ir_var *sched_new_var(struct pass *p, const struct ir_stmt *near,
                             const char *name, struct span span);
// Return the parameter or declared array of that name, or NULL.
struct ir_buffer *sched_find_buffer(struct pass *p, const char *name);
// Return the array that a stage or a store writes last, of a stage that stores
// nothing the one that its last atomic changes; NULL where there is none.
struct ir_buffer *sched_stored(struct ir_stmt *s);
// Declare an array like another one at the top of the kernel, with a name
// that begins with `name` and no other array has.
struct ir_buffer *sched_new_buffer(struct pass *p, const char *name,
                                   const struct ir_buffer *like,
                                   enum space space);
// Return where a statement first loads from an array; its own place if it
// does not.
struct span sched_load_span(struct ir_stmt *s, const struct ir_buffer *array);
// Return the statement that declares an array, or NULL.
struct ir_stmt *sched_alloc_of(struct pass *p, const struct ir_buffer *buffer);
// Put the arrays declared in the outermost block in front of it, so that every
// stage may be moved to any place behind.
void sched_hoist_arrays(struct pass *p);

// A place between two statements.
struct sched_place {
    struct ir_block *block;
    size_t at;
    struct ir_stmt *const *around; // the loops around, outermost first
    size_t n;
};
// Return the place before (or behind) a statement of the kernel.
struct sched_place sched_place_of(struct pass *p, const struct ir_stmt *s,
                                  bool behind);
// Return whether a statement is one of several.
bool sched_is_among(const struct ir_stmt *s, struct ir_stmt *const *all,
                    size_t n);

// Put a statement into the place of another one.
void sched_replace(struct pass *p, const struct ir_stmt *old,
                   struct ir_stmt *new);
// Remove a statement, and the loops that held nothing else.
void sched_remove(struct pass *p, const struct ir_stmt *s);
// Make a serial loop over 0..extent in the place `span`.
struct ir_stmt *sched_new_loop(struct pass *p, struct ir_var *var,
                               struct ir_expr *extent, struct span span);
// Replace a loop's variable below it by the value that it has in iteration
// number `number`; x / n * n + x % n becomes x.
void sched_renumber(struct pass *p, struct ir_stmt *loop,
                    struct ir_expr *number);
// Let what a block does happen only where `condition` holds: stages get it as
// a predicate, other statements an `if`, as far inside as the bounds of loops
// allow.
void sched_guard(struct pass *p, struct ir_block *block,
                 struct ir_expr *condition);
// Return whether a loop below a block is bound to blocks or threads, or the
// block holds a launch.
bool sched_is_bound(struct ir_block *block);
// Return whether the iteration variables of a stage are those loops, in full
// and in their order, without a predicate.
bool sched_is_unscheduled(const struct ir_stage *stage,
                          struct ir_stmt *const *loops, size_t n);
// Return whether an index is the first `n` iteration variables of a stage.
bool sched_is_own_index(const struct ir_stage *stage, uint32_t n,
                        struct ir_expr *const *index);

// Checks that several primitives make; false after an error.

// The loop is serial: neither bound, unrolled nor vector.
bool sched_check_serial(const struct sched_call *c, struct ir_stmt *loop);
// The loop has no annotation that a rewrite would lose.
bool sched_check_plain(const struct sched_call *c, struct ir_stmt *loop);
// The loop counts from 0 in steps of 1.
bool sched_check_from_zero(const struct sched_call *c, struct ir_stmt *loop);
// No two of the loops are the same.
bool sched_check_distinct(const struct sched_call *c,
                          struct ir_stmt *const *loops, size_t n);
// Each loop is in the one before it with nothing else between them, but for
// loops if `gaps`.
bool sched_check_nested(const struct sched_call *c,
                        struct ir_stmt *const *loops, size_t n, bool gaps);
// The bounds of no loop mention the variable of another one.
bool sched_check_rectangle(const struct sched_call *c,
                           struct ir_stmt *const *loops, size_t n);
// In the order given, each loop is inside of those that its bounds mention.
bool sched_check_inside(const struct sched_call *c,
                        struct ir_stmt *const *order, size_t n);
// The loop's iterations are independent, so that they can run on the axis.
bool sched_check_parallel(const struct sched_call *c, struct ir_stmt *loop,
                          enum axis axis);
// A call of split would be accepted.
bool sched_check_split(struct sched_call *c);
// The array is one that the kernel declares; `how` finishes "cannot ...".
bool sched_check_declared(const struct sched_call *c,
                          const struct ir_buffer *array, const char *how);
// What a stage does to an array can be done on a copy of it in the memory of
// argument i: one that can be written, and, where there are atomics, that
// threads share.
bool sched_check_working_copy(const struct sched_call *c, size_t i,
                              struct ir_stmt *stage,
                              const struct ir_buffer *array);
// The loops may run in the order `order` (a permutation of `loops`).
bool sched_check_order(const struct sched_call *c, struct ir_stmt *const *loops,
                       size_t n, struct ir_stmt *const *order);

// Return whether compute_inline would take a stage; nothing is reported.
bool sched_can_inline(struct pass *p, struct ir_stmt *stage);
// The same for merge and two loops.
bool sched_can_merge(struct pass *p, struct ir_stmt *x, struct ir_stmt *y);

#endif
