// How Nsight Compute profiles what the page shows.

#include "tools/report/report.h"

#include "tools/ingot/ncu.h"

#include <string.h>

// The options of `ingot report` that `ingot run` has not, each with a value.
static const char *const own[] = {"--output", "--device", "--sms"};

// Return whether a word is an option that `ingot run` has not, maybe cut short; sets
// whether the value is the next word.
static bool is_own(const char *word, bool *is_before_value)
{
    size_t n = strcspn(word, "=");
    *is_before_value = !word[n];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (n > 2 && strncmp(own[i], word, n) == 0)
            return true;
    *is_before_value = strcmp(word, "-o") == 0;
    return strncmp(word, "-o", 2) == 0;
}

// Append the words of the command line that say what runs.
static void append_words(const struct report *r, struct buf *out)
{
    for (size_t i = 0; i < r->n_words; i++) {
        bool is_before_value;
        if (!is_own(r->words[i], &is_before_value))
            ncu_append_word(out, r->words[i]);
        else
            i += is_before_value;
    }
}

json_t *report_profile(struct report *r)
{
    struct dispatch d;
    const struct ir_kernel *variant = r->taken->variant->kernel;
    if (!dispatch_make(&r->c->arena, r->problem, &variant, 1, NULL,
                       &r->c->diags, &d) ||
        !ncu_count(&d, &d))
        return json_null();
    struct buf text = {0};
    ncu_append(&text, &d, 0, r->problem->kernel->name);
    buf_text(&text, " run");
    append_words(r, &text);
    buf_text(&text, " --lineinfo --no-timing");
    json_t *out = json_text(text.data);
    buf_free(&text);
    return out;
}
