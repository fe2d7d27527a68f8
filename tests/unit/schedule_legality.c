// What reorder, bind and vectorize accept and refuse, against all pairs of
// iterations: small random nests with affine and quasi-affine indices are
// written out as text and judged by the primitives; the test walks the
// iterations itself.  An accepted order must also compute the same.

#include "frontend/frontend.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/eval.h"
#include "passes/schedule/prim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NESTS = 100, LOOPS_MOST = 3, ACCESSES = 4, OFFSET = 40, SIZE = 120 };

// An index: (c[0] * i + c[1] * j + c[2] * k + base) by `quotient`, a division
// if `divides` and else a remainder; 0 for neither.
struct index {
    int64_t c[LOOPS_MOST], base, by;
    bool divides;
};

// A nest with two stores `C[w] = C[r] * 3 + n`; the second one only if
// i + j < limit.
struct nest {
    size_t n;
    int64_t extents[LOOPS_MOST], limit;
    struct index at[ACCESSES]; // w, r of the first store, of the second
};

static const char *const names[] = {"i", "j", "k"};

// What a test works with.
struct subject {
    struct arena arena, scratch;
    struct str_table names;
    struct diag_list diags;
    uint64_t random; // state of the generator
};

// Return the next random number below n.
static int64_t below(struct subject *s, uint64_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (int64_t)((s->random >> 11) % n);
}

// Return a random index.
static struct index random_index(struct subject *s, size_t n)
{
    struct index x = {.base = below(s, 3), .divides = below(s, 2)};
    for (size_t i = 0; i < n; i++)
        x.c[i] = below(s, 2) ? below(s, 5) - 2 : below(s, 3) * 4;
    x.by = below(s, 3) ? 0 : below(s, 4) + 2;
    return x;
}

// Return a random nest.
static struct nest random_nest(struct subject *s)
{
    struct nest nest = {.n = (size_t)below(s, 2) + 2, .limit = below(s, 7)};
    for (size_t i = 0; i < nest.n; i++)
        nest.extents[i] = below(s, 2) ? 4 : 2;
    for (int i = 0; i < ACCESSES; i++)
        nest.at[i] = random_index(s, nest.n);
    if (below(s, 2))
        nest.at[1] = nest.at[0];
    nest.at[1].base += below(s, 2);
    return nest;
}

// Append an index as text.
static void index_text(struct buf *out, const struct nest *nest,
                       const struct index *x)
{
    buf_printf(out, "C[(%d", OFFSET);
    for (size_t i = 0; i < nest->n; i++)
        buf_printf(out, " + %s * (%lld)", names[i], (long long)x->c[i]);
    buf_printf(out, " + %lld)", (long long)x->base);
    if (x->by)
        buf_printf(out, " %s %lld", x->divides ? "/" : "%", (long long)x->by);
    buf_text(out, "]");
}

// Append a store as text.
static void store_text(struct buf *out, const struct nest *nest, int at)
{
    index_text(out, nest, &nest->at[at]);
    buf_text(out, " = ");
    index_text(out, nest, &nest->at[at + 1]);
    buf_text(out, " * 3 + i32(i * 16 + j)\n");
}

// Return a nest as a kernel.
static struct ir_kernel *make_kernel(struct subject *s, const struct nest *nest)
{
    struct buf out = {0};
    struct program program = {0};
    buf_printf(&out, "kernel nest(C: i32[%d] inout) {\n", SIZE);
    for (size_t i = 0; i < nest->n; i++)
        buf_printf(&out, "for %s in 0..%lld {\n", names[i],
                   (long long)nest->extents[i]);
    store_text(&out, nest, 0);
    buf_printf(&out, "if i + j < %lld {\n", (long long)nest->limit);
    store_text(&out, nest, 2);
    buf_text(&out, "}\n");
    for (size_t i = 0; i <= nest->n; i++)
        buf_text(&out, "}\n");
    const char *text = arena_copy(&s->scratch, out.data, out.n);
    struct source *source = arena_array(&s->scratch, struct source, 1);
    *source = (struct source){"nest", text, out.n};
    buf_free(&out);
    if (!frontend_parse(&s->scratch, &s->names, source, false, &s->diags,
                        &program))
        fail_msg("%s", text);
    return program.kernels.at[0];
}

// Return the element that an access accesses; -1 if it does not run.
static int64_t element(const struct nest *nest, int access, const int64_t *v)
{
    const struct index *x = &nest->at[access];
    int64_t at = OFFSET + x->base;
    if (access >= 2 && v[0] + v[1] >= nest->limit)
        return -1;
    for (size_t i = 0; i < nest->n; i++)
        at += x->c[i] * v[i];
    return !x->by ? at : x->divides ? at / x->by : at % x->by;
}

// Return whether two iterations access the same element and one writes it.
static bool conflict(const struct nest *nest, const int64_t *a,
                     const int64_t *b)
{
    for (int x = 0; x < ACCESSES; x++) {
        for (int y = 0; y < ACCESSES; y++) {
            int64_t at = element(nest, x, a);
            bool writes = x % 2 == 0 || y % 2 == 0;
            if (writes && at >= 0 && at == element(nest, y, b))
                return true;
        }
    }
    return false;
}

// Set `v` to iteration number `number`; false if there is none.
static bool iteration(const struct nest *nest, int64_t number, int64_t *v)
{
    memset(v, 0, LOOPS_MOST * sizeof *v);
    for (size_t i = nest->n; i-- > 0;) {
        v[i] = number % nest->extents[i];
        number /= nest->extents[i];
    }
    return number == 0;
}

// Return whether a is before b when loop order[0] is outermost.
static bool is_before(const struct nest *nest, const size_t *order,
                      const int64_t *a, const int64_t *b)
{
    for (size_t i = 0; i < nest->n; i++) {
        if (a[order[i]] != b[order[i]])
            return a[order[i]] < b[order[i]];
    }
    return false;
}

// Return whether no two iterations in conflict change places.
static bool keeps_order(const struct nest *nest, const size_t *order)
{
    int64_t a[LOOPS_MOST], b[LOOPS_MOST];
    for (int64_t x = 0; iteration(nest, x, a); x++) {
        for (int64_t y = x + 1; iteration(nest, y, b); y++) {
            if (is_before(nest, order, b, a) && conflict(nest, a, b))
                return false;
        }
    }
    return true;
}

// Return whether no two iterations with different values of a loop are in
// conflict; the loops around have the same values if `waits`.
static bool is_parallel(const struct nest *nest, size_t loop, bool waits)
{
    int64_t a[LOOPS_MOST], b[LOOPS_MOST];
    for (int64_t x = 0; iteration(nest, x, a); x++) {
        for (int64_t y = 0; iteration(nest, y, b); y++) {
            bool same = true;
            for (size_t i = 0; i < loop; i++)
                same &= a[i] == b[i];
            if (a[loop] != b[loop] && (same || !waits) && conflict(nest, a, b))
                return false;
        }
    }
    return true;
}

// Find the loops of a kernel.
static void find_loops(struct ir_kernel *k, struct ir_stmt **loops, size_t n)
{
    struct ir_block *body = &k->body;
    for (size_t i = 0; i < n; i++) {
        loops[i] = body->at[0];
        body = &loops[i]->u.loop.body;
    }
}

// Return what a primitive works on: a copy of the kernel.
static struct pass pass_for(struct subject *s, const struct ir_kernel *k)
{
    s->diags = (struct diag_list){.arena = &s->scratch};
    return (struct pass){.kernel = ir_copy_kernel(&s->scratch, k),
                         .arena = &s->scratch,
                         .scratch = &s->scratch,
                         .names = &s->names,
                         .diags = &s->diags};
}

// Fail because a primitive and the iterations disagree.
static void disagree(struct subject *s, const struct nest *nest,
                     const char *what, bool accepted)
{
    struct buf out = {0};
    store_text(&out, nest, 0);
    store_text(&out, nest, 2);
    for (size_t i = 0; i < nest->n; i++)
        buf_printf(&out, "%s < %lld ", names[i], (long long)nest->extents[i]);
    buf_printf(&out, "limit %lld\n", (long long)nest->limit);
    diag_render(&s->diags, (struct diag_style){0}, &out);
    fail_msg("%s %s:\n%s", what, accepted ? "accepted" : "refused", out.data);
}

// Compute a kernel on an array.
static void evaluate(struct subject *s, const struct ir_kernel *k,
                     int32_t *data)
{
    struct eval_argument arg = {.data = data, .size = SIZE * sizeof *data};
    for (int i = 0; i < SIZE; i++)
        data[i] = i * 7 + 1;
    assert_int_equal(ir_eval(&s->scratch, k, &arg, 0).status, EVAL_DONE);
}

// Check one order of the loops.
static void check_order(struct subject *s, const struct nest *nest,
                        const struct ir_kernel *kernel, const size_t *order)
{
    int32_t before[SIZE], after[SIZE];
    struct ir_stmt *loops[LOOPS_MOST] = {0};
    struct pass p = pass_for(s, kernel);
    struct sched_call c = {.pass = &p, .prim = PRIM_reorder};
    find_loops(p.kernel, loops, nest->n);
    for (size_t i = 0; i < nest->n; i++)
        sched_add_stmt(&c, loops[order[i]]);
    bool accepted = sched_run(&c);
    if (accepted != keeps_order(nest, order))
        disagree(s, nest, "reorder", accepted);
    if (!accepted)
        return;
    evaluate(s, kernel, before);
    evaluate(s, p.kernel, after);
    assert_memory_equal(before, after, sizeof before);
}

// Check whether a loop runs on an axis.
static void check_axis(struct subject *s, const struct nest *nest,
                       const struct ir_kernel *kernel, size_t loop,
                       enum axis axis)
{
    struct ir_stmt *loops[LOOPS_MOST] = {0};
    struct pass p = pass_for(s, kernel);
    bool is_vector = axis == AXIS_vector;
    struct sched_call c = {.pass = &p,
                           .prim = is_vector ? PRIM_vectorize : PRIM_bind};
    struct sched_value v = {.kind = VALUE_axis, .axis = axis};
    find_loops(p.kernel, loops, nest->n);
    sched_add_stmt(&c, loops[loop]);
    if (!is_vector)
        vec_push(&s->scratch, &c.args, v);
    bool accepted = sched_run(&c);
    if (accepted != is_parallel(nest, loop, axis != AXIS_block_x))
        disagree(s, nest, axis_name(axis), accepted);
}

// Judge random nests.
static void test_nests(void **state)
{
    static const size_t orders[][LOOPS_MOST] = {
        {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    struct subject s = {.random = 88172645463325252u};
    (void)state;
    s.names.arena = &s.arena;
    for (int i = 0; i < NESTS; i++) {
        s.diags = (struct diag_list){.arena = &s.scratch};
        struct nest nest = random_nest(&s);
        const struct ir_kernel *k = make_kernel(&s, &nest);
        for (int o = 0; o < (nest.n == 2 ? 1 : 5); o++)
            check_order(&s, &nest, k, orders[o]);
        for (size_t l = 0; l < nest.n; l++) {
            check_axis(&s, &nest, k, l, AXIS_block_x);
            check_axis(&s, &nest, k, l, AXIS_thread_x);
        }
        check_axis(&s, &nest, k, nest.n - 1, AXIS_vector);
        arena_reset(&s.scratch);
    }
    arena_reset(&s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
