// Reads what ptxas says of kernels by number, and says it in our terms:
//
//   ptxas info    : (C7519) warpgroup.arrive is injected in around line 48 by
//   compiler to allow use of registers in GMMA in function 'gemm'
//
// Warnings are left to ptxas.c, and so is what has no number of the table.

#include "nvptx/ptxas_remarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OTHERS = 7500, OTHERS_LAST = 7599, LINE_MOST = 160 };

// A row of the table.
struct remark_row {
    int number;
    enum diag_code code;
    enum diag_severity severity;
    const char *help;
};

static const struct remark_row rows[] = {
#define PTXAS_REMARK(number, diagnostic, severity, help)                       \
    {number, D_##diagnostic, DIAG_##severity, help},
#include "nvptx/ptxas.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

// Return the row of a number, or NULL.
static const struct remark_row *row_of(int number)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].number == number)
            return &rows[i];
    }
    return number > OTHERS && number <= OTHERS_LAST ? row_of(OTHERS) : NULL;
}

// ---- PTX ------------------------------------------------------------------

// Return line `number` of the PTX, from 1, or NULL; it ends at its newline.
static const char *line_at(const struct ptxas_job *job, int64_t number)
{
    const char *line = job->ptx;
    while (line && --number > 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return line;
}

// Return the place in the source that the last `.loc` before a line of PTX
// names, such as "line 7 of gemm.ing"; NULL if there is none in its entry.
static const char *source_of(struct arena *a, const struct ptxas_job *job,
                             const char *line)
{
    unsigned file, number;
    char name[256];
    const char *entry = NULL, *loc = NULL;
    for (const char *at = job->ptx; at < line; at++) {
        if (strncmp(at, ".entry ", 7) == 0)
            entry = at;
        else if (strncmp(at, "\t.loc\t", 6) == 0)
            loc = at;
    }
    if (!loc || !entry || loc < entry ||
        sscanf(loc, " .loc %u %u", &file, &number) != 2)
        return NULL;
    const char *at = strstr(job->ptx, arena_printf(a, ".file\t%u \"", file));
    if (!at || sscanf(at, ".file %*u \"%255[^\"\n]", name) != 1)
        return NULL;
    return arena_printf(a, "line %u of %s", number, name);
}

// ---- Reading --------------------------------------------------------------

// Return the entry of that name, or NULL.
static const char *find_entry(const struct ptxas_job *job, const char *name)
{
    for (size_t i = 0; i < job->n_entries; i++) {
        if (strcmp(job->entries[i], name) == 0)
            return job->entries[i];
    }
    return NULL;
}

// Return the entry that a remark names last, `function 'k'` or `function k.`,
// or NULL.
static const char *entry_of(const struct ptxas_job *job, const char *text)
{
    static const char function[] = "function ";
    char name[512] = "";
    while ((text = strstr(text, function))) {
        text += sizeof function - 1;
        sscanf(text + (*text == '\''), "%511[A-Za-z0-9_]", name);
    }
    return find_entry(job, name);
}

// Return the first of the job's entries in whose code the words occur, or NULL.
static const char *entry_with(const struct ptxas_job *job, const char *words)
{
    char name[512];
    const char *found = strstr(job->ptx, words), *next = job->ptx, *at = NULL;
    while (found && (next = strstr(next, ".entry ")) && next < found)
        at = next++;
    if (!at || sscanf(at, ".entry %511[^( \n]", name) != 1)
        return NULL;
    return find_entry(job, name);
}

// Return the number behind "line " in a remark, or 0.
static int64_t line_of(const char *text)
{
    const char *at = strstr(text, "line ");
    return at ? strtoll(at + 5, NULL, 10) : 0;
}

// Add the remark of a line that has one.
static void read_line(struct arena *a, const char *line, struct ptxas_job *job)
{
    struct ptxas_remark r = {0};
    const char *at = strstr(line, "(C");
    if (strncmp(line, "ptxas ", 6) != 0 ||
        strncmp(line, "ptxas warning", 13) == 0 || !at ||
        sscanf(at, "(C%d)", &r.number) != 1 || !row_of(r.number))
        return;
    r.text = arena_printf(a, "%s", at + strcspn(at, " ") + 1);
    r.entry = entry_of(job, r.text);
    r.line = line_of(r.text);
    if (!r.entry)
        r.entry = entry_with(job, "setmaxnreg");
    vec_push(a, &job->remarks, r);
}

// ---- Reporting ------------------------------------------------------------

// Return the place of what made an entry; none if that is not known.
static struct span place_of(const struct ptxas_job *job, const char *entry)
{
    for (size_t i = 0; job->places && i < job->n_entries; i++) {
        if (job->entries[i] == entry)
            return job->places[i];
    }
    return (struct span){0};
}

// Add where in the code a remark points to.
static void note_line(struct arena *a, const struct ptxas_job *job,
                      const struct ptxas_remark *r, struct diag_list *diags)
{
    const char *line = r->line ? line_at(job, r->line) : NULL;
    if (!line)
        return;
    const char *source = source_of(a, job, line);
    line += strspn(line, " \t");
    int n = (int)strcspn(line, "\n");
    diag_note(diags, (struct span){0}, "at line %lld of the PTX%s%s:\n%.*s%s",
              (long long)r->line, source ? ", from " : "", source ? source : "",
              n < LINE_MOST ? n : LINE_MOST, line, n < LINE_MOST ? "" : " ...");
}

// Report a remark; returns whether it is an error.
static bool report(struct arena *a, const struct ptxas_job *job,
                   const struct ptxas_remark *r, struct diag_list *diags)
{
    const struct remark_row *row = row_of(r->number);
    bool is_error = row->severity == DIAG_ERROR;
    (is_error ? diag_error : diag_warning)(diags, place_of(job, r->entry),
                                           row->code, r->entry ? r->entry : "?",
                                           job->target->name);
    diag_note(diags, (struct span){0}, "ptxas says (C%d): %s", r->number,
              r->text);
    note_line(a, job, r, diags);
    if (*row->help)
        diag_help(diags, "%s", row->help);
    return is_error;
}

int ptxas_read_remarks(struct arena *a, const char *text, struct ptxas_job *job,
                       struct diag_list *diags)
{
    int errors = 0;
    while (*text) {
        size_t n = strcspn(text, "\n");
        read_line(a, arena_copy(a, text, n), job);
        text += n + (text[n] == '\n');
    }
    for (size_t i = 0; i < job->remarks.n; i++)
        errors += report(a, job, &job->remarks.at[i], diags);
    return errors;
}
