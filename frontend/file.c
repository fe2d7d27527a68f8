// A file: kernels, schedules, defs and reductions in any order, each name
// before its use.

#include "frontend/frontend.h"

#include "frontend/check.h"
#include "frontend/counts.h"
#include "frontend/define.h"
#include "frontend/definition.h"
#include "frontend/exits.h"
#include "frontend/grids.h"
#include "frontend/instance.h"
#include "frontend/schedule.h"
#include "ir/base/suggest.h"

#include <string.h>

// Parse a kernel and add it; equal names are reported.
static bool add_kernel(struct parser *p, struct program *out)
{
    struct frontend *f = p->context;
    f->defined.n = f->failed.n = 0;
    struct ir_kernel *k = parse_kernel(p);
    if (!k)
        return false;
    int errors = p->diags->errors;
    exits_lower(p, k);
    counts_in_int(p, k);
    grids_divide(p, k);
    kernel_spread_scalars(p, k);
    if (p->diags->errors == errors)
        kernel_check(p, k);
    definition_find(p, k, out);
    for (size_t i = 0; i < out->kernels.n; i++) {
        if (out->kernels.at[i]->name == k->name) {
            diag_error(p->diags, k->span, D_declared_twice, k->name);
            diag_note(p->diags, out->kernels.at[i]->span,
                      "first declared here");
        }
    }
    vec_push(p->arena, &out->kernels, k);
    return true;
}

static const char *const words[] = {"kernel", "schedule", "rule", "def",
                                    "reduce"};
enum { WORDS = sizeof words / sizeof *words };

// Report what begins no item.
static bool report_item(struct parser *p)
{
    struct suggest near = {.wanted = parse_peek(p, 0)->text};
    parse_expect(p, "kernel", "or `schedule`, `rule`, `def`, `reduce`");
    for (size_t i = 0; i < WORDS; i++)
        suggest_offer(&near, words[i]);
    return suggest_help(p->diags, &near);
}

// Step to the next line that begins with a word that begins an item.
static void recover_item(struct parser *p)
{
    for (;; p->at++) {
        const struct token *t = parse_peek(p, 0);
        if (t->kind == TOKEN_END)
            return;
        bool at_start = p->at == 0 || t[-1].kind == TOKEN_NEWLINE;
        for (size_t i = 0; at_start && i < WORDS; i++) {
            if (parse_is(p, words[i]))
                return;
        }
    }
}

// Parse one item; false after an error.
static bool parse_item(struct parser *p, struct program *out)
{
    if (instance_is_next(p))
        return instances_add(p, out, add_kernel);
    if (parse_is(p, "kernel"))
        return add_kernel(p, out);
    if (schedule_parse_item(p, &out->schedules))
        return true;
    if (parse_take(p, "reduce"))
        return reduce_declare(p);
    return report_item(p);
}

// Parse items up to the end of the file.
static void parse_items(struct parser *p, struct program *out)
{
    for (parse_skip_newlines(p); parse_peek(p, 0)->kind != TOKEN_END;
         parse_skip_newlines(p)) {
        size_t before = p->at;
        if (!parse_item(p, out)) {
            p->at += p->at == before;
            recover_item(p);
        }
        p->scope.n = p->scope_start = 0;
        p->depth = p->operations = 0;
    }
}

// What splits a file into tokens.
typedef bool split_file(struct arena *a, struct str_table *names,
                        const struct source *source, struct diag_list *diags,
                        struct tokens *out);

// Parse a file.  Returns false after reporting errors.
static bool parse_file(struct arena *a, struct str_table *names,
                       const struct source *source, split_file *split,
                       struct diag_list *diags, struct program *out)
{
    struct tokens tokens;
    struct arena own = {0};
    struct frontend frontend = {0};
    int errors = diags->errors;
    bool ok = split(&own, names, source, diags, &tokens);
    struct parser p = {.arena = a,
                       .names = names,
                       .diags = diags,
                       .tokens = tokens.at,
                       .define = define_parse,
                       .unknown_call = reduce_misplaced,
                       .context = &frontend};
    if (ok)
        parse_items(&p, out);
    arena_reset(&own);
    return diags->errors == errors;
}

bool frontend_parse(struct arena *a, struct str_table *names,
                    const struct source *source, bool schedules_only,
                    struct diag_list *diags, struct program *out)
{
    bool ok = parse_file(a, names, source, lex_source, diags, out);
    if (!ok || schedules_only || out->kernels.n)
        return ok;
    return diag_error(diags, (struct span){source, 0, 0}, D_nothing_here);
}

bool frontend_parse_library(struct arena *a, struct str_table *names,
                            const struct source *source,
                            struct diag_list *diags, struct program *out)
{
    return parse_file(a, names, source, lex_outline, diags, out);
}
