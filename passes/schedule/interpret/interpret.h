// The interpreter of schedules.

#ifndef PASSES_SCHEDULE_INTERPRET_INTERPRET_H
#define PASSES_SCHEDULE_INTERPRET_INTERPRET_H

#include "ir/base/map.h"
#include "ir/schedule.h"
#include "passes/schedule/prim.h"

// A name and what it stands for.
struct sched_binding {
    const char *name; // interned
    struct sched_value value;
};

// The names of a schedule or of a running def.
struct sched_frame {
    const struct sched_item *item;
    const struct sched_frame *caller; // NULL for the schedule itself
    struct span call;                 // of a def
    struct VEC(struct sched_binding) names;
    bool returned;             // a `return` was run
    struct sched_value result; // what it returned
};

// A loop or a stage that a primitive has replaced.
struct sched_consumed {
    const struct ir_stmt *stmt;
    struct span span; // of the directive
    enum sched_prim prim;
};

// Loops of a list that stands for the loop they were fused to.
struct sched_nest {
    struct sched_values loops;
    struct ir_stmt *fused;
};

// How large a kernel is, and what else one look at all of it shows.
struct interp_size {
    int64_t statements;
    int64_t depth; // of blocks inside blocks
    const struct ir_stmt
        *large;     // the first with too large an expression, or NULL
    bool has_rings; // some loop has one
};

// The state of a run.
struct interp {
    struct pass *pass;
    const struct sched_program *program;
    struct sched_frame *frame;
    int64_t steps;           // statements, expressions, elements of lists
    int depth;               // of those that run
    struct interp_size size; // of the kernel after the newest directive
    const struct sched_setting *settings; // of parameters and knobs
    size_t n_settings;
    struct sched_settings own; // what the schedule sets itself
    struct sched_knobs knobs;
    struct sched_contracts contracts;
    struct ir_conditions required; // of the sizes, beside the guard
    bool quiet;                    // no warnings
    bool keeps;                    // no primitive may run
    bool prints;                   // a `print` has run
    bool is_last;                  // a rule that no text names
    bool is_late; // sizes, rings and bound loops are checked once all has run
    const struct sched_stmt *assigning; // the assignment that runs, or NULL
    const struct sched_expr *looking;   // the last call of a look-up
    struct VEC(struct sched_consumed) consumed;
    struct VEC(struct sched_nest) nests;
    struct ir_block proven; // loops that are known to be independent
    bool has_checked_rings; // of the kernel as it is now
    struct map written;     // the kernel's own statements -> as they were
    struct map callees;     // names of calls -> what they stand for
    struct map here;        // parameters of the kernel that cases share -> here
};

// Each of these returns false after an error.

// Count steps that a schedule is about to run, or elements of a list.
bool interp_steps(struct interp *in, struct span span, size_t n);
// Begin what may have more of its kind inside, and end it.
bool interp_enter(struct interp *in, struct span span);
void interp_leave(struct interp *in);
// Evaluate an expression.
bool interp_expr(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out);
// Evaluate an expression to an integer; `what` names it in the error.
bool interp_int(struct interp *in, const struct sched_expr *x, const char *what,
                int64_t *out);
// Evaluate a call.
bool interp_call(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out);
// Evaluate a name, or `base.name`.
bool interp_name(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out);
bool interp_member(struct interp *in, const struct sched_expr *x,
                   struct sched_value *out);
// Set `out` to what a name stands for, if that is a word or a type.
bool interp_word(struct interp *in, const struct sched_expr *x,
                 struct sched_value *out);
// Set `same` to whether an expression is the same word, or the name of one.
bool interp_same_word(struct interp *in, const struct sched_expr *x,
                      const struct sched_value *left, bool *same);
// Evaluate `(names) -> (indices)`.
bool interp_map(struct interp *in, const struct sched_expr *x,
                struct sched_value *out);
// Turn an expression into one of what a stage computes with.
bool interp_form(struct interp *in, struct ir_stmt *stage,
                 const struct sched_expr *x, struct sched_value *out);
// Run a primitive that was written at a place, and check and note what it made.
bool interp_run(struct interp *in, struct sched_call *c, struct span span);
// Put in the place of a list of several loops the one that it stands for: that
// which was made of it before, or, where one loop is wanted, that which `fuse`
// makes.
bool interp_nest(struct interp *in, bool wants_loop, struct sched_value *v);
// Open the frame of a rule inside of the current one, with the arguments behind
// `by`.
bool interp_rule_frame(struct interp *in, const struct sched_item *schedule,
                       struct sched_frame *frame);
// The same of a case of it, with the names that the rule gives in front of its
// cases, too.
bool interp_rule(struct interp *in, const struct sched_item *schedule,
                 struct sched_frame *frame);
// Run statements in the current frame.
bool interp_block(struct interp *in, const struct sched_block *block);

// Return what was found for a name in front of the cases of a rule, or for a guard:
// of the statement or of the case, in the parameters of the kernel that cases
// share; NULL if nothing was.
struct ir_expr *interp_known(struct interp *in, const void *of);
// Let it be found from here on, if this is that kernel.
void interp_know(struct interp *in, const void *of, struct ir_expr *x);
// Return such an expression in the parameters of the kernel here.
struct ir_expr *interp_here(struct interp *in, struct ir_expr *x);
// Set a name of the current frame.
void interp_set(struct interp *in, const char *name,
                const struct sched_value *value);
// Return the value of a name of the current frame, or NULL.
const struct sched_value *interp_get(const struct interp *in, const char *name);
// Set `out` to a compile-time parameter of the kernel; false if the schedule, not
// a def, sees none of that name.
bool interp_static(const struct interp *in, const char *name,
                   struct sched_value *out);
// Check that the loop or stage of a value is still part of the kernel.
bool interp_check_alive(struct interp *in, const struct sched_value *v,
                        struct span span);
// Return how large the kernel is.
struct interp_size interp_size_of(const struct interp *in);
// Check that a primitive has made neither the kernel nor an expression of it
// too large.
bool interp_check_size(struct interp *in, const struct sched_call *c);
// Return "a loop", "an integer" ...
const char *interp_kind(enum sched_value_kind kind);

// Remember which statements the kernel has before its schedule.
void interp_origins_begin(struct interp *in);
// Return the place of a directive in the current frame, or of the call of the def
// of the library that it is in.
struct span interp_origin(const struct interp *in, struct span directive);
// Note a directive that was run in the current frame as what made the new
// statements, and bound the loops, that have no such place yet.  In a def of
// the library that is its call.
void interp_origins_note(struct interp *in, struct span directive);

// A function that changes nothing.  Lists among its arguments stay lists.
struct interp_function {
    const char *name;
    const char *arguments; // as in prims.def; L a list
    // `out` comes with the place of the call.
    bool (*run)(struct interp *in, const struct sched_values *args,
                struct sched_value *out);
};
const struct interp_function *interp_functions(size_t *n);

// Run case `which` of a rule of the library, the last one that `program` falls
// back to, on a kernel that has no schedule by name or whose schedule has run: errors
// are at the kernel's statements, and what is made has no directive.
bool interp_last(struct pass *p, const struct sched_program *program,
                 const char *rule, size_t which,
                 const struct sched_settings *settings);

// Remember that loops are independent; return whether that answers for a call;
// note what a call that was run has made of them.
void interp_proven_add(struct interp *in, const struct ir_block *loops);
bool interp_proven_call(const struct interp *in, const struct sched_call *c);
void interp_proven_after(struct interp *in, const struct sched_call *c);

// Set `out` to the loops that a loop or a list of loops is; `name` is that of the
// function in the error.
bool interp_loops_of(struct interp *in, const struct sched_value *v,
                     const char *name, struct sched_values *out);

// Add a condition to the guard of the schedule.
bool interp_require(struct interp *in, const struct sched_values *args,
                    struct sched_value *out);

// Report that the schedule is not for the kernel, for the reason that it gives.
bool interp_refuse(struct interp *in, const struct sched_values *args,
                   struct sched_value *out);

// What is asked before a nest is spread: see functions.def.
bool look_nests(struct interp *in, const struct sched_values *args,
                struct sched_value *out);
bool look_only_stage(struct interp *in, const struct sched_values *args,
                     struct sched_value *out);
bool look_inner_loops(struct interp *in, const struct sched_values *args,
                      struct sched_value *out);
bool look_is_bound(struct interp *in, const struct sched_values *args,
                   struct sched_value *out);
bool look_independent_loops(struct interp *in, const struct sched_values *args,
                            struct sched_value *out);
bool look_vector_lanes(struct interp *in, const struct sched_values *args,
                       struct sched_value *out);
bool look_can_share(struct interp *in, const struct sched_values *args,
                    struct sched_value *out);
bool look_reads_along(struct interp *in, const struct sched_values *args,
                      struct sched_value *out);
bool look_can_merge(struct interp *in, const struct sched_values *args,
                    struct sched_value *out);
bool look_inline_cost(struct interp *in, const struct sched_values *args,
                      struct sched_value *out);

// Set `out` to whether a stage adds up the products of two elements.
bool look_is_product(struct interp *in, const struct sched_values *args,
                     struct sched_value *out);

// Return whether a stage reads other elements of an array in other iterations of
// a loop.
bool interp_varies(struct interp *in, struct ir_stmt *stage,
                   const struct sched_value *array, const struct ir_var *var);
// Return whether of the loops that a stage does not reduce over, and that only one
// of two arrays varies with, both have some and the first array has the last.
bool interp_is_swapped(struct interp *in, struct ir_stmt *stage,
                       const struct sched_value *first,
                       const struct sched_value *second);

// Set `out` to whether a stage is a scan; whether it combines elements that data
// choose with others; whether a loop is not as long everywhere.
bool look_is_scan(struct interp *in, const struct sched_values *args,
                  struct sched_value *out);
bool look_is_scatter(struct interp *in, const struct sched_values *args,
                     struct sched_value *out);
bool look_is_ragged(struct interp *in, const struct sched_values *args,
                    struct sched_value *out);
// Set `out` to the loops that are indices of an array in a stage; to the dimension
// whose index a loop is.
bool look_indices(struct interp *in, const struct sched_values *args,
                  struct sched_value *out);
bool look_dimension(struct interp *in, const struct sched_values *args,
                    struct sched_value *out);

// Fill `out` with the loops around a stage, outermost first.
void interp_loops(struct interp *in, const struct sched_value *stage,
                  struct sched_value *out);
// Find the number of a loop's iterations, which must be a constant.
bool interp_extent(struct interp *in, const struct sched_value *loop,
                   int64_t *out);

// Run the `tune` and `set` that a schedule begins with, and count them.
bool interp_knobs(struct interp *in, const struct sched_block *body, size_t *n);
// Report what `set` names that the schedule has not made.
bool interp_knobs_end(struct interp *in);
// Run a `contract`.
bool interp_contract(struct interp *in, const struct sched_stmt *s);
// Return the last setting of a parameter or a knob, or NULL.
const struct sched_setting *interp_setting(const struct interp *in,
                                           const char *name);
// The sampling functions.
bool interp_sample_categorical(struct interp *in,
                               const struct sched_values *args,
                               struct sched_value *out);
bool interp_sample_perfect_tile(struct interp *in,
                                const struct sched_values *args,
                                struct sched_value *out);

// Bind the parameters of the def that a call names in its frame, evaluating the
// arguments in the caller's and the defaults in its own.  The def has as many
// parameters, and is not running already.
typedef bool interp_evaluate(struct interp *in, const struct sched_expr *x,
                             struct sched_value *out);
bool interp_bind(struct interp *in, const struct sched_expr *x,
                 struct sched_frame *frame, interp_evaluate *evaluate);

// Turn the condition behind `when` into one over the kernel's parameters;
// NULL after an error.  A def that only returns a value stands for it.
struct ir_expr *interp_guard(struct interp *in, const struct sched_expr *x);

// Return the look-up or other function on values of that name, or NULL.
const struct interp_function *interp_look(const char *name);

// Return whether an expression has a form that only guards have, or that has the
// same value there.
bool interp_is_size(const struct interp *in, const struct sched_expr *x);

// Return the elements from one row of an array to the next in dimension `d`;
// NULL: they are neighbours.
struct ir_expr *interp_pitch(const struct ir_buffer *b, uint32_t d);

// Return the operation on two integers that a function stands for, such as
// `ceildiv`; false if none does.
bool interp_operation(const char *name, enum ir_op *op);

#endif
