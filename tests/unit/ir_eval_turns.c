// The interpreter: threads and blocks that wait for one another.

#include "ir/eval.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Threads that wait for one another take turns: a producer and consumers, who
// hand two places to and fro, and a thread that looks at a flag.
static void turns(void **state)
{
    (void)state;
    KERNEL(k,
           "kernel k(m: int, A: f32[m, 8] align 16) -> C: f32[m, 8] {\n"
           "  for b in 0..1 @block.x {\n"
           "    alloc s: f32[2, 8] in shared align 128\n"
           "    alloc full: u64[2] in shared\n"
           "    alloc empty: u64[2] in shared\n"
           "    for t in 0..12 @thread.x {\n"
           "      if t < 2 {\n"
           "        mbarrier_init(full[t], 1)\n"
           "        mbarrier_init(empty[t], 8)\n"
           "      }\n"
           "      barrier\n"
           "      if t < 8 {\n"
           "        for k in 0..m {\n"
           "          mbarrier_wait(full[k % 2], u64(k / 2 % 2))\n"
           "          C[k, t] = s[k % 2, 7 - t]\n"
           "          mbarrier_arrive(empty[k % 2])\n"
           "        }\n"
           "      }\n"
           "      if t == 8 {\n"
           "        for k in 0..m {\n"
           "          mbarrier_wait(empty[k % 2], u64((k / 2 + 1) % 2))\n"
           "          mbarrier_expect(full[k % 2], 32)\n"
           "          bulk_load(8) s[k % 2, 0] = A[k, 0] signals full[k % 2]\n"
           "        }\n"
           "      }\n"
           "    }\n"
           "  }\n"
           "}\n");
    float in[40], out[40];
    for (int i = 0; i < 40; i++)
        in[i] = (float)i;
    kernel_run(k, ARGS(SIZE(5), ARRAY(in), ARRAY(out)));
    for (int i = 0; i < 40; i++)
        assert_true(out[i] == in[i / 8 * 8 + 7 - i % 8]);
    arena_reset(&arena);
}

// A thread that looks again and again lets the others go on.
static void flags(void **state)
{
    (void)state;
    KERNEL(k, "kernel k() -> C: i32[4] {\n"
              "  for b in 0..1 @block.x {\n"
              "    alloc flag: i32[1] in shared\n"
              "    for t in 0..4 @thread.x {\n"
              "      if t == 0 { flag[0] = 0 }\n"
              "      barrier\n"
              "      var seen: i32 = 0\n"
              "      if t == 3 { let o = atomic_add(flag[0], 7) }\n"
              "      for i in 0..1000000000 {\n"
              "        if seen == 0 { seen = atomic_add(flag[0], 0) }\n"
              "      }\n"
              "      C[t] = seen\n"
              "    }\n"
              "  }\n"
              "}\n");
    int32_t c[4];
    struct eval_result e = ir_eval(&arena, k, ARGS(ARRAY(c)), 1000);
    assert_int_equal(e.status, EVAL_DONE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(c[i], 7);
    arena_reset(&arena);
}

// Blocks of which each waits for the next one, and counts how often it looked.
static const char blocks_loop[] =
    "kernel k(n: int) -> C: i32[n] {\n"
    "  alloc flag: i32[n + 1] in global\n"
    "  for i in 0..n + 1 { flag[i] = 0 }\n"
    "  for b in 0..n @block.x {\n"
    "    alloc before: i32[1] in shared\n"
    "    for t in 0..4 @thread.x {\n"
    "      if t == 0 {\n"
    "        before[0] = 0\n"
    "        var looks: i32 = 0\n"
    "        var over: bool = b + 1 == n\n"
    "        for k in 0..1000000000 {\n"
    "          if !over {\n"
    "            looks = looks + 1\n"
    "            before[0] = atomic_add(flag[b + 1], 0)\n"
    "            over = before[0] != 0\n"
    "          }\n"
    "        }\n"
    "        let told = atomic_exchange(flag[b], before[0] + 1)\n"
    "      }\n"
    "      barrier\n"
    "      if t == 3 { C[b] = before[0] }\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char blocks_launch[] =
    "kernel k(n: int) -> C: i32[n] level launch {\n"
    "  alloc flag: i32[n + 1] in global\n"
    "  launch k0 grid(n + 1, 1, 1) block(1, 1, 1) { flag[block.x] = 0 }\n"
    "  launch k1 grid(n, 1, 1) block(4, 1, 1) {\n"
    "    alloc before: i32[1] in shared\n"
    "    if thread.x == 0 {\n"
    "      before[0] = 0\n"
    "      var over: bool = block.x + 1 == n\n"
    "      for k in 0..1000000000 {\n"
    "        if !over {\n"
    "          before[0] = atomic_add(flag[block.x + 1], 0)\n"
    "          over = before[0] != 0\n"
    "        }\n"
    "      }\n"
    "      let told = atomic_exchange(flag[block.x], before[0] + 1)\n"
    "    }\n"
    "    barrier\n"
    "    if thread.x == 3 { C[block.x] = before[0] }\n"
    "  }\n"
    "}\n";

// Blocks that wait for later ones take turns, each with shared arrays of its
// own; more of them than may wait at a time are too many.
static void blocks(void **state)
{
    (void)state;
    enum { N = 70, MANY = 20000 };
    const char *const texts[] = {blocks_loop, blocks_launch};
    static int32_t c[MANY];
    for (size_t i = 0; i < 2; i++) {
        struct arena a = {0};
        struct ir_kernel *k = kernel_text(&a, texts[i]);
        struct eval_argument array = {.data = c, .size = N * sizeof *c};
        struct eval_result e = ir_eval(&a, k, ARGS(SIZE(N), array), 1000000);
        assert_int_equal(e.status, EVAL_DONE);
        for (int b = 0; b < N; b++)
            assert_int_equal(c[b], N - 1 - b);
        array.size = sizeof c;
        e = ir_eval(&a, k, ARGS(SIZE(MANY), array), 0);
        assert_int_equal(e.status, EVAL_LIMIT);
        assert_non_null(strstr(e.text, "threads that wait at a time"));
        arena_reset(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns),
        cmocka_unit_test(flags),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
