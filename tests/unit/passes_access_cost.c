// Costs of accesses against counting by hand, lane after lane, for random
// indices, and what is known of sizes, data and guards.

#include "ir/base/buf.h"
#include "passes/analysis/access_cost.h"

#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 400, PLACES = 4096, FACTORS = 6 };

// ---- Counting by hand -----------------------------------------------------

// A random access: element
//
//   start + x * tx + y * ty + z * tz + part * (tx / by) + rest * (tx % by)
//         + count * i + far * block ^ bits
//
// of an array, for i in 0..counts, in threads with tx % 32 below `below`.
struct sample {
    int64_t start, x, y, z, part, rest, by, count, counts, far, bits;
    int64_t below, block[3];
    const char *type;
    uint32_t element, lanes;
    bool is_shared;
};

// Return the next random number below n.
static int64_t below(uint64_t *state, int64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*state >> 33) % (uint64_t)n);
}

// Return a random access.
static struct sample draw(uint64_t *state)
{
    static const char *const types[] = {"u8", "f16", "f32", "f64"};
    static const int64_t factors[] = {0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64};
    struct sample s = {.by = 1 + below(state, 33)};
    int64_t *const of_factors[] = {&s.x,    &s.y,    &s.z,
                                   &s.part, &s.rest, &s.count};
    for (size_t i = 0; i < FACTORS; i++)
        *of_factors[i] = factors[below(state, 11)];
    uint32_t type = (uint32_t)below(state, 4);
    s.type = types[type];
    s.element = 1u << type;
    s.start = below(state, 40);
    s.counts = 1 + below(state, 5);
    s.is_shared = below(state, 2);
    s.far = s.is_shared ? 0 : below(state, 9);
    s.bits = below(state, 3) ? 0 : below(state, 32);
    s.below = below(state, 3) ? 32 : 1 + below(state, 32);
    s.block[0] = 1 + below(state, 48);
    s.block[1] = 1 + below(state, 4);
    s.block[2] = 1 + below(state, 3);
    s.lanes = below(state, 2) || s.bits ? 1 : 16 / s.element;
    if (s.lanes == 1)
        return s;
    for (size_t i = 0; i < FACTORS; i++)
        *of_factors[i] *= s.lanes;
    s.start *= s.lanes;
    s.far *= s.lanes;
    return s;
}

// Return the kernel that makes the access.
static const char *kernel_of(struct arena *a, const struct sample *s)
{
    const char *t = "idx32(thread.x)";
    const char *index = arena_printf(
        a,
        "(%d + %s * %d + idx32(thread.y) * %d + idx32(thread.z) * %d + %s / %d * %d + %s %% %d * %d "
        "+ i * %d + idx32(block.x) * %d)",
        (int)s->start, t, (int)s->x, (int)s->y, (int)s->z, t, (int)s->by,
        (int)s->part, t, (int)s->by, (int)s->rest, (int)s->count, (int)s->far);
    if (s->bits)
        index = arena_printf(a, "(%s ^ %d)", index, (int)s->bits);
    const char *value = arena_printf(a, "%s(0)", s->type);
    if (s->lanes > 1) {
        index = arena_printf(a, "ramp(%s, %u)", index, s->lanes);
        value = arena_printf(a, "broadcast(%s, %u)", value, s->lanes);
    }
    return arena_printf(
        a,
        "kernel f(m: int) -> G: %s[1000000] align 16\n    level flat\n{\n"
        "launch f grid(m, 1, 1) block(%d, %d, %d) {\n"
        "alloc S: %s[1000000] in shared align 16\n"
        "for i: idx32 in 0..%d {\nif %s %% 32 < %d {\n%s[%s] = %s\n} } } }",
        s->type, (int)s->block[0], (int)s->block[1], (int)s->block[2], s->type,
        (int)s->counts, t, (int)s->below, s->is_shared ? "S" : "G", index,
        value);
}

// Return where a thread is in iteration `i` of a block, in bytes; -1 if it
// takes no part.
static int64_t place(const struct sample *s, int64_t thread, int64_t i,
                     int64_t block)
{
    int64_t x = thread % s->block[0], row = thread / s->block[0];
    int64_t y = row % s->block[1], z = row / s->block[1];
    int64_t at = s->start + s->x * x + s->y * y + s->z * z +
                 s->part * (x / s->by) + s->rest * (x % s->by) + s->count * i +
                 s->far * block;
    bool is_there = z < s->block[2] && x % 32 < s->below;
    return is_there ? (at ^ s->bits) * s->element : -1;
}

// Return how many different numbers at[i] / unit, i in from..to, there are
// that leave `rest` modulo `of`; numbers below 0 do not count.
static uint32_t distinct(const int64_t *at, int from, int to, int64_t unit,
                         int64_t of, int64_t rest)
{
    static const size_t words = PLACES;
    bool seen[PLACES * 8] = {false};
    uint32_t n = 0;
    for (int i = from; i < to; i++) {
        if (at[i] < 0 || at[i] / unit % of != rest)
            continue;
        assert_true((size_t)(at[i] / unit) < words * 8);
        n += !seen[at[i] / unit];
        seen[at[i] / unit] = true;
    }
    return n;
}

// Count the wavefronts of a warp: a bank at a time.
static struct warp_cost wavefronts(const int64_t *at, uint32_t bytes)
{
    struct warp_cost cost = {0, 0};
    int words = bytes > 4 ? (int)bytes / 4 : 1, group = 32 / words;
    for (int from = 0; from < 32; from += group) {
        int64_t pieces[32];
        uint32_t deepest = 0;
        for (int i = 0; i < 32; i++) {
            int64_t lane = at[from + i / words];
            pieces[i] = lane < 0 ? -1 : lane + i % words * 4;
        }
        for (int bank = 0; bank < 32; bank++) {
            uint32_t depth = distinct(pieces, 0, 32, 4, 32, bank);
            deepest = depth > deepest ? depth : deepest;
        }
        cost.taken += deepest;
        cost.least += deepest > 0;
    }
    return cost;
}

// Count the sectors of a warp.
static struct warp_cost sectors(const int64_t *at, uint32_t bytes)
{
    uint32_t asked = distinct(at, 0, 32, bytes, 1, 0) * bytes;
    return (struct warp_cost){distinct(at, 0, 32, 32, 1, 0), (asked + 31) / 32};
}

// Find the greatest and the least excess over all warps, iterations, and
// blocks up to a period of where they begin.
static void by_hand(const struct sample *s, double *best, double *worst)
{
    int64_t threads = s->block[0] * s->block[1] * s->block[2];
    uint32_t bytes = s->element * s->lanes;
    *best = 1e9;
    *worst = 0;
    for (int64_t run = 0; run < 32 * s->counts; run++) {
        for (int64_t first = 0; first < threads; first += 32) {
            int64_t at[32];
            for (int64_t i = 0; i < 32; i++)
                at[i] = place(s, first + i, run / 32, run % 32);
            struct warp_cost c =
                s->is_shared ? wavefronts(at, bytes) : sectors(at, bytes);
            double excess = c.least ? (double)c.taken / c.least : 0;
            *worst = excess > *worst ? excess : *worst;
            *best = c.least && excess < *best ? excess : *best;
        }
    }
}

static void random_indices_cost_what_lanes_count(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena a = {0};
        double best, worst;
        struct sample s = draw(&random);
        const char *text = kernel_of(&a, &s);
        struct ir_kernel *k = kernel_text(&a, text);
        struct access_costs found = access_costs(&a, k, NULL);
        by_hand(&s, &best, &worst);
        assert_int_equal(found.n, 1);
        const struct access_cost *c = &found.at[0];
        double own = (double)c->best.taken / c->best.least;
        bool is_exact = c->basis == COST_PROVED;
        if (is_exact ? access_excess(c) != worst || own != best
                     : access_excess(c) > worst || own < best)
            fail_msg("round %d: %g to %g, by hand %g to %g, %s\n%s", round, own,
                     access_excess(c), best, worst, cost_basis_name(c->basis),
                     text);
        assert_true(is_exact || s.bits);
        arena_reset(&a);
    }
}

// ---- What is known --------------------------------------------------------

// Check the one access of a launch of 64 threads to an array of f32 of n * m
// elements.
static void costs(const char *where, const char *body, const int64_t *sizes,
                  enum cost_basis basis, uint32_t best, uint32_t worst)
{
    struct arena a = {0};
    const char *text = arena_printf(
        &a,
        "kernel f(n: int, m: int, I: i32[n]) -> G: f32[n * m]%s\n    level flat"
        "\n{\nlaunch f grid(n, m, 1) block(64, 1, 1) {\n"
        "let t = idx64(thread.x)\n%s\n} }",
        where, body);
    struct access_costs found = access_costs(&a, kernel_text(&a, text), sizes);
    const struct access_cost *c = &found.at[found.n - 1];
    assert_string_equal(cost_basis_name(c->basis), cost_basis_name(basis));
    assert_int_equal(c->best.taken, best);
    assert_int_equal(c->worst.taken, worst);
    arena_reset(&a);
}

static void sizes_count_where_they_matter(void **state)
{
    const int64_t eight[] = {-1, 8, -1, -1}, odd[] = {-1, 9, -1, -1};
    (void)state;
    costs("", "G[idx64(block.y) * idx64(m) + t] = 0.0", NULL, COST_PROVED, 4,
          5);
    costs("", "G[idx64(block.y) * idx64(m) + t] = 0.0", eight, COST_PROVED, 4,
          4);
    costs("", "G[idx64(block.y) * idx64(m) + t] = 0.0", odd, COST_PROVED, 4, 5);
    costs("\n    where m % 8 == 0", "G[idx64(block.y) * idx64(m) + t] = 0.0",
          NULL, COST_PROVED, 4, 4);
    costs("\n    guard m % 2 == 0",
          "G[idx64(block.y) * idx64(m) + t * 2] = 0.0", NULL, COST_PROVED, 8,
          9);
    costs("", "if idx64(m) % 8 == 0 { G[idx64(m) + t] = 0.0 }", NULL,
          COST_PROVED, 4, 4);
    costs("", "G[t * idx64(m)] = 0.0", NULL, COST_ASSUMED, 32, 32);
    costs("", "G[t * idx64(m)] = 0.0", eight, COST_PROVED, 32, 32);
    costs("\n    where m < 2", "G[t * idx64(m)] = 0.0", NULL, COST_ASSUMED, 4,
          4);
}

static void data_is_unknown_only_where_lanes_differ(void **state)
{
    (void)state;
    costs("", "G[idx64(I[t])] = 0.0", NULL, COST_UNKNOWN, 0, 0);
    costs("", "let j = idx64(I[t])\nG[j] = 0.0", NULL, COST_UNKNOWN, 0, 0);
    costs("", "G[idx64(I[idx64(0)]) * 8 + t] = 0.0", NULL, COST_PROVED, 4, 4);
    costs("", "let j = idx64(I[t / 32])\nG[j * 8 + t] = 0.0", NULL,
          COST_UNKNOWN, 0, 0);
    costs("", "G[idx64(I[t / 32]) + t] = 0.0", NULL, COST_PROVED, 4, 5);
    costs("", "var j: i32 = 0\nj = I[idx64(1)]\nG[idx64(j) + t] = 0.0", NULL,
          COST_PROVED, 4, 5);
}

static void guards_of_threads_exclude_lanes(void **state)
{
    (void)state;
    costs("", "if t < 8 { G[t] = 0.0 }", NULL, COST_PROVED, 1, 1);
    costs("", "if t < 8 && t * 2 < idx64(n) { G[t * 8] = 0.0 }", NULL,
          COST_PROVED, 8, 8);
    costs("", "if t >= 8 { } else { G[t * 8] = 0.0 }", NULL, COST_PROVED, 8, 8);
    costs("", "for i in t..8 step 64 { G[i * 8] = 0.0 }", NULL, COST_PROVED, 8,
          8);
    costs("", "for i in t..idx64(n) step 64 { G[i * 8] = 0.0 }", NULL,
          COST_PROVED, 32, 32);
    costs("", "for i: idx64 in 0..2 { if t < 8 * (i + 1) { G[t * 8] = 0.0 } }",
          NULL, COST_PROVED, 16, 16);
}

static void loops_are_counted(void **state)
{
    struct arena a = {0};
    (void)state;
    struct access_costs found = access_costs(
        &a,
        kernel_text(&a, "kernel f(n: int) -> G: f32[n]\n    level flat\n{\n"
                        "launch f grid(1, 1, 1) block(1, 1, 1) {\n"
                        "G[idx64(0)] = 1.0\n"
                        "for i in 0..idx64(n) { for j in 0..idx64(n) {\n"
                        "let old = atomic_add(G[i], 1.0)\n} } } }"),
        NULL);
    assert_int_equal(found.n, 2);
    assert_int_equal(found.at[0].depth, 0);
    assert_string_equal(access_kind_name(found.at[0].kind), "write");
    assert_int_equal(found.at[1].depth, 2);
    assert_string_equal(access_kind_name(found.at[1].kind), "atomic");
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_indices_cost_what_lanes_count),
        cmocka_unit_test(sizes_count_where_they_matter),
        cmocka_unit_test(data_is_unknown_only_where_lanes_differ),
        cmocka_unit_test(guards_of_threads_exclude_lanes),
        cmocka_unit_test(loops_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
