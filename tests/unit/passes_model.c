// The model of times: what binds small kernels whose limits are known, and what it
// must never say.

#include "passes/model/model.h"

#include "support/kernel_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// Predict a kernel of one launch for sizes on the H200.
static struct model_launch predict(struct arena *a, const char *text,
                                   const int64_t *values)
{
    const struct ir_kernel *k = kernel_text(a, text);
    struct model_time time;
    struct model_question q = {
        .kernel = k, .values = values, .device = model_device_named("h200")};
    assert_true(model_time(a, &q, &time));
    assert_int_equal(time.launches.n, 1);
    return time.launches.at[0];
}

// Fail unless two numbers differ by less than a part of the second.
static void assert_near(double x, double y, double part)
{
    if (!(fabs(x - y) <= part * y))
        fail_msg("%g is not near %g", x, y);
}

static const char vadd[] =
    "kernel f(n: int, A: f32[n], B: f32[n]) -> C: f32[n]\n level flat\n{\n"
    "launch f grid(ceildiv(n, 1024), 1, 1) block(256, 1, 1) {\n"
    "let i = idx64(block.x) * 1024 + idx64(thread.x) * 4\n"
    "C[ramp(i, 4)] = A[ramp(i, 4)] + B[ramp(i, 4)]\n} }";

// Three arrays are as many bytes, at the bandwidth of DRAM.
static void test_vadd(void **state)
{
    (void)state;
    struct arena a = {0};
    int64_t n = 1 << 28;
    struct model_launch l = predict(&a, vadd, (int64_t[]){n, 0, 0, 0});
    assert_int_equal(l.binding, MODEL_dram);
    assert_near(l.dram_bytes, 12.0 * (double)n, 0.001);
    assert_near(l.l2_bytes, 12.0 * (double)n, 0.001);
    assert_int_equal(l.blocks, n / 1024);
    assert_int_equal(l.blocks_per_sm, 8);
    assert_near(l.occupancy, 1, 0.001);
    arena_reset(&a);
}

// Two vectors of a thread that lie in one sector are read by two iterations: the sector
// comes once, not half.
static void test_short_loop(void **state)
{
    (void)state;
    struct arena a = {0};
    int64_t n = 1 << 24;
    struct model_launch l =
        predict(&a,
                "kernel f(n: int, A: f32[n]) -> C: f32[n]\n level flat\n{\n"
                "launch f grid(ceildiv(n, 1024), 1, 1) block(256, 1, 1) {\n"
                "let i = idx64(block.x) * 1024 + idx64(thread.x) * 4\n"
                "for k in 0..2 {\n"
                "C[ramp(i + idx64(k) * 2, 2)] = A[ramp(i + idx64(k) * 2, 2)]\n"
                "} } }",
                (int64_t[]){n, 0, 0});
    assert_near(l.dram_bytes, 8.0 * (double)n, 0.001);
    arena_reset(&a);
}

// The least time of a kernel is that of its slowest rate; waiting is none.
static void test_least(void **state)
{
    (void)state;
    struct arena a = {0};
    enum model_limit by;
    for (int64_t n = 1024; n <= 1 << 28; n <<= 18) {
        struct model_launch l = predict(&a, vadd, (int64_t[]){n, 0, 0, 0});
        struct model_time time = {.us = l.us};
        vec_push(&a, &time.launches, l);
        double least = model_least(&time, &by);
        assert_true(by != MODEL_latency && least == l.limits[by]);
        assert_true(least > 0 && least <= l.us);
        assert_true(n == 1024 || by == MODEL_dram);
    }
    arena_reset(&a);
}

// A block that loads something once: the launch and one load are nearly all. The empty
// kernel, which does not wait for one, has the time of the table and what a block needs.
static void test_tiny(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct model_device *d = model_device_named("H200");
    const char *nothing = "kernel f(n: int) -> C: f32[n]\n level flat\n{\n"
                          "launch f grid(n, 1, 1) block(32, 1, 1) {} }";
    struct model_launch l = predict(&a, vadd, (int64_t[]){1024, 0, 0, 0});
    assert_int_equal(l.binding, MODEL_latency);
    assert_true(l.us > d->launch + d->latency / 1e3 && l.us < 2);
    assert_true(l.launch_us == d->launch);
    l = predict(&a, nothing, (int64_t[]){1, 0});
    assert_true(l.us > d->launch && l.us < d->launch + d->latency / 1e3);
    l = predict(&a, vadd, (int64_t[]){0, 0, 0, 0});
    assert_int_equal(l.blocks, 0);
    assert_true(l.us == 0);
    arena_reset(&a);
}

// More elements are never faster.
static void test_monotonic(void **state)
{
    (void)state;
    struct arena a = {0};
    double last = 0;
    for (int64_t n = 1; n < INT64_C(1) << 32; n = n * 5 / 4 + 1) {
        struct model_launch l = predict(&a, vadd, (int64_t[]){n, 0, 0, 0});
        assert_true(l.us >= last);
        last = l.us;
        arena_clear(&a);
    }
    arena_reset(&a);
}

static const char products[] =
    "kernel f(k: int) -> C: f32[1024]\n level flat\n{\n"
    "launch f grid(264, 1, 1) block(256, 1, 1) {\n"
    "alloc d: f32[4] in local align 16\nalloc a: f16[8] in local align 16\n"
    "alloc b: f16[4] in local align 16\n"
    "for i in 0..idx64(k) {\n"
    "matrix mma_m16n8k16_f16_f32 d[idx32(0) : 4], a[idx32(0) : 8], b[idx32(0) : 4]\n} } }";

// Each of 264 blocks has 8 warps of k instructions of 2048 multiplications; an SM
// has two of them.
static void test_products(void **state)
{
    (void)state;
    struct arena a = {0};
    const struct model_device *d = model_device_named("H200");
    struct model_launch l = predict(&a, products, (int64_t[]){10000, 0});
    double clocks = 2.0 * 8 * 10000 * 2048 / (d->matrix[MODEL_half] * d->mma);
    assert_int_equal(l.binding, MODEL_tensor);
    assert_true(l.limits[MODEL_tensor] >= clocks / d->clock / 1e3);
    assert_near(l.limits[MODEL_tensor], clocks / d->clock / 1e3, 0.2);
    arena_reset(&a);
}

// Return a kernel that writes rows of a tile and reads its columns.
static const char *tile_text(struct arena *a, int pitch)
{
    return arena_printf(
        a,
        "kernel f(n: int) -> C: f32[n]\n level flat\n{\n"
        "launch f grid(264, 1, 1) block(256, 1, 1) {\n"
        "alloc S: f32[32, 33] in shared\n"
        "for i in 0..idx64(n) {\n"
        "S[idx32(thread.x)] = 1.0\nbarrier\n"
        "C[idx64(thread.x)] = S[idx32(thread.x) %% 32 * %d + idx32(thread.x) / 32]\n"
        "barrier\n} } }",
        pitch);
}

// Columns of 32 elements are in one bank, those of 33 in all.
static void test_banks(void **state)
{
    (void)state;
    struct arena a = {0};
    int64_t values[] = {1000, 0};
    struct model_launch even = predict(&a, tile_text(&a, 32), values);
    struct model_launch odd = predict(&a, tile_text(&a, 33), values);
    assert_int_equal(even.binding, MODEL_shared);
    assert_near(even.limits[MODEL_shared], 16.5 * odd.limits[MODEL_shared],
                0.01);
    assert_true(even.us > odd.us);
    arena_reset(&a);
}

static const char chain[] =
    "kernel f(n: int) -> C: f32[n]\n level flat\n{\n"
    "launch f grid(n, 1, 1) block(32, 1, 1) {\n"
    "alloc S: f32[25000] in shared\n"
    "for i in 0..1000 {\nS[idx32(thread.x)] = 1.0\nbarrier\n}\n"
    "C[idx64(block.x)] = S[idx32(thread.x)]\n} }";

// Registers that the assembler has made say how many blocks an SM holds.
static void test_registers(void **state)
{
    (void)state;
    struct arena a = {0};
    struct model_time time;
    struct model_code codes[] = {{"g", 16}, {"f", 128}};
    struct model_question q = {.kernel = kernel_text(&a, vadd),
                               .values = (int64_t[]){1 << 28, 0, 0, 0},
                               .device = model_device_named("H200"),
                               .code = {codes, 2, 2}};
    assert_true(model_time(&a, &q, &time));
    assert_int_equal(time.launches.at[0].registers, 128);
    assert_int_equal(time.launches.at[0].blocks_per_sm, 65536 / 128 / 256);
    arena_reset(&a);
}

// One block more than there is room for is one more wave.
static void test_tail(void **state)
{
    (void)state;
    struct arena a = {0};
    struct model_launch full = predict(&a, chain, (int64_t[]){264, 0});
    struct model_launch more = predict(&a, chain, (int64_t[]){265, 0});
    assert_int_equal(full.binding, MODEL_latency);
    assert_near(full.waves, 1, 0.001);
    assert_true(full.tail_us == 0);
    assert_near(more.limits[MODEL_latency], 2 * full.limits[MODEL_latency],
                0.001);
    assert_near(more.tail_us, full.limits[MODEL_latency], 0.02);
    arena_reset(&a);
}

// Blocks that each add up a row of 2^14 floats, four at a time a thread.
static const char row_sums[] =
    "kernel f(m: int, A: f32[m, 16384]) -> C: f32[m]\n level flat\n{\n"
    "launch f grid(m, 1, 1) block(1024, 1, 1) {\n"
    "var s: f32 = 0.0\n"
    "for k in 0..4 {\n"
    "s = s + lane(A[ramp(idx64(block.x) * 16384 + idx64(k) * 4096 + "
    "idx64(thread.x) * 4, 4)], 0)\n"
    "}\nC[idx64(block.x)] = s\n} }";

// A row for each of few SMs is as fast as their own way to the memory is: no faster for
// one than for 32, slower for all, which share the memory; and one block more than there is
// room for begins a second wave.
static void test_few_blocks(void **state)
{
    (void)state;
    struct arena a = {0};
    struct model_launch one = predict(&a, row_sums, (int64_t[]){1, 0, 0});
    struct model_launch few = predict(&a, row_sums, (int64_t[]){32, 0, 0});
    struct model_launch all = predict(&a, row_sums, (int64_t[]){132, 0, 0});
    struct model_launch room = predict(&a, row_sums, (int64_t[]){264, 0, 0});
    struct model_launch more = predict(&a, row_sums, (int64_t[]){265, 0, 0});
    const struct model_device *d = model_device_named("H200");
    double row = 16384 * 4 / (MODEL_L2_BYTES * d->clock * 1e3);
    assert_near(one.us, few.us, 0.001);
    assert_true(few.us > d->launch + d->latency / 1e3 + row);
    assert_true(all.us > few.us && room.us > all.us);
    assert_near(room.waves, 1, 0.001);
    assert_true(more.limits[MODEL_latency] > 1.9 * room.limits[MODEL_latency]);
    arena_reset(&a);
}

// Return the waves of 128 blocks, one on each of 132 SMs, in clusters.
static double waves_of(struct arena *a, int cluster)
{
    const char *text = arena_printf(
        a,
        "kernel f(n: int) -> C: f32[n]\n level flat\n{\n"
        "launch f grid(n, 1, 1) cluster(%d, 1, 1) block(32, 1, 1) {\n"
        "alloc S: f32[50000] in shared\n"
        "S[idx32(thread.x)] = 1.0\nbarrier\n"
        "C[idx64(block.x)] = S[idx32(thread.x)]\n} }",
        cluster);
    return predict(a, text, (int64_t[]){128, 0}).waves;
}

// Of clusters of four 30 run at a time: 32 are two waves. Of two 66 do.
static void test_clusters(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_near(waves_of(&a, 1), 128 / 132.0, 0.001);
    assert_near(waves_of(&a, 2), 64 / 66.0, 0.001);
    assert_near(waves_of(&a, 4), 32 / 30.0, 0.001);
    arena_reset(&a);
}

static const char tiles[] =
    "kernel f(n: int, A: f32[n, 1024]) -> C: f32[1024]\n level flat\n{\n"
    "launch f grid(min(n, resident(int(1))), 1, 1) block(256, 1, 1) {\n"
    "for t in idx64(block.x)..idx64(n) step idx64(resident(idx32(1))) {\n"
    "C[idx64(thread.x)] = sqrt(sqrt(sqrt(A[t * 1024 + idx64(thread.x)])))\n} } }";

// Of 133 tiles one SM has two, but what is moved is that of 133.
static void test_tiles(void **state)
{
    (void)state;
    struct arena a = {0};
    struct model_launch even = predict(&a, tiles, (int64_t[]){132, 0, 0});
    struct model_launch more = predict(&a, tiles, (int64_t[]){133, 0, 0});
    assert_near(more.limits[MODEL_mufu], 2 * even.limits[MODEL_mufu], 0.001);
    assert_near(more.l2_bytes, even.l2_bytes * 133 / 132, 0.001);
    arena_reset(&a);
}

// Return what the square roots take of a kernel that makes them under a condition.
static double roots(struct arena *a, const char *condition)
{
    const char *text = arena_printf(
        a,
        "kernel f(n: int, A: i32[n], X: f32[n]) -> C: f32[n]\n level flat\n{\n"
        "launch f grid(132, 1, 1) block(128, 1, 1) {\n"
        "for i in 0..1000 {\nif %s {\n"
        "C[idx64(thread.x)] = sqrt(X[idx64(thread.x)])\n} } } }",
        condition);
    return predict(a, text, (int64_t[]){4096, 0, 0, 0}).limits[MODEL_mufu];
}

// A branch counts for the warps that take it; half the time if data decides.
static void test_branches(void **state)
{
    (void)state;
    struct arena a = {0};
    double all = roots(&a, "idx32(thread.x) < 128");
    assert_near(roots(&a, "idx32(thread.x) < 64"), all / 2, 0.001);
    assert_near(roots(&a, "idx32(thread.x) < 1"), all / 4, 0.001);
    assert_near(roots(&a, "A[idx64(thread.x)] > 0"), all / 2, 0.001);
    assert_true(roots(&a, "idx32(thread.x) > 128") == 0);
    arena_reset(&a);
}

// Return the bytes that 8 warps of a block read of an array at an index.
static double gathered(struct arena *a, const char *index)
{
    const char *text = arena_printf(
        a,
        "kernel f(n: int, P: i32[n], A: f32[n]) -> C: f32[n]\n level flat\n{\n"
        "launch f grid(1, 1, 1) block(32, 8, 1) {\n"
        "C[idx64(0)] = A[%s]\n} }",
        index);
    return predict(a, text, (int64_t[]){1 << 24, 0, 0, 0}).l2_bytes;
}

// Lanes of rows that data names are next to each other, and warps have different
// rows; places that data names one by one are anywhere.
static void test_gather(void **state)
{
    (void)state;
    struct arena a = {0};
    double none = gathered(&a, "idx64(0)");
    double rows =
        gathered(&a, "idx64(P[idx64(thread.y)]) * 1024 + idx64(thread.x)");
    double places =
        gathered(&a, "idx64(P[idx64(thread.y) * 32 + idx64(thread.x)])");
    assert_near(rows - none, 8 * 128, 0.001);
    assert_near(places - none, 8 * 32 * 32 + 8 * 128 - 32, 0.001);
    arena_reset(&a);
}

// Return the time that 1000 iterations of two loads at an index need of the pipe of
// integers; j is the number of the load.
static double indexed(struct arena *a, const char *index)
{
    const char *text = arena_printf(
        a,
        "kernel f(n: int, c: int, A: f32[n]) -> C: f32[n]\n level flat\n{\n"
        "launch f grid(132, 1, 1) block(256, 1, 1) {\n"
        "var sum: f32 = 0.0\n for k in 0..1000 {\n for j in 0..2 {\n"
        "let i = %s\n sum = sum + A[i]\n} }\n"
        "C[idx64(thread.x)] = sum\n} }",
        index);
    return predict(a, text, (int64_t[]){1 << 20, 56, 0, 0})
        .limits[MODEL_integer];
}

// A division by a size costs in a loop that changes the number, though LLVM expands
// the one inside; what only that one changes is computed before.
static void test_divisions(void **state)
{
    (void)state;
    struct arena a = {0};
    double none = indexed(&a, "idx64(thread.x)");
    double inner = indexed(&a, "(j * 32 + idx64(thread.x)) / idx64(c)");
    double outer = indexed(&a, "(k * 32 + idx64(thread.x)) / idx64(c)");
    double number = indexed(&a, "(k * 32 + idx64(thread.x)) / 57");
    assert_near(inner, none, 0.1);
    assert_true(outer > inner + 4 * (number - none));
    assert_true(outer > 2 * inner);
    arena_reset(&a);
}

// Return the time that integers take of a loop in a loop, of so many iterations, each of
// which divides thirty times what the outer one does not change.
static double divided(struct arena *a, int iterations)
{
    const char *x = "j * 32 + idx64(thread.x)";
    for (int i = 0; i < 30; i++)
        x = arena_printf(a, "(%s) / idx64(c)", x);
    const char *text = arena_printf(
        a,
        "kernel f(n: int, c: int, A: f32[n]) -> C: f32[n]\n level flat\n{\n"
        "launch f grid(132, 1, 1) block(256, 1, 1) {\n"
        "var sum: f32 = 0.0\n for k in 0..1000 {\n for j in 0..%d {\n"
        "sum = sum + A[%s]\n} }\nC[idx64(thread.x)] = sum\n} }",
        iterations, x);
    return predict(a, text, (int64_t[]){1 << 20, 56, 0, 0})
        .limits[MODEL_integer];
}

// A loop of eight times thirty operations is too long to be expanded: what does not change
// in the loop around is computed in each iteration; of four times thirty it is, before.
static void test_long_loop(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_true(divided(&a, 8) > 10 * divided(&a, 4));
    arena_reset(&a);
}

// Return the waiting of 1000 iterations of so many loads each.
static double waiting(struct arena *a, int loads)
{
    const char *body = "";
    for (int i = 0; i < loads; i++)
        body = arena_printf(
            a,
            "%ss = s + A[(idx64(k) * 8 + idx64(%d)) * 4096 + idx64(thread.x)]\n",
            body, i);
    const char *text = arena_printf(
        a,
        "kernel f(m: int, A: f32[m, 4096]) -> C: f32[m]\n level flat\n{\n"
        "launch f grid(1, 1, 1) block(32, 1, 1) {\n"
        "var s: f32 = 0.0\nfor k in 0..1000 {\n%s}\n"
        "C[idx64(thread.x)] = s\n} }",
        body);
    return predict(a, text, (int64_t[]){8000, 0, 0}).limits[MODEL_latency];
}

// Four iterations of one load wait together; one of eight waits by itself.
static void test_loads_of_loop(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_true(waiting(&a, 8) > 3 * waiting(&a, 1));
    arena_reset(&a);
}

// Where waiting takes about as long as the slowest rate, the launch takes longer than each.
static void test_corner(void **state)
{
    (void)state;
    struct arena a = {0};
    struct model_launch l = predict(&a, row_sums, (int64_t[]){264, 0, 0});
    double waits = l.limits[MODEL_latency], moves = l.limits[MODEL_dram];
    double longest = waits > moves ? waits : moves;
    assert_true(waits < 3 * moves && moves < 3 * waits);
    assert_true(l.us - l.launch_us > 1.05 * longest);
    arena_reset(&a);
}

// Only programs at the last level have a time.
static void test_level(void **state)
{
    (void)state;
    struct model_time time;
    KERNEL(k, "kernel f(n: int) -> C: f32[n] {\n for i in 0..n {\n"
              " stage C(v in n = i) { C[v] = 1.0 } } }");
    struct model_question q = {
        .kernel = k, .values = (int64_t[]){4, 0}, .device = model_device_at(0)};
    assert_false(model_time(&arena, &q, &time));
    arena_reset(&arena);
}

// Devices are found by name and by architecture.
static void test_devices(void **state)
{
    (void)state;
    assert_null(model_device_named("H2000"));
    assert_string_equal(model_device_for(90)->name, "H200");
    assert_string_equal(model_device_for(87)->name, "A10");
    assert_string_equal(model_device_for(103)->name, "B200");
    assert_string_equal(model_device_for(70)->name, "T4");
    for (size_t i = 0; model_device_at(i); i++)
        assert_ptr_equal(model_device_named(model_device_at(i)->name),
                         model_device_at(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vadd),
                                       cmocka_unit_test(test_least),
                                       cmocka_unit_test(test_short_loop),
                                       cmocka_unit_test(test_tiny),
                                       cmocka_unit_test(test_monotonic),
                                       cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_banks),
                                       cmocka_unit_test(test_tail),
                                       cmocka_unit_test(test_registers),
                                       cmocka_unit_test(test_few_blocks),
                                       cmocka_unit_test(test_clusters),
                                       cmocka_unit_test(test_tiles),
                                       cmocka_unit_test(test_branches),
                                       cmocka_unit_test(test_gather),
                                       cmocka_unit_test(test_divisions),
                                       cmocka_unit_test(test_level),
                                       cmocka_unit_test(test_devices),
                                       cmocka_unit_test(test_long_loop),
                                       cmocka_unit_test(test_corner),
                                       cmocka_unit_test(test_loads_of_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
