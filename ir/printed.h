// The text of a `print`: what its characters stand for.
//
//   "i={} of {{n}}\n"   =>   i= PLACE of {n} newline
//
// `{}` is the place of a value, `{{` and `}}` are braces, \n \t \" \\ are what
// they are in C.  A line break ends what is printed, without being written.

#ifndef IR_PRINTED_H
#define IR_PRINTED_H

#include "ir/arith.h"
#include "ir/base/buf.h"
#include "ir/ir.h"

#include <stdbool.h>
#include <stdint.h>

enum printed_kind { PRINTED_END, PRINTED_CHAR, PRINTED_PLACE, PRINTED_FAULT };

// Step over what comes next in a text; set `c` to a character.
enum printed_kind printed_next(const char **at, char *c);

// Return what is wrong with a text, or NULL, and how many places it has.
const char *printed_fault(struct arena *a, const char *text, uint32_t *places);

// Append a value as `print` writes it.
void printed_value(struct buf *out, struct type type, union number value);

#endif
