// Diagnostics are values: a stage reports them here and goes on or fails;
// only tools/ prints them.
//
//   diag_error(d, span, D_unknown_name, "variable", name);
//   diag_label(d, "not declared in this kernel");
//   diag_note(d, other_span, "the parameters are declared here");
//   diag_help(d, "did you mean %s?", suggestions);
//   diag_trace(d, "with n=4");
//   diag_step(d, span, "thread 3", "writes `S[3]`");

#ifndef IR_BASE_DIAG_H
#define IR_BASE_DIAG_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/source.h"
#include "ir/base/vec.h"

#include <stdbool.h>

enum diag_code {
#define DIAG(code, name, text, explanation) D_##name,
#include "ir/base/diag.def"
#undef DIAG
    D_COUNT
};

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_REMARK };

// A further place or remark below a diagnostic.
struct diag_note {
    struct span span; // may be no place
    const char *text; // may hold several lines
    bool is_help;     // what to do, rather than what is
};

// What somebody did on the way to a fault.
struct diag_step {
    struct span span; // may be no place
    const char *who, *what;
};

// One diagnostic.
struct diag {
    enum diag_code code;
    enum diag_severity severity;
    struct span span;  // may be no place
    const char *text;  // from diag.def, filled in
    const char *label; // beside the underline; may be NULL
    struct VEC(struct diag_note) notes;
    const char *trace; // what the steps are of; NULL: there is no trace
    struct VEC(struct diag_step) steps; // in their order
};

// What becomes of warnings.
struct diag_policy {
    bool silent[D_COUNT]; // not reported
    bool errors[D_COUNT]; // errors
};

// What a compilation reported so far, in order.
struct diag_list {
    struct arena *arena;
    const struct diag_policy *policy; // NULL: warnings are warnings
    struct VEC(struct diag) all;      // the first DIAG_MOST
    struct diag dropped;              // the newest one beyond those
    int errors, more;                 // all errors; diagnostics beyond `all`
    bool is_dropped;                  // the newest one is not in `all`
    bool is_brief;                    // codes will do: no examples, no offers
};

// Report an error.  The arguments are those of the row's printf format.
// Past DIAG_MOST diagnostics the rest is counted, not kept.
// Returns false, as the others here do: what fails can return that.
bool diag_error(struct diag_list *d, struct span span, enum diag_code code,
                ...);

// Report a warning, likewise, as far as the list's policy and comments of the
// source let it (ir/base/silence.h).
bool diag_warning(struct diag_list *d, struct span span, enum diag_code code,
                  ...);

// Report what is no fault, likewise; it is printed as a note.
bool diag_remark(struct diag_list *d, struct span span, enum diag_code code,
                 ...);

// Return whether a diagnostic of that code begins at that place already.
bool diag_was_said(const struct diag_list *d, struct span span,
                   enum diag_code code);

// Report what another list has, as far as there is room; warnings likewise.
void diag_append(struct diag_list *d, const struct diag_list *more);

// Return the first error, "E0601: a factor must be at least 1 ..."; NULL if there is
// none.
const char *diag_first_error(struct arena *a, const struct diag_list *d);

// Return "error", "warning" or "note".
const char *diag_severity_text(enum diag_severity severity);

// Set the label of the newest diagnostic.
bool diag_label(struct diag_list *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Add a note, which may point elsewhere, to the newest diagnostic.
bool diag_note(struct diag_list *d, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Add a remark without a place that says what to do instead.
bool diag_help(struct diag_list *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Begin a trace of the newest diagnostic, and add a step to it.
void diag_trace(struct diag_list *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void diag_step(struct diag_list *d, struct span span, const char *who,
               const char *what);

enum { DIAG_MOST = 20 };

// Return the public code of a row, such as "E0201".
const char *diag_code_text(enum diag_code code);

// Return the row's explanation, with an example: what `ingot explain` prints.
const char *diag_explanation(enum diag_code code);

// Return whether the cause lies outside of the input: a row of outside.def.
bool diag_is_outside(enum diag_code code);

// Find the row with that public code, in any case of letters.
bool diag_find(const char *text, enum diag_code *code);

// How to print.
struct diag_style {
    bool colour; // ANSI escapes
};

// Append all diagnostics with excerpts and underlines.
void diag_render(const struct diag_list *d, struct diag_style style,
                 struct buf *out);

#endif
