// The code that becomes PTX, run on this machine by tools/simt, every access
// checked, under one of its policies; under all of them if it is doubtful.

#include "ir/walk.h"
#include "tests/fuzz/schedule/oracle.h"
#include "tools/ingot/toolchain.h"
#include "tools/simt/simt.h"

#include <sys/mman.h>

static const uint64_t accesses_most = 10000000, accesses_of_long = 4000000;
static const double threads_of_long = 1 << 20;

// Return whether a finding is no fault, or one only where results differ under
// some policy: copies take along elements that nobody has written, as padding
// has them.  Threads may compute the same elements of the workspace, each for
// itself, where their windows overlap.
static bool is_harmless(const struct fuzz_trial *t,
                        const struct simt_finding *f)
{
    bool is_workspace =
        f->space == SPACE_global && f->buffer && f->buffer->role == ROLE_alloc;
    *t->reads_unwritten |= f->fault == SIMT_FAULT_uninitialised;
    *t->writes_alike |= f->fault == SIMT_FAULT_redundant && is_workspace;
    return f->fault == SIMT_FAULT_uninitialised ||
           simt_fault_severity(f->fault) != SIMT_ERROR;
}

// Append the first finding that is a failure; returns whether there is none.
static bool is_clean(const struct fuzz_trial *t, const struct simt_result *r,
                     struct buf *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct simt_finding *f = &r->findings[i];
        if (is_harmless(t, f))
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
    const char *text = "no reason given";
    for (size_t i = diags->all.n; i-- > 0;)
        if (diags->all.at[i].severity == DIAG_ERROR)
            text = diags->all.at[i].text;
    buf_printf(out, "refused: %s", text);
}

// A kernel to be run.
struct subject {
    struct simt_code *code;
    bool may_hang; // threads wait for each other by more than barriers
};

void *fuzz_simt_start(const struct fuzz_subject *s, struct buf *out)
{
    struct subject *r = arena_new(s->arena, struct subject);
    struct simt_options options = {
        .target = s->target, .opt_level = 2, .is_brief = true};
    struct toolchain tools;
    toolchain_start(&tools, NULL);
    toolchain_libdevice(&tools, &options.libdevice, &options.libdevice_size);
    *r = (struct subject){
        .code = simt_compile(s->arena, s->kernel, &options, s->diags)};
    if (options.libdevice)
        munmap((void *)options.libdevice, options.libdevice_size);
    r->may_hang = ir_has_roles(&s->kernel->body);
    if (!r->code)
        print_error(s->diags, out);
    return r;
}

// Return whether a run ended because it took too many steps.
static bool is_too_long(const struct simt_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->findings[i].fault == SIMT_FAULT_hang)
            return true;
    }
    return false;
}

// Run the kernel on arguments under a policy.  A hang says nothing of what was
// too long for the evaluator, or cannot but end: it takes too many steps.
static enum fuzz_answer run(const struct subject *s, const struct fuzz_trial *t,
                            enum simt_policy policy, struct fuzz_inputs *in,
                            struct buf *out)
{
    struct diag_list diags = {.arena = t->arena};
    struct simt_result result = {0};
    struct simt_run how = {.policy = policy,
                           .seed = t->seed,
                           .most_steps =
                               *t->is_long ? accesses_of_long : accesses_most};
    if (!simt_run(s->code, in->args, &how, &result, &diags)) {
        print_error(&diags, out);
        return FUZZ_WRONG;
    }
    if ((*t->is_long || !s->may_hang) && is_too_long(&result))
        return FUZZ_LEFT;
    bool right =
        is_clean(t, &result, out) && fuzz_inputs_same(t->wanted, in, out);
    return right ? FUZZ_RIGHT : FUZZ_WRONG;
}

// Run it under a policy on arguments of its own.
static enum fuzz_answer run_again(const struct subject *s,
                                  const struct fuzz_trial *t,
                                  enum simt_policy policy, struct buf *out)
{
    struct fuzz_inputs in;
    enum fuzz_answer answer = fuzz_inputs_again(t->inputs, &in)
                                  ? run(s, t, policy, &in, out)
                                  : FUZZ_RIGHT;
    fuzz_inputs_free(&in);
    return answer;
}

// Return how many threads all launches have.
static double threads_of(const struct fuzz_inputs *in)
{
    const struct ir_block *body = &in->kernel->body;
    double all = 0;
    for (size_t i = 0; i < body->n; i++) {
        const struct ir_launch *launch = &body->at[i]->u.launch;
        double threads = body->at[i]->kind == STMT_launch;
        for (int d = 0; d < 3 && threads > 0; d++) {
            int64_t grid = 0;
            ir_eval_int(in->kernel, in->args, launch->grid[d], &grid);
            threads *= (double)grid * launch->block[d];
        }
        all += threads;
    }
    return all;
}

// Arrays that are mostly gaps are left to the other oracle: the executor would
// copy the gaps.
enum fuzz_answer fuzz_simt_ask(void *ready, const struct fuzz_trial *t,
                               struct buf *out)
{
    const struct subject *s = ready;
    enum simt_policy first = (enum simt_policy)(t->seed % SIMT_POLICIES);
    bool is_wide = *t->is_long && threads_of(t->inputs) > threads_of_long;
    if (!s->code || t->inputs->is_huge || *t->is_refused || is_wide)
        return FUZZ_LEFT;
    enum fuzz_answer answer = run(s, t, first, t->inputs, out);
    for (int i = 0; i < SIMT_POLICIES && answer == FUZZ_RIGHT; i++) {
        bool is_doubtful = *t->reads_unwritten || *t->writes_alike;
        if (is_doubtful && i != (int)first)
            answer = run_again(s, t, (enum simt_policy)i, out);
    }
    return answer;
}

void fuzz_simt_end(void *ready)
{
    struct subject *s = ready;
    simt_free(s->code);
}
