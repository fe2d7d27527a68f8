// Tries guards with sizes: what some sizes show needs no proof.
//
// The sizes are drawn, always the same ones, near powers of two and numbers that the
// conditions name; more of them for a condition that these are too few for.  A device
// has 132 SMs.  Where a condition has no value, the sizes show nothing.

#include "tools/libingot/trials.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/walk.h"

#include <string.h>

enum {
    SMS = 132,
    ALIGNED = 16,
    POWERS = 16,
    FURTHER = 256,
    ROUNDS = 16,
    TIMES = 4,
    EDGES = 64
};
static const int64_t SIZE_HUGE = (int64_t)1 << 32;

// What a condition is with some sizes.
enum trial { TRIAL_unknown, TRIAL_holds, TRIAL_fails };

// The numbers that sizes are drawn from, and the state of the draw.
struct draw {
    struct trial_numbers pool;
    uint64_t state;
};

// Return the next number of a fixed series, below `n`.
static uint64_t next(struct draw *d, uint64_t n)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (d->state >> 33) % n;
}

// Return whether a number is in a pool.
static bool has(const struct trial_numbers *pool, int64_t number)
{
    for (size_t i = 0; i < pool->n; i++)
        if (pool->at[i] == number)
            return true;
    return false;
}

// Add the numbers of an expression to a pool; if `once`, those that it has not.
static void add_numbers(struct arena *a, struct trial_numbers *pool,
                        const struct ir_expr *root, bool once)
{
    int64_t value;
    ir_foreach_expr(x, root)
        if (x->op == OP_const && ir_int_value(x, &value) && value > 1 &&
            value <= INT32_MAX && !(once && has(pool, value)))
            vec_push(a, pool, value);
}

// Draw a size: from a power of two or a number that is named up to twice that, or
// such a number, or a neighbour; often a multiple of 16, and seldom none at all or
// more than 32 bits hold.
static int64_t draw_size(struct draw *d)
{
    uint64_t edge = next(d, EDGES);
    if (edge < 2)
        return edge ? SIZE_HUGE : 0;
    int64_t power = (int64_t)1 << next(d, POWERS);
    int64_t named = d->pool.n ? d->pool.at[next(d, d->pool.n)] : power;
    int64_t value = next(d, 2) ? power : named;
    uint64_t near = next(d, 8);
    if (next(d, 2))
        value += (int64_t)next(d, (uint64_t)value);
    if (next(d, 2))
        return (value + ALIGNED - 1) / ALIGNED * ALIGNED;
    return value + (near == 0) - (near == 1 && value > 1);
}

// Put a number in place of the blocks that a device runs at a time.
static struct ir_expr *settle(struct arena *a, struct ir_expr *x, void *context)
{
    (void)context;
    return x->op == OP_resident ? ir_mul(a, x->args[0], ir_int(a, SMS)) : x;
}

// Draw sizes for all parameters of a kernel.
static struct eval_argument *draw_all(struct arena *a, struct draw *d,
                                      const struct ir_kernel *kernel)
{
    struct eval_argument *sizes =
        arena_array(a, struct eval_argument, kernel->params.n + 1);
    for (size_t k = 0; k < kernel->params.n; k++)
        sizes[k].scalar.i = draw_size(d);
    return sizes;
}

// Try a condition with `n` choices of sizes; what it is goes to `out`.
static void try_each(const struct trials *t, struct ir_expr *x,
                     const struct eval_argument *const *sizes, size_t n,
                     unsigned char *out)
{
    int64_t *values = arena_array(t->arena, int64_t, n);
    bool *known = arena_array(t->arena, bool, n);
    struct ir_expr *settled = ir_rewrite(t->arena, x, settle, NULL);
    ir_eval_ints(t->kernel, sizes, n, settled, values, known);
    for (size_t i = 0; i < n; i++)
        out[i] = !known[i]   ? TRIAL_unknown
                 : values[i] ? TRIAL_holds
                             : TRIAL_fails;
}

// Return what a condition is with each of the usual sizes.
static const unsigned char *answers_of(struct trials *t, struct ir_expr *x)
{
    unsigned char *answers = map_get(&t->answers, x);
    if (answers)
        return answers;
    answers = arena_array(t->arena, unsigned char, TRIALS);
    try_each(t, x, t->sizes, TRIALS, answers);
    map_set(&t->answers, x, answers);
    return answers;
}

void trials_start(struct trials *t, struct arena *a,
                  const struct ir_kernel *kernel,
                  struct ir_expr *const *conditions, size_t n)
{
    struct draw d = {.state = 1};
    *t = (struct trials){.arena = a, .kernel = kernel, .answers.arena = a};
    for (size_t i = 0; i < n; i++)
        add_numbers(a, &t->numbers, conditions[i], true);
    for (size_t i = 0; i < kernel->where.n; i++)
        add_numbers(a, &t->numbers, kernel->where.at[i], true);
    d.pool = t->numbers;
    for (size_t i = 0; i < TRIALS; i++)
        t->sizes[i] = draw_all(a, &d, kernel);
}

// Leave those of the usual sizes with which a condition is as wanted.
static void leave_those(bool left[TRIALS], const unsigned char answers[TRIALS],
                        enum trial wanted)
{
    for (size_t i = 0; i < TRIALS; i++)
        left[i] &= answers[i] == wanted;
}

// Return whether the usual sizes show what trials_leave looks for.
static bool usual_leave(struct trials *t, struct ir_expr *own,
                        struct ir_expr *const *others, size_t n)
{
    bool left[TRIALS], any = false;
    memset(left, true, sizeof left);
    if (own)
        leave_those(left, answers_of(t, own), TRIAL_holds);
    for (size_t k = 0; k < t->kernel->where.n; k++)
        leave_those(left, answers_of(t, t->kernel->where.at[k]), TRIAL_holds);
    for (size_t k = 0; k < n; k++)
        leave_those(left, answers_of(t, others[k]), TRIAL_fails);
    for (size_t i = 0; i < TRIALS; i++)
        any |= left[i];
    return any;
}

// Keep those of `n` choices of sizes with which a condition is as wanted; returns
// how many these are.
static size_t keep(struct trials *t, struct ir_expr *x, enum trial wanted,
                   const struct eval_argument **sizes, size_t n)
{
    unsigned char *answers = arena_array(t->arena, unsigned char, n + 1);
    size_t kept = 0;
    if (n)
        try_each(t, x, sizes, n, answers);
    for (size_t i = 0; i < n; i++)
        if (answers[i] == wanted)
            sizes[kept++] = sizes[i];
    return kept;
}

// Draw some sizes, and return whether they show what trials_leave looks for.  The
// last conditions of a list take most.
static bool some_leave(struct trials *t, struct draw *d, struct ir_expr *own,
                       struct ir_expr *const *others, size_t n)
{
    const struct eval_argument *sizes[FURTHER];
    size_t left = FURTHER;
    for (size_t i = 0; i < left; i++)
        sizes[i] = draw_all(t->arena, d, t->kernel);
    left = keep(t, own, TRIAL_holds, sizes, left);
    for (size_t k = 0; k < t->kernel->where.n; k++)
        left = keep(t, t->kernel->where.at[k], TRIAL_holds, sizes, left);
    for (size_t k = n; k-- > 0 && left;)
        left = keep(t, others[k], TRIAL_fails, sizes, left);
    return left > 0;
}

// Return whether sizes drawn for `own` show what trials_leave looks for: by turns
// mostly of its numbers, and as the usual ones are.
static bool further_leave(struct trials *t, struct ir_expr *own,
                          struct ir_expr *const *others, size_t n)
{
    struct draw draws[] = {{.state = 2}, {.pool = t->numbers, .state = 3}};
    bool leave = false;
    vec_append(t->arena, &draws[0].pool, &t->numbers);
    for (size_t i = 0; i < TIMES; i++)
        add_numbers(t->arena, &draws[0].pool, own, false);
    for (size_t i = 0; i < ROUNDS && !leave; i++) {
        struct arena_mark here = arena_mark(t->arena);
        leave = some_leave(t, &draws[i % 2], own, others, n);
        arena_release(t->arena, here);
    }
    return leave;
}

bool trials_differ(struct trials *t, struct ir_expr *own, struct ir_expr *other)
{
    return usual_leave(t, own, &other, 1);
}

bool trials_leave(struct trials *t, struct ir_expr *own,
                  struct ir_expr *const *others, size_t n)
{
    struct arena_mark here;
    if (usual_leave(t, own, others, n))
        return true;
    here = arena_mark(t->arena);
    bool leave = own && further_leave(t, own, others, n);
    arena_release(t->arena, here);
    return leave;
}
