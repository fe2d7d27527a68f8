// ingot lsp: a language server on the standard streams, for editors.

#include "tools/ingot/cli.h"

#include "tools/lsp/lsp.h"

// Take nothing.
static error_t take(int key, char *arg, struct argp_state *state)
{
    (void)arg, (void)state;
    return key == ARGP_KEY_ARG ? ARGP_ERR_UNKNOWN : 0;
}

const struct argp lsp_argp = {
    0,
    take,
    "",
    "Serve an editor that speaks the Language Server Protocol on the standard "
    "streams: diagnostics, hover, completion, definitions, loop nests.",
    0,
    0,
    0};

int command_lsp(int argc, char **argv)
{
    cli_parse(&lsp_argp, argc, argv, NULL);
    return lsp_serve(stdin, stdout) ? EXIT_TOOL : EXIT_DONE;
}
