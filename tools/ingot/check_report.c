// What was checked and found, as text and as JSON.

#include "tools/ingot/check.h"

#include "tools/ingot/accesses.h"
#include "tools/ingot/proofs.h"

// ---- Text -----------------------------------------------------------------

// Sums over the variants of a kernel.
struct total {
    size_t variants, sizes, faults;
    uint64_t runs, samples, accesses;
    double seconds;
    struct check_coverage coverage;
    struct proof_share proved[CLAIM_COUNT];
};

// Return how many faults were found in a variant, and not in one before.
static size_t count_faults(const struct check *check,
                           const struct check_variant *v)
{
    size_t n = v->end.end != ISOLATED_DONE;
    for (size_t i = 0; v->shared && i < v->shared->n_findings; i++) {
        n += !check_is_note(&v->shared->findings[i]) &&
             !check_is_told(check, v, &v->shared->findings[i]);
    }
    for (size_t i = 0; i < v->cases.n && !n; i++)
        n += v->cases.at[i]->fault || v->cases.at[i]->unwritten;
    return n;
}

// Add a variant.
static void add(const struct check *check, struct total *t,
                const struct check_variant *v)
{
    t->variants++;
    for (size_t i = 0; i < v->cases.n; i++)
        t->sizes += !elements_are_special(v->cases.at[i]->problem.elements);
    t->faults += count_faults(check, v);
    t->seconds += v->seconds;
    check_add_coverage(&check->c->arena, v, &t->coverage);
    proofs_count(v->variant->proof, t->proved);
    if (!v->shared)
        return;
    t->runs += v->shared->runs;
    t->samples += v->shared->samples;
    t->accesses += v->shared->accesses;
}

// Return "s" unless there is one.
static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

// Append the line of a kernel.
static void print_total(const char *kernel, const struct total *t,
                        struct buf *out)
{
    buf_printf(out, "%s: %zu variant%s, %zu size%s, %llu runs%s, ", kernel,
               t->variants, plural(t->variants), t->sizes, plural(t->sizes),
               (unsigned long long)t->runs,
               t->samples ? " of some blocks" : "");
    buf_printf(out, "%llu accesses checked in %.2f s: ",
               (unsigned long long)t->accesses, t->seconds);
    if (t->faults)
        buf_printf(out, "%zu fault%s\n", t->faults, plural(t->faults));
    else
        buf_text(out, t->coverage.blocks ? "no faults\n" : "nothing ran\n");
    if (t->coverage.blocks)
        check_print_coverage(&t->coverage, out);
    proofs_print_shares(t->proved, "  proved for all sizes: ", out);
}

void check_print(const struct check *check, struct buf *out)
{
    struct total t = {0};
    for (size_t i = 0; i < check->variants.n; i++) {
        const struct check_variant *v = &check->variants.at[i];
        const struct ir_kernel *k = v->variant->source;
        add(check, &t, v);
        check_print_printed(check, v, out);
        if (i + 1 < check->variants.n && v[1].variant->source == k)
            continue;
        print_total(k->name, &t, out);
        t = (struct total){0};
    }
}

// Return the sizes of a variant's last case as access_costs takes them; NULL if
// it has none.
static const int64_t *last_sizes(const struct check *check,
                                 const struct check_variant *v)
{
    const struct ir_kernel *k = v->variant->source;
    if (!v->cases.n)
        return NULL;
    const struct check_case *one = v->cases.at[v->cases.n - 1];
    int64_t *sizes = arena_array(&check->c->arena, int64_t, k->params.n);
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        sizes[i] = var && type_is_index(var->type)
                       ? one->problem.values[i].scalar.i
                       : -1;
    }
    return sizes;
}

void check_print_costs(const struct check *check, struct buf *out)
{
    for (size_t i = 0; i < check->variants.n; i++) {
        const struct check_variant *v = &check->variants.at[i];
        accesses_print(&check->c->arena, v->variant->kernel,
                       last_sizes(check, v), out);
    }
}

void check_print_proofs(const struct check *check, struct buf *out)
{
    for (size_t i = 0; i < check->variants.n; i++) {
        const struct variant *v = check->variants.at[i].variant;
        if (!v->proof)
            continue;
        buf_printf(out, "%s, %s\n", v->source->name, check_name(v));
        proofs_print(&check->c->arena, v->proof, out);
    }
}

// ---- JSON -----------------------------------------------------------------

// Set a member to a whole number.
static void set_int(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

void check_set_place(json_t *object, const struct simt_place *p)
{
    if (!p->file || !p->line)
        return;
    json_object_set_new(object, "file", json_text(p->file));
    set_int(object, "line", p->line);
    set_int(object, "column", p->column);
}

void check_set_schedule(json_t *object, const struct simt_place *p)
{
    json_t *schedule = json_object();
    check_set_place(schedule, p);
    if (json_object_size(schedule))
        json_object_set(object, "schedule", schedule);
    json_decref(schedule);
}

void check_set_thread(json_t *object, const struct simt_thread *t)
{
    json_object_set_new(object, "block",
                        json_pack("[I, I, I]", (json_int_t)t->block[0],
                                  (json_int_t)t->block[1],
                                  (json_int_t)t->block[2]));
    json_object_set_new(object, "thread",
                        json_pack("[I, I, I]", (json_int_t)t->thread[0],
                                  (json_int_t)t->thread[1],
                                  (json_int_t)t->thread[2]));
}

// Return the sizes of a case.
static json_t *sizes_json(const struct check_case *one)
{
    const struct ir_kernel *k = one->problem.kernel;
    json_t *object = json_object();
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type))
            set_int(object, var->name,
                    (uint64_t)one->problem.values[i].scalar.i);
    }
    return object;
}

// Return the names of a set of policies.
static json_t *policies_json(unsigned set)
{
    json_t *list = json_array();
    for (int i = 0; i < SIMT_POLICIES; i++)
        if (set >> i & 1)
            json_array_append_new(
                list, json_text(simt_policy_name((enum simt_policy)i)));
    return list;
}

void check_set_element(json_t *object, const struct simt_finding *f)
{
    json_t *indices = json_array();
    for (uint32_t i = 0; i < f->rank; i++)
        json_array_append_new(indices, json_integer(f->indices[i]));
    json_object_set_new(object, "array", json_text(f->array));
    json_object_set_new(object, "element", json_integer(f->element));
    json_object_set_new(object, "indices", indices);
}

// Set what the executor found.
static void set_fault(json_t *object, const struct simt_finding *f)
{
    json_object_set_new(object, "fault", json_text(simt_fault_name(f->fault)));
    set_int(object, "count", f->count);
    json_object_set_new(object, "entry", json_text(f->entry));
    check_set_place(object, &f->place);
    check_set_schedule(object, &f->schedule);
    check_set_thread(object, &f->thread);
    if (f->array) {
        check_set_element(object, f);
        json_object_set_new(object, "access",
                            json_text(f->is_write ? "write" : "read"));
    }
    if (f->has_other) {
        json_t *other = json_object();
        check_set_place(other, &f->other);
        check_set_schedule(other, &f->other_schedule);
        check_set_thread(other, &f->other_thread);
        json_object_set_new(other, "access",
                            json_text(f->other_is_write ? "write" : "read"));
        json_object_set_new(object, "other", other);
    }
    if (f->missing)
        json_object_set_new(object, "missing",
                            json_text(simt_missing_name(f->missing)));
}

// Set how results differ.
static void set_difference(json_t *object, const struct comparison *c)
{
    json_object_set_new(object, "fault", json_text("differs"));
    json_object_set_new(object, "array", json_text(c->buffer->name));
    set_int(object, "count", c->wrong);
    set_int(object, "elements", c->elements);
    set_int(object, "element", c->first[0].at);
    json_set_real(object, "got", c->first[0].got);
    json_set_real(object, "want", c->first[0].want);
    json_set_real(object, "tolerance", c->tolerance);
}

// Return one finding.
static json_t *finding_json(const struct check_variant *v,
                            const struct check_finding *f)
{
    json_t *object = json_object();
    json_object_set_new(object, "severity",
                        json_text(check_is_note(f) ? "note" : "error"));
    if (f->is_difference)
        set_difference(object, &f->difference);
    else
        set_fault(object, &f->simt);
    json_object_set_new(object, "sizes", sizes_json(v->cases.at[f->at]));
    json_object_set_new(
        object, "elements",
        json_text(elements_name(v->cases.at[f->at]->problem.elements)));
    json_object_set_new(object, "policies", policies_json(f->policies));
    if (f->trace)
        check_set_trace(object, v, f->trace);
    return object;
}

// Return one variant.
static json_t *variant_json(const struct check *check,
                            const struct check_variant *v)
{
    static const char *const ends[] = {"done", "crashed", "too long",
                                       "not started"};
    json_t *object = json_object(), *sizes = json_array();
    json_t *findings = json_array();
    const struct check_shared *s = v->shared;
    for (size_t i = 0; i < v->cases.n; i++)
        if (!elements_are_special(v->cases.at[i]->problem.elements))
            json_array_append_new(sizes, sizes_json(v->cases.at[i]));
    for (size_t i = 0; s && i < s->n_findings; i++)
        json_array_append_new(findings, finding_json(v, &s->findings[i]));
    json_object_set_new(object, "kernel", json_text(v->variant->source->name));
    json_object_set_new(object, "variant", json_text(check_name(v->variant)));
    json_object_set_new(object, "target", json_text(v->target->name));
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "end", json_text(s ? ends[v->end.end] : NULL));
    set_int(object, "runs", s ? s->runs : 0);
    set_int(object, "samples", s ? s->samples : 0);
    set_int(object, "accesses", s ? s->accesses : 0);
    set_int(object, "barriers", s ? s->barriers : 0);
    set_int(object, "blocks", s ? s->blocks : 0);
    json_set_real(object, "seconds", v->seconds);
    json_object_set_new(object, "coverage",
                        check_coverage_json(&check->c->arena, v));
    json_object_set_new(object, "findings", findings);
    set_int(object, "lost", s ? s->lost : 0);
    if (s && *s->printed)
        json_object_set_new(object, "printed", json_text(s->printed));
    if (check->request->has_costs)
        json_object_set_new(object, "costs",
                            accesses_json(&check->c->arena, v->variant->kernel,
                                          last_sizes(check, v)));
    if (v->variant->proof)
        json_object_set_new(object, "proofs",
                            proofs_json(&check->c->arena, v->variant->proof,
                                        check->request->has_proofs));
    return object;
}

json_t *check_json(const struct check *check)
{
    json_t *list = json_array();
    for (size_t i = 0; i < check->variants.n; i++)
        json_array_append_new(list,
                              variant_json(check, &check->variants.at[i]));
    return list;
}
