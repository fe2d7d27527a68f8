// The text of a ring: `@ring(slots 4, fill 40, use 232, lag 1, arrays A B)`.

#include "ir/ring.h"
#include "ir/text/parse_expr.h"
#include "ir/text/parse_stmt.h"
#include "ir/text/print.h"

#include <string.h>

// The word in front of the arrays.
static const char arrays[] =
#define LIST(name, meaning) #name
#include "ir/ring.def"
#undef LIST
    ;

// Return the words that may stand in a ring, for a message.
static const char *words(struct parser *p)
{
    const char *all = "";
    for (int i = 0; i < RING_NUMBERS; i++)
        all = arena_printf(p->arena, "%s%s, ", all, ir_ring_number(i)->name);
    for (int i = 0; i < RING_PARTS; i++)
        all = arena_printf(p->arena, "%s%s, ", all,
                           ir_ring_part_name((enum ir_ring_part)i));
    return arena_printf(p->arena, "%sor %s", all, arrays);
}

// Set what a word of a ring says; false if there is no such word.
static bool set_word(struct parser *p, struct ir_ring *ring, const char *word,
                     int64_t value)
{
    for (int i = 0; i < RING_NUMBERS; i++) {
        if (strcmp(ir_ring_number(i)->name, word) == 0) {
            *ir_ring_field(ring, i) = value;
            return true;
        }
    }
    for (int i = 0; i < RING_PARTS; i++) {
        struct ir_role role = {(enum ir_ring_part)i, value};
        if (strcmp(ir_ring_part_name(role.part), word) == 0) {
            vec_push(p->arena, &ring->roles, role);
            return true;
        }
    }
    return false;
}

// Parse the names of the arrays, up to the next `,` or `)`.
static bool parse_arrays(struct parser *p, struct ir_ring *ring)
{
    do {
        struct ir_buffer *b = parse_buffer_name(p);
        if (!b)
            return false;
        vec_push(p->arena, &ring->arrays, b);
    } while (!parse_is(p, ",") && !parse_is(p, ")"));
    return true;
}

// Parse what one word of a ring says.
static bool parse_word(struct parser *p, struct ir_ring *ring)
{
    uint32_t value;
    struct span span = parse_peek(p, 0)->span;
    const char *word = parse_name(p, words(p));
    if (word && strcmp(word, arrays) == 0)
        return parse_arrays(p, ring);
    if (!word || !parse_count(p, &value))
        return false;
    if (set_word(p, ring, word, value))
        return true;
    diag_error(p->diags, span, D_expected_name, words(p), word);
    return false;
}

bool parse_ring(struct parser *p, struct ir_for *loop)
{
    size_t first = p->at;
    struct ir_ring *ring = ir_ring_new(p->arena, 0);
    parse_expect(p, "(", "behind `ring`");
    do {
        if (!parse_word(p, ring))
            return false;
    } while (parse_take(p, ","));
    if (!parse_expect(p, ")", "behind a ring"))
        return false;
    const char *fault = ir_ring_fault(p->arena, ring);
    if (fault)
        diag_error(p->diags, parse_span(p, first), D_ring_text, fault);
    loop->ring = ring;
    return !fault;
}

void print_ring(struct printer *p, struct ir_ring *ring)
{
    buf_printf(p->out, " @ring(slots %lld", (long long)ring->slots);
    for (size_t i = 0; i < ring->roles.n; i++)
        buf_printf(p->out, ", %s %lld",
                   ir_ring_part_name(ring->roles.at[i].part),
                   (long long)ring->roles.at[i].registers);
    for (int i = 0; i < RING_NUMBERS; i++) {
        long long n = (long long)*ir_ring_field(ring, i);
        if (n && ir_ring_number(i)->least == 0)
            buf_printf(p->out, ", %s %lld", ir_ring_number(i)->name, n);
    }
    for (size_t i = 0; i < ring->arrays.n; i++) {
        const struct ir_buffer *b = ring->arrays.at[i];
        buf_printf(p->out, "%s%s %s", i ? "" : ", ", i ? "" : arrays,
                   print_name(p, b, b->name));
    }
    buf_char(p->out, ')');
}
