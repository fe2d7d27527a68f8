// Whether a kernel computed what its definition says.

#ifndef TOOLS_INGOT_EQUIVALENCE_H
#define TOOLS_INGOT_EQUIVALENCE_H

#include "tools/ingot/compare.h"
#include "tools/ingot/definition.h"

// What is compared, and how strictly.
struct equivalence {
    const struct problem *problem;
    const struct work *work;
    const struct definition_request *definition; // who computed `want`
    const char *unordered; // "ARRAY" or "ARRAY COUNT"; NULL: as the text says
    double tolerance;      // of floating types; below 0: as the text says, or
                           // by rule
    bool fast_math;
};

// Return whether what is unordered are results of the kernel.
bool equivalence_valid(const struct equivalence *e);
#define EQUIVALENCE_USAGE                                                      \
    "--unordered names results of the kernel: ARRAY [COUNT]"

// Return whether elements of an array have no order, and set whether another
// result says how many there are; requires equivalence_valid.
bool equivalence_is_unordered(const struct equivalence *e,
                              const struct problem_array *array,
                              bool *is_counted);

// Sort what is unordered in the arguments of a run; requires
// equivalence_valid.
void equivalence_sort(const struct equivalence *e,
                      struct eval_argument *arguments);

// Compare one result; both sides are sorted.  The size of its elements is the
// root of their mean square.  A few elements say little of that, one may be near
// 0 by chance: where a few differ, the definition is run on more inputs. Where
// all terms cancel, as in q / m - (s / m) * (s / m) for m = 1, elements are as
// small as what rounding leaves, or 0: then it is the size of these terms
// (magnitude.h).
struct comparison equivalence_compare(const struct equivalence *e,
                                      const struct problem_array *array,
                                      const struct eval_argument *got,
                                      const struct eval_argument *want);

#endif
