// Runs a variant on the executor, in a child: all its cases under all
// policies, each on arrays of its own.

#include "tools/ingot/check.h"
#include "tools/ingot/equivalence.h"

#include "ir/accesses.h"
#include "ir/marks.h"
#include "ir/walk.h"

#include <string.h>

// Runs are done again with atomics in another order, if they have so few steps,
// about so many times for a variant.
enum { SEARCH_STEPS = 1 << 17, SEARCH_RUNS = 64 };

// The work of the child.
struct runner {
    const struct check *check;
    const struct check_variant *v;
    size_t first;             // case
    struct check_order order; // of the run
    size_t searched;          // runs
    struct check_shared *out;
    struct simt_code *code;
    struct simt_result *result;
    struct diag_list diags;
    struct arena arena;
    struct buf printed; // by the kernel, in the first run
};

// ---- Shared memory --------------------------------------------------------

const char *check_share_text(struct check_shared *s, const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    if (!text || n > CHECK_TEXT - s->used)
        return text ? "" : NULL;
    char *copy = memcpy(s->text + s->used, text, n);
    s->used += n;
    return copy;
}

// Add a finding of this run, unless an earlier case shows the same.
static void add_finding(struct runner *r, struct check_finding *f)
{
    struct check_shared *s = r->out;
    f->at = s->at;
    f->policies = 1u << s->policy;
    f->order = r->order;
    for (size_t i = 0; i < s->n_findings; i++) {
        struct check_finding *known = &s->findings[i];
        if (!check_same(known, f))
            continue;
        if (known->is_idle && !f->is_idle) {
            known->is_idle = false;
            known->at = f->at;
            known->order = f->order;
            known->policies = 0;
        }
        if (known->at == f->at)
            known->policies |= f->policies;
        return;
    }
    if (s->n_findings == CHECK_FINDINGS) {
        s->lost++;
        return;
    }
    f->simt.entry = check_share_text(s, f->simt.entry);
    f->simt.array = check_share_text(s, f->simt.array);
    f->simt.place.file = check_share_text(s, f->simt.place.file);
    f->simt.other.file = check_share_text(s, f->simt.other.file);
    f->simt.schedule.file = check_share_text(s, f->simt.schedule.file);
    f->simt.other_schedule.file =
        check_share_text(s, f->simt.other_schedule.file);
    s->findings[s->n_findings++] = *f;
}

// Hand the diagnostics of the child on.
static void share_diags(struct runner *r)
{
    for (size_t i = 0; i < r->diags.all.n && i < CHECK_DIAGS; i++) {
        struct diag d = r->diags.all.at[i];
        d.text = check_share_text(r->out, d.text);
        d.label = NULL;
        memset(&d.notes, 0, sizeof d.notes);
        r->out->diags[r->out->n_diags++] = d;
    }
}

// ---- Runs -----------------------------------------------------------------

// Return the array of the problem that a finding means, or NULL.
static const struct problem_array *array_of(const struct problem *p,
                                            const struct simt_finding *f)
{
    for (size_t i = 0; i < p->arrays.n; i++)
        if (f->buffer &&
            strcmp(p->arrays.at[i].buffer->name, f->buffer->name) == 0)
            return &p->arrays.at[i];
    return NULL;
}

// Return whether a kernel stores to an array where a condition holds.
static bool is_conditional(const struct ir_kernel *k, const struct ir_buffer *b)
{
    ir_foreach_stmt(s, &k->body)
        if (s->kind == STMT_stage && ir_attr_get(s, MARK_distinct) &&
            ir_block_writes(&s->u.stage.body, b))
            return true;
    return false;
}

// Return whether it is said which elements of a result are left unwritten: a
// definition of its own does, a count of those that are in any order, and the
// conditions of stores.
static bool is_partial(const struct runner *r, const struct check_case *one,
                       const struct problem_array *array)
{
    const struct ir_kernel *k = one->problem.kernel;
    struct equivalence e = check_equivalence(r->check, r->v, one);
    bool is_counted;
    equivalence_is_unordered(&e, array, &is_counted);
    return is_counted || definition_of(k) != k ||
           is_conditional(k, array->buffer);
}

// Count the elements that the definition writes and the run does not.  Sets
// the element of the finding to the first.
static uint64_t count_unwritten(const struct check_case *one,
                                const struct eval_argument *got,
                                struct simt_finding *f)
{
    const struct problem_array *array = array_of(&one->problem, f);
    if (!array || !one->want)
        return f->count;
    size_t size = type_bytes(array->buffer->elem);
    const char *g = got[array->parameter].data;
    const char *w = one->want[array->parameter].data;
    char poison[16];
    uint64_t count = 0;
    memset(poison, problem_poison(array->buffer), sizeof poison);
    for (size_t i = 0; i < array->bytes / size; i++) {
        if (memcmp(g + i * size, poison, size) != 0 ||
            memcmp(w + i * size, poison, size) == 0)
            continue;
        if (!count++) {
            f->element = (int64_t)i;
            f->rank = 0;
        }
    }
    return count;
}

struct equivalence check_equivalence(const struct check *check,
                                     const struct check_variant *v,
                                     const struct check_case *one)
{
    const struct problem_options *o = &check->request->problem;
    return (struct equivalence){.problem = &one->problem,
                                .work = &one->work,
                                .definition = &o->definition,
                                .unordered = o->unordered,
                                .tolerance = o->tolerance,
                                .fast_math = v->variant->kernel->fast_math};
}

// Return whether a result cannot tell right from wrong: floating sums of
// elements that cancel.
static bool is_vague(const struct check_case *one,
                     const struct problem_array *array)
{
    return elements_are_special(one->problem.elements) &&
           type_is_float(array->buffer->elem);
}

// Compare the results with the definition.  Returns whether they agree.
static bool compare(struct runner *r, const struct check_case *one,
                    const struct eval_argument *got)
{
    struct equivalence e = check_equivalence(r->check, r->v, one);
    bool is_right = true;
    for (size_t i = 0; i < one->problem.arrays.n; i++) {
        const struct problem_array *array = &one->problem.arrays.at[i];
        struct check_finding f = {.is_difference = true};
        if (array->buffer->role == ROLE_input || is_vague(one, array))
            continue;
        f.difference = equivalence_compare(&e, array, got, one->want);
        is_right &= !f.difference.wrong;
        if (f.difference.wrong)
            add_finding(r, &f);
    }
    return is_right;
}

// Return whether a finding is a read of what a block's arrays hold at first.
// Unless results differ from what they should be, nobody used it.
static bool is_idle_read(const struct simt_finding *f)
{
    return f->fault == SIMT_FAULT_uninitialised && f->space != SPACE_global;
}

// Find what a run leaves unwritten: what the definition writes, or else what
// nobody does, unless the text says so.
static void find_unwritten(const struct runner *r, const struct check_case *one,
                           const struct eval_argument *got,
                           struct check_finding *f)
{
    const struct problem_array *array = array_of(&one->problem, &f->simt);
    uint64_t all = f->simt.count;
    f->simt.count = count_unwritten(one, got, &f->simt);
    if (f->simt.count || !array || is_partial(r, one, array))
        return;
    f->simt.count = all;
    f->is_left = !r->check->request->is_strict;
}

// Return whether a finding only says that limits of types are as many
// iterations.
static bool is_long(const struct check_case *one, const struct simt_finding *f)
{
    return one->problem.elements == ELEMENTS_limits &&
           f->fault == SIMT_FAULT_hang;
}

// Note what the executor found; `is_right` says that results are what they
// should be.
static void note_findings(struct runner *r, const struct check_case *one,
                          const struct eval_argument *got, bool is_right)
{
    for (size_t i = 0; i < r->result->n; i++) {
        struct check_finding f = {.simt = r->result->findings[i]};
        if (f.simt.fault == SIMT_FAULT_unwritten)
            find_unwritten(r, one, got, &f);
        f.is_idle = is_right && is_idle_read(&f.simt);
        if (f.simt.count && !is_long(one, &f.simt))
            add_finding(r, &f);
    }
    r->out->lost += r->result->lost;
}

// Sort what is unordered on both sides.
static void sort(const struct runner *r, const struct check_case *one,
                 struct eval_argument *got)
{
    struct equivalence e = check_equivalence(r->check, r->v, one);
    equivalence_sort(&e, got);
    equivalence_sort(&e, one->want);
}

// Add what a run did to the sums.
static void add_counts(struct runner *r, bool is_sample)
{
    r->out->samples += is_sample;
    r->out->accesses += r->result->accesses;
    r->out->steps += r->result->steps;
    r->out->barriers += r->result->barriers;
    r->out->blocks += r->result->blocks;
    r->out->pairs += r->result->pairs;
    check_cover(r->out, r->code);
}

uint32_t check_resident(const struct simt_code *code,
                        const struct check_order *order)
{
    bool is_alone =
        order->policy == SIMT_forward || order->policy == SIMT_reverse;
    bool is_searched = order->choice || order->searches;
    return is_alone && !is_searched ? 1 : simt_resident_most(code);
}

struct simt_run check_how(const struct check *check, const struct variant *v,
                          const struct check_case *one,
                          const struct check_order *order)
{
    return (struct simt_run){.policy = order->policy,
                             .seed = check->request->problem.request.seed,
                             .choice = order->choice,
                             .most_steps = check_most_steps(check, one),
                             .most_blocks = check_sample(check, v, one)};
}

// Run a case under a policy, with one of its choices turned round, or none.
// Returns false if the variant is not to be run again: it hangs, or cannot be
// run.
static bool run_choice(struct runner *r, const struct check_case *one,
                       enum simt_policy policy, size_t choice)
{
    r->order.policy = policy;
    r->order.choice = choice;
    struct simt_run how = check_how(r->check, r->v->variant, one, &r->order);
    how.resident = check_resident(r->code, &r->order);
    how.printed = r->out->runs ? NULL : &r->printed;
    struct eval_argument *got =
        problem_arguments(&r->arena, &one->problem, &r->diags);
    r->out->policy = policy;
    r->out->runs++;
    bool has_run = got && simt_run(r->code, got, &how, r->result, &r->diags);
    if (how.printed)
        check_keep_printed(r->out, how.printed);
    if (!has_run)
        return false;
    add_counts(r, how.most_blocks);
    bool is_whole = !r->result->is_stopped;
    bool is_comparable = is_whole && one->want;
    if (is_comparable && how.most_blocks)
        check_complete(one, got);
    if (is_comparable)
        sort(r, one, got);
    note_findings(r, one, got, is_comparable && compare(r, one, got));
    problem_free_arguments(&one->problem, got);
    return is_whole;
}

// Run a case under a policy.  Where atomics meet, the first policy has the order
// of each two of them turned round, too, while that takes few steps.  Returns
// false if the variant is not to be run again.
static bool run(struct runner *r, const struct check_case *one,
                enum simt_policy policy)
{
    if (!run_choice(r, one, policy, 0))
        return false;
    if (policy != SIMT_forward || !r->result->choices ||
        r->result->steps > SEARCH_STEPS || r->searched > SEARCH_RUNS)
        return true;
    r->order.searches = true;
    bool ok = run_choice(r, one, policy, 0);
    for (size_t i = 1, n = r->result->choices; i <= n && ok; i++) {
        ok = run_choice(r, one, policy, i);
        r->searched++;
    }
    r->order.searches = false;
    return ok;
}

// Return whether a case runs under a policy: once there have been many steps,
// each runs under one, another one each time, unless the user chose.
static bool is_due(struct runner *r, size_t at, int policy)
{
    const struct check_request *q = r->check->request;
    bool is_chosen = !q->problem.request.values.n &&
                     q->policies == (1u << SIMT_POLICIES) - 1;
    bool is_due = !is_chosen || !q->steps || r->out->steps <= r->check->steps ||
                  at % SIMT_POLICIES == (size_t)policy;
    if (!(q->policies >> policy & 1))
        return false;
    r->out->left_out += !is_due;
    return is_due;
}

// Run all cases under all policies.
static void run_all(struct runner *r)
{
    for (size_t i = r->first; i < r->v->cases.n; i++) {
        r->out->at = i;
        for (int p = 0; p < SIMT_POLICIES; p++)
            if (is_due(r, i, p) &&
                !run(r, r->v->cases.at[i], (enum simt_policy)p))
                return;
    }
}

struct simt_code *check_compile(const struct check *check,
                                const struct check_variant *v, struct arena *a,
                                struct diag_list *diags)
{
    const struct compile_options *o = check->options;
    struct simt_options options = {.target = v->target,
                                   .is_unchecked = check->request->is_unchecked,
                                   .is_covered = true,
                                   .fast_math = o->fast_math,
                                   .opt_level = o->opt_level,
                                   .libdevice = o->libdevice,
                                   .libdevice_size = o->libdevice_size};
    return simt_compile(a, v->variant->kernel, &options, diags);
}

// Be the child.
static void work(void *context)
{
    struct runner *r = context;
    r->diags.arena = &r->arena;
    r->result = arena_new(&r->arena, struct simt_result);
    r->code = check_compile(r->check, r->v, &r->arena, &r->diags);
    if (r->code)
        run_all(r);
    share_diags(r);
}

// Say how far the child is.
static void tick(void *context)
{
    const struct runner *r = context;
    const char *text = arena_printf(
        (struct arena *)&r->arena, "checking %s (%s): size %zu of %zu",
        r->v->variant->source->name, check_name(r->v->variant), r->out->at + 1,
        r->v->cases.n);
    cli_progress(text);
}

// Take the diagnostics of the child over; they outlive what it shares.
static void take_diags(struct check *check, const struct check_shared *s)
{
    struct diag_list *diags = &check->c->diags;
    for (size_t i = 0; i < s->n_diags; i++) {
        struct diag d = s->diags[i];
        d.text = arena_copy(&check->c->arena, d.text, strlen(d.text));
        vec_push(&check->c->arena, &diags->all, d);
        diags->errors += d.severity == DIAG_ERROR;
    }
}

void check_variant_run(struct check *check, struct check_variant *v,
                       size_t first)
{
    struct runner r = {.check = check, .v = v, .first = first};
    double began = phases_now();
    if (!v->shared)
        v->shared = isolated_alloc(sizeof *v->shared);
    r.out = v->shared;
    if (!r.out) {
        diag_error(&check->c->diags, (struct span){0}, D_simt_no_memory);
        return;
    }
    struct isolated what = {.work = work,
                            .context = &r,
                            .progress = &r.out->runs,
                            .seconds = check->request->seconds,
                            .tick = tick};
    isolated_run(&what, &v->end);
    take_diags(check, r.out);
    v->seconds += (phases_now() - began) / 1e3;
    arena_reset(&r.arena);
}
