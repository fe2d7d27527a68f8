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

// Return whether a word is one of a field of words.
static bool is_field(const char *field)
{
    bool found = false;
    for (int i = 0; i < RING_WORDS; i++)
        found |= strcmp(ir_ring_word((enum ir_ring_word)i)->field, field) == 0;
    return found;
}

// Return whether word `i` is the first of its field.
static bool begins_field(int i)
{
    return i == 0 || strcmp(ir_ring_word((enum ir_ring_word)(i - 1))->field,
                            ir_ring_word((enum ir_ring_word)i)->field) != 0;
}

// Return the words that may stand in a field, for a message.
static const char *field_words(struct parser *p, const char *field)
{
    const char *all = "";
    for (int i = 0; i < RING_WORDS; i++) {
        const struct ir_ring_word_info *word =
            ir_ring_word((enum ir_ring_word)i);
        if (strcmp(word->field, field) == 0)
            all = arena_printf(p->arena, "%s%s%s", all, *all ? ", " : "",
                               word->name);
    }
    return all;
}

// Parse the words of a field, up to the next `,` or `)`.
static bool parse_field(struct parser *p, struct ir_ring *ring,
                        const char *field)
{
    do {
        struct span span = parse_peek(p, 0)->span;
        const char *words = field_words(p, field), *name = parse_name(p, words);
        bool found = false;
        for (int i = 0; i < RING_WORDS && name; i++) {
            enum ir_ring_word word = (enum ir_ring_word)i;
            if (strcmp(ir_ring_word(word)->field, field) != 0 ||
                strcmp(ir_ring_word(word)->name, name) != 0)
                continue;
            ir_ring_set(ring, word);
            found = true;
        }
        if (name && !found)
            diag_error(p->diags, span, D_expected_name, words, name);
        if (!found)
            return false;
    } while (!parse_is(p, ",") && !parse_is(p, ")"));
    return true;
}

// Return the words that may stand in a ring, for a message.
static const char *words(struct parser *p)
{
    const char *all = "";
    for (int i = 0; i < RING_NUMBERS; i++)
        all = arena_printf(p->arena, "%s%s, ", all, ir_ring_number(i)->name);
    for (int i = 0; i < RING_PARTS; i++)
        all = arena_printf(p->arena, "%s%s, ", all,
                           ir_ring_part_name((enum ir_ring_part)i));
    for (int i = 0; i < RING_WORDS; i++)
        if (begins_field(i))
            all = arena_printf(p->arena, "%s%s, ", all,
                               ir_ring_word((enum ir_ring_word)i)->field);
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
    if (word && is_field(word))
        return parse_field(p, ring, word);
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
    vec_push(p->arena, &loop->rings, ring);
    return !fault;
}

// Return whether a ring has a word of the same field in front of word `i`.
static bool has_before(const struct ir_ring *ring, int i)
{
    bool found = false;
    for (int k = i; !begins_field(k); k--)
        found |= ir_ring_is(ring, (enum ir_ring_word)(k - 1));
    return found;
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
    for (int i = 0; i < RING_WORDS; i++) {
        const struct ir_ring_word_info *word =
            ir_ring_word((enum ir_ring_word)i);
        if (!ir_ring_is(ring, (enum ir_ring_word)i))
            continue;
        if (!has_before(ring, i))
            buf_printf(p->out, ", %s", word->field);
        buf_printf(p->out, " %s", word->name);
    }
    for (size_t i = 0; i < ring->arrays.n; i++) {
        const struct ir_buffer *b = ring->arrays.at[i];
        buf_printf(p->out, "%s%s %s", i ? "" : ", ", i ? "" : arrays,
                   print_name(p, b, b->name));
    }
    buf_char(p->out, ')');
}
