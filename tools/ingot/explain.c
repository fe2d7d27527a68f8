// ingot explain CODE: what a diagnostic means.

#include "tools/ingot/cli.h"

#include <stdio.h>
#include <string.h>

// Print one code, or the codes of a list.
static int explain(const char *text)
{
    enum diag_code code;
    if (!diag_find(text, &code)) {
        fprintf(stderr,
                "ingot explain: no diagnostic has the code `%s`; `ingot "
                "explain all` lists them\n",
                text);
        return EXIT_USAGE;
    }
    printf("%s\n\n%s\n\n`ingot doc NAME` says what a primitive, a type or a "
           "word means\n",
           diag_code_text(code), diag_explanation(code));
    return EXIT_DONE;
}

// Print every code with the first line of its explanation.
static int list_all(void)
{
    for (int i = 0; i < D_COUNT; i++) {
        const char *text = diag_explanation((enum diag_code)i);
        printf("%s  %.*s\n", diag_code_text((enum diag_code)i),
               (int)strcspn(text, "\n"), text);
    }
    return EXIT_DONE;
}

// Take the code.
static error_t take(int key, char *arg, struct argp_state *state)
{
    const char **code = state->input;
    if (key == ARGP_KEY_ARG && !*code) {
        *code = arg;
        return 0;
    }
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "name a code, such as E0301, or `all`");
    return ARGP_ERR_UNKNOWN;
}

const struct argp explain_argp = {
    0, take, "CODE", "Say what a diagnostic means, with an example.", 0, 0, 0};

int command_explain(int argc, char **argv)
{
    const char *code = NULL;
    cli_parse(&explain_argp, argc, argv, &code);
    return strcmp(code, "all") == 0 ? list_all() : explain(code);
}
