// The options that say what a kernel is run on, and how its results are
// judged: --size, --scalar, --range, --seed, --kernel, --reference,
// --tolerance, --unordered, --steps.

#ifndef TOOLS_INGOT_PROBLEM_OPTIONS_H
#define TOOLS_INGOT_PROBLEM_OPTIONS_H

#include "tools/ingot/cli.h"
#include "tools/ingot/definition.h"

// What was asked for.
struct problem_options {
    struct arena arena;
    struct problem_request request; // all settings; the last of a name counts
    struct problem_settings scalars, sizes; // in order
    struct VEC(size_t) ends;                // in `sizes`, of each run
    struct problem_requests runs;           // one for each set of sizes
    struct definition_request definition;
    const char *kernel;    // NULL: not named
    const char *unordered; // "ARRAY" or "ARRAY COUNT"; NULL: as the text says
    double tolerance;      // below 0: as the text says, or by rule
};

// Give this as a child parser whose input is a struct problem_options.
extern const struct argp problem_argp;

// Add `name=text,...` to settings; anything else ends the process.
void problem_add_settings(struct arena *a, const char *text,
                          struct problem_settings *to,
                          struct argp_state *state);

// Return a number that is not negative; anything else ends the process.
double problem_number(const char *text, struct argp_state *state);

// Return a number of at least 1; anything else ends the process.
size_t problem_count(const char *text, struct argp_state *state);

// Return the place of a word in a list that NULL ends; any other word ends the
// process.
int problem_word(const char *text, const char *const *words,
                 struct argp_state *state);

// Return the kernel that the options mean, the only one or that of --kernel;
// or NULL with `wrong` set to what of the options cannot be.
struct ir_kernel *problem_kernel(const struct problem_options *o,
                                 struct compilation *c, const char **wrong);

// Keep one kernel of a compilation, and its schedules.
void problem_keep_kernel(struct compilation *c, struct ir_kernel *kernel);

// Return the number of SMs that a text says; anything else ends the process.
int problem_sms(const char *text, struct argp_state *state);

#endif
