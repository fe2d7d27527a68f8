// layout -- transform_layout by its short name.

#include "passes/schedule/prim.h"

bool sched_layout(struct sched_call *c)
{
    return sched_transform_layout(c);
}
