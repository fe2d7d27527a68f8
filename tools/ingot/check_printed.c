// What kernels print on the executor: the lines of the first run of each variant.

#include "tools/ingot/check.h"

#include <string.h>

// Return how many bytes of whole lines fit.
static size_t whole_lines(const char *text, size_t n, size_t most)
{
    if (n <= most)
        return n;
    while (most && text[most - 1] != '\n')
        most--;
    return most;
}

void check_keep_printed(struct check_shared *s, struct buf *printed)
{
    size_t n = whole_lines(printed->data, printed->n, CHECK_PRINTED - 1);
    if (n)
        memcpy(s->printed, printed->data, n);
    s->printed_at = s->at;
    s->is_printed_whole = n == printed->n;
    buf_free(printed);
}

void check_print_printed(const struct check *check,
                         const struct check_variant *v, struct buf *out)
{
    struct arena *a = &check->c->arena;
    if (!v->shared || !*v->shared->printed)
        return;
    const char *sizes = check_sizes_text(a, v->cases.at[v->shared->printed_at]);
    buf_printf(out, "%s, variant %s%s%s, printed:\n%s%s",
               v->variant->source->name, check_name(v->variant),
               *sizes ? " with " : "", sizes, v->shared->printed,
               v->shared->is_printed_whole ? "" : "... and more\n");
}
