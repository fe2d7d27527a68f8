// The runner of passes: what it checks after a pass, which passes it leaves
// out, and what it writes.

#include "ir/build.h"
#include "ir/marks.h"
#include "ir/ring.h"
#include "passes/steps.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char copy[] = "kernel copy(n: int, A: f32[n]) -> C: f32[n] {\n"
                           "    for b in 0..ceildiv(n, 32) @block.x {\n"
                           "        for t in 0..32 @thread.x {\n"
                           "            if b * 32 + t < n {\n"
                           "                C[b * 32 + t] = A[b * 32 + t]\n"
                           "            }\n"
                           "        }\n"
                           "    }\n"
                           "}\n";

// A kernel and what passes need to work on it.
struct scene {
    struct arena arena, scratch;
    struct str_table names;
    struct diag_list diags;
    struct buf log;
    struct phases times;
    struct pass pass;
};

// Make the kernel `copy`.
static int setup(void **state)
{
    struct scene *s = test_calloc(1, sizeof *s);
    s->names.arena = s->diags.arena = s->times.arena = &s->arena;
    s->pass = (struct pass){.kernel = kernel_text(&s->arena, copy),
                            .arena = &s->arena,
                            .scratch = &s->scratch,
                            .names = &s->names,
                            .diags = &s->diags};
    *state = s;
    return 0;
}

// Release it.
static int teardown(void **state)
{
    struct scene *s = *state;
    buf_free(&s->log);
    arena_reset(&s->scratch);
    arena_reset(&s->arena);
    test_free(s);
    return 0;
}

// Check that the pass `bounds` is blamed for what is wrong with the kernel,
// in words that hold `why` and the kernel as it stands, but only by a checked
// run.
static void expect_fault(struct scene *s, const char *why)
{
    const struct pass_options unchecked = {.checked = false};
    const struct pass_options checked = {.checked = true};
    assert_true(passes_run_one(&s->pass, PASS_bounds, &unchecked));
    assert_int_equal(s->diags.errors, 0);
    assert_false(passes_run_one(&s->pass, PASS_bounds, &checked));
    assert_int_equal(s->diags.errors, 1);
    const struct diag *d = &s->diags.all.at[0];
    assert_int_equal(d->code, D_pass_fault);
    assert_non_null(strstr(d->text, "pass `bounds` broke kernel `copy`"));
    assert_non_null(strstr(d->text, why));
    assert_non_null(strstr(d->text, kernel_printed(&s->arena, s->pass.kernel)));
}

// A kernel that ir_check refuses.
static void names_the_pass_that_broke_a_rule(void **state)
{
    struct scene *s = *state;
    struct ir_stmt *store = kernel_stmt(s->pass.kernel, STMT_store);
    store->u.store.buffer = s->pass.kernel->params.at[1].buffer;
    expect_fault(s, "`A`");
}

// A kernel that obeys every rule, but its text is no program.
static void names_the_pass_whose_text_does_not_parse(void **state)
{
    struct scene *s = *state;
    struct ir_stmt *loop = kernel_stmt(s->pass.kernel, STMT_for);
    loop->u.loop.var->name = str_name(&s->names, "2nd");
    expect_fault(s, "its text does not parse");
}

// A kernel whose text is another program.
static void names_the_pass_whose_text_says_something_else(void **state)
{
    struct scene *s = *state;
    struct ir_stmt *store = kernel_stmt(s->pass.kernel, STMT_store);
    struct ir_expr *third = arena_new(&s->arena, struct ir_expr);
    *third = (struct ir_expr){
        .op = OP_const, .type = type_scalar(TYPE_f32), .u.f = 1.0 / 3};
    store->u.store.value = third;
    expect_fault(s, "0.333");
}

// Return whether a phase has a time.
static bool has_time(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->times.all.n; i++)
        if (strcmp(s->times.all.at[i].name, name) == 0)
            return true;
    return false;
}

// A pass that reports an error ends the run: what follows is not run.
static void stops_at_an_error(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.times = &s->times};
    struct ir_stmt *loop = kernel_stmt(s->pass.kernel, STMT_for);
    loop->u.loop.axis = AXIS_thread_y;
    struct ir_stmt *inner = loop->u.loop.body.at[0];
    inner->u.loop.axis = AXIS_block_x;
    assert_false(passes_run(&s->pass, &options));
    assert_true(s->diags.errors > 0);
    assert_false(has_time(s, "lower/flatten"));
}

// A mark that its consumer has not taken away, as it looks
// at earlier levels alone.
static void names_the_pass_that_left_a_mark(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.checked = true};
    s->pass.kernel->level = LEVEL_flat;
    ir_attr_set(&s->arena, kernel_stmt(s->pass.kernel, STMT_for),
                MARK_in_flight, 3);
    assert_false(passes_run(&s->pass, &options));
    assert_int_equal(s->diags.errors, 1);
    const struct diag *d = &s->diags.all.at[0];
    assert_int_equal(d->code, D_pass_fault);
    assert_non_null(strstr(d->text, "pass `fragments` broke"));
    assert_non_null(strstr(d->text, "it leaves the mark `@in_flight`"));
}

// The steps of passes.def, and orders that they must not have.
static void knows_what_steps_need(void **state)
{
    struct scene *s = *state;
    size_t n;
    const struct pass_step *steps = pass_steps(&n);
    assert_null(pass_order_fault(&s->arena, steps, n));
    for (size_t i = 0; i < n; i++)
        assert_true(strlen(steps[i].why) > 0);
    const struct pass_step late[] = {{PASS_peel, "guards", 0, "w"},
                                     {PASS_guards, "", 0, "w"}};
    assert_string_equal(pass_order_fault(&s->arena, late, 2),
                        "`peel` needs `guards`, which does not run before it");
    const struct pass_step none = {PASS_peel, "guard", 0, "w"};
    assert_string_equal(pass_order_fault(&s->arena, &none, 1),
                        "`peel` needs `guard`, which is no pass");
}

// What a step says that it consumes, and has not.
static void names_the_pass_that_left_a_loop(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.checked = true};
    struct ir_stmt *loop = kernel_stmt(s->pass.kernel, STMT_for);
    s->pass.kernel->level = LEVEL_flat;
    loop->u.loop.axis = AXIS_vthread_x;
    assert_false(passes_run(&s->pass, &options));
    const struct diag *d = &s->diags.all.at[0];
    assert_non_null(strstr(d->text, "pass `vthreads` broke"));
    assert_non_null(strstr(d->text, "it leaves loops over virtual threads"));
}

// A ring that stands where none is expected any more.
static void names_the_pass_that_left_a_ring(void **state)
{
    struct scene *s = *state;
    struct ir_kernel *k = s->pass.kernel;
    size_t n, at = 0;
    const struct pass_step *steps = pass_steps(&n);
    for (size_t i = 0; i < n; i++)
        at = steps[i].pass == PASS_ring_lower ? i : at;
    assert_null(pass_left(&s->arena, k, at));
    vec_push(&s->arena, &kernel_stmt(k, STMT_for)->u.loop.rings,
             ir_ring_new(&s->arena, 2));
    assert_string_equal(pass_left(&s->arena, k, at), "loops with a ring");
}

// Marks are consumed by passes that are always run.
static void knows_who_consumes_marks(void **state)
{
    (void)state;
    for (int i = 0; i < MARK_note; i++) {
        const struct ir_mark_info *info = ir_mark_info((enum ir_mark)i);
        enum pass_name pass;
        bool is_found = pass_find(info->until, &pass);
        assert_int_equal(is_found, info->last != LEVEL_flat);
        assert_false(is_found && pass_is_optional(pass));
    }
}

// The whole pipeline lowers a kernel to the level of emission.
static void lowers_to_the_last_level(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.checked = true};
    assert_true(passes_run(&s->pass, &options));
    assert_int_equal(s->pass.kernel->level, LEVEL_flat);
}

// What the last pass leaves is checked in a run that is not.
static void checks_what_the_last_pass_leaves(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.times = &s->times};
    struct ir_stmt *store = kernel_stmt(s->pass.kernel, STMT_store);
    store->u.store.value = ir_const_float(&s->arena, type_scalar(TYPE_f64), 1);
    assert_false(passes_run(&s->pass, &options));
    assert_int_equal(s->diags.errors, 1);
    const struct diag *d = &s->diags.all.at[0];
    assert_int_equal(d->code, D_pass_fault);
    assert_non_null(strstr(d->text, "store C: must have type f32"));
    assert_true(has_time(s, "lower/flatten"));
}

// `stop_after` is the last pass to run.
static void stops_after_a_pass(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.stop_after = "mapped"};
    assert_true(passes_run(&s->pass, &options));
    assert_int_equal(s->pass.kernel->level, LEVEL_launch);
}

// A launch keeps its loops, and says who places its barriers, until passes
// behind have seen to both.
static void keeps_loops_in_launches(void **state)
{
    struct scene *s = *state;
    const struct pass_options some = {.checked = true,
                                      .stop_after = "launches"};
    assert_true(passes_run(&s->pass, &some));
    assert_int_equal(s->pass.kernel->level, LEVEL_grids);
    const struct ir_stmt *launch = kernel_stmt(s->pass.kernel, STMT_launch);
    assert_true(launch->u.launch.derives_barriers);
    assert_true(passes_run(&s->pass, &(struct pass_options){.checked = true}));
    launch = kernel_stmt(s->pass.kernel, STMT_launch);
    assert_false(launch->u.launch.derives_barriers);
}

// Each pass that ran has its time; one that is skipped has none,
// and of the rest only optional ones can be skipped.
static void writes_times_of_what_ran(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.times = &s->times,
                                         .skip = "flatten,simplify"};
    assert_true(passes_run(&s->pass, &options));
    assert_false(has_time(s, "lower/simplify"));
    assert_true(has_time(s, "lower/guards"));
    assert_true(has_time(s, "lower/flatten"));
    phases_add(&s->times, "lower", 1);
    phases_print(&s->times, &s->log);
    assert_memory_equal(s->log.data, "lower  ", 7);
    assert_non_null(strstr(s->log.data, " ms\n  bounds "));
}

// `print_after` writes the kernel after each pass of a list, or after all.
static void prints_after_passes(void **state)
{
    struct scene *s = *state;
    const struct pass_options some = {.log = &s->log,
                                      .print_after = "guards,flatten",
                                      .stop_after = "mapped"};
    assert_true(passes_run(&s->pass, &some));
    assert_memory_equal(s->log.data, "// after guards\nkernel copy(", 28);
    assert_null(strstr(s->log.data, "// after mapped"));
    const struct pass_options all = {.log = &s->log, .print_after = "all"};
    assert_true(passes_run_one(&s->pass, PASS_barriers, &all));
    assert_non_null(strstr(s->log.data, "// after barriers\nkernel copy("));
}

// A pass is not run on a kernel that is lowered beyond it.
static void leaves_lowered_kernels_alone(void **state)
{
    struct scene *s = *state;
    const struct pass_options options = {.log = &s->log, .print_after = "all"};
    s->pass.kernel->level = LEVEL_flat;
    assert_true(passes_run_one(&s->pass, PASS_guards, &options));
    assert_int_equal(s->log.n, 0);
}

// Names, and what the table says about them.
static void knows_passes_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < PASS_COUNT; i++) {
        enum pass_name pass = (enum pass_name)i, found;
        assert_true(pass_find(pass_text(pass), &found));
        assert_int_equal(found, pass);
        assert_true(strlen(pass_doc(pass)) > 0);
    }
    enum pass_name found;
    assert_false(pass_find("simplif", &found));
    assert_true(pass_is_optional(PASS_simplify));
    assert_false(pass_is_optional(PASS_guards));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_the_pass_that_broke_a_rule),
        TEST(names_the_pass_whose_text_does_not_parse),
        TEST(names_the_pass_whose_text_says_something_else),
        TEST(names_the_pass_that_left_a_mark),
        TEST(knows_who_consumes_marks),
        TEST(knows_what_steps_need),
        TEST(names_the_pass_that_left_a_loop),
        TEST(names_the_pass_that_left_a_ring),
        TEST(stops_at_an_error),
        TEST(lowers_to_the_last_level),
        TEST(checks_what_the_last_pass_leaves),
        TEST(stops_after_a_pass),
        TEST(keeps_loops_in_launches),
        TEST(writes_times_of_what_ran),
        TEST(prints_after_passes),
        TEST(leaves_lowered_kernels_alone),
        TEST(knows_passes_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
