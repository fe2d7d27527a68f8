// Statements that a schedule made carry the place of the directive, in the
// scheduled kernel and in what lowering makes of it.

#include "ir/walk.h"
#include "passes/schedule/schedule.h"
#include "support/subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "kernel f(n: int, A: f32[n]) -> C: f32[n] {\n"     // 1
    "    C[i] = A[i] * 2.0\n"                          // 2
    "}\n"                                              // 3
    "def spread(loop) {\n"                             // 4
    "    i, j = split(loop, _, 32)\n"                  // 5
    "    bind(j, thread.x)\n"                          // 6
    "    return i\n"                                   // 7
    "}\n"                                              // 8
    "schedule f {\n"                                   // 9
    "    copy = cache_read(C, A, shared)\n"            // 10
    "    outer = spread(C.i)\n"                        // 11
    "    bind(outer, block.x)\n"                       // 12
    "    compute_at(copy, outer)\n"                    // 13
    "    lane(copy.ax0)\n"                             // 14
    "}\n"                                              // 15
    "kernel g(m: int, A: i32[m, 64]) -> S: i32[m] {\n" // 16
    "    S[i] = sum(j in 64) A[i, j]\n"                // 17
    "}\n"                                              // 18
    "schedule g {\n"                                   // 19
    "    bind(S.i, block.x)\n"                         // 20
    "    bind(S.j, thread.x)\n"                        // 21
    "}\n"                                              // 22
    "kernel h(m: int, A: i32[m, 64]) -> S: i32[m] {\n" // 23
    "    S[i] = sum(j in 64) A[i, j]\n"                // 24
    "}\n"                                              // 25
    "schedule h {\n"                                   // 26
    "    p = rfactor(S.j, 0)\n"                        // 27
    "    bind(S.i, block.x)\n"                         // 28
    "    bind(S.j, thread.x)\n"                        // 29
    "}\n";
static const char library[] = "def lane(loop) {\n"
                              "    bind(loop, thread.x)\n"
                              "}\n";

// Append a statement and the line of what made it, 0 for none.
static void list(struct buf *out, const struct ir_stmt *s)
{
    struct span by = s->by;
    const char *name = s->kind == STMT_for     ? s->u.loop.var->name
                       : s->kind == STMT_stage ? s->u.stage.name
                       : s->kind == STMT_store ? s->u.store.buffer->name
                                               : NULL;
    unsigned line = by.source ? source_line(by.source, by.from).number : 0;
    if (name)
        buf_printf(out, "%s %s %u; ", stmt_name(s->kind), name, line);
}

// Run the schedule of kernel number `k`, and the passes down to level `to`;
// fail the test unless the statements are listed so.
static void made(size_t k, enum ir_level to, bool loops, const char *wanted)
{
    struct subject s = {.random = 1};
    struct program shared = {0};
    const struct source source = {"library", library, sizeof library - 1};
    subject_open(&s, text);
    assert_true(
        frontend_parse(&s.arena, &s.names, &source, true, &s.diags, &shared));
    s.program.schedules.fallback = &shared.schedules;
    struct pass p = subject_pass(&s, s.program.kernels.at[k]);
    const struct pass_options options = {0};
    struct buf out = {0};
    if (!schedule_apply(&p, &s.program.schedules,
                        s.program.schedules.schedules.at[k], NULL, 0, NULL) ||
        (to == LEVEL_flat && !passes_run(&p, &options)))
        fail_msg("%s", subject_errors(&s));
    ir_foreach_stmt(t, &p.kernel->body)
        if (loops || t->kind != STMT_for)
            list(&out, t);
    assert_string_equal(out.data, wanted);
    buf_free(&out);
    subject_close(&s);
}

static void statements_name_the_directive(void **state)
{
    (void)state;
    made(0, LEVEL_stages, true,
         "for i_0 5; for ax0 13; stage A_shared 10; store A_shared 10; "
         "for i_1 5; stage C 0; store C 0; ");
}

static void loops_name_what_bound_them(void **state)
{
    (void)state;
    made(1, LEVEL_stages, true,
         "for i 20; for j 21; stage S 0; store S 0; store S 0; ");
    made(2, LEVEL_stages, true,
         "for i 27; for j 27; stage S_rf 27; store S_rf 27; store S_rf 27; "
         "for i 27; for j 27; stage S 27; store S 27; store S 27; ");
}

static void lowering_keeps_it(void **state)
{
    (void)state;
    made(0, LEVEL_flat, false, "store A_shared 10; store C 0; ");
    made(1, LEVEL_flat, false, "store S_part 21; store S 21; ");
    made(2, LEVEL_flat, false,
         "store S_rf 27; store S_rf 27; store S_part 27; store S 27; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_name_the_directive),
        cmocka_unit_test(loops_name_what_bound_them),
        cmocka_unit_test(lowering_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
