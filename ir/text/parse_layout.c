// The order of an array's dimensions, where a kernel has compile-time parameters:
//
//   A: f16[M, K] layout t            stored as [K, M]
//   X: f16[N, C, H, W] layout nhwc
//
// Shape and accesses are written in one order; here they get that of the array.

#include "ir/text/parse.h"

#include "ir/build.h"

#include <ctype.h>
#include <string.h>

// Return the letter by which the word of an order calls a dimension: that of
// the size that it has, or 0.
static char letter_of(const struct ir_expr *extent)
{
    return extent->op == OP_var ? (char)tolower(extent->u.var->name[0]) : 0;
}

// Return which dimension has a letter, of those without a place so far.
static uint32_t find_letter(const struct ir_buffer *b, char letter,
                            uint64_t placed)
{
    uint32_t d = 0;
    while (d < b->rank && (letter_of(b->shape[d]) != letter || placed >> d & 1))
        d++;
    return d;
}

// Find the order that a word stands for: `n` as written, `t` with the last two
// dimensions exchanged, or the first letters of the sizes, in lower case.
static bool find_order(const struct ir_buffer *b, const char *word,
                       uint32_t *order)
{
    uint64_t placed = 0;
    uint32_t n = b->rank;
    bool is_transposed = strcmp(word, "t") == 0 && n > 1;
    for (uint32_t d = 0; d < n; d++)
        order[d] = is_transposed && d + 2 >= n ? 2 * n - 3 - d : d;
    if (is_transposed || strcmp(word, "n") == 0)
        return true;
    for (uint32_t d = 0; d < n && strlen(word) == n; d++) {
        order[d] = find_letter(b, word[d], placed);
        if (order[d] == n)
            return false;
        placed |= (uint64_t)1 << order[d];
    }
    return strlen(word) == n;
}

bool parse_layout(struct parser *p, struct ir_buffer *b)
{
    struct span span = parse_peek(p, 0)->span;
    const char *word = static_word(p);
    uint32_t *order = arena_array(p->arena, uint32_t, b->rank);
    if (!word)
        return false;
    if (b->strides || b->rank > 64 || !find_order(b, word, order)) {
        diag_error(p->diags, span, D_static_order, word, b->name);
        return false;
    }
    struct ir_expr **shape = arena_array(p->arena, struct ir_expr *, b->rank);
    for (uint32_t d = 0; d < b->rank; d++)
        shape[d] = b->shape[order[d]];
    b->shape = shape;
    vec_push(p->arena, &p->orders, (struct dimension_order){b, order});
    return true;
}

uint32_t parse_position(const struct parser *p, const struct ir_buffer *buffer,
                        uint32_t d)
{
    vec_foreach(o, &p->orders)
        if (o->buffer == buffer)
            return o->order[d];
    return d;
}
