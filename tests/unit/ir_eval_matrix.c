// The interpreter runs instructions on matrices: products of every kind of row
// of ir/matrix.def against sums computed here, rows moved between shared memory
// and registers, and groups that do not come together.

#include "ir/base/buf.h"
#include "ir/eval.h"
#include "ir/matrix.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A product under test.
struct product {
    struct matrix_info info;
    struct matrix_layout layout[MATRIX_OPERANDS];
    bool is_own[MATRIX_OPERANDS]; // in registers
    struct buf text;
};

// Return how many elements a thread has, or, of shared operands, copies.
static uint32_t each(const struct product *p, int i)
{
    const struct matrix_part *part = &p->info.part[i];
    return p->is_own[i] ? p->layout[i].elements
                        : part->rows * part->columns / p->info.threads;
}

// Append the declaration of an operand, and how its threads fill it.
static void add_operand(struct product *p, int i, const char *name)
{
    const struct matrix_part *part = &p->info.part[i];
    uint32_t minor = i == MATRIX_A ? part->columns : part->rows;
    uint32_t major = i == MATRIX_A ? part->rows : part->columns;
    const char *type = type_name(part->type);
    if (p->is_own[i])
        buf_printf(&p->text,
                   "alloc %s: %s[%u] in local\n"
                   "for e in 0..%u { %s[e] = %c[thread.x, e] }\n",
                   name, type, each(p, i), each(p, i), name, *name - 'a' + 'A');
    else
        buf_printf(&p->text,
                   "alloc %s: %s[%u, %u] in shared align 1024\n"
                   "for e in 0..%u { let i = thread.x * %u + e\n"
                   "%s[i / %u, i %% %u] = %c[thread.x, e] }\n",
                   name, type, major, minor, each(p, i), each(p, i), name,
                   minor, minor, *name - 'a' + 'A');
}

// Append an operand of the instruction.
static void add_tile(struct product *p, int i, const char *name)
{
    const struct matrix_part *part = &p->info.part[i];
    uint32_t minor = i == MATRIX_A ? part->columns : part->rows;
    uint32_t major = i == MATRIX_A ? part->rows : part->columns;
    if (p->is_own[i])
        buf_printf(&p->text, " %s[0 : %u]", name, each(p, i));
    else
        buf_printf(&p->text, " %s[0 : %u, 0 : %u] desc(0, 128, 256)", name,
                   major, minor);
}

// Write the kernel.
static void write_kernel(struct product *p, const char *op)
{
    static const char *const names[] = {"d", "a", "b"};
    const char *types[MATRIX_OPERANDS];
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        types[i] = type_name(p->info.part[i].type);
    uint32_t n = p->info.threads;
    buf_printf(&p->text,
               "kernel f(keep: int, A: %s[%u, %u], B: %s[%u, %u], "
               "D: %s[%u, %u] inout)\nlevel launch\n{\n"
               "launch f grid(1, 1, 1) block(%u, 1, 1) {\n",
               types[1], n, each(p, 1), types[2], n, each(p, 2), types[0], n,
               each(p, 0), n);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        add_operand(p, i, names[i]);
    buf_printf(&p->text, "barrier\nmatrix %s", op);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        buf_text(&p->text, i ? "," : "");
        add_tile(p, i, names[i]);
    }
    buf_printf(&p->text,
               " keep keep > 0\n"
               "for e in 0..%u { D[thread.x, e] = d[e] }\n}\n}\n",
               each(p, 0));
}

// Return where an element of an operand is in its argument.
static uint32_t place(const struct product *p, int i, uint32_t row,
                      uint32_t column)
{
    const struct matrix_part *part = &p->info.part[i];
    if (!p->is_own[i])
        return i == MATRIX_A ? row * part->columns + column
                             : column * part->rows + row;
    for (uint32_t t = 0; t < p->info.threads; t++) {
        for (uint32_t e = 0; e < each(p, i); e++) {
            uint32_t r, c;
            matrix_position(&p->layout[i], t, e, &r, &c);
            if (r == row && c == column)
                return t * each(p, i) + e;
        }
    }
    fail();
    return 0;
}

// Return an element of an argument as a number.
static double number(const struct product *p, int i, const char *data,
                     uint32_t row, uint32_t column)
{
    struct type t = p->info.part[i].type;
    const char *at = data + place(p, i, row, column) * type_bytes(t);
    return type_is_float(t) ? eval_load_float(t, at)
                            : (double)eval_load_int(t, at);
}

// Fill an argument with small whole numbers, whose sums are exact.
static char *filled(const struct product *p, int i, size_t *size)
{
    struct type t = p->info.part[i].type;
    size_t n = (size_t)p->info.threads * each(p, i);
    char *data = malloc(n * type_bytes(t));
    assert_non_null(data);
    for (size_t k = 0; k < n; k++) {
        int64_t value = (int64_t)(k * 7 + k / 13 + (size_t)i) % 5;
        char *at = data + k * type_bytes(t);
        if (type_is_float(t))
            eval_store_float(t, at, (double)value - 2);
        else
            eval_store_int(t, at, value);
    }
    *size = n * type_bytes(t);
    return data;
}

// Compare some elements of the result with sums.
static void compare(const struct product *p, char *const *data,
                    const char *before, bool keeps)
{
    for (uint32_t x = 0; x < p->info.m * p->info.n; x += 5) {
        uint32_t i = x / p->info.n, j = x % p->info.n;
        double sum = keeps ? number(p, MATRIX_D, before, i, j) : 0;
        for (uint32_t k = 0; k < p->info.k; k++)
            sum += number(p, MATRIX_A, data[1], i, k) *
                   number(p, MATRIX_B, data[2], k, j);
        assert_true(sum == number(p, MATRIX_D, data[0], i, j));
    }
}

// Run a product and compare.
static void check_product(const char *op, bool keeps)
{
    struct arena arena = {0};
    struct product p = {0};
    struct ir_matrix m;
    char *data[MATRIX_OPERANDS];
    size_t size[MATRIX_OPERANDS];
    assert_true(matrix_find(op, &m));
    p.info = matrix_info(m);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        p.is_own[i] = matrix_layout(m, (enum matrix_operand)i, &p.layout[i]);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        data[i] = filled(&p, i, &size[i]);
    char *before = malloc(size[0]);
    assert_non_null(before);
    memcpy(before, data[0], size[0]);
    write_kernel(&p, op);
    struct ir_kernel *k = kernel_text(&arena, p.text.data);
    struct eval_argument args[] = {{.scalar.i = keeps},
                                   {.data = data[1], .size = size[1]},
                                   {.data = data[2], .size = size[2]},
                                   {.data = data[0], .size = size[0]}};
    kernel_run(k, args);
    compare(&p, data, before, keeps);
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        free(data[i]);
    free(before);
    buf_free(&p.text);
    arena_reset(&arena);
}

static void products(void **state)
{
    (void)state;
    static const char *const ops[] = {
        "mma_m16n8k8_f16_f32",        "mma_m16n8k16_f16_f32",
        "mma_m16n8k16_f16_f16",       "mma_m16n8k16_bf16_f32",
        "mma_m16n8k8_tf32_f32",       "mma_m16n8k32_s8_s32",
        "mma_m16n8k32_u8_s32",        "mma_m16n8k32_e4m3_f32",
        "mma_m16n8k32_e5m2_f32",      "mma_m8n8k4_f64_f64",
        "mma_m16n8k4_f64_f64",        "mma_m16n8k8_f64_f64",
        "mma_m16n8k16_f64_f64",       "wgmma_m64n8k16_f16_f32",
        "wgmma_m64n48k8_tf32_f32",    "wgmma_m64n32k32_s8_s32",
        "wgmma_rs_m64n16k16_bf16_f32"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        check_product(ops[i], true);
        check_product(ops[i], false);
    }
}

// The operands of tf32 lose the bits that the type lacks, and sums are
// rounded to f32, k ascending.
static void precision(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct ir_kernel *k = kernel_text(
        &arena, "kernel f(A: f32[2], X: f16[3]) -> (D: f32[32], E: f32[32])\n"
                "level launch\n{\nlaunch f grid(1, 1, 1) block(32, 1, 1) {\n"
                "alloc a: f32[4] in local\nalloc b: f32[2] in local\n"
                "alloc d: f32[4] in local\n"
                "alloc x: f16[8] in local\nalloc y: f16[4] in local\n"
                "alloc z: f32[4] in local\n"
                "for e in 0..4 { a[e] = A[0]\n d[e] = 0.0\n z[e] = 16777216.0\n"
                "y[e] = 1.0 }\n"
                "for e in 0..2 { b[e] = A[1] }\n"
                "for e in 0..8 { x[e] = 1.0 }\n"
                "matrix mma_m16n8k8_tf32_f32 d[0 : 4], a[0 : 4], b[0 : 2]\n"
                "matrix mma_m16n8k16_f16_f32 z[0 : 4], x[0 : 8], y[0 : 4]\n"
                "D[thread.x] = d[3]\nE[thread.x] = z[0]\n}\n}\n");
    float a[] = {1.0009765625f + 0x1p-12f, 1}, d[32], e[32];
    uint16_t x[3] = {0};
    kernel_run(
        k, (struct eval_argument[]){ARRAY(a), ARRAY(x), ARRAY(d), ARRAY(e)});
    for (int i = 0; i < 32; i++)
        assert_true(d[i] == 8 * 1.0009765625f && e[i] == 16777216);
    arena_reset(&arena);
}

static const char rows_text[] =
    "kernel f(A: u16[32, 8]) -> (B: u16[32, 8], C: u16[32, 8], T: u16[32, 8])\n"
    "level launch\n{\nlaunch f grid(1, 1, 1) block(32, 1, 1) {\n"
    "alloc S: u16[32, 8] in shared align 16\n"
    "alloc R: u16[32, 8] in shared align 16\n"
    "alloc r: u16[8] in local\n"
    "for e in 0..8 { S[thread.x, e] = A[thread.x, e] }\n"
    "barrier\n"
    "matrix ldmatrix_x4 r[0 : 8], S[thread.x, 0 : 8]\n"
    "for e in 0..8 { B[thread.x, e] = r[e] }\n"
    "matrix stmatrix_x4_trans r[0 : 8], R[thread.x, 0 : 8]\n"
    "barrier\n"
    "for e in 0..8 { C[thread.x, e] = R[thread.x, e] }\n"
    "matrix ldmatrix_x4_trans r[0 : 8], S[thread.x, 0 : 8]\n"
    "for e in 0..8 { T[thread.x, e] = r[e] }\n"
    "}\n}\n";

// ldmatrix gives what the lanes' rows have; stmatrix with the other order
// transposes each matrix.
static void rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct ir_kernel *k = kernel_text(&arena, rows_text);
    uint16_t a[32][8], b[32][8], c[32][8], t[32][8];
    for (int i = 0; i < 256; i++)
        a[i / 8][i % 8] = (uint16_t)i;
    kernel_run(
        k, (struct eval_argument[]){ARRAY(a), ARRAY(b), ARRAY(c), ARRAY(t)});
    for (int i = 0; i < 256; i++) {
        int lane = i / 8, e = i % 8, row = e / 2 * 8;
        assert_int_equal(b[lane][e], a[row + lane / 4][lane % 4 * 2 + e % 2]);
        assert_int_equal(t[lane][e], a[row + lane % 4 * 2 + e % 2][lane / 4]);
        assert_int_equal(c[lane][e], a[lane / 8 * 8 + e][lane % 8]);
    }
    arena_reset(&arena);
}

// Threads that do not come together, or differ in `keep`.
static void divergent(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"if thread.x % 32 < 16 { matrix mma_m16n8k16_f16_f32 d[0 : 4], "
         "a[0 : 8], b[0 : 4] }",
         "in divergent control flow"},
        {"if thread.x < 96 { if thread.x < 32 { D[0] = warp_sum(D[0]) }\n"
         "matrix wgmma_rs_m64n8k16_f16_f32 d[0 : 4], a[0 : 8], "
         "S[0 : 8, 0 : 16] desc(0, 128, 256) }",
         "in divergent control flow"},
        {"matrix mma_m16n8k16_f16_f32 d[0 : 4], a[0 : 8], b[0 : 4] keep "
         "thread.x > 3",
         "threads differ in `keep`"},
        {"matrix ldmatrix_x1 b[3 : 2], S[thread.x % 8, 0 : 8]",
         "reaches beyond the end of `b`"},
        {"matrix ldmatrix_x1 b[0 : 2], S[thread.x % 8 + 1, 0 : 8]",
         "outside the array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct buf text = {0};
        buf_printf(&text,
                   "kernel f(D: f32[1] inout)\nlevel launch\n{\n"
                   "launch f grid(1, 1, 1) block(128, 1, 1) {\n"
                   "alloc a: f16[8] in local\nalloc b: f16[4] in local\n"
                   "alloc d: f32[4] in local\n"
                   "alloc S: f16[8, 16] in shared align 16\n%s\n}\n}\n",
                   cases[i][0]);
        struct ir_kernel *k = kernel_text(&arena, text.data);
        float d[1] = {0};
        kernel_stops(k, (struct eval_argument[]){ARRAY(d)}, EVAL_FAULT,
                     cases[i][1]);
        buf_free(&text);
        arena_reset(&arena);
    }
}

// Warps of a warpgroup go ways of their own between its instructions.
static void warps_apart(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct ir_kernel *k = kernel_text(
        &arena, "kernel f() -> D: f32[128]\nlevel launch\n{\n"
                "launch f grid(1, 1, 1) block(160, 1, 1) {\n"
                "if thread.x < 128 {\n"
                "alloc a: f16[8] in local\nalloc d: f32[4] in local\n"
                "alloc S: f16[8, 16] in shared align 16\n"
                "for e in 0..8 { a[e] = 1.0\n"
                "if thread.x < 16 { S[e, thread.x] = 1.0 } }\n"
                "var x: f32 = f32(thread.x / 32)\n"
                "if thread.x / 32 == 1 { x = warp_sum(x) }\n"
                "for e in 0..4 { d[e] = x }\n"
                "matrix wgmma_rs_m64n8k16_f16_f32 d[0 : 4], a[0 : 8], "
                "S[0 : 8, 0 : 16] desc(0, 128, 256)\n"
                "D[thread.x] = d[0]\n}\n}\n}\n");
    float d[128];
    kernel_run(k, (struct eval_argument[]){ARRAY(d)});
    for (int i = 0; i < 128; i++)
        assert_true((int)d[i] == 16 + (i / 32 == 1 ? 32 : i / 32));
    arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),    cmocka_unit_test(precision),
        cmocka_unit_test(rows),        cmocka_unit_test(divergent),
        cmocka_unit_test(warps_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
