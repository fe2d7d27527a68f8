// Fuzzes the parser of files: any bytes are kernels and schedules.
//
// It must not report success beside errors, and what it parses must survive
// printing.  What happens to schedules then is up to directives.c.

#include "frontend/frontend.h"
#include "support/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in;
    struct program program = {0};
    input_open(&in, data, size);
    bool ok = frontend_parse(&in.arena, &in.names, &in.source, false, &in.diags,
                             &program);
    input_check_diags(&in.arena, &in.diags, ok);
    for (size_t i = 0; ok && i < program.kernels.n; i++)
        input_check_text(&in, program.kernels.at[i]);
    input_close(&in);
    return 0;
}
