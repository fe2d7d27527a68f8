// A read alone is no fault: what was read may be thrown away.  So the definition
// runs once more, where fresh arrays and results hold other bytes before; what
// differs then, but for what still holds them, has come of such reads.

#include "tools/ingot/unwritten.h"

#include <string.h>

// What results hold before the second run: not what fresh arrays do there.
enum { OTHER_FILL = 0x5a, ELEMENT_MOST = 8 };

// Return whether all elements of a result are the same in both runs, or
// unwritten in both.
static bool is_same(const struct problem_array *array, const char *first,
                    const char *second)
{
    size_t size = type_bytes(array->buffer->elem);
    bool is_result = array->fill == FILL_POISON;
    char before[2][ELEMENT_MOST];
    memset(before[0], problem_poison(array->buffer), ELEMENT_MOST);
    memset(before[1], OTHER_FILL, ELEMENT_MOST);
    for (size_t at = 0; at < array->bytes; at += size) {
        bool is_unwritten = is_result &&
                            memcmp(first + at, before[0], size) == 0 &&
                            memcmp(second + at, before[1], size) == 0;
        if (!is_unwritten && memcmp(first + at, second + at, size) != 0)
            return false;
    }
    return true;
}

// Return whether results differ in a run where fresh arrays hold other bytes.
static bool depends(const struct definition_request *request,
                    const struct problem *p, const struct eval_argument *want,
                    struct diag_list *ignored)
{
    struct eval_watch other = {.is_other = true};
    struct definition_request again = *request;
    struct eval_argument *args = problem_arguments(ignored->arena, p, ignored);
    bool found = false;
    again.watch = &other;
    for (size_t i = 0; args && i < p->arrays.n; i++)
        if (p->arrays.at[i].fill == FILL_POISON)
            memset(args[p->arrays.at[i].parameter].data, OTHER_FILL,
                   problem_written(p, &p->arrays.at[i]));
    if (args &&
        !definition_evaluate(&again, definition_of(p->kernel), args, ignored))
        found = true;
    for (size_t i = 0; args && i < p->arrays.n && !found; i++) {
        const struct problem_array *array = &p->arrays.at[i];
        found = array->buffer->role != ROLE_input &&
                !is_same(array, want[array->parameter].data,
                         args[array->parameter].data);
    }
    problem_free_arguments(p, args);
    return found;
}

const struct eval_unwritten *
unwritten_find(const struct definition_request *request,
               const struct problem *p, const struct eval_argument *want,
               const struct eval_watch *watch)
{
    struct arena arena = {0};
    struct diag_list ignored = {.arena = &arena};
    const struct eval_unwritten *found = NULL;
    if (watch->n && depends(request, p, want, &ignored))
        found = &watch->unwritten[0];
    for (size_t i = 0; found && !found->write.source && i < watch->n; i++)
        if (watch->unwritten[i].write.source)
            found = &watch->unwritten[i];
    arena_reset(&arena);
    return found;
}
