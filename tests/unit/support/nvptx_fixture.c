// Emission for tests.

#include "tests/unit/support/nvptx_fixture.h"

#include "nvptx/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Append the bytes of a file, if it is there.
static void read_file(const char *path, struct buf *out)
{
    char chunk[65536];
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_bytes(out, chunk, n);
    fclose(f);
}

void emission_start(struct emission *t)
{
    *t = (struct emission){0};
    fixture_start(&t->base);
    const char *cuda = getenv("INGOT_CUDA");
    if (cuda)
        read_file(arena_printf(&t->base.arena,
                               "%s/nvvm/libdevice/libdevice.10.bc", cuda),
                  &t->libdevice);
    t->options = (struct nvptx_options){.form = NVPTX_PTX,
                                        .opt_level = 2,
                                        .libdevice = t->libdevice.data,
                                        .libdevice_size = t->libdevice.n};
    emission_target(t, "sm_80");
}

void emission_end(struct emission *t)
{
    buf_free(&t->libdevice);
    fixture_end(&t->base);
}

void emission_target(struct emission *t, const char *name)
{
    t->options.target = nvptx_target_find(name, &t->base.diags);
    assert_non_null(t->options.target);
}

void emission_show(const struct diag_list *diags)
{
    struct buf out = {0};
    diag_render(diags, (struct diag_style){0}, &out);
    print_error("%s", out.n ? out.data : "no diagnostics\n");
    buf_free(&out);
}

const char *emission_text(struct emission *t, const char *kernel)
{
    const struct ir_kernel *k = fixture_kernel(&t->base, kernel);
    struct buf out = {0};
    if (!nvptx_emit(&t->base.arena, &k, 1, &t->options, &out, &t->base.diags))
        emission_show(&t->base.diags);
    assert_int_equal(t->base.diags.errors, 0);
    const char *text = arena_copy(&t->base.arena, out.data, out.n);
    buf_free(&out);
    return text;
}

void emission_refuses(struct emission *t, const char *kernel,
                      enum diag_code code)
{
    const struct ir_kernel *k = fixture_kernel(&t->base, kernel);
    struct diag_list diags = {.arena = &t->base.arena};
    struct buf out = {0};
    assert_false(nvptx_emit(&t->base.arena, &k, 1, &t->options, &out, &diags));
    if (diags.errors != 1)
        emission_show(&diags);
    assert_int_equal(diags.errors, 1);
    assert_int_equal(diags.all.at[0].code, code);
    assert_int_equal(out.n, 0);
}

void emission_assemble(struct emission *t, const char *ptx)
{
    const char *path = fixture_tool(&t->base, "ptxas");
    if (!path || TEST_SHARE > 1)
        return;
    const char *argv[] = {path, "-arch",     t->options.target->name,
                          "-o", "/dev/null", "/dev/stdin",
                          NULL};
    struct process_input input = {ptx, strlen(ptx)};
    struct process p = {.argv = argv, .inputs = &input, .n_inputs = 1};
    process_run(&t->base.arena, &p, 1);
    if (p.end != PROCESS_EXITED || p.code != 0)
        print_error("%s%s", p.output.n ? p.output.data : "",
                    p.errors.n ? p.errors.data : "");
    assert_int_equal(p.end, PROCESS_EXITED);
    assert_int_equal(p.code, 0);
    process_free(&p);
}
