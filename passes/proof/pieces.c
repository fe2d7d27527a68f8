// Pieces of an array that stores write.

#include "passes/proof/pieces.h"

#include "ir/base/num.h"
#include "ir/text.h"

#include <isl/id.h>
#include <isl/space.h>
#include <string.h>

// Return the name of the sizes, or of the product that elements of a family tell, that
// an unknown stands for, or NULL.
static const char *parameter_of(struct pieces *pieces, const struct system *s,
                                const struct family *f, uint32_t unknown)
{
    vec_foreach(l, &s->leaves) {
        if (l->unknown != unknown)
            continue;
        if (f && positions_multiply(l->expr))
            return positions_name(&pieces->products, s, f, l->expr);
        if (!system_is_sized(l->expr))
            return NULL;
        struct buf text = {0};
        ir_print_expr(&text, l->expr);
        const char *name = arena_copy(s->arena, text.data, text.n);
        buf_free(&text);
        return name;
    }
    return NULL;
}

// Add a row to a system; of two that differ in their constants alone, which say
// that a sum is not negative, the lesser sum says all.
static void add_row(struct arena *a, struct linear *l,
                    const struct linear_row *row)
{
    vec_foreach(other, &l->rows) {
        if (row->is_zero || other->is_zero ||
            memcmp(row->sum.k + 1, other->sum.k + 1, l->n * sizeof(int64_t)))
            continue;
        if (row->sum.k[0] < other->sum.k[0])
            *other = *row;
        return;
    }
    vec_push(a, &l->rows, *row);
}

void pieces_add(struct pieces *pieces, const struct system *s,
                const struct family *f, const uint32_t *elements, uint32_t rank)
{
    struct arena *a = pieces->arena;
    struct piece new = {.linear = s->linear, .members = 1};
    const char **parameters = arena_array(a, const char *, s->linear.n + 1);
    for (uint32_t i = 1; i <= s->linear.n; i++)
        parameters[i] = parameter_of(pieces, s, f, i);
    new.parameters = parameters;
    new.linear.arena = a;
    new.linear.rows.at = NULL;
    new.linear.rows.n = new.linear.rows.cap = 0;
    vec_foreach(row, &s->linear.rows)
        add_row(a, &new.linear, row);
    memcpy(new.elements, elements, rank * sizeof *elements);
    vec_push(a, &pieces->all, new);
}

// Return whether two names are the same, or both none.
static bool same_name(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

// Return whether two systems differ in the constants of their rows alone.
static bool is_alike(const struct piece *x, const struct piece *y)
{
    const struct linear *l = &x->linear, *m = &y->linear;
    bool alike = l->n == m->n && l->rows.n == m->rows.n &&
                 memcmp(x->elements, y->elements, sizeof x->elements) == 0;
    for (uint32_t i = 1; i <= l->n && alike; i++)
        alike = same_name(x->parameters[i], y->parameters[i]);
    for (size_t i = 0; i < l->rows.n && alike; i++)
        alike = l->rows.at[i].is_zero == m->rows.at[i].is_zero &&
                memcmp(l->rows.at[i].sum.k + 1, m->rows.at[i].sum.k + 1,
                       l->n * sizeof(int64_t)) == 0;
    return alike;
}

// Append a system to a piece if its constants are the next ones.
static bool append(struct arena *a, struct piece *piece,
                   const struct piece *next)
{
    if (next->members != 1 || !is_alike(piece, next))
        return false;
    size_t n = piece->linear.rows.n;
    int64_t *step = arena_array(a, int64_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        int64_t first = piece->linear.rows.at[i].sum.k[0], all;
        if (!num_sub(next->linear.rows.at[i].sum.k[0], first, &all) ||
            all % piece->members)
            return false;
        step[i] = all / piece->members;
        if (piece->members > 1 && step[i] != piece->step[i])
            return false;
    }
    piece->step = step;
    piece->members++;
    return true;
}

// Make one system of those of a piece: which of them is a new unknown.
static void close_piece(struct arena *a, struct piece *piece)
{
    struct linear *l = &piece->linear;
    if (piece->members == 1)
        return;
    struct sum zero = linear_number(0), which = linear_add_unknown(l);
    for (size_t i = 0; i < l->rows.n && !l->failed; i++)
        l->rows.at[i].sum.k[l->n] = piece->step[i];
    linear_require(l, &which, &zero, 0);
    linear_require(l, &zero, &which, piece->members - 1);
    const char **parameters = arena_array(a, const char *, l->n + 1);
    memcpy(parameters, piece->parameters, l->n * sizeof *parameters);
    piece->parameters = parameters;
    piece->members = 1;
}

void pieces_merge(struct pieces *pieces)
{
    size_t n;
    do {
        n = pieces->all.n;
        pieces->all.n = 0;
        for (size_t i = 0; i < n; i++) {
            struct piece next = pieces->all.at[i];
            bool is_in = false;
            for (size_t k = 0; k < pieces->all.n && !is_in; k++)
                is_in = append(pieces->arena, &pieces->all.at[k], &next);
            if (!is_in)
                pieces->all.at[pieces->all.n++] = next;
        }
        vec_foreach(piece, &pieces->all)
            close_piece(pieces->arena, piece);
    } while (pieces->all.n < n);
}

isl_set *piece_set(const struct piece *piece, isl_ctx *ctx, uint32_t rank)
{
    isl_set *set =
        isl_set_from_basic_set(linear_solutions(&piece->linear, ctx));
    uint32_t left = rank;
    for (uint32_t i = piece->linear.n; i-- > 0;) {
        const char *name = piece->parameters[i + 1];
        if (left > 0 && piece->elements[left - 1] == i + 1) {
            left--;
        } else if (name) {
            unsigned at = (unsigned)isl_set_dim(set, isl_dim_param);
            set = isl_set_move_dims(set, isl_dim_param, at, isl_dim_set, i, 1);
            set = isl_set_set_dim_id(set, isl_dim_param, at,
                                     isl_id_alloc(ctx, name, NULL));
        } else {
            set = isl_set_project_out(set, isl_dim_set, i, 1);
        }
    }
    return set;
}
