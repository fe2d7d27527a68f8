// Sizes that make every path of a variant run: around the numbers that its
// loops, conditions and grids have in them, corners, and random ones.
//
// Many are drawn; those that the kernel and the variant do not take, or that
// need too much work, are dropped. Of the rest those are taken, one after
// another, that show most of what the ones before did not: for each size and
// each number whether it is less, equal, a multiple, one beside it, or more.

#include "tools/ingot/check.h"

#include "ir/walk.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIZES_MOST = 16,   // parameters that are sizes
    NUMBERS_MOST = 24, // of a variant
    POOL_MOST = 256,
    DRAWS = 6000,
    KEPT = 400,
    MULTIPLE_MOST = 512,
    KEPT_MULTIPLES = 16,
    CLASSES = 8, // how a size lies to a number
    LARGEST_NUMBER = 8192,
    MORE_WORK = 32, // of each case, where none needs less
    FEWER_CASES = 4,
    FEATURES = SIZES_MOST * (NUMBERS_MOST + 1) * CLASSES,
};

static const int64_t corners[] = {0, 1, 2, 3, 5, 7, 13, 31, 37, 61, 101};
enum { CORNERS = sizeof corners / sizeof *corners };

// Sizes that were drawn.
struct draw {
    int64_t sizes[SIZES_MOST];
    double work;
    bool is_taken;
};

// The search.
struct chooser {
    struct check *check;
    const struct variant *v;
    const struct problem_request *request;
    struct problem base; // the sizes that are set, and scalars
    uint64_t random;
    size_t params[SIZES_MOST]; // places of the sizes that are open
    size_t n;
    int64_t numbers[NUMBERS_MOST];
    size_t n_numbers;
    int64_t pool[POOL_MOST];
    size_t n_pool;
    struct VEC(struct draw) draws;
    bool seen[FEATURES];
};

// Return a random number below `n`: xorshift64*.
static uint64_t below(struct chooser *c, uint64_t n)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return (c->random * UINT64_C(0x2545f4914f6cdd1d) >> 33) % n;
}

// ---- Numbers of the variant -----------------------------------------------

// Add a number unless it is there.
static void add_number(struct chooser *c, int64_t x)
{
    if (x < 2 || x > LARGEST_NUMBER || c->n_numbers == NUMBERS_MOST)
        return;
    for (size_t i = 0; i < c->n_numbers; i++)
        if (c->numbers[i] == x)
            return;
    c->numbers[c->n_numbers++] = x;
}

// Add the number that an expression is.
static void see_number(struct ir_expr *x, void *context)
{
    if (x->op == OP_const && type_is_integer(x->type))
        add_number(context, x->u.i);
}

// Add the numbers of an expression.
static void see_place(struct ir_expr **place, void *context)
{
    ir_each_expr(*place, see_number, context);
}

// Add the numbers that a launch has.
static void see_launch(struct ir_stmt *s, void *context)
{
    if (s->kind != STMT_launch)
        return;
    for (int d = 0; d < 3; d++) {
        add_number(context, s->u.launch.block[d]);
        ir_each_expr(s->u.launch.grid[d], see_number, context);
    }
}

// Add the numbers of loops and conditions.
static void see_control(struct ir_stmt *s, void *context)
{
    if (s->kind == STMT_for || s->kind == STMT_if)
        ir_stmt_exprs(s, see_place, context);
}

// Collect the numbers of the variant, those of guards and grids first.
static void collect_numbers(struct chooser *c)
{
    struct ir_kernel *k = c->v->kernel;
    for (size_t i = 0; i < k->where.n; i++)
        ir_each_expr(k->where.at[i], see_number, c);
    for (size_t i = 0; i < k->guard.n; i++)
        ir_each_expr(k->guard.at[i], see_number, c);
    ir_each_stmt(&k->body, see_launch, c);
    ir_each_stmt(&k->body, see_control, c);
}

// Add a size to those that are drawn from.
static void add_size(struct chooser *c, int64_t x)
{
    if (c->n_pool < POOL_MOST)
        c->pool[c->n_pool++] = x;
}

// Fill the pool.
static void fill_pool(struct chooser *c)
{
    for (int i = 0; i < CORNERS; i++)
        add_size(c, corners[i]);
    for (size_t i = 0; i < c->n_numbers; i++) {
        int64_t x = c->numbers[i];
        const int64_t around[] = {x - 1, x,         x + 1,     2 * x - 1,
                                  2 * x, 2 * x + 1, 3 * x + 1, 5 * x + 3};
        for (size_t k = 0; k < sizeof around / sizeof *around; k++)
            add_size(c, around[k]);
    }
}

// ---- Drawing --------------------------------------------------------------

// Return a size, from the pool, or one of any magnitude.
static int64_t draw_size(struct chooser *c)
{
    if (below(c, 4))
        return c->pool[below(c, c->n_pool)];
    return (int64_t)below(c, UINT64_C(2) << below(c, 10));
}

// Draw all sizes: each for itself, or from three, so that some are equal, or
// all small but one.
static void draw_sizes(struct chooser *c, struct draw *d)
{
    int64_t few[] = {draw_size(c), draw_size(c), draw_size(c)};
    uint64_t how = below(c, 3), large = below(c, c->n);
    for (size_t i = 0; i < c->n; i++) {
        bool is_small = how == 2 && i != large;
        d->sizes[i] = is_small ? corners[below(c, 6)]
                      : how    ? draw_size(c)
                               : few[below(c, 3)];
    }
}

// Draw sizes of which one is some hundred times a number of the variant, as
// guards want that count tiles.
static void draw_multiple(struct chooser *c, struct draw *d)
{
    for (size_t i = 0; i < c->n; i++)
        d->sizes[i] = c->pool[below(c, c->n_pool)];
    d->sizes[below(c, c->n)] = c->numbers[below(c, c->n_numbers)] *
                               (int64_t)(1 + below(c, MULTIPLE_MOST));
}

// Enter sizes into the values of the parameters.
static void enter_sizes(const struct chooser *c, const struct draw *d)
{
    for (size_t i = 0; i < c->n; i++)
        c->base.values[c->params[i]].scalar.i = d->sizes[i];
}

// Return whether all conditions hold.
static bool all_hold(const struct chooser *c, const struct ir_conditions *all)
{
    for (size_t i = 0; i < all->n; i++) {
        int64_t holds;
        if (!ir_eval_int(c->v->kernel, c->base.values, all->at[i], &holds) ||
            !holds)
            return false;
    }
    return true;
}

// Return the product of extents, at least 0; infinity if they have no value.
static double product(const struct chooser *c, struct ir_expr *const *extents,
                      uint32_t n)
{
    double product = 1;
    for (uint32_t i = 0; i < n; i++) {
        int64_t x;
        if (!ir_eval_int(c->v->kernel, c->base.values, extents[i], &x))
            return 1e300;
        product *= x > 0 ? (double)x : 0;
    }
    return product;
}

// Return how much is to be done for these sizes: statements of the definition,
// threads, elements.
static double work_of(const struct chooser *c)
{
    const struct ir_kernel *k = c->v->kernel;
    double work = work_count(c->v->source, c->base.values).steps;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (b)
            work += product(c, b->shape, b->rank);
    }
    for (size_t i = 0; i < k->body.n; i++) {
        const struct ir_launch *l = &k->body.at[i]->u.launch;
        if (k->body.at[i]->kind == STMT_launch)
            work += 8 * product(c, l->grid, 3) * l->block[0] * l->block[1] *
                    l->block[2];
    }
    return work;
}

// Return whether these sizes were drawn before.
static bool is_known(const struct chooser *c, const struct draw *d)
{
    for (size_t i = 0; i < c->draws.n; i++)
        if (memcmp(c->draws.at[i].sizes, d->sizes, c->n * sizeof *d->sizes) ==
            0)
            return true;
    return false;
}

// Keep sizes that the variant takes and that need no more than `most` work.
static void keep(struct chooser *c, struct draw *d, double most)
{
    enter_sizes(c, d);
    if (!all_hold(c, &c->v->kernel->where) ||
        !all_hold(c, &c->v->kernel->guard) || is_known(c, d))
        return;
    d->work = work_of(c);
    if (d->work <= most)
        vec_push(&c->check->c->arena, &c->draws, *d);
}

// Draw sizes for a variant that takes none of the usual ones, and keep those
// that need least work.
static void draw_multiples(struct chooser *c, double most)
{
    size_t least = 0;
    for (int i = 0; i < DRAWS && c->draws.n < KEPT_MULTIPLES; i++) {
        struct draw d = {0};
        draw_multiple(c, &d);
        keep(c, &d, most);
    }
    for (size_t i = 0; i < c->draws.n; i++)
        if (c->draws.at[i].work < c->draws.at[least].work)
            least = i;
    if (c->draws.n) {
        c->draws.at[0] = c->draws.at[least];
        c->draws.n = 1;
    }
}

// Draw sizes until there are enough.
static void draw_all(struct chooser *c, double most)
{
    for (int64_t corner = 0; corner < 4; corner++) {
        struct draw d = {0};
        for (size_t i = 0; i < c->n; i++)
            d.sizes[i] = corner;
        keep(c, &d, most);
    }
    for (int i = 0; i < DRAWS && c->draws.n < KEPT; i++) {
        struct draw d = {0};
        draw_sizes(c, &d);
        keep(c, &d, most);
    }
    if (!c->draws.n && c->n && c->n_numbers)
        draw_multiples(c, most);
}

// ---- Choosing -------------------------------------------------------------

// Return how a size lies to a number.
static int class_of(int64_t size, int64_t number)
{
    int64_t rest = size % number;
    if (size == number)
        return 0;
    if (size < number)
        return size == 0 ? 1 : size == number - 1 ? 2 : 3;
    return rest == 0 ? 4 : rest == 1 ? 5 : rest == number - 1 ? 6 : 7;
}

// Return how many features of a draw were not seen; `take` marks them.
static size_t news(struct chooser *c, const struct draw *d, bool take)
{
    size_t count = 0;
    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k <= c->n_numbers; k++) {
            int64_t number = k < c->n_numbers ? c->numbers[k] : 4;
            size_t feature = (i * (NUMBERS_MOST + 1) + k) * CLASSES +
                             (size_t)class_of(d->sizes[i], number);
            count += !c->seen[feature];
            c->seen[feature] |= take;
        }
    }
    return count;
}

// Return the draw that shows most, of the ones that are left; NULL: none.
static struct draw *best_draw(struct chooser *c, double left)
{
    struct draw *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < c->draws.n; i++) {
        struct draw *d = &c->draws.at[i];
        size_t shown =
            d->is_taken || d->work > left ? 0 : 1 + news(c, d, false);
        if (shown > most || (best && shown == most && d->work < best->work)) {
            best = d;
            most = shown;
        }
    }
    return best;
}

// Order draws by work.
static int by_work(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;
    if (x->is_taken != y->is_taken)
        return y->is_taken - x->is_taken;
    return (x->work > y->work) - (x->work < y->work);
}

// Mark the draws that are taken, at most `n`, and put them first.
static void take_draws(struct chooser *c, size_t n, double total)
{
    size_t taken = 0;
    struct draw *d;
    for (; taken < n && (d = best_draw(c, total)); taken++) {
        news(c, d, true);
        d->is_taken = true;
        total -= d->work;
    }
    if (c->draws.n)
        qsort(c->draws.at, c->draws.n, sizeof *c->draws.at, by_work);
    c->draws.n = taken;
}

// ---- Requests -------------------------------------------------------------

// Return whether the user set a parameter.
static bool is_set(const struct problem_request *r, const char *name)
{
    for (size_t i = 0; i < r->values.n; i++)
        if (strcmp(r->values.at[i].name, name) == 0)
            return true;
    return false;
}

// Return the request with these sizes set, too.
static struct problem_request request_for(const struct chooser *c,
                                          const struct draw *d)
{
    struct arena *a = &c->check->c->arena;
    struct problem_request out = *c->request;
    memset(&out.values, 0, sizeof out.values);
    for (size_t i = 0; i < c->request->values.n; i++)
        vec_push(a, &out.values, c->request->values.at[i]);
    for (size_t i = 0; i < c->n; i++) {
        struct problem_setting s = {
            c->v->source->params.at[c->params[i]].var->name,
            arena_printf(a, "%lld", (long long)d->sizes[i])};
        vec_push(a, &out.values, s);
    }
    return out;
}

// List the sizes that are open.
static void list_open(struct chooser *c)
{
    const struct ir_kernel *k = c->v->source;
    for (size_t i = 0; i < k->params.n && c->n < SIZES_MOST; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type) && !is_set(c->request, var->name))
            c->params[c->n++] = i;
    }
}

// Set the values of what is not drawn.  False with `wrong` set.
static bool make_base(struct chooser *c)
{
    struct arena *a = &c->check->c->arena;
    struct diag_list ignored = {.arena = a};
    struct draw one = {.sizes = {0}};
    struct problem_request request = request_for(c, &one);
    return problem_make(a, c->v->source, &request, &ignored, &c->base,
                        &c->check->wrong) != PROBLEM_USAGE;
}

void check_choose_sizes(struct check *check, const struct variant *v,
                        const struct problem_request *request,
                        struct check_sizes *out)
{
    struct arena *a = &check->c->arena;
    struct chooser *c = arena_new(a, struct chooser);
    double work = check->request->work;
    c->check = check;
    c->v = v;
    c->request = request;
    c->random = request->seed * 2 + 1;
    list_open(c);
    if (!make_base(c))
        return;
    if (!c->n) {
        if (all_hold(c, &v->kernel->guard))
            vec_push(a, out, request_for(c, &(struct draw){.sizes = {0}}));
        return;
    }
    collect_numbers(c);
    fill_pool(c);
    size_t most = check->request->cases;
    draw_all(c, work);
    for (; !c->draws.n && most > 1; work *= MORE_WORK) {
        most = most / FEWER_CASES + 1;
        draw_all(c, MORE_WORK * work);
    }
    take_draws(c, most, MORE_WORK * work);
    for (size_t i = 0; i < c->draws.n; i++)
        vec_push(a, out, request_for(c, &c->draws.at[i]));
}
