// A hash table of pairs of accesses by their distance.

#include "passes/analysis/distances.h"

#include "ir/affine.h"
#include "ir/base/map.h"
#include "ir/base/num.h"
#include "ir/base/vec.h"
#include "ir/equal.h"

enum { BASES = 256, PAIRS_LEAST = 256 };

// An index without its constant.
struct base {
    struct base *next; // with the same head
    uint64_t hash;
    const struct ir_expr *expr;
    uint32_t lanes;
};

// An index.
struct index {
    const struct base *base;
    int64_t constant;
};

// How two accesses stand to each other in a dimension.
struct step {
    const struct base *from, *to;
    int64_t constant; // of the second less that of the first
};

// A pair of accesses, and all of the same distance.
struct pair {
    struct pair *next; // with the same head
    uint64_t hash;
    struct conflict_place place;
    uint32_t n;
    struct step *steps; // one for each dimension
    struct distance distance;
};

struct distances {
    struct arena *arena;
    struct map indices;            // an access -> its indices
    struct base *bases[BASES];     // by hash
    struct pair **pairs;           // by hash
    size_t n, heads;               // pairs, and lists of them
    struct VEC(struct step) steps; // of the pair in question
};

struct distances *distances_new(struct arena *a)
{
    struct distances *d = arena_new(a, struct distances);
    d->arena = d->indices.arena = a;
    d->heads = PAIRS_LEAST;
    d->pairs = arena_array(a, struct pair *, d->heads);
    return d;
}

// Return the base that an expression is; equal ones are one.
static const struct base *base_of(struct distances *d,
                                  const struct ir_expr *expr, uint32_t lanes)
{
    uint64_t hash = ir_hash_mix(ir_expr_hash(expr), lanes);
    struct base **head = &d->bases[hash % BASES];
    for (struct base *b = *head; b; b = b->next)
        if (b->hash == hash && b->lanes == lanes &&
            ir_expr_equal(b->expr, expr))
            return b;
    struct base *b = arena_new(d->arena, struct base);
    *b = (struct base){*head, hash, expr, lanes};
    *head = b;
    return b;
}

// Return an index taken apart.
static struct index index_of(struct distances *d, struct ir_expr *x)
{
    uint32_t lanes = x->type.lanes;
    struct ir_expr *first = x->op == OP_ramp ? x->args[0] : x;
    if (first->type.lanes > 1)
        return (struct index){base_of(d, first, lanes), 0};
    struct affine form = affine_of(d->arena, first);
    if (form.failed)
        return (struct index){base_of(d, first, lanes), 0};
    int64_t constant = form.constant;
    form.constant = 0;
    first = affine_expr(d->arena, &form, first->type);
    return (struct index){base_of(d, first, lanes), constant};
}

// Return the indices of an access.
static const struct index *indices_of(struct distances *d,
                                      const struct conflict_access *x)
{
    uint32_t n = x->buffer->rank;
    struct index *r = map_get(&d->indices, x);
    if (r)
        return r;
    r = arena_array(d->arena, struct index, n + 1);
    for (uint32_t i = 0; i < n; i++)
        r[i] = index_of(d, x->index[i]);
    map_set(&d->indices, x, r);
    return r;
}

// Return the same number for equal pairs.
static uint64_t hash_pair(const struct pair *p)
{
    uint64_t h = ir_hash_mix(p->n, (uintptr_t)p->place.common);
    h = ir_hash_mix(h, (uintptr_t)p->place.back);
    h = ir_hash_mix(h, p->place.together);
    for (uint32_t i = 0; i < p->n; i++) {
        h = ir_hash_mix(h, p->steps[i].from->hash);
        h = ir_hash_mix(h, p->steps[i].to->hash);
        h = ir_hash_mix(h, (uint64_t)p->steps[i].constant);
    }
    return h;
}

// Return whether two pairs have one distance.
static bool same_distance(const struct pair *p, const struct pair *q)
{
    if (p->hash != q->hash || p->n != q->n ||
        p->place.common != q->place.common || p->place.back != q->place.back ||
        p->place.is_next != q->place.is_next ||
        p->place.together != q->place.together ||
        p->place.within != q->place.within)
        return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct step *s = &p->steps[i], *t = &q->steps[i];
        if (s->from != t->from || s->to != t->to || s->constant != t->constant)
            return false;
    }
    return true;
}

// Put a pair into its list.
static void put(struct distances *d, struct pair *p)
{
    struct pair **head = &d->pairs[p->hash % d->heads];
    p->next = *head;
    *head = p;
}

// Make twice as many lists.
static void grow(struct distances *d)
{
    struct pair **old = d->pairs;
    size_t n = d->heads;
    d->heads = 2 * n;
    d->pairs = arena_array(d->arena, struct pair *, d->heads);
    for (size_t i = 0; i < n; i++) {
        for (struct pair *p = old[i], *next; p; p = next) {
            next = p->next;
            put(d, p);
        }
    }
}

// Keep a pair, with steps of its own.
static struct distance *add_pair(struct distances *d, const struct pair *p)
{
    struct pair *new = arena_new(d->arena, struct pair);
    *new = *p;
    new->steps = arena_array(d->arena, struct step, p->n + 1);
    for (uint32_t i = 0; i < p->n; i++)
        new->steps[i] = p->steps[i];
    if (d->n++ == d->heads)
        grow(d);
    put(d, new);
    return &new->distance;
}

// Return a place from which the same variables are seen: conditions around do
// not count.
static struct conflict_place place_of(const struct conflict_place *place)
{
    struct conflict_place r = *place;
    while (r.common && !r.common->var)
        r.common = r.common->up;
    return r;
}

struct distance *distances_find(struct distances *d,
                                const struct conflict_access *x,
                                const struct conflict_access *y,
                                const struct conflict_place *place,
                                uint32_t together)
{
    struct pair pair = {.place = place_of(place), .n = x->buffer->rank};
    pair.place.together = together;
    const struct index *from = indices_of(d, x), *to = indices_of(d, y);
    d->steps.n = 0;
    for (uint32_t i = 0; i < pair.n; i++) {
        struct step s = {from[i].base, to[i].base, 0};
        if (!num_sub(to[i].constant, from[i].constant, &s.constant))
            return NULL;
        vec_push(d->arena, &d->steps, s);
    }
    pair.steps = d->steps.at;
    pair.hash = hash_pair(&pair);
    struct pair *p = d->pairs[pair.hash % d->heads];
    while (p && !same_distance(p, &pair))
        p = p->next;
    return p ? &p->distance : add_pair(d, &pair);
}

// Return the innermost scope that says something of an access: the variables of
// its indices say themselves which they are.
static const struct conflict_scope *scope_of(const struct conflict_access *x)
{
    const struct conflict_scope *s = x->scope;
    while (s && !s->from && !s->condition)
        s = s->up;
    return s;
}

const struct distance_answer *distances_answer(const struct distance *d,
                                               const struct conflict_access *x,
                                               const struct conflict_access *y)
{
    const struct conflict_scope *from = scope_of(x), *to = scope_of(y);
    const struct distance_answer *a = d->answers;
    while (a && (a->from != from || a->to != to))
        a = a->next;
    return a;
}

void distances_keep(struct distances *d, struct distance *distance,
                    const struct conflict_access *x,
                    const struct conflict_access *y, bool conflicts)
{
    struct distance_answer *a = arena_new(d->arena, struct distance_answer);
    *a = (struct distance_answer){distance->answers, scope_of(x), scope_of(y),
                                  conflicts};
    distance->answers = a;
}
