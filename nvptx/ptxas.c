// Runs ptxas and checks what it wrote.
//
// The input is /dev/stdin rather than `-`: for `-`, ptxas copies it into a
// file below /tmp whose name can be guessed and that stays when it is killed.

#include "nvptx/ptxas.h"

#include "nvptx/ptxas_remarks.h"
#include "nvptx/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_OUTPUT_MOST = 64 << 20 };

// The option to compile kernels at the same time, on all processors, and what
// assemblers say that lack it.  The code does not depend on their number.
static const char split[] = "--split-compile=0";
static const char unsplit[] = "Unknown option '-split-compile'";

// What a message means.
struct message_row {
    const char *words;
    enum diag_code code;
};

static const struct message_row message_rows[] = {
#define PTXAS_ERROR(diagnostic, words) {words, D_##diagnostic},
#include "nvptx/ptxas.def"
};

// Where a number of the statistics goes.
struct usage_row {
    const char *words;
    size_t offset; // in struct kernel_usage
};

static const struct usage_row usage_rows[] = {
#define PTXAS_USAGE(field, words) {words, offsetof(struct kernel_usage, field)},
#include "nvptx/ptxas.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

// ---- Failures -------------------------------------------------------------

// Report why a job's process failed.
static void report_failure(struct arena *a, const struct process *p,
                           const struct ptxas_job *job, struct diag_list *diags)
{
    for (size_t i = 0; i < COUNT(message_rows); i++) {
        if (p->end != PROCESS_EXITED || !p->errors.data ||
            !strstr(p->errors.data, message_rows[i].words))
            continue;
        diag_error(diags, (struct span){0}, message_rows[i].code,
                   job->target->name);
        tool_note(a, p, diags);
        return;
    }
    tool_report(a, p, arena_printf(a, "ptxas for %s", job->target->name),
                diags);
}

// ---- Results --------------------------------------------------------------

// Return the number that stands before `words` in a line, or -1.
static int64_t number_before(const char *line, size_t n, const char *words)
{
    size_t length = strlen(words);
    for (size_t i = 1; i + length <= n; i++) {
        size_t from = i;
        while (from > 0 && line[from - 1] >= '0' && line[from - 1] <= '9')
            from--;
        if (from < i && strncmp(line + i, words, length) == 0)
            return strtoll(line + from, NULL, 10);
    }
    return -1;
}

// Return the kernel that a line of the statistics introduces, `current` if it
// introduces none, NULL if it introduces a function that is no kernel.
static struct kernel_usage *kernel_of_line(const struct usage_list *usage,
                                           const char *line, size_t n,
                                           struct kernel_usage *current)
{
    static const char entry[] = "Compiling entry function '";
    static const char function[] = "Function properties for ";
    char name[512];
    const char *at = strstr(line, entry);
    size_t skip = sizeof entry - 1;
    if (!at || at >= line + n) {
        at = strstr(line, function);
        skip = sizeof function - 1;
    }
    if (!at || at >= line + n || sscanf(at + skip, "%511[^'\n ]", name) != 1)
        return current;
    return usage_find(usage, name);
}

// Read the statistics of `ptxas -v` into the kernels of the cubin.
static void read_statistics(const char *text, struct usage_list *usage)
{
    struct kernel_usage *kernel = NULL;
    while (*text) {
        size_t n = strcspn(text, "\n");
        kernel = kernel_of_line(usage, text, n, kernel);
        for (size_t i = 0; kernel && i < COUNT(usage_rows); i++) {
            int64_t value = number_before(text, n, usage_rows[i].words);
            if (value >= 0)
                memcpy((char *)kernel + usage_rows[i].offset, &value,
                       sizeof value);
        }
        text += n + (text[n] == '\n');
    }
}

// Report what is wrong with a cubin; false if something is.
static bool check_cubin(struct arena *a, struct ptxas_job *job,
                        struct diag_list *diags)
{
    struct elf_cubin cubin;
    const char *fault = elf_read(a, job->cubin, job->cubin_size, &cubin);
    if (fault) {
        diag_error(diags, (struct span){0}, D_cubin_malformed,
                   job->target->name, fault);
        return false;
    }
    if (cubin.sm != job->target->number) {
        diag_error(diags, (struct span){0}, D_cubin_of_other_target,
                   job->target->name, (long long)cubin.sm);
        return false;
    }
    for (size_t i = 0; i < job->n_entries; i++) {
        if (!usage_find(&cubin.kernels, job->entries[i])) {
            diag_error(diags, (struct span){0}, D_cubin_lacks_kernel,
                       job->target->name, job->entries[i]);
            return false;
        }
    }
    job->usage = cubin.kernels;
    return true;
}

// Report the warnings of a job that succeeded.
static void report_warnings(const struct process *p,
                            const struct ptxas_job *job,
                            struct diag_list *diags)
{
    static const char warning[] = "ptxas warning : ";
    const char *line = p->errors.data ? p->errors.data : "";
    while ((line = strstr(line, warning))) {
        char text[512] = "";
        line += sizeof warning - 1;
        if (sscanf(line, "%511[^\n]", text) == 1)
            diag_warning(diags, (struct span){0}, D_ptxas_warning,
                         job->target->name, text);
    }
}

// Take what a job's process wrote; false after an error.
static bool finish(struct arena *a, const struct process *p,
                   struct ptxas_job *job, struct diag_list *diags)
{
    const char *said = p->errors.data ? p->errors.data : "";
    int faults = ptxas_read_remarks(a, said, job, diags);
    if (p->end != PROCESS_EXITED || p->code != 0) {
        if (!faults)
            report_failure(a, p, job, diags);
        return false;
    }
    job->ms = p->ms;
    job->cubin = arena_copy(a, p->output.data, p->output.n);
    job->cubin_size = p->output.n;
    if (!check_cubin(a, job, diags)) {
        tool_note(a, p, diags);
        return false;
    }
    read_statistics(said, &job->usage);
    report_warnings(p, job, diags);
    return faults == 0;
}

// ---- Running --------------------------------------------------------------

// Return the process that assembles a job; one that splits has its kernels
// compiled at the same time.
static struct process job_process(struct arena *a, const struct ptxas *tool,
                                  const struct ptxas_job *job, bool splits)
{
    const char *const argv[] = {tool->path,
                                arena_printf(a, "-arch=%s", job->target->name),
                                "-v",
                                "/dev/stdin",
                                "-o",
                                "/dev/stdout",
                                splits ? split : NULL,
                                NULL};
    struct process_input *input = arena_new(a, struct process_input);
    *input = (struct process_input){job->ptx, job->ptx_size};
    return (struct process){
        .argv = (const char *const *)arena_copy(a, argv, sizeof argv),
        .inputs = input,
        .n_inputs = 1,
        .limit_ms = tool->limit_ms,
        .output_most = JOB_OUTPUT_MOST};
}

// Run the processes of all jobs again of which one did not know how to split.
static void run_unsplit(struct arena *a, const struct ptxas *tool,
                        const struct ptxas_job *jobs, size_t n,
                        struct process *all)
{
    bool knows = true;
    for (size_t i = 0; i < n; i++)
        knows &= !all[i].errors.data || !strstr(all[i].errors.data, unsplit);
    for (size_t i = 0; i < n && !knows; i++) {
        process_free(&all[i]);
        all[i] = job_process(a, tool, &jobs[i], false);
    }
    if (!knows)
        process_run(a, all, n);
}

bool ptxas_run(struct arena *a, const struct ptxas *tool,
               struct ptxas_job *jobs, size_t n, struct diag_list *diags)
{
    struct process *all = arena_array(a, struct process, n);
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        all[i] = job_process(a, tool, &jobs[i], true);
    process_run(a, all, n);
    run_unsplit(a, tool, jobs, n, all);
    for (size_t i = 0; i < n; i++) {
        ok = finish(a, &all[i], &jobs[i], diags) && ok;
        process_free(&all[i]);
    }
    return ok;
}

const char *ptxas_version(struct arena *a, const struct ptxas *tool)
{
    const char *const argv[] = {tool->path, "--version", NULL};
    struct process p = {.argv = argv,
                        .limit_ms = tool->limit_ms,
                        .output_most = JOB_OUTPUT_MOST};
    char text[32] = "";
    process_run(a, &p, 1);
    const char *at = p.output.data ? strstr(p.output.data, ", V") : NULL;
    if (at && p.end == PROCESS_EXITED && p.code == 0)
        sscanf(at + 3, "%31[0-9.]", text);
    process_free(&p);
    return *text ? arena_printf(a, "%s", text) : NULL;
}
