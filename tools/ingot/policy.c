// --no-warn and --warn-as-error: what becomes of warnings.

#include "tools/ingot/cli.h"

#include <string.h>

// Set the flags of the codes in a list; a word that is none ends the process.
static void set_codes(const char *option, const char *list, bool *flags,
                      struct argp_state *state)
{
    for (const char *at = list;; at++) {
        enum diag_code code;
        size_t n = strcspn(at, ",");
        struct arena arena = {0};
        const char *text = arena_copy(&arena, at, n);
        if (!diag_find(text, &code))
            argp_error(state,
                       "%s needs codes of diagnostics, such as E0768, not `%s`",
                       option, text);
        flags[code] = true;
        arena_reset(&arena);
        at += n;
        if (!*at)
            return;
    }
}

void cli_silence(struct diag_policy *policy, const char *list,
                 struct argp_state *state)
{
    set_codes("--no-warn", list, policy->silent, state);
}

void cli_warn_as_error(struct diag_policy *policy, const char *list,
                       struct argp_state *state)
{
    if (list)
        set_codes("--warn-as-error", list, policy->errors, state);
    else
        memset(policy->errors, true, sizeof policy->errors);
}
