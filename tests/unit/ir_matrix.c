// Instructions on matrices: names, and which thread has which element.

#include "ir/matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Names of every kind of row.
static const char *const names[] = {"mma_m16n8k8_f16_f32",
                                    "mma_m16n8k16_f16_f32",
                                    "mma_m16n8k16_f16_f16",
                                    "mma_m16n8k16_bf16_f32",
                                    "mma_m16n8k8_tf32_f32",
                                    "mma_m8n8k4_f64_f64",
                                    "mma_m16n8k4_f64_f64",
                                    "mma_m16n8k8_f64_f64",
                                    "mma_m16n8k16_f64_f64",
                                    "mma_m16n8k32_s8_s32",
                                    "mma_m16n8k32_e4m3_f32",
                                    "wgmma_m64n8k16_f16_f32",
                                    "wgmma_m64n192k16_f16_f32",
                                    "wgmma_rs_m64n256k16_bf16_f32",
                                    "wgmma_m64n96k8_tf32_f32",
                                    "wgmma_m64n48k32_s8_s32",
                                    "ldmatrix_x4",
                                    "ldmatrix_x2_trans",
                                    "stmatrix_x1",
                                    "stmatrix_x4_trans"};

// Every thread's elements together are the operand, each element once.
static void check_layout(struct ir_matrix m, enum matrix_operand which)
{
    struct matrix_info info = matrix_info(m);
    struct matrix_layout layout;
    if (!matrix_layout(m, which, &layout))
        return;
    uint32_t rows = info.part[which].rows, columns = info.part[which].columns;
    bool *seen = calloc(rows * columns, sizeof *seen);
    assert_non_null(seen);
    for (uint32_t t = 0; t < info.threads; t++) {
        for (uint32_t e = 0; e < layout.elements; e++) {
            uint32_t row, column;
            matrix_position(&layout, t, e, &row, &column);
            assert_true(row < rows && column < columns);
            assert_false(seen[row * columns + column]);
            seen[row * columns + column] = true;
        }
    }
    for (uint32_t i = 0; i < rows * columns; i++)
        assert_true(seen[i]);
    free(seen);
}

static void test_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ir_matrix m;
        assert_true(matrix_find(names[i], &m));
        check_layout(m, MATRIX_D);
        check_layout(m, MATRIX_A);
        check_layout(m, MATRIX_B);
    }
}

// A position that the figures of the PTX manual show.
struct shown {
    const char *name;
    enum matrix_operand which;
    uint32_t thread, element, row, column;
};

static const struct shown shown[] = {
    {"mma_m16n8k16_f16_f32", MATRIX_D, 5, 2, 9, 2},
    {"mma_m16n8k16_f16_f32", MATRIX_A, 31, 7, 15, 15},
    {"mma_m16n8k16_f16_f32", MATRIX_A, 1, 4, 0, 10},
    {"mma_m16n8k16_f16_f32", MATRIX_B, 6, 3, 13, 1},
    {"mma_m16n8k8_tf32_f32", MATRIX_A, 6, 2, 1, 6},
    {"mma_m16n8k8_tf32_f32", MATRIX_B, 6, 1, 6, 1},
    {"mma_m8n8k4_f64_f64", MATRIX_D, 6, 1, 1, 5},
    {"mma_m16n8k4_f64_f64", MATRIX_A, 6, 1, 9, 2},
    {"mma_m16n8k8_f64_f64", MATRIX_B, 6, 1, 6, 1},
    {"mma_m16n8k16_f64_f64", MATRIX_A, 6, 5, 9, 10},
    {"mma_m16n8k16_f64_f64", MATRIX_B, 6, 3, 14, 1},
    {"mma_m16n8k32_s8_s32", MATRIX_A, 2, 13, 8, 25},
    {"mma_m16n8k32_s8_s32", MATRIX_B, 9, 5, 21, 2},
    {"wgmma_m64n256k16_f16_f32", MATRIX_D, 127, 127, 63, 255},
    {"wgmma_m64n256k16_f16_f32", MATRIX_D, 33, 5, 16, 11},
    {"wgmma_m64n256k16_f16_f32", MATRIX_D, 33, 6, 24, 10},
    {"ldmatrix_x4", MATRIX_D, 4, 6, 25, 0},
    {"ldmatrix_x4_trans", MATRIX_D, 4, 7, 25, 1},
};

static void test_positions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct shown *s = &shown[i];
        struct ir_matrix m;
        struct matrix_layout layout;
        uint32_t row, column;
        assert_true(matrix_find(s->name, &m));
        assert_true(matrix_layout(m, s->which, &layout));
        matrix_position(&layout, s->thread, s->element, &row, &column);
        assert_int_equal(row, s->row);
        assert_int_equal(column, s->column);
    }
}

static void test_names(void **state)
{
    (void)state;
    struct ir_matrix m, again;
    struct buf text = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(matrix_find(names[i], &m));
        matrix_name(&text, m);
        assert_string_equal(text.data, names[i]);
        buf_free(&text);
    }
    assert_true(matrix_find("wgmma_m64n192k16_f16_f32", &m));
    matrix_ptx(&text, m);
    assert_string_equal(text.data,
                        "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16");
    assert_true(matrix_find_ptx(text.data, false, &again));
    assert_true(again.row == m.row && again.n == 192);
    assert_true(matrix_find_ptx(text.data, true, &again));
    assert_int_not_equal(again.row, m.row);
    buf_free(&text);
    assert_false(matrix_find("wgmma_m64n12k16_f16_f32", &m));
    assert_false(matrix_find("wgmma_m64n264k16_f16_f32", &m));
    assert_false(matrix_find("wgmma_m64n24k32_s8_s32", &m));
    assert_false(matrix_find("mma_m16n8k16_f16", &m));
}

// An element of a shared operand, and where it is.
struct placed {
    struct ir_descriptor descriptor;
    uint32_t bytes, line, k, address;
};

static const struct placed placed[] = {
    {{0, 128, 256, false}, 2, 9, 9, 256 + 128 + 16 + 2},
    {{0, 128, 256, true}, 2, 9, 9, 256 + 128 + 16 + 2},
    {{32, 0, 256, false}, 2, 12, 1, 256 + 4 * 32 + 16 + 2},
    {{64, 0, 512, false}, 2, 6, 8, 6 * 64 + (1 ^ 3) * 16},
    {{128, 0, 1024, false}, 2, 13, 8, 1024 + 5 * 128 + (1 ^ 5) * 16},
    {{128, 0, 1024, false}, 4, 3, 7, 3 * 128 + (1 ^ 3) * 16 + 3 * 4},
    {{128, 0, 1024, false}, 1, 2, 17, 2 * 128 + (1 ^ 2) * 16 + 1},
    {{128, 8192, 1024, true}, 2, 65, 9, 8192 + 1024 + 128 + (0 ^ 1) * 16 + 2},
};

static void test_placed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++) {
        const struct placed *p = &placed[i];
        assert_int_equal(
            matrix_shared_address(&p->descriptor, p->bytes, 0, p->line, p->k),
            p->address);
    }
}

// A step along k inside of the rows moves the address before the swizzle.
static void test_steps(void **state)
{
    (void)state;
    struct ir_descriptor d = {128, 0, 1024, false};
    for (uint32_t line = 0; line < 64; line++) {
        for (uint32_t k = 0; k < 16; k++)
            assert_true(matrix_shared_address(&d, 2, 32, line, k) ==
                        matrix_shared_address(&d, 2, 0, line, k + 16));
    }
}

// Tiles of arrays with blocks of 64 columns, and of blocks of 8 x 8.
static void test_tiles(void **state)
{
    (void)state;
    struct ir_expr at = {.n = 4};
    struct ir_tile columns = {.at = &at, .extent = {1, 4, 16, 64}};
    columns.descriptor.is_transposed = true;
    uint32_t index[4];
    matrix_tile_index(&columns, &(struct matrix_shape){256, 16}, 130, 5, index);
    assert_true(index[0] == 0 && index[1] == 2 && index[2] == 5 &&
                index[3] == 2);
    struct ir_tile blocks = {.at = &at, .extent = {8, 2, 8, 8}};
    matrix_tile_index(&blocks, &(struct matrix_shape){64, 16}, 63, 9, index);
    assert_true(index[0] == 7 && index[1] == 1 && index[2] == 7 &&
                index[3] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_positions),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_placed),
        cmocka_unit_test(test_steps),   cmocka_unit_test(test_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
