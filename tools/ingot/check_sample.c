// A kernel whose extents are fixed may have more blocks than can be run in
// reasonable time: then some of them stand for all.

#include "tools/ingot/check.h"

#include "tools/ingot/dispatch.h"

#include <string.h>

// Blocks of a launch that are run at least.
#define BLOCKS_LEAST 2.0

// Statements of the definition that make a case too large.
#define STEPS_MOST 4e6

// Return whether the user chose a size.
static bool has_own_sizes(const struct check *check)
{
    return check->request->problem.request.values.n > 0;
}

uint64_t check_sample(const struct check *check, const struct variant *v,
                      const struct check_case *one)
{
    struct arena *a = &check->c->arena;
    const struct ir_kernel *kernel = v->kernel;
    struct diag_list ignored = {.arena = a};
    struct dispatch d;
    if (one->work.steps <= STEPS_MOST || has_own_sizes(check) ||
        !dispatch_make(a, &one->problem, &kernel, 1, NULL, &ignored, &d) ||
        d.launches.n != 1)
        return 0;
    const uint64_t *grid = d.launches.at[0].grid;
    double all = (double)grid[0] * (double)grid[1] * (double)grid[2];
    double part = all * STEPS_MOST / one->work.steps;
    return (uint64_t)(part > BLOCKS_LEAST ? part : BLOCKS_LEAST);
}

// Take what the definition wrote where an array still holds poison.
static void complete_array(const struct problem_array *array, char *got,
                           const char *want)
{
    size_t size = type_bytes(array->buffer->elem);
    char poison[16];
    memset(poison, problem_poison(array->buffer), sizeof poison);
    for (size_t at = 0; at < array->bytes; at += size)
        if (memcmp(got + at, poison, size) == 0)
            memcpy(got + at, want + at, size);
}

void check_complete(const struct check_case *one, struct eval_argument *got)
{
    for (size_t i = 0; i < one->problem.arrays.n; i++) {
        const struct problem_array *array = &one->problem.arrays.at[i];
        size_t p = array->parameter;
        if (array->fill == FILL_POISON)
            complete_array(array, got[p].data, one->want[p].data);
        else if (array->buffer->role != ROLE_input)
            memcpy(got[p].data, one->want[p].data, array->bytes);
    }
}
