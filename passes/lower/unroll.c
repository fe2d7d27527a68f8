// unroll: unrolls loops marked @unroll, and loops that index small local
// arrays.
//
//   for v in 0..3 @unroll { A[v] = B[v] }  =>  A[0] = B[0]
//                                              A[1] = B[1]
//                                              A[2] = B[2]
//
// A loop that indexes an array in local memory is unrolled because only then
// can the array be in registers. Some loops stay: those whose trip count is not
// a number, that would become too long, or that declare arrays in shared
// memory. For these the mark becomes a hint to LLVM. The total is limited:
// nested loops of a few iterations each can make more code than a compiler can
// read.

#include "ir/base/map.h"
#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"
#include "passes/lower/registers.h"
#include "passes/pass.h"

// The most statements of a kernel without its unrolled loops, and what one
// counts for that branches.
enum { STATEMENTS_MOST = 16384, BRANCH_STATEMENTS = 4 };

// A count of statements: INT64_MAX where there are more.
struct count {
    struct pass *p;
    int64_t largest;            // of an unrolled loop
    const struct ir_stmt *loop; // that one, the outermost of its nest
    uint32_t around;            // unrolled loops around
};

static int64_t count_block(struct count *c, struct ir_block *block);

// Return how many statements a statement becomes.
static int64_t count_stmt(struct count *c, struct ir_stmt *s)
{
    struct ir_block *inside[IR_BLOCKS_MOST];
    uint32_t n = ir_stmt_blocks(s, inside);
    int64_t times = 1, sum = n ? BRANCH_STATEMENTS : 1;
    bool copies =
        s->kind == STMT_for && s->u.loop.axis == AXIS_unroll &&
        ir_int_value(ir_for_extent(c->p->scratch, &s->u.loop), &times);
    c->around += copies;
    for (uint32_t k = 0; k < n; k++) {
        int64_t inner = count_block(c, inside[k]);
        sum = inner < INT64_MAX - sum ? sum + inner : INT64_MAX;
    }
    c->around -= copies;
    if (!copies)
        return sum;
    sum -= BRANCH_STATEMENTS;
    sum = sum == 0 || times <= INT64_MAX / sum ? times * sum : INT64_MAX;
    if (c->around == 0 && sum > c->largest) {
        c->largest = sum;
        c->loop = s;
    }
    return sum;
}

// Return how many statements a block becomes.
static int64_t count_block(struct count *c, struct ir_block *block)
{
    int64_t sum = 0;
    for (size_t i = 0; i < block->n; i++) {
        int64_t one = count_stmt(c, block->at[i]);
        sum = one < INT64_MAX - sum ? sum + one : INT64_MAX;
    }
    return sum;
}

// Check that the kernel stays small enough for the compilers behind.
static bool check_size(struct pass *p)
{
    struct count c = {.p = p};
    int64_t all = count_block(&c, &p->kernel->body);
    if (all <= STATEMENTS_MOST || !c.loop)
        return true;
    const struct ir_stmt *s = c.loop;
    diag_error(p->diags, s->by.source ? s->by : s->span, D_unrolled_size,
               s->u.loop.var->name, (long long)c.largest, p->kernel->name,
               (long long)all, (long long)STATEMENTS_MOST);
    if (s->by.source)
        diag_note(p->diags, s->span, "`%s` is here", s->u.loop.var->name);
    diag_help(p->diags, "leave a loop of this nest serial, or split it and "
                        "unroll a part");
    return false;
}

// Return how many statements a loop would copy, where loops inside have been
// expanded or stay; -1: it declares an array in shared memory.
static int64_t size_of(const struct ir_block *body)
{
    int64_t n = 0;
    ir_foreach_stmt(s, body) {
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared)
            return -1;
        n += s->kind == STMT_for ? LOOP_STATEMENTS : 1;
    }
    return n;
}

// Return whether a loop is to be expanded, and how often it runs.
static bool is_expanded(struct pass *p, struct ir_stmt *s, int64_t *n)
{
    if (s->kind != STMT_for || s->u.loop.axis != AXIS_unroll ||
        !ir_int_value(ir_for_extent(p->scratch, &s->u.loop), n))
        return false;
    int64_t size = size_of(&s->u.loop.body);
    return size >= 0 && *n <= EXPANDED_MOST / (size + 1);
}

// Return the iterations of a loop one after another.
static struct ir_block expand(struct pass *p, const struct ir_for *loop,
                              int64_t n)
{
    struct arena *a = p->arena;
    struct ir_block out = {0};
    for (int64_t i = 0; i < n; i++) {
        struct map vars = {.arena = p->scratch};
        struct ir_expr *steps =
            ir_mul(a, loop->step, ir_const_int(a, loop->var->type, i));
        map_set(&vars, loop->var, ir_add(a, loop->from, steps));
        struct ir_block one = ir_copy_block(a, &loop->body, &vars, NULL);
        ir_append_all(a, &out, &one);
    }
    return out;
}

// Expand the loops of a block, the inner ones first; returns whether there
// was one.
static bool expand_block(struct pass *p, struct ir_block *block)
{
    bool changed = false;
    for (size_t i = 0; i < block->n;) {
        struct ir_stmt *s = block->at[i];
        int64_t n;
        ir_foreach_block(inner, s)
            changed |= expand_block(p, inner);
        if (!is_expanded(p, s, &n)) {
            i++;
            continue;
        }
        struct ir_block straight = expand(p, &s->u.loop, n);
        ir_splice(p->arena, block, i, &straight);
        i += straight.n;
        changed = true;
    }
    return changed;
}

enum pass_result pass_unroll(struct pass *p)
{
    bool changed = registers_mark(p);
    if (!check_size(p))
        return PASS_FAILED;
    changed |= expand_block(p, &p->kernel->body);
    return changed ? PASS_CHANGED : PASS_SAME;
}
