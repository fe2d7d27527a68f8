// Tensor maps, those of the workspace behind their array, and copies by them,
// without one, and by each thread:
//
//   map A_map of A box[128, 64] swizzle(128)
//   map B_map of B box[128, 32] swizzle(128) tf32
//   tma_load S[0, 0] = A_map[m, k] signals full[0] multicast(3) evict_first
//   tma_store C_map[m, n] = S[0, 0]
//   bulk_load(64) S[0, 0] = A[m, k] signals full[0]
//   bulk_store(64) C[m, n] = S[0, 0]
//   cp_async_load S[i] = A[j] if j < n evict_first

#include "ir/text/parse_stmt.h"

#include "ir/base/suggest.h"
#include "ir/build.h"
#include "ir/text/parse_expr.h"
#include "ir/walk.h"

#include <string.h>

// Parse `box[128, 64]`, a number for each dimension of the array.
static bool parse_box(struct parser *p, struct ir_map *map)
{
    uint32_t rank = map->buffer->rank;
    map->box = arena_array(p->arena, uint32_t, rank);
    if (!parse_expect(p, "box", "behind the array of a map") ||
        !parse_expect(p, "[", "before the extents of a box"))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if ((i && !parse_expect(p, ",", "between two extents of a box")) ||
            !parse_count(p, &map->box[i]))
            return false;
    }
    return parse_expect(p, "]", "behind the extents of a box");
}

bool parse_map(struct parser *p)
{
    struct ir_map *map = arena_new(p->arena, struct ir_map);
    map->span = parse_peek(p, 0)->span;
    map->name = parse_name(p, "a tensor map");
    if (!map->name || !parse_expect(p, "of", "behind the name of a map"))
        return false;
    map->buffer = parse_buffer_name(p);
    if (!map->buffer || !parse_box(p, map))
        return false;
    if (parse_take(p, "swizzle") &&
        (!parse_expect(p, "(", "behind `swizzle`") ||
         !parse_count(p, &map->swizzle) ||
         !parse_expect(p, ")", "behind the bytes of a swizzle")))
        return false;
    map->rounds = parse_take(p, "tf32");
    ir_add_map(p->arena, p->kernel, map);
    return true;
}

// Return the tensor map that the next token names, or NULL after reporting.
static struct ir_map *parse_map_name(struct parser *p)
{
    struct span span = parse_peek(p, 0)->span;
    const char *name = parse_name(p, "a tensor map");
    struct suggest near = {.wanted = name};
    for (size_t i = 0; name && i < p->kernel->maps.n; i++) {
        if (p->kernel->maps.at[i]->name == name)
            return p->kernel->maps.at[i];
        suggest_offer(&near, p->kernel->maps.at[i]->name);
    }
    if (!name)
        return NULL;
    diag_error(p->diags, span, D_unknown_map, name);
    suggest_help(p->diags, &near);
    return NULL;
}

// Parse `map[m, k]`, one coordinate for each dimension of its array.
static bool parse_tile_place(struct parser *p, struct ir_copy *copy)
{
    copy->map = parse_map_name(p);
    if (!copy->map || !parse_expect(p, "[", "behind the name of a map"))
        return false;
    uint32_t rank = copy->map->buffer->rank;
    copy->far = (struct ir_place){
        copy->map->buffer, rank, arena_array(p->arena, struct ir_expr *, rank)};
    for (uint32_t i = 0; i < rank; i++) {
        if (i && !parse_expect(p, ",", "between two coordinates"))
            return false;
        copy->far.index[i] = parse_index(p, "a coordinate");
        if (!copy->far.index[i])
            return false;
    }
    return parse_expect(p, "]", "behind the coordinates");
}

// Parse `array[i, j]`.
static bool parse_place(struct parser *p, struct ir_place *place)
{
    size_t first = p->at;
    place->buffer = parse_buffer_name(p);
    return place->buffer &&
           parse_element(p, place->buffer, first, &place->index, &place->n);
}

// Parse where a copy begins in global memory.
static bool parse_far(struct parser *p, struct ir_copy *copy)
{
    return transport_has_map(copy->transport) ? parse_tile_place(p, copy)
                                              : parse_place(p, &copy->far);
}

// Parse a hint, which may be absent.
static void parse_hint(struct parser *p, struct ir_copy *copy)
{
    if (hint_named(parse_peek(p, 0)->text, &copy->hint))
        p->at++;
}

// Parse `multicast(blocks)` and a hint, which may be absent.
static bool parse_copy_traits(struct parser *p, struct ir_copy *copy)
{
    if (parse_take(p, "multicast")) {
        copy->multicast =
            parse_expect(p, "(", "behind `multicast`")
                ? parse_typed(p, type_scalar(TYPE_u16), "the set of blocks")
                : NULL;
        if (!copy->multicast ||
            !parse_expect(p, ")", "behind the set of blocks"))
            return false;
    }
    parse_hint(p, copy);
    return true;
}

// Parse a copy by each thread behind its word.
static bool parse_own(struct parser *p, struct ir_copy *copy)
{
    if (!parse_place(p, &copy->near) ||
        !parse_check_writable(p, copy->near.buffer, parse_peek(p, 0)->span) ||
        !parse_expect(p, "=", "behind where the copy goes"))
        return false;
    size_t first = p->at;
    if (!parse_place(p, &copy->far))
        return false;
    copy->source = parse_span(p, first);
    bool has_condition = parse_take(p, "if");
    copy->where = has_condition ? parse_condition(p, "`if`") : NULL;
    parse_hint(p, copy);
    return !has_condition || copy->where;
}

// Parse a load behind its word.
static bool parse_load(struct parser *p, struct ir_copy *copy)
{
    return parse_place(p, &copy->near) &&
           parse_check_writable(p, copy->near.buffer, parse_peek(p, 0)->span) &&
           parse_expect(p, "=", "behind where the copy goes") &&
           parse_far(p, copy) &&
           parse_expect(p, "signals", "behind what is copied") &&
           parse_place(p, &copy->signal) && parse_copy_traits(p, copy);
}

// Parse a store behind its word.
static bool parse_store(struct parser *p, struct ir_copy *copy)
{
    struct span span = parse_peek(p, 0)->span;
    return parse_far(p, copy) &&
           parse_check_writable(p, copy->far.buffer, span) &&
           parse_expect(p, "=", "behind where the copy goes") &&
           parse_place(p, &copy->near) && parse_copy_traits(p, copy);
}

// Return whether the number of elements stands behind the word of a copy.
static bool has_elements(const struct ir_copy *copy)
{
    return !transport_has_map(copy->transport) &&
           !transport_is_of_threads(copy->transport);
}

// Parse how many elements a bulk copy has, behind its word.
static bool parse_elements(struct parser *p, struct ir_copy *copy)
{
    return !has_elements(copy) ||
           (parse_expect(p, "(", "before the elements of a bulk copy") &&
            parse_count(p, &copy->elements) &&
            parse_expect(p, ")", "behind the elements of a bulk copy"));
}

// Find the word of a copy, which no name or operation is that stands there;
// false if there is none.
static bool find_word(const struct parser *p, struct ir_copy *copy)
{
    const struct token *next = parse_peek(p, 1);
    for (int i = 0; i < 2 * TRANSPORT_COUNT; i++) {
        copy->transport = (enum ir_transport)(i / 2);
        copy->is_load = i % 2 == 0;
        const char *word = ir_copy_word(copy);
        bool goes_on = has_elements(copy)
                           ? next->kind == TOKEN_PUNCT && *next->text == '('
                           : next->kind == TOKEN_NAME;
        if (word && parse_is(p, word) && goes_on)
            return true;
    }
    return false;
}

// Parse a copy behind its word.
static bool parse_ends(struct parser *p, struct ir_copy *copy)
{
    if (transport_is_of_threads(copy->transport))
        return parse_own(p, copy);
    return parse_elements(p, copy) &&
           (copy->is_load ? parse_load(p, copy) : parse_store(p, copy));
}

bool parse_copy(struct parser *p, struct ir_block *out, bool *ok)
{
    size_t first = p->at;
    struct ir_copy copy = {0};
    if (!find_word(p, &copy))
        return false;
    p->at++;
    *ok = parse_ends(p, &copy);
    if (*ok) {
        struct ir_stmt *s = ir_stmt_copy(p->arena, &copy);
        s->span = parse_span(p, first);
        ir_append(p->arena, out, s);
    }
    return true;
}
