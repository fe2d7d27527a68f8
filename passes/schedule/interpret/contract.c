// Contracts: what a schedule promises of the code that it makes.
//
//   contract no_spill, max_registers 168
//
// Here they are only noted; they are judged once the code is made.

#include "ir/base/suggest.h"
#include "passes/schedule/interpret/interpret.h"

#include <string.h>

// Report a name that no contract has.
static bool refuse_unknown(struct interp *in, const struct sched_name *name)
{
    struct suggest s = {.wanted = name->text};
    for (int i = 0; i < CONTRACT_COUNT; i++)
        suggest_offer(&s,
                      sched_contract_info((enum sched_contract_kind)i)->name);
    diag_error(in->pass->diags, name->span, D_contract_unknown, name->text);
    return suggest_help(in->pass->diags, &s);
}

// Evaluate the number of a contract, which has one if it should, and is at
// least 1.
static bool take_number(struct interp *in, const struct sched_name *name,
                        const struct sched_expr *x, struct sched_contract *c)
{
    const struct sched_contract_info *info = sched_contract_info(c->kind);
    if (info->has_number && x &&
        !interp_int(in, x, "the number of a contract", &c->value))
        return false;
    if (info->has_number == (x != NULL) && (!x || c->value > 0))
        return true;
    return diag_error(in->pass->diags, name->span, D_contract_number,
                      name->text,
                      info->has_number ? "a number, at least 1" : "no number");
}

// Note one contract.
static bool add(struct interp *in, const struct sched_name *name,
                const struct sched_expr *number)
{
    for (int i = 0; i < CONTRACT_COUNT; i++) {
        struct sched_contract c = {.kind = (enum sched_contract_kind)i,
                                   .span = name->span,
                                   .call = interp_origin(in, name->span)};
        if (strcmp(sched_contract_info(c.kind)->name, name->text) != 0)
            continue;
        if (!take_number(in, name, number, &c))
            return false;
        vec_push(in->pass->arena, &in->contracts, c);
        return true;
    }
    return refuse_unknown(in, name);
}

bool interp_contract(struct interp *in, const struct sched_stmt *s)
{
    for (size_t i = 0; i < s->names.n; i++)
        if (!add(in, &s->names.at[i], s->value->args.at[i]))
            return false;
    return true;
}
