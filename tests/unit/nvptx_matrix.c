// Every instruction of ir/matrix.def is emitted and assembled for the least
// architecture that has it, its elements in registers, and refused for the one
// below.

#include "ir/matrix.h"
#include "tests/unit/support/nvptx_fixture.h"

#include <llvm/Config/llvm-config.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const rows[] = {
#define MATRIX(name, kind, threads, m, n, k, inputs, result, A, B, D, set,     \
               version, ptx)                                                   \
#name,
#include "ir/matrix.def"
#undef MATRIX
};

// Append the declaration of an operand; those in registers are filled.
static void add_operand(struct buf *text, struct ir_matrix m, int i,
                        bool is_any)
{
    struct matrix_layout layout;
    struct matrix_info info = matrix_info(m);
    const char *type = is_any ? "f16" : type_name(info.part[i].type);
    if (matrix_layout(m, (enum matrix_operand)i, &layout)) {
        buf_printf(text, "alloc o%d: %s[%u] in local\n", i, type,
                   layout.elements);
        for (uint32_t k = 0; k < layout.elements; k++)
            buf_printf(text,
                       "o%d[idx32(%u)] = P%d[idx32(thread.x) * %u + %u]\n", i,
                       k, i, layout.elements, k);
    } else if (*info.part[i].layout) {
        buf_printf(text, "alloc o%d: %s[%u] in shared align 1024\n", i, type,
                   info.part[i].rows * info.part[i].columns);
    }
}

// Append an operand of the instruction.
static void add_tile(struct buf *text, struct ir_matrix m, int i)
{
    struct matrix_layout layout;
    struct matrix_info info = matrix_info(m);
    const struct matrix_part *p = &info.part[i];
    bool is_transposed = info.kind == MATRIX_WGMMA && type_bits(p->type) == 16;
    if (!*p->layout)
        return;
    if (matrix_layout(m, (enum matrix_operand)i, &layout))
        buf_printf(text, "%s o%d[idx32(0) : %u]", i ? "," : "", i,
                   layout.elements);
    else if (info.kind == MATRIX_WGMMA)
        buf_printf(text, ", o%d[idx32(0) : %u] desc(64, 1024, 512%s)", i,
                   p->rows * p->columns, is_transposed ? ", transposed" : "");
    else
        buf_printf(text, ", o%d[idx32(thread.x) %% %u * 8 : 8]", i, info.m);
}

// Write a kernel with one such instruction.
static void write_kernel(struct buf *text, struct ir_matrix m, const char *name)
{
    struct matrix_info info = matrix_info(m);
    struct matrix_layout d;
    bool is_any = strcmp(info.part[0].precision, "b16") == 0;
    matrix_layout(m, MATRIX_D, &d);
    buf_text(text, "kernel k(keep: bool");
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        buf_printf(text, ", P%d: %s[65536]", i,
                   is_any ? "f16" : type_name(info.part[i].type));
    buf_printf(text,
               ") -> R: %s[65536] level flat {\n"
               "launch k grid(1, 1, 1) block(%u, 1, 1) {\n",
               is_any ? "f16" : type_name(info.part[0].type), info.threads);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        add_operand(text, m, i, is_any);
    buf_printf(text, "%smatrix %s",
               info.kind == MATRIX_WGMMA ? "wgmma_fence\n" : "", name);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        add_tile(text, m, i);
    buf_text(text, info.k ? " keep keep\n" : "\n");
    if (info.kind == MATRIX_WGMMA)
        buf_text(text, "wgmma_commit\nwgmma_wait(0)\n");
    for (uint32_t k = 0; k < d.elements; k++)
        buf_printf(text, "R[idx32(thread.x) * %u + %u] = o0[idx32(%u)]\n",
                   d.elements, k, k);
    buf_text(text, "}\n}\n");
}

// Emit a kernel for an architecture: no local array is left, and the assembler
// takes it.
static void check_emitted(const char *kernel, const char *target)
{
    struct emission t;
    emission_start(&t);
    emission_target(&t, target);
    t.options.form = NVPTX_OPTIMISED;
    assert_null(strstr(emission_text(&t, kernel), "alloca"));
    t.options.form = NVPTX_PTX;
    emission_assemble(&t, emission_text(&t, kernel));
    emission_end(&t);
}

// Check that a kernel is refused for an architecture.
static void check_refused(const char *kernel, const char *target)
{
    struct emission t;
    emission_start(&t);
    emission_target(&t, target);
    emission_refuses(&t, kernel, D_matrix_target);
    emission_end(&t);
}

// Check a row, with a number for `*`.
static void check_row(const char *row, const char *number)
{
    struct buf name = {0}, text = {0};
    struct ir_matrix m;
    const char *star = strchr(row, '*');
    if (star)
        buf_printf(&name, "%.*s%s%s", (int)(star - row), row, number, star + 1);
    else
        buf_text(&name, row);
    assert_true(matrix_find(name.data, &m));
    struct matrix_info info = matrix_info(m);
    write_kernel(&text, m, name.data);
    bool is_group = info.kind == MATRIX_WGMMA;
    size_t n, least = 0;
    const struct nvptx_target *all = nvptx_targets(&n);
    while (all[n - 1].llvm > LLVM_VERSION_MAJOR)
        n--;
    while (!nvptx_target_in(&all[least], info.set))
        least++;
    check_emitted(text.data, all[least].name);
    if (least)
        check_refused(text.data, all[least - 1].name);
    if (is_group)
        check_refused(text.data, "sm_100a");
    else
        check_emitted(text.data, all[n - 1].name);
    buf_free(&name);
    buf_free(&text);
}

static void assembles_every_instruction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(rows[i], "16");
}

static void assembles_wide_ones(void **state)
{
    (void)state;
    check_row("wgmma_m64n*k16_f16_f32", "256");
    check_row("wgmma_m64n*k32_s8_s32", "96");
    check_row("wgmma_rs_m64n*k16_bf16_f32", "192");
}

// A kernel that copies, and what has to be in its PTX.
static void becomes(const char *target, const char *statement,
                    const char *wanted)
{
    struct emission t;
    struct buf text = {0};
    buf_printf(&text,
               "kernel k(n: int, A: f16[n] align 16, B: f32[n] align 16)"
               " -> C: f32[n] level flat {\n"
               "launch k grid(1, 1, 1) block(32, 1, 1) {\n"
               "alloc S: f32[128] in shared\nalloc H: f16[256] in shared\n"
               "let i: idx64 = idx64(thread.x)\n%s\n"
               "async_commit\nasync_wait(0)\nbarrier\nC[i] = S[31 - i] + "
               "f32(H[31 - i])\n}\n}\n",
               statement);
    emission_start(&t);
    emission_target(&t, target);
    const char *ptx = emission_text(&t, text.data);
    if (!strstr(ptx, wanted))
        print_error("%s", ptx);
    assert_non_null(strstr(ptx, wanted));
    emission_assemble(&t, ptx);
    emission_end(&t);
    buf_free(&text);
}

static void copies_asynchronously(void **state)
{
    (void)state;
    becomes("sm_80", "cp_async_load S[i] = B[i]",
            "cp.async.ca.shared.global [");
    becomes("sm_80", "cp_async_load S[ramp(i * 2, 2)] = B[ramp(i * 2, 2)]",
            ", 8;");
    becomes("sm_80", "cp_async_load H[ramp(i * 8, 8)] = A[ramp(i * 8, 8)]",
            "cp.async.cg.shared.global [");
    becomes("sm_80", "cp_async_load S[i] = B[i] if i < n", ", 4, ");
    becomes("sm_80",
            "cp_async_load H[ramp(i * 8, 8)] = A[ramp(i * 8, 8)] if i < n",
            ", 16, ");
    becomes("sm_80", "cp_async_load H[i] = A[i]", "st.shared.b16");
    becomes("sm_80", "cp_async_load S[i] = B[idx64(B[i])] if i < n",
            "st.shared");
    becomes("sm_75", "cp_async_load H[i] = A[i] if i < n", "st.shared");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assembles_every_instruction),
        cmocka_unit_test(assembles_wide_ones),
        cmocka_unit_test(copies_asynchronously),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
