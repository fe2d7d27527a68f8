// layout -- order the elements of an array otherwise: transform_layout.
//
// The same primitive under a short name, and refused with the same codes:
// E0675 E0679 E0680 E0681 E0682.

#include "passes/schedule/prim.h"

bool sched_layout(struct sched_call *c)
{
    return sched_transform_layout(c);
}
