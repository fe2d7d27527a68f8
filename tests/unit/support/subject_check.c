// What must hold of a kernel that primitives and passes have changed.

#include "ir/build.h"
#include "ir/check.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/text.h"
#include "subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE_MOST = 7, ELEMENTS_MOST = 4096, ARGUMENTS_MOST = 12 };
// What a kernel made of a few statements may take at sizes like these.
enum { STEPS_MOST = 1 << 24 };

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
    size_t sizes = 0;
    s->random = seed;
    for (size_t i = 0; i < k->params.n; i++) {
        if (k->params.at[i].var)
            args[i].scalar.i = s->sizes ? s->sizes[sizes++]
                                        : (int64_t)subject_below(s, SIZE_MOST);
    }
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b)
            continue;
        size_t n = elements(k, b, args);
        int32_t *data = arena_array(&s->scratch, int32_t, n + 1);
        for (size_t e = 0; e < n; e++)
            data[e] =
                b->role == ROLE_output ? 0 : (int32_t)subject_below(s, 100);
        args[i] =
            (struct eval_argument){.data = data, .size = n * sizeof *data};
    }
    s->random = kept;
}

// Return whether the guard of a variant lets it run.
static bool is_chosen(const struct ir_kernel *k,
                      const struct eval_argument *args)
{
    int64_t holds = 1;
    for (size_t i = 0; i < k->guard.n && holds; i++)
        assert_true(ir_eval_int(k, args, k->guard.at[i], &holds));
    return holds;
}

bool subject_same(struct subject *s, const struct ir_kernel *before,
                  const struct ir_kernel *after, const char **fault)
{
    uint64_t seed = subject_below(s, 1u << 30) + 1;
    struct eval_argument x[ARGUMENTS_MOST] = {0}, y[ARGUMENTS_MOST] = {0};
    assert_true(before->params.n <= ARGUMENTS_MOST);
    fill(s, before, seed, x);
    fill(s, after, seed, y);
    *fault = NULL;
    if (!is_chosen(after, y))
        return true;
    struct eval_result r = ir_eval(&s->scratch, before, x, 0);
    assert_int_equal(r.status, EVAL_DONE);
    r = ir_eval(&s->scratch, after, y, STEPS_MOST);
    *fault = r.text;
    for (size_t i = 0; i < before->params.n && r.status == EVAL_DONE; i++) {
        *fault = arena_printf(&s->scratch, "argument %zu differs", i);
        if (x[i].size && memcmp(x[i].data, y[i].data, x[i].size) != 0)
            return false;
    }
    return r.status == EVAL_DONE;
}

void subject_compare(struct subject *s, const struct ir_kernel *before,
                     const struct ir_kernel *after, const char *text)
{
    const char *fault;
    if (!subject_same(s, before, after, &fault))
        fail_msg("%s:\n%s", fault, text);
}

// Run a loop whose iterations are said to be independent backwards; one after
// another unless they wait for each other.  Those of a reduction, whose first
// one starts it, stay as they are.
static void run_backwards(struct pass *p, struct ir_stmt *s)
{
    struct ir_for *f = &s->u.loop;
    enum axis_kind kind =
        s->kind == STMT_for ? axis_kind(f->axis) : AXIS_SERIAL;
    if (kind == AXIS_SERIAL || kind == AXIS_UNROLL || ir_loop_reduces(f))
        return;
    struct ir_expr *last = ir_sub(p->arena, f->to, ir_int(p->arena, 1));
    sched_renumber(p, s, ir_sub(p->arena, last, ir_read(p->arena, f->var)));
    if (!ir_has(&f->body, STMT_barrier))
        f->axis = AXIS_serial;
}

bool subject_holds(struct subject *s, const struct ir_kernel *before,
                   const struct ir_kernel *after, const char **fault)
{
    struct buf text = {0};
    ir_print_kernel(&text, after);
    const char *copy = arena_copy(&s->work, text.data, text.n);
    struct source source = {"printed", copy, text.n};
    buf_free(&text);
    *fault = ir_check(&s->scratch, after);
    if (*fault)
        return false;
    *fault = "it does not read back";
    struct ir_kernel *again =
        ir_parse_kernel(&s->work, &s->names, &source, &s->diags);
    if (!again || !ir_kernel_equal(&s->work, again, after, fault))
        return false;
    struct pass p = {.kernel = again, .arena = &s->work};
    p.scratch = &s->scratch;
    for (int i = 0; i < (s->sizes ? 1 : 3); i++) {
        if (!subject_same(s, before, after, fault))
            return false;
    }
    ir_foreach_stmt(t, &again->body)
        run_backwards(&p, t);
    if (!subject_same(s, before, again, fault))
        return false;
    struct pass lower = subject_pass(s, after);
    return pass_crossthread(&lower) != PASS_CHANGED ||
           subject_same(s, before, lower.kernel, fault);
}

void subject_check(struct subject *s, const struct ir_kernel *before,
                   const struct ir_kernel *after)
{
    const char *fault;
    if (subject_holds(s, before, after, &fault))
        return;
    struct buf text = {0};
    ir_print_kernel(&text, after);
    const char *copy = arena_copy(&s->work, text.data, text.n);
    buf_free(&text);
    fail_msg("%s\n%s", fault, copy);
}
