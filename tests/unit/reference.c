// Reference programs: printed as C, compiled, loaded, and compared with the
// evaluator on the same data; skipped where there is no C compiler.

#include "tools/libingot/reference.h"

#include "frontend/frontend.h"
#include "ir/base/buf.h"
#include "ir/base/num.h"
#include "ir/eval.h"
#include "support/kernel_text.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PARAMS_MOST = 64 };

// Return a random number of 64 bits.
static uint64_t random_bits(uint64_t *seed)
{
    return num_mix(*seed += UINT64_C(0x9e3779b97f4a7c15));
}

// A kernel with its data, twice: what the evaluator and what the program
// makes of it.
struct trial {
    struct arena arena;
    const struct ir_kernel *k;
    size_t elements[PARAMS_MOST];
    struct eval_argument eval[PARAMS_MOST];
    void *program[PARAMS_MOST]; // what ingot_reference gets
    int64_t sizes[PARAMS_MOST];
    bool is_wild; // data are random bits, rather than moderate numbers
    double slack; // what rounding errors add up to, in units of one
};

// Return how many elements the storage of an array has.
static size_t count_elements(const struct trial *t, const struct ir_buffer *b)
{
    int64_t n = 1, extent, stride;
    for (uint32_t i = 0; i < b->rank; i++) {
        assert_true(ir_eval_int(t->k, t->eval, b->shape[i], &extent));
        if (b->strides) {
            assert_true(ir_eval_int(t->k, t->eval, b->strides[i], &stride));
            n += (extent - 1) * stride;
        } else {
            n *= extent;
        }
    }
    return (size_t)n;
}

// What integers are: from `low`, as many as `n`.
struct limits {
    int64_t low;
    uint64_t n;
};

// Return what the elements of an array are: as the kernel says, or 0 to 99.
static struct limits limits_of(const struct trial *t, size_t at)
{
    struct limits r = {0, 100};
    vec_foreach(x, &t->k->terms.ranges) {
        int64_t high;
        if (x->parameter != at || !ir_eval_int(t->k, t->eval, x->low, &r.low) ||
            !ir_eval_int(t->k, t->eval, x->high, &high))
            continue;
        r.n = high > r.low ? (uint64_t)(high - r.low) : 1;
    }
    return r;
}

// Fill an element with data.
static void fill(const struct trial *t, struct limits limits, struct type type,
                 void *element, uint64_t bits)
{
    double unit = (double)(bits >> 40) / (1 << 24);
    if (t->is_wild && !type_is_float(type))
        eval_store_int(type, element, (int64_t)(bits >> bits % 60));
    else if (t->is_wild && type_bits(type) < 32)
        memcpy(element, &bits, type_bytes(type));
    else if (t->is_wild)
        eval_store_float(type, element,
                         ldexp(unit - 0.5, (int)(bits % 160) - 80));
    else if (type_is_float(type))
        eval_store_float(type, element, unit * 4 - 2);
    else
        eval_store_int(type, element, limits.low + (int64_t)(bits % limits.n));
}

// Make the data of one array parameter.
static void make_array(struct trial *t, size_t at, uint64_t *seed)
{
    const struct ir_buffer *b = t->k->params.at[at].buffer;
    size_t size = type_bytes(b->elem);
    size_t n = t->elements[at] = count_elements(t, b);
    char *data = arena_alloc(&t->arena, n * size);
    for (size_t i = 0; i < n && b->role != ROLE_output; i++)
        fill(t, limits_of(t, at), b->elem, data + i * size, random_bits(seed));
    t->eval[at].data = data;
    t->eval[at].size = n * size;
    t->program[at] = arena_copy(&t->arena, data, n * size);
}

// Make arguments: every size is `size`, scalars are 1.5 or 3.
static void make_arguments(struct trial *t, int64_t size)
{
    uint64_t seed = 1;
    assert_true(t->k->params.n <= PARAMS_MOST);
    for (size_t i = 0; i < t->k->params.n; i++) {
        const struct ir_var *var = t->k->params.at[i].var;
        if (!var)
            continue;
        t->eval[i].scalar.i = type_is_index(var->type) ? size : 3;
        if (type_is_float(var->type))
            t->eval[i].scalar.f = 1.5;
        t->program[i] = arena_alloc(&t->arena, 16);
        if (type_is_float(var->type))
            eval_store_float(var->type, t->program[i], 1.5);
        else
            eval_store_int(var->type, t->program[i], t->eval[i].scalar.i);
    }
    for (size_t i = 0; i < t->k->params.n; i++)
        if (t->k->params.at[i].buffer)
            make_array(t, i, &seed);
}

// Compile a C program into a library and run its function.
static void run_program(struct trial *t, const char *program)
{
    char folder[] = "/tmp/ingot-reference-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *source = arena_printf(&t->arena, "%s/r.c", folder);
    const char *library = arena_printf(&t->arena, "%s/r.so", folder);
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    fputs(program, f);
    fclose(f);
    const char *command =
        arena_printf(&t->arena, "cc -std=c11 -w -O1 -fPIC -shared -o %s %s -lm",
                     library, source);
    int status = system(command);
    void *handle = status ? NULL : dlopen(library, RTLD_NOW);
    void (*run)(void **) = NULL;
    if (handle)
        *(void **)&run = dlsym(handle, "ingot_reference");
    unlink(source);
    unlink(library);
    rmdir(folder);
    assert_non_null(run);
    run(t->program);
    dlclose(handle);
}

enum { STEPS_MOST = 20 * 1000 * 1000 };

// Return how far apart results may be after one operation, relative to their
// size.
static double tolerance(struct type type)
{
    switch ((int)type.kind) {
    case TYPE_f64: return 0x1p-51;
    case TYPE_f32: return 0x1p-22;
    case TYPE_f16: return 0x1p-9;
    case TYPE_bf16: return 0x1p-6;
    }
    return 0x1p-2;
}

// Compare one element.
static bool is_close(const struct trial *t, struct type type, const void *a,
                     const void *b)
{
    if (!type_is_float(type))
        return eval_load_int(type, a) == eval_load_int(type, b);
    double x = eval_load_float(type, a), y = eval_load_float(type, b);
    return (isnan(x) && isnan(y)) || x == y ||
           fabs(x - y) <= t->slack * tolerance(type) * (1 + fabs(x));
}

// Compare all results.
static void compare(const struct trial *t)
{
    for (size_t i = 0; i < t->k->params.n; i++) {
        const struct ir_buffer *b = t->k->params.at[i].buffer;
        if (!b || b->role == ROLE_input)
            continue;
        size_t size = type_bytes(b->elem);
        for (size_t at = 0; at < t->elements[i]; at++) {
            const char *x = (char *)t->eval[i].data + at * size;
            const char *y = (char *)t->program[i] + at * size;
            if (!is_close(t, b->elem, x, y))
                print_error("%s: %s[%d]\n", t->k->name, b->name, (int)at);
            assert_true(is_close(t, b->elem, x, y));
        }
    }
}

// Run a kernel both ways; false if its `where` refuses the size, or evaluating
// it takes too long.
static bool agrees(const struct ir_kernel *k, int64_t size, bool is_wild,
                   double slack)
{
    struct trial t = {.k = k, .is_wild = is_wild, .slack = slack};
    struct buf program = {0};
    make_arguments(&t, size);
    struct eval_result r = ir_eval(&t.arena, k, t.eval, STEPS_MOST);
    if (r.status == EVAL_FAULT)
        print_error("%s: %s\n", k->name, r.text);
    assert_int_not_equal(r.status, EVAL_FAULT);
    if (r.status == EVAL_DONE) {
        reference_print(&program, k);
        run_program(&t, program.data);
        compare(&t);
    }
    buf_free(&program);
    arena_reset(&t.arena);
    return r.status == EVAL_DONE;
}

// Return whether the machine has a C compiler.
static bool has_compiler(void)
{
    return system("cc --version >/dev/null 2>&1") == 0;
}

// Every integer operation, on every type, wrapping included.
static void integer_operations(void **state)
{
    (void)state;
    if (!has_compiler())
        skip();
    static const char *const names[] = {"i8", "i16", "i32", "i64",
                                        "u8", "u16", "u32", "u64"};
    for (int i = 0; i < 8; i++) {
        const char *t = names[i];
        struct arena a = {0};
        struct ir_kernel *k = kernel_text(
            &a, arena_printf(&a,
                             "kernel k(n: int, A: %s[n], B: %s[n], s: %s,"
                             " H: %s[8] inout)"
                             " -> (C: %s[16, n], D: bool[8, n]) {\n"
                             "    for i in 0..n {\n"
                             "        let a = A[i]\n"
                             "        let b = B[i]\n"
                             "        let d = b / 4 * 2 + 1\n"
                             "        C[0, i] = a + b\n"
                             "        C[1, i] = a - b\n"
                             "        C[2, i] = a * b\n"
                             "        C[3, i] = a / d\n"
                             "        C[4, i] = a %% d\n"
                             "        C[5, i] = a << (b & 7)\n"
                             "        C[6, i] = a >> (b & 7)\n"
                             "        C[7, i] = a & b | s\n"
                             "        C[8, i] = a ^ ~b\n"
                             "        C[9, i] = -a\n"
                             "        C[10, i] = abs(a)\n"
                             "        C[11, i] = min(a, b)\n"
                             "        C[12, i] = max(a, b)\n"
                             "        C[13, i] = ceildiv(a & 63, (b & 7) + 1)\n"
                             "        C[14, i] = a < b ? a : s\n"
                             "        C[15, i] = %s(i * 1000003)\n"
                             "        D[0, i] = a < b\n"
                             "        D[1, i] = a <= b || a == s\n"
                             "        D[2, i] = a > b && a != s\n"
                             "        D[3, i] = !(a >= b)\n"
                             "        atomic_add(H[0], a)\n"
                             "        atomic_min(H[1], a)\n"
                             "        atomic_max(H[2], a)\n"
                             "        atomic_and(H[3], a)\n"
                             "        atomic_or(H[4], a)\n"
                             "        atomic_xor(H[5], a)\n"
                             "        atomic_exchange(H[6], a)\n"
                             "        atomic_cas(H[7], s, a)\n"
                             "    }\n"
                             "}\n",
                             t, t, t, t, t, t));
        assert_true(agrees(k, 200, true, 0));
        arena_reset(&a);
    }
}

// Every floating operation, on every type.
static void floating_operations(void **state)
{
    (void)state;
    if (!has_compiler())
        skip();
    static const char *const names[] = {"f16", "bf16", "f32", "f64"};
    for (int i = 0; i < 4; i++) {
        const char *t = names[i];
        struct arena a = {0};
        struct ir_kernel *k = kernel_text(
            &a, arena_printf(&a,
                             "kernel k(n: int, A: %s[n], B: %s[n], s: %s,"
                             " H: %s[1] inout)"
                             " -> (C: %s[34, n], D: bool[4, n]) {\n"
                             "    for i in 0..n {\n"
                             "        let a = A[i]\n"
                             "        let b = B[i]\n"
                             "        C[0, i] = a + b\n"
                             "        C[1, i] = a - b\n"
                             "        C[2, i] = a * b\n"
                             "        C[3, i] = a / (abs(b) + 1.0)\n"
                             "        C[4, i] = -a\n"
                             "        C[5, i] = abs(a)\n"
                             "        C[6, i] = min(a, b)\n"
                             "        C[7, i] = max(a, b)\n"
                             "        C[8, i] = relu(a)\n"
                             "        C[9, i] = fma(a, b, s)\n"
                             "        C[10, i] = sqrt(abs(a))\n"
                             "        C[11, i] = rsqrt(abs(a) + 1.0)\n"
                             "        C[12, i] = exp(a)\n"
                             "        C[13, i] = exp2(a)\n"
                             "        C[14, i] = log(abs(a) + 1.0)\n"
                             "        C[15, i] = log2(abs(a) + 1.0)\n"
                             "        C[16, i] = log1p(abs(a))\n"
                             "        C[17, i] = expm1(a)\n"
                             "        C[18, i] = sin(a)\n"
                             "        C[19, i] = cos(a)\n"
                             "        C[20, i] = tan(a / 2.0)\n"
                             "        C[21, i] = asin(a / 4.0)\n"
                             "        C[22, i] = acos(a / 4.0)\n"
                             "        C[23, i] = atan(a)\n"
                             "        C[24, i] = atan2(a, b)\n"
                             "        C[25, i] = sinh(a)\n"
                             "        C[26, i] = cosh(a)\n"
                             "        C[27, i] = tanh(a)\n"
                             "        C[28, i] = erf(a)\n"
                             "        C[29, i] = pow(abs(a), b)\n"
                             "        C[30, i] = fmod(a, s)\n"
                             "        C[31, i] = floor(a) + ceil(b)\n"
                             "        C[32, i] = trunc(a) + rint(b)\n"
                             "        C[33, i] = isnan(a) || a >= b ? a : s\n"
                             "        D[0, i] = a < b\n"
                             "        D[1, i] = a <= b && a == a\n"
                             "        D[2, i] = a > b || a != b\n"
                             "        D[3, i] = a >= b\n"
                             "        H[0] = H[0] + a\n"
                             "        atomic_add(H[0], b)\n"
                             "    }\n"
                             "}\n",
                             t, t, t, t, t));
        assert_true(agrees(k, 50, false, 8));
        arena_reset(&a);
    }
}

// Every conversion, on random bits.
static void conversions(void **state)
{
    (void)state;
    if (!has_compiler())
        skip();
    for (int from = 0; from <= TYPE_f8e5m2; from++) {
        struct arena a = {0};
        struct buf text = {0};
        const char *name = type_name(type_scalar((enum type_kind)from));
        buf_printf(&text, "kernel k(n: int, A: %s[n]) -> (", name);
        for (int to = 0; to <= TYPE_f8e5m2; to++)
            buf_printf(&text, "%sC%d: %s[n]", to ? ", " : "", to,
                       type_name(type_scalar((enum type_kind)to)));
        buf_text(&text, ") {\n    for i in 0..n {\n        let a = A[i]\n");
        for (int to = 0; to <= TYPE_f8e5m2; to++)
            buf_printf(&text, "        C%d[i] = %s(a)\n", to,
                       type_name(type_scalar((enum type_kind)to)));
        buf_text(&text, "    }\n}\n");
        assert_true(agrees(kernel_text(&a, text.data), 400, true, 0));
        buf_free(&text);
        arena_reset(&a);
    }
}

// Conversions round in the middle of an expression; variables, branches,
// local arrays, strides and steps.
static void statements(void **state)
{
    (void)state;
    if (!has_compiler())
        skip();
    struct arena a = {0};
    struct ir_kernel *k = kernel_text(
        &a,
        "kernel k(n: int, A: f32[n, 3] strides [5, 1], B: f8e4m3[n], s: f16,"
        " I: i32[n, 2] strides [4, 2] inout)"
        " -> (C: f16[n], E: f32[n]) {\n"
        "    alloc W: bf16[n] in global\n"
        "    for i in 0..n {\n"
        "        alloc part: f32[2, 3] in local\n"
        "        var sum: f32 = 0.0\n"
        "        for j in 0..3 {\n"
        "            part[i % 2, j] = A[i, j] * f32(B[i])\n"
        "            sum = sum + part[i % 2, j]\n"
        "        }\n"
        "        W[i] = bf16(sum)\n"
        "        if sum > 0.0 { I[i, 0] = i32(i) } else { I[i, 1] = i32(sum * 9.0) }\n"
        "        C[i] = f16(f32(f16(sum)) / 3.0) * s\n"
        "    }\n"
        "    for i in 0..n step 2 {\n"
        "        if i + 1 < n { E[i + 1] = f32(W[i]) * 2.0 }\n"
        "        E[i] = -f32(W[i])\n"
        "    }\n"
        "}\n");
    assert_true(agrees(k, 31, false, 4));
    arena_reset(&a);
}

// Return how often `word` occurs in the program of a kernel.
static int occurrences(const struct ir_kernel *k, const char *word)
{
    struct buf program = {0};
    int n = 0;
    reference_print(&program, k);
    for (const char *at = program.data; (at = strstr(at, word)); at++)
        n++;
    buf_free(&program);
    return n;
}

// A nest of loops around a stage, and how many loops are parallel.
struct nest_row {
    const char *nest;
    int parallel;
};

static const struct nest_row nests[] = {
    {"for i in 0..n { for j in 0..n {"
     " stage C(vi in n = i, vj in n = j) { C[vi, vj] = 1 } } }",
     2},
    {"for i in 0..n { for j in 0..n {"
     " stage C(vi in n = i, reduce vj in n = j) { C[vi, 0] = C[vi, 0] + 1 } } }",
     1},
    {"for i in 0..n { for j in 0..n {"
     " stage C(vi in n = i, vj in n = j) { C[vj, vi] = 1 } } }",
     2},
    {"for i in 0..n { for j in 0..i {"
     " stage C(vi in n = i, vj in n = j) { C[vi, vj] = 1 } } }",
     1},
    {"for i in 0..n { for j in 0..n {"
     " stage C(vi in n = i, vj in n = j) { C[vi, vj] = C[vj, vi] } } }",
     0},
    {"for i in 0..n { for j in 0..n {"
     " stage C(vi in n = i, vj in n = j) { C[0, vj] = 1 } } }",
     0},
    {"for i in 0..n { for j in 0..n {"
     " stage C(vi in n = i / 1 * 1 + 0 * j, vj in n = j) { C[vi, vj] = 1 } } }",
     2},
    {"for i in 0..n { for j in 0..1 {"
     " stage C(vi in n = i + j, vj in n = j) { C[vi, vj] = 1 } } }",
     0},
    {"for i in 0..n { for j in 0..n { C[i, j] = 1 } }", 0},
};

// Only loops whose iterations write different elements run in parallel.
static void parallel_loops(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
        struct arena a = {0};
        struct ir_kernel *k = kernel_text(
            &a, arena_printf(&a, "kernel k(n: int) -> C: i32[n, n] {\n%s\n}\n",
                             nests[i].nest));
        int two = occurrences(k, "parallel for collapse(2)");
        int one = occurrences(k, "parallel for collapse(1)");
        if (two * 2 + one != nests[i].parallel)
            print_error("%s\n", nests[i].nest);
        assert_int_equal(two * 2 + one, nests[i].parallel);
        arena_reset(&a);
    }
}

// Return where the loop over a variable stands in the program of a product
// with this right side.
static long loop_place(const char *product, const char *loop)
{
    struct arena a = {0};
    struct buf program = {0};
    struct ir_kernel *k = kernel_text(
        &a,
        arena_printf(
            &a,
            "kernel k(n: int, A: f32[n, n], B: f32[n, n]) -> C: f32[n, n] {\n"
            "    for i in 0..n { for j in 0..n { for k in 0..n {\n"
            "        stage C(vi in n = i, vj in n = j, reduce vk in n = k) {\n"
            "            init { C[vi, vj] = 0.0 }\n"
            "            C[vi, vj] = C[vi, vj] + %s\n"
            "        }\n"
            "    } } }\n"
            "}\n",
            product));
    reference_print(&program, k);
    const char *at = strstr(program.data, loop);
    assert_non_null(at);
    long place = at - program.data;
    buf_free(&program);
    arena_reset(&a);
    return place;
}

// The last parallel loop goes inside the reduction where that reads along
// rows, and stays outside where the reduction does.
static void loop_order(void **state)
{
    (void)state;
    const char *j = "for (int64_t j_", *k = "for (int64_t k_";
    const char *rows = "A[vi, vk] * B[vk, vj]";
    const char *columns = "A[vi, vk] * B[vj, vk]";
    assert_true(loop_place(rows, k) < loop_place(rows, j));
    assert_true(loop_place(columns, j) < loop_place(columns, k));
}

// Barriers, launches and vectors are not for the printer.
static void unsupported(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "kernel k(n: int) -> C: f32[n] {\n"
        "    for t in 0..32 @thread.x {\n        barrier\n    }\n}\n",
        "kernel k(n: int) -> C: f32[n] {\n"
        "    C[ramp(0, 4)] = broadcast(1.0, 4)\n}\n",
        "kernel k(n: int) -> C: f32[n]\n    level launch\n{\n"
        "    launch k grid(n, 1, 1) block(1, 1, 1) { C[block.x] = 1.0 }\n}\n",
    };
    for (int i = 0; i < 3; i++) {
        struct arena a = {0};
        assert_false(reference_supported(kernel_text(&a, texts[i])));
        arena_reset(&a);
    }
}

// Compare the kernels of one file; returns how many were.
static int compare_file(const char *path)
{
    struct arena a = {0};
    struct str_table names = {.arena = &a};
    struct diag_list diags = {.arena = &a};
    struct program program = {0};
    struct buf text = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        buf_char(&text, (char)c);
    fclose(f);
    struct source source = {path, text.data, text.n};
    int n = 0;
    assert_true(frontend_parse(&a, &names, &source, false, &diags, &program));
    for (size_t i = 0; i < program.kernels.n; i++)
        if (reference_supported(program.kernels.at[i]))
            n += agrees(program.kernels.at[i], 24, false, 64);
    buf_free(&text);
    arena_reset(&a);
    return n;
}

// Return whether a file is of the sample: under an instrument one in four is, by
// its name.
static bool is_sampled(const char *name)
{
    unsigned sum = 0;
    while (*name)
        sum += (unsigned char)*name++;
    return sum % TEST_SHARE == 0;
}

// Compare the kernels of a folder; returns how many have a program.
static int compare_folder(struct arena *a, const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".ing") && is_sampled(e->d_name))
            n += compare_file(arena_printf(a, "%s/%s", folder, e->d_name));
    closedir(d);
    return n;
}

// Every kernel of the zoo that has a program; under an instrument those of a sample of
// the files.
static void the_zoo(void **state)
{
    (void)state;
    const char *root = getenv("SOURCE_DIR");
    if (!root || !has_compiler())
        skip();
    struct arena a = {0};
    int n = compare_folder(&a, arena_printf(&a, "%s/tests/kernels", root));
    n += compare_folder(&a, arena_printf(&a, "%s/tests/kernels/seeds", root));
    arena_reset(&a);
    assert_true(n >= 20 / TEST_SHARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_operations),
        cmocka_unit_test(floating_operations),
        cmocka_unit_test(conversions),
        cmocka_unit_test(statements),
        cmocka_unit_test(parallel_loops),
        cmocka_unit_test(loop_order),
        cmocka_unit_test(unsupported),
        cmocka_unit_test(the_zoo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
