// Bounds what the expressions of a kernel may grow to.
//
// A loop that is taken apart and joined otherwise again and again gets into
// its own index: where the parts do not fold, every round multiplies it.

#include "passes/schedule/interpret/interpret.h"

enum { OPERATIONS_MOST = 4096 };

// A search for an expression that is too large: the context of see_stmt.
struct size_search {
    struct ir_stmt *at; // the statement being looked at
    struct ir_stmt *found;
};

// Return how many operations of `left` remain after an expression; below 0 if
// it has more.
static int64_t rest_after(const struct ir_expr *x, int64_t left)
{
    left -= x->n > 0;
    for (uint32_t i = 0; i < x->n && left >= 0; i++)
        left = rest_after(x->args[i], left);
    return left;
}

// Look at an expression of a statement.
static void see_place(struct ir_expr **place, void *context)
{
    struct size_search *search = context;
    if (!search->found && rest_after(*place, OPERATIONS_MOST) < 0)
        search->found = search->at;
}

// Look at a statement.
static void see_stmt(struct ir_stmt *s, void *context)
{
    struct size_search *search = context;
    search->at = s;
    if (!search->found)
        ir_stmt_exprs(s, see_place, search);
}

bool interp_check_size(struct interp *in, const struct sched_call *c)
{
    struct pass *p = in->pass;
    struct size_search search = {0};
    ir_each_stmt(&p->kernel->body, see_stmt, &search);
    if (!search.found)
        return true;
    diag_error(p->diags, c->span, D_index_size, sched_name_of(search.found),
               (long long)OPERATIONS_MOST);
    diag_note(p->diags, search.found->span, "`%s` is here",
              sched_name_of(search.found));
    diag_help(p->diags, "split each loop once, into all its parts, and fuse "
                        "only parts that stand side by side");
    return false;
}
