// Tests of nvptx/process.c.

#include "nvptx/process.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = 12, LARGE = 4 << 20 };

// Return whether a process, of the text of its number, is dead within a minute.
static bool ends_soon(const char *pid)
{
    const struct timespec pause = {0, 10000000};
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", atoi(pid));
    for (int i = 0; i < 6000 && state != 'Z'; i++) {
        FILE *file = fopen(path, "r");
        if (!file)
            return true;
        if (fscanf(file, "%*d %*[^)]) %c", &state) != 1)
            state = 'Z';
        fclose(file);
        nanosleep(&pause, NULL);
    }
    return state == 'Z';
}

// Return a process that runs a script of the shell.
static struct process shell(const char *const argv[4])
{
    return (struct process){.argv = argv, .limit_ms = 20000};
}

#define SHELL(script)                                                          \
    shell((const char *const[4]){"/bin/sh", "-c", script, NULL})

// Run one process, check how it ended and release its arena.
static void run_and_check(struct process *p, enum process_end end, int code)
{
    struct arena a = {0};
    process_run(&a, p, 1);
    arena_reset(&a);
    assert_int_equal(p->end, end);
    assert_int_equal(p->code, code);
}

// The outputs are kept apart, the status is that of the process.
static void collects_output_and_status(void **state)
{
    (void)state;
    struct process p = SHELL("echo out; echo err >&2; exit 7");
    run_and_check(&p, PROCESS_EXITED, 7);
    assert_string_equal(p.output.data, "out\n");
    assert_string_equal(p.errors.data, "err\n");
    process_free(&p);
}

// Standard input is empty unless something is given.
static void has_empty_input(void **state)
{
    (void)state;
    struct process p = SHELL("wc -c");
    run_and_check(&p, PROCESS_EXITED, 0);
    assert_int_equal(atoi(p.output.data), 0);
    process_free(&p);
}

// More than a pipe holds goes through in both directions.
static void passes_large_input(void **state)
{
    (void)state;
    char *bytes = malloc(LARGE);
    for (int i = 0; i < LARGE; i++)
        bytes[i] = (char)(i * 7);
    struct process_input input = {bytes, LARGE};
    struct process p = SHELL("cat; cat /dev/stdin >&2");
    p.inputs = &input;
    p.n_inputs = 1;
    run_and_check(&p, PROCESS_EXITED, 0);
    assert_int_equal(p.output.n, LARGE);
    assert_memory_equal(p.output.data, bytes, LARGE);
    assert_int_equal(p.errors.n, LARGE);
    free(bytes);
    process_free(&p);
}

// Further inputs are files from /dev/fd/3 on, which can be read twice.
static void passes_further_inputs(void **state)
{
    (void)state;
    struct process_input inputs[] = {{"a", 1}, {"bb", 2}, {"ccc", 3}};
    struct process p =
        SHELL("cat /dev/fd/3 /dev/fd/4 - /dev/fd/3; ls /dev/fd | wc -l >&2");
    p.inputs = inputs;
    p.n_inputs = 3;
    run_and_check(&p, PROCESS_EXITED, 0);
    assert_string_equal(p.output.data, "bbcccabb");
    process_free(&p);
}

// The environment is empty.
static void has_no_environment(void **state)
{
    (void)state;
    const char *const argv[] = {"/usr/bin/env", NULL};
    struct process p = {.argv = argv};
    setenv("INGOT_SECRET", "1", 1);
    run_and_check(&p, PROCESS_EXITED, 0);
    assert_int_equal(p.output.n, 0);
    process_free(&p);
}

// A signal is reported as such, and in words.
static void reports_signals(void **state)
{
    (void)state;
    struct process p = SHELL("kill -9 $$");
    struct buf text = {0};
    run_and_check(&p, PROCESS_SIGNALED, SIGKILL);
    process_ending(&p, &text);
    assert_string_equal(text.data, "was killed by signal 9 (Killed)");
    buf_free(&text);
    process_free(&p);
}

// Signals that the caller ignores or blocks are as usual in the process.
static void resets_signals(void **state)
{
    (void)state;
    signal(SIGTERM, SIG_IGN);
    struct process p = SHELL("kill -15 $$; echo still here");
    run_and_check(&p, PROCESS_SIGNALED, SIGTERM);
    signal(SIGTERM, SIG_DFL);
    process_free(&p);
}

// A program that does not exist, and one that is none.
static void reports_what_cannot_start(void **state)
{
    (void)state;
    struct process p = {.argv = (const char *const[]){"/no/such/tool", NULL}};
    struct buf text = {0};
    run_and_check(&p, PROCESS_NOT_STARTED, ENOENT);
    process_ending(&p, &text);
    assert_string_equal(text.data,
                        "could not be started: No such file or directory");
    buf_free(&text);
    p.argv = (const char *const[]){"/etc/passwd", NULL};
    run_and_check(&p, PROCESS_NOT_STARTED, EACCES);
}

// What hangs is killed with everything that it started.
static void kills_what_hangs(void **state)
{
    (void)state;
    struct process p = SHELL("sleep 100 & echo $!; sleep 100");
    struct buf text = {0};
    p.limit_ms = 200;
    run_and_check(&p, PROCESS_IDLE, 0);
    process_ending(&p, &text);
    assert_string_equal(text.data, "did nothing for 0.2 s");
    assert_true(ends_soon(p.output.data));
    buf_free(&text);
    process_free(&p);
}

// So is what closes its outputs and then hangs.
static void kills_the_silent(void **state)
{
    (void)state;
    struct process p = SHELL("exec >&- 2>&-; sleep 100");
    p.limit_ms = 200;
    run_and_check(&p, PROCESS_IDLE, 0);
    process_free(&p);
}

// What computes too long is killed, in the tool or in what it started: waiting
// for the machine does not count.
static void kills_what_computes(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "while :; do :; done",
        "(while :; do :; done); :", "while :; do echo; done >/dev/null"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct process p = SHELL(scripts[i]);
        struct buf text = {0};
        p.limit_ms = 1500;
        run_and_check(&p, PROCESS_OVERTIME, 0);
        process_ending(&p, &text);
        assert_string_equal(text.data,
                            "used more than 1.5 s of processor time");
        buf_free(&text);
        process_free(&p);
    }
}

// The system knows the limit, too, for when nobody watches.
static void limits_processor_time(void **state)
{
    (void)state;
    struct process p = SHELL("ulimit -t");
    run_and_check(&p, PROCESS_EXITED, 0);
    assert_string_equal(p.output.data, "22\n");
    process_free(&p);
    p = SHELL("kill -XCPU $$");
    run_and_check(&p, PROCESS_OVERTIME, SIGXCPU);
    process_free(&p);
}

// Who is killed while a tool runs takes it along.
static void ends_with_its_caller(void **state)
{
    (void)state;
    char pid[32] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t caller = fork();
    if (caller == 0) {
        struct arena a = {0};
        const char *const argv[] = {
            "/bin/sh", "-c",
            arena_printf(&a, "echo $$ >/proc/%d/fd/%d; exec sleep 1000",
                         getpid(), ends[1]),
            NULL};
        struct process p = {.argv = argv};
        process_run(&a, &p, 1);
        _exit(0);
    }
    assert_true(read(ends[0], pid, sizeof pid - 1) > 0);
    kill(caller, SIGKILL);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    assert_true(ends_soon(pid));
    close(ends[0]);
    close(ends[1]);
}

// What is left in the background when the process ends is killed too.
static void kills_what_is_left(void **state)
{
    (void)state;
    struct process p = SHELL("sleep 100 >/dev/null 2>&1 & echo $!");
    run_and_check(&p, PROCESS_EXITED, 0);
    assert_true(ends_soon(p.output.data));
    process_free(&p);
}

// What floods either output is killed.
static void kills_what_floods(void **state)
{
    (void)state;
    struct process p = SHELL("yes");
    struct buf text = {0};
    p.output_most = 100000;
    run_and_check(&p, PROCESS_FLOODED, 0);
    process_ending(&p, &text);
    assert_string_equal(text.data, "wrote more than 100000 bytes");
    process_free(&p);
    p = SHELL("yes >&2");
    p.output_most = 100000;
    run_and_check(&p, PROCESS_FLOODED, 0);
    buf_free(&text);
    process_free(&p);
}

// Many run at once, each with its own result: each waits for all others.
static void runs_many_at_once(void **state)
{
    (void)state;
    struct arena a = {0};
    struct process all[COUNT];
    char folder[] = "/tmp/ingot-process-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *script = arena_printf(
        &a,
        "cat >%s/$$; while [ $(ls %s | wc -l) -lt %d ]; do sleep 0.05; "
        "done; cat %s/$$",
        folder, folder, COUNT, folder);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const clean[] = {"/bin/rm", "-r", folder, NULL};
    struct process removal = {.argv = clean};
    struct process_input inputs[COUNT];
    char digits[COUNT];
    for (int i = 0; i < COUNT; i++) {
        digits[i] = (char)('a' + i);
        inputs[i] = (struct process_input){&digits[i], 1};
        all[i] =
            (struct process){.argv = argv, .inputs = &inputs[i], .n_inputs = 1};
    }
    process_run(&a, all, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(all[i].end, PROCESS_EXITED);
        assert_int_equal(all[i].output.n, 1);
        assert_int_equal(all[i].output.data[0], digits[i]);
        process_free(&all[i]);
    }
    run_and_check(&removal, PROCESS_EXITED, 0);
    arena_reset(&a);
}

// No descriptor is left open.
static void closes_everything(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    for (int i = 0; i < 20; i++) {
        struct process p = SHELL(i % 2 ? "true" : "exit 3");
        run_and_check(&p, PROCESS_EXITED, i % 2 ? 0 : 3);
        process_free(&p);
    }
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

// Tools are found in folders first, then along the path.
static void finds_tools(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *const folders[] = {"/nowhere", "/usr"};
    assert_string_equal(process_find(&a, "env", folders, 2, NULL),
                        "/usr/bin/env");
    assert_string_equal(process_find(&a, "env", NULL, 0, "/x::/usr/bin:/y"),
                        "/usr/bin/env");
    assert_null(process_find(&a, "no-such-tool", folders, 2, "/usr/bin"));
    assert_null(process_find(&a, "bin", NULL, 0, "/usr"));
    arena_reset(&a);
}

// A command can be copied into a shell.
static void quotes_commands(void **state)
{
    (void)state;
    const char *const argv[] = {"/a/b", "-x=1", "", "it's $HOME", NULL};
    struct process p = {.argv = argv};
    struct buf text = {0};
    process_command(&p, &text);
    assert_string_equal(text.data, "/a/b -x=1 '' 'it'\\''s $HOME'");
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects_output_and_status),
        cmocka_unit_test(has_empty_input),
        cmocka_unit_test(passes_large_input),
        cmocka_unit_test(passes_further_inputs),
        cmocka_unit_test(has_no_environment),
        cmocka_unit_test(reports_signals),
        cmocka_unit_test(resets_signals),
        cmocka_unit_test(reports_what_cannot_start),
        cmocka_unit_test(kills_what_hangs),
        cmocka_unit_test(kills_the_silent),
        cmocka_unit_test(kills_what_computes),
        cmocka_unit_test(limits_processor_time),
        cmocka_unit_test(ends_with_its_caller),
        cmocka_unit_test(kills_what_is_left),
        cmocka_unit_test(kills_what_floods),
        cmocka_unit_test(runs_many_at_once),
        cmocka_unit_test(closes_everything),
        cmocka_unit_test(finds_tools),
        cmocka_unit_test(quotes_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
