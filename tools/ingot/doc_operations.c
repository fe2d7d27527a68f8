// Sections of the reference on expressions and on matrix instructions.

#include "tools/ingot/doc.h"

#include "ir/arch_set.h"
#include "ir/ir.h"
#include "ir/matrix.h"

#include <string.h>

// Return what letters of ops.def ask of the operands.
static const char *operands_text(const char *letters)
{
    switch (*letters) {
    case 'n': return "of numbers";
    case 'i': return "of integers";
    case 'f': return "of floating numbers";
    case 'b': return "of bools";
    case 'x': return "of an `int`";
    case 'a': return "`a` is an element of an array";
    case 'u': return "of u32 or of u64";
    case 'q': return "vectors of four i8 or u8, and an i32 or a u32";
    default:
        return letters[0] && letters[1] == 'x' ? "of any type, `b` an `int`"
                                               : "of any type";
    }
}

// Return what an operation says besides its meaning: its operands, and what
// reads or synchronises.
static const char *remark(struct doc *d, const struct ir_op_info *o)
{
    const char *result = o->result == RESULT_BOOL     ? "; gives a bool"
                         : o->result == RESULT_MASK   ? "; gives a u32, a bit "
                                                        "for each lane"
                         : o->result == RESULT_WORD   ? "; gives a u32"
                         : o->result == RESULT_SINGLE ? "; gives an f32"
                                                      : "";
    const char *effect = o->flags & OP_TOGETHER       ? "; all lanes of a warp "
                                                        "together"
                         : o->flags & OP_SYNCHRONISES ? ", an mbarrier"
                                                      : "";
    if (!*o->operands || *o->operands == '*')
        return "";
    return arena_printf(d->arena, " (%s%s%s)", operands_text(o->operands),
                        result, effect);
}

// Return a call of an operation: NAME(a, b).
static const char *call_text(struct doc *d, const struct ir_op_info *o)
{
    const char *text = arena_printf(d->arena, "%s(", o->spelling);
    if (*o->operands == '*')
        return arena_printf(d->arena, "%sa, b, ...)", text);
    for (int i = 0; o->operands[i]; i++)
        text = arena_printf(d->arena, "%s%s%c", text, i ? ", " : "", 'a' + i);
    return arena_printf(d->arena, "%s)", text);
}

// Return where a meaning that begins with how the operation is written goes
// on: behind a comma for `?`, else behind a colon.
static const char *own_end(const struct ir_op_info *o)
{
    const char *end = strstr(o->meaning, *o->spelling == '?' ? ", " : ": ");
    return end ? end : o->meaning;
}

// Return what an operation does.
static const char *meaning_of(const struct ir_op_info *o)
{
    const char *end = own_end(o);
    bool has_form = o->form == FORM_OWN || strcmp(o->spelling, "lanes") == 0;
    return has_form && end > o->meaning ? end + 2 : o->meaning;
}

// Return how the operation is written.
static const char *form_text(struct doc *d, const struct ir_op_info *o)
{
    switch (o->form) {
    case FORM_PREFIX: return arena_printf(d->arena, "%sa", o->spelling);
    case FORM_INFIX: return arena_printf(d->arena, "a %s b", o->spelling);
    case FORM_CALL: return call_text(d, o);
    case FORM_OWN:
    case FORM_LEAF: break;
    }
    const char *end = own_end(o);
    return arena_copy(d->arena, o->meaning, (size_t)(end - o->meaning));
}

// Return whether an operation is written by a sign: an index, `? :` too.
static bool is_operator(const struct ir_op_info *o)
{
    return o->form == FORM_PREFIX || o->form == FORM_INFIX ||
           strcmp(o->spelling, "?") == 0;
}

// Add the operations that are operators, or the others.
static void add_operations(struct doc *d, bool operators)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const struct ir_op_info *o = ir_op_info((enum ir_op)i);
        if (*o->spelling && is_operator(o) == operators)
            doc_add(d, o->spelling, form_text(d, o),
                    arena_printf(d->arena, "%s%s", meaning_of(o), remark(d, o)))
                ->also = o->name;
    }
}

void doc_add_operators(struct doc *d)
{
    add_operations(d, true);
}

void doc_add_functions(struct doc *d)
{
    add_operations(d, false);
}

// What a row of matrix.def says of a matrix instruction.
struct matrix_row {
    const char *name, *kind;
    int threads, m, n, k;
    const char *inputs, *result, *a, *set;
    int version;
    const char *ptx;
};

static const struct matrix_row rows[] = {
#define MATRIX(name, kind, threads, m, n, k, inputs, result, A, B, D, set,     \
               version, ptx)                                                   \
    {#name, #kind, threads, m, n, k, #inputs, #result, A, set, version, ptx},
#include "ir/matrix.def"
#undef MATRIX
};
enum { ROWS = sizeof rows / sizeof *rows };

// Return what an instruction does.
static const char *work_text(struct doc *d, const struct matrix_row *r)
{
    bool is_group = strcmp(r->kind, "WGMMA") == 0;
    const char *n = is_group ? "n" : arena_printf(d->arena, "%d", r->n);
    if (strcmp(r->kind, "LOAD") == 0 || strcmp(r->kind, "STORE") == 0)
        return arena_printf(d->arena,
                            "%d x 8 x 8 elements of 16 bits %s shared "
                            "memory%s",
                            r->m / 8, *r->kind == 'L' ? "from" : "to",
                            strstr(r->name, "_trans") ? ", by columns" : "");
    return arena_printf(d->arena, "%d x %s x %d, A and B %s, D %s%s%s", r->m, n,
                        r->k, r->inputs, r->result,
                        is_group ? ", asynchronous; n a multiple of " : "",
                        !is_group
                            ? ""
                            : arena_printf(d->arena, "%d up to 256; A %s", r->n,
                                           strcmp(r->a, "shared") == 0
                                               ? "in shared memory"
                                               : "in registers"));
}

void doc_add_matrix(struct doc *d)
{
    for (int i = 0; i < ROWS; i++) {
        const struct matrix_row *r = &rows[i];
        doc_add(d, r->name, r->name,
                arena_printf(d->arena, "%s; %s; %s, PTX %d.%d; `%s`",
                             work_text(d, r),
                             r->threads == 32 ? "a warp" : "a warpgroup",
                             arch_set_words(d->arena, r->set), r->version / 10,
                             r->version % 10, r->ptx));
    }
}
