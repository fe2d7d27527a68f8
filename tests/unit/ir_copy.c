// Walking, substituting, copying and comparing programs.

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/check.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// A program with every kind of statement that a file can have.
static const char stages_text[] =
    "kernel k(M: int, N: int, s: f32, A: f32[M, N] strides [N * 2, 2] align 8,\n"
    "         H: i32[4] inout) -> C: f32[M]\n"
    "    where N % 2 == 0\n"
    "{\n"
    "    alloc T: f32[M, N] in global\n"
    "    for i in 0..M @block.x {\n"
    "        alloc S: f32[32] in shared\n"
    "        alloc R: f32[4, 32] in local pad(0, 1) swizzle(2, 1)\n"
    "        let two = s * 2.0\n"
    "        for j in 0..N step 2 @serial {\n"
    "            stage T(vi in M = i, vj in N = j) if j < N {\n"
    "                T[vi, vj] = A[vi, vj] * two\n"
    "            }\n"
    "        }\n"
    "        for t in 0..32 @thread.x {\n"
    "            var sum: f32 = 0.0\n"
    "            if t < 16 { sum = sum + s } else { S[t] = sum }\n"
    "            barrier\n"
    "            atomic_add(H[t % 4], 1)\n"
    "        }\n"
    "        for j in 0..N {\n"
    "            stage C(vi in M = i, reduce vj in N = j) {\n"
    "                init { C[vi] = 0.0 }\n"
    "                C[vi] = C[vi] + T[vi, vj]\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char launch_text[] =
    "kernel k(n: int, A: f32[n]) -> C: f32[n]\n"
    "    level launch\n"
    "{\n"
    "    launch k grid(ceildiv(n, 128), 1, 1) block(128, 1, 1) noalias(C) {\n"
    "        let i = block.x * 128 + thread.x\n"
    "        if i < n {\n"
    "            let v = lanes(A[i], 2.0)\n"
    "            C[i] = lane(v, 0)\n"
    "        }\n"
    "    }\n"
    "}\n";

// A copy is equal, valid, prints the same and shares no node with its model.
static void copy_is_deep(void **state)
{
    (void)state;
    const char *const texts[] = {stages_text, launch_text};
    for (int i = 0; i < 2; i++) {
        struct arena a = {0}, b = {0}, scratch = {0};
        const char *difference = NULL;
        struct ir_kernel *k = kernel_text(&a, texts[i]);
        const char *printed = kernel_printed(&scratch, k);
        struct ir_kernel *copy = ir_copy_kernel(&b, k);
        bool equal = ir_kernel_equal(&scratch, k, copy, &difference);
        if (!equal)
            print_error("%s\n", difference);
        assert_true(equal);
        assert_true(ir_kernel_equal(&scratch, copy, copy, NULL));
        assert_null(ir_check(&scratch, copy));
        assert_string_equal(printed, kernel_printed(&scratch, copy));
        arena_reset(&b);
        arena_reset(&a);
        arena_reset(&scratch);
    }
}

// Blocks are copied with their own variables; maps say what else changes.
static void copy_of_a_block(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k =
        kernel_text(&a, "kernel k(n: int, A: f32[n], B: f32[n])"
                        " -> C: f32[n] {\n"
                        "    for i in 0..n { C[i] = A[i] }\n}\n");
    struct ir_buffer *from = k->params.at[1].buffer;
    struct map vars = {.arena = &a}, buffers = {.arena = &a};
    map_set(&vars, k->params.at[0].var, ir_int(&a, 7));
    map_set(&buffers, from, k->params.at[2].buffer);
    struct ir_block copy = ir_copy_block(&a, &k->body, &vars, &buffers);
    assert_int_equal(copy.n, 1);
    assert_ptr_not_equal(copy.at[0]->u.loop.var, k->body.at[0]->u.loop.var);
    assert_true(ir_is_int_const(copy.at[0]->u.loop.to, 7));
    assert_false(ir_block_reads(&copy, from));
    assert_true(ir_block_reads(&k->body, from));
    assert_int_equal(vars.n, 1);
    arena_reset(&a);
}

// Substitution replaces uses in place, folds, and keeps what has none.
static void substitution(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(&a, stages_text);
    struct ir_stmt *outer = kernel_stmt(k, STMT_for);
    struct ir_var *i = outer->u.loop.var;
    struct map vars = {.arena = &a}, buffers = {.arena = &a};
    struct ir_expr *x = ir_add(&a, ir_read(&a, i), ir_int(&a, 2));
    struct ir_expr *y = ir_replace_var(&a, x, i, ir_int(&a, 3));
    assert_true(ir_is_int_const(y, 5));
    assert_ptr_equal(ir_replace_var(&a, y, i, x), y);
    map_set(&vars, i, ir_int(&a, 0));
    map_set(&buffers, k->params.at[5].buffer, k->params.at[5].buffer);
    ir_substitute_in(&a, &outer->u.loop.body, &vars, &buffers);
    struct ir_stage *stage = &kernel_stmt(k, STMT_stage)->u.stage;
    assert_true(ir_is_int_const(stage->iters.at[0].binding, 0));
    assert_null(ir_check(&a, k));
    arena_reset(&a);
}

// Substituting arrays reaches stores, atomics and allocs.
static void substitution_of_arrays(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k =
        kernel_text(&a, "kernel k(A: i32[4] inout, B: i32[4] inout) {\n"
                        "    for i in 0..4 {\n"
                        "        A[i] = A[i] + 1\n"
                        "        atomic_add(A[i], 1)\n"
                        "    }\n"
                        "}\n");
    struct ir_buffer *from = k->params.at[0].buffer;
    struct map buffers = {.arena = &a};
    map_set(&buffers, from, k->params.at[1].buffer);
    ir_substitute_in(&a, &k->body, NULL, &buffers);
    assert_false(ir_block_reads(&k->body, from));
    assert_false(ir_block_writes(&k->body, from));
    assert_true(ir_block_writes(&k->body, k->params.at[1].buffer));
    arena_reset(&a);
}

// Turn every 2 into a 3.
static struct ir_expr *three_for_two(struct arena *a, struct ir_expr *x,
                                     void *context)
{
    (void)context;
    return ir_is_int_const(x, 2) ? ir_const_int(a, x->type, 3) : x;
}

// Rewriting goes from the leaves up and reports no change by identity.
static void rewriting(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(&a, "kernel k(n: int) -> C: i32[8] {\n"
                                          "    for i in 0..n * 2 step 2 {"
                                          " C[2] = i32(i) }\n}\n");
    struct ir_for *f = &kernel_stmt(k, STMT_for)->u.loop;
    struct ir_expr *from = f->from;
    ir_rewrite_in(&a, &k->body, three_for_two, NULL);
    assert_ptr_equal(f->from, from);
    assert_true(ir_is_int_const(f->step, 3));
    assert_true(ir_is_int_const(f->to->args[1], 3));
    assert_true(
        ir_is_int_const(kernel_stmt(k, STMT_store)->u.store.index[0], 3));
    arena_reset(&a);
}

// A path leads from the body down to a statement, with every step named.
static void paths(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_path path;
    struct ir_kernel *k = kernel_text(&a, stages_text);
    struct ir_stmt *barrier = kernel_stmt(k, STMT_barrier);
    assert_true(ir_find(&a, &k->body, barrier, &path));
    assert_int_equal(path.n, 3);
    assert_ptr_equal(path.blocks[0], &k->body);
    for (uint32_t i = 0; i < path.n; i++)
        assert_ptr_equal(path.blocks[i]->at[path.index[i]], path.stmts[i]);
    assert_ptr_equal(path.stmts[2], barrier);
    assert_false(ir_find(&a, &k->body, ir_stmt_barrier(&a), &path));
    arena_reset(&a);
}

// Statements are put in and replaced at any place of a block.
static void inserting_and_splicing(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_block block = {0}, two = {0}, none = {0};
    struct ir_stmt *s[4];
    for (int i = 0; i < 4; i++)
        s[i] = ir_stmt_barrier(&a);
    ir_insert(&a, &block, 0, s[1]);
    ir_insert(&a, &block, 0, s[0]);
    ir_insert(&a, &block, 2, s[2]);
    assert_int_equal(block.n, 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(block.at[i], s[i]);
    ir_append(&a, &two, s[3]);
    ir_append(&a, &two, s[1]);
    ir_splice(&a, &block, 1, &two);
    assert_int_equal(block.n, 4);
    assert_ptr_equal(block.at[1], s[3]);
    assert_ptr_equal(block.at[3], s[2]);
    ir_splice(&a, &block, 0, &none);
    assert_int_equal(block.n, 3);
    assert_ptr_equal(block.at[0], s[3]);
    arena_reset(&a);
}

// Mentions are found at any depth.
static void mentions(void **state)
{
    (void)state;
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(&a, stages_text);
    struct ir_expr *x = k->where.at[0];
    assert_true(ir_mentions(x, k->params.at[1].var));
    assert_false(ir_mentions(x, k->params.at[0].var));
    arena_reset(&a);
}

// A change of the text, and the words that name the difference.
struct change {
    const char *from, *to, *words;
};

static const struct change changes[] = {
    {"kernel k(", "kernel l(", "names of the kernel"},
    {"s: f32", "s: f32, z: f32", "numbers of parameters"},
    {"s: f32", "s: f32, z: f32[1]", "numbers of parameters"},
    {"H: i32[4]", "H: u32[4]", "types of an array"},
    {"align 8", "align 16", "alignments"},
    {"align 8", "align 8 inout", "roles"},
    {"[N * 2, 2]", "[N * 4, 2]", "strides"},
    {"A: f32[M, N]", "A: f32[M, M]", "shapes"},
    {"N % 2 == 0", "N % 4 == 0", "`where`"},
    {"in global", "in shared", "spaces of an array"},
    {"alloc S: f32[32] in shared", "alloc S: f32[32] in local", "spaces"},
    {"pad(0, 1) ", "", "layouts of an array"},
    {"pad(0, 1)", "pad(0, 2)", "layouts"},
    {"pad(0, 1)", "align(0, 32, 1)", "layouts"},
    {"swizzle(2, 1)", "swizzle(2, 1, 1)", "layouts"},
    {"0..M @block.x", "1..M @block.x", "for i: first values"},
    {"0..M @block.x", "0..N @block.x", "for i: ends"},
    {"step 2", "step 4", "for j: steps"},
    {"@block.x", "@block.y", "for i: axes"},
    {"s * 2.0", "s * 3.0", "values of a variable"},
    {"let two = s * 2.0", "var two = s * 2.0", "kinds of a statement"},
    {"if j < N", "if j < M", "stage T: predicates"},
    {"vj in N = j) if", "vj in M = j) if", "stage T: extents"},
    {"vi in M = i, vj", "vi in M = j, vj", "stage T: bindings"},
    {"stage T(", "stage U(", "names"},
    {"reduce vj", "vj", "stage C: "},
    {"init { C[vi] = 0.0 }", "", "presence of `init`"},
    {"A[vi, vj] * two", "A[vj, vi] * two", "stage T: values stored"},
    {"T[vi, vj] = A", "T[vj, vi] = A", "stage T: indices of a store"},
    {"t < 16", "t < 8", "for t: conditions of an `if`"},
    {"sum = sum + s", "sum = sum - s", "values assigned"},
    {"H[t % 4], 1", "H[t % 4], 2", "evaluated for their effect"},
    {"barrier\n", "\n", "for t: numbers of statements"},
    {"@serial", "@unroll", "for j: axes"},
    {"for t in 0..32 @thread.x", "for t in 0..32 @thread.x @hint(3)",
     "annotations"},
};

// Return the program with a change made.
static const char *changed(struct arena *a, const struct change *c)
{
    const char *at = strstr(stages_text, c->from);
    assert_non_null(at);
    return arena_printf(a, "%.*s%s%s", (int)(at - stages_text), stages_text,
                        c->to, at + strlen(c->from));
}

// Each change makes a difference, which is named.
static void differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct arena a = {0};
        const char *difference = NULL;
        struct ir_kernel *k = kernel_text_unchecked(&a, stages_text);
        struct ir_kernel *l =
            kernel_text_unchecked(&a, changed(&a, &changes[i]));
        bool equal = ir_kernel_equal(&a, k, l, &difference);
        bool named = difference && strstr(difference, changes[i].words);
        if (equal || !named)
            print_error("%s: %s\n", changes[i].to,
                        difference ? difference : "no difference");
        assert_false(equal);
        assert_true(named);
        arena_reset(&a);
    }
}

// Names of variables do not count, which variable is meant does.
static void names_do_not_count(void **state)
{
    (void)state;
    static const char text[] = "kernel k(n: int) -> C: i32[n, n] {\n"
                               "    for %c in 0..n { for %c in 0..n {"
                               " C[%c, %c] = 0 } }\n}\n";
    struct arena a = {0};
    struct ir_kernel *k =
        kernel_text(&a, arena_printf(&a, text, 'i', 'j', 'i', 'j'));
    struct ir_kernel *same =
        kernel_text(&a, arena_printf(&a, text, 'p', 'q', 'p', 'q'));
    struct ir_kernel *swapped =
        kernel_text(&a, arena_printf(&a, text, 'i', 'j', 'j', 'i'));
    assert_true(ir_kernel_equal(&a, k, same, NULL));
    assert_false(ir_kernel_equal(&a, k, swapped, NULL));
    arena_reset(&a);
}

// Expressions over the same variables compare as they are.
static void equal_expressions(void **state)
{
    (void)state;
    struct arena a = {0};
    struct type f32 = type_scalar(TYPE_f32);
    struct ir_expr *zero = ir_const_float(&a, f32, 0);
    struct ir_expr *minus = ir_const_float(&a, f32, -0.);
    assert_true(ir_expr_equal(zero, ir_const_float(&a, f32, 0)));
    assert_false(ir_expr_equal(zero, minus));
    assert_false(ir_expr_equal(ir_int(&a, 1), ir_bool(&a, true)));
    assert_false(ir_expr_equal(ir_index_value(&a, AXIS_block_x),
                               ir_index_value(&a, AXIS_block_y)));
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_is_deep),
        cmocka_unit_test(copy_of_a_block),
        cmocka_unit_test(substitution),
        cmocka_unit_test(substitution_of_arrays),
        cmocka_unit_test(rewriting),
        cmocka_unit_test(paths),
        cmocka_unit_test(inserting_and_splicing),
        cmocka_unit_test(mentions),
        cmocka_unit_test(differences),
        cmocka_unit_test(names_do_not_count),
        cmocka_unit_test(equal_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
