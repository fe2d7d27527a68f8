// Fuzzes schedules: any bytes are schedules and defs for the kernels below.
//
// What parses is applied, and what is accepted goes through all passes; each
// must leave a kernel that ir_check finds no fault with.

#include "support/input.h"
#include "tools/libingot/compile.h"

#include <string.h>

static const char kernels[] =
    "kernel copy(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i] }\n"
    "kernel two(A: f32[32, 24]) -> C: f32[24, 32] {\n"
    "    let B[i in 32, j in 24] = A[i, j] * 2.0\n"
    "    C[i, j] = B[j, i] + 1.0\n"
    "}\n"
    "kernel matmul(M: int, N: int, K: int, A: f32[M, K], B: f32[K, N])"
    " -> C: f32[M, N] {\n"
    "    C[i, j] = sum(k in K) A[i, k] * B[k, j]\n"
    "}\n"
    "kernel blur(n: int, A: f32[n + 2]) -> C: f32[n] {\n"
    "    let B[i in n + 2] = A[i] * 0.5\n"
    "    C[i] = B[i] + B[i + 1] + B[i + 2]\n"
    "}\n"
    "kernel total(m: int, n: int, A: f32[m, n]) -> C: f32[m] {\n"
    "    let S[i in m] = sum(j in n) A[i, j]\n"
    "    C[i] = max(S[i], 0.0)\n"
    "}\n"
    "kernel padded(A: i32[14, 16]) -> C: i32[16, 16] {\n"
    "    let P[i in 16, j in 16] = i >= 1 && i < 15 ? A[i - 1, j] : 0\n"
    "    C[i, j] = P[i, j] + 1\n"
    "}\n";

// Return whether a schedule is for a kernel.
static bool is_scheduled(const struct sched_program *all, const char *kernel)
{
    for (size_t i = 0; i < all->schedules.n; i++)
        if (strcmp(all->schedules.at[i]->name.text, kernel) == 0)
            return true;
    return false;
}

// Drop the kernels that no schedule is for.
static void drop_kernels(struct program *program)
{
    size_t n = 0;
    for (size_t i = 0; i < program->kernels.n; i++) {
        struct ir_kernel *k = program->kernels.at[i];
        if (is_scheduled(&program->schedules, k->name))
            program->kernels.at[n++] = k;
    }
    program->kernels.n = n;
}

// Parse an input behind the kernels; false if there is nothing to do: after
// errors, without a schedule, or with kernels of its own.
static bool parse(struct compilation *c, const uint8_t *data, size_t size)
{
    struct source *source = arena_new(&c->arena, struct source);
    const char *text = arena_copy(&c->arena, data, size);
    compile_add(c, "kernels", kernels, sizeof kernels - 1);
    size_t n = c->program.kernels.n;
    *source = (struct source){"input", text, size};
    bool ok = frontend_parse(&c->arena, &c->names, source, true, &c->diags,
                             &c->program);
    input_check_diags(&c->arena, &c->diags, ok);
    return ok && c->program.kernels.n == n && c->program.schedules.schedules.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct compilation c;
    compile_start(&c);
    bool is_parsed = parse(&c, data, size);
    if (is_parsed) {
        const struct nvptx_target *target =
            nvptx_target_find("sm_80", &c.diags);
        struct compile_options options = {
            .targets = &target, .n_targets = 1, .passes.checked = true};
        drop_kernels(&c.program);
        bool ok = compile_lower(&c, &options);
        input_check_diags(&c.arena, &c.diags, ok);
    }
    compile_end(&c);
    return is_parsed ? 0 : -1;
}
