// factor_out -- divide sums instead of what they add up.
//
//   P[i, j] = exp(X[i, j] - M[i]) / L[i]
//   O[i, d] = O[i, d] + P[i, j] * V[j, d]
//   Y[i, d] = f(O[i, d])
//     =>   factor_out(P, L)
//   P[i, j] = exp(X[i, j] - M[i])
//   O[i, d] = O[i, d] + P[i, j] * V[j, d]
//   Y[i, d] = f(O[i, d] / L[i])
//
// If rows may have no elements, their sums stay 0: n > 0 ? O[i, d] / L[i] : O[i, d].
// So each sum is divided once where it is read, and what is added up does not wait for
// L: `online` can follow.  The results are as before, but for how they are rounded.
// Nothing overflows that did not before: what is divided is at most 1, since it is an
// exponential of how far an element is below the greatest of its row.
//
// Requires:
//  1. the stage just stores to its own iteration variables a quotient, or
//     conversions of one, whose divisor is an element of the array     E0653 E0879
//  2. what is divided is an exponential of x - m, where m is the
//     greatest of the x of a row, both times a positive number or none, or
//     their distance times what depends on parameters alone,
//     or what an element of a stage that computes that is converted to E0879
//  3. only sums read what the stage stores, each term once, as a factor
//     and converted to as many bits; the divisor is the same for all
//     terms of one; stages read it                                E0880 E0653
//  4. the sums are intermediate ones                                   E0655
//  5. nothing behind the stage writes the array                        E0657

#include "passes/schedule/common/move.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/equal.h"
#include "ir/foreach.h"
#include "ir/stage.h"
#include "passes/analysis/facts.h"
#include "passes/schedule/common/weights.h"

// What is rewritten.
struct factoring {
    struct pass *pass;
    struct ir_stmt *stage, *store; // that divides
    struct ir_buffer *by;          // L
    struct ir_expr *divisor;       // L[i], over the stage's variables
    struct sched_uses uses;        // of what the stage stores
    struct ir_stmt *sum;  // one of those, while its readers are changed
    struct ir_expr **row; // of L, over the variables of the sum
};

// Report that the stage does not divide as it should.
static bool refuse(const struct sched_call *c, const struct factoring *f,
                   const char *why)
{
    return sched_refuse(c, f->stage, "divides otherwise", D_factor_out_stage,
                        sched_name_of(f->stage), f->by->name, why);
}

// Return an expression without the division by an element of L, which is noted;
// NULL if it is no conversion of such a quotient.
static struct ir_expr *without(struct factoring *f, struct ir_expr *x)
{
    struct arena *a = f->pass->arena;
    if (x->op == OP_cast && type_is_float(x->type)) {
        struct ir_expr *rest = without(f, x->args[0]);
        return rest ? ir_at(a, ir_cast(a, x->type, rest), x->span) : NULL;
    }
    if (x->op != OP_div || x->args[1]->op != OP_load ||
        x->args[1]->u.buffer != f->by)
        return NULL;
    f->divisor = x->args[1];
    return x->args[0];
}

// Return whether a stage stores weights of a greatest element that are at most 1.
static bool is_weight(const struct factoring *f, struct ir_stmt *greatest)
{
    struct weights w;
    struct weight_use use = {0};
    struct ir_block stages =
        ir_stages_of(f->pass->scratch, &f->pass->kernel->body);
    if (!weights_start(&w, f->pass, greatest))
        return false;
    vec_foreach_value(s, &stages)
        if (s != greatest && s != f->stage && weights_read(&w, s) &&
            !ir_stage_reduces(&s->u.stage))
            weights_take(&w, s, &use);
    return weights_read(&w, f->stage) && !weights_take(&w, f->stage, &use) &&
           use.is_at_most_one;
}

// Check that what is left of the value is at most 1, and put it in its place.
static bool check_value(const struct sched_call *c, struct factoring *f)
{
    struct ir_expr *old = f->store->u.store.value, *rest = without(f, old);
    struct ir_block stages =
        ir_stages_of(c->pass->scratch, &c->pass->kernel->body);
    bool found = false;
    if (!rest)
        return refuse(c, f, "it stores no quotient");
    f->store->u.store.value = rest;
    vec_foreach_value(s, &stages)
        found = found || is_weight(f, s);
    f->store->u.store.value = old;
    return found || refuse(c, f, "what it divides may be more than 1");
}

// Return the load of what the stage stores that a term is a product with, through
// conversions to as many bits; NULL if there is none, or another one.
static struct ir_expr *factor_of(const struct factoring *f, struct ir_expr *x)
{
    const struct ir_buffer *array = f->store->u.store.buffer;
    struct ir_expr *found = NULL;
    if (x->op == OP_load)
        return x->u.buffer == array ? x : NULL;
    if (x->op == OP_cast)
        return type_is_float(x->type) &&
                       type_bits(x->type) >= type_bits(x->args[0]->type)
                   ? factor_of(f, x->args[0])
                   : NULL;
    for (uint32_t i = 0; x->op == OP_mul && i < 2; i++) {
        struct ir_expr *one = factor_of(f, x->args[i]);
        if (one && found)
            return NULL;
        found = one ? one : found;
    }
    return found;
}

// Return the row of L of a sum, over its variables; NULL if it is no sum of
// products with what the stage stores, or has terms of several rows.
static struct ir_expr **row_of(const struct factoring *f, struct ir_stmt *s)
{
    struct pass *p = f->pass;
    struct reducer r;
    struct map vars = {.arena = p->scratch};
    if (s->kind != STMT_stage || !reducer_find(p, &s->u.stage, &r) ||
        r.kind != REDUCER_operation ||
        r.values[0].store->u.store.value->op != OP_add)
        return NULL;
    struct ir_expr *load = factor_of(f, reducer_operand(&r, 0));
    for (uint32_t d = 0; load && d < load->n; d++)
        map_set(&vars, f->store->u.store.index[d]->u.var, load->args[d]);
    struct ir_expr **row =
        load ? ir_substitute_all(p->arena, f->by->rank, f->divisor->args, &vars,
                                 NULL)
             : NULL;
    for (uint32_t d = 0; row && d < f->by->rank; d++) {
        int i = ir_stage_iter(&s->u.stage, row[d]);
        if (i < 0 || s->u.stage.iters.at[i].is_reduce)
            return NULL;
    }
    return row;
}

// Check what reads the quotients: sums that no caller gets.
static bool check_sums(const struct sched_call *c, const struct factoring *f)
{
    struct sched_stores stores;
    vec_foreach_value(s, &f->uses.readers) {
        if (!row_of(f, s))
            return sched_refuse_two(c, f->stage, s, "divides, and reads it",
                                    D_factor_out_sum, sched_name_of(s),
                                    f->store->u.store.buffer->name);
        if (!sched_check_stores(c, s, &stores))
            return false;
        struct sched_uses uses = sched_uses_of_all(c->pass, &stores.arrays);
        if (stores.arrays.at[0]->role != ROLE_alloc)
            return sched_refuse(c, s, "computes a result", D_move_output,
                                stores.arrays.at[0]->name);
        if (!sched_check_alone(c, s, &uses))
            return false;
        vec_foreach_value(r, &uses.readers)
            if (r->kind != STMT_stage)
                return sched_refuse(c, r, "is no stage", D_stage_wanted,
                                    sched_name_of(r));
    }
    return true;
}

// Check that L is what it is until the sums are read.
static bool check_divisor(const struct sched_call *c, const struct factoring *f)
{
    struct pass *p = c->pass;
    struct sched_uses uses = sched_uses_of(p, f->by);
    vec_foreach_value(s, &uses.writers)
        if (sched_order_of(p, s) > sched_order_of(p, f->stage))
            return sched_refuse_two(c, f->stage, s,
                                    "divides, and what changes it",
                                    D_move_order, sched_name_of(f->stage),
                                    "be divided by what has changed meanwhile");
    return true;
}

// Return whether a sum has terms, in terms of `vars` instead of its variables;
// NULL if every one has.
static struct ir_expr *has_terms(const struct factoring *f,
                                 const struct map *vars)
{
    struct arena *a = f->pass->arena;
    struct ir_expr *all = NULL;
    struct facts facts;
    facts_start(&facts, f->pass->scratch, f->pass->kernel);
    vec_foreach(iter, &f->sum->u.stage.iters) {
        struct ir_expr *any = ir_binary(a, OP_lt, ir_int(a, 0), iter->extent);
        if (!iter->is_reduce || facts_holds(&facts, any))
            continue;
        any = ir_substitute(a, any, vars, NULL);
        all = all ? ir_binary(a, OP_and, all, any) : any;
    }
    return all;
}

// Let a load of a sum be divided.
static struct ir_expr *divide(struct arena *a, struct ir_expr *x, void *context)
{
    const struct factoring *f = context;
    const struct ir_stmt *store = f->sum->u.stage.body.at[0];
    struct map vars = {.arena = f->pass->scratch};
    if (x->op != OP_load || x->u.buffer != store->u.store.buffer)
        return x;
    for (uint32_t d = 0; d < x->n; d++)
        map_set(&vars, store->u.store.index[d]->u.var, x->args[d]);
    struct ir_expr *by =
        ir_load(a, f->by, f->by->rank,
                ir_substitute_all(a, f->by->rank, f->row, &vars, NULL));
    struct ir_expr *quotient = ir_binary(a, OP_div, x, ir_cast(a, x->type, by));
    struct ir_expr *any = has_terms(f, &vars);
    return any ? ir_select(a, any, quotient, x) : quotient;
}

// Divide a sum where it is read.
static void divide_sum(struct factoring *f, struct ir_stmt *sum)
{
    struct pass *p = f->pass;
    f->sum = sum;
    f->row = row_of(f, sum);
    struct sched_uses uses = sched_uses_of(p, sched_stored(sum));
    vec_foreach_value(s, &uses.readers)
        if (s != sum) {
            struct ir_stage *stage = &s->u.stage;
            ir_rewrite_in(p->arena, &stage->init, divide, f);
            ir_rewrite_in(p->arena, &stage->body, divide, f);
            if (stage->predicate)
                stage->predicate =
                    ir_rewrite(p->arena, stage->predicate, divide, f);
        }
}

bool sched_factor_out(struct sched_call *c)
{
    struct factoring f = {.pass = c->pass,
                          .stage = sched_arg(c, 0),
                          .by = sched_arg_buffer(c, 1)};
    struct sched_stores stores;
    if (!sched_check_stores(c, f.stage, &stores))
        return false;
    f.store = sched_plain_store(f.stage);
    if (!f.store || f.stage->u.stage.has_init)
        return refuse(c, &f, "it stores no quotient");
    f.uses = sched_uses_of_all(c->pass, &stores.arrays);
    if (!sched_check_alone(c, f.stage, &f.uses) || !check_value(c, &f) ||
        !check_sums(c, &f) || !check_divisor(c, &f))
        return false;
    vec_foreach_value(s, &f.uses.readers)
        divide_sum(&f, s);
    f.store->u.store.value = without(&f, f.store->u.store.value);
    return true;
}
