// Loops that go on until something is found: blocks of a scan that look back at those in
// front of them, threads that wait for a word of memory.

#include "passes/model/until.h"

#include "ir/walk.h"

// Return whether a loop sets a variable that an expression reads.
static bool sets_one_of(const struct ir_for *loop, const struct ir_expr *x)
{
    ir_foreach_stmt(s, &loop->body)
        if (s->kind == STMT_assign && ir_mentions(x, s->u.let.var))
            return true;
    return false;
}

bool until_is_found(const struct ir_for *loop)
{
    const struct ir_stmt *only = loop->body.n == 1 ? loop->body.at[0] : NULL;
    return only && only->kind == STMT_if && !only->u.branch.otherwise.n &&
           sets_one_of(loop, only->u.branch.cond);
}
