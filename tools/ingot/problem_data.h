// The elements of a problem's arrays.

#ifndef TOOLS_INGOT_PROBLEM_DATA_H
#define TOOLS_INGOT_PROBLEM_DATA_H

#include "tools/ingot/data.h"
#include "tools/ingot/problem.h"

// Return the stream of random bits of a parameter.
uint64_t problem_stream(const struct problem *p, size_t parameter);

// Return a number in -1 to 1 made of random bits; one in four is small.
double problem_random_float(uint64_t bits);

// Return an integer made of random bits: any, or one near zero.
int64_t problem_random_int(struct type type, uint64_t bits);

// Set the range of an array's elements: what its kernel says, or where they are
// positions and nothing asks what they are, those that there are; needs the
// values of the sizes, and how many bytes the array has.
// Returns false after reporting that there is no such number.
bool problem_range(const struct problem *p, struct problem_array *array,
                   const struct data_rule *rule, struct diag_list *diags);

// Add the values that elements are compared with and that are rare otherwise.
void problem_add_rare(struct arena *a, const struct problem *p,
                      struct problem_array *array,
                      const struct data_rule *rule);

#endif
