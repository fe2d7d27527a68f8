// Loops where a call would be accepted.

#include "passes/schedule/common/offer.h"

// Loops, each once.
struct offers VEC(const struct ir_stmt *);

// Note a loop; false if it was seen before.
static bool note(struct pass *p, struct offers *seen, const struct ir_stmt *s)
{
    for (size_t i = 0; i < seen->n; i++)
        if (seen->at[i] == s)
            return false;
    vec_push(p->scratch, seen, s);
    return true;
}

bool sched_would_accept(const struct sched_call *c, struct ir_stmt *loop,
                        sched_accepts *accepts)
{
    struct diag_list dropped = {.arena = c->pass->scratch, .is_brief = true};
    struct pass quiet = *c->pass;
    struct sched_call call = *c;
    quiet.diags = &dropped;
    call.pass = &quiet;
    return accepts(&call, loop);
}

size_t sched_offer_loops(const struct sched_call *c,
                         struct ir_stmt *const *near, size_t n,
                         sched_accepts *accepts)
{
    struct buf text = {0};
    struct offers seen = {0};
    size_t found = 0;
    n = c->pass->diags->is_brief ? 0 : n;
    for (size_t i = 0; i < n; i++) {
        struct ir_block loops = sched_loops(c->pass, near[i]);
        for (size_t k = 0; k < loops.n; k++) {
            if (!note(c->pass, &seen, loops.at[k]) ||
                !sched_would_accept(c, loops.at[k], accepts))
                continue;
            buf_printf(&text, "%s`%s.%s`", found++ ? ", " : "",
                       sched_name_of(near[i]), loops.at[k]->u.loop.var->name);
        }
    }
    if (found)
        diag_help(c->pass->diags, "legal here: %s", text.data);
    buf_free(&text);
    return found;
}

bool sched_is_newest(const struct sched_call *c, enum diag_code code)
{
    const struct diag_list *d = c->pass->diags;
    if (d->is_dropped)
        return d->dropped.code == code;
    return d->all.n && d->all.at[d->all.n - 1].code == code;
}
