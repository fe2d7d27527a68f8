// Results of which every element is written, whatever the sizes.
//
// What a store writes is a set over its threads and iterations, from which isl
// takes these away; together the stores have to cover the whole result. Here a
// set must not be too large: a store of which something was left out counts as
// writing nothing.

#include "passes/proof/claims.h"
#include "passes/proof/digits.h"
#include "passes/proof/pieces.h"

#include <isl/options.h>
#include <isl/set.h>
#include <string.h>

enum { OPERATIONS_MOST = 300 * 1000, STORES_MOST = 256, PIECES_MOST = 32 };
enum { MEMBERS_MOST = 512 };

// The search for one result.
struct cover {
    struct arena *arena;
    const struct ir_buffer *result;
    isl_ctx *ctx;
    struct pieces written;
    bool is_left_out; // of a store something was
};

// Require that a new unknown is an element that a family writes along a
// dimension; returns it.
static uint32_t add_element(struct system *s, const struct family *f,
                            uint32_t d)
{
    struct linear *l = &s->linear;
    const struct offsets *o = &f->offsets[d];
    struct sum zero = linear_number(0), lo = linear_number(o->lo);
    struct sum value = system_value(s, f->base[d], FIRST);
    value = linear_plus(l, value, 1, &lo);
    if (o->step) {
        struct sum times = linear_add_unknown(l);
        linear_require(l, &times, &zero, 0);
        linear_require(l, &zero, &times, (o->hi - o->lo) / o->step);
        value = linear_plus(l, value, o->step, &times);
    }
    struct sum element = linear_add_unknown(l);
    uint32_t unknown = l->n;
    linear_require(l, &element, &value, 0);
    linear_require(l, &value, &element, (int64_t)f->first->count[d] - 1);
    return unknown;
}

// Return whether two members of a family have the same constants.
static bool is_twice(const struct family *f)
{
    size_t size = f->first->buffer->rank * sizeof *f->first->constant;
    for (size_t i = 0; i < f->members.n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (memcmp(f->members.at[i]->constant, f->members.at[k]->constant,
                       size) == 0)
                return true;
        }
    }
    return false;
}

// Return whether the members of a family have all constants that it allows: the
// product of those of the dimensions.
static bool is_whole(const struct family *f)
{
    size_t n = 1;
    for (uint32_t d = 0; d < f->first->buffer->rank; d++) {
        const struct offsets *o = &f->offsets[d];
        n *= o->step ? (size_t)((o->hi - o->lo) / o->step + 1) : 1;
    }
    return n == f->members.n && n <= MEMBERS_MOST && !is_twice(f);
}

// Return whether the elements of a family tell each product of positions.
static bool are_told(struct cover *c, struct system *s, const struct family *f)
{
    vec_foreach(l, &s->leaves)
        if (positions_multiply(l->expr) &&
            !positions_name(&c->written.products, s, f, l->expr))
            return false;
    return true;
}

// Add what a family writes where one of each either-or around holds.
static void add_choice(struct cover *c, struct system *s,
                       const struct family *f)
{
    uint32_t elements[RANK_MOST], rank = c->result->rank;
    system_begin(s, (struct relation){NULL, NULL, false});
    system_enter(s, f->first->scope, FIRST);
    for (uint32_t d = 0; d < rank; d++)
        elements[d] = f->base[d] ? add_element(s, f, d) : 0;
    for (uint32_t d = 0; d < rank; d++)
        s->is_exact &= elements[d] != 0;
    s->is_exact = s->is_exact && digits_go_together(s) && are_told(c, s, f);
    if (!s->is_exact || s->linear.failed || c->written.all.n >= STORES_MOST)
        c->is_left_out = true;
    else
        pieces_add(&c->written, s, f, elements, rank);
}

// Add what a family writes.
static void add_family(struct cover *c, struct system *s,
                       const struct family *f)
{
    s->is_choosing = s->is_covering = true;
    uint32_t most = 1;
    for (s->choice = 0; s->choice < most; s->choice++) {
        s->choices = 0;
        add_choice(c, s, f);
        most = 1u << s->choices > most ? 1u << s->choices : most;
    }
    s->is_choosing = s->is_covering = false;
}

// Add what one member of a family writes.
static void add_member(struct cover *c, struct system *s,
                       const struct family *f, const struct access *x)
{
    uint32_t rank = c->result->rank;
    struct family one = {.first = x, .scope = f->scope, .base = x->index};
    one.offsets = arena_array(s->arena, struct offsets, rank + 1);
    add_family(c, s, &one);
}

// Add what the stores of nodes write.
static void add_nodes(struct cover *c, struct system *s,
                      const struct nodes *nodes)
{
    vec_foreach_value(n, nodes) {
        vec_foreach_value(f, &n->families) {
            if (f->first->buffer != c->result || !f->first->writes ||
                f->first->is_proxy)
                continue;
            if (is_whole(f))
                add_family(c, s, f);
            for (size_t j = 0; j < f->members.n && !is_whole(f); j++)
                add_member(c, s, f, f->members.at[j]);
        }
        add_nodes(c, s, &n->body);
        add_nodes(c, s, &n->otherwise);
    }
}

// Require that a launch has no more blocks along each axis than a GPU takes.
static void require_grid(struct system *s, const struct ir_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        struct sum most =
            linear_number(axis_most((enum axis)(AXIS_block_x + i)));
        struct sum grid = system_value(s, launch->grid[i], FIRST);
        linear_require(&s->linear, &most, &grid, 0);
    }
}

// Return the elements that a result has where the launches are possible.
static isl_set *whole_of(struct cover *c, struct system *s,
                         struct program *const *launches, size_t n)
{
    uint32_t elements[RANK_MOST], rank = c->result->rank;
    struct sum zero = linear_number(0);
    s->asks_sizes = true;
    system_begin(s, (struct relation){NULL, NULL, false});
    s->asks_sizes = false;
    for (size_t i = 0; i < n; i++)
        require_grid(s, launches[i]->launch);
    for (uint32_t d = 0; d < rank; d++) {
        struct sum end = system_value(s, c->result->shape[d], FIRST);
        struct sum element = linear_add_unknown(&s->linear);
        elements[d] = s->linear.n;
        linear_require(&s->linear, &element, &zero, 0);
        linear_require(&s->linear, &end, &element, -1);
        system_require_some(s, c->result->shape[d]);
    }
    if (s->linear.failed)
        return NULL;
    struct pieces whole = {.arena = c->arena};
    pieces_add(&whole, s, NULL, elements, rank);
    return piece_set(&whole.all.at[0], c->ctx, rank);
}

// Return all that is written, but for pieces that are too many.
static isl_set *written_of(struct cover *c)
{
    isl_set *r = NULL;
    pieces_merge(&c->written);
    vec_foreach(piece, &c->written.all) {
        if (piece->linear.failed || piece - c->written.all.at >= PIECES_MOST) {
            c->is_left_out = true;
            continue;
        }
        isl_set *set = piece_set(piece, c->ctx, c->result->rank);
        r = r ? isl_set_union(r, set) : set;
    }
    return r;
}

// Return whether all of a result is written.
static bool is_covered(struct cover *c, struct program *const *launches,
                       size_t n)
{
    isl_set *whole = NULL;
    for (size_t i = 0; i < n; i++) {
        struct system s;
        struct facts facts;
        facts_start(&facts, c->arena, launches[i]->kernel);
        system_start(&s, c->arena, launches[i], &facts, PROOF_QUESTIONS);
        if (!launches[i]->has_return)
            add_nodes(c, &s, &launches[i]->body);
        if (i + 1 == n)
            whole = whole_of(c, &s, launches, n);
        system_end(&s);
    }
    isl_set *written = written_of(c);
    bool is_all =
        whole && written && isl_set_is_subset(whole, written) == isl_bool_true;
    isl_set_free(whole);
    isl_set_free(written);
    return is_all;
}

// Return whether a store to an array may leave it: what it should write is not
// written then.
static bool may_be_left(struct program *const *launches, size_t n,
                        const struct ir_buffer *b)
{
    for (size_t i = 0; i < n; i++) {
        const struct array_use *use = program_use(launches[i], b);
        if (use && use->may_be_left)
            return true;
    }
    return false;
}

void claim_coverage(struct arena *a, struct program *const *launches, size_t n,
                    struct proof *out)
{
    const struct ir_kernel *k = n ? launches[0]->kernel : NULL;
    for (size_t i = 0; k && i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b || b->role != ROLE_output || b->rank > RANK_MOST)
            continue;
        struct cover c = {.arena = launches[0]->arena, .result = b};
        c.written.arena = c.arena;
        c.ctx = isl_ctx_alloc();
        isl_options_set_on_error(c.ctx, ISL_ON_ERROR_CONTINUE);
        isl_ctx_set_max_operations(c.ctx, OPERATIONS_MOST);
        bool is_left = may_be_left(launches, n, b);
        bool is_all = !is_left && is_covered(&c, launches, n);
        isl_ctx_free(c.ctx);
        struct proof_item item = {.claim = CLAIM_coverage,
                                  .verdict = is_all ? PROOF_PROVED : PROOF_OPEN,
                                  .reason = is_all          ? REASON_none
                                            : is_left       ? REASON_outside
                                            : c.is_left_out ? REASON_data
                                                            : REASON_open,
                                  .buffer = b,
                                  .span = b->span,
                                  .writes = true,
                                  .times = 1};
        vec_push(a, &out->items, item);
    }
}
