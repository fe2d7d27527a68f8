// Tests of emission: what entries, memory, control flow and lines become.

#include "tests/unit/support/nvptx_fixture.h"

#include "ir/build.h"
#include "ir/marks.h"

#include <llvm/Config/llvm-config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <sys/resource.h>

// Return a kernel whose one launch, of 64 threads, has this body; each thread
// has a number i.
#define KERNEL(parameters, body)                                               \
    "kernel k" parameters " level flat {\n"                                    \
    "    launch k grid(1, 1, 1) block(64, 1, 1) {\n"                           \
    "        let i: idx64 = idx64(block.x) * 64 + idx64(thread.x)\n" body      \
    "\n    }\n}\n"

static const char scale[] = KERNEL("(n: int, A: f32[n]) -> C: f32[n]",
                                   "if i < n { C[i] = A[i] * f32(2) }");

// Return how often a text holds another.
static int count(const char *text, const char *wanted)
{
    int n = 0;
    for (; (text = strstr(text, wanted)); text++)
        n++;
    return n;
}

// Check that a kernel becomes something with each of two texts.
static void becomes(struct emission *t, const char *kernel, const char *first,
                    const char *second)
{
    const char *text = emission_text(t, kernel);
    if (!strstr(text, first) || !strstr(text, second))
        print_error("%s", text);
    assert_non_null(strstr(text, first));
    assert_non_null(strstr(text, second));
    if (t->options.form == NVPTX_PTX)
        emission_assemble(t, text);
}

static void passes_all_parameters_and_the_workspace(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    t.options.form = NVPTX_LLVM;
    becomes(&t,
            "kernel k(n: int, f: bool, s: i16, x: f32, A: f16[n] align 16)\n"
            "    -> C: f16[n] level flat {\n"
            "    alloc W: f64[n] in global\n"
            "    launch k grid(1, 1, 1) block(64, 2, 1) {\n"
            "        W[idx64(thread.x)] = f64(A[idx64(thread.x)])\n"
            "    }\n"
            "    launch k_1 grid(1, 1, 1) block(32, 1, 1) {\n"
            "        C[idx64(thread.x)] = f16(W[idx64(thread.x)])\n"
            "    }\n"
            "}\n",
            "define ptx_kernel void @k(i64 range(i64 0, -9223372036854775808) "
            "%n, i8 %f, i16 %s, float %x, ptr addrspace(1) noalias readonly "
            "align 16 %A, ptr addrspace(1) noalias readonly align 2 %C, ptr "
            "addrspace(1) align 8 %W)",
            "ptr addrspace(1) align 2 %C, ptr addrspace(1) noalias readonly "
            "align 8 %W)");
    emission_end(&t);
}

static void states_the_launch_bounds(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    becomes(&t, scale, ".visible .entry k(", ".reqntid 64, 1, 1");
    const struct ir_kernel *k = fixture_kernel(&t.base, scale);
    struct ir_launch *launch = &k->body.at[0]->u.launch;
    struct buf out = {0};
    launch->min_blocks = 4;
    launch->max_registers = 40;
    assert_true(
        nvptx_emit(&t.base.arena, &k, 1, &t.options, &out, &t.base.diags));
    assert_non_null(strstr(out.data, ".minnctapersm 4"));
    assert_non_null(strstr(out.data, ".maxnreg 40"));
    buf_free(&out);
    emission_end(&t);
}

static void reads_through_the_cache_what_nothing_writes(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    becomes(&t, scale, "ld.global.nc.b32", "st.global.b32");
    const char *text = emission_text(
        &t, KERNEL("(n: int, A: i32[n]) -> (C: i32[n], D: i32[n])",
                   "C[i] = C[i] + A[i]\nD[i] = atomic_add(D[0], C[0])"));
    assert_int_equal(count(text, "ld.global.nc"), 1);
    assert_int_equal(count(text, "ld.global.b32"), 2);
    emission_end(&t);
}

static void evaluates_one_arm_where_the_other_may_fault(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    t.options.form = NVPTX_LLVM;
    becomes(&t,
            KERNEL("(n: int, A: i32[n]) -> C: i32[n]",
                   "C[i] = 3 <= i ? A[i - 3] : i32(0)"),
            "br i1", "phi i32");
    becomes(&t,
            KERNEL("(n: int, x: i32) -> C: i32[n]",
                   "C[i] = x != i32(0) ? i32(7) / x : i32(0)"),
            "br i1", "sdiv i32 7");
    const char *text = emission_text(
        &t, KERNEL("(n: int, x: i32) -> C: i32[n]",
                   "C[i] = x != i32(0) && i < n ? x / i32(7) : i32(0)"));
    assert_null(strstr(text, "br i1"));
    assert_int_equal(count(text, "select"), 2);
    text = emission_text(&t, KERNEL("(n: int, A: i32[n]) -> C: i32[n]",
                                    "if i < n || A[i] == i32(1) "
                                    "{ C[i] = i32(1) }"));
    assert_int_equal(count(text, "br i1"), 2);
    emission_end(&t);
}

static void fuses_products_into_sums(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const char *mad = KERNEL("(n: int, A: f32[n], B: f32[n]) -> C: f32[n]",
                             "let p: f32 = A[i] * B[i]\n"
                             "C[i] = A[i] - p + C[i]");
    const char *text = emission_text(&t, mad);
    assert_int_equal(count(text, "fma.rn.f32"), 1);
    assert_int_equal(count(text, "add.rn.f32"), 1);
    assert_null(strstr(text, "mul.rn"));
    text = emission_text(&t, KERNEL("(n: int, A: f32[n]) -> C: f32[n]",
                                    "C[i] = A[i] * A[i] - C[i]"));
    assert_int_equal(count(text, "fma.rn.f32"), 1);
    assert_int_equal(count(text, "neg.f32"), 1);
    assert_null(strstr(text, "sub."));
    text = emission_text(&t, KERNEL("(n: int, A: bf16[n]) -> C: bf16[n]",
                                    "C[i] = A[i] * A[i] + C[i]"));
    assert_int_equal(count(text, "fma.rn.bf16"), 2);
    emission_end(&t);
}

static void approximates_only_when_asked(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const char *kernel =
        KERNEL("(n: int, A: f32[n]) -> C: f32[n]", "C[i] = sqrt(A[i]) / A[0]");
    becomes(&t, kernel, "sqrt.rn.f32", "div.rn.f32");
    t.options.fast_math = true;
    becomes(&t, kernel, "sqrt.approx.f32", "div.approx.f32");
    becomes(&t,
            KERNEL("(n: int, A: f32[n]) -> C: f32[n]",
                   "C[i] = sin(A[i]) + tanh(A[i])"),
            "sin.approx.f32", "tanh.approx.f32");
    emission_end(&t);
}

// LLVM 21 moves two f32 as one word.
static void moves_vectors_whole(void **state)
{
    const bool pairs = LLVM_VERSION_MAJOR < 22;
    (void)state;
    struct emission t;
    emission_start(&t);
    becomes(&t,
            KERNEL("(n: int, A: f32[n] align 16) -> C: f32[n]",
                   "C[ramp(i * 4, 4)] = A[ramp(i * 4, 4)]"),
            pairs ? "ld.global.nc.v2.b64" : "ld.global.nc.v4.b32",
            pairs ? "st.global.v2.b64" : "st.global.v4.b32");
    becomes(&t,
            KERNEL("(n: int, A: f16[n] align 4) -> C: f16[n]",
                   "C[ramp(i * 2, 2)] = A[ramp(i * 2, 2)] + "
                   "broadcast(f16(1), 2)"),
            "ld.global.nc.b32", "add.rn.f16x2");
    emission_end(&t);
}

// Vectors of indices, single lanes, and constants of types without arithmetic.
static void makes_and_takes_vectors_apart(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    becomes(&t,
            KERNEL("(n: int, A: f32[n] align 16) -> (C: i32[n] align 16, "
                   "D: f32[n])",
                   "C[ramp(i * 4, 4)] = i32(ramp(i * 4, 4))\n"
                   "D[i] = lane(A[ramp(i * 4, 4)], 2)"),
            "ld.global.nc.v4.b32", "st.global.v4.b32");
    becomes(&t, KERNEL("(n: int) -> C: f8e4m3[n]", "C[i] = f8e4m3(0.5)"),
            "st.global.b8", ", 48;");
    t.options.form = NVPTX_LLVM;
    becomes(&t,
            KERNEL("(n: int, A: f32[n] align 16) -> (C: i64[n] align 16, "
                   "D: f32[n])",
                   "C[ramp(i * 2, 2)] = i64(ramp(i * 2, 2))\n"
                   "D[i] = lane(A[ramp(i * 4, 4)], 2)"),
            ", <i64 0, i64 1>", "extractelement <4 x float> %");
    emission_end(&t);
}

static void keeps_small_arrays_in_registers(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const char *text =
        emission_text(&t, KERNEL("(n: int, A: f32[n]) -> C: f32[n]",
                                 "alloc acc: f32[4] in local\n"
                                 "for k: idx32 in idx32(0)..idx32(4) {\n"
                                 "    acc[k] = A[i + idx64(k)] }\n"
                                 "var sum: f32 = f32(0)\n"
                                 "for k: idx32 in idx32(0)..idx32(4) {\n"
                                 "    sum = sum + acc[k] }\n"
                                 "C[i] = sum"));
    assert_null(strstr(text, ".local"));
    assert_null(strstr(text, "bra"));
    emission_end(&t);
}

static void shares_memory_and_waits(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const char *kernel = KERNEL("(n: int, A: f32[n]) -> C: f32[n]",
                                "alloc tile: f32[8, 8] in shared\n"
                                "for k in 0..4 {\n"
                                "    tile[idx64(thread.x)] = A[i + k]\n"
                                "    barrier\n"
                                "    C[i] = C[i] + tile[63 - idx64(thread.x)]\n"
                                "    barrier\n"
                                "}");
    for (t.options.opt_level = 0; t.options.opt_level < 4;
         t.options.opt_level++) {
        const char *text = emission_text(&t, kernel);
        assert_non_null(strstr(text, "k_$_tile[256]"));
        assert_int_equal(count(text, "bar.sync"), 2);
        emission_assemble(&t, text);
    }
    emission_end(&t);
}

// LLVM knows the flag of the threads that took the first arm, but must not send
// them straight to the barrier: its block is reached from one block only.
static void keeps_the_way_to_a_barrier(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    t.options.form = NVPTX_OPTIMISED;
    const char *kernel = KERNEL("(n: int, c: i32) -> C: i32[n]",
                                "var flag: i32 = c\n"
                                "if i < n { C[i] = i32(1)\nflag = i32(1) }\n"
                                "else { C[0] = i32(2) }\n"
                                "if flag == i32(1) { barrier\n"
                                "    C[i] = C[0] }");
    for (t.options.opt_level = 1; t.options.opt_level < 4;
         t.options.opt_level++) {
        const char *text = emission_text(&t, kernel);
        const char *barrier = strstr(text, "call void @llvm.nvvm.barrier");
        const char *label = barrier;
        while (strncmp(label, "; preds = ", 10) != 0)
            label--;
        assert_null(memchr(label, ',', strcspn(label, "\n")));
    }
    emission_end(&t);
}

static void obeys_unrolling_hints(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const char *kernel = KERNEL("(n: int, A: f32[n]) -> C: f32[n]",
                                "for k in 0..idx64(n) { C[i] = C[i] / A[k] }");
    const struct ir_kernel *k = fixture_kernel(&t.base, kernel);
    struct ir_launch *launch = &k->body.at[0]->u.launch;
    struct ir_for *loop = &launch->body.at[1]->u.loop;
    static const struct {
        enum ir_mark mark;
        int64_t value;
    } hints[] = {{MARK_unroll, 8}, {MARK_unroll, 1}, {MARK_no_unroll, 1}};
    const int divisions[] = {8 + 1, 1, 1};
    for (int i = 0; i < 3; i++) {
        struct buf out = {0};
        loop->attrs.n = 0;
        ir_attr_set(&t.base.arena, launch->body.at[1], hints[i].mark,
                    hints[i].value);
        assert_true(
            nvptx_emit(&t.base.arena, &k, 1, &t.options, &out, &t.base.diags));
        assert_int_equal(count(out.data, "div.rn.f32"), divisions[i]);
        buf_free(&out);
    }
    emission_end(&t);
}

static void names_the_lines_of_the_source(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    t.options.line_info = true;
    becomes(&t, scale, "\t.loc\t1 4 ", "\"sample.ing\"");
    const char *text = emission_text(&t, scale);
    assert_null(strstr(text, ", debug"));
    t.options.line_info = false;
    assert_null(strstr(emission_text(&t, scale), ".loc"));
    emission_end(&t);
}

static void puts_all_kernels_into_one_module(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const struct ir_kernel *both[] = {fixture_kernel(&t.base, fixture_softmax),
                                      fixture_kernel(&t.base, scale)};
    struct buf first = {0}, again = {0};
    assert_true(
        nvptx_emit(&t.base.arena, both, 2, &t.options, &first, &t.base.diags));
    assert_int_equal(count(first.data, ".visible .entry"), 3);
    assert_true(nvptx_emit_isolated(&t.base.arena, both, 2, &t.options, &again,
                                    &t.base.diags));
    assert_string_equal(first.data, again.data);
    buf_free(&first);
    buf_free(&again);
    emission_end(&t);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    emission_refuses(&t,
                     KERNEL("(n: int) -> C: f32[n]",
                            "alloc tile: f32[n] in shared\nC[i] = f32(0)"),
                     D_array_not_constant);
    const char *exponential =
        KERNEL("(n: int, A: f32[n]) -> C: f32[n]", "C[i] = exp(A[i])");
    t.options.libdevice = "not bitcode";
    t.options.libdevice_size = 11;
    emission_refuses(&t, exponential, D_bad_libdevice);
    t.options.libdevice = NULL;
    emission_refuses(&t, exponential, D_no_libdevice);
    emission_end(&t);
}

static void refuses_more_parameters_than_fit(void **state)
{
    (void)state;
    struct emission t;
    struct buf text = {0};
    emission_start(&t);
    buf_text(&text, "kernel k(");
    for (int i = 0; i < 512; i++)
        buf_printf(&text, "n%d: int, ", i);
    buf_text(&text, "last: i8) -> C: f32[4] level flat {\n"
                    "    launch k grid(1, 1, 1) block(1, 1, 1) {\n"
                    "        C[0] = f32(0)\n    }\n}\n");
    emission_refuses(&t, text.data, D_too_many_parameters);
    buf_free(&text);
    emission_end(&t);
}

// An addition of operands of two types, as no pass makes it.
static void reports_a_module_that_llvm_refuses(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const struct ir_kernel *k = fixture_kernel(
        &t.base, KERNEL("(n: int, A: f32[n], B: f64[n]) -> C: f32[n]",
                        "C[i] = A[i] + A[i]"));
    struct ir_stmt *store = k->body.at[0]->u.launch.body.at[1];
    struct ir_expr *sum = store->u.store.value;
    sum->args[1] =
        ir_load(&t.base.arena, k->params.at[2].buffer, 1, sum->args[1]->args);
    struct diag_list diags = {.arena = &t.base.arena};
    struct buf out = {0};
    assert_false(nvptx_emit(&t.base.arena, &k, 1, &t.options, &out, &diags));
    assert_int_equal(diags.all.at[0].code, D_bad_module);
    emission_end(&t);
}

// A target that claims an instruction which it lacks makes LLVM abort.
static void survives_a_fault_inside_llvm(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    struct nvptx_target liar = *nvptx_target_find("sm_75", &t.base.diags);
    liar.number = 80;
    t.options.target = &liar;
    const struct ir_kernel *k =
        fixture_kernel(&t.base, KERNEL("(n: int, A: i32[n]) -> C: i32[n]",
                                       "C[i] = warp_sum(A[i])"));
    struct diag_list diags = {.arena = &t.base.arena};
    struct buf out = {0};
    assert_false(
        nvptx_emit_isolated(&t.base.arena, &k, 1, &t.options, &out, &diags));
    assert_int_equal(diags.all.at[0].code, D_llvm_failed);
    assert_non_null(strstr(diags.all.at[0].text, "Cannot select"));
    assert_int_equal(out.n, 0);
    emission_end(&t);
}

// A child that dies in silence, and one that cannot be started.
static void survives_a_crash(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const struct ir_kernel *k = fixture_kernel(&t.base, scale);
    struct diag_list diags = {.arena = &t.base.arena};
    struct buf out = {0};
    struct rlimit files, none;
    struct ir_stmt *launch = k->body.at[0];
    launch->u.launch.body.at[0] = NULL;
    assert_false(
        nvptx_emit_isolated(&t.base.arena, &k, 1, &t.options, &out, &diags));
    assert_int_equal(diags.all.at[0].code, D_llvm_failed);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = (struct rlimit){0, files.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool ok =
        nvptx_emit_isolated(&t.base.arena, &k, 1, &t.options, &out, &diags);
    setrlimit(RLIMIT_NOFILE, &files);
    assert_false(ok);
    assert_int_equal(diags.errors, 2);
    assert_int_equal(diags.all.at[1].code, D_llvm_failed);
    assert_non_null(strstr(diags.all.at[1].text, "Too many open files"));
    assert_int_equal(out.n, 0);
    emission_end(&t);
}

// Diagnostics of the child arrive with their places, labels and notes.
static void brings_diagnostics_back_from_the_child(void **state)
{
    (void)state;
    struct emission t;
    emission_start(&t);
    const struct ir_kernel *k = fixture_kernel(
        &t.base, KERNEL("(n: int) -> C: f32[n]",
                        "alloc tile: f32[n] in shared\nC[i] = f32(0)"));
    struct diag_list diags = {.arena = &t.base.arena};
    struct buf out = {0};
    assert_false(
        nvptx_emit_isolated(&t.base.arena, &k, 1, &t.options, &out, &diags));
    assert_int_equal(diags.errors, 1);
    assert_int_equal(diags.all.at[0].code, D_array_not_constant);
    assert_ptr_equal(diags.all.at[0].span.source, k->span.source);
    assert_string_equal(diags.all.at[0].text,
                        "the extents of `tile` in shared memory must be "
                        "numbers");
    emission_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_all_parameters_and_the_workspace),
        cmocka_unit_test(states_the_launch_bounds),
        cmocka_unit_test(reads_through_the_cache_what_nothing_writes),
        cmocka_unit_test(evaluates_one_arm_where_the_other_may_fault),
        cmocka_unit_test(fuses_products_into_sums),
        cmocka_unit_test(approximates_only_when_asked),
        cmocka_unit_test(moves_vectors_whole),
        cmocka_unit_test(makes_and_takes_vectors_apart),
        cmocka_unit_test(keeps_small_arrays_in_registers),
        cmocka_unit_test(shares_memory_and_waits),
        cmocka_unit_test(keeps_the_way_to_a_barrier),
        cmocka_unit_test(obeys_unrolling_hints),
        cmocka_unit_test(names_the_lines_of_the_source),
        cmocka_unit_test(puts_all_kernels_into_one_module),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(refuses_more_parameters_than_fit),
        cmocka_unit_test(reports_a_module_that_llvm_refuses),
        cmocka_unit_test(survives_a_fault_inside_llvm),
        cmocka_unit_test(survives_a_crash),
        cmocka_unit_test(brings_diagnostics_back_from_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
