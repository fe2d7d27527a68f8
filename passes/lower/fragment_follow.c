// Gives fragments that no instruction uses the layout of one that an
// instruction does use, if a stage uses both at the same place:
//
//   sum[i, j] = sum[i, j] + part[0, i, j]       part: of an instruction
//
// so that each thread has the elements of both that belong together. One that is used
// at the same row, and has no columns, has an element for each row:
//
//   most[i] = max(most[i], part[0, i, j])

#include "passes/lower/fragments.h"

#include "ir/equal.h"

// An access to a fragment.
struct access {
    struct fragment *of;
    struct ir_expr *const *index;
};

// The accesses of a stage.
struct look {
    struct fragments *f;
    struct VEC(struct access) all;
    bool changed;
};

// Note an access, if it is to a fragment.
static void note(struct look *l, const struct ir_buffer *b,
                 struct ir_expr *const *index)
{
    struct access x = {fragment_of(l->f, b), index};
    if (x.of)
        vec_push(l->f->p->scratch, &l->all, x);
}

// Note the accesses of a stage: its stores, then its loads.
static void note_all(struct look *l, const struct ir_stmt *stage)
{
    l->all.n = 0;
    ir_foreach_stmt_from(s, stage)
        if (s->kind == STMT_store)
            note(l, s->u.store.buffer, s->u.store.index);
    ir_foreach_expr_from(x, stage)
        if (x->op == OP_load)
            note(l, x->u.buffer, x->args);
}

// Find the dimension of an access that moves as one of another does; false if
// there is none.
static bool find_dimension(const struct access *x, const struct ir_expr *index,
                           uint32_t *dim)
{
    for (uint32_t d = 0; d < x->of->array->rank; d++) {
        *dim = d;
        if (ir_expr_equal(x->index[d], index))
            return true;
    }
    return false;
}

// Return whether all indices of an access are indices of another one.
static bool is_at_part(const struct access *x, const struct access *known)
{
    uint32_t dim;
    bool found = true;
    for (uint32_t d = 0; d < x->of->array->rank; d++)
        found &= find_dimension(known, x->index[d], &dim);
    return found;
}

// Find the dimension of an access that is a side of a known one, or that there is
// none, of the columns; false if there has to be.
static bool find_side(const struct access *x, const struct access *known,
                      int side, uint32_t *dim)
{
    uint32_t of = known->of->dim[side];
    if (of != FRAGMENT_NONE && find_dimension(x, known->index[of], dim))
        return true;
    *dim = FRAGMENT_NONE;
    return side == 1 && is_at_part(x, known);
}

// Let a fragment follow another one, if they are used at the same place.
static void follow(struct look *l, const struct access *x,
                   const struct access *known)
{
    struct fragment like = *known->of;
    like.alloc = x->of->alloc;
    like.array = x->of->array;
    for (int side = 0; side < 2; side++)
        if (!find_side(x, known, side, &like.dim[side]))
            return;
    if (like.dim[1] == FRAGMENT_NONE)
        like.layout = fragments_rows(&known->of->layout);
    if (!fragments_declare(l->f, &like))
        return;
    *x->of = like;
    l->changed = true;
}

// Let the fragments that a stage uses follow one another.
static void follow_in(struct look *l, const struct ir_stmt *stage)
{
    note_all(l, stage);
    for (size_t i = 0; i < l->all.n; i++)
        for (size_t k = 0; k < l->all.n; k++)
            if (!l->all.at[i].of->local && l->all.at[k].of->local)
                follow(l, &l->all.at[i], &l->all.at[k]);
}

void fragments_follow(struct fragments *f)
{
    struct look l = {.f = f, .changed = true};
    while (l.changed) {
        l.changed = false;
        ir_foreach_stmt(s, &f->p->kernel->body)
            if (s->kind == STMT_stage)
                follow_in(&l, s);
    }
}
