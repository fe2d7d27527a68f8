// flatten: gives each access one index, and each index value a width.
//
//   C[i, j + 1] = A[j]  =>  C[idx64(i) * idx64(N) + idx64(j) + 1] = A[j]
//
// Padding of declared arrays becomes strides:
//
//   alloc T: f32[32, 32] in shared pad(0, 1)
//   =>  alloc T: f32[32, 32] in shared strides [33, 1]
//
// and a swizzle becomes part of the offset.
//
// An operation on index values is done in 32 bits (idx32) if its operands are
// 32 bits wide and its result is proved to fit, else in 64 bits (idx64). So the
// index of one dimension is usually narrow, and the offset in an array that may
// have more than 2^31 elements is wide. If the array is proved to be smaller,
// all its offsets are narrow. The constant part of an offset comes last, where
// an address takes it for free.
//
// Sizes and the position of a thread stay leaves of type `int`, below a
// conversion. Elements of type `int` become idx64, as in memory; whatever is
// stored in an element has its width.

#include "passes/lower/flatten.h"
#include "ir/foreach.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/matrix.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"
#include "passes/lower/dropped.h"
#include "passes/pass.h"

static const struct interval narrow_range = {INT32_MIN, INT32_MAX};

struct ir_expr *flatten_in_width(struct flatten *f, struct ir_expr *x,
                                 enum type_kind width)
{
    if (x->type.kind == width)
        return x;
    if (x->op == OP_cast && x->args[0]->type.kind == TYPE_int)
        x = x->args[0];
    return ir_cast(f->arena, type_scalar(width), x);
}

bool flatten_is_narrow(const struct ir_expr *x)
{
    return x->type.kind == TYPE_idx32;
}

bool flatten_is_at_most(struct flatten *f, struct ir_expr *x, int64_t room)
{
    if (facts_range(&f->facts, x).hi <= INT32_MAX - room)
        return true;
    if (!f->is_bounded)
        return false;
    struct affine most = affine_number(INT32_MAX - room);
    struct affine form = affine_of(f->facts.arena, x);
    struct affine left = affine_add(f->facts.arena, &most, -1, &form);
    return facts_nonnegative(&f->facts, &left);
}

// Return whether an operation on narrow operands yields no more than them.
static bool never_grows(struct flatten *f, const struct ir_expr *x)
{
    if (x->op == OP_div)
        return facts_range(&f->facts, x->args[1]).lo >= 0;
    return x->op == OP_mod || x->op == OP_min || x->op == OP_max ||
           x->op == OP_select;
}

// Return whether a shift is by as much as 32 bits allow, or is none.
static bool may_shift(struct flatten *f, const struct ir_expr *x)
{
    static const struct interval most = {0, 31};
    bool shifts = x->op == OP_shl || x->op == OP_shr;
    return !shifts || interval_within(facts_range(&f->facts, x->args[1]), most);
}

// Return whether a numerator and a number that divides it add up in 32 bits.
static bool divides_up(struct flatten *f, const struct ir_expr *x)
{
    int64_t by;
    return ir_int_value(x->args[1], &by) && by > 0 && by < INT32_MAX &&
           facts_range(&f->facts, x->args[0]).lo >= 0 &&
           flatten_is_at_most(f, x->args[0], by);
}

bool flatten_stays_narrow(struct flatten *f, struct ir_expr *x)
{
    if (x->type.lanes > 1 || !may_shift(f, x))
        return false;
    if (never_grows(f, x))
        return true;
    struct interval r = facts_range(&f->facts, x);
    if (x->op == OP_ceildiv)
        r = interval_add(facts_range(&f->facts, x->args[0]),
                         facts_range(&f->facts, x->args[1]));
    if (interval_within(r, narrow_range))
        return true;
    if (x->op == OP_ceildiv)
        return divides_up(f, x);
    return r.lo >= INT32_MIN && flatten_is_at_most(f, x, 0);
}

// Convert a leaf of an index type.
static struct ir_expr *flat_leaf(struct flatten *f, struct ir_expr *x)
{
    int64_t value;
    if (ir_int_value(x, &value)) {
        bool narrow = value >= INT32_MIN && value <= INT32_MAX;
        return ir_const_int(
            f->arena, type_scalar(narrow ? TYPE_idx32 : TYPE_idx64), value);
    }
    struct ir_var *var = x->op == OP_var ? map_get(&f->vars, x->u.var) : NULL;
    if (var)
        return ir_read(f->arena, var);
    bool narrow = x->op == OP_index ||
                  interval_within(facts_range(&f->facts, x), narrow_range);
    return flatten_in_width(f, x, narrow ? TYPE_idx32 : TYPE_idx64);
}

// Give the index operands of an operation one width.  The operation itself is
// in that width if it yields an index value; of sizes alone, whose value is used
// again and again, one that is proved to fit becomes narrow behind it.
static struct ir_expr *flat_operands(struct flatten *f, struct ir_expr *x)
{
    struct ir_expr **args = arena_array(f->arena, struct ir_expr *, x->n);
    bool fits = !type_is_index(x->type) || flatten_stays_narrow(f, x);
    bool narrow = fits;
    for (uint32_t i = 0; i < x->n; i++) {
        args[i] = flatten_expr(f, x->args[i]);
        narrow &= !type_is_index(args[i]->type) || flatten_is_narrow(args[i]);
    }
    for (uint32_t i = 0; i < x->n; i++)
        if (type_is_index(args[i]->type))
            args[i] =
                flatten_in_width(f, args[i], narrow ? TYPE_idx32 : TYPE_idx64);
    struct ir_expr *r = ir_with_args(f->arena, x, args);
    bool is_cut = f->is_bounded && fits && !narrow && type_is_index(x->type) &&
                  ir_is_of_params(x);
    return is_cut ? flatten_in_width(f, r, TYPE_idx32) : r;
}

// Convert a conversion.
static struct ir_expr *flat_cast(struct flatten *f, struct ir_expr *x)
{
    struct ir_expr *from = flatten_expr(f, x->args[0]);
    if (!type_is_index(x->type))
        return ir_cast(f->arena, x->type, from);
    bool narrow = type_is_integer(from->type) && flatten_stays_narrow(f, x);
    return flatten_in_width(f, from, narrow ? TYPE_idx32 : TYPE_idx64);
}

// Convert a value that an element takes.
static struct ir_expr *flat_value(struct flatten *f, const struct ir_buffer *b,
                                  struct ir_expr *x)
{
    struct ir_expr *value = flatten_expr(f, x);
    if (!type_is_index(b->elem))
        return value;
    struct type elem = flatten_element(b);
    return flatten_in_width(f, value, (enum type_kind)elem.kind);
}

// Return an access that was just made, with the type that elements will have.
static struct ir_expr *with_element(struct ir_expr *access)
{
    struct type elem = flatten_element(access->u.buffer);
    access->type = type_vector(elem, access->type.lanes);
    return access;
}

// Convert an access in an expression.
static struct ir_expr *flat_access(struct flatten *f, struct ir_expr *x)
{
    struct ir_buffer *b = x->u.buffer;
    struct ir_expr **index = flatten_indices(f, b, x->args);
    if (x->op == OP_load)
        return with_element(ir_load(f->arena, b, ir_flat_rank(b), index));
    uint32_t n = x->n - b->rank;
    struct ir_expr **operands = arena_array(f->arena, struct ir_expr *, n);
    for (uint32_t i = 0; i < n; i++)
        operands[i] = flat_value(f, b, x->args[b->rank + i]);
    struct ir_expr *r = ir_atomic(f->arena, x->op, b, 1, index, n, operands);
    return ir_scoped(with_element(r), (enum ir_scope)x->scope);
}

// Convert the second and third operand of `c ? x : y`, or the second of an
// `&&` or `||`, under the condition.
static struct ir_expr *flat_lazy(struct flatten *f, struct ir_expr *x)
{
    struct ir_expr **args = arena_array(f->arena, struct ir_expr *, x->n);
    bool narrow = flatten_stays_narrow(f, x);
    args[0] = flatten_expr(f, x->args[0]);
    for (uint32_t i = 1; i < x->n; i++) {
        struct facts_mark here = facts_mark(&f->facts);
        bool holds = x->op == OP_and || (x->op == OP_select && i == 1);
        facts_assume(&f->facts, x->args[0], holds);
        args[i] = flatten_expr(f, x->args[i]);
        narrow &= flatten_is_narrow(args[i]);
        facts_leave(&f->facts, here);
    }
    for (uint32_t i = 1; i < x->n; i++)
        if (type_is_index(args[i]->type))
            args[i] =
                flatten_in_width(f, args[i], narrow ? TYPE_idx32 : TYPE_idx64);
    return ir_with_args(f->arena, x, args);
}

struct ir_expr *flatten_expr(struct flatten *f, struct ir_expr *x)
{
    struct ir_expr *r = x;
    unsigned flags = ir_op_info(x->op)->flags;
    if (flags & (OP_READS | OP_WRITES))
        r = flat_access(f, x);
    else if (flags & OP_LAZY)
        r = flat_lazy(f, x);
    else if (x->op == OP_cast)
        r = flat_cast(f, x);
    else if (x->n)
        r = flat_operands(f, x);
    else if (type_is_index(x->type))
        r = flat_leaf(f, x);
    return ir_at(f->arena, r, x->span);
}

// Declare a variable of an index type anew, in a width.
static struct ir_var *flat_var(struct flatten *f, struct ir_var *var,
                               enum type_kind width)
{
    if (!type_is_index(var->type))
        return var;
    struct type type = type_vector(type_scalar(width), var->type.lanes);
    struct ir_var *new =
        ir_var_new(f->arena, var->name, type, var->kind, var->span);
    map_set(&f->vars, var, new);
    return new;
}

static void flat_block(struct flatten *f, struct ir_block *block);

// Convert a loop: its variable is narrow if no step beyond its end leaves 32
// bits.
static void flat_loop(struct flatten *f, struct ir_stmt *s)
{
    struct ir_for *loop = &s->u.loop;
    struct ir_expr *from = flatten_expr(f, loop->from);
    struct ir_expr *to = flatten_expr(f, loop->to);
    struct ir_expr *step = flatten_expr(f, loop->step);
    struct ir_expr *end = ir_add(f->arena, loop->to, loop->step);
    enum type_kind width = (enum type_kind)loop->var->type.kind;
    if (type_is_index(loop->var->type)) {
        bool narrow = flatten_is_narrow(from) && flatten_is_narrow(to) &&
                      flatten_is_narrow(step) && flatten_is_at_most(f, end, 0);
        width = narrow ? TYPE_idx32 : TYPE_idx64;
    }
    facts_enter(&f->facts, s);
    struct ir_stmt *around = f->loop;
    f->loop = s;
    struct ir_var *var = flat_var(f, loop->var, width);
    loop->from = flatten_in_width(f, from, width);
    loop->to = flatten_in_width(f, to, width);
    loop->step = flatten_in_width(f, step, width);
    flat_block(f, &loop->body);
    loop->var = var;
    f->loop = around;
}

// Return the value of a `let`: a quotient or a rest that fits is narrow though what
// divides is not.
static struct ir_expr *let_value(struct flatten *f, struct ir_expr *x,
                                 struct ir_expr *value)
{
    bool divides = x->op == OP_div || x->op == OP_mod;
    if (!divides || !type_is_index(x->type) || x->type.lanes > 1 ||
        !interval_within(facts_range(&f->facts, x), narrow_range))
        return value;
    return flatten_in_width(f, value, TYPE_idx32);
}

// Convert a `let`, `var` or assignment.
static void flat_let(struct flatten *f, struct ir_stmt *s)
{
    struct ir_expr *value = flatten_expr(f, s->u.let.value);
    struct ir_var *var = s->u.let.var;
    if (s->kind == STMT_let) {
        map_set(&f->lets, var, f->loop);
        value = let_value(f, s->u.let.value, value);
        facts_enter(&f->facts, s);
        s->u.let.var = flat_var(f, var, (enum type_kind)value->type.kind);
    } else if (type_is_index(var->type)) {
        struct ir_var *known = map_get(&f->vars, var);
        s->u.let.var = known ? known : flat_var(f, var, TYPE_idx64);
        value = flatten_in_width(f, value, TYPE_idx64);
    }
    s->u.let.value = value;
}

// Convert a store.
static void flat_store(struct flatten *f, struct ir_stmt *s)
{
    const struct ir_buffer *b = s->u.store.buffer;
    s->u.store.value = flat_value(f, b, s->u.store.value);
    s->u.store.index = flatten_indices(f, b, s->u.store.index);
    s->u.store.n = ir_flat_rank(b);
}

// Convert an instruction on matrices: its tiles become as many elements in a
// row, which those in registers are.
static void flat_matrix(struct flatten *f, struct ir_stmt *s)
{
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        struct ir_tile *t = &s->u.matrix.tiles[i];
        if (!t->at)
            continue;
        for (uint32_t d = 1; d < t->at->n; d++) {
            t->extent[0] *= t->extent[d];
            t->extent[d] = 0;
        }
        t->at = flatten_expr(f, t->at);
        t->extent[0] += !t->extent[0];
    }
    if (s->u.matrix.keep)
        s->u.matrix.keep = flatten_expr(f, s->u.matrix.keep);
}

// Give a place its one index: a copy begins where the exchange of a swizzle
// does.
static void flat_place(struct flatten *f, struct ir_place *place)
{
    struct ir_expr **one = arena_array(f->arena, struct ir_expr *, 1);
    struct ir_buffer plain = *place->buffer;
    plain.swizzle = (struct ir_swizzle){0};
    one[0] = flatten_index(f, &plain, place->index);
    place->index = one;
    place->n = 1;
}

// Convert a copy by each thread: a store, if it cannot be asynchronous.
static void flat_own_copy(struct flatten *f, struct ir_stmt *s)
{
    struct ir_stmt *once = ir_at_once(f->arena, s);
    flat_store(f, once);
    *s = copies_can_be_async(once) ? *copies_start(f->arena, once) : *once;
}

// Convert a copy by TMA: the coordinates of a tile stay.
static void flat_copy(struct flatten *f, struct ir_copy *copy)
{
    for (uint32_t i = 0; copy->map && i < copy->far.n; i++)
        copy->far.index[i] = flatten_expr(f, copy->far.index[i]);
    if (!copy->map)
        flat_place(f, &copy->far);
    flat_place(f, &copy->near);
    if (copy->multicast)
        copy->multicast = flatten_expr(f, copy->multicast);
    if (copy->signal.buffer)
        flat_place(f, &copy->signal);
}

// Convert a block under a condition.
static void flat_under(struct flatten *f, struct ir_block *block,
                       struct ir_expr *condition, bool holds)
{
    struct facts_mark here = facts_mark(&f->facts);
    facts_assume(&f->facts, condition, holds);
    flat_block(f, block);
    facts_leave(&f->facts, here);
}

// Convert a branch.
static void flat_branch(struct flatten *f, struct ir_stmt *s)
{
    struct ir_expr *condition = s->u.branch.cond;
    s->u.branch.cond = flatten_expr(f, condition);
    flat_under(f, &s->u.branch.then, condition, true);
    flat_under(f, &s->u.branch.otherwise, condition, false);
}

// Convert the expressions of a statement in which they stand by themselves.
static void flat_exprs(struct flatten *f, struct ir_stmt *s)
{
    ir_foreach_place(place, s)
        *place = flatten_expr(f, *place);
}

// Convert a statement.  What it declares is known behind it.
static void flat_stmt(struct flatten *f, struct ir_stmt *s)
{
    struct facts_mark here = facts_mark(&f->facts);
    switch ((int)s->kind) {
    case STMT_for:
        flat_loop(f, s);
        facts_leave(&f->facts, here);
        break;
    case STMT_launch:
        facts_enter(&f->facts, s);
        flat_block(f, &s->u.launch.body);
        facts_leave(&f->facts, here);
        break;
    case STMT_if: flat_branch(f, s); break;
    case STMT_let:
    case STMT_var:
    case STMT_assign: flat_let(f, s); break;
    case STMT_store: flat_store(f, s); break;
    case STMT_copy:
        if (ir_is_thread_copy(s))
            flat_own_copy(f, s);
        else
            flat_copy(f, &s->u.copy);
        break;
    case STMT_matrix: flat_matrix(f, s); break;
    default: flat_exprs(f, s);
    }
}

// Convert the statements of a block.
static void flat_block(struct flatten *f, struct ir_block *block)
{
    struct facts_mark here = facts_mark(&f->facts);
    for (size_t i = 0; i < block->n; i++)
        flat_stmt(f, block->at[i]);
    facts_leave(&f->facts, here);
}

// Return whether there is an upper bound for each size of the kernel.
static bool sizes_are_bounded(const struct facts *f, const struct ir_kernel *k)
{
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type) &&
            facts_var(f, var)->range.hi == INT64_MAX)
            return false;
    }
    return true;
}

enum pass_result pass_flatten(struct pass *p)
{
    if (!flatten_begin_arrays(p))
        return PASS_FAILED;
    struct flatten f = {.arena = p->arena,
                        .vars = {.arena = p->scratch},
                        .lets = {.arena = p->scratch}};
    facts_start(&f.facts, p->scratch, p->kernel);
    f.is_bounded = sizes_are_bounded(&f.facts, p->kernel);
    flat_block(&f, &p->kernel->body);
    flatten_end_arrays(p);
    return dropped_copies(p) ? PASS_CHANGED : PASS_FAILED;
}
