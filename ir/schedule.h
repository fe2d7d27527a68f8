// Schedules as data: what the text of a `schedule` or `def` says, before it
// is applied to a kernel.  Made by frontend/schedule.c, run by
// passes/schedule.

#ifndef IR_SCHEDULE_H
#define IR_SCHEDULE_H

#include "ir/base/diag.h"
#include "ir/base/map.h"
#include "ir/ir.h"

enum sched_expr_kind {
    SCHED_int,    // 32
    SCHED_float,  // 0.5: a value of `print`
    SCHED_text,   // "...": of `print`, `refuse`
    SCHED_any,    // _: to be inferred
    SCHED_name,   // ty
    SCHED_member, // args[0].name: a loop, a stage, the list `loops`, an axis
    SCHED_list,   // [args ...]
    SCHED_index,  // args[0][args[1], ...]; several of an array, in `print`
    SCHED_slice,  // args[0][args[1]:args[2]], both bounds may be NULL
    SCHED_call,   // name(args ...)
    SCHED_op,     // an operation of ops.def on args
    SCHED_map,    // (names ...) -> (args ...)
};

// A name on the left of an assignment, or a loop's or a parameter's name.
struct sched_name {
    const char *text; // interned; "_" takes a value and forgets it
    struct span span;
};

// An expression of a schedule.
struct sched_expr {
    enum sched_expr_kind kind;
    struct span span;
    int64_t value;                        // int
    double number;                        // float
    const char *name;                     // name, member, call, text; interned
    enum ir_op op;                        // op
    struct VEC(struct sched_expr *) args; // operands
    struct sched_expr *guard;             // of a call, behind `when`; or NULL
    struct VEC(struct sched_name) names;  // map
};

enum sched_stmt_kind {
    SCHED_assign,   // names = value
    SCHED_eval,     // value, for its effect
    SCHED_for,      // for names[0] in value { body }
    SCHED_if,       // if value { body } else { otherwise }
    SCHED_return,   // return value, value may be NULL
    SCHED_tune,     // tune names[0] in value
    SCHED_set,      // set names[0] = value
    SCHED_contract, // contract names; value: a list with the number of each,
                    // or NULL
};

// Statements in order.
struct sched_block VEC(struct sched_stmt *);

// A statement of a schedule.
struct sched_stmt {
    enum sched_stmt_kind kind;
    struct span span;
    struct VEC(struct sched_name) names; // assign, for, tune, set, contract
    struct sched_expr *value;            // a list where several are returned
    struct sched_block body;             // for, if
    struct sched_block otherwise;        // if
};

// A parameter of a schedule or a def.
struct sched_parameter {
    struct sched_name name;
    struct sched_expr *initial; // its default, or NULL
    struct sched_expr *each;    // the list of values of which each makes a
                                // schedule; NULL; only while parsing
};

// Architectures that a schedule is for.
struct sched_target {
    struct sched_name name;
    bool is_open; // `+` behind it: newer ones, too
};

struct sched_items VEC(struct sched_item *);

// The block of a def or a rule of a library, which is parsed when somebody asks for it.
struct sched_unread {
    void (*read)(struct sched_unread *own);
};

// A schedule, a rule or a def.
struct sched_item {
    struct sched_name name;               // of the kernel, the rule or the def
    struct VEC(struct sched_name) others; // further kernels
    struct span span;                     // of the header
    struct span whole;                    // of a schedule, with its block
    struct VEC(struct sched_parameter) params;
    struct VEC(struct sched_target) targets; // none: every architecture
    struct sched_expr *guard;                // behind `when`, or NULL
    struct sched_expr *pattern;              // of a rule, behind `matches`
    struct sched_block body;                 // of a rule, in front of its cases
    struct sched_items cases;                // of a rule
    const struct sched_item *rule;           // of a case, what it belongs to
    struct sched_expr *by;                   // the call of the rule, or NULL
    bool is_planned;                         // for a kernel without a schedule
    struct sched_unread *unread;             // what sched_read parses, or NULL
};

// All schedules, rules and defs of a compilation, in the order of the files.
struct sched_program {
    struct sched_items schedules;
    struct sched_items rules;
    struct sched_items defs;
    struct map named;                     // the defs by their interned names
    const struct sched_program *fallback; // for names that are not here
};

// The value of a parameter or a knob, from outside of the schedule.
struct sched_setting {
    const char *name;
    int64_t value;
    struct span span; // of the record; no place: from the command line
};

struct sched_settings VEC(struct sched_setting);

// An integer that a schedule leaves open.
struct sched_knob {
    const char *name;
    struct span span;           // where it is declared
    struct VEC(int64_t) values; // that it may have
    int64_t chosen;
};
struct sched_knobs VEC(struct sched_knob);

// What a schedule promises of the code that it makes, from contracts.def.
enum sched_contract_kind {
#define CONTRACT(name, number, seen, diagnostic, meaning) CONTRACT_##name,
#include "ir/contracts.def"
#undef CONTRACT
    CONTRACT_COUNT
};

// One promise.
struct sched_contract {
    enum sched_contract_kind kind;
    struct span span; // where it is written
    int64_t value;    // of those with a number
    struct span call; // in a def of the library, of the call of that; or none
};
struct sched_contracts VEC(struct sched_contract);

// A row of contracts.def.
enum sched_contract_seen { CONTRACT_LOWERED, CONTRACT_ASSEMBLED };
struct sched_contract_info {
    const char *name;
    bool has_number;
    enum sched_contract_seen seen;
    enum diag_code broken;
    const char *meaning;
};
const struct sched_contract_info *
sched_contract_info(enum sched_contract_kind kind);

// What a schedule left besides the kernel that it changed.
struct sched_outcome {
    struct sched_knobs knobs;         // all that was left open
    struct sched_contracts contracts; // in the order in which they were run
    struct ir_conditions required;    // of the sizes, by `require`
};

// Return the item of that interned name, or NULL.
const struct sched_item *sched_find_item(const struct sched_items *items,
                                         const char *name);

// Return how many arguments a def or a rule takes at least: its parameters in front
// of those with a default.
size_t sched_least_arguments(const struct sched_item *item);

// Parse the block of a def or a rule of a library, unless that was done: its body and
// its cases. What is wrong in it is reported where its header was parsed.
void sched_read(const struct sched_item *item);

// Return the def of that interned name, of the program or else of its library, with its
// block; NULL if there is none.
const struct sched_item *sched_find_def(const struct sched_program *program,
                                        const char *name);

// Return whether a name is that of a kernel, or of what it is an instance of.
bool sched_names(const char *name, const struct ir_kernel *kernel);

// Return whether a schedule is for a kernel: names it, or all instances of what
// it is one of.
bool sched_is_for(const struct sched_item *schedule,
                  const struct ir_kernel *kernel);

// Report each schedule whose name is none of the `n` kernels.
void sched_check_kernels(const struct sched_program *program,
                         const struct ir_kernel *const *kernels, size_t n,
                         struct diag_list *diags);

// Return whether a schedule has a parameter or a knob of that name.
bool sched_has_setting(const struct sched_item *schedule,
                       const struct sched_knobs *knobs, const char *name);

// Append a schedule for each case of a rule, for the kernels of `schedule`, with
// its call of the rule.
void sched_add_cases(struct arena *a, const struct sched_item *schedule,
                     const struct sched_item *rule, struct sched_items *out);

// Put the cases of the rule in the place of each schedule by a rule: schedules
// for the same kernels, with `rule` and `by`.  Reports rules that do not exist,
// and calls with too few arguments or too many.
void sched_expand_rules(struct arena *a, struct sched_program *program,
                        struct diag_list *diags);

// Report each setting that names no parameter of any schedule and none of the
// knobs.
void sched_check_settings(const struct sched_items *schedules,
                          const struct sched_knobs *knobs,
                          const struct sched_setting *settings, size_t n,
                          struct diag_list *diags);

#endif
