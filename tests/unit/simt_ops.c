// Every operation of ops.def on every type, and every conversion, run by the
// executor: what it computes is what ir/eval computes, bit by bit where the
// operation has one result, closely where a library computes it.

#include "ir/text.h"
#include "ir/type.h"
#include "tests/unit/support/nvptx_fixture.h"
#include "tools/simt/simt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 64, STEPS_MOST = 10 * 1000 * 1000 };

// A result: what computes it, and its type.
struct result {
    const char *text;
    struct type type;
    bool is_close; // a library computes it
};

// A kernel of one type.
struct subject {
    struct emission t;
    struct type type;
    struct VEC(struct result) results;
    struct buf text;
};

// ---- The kernel -----------------------------------------------------------

// Return whether libdevice or an approximation computes an operation.
static bool is_library(enum ir_op op)
{
    switch ((int)op) {
#define MATH(op, f32, f64, fast, ptx)                                          \
    case OP_##op:                                                              \
        return strncmp(f32, "llvm.", 5) != 0 || strncmp(f64, "__nv_", 5) == 0;
#include "nvptx/intrin.def"
    }
    return false;
}

// Return the text of operand `i` of an operation: one that it has a result for.
static const char *operand(enum ir_op op, uint32_t i, char letter)
{
    static const char *const names[] = {"A[i]", "B[i]", "C[i]"};
    bool divides = op == OP_div || op == OP_mod || op == OP_ceildiv;
    bool shifts = op == OP_shl || op == OP_shr;
    if (letter == 'x')
        return "idx64(P[i])";
    if ((divides || shifts) && i == 1)
        return divides ? "D[i]" : "P[i]";
    return op == OP_ceildiv ? "P[i]" : names[i];
}

// Write a call of an operation on its operands.
static const char *write_call(struct arena *a, const struct ir_op_info *info,
                              const char *const *args, uint32_t n)
{
    struct buf text = {0};
    buf_printf(&text, "%s(", info->spelling);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", args[i]);
    buf_text(&text, ")");
    const char *copy = arena_copy(a, text.data, text.n);
    buf_free(&text);
    return copy;
}

// Add an operation on the operands, if it is one of numbers of this type.
static void add_operation(struct subject *s, enum ir_op op)
{
    const struct ir_op_info *info = ir_op_info(op);
    struct arena *a = &s->t.base.arena;
    struct type types[3] = {s->type, s->type, s->type};
    uint32_t n = (uint32_t)strlen(info->operands);
    const char *wrong, *args[3];
    struct result r = {.is_close = is_library(op)};
    for (uint32_t i = 0; i < n && i < 3; i++)
        if (info->operands[i] == 'x')
            types[i] = type_scalar(TYPE_idx64);
    if (n > 3 || info->form == FORM_LEAF || info->form == FORM_OWN ||
        op == OP_lanes || op == OP_resident || info->flags & OP_WRITES ||
        !ir_result_type(a, op, n, types, &r.type, &wrong))
        return;
    for (uint32_t i = 0; i < n; i++)
        args[i] = operand(op, i, info->operands[i]);
    r.text = info->form == FORM_PREFIX
                 ? arena_printf(a, "%s%s", info->spelling, args[0])
             : info->form == FORM_INFIX
                 ? arena_printf(a, "%s %s %s", args[0], info->spelling, args[1])
                 : write_call(a, info, args, n);
    vec_push(a, &s->results, r);
}

// List what is computed of a type.
static void list_results(struct subject *s)
{
    struct arena *a = &s->t.base.arena;
    for (int op = 0; op < OP_COUNT; op++)
        add_operation(s, (enum ir_op)op);
    for (int to = 0; to < TYPE_COUNT; to++) {
        struct type t = type_scalar((enum type_kind)to);
        if (to == TYPE_int || type_is_index(t))
            continue;
        struct result r = {arena_printf(a, "%s(A[i])", type_name(t)), t, false};
        vec_push(a, &s->results, r);
    }
}

// Write the kernel.
static void write_kernel(struct subject *s)
{
    const char *t = type_name(s->type);
    buf_printf(&s->text,
               "kernel k(n: int, A: %s[n], B: %s[n], C: %s[n], D: %s[n], "
               "P: %s[n]) -> (",
               t, t, t, t, t);
    for (size_t i = 0; i < s->results.n; i++)
        buf_printf(&s->text, "%sR%zu: %s[n]", i ? ", " : "", i,
                   type_name(s->results.at[i].type));
    buf_printf(&s->text,
               ") level flat {\n    launch k grid(1, 1, 1) block(%d, 1, 1) {\n"
               "        let i: idx64 = idx64(thread.x)\n",
               THREADS);
    for (size_t i = 0; i < s->results.n; i++)
        buf_printf(&s->text, "        R%zu[i] = %s\n", i,
                   s->results.at[i].text);
    buf_text(&s->text, "    }\n}\n");
}

// ---- Its arguments --------------------------------------------------------

// Return the operand that array `which` has at place i.
static double number(struct type t, int which, int i)
{
    static const double special[] = {0,    -0.0,     1,         -1,    0.5,
                                     3.25, -7.75,    -0.0,      1e-3,  100,
                                     NAN,  INFINITY, -INFINITY, 65504, 1e30};
    int n = sizeof special / sizeof *special;
    bool has_fraction = type_is_float(t), is_signed = type_is_signed(t);
    if (which >= 3)
        return which == 3 ? 1 + i % 7 : i % 8;
    if (has_fraction && i < n)
        return special[(i * (which + 1) + which) % n];
    double x = (i * 37 + which * 11) % 113 - (is_signed ? 56 : 0);
    return has_fraction ? x / 8 : x;
}

// Fill an array.
static void fill(struct type t, int which, void *data)
{
    size_t bytes = type_bytes(t);
    for (int i = 0; i < THREADS; i++) {
        unsigned char *p = (unsigned char *)data + bytes * (size_t)i;
        double x = number(t, which, i);
        if (type_is_float(t))
            eval_store_float(t, p, x);
        else
            eval_store_int(t, p,
                           t.kind == TYPE_bool ? (int64_t)x & 1 : (int64_t)x);
    }
}

// Return arguments for the kernel.
static struct eval_argument *arguments(struct arena *a,
                                       const struct ir_kernel *k)
{
    struct eval_argument *args =
        arena_array(a, struct eval_argument, k->params.n);
    args[0].scalar.i = THREADS;
    for (size_t i = 1; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        args[i].size = THREADS * type_bytes(b->elem);
        args[i].data = arena_alloc(a, args[i].size);
        if (b->role == ROLE_input)
            fill(b->elem, (int)i - 1, args[i].data);
    }
    return args;
}

// ---- Comparing ------------------------------------------------------------

// Return how far apart numbers of a library may be, relative to the larger.
static double closeness(struct type t)
{
    switch ((int)t.kind) {
    case TYPE_f64: return 0x1p-48;
    case TYPE_f32: return 0x1p-20;
    case TYPE_f16: return 0x1p-9;
    }
    return 0x1p-6;
}

// Return whether two elements are the same as far as the operation says.
static bool same(const struct result *r, const void *got, const void *want)
{
    if (!type_is_float(r->type))
        return memcmp(got, want, type_bytes(r->type)) == 0;
    double x = eval_load_float(r->type, got);
    double y = eval_load_float(r->type, want);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    if (x == y)
        return r->is_close || signbit(x) == signbit(y);
    return r->is_close &&
           fabs(x - y) <= closeness(r->type) * fmax(fabs(x), fabs(y)) + 1e-37;
}

// Compare all results.
static void compare(const struct subject *s, const struct ir_kernel *k,
                    const struct eval_argument *got,
                    const struct eval_argument *want)
{
    size_t first = k->params.n - s->results.n, wrong = 0;
    for (size_t r = 0; r < s->results.n; r++) {
        size_t bytes = type_bytes(s->results.at[r].type);
        for (size_t i = 0; i < THREADS; i++) {
            const char *g = (char *)got[first + r].data + i * bytes;
            const char *w = (char *)want[first + r].data + i * bytes;
            if (same(&s->results.at[r], g, w) || wrong++ > 20)
                continue;
            struct type t = s->results.at[r].type;
            print_error("%s: %s at %zu: %g instead of %g\n", type_name(s->type),
                        s->results.at[r].text, i,
                        type_is_float(t) ? eval_load_float(t, g)
                                         : (double)eval_load_int(t, g),
                        type_is_float(t) ? eval_load_float(t, w)
                                         : (double)eval_load_int(t, w));
        }
    }
    assert_int_equal(wrong, 0);
}

// ---- The test -------------------------------------------------------------

// Run a kernel in both ways.
static void run_both(struct subject *s, const struct ir_kernel *k)
{
    struct arena *a = &s->t.base.arena;
    struct diag_list *diags = &s->t.base.diags;
    struct simt_options options = {.target = s->t.options.target,
                                   .opt_level = 2,
                                   .libdevice = s->t.options.libdevice,
                                   .libdevice_size =
                                       s->t.options.libdevice_size};
    struct simt_run run = {.policy = SIMT_forward};
    struct simt_result found;
    struct eval_argument *got = arguments(a, k), *want = arguments(a, k);
    struct eval_result r = ir_eval(a, k, want, STEPS_MOST);
    if (r.status != EVAL_DONE)
        print_error("%s: %s\n", type_name(s->type), r.text);
    assert_int_equal(r.status, EVAL_DONE);
    struct simt_code *code = simt_compile(a, k, &options, diags);
    if (!code)
        emission_show(diags);
    assert_non_null(code);
    assert_true(simt_run(code, got, &run, &found, diags));
    assert_int_equal(found.n, 0);
    simt_free(code);
    compare(s, k, got, want);
}

// Check all operations on one type for one architecture.
static void check_type(struct type t, const char *target)
{
    struct subject s = {.type = t};
    emission_start(&s.t);
    emission_target(&s.t, target);
    if (s.t.options.libdevice) {
        list_results(&s);
        write_kernel(&s);
        run_both(&s, fixture_kernel(&s.t.base, s.text.data));
    }
    buf_free(&s.text);
    emission_end(&s.t);
}

// Check all types.
static void check_types(const char *target)
{
    for (int kind = 0; kind < TYPE_COUNT; kind++)
        if (kind != TYPE_int)
            check_type(type_scalar((enum type_kind)kind), target);
}

static void computes_what_the_evaluator_does(void **state)
{
    (void)state;
    check_types("sm_90");
}

static void computes_the_same_where_instructions_lack(void **state)
{
    (void)state;
    check_types("sm_75");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_what_the_evaluator_does),
        cmocka_unit_test(computes_the_same_where_instructions_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
