// Packages made for tests.

#include "tests/unit/support/package_fixture.h"

#include "ir/text.h"
#include "nvptx/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

const char fixture_vadd[] =
    "kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n]\n"
    "    level flat\n"
    "{\n"
    "    launch vadd grid(ceildiv(n, 256), 1, 1) block(256, 1, 1) {\n"
    "    }\n"
    "}\n";

const char fixture_softmax[] =
    "kernel softmax(m: int, n: int, X: f32[m, n]) -> Y: f32[m, n]\n"
    "    level flat\n"
    "{\n"
    "    alloc hi: f32[m] in global\n"
    "    alloc e: f32[m, n] in global\n"
    "    launch softmax grid(m, 1, 1) block(128, 1, 1) {\n"
    "    }\n"
    "    launch softmax_1 grid(ceildiv(n, 32), m, 1) block(32, 8, 1) {\n"
    "    }\n"
    "}\n";

const char fixture_mapped[] =
    "kernel mapped(m: int, X: f32[m, 64]) -> Y: f32[m, 64]\n"
    "    map X_map of X box[32, 64]\n"
    "    level flat\n"
    "{\n"
    "    alloc hi: f32[m] in global\n"
    "    alloc e: f32[m, 64] in global\n"
    "    map e_map of e box[16, 32] swizzle(128)\n"
    "    launch mapped grid(m, 1, 1) block(128, 1, 1) {\n"
    "    }\n"
    "}\n";

const char fixture_guarded[] =
    "kernel scale(m: int, n: int, ld: int, alpha: f32, count: i32,\n"
    "             X: f16[n, m] strides [1, ld], W: f32[n] align 16) ->\n"
    "             Y: f32[m, n]\n"
    "    where ld >= n, n % 8 == 0, alpha > 0.5, m * n < 1000000000000\n"
    "    level flat\n"
    "{\n"
    "    launch scale grid(ceildiv(m * n, 128), 1, 1) block(128, 1, 1) {\n"
    "    }\n"
    "}\n";

const char fixture_guarded_i32[] =
    "kernel scale(m: int, n: int, ld: int, alpha: f32, count: i32,\n"
    "             X: f16[n, m] strides [1, ld], W: f32[n] align 16) ->\n"
    "             Y: f32[m, n]\n"
    "    where ld >= n, n % 8 == 0, alpha > 0.5, m * n < 1000000000000\n"
    "    guard m * ld <= 2147483647, m <= 65535\n"
    "    variant i32\n"
    "    level flat\n"
    "{\n"
    "    launch scale__i32 grid(n / 8, m, 1) block(128, 1, 1) {\n"
    "    }\n"
    "}\n";

void fixture_start(struct fixture *f)
{
    *f = (struct fixture){0};
    f->names.arena = &f->arena;
    f->diags.arena = &f->arena;
}

void fixture_end(struct fixture *f)
{
    for (size_t i = 0; i < f->scripts.n; i++)
        unlink(f->scripts.at[i]);
    arena_reset(&f->arena);
}

const char *fixture_script(struct fixture *f, const char *text)
{
    char *path = arena_printf(&f->arena, "/tmp/ingot-test-XXXXXX");
    int fd = mkstemp(path);
    text = arena_printf(&f->arena, "#!/bin/sh\n%s\n", text);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
        fchmod(fd, 0700) != 0 || close(fd) != 0)
        abort();
    vec_push(&f->arena, &f->scripts, path);
    return path;
}

const struct ir_kernel *fixture_kernel(struct fixture *f, const char *text)
{
    struct source *source = arena_new(&f->arena, struct source);
    *source = (struct source){"sample.ing", text, strlen(text)};
    const struct ir_kernel *kernel =
        ir_parse_kernel(&f->arena, &f->names, source, &f->diags);
    if (!kernel) {
        struct buf out = {0};
        diag_render(&f->diags, (struct diag_style){0}, &out);
        fputs(out.data, stderr);
        abort();
    }
    return kernel;
}

const char *fixture_tool(struct fixture *f, const char *name)
{
    const char *folder = getenv("INGOT_CUDA");
    return process_find(&f->arena, name, &folder, folder && *folder,
                        getenv("PATH"));
}

// Append the parameters behind the kernel's own: of the workspace, and maps.
static void write_rest(const struct ir_kernel *kernel, const char *launch,
                       size_t n, struct buf *out)
{
    for (size_t i = 0; i < kernel->body.n; i++)
        if (kernel->body.at[i]->kind == STMT_alloc)
            buf_printf(out, ",\n\t.param .b64 %s_param_%zu", launch, n++);
    for (size_t i = 0; i < kernel->maps.n; i++)
        buf_printf(out, ",\n\t.param .align 64 .b8 %s_param_%zu[128]", launch,
                   n++);
}

// Append the entry of a launch with the parameters of its kernel.
static void write_entry(const struct ir_kernel *kernel,
                        const struct ir_launch *launch, struct buf *out)
{
    size_t n = 0;
    buf_printf(out, ".visible .entry %s(\n", launch->name);
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *var = kernel->params.at[i].var;
        unsigned bits = var ? type_bits(var->type) : 64;
        buf_printf(out, "%s\t.param .b%u %s_param_%zu", n ? ",\n" : "", bits,
                   launch->name, n);
        n++;
    }
    write_rest(kernel, launch->name, n, out);
    buf_printf(out, "\n)\n.maxntid %u, %u, %u\n{\n\tret;\n}\n",
               launch->block[0], launch->block[1], launch->block[2]);
}

void fixture_ptx(const struct package *package, const char *target,
                 unsigned version, struct buf *out)
{
    buf_printf(out,
               "//\n// Made for a test\n//\n\n.version %u.%u\n.target %s\n"
               ".address_size 64\n\n",
               version / 10, version % 10, target);
    for (size_t i = 0; i < package->n_kernels; i++) {
        for (size_t v = 0; v < package->kernels[i].n_variants; v++) {
            const struct ir_kernel *kernel = package->kernels[i].variants[v];
            for (size_t k = 0; k < kernel->body.n; k++)
                if (kernel->body.at[k]->kind == STMT_launch)
                    write_entry(kernel, &kernel->body.at[k]->u.launch, out);
        }
    }
}

struct package fixture_package(struct fixture *f, const char *name,
                               const char *const *texts, size_t n)
{
    struct package_kernel *kernels =
        arena_array(&f->arena, struct package_kernel, n);
    for (size_t i = 0; i < n; i++) {
        const struct ir_kernel **variants =
            arena_array(&f->arena, const struct ir_kernel *, 1);
        variants[0] = fixture_kernel(f, texts[i]);
        kernels[i] = (struct package_kernel){variants[0], variants, 1, 0};
    }
    return (struct package){.name = name,
                            .source = "sample.ing",
                            .kernels = kernels,
                            .n_kernels = n,
                            .ingot_version = "0.0.0"};
}

// Make the PTX of an image, and its cubin if it is to be one.
static bool make_image(struct fixture *f, const struct package *package,
                       const char *name, struct package_image *out)
{
    bool is_ptx = strncmp(name, "compute_", 8) == 0;
    const char *target =
        arena_printf(&f->arena, "sm_%s", strchr(name, '_') + 1);
    const struct nvptx_target *found = nvptx_target_find(target, &f->diags);
    struct buf ptx = {0};
    fixture_ptx(package, target, found->ptx, &ptx);
    *out =
        (struct package_image){.kind = is_ptx ? IMAGE_PTX : IMAGE_CUBIN,
                               .sm = found->number,
                               .suffix = found->kind,
                               .bytes = arena_copy(&f->arena, ptx.data, ptx.n),
                               .size = ptx.n};
    buf_free(&ptx);
    if (is_ptx)
        return true;
    struct ptxas tool = {.path = fixture_tool(f, "ptxas")};
    struct ptxas_job job = {
        .target = found, .ptx = out->bytes, .ptx_size = out->size};
    if (!tool.path || !ptxas_run(&f->arena, &tool, &job, 1, &f->diags))
        return false;
    out->bytes = job.cubin;
    out->size = job.cubin_size;
    out->usage = job.usage;
    return true;
}

bool fixture_images(struct fixture *f, struct package *package,
                    const char *const *targets, size_t n)
{
    struct package_image *images =
        arena_array(&f->arena, struct package_image, n);
    package->images = images;
    package->n_images = n;
    for (size_t i = 0; i < n; i++)
        if (!make_image(f, package, targets[i], &images[i]))
            return false;
    return true;
}

const char *fixture_message(const struct fixture *f)
{
    return f->diags.all.n ? f->diags.all.at[f->diags.all.n - 1].text : "";
}

struct ptxas fixture_start_ptxas(struct fixture *f)
{
    fixture_start(f);
    struct ptxas tool = {.path = fixture_tool(f, "ptxas")};
    if (!tool.path) {
        fixture_end(f);
        skip();
    }
    return tool;
}

struct ptxas fixture_fake_ptxas(struct fixture *f, const char *script)
{
    return (struct ptxas){.path = fixture_script(f, script)};
}

struct ptxas_job fixture_job(struct fixture *f, const char *target,
                             const struct buf *ptx, const char *const *entries,
                             size_t n)
{
    return (struct ptxas_job){.target = nvptx_target_find(target, &f->diags),
                              .ptx = arena_copy(&f->arena, ptx->data, ptx->n),
                              .ptx_size = ptx->n,
                              .entries = entries,
                              .n_entries = n};
}
