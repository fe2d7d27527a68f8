// The interpreter: whole kernels at every level, and how they stop.

#include "ir/build.h"
#include "ir/eval.h"
#include "support/kernel_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A stage runs its init where every reduction begins, and not where its
// predicate is false.
static void stages(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int, A: f32[n, n]) -> C: f32[n] {\n"
              "    for i0 in 0..ceildiv(n, 2) { for i1 in 0..2 {\n"
              "        for j in 0..n {\n"
              "            stage C(vi in n = i0 * 2 + i1, reduce vj in n = j)"
              " if i0 * 2 + i1 < n {\n"
              "                init { C[vi] = 0.5 }\n"
              "                C[vi] = C[vi] + A[vi, vj]\n"
              "            }\n"
              "        }\n"
              "    } }\n"
              "}\n");
    float m[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, c[3] = {NAN, NAN, NAN};
    kernel_run(k, ARGS(SIZE(3), ARRAY(m), ARRAY(c)));
    assert_true(c[0] == 6.5f && c[1] == 15.5f && c[2] == 24.5f);
    arena_reset(&arena);
}

// Without a reduction the init runs each time.
static void stage_without_reduction(void **state)
{
    (void)state;
    KERNEL(k, "kernel k() -> C: i32[3] {\n"
              "    for i in 0..3 {\n"
              "        stage C(vi in 3 = i) {\n"
              "            init { C[vi] = 10 }\n"
              "            C[vi] = C[vi] + i32(vi)\n"
              "        }\n"
              "    }\n"
              "}\n");
    int32_t c[3];
    kernel_run(k, ARGS(ARRAY(c)));
    assert_true(c[0] == 10 && c[1] == 11 && c[2] == 12);
    arena_reset(&arena);
}

static const char compact_text[] =
    "kernel compact(n: int, X: f32[n]) -> (Y: f32[n], count: i32[1]) {\n"
    "    for b in 0..ceildiv(n, 64) @block.x {\n"
    "        alloc kept: i32[1] in shared\n"
    "        alloc base: i32[1] in shared\n"
    "        for t in 0..64 @thread.x {\n"
    "            let i = b * 64 + t\n"
    "            if t == 0 { kept[0] = 0 }\n"
    "            barrier\n"
    "            var slot: i32 = 0\n"
    "            if i < n && X[i] > 0.0 { slot = atomic_add(kept[0], 1) }\n"
    "            barrier\n"
    "            if t == 0 { base[0] = atomic_add(count[0], kept[0]) }\n"
    "            barrier\n"
    "            if i < n && X[i] > 0.0 { Y[base[0] + slot] = X[i] }\n"
    "        }\n"
    "    }\n"
    "}\n";

// Threads keep their variables and share the block's arrays across barriers.
static void stream_compaction(void **state)
{
    (void)state;
    KERNEL(k, compact_text);
    float x[150], y[150];
    int32_t count[1] = {0}, wanted = 0;
    for (int i = 0; i < 150; i++)
        x[i] = (float)((i * 37 + 5) % 11 - 5);
    kernel_run(k, ARGS(SIZE(150), ARRAY(x), ARRAY(y), ARRAY(count)));
    for (int i = 0; i < 150; i++)
        if (x[i] > 0)
            assert_true(y[wanted++] == x[i]);
    assert_int_equal(count[0], wanted);
    arena_reset(&arena);
}

static const char tiles_text[] =
    "kernel tiles(M: int, K: int, A: i32[M, K]) -> C: i32[M, K]\n"
    "    map from of A box[4, 8] swizzle(32)\n"
    "    map to of C box[4, 8] swizzle(32)\n"
    "%s"
    "{\n%s"
    "        alloc S: i32[2, 4, 8] in shared align 1024\n"
    "        alloc full: u64[1] in shared\n"
    "        %s\n"
    "    }\n"
    "}\n";

// Return the kernel with traits, an opening of its block, and a body.
static struct ir_kernel *tiles_kernel(struct arena *a, const char *traits,
                                      const char *open, const char *body)
{
    return kernel_text(a, arena_printf(a, tiles_text, traits, open, body));
}

// TMA tile copies fill up with zeros and cut off what is outside.
static void tma_tiles(void **state)
{
    (void)state;
    struct arena arena = {0};
    int32_t a[5 * 9], c[5 * 9] = {0};
    struct ir_kernel *k =
        tiles_kernel(&arena, "", "    for b in 0..1 @block.x {\n",
                     "tma_load S[1, 0, 0] = from[2, -4] signals full[0]\n"
                     "        if S[1, 3, 1] == 0 && S[1, 0, 0] == 0 {"
                     " tma_store to[1, 4] = S[1, 0, 0] }");
    for (int i = 0; i < 45; i++)
        a[i] = i + 1;
    kernel_run(k, ARGS(SIZE(5), SIZE(9), ARRAY(a), ARRAY(c)));
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 9; j++) {
            bool is_stored = i >= 1 && j >= 4;
            bool is_loaded = i + 1 < 5 && j - 8 >= 0;
            int wanted = is_stored && is_loaded ? a[(i + 1) * 9 + j - 8] : 0;
            assert_int_equal(c[i * 9 + j], wanted);
        }
    }
    arena_reset(&arena);
}

// At level flat groups of 16 bytes lie where the swizzle puts them: row 4 of
// rows of 32 bytes has its halves exchanged.
static void swizzled_tiles(void **state)
{
    (void)state;
    struct arena arena = {0};
    int32_t a[5 * 8], c[5 * 8] = {0};
    struct ir_kernel *k =
        tiles_kernel(&arena, "    level flat\n",
                     "    launch tiles grid(1, 1, 1) block(1, 1, 1) {\n",
                     "tma_load S[32] = from[1, 0] signals full[0]\n"
                     "        C[0] = S[36]\n"
                     "        tma_load S[0] = from[0, 0] signals full[0]\n"
                     "        C[1] = S[4]");
    for (int i = 0; i < 40; i++)
        a[i] = i + 1;
    kernel_run(k, ARGS(SIZE(5), SIZE(8), ARRAY(a), ARRAY(c)));
    assert_int_equal(c[0], a[8]);
    assert_int_equal(c[1], a[4]);
    arena_reset(&arena);
}

// A map that says so rounds what it loads to tf32; what is outside stays 0.
static void rounded_tiles(void **state)
{
    (void)state;
    KERNEL(k, "kernel f(A: f32[1, 3]) -> C: f32[4]\n"
              "    map from of A box[1, 4] tf32\n{\n"
              "    for b in 0..1 @block.x {\n"
              "        alloc S: f32[4] in shared align 1024\n"
              "        alloc full: u64[1] in shared\n"
              "        tma_load S[0] = from[0, 0] signals full[0]\n"
              "        for i in 0..4 { C[i] = S[i] }\n    }\n}\n");
    float a[] = {0x1.00200p0f + 0x1p-20f, -0x1.001ffep0f, 3}, c[4];
    kernel_run(k, ARGS(ARRAY(a), ARRAY(c)));
    assert_true(c[0] == 0x1.004p0f && c[1] == -1 && c[2] == 3 && c[3] == 0);
    arena_reset(&arena);
}

// Check that a copy of a tile of `A` stops at run time, and why.
static void tile_stops(const char *copy, const char *why)
{
    struct arena arena = {0};
    int32_t a[64], c[64];
    struct ir_kernel *k =
        tiles_kernel(&arena, "", "    for b in 0..1 @block.x {\n", copy);
    kernel_stops(k, ARGS(SIZE(8), SIZE(8), ARRAY(a), ARRAY(c)), EVAL_FAULT,
                 why);
    arena_reset(&arena);
}

// A tile stays in the array that it is copied to.
static void tile_outside(void **state)
{
    (void)state;
    tile_stops("tma_load S[1, 1, 0] = from[0, 0] signals full[0]",
               "the tile leaves `S`");
}

// A tile begins at a multiple of 16 bytes of a row, also in front of it.
static void tile_between_groups(void **state)
{
    (void)state;
    tile_stops("tma_load S[0, 0, 0] = from[0, -3] signals full[0]",
               "the tile begins at column -3 of `A`");
}

// A tile for other blocks, of which none runs beside this one.
static void tile_for_a_cluster(void **state)
{
    (void)state;
    tile_stops("tma_load S[0, 0, 0] = from[0, 0] signals full[0] multicast(3)",
               "a copy for other blocks of the cluster");
}

// Return a kernel of arrays of 4 rows of 8 elements in which one thread does a
// statement with bulk copies.
static struct ir_kernel *bulk_kernel(struct arena *a, const char *statement)
{
    const char *text = arena_printf(
        a,
        "kernel k(A: i32[4, 8]) -> C: i32[4, 8] {\n"
        "    for b in 0..1 @block.x {\n"
        "        alloc S: i32[4, 8] in shared align 16\n"
        "        alloc full: u64[1] in shared\n"
        "        for t in 0..32 @thread.x {\n"
        "            if t == 0 {\n"
        "                bulk_load(32) S[0, 0] = A[0, 0] signals full[0]\n"
        "                %s\n"
        "            }\n"
        "            barrier\n"
        "            C[t / 8, t %% 8] = S[t / 8, t %% 8]\n"
        "        }\n"
        "    }\n"
        "}\n",
        statement);
    return kernel_text(a, text);
}

// Bulk copies: whole rows, a part of one, and a result.
static void bulk_copies(void **state)
{
    (void)state;
    struct arena arena = {0};
    int32_t a[32], c[32];
    for (int i = 0; i < 32; i++)
        a[i] = i;
    struct ir_kernel *k =
        bulk_kernel(&arena, "bulk_load(4) S[1, 4] = A[3, 0] signals full[0]");
    kernel_run(k, ARGS(ARRAY(a), ARRAY(c)));
    for (int i = 0; i < 32; i++)
        assert_int_equal(c[i], i >= 12 && i < 16 ? i + 12 : i);
    arena_reset(&arena);
}

// Bulk copies that leave their row, but for whole rows, or their array.
static void bulk_copies_that_leave(void **state)
{
    (void)state;
    static const char *const statements[] = {
        "bulk_load(8) S[1, 4] = A[0, 0] signals full[0]",
        "bulk_load(12) S[1, 0] = A[0, 0] signals full[0]",
        "bulk_load(16) S[3, 0] = A[0, 0] signals full[0]"};
    int32_t a[32] = {0}, c[32];
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct arena arena = {0};
        kernel_stops(bulk_kernel(&arena, statements[i]),
                     ARGS(ARRAY(a), ARRAY(c)), EVAL_FAULT,
                     "the bulk copy leaves `");
        arena_reset(&arena);
    }
}

// Return a kernel of arrays of 32 elements whose threads do a copy each.
static struct ir_kernel *copying_kernel(struct arena *a, const char *copy)
{
    const char *text =
        arena_printf(a,
                     "kernel k(n: int, A: i32[n]) -> C: i32[32] {\n"
                     "    for b in 0..1 @block.x {\n"
                     "        alloc S: i32[32] in shared\n"
                     "        for t in 0..16 @thread.x {\n"
                     "            S[t] = 7\n"
                     "            S[t + 16] = 7\n"
                     "            barrier\n"
                     "            %s\n"
                     "            async_commit\n"
                     "            async_wait(0)\n"
                     "            barrier\n"
                     "            C[t] = S[t]\n"
                     "            C[t + 16] = S[t + 16]\n"
                     "        }\n"
                     "    }\n"
                     "}\n",
                     copy);
    return kernel_text(a, text);
}

// Copies by each thread: of vectors, and zeros where the condition is false, of
// which nothing is read.
static void thread_copies(void **state)
{
    (void)state;
    enum { N = 20 };
    struct arena arena = {0};
    int32_t a[N], c[32];
    for (int i = 0; i < N; i++)
        a[i] = 100 + i;
    struct ir_kernel *k = copying_kernel(
        &arena,
        "cp_async_load S[ramp(t * 2, 2)] = A[ramp(t * 2, 2)] if t * 2 < n");
    kernel_run(k, ARGS(SIZE(N), ARRAY(a), ARRAY(c)));
    for (int i = 0; i < 32; i++)
        assert_int_equal(c[i], i < N ? 100 + i : 0);
    k = copying_kernel(&arena, "cp_async_load S[15 - t] = A[t]");
    kernel_run(k, ARGS(SIZE(N), ARRAY(a), ARRAY(c)));
    for (int i = 0; i < 32; i++)
        assert_int_equal(c[i], i < 16 ? 115 - i : 7);
    k = copying_kernel(&arena, "cp_async_load S[t] = A[t + 8]");
    kernel_stops(k, ARGS(SIZE(N), ARRAY(a), ARRAY(c)), EVAL_FAULT,
                 "outside the array");
    arena_reset(&arena);
}

// A tree reduction: a serial loop around barriers, inside a loop over threads.
static void tree_reduction(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(X: i32[4, 32]) -> S: i32[4] {\n"
              "    for b in 0..4 @block.x {\n"
              "        alloc part: i32[32] in shared\n"
              "        for t in 0..32 @thread.x {\n"
              "            part[t] = X[b, t]\n"
              "            for r in 0..5 {\n"
              "                barrier\n"
              "                let half = 16 >> r\n"
              "                if t < half {"
              " part[t] = part[t] + part[t + half] }\n"
              "            }\n"
              "            if t == 0 { S[b] = part[0] }\n"
              "        }\n"
              "    }\n"
              "}\n");
    int32_t x[128], s[4], wanted[4] = {0};
    for (int i = 0; i < 128; i++) {
        x[i] = i * i;
        wanted[i / 32] += x[i];
    }
    kernel_run(k, ARGS(ARRAY(x), ARRAY(s)));
    assert_memory_equal(s, wanted, sizeof s);
    arena_reset(&arena);
}

// Nested loops over threads run in lock-step together, each thread with its
// own copy of the local arrays from outside.
static void two_dimensional_block(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(X: f32[8, 8]) -> Y: f32[8, 8] {\n"
              "    for b in 0..2 @block.x {\n"
              "        alloc tile: f32[8, 4] in shared\n"
              "        alloc own: f32[1] in local\n"
              "        own[0] = 1.0\n"
              "        for ty in 0..4 @thread.y { for tx in 0..8 @thread.x {\n"
              "            own[0] = own[0] + X[b * 4 + ty, tx]\n"
              "            tile[tx, ty] = X[b * 4 + ty, tx]\n"
              "            barrier\n"
              "            if tx < 8 {\n"
              "                barrier\n"
              "                Y[tx, b * 4 + ty] = tile[tx, ty] + own[0]\n"
              "            }\n"
              "        } }\n"
              "    }\n"
              "}\n");
    float x[64], y[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)i;
    kernel_run(k, ARGS(ARRAY(x), ARRAY(y)));
    for (int i = 0; i < 64; i++)
        assert_true(y[i % 8 * 8 + i / 8] == 2 * x[i] + 1);
    arena_reset(&arena);
}

// Launches run in order; blocks and threads know where they are in three
// dimensions; the workspace lasts from one launch to the next.
static void launches(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int) -> C: i32[n, 3, 2, 4]\n"
              "    level launch\n"
              "{\n"
              "    alloc W: i32[n] in global\n"
              "    launch k grid(n, 1, 1) block(1, 1, 1) {\n"
              "        W[block.x] = i32(block.x) * 100\n"
              "    }\n"
              "    launch k_1 grid(n, 3, 1) block(1, 2, 4) {\n"
              "        C[block.x, block.y, thread.y, thread.z] = W[block.x] +"
              " i32(block.y * 10 + thread.y * 4 + thread.z)\n"
              "    }\n"
              "}\n");
    int32_t c[2 * 3 * 2 * 4];
    kernel_run(k, ARGS(SIZE(2), ARRAY(c)));
    for (int i = 0; i < 48; i++)
        assert_int_equal(c[i], i / 24 * 100 + i / 8 % 3 * 10 + i % 8);
    kernel_run(k, ARGS(SIZE(0), ARRAY(c)));
    arena_reset(&arena);
}

// Lock-step inside a launch; every block starts with fresh shared arrays.
static void launch_with_barriers(void **state)
{
    (void)state;
    KERNEL(k,
           "kernel k(X: i32[64]) -> Y: i32[64]\n"
           "    level launch\n"
           "{\n"
           "    launch k grid(2, 1, 1) block(32, 1, 1) {\n"
           "        alloc S: i32[32] in shared\n"
           "        alloc L: i32[1] in local\n"
           "        L[0] = X[block.x * 32 + thread.x]\n"
           "        S[thread.x] = L[0]\n"
           "        barrier\n"
           "        Y[block.x * 32 + thread.x] = S[31 - thread.x] * 2 + L[0]\n"
           "    }\n"
           "}\n");
    int32_t x[64], y[64];
    for (int i = 0; i < 64; i++)
        x[i] = i;
    kernel_run(k, ARGS(ARRAY(x), ARRAY(y)));
    for (int i = 0; i < 64; i++)
        assert_int_equal(y[i], 2 * (i / 32 * 32 + 31 - i % 32) + i);
    arena_reset(&arena);
}

// At level flat the one index counts elements of the storage.
static void flat_accesses(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int, A: f32[n, 2] strides [4, 1]) -> C: f32[n, 2]\n"
              "    level flat\n"
              "{\n"
              "    launch k grid(n, 1, 1) block(2, 1, 1) {\n"
              "        let i = idx32(block.x)\n"
              "        let j = idx32(thread.x)\n"
              "        C[i * idx32(2) + j] = A[i * idx32(4) + j]\n"
              "    }\n"
              "}\n");
    float x[6] = {1, 2, 0, 0, 3, 4}, c[4];
    kernel_run(k, ARGS(SIZE(2), ARRAY(x), ARRAY(c)));
    assert_true(c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4);
    arena_reset(&arena);
}

// Strided arrays leave the gaps alone, and scalars are rounded to their type.
static void strides_and_scalars(void **state)
{
    (void)state;
    KERNEL(k,
           "kernel k(n: int, s: f16, u: u8, A: f16[n, 2] strides [3, 1] inout)"
           " {\n"
           "    for i in 0..n { for j in 0..2 {\n"
           "        A[i, j] = A[i, j] * s + f16(f32(u))\n"
           "    } }\n"
           "}\n");
    struct type f16 = type_scalar(TYPE_f16);
    uint16_t x[5];
    for (int i = 0; i < 5; i++)
        eval_store_float(f16, &x[i], i);
    struct eval_argument args[] = {
        SIZE(2), {.scalar.f = 0.1}, {.scalar.i = 258}, ARRAY(x)};
    kernel_run(k, args);
    double tenth = ir_round_float(f16, 0.1);
    for (int i = 0; i < 5; i++) {
        double product = ir_round_float(f16, i * tenth);
        double wanted = i == 2 ? 2 : ir_round_float(f16, product + 2);
        assert_true(eval_load_float(f16, &x[i]) == wanted);
    }
    arena_reset(&arena);
}

// What no statement wrote is poison.
static void poison(void **state)
{
    (void)state;
    KERNEL(k, "kernel k() -> (F: f16[1], I: i32[1]) {\n"
              "    for b in 0..2 @block.x {\n"
              "        alloc f: f16[1] in shared\n"
              "        alloc i: i32[1] in local\n"
              "        F[0] = f[0]\n"
              "        I[0] = i[0]\n"
              "        f[0] = 1.0\n"
              "        i[0] = 1\n"
              "    }\n"
              "}\n");
    uint16_t f[1];
    int32_t i[1];
    kernel_run(k, ARGS(ARRAY(f), ARRAY(i)));
    assert_true(isnan(eval_load_float(type_scalar(TYPE_f16), f)));
    assert_int_equal((uint32_t)i[0], 0xcdcdcdcd);
    arena_reset(&arena);
}

// A program that stops: its body, the status, and words of the text.
struct stop_row {
    const char *body;
    enum eval_status status;
    const char *words;
};

static const struct stop_row stop_rows[] = {
    {"C[n] = 0", EVAL_FAULT, "`C[4]` is outside the array, whose shape is [4]"},
    {"C[n - 5] = 0", EVAL_FAULT, "`C[-1]` is outside"},
    {"C[0] = D[3, 2]", EVAL_FAULT,
     "`D[3, 2]` is outside the array, whose shape is [4, 2]"},
    {"C[0] = atomic_add(C[9], 1)", EVAL_FAULT, "`C[9]` is outside"},
    {"C[0] = i32(n / (n - 4))", EVAL_FAULT, "division by zero"},
    {"C[0] = 1 << i32(n * 8)", EVAL_FAULT, "shift by"},
    {"C[0] = i32(n * 9223372036854775807)", EVAL_FAULT, "integer overflow"},
    {"C[0] = i32(idx32(n * 2147483647))", EVAL_FAULT, "does not fit"},
    {"for i in 0..4 step n - 4 { C[i] = 0 }", EVAL_FAULT,
     "the step of a loop is 0"},
    {"for i in 0..1000000 { C[0] = 0 }", EVAL_LIMIT, "more than 100000 steps"},
    {"for i in 0..1000000 { if n < 0 { C[0] = 0 } }", EVAL_LIMIT,
     "100000 steps"},
    {"stage C(v in n = n) { C[0] = 0 }", EVAL_FAULT,
     "iteration variable `v` is 4, outside its extent 4"},
    {"for t in 0..4 @thread.x { if t < 2 { barrier } }", EVAL_FAULT,
     "barrier in divergent control flow"},
    {"for t in 0..4 @thread.x { for i in 0..t { barrier } }", EVAL_FAULT,
     "barrier in divergent control flow"},
    {"for t in 0..4 @thread.x {\n barrier\n C[t + 1] = 0\n }", EVAL_FAULT,
     "`C[4]` is outside"},
    {"for b in 0..1 @block.x { alloc m: u64[1] in shared\n"
     " for t in 0..4 @thread.x { if t == 0 { mbarrier_init(m[0], 5) }\n"
     " barrier\n mbarrier_arrive(m[0])\n mbarrier_wait(m[0], u64(0)) } }",
     EVAL_WAITS, "what a thread waits for never comes"},
    {"for b in 0..1 @block.x { alloc m: i32[1] in shared\n"
     " for t in 0..4 @thread.x { if t == 0 { m[0] = 0 }\n barrier\n"
     " var seen: i32 = 0\n for i in 0..1000000000 {"
     " if seen == 0 { seen = atomic_add(m[0], 0) } }\n C[t] = seen } }",
     EVAL_WAITS, "what a thread waits for never comes"},
    {"for b in 0..2 @block.x { for t in 0..2 @thread.x { if t == 0 {"
     " let o = atomic_exchange(C[b], 1)\n var seen: i32 = 0\n"
     " for i in 0..1000000000 {"
     " if seen != 1 { seen = atomic_add(C[b + 1], 0) } } } } }",
     EVAL_WAITS, "what a thread waits for never comes"},
    {"C[0] = 0\n for b in 0..2 @block.x { for t in 0..2 @thread.x {"
     " var looks: i32 = 0\n var seen: i32 = 0\n for i in 0..1000000000 {"
     " if seen == 0 { looks = looks + 1\n seen = atomic_add(C[0], 0) } } } }",
     EVAL_LIMIT, "more than 100000 steps"},
    {"alloc S: i32[2] in local\n S[2] = 0", EVAL_FAULT, "`S[2]` is outside"},
};

// A loop that ends before its last iteration, and how long it takes.
struct leave_row {
    const char *body;
    int32_t want; // C[0]
    uint64_t steps;
};

static const struct leave_row leave_rows[] = {
    {"for i in 0..1000000000 { if x < 5 { x = x + 1 } }", 5, 40},
    {"for i in 0..1000000000 { let y = x + 1\n if x < 5 { x = y } }", 5, 40},
    {"for i in 0..1000000000 { C[0] = x\n x = 7 }", 7, 40},
    {"for t in 0..4 @thread.x { for i in 0..1000000000 { barrier\n C[t] = 3 } }",
     3, 100},
    {"for i in 0..1000000000 { if x < 9 { for j in 0..1000000000 {"
     " if x < 9 { x = x + 4 } } } }",
     12, 40},
    {"for t in 0..4 @thread.x { for i in 0..1000000000 {"
     " if x < 3 { barrier\n x = x + 1 } }\n C[t] = x }",
     3, 100},
    {"for t in 0..32 @thread.x { var z: i32 = 0\n"
     " for i in 0..1000000000 { if z < 32 { z = z + 8\n syncwarp } }\n"
     " if t < 4 { C[t] = z } }",
     32, 2000},
    {"for i in 0..10 { if x < 100 { x = x + 1 } }", 10, 40},
    {"for i in 0..10 { if x < i32(i) { x = x + 2 } }", 10, 60},
    {"for i in 0..10 { if C[0] < i32(i) { C[0] = C[0] + 2 } }", 10, 60},
    {"for i in 0..10 { let y = i32(i)\n if x < y { x = x + 2 } }", 10, 60},
    {"for i in 0..10 { x = 0\n if x < 1 { x = x + 2 } }", 2, 60},
    {"for i in 0..10 { if x < 2 { x = x + 1 } else { x = 0 } }", 1, 60},
};

// A loop whose iterations do nothing from one on takes as long as those before.
static void leaves(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof leave_rows / sizeof *leave_rows; i++) {
        const struct leave_row *r = &leave_rows[i];
        struct arena a = {0};
        struct ir_kernel *k = kernel_text(
            &a,
            arena_printf(&a,
                         "kernel k() -> C: i32[4] {\n var x: i32 = 0\n"
                         " C[0] = 0\n %s\n%s}\n",
                         r->body, strstr(r->body, "C[") ? "" : " C[0] = x\n"));
        int32_t c[4];
        struct eval_result e = ir_eval(&a, k, ARGS(ARRAY(c)), r->steps);
        if (e.status != EVAL_DONE)
            fail_msg("%s: %s", r->body, e.text);
        assert_int_equal(c[0], r->want);
        arena_reset(&a);
    }
}

// Whatever has no meaning stops the evaluation with a text and a place.
static void stops(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stop_rows / sizeof *stop_rows; i++) {
        const struct stop_row *r = &stop_rows[i];
        struct arena a = {0};
        struct ir_kernel *k = kernel_text(
            &a, arena_printf(&a,
                             "kernel k(n: int, D: i32[n, 2]) -> C: i32[n] "
                             "{\n    %s\n}\n",
                             r->body));
        int32_t d[8] = {0}, c[4];
        kernel_stops(k, ARGS(SIZE(4), ARRAY(d), ARRAY(c)), r->status, r->words);
        struct eval_result result =
            ir_eval(&a, k, ARGS(SIZE(4), ARRAY(d), ARRAY(c)), 1000);
        assert_non_null(result.span.source);
        arena_reset(&a);
    }
}

// Sizes, `where` and the bytes of arguments are checked before anything runs.
static void refusals(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int, m: int) -> C: i32[n, m]\n"
              "    where n % 2 == 0, m < 9223372036854775807 / n\n"
              "{\n    C[0, 0] = 1\n}\n");
    int32_t c[4];
    kernel_run(k, ARGS(SIZE(2), SIZE(2), ARRAY(c)));
    kernel_stops(k, ARGS(SIZE(3), SIZE(1), ARRAY(c)), EVAL_REFUSED,
                 "`n % 2 == 0` does not hold");
    kernel_stops(k, ARGS(SIZE(-2), SIZE(1), ARRAY(c)), EVAL_REFUSED,
                 "`n` is negative: -2");
    kernel_stops(k, ARGS(SIZE(4), SIZE(2), ARRAY(c)), EVAL_FAULT,
                 "the argument for `C` has 16 bytes, not 32");
    kernel_stops(k, ARGS(SIZE(2), SIZE(INT64_MAX / 4), ARRAY(c)), EVAL_FAULT,
                 "the shape of `C` is negative or too large");
    kernel_stops(k, ARGS(SIZE(0), SIZE(2), ARRAY(c)), EVAL_FAULT,
                 "division by zero");
    arena_reset(&arena);
}

// Extents that exceed what memory there is, or shapes below zero.
static void bad_allocs(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int) -> C: i32[1] {\n"
              "    alloc W: i32[n - 5] in global\n"
              "    C[0] = 1\n"
              "}\n");
    int32_t c[1];
    kernel_run(k, ARGS(SIZE(5), ARRAY(c)));
    kernel_stops(k, ARGS(SIZE(4), ARRAY(c)), EVAL_FAULT,
                 "the shape of `W` is negative");
    kernel_stops(k, ARGS(SIZE(INT64_MAX / 8), ARRAY(c)), EVAL_FAULT,
                 "no memory for the");
    arena_reset(&arena);
}

// A grid larger than a device takes.
static void grid_too_large(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int) -> C: i32[1]\n"
              "    level launch\n"
              "{\n"
              "    launch k grid(1, n, 1) block(1, 1, 1) { C[0] = 1 }\n"
              "}\n");
    int32_t c[1];
    kernel_run(k, ARGS(SIZE(65535), ARRAY(c)));
    kernel_stops(k, ARGS(SIZE(65536), ARRAY(c)), EVAL_REFUSED,
                 "the grid has 65536 blocks along block.y");
    arena_reset(&arena);
}

// A grid that is not made of whole clusters.
static void grid_of_clusters(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int) -> C: i32[1]\n"
              "    level launch\n"
              "{\n"
              "    launch k grid(1, n, 1) cluster(1, 2, 1) block(1, 1, 1) {\n"
              "        C[0] = 1\n"
              "        barrier(cluster)\n"
              "    }\n"
              "}\n");
    int32_t c[1];
    kernel_run(k, ARGS(SIZE(4), ARRAY(c)));
    kernel_stops(k, ARGS(SIZE(3), ARRAY(c)), EVAL_FAULT,
                 "the grid has 3 blocks along block.y, no multiple of those");
    arena_reset(&arena);
}

// Integer expressions over parameters, for the host.
static void host_expressions(void **state)
{
    (void)state;
    KERNEL(k, "kernel k(n: int, m: int, s: f32) -> C: f32[n] {\n"
              "    for i in 0..ceildiv(n, m) { C[i] = s }\n"
              "}\n");
    const struct ir_expr *x = kernel_stmt(k, STMT_for)->u.loop.to;
    struct eval_argument args[] = {
        SIZE(7), SIZE(2), {.scalar.f = 1.5}, {.data = NULL}};
    int64_t value = 0;
    assert_true(ir_eval_int(k, args, x, &value));
    assert_int_equal(value, 4);
    args[1].scalar.i = 0;
    assert_false(ir_eval_int(k, args, x, &value));
    assert_int_equal(value, 4);
    arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages),
        cmocka_unit_test(stage_without_reduction),
        cmocka_unit_test(stream_compaction),
        cmocka_unit_test(tma_tiles),
        cmocka_unit_test(swizzled_tiles),
        cmocka_unit_test(rounded_tiles),
        cmocka_unit_test(tile_outside),
        cmocka_unit_test(tile_between_groups),
        cmocka_unit_test(tile_for_a_cluster),
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(bulk_copies_that_leave),
        cmocka_unit_test(thread_copies),
        cmocka_unit_test(tree_reduction),
        cmocka_unit_test(two_dimensional_block),
        cmocka_unit_test(launches),
        cmocka_unit_test(launch_with_barriers),
        cmocka_unit_test(flat_accesses),
        cmocka_unit_test(strides_and_scalars),
        cmocka_unit_test(poison),
        cmocka_unit_test(leaves),
        cmocka_unit_test(stops),
        cmocka_unit_test(refusals),
        cmocka_unit_test(bad_allocs),
        cmocka_unit_test(grid_too_large),
        cmocka_unit_test(grid_of_clusters),
        cmocka_unit_test(host_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
