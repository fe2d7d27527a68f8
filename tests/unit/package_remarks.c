// Tests of nvptx/ptxas_remarks.c: what ptxas says of kernels by number, first
// as it says it of PTX that is made for that, then in its words from a script.

#include "tests/unit/support/package_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const entries[] = {"other", "k"};

// Append PTX with an empty entry `other`, and an entry `k` that runs matrix
// instructions of m64n<n>k16 in a loop, with `bounds`, and with texts at the
// begin of the kernel, and before and behind the instruction.
static void put_ptx(struct buf *out, int n, const char *bounds,
                    const char *begin, const char *before, const char *behind)
{
    buf_printf(out,
               ".version 8.0\n.target sm_90a\n.address_size 64\n"
               ".visible .entry other() { ret; }\n"
               ".visible .entry k(.param .u64 a) %s\n{\n"
               ".reg .pred p, q;\n.reg .b64 o, d;\n.reg .b32 i;\n"
               ".reg .f32 f<128>;\nld.param.u64 o, [a];\nmov.b64 d, 64;\n"
               "setp.ne.b32 p, 0, 0;\nmov.b32 i, 0;\n%s",
               bounds, begin);
    for (int r = 0; r < n / 2; r++)
        buf_printf(out, "mov.f32 f%d, 0f00000000;\n", r);
    buf_printf(out,
               "L:\n%s\t.loc\t1 7 3\n"
               "wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {",
               before, n);
    for (int r = 0; r < n / 2; r++)
        buf_printf(out, "%sf%d", r ? ", " : "", r);
    buf_printf(out,
               "}, d, d, p, 1, 1, 0, 0;\n%s"
               "wgmma.commit_group.sync.aligned;\n"
               "wgmma.wait_group.sync.aligned 0;\n"
               "add.s32 i, i, 1;\nsetp.lt.s32 q, i, 9;\n@q bra L;\n",
               behind);
    for (int r = 0; r < n / 2; r++)
        buf_printf(out, "st.global.f32 [o + %d], f%d;\n", 4 * r, r);
    buf_text(out, "ret;\n}\n\t.file\t1 \"gemm.ing\"\n"
                  "\t.section\t.debug_abbrev\n{\n.b8 0\n}\n");
}

#define FENCE "wgmma.fence.sync.aligned;\n"

// Return a job of the PTX, at whose kernels a text of 9 bytes stands.
static struct ptxas_job job_for(struct fixture *f, const struct buf *ptx)
{
    struct source *s = arena_new(&f->arena, struct source);
    struct span *places = arena_array(&f->arena, struct span, 2);
    *s = (struct source){"gemm.ing", "one\ntwo\n", 8};
    places[0] = (struct span){s, 0, 3};
    places[1] = (struct span){s, 4, 7};
    struct ptxas_job job = fixture_job(f, "sm_90a", ptx, entries, 2);
    job.places = places;
    return job;
}

// A row: PTX, and what is reported of it, at `k`.
struct provoked {
    int n;
    const char *bounds, *begin, *before, *behind;
    enum diag_code code;
    enum diag_severity severity;
    const char *text, *note;
};

static const struct provoked provoked[] = {
    {64, ".reqntid 128", "", "", "", D_wait_added, DIAG_WARNING,
     "`k` for sm_90a: ptxas adds a wait or a fence around matrix instructions",
     "(C7519): warpgroup.arrive is injected"},
    {64, ".reqntid 128", "", FENCE, "add.f32 f0, f0, f0;\n",
     D_serialised_accumulators, DIAG_ERROR,
     "`k` for sm_90a: matrix instructions run one by one, because something "
     "accesses their results",
     "(C7514): Potential Performance Loss"},
    {64, "", "setmaxnreg.inc.sync.aligned.u32 232;\n", FENCE, "",
     D_role_registers_ignored, DIAG_ERROR,
     "`k` for sm_90a: ptxas ignores the registers that producer and consumers "
     "ask for",
     "(C7508)"},
    {128, ".reqntid 384, 1, 1 .minnctapersm 1",
     "setmaxnreg.dec.sync.aligned.u32 24;\n", FENCE, "",
     D_role_registers_too_few, DIAG_ERROR,
     "`k` for sm_90a: the producer or a consumer asks for fewer registers than "
     "it needs",
     "(C7507)"},
    {256, ".reqntid 512", "", FENCE, "", D_instruction_registers, DIAG_ERROR,
     "`k` for sm_90a: one matrix instruction needs more registers than a "
     "thread has",
     "(C7602): Insufficient registers (128)"},
};

// Check what a job reported first.
static void check_report(const struct fixture *f, const struct provoked *want)
{
    assert_true(f->diags.all.n > 0);
    const struct diag *d = &f->diags.all.at[0];
    assert_int_equal(d->code, want->code);
    assert_int_equal(d->severity, want->severity);
    assert_string_equal(d->text, want->text);
    assert_int_equal(d->span.from, 4);
    assert_non_null(strstr(d->notes.at[0].text, want->note));
}

static void reports_what_is_provoked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof provoked / sizeof *provoked; i++) {
        const struct provoked *row = &provoked[i];
        struct fixture f;
        struct buf ptx = {0};
        struct ptxas tool = fixture_start_ptxas(&f);
        put_ptx(&ptx, row->n, row->bounds, row->begin, row->before,
                row->behind);
        struct ptxas_job job = job_for(&f, &ptx);
        bool ok = ptxas_run(&f.arena, &tool, &job, 1, &f.diags);
        assert_int_equal(ok, row->severity == DIAG_WARNING);
        check_report(&f, row);
        assert_int_equal(job.cubin != NULL,
                         row->code != D_instruction_registers);
        buf_free(&ptx);
        fixture_end(&f);
    }
}

// The line of the PTX is shown, and that of the source that it came from.
static void shows_the_line(void **state)
{
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    struct ptxas tool = fixture_start_ptxas(&f);
    put_ptx(&ptx, 256, ".reqntid 512", "", FENCE, "");
    struct ptxas_job job = job_for(&f, &ptx);
    assert_false(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
    const char *note = f.diags.all.at[0].notes.at[1].text;
    assert_non_null(strstr(note, "of the PTX, from line 7 of gemm.ing:\n"
                                 "wgmma.mma_async.sync.aligned.m64n256k16"));
    assert_int_equal(f.diags.all.at[0].notes.at[2].is_help, true);
    buf_free(&ptx);
    fixture_end(&f);
}

// What is said of kernel k in words that are given.
struct said {
    const char *line;
    enum diag_code code;
    enum diag_severity severity;
};

#define SERIAL "wgmma.mma_async instructions are serialized due to "
#define SAID(number, what)                                                     \
    "ptxas info    : (C" number ") Potential Performance Loss: " what

static const struct said said[] = {
    {SAID("7503", "'setmaxnreg' ignored to allow debugging."),
     D_role_registers_ignored, DIAG_ERROR},
    {SAID("7504", "'setmaxnreg' ignored to maintain compatibility across "
                  "compilation units."),
     D_role_registers_ignored, DIAG_ERROR},
    {SAID("7509", SERIAL "the presence of Extern calls in the function 'k'"),
     D_serialised_call, DIAG_ERROR},
    {SAID("7510", SERIAL "wgmma pipeline crossing function boundary at a "
                         "function call in the function 'k'"),
     D_serialised_call, DIAG_ERROR},
    {SAID("7511", SERIAL "insufficient register resources for the wgmma "
                         "pipeline in the function 'k'"),
     D_serialised_registers, DIAG_ERROR},
    {SAID("7512", SERIAL "insufficient register resources for the function "
                         "'k'"),
     D_serialised_registers, DIAG_ERROR},
    {SAID("7513", SERIAL "non wgmma instructions defining input registers of "
                         "a wgmma between start and end of the pipeline stage "
                         "in the function 'k'"),
     D_serialised_operands, DIAG_ERROR},
    {SAID("7515", SERIAL "non wgmma instructions defining accumulator "
                         "registers of a wgmma between start and end of the "
                         "pipeline stage in the function 'k'"),
     D_serialised_accumulators, DIAG_ERROR},
    {SAID("7516", SERIAL "ill formed pipeline stage in the function 'k'"),
     D_serialised_flow, DIAG_ERROR},
    {SAID("7520", SERIAL "program dependence on compiler-inserted WG.AR in "
                         "divergent path in the function 'k'"),
     D_serialised_flow, DIAG_ERROR},
    {"ptxas info    : (C7517) warpgroup.wait is injected in around line 3 by "
     "compiler to allow use of registers defined by GMMA in function 'k'",
     D_wait_added, DIAG_WARNING},
    {SAID("7599", "something new in the function 'k'"), D_remark_unknown,
     DIAG_WARNING},
};

static void reports_what_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct fixture f;
        struct buf ptx = {0};
        fixture_start(&f);
        put_ptx(&ptx, 64, ".reqntid 384 .minnctapersm 1",
                "setmaxnreg.inc.sync.aligned.u32 232;\n", FENCE, "");
        struct ptxas tool = fixture_fake_ptxas(
            &f,
            arena_printf(&f.arena, "echo \"%s\" >&2; exit 1", said[i].line));
        struct ptxas_job job = job_for(&f, &ptx);
        assert_false(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
        const struct diag *d = &f.diags.all.at[0];
        assert_int_equal(d->code, said[i].code);
        assert_int_equal(d->severity, said[i].severity);
        assert_int_equal(d->span.from, 4);
        assert_string_equal(job.remarks.at[0].entry, "k");
        bool is_error = said[i].severity == DIAG_ERROR;
        assert_int_equal(f.diags.all.n, is_error ? 1 : 2);
        buf_free(&ptx);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_what_is_provoked),
        cmocka_unit_test(shows_the_line),
        cmocka_unit_test(reports_what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
