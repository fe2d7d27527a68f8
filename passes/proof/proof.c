// Proofs of a kernel: each launch is taken apart, each claim made in turn.

#include "passes/proof/proof.h"

#include "ir/walk.h"
#include "passes/proof/claims.h"

const char *proof_claim_name(enum proof_claim claim)
{
    static const char *const names[] = {
#define CLAIM(name, meaning) #name,
#include "passes/proof/claims.def"
#undef CLAIM
    };
    return names[claim];
}

const char *proof_reason_text(enum proof_reason reason)
{
    static const char *const texts[] = {
#define REASON(name, text) text,
#include "passes/proof/reasons.def"
#undef REASON
    };
    return texts[reason];
}

const char *proof_verdict_name(enum proof_verdict verdict)
{
    static const char *const names[] = {"open", "proved"};
    return names[verdict];
}

// Copy the values of an example.
static struct proof_values copy_values(struct arena *a,
                                       const struct proof_values *from)
{
    struct proof_values out = {0};
    vec_append(a, &out, from);
    return out;
}

// Add what is known of a claim about an access.
static void add_item(struct arena *a, struct proof *out,
                     const struct program *p, const struct access *x,
                     enum proof_claim claim)
{
    const struct claim *c = &x->claims[claim];
    struct proof_item item = {.claim = claim,
                              .reason = c->reason,
                              .launch = p->launch,
                              .buffer = x->buffer,
                              .span = x->span,
                              .by = x->stmt->by,
                              .writes = x->writes,
                              .times = 1};
    if (!c->is_asked)
        return;
    item.verdict = c->is_open ? PROOF_OPEN : PROOF_PROVED;
    if (c->other)
        item.other = c->other->span;
    item.sizes = copy_values(a, &c->sizes);
    vec_push(a, &out->items, item);
}

// Take back what was said of elements that an index beyond its dimension
// reaches: they are those of another row.
static void take_back(struct program *p)
{
    vec_foreach_value(x, &p->all) {
        program_use(p, x->buffer)->may_be_left |=
            x->claims[CLAIM_bounds].is_open;
    }
    vec_foreach_value(x, &p->all) {
        if (x->buffer->rank < 2 || !program_use(p, x->buffer)->may_be_left)
            continue;
        for (int c = 0; c < CLAIM_COUNT; c++) {
            if (c != CLAIM_bounds && x->claims[c].is_asked)
                access_open(x, (enum proof_claim)c, REASON_outside, NULL);
        }
    }
}

// Make the claims about a launch.
static void make_claims(struct program *p, struct system *s)
{
    claim_bounds(p, s);
    claim_block_race(p, s);
    claim_grid_race(p, s);
    take_back(p);
}

// Find out what holds of a launch; nothing is claimed of one that no sizes
// have.
static void prove_launch(struct arena *a, struct program *p, uint64_t most,
                         struct proof *out)
{
    struct system s;
    struct facts facts;
    facts_start(&facts, p->arena, p->kernel);
    system_start(&s, p->arena, p, &facts, most);
    system_begin(&s, (struct relation){NULL, NULL, false});
    if (system_is_possible(&s))
        make_claims(p, &s);
    system_end(&s);
    out->questions += s.questions;
    for (size_t i = 0; i < p->all.n; i++) {
        for (int c = 0; c < CLAIM_COUNT; c++)
            add_item(a, out, p, p->all.at[i], (enum proof_claim)c);
    }
}

struct proof *proof_make(struct arena *a, const struct ir_kernel *kernel,
                         uint64_t questions)
{
    struct proof *out = arena_new(a, struct proof);
    struct VEC(struct program *) launches = {0};
    struct arena work = {0};
    vec_foreach_value(s, &kernel->body) {
        if (s->kind != STMT_launch || kernel->level != LEVEL_launch)
            continue;
        struct program *p = program_make(&work, kernel, &s->u.launch);
        vec_push(&work, &launches, p);
        prove_launch(a, p, questions, out);
    }
    claim_coverage(a, launches.at, launches.n, out);
    arena_reset(&work);
    return out;
}
