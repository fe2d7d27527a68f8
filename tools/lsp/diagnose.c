// What the compiler says of a document.  It compiles in a process of its own, up to the
// program that becomes LLVM IR: a fault or a text that takes long costs no session.

#include "tools/lsp/lsp.h"

#include "ir/base/diag.h"
#include "tools/ingot/cli.h"
#include "tools/ingot/isolated.h"
#include "tools/ingot/json.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED = 4 << 20, SECONDS = 20, ERROR = 1, WARNING = 2, REMARK = 3 };

// What the child fills.
struct answer {
    const struct lsp_document *document;
    uint64_t n;
    char text[]; // JSON
};

// Return whether a place is in the document.
static bool is_inside(const struct lsp_document *d, struct span s)
{
    return s.source && strcmp(s.source->name, d->name) == 0;
}

// Return the place of a diagnostic in the document: its own, or that of the first note
// there, such as the call of a def of the library; the first line if there is none.
static struct span place_of(const struct lsp_document *d, const struct diag *g)
{
    if (is_inside(d, g->span))
        return g->span;
    for (size_t i = 0; i < g->notes.n; i++)
        if (is_inside(d, g->notes.at[i].span))
            return g->notes.at[i].span;
    return (struct span){0};
}

// Append what is said below a diagnostic.
static void add_notes(const struct diag *g, struct buf *out)
{
    if (g->label)
        buf_printf(out, "\n%s", g->label);
    for (size_t i = 0; i < g->notes.n; i++)
        buf_printf(out, "\n%s: %s", g->notes.at[i].is_help ? "help" : "note",
                   g->notes.at[i].text);
}

// Return a diagnostic as the protocol has it.
static json_t *diagnostic(const struct lsp_document *d, const struct diag *g)
{
    static const int severities[] = {ERROR, WARNING, REMARK};
    struct buf text = {0};
    struct span s = place_of(d, g);
    buf_text(&text, g->text);
    add_notes(g, &text);
    json_t *object = json_pack(
        "{s:o, s:i, s:s, s:s, s:o}", "range",
        lsp_range(d->text.n ? d->text.data : "", d->text.n, s.from, s.to),
        "severity", severities[g->severity], "code", diag_code_text(g->code),
        "source", "ingot", "message", json_text(text.data));
    buf_free(&text);
    return object;
}

// Compile the document and leave its diagnostics in the answer.
static void compile(void *context)
{
    struct answer *answer = context;
    const struct lsp_document *d = answer->document;
    struct compilation c;
    struct compile_options options = {.opt_level = 2};
    json_t *list = json_array();
    compile_start(&c);
    if (compile_add(&c, d->name, d->text.n ? d->text.data : "", d->text.n))
        compile_lower(&c, &options);
    for (size_t i = 0; i < c.diags.all.n; i++)
        json_array_append_new(list, diagnostic(d, &c.diags.all.at[i]));
    answer->n = json_dumpb(list, answer->text, SHARED - sizeof *answer, 0);
}

json_t *lsp_diagnose(const struct lsp_document *d)
{
    struct isolated_result end;
    struct answer *answer = isolated_alloc(SHARED);
    json_t *list = NULL;
    if (!answer)
        return json_array();
    answer->document = d;
    struct isolated what = {.work = compile,
                            .context = answer,
                            .progress = &answer->n,
                            .seconds = SECONDS};
    isolated_run(&what, &end);
    if (answer->n && answer->n <= SHARED - sizeof *answer)
        list = json_loadb(answer->text, answer->n, 0, NULL);
    isolated_free(answer, SHARED);
    if (list)
        return list;
    return json_pack(
        "[{s:o, s:i, s:s, s:s}]", "range", lsp_range("", 0, 0, 0), "severity",
        ERROR, "source", "ingot", "message",
        end.end == ISOLATED_TOO_LONG
            ? "compiling takes too long to be checked here"
            : "the compiler failed on this text; run `ingot build`");
}
