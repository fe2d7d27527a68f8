// One input of a fuzz target as a source text, and what must hold of it.

#ifndef TESTS_FUZZ_SUPPORT_INPUT_H
#define TESTS_FUZZ_SUPPORT_INPUT_H

#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/ir.h"

#include <stdint.h>

// What libFuzzer and drive.c call with each input; -1 keeps it out of the
// corpus.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// An input and what parsing it needs; all of it lives in the arena.
struct input {
    struct arena arena;
    struct str_table names;
    struct diag_list diags;
    struct source source;
};

// Begin and end work on an input; the bytes are copied.
void input_open(struct input *in, const uint8_t *data, size_t size);
void input_close(struct input *in);

// End the process: a property does not hold.
_Noreturn void input_fail(const char *what, const char *detail);

// End the process unless the diagnostics render, and there is an error among
// them just if the result is bad.
void input_check_diags(struct arena *a, const struct diag_list *diags,
                       bool is_good);

// End the process unless a kernel is the same after printing and parsing, and
// prints the same then.
void input_check_text(struct input *in, const struct ir_kernel *k);

#endif
