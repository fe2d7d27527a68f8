// The runner: passes of passes.def, each followed by its checks.
//
// A checked run asks after every pass whether the kernel obeys its level,
// whether its text reads back as the same kernel, and whether what the step
// consumes is gone (steps.c); any run whether what the last
// one leaves does. After a pass that says it changed nothing it does not ask
// again; what the last pass leaves is checked whatever that says.

#include "ir/check.h"
#include "ir/equal.h"
#include "ir/text.h"
#include "passes/steps.h"

#include <string.h>

enum pass_kind { KIND_CHECK, KIND_LOWER, KIND_OPT };

// A row of passes.def.
struct pass_row {
    const char *name;
    enum pass_kind kind;
    enum ir_level on, leaves;
    const char *doc;
    enum pass_result (*run)(struct pass *p);
};

static const struct pass_row rows[] = {
#define PASS(name, kind, on, leaves, doc)                                      \
    {#name, KIND_##kind, LEVEL_##on, LEVEL_##leaves, doc, pass_##name},
#include "passes/passes.def"
#undef PASS
};

const char *pass_text(enum pass_name pass)
{
    return rows[pass].name;
}

const char *pass_doc(enum pass_name pass)
{
    return rows[pass].doc;
}

bool pass_find(const char *text, enum pass_name *out)
{
    for (int i = 0; i < PASS_COUNT; i++) {
        if (strcmp(rows[i].name, text) == 0) {
            *out = (enum pass_name)i;
            return true;
        }
    }
    return false;
}

bool pass_is_optional(enum pass_name pass)
{
    return rows[pass].kind == KIND_OPT;
}

bool pass_is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}

// Report a fault of the compiler itself; returns false.
static bool fault(struct pass *p, enum pass_name pass, const char *text)
{
    return diag_error(p->diags, p->kernel->span, D_pass_fault, rows[pass].name,
                      p->kernel->name, text);
}

// What was read back last.  Most passes leave most kernels as they are: the same
// text is not parsed again.
struct pass_reading {
    struct arena arena; // of the kernel
    struct buf text;
    const struct ir_kernel *kernel; // NULL: none
};

// Return the kernel that a text reads as; NULL, with errors in `diags`: none.
static const struct ir_kernel *read_back(struct pass *p, struct pass_reading *r,
                                         const struct buf *text,
                                         struct diag_list *diags)
{
    if (r->kernel && r->text.n == text->n &&
        memcmp(r->text.data, text->data, text->n) == 0)
        return r->kernel;
    arena_clear(&r->arena);
    buf_free(&r->text);
    buf_bytes(&r->text, text->data, text->n);
    struct source *source = arena_new(&r->arena, struct source);
    *source = (struct source){"printed kernel", r->text.data, r->text.n};
    r->kernel = ir_parse_kernel(&r->arena, p->names, source, diags);
    return r->kernel;
}

// Forget what was read.
static void reading_end(struct pass_reading *r)
{
    arena_reset(&r->arena);
    buf_free(&r->text);
}

// Return whether the kernel's text reads back as the same kernel.
static bool check_text(struct pass *p, enum pass_name pass,
                       const struct buf *text)
{
    struct diag_list diags = {.arena = p->scratch};
    struct pass_reading own = {.kernel = NULL};
    const struct ir_kernel *again =
        read_back(p, p->reading ? p->reading : &own, text, &diags);
    const char *difference = "its text does not parse";
    bool good =
        again && ir_kernel_equal(p->scratch, p->kernel, again, &difference);
    struct buf why = {0};
    if (!good) {
        buf_text(&why, difference);
        diag_render(&diags, (struct diag_style){0}, &why);
        fault(p, pass, arena_printf(p->arena, "%s\n%s", why.data, text->data));
    }
    buf_free(&why);
    reading_end(&own);
    return good;
}

// Return whether the kernel obeys its level and, if asked, reads back as
// itself, reporting what does not.
static bool check_kernel(struct pass *p, enum pass_name pass, bool reads_back)
{
    const char *faults = ir_check(p->scratch, p->kernel);
    struct buf text = {0};
    bool good = !faults;
    if (faults || reads_back)
        ir_print_kernel(&text, p->kernel);
    if (faults)
        fault(p, pass, arena_printf(p->arena, "%s\n%s", faults, text.data));
    else if (reads_back)
        good = check_text(p, pass, &text);
    buf_free(&text);
    arena_clear(p->scratch);
    return good;
}

// Return whether a step has left nothing of what it consumes.
static bool check_left(struct pass *p, size_t at)
{
    size_t n;
    const char *left = pass_left(p->arena, p->kernel, at);
    return !left || fault(p, pass_steps(&n)[at].pass,
                          arena_printf(p->arena, "it leaves %s", left));
}

void pass_print_after(const struct pass_options *options, const char *stage,
                      const struct ir_kernel *kernel)
{
    const char *which = options->print_after;
    if (!which || (strcmp(which, "all") != 0 && !pass_is_listed(which, stage)))
        return;
    buf_printf(options->log, "// after %s\n", stage);
    ir_print_kernel(options->log, kernel);
}

// Note the time of a pass.
static void note_time(struct pass *p, enum pass_name pass, double began,
                      struct phases *times)
{
    const char *name = arena_printf(p->scratch, "lower/%s", rows[pass].name);
    phases_add(times, name, phases_now() - began);
}

bool passes_run_one(struct pass *p, enum pass_name pass,
                    const struct pass_options *options)
{
    const struct pass_row *row = &rows[pass];
    if (p->kernel->level > row->on)
        return true;
    double began = phases_now();
    enum pass_result result = row->run(p);
    bool good = result != PASS_FAILED;
    note_time(p, pass, began, options->times);
    bool is_same = result == PASS_SAME && p->reading;
    if (good && p->kernel->level < row->leaves) {
        p->kernel->level = row->leaves;
        is_same = false;
    }
    arena_clear(p->scratch);
    if (good && options->checked && !is_same)
        good = check_kernel(p, pass, true);
    if (good)
        pass_print_after(options, row->name, p->kernel);
    arena_clear(p->scratch);
    return good;
}

// Check what the last pass leaves; its text only in a checked run.
static bool check_last(struct pass *p, enum pass_name last,
                       const struct pass_options *options)
{
    double began = phases_now();
    bool good = check_kernel(p, last, options->checked);
    phases_add(options->times, "lower/check", phases_now() - began);
    return good;
}

// Run the passes; p->reading is theirs.
static bool run_steps(struct pass *p, const struct pass_options *options)
{
    size_t n;
    const struct pass_step *steps = pass_steps(&n);
    for (size_t i = 0; i < n; i++) {
        const struct pass_row *row = &rows[steps[i].pass];
        if (row->kind == KIND_OPT && pass_is_listed(options->skip, row->name))
            continue;
        if (!passes_run_one(p, steps[i].pass, options) ||
            (options->checked && !check_left(p, i)))
            return false;
        if (options->stop_after && strcmp(options->stop_after, row->name) == 0)
            return !options->checked || check_last(p, steps[i].pass, options);
    }
    return check_last(p, steps[n - 1].pass, options);
}

bool passes_run(struct pass *p, const struct pass_options *options)
{
    struct pass_reading reading = {.kernel = NULL};
    p->reading = &reading;
    bool good = run_steps(p, options);
    p->reading = NULL;
    reading_end(&reading);
    return good;
}
