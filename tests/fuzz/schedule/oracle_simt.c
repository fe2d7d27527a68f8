// The code that becomes PTX, run on this machine by tools/simt, every access
// checked, under one of its policies.

#include "tests/fuzz/schedule/oracle.h"
#include "tools/simt/simt.h"

static const uint64_t accesses_most = 3000000;

// Append the first finding that is an error; returns whether there is none.
// A copy may take along elements that nobody has written, as padding has them:
// where that matters, results differ.
static bool is_clean(const struct simt_result *r, bool *reads_unwritten,
                     struct buf *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct simt_finding *f = &r->findings[i];
        bool is_copy = f->fault == SIMT_FAULT_uninitialised;
        *reads_unwritten |= is_copy;
        if (is_copy || simt_fault_severity(f->fault) != SIMT_ERROR)
            continue;
        buf_printf(out, "%s: %s of `%s`, element %lld, %llu times, at line %u",
                   simt_fault_name(f->fault), f->is_write ? "write" : "read",
                   f->array ? f->array : "?", (long long)f->element,
                   (unsigned long long)f->count, f->place.line);
        if (f->has_other)
            buf_printf(out, ", other at line %u", f->other.line);
        return false;
    }
    return true;
}

// Append the first error that was reported.
static void print_error(const struct diag_list *diags, struct buf *out)
{
    const char *text = diags->all.n ? diags->all.at[0].text : "no reason given";
    buf_printf(out, "refused: %s", text);
}

void *fuzz_simt_start(const struct fuzz_subject *s, struct buf *out)
{
    struct simt_options options = {.target = s->target, .opt_level = 2};
    struct diag_list diags = {.arena = s->arena};
    struct simt_code *code =
        simt_compile(s->arena, s->kernel, &options, &diags);
    if (!code)
        print_error(&diags, out);
    return code;
}

bool fuzz_simt_holds(void *ready, const struct fuzz_trial *t, struct buf *out)
{
    struct diag_list diags = {.arena = t->arena};
    struct simt_result result = {0};
    struct simt_run how = {.policy =
                               (enum simt_policy)(t->seed % SIMT_POLICIES),
                           .seed = t->seed,
                           .most_steps = accesses_most};
    if (!ready)
        return true;
    if (!simt_run(ready, t->inputs->args, &how, &result, &diags)) {
        print_error(&diags, out);
        return false;
    }
    return is_clean(&result, t->reads_unwritten, out) &&
           fuzz_inputs_same(t->wanted, t->inputs, out);
}

void fuzz_simt_end(void *ready)
{
    simt_free(ready);
}
