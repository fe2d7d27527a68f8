// Collects diagnostics.

#include "ir/base/diag.h"

#include "ir/base/silence.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

// A row of diag.def.
struct row {
    const char *code, *explanation;
};

static const struct row rows[] = {
#define DIAG(code, name, text, explanation) {#code, explanation},
#include "ir/base/diag.def"
#undef DIAG
};

// Return the text that vprintf would write, in the list's arena.
__attribute__((format(printf, 2, 0))) static const char *
formatted(struct diag_list *d, const char *format, va_list args)
{
    struct buf b = {0};
    buf_vprintf(&b, format, args);
    const char *text = arena_copy(d->arena, b.data, b.n);
    buf_free(&b);
    return text;
}

// Return the message of a row.
static const char *message(struct diag_list *d, enum diag_code row,
                           va_list args)
{
    switch (row) {
#define DIAG(code, name, text, explanation)                                    \
    case D_##name:                                                             \
        return formatted(d, text, args);
#include "ir/base/diag.def"
#undef DIAG
    case D_COUNT: break;
    }
    return "";
}

// Return the diagnostic that labels and notes go to.
static struct diag *newest(struct diag_list *d)
{
    return d->is_dropped ? &d->dropped : &d->all.at[d->all.n - 1];
}

// Return whether a warning is not wanted.
static bool is_silent(const struct diag_list *d, const struct diag *one)
{
    return one->severity == DIAG_WARNING &&
           ((d->policy && d->policy->silent[one->code]) ||
            silence_has(one->span, one->code));
}

// Make an error of a warning that is one by the list's policy.
static void judge(const struct diag_list *d, struct diag *one)
{
    if (one->severity == DIAG_WARNING && d->policy &&
        d->policy->errors[one->code])
        one->severity = DIAG_ERROR;
}

// Append a diagnostic.
static void report(struct diag_list *d, enum diag_severity severity,
                   struct span span, enum diag_code code, va_list args)
{
    struct diag one = {.code = code, .severity = severity, .span = span};
    bool silent = is_silent(d, &one);
    judge(d, &one);
    d->is_dropped = silent || d->all.n == DIAG_MOST;
    d->errors += one.severity == DIAG_ERROR && !silent;
    d->more += d->is_dropped && !silent;
    d->dropped = one;
    if (d->is_dropped)
        return;
    one.text = message(d, code, args);
    vec_push(d->arena, &d->all, one);
}

void diag_append(struct diag_list *d, const struct diag_list *more)
{
    d->errors += more->errors;
    d->more += more->more;
    vec_foreach(one, &more->all) {
        struct diag own = *one;
        if (is_silent(d, &own))
            continue;
        judge(d, &own);
        d->errors += own.severity != one->severity;
        if (d->all.n < DIAG_MOST)
            vec_push(d->arena, &d->all, own);
        else
            d->more++;
    }
}

const char *diag_first_error(struct arena *a, const struct diag_list *d)
{
    vec_foreach(one, &d->all)
        if (one->severity == DIAG_ERROR)
            return arena_printf(a, "%s: %s", diag_code_text(one->code),
                                one->text);
    return NULL;
}

bool diag_error(struct diag_list *d, struct span span, enum diag_code code, ...)
{
    va_list args;
    va_start(args, code);
    report(d, DIAG_ERROR, span, code, args);
    va_end(args);
    return false;
}

bool diag_warning(struct diag_list *d, struct span span, enum diag_code code,
                  ...)
{
    va_list args;
    va_start(args, code);
    report(d, DIAG_WARNING, span, code, args);
    va_end(args);
    return false;
}

bool diag_remark(struct diag_list *d, struct span span, enum diag_code code,
                 ...)
{
    va_list args;
    va_start(args, code);
    report(d, DIAG_REMARK, span, code, args);
    va_end(args);
    return false;
}

bool diag_was_said(const struct diag_list *d, struct span span,
                   enum diag_code code)
{
    vec_foreach(one, &d->all)
        if (one->code == code && one->span.source == span.source &&
            one->span.from == span.from)
            return true;
    return false;
}

const char *diag_severity_text(enum diag_severity severity)
{
    switch (severity) {
    case DIAG_ERROR: return "error";
    case DIAG_WARNING: return "warning";
    case DIAG_REMARK: return "note";
    }
    return "";
}

bool diag_label(struct diag_list *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    newest(d)->label = d->is_dropped ? NULL : formatted(d, format, args);
    va_end(args);
    return false;
}

// Add a note or a help to the newest diagnostic.
__attribute__((format(printf, 4, 0))) static void
add_note(struct diag_list *d, struct span span, bool is_help,
         const char *format, va_list args)
{
    if (d->is_dropped)
        return;
    struct diag_note note = {span, formatted(d, format, args), is_help};
    vec_push(d->arena, &newest(d)->notes, note);
}

bool diag_note(struct diag_list *d, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(d, span, false, format, args);
    va_end(args);
    return false;
}

bool diag_help(struct diag_list *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(d, (struct span){0}, true, format, args);
    va_end(args);
    return false;
}

void diag_trace(struct diag_list *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    newest(d)->trace = d->is_dropped ? NULL : formatted(d, format, args);
    va_end(args);
}

void diag_step(struct diag_list *d, struct span span, const char *who,
               const char *what)
{
    struct diag_step step = {span, who, what};
    if (!d->is_dropped)
        vec_push(d->arena, &newest(d)->steps, step);
}

const char *diag_code_text(enum diag_code code)
{
    return rows[code].code;
}

bool diag_is_outside(enum diag_code code)
{
    static const bool is_outside[D_COUNT] = {
#define OUTSIDE(name) [D_##name] = true,
#include "ir/base/outside.def"
#undef OUTSIDE
    };
    return is_outside[code];
}

const char *diag_explanation(enum diag_code code)
{
    return rows[code].explanation;
}

bool diag_find(const char *text, enum diag_code *code)
{
    for (int i = 0; i < D_COUNT; i++) {
        if (strcasecmp(rows[i].code, text) == 0) {
            *code = (enum diag_code)i;
            return true;
        }
    }
    return false;
}
