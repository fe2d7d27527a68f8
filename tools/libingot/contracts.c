// Judges contracts: one function for each row of ir/contracts.def.

#include "tools/libingot/contracts.h"

#include "ir/walk.h"
#include "passes/analysis/access_cost.h"

#include <string.h>

// A contract that is judged.
struct clause {
    struct compilation *c;
    struct diag_list *diags; // what is broken
    const struct variant *variant;
    const struct sched_contract *contract;
    const struct access_costs *accesses; // LOWERED: of the contract's launches
    const struct compiled_image *image;  // ASSEMBLED ...
    const struct ir_launch *launch;      // of the variant
    const struct kernel_usage *usage;    // of the launch
};

// ---- Which launches -------------------------------------------------------

// Return whether two spans are the same text.
static bool is_same_span(struct span x, struct span y)
{
    return x.source == y.source && x.from == y.from && x.to == y.to;
}

// Return whether a launch has a loop that the call of a contract's def has bound.
static bool is_bound_by(const struct ir_launch *l,
                        const struct sched_contract *contract)
{
    vec_foreach(by, &l->bound_by)
        if (is_same_span(*by, contract->call))
            return true;
    return false;
}

// Return whether a contract is for a launch: another def's are no concern of it.
static bool concerns(const struct clause *k, const struct ir_launch *launch)
{
    const struct ir_block *body = &k->variant->kernel->body;
    bool has_own = false;
    for (size_t i = 0; i < body->n; i++)
        has_own |= body->at[i]->kind == STMT_launch &&
                   is_bound_by(&body->at[i]->u.launch, k->contract);
    return !has_own || is_bound_by(launch, k->contract);
}

// ---- What ptxas made ------------------------------------------------------

// Report that a figure of a launch breaks the contract.
static void break_figure(const struct clause *k, int64_t figure)
{
    diag_error(k->diags, k->contract->span,
               sched_contract_info(k->contract->kind)->broken, k->launch->name,
               k->image->target->name, (long long)figure,
               (long long)k->contract->value);
}

// No register is spilled.
static void judge_no_spill(const struct clause *k)
{
    if (k->usage->spill_stores <= 0 && k->usage->spill_loads <= 0)
        return;
    break_figure(k, k->usage->spill_stores);
    diag_note(k->diags, (struct span){0},
              "%lld bytes are loaded back; it has %lld registers",
              (long long)k->usage->spill_loads, (long long)k->usage->registers);
}

// No thread has a stack; arrays of the program that may be there are named.
static void judge_no_local_memory(const struct clause *k)
{
    if (k->usage->stack <= 0)
        return;
    break_figure(k, k->usage->stack);
    if (k->usage->spill_stores > 0)
        diag_note(k->diags, (struct span){0},
                  "%lld bytes of spilled registers are among them",
                  (long long)k->usage->spill_stores);
    ir_foreach_stmt(s, &k->launch->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_local)
            diag_note(k->diags, s->span, "`%s` may be there",
                      s->u.buffer->name);
}

// A thread has at most so many registers.
static void judge_max_registers(const struct clause *k)
{
    if (k->usage->registers > k->contract->value)
        break_figure(k, k->usage->registers);
}

// ptxas serialises no matrix instruction.
static void judge_no_serialisation(const struct clause *k)
{
    const struct ptxas_remarks *all = &k->image->remarks;
    for (size_t i = 0; i < all->n; i++) {
        if (!all->at[i].entry || strcmp(all->at[i].entry, k->launch->name) != 0)
            continue;
        break_figure(k, 0);
        diag_note(k->diags, (struct span){0}, "ptxas says (C%d): %s",
                  all->at[i].number, all->at[i].text);
        return;
    }
}

// ---- Accesses -------------------------------------------------------------

// Return whether two accesses are forms of one: what lowering makes of it
// inside of the array, and in a tail.
static bool is_same_access(const struct access_cost *x,
                           const struct access_cost *y)
{
    return x->launch == y->launch && x->buffer == y->buffer &&
           x->kind == y->kind && is_same_span(x->span, y->span);
}

// Return whether an access loads or stores global memory.
static bool is_global(const struct access_cost *x)
{
    return x->buffer->space == SPACE_global && x->kind != ACCESS_atomic;
}

// Return whether some launch accesses global memory in a loop.
static bool has_loops(const struct access_costs *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (is_global(&all->at[i]) && all->at[i].depth > 0)
            return true;
    return false;
}

// Return whether some launch copies from global to shared memory.
static bool has_copies(const struct access_costs *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (is_global(&all->at[i]) && all->at[i].is_copy)
            return true;
    return false;
}

// Return whether the width of an access counts: in loops, or where there are
// none, that of copies, or where there are none either, of any access.
static bool is_judged(const struct access_costs *all,
                      const struct access_cost *x)
{
    if (has_loops(all))
        return x->depth > 0;
    return x->is_copy || !has_copies(all);
}

// Return the bytes of the widest form of access `i`; 0 if an earlier access is
// a form of it, which then speaks for it.
static uint32_t widest(const struct access_costs *all, size_t i)
{
    uint32_t bytes = all->at[i].bytes;
    for (size_t k = 0; k < all->n; k++) {
        if (k == i || !is_same_access(&all->at[k], &all->at[i]))
            continue;
        if (k < i)
            return 0;
        bytes = all->at[k].bytes > bytes ? all->at[k].bytes : bytes;
    }
    return bytes;
}

// Accesses to global memory are so wide.
static void judge_min_load_bytes(const struct clause *k)
{
    for (size_t i = 0; i < k->accesses->n; i++) {
        const struct access_cost *x = &k->accesses->at[i];
        uint32_t bytes = is_global(x) ? widest(k->accesses, i) : 0;
        if (!bytes || bytes >= k->contract->value || !is_judged(k->accesses, x))
            continue;
        diag_error(k->diags, k->contract->span, D_contract_load_bytes,
                   x->launch->name, (long long)bytes, x->buffer->name,
                   (long long)k->contract->value);
        diag_note(k->diags, x->span, "this %s is not wide enough",
                  access_kind_name(x->kind));
    }
}

// Return why an access to shared memory breaks the contract, or NULL.
static const char *conflict_of(struct arena *a, const struct access_cost *x)
{
    double excess = access_excess(x);
    if (x->buffer->space != SPACE_shared)
        return NULL;
    if (x->basis == COST_UNKNOWN)
        return "are not known, since its index depends on data";
    return excess > 1 ? arena_printf(a, "are up to %.3g-way", excess) : NULL;
}

// No access to shared memory waits for a bank.
static void judge_no_bank_conflict(const struct clause *k)
{
    for (size_t i = 0; i < k->accesses->n; i++) {
        const struct access_cost *x = &k->accesses->at[i];
        const char *conflict = conflict_of(&k->c->arena, x);
        if (!conflict)
            continue;
        diag_error(k->diags, k->contract->span, D_contract_bank_conflict,
                   x->launch->name, x->buffer->name, conflict);
        diag_note(k->diags, x->span, "this %s, of %u bytes a thread",
                  access_kind_name(x->kind), x->bytes);
        return;
    }
}

// ---- All of them ----------------------------------------------------------

// Judge one contract.
static void judge(const struct clause *k)
{
    switch (k->contract->kind) {
#define CONTRACT(name, number, seen, diagnostic, meaning)                      \
    case CONTRACT_##name:                                                      \
        judge_##name(k);                                                       \
        break;
#include "ir/contracts.def"
#undef CONTRACT
    case CONTRACT_COUNT: break;
    }
}

// Judge the contracts on what ptxas made of a launch.
static void judge_assembled(struct clause *k)
{
    const struct sched_contracts *all = &k->variant->outcome->contracts;
    for (size_t i = 0; i < all->n; i++) {
        k->contract = &all->at[i];
        if (sched_contract_info(k->contract->kind)->seen ==
                CONTRACT_ASSEMBLED &&
            concerns(k, k->launch))
            judge(k);
    }
}

// Judge a contract on the accesses of its launches.
static void judge_accesses(struct clause *k, const struct access_costs *all)
{
    struct access_costs own = {0};
    vec_foreach(x, all)
        if (concerns(k, x->launch))
            vec_push(&k->c->arena, &own, *x);
    k->accesses = &own;
    judge(k);
    k->accesses = NULL;
}

// Judge the contracts of a variant on what is lowered.
static void judge_lowered(struct clause *k)
{
    const struct sched_contracts *all = &k->variant->outcome->contracts;
    struct access_costs costs =
        access_costs(&k->c->arena, k->variant->kernel, NULL);
    vec_foreach(contract, all) {
        k->contract = contract;
        if (sched_contract_info(contract->kind)->seen == CONTRACT_LOWERED)
            judge_accesses(k, &costs);
    }
}

// Judge what a launch with instructions on matrices promises unasked: a spill
// would cost more than they gain.
static void judge_implied(struct clause k)
{
    const struct variant *v = k.variant;
    struct sched_contract implied = {.kind = CONTRACT_no_spill,
                                     .span = v->schedule ? v->schedule->span
                                                         : v->source->span};
    bool has_matrix = ir_has(&k.launch->body, STMT_matrix);
    for (size_t i = 0; i < v->outcome->contracts.n; i++)
        has_matrix &= v->outcome->contracts.at[i].kind != CONTRACT_no_spill;
    k.contract = &implied;
    if (has_matrix)
        judge(&k);
}

// Judge the contracts of every launch of a variant in an image.
static void judge_launches(struct clause *k)
{
    const struct ir_block *body = &k->variant->kernel->body;
    for (size_t i = 0; i < body->n; i++) {
        if (body->at[i]->kind != STMT_launch)
            continue;
        k->launch = &body->at[i]->u.launch;
        k->usage = usage_find(&k->image->usage, k->launch->name);
        if (!k->usage)
            continue;
        judge_assembled(k);
        judge_implied(*k);
    }
}

// Return whether a variant's contracts are the author's, of its schedule or of
// the rule that this names: not of a rule that was found for the kernel.
static bool has_author(const struct variant *v)
{
    return !v->schedule || !v->schedule->is_planned;
}

// Return whether a variant has a contract that is judged at that point.
static bool has_contract(const struct variant *v, enum sched_contract_seen seen)
{
    const struct sched_contracts *all = &v->outcome->contracts;
    for (size_t i = 0; i < all->n; i++) {
        if (sched_contract_info(all->at[i].kind)->seen == seen)
            return true;
    }
    return false;
}

// Say of a rule that was found, once of a kernel, that a contract of it is broken: the code is right all the
// same, and who wrote no schedule cannot mend it.
static void remark_found(const struct clause *k)
{
    const struct variant *v = k->variant;
    const char *rule = v->schedule->rule ? v->schedule->rule->name.text : "";
    const char *broken = diag_first_error(&k->c->arena, k->diags);
    vec_foreach(d, &k->c->diags.all)
        if (d->code == D_contract_of_rule &&
            is_same_span(d->span, v->source->span))
            return;
    if (broken)
        diag_remark(&k->c->diags, v->source->span, D_contract_of_rule, rule,
                    v->source->name, broken);
}

bool contracts_check_lowered(struct compilation *c)
{
    int errors = c->diags.errors;
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        if (!has_author(v) || !has_contract(v, CONTRACT_LOWERED))
            continue;
        struct clause k = {.c = c, .diags = &c->diags, .variant = v};
        judge_lowered(&k);
    }
    return c->diags.errors == errors;
}

bool contracts_check_image(struct compilation *c,
                           const struct compiled_image *image)
{
    int errors = c->diags.errors;
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        struct diag_list found = {.arena = &c->arena};
        struct clause k = {c, .diags = has_author(v) ? &c->diags : &found,
                           .variant = v, .image = image};
        if (!target_set_has(v->targets, image->target))
            continue;
        judge_launches(&k);
        if (!has_author(v))
            remark_found(&k);
    }
    return c->diags.errors == errors;
}
