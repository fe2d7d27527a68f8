// Tests of the generated header: names, expressions, and what the launch
// functions do, seen by compiling and running them.

#include "nvptx/package/c_expr.h"
#include "nvptx/package/c_names.h"
#include "nvptx/process.h"
#include "tests/unit/support/package_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGS_MOST = 40 };

// What tests/unit/Inputs/launch_driver.c prints.
static const char expected[] =
    "vadd <4 1 1, 256 1 1, 0> 1000 4096 4096 8192\n"
    "vadd <0 1 1, 256 1 1, 0> 0 0 0 0\n"
    "rejected 21 vadd: C: f32[n], aligned to 4 bytes\n"
    "rejected 20 vadd: n >= 0\n"
    "rejected 22 vadd: A: f32[n], aligned to 4 bytes\n"
    "rejected 23 vadd: A: f32[n], aligned to 4 bytes\n"
    "vadd <9007199254740992 1 1, 256 1 1, 0> 2305843009213693951 4096 4096 "
    "8192\n"
    "bytes 0 64 1\n"
    "workspace 0\n"
    "workspace 4352\n"
    "workspace 0\n"
    "too large 1\n"
    "negative 1\n"
    "softmax <10 1 1, 128 1 1, 0> 10 100 4096 8192 65536 65792\n"
    "softmax_1 <4 10 1, 32 8 1, 0> 10 100 4096 8192 65536 65792\n"
    "rejected 21 softmax: workspace: scratch memory, aligned to 256 bytes\n"
    "rejected 22 softmax: workspace: scratch memory, aligned to 256 bytes\n"
    "softmax <0 1 1, 128 1 1, 0> 0 100 4096 8192 0 0\n"
    "softmax_1 <4 0 1, 32 8 1, 0> 0 100 4096 8192 0 0\n"
    "rejected 23 softmax: X: f32[m, n], aligned to 4 bytes\n"
    "available 3? scale__i32 <2 3 1, 128 1 1, 0> 3 16 20 4:1065353216 4:-7 "
    "4098 4096 8192\n"
    "available 3? scale <8750 1 1, 128 1 1, 0> 70000 16 20 4:1065353216 4:5 "
    "4098 4096 8192\n"
    "rejected 20 scale: ld >= n\n"
    "rejected 20 scale: n % 8 == 0\n"
    "rejected 20 scale: alpha > 0.5\n"
    "rejected 20 scale: alpha > 0.5\n"
    "rejected 20 scale: m * n < 1000000000000\n"
    "rejected 20 scale: m * n < 1000000000000\n"
    "rejected 23 scale: X: f16[n, m] strides [1, ld], aligned to 2 bytes\n"
    "rejected 22 scale: W: f32[n], aligned to 16 bytes\n"
    "available 3? scale <0 1 1, 128 1 1, 0> 3 0 9223372036854775807 "
    "4:1065353216 4:5 0 0 0\n"
    "available 3? scale <1 1 1, 128 1 1, 0> 3 16 20 4:1065353216 4:-7 4098 "
    "4096 8192\n"
    "map of X: tiles of [32, 64] at 4096: 100 x 64, rows 64 apart, boxes 32 x "
    "64, swizzle 0\n"
    "map of e: tiles of [16, 32] at 66048: 100 x 64, rows 64 apart, boxes 16 x "
    "32, swizzle 128\n"
    "mapped <100 1 1, 128 1 1, 0> 100 4096 8192 65536 66048 128:0 128:128\n";

// Make the package of all kernels: `scale` has a variant that only the first
// of the two images holds.
static bool make_demo(struct fixture *f, bool embed, struct package_files *out)
{
    static const char *const texts[] = {fixture_vadd, fixture_softmax,
                                        fixture_guarded, fixture_mapped};
    static const char *const targets[] = {"compute_90", "compute_75"};
    static const char *const common[] = {"vadd", "softmax", "softmax_1",
                                         "scale", "mapped"};
    struct package p = fixture_package(f, "demo", texts, 4);
    struct package_kernel *scale = (struct package_kernel *)&p.kernels[2];
    const struct ir_kernel **variants =
        arena_array(&f->arena, const struct ir_kernel *, 2);
    variants[0] = fixture_kernel(f, fixture_guarded_i32);
    variants[1] = scale->source;
    scale->variants = variants;
    scale->n_variants = 2;
    fixture_images(f, &p, targets, 2);
    ((struct package_image *)p.images)[1].entries = common;
    ((struct package_image *)p.images)[1].n_entries = 5;
    p.embed = embed;
    return package_make(&f->arena, &p, &f->diags, out);
}

// Write a file.
static void write_file(const char *path, const struct buf *bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->n, file), bytes->n);
    assert_int_equal(fclose(file), 0);
}

// Run a command, given as words with blanks between them, with our PATH.
// Returns what it wrote, in the fixture's arena.
static const char *run(struct fixture *f, const char *command)
{
    const char *argv[ARGS_MOST + 1] = {"/usr/bin/env"};
    char *words = arena_printf(&f->arena, "%s", command), *next = NULL;
    size_t n = 2;
    argv[1] = arena_printf(&f->arena, "PATH=%s", getenv("PATH"));
    for (char *word = strtok_r(words, " ", &next); word && n < ARGS_MOST;
         word = strtok_r(NULL, " ", &next))
        argv[n++] = word;
    struct process p = {.argv = argv};
    process_run(&f->arena, &p, 1);
    if (p.end != PROCESS_EXITED || p.code != 0)
        fprintf(stderr, "%s\n%s\n", command, p.errors.data);
    assert_int_equal(p.end, PROCESS_EXITED);
    assert_int_equal(p.code, 0);
    const char *output = arena_copy(&f->arena, p.output.data, p.output.n);
    process_free(&p);
    return output;
}

// The header and a program that uses it, in a folder of its own.
struct program {
    struct fixture fixture;
    const char *source; // of the tests
    char folder[64];
};

// Make the folder; the test is skipped if it does not know its source.
static void start_program(struct program *p, bool embed)
{
    struct package_files files;
    char path[128];
    fixture_start(&p->fixture);
    p->source = getenv("SOURCE_DIR");
    if (!p->source) {
        fixture_end(&p->fixture);
        skip();
    }
    snprintf(p->folder, sizeof p->folder, "/tmp/ingot-header-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    assert_true(make_demo(&p->fixture, embed, &files));
    snprintf(path, sizeof path, "%s/demo.h", p->folder);
    write_file(path, &files.header);
    package_free(&files);
}

// Remove the folder.
static void end_program(struct program *p)
{
    run(&p->fixture,
        arena_printf(&p->fixture.arena, "/bin/rm -r %s", p->folder));
    fixture_end(&p->fixture);
}

// Return the command that compiles the program in a language.
static const char *compile_command(struct program *p, const char *compiler,
                                   const char *language)
{
    return arena_printf(&p->fixture.arena,
                        "%s %s -Wall -Wextra -Wconversion -Wsign-conversion "
                        "-Wshadow -Wundef -pedantic -Werror -I%s "
                        "-I%s/runtime -o %s/program %s/tests/unit/Inputs/"
                        "launch_driver.c",
                        compiler, language, p->folder, p->source, p->folder,
                        p->source);
}

static void launch_functions_work(void **state)
{
    (void)state;
    struct program p;
    struct fixture *f = &p.fixture;
    start_program(&p, false);
    const char *cc = process_find(&f->arena, "cc", NULL, 0, getenv("PATH"));
    if (!cc)
        skip();
    run(f, compile_command(&p, cc, "-std=c99"));
    assert_string_equal(run(f, arena_printf(&f->arena, "%s/program", p.folder)),
                        expected);
    end_program(&p);
}

static void header_is_clean_in_every_language(void **state)
{
    static const char *const languages[] = {"-std=c99", "-std=c11", "-std=c17"};
    static const char *const plus[] = {"-x c++ -std=c++11", "-x c++ -std=c++17",
                                       "-x c++ -std=c++20"};
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const plus_compilers[] = {"g++", "clang++"};
    (void)state;
    struct program p;
    start_program(&p, true);
    struct arena *a = &p.fixture.arena;
    for (int i = 0; i < 2; i++) {
        const char *path = getenv("PATH");
        const char *cc = process_find(a, compilers[i], NULL, 0, path);
        const char *cxx = process_find(a, plus_compilers[i], NULL, 0, path);
        for (int k = 0; k < 3; k++) {
            if (cc)
                run(&p.fixture, compile_command(&p, cc, languages[k]));
            if (cxx)
                run(&p.fixture, compile_command(&p, cxx, plus[k]));
        }
    }
    end_program(&p);
}

// The same package gives the same files.
static void is_reproducible(void **state)
{
    (void)state;
    struct fixture one, two;
    struct package_files first, second;
    fixture_start(&one);
    fixture_start(&two);
    assert_true(make_demo(&one, true, &first));
    assert_true(make_demo(&two, true, &second));
    assert_string_equal(first.header.data, second.header.data);
    assert_string_equal(first.manifest.data, second.manifest.data);
    assert_int_equal(first.fatbin.n, second.fatbin.n);
    assert_memory_equal(first.fatbin.data, second.fatbin.data, first.fatbin.n);
    package_free(&first);
    package_free(&second);
    fixture_end(&one);
    fixture_end(&two);
}

// ---- Names ----------------------------------------------------------------

static void knows_taken_names(void **state)
{
    (void)state;
    assert_null(c_name_taken("vadd"));
    assert_string_equal(c_name_taken("double"), "a keyword of C or C++");
    assert_string_equal(c_name_taken("template"), "a keyword of C or C++");
    assert_string_equal(c_name_taken("NULL"), "a macro of usual headers");
    assert_string_equal(c_name_taken("int64_t"), "a type of usual headers");
    assert_string_equal(c_name_taken("CUstream"), "a name of CUDA's driver");
    assert_string_equal(c_name_taken("cuCtxCreate"), "a name of CUDA's driver");
    assert_null(c_name_taken("cube"));
    assert_null(c_name_taken("CUBE"));
    assert_string_equal(c_name_taken("INT64_MAX"), "a macro of usual headers");
    assert_string_equal(c_name_taken("stream"),
                        "a name inside launch functions");
    assert_string_equal(c_name_taken("exp"), "a function of the C library");
    assert_string_equal(c_name_taken("ingot_x"), "a name of the runtime");
    assert_string_equal(c_name_taken("_x"), "reserved by C");
}

static void renames_parameters(void **state)
{
    static const char text[] =
        "kernel f(stream: int, stream_: int, double: f32[stream], f: f32[1]) ->"
        " Y: f32[stream]\n    level flat\n{\n}\n";
    static const char *const wanted[] = {"stream__", "stream_", "double_", "f_",
                                         "Y"};
    (void)state;
    struct fixture f;
    fixture_start(&f);
    const struct ir_kernel *k = fixture_kernel(&f, text);
    const char **names = c_parameter_names(&f.arena, k, "");
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(names[i], wanted[i]);
    fixture_end(&f);
}

static void makes_identifiers(void **state)
{
    (void)state;
    struct arena a = {0};
    struct buf out = {0};
    assert_string_equal(c_identifier(&a, "gemm-2.x"), "gemm_2_x");
    assert_string_equal(c_identifier(&a, "2d"), "k_2d");
    assert_string_equal(c_identifier(&a, ""), "k_");
    c_string(&out, "a\"b\\c\n?\?/\xff");
    assert_string_equal(out.data, "a\\\"b\\\\c\\012\\077\\077/\\377");
    assert_string_equal(path_base("/a/b.ing"), "b.ing");
    assert_string_equal(path_base("b.ing"), "b.ing");
    buf_free(&out);
    arena_reset(&a);
}

// Check what is reported about a package of these kernels.
static void refuses_names(const char *name, const char *const *texts, size_t n,
                          const char *message)
{
    static const char *const target[] = {"compute_75"};
    struct fixture f;
    struct package_files files;
    fixture_start(&f);
    struct package p = fixture_package(&f, name, texts, n);
    fixture_images(&f, &p, target, 1);
    assert_false(package_make(&f.arena, &p, &f.diags, &files));
    assert_int_equal(f.diags.all.at[0].code, D_name_taken);
    assert_string_equal(fixture_message(&f), message);
    assert_null(files.fatbin.data);
    fixture_end(&f);
}

static void refuses_taken_names(void **state)
{
    static const char *const keyword[] = {
        "kernel double(X: f32[1]) -> Y: f32[1]\n    level flat\n{\n}\n"};
    static const char *const twice[] = {
        fixture_softmax, "kernel softmax_workspace(X: f32[1]) -> Y: f32[1]\n"
                         "    level flat\n{\n}\n"};
    static const char *const table[] = {
        "kernel t_images(X: f32[1]) -> Y: f32[1]\n    level flat\n{\n}\n"};
    static const char *const fine[] = {fixture_vadd};
    (void)state;
    refuses_names("t", keyword, 1,
                  "`double` cannot be a name in C: it is a keyword of C or "
                  "C++");
    refuses_names("t", twice, 2,
                  "`softmax_workspace` cannot be a name in C: it is used twice "
                  "in the header");
    refuses_names("t", table, 1,
                  "`t_images` cannot be a name in C: it is used twice in the "
                  "header");
    refuses_names(
        "ingot", fine, 1,
        "`ingot.h` cannot be a name in C: it is the runtime's header");
}

// ---- Expressions ----------------------------------------------------------

// An expression of `where` and its C; NULL if C cannot compute it.
struct expression {
    const char *text, *c;
    bool has_checks;
};

static void prints_expressions(void **state)
{
    static const struct expression all[] = {
        {"n >= 1", "n >= 1", false},
        {"n % 8 == 0", "n % 8 == 0", false},
        {"n / 8 % 4 == 0", "n / 8 % 4 == 0", false},
        {"n % m == 0", "ingot_i64_mod(n, m, &overflow) == 0", true},
        {"n * m + 1 < 9000000000",
         "ingot_i64_add(ingot_i64_mul(n, m, &overflow), 1, &overflow) < "
         "INT64_C(9000000000)",
         true},
        {"n == 1 || m == 1 && n > 2", "(n == 1) || (m == 1 && n > 2)", false},
        {"!(n == m)", "!(n == m)", false},
        {"min(n, m) > -3", "ingot_i64_min(n, m) > (-3)", false},
        {"ceildiv(n, 4) <= m", "ingot_i64_ceildiv(n, 4, &overflow) <= m", true},
        {"(n < m ? n : m) == 7", "((n < m) ? n : m) == 7", false},
        {"k + i32(1) > i32(0)", "(int32_t)((uint64_t)k + (uint64_t)1) > 0",
         false},
        {"k / i32(-2) > i32(0)",
         "(int32_t)ingot_i64_div(k, (-2), &overflow) > 0", true},
        {"int(k) < n", "(int64_t)k < n", false},
        {"-n < m", "ingot_i64_sub(0, n, &overflow) < m", true},
        {"x > 0.5", "x > 0.5f", false},
        {"x * x + 1.0 < 3.0", "x * x + 1.0f < 3.0f", false},
        {"x / 2.0 < -x", "x / 2.0f < (-x)", false},
        {"u / u64(3) == u64(18446744073709551615)",
         "u / UINT64_C(3) == UINT64_C(18446744073709551615)", false},
        {"-k < i32(2147483647)", "(int32_t)(0 - (uint64_t)k) < 2147483647",
         false},
        {"n > -9223372036854775807 - 1", "n > INT64_MIN", false},
        {"n > -9000000000", "n > (-INT64_C(9000000000))", false},
        {"i32(n) == k", "(int32_t)n == k", false},
        {"x < inf", NULL, false},
        {"exp(x) < 2.0", NULL, false},
        {"u / u == u64(1)", NULL, false},
        {"h > f16(1.0)", NULL, false},
        {"i32(x) == i32(1)", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct fixture f;
        struct buf out = {0};
        fixture_start(&f);
        const struct ir_kernel *kernel = fixture_kernel(
            &f, arena_printf(&f.arena,
                             "kernel t(n: int, m: int, k: i32, u: u64, x: f32, "
                             "h: f16) -> Y: f32[1]\n    where %s\n"
                             "    level loops\n{\n}\n",
                             all[i].text));
        struct c_scope scope = {
            .kernel = kernel, .names = c_parameter_names(&f.arena, kernel, "")};
        bool ok = c_expr(&scope, kernel->where.at[0], &out);
        assert_int_equal(ok, all[i].c != NULL);
        if (ok) {
            assert_string_equal(out.data, all[i].c);
            assert_int_equal(scope.has_checks, all[i].has_checks);
        }
        buf_free(&out);
        fixture_end(&f);
    }
}

static void reports_what_c_cannot_compute(void **state)
{
    static const char *const text[] = {
        "kernel f(x: f32) -> Y: f32[1]\n    where exp(x) < 2.0\n"
        "    level flat\n{\n"
        "    launch f grid(1, 1, 1) block(32, 1, 1) {\n    }\n}\n"};
    static const char *const target[] = {"compute_75"};
    (void)state;
    struct fixture f;
    struct package_files files;
    fixture_start(&f);
    struct package p = fixture_package(&f, "t", text, 1);
    fixture_images(&f, &p, target, 1);
    assert_false(package_make(&f.arena, &p, &f.diags, &files));
    assert_int_equal(f.diags.all.at[0].code, D_not_in_c);
    assert_string_equal(fixture_message(&f),
                        "the launch function cannot compute `exp(x) < 2.0`");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_functions_work),
        cmocka_unit_test(header_is_clean_in_every_language),
        cmocka_unit_test(is_reproducible),
        cmocka_unit_test(knows_taken_names),
        cmocka_unit_test(renames_parameters),
        cmocka_unit_test(makes_identifiers),
        cmocka_unit_test(refuses_taken_names),
        cmocka_unit_test(prints_expressions),
        cmocka_unit_test(reports_what_c_cannot_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
