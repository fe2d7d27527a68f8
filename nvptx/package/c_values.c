// Finds values by their text.

#include "nvptx/package/c_values.h"

#include <string.h>

// Return the value of a text, or NULL.
static struct c_value *find(const struct c_values *v, const char *text)
{
    for (size_t i = 0; i < v->at.n; i++)
        if (strcmp(v->at.at[i].text, text) == 0)
            return &v->at.at[i];
    return NULL;
}

bool c_values_again(struct c_values *v, const char *text)
{
    struct c_value *known = find(v, text);
    if (known)
        known->uses++;
    return known;
}

void c_values_add(struct c_values *v, const struct ir_kernel *kernel,
                  const struct ir_expr *x, const char *text)
{
    struct c_value new = {kernel, x, arena_copy(v->arena, text, strlen(text)),
                          1};
    vec_push(v->arena, &v->at, new);
}

int c_values_find(const struct c_values *v, const char *text)
{
    const struct c_value *known = find(v, text);
    return known && known->uses > 1 ? (int)(known - v->at.at) : -1;
}
