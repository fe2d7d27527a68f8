// double_buffer: loads the next tile into registers while this one is used
// (double_buffer.c has the rewrite).

#include "passes/lower/double_buffer.h"

enum pass_result pass_double_buffer(struct pass *p)
{
    double_buffer(p, &p->kernel->body);
    return PASS_CHANGED;
}
