// Tests of nvptx/ptxas.c: the assembler, and things that pretend to be it.

#include "tests/unit/support/package_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// A kernel that spills registers, one that uses shared memory and a barrier.
static const char busy_ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry busy(.param .u64 p)\n.maxntid 64, 1, 1\n{\n"
    "\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<4>;\n"
    "\t.shared .align 4 .b8 s[512];\n"
    "\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n"
    "\tst.shared.u32 [s], %r1;\n\tbar.sync 0;\n\tld.shared.u32 %r2, [s];\n"
    "\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n";

static const char *const vadd_only[] = {fixture_vadd};
static const char *const vadd_entry[] = {"vadd"};

// Return a job of the vector addition for an architecture.
static struct ptxas_job job_for(struct fixture *f, const char *target,
                                struct buf *ptx)
{
    const struct nvptx_target *found = nvptx_target_find(target, &f->diags);
    struct package p = fixture_package(f, "t", vadd_only, 1);
    ptx->n = 0;
    fixture_ptx(&p, target, found->ptx, ptx);
    return fixture_job(f, target, ptx, vadd_entry, 1);
}

// Run a script in the place of ptxas for sm_80 and check what is reported.
static void refuses(const char *script, enum diag_code code, const char *text)
{
    struct fixture f;
    struct buf ptx = {0};
    fixture_start(&f);
    struct ptxas tool = fixture_fake_ptxas(&f, script);
    tool.limit_ms = 1500;
    struct ptxas_job job = job_for(&f, "sm_80", &ptx);
    assert_false(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
    assert_int_equal(f.diags.errors, 1);
    assert_int_equal(f.diags.all.at[0].code, code);
    assert_string_equal(f.diags.all.at[0].text, text);
    assert_non_null(strstr(f.diags.all.at[0].notes.at[0].text, "-arch=sm_80"));
    buf_free(&ptx);
    fixture_end(&f);
}

static void reports_tools_that_fail(void **state)
{
    (void)state;
    refuses("echo 'ptxas fatal   : out of luck' >&2; exit 255", D_tool_failed,
            "ptxas for sm_80 exited with status 255");
    refuses("kill -11 $$", D_tool_killed,
            "ptxas for sm_80 was killed by signal 11 (Segmentation fault)");
    refuses("sleep 60", D_tool_timed_out,
            "ptxas for sm_80 did nothing for 1.5 s");
    refuses("sleep 60 & sleep 60", D_tool_timed_out,
            "ptxas for sm_80 did nothing for 1.5 s");
    refuses("head -c 100000000 /dev/zero", D_tool_flooded,
            "ptxas for sm_80 wrote more than 67108864 bytes");
}

static void reports_what_ptxas_says(void **state)
{
    (void)state;
    refuses("echo \"ptxas fatal   : Value 'sm_80' is not defined for option "
            "'gpu-name'\" >&2; exit 255",
            D_target_unknown_to_ptxas, "this ptxas cannot assemble for sm_80");
    refuses("echo 'ptxas /dev/stdin, line 5; fatal   : Unsupported .version "
            "7.0; current version is 6.5' >&2; exit 255",
            D_ptxas_too_old, "this ptxas is too old for the PTX of sm_80");
}

static void reports_tools_that_lie(void **state)
{
    (void)state;
    refuses("exit 0", D_cubin_malformed,
            "ptxas for sm_80 wrote no usable cubin: it is empty");
    refuses("echo done", D_cubin_malformed,
            "ptxas for sm_80 wrote no usable cubin: it is cut off");
    refuses("head -c 5000 /dev/zero", D_cubin_malformed,
            "ptxas for sm_80 wrote no usable cubin: it is no ELF file for "
            "NVIDIA GPUs");
    refuses("cat /bin/sh", D_cubin_malformed,
            "ptxas for sm_80 wrote no usable cubin: it is no ELF file for "
            "NVIDIA GPUs");
}

static void reports_a_missing_tool(void **state)
{
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    fixture_start(&f);
    struct ptxas tool = {.path = "/no/such/ptxas"};
    struct ptxas_job job = job_for(&f, "sm_80", &ptx);
    assert_false(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
    assert_int_equal(f.diags.all.at[0].code, D_tool_not_started);
    assert_string_equal(fixture_message(&f),
                        "ptxas for sm_80 could not be started: No such file or "
                        "directory");
    buf_free(&ptx);
    fixture_end(&f);
}

// Run the true ptxas through a script that changes what it does.
static void refuses_changed(const char *format, enum diag_code code,
                            const char *text)
{
    struct fixture f;
    struct ptxas tool = fixture_start_ptxas(&f);
    struct buf script = {0};
    for (; *format; format++)
        if (*format == '@')
            buf_text(&script, tool.path);
        else
            buf_char(&script, *format);
    fixture_end(&f);
    refuses(script.data, code, text);
    buf_free(&script);
}

static void reports_another_target(void **state)
{
    (void)state;
    refuses_changed("exec @ -arch=sm_90 -v /dev/stdin -o /dev/stdout",
                    D_cubin_of_other_target,
                    "ptxas for sm_80 wrote code for sm_90");
}

static void reports_a_missing_kernel(void **state)
{
    (void)state;
    refuses_changed("sed s/vadd/gone/g | @ \"$1\" -v /dev/stdin -o /dev/stdout",
                    D_cubin_lacks_kernel,
                    "ptxas for sm_80 left out kernel `vadd`");
}

static void reports_a_cut_cubin(void **state)
{
    (void)state;
    refuses_changed("@ \"$1\" -v /dev/stdin -o /dev/stdout | head -c 1024",
                    D_cubin_malformed,
                    "ptxas for sm_80 wrote no usable cubin: a section lies "
                    "outside of it");
}

// Every failing job is reported, and no other.
static void reports_every_job(void **state)
{
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    fixture_start(&f);
    struct ptxas tool = fixture_fake_ptxas(&f, "exit 1");
    struct ptxas_job jobs[] = {job_for(&f, "sm_80", &ptx),
                               job_for(&f, "sm_90a", &ptx)};
    assert_false(ptxas_run(&f.arena, &tool, jobs, 2, &f.diags));
    assert_int_equal(f.diags.errors, 2);
    assert_null(ptxas_version(&f.arena, &tool));
    buf_free(&ptx);
    fixture_end(&f);
}

// Warnings are passed on, with the architecture.
static void passes_warnings_on(void **state)
{
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    struct ptxas tool = fixture_start_ptxas(&f);
    tool = fixture_fake_ptxas(
        &f, arena_printf(&f.arena,
                         "echo 'ptxas warning : beware' >&2; exec %s \"$@\"",
                         tool.path));
    struct ptxas_job job = job_for(&f, "sm_80", &ptx);
    assert_true(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
    assert_int_equal(f.diags.errors, 0);
    assert_int_equal(f.diags.all.at[0].code, D_ptxas_warning);
    assert_string_equal(fixture_message(&f), "ptxas for sm_80 warns: beware");
    buf_free(&ptx);
    fixture_end(&f);
}

// One that cannot compile kernels at the same time does so one by one.
static void assembles_without_splitting(void **state)
{
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    struct ptxas tool = fixture_start_ptxas(&f);
    tool = fixture_fake_ptxas(
        &f, arena_printf(&f.arena,
                         "case \"$*\" in *split*) echo \"ptxas fatal   : "
                         "Unknown option '-split-compile'\" >&2; exit 255;; "
                         "esac; exec %s \"$@\"",
                         tool.path));
    struct ptxas_job job = job_for(&f, "sm_80", &ptx);
    assert_true(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
    assert_non_null(usage_find(&job.usage, "vadd"));
    buf_free(&ptx);
    fixture_end(&f);
}

// Several architectures are assembled, each as asked for.
static void assembles(void **state)
{
    static const char *const targets[] = {"sm_75", "sm_80", "sm_90a", "sm_120"};
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    struct ptxas_job jobs[4];
    struct ptxas tool = fixture_start_ptxas(&f);
    for (int i = 0; i < 4; i++)
        jobs[i] = job_for(&f, targets[i], &ptx);
    assert_true(ptxas_run(&f.arena, &tool, jobs, 4, &f.diags));
    assert_int_equal(f.diags.all.n, 0);
    assert_non_null(ptxas_version(&f.arena, &tool));
    for (int i = 0; i < 4; i++) {
        const struct kernel_usage *u = usage_find(&jobs[i].usage, "vadd");
        assert_non_null(u);
        assert_true(u->registers > 0);
        assert_int_equal(u->spill_stores, 0);
        assert_int_equal(u->spill_loads, 0);
        assert_int_equal(u->shared, 0);
        assert_int_equal(u->parameter_bytes, 32);
    }
    buf_free(&ptx);
    fixture_end(&f);
}

// Shared memory and barriers are read from the statistics and from the cubin
// alike.
static void reads_statistics(void **state)
{
    (void)state;
    struct fixture f;
    struct elf_cubin cubin;
    struct ptxas tool = fixture_start_ptxas(&f);
    struct ptxas_job job = {.target = nvptx_target_find("sm_90", &f.diags),
                            .ptx = busy_ptx,
                            .ptx_size = sizeof busy_ptx - 1};
    assert_true(ptxas_run(&f.arena, &tool, &job, 1, &f.diags));
    const struct kernel_usage *u = usage_find(&job.usage, "busy");
    assert_non_null(u);
    assert_int_equal(u->shared, 512);
    assert_int_equal(u->barriers, 1);
    assert_int_equal(u->stack, 0);
    assert_null(elf_read(&f.arena, job.cubin, job.cubin_size, &cubin));
    assert_int_equal(cubin.kernels.at[0].shared, 512);
    assert_int_equal(cubin.kernels.at[0].barriers, 1);
    assert_int_equal(cubin.kernels.at[0].registers, u->registers);
    fixture_end(&f);
}

// The same text gives the same bytes.
static void is_reproducible(void **state)
{
    (void)state;
    struct fixture f;
    struct buf ptx = {0};
    struct ptxas tool = fixture_start_ptxas(&f);
    struct ptxas_job jobs[] = {job_for(&f, "sm_90", &ptx),
                               job_for(&f, "sm_90", &ptx)};
    assert_true(ptxas_run(&f.arena, &tool, jobs, 2, &f.diags));
    assert_int_equal(jobs[0].cubin_size, jobs[1].cubin_size);
    assert_memory_equal(jobs[0].cubin, jobs[1].cubin, jobs[0].cubin_size);
    buf_free(&ptx);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_tools_that_fail),
        cmocka_unit_test(reports_what_ptxas_says),
        cmocka_unit_test(reports_tools_that_lie),
        cmocka_unit_test(reports_a_missing_tool),
        cmocka_unit_test(reports_another_target),
        cmocka_unit_test(reports_a_missing_kernel),
        cmocka_unit_test(reports_a_cut_cubin),
        cmocka_unit_test(reports_every_job),
        cmocka_unit_test(passes_warnings_on),
        cmocka_unit_test(assembles_without_splitting),
        cmocka_unit_test(assembles),
        cmocka_unit_test(reads_statistics),
        cmocka_unit_test(is_reproducible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
