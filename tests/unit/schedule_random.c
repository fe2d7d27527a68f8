// Whatever primitives accept keeps the meaning of a kernel: sequences of them
// with random arguments are applied, refusals ignored, and the kernel must
// pass ir_check, read back from its text as it is, and compute the same, with
// bound loops running forwards and backwards.

#include "frontend/frontend.h"
#include "ir/build.h"
#include "ir/check.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/eval.h"
#include "ir/text.h"
#include "passes/schedule/prim.h"
#include "passes/schedule/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 600, CALLS_MOST = 8, SIZE_MOST = 7, ELEMENTS_MOST = 4096 };

// Kernels on integers, so that sums have one value in any order.  All sizes
// are called m, n, k.
static const struct {
    const char *name, *text;
} kernels[] = {
    {"copy",
     "kernel copy(n: int, A: i32[n]) -> C: i32[n] { C[i] = A[i] + i32(i) }"},

    {"matmul",
     "kernel matmul(m: int, n: int, k: int, A: i32[m, k], B: i32[k, n])\n"
     "    -> C: i32[m, n] { C[i, j] = sum(l in k) A[i, l] * B[l, j] }"},

    {"blur", "kernel blur(m: int, n: int, A: i32[m, n]) -> C: i32[m, n] {\n"
             "    let P[i in m, j in n + 2] =\n"
             "        1 <= j && j < n + 1 ? A[i, j - 1] : 7\n"
             "    let S[i in m, j in n] = P[i, j] + P[i, j + 1] + P[i, j + 2]\n"
             "    C[i, j] = S[i, j] - P[i, j]\n"
             "}"},

    {"chain", "kernel chain(n: int, A: i32[n + 3]) -> C: i32[n] {\n"
              "    let S[i in n + 2] = A[i] + A[i + 1] * 3\n"
              "    let T[i in n] = S[i] - S[i + 2]\n"
              "    C[i] = T[i] * T[i] + A[i]\n"
              "}"},

    {"turn", "kernel turn(A: i32[4, 6], B: i32[6]) -> C: i32[6, 4] {\n"
             "    let S[i in 4] = sum(j in 6) A[i, j] * B[j]\n"
             "    let T[j, i] = A[i, j] + S[i]\n"
             "    C[j, i] = T[j, i] * B[j]\n"
             "}"},

    {"rows", "kernel rows(m: int, n: int, A: i32[m, n + 1, 3]) -> C: i32[m] {\n"
             "    let s[i] = sum(j in n + 1, l in 3) A[i, j, l]\n"
             "    C[i] = s[i] * 2\n"
             "}"},

    {"linear",
     "kernel linear(m: int, n: int, A: i32[m, n + 1], B: i32[n + 1, n])\n"
     "    -> (C: i32[m, n], D: i32[n, m]) {\n"
     "    let S[i, j] = sum(l in n + 1) A[i, l] * B[l, j]\n"
     "    let T[i, j] = sum(l in n + 1) A[i, l] + B[l, j]\n"
     "    C[i, j] = S[i, j] + i32(j)\n"
     "    D[j, i] = max(T[i, j], 5) - C[i, j]\n"
     "}"},

    {"offset",
     "kernel offset(n: int, A: i32[n]) -> C: i32[n] {\n"
     "    alloc T: i32[n * 4 + 1] in global\n"
     "    for i in 0..n {\n"
     "        for j in 0..4 {\n"
     "            stage T(vi in n = i, vj in 4 = j) {\n"
     "                if vi < 3 { T[1 + vi * 4 + vj] = A[vi] }\n"
     "                else { T[1 + vi * 4 + vj] = i32(vj) }\n"
     "            }\n"
     "        }\n"
     "    }\n"
     "    for i in 0..n {\n"
     "        stage C(vi in n = i) { C[n - 1 - vi] = T[vi * 4 + 3] }\n"
     "    }\n"
     "}"},

    {"dot",
     "kernel dot(m: int, n: int, A: i32[m, n], B: i32[n]) -> C: i32[m] {\n"
     "    C[i] = sum(j in n) A[i, j] * B[j]\n"
     "}"},

    {"flip", "kernel flip(A: i32[4, 6]) -> C: i32[6, 4] { C[i, j] = A[j, i] }"},

    {"scale",
     "kernel scale(n: int, A: i32[6, 4], B: i32[n]) -> C: i32[4, 6] {\n"
     "    let T[i, j] = A[i, j] * 3\n"
     "    let S[i] = B[i] + 1\n"
     "    C[j, i] = sum(l in n) T[i, j] * S[l]\n"
     "}"},

    {"raw", "kernel raw(m: int, n: int, A: i32[m, n], C: i32[m] inout) {\n"
            "    for i in 0..m {\n"
            "        for j in 0..n { C[i] = C[i] * 3 + A[i, j] }\n"
            "    }\n"
            "}"},

    {"wave",
     "kernel wave(n: int, C: i32[n, n] inout) {\n"
     "    for i in 1..n {\n"
     "        for j in 0..n - 1 step 2 { C[i, j] = C[i - 1, j + 1] + 1 }\n"
     "    }\n"
     "}"},

    {"far",
     "kernel far(n: int, C: i32[3 * n + 3] inout) {\n"
     "    for i in 0..n {\n"
     "        for j in 0..4 { C[i * 3 + j] = C[i * 3 + j] * 2 + i32(j) }\n"
     "    }\n"
     "}"},

    {"flat", "kernel flat(m: int, n: int, C: i32[m * n + 1] inout) {\n"
             "    for i in 0..m {\n"
             "        for j in 0..n {\n"
             "            let at = i * n + j\n"
             "            C[at] = C[at] * 2 + i32(i)\n"
             "        }\n"
             "    }\n"
             "}"},

    {"lower", "kernel lower(n: int, A: i32[n, n]) -> C: i32[n] {\n"
              "    for i in 0..n {\n"
              "        for j in 0..i { C[i] = C[i] + A[i, j] }\n"
              "    }\n"
              "}"},
};

// A kernel under test.
struct subject {
    struct arena arena, scratch;
    struct str_table names;
    struct diag_list diags;
    struct program program;
    uint64_t random; // state of the generator
};

// Return the next random number below n.
static uint64_t below(struct subject *s, uint64_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (s->random >> 11) % n;
}

// The loops and stages of a kernel: the context of see_handle.
struct handles {
    struct arena *arena;
    struct VEC(struct ir_stmt *) loops, stages;
    struct VEC(struct ir_buffer *) arrays;
    size_t n_params; // of the arrays, the first ones
};

// Note a loop, a stage or an array.
static void see_handle(struct ir_stmt *s, void *context)
{
    struct handles *h = context;
    if (s->kind == STMT_for)
        vec_push(h->arena, &h->loops, s);
    if (s->kind == STMT_stage)
        vec_push(h->arena, &h->stages, s);
    if (s->kind == STMT_alloc)
        vec_push(h->arena, &h->arrays, s->u.buffer);
}

// Note the parameters of a kernel that are arrays.
static void see_params(const struct ir_kernel *k, struct handles *h)
{
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer)
            vec_push(h->arena, &h->arrays, k->params.at[i].buffer);
    h->n_params = h->arrays.n;
}

// Return a random map of n indices: some are cut in two, and the parts, in
// another order, are the new ones; two of them may be joined.
static struct sched_map *random_map(struct subject *s, uint32_t n)
{
    struct arena *a = &s->arena;
    struct sched_map *map = arena_new(a, struct sched_map);
    map->n = n;
    map->vars = arena_array(a, struct ir_var *, n);
    map->to = arena_array(a, struct ir_expr *, 2 * n);
    for (uint32_t i = 0; i < n; i++) {
        map->vars[i] = ir_var_new(a, "i", type_scalar(TYPE_int), VAR_let,
                                  (struct span){0});
        struct ir_expr *x = ir_read(a, map->vars[i]);
        struct ir_expr *by = ir_int(a, (int64_t)below(s, 3) + 1);
        map->to[map->m++] = ir_binary(a, OP_div, x, by);
        if (!ir_is_int_const(by, 1) && below(s, 8))
            map->to[map->m++] = ir_binary(a, OP_mod, x, by);
    }
    for (uint32_t i = map->m; i > 1; i--) {
        uint32_t k = (uint32_t)below(s, i);
        struct ir_expr *x = map->to[k];
        map->to[k] = map->to[i - 1];
        map->to[i - 1] = x;
    }
    if (map->m > 1 && below(s, 2)) {
        struct ir_expr *by = ir_int(a, (int64_t)below(s, 3) + 1);
        map->m--;
        map->to[0] = ir_add(a, ir_mul(a, map->to[0], by), map->to[map->m]);
    }
    return map;
}

// Return a random argument for a letter of a signature, in the kernel.
static struct sched_value argument(struct subject *s, const struct handles *h,
                                   char letter)
{
    static const char *const keys[] = {"hint", "mark"};
    struct sched_value v = {.kind = VALUE_int};
    bool is_stage = letter == 's' || (letter == 't' && below(s, 2));
    if (is_stage && h->stages.n) {
        v.kind = VALUE_stage;
        v.stmt = h->stages.at[below(s, h->stages.n)];
    } else if (strchr("lts", letter)) {
        v.kind = VALUE_loop;
        v.stmt = h->loops.at[below(s, h->loops.n)];
    } else if (letter == 'a') {
        v.kind = VALUE_array;
        bool any = h->n_params == h->arrays.n || !below(s, 8);
        size_t first = any ? 0 : h->n_params;
        v.buffer = h->arrays.at[first + below(s, h->arrays.n - first)];
    } else if (letter == 'm') {
        v.kind = VALUE_map;
        v.map = random_map(s, (uint32_t)below(s, 3) + 1);
    } else if (letter == 'o') {
        v.kind = VALUE_space;
        v.space = (enum space)below(s, SPACE_COUNT);
    } else if (letter == 'x') {
        v.kind = VALUE_axis;
        v.axis = (enum axis)(AXIS_block_x + (int)below(s, 9));
    } else if (letter == 'k') {
        v.kind = VALUE_key;
        v.key = str_name(&s->names, keys[below(s, 2)]);
    } else if (letter == 'f' && below(s, 2)) {
        v.kind = VALUE_any;
    } else {
        v.number = (int64_t)below(s, 6);
    }
    return v;
}

// Let a loop behind a stage often be one around it.
static void relate(struct subject *s, struct pass *p, struct sched_call *c)
{
    const struct sched_value *stage = &c->args.at[c->args.n - 2];
    struct sched_value *loop = &c->args.at[c->args.n - 1];
    if (loop->kind != VALUE_loop || stage->kind != VALUE_stage ||
        below(s, 4) == 0)
        return;
    size_t n;
    struct ir_path path = sched_path(p, stage->stmt);
    struct ir_stmt **loops = sched_loops(p, &path, &n);
    if (n)
        loop->stmt = loops[below(s, n)];
}

// Call a random primitive with random arguments.
static void call(struct subject *s, struct pass *p)
{
    struct handles h = {.arena = &s->scratch};
    struct sched_call c = {.pass = p};
    c.prim = (enum sched_prim)below(s, PRIM_COUNT);
    const char *letters = sched_prim_info(c.prim)->arguments;
    see_params(p->kernel, &h);
    ir_each_stmt(&p->kernel->body, see_handle, &h);
    for (const char *at = letters; *at;) {
        bool marked = at[1] && strchr("+?*", at[1]);
        bool skip = marked && at[1] != '+' && below(s, 2);
        if (!skip)
            vec_push(&s->scratch, &c.args, argument(s, &h, *at));
        if (!skip && c.args.n > 1)
            relate(s, p, &c);
        bool again = !skip && marked && at[1] != '?' && below(s, 2);
        at += again ? 0 : marked ? 2 : 1;
    }
    bool needs_stage = strchr(letters, 's') != NULL;
    if (!needs_stage || h.stages.n)
        sched_run(&c);
}

// Return the number of elements of an array, at most ELEMENTS_MOST.
static size_t elements(const struct ir_kernel *k, const struct ir_buffer *b,
                       const struct eval_argument *args)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < b->rank; i++) {
        int64_t extent;
        assert_true(ir_eval_int(k, args, b->shape[i], &extent));
        n *= extent;
    }
    assert_true(n <= ELEMENTS_MOST);
    return (size_t)n;
}

// Fill the arguments from a seed, so that two kernels get the same.  Results
// begin as 0: an empty sum stores nothing as a stage, and 0 when decomposed.
static void fill(struct subject *s, const struct ir_kernel *k, uint64_t seed,
                 struct eval_argument *args)
{
    uint64_t kept = s->random;
    s->random = seed;
    for (size_t i = 0; i < k->params.n; i++) {
        if (k->params.at[i].var)
            args[i].scalar.i = (int64_t)below(s, SIZE_MOST);
    }
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b)
            continue;
        size_t n = elements(k, b, args);
        int32_t *data = arena_array(&s->scratch, int32_t, n + 1);
        for (size_t e = 0; e < n; e++)
            data[e] = b->role == ROLE_output ? 0 : (int32_t)below(s, 100);
        args[i] =
            (struct eval_argument){.data = data, .size = n * sizeof *data};
    }
    s->random = kept;
}

// Check that two kernels compute the same.
static void compare(struct subject *s, const struct ir_kernel *a,
                    const struct ir_kernel *b, const char *text)
{
    uint64_t seed = below(s, 1u << 30) + 1;
    struct eval_argument x[8] = {0}, y[8] = {0};
    fill(s, a, seed, x);
    fill(s, b, seed, y);
    struct eval_result r = ir_eval(&s->scratch, a, x, 0);
    assert_int_equal(r.status, EVAL_DONE);
    r = ir_eval(&s->scratch, b, y, 0);
    if (r.status != EVAL_DONE)
        fail_msg("%s\n%s", r.text, text);
    for (size_t i = 0; i < a->params.n; i++) {
        if (x[i].size && memcmp(x[i].data, y[i].data, x[i].size) != 0)
            fail_msg("argument %zu differs:\n%s", i, text);
    }
}

// Run a loop whose iterations are said to be independent backwards; one after
// another unless they wait for each other.  Those of a reduction, whose first
// one starts it, stay as they are.
static void see_parallel(struct ir_stmt *s, void *context)
{
    struct pass *p = context;
    struct ir_for *f = &s->u.loop;
    enum axis_kind kind =
        s->kind == STMT_for ? axis_kind(f->axis) : AXIS_SERIAL;
    if (kind == AXIS_SERIAL || kind == AXIS_UNROLL || ir_loop_reduces(f))
        return;
    struct ir_expr *last = ir_sub(p->arena, f->to, ir_int(p->arena, 1));
    sched_renumber(p, s, ir_sub(p->arena, last, ir_read(p->arena, f->var)));
    if (!sched_has(&f->body, STMT_barrier))
        f->axis = AXIS_serial;
}

// Check a kernel itself, and against the one that it was made from.
static void check(struct subject *s, const struct ir_kernel *before,
                  const struct ir_kernel *after)
{
    struct buf text = {0};
    ir_print_kernel(&text, after);
    const char *copy = arena_copy(&s->scratch, text.data, text.n);
    struct source source = {"printed", copy, text.n};
    buf_free(&text);
    const char *fault = ir_check(&s->scratch, after);
    if (fault)
        fail_msg("%s\n%s", fault, copy);
    struct ir_kernel *again =
        ir_parse_kernel(&s->arena, &s->names, &source, &s->diags);
    if (!again || !ir_kernel_equal(&s->arena, again, after, &fault))
        fail_msg("does not read back: %s\n%s", fault ? fault : "", copy);
    struct pass p = {.kernel = again, .arena = &s->arena};
    p.scratch = &s->scratch;
    for (int i = 0; i < 3; i++)
        compare(s, before, after, copy);
    ir_each_stmt(&again->body, see_parallel, &p);
    compare(s, before, again, copy);
    struct diag_list ignored = {.arena = &s->scratch};
    struct pass lower = {.kernel = ir_copy_kernel(&s->arena, after),
                         .arena = &s->arena,
                         .scratch = &s->scratch,
                         .names = &s->names,
                         .diags = &ignored};
    if (pass_crossthread(&lower) == PASS_CHANGED)
        compare(s, before, lower.kernel, copy);
}

// Check what lowering makes of virtual threads and stages, if the arrays fit
// where they are.
static void check_lowered(struct subject *s, struct pass *p,
                          const struct ir_kernel *before)
{
    static const enum pass_name passes[] = {PASS_vthreads, PASS_guards};
    struct pass_options options = {.checked = true};
    struct pass copy = *p;
    copy.kernel = ir_copy_kernel(&s->arena, p->kernel);
    if (!passes_run_one(&copy, PASS_buffers, &options))
        return;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        assert_true(passes_run_one(&copy, passes[i], &options));
        check(s, before, copy.kernel);
    }
}

// Apply one random sequence, then what binds the rest.
static void run_round(struct subject *s, const struct ir_kernel *kernel)
{
    struct diag_list ignored = {.arena = &s->scratch};
    struct pass p = {.kernel = ir_copy_kernel(&s->arena, kernel),
                     .arena = &s->arena,
                     .scratch = &s->scratch,
                     .names = &s->names,
                     .diags = &ignored};
    uint64_t n = below(s, CALLS_MOST + 1);
    for (uint64_t i = 0; i < n; i++)
        call(s, &p);
    check(s, kernel, p.kernel);
    check_lowered(s, &p, kernel);
    if (below(s, 2) ? schedule_complete(&p) : schedule_default(&p, true))
        check(s, kernel, p.kernel);
    arena_reset(&s->scratch);
}

// Run all rounds on one kernel.
static void test_kernel(void **state)
{
    const char *text = *state;
    struct subject s = {.random = 88172645463325252u};
    struct source source = {"kernel", text, strlen(text)};
    s.names.arena = s.diags.arena = &s.arena;
    assert_true(frontend_parse(&s.arena, &s.names, &source, false, &s.diags,
                               &s.program));
    for (int i = 0; i < ROUNDS; i++)
        run_round(&s, s.program.kernels.at[0]);
    arena_reset(&s.arena);
}

int main(void)
{
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    struct CMUnitTest tests[KERNELS];
    for (int i = 0; i < KERNELS; i++)
        tests[i] =
            (struct CMUnitTest){.name = kernels[i].name,
                                .test_func = test_kernel,
                                .initial_state = (char *)kernels[i].text};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
